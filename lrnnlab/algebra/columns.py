"""The column constraint of paper 000 (Eq. 6) and how far it holds products back: Eq. 7 and the sharp bound for every p.

Eq. 6: no column of a block has a p-norm above 1.  At p = 1 products keep the constraint (Eq. 7).  For every p >= 1 the
largest 1-norm (largest column sum of absolute values) of a product of k blocks is exactly b^(k (1 - 1/p)).  Proof.
A column's 1-norm is at most b^(1 - 1/p) times its p-norm; the 1-norm of a product is at most the product of the
1-norms; and the powers of b^(-1/p) 11^T attain both.  So only p <= 1 holds for every length: "we can stabilize Eq. 5 by
selecting a sufficiently small p" (Sec. 3.3) means p <= 1, or a p that depends on the length (``largest_p``).

Letters: T time, b block size, p the norm, k steps; A a block (b, b).
"""

from __future__ import annotations

import functools
import itertools
import math
from fractions import Fraction

import numpy as np
import sympy as sp

from lrnnlab.algebra.evidence import Evidence, Step

FLOAT32_MAX = (2**24 - 1) * 2**104  # the largest finite float32, an integer


def exact_p(p: float | Fraction) -> Fraction:
    """p as the fraction meant: 1.2 is 6/5.  ValueError for p < 1.

    >>> exact_p(1.2)
    Fraction(6, 5)
    """
    if not p >= 1:
        raise ValueError(f"the column norm needs p >= 1, got p={p}")
    return Fraction(p).limit_denominator(10**6)


def check_size(b: int) -> None:
    """ValueError for a block size below 1."""
    if b < 1:
        raise ValueError(f"a block needs at least size 1, got b={b}")


def rational_block(b: int, draw: np.random.Generator) -> np.ndarray:
    """A (b, b) block of fractions whose columns have 1-norm at most 1, some exactly 1; entries of both signs.

    >>> block = rational_block(3, np.random.default_rng(0))
    >>> bool((abs(block).sum(0) <= 1).all())
    True
    """
    raw = draw.integers(-9, 10, size=(b, b))
    sizes = np.maximum(1, np.abs(raw).sum(0) + draw.integers(0, 2, size=b))
    return np.array([[Fraction(int(raw[i, j]), int(sizes[j])) for j in range(b)] for i in range(b)], dtype=object)


def equation_7(b: int = 4, pairs: int = 200, seed: int = 0, size: int | Fraction = 1) -> Evidence:
    """Every inequality of Eq. 7 on exact random blocks with p = 1: 1^T|A'A| <= 1^T|A'||A| <= 1^T|A| <= 1^T.

    size : the largest column norm; above 1 the constraint is broken and the last two inequalities fail.

    >>> equation_7().holds, [step.holds for step in equation_7(size=2).steps]
    (True, [True, False, False])
    """
    check_size(b)
    draw = np.random.default_rng(seed)
    failures, equal = [0, 0, 0], 0
    for _ in range(pairs):
        second, first = (size * rational_block(b, draw) for _ in "ab")
        row = [abs(second @ first).sum(0), (abs(second) @ abs(first)).sum(0), abs(first).sum(0), np.ones(b, dtype=int)]
        for place, (smaller, larger) in enumerate(itertools.pairwise(row)):
            failures[place] += not (smaller <= larger).all()
        equal += bool((row[1] == row[2]).any())
    says = (
        "1^T|A'A| <= 1^T|A'||A|: the triangle inequality",
        "1^T|A'||A| <= 1^T|A|: the columns of A' sum to at most 1",
        "1^T|A| <= 1^T: the columns of A do",
    )
    steps = tuple(Step(text, not bad, f"{bad} of {pairs} pairs break it") for text, bad in zip(says, failures))
    return Evidence("Equation 7", "At p = 1 a product of two blocks obeys Eq. 6 again.", "sampled", steps,
                    {"equalities": equal})  # fmt: skip


