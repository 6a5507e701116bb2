"""DSS_exp, the diagonal state space that paper 004 compares DLR with (Gupta, Gu, Berant 2022; paper 004, Sec. 2.1).

    dx/dt = Lambda * x + u,   y = <w, x>,   zero-order hold over intervals of length dt

which is a DLR with lambda = exp(dt Lambda) and weights w (exp(dt Lambda) - 1) / Lambda: the same functions, other
parameters.  Lambda is shared by all channels, dt is one per channel, so here every channel has modes of its own.

Letters: B batch, T time, D width, N state size, S directions; z input of the layer, y output.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from lrnnlab.models.base import check_sizes
from lrnnlab.models.constant_diagonal import ChannelModes, complex_double, log_uniform_steps
from lrnnlab.scans.convolution import vandermonde
from lrnnlab.validation import among

SPACING = {"lin": math.pi, "two_pi": 2 * math.pi}


class DSS(ChannelModes):
    """One DSS_exp layer, (B,T,D) -> (B,T,D), as in ``ag1988/dlr`` (580d854): Re and Im of w start standard normal.

    Parameters
    ----------
    width, state : int
        D and N.
    init : str
        Lambda_n at the start is -1/2 + i pi n (``"lin"``, the released code) or -1/2 + 2 pi i n (``"two_pi"``, the
        paper, App. A.6).
    dt : (float, float)
        (low, high), the step sizes are log-uniform between them.  Table 7 has (1e-4, 1e-2).
    bidirectional, max_kernel
        As for :class:`lrnnlab.models.dlr.DLR`; both directions share Lambda and dt.

    Examples
    --------
    >>> DSS(3, state=8).kernel(10).shape
    torch.Size([3, 10])
    """

    recurrent_parameters = ("log_decay", "frequency", "log_dt", "W")

    def __init__(
        self,
        width: int,
        *,
        state: int = 64,
        init: str = "lin",
        dt: tuple[float, float] = (1e-3, 0.1),
        bidirectional: bool = False,
        max_kernel: int | None = None,
    ):
        super().__init__(width, bidirectional, max_kernel)
        among("init", init, SPACING)
        check_sizes(state=state)
        self.init = init
        self.log_decay = nn.Parameter(torch.full((state,), math.log(0.5)))
        frequency = SPACING[init] * torch.arange(state, dtype=torch.float64)
        self.frequency = nn.Parameter(frequency.to(torch.get_default_dtype()))
        self.log_dt = nn.Parameter(log_uniform_steps(width, *dt))
        self.W = nn.Parameter(torch.randn(self.directions, width, state, 2))

    def _system(self) -> tuple[Tensor, Tensor]:
        """dt Lambda (D, N), and the weights of the DLR that this layer is, (S, D, N)."""
        Lambda = torch.complex(-self.log_decay.double().exp(), self.frequency.double())
        exponent = self.log_dt.double().exp().unsqueeze(-1) * Lambda
        return exponent, complex_double(self.W) * (torch.expm1(exponent) / Lambda)

    def kernels(self, T: int) -> Tensor:
        exponent, W = self._system()
        return torch.stack([vandermonde(exponent, w, T, dtype=self.skip.dtype) for w in W])

    def modes(self) -> tuple[Tensor, Tensor]:
        exponent, W = self._system()
        return exponent, W[0]
