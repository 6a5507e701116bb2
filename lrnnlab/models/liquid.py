"""Liquid-S4 as paper 000 (Fan, Chi, Rudnicky 2024) writes it, Eq. 4, one system of N states per channel.

    x_t = (A + diag(B u_t)) x_{t-1} + B u_t

This is not the code released with Liquid-S4 (Hasani et al. 2023).  That one adds to S4 a convolution with products of
inputs whose order in time is reversed, so that an answer at t depends on what comes after t: harmless where one label
is read at the end, a leak where every prefix is labelled.  Eq. 4 is causal, and that is what stands here.

**Stability.**  Eq. 4 explodes where ||A + diag(B u)|| > 1.  Here

    A = (1 - r) Cayley(dt M),   M = S - S^T - diag(e^d) - P P^T,   (B u)_n = r tanh(B_n u),   0 < r < 1

with S, d, P, r, dt, B learned per channel.  M + M^T is negative definite, so the 2-norm of its Cayley transform
(I - dt/2 M)^-1 (I + dt/2 M), the bilinear discretisation, is below 1: with x = (I - dt/2 M) w,
||(I + dt/2 M) w||^2 - ||x||^2 = 2 dt w^T M w < 0.  Hence ||A + diag(B u)||_2 < (1 - r) + r = 1 for every input, and
||x_t||_2 <= r t sqrt(N) for all t (x_0 = 0).  M starts as HiPPO-LegS, which has exactly this form.

Letters: B batch, T time, V vocabulary, D width = channels, N state size; u input, A transition, b input term (the
paper's B u), x state, y output; dt step size.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from lrnnlab.models.base import LinearRecurrence, check_sizes
from lrnnlab.models.constant_diagonal import GatedReadout, log_uniform_steps
from lrnnlab.models.hippo import legs

SHARE = 0.1  # r at the start


class LiquidS4(LinearRecurrence):
    """One layer of Eq. 4, (B,T,D) -> (B,T,D), read out like S4: y = C x + skip u, GELU, gate.

    r, the part of the norm that the input may have, starts at 0.1.  It has a price: what is left to A fades by 1 - r a
    letter, so memory at rest is about 1/r letters, whatever dt is.

    Parameters
    ----------
    width, state : int
        D; and N, small, because A is a dense N x N matrix in every channel.
    dt : (float, float)
        (low, high), the step sizes are log-uniform between them, as in S4.

    Examples
    --------
    >>> layer = LiquidS4(6, state=4)
    >>> A, b = layer.transition(100 * torch.randn(50, 6))
    >>> A.shape, bool((torch.linalg.matrix_norm(A, 2) < 1).all())
    (torch.Size([50, 6, 4, 4]), True)
    """

    def __init__(self, width: int, *, state: int = 8, dt: tuple[float, float] = (1e-3, 0.1)):
        super().__init__()
        check_sizes(width=width, state=state)
        M, _, P = (torch.as_tensor(a).to(torch.get_default_dtype()) for a in legs(state))
        symmetric = torch.eye(state) / 2 + torch.outer(P, P)  # M + this is skew
        self.skew = nn.Parameter(((M + symmetric) / 2).repeat(width, 1, 1))
        self.log_decay = nn.Parameter(torch.full((width, state), -math.log(2)))
        self.P = nn.Parameter(P.repeat(width, 1))
        self.log_dt = nn.Parameter(log_uniform_steps(width, *dt))
        self.B = nn.Parameter(torch.randn(width, state))
        self.C = nn.Parameter(torch.randn(width, state) / state**0.5)
        self.share = nn.Parameter(torch.full((width, 1), math.log(SHARE / (1 - SHARE))))
        self.readout = GatedReadout(width)

    def constant(self) -> Tensor:
        """Cayley(dt M), (D, N, N), of 2-norm below 1."""
        M = (
            self.skew
            - self.skew.mT
            - torch.diag_embed(self.log_decay.exp())
            - self.P.unsqueeze(-1) * self.P.unsqueeze(-2)
        )
        half = M * (self.log_dt.exp() / 2).view(-1, 1, 1)
        eye = torch.eye(M.shape[-1], dtype=M.dtype, device=M.device)
        return torch.linalg.solve(eye - half, eye + half)

    def transition(self, z: Tensor) -> tuple[Tensor, Tensor]:
        """z (..., D) -> A + diag(B u), (..., D, N, N), and B u, (..., D, N)."""
        r = torch.sigmoid(self.share)  # (D, 1)
        b = r * torch.tanh(self.B * z.unsqueeze(-1))
        return (1 - r).unsqueeze(-1) * self.constant() + torch.diag_embed(b), b

    def initial(self, batch: int) -> Tensor:
        return self.B.new_zeros(batch, *self.B.shape)

    def output(self, x: Tensor, z: Tensor, tokens: Tensor | None = None) -> Tensor:
        """States (..., D N) and inputs (..., D) -> (..., D)."""
        return self.readout((x.unflatten(-1, self.C.shape) * self.C).sum(-1), z if tokens is None else z[tokens])