def growth(p: float | Fraction, b: int) -> float:
    """b^(1 - 1/p), the most by which one step can grow the state's 1-norm under Eq. 6.

    >>> round(growth(1.2, 8) ** 2, 12)
    2.0
    """
    check_size(b)
    return float(b) ** float(1 - 1 / exact_p(p))


SHARP_CASES = ((Fraction(1), 8), (Fraction(6, 5), 8), (Fraction(3, 2), 4), (Fraction(2), 5), (Fraction(3), 2))


def sharp_growth(cases: tuple = SHARP_CASES, steps: int = 4, seed: int = 0, factor: Fraction | int = 1) -> Evidence:
    """max ||A_k ... A_1||_1 under Eq. 6 is b^(k (1 - 1/p)), for (p, b) in ``cases``: bound sampled, attained exactly.

    factor : multiplies the claimed exponent; anything but 1 fails.  Against paper 000, Sec. 3.3.  ValueError without
    cases.

    >>> sharp_growth().holds, sharp_growth(factor=Fraction(1, 2)).holds
    (True, False)
    """
    if not cases:
        raise ValueError("sharp_growth needs at least one (p, b), got none")
    draw, column, product, attained, unit = np.random.default_rng(seed), 0.0, 0.0, True, True
    for p, b in cases:
        p = exact_p(p)
        entry, bound = (sp.Integer(b) ** sp.Rational(power) for power in (-1 / p, factor * (1 - 1 / p)))
        unit &= sp.simplify(b * entry ** sp.Rational(p)) == 1
        attained &= all(sp.simplify((b * entry) ** k / bound**k) == 1 for k in range(1, steps + 1))
        raw = draw.standard_normal((300, steps, b, b))
        blocks = raw / np.linalg.norm(raw, float(p), axis=-2, keepdims=True)
        one_norm = np.abs(blocks).sum(-2).max(-1)  # (300, steps)
        chain = functools.reduce(np.matmul, np.moveaxis(blocks, 1, 0))
        column = max(column, float(one_norm.max() / bound))
        product = max(product, float((np.abs(chain).sum(-2).max(-1) / one_norm.prod(-1)).max()))
    shown = "; ".join(f"p = {float(p):g}, b = {b}: {growth(p, b):.4g}" for p, b in cases)
    checks = (
        Step("a column of p-norm 1 has 1-norm at most b^(1 - 1/p)", column <= 1 + 1e-12,
             f"largest share of the bound in random blocks {column:.3f}"),
        Step("||A_k ... A_1||_1 <= ||A_k||_1 ... ||A_1||_1", product <= 1 + 1e-12, f"largest share {product:.3f}"),
        Step("b^(-1/p) 11^T obeys Eq. 6 with equality", bool(unit), f"{len(cases)} pairs (p, b), exactly"),
        Step("its k-th power has 1-norm b^(k (1 - 1/p)), above 1 for every p > 1", bool(attained),
             f"k = 1..{steps}, exactly; per step {shown}"),
    )  # fmt: skip
    claim = (
        "Under Eq. 6 a product of k blocks has 1-norm at most b^(k (1 - 1/p)), and can have it: only p <= 1 is safe."
    )
    return Evidence("Sharp growth", claim, "sampled", checks)


def overflow_steps(p: float | Fraction, b: int, shift: int = 0) -> int | None:
    """The first k with b^(k (1 - 1/p) - shift) above every float32, in exact integers; None if there is none.

    >>> overflow_steps(1.2, 8), overflow_steps(1.2, 8, shift=1), overflow_steps(1, 8)
    (256, 262, None)
    """
    p, slope = exact_p(p), math.log2(growth(p, b))
    if not slope:
        return None
    r, q = p.numerator, p.denominator  # k is right when b^(k (r - q)) > (max b^shift)^r
    wall = (FLOAT32_MAX * b**shift) ** r
    k = math.floor((math.log2(FLOAT32_MAX) + shift * math.log2(b)) / slope)
    return next(k for k in itertools.count(max(k - 1, 1)) if b ** (k * (r - q)) > wall)


