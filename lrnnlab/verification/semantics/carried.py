"""What a search that has closed leaves behind, as text that others can check, and a proved net in a file.

The format and its check are in :mod:`lrnnlab.verification.semantics.certificate`.
"""

from __future__ import annotations

import hashlib
import json
import operator
from keyword import iskeyword
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from lrnnlab.automata import MooreMachine
from lrnnlab.verification.semantics.certificate import described
from lrnnlab.verification.semantics.rounding import EXACT, MADE, MOVED, RULES

PLACES = 20_000  # of more no certificate is written
# What a graph in a file may call: what has a bound of rounding, and what makes or moves whole numbers and truths.
ALLOWED = {*RULES, *MOVED, *EXACT, *(name for name in MADE if "empty" not in name and name[0] != "_")} | set(
    "all argmin bitwise_and bitwise_or bitwise_xor floor_divide gather logical_and logical_not logical_or logical_xor "
    "masked_fill one_hot remainder reshape".split())  # fmt: skip
TEXTS = ("none", "tanh", "floor", "trunc")  # that operations take; others take the name of a file


def digest(net: nn.Module) -> str:
    """The SHA-256 of a net: of its parts, their options, and every number in it, by name, type, shape and value.

    >>> one, other = torch.nn.Linear(2, 2), torch.nn.Linear(2, 2)
    >>> digest(one) == digest(one), digest(one) == digest(other)
    (True, False)
    """
    total = hashlib.sha256()
    for name, part in net.named_modules():
        options = {key: x for key, x in vars(part).items() if type(x) in (bool, int, float, str, tuple) and key[0] != "_"}
        options.pop("training")
        total.update(f"{name} {type(part).__name__} {sorted(options.items())}\n".encode())
    for name, part in net.state_dict().items():
        if isinstance(part, Tensor):
            total.update(f"{name} {part.dtype} {(*part.shape,)} ".encode())
            total.update(part.detach().cpu().clone(memory_format=torch.contiguous_format).reshape(-1).view(torch.uint8).numpy().tobytes())
        else:
            total.update(f"{name} {part!r} ".encode())
    return f"sha256 {total.hexdigest()}"


def certificate(
    net: nn.Module, specification: MooreMachine, start: int, places: np.ndarray, after: np.ndarray, said: np.ndarray
) -> str:
    """Of a closed search, JSON; empty beyond 20,000 places.

    ``places`` (P,): the net's state times Q, plus the task's state.  ``after`` (V, P): the net's state that each letter leads
    to, -1 for nowhere.  ``said`` (P,): what the net answers there; only answers that the task asks for are claimed.  States
    of the net that answer and go on alike are told as one.
    """
    if len(places) > PLACES:
        return ""
    Q = specification.num_states
    states, first, number = np.unique(places // Q, return_index=True, return_inverse=True)
    number_of, wanted = {state: i for i, state in enumerate(states.tolist())}, (places % Q).astype(np.int64)
    arrows = [[number_of.get(state, -1) for state in row] for row in after[:, first].T.tolist()]
    due = specification.outputs[specification.transitions[:, wanted]].T >= 0  # (P, V)
    asked = {arrows[state][v] for state, row in zip(number.reshape(-1).tolist(), due) for v in np.flatnonzero(row)}
    rows = [(*row, answer if i in asked else -1) for i, (row, answer) in enumerate(zip(arrows, said[first].tolist()))]
    different: dict[Any, int] = {}
    same = [different.setdefault(row, len(different)) for row in rows]
    table = [[same[state] if state >= 0 else -1 for state in row[:-1]] for row in different]
    answers = [row[-1] for row in different]
    net_part = {"digest": digest(net), "start": same[number_of[start]], "arrows": table, "answers": answers}
    pairs = sorted({(same[state], right) for state, right in zip(number.reshape(-1).tolist(), wanted.tolist())})
    whole = {"format": "lrnnlab certificate 1", "task": described(specification), "net": net_part, "places": pairs}
    return json.dumps(whole, separators=(",", ":"))


def told(graph: Any) -> list[tuple]:
    """A graph of torch's operations as plain lists: of each node what it is, its name, its target and what it is given."""

    def plain(x: Any) -> Any:
        if isinstance(x, (list, tuple)):
            return [plain(one) for one in x]
        if isinstance(x, torch.fx.Node):
            return {"node": x.name}
        if isinstance(x, (torch.dtype, torch.layout, torch.memory_format)):
            return {"torch": str(x).removeprefix("torch.")}
        if isinstance(x, torch.device):
            return {"device": x.type}
        return x if x is None or type(x) in (bool, int, float, str) else {"unknown": repr(x)}

    return [
        (node.op, node.name, "getitem" if node.target is operator.getitem else str(node.target), plain(node.args),
         {key: plain(x) for key, x in node.kwargs.items()})
        for node in graph.graph.nodes
    ]  # fmt: skip


def read_graph(lists: list[tuple], weights: dict[str, Tensor]) -> torch.fx.GraphModule:
    """The graph that :func:`told` told; ``ValueError`` for anything but operations of torch on tensors and numbers."""
    graph, nodes = torch.fx.Graph(), {}

    def read(x: Any) -> Any:
        if type(x) is list:
            return [read(one) for one in x]
        if type(x) is dict and len(x) == 1:
            ((kind, name),) = x.items()
            found = nodes.get(name) if kind == "node" else torch.device(name) if kind == "device" else getattr(torch, name)
            if isinstance(found, (torch.fx.Node, torch.device, torch.dtype, torch.layout, torch.memory_format)):
                return found
        elif x is None or type(x) in (bool, int, float) or x in TEXTS:
            return x
        raise ValueError(f"{x!r} is given to an operation")

    for op, name, target, args, kwargs in lists:
        called: Any = target
        if op == "call_function":
            called = operator.getitem if target == "getitem" else torch.ops.aten
            for part in target.removeprefix("aten.").split(".") if called is torch.ops.aten else ():
                called = getattr(called, part, None)
            if called is not operator.getitem and target.split(".")[1] not in ALLOWED:
                raise ValueError(f"{target!r} is no operation that a proof knows")
            if called is not operator.getitem and not isinstance(called, torch._ops.OpOverload):
                raise ValueError(f"{target!r} is no operation of torch's own")
        if op not in ("placeholder", "get_attr", "call_function", "output") or (op == "placeholder" and (args or kwargs)):
            raise ValueError(f"{op!r} is no part of a graph")
        for word in (name, *kwargs, *([target] if op in ("placeholder", "get_attr") else [])):
            if not word.isidentifier() or iskeyword(word):  # torch writes them into a program
                raise ValueError(f"{word!r} is no name")
        if op == "get_attr" and not isinstance(weights.get(target), Tensor):
            raise ValueError(f"the weight {target!r} is not there")
        given = [tuple(read(x)) if op == "output" else read(x) for x in args]
        nodes[name] = graph.create_node(op, called, tuple(given), {key: read(x) for key, x in kwargs.items()}, name)
    return torch.fx.GraphModule(weights, graph)
