"""What all layers share: a recurrence and its step form, the linear recurrence, feature maps, and checks of what comes in.

A *mixer* is the part of a block (:mod:`lrnnlab.models.block`) that mixes positions.  Where the first block of a net sees
nothing but the token, its mixer is given one input per *symbol*, and the tokens: what it computes from an input it then
computes once per symbol.

Letters: B batch, T time, V vocabulary, D model width, h blocks, n block size (the paper's b); z input of a mixer, y
what it gives, A transition, b input term, x state.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.utils._pytree import tree_map

from lrnnlab.scans.kernels import dispatch
from lrnnlab.scans.transforms import check_symbols, is_exporting, within_func
from lrnnlab.validation import among, checked, shown, whole_number

MAX_LAYERS = 1000
Made = TypeVar("Made", bound=nn.Module)


@contextmanager
def weights_of(seed: int) -> Iterator[None]:
    """What is made within has weights that ``seed`` alone decides, on the CPU, and can learn, whatever torch is set to."""
    with torch.random.fork_rng(devices=[]), torch.device("cpu"), torch.inference_mode(False):
        torch.default_generator.manual_seed(seed)  # torch.manual_seed would also seed every GPU
        yield


def at_default_device(net: Made) -> Made:
    """``net``, moved where torch makes new tensors."""
    home = torch.get_default_device()
    return net if home.type == "cpu" else net.to(home)


class Module(nn.Module, ABC):
    """torch's Module; a type checker takes its parts as they are, where torch calls each a ``Tensor | Module``."""

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...
        def __setattr__(self, name: str, value: Any) -> None: ...

    def extra_repr(self) -> str:
        """The options that it was made with."""
        plain = {name: value for name, value in vars(self).items() if isinstance(value, (bool, int, float, str))}
        return ", ".join(f"{name}={value!r}" for name, value in plain.items() if name[0] != "_" and name != "training")


class Recurrence(Module):
    """A mixer with a step form that gives the same numbers: ``mixer(z (B,T,D)) -> y (B,T,D)``.

    A subclass says ``initial`` and ``step``, and ``mix`` where it knows a faster way; one that can save work on a table
    of symbols overrides ``forward``.  Its options are checked by their annotations (:func:`lrnnlab.validation.checked`).
    """

    loops = False  # whether ``mix`` is a loop over time in compiled code, which ``torch.export`` cannot follow
    _start: tuple[int, Any] | None = None  # (B, what the last state that was checked had to be like)

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "__init__" in vars(cls):
            checked(cls)

    def _apply(self, *args, **options):
        self._start = None  # from now on another type, or device
        return super()._apply(*args, **options)

    def check_state(self, state: Any, batch: int) -> None:
        """ValueError unless ``state`` has the structure, shapes, types and device of ``initial(batch)``.

        An axis of length 0 in ``initial(batch)`` (a memory that is empty at the start) may have any length.
        """
        if self._start is None or self._start[0] != batch or not _alike(state, self._start[1]):
            with torch.no_grad():  # shapes alone: a state may be large, and a net that is saved takes this along
                start = tree_map(_shape_of, self.initial(batch))
            if not within_func():  # whose tensors mean nothing afterwards
                self._start = batch, start
            if not _alike(state, start):
                wanted = f"{type(self).__name__}.initial({batch}) is, {shown(start)}"
                raise ValueError(f"state must be as {wanted}, got {shown(state)}")

    def forward(self, z: Tensor, tokens: Tensor | None = None) -> Tensor:
        """y (B,T,D) of inputs z (B,T,D); or, with tokens (B,T), of inputs z[tokens], z (V,D)."""
        z = z if tokens is None else z[tokens]
        if is_exporting() and (self.loops or type(self).mix is Recurrence.mix):
            return _exported(self, z)
        return self.mix(z)

    def trace(self, z: Tensor, tokens: Tensor | None = None) -> tuple[Tensor | None, Tensor]:
        """(A, y): the transitions A_t of the given z, one per row, beside y; None where there is no such matrix."""
        return None, self(z, tokens)

    def mix(self, z: Tensor) -> Tensor:
        """z (B,T,D) -> y (B,T,D): one token after another, unless a subclass knows a faster way."""
        state, answers = self.initial(len(z)), []
        for z_t in z.unbind(1):
            state, y_t = self.step(state, z_t)
            answers.append(y_t)
        return torch.stack(answers, 1) if answers else z  # torch stacks no empty list; z is (B,0,D) then

    @abstractmethod
    def initial(self, batch: int) -> Any:
        """The state before the first token."""

    @abstractmethod
    def step(self, state: Any, z_t: Tensor) -> tuple[Any, Tensor]:
        """One token: (state, z_t (B,D)) -> (state, y_t (B,D))."""


