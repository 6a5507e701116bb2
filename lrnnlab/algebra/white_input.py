"""The norm of a RotRNN's state under white input (paper 001, Sec. 3.3), at every time: Lemma 3's true form.

x_t = g A x_(t-1) + xi B u_t with xi^2 Tr = c (1 - g^2) gives  E||x_t||^2 = c + g^(2t) (E||x_0||^2 - c).  The released
layer starts at x_0 = 0, so its norm is not constant: it climbs as c (1 - g^(2t)), for g = 0.9999 over 14978 steps.  An
x_0 of norm sqrt(c), or one larger first drive, makes it exactly constant.

Letters: t time, T its last; h heads, N width of a head; A rotation (N, N), g (gamma) decay, B (N, D_u), Tr = Tr(B^T B);
u white input: mean 0, covariance I, uncorrelated in time; x state, s = E||x||^2, c the norm squared aimed at.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import sympy as sp

from lrnnlab.algebra.evidence import Evidence, Step
from lrnnlab.algebra.norms import c, g
from lrnnlab.algebra.orthogonal import integer_matrix, rational_rotation
from lrnnlab.algebra.rotation_layer import Head, random_head


def expected_norm(gamma: float, t: int, c: float = 1, x0_norm2: float = 0) -> float:
    """E||x_t||^2 = c + g^(2t) (E||x_0||^2 - c) for white input; numbers of any kind, arrays too.

    >>> round(expected_norm(0.999, 200), 3), expected_norm(Fraction(1, 2), 1, x0_norm2=1)
    (0.33, Fraction(1, 1))
    """
    return c + gamma ** (2 * t) * (x0_norm2 - c)


def exact_norms(A: sp.Matrix, B: sp.Matrix, gamma: sp.Rational, drives: Sequence, X: sp.Matrix) -> list[sp.Rational]:
    """Tr X_t, t = 0 to T, by X_t = g^2 A X_(t-1) A^T + drive_t B B^T: the covariance itself, with drive_t = xi_t^2.

    >>> exact_norms(sp.eye(1), sp.eye(1), sp.Rational(1, 2), [1, 1], sp.zeros(1))
    [0, 1, 5/4]
    """
    traces = [X.trace()]
    for drive in drives:
        X = gamma**2 * A * X * A.T + drive * B * B.T
        traces.append(X.trace())
    return traces


def _exact_layer(N, seed):
    """(A, B, Tr) in fractions and integers."""
    draw = np.random.default_rng(seed)
    A, B = rational_rotation(N, draw), integer_matrix(N, 3, draw)
    return A, B, (B.T * B).trace()


def norm_theorem(
    N: int = 4, T: int = 12, gamma: Fraction = Fraction(9, 10), aim: int = 2, seed: int = 0, correction: object = 1
) -> Evidence:
    """E||x_t||^2 = c + g^(2t) (E||x_0||^2 - c) for x_t = g A x_(t-1) + xi B u_t, xi^2 Tr = c (1 - g^2).

    u_t white and uncorrelated with x_0; independence is not needed.  The proof is one line: a rotation keeps the norm,
    so s_t = g^2 s_(t-1) + c (1 - g^2).  Checked on the exact covariances of a random layer, from three x_0.
    correction : multiplies xi^2; with g^2 (gamma put before the drive as well) the last step fails.

    >>> norm_theorem().holds, [step.holds for step in norm_theorem(correction=Fraction(81, 100)).steps]
    (True, [True, True, False])
    """
    A, B, trace = _exact_layer(N, seed)
    rate = sp.Rational(gamma.numerator, gamma.denominator)
    drive = aim * (1 - rate**2) / trace * sp.nsimplify(correction)
    starts = [sp.zeros(N, N), sp.diag(aim, *[0] * (N - 1)), 5 * sp.eye(N)]
    found = [exact_norms(A, B, rate, [drive] * T, X) for X in starts]
    claimed = [[expected_norm(rate, t, aim, X.trace()) for t in range(T + 1)] for X in starts]
    start, t = sp.Symbol("s_0"), sp.Symbol("t", integer=True, nonnegative=True)
    formula = expected_norm(g, t, c, start)
    moved = formula.subs(t, t + 1) - g**2 * formula - c * (1 - g**2)
    steps = (
        Step("the formula starts at E||x_0||^2", sp.simplify(formula.subs(t, 0) - start) == 0, f"{formula.subs(t, 0)}"),
        Step("and solves s_(t+1) = g^2 s_t + c (1 - g^2)", sp.simplify(sp.expand(moved)) == 0, f"s_t = {formula}"),
        Step("it is the trace of the covariance, from x_0 = 0, from one of norm c, and from a larger one",
             found == claimed,
             f"N = {N}, t = 0 to {T}, exactly; s_{T} = {', '.join(f'{float(row[-1]):.4f}' for row in found)}"),
    )  # fmt: skip
    claim = "E||x_t||^2 = c + gamma^(2t) (E||x_0||^2 - c) for white input."
    return Evidence("The norm over time", claim, "exact", steps, {"norms": [[float(s) for s in row] for row in found]})


def steps_until(gamma: float, share: float = 0.95) -> int:
    """The first t at which 1 - g^(2t), the norm from x_0 = 0, is the share of its limit or more.

    ValueError for gamma outside (0, 1) or share outside [0, 1).

    >>> steps_until(0.999), steps_until(0.9999)
    (1498, 14978)
    """
    if not (0 < gamma < 1 and 0 <= share < 1):
        raise ValueError(f"needs 0 < gamma < 1 and 0 <= share < 1, got gamma={gamma}, share={share}")
    return math.ceil(math.log1p(-share) / (2 * math.log(gamma)))


def from_zero(
    gammas: Sequence[Fraction] = (Fraction(1, 2), Fraction(9, 10), Fraction(99, 100)), T: int = 12, start: int = 0
) -> Evidence:
    """The released layer, x_0 = 0 and c = 1: each head climbs as 1 - g^(2t), the h heads together to h, never constant.

    So ||x|| of the concatenated heads tends to about sqrt(h): 5.66 for the paper's 32.  E||x|| is smaller than the
    root of E||x||^2.  start : an E||x_0||^2 for every head; anything but 0 fails.  Source: paper 001, App. C.

    >>> from_zero().holds, [step.holds for step in from_zero(start=1).steps]
    (True, [False, False, False, True])
    """
    rates = [sp.Rational(rate.numerator, rate.denominator) for rate in gammas]
    rows = []
    for k, rate in enumerate(rates):
        A, B, trace = _exact_layer(4, k)
        rows.append(exact_norms(A, B, rate, [(1 - rate**2) / trace] * T, sp.diag(start, 0, 0, 0)))
    whole = [sum(column) for column in zip(*rows)]
    late = [steps_until(float(rate)) for rate in rates]
    crossed = [
        expected_norm(rate, n, 1, start) >= Fraction(19, 20) > expected_norm(rate, n - 1, 1, start)
        for rate, n in zip(gammas, late)
    ]
    t = sp.Symbol("t", positive=True)
    h = len(rates)
    steps = (
        Step("every head: E||x_t||^2 = 1 - g^(2t)",
             all(row == [1 - rate ** (2 * t) for t in range(T + 1)] for row, rate in zip(rows, rates)),
             f"t = 0 to {T}, exactly; at t = 1 it is 1 - g^2: {', '.join(str(row[1]) for row in rows)}"),
        Step("the norm grows at every step: it is constant nowhere", all(a < b for a, b in itertools.pairwise(whole)),
             f"all {h} heads: {float(whole[1]):.3f} at t = 1, {float(whole[-1]):.3f} at t = {T}"),
        Step("95 % of the limit is reached late", all(crossed), f"at t = {', '.join(map(str, late))}"),
        Step("the heads' norms add up, to h in the long run",
             sum(sp.limit(expected_norm(rate, t), t, sp.oo) for rate in rates) == h,
             f"h = {h}: ||x|| about {math.sqrt(h):.3f}; h = 32: {math.sqrt(32):.2f}"),
    )  # fmt: skip
    return Evidence("From x_0 = 0", "E||x_t||^2 = 1 - g^(2t) a head: the norm is not constant.", "exact", steps,
                    {"late": late, "norms": [[float(s) for s in row] for row in rows]})  # fmt: skip


def constant_norm(
    gamma: Fraction = Fraction(9, 10), aim: int = 2, T: int = 12, seed: int = 0, first_gain: Fraction | None = None
) -> Evidence:
    """Two ways to E||x_t||^2 = c for every t >= 1: x_0 of norm sqrt(c), fixed or random; or a drive xi_t of its own.

    From x_0 = 0 there is one choice: xi_t^2 Tr = c - g^2 s_(t-1), which is c at t = 1 and c (1 - g^2) ever after, so
    only the first input counts 1 / (1 - g^2) times as much.  first_gain : another factor for it; a wrong one fails.

    >>> constant_norm().holds, [step.holds for step in constant_norm(first_gain=Fraction(1)).steps]
    (True, [True, True, False])
    """
    A, B, trace = _exact_layer(4, seed)
    rate = sp.Rational(gamma.numerator, gamma.denominator)
    drive = aim * (1 - rate**2) / trace
    gain = 1 / (1 - rate**2) if first_gain is None else sp.Rational(first_gain.numerator, first_gain.denominator)
    fixed = exact_norms(A, B, rate, [drive] * T, sp.diag(aim, 0, 0, 0))
    random = exact_norms(A, B, rate, [drive] * T, sp.eye(4) * sp.Rational(aim, 4))
    scaled = exact_norms(A, B, rate, [gain * drive] + [drive] * (T - 1), sp.zeros(4, 4))
    steps = (
        Step("x_0 a fixed vector with ||x_0||^2 = c", fixed == [aim] * (T + 1),
             f"E||x_{T}||^2 = {fixed[-1]}, c = {aim}"),
        Step("x_0 random with covariance (c / N) I", random == [aim] * (T + 1), f"E||x_{T}||^2 = {random[-1]}"),
        Step("x_0 = 0 and a larger drive at t = 1 only", scaled == [0] + [aim] * T,
             f"xi_1^2 = {gain} xi^2: E||x_1||^2 = {scaled[1]}, E||x_{T}||^2 = {float(scaled[-1]):.4f}"),
    )  # fmt: skip
    return Evidence("An exactly constant norm", "E||x_t||^2 = c for all t >= 1.", "exact", steps)


def white_inputs(kind: str, shape: tuple[int, ...], draw: np.random.Generator) -> np.ndarray:
    """Inputs of mean 0 and variance 1, uncorrelated: "gauss", "signs" (+-1), or "tied".

    "tied" inputs are a Gaussian times a sign, whose size is one draw for the whole sequence (axis -2): uncorrelated in
    time, but not independent.  ValueError for another kind.

    >>> white_inputs("signs", (1, 3, 2), np.random.default_rng(0)).shape
    (1, 3, 2)
    """
    signs = draw.choice([-1.0, 1.0], size=shape)
    if kind == "signs":
        return signs
    if kind == "tied":
        return signs * draw.standard_normal((*shape[:-2], 1, 1))
    if kind == "gauss":
        return draw.standard_normal(shape)
    raise ValueError(f"inputs are 'gauss', 'signs' or 'tied', got {kind!r}")


def simulated_norm(
    gamma: float = 0.97, N: int = 4, T: int = 60, samples: int = 3000, seed: int = 0, scale: float = 1,
    errors: float = 5,
) -> Evidence:  # fmt: skip
    """Runs of a head, three kinds of white input, x_0 = 0: means of ||x_t||^2 with standard errors, and the formula.

    scale : of the inputs; anything but 1 breaks the hypothesis and the evidence fails.   errors : standard errors
    allowed, at each of the T times.

    >>> simulated_norm().holds, any(step.holds for step in simulated_norm(scale=1.2).steps[:3])
    (True, False)
    """
    draw = np.random.default_rng(seed)
    some = random_head(N, 3, 1, draw)
    head = Head(gamma, some.theta, some.P, some.B, some.C)
    formula = expected_norm(gamma, np.arange(1, T + 1))
    steps, rows = [], {}
    for kind in ("gauss", "signs", "tied"):
        squares = (head.states(scale * white_inputs(kind, (samples, T, 3), draw)) ** 2).sum(-1)
        mean, error = squares.mean(0), squares.std(0) / math.sqrt(samples)
        off = np.abs(mean - formula) / error
        rows[kind] = {"mean": mean.tolist(), "error": error.tolist()}
        steps.append(Step(f"{kind}: the mean of ||x_t||^2 is 1 - g^(2t) within {errors:g} standard errors",
                          bool(off.max() < errors), f"t = {T}: {mean[-1]:.3f} +- {error[-1]:.3f}, formula "
                          f"{formula[-1]:.3f}; at worst {off.max():.1f} errors"))  # fmt: skip
        length = np.sqrt(squares[:, -1]).mean()
    steps.append(Step("the mean of ||x_t|| itself is smaller than the root (Jensen)", bool(length < math.sqrt(mean[-1])),
                      f"{kind}, t = {T}: {length:.3f} < {math.sqrt(mean[-1]):.3f}"))  # fmt: skip
    return Evidence("The norm in simulation", "White input need not be independent.", "sampled", tuple(steps),
                    {"formula": formula.tolist(), **rows})  # fmt: skip
