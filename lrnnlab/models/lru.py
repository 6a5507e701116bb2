"""Linear recurrences by their modes, and the LRU (Orvieto et al. 2023), as paper 001 (RotRNN) compares it.

    x_t = lambda * x_{t-1} + B u_t        K complex modes, lambda constant, channel by channel
    y_t = Re(C x_t) + skip * u_t          (bidirectional: + Re(C' x'_t), x' the same recurrence run from the end)

RotRNN, LRU and S5 are this sentence; they differ in where lambda, B and C come from.  A pair of real states turned by
a rotation is one complex mode, x1 + i x2 times gamma e^(i theta), so all three run on the diagonal scan, and being
time-invariant all three are convolutions too.

B and C are kept as real matrices with real and imaginary parts in turn: row 2k of B drives Re x_k, row 2k+1 Im x_k.
For a RotRNN these are B and C themselves.

Letters: B batch, T time, V vocabulary, D width, N state size, K modes; z normalised input of the layer (the papers'
u), lambda transition, b input term, x state, y output.  ``skip`` is the papers' D.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor, nn

from lrnnlab.models.base import Recurrence, check_sizes
from lrnnlab.models.state_space import complex_normal, pair_parameter
from lrnnlab.scans import linear_scan
from lrnnlab.scans.convolution import fast_length, vandermonde
from lrnnlab.validation import among


class Modes(NamedTuple):
    """log lambda (K,), complex; B (2K, D) and C (directions, D, 2K), real, real and imaginary parts in turn."""

    log: Tensor
    B: Tensor
    C: Tensor

    def powers(self, T: int) -> Tensor:
        """lambda^0 ... lambda^(T-1), (K, T), their phases right at any T (:func:`lrnnlab.scans.convolution`)."""
        return vandermonde(self.log.unsqueeze(1), self.log.real.new_ones(len(self.log), 1), T, part="complex")

    def drive(self, z: Tensor) -> Tensor:
        """b, (..., K) complex, of inputs z (..., D)."""
        return torch.view_as_complex((z @ self.B.mT).unflatten(-1, (-1, 2)))


class ModalRecurrence(Recurrence):
    """One layer of the recurrence above: subclasses say what the modes are.

    ``backend`` names the scan of ``forward``.  A bidirectional layer shares lambda and B and has a second C; both of
    its directions see u_t.  It has no step form.

    ``recurrent_parameters`` names those that the papers train at the recurrent rate and without weight decay
    (:func:`lrnnlab.training.loop.parameter_groups`).
    """

    backend = "auto"
    modes: int  # K
    recurrent_parameters: tuple[str, ...] = ()

    def __init__(self, width: int, bidirectional: bool):
        super().__init__()
        check_sizes(width=width)
        self.bidirectional = bidirectional
        self.skip = nn.Parameter(torch.randn(width))

    @property
    def directions(self) -> int:
        return 1 + self.bidirectional

    @abstractmethod
    def system(self) -> Modes:
        """The modes as the weights now make them."""

    def initial(self, batch: int) -> Tensor:
        return torch.view_as_complex(self.skip.new_zeros(batch, self.modes, 2))

    def forward(self, z: Tensor, tokens: Tensor | None = None) -> Tensor:
        system = self.system()
        b = system.drive(z)
        if tokens is not None:
            z, b = z[tokens], b[tokens]
        return self._read(self._states(system, b, self._scan), system.C, z)

    def convolve(self, z: Tensor) -> Tensor:
        """``forward`` as a convolution, by FFT over the modes: z (B,T,D) -> y (B,T,D).

        Rounding errors are small against the largest states and flow back in time; the scan is exact in both respects.
        """
        system = self.system()
        return self._read(self._states(system, system.drive(z), _by_fft), system.C, z)

    def hidden(self, z: Tensor) -> Tensor:
        """The states x of inputs z (B,T,D): (B,T,K) complex, or (B,T,2K), forward and backward, if bidirectional."""
        system = self.system()
        return torch.cat(self._states(system, system.drive(z), self._scan), -1)

    def kernel(self, T: int, *, backward: bool = False) -> Tensor:
        """The impulse response C lambda^l B, l = 0 ... T-1, of one direction without the skip: (T, D, D), real.

        Element [l, i, j] is what input j adds to output i after l steps.
        """
        if backward and not self.bidirectional:
            raise ValueError("backward=True asks for the kernel of a direction that this layer has not")
        system = self.system()
        B = torch.view_as_complex(system.B.unflatten(0, (-1, 2)).movedim(1, -1).contiguous())  # (K, D)
        C = torch.view_as_complex(system.C[int(backward)].unflatten(-1, (-1, 2)).contiguous())  # (D, K)
        return torch.einsum("ik,kl,kj->lij", C.conj(), system.powers(T), B).real

    def step(self, state: Tensor, z_t: Tensor) -> tuple[Tensor, Tensor]:
        if self.bidirectional:
            raise ValueError("a bidirectional layer has no step form: bidirectional=True")
        system = self.system()
        state = system.log.exp() * state + system.drive(z_t)
        return state, self._read([state], system.C, z_t)

    def _scan(self, system: Modes, b: Tensor, x0: Tensor) -> Tensor:
        return linear_scan(system.log.exp(), b, x0, backend=self.backend)

    def _states(self, system: Modes, b: Tensor, solve: Callable) -> list[Tensor]:
        """The states (B,T,K) of each direction."""
        x0 = self.initial(len(b))
        states = [solve(system, b, x0)]
        if self.bidirectional:
            states.append(solve(system, b.flip(1), x0).flip(1))
        return states

    def _read(self, states: list[Tensor], C: Tensor, z: Tensor) -> Tensor:
        """y (..., D) of the states (..., K) of each direction."""
        y = self.skip * z
        for x, weights in zip(states, C):
            y = y + torch.view_as_real(x).flatten(-2) @ weights.mT
        return y


def _by_fft(system: Modes, b: Tensor, x0: Tensor) -> Tensor:
    """x_t = sum_s lambda^s b_{t-s} + lambda^t x_0 on a ring so long that nothing comes round."""
    if not b.numel():  # the FFT refuses an empty batch
        return b.clone()
    T = b.shape[1]
    powers = system.powers(T + 1).mT  # (T + 1, K)
    n = fast_length(2 * T - 1)
    spectrum = torch.fft.fft(b, n, dim=1) * torch.fft.fft(powers[:-1], n, dim=0)
    return torch.fft.ifft(spectrum, dim=1)[:, :T] + powers[1:] * x0.unsqueeze(1)


def check_modulus(modulus: tuple[float, float]) -> None:
    """``ValueError`` unless 0 < low <= high < 1."""
    low, high = modulus
    if not 0 < low <= high < 1:
        raise ValueError(f"the range of moduli needs 0 < low <= high < 1, got {modulus}")


def ring_decay(count: int, modulus: tuple[float, float]) -> Tensor:
    """g, (count,), such that exp(-e^g) is the modulus of a point drawn uniformly from a ring (001, App. C)."""
    check_modulus(modulus)
    low, high = (r**2 for r in modulus)
    squared = torch.rand(count, dtype=torch.float64) * (high - low) + low
    return torch.log(-0.5 * torch.log(squared)).to(torch.get_default_dtype())


def remaining_power(log_decay: Tensor) -> Tensor:
    """1 - |lambda|^2 of |lambda| = exp(-e^g), without losing the digits of a |lambda| close to 1."""
    return -torch.expm1(-2 * log_decay.exp())


class LRU(ModalRecurrence):
    """lambda = exp(-e^nu + i e^theta); b_t = e^gamma * (B u_t), B and C complex and dense (001, Sec. 2.2).

    Parameters
    ----------
    width : int
        D.
    state : int
        N = K, the number of complex eigenvalues.
    modulus : (float, float)
        (low, high), eigenvalues start uniformly on that ring.
    phase : float
        Their angles start uniformly in (0, phase), in radians.
    normaliser : str
        What stands for e^gamma: ``"learned"``, a parameter that starts at sqrt(1 - |lambda|^2) (Orvieto et al. 2023);
        ``"recomputed"``, that number at every pass (the LRU released with paper 001, for all that its Sec. 2.3 says of
        learning); ``"none"``, 1.
    bidirectional : bool
        As for :class:`ModalRecurrence`.

    Examples
    --------
    >>> import torch
    >>> layer = LRU(3, state=4)
    >>> layer.hidden(torch.zeros(2, 5, 3)).shape, layer.kernel(10).shape
    (torch.Size([2, 5, 4]), torch.Size([10, 3, 3]))
    """

    def __init__(
        self,
        width: int,
        *,
        state: int = 32,
        modulus: tuple[float, float] = (0.5, 0.999),
        phase: float = 2 * math.pi,
        normaliser: str = "learned",
        bidirectional: bool = False,
    ):
        super().__init__(width, bidirectional)
        check_sizes(state=state)
        among("normaliser", normaliser, ("learned", "recomputed", "none"))
        if not 0 < phase < math.inf:
            raise ValueError(f"phase needs 0 < phase < inf, got {phase}")
        self.modes, self.normaliser = state, normaliser
        self.nu_log = nn.Parameter(ring_decay(state, modulus))
        self.theta_log = nn.Parameter(torch.log(phase * (1 - torch.rand(state))))  # 1 - u: an angle of 0 has no log
        # torch's complex N(0, 1) has variance 1/2 in each part; theirs has 1/(2 D), and 1/N
        self.B = pair_parameter(complex_normal(state, width) / width**0.5)
        C = complex_normal(self.directions, width, state)
        self.C = pair_parameter(C * (2 / state) ** 0.5)
        self.recurrent_parameters = ("nu_log", "theta_log", "B")
        if normaliser == "learned":
            self.gamma_log = nn.Parameter(remaining_power(self.nu_log.detach()).log() / 2)
            self.recurrent_parameters += ("gamma_log",)

    def extra_repr(self) -> str:
        return f"state={self.modes}, normaliser={self.normaliser!r}, bidirectional={self.bidirectional}"

    def scale(self) -> Tensor:
        """e^gamma, (N,): what B u_t is multiplied with."""
        if self.normaliser == "learned":
            return self.gamma_log.exp()
        if self.normaliser == "recomputed":
            return remaining_power(self.nu_log).sqrt()
        return torch.ones_like(self.nu_log)

    def system(self) -> Modes:
        B = self.scale().view(-1, 1, 1) * self.B  # (N, D, 2)
        log = torch.complex(-self.nu_log.exp(), self.theta_log.exp())
        return Modes(log, B.movedim(-1, 1).flatten(0, 1), real_part(self.C))


def real_part(C: Tensor) -> Tensor:
    """Re(C x) as a real product with [Re x_1, Im x_1, ...]: C (..., K, 2), parts last, -> (..., 2K)."""
    return torch.stack([C[..., 0], -C[..., 1]], -1).flatten(-2)
