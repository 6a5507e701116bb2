"""The norm of a RotRNN's state when it reads tokens (one-hot inputs), which are not white even if drawn independently.

Paper 001 asks for inputs of mean 0 and covariance I.  A one-hot token has mean p and second moments diag(p).  Its mean
drives the state like a constant input, its scatter like white noise of another size; ``centred`` repairs both.

Letters: t time, T its last; V vocabulary, p (V,) probabilities; g (gamma) decay, theta angle, l = g e^(i theta);
B (2, V) with columns b_v, m = sum p_v b_v their mean, Tr = Tr(B^T B), xi^2 Tr = c (1 - g^2); s = E||x||^2.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import sympy as sp

from lrnnlab.algebra.coloured_input import check_pair
from lrnnlab.algebra.evidence import Evidence, Step
from lrnnlab.algebra.orthogonal import rational_turn

HALF_ANGLE = sp.Rational(1, 2)  # tan(theta / 2): cos theta = 3/5, sin theta = 4/5


def token_scatter(B: np.ndarray, p: Sequence[float]) -> tuple[float, float]:
    """(E||b_v - m||^2, ||m||^2) for B (2, V) and p (V,); numbers of any kind.

    ValueError unless p has V entries, none negative, that sum to 1.

    >>> token_scatter(np.array([[1, -1], [0, 0]]), [Fraction(1, 2), Fraction(1, 2)])
    (Fraction(1, 1), Fraction(0, 1))
    """
    B, weights = np.asarray(B), np.array(list(p))
    if weights.shape != B.shape[1:] or (weights < 0).any() or not abs(weights.sum() - 1) < 1e-9:
        raise ValueError(f"needs a probability for each of {B.shape[1]} tokens, together 1; got p = {list(p)}")
    mean = B @ weights
    return ((B - mean[:, None]) ** 2).sum(0) @ weights, mean @ mean


def token_norm(
    gamma: float, theta: float, B: np.ndarray, p: Sequence[float], T: int, centred: bool = False
) -> np.ndarray:
    """E||x_t||^2, t = 0 to T, of a pair that reads independent tokens of probabilities p from x_0 = 0, c = 1: (T + 1,).

    xi^2 { E||b - m||^2 (1 - g^(2t)) / (1 - g^2) + ||m||^2 |1 - l^t|^2 / |1 - l|^2 }.
    centred : b_v - m instead of b_v, and xi^2 E||b - m||^2 = 1 - g^2: then it is 1 - g^(2t), as for white input.
    ValueError as ``token_scatter``, for gamma outside [0, 1) or where xi has nothing to divide by.

    >>> B = np.array([[1.0, 0.0], [0.0, 1.0]])
    >>> [round(float(token_norm(0.99, theta, B, [0.5, 0.5], 2000)[-1]), 3) for theta in (0.0, np.pi)]
    [50.0, 0.251]
    >>> round(float(token_norm(0.99, 0.0, B, [0.5, 0.5], 2000, centred=True)[-1]), 3)
    1.0
    """
    check_pair(gamma)
    scatter, mean = token_scatter(B, p)
    size = scatter if centred else (np.asarray(B) ** 2).sum()
    if not size > 0:
        raise ValueError(f"xi divides by {'the scatter' if centred else 'the trace'} of B, which is {size}: B = {B}")
    xi2, powers = (1 - gamma**2) / size, (gamma * np.exp(1j * theta)) ** np.arange(T + 1)
    pole = gamma * np.exp(1j * theta)
    noise = scatter * (1 - np.abs(powers) ** 2) / (1 - gamma**2)
    constant = 0 if centred else mean * np.abs((1 - powers) / (1 - pole)) ** 2
    return xi2 * (noise + constant)


def exhaustive_norm(B: np.ndarray, p: Sequence[Fraction], gamma: Fraction, T: int) -> Fraction:
    """E||x_T||^2 over all V^T strings, xi = 1, cos theta = 3/5: exact.

    >>> exhaustive_norm(np.array([[1, -1], [0, 0]]), [Fraction(1, 2)] * 2, Fraction(1, 2), 2)
    Fraction(5, 4)
    """
    turn = gamma * np.array([[Fraction(3, 5), Fraction(-4, 5)], [Fraction(4, 5), Fraction(3, 5)]])
    total = Fraction(0)
    for word in itertools.product(range(len(p)), repeat=T):
        x, weight = np.array([Fraction(0)] * 2), Fraction(1)
        for v in word:
            x, weight = turn @ x + B[:, v], weight * p[v]
        total += weight * (x @ x)
    return total


def exact_formula(B: np.ndarray, p: Sequence[Fraction], gamma: Fraction, T: int) -> Fraction:
    """The formula of ``token_norm`` for xi = 1 and cos theta = 3/5, in fractions.

    >>> exact_formula(np.array([[1, -1], [0, 0]]), [Fraction(1, 2)] * 2, Fraction(1, 2), 2)
    Fraction(5, 4)
    """
    scatter, mean = token_scatter(B, p)
    rate = sp.Rational(gamma.numerator, gamma.denominator)
    turn = rate * rational_turn(HALF_ANGLE)
    column = ((sp.eye(2) - turn).inv() * (sp.eye(2) - turn**T))[:, 0]  # (1 - l^T) / (1 - l) as a point of the plane
    square = column.dot(column)
    return scatter * (1 - gamma ** (2 * T)) / (1 - gamma**2) + mean * Fraction(int(square.p), int(square.q))


def token_input(
    gamma: Fraction = Fraction(9, 10), T: int = 5, V: int = 3, seed: int = 0, forgotten: int = 1
) -> Evidence:
    """The formula against every string of T tokens, exactly; how far it is from the paper's constant; the repair.

    forgotten : multiplies the mean's part of the formula; with 0 (tokens taken for white noise) the evidence fails.

    >>> token_input().holds, [step.holds for step in token_input(forgotten=0).steps]
    (True, [False, True, True, True])
    """
    draw = np.random.default_rng(seed)
    B = draw.integers(-3, 4, size=(2, V)).astype(object)
    weights = draw.integers(1, 6, size=V)
    p = [Fraction(int(w), int(weights.sum())) for w in weights]
    mean = (B @ np.array(p))[:, None]
    scatter, square = token_scatter(B, p)
    found = [exhaustive_norm(B, p, gamma, t) for t in range(1, T + 1)]
    only_noise = [scatter * (1 - gamma ** (2 * t)) / (1 - gamma**2) for t in range(1, T + 1)]
    full = [exact_formula(B, p, gamma, t) for t in range(1, T + 1)]
    claimed = [noise + forgotten * (whole - noise) for noise, whole in zip(only_noise, full)]
    repaired = [exhaustive_norm(B - mean, p, gamma, t) * (1 - gamma**2) / scatter for t in range(1, T + 1)]
    even, uniform = np.array(B, dtype=float), [1 / V] * V
    first = float(token_norm(float(gamma), 0, even, uniform, 1)[1] * V / (1 - float(gamma) ** 2))
    slow, fast = (token_norm(0.99, angle, np.eye(2), [0.5, 0.5], 4000)[-1] for angle in (0.0, np.pi))
    steps = (
        Step("the formula is the mean over every string", found == claimed,
             f"V = {V}, t = 1 to {T}, {V**T} strings, exactly: {float(found[-1]):.4f}, {float(claimed[-1]):.4f}"),
        Step("uniform one-hot tokens have second moments I / V, not I: the first step has 1 / V of the size meant",
             abs(first - 1) < 1e-12, f"V = {V}: {first / V:.4f} of it"),
        Step("in the long run the mean takes over where theta is small", bool(slow > 10 and fast < 1),
             f"two tokens, B = I, g = 0.99: {slow:.2f} at theta = 0, {fast:.3f} at pi; the paper says 1"),
        Step("with b_v - m and xi^2 E||b - m||^2 = 1 - g^2 it is 1 - g^(2t), as for white input",
             repaired == [1 - gamma ** (2 * t) for t in range(1, T + 1)],
             f"exactly: {float(repaired[-1]):.4f} at t = {T}"),
    )  # fmt: skip
    data = {"norms": [float(s) for s in found], "limits": (float(slow), float(fast)), "mean_square": float(square)}
    return Evidence("Token input", "One-hot tokens are not white: their mean counts, and their size.", "exhaustive",
                    steps, data)  # fmt: skip
