"""How many states a layer with one A needs (Theorem B), and what it can do with finitely many (Theorem C).

Both rest on one line: position j of a string of length n adds A^(n-j) v_letter to the state, whatever stands elsewhere,
so the set of states at length n is a sum of n sets, and a sum of real sets has |X + Y| >= |X| + |Y| - 1 elements (also
in R^D: a generic linear functional keeps all the points involved apart).  Against paper 000, Sec. 4.4, which explains
the failure of S4 on Sum and EvenPair by subtraction, a thing that neither contains: ``sum_analogue``.

Letters: M modulus or alphabet, n length, D width, d degree; A transition (D, D), v (M, D) what each letter adds.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import sympy as sp

from lrnnlab.algebra.evidence import Evidence, Step
from lrnnlab.algebra.words import check_modulus

ENDLESS = 120  # reachable states after which a layer counts as having infinitely many


def states_at(A: np.ndarray, v: np.ndarray, n: int) -> set[tuple[int, ...]]:
    """The states of all M^n strings of length n from 0, as exact integers: n sums of two sets.

    >>> sorted(states_at([[1]], [[0], [1]], 3))
    [(0,), (1,), (2,), (3,)]
    """
    A, v = np.asarray(A, dtype=object), np.asarray(v, dtype=object)
    states = {(0,) * len(A)}
    for _ in range(n):
        states = {tuple(A @ np.array(x, dtype=object) + step) for x in states for step in v}
    return states


def distinct_contributions(A: np.ndarray, v: np.ndarray, n: int) -> bool:
    """A^j v_letter tells all letters apart for each j < n: without that, changing one letter can go unseen.

    >>> distinct_contributions([[0]], [[0], [1]], 1), distinct_contributions([[0]], [[0], [1]], 2)
    (True, False)
    """
    A, moved = np.asarray(A, dtype=object), np.asarray(v, dtype=object)
    for _ in range(n):
        if len({tuple(row) for row in moved}) < len(moved):
            return False
        moved = moved @ A.T
    return True


def random_systems(count: int, M: int, seed: int = 0, D: int = 2, size: int = 2) -> Iterable[tuple]:
    """``count`` pairs (A, v) of integers: A (D, D) and v (M, D) with entries -size..size."""
    draw = np.random.default_rng(seed)
    for _ in range(count):
        yield draw.integers(-size, size + 1, size=(D, D)), draw.integers(-size, size + 1, size=(M, D))


def theorem_b(M: int = 2, n: int = 6, systems: Iterable[tuple] | None = None) -> Evidence:
    """One layer with one A that computes Sum(M) on length n, with any read-out, visits at least (M-1) n + 1 states.

    Checked on integer ``systems`` (A, v) whose contributions are distinct, as Sum needs: by default 200 random ones of
    width 2; systems that are passed are all taken.  The counter A = 1 attains the bound.

    >>> theorem_b().data["least"], theorem_b().holds
    ([2, 3, 4, 5, 6, 7], True)
    >>> theorem_b(systems=[([[0]], [[0], [1]])]).holds      # A = 0 forgets: too few states, and no Sum
    False
    """
    check_modulus(M)
    if n < 1:
        raise ValueError(f"Theorem B needs a length of at least 1, got {n}")
    if systems is None:
        systems = (pair for pair in random_systems(200, M) if distinct_contributions(*pair, n))
    systems, counter = list(systems), ([[1]], [[s] for s in range(M)])
    lengths = range(1, n + 1)
    visited = [[len(states_at(A, v, k)) for k in lengths] for A, v in systems]
    least = [min(counts) for counts in zip(*visited)]
    bound = [(M - 1) * k + 1 for k in lengths]
    attained = [len(states_at(*counter, k)) for k in lengths]
    draw = np.random.default_rng(0)
    sets = [[set(draw.integers(-9, 10, size=draw.integers(1, 9)).tolist()) for _ in "XY"] for _ in range(300)]
    short = sum(len({x + y for x in X for y in Y}) < len(X) + len(Y) - 1 for X, Y in sets)
    steps = (
        Step("|X + Y| >= |X| + |Y| - 1: x_1+y_1 < ... < x_1+y_k < x_2+y_k < ... < x_m+y_k", not short,
             f"{short} exceptions among {len(sets)} random pairs of sets"),
        Step("every system visits at least (M-1) k + 1 states at length k", all(a >= b for a, b in zip(least, bound)),
             f"{len(systems)} systems: least {least}, bound {bound}"),
        Step("the counter attains the bound", attained == bound, f"counter: {attained}"),
    )  # fmt: skip
    return Evidence("Theorem B", f"Sum({M}) on length n takes at least {M - 1} n + 1 states in one layer with one A.",
                    "sampled", steps, {"least": least, "bound": bound, "systems": len(systems)})  # fmt: skip


def forgets_after(A: np.ndarray, v: np.ndarray) -> int | None:
    """The least j with A^j (v_a - v_b) = 0 for all letters; None if there is none (then none up to D, by Fitting).

    >>> forgets_after([[0, 0], [1, 0]], [[0, 0], [1, 0]]), forgets_after([[1]], [[0], [1]])
    (2, None)
    """
    A, differences = np.asarray(A, dtype=object), np.asarray(v, dtype=object)
    differences = differences[1:] - differences[:1]
    for j in range(len(A) + 1):
        if not differences.any():
            return j
        differences = differences @ A.T
    return None


def reachable(A: np.ndarray, v: np.ndarray, limit: int = ENDLESS) -> set[tuple[int, ...]] | None:
    """All states reachable from 0 by strings of any length; None when there are more than ``limit``.

    >>> len(reachable([[-1]], [[1], [1]])), reachable([[1]], [[0], [1]])
    (2, None)
    """
    A, v = np.asarray(A, dtype=object), np.asarray(v, dtype=object)
    seen = edge = {(0,) * len(A)}
    while edge and len(seen) <= limit:
        edge = {tuple(A @ np.array(x, dtype=object) + step) for x in edge for step in v} - seen
        seen = seen | edge
    return None if len(seen) > limit else seen


def theorem_c(systems: Iterable[tuple] | None = None, n: int = 7) -> Evidence:
    """Finitely many states in one layer with one A: they depend only on the length and on the last j <= D letters.

    Sharper, and the proof: if A^D (v_a - v_b) != 0 then A^j (v_a - v_b) != 0 for every j (Fitting), each position adds
    one of at least two vectors, and length n has at least n + 1 states.  Checked on integer ``systems`` (A, v) over two
    letters; by default 150 random ones of width 1, 2 and 3.

    >>> proof = theorem_c()
    >>> proof.holds, proof.data
    (True, {'finite': 37, 'longest': 2, 'growing': 101})
    """
    if systems is None:
        systems = [pair for D in (1, 2, 3) for pair in random_systems(50, 2, seed=D, D=D, size=1)]
    finite = growing = longest = late = short = 0
    for A, v in systems:
        memory, states = forgets_after(A, v), reachable(A, v)
        if states is not None:
            finite += 1
            late += memory is None or not _only_the_last(A, v, memory, n)
            longest = max(longest, memory or 0)
        if memory is None:
            growing += 1
            short += len(states_at(A, v, n)) < n + 1
    steps = (
        Step("finitely many states: the state depends on the length and the last j <= D letters only",
             finite > 0 and not late, f"{finite} finite layers, {late} exceptions, longest memory {longest} letters"),
        Step("a layer that does not forget has at least n + 1 states at length n", not short,
             f"{growing} layers that do not forget, {short} exceptions at n = {n}"),
    )  # fmt: skip
    return Evidence("Theorem C", "One A and finitely many states: no Sum, parity, EvenPair or ModArith in one layer.",
                    "sampled", steps, {"finite": finite, "longest": longest, "growing": growing})  # fmt: skip


def _only_the_last(A, v, memory, n):
    """What came before the last ``memory`` of n letters is one and the same when it arrives at the end."""
    power = np.linalg.matrix_power(np.asarray(A, dtype=object), memory)
    return len({tuple(power @ np.array(x, dtype=object)) for x in states_at(A, v, n - memory)}) == 1


def thue_morse(d: int = 4, D: int | None = None) -> Evidence:
    """A state that grows polynomially, (A - I)^d = 0, cannot tell a word of length 2^d from its complement.

    The word is Thue-Morse's (bit i is the parity of the ones in i); its states differ from the complement's by
    (A - I)(A^2 - I)(A^4 - I)... (v_1 - v_0), d factors with A - I in each.  D is the size of the Jordan block that is
    run (default d; a larger one tells the words apart).  ValueError for d < 1.

    >>> [thue_morse(d).holds for d in (1, 2, 3, 4, 5)], thue_morse(3, D=4).holds
    ([True, True, True, True, True], False)
    """
    if d < 1:
        raise ValueError(f"a degree of at least 1 is needed, got {d}")
    D = D or d
    a = sp.Symbol("a")
    bits = [i.bit_count() % 2 for i in range(2**d)]
    gap = sp.Poly(sum((1 - 2 * bit) * a ** (len(bits) - 1 - i) for i, bit in enumerate(bits)), a)
    factors = sp.Poly(sp.prod([a ** (2**i) - 1 for i in range(d)]), a)
    A = (np.eye(D, dtype=int) + np.eye(D, k=-1, dtype=int)).astype(object)  # Python's integers: exact at any size
    states = []
    for word in (bits, [1 - bit for bit in bits]):
        x = np.array([0] * D, dtype=object)
        for bit in word:
            x = A @ x
            x[0] += bit
        states.append(x.tolist())
    steps = (
        Step("the sum of signs times powers of A is (A - 1)(A^2 - 1)(A^4 - 1)...", gap == factors,
             f"{len(bits)} terms, {d} factors"),
        Step("so (A - 1)^d divides it", gap.rem(sp.Poly((a - 1) ** d, a)).is_zero, f"remainder by (a - 1)^{d}"),
        Step(f"run: the Jordan block of size {D} in the same state, first letters 0 and 1", states[0] == states[1],
             f"length {len(bits)}: {states[0]} and {states[1]}"),
    )  # fmt: skip
    return Evidence("Thue-Morse", f"Degree {d}: two strings of length {2**d} with different first letters, one state.",
                    "symbolic", steps, {"word": bits})  # fmt: skip


def sum_analogue(M: int = 5, characteristic: int = 0) -> Evidence:
    """What Proposition 1 would have to say of Sum(M): equal values = equal states is impossible there too.

    x(01) = x(10) makes A fix d = Bu_1 - Bu_0; then x(1...1) - x(0...0) = M d for M letters, and equal values (0) make
    M d = 0, so d = 0 and x(0) = x(1).  With numbers modulo M (``characteristic=M``) M d = 0 says nothing, and the
    argument fails: the cyclic counter represents Sum.  Source: paper 000, Sec. 4.4 (where Prop. 1 is used for Sum).

    >>> sum_analogue().holds, sum_analogue(characteristic=5).holds
    (True, False)
    """
    check_modulus(M)
    A, b0, b1 = sp.symbols("A Bu_0 Bu_1", commutative=False)
    swap = sp.expand((A * b0 + b1) - (A * b1 + b0) - (1 - A) * (b1 - b0))
    a = sp.Symbol("a")
    ones = sp.rem(sum(a**i for i in range(M)), a - 1, a)  # A d = d: a polynomial in A acts on d by its value at 1
    factor = M % characteristic if characteristic else M
    steps = (
        Step("x(01) - x(10) = (1 - A) d with d = Bu_1 - Bu_0: equal states make A d = d", swap == 0,
             "x(01) - x(10) = A Bu_0 + Bu_1 - A Bu_1 - Bu_0"),
        Step("then M ones and M zeros differ by M d", ones == M, f"(1 + A + ... + A^{M - 1}) d = {ones} d"),
        Step("both have the value 0, so M d = 0, and d = 0: x(0) = x(1), though 0 != 1", factor != 0,
             f"M = {factor} in these numbers"),
    )  # fmt: skip
    return Evidence("Proposition 1 for Sum", f"'Equal values = equal states' is impossible for Sum({M}) as well.",
                    "symbolic", steps)  # fmt: skip
