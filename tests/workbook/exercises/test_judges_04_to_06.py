"""Chapters 04 to 06, answers as students type them: the right value in any type, a wrong shape, a wrong kind of number."""

import math
from fractions import Fraction as F

import numpy as np
import pytest
import sympy as sp
import torch
from right_answers import RIGHT, solve

from workbook.exercises import check
from workbook.exercises.judging import NOT_YET, UNJUDGED


def of(id, change):
    """The right function of an exercise, its result changed."""
    return lambda *arguments: change(RIGHT[id](*arguments))


def solved_by_sympy(nodes, S):
    N = len(nodes)
    table = sp.Matrix(N, N, lambda k, i: sp.Rational(str(nodes[i])) ** k)
    return table.LUsolve(sp.Matrix([int(k == S) for k in range(N)])).flat()


RIGHTS = {
    "04.1": [of("04.1", np.ndarray.tolist), of("04.1", torch.tensor)],
    "04.2": [of("04.2", np.array), of("04.2", torch.tensor),
             lambda a, b: (a[0] * b[0], a[1] + b[1], b[0] * sp.exp(sp.I * b[1]) * a[2] + b[2])],
    "04.5": [sp.Matrix([[-1, 0], [0, 1]]), torch.tensor([[-1.0, 0], [0, 1]]), [[F(3, 5), F(4, 5)], [F(4, 5), F(-3, 5)]]],
    "04.7": [1.0, F(1), sp.Integer(1), np.float64(1), torch.tensor(1)],
    "04.8": [of("04.8", torch.tensor), lambda d: np.array([1, *np.sqrt(1 - np.square(d[1:]))]),
             lambda d: [1, *(sp.sqrt(1 - x**2) for x in d[1:])]],
    "04.9": [(F(1), 34), torch.tensor([1.0, 35]), [sp.Integer(1), 35]],
    "04.10": [F(2, 100), sp.Rational(1, 50), torch.tensor(0.02)],
    "04.11": [of("04.11", np.array), of("04.11", torch.tensor), lambda t: (2**0.5 * sp.cos(0.7 * t), 2**0.5 * sp.sin(0.7 * t))],
    "05.1": [np.array(RIGHT["05.1"])],
    "05.2": [sp.Matrix([[1, 1], [0, 1]]), torch.tensor([[1, 1], [0, 1]]), [[F(1), 1.0], [0, 1]]],
    "05.3": [of("05.3", float), of("05.3", sp.Integer), of("05.3", torch.tensor)],
    "05.4": [of("05.4", torch.tensor), lambda n, w, L: [sum(w * n**j).real for j in range(L)]],
    "05.5": [lambda K, u: np.convolve(K, u)[: len(u)],  # and on the shortest ring, which has one place at T = 1
             lambda K, u: np.fft.irfft(np.fft.rfft(K, 2 * len(u) - 1) * np.fft.rfft(u, 2 * len(u) - 1), 2 * len(u) - 1)[: len(u)]],
    "05.6": [of("05.6", np.ndarray.tolist), of("05.6", torch.tensor)],
    "05.7": [of("05.7", np.array), of("05.7", lambda pair: torch.tensor(np.array(pair)))],
    "05.8": [4.0, F(4), sp.Integer(4), torch.tensor(4), "4"],
    "05.10": [of("05.10", torch.tensor), lambda a, b, same: -sp.I / 2 * (1 if same else 2) * a * b],
    "05.14": [lambda r, m, j: sp.binomial(j + m - 1, j) * r**j,
              lambda r, m, j: math.gamma(j + m) / math.gamma(m) / math.gamma(j + 1) * r**j],
    "06.1": [torch.tensor([4, -16 / 3, 4 / 3]), [4, -16 / 3, 4 / 3], [4, sp.Rational(-16, 3), sp.Rational(4, 3)]],
    "06.2": [of("06.2", torch.tensor), lambda N, k: F((-1) ** (N - 1 - k) * 2 ** (2 * N - 3), N - 1) / (2 if k in (0, N - 1) else 1),
             lambda N, k: 1 / math.prod((math.cos(math.pi * j / (N - 1)) - math.cos(math.pi * k / (N - 1))) / 2
                                        for j in range(N) if j != k)],
    "06.3": [of("06.3", np.array), of("06.3", torch.tensor), lambda N: [sp.Integer(N - 1), N - 2.0]],
    "06.4": [3.364, 128**0.25, sp.Integer(2) ** sp.Rational(7, 4), torch.tensor(2**1.75)],
    "06.5": [11.0, F(11), sp.Integer(11), torch.tensor(11), "11"],
    "06.6": [of("06.6", np.array), solved_by_sympy],
    "06.7": [[F(11), 28.0], torch.tensor([11.0, 28]), (sp.Integer(11), 28)],
    "06.9": [[F(11, 2), 10], torch.tensor([5.5, 10]), (5.5 + 0j, 10)],
    "06.11": [lambda L: sp.ceiling(sp.Rational(L + 1, 2)), lambda L: np.ceil((L + 1) / 2), of("06.11", torch.tensor)],
    "06.12": [torch.tensor(RIGHT["06.12"]), [F(x) for x in RIGHT["06.12"]]],
    "06.13": [lambda lam: sp.log(1 / (1 - lam)) / abs(sp.log(lam)), lambda lam: torch.tensor(math.log(1 - lam) / math.log(lam))],
}  # fmt: skip
WRONG = [  # the exercise, an answer, how it is judged, what the message must say
    ("04.1", of("04.1", np.transpose), UNJUDGED, "shape (4, 2), got"),
    ("04.1", of("04.1", lambda x: x[:-1]), UNJUDGED, "of shape (3, 2)"),
    ("04.2", of("04.2", lambda x: x[2]), UNJUDGED, "the triple should be numbers of shape (3,)"),
    ("04.5", [-1, 1], UNJUDGED, "D should be numbers of shape (2, 2), got [-1, 1]"),
    ("04.7", [1], UNJUDGED, "one number, got [1]"),
    ("04.8", of("04.8", lambda x: x[1:]), UNJUDGED, "the scales should be real numbers of shape (40,)"),
    ("04.8", of("04.8", lambda x: [1j, *x[1:]]), UNJUDGED, "the scales should be real numbers"),
    ("04.8", lambda d: [1.0, *(math.sqrt(1 - x) for x in d[1:])], NOT_YET, "E||x_2||^2 is"),
    ("04.9", [35, 1], NOT_YET, "steeper"),
    ("04.9", 35, UNJUDGED, "the power and the step should be real numbers of shape (2,), got 35"),
    ("04.11", lambda t: 2**0.5 * np.exp(0.7j * t), UNJUDGED, "the input at t = 0 should be real numbers of shape (2,)"),
    ("04.11", lambda t: (1j, 1), UNJUDGED, "should be real numbers"),
    ("05.1", RIGHT["05.1"][:4], UNJUDGED, "five names are asked for"),
    ("05.2", [[1, 0], [1, 1]], NOT_YET, "the kernel is 0 at every lag"),
    ("05.2", [[1j, 1], [0, 1j]], UNJUDGED, "A should be real numbers"),
    ("05.2", [[math.inf, 1], [0, math.inf]], NOT_YET, "whole numbers are asked for"),
    ("05.3", of("05.3", lambda x: [x]), UNJUDGED, "the count at N = 1 should be a real number, got [2]"),
    ("05.3", lambda N: 2 * N, NOT_YET, "N = 2: 3 of 4"),
    ("05.4", lambda n, w, L: n ** np.arange(L)[:, None] @ w, UNJUDGED, "should be real numbers of shape (1,)"),
    ("05.5", np.convolve, UNJUDGED, "for T = 2 should be real numbers of shape (2,), got"),
    ("05.6", of("05.6", lambda w: w[:, None]), UNJUDGED, "the weights should be numbers of shape (4,)"),
    ("05.7", of("05.7", lambda pair: pair[0]), UNJUDGED, "two lists, nodes and weights"),
    ("05.7", of("05.7", lambda pair: (pair[0], 1)), UNJUDGED, "S=0, L=1: the weights should be"),
    ("05.10", lambda a, b, same: a * b, NOT_YET, "and Re K Im K is"),
    ("05.14", lambda r, m, j: 1j, UNJUDGED, "should be a real number, got 1j"),
    ("06.1", [[4], [-16 / 3], [4 / 3]], UNJUDGED, "shape (3,), got"),
    ("06.1", [4, -16 / 3], UNJUDGED, "of shape (2,)"),
    ("06.2", lambda N, k: 1j, UNJUDGED, "should be a real number, got 1j"),
    ("06.3", lambda N: N - 1, UNJUDGED, "the pair at N = 2 should be real numbers of shape (2,), got 1"),
    ("06.3", lambda N: (1j, 1), UNJUDGED, "should be real numbers"),
    ("06.4", math.inf, NOT_YET, "below a million, got inf"),
    ("06.5", 15, NOT_YET, "another shift costs more than the one by 15"),
    ("06.5", 16, NOT_YET, "16 is no shift on 16 lags"),
    ("06.6", of("06.6", lambda w: [float(x) for x in w]), NOT_YET, "floats are rounded, fractions are asked for"),
    ("06.6", of("06.6", lambda w: w[:-1]), UNJUDGED, "the weights should be real numbers of shape (6,)"),
    ("06.6", lambda nodes, S: solve(nodes, len(nodes) - 1), NOT_YET, "the kernel is"),
    ("06.9", 5.5, UNJUDGED, "the two N should be real numbers of shape (2,), got 5.5"),
    ("06.11", of("06.11", lambda x: [x]), UNJUDGED, "the modes at L = 1 should be a real number, got [1]"),
    ("06.12", [RIGHT["06.12"]], UNJUDGED, "of shape (1, 400)"),
    ("06.12", [], NOT_YET, "1 to 400 are asked for"),
    ("06.13", lambda lam: 1j, UNJUDGED, "the answer at lambda = 0.2 should be a real number"),
    ("06.13", lambda lam: math.log(1 / (1 - lam)), NOT_YET, "0.1386 steps earlier, not 0.2231"),
]


@pytest.mark.parametrize("id", RIGHTS)
def test_a_right_value_is_right_in_every_type(id):
    assert [check(id, answer).says for answer in (RIGHT[id], *RIGHTS[id])] == [""] * (1 + len(RIGHTS[id]))


@pytest.mark.parametrize("id, answer, outcome, words", WRONG, ids=[f"{id}-{n}" for n, (id, *_) in enumerate(WRONG)])
def test_a_wrong_answer_is_told_what_was_asked_and_what_came(id, answer, outcome, words):
    verdict = check(id, answer)
    assert verdict.outcome == outcome and words in verdict.says
    assert "the test met" not in verdict.says


@pytest.mark.parametrize("id", RIGHTS)
def test_a_text_is_no_answer(id):
    verdict = check(id, "x")
    assert verdict.outcome == UNJUDGED and "'x'" in verdict.says
