"""Paper 001, Lemma 3 and Eq. 11, "E||x_t||^2 = c for all t": where the proof breaks, and what is true.

The last printed line needs c = 1; the right constants are alpha^2 = c / (c g^2 + Tr) and xi^2 = c (1 - g^2) / Tr.  With
the second the norm is c in the long run, and at all times if it is so at the start (``white_input``).

Letters: t time, N width of a head; A rotation (N, N), g (gamma) decay, B (N, D_u), Tr = Tr(B^T B); u white
input: mean 0, covariance I, uncorrelated in time; x state, s = E||x||^2, c the norm squared aimed at.
"""

from __future__ import annotations

from collections.abc import Sequence

import sympy as sp

from lrnnlab.algebra.evidence import Evidence, Step
from lrnnlab.algebra.orthogonal import symbolic_rotation

c, g, TRACE = sp.symbols("c gamma Tr", positive=True)
PRINTED = 1 / (c * g**2 + TRACE)  # alpha^2 of Lemma 3
RIGHT = c / (c * g**2 + TRACE)


def expectation(expression: sp.Expr, x: Sequence[sp.Symbol], u: Sequence[sp.Symbol]) -> sp.Expr:
    """E of a quadratic form: u has covariance I, x and u are uncorrelated, E x_i x_j becomes the symbol X_ij.

    ValueError for a term of another degree.

    >>> x, u = sp.symbols("x1:3"), sp.symbols("u1:3")
    >>> expectation((x[0] + 2 * u[0]) ** 2 + u[0] * u[1], x, u)
    X_11 + 4
    """
    total = sp.Integer(0)
    for powers, coefficient in sp.Poly(sp.expand(expression), *x, *u).terms():
        places = [place for place, power in enumerate(powers) for _ in range(power)]
        if len(places) != 2:
            raise ValueError(f"only quadratic terms have a moment here, got the powers {powers} in {expression}")
        i, j = places
        if j < len(x):
            total += coefficient * sp.Symbol(f"X_{i + 1}{j + 1}")
        elif i >= len(x) and i == j:
            total += coefficient
    return total


def lemma_3_as_printed(alpha_squared: sp.Expr = PRINTED, at: sp.Expr | int = c) -> Evidence:
    """The proof's lines, each from the one before, for free A = R(theta) and B (2, 2); at c = ``at``.

    FAILS at the last line for the printed alpha unless c = 1; holds for alpha_squared=RIGHT.  Source: Eqs. 6 to 9.

    >>> [step.holds for step in lemma_3_as_printed().steps], lemma_3_as_printed(at=1).holds
    ([True, True, True, False], True)
    >>> lemma_3_as_printed(RIGHT).holds
    True
    """
    x, u = sp.Matrix(sp.symbols("x1:3")), sp.Matrix(sp.symbols("u1:3"))
    A, B = symbolic_rotation(sp.Symbol("theta", real=True)), sp.Matrix(2, 2, sp.symbols("b11 b12 b21 b22"))
    alpha2, trace = sp.Symbol("alpha2", positive=True), sp.expand((B.T * B).trace())

    def E(form):
        return expectation(sp.expand(form).subs(sp.sin(sp.Symbol("theta", real=True)) ** 2, 1 - A[0, 0] ** 2), x, u)

    step = g * A * x + B * u
    truth = alpha2 * E(step.dot(step))
    line_7 = alpha2 * (g**2 * E(x.dot(x)) + E((B * u).dot(B * u)) + 2 * g * E((A * x).dot(B * u)))
    at_c = sp.expand(line_7).subs(sp.Symbol("X_22"), c - sp.Symbol("X_11"))  # the induction: E||x_(t-1)||^2 = c
    line_8 = alpha2 * (g**2 * c + (B.T * B * sp.eye(2)).trace())
    line_9 = alpha2 * (g**2 * c + TRACE)
    value = sp.simplify(line_9.subs(alpha2, alpha_squared).subs(c, at))
    steps = (
        Step("Eq. 7: the square, with A^T A = I", sp.expand(truth - line_7) == 0,
             f"cross term {E((A * x).dot(B * u))}"),
        Step("Eq. 8: E||x_(t-1)||^2 = c, and x_(t-1) and u_t are uncorrelated", sp.expand(at_c - line_8) == 0,
             f"{line_8.factor()}"),
        Step("Eq. 9: E u u^T = I", sp.expand(line_8 - line_9.subs(TRACE, trace)) == 0, f"{line_9}"),
        Step("the last line: with this alpha the value is c", sp.simplify(value - at) == 0,
             f"alpha^2 = {alpha_squared}: the value is {value}, c is {at}"),
    )  # fmt: skip
    return Evidence("Lemma 3 as printed", "E||x_t||^2 = c for all t.", "symbolic", steps, {"value": value})


