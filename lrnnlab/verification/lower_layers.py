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

import numpy as np
import torch
from torch.nn import functional as F

from lrnnlab.automata import MooreMachine, minimise
from lrnnlab.automata.machines import coarsest, equal_rows, leading_to
from lrnnlab.models import Net, obstacle
from lrnnlab.verification.rounding import Rounded, exact, through, unit

AT_ONCE = 4096  # lower states moved by one call of the generators


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
    if specification.num_symbols != model.vocab_size:
        raise ValueError(f"the model reads {model.vocab_size} symbols, the automaton {specification.num_symbols}")
    largest = specification.outputs[specification.transitions[:, specification.reachable()]].max()
    if largest >= model.classes:
        raise ValueError(f"the model has {model.classes} classes, the automaton answers {largest}")


def live_part(specification: MooreMachine) -> MooreMachine:
    """Shows 1 while some continuation (or the string itself) is asked about, then 0 for ever."""
    live = leading_to(specification, specification.outputs >= 0)
    return minimise(replace(specification, outputs=live.astype(np.int64), names=()))


def reach(model: Net, live: MooreMachine, limit: int) -> LowerMachine | None:
    """Breadth-first over the lower states of a snapped ``model``; None if there are more than ``limit``.

    ``ValueError`` if no string is ever asked about: of that nothing can be proved.
    """
    stack = _Stack(model)
    first = [s for layer in model.layers[:-1] for s in layer.x0.argmax(-1).tolist()] + [live.initial]
    small = np.min_scalar_type(max(live.num_states, *(layer.b for layer in model.layers)))
    rows = [np.array(first, small)]
    number, follow, asked = {rows[0].tobytes(): 0}, [], []
    tables, leads, known = [], [], {}
    while len(follow) < len(rows):
        now = np.stack(rows[len(follow) : len(follow) + AT_ONCE])
        to = np.full((len(now), model.vocab_size), -1)
        kind = np.full((len(now), model.vocab_size), -1)
        for token in range(model.vocab_size):
            after = live.transitions[token, now[:, -1]]
            alive = np.flatnonzero(live.outputs[after] == 1)
            if not len(alive):
                continue
            states, table, lead, which = stack.step(token, now[alive, :-1])
            pair, back = _different((which * live.num_states + after[alive])[:, None])
            moved = np.concatenate([states[pair[:, 0] // live.num_states], pair % live.num_states], 1).astype(small)
            to[alive, token] = _numbered(moved, number, rows)[back]
            kinds = _numbered(table, known, tables)
            leads += [np.full(table.shape[1:], np.inf)] * (len(tables) - len(leads))
            for one, found in zip(kinds, lead):
                leads[one] = np.minimum(leads[one], found)
            kind[alive, token] = kinds[which]
        follow.extend(to)
        asked.extend(kind)
        if len(rows) > limit:
            return None
    if not tables:
        raise ValueError("the automaton asks for an answer after no string but, perhaps, the empty one")
    return LowerMachine(np.stack(follow), np.stack(asked), np.stack(tables), np.stack(leads), stack.lead, stack.rounding)


def _different(table: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The distinct rows of ``table`` in order of first appearance, and the index of each row among them."""
    packed = np.ascontiguousarray(table).view(f"V{table.shape[1] * table.itemsize}").reshape(-1)
    number: dict[bytes, int] = {}
    which = np.array([number.setdefault(key, len(number)) for key in packed.tolist()], np.int64)
    first = np.zeros(len(number), np.int64)
    first[which[::-1]] = np.arange(len(table))[::-1]
    return table[first], which


def _numbered(found: np.ndarray, number: dict[bytes, int], kept: list[np.ndarray]) -> np.ndarray:
    """The number of each row of ``found``; a new one is kept."""
    numbers = []
    for row in found:
        key = row.tobytes()
        if key not in number:
            number[key] = len(kept)
            kept.append(row)
        numbers.append(number[key])
    return np.array(numbers)


class _Stack:
    """The layers of a snapped model, read one token at a time; ``lead`` and ``rounding`` are those of ``LowerMachine``."""

    def __init__(self, model: Net):
        self.model, self.lead, self.rounding = model, np.inf, 0.0
        self.symbols = self._read(0, exact(model.embedding.weight))  # the first layer sees nothing but the token

    def _read(self, number: int, x: Rounded) -> tuple[np.ndarray, np.ndarray]:
        """What enters a layer, (m, D) -> (m, h, n) twice: where each state of each head goes, and the column's lead."""
        layer = self.model.layers[number]
        alive = layer.alive().numpy()
        raw = through(layer.generator, through(self.model.norms[number], x))
        value, error = (v.unflatten(-1, (layer.b, layer.h, layer.b))[:, :, alive] for v in (raw.value, raw.error))
        self.rounding = max(self.rounding, Rounded(value, error).apart())
        value = value.double().numpy()  # (m, row, h', column)
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

    def step(self, token: int, states: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """One token on many lower states (m, sum of h): the different ones (u, sum of h) it leads to, the last layer's
        tables and leads there (u, h, n), and which of the u each of the m comes to."""
        layers, after, start = self.model.layers, [], 0
        which, different = np.zeros(len(states), np.int64), states[:1]  # which rows of ``moves``
        moves, lead = (v[token][None] for v in self.symbols)
        for number, layer in enumerate(layers):
            if number:
                different, which = _different(np.concatenate(after, 1))
                stream, begin = self.model.embedding.weight[token].expand(len(different), -1), 0
                error = unit(number, stream.dtype) * (stream.double().abs() + number)
                for below in layers[:number]:
                    part = torch.from_numpy(different[:, begin : begin + below.h].astype(np.int64))
                    stream, begin = stream + F.one_hot(part, below.b).flatten(1), begin + below.h
                moves, lead = self._read(number, Rounded(stream, error))
            if number + 1 == len(layers):
                break
            here = which[:, None], np.arange(layer.h), states[:, start : start + layer.h].astype(np.int64)
            after.append(moves[here])  # (m, h)
            self.lead = min(self.lead, float(lead[here].min()))
            start += layer.h
        return different, moves, lead, which


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
