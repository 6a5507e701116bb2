"""Kernels that are sums of exponentials, K_k = sum_n w_n lambda_n^k: exact ones, best fits, and the price of a shift.

Exact arithmetic gives Hankel ranks and shortest recurrences.  For given nodes a kernel is linear in its weights, so the
best one is a projection.  A shift is the kernel that is 1 at lag S and 0 at the other lags: real nodes need weights that
grow exponentially with L (Claim 1 of paper 004, corrected in chapter 06), nodes with a phase do not.  The proofs are in
chapters 05 and 06.

Letters: N modes, L length, n = L - 1, S lag of the 1, k lag; lambda nodes, w weights, K kernel, P the table of powers
(L, N); T Chebyshev, T*(x) = T(2x - 1).
"""

from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import comb, factorial, lcm, pi, prod
from typing import Any, NamedTuple

import mpmath
import numpy as np
import sympy as sp
from sympy import QQ, QQ_I
from sympy.polys.matrices import DomainMatrix

INTERVALS = ("[0,1]", "[-1,1]", "circle")


def kernel(nodes: Sequence, weights: Sequence, L: int) -> list:
    """K_k = sum_n w_n lambda_n^k for k = 0..L-1 (paper 004, Eq. 4), in the arithmetic of its numbers."""
    terms, found = list(weights), []
    for _ in range(L):
        found.append(sum(terms))
        terms = [term * node for term, node in zip(terms, nodes, strict=True)]
    return found


# --- exact ranks and recurrences --------------------------------------------------------------------------------------


def gaussian(real: int | Fraction, imaginary: int | Fraction = 0) -> Any:
    """The exact number real + imaginary i of two fractions."""
    return QQ_I(*(QQ(int(part.numerator), int(part.denominator)) for part in (real, imaginary)))


def monic(nodes: Sequence) -> list:
    """The coefficients c_0 ... c_N of prod_n (z - lambda_n), lowest first; c_N = 1."""
    found = [1]
    for node in nodes:
        found = [shifted - node * here for shifted, here in zip([0, *found], [*found, 0])]
    return found


def exact_matrix(rows: Sequence[Sequence]) -> DomainMatrix:
    """Whole numbers, fractions or ``gaussian`` numbers as a matrix over a field, for its exact rank or null space."""
    exact = type(QQ_I.one)
    if any(isinstance(entry, exact) for row in rows for entry in row):
        rows, field = [[entry if isinstance(entry, exact) else gaussian(entry) for entry in row] for row in rows], QQ_I
    else:
        rows, field = [[QQ(int(entry.numerator), int(entry.denominator)) for entry in row] for row in rows], QQ
    return DomainMatrix(rows, (len(rows), len(rows[0])), field)


def hankel_rank(values: Sequence, size: int) -> int:
    """The exact rank of H_ij = K_{i+j}, (size, size): the least size of a linear RNN with that kernel, or ``size``."""
    return exact_matrix([values[row : row + size] for row in range(size)]).rank()


