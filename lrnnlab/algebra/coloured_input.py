"""The norm of a RotRNN's state when the input is not white: AR(1) input, any stationary input.

Paper 001 (Lemma 3, Sec. 4.1) assumes white input and leaves the rest to future work.  For a rotation pair of angle
theta and inputs with E u_t u_s^T = rho^|t-s| I the norm tends to

    c (1 - g^2 rho^2) / (1 - 2 g rho cos theta + g^2 rho^2),

for any stationary input to between (1 - g) / (1 + g) and (1 + g) / (1 - g) times c.  A head of several pairs adds them
up, each with its share of Tr(B^T B), the squared norm of its two rows of P^T B.

Letters: t time, T its last; g (gamma) decay, theta angle, R its rotation;
l = g e^(i theta), m = rho l; B (2, D_u), Tr = Tr(B^T B), xi^2 Tr = c (1 - g^2); x state, s = E||x||^2.
"""

from __future__ import annotations

import cmath
import math
from fractions import Fraction

import numpy as np
import sympy as sp

from lrnnlab.algebra.evidence import Evidence, Step
from lrnnlab.algebra.orthogonal import integer_matrix, rational_turn, symbolic_rotation
from lrnnlab.algebra.rotation_layer import Head


def check_pair(gamma: float, rho: float = 0) -> None:
    """ValueError unless 0 <= gamma < 1 and -1 <= rho <= 1."""
    if not (0 <= gamma < 1 and -1 <= rho <= 1):
        raise ValueError(f"needs 0 <= gamma < 1 and -1 <= rho <= 1, got gamma={gamma}, rho={rho}")


def norm_over_time(gamma: float, theta: float, rho: float, x0_norm2: float, T: int, c: float = 1) -> np.ndarray:
    """E||x_t||^2 of a rotation pair under AR(1) input, t = 0 to T: (T + 1,), in well under a millisecond for T = 300.

    x_0 has E||x_0||^2 = x0_norm2 and is uncorrelated with the input.  rho = 0 is white input, rho = 1 an input that
    never changes.  By recursion, so no value of the four is special.  ValueError for gamma outside [0, 1), rho outside
    [-1, 1], T < 0.

    >>> norm_over_time(0.99, 0.0, 0.0, 1.0, 300)[[0, 150, 300]].round(6).tolist()
    [1.0, 1.0, 1.0]
    >>> float(norm_over_time(0.99, 0.0, 0.99, 0.0, 3000)[-1].round(1))
    99.5
    """
    check_pair(gamma, rho)
    if T < 0:
        raise ValueError(f"needs T >= 0 steps, got T={T}")
    m, gain = rho * cmath.rect(gamma, theta), c * (1 - gamma**2)
    met, s, norms = 0j, float(x0_norm2), [float(x0_norm2)]  # met: E of conj(x_t) u_t, for a drive of size 1
    for _ in range(T):
        s = gamma**2 * s + gain * (1 + 2 * (m * met).real)
        met = 1 + m * met
        norms.append(s)
    return np.array(norms)


def stationary_norm(gamma: float, theta: float, rho: float, c: float = 1) -> float:
    """c (1 - g^2 rho^2) / (1 - 2 g rho cos theta + g^2 rho^2), the limit of ``norm_over_time``.  ValueError alike.

    >>> [round(stationary_norm(0.99, angle, 0.99), 3) for angle in (0, math.pi / 4, math.pi)]
    [99.503, 0.069, 0.01]
    """
    check_pair(gamma, rho)
    r = gamma * rho
    return c * (1 - r * r) / (1 - 2 * r * math.cos(theta) + r * r)


def closed_norm(gamma: float, theta: float, rho: float, t: int, x0_norm2: float = 0, c: float = 1) -> float:
    """E||x_t||^2 in one formula, with l = g e^(i theta) and m = rho l.

    g^(2t) x0_norm2 + (1 - g^(2t)) stationary_norm - 2 c (1 - g^2) Re[ m / (1 - m) (g^(2t) - m^t) / (g^2 - m) ];
    the last quotient is t g^(2t-2) where m = g^2 (near it, digits are lost).  ValueError as ``stationary_norm``.

    >>> round(closed_norm(0.9, 0.5, 0.7, 40), 12) == round(float(norm_over_time(0.9, 0.5, 0.7, 0, 40)[-1]), 12)
    True
    """
    limit, square, m = stationary_norm(gamma, theta, rho, c), gamma**2, rho * cmath.rect(gamma, theta)
    power = square**t
    mixed = (power - m**t) / (square - m) if m != square else t * square ** max(t - 1, 0)
    return power * x0_norm2 + (1 - power) * limit - 2 * c * (1 - square) * (m / (1 - m) * mixed).real


