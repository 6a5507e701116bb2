"""Paper 004, Claim 1: real nodes in [0, 1] make a one-hot kernel with enormous weights.  Put right, and made exact.

Claim 1 bounds ||w||_inf by 2^(2N - O(log N)) from below, through the largest Vandermonde determinant.  Its conclusion
is right; the printed w_i has a wrong sign for odd N and the one-hot an index out of range.  Sharper: the least ||w||_1
of a one-hot at lag N-1 is 2^(2N-3).  Proof.  sum_i w_i p(lambda_i) = [x^(N-1)] p for every p of degree below N.
Take T*(x) = T_{N-1}(2x - 1): |T*| <= 1 on [0, 1] and its leading coefficient is 2^(2N-3), so ||w||_1 >= 2^(2N-3).  At
its N extrema, lambda_k = (1 - cos(pi k / (N-1)))/2, the w_k alternate like T*(lambda_k): equality.

Letters: N nodes, S the lag of the 1, k lag; lambda nodes, w weights, P the table of powers; T Chebyshev polynomials.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from fractions import Fraction
from math import factorial, lcm, log, prod

import mpmath
import numpy as np
import sympy as sp
from numpy.polynomial import legendre

from lrnnlab.algebra.evidence import Evidence, Step
from lrnnlab.algebra.modes import kernel, monic


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


def corrected_formula(nodes: Sequence) -> list[Fraction]:
    """w_i = 1 / prod_{j != i} (lambda_i - lambda_j), for the lag N-1.

    >>> [str(w) for w in corrected_formula([0, Fraction(1, 2), 1])]
    ['2', '-4', '2']
    """
    return [1 / Fraction(prod(node - other for other in nodes if other != node)) for node in nodes]


def printed_formula(nodes: Sequence) -> list[Fraction]:
    """w_i = -1 / prod_{j != i} (lambda_j - lambda_i), as printed in the proof of Claim 1.

    >>> [str(w) for w in printed_formula([0, Fraction(1, 2), 1])]
    ['-2', '4', '-2']
    """
    return [-1 / Fraction(prod(other - node for other in nodes if other != node)) for node in nodes]


def random_nodes(N: int, draw: np.random.Generator) -> list[Fraction]:
    """N different fractions in (0, 1], with a denominator up to 10 N.

    >>> len(set(random_nodes(5, np.random.default_rng(0))))
    5
    """
    return [Fraction(int(a), 10 * N) for a in draw.choice(10 * N, N, replace=False) + 1]


def claim_1(largest: int = 6, formula: Callable = corrected_formula, first: int = 0, seed: int = 0) -> Evidence:
    """The weights of Claim 1: right sign, right index, and the product that its bound uses; exact, N = 2..largest.

    formula : the weights from the nodes.   first : the power that the table starts with; the claim's "position N" of a
    table with N columns is out of range from 0, and from 1 asks for another factor 1/lambda_i.  ValueError for
    largest < 3.  Source: paper 004, Sec. A.4.

    >>> claim_1().holds, [step.holds for step in claim_1(formula=printed_formula).steps]
    (True, [False, True, False, True])
    >>> [step.holds for step in claim_1(first=1).steps]
    [False, True, True, True]
    """
    if largest < 3:
        raise ValueError(f"the sign shows at N = 3, got largest={largest}")
    draw, sizes = np.random.default_rng(seed), range(2, largest + 1)
    sets = {N: random_nodes(N, draw) for N in sizes}

    def wrong(make, first):
        hots = {N: [int(k == N - 1) for k in range(N)] for N in sizes}
        return [N for N in sizes if kernel(sets[N], make(sets[N]), N + first)[first:] != hots[N]]

    def extra(nodes):
        return [w / node for w, node in zip(formula(nodes), nodes)]

    gaps = {N: abs(prod(b - a for i, a in enumerate(v) for b in v[i + 1 :])) for N, v in sets.items()}
    means = [N for N in sizes if abs(prod(formula(sets[N]))) != 1 / gaps[N] ** 2
             or max(map(abs, formula(sets[N]))) ** N < 1 / gaps[N] ** 2]  # fmt: skip
    steps = (
        Step("the weights make the kernel 1 at the last of N lags and 0 before", not wrong(formula, first),
             f"wrong for N in {wrong(formula, first)}"),
        Step("the printed ones, -1/prod (lambda_j - lambda_i), for even N only",
             wrong(printed_formula, 0) == [N for N in sizes if N % 2], f"wrong for N in {wrong(printed_formula, 0)}"),
        Step("with powers 1..N ('position N' taken literally) the weights have another factor 1/lambda_i",
             not wrong(extra, 1), f"wrong for N in {wrong(extra, 1)}"),
        Step("prod |w_i| = prod_{i<j} |lambda_i - lambda_j|^-2, so the largest is at least its N-th root", not means,
             f"N = 2..{largest}, wrong for {means}"),
    )  # fmt: skip
    return Evidence("Claim 1: the weights", "w_i = 1/prod (lambda_i - lambda_j) makes the one-hot at N-1.", "sampled",
                    steps)  # fmt: skip


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


def exact_minimum(largest: int = 20, exponent: Callable = lambda N: 2 * N - 3, trials: int = 10) -> Evidence:
    """min ||w||_1 = 2^(2N-3) over all N nodes in [0, 1], for the one-hot at lag N-1: the proof, step by step.

    exponent : another claim, to see it fail.   trials : random node sets for each N.  ValueError for largest < 3.

    >>> exact_minimum(12).holds
    True
    >>> [step.holds for step in exact_minimum(8, exponent=lambda N: 2 * N - 2).steps]
    [True, True, False, True, False, False]
    """
    if largest < 3:
        raise ValueError(f"the check begins at N = 2 and needs largest >= 3, got {largest}")
    x, draw, sizes = sp.Symbol("x"), np.random.default_rng(0), range(2, largest + 1)
    T, U = ([make(n, x, polys=True) for n in range(largest)] for make in (sp.chebyshevt_poly, sp.chebyshevu_poly))
    circle = sp.Poly(x**2 - 1, x)
    pell = all(T[n] ** 2 - circle * U[n - 1] ** 2 == 1 for n in range(1, largest))
    slope = all((circle * U[n - 1]).diff(x) == x * U[n - 1] + n * T[n] for n in range(1, largest))
    leading = [T[N - 1].compose(sp.Poly(2 * x - 1, x)).LC() for N in sizes]
    picks, ratios = 0, []
    for N in sizes:
        for _ in range(trials):
            nodes, p = random_nodes(N, draw), draw.integers(-9, 10, N).tolist()
            w = exact_weights(nodes)
            picks += sum(a * sum(c * node**k for k, c in enumerate(p)) for a, node in zip(w, nodes)) != p[-1]
            ratios.append(sum(map(abs, w)) / Fraction(2) ** exponent(N))
    extremal = {N: exact_weights(chebyshev_nodes(N)) for N in sizes}
    off = max(abs(float(sum(map(abs, w)) / Fraction(2) ** exponent(N) - 1)) for N, w in extremal.items())
    turns = all(a * b < 0 for w in extremal.values() for a, b in itertools.pairwise(w))
    steps = (
        Step("sum_i w_i p(lambda_i) = [x^(N-1)] p for every p of degree below N", not picks,
             f"{trials} random p and nodes for each N = 2..{largest}, exactly"),
        Step("T_n^2 + (1 - x^2) U_(n-1)^2 = 1: |T_n| <= 1 on [-1, 1], and T* on [0, 1]", pell, f"n < {largest}"),
        Step("the leading coefficient of T*_(N-1) is 2^(2N-3): no w is smaller",
             leading == [sp.Integer(2) ** exponent(N) for N in sizes], f"{leading[:6]} ..."),
        Step("n = N-1, d/dx (x^2 - 1) U_(n-1) = x U_(n-1) + n T_n: at the extrema |w_k| is 2^(2N-3)/n, half at the "
             "ends, and the signs alternate", slope and turns, f"N = 2..{largest}"),
        Step("so ||w||_1 = 2^(2N-3) there", off < 1e-30, f"largest relative difference {off:.0e}, nodes of 240 bits"),
        Step("random nodes do worse", min(ratios) >= 1, f"least ratio {float(min(ratios)):.3f} in {len(ratios)} sets"),
    )  # fmt: skip
    return Evidence("Claim 1, exactly", "N nodes in [0, 1]: the one-hot at lag N-1 has ||w||_1 >= 2^(2N-3), attained.",
                    "sampled", steps, {"leading": [int(c) for c in leading]})  # fmt: skip


def determinant_gap(N: int) -> float:
    """log of the largest prod_{i<j} |lambda_i - lambda_j| on [0, 1] less that of the printed formula with c = 1.

    The largest is at the zeros of (1 - y^2) P'_{N-1}(y), y = 2 lambda - 1 (Fekete points; P Legendre).  Printed:
    c 2^(-N^2) sqrt((N-1)!) (8e)^(N/2) N^(3/8); the gap tends to log c, near -0.46.  ValueError for N < 2.

    >>> [round(determinant_gap(N), 3) for N in (4, 16, 64)]
    [-0.508, -0.472, -0.464]
    """
    if N < 2:
        raise ValueError(f"a determinant of differences needs N >= 2, got {N}")
    inner = legendre.legroots(legendre.legder([0] * (N - 1) + [1]))
    nodes = (1 + np.array([-1, *inner, 1])) / 2
    i, j = np.triu_indices(N, 1)
    printed = -(N**2) * log(2) + log(factorial(N - 1)) / 2 + N / 2 * (log(8) + 1) + 3 / 8 * log(N)
    return float(np.log(np.abs(nodes[i] - nodes[j])).sum() - printed)
