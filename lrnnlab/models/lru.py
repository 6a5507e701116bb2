"""The LRU (Orvieto et al. 2023), as paper 001 (RotRNN, Sec. 2.2) compares it: complex modes, dense B and C.

    x_t = lambda * x_{t-1} + e^gamma * (B u_t),   lambda = exp(-e^nu + i e^theta)
    y_t = Re(C x_t) + skip * u_t

Letters: those of :mod:`lrnnlab.models.constant_diagonal`; N = K complex eigenvalues.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from lrnnlab.models.base import check_sizes
from lrnnlab.models.constant_diagonal import (
    DenseModes,
    Modes,
    complex_normal,
    pair_parameter,
    real_part,
    remaining_power,
    ring_decay,
)
from lrnnlab.validation import among, number


class LRU(DenseModes):
    """One LRU layer, (B,T,D) -> (B,T,D); the recomputed one agrees with ``raresdolga/s5``, s5/lru.py (81a55d1).

    Parameters
    ----------
    width, state : int
        D; and N, the number of complex eigenvalues.
    modulus : (float, float)
        (low, high), eigenvalues start uniformly on that ring.
    phase : float
        Their angles start uniformly in (0, phase), in radians.
    normaliser : str
        What stands for e^gamma: ``"learned"``, a parameter that starts at sqrt(1 - |lambda|^2) (Orvieto et al. 2023), or
        ``"recomputed"``, that number at every pass (the LRU released with paper 001, for all that its Sec. 2.3 says of
        learning).
    bidirectional : bool
        Whether a second C reads the states of the string run backwards.

    Examples
    --------
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
        among("normaliser", normaliser, ("learned", "recomputed"))
        number(phase, "phase", 0, inside=True)
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

    def scale(self) -> Tensor:
        """e^gamma, (N,): what B u_t is multiplied with."""
        return self.gamma_log.exp() if self.normaliser == "learned" else remaining_power(self.nu_log).sqrt()

    def system(self) -> Modes:
        B = self.scale().view(-1, 1, 1) * self.B  # (N, D, 2)
        log = torch.complex(-self.nu_log.exp(), self.theta_log.exp())
        return Modes(log, B.movedim(-1, 1).flatten(0, 1), real_part(self.C))
