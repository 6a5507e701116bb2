"""Sixteen strings at a time: what the compiled loops of paper 003's recurrences share (numba).

Strings do not depend on each other, so each is a *lane* of a vector: every number of the equations becomes sixteen
neighbours in memory, and an instruction works on all of them.  Arrays are passed flat, offsets count numbers.

* ``dot``            out[o] = base[q] + sum_{j < count} left[l + j s] * right[r + j w], lane by lane; base may be None
* ``tanh``, ``sigmoid``, ``features`` and ``features_back``: lane by lane as well

Letters: B batch, L lanes, n size of a head; phi of :mod:`lrnnlab.models.feature_maps`.
"""

from __future__ import annotations

import numpy as np
import torch
from llvmlite import ir
from torch import Tensor
from torch.nn import functional as F

from lrnnlab.models.feature_maps import FEATURE_MAPS
from lrnnlab.scans.allocator import empty
from lrnnlab.scans.cpu_softmax import exponential
from lrnnlab.scans.cpu_vectors import NO, Flat, compiled, intrinsic, times

LANES = (0,) * 16
L = len(LANES)
ELU, ELU_SUM, SOFTMAX, UNIT = range(4)
KINDS = dict(zip(FEATURE_MAPS, (ELU, ELU_SUM, SOFTMAX, UNIT)))
TINY = 1e-12  # the least length that ``unit`` divides by, as in torch's normalize


def pack(x: Tensor) -> Tensor:
    """(B, ...) -> (blocks, ..., 16): strings become lanes, zeros behind the last one.  A copy, which may be written into.
    """
    x = x.detach()
    if len(x) % L:
        x = F.pad(x, (0, 0) * (x.ndim - 1) + (0, -len(x) % L))
    return x.unflatten(0, (-1, L)).movedim(1, -1).clone(memory_format=torch.contiguous_format)


def unpack(x: Tensor, B: int) -> Tensor:
    """(blocks, ..., 16) -> (B, ...)."""
    return x.movedim(-1, 1).flatten(0, 1)[:B].contiguous()


def room(like: Tensor, *shape: int) -> Tensor:
    """Uninitialised lanes, (*shape, 16)."""
    return empty((*shape, L), like.dtype)


def flat(*tensors: Tensor) -> list[np.ndarray]:
    return [x.view(-1).numpy() for x in tensors]


@intrinsic
def exp(builder: ir.IRBuilder, x: Flat, i: ir.Value, out: Flat, o: ir.Value, n: int) -> None:
    """out[o] = e^x[i] for x <= 0."""
    out.store(exponential(builder, x.load(i)), o)


@compiled
def dot(
    left: np.ndarray, l: int, s: int, right: np.ndarray, r: int, w: int, count: int, base: np.ndarray | None, q: int,
    out: np.ndarray, o: int, size: tuple[int, ...],
) -> None:  # fmt: skip
    times(left, l, right, r, base, q, out, o, NO, NO, size)
    for j in range(1, count):
        times(left, l + j * s, right, r + j * w, out, o, out, o, NO, NO, size)


@compiled
def tanh(x: np.ndarray, i: int, out: np.ndarray, o: int, size: tuple[int, ...]) -> None:
    """(1 - e) / (1 + e) with e = e^(-2 |x|), and the sign of x."""
    one, two = x.dtype.type(1), x.dtype.type(2)
    for l in range(len(size)):
        out[o + l] = -two * abs(x[i + l])
    exp(out, o, out, o, size)
    for l in range(len(size)):
        grown = (one - out[o + l]) / (one + out[o + l])
        out[o + l] = grown if x[i + l] > 0 else -grown


@compiled
def sigmoid(x: np.ndarray, i: int, greatest: float, out: np.ndarray, o: int, size: tuple[int, ...]) -> None:
    """greatest / (1 + e^-x), from e = e^-|x|."""
    one = x.dtype.type(1)
    for l in range(len(size)):
        out[o + l] = -abs(x[i + l])
    exp(out, o, out, o, size)
    for l in range(len(size)):
        e = out[o + l]
        out[o + l] = greatest * (one if x[i + l] >= 0 else e) / (one + e)


@compiled
def features(
    kind: int, x: np.ndarray, i: int, n: int, out: np.ndarray, o: int, scale: np.ndarray, c: int, size: tuple[int, ...]
) -> None:
    """phi of n numbers a lane, and what was divided by: the sum, the length, or 1."""
    one, zero, tiny = x.dtype.type(1), x.dtype.type(0), x.dtype.type(TINY)
    if kind == SOFTMAX:
        for l in range(L):
            scale[c + l] = x[i + l]
        for j in range(L, n * L, L):
            for l in range(L):
                scale[c + l] = max(scale[c + l], x[i + j + l])
        for j in range(0, n * L, L):
            for l in range(L):
                out[o + j + l] = x[i + j + l] - scale[c + l]
    else:
        for j in range(n * L):
            out[o + j] = x[i + j] if kind == UNIT else min(x[i + j], zero)
    if kind != UNIT:
        for j in range(0, n * L, L):
            exp(out, o + j, out, o + j, size)
    if kind == ELU or kind == ELU_SUM:  # noqa: SIM109  numba compiles it
        for j in range(n * L):
            if x[i + j] > 0:
                out[o + j] = x[i + j] + one
    for l in range(L):
        scale[c + l] = one if kind == ELU else zero
    if kind == ELU:
        return
    for j in range(0, n * L, L):
        for l in range(L):
            scale[c + l] += out[o + j + l] * (out[o + j + l] if kind == UNIT else one)
    if kind == UNIT:
        for l in range(L):
            scale[c + l] = max(np.sqrt(scale[c + l]), tiny)
    for j in range(0, n * L, L):
        for l in range(L):
            out[o + j + l] /= scale[c + l]


@compiled
def features_back(
    kind: int, phi: np.ndarray, p: int, scale: np.ndarray, c: int, n: int, dphi: np.ndarray, d: int,
    size: tuple[int, ...],
) -> None:  # fmt: skip
    """What arrives at phi becomes what arrives at x, in place."""
    one = phi.dtype.type(1)
    if kind != ELU:  # what arrives along phi changes nothing: the sum, or the length, stays
        along = np.zeros(L, phi.dtype)
        for j in range(0, n * L, L):
            times(phi, p + j, dphi, d + j, along, 0, along, 0, NO, NO, size)
        for j in range(0, n * L, L):
            for l in range(L):
                dphi[d + j + l] -= along[l] * (phi[p + j + l] if kind == UNIT else one)
    for j in range(0, n * L, L):
        for l in range(L):
            if kind == SOFTMAX:
                dphi[d + j + l] *= phi[p + j + l]
            elif kind == UNIT:
                dphi[d + j + l] /= scale[c + l]
            else:  # the slope of elu is 1 above 0 and elu itself below
                dphi[d + j + l] *= min(one, phi[p + j + l] * scale[c + l]) / scale[c + l]