def observed_overflow(p: float | Fraction, b: int, limit: int = 20_000) -> tuple[int | None, int | None]:
    """The steps at which x <- A x from x = (1, ..., 1), and A ... A itself, reach infinity in float32 (or None).

    A = b^(-1/p) 11^T; the state's entries are b times those of the product.

    >>> observed_overflow(1.2, 8)
    (257, 263)
    """
    one, start = np.float32(growth(p, b)), (np.float32(1), np.float32(float(b) ** float(-1 / exact_p(p))))
    found: list[int | None] = [None, None]
    for place, (x, k) in enumerate(zip(start, (0, 1))):  # every entry of x, or of A, is the same number
        with np.errstate(over="ignore"):
            while np.isfinite(x) and k < limit:
                x, k = x * one, k + 1
        found[place] = None if np.isfinite(x) else k
    return found[0], found[1]


def overflow(p: float | Fraction = Fraction(6, 5), b: int = 8) -> Evidence:
    """When the worst block leaves float32: exactly, with the factor rounded first, and observed.

    At p = 1.2, b = 8 the factor is sqrt 2 and 2^(256/2) = 2^128 is the first power above every float32.  The float32
    next to sqrt 2 is smaller by 1.7e-8 of itself; its 256th power is 4.4e-6 below 2^128, which fits, so whoever
    multiplies in float32 sees infinity at step 257.  ValueError when nothing ever overflows (p = 1 or b = 1).

    >>> overflow().data
    {'exact': 256, 'rounded': 257, 'observed': 257, 'product_exact': 262, 'product_observed': 263}
    """
    exact, product_exact = overflow_steps(p, b), overflow_steps(p, b, shift=1)
    if exact is None:
        raise ValueError(f"p={p}, b={b} never grows: nothing overflows")
    rounded = Fraction(float(np.float32(growth(p, b))))
    ulp = Fraction(1, 2**24)  # the largest relative error of one float32 multiplication
    early, wall, late = (
        next(k for k in itertools.count(max(exact - 3, 1)) if (rounded * (1 + error)) ** k > FLOAT32_MAX)
        for error in (ulp, 0, -ulp)
    )
    observed, product = observed_overflow(p, b)
    steps = (
        Step("exact: the first k with b^(k (1 - 1/p)) above the largest float32",
             exact == math.floor(math.log2(FLOAT32_MAX) / math.log2(growth(p, b))) + 1,
             f"k = {exact}, factor {growth(p, b):.6f}"),
        Step("the factor is rounded first: the first k with (float32 factor)^k above it, in exact fractions",
             abs(wall - exact) <= 1, f"k = {wall}, factor {float(rounded):.9f}"),
        Step("multiplied out in float32, the state (1, ..., 1) is infinite there, up to the rounding of the products",
             early <= (observed or 0) <= late, f"k = {observed}, certainly within {early}..{late}"),
        Step("the product's own entries are b times smaller and last longer", product_exact > exact,
             f"exact {product_exact}, observed {product}"),
    )  # fmt: skip
    data = {"exact": exact, "rounded": wall, "observed": observed,
            "product_exact": product_exact, "product_observed": product}  # fmt: skip
    return Evidence("Overflow", f"p = {float(p):g}, b = {b}: the state can be infinite in float32 at step {observed}.",
                    "exact", steps, data)  # fmt: skip


def largest_p(T: int, limit: float = FLOAT32_MAX, b: int = 8) -> float:
    """The largest p for which no state can grow by more than ``limit`` in T steps: b^(T (1 - 1/p)) = limit.

    Paper 000 says only "longer sequences correspond to smaller values of p" (Limitations).  Infinite where even
    b^T stays within the limit.  ValueError for T < 1 or a limit below 1.

    >>> round(largest_p(500), 4), round(largest_p(500, limit=10), 4)
    (1.0933, 1.0022)
    """
    check_size(b)
    if T < 1 or limit < 1:
        raise ValueError(f"needs T >= 1 steps and a limit >= 1, got T={T}, limit={limit}")
    share = math.log(limit) / (T * math.log(b)) if b > 1 else math.inf
    return 1 / (1 - share) if share < 1 else math.inf
