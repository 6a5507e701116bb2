"""Paper 004: sums of exponentials, exactly.  Proposition 1 (a diagonalisable linear RNN is a DLR), and DSS.

A DLR of size N has the kernel K_k = sum_n w_n lambda_n^k.  This module holds what the others build on, too: kernels and
Hankel ranks in exact arithmetic, and the shortest recurrence of a kernel.  What the proposition leaves out is in
``delay_lines``.

Letters: N size, L length, k lag; lambda nodes, w weights, K kernel; A, B, C a linear RNN, V its eigenvectors; Delta the
step of DSS, Lambda its nodes.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import sympy as sp
from sympy import QQ, QQ_I
from sympy.polys.matrices import DomainMatrix

from lrnnlab.algebra.evidence import Evidence, Step

GAUSSIAN = type(QQ_I.one)


def gaussian(real, imaginary=0):
    """real + imaginary i, an exact number; both are whole numbers or fractions.

    >>> gaussian(1, 2) * gaussian(1, -2) == gaussian(5)
    True
    """
    return QQ_I(*(QQ(int(part.numerator), int(part.denominator)) for part in (real, imaginary)))


def conjugate(z):
    """The complex conjugate of ``gaussian``'s number.

    >>> conjugate(gaussian(1, 2)) == gaussian(1, -2)
    True
    """
    return QQ_I(z.x, -z.y)


def kernel(nodes: Sequence, weights: Sequence, L: int) -> list:
    """K_k = sum_n w_n lambda_n^k for k = 0..L-1 (paper 004, Eq. 4), in the arithmetic of its numbers.

    ValueError for as many weights as there are not nodes, or L < 0.

    >>> kernel([2, -1], [1, 3], 4)
    [4, -1, 7, 5]
    """
    if len(nodes) != len(weights) or L < 0:
        raise ValueError(f"needs a weight for each node and L >= 0; got {len(nodes)}, {len(weights)}, L={L}")
    terms, found = list(weights), []
    for _ in range(L):
        found.append(sum(terms))
        terms = [term * node for term, node in zip(terms, nodes)]
    return found


def monic(nodes: Sequence) -> list:
    """The coefficients c_0 ... c_N of prod_n (z - lambda_n), lowest first; c_N = 1.

    >>> monic([2, 3])
    [6, -5, 1]
    """
    found = [1]
    for node in nodes:
        found = [shifted - node * here for shifted, here in zip([0, *found], [*found, 0])]
    return found


def exact_matrix(rows: Sequence[Sequence]) -> DomainMatrix:
    """Whole numbers, fractions or ``gaussian`` numbers as a matrix over a field, for its exact rank or null space.

    >>> exact_matrix([[1, 2], [2, 4]]).rank()
    1
    """
    if any(isinstance(entry, GAUSSIAN) for row in rows for entry in row):
        rows, field = [[e if isinstance(e, GAUSSIAN) else gaussian(e) for e in row] for row in rows], QQ_I
    else:
        rows, field = [[QQ(int(e.numerator), int(e.denominator)) for e in row] for row in rows], QQ
    return DomainMatrix(rows, (len(rows), len(rows[0])), field)


def hankel_rank(values: Sequence, size: int) -> int:
    """The exact rank of H_ij = K_{i+j}, (size, size): the least size of a linear RNN with that kernel, or ``size``.

    ValueError unless 2 size - 1 values are given.

    >>> hankel_rank(kernel([2, 3], [1, 1], 9), 5), hankel_rank([1, 0, 0], 2)
    (2, 1)
    """
    if size < 1 or len(values) < 2 * size - 1:
        raise ValueError(f"a Hankel matrix of size {size} needs {2 * size - 1} values, got {len(values)}")
    return exact_matrix([values[row : row + size] for row in range(size)]).rank()


def recurrence(values: Sequence) -> sp.Poly:
    """The polynomial of the shortest recurrence sum_j c_j K_{k+j} = 0 that all values obey, c_N = 1.

    Needs twice as many values as its degree N, and one more; ValueError where there are fewer.

    >>> recurrence(kernel([2, 3], [1, 1], 7)).as_expr()
    z**2 - 5*z + 6
    """
    N = hankel_rank(values, (len(values) + 1) // 2)
    if len(values) < 2 * N + 1:
        raise ValueError(f"a recurrence of {N} terms needs {2 * N + 1} values, got {len(values)}")
    block = exact_matrix([values[row : row + N + 1] for row in range(N)] or [[0]])  # its null space has one dimension
    found = sp.Matrix(block.nullspace().to_Matrix())[0, :] if N else [1]
    return sp.Poly([entry / found[N] for entry in found[::-1]], sp.Symbol("z"))


def _unipotent(N, draw, lower):
    """A random matrix of whole numbers with ones on the diagonal, zeros to one side of it, and its inverse."""
    strict = np.triu(draw.integers(-1, 2, (N, N)), 1).astype(object)
    strict, one = (strict.T if lower else strict), np.eye(N, dtype=int).astype(object)
    inverse = power = one
    for _ in range(N - 1):
        power = power @ -strict
        inverse = inverse + power
    return one + strict, inverse


def linear_rnn(N: int, draw: np.random.Generator, jordan: bool = False) -> tuple:
    """A random exact linear RNN: V, its inverse, Lambda (N,), A = V diag(Lambda) V^-1, B (N,), C (N,).

    Lambda's entries are small Gaussian integers; the first two are equal.  ``jordan`` sets a 1 above that pair, and A
    is not diagonalisable.
    """
    (lower, lower_inverse), (upper, upper_inverse) = (_unipotent(N, draw, side) for side in (True, False))
    V, inverse = lower @ upper, upper_inverse @ lower_inverse
    nodes = np.array([gaussian(*map(int, draw.integers(-2, 3, 2))) for _ in range(N)], dtype=object)
    nodes[1] = nodes[0]
    D = np.array([[nodes[i] if i == j else gaussian(0) for j in range(N)] for i in range(N)], dtype=object)
    if jordan:
        D[0, 1] = gaussian(1)
    B, C = (np.array([gaussian(int(entry)) for entry in draw.integers(1, 4, N)], dtype=object) for _ in "BC")
    return V, inverse, nodes, V @ D @ inverse, B, C


def mode_weights(C, V, inverse, B):
    """The weights of Proposition 1, w = (C V) * (V^-1 B), entry by entry."""
    return (C @ V) * (inverse @ B)


def proposition_1(N: int = 4, systems: int = 10, seed: int = 0, jordan: bool = False) -> Evidence:
    """If A = V diag(Lambda) V^-1, the linear RNN (A, B, C) is the DLR with nodes Lambda and w = (C V) * (V^-1 B).

    Random systems of Gaussian integers, exactly; each has a repeated eigenvalue, whose modes merge.  ``jordan`` drops
    the hypothesis.  ValueError for N < 2.  Source: paper 004, Prop. 1, Sec. A.3.

    >>> proposition_1().holds, [step.holds for step in proposition_1(jordan=True).steps]
    (True, [False, False, True, False])
    """
    if N < 2:
        raise ValueError(f"the check repeats an eigenvalue and needs N >= 2, got {N}")
    draw, L, good, sizes = np.random.default_rng(seed), 2 * N + 3, np.zeros(4, dtype=int), []
    for _ in range(systems):
        V, inverse, nodes, A, B, C = linear_rnn(N, draw, jordan)
        state, values = B, []
        for _ in range(L):
            values.append(C @ state)
            state = A @ state
        weights = mode_weights(C, V, inverse, B)
        unrolled = [(C @ V) @ (nodes**k * (inverse @ B)) for k in range(L)]
        modes = kernel(nodes, weights, L)
        rule = monic(nodes)
        ends = [sum(c * run[k + j] for j, c in enumerate(rule)) for run in (values, modes) for k in range(L - N)]
        merged = {node: sum(w for other, w in zip(nodes, weights) if other == node) for node in nodes}
        sizes.append(sum(bool(w) for w in merged.values()))
        good += [values == unrolled, values == modes, not any(ends),
                 hankel_rank(values, N + 2) == sizes[-1]]  # fmt: skip
    says = (
        "C A^j B = (C V) diag(Lambda)^j (V^-1 B)",
        "with w = (C V) * (V^-1 B) this is sum_n w_n lambda_n^j",
        "both obey the recurrence prod (z - lambda_n): equal on N terms, they are equal for ever",
        "equal eigenvalues merge: the Hankel rank is the number of different ones that have a weight",
    )
    shown = f"sizes {sorted(set(sizes))} of N = {N}"
    steps = tuple(
        Step(text, count == systems, f"{count} of {systems} systems" + f"; {shown}" * (place == 3))
        for place, (text, count) in enumerate(zip(says, good.tolist()))
    )
    return Evidence("Proposition 1", "A linear RNN with a diagonalisable A is a DLR of the same size or smaller.",
                    "sampled", steps, {"sizes": sizes})  # fmt: skip


def dss_exp(scaled: bool = True) -> Evidence:
    """DSS_exp is a DLR with lambda = exp(Delta Lambda), w' = w (exp(Delta Lambda) - 1)/Lambda, and conversely.

    The conversion back is Lambda = log(lambda)/Delta, w = w' Lambda/(lambda - 1); at lambda = 1 its limit, w'/Delta.
    ``scaled=False`` forgets the factor.  With Re Lambda < 0, as DSS has it, |lambda| < 1.  Source: paper 004, Sec. 2.1.

    >>> dss_exp().holds, [step.holds for step in dss_exp(scaled=False).steps]
    (True, [True, False, True, True])
    """
    t, step, rate, w, x, node = sp.symbols("t Delta Lambda w x lambda", nonzero=True)
    inputs = sp.symbols("u_0:4")
    held = sp.exp(t * rate) * x + (sp.exp(t * rate) - 1) / rate * inputs[0]
    leap, gain = sp.exp(step * rate), (sp.exp(step * rate) - 1) / rate
    state, output = sp.S(0), []
    for u in inputs:  # the differential equation, held over one step after the other
        state = leap * state + gain * u
        output.append(w * state)
    weight = w * gain if scaled else w
    dlr = [sum(weight * leap**j * inputs[k - j] for j in range(k + 1)) for k in range(4)]
    back = {rate: sp.log(node) / step, w: x * (sp.log(node) / step) / (node - 1)}  # x is w' here
    returned = [sp.simplify(formula.subs(back, simultaneous=True)) for formula in (leap, w * gain)]
    limit = sp.limit((w * (node - 1) / sp.log(node) * step), node, 1)
    steps = (
        Step("held input: x(t) = e^(t Lambda) x + (e^(t Lambda) - 1)/Lambda u solves x' = Lambda x + u",
             sp.simplify(sp.diff(held, t) - rate * held - inputs[0]) == 0 and sp.simplify(held.subs(t, 0) - x) == 0,
             "derivative and x(0) agree"),
        Step("its outputs are those of a DLR", all(sp.simplify(a - b) == 0 for a, b in zip(output, dlr)),
             f"w' = {weight}"),
        Step("conversely every lambda other than 0 and 1", returned == [node, x], "Lambda = log(lambda)/Delta"),
        Step("at lambda = 1 by its limit", limit == w * step, f"w' = {limit}"),
    )  # fmt: skip
    return Evidence("DSS_exp is a DLR", "DSS_exp and DLR compute the same maps; they write the parameters differently.",
                    "symbolic", steps)  # fmt: skip
