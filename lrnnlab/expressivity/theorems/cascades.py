"""Exact layers: x_t = A_t x_{t-1} + b_t without rounding, and what a stack of such layers can and cannot tell apart.

* A **block** has a matrix A and a vector b of exact entries (paper 000, Eqs. 5 and 6): whole numbers, fractions, or
  elements of Q(w), w = exp(2 pi i / n), by SymPy.  A number that is not real costs two real ones, w = c + i s being the
  block [[c, -s], [s, c]].
* A **channel**, x_t = a x_{t-1} + b with finitely many states, turns about one centre or is reset (chapter 01, Theorem
  D).  So its state is a whole number q = m * ring + angle, standing for the point (ring + 1) / r * exp(2 pi i angle /
  m), and a step is ``("turn", k)``: a = exp(2 pi i k / m), b = 0; or ``("reset", q)``: a = 0, b = the point q.

The gate sees the token and the states of all lower layers after that token, as in a stack of recurrent layers.
Letters: T time, V tokens, b block size, p the norm of Eq. 6; m order of a rotation, r rings, q state of a channel.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate, chain, combinations, pairwise, product
from typing import Any

import numpy as np
from sympy import QQ
from sympy.combinatorics import Permutation, PermutationGroup

from lrnnlab.automata import NO_LABEL, MooreMachine
from lrnnlab.automata.languages import GROUPS
from lrnnlab.automata.machines import Search


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


# --- blocks -----------------------------------------------------------------------------------------------------------


def field_of(n: int) -> tuple[Callable, Any]:
    """A converter of whole numbers and fractions to Q(w), and w itself.  For n = 1 and 2 the fractions, w = 1 and -1."""
    if n in (1, 2):
        return Fraction, Fraction(1 if n == 1 else -1)
    field = QQ.cyclotomic_field(n)
    return lambda entry: field.one * entry, field.unit


def as_complex(entry: Any, n: int) -> complex:
    """A fraction, or an element of Q(w), as a floating-point number."""
    if isinstance(entry, (int, Fraction)):
        return complex(entry)
    return complex(np.polyval([float(part) for part in entry.to_list()], np.exp(2j * np.pi / n)))


@dataclass(frozen=True)
class Block:
    """``transition(token, lower)`` is (A, b), rows and a vector of exact entries; lower: the states of all lower layers."""

    start: tuple
    transition: Callable[[int, tuple], tuple[tuple, tuple]]
    root: int = 1  # n, the entries are in Q(w)

    def move(self, x: tuple, token: int, lower: tuple) -> tuple:
        """A x + b."""
        A, drive = self.transition(token, lower)
        return tuple(sum((a * entry for a, entry in zip(row, x) if a and entry), start)
                     for row, start in zip(A, drive))  # fmt: skip


def table(start: Sequence, transitions: Sequence, drives: Sequence | None = None, root: int = 1) -> Block:
    """A block that sees the token only: ``transitions`` V matrices, ``drives`` V vectors (zero if left out)."""
    number, b = field_of(root)[0], len(start)
    drives = [[0] * b] * len(transitions) if drives is None else drives
    rows = tuple((tuple(tuple(map(number, row)) for row in A), tuple(map(number, drive)))
                 for A, drive in zip(transitions, drives))  # fmt: skip
    return Block(tuple(map(number, start)), lambda token, lower: rows[token], root)


@dataclass(frozen=True)
class BlockModel(Stack):
    """A stack of blocks, whose states are vectors."""

    layers: tuple[tuple[Block, ...], ...]

    @property
    def size(self) -> int:
        """Real numbers in the largest block."""
        return max(len(A) for A in self.transitions)

    def points(self, state: tuple) -> np.ndarray:
        """All numbers of a state as complex128, in order, for pictures."""
        return np.array([as_complex(entry, block.root) for layer, vectors in zip(self.layers, state)
                         for block, x in zip(layer, vectors) for entry in x])  # fmt: skip

    def column_norm(self, p: float) -> float:
        """The largest p-norm of a column of any transition, in real numbers; Eq. 6 asks for at most 1."""
        return float(max(np.linalg.norm(A, p, axis=-2).max() for A in self.transitions))

    @cached_property
    def transitions(self) -> list[np.ndarray]:
        """Every A that occurs, as a real block: for upper layers over all lower states that can be reached."""
        tokens, found = range(len(self.symbols)), []
        every = Search(self.start, lambda state: ((token, self.step(state, token)) for token in tokens))
        states = [*every] if self.depth > 1 else [self.start]
        for depth, layer in enumerate(self.layers):
            below = {state[:depth] for state in states}
            for block in layer:
                exact = {block.transition(token, lower)[0] for token in tokens for lower in below}
                found += [real_block(np.array([[as_complex(entry, block.root) for entry in row] for row in A]))
                          for A in exact]  # fmt: skip
        return found


def real_block(A: np.ndarray) -> np.ndarray:
    """A itself if it is real, else twice its size: c + i s as [[c, -s], [s, c]]."""
    if np.abs(A.imag).max() < 1e-12:
        return A.real
    pairs = np.array([[A.real, -A.imag], [A.imag, A.real]])  # (2, 2, b, b)
    return pairs.transpose(2, 0, 3, 1).reshape(2 * len(A), 2 * len(A))


def one_hot(machine: MooreMachine, sink: int | None = None, name: str = "one-hot") -> BlockModel:
    """b = Q: state q is the unit vector e_q; with a ``sink`` (a state that is never left) as zero vector b = Q - 1."""
    Q = machine.num_states
    kept = [q for q in range(Q) if q != sink]
    moves = [[[int(move[q] == row) for q in kept] for row in kept] for move in machine.transitions]
    return BlockModel(name, machine.symbols, ((table([int(q == machine.initial) for q in kept], moves),),))


# --- channels -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Channel:
    """One diagonal channel: ``gate(token, lower)`` is ``("turn", k)`` or ``("reset", q)``; m * r states."""

    order: int
    gate: Callable[[int, tuple], tuple[str, int]]
    rings: int = 1
    start: int = 0

    def move(self, q: int, token: int, lower: tuple) -> int:
        """The next state.  ValueError if there is no such gate or no such state."""
        kind, by = self.gate(token, lower)
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
        kind, by = self.gate(token, lower)
        return (np.exp(2j * np.pi * by / self.order), 0j) if kind == "turn" else (0j, self.point(by))


@dataclass(frozen=True)
class DiagonalCascade(Stack):
    """A stack of channels, whose states are whole numbers."""

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
    """
    if tuple(model.symbols) != machine.symbols:
        raise ValueError(f"the model reads {model.symbols}, the machine {machine.symbols}")
    tokens, answers = range(machine.num_symbols), {}
    pairs = Search((model.start, machine.initial), lambda pair: (
        (token, (model.step(pair[0], token), int(machine.transitions[token, pair[1]]))) for token in tokens))  # fmt: skip
    for pair in pairs:
        state, q = pair
        label = int(machine.outputs[q])
        if len(pairs.came) > limit:
            raise ValueError(f"more than {limit} pairs of states: is the model finite-state? The last is {[*pairs.came][-1]}")
        if label != NO_LABEL:
            known, first = answers.setdefault(state, (label, pair))
            if known != label:
                return {}, (pairs.word(pair), pairs.word(first))
    return {state: label for state, (label, _) in answers.items()}, None


