"""e-LSTM's recurrence as one compiled pass over every cell, forward and back (numba); see ``e_lstm.py``.

Cells see themselves alone, so sixteen cells of a string go together (:mod:`lrnnlab.models.cpu_lanes`).

Letters: B batch, T time, D cells, L lanes; s what f and z are made of besides c, c state, f forget gate, z what is new.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from lrnnlab.models.cpu_lanes import LANES, L, flat, sigmoid, tanh
from lrnnlab.scans.cpu_vectors import NO, compiled, times
from lrnnlab.validation import first_order


@compiled
def forward(
    s: np.ndarray, w: np.ndarray, c: np.ndarray, f: np.ndarray, z: np.ndarray, B: int, T: int, D: int,
    size: tuple[int, ...],
) -> None:  # fmt: skip
    """s (B,T,2,D), w (2,D), c (B,T+1,D) with c_0 in its place, f and z (B,T,D); D a multiple of L."""
    one, kept = s.dtype.type(1), len(f) // (B * D)
    u = np.empty(L, s.dtype)
    for B_ in range(B):
        for t in range(T):
            for d in range(0, D, L):
                now, at = (B_ * (T + 1) + t) * D + d, (B_ * kept + t % kept) * D + d
                times(w, d, c, now, s, (B_ * T + t) * 2 * D + d, u, 0, NO, NO, size)
                sigmoid(u, 0, one, f, at, size)
                times(w, D + d, c, now, s, ((B_ * T + t) * 2 + 1) * D + d, u, 0, NO, NO, size)
                tanh(u, 0, z, at, size)
                for l in range(L):
                    c[now + D + l] = z[at + l] + f[at + l] * (c[now + l] - z[at + l])


@compiled
def backward(
    w: np.ndarray, c: np.ndarray, f: np.ndarray, z: np.ndarray, dc: np.ndarray, ds: np.ndarray, g: np.ndarray, B: int,
    T: int, D: int, size: tuple[int, ...],
) -> None:  # fmt: skip
    """dc (B,T,D) is what arrives at c_1 ... c_T; g (B,D) is zero before, and at the end what arrives at c_0."""
    one = w.dtype.type(1)
    for B_ in range(B):
        for t in range(T - 1, -1, -1):
            for d in range(0, D, L):
                now, at = (B_ * (T + 1) + t) * D + d, (B_ * T + t) * D + d
                gate, new, o = ((B_ * T + t) * 2) * D + d, ((B_ * T + t) * 2 + 1) * D + d, B_ * D + d
                for l in range(L):
                    arrived, share = g[o + l] + dc[at + l], f[at + l]
                    ds[gate + l] = arrived * (c[now + l] - z[at + l]) * share * (one - share)
                    ds[new + l] = arrived * (one - share) * (one - z[at + l] * z[at + l])
                    g[o + l] = arrived * share + ds[gate + l] * w[d + l] + ds[new + l] * w[D + d + l]


class ElementWiseLoop(torch.autograd.Function):
    """c_1 ... c_T of s, w and c_0, as :func:`lrnnlab.models.e_lstm.element_wise`; with ``keep`` the way back can be
    taken."""

    second = "with form='loop'"

    @staticmethod
    def forward(ctx: Any, s: Tensor, w: Tensor, c0: Tensor, keep: bool) -> Tensor:
        B, T, _, D = s.shape
        s, w, first = (F.pad(x.detach(), (0, -D % L)).contiguous() for x in (s, w, c0))
        wide = s.shape[-1]
        c = s.new_empty(B, T + 1, wide)
        c[:, 0] = first
        f, z = (s.new_empty(B, T if keep else 1, wide) for _ in range(2))
        ctx.sizes = (B, T, wide, LANES)
        forward(*flat(s, w, c, f, z), *ctx.sizes)
        ctx.save_for_backward(w, c, f, z)
        return c[:, 1:, :D].contiguous()

    @staticmethod
    @first_order
    def backward(ctx: Any, dc: Tensor) -> tuple[Tensor | None, ...]:
        w, c, f, z = ctx.saved_tensors
        D, (B, T, wide, _) = dc.shape[-1], ctx.sizes
        dc = F.pad(dc, (0, wide - D)).contiguous()
        ds, g = dc.new_empty(B, T, 2, wide), dc.new_zeros(B, wide)
        backward(*flat(w, c, f, z, dc, ds, g), *ctx.sizes)
        dw = torch.einsum("btid,btd->id", ds, c[:, :-1])
        return ds[..., :D].contiguous(), dw[:, :D], g[:, :D].contiguous(), None
