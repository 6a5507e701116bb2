"""S4 and S4D, the input-independent baselines of paper 000 (Sec. 4.1): x_t = A x_{t-1} + B u_t with structured A.

    S4    A = diag(lambda) - P P*, bilinear discretisation    (Gu, Goel, Re 2022)
    S4D   A = diag(lambda), zero-order hold                   (Gu, Gupta, Goel, Re 2022)

Every channel is a system of its own with N states, of which one of each conjugate pair is kept; "sum over pairs" below
means 2 Re of the sum over those kept.

Letters: B batch, T time, D width, N state size, n = N/2 pairs, F frequencies; u input, y output, x state, K kernel;
dt step size per channel.  C is the output vector here.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from lrnnlab.models.constant_diagonal import (
    ChannelModes,
    complex_double,
    complex_normal,
    log_uniform_steps,
    pair_parameter,
)
from lrnnlab.models.hippo import diagonal_start, legs_diagonal
from lrnnlab.scans.convolution import vandermonde

ALIAS = 1e-10  # see S4.kernel: K_{t+2T} leaks into K_t with this weight; rounding errors grow by its -1/2-th power
MOST = 1 << 17  # frequencies times channels times pairs worked on at a time: they stay in a core's cache


def _pairs(x: Tensor) -> Tensor:
    """Sum over all N states of something known on n = N/2 of them, last axis."""
    return 2 * x.real.sum(-1)


def _inverse_of_pairs(g: Tensor, eigenvalues: Tensor) -> tuple[Tensor, Tensor]:
    """1 / ((g - l) (g - l')), as real and imaginary part (torch is quicker at real arithmetic than at complex)."""
    x, y = g.real - eigenvalues.real, g.imag  # g - l = x + i (y - w), g - l' = x + i (y + w)
    real = x.square() - (y - eigenvalues.imag) * (y + eigenvalues.imag)
    imag = 2 * y * x
    size = real.square() + imag.square()
    return real / size, -imag / size


class S4(ChannelModes):
    """One S4 layer: lambda, P and B shared by all channels (as in the released code), C, dt and skip one per channel.

    P P* is positive semi-definite and Re lambda = -exp(..) < 0, so A is dissipative and its bilinear transform has
    2-norm below 1 whatever the weights: no state can explode.

    Parameters
    ----------
    width, state : int
        D and N, even.
    dt : (float, float)
        (low, high), the step sizes are log-uniform between them.

    Examples
    --------
    >>> import torch
    >>> S4(3, state=4).kernel(10).shape
    torch.Size([3, 10])
    """

    def __init__(self, width: int, *, state: int = 64, dt: tuple[float, float] = (1e-3, 0.1)):
        super().__init__(width, gated=True)
        eigenvalues, p, _ = (torch.as_tensor(a) for a in legs_diagonal(state))
        half = state // 2
        self.log_decay = nn.Parameter(torch.log(-eigenvalues.real).to(torch.get_default_dtype()))
        self.frequency = nn.Parameter(eigenvalues.imag.to(torch.get_default_dtype(), copy=True))
        self.P = pair_parameter(p)
        self.B = pair_parameter(math.sqrt(2) * p)  # LegS has B = sqrt(2) P
        self.C = pair_parameter(complex_normal(width, half))
        self.log_dt = nn.Parameter(log_uniform_steps(width, *dt))

    def _system(self) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
        """lambda (n,), P (n,), B (n,), C (D, n), dt (D, 1), in double precision."""
        eigenvalues = torch.complex(-self.log_decay.double().exp(), self.frequency.double())
        P, B, C = (complex_double(p) for p in (self.P, self.B, self.C))
        return eigenvalues, P, B, C, self.log_dt.double().exp().unsqueeze(-1)

    def kernels(self, T: int) -> Tensor:
        """K_t = C A^t B from its generating function sum_t K_t z^t = 2/(1+z) C (g - A)^-1 B, g = 2/dt (1-z)/(1+z).

        The function is evaluated at 2T points and transformed back.  S4 takes roots of unity, which needs C (I - A^T)
        in place of C, a matrix power per channel and per length.  Here the points are r times roots of unity with
        r^(2T) = ALIAS: the transform then gives r^t (K_t + ALIAS K_{t+2T} + ...), so the overlap vanishes by itself,
        at the price of rounding errors times r^-T = ALIAS^-1/2, which double precision can pay.  |z| < 1 also keeps
        clear of the pole at z = -1.
        """
        r = ALIAS ** (1 / (2 * T))
        angle = torch.arange(T + 1, dtype=torch.float64, device=self.log_dt.device) * (-math.pi / T)
        z = torch.polar(torch.full_like(angle, r), angle)  # (F,), the upper half: K is real
        system = self._system()
        some = max(1, MOST // self.C[..., 0].numel())
        spectrum = torch.cat([self._generating(part, *system) for part in z.split(some)], -1)
        growth = torch.arange(T, dtype=torch.float64, device=z.device)
        return (torch.fft.irfft(spectrum, 2 * T)[..., :T] * r**-growth).unsqueeze(0)

    @staticmethod
    def _generating(z: Tensor, eigenvalues: Tensor, P: Tensor, B: Tensor, C: Tensor, dt: Tensor) -> Tensor:
        """The generating function at z (F,), (D, F)."""
        g = (2 / dt) * (1 - z) / (1 + z)  # (D, F)
        Q = torch.cat(_inverse_of_pairs(g.unsqueeze(-1), eigenvalues), 1)  # (D, 2F, n): real parts, imaginary parts
        v = torch.stack([C * B, C * P, (P.conj() * B).expand_as(C), (P.conj() * P).expand_as(C)], -1)  # (D, n, 4)
        weights = 2 * torch.cat([v.real, (v * eigenvalues.conj().unsqueeze(-1)).real], -1)  # (D, n, 8)
        sums = torch.complex(*(Q @ weights).chunk(2, 1))  # (D, F, 8)
        CB, CP, PB, PP = (g.unsqueeze(-1) * sums[..., :4] - sums[..., 4:]).unbind(-1)
        return 2 / (1 + z) * (CB - CP * PB / (1 + PP))

    def initial(self, batch: int) -> Tensor:
        """x_0 = 0, (B, D, n), complex, in double precision."""
        return torch.zeros(batch, *self.C.shape[:-1], dtype=torch.complex128, device=self.C.device)

    def step(self, state: Tensor, z_t: Tensor) -> tuple[Tensor, Tensor]:
        """(I - dt/2 A) x_t = (I + dt/2 A) x_{t-1} + dt B u_t, solved by Woodbury in O(N)."""
        eigenvalues, P, B, C, dt = self._system()
        h = dt / 2
        x = state
        low_rank = P * _pairs(P.conj() * x).unsqueeze(-1)  # P P* x
        right = x + h * (eigenvalues * x - low_rank) + dt * B * z_t.double().unsqueeze(-1)
        R = 1 / (1 - h * eigenvalues)  # (D, n)
        ratio = _pairs(P.conj() * R * right) / (1 / h.squeeze(-1) + _pairs(P.conj() * R * P))
        x = R * (right - P * ratio.unsqueeze(-1))
        return x, self.readout(_pairs(C * x).to(z_t.dtype), z_t)


class S4D(ChannelModes):
    """One S4D layer: lambda, C, dt and skip one per channel, B = 1.

    Parameters
    ----------
    width, state, dt
        As for :class:`S4`.
    init : str
        Eigenvalues at the start, ``"lin"``, ``"inv"`` or ``"legs"`` (:func:`lrnnlab.models.hippo.diagonal_start`).

    Examples
    --------
    >>> S4D(3, state=4, init="inv").kernel(10).shape
    torch.Size([3, 10])
    """

    def __init__(self, width: int, *, state: int = 64, init: str = "lin", dt: tuple[float, float] = (1e-3, 0.1)):
        super().__init__(width, gated=True)
        eigenvalues = torch.as_tensor(diagonal_start(init, state)).expand(width, -1)
        self.init, half = init, state // 2
        self.log_decay = nn.Parameter(torch.log(-eigenvalues.real).to(torch.get_default_dtype()))
        self.frequency = nn.Parameter(eigenvalues.imag.to(torch.get_default_dtype(), copy=True))
        self.C = pair_parameter(complex_normal(width, half))
        self.log_dt = nn.Parameter(log_uniform_steps(width, *dt))

    def modes(self) -> tuple[Tensor, Tensor]:
        """dt lambda, and 2 C B with B after zero-order hold, (e^(dt lambda) - 1) / lambda; both (D, n)."""
        eigenvalues = torch.complex(-self.log_decay.double().exp(), self.frequency.double())
        exponent = eigenvalues * self.log_dt.double().exp().unsqueeze(-1)
        return exponent, 2 * complex_double(self.C) * (torch.expm1(exponent) / eigenvalues)

    def kernels(self, T: int) -> Tensor:
        """K_t = sum over pairs of C B e^(t dt lambda): a product with a Vandermonde matrix."""
        return vandermonde(*self.modes(), T).unsqueeze(0)
