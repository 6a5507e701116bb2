"""Softmax attention without positions: the Transformer that paper 003 (Irie, Csordas, Schmidhuber 2023) starts from.

Its released row is torch's ``nn.TransformerEncoderLayer``: a :class:`lrnnlab.models.net.Block` with ``place="post"``
around this layer gives the same numbers from the same weights.

Letters: B batch, T time, D width, h heads, n = D/h size of a head; z input of the layer, q, k, v queries, keys and
values, y output.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from lrnnlab.models.base import Recurrence
from lrnnlab.models.feature_maps import head_size


class CausalAttention(Recurrence):
    """One layer: inputs (B,T,D) -> y (B,T,D), the heads side by side; weights start as in torch's attention.

    The step form keeps all keys and values so far (2 T D numbers).

    >>> CausalAttention(8, heads=2)(torch.zeros(3, 7, 8)).shape
    torch.Size([3, 7, 8])
    """

    def __init__(self, width: int, *, heads: int = 2):
        super().__init__()
        self.heads, self.size = heads, head_size(width, heads)
        self.slow = nn.Linear(width, 3 * width)
        nn.init.xavier_uniform_(self.slow.weight)
        nn.init.zeros_(self.slow.bias)

    def project(self, z: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """z (B,T,D) -> q, k, v (B,h,T,n)."""
        return self.slow(z).unflatten(-1, (3, self.heads, self.size)).permute(2, 0, 3, 1, 4).unbind(0)

    def mix(self, z: Tensor) -> Tensor:
        if not z.numel():  # nothing to attend to
            return z
        y = F.scaled_dot_product_attention(*self.project(z), is_causal=True)
        return y.transpose(1, 2).flatten(2)

    def initial(self, batch: int) -> tuple[Tensor, Tensor]:
        """No keys and no values, (B,h,0,n)."""
        nothing = self.slow.weight.new_zeros(batch, self.heads, 0, self.size)
        return nothing, nothing

    def step(self, state: tuple[Tensor, Tensor], z_t: Tensor) -> tuple[tuple[Tensor, Tensor], Tensor]:
        q, k, v = self.project(z_t.unsqueeze(1))
        keys, values = torch.cat([state[0], k], 2), torch.cat([state[1], v], 2)
        return (keys, values), F.scaled_dot_product_attention(q, keys, values).flatten(1)
