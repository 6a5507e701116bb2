"""Paper 001, Lemmas 1 and 2: exp of a skew matrix is a rotation, A = P Theta P^T with cheap powers, and both are onto.

The paper learns P = exp(M - M^T), of determinant 1, and fears that P Theta P^T "may not be surjective onto SO(N)"
(Sec. 3.2).  It is.  If a decomposition has det P = -1, flip the sign of P's first column: Theta's first angle changes
its sign and A stays (``determinant_one``); with N odd flip the axis instead, and Theta stays as well.

Letters: N size; A a rotation (N, N), A^T A = I and det A = 1; S skew, S^T = -S; P orthogonal (N, N); theta the N // 2
angles; Theta (N, N) the 2 x 2 rotations R(theta_i) along the diagonal and, for odd N, a last 1.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import sympy as sp
from scipy.linalg import block_diag, expm, schur

from lrnnlab.algebra.evidence import Evidence, Step
from lrnnlab.algebra.orthogonal import (
    distance_from_rotations,
    integer_matrix,
    multiplied_out,
    random_rotation,
    rational_blocks,
    rational_rotation,
    rational_turn,
    rotation_blocks,
    special_rotations,
    symbolic_rotation,
)


def lemma_1(
    N: int = 4, samples: int = 50, seed: int = 0, symmetric: int = 0, terms: int = 8, tolerance: float = 1e-11
) -> Evidence:
    """exp(M - M^T) is a rotation: the product of the two series cancels term by term, and Jacobi gives determinant 1.

    symmetric : this times the identity is added to S, which then is not skew; anything but 0 fails.
    terms : how many orders of the product of series are multiplied out.  Source: paper 001, Lemma 1, App. A.1.

    >>> lemma_1().holds, [step.holds for step in lemma_1(symmetric=1).steps]
    (True, [False, True, False, False])
    """
    draw = np.random.default_rng(seed)
    M = integer_matrix(N, N, draw)
    S = M - M.T + symmetric * sp.eye(N)
    orders = [_order(S, k) for k in range(1, terms + 1)]
    free, e = sp.Matrix(N, N, lambda i, j: sp.Symbol(f"s_{i}{j}")), sp.Symbol("e")
    slope = sp.Poly((sp.eye(N) + e * free).det(method="berkowitz"), e).coeff_monomial(e)
    M = draw.standard_normal((samples, N, N))
    worst = max(distance_from_rotations(expm(m - m.T + symmetric * np.eye(N))) for m in M)
    steps = (
        Step("exp(S) exp(S)^T = I: every order of the product of the two series above 0 is zero",
             all(order == sp.zeros(N, N) for order in orders), f"integer S, orders 1 to {terms}, exactly"),
        Step("Jacobi: det(I + e S) = 1 + e Tr S + O(e^2), so det exp(t S) grows at the rate Tr S and is exp(t Tr S)",
             sp.expand(slope - free.trace()) == 0, f"N = {N}, free entries: the coefficient of e is {slope}"),
        Step("Tr S = 0, so the determinant is exp(0) = 1", S.trace() == 0, f"Tr S = {S.trace()}"),
        Step("in floating point exp(M - M^T) is a rotation", worst < tolerance,
             f"{samples} random M: off by {worst:.1e}"),
    )  # fmt: skip
    return Evidence("Lemma 1", "exp(M - M^T) is a rotation.", "numerical", steps, {"error": worst})


def _order(S, k):
    """The terms of degree k in exp(S) exp(S)^T."""
    parts = (S**i * (S.T) ** (k - i) / (sp.factorial(i) * sp.factorial(k - i)) for i in range(k + 1))
    return sum(parts, sp.zeros(*S.shape))


def lemma_2(N: int = 5, powers: int = 5, seed: int = 0, stretch: int = 1) -> Evidence:
    """P Theta P^T is a rotation for either sign of det P, and its k-th power is P Theta^k P^T; in exact fractions.

    stretch : P's first column times this; anything but 1 and -1 makes P not orthogonal and the evidence fail.
    Source: paper 001, Lemma 2, App. A.2.

    >>> lemma_2().holds, [step.holds for step in lemma_2(stretch=2).steps]
    (True, [False, False, False, True])
    """
    draw = np.random.default_rng(seed)
    Theta, turn = rational_blocks(N, draw), rational_rotation(N, draw)
    both = [turn * sp.diag(sign * stretch, *[1] * (N - 1)) for sign in (1, -1)]
    rotations = [(P, P * Theta * P.T) for P in both]
    a, b = sp.symbols("a b", real=True)
    angles = multiplied_out(symbolic_rotation(a + b) - symbolic_rotation(a) * symbolic_rotation(b))
    same = [A**k == P * Theta**k * P.T for P, A in rotations for k in range(1, powers + 1)]
    steps = (
        Step("A^T A = I", all(A.T * A == sp.eye(N) for _, A in rotations), f"N = {N}, exactly, det P = 1 and -1"),
        Step("det A = det P^2 det Theta = 1", all(A.det() == 1 for _, A in rotations),
             f"det A = {', '.join(str(A.det()) for _, A in rotations)}"),
        Step("A^k = P Theta^k P^T", all(same), f"k = 1 to {powers}: {same.count(False)} of {len(same)} differ"),
        Step("R(a) R(b) = R(a + b), so Theta^k holds the rotations by k theta_i", angles == sp.zeros(2, 2), "symbolic"),
    )  # fmt: skip
    return Evidence("Lemma 2", "P Theta P^T is a rotation with powers P Theta^k P^T.", "exact", steps)


def flip_column(P: np.ndarray, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Another (P, theta) of the same rotation, with the other sign of det P.

    >>> flip_column(np.eye(2), np.array([0.5]))[1].tolist(), flip_column(np.eye(3), np.array([0.5]))[1].tolist()
    ([-0.5], [0.5])
    """
    P, theta = P.copy(), theta.copy()
    if len(P) % 2:  # the axis: Theta has a 1 there, whose sign flips twice
        P[:, -1] *= -1
    else:
        P[:, 0] *= -1
        theta[0] *= -1
    return P, theta


