"""e-LSTM's recurrence as one compiled pass, forward and back; the equations are in ``e_lstm.py``.

Cells see themselves alone, so here the lanes are L = 16 cells of a string.  (torch's loop gives the same numbers up to
rounding, but training on a^n b^n carries the last digit into the recorded scores.)

Letters: B batch, T time, D cells, d = D / L groups of cells; s what f and z are made of besides c, c state, f forget gate,
z what is new.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from lrnnlab.models.kernels.lanes import L, arrays, sigmoid, tanh
from lrnnlab.scans.kernels.cpu_vectors import compiled
from lrnnlab.scans.transforms import first_order


@compiled
def forward(s: np.ndarray, w: np.ndarray, c: np.ndarray, f: np.ndarray, z: np.ndarray) -> None:
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
def backward(
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
        forward(*arrays(s, w, c, f, z))
        ctx.save_for_backward(w, c, f, z)
        return c[:, 1:].flatten(2)[..., :D].contiguous()

    @staticmethod
    @first_order
    def backward(ctx: Any, dc: Tensor) -> tuple[Tensor | None, ...]:
        w, c, f, z = ctx.saved_tensors
        D, dc = dc.shape[-1], _groups(dc)
        ds, g = dc.new_empty(*dc.shape[:2], *w.shape), torch.zeros_like(c[:, 0])
        backward(*arrays(w, c, f, z, dc, ds, g))
        ds = ds.flatten(3)
        dw = torch.einsum("btid,btd->id", ds, c[:, :-1].flatten(2))
        return ds[..., :D].contiguous(), dw[:, :D], g.flatten(1)[:, :D].contiguous(), None


def _groups(x: Tensor) -> Tensor:
    """(..., D) -> (..., d, L), with zeros behind the last cell."""
    x = x.detach()
    return F.pad(x, (0, -x.shape[-1] % L)).unflatten(-1, (-1, L)).contiguous()
