"""The course's small parts: what an answer is told, plain data on the wire, submissions read, exercises."""

import cmath
import functools
import math
import re
from fractions import Fraction
from functools import partial
from numbers import Number
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.special
import sympy as sp
import torch
import wrong_answers
from matplotlib.colors import to_rgb
from proof_cells import sources
from right_answers import right, solve

from lrnnlab import models, tasks, verification
from workbook.book.sync import read_source
from workbook.chapters import ch03
from workbook.exercises import ch01, check, hint, solution
from workbook.exercises.checking import exercises, told
from workbook.exercises.hints import HEADER, LISTED, Worked, folded, parsed, refolded, worked
from workbook.exercises.judging import (
    NOT_YET,
    RIGHT,
    UNJUDGED,
    UNTRIED,
    CannotJudge,
    NotYet,
    Verdict,
    agree,
    call,
    claim,
    expect,
    judge,
    numbers,
    same,
    shown,
)
from workbook.exercises.prediction import Prediction

SOURCES = sorted((Path(__file__).parents[3] / "notebooks" / "workbook" / "exercises").glob("ch[0-9]*.py"))
CHAPTERS = [path.stem.removeprefix("ch") for path in SOURCES]

# --- judging ---------------------------------------------------------------------------------------------------------


def double(n):
    return 2 * n


def test_three_outcomes():
    assert judge(lambda: expect(double, [((2,), 4)])).outcome == RIGHT
    wrong = judge(lambda: agree(double, lambda n: n + 2, [(2,), (5,)]))
    assert (wrong.outcome, wrong.says) == (NOT_YET, "double(5) gave 10, and should give 7")
    broken = judge(lambda: expect(double, [((None,), 4)]))
    assert broken.outcome == UNJUDGED
    assert broken.says.startswith("double(None) raised TypeError: unsupported operand")
    assert "\n" not in broken.says


@pytest.mark.parametrize("answer, says", [(None, "not attempted"), (7, "a function is asked for, got 7")])
def test_what_is_no_function_cannot_be_judged(answer, says):
    with pytest.raises(CannotJudge, match=says):
        call(answer, 1)


def test_a_stub_is_not_attempted():
    def stub():
        raise NotImplementedError("your code here")

    with pytest.raises(CannotJudge, match="^not attempted$"):
        call(stub)


@pytest.mark.parametrize("value, says", [
    ((n for n in "ab"), r"a generator \(list\(...\) makes a list of it\)"), (map(str, "ab"), "a map .*"),
    ([1, (n for n in "ab")], r"\[1, <generator .*genexpr>>\]"), (lambda: 0, "<function .*<lambda>>"),
    ("x" * 500, "'x+[.]{3}x+'"),
])  # fmt: skip
def test_what_is_shown_says_no_address(value, says):
    assert re.fullmatch(says, shown(value))
    assert " at 0x" not in shown(value)


def test_a_test_that_stumbles_over_the_answer_judges_nothing():
    assert judge(lambda: {}["missing"]).outcome == UNJUDGED


@pytest.mark.parametrize("error", [NotYet, CannotJudge])
def test_what_a_verdict_says_is_short(error):
    def test():
        raise error("x" * 10**7)

    assert judge(test).says == "x" * 397 + "..."


def test_an_answer_cannot_change_the_test_s_arguments():
    given = [3, 1, 2]
    expect(lambda row: row.sort() or row, [((given,), [1, 2, 3])])
    assert given == [3, 1, 2]


def test_a_notebook_shows_one_line():
    assert NotYet("f(1) gave 2")._render_traceback_() == ["not yet: f(1) gave 2"]
    assert CannotJudge("no f")._render_traceback_() == ["cannot be judged: no f"]


def test_a_notebook_shows_each_outcome_by_word_sign_and_colour_and_a_terminal_as_before():
    verdicts = [Verdict(RIGHT), Verdict(NOT_YET, "f(<b>) & 1"), Verdict(UNJUDGED, "no f"), Verdict(UNTRIED, "put it there")]
    assert list(map(repr, verdicts)) == ["right", "not yet: f(<b>) & 1", "cannot be judged: no f", "not tried yet: put it there"]
    shown_as = [re.fullmatch(r'<div class="mathjax_ignore" style="[^"]*border-left:6px (\w+) (#\w{6})">'
                             r'<span aria-hidden="true">(.)</span> (.*)</div>', one._repr_html_()).groups() for one in verdicts]
    assert all(len(set(part)) == 4 for part in zip(*shown_as))
    assert [words for *_, words in shown_as] == ["<b>right</b>", "<b>not yet</b>: f(&lt;b&gt;) &amp; 1",
                                                 "<b>cannot be judged</b>: no f", "<b>not tried yet</b>: put it there"]
    for _, colour, _, _ in shown_as:  # WCAG asks 3:1 of what is no text, on white and on JupyterLab's dark page
        assert min(contrast(colour, page) for page in ("#ffffff", "#111111")) >= 3, colour


