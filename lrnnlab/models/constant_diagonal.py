"""The recurrence of RotRNN, LRU, S5, DLR, DSS and S4D: a constant diagonal transition.

    x_t = lambda * x_{t-1} + B u_t        y_t = Re(C x_t) + skip * u_t

These models differ in where lambda, B and C come from, and in who shares the modes; each has a file that says so.

=====================  =================================================  ==============================================
:class:`DenseModes`    K modes for all channels, B and C dense            RotRNN, LRU, S5: runs on the diagonal scan
:class:`ChannelModes`  modes of its own for each channel, B = 1, C = w    DLR, DSS, S4D: a convolution with the kernel
                                                                          K_l = Re sum_n w_n lambda_n^l
=====================  =================================================  ==============================================

S4 and SGConv have a kernel, too, and other ways to it.  "skip" is what the papers call D.

Letters: B batch, T time, D width, K modes, S directions; z normalised input of the layer (the papers' u), lambda
transition, b input term, x state, y output.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from lrnnlab.models.base import Module, Recurrence, check_sizes
from lrnnlab.scans import linear_scan
from lrnnlab.scans.convolution import long_conv, vandermonde


class ConstantDiagonal(Recurrence):
    """What both kinds share; a bidirectional layer reads the whole string, so it has no step form.

    ``recurrent_parameters`` names those that the papers train at a rate of their own and without weight decay
    (:func:`lrnnlab.training.loop.parameter_groups`).
    """

    recurrent_parameters: tuple[str, ...] = ()

    def __init__(self, width: int, bidirectional: bool):
        super().__init__()
        check_sizes(width=width)
        self.bidirectional, self.directions = bidirectional, 1 + bidirectional

    def _one_way(self) -> None:
        if self.bidirectional:
            raise ValueError("bidirectional=True has no step form: y_t depends on the inputs after t")


class Modes(NamedTuple):
    """log lambda (K,), complex; B (2K, D) and C (S, D, 2K), real: row 2k of B drives Re x_k, row 2k + 1 Im x_k."""

    log: Tensor
    B: Tensor
    C: Tensor

    def drive(self, z: Tensor) -> Tensor:
        """b, (..., K) complex, of inputs z (..., D)."""
        return torch.view_as_complex((z @ self.B.mT).unflatten(-1, (-1, 2)))


class DenseModes(ConstantDiagonal):
    """K modes for all channels together: a subclass says what they are (``system``).

    ``backend`` names the scan (see :mod:`lrnnlab.scans`).  A bidirectional layer shares lambda and B and has a second C;
    both of its directions see u_t.
    """

    backend = "auto"
    modes: int  # K

    def __init__(self, width: int, bidirectional: bool):
        super().__init__(width, bidirectional)
        self.skip = nn.Parameter(torch.randn(width))

    @abstractmethod
    def system(self) -> Modes:
        """The modes as the weights now make them."""

    def forward(self, z: Tensor, tokens: Tensor | None = None) -> Tensor:
        system = self.system()
        b = system.drive(z)
        if tokens is not None:
            z, b = z[tokens], b[tokens]
        return self._read(self._states(system, b), system.C, z)

    def hidden(self, z: Tensor) -> Tensor:
        """The states x of inputs z (B,T,D): (B,T,K) complex, or (B,T,2K), forward and backward, if bidirectional."""
        system = self.system()
        return torch.cat(self._states(system, system.drive(z)), -1)

    def kernel(self, T: int) -> Tensor:
        """The impulse response C lambda^l B, l = 0 ... T-1, forward and without the skip: (T, D, D), real.

        Element [l, i, j] is what input j adds to output i after l steps.
        """
        system = self.system()
        B = torch.view_as_complex(system.B.unflatten(0, (-1, 2)).movedim(1, -1).contiguous())  # (K, D)
        C = torch.view_as_complex(system.C[0].unflatten(-1, (-1, 2)).contiguous())  # (D, K)
        ones = system.log.real.new_ones(self.modes, 1)
        powers = vandermonde(system.log.unsqueeze(1), ones, T, part="complex")  # (K, T)
        return torch.einsum("ik,kl,kj->lij", C.conj(), powers, B).real

    def initial(self, batch: int) -> Tensor:
        return torch.view_as_complex(self.skip.new_zeros(batch, self.modes, 2))

    def step(self, state: Tensor, z_t: Tensor) -> tuple[Tensor, Tensor]:
        self._one_way()
        system = self.system()
        state = system.log.exp() * state + system.drive(z_t)
        return state, self._read([state], system.C, z_t)

    def _states(self, system: Modes, b: Tensor) -> list[Tensor]:
        """The states (B,T,K) of each direction."""
        start = self.initial(len(b))
        states = [linear_scan(system.log.exp(), b, start, backend=self.backend)]
        if self.bidirectional:
            states.append(linear_scan(system.log.exp(), b.flip(1), start, backend=self.backend).flip(1))
        return states

    def _read(self, states: list[Tensor], C: Tensor, z: Tensor) -> Tensor:
        """y (..., D) of the states (..., K) of each direction."""
        y = self.skip * z
        for x, weights in zip(states, C):
            y = y + torch.view_as_real(x).flatten(-2) @ weights.mT
        return y


class GatedReadout(Module):
    """GLU(Linear(GELU(y + skip * u))) of y and u (..., D), as S4 reads; a GLU is a half times the other's sigmoid."""

    def __init__(self, width: int):
        super().__init__()
        self.skip = nn.Parameter(torch.randn(width))
        self.mix = nn.Linear(width, 2 * width)

    def forward(self, y: Tensor, u: Tensor) -> Tensor:
        return F.glu(self.mix(F.gelu(y + self.skip * u)), -1)


