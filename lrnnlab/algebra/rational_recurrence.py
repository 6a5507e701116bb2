"""Paper 003, Proposition 3.1: normalised linear Transformers are not rationally recurrent.

A weighted automaton with N states over the reals gives a word the number  alpha A_{w_1} ... A_{w_T} omega.  For such an f
the Hankel matrix H[u, v] = f(uv), u and v any words, has rank at most N, since it is (alpha A_u)(A_v omega); and a
finite rank is enough (Fliess 1974).  One linear-attention head with equal keys outputs the share of a's, which on
a^i b^j is i/(i+j): a Cauchy matrix with its rows multiplied, of full rank at every size.  So no automaton has it.

What App. C.1 leaves open: the states W_t and z_t, the unnormalised output, and a DeltaNet's *are* rational.  There the
claim holds only for what a non-linearity makes of them.

Letters: T time, N states of an automaton, n size (of a block of H, or of a key); alpha, A_v, omega an automaton's
weights; f a function of words, H its Hankel matrix; W, z as in ``fast_weights``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import combinations, product
from math import prod

import numpy as np

from lrnnlab.algebra.evidence import Evidence, Step
from lrnnlab.algebra.fast_weights import FastLayer, outputs, random_layer, states, table
from lrnnlab.algebra.modes import exact_matrix

SHARE = table([[1], [1]], [[1], [1]], [[1], [0]])  # equal keys: the share of a's
BALANCE = table([[1], [1]], [[1], [1]], [[1], [-1]])  # equal keys: a's less b's


def short_words(longest: int) -> list[tuple[int, ...]]:
    """The words over {a, b} = {0, 1} with 0 to ``longest`` letters.

    >>> short_words(1)
    [(), (0,), (1,)]
    """
    return [word for length in range(longest + 1) for word in product((0, 1), repeat=length)]


def hankel(f: Callable, before: Sequence, after: Sequence | None = None) -> list[list[Fraction]]:
    """H[u, v] = f(uv) for the words u and v given (v as u, if not given).

    >>> hankel(len, [(), (0,)])
    [[0, 1], [1, 2]]
    """
    return [[f(u + v) for v in (before if after is None else after)] for u in before]


def block(f: Callable, n: int) -> list[list[Fraction]]:
    """The part of the Hankel matrix with u = a^i and v = b^j, i and j from 1 to n."""
    return hankel(f, [(0,) * i for i in range(1, n + 1)], [(1,) * j for j in range(1, n + 1)])


def cauchy_determinant(n: int) -> Fraction:
    """det [i/(i+j)], i and j from 1 to n: prod i * prod_{i<j} (j-i)^2 / prod_{i,j} (i+j); never 0.

    >>> cauchy_determinant(2)                # 1/2 * 2/4 - 1/3 * 2/3
    Fraction(1, 36)
    """
    numbers = range(1, n + 1)
    above = prod(numbers) * prod((j - i) ** 2 for i, j in combinations(numbers, 2))
    return Fraction(above, prod(i + j for i in numbers for j in numbers))


def automaton(draw: np.random.Generator, N: int) -> Callable:
    """A random weighted automaton with N states and small whole weights, as a function of words."""
    alpha, omega = draw.integers(-2, 3, (2, N)).astype(object)
    A = draw.integers(-1, 2, (2, N, N)).astype(object)

    def weight(word):
        row = alpha
        for letter in word:
            row = row @ A[letter]
        return row @ omega

    return weight


def share(word: Sequence[int]) -> Fraction:
    """The output of the normalised layer after the last letter, Eq. 5.

    >>> share((0, 0, 1))
    Fraction(2, 3)
    """
    return outputs(SHARE, word, "normalised")[-1, 0]


def proposition_3_1(sizes: Sequence[int] = (1, 2, 4, 8, 16), f: Callable = share, seed: int = 0) -> Evidence:
    """No weighted automaton over the reals computes what one normalised layer outputs.

    f : the function of words; with another one, such as the unnormalised output, the evidence fails.
    Source: paper 003, Prop. 3.1.

    >>> proposition_3_1().holds
    True
    >>> balance = lambda word: outputs(BALANCE, word)[-1, 0]
    >>> [step.holds for step in proposition_3_1(f=balance).steps]
    [False, False, False, True]
    """
    words = [word for word in short_words(6) if word]
    wrong = [word for word in words if f(word) != Fraction(word.count(0), len(word))]
    matrices = {n: exact_matrix(block(f, n)) for n in sizes}
    ranks = {n: matrix.rank() for n, matrix in matrices.items()}
    apart = [n for n, matrix in matrices.items() if matrix.det() != cauchy_determinant(n)]
    draw, N = np.random.default_rng(seed), (1, 2, 3, 4)
    found = [exact_matrix(hankel(automaton(draw, size), short_words(3))).rank() for size in N]
    steps = (
        Step("Eq. 4-5 with equal keys, v = 1 for a and 0 for b: y is the share of a's", not wrong,
             f"{len(words)} words, {len(wrong)} wrong"),
        Step("on a^i b^j that is i/(i+j), a matrix of full rank", all(n == rank for n, rank in ranks.items()),
             f"size: rank = {ranks}"),
        Step("at every size: its determinant is prod i prod (j-i)^2 / prod (i+j), which is not 0",
             not apart and all(cauchy_determinant(n) for n in sizes), f"sizes {list(sizes)}, other values at {apart}"),
        Step("an automaton of N states has Hankel rank at most N", all(rank <= size for rank, size in zip(found, N)),
             f"random automata of {N} states: ranks {found}"),
    )  # fmt: skip
    return Evidence("Proposition 3.1", "The output of a normalised linear Transformer is not rationally recurrent.",
                    "exact", steps, {"ranks": ranks})  # fmt: skip


def delta_output(layer: FastLayer) -> Callable:
    """The first output of a delta-rule layer after the last letter, 0 for the empty word."""
    return lambda word: outputs(layer, word, "delta")[-1, 0] if word else Fraction(0)


def rational_parts(n: int = 2, longest: int = 3, seed: int = 0, indicator: Callable = lambda balance: balance == 0):
    """App. C.1's "can be directly adopted for ULTs" needs a non-linearity: before it everything is rational.

    n : size of a DeltaNet's key.   longest : prefixes and suffixes of up to so many letters, and one fewer.
    indicator : the non-linearity; with the identity the evidence fails.   Source: paper 003, App. C.1.

    >>> rational_parts().holds, [step.holds for step in rational_parts(indicator=lambda balance: balance).steps]
    (True, [True, True, True, True, False])
    """
    words, fewer, draw = short_words(longest), short_words(longest - 1), np.random.default_rng(seed)
    same = random_layer(draw, 2, n)
    same = FastLayer(same.keys, np.stack([same.queries[0]] * 2), same.values, same.strengths)
    other = random_layer(draw, 2, n)
    functions = {
        "a's less b's (ULT)": lambda word: states(BALANCE, word)[-1][0, 0],
        "W of an NLT": lambda word: states(SHARE, word)[-1][0, 0],
        "z of an NLT": lambda word: Fraction(len(word)),
        "DeltaNet, one query": delta_output(same),
        "DeltaNet, a query a letter": delta_output(other),
    }
    ranks = {name: [exact_matrix(hankel(f, some)).rank() for some in (fewer, words)] for name, f in functions.items()}
    keys = min(n, 2)  # W stays in the span of the two keys, as W_0 = 0
    ult, W, z, one, many = ranks.values()
    balance = functions["a's less b's (ULT)"]
    table_ = block(lambda word: Fraction(indicator(balance(word))), 6)
    steps = (
        Step("the output of an unnormalised layer has rank 2", ult == [2, 2], f"{ult}, words of {longest - 1}, {longest}"),
        Step("so have the states W and z of a normalised one", W == z == [2, 2], f"{W}, {z}"),
        Step("a DeltaNet's output has the rank of its keys, plus 1: (W, 1) changes linearly", one == [keys + 1] * 2,
             f"n = {n}, two letters: {one}"),
        Step("plus 2 with a query that depends on the last letter", many[-1] == keys + 2, f"{many}"),
        Step("1 where a's and b's are equal in number, else 0: on a^i b^j the identity, of full rank",
             table_ == [[int(i == j) for j in range(6)] for i in range(6)], f"rank {exact_matrix(table_).rank()} of 6"),
    )  # fmt: skip
    claim = "States, unnormalised outputs and delta-rule outputs are rational; a threshold on them is not."
    return Evidence("Appendix C.1 on Proposition 3.1", claim, "exact", steps, {"ranks": ranks})
