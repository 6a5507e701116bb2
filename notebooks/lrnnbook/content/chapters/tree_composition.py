"""Paper 002: actions of words composed depth by depth, as elements of a monoid (any chunk size) and, by Sec. 7.2, as matrices.

With matrices chunks are of size 2: after layer l position i holds the action of the 2^l letters that end there, l = 0 being
the letters themselves.  Chapter 08 proves what is used here: Lemma 1, its order, how errors grow, and the repair.

Letters: T time, S strings, V tokens, n states; A, B actions as matrices with one-hot rows (Eq. 2); e size of errors, g slope
of the repair; a layer is a function (earlier, later) -> action of both.
"""

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, reduce
from typing import Any

import numpy as np

from lrnnbook.content.tables.word_actions import appended, multiplication_table
from lrnnlab.automata import Monoid, MooreMachine, transition_monoid
from lrnnlab.models.layers.attention import depth_count, kept_positions


@dataclass(frozen=True)
class Tree:
    """``elements`` (L + 1, T): row 0 the letters, row l + 1 what depth l holds at every position; element 0 does nothing."""

    machine: MooreMachine
    tokens: tuple[int, ...]
    chunk: int
    elements: np.ndarray

    @cached_property
    def monoid(self) -> Monoid:
        return transition_monoid(self.machine)

    @property
    def depths(self) -> int:
        return len(self.elements) - 1

    @property
    def root(self) -> int:
        """The element that the last position holds in the end."""
        return int(self.elements[-1, -1])

    @property
    def answer(self) -> int:
        """The class of the state that the root leads to from the start."""
        return int(self.machine.outputs[self.monoid.elements[self.root, self.machine.initial]])

    def kept(self, depth: int) -> list[int]:
        """The positions that the tree needs of a depth; -1 are the letters."""
        T = len(self.tokens)
        return list(range(T)) if depth < 0 else kept_positions(T, self.chunk, depth)


def grow(machine: MooreMachine, tokens: tuple[int, ...], chunk: int, later_first: bool = False) -> Tree:
    """Compose the actions of ``tokens`` depth by depth: position i with i - j c^l, j = 1..c-1; before the start, nothing."""
    T = len(tokens)
    depths = depth_count(T, chunk)
    times, single = multiplication_table(transition_monoid(machine)), appended(machine)[1][:, 0]
    rows = [single[list(tokens)]]
    for depth in range(depths):
        back = [min(j * chunk**depth, T) for j in range(chunk)]
        seen = [np.concatenate([np.zeros(far, dtype=int), rows[-1][: T - far]]) for far in back]  # (c, T), itself first
        rows.append(reduce(lambda first, then: times[first, then], seen if later_first else seen[::-1]))
    return Tree(machine, tuple(tokens), chunk, np.stack(rows))


def letters(machine: MooreMachine, strings: np.ndarray) -> list[np.ndarray]:
    """Eq. 2 for each letter of strings (S, T) or (T,): a list over t of (S, n, n) or (n, n)."""
    one = np.eye(machine.num_states, dtype=int)
    return [one[machine.transitions[column]] for column in strings.T]


def truth(machine: MooreMachine, strings: np.ndarray) -> list[np.ndarray]:
    """The matrix of each prefix of strings (S, T), by following every state letter by letter: a list over t."""
    one = np.eye(machine.num_states, dtype=int)
    state = np.tile(np.arange(machine.num_states), (len(strings), 1))
    found = []
    for column in strings.T:
        state = np.take_along_axis(machine.transitions[column], state, axis=1)
        found.append(one[state])
    return found


def words(machine: MooreMachine, length: int) -> np.ndarray:
    """Every word of so many letters, (V^length, length)."""
    return np.array(list(itertools.product(range(machine.num_symbols), repeat=length)))


def first_weights(n: int) -> np.ndarray:
    """Lemma 1's W1 by Eq. 3, (2 n^2, n^3): hidden unit (i, j, k) reads the numbers at two places, from 1."""
    z = np.arange(1, 2 * n * n + 1)[:, None, None, None]
    i, j, k = np.ogrid[1 : n + 1, 1 : n + 1, 1 : n + 1]
    reads = (z == (i - 1) * n + k) | (z == (n + k - 1) * n + j)
    return reads.reshape(2 * n * n, n**3).astype(int)


