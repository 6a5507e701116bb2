"""What a shift costs: the least ||w||_1 of a one-hot kernel at any lag S, with nodes in [0, 1], [-1, 1] or the circle.

Claim 1 of paper 004 has S = N-1 and N nodes.  For a one-hot at S on the lags 0..L-1, and any number of nodes:
[0, 1]: |[x^S] T*_n|, n = L-1, that is n/(n+S) 4^S C(n+S, 2S), largest near S = n/sqrt 2, growing by 3 + 2 sqrt 2 = 5.83
a lag.  Proof: sum_i w_i p(lambda_i) = [x^S] p for deg p <= n; take T*.  Equality at its extrema: w_k is the coefficient
of x^S in prod_{j != k} (x - lambda_j) / prod_{j != k} (lambda_k - lambda_j); with nodes >= 0 the first has
coefficients of alternating sign, the same for every k, and the second alternates with k, as T* does.
[-1, 1]: |[x^S] T_m|, m = n or n - 1, whichever has the parity of S (in x^2 the same proof).  Circle: 1, by the DFT.
So it is the phase that cures it, not the sign.  (All this is for exact one-hots; an error of e in each lag leaves
||w||_1 >= |[x^S] T*_n| - e T_n(3): it speaks up to e = .345 at L = 8, S = 5, but of cheap shifts only for tiny e.)  For
nodes in (0, 1], the paper's, minima are infima.

Letters: L length, n = L - 1, S lag of the 1, k lag; lambda nodes, w weights; T Chebyshev, T*(x) = T(2x - 1).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from math import comb, factorial, log10, pi, sqrt

import numpy as np
import sympy as sp
from scipy.optimize import linprog

from lrnnlab.algebra.circle_modes import power_table
from lrnnlab.algebra.evidence import Evidence, Step
from lrnnlab.algebra.ill_conditioning import chebyshev_nodes, exact_weights, random_nodes
from lrnnlab.algebra.modes import kernel

INTERVALS = ("[0,1]", "[-1,1]", "circle")


def check_shift(L: int, S: int, interval: str = "[0,1]") -> None:
    """ValueError unless 0 <= S < L and the interval is one of ``INTERVALS``."""
    if not 0 <= S < L:
        raise ValueError(f"a shift by S on the lags 0..L-1 needs 0 <= S < L, got S={S}, L={L}")
    if interval not in INTERVALS:
        raise ValueError(f"the nodes are in {', '.join(INTERVALS)}; got {interval!r}")


def degree(L: int, S: int, interval: str) -> int:
    """The degree of the extremal polynomial: L - 1, or L - 2 on [-1, 1] where S has the other parity.

    >>> degree(6, 5, "[-1,1]"), degree(6, 4, "[-1,1]")
    (5, 4)
    """
    check_shift(L, S, interval)
    return L - 1 - (interval == "[-1,1]" and (L - 1 - S) % 2)


def smallest_norm(L: int, S: int, interval: str = "[0,1]") -> int:
    """The least ||w||_1 of nodes in ``interval`` whose kernel is 1 at S and 0 at the other lags of 0..L-1, any number.

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


def least_weights(nodes: Sequence[float], target: Sequence[float]) -> np.ndarray:
    """By a linear programme: the real w with sum_i w_i lambda_i^k = target_k for all k of the least ||w||_1.

    nodes : real, any number.   Returns w (len(nodes),).   ValueError where no w is exact.  Floats: for short targets.

    >>> np.round(least_weights([0, 0.25, 0.5, 1], [0, 0, 1]), 9).tolist()
    [2.0, 0.0, -4.0, 2.0]
    """
    table = power_table(np.asarray(nodes, float), len(target))
    found = linprog(np.ones(2 * len(nodes)), A_eq=np.hstack([table, -table]), b_eq=target)
    if not found.success:
        raise ValueError(f"{len(nodes)} nodes and {len(target)} lags: {found.message}")
    positive, negative = found.x.reshape(2, -1)
    return positive - negative


def _certificate(L, S, interval):
    """The extremal polynomial as SymPy writes it: T*_n or T_n, a Poly in x."""
    x, n = sp.Symbol("x"), degree(L, S, interval)
    found = sp.chebyshevt_poly(n, x, polys=True)
    return found.compose(sp.Poly(2 * x - 1, x)) if interval == "[0,1]" else found


