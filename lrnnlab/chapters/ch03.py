"""The exercises of chapter 03 (parallel scans) that a cell can check."""

from __future__ import annotations

import numpy as np

from lrnnlab.course.exercises import Exercise
from lrnnlab.course.judging import call, claim, number, numbers
from lrnnlab.course.predicting import prediction
from lrnnlab.algebra.doubling import matrix_products, pscan_cost


def _products(answer) -> None:
    given = number(answer)
    claim(given == matrix_products(15), f"it is not {given:g}: letters that are given cost no product")


def _processors(answer) -> None:
    given, least = number(answer), pscan_cost(T=500, b=8, h=8).data["break_even"]
    claim(given >= least, f"at P = {given:g} the loop is not slower yet")
    claim(given == least, f"{given:g} is enough, but it is not the least")


def _pair(answer) -> None:
    for a1, b1, a2, b2, x in np.random.default_rng(0).integers(-5, 6, (500, 5)).tolist():
        a, b = numbers(call(answer, (a2, b2), (a1, b1)), (2,), "the pair").tolist()
        wanted = max(max(x + a1, b1) + a2, b2)
        claim(max(x + a, b) == wanted, f"first {(a1, b1)}, then {(a2, b2)}, from x = {x}: your pair {(a, b)} leads to "
                                       f"{max(x + a, b):g}, the two steps to {wanted}")  # fmt: skip


def _brackets(answer) -> None:
    a, b, c = numbers(answer, (3,)).astype(float).tolist()
    left, right = (a + b) + c, a + (b + c)
    claim(np.isfinite([left, right]).all(), f"the sums are {left} and {right}: both should be finite")
    claim(abs(left - right) >= 1, f"(a + b) + c is {left} and a + (b + c) is {right}: less than 1 apart")


EXERCISES = (
    Exercise(
        "03.1", 1, 5, "how to count the work of a parallel scan", _products,
        ("Count the words of more than one letter in the picture of section 2.",),
        "17: $8 \\cdot 4 - 15$. There are $\\log_2 16 = 4$ levels of 8 words, and 15 of these are single letters.",
        lambda: 17,
    ),
    Exercise(
        "03.3", 2, 10, "when more work in less depth pays", _processors,
        ("The loop is never below T ticks.", "PScan's multiplications, from the table of section 4, divided by 500."),
        "PScan's multiplications are 8,523,776, and the loop never takes less than 500 ticks: $P > 8523776 / 500$, so "
        "17,048. (At that $P$ the loop is held up by its depth, since $256000/P < 500$.)",
        lambda: 17048,
    ),
    Exercise(
        "03.4", 2, 10, "what else than A x + b can be scanned", _pair,
        ("What does adding do to a maximum?", "$\\max(u, v) + a = \\max(u + a, v + a)$."),
        "$\\max(\\max(x + a_1, b_1) + a_2, b_2) = \\max(x + (a_1 + a_2), \\max(b_1 + a_2, b_2))$, so the pair is "
        "$(a_1 + a_2, \\max(b_1 + a_2, b_2))$. It is the affine rule with max for plus and plus for times.",
        lambda: lambda second, first: (first[0] + second[0], max(first[1] + second[0], second[1])),
    ),
    prediction(
        "03.6", 1, 5, "which products a tree makes",
        "In section 8 a state of 0 waits through 300 doublings, and PScan gives NaN. Run the tree with less work of "
        "section 3 on the same numbers: at how many steps does it give NaN, compared with PScan?",
        ("no NaN", "NaN at fewer steps", "NaN at as many steps", "NaN at more steps"),
        "NaN at more steps",
        ("Look at what the up-pass multiplies.",),
        "Its up-pass multiplies 128 twos as well: infinite in float32, and infinity times the state 0 is no number. "
        "The tree's product is that of steps 1 to 128, so all is lost from step 129 on. PScan counts the start as a "
        "letter, its first word of 128 twos ends at step 255, and the states before are right. Columns on the simplex "
        "never do it: their products have entries of at most 1.",
    ),
    Exercise(
        "03.8", 1, 5, "that in floats a tree and a loop are two sums", _brackets,
        ("How large is the gap between neighbouring floats near $10^{16}$?", "Let two of the three cancel."),
        "For example $(10^{16}, -10^{16}, 1)$: from the left it is 1, and $-10^{16} + 1$ is rounded back to "
        "$-10^{16}$, so bracketed the other way it is 0. Theorem and listing are about real numbers, where "
        "addition is associative.",
        lambda: (1e16, -1e16, 1.0),
    ),
)  # fmt: skip
