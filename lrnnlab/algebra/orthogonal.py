"""Rotations to check theorems with: symbolic, exact in fractions (Pythagoras and Cayley), and random ones.

Letters: N size; A a rotation (N, N), A^T A = I and det A = 1; S skew, S^T = -S; theta the N // 2 angles; R(theta) a
2 x 2 rotation; Theta (N, N) the R(theta_i) along the diagonal and, for odd N, a last 1.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np
import sympy as sp
from scipy.linalg import block_diag


def rotation_blocks(theta: Sequence[float], N: int) -> np.ndarray:
    """Theta (N, N) for N // 2 angles.  ValueError for another number of angles.

    >>> rotation_blocks([np.pi / 2], 3).round().astype(int).tolist()
    [[0, -1, 0], [1, 0, 0], [0, 0, 1]]
    """
    theta = np.asarray(theta, dtype=float)
    if theta.shape != (N // 2,):
        raise ValueError(f"a rotation of size N={N} has {N // 2} angles, got theta of shape {theta.shape}")
    turns = [np.array([[math.cos(a), -math.sin(a)], [math.sin(a), math.cos(a)]]) for a in theta]
    return block_diag(*turns, *np.ones((N % 2, 1, 1)))


def symbolic_rotation(angle: sp.Expr) -> sp.Matrix:
    """R(angle), 2 x 2.

    >>> symbolic_rotation(sp.pi / 2)
    Matrix([
    [0, -1],
    [1,  0]])
    """
    return sp.Matrix([[sp.cos(angle), -sp.sin(angle)], [sp.sin(angle), sp.cos(angle)]])


def multiplied_out(z: sp.Matrix) -> sp.Matrix:
    """The matrix with sums of angles and products expanded, so that equal entries look equal.

    >>> a, b = sp.symbols("a b")
    >>> multiplied_out(sp.Matrix([sp.sin(a + b) - sp.sin(a) * sp.cos(b)]))
    Matrix([[sin(b)*cos(a)]])
    """
    return z.applyfunc(lambda entry: sp.expand(sp.expand_trig(entry)))


def rational_turn(t: sp.Rational) -> sp.Matrix:
    """The rotation with t = tan(angle / 2): cos = (1 - t^2) / (1 + t^2), sin = 2 t / (1 + t^2), both rational.

    >>> rational_turn(sp.Rational(1, 2))
    Matrix([
    [3/5, -4/5],
    [4/5,  3/5]])
    """
    cos, sin = (1 - t**2) / (1 + t**2), 2 * t / (1 + t**2)
    return sp.Matrix([[cos, -sin], [sin, cos]])


def rational_blocks(N: int, draw: np.random.Generator) -> sp.Matrix:
    """A Theta (N, N) of fractions, angles other than 0.

    >>> Theta = rational_blocks(3, np.random.default_rng(0))
    >>> Theta.T * Theta == sp.eye(3), Theta[2, 2]
    (True, 1)
    """
    turns = [rational_turn(sp.Rational(int(draw.integers(1, 9)), int(draw.integers(1, 9)))) for _ in range(N // 2)]
    return sp.diag(*turns, *[1] * (N % 2))


def integer_matrix(rows: int, columns: int, draw: np.random.Generator) -> sp.Matrix:
    """Entries from -3 to 3.

    >>> integer_matrix(2, 3, np.random.default_rng(0)).shape
    (2, 3)
    """
    return sp.Matrix(draw.integers(-3, 4, size=(rows, columns)).tolist())


def rational_rotation(N: int, draw: np.random.Generator) -> sp.Matrix:
    """A rotation (N, N) of fractions, by Cayley: (I + S)(I - S)^-1 with S skew, of integers.

    >>> A = rational_rotation(3, np.random.default_rng(0))
    >>> A.T * A == sp.eye(3), A.det()
    (True, 1)
    """
    M = integer_matrix(N, N, draw)
    return (sp.eye(N) + M - M.T) * (sp.eye(N) - M + M.T).inv()


def random_rotation(N: int, draw: np.random.Generator) -> np.ndarray:
    """A rotation (N, N), uniform on SO(N).

    >>> round(float(np.linalg.det(random_rotation(4, np.random.default_rng(0)))), 12)
    1.0
    """
    Q, R = np.linalg.qr(draw.standard_normal((N, N)))
    Q = Q * np.sign(np.diag(R))
    Q[:, 0] *= np.linalg.det(Q).round()
    return Q


def distance_from_rotations(A: np.ndarray) -> float:
    """The larger of the largest |entry of A^T A - I| and |det A - 1|.

    >>> distance_from_rotations(np.diag([1.0, -1.0]))
    2.0
    """
    return float(max(np.abs(A.T @ A - np.eye(len(A))).max(), abs(np.linalg.det(A) - 1)))


def special_rotations() -> list[np.ndarray]:
    """Rotations with repeated eigenvalues, or almost: I, -I, permutations, half turns, a turn by 1e-9.

    >>> max(distance_from_rotations(A) for A in special_rotations()) < 1e-12
    True
    """
    even = [np.eye(4)[list(p)] for p in itertools.permutations(range(4))]
    even = [A for A in even if np.linalg.det(A) > 0]
    return [np.eye(1), np.eye(4), np.eye(5), -np.eye(2), -np.eye(4), np.diag([-1.0, 1, -1]), np.roll(np.eye(5), 1, 0),
            rotation_blocks([1e-9, 0.3], 4), rotation_blocks([0.7, 0.7], 5), *even]  # fmt: skip
