"""What all models share: the stack of layers around a recurrence, its step form, and the linear recurrence itself.

    tokens -> embedding -> [LayerNorm -> recurrence (+ residual)] x layers -> LayerNorm -> readout -> logits

as in the code released with paper 000 (Fan, Chi, Rudnicky 2024): the residual stands around every layer but the
last, so a one-layer model has none.  The first layer sees nothing but the token, so whatever it computes from its
input is computed once per *symbol* and looked up.

Letters: B batch, T time, V vocabulary, C classes, D model width, h blocks, n block size (the paper's b);
u embedded input, z normalised input of a layer, A transition, b input term, x state.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from lrnnlab.scans import linear_scan, token_scan


class Recurrence(nn.Module):
    """One layer's recurrence: inputs z (B,T,D) -> states (B,T,D), with a step form that gives the same numbers."""

    @abstractmethod
    def initial(self, batch: int):
        """The state before the first token."""

    @abstractmethod
    def forward(self, z: Tensor, tokens: Tensor | None = None) -> tuple[Tensor | None, Tensor]:
        """(transitions, states (B,T,D)) for inputs z (B,T,D); or, with tokens (B,T), for inputs z[tokens], z (V,D).

        The transitions are the A_t of the given z (one per row of it), None where there is no such matrix.
        """

    @abstractmethod
    def step(self, state, z_t: Tensor) -> tuple[object, Tensor]:
        """One token: (state, z_t (B,D)) -> (state, output (B,D))."""


class LinearRecurrence(Recurrence):
    """x_t = A_t x_{t-1} + b_t where (A_t, b_t) = ``transition(z_t)``: subclasses say only what A and b are.

    ``backend`` names the scan (see :mod:`lrnnlab.scans`); setting it on a layer changes how it runs, not what it gives.
    """

    backend = "auto"

    @abstractmethod
    def transition(self, z: Tensor) -> tuple[Tensor, Tensor]:
        """z (..., D) -> A (..., h, n, n) and b (..., h, n), or both (..., D) for diagonal transitions."""

    def forward(self, z: Tensor, tokens: Tensor | None = None) -> tuple[Tensor, Tensor]:
        A, b = self.transition(z)
        if tokens is None:
            x = linear_scan(A, b, self.initial(len(z)), backend=self.backend)
        else:
            x = token_scan(A, b, tokens, self.initial(len(tokens)), backend=self.backend)
        return A, x.flatten(2)  # (B,T,h,n) -> (B,T,hn)

    def step(self, state: Tensor, z_t: Tensor) -> tuple[Tensor, Tensor]:
        A, b = self.transition(z_t)
        moved = (A @ state.unsqueeze(-1)).squeeze(-1) if A.ndim == b.ndim + 1 else A * state
        state = moved + b
        return state, state.flatten(1)


@dataclass(frozen=True)
class Trace:
    """What happened in one pass: per layer the states (B,T,D) and the transitions A.

    Layer 1's transitions are one per *symbol* (V,h,n,n), the others' one per position (B,T,h,n,n); None where the
    layer has no transition matrix.
    """

    states: list[Tensor]
    transitions: list[Tensor | None]


