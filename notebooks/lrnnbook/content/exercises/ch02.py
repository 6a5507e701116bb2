"""The judges of chapter 02's exercises; hints and solutions are in ch02.md."""

import math

import numpy as np

from lrnnbook.content.exercises import contracts
from lrnnbook.content.exercises.building import Build
from lrnnbook.content.exercises.judging import call, claim, number, numbers, wrong_step
from lrnnbook.content.exercises.prediction import prediction

MODULI, SIZES = (6, 12, 30, 360), (3, 4, 5, 9)  # the least block is the greatest prime power that divides M
LARGEST_P = 1 / (1 - math.log(10) / (500 * math.log(8)))


def _largest_p(answer) -> None:
    p = number(answer)
    claim(p > 0, f"p is positive, got {p:g}")
    claim(p > 1, f"at p = {p:g} the 1-norm does not grow at all: a larger p is still allowed")
    log_growth = 500 * (1 - 1 / p) * math.log(8)
    grown = f"{math.exp(log_growth):.4g}" if log_growth < 700 else f"e^{log_growth:.0f}"
    claim(p <= LARGEST_P + 1e-5, f"at p = {p:g} a state can grow by a factor of {grown} in 500 steps")
    claim(p >= LARGEST_P - 1e-5, f"at p = {p:g} it grows at most by a factor of {grown}: a larger p is still allowed")


def _least_blocks(answer) -> None:
    for M, given, least in zip(MODULI, numbers(answer, (len(MODULI),), "the four sizes", real=True).tolist(), SIZES):
        claim(given.is_integer(), f"M = {M}: a size is whole, got {given:g}")
        claim(given <= least, f"M = {M}: not {given:g}; heads of different sizes may share the work")
        claim(given >= least, f"M = {M}: with b = {given:g} no head has the period that is needed")


def _tables(answer) -> None:
    draw = np.random.default_rng(2)
    for V, b in ((1, 1), (2, 3), (3, 5), (5, 4)):
        goes = draw.integers(b, size=(V, b)).tolist()
        A = numbers(call(answer, goes), (V, b, b), f"A for the table {goes}")
        for token in range(V):
            for state in range(b):
                reached, wanted = A[token][:, state], np.eye(b)[goes[token][state]]
                claim((reached == wanted).all(), f"for the table {goes}, token {token} sends state {state} to "
                                                 f"{reached.tolist()}, not to state {goes[token][state]}")  # fmt: skip


def _growing(answer) -> None:
    A = numbers(answer, (2, 2), "A", real=True)
    norms = np.linalg.norm(A, axis=0)
    claim((norms <= 1 + 1e-9).all(), f"the columns' 2-norms are {norms.round(9).tolist()}, and 1 is the most allowed")
    most = float(np.abs(np.linalg.matrix_power(A, 100)).max())
    claim(most >= 1e10, f"the largest entry of its 100th power is {most:.3g}")


def _tokens(answer) -> None:
    for e, s in ((0.01, 0.5), (0.001, 0.5), (0.0005, 0.6), (0.2, 0.9), (0.3, 0.01), (0.00002, 0.75), (0.5, 0.25), (0.75, 0.0625)):
        t, given = math.ceil(math.log(s) / math.log(1 - e)) - 1, number(call(answer, e, s))
        claim(given.is_integer() and given >= 0, f"e = {e:g}, s = {s:g}: {given:g} is no number of tokens")
        claim(given <= t, f"e = {e:g}, s = {s:g}: after {given:g} tokens (1 - e)^t is no longer above s")
        claim(given >= t, f"e = {e:g}, s = {s:g}: one token after {given:g} (1 - e)^t is still above s")


def _long_sum(answer) -> None:
    v = numbers(answer, (None,), "v")
    total, norm = np.abs(v).sum(), np.linalg.norm(v)
    claim(total > norm * (1 + 1e-9), f"the sizes of its entries add up to {total:.4g}, and its 2-norm is {norm:.4g}: here step 3 holds")


EXERCISES = (
    ("02.1", _tables), ("02.6", _growing), ("02.10", _largest_p),
    prediction("02.7", ("after about 15 steps", "after about 150", "after about 1,500", "never: the norm is kept"),
               "after about 15 steps"),
    ("02.11", _tokens), ("02.14", _least_blocks),
    ("02.5", wrong_step(3, {
        1: "a number comes out of any norm with its size",
        2: "the norm of a sum is at most the sum of the norms, and every column has norm 1 at most",
        4: "an eigenvector is not 0, so one may divide by its norm",
    }, _long_sum)),
)  # fmt: skip

BUILDS = {
    "columns": Build("02.2", contracts.build_columns, contracts.columns,
                     "every column now says with what probability each state comes next"),
    "scan": Build("02.3", contracts.build_scan, contracts.scan,
                  "its gradient is right, too, so you can train what it runs"),
    "training_step": Build("02.4", contracts.judge_training_step, contracts.training_step,
                           "it moved every weight exactly as far as the reference did, twice"),
    "snap": Build("02.8", contracts.build_snap, contracts.snap,
                  "each head is now an automaton, and rounding has no say in where it goes"),
    "search": Build("02.9", contracts.build_search, contracts.search,
                    "None from it is a proof about infinitely many strings, made in finitely many steps"),
}  # fmt: skip
