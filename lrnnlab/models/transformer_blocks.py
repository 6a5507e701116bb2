"""What the Transformers of paper 002 (RegularGPT; Chi, Fan, Rudnicky, Ramadge 2023) are made of.

    post_norm   a = LN(h + attention(h))     out = LN(a + W2 relu(W1 a))     the released code (Deletang et al. 2023)
    gpt2        a = h + attention(LN(h))     out = a + W2 gelu(W1 LN(a))     the text: "all the other details of GPT2"

Attention itself is left to the layers that are built on :class:`AttentionLayer`.  Weights start as in the released
code, in both blocks.

Letters: B batch, T time, V vocabulary, D width, h heads, d size of a head, S positions of one attention; z input of the
attention, q, k, v queries, keys and values, a what the feed-forward part sees.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from lrnnlab.models.base import Module, check_sizes, check_strings
from lrnnlab.models.block import FeedForward, PostNorm, PreNorm
from lrnnlab.models.feature_maps import head_size
from lrnnlab.validation import among, checked


def linear(inputs: int, outputs: int, *, bias: bool = True) -> nn.Linear:
    """A linear map that starts as in haiku: weights normal with deviation inputs^-1/2, cut at two of them; bias 0.

    >>> layer = linear(4, 3)
    >>> bool(layer.weight.abs().max() <= 1), layer.bias.tolist()
    (True, [0.0, 0.0, 0.0])
    """
    layer = nn.Linear(inputs, outputs, bias=bias)
    cut_normal_(layer.weight, inputs**-0.5)
    if bias:
        nn.init.zeros_(layer.bias)
    return layer


def cut_normal_(weight: Tensor, deviation: float) -> Tensor:
    """Fill with normal numbers of this deviation (before the cut), none beyond two of it."""
    return nn.init.trunc_normal_(weight, std=deviation, a=-2 * deviation, b=2 * deviation)


class Symbols(Module):
    """Tokens (B,T) -> vectors (B,T,D), times sqrt(D), without positions.

    ``weight`` has a row that no symbol uses: the released code gives its one-hot inputs an empty column, and the
    paper's numbers of parameters count it.

    >>> Symbols(2, 8)(torch.tensor([[0, 1, 1]])).shape
    torch.Size([1, 3, 8])
    """

    def __init__(self, vocab_size: int, width: int):
        super().__init__()
        check_sizes(vocab_size=vocab_size, width=width)
        self.vocab_size = vocab_size
        self.weight = nn.Parameter(cut_normal_(torch.empty(vocab_size + 1, width), 0.02))

    def forward(self, tokens: Tensor) -> Tensor:
        check_strings(tokens, self.vocab_size, self.weight)
        return F.embedding(tokens, self.weight) * self.weight.shape[1] ** 0.5


BLOCKS = {"post_norm": (PostNorm, "relu"), "gpt2": (PreNorm, "gelu_tanh")}


@checked
class AttentionLayer(Module):
    """A block and the four maps of its attention; a subclass says who attends to whom.

    Parameters
    ----------
    width : int
        D.
    heads : int
        h, a divisor of D.
    block : str
        A name in ``BLOCKS``.  Only ``"gpt2"`` has biases in the maps.

    Examples
    --------
    >>> q, k, v = AttentionLayer(8, 2, "gpt2").project(torch.zeros(3, 1, 8), torch.zeros(3, 5, 8))
    >>> q.shape, v.shape
    (torch.Size([3, 2, 1, 4]), torch.Size([3, 2, 5, 4]))
    """

    def __init__(self, width: int, heads: int, block: str):
        super().__init__()
        among("block", block, BLOCKS)
        head_size(width, heads)
        around, activation = BLOCKS[block]
        self.heads, self.block = heads, around(None, width, ff=FeedForward(width, 4, activation, linear))
        self.Q, self.K, self.V, self.O = (linear(width, width, bias=block == "gpt2") for _ in range(4))

    def project(self, asking: Tensor, z: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """q (...,h,S',d) of asking (...,S',D), and k, v (...,h,S,d) of z (...,S,D)."""
        return self.split(self.Q(asking)), self.split(self.K(z)), self.split(self.V(z))

    def split(self, x: Tensor) -> Tensor:
        """(...,S,D) -> (...,h,S,d)."""
        return x.unflatten(-1, (self.heads, -1)).transpose(-2, -3)

    def merge(self, o: Tensor) -> Tensor:
        """(...,h,S,d) -> O of it, (...,S,D)."""
        return self.O(o.transpose(-2, -3).flatten(-2))


def final_norm(block: str, width: int) -> nn.Module:
    """What stands between the last layer and the readout: a LayerNorm in GPT-2, nothing after a post-norm block."""
    return nn.LayerNorm(width) if block == "gpt2" else nn.Identity()
