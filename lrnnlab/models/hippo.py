"""The HiPPO-LegS matrix, its normal-plus-low-rank form, and the eigenvalues that S4 and S4D start from.  NumPy only.

    x' = A x + B u,   A + P P^T = -1/2 I + (a skew-symmetric matrix)

The right-hand side is normal, so a unitary V diagonalises it: V* A V = diag(lambda) - p p*, with p = V* P (Gu, Goel,
Re 2022, Theorem 1).  Its eigenvalues come in conjugate pairs and everything real is a sum over pairs; one of each
pair is kept.

Letters: N state size, A transition of the differential equation, B its input vector, P the low-rank correction.
"""

from __future__ import annotations

import numpy as np


def legs(N: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A (N, N), B (N,), P (N,) of HiPPO-LegS (Gu et al. 2020): A is lower triangular with eigenvalues -1, ..., -N."""
    n = np.arange(N)
    B = np.sqrt(2 * n + 1)
    return -np.tril(np.outer(B, B), -1) - np.diag(n + 1), B, B / np.sqrt(2)


def legs_diagonal(N: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(lambda, p, V): A = V (diag(lambda) - p p*) V* + its conjugate; lambda and p (N/2,), V (N, N/2) complex."""
    check_pairs(N)
    A, _, P = legs(N)
    skew = A + np.outer(P, P) + np.eye(N) / 2
    frequency, V = np.linalg.eigh(-1j * skew)  # Hermitian, so real frequencies, ascending: -w_1 ... w_1
    frequency, V = frequency[N // 2 :], V[:, N // 2 :]
    phase = V.conj().T @ P
    V = V * (phase / np.abs(phase))
    return -0.5 + 1j * frequency, np.abs(phase), V


def check_pairs(N: int) -> None:
    """``ValueError`` unless N states are N/2 conjugate pairs."""
    if N < 2 or N % 2:
        raise ValueError(f"the state size is even and at least 2 (conjugate pairs), got {N}")


def diagonal_start(init: str, N: int) -> np.ndarray:
    """The N/2 eigenvalues that S4D starts from (Gu, Gupta, Goel, Re 2022, Sec. 4)."""
    check_pairs(N)
    n = np.arange(N // 2)
    if init == "lin":
        return -0.5 + 1j * np.pi * n
    if init == "inv":
        return -0.5 + 1j * N / np.pi * (N / (2 * n + 1) - 1)
    if init == "legs":
        return legs_diagonal(N)[0]
    raise ValueError(f"init is lin, inv or legs, got {init!r}")