def lemma_3(repaired: sp.Expr = RIGHT) -> Evidence:
    """Only the proof's last line fails, and only for c != 1; alpha = sqrt(c / (c g^2 + Tr)) mends it.

    repaired : alpha^2 proposed instead of the printed one; a wrong one fails.  Source: against paper 001, Lemma 3.

    >>> lemma_3().holds, [step.holds for step in lemma_3(repaired=1 / (g**2 + TRACE)).steps]
    (True, [True, True, True, False])
    """
    lines = [step.holds for step in lemma_3_as_printed().steps]
    wrong = [number for number, holds in enumerate(lines, 1) if not holds]
    s = sp.Symbol("s")
    fixed = sp.factor(sp.solve(sp.Eq(s, PRINTED * (g**2 * s + TRACE)), s)[0])
    gap = sp.factor(sp.together(fixed - c).as_numer_denom()[0])
    only = sp.solve(gap, c)
    mended = lemma_3_as_printed(repaired)
    steps = (
        Step("of the four lines of the proof exactly the last does not follow", wrong == [4], f"wrong: {wrong}"),
        Step("from E||x||^2 = c one step leads to 1", lemma_3_as_printed().data["value"] == 1, "1, whatever c is"),
        Step("in the long run E||x||^2 = Tr / (Tr + (c - 1) g^2), which is c for c = 1 only",
             sp.simplify(fixed - TRACE / (TRACE + (c - 1) * g**2)) == 0 and only == [1],
             f"{fixed}; equals c for c in {only}"),
        Step("with the repaired alpha every line follows", mended.holds,
             f"alpha^2 = {repaired}: the value is {mended.data['value']}"),
    )  # fmt: skip
    return Evidence("Lemma 3", "True for c = 1; for other c with alpha^2 = c / (c g^2 + Tr).", "symbolic", steps)


def equation_11(repaired: sp.Expr = c * (1 - g**2)) -> Evidence:
    """xi^2 Tr = 1 - c g^2 inherits the error: E||x||^2 tends to c + (1 - c) / (1 - g^2); c (1 - g^2) is right.

    repaired : xi^2 Tr proposed instead; a wrong one fails.  Source: against paper 001, Eq. 11.

    >>> equation_11().holds, [step.holds for step in equation_11(1 - c * g**2).steps]
    (True, [True, True, True, False])
    """
    s, printed = sp.Symbol("s"), 1 - c * g**2
    inherited = sp.solve(sp.Eq(PRINTED, 1), TRACE)
    limit = sp.solve(sp.Eq(s, g**2 * s + printed), s)[0]
    radicand = printed.subs({c: 2, g: sp.Rational(9, 10)})
    mended = sp.solve(sp.Eq(s, g**2 * s + repaired), s)[0]
    steps = (
        Step("it is the printed alpha set to 1", [sp.expand(v) for v in inherited] == [printed],
             f"Tr = {inherited[0]}"),
        Step("with it E||x||^2 tends to c + (1 - c) / (1 - g^2): to c for c = 1 only",
             sp.simplify(limit - c - (1 - c) / (1 - g**2)) == 0, f"{sp.factor(limit)}"),
        Step("for c > 1 / g^2 it is the root of a negative number", bool(radicand < 0), f"c = 2, g = 0.9: {radicand}"),
        Step("with the repaired xi it tends to c", sp.simplify(mended - c) == 0, f"xi^2 Tr = {repaired}"),
    )  # fmt: skip
    return Evidence("Equation 11", "xi^2 = c (1 - g^2) / Tr; the printed one needs c = 1.", "symbolic", steps)
