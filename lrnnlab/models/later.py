"""Two linear recurrences from later work: one-hot columns times a complex diagonal, and a dictionary of matrices.

============================  =========================================================================================
``OneHotColumns``, "pd"       A_t = P_t D_t: every column of P_t is one-hot, D_t is diagonal and complex (PD-SSM: Terzić
                              and others 2025, arXiv:2509.22284).  A product of such matrices is one again
``Dictionary``                A_t is a mean of K dense matrices, weighted by a softmax of the input, its columns divided
                              by their p-norms (SD-SSM: Terzić and others 2024, arXiv:2412.19350)
============================  =========================================================================================

As in ``BlockDiagonal``, which a dictionary's columns come close to, [i, j] of a block takes state j to state i.

Letters: B batch, T time, V vocabulary, D width, h blocks, n block size, K matrices; z normalised input of the layer, A
transition, b input term, x state.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from lrnnlab.models.base import LinearRecurrence, check_sizes
from lrnnlab.models.block_diagonal import COLUMN_RULES


class OneHotColumns(LinearRecurrence):
    """h blocks of n states; a symbol sends each state to one other, and may turn and shrink it on the way.

    P is the one-hot of the largest entry of every column; its gradient is that of a softmax (straight through).  There
    is no input term: the state starts at the first basis vector of every block.  Ours: in the paper P is chosen from a
    dictionary of matrices and there is an input term.

    Parameters
    ----------
    width : int
        D = h n, or 2 h n with phases: real parts, imaginary parts.
    b : int
        n.
    hidden : int
        Width of the hidden layer of the map that makes P.
    phases : bool
        Whether D_t is there; False: A_t = P_t, a finite automaton.

    Raises
    ------
    ValueError
        If the blocks do not fill the width.

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

    def extra_repr(self) -> str:
        return f"h={self.h}, b={self.b}, phases={self.phases}"

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


class Dictionary(LinearRecurrence):
    """One dense block of n states, read by a linear map; see the head of this module.

    Parameters
    ----------
    width : int
        D, of the input and of what is read.
    matrices : int
        K.
    state : int
        n.
    p : float
        The norm of the columns.

    Raises
    ------
    ValueError
        For sizes below 1, or a p below 1.

    Examples
    --------
    >>> layer = Dictionary(8, matrices=3, state=5)
    >>> A, b = layer.transition(torch.zeros(2, 8))
    >>> A.shape, b.shape, bool(torch.allclose(A.abs().pow(1.2).sum(-2), torch.ones(2, 1, 5)))
    (torch.Size([2, 1, 5, 5]), torch.Size([2, 1, 5]), True)
    """

    def __init__(self, width: int, *, matrices: int = 6, state: int = 16, p: float = 1.2):
        super().__init__()
        check_sizes(width=width, matrices=matrices, state=state)
        if not p >= 1:
            raise ValueError(f"the column norm needs p >= 1, got p={p}")
        self.p = p
        self.select = nn.Linear(width, matrices)
        self.A = nn.Parameter(torch.randn(matrices, state, state) / state**0.5)
        self.drive = nn.Linear(width, state, bias=False)
        self.read = nn.Linear(state, width, bias=False)
        self.x0 = nn.Parameter(torch.randn(1, state))

    def transition(self, z: Tensor) -> tuple[Tensor, Tensor]:
        """A (..., 1, n, n) and b (..., 1, n)."""
        A = torch.einsum("...k,kij->...ij", self.select(z).softmax(-1), self.A)
        return COLUMN_RULES["unit"](A, self.p).unsqueeze(-3), self.drive(z).unsqueeze(-2)

    def output(self, x: Tensor, z: Tensor, tokens: Tensor | None = None) -> Tensor:
        return self.read(x)
