"""One step of a net on one string, as a list of torch's operations: what is proved and what runs are this one object.

A net's ``step`` is Python: it can count its calls, draw numbers, look at the other strings of its batch, keep what it
read.  A proof of all strings needs a function of a state and a token.  So the step is called once, for a batch of one
string, on tensors that have shapes and types but no numbers (torch's fake tensors), and the operations that it asks for are
written down.  No number can get into Python there, hence none can decide anything in it.  What Python did by itself (a
branch, a counter, a random number of its own) is fixed in the list as it was this one time; nothing of it is left to run.

The list runs on a whole batch by ``torch.vmap``, whose meaning is: each string alone.

Letters: B batch, V tokens, C classes of answers.
"""

from __future__ import annotations

import copy
import operator
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_flatten, tree_map_only, tree_unflatten

from lrnnlab.models.base import Module, RecurrentNet, check_recurrent, step_of
from lrnnlab.validation import shown

State = tuple[Tensor, ...]  # the parts of a state, each with B as its first axis

EMPTY = [[name] for name in ("empty", "empty_like", "empty_strided", "new_empty", "new_empty_strided")]


class TracedStep(Module):
    """``step(state, tokens (B,)) -> (state, logits (B,C))`` of a net, frozen; ``print(traced.graph.code)`` shows all of it.

    ``graph`` takes one token and the parts of one string's state, without a batch axis, and gives logits (C,) and the parts
    after it.  It holds copies of the net's weights, by their names, in their type.

    ``ValueError``, with the reason, for a step that is no list of torch's operations: see :func:`trace`.
    """

    vocab_size: int
    classes: int

    def __init__(self, net: Any, made: tuple[Any, list[Tensor]] | None = None):
        super().__init__()
        self.graph, start = made or trace(net)  # made: what was traced before
        self.vocab_size, self.classes, self.parts = net.vocab_size, net.classes, len(start)
        for i, part in enumerate(start):
            self.register_buffer(f"start{i}", part)

    def initial_state(self, batch: int) -> State:
        start = (getattr(self, f"start{i}") for i in range(self.parts))
        return tuple(part.expand(batch, *part.shape) for part in start)

    def step(self, state: State, token: Tensor) -> tuple[State, Tensor]:
        if not len(token):  # nothing for vmap to do
            state, logits = self.step(self.initial_state(1), token.new_zeros(1))
            return tuple(part[:0] for part in state), logits[:0]
        with torch.autocast(token.device.type, enabled=False):
            logits, *after = torch.vmap(self.graph.forward)(token, *state)
        return tuple(after), logits


@contextmanager
def plain_torch() -> Iterator[None]:
    """Torch without the modes of whoever calls: no gradients, no shorter types, new tensors on the CPU."""
    with torch.inference_mode(False), torch.no_grad(), torch.autocast("cpu", enabled=False), torch.device("cpu"):
        yield


def in_double(net: RecurrentNet, whose: str) -> Any:
    """A copy of a net in double precision, on the CPU, in evaluation mode; what is no module of torch stays in its types."""
    check_recurrent(net, whose)
    with plain_torch():
        found: Any = copy.deepcopy(net)
        if isinstance(net, nn.Module):
            start = found.cpu().double().eval().initial_state  # torch.zeros(batch, width) has torch's type, not the weights'
            wide = partial(tree_map_only, Tensor, lambda part: part.double() if part.is_floating_point() else part)
            found.initial_state = lambda batch: wide(start(batch))
        return found


