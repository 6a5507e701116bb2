"""The ``cpu`` backend: compiled loops (``kernels.py``) with their gradients and threads.

The batch is cut into a number of chunks that depends on the shape alone.  Chunks may run on several threads (the
kernels release Python's lock; ``torch.set_num_threads`` bounds them), and sums over chunks are taken in a fixed
order: results do not depend on the number of threads.

Letters: B batch, T time, D channels, h blocks, n block size, V vocabulary; A transition, b input term, x state.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from functools import cache

import numpy as np
import torch
from torch import Tensor

from lrnnlab.scans import kernels

CHUNKS = 8
SMALL = 1 << 18  # with fewer multiplications than this a second thread costs more than it brings


@cache
def _pool(threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(threads, thread_name_prefix="lrnnlab-scan")


if hasattr(os, "register_at_fork"):  # a forked child inherits the pool but not its threads, and would wait forever
    os.register_at_fork(after_in_child=_pool.cache_clear)


def _over_batch(work, batch: int, multiplications: int) -> int:
    """Call ``work(chunk, start, stop)`` for every chunk of the batch; returns the number of chunks."""
    chunks = 1 if multiplications < SMALL else min(CHUNKS, batch)
    edges = [batch * c // chunks for c in range(chunks + 1)]
    threads = min(torch.get_num_threads(), chunks)
    if threads == 1:
        for c in range(chunks):
            work(c, edges[c], edges[c + 1])
    else:
        list(_pool(threads).map(work, range(chunks), edges[:-1], edges[1:]))
    return chunks


def _flat(*tensors: Tensor) -> list[np.ndarray]:
    return [t.detach().resolve_conj().resolve_neg().contiguous().view(-1).numpy() for t in tensors]


def _as_stored(A: Tensor) -> tuple[Tensor, int, int, bool]:
    """A (B,T,h,n,n) as it lies in memory, the distance between heads' blocks, between a block's rows, and whether the
    heads are interleaved: (B,T,row,h,column) is what a softmax over rows wants, and the kernels read it as it is."""
    h, n = A.shape[2], A.shape[-1]
    if not A.is_contiguous() and A.transpose(2, 3).is_contiguous():
        return A.transpose(2, 3), n, h * n, True
    return A, n * n, n, False


class _Block(torch.autograd.Function):
    @staticmethod
    def forward(ctx, A, b, x0):
        B, T, h, n = b.shape
        x = torch.empty(b.shape, dtype=b.dtype)
        stored, head, row, _ = _as_stored(A)
        arrays = _flat(stored, b, x0, x)
        _over_batch(lambda c, i, j: kernels.block_forward(*arrays, T, h, head, row, i, j, (0,) * n), B, A.numel())
        ctx.save_for_backward(A, x0, x)
        return x

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, dx):
        A, x0, x = ctx.saved_tensors
        B, T, h, n = x.shape
        stored, head, row, interleaved = _as_stored(A)
        dA, db, dx0 = (torch.empty(t.shape, dtype=t.dtype) for t in (stored, x, x0))
        arrays = _flat(stored, x0, x, dx, dA, db, dx0.zero_())
        _over_batch(lambda c, i, j: kernels.block_backward(*arrays, T, h, head, row, i, j, (0,) * n), B, A.numel())
        return dA.transpose(2, 3) if interleaved else dA, db, dx0


class _Token(torch.autograd.Function):
    @staticmethod
    def forward(ctx, A_table, b_table, tokens, x0):
        (_, h, n), (B, T) = b_table.shape, tokens.shape
        x = torch.empty(B, T, h, n, dtype=A_table.dtype)
        arrays = _flat(A_table.transpose(-1, -2), b_table, tokens.to(torch.int64), x0, x)
        _over_batch(lambda c, i, j: kernels.token_forward(*arrays, T, h, i, j, (0,) * n), B, x.numel() * n)
        ctx.save_for_backward(A_table, tokens, x0, x)
        return x

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, dx):
        A_table, tokens, x0, x = ctx.saved_tensors
        (V, h, n, _), (B, T) = A_table.shape, tokens.shape
        inputs = _flat(A_table, tokens.to(torch.int64), x0, x, dx)
        dA = np.zeros((CHUNKS, V * h * n * n), inputs[0].dtype)
        db = np.zeros((CHUNKS, V * h * n), inputs[0].dtype)
        dx0 = np.zeros(x0.numel(), inputs[0].dtype)

        def work(c, i, j):
            kernels.token_backward(*inputs, dA[c], db[c], dx0, T, h, i, j, (0,) * n)

        chunks = _over_batch(work, B, x.numel() * n)
        dA, db, dx0 = (torch.from_numpy(a) for a in (dA[:chunks].sum(0), db[:chunks].sum(0), dx0))
        return dA.view(V, h, n, n), db.view(V, h, n), None, dx0.view(x0.shape)


class _Diagonal(torch.autograd.Function):
    @staticmethod
    def forward(ctx, A, b, x0):
        B, T, D = b.shape
        x = torch.empty(b.shape, dtype=b.dtype)
        arrays = _flat(A, b, x0, x)
        _over_batch(lambda c, i, j: kernels.diagonal_forward(*arrays, T, D, i, j), B, A.numel())
        ctx.save_for_backward(A, x0, x)
        return x

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, dx):
        A, x0, x = ctx.saved_tensors
        B, T, D = x.shape
        dA, db, dx0 = (torch.empty(t.shape, dtype=t.dtype) for t in (A, x, x0))
        arrays = _flat(A, x0, x, dx, dA, db, dx0)
        _over_batch(lambda c, i, j: kernels.diagonal_backward(*arrays, T, D, i, j), B, A.numel())
        return dA, db, dx0


def linear_scan(A: Tensor, b: Tensor, x0: Tensor) -> Tensor:
    """Compiled x_t = A_t x_{t-1} + b_t; arguments as in :func:`lrnnlab.scans.linear_scan`, on the CPU."""
    if b.numel() == 0:
        return b.clone()
    return (_Block if A.ndim == 5 else _Diagonal).apply(A, b, x0)


def token_scan(A_table: Tensor, b_table: Tensor, tokens: Tensor, x0: Tensor) -> Tensor:
    """Compiled token-table scan: neither A nor its gradient of shape (B, T, h, n, n) is ever built."""
    if A_table.ndim == 2:  # for diagonal tables the gathered A is no larger than the states
        return linear_scan(A_table[tokens], b_table[tokens], x0)
    if tokens.numel() == 0 or b_table.numel() == 0:
        return b_table[tokens]
    return _Token.apply(A_table, b_table, tokens, x0)
