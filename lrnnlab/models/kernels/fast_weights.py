"""The generalised delta rule as one compiled pass over every string, forward and back; the equations are in
``layers/fast_weights.py``.

The way back works on what the way there has kept: every S_t, so 4 T h n^2 bytes a string in single precision.

Letters: T time, h heads, n size of a head, L lanes (strings side by side); x all that a token gives, q, v, k, w and, with
a removal, a and b; S state, u what is removed; g the gradient arriving at what its name ends in.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from lrnnlab.models.kernels.lanes import LANES, L, add_outer, add_product, add_transposed, clear, pack, room, unpack
from lrnnlab.scans.kernels.cpu_vectors import NO, compiled, times
from lrnnlab.scans.transforms import first_order


@compiled
def scale_columns(A: np.ndarray, x: np.ndarray, out: np.ndarray) -> None:
    """out = A diag(x), of A and out (r,m,L), x (m,L)."""
    r, m = A.shape[0], A.shape[1]
    for i in range(r):
        for j in range(m):
            at = (i * m + j) * L
            times(A, at, x, j * L, None, 0, out, at, NO, NO, NO, LANES)


@compiled
def add_by_column(A: np.ndarray, B: np.ndarray, out: np.ndarray) -> None:
    """out_j += sum_i A_ij B_ij, of A and B (r,m,L), out (m,L)."""
    r, m = A.shape[0], A.shape[1]
    for i in range(r):
        for j in range(m):
            at = (i * m + j) * L
            times(A, at, B, at, out, j * L, out, j * L, NO, NO, NO, LANES)


@compiled
def forward(x: np.ndarray, S: np.ndarray, y: np.ndarray) -> None:
    """x (T,h,4 or 6,n,L), y (T,h,n,L); S (T+1,h,n,n,L), or 2 steps of it if nothing is kept."""
    T, h, parts, n, _ = x.shape
    u = np.empty((n, L), x.dtype)
    for t in range(T):
        for c in range(h):
            before, after = S[t % len(S), c], S[(t + 1) % len(S), c]
            scale_columns(before, x[t, c, 3], after)
            if parts == 6:
                clear(u)
                add_product(before, x[t, c, 4], u)
                add_outer(u, x[t, c, 5], after, after)
            add_outer(x[t, c, 1], x[t, c, 2], after, after)
            clear(y[t, c])
            add_product(after, x[t, c, 0], y[t, c])


@compiled
def backward(x: np.ndarray, S: np.ndarray, gy: np.ndarray, gS: np.ndarray, gx: np.ndarray) -> None:
    """gy (T,h,n,L) arrives at y; gS (h,n,n,L) holds what arrives at S_T, and in the end what arrives at S_0."""
    T, h, parts, n, _ = x.shape
    u, gu = np.empty((n, L), x.dtype), np.empty((n, L), x.dtype)
    for t in range(T - 1, -1, -1):
        for c in range(h):
            for part in range(parts):
                clear(gx[t, c, part])
            add_transposed(S[t + 1, c], gy[t, c], gx[t, c, 0])  # y = S_t q
            add_outer(gy[t, c], x[t, c, 0], gS[c], gS[c])
            add_product(gS[c], x[t, c, 2], gx[t, c, 1])  # v k^T
            add_transposed(gS[c], x[t, c, 1], gx[t, c, 2])
            add_by_column(gS[c], S[t, c], gx[t, c, 3])  # S_{t-1} diag(w)
            clear(u)
            clear(gu)
            if parts == 6:  # u b^T, u = S_{t-1} a
                add_product(S[t, c], x[t, c, 4], u)
                add_transposed(gS[c], u, gx[t, c, 5])
                add_product(gS[c], x[t, c, 5], gu)
                add_transposed(S[t, c], gu, gx[t, c, 4])
            scale_columns(gS[c], x[t, c, 3], gS[c])
            if parts == 6:
                add_outer(gu, x[t, c, 4], gS[c], gS[c])


class GatedLoop(torch.autograd.Function):
    """(y, S_T) of x (B,T,h,4 or 6,n) and S_0 (B,h,n,n); with ``keep`` the way back can be taken."""

    second = "with backend='reference' or 'chunkwise'"

    @staticmethod
    def forward(ctx: Any, x: Tensor, S0: Tensor, keep: bool) -> tuple[Tensor, Tensor]:
        B, T, h, _, n = x.shape
        packed = pack(x)
        S, y = room(x, len(packed), T + 1 if keep else 2, h, n, n), room(x, len(packed), T, h, n)
        S[:, 0] = pack(S0)
        for block in zip(packed, S, y):
            forward(*(part.numpy() for part in block))
        ctx.save_for_backward(packed, S)
        return unpack(y, B), unpack(S[:, T % S.shape[1]], B)

    @staticmethod
    @first_order
    def backward(ctx: Any, gy: Tensor, gS: Tensor) -> tuple[Tensor | None, ...]:
        packed, S = ctx.saved_tensors
        B = len(gy)
        gx, gy, gS = torch.empty_like(packed), pack(gy), pack(gS)
        for block in zip(packed, S, gy, gS, gx):
            backward(*(part.numpy() for part in block))
        return unpack(gx, B), unpack(gS, B), None
