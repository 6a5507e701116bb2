"""SRWM as one compiled pass over every string, forward and back (numba); see ``self_referential.py``.

Sixteen strings at a time (:mod:`lrnnlab.models.cpu_lanes`).  The way back works on what the way there has kept: every
W_t, so 4 T h r n bytes a string in single precision.

Letters: B batch, T time, h heads, n size of a head, r rows of W, L lanes; W fast weights, d = W (phi(q) - phi(k)), u
what a step writes along its key; gW what arrives at W.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from lrnnlab.models.cpu_lanes import KINDS, LANES, L, dot, features, features_back, flat, pack, room, sigmoid, unpack
from lrnnlab.scans.cpu_vectors import NO, compiled, times
from lrnnlab.validation import first_order


@compiled
def forward(
    x: np.ndarray, W: np.ndarray, y: np.ndarray, phi: np.ndarray, scale: np.ndarray, beta: np.ndarray, d: np.ndarray,
    T: int, h: int, n: int, rates: int, kind: int, size: tuple[int, ...],
) -> None:  # fmt: skip
    """Sixteen strings.  W holds h r n numbers a lane for each of T + 1 steps, or for 2 if nothing is to be kept; so do
    phi (of queries, then keys), scale, beta and d for T steps or for one."""
    rows, kept = 3 * n + rates, len(beta) // (h * rates * L)
    before, one = len(W) // (h * rows * n * L), x.dtype.type(1)
    s, u, delta = np.empty(rows * L, x.dtype), np.empty(L, x.dtype), np.empty(n * L, x.dtype)
    for t in range(T):
        for c in range(h):
            at, new = t % kept * h + c, ((t + 1) % before * h + c) * rows * n * L
            old, now = (t % before * h + c) * rows * n * L, (t * h + c) * n * L
            q, k = at * 2 * n * L, (at * 2 + 1) * n * L
            for i in range(rows):
                dot(W, old + i * n * L, L, x, now, L, n, None, 0, s, i * L, size)
            for i in range(n * L):
                y[now + i] = s[i]
            for part in range(2):
                features(kind, s, (1 + part) * n * L, n, phi, q + part * n * L, scale, (at * 2 + part) * L, size)
            for i in range(rates):
                sigmoid(s, (3 * n + i) * L, one, beta, (at * rates + i) * L, size)
            for i in range(n * L):
                delta[i] = phi[q + i] - phi[k + i]
            for i in range(rows):
                e, row = (at * rows + i) * L, i * n * L
                dot(W, old + row, L, delta, 0, L, n, None, 0, d, e, size)
                times(beta, (at * rates + min(i // n, rates - 1)) * L, d, e, None, 0, u, 0, NO, NO, size)
                for j in range(0, n * L, L):
                    times(u, 0, phi, k + j, W, old + row + j, W, new + row + j, NO, NO, size)


@compiled
def backward(
    x: np.ndarray, W: np.ndarray, phi: np.ndarray, scale: np.ndarray, beta: np.ndarray, d: np.ndarray, dy: np.ndarray,
    gW: np.ndarray, dx: np.ndarray, T: int, h: int, n: int, rates: int, kind: int, size: tuple[int, ...],
) -> None:  # fmt: skip
    """dy is what arrives at y_1 ... y_T; gW (h,r,n) holds what arrives at W_T from behind, and in the end at W_0."""
    rows, one = 3 * n + rates, x.dtype.type(1)
    s, u, du = (np.empty(rows * L, x.dtype), np.empty(rows * L, x.dtype), np.empty(rows * L, x.dtype))
    delta = np.empty(n * L, x.dtype)
    for t in range(T - 1, -1, -1):
        for c in range(h):
            at, now, g = t * h + c, (t * h + c) * n * L, c * rows * n * L
            w, q, k = at * rows * n * L, at * 2 * n * L, (at * 2 + 1) * n * L
            for i in range(rows):  # W_t = W_{t-1} + u phi(k)^T with u = beta d
                b = (at * rates + min(i // n, rates - 1)) * L
                times(beta, b, d, (at * rows + i) * L, None, 0, u, i * L, NO, NO, size)
                dot(gW, g + i * n * L, L, phi, k, L, n, None, 0, du, i * L, size)
            for j in range(n):
                dot(gW, g + j * L, n * L, u, 0, L, rows, None, 0, s, (2 * n + j) * L, size)
            for i in range(3 * n * L, rows * L):
                s[i] = 0
            for i in range(rows):  # what arrives at beta, and at d (which takes the place of du)
                part = min(i // n, rates - 1)
                b, to = (at * rates + part) * L, (3 * n + part) * L
                times(d, (at * rows + i) * L, du, i * L, s, to, s, to, NO, NO, size)
                times(beta, b, du, i * L, None, 0, du, i * L, NO, NO, size)
            for i in range(rates * L):
                s[3 * n * L + i] *= beta[at * rates * L + i] * (one - beta[at * rates * L + i])
            for j in range(n):  # d = W_{t-1} (phi(q) - phi(k))
                dot(W, w + j * L, n * L, du, 0, L, rows, None, 0, s, (n + j) * L, size)
            for i in range(n * L):
                s[2 * n * L + i] -= s[n * L + i]
                delta[i] = phi[q + i] - phi[k + i]
                s[i] = dy[now + i]
            for part in range(2):
                features_back(kind, phi, q + part * n * L, scale, (at * 2 + part) * L, n, s, (1 + part) * n * L, size)
            for i in range(rows):  # y, q, k, b = W_{t-1} x
                for j in range(0, n * L, L):
                    to = g + i * n * L + j
                    times(du, i * L, delta, j, gW, to, gW, to, NO, NO, size)
                    times(s, i * L, x, now + j, gW, to, gW, to, NO, NO, size)
            for j in range(n):
                dot(W, w + j * L, n * L, s, 0, L, rows, None, 0, dx, now + j * L, size)


class SelfReferentialLoop(torch.autograd.Function):
    """(y, W_T) of x and W_0, as :func:`lrnnlab.models.self_referential.self_referential`; with ``keep`` the way back
    can be taken."""

    second = "with form='loop'"

    @staticmethod
    def forward(ctx: Any, x: Tensor, W0: Tensor, rates: int, kind: str, keep: bool) -> tuple[Tensor, Tensor]:
        B, T, h, n = x.shape
        rows, packed = W0.shape[2], pack(x)
        blocks, kept = len(packed), T if keep else 1
        W, y = room(x, blocks, T + 1 if keep else 2, h, rows, n), room(x, blocks, T, h, n)
        W[:, 0] = pack(W0)
        phi, scale = room(x, blocks, kept, h, 2, n), room(x, blocks, kept, h, 2)
        beta, d = room(x, blocks, kept, h, rates), room(x, blocks, kept, h, rows)
        ctx.sizes = (T, h, n, rates, KINDS[kind], LANES)
        for block in zip(packed, W, y, phi, scale, beta, d):
            forward(*flat(*block), *ctx.sizes)
        ctx.save_for_backward(packed, W, phi, scale, beta, d)
        return unpack(y, B), unpack(W[:, T % W.shape[1]], B)

    @staticmethod
    @first_order
    def backward(ctx: Any, dy: Tensor, dW: Tensor) -> tuple[Tensor | None, ...]:
        B, kept = len(dy), ctx.saved_tensors
        gW, dx = pack(dW), torch.empty_like(kept[0])
        for block in zip(*kept, pack(dy), gW, dx):
            backward(*flat(*block), *ctx.sizes)
        return unpack(dx, B), unpack(gW, B), None, None, None
