"""The diagonal input-dependent LRNN of paper 000 (Fan, Chi, Rudnicky 2024), Eq. 3, real and complex.

    x_t = v_t * x_{t-1} + B u_t,   v_t = f(u_t), channel by channel

============  =====================================================================================================
kind          v_t
============  =====================================================================================================
``positive``  in (0, 1): sigmoid; forgets, never turns
``signed``    in (-1, 1): tanh; a channel at -1 is parity
``complex``   modulus in (0, 1), any angle
``unit``      modulus 1, any angle: a channel at e^(2 pi i s / M) is Sum(M)
============  =====================================================================================================

f is affine (before the squashing named above).  In a one-layer model that loses nothing while V <= D: what the layer
sees are V points, and an affine map takes V points in general position anywhere.

Letters: B batch, T time, V vocabulary, D width; z normalised input of the layer (the paper's u), A transition (the
paper's v), b input term (the paper's B u), x state.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from lrnnlab.models.base import LinearRecurrence, check_sizes
from lrnnlab.validation import among

KINDS = ("positive", "signed", "complex", "unit")
MODULI = 0.9, 0.999  # of v at the start


class Diagonal(LinearRecurrence):
    """One layer of Eq. 3, (B,T,D) -> (B,T,D): D real channels, or D / 2 complex ones read as [Re x, Im x].

    At the start and at z = 0 the moduli |v| are spread evenly over 0.9 to 0.999 (``signed``: signs at random) and angles
    over the circle.  (Ours: the paper does not say how v starts.  An affine f left at torch's own start would have |v|
    near 1/2 or 0, a memory of a few letters.)  x_0 is learned.

    Parameters
    ----------
    width : int
        D; even for complex kinds.
    kind : str
        What v may be, a name of the table at the head of this module.
    drive : str
        The input term: ``"linear"``, the paper's B u, or ``"none"``: the state is a product of the v alone.

    Examples
    --------
    >>> layer = Diagonal(4, kind="unit")
    >>> A, b = layer.transition(torch.zeros(3, 4))
    >>> A.shape, A.dtype, [round(v, 5) for v in A[0].abs().tolist()]
    (torch.Size([3, 2]), torch.complex64, [1.0, 1.0])
    """

    def __init__(self, width: int, *, kind: str = "signed", drive: str = "linear"):
        super().__init__()
        check_sizes(width=width)
        among("kind", kind, KINDS)
        self.kind, self.turning = kind, kind in ("complex", "unit")
        if self.turning and width % 2:
            raise ValueError(f"kind {kind!r} needs an even width (real and imaginary parts), got {width}")
        among("drive", drive, ("linear", "none"))
        channels = width // 2 if self.turning else width
        self.drive = nn.Linear(width, width, bias=False) if drive == "linear" else None
        if kind != "unit":
            self.gate = nn.Linear(width, channels)
            self._spread()
        if self.turning:
            self.angle = nn.Linear(width, channels)
            nn.init.uniform_(self.angle.bias, 0, 2 * math.pi)
        self.x0 = nn.Parameter(torch.randn(width))

    def _spread(self) -> None:
        wanted = torch.empty_like(self.gate.bias).uniform_(*MODULI)
        if self.kind == "signed":
            bias = torch.atanh(wanted) * (2 * torch.randint(2, wanted.shape) - 1)
        else:
            bias = torch.logit(wanted)
        with torch.no_grad():
            self.gate.bias.copy_(bias)

    def _channels(self, x: Tensor) -> Tensor:
        """(..., D) real -> the layer's channels: the same, or (..., D/2) complex with [Re, Im] taken apart."""
        return torch.complex(*x.chunk(2, -1)) if self.turning else x

    def output(self, x: Tensor, z: Tensor, tokens: Tensor | None = None) -> Tensor:
        """The inverse of ``_channels``."""
        return torch.cat([x.real, x.imag], -1) if self.turning else x

    def transition(self, z: Tensor) -> tuple[Tensor, Tensor]:
        """z (..., D) -> A and b, both (..., D) real or (..., D/2) complex."""
        if self.kind == "signed":
            A = torch.tanh(self.gate(z))
        elif self.kind == "positive":
            A = torch.sigmoid(self.gate(z))
        else:
            angle = self.angle(z)
            size = torch.sigmoid(self.gate(z)) if self.kind == "complex" else torch.ones_like(angle)
            A = torch.polar(size, angle)
        return A, torch.zeros_like(A) if self.drive is None else self._channels(self.drive(z))

    def initial(self, batch: int) -> Tensor:
        return self._channels(self.x0).expand(batch, -1)