def decompose(A: np.ndarray, tolerance: float = 1e-6) -> tuple[np.ndarray, np.ndarray]:
    """(P, theta) with A = P Theta P^T and det P = +1, for ANY rotation A (N, N): what the paper thought may not exist.

    ValueError if A is no rotation to within the tolerance.  Source: real Schur form, and the flip of a column.

    >>> A = random_rotation(5, np.random.default_rng(0))
    >>> P, theta = decompose(A)
    >>> bool(np.allclose(P @ rotation_blocks(theta, 5) @ P.T, A)), round(float(np.linalg.det(P)), 9)
    (True, 1.0)
    """
    P, theta = _decompose_either_sign(np.asarray(A, dtype=float), tolerance)
    return flip_column(P, theta) if np.linalg.det(P) < 0 else (P, theta)


def _decompose_either_sign(A, tolerance=1e-6):
    """(P, theta) with A = P Theta P^T; det P is 1 or -1 as it comes."""
    if A.ndim != 2 or A.shape[0] != A.shape[1]:
        raise ValueError(f"a rotation is a square matrix, got shape {A.shape}")
    if not (off := distance_from_rotations(A)) < tolerance:
        raise ValueError(f"a rotation has A^T A = I and det A = 1, got a matrix that is off by {off:.3g}")
    T, Q = schur(A, output="real")  # A is normal, so T is block diagonal up to rounding
    turning, theta, single, k = [], [], {1: [], -1: []}, 0
    while k < len(A):
        if k + 1 < len(A) and T[k + 1, k] != 0:
            turning += [k, k + 1]
            theta.append(math.atan2(T[k + 1, k] - T[k, k + 1], T[k, k] + T[k + 1, k + 1]))
            k += 2
        else:
            single[1 if T[k, k] > 0 else -1].append(k)
            k += 1
    # det A = 1 leaves an even number of eigenvalues -1: half turns. The eigenvalues 1 are turns by 0, and an axis.
    theta += [math.pi] * (len(single[-1]) // 2) + [0.0] * (len(single[1]) // 2)
    return Q[:, turning + single[-1] + single[1]], np.array(theta)


def skew_logarithm(A: np.ndarray) -> np.ndarray:
    """A skew S (N, N) with exp(S) = A, for any rotation A: exp is onto.  ValueError as ``decompose``.

    >>> skew_logarithm(-np.eye(2)).round(4).tolist()
    [[0.0, -3.1416], [3.1416, 0.0]]
    """
    P, theta = decompose(A)
    slow = block_diag(*[np.array([[0, -a], [a, 0]]) for a in theta], *np.zeros((len(P) % 2, 1, 1)))
    return P @ slow @ P.T


def determinant_one(
    sizes: Sequence[int] = range(2, 10), samples: int = 20, seed: int = 0, sign: int = -1, tolerance: float = 1e-12
) -> Evidence:
    """Every rotation is P Theta P^T with det P = 1, so P = exp(M - M^T) loses nothing; and exp reaches every rotation.

    sign : what a flipped column does to the angle; with +1 (P flipped, the angle kept) the evidence fails.
    Source: against paper 001, Sec. 3.2, last paragraph.

    >>> proof = determinant_one()
    >>> proof.holds, proof.data["rebuilt"], [step.holds for step in determinant_one(sign=1).steps]
    (True, 181, [False, False, True, True])
    """
    draw, angle, D = np.random.default_rng(seed), sp.Symbol("theta", real=True), sp.diag(-1, 1)
    flipped = D * symbolic_rotation(angle) * D - symbolic_rotation(sign * angle)
    t, P = sp.Rational(1, 2), rational_rotation(4, draw) * sp.diag(-1, 1, 1, 1)
    other, D4 = rational_turn(sp.Rational(1, 3)), sp.diag(D, 1, 1)
    moved = P * D4 * sp.diag(rational_turn(sign * t), other) * (P * D4).T
    A = [random_rotation(N, draw) for N in sizes for _ in range(samples)]
    flips = sum(np.linalg.det(_decompose_either_sign(a)[0]) < 0 for a in A)
    A += special_rotations()
    parts = [decompose(a) for a in A]
    error = float(max(np.abs(P @ rotation_blocks(theta, len(P)) @ P.T - a).max() for a, (P, theta) in zip(A, parts)))
    off = max(distance_from_rotations(P) for P, _ in parts)
    logarithm = float(max(np.abs(expm(skew_logarithm(a)) - a).max() for a in A))
    steps = (
        Step("diag(-1, 1) R(theta) diag(-1, 1) = R(-theta)", flipped == sp.zeros(2, 2), "symbolic"),
        Step("a flipped column of P and a flipped angle leave A, and det P becomes 1",
             moved == P * sp.diag(rational_turn(t), other) * P.T and (P * D4).det() == 1,
             f"N = 4, exactly: det P was {P.det()}"),
        Step("rotations of every size are rebuilt, with det P = 1", error < tolerance and off < tolerance,
             f"{len(A)} rotations, {flips} random ones needed the flip: off by {error:.1e}, P by {off:.1e}"),
        Step("exp of a skew matrix reaches each of them", logarithm < tolerance, f"off by {logarithm:.1e}"),
    )  # fmt: skip
    data = {"rebuilt": len(A), "flips": int(flips), "error": error}
    claim = "P Theta P^T with det P = 1 reaches all of SO(N): the paper's worry is unfounded."
    return Evidence("P with determinant 1", claim, "numerical", steps, data)