def _exported(mixer: Recurrence, z: Tensor) -> Tensor:
    """``mix`` by ``step`` in torch's own loop over time, which ``torch.export`` keeps as one: the program takes any length."""
    from torch._higher_order_ops.scan import scan

    def step(state: Any, z_t: Tensor) -> tuple[Any, Tensor]:
        state, y_t = mixer.step(state, z_t)
        return state, y_t.clone()  # else it may be part of the state

    start = tree_map(torch.clone, mixer.initial(z.shape[0]))
    return scan(step, start, z.movedim(1, 0))[1].movedim(0, 1)


class RecurrentNet(Protocol):
    """A net that reads one token after another: what ``evaluate``, ``quantise``, ``interchange``, ``extract`` and pictures take.

    ``initial_state(batch)`` is the state before the first token: tensors, alone or in tuples, lists and dicts, each with an
    axis of length ``batch``, whichever (torch's RNN, GRU and LSTM have their layers first).
    ``step(state, tokens (B,)) -> (state, logits (B,C))`` reads a token of each string.  No base class is needed.

    >>> class Mine(nn.Module):
    ...     vocab_size, classes = 3, 2
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.embedding, self.lstm, self.head = nn.Embedding(3, 8), nn.LSTM(8, 8), nn.Linear(8, 2)
    ...     def initial_state(self, batch):
    ...         return (self.head.weight.new_zeros(1, batch, 8),) * 2
    ...     def step(self, state, tokens):
    ...         y, state = self.lstm(self.embedding(tokens)[None], state)
    ...         return state, self.head(y[0])
    >>> as_module(Mine(), "evaluate")(torch.zeros(4, 10, dtype=torch.int64)).shape
    torch.Size([4, 10, 2])
    """

    @property
    def vocab_size(self) -> int | None: ...

    @property
    def classes(self) -> int | None: ...

    def initial_state(self, batch: int, /) -> Any: ...

    def step(self, state: Any, tokens: Tensor, /) -> tuple[Any, Tensor]: ...


def missing(net: Any, whose: str, *needed: str) -> str:
    """The first name that a net, or a class of nets, lacks, and how to write it; empty if it has all of a recurrent net."""
    who = net if isinstance(net, type) else type(net)
    lacks = next((name for name in needed or ("vocab_size", "classes", "initial_state", "step") if not hasattr(net, name)), "")
    return lacks and (f"{who.__name__} has no {lacks}: {whose} takes a net with\n"
                      "    vocab_size, classes = 3, 2                # V and C\n"
                      "    def initial_state(self, batch): ...       # tensors with an axis of length batch\n"
                      "    def step(self, state, tokens): ...        # tokens (B,) -> (state, logits (B, C))")  # fmt: skip


def check_recurrent(net: Any, whose: str, *needed: str) -> None:
    """``TypeError``, with what is missing and how to write it, unless ``net`` has all of a recurrent net."""
    if lacks := missing(net, whose, *needed):
        raise TypeError(lacks)
    if isinstance(net, type):
        raise TypeError(f"{whose} takes a net, and {net.__name__} is a class: make one, {net.__name__}(...)")


