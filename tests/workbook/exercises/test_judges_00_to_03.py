"""Chapters 00 to 03: what the judges of their exercises say to answers of many kinds, right and wrong."""

import math
from fractions import Fraction

import numpy as np
import pytest
import sympy as sp
import torch

from workbook.exercises import ch01, check
from workbook.exercises.judging import NOT_YET, RIGHT, UNJUDGED

NAN, INF = float("nan"), float("inf")
KEEP = ([[1, 0], [0, 1]], [0, 0])  # the letter 0 of exercise 01.11
RESET = [[0, 0], [0, 0]]


def last_letter(kind, zero, column=lambda s: [s, 0]):
    """The right answer to 01.11, with matrices and vectors of one kind."""
    return {0: (kind(KEEP[0]), kind(column(zero))), **{s: (kind(RESET), kind(column(zero + s / 4))) for s in range(1, 5)}}


RIGHT_ANSWERS = [
    ("00.1", lambda text: torch.tensor([sum(map(int, text[:t])) % 5 for t in range(1, len(text) + 1)])),
    ("00.1", lambda text: [float(sum(map(int, text[:t])) % 5) for t in range(1, len(text) + 1)]),
    ("00.4", sp.Matrix([[9, 1], [1, 9]]) / 10),
    ("00.4", [[Fraction(9, 10), Fraction(1, 10)], [Fraction(1, 10), Fraction(9, 10)]]),
    ("01.7", sp.Integer(800)),
    ("01.7", Fraction(800)),
    ("01.11", last_letter(np.array, 0.0)),
    ("01.11", last_letter(torch.tensor, 0.0)),
    ("01.11", last_letter(sp.Matrix, sp.Integer(0))),  # a vector of SymPy is a matrix of one column
    ("01.11", last_letter(list, 0.0, lambda s: [[s], [0]])),
    ("01.12", sp.Integer(2)),
    ("02.1", lambda goes: torch.tensor(np.eye(len(goes[0]))[goes].swapaxes(1, 2))),
    ("02.3", sp.ones(2) / sp.sqrt(2)),
    ("02.3", np.full((2, 2), 0.5**0.5, np.float32)),
    ("02.4", 1 / (1 - math.log(10) / (500 * math.log(8)))),
    ("02.4", 1 / (1 - sp.log(10) / (500 * sp.log(8)))),
    ("02.4", sp.Rational("1.00222")),
    ("02.6", lambda e, s: sp.ceiling(sp.log(s) / sp.log(1 - e)) - 1),
    ("02.6", lambda e, s: math.ceil(math.log10(s) / math.log10(1 - e)) - 1),
    ("02.6", lambda e, s: np.ceil(np.log(s) / np.log1p(-e)) - 1),
    ("02.7", torch.tensor([3, 4, 5, 9])),
    ("02.7", (Fraction(3), sp.Integer(4), 5.0, np.int64(9))),
    ("03.1", (10**16, -(10**16), 1)),
    ("03.1", (sp.Integer(10) ** 16, -(sp.Integer(10) ** 16), 1)),
    ("03.2", lambda s, f: torch.tensor([f[0] + s[0], max(f[1] + s[0], s[1])])),
    ("03.2", lambda s, f: (f[0] + s[0], sp.Max(f[1] + s[0], s[1]))),
    ("03.3", 8 * sp.log(16, 2) - 15),
    ("03.4", lambda n: sp.Integer(n) - 1),
    ("03.6", np.ceil(8523776 / 500)),
    ("03.6", sp.ceiling(sp.Rational(8523776, 500))),
    ("03.8", (sp.Integer(2), np.int64(1), Fraction(16384))),
]
WRONG_ANSWERS = [  # and words of what is said
    ("00.1", lambda text: 5, NOT_YET, "gave 5, and should give [0]"),
    ("00.2", ["0", "1", "2", "3"], NOT_YET, "these are 4"),
    ("00.4", [0.9, 0.1, 0.1, 0.9], UNJUDGED, "of shape (2, 2), got [0.9, 0.1, 0.1, 0.9]"),
    ("00.4", [[0.8, 0.2], [0.2, 0.8]], NOT_YET, "the diagonal is [0.8, 0.8], and should be at least 0.9"),
    ("01.5", lambda s, t: (s[0], t[0]), UNJUDGED, "two expressions are asked for, tuples of numbers, got (0, 1)"),
    ("01.7", 401, NOT_YET, "401 pieces are too few"),
    ("01.7", 799, NOT_YET, "799 pieces are too few"),
    ("01.7", 801, NOT_YET, "fewer are as well"),
    ("01.7", 800.5, NOT_YET, "is whole, got 800.5"),
    ("01.11", dict.fromkeys(range(5)), UNJUDGED, "the letter 0 should have a pair (A, Bu), got None"),
    ("01.11", {**last_letter(list, 0.0), 3: (RESET,)}, UNJUDGED, "the letter 3 should have a pair (A, Bu), got ([["),
    ("01.11", {s: (1, s / 4) for s in range(5)}, UNJUDGED, "A of the letter 0 should be numbers of shape (any, any), got 1"),
    ("01.11", {**last_letter(list, 0.0), 2: (RESET, 0.5)}, UNJUDGED, "Bu of the letter 2 should be numbers of shape (2,), got 0.5"),
    ("01.11", {s: (np.zeros((0, 0)), []) for s in range(5)}, NOT_YET, "the blocks are empty"),
    ("02.1", lambda goes: np.eye(len(goes[0]))[goes][0], UNJUDGED, "A for the table [[0]] should be numbers of shape (1, 1, 1)"),
    ("02.1", lambda goes: np.eye(len(goes[0]))[goes], NOT_YET, "token 0 sends state 0 to"),  # transposed
    ("02.3", 0.5**0.5, UNJUDGED, "A should be real numbers of shape (2, 2), got 0.70710"),
    ("02.4", 0.5, NOT_YET, "at p = 0.5 the 1-norm does not grow at all"),
    ("02.4", [1.00222], UNJUDGED, "one number, got [1.00222]"),
    ("02.6", lambda e, s: NAN, NOT_YET, "nan is no number of tokens"),
    ("02.6", lambda e, s: INF, NOT_YET, "inf is no number of tokens"),
    ("02.6", lambda e, s: math.log(s) / math.log(1 - e), NOT_YET, "is no number of tokens"),
    ("02.7", (3, 4, 5), UNJUDGED, "the four sizes should be real numbers of shape (4,), got (3, 4, 5)"),
    ("02.7", (3j, 4, 5, 9), UNJUDGED, "the four sizes should be real numbers of shape (4,), got (3j, 4, 5, 9)"),
    ("02.7", (3.5, 4, 5, 9), NOT_YET, "M = 6: a size is whole, got 3.5"),
    ("02.8", lambda raw: torch.tensor(raw).softmax(-1), NOT_YET, "whose sum is 0.9768"),
    ("02.9", lambda A, readout, tokens: 0, UNJUDGED, "the answers to the tokens [1] should be numbers of shape (1,), got 0"),
    ("02.10", lambda A, answer, machine: 5, UNJUDGED, "the tokens of a string should be numbers of shape (any,), got 5"),
    ("03.1", (1e16, -1e16), UNJUDGED, "a, b and c should be real numbers of shape (3,), got (1e+16, -1e+16)"),
    ("03.2", lambda s, f: (1j, 2), UNJUDGED, "the pair should be real numbers of shape (2,), got (1j, 2)"),
    ("03.2", lambda s, f: f[0] + s[0], UNJUDGED, "the pair should be real numbers of shape (2,), got 4"),
    ("03.2", lambda s, f: (max(f[1] + s[0], s[1]), f[0] + s[0]), NOT_YET, "your pair (2, 4) leads to 4"),  # exchanged
    ("03.3", NAN, NOT_YET, "a number of products is whole, got nan"),
    ("03.5", lambda a, b: b.sum(), UNJUDGED, "the states for T = 1 should be numbers of shape (1,), got"),
    ("03.6", 8523776 / 500, NOT_YET, "a number of processors is whole, got 17047.6"),
    ("03.8", (2, 1), UNJUDGED, "(b, B, T) should be real numbers of shape (3,), got (2, 1)"),
    ("03.8", (2j, 1, 16384), UNJUDGED, "(b, B, T) should be real numbers of shape (3,), got (2j, 1, 16384)"),
]


