"""What paper 004's Proposition 1 leaves out: the delay line, and the DLRs that come near to it with endless weights.

"DLRs are as expressive as general linear RNNs" (Sec. 2.2) needs "diagonalisable": the sequence C A^k B of a linear RNN
obeys one shortest linear recurrence, whose polynomial must have simple roots.  That of a delay line is z^N, so no DLR
of any size is one for all lengths (for short ones some are: ``shifts``).  Diagonalisable systems are dense, but those
that come near have weights without bound.

Letters: N size, L length, k lag; lambda nodes, w weights, K kernel.
"""

from __future__ import annotations

import itertools

import mpmath
import numpy as np
import sympy as sp

from lrnnlab.algebra.evidence import Evidence, Step
from lrnnlab.algebra.modes import hankel_rank, kernel, recurrence


def delay_line(delay: int = 2, feedback: int = 0) -> Evidence:
    """The delay line y_k = u_{k - delay} needs delay + 1 states and is no DLR of any size; for short inputs it is one.

    ``feedback`` closes the line to a ring (A^N = feedback), whose roots are simple.  ValueError for delay < 1.
    Against paper 004, Sec. 2.2.

    >>> delay_line().holds, delay_line().data
    (True, {'rank': 3, 'polynomial': z**3, 'length': 5})
    >>> [step.holds for step in delay_line(feedback=1).steps]
    [True, False, False, False]
    """
    if delay < 1:
        raise ValueError(f"a delay line needs delay >= 1, got {delay}")
    N, z = delay + 1, sp.Symbol("z")
    state, values = [1, *[0] * delay], []
    for _ in range(4 * N + 1):
        values.append(state[-1])
        state = [feedback * state[-1], *state[:-1]]
    ranks, found = {hankel_rank(values, size) for size in (N, N + 1, 2 * N)}, recurrence(values)
    ring = [int((k - delay) % N == 0) for k in range(len(values))]  # N roots of unity, w_n = lambda_n^-delay / N
    length = next((k for k, pair in enumerate(zip(values, ring)) if pair[0] != pair[1]), None)
    steps = (
        Step("the kernel's Hankel rank: fewer states cannot do it", ranks == {N}, f"rank {ranks}, N = {N}"),
        Step("its shortest recurrence is K_{k+N} = 0: N roots, all 0", found.as_expr() == z**N, f"{found.as_expr()}"),
        Step("a sum of exponentials has a recurrence with simple roots, so it is none", not found.is_sqf,
             f"gcd with its derivative: {sp.gcd(found, found.diff(z)).as_expr()}"),
        Step("on lengths up to 2 delay + 1 the N-th roots of unity give the same kernel; not beyond",
             length == 2 * delay + 1, f"they differ first at k = {length}"),
    )  # fmt: skip
    return Evidence("Delay line", f"The delay by {delay} is a linear RNN of {N} states, and no DLR of any size.",
                    "exact", steps, {"rank": max(ranks), "polynomial": found.as_expr(), "length": length})  # fmt: skip


def near_delay(N: int, eps: float) -> dict:
    """The DLR with nodes eps exp(2 pi i n / N) that is 1 at lag N-1 and 0 before it: its weights and its errors.

    ``exact`` is the largest error on 0..2N-1, which is eps^N at lag 2N-1 (60 digits); ``float64`` the same computed.
    ValueError unless N >= 1 and 0 < eps.

    >>> row = near_delay(8, 0.1)
    >>> f"{row['largest weight']:.3g} {row['exact']:.3g}"
    '1.25e+06 1e-08'
    """
    if N < 1 or not eps > 0:
        raise ValueError(f"needs N >= 1 nodes on a circle of radius eps > 0, got N={N}, eps={eps}")
    target = [int(k == N - 1) for k in range(2 * N)]
    with mpmath.workdps(60 + int(N * max(0, -np.log10(eps)))):
        nodes = [mpmath.mpf(eps) * mpmath.expjpi(mpmath.mpf(2 * n) / N) for n in range(N)]
        weights = [1 / (N * node ** (N - 1)) for node in nodes]
        exact = max(abs(a - b) for a, b in zip(kernel(nodes, weights, 2 * N), target))
        rounded = [[complex(entry) for entry in entries] for entries in (nodes, weights)]
        row = {"eps": eps, "largest weight": float(max(map(abs, weights))), "exact": float(exact)}
    powers = np.array(rounded[0]) ** np.arange(2 * N)[:, None]
    return row | {"float64": float(np.abs(powers @ np.array(rounded[1]) - target).max())}


def almost_delay_line(N: int = 8, sizes: tuple = (0.1, 0.01, 0.001)) -> Evidence:
    """Diagonalisable systems come as near to the delay line as one likes, with weights eps^(1-N)/N.

    >>> found = almost_delay_line()
    >>> found.holds, [f"{row['largest weight']:.1e}" for row in found.data["rows"]]
    (True, ['1.2e+06', '1.2e+13', '1.2e+20'])
    """
    rows = [near_delay(N, eps) for eps in sizes]
    errors, weights, floats = ([row[key] for row in rows] for key in ("exact", "largest weight", "float64"))
    bounds = [want + 4 * N * max(w, 1) * 2.0**-53 for w, want in zip(weights, errors)]
    falling = all(b < a for a, b in itertools.pairwise(errors))
    steps = (
        Step("the error is eps^N, as small as one likes",
             falling and np.allclose(errors, [eps**N for eps in sizes]), ", ".join(f"{e:.1e}" for e in errors)),
        Step("the weights are eps^(1-N) / N", np.allclose(weights, [eps ** (1 - N) / N for eps in sizes]),
             ", ".join(f"{w:.2e}" for w in weights)),
        # the errors themselves are rounding, which is another on another processor: what is shown is what bounds them
        Step(f"in float64 the error is eps^N and at most {4 * N} roundings of such weights, 2^-53 each",
             all(found <= bound for found, bound in zip(floats, bounds)),
             f"at most {', '.join(f'{bound:.1e}' for bound in bounds)}"),
    )  # fmt: skip
    return Evidence("Almost a delay line", "DLRs of size N come near to the delay by N-1 only with endless weights.",
                    "numerical", steps, {"rows": rows})  # fmt: skip
