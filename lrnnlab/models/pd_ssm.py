"""PD-SSM (Terzić and others 2025, arXiv:2509.22284): one-hot columns times a complex diagonal, A_t = P_t D_t.

Every column of P_t is one-hot, so a product of such matrices is one again.  [i, j] of a block takes state j to state i.

Letters: h blocks, n block size; z normalised input of the layer (..., D), A transition, b input term, x state.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from lrnnlab.models.base import LinearRecurrence, check_sizes
from lrnnlab.models.block_diagonal import COLUMN_RULES


class OneHotColumns(LinearRecurrence):
    """h blocks of n states, (B,T,D) -> (B,T,D); a symbol sends each state to one other, and may turn and shrink it.

    P is the one-hot of the largest entry of every column; its gradient is that of a softmax (straight through).  There
    is no input term: the state starts at the first basis vector of every block.  Ours: in the paper P is chosen from a
    dictionary of matrices and there is an input term.

    Parameters
    ----------
    width, b : int
        D = h n, or 2 h n with phases (real parts, imaginary parts); and n.
    hidden : int
        Width of the hidden layer of the map that makes P.
    phases : bool
        Whether D_t is there; False: A_t = P_t, a finite automaton.

    Examples
    --------
    >>> layer = OneHotColumns(16, b=4)
    >>> A, b = layer.transition(torch.zeros(3, 16))
    >>> A.shape, b.shape, layer(torch.zeros(3, 5, 16)).shape
    (torch.Size([3, 2, 8, 8]), torch.Size([3, 2, 8]), torch.Size([3, 5, 16]))
    """

    def __init__(self, width: int, *, b: int = 4, hidden: int = 64, phases: bool = True):
        super().__init__()
        check_sizes(width=width, b=b, hidden=hidden)
        self.b, self.phases, parts = b, phases, 1 + phases
        if width % (parts * b):
            raise ValueError(f"blocks of {b} states, {parts} numbers each, do not fill a width of {width}")
        self.h = width // (parts * b)
        self.columns = nn.Sequential(nn.Linear(width, hidden), nn.ReLU(), nn.Linear(hidden, self.h * b * b))
        if phases:
            self.modulus, self.angle = nn.Linear(width, self.h * b), nn.Linear(width, self.h * b)
            nn.init.constant_(self.modulus.bias, 6.0)  # |d| = 0.9975: at the start nothing fades, and nothing turns
            nn.init.zeros_(self.angle.bias)
        self.register_buffer("x0", torch.eye(1, parts * b).repeat(self.h, 1))

    def transition(self, z: Tensor) -> tuple[Tensor, Tensor]:
        """A (..., h, n, n) and b = 0; with phases the real form [[Re, -Im], [Im, Re]] of P D, (..., h, 2n, 2n)."""
        raw = self.columns(z).unflatten(-1, (self.h, self.b, self.b))
        soft = raw.softmax(-2)
        P = soft + (COLUMN_RULES["hard"](raw, 1) - soft).detach()
        if not self.phases:
            return P, P.new_zeros(P.shape[:-1])
        modulus, angle = (part.unflatten(-1, (self.h, 1, self.b)) for part in (self.modulus(z).sigmoid(), self.angle(z)))
        re, im = P * modulus * angle.cos(), P * modulus * angle.sin()
        A = torch.cat([torch.cat([re, -im], -1), torch.cat([im, re], -1)], -2)
        return A, A.new_zeros(A.shape[:-1])
