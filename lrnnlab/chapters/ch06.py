"""The exercises of chapter 06 (ill-conditioned reals) that a cell can check."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from lrnnlab.course.exercises import Exercise
from lrnnlab.course.judging import CannotJudge, call, claim, number, numbers, same, shown
from lrnnlab.course.predicting import prediction
from lrnnlab.algebra.ill_conditioning import chebyshev_nodes, exact_weights
from lrnnlab.algebra.modes import kernel
from lrnnlab.algebra.shift_norms import worst_shift
from lrnnlab.algebra.shifts import needed_modes

NODES = (Fraction(0), Fraction(1, 4), Fraction(1))


def _weights(answer) -> None:
    given = _fractions(answer, 3, "the weights")
    made = [str(tap) for tap in kernel(list(NODES), given, 3)]
    right = all(same(float(w), float(v)) for w, v in zip(given, exact_weights(list(NODES))))  # 16/3 may be a float
    claim(right, f"with these weights the kernel is {made}, and should be 0, 0, 1")


def _fractions(values, count: int, what: str) -> list:
    if not isinstance(values, (list, tuple, np.ndarray)) or len(values) != count:
        raise CannotJudge(f"{what} should be {count} numbers, got {shown(values)}")
    numbers(values, (count,), what)
    return [Fraction(value) for value in values]


def _zeros(answer) -> None:
    for N in range(2, 30):
        zeros, degree = numbers(call(answer, N), (2,), f"the pair at N = {N}").tolist()
        claim(zeros == N - 1, f"N = {N}: between its {N} extrema it changes sign how often? Not {zeros:g} times")
        claim(degree == N - 2, f"N = {N}: the leading terms, of degree {N - 1}, have cancelled; not {degree:g}")


def _dearest(answer) -> None:
    given = number(answer)
    claim(given == worst_shift(16)["S"], f"not the shift by {given:g}; run the widget of section 4")


def _solver(answer) -> None:
    draw = np.random.default_rng(0)
    for _ in range(50):
        N = int(draw.integers(1, 7))
        nodes = [Fraction(int(a), 11) for a in draw.choice(30, N, replace=False)]
        S = int(draw.integers(N))
        made = kernel(nodes, _fractions(call(answer, list(nodes), S), N, "the weights"), N)
        claim(made == [int(k == S) for k in range(N)], f"nodes {[str(node) for node in nodes]}, S = {S}: the kernel is "
                                                       f"{[str(tap) for tap in made]}")  # fmt: skip


def _losses(answer) -> None:
    first, second = numbers(answer, (2,)).tolist()
    claim(abs(first - (8 + 3) / 2) <= 0.5, f"in [0, 1] it is not {first:g}: where does the exponent reach 8?")
    claim(abs(second - (8 + 2)) <= 0.5, f"in [-1, 1] it is not {second:g}: where does the exponent reach 8?")


def _end(answer) -> None:
    a = number(answer)
    claim(0 < a < 1e6, f"a must be above 0, got {a:g}")
    norm = float(sum(map(abs, exact_weights([Fraction(a) * node for node in chebyshev_nodes(5)]))))
    claim(abs(norm - 1) < 1e-3, f"with a = {a:g} the least norm is {norm:.3f}")


def _modes(answer) -> None:
    for L in range(1, 100):
        given, least = call(answer, L), min(needed_modes(L, S) for S in range(L))
        claim(same(given, least), f"L = {L}: the cheapest shift needs {least}, and not {shown(given)}")


def _earlier(answer) -> None:
    most = math.log(float(np.finfo(np.float32).max))
    for lam in (0.2, 0.5, 0.9, 0.99, 0.999):
        rate = -math.log(lam)
        term, total = most / rate, (most + math.log(1 / lam - 1)) / rate - 1  # where the last term, and the sum, end
        given = float(numbers(call(answer, lam), (), f"the answer at lambda = {lam}"))
        claim(abs(given - (term - total)) <= max(1e-3 * term, 1e-6),
              f"lambda = {lam}: the sum overflows {term - total:.1f} steps earlier, not {given:.1f}")  # fmt: skip


def _solve(nodes, S):
    weights = []
    for i, node in enumerate(nodes):
        coefficients, scale = [Fraction(1)], Fraction(1)
        for other in nodes[:i] + nodes[i + 1 :]:
            shifted = [Fraction(0), *coefficients]
            coefficients = [a - other * b for a, b in zip(shifted, [*coefficients, Fraction(0)])]
            scale *= node - other
        weights.append(coefficients[S] / scale)
    return weights


EXERCISES = (
    Exercise(
        "06.1", 1, 5, "how to find the weights of a shift", _weights, ("Three equations, or the formula of step 2.",),
        "$1/(\\frac14\\cdot 1) = 4$; $1/(\\frac14 \\cdot (-\\frac34)) = -\\frac{16}{3}$; $1/(1 \\cdot "
        "\\frac34) = \\frac43$. "
        "They sum to 0, and to 0 with the nodes.",
        lambda: (4, Fraction(-16, 3), Fraction(4, 3)),
    ),
    Exercise(
        "06.2", 2, 15, "why no polynomial has a larger leading coefficient", _zeros,
        ("How many times does $T^* - cq$ change sign, and what is its degree?",),
        "$N - 1$ zeros at least, and degree $N - 2$ at most. At the $N$ extrema $T^*$ is $\\pm1$ in turn and $|cq| < "
        "1$, so $T^* - cq$ has the signs of $T^*$: $N - 1$ changes. But its leading terms cancel. It would have to "
        "be 0, and is not.",
        lambda: lambda N: (N - 1, N - 2),
    ),
    Exercise(
        "06.3", 1, 5, "which shift is dearest", _dearest, ("$15/\\sqrt2$.",),
        "11 ($15/\\sqrt 2 = 10.6$).", lambda: 11,
    ),
    Exercise(
        "06.4", 2, 20, "how to get exact weights for every shift", _solver,
        ("The polynomial that is 1 at one node and 0 at the others.", "Which of its coefficients?"),
        "The weight of node $i$ is the coefficient of $x^S$ in $\\ell_i(x) = \\prod_{j\\ne i}(x - "
        "\\lambda_j)/(\\lambda_i - "
        "\\lambda_j)$: for a polynomial $p$ of degree below $N$, $p = \\sum_i p(\\lambda_i)\\,\\ell_i$; with "
        "$p = x^k$ the "
        "coefficient of $x^S$ is the one-hot. Multiply the factors out, one node after the other, in fractions.",
        lambda: _solve,
    ),
    Exercise(
        "06.5", 1, 5, "where a float loses a shift", _losses, ("Where do $2N - 3$ and $N - 2$ reach 8?",),
        "$2N - 3 = 8$ at 5.5; $N - 2 = 8$ at 10.", lambda: (5.5, 10),
    ),
    Exercise(
        "06.6", 2, 10, "why the bound needs nodes within 1", _end,
        ("The leading coefficient of $T_4(2x/a - 1)$.",),
        "$2^{2N-3}/a^{N-1} = 128/a^4 = 1$, so $a = 2^{7/4} = 3.364$.", lambda: 2**1.75,
    ),
    Exercise(
        "06.7", 1, 5, "which shift is cheapest", _modes, ("$S + 1$ and $L - S$ add up to $L + 1$.",),
        "$S + 1$ and $L - S$ add up to $L + 1$, so the larger is at least half of it: $\\lceil (L+1)/2 "
        "\\rceil$, that is "
        "`L // 2 + 1`. For odd $L$ at $S = (L-1)/2$ alone, for even $L$ at $L/2 - 1$ and $L/2$.",
        lambda: lambda L: L // 2 + 1,
    ),
    Exercise(
        "06.8", 2, 10, "where a running sum leaves its floats", _earlier, ("A geometric series.",),
        "$\\ln\\frac1{1-\\lambda}/|\\ln\\lambda|$: the sum of all terms up to $k$ is $(\\lambda^{-(k+1)} - "
        "1)/(\\lambda^{-1} - 1)$, about $\\lambda^{-k}/(1 - \\lambda)$.",
        lambda: lambda lam: math.log(1 - lam) / math.log(lam),
    ),
    prediction(
        "06.10", 1, 5, "that the last lag is not the hardest",
        "32 real modes in (0, 1], 32 lags. Double precision fits four one-hots as well as it can: at lag 1, 8, 16 "
        "and "
        "31, the last. Which of them comes out worst?", (1, 8, 16, 31), 16,
        ("Section 4: where is the top of the curve?",),
        "The price of the exact shift is highest near $n/\\sqrt2$, here 22, and falls again towards the end: about "
        "$10^{18}$ at lag 31, and $10^{21}$ at lag 16. Doubles end at weights of about $10^{16}$; at lag 31 little "
        "is missing, at lag 16 nearly everything.",
    ),
)  # fmt: skip
