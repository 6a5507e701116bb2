"""Sums of exponentials in exact arithmetic: kernels, Hankel ranks, and the shortest recurrence of a kernel.

A DLR of size N (paper 004) has the kernel K_k = sum_n w_n lambda_n^k.

Letters: N size, L length, k lag; lambda nodes, w weights, K kernel.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import sympy as sp
from sympy import QQ, QQ_I
from sympy.polys.matrices import DomainMatrix

GAUSSIAN = type(QQ_I.one)


def gaussian(real: int | Fraction, imaginary: int | Fraction = 0) -> Any:
    """real + imaginary i, an exact number; both are whole numbers or fractions.

    >>> gaussian(1, 2) * gaussian(1, -2) == gaussian(5)
    True
    """
    return QQ_I(*(QQ(int(part.numerator), int(part.denominator)) for part in (real, imaginary)))


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

    Needs twice as many values as its degree N, and one more; ValueError where there are fewer,
    or where the values obey no recurrence so short.

    >>> recurrence(kernel([2, 3], [1, 1], 7)).as_expr()
    z**2 - 5*z + 6
    """
    N = hankel_rank(values, (len(values) + 1) // 2)
    if len(values) < 2 * N + 1:
        raise ValueError(f"a recurrence of {N} terms needs {2 * N + 1} values, got {len(values)}")
    block = exact_matrix([values[row : row + N + 1] for row in range(N)] or [[0]])  # its null space has one dimension
    found = sp.Matrix(block.nullspace().to_Matrix())[0, :] if N else [sp.Integer(1)]
    rows = [values[row : row + N + 1] for row in range(len(values) - N)]
    if not found[N] or any(sum(c * value for c, value in zip(found, row)) for row in rows):
        raise ValueError(f"no recurrence of {N} terms holds for all of the {len(values)} values, so more are needed")
    return sp.Poly([entry / found[N] for entry in found[::-1]], sp.Symbol("z"))
