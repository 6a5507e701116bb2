"""The Transformers of paper 002 (RegularGPT; Chi, Fan, Rudnicky, Ramadge 2023): one layer, four relative positions.

    xl       (q + u) k + (q + v) W_r R_(m-n)            Transformer-XL (Dai et al. 2019); Tables 1 and 2
    kerple   q k - r_1 log(1 + r_2 (m-n))               KERPLE, log (Chi et al. 2022); Table 3
    t5       q k + b_bucket(m-n)                        T5 (Raffel et al. 2020); Table 3
    alibi    q k - 2^(-8 i/h) (m-n), head i             ALiBi (Press et al. 2022); Table 3

``xl`` is an encoder, as in the code that paper 002 builds on (Deletang et al. 2023): every position sees all, one
answer at the last.  The others are causal and answer at every position.  Scores without biases are divided by sqrt(d).

    post_norm   a = LN(h + attention(h))     out = LN(a + W2 relu(W1 a))     the released code (Deletang et al. 2023)
    gpt2        a = h + attention(LN(h))     out = a + W2 gelu(W1 LN(a))     the text: "all the other details of GPT2"

Weights start as in the released code, in both blocks.

Letters: B batch, T time, V vocabulary, C classes, D width, h heads, d size of a head, S positions of one attention; m
position of a query, n of a key; q, k, v queries, keys and values, u and v learned vectors, R sinusoids.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from lrnnlab.models.attention import merge_heads, split_heads
from lrnnlab.models.base import Module, check_sizes, check_strings, layers_of
from lrnnlab.models.block import FeedForward, PostNorm, PreNorm
from lrnnlab.models.feature_maps import head_size
from lrnnlab.scans.transforms import within_func
from lrnnlab.validation import among, checked


def linear(inputs: int, outputs: int, *, bias: bool = True) -> nn.Linear:
    """A linear map that starts as in haiku: weights normal with deviation inputs^-1/2, cut at two of them; bias 0."""
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


class TransformerLayer(Module):
    """Attention in one of ``BLOCKS``; a subclass says what its scores know of positions.  Only ``gpt2`` has biases."""

    def __init__(self, width: int, heads: int, block: str):
        super().__init__()
        among("block", block, BLOCKS)
        head_size(width, heads)
        around, activation = BLOCKS[block]
        self.heads, self.block = heads, around(None, width, ff=FeedForward(width, 4, activation, linear))
        self.Q, self.K, self.V, self.O = (linear(width, width, bias=block == "gpt2") for _ in range(4))

    def forward(self, h: Tensor, seen: Tensor | None = None) -> Tensor:
        """h (...,S,D) -> (...,S,D); ``seen`` is what ``attend`` asks for."""
        z = self.block.before(h)
        o = self.attend(*self.project(z, z), seen)
        return self.block.after(h, self.O(merge_heads(o)))

    def project(self, asking: Tensor, z: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """q (...,h,S',d) of asking (...,S',D), and k, v (...,h,S,d) of z (...,S,D)."""
        q, k, v = (split_heads(f(x), self.heads) for f, x in ((self.Q, asking), (self.K, z), (self.V, z)))
        return q, k, v

    def attend(self, q: Tensor, k: Tensor, v: Tensor, bias: Any) -> Tensor:
        """softmax(q k^T / sqrt(d) + bias) v of q, k, v (...,S,d)."""
        if within_func():  # torch's own may pick a kernel that gives a learned bias no gradient
            return (q @ k.mT * q.shape[-1] ** -0.5 + bias).softmax(-1) @ v
        return F.scaled_dot_product_attention(q, k, v, attn_mask=bias)


def final_norm(block: str, width: int) -> nn.Module:
    """What stands between the last layer and the readout: a LayerNorm in GPT-2, nothing after a post-norm block."""
    return nn.LayerNorm(width) if block == "gpt2" else nn.Identity()


def sinusoids(offsets: Tensor, width: int, longest: float = 10_000.0) -> Tensor:
    """R (..., D) of offsets (...): sin, then cos, of offset longest^(-2i/D), i = 0 .. D/2 - 1 (Vaswani et al. 2017).
    """
    speed = longest ** (-torch.arange(0, width, 2, dtype=torch.float64, device=offsets.device) / width)
    angle = offsets.double().unsqueeze(-1) * speed
    return torch.cat([angle.sin(), angle.cos()], -1)


def relative_shift(scores: Tensor) -> Tensor:
    """Scores (..., T, 2T) of the offsets -T .. T-1 -> (..., T, T) of keys: out[m, n] = scores[m, n - m + T]."""
    T = scores.shape[-2]
    return scores.flatten(-2)[..., T:].unflatten(-1, (T, 2 * T - 1))[..., :T]


class XLLayer(TransformerLayer):
    """A layer with the positions of Transformer-XL, in both directions.

    As released, R is that of m - n (query minus key); with n - m, W_r would change a sign on the sines, no more.
    """

    def __init__(self, width: int, heads: int, block: str):
        super().__init__(width, heads, block)
        if width % 2:
            raise ValueError(f"width must be even for sines and cosines, got {width}")
        self.W_r = linear(width, width, bias=False)
        self.u, self.v = (nn.Parameter(0.02 * torch.randn(heads, 1, width // heads)) for _ in range(2))

    def attend(self, q: Tensor, k: Tensor, v: Tensor, bias: None) -> Tensor:
        """softmax(((q + u) k + (q + v) W_r R_(m-n)) / sqrt(d)) v of q, k, v (B,h,T,d)."""
        T, scale = q.shape[-2], q.shape[-1] ** -0.5
        R = sinusoids(torch.arange(T, -T, -1, device=q.device), self.W_r.in_features).to(q.dtype)  # (2T,D), R_(m-n)
        by_offset = (q + self.v) @ split_heads(self.W_r(R), self.heads).mT  # (B,h,T,2T)
        return super().attend(q + self.u, k, v, relative_shift(by_offset) * scale)


class Kerple(Module):
    """Distances m - n (T,T) -> -r_1 log(1 + r_2 (m - n)), (h,T,T); r_1 from U(0,2), r_2 from U(0,1) at the start.

    Both are at least 0.01.  The released code cuts the weights themselves; here the forward pass cuts, and a weight
    that has fallen below is still told which way is up.
    """

    least = 0.01

    def __init__(self, heads: int):
        super().__init__()
        self.r = nn.Parameter(torch.rand(2, heads, 1, 1) * torch.tensor([2.0, 1.0]).view(2, 1, 1, 1))

    def forward(self, distance: Tensor) -> Tensor:
        r_1, r_2 = self.r + (self.least - self.r).clamp(min=0).detach()
        return -r_1 * torch.log1p(r_2 * distance)


class T5(Module):
    """Distances m - n (T,T) -> a learned number per head and bucket, (h,T,T): 32 buckets, zero at the start.

    Distances below 16 have a bucket each; 16 to 127 share the other 16 by their logarithm, the last is for all beyond.
    """

    buckets, exact, farthest = 32, 16, 128

    def __init__(self, heads: int):
        super().__init__()
        self.b = nn.Parameter(torch.zeros(heads, self.buckets))

    def bucket(self, distance: Tensor) -> Tensor:
        """Which bucket a distance of at least 0 falls into."""
        share = torch.log(distance.clamp(min=1).double() / self.exact) / math.log(self.farthest / self.exact)
        far = self.exact + (share * (self.buckets - self.exact)).long()
        return torch.where(distance < self.exact, distance, far.clamp(max=self.buckets - 1))

    def forward(self, distance: Tensor) -> Tensor:
        return self.b[:, self.bucket(distance)]


class Alibi(Module):
    """Distances m - n (T,T) -> -slope_i (m - n), (h,T,T); nothing is learned.

    Slopes are 2^(-8 i/h), i = 1 .. h, if h is a power of two; else those of the next lower power, then every other one
    of the next higher, as in the code of its authors.
    """

    def __init__(self, heads: int):
        super().__init__()
        self.register_buffer("slopes", torch.tensor(self.slopes_of(heads)).view(-1, 1, 1))

    @staticmethod
    def slopes_of(heads: int) -> list[float]:
        low = 1 << (heads.bit_length() - 1)
        first = [2.0 ** (-8 * i / low) for i in range(1, low + 1)]
        return first + [2.0 ** (-4 * i / low) for i in range(1, 2 * (heads - low), 2)]

    def forward(self, distance: Tensor) -> Tensor:
        return -self.slopes * distance


POSITIONS = {"xl": None, "kerple": Kerple, "t5": T5, "alibi": Alibi}


@checked
class RelativeTransformer(Module):
    """``model(tokens (B,T))`` -> logits (B,C) at the last position (``xl``) or (B,T,C) (the causal ones).

    Time and memory grow as T^2.

    Parameters
    ----------
    vocab_size, classes, width, heads : int
        V, C and D; and h, a divisor of D.
    layers : int
        5 in paper 002, each with weights of its own.
    position : str
        A name in ``POSITIONS``.  ``kerple`` and ``t5`` learn one bias for all layers, as their papers say; the paper's
        own code for Table 3 is not released.
    block : str
        As for :class:`lrnnlab.models.regular_gpt.RegularGPT`.

    Examples
    --------
    >>> RelativeTransformer(2, 2, width=16, heads=4, layers=2)(torch.zeros(3, 7, dtype=torch.int64)).shape
    torch.Size([3, 2])
    >>> RelativeTransformer(9, 9, width=16, heads=4, position="alibi")(torch.zeros(3, 7, dtype=torch.int64)).shape
    torch.Size([3, 7, 9])
    """

    def __init__(
        self,
        vocab_size: int,
        classes: int,
        *,
        width: int = 64,
        heads: int = 8,
        layers: int = 5,
        position: str = "xl",
        block: str = "post_norm",
    ):
        super().__init__()
        among("position", position, POSITIONS)
        check_sizes(classes=classes)
        self.causal = position != "xl"
        self.embedding = Symbols(vocab_size, width)
        layer = TransformerLayer if self.causal else XLLayer
        self.layers = nn.ModuleList(layers_of(layers, lambda _: layer(width, heads, block)))
        self.position = POSITIONS[position](heads) if self.causal else None
        self.norm = final_norm(block, width)
        self.head = linear(width, classes)

    def forward(self, tokens: Tensor) -> Tensor:
        h = self.norm(self.hidden(tokens)[-1])
        return self.head(h if self.causal else h[:, -1])

    def hidden(self, tokens: Tensor) -> list[Tensor]:
        """The output (B,T,D) of every layer."""
        h, outputs = self.embedding(tokens), []
        bias = self.bias(tokens.shape[1]) if self.causal else None
        for layer in self.layers:
            h = layer(h, bias)
            outputs.append(h)
        return outputs

    def bias(self, length: int) -> Tensor:
        """(h,T,T): what a causal model adds to the score of query m and key n; -inf where n lies after m."""
        if not self.causal:
            raise ValueError("position 'xl' has no bias of its own: its scores depend on the query as well")
        at = torch.arange(length, device=self.head.weight.device)
        distance = at.unsqueeze(1) - at
        return self.position(distance.clamp(min=0)).masked_fill(distance < 0, -math.inf)
