"""The exercises of chapter 02 (the block-diagonal LRNN) that a cell can check."""

from __future__ import annotations

import math

import numpy as np

from lrnnlab.course.exercises import Exercise
from lrnnlab.course.judging import call, claim, number, numbers
from lrnnlab.course.predicting import prediction

MODULI, SIZES = (6, 12, 30, 360), (3, 4, 5, 9)  # the least block is the greatest prime power that divides M
LARGEST_P = 1 / (1 - math.log(10) / (500 * math.log(8)))


def _largest_p(answer) -> None:
    p = number(answer)
    claim(p > 0, f"p is positive, got {p:g}")
    log_growth = 500 * (1 - 1 / p) * math.log(8)
    grown = f"{math.exp(log_growth):.4g}" if log_growth < 700 else f"e^{log_growth:.0f}"
    claim(p <= LARGEST_P + 1e-5, f"at p = {p:g} a state can grow by a factor of {grown} in 500 steps")
    claim(p >= LARGEST_P - 1e-5, f"at p = {p:g} it grows at most by a factor of {grown}: a larger p is still allowed")


def _least_blocks(answer) -> None:
    for M, given, least in zip(MODULI, numbers(answer, (len(MODULI),)).tolist(), SIZES):
        claim(given <= least, f"M = {M}: not {given}; heads of different sizes may share the work")
        claim(given >= least, f"M = {M}: with b = {given} no head has the period that is needed")


def _tables(answer) -> None:
    draw = np.random.default_rng(2)
    for V, b in ((1, 1), (2, 3), (3, 5), (5, 4)):
        goes = draw.integers(b, size=(V, b)).tolist()
        A = numbers(call(answer, goes), (V, b, b), "A")
        for token in range(V):
            for state in range(b):
                reached, wanted = A[token][:, state], np.eye(b)[goes[token][state]]
                claim((reached == wanted).all(), f"for the table {goes}, token {token} sends state {state} to "
                                                 f"{reached.tolist()}, not to state {goes[token][state]}")  # fmt: skip


def _growing(answer) -> None:
    A = numbers(answer, (2, 2), "A").astype(float)
    norms = np.linalg.norm(A, axis=0)
    claim((norms <= 1 + 1e-9).all(), f"the columns' 2-norms are {norms.round(4).tolist()}, and 1 is the most allowed")
    most = float(np.abs(np.linalg.matrix_power(A, 100)).max())
    claim(most >= 1e10, f"the largest entry of its 100th power is {most:.3g}")


def _blocks_of(goes: list[list[int]]) -> np.ndarray:
    A = np.zeros((len(goes), len(goes[0]), len(goes[0])))
    for token, row in enumerate(goes):
        A[token, row, range(len(row))] = 1
    return A


EXERCISES = (
    Exercise(
        "02.1", 1, 5, "how near to 1 the exponent has to be", _largest_p,
        ("Solve $8^{500(1-1/p)} = 10$.",),
        "$500\\,(1 - 1/p) \\ln 8 = \\ln 10$ gives $p = 1/(1 - \\ln 10/(500 \\ln 8)) = 1.00222$. At $p = 1.0022$ the "
        "bound is 9.8, at 1.0023 it is 10.9.",
        lambda: LARGEST_P,
    ),
    Exercise(
        "02.3", 2, 20, "which counters fit in blocks of a given size", _least_blocks,
        ("A head of $b$ states has periods up to $b$ only.", "Two heads with periods 4 and 3 know a sum modulo 12."),
        "(3, 4, 5, 9): the greatest prime power that divides $M$. Heads with one prime power each know the sum modulo "
        "all of them, and so modulo $M$; a period that is a multiple of $p^k$ needs $p^k$ states in one head, because "
        "the period of all heads together is the least common multiple of theirs.",
        lambda: SIZES,
    ),
    Exercise(
        "02.6", 1, 10, "that a block is a table of where states go", _tables,
        ("Column $j$ is the target of state $j$.",),
        "`A[token, row, range(b)] = 1` for each token and its row: the entry in row `goes[token][j]` of column `j`. "
        "With rows and columns changed about it would say where states come from.",
        lambda: _blocks_of,
    ),
    Exercise(
        "02.7", 1, 5, "that the bound of Eq. 7 needs p = 1", _growing,
        ("How long is a column of two equal entries, in 1-norm, if its 2-norm is 1?",),
        "All entries $1/\\sqrt2$: both columns have 2-norm 1, and the eigenvalue is $\\sqrt2$, so the 100th power has "
        "entries $2^{50}/2 = 5.6 \\cdot 10^{14}$. With $\\begin{pmatrix}1&1\\\\1&-1\\end{pmatrix}/\\sqrt2$ nothing "
        "grows at all: it is a reflection.",
        lambda: [[0.5**0.5] * 2] * 2,
    ),
    prediction(
        "02.8", 1, 5, "why soft columns forget",
        "Blocks of size 8 whose columns are softmax of random normal numbers: they keep the 1-norm of a state. Two "
        "states start 2 apart (in 1-norm), each on a corner of its own, and read the same blocks. When are they less "
        "than a millionth apart?",
        ("after about 15 steps", "after about 150", "after about 1,500", "never: the norm is kept"),
        "after about 15 steps",
        ("The norm of a state is kept. Is the norm of a difference?",),
        "Every column has some weight on every state, so what two columns have in common is the same for both states, "
        "and only the rest of the distance is left: here about a third at each step. The sum of the difference's "
        "entries is 0, and of that 'keeping the 1-norm' says nothing. A block that is to remember must have its "
        "columns at corners, each at another.",
    ),
)  # fmt: skip
