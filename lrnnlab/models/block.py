"""A block: a mixer with a norm, a gate, a sum and a feed-forward part.

A *mixer* is a recurrence (or attention): ``mixer(z (B,T,D)) -> y (B,T,D)``, in one of three blocks,
which differ in where the norm is:

    PreNorm      a = x + gate(mixer(norm(x)))      out = a + ff(norm(a))     papers 000 and 001; ULT, DeltaNet; GPT-2
    PostNorm     a = norm(x + gate(mixer(x)))      out = norm(a + ff(a))     papers 002 and 004; the softmax Transformer
    SkipNorm     a = norm(x) + gate(mixer(x))      out = a + ff(norm(a))     SRWM

Letters: B batch, T time, D width; x stream, z what the mixer sees, y what it gives, A transition.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from lrnnlab.models.base import Module, check_sizes
from lrnnlab.scans.transforms import within_func
from lrnnlab.validation import among, checked, whole_number

ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "gelu": F.gelu,
    "gelu_tanh": partial(F.gelu, approximate="tanh"),  # what JAX calls gelu
    "relu": F.relu,
    "identity": nn.Identity(),
}
GATES = {  # of a = activation(y): which linear maps a gate has, and what it gives
    "half_glu1": ("gate",),  # a * sigmoid(gate(a))
    "full_glu": ("value", "gate"),  # value(a) * sigmoid(gate(a))
    "linear": ("value",),  # value(a)
    "unbiased": ("value",),  # value(a), without a bias
    "from_zero": ("value",),  # value(a), its bias 0 at the start as in torch's attention
    "none": (),  # a
}
NORMS = ("batch", "layer", "none")
PAPER_001 = {"norm": "batch", "gate": "half_glu1", "activation": "gelu"}  # a block as in the code released with it
PAPER_004 = {"place": "post", "gate": "linear", "activation": "gelu"}


class SharedDropout(Module):
    """Dropout of whole channels: one mask for all positions of a string, x (B,T,D)."""

    def __init__(self, share: float):
        super().__init__()
        if not 0 <= share < 1:
            raise ValueError(f"dropout needs 0 <= dropout < 1, got {share}")
        self.share = share

    def forward(self, x: Tensor) -> Tensor:
        if not self.share or x.ndim == 2:  # a step is no training
            return x
        return x * F.dropout(x.new_ones(len(x), 1, x.shape[-1]), self.share, self.training)


class Gate(Module):
    """From a mixer's output y (...,D) to the sum: see ``GATES``; dropout after each of its halves."""

    def __init__(self, width: int, kind: str, activation: str, dropout: float):
        super().__init__()
        among("gate", kind, GATES)
        among("activation", activation, ACTIVATIONS)
        self.kind, self.activation = kind, activation
        self.dropout = SharedDropout(dropout)
        for name in GATES[kind]:
            setattr(self, name, nn.Linear(width, width, bias=kind != "unbiased"))
        if kind == "from_zero":
            nn.init.zeros_(self.value.bias)

    def forward(self, y: Tensor) -> Tensor:
        drop = self.dropout if self.dropout.share else ACTIVATIONS["identity"]
        a = drop(ACTIVATIONS[self.activation](y))
        if self.kind == "none":
            return a
        value = self.value(a) if "value" in GATES[self.kind] else a
        return drop(value * torch.sigmoid(self.gate(a)) if "gate" in GATES[self.kind] else value)


class FeedForward(Module):
    """Linear to ``times`` the width, an activation, Linear back; ``linear`` makes the maps."""

    def __init__(self, width: int, times: int, activation: str, linear: Callable[[int, int], nn.Linear] = nn.Linear):
        super().__init__()
        among("ff_activation", activation, ACTIVATIONS)
        self.activation = activation
        self.up, self.down = linear(width, times * width), linear(times * width, width)

    def forward(self, a: Tensor) -> Tensor:
        return self.down(ACTIVATIONS[self.activation](self.up(a)))


