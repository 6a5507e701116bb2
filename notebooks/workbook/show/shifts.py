"""A shift as a kernel: 1 at lag S, 0 at the other lags.  What modes it needs and what its weights cost (chapters 05, 06).

Real nodes need weights that grow exponentially with the number of lags L if S grows in proportion to it, and on [0, 1]
like L^(2 S) if S is fixed (Claim 1 of paper 004, put right in chapter 06);
nodes with a phase do not.  The proofs stand in the chapters; here are the numbers that both of them use.

Letters: N modes, L length, n = L - 1, S lag of the 1, k lag; lambda nodes, w weights; T Chebyshev, T*(x) = T(2x - 1).
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import comb, factorial, lcm, prod

import mpmath

from workbook.show.modes import monic

INTERVALS = ("[0,1]", "[-1,1]", "circle")


def check_shift(L: int, S: int, interval: str = "[0,1]") -> None:
    """ValueError unless 0 <= S < L and the interval is one of ``INTERVALS``."""
    if not 0 <= S < L:
        raise ValueError(f"a shift by S on the lags 0..L-1 needs 0 <= S < L, got S={S}, L={L}")
    if interval not in INTERVALS:
        raise ValueError(f"the nodes are in {', '.join(INTERVALS)}; got {interval!r}")


def needed_modes(L: int, S: int) -> int:
    """max(S + 1, L - S) modes other than 0 make the shift exactly, and no fewer; half of it, rounded up, with the cast to reals.

    Proof: chapter 05, section 5.  ValueError unless 0 <= S < L.

    >>> [needed_modes(6, S) for S in range(6)]
    [6, 5, 4, 4, 5, 6]
    """
    check_shift(L, S)
    return max(S + 1, L - S)


def predicted_r2(L: int, N: int) -> float:
    """R2 on Shift (eight outputs, the shifts by j L/8) of N modes cast to reals that, with lag 0 left to the skip weight, make
    (nearly) the shifts by S <= 2N only.

    Output j holds 1 - j/8 of 4.5 shares of the variance.  Proof that these shifts can be learned: chapter 06, section 6.

    >>> [round(predicted_r2(2**power, 4096), 3) for power in (14, 16, 18, 20)]
    [0.833, 0.417, 0.222, 0.222]
    """
    return sum(1 - j / 8 for j in range(8) if j * L // 8 <= 2 * N) / 4.5


def exact_weights(nodes: Sequence, S: int | None = None) -> list[Fraction]:
    """The one w with sum_i w_i lambda_i^k = [k = S] for k = 0..N-1 (S = N-1 by default), as exact fractions.

    w_i is the coefficient of x^S in the polynomial that is 1 at lambda_i and 0 at the other nodes.  nodes : numbers or
    fractions, N different ones (a float counts as the fraction that it is).  ValueError otherwise, or for S outside.

    >>> [str(w) for w in exact_weights([0, Fraction(1, 2), 1])]
    ['2', '-4', '2']
    """
    nodes = [Fraction(node) for node in nodes]
    N = len(nodes)
    S = N - 1 if S is None else S
    if len(set(nodes)) < N or not 0 <= S < N:
        raise ValueError(f"needs different nodes and 0 <= S < N; got {len(set(nodes))} different of N={N}, S={S}")
    scale = lcm(*(node.denominator for node in nodes))
    whole = [int(node * scale) for node in nodes]  # the nodes of X = scale x
    coefficients, found = monic(whole), []
    for node in whole:
        share = 0
        for coefficient in coefficients[:S:-1]:  # synthetic division by X - node, down to X^S
            share = coefficient + node * share
        found.append(Fraction(scale**S * share, prod(node - other for other in whole if other != node)))
    return found


def chebyshev_nodes(N: int, bits: int = 240) -> list[Fraction]:
    """(1 - cos(pi k / (N-1)))/2 for k = 0..N-1, to ``bits`` binary digits, as fractions.

    >>> [str(node) for node in chebyshev_nodes(3)]
    ['0', '1/2', '1']
    """
    if N < 2:
        raise ValueError(f"the extrema of T_(N-1) need N >= 2, got {N}")
    with mpmath.workprec(bits + 20):
        scaled = [(1 - mpmath.cospi(mpmath.mpf(k) / (N - 1))) * 2 ** (bits - 1) for k in range(N)]
        return [Fraction(int(mpmath.nint(value)), 2**bits) for value in scaled]


def degree(L: int, S: int, interval: str) -> int:
    """The degree of the extremal polynomial: L - 1, or L - 2 on [-1, 1] where S has the other parity.

    >>> degree(6, 5, "[-1,1]"), degree(6, 4, "[-1,1]")
    (5, 4)
    """
    check_shift(L, S, interval)
    return L - 1 - (interval == "[-1,1]" and (L - 1 - S) % 2)


def smallest_norm(L: int, S: int, interval: str = "[0,1]") -> int:
    """The least ||w||_1 of nodes in ``interval`` whose kernel is 1 at S and 0 at the other lags of 0..L-1, any number.

    It is |[x^S] T*_n| on [0, 1], the coefficient of T_n or T_(n-1) on [-1, 1], and 1 on the circle: chapter 06, section 4.

    >>> [smallest_norm(8, S) for S in range(8)]
    [1, 98, 1568, 9408, 26880, 39424, 28672, 8192]
    >>> smallest_norm(8, 7, "[-1,1]"), smallest_norm(8, 7, "circle")
    (64, 1)
    """
    n = degree(L, S, interval)
    if interval == "circle" or n == 0:
        return 1
    if interval == "[0,1]":
        return n * 4**S * comb(n + S, 2 * S) // (n + S)
    half = (n + S) // 2
    return n * 2**S * factorial(half - 1) // (2 * factorial(half - S) * factorial(S))


def extremal_nodes(L: int, S: int, interval: str, bits: int = 240) -> list[Fraction]:
    """The nodes in [0, 1] or [-1, 1] of the least norm, to ``bits`` binary digits.

    ValueError for the circle, whose nodes are no fractions.

    >>> [str(node) for node in extremal_nodes(3, 2, "[-1,1]")], [str(node) for node in extremal_nodes(4, 2, "[-1,1]")]
    (['-1', '0', '1'], ['-1', '0', '1'])
    """
    n = degree(L, S, interval)
    if interval == "circle":
        raise ValueError("on the circle the nodes are roots of unity; fractions are for [0,1] and [-1,1]")
    nodes = chebyshev_nodes(n + 1, bits) if n else [Fraction(0)]
    if interval == "[0,1]":
        return nodes
    right = [2 * node - 1 for node in nodes[(n + 2) // 2 :]]  # mirrored, so that rounding keeps the symmetry
    return [-node for node in right[::-1]] + [Fraction(0)] * (n % 2 == 0) + right
