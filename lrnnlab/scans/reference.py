"""The loop you would write on a blackboard: every other backend is tested against it.

Letters: B batch, T time, D channels, h blocks, n block size; A transition, b input term, x state.
"""

from __future__ import annotations

import torch
from torch import Tensor


def linear_scan(A: Tensor, b: Tensor, x0: Tensor) -> Tensor:
    """x_t = A_t x_{t-1} + b_t, one step after the other; at least one.

    ``unbind`` matters: indexing ``A[:, t]`` in the loop makes the backward pass quadratic in T, because the
    gradient of every index is a whole zero tensor of A's shape.
    """
    block = A.ndim == 5
    x, states = x0, []
    for A_t, b_t in zip(A.unbind(1), b.unbind(1)):
        x = (A_t @ x.unsqueeze(-1)).squeeze(-1) + b_t if block else A_t * x + b_t
        states.append(x)
    return torch.stack(states, 1)


def no_steps(empty: Tensor, *inputs: Tensor | None) -> Tensor:
    """``empty``, what a recurrence gives of no steps, as a function of its inputs: their gradients are zero, not None."""
    return empty + 0 * sum(x.sum() for x in inputs if x is not None)
