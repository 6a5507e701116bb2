"""What N modes can fit: tables of powers, nodes on a circle, and the best kernel by least squares (chapters 05, 06).

A DLR's kernel is linear in its weights, so for given nodes the best one is a projection.  The paper's grid
lambda_n = exp(2 pi i n / N) gives every kernel of length N and repeats itself after it; cast to reals it holds its own
conjugates and has rank N only.  On the half circle lambda_n = exp(pi i (2n + 1) / (2N)) modes and conjugates are the 2N
roots of z^2N + 1: all real kernels of length 2N, condition number 1 (chapter 05, section 4).

Letters: N modes, L length, k lag; lambda nodes, w weights, K kernel, P the table of powers (L, N).
"""

from __future__ import annotations

from collections.abc import Iterable
from math import pi
from typing import NamedTuple

import numpy as np
import sympy as sp


def power_table(nodes: np.ndarray, L: int, cast: bool = True) -> np.ndarray:
    """P_kn = lambda_n^k, (L, N); with ``cast`` the (L, 2N) real table [Re P, -Im P]: Re P w = table (Re w, Im w)."""
    nodes = np.asarray(nodes)
    if L < 1 or nodes.ndim != 1 or not len(nodes):
        raise ValueError(f"a table of powers needs L >= 1 and a list of nodes, got L={L}, shape {nodes.shape}")
    table = nodes ** np.arange(L)[:, None]
    return np.hstack([table.real, -table.imag]) if cast and np.iscomplexobj(table) else table


def arc_nodes(N: int, arc: float = 2 * pi, offset: float = 0.5) -> np.ndarray:
    """N nodes exp(i arc (n + offset) / N) of the unit circle, (N,).

    ``arc=pi`` is the half circle; ``arc=2 pi, offset=0`` the paper's grid.  ValueError for N < 1.

    >>> np.round(arc_nodes(4, offset=0), 12).tolist()
    [(1+0j), 1j, (-1+0j), (-0-1j)]
    """
    if N < 1:
        raise ValueError(f"needs at least one node, got N={N}")
    return np.exp(1j * arc * (np.arange(N) + offset) / N)


def spectrum(nodes: np.ndarray, L: int, cast: bool = True) -> dict:
    """Singular values of the table of powers, its rank (above 1e-10 of the largest) and its condition number.

    The condition number is infinite where the rank is below the smaller side of the table.

    >>> half, full = (spectrum(arc_nodes(16, arc), 32) for arc in (pi, 2 * pi))
    >>> half["rank"], round(half["condition"], 9), full["rank"], full["condition"]
    (32, 1.0, 16, inf)
    """
    values = np.linalg.svd(power_table(nodes, L, cast), compute_uv=False)
    rank = int((values > 1e-10 * values[0]).sum())
    condition = float(values[0] / values[-1]) if rank == len(values) else float("inf")
    return {"values": values, "rank": rank, "condition": condition}


def root_sum(exponents: Iterable[int], order: int) -> sp.Expr:
    """sum_e exp(2 pi i e / order) exactly: a polynomial in z = exp(2 pi i / order), reduced, so 0 is written 0.

    >>> root_sum([0, 1, 2], 3), root_sum([0, 3], 3)
    (0, 2)
    """
    z, powers = sp.Symbol("z"), [0] * order
    for exponent in exponents:
        powers[exponent % order] += 1
    return sp.rem(sp.Poly(powers[::-1], z), sp.cyclotomic_poly(order, z, polys=True)).as_expr()


def decayed_nodes(N: int, low: float, high: float, draw: np.random.Generator) -> np.ndarray:
    """The paper's grid with |lambda_n| = exp(-dt_n / 2), log dt_n uniform between those of ``low`` and ``high``.

    Source: paper 004, Sec. 2.3 (there r = log dt, .0005 to .5).  ValueError unless 0 < low <= high.

    >>> np.allclose(abs(decayed_nodes(9, 0.1, 0.1, np.random.default_rng(0))), np.exp(-0.05))
    True
    """
    if not 0 < low <= high:
        raise ValueError(f"decays need 0 < low <= high, got low={low}, high={high}")
    dt = np.exp(draw.uniform(np.log(low), np.log(high), N))
    return arc_nodes(N, offset=0) * np.exp(-dt / 2)


class Fit(NamedTuple):
    """The best kernel K: ``error`` is ||K - target|| / ||target||, ``norm`` is ||w||_1."""

    weights: np.ndarray
    kernel: np.ndarray
    error: float
    norm: float


def best_fit(nodes: np.ndarray, target: np.ndarray, cast: bool = True) -> Fit:
    """The weights w for which sum_n w_n lambda_n^k is nearest to the target; of equally good weights the smallest.

    Parameters
    ----------
    nodes : array, (N,)
        Real or complex; real nodes have real weights, as in DLR-R.
    target : array, (L,)
        Real, of any length.
    cast : bool
        Whether only the real part of the sum counts.  Without it the kernel of complex nodes is complex.

    Raises
    ------
    ValueError
        For a target that is 0 or no list.

    Examples
    --------
    >>> fit = best_fit(np.array([1.0, 0.5]), np.array([2.0, 1.5, 1.25]))
    >>> np.round(fit.weights, 12).tolist(), fit.error < 1e-12, round(fit.norm, 12)
    ([1.0, 1.0], True, 2.0)
    """
    target = np.asarray(target, float)
    if target.ndim != 1 or not target.any():
        raise ValueError(f"the target is a list of numbers, not all 0; got shape {target.shape}")
    nodes = np.asarray(nodes)
    table = power_table(nodes, len(target), cast)
    found = np.linalg.lstsq(table, target, rcond=None)[0]
    kernel = table @ found
    weights = found.reshape(2, -1).T @ [1, 1j] if len(found) > len(nodes) else found
    distance = np.linalg.norm(kernel - target) / np.linalg.norm(target)
    return Fit(weights, kernel, float(distance), float(np.abs(weights).sum()))


def families(N: int, seed: int = 0) -> dict[str, np.ndarray]:
    """Five sets of N nodes, by name: two real, three complex.  Decays as by default in paper 004, Sec. 2.3.

    >>> {name: nodes.shape for name, nodes in families(4).items()}["half circle"]
    (4,)
    """
    draw = np.random.default_rng(seed)
    return {
        "real, (0,1]": np.arange(1, N + 1) / N,
        "real, [-1,1]": np.cos(pi * (np.arange(N) + 0.5) / N)[::-1],
        "circle (DFT)": arc_nodes(N, offset=0),
        "half circle": arc_nodes(N, pi),
        "circle with decays": decayed_nodes(N, 0.0005, 0.5, draw),
    }


def targets(L: int, seed: int = 0) -> dict[str, np.ndarray]:
    """Five kernels of length L: a shift by L/4 and by L/2, a box (a moving sum), a fading sine, noise.

    >>> [name for name, values in targets(8).items() if abs(values).sum() == 1]
    ['shift by L/4', 'shift by L/2']
    """
    k = np.arange(L)
    return {
        "shift by L/4": (k == L // 4).astype(float),
        "shift by L/2": (k == L // 2).astype(float),
        "box": (k < L // 4).astype(float),
        "fading sine": np.exp(-3 * k / L) * np.sin(9.3 * k / L),
        "noise": np.random.default_rng(seed).standard_normal(L),
    }
