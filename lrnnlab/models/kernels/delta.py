"""Recurrent Delta as one compiled pass over every string, forward and back; the equations are in ``layers/recurrent.py``.

Without feedback (m = 0) it is DeltaNet, without feedback and removal the unnormalised linear Transformer.  The way back
works on what the way there has kept: every W_t, so 4 T h n^2 bytes a string in single precision.

Letters: T time, h heads, n size of a head, m what a head sees of y (n, h n or 0), L lanes (strings side by side); W fast
weights, s = (q, k, v, b), e error, u what a step writes along its key; g the gradient arriving at what its name ends in.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from lrnnlab.models.kernels.lanes import (
    KINDS,
    L,
    add_outer,
    add_product,
    add_transposed,
    arrays,
    clear,
    copy,
    features,
    features_back,
    multiply,
    pack,
    room,
    sigmoid,
    tanh,
    unpack,
)
from lrnnlab.scans.kernels.cpu_vectors import compiled
from lrnnlab.scans.transforms import first_order


@compiled
def forward(
    slow: np.ndarray, R: np.ndarray, W: np.ndarray, y: np.ndarray, seen: np.ndarray, phi: np.ndarray, scale: np.ndarray,
    beta: np.ndarray, error: np.ndarray, kind: int, removal: bool, greatest: float,
) -> None:  # fmt: skip
    """slow (T,h,3n+1,L), R (h,3n+1,m,L), y (T+1,h n,L); W (T+1,h,n,n,L), or 2 steps of it if nothing is kept; of all
    others T steps or one: seen (h n), phi (h,2,n), of queries and then keys, scale (h,2), beta (h), error (h,n)."""
    T, h, rows, _ = slow.shape
    n, m, one = W.shape[2], R.shape[2], slow.dtype.type(1)
    s, u = np.empty((rows, L), slow.dtype), np.empty((n, L), slow.dtype)
    for t in range(T):
        at, before, after = t % len(beta), t % len(W), (t + 1) % len(W)
        if m:
            tanh(y[t], seen[at])
        clear(y[t + 1])
        for c in range(h):
            own = c * n if m == n else 0
            q, k, e, b = phi[at, c, 0], phi[at, c, 1], error[at, c], beta[at, c]
            copy(slow[t, c], s)
            add_product(R[c], seen[at, own : own + m], s)
            features(kind, s[:n], q, scale[at, c, 0])
            features(kind, s[n : 2 * n], k, scale[at, c, 1])
            clear(u)
            for l in range(L):
                b[l] = one
            if removal:
                sigmoid(s[3 * n], greatest, b)
                add_product(W[before, c], k, u)
            for i in range(n):
                for l in range(L):
                    e[i, l] = s[2 * n + i, l] - u[i, l]
            multiply(b, e, u)
            add_outer(u, k, W[before, c], W[after, c])
            add_product(W[after, c], q, y[t + 1, c * n : (c + 1) * n])


@compiled
def backward(
    R: np.ndarray, W: np.ndarray, seen: np.ndarray, phi: np.ndarray, scale: np.ndarray, beta: np.ndarray,
    error: np.ndarray, dy: np.ndarray, gW: np.ndarray, gy: np.ndarray, dslow: np.ndarray, dR: np.ndarray, kind: int,
    removal: bool, greatest: float,
) -> None:  # fmt: skip
    """dy (T,h n,L) arrives at y_1 ... y_T; gW (h,n,n,L) and gy (h n,L) hold what arrives at W_T and at y_T from behind,
    and in the end what arrives at W_0 and y_0; what arrives at R is added to dR."""
    T, h, rows, _ = dslow.shape
    n, m, one = W.shape[2], R.shape[2], W.dtype.type(1)
    s, u, du, later = np.empty((rows, L), W.dtype), np.empty((n, L), W.dtype), np.empty((n, L), W.dtype), np.empty_like(gy)
    for t in range(T - 1, -1, -1):
        clear(later)
        for i in range(h * n):
            for l in range(L):
                gy[i, l] += dy[t, i, l]
        for c in range(h):
            own = c * n if m == n else 0
            q, k, e, b, g = phi[t, c, 0], phi[t, c, 1], error[t, c], beta[t, c], gy[c * n : (c + 1) * n]
            clear(s)
            clear(du)
            # y = W_t phi(q)
            add_transposed(W[t + 1, c], g, s[:n])
            add_outer(g, q, gW[c], gW[c])
            # W_t = W_{t-1} + u phi(k)^T
            multiply(b, e, u)
            add_product(gW[c], k, du)
            add_transposed(gW[c], u, s[n : 2 * n])
            # u = beta e
            for i in range(n):
                for l in range(L):
                    s[3 * n, l] += e[i, l] * du[i, l]
            for l in range(L):
                s[3 * n, l] *= b[l] - b[l] * b[l] / greatest if removal else b[l] - b[l]
            multiply(b, du, s[2 * n : 3 * n])
            # e = v - W_{t-1} phi(k)
            if removal:
                for i in range(n):
                    for l in range(L):
                        u[i, l] = -s[2 * n + i, l]
                add_transposed(W[t, c], u, s[n : 2 * n])
                add_outer(u, k, gW[c], gW[c])
            features_back(kind, q, scale[t, c, 0], s[:n])
            features_back(kind, k, scale[t, c, 1], s[n : 2 * n])
            copy(s, dslow[t, c])
            # s = slow + R tanh(y_{t-1})
            add_transposed(R[c], s, later[own : own + m])
            add_outer(s, seen[t, own : own + m], dR[c], dR[c])
        clear(gy)
        for i in range(h * n if m else 0):
            for l in range(L):
                gy[i, l] = later[i, l] * (one - seen[t, i, l] * seen[t, i, l])


class RecurrentDeltaLoop(torch.autograd.Function):
    """(y, W_T) of slow, R (or None), W_0 and y_0, as :func:`lrnnlab.models.layers.recurrent.recurrent_delta`; with
    ``keep`` the way back can be taken."""

    second = "of RecurrentDelta with backend='reference', and of FastWeights with backend='reference' or 'chunkwise'"

    @staticmethod
    def forward(ctx: Any, slow: Tensor, R: Tensor | None, W0: Tensor, y0: Tensor, kind: str, removal: bool,
                greatest: float, keep: bool) -> tuple[Tensor, Tensor]:  # fmt: skip
        B, T, h, rows = slow.shape
        n = W0.shape[-1]
        wide = slow.new_empty(h, rows, 0, L) if R is None else R.detach().unsqueeze(-1).expand(*R.shape, L).contiguous()
        packed = pack(slow)
        blocks, kept = len(packed), T if keep else 1
        W, y = room(slow, blocks, T + 1 if keep else 2, h, n, n), room(slow, blocks, T + 1, h * n)
        W[:, 0], y[:, 0] = pack(W0), pack(y0.flatten(1))
        seen, beta, error = room(slow, blocks, kept, h * n), room(slow, blocks, kept, h), room(slow, blocks, kept, h, n)
        phi, scale = room(slow, blocks, kept, h, 2, n), room(slow, blocks, kept, h, 2)
        ctx.options = KINDS[kind], removal, W.numpy().dtype.type(greatest)
        for packed_, *rest in zip(packed, W, y, seen, phi, scale, beta, error):
            forward(*arrays(packed_, wide, *rest), *ctx.options)
        ctx.save_for_backward(wide, W, seen, phi, scale, beta, error)
        return unpack(y[:, 1:], B).unflatten(-1, (h, n)), unpack(W[:, T % W.shape[1]], B)

    @staticmethod
    @first_order
    def backward(ctx: Any, dy: Tensor, dW: Tensor) -> tuple[Tensor | None, ...]:
        wide, *kept = ctx.saved_tensors
        B, T, h, n = dy.shape
        dy, gW = pack(dy.flatten(2)), pack(dW)
        gy = torch.zeros_like(dy[:, 0])
        dslow, dR = room(dy, len(dy), T, h, 3 * n + 1), torch.zeros_like(wide)
        for block in zip(*kept, dy, gW, gy, dslow):
            backward(*arrays(wide, *block, dR), *ctx.options)
        dR = dR.sum(-1) if wide.numel() else None
        return unpack(dslow, B), dR, unpack(gW, B), unpack(gy, B).unflatten(-1, (h, n)), None, None, None, None
