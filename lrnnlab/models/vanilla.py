"""The vanilla LRNN of paper 000 (Fan, Chi, Rudnicky 2024), Eq. 2: one constant matrix, nothing done to it.

    x_t = A x_{t-1} + B u_t

Letters: B batch, T time, V vocabulary, D width; z normalised input of the layer (the paper's u), A transition,
b input term (the paper's B u), x state.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from lrnnlab.models.base import LinearRecurrence, check_sizes


class Vanilla(LinearRecurrence):
    """One layer of Eq. 2, (B,T,D) -> (B,T,D).

    A starts orthogonal (every singular value 1; the paper does not say what it used), x_0 is learned.  ``forward`` is a
    loop of T products with the one matrix A, whatever ``backend`` says: log T rounds of doubling (x += A^k x shifted by
    k) do six times the arithmetic at T = 40.

    Examples
    --------
    >>> layer = Vanilla(2)
    >>> _ = layer.x0.data.zero_(), layer.drive.weight.data.copy_(torch.eye(2))
    >>> _ = layer.A.data.copy_(torch.tensor([[0., 1.], [1., 0.]]))
    >>> layer(torch.tensor([[[1., 0.], [0., 0.], [0., 5.]]])).tolist()
    [[[1.0, 0.0], [0.0, 1.0], [1.0, 5.0]]]
    """

    def __init__(self, width: int):
        super().__init__()
        check_sizes(width=width)
        self.A = nn.Parameter(nn.init.orthogonal_(torch.empty(width, width)))
        self.drive = nn.Linear(width, width, bias=False)
        self.x0 = nn.Parameter(torch.randn(width))

    def transition(self, z: Tensor) -> tuple[Tensor, Tensor]:
        """z (..., D) -> A (..., 1, D, D), one matrix seen many times, and b (..., 1, D)."""
        A = self.A.expand(*z.shape[:-1], 1, *self.A.shape)
        return A, self.drive(z).unsqueeze(-2)

    def initial(self, batch: int) -> Tensor:
        return self.x0.expand(batch, 1, -1)

    def trace(self, z: Tensor, tokens: Tensor | None = None) -> tuple[Tensor, Tensor]:
        A, b = self.transition(z)
        b = b.squeeze(-2) if tokens is None else b.squeeze(-2)[tokens]  # (B,T,D)
        x, states = self.x0.expand(len(b), -1), []
        for b_t in b.unbind(1):  # indexing b[:, t] would make the backward pass quadratic in T
            x = torch.addmm(b_t, x, self.A.T)
            states.append(x)
        return A, torch.stack(states, 1) if states else b
