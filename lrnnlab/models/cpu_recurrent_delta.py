"""Recurrent Delta as one compiled pass over every string, forward and back (numba); see ``recurrent_delta.py``.

Without feedback (m = 0) it is DeltaNet, without feedback and removal the unnormalised linear Transformer.

Sixteen strings at a time (:mod:`lrnnlab.models.cpu_lanes`).  The way back works on what the way there has kept: every
W_t, so 4 T h n^2 bytes a string in single precision.

Letters: B batch, T time, h heads, n size of a head, m what a head sees of y (n, h n or 0), L lanes; W fast weights, u
what a step writes along its key, g gradients: gW what arrives at W, gy at y.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from lrnnlab.models.cpu_lanes import (
    KINDS,
    LANES,
    L,
    dot,
    features,
    features_back,
    flat,
    pack,
    room,
    sigmoid,
    tanh,
    unpack,
)
from lrnnlab.scans.cpu_vectors import NO, compiled, times
from lrnnlab.validation import first_order


@compiled
def forward(
    slow: np.ndarray, R: np.ndarray, W: np.ndarray, y: np.ndarray, seen: np.ndarray, phi: np.ndarray, scale: np.ndarray,
    beta: np.ndarray, error: np.ndarray, T: int, h: int, n: int, m: int, kind: int, removal: int, greatest: float,
    size: tuple[int, ...],
) -> None:  # fmt: skip
    """Sixteen strings.  W holds h n n numbers a lane for each of T + 1 steps, or for 2 if nothing is to be kept; so do
    seen (tanh of the y before), phi (of queries, then keys), scale, beta and error for T steps or for one."""
    rows, kept = 3 * n + 1, len(beta) // (h * L)
    before, one = len(W) // (h * n * n * L), slow.dtype.type(1)
    s, u = np.empty(rows * L, slow.dtype), np.empty(L, slow.dtype)
    for t in range(T):
        first = t % kept * h
        for i in range(h * n if m else 0):
            tanh(y, (t * h * n + i) * L, seen, (first * n + i) * L, size)
        for c in range(h):
            at, own = first + c, (first + (c if m == n else 0)) * n * L
            for i in range(rows * L):
                s[i] = slow[(t * h + c) * rows * L + i]
            for i in range(rows if m else 0):
                dot(R, (c * rows + i) * m * L, L, seen, own, L, m, s, i * L, s, i * L, size)
            q, k = at * 2 * n * L, (at * 2 + 1) * n * L
            for part in range(2):
                features(kind, s, part * n * L, n, phi, q + part * n * L, scale, (at * 2 + part) * L, size)
            if removal:
                sigmoid(s, 3 * n * L, greatest, beta, at * L, size)
            for l in range(0 if removal else L):
                beta[at * L + l] = one
            for i in range(n):
                old, new = ((t % before * h + c) * n + i) * n * L, (((t + 1) % before * h + c) * n + i) * n * L
                e = (at * n + i) * L
                for l in range(L):
                    error[e + l] = s[(2 * n + i) * L + l]
                if removal:
                    dot(W, old, L, phi, k, L, n, None, 0, u, 0, size)
                    for l in range(L):
                        error[e + l] -= u[l]
                times(beta, at * L, error, e, None, 0, u, 0, NO, NO, size)
                for j in range(0, n * L, L):
                    times(u, 0, phi, k + j, W, old + j, W, new + j, NO, NO, size)
                dot(W, new, L, phi, q, L, n, None, 0, y, ((t + 1) * h * n + c * n + i) * L, size)


@compiled
def backward(
    R: np.ndarray, W: np.ndarray, seen: np.ndarray, phi: np.ndarray, scale: np.ndarray, beta: np.ndarray,
    error: np.ndarray, dy: np.ndarray, gW: np.ndarray, gy: np.ndarray, dslow: np.ndarray, dR: np.ndarray, T: int,
    h: int, n: int, m: int, kind: int, removal: int, greatest: float, size: tuple[int, ...],
) -> None:  # fmt: skip
    """dy is what arrives at y_1 ... y_T; gW (h,n,n) and gy (h,n) hold what arrives at W_T and at y_T from behind, and
    in the end what arrives at W_0 and y_0; what arrives at R is added to dR."""
    rows = 3 * n + 1
    one = W.dtype.type(1)
    s, u, later = np.empty(rows * L, W.dtype), np.empty(2 * n * L, W.dtype), np.empty(h * n * L, W.dtype)
    for t in range(T - 1, -1, -1):
        for i in range(h * n * L):
            gy[i] += dy[t * h * n * L + i]
            later[i] = 0
        for c in range(h):
            at, own = t * h + c, (c if m == n else 0) * n * L
            q, k, g, e = at * 2 * n * L, (at * 2 + 1) * n * L, c * n * n * L, at * n * L
            after, d = ((t + 1) * h + c) * n * n * L, at * n * n * L
            for i in range(n):  # y = W_t phi(q)
                dot(W, after + i * L, n * L, gy, c * n * L, L, n, None, 0, s, i * L, size)
                for j in range(0, n * L, L):
                    times(gy, (c * n + i) * L, phi, q + j, gW, g + i * n * L + j, gW, g + i * n * L + j, NO, NO, size)
            for i in range(n):  # W_t = W_{t-1} + u phi(k)^T with u = beta error
                times(beta, at * L, error, e + i * L, None, 0, u, i * L, NO, NO, size)
            for i in range(n):
                dot(gW, g + i * n * L, L, phi, k, L, n, None, 0, u, (n + i) * L, size)
                dot(gW, g + i * L, n * L, u, 0, L, n, None, 0, s, (n + i) * L, size)
            dot(error, e, L, u, n * L, L, n, None, 0, s, 3 * n * L, size)
            for l in range(L):
                b = beta[at * L + l]
                s[3 * n * L + l] *= b - b * b / greatest if removal else b - b
            for i in range(n):  # error = v - W_{t-1} phi(k)
                times(beta, at * L, u, (n + i) * L, None, 0, s, (2 * n + i) * L, NO, NO, size)
                for l in range(L):
                    u[i * L + l] = -s[(2 * n + i) * L + l]
            for i in range(n if removal else 0):
                dot(W, d + i * L, n * L, u, 0, L, n, s, (n + i) * L, s, (n + i) * L, size)
                for j in range(0, n * L, L):
                    times(u, i * L, phi, k + j, gW, g + i * n * L + j, gW, g + i * n * L + j, NO, NO, size)
            for part in range(2):
                features_back(kind, phi, q + part * n * L, scale, (at * 2 + part) * L, n, s, part * n * L, size)
            for i in range(rows * L):
                dslow[at * rows * L + i] = s[i]
            for j in range(m):  # the feedback R tanh(y_{t-1})
                r, from_ = (c * rows * m + j) * L, own + j * L
                dot(R, r, m * L, s, 0, L, rows, later, from_, later, from_, size)
                for i in range(rows):
                    to = r + i * m * L
                    times(s, i * L, seen, t * h * n * L + from_, dR, to, dR, to, NO, NO, size)
        for i in range(h * n * L):
            gy[i] = 0
        for i in range(h * n * L if m else 0):
            gy[i] = later[i] * (one - seen[t * h * n * L + i] * seen[t * h * n * L + i])


class RecurrentDeltaLoop(torch.autograd.Function):
    """(y, W_T) of slow, R (or None), W_0 and y_0, as :func:`lrnnlab.models.recurrent_delta.recurrent_delta`; with
    ``keep`` the way back can be taken."""

    second = "of RecurrentDelta with form='loop', and of FastWeights with form='sequential' or 'chunkwise'"

    @staticmethod
    def forward(
        ctx: Any,
        slow: Tensor,
        R: Tensor | None,
        W0: Tensor,
        y0: Tensor,
        kind: str,
        removal: bool,
        greatest: float,
        keep: bool,
    ) -> tuple[Tensor, Tensor]:
        B, T, h, rows = slow.shape
        n, m = W0.shape[-1], 0 if R is None else R.shape[-1]
        wide = slow.new_empty(h, rows, 0, L) if R is None else R.detach().unsqueeze(-1).expand(*R.shape, L).contiguous()
        packed = pack(slow)
        blocks, kept = len(packed), T if keep else 1
        W, y = room(slow, blocks, T + 1 if keep else 2, h, n, n), room(slow, blocks, T + 1, h, n)
        W[:, 0], y[:, 0] = pack(W0), pack(y0)
        seen, error, beta = room(slow, blocks, kept, h, n), room(slow, blocks, kept, h, n), room(slow, blocks, kept, h)
        phi, scale = room(slow, blocks, kept, h, 2, n), room(slow, blocks, kept, h, 2)
        ctx.sizes = (T, h, n, m, KINDS[kind], int(removal), W.numpy().dtype.type(greatest), LANES)
        for packed_, W_, y_, *rest in zip(packed, W, y, seen, phi, scale, beta, error):
            forward(*flat(packed_, wide, W_, y_, *rest), *ctx.sizes)
        ctx.save_for_backward(wide, W, seen, phi, scale, beta, error)
        return unpack(y[:, 1:], B), unpack(W[:, T % W.shape[1]], B)

    @staticmethod
    @first_order
    def backward(ctx: Any, dy: Tensor, dW: Tensor) -> tuple[Tensor | None, ...]:
        wide, *kept = ctx.saved_tensors
        B, T, h, n = dy.shape
        dy, gW = pack(dy), pack(dW)
        gy = torch.zeros_like(gW[..., 0, :])
        dslow, dR = room(dy, len(dy), T, h, 3 * n + 1), torch.zeros_like(wide)
        for *kept_, dy_, gW_, gy_, dslow_ in zip(*kept, dy, gW, gy, dslow):
            backward(*flat(wide, *kept_, dy_, gW_, gy_, dslow_, dR), *ctx.sizes)
        dR = dR.sum(-1) if wide.numel() else None
        return unpack(dslow, B), dR, unpack(gW, B), unpack(gy, B), None, None, None, None