class ChannelModes(ConstantDiagonal):
    """A kernel for each channel, y = K * z + skip * z: a subclass says what it is, and which modes it is a sum of.

    Bidirectional, there are two kernels a channel, and y_k = sum_{j<=k} K_{k-j} z_j + sum_{j>k} K'_{j-k-1} z_j (004, Eq.
    6).  K_j is taken to be 0 from lag ``max_kernel`` on (004, Table 8).  ``gated`` reads as S4 does.

    The step form holds the modes x, (B, D, modes) in double precision; with ``max_kernel`` the last inputs, (B, D,
    max_kernel), and the kernel.
    """

    def __init__(
        self, width: int, bidirectional: bool = False, max_kernel: int | None = None, gated: bool = False
    ):
        super().__init__(width, bidirectional)
        check_sizes(max_kernel=1 if max_kernel is None else max_kernel)
        self.max_kernel = max_kernel
        if gated:
            self.readout = GatedReadout(width)
        else:
            self.skip = nn.Parameter(torch.randn(width))
        self.gated = gated

    @abstractmethod
    def kernels(self, T: int) -> Tensor:
        """K_0 ... K_{T-1} of every direction, (S, D, T), for T >= 1."""

    def modes(self) -> tuple[Tensor, Tensor]:
        """(log lambda, w) with K_k = Re sum_n w_n lambda_n^k, looking back: (M,) or (D,M), and (D,M); in double."""
        raise NotImplementedError(f"{type(self).__name__} has no modes: it steps over its last max_kernel inputs")

    def kernel(self, T: int) -> Tensor:
        """The kernel as it is used on T positions, (D, T) or, bidirectional, (2, D, T); T at most ``max_kernel``."""
        K = self.kernels(max(min(T, self.max_kernel or T), 1))
        return K if self.bidirectional else K[0]

    def mix(self, z: Tensor) -> Tensor:
        K = self.kernel(z.shape[1])
        behind, ahead = K if self.bidirectional else (K, None)
        if self.gated:
            return self.readout(long_conv(z, behind.to(z.dtype)), z)
        return long_conv(z, behind, self.skip, future=ahead)

    def initial(self, batch: int) -> Any:
        self._one_way()
        if self.max_kernel:
            K = self.kernel(self.max_kernel).double()
            return K.new_zeros(batch, *K.shape), K.flip(-1)
        w = self.modes()[1]
        return torch.zeros(batch, *w.shape, dtype=w.dtype, device=w.device)

    def step(self, state: Any, z_t: Tensor) -> tuple[Any, Tensor]:
        u = z_t.double().unsqueeze(-1)
        if self.max_kernel:
            window, taps = state
            window = torch.cat([window[..., 1:], u], -1)
            state, y = (window, taps), (window * taps).sum(-1)
        else:
            log_lambda, w = self.modes()
            state = log_lambda.exp() * state + u
            y = (w * state).sum(-1).real
        y = y.to(z_t.dtype)
        return state, self.readout(y, z_t) if self.gated else y + self.skip * z_t


# --- how their weights start and are kept ---------------------------------------------------------------------------


def interval(name: str, given: tuple[float, float], most: float = math.inf) -> tuple[float, float]:
    """(low, high); ``ValueError`` unless 0 < low <= high < most."""
    low, high = given
    if not 0 < low <= high < most:
        raise ValueError(f"{name} needs 0 < low <= high < {most}, got {given}")
    return low, high


def log_uniform_steps(width: int, low: float, high: float) -> Tensor:
    """log dt, (D,), uniform between log low and log high."""
    low, high = interval("dt", (low, high))
    return torch.empty(width).uniform_(math.log(low), math.log(high))


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


def real_part(C: Tensor) -> Tensor:
    """Re(C x) as a real product with [Re x_1, Im x_1, ...]: C (..., K, 2), parts last, -> (..., 2K)."""
    return torch.stack([C[..., 0], -C[..., 1]], -1).flatten(-2)


def ring_decay(count: int, modulus: tuple[float, float]) -> Tensor:
    """g, (count,), such that exp(-e^g) is the modulus of a point drawn uniformly from a ring (001, App. C)."""
    low, high = (r**2 for r in interval("modulus", modulus, 1))
    squared = torch.rand(count, dtype=torch.float64) * (high - low) + low
    return torch.log(-0.5 * torch.log(squared)).to(torch.get_default_dtype())


def remaining_power(log_decay: Tensor) -> Tensor:
    """1 - |lambda|^2 of |lambda| = exp(-e^g), without losing the digits of a |lambda| close to 1."""
    return -torch.expm1(-2 * log_decay.exp())