def trace(net: Any) -> tuple[Any, list[Tensor]]:
    """The graph of one step on one string, and its state before the first token.

    ``ValueError`` for a step whose state grows or changes its type; that needs a number to go on (``.item()``, ``.numpy()``,
    an ``if``); that draws random numbers, changes a weight, or calls operations other than torch's own.
    """
    axes, start, tree = _one_string(net)
    weights = (*net.named_parameters(), *net.named_buffers()) if isinstance(net, nn.Module) else ()
    known = {id(weight): name.replace(".", "_") for name, weight in weights}

    def one(token: Tensor, *parts: Tensor) -> tuple[Tensor, ...]:
        state = [part.clone().unsqueeze(axis) for part, axis in zip(parts, axes)]  # which the step may overwrite
        after, logits = step_of(net, tree_unflatten(state, tree), token.clone().unsqueeze(0))
        after = tree_flatten(after)[0]
        if len(after) != len(axes):
            raise ValueError(_grows(net))
        return (logits.squeeze(0), *(part.squeeze(axis) for part, axis in zip(after, axes)))

    for _ in range(2):  # a state may get its type in the first step
        graph = _traced(one, net, start)
        after = [_like(graph, node) for node in graph.graph.output_node().args[0][1:]]
        if [part.shape for part in after] != [part.shape for part in start]:
            raise ValueError(_grows(net))
        kinds = [(a.dtype, b.dtype) for a, b in zip(start, after) if a.dtype != b.dtype]
        if not kinds:
            break
        start = [part.to(then.dtype) for part, then in zip(start, after)]
    else:
        raise ValueError(f"the state of {_names(net)} is of {kinds[0][0]} before a step and of {kinds[0][1]} after it")
    why = next((why for node in graph.graph.nodes if (why := _type_by_default(graph, node))), None)
    graph = _frozen(graph, known)
    if why := impure(graph) or why:
        raise ValueError(f"the step of {_names(net)} is no function of state and token: {why}")
    return graph, start


def _one_string(net: Any) -> tuple[list[int], list[Tensor], Any]:
    """Where the batch axis of each part of a state is (torch's LSTM has layers first), the start without it, its tree."""
    two, three = (tree_flatten(net.initial_state(n))[0] for n in (2, 3))
    one, tree = tree_flatten(net.initial_state(1))
    axes = []
    for a, b in zip(two, three):
        shapes = zip(getattr(a, "shape", ()), getattr(b, "shape", ()))
        axis = next((i for i, (n, m) in enumerate(shapes) if n != m), None)
        if axis is None:  # a count of positions, or a memory that is empty at first
            raise ValueError(f"a part of the state of {_names(net)}, {shown(a)}, has no axis of length batch: it counts or grows "
                             "with every token, so no finite codebook holds it")  # fmt: skip
        axes.append(axis)
    return axes, [part.detach().squeeze(axis).clone() for part, axis in zip(one, axes)], tree


def _traced(one: Any, net: Any, start: list[Tensor]) -> Any:
    from torch.fx.experimental.proxy_tensor import make_fx

    with ExitStack() as stack:
        stack.enter_context(plain_torch())
        if "torch._dynamo" in sys.modules:  # functions that are compiled run as they were written
            stack.enter_context(torch.compiler.set_stance("force_eager"))
            stack.enter_context(torch._dynamo.config.patch(error_on_nested_fx_trace=False))
        given = (torch.zeros((), dtype=torch.int64), *start)
        try:
            graph = make_fx(one, None, "fake", _allow_non_fake_inputs=True)(*given)
            graph.graph.eliminate_dead_code()
            if any(map(_numbers, graph.graph.nodes)):
                raise RuntimeError("a number of a tensor decides what comes next, or the shape of another tensor")
            if any(_writes(node) for node in graph.graph.nodes):  # what is written in place becomes a tensor of its own
                again = torch.func.functionalize(graph)
                graph = make_fx(again, WRITTEN, "fake", _allow_non_fake_inputs=True)(*given)
                graph.graph.eliminate_dead_code()
        except ValueError:
            raise
        except Exception as error:
            raise ValueError(
                f"the step of {_names(net)} is no list of torch's operations, so no proof can follow it: a step needs all "
                f"that it decides and computes from state and token to be operations of torch, without .item(), .numpy() "
                f"or an if ({type(error).__name__}: {str(error).strip().splitlines()[0]})"
            ) from error
    return graph