def every_shift(longest: int = 8, interval: str = "[0,1]", claimed: Callable = smallest_norm) -> Evidence:
    """The least norm for every L <= longest and every S, on [0, 1] or [-1, 1]: bound, equality, linear programme.

    claimed : another value from (L, S, interval), to see it fail.  ValueError for longest < 2, or the circle.

    >>> every_shift(5).holds, every_shift(5, "[-1,1]").holds
    (True, True)
    >>> [step.holds for step in every_shift(4, claimed=lambda L, S, interval: 4**S).steps]
    [True, True, False, False, False]
    """
    if longest < 2 or interval == "circle":
        raise ValueError(f"needs longest >= 2 and a real interval, got {longest}, {interval!r}")
    draw, cases = np.random.default_rng(0), [(L, S) for L in range(2, longest + 1) for S in range(L)]
    broken, still, far, differ, programme = [], [], [], [], 0.0
    for L, S in cases:
        polynomial, value = _certificate(L, S, interval), claimed(L, S, interval)
        sides = (1,) if interval == "[0,1]" else (1, -1)
        free = [sides[k % len(sides)] * node for k, node in enumerate(random_nodes(L, draw))]
        w = exact_weights(free, S)
        pairing = sum(a * Fraction(str(polynomial.eval(sp.Rational(str(node))))) for a, node in zip(w, free))
        broken += [(L, S)] * (pairing != int(polynomial.nth(S)) or sum(map(abs, w)) < abs(pairing))
        nodes = extremal_nodes(L, S, interval)
        best = exact_weights(nodes, S)
        signs = {a * (-1) ** k > 0 for k, a in enumerate(best) if a}
        still += [(L, S)] * (kernel(nodes, best, L) != [int(k == S) for k in range(L)] or len(signs) > 1)
        far += [(L, S)] * (abs(float(sum(map(abs, best)) / value) - 1) > 1e-30)
        differ += [(L, S)] * (abs(polynomial.nth(S)) != value)
        if L <= 6:
            grid = np.linspace(0 if interval == "[0,1]" else -1, 1, 401)
            least = float(abs(least_weights(grid, [float(k == S) for k in range(L)])).sum())
            programme = max(programme, abs(least / value - 1))
    shown = f"{len(cases)} pairs (L, S), L <= {longest}"
    steps = (
        Step("any w that makes the one-hot pairs with the Chebyshev polynomial to its coefficient: a lower bound",
             not broken, f"{shown}, random nodes, exactly; wrong {broken}"),
        Step("at its extrema the one w makes the one-hot, exactly, with alternating signs", not still,
             f"{shown}; wrong {still}"),
        Step("so its norm is the bound", not far, f"nodes of 240 bits, to 30 digits; wrong {far[:3]}"),
        Step("closed form = coefficient of the Chebyshev polynomial", not differ, f"{shown}; wrong {differ[:3]}"),
        Step("a linear programme over 401 nodes finds no less, and nearly that", programme < 2e-3,
             f"L <= {min(longest, 6)}: largest relative difference {programme:.1e}"),
    )  # fmt: skip
    return Evidence(f"Every shift, {interval}", "The least ||w||_1 is the coefficient of a Chebyshev polynomial.",
                    "numerical", steps)  # fmt: skip


def circle_shift(L: int = 12) -> Evidence:
    """Nodes of modulus 1: ||w||_1 = 1 for every shift, and no less for any nodes with |lambda| <= 1.

    >>> circle_shift().holds
    True
    """
    check_shift(L, 0)
    table = power_table(np.exp(2j * pi * np.arange(L) / L), L, cast=False)
    errors = [np.abs(table @ (table[S].conj() / L) - np.eye(L)[S]).max() for S in range(L)]
    steps = (
        Step("1 = |K_S| <= sum_i |w_i| |lambda_i|^S <= ||w||_1", bool((abs(table) < 1 + 1e-12).all()), "triangle"),
        Step("w_n = exp(-2 pi i n S / L)/L makes the one-hot, and has norm 1", max(errors) < 1e-12,
             f"every S < {L}: largest error {max(errors):.0e}"),
    )  # fmt: skip
    return Evidence("Every shift, circle", "On the circle a shift by any S costs ||w||_1 = 1.", "numerical", steps)


def worst_shift(L: int = 256) -> dict:
    """The dearest S on [0, 1], the log10 of its least norm, n/sqrt 2, and the growth of norms per lag as L grows.

    >>> worst_shift(8)["S"], worst_shift()
    (5, {'S': 180, 'log10': 193.7, 'near': 180.3, 'growth': 5.828})
    """
    check_shift(L, 0)
    S = max(range(L), key=lambda S: smallest_norm(L, S))
    return {"S": S, "log10": round(log10(smallest_norm(L, S)), 1), "near": round((L - 1) / sqrt(2), 1),
            "growth": round(3 + 2 * sqrt(2), 3)}  # fmt: skip


def worst_growth(longest: int = 60, base: int = 3) -> Evidence:
    """The dearest shift: S next to n/sqrt 2, with a norm between T_n(3)/(n+1) and T_n(3), n = L-1; exact.

    base : another argument of T_n, to see it fail.  ValueError for longest < 3.

    >>> worst_growth().holds, [step.holds for step in worst_growth(base=2).steps]
    (True, [True, False, True])
    """
    if longest < 3:
        raise ValueError(f"needs longest >= 3, got {longest}")
    far, outside, before, now = [], [], 1, base
    for n in range(1, longest):
        row = [smallest_norm(n + 1, S) for S in range(n + 1)]
        far += [n] * (abs(row.index(max(row)) - n / sqrt(2)) > 1)
        outside += [n] * (sum(row) != now or not now <= (n + 1) * max(row))
        before, now = now, 2 * base * now - before
    n, S = sp.symbols("n S", positive=True)
    ratio = 4 * (n + S) * (n - S) / ((2 * S + 1) * (2 * S + 2))
    first = smallest_norm(12, 5) * ratio.subs({n: 11, S: 5}) == smallest_norm(12, 6)
    steps = (
        Step("the largest is within 1 of n / sqrt 2", not far, f"n < {longest}; wrong {far}"),
        Step("all |[x^S] T*_n| add up to |T*_n(-1)| = T_n(3), and the largest is at least their mean", not outside,
             f"n < {longest}, exactly; wrong {outside[:3]}"),
        Step("from S to S+1 the norm grows by 4 (n+S)(n-S) / ((2S+1)(2S+2)), which is 1 at S = n/sqrt 2 (large n)",
             bool(first) and sp.simplify(sp.limit(ratio.subs(S, n / sp.sqrt(2)), n, sp.oo)) == 1, f"{ratio}"),
    )  # fmt: skip
    return Evidence("The dearest shift", "On [0, 1] the dearest shift is by 0.707 L, and costs (3 + 2 sqrt 2)^L or so.",
                    "exact", steps)  # fmt: skip
