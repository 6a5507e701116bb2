"""The RotRNN layer (paper 001, Sec. 3, App. B.1 and C) in plain NumPy, and what its formulas are worth.

Equations 10, 12 and 19 hold, the scan's operator is associative, and P is redundant: B and C absorb it, so it changes
what training does but not what the layer can compute.

Letters: T time; h heads, N width of a head; A = P Theta P^T rotation, g (gamma) decay, xi scale of the drive, c the
norm aimed at; u input (..., T, D_u), x state (..., T, N), y output (..., T, D_y); B (N, D_u), C (D_y, N).
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
import sympy as sp

from lrnnlab.algebra.evidence import Evidence, Step
from lrnnlab.algebra.orthogonal import (
    integer_matrix,
    multiplied_out,
    random_rotation,
    rational_blocks,
    rational_rotation,
    rotation_blocks,
    symbolic_rotation,
)


@dataclass(frozen=True)
class Head:
    """x_t = g A x_{t-1} + xi B u_t, y_t = C x_t, with A = P Theta(theta) P^T and xi^2 Tr(B^T B) = 1 - g^2 (Eq. 12).

    gamma : 0 < g < 1.   theta (N // 2,).   P (N, N).   B (N, D_u), not all zero.   C (D_y, N).   ValueError otherwise.

    >>> head = Head(0.5, np.zeros(1), np.eye(2), np.eye(2), np.eye(2))
    >>> head.kernel(2)[:, 0, 0].round(4).tolist()
    [0.6124, 0.3062]
    """

    gamma: float
    theta: np.ndarray
    P: np.ndarray
    B: np.ndarray
    C: np.ndarray

    def __post_init__(self):
        if not 0 < self.gamma < 1:
            raise ValueError(f"a decay lies between 0 and 1, got gamma={self.gamma}")
        if not np.any(self.B):
            raise ValueError(f"xi needs Tr(B^T B) > 0, got B = {self.B.tolist()}")

    @property
    def transition(self) -> np.ndarray:
        """g A (N, N)."""
        return self.gamma * self.P @ rotation_blocks(self.theta, len(self.B)) @ self.P.T

    @property
    def xi(self) -> float:
        """sqrt((1 - g^2) / Tr(B^T B)): Eq. 11 for c = 1."""
        return float(np.sqrt((1 - self.gamma**2) / (self.B**2).sum()))

    def states(self, u: np.ndarray, x0: np.ndarray | None = None) -> np.ndarray:
        """x (..., T, N) for u (..., T, D_u), step by step; x0 (..., N) or zero."""
        A, drive = self.transition, self.xi * u @ self.B.T
        x = np.zeros(drive.shape[:-2] + drive.shape[-1:]) if x0 is None else x0
        states = np.empty_like(drive)
        for t in range(u.shape[-2]):
            x = x @ A.T + drive[..., t, :]
            states[..., t, :] = x
        return states

    def kernel(self, T: int) -> np.ndarray:
        """The impulse response C (g A)^k xi B, k < T: (T, D_y, D_u)."""
        powers = [np.linalg.matrix_power(self.transition, k) for k in range(T)]
        return np.array([self.C @ A @ (self.xi * self.B) for A in powers])


def random_head(N: int, inputs: int, outputs: int, draw: np.random.Generator) -> Head:
    """A head with g in (0.5, 1) and P of determinant 1.

    >>> random_head(4, 3, 2, np.random.default_rng(0)).kernel(5).shape
    (5, 2, 3)
    """
    theta, B = draw.uniform(0, 2 * np.pi, N // 2), draw.standard_normal((N, inputs))
    C = draw.standard_normal((outputs, N))
    return Head(float(draw.uniform(0.5, 0.999)), theta, random_rotation(N, draw), B, C)


def layer_outputs(heads: Iterable[Head], u: np.ndarray) -> np.ndarray:
    """y (..., T, D_y): the sum of C x over the heads, which is C of Eq. 13 on the concatenated states.

    >>> heads = [random_head(2, 1, 1, np.random.default_rng(k)) for k in range(3)]
    >>> layer_outputs(heads, np.zeros((5, 1))).shape
    (5, 1)
    """
    return sum(head.states(u) @ head.C.T for head in heads)


def absorb(head: Head) -> Head:
    """The same function with P = I: B' = P^T B, C' = C P.  Needs an orthogonal P.

    >>> head = random_head(4, 3, 2, np.random.default_rng(0))
    >>> bool(np.allclose(absorb(head).kernel(9), head.kernel(9)))
    True
    """
    return Head(head.gamma, head.theta, np.eye(len(head.P)), head.P.T @ head.B, head.C @ head.P)


def p_is_redundant(N: int = 4, h: int = 3, T: int = 30, seed: int = 0, stretch: int = 1) -> Evidence:
    """C A^k B = (C P) Theta^k (P^T B) and xi stays: P can be left out of the layer, whose functions stay the same.

    A layer that runs both ways shares P, Theta and B; each of its two C absorbs P alike.
    stretch : P's first column times this; anything but 1 and -1 makes P not orthogonal and the evidence fail.

    >>> p_is_redundant().holds, [step.holds for step in p_is_redundant(stretch=2).steps]
    (True, [False, False, True, False])
    """
    draw = np.random.default_rng(seed)
    shape = sp.diag(stretch, *[1] * (N - 1))
    Theta, P = rational_blocks(N, draw), rational_rotation(N, draw) * shape
    A, B, C = P * Theta * P.T, integer_matrix(N, 3, draw), integer_matrix(2, N, draw)
    same = [C * A**k * B == (C * P) * Theta**k * (P.T * B) for k in range(6)]
    a, b = sp.symbols("a b", real=True)
    turned = symbolic_rotation(a) * symbolic_rotation(b) - symbolic_rotation(b) * symbolic_rotation(a)
    heads = [random_head(N, 3, 2, draw) for _ in range(h)]
    heads = [Head(x.gamma, x.theta, x.P @ np.array(shape, dtype=float), x.B, x.C) for x in heads]
    u = draw.standard_normal((T, 3))
    outputs = layer_outputs(heads, u)
    error = float(np.abs(layer_outputs(map(absorb, heads), u) - outputs).max() / np.abs(outputs).max())
    steps = (
        Step("C A^k B = (C P) Theta^k (P^T B)", all(same), f"N = {N}, k = 0 to 5, exactly: {same.count(False)} differ"),
        Step("Tr(B^T P P^T B) = Tr(B^T B), so xi is the same",
             (B.T * P * P.T * B).trace() == (B.T * B).trace(),
             f"{(B.T * P * P.T * B).trace()} and {(B.T * B).trace()}"),
        Step("for N = 2 P drops out of A itself: rotations of the plane commute", turned == sp.zeros(2, 2), "symbolic"),
        Step("a whole layer gives the same outputs with P = I", error < 1e-12,
             f"{h} heads of width {N}, T = {T}: relative difference {error:.1e}; {h * N * N} numbers of M saved"),
    )  # fmt: skip
    data = {"error": error, "saved": h * N * N}
    return Evidence("P is redundant", "A RotRNN without P computes the same functions.", "numerical", steps, data)


def equation_10(T: int = 4, excess: int = 0) -> Evidence:
    """Eq. 6 unrolled is Eq. 10, and with alpha = 1 and xi Eq. 12, if x_0 = 0 (which the paper does not say).

    A, x_0 and the drives B u_k do not commute.  excess : added to the power of gamma in both; anything but 0 fails.

    >>> equation_10().holds, [step.holds for step in equation_10(excess=1).steps]
    (True, [False, False, True])
    """
    A, start = (sp.Symbol(name, commutative=False) for name in ("A", "x_0"))
    alpha, g, xi = sp.symbols("alpha gamma xi", positive=True)
    Bu = [sp.Symbol(f"Bu_{k}", commutative=False) for k in range(T + 1)]

    def unrolled(scale, drive, x):
        for k in range(1, T + 1):
            x = sp.expand(scale * (g * A * x + drive * Bu[k]))
        return x

    def printed(scale, drive):
        terms = (scale ** (T + 1 - k) * g ** (T - k + excess) * A ** (T - k) * drive * Bu[k] for k in range(1, T + 1))
        return sp.expand(sum(terms))

    rest = sp.expand(unrolled(alpha, 1, start) - unrolled(alpha, 1, 0))
    steps = (
        Step("Eq. 10: x_t is the sum of alpha^(t+1-k) gamma^(t-k) A^(t-k) B u_k",
             sp.expand(unrolled(alpha, 1, 0) - printed(alpha, 1)) == 0, f"t = {T}: {unrolled(alpha, 1, 0)}"),
        Step("Eq. 12: x_t is xi times the sum of gamma^(t-k) A^(t-k) B u_k",
             sp.expand(unrolled(1, xi, 0) - printed(1, xi)) == 0, f"t = {T}: {unrolled(1, xi, 0)}"),
        Step("both leave out (alpha gamma A)^t x_0: they say x_0 = 0 in silence, and Lemma 3 does not want that",
             sp.expand(rest - (alpha * g * A) ** T * start) == 0, f"left out: {rest}"),
    )  # fmt: skip
    claim = "The convolutional forms are the recurrences from x_0 = 0."
    return Evidence("Equations 10 and 12", claim, "symbolic", steps)


def equation_19(pairs: int = 3, signs: tuple[int, int] = (-1, 1)) -> Evidence:
    """Theta x = x * cos + (-x_2, x_1, -x_4, x_3, ...) * sin, entry by entry, for an even width.

    signs : of the two entries of a turned pair; anything but (-1, 1) fails.  Source: paper 001, Eq. 19, App. B.1.

    >>> equation_19().holds, equation_19(signs=(1, -1)).holds
    (True, False)
    """
    x, angles = sp.Matrix(sp.symbols(f"x_1:{2 * pairs + 1}")), sp.symbols(f"theta_1:{pairs + 1}")
    Theta = sp.diag(*[symbolic_rotation(angle) for angle in angles])
    cos, sin = (sp.Matrix([f(angle) for angle in angles for _ in "12"]) for f in (sp.cos, sp.sin))
    turned = sp.Matrix([sign * x[2 * i + 1 - j] for i in range(pairs) for j, sign in enumerate(signs)])
    difference = x.multiply_elementwise(cos) + turned.multiply_elementwise(sin) - Theta * x
    step = Step("the vector form is the matrix product", difference.expand() == sp.zeros(2 * pairs, 1),
                f"{list(turned)}")  # fmt: skip
    return Evidence("Equation 19", "A block-diagonal rotation costs two products a number.", "symbolic", (step,))


def combine(first: tuple, second: tuple) -> tuple:
    """(g_i, theta_i, z_i) o (g_j, theta_j, z_j) = (g_i g_j, theta_i + theta_j, g_j R(theta_j) z_i + z_j), one pair.

    Source: ``binf`` in paper 001, App. C.

    >>> combine((2, 0, sp.Matrix([1, 0])), (3, sp.pi / 2, sp.Matrix([5, 7])))
    (6, pi/2, Matrix([
    [ 5],
    [10]]))
    """
    (g, theta, z), (g2, theta2, z2) = first, second
    return g * g2, theta + theta2, g2 * symbolic_rotation(theta2) * z + z2


def scan_operator(operator: Callable[[tuple, tuple], tuple] = combine, T: int = 4) -> Evidence:
    """The operator of the scan is associative, has the identity (1, 0, 0), and folds to the recurrence.

    operator : another one, to see the checks fail; one that decays twice is still associative, and is no recurrence.

    >>> scan_operator().holds
    True
    >>> [step.holds for step in scan_operator(lambda a, b: combine((a[0], a[1], b[0] * a[2]), b)).steps]
    [True, True, False]
    """
    parts = [(sp.Symbol(f"g_{k}"), sp.Symbol(f"theta_{k}"), sp.Matrix(sp.symbols(f"z_{k}1 z_{k}2"))) for k in range(T)]
    one = (sp.Integer(1), sp.Integer(0), sp.zeros(2, 1))
    a, b, c = parts[:3]
    x = sp.zeros(2, 1)
    for g, theta, z in parts:
        x = g * symbolic_rotation(theta) * x + z
    steps = (
        Step("associative", _equal(operator(operator(a, b), c), operator(a, operator(b, c))), "free g, theta, z"),
        Step("(1, 0, 0) is neutral on both sides",
             _equal(operator(one, a), a) and _equal(operator(a, one), a), "on free g, theta, z"),
        Step("folded from the left its last entry is the state x_t",
             multiplied_out(functools.reduce(operator, parts)[2] - x) == sp.zeros(2, 1), f"t = {T}"),
    )  # fmt: skip
    return Evidence("The scan's operator", "App. C's binary function may be bracketed at will.", "symbolic", steps)


def _equal(a, b):
    return sp.expand(a[0] - b[0]) == 0 and sp.expand(a[1] - b[1]) == 0 and multiplied_out(a[2] - b[2]) == sp.zeros(2, 1)
