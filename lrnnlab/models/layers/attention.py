"""Attention: the layers that paper 004 (Gupta, Mehta, Berant 2022, Sec. 3.3-3.4) compares DLR with; paper 003's last.

    RotaryAttention   every position attends to all before it (or to all)
    LocalAttention    to its own chunk and the chunk before (and after)
    CausalAttention   to itself and all before it, without positions: the Transformer that paper 003 starts from

A layer of paper 004 gives u + GELU(attention(u)); the block around it adds the linear map alone.  So the skip is
outside the GELU; in DLR it is inside (released code; the paper says DLR was "simply replaced").

After them come the models of paper 002 (RegularGPT; Chi, Fan, Rudnicky, Ramadge 2023), which are whole nets: Transformers with
relative positions, RegularGPT, its RNN.

Letters: B batch, T time, V vocabulary, C classes, D width, h heads, d size of a head, c chunk, K thickness, l depth, s
residue classes of positions modulo c^l (1 in the tree), S positions of one of them; m position of a query, n of a key; z
or h input of a layer, y output; q, k, v queries, keys and values, r_j bias of distance j, R sinusoids.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from functools import reduce
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from lrnnlab.models.base import (
    Module,
    Recurrence,
    check_numbers,
    check_sizes,
    check_strings,
    check_tokens,
    head_size,
    layers_of,
)
from lrnnlab.models.block import FeedForward, PostNorm, PreNorm
from lrnnlab.models.layers.recurrent import run
from lrnnlab.scans.transforms import within_func
from lrnnlab.validation import among, checked, whole_number


def rotate(x: Tensor, positions: Tensor) -> Tensor:
    """Rotary position embedding (Su et al. 2021): pairs (x_2m, x_2m+1) of x (..., T, d) turned by t 10,000^(-2m/d)."""
    d = x.shape[-1]
    speed = 10_000.0 ** (-torch.arange(0, d, 2, dtype=torch.float64, device=x.device) / d)
    angle = positions.double().unsqueeze(-1) * speed
    pairs = (x if x.dtype == torch.float64 else x.float()).unflatten(-1, (-1, 2)).contiguous()
    kind = torch.complex128 if pairs.dtype == torch.float64 else torch.complex64  # torch.compile cannot ask a dtype
    turned = torch.view_as_complex(pairs) * torch.polar(torch.ones_like(angle), angle).to(kind)
    return torch.view_as_real(turned).flatten(-2).to(x.dtype)


def split_heads(x: Tensor, heads: int) -> Tensor:
    """(..., T, D) -> (..., h, T, d)."""
    return x.unflatten(-1, (heads, -1)).transpose(-2, -3)


def merge_heads(o: Tensor) -> Tensor:
    """(..., h, T, d) -> (..., T, D)."""
    return o.transpose(-2, -3).flatten(-2)


class Attention(Recurrence):
    """Softmax attention with a step form; a subclass says what q, k, v and the output are, and who sees whom.

    The step form keeps the keys and values that later positions see (2 T D numbers, if they see all).
    """

    recurrent_parameters: tuple[str, ...] = ()  # weight decay spares none of these weights
    causal = True
    scale: float | None = None  # of the scores; None is d^-1/2

    def __init__(self, heads: int, head_size: int):
        super().__init__()
        self.heads, self.head_size = heads, head_size

    @abstractmethod
    def project(self, z: Tensor, start: int) -> tuple[Tensor, Tensor, Tensor]:
        """q, k, v (B,h,T,d) of z (B,T,D) at positions start, start + 1, ..."""

    def output(self, z: Tensor, o: Tensor) -> Tensor:
        """y (B,T,D) of the layer's input z (B,T,D) and what it attended to, o (B,h,T,d)."""
        return merge_heads(o)

    def attend(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        """softmax(q k^T) v over what each position sees; all (B,h,T,d)."""
        return F.scaled_dot_product_attention(q, k, v, is_causal=self.causal, scale=self.scale)

    def first_seen(self, t: int) -> int:
        """The first position that position t attends to."""
        return 0

    def mix(self, z: Tensor) -> Tensor:
        if not z.numel():  # nothing to attend to
            return z
        return self.output(z, self.attend(*self.project(z, 0)))

    def initial(self, batch: int) -> tuple[Tensor, Tensor, int]:
        """No keys, no values (B,h,0,d), and how many positions are past."""
        if not self.causal:
            raise ValueError("causal=False has no step form: y_t depends on the inputs after t")
        nothing = next(self.parameters()).new_zeros(batch, self.heads, 0, self.head_size)
        return nothing, nothing, 0

    def step(self, state: tuple[Tensor, Tensor, int], z_t: Tensor) -> tuple[tuple[Tensor, Tensor, int], Tensor]:
        keys, values, t = state
        z = z_t.unsqueeze(1)
        q, k, v = self.project(z, t)
        seen = t + 1 - self.first_seen(t)
        keys, values = (torch.cat([old, new], 2)[:, :, -seen:] for old, new in ((keys, k), (values, v)))
        o = F.scaled_dot_product_attention(q, keys, values, scale=self.scale)
        return (keys, values, t + 1), self.output(z, o).squeeze(1)


class PreNormFeedForward(Module):
    """x + Linear(GELU(Linear(LayerNorm(x)))) of x (..., D), through ``hidden`` channels."""

    def __init__(self, width: int, hidden: int):
        super().__init__()
        self.inner = nn.Sequential(
            nn.LayerNorm(width), nn.Linear(width, hidden), nn.GELU(), nn.Linear(hidden, width)
        )  # fmt: skip

    def forward(self, x: Tensor) -> Tensor:
        return x + self.inner(x)


class RotaryAttention(Attention):
    """Softmax attention with h heads, rotary positions and one learned temperature; z + GELU(of it).

    The temperature starts at d^-1/2.

    >>> RotaryAttention(8, heads=2, head_size=4)(torch.zeros(3, 7, 8)).shape
    torch.Size([3, 7, 8])
    """

    scale = 1.0  # the temperature is in q

    def __init__(
        self,
        width: int,
        *,
        heads: int = 4,  # as in the paper
        head_size: int = 32,  # d, even; as in the paper
        causal: bool = True,  # a position attends to itself and what lies before; False: to all, and no step form
        ff: int = 0,  # hidden channels of two residual feed-forward layers after it (Table 6: 2048 for 1.1M parameters)
        bare: bool = False,  # the attention alone, as in a Transformer, without the sum and the GELU (Table 5)
    ):
        check_sizes(width=width, heads=heads, head_size=head_size)
        whole_number(ff, 0, "ff")
        if head_size % 2:
            raise ValueError(f"head_size is even, got {head_size}")
        super().__init__(heads, head_size)
        self.causal, self.bare = causal, bare
        self.Q, self.K, self.V = (nn.Linear(width, heads * head_size) for _ in range(3))
        self.O = nn.Linear(heads * head_size, width)
        self.temperature = nn.Parameter(torch.tensor([head_size**-0.5]))
        self.ff = nn.Sequential(*(PreNormFeedForward(width, ff) for _ in range(2 if ff else 0)))

    def project(self, z: Tensor, start: int) -> tuple[Tensor, Tensor, Tensor]:
        q, k, v = (split_heads(f(z), self.heads) for f in (self.Q, self.K, self.V))
        positions = torch.arange(start, start + z.shape[1], device=z.device)
        return self.temperature * rotate(q, positions), rotate(k, positions), v

    def output(self, z: Tensor, o: Tensor) -> Tensor:
        y = self.ff(self.O(merge_heads(o)))
        return y if self.bare else z + F.gelu(y)


class LocalAttention(RotaryAttention):
    """The same, where a position sees only its own chunk of c positions and the one before (if not causal: and after).

    Time and memory grow as T c.  The step form keeps at most 2c keys and values.
    c (``chunk``) is 1024 in the paper, 4096 for images (Sec. 3.4).

    >>> LocalAttention(8, heads=2, head_size=4, chunk=3, causal=False)(torch.zeros(3, 7, 8)).shape
    torch.Size([3, 7, 8])
    """

    def __init__(
        self, width: int, *, chunk: int = 1024, heads: int = 4, head_size: int = 32, causal: bool = True, ff: int = 0
    ):
        super().__init__(width, heads=heads, head_size=head_size, causal=causal, ff=ff)
        check_sizes(chunk=chunk)
        self.chunk = chunk

    def first_seen(self, t: int) -> int:
        return max(0, t // self.chunk - 1) * self.chunk

    def attend(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        """Chunk by chunk, on the keys around; the last chunk is filled up with zeros, which no true position sees."""
        B, h, T, _ = q.shape
        c = self.chunk
        if T <= c:
            return super().attend(q, k, v)
        q, k, v = (F.pad(x, (0, 0, 0, -T % c)).flatten(0, 1).unflatten(1, (-1, c)) for x in (q, k, v))  # (Bh,n,c,d)
        seen = self._seen(q.shape[1], c, T, q.device)
        o = F.scaled_dot_product_attention(q, self._around(k), self._around(v), attn_mask=seen, scale=1.0)
        return o.flatten(1, 2)[:, :T].unflatten(0, (B, h))

    def _around(self, x: Tensor) -> Tensor:
        """(Bh,n,c,d) -> (Bh,n,2c,d), each chunk after the one before it; if not causal (Bh,n,3c,d), the next as well."""
        parts = [F.pad(x, (0, 0, 0, 0, 1, 0))[:, :-1], x]
        if not self.causal:
            parts.append(F.pad(x, (0, 0, 0, 0, 0, 1))[:, 1:])
        return torch.cat(parts, 2)

    def _seen(self, n: int, c: int, T: int, device: torch.device) -> Tensor:
        """(n, c, 2c or 3c): which keys around which query; every query sees some, as no chunk begins beyond T."""
        query = torch.arange(n * c, device=device).view(n, c, 1)
        key = (query[:, :1] - c) + torch.arange(c * (2 if self.causal else 3), device=device)  # (n, 1, 2c or 3c)
        seen = (key >= 0) & (key < T)
        return seen & (key <= query) if self.causal else seen.expand(-1, c, -1)


class CausalAttention(Attention):
    """Softmax attention without positions, (B,T,D) -> (B,T,D), the heads side by side, for paper 003 (Irie et al. 2023).

    Weights start as in torch's attention.  The paper's released row is torch's ``nn.TransformerEncoderLayer``: a
    :class:`lrnnlab.models.block.Block` with ``place="post"`` around this layer gives the same numbers.

    >>> CausalAttention(8, heads=2)(torch.zeros(3, 7, 8)).shape
    torch.Size([3, 7, 8])
    """

    def __init__(self, width: int, *, heads: int = 2):
        super().__init__(heads, head_size(width, heads))
        self.slow = nn.Linear(width, 3 * width)
        nn.init.xavier_uniform_(self.slow.weight)
        nn.init.zeros_(self.slow.bias)

    def project(self, z: Tensor, start: int) -> tuple[Tensor, Tensor, Tensor]:
        q, k, v = (split_heads(part, self.heads) for part in self.slow(z).chunk(3, -1))
        return q, k, v


# --- Transformers of paper 002: one layer, four relative positions -----------------------------------------------------
#     xl       (q + u) k + (q + v) W_r R_(m-n)            Transformer-XL (Dai et al. 2019); Tables 1 and 2
#     kerple   q k - r_1 log(1 + r_2 (m-n))               KERPLE, log (Chi et al. 2022); Table 3
#     t5       q k + b_bucket(m-n)                        T5 (Raffel et al. 2020); Table 3
#     alibi    q k - 2^(-8 i/h) (m-n), head i             ALiBi (Press et al. 2022); Table 3
#
# ``xl`` is an encoder, as in the code that paper 002 builds on (Deletang et al. 2023): every position sees all, one
# answer at the last.  The others are causal and answer at every position.  Scores without biases are divided by sqrt(d).
#
#     post_norm   a = LN(h + attention(h))     out = LN(a + W2 relu(W1 a))     the released code (Deletang et al. 2023)
#     gpt2        a = h + attention(LN(h))     out = a + W2 gelu(W1 LN(a))     the text: "all the other details of GPT2"
#
# Weights start as in the released code, in both blocks.


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
        """h (...,S,D) -> (...,S,D); ``seen`` goes to ``attend``."""
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
    """The norm before the readout: a LayerNorm in GPT-2, none after a post-norm block."""
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
    ``kerple`` and ``t5`` learn one bias for all layers, as their papers say; the code for Table 3 is not released.

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
        layers: int = 5,  # as in paper 002, each with weights of its own
        position: str = "xl",  # a name in POSITIONS
        block: str = "post_norm",  # a name in BLOCKS
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


# --- who attends to whom in RegularGPT, drawn and run ------------------------------------------------------------------
# Eq. 1: at depth l = 0, 1, ... position m sees n = m - j c^l for j = 0 .. c-1, and adds r_j to the score; nothing else.
# So after depth l it has seen c^(l+1) symbols, and ceil(log_c T) depths see a whole string.
#
# ``dilated_mask`` is that as a T x T matrix, for the eye.  To run it, positions that are equal modulo c^l are put in one
# row, where the c positions seen are neighbours: ``window_attention``, T c scores instead of T^2.  If only the
# last position is asked for, depth l + 1 reads but every c-th position of depth l: ``chunk_attention``, T scores; the
# released code.


NARROW = 8  # chunks up to this one are attended to distance by distance: a matrix product would be mostly zeros
SMALLEST_BLOCK = 32  # queries that window_attention takes together for others, at least: small products are slow


def depth_count(length: int, chunk: int) -> int:
    """max(1, ceil(log_c T)), in whole numbers: the depths that a string of T symbols needs (Sec. 3.2)."""
    whole_number(length, 1, "the length of a string")
    count, reach = 1, whole_number(chunk, 2, "chunk")  # with 1, no depth would ever see more than one symbol
    while reach < length:
        count, reach = count + 1, reach * chunk
    return count


def dilated_mask(length: int, chunk: int, depth: int, r: Tensor | None = None) -> Tensor:
    """Eq. 1 as a matrix (..., T, T): r_j where row m sees column n = m - j c^l, -inf elsewhere.

    ``r`` (..., c) is 0 if not given.
    """
    r = torch.zeros(chunk) if r is None else r
    step, at = min(chunk**depth, length), torch.arange(length, device=r.device)
    gap = at.unsqueeze(1) - at  # m - n
    seen = (gap >= 0) & (gap % step == 0) & (gap < step * chunk)
    return torch.where(seen, r[..., (gap // step).clamp(0, chunk - 1)], -math.inf)


def kept_positions(length: int, chunk: int, depth: int) -> list[int]:
    """The positions that the tree still has after depth l: T-1, T-1-c^(l+1), ..., in rising order."""
    return list(range(length - 1, -1, -(chunk ** (depth + 1))))[::-1]


def chunk_attention(q: Tensor, k: Tensor, v: Tensor, r: Tensor, present: Tensor) -> Tensor:
    """The last position of every chunk attends to its chunk: the released tree, where chunks do not overlap."""
    chunk = r.shape[1]
    k, v = (x.unflatten(-2, (-1, chunk)) for x in (k, v))  # (B,s,h,S/c,c,d)
    # One query per chunk: T d multiplications, too few to be worth a matrix product.
    scores = (q.unsqueeze(-2) * k).sum(-1) * q.shape[-1] ** -0.5 + r.flip(1).unsqueeze(1)  # the last key is r_0
    seen = present.unflatten(1, (-1, chunk)).unsqueeze(1)  # (s,1,S/c,c)
    weights = scores.masked_fill(~seen, -math.inf).softmax(-1)
    return (weights.unsqueeze(-1) * v).sum(-2)


def window_attention(q: Tensor, k: Tensor, v: Tensor, r: Tensor, present: Tensor) -> Tensor:
    """Every position attends to itself and the c - 1 before it."""
    window = min(r.shape[1], q.shape[-2])
    attend = _by_distance if window <= NARROW else _in_blocks
    return attend(q * q.shape[-1] ** -0.5, k, v, r[:, :window], present)


def _by_distance(q: Tensor, k: Tensor, v: Tensor, r: Tensor, present: Tensor) -> Tensor:
    """``window_attention`` for short windows: all pairs of one distance at a time."""
    S, window = q.shape[-2], r.shape[1]

    def shifted(x: Tensor, dim: int) -> list[Tensor]:
        """x 0, 1, ... positions earlier."""
        fill = [0, 0] * (-1 - dim) + [window - 1, 0]
        return [F.pad(x, fill).narrow(dim, window - 1 - j, S) for j in range(window)]

    scores = torch.stack([(q * key).sum(-1) for key in shifted(k, -2)], -1) + r.unsqueeze(1)  # (B,s,h,S,c)
    seen = torch.stack([torch.ones_like(present), *shifted(present, -1)[1:]], -1).unsqueeze(1)  # (s,1,S,c)
    weights = scores.masked_fill(~seen, -math.inf).softmax(-1)
    return reduce(torch.add, (weight.unsqueeze(-1) * value for weight, value in zip(weights.unbind(-1), shifted(v, -2))))


def _in_blocks(q: Tensor, k: Tensor, v: Tensor, r: Tensor, present: Tensor) -> Tensor:
    """``window_attention`` for long windows: blocks of a queries, each on the a + c - 1 keys that it may see."""
    S, window = q.shape[-2], r.shape[1]
    block = min(S, max(window, SMALLEST_BLOCK))
    around, fill = block + window - 1, -S % block
    q = F.pad(q, (0, 0, 0, fill)).unflatten(-2, (-1, block))  # (B,s,h,S/a,a,d)
    k, v = (F.pad(x, (0, 0, window - 1, fill)).unfold(-2, around, block) for x in (k, v))  # (B,s,h,S/a,d,a+c-1)
    bias = _window_bias(r, F.pad(present, (window - 1, fill)).unfold(-1, around, block), block, window)
    weights = (q @ k + bias).softmax(-1)
    return (weights @ v.mT).flatten(-3, -2)[..., :S, :]


def _window_bias(r: Tensor, present: Tensor, block: int, window: int) -> Tensor:
    """r (h,c), present (s,S/a,a+c-1) -> (s,h,S/a,a,a+c-1): r_j where a query of a block sees that key, else -inf."""
    row = torch.arange(block, device=r.device).unsqueeze(1)
    back = row + window - 1 - torch.arange(present.shape[-1], device=r.device)  # how far the key is before the query
    seen = (back >= 0) & (back < window) & (present.unsqueeze(-2) | (back == 0))  # (s,S/a,a,a+c-1)
    return torch.where(seen.unsqueeze(1), r[:, back.clamp(0, window - 1)].unsqueeze(1), -math.inf)


# --- RegularGPT, a Transformer whose depth grows with the string -------------------------------------------------------
# One layer (or K of them, the "thickness") is used again at every depth l = 0, 1, ...; there, position m attends to
# m - j c^l, j = 0 .. c-1, and ceil(log_c T) depths see the whole string.  Two forms of the same weights:
#
#     tree    the released code: from depth to depth only the last position of every chunk of c is kept, the string is
#             filled up from the left with a learned vector; one answer, at the last position
#     masks   the text (Sec. 3.1, Eq. 1): every position at every depth, through a dilated mask, keys before the start
#             masked; an answer at every position
#
# In training each of the few different chunks of the lowest depths is computed once (``by_table``).
#
# With the same padding both give the last position the same numbers.  In the form of masks the answer at position m looks
# at nothing after m, but takes as many depths as the whole string needs; what the tree says of the prefix that ends at m
# is in ``hidden`` at the depth where that prefix would be done (for ``padding="masked"``).


PADDING = {"tree": "learned", "masks": "masked"}  # as the code does, as the text says


class WindowLayer(TransformerLayer):
    """One layer: h (B,s,S,D), present (s,S) -> (B,s,S,D); a position sees itself and the c - 1 before it in its class.

    ``r`` (h,c), normal with deviation 0.02 at the start, is added to the scores, not scaled.
    """

    def __init__(self, width: int, heads: int, chunk: int, block: str):
        super().__init__(width, heads, block)
        self.r = nn.Parameter(0.02 * torch.randn(heads, chunk))

    def attend(self, q: Tensor, k: Tensor, v: Tensor, present: Tensor) -> Tensor:
        return window_attention(q, k, v, self.r, present)

    def at_chunk_ends(self, h: Tensor, present: Tensor) -> Tensor:
        """The same at every c-th position only, (B,s,S/c,D); S is a multiple of c."""
        ends, z = slice(self.r.shape[1] - 1, None, self.r.shape[1]), self.block.before(h)
        o = chunk_attention(*self.project(z[..., ends, :], z), self.r, present)
        return self.block.after(h[..., ends, :], self.O(merge_heads(o)))


@checked
class RegularGPT(Module):
    """``model(tokens (B,T))`` -> logits (B,C) at the last position (``form="tree"``) or (B,T,C) (``form="masks"``).
    ``padding`` is what comes before the first symbol where a chunk is not full: ``"learned"``, one learned vector, raw again
    at every depth, or ``"masked"``, nothing; if not given, learned in the tree and masked with masks.  Learned padding in
    the form of masks fills every class to a multiple of c: slow where c^2 is above T.

    >>> model = RegularGPT(2, 2, width=16, heads=4)
    >>> tokens = torch.randint(2, (3, 11))
    >>> model(tokens).shape, [tuple(h.shape) for h in model.hidden(tokens)]
    (torch.Size([3, 2]), [(3, 6, 16), (3, 3, 16), (3, 2, 16), (3, 1, 16)])
    >>> model.form = "masks"
    >>> model(tokens).shape
    torch.Size([3, 11, 2])
    """

    layers: Any

    def __init__(
        self,
        vocab_size: int,
        classes: int,
        *,
        chunk: int = 2,  # c, at least 2
        width: int = 64,
        heads: int = 8,
        thickness: int = 1,  # K layers per depth; in the tree they slide over all positions before it is thinned out
        form: str = "tree",  # or "masks"; may be changed on a finished model
        padding: str | None = None,
        block: str = "post_norm",  # as released; "gpt2", as in the text
    ):
        super().__init__()
        whole_number(chunk, 2, "chunk")
        self.form = form
        padding = PADDING[form] if padding is None else padding
        among("padding", padding, PADDING.values())
        check_sizes(classes=classes)
        self.chunk, self.padding = chunk, padding
        self.embedding = Symbols(vocab_size, width)
        self.pad = nn.Parameter(0.02 * torch.randn(width))
        self.layers = nn.ModuleList(layers_of(thickness, lambda _: WindowLayer(width, heads, chunk, block)))
        self.norm = final_norm(block, width)
        self.head = linear(width, classes)

    @property
    def form(self) -> str:
        """``"tree"`` or ``"masks"``: how the weights run."""
        return self._form

    @form.setter
    def form(self, form: str) -> None:
        among("form", form, PADDING)
        self._form = form

    def forward(self, tokens: Tensor) -> Tensor:
        # A hook on the embedding wants to see every position, not every symbol.
        tables = self.padding == PADDING[self.form] and self.training and not self.embedding._forward_hooks
        tables = tables and not within_func()  # how many different chunks there are depends on the tokens
        logits = self.head(self.norm(self.by_table(tokens) if tables else self.hidden(tokens)[-1]))
        return logits.squeeze(1) if self.form == "tree" else logits

    def hidden(self, tokens: Tensor) -> list[Tensor]:
        """What comes out of every depth, o^(l) of Sec. 3.1 and Fig. 3: (B,T,D) each, in the tree (B,ceil(T/c^(l+1)),D).

        The tree's are those at :func:`lrnnlab.models.layers.attention.kept_positions`.  They are the outputs of the whole
        block, after its last norm, as in the released plots.
        """
        h, outputs = self.embedding(tokens), []
        for depth in range(depth_count(tokens.shape[1], self.chunk)):
            h = self._shrink(h) if self.form == "tree" else self._dilate(h, self.chunk**depth)
            outputs.append(h)
        return outputs

    def by_table(self, tokens: Tensor) -> Tensor:
        """The last of ``hidden``, where padding is that of the form; the same numbers, but for their rounding.

        At a depth the different chunks of the batch are computed once each and looked up, until more than half of them
        differ, or their numbers take more than 63 bits.  Of 64 strings of 40 symbols, Modular Arithmetic has in the tree
        15 different ones among 1280 at depth 0 (half of all work) and at most 225 among 640 at depth 1.
        """
        check_strings(tokens, self.embedding.vocab_size, self.embedding.weight)
        depths, done = depth_count(tokens.shape[1], self.chunk), 0
        codes, table = tokens, self.embedding.weight[:-1] * self.embedding.weight.shape[1] ** 0.5  # (B,S), (N,D)
        while (done < depths and len(self.layers) == 1
               and (len(table) + 1) ** self.chunk <= 1 << 63):  # every chunk has a number of its own  # fmt: skip
            places = (len(table) + 1) ** torch.arange(self.chunk, device=tokens.device)
            numbers = (self._chunks(codes, len(table), self.chunk**done) * places).sum(-1)
            numbers, found = numbers.unique(return_inverse=True)  # (N'), and where they are, (B,S/c) or (B,S)
            if 2 * len(numbers) > found.numel():
                break
            chunks = numbers.unsqueeze(1) // places % (len(table) + 1)  # (N',c)
            seen = (chunks < len(table)) | (self.padding == "learned")
            h = torch.cat([table, self.pad.unsqueeze(0)])[chunks].unsqueeze(0)  # (1,N',c,D)
            table = self.layers[0].at_chunk_ends(h, seen).flatten(0, 2)  # (N',D)
            codes = found
            done += 1
        h = F.embedding(codes, torch.cat([table, self.pad.unsqueeze(0)]))
        for depth in range(done, depths):
            h = self._shrink(h) if self.form == "tree" else self._dilate(h, self.chunk**depth)
        return h

    def _chunks(self, codes: Tensor, absent: int, step: int) -> Tensor:
        """The c symbols that each position sees, itself last, ``absent`` before the start; (B,S) -> (B,S,c), tree (B,S/c,c)."""
        if self.form == "tree":
            return F.pad(codes, (-codes.shape[1] % self.chunk, 0), value=absent).unflatten(1, (-1, self.chunk))
        before = F.pad(codes, (step * (self.chunk - 1), 0), value=absent)
        return torch.stack([before[:, step * k :][:, : codes.shape[1]] for k in range(self.chunk)], -1)

    def _shrink(self, h: Tensor) -> Tensor:
        """One depth of the tree: (B,S,D) -> (B,ceil(S/c),D)."""
        h, present = self._fill(h, self.chunk)
        h, present = h.unsqueeze(1), present.unsqueeze(0)  # one class
        *before, last = self.layers
        for layer in before:
            h = layer(h, present)
        return last.at_chunk_ends(h, present).squeeze(1)

    def _dilate(self, h: Tensor, step: int) -> Tensor:
        """One depth at every position: (B,T,D) -> (B,T,D); step is c^l."""
        T = h.shape[1]
        h, present = self._fill(h, step * self.chunk if self.padding == "learned" else step)
        h = h.unflatten(1, (-1, step)).transpose(1, 2)  # (B,s,S,D): every step-th position in one row
        present = present.unflatten(0, (-1, step)).T  # (s,S)
        for layer in self.layers:
            h = layer(h, present)
        return h.transpose(1, 2).flatten(1, 2)[:, -T:]

    def _fill(self, h: Tensor, multiple: int) -> tuple[Tensor, Tensor]:
        """h (B,T,D) after pad vectors, so that ``multiple`` divides its length; and which positions are to be seen."""
        B, T, D = h.shape
        missing = -T % multiple
        positions = torch.arange(missing + T, device=h.device)
        present = positions >= (missing if self.padding == "masked" else 0)
        return torch.cat([self.pad.expand(B, missing, D), h], 1), present


# --- the RNN of paper 002 (Table 1): h_t = relu(W x_t + U h_{t-1} + b) -------------------------------------------------
# As in the code it builds on (Deletang et al. 2023): one-hot inputs, h_0 = 0, one answer from h_T.  That code has a ReLU
# between h_T and the readout as well, which does nothing to a state that is not negative.


@checked
class ReluRNN(Module):
    """``model(tokens (B,T))`` -> logits (B,C) at the last position, as the paper asks, or with ``every`` (B,T,C).

    ``step`` gives the same one token at a time.  Weights start normal, cut at two deviations of (inputs)^-1/2, biases
    at 0.
    The one-hot input has a column more that no symbol uses, which counts in the paper's number of parameters.

    >>> model = ReluRNN(2, 5, width=8)
    >>> model(torch.tensor([[0, 1, 1], [1, 0, 0]])).shape
    torch.Size([2, 5])
    >>> state, logits = model.step(model.initial_state(2), torch.tensor([0, 1]))
    """

    def __init__(self, vocab_size: int, classes: int, *, width: int = 256, every: bool = False):
        super().__init__()
        check_sizes(vocab_size=vocab_size, classes=classes, width=width)
        self.vocab_size, self.every = vocab_size, every
        self.network = nn.RNN(vocab_size + 1, width, nonlinearity="relu", batch_first=True)
        for name, weight in self.network.named_parameters():
            if name.startswith("weight"):
                cut_normal_(weight.data, weight.shape[1] ** -0.5)
            else:
                nn.init.zeros_(weight)
        self.head = linear(width, classes)

    def states(self, tokens: Tensor) -> Tensor:
        """h_1 ... h_T, (B,T,D)."""
        return run(self.network, self._one_hot(tokens))[0]

    def forward(self, tokens: Tensor) -> Tensor:
        states = self.states(tokens)
        return self.head(states if self.every else states[:, -1])

    def initial_state(self, batch: int) -> Tensor:
        """h_0 = 0, (B,D)."""
        return self.head.weight.new_zeros(whole_number(batch, 0, "the batch"), self.network.hidden_size)

    def step(self, state: Tensor, tokens_t: Tensor) -> tuple[Tensor, Tensor]:
        """(h_{t-1} (B,D), tokens_t (B,)) -> (h_t, logits (B,C) of the string so far)."""
        check_tokens(tokens_t, self.vocab_size, "(B,)", self.head.weight)
        check_numbers("state", state, self.head.weight)
        if state.shape[:-1] != tokens_t.shape:
            raise ValueError(f"state must be {(len(tokens_t), self.network.hidden_size)}, got {tuple(state.shape)}")
        _, state = run(self.network, self._one_hot(tokens_t.unsqueeze(-1)), state.unsqueeze(0))
        return state[0], self.head(state[0])

    def _one_hot(self, tokens: Tensor) -> Tensor:
        """(B,T) -> (B,T,V+1)."""
        check_strings(tokens, self.vocab_size, self.head.weight)
        symbols = torch.arange(self.vocab_size + 1, device=tokens.device)
        return (tokens.unsqueeze(-1) == symbols).to(self.head.weight.dtype)  # F.one_hot looks at values
