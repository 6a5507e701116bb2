"""The ``cpu`` backend: compiled loops (``cpu_kernels.py``) on the memory of tensors.

How the work is cut into parts, and who does them, is said in ``threads.py``.

Letters: B batch, T time, D channels, h blocks, n block size, V vocabulary; A transition, b input term, x state.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from lrnnlab.scans.kernels import cpu_kernels as kernels
from lrnnlab.scans.kernels.allocator import empty
from lrnnlab.scans.kernels.cpu_vectors import ADD, NO, SET, YES, Flag
from lrnnlab.scans.kernels.threads import PARTS, over_chains
from lrnnlab.scans.transforms import check_table

# how many reals a channel's number is, by whether it is complex, and that as types: whether they are pairs, a tuple
NUMBERS: dict[bool, tuple] = {False: (1, NO, (0,)), True: (2, YES, (0, 0))}
CHANNELS_OF_A_LINE = 16  # cut between cache lines, or threads would wait for each other's writes
MIN_PAST_CACHE = 1 << 24  # bytes from which a gradient is written past the cache, which could not hold it


def _array(tensor: Tensor) -> np.ndarray:
    """Flat, complex numbers as pairs of reals."""
    array = tensor.detach().resolve_conj().resolve_neg().contiguous().numpy().reshape(-1)
    return array.view(array.real.dtype)


def _flat(*tensors: Tensor) -> list[np.ndarray]:
    return list(map(_array, tensors))


def _as_stored(A: Tensor) -> tuple[Tensor, int, int, bool]:
    """A (B,T,h,n,n) as it lies in memory, the distance between heads' blocks, between a block's rows, and whether the
    heads are interleaved: (B,T,row,h,column) is what a softmax over rows wants, and the kernels read it as it is."""
    h, n = A.shape[-3], A.shape[-1]
    if A.ndim == 5 and not A.is_contiguous() and A.transpose(2, 3).is_contiguous():
        return A.transpose(2, 3), n, h * n, True
    return A, n * n, n, False


def _summed(sums: np.ndarray | None, parts: int, shape) -> Tensor:
    return torch.from_numpy(sums[:parts].sum(0)).view(shape)


def block_forward(A: Tensor, b: Tensor, x0: Tensor) -> Tensor:
    """States (B,T,h,n) of x_t = A_t x_{t-1} + b_t; A (B,T,h,n,n), or (h,n,n) if it is the same at every step."""
    B, T, h, n = b.shape
    x = empty(b.shape, b.dtype)
    stored, head, row, _ = _as_stored(A)
    arrays, step, size = _flat(stored, b, x0, x), int(A.ndim == 5), (0,) * n

    def work(_, *part):
        kernels.block_forward(*arrays, T, h, head, row, step, *part, size)

    over_chains(work, B, h, x.numel() * n)
    return x


def block_backward(A: Tensor, x0: Tensor, x: Tensor, dx: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Gradients of :func:`block_forward` in A, b, x0: from its result x and the gradient dx that arrives there."""
    B, T, h, n = x.shape
    stored, head, row, interleaved = _as_stored(A)
    db, dx0 = empty(x.shape, x.dtype), torch.zeros(x0.shape, dtype=x0.dtype, device="cpu")
    inputs, outputs, size = _flat(stored, x0, x, dx), _flat(db, dx0), (0,) * n
    shared = A.ndim == 3
    dA = None if shared else empty(stored.shape, A.dtype)
    sums = np.zeros((PARTS, A.numel()), inputs[0].dtype) if shared else None
    past = NO if dA is None or interleaved else _past(dA, n)

    def work(p, *part):
        into = (sums[p], ADD) if shared else (_flat(dA)[0], SET)
        kernels.block_backward(*inputs, into[0], *outputs, T, h, head, row, int(not shared), into[1], past, *part, size)

    parts = over_chains(work, B, h, x.numel() * n, sums=shared)
    if shared:
        return _summed(sums, parts, A.shape), db, dx0
    return dA.transpose(2, 3) if interleaved else dA, db, dx0


def softmax_forward(raw: Tensor, x0: Tensor) -> tuple[Tensor, Tensor]:
    """A, the softmax over rows of raw (B,T,row,h,column), and the states (B,T,h,n) of x_t = A_t x_{t-1}."""
    B, T, n, h, _ = raw.shape
    A, x = empty(raw.shape, raw.dtype), empty((B, T, h, n), raw.dtype)
    arrays, size = _flat(raw, x0, A, x), (0,) * n

    def work(_, *part):
        kernels.softmax_forward(*arrays, T, h, *part, size)

    over_chains(work, B, h, raw.numel())
    return A, x


