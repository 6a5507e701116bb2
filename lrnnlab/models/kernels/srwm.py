"""SRWM as one compiled pass over every string, forward and back; the equations are in ``self_referential.py``.

The way back works on what the way there has kept: every W_t, so 4 T h r n bytes a string in single precision.

Letters: T time, h heads, n size of a head, r = 3n + rates rows of W, L lanes (strings side by side); W fast weights,
s = W x = (y, q, k, b), delta = phi(q) - phi(k), d = W delta, u what a step writes along its key; gW what arrives at W.
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
    pack,
    room,
    sigmoid,
    unpack,
)
from lrnnlab.scans.kernels.cpu_vectors import compiled
from lrnnlab.scans.transforms import first_order


@compiled
def forward(
    x: np.ndarray, W: np.ndarray, y: np.ndarray, phi: np.ndarray, scale: np.ndarray, beta: np.ndarray, d: np.ndarray,
    kind: int,
) -> None:  # fmt: skip
    """x and y (T,h,n,L); W (T+1,h,r,n,L), or 2 steps of it if nothing is kept; of all others T steps or one: phi
    (h,2,n), of queries and then keys, scale (h,2), beta (h,rates), d (h,r)."""
    T, h, n, _ = x.shape
    r, rates, one = W.shape[2], beta.shape[2], x.dtype.type(1)
    s, u, delta = np.empty((r, L), x.dtype), np.empty((r, L), x.dtype), np.empty((n, L), x.dtype)
    for t in range(T):
        at, before, after = t % len(beta), t % len(W), (t + 1) % len(W)
        for c in range(h):
            q, k, b, e = phi[at, c, 0], phi[at, c, 1], beta[at, c], d[at, c]
            clear(s)
            add_product(W[before, c], x[t, c], s)
            copy(s[:n], y[t, c])
            features(kind, s[n : 2 * n], q, scale[at, c, 0])
            features(kind, s[2 * n : 3 * n], k, scale[at, c, 1])
            for i in range(rates):
                sigmoid(s[3 * n + i], one, b[i])
            for i in range(n):
                for l in range(L):
                    delta[i, l] = q[i, l] - k[i, l]
            clear(e)
            add_product(W[before, c], delta, e)
            for i in range(r):
                for l in range(L):
                    u[i, l] = b[min(i // n, rates - 1), l] * e[i, l]
            add_outer(u, k, W[before, c], W[after, c])


@compiled
def backward(
    x: np.ndarray, W: np.ndarray, phi: np.ndarray, scale: np.ndarray, beta: np.ndarray, d: np.ndarray, dy: np.ndarray,
    gW: np.ndarray, dx: np.ndarray, kind: int,
) -> None:  # fmt: skip
    """dy arrives at y_1 ... y_T; gW (h,r,n,L) holds what arrives at W_T from behind, and in the end at W_0."""
    T, h, n, _ = x.shape
    r, rates, one = W.shape[2], beta.shape[2], x.dtype.type(1)
    s, u, du = np.empty((r, L), x.dtype), np.empty((r, L), x.dtype), np.empty((r, L), x.dtype)
    delta = np.empty((n, L), x.dtype)
    for t in range(T - 1, -1, -1):
        for c in range(h):
            q, k, b = phi[t, c, 0], phi[t, c, 1], beta[t, c]
            clear(s)
            clear(du)
            clear(dx[t, c])
            # W_t = W_{t-1} + u phi(k)^T
            for i in range(r):
                for l in range(L):
                    u[i, l] = b[min(i // n, rates - 1), l] * d[t, c, i, l]
            add_product(gW[c], k, du)
            add_transposed(gW[c], u, s[2 * n : 3 * n])
            # u = beta d; from here on, du is what arrives at d
            for i in range(r):
                part = min(i // n, rates - 1)
                for l in range(L):
                    s[3 * n + part, l] += d[t, c, i, l] * du[i, l]
                    du[i, l] *= b[part, l]
            for i in range(rates):
                for l in range(L):
                    s[3 * n + i, l] *= b[i, l] * (one - b[i, l])
            # d = W_{t-1} (phi(q) - phi(k))
            add_transposed(W[t, c], du, s[n : 2 * n])
            for i in range(n):
                for l in range(L):
                    s[2 * n + i, l] -= s[n + i, l]
                    delta[i, l] = q[i, l] - k[i, l]
                    s[i, l] = dy[t, c, i, l]
            features_back(kind, q, scale[t, c, 0], s[n : 2 * n])
            features_back(kind, k, scale[t, c, 1], s[2 * n : 3 * n])
            # y, q, k, b = W_{t-1} x
            add_outer(du, delta, gW[c], gW[c])
            add_outer(s, x[t, c], gW[c], gW[c])
            add_transposed(W[t, c], s, dx[t, c])


class SelfReferentialLoop(torch.autograd.Function):
    """(y, W_T) of x and W_0, as :func:`lrnnlab.models.layers.recurrent.self_referential`; with ``keep`` the way back
    can be taken."""

    second = "with backend='reference'"

    @staticmethod
    def forward(ctx: Any, x: Tensor, W0: Tensor, rates: int, kind: str, keep: bool) -> tuple[Tensor, Tensor]:
        B, T, h, n = x.shape
        rows, packed = W0.shape[2], pack(x)
        blocks, kept = len(packed), T if keep else 1
        W, y = room(x, blocks, T + 1 if keep else 2, h, rows, n), room(x, blocks, T, h, n)
        W[:, 0] = pack(W0)
        phi, scale = room(x, blocks, kept, h, 2, n), room(x, blocks, kept, h, 2)
        beta, d = room(x, blocks, kept, h, rates), room(x, blocks, kept, h, rows)
        ctx.kind = KINDS[kind]
        for block in zip(packed, W, y, phi, scale, beta, d):
            forward(*arrays(*block), ctx.kind)
        ctx.save_for_backward(packed, W, phi, scale, beta, d)
        return unpack(y, B), unpack(W[:, T % W.shape[1]], B)

    @staticmethod
    @first_order
    def backward(ctx: Any, dy: Tensor, dW: Tensor) -> tuple[Tensor | None, ...]:
        B, kept = len(dy), ctx.saved_tensors
        gW, dx = pack(dW), torch.empty_like(kept[0])
        for block in zip(*kept, pack(dy), gW, dx):
            backward(*arrays(*block), ctx.kind)
        return unpack(dx, B), unpack(gW, B), None, None, None