def universal_layer(symbols: Sequence[str], N: int) -> DiagonalCascade:
    """One diagonal layer that tells apart all that any one with rotations of order dividing N can tell apart.

    For each set S of tokens and each token b outside: the last token of S, and how many b came since, mod N.  Every
    channel with reset tokens S is a function of these (between resets it only turns, and turns add up).
    """
    V = len(symbols)

    def channel(resets, counted):
        def gate(token, lower):
            if token in resets:
                return "reset", (resets.index(token) + 1) * order
            return "turn", int(token == counted)

        order = 1 if counted is None else N
        return Channel(order, gate, len(resets) + 1)

    sets = chain.from_iterable(combinations(range(V), size) for size in range(V + 1))
    return DiagonalCascade(
        f"universal, order {N}",
        tuple(symbols),
        (tuple(channel(resets, b) for resets in sets for b in ([b for b in range(V) if b not in resets] or [None])),),
    )


# --- solvable groups: as many layers as the derived series is long (chapter 01, D') ------------------------------------
# G a group of permutations, g one of its generators (a token); n, h, t(h) parts of an element x = n t(h).


def then(x: Sequence[int], y: Sequence[int]) -> tuple[int, ...]:
    """First x, then y, as permutations (tuples)."""
    return tuple(y[point] for point in x)


