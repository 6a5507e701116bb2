"""Paper 004's initialisation: modes on the unit circle.  What they fit, and the half that the paper's grid leaves out.

At the start lambda_n = exp(2 pi i n / N): the kernel is N times the inverse DFT of w, every kernel of length N has one
w, and a one-hot kernel has |w_n| = 1/N.  Past N the kernel repeats itself.  As the kernel is cast to its real part, N
modes have 2N real weights, but the grid holds its own conjugates and reaches rank N only.  On the half circle
lambda_n = exp(pi i (2n + 1) / (2N)) the modes and their conjugates are the 2N roots of z^2N + 1: all real kernels of
length 2N, condition number 1.  Decays spoil the condition: modulus r for all modes gives r^(1-L).

Letters: N modes, L length, k lag; lambda nodes, w weights, K kernel, P the table of powers (L, N).
"""

from __future__ import annotations

from collections.abc import Iterable
from math import pi

import numpy as np
import sympy as sp

from lrnnlab.algebra.evidence import Evidence, Step


def power_table(nodes: np.ndarray, L: int, cast: bool = True) -> np.ndarray:
    """P_kn = lambda_n^k, (L, N); with ``cast`` the (L, 2N) real table [Re P, -Im P]: Re P w = table (Re w, Im w).

    Real nodes have no imaginary half: then (L, N).  ValueError for L < 1 or nodes that are no list of numbers.

    >>> power_table([2.0], 3).ravel().tolist(), power_table([1j], 3).tolist()
    ([1.0, 2.0, 4.0], [[1.0, -0.0], [0.0, -1.0], [-1.0, -0.0]])
    """
    nodes = np.asarray(nodes)
    if L < 1 or nodes.ndim != 1 or not len(nodes):
        raise ValueError(f"a table of powers needs L >= 1 and a list of nodes, got L={L}, shape {nodes.shape}")
    table = nodes ** np.arange(L)[:, None]
    return np.hstack([table.real, -table.imag]) if cast and np.iscomplexobj(table) else table


