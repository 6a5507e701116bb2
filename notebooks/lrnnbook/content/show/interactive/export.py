"""A net for the page: the operations of one step as a short list for ``engine.js``, with its numbers.

:class:`~lrnnlab.verification.semantics.traced.TracedStep` has the step of any net, also a stranger's, as torch's operations.
What hangs on the token alone is computed here, once for each token, and becomes a table; what is left of a net of one layer
is some ten operations on the state.  Whatever only moves numbers about (views, transposes, broadcasts, stacks) becomes a list of
places to take from, so that the page computes on flat arrays and knows no shapes.

Letters: V tokens, C classes, K codes, W words.
"""

from __future__ import annotations

import base64
import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from lrnnlab.automata import MooreMachine
from lrnnlab.models.base import RecurrentNet
from lrnnlab.models.exact import obstacle, symbol_transitions
from lrnnlab.verification import Quantised
from lrnnlab.verification.semantics.traced import TracedStep, in_double, plain_torch

MOVES = set("clone detach alias unsqueeze squeeze view _unsafe_view reshape expand t transpose permute select slice split "
            "split_with_sizes unbind stack cat view_as_real view_as_complex flatten unflatten".split())  # fmt: skip
EACH = set("relu exp tanh sigmoid neg sqrt abs sin cos log1p softplus reciprocal".split())
PAIRS = {"add": "add", "sub": "sub", "mul": "mul", "div": "div"}


def page_net(net: RecurrentNet, machine: MooreMachine, quantised: Quantised | None = None) -> dict[str, Any]:
    """What ``engine.js`` runs, as JSON: a trained net, the machine that it should be, and its codes where it was quantised.

    ``ValueError`` for a step that is no list of torch's operations, or has one that the page does not know, by its name.

    >>> from lrnnlab.models import exact_model
    >>> from lrnnlab.tasks import Sum
    >>> page_net(exact_model(Sum(3).machine), Sum(3).specification)["start"]
    [[1.0, 0.0, 0.0]]
    """
    if int(machine.outputs.max()) >= net.classes:
        raise ValueError(f"the machine answers up to {int(machine.outputs.max())}, the net has {net.classes} classes")
    with plain_torch():
        made = _Listing(TracedStep(in_double(net, "the page")))
        found = made.found() | {"symbols": list(machine.symbols), "machine": {
            "transitions": machine.transitions.tolist(), "outputs": machine.outputs.tolist(), "initial": int(machine.initial)}}
        if obstacle(net, "softmax", "hard") is None and len(net.layers) == 1:
            layer = net.layers[0]
            A, _ = symbol_transitions(net)
            table = next(i for i, one in enumerate(made.tables)
                         if one.numel() == A.numel() and torch.allclose(one.flatten(), A.double().flatten(), atol=1e-5))
            found["blocks"] = {"table": table, "h": layer.h, "n": layer.b, "linear": len(net.head) == 1}
        if quantised is not None:
            rows = torch.cat([part.flatten(1) for part in map(_flat, quantised.codes)], 1)
            found |= {"codes": _text([rows], "<f4"), "words": [list(word) for word in quantised.words], "answers": quantised.answers.tolist()}
    return found


def _flat(x: Tensor) -> Tensor:
    """Complex numbers as pairs."""
    return torch.view_as_real(x) if x.is_complex() else x


def _text(parts: Sequence[Tensor], kind: str) -> str:
    """Numbers in base64, lowest byte first."""
    return base64.b64encode(b"".join(part.numpy().astype(kind).tobytes() for part in parts)).decode()


