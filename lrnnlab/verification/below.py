"""What the layers under the last one can do, as a finite machine, and how little of it the last layer sees.

The states of a snapped layer's blocks ("heads") are one-hot, so all layers but the last are together in one *lower
state*: a tuple of small integers.  The last layer looks at the token and the lower state, and its generator answers
with a table for each head: where each of the head's states goes.  Lower states that always, now and after every
continuation, lead to the same tables are one and the same to the last layer; ``quotient`` merges them.  A network with
thousands of lower states often has a quotient of a few dozen.

Strings that the task can never ask about (two numbers in a row) are not followed: a ``live`` machine says which ones.

Letters: R lower states, V vocabulary, L layers, h heads, n states of a head; a lower state is a row of (L-1) h integers.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from lrnnlab.automata import MooreMachine, minimise
from lrnnlab.automata.partition import coarsest, equal_rows
from lrnnlab.models import Net

AT_ONCE = 4096  # lower states moved by one call of the generators


@dataclass(frozen=True)
class Below:
    """The lower machine.  State 0 is the initial one; -1 in ``follow`` where the string can no longer be asked about.

    ``follow`` (R, V): the next lower state.      ``kind`` (R, V): which row of ``tables`` the last layer then uses.
    ``tables`` (K, h, n): for each head of the last layer where each of its states goes.
    """

    follow: np.ndarray
    kind: np.ndarray
    tables: np.ndarray


def live_part(specification: MooreMachine) -> MooreMachine:
    """Shows 1 while some continuation (or the string itself) is asked about, then 0 for ever.

    >>> from lrnnlab.tasks import ModArith, Sum
    >>> live_part(Sum(5).specification).num_states, live_part(ModArith(5).specification).num_states
    (1, 3)
    """
    live = specification.outputs >= 0
    while True:
        wider = live | live[specification.transitions].any(0)
        if np.array_equal(wider, live):
            break
        live = wider
    shown = MooreMachine(
        specification.transitions, live.astype(np.int64), specification.initial, specification.symbols
    )
    return minimise(shown)


def reach(model: Net, live: MooreMachine, limit: int) -> Below | None:
    """Breadth-first over the lower states of a snapped ``model``; None if there are more than ``limit``."""
    *lower, _ = model.layers
    symbols = _moves(model.layers[0], model.symbol_inputs())  # (V, h, n): the first layer sees nothing but the token
    first = np.array([s for layer in lower for s in layer.x0.argmax(-1).tolist()] + [live.initial], np.uint8)
    rows, number, follow, asked = [first], {first.tobytes(): 0}, [], []
    tables, known = [], {}
    while len(follow) < len(rows):
        now = np.stack(rows[len(follow) : len(follow) + AT_ONCE])
        to = np.full((len(now), model.vocab_size), -1)
        kind = np.full((len(now), model.vocab_size), -1)
        for token in range(model.vocab_size):
            after = live.transitions[token, now[:, -1]]
            alive = np.flatnonzero(live.outputs[after] == 1)
            if not len(alive):
                continue
            states, table, which = _step(model, symbols[token], token, now[alive, :-1])
            pair, back = _different((which * live.num_states + after[alive])[:, None])
            moved = np.concatenate([states[pair[:, 0] // live.num_states], pair % live.num_states], 1).astype(np.uint8)
            to[alive, token] = _numbered(moved, number, rows)[back]
            kind[alive, token] = _numbered(table, known, tables)[which]
        follow.extend(to)
        asked.extend(kind)
        if len(rows) > limit:
            return None
    return Below(np.stack(follow), np.stack(asked), np.stack(tables))


def _different(table: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The different rows of ``table``, in the order of their first appearance, and which of them each row is."""
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


def _moves(layer, z: Tensor) -> np.ndarray:
    """Inputs z (m, D) of a snapped layer -> (m, h, n): where every state of every head goes."""
    raw = layer.raw_blocks(z).numpy()  # (m, row, h', column)
    best, to = raw[:, 0].copy(), np.zeros(raw[:, 0].shape, np.uint8)
    for row in range(1, layer.b):  # an argmax over this axis would take several times as long
        np.maximum(to, (raw[:, row] > best) * np.uint8(row), out=to)
        np.maximum(best, raw[:, row], out=best)
    if np.isnan(best).any():  # as torch and NumPy have it, a NaN is larger than anything
        to = raw.argmax(1).astype(np.uint8)
    moves = np.empty((len(raw), layer.h, layer.b), np.uint8)
    moves[:] = np.arange(layer.b)  # a frozen head stays where it is
    moves[:, ~layer.frozen.numpy()] = to
    return moves


def _step(
    model: Net, symbol: np.ndarray, token: int, states: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """One token on many lower states (m, (L-1) h): the different ones (u, (L-1) h) it leads to, the last layer's tables
    there (u, h, n), and which of the u each of the m comes to.

    A layer's generator sees the token and where the layers below have come to, which is the same for many of the m.
    """
    which, moves, after, start = np.zeros(len(states), np.int64), symbol[None], [], 0  # which rows of moves
    for number, (norm, layer) in enumerate(zip(model.norms, model.layers)):
        if number:
            different, which = _different(np.concatenate(after, 1))
            stream = model.embedding.weight[token].expand(len(different), -1)
            for below in np.split(different, number, 1):
                stream = stream + F.one_hot(torch.from_numpy(below.astype(np.int64)), layer.b).flatten(1)
            moves = _moves(layer, norm(stream))
        if number + 1 == len(model.layers):
            return different if number else states[:1], moves, which
        now = states[:, start : start + layer.h].astype(np.int64)
        after.append(moves[which[:, None], np.arange(layer.h), now])  # (m, h)
        start += layer.h
    raise AssertionError("a model has at least one layer")


def quotient(below: Below, heads: np.ndarray) -> Below:
    """Merge lower states that the given heads of the last layer can never tell apart."""
    tables, kinds = np.unique(below.tables[:, heads], axis=0, return_inverse=True)
    kind = np.where(below.kind >= 0, kinds.reshape(-1)[below.kind], -1)  # (R, V)
    group = coarsest(equal_rows(kind), below.follow)
    first = np.zeros(group.max() + 1, np.int64)
    first[group[::-1]] = np.arange(len(group))[::-1]  # the earliest member of each class stands for it
    following = np.where(below.follow >= 0, group[below.follow], -1)
    return Below(following[first], kind[first], tables)
