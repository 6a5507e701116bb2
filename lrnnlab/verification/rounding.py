"""How far rounding can carry what a network computes away from the exact numbers.

The rules are the textbook's (Higham, *Accuracy and Stability of Numerical Algorithms*, 2nd ed., sections 3.1 and 4.2):
a sum of n products is off by at most n u / (1 - n u) times the sum of their absolute values, in whatever order it is
summed and whether or not multiplications and additions are fused; u is half the machine epsilon.  We take twice that,
which also pays for the rounding of the bounds themselves.

Letters: D width, m rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F


@dataclass(frozen=True)
class Rounded:
    """``value`` (m, D) as computed here, and ``error`` (m, D) in double precision: every machine with IEEE arithmetic
    of the value's type, this one included, ends within ``error`` of the exact number."""

    value: Tensor
    error: Tensor

    @property
    def size(self) -> Tensor:
        """At least the absolute value on every machine."""
        return self.value.double().abs() + 2 * self.error

    def apart(self) -> float:
        """The most by which the difference of two entries can differ between two machines."""
        return 4 * float(self.error.detach().nan_to_num(nan=torch.inf).max()) if self.error.numel() else 0.0


def unit(terms: int, dtype: torch.dtype) -> float:
    """Relative error of a sum of so many products, twice over.

    >>> unit(1, torch.float64) < 1e-15 < unit(1, torch.float32) < 1e-6
    True
    """
    return terms * torch.finfo(dtype).eps


def exact(value: Tensor) -> Rounded:
    """A value without error."""
    return Rounded(value, torch.zeros(value.shape, dtype=torch.float64))


def through(module: nn.Module, x: Rounded) -> Rounded:
    """``module`` (Linear, ReLU, LayerNorm over the last axis, or a Sequential of these) applied to x.

    Raises ``ValueError`` if a number overflows.

    >>> through(nn.Linear(3, 2), exact(torch.ones(1, 3))).error.max() < 1e-5
    tensor(True)
    """
    if isinstance(module, nn.Sequential):
        for part in module:
            x = through(part, x)
        return x
    value = module(x.value)
    if not value.isfinite().all():
        raise ValueError(f"the weights are too large: {type(module).__name__} overflows {value.dtype}")
    if isinstance(module, nn.ReLU):
        return Rounded(value, x.error)
    norm: Any = module
    weight, bias = norm.weight.double().abs(), norm.bias.double().abs()
    u = unit(x.value.shape[-1] + 8, value.dtype)
    if isinstance(module, nn.Linear):
        tiny = x.value.shape[-1] * torch.finfo(value.dtype).tiny  # products may be flushed to zero
        return Rounded(value, F.linear(x.error * (1 + u) + u * x.size, weight, u * bias + tiny))
    return Rounded(value, _norm_error(x, u, weight, bias, norm.eps))


def _norm_error(x: Rounded, u: float, weight: Tensor, bias: Tensor, eps: float) -> Tensor:
    """The error of LayerNorm, however mean and variance are computed (also as the mean of squares less the squared
    mean, the worst of ways)."""
    value = x.value.double()
    mean = value.mean(-1, keepdim=True)
    d = (value - mean).abs()
    s = (d.square().mean(-1, keepdim=True) + eps).sqrt()
    off = x.error + x.error.mean(-1, keepdim=True) + u * (x.size + x.size.mean(-1, keepdim=True))
    part = 2 * (x.error.square().mean(-1, keepdim=True).sqrt() + 4 * u * x.size.square().mean(-1, keepdim=True) / s) / s
    error = weight / s * (2 * off + (4 * part + 2 * u) * (d + off)) + u * bias
    return torch.where(part < 0.1, error, torch.inf)