class _Listing:
    """The operations of a traced step that hang on the state; each value has a number, its place in the list."""

    def __init__(self, steps: TracedStep):
        self.steps, self.nodes = steps, list[list]()
        self.tables, self.alike = list[Tensor](), dict[bytes, int]()
        every = [_values(steps, token) for token in range(steps.vocab_size)]
        self.shapes = every[0]
        start = [node for node in steps.graph.graph.nodes if node.op == "placeholder"][1:]
        self.place: dict[Any, int] = {node: i for i, node in enumerate(start)}  # of what hangs on the state
        self.starts = [_flat(part[0]).flatten().tolist() for part in steps.initial_state(1)]
        self.every = every
        for node in steps.graph.graph.nodes:
            if node.op == "call_function" and any(one in self.place for one in node.all_input_nodes):
                self.place[node] = self.lowered(node)
            elif node.op == "output":
                self.ends = [self.of(one) for one in node.args[0]]

    def found(self) -> dict[str, Any]:
        weights, rows = ([table.flatten() for table in self.tables if (len(table) == 1) == one] for one in (True, False))
        turns = any(isinstance(value, Tensor) and value.is_complex() for value in self.shapes.values())
        kind = "<f8" if turns else "<f4"  # what rounding takes from an angle adds up over a string
        return {
            "V": self.steps.vocab_size, "C": self.steps.classes, "start": self.starts, "nodes": self.nodes, "ends": self.ends,
            "tables": [[len(table), table.shape[1]] for table in self.tables],  # one row, or one for each token
            "weights": _text(weights, "<f4"), "rows": _text(rows, kind), "rows_in": kind,
        }  # fmt: skip

    def add(self, *node: Any) -> int:
        """The number of a new value: after the parts of the state come the nodes."""
        self.nodes.append(list(node))
        return len(self.starts) + len(self.nodes) - 1

    def of(self, node: Any) -> int:
        """The number of a value; what hangs on no state is read from a table."""
        if node not in self.place:
            rows = torch.stack([_flat(values[node]).flatten() for values in self.every]).double()
            rows = rows[:1] if (rows == rows[:1]).all() else rows
            key = rows.numpy().tobytes() + bytes([len(rows) % 251])
            if key not in self.alike:
                self.alike[key] = len(self.tables)
                self.tables.append(rows)
            self.place[node] = self.add("table", self.alike[key])
        return self.place[node]

    def taken(self, node: Any, target: Callable, args: Sequence, kwargs: dict) -> int:
        """A value that is made of numbers of others: run on the places of these numbers in place of them."""
        sources, at = [], 0

        def places(one: Any) -> Any:
            nonlocal at
            if isinstance(one, torch.fx.Node):
                value = self.shapes[one]
                if isinstance(value, (tuple, list)):  # parts of a split: each has its number
                    return one
                size = value.numel() * (2 if value.is_complex() else 1)
                index = torch.arange(at, at + size, dtype=torch.float64)
                sources.append(self.of(one))
                at += size
                return torch.view_as_complex(index.view(*value.shape, 2)) if value.is_complex() else index.view(value.shape)
            return one

        moved = torch.fx.node.map_aggregate(list(args), places)
        result = target(*moved, **kwargs)
        if isinstance(result, (tuple, list)):
            self.parts = {**getattr(self, "parts", {}), node: [self.take(sources, part, at) for part in result]}
            return self.parts[node][0]
        return self.take(sources, result, at)

    def take(self, sources: list[int], index: Tensor, size: int) -> int:
        flat = _flat(index).flatten().long().tolist()
        return sources[0] if len(sources) == 1 and flat == list(range(size)) else self.add("take", sources, flat)

    def spread(self, node: Any, shape: Sequence[int], pairs: bool) -> int:
        """A value or number, broadcast to a shape; real numbers beside complex ones doubled."""
        if not isinstance(node, torch.fx.Node):
            return self.add("fill", float(node), math.prod(shape) * (2 if pairs else 1))
        value = self.shapes[node]
        index = torch.arange(value.numel() * (2 if value.is_complex() else 1)).view(*value.shape, -1)
        index = index.expand(*value.shape, 2) if pairs else index.squeeze(-1) if not value.is_complex() else index
        return self.take([self.of(node)], torch.broadcast_to(index, (*shape, *index.shape[value.dim():])), value.numel())

    def lowered(self, node: Any) -> int:
        """The number of a value that hangs on the state, after the operations that it needs have been listed."""
        if node.target is operator.getitem:
            source, i = node.args
            return getattr(self, "parts", {}).get(source, {i: self.place[source]})[i]
        name, out = str(node.target).split(".")[1], self.shapes[node]
        args = node.args
        if name in MOVES:
            return self.taken(node, node.target, args, node.kwargs)
        if name in EACH and len(args) == 1 and not out.is_complex():
            return self.add(name, self.of(args[0]))
        if name in PAIRS and node.kwargs.get("alpha", 1) == 1 and not node.kwargs.get("rounding_mode"):
            complexes = [isinstance(one, torch.fx.Node) and self.shapes[one].is_complex() for one in args]
            if name == "mul" and all(complexes):
                name = "times"
            if name != "div" or not complexes[1]:
                whole = name in ("add", "sub") and any(complexes) and not all(complexes)
                if not whole:
                    return self.add(PAIRS.get(name, name), *(self.spread(one, out.shape, out.is_complex()) for one in args))
        if name in ("mm", "bmm", "addmm", "mv"):
            a, b = args[-2:]
            batch, m, k = (1, *self.shapes[a].shape) if name != "bmm" else self.shapes[a].shape
            product = self.add("matmul", self.of(a), self.of(b), batch, m, k, out.numel() // batch // m)
            return product if name != "addmm" or node.kwargs else self.add("add", self.spread(args[0], out.shape, False), product)
        if name == "native_layer_norm" and len(args[1]) == 1:
            ones = [1.0, 0.0]
            scale = [self.spread(one if one is not None else other, args[1], False) for one, other in zip(args[2:4], ones)]
            return self.add("norm", self.of(args[0]), *scale, args[4])
        if name == "_softmax" and args[1] % out.dim() == out.dim() - 1:
            return self.add("softmax", self.of(args[0]), out.shape[-1])
        if name == "linalg_vector_norm":
            square = self.add("mul", *[self.of(args[0])] * 2)
            return self.add("sqrt", self.summed(square, self.shapes[args[0]].shape, args[2]))
        if name == "sum" and len(args) > 1:
            return self.summed(self.of(args[0]), self.shapes[args[0]].shape, args[1])
        raise ValueError(f"the page does not know the operation {node.target}")

    def summed(self, value: int, shape: Sequence[int], dims: Sequence[int]) -> int:
        index = torch.arange(math.prod(shape)).view(*shape)
        last = [d % len(shape) for d in dims]
        index = index.permute(*(d for d in range(len(shape)) if d not in last), *last)
        return self.add("sum", self.take([value], index, index.numel()), math.prod(shape[d] for d in last))


def _values(steps: TracedStep, token: int) -> dict[Any, Any]:
    """What each node of the graph is for a token in the first state."""
    values: dict[Any, Any] = {}

    class Watch(torch.fx.Interpreter):
        def run_node(self, n: Any) -> Any:
            values[n] = super().run_node(n)
            return values[n]

    Watch(steps.graph).run(torch.tensor(token), *(part[0] for part in steps.initial_state(1)))
    return values