def ar1_covariances(R: sp.Matrix, B: sp.Matrix, gamma: sp.Rational, rho: sp.Rational, T: int) -> list[sp.Rational]:
    """Tr E x_t x_t^T, t = 0 to T, x_0 = 0 and xi = 1, from the covariance of (x_t, u_t) together: exact.

    >>> ar1_covariances(sp.eye(2), sp.eye(2), sp.Rational(1, 2), sp.Integer(1), 2)
    [0, 2, 9/2]
    """
    D = B.cols
    top, bottom = (gamma * R).row_join(rho * B), sp.zeros(D, 2).row_join(rho * sp.eye(D))
    F = top.col_join(bottom)
    G = B.col_join(sp.eye(D))
    X, traces = sp.diag(sp.zeros(2, 2), sp.eye(D)), [sp.Integer(0)]
    for _ in range(T):
        X = F * X * F.T + (1 - rho**2) * G * G.T  # u_t = rho u_(t-1) + sqrt(1 - rho^2) noise, x_t = g R x_(t-1) + B u_t
        traces.append(X[:2, :2].trace())
    return traces


def ar1_norm(
    gamma: Fraction = Fraction(9, 10), rho: Fraction = Fraction(4, 5), T: int = 8, samples: int = 3000, seed: int = 0,
    power: int = 0,
) -> Evidence:  # fmt: skip
    """The formula for AR(1) input against the exact covariance of (x, u), and against runs of a head.

    power : added to the t of m^t in the formula; anything but 0 fails.

    >>> ar1_norm().holds, [step.holds for step in ar1_norm(power=1).steps]
    (True, [True, False, True, True, True])
    """
    draw, R, B = np.random.default_rng(seed), rational_turn(sp.Rational(1, 2)), sp.Matrix(2, 3, sp.symbols("b1:7"))
    angle = math.atan2(4, 3)
    a = sp.Symbol("a", real=True)
    turned = (B.T * symbolic_rotation(a) * B).trace() - sp.cos(a) * (B.T * B).trace()
    numbers = integer_matrix(2, 3, draw)
    g, r = (sp.Rational(f.numerator, f.denominator) for f in (gamma, rho))
    trace = (numbers.T * numbers).trace()
    exact = [s * (1 - g**2) / trace for s in ar1_covariances(R, numbers, g, r, T)]
    by_recursion = norm_over_time(float(gamma), angle, float(rho), 0, T)
    drift = float(np.abs(np.array(exact, dtype=float) - by_recursion).max())
    start, error, free = _symbolic_recursion(power)
    limit = stationary_norm(float(gamma), angle, float(rho))
    far = float(norm_over_time(float(gamma), angle, float(rho), 0, 400)[-1])
    off, mean, bar = _simulated(float(gamma), angle, float(rho), np.array(numbers, dtype=float), samples, draw)
    steps = (
        Step("only Tr(B^T B) cos(k theta) counts: Tr(B^T R(a) B) = cos a Tr(B^T B)", sp.expand(turned) == 0,
             "symbolic"),
        Step("the formula starts at 0 and solves s_t = g^2 s_(t-1) + 1 + 2 Re(m q_(t-1)), q_t = 1 + m q_(t-1)",
             start == 0 and error == 0, f"symbolic: {free}"),
        Step("the recursion gives the trace of the exact covariance", drift < 1e-13,
             f"g = {gamma}, rho = {rho}, cos theta = 3/5, t = 0 to {T}: off by {drift:.1e}"),
        Step("it tends to (1 - g^2 rho^2) / (1 - 2 g rho cos theta + g^2 rho^2)", abs(far - limit) < 1e-12,
             f"{far:.6f} at t = 400, {limit:.6f}; white input would give 1"),
        Step("runs of a head agree within 5 standard errors", off < 5,
             f"t = 60: {mean:.4f} +- {bar:.4f}; at worst {off:.1f} errors"),
    )  # fmt: skip
    return Evidence("AR(1) input", "Coloured input moves the norm away from c, by the angle.", "sampled", steps,
                    {"limit": limit})  # fmt: skip


