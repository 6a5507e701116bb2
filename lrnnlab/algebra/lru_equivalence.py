"""RotRNN and LRU (paper 001, Sec. 4.1) compute the same functions; the paper shows it for a special case only.

With y = Re(C x), which is what the LRU reads out, EVERY LRU of N modes is a RotRNN with N heads of width 2: no pairs of
conjugate eigenvalues, no special P, and the normaliser is a number that C absorbs.  A head of width 2k is k modes whose
moduli (and scale xi) are tied; so wide heads add no function, only the tie.

Letters: T time, h heads; N modes, l (lambda) eigenvalue of modulus gamma and angle theta;
u input (..., T, D_u), x state (..., T, N), y output (..., T, D_y); B (N, D_u), C (D_y, N), complex.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import sympy as sp

from lrnnlab.algebra.evidence import Evidence, Step
from lrnnlab.algebra.modes import recurrence
from lrnnlab.algebra.orthogonal import integer_matrix, symbolic_rotation
from lrnnlab.algebra.rotation_layer import Head, absorb, layer_outputs, random_head


@dataclass(frozen=True)
class Modes:
    """An LRU: x_t = l * x_{t-1} + B u_t, y_t = Re(C x_t); a normaliser is part of B.

    eigenvalues (N,), 0 < |l| < 1.   B (N, D_u), C (D_y, N).   ValueError for an eigenvalue elsewhere.

    >>> Modes(np.array([0.5j]), np.ones((1, 1)), np.ones((1, 1))).kernel(3).ravel().tolist()
    [1.0, 0.0, -0.25]
    """

    eigenvalues: np.ndarray
    B: np.ndarray
    C: np.ndarray

    def __post_init__(self):
        sizes = np.abs(self.eigenvalues)
        if not ((sizes > 0) & (sizes < 1)).all():
            raise ValueError(f"an LRU has 0 < |lambda| < 1, got moduli {sizes.tolist()}")

    def outputs(self, u: np.ndarray) -> np.ndarray:
        """y (..., T, D_y) for u (..., T, D_u), step by step."""
        drive = u @ self.B.T
        x, outputs = np.zeros(drive.shape[:-2] + drive.shape[-1:], dtype=complex), []
        for t in range(u.shape[-2]):
            x = self.eigenvalues * x + drive[..., t, :]
            outputs.append((x @ self.C.T).real)
        return np.stack(outputs, axis=-2)

    def kernel(self, T: int) -> np.ndarray:
        """The impulse response Re(C l^k B), k < T: (T, D_y, D_u)."""
        return np.array([((self.C * self.eigenvalues**k) @ self.B).real for k in range(T)])


def random_modes(N: int, inputs: int, outputs: int, draw: np.random.Generator) -> Modes:
    """An LRU with |l| in (0.5, 0.999), B normalised by sqrt(1 - |l|^2), and no conjugate pairs.

    >>> random_modes(3, 2, 1, np.random.default_rng(0)).kernel(4).shape
    (4, 1, 2)
    """
    eigenvalues = draw.uniform(0.5, 0.999, N) * np.exp(2j * np.pi * draw.uniform(size=N))
    B = draw.standard_normal((N, inputs)) + 1j * draw.standard_normal((N, inputs))
    C = draw.standard_normal((outputs, N)) + 1j * draw.standard_normal((outputs, N))
    return Modes(eigenvalues, B * np.sqrt(1 - np.abs(eigenvalues) ** 2)[:, None], C)


def as_heads(modes: Modes) -> list[Head]:
    """The RotRNN that computes the same outputs: a head of width 2 for each mode, in the paper's own normalisation.

    B_k = (Re b_k; Im b_k), C_k = (Re c_k, -Im c_k) / xi_k.  A mode that hears nothing becomes a head that says nothing.

    >>> draw = np.random.default_rng(0)
    >>> modes, u = random_modes(3, 2, 1, draw), draw.standard_normal((20, 2))
    >>> bool(np.allclose(layer_outputs(as_heads(modes), u), modes.outputs(u)))
    True
    """
    heads = []
    for eigenvalue, b, c in zip(modes.eigenvalues, modes.B, modes.C.T):
        gamma, theta = abs(eigenvalue), np.array([np.angle(eigenvalue)])
        B, C = np.stack([b.real, b.imag]), np.stack([c.real, -c.imag], axis=1)
        if not np.any(B):
            B, C = np.ones_like(B), np.zeros_like(C)
        head = Head(gamma, theta, np.eye(2), B, C)
        heads.append(Head(gamma, theta, np.eye(2), B, C / head.xi))
    return heads


def as_modes(heads: Sequence[Head]) -> Modes:
    """The LRU that computes the same outputs: N / 2 modes for a head of even width N, of one modulus.

    ValueError for a head of odd width.

    >>> draw = np.random.default_rng(0)
    >>> heads, u = [random_head(4, 2, 1, draw) for _ in "ab"], draw.standard_normal((20, 2))
    >>> bool(np.allclose(layer_outputs(heads, u), as_modes(heads).outputs(u)))
    True
    """
    eigenvalues, B, C = [], [], []
    for head in heads:
        if len(head.B) % 2:
            raise ValueError(f"a head of odd width has a real mode too; got width {len(head.B)}")
        plain = absorb(head)
        eigenvalues.append(head.gamma * np.exp(1j * head.theta))
        B.append(head.xi * (plain.B[0::2] + 1j * plain.B[1::2]))
        C.append(plain.C[:, 0::2] - 1j * plain.C[:, 1::2])
    return Modes(np.concatenate(eigenvalues), np.concatenate(B), np.concatenate(C, axis=1))


def lru_is_rotrnn(N: int = 7, T: int = 60, seed: int = 0, sign: int = -1) -> Evidence:
    """Re(c l^k b) = (Re c, -Im c) (gamma R)^k (Re b; Im b): every LRU is a RotRNN with N heads of width 2.

    "Up to normalisation" and conjugate pairs (Sec. 4.1) are not needed.  sign : of Im c in the head's readout; with 1
    the identity fails.

    >>> lru_is_rotrnn().holds, [step.holds for step in lru_is_rotrnn(sign=1).steps]
    (True, [True, False, True, True])
    """
    gamma, theta, p, q, v, w = sp.symbols("gamma theta p q v w", real=True)
    eigenvalue, z, c = gamma * (sp.cos(theta) + sp.I * sp.sin(theta)), p + sp.I * q, v + sp.I * w
    turned = gamma * symbolic_rotation(theta) * sp.Matrix([p, q]) - _plane(eigenvalue * z)
    read = v * p + sign * w * q - _plane(c * z)[0]
    draw = np.random.default_rng(seed)
    modes, u = random_modes(N, 3, 2, draw), draw.standard_normal((T, 3))
    heads, outputs = as_heads(modes), modes.outputs(u)
    error = float(np.abs(layer_outputs(heads, u) - outputs).max() / np.abs(outputs).max())
    gap = float(min(abs(a - np.conj(b)) for a in modes.eigenvalues for b in modes.eigenvalues))
    steps = (
        Step("one step of a mode is gamma R(theta) on (Re x, Im x)", turned.expand() == sp.zeros(2, 1), "symbolic"),
        Step("Re(c x) = (Re c, -Im c) (Re x, Im x)", sp.expand(read) == 0, "symbolic"),
        Step("a random LRU and its heads, each with the paper's own xi, give the same outputs", error < 1e-12,
             f"N = {N}, T = {T}: relative difference {error:.1e}; xi = {', '.join(f'{x.xi:.2f}' for x in heads)}"),
        Step("no eigenvalue is the conjugate of one of them", gap > 1e-3, f"closest: {gap:.3f}"),
    )  # fmt: skip
    claim = "With a real-part readout every LRU is a RotRNN with heads of width 2, normalisation included."
    return Evidence("LRU = RotRNN of width 2", claim, "numerical", steps, {"error": error})


def _plane(z):
    """The complex expression as the point (Re, Im)."""
    return sp.Matrix(sp.expand(z).as_real_imag())


def conjugate_pairs(T: int = 6, seed: int = 0, paired: bool = False) -> Evidence:
    """The paper's version lacks a hypothesis: with conjugate eigenvalues alone, C l^k B is not real.

    Rows of B and columns of C must be conjugate as well.  paired : makes the counter-example so; then the first step
    fails.  Source: paper 001, Sec. 4.1, "with B and C real matrices".

    >>> conjugate_pairs().holds, [step.holds for step in conjugate_pairs(paired=True).steps]
    (True, [False, True])
    """
    draw, turn = np.random.default_rng(seed), (sp.Integer(3) + 4 * sp.I) / 10
    b, c, b2, c2 = (integer_matrix(1, 2, draw) + sp.I * integer_matrix(1, 2, draw) for _ in range(4))

    def imaginary(second_b, second_c):
        kernels = (c.T * turn**k * b + second_c.T * sp.conjugate(turn) ** k * second_b for k in range(T))
        return [max(abs(sp.im(sp.expand(entry))) for entry in kernel) for kernel in kernels]

    pairs = imaginary(b.conjugate(), c.conjugate())
    unpaired = pairs if paired else imaginary(b2, c2)
    steps = (
        Step("conjugate eigenvalues, other rows and columns: the kernel is not real", any(unpaired),
             f"imaginary parts up to {', '.join(f'{float(v):.2f}' for v in unpaired)}"),
        Step("rows and columns conjugate too: it is", not any(pairs), f"k = 0 to {T - 1}, exactly 0"),
    )  # fmt: skip
    claim = "Real kernels need paired rows and columns, not only eigenvalues."
    return Evidence("Conjugate pairs", claim, "exact", steps)


def wider_heads(
    N: int = 24, h: int = 4, T: int = 60, seed: int = 0, moduli: tuple[str, str] = ("1/2", "9/10")
) -> Evidence:
    """A RotRNN of h heads, N states in all, is an LRU of N / 2 modes with moduli tied in each head: nothing is added.

    The tie is a restriction: x^4 + a x^3 + b x^2 + d x + e of a head of width 4 has d^2 = a^2 e, and the kernel of two
    modes of different moduli, from which the polynomial can be read off, has not.  moduli : of these two modes; equal
    ones make the last step fail.

    >>> wider_heads().holds, [step.holds for step in wider_heads(moduli=("1/2", "1/2")).steps]
    (True, [True, True, True, False])
    """
    draw = np.random.default_rng(seed)
    heads, u = [random_head(N // h, 3, 2, draw) for _ in range(h)], draw.standard_normal((T, 3))
    modes, outputs = as_modes(heads), layer_outputs(heads, u)
    error = float(np.abs(modes.outputs(u) - outputs).max() / np.abs(outputs).max())
    spread = float(max(np.abs(np.abs(np.linalg.eigvals(head.transition)) - head.gamma).max() for head in heads))
    x, gamma, s, t = sp.symbols("x gamma s t")  # s and t: the two cosines
    quartic = sp.Poly((x**2 - 2 * gamma * s * x + gamma**2) * (x**2 - 2 * gamma * t * x + gamma**2), x).all_coeffs()
    turns = (sp.Integer(3) + 4 * sp.I) / 5, (sp.Integer(5) + 12 * sp.I) / 13
    both = [sp.Rational(size) * turn for size, turn in zip(moduli, turns)]
    found = recurrence([sum(sp.re(sp.expand(mode**k)) for mode in both) for k in range(9)]).all_coeffs()
    steps = (
        Step("the heads and their modes give the same outputs", error < 1e-12,
             f"{h} heads of width {N // h}, {len(modes.eigenvalues)} modes: relative difference {error:.1e}"),
        Step("all eigenvalues of a head have the modulus gamma", spread < 1e-12, f"off by {spread:.1e}"),
        Step("a head of width 4 has d^2 = a^2 e",
             sp.expand(quartic[3] ** 2 - quartic[1] ** 2 * quartic[4]) == 0, "symbolic"),
        Step("two modes of different moduli break it, so no one head of width 4 has their kernel",
             found[3] ** 2 != found[1] ** 2 * found[4],
             f"moduli {' and '.join(moduli)}: d^2 = {found[3] ** 2}, a^2 e = {found[1] ** 2 * found[4]}"),
    )  # fmt: skip
    return Evidence("Wider heads", "A head of width 2k is k modes with one modulus and one xi.", "numerical", steps,
                    {"error": error, "polynomial": [str(a) for a in found]})  # fmt: skip
