"""S5 (Smith, Warrington, Linderman 2023), a baseline of paper 001: one diagonal system for all channels together.

    x' = Lambda x + B u,   y = 2 Re(C x) + skip * u        one of each conjugate pair kept
    x_t = e^(Lambda dt) x_{t-1} + (e^(Lambda dt) - 1) / Lambda B u_t      (zero-order hold, a step size per state)

Lambda starts as the eigenvalues of the normal part of HiPPO-LegS, the same in each of J blocks, and B and C as real
random matrices in its eigenbasis.  This follows the released code, not its paper, where they differ.

Letters: B batch, T time, D width, N state size (S5's P), K = N/2 modes kept, J blocks, n = N/J block size; z input of
the layer (S5's u), x state, y output; dt step size.  ``skip`` is S5's D.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from lrnnlab.models.constant_diagonal import DenseModes, Modes, log_uniform_steps, pair_parameter, real_part
from lrnnlab.models.hippo import legs_diagonal


class S5(DenseModes):
    """One S5 layer, (B,T,D) -> (B,T,D); agrees with ``lindermanlab/S5``, s5/ssm.py (3c18fdb).

    Parameters
    ----------
    width, state, blocks : int
        D; N, of which N/2 are kept; and J, where N/J is even.
    dt : (float, float)
        (low, high), the step sizes are log-uniform between them.
    bidirectional : bool
        Whether a second C reads the states of the string run backwards.

    Examples
    --------
    >>> layer = S5(3, state=8, blocks=2)
    >>> layer.hidden(torch.zeros(2, 5, 3)).shape, layer.Lambda_re.tolist()
    (torch.Size([2, 5, 4]), [-0.5, -0.5, -0.5, -0.5])
    """

    recurrent_parameters = ("Lambda_re", "Lambda_im", "log_step", "B")

    def __init__(
        self,
        width: int,
        *,
        state: int = 64,
        blocks: int = 1,
        dt: tuple[float, float] = (1e-3, 0.1),
        bidirectional: bool = False,
    ):
        super().__init__(width, bidirectional)
        if blocks < 1 or state < 2 * blocks or state % (2 * blocks):
            raise ValueError(f"state is a multiple of 2 blocks (conjugate pairs), got state {state}, blocks {blocks}")
        self.modes, self.blocks = state // 2, blocks
        n = state // blocks
        eigenvalues, _, V = (torch.as_tensor(a) for a in legs_diagonal(n))  # (n/2,), V (n, n/2)
        self.Lambda_re = nn.Parameter(eigenvalues.real.to(torch.get_default_dtype()).repeat(blocks))
        self.Lambda_im = nn.Parameter(eigenvalues.imag.to(torch.get_default_dtype()).repeat(blocks))
        self.log_step = nn.Parameter(log_uniform_steps(self.modes, *dt))
        V = V.to(torch.get_default_dtype().to_complex())
        B = _truncated(state, state, width).to(V.dtype).unflatten(0, (blocks, n))  # (J, n, D)
        self.B = pair_parameter((V.mH @ B).flatten(0, 1))
        C = torch.stack([_truncated(state, width, blocks, n, 2) for _ in range(self.directions)])
        self.C = pair_parameter((torch.view_as_complex(C) @ V).flatten(2))

    def system(self) -> Modes:
        eigenvalues = torch.complex(self.Lambda_re, self.Lambda_im)
        log = eigenvalues * self.log_step.exp()
        B = (torch.expm1(log) / eigenvalues).unsqueeze(-1) * torch.view_as_complex(self.B)  # (K, D)
        return Modes(log, torch.view_as_real(B).movedim(-1, 1).flatten(0, 1), 2 * real_part(self.C))


def _truncated(fan_in: int, *shape: int) -> Tensor:
    """Normal numbers of variance 1 / fan_in, cut off at two deviations: "LeCun normal" as JAX draws it."""
    std = (1 / fan_in) ** 0.5 / 0.87962566103423978  # what the cut takes from the deviation of N(0, 1)
    return nn.init.trunc_normal_(torch.empty(shape), std=std, a=-2 * std, b=2 * std)
