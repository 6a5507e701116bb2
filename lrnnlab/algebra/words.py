"""Subtraction expressions a-b-c-... modulo M and the states that one input-independent layer gives them.

The layer is x <- A x + v_letter, the same A for every letter (paper 000, Eq. 2); v_letter stands for the paper's B u.
An expression of n operands is written as the tuple of its operands: (0, 0, 1) is "0-0-1", five letters.

Letters: M modulus, n operands, D width of the state; A transition (D, D), x state (D,).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

LIMIT = 1 << 21  # expressions that word_states is willing to hold at once


@dataclass(frozen=True)
class Layer:
    """One input-independent layer over the letters 0, ..., M-1 and '-'.

    A : (D, D).   digits : (M, D), what each digit adds.   minus : (D,), what '-' adds.   start : (D,), the state before
    the first letter.  For D = 1 numbers do for (1, 1) and (1,), and (M,) for (M, 1).  ValueError for shapes that do
    not fit or fewer than two digits.

    >>> counter = Layer(A=1, digits=[0, 1, 2])
    >>> counter.M, counter.D, counter.state((2, 1, 2)).tolist()
    (3, 1, [5])
    """

    A: np.ndarray
    digits: np.ndarray
    minus: np.ndarray = 0
    start: np.ndarray = 0

    def __post_init__(self):
        A, digits = np.atleast_2d(self.A), np.asarray(self.digits)
        digits = digits[:, None] if digits.ndim == 1 else digits
        D = A.shape[0]
        minus, start = (v if (v := np.asarray(given)).ndim else np.full(D, given) for given in (self.minus, self.start))
        if A.shape != (D, D) or digits.ndim != 2 or digits.shape[1] != D or {minus.shape, start.shape} != {(D,)}:
            shapes = ", ".join(str(v.shape) for v in (A, digits, minus, start))
            raise ValueError(f"a layer needs A (D, D), digits (M, D), minus (D,), start (D,); got {shapes}")
        if len(digits) < 2:
            raise ValueError(f"a layer needs at least the digits 0 and 1, got {len(digits)} digit(s)")
        for name, value in zip(("A", "digits", "minus", "start"), (A, digits, minus, start)):
            object.__setattr__(self, name, value)

    @property
    def M(self) -> int:
        return len(self.digits)

    @property
    def D(self) -> int:
        return len(self.A)

    def state(self, operands: Sequence[int]) -> np.ndarray:
        """The state (D,) after the expression; integers are exact at any size."""
        check_operands(operands, self.M)
        # Python's own integers where the layer has integers: 500 letters in base 7 do not fit a machine word.
        A, digits, minus, x = (
            v.astype(object) if v.dtype.kind in "iu" else v for v in (self.A, self.digits, self.minus, self.start)
        )
        for place, digit in enumerate(operands):
            if place:
                x = A @ x + minus
            x = A @ x + digits[digit]
        return x


def check_modulus(M: int) -> None:
    """ValueError for a modulus below 2."""
    if M < 2:
        raise ValueError(f"a modulus needs to be at least 2, got {M}")


def check_operands(operands: Sequence[int], M: int) -> None:
    """ValueError that shows an expression which is empty or leaves the digits 0..M-1."""
    if not len(operands) or not all(0 <= digit < M for digit in operands):
        raise ValueError(f"an expression needs one or more digits 0..{M - 1}, got {tuple(operands)}")


def value(operands: Sequence[int], M: int) -> int:
    """a-b-c-... modulo M.

    >>> value((0, 1), 5), value((1, 0), 5), value((0, 0, 1), 5)
    (4, 1, 4)
    """
    check_operands(operands, M)
    return (operands[0] - sum(operands[1:])) % M


def spelled(operands: Sequence[int]) -> str:
    """(0, 0, 1) -> '0-0-1'."""
    return "-".join(map(str, operands))


@dataclass(frozen=True)
class WordStates:
    """All expressions of n operands: words (M^n, n), states (M^n, D), values (M^n,), row for row."""

    words: np.ndarray
    states: np.ndarray
    values: np.ndarray


def word_states(layer: Layer, n: int) -> WordStates:
    """The states and values of all M^n expressions of n operands, in lexicographic order of the words.

    ValueError for n < 1, for more than 2^21 expressions, and for integers that would not fit a machine word.

    >>> found = word_states(Layer(A=1, digits=range(3)), 2)
    >>> found.words[5].tolist(), found.states[5].tolist(), int(found.values[5])
    ([1, 2], [3], 2)
    """
    M, A = layer.M, layer.A
    if n < 1 or M**n > LIMIT:
        raise ValueError(f"{M}^{n} expressions: choose n >= 1 operands and at most {LIMIT} expressions")
    kinds = {v.dtype.kind for v in (A, layer.digits, layer.minus, layer.start)}
    if kinds <= set("iu") and _reach(layer, 2 * n - 1) >= 1 << 62:
        raise ValueError(f"integer states of {n} operands do not fit 64 bits; use fewer operands or a float layer")
    states = layer.start[None]
    for place in range(n):
        if place:
            states = states @ A.T + layer.minus
        states = (states @ A.T)[:, None] + layer.digits  # (M^place, M, D)
        states = states.reshape(-1, layer.D)
    words = np.stack(np.unravel_index(np.arange(M**n), (M,) * n), axis=-1)
    return WordStates(words, states, (2 * words[:, 0] - words.sum(1)) % M)


def _reach(layer, letters):
    """An upper bound on the entries of any state after so many letters."""
    gain = max(sum(abs(int(entry)) for entry in row) for row in layer.A)
    size = max(abs(int(entry)) for entry in layer.start)
    step = max(abs(int(entry)) for entry in (*layer.digits.flat, *layer.minus))
    for _ in range(letters):
        size = gain * size + step
    return size


def collisions(states: np.ndarray, cell: float = 0) -> np.ndarray:
    """(K, 2) pairs of rows in one state: each row with the first row that has the same state.

    cell : 0 asks for equal states; otherwise two states are one when they lie in the same cell of a grid with cells
    of this side, so that a pair is less than cell sqrt(D) apart.  ValueError for a negative cell.

    >>> collisions(np.array([[0.0], [1.0], [0.2], [1.0]])).tolist()
    [[1, 3]]
    >>> collisions(np.array([[0.0], [1.0], [0.2], [1.0]]), cell=0.5).tolist()
    [[0, 2], [1, 3]]
    """
    if not cell >= 0:
        raise ValueError(f"a cell needs a side >= 0, got {cell}")
    keys = np.floor((states - states.min(0)) / cell) if cell else states
    _, first, group = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    pairs = np.stack([first[group.reshape(-1)], np.arange(len(states))], axis=-1)
    return pairs[pairs[:, 0] != pairs[:, 1]]


def contradiction(left: Sequence[int], right: Sequence[int], M: int) -> tuple[tuple, tuple] | None:
    """Two expressions in one state with different values, made from two expressions of equal length in one state.

    Strip the common prefix; what is left, t and t', is again in one state, and so are 0-t and 0-t', because the
    difference of the states does not depend on the prefix.  For odd M one of the two pairs has different values.
    None when neither has (even M only).  ValueError for unequal lengths or equal expressions.

    >>> contradiction((3, 0, 2), (3, 2, 0), 5)          # without "3-": values -2 = 3 and 2
    ((0, 2), (2, 0))
    >>> contradiction((0, 1), (1, 0), 2) is None
    True
    """
    if len(left) != len(right) or tuple(left) == tuple(right):
        raise ValueError(f"two different expressions of one length are needed, got {left} and {right}")
    cut = next(place for place, (a, b) in enumerate(zip(left, right)) if a != b)
    for prefix in ((), (0,)):
        pair = (*prefix, *left[cut:]), (*prefix, *right[cut:])
        if value(pair[0], M) != value(pair[1], M):
            return pair
    return None


def counter(M: int = 5) -> Layer:
    """The layer that adds its digits: bounded only by the length, and blind to their order.

    >>> counter(5).state((0, 1)) == counter(5).state((1, 0))
    array([ True])
    """
    return Layer(A=1, digits=np.arange(M))


def positional(M: int = 5) -> Layer:
    """The layer that stores everything: the letters as the digits 1..M+1 of a number in base M+2.

    >>> positional(5).state((0, 1))                      # letters 0 - 1 as digits 1 6 2
    array([93], dtype=object)
    """
    return Layer(A=M + 2, digits=np.arange(1, M + 1), minus=M + 1)


def spiral(M: int = 5, radius: float = 0.8, turn: float = 1.0) -> Layer:
    """A stable layer of width 2: A turns by ``turn`` radians and shrinks by ``radius``; digits lie on a unit circle.

    ValueError for a radius outside (0, 1).

    >>> spiral().state((0, 1)).round(3).tolist()
    [0.043, 1.533]
    """
    if not 0 < radius < 1:
        raise ValueError(f"a stable layer needs a radius between 0 and 1, got {radius}")
    c, s = radius * np.cos(turn), radius * np.sin(turn)
    angles = 2 * np.pi * np.arange(M) / M
    digits = np.stack([np.cos(angles), np.sin(angles)], axis=-1)
    return Layer(A=np.array([[c, -s], [s, c]]), digits=digits, minus=np.zeros(2), start=np.zeros(2))
