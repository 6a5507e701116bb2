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
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from lrnnlab.errors import checked, shown, whole_number
from lrnnlab.scans import linear_scan, token_scan

DEEPEST = 1000  # layers


class Recurrence(nn.Module):
    """One layer's recurrence: inputs z (B,T,D) -> states (B,T,D), with a step form that gives the same numbers.

    A subclass's options are checked by their annotations (:func:`lrnnlab.errors.checked`).
    """

    _start = None  # (B, what the last state that was checked had to be like)

    def __init_subclass__(cls, **options):
        super().__init_subclass__(**options)
        if "__init__" in vars(cls):
            checked(cls)

    def _apply(self, *args, **options):
        self._start = None  # from now on another type, or device
        return super()._apply(*args, **options)

    def check_state(self, state, batch: int) -> None:
        """ValueError unless ``state`` is made as ``initial(batch)`` is: so many tensors of these shapes and types.

        An axis that is empty at the start may grow.
        """
        if self._start is None or self._start[0] != batch or not _alike(state, self._start[1]):
            with torch.no_grad():
                self._start = batch, self.initial(batch)
            if not _alike(state, self._start[1]):
                wanted = f"{type(self).__name__}.initial({batch}) is, {shown(self._start[1])}"
                raise ValueError(f"state must be as {wanted}, got {shown(state)}")

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

    @checked
    def __init__(self, vocab_size: int, classes: int, width: int, layers: list[Recurrence], head: str = "mlp"):
        super().__init__()
        if head not in ("mlp", "linear"):
            raise ValueError(f"head is 'mlp' or 'linear', got {head!r}")
        check_sizes(vocab_size=vocab_size, classes=classes, width=width, layers=len(layers))
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
        check_tokens(tokens, self.vocab_size, like=self.embedding.weight)
        return self._trace(tokens)

    def _trace(self, tokens: Tensor) -> Trace:
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
        check_numbers("states", states, next(self.head.parameters()))
        return self.head(self.final_norm(states))

    def forward(self, tokens: Tensor) -> Tensor:
        return self.readout(self.states(tokens))

    def initial_state(self, batch: int) -> list:
        """The states of all layers before the first token."""
        batch = whole_number(batch, 0, "the batch")
        return [layer.initial(batch) for layer in self.layers]

    def step(self, state: list, tokens_t: Tensor) -> tuple[list, Tensor]:
        """(state, tokens_t (B,)) -> (state, logits (B, C)); ValueError unless each layer has a state that fits it."""
        check_tokens(tokens_t, self.vocab_size, "(B,)", like=self.embedding.weight)
        if not isinstance(state, (list, tuple)) or len(state) != len(self.layers):
            raise ValueError(f"state must be a list of {len(self.layers)}, one a layer, got {shown(state)}")
        for layer, before in zip(self.layers, state):
            layer.check_state(before, len(tokens_t))
        return self._step(state, tokens_t)

    def _step(self, state: list, tokens_t: Tensor) -> tuple[list, Tensor]:
        stream, after = self.embedding(tokens_t), []
        for i, (norm, layer, before) in enumerate(zip(self.norms, self.layers, state)):
            stream = stream + out if i else stream  # noqa: F821  (out is the layer below)
            new, out = layer.step(before, norm(stream))
            after.append(new)
        return after, self.readout(out)


def _alike(state, start) -> bool:
    """Whether a state is made as the first one is; an axis that is empty there may grow."""
    if isinstance(start, Tensor):
        return (
            isinstance(state, Tensor)
            and state.layout is torch.strided
            and state.ndim == start.ndim
            and all(n == m or not m for n, m in zip(state.shape, start.shape))
            and state.device == start.device
            and (state.dtype == start.dtype or torch.is_autocast_enabled(state.device.type))
        )
    if isinstance(start, (tuple, list)):
        fits = isinstance(state, (tuple, list)) and len(state) == len(start)
        return fits and all(_alike(part, wanted) for part, wanted in zip(state, start))
    return type(state) is type(start)


def check_tokens(tokens: Tensor, vocab_size: int, axes: str = "(B, T)", like: Tensor | None = None) -> None:
    """ValueError, showing the token, unless all are in 0..V-1: integers of these axes, where the weights ``like`` lie.

    >>> check_tokens(torch.tensor([[0, 2]]), 2)
    Traceback (most recent call last):
    ValueError: token 2 is outside this model's vocabulary 0..1
    """
    if not isinstance(tokens, Tensor) or tokens.layout is not torch.strided:
        raise TypeError(f"tokens must be a dense torch.Tensor {axes} of integers, got {shown(tokens)}")
    if tokens.ndim != len(axes.strip("(,)").split(", ")) or tokens.dtype not in (torch.int64, torch.int32):
        raise ValueError(f"tokens must be {axes} integers, got {tuple(tokens.shape)} of {tokens.dtype}")
    if like is not None and tokens.device != like.device:
        raise ValueError(f"tokens lie on {tokens.device}, the weights on {like.device}")
    low, high = (int(v) for v in tokens.aminmax()) if tokens.numel() else (0, 0)
    if low < 0 or high >= vocab_size:
        raise ValueError(f"token {low if low < 0 else high} is outside this model's vocabulary 0..{vocab_size - 1}")


def check_strings(tokens: Tensor, vocab_size: int, like: Tensor) -> None:
    """The same for models that read whole strings, T > 0.

    >>> check_strings(torch.zeros(2, 0, dtype=torch.int64), 2, torch.zeros(1))
    Traceback (most recent call last):
    ValueError: tokens must be (B, T) integers with T > 0, got (2, 0) of torch.int64
    """
    check_tokens(tokens, vocab_size, like=like)
    if not tokens.shape[1]:
        raise ValueError(f"tokens must be (B, T) integers with T > 0, got {tuple(tokens.shape)} of {tokens.dtype}")


def check_numbers(name: str, x: Tensor, weight: Tensor) -> None:
    """TypeError or ValueError unless x is (..., D), to be multiplied with a weight (., D), of its type and device."""
    if not isinstance(x, Tensor) or x.layout is not torch.strided:
        raise TypeError(f"{name} must be a dense torch.Tensor, got {shown(x)}")
    cast = torch.is_autocast_enabled(weight.device.type)
    if x.shape[-1:] != weight.shape[1:] or x.device != weight.device or not (x.dtype == weight.dtype or cast):
        wanted = f"(..., {weight.shape[1]}) of {weight.dtype} on {weight.device}"
        raise ValueError(f"{name} must be {wanted}, got {shown(x)}")


def check_sizes(**sizes: int) -> None:
    """ValueError unless all are whole numbers, at least 1."""
    for name, size in sizes.items():
        whole_number(size, 1, name)


def layers_of(count: int, make: Callable[[int], nn.Module]) -> list:
    """``[make(0), make(1), ...]``, ``count`` of them; ValueError unless that is 1 to 1000.

    >>> layers_of(10**18, lambda i: nn.Identity())
    Traceback (most recent call last):
    ValueError: layers must be a whole number, at least 1 and at most 1000, got 1000000000000000000
    """
    return [make(i) for i in range(whole_number(count, 1, "layers", DEEPEST))]


@checked
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
    check_sizes(width=width)
    return SequenceModel(vocab_size, classes, width, layers_of(layers, lambda _: layer(width, **options)), head)
