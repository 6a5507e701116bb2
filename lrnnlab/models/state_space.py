"""What S4, S4D and Liquid-S4 share: one small linear system per channel, read out by y = C x + D u, GELU and a gate.

A time-invariant system is a convolution, y = K * u, with K_t = C A^t B.  Kernels are worked out in double precision
whatever the weights are: they are small, and A^t is where digits get lost.

Letters: B batch, T time, V vocabulary, D width; u input (B,T,D), y output (B,T,D), K kernel (D,T); the skip weight
that state-space papers call D is ``skip`` here.
"""

from __future__ import annotations

import math
from abc import abstractmethod

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from lrnnlab.models.base import Module, Recurrence, check_sizes
from lrnnlab.scans.convolution import long_conv


def log_uniform_steps(width: int, low: float, high: float) -> Tensor:
    """log dt, (D,), one step size per channel, uniform between log low and log high."""
    if not 0 < low <= high < math.inf:
        raise ValueError(f"dt needs 0 < low <= high, got ({low}, {high})")
    return torch.empty(width).uniform_(math.log(low), math.log(high))


class GatedReadout(Module):
    """GLU(Linear(GELU(y + skip * u))) of y and u (..., D); a GLU is one half times the sigmoid of the other half."""

    def __init__(self, width: int):
        super().__init__()
        self.skip = nn.Parameter(torch.randn(width))
        self.mix = nn.Linear(width, 2 * width)

    def forward(self, y: Tensor, u: Tensor) -> Tensor:
        return F.glu(self.mix(F.gelu(y + self.skip * u)), -1)


class ConvolutionalSystem(Recurrence):
    """A time-invariant complex system per channel: subclasses say what the kernel and one step are.

    The state is (B, D, N/2), complex, in double precision, and starts at zero.
    """

    half: int  # type: ignore[assignment]  # N / 2, the number of conjugate pairs; torch.nn.Module has a method half

    def __init__(self, width: int):
        super().__init__()
        check_sizes(width=width)
        self.readout = GatedReadout(width)

    @abstractmethod
    def kernel(self, T: int) -> Tensor:
        """K_0 ... K_{T-1}, (D, T), in double precision, for T >= 1."""

    @abstractmethod
    def advance(self, x: Tensor, u_t: Tensor) -> tuple[Tensor, Tensor]:
        """(x (B,D,N/2), u_t (B,D)), both in double precision -> (the next x, y_t (B,D))."""

    def initial(self, batch: int) -> Tensor:
        skip = self.readout.skip
        return torch.zeros(batch, len(skip), self.half, dtype=torch.complex128, device=skip.device)

    def mix(self, z: Tensor) -> Tensor:
        y = long_conv(z, self.kernel(max(z.shape[1], 1)).to(z.dtype))
        return self.readout(y, z)

    def step(self, state: Tensor, z_t: Tensor) -> tuple[Tensor, Tensor]:
        state, y = self.advance(state, z_t.double())
        return state, self.readout(y.to(z_t.dtype), z_t)


def complex_normal(*shape: int) -> Tensor:
    """Complex N(0, 1), variance 1/2 in each part, in torch's default precision."""
    return torch.randn(*shape, dtype=torch.get_default_dtype().to_complex())


def pair_parameter(values: Tensor) -> nn.Parameter:
    """A complex tensor as a parameter of real numbers, with a last axis (Re, Im): optimisers and files know those."""
    own = values.to(torch.get_default_dtype().to_complex(), copy=True)  # values may be a table that others read too
    return nn.Parameter(torch.view_as_real(own).contiguous())


def complex_double(pairs: Tensor) -> Tensor:
    """The inverse of :func:`pair_parameter`, in double precision."""
    return torch.view_as_complex(pairs.double())
