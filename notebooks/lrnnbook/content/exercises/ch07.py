"""The judges of chapter 07's exercises; hints and solutions are in ch07.md."""

import math
from functools import cache
from statistics import fmean

import numpy as np

from lrnnbook.content.exercises.building import Build
from lrnnbook.content.exercises.judging import (
    CannotJudge,
    call,
    claim,
    number,
    numbers,
    one_number,
    shown,
    texts,
    wrong_step,
)
from lrnnbook.content.exercises.prediction import prediction
from lrnnbook.content.tables.results import CELL, runs
from lrnnlab.tasks.numbers.atomic import ATOMIC


def _selected(answer) -> None:
    found = numbers(answer, (4,), "the four places")
    claim((found == found.astype(int)).all(), f"{shown(answer)}: places are whole numbers")
    places = found.astype(int).tolist()
    claim(sorted(set(places)) == places and 0 <= places[0] and places[-1] < 12,
          f"{shown(answer)}: the places should be different, in order, and among the twelve")  # fmt: skip
    for j, place in enumerate(places):
        for other, its_own in enumerate(places):
            seen = place + other - j
            claim(not 0 <= seen < 12 or seen == its_own,
                  f"{shown(answer)}: the lag of one of the answers lies, at another answer, on a number that was not "
                  "asked for, and one kernel adds that too")  # fmt: skip


def _lag(answer) -> None:
    for L in (4, 7, 64):
        for t in (L, L + 1, 2 * L - 1):
            found = number(call(answer, t, L))
            claim(found == t - (2 * L - 1 - t), f"for t = {t}, L = {L} it returns {found:g}: x is read at place 2L - 1 - t")


def _kernel(answer) -> None:
    for N in (1, 2, 3, 5):
        A, T = np.linalg.qr(np.random.default_rng(N).normal(size=(N, N)))[0], N * N + 2 * N
        kernel = numbers(call(answer, A), (T,), f"the kernel for N = {N}", real=True)
        for i in range(N):
            for j in range(N):
                weight = kernel[T - N + j - (i * (N + 1) + N)]
                claim(abs(weight - A[i, j]) < 1e-6,
                      f"N = {N}: X_{j} holds {weight:.3g} times b_{i}, and should hold A[{i}, {j}] = {A[i, j]:.3g}")  # fmt: skip


def _r_squared(answer) -> None:
    rng = np.random.default_rng(0)
    for shape, shift in (((50, 8), 0.0), ((40, 3), 1.0), ((30, 5), np.arange(5.0))):
        wanted = rng.normal(size=shape) + shift
        for found in (np.zeros(shape), wanted + 0.5, np.broadcast_to(wanted.mean(0), shape)):
            due = 1 - ((found - wanted) ** 2).mean() / ((wanted - wanted.mean()) ** 2).mean()
            given = number(call(answer, found, wanted))
            claim(math.isclose(given, due, rel_tol=1e-6, abs_tol=1e-9),
                  f"answers of shape {shape} with means {wanted.mean(0).round(1).tolist()}: it returns {given:.3f}, "
                  f"not {due:.3f}")  # fmt: skip


def _baseline(answer) -> None:
    """Answers to Sort from the first number alone, as good as a polynomial of it."""
    draw = np.random.default_rng(0)
    for n, L in ((2000, 2), (2000, 16)):  # and more of them known
        x, x_new = (size / np.abs(size).max(1, keepdims=True) for size in (draw.normal(size=(m, L)) for m in (n + 500, n)))
        y, wanted = (np.take_along_axis(one, np.abs(one - one[:, :1]).argsort(1, kind="stable"), 1) for one in (x, x_new))
        found = numbers(call(answer, x, y, x_new), (n, L), f"the answers to {n} inputs of {L} numbers", real=True)
        k = L // 2
        other = np.where(np.arange(L) == k, -x_new, x_new)
        off = np.abs(numbers(call(answer, x, y, other), (n, L), "the answers", real=True) - found).max(1)
        row = int(off.argmax())
        claim(off[row] < 1e-6, f"your answer to the input {x_new[row].round(2).tolist()[:4]} changes when number {k}, counted from 0, changes its "
                               "sign: only number 0 may be used")  # fmt: skip
        score, can = (1 - ((one - wanted) ** 2).sum() / ((wanted - wanted.mean()) ** 2).sum() for one in (found, baseline(x, y, x_new)))
        claim(score > can - 0.03, f"inputs of {L} numbers: R2 is {score:.2f}, and {can:.2f} can be had from the first number and the place")


