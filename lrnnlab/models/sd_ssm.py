"""SD-SSM (Terzić and others 2024, arXiv:2412.19350): A_t is a mean of K dense matrices, weighted by the input.

    x_t = A_t x_{t-1} + B z_t,   A_t = sum_k softmax(S z_t)_k A^(k), each column divided by its p-norm;   y_t = R x_t

Letters: n states, K matrices; z normalised input of the layer (..., D), A transition, b input term, x state.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from lrnnlab.models.base import LinearRecurrence, check_sizes
from lrnnlab.models.block_diagonal import COLUMN_RULES

P = 1.2  # the norm of the columns


class Dictionary(LinearRecurrence):
    """One dense block of n states, read by a linear map, (B,T,D) -> (B,T,D).

    Parameters
    ----------
    width, matrices, state : int
        D, of the input and of what is read; K; and n.

    Examples
    --------
    >>> layer = Dictionary(8, matrices=3, state=5)
    >>> A, b = layer.transition(torch.zeros(2, 8))
    >>> A.shape, b.shape, bool(torch.allclose(A.abs().pow(1.2).sum(-2), torch.ones(2, 1, 5)))
    (torch.Size([2, 1, 5, 5]), torch.Size([2, 1, 5]), True)
    """

    def __init__(self, width: int, *, matrices: int = 6, state: int = 16):
        super().__init__()
        check_sizes(width=width, matrices=matrices, state=state)
        self.select = nn.Linear(width, matrices)
        self.A = nn.Parameter(torch.randn(matrices, state, state) / state**0.5)
        self.drive = nn.Linear(width, state, bias=False)
        self.read = nn.Linear(state, width, bias=False)
        self.x0 = nn.Parameter(torch.randn(1, state))

    def transition(self, z: Tensor) -> tuple[Tensor, Tensor]:
        """A (..., 1, n, n) and b (..., 1, n)."""
        A = torch.einsum("...k,kij->...ij", self.select(z).softmax(-1), self.A)
        return COLUMN_RULES["unit"](A, P).unsqueeze(-3), self.drive(z).unsqueeze(-2)

    def output(self, x: Tensor, z: Tensor, tokens: Tensor | None = None) -> Tensor:
        return self.read(x)