def contrast(*colours):
    """WCAG 2's, of two colours."""
    linear = ([c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(colour)] for colour in colours)
    dark, light = sorted(float(np.dot((0.2126, 0.7152, 0.0722), rgb)) for rgb in linear)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("a, b", [
    (1, True), (0.1 + 0.2, 0.3), (Fraction(1, 2), 0.5), ([1, 2], (1.0, 2.0)), (np.array([[1, 2]]), [(1, 2)]),
    (torch.tensor([1.0]), [1]), (np.float32(0.1), 0.1), (torch.tensor(3), 3), (np.array(3), torch.tensor(3.0)),
    ({"a": [1]}, {"a": (1,)}), (float("nan"), math.nan), (math.inf, np.inf), ([None, 1], (None, 1)), ([], ()),
    (range(3), [0, 1, 2]), (1j, complex(0, 1)), (np.True_, True), ([np.True_], [True]), (np.str_("a"), "a"),
])  # fmt: skip
def test_same(a, b):
    assert same(a, b)
    assert same(b, a)


@pytest.mark.parametrize("a, b", [
    (1, 2), (2**70, 2**70 + 1), (Fraction(1, 3), Fraction(1, 2)), ([1, 2], [1]), ([1, 2], [[1, 2]]), ("1", 1),
    (None, 0),
    (0.3, 0.30001), (math.nan, 1.0), ([1], 1), (np.array([1, 2]), [2, 1]), ({"a": 1}, {"b": 1}), ("a", "b"), ({1}, [1]),
    (10**400, 1.5), (10**400, math.inf), (1.0, math.inf), (-math.inf, math.inf), (np.True_, False), (Fraction(10**400), 2j),
])  # fmt: skip
def test_not_the_same(a, b):
    assert not same(a, b)
    assert not same(b, a)


def test_equality_cannot_be_bought():
    class Always(float):
        def __eq__(self, other):
            return True

        __hash__ = float.__hash__

    assert not same(Always(3), 5.0) and not same(5.0, Always(3))


def test_an_answer_may_raise_an_error_of_its_own():
    class Own(Exception):
        pass

    def answer(n):
        raise Own(f"not {n}")

    with pytest.raises(CannotJudge, match="raised Own: not 3"):
        call(answer, 3)
    assert judge(lambda: expect(answer, [((3,), 1)])).outcome == "cannot be judged"

    def test():
        raise Own("a test that stumbles")

    assert judge(test).says == "the test met Own: a test that stumbles"


@pytest.mark.parametrize("wrong", [[None, None], [Fraction(1), "2"]])
def test_what_is_no_number_is_not_read_as_one(wrong):
    with pytest.raises(CannotJudge, match="should be numbers of shape"):
        numbers(wrong, (2,))

    class Other:
        def __eq__(self, other):
            return True

    assert not same(Other(), 5)
    assert not same([Other()], [5])


@pytest.mark.parametrize("value", ["ab", None, [1, 2], [[1, 2], [3]], object(), 10**400, [[1, "a"]]])
def test_numbers_of_a_wrong_kind(value):
    with pytest.raises(CannotJudge, match="the answer should be numbers of shape"):
        numbers(value, (None, 2))


# --- exercises of the chapters ---------------------------------------------------------------------------------------


def odd_angles(N, S):
    """Modes and weights of a one-hot at S, written out."""
    angles = [math.pi * (2 * n + 1) / (2 * N) for n in range(N)]
    return [complex(math.cos(a), math.sin(a)) for a in angles], [cmath.exp(-1j * a * S) / N for a in angles]


def sympy_solver(nodes, S):
    """The Vandermonde system, solved as one."""
    N = len(nodes)
    system = sp.Matrix(N, N, lambda k, i: sp.Rational(nodes[i].numerator, nodes[i].denominator) ** k)
    return [Fraction(int(w.p), int(w.q)) for w in system.LUsolve(sp.Matrix([int(k == S) for k in range(N)]))]


def blocks(goes):
    """Blocks of a table, entry by entry: 1 where the column's state goes to the row's."""
    states = range(len(goes[0]))
    return [[[int(row[j] == i) for j in states] for i in states] for row in goes]


def carried(text):
    """One number, brought up to date at each digit."""
    made, x = [], 0
    for digit in text:
        x = (x + int(digit)) % 5
        made.append(x)
    return made


def neighbours(x):
    return np.stack([-x[1::2], x[0::2]], 1).ravel()