def recurrence(values: Sequence) -> sp.Poly:
    """The polynomial of the shortest recurrence sum_j c_j K_{k+j} = 0 that all values obey, c_N = 1; it needs 2N + 1 values."""
    N = hankel_rank(values, (len(values) + 1) // 2)
    block = exact_matrix([values[row : row + N + 1] for row in range(N)] or [[0]])  # its null space has one dimension
    found = sp.Matrix(block.nullspace().to_Matrix())[0, :] if N else [sp.Integer(1)]
    rows = [values[row : row + N + 1] for row in range(len(values) - N)]
    if not found[N] or any(sum(c * value for c, value in zip(found, row)) for row in rows):
        raise ValueError(f"no recurrence of {N} terms holds for all of the {len(values)} values, so more are needed")
    return sp.Poly([entry / found[N] for entry in found[::-1]], sp.Symbol("z"))


def root_sum(exponents: Iterable[int], order: int) -> sp.Expr:
    """sum_e exp(2 pi i e / order) exactly: a polynomial in z = exp(2 pi i / order), reduced, so 0 is written 0."""
    z, powers = sp.Symbol("z"), [0] * order
    for exponent in exponents:
        powers[exponent % order] += 1
    return sp.rem(sp.Poly(powers[::-1], z), sp.cyclotomic_poly(order, z, polys=True)).as_expr()


# --- nodes and best fits ----------------------------------------------------------------------------------------------


def power_table(nodes: np.ndarray, L: int, cast: bool = True) -> np.ndarray:
    """P_kn = lambda_n^k, (L, N); with ``cast`` the (L, 2N) real table [Re P, -Im P]: Re P w = table (Re w, Im w)."""
    table = np.asarray(nodes) ** np.arange(L)[:, None]
    return np.hstack([table.real, -table.imag]) if cast and np.iscomplexobj(table) else table


def arc_nodes(N: int, arc: float = 2 * pi, offset: float = 0.5) -> np.ndarray:
    """N nodes exp(i arc (n + offset) / N) of the unit circle, (N,): ``offset=0`` is the paper's grid, which repeats after N lags;
    ``arc=pi`` the half circle, with conjugates the roots of z^2N + 1: all real kernels of length 2N, condition number 1."""
    return np.exp(1j * arc * (np.arange(N) + offset) / N)


def spectrum(nodes: np.ndarray, L: int, cast: bool = True) -> dict:
    """Singular values of the table of powers, its rank (above 1e-10 of the largest) and its condition number, or infinity."""
    values = np.linalg.svd(power_table(nodes, L, cast), compute_uv=False)
    rank = int((values > 1e-10 * values[0]).sum())
    condition = float(values[0] / values[-1]) if rank == len(values) else float("inf")
    return {"values": values, "rank": rank, "condition": condition}


def decayed_nodes(N: int, low: float, high: float, draw: np.random.Generator) -> np.ndarray:
    """The paper's grid with |lambda_n| = exp(-dt_n / 2), log dt_n uniform between those of ``low`` and ``high`` (Sec. 2.3)."""
    dt = np.exp(draw.uniform(np.log(low), np.log(high), N))
    return arc_nodes(N, offset=0) * np.exp(-dt / 2)


class Fit(NamedTuple):
    """The best kernel K: ``error`` is ||K - target|| / ||target||, ``norm`` is ||w||_1."""

    weights: np.ndarray
    kernel: np.ndarray
    error: float
    norm: float


def best_fit(nodes: np.ndarray, target: np.ndarray, cast: bool = True) -> Fit:
    """The weights w, of equally good ones the smallest, for which sum_n w_n lambda_n^k (with ``cast`` its real part) is nearest
    to the target (L,); real nodes have real weights, as in DLR-R."""
    nodes, target = np.asarray(nodes), np.asarray(target, float)
    table = power_table(nodes, len(target), cast)
    found = np.linalg.lstsq(table, target, rcond=None)[0]
    kernel = table @ found
    weights = found.reshape(2, -1).T @ [1, 1j] if len(found) > len(nodes) else found
    distance = np.linalg.norm(kernel - target) / np.linalg.norm(target)
    return Fit(weights, kernel, float(distance), float(np.abs(weights).sum()))


def families(N: int) -> dict[str, np.ndarray]:
    """Five sets of N nodes, by name: two real, three complex.  Decays as by default in paper 004, Sec. 2.3."""
    return {
        "real, (0,1]": np.arange(1, N + 1) / N,
        "real, [-1,1]": np.cos(pi * (np.arange(N) + 0.5) / N)[::-1],
        "circle (DFT)": arc_nodes(N, offset=0),
        "half circle": arc_nodes(N, pi),
        "circle with decays": decayed_nodes(N, 0.0005, 0.5, np.random.default_rng(0)),
    }


def targets(L: int, seed: int = 0) -> dict[str, np.ndarray]:
    """Five kernels of length L: a shift by L/4 and by L/2, a box (a moving sum), a fading sine, noise."""
    k = np.arange(L)
    return {
        "shift by L/4": (k == L // 4).astype(float),
        "shift by L/2": (k == L // 2).astype(float),
        "box": (k < L // 4).astype(float),
        "fading sine": np.exp(-3 * k / L) * np.sin(9.3 * k / L),
        "noise": np.random.default_rng(seed).standard_normal(L),
    }


# --- shifts -----------------------------------------------------------------------------------------------------------


def needed_modes(L: int, S: int) -> int:
    """max(S + 1, L - S) modes other than 0 make the shift exactly, no fewer (notebook 05d); half of it, rounded up, with the
    cast to reals."""
    return max(S + 1, L - S)


def predicted_r2(L: int, N: int) -> float:
    """R2 on Shift (outputs j = 0..7 hold 1 - j/8 of 4.5 shares of the variance) of N modes cast to reals that make the shifts
    by S <= 2N only; that these can be learned is Theorem 4 of notebook 06d."""
    return sum(1 - j / 8 for j in range(8) if j * L // 8 <= 2 * N) / 4.5


def exact_weights(nodes: Sequence, S: int | None = None) -> list[Fraction]:
    """The one w with sum_i w_i lambda_i^k = [k = S] for k = 0..N-1 (S = N-1 by default), as exact fractions: w_i is the
    coefficient of x^S in the polynomial that is 1 at lambda_i and 0 at the other nodes, N different numbers."""
    nodes = [Fraction(node) for node in nodes]
    S = len(nodes) - 1 if S is None else S
    scale = lcm(*(node.denominator for node in nodes))
    whole = [int(node * scale) for node in nodes]  # the nodes of X = scale x
    coefficients, found = monic(whole), []
    for node in whole:
        share = 0
        for coefficient in coefficients[:S:-1]:  # synthetic division by X - node, down to X^S
            share = coefficient + node * share
        found.append(Fraction(scale**S * share, prod(node - other for other in whole if other != node)))
    return found


def chebyshev_nodes(N: int, bits: int = 240) -> list[Fraction]:
    """(1 - cos(pi k / (N-1)))/2 for k = 0..N-1, N >= 2, to ``bits`` binary digits, as fractions."""
    with mpmath.workprec(bits + 20):
        scaled = [(1 - mpmath.cospi(mpmath.mpf(k) / (N - 1))) * 2 ** (bits - 1) for k in range(N)]
        return [Fraction(int(mpmath.nint(value)), 2**bits) for value in scaled]


def degree(L: int, S: int, interval: str) -> int:
    """The degree of the extremal polynomial: L - 1, or L - 2 on [-1, 1] where S has the other parity."""
    return L - 1 - (interval == "[-1,1]" and (L - 1 - S) % 2)


def smallest_norm(L: int, S: int, interval: str = "[0,1]") -> int:
    """The least ||w||_1 of nodes in ``interval`` whose kernel is 1 at S and 0 at the other lags of 0..L-1, any number:
    |[x^S] T*_n| on [0, 1], the coefficient of T_n or T_(n-1) on [-1, 1], 1 on the circle (chapter 06, notebook 06b)."""
    n = degree(L, S, interval)
    if interval == "circle" or n == 0:
        return 1
    if interval == "[0,1]":
        return n * 4**S * comb(n + S, 2 * S) // (n + S)
    half = (n + S) // 2
    return n * 2**S * factorial(half - 1) // (2 * factorial(half - S) * factorial(S))


def extremal_nodes(L: int, S: int, interval: str, bits: int = 240) -> list[Fraction]:
    """The nodes in [0, 1] or [-1, 1] of the least norm, to ``bits`` binary digits."""
    n = degree(L, S, interval)
    nodes = chebyshev_nodes(n + 1, bits) if n else [Fraction(0)]
    if interval == "[0,1]":
        return nodes
    right = [2 * node - 1 for node in nodes[(n + 2) // 2 :]]  # mirrored, so that rounding keeps the symmetry
    return [-node for node in right[::-1]] + [Fraction(0)] * (n % 2 == 0) + right