def baseline(x, y, x_new):  # (n, L), (n, L), (m, L) -> (m, L)
    known, new = (one[:, :1] ** np.arange(8) for one in (x, x_new))
    return new @ np.linalg.lstsq(known, y, rcond=None)[0]


def _sharpness(answer) -> None:
    given, least = number(answer), math.log(512) / 0.01
    claim(given >= 0.9995 * least, f"{shown(answer)}: with that β the bound is larger than was asked for")
    claim(given <= 1.005 * least, f"{shown(answer)}: a smaller β is enough, by the bound")


@cache
def _one_layer() -> dict[str, tuple[str, float, float]]:
    """A task's name, and its recorded R2 at L = 64 with one layer of DLR and with one of attention."""
    cells = runs("dlr/table1").groupby(CELL)["r2"].agg(fmean)
    means = {task: [cells[f"{task}-64", row] for row in ("dlr_1", "attention_1")] for task in ATOMIC}
    return {ATOMIC[task].__name__.lower(): (ATOMIC[task].__name__, *mean) for task, mean in means.items()}


def _columns(answer) -> None:
    answer = texts(answer, "two names of tasks", 2)
    rows = [_one_layer().get("".join(filter(str.isalnum, name.lower()))) for name in answer]
    if None in rows:
        raise CannotJudge(f"the table has no task {answer[rows.index(None)]!r}")
    for (name, *found), (high, low) in zip(rows, ((0, 1), (1, 0))):
        claim(found[high] > 0.9 and found[low] < 0.5,
              f"on {name} one layer of DLR has {found[0]:.2f} and one of attention {found[1]:.2f}")  # fmt: skip


def _blind(answer) -> None:
    claim(math.isclose(number(answer), 2 * 0.94 / 1.94 / 3, abs_tol=0.004),
          f"{shown(answer)}: what are precision, recall and F1 of the class that is answered, and of the other two?")  # fmt: skip


def _tells_x(answer) -> None:
    rng, off = np.random.default_rng(7), 0.0
    for _ in range(500):
        A = np.linalg.qr(rng.standard_normal((3, 3)))[0] * rng.choice((-1, 1), 3)
        X = rng.standard_normal(3)
        X /= np.linalg.norm(X)
        off += ((numbers(call(answer, A, A @ X), (3,), "what it makes of A and b", real=True) - X) ** 2).sum()
    claim(off < 500 * 0.95, f"on 500 systems of three equations its R2 is {1 - off / 500:.2f}")


EXERCISES = (
    prediction("07.2", ("it stays", "a bit more than half", "a bit more than a quarter"), "a bit more than half"),
    ("07.3", _r_squared), ("07.4", _lag), ("07.5", _kernel), ("07.6", _selected),
    ("07.7", one_number(16, "{}: three layers of that width reach fewer lags than there are; is it enough?",
                        "{}: three layers of that width reach more; do fewer do?")),
    ("07.8", _columns),
    ("07.10", _sharpness), ("07.11", _blind),
    ("07.9", wrong_step(5, {
        1: "all three solve the same equation b = AX, and A, X are as likely as their negatives",
        2: "what is as likely as its negative has mean 0, and X_i itself has mean 0 as well",
        3: "it is step 2 with b in place of A: the product changes its sign, and X_i does not",
        4: "the best linear map is made of the correlations with the inputs, and they are all 0",
    }, _tells_x)),
)  # fmt: skip
BUILDS = {
    "baseline": Build("07.1", _baseline, baseline, "it has sorted nothing, so what it scores is the zero of this task"),
}
