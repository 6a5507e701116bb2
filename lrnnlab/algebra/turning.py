"""What the column constraint of paper 000 (Eq. 6) costs a block that should turn: p below 2 and rotations.

Counting modulo M by a rotation needs an eigenvalue exp(2 pi i / M) that neither shrinks nor grows.  For p < 2 a block
of size 2 cannot have it; larger blocks can, at p = 1 only from size M on when M is odd.

Letters: b block size, p the norm; A a block (b, b); r modulus, theta angle and m order of an eigenvalue.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable

import numpy as np
from scipy.optimize import minimize

from lrnnlab.algebra.columns import exact_p
from lrnnlab.algebra.evidence import Evidence, Step

FIFTH = 2 * math.pi / 5  # 72 degrees


def signed_permutations(b: int) -> Iterable[np.ndarray]:
    """The 2^b b! integer blocks with one entry +-1 in each row and column.

    >>> len(list(signed_permutations(3)))
    48
    """
    for order in itertools.permutations(range(b)):
        for signs in itertools.product((1, -1), repeat=b):
            yield np.eye(b, dtype=int)[list(order)] * np.array(signs)


def column_norms(A: np.ndarray, p: float) -> np.ndarray:
    """(..., b) p-norms of the columns of A (..., b, b).

    >>> column_norms(np.array([[3.0, 0.0], [4.0, 1.0]]), 2).tolist()
    [5.0, 1.0]
    """
    return (np.abs(A) ** p).sum(-2) ** (1 / p)


def isometries(p: float = 1.2, b: int = 3, samples: int = 2000, seed: int = 0) -> Evidence:
    """|det A| <= product of column 2-norms <= product of p-norms <= 1; for p < 2 equal at signed permutations only.

    So an orthogonal block obeys Eq. 6 with p < 2 only if it is a signed permutation.  Holds for p < 2; at p = 2 the
    rotation by (3/5, 4/5) obeys Eq. 6 and the evidence fails.

    >>> isometries().holds, [step.holds for step in isometries(p=2).steps]
    (True, [True, True, True, False])
    """
    p = float(exact_p(p))
    A = np.random.default_rng(seed).standard_normal((samples, b, b))
    det, two, norm = np.abs(np.linalg.det(A)), column_norms(A, 2).prod(-1), column_norms(A, p).prod(-1)
    signed = np.array(list(signed_permutations(b)))
    turn = np.array([[0.6, -0.8], [0.8, 0.6]])
    steps = (
        Step("|det A| <= product of the columns' 2-norms (Hadamard)", bool((det <= two * (1 + 1e-12)).all()),
             f"{samples} random blocks, largest share {(det / two).max():.3f}"),
        Step("2-norms are at most p-norms", bool((two <= norm * (1 + 1e-12)).all()),
             f"largest share {(two / norm).max():.3f}"),
        Step("signed permutations have p-norms 1 and determinant +-1",
             bool((np.abs(signed).sum(1) == 1).all() and (np.abs(np.linalg.det(signed)).round(9) == 1).all()),
             f"all {len(signed)} of size {b}"),
        Step("for p < 2 a column of 2-norm 1 and p-norm 1 has one entry: the rotation by (3/5, 4/5) breaks Eq. 6",
             bool(column_norms(turn, p)[0] > 1 + 1e-12), f"its columns have {p:g}-norm {column_norms(turn, p)[0]:.4f}"),
    )  # fmt: skip
    return Evidence("Isometries", "For p < 2 the only blocks under Eq. 6 with |det| = 1 are signed permutations.",
                    "sampled", steps)  # fmt: skip


def clipped_modulus(theta: float = FIFTH, p: float = 1.2) -> float:
    """1 / ||(cos theta, sin theta)||_p for p < 2: the modulus of a rotation whose columns are divided by their p-norm.

    No 2 x 2 block under Eq. 6 with an eigenvalue at this angle does better (``size_two``).

    >>> round(clipped_modulus(), 4), f"{clipped_modulus() ** 500:.1e}"
    (0.8676, '1.4e-31')
    """
    return (abs(math.cos(theta)) ** p + abs(math.sin(theta)) ** p) ** (-1 / p)


def size_two(p: float = 1.2, theta: float = FIFTH, samples: int = 100_000, seed: int = 0) -> Evidence:
    """The clipped rotation is the best 2 x 2 block: r <= 1 / ||(cos theta, sin theta)||_p, for every angle.

    Proof.  [[a, c], [d, e]] with eigenvalues r exp(+-i theta): a + e = 2 m, m = r cos theta, and r^2 = a e - c d.
    Eq. 6 gives -c d <= ((1 - |a|^p)(1 - |e|^p))^(1/p).  For a fixed sum both a e and (log-concave) that product are
    largest at a = e = m, so r^2 <= m^2 + (1 - |m|^p)^(2/p), which is |r sin theta|^p <= 1 - |r cos theta|^p.

    >>> size_two().holds, round(size_two().data["modulus"], 4)
    (True, 0.8676)
    """
    p = float(exact_p(p))
    raw = np.random.default_rng(seed).standard_normal((samples, 2, 2))
    A = raw / column_norms(raw, p)[:, None, :]
    eigenvalue = np.linalg.eigvals(A)[:, 0]
    turning = np.abs(eigenvalue.imag) > 1e-9
    size = (np.abs(eigenvalue.real) ** p + np.abs(eigenvalue.imag) ** p) ** (1 / p)
    a, e = np.random.default_rng(seed).uniform(-1, 1, size=(2, samples))
    middle = (a + e) / 2
    product = (1 - np.abs(a) ** p) * (1 - np.abs(e) ** p)
    best = clipped_modulus(theta, p)
    rotation = best * np.array([[math.cos(theta), -math.sin(theta)], [math.sin(theta), math.cos(theta)]])
    steps = (
        Step("(1 - |a|^p)(1 - |e|^p) <= (1 - |(a+e)/2|^p)^2",
             bool((product <= (1 - np.abs(middle) ** p) ** 2 + 1e-12).all()), f"{samples} random pairs"),
        Step("every complex eigenvalue r exp(i theta) has r ||(cos theta, sin theta)||_p <= 1",
             bool((size[turning] <= 1 + 1e-12).all()),
             f"{turning.sum()} random blocks, largest {size[turning].max():.4f}"),
        Step("the clipped rotation attains it", bool(np.allclose(column_norms(rotation, p), 1)),
             f"modulus {best:.4f}; after 500 steps {best**500:.1e}"),
    )  # fmt: skip
    claim = f"p = {p:g}: a 2 x 2 block turning by {math.degrees(theta):.0f} degrees shrinks by {best:.4f} or more."
    return Evidence("Size two", claim, "sampled", steps, {"modulus": best})  # fmt: skip


def order_on_circle(eigenvalue: complex, largest: int) -> int | None:
    """The least m <= ``largest`` with eigenvalue^m = 1 (to 1e-6), None if the modulus is below 1 or there is no such m.

    >>> order_on_circle(-1, 4), order_on_circle(1j, 4), order_on_circle(0.5, 4)
    (2, 4, None)
    """
    return next((m for m in range(1, largest + 1) if abs(eigenvalue**m - 1) < 1e-6), None)


def odd_orders(b: int = 4, samples: int = 2000, seed: int = 0) -> Evidence:
    """p = 1: an eigenvalue of modulus 1 and odd order m needs a block of size b >= m; permutations attain it.

    Why (Wielandt): on an irreducible part of period d <= b, A = lambda D |A| D^-1 with D diagonal of modulus 1, and a
    closed walk of l steps multiplies real entries, so lambda^l = +-1 for all l, lambda^(2d) = 1; an odd m divides d.
    Exhaustive over the (2b + 1)^b blocks whose columns are 0 or signed basis vectors, and sampled over dense ones.
    ValueError for b outside 1..4.

    >>> proof = odd_orders(3)
    >>> proof.holds, proof.data["orders"]
    (True, [1, 2, 3, 4, 6])
    """
    if not 1 <= b <= 4:
        raise ValueError(f"the exhaustive part is for sizes 1 to 4, got b={b}")
    columns = np.vstack([np.zeros(b), np.eye(b), -np.eye(b)])
    blocks = np.array([columns[list(choice)].T for choice in itertools.product(range(2 * b + 1), repeat=b)])
    eigenvalues = np.linalg.eigvals(blocks).ravel()
    # A defective eigenvalue 0 comes out as large as 1e-4 (for b = 4); true moduli here are 0 or 1.
    circle = eigenvalues[np.abs(eigenvalues) > 0.5]
    orders = sorted({order_on_circle(z, 2 * b) for z in np.unique(circle.round(9))}, key=str)
    raw = np.random.default_rng(seed).standard_normal((samples, b, b))
    dense = np.abs(np.linalg.eigvals(raw / column_norms(raw, 1)[:, None, :])).max()
    cycle = np.linalg.eigvals(np.roll(np.eye(b), 1, axis=0))
    steps = (
        Step("every such eigenvalue has lambda^(2d) = 1 for some d <= b", all(m and m <= 2 * b for m in orders),
             f"{len(blocks)} blocks, orders {orders}"),
        Step("its odd orders are at most b", all(m <= b for m in orders if m and m % 2),
             f"odd: {[m for m in orders if m and m % 2]}"),
        Step("other blocks stay inside the circle", bool(dense <= 1 + 1e-12), f"{samples} dense ones: {dense:.3f}"),
        Step(f"the cycle of length {b} has order {b}", any(order_on_circle(z, b) == b for z in cycle), f"b = {b}"),
    )  # fmt: skip
    claim = f"p = 1: blocks of size {b} keep no rotation of odd order above {b}."
    return Evidence("Odd orders", claim, "sampled", steps, {"orders": orders})  # fmt: skip


def best_modulus(
    b: int, p: float = 1.2, theta: float = FIFTH, restarts: int = 3, seed: int = 0
) -> tuple[float, np.ndarray]:
    """(r, A): the largest modulus found of an eigenvalue at angle theta of a (b, b) block under Eq. 6.

    A numerical search, so a lower bound on the best: blocks with the eigenvalue exp(i theta) are written as
    X R X^+ + Z (1 - X X^+) with X (b, 2), Z (b, b) free and R the rotation; the largest column norm is made small and
    divided out.  ValueError for b < 2.

    >>> [round(best_modulus(b)[0], 3) for b in (2, 3)]
    [0.868, 0.99]
    """
    if b < 2:
        raise ValueError(f"a complex eigenvalue needs a block of size 2, got b={b}")
    p, draw = float(exact_p(p)), np.random.default_rng(seed)
    R = np.array([[math.cos(theta), -math.sin(theta)], [math.sin(theta), math.cos(theta)]])
    best, eye, step = (0.0, np.zeros((b, b))), np.eye(b * (b + 2)), 1e-6

    def blocks(free):  # (..., 2b + b^2) -> (..., b, b)
        X, Z = free[..., : 2 * b].reshape(*free.shape[:-1], b, 2), free[..., 2 * b :].reshape(*free.shape[:-1], b, b)
        Xt = np.swapaxes(X, -1, -2)
        inverse = np.linalg.solve(Xt @ X, Xt)
        return X @ R @ inverse + Z @ (np.eye(b) - X @ inverse)

    def loss(free, sharpness):  # a smooth maximum of the columns' norms, and its slope, all in one batch
        norms = np.log(column_norms(blocks(np.vstack([free, free + step * eye, free - step * eye])), p))
        soft = np.logaddexp.reduce(sharpness * norms, axis=-1) / sharpness
        return soft[0], (soft[1 : len(eye) + 1] - soft[len(eye) + 1 :]) / (2 * step)

    for _ in range(restarts):
        free = draw.standard_normal(b * (b + 2)) / 2
        for sharpness in (10, 100, 1000):
            free = minimize(loss, free, (sharpness,), "L-BFGS-B", jac=True, options={"maxiter": 120}).x
        A = blocks(free)
        largest = float(column_norms(A, p).max())
        if 1 / largest > best[0]:
            best = (1 / largest, A / largest)
    return best


def turning_sizes(
    p: float = 1.2, theta: float = FIFTH, expected: tuple = (0.868, 0.990, 1.038), tolerance: float = 2e-3
) -> Evidence:
    """How well a block of size 2, 3, 4 can turn by theta under Eq. 6: numerical search, eigenvalues recomputed.

    expected : the moduli claimed for b = 2, 3, 4 (for p = 1.2 and 72 degrees); only b = 2 is proved (``size_two``).

    >>> turning_sizes().holds
    True
    """
    found = [best_modulus(b, p, theta) for b in range(2, 2 + len(expected))]
    again = []
    for r, A in found:
        eigenvalues = np.linalg.eigvals(A)
        again.append(np.abs(eigenvalues - r * np.exp(1j * theta)).min() < 1e-6 and column_norms(A, p).max() < 1 + 1e-9)
    moduli = [round(r, 3) for r, _ in found]
    steps = (
        Step("each block found obeys Eq. 6 and has the eigenvalue r exp(i theta)", all(again), f"r = {moduli}"),
        Step("size 2 is the clipped rotation", abs(found[0][0] - clipped_modulus(theta, p)) < 1e-4,
             f"{found[0][0]:.4f} and {clipped_modulus(theta, p):.4f}"),
        Step("the moduli are those expected", all(abs(r - e) <= tolerance for (r, _), e in zip(found, expected)),
             f"expected {list(expected)}"),
    )  # fmt: skip
    claim = f"p = {p:g}: moduli reached at {math.degrees(theta):.0f} degrees by sizes 2, 3, 4."
    return Evidence("Turning by size", claim, "numerical", steps, {"moduli": moduli})  # fmt: skip