@checked
class Block(Module):
    """A mixer with a norm, a gate, a sum and a feed-forward part; a subclass places the norm.

    ``mixer`` is None where another module mixes between ``before`` and ``after``.  ``residual=False`` leaves x out of
    the sum.  ``ff`` is the feed-forward part: its width in units of D, 0 for none, or one that is made.
    """

    mixer: Any
    ff: Any
    place: str

    def __init__(
        self,
        mixer: nn.Module | None,
        width: int,
        *,
        norm: str = "layer",
        residual: bool = True,
        gate: str = "none",
        activation: str = "identity",
        dropout: float = 0.0,
        ff: int | FeedForward = 0,
        ff_activation: str = "relu",
    ):
        super().__init__()
        among("norm", norm, NORMS)
        check_sizes(width=width)
        make_norm: Any = {
            "batch": partial(nn.BatchNorm1d, width, momentum=1 - 0.95),  # as released with paper 001
            "layer": partial(nn.LayerNorm, width),
            "none": nn.Identity,
        }[norm]
        self.mixer, self.residual, self.norm = mixer, residual, make_norm()
        self.gate = Gate(width, gate, activation, dropout)
        feeds = isinstance(ff, FeedForward) or whole_number(ff, 0, "ff") > 0
        self.ff_norm = make_norm() if feeds else nn.Identity()
        self.ff = (ff if isinstance(ff, FeedForward) else FeedForward(width, ff, ff_activation)) if feeds else None

    def before(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """What the mixer sees of x (..., D): 0 where the mask is false."""
        return x if mask is None else x.masked_fill(~mask.unsqueeze(-1), 0)

    @abstractmethod
    def after(self, x: Tensor, y: Tensor, mask: Tensor | None = None) -> Tensor:
        """The block's output, from its input and what the mixer made; (..., D)."""

    def forward(self, x: Tensor, mask: Tensor | None = None, tokens: Tensor | None = None) -> Tensor:
        """x (B,T,D) with mask (B,T), true at true positions; or tokens (B,T) and the table x (V,D) that they index."""
        z = self.before(x, mask)
        y = self.mixer(z) if tokens is None else self.mixer(z, tokens)
        if self.residual and tokens is not None:
            x = F.embedding(tokens, x)
        return self.after(x, y, mask)

    def trace(self, x: Tensor, tokens: Tensor | None = None) -> tuple[Tensor | None, Tensor, Tensor]:
        """(transitions A, what the mixer gave y, the block's output)."""
        A, y = self.mixer.trace(self.before(x), tokens)
        if self.residual and tokens is not None:
            x = F.embedding(tokens, x)
        return A, y, self.after(x, y)

    def step(self, state: Any, x_t: Tensor) -> tuple[Any, Tensor]:
        """One position: (state, x_t (B,D)) -> (state, output (B,D))."""
        state, y = self.mixer.step(state, self.before(x_t))
        return state, self.after(x_t, y)


class PreNorm(Block):
    """a = x + gate(mixer(norm(x))),  out = a + ff(norm(a))."""

    place = "pre"

    def before(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        return normalise(self.norm, x, mask)

    def after(self, x: Tensor, y: Tensor, mask: Tensor | None = None) -> Tensor:
        a = x + self.gate(y) if self.residual else self.gate(y)
        return a if self.ff is None else a + self.ff(normalise(self.ff_norm, a, mask))


class PostNorm(Block):
    """a = norm(x + gate(mixer(x))),  out = norm(a + ff(a))."""

    place = "post"

    def after(self, x: Tensor, y: Tensor, mask: Tensor | None = None) -> Tensor:
        a = normalise(self.norm, x + self.gate(y) if self.residual else self.gate(y), mask)
        return a if self.ff is None else normalise(self.ff_norm, a + self.ff(a), mask)


class SkipNorm(Block):
    """a = norm(x) + gate(mixer(x)),  out = a + ff(norm(a))."""

    place = "skip"

    def after(self, x: Tensor, y: Tensor, mask: Tensor | None = None) -> Tensor:
        a = normalise(self.norm, x, mask) + self.gate(y) if self.residual else self.gate(y)
        return a if self.ff is None else a + self.ff(normalise(self.ff_norm, a, mask))


PLACES: dict[str, type[Block]] = {made.place: made for made in (PreNorm, PostNorm, SkipNorm)}


def normalise(norm: nn.Module, x: Tensor, mask: Tensor | None) -> Tensor:
    """Norm of x (..., D), channel by channel; zero where the mask (B,T) is false."""
    if mask is not None and within_func() and not isinstance(norm, nn.BatchNorm1d):
        return norm(x).masked_fill(~mask.unsqueeze(-1), 0)  # how many true positions there are must not change a shape
    if mask is not None:
        return torch.zeros_like(x).masked_scatter(mask.unsqueeze(-1), norm(x[mask]))
    return norm(x.flatten(0, -2)).view_as(x) if isinstance(norm, nn.BatchNorm1d) else norm(x)


# --- the net -----------------------------------------------------------------------------------------------------------
