"""The exercises of chapter 00 (start here) that a cell can check."""

from __future__ import annotations

import numpy as np

from lrnnlab.course.exercises import Exercise
from lrnnlab.course.judging import CannotJudge, agree, claim, numbers, shown
from lrnnlab.course.predicting import prediction

TEXTS = ("0", "4", "44", "104", "0324", "4444", "12340", "3" * 40)


def _sums(text: str) -> list[int]:
    return [sum(map(int, text[:end])) % 5 for end in range(1, len(text) + 1)]


def _running(answer) -> None:
    agree(answer, _sums, [(text,) for text in TEXTS])


def _five_words(answer) -> None:
    if not isinstance(answer, (list, tuple, set, frozenset)) or not all(isinstance(word, str) for word in answer):
        raise CannotJudge(f"five texts are asked for, got {shown(answer)}")
    words = list(answer)
    claim(len(words) == 5, f"five words are asked for, and these are {len(words)}")
    for word in words:
        claim(set(word) <= set("01234"), f"{word!r} is no word of the digits 0 to 4")
    for place, word in enumerate(words):
        for other in words[:place]:
            claim(sum(map(int, word)) % 5 != sum(map(int, other)) % 5,
                  f"{other!r} and {word!r} may end in one state: whatever is read next, their answers agree")  # fmt: skip


def _leaning(answer) -> None:
    A = numbers(answer, (2, 2), "A").astype(float)
    sums = A.sum(0)
    claim(A.min() >= 0 and np.allclose(sums, 1), f"the columns are no probabilities: their sums are "
                                                 f"{sums.round(4).tolist()}, the least entry is {A.min():.4g}")  # fmt: skip
    claim((A.argmax(0) == (0, 1)).all() and min(A[0, 0], A[1, 1]) >= 0.9,
          "snapped it would not be the identity, or a column leans less than 0.9 to its own state")  # fmt: skip
    apart = float(np.abs(np.diff(np.linalg.matrix_power(A, 500), axis=1)).sum())
    claim(apart < 1e-6, f"after 500 steps the two states are still {apart:.3g} apart (in 1-norm)")


EXERCISES = (
    Exercise(
        "00.1", 1, 5, "what the task asks", _running,
        ("Keep one number and bring it up to date at each digit.",),
        "`lambda text: [sum(map(int, text[:t])) % 5 for t in range(1, len(text) + 1)]`, or, as a recurrence does it, one "
        "number that each digit moves: $x_t = (x_{t-1} + u_t) \\bmod 5$.",
        lambda: _sums,
    ),
    Exercise(
        "00.2", 1, 5, "why fewer than five states are not enough", _five_words,
        ("When may two words end in one state? Only if their answers agree, now and after every further word.",),
        "`0`, `1`, `2`, `3`, `4`: their sums differ, so their answers do, and no two of them can share a state. Five "
        "words that are pairwise different in this sense need five states, and the automaton has no more.",
        lambda: ["0", "1", "2", "3", "4"],
    ),
    prediction(
        "00.3", 1, 5, "that a counter never heals",
        "In the automaton of Sum(5) one of the 25 arrows is wrong: from the state of the sum 4, the digit 1 leads to 1 "
        "in place of 0. It reads random strings of 500 digits. How often is its last answer right?",
        ("about 96 %, as 24 of 25 arrows are", "about 80 %", "about 50 %", "about 20 %, no better than a guess"),
        "about 20 %, no better than a guess",
        ("How often does a string of 500 digits pass the wrong arrow? What happens to the answers after it?",),
        "A random string passes the wrong arrow at every 25th digit or so, twenty times in 500, and each passage shifts "
        "all answers after it by one. Nothing puts the sum right again. So at length 500 the shift may be anything, "
        "and the answer is a guess. An almost right counter is right on short strings only: that is why we look at "
        "lengths never trained on, and why we prove.",
    ),
    Exercise(
        "00.4", 2, 10, "that a proof about the snapped network is none about the soft one", _leaning,
        ("Try 0.9 on the diagonal. How far apart are the columns of its square?",),
        "$\\begin{pmatrix}0.9&0.1\\\\0.1&0.9\\end{pmatrix}$: snapped it is the identity, which keeps its two states "
        "apart for ever. As it is, each step brings them nearer by the factor 0.8, so after 500 steps they are "
        "$2\\cdot 0.8^{500}\\approx 10^{-48}$ apart. The proof above speaks of the snapped network; of the soft one we "
        "know what was measured.",
        lambda: [[0.9, 0.1], [0.1, 0.9]],
    ),
)  # fmt: skip
