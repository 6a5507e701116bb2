"""Small linear algebra on sixteen strings at a time, for the compiled recurrences of paper 003 (numba).

Strings do not depend on each other, so each is a *lane*: the last axis of every array has L = 16 numbers, one a string,
and one vector instruction works on all of them.  A sum runs in the order of its equation, so that an answer does not
depend on how wide a processor's vectors are.

Letters: B batch, L lanes, n size of a head; phi of :mod:`lrnnlab.models.base`.
"""

from __future__ import annotations

import numpy as np
import torch
from llvmlite import ir
from torch import Tensor
from torch.nn import functional as F

from lrnnlab.models.base import FEATURE_MAPS
from lrnnlab.scans.kernels.allocator import empty
from lrnnlab.scans.kernels.cpu_vectors import NO, Flat, compiled, exponential, intrinsic, times

LANES = (0,) * 16
L = len(LANES)
ELU, ELU_SUM, SOFTMAX, UNIT = range(4)
KINDS = dict(zip(FEATURE_MAPS, (ELU, ELU_SUM, SOFTMAX, UNIT)))
TINY = 1e-12  # the least length that ``unit`` divides by, as in torch's normalize


def pack(x: Tensor) -> Tensor:
    """(B, ...) -> (blocks, ..., L): strings become lanes, then zeros.  A copy, which may be written into."""
    x = F.pad(x.detach(), (0, 0) * (x.ndim - 1) + (0, -len(x) % L))
    return x.unflatten(0, (-1, L)).movedim(1, -1).clone(memory_format=torch.contiguous_format)


def unpack(x: Tensor, B: int) -> Tensor:
    """(blocks, ..., L) -> (B, ...)."""
    return x.movedim(-1, 1).flatten(0, 1)[:B].contiguous()


def room(like: Tensor, *shape: int) -> Tensor:
    """Uninitialised lanes, (*shape, L)."""
    return empty((*shape, L), like.dtype)


def arrays(*tensors: Tensor) -> list[np.ndarray]:
    return [x.numpy() for x in tensors]


@compiled
def add_product(A: np.ndarray, x: np.ndarray, out: np.ndarray) -> None:
    """out += A x, of A (r,m,L), x (m,L), out (r,L)."""
    r, m = A.shape[0], A.shape[1]
    for i in range(r):
        for j in range(m):
            times(A, (i * m + j) * L, x, j * L, out, i * L, out, i * L, NO, NO, NO, LANES)


@compiled
def add_transposed(A: np.ndarray, x: np.ndarray, out: np.ndarray) -> None:
    """out += A^T x, of A (r,m,L), x (r,L), out (m,L)."""
    r, m = A.shape[0], A.shape[1]
    for j in range(m):
        for i in range(r):
            times(A, (i * m + j) * L, x, i * L, out, j * L, out, j * L, NO, NO, NO, LANES)


@compiled
def add_outer(x: np.ndarray, y: np.ndarray, A: np.ndarray, out: np.ndarray) -> None:
    """out = A + x y^T, of x (r,L), y (m,L), A and out (r,m,L)."""
    r, m = A.shape[0], A.shape[1]
    for i in range(r):
        for j in range(m):
            at = (i * m + j) * L
            times(x, i * L, y, j * L, A, at, out, at, NO, NO, NO, LANES)


@compiled
def copy(x: np.ndarray, out: np.ndarray) -> None:
    """out = x, of (r,L) both."""
    for i in range(len(x)):
        for l in range(L):
            out[i, l] = x[i, l]


@compiled
def clear(out: np.ndarray) -> None:
    """out = 0, of (r,L)."""
    for i in range(len(out)):
        for l in range(L):
            out[i, l] = 0


@compiled
def multiply(x: np.ndarray, y: np.ndarray, out: np.ndarray) -> None:
    """out = x y, of x (L,), y and out (r,L)."""
    for i in range(len(y)):
        times(x, 0, y, i * L, None, 0, out, i * L, NO, NO, NO, LANES)


@intrinsic
def _exp(builder: ir.IRBuilder, x: Flat, i: ir.Value, out: Flat, o: ir.Value, n: int) -> None:
    out.store(exponential(builder, x.load(i)), o)


@compiled
def exp(x: np.ndarray) -> None:
    """e^x for x <= 0, in place."""
    for i in range(0, x.size, L):
        _exp(x, i, x, i, LANES)


@compiled
def tanh(x: np.ndarray, out: np.ndarray) -> None:
    """(1 - e) / (1 + e) with e = e^(-2 |x|), and the sign of x."""
    one, two = x.dtype.type(1), x.dtype.type(2)
    for i in range(len(x)):
        for l in range(L):
            out[i, l] = -two * abs(x[i, l])
    exp(out)
    for i in range(len(x)):
        for l in range(L):
            size = (one - out[i, l]) / (one + out[i, l])
            out[i, l] = size if x[i, l] > 0 else -size


@compiled
def sigmoid(x: np.ndarray, greatest: float, out: np.ndarray) -> None:
    """greatest / (1 + e^-x) of x (L,), from e = e^-|x|."""
    one = x.dtype.type(1)
    for l in range(L):
        out[l] = -abs(x[l])
    exp(out)
    for l in range(L):
        out[l] = greatest * (one if x[l] >= 0 else out[l]) / (one + out[l])


@compiled
def features(kind: int, x: np.ndarray, out: np.ndarray, scale: np.ndarray) -> None:
    """phi of x (n,L), and what was divided by, (L,): the sum, the length, or 1."""
    n, one, zero = len(x), x.dtype.type(1), x.dtype.type(0)
    for l in range(L):
        scale[l] = x[0, l]
        for j in range(1, n if kind == SOFTMAX else 1):
            scale[l] = max(scale[l], x[j, l])
    for j in range(n):
        for l in range(L):
            if kind == SOFTMAX:
                out[j, l] = x[j, l] - scale[l]
            else:
                out[j, l] = x[j, l] if kind == UNIT else min(x[j, l], zero)
    if kind != UNIT:
        exp(out)
    for l in range(L):
        scale[l] = one if kind == ELU else zero
    for j in range(n):
        for l in range(L):
            if (kind == ELU or kind == ELU_SUM) and x[j, l] > 0:  # noqa: SIM109  numba compiles it
                out[j, l] = x[j, l] + one
            if kind != ELU:
                scale[l] += out[j, l] * (out[j, l] if kind == UNIT else one)
    if kind == UNIT:
        for l in range(L):
            scale[l] = max(np.sqrt(scale[l]), x.dtype.type(TINY))
    for j in range(n if kind != ELU else 0):
        for l in range(L):
            out[j, l] /= scale[l]


@compiled
def features_back(kind: int, phi: np.ndarray, scale: np.ndarray, g: np.ndarray) -> None:
    """The gradient that arrives at phi(x) becomes that of x, in place."""
    n, one = len(phi), phi.dtype.type(1)
    along = np.zeros(L, phi.dtype)  # what arrives along phi changes nothing: the sum, or the length, stays
    for j in range(n if kind != ELU else 0):
        times(phi, j * L, g, j * L, along, 0, along, 0, NO, NO, NO, LANES)
    for j in range(n):
        for l in range(L):
            if kind == SOFTMAX:
                g[j, l] = (g[j, l] - along[l]) * phi[j, l]
            elif kind == UNIT:
                g[j, l] = (g[j, l] - along[l] * phi[j, l]) / scale[l]
            else:  # the slope of elu is 1 above 0 and elu itself below
                g[j, l] = (g[j, l] - along[l]) * (min(one, phi[j, l] * scale[l]) / scale[l])
