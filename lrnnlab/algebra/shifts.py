"""Which shifts a DLR makes exactly, and what Reverse asks of convolutions (paper 004, Sec. 3.1 and Table 2).

A kernel that is 1 at S and 0 at the other lags of 0..L-1 is one of a DLR with N modes (lambda != 0) iff
N >= max(S + 1, L - S).  Proof.  A sum of N exponentials obeys sum_j c_j K_{k+j} = 0, k + N < L, with c_N = 1 and
c_0 = +-prod lambda_n.  If N < L - S, take k = S: c_0 = 0, impossible.  If N < S + 1, take k = S - N: c_N = 0, too.
Otherwise the N-th roots of unity do: their kernel is 1 at all lags S mod N, and only S is within 0..L-1.  With the
cast to reals N modes and their conjugates are 2N, so 2N >= max(S + 1, L - S) is necessary; the half circle
(``circle_modes``) makes it sufficient: its kernel changes sign every 2N lags, and is 0 between.
(All this is for exact shifts.  If only N < L - S fails, nodes near 0 come as near as one likes, with endless weights:
``delay_lines``.)

Letters: N modes, L length, S lag of the 1, k lag; p place of an input, q of an output; lambda nodes, K kernel.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import sympy as sp

from lrnnlab.algebra.circle_modes import root_sum
from lrnnlab.algebra.evidence import Evidence, Step
from lrnnlab.algebra.modes import exact_matrix, gaussian, monic


def needed_modes(L: int, S: int) -> int:
    """max(S + 1, L - S); half of it, rounded up, with the cast to reals.  ValueError unless 0 <= S < L.

    >>> [needed_modes(6, S) for S in range(6)]
    [6, 5, 4, 4, 5, 6]
    """
    if not 0 <= S < L:
        raise ValueError(f"a shift by S on the lags 0..L-1 needs 0 <= S < L, got S={S}, L={L}")
    return max(S + 1, L - S)


def ring_kernel(N: int, S: int, L: int, cast: bool = False) -> list:
    """The exact kernel, lags 0..L-1, of N roots of unity, w_n = lambda_n^-S / N; with ``cast`` Re of the half circle's.

    >>> ring_kernel(3, 1, 7), ring_kernel(2, 1, 10, cast=True)
    ([0, 1, 0, 0, 1, 0, 0], [0, 1, 0, 0, 0, -1, 0, 0, 0, 1])
    """
    order, odd = (4 * N, 1) if cast else (N, 0)
    places = [2 * n + 1 if odd else n for n in range(N)]
    if cast:
        places += [-place for place in places]
    return [root_sum((place * (k - S) for place in places), order) / sp.Integer(len(places)) for k in range(L)]


def obstacle(N: int, L: int, S: int) -> int | None:
    """A lag k with k + N < L at which the recurrence of N modes forbids a one-hot at S: S itself, or S - N; else None.

    >>> obstacle(2, 6, 1), obstacle(2, 4, 3), obstacle(4, 6, 2)
    (1, 1, None)
    """
    return next((k for k in (S, S - N) if k >= 0 and k + N < L), None)


def shift_criterion(longest: int = 7, cast: bool = False, needed: Callable = needed_modes, seed: int = 0) -> Evidence:
    """Exact for every L <= longest, S and N: the shift by S is a DLR of size N iff N >= max(S + 1, L - S).

    cast : N modes with the cast to reals, iff 2N >= max(S + 1, L - S).   needed : another bound from (L, S), to see it
    fail.  ValueError for longest < 2.

    >>> shift_criterion().holds, shift_criterion(cast=True).holds
    (True, True)
    >>> [step.holds for step in shift_criterion(needed=lambda L, S: S + 1).steps]
    [False, True, True, True, True]
    """
    if longest < 2:
        raise ValueError(f"needs longest >= 2, got {longest}")
    draw, each = np.random.default_rng(seed), 2 if cast else 1
    cases = [(N, L, S) for L in range(1, longest + 1) for S in range(L) for N in range(1, L + 1)]
    can = [case for case in cases if each * case[0] >= needed(*case[1:])]
    cannot = [case for case in cases if case not in set(can)]
    rings = {(N, S): ring_kernel(N, S, longest, cast) for N, _, S in can}
    failed = [(N, L, S) for N, L, S in can if rings[N, S][:L] != [int(k == S) for k in range(L)]]
    nodes = sp.symbols(f"lambda_1:{longest}")
    sums = [sp.expand(sum(c * nodes[0] ** j for j, c in enumerate(monic(nodes[:m])))) for m in range(1, len(nodes) + 1)]
    ends = [monic(nodes[:m]) for m in range(1, len(nodes) + 1)]
    odd_ends = [c for m, c in enumerate(ends, 1) if c[-1] != 1 or sp.expand(c[0] - (-1) ** m * sp.prod(nodes[:m])) != 0]
    open_cases = [case for case in cannot if obstacle(each * case[0], *case[1:]) is None]
    solvable = [case for case in cannot if _solvable(*case, cast, draw)]
    steps = (
        Step("enough modes: roots of unity make the one-hot", not failed,
             f"{len(can)} cases with L <= {longest}, exactly; wrong {failed[:3]}"),
        Step("a node is a root of its polynomial: sum_j c_j lambda^j = 0", not any(sums), f"N <= {len(sums)}"),
        Step("c_N = 1 and c_0 = +-prod lambda_n, which is not 0", not odd_ends, f"N <= {len(ends)}"),
        Step("too few: the recurrence at k = S or at k = S - N asks c_0 = 0 or c_N = 0", not open_cases,
             f"{len(cannot)} cases; no such k for {open_cases[:3]}"),
        Step("and random nodes never solve it: the one-hot adds to the rank of the table", not solvable,
             f"{len(cannot)} cases, exactly; solved {solvable[:3]}"),
    )  # fmt: skip
    claim = f"{'2N' if cast else 'N'} >= max(S + 1, L - S): no fewer modes."
    return Evidence("Exact shifts" + ", cast to reals" * cast, claim, "sampled", steps,
                    {"can": len(can), "cannot": len(cannot)})  # fmt: skip


def _solvable(N, L, S, cast, draw):
    """Whether random Gaussian nodes (with their conjugates, for ``cast``) make the one-hot, by exact ranks."""
    codes = draw.choice(60, N, replace=False)
    nodes = [gaussian(int(code % 6) - 3, int(code // 6) + 1) for code in codes]
    powers = [[node**k for node in nodes] for k in range(L)]
    rows = [[e.x for e in row] + [e.y for e in row] for row in powers] if cast else powers
    return exact_matrix(rows).rank() == exact_matrix([[*row, int(k == S)] for k, row in enumerate(rows)]).rank()


def shift_table(N: int = 4096, lengths: tuple = (2**8, 2**13, 2**14, 2**16, 2**18, 2**20)) -> list[dict]:
    """Table 2's Shift: real modes that its eight shifts j L/8 need, and those that DLR and DLR-prod of size N have.

    Counts only: enough modes are necessary, not sufficient, for learning.  The shift by 0 is left to the skip weight.

    >>> [(row["L"], row["cheapest"], row["dearest"]) for row in shift_table()[1:3]]
    [(8192, 4097, 7169), (16384, 8193, 14337)]
    """
    rows = []
    for L in lengths:
        needs = [needed_modes(L, j * L // 8) for j in range(1, 8)]
        rows.append({"L": L, "cheapest": min(needs), "dearest": max(needs), "DLR": 2 * N, "DLR-prod": N * (N + 1),
                     "DLR exact": sum(need <= 2 * N for need in needs)})  # fmt: skip
    return rows


def reverse_shift(L: int, p: int) -> int:
    """2L - 1 - 2p: the places that Reverse (x, then L zeros) moves x_p to the right.  The paper prints 2L - p.

    >>> [reverse_shift(4, p) for p in range(4)]
    [7, 5, 3, 1]
    """
    return 2 * L - 1 - 2 * p


def best_convolution(L: int) -> Fraction:
    """The share of Reverse's variance that one linear convolution explains on white inputs: (1/L) sum over d of 1/n_d.

    d are the L odd lags, n_d = min(d, 2L - d) the pairs of an input and an output d apart; one pair of them is asked
    for, so the best tap is 1/n_d.  ValueError for L < 1.

    >>> [str(best_convolution(L)) for L in (1, 2, 3)], f"{float(best_convolution(512)):.4f}"
    (['1', '1', '7/9'], '0.0147')
    """
    if L < 1:
        raise ValueError(f"Reverse needs at least one letter, got L={L}")
    return sum(Fraction(1, min(d, 2 * L - d)) for d in range(1, 2 * L, 2)) / L


def merged_shifts(L: int) -> list[list[int]]:
    """Outputs q = L + i in groups that can share a convolution: i and i + h, h = ceil(L/2).

    Output i sees the taps i+1..i+L only, and wants the tap 2i+1 alone among them.  The tap that i + h wants is beyond
    the last of i, and that of i before the first of i + h.

    >>> merged_shifts(2), merged_shifts(5)
    ([[0, 1]], [[0, 3], [1, 4], [2]])
    """
    half = (L + 1) // 2
    return [[i, i + half] if i + half < L else [i] for i in range(half)]


def reversal(L: int = 8, formula: Callable = reverse_shift) -> Evidence:
    """Reverse moves x_p by 2L-1-2p: L different shifts.  One convolution explains little of it; how many are needed.

    With outputs that may each weigh the convolutions in their own way, L one-hot kernels do; so do ceil(L/2), as an
    output does not see all taps; fewer do not.   formula : the shift from (L, p).  ValueError for L < 2.
    Against paper 004, Sec. 4 ("2L - i").

    >>> reversal().holds, [step.holds for step in reversal(formula=lambda L, p: 2 * L - p).steps]
    (True, [False, False, True, True, True])
    """
    if L < 2:
        raise ValueError(f"Reverse is no shift from L = 2 on, got L={L}")
    padded = [*range(L), *[None] * L]  # the letter p is called p
    wanted = [None] * L + list(range(L))[::-1]
    moves = [wanted.index(p) - padded.index(p) for p in range(L)]
    shifts = [formula(L, p) for p in range(L)]
    taps = {(q, p): L + q - p for q in range(L) for p in range(L)}
    design = np.array([[float(lag == d) for d in range(1, 2 * L)] for lag in taps.values()])
    goal = np.array([float(p == L - 1 - q) for q, p in taps])
    fitted = 1 - float(((design @ np.linalg.lstsq(design, goal, rcond=None)[0] - goal) ** 2).sum()) / L
    groups, half = merged_shifts(L), (L + 1) // 2
    sees = [[i + 1 <= 2 * j + 1 <= i + L for j in range(i, half)] for i in range(half)]
    steps = (
        Step("x_p moves from place p to 2L-1-p", shifts == moves, f"moves {moves}"),
        Step("L different shifts, all odd", len(set(shifts)) == L and all(d % 2 for d in shifts), f"{shifts}"),
        Step("the best single convolution explains (1/L) sum_d 1/n_d", abs(fitted - best_convolution(L)) < 1e-9,
             f"L = {L}: {fitted:.4f}; L = 4096: {float(best_convolution(4096)):.4f}"),
        Step("the first half of the outputs asks for independent kernels: i sees the taps 2j+1 of later ones, wants 0",
             all(all(row) for row in sees), f"at least {half} kernels"),
        Step("outputs i and i + ceil(L/2) can share a kernel: that many do", _makes(groups, L) and len(groups) == half,
             f"{len(groups)} kernels suffice: {groups}"),
    )  # fmt: skip
    return Evidence("Reverse", "x_p is moved by 2L-1-2p places: L different shifts.", "exhaustive", steps,
                    {"shifts": shifts, "explained": fitted, "kernels": len(groups)})  # fmt: skip


def _makes(groups, L):
    """Whether each group's kernel, the sum of its one-hots, gives its outputs L + i the letters L - 1 - i alone."""
    kernels = [{2 * i + 1 for i in group} for group in groups]
    got = {i: [p for p in range(L) if L + i - p in taps] for group, taps in zip(groups, kernels) for i in group}
    return got == {i: [L - 1 - i] for i in range(L)}
