"""What each family of modes can fit and what it cannot: least squares, by float64, with the weights' size beside it.

A sum of N exponentials is linear in its weights, so for given nodes the best kernel is a projection.  Directions below
float64's rounding are left out (as ``numpy.linalg.lstsq`` does), so an error here is what arithmetic can reach, not
what exact weights could: by ``shift_norms`` real nodes reach every one-hot exactly, with weights that no float holds.

Letters: N modes, L length, S lag of the 1, k lag; lambda nodes, w weights, K kernel.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import pi
from typing import NamedTuple

import numpy as np

from lrnnlab.algebra.circle_modes import arc_nodes, decayed_nodes, power_table
from lrnnlab.algebra.evidence import Evidence, Step


class Fit(NamedTuple):
    """The best kernel: ``error`` is ||K - target|| / ||target||, ``norm`` is ||w||_1."""

    weights: np.ndarray
    kernel: np.ndarray
    error: float
    norm: float


def best_fit(nodes: np.ndarray, target: np.ndarray, cast: bool = True) -> Fit:
    """The weights w for which sum_n w_n lambda_n^k (its real part, with ``cast``) is nearest to the real target.

    nodes : (N,), real or complex; real nodes have real weights, as in DLR-R.   target : (L,), any L.  Of equally good
    weights the smallest.  ValueError for a target that is 0 or no list.

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
    shape = (table @ found).real
    weights = found.reshape(2, -1).T @ [1, 1j] if len(found) > len(nodes) else found
    distance = np.linalg.norm(table @ found - target) / np.linalg.norm(target)
    return Fit(weights, shape, float(distance), float(np.abs(weights).sum()))


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


def fit_table(N: int = 32, L: int = 64, seed: int = 0) -> list[dict]:
    """One row a target: error and ||w||_1 for each family, for ``show.table``.

    >>> row = fit_table(16, 32)[1]
    >>> row["target"], row["half circle"], row["circle (DFT)"]
    ('shift by L/2', '0.00 (1)', '0.71 (0.5)')
    """
    sets = families(N, seed)
    return [{"target": name, **{kind: f"{fit.error:.2f} ({fit.norm:.2g})" for kind, nodes in sets.items()
                                for fit in [best_fit(nodes, target)]}}
            for name, target in targets(L, seed).items()]  # fmt: skip


def what_fits(N: int = 32, sets: Mapping[str, np.ndarray] | None = None) -> Evidence:
    """Kernels of length 2N by N modes of five families: who fits what.

    sets : other nodes under the names of ``families``, to see it fail.  ValueError for N < 4, or names that lack.

    >>> what_fits().holds
    True
    """
    sets = families(N) if sets is None else sets
    if N < 4 or set(sets) != set(families(4)):
        raise ValueError(f"needs N >= 4 and the names of families(), got N={N}, {', '.join(sets)}")
    goals = targets(2 * N)
    fits = {kind: {name: best_fit(nodes, goal) for name, goal in goals.items()} for kind, nodes in sets.items()}
    errors = {kind: {name: fit.error for name, fit in row.items()} for kind, row in fits.items()}
    half, grid = errors["half circle"], errors["circle (DFT)"]
    hots = ("shift by L/4", "shift by L/2")
    real = [errors[kind][name] for kind in ("real, (0,1]", "real, [-1,1]") for name in (*hots, "noise")]
    smooth = [errors[kind]["fading sine"] for kind in errors if kind.startswith("real")]
    steps = (
        Step("the half circle fits every kernel of length 2N, with small weights",
             max(half.values()) < 1e-10 and all(fits["half circle"][name].norm < 1.001 for name in hots),
             f"largest error {max(half.values()):.0e}"),
        Step("the DFT grid repeats after N: a shift costs sqrt(1/2)",
             all(abs(grid[name] - 0.5**0.5) < 1e-9 for name in hots), f"{grid[hots[0]]:.4f}, {grid[hots[1]]:.4f}"),
        Step("real modes fit neither shifts nor noise", min(real) > 0.3, ", ".join(f"{e:.2f}" for e in real)),
        Step("but what is smooth and fades", max(smooth) < 0.05, ", ".join(f"{e:.1e}" for e in smooth)),
    )  # fmt: skip
    return Evidence("What fits", f"{N} modes, kernels of length {2 * N}: phase is what fits sparse kernels.",
                    "numerical", steps, {"errors": errors})  # fmt: skip
