"""Recurrent Delta: the delta rule whose slow net also sees what the memory answered one step before.

    q, k, v, b = W_slow z_t + R tanh(y_{t-1})               (paper 003, Irie, Csordas, Schmidhuber 2023, Eq. 9)
    W_t = W_{t-1} + beta (v - W_{t-1} phi(k)) phi(k)^T,  beta = sigmoid(b),   y_t = W_t phi(q),   y_0 = 0

In the released code a head's R sees the y of that head alone (``recurrence="head"``); Eq. 9 concatenates the whole y
(``recurrence="full"``).

Two forms, equal in value and gradient: ``loop`` is the equations, step by step, all heads at once; ``cpu`` is one
compiled pass over every string, forward and back (:mod:`lrnnlab.models.kernels.delta`).

Letters: B batch, T time, D width, h heads, n = D/h size of a head, m what a head sees of y (n or D); z normalised input
of the layer, W fast weights (n, n), q, k, v queries, keys and values, s all four before phi and sigmoid, y output.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from lrnnlab.models.backend import FORMS, is_compiled, run_compiled
from lrnnlab.models.base import Recurrence
from lrnnlab.models.feature_maps import FEATURE_MAPS, head_size
from lrnnlab.scans.reference import no_steps
from lrnnlab.validation import among, number

FARTHEST = 80.0  # a write_start whose exponential is still a float32


def recurrent_delta(
    slow: Tensor,
    R: Tensor | None,
    W0: Tensor | None = None,
    y0: Tensor | None = None,
    *,
    feature_map: str = "softmax",
    greatest: float = 1.0,
    removal: bool = True,
    form: str = "auto",
) -> tuple[Tensor, Tensor]:
    """y (B,T,h,n) and W_T (B,h,n,n) of Eq. 7-9, from slow = W_slow z (B,T,h,3n+1), R (h,3n+1,m) or None for no feedback
    (DeltaNet), and the memory and output to start with, W0 (B,h,n,n) and y0 (B,h,n), zero if absent.

    beta is ``greatest`` sigmoid(b); without ``removal`` it is the additive rule of Eq. 2, W_t = W_{t-1} + v phi(k)^T.
    """
    B, _, h, rows = slow.shape
    n = (rows - 1) // 3
    W = slow.new_zeros(B, h, n, n) if W0 is None else W0
    y = slow.new_zeros(B, h, n) if y0 is None else y0
    if is_compiled(form, slow):
        return run_compiled("delta.RecurrentDeltaLoop", (slow, R, W, y), feature_map, removal, greatest)
    return _loop(slow, R, W, y, feature_map, greatest, removal)


def _loop(
    slow: Tensor, R: Tensor | None, W: Tensor, y: Tensor, feature_map: str, greatest: float, removal: bool
) -> tuple[Tensor, Tensor]:
    """The equations.  Vectors are columns, so that a product with W is one batched matrix product."""
    phi, n = FEATURE_MAPS[feature_map], W.shape[-1]
    outputs = []
    for slow_t in slow.unbind(1):  # indexing by t would make the backward pass quadratic in T
        s = slow_t if R is None else slow_t + _feedback(R, y)
        q, k, v, b = s.split([n, n, n, 1], -1)
        key, write = phi(k).unsqueeze(-1), v.unsqueeze(-1)
        if removal:
            write = greatest * torch.sigmoid(b).unsqueeze(-1) * (write - W @ key)
        W = W + write @ key.mT
        y = (W @ phi(q).unsqueeze(-1)).squeeze(-1)
        outputs.append(y)
    return torch.stack(outputs, 1) if outputs else no_steps(slow[..., :n], R, W, y), W


def _feedback(R: Tensor, y: Tensor) -> Tensor:
    """R tanh(y) for y (B,h,n) -> (B,h,3n+1); a head sees its own y, or all of them if R is so wide."""
    seen = torch.tanh(y) if R.shape[-1] == y.shape[-1] else torch.tanh(y).flatten(1).unsqueeze(1)  # (B,h or 1,m)
    return (R @ seen.unsqueeze(-1)).squeeze(-1)


def near_addition(rows: int, n: int, write_start: float) -> tuple[Tensor, Tensor]:
    """Scale and shift (rows,) of what a slow net says, ending in v (n) and b, so that beta starts near sigmoid(write_start).
    """
    number(write_start, "write_start", -FARTHEST, FARTHEST)
    scale, shift = torch.ones(rows), torch.zeros(rows)
    scale[-n - 1 : -1], shift[-1] = n * n * (1 + math.exp(-write_start)), write_start
    return scale, shift


class RecurrentDelta(Recurrence):
    """One layer: inputs (B,T,D) -> y (B,T,D), the heads side by side.

    R starts normal with variance 1/m (m = n in the released code).

    Parameters
    ----------
    width, heads : int
        D and h.
    feature_map : str
        phi, a name in ``FEATURE_MAPS``; the released code has softmax here.
    recurrence : str
        ``"head"`` as released, ``"full"`` as in Eq. 9.
    allow_negative_eigenvalues : bool
        beta in (0, 2) instead of (0, 1).
    write_start : float, optional
        As in :func:`near_addition`.
    feedback_start : float
        What R is multiplied by at the start.
    form : str
        How it runs, one of ``lrnnlab.models.backend.FORMS``; may be changed on a finished layer.

    Examples
    --------
    >>> RecurrentDelta(8, heads=2)(torch.zeros(3, 7, 8)).shape
    torch.Size([3, 7, 8])
    """

    def __init__(
        self,
        width: int,
        *,
        heads: int = 2,
        feature_map: str = "softmax",
        recurrence: str = "head",
        allow_negative_eigenvalues: bool = False,
        write_start: float | None = None,
        feedback_start: float = 1.0,
        form: str = "auto",
    ):
        super().__init__()
        among("feature_map", feature_map, FEATURE_MAPS)
        among("form", form, FORMS)
        among("recurrence", recurrence, ("head", "full"))
        number(feedback_start, "feedback_start")
        self.heads, self.size, self.feature_map, self.form = heads, head_size(width, heads), feature_map, form
        self.greatest = 2.0 if allow_negative_eigenvalues else 1.0  # as in fast_weights.py
        rows, seen = 3 * self.size + 1, self.size if recurrence == "head" else width
        self.slow = nn.Linear(width, heads * rows, bias=False)
        self.R = nn.Parameter(torch.randn(heads, rows, seen) * (feedback_start / seen**0.5))
        self.near = None if write_start is None else near_addition(rows, self.size, write_start)

    def run(self, z: Tensor, W0: Tensor | None = None, y0: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """z (B,T,D) -> y (B,T,h,n) and W_T, from a kept state."""
        slow: Tensor = self.slow(z).unflatten(-1, (self.heads, -1))
        R: Tensor = self.R
        if self.near is not None:
            scale, shift = (part.to(slow) for part in self.near)
            slow, R = slow * scale + shift, R * scale.unsqueeze(-1)
        return recurrent_delta(
            slow, R, W0, y0, feature_map=self.feature_map, greatest=self.greatest, form=self.form
        )

    def mix(self, z: Tensor) -> Tensor:
        return self.run(z)[0].flatten(2)

    def initial(self, batch: int) -> tuple[Tensor, Tensor]:
        """W_0 (B,h,n,n) and y_0 (B,h,n), both zero."""
        shape = (batch, self.heads, self.size)
        return self.R.new_zeros(*shape, self.size), self.R.new_zeros(shape)

    def step(self, state: tuple[Tensor, Tensor], z_t: Tensor) -> tuple[tuple[Tensor, Tensor], Tensor]:
        y, W = self.run(z_t.unsqueeze(1), *state)
        return (W, y[:, 0]), y.flatten(1)
