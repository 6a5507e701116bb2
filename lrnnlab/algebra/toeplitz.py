"""Paper 004, Eqs. 5-6 and Sec. A.1: both directions of a DLR as one circulant product, and how long its FFT must be.

y_k = sum_{j<=k} Kf_{k-j} u_j + sum_{j>k} Kb_{j-k-1} u_j is a Toeplitz product.  On a ring of n places those behind go
forwards from 0, those ahead backwards from n - 1; they do not meet from n = 2L - 1 on.  At 2L one place, number L, is
left over: the paper's X, any value (its code leaves the last tap ahead there, which no output meets).

Letters: L length, n places of the ring; u input, y output; Kf, Kb kernels forwards and backwards; lambda, w of a DLR.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import sympy as sp

from lrnnlab.algebra.evidence import Evidence, Step
from lrnnlab.algebra.modes import kernel


def both_directions(forward: tuple, backward: tuple, u: Sequence) -> list:
    """Eq. 5: two recurrences, x_k = lambda x_{k-1} + u_k from the left and from the right; each pair is (lambda, w).

    y_k = <w1, xf_k> + <w2, xb_{L-2-k}>, with xb_{-1} = 0.  Exact for whole numbers.

    >>> both_directions(([1], [1]), ([1], [10]), [1, 2, 4])
    [61, 43, 7]
    """

    def run(modes, letters):
        state, found = [0] * len(modes[0]), []
        for letter in letters:
            state = [node * x + letter for node, x in zip(modes[0], state)]
            found.append(sum(w * x for w, x in zip(modes[1], state)))
        return found

    ahead = [0, *run(backward, u[::-1])]  # ahead[m] reads xb_{m-1}
    return [y + ahead[len(u) - 1 - k] for k, y in enumerate(run(forward, u))]


def two_sums(forward: Sequence, backward: Sequence, u: Sequence) -> list:
    """Eq. 6, the two sums as they stand.

    >>> two_sums([1, 1, 1], [10, 10, 10], [1, 2, 4])
    [61, 43, 7]
    """
    L = len(u)
    return [sum(forward[k - j] * u[j] for j in range(k + 1)) + sum(backward[j - k - 1] * u[j] for j in range(k + 1, L))
            for k in range(L)]  # fmt: skip


def ring(forward: Sequence, backward: Sequence, n: int, X=0) -> list:
    """The first column of the circulant: Kf from place 0 on, Kb (without its last tap) from n - 1 down, X where free.

    Taps that fall on the same place add up, as they do in a ring that is too short.

    >>> ring(["K0", "K1"], ["k0", "k1"], 4, "X")
    ['K0', 'K1', 'X', 'k0']
    """
    found: list = [None] * n
    taps = [*enumerate(forward), *((-1 - j, tap) for j, tap in enumerate(backward[:-1]))]
    for place, tap in taps:
        here = found[place % n]
        found[place % n] = tap if here is None else here + tap
    return [X if tap is None else tap for tap in found]


def circulant_product(column: Sequence, u: Sequence) -> list:
    """The first len(u) outputs of the circulant matrix times u, which zeros fill up (or which wraps around).

    >>> circulant_product([1, 2, 0, 0], [1, 10])
    [1, 12]
    """
    n = len(column)
    return [sum(column[(k - j) % n] * u[j] for j in range(len(u))) for k in range(len(u))]


def fft_product(column: Sequence[float], u: Sequence[float]) -> np.ndarray:
    """The same by three FFTs of len(column).

    >>> np.round(fft_product([1, 2, 0, 0], [1, 10]), 12).tolist()
    [1.0, 12.0]
    """
    n, L = len(column), len(u)
    wrapped = np.bincount(np.arange(L) % n, u, n)
    return np.fft.irfft(np.fft.rfft(column, n) * np.fft.rfft(wrapped), n)[np.arange(L) % n]


def fast_convolution(L: int = 6, n: int | None = None, seed: int = 0) -> Evidence:
    """Eq. 5 = Eq. 6 = the circulant of size n = 2L, whatever X is = the paper's code = three FFTs.

    Whole numbers, exactly, but for the FFT.   n : another size; too short a ring wraps around.  ValueError for L < 2 or
    n < 1.  Source: paper 004, Eqs. 5 and 6, Sec. A.1, Fig. 4.

    >>> fast_convolution().holds, [step.holds for step in fast_convolution(n=6).steps]
    (True, [True, False, False, False, True])
    """
    n = 2 * L if n is None else n
    if L < 2 or n < 1:
        raise ValueError(f"needs L >= 2 and a ring of n >= 1 places, got L={L}, n={n}")
    draw, X = np.random.default_rng(seed), sp.Symbol("X")
    nodes, weights, back_nodes, back_weights = draw.integers(-3, 4, (4, 3)).tolist()
    u = draw.integers(1, 9, L).tolist()
    forward, backward = kernel(nodes, weights, L), kernel(back_nodes, back_weights, L)
    want = two_sums(forward, backward, u)
    column = ring(forward, backward, n, X)
    by_ring = [sp.expand(y) for y in circulant_product(column, u)]
    code = ring(forward, [], n, 0)[: n - L] + backward[::-1] if n >= L else []  # cat(Kf, flip(Kb)): n = 2L
    floats = fft_product([float(0 if tap == X else tap) for tap in column], u)
    error = float(np.abs(floats - want).max() / (np.abs([*forward, *backward]).max() * sum(u)))
    exact = (size for size in range(1, 3 * L) if circulant_product(ring(forward, backward, size), u) == want)
    least = next(exact, None)
    steps = (
        Step("Eq. 5, two recurrences, gives the two sums of Eq. 6",
             both_directions((nodes, weights), (back_nodes, back_weights), u) == want, f"y = {want}"),
        Step(f"a ring of {n} places gives them, without X", by_ring == want, f"column {column}"),
        Step("so does the code's column cat(Kf, flip(Kb)): its X, at place L, is the last tap of Kb",
             n == 2 * L and code == ring(forward, backward, n, backward[-1]) and circulant_product(code, u) == want,
             f"column {code}"),
        Step("so do three FFTs of that length", error < 1e-14, f"error {error:.0e} of max |K| sum |u|"),
        Step("the least length that does is 2L - 1", least == 2 * L - 1, f"{least}, L = {L}"),
    )  # fmt: skip
    return Evidence("Fast convolution", "Both directions of a DLR are one circulant product of size 2L.", "sampled",
                    steps, {"least": least, "column": column})  # fmt: skip