def _symbolic_recursion(power):
    """(value at 0, what the recursion leaves, the free symbols used) of the closed form."""
    square, m, n, G, M, N = sp.symbols("g2 m n G M N")  # n is the conjugate of m

    def formula(G, M, N):
        limit = (1 + m / (1 - m) + n / (1 - n)) / (1 - square)
        return limit * (1 - G) - sum(k / (1 - k) * (G - K * k**power) / (square - k) for k, K in ((m, M), (n, N)))

    met = sum(k * (1 - K) / (1 - k) for k, K in ((m, M), (n, N)))  # 2 Re(m q_t), with q_t = (1 - m^t) / (1 - m)
    left = formula(square * G, m * M, n * N) - square * formula(G, M, N) - 1 - met
    return formula(1, 1, 1), sp.cancel(sp.together(left)), "g^2t, m^t and its conjugate as free symbols"


def _simulated(gamma, theta, rho, B, samples, draw, T=60):
    """(worst difference in standard errors, mean of ||x_T||^2, its error) over runs with stationary AR(1) input."""
    head = Head(gamma, np.array([theta]), np.eye(2), B, np.eye(2))
    noise = draw.standard_normal((samples, T, B.shape[1]))
    u = noise.copy()
    for t in range(1, T):
        u[:, t] = rho * u[:, t - 1] + math.sqrt(1 - rho**2) * noise[:, t]
    squares = (head.states(u) ** 2).sum(-1)
    mean, error = squares.mean(0), squares.std(0) / math.sqrt(samples)
    formula = norm_over_time(gamma, theta, rho, 0, T)[1:]
    return float((np.abs(mean - formula) / error).max()), mean[-1], error[-1]


def stationary_range(gamma: float = 0.99, bins: int = 4, widening: float = 1) -> Evidence:
    """Any stationary input with covariance I: (1 - g) / (1 + g) <= E||x||^2 / c <= (1 + g) / (1 - g), both attained.

    An input of frequency w alone, (cos wt, sin wt) times sqrt 2 with a random phase, gives
    (1 - g^2) / |1 - l e^(-iw)|^2; every other spectrum mixes these.
    widening : multiplies the claimed upper end; anything but 1 fails.

    >>> proof = stationary_range()
    >>> proof.holds, proof.data, stationary_range(widening=1.1).holds
    (True, {'least': 0.005, 'most': 199.0}, False)
    """
    check_pair(gamma)
    g, cos = sp.Symbol("gamma", positive=True), sp.Symbol("cos", real=True)
    share = (1 - g**2) / (1 - 2 * g * cos + g**2)
    ends = [sp.simplify(share.subs(cos, sign) - (1 + sign * g) / (1 - sign * g)) for sign in (1, -1)]
    rising = sp.simplify(sp.diff(share, cos) - 2 * g * (1 - g**2) / (1 - 2 * g * cos + g**2) ** 2)
    T, away = math.ceil(20 / (1 - gamma)), 2 * math.pi * np.arange(2 * bins) / (2 * bins)  # w - theta
    theta = 0.7
    phase = (theta + away)[:, None] * np.arange(T)
    u = math.sqrt(2) * np.stack([np.cos(phase), np.sin(phase)], axis=-1)  # one run a frequency: (2 bins, T, 2)
    head = Head(gamma, np.array([theta]), np.eye(2), np.eye(2), np.eye(2))
    met = (head.states(u)[:, -1] ** 2).sum(-1)
    least, most = (1 - gamma) / (1 + gamma), (1 + gamma) / (1 - gamma) * widening
    steps = (
        Step("the share of a frequency rises with cos(theta - w), from one end to the other",
             ends == [0, 0] and rising == 0, "symbolic"),
        Step("runs with one frequency stay within the ends",
             bool((met > least * (1 - 1e-6)).all() and (met < most * (1 + 1e-6)).all()),
             f"g = {gamma}, {2 * bins} frequencies: {met.min():.4f} to {met.max():.4f}"),
        Step("both are attained: at the frequency theta, and opposite to it",
             bool(abs(met[0] / most - 1) < 1e-6 and abs(met[bins] / least - 1) < 1e-6),
             f"{met[0]:.4f} and {most:.4f}; {met[bins]:.6f} and {least:.6f}"),
    )  # fmt: skip
    return Evidence("Stationary input", "The norm lies between (1 - g) / (1 + g) and (1 + g) / (1 - g).", "numerical",
                    steps, {"least": round(least, 3), "most": round(most, 3)})  # fmt: skip
