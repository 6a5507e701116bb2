"""Paper 003's layers in any arithmetic: one head, the slow net's answers to each token given as a table.

    sum          W_t = W_{t-1} + v k^T                        y_t = W_t q              Eq. 1-3 (ULT)
    normalised   the same, z_t = z_{t-1} + k                  y_t = W_t q / (z_t . q)  Eq. 4-5 (NLT)
    delta        W_t = W_{t-1} + beta (v - W_{t-1} k) k^T     y_t = W_t q              Eq. 7-8 (DeltaNet)

W_0 = 0.  k and q stand for phi(k) and phi(q), beta for sigmoid(beta): what is proved of them holds for any phi.

Letters: T time, V tokens, n size of a key, m of a value; W fast weights (m, n), z (n,), k, q, v, beta as above, y output.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

RULES = ("sum", "normalised", "delta")


@dataclass(frozen=True)
class FastLayer:
    """``keys`` and ``queries`` (V, n), ``values`` (V, m), ``strengths`` (V,), of each token; ``strengths`` for delta."""

    keys: np.ndarray
    queries: np.ndarray
    values: np.ndarray
    strengths: np.ndarray


def exact(numbers) -> np.ndarray:
    """An array of the same numbers as fractions, for exact arithmetic.

    >>> exact([1, 0.5]).tolist()
    [Fraction(1, 1), Fraction(1, 2)]
    """
    return np.vectorize(Fraction, otypes=[object])(np.asarray(numbers))


def table(keys, queries, values, strengths=None) -> FastLayer:
    """An exact layer from lists of numbers, a row a token; a strength not given is 1.

    >>> table([[1], [1]], [[1], [1]], [[1], [-1]]).strengths.tolist()
    [Fraction(1, 1), Fraction(1, 1)]
    """
    strengths = [1] * len(keys) if strengths is None else strengths
    return FastLayer(*(exact(part) for part in (keys, queries, values, strengths)))


def random_layer(draw: np.random.Generator, V: int, n: int, m: int = 1) -> FastLayer:
    """An exact layer with positive keys and queries in 1..4, values in -3..3 and strengths among 1/4, 1/2, 3/4."""
    positive = [draw.integers(1, 5, (V, n)) for _ in "kq"]
    strengths = [Fraction(int(quarter), 4) for quarter in draw.integers(1, 4, V)]
    return table(*positive, draw.integers(-3, 4, (V, m)), strengths)


def states(layer: FastLayer, word: Sequence[int], rule: str = "sum", start: np.ndarray | None = None) -> list:
    """W_0 ... W_T, each (m, n), in the arithmetic of the layer.  ValueError for an unknown rule.

    >>> [W.tolist() for W in states(table([[1]], [[1]], [["1/2"]], [2]), (0, 0, 0), "delta")][1:]
    [[[Fraction(1, 1)]], [[Fraction(0, 1)]], [[Fraction(1, 1)]]]
    """
    if rule not in RULES:
        raise ValueError(f"the rules are {', '.join(RULES)}, got {rule!r}")
    W = layer.values[:1].T * layer.keys[:1] * 0 if start is None else start
    found = [W]
    for token in word:
        k, v = layer.keys[token], layer.values[token]
        W = W + layer.strengths[token] * np.outer(v - W @ k, k) if rule == "delta" else W + np.outer(v, k)
        found.append(W)
    return found


def outputs(layer: FastLayer, word: Sequence[int], rule: str = "sum") -> np.ndarray:
    """y_1 ... y_T, (T, m), in the arithmetic of the layer.

    >>> count = table([[1], [1]], [[1], [1]], [[1], [-1]])
    >>> [[str(y) for y in outputs(count, (0, 0, 1), rule)[:, 0]] for rule in ("sum", "normalised")]
    [['1', '2', '1'], ['1', '1', '1/3']]
    """
    found = []
    for t, W in enumerate(states(layer, word, rule)[1:], 1):
        q = layer.queries[word[t - 1]]
        weight = layer.keys[list(word[:t])].sum(0) @ q if rule == "normalised" else 1
        found.append(W @ q / weight)
    return np.array(found)