def softmax_backward(A: Tensor, x0: Tensor, x: Tensor, dA: Tensor | None, dx: Tensor) -> tuple[Tensor, Tensor]:
    """Gradients of :func:`softmax_forward` in raw and x0, from its results and the gradients that arrive there."""
    B, T, h, n = x.shape
    draw, dx0 = empty(A.shape, A.dtype), torch.zeros(x0.shape, dtype=x0.dtype, device="cpu")
    inputs, outputs, size = _flat(x0, x, dx), _flat(draw, dx0), (0,) * n
    transitions = (*_flat(A), None if dA is None else _flat(dA)[0])

    def work(_, *part):
        kernels.softmax_backward(*transitions, *inputs, *outputs, T, h, *part, size)

    over_chains(work, B, h, A.numel())
    return draw, dx0


def token_forward(A_table: Tensor, b_table: Tensor, tokens: Tensor, x0: Tensor) -> Tensor:
    """States (B,T,h,n) with A_t = A_table[token_t] of (V,h,n,n) and b_t = b_table[token_t] of (V,h,n)."""
    (V, h, n), (B, T) = b_table.shape, tokens.shape
    x = empty((B, T, h, n), b_table.dtype)
    arrays, size, outside = _flat(A_table.transpose(-1, -2), b_table, tokens.to(torch.int64), x0, x), (0,) * n, []

    def work(p, *part):
        if not kernels.token_forward(*arrays, T, h, *part, size):
            outside.append(p)

    over_chains(work, B, h, x.numel() * n)
    if outside:
        check_table(tokens, V)
    return x


def token_backward(A_table: Tensor, tokens: Tensor, x0: Tensor, x: Tensor, dx: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Gradients of :func:`token_forward` in A_table, b_table and x0."""
    (V, h, n, _), (B, T) = A_table.shape, tokens.shape
    inputs = _flat(A_table, tokens.to(torch.int64), x0, x, dx)
    dA, db = (np.zeros((PARTS, size), inputs[0].dtype) for size in (V * h * n * n, V * h * n))
    dx0 = np.zeros(x0.numel(), inputs[0].dtype)

    def work(p, *part):
        kernels.token_backward(*inputs, dA[p], db[p], dx0, T, h, *part, (0,) * n)

    parts = over_chains(work, B, h, x.numel() * n, sums=True)
    return _summed(dA, parts, A_table.shape), _summed(db, parts, (V, h, n)), torch.from_numpy(dx0).view(x0.shape)


def diagonal_forward(A: Tensor, b: Tensor, x0: Tensor) -> Tensor:
    """States (B,T,D) of x_t = A_t x_{t-1} + b_t channel by channel; A (B,T,D), or (D,) if it is always the same."""
    B, T, D = b.shape
    x = empty(b.shape, b.dtype)
    arrays, step, (width, *kind) = _flat(A, b, x0, x), int(A.ndim == 3), NUMBERS[b.is_complex()]

    def work(_, *part):
        kernels.diagonal_forward(*arrays, T, D * width, step, *part, *kind)

    over_chains(work, B, D * width, x.numel(), CHANNELS_OF_A_LINE)
    return x


def diagonal_backward(A: Tensor, x0: Tensor, x: Tensor, dx: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Gradients of :func:`diagonal_forward` in A, b and x0."""
    B, T, D = x.shape
    db, dx0 = empty(x.shape, x.dtype), torch.empty(x0.shape, dtype=x0.dtype, device="cpu")
    inputs, outputs, shared = _flat(A, x0, x, dx), _flat(db, dx0), A.ndim == 1
    width, *kind = NUMBERS[x.is_complex()]
    dA = None if shared else empty(A.shape, A.dtype)
    sums = np.zeros((PARTS, D * width), inputs[0].dtype) if shared else None
    aligned = not D * width % CHANNELS_OF_A_LINE and (dA is None or _past(dA, CHANNELS_OF_A_LINE) is YES)
    past = _past(db, CHANNELS_OF_A_LINE) if aligned else NO

    def work(p, *part):
        into = (sums[p], ADD) if shared else (_flat(dA)[0], SET)
        kernels.diagonal_backward(*inputs, into[0], *outputs, T, D * width, int(not shared), into[1], past, *part, *kind)

    parts = over_chains(work, B, D * width, x.numel(), CHANNELS_OF_A_LINE, sums=shared)
    if shared:
        total = _summed(sums, parts, (D, width))
        return torch.view_as_complex(total) if A.is_complex() else total[:, 0], db, dx0
    return dA, db, dx0


def _past(result: Tensor, row: int) -> Flag:
    """Whether a result that is written in rows of ``row`` numbers goes past the cache."""
    fits = 64 % (row * result.element_size()) == 0 or row * result.element_size() % 64 == 0
    return YES if fits and result.nbytes >= MIN_PAST_CACHE and result.data_ptr() % 64 == 0 else NO
