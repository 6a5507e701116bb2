"""All layers below the last as one finite machine, reduced to what the last layer can tell apart.

The states of a snapped layer's blocks ("heads") are one-hot, so the layers below the last are together in one *lower
state*: a tuple of small integers.  For each token and lower state the last layer's generator gives every head a table:
where each of its states goes.  Lower states that lead to the same tables, now and after every continuation, are the
same to the last layer, and ``quotient`` merges them: thousands of lower states often come down to a few dozen.

A table is read column by column from the generator's output.  For each column we store its margin (largest minus second
largest entry) and how much of that margin rounding could consume.  Strings about which the task never asks are not
followed; a ``live`` machine says which.

Letters: R lower states, V vocabulary, L layers, h heads, n states of a head; a lower state: a row of (L-1) h integers.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from lrnnlab.automata import MooreMachine, minimise
from lrnnlab.automata.machines import coarsest, equal_rows, leading_to
from lrnnlab.models import Net
from lrnnlab.models.exact import obstacle
from lrnnlab.verification.semantics.rounding import Bounds

AT_ONCE = 4096  # lower states moved at once, and rows that a generator is called with


@dataclass(frozen=True)
class LowerMachine:
    """State 0 is the initial one; -1 in ``follow`` where the string can no longer be asked about.

    ``follow`` (R, V): the next lower state.      ``kind`` (R, V): which row of ``tables`` the last layer then uses.
    ``tables`` (K, h, n): for each head of the last layer where each of its states goes.
    ``leads`` (K, h, n): by how much at least; ``lead``: the least in all layers below, where they can be.
    ``rounding``: no more than this of a lead is lost by rounding, in any layer.
    """

    follow: np.ndarray
    kind: np.ndarray
    tables: np.ndarray
    leads: np.ndarray
    lead: float
    rounding: float


def check_snapped(model: Net, specification: MooreMachine | None = None) -> None:
    """``ValueError``, which names it, for a model that is no finite automaton, or does not fit the specification."""
    why = obstacle(model, "hard")
    if why:
        raise ValueError(f"this takes a snapped model; {why}")
    kinds = {(w.dtype, w.device.type) for w in model.parameters()}
    if len(kinds) > 1 or not kinds <= {(torch.float32, "cpu"), (torch.float64, "cpu")}:
        found = ", ".join(sorted(f"{dtype} on {device}" for dtype, device in kinds))
        raise ValueError(f"this reads weights of float32 or float64, all of one type, on the CPU; got {found}")
    try:
        with torch.no_grad():
            model(torch.zeros(1, 2, dtype=torch.int64))
    except (RuntimeError, IndexError) as error:  # shapes that were changed
        raise ValueError(f"the model's parts do not fit together: {str(error).splitlines()[0]}") from error
    if specification is None:
        return
    check_fits(model, specification)


def check_fits(model: Any, specification: MooreMachine) -> None:
    """``ValueError`` unless a model reads the symbols of a specification, and knows its answers; or if it asks for none."""
    if specification.num_symbols != model.vocab_size:
        raise ValueError(f"the model reads {model.vocab_size} symbols, the automaton {specification.num_symbols}")
    asked = specification.outputs[specification.transitions[:, specification.reachable()]]
    if asked.max() >= model.classes:
        raise ValueError(f"the model has {model.classes} classes, the automaton answers {asked.max()}")
    if asked.max() < 0:
        raise ValueError("the automaton asks for an answer after no string but, perhaps, the empty one")


def live_part(specification: MooreMachine) -> MooreMachine:
    """Shows 1 while some continuation (or the string itself) is asked about, then 0 for ever."""
    live = leading_to(specification, specification.outputs >= 0)
    return minimise(replace(specification, outputs=live.astype(np.int64), names=()))


def reach(model: Net, live: MooreMachine, limit: int) -> LowerMachine | None:
    """Breadth-first over the lower states of a snapped ``model``; None if there are more than ``limit``."""
    stack, V, last = _Stack(model), model.vocab_size, len(model.layers) - 1
    first = [s for layer in model.layers[:last] for s in layer.x0.argmax(-1).tolist()] + [live.initial]
    rows = np.array([first], np.min_scalar_type(max(live.num_states, *(layer.b for layer in model.layers))))
    number, follow, asked = {rows.tobytes(): 0}, [], []
    known, tables, leads = _nothing_read(model.layers[last])
    kinds = np.full(V, -1)  # of each lower state and the token that has just led to it: which of the tables
    while len(now := rows[len(follow) : len(follow) + AT_ONCE]):
        after = live.transitions[:, now[:, -1]]
        token, origin = np.nonzero(live.outputs[after] == 1)
        moved = np.column_stack([stack.step(token, now[origin, :-1]), after[token, origin]]).astype(rows.dtype)
        reached, new = _numbered(moved, number)
        rows, kinds = np.concatenate([rows, moved[new]]), np.pad(kinds, (0, V * len(new)), constant_values=-1)
        entered = reached * V + token
        unread = np.unique(entered[kinds[entered] < 0])
        table, lead = stack.read(last, unread % V, rows[unread // V, :-1])
        kinds[unread], new = _numbered(table, known)
        tables, leads = np.concatenate([tables, table[new]]), np.concatenate([leads, lead[new]])
        np.minimum.at(leads, kinds[unread], lead)
        for kept, found in ((follow, reached), (asked, kinds[entered])):
            to = np.full((len(now), V), -1)
            to[origin, token] = found
            kept.extend(to)
        if len(rows) > limit:
            return None
    return LowerMachine(np.stack(follow), np.stack(asked), tables, leads, stack.lead, stack.rounding)


def _nothing_read(layer: Any) -> tuple[dict[bytes, int], np.ndarray, np.ndarray]:
    """Numbers of what a layer was read with or found to do; its tables, which say where each state goes; their leads."""
    shape = (0, layer.h, layer.b)
    return {}, np.empty(shape, np.min_scalar_type(layer.b)), np.empty(shape)


def _numbered(found: np.ndarray, number: dict[bytes, int]) -> tuple[np.ndarray, np.ndarray]:
    """The number of each row of ``found``, and where those that had none before come first, in order."""
    before, flat = len(number), np.ascontiguousarray(found).reshape(len(found), prod(found.shape[1:]))
    packed = flat.view(f"V{flat.shape[1] * flat.itemsize}").reshape(-1)
    which = np.array([number.setdefault(key, len(number)) for key in packed.tolist()], np.int64)
    first = np.zeros(len(number), np.int64)
    first[which[::-1]] = np.arange(len(which))[::-1]
    return which, first[before:]


class _Stack:
    """The layers of a snapped model; each is read once for a token and the states that it leaves the layers below in.

    ``lead`` and ``rounding`` are those of ``LowerMachine``.
    """

    def __init__(self, model: Net):
        self.model, self.lead, self.rounding = model, np.inf, 0.0
        self.known = [_nothing_read(layer) for layer in model.layers[:-1]]

    def step(self, token: np.ndarray, states: np.ndarray) -> np.ndarray:
        """The lower states that tokens (m,) lead to from lower states (m, sum of h)."""
        after = states[:, :0]
        for at, layer in enumerate(self.model.layers[:-1]):
            number, moves, leads = self.known[at]
            which, new = _numbered(np.column_stack([token, after]), number)
            table, lead = self.read(at, token[new], after[new])
            moves, leads = np.concatenate([moves, table]), np.concatenate([leads, lead])
            self.known[at] = number, moves, leads
            here = which[:, None], np.arange(layer.h), states[:, after.shape[1] : after.shape[1] + layer.h]
            self.lead = min(self.lead, float(leads[here].min(initial=np.inf)))
            after = np.column_stack([after, moves[here]])
        return after

    def read(self, at: int, token: np.ndarray, states: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """What layer ``at`` does after tokens (m,) that leave those below in ``states``: tables and leads (m, h, n)."""
        layers, layer = self.model.layers, self.model.layers[at]
        parts = [_nothing_read(layer)[1:]]
        for chosen in np.split(np.arange(len(token)), range(AT_ONCE, len(token), AT_ONCE)):
            below = torch.from_numpy(states[chosen].astype(np.int64)).split([one.h for one in layers[:at]], 1)
            with Bounds() as bounds:
                stream = self.model.embedding.weight[torch.from_numpy(token[chosen])]
                for one, part in zip(layers, below):
                    stream = stream + F.one_hot(part, one.b).flatten(1)
                raw = layer.generator(self.model.norms[at](stream))
            parts.append(self._decided(layer, raw, bounds))
        tables, leads = zip(*parts)
        return np.concatenate(tables), np.concatenate(leads)

    def _decided(self, layer: Any, raw: Tensor, bounds: Bounds) -> tuple[np.ndarray, np.ndarray]:
        """What a generator makes, (m, n h n) -> (m, h, n) twice: where each state of each head goes, and the column's lead."""
        if not raw.isfinite().all():
            raise ValueError(f"the weights are too large: a generator overflows {raw.dtype}")
        alive = layer.alive().numpy()
        with bounds:
            raw = raw.unflatten(-1, (layer.b, layer.h, layer.b))[:, :, alive]
        self.rounding = max(self.rounding, bounds.apart(raw))
        value = raw.double().numpy()  # (m, row, h', column)
        best, second = value[:, 0].copy(), np.full(value[:, 0].shape, -np.inf)
        to = np.zeros(best.shape, np.min_scalar_type(layer.b))
        for row in range(1, layer.b):  # an argmax over this axis would take several times as long
            np.maximum(second, np.minimum(best, value[:, row]), out=second)
            np.maximum(to, (value[:, row] > best) * to.dtype.type(row), out=to)
            np.maximum(best, value[:, row], out=best)
        moves = np.tile(np.arange(layer.b).astype(to.dtype), (len(value), layer.h, 1))  # a frozen head stays
        lead = np.full(moves.shape, np.inf)
        moves[:, alive], lead[:, alive] = to, best - second
        return moves, lead


def quotient(below: LowerMachine, heads: np.ndarray) -> LowerMachine:
    """Merge lower states that the given heads of the last layer can never tell apart."""
    tables, kinds = np.unique(below.tables[:, heads], axis=0, return_inverse=True)
    kind = np.where(below.kind >= 0, kinds.reshape(-1)[below.kind], -1)  # (R, V)
    group = coarsest(equal_rows(kind), below.follow)
    first = np.unique(group, return_index=True)[1]  # the earliest member of each class stands for it
    following = np.where(below.follow >= 0, group[below.follow], -1)
    leads = np.full(tables.shape, np.inf)
    np.minimum.at(leads, kinds.reshape(-1), below.leads[:, heads])
    return LowerMachine(following[first], kind[first], tables, leads, below.lead, below.rounding)