def step_of(net: RecurrentNet, state: Any, tokens: Tensor, classes: int | None = None) -> tuple[Any, Tensor]:
    """One step; ``ValueError`` unless it gives a state and logits (B,C)."""
    found: Any = net.step(state, tokens)
    logits = found[1] if isinstance(found, (tuple, list)) and len(found) == 2 else None
    C = classes or getattr(net, "classes", None)
    if not isinstance(logits, Tensor) or logits.ndim != 2 or len(logits) != len(tokens) or C not in (None, logits.shape[1]):
        raise ValueError(f"the step of {type(net).__name__} must return (state, logits ({len(tokens)}, {C or 'C'})), "
                         f"got {shown(found)}")  # fmt: skip
    return found[0], logits


def as_module(net: Any, whose: str) -> nn.Module:
    """A net as a module that reads whole strings: itself, or its steps one after another; ``TypeError`` if it has neither."""
    if isinstance(net, nn.Module) and getattr(net.forward, "__func__", None) is not nn.Module.forward:
        return net
    check_recurrent(net, whose, "initial_state", "step")
    return Stepwise(net)


class Stepwise(Module):
    """A net that has ``initial_state`` and ``step`` alone, on whole strings."""

    width = 1  # what it holds of each position: its logits

    def __init__(self, net: Any, **sizes: int):
        super().__init__()
        self.net = net
        for name in ("vocab_size", "classes"):
            if name in sizes or hasattr(net, name):
                setattr(self, name, sizes.get(name, getattr(net, name, None)))

    def initial_state(self, batch: int) -> Any:
        return self.net.initial_state(batch)

    def step(self, state: Any, tokens: Tensor) -> tuple[Any, Tensor]:
        return step_of(self.net, state, tokens, getattr(self, "classes", None))

    def forward(self, tokens: Tensor) -> Tensor:
        """(B,T) -> (B,T,C)."""
        state, logits = self.initial_state(len(tokens)), []
        for token in tokens.unbind(1):
            state, said = self.step(state, token)
            logits.append(said)
        return torch.stack(logits, 1)


class LinearRecurrence(Recurrence):
    """x_t = A_t x_{t-1} + b_t where (A_t, b_t) = ``transition(z_t)``: subclasses say only what A, b and x0 are.

    ``backend`` names the scan (see :mod:`lrnnlab.scans`); setting it on a layer changes how it runs, not what it gives.
    """

    backend = "auto"

    @abstractmethod
    def transition(self, z: Tensor) -> tuple[Tensor, Tensor]:
        """z (..., D) -> A (..., h, n, n) and b (..., h, n), or both (..., D) for diagonal transitions."""

    def forward(self, z: Tensor, tokens: Tensor | None = None) -> Tensor:
        return self.trace(z, tokens)[1]

    def trace(self, z: Tensor, tokens: Tensor | None = None) -> tuple[Tensor, Tensor]:
        A, b = self.transition(z)
        if tokens is None:
            x = dispatch.linear(A, b, self.initial(z.shape[0]), self.backend)
        else:
            x = dispatch.by_token(A, b, tokens, self.initial(tokens.shape[0]), self.backend)
        return A, self.output(x.flatten(2), z, tokens)  # (B,T,h,n) -> (B,T,hn)

    def output(self, x: Tensor, z: Tensor, tokens: Tensor | None = None) -> Tensor:
        """y (..., D) of the states x (..., hn), and of inputs z as ``forward`` takes them; here the states themselves."""
        return x

    def initial(self, batch: int) -> Tensor:
        return self.x0.expand(batch, *self.x0.shape)

    def step(self, state: Tensor, z_t: Tensor) -> tuple[Tensor, Tensor]:
        A, b = self.transition(z_t)
        moved = (A @ state.unsqueeze(-1)).squeeze(-1) if A.ndim == b.ndim + 1 else A * state
        state = moved + b
        return state, self.output(state.flatten(1), z_t)


