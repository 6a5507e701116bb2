"""The attention layers that paper 004 (Gupta, Mehta, Berant 2022, Sec. 3.3-3.4) compares DLR with; paper 003's last.

    RotaryAttention   every position attends to all before it (or to all)
    LocalAttention    to its own chunk and the chunk before (and after)
    CausalAttention   to itself and all before it, without positions: the Transformer that paper 003 starts from

A layer of paper 004 gives u + GELU(attention(u)); the block around it adds the linear map alone.  So the skip stands
outside the GELU, where DLR has it inside (released code; the paper says DLR was "simply replaced").

Letters: B batch, T time, D width, h heads, d size of a head, c chunk; z input of the layer (u), y output; q, k, v
queries, keys and values.
"""

from __future__ import annotations

from abc import abstractmethod

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from lrnnlab.models.base import Module, Recurrence, check_sizes
from lrnnlab.models.feature_maps import head_size as size_of_heads
from lrnnlab.validation import whole_number


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

    Parameters
    ----------
    width, heads, head_size : int
        D; h, 4 in the paper; and d, the channels of a head, even, 32 in the paper.
    causal : bool
        True: a position attends to itself and what lies before; False: to all (no step form then).
    ff : int
        Hidden channels of two residual feed-forward layers behind the attention ("Attention + 2xFF", Table 6; 2048
        matches its 1.1M parameters), 0 for none.
    bare : bool
        True: the layer gives the attention alone, as in a Transformer, without the sum and the GELU (Table 5).

    Examples
    --------
    >>> RotaryAttention(8, heads=2, head_size=4)(torch.zeros(3, 7, 8)).shape
    torch.Size([3, 7, 8])
    """

    scale = 1.0  # the temperature is in q

    def __init__(
        self, width: int, *, heads: int = 4, head_size: int = 32, causal: bool = True, ff: int = 0, bare: bool = False
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

    Parameters
    ----------
    width, heads, head_size, causal, ff
        As for :class:`RotaryAttention`.
    chunk : int
        c; 1024 in the paper (4096 for images, Sec. 3.4).

    Examples
    --------
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
        """(Bh,n,c,d) -> (Bh,n,2c,d), each chunk behind the one before; if not causal (Bh,n,3c,d), the next as well."""
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
        super().__init__(heads, size_of_heads(width, heads))
        self.slow = nn.Linear(width, 3 * width)
        nn.init.xavier_uniform_(self.slow.weight)
        nn.init.zeros_(self.slow.bias)

    def project(self, z: Tensor, start: int) -> tuple[Tensor, Tensor, Tensor]:
        q, k, v = (split_heads(part, self.heads) for part in self.slow(z).chunk(3, -1))
        return q, k, v