class SequenceModel(nn.Module):
    """``model(tokens (B,T)) -> logits (B,T,C)``, causal, at any length; ``step`` gives the same one token at a time.

    Parameters
    ----------
    vocab_size, classes : V and C.    width : D.
    layers : the recurrences, first to last.
    head : ``"mlp"`` (Linear, ReLU, Linear as released) or ``"linear"``.

    >>> import torch
    >>> from lrnnlab.models import build
    >>> model = build("block_diagonal", vocab_size=5, classes=5, seed=0)
    >>> model(torch.zeros(2, 7, dtype=torch.int64)).shape
    torch.Size([2, 7, 5])
    >>> state = model.initial_state(2)
    >>> state, logits = model.step(state, torch.tensor([0, 3]))
    """

    def __init__(self, vocab_size: int, classes: int, width: int, layers: list[Recurrence], head: str = "mlp"):
        super().__init__()
        if head not in ("mlp", "linear"):
            raise ValueError(f"head is 'mlp' or 'linear', got {head!r}")
        if not layers:
            raise ValueError("a model needs at least one layer, got 0")
        self.vocab_size, self.classes, self.width = vocab_size, classes, width
        self.embedding = nn.Embedding(vocab_size, width)
        self.layers = nn.ModuleList(layers)
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in layers)
        self.final_norm = nn.LayerNorm(width)
        hidden = [nn.Linear(width, width), nn.ReLU()] if head == "mlp" else []
        self.head = nn.Sequential(*hidden, nn.Linear(width, classes))

    def symbol_inputs(self) -> Tensor:
        """(V, D): what the first layer sees of each symbol."""
        return self.norms[0](self.embedding.weight)

    def trace(self, tokens: Tensor) -> Trace:
        """States and transitions of every layer for tokens (B, T)."""
        check_tokens(tokens, self.vocab_size)
        transitions, states = self.layers[0](self.symbol_inputs(), tokens)
        trace = Trace([states], [transitions])
        stream = self.embedding(tokens) if len(self.layers) > 1 else None
        for norm, layer in zip(self.norms[1:], self.layers[1:]):
            stream = stream + trace.states[-1]
            transitions, states = layer(norm(stream))
            trace.states.append(states)
            trace.transitions.append(transitions)
        return trace

    def states(self, tokens: Tensor) -> Tensor:
        """The last layer's states x_1 ... x_T, (B, T, D)."""
        return self.trace(tokens).states[-1]

    def readout(self, states: Tensor) -> Tensor:
        """h of y_t = h(x_t): states (..., D) -> logits (..., C)."""
        return self.head(self.final_norm(states))

    def forward(self, tokens: Tensor) -> Tensor:
        return self.readout(self.states(tokens))

    def initial_state(self, batch: int) -> list:
        """The states of all layers before the first token."""
        return [layer.initial(batch) for layer in self.layers]

    def step(self, state: list, tokens_t: Tensor) -> tuple[list, Tensor]:
        """(state, tokens_t (B,)) -> (state, logits (B, C))."""
        check_tokens(tokens_t, self.vocab_size)
        stream, after = self.embedding(tokens_t), []
        for i, (norm, layer, before) in enumerate(zip(self.norms, self.layers, state)):
            stream = stream + out if i else stream  # noqa: F821  (out is the layer below)
            new, out = layer.step(before, norm(stream))
            after.append(new)
        return after, self.readout(out)


def check_tokens(tokens: Tensor, vocab_size: int) -> None:
    """ValueError, showing the token, unless all are in 0..V-1.

    >>> check_tokens(torch.tensor([0, 2]), 2)
    Traceback (most recent call last):
    ValueError: token 2 is outside this model's vocabulary 0..1
    """
    low, high = (int(v) for v in tokens.aminmax()) if tokens.numel() else (0, 0)
    if low < 0 or high >= vocab_size:
        raise ValueError(f"token {low if low < 0 else high} is outside this model's vocabulary 0..{vocab_size - 1}")


def check_strings(tokens: Tensor, vocab_size: int) -> None:
    """ValueError unless tokens are (B,T) integers in 0..V-1 with T > 0: for models that read whole strings.

    >>> check_strings(torch.zeros(2, 0, dtype=torch.int64), 2)
    Traceback (most recent call last):
    ValueError: tokens must be (B, T) integers with T > 0, got (2, 0) of torch.int64
    """
    if tokens.ndim != 2 or tokens.dtype not in (torch.int64, torch.int32) or not tokens.shape[1]:
        raise ValueError(f"tokens must be (B, T) integers with T > 0, got {tuple(tokens.shape)} of {tokens.dtype}")
    check_tokens(tokens, vocab_size)


def stack(
    layer: type[Recurrence],
    vocab_size: int,
    classes: int,
    *,
    width: int = 64,
    layers: int = 1,
    head: str = "mlp",
    **options,
) -> SequenceModel:
    """``layers`` recurrences of one kind, ``layer(width, **options)`` each, in a :class:`SequenceModel`.

    >>> from lrnnlab.models import Vanilla
    >>> stack(Vanilla, 5, 2, width=8, layers=3, start="zero").width
    8
    """
    if width < 1:
        raise ValueError(f"width is at least 1, got {width}")
    return SequenceModel(vocab_size, classes, width, [layer(width, **options) for _ in range(layers)], head)