def _shape_of(part: Any) -> Any:
    """A tensor of this shape, type and device that takes up the room of one number; anything else as it is."""
    return part.new_empty((1,) * part.ndim).expand(part.shape) if isinstance(part, Tensor) else part


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
    """
    if not isinstance(tokens, Tensor) or tokens.layout is not torch.strided:
        raise TypeError(f"tokens must be a dense torch.Tensor {axes} of integers, got {shown(tokens)}")
    if tokens.ndim != len(axes.strip("(,)").split(", ")) or tokens.dtype not in (torch.int64, torch.int32):
        raise ValueError(f"tokens must be {axes} integers, got {tuple(tokens.shape)} of {tokens.dtype}")
    if like is not None and tokens.device != like.device:
        raise ValueError(f"tokens lie on {tokens.device}, the weights on {like.device}")
    check_symbols(tokens, vocab_size, f"this model's vocabulary 0..{vocab_size - 1}")


def check_strings(tokens: Tensor, vocab_size: int, like: Tensor) -> None:
    """Like :func:`check_tokens`, and T must be at least 1: for models that read a whole string at once."""
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
    """``[make(0), make(1), ...]``, ``count`` of them; ValueError unless that is 1 to 1000."""
    return [make(i) for i in range(whole_number(count, 1, "layers", MAX_LAYERS))]


# --- which implementation runs: a Python loop over time, or a compiled kernel ------------------------------------------

# auto: cpu where it can, else (and within torch.func) reference.  reference: torch, a loop over time; any device and type,
# gradients of any order.  cpu: compiled loops with a backward pass of their own (numba); float32 or float64, on a CPU.
BACKENDS = ("auto", "reference", "cpu")


def is_compiled(backend: str, x: Tensor) -> bool:
    """Whether the compiled loop runs on x (B,T,...); ``ValueError`` if it is asked for and cannot."""
    among("backend", backend, BACKENDS)
    fits = x.device.type == "cpu" and x.dtype in (torch.float32, torch.float64)
    if backend == "cpu" and not fits:
        raise ValueError(
            f"backend 'cpu' runs in float32 or float64 on a CPU, got {x.dtype} on {x.device.type}; 'reference' runs everywhere"
        )
    if backend == "cpu" and within_func():
        raise ValueError("backend 'cpu' does not run within torch.func; 'auto' and 'reference' do")
    if is_exporting() or within_func() or not x.numel():  # nothing to do is not worth compiling for
        return False
    return backend != "reference" and fits


def run_compiled(loop: str, tensors: tuple[Tensor | None, ...], *options: Any) -> Any:
    """The autograd Function ``module.Name`` of :mod:`lrnnlab.models.kernels`, which loads numba, at tensors and options."""
    return (_run_untraced if torch.compiler.is_compiling() else _run)(loop, tensors, options)


def _run(loop: str, tensors: tuple[Tensor | None, ...], options: tuple) -> Any:
    module, name = loop.split(".")
    function = getattr(import_module(f"lrnnlab.models.kernels.{module}"), name)
    keep = torch.is_grad_enabled() and any(x is not None and x.requires_grad for x in tensors)
    return function.apply(*tensors, *options, keep)


_run_untraced = torch._disable_dynamo(_run)  # plainly called it would load the whole compiler


# --- the activations phi of keys and queries in paper 003 (Sec. 2) -----------------------------------------------------


def elu(x: Tensor) -> Tensor:
    """x + 1 where x > 0, else e^x: accurate also where torch's elu(x) + 1 would round to 0."""
    return torch.where(x > 0, x + 1, x.clamp(max=0).exp())


def elu_sum(x: Tensor) -> Tensor:
    """elu(x) / sum of it over the head: positive, and sums to one."""
    positive = elu(x)
    return positive / positive.sum(-1, keepdim=True)


FEATURE_MAPS = {  # released: elu in linear Transformers, elu_sum in DeltaNet, softmax in Recurrent Delta and SRWM
    "elu": elu,
    "elu_sum": elu_sum,
    "softmax": lambda x: x.softmax(-1),
    "unit": lambda x: F.normalize(x, dim=-1),
}
POSITIVE = ("elu", "elu_sum", "softmax")  # the others have signs, and can be orthogonal


def head_size(width: int, heads: int) -> int:
    """n = D / h; ``ValueError`` unless heads divide the width."""
    if heads < 1 or width < 1 or width % heads:
        raise ValueError(f"heads must divide width, both at least 1, got heads={heads} and width={width}")
    return width // heads