def inverse(x: Sequence[int]) -> tuple[int, ...]:
    """The permutation that undoes x."""
    return tuple(int(point) for point in np.argsort(x))


def derived_series(generators: Sequence[Sequence[int]]) -> list[list[tuple]]:
    """G, its commutator subgroup, and so on, as sorted lists of permutations, until one repeats or is trivial."""
    found = PermutationGroup([Permutation(list(g)) for g in generators]).derived_series()
    series = [sorted(tuple(element.array_form) for element in group.elements) for group in found]
    return series if len(series[-1]) == 1 else [*series, series[-1]]


def _basis(group, below):
    """A basis of the abelian quotient: elements with their orders, and the coordinates of every element of group."""
    coset = {x: min(then(x, k) for k in below) for x in group}
    one, spanned, chosen = coset[tuple(range(len(group[0])))], {coset[tuple(range(len(group[0])))]: ()}, []

    def powers(x):
        row = [one]
        while (following := coset[then(row[-1], x)]) != one:
            row.append(following)
        return row

    rows = sorted((powers(x) for x in set(coset.values())), key=lambda row: (-len(row), row))
    for row in rows:  # longest first: a cyclic subgroup of the largest order splits off
        if len(row) > 1 and not set(row[1:]) & set(spanned):
            chosen.append(row)
            spanned = {coset[then(x, y)]: (*at, k) for x, at in spanned.items() for k, y in enumerate(row)}
    if len(spanned) * len(below) != len(group):
        raise ValueError(f"no basis found for a quotient of order {len(group) // len(below)}: is it abelian?")
    return [len(row) for row in chosen], {x: spanned[coset[x]] for x in group}, {at: x for x, at in spanned.items()}


def solvable_cascade(name: str, symbols: Iterable[str], generators: Sequence[Sequence[int]]) -> DiagonalCascade:
    """The word problem of a solvable group in as many diagonal layers as its derived series is long."""
    series = derived_series(generators)
    if len(series[-1]) > 1:
        raise ValueError(f"{name} is not solvable: its derived series has orders {[len(group) for group in series]}")
    quotients = [_basis(group, below) for group, below in pairwise(series)]

    def section(h):
        """t(h): an element with the coordinates h in the lower layers."""
        element = tuple(range(len(generators[0])))
        for at, (_, _, chosen) in zip(h, quotients):
            element = then(chosen[at], element)
        return element

    def coordinates(x, depth):
        h = ()
        for _, at, _ in quotients[:depth]:
            h += (at[then(x, inverse(section(h)))],)
        return h

    def turns(depth):
        table = {}
        for h in product(*(sorted(chosen) for _, _, chosen in quotients[:depth])):
            for token, g in enumerate(generators):
                moved = then(section(h), g)
                after = coordinates(moved, depth)
                table[token, after] = quotients[depth][1][then(moved, inverse(section(after)))]
        return table

    def channel(order, number, table):
        return Channel(order, lambda token, lower: ("turn", table[token, lower][number]))

    return DiagonalCascade(
        name,
        tuple(symbols),
        tuple(
            tuple(channel(order, number, table) for number, order in enumerate(orders))
            for (orders, _, _), table in zip(quotients, map(turns, range(len(quotients))))
        ),
    )


def group_cascade(name: str) -> DiagonalCascade:
    """The layers of one of ``languages.GROUPS``; ValueError for A_5, which has none."""
    if name not in GROUPS:
        raise ValueError(f"no group is called {name!r}; there are {', '.join(GROUPS)}")
    return solvable_cascade(name, GROUPS[name], list(GROUPS[name].values()))
