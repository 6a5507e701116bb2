"""Paper 003's recurrences that feed their state back, each as one compiled pass over every string, forward and back.

The equations are in ``layers/recurrent.py``.  The way back works on what the way there has kept: every W_t, so 4 bytes times
T h n^2 (Recurrent Delta) or T h r n (SRWM) a string in single precision.  Without feedback (m = 0) Recurrent Delta is
DeltaNet, without feedback and removal the unnormalised linear Transformer.

Letters: B batch, T time, h heads, n size of a head, m what a head sees of y (n, h n or 0), r = 3n + rates rows of SRWM's W, L
lanes (strings side by side); W fast weights, s = (q, k, v, b), in SRWM s = W x = (y, q, k, b), e error, u what a step writes
along its key, delta = phi(q) - phi(k), d = W delta; g the gradient arriving at what its name ends in.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

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

# --- Recurrent Delta ---------------------------------------------------------------------------------------------------


@compiled
def delta_forward(
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
def delta_backward(
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
            delta_forward(*arrays(packed_, wide, *rest), *ctx.options)
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
            delta_backward(*arrays(wide, *block, dR), *ctx.options)
        dR = dR.sum(-1) if wide.numel() else None
        return unpack(dslow, B), dR, unpack(gW, B), unpack(gy, B).unflatten(-1, (h, n)), None, None, None, None


# --- SRWM --------------------------------------------------------------------------------------------------------------


@compiled
def srwm_forward(
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
def srwm_backward(
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
            srwm_forward(*arrays(*block), ctx.kind)
        ctx.save_for_backward(packed, W, phi, scale, beta, d)
        return unpack(y, B), unpack(W[:, T % W.shape[1]], B)

    @staticmethod
    @first_order
    def backward(ctx: Any, dy: Tensor, dW: Tensor) -> tuple[Tensor | None, ...]:
        B, kept = len(dy), ctx.saved_tensors
        gW, dx = pack(dW), torch.empty_like(kept[0])
        for block in zip(*kept, pack(dy), gW, dx):
            srwm_backward(*arrays(*block), ctx.kind)
        return unpack(dx, B), unpack(gW, B), None, None, None


# --- e-LSTM ------------------------------------------------------------------------------------------------------------
# Cells see themselves alone, so here the lanes are L = 16 cells of a string, d = D / L groups of D cells; s what f and z are
# made of besides c, c state, f forget gate, z what is new.  (torch's loop gives the same numbers up to rounding, but training
# on a^n b^n carries the last digit into the recorded scores.)


@compiled
def e_lstm_forward(s: np.ndarray, w: np.ndarray, c: np.ndarray, f: np.ndarray, z: np.ndarray) -> None:
    """s (B,T,2,d,L), w (2,d,L), c (B,T+1,d,L) with c_0 in its place; f and z (B,T,d,L), or one step if nothing is kept."""
    B, T, _, groups, _ = s.shape
    u = np.empty((2, L), s.dtype)
    for b in range(B):
        for t in range(T):
            at = t % f.shape[1]
            for d in range(groups):
                for i in range(2):
                    for l in range(L):
                        u[i, l] = s[b, t, i, d, l] + w[i, d, l] * c[b, t, d, l]
                sigmoid(u[0], s.dtype.type(1), f[b, at, d])
                tanh(u[1:], z[b, at, d : d + 1])
                for l in range(L):
                    new = z[b, at, d, l]
                    c[b, t + 1, d, l] = new + f[b, at, d, l] * (c[b, t, d, l] - new)


@compiled
def e_lstm_backward(
    w: np.ndarray, c: np.ndarray, f: np.ndarray, z: np.ndarray, dc: np.ndarray, ds: np.ndarray, g: np.ndarray
) -> None:
    """dc (B,T,d,L) arrives at c_1 ... c_T; g (B,d,L) is zero before, and at the end what arrives at c_0."""
    B, T, groups, _ = dc.shape
    one = w.dtype.type(1)
    for b in range(B):
        for t in range(T - 1, -1, -1):
            for d in range(groups):
                for l in range(L):
                    arrived, share, new = g[b, d, l] + dc[b, t, d, l], f[b, t, d, l], z[b, t, d, l]
                    ds[b, t, 0, d, l] = arrived * (c[b, t, d, l] - new) * share * (one - share)
                    ds[b, t, 1, d, l] = arrived * (one - share) * (one - new * new)
                    back = ds[b, t, 0, d, l] * w[0, d, l] + ds[b, t, 1, d, l] * w[1, d, l]
                    g[b, d, l] = arrived * share + back


class ElementWiseLoop(torch.autograd.Function):
    """c_1 ... c_T of s, w and c_0, as :func:`lrnnlab.models.layers.recurrent.element_wise`; with ``keep`` the way back can be
    taken."""

    second = "with backend='reference'"

    @staticmethod
    def forward(ctx: Any, s: Tensor, w: Tensor, c0: Tensor, keep: bool) -> Tensor:
        B, T, _, D = s.shape
        s, w, first = map(_groups, (s, w, c0))
        c = s.new_empty(B, T + 1, *first.shape[1:])
        c[:, 0] = first
        f, z = (s.new_empty(B, T if keep else 1, *first.shape[1:]) for _ in range(2))
        e_lstm_forward(*arrays(s, w, c, f, z))
        ctx.save_for_backward(w, c, f, z)
        return c[:, 1:].flatten(2)[..., :D].contiguous()

    @staticmethod
    @first_order
    def backward(ctx: Any, dc: Tensor) -> tuple[Tensor | None, ...]:
        w, c, f, z = ctx.saved_tensors
        D, dc = dc.shape[-1], _groups(dc)
        ds, g = dc.new_empty(*dc.shape[:2], *w.shape), torch.zeros_like(c[:, 0])
        e_lstm_backward(*arrays(w, c, f, z, dc, ds, g))
        ds = ds.flatten(3)
        dw = torch.einsum("btid,btd->id", ds, c[:, :-1].flatten(2))
        return ds[..., :D].contiguous(), dw[:, :D], g.flatten(1)[:, :D].contiguous(), None


def _groups(x: Tensor) -> Tensor:
    """(..., D) -> (..., d, L), with zeros after the last cell."""
    x = x.detach()
    return F.pad(x, (0, -x.shape[-1] % L)).unflatten(-1, (-1, L)).contiguous()