def _frozen(traced: Any, known: dict[int, str]) -> Any:
    """Copies of all weights, and numbers for what is made of no tensor at all: no default type or device enters later."""
    kept: dict[str, Tensor] = {}
    for node in list(traced.graph.nodes):
        if node.op == "get_attr":
            value = getattr(traced, node.target)
            name = known.get(id(value), node.target)
        elif node.op == "call_function" and not node.all_input_nodes and not (_why_not(node) or _is_empty(node)):
            wanted = {key: getattr(node.meta["val"], key) for key in ("dtype", "device")}
            takes = {argument.name for argument in node.target._schema.arguments}
            value = node.target(*node.args, **node.kwargs | {key: kind for key, kind in wanted.items() if key in takes})
            name = f"made_{node.name}"
        else:
            continue
        kept.setdefault(name, value.detach().clone() if isinstance(value, Tensor) else value)
        with traced.graph.inserting_before(node):
            node.replace_all_uses_with(traced.graph.create_node("get_attr", name), propagate_meta=True)
        traced.graph.erase_node(node)
    for node in traced.graph.nodes:
        node.meta.clear()  # tensors without numbers, which cannot be copied
    return torch.fx.GraphModule(kept, traced.graph)


def impure(graph: Any) -> str | None:
    """Why a graph is more, or other, than a function of what it is given, in a few words; None if it is that."""
    calls = [node for node in graph.graph.nodes if node.op not in ("placeholder", "get_attr", "output")]
    whys = (f"it uses memory that nobody has filled ({node.target})" for node in calls if _is_empty(node))
    return next((why for node in calls if (why := _why_not(node))), next(whys, None))


def _why_not(node: Any) -> str | None:
    op = node.target
    if node.op != "call_function" or not isinstance(op, torch._ops.OpOverload) or op.namespace != "aten":
        return None if op is operator.getitem else f"it calls {op}, which is no operation of torch's own"
    if torch.Tag.nondeterministic_seeded in op.tags:
        return f"it draws random numbers ({op})"
    if _writes(node):
        return f"it changes {node.args[0]} ({op})"
    return None


def _writes(node: Any) -> bool:
    return isinstance(node.target, torch._ops.OpOverload) and node.target._schema.is_mutable


def _is_empty(node: Any) -> bool:
    return str(node.target).split(".")[1:2] in EMPTY


def _numbers(node: Any) -> bool:
    """Whether a node gives a number that only a run knows, or a tensor of such a shape."""
    parts = tree_flatten(node.meta.get("val"))[0]
    found = [n for part in parts for n in (part.shape if isinstance(part, Tensor) else [part])]
    return any(isinstance(n, (torch.SymInt, torch.SymFloat, torch.SymBool)) for n in found)


def _type_by_default(graph: Any, node: Any) -> str | None:
    """Why the type of what an operation gives hangs on torch's default type: of whole numbers it makes others."""
    given = [_like(graph, one) for one in node.all_input_nodes if node.op == "call_function"]
    if given and node.kwargs.get("dtype") is None and not any(map(_broken, given)) and _broken(_like(graph, node)):
        return f"{node.target} of whole numbers gives numbers of torch's default type; convert them first"
    return None


def _like(graph: Any, node: Any) -> Any:
    """What stands for the value of a node: its shape and type."""
    return getattr(graph, node.target) if node.op == "get_attr" else node.meta.get("val")


def _broken(value: Any) -> bool:
    return any(x.is_floating_point() or x.is_complex() for x in tree_flatten(value)[0] if isinstance(x, Tensor))


def _names(net: Any) -> str:
    return ", ".join(sorted({type(layer).__name__ for layer in getattr(net, "layers", ())})) or type(net).__name__


def _grows(net: Any) -> str:
    return f"the state of {_names(net)} grows with every token, so no finite codebook holds it"


# in-place writing over a whole tensor needs nothing of what was there
WRITTEN: dict[Any, Callable[..., Any]] = {
    torch.ops.aten.copy.default: lambda old, new, non_blocking=False: new.to(old.dtype).expand(old.shape).clone(),
    torch.ops.aten.fill.Scalar: lambda old, number: torch.full(old.shape, number, dtype=old.dtype, device=old.device),
    torch.ops.aten.fill.Tensor: lambda old, number: number.to(old.dtype).expand(old.shape).clone(),
    torch.ops.aten.zero.default: lambda old: torch.zeros(old.shape, dtype=old.dtype, device=old.device),
}
