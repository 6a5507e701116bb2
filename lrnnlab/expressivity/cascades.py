"""Layers of diagonal channels with finitely many states, in whole numbers; and what they can and cannot tell apart.

Letters: T time, m order of a rotation, r rings, q state of a channel, N order of a universal layer.

A channel x_t = a x_{t-1} + b with finitely many states turns about one centre or is reset (chapter 01, Theorem D).
So its state is a whole number q = m * ring + angle, standing for the point (ring + 1) / r * exp(2 pi i angle / m), and
a step is ``("turn", k)``: a = exp(2 pi i k / m), b = 0; or ``("reset", q)``: a = 0, b = the point q.  The gate sees the
token and the states of all lower layers after that token, as in a stack of recurrent layers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, chain, combinations
from typing import Any

import numpy as np

from lrnnlab.automata import NO_LABEL, MooreMachine


@dataclass(frozen=True)
class Channel:
    """One diagonal channel: ``rule(token, lower)`` is ``("turn", k)`` or ``("reset", q)``; m * r states."""

    order: int
    rule: Callable[[int, tuple], tuple[str, int]]
    rings: int = 1
    start: int = 0

    def move(self, q: int, token: int, lower: tuple) -> int:
        """The next state.  ValueError if the rule names no such gate or no such state."""
        kind, by = self.rule(token, lower)
        if kind == "turn":
            return q - q % self.order + (q + by) % self.order
        if kind != "reset" or not 0 <= by < self.order * self.rings:
            raise ValueError(f"a gate is ('turn', k) or ('reset', 0..{self.order * self.rings - 1}), got {(kind, by)}")
        return by

    def point(self, q: int) -> complex:
        """Where state q lies in the complex plane."""
        return (q // self.order + 1) / self.rings * np.exp(2j * np.pi * (q % self.order) / self.order)

    def affine(self, token: int, lower: tuple) -> tuple[complex, complex]:
        """(a, b) of x_t = a x_{t-1} + b."""
        kind, by = self.rule(token, lower)
        return (np.exp(2j * np.pi * by / self.order), 0j) if kind == "turn" else (0j, self.point(by))


@dataclass(frozen=True)
class Stack:
    """``layers``: for each layer its parts, the lowest first; a state is, for each layer, one entry a part.

    A part has ``start`` and ``move(entry, token, lower)``, lower being the states of all lower layers after the token.
    """

    name: str
    symbols: tuple[str, ...]
    layers: tuple[tuple[Any, ...], ...]

    @property
    def start(self) -> tuple:
        return tuple(tuple(part.start for part in layer) for layer in self.layers)

    @property
    def depth(self) -> int:
        return len(self.layers)

    @cached_property
    def _known(self) -> dict:
        return {}

    def _moved(self, depth, number, entry, token, lower):
        """One part's next state, remembered: several parts meet in many ways, each alone has few states."""
        key = (depth, number, entry, token, lower)
        if key not in self._known:
            self._known[key] = self.layers[depth][number].move(entry, token, lower)
        return self._known[key]

    def step(self, state: tuple, token: int) -> tuple:
        """The state after one more token."""
        after: tuple = ()
        for depth, before in enumerate(state):
            after += (tuple(self._moved(depth, number, entry, token, after) for number, entry in enumerate(before)),)
        return after

    def run(self, word: Iterable[int]) -> list[tuple]:
        """The state after each token."""
        return list(accumulate(word, self.step, initial=self.start))[1:]


