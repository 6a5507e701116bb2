"""SRWM, the self-referential weight matrix: one matrix that answers, and programs its own change.

    y, q, k, b = W_{t-1} x_t                                 (paper 003, Irie, Csordas, Schmidhuber 2023, Eq. 10-12)
    W_t = W_{t-1} + sigmoid(b) (W_{t-1} phi(q) - W_{t-1} phi(k)) phi(k)^T

The start W_0 is all that is learned.  Eq. 10 has one learning rate; the released code has four, one each for the rows
that make y, q, k and b.  (Its GPU kernel reads min(4, n) of them; here all four count at any n.)

Two forms, equal in value and gradient: ``loop`` is the equations, step by step, all heads at once; ``cpu`` is one
compiled pass over every string, forward and back (:mod:`lrnnlab.models.kernels.srwm`).

Letters: B batch, T time, D width, h heads, n = D/h size of a head, r = 3n + rates rows of W; x input of the layer, W
fast weights (r, n), y output.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from lrnnlab.models.backend import FORMS, is_compiled, run_compiled
from lrnnlab.models.base import Recurrence
from lrnnlab.models.feature_maps import FEATURE_MAPS, head_size
from lrnnlab.scans.reference import no_steps
from lrnnlab.validation import among


def self_referential(
    x: Tensor, W0: Tensor, *, rates: int = 4, feature_map: str = "softmax", form: str = "auto"
) -> tuple[Tensor, Tensor]:
    """y (B,T,h,n) and W_T of Eq. 10-12, from x (B,T,h,n) and W0 (B,h,3n+rates,n); y_t sees W_{t-1}, not step t's write."""
    if is_compiled(form, x):
        return run_compiled("srwm.SelfReferentialLoop", (x, W0), rates, feature_map)
    return _loop(x, W0, rates, feature_map)


def _loop(x: Tensor, W: Tensor, rates: int, feature_map: str) -> tuple[Tensor, Tensor]:
    """The equations.  Vectors are columns, so that a product with W is one batched matrix product."""
    phi, n = FEATURE_MAPS[feature_map], x.shape[-1]
    part = rate_of_row(n, rates, x.device)
    outputs = []
    for x_t in x.unsqueeze(-1).unbind(1):
        y, q, k, b = (W @ x_t).squeeze(-1).split([n, n, n, rates], -1)
        key = phi(k).unsqueeze(-1)
        target = phi(q).unsqueeze(-1)
        beta = torch.sigmoid(b)[..., part].unsqueeze(-1)  # (B,h,r,1)
        W = W + beta * (W @ (target - key)) @ key.mT
        outputs.append(y)
    return torch.stack(outputs, 1) if outputs else no_steps(x, W), W


def rate_of_row(n: int, rates: int, device: torch.device | None = None) -> Tensor:
    """Which learning rate a row of W has, (3n+rates,)."""
    if rates == 1:
        return torch.zeros(3 * n + 1, dtype=torch.int64, device=device)
    return torch.tensor([0] * n + [1] * n + [2] * n + [3] * 4, device=device)


class SelfReferential(Recurrence):
    """One layer: inputs (B,T,D) -> y (B,T,D), the heads side by side.

    W_0 starts normal with deviation n^-1/2, the rows that make q with 0.01 of it (App. C.2); those that make b around -1.

    Parameters
    ----------
    width, heads, feature_map, form
        As in :class:`lrnnlab.models.recurrent_delta.RecurrentDelta`.
    rates : int
        4 as released, 1 as in Eq. 10.

    Examples
    --------
    >>> SelfReferential(8, heads=2, rates=1)(torch.zeros(3, 7, 8)).shape
    torch.Size([3, 7, 8])
    """

    def __init__(
        self,
        width: int,
        *,
        heads: int = 2,
        rates: int = 4,
        feature_map: str = "softmax",
        form: str = "auto",
    ):
        super().__init__()
        among("feature_map", feature_map, FEATURE_MAPS)
        among("form", form, FORMS)
        if rates not in (1, 4):
            raise ValueError(f"rates is 1 or 4, got {rates}")
        n = head_size(width, heads)
        self.rates, self.feature_map, self.form = rates, feature_map, form
        W0 = torch.randn(heads, 3 * n + rates, n) / n**0.5
        W0[:, n : 2 * n] *= 0.01
        W0[:, 3 * n :] -= 1  # as released
        self.W0 = nn.Parameter(W0)

    def run(self, x: Tensor, W: Tensor) -> tuple[Tensor, Tensor]:
        """x (B,T,D) -> y (B,T,h,n) and W_T, from W (B,h,r,n)."""
        x = x.unflatten(-1, (len(self.W0), -1))
        return self_referential(x, W, rates=self.rates, feature_map=self.feature_map, form=self.form)

    def mix(self, z: Tensor) -> Tensor:
        return self.run(z, self.initial(len(z)))[0].flatten(2)

    def initial(self, batch: int) -> Tensor:
        """W_0, the same for every string, (B,h,r,n)."""
        return self.W0.expand(batch, *self.W0.shape)

    def step(self, state: Tensor, z_t: Tensor) -> tuple[Tensor, Tensor]:
        y, W = self.run(z_t.unsqueeze(1), state)
        return W, y.flatten(1)