@pytest.mark.parametrize("id, answer", RIGHT_ANSWERS)
def test_a_right_answer_is_right_whatever_its_kind(id, answer):
    verdict = check(id, answer)
    assert verdict.outcome == RIGHT, verdict


@pytest.mark.parametrize("id, answer, outcome, words", WRONG_ANSWERS)
def test_a_wrong_answer_is_told_what_was_expected_and_what_came(id, answer, outcome, words):
    verdict = check(id, answer)
    assert verdict.outcome == outcome and words in verdict.says, verdict


def test_as_many_pieces_as_exercise_01_7_asks_for_are_enough_and_needed():
    right = np.arange(2001) % 5  # the answers in the states of the counter on 500 digits
    turns = [t for t in range(1, 2000) if (right[t] - right[t - 1]) * (right[t + 1] - right[t]) < 0]
    corners = np.array([0, *turns, 2000])
    assert len(corners) - 1 == ch01.PIECES
    assert (np.interp(np.arange(2001), corners, right[corners]) == right).all()
    # whatever the rounding: from an answer 0 to the next 4 it rises, from there to the next state it falls
    low, high = right - 0.5, right + 0.5
    assert all(low[t + 4] > high[t] for t in range(0, 2000, 5)) and all(high[t + 1] < low[t] for t in range(4, 2000, 5))