@dataclass(frozen=True)
class DiagonalCascade(Stack):
    """A stack of channels, whose states are whole numbers.

    >>> sign = Channel(2, lambda token, lower: ("turn", token))
    >>> parity = DiagonalCascade("parity", ("0", "1"), ((sign,),))
    >>> parity.run((1, 1, 0, 1)), parity.size
    ([((1,),), ((0,),), ((0,),), ((1,),)], 1)
    """

    layers: tuple[tuple[Channel, ...], ...]

    @property
    def size(self) -> int:
        """Real numbers in the largest block: 1 if all gates are real, else 2."""
        return 1 if all(channel.order <= 2 for layer in self.layers for channel in layer) else 2

    def values(self, word: Sequence[int]) -> np.ndarray:
        """The same run in complex128, (T, channels): gates from the exact states, states by x = a x + b."""
        channels = [channel for layer in self.layers for channel in layer]
        x, rows = np.array([channel.point(channel.start) for channel in channels]), []
        for token, state in zip(word, self.run(word)):
            gates = [one.affine(token, state[:depth]) for depth, layer in enumerate(self.layers) for one in layer]
            a, b = np.array(gates).T
            rows.append(x := a * x + b)
        return np.array(rows)

    def points(self, state: tuple) -> np.ndarray:
        """Where a state lies, (channels,) complex."""
        return np.array([channel.point(q) for layer, row in zip(self.layers, state) for channel, q in zip(layer, row)])

    def column_norm(self, p: float) -> float:
        """The largest p-norm of a column of a gate, in real numbers: cos and sin count apart (paper 000, Eq. 6)."""
        angles = [2 * np.pi * k / one.order for layer in self.layers for one in layer for k in range(one.order)]
        return float(max((abs(np.cos(angle)) ** p + abs(np.sin(angle)) ** p) ** (1 / p) for angle in angles))


def pair_up(
    model: Any, machine: MooreMachine, limit: int = 100_000
) -> tuple[dict[Any, int], tuple[tuple[int, ...], tuple[int, ...]] | None]:
    """Run a model and a machine side by side over all words: (answers, confused).

    ``model`` has ``start``, ``step(state, token)`` and ``symbols``.  answers: the class of a model state; confused: None
    or two words (tuples of tokens) that end in the same model state and need different classes, so that no readout is
    right.  States without a label may show anything.  The search ends, hence None is a proof for all words.
    ValueError if the symbols differ or there are more than ``limit`` pairs of states.

    >>> from lrnnlab.automata.languages import language
    >>> layer = universal_layer(("0", "1"), 2)
    >>> pair_up(layer, language("Parity").machine)[1], pair_up(layer, language("Tomita 4").machine)[1]
    (None, ((0, 0, 0), (0,)))
    """
    if tuple(model.symbols) != machine.symbols:
        raise ValueError(f"the model reads {model.symbols}, the machine {machine.symbols}")
    pairs, answers = [(model.start, machine.initial)], {}
    words: dict[tuple, tuple[int, ...]] = {pairs[0]: ()}
    for pair in pairs:
        state, q = pair
        label = int(machine.outputs[q])
        if label != NO_LABEL:
            known, first = answers.setdefault(state, (label, words[pair]))
            if known != label:
                return {}, (words[pair], first)
        for token in range(machine.num_symbols):
            following = (model.step(state, token), int(machine.transitions[token, q]))
            if following not in words:
                words[following] = (*words[pair], token)
                pairs.append(following)
        if len(pairs) > limit:
            raise ValueError(f"more than {limit} pairs of states: is the model finite-state? The last is {pairs[-1]}")
    return {state: label for state, (label, _) in answers.items()}, None


def universal_layer(symbols: Sequence[str], N: int) -> DiagonalCascade:
    """One diagonal layer that tells apart all that any one with rotations of order dividing N can tell apart.

    For each set S of tokens and each token b outside: the last token of S, and how many b came since, mod N.  Every
    channel with reset tokens S is a function of these (between resets it only turns, and turns add up).

    >>> len(universal_layer("ab", 3).layers[0])
    5
    """
    V = len(symbols)

    def channel(resets, counted):
        def rule(token, lower):
            if token in resets:
                return "reset", (resets.index(token) + 1) * order
            return "turn", int(token == counted)

        order = 1 if counted is None else N
        return Channel(order, rule, len(resets) + 1)

    sets = chain.from_iterable(combinations(range(V), size) for size in range(V + 1))
    return DiagonalCascade(
        f"universal, order {N}",
        tuple(symbols),
        (tuple(channel(resets, b) for resets in sets for b in ([b for b in range(V) if b not in resets] or [None])),),
    )
