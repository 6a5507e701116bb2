"""The norm of an LRU's state, paper 001, Eq. 14 and the line after it: an index off by one.

Letters: t time, T its last; N modes, l (lambda) eigenvalue of a mode, r = |l|^2; B (N, D_u) complex, b_k the squared
norm of its row k; u white input: mean 0, covariance I, uncorrelated in time; x state (N,).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import sympy as sp

from lrnnlab.algebra.evidence import Evidence, Step
from lrnnlab.algebra.orthogonal import integer_matrix


def mode_norms(eigenvalues: Sequence[sp.Expr], B: sp.Matrix, T: int) -> list[sp.Rational]:
    """E||x_t||^2, t = 0 to T, of x_t = diag(l) x_{t-1} + B u_t under white input, by the covariance: exact.

    >>> mode_norms([sp.Rational(1, 2)], sp.Matrix([[1]]), 2)
    [0, 1, 5/4]
    """
    L, X, traces = sp.diag(*eigenvalues), sp.zeros(B.rows, B.rows), [sp.Integer(0)]
    for _ in range(T):
        X = (L * X * L.H + B * B.H).applyfunc(sp.expand)
        traces.append(X.trace())
    return traces


def equation_14(N: int = 3, T: int = 6, seed: int = 0, first: int = 0) -> Evidence:
    """The sum of b_k r_k^i runs over i = 0 to t - 1; printed is 1 to t, a factor r_k too small for every mode.

    The printed limit, the sum of b_k / (1 - r_k), is the right sum's; so the conclusion stands: rows times
    sqrt(1 - r_k) give E||x_t||^2 = sum of b_k (1 - r_k^t), the transient that RotRNN's heads have too.
    first : where the sum claimed to be right starts; with 1, as printed, it fails.  Source: paper 001, Eq. 14.

    >>> equation_14().holds, [step.holds for step in equation_14(first=1).steps]
    (True, [False, False, True, True])
    """
    draw, r = np.random.default_rng(seed), sp.Symbol("r", positive=True)
    eigenvalue, u = sp.Symbol("lambda"), sp.symbols(f"u_0:{T + 1}")
    x = sp.Integer(0)
    for t in range(1, T + 1):
        x = sp.expand(eigenvalue * x + u[t])
    unrolled = sp.expand(x - sum(eigenvalue**i * u[T - i] for i in range(first, T + first)))
    turns = [sp.Rational(int(a), 20) * (sp.Rational(3, 5) + sp.Rational(4, 5) * sp.I) ** k for k, a in
             enumerate(draw.choice(range(8, 20), size=N, replace=False))]  # fmt: skip
    B = integer_matrix(N, 2, draw) + sp.I * integer_matrix(N, 2, draw)
    rates = [sp.expand(turn * sp.conjugate(turn)) for turn in turns]
    sizes = [sp.expand((B[k, :] * B[k, :].H)[0]) for k in range(N)]
    right, printed = (
        [sum(b * q**i for b, q in zip(sizes, rates) for i in range(start, t + start)) for t in range(T + 1)]
        for start in (first, 1)
    )
    found = mode_norms(turns, B, T)
    limits = sum(b / (1 - q) for b, q in zip(sizes, rates)), sum(b * q / (1 - q) for b, q in zip(sizes, rates))
    scaled = sp.diag(*[sp.sqrt(1 - q) for q in rates]) * B
    normalised = [sum(b * (1 - q**t) for b, q in zip(sizes, rates)) for t in range(T + 1)]
    steps = (
        Step("Eq. 4 unrolled: x_t is the sum of Lambda^i B u_(t-i), i = 0 to t - 1", unrolled == 0, f"t = {T}: {x}"),
        Step("the covariance's trace is that sum of b_k r_k^i", found == right,
             f"t = 0 to {T}, exactly; t = {T}: {float(found[-1]):.4f}, printed sum {float(printed[-1]):.4f}"),
        Step("so its limit is b / (1 - r), and the printed sum's is r b / (1 - r)",
             [sp.expand((1 - r) * sum(r**i for i in range(j, T + j)) - r**j * (1 - r**T)) for j in (0, 1)] == [0, 0],
             f"{float(limits[0]):.3f} and {float(limits[1]):.3f}"),
        Step("normalised rows give the sum of b_k (1 - r_k^t): not constant either",
             mode_norms(turns, scaled, T) == normalised,
             f"exactly; t = 1: {float(normalised[1]):.3f} of {sum(sizes)}"),
    )  # fmt: skip
    data = {"right": float(limits[0]), "printed": float(limits[1])}
    return Evidence("Equation 14", "The sum starts at i = 0; the printed limit is the right one.", "exact", steps, data)
