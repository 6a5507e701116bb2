"""RotRNN, paper 001 ("RotRNN: Modelling Long Sequences with Rotations"): every head turns its state and shrinks it.

    x_t = gamma A x_{t-1} + xi B u_t,   A = P Theta P^T,   P = expm(M - M^T)        in each of h heads (Eq. 12)
    y_t = C [x_t^(1); ...; x_t^(h)] + skip * u_t                                    (Eq. 13)

Theta is block-diagonal, n/2 rotations of the plane by theta_1 ... theta_{n/2}; gamma = exp(-e^gamma_log) in (0, 1).  In
the coordinates s = P^T x the transition is gamma Theta, which is n/2 complex modes gamma e^(i theta): that is what
runs here, with P^T taken into B and P into C at every pass.  So P costs nothing per letter, and nothing at all is lost
with ``rotation="absorbed"``, where P is the identity: P acts on how the weights move, not on what they can say.

**The norm.**  For white inputs (mean 0, covariance I, uncorrelated in time) and xi^2 Tr(B^T B) = c (1 - gamma^2),
E|x_t|^2 = c + gamma^(2t) (|x_0|^2 - c) in each head, whatever A is.  So it is constant only if |x_0|^2 = c; the
released code has x_0 = 0 and thus c (1 - gamma^(2t)).  Eq. 11 and Lemma 3 of the paper are right for c = 1 only:
``normaliser="paper"`` is Eq. 11 as printed, with 1 - c gamma^2 in place of c (1 - gamma^2).

Letters: B batch, T time, D width (the paper's D_u), N state size (D_x), h heads (H), n head size (D_h), K = N/2 modes;
z input of the layer (the paper's u), A transition, x state, y output.  ``skip`` is the paper's D, a vector as in its
App. B.3 and both codes, not the matrix of Eq. 13.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from lrnnlab.models.constant_diagonal import (
    DenseModes,
    Modes,
    interval,
    real_part,
    remaining_power,
    ring_decay,
)
from lrnnlab.models.lru import LRU
from lrnnlab.scans.transforms import values
from lrnnlab.validation import among, number


class RotRNN(DenseModes):
    """One RotRNN layer, (B,T,D) -> (B,T,D); agrees with ``raresdolga/s5``, s5/rotrnn.py (10dcb5d).

    Table 3 of the paper has ranges of gamma and theta for every task; the defaults are those of Retrieval.

    Parameters
    ----------
    width, state, heads : int
        D, the numbers in an input and in an output; N, the real numbers in the state of all heads together; and h, the
        recurrences side by side.  N/h, the size of a head, is even.
    init : str
        ``"paper"`` (App. C: gamma^2 uniform, B and C of variance 1/D and 1/N) or ``"released"`` (log(-log gamma)
        uniform, B and C of variance 1/(D + N)).  xi cancels the size of B, so its variance only sets its pace.  M is standard
        normal in both; an older file of that repository, s5/rares_layers.py, draws it with variance 1/(N + N/h).
    gamma : (float, float)
        (low, high), the range that the decays start in.
    theta : float
        The angles start uniformly in (0, theta), in radians.
    rotation : str
        ``"expm"``, P = expm(M - M^T) with M learned, or ``"absorbed"``, no P.
    normaliser : str
        xi = sqrt(c (1 - gamma^2) / Tr(B^T B)) (``"corrected"``), or sqrt((1 - c gamma^2) / Tr(B^T B)) (``"paper"``, Eq.
        11); the same at c = 1.
    c : float
        What E|x_t|^2 of a head shall be.
    start : str
        x_0, ``"zero"`` (released) or ``"random"``: in each head a direction drawn once and kept, |x_0|^2 = c.
    bidirectional : bool
        P, Theta, gamma and B shared, a second C (App. B.2); starts at zero.

    Examples
    --------
    >>> layer = RotRNN(3, state=8, heads=2)
    >>> layer.hidden(torch.zeros(2, 5, 3)).shape, layer.kernel(10).shape
    (torch.Size([2, 5, 8]), torch.Size([10, 3, 3]))
    """

    recurrent_parameters = ("gamma_log", "B")

    def __init__(
        self,
        width: int,
        *,
        state: int = 64,
        heads: int = 8,
        init: str = "paper",
        gamma: tuple[float, float] = (0.5, 0.999),
        theta: float = 2 * math.pi,
        rotation: str = "expm",
        normaliser: str = "corrected",
        c: float = 1.0,
        start: str = "zero",
        bidirectional: bool = False,
    ):
        super().__init__(width, bidirectional)
        if heads < 1 or state < 2 * heads or state % (2 * heads):
            raise ValueError(f"state is a multiple of 2 heads (pairs of states), got state {state}, heads {heads}")
        among("init", init, ("paper", "released"))
        among("rotation", rotation, ("expm", "absorbed"))
        among("normaliser", normaliser, ("corrected", "paper"))
        among("start", start, ("zero", "random"))
        number(theta, "theta", 0, inside=True)
        number(c, "c", 0, inside=True)
        if bidirectional and start == "random":
            raise ValueError("start 'random' is for one direction: a padded string would start its way back in the padding")
        self.modes, self.heads, self.rotation, self.normaliser, self.c = state // 2, heads, rotation, normaliser, c
        n = state // heads
        released = init == "released"
        self.gamma_log = nn.Parameter((_loglog_decay if released else ring_decay)(heads, gamma))
        self.theta = nn.Parameter(theta * torch.rand(heads, n // 2))
        if rotation == "expm":
            self.M = nn.Parameter(torch.randn(heads, n, n))
        self.B = nn.Parameter(torch.randn(heads, n, width) / (width + released * state) ** 0.5)
        self.C = nn.Parameter(torch.randn(self.directions, width, state) / (state + released * width) ** 0.5)
        x0 = torch.randn(heads, n) if start == "random" else torch.zeros(heads, n)
        self.register_buffer("x0", c**0.5 * nn.functional.normalize(x0, dim=-1))

    def gamma(self) -> Tensor:
        """(h,), the factor by which a step shrinks each head."""
        return torch.exp(-self.gamma_log.exp())

    def xi(self) -> Tensor:
        """(h,), what B is multiplied with.  ``ValueError`` where Eq. 11 has no root: c gamma^2 above 1."""
        if self.normaliser == "corrected":
            power = self.c * remaining_power(self.gamma_log)
        else:
            power = 1 - self.c * self.gamma().square()
            if self.c > 1 and bool((values(power) <= 0).any()):
                most = values(self.gamma()).max().item()
                raise ValueError(f"Eq. 11 needs c gamma^2 < 1, got c = {self.c} and gamma = {most}")
        return (power / self.B.square().sum((1, 2))).sqrt()

    def orthogonal(self) -> Tensor:
        """P, (h, n, n), of determinant 1."""
        if self.rotation == "expm":
            return torch.linalg.matrix_exp(self.M - self.M.mT)
        n = self.B.shape[1]
        return torch.eye(n, dtype=self.B.dtype, device=self.B.device).expand(self.heads, n, n)

    def transition(self) -> Tensor:
        """gamma A, (h, n, n), to look at: nothing here multiplies by it."""
        cos, sin = self.theta.cos(), self.theta.sin()
        pairs = torch.stack([torch.stack([cos, -sin], -1), torch.stack([sin, cos], -1)], -2)  # (h, n/2, 2, 2)
        turn = torch.stack([torch.block_diag(*head) for head in pairs])
        P = self.orthogonal()
        return self.gamma().view(-1, 1, 1) * (P @ turn @ P.mT)

    def system(self) -> Modes:
        B = self.xi().view(-1, 1, 1) * self.B
        C = self.C.unflatten(-1, (self.heads, -1))  # (directions, D, h, n)
        if self.rotation == "expm":
            P = self.orthogonal()
            B, C = P.mT @ B, torch.einsum("kdhi,hij->kdhj", C, P)
        decay = self.gamma_log.exp().unsqueeze(-1).expand_as(self.theta)
        return Modes(torch.complex(-decay, self.theta).flatten(), B.flatten(0, 1), C.flatten(-2))

    def initial(self, batch: int) -> Tensor:
        return torch.view_as_complex(self.x0.view(-1, 2)).expand(batch, -1)

    def hidden(self, z: Tensor) -> Tensor:
        """The states x of inputs z (B,T,D): (B,T,N) real, or (B,T,2N), forward and backward, if bidirectional."""
        s = torch.view_as_real(super().hidden(z)).flatten(-2)  # (B, T, directions N), in the coordinates P^T x
        if self.rotation == "absorbed":
            return s
        s = s.unflatten(-1, (self.directions, self.heads, -1))
        return torch.einsum("hij,btkhj->btkhi", self.orthogonal(), s).flatten(2)


def lru_as_rotrnn(lru: LRU) -> RotRNN:
    """A RotRNN with heads of 2 that gives the outputs of ``lru``: there is one for every LRU.

    Re(c lambda^l b) = [Re c, -Im c] |lambda|^l R(theta)^l [Re b; Im b], so each eigenvalue is a head.  Each has a decay
    of its own, so its xi is one number, and goes into C together with the LRU's normaliser.  Eigenvalues need not come
    in pairs, as paper 001 (Sec. 4.1) asks.  torch's generator is left as it was.
    """
    with torch.random.fork_rng(devices=[]):
        twin = RotRNN(
            len(lru.skip), state=2 * lru.modes, heads=lru.modes, rotation="absorbed", bidirectional=lru.bidirectional
        ).to(lru.skip)
    with torch.no_grad():
        twin.skip.copy_(lru.skip)
        twin.gamma_log.copy_(lru.nu_log)
        twin.theta.copy_(lru.theta_log.exp().unsqueeze(-1))
        twin.B.copy_(lru.B.movedim(-1, 1))
        scale = (lru.scale() / twin.xi()).repeat_interleave(2)
        twin.C.copy_(real_part(lru.C) * scale)
    return twin


def _loglog_decay(heads: int, gamma: tuple[float, float]) -> Tensor:
    """gamma_log, (h,), uniform between the two ends, as released."""
    low, high = (math.log(-math.log(g)) for g in interval("gamma", gamma, 1))
    return high + (low - high) * torch.rand(heads)
