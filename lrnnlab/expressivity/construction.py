"""The weights themselves: a machine of your own as exact layers, proved right on all words.

Letters: Q states, V tokens, n states of a quotient; x state, k a key, s the strength and v the target of a write
x <- x + s (v - k . x) k / (k . k), which is one delta-rule write with beta |k|^2 = s and W_0 = 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from lrnnlab.automata import MooreMachine, classify, minimise
from lrnnlab.automata.algebra import Quotient
from lrnnlab.automata.parsing import MAX_STATES, MAX_TOKENS
from lrnnlab.expressivity.prediction import (
    FAMILIES,
    MAX_MONOID,
    ORDERS,
    known_quotients,
    separate,
    writes_needed,
    writes_of,
)
from lrnnlab.expressivity.theorems.cascades import (
    BlockModel,
    Channel,
    DiagonalCascade,
    one_hot,
    pair_up,
    solvable_cascade,
    table,
    universal_layer,
)
from lrnnlab.expressivity.theorems.one_layer import possible_in_one_diagonal_layer
from lrnnlab.validation import checked, shown

Write = tuple[tuple[Fraction, ...], Fraction, Fraction]


@dataclass(frozen=True)
class Constructed:
    """Exact weights: ``model`` is right on all words that have an answer (not -1).

    ``writes``: for each head and token its writes (k, s, v), in their order.
    """

    family: str
    model: BlockModel | DiagonalCascade
    writes: tuple[tuple[tuple[Write, ...], ...], ...] = ()

    @property
    def size(self) -> int:
        """The largest block; with ``writes`` the most of them that a token makes in one head."""
        return max(len(made) for head in self.writes for made in head) if self.writes else self.model.size


@checked
def construct(machine: MooreMachine, family: str) -> Constructed:
    """Construct exact weights in fractions for a machine, and compare them with it over all words that have an answer.

    Blocks, one-hot columns and the dictionary have one-hot states; reflections one head for each quotient that takes
    few writes; diagonal gates one layer of resets and turns where that is possible, else the layers of a solvable group.

    Parameters
    ----------
    machine : MooreMachine
        It is minimised first.
    family : str
        One of ``FAMILIES``.

    Returns
    -------
    Constructed
        The exact model.

    Raises
    ------
    ValueError
        Where none are made: the machine is too large, none can be, or none are known here.

    Examples
    --------
    >>> from lrnnlab.automata.languages import language
    >>> construct(language("S_3").machine, "reflections").size
    2
    >>> construct(language("S_4").machine, "complex").model.depth
    3
    """
    if family not in FAMILIES:
        raise ValueError(f"the families are {', '.join(map(repr, FAMILIES))}, got {shown(family)}")
    small = minimise(machine)
    if small.num_states > MAX_STATES or small.num_symbols > MAX_TOKENS:
        raise ValueError(f"exact weights are made for machines of at most {MAX_STATES} states and {MAX_TOKENS} tokens; this one "
                         f"has {small.num_states} states and {small.num_symbols} tokens")  # fmt: skip
    made = _made(small, family)
    counterexample = pair_up(made.model, small)[1]
    if counterexample is not None:
        raise AssertionError(f"the weights for {family} confuse the words {counterexample}")
    return made


def _made(small, family):
    if family == "blocks":
        heads = _few(small, known_quotients(small))
        blocks = tuple(one_hot(found.machine).layers[0][0] for found in heads)
        return Constructed(family, BlockModel("one-hot", small.symbols, (blocks,)))
    if family in ("one-hot columns, phases", "dictionary"):
        return Constructed(family, one_hot(small))
    order = {**ORDERS, "reflection, beta <= 1": 1, "reflection": 2}
    if family in ("reflection", "reflections"):
        cost = {found: needed for found in known_quotients(small) if (needed := writes_needed(found)) is not None}
        heads = next((_few(small, few) for k in sorted(set(cost.values()))
                      if separate(small, few := [q for q in cost if cost[q] <= k])), ())  # fmt: skip
        if heads and (family == "reflections" or max(cost[found] for found in heads) == 1):
            writes, blocks = zip(*map(_reflecting, heads))
            return Constructed(family, BlockModel("reflections", small.symbols, (blocks,)), writes)
    if family in order and (cascade := _diagonal(small, order[family])) is not None:
        return Constructed(family, cascade)
    raise ValueError(f"no exact weights with finitely many states are known here for {family}; "
                     "predict says whether there can be any")  # fmt: skip


def _few(small, usable: Sequence[Quotient]):
    """As few of them as still tell all states apart, small ones rather than large ones."""
    chosen: list[Quotient] = []
    for found in sorted(usable, key=lambda found: found.machine.num_states):
        if not separate(small, chosen):
            chosen.append(found)
    for found in chosen[::-1]:
        if separate(small, [other for other in chosen if other is not found]):
            chosen.remove(found)
    return chosen


def _reflecting(found):
    """The writes of each token, and the block that they make: x is the unit vector of a state less that of the first."""
    machine, (sink, rows) = found.machine, writes_of(found)
    kept = [q for q in range(machine.num_states) if q != sink]
    start = np.array([Fraction(int(q == machine.initial)) for q in kept])
    writes, matrices, drives = [], [], []
    for row in rows:
        A, drive, made = np.eye(len(kept), dtype=int) * Fraction(1), start * 0, []
        for key, strength, target in row:
            k, v = np.array([Fraction(key.get(q, 0)) for q in kept]), Fraction(target)
            v, share = v - k @ start, Fraction(strength) / (k @ k)
            A, drive = A - share * np.outer(k, k @ A), drive + share * (v - k @ drive) * k
            made.append((tuple(k), Fraction(strength), v))
        writes.append(tuple(made))
        matrices.append(A.tolist())
        drives.append(drive.tolist())
    return tuple(writes), table([0] * len(kept), matrices, drives)


def _diagonal(small, order):
    """Layers of diagonal gates with turns of an order that divides ``order`` (None: any), or None."""
    groups = classify(small, limit=MAX_MONOID)
    if not groups.group or not groups.solvable or groups.monoid_size > 500:
        verdict = possible_in_one_diagonal_layer(small)
        fits = verdict.possible and (order is None or order % verdict.order == 0)
        return _one_layer(small, verdict.order) if fits else None
    cascade = solvable_cascade("a cascade", small.symbols, [tuple(map(int, move)) for move in small.transitions])
    if order is None or all(order % channel.order == 0 for layer in cascade.layers for channel in layer):
        return cascade
    return None


def _one_layer(small, order):
    """Channels of the universal layer, one more as long as two words are confused."""
    channels: list[Channel] = []
    every = universal_layer(small.symbols, order).layers[0]

    def end(channel, word):
        q = channel.start
        for token in word:
            q = channel.move(q, token, ())
        return q

    while True:
        layer = DiagonalCascade("resets and turns", small.symbols, (tuple(channels),))
        counterexample = pair_up(layer, small)[1]
        if counterexample is None:
            return layer
        channels.append(next(channel for channel in every if end(channel, counterexample[0]) != end(channel, counterexample[1])))
