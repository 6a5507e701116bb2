"""Paper 004, Sec. A.2: products of kernels.  The Kronecker product of two DLRs, and the true size of DLR-prod.

DLR-prod takes Re K_k Im K_k for its kernel; the paper writes it as a DLR of "size at most 4 N^2".  But
Re z Im z = (1/2) Im z^2, the mixed terms lambda_m conj(lambda_n) cancel, and lambda_m lambda_n = lambda_n lambda_m:
left are N(N+1)/2 products and their conjugates.  N(N+1) modes is exact for generic nodes (Hankel rank), and with the
paper's own cast to reals N(N+1)/2 modes do.

Letters: N, M sizes, L length, k lag; lambda nodes, w weights, K kernel.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations_with_replacement, product

import numpy as np
import sympy as sp

from lrnnlab.algebra.evidence import Evidence, Step
from lrnnlab.algebra.modes import conjugate, gaussian, hankel_rank, kernel

Modes = tuple[list, list]  # nodes, weights


def kronecker(first: Modes, second: Modes) -> Modes:
    """All products of nodes, with the products of their weights: the DLR whose kernel is K times K'.

    >>> kronecker(([2], [1]), ([3, 5], [1, 7]))
    ([6, 10], [1, 7])
    """
    pairs = [list(product(*two)) for two in zip(first, second)]
    return [a * b for a, b in pairs[0]], [a * b for a, b in pairs[1]]


def gaussian_primes(N: int) -> list:
    """N Gaussian primes a + bi, a > b > 0, of different prime norms a^2 + b^2.

    Factors are unique there: all products of two of them are different, and none is another's conjugate.

    >>> gaussian_primes(3) == [gaussian(2, 1), gaussian(3, 2), gaussian(4, 1)]
    True
    """
    found = []
    for norm in sp.primerange(5, 10**6):
        if len(found) == N:
            return found
        if norm % 4 == 1:
            b = next(b for b in range(1, norm) if sp.sqrt(norm - b * b).is_Integer)
            a = int(sp.sqrt(norm - b * b))
            found.append(gaussian(max(a, b), min(a, b)))
    raise ValueError(f"no {N} Gaussian primes of norm below 10^6")


def prod_kernel(nodes: list, weights: list, L: int) -> list[int]:
    """Re K_k Im K_k for k = 0..L-1, whole numbers or fractions; nodes and weights are ``gaussian`` numbers.

    >>> prod_kernel([gaussian(2, 1)], [gaussian(1)], 3) == [0, 2, 12]
    True
    """
    return [value.x * value.y for value in kernel(nodes, weights, L)]


def printed_modes(nodes: list, weights: list) -> Modes:
    """The 4 N^2 modes of the paper's sum (Sec. A.2, last line but one).

    >>> len(printed_modes(gaussian_primes(2), [gaussian(1)] * 2)[0])
    16
    """
    quarter, found = gaussian(0, Fraction(-1, 4)), ([], [])
    bars = [list(map(conjugate, entries)) for entries in (nodes, weights)]
    for m, n in product(range(len(nodes)), repeat=2):
        for left, right, sign in ((0, 0, 1), (0, 1, -1), (1, 0, 1), (1, 1, -1)):  # 1 for a bar
            a, b = ((bars if side else (nodes, weights)) for side in (left, right))
            found[0].append(a[0][m] * b[0][n])
            found[1].append(quarter * sign * a[1][m] * b[1][n])
    return found


def half_modes(nodes: list, weights: list) -> Modes:
    """N(N+1)/2 modes whose kernel has the real part Re K_k Im K_k: lambda_m lambda_n for m <= n.

    The weights are -(i/2) (2 - [m = n]) w_m w_n.

    >>> nodes, weights = half_modes([gaussian(2, 1)], [gaussian(1)])
    >>> [value.x for value in kernel(nodes, weights, 3)] == [0, 2, 12]
    True
    """
    pairs = list(combinations_with_replacement(range(len(nodes)), 2))
    half = gaussian(0, Fraction(-1, 2))
    return ([nodes[m] * nodes[n] for m, n in pairs],
            [half * (1 if m == n else 2) * weights[m] * weights[n] for m, n in pairs])  # fmt: skip


def exact_modes(nodes: list, weights: list) -> Modes:
    """The N(N+1) modes whose kernel is Re K_k Im K_k itself: ``half_modes`` and their conjugates, at half the weight.

    >>> len(exact_modes(gaussian_primes(3), [gaussian(1)] * 3)[0])
    12
    """
    points, shares = half_modes(nodes, weights)
    half = gaussian(Fraction(1, 2))
    shares = [half * share for share in shares]
    return points + list(map(conjugate, points)), shares + list(map(conjugate, shares))


def _random_weights(N, draw):
    return [gaussian(int(a), int(b)) for a, b in zip(draw.integers(1, 5, N), draw.integers(-4, 5, N))]


def kronecker_product(M: int = 3, N: int = 2, L: int = 40, seed: int = 0, first: int | None = None) -> Evidence:
    """The kernel of the Kronecker product is the product of the kernels, exactly; its size M N is needed.

    first : how many nodes of the first DLR the sum takes, M by default.  The printed "sum_{m=1}^N" is a slip: with
    first = N != M the check fails.  Source: paper 004, Sec. A.2.

    >>> kronecker_product().holds, [step.holds for step in kronecker_product(first=2).steps]
    (True, [False, False])
    """
    draw, primes, taken = np.random.default_rng(seed), gaussian_primes(M + N), M if first is None else first
    if not 0 < taken <= M:
        raise ValueError(f"the sum can take 1..{M} of the first DLR's nodes, got {first}")
    left, right = (primes[:M], _random_weights(M, draw)), (primes[M:], _random_weights(N, draw))
    both = kronecker((left[0][:taken], left[1][:taken]), right)
    want = [a * b for a, b in zip(kernel(*left, L), kernel(*right, L))]
    rank = hankel_rank(want, M * N + 1)
    steps = (
        Step("kernel of the Kronecker product = product of the kernels", kernel(*both, L) == want, f"{L} terms"),
        Step("its size is needed: the Hankel rank is M N", rank == len(both[0]), f"rank {rank}, {len(both[0])} modes"),
    )
    return Evidence("Kronecker product", f"DLRs of sizes {M} and {N} have a product of size {M * N}, here no less.",
                    "sampled", steps, {"rank": rank, "modes": len(both[0])})  # fmt: skip


def dlr_prod(N: int = 3, seed: int = 0, claimed: int | None = None) -> Evidence:
    """DLR-prod has exactly N(N+1) modes (N(N+1)/2 with the cast to reals), not 4 N^2: nodes are Gaussian primes.

    claimed : another size for the last two steps.  ValueError for N < 1.  Source: paper 004, Sec. 2.1 and A.2.

    >>> dlr_prod().holds, dlr_prod().data
    (True, {'printed': 36, 'rank': 12, 'cast': 6})
    >>> [step.holds for step in dlr_prod(claimed=4 * 3**2 - 1).steps]
    [True, True, True, True, False, False]
    """
    if N < 1:
        raise ValueError(f"a DLR has at least one mode, got N={N}")
    claimed = N * (N + 1) if claimed is None else claimed
    nodes, weights = gaussian_primes(N), _random_weights(N, np.random.default_rng(seed))
    size, short = N * (N + 1) + 1, 4 * N * N  # sums of 4 N^2 exponentials that agree so far agree for ever
    values = prod_kernel(nodes, weights, max(2 * size, short))
    want = [gaussian(value) for value in values[:short]]
    printed, exact, half = (make(nodes, weights) for make in (printed_modes, exact_modes, half_modes))
    z, rank = sp.Symbol("z"), hankel_rank(values, size)
    steps = (
        Step("Re z Im z = (1/2) Im z^2", sp.expand_complex(sp.re(z) * sp.im(z) - sp.im(z**2) / 2) == 0, "for every z"),
        Step("the paper's 4 N^2 modes have this kernel", kernel(*printed, short) == want,
             f"{len(printed[0])} modes, {len(set(printed[0]))} different nodes"),
        Step("the mixed terms lambda_m conj(lambda_n) cancel between (m, n) and (n, m)",
             not any(_mixed(printed, short)), f"{2 * N * N} modes add up to 0"),
        Step("N(N+1) modes have it, and with the cast to reals half as many",
             kernel(*exact, short) == want and [value.x for value in kernel(*half, short)] == values[:short],
             f"{len(exact[0])} and {len(half[0])} modes"),
        Step(f"no smaller DLR has it: the Hankel rank is {claimed}", rank == claimed,
             f"rank {rank}, from a matrix of size {size}"),
        Step("n modes with the cast to reals have rank 2 n at most: half as many are needed",
             2 * len(half[0]) == rank == claimed, f"{len(half[0])} modes"),
    )  # fmt: skip
    data = {"printed": len(printed[0]), "rank": rank, "cast": len(half[0])}
    return Evidence("DLR-prod", f"N = {N}: {N * (N + 1)} modes, not {4 * N * N}; {N * (N + 1) // 2} with the cast.",
                    "sampled", steps, data)  # fmt: skip


def _mixed(printed, L):
    """The kernel of the printed modes of one bar (the second and third of each four)."""
    nodes, weights = ([entry for place, entry in enumerate(part) if place % 4 in (1, 2)] for part in printed)
    return kernel(nodes, weights, L)


def dlr_prod_on_grid(N: int = 4, seed: int = 0, turned: bool = False) -> Evidence:
    """At the DFT initialisation DLR-prod gains nothing: products of N-th roots of unity are N-th roots of unity.

    The rank is exact for N = 1, 2 and 4, whose roots are Gaussian integers (ValueError for others).  ``turned``
    multiplies the nodes by different numbers, off the grid, and the rank rises to N(N+1).

    >>> dlr_prod_on_grid().data, dlr_prod_on_grid(turned=True).data
    ({'products': 4, 'rank': 4}, {'products': 10, 'rank': 20})
    """
    if N not in (1, 2, 4):
        raise ValueError(f"the N-th roots of unity are Gaussian integers for N = 1, 2, 4; got {N}")
    i, draw = gaussian(0, 1), np.random.default_rng(seed)
    nodes = [i ** (4 // N * n) for n in range(N)]
    if turned:
        nodes = [node * prime for node, prime in zip(nodes, gaussian_primes(N))]
    rank = hankel_rank(prod_kernel(nodes, _random_weights(N, draw), 2 * N * (N + 2)), N * (N + 1) + 1)
    products = len({a * b for a in nodes for b in nodes})
    steps = (
        Step("the products lambda_m lambda_n take N values only", products == N, f"{products} values"),
        Step("so the rank stays at N at most", rank <= N, f"rank {rank}"),
    )
    return Evidence("DLR-prod on the DFT grid", "DLR-prod gains no mode until the nodes leave the grid.", "sampled",
                    steps, {"products": products, "rank": rank})  # fmt: skip
