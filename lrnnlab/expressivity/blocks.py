"""Layers of blocks with exact entries: the x_t = A_t x_{t-1} + b_t of paper 000, Eqs. 5 and 6, without rounding.

Letters: V tokens, b block size, p the norm of Eq. 6; A transition (b, b), x state (b,), n order of a root of unity w.

Entries are whole numbers, fractions, or sums of powers of w = exp(2 pi i / n) (``RootSum``); a number that is not real
costs two real ones, w = c + i s being the block [[c, -s], [s, c]].
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from sympy import isprime

from lrnnlab.automata import MooreMachine
from lrnnlab.expressivity.cascades import Stack


class RootSum:
    """c_0 + c_1 w + ... + c_{n-1} w^{n-1}, n prime; written with c_{n-1} = 0, unique as 1 + w + ... + w^{n-1} = 0."""

    __slots__ = ("parts",)

    def __init__(self, parts):
        last = parts[-1]
        self.parts = tuple(part - last for part in parts) if last else tuple(parts)

    def _other(self, other):
        return other.parts if isinstance(other, RootSum) else (other, *(0,) * (len(self.parts) - 1))

    def __add__(self, other):
        return RootSum([a + b for a, b in zip(self.parts, self._other(other), strict=True)])

    def __mul__(self, other):
        if not isinstance(other, RootSum):
            return RootSum([a * other for a in self.parts])
        n, found = len(self.parts), [0] * len(self.parts)
        for i, a in enumerate(self.parts):
            if a:
                for j, b in enumerate(other.parts):
                    if b:
                        found[(i + j) % n] += a * b
        return RootSum(found)

    __radd__, __rmul__ = __add__, __mul__

    def __neg__(self):
        return RootSum([-a for a in self.parts])

    def __pow__(self, k):
        if k < 0:
            raise ValueError(f"a power of a sum of roots needs k >= 0, got k={k}")
        found = RootSum(self._other(1))
        for _ in range(k):
            found = found * self
        return found

    def __eq__(self, other):
        return self.parts == RootSum(self._other(other)).parts

    def __hash__(self):
        return hash(self.parts if any(self.parts[1:]) else self.parts[0])  # that of the plain number it equals

    def __bool__(self):
        return any(self.parts)

    def __complex__(self):
        n = len(self.parts)
        return complex(sum(float(a) * np.exp(2j * np.pi * k / n) for k, a in enumerate(self.parts) if a))

    def __repr__(self):
        return f"RootSum({self.parts})"


def field_of(n: int) -> tuple[Callable, Any]:
    """A converter of whole numbers and fractions, and w itself.  For n = 1 and 2 the fractions, w = 1 and -1."""
    if n in (1, 2):
        return Fraction, Fraction(1 if n == 1 else -1)
    if not isprime(n):
        raise ValueError(f"a root of order 1 or of prime order is needed, got {n}")
    return lambda entry: entry if isinstance(entry, RootSum) else RootSum((entry, *(0,) * (n - 1))), RootSum(
        (0, 1, *(0,) * (n - 2)))  # fmt: skip


@dataclass(frozen=True)
class Block:
    """``rule(token, lower)`` is (A, b), rows and a vector of exact entries; lower: the states of all lower layers."""

    start: tuple
    rule: Callable[[int, tuple], tuple[tuple, tuple]]

    def move(self, x: tuple, token: int, lower: tuple) -> tuple:
        """A x + b."""
        A, drive = self.rule(token, lower)
        return tuple(sum((a * entry for a, entry in zip(row, x) if a and entry), start)
                     for row, start in zip(A, drive))  # fmt: skip


def table(start: Sequence, transitions: Sequence, drives: Sequence | None = None, root: int = 1) -> Block:
    """A block that sees the token only: ``transitions`` V matrices, ``drives`` V vectors (zero if left out).

    ValueError if a shape does not fit.

    >>> table([1], [[[1]], [[-1]]]).move((1,), 1, ())
    (Fraction(-1, 1),)
    """
    number, b = field_of(root)[0], len(start)
    drives = [[0] * b] * len(transitions) if drives is None else drives
    shapes = [(len(A), *{len(row) for row in A}, len(drive)) for A, drive in zip(transitions, drives, strict=True)]
    if any(shape != (b, b, b) for shape in shapes):
        raise ValueError(f"a block of size {b} needs {b} x {b} matrices and {b} drives, got {shapes}")
    rows = tuple((tuple(tuple(map(number, row)) for row in A), tuple(map(number, drive)))
                 for A, drive in zip(transitions, drives))  # fmt: skip
    return Block(tuple(map(number, start)), lambda token, lower: rows[token])


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
        return np.array([complex(entry) for vectors in state for x in vectors for entry in x])

    def column_norm(self, p: float) -> float:
        """The largest p-norm of a column of any transition, in real numbers; Eq. 6 asks for at most 1."""
        return float(max(column_norms(A, p).max() for A in self.transitions))

    @cached_property
    def transitions(self) -> list[np.ndarray]:
        """Every A that occurs, as a real block: for upper layers over all lower states that can be reached."""
        states, seen = [self.start], {self.start}
        for state in states if self.depth > 1 else ():
            for token in range(len(self.symbols)):
                following = self.step(state, token)
                if following not in seen:
                    seen.add(following)
                    states.append(following)
        found = []
        for depth, layer in enumerate(self.layers):
            below = {state[:depth] for state in states}
            for block in layer:
                exact = {block.rule(token, lower)[0] for token in range(len(self.symbols)) for lower in below}
                found += [real_block(np.array([list(map(complex, row)) for row in A])) for A in exact]
        return found


def column_norms(A: np.ndarray, p: float) -> np.ndarray:
    """(..., b) p-norms of the columns of A (..., b, b); Eq. 6 asks for at most 1.

    >>> column_norms(np.array([[3.0, 0.0], [4.0, 1.0]]), 2).tolist()
    [5.0, 1.0]
    """
    return np.linalg.norm(A, p, axis=-2)


def real_block(A: np.ndarray) -> np.ndarray:
    """A itself if it is real, else twice its size: c + i s as [[c, -s], [s, c]]."""
    if np.abs(A.imag).max() < 1e-12:
        return A.real
    pairs = np.array([[A.real, -A.imag], [A.imag, A.real]])  # (2, 2, b, b)
    return pairs.transpose(2, 0, 3, 1).reshape(2 * len(A), 2 * len(A))


def one_hot(machine: MooreMachine, sink: int | None = None, name: str = "one-hot") -> BlockModel:
    """b = Q: state q is the unit vector e_q; with a ``sink`` (a state that is never left) as zero vector b = Q - 1.

    ValueError if the sink is left by some token.

    >>> from lrnnlab.automata.languages import language
    >>> one_hot(language("D_2").machine, sink=2).size
    3
    """
    Q = machine.num_states
    if sink is not None and (machine.transitions[:, sink] != sink).any():
        raise ValueError(f"state {sink} is no sink: tokens lead from it to {machine.transitions[:, sink].tolist()}")
    kept = [q for q in range(Q) if q != sink]
    moves = [[[int(move[q] == row) for q in kept] for row in kept] for move in machine.transitions]
    return BlockModel(name, machine.symbols, ((table([int(q == machine.initial) for q in kept], moves),),))
