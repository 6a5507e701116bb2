"""Judges of chapters 07 to 10: what the solutions name passes in each form, and a wrong shape is told in the exercise's words."""

import math
from fractions import Fraction

import numpy as np
import pytest
import sympy as sp
import torch
from right_answers import RIGHT, made_rows, triple_layer

from workbook.exercises import check
from workbook.exercises.judging import NOT_YET, UNJUDGED
from workbook.exercises.judging import RIGHT as PASSES

KINDS = (float, Fraction, sp.Rational, np.float64, torch.tensor, str)
STEP, CHUNKS = RIGHT["09.1"], RIGHT["09.2"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("id", ["07.6", "08.1", "08.15", "09.6", "10.3"])
def test_a_whole_number_is_right_in_every_kind(id, kind):
    assert check(id, kind(RIGHT[id])).outcome == PASSES


@pytest.mark.parametrize("id, answer", [
    ("07.4", torch.tensor([3, 4, 5, 6])), ("07.4", range(3, 7)), ("07.6", 4096 ** (1 / 3)), ("07.6", sp.cbrt(4096)),
    ("07.7", 100 * sp.log(512)), ("07.9", "188/582"), ("07.9", sp.Rational(188, 582)),
    ("08.2", torch.tensor([2, 4])), ("08.2", range(2, 5, 2)), ("08.2", frozenset({Fraction(2), 4})),
    ("08.3", lambda n: [part.tolist() for part in triple_layer(n)]), ("08.9", sp.Rational(1, 6)),
    ("08.8", lambda layers: sp.Integer(layers + 1) * 2**layers), ("08.11", lambda row: sp.Matrix(RIGHT["08.11"](row))),
    ("08.12", lambda *given: tuple(torch.tensor(np.array(row)) for row in made_rows(*given))),
    ("09.1", lambda *given: torch.tensor(STEP(*given))), ("09.1", lambda *given: sp.Matrix(STEP(*given))),
    ("09.2", lambda *given: CHUNKS(*given).tolist()),
    ("09.3", lambda n, s: s * sp.binomial((n + 1) // 2 + s - 2, s - 1) * sp.binomial(n // 2 + s - 1, s - 1)),
    ("09.4", {"(1()", "1(()"}), ("09.4", np.array(["(1()", "1(()"])), ("09.5", torch.tensor([(k, 1) for k in range(6)])),
    ("09.7", ((1, 0), (sp.cos(sp.pi / 3), sp.sin(sp.pi / 3)))), ("09.8", sp.log(500) / -sp.log(sp.Rational(99, 100))),
    ("09.9", torch.tensor([[1, -1], [2, 0]])),
    ("09.11", lambda g, M: (1 - g**M) / (1 - g)), ("09.11", lambda g, M: (float(g) ** M - 1) / (float(g) - 1)),
    ("09.11", lambda g, M: (1 - sp.Rational(g) ** M) / (1 - sp.Rational(g))),  # nan at 1
    ("09.11", lambda g, M: torch.tensor(1 - float(g) ** M) / (1 - float(g))),
    ("10.1", lambda right: sp.sympify(RIGHT["10.1"](right))), ("10.2", lambda i, j, Q: torch.tensor(RIGHT["10.2"](i, j, Q))),
    ("10.8", (Fraction(79), 236)), ("10.9", torch.tensor([1 / 3, 1 / 3])), ("10.9", (sp.Rational(1, 3), 0.333)),
])  # fmt: skip
def test_a_right_answer_of_another_kind_passes(id, answer):
    assert str(check(id, answer)) == PASSES


@pytest.mark.parametrize("id, answer, outcome, words", [
    ("07.2", lambda found, wanted: ((found - wanted) ** 2).mean(0), UNJUDGED, "one number, got"),
    ("07.4", (3, 4, 5), UNJUDGED, "the four places should be numbers of shape (4,), got (3, 4, 5), of shape (3,)"),
    ("07.5", lambda t, L: [2 * (t - L) + 1], UNJUDGED, "one number, got [1], of shape (1,)"),
    ("07.9", [0.323], UNJUDGED, "one number, got [0.323], of shape (1,)"),
    ("08.2", [[2, 4]], UNJUDGED, "the distances should be numbers of shape (any,), got [[2, 4]], of shape (1, 2)"),
    ("08.3", lambda n: (triple_layer(n)[0].T, *triple_layer(n)[1:]), UNJUDGED, "of shape (16, 12)"),
    ("08.3", lambda n: (*triple_layer(n)[:2], triple_layer(n)[2].T), UNJUDGED, "of shape (4, 16)"),
    ("08.3", lambda n: (triple_layer(n)[0], triple_layer(n)[1][1:], triple_layer(n)[2]), UNJUDGED, "of shape (15,)"),
    ("08.11", lambda row: RIGHT["08.11"](row).ravel(), UNJUDGED, "the product should be real numbers of shape (2, 2)"),
    ("08.12", lambda word, A, C: [1], UNJUDGED, "depth 0 should be real numbers of shape (any, 6, 6), got 1"),
    ("08.12", lambda word, A, C: made_rows(word, A, C)[0], UNJUDGED, "of shape (6, 6)"),
    ("08.14", (2, 1, 1), UNJUDGED, "of shape (2,), got (2, 1, 1), of shape (3,)"),
    ("09.1", lambda W, k, v, beta: STEP(W, k, v, beta).T, NOT_YET, "W and what is written have the shape (m, n)"),
    ("09.1", lambda W, k, v, beta: W + beta * np.outer(k, v - W @ k), NOT_YET, "all of W, has the shape (n, m)"),
    ("09.1", lambda W, k, v, beta: W + beta * (v - W @ k) * k, NOT_YET, "and should give [["),
    ("09.1", lambda W, k, v, beta: STEP(W, k, v, beta)[:, :1], UNJUDGED, "of shape (2, 1)"),
    ("09.1", lambda W, k, v, beta: None, UNJUDGED, "W should be numbers of shape (2, 2), got None"),
    ("09.2", lambda *given: CHUNKS(*given).T, UNJUDGED, "W should be real numbers of shape (1, 2), got [[1.0], [2.0]], of"),
    ("09.3", lambda n, s: s * math.comb(n + s - 2, s - 1), NOT_YET, "n = 3, |Sigma| = 2: their number is 8, not 6"),
    ("09.3", lambda n, s: None, UNJUDGED, "one number, got None"),
    ("09.4", ("(1()",), UNJUDGED, "two texts are asked for"),
    ("09.5", [0, 1], UNJUDGED, "such as [(0, 1), (1, -1)], should be numbers of shape (any, 2), got [0, 1], of shape (2,)"),
    ("09.7", (1, 0), UNJUDGED, "the keys should be real numbers of shape (2, 2), got (1, 0), of shape (2,)"),
    ("09.11", lambda g, M: 1 / (1 - g), NOT_YET, "g = -1: W_M - W_0 is 1 times W_1 - W_0, not 0.5 times"),
    ("09.11", lambda g, M: 0 if g == 1 else (1 - g**M) / (1 - g), NOT_YET, "g = 1: W_M - W_0 is 1 times W_1 - W_0, not 0"),
    ("09.11", lambda g, M: None, UNJUDGED, "one number, got None"),
    ("10.2", lambda i, j, Q: np.ravel(RIGHT["10.2"](i, j, Q)), UNJUDGED, "of shape (2, 2), got [0, 1, 1, 0], of shape (4,)"),
    ("10.8", (79,), UNJUDGED, "the two positions should be numbers of shape (2,), got (79,), of shape (1,)"),
    ("10.9", 1 / 3, UNJUDGED, "the two shares should be numbers of shape (2,), got 0.333"),
])  # fmt: skip
def test_a_wrong_answer_is_told_what_was_expected_and_what_came(id, answer, outcome, words):
    said = check(id, answer)
    assert said.outcome == outcome and words in said.says, said
    assert "broadcast" not in said.says


def test_a_function_that_raises_is_told_the_shapes_that_it_got():
    said = check("09.1", lambda W, k, v: W)
    assert said.says.startswith("<lambda>(numbers of shape (2, 2), numbers of shape (2,), numbers of shape (2,), ")
