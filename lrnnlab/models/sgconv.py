"""SGConv (Li, Cai, Zhang, Chen, Dey 2023), the long convolution without a recurrence in paper 004, Table 2.

The kernel is written down directly: a row of pieces, each twice as long as the one before and drawn with the same
number d of weights, so that the far past is seen coarsely:

    K = [w_0 | alpha w_1 | alpha^2 stretch(w_2, 2) | alpha^3 stretch(w_3, 4) | ...] / (its norm at the start)

Letters: B batch, T time, D width, d weights of a piece, n pieces, S directions; z input of the layer, y output.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from lrnnlab.models.base import check_sizes
from lrnnlab.models.constant_diagonal import ChannelModes, interval


class SGConv(ChannelModes):
    """One SGConv layer, (B,T,D) -> (B,T,D): n pieces of d weights per channel and direction, alpha one per channel and direction.

    Weights start normal with standard deviation 1/d; kernels are divided by the 2-norm they have then.  The step form
    holds the last d 2^(n-1) inputs.

    Parameters
    ----------
    width : int
        D.
    length : int
        The longest lag plus one that the kernel must reach.  n is 1 + ceil(log2(length / d)), at least 1: "the
        resulting kernel is at least as long as the input" (paper 004, App. A.6); it is 0 further on.
    piece : int
        d, the "kernel dimension"; 4096 in the paper.
    alpha : (float, float)
        (low, high) at the start, uniform.  The text says 1e-5 "to avoid signal decay", which would let it decay at
        once; the released command has 1, as here.
    bidirectional : bool
        Two kernels a channel, as for :class:`lrnnlab.models.dlr.DLR`.

    Examples
    --------
    >>> layer = SGConv(3, length=50, piece=8)
    >>> tuple(layer.pieces.shape), layer.kernel(40).shape, layer.kernel(99).shape
    ((4, 3, 8), torch.Size([3, 40]), torch.Size([3, 64]))
    """

    recurrent_parameters = ("pieces", "alpha")

    def __init__(
        self,
        width: int,
        *,
        length: int = 1024,
        piece: int = 64,
        alpha: tuple[float, float] = (1.0, 1.0),
        bidirectional: bool = False,
    ):
        check_sizes(length=length, piece=piece)
        low, high = interval("alpha", alpha)
        count = 1 + ((length - 1) // piece).bit_length()  # 1 + ceil(log2(length / piece)), without rounding
        super().__init__(width, bidirectional, max_kernel=piece << (count - 1))
        rows = self.directions * width
        self.pieces = nn.Parameter(torch.randn(count, rows, piece) / piece)
        self.alpha = nn.Parameter(torch.empty(rows, 1).uniform_(low, high))
        self.register_buffer("norm", torch.ones(rows, 1))
        with torch.no_grad():
            self.norm.copy_(self.kernels(self.max_kernel).flatten(0, 1).norm(dim=-1, keepdim=True))

    def kernels(self, T: int) -> Tensor:
        """(S, D, T); T beyond the kernel's length is not met (``max_kernel``)."""
        row = []
        for i, w in enumerate(self.pieces):
            stretched = F.interpolate(w.unsqueeze(0), scale_factor=1 << max(0, i - 1), mode="linear")[0]
            row.append(self.alpha**i * stretched)
        return (torch.cat(row, -1)[:, :T] / self.norm).unflatten(0, (self.directions, -1))