def arc_nodes(N: int, arc: float = 2 * pi, offset: float = 0.5) -> np.ndarray:
    """N nodes exp(i arc (n + offset) / N) of the unit circle, (N,).

    ``arc=pi`` is the half circle of the module's head; ``arc=2 pi, offset=0`` the paper's grid.  ValueError for N < 1.

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


def dft_start(N: int = 6, S: int = 2, step: int = 1) -> Evidence:
    """The kernel at initialisation: P*P = N, a one-hot at S has w_n = exp(-2 pi i n S / N)/N, and the kernel repeats.

    step : the grid takes every ``step``-th root of unity of order N; it must have no divisor with N in common, else
    nodes coincide and the check fails.  ValueError unless N >= 2 and 0 <= S < N.  Source: paper 004, Sec. 2.3.

    >>> dft_start().holds, [step.holds for step in dft_start(step=2).steps]
    (True, [False, False, True, True])
    """
    if N < 2 or not 0 <= S < N:
        raise ValueError(f"a one-hot at S needs N >= 2 and 0 <= S < N, got N={N}, S={S}")
    rows = [root_sum((step * n * k for n in range(N)), N) for k in range(2 * N)]
    want = [N * (k % N == 0) for k in range(2 * N)]
    hot = [root_sum((step * n * (k - S) for n in range(N)), N) / sp.Integer(N) for k in range(N)]
    nodes, weights = arc_nodes(64, offset=0), np.random.default_rng(0).standard_normal((64, 2)) @ [1, 1j]
    fft = float(np.abs(power_table(nodes, 64, cast=False) @ weights - 64 * np.fft.ifft(weights)).max())
    condition = spectrum(nodes, 64, cast=False)["condition"]
    steps = (
        Step("rows of P are orthogonal: sum_n lambda_n^k is N at k = 0 and 0 for 0 < k < N", rows[:N] == want[:N],
             f"{rows[:N]}"),
        Step("w_n = lambda_n^-S / N makes the kernel 1 at S and 0 elsewhere: every |w_n| = 1/N",
             hot == [int(k == S) for k in range(N)], f"{hot}"),
        Step("lambda_n^N = 1: past N the kernel repeats", rows[N:] == rows[:N], f"lags {N}..{2 * N - 1} as 0..{N - 1}"),
        Step("K = N times the inverse DFT of w, condition number 1 (N = 64, floats)", fft < 1e-10 > condition - 1,
             f"largest difference {fft:.0e}, condition {condition:.12f}"),
    )  # fmt: skip
    return Evidence("DFT initialisation", f"N nodes on the circle give every kernel of length N = {N}, with period N.",
                    "exact", steps)  # fmt: skip


def half_circle(N: int = 6, full: bool = False) -> Evidence:
    """With the cast to reals, N modes on the half circle give all real kernels of length 2N.

    The paper's grid has rank N only.   full : checks the claim on that grid, where it fails.  ValueError for
    N < 2.  Against paper 004, Sec. 2.3.

    >>> half_circle().holds, half_circle().data
    (True, {'rank': 12, 'grid': 6})
    >>> [step.holds for step in half_circle(full=True).steps]
    [False, False, True, False]
    """
    if N < 2:
        raise ValueError(f"the comparison needs N >= 2 modes, got {N}")
    order, odd = 4 * N, [4 * n if full else 2 * n + 1 for n in range(N)]  # nodes are roots of unity of this order
    grid = [4 * n for n in range(N)]

    def products(places):  # of rows k apart: 2 sum_n cos(theta_n k), for k = 0..2N-1
        return [root_sum([sign * e * k for e in places for sign in (1, -1)], order) for k in range(2 * N)]

    gram, plain = products(odd), products(grid)
    conjugates = {e % order for e in odd} | {-e % order for e in odd}
    ranks = [sp.Matrix([[row[abs(i - j)] for j in range(2 * N)] for i in range(2 * N)]).rank() for row in (gram, plain)]
    steps = (
        Step("nodes and conjugates are the 2N roots of z^2N + 1",
             conjugates == {e for e in range(order) if 2 * N * e % order == order // 2}, f"{len(conjugates)} points"),
        Step("rows of the real table are orthogonal and of one length: condition number 1",
             gram == [2 * N, *[0] * (2 * N - 1)], f"products of rows 0..{2 * N - 1} apart: {gram}"),
        Step("the paper's grid holds its own conjugates: rows N apart are equal, rank N", ranks[1] == N,
             f"products {plain}; rank {ranks[1]} of {2 * N}"),
        Step("the half circle has rank 2N", ranks[0] == 2 * N, f"rank {ranks[0]}"),
    )  # fmt: skip
    return Evidence("The half circle", f"{N} modes cast to reals give all real kernels of length {2 * N}.", "exact",
                    steps, {"rank": ranks[0], "grid": ranks[1]})  # fmt: skip


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


def decays(N: int = 128, r: float = 0.98, low: float = 0.0005, high: float = 0.5, seeds: int = 3) -> Evidence:
    """Decay and condition number of P at L = N: exactly r^(1-N) for one modulus r, far worse for different ones.

    low, high : the spread of dt; the paper's default, against its dt = 1e-5 for the atomic tasks (Table 7).
    Source: paper 004, Sec. 2.3.

    >>> decays().holds, [step.holds for step in decays(low=1e-5, high=1e-5).steps]
    (True, [True, False, True])
    """
    draw = np.random.default_rng(0)
    one, gentle = (spectrum(radius * arc_nodes(N, offset=0), N, cast=False)["condition"]
                   for radius in (r, np.exp(-1e-5 / 2)))  # fmt: skip
    spread = [spectrum(decayed_nodes(N, low, high, draw), N, cast=False)["condition"] for _ in range(seeds)]
    steps = (
        Step("one modulus r: P = diag(r^k) DFT, condition r^(1-N)", bool(np.isclose(one, r ** (1 - N), rtol=1e-6)),
             f"r = {r}: {one:.6g}"),
        Step("the default decays: above 10^4", min(spread) > 1e4, ", ".join(f"{c:.1e}" for c in spread)),
        Step("dt = 1e-5, the setting of the atomic tasks: as good as none", gentle < 1.01, f"{gentle:.6f}"),
    )  # fmt: skip
    return Evidence("Decays", f"N = L = {N}: powers are well-conditioned only near the circle.", "numerical",
                    steps, {"spread": spread})  # fmt: skip
