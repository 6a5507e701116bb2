"""Liquid-S4 escapes Proposition 2 (paper 000, Sec. 3.2, Eq. 4), exactly, and only through A's off-diagonal part.

x <- (A + diag(v_c)) x + v_c with v_c = B u_c.  Write G_c = A + diag(v_c) and K = G_1 G_- G_0 - G_0 G_- G_1.  From any
state y the words "0-1" and "1-0" lead to states that differ by K y + g.  From y = z they must differ, from y = x(0-)
they must not: one affine equation for z, solvable as soon as K and G_- G_0 are invertible.  With A diagonal K = 0.

Letters: D width, t factor of A's off-diagonal part; A, G transitions (D, D), v drives (D,), z initial state, x state.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import sympy as sp

from lrnnlab.algebra.evidence import Evidence, Step

EXAMPLE_A = ((1, 2), (-1, 3))
EXAMPLE_DRIVES = {"0": (1, 0), "1": (0, 2), "-": (1, -1)}


def liquid_state(word: str, A: sp.Matrix, drives: Mapping[str, sp.Matrix], start: sp.Matrix) -> sp.Matrix:
    """The state (D, 1) after the word, in exact numbers.  KeyError for a letter without a drive.

    >>> liquid_state("0", sp.Matrix([[2]]), {"0": sp.Matrix([3])}, sp.Matrix([1]))
    Matrix([[8]])
    """
    x = start
    for letter in word:
        v = drives[letter]
        x = (A + sp.diag(*v)) * x + v
    return x


def commutator(A: sp.Matrix, drives: Mapping[str, sp.Matrix]) -> sp.Matrix:
    """K = G_1 G_- G_0 - G_0 G_- G_1.

    >>> A, v = sp.diag(1, 2), {c: sp.Matrix([1, i]) for i, c in enumerate("01-")}
    >>> commutator(A, v) == sp.zeros(2, 2)
    True
    """
    G = {letter: A + sp.diag(*drives[letter]) for letter in "01-"}
    return G["1"] * G["-"] * G["0"] - G["0"] * G["-"] * G["1"]


def liquid_s4(
    A: Sequence[Sequence] = EXAMPLE_A, drives: Mapping[str, Sequence] = EXAMPLE_DRIVES, t: sp.Expr | int | str = 1
) -> Evidence:
    """Solve x(0-0-1) = x(0-1-0) for the initial state z, with x(0-1) != x(1-0): exactly, and impossible at t = 0.

    A (D, D) and drives {'0', '1', '-'} of D numbers each, in exact numbers (1, "1/2"); t scales the off-diagonal part
    of A.  For t = 0 the evidence fails: K = 0 and no z solves.  A floating t is read as the fraction it prints as.
    This is an escape from the contradiction, not a representation of subtraction: the last step shows that.
    ValueError for a letter without a drive or shapes that do not fit.

    >>> proof = liquid_s4()
    >>> proof.holds, proof.data["z"]
    (True, ['-193/312', '-7/24'])
    >>> [step.holds for step in liquid_s4(t=0).steps]
    [False, False, False, True, True]
    """
    determinant = commutator_determinant(A, drives)
    A, v = _exact(A, drives)
    diagonal = sp.diag(*A.diagonal())
    A = diagonal + sp.nsimplify(str(t)) * (A - diagonal)
    K, zero = commutator(A, v), sp.zeros(A.rows, 1)
    gap = liquid_state("0-1", A, v, zero) - liquid_state("1-0", A, v, zero)
    G = (A + sp.diag(*v["-"])) * (A + sp.diag(*v["0"]))
    solvable = K.det() != 0 and G.det() != 0
    z = (K * G).LUsolve(-gap - K * liquid_state("0-", A, v, zero)) if solvable else zero
    states = {word: liquid_state(word, A, v, z) for word in ("0-1", "1-0", "0-0-1", "0-1-0", "0", "0-0")}
    short, long = states["0-1"] - states["1-0"], states["0-0-1"] - states["0-1-0"]
    at_zero = commutator(diagonal, v)
    gap_zero = liquid_state("0-1", diagonal, v, zero) - liquid_state("1-0", diagonal, v, zero)
    steps = (
        Step("K and G_- G_0 are invertible, so the equation for z has a solution", solvable, f"det K = {K.det()}"),
        Step("x(0-0-1) = x(0-1-0), exactly", solvable and long == zero, f"z = {_row(z)}, difference {_row(long)}"),
        Step("x(0-1) != x(1-0), exactly", solvable and short != zero, f"difference {_row(short)}"),
        Step("with A's off-diagonal part off, K = 0: the two differences are one number, as in Proposition 2",
             at_zero == sp.zeros(*A.shape) and gap_zero != zero, f"both are {_row(gap_zero)}, whatever z is"),
        Step("no proof that it represents subtraction: x(0) = x(0-0) still fails for this z",
             states["0"] != states["0-0"], f"difference {_row(states['0'] - states['0-0'])}"),
    )  # fmt: skip
    data = {"z": [str(entry) for entry in z], "det": str(determinant)}
    return Evidence("Liquid-S4", "A + diag(Bu) escapes the contradiction of Proposition 2.", "exact", steps, data)


def commutator_determinant(
    A: Sequence[Sequence] = EXAMPLE_A, drives: Mapping[str, Sequence] = EXAMPLE_DRIVES
) -> sp.Expr:
    """det K as a polynomial in t, the factor of A's off-diagonal part: zero at t = 0.

    >>> commutator_determinant()
    -338*t**2
    """
    A, v = _exact(A, drives)
    diagonal = sp.diag(*A.diagonal())
    return sp.factor(commutator(diagonal + sp.Symbol("t") * (A - diagonal), v).det())


def _exact(A, drives):
    """SymPy matrices of exact numbers, checked."""
    A = sp.Matrix(A).applyfunc(sp.nsimplify)
    v = {letter: sp.Matrix([sp.nsimplify(str(entry)) for entry in drive]) for letter, drive in drives.items()}
    if A.rows != A.cols or set(v) != set("01-") or any(drive.shape != (A.rows, 1) for drive in v.values()):
        shapes = {letter: drive.shape[0] for letter, drive in v.items()}
        raise ValueError(f"needs A (D, D) and drives of D numbers for '0', '1', '-'; got A {A.shape}, drives {shapes}")
    return A, v


def _row(vector):
    return f"({', '.join(map(str, vector))})"
