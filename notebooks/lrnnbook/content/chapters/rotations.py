"""Rotations and what a rotating state keeps (paper 001): exact and random ones, one head, the norm of a pair.

Letters: N size; A rotation (N, N), A^T A = I and det A = 1; R(theta) the rotation of the plane; t time, T its last;
g (gamma) decay, l = g e^(i theta); B (N, D_u), xi^2 Tr(B^T B) = c (1 - g^2); u input (..., T, D_u), x state
(..., T, N), y output (..., T, D_y), C (D_y, N); rho the correlation of an input with the next, m = rho l.
"""

import cmath
import math
from dataclasses import dataclass

import numpy as np
import sympy as sp
from scipy.linalg import block_diag


def R(theta: sp.Expr) -> sp.Matrix:
    """The rotation of the plane by theta, (2, 2), in SymPy."""
    return sp.Matrix([[sp.cos(theta), -sp.sin(theta)], [sp.sin(theta), sp.cos(theta)]])


def cayley(M: sp.Matrix) -> sp.Matrix:
    """(I + S)(I - S)^-1 with S = M - M^T, whose eigenvalues are imaginary: a rotation (N, N), of fractions where M has them."""
    one, S = sp.eye(M.rows), M - M.T
    return (one + S) * (one - S).inv()


def random_rotation(N: int, draw: np.random.Generator) -> np.ndarray:
    """A rotation (N, N), uniform on SO(N)."""
    Q, upper = np.linalg.qr(draw.standard_normal((N, N)))
    Q = Q * np.sign(np.diag(upper))
    Q[:, 0] *= np.linalg.det(Q).round()
    return Q


@dataclass(frozen=True)
class Head:
    """x_t = g A x_{t-1} + xi B u_t, y_t = C x_t, with A = P Theta P^T and xi^2 Tr(B^T B) = 1 - g^2 (Eq. 12)."""

    gamma: float
    theta: np.ndarray
    P: np.ndarray
    B: np.ndarray
    C: np.ndarray

    @property
    def transition(self) -> np.ndarray:
        """g A (N, N)."""
        turns = [np.array([[math.cos(a), -math.sin(a)], [math.sin(a), math.cos(a)]]) for a in self.theta]
        return self.gamma * self.P @ block_diag(*turns, *np.ones((len(self.B) % 2, 1, 1))) @ self.P.T

    @property
    def xi(self) -> float:
        """sqrt((1 - g^2) / Tr(B^T B)): Eq. 11 for c = 1."""
        return float(np.sqrt((1 - self.gamma**2) / (self.B**2).sum()))

    def states(self, u: np.ndarray) -> np.ndarray:
        """x (..., T, N) for u (..., T, D_u), step by step from x_0 = 0."""
        A, drive = self.transition, self.xi * u @ self.B.T
        x, states = np.zeros(drive.shape[:-2] + drive.shape[-1:]), np.empty_like(drive)
        for t in range(u.shape[-2]):
            x = x @ A.T + drive[..., t, :]
            states[..., t, :] = x
        return states

    def kernel(self, T: int) -> np.ndarray:
        """The impulse response C (g A)^k xi B, k < T: (T, D_y, D_u)."""
        return np.array([self.C @ np.linalg.matrix_power(self.transition, k) @ (self.xi * self.B) for k in range(T)])


def absorb(head: Head) -> Head:
    """The same function with P = I: B' = P^T B, C' = C P.  Needs an orthogonal P."""
    return Head(head.gamma, head.theta, np.eye(len(head.P)), head.P.T @ head.B, head.C @ head.P)


def norm_over_time(gamma: float, theta: float, rho: float, x0_norm2: float, T: int) -> np.ndarray:
    """E||x_t||^2 of a rotation pair with c = 1, t = 0 to T: (T + 1,), for stationary inputs with E u_t u_s^T = rho^|t-s| I."""
    m, gain = rho * cmath.rect(gamma, theta), 1 - gamma**2
    met, s, norms = 0j, float(x0_norm2), [float(x0_norm2)]  # met: E of conj(x_t) u_t, for a drive of size 1
    for _ in range(T):
        s = gamma**2 * s + gain * (1 + 2 * (m * met).real)
        met = 1 + m * met
        norms.append(s)
    return np.array(norms)


def stationary_norm(gamma: float, theta: float, rho: float) -> float:
    """(1 - g^2 rho^2) / (1 - 2 g rho cos theta + g^2 rho^2), the limit of ``norm_over_time``."""
    r = gamma * rho
    return (1 - r * r) / (1 - 2 * r * math.cos(theta) + r * r)
