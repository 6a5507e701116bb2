"""Paper 003's layers in any arithmetic, and what chapter 09's pictures and exercises need to know of them.

One head; the slow net's answers to each token are given as a table:

    sum          W_t = W_{t-1} + v k^T                        y_t = W_t q              Eq. 1-3 (ULT)
    normalised   the same, z_t = z_{t-1} + k                  y_t = W_t q / (z_t . q)  Eq. 4-5 (NLT)
    delta        W_t = W_{t-1} + beta (v - W_{t-1} k) k^T     y_t = W_t q              Eq. 7-8 (DeltaNet)

W_0 = 0.  k and q stand for phi(k) and phi(q), beta for sigmoid(beta): what is proved of them holds for any phi.

Behind the layers: what one layer of addition can see of a word; brackets with a reset, and the counter of the delta
rule that leaks; the parity counter of one number, w -> w + beta (1/2 - w), in floating point.

Letters: T time, V tokens, n size of a key, m of a value; W fast weights (m, n), z (n,), k, q, v, beta as above, y
output; e leak, m depth, w what the memory answers to the one key.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import log

import numpy as np
from numpy.typing import ArrayLike

BRACKETS = "()1"  # tokens 0, 1, 2 of reset Dyck-1
Rows = Sequence | np.ndarray  # of numbers, one a token


@dataclass(frozen=True)
class FastLayer:
    """``keys`` and ``queries`` (V, n), ``values`` (V, m), ``strengths`` (V,), of each token; ``strengths`` for delta."""

    keys: np.ndarray
    queries: np.ndarray
    values: np.ndarray
    strengths: np.ndarray


def exact(numbers: ArrayLike) -> np.ndarray:
    """An array of the same numbers as fractions, for exact arithmetic."""
    return np.vectorize(Fraction, otypes=[object])(np.asarray(numbers))


def table(keys: Rows, queries: Rows, values: Rows, strengths: Rows | None = None) -> FastLayer:
    """An exact layer from lists of numbers, a row a token; a strength not given is 1."""
    strengths = [1] * len(keys) if strengths is None else strengths
    return FastLayer(*(exact(part) for part in (keys, queries, values, strengths)))


def random_layer(draw: np.random.Generator, V: int, n: int, m: int = 1) -> FastLayer:
    """An exact layer with positive keys and queries in 1..4, values in -3..3 and strengths among 1/4, 1/2, 3/4."""
    keys, queries = (draw.integers(1, 5, (V, n)) for _ in "kq")
    strengths = [Fraction(int(quarter), 4) for quarter in draw.integers(1, 4, V)]
    return table(keys, queries, draw.integers(-3, 4, (V, m)), strengths)


def states(layer: FastLayer, word: Sequence[int], rule: str = "sum", start: np.ndarray | None = None) -> list:
    """W_0 ... W_T, each (m, n), in the arithmetic of the layer; ``rule`` is sum, normalised or delta."""
    W = layer.values[:1].T * layer.keys[:1] * 0 if start is None else start
    found = [W]
    for token in word:
        k, v = layer.keys[token], layer.values[token]
        W = W + layer.strengths[token] * np.outer(v - W @ k, k) if rule == "delta" else W + np.outer(v, k)
        found.append(W)
    return found


def outputs(layer: FastLayer, word: Sequence[int], rule: str = "sum") -> np.ndarray:
    """y_1 ... y_T, (T, m), in the arithmetic of the layer."""
    found = []
    for t, W in enumerate(states(layer, word, rule)[1:], 1):
        q = layer.queries[word[t - 1]]
        weight = layer.keys[list(word[:t])].sum(0) @ q if rule == "normalised" else 1
        found.append(W @ q / weight)
    return np.array(found)


# --- what one layer of addition can see --------------------------------------------------------------------------------


def configuration(word: Sequence) -> tuple:
    """The tokens of a word, sorted, and its last one: all that a layer of addition sees (paper 003, Prop. 3.4)."""
    return tuple(sorted(word)), word[-1]


# --- brackets, a reset, a leak -----------------------------------------------------------------------------------------


def tokens(text: str) -> tuple[int, ...]:
    """A text over ( ) 1 as tokens."""
    return tuple(BRACKETS.index(char) for char in text)


def depth_since_reset(text: str) -> int:
    """How many brackets are open since the last 1."""
    part = text.rpartition("1")[2]
    return part.count("(") - part.count(")")


def reset_counter(leak: Fraction) -> FastLayer:
    """One delta-rule head that counts ( and ) with a leak, and forgets at 1: key 1, beta = leak, v = +-1/leak; beta = 1."""
    return table([[1]] * 3, [[1]] * 3, [[1 / leak], [-1 / leak], [0]], [leak, leak, 1])


def leaky(e: Fraction, m: int) -> Fraction:
    """The counter with leak e after (^m )^m: -(1 - (1 - e)^m)^2 / e."""
    return -((1 - (1 - e) ** m) ** 2) / e


def breaks_at(e: Fraction) -> int:
    """The least m with a counter below -1/2 after (^m )^m."""
    return next(m for m in range(1, 10**6) if leaky(e, m) < -Fraction(1, 2))


# --- parity, by reflection at one half ---------------------------------------------------------------------------------


def reflected(bits: np.ndarray, beta: float, kind: type = np.float32, noise: np.ndarray | None = None) -> np.ndarray:
    """The parity counter's states (T,) in floating point: w + beta (1/2 - w) at each 1, plus noise (T,) if given."""
    w, strength, half, found = kind(0), kind(beta), kind(0.5), np.empty(len(bits), kind)
    for t, bit in enumerate(bits.tolist()):
        if bit:
            w = w + strength * (half - w)
        if noise is not None:
            w = w + kind(noise[t])
        found[t] = w
    return found


def first_error(found: np.ndarray, bits: np.ndarray) -> int | None:
    """The first number of tokens after which w > 1/2 is not the parity (w = 1/2 says neither); None if there is none."""
    wrong = np.flatnonzero((found > 0.5) != bits.cumsum() % 2) if len(bits) else []
    wrong = np.union1d(wrong, np.flatnonzero(found == 0.5)).astype(int)
    return int(wrong[0]) + 1 if len(wrong) else None


def predicted_error(beta: float, noise: float) -> float:
    """When |1 - beta|^t / 2 has come down to ``noise``: ln(1 / (2 noise)) / -ln|1 - beta|."""
    return log(1 / (2 * noise)) / -log(abs(1 - beta))