def halves(x):
    return np.concatenate([-x[len(x) // 2 :], x[: len(x) // 2]])


def head_states(theta, gamma, xi, B, u, angles=lambda theta: np.repeat(theta, 2), pairs=neighbours):
    """A head by Eq. 19: the angle of each coordinate, and how it is paired."""
    x, states, turn = np.zeros(len(B)), [], np.asarray(angles(theta))
    for u_t in u:
        x = gamma * (x * np.cos(turn) + pairs(x) * np.sin(turn)) + xi * B @ u_t
        states.append(x)
    return np.array(states)


def start_of(A):
    return np.eye(A.shape[2])[np.zeros(A.shape[1], int)]


def run(A, tokens, start=None):
    """The states of all heads, with one product a head."""
    x, states = start_of(A) if start is None else np.full(A.shape[1:3], start), []
    for token in tokens:
        x = np.einsum("hij,hj->hi", A[token], x)
        states.append(x)
    return states


def power(A, tokens):
    """The first columns of the products of the blocks."""
    return functools.reduce(lambda product, token: A[token] @ product, tokens, np.eye(A.shape[2]))[..., 0]


def searched(A, answer, machine, key=lambda states, q: (states, q), last=0, longest=10**6):
    """A search over strings: by default breadth first over pairs."""
    strings, seen = [[]], set()
    while strings:
        string = strings.pop(last)
        for token in range(len(A)):
            after, states, q = [*string, token], (0,) * A.shape[1], machine.initial
            for letter in after:
                states = tuple(int(A[letter, k, :, s].argmax()) for k, s in enumerate(states))
                q = int(machine.transitions[letter, q])
            if answer(states) != machine.outputs[q]:
                return after
            if key(states, q) not in seen and len(after) < longest:
                seen.add(key(states, q))
                strings.append(after)
    return None


def by_levels(A, answer, machine):
    """All pairs that strings of one length lead to, length by length, each with a string as text."""
    level = seen = {((0,) * A.shape[1], machine.initial): ""}
    while level:
        step = {}
        for (states, q), string in level.items():
            for v in range(len(A)):
                moved = np.take_along_axis(A[v].argmax(1), np.array(states)[:, None], 1)[:, 0]
                step.setdefault((tuple(moved), machine.transitions[v, q]), string + str(v))
        for (states, q), string in step.items():
            if answer(list(states)) != machine.outputs[q]:
                return np.array([int(letter) for letter in string])
        level = {pair: string for pair, string in step.items() if pair not in seen}
        seen = {**seen, **level}
    return None


def doubled(a, b, how):
    """The scan by doubling: right, or with one of three faults."""
    a, b, shift, passes = list(a), list(b), 1, math.ceil(math.log2(len(a))) - (how == "too few" and len(a) % 2)
    for _ in range(passes):
        places = range(shift, len(a)) if how == "in place" else range(len(a) - 1, shift - 1, -1)
        for t in places:
            gate = a[t] * a[t - shift]
            b[t] = (gate if how == "a first" else a[t]) * b[t - shift] + b[t]
            a[t] = gate
        shift *= 2
    return b


WRONG = {
    "00.1": [
        lambda text: [int(digit) % 5 for digit in text], lambda text: sum(map(int, text)) % 5,
        lambda text: [sum(map(int, text[:t])) for t in range(1, len(text) + 1)],
        lambda text: [sum(map(int, text[:t])) % 5 for t in range(len(text))], lambda text: carried(text)[::-1], "0304",
    ],
    "00.2": [
        ["0", "1", "2", "3"], ["0", "1", "2", "3", "32"], ["0", "1", "2", "3", "x"], ["4"] * 5, "01234", [0, 1, 2, 3, 4],
    ],
    "00.3": ["about 80 %", "about 50 %", "about 96 %, as 24 of 25 arrows are", 0.2],
    "00.4": [
        [[1, 0], [0, 1]], [[0.1, 0.9], [0.9, 0.1]], [[0.5, 0.5], [0.5, 0.5]], [[0.999, 0.001], [0.001, 0.999]],
        [[0.9, 0.2], [0.2, 0.9]], [[1.1, -0.1], [-0.1, 1.1]], [0.9, 0.1], [[0.9 + 5j, 0.1], [0.1, 0.9]],
    ],
    "01.3": [
        "4-4-4-4", "-".join("4" * 9), "3" + "-4" * 9, "4" + "-0" * 9, "4-0-1" + "-0" * 8, "0" + "-4" * 40, "5-0", "", 12,
    ],
    "01.14": [
        ["Sum(5)"], ch01.DEARER[:-1], (*ch01.DEARER, "Tomita 5"), {"Parity", "(aa)*"}, ["Sum", "A_5"], "Sum(5)", [5], [],
    ],
    "01.6": [
        ("0-0", "1-1"),  # one value, but not with a number in front
        ("0-1", "2-1"), ("2-2", "2-2"), ("0-0", "4-4"), ("0", "2"), "0-0", ("0-0", 2), ("0-0-0", "2-2-0"),
    ],
    "01.7": [400, 401, 799, 801, 2001, 800.5, "800 pieces", [800, 800], 800j, "1/0", ""],
    "01.9": [("abab", "baab"), ("abba", "abab"), ("abba", "baab"), ("ab", "ba"), ("", ""), "abab", ("abab", "cccc")],
    "01.11": [
        {s: ([[1, 0], [0, 1]], [s / 4, 0]) for s in range(5)},  # adds up
        {s: ([[0, 0], [0, 0]], [s / 4, 0]) for s in range(5)},  # the last letter, 0 too
        {0: ([[1]], [0]), **{s: ([[0]], [s]) for s in range(1, 5)}},  # not divided by 4
        {0: (np.eye(4, k=1), [0] * 4), **{s: (np.zeros((4, 4)), [s / 4] * 4) for s in range(1, 5)}},  # forgets it after four
        {0: 1}, [1, 2], {0: (1, 2), 1: 0, 2: 0, 3: 0, 4: 0},
    ],
    "01.12": [1, 3, 5, 1.5, "two", float("nan")],
    "01.10": ["yes", "no: two letters do not commute", "no", True, 2],
    "01.5": [
        lambda s, t: (s, t), lambda s, t: ((0, *s), (0, *t)), lambda s, t: ((0, *s), (1, *t)), lambda s, t: (0, 1),
        lambda s, t: s, lambda s: (s, s), ("0-0", "1-1"),
        lambda s, t: (s, t) if ch01._value(s[:2]) != ch01._value(t[:2]) else ((0, *s), (0, *t)),  # of two numbers only
        *(lambda s, t, first=first: (s, t) if ch01._value(s) != ch01._value(t) else ((first, *s), (first, *t))
          for first in (0.9, 7, -3)),
    ],
    "02.4": [1.0023, 1.0022, 1, 2, 0.9, -1, "one"],
    "02.7": [(6, 12, 30, 360), (5, 5, 5, 5), (3, 4, 5, 8), (2, 4, 5, 9), (3, 4, 5), 5, "3, 4, 5, 9"],
    "02.1": [
        lambda goes: np.array(blocks(goes)).swapaxes(1, 2),  # where states come from
        lambda goes: blocks([[(j + 1) % len(row) for j in row] for row in goes]),
        lambda goes: [np.eye(len(row)) for row in goes], lambda goes: blocks(goes)[0], lambda goes: goes, 5,
    ],
    "02.8": [
        lambda raw: torch.from_numpy(raw).softmax(-1),  # rows
        lambda raw: np.exp(raw) / np.exp(raw).sum(-2, keepdims=True),  # overflows
        lambda raw: np.exp(raw - raw.max()) / np.exp(raw - raw.max()).sum((-1, -2), keepdims=True),
        lambda raw: raw / np.abs(raw).sum(-2, keepdims=True), lambda raw: (raw == raw.max(-2, keepdims=True)) * 1.0,
        lambda raw: raw[0], 5,
    ],
    "02.9": [
        lambda A, readout, tokens: [readout(x) for x in (start_of(A), *run(A, tokens)[:-1])],  # answers first
        lambda A, readout, tokens: [readout(x) for x in run(A.swapaxes(2, 3), tokens)],  # x A in place of A x
        lambda A, readout, tokens: [readout(x) for x in run(A, tokens[::-1])],
        lambda A, readout, tokens: [readout(A[token, :, :, 0]) for token in tokens],  # starts anew at each token
        lambda A, readout, tokens: [readout(x) for x in run(A, tokens, 1 / A.shape[2])],  # starts everywhere at once
        lambda A, readout, tokens: readout(run(A, tokens)[-1]), lambda A, readout, tokens: [readout(A[0])], 3,
    ],
    "02.10": [
        lambda A, answer, machine: None, lambda A, answer, machine: [0], lambda A, answer, machine: [],
        lambda A, answer, machine: searched(A, answer, machine, key=lambda states, q: states),
        lambda A, answer, machine: searched(A, answer, machine, key=lambda states, q: q),
        lambda A, answer, machine: searched(A, answer, machine, last=-1),  # depth first
        lambda A, answer, machine: searched(A.swapaxes(2, 3), answer, machine),
        lambda A, answer, machine: searched(A, answer, machine, longest=8), "01", lambda A, answer, machine: [7],
    ],
    "02.3": [
        [[1, 1], [1, 1]], [[0.5, 0.5], [0.5, 0.5]], np.array([[1, 1], [1, -1]]) / 2**0.5, np.eye(2), [[1, 0]], [1, 2],
    ],
    "02.5": ["after about 150", "never: the norm is kept", 15, "soon"],
    "02.6": [
        lambda e, s: math.floor(math.log(s) / math.log(1 - e)) + 1, lambda e, s: math.log(s) / math.log(1 - e),
        lambda e, s: math.floor(math.log(s) / math.log(1 - e)), lambda e, s: int((1 - s) / e), lambda e, s: int(math.log(1 / s) / e), lambda e, s: -1, lambda e, s: None, 68,
    ],
    "03.3": [16, 32, 15, "17!"],
    "03.4": [
        lambda n: n, lambda n: n - 2, lambda n: n / 2, lambda n: 0, lambda n: n - 1 if n < 50 else n // 2, 7,
        lambda n: "n - 1",
    ],
    "03.5": [
        lambda a, b: doubled(a, b, "a first"), lambda a, b: doubled(a, b, "too few"), lambda a, b: doubled(a, b, "in place"),
        lambda a, b: np.cumsum(b), lambda a, b: np.cumprod(a) * np.cumsum(b / np.cumprod(a)) + 1,
        lambda a, b: np.cumprod(a) * np.cumsum(b / np.cumprod(a)),  # divides by 0 at a reset
        lambda a, b: b[:-1], 3,
    ],
    "03.8": [(2, 128, 40), (4, 1, 16384), (2, 128, 4096), (16, 128, 4096), (2, 1, 4), (16384, 1, 2), 2, "b = 2"],
    "03.6": [17047, 17049, 1, "P"],
    "03.2": [
        lambda second, first: (first[0] + second[0], max(first[1], second[1])),
        lambda first, second: (first[0] + second[0], max(first[1] + second[0], second[1])),  # the other order
        lambda second, first: (0, 0), lambda second, first: 5, lambda second, first: second[2], 7,
    ],
    "03.9": ["no NaN", "NaN at fewer steps", "NaN at as many steps", "NaN", 272],
    "03.1": [(1, 2, 3), (1e16, -1e16, 1 + 7j), (0.1, 0.2, 0.3), (1e308, 1e308, -1e308), (1e16, 1, 1, 1), (1e16, 1, -1), "1e16", 1e16],
    "04.7": [4, 2, "one", True],
    "04.10": [1, 0.2, 50, "below"],
    "04.2": [
        lambda a, b: (a[0] * b[0], a[1] + b[1], a[0] * np.exp(1j * a[1]) * b[2] + a[2]),  # the other order
        lambda a, b: (a[0] * b[0], a[1] + b[1], a[2] + b[2]), lambda a, b: b,
        lambda a, b: (a[0] + b[0], a[1] + b[1], b[0] * np.exp(1j * b[1]) * a[2] + b[2]),
        lambda a, b: a[2] + b[2],
    ],
    "04.11": [
        lambda t: (2**0.5, 0), lambda t: (10 * math.cos(0.7 * t), 10 * math.sin(0.7 * t)),
        lambda t: (2**0.5 * math.cos(0.7 * t), -(2**0.5) * math.sin(0.7 * t)), lambda t: 1,
    ],
    "04.8": [
        lambda decays: [math.sqrt(1 - d**2) for d in decays], lambda decays: [1] * 40,
        lambda decays: [1 - d for d in decays],
        lambda decays: [1], lambda decays: [1j] * 40,
    ],
    "04.3": [1, 0.001, 10, 0.13, "0.1", (0.1,)],
    "04.5": [np.eye(2), -np.eye(2), [[0, -1], [1, 0]], [[-1, 1], [0, 1]], [[2, 0], [0, -0.5]], [[1j, 0], [0, 1j]], "diag"],
    "04.1": [
        partial(head_states, angles=lambda theta: np.tile(theta, 2)),  # the bug itself
        partial(head_states, angles=lambda theta: np.tile(theta, 2), pairs=halves),  # pairs that are no neighbours
        partial(head_states, angles=lambda theta: -np.repeat(theta, 2)),
        lambda theta, gamma, xi, B, u: head_states(theta, gamma, xi * gamma, B, u),
        lambda theta, gamma, xi, B, u: head_states(theta, gamma, xi, B, u)[-1], lambda theta: 0, "np.repeat",
    ],
    "04.9": [(2, 35), (0.5, 35), (1, 10), (1, 100), (0, 50), 35, ("t", 35)],
    "05.1": [["K0", "K1", "K2", "k0", "k1"], ["k0", "K0", "K1", "K2", "k1"], ["K0"] * 5, "K0K1", [1, 2, 3, 4, 5]],
    "05.2": [[[0, 1], [0, 0]], [[1, 0], [0, 1]], [[1, 1], [0, 2]], [[1, 2], [3, 4]], [1, 2], [[0.5, 1], [0, 0.5]]],
    "05.7": [
        lambda S, L: ([1.0], [1.0]), lambda S, L: ([], []), lambda S, L: [1, 2],
        lambda S, L: odd_angles(L, S),  # too many
    ],
    "05.8": [3, 5, 7, "four"],
    "06.1": [(4, -5, 1), (1, 1, 1), (0, 0, 1), (4, Fraction(16, 3), Fraction(4, 3)), [1, 2], "abc", [4, -5.3333, 1.3333],
             (4, float("nan"), 1), (4, 1j, 1)],
    "06.5": [10, 15, 0, "eleven"],
    "06.6": [
        lambda nodes, S: [0] * len(nodes), lambda nodes, S: [1], lambda nodes, S: None, lambda nodes: [],
        lambda nodes, S: [float(w) for w in solve(nodes, S)],  # drifts
        lambda nodes, S: solve(nodes, len(nodes) - 1),
    ],
    "06.9": [(8, 8), (5.5, 12), (9.5, 10), (6.1, 10), 5.5, "5.5, 10"],
    "06.4": [1, 2, 3.3, -3.364, 4, "a"],
    "06.11": [lambda L: L // 2, lambda L: (L + 1) / 2, lambda L: L, lambda L: -(-L // 2), lambda L: None, 5],
}  # fmt: skip
OTHER_STYLE = {
    "00.1": [carried, lambda text: np.cumsum([int(digit) for digit in text]) % 5],
    "00.2": [("", "1", "11", "111", "1111"), {"41", "40", "30", "20", "10"}],
    "00.3": [],
    "00.4": [torch.tensor([[0.9, 0.1], [0.1, 0.9]]), np.array([[0.95, 0.05], [0.05, 0.95]]), [[0.9, 0.02], [0.1, 0.98]]],
    "01.3": ["4-4-0-0-0-0-0-0-0-1", "4-3" + "-0" * 8],
    "01.14": [list(ch01.DEARER[::-1]), set(ch01.DEARER)],
    "01.6": [["1-3", "3-1"], ("3-0", "1-2")],
    "01.10": [],  # a text that is chosen has no other style
    "01.5": [
        lambda s, t: next(([*p, *s], [*p, *t]) for p in ((), (0,)) if (2 * s[0] - sum(s) - 2 * t[0] + sum(t)) % 5 or p),
        lambda s, t: np.array([s, t] if ch01._value(s) != ch01._value(t) else [(2, *s), (2, *t)]),
    ],
    "02.4": [1.00222, np.float64(1.002219)],
    "02.7": [[3, 4, 5, 9], np.array([3.0, 4.0, 5.0, 9.0])],
    "02.1": [
        lambda goes: blocks(goes), lambda goes: torch.nn.functional.one_hot(torch.tensor(goes)).mT.float(),
        lambda goes: [np.eye(len(row))[:, row] for row in goes],
    ],
    "02.8": [lambda raw: torch.from_numpy(raw).softmax(2), lambda raw: scipy.special.softmax(raw, axis=2).tolist()],
    "02.9": [
        lambda A, readout, tokens: [readout(x) for x in run(A, tokens)],
        lambda A, readout, tokens: [readout(power(A, tokens[:t])) for t in range(1, len(tokens) + 1)],
    ],
    "02.10": [lambda A, answer, machine: searched(A, answer, machine), by_levels],
    "02.3": [[[1 / sp.sqrt(2)] * 2] * 2, [[0.8, 0.8], [0.6, 0.6]], -np.ones((2, 2)) / 2**0.5, torch.full((2, 2), 0.7071, dtype=torch.float64)],
    "02.5": [],
    "02.6": [lambda e, s: next(t for t in range(10**6) if (1 - e) ** (t + 1) <= s)],
    "03.9": [],
    "03.1": [torch.tensor([1e8, -1e8, 1.0]), [np.float32(1e8), np.float32(-1e8), np.float32(1)], [1.0, 1e20, -1e20], np.array([-2.0**60, 2.0**60, 3.0])],
    "04.3": [0.1, np.float64(0.1), Fraction(1, 10)],
    "04.5": [((1, 0), (0, -1)), np.array([[0.6, 0.8], [0.8, -0.6]]), torch.tensor([[0, 1], [1, 0]]),
             [[sp.cos(1), sp.sin(1)], [sp.sin(1), -sp.cos(1)]]],
    "01.7": [800.0, np.int64(800), "800", " 800.0 ", torch.tensor(800), 800 + 0j],
    "01.9": [["abba", "baba"], ("baba", "abba")],
    "01.11": [{0: ([[1]], [0]), **{s: (np.zeros((1, 1)), [s / 4]) for s in range(1, 5)}}],
    "01.12": [2, np.int64(2), 2.0, "2"],
    "03.3": [17.0, np.array(17)],
    "03.4": [lambda n: ch03.tree_counts(n)[0], lambda n: np.float64(n - 1), lambda n: n - 1 / 3],
    "03.5": [
        lambda a, b: doubled(a, b, "right"),
        lambda a, b: [sum(b[s] * np.prod(a[s + 1 : t + 1]) for s in range(t + 1)) for t in range(len(a))],
    ],
    "03.8": [[2.0, 1.0, 16384.0], np.array([2, 1, 16384])],
    "03.6": [17048.0, np.int64(17048)],
    "03.2": [lambda s, f: np.array([s[0] + f[0], np.maximum(s[0] + f[1], s[1])])],
    "04.7": [1.0, Fraction(1), "1", 1 / math.sqrt(4 * 0.3**2 + 1) ** 2 * (0.3**2 * 4 + 1)],
    "04.10": [0.02, np.float64(0.0199)],
    "04.2": [
        lambda a, b: [b[0] * a[0], b[1] + a[1], b[2] + a[2] * b[0] * complex(math.cos(b[1]), math.sin(b[1]))],
        lambda a, b: (math.exp(math.log(a[0]) + math.log(b[0])), a[1] + b[1], cmath.rect(*b[:2]) * a[2] + b[2]),
    ],
    "04.11": [lambda t: -(2**0.5) * np.array([np.cos(0.7 * t + 0.1), np.sin(0.7 * t + 0.1)]),
              lambda t: 2**0.5 * np.array([np.cos(0.7 * t), np.sin(0.7 * t)] if t < 1000 else [1, 0])],
    "04.8": [lambda decays: np.concatenate([[-1.0], np.sqrt(1 - np.square(decays[1:]))])],
    "04.1": [head_states, partial(head_states, angles=lambda theta: [a for a in theta for _ in "xy"])],
    "04.9": [[1.0, 34.5], np.array([0.95, 30])],
    "05.1": [("K0", "K1", "K2", "k1", "k0")],
    "05.2": [[[2, 1], [0, 2]], np.array([[3, 1], [-1, 1]]), [[-1, 5], [0, -1]]],
    "05.7": [lambda S, L: odd_angles(-(-max(S + 1, L - S) // 2), S)],
    "05.8": [4.0, np.int64(4)],
    "06.1": [[4.0, -16 / 3, 4 / 3], np.array([4, -16 / 3, 4 / 3]), [sp.Integer(4), sp.Rational(-16, 3), sp.Rational(4, 3)]],
    "06.5": [11.0, np.int64(11)],
    "06.6": [lambda nodes, S: sympy_solver(nodes, S)],
    "06.9": [[5.5, 10], np.array([5.5, 10.0]), (6, 10), (5, 10.5)],
    "06.4": [3.3636, Fraction(33636, 10000), 2 ** sp.Rational(7, 4)],
    "06.11": [lambda L: math.ceil((L + 1) / 2), lambda L: min(max(S + 1, L - S) for S in range(L))],
}  # fmt: skip


EVERY = [one for name in CHAPTERS for one in exercises(name)]


def test_every_exercise_has_planted_answers_here_or_in_the_file_of_those_that_came_later():
    assert {one.id for one in EVERY} == WRONG.keys() | wrong_answers.WRONG.keys()


@pytest.mark.parametrize("exercise", [one for one in EVERY if one.id in WRONG], ids=lambda one: one.id)
def test_each_exercise_is_solved_by_its_solution_and_by_nothing_planted(exercise):
    for solved in (right(exercise), *OTHER_STYLE[exercise.id]):
        assert check(exercise.id, solved).outcome == RIGHT, solved
    assert len(WRONG[exercise.id]) >= 3
    for wrong in WRONG[exercise.id]:
        verdict = check(exercise.id, wrong)
        assert verdict.outcome in (NOT_YET, UNJUDGED), wrong
        assert verdict.says
        assert "\n" not in repr(verdict)


# --- what a wrong answer is told: where it fails, and not what is right ----------------------------------------------

NUMBER = re.compile(r"(?<![\w.])-?\d+(?:,\d{3})*(?:/[1-9]\d*|\.\d+)?(?:e[+-]?\d+)?(?!\w|\.\d)")
EVALUATED = {  # told is what the answer leads to, in the question's own terms: from that nobody reads off what is right
    "02.4": "by how much a state grows", "06.1": "the kernel of these weights", "06.4": "the least norm on [0, a]",
}  # fmt: skip
PLANTED = {**WRONG, **wrong_answers.WRONG}
ASKS_NUMBERS = [
    one for one in EVERY if not isinstance(one, Prediction) and one.id not in EVALUATED | {"03.1": "any three will do"}
    and all(isinstance(part, Number) for part in (lambda a: a if isinstance(a, (tuple, set)) else (a,))(right(one)))
]  # fmt: skip


def numbers_in(text):
    return {float(Fraction(found.replace(",", ""))) for found in NUMBER.findall(text)}


def question(id):
    """The exercise's text in the chapter, and what its cell says."""
    number, n = id.split(".")
    found = [re.search(rf"^# \*\*Exercise {n}\*\* ★.*?^check\(", path.read_text(), re.MULTILINE | re.DOTALL) for path in sources(number)]
    return next(one[0] for one in found if one)


def leaks(exercise, wrong):
    """The numbers that a wrong answer is told and that stand neither in it nor in the question."""
    told = re.sub(r", of shape [(][\d, ]+[)]$", "", check(exercise.id, wrong).says)  # of the answer itself
    known = numbers_in(question(exercise.id)) | numbers_in(repr(wrong))
    return {one for one in numbers_in(told) if not any(math.isclose(one, other, rel_tol=1e-4) for other in known)}


@pytest.mark.parametrize("exercise", ASKS_NUMBERS, ids=lambda one: one.id)
def test_a_wrong_number_is_told_no_number_that_the_question_does_not_have(exercise):
    """Neither the right one nor one that leads to it: "5m of 2001 states" tells m as "401" does."""
    assert [(wrong, leaks(exercise, wrong)) for wrong in PLANTED[exercise.id] if leaks(exercise, wrong)] == []


@pytest.mark.parametrize("exercise", EVERY, ids=lambda one: one.id)
def test_no_wrong_answer_is_told_the_right_one(exercise):
    answer = right(exercise)
    texts = [str(answer), repr(answer)] if not callable(answer) else [told(exercise.id).solution]
    for wrong in PLANTED[exercise.id]:
        verdict = check(exercise.id, wrong)
        says = verdict.says.replace(repr(wrong), "") if verdict.outcome == NOT_YET else ""  # unjudged: a choice's names
        assert not any(len(text) > 1 and text in says for text in texts), verdict


def test_a_judge_that_gives_its_answer_away_is_seen(monkeypatch):
    one = next(one for one in ASKS_NUMBERS if one.id == "01.7")
    monkeypatch.setattr(ch01, "number", lambda answer: claim(False, f"right on {5 * answer} of 2001 states"))
    assert leaks(one, 400) == {2000.0, 2001.0}
    assert len(ASKS_NUMBERS) >= 15


def test_an_untouched_cell_is_told_what_to_do_and_every_chapter_s_is_untouched():
    for one in EVERY:
        verdict = check(one.id, None)
        assert verdict.outcome == UNTRIED and "put your answer where None stands" in verdict.says
        assert f'hint("{one.id}")' in verdict.says


@pytest.mark.parametrize("id", ["01.70", "99.1", "5", "", "../x", 1.5])
@pytest.mark.parametrize("ask", [lambda id: check(id, 1), hint, solution])
def test_an_unknown_exercise_is_one_clear_error(ask, id):
    with pytest.raises(ValueError, match="exercise"):
        ask(id)


def test_an_exercise_that_no_cell_checks_has_hints_and_a_solution():
    with pytest.raises(ValueError, match=r'no cell checks the exercise 01.8, but hint\("01.8"\)'):
        check("01.8", 1)
    assert hint("01.8", 2) == "When is this sum zero?" and solution("01.8").startswith("The letter permutes")


GOOD = "# Title\n\n## 01.1\n\n**Hint.** A.\n\n**Hint.** B,\nand more.\n\n**Solution.** C.\n\n```\n# code\n```\n"


def test_a_section_is_read():
    assert parsed(GOOD, "ch01.md") == {"01.1": Worked(("A.", "B,\nand more."), "C.\n\n```\n# code\n```")}
    asks = parsed("## 01.2\n\n**Question.** Q?\n\n**Hint.** A.\n\n**Solution.** C.", "ch01.md")["01.2"]
    assert asks == Worked(("A.",), "C.", "Q?")


@pytest.mark.parametrize("old, new", [
    ("**Solution.** C.", ""), ("**Hint.** A.\n\n**Hint.** B", "B"), ("**Hint.** A.", "**Hint.**"), ("A.", "A.\n\n**Solution.** C."),
    ("**Hint.** A.", "Loose.\n\n**Hint.** A."), ("**Hint.** B", "**Question.** B"), ("```\n# code\n```\n", "\n## 01.1\n"),
])  # fmt: skip
def test_a_section_of_another_form_is_one_clear_error(old, new):
    assert old in GOOD
    with pytest.raises(ValueError, match=r"^ch01.md, section 01.1: "):
        parsed(GOOD.replace(old, new), "ch01.md")


def chapter_cells(number):
    """The cells of a chapter: of its sitting, then of the lettered notebooks behind it."""
    return [cell for path in sources(number) for cell in read_source(path).cells]


@pytest.mark.parametrize("number", CHAPTERS)
def test_each_exercise_has_its_parts(number):
    """Header, a cell that asks where one can check it, hints and solution; in this order, and the next one after them."""
    text = "\n\n".join(cell.source for cell in chapter_cells(number))
    found = re.findall(r"^\*\*Exercise (\d+)|^(check|predict)\(\"(.*?)\"|^<!-- Exercise (.*?):", text, re.MULTILINE)
    asked = {one.id: "predict" if isinstance(one, Prediction) else "check" for one in exercises(number)}
    due = []
    for n in [n for n, *_ in found if n]:
        id = f"{number}.{n}"
        due += [(n, "", "", ""), *([("", asked[id], id, "")] if id in asked else []), ("", "", "", id)]
    assert found == due
    assert {f"{number}.{n}" for n, *_ in found if n} == {*worked(number)}
    assert len(HEADER.findall(text)) == len(worked(number)) == text.count("**Exercise ")


@pytest.mark.parametrize("number", CHAPTERS)
def test_a_chapter_holds_the_hints_and_solutions_of_its_file_and_lists_its_exercises(number):
    """Nobody edits the chapter's copies: lrnnlab book build writes them."""
    folds, listed = [], []
    for path in sources(number):
        texts = [cell.source for cell in read_source(path).cells if cell.cell_type == "markdown"]
        assert refolded(texts) == texts
        folds += [text for text in texts if "<details><summary>Solution" in text]
        for table in (text for text in texts if text.startswith(LISTED)):
            rows = re.findall(r"^\| (\d+) \| \[(.+)\]\(#(.+)\) \| ★+ \| \d+ \| (\d+) \|", table, re.MULTILINE)
            headings = re.findall(r"^## (.+)$", "\n\n".join(texts), re.MULTILINE)
            listed += [int(row[0]) for row in rows]
            assert all(title in headings and link == title.replace(" ", "-") for _, title, link, _ in rows)
            assert f" {sum(int(row[3]) for row in rows)} points, " in table
    assert sorted(folds) == sorted(map(folded, worked(number)))
    assert sorted(listed) == list(range(1, len(worked(number)) + 1))


def test_what_a_build_writes_is_written_anew():
    stale = folded("00.1").replace("Solution", "Answer")
    assert refolded([stale, "## 1 Text", LISTED])[:2] == [folded("00.1"), "## 1 Text"]
    assert "0 exercises" in refolded([LISTED])[0]


def test_only_predictions_have_a_question_and_their_panel_needs_no_markup():
    for one in EVERY:
        said = told(one.id)
        assert bool(said.question) == isinstance(one, Prediction), one.id
        assert not said.question or not set("`*") & set(said.question + said.solution), one.id


def test_your_own_code_reads_a_network_of_chapter_02_as_the_package_does(capsys):
    """The cell behind the three steps of "Build", run with their solutions, on a network that is right once snapped."""
    [cell] = [cell.source for cell in chapter_cells("02") if cell.source.startswith("if my_layer and ")]
    task = tasks.Sum(3)
    net = models.build("block_diagonal", vocab_size=3, classes=3, h=2, b=3, rule="softmax", drive="none",
                       start="first", head="linear")  # fmt: skip
    counts = torch.stack([torch.eye(3)[:, [(s + v) % 3 for s in range(3)]] for v in range(3)])  # (token, to, from)
    noise = torch.randn(3, 3, 2, 3, generator=torch.Generator().manual_seed(0))  # (token, to, head, from)
    raw = 8 * torch.stack([counts, torch.zeros_like(counts)], dim=2) + noise
    first, relu, last = net.layers[0].generator
    with torch.no_grad():  # the first head counts, the other does what it likes
        last.bias.zero_()
        last.weight.copy_((torch.linalg.pinv(relu(first(net.symbol_inputs()))) @ raw.flatten(1)).T)
        net.head[0].weight.copy_(torch.cat([10 * torch.eye(3), noise[0, :, 0]], dim=1))
    digits = torch.tensor([[2, 1, 1, 0, 2, 2, 0, 1]])
    snapped = models.snap(net)
    solved = {f"my_{name}": right(one) for name, one in zip(("layer", "answers", "search"), [
        one for one in exercises("02") if one.id in ("02.8", "02.9", "02.10")])}  # fmt: skip
    names = {
        **solved, "fits": {"softmax": SimpleNamespace(model=net)}, "head_tables": verification.head_tables(snapped),
        "verdict": verification.verify(snapped, task.specification), "torch": torch, "np": np, "digits": digits,
        "answered": net(digits).argmax(-1)[0].tolist(), "task": task,
    }  # fmt: skip
    exec(cell, names)
    assert capsys.readouterr().out.count("True") == 3
    names["task"] = tasks.EvenPair(3)
    exec(cell, names)
    assert "your search: False" in capsys.readouterr().out