def second_weights(n: int) -> np.ndarray:
    """Lemma 1's W2 = I (n^2 x n^2) times a column of n ones, Kronecker: (n^3, n^2)."""
    return np.kron(np.eye(n * n, dtype=int), np.ones((n, 1), dtype=int))


def compose(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """Lemma 1 without its zero weights: sum_k ReLU(A_ik + B_kj - 1), for (..., n, n) that broadcast."""
    return np.maximum(_sums(A, B), 0).sum(axis=-1)


def rebinarised(A: np.ndarray, B: np.ndarray, g: float = 2) -> np.ndarray:
    """``compose`` with 2 n^3 hidden units, sum_k ReLU(g s - (g-1)/2) - ReLU(g s - (g+1)/2), s = A_ik + B_kj - 1."""
    s = _sums(A, B)
    return (np.maximum(g * s - (g - 1) / 2, 0) - np.maximum(g * s - (g + 1) / 2, 0)).sum(axis=-1)


def _sums(A, B):
    """What each hidden unit sees: (..., n, n) twice -> (..., n, n, n), places i, j, k."""
    return A[..., :, None, :] + np.swapaxes(B, -1, -2)[..., None, :, :] - 1


def reach(g: int) -> Fraction:
    """The largest error of the inputs that ``rebinarised`` removes wholly: 1/4 - 1/(4 g), so 1/8 for g = 2."""
    return Fraction(1, 4) - Fraction(1, 4 * g)


def recursion(leaves: Sequence, layer: Callable, before: Any) -> list[list]:
    """Depth by depth what each place holds, chunks of two: layer(place i - 2^l, place i), ``before`` at places before the first."""
    held, back = [list(leaves)], 1
    while back < len(leaves):
        last = held[-1]
        held.append([layer(last[i - back] if i >= back else before, last[i]) for i in range(len(last))])
        back *= 2
    return held


def recursion_at_once(leaves: np.ndarray, layer: Callable = compose) -> np.ndarray:
    """``recursion`` of matrices (T, ..., n, n) after identities, all places of a depth at once: (L + 1, T, ..., n, n)."""
    outputs, back = [leaves], 1
    while back < len(leaves):
        later = outputs[-1]
        before = np.broadcast_to(np.eye(leaves.shape[-1], dtype=leaves.dtype), later[:back].shape)
        outputs.append(layer(np.concatenate([before, later[:-back]]), later))
        back *= 2
    return np.stack(outputs)


def states_read(actions: np.ndarray, machine: MooreMachine) -> np.ndarray:
    """The state after each prefix: the place of the largest number in row q_0 of an action, (..., n, n) -> (...) int."""
    row = actions[..., machine.initial, :]
    return np.where(row.any(axis=-1), row.argmax(axis=-1), -1)


def worst_errors(n: int, e: float, depth: int, layer: Callable = compose, everywhere: bool = False) -> list[float]:
    """The largest error of a permutation's numbers after 0..depth layers, all letters (or every layer too) off by -e or by +e."""
    ends, found = {side: np.eye(n) + side * e for side in (-1, 1)}, []
    for _ in range(depth + 1):
        found.append(max(float(np.abs(end - np.eye(n)).max()) for end in ends.values()))
        ends = {side: layer(end, end) + side * e * everywhere for side, end in ends.items()}
    return found


def simulate(machine: MooreMachine, tokens: np.ndarray, noise: float, draw: np.random.Generator,
             layer: Callable = compose, everywhere: bool = False) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """The recursion on the matrices of a string (T,) or strings (S, T) with uniform errors, and without: each (L + 1, T, ..., n, n)."""
    leaves = np.stack(letters(machine, tokens))

    def shaken(values):
        return values + draw.uniform(-noise, noise, values.shape)

    noisy = recursion_at_once(shaken(leaves), (lambda a, b: shaken(layer(a, b))) if everywhere else layer)
    return noisy, recursion_at_once(leaves)
