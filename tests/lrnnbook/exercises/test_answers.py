"""Every judge: passed by its solution in every style and kind of value, and by no planted answer, which is told why."""

import math
import re
from fractions import Fraction
from numbers import Number

import numpy as np
import pytest
import sympy as sp
import torch
from proof_cells import sources
from right_answers import RIGHT as SOLVED
from right_answers import right
from wrong_answers import OTHER_STYLE, WRONG

from lrnnbook.content.exercises import ch01, check
from lrnnbook.content.exercises.checking import exercises, told
from lrnnbook.content.exercises.judging import NOT_YET, RIGHT, UNJUDGED, UNTRIED
from lrnnbook.content.exercises.prediction import Prediction

EVERY = [one for chapter in range(11) for one in exercises(f"{chapter:02d}")]


def test_every_exercise_has_planted_answers():
    assert {one.id for one in EVERY} == WRONG.keys() and set(OTHER_STYLE) <= set(WRONG)


@pytest.mark.parametrize("exercise", EVERY, ids=lambda one: one.id)
def test_each_exercise_is_solved_by_its_solution_and_by_nothing_planted(exercise):
    for solved in (right(exercise), *OTHER_STYLE.get(exercise.id, ())):
        assert check(exercise.id, solved).outcome == RIGHT, solved
    assert len(WRONG[exercise.id]) >= 3
    for wrong in WRONG[exercise.id]:
        verdict = check(exercise.id, wrong)
        assert verdict.outcome in (NOT_YET, UNJUDGED), wrong
        assert verdict.says and "\n" not in repr(verdict) and "the test met" not in verdict.says, verdict


def is_numeric(value):
    """A number, or rows of numbers."""
    return isinstance(value, (Number, np.ndarray)) or (
        isinstance(value, (list, tuple)) and all(map(is_numeric, value)) and len({*map(np.shape, value)}) == 1)  # fmt: skip


def as_tensor(value):
    found = np.array(value)
    return torch.tensor(found.astype(float) if found.dtype == object else found)


def as_fraction(value):
    return Fraction(value) if isinstance(value, Number) else [as_fraction(one) for one in value]


KINDS = {
    "NumPy": np.array, "torch": as_tensor, "lists": lambda value: np.array(value).tolist(),
    "SymPy": lambda value: sp.sympify(value) if isinstance(value, Number) else [sp.sympify(one) for one in value],
    "fractions": as_fraction, "text": lambda value: str(float(value)),
}  # fmt: skip
NUMBERS = {id: answer for id, answer in SOLVED.items() if is_numeric(answer)}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("id", NUMBERS)
def test_a_right_number_is_right_in_every_kind(id, kind):
    answer = NUMBERS[id]
    single = isinstance(answer, Number)
    if (kind == "text" and not single) or (kind == "fractions" and id in ("00.4", "02.6")) or (id == "09.6" and kind == "SymPy"):
        pytest.skip("no such form")
    if kind == "SymPy" and not single and any(not isinstance(one, Number) for one in answer):
        pytest.skip("a matrix of SymPy is tried by hand")
    assert check(id, KINDS[kind](answer)).outcome == RIGHT


@pytest.mark.parametrize("kind", ["NumPy", "torch", "lists"])
@pytest.mark.parametrize("id", ["00.1", "02.1", "02.11", "03.2", "03.9", "04.8", "04.2", "04.6", "04.12", "05.3",
                                "05.8", "06.9", "06.2", "06.12", "06.14", "07.4", "09.7", "10.8"])
def test_what_a_right_function_returns_is_right_in_every_kind(id, kind):
    assert check(id, lambda *given: KINDS[kind](SOLVED[id](*given))).outcome == RIGHT


@pytest.mark.parametrize("id", ["00.4", "02.14", "03.1", "03.11", "04.5", "06.1", "06.7", "06.4", "06.13", "07.6", "08.13", "09.3", "09.6",
                                "10.10", "10.11"])  # fmt: skip
def test_a_wrong_shape_is_told_what_was_asked_and_what_came(id):
    verdict = check(id, [SOLVED[id]])
    assert verdict.outcome == UNJUDGED and re.search(r"numbers of shape \(.*got \[.*, of shape \(1, ", verdict.says), verdict


@pytest.mark.parametrize("id, answer, outcome, words", [
    ("00.1", lambda text: 5, NOT_YET, "gave 5, and should give [0]"),
    ("02.1", lambda goes: np.eye(len(goes[0]))[goes], NOT_YET, "token 0 sends state 0 to"),  # transposed
    ("02.11", lambda e, s: math.nan, NOT_YET, "nan is no number of tokens"),
    ("02.14", (3.5, 4, 5, 9), NOT_YET, "M = 6: a size is whole, got 3.5"),
    ("03.2", lambda s, f: (max(f[1] + s[0], s[1]), f[0] + s[0]), NOT_YET, "your pair (2, 4) leads to 4"),  # exchanged
    ("04.12", lambda t: 2**0.5 * np.exp(0.7j * t), UNJUDGED, "the input at t = 0 should be real numbers of shape (2,)"),
    ("05.10", [[1, 0], [1, 1]], NOT_YET, "the kernel is 0 at every lag"),
    ("06.14", lambda lam: math.log(1 / (1 - lam)), NOT_YET, "0.1386 steps earlier, not 0.2231"),
    ("09.11", lambda g, M: 0 if g == 1 else (1 - g**M) / (1 - g), NOT_YET, "g = 1: W_M - W_0 is 1 times W_1 - W_0, not 0"),
])  # fmt: skip
def test_a_wrong_answer_is_told_where_it_fails(id, answer, outcome, words):
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


NUMBER = re.compile(r"(?<![\w.])-?\d+(?:,\d{3})*(?:/[1-9]\d*|\.\d+)?(?:e[+-]?\d+)?(?!\w|\.\d)")
EVALUATED = {  # told is what the answer leads to, in the question's own terms: from that nobody reads off what is right
    "02.10": "by how much a state grows", "06.1": "the kernel of these weights", "06.3": "the least norm on [0, a]",
}  # fmt: skip
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
    known = numbers_in(question(exercise.id)) | numbers_in(f"{wrong!r} {wrong}")
    return {one for one in numbers_in(told) if not any(math.isclose(one, other, rel_tol=1e-4) for other in known)}


@pytest.mark.parametrize("exercise", ASKS_NUMBERS, ids=lambda one: one.id)
def test_a_wrong_number_is_told_no_number_that_the_question_does_not_have(exercise):
    """Neither the right one nor one that leads to it: "5m of 2001 states" tells m as "401" does."""
    assert [(wrong, leaks(exercise, wrong)) for wrong in WRONG[exercise.id] if leaks(exercise, wrong)] == []


@pytest.mark.parametrize("exercise", EVERY, ids=lambda one: one.id)
def test_no_wrong_answer_is_told_the_right_one(exercise):
    answer = right(exercise)
    texts = [str(answer), repr(answer)] if not callable(answer) else [told(exercise.id).solution]
    for wrong in WRONG[exercise.id]:
        verdict = check(exercise.id, wrong)
        says = verdict.says.replace(repr(wrong), "") if verdict.outcome == NOT_YET else ""  # unjudged: a choice's names
        assert not any(len(text) > 1 and text in says for text in texts), verdict


STEPS = {one.id: [int(n) for n in re.findall(r"^# (\d)\. ", question(one.id), re.MULTILINE)]
         for one in EVERY if not isinstance(one, Prediction) and "**Find the wrong step.**" in question(one.id)}  # fmt: skip


@pytest.mark.parametrize("id", STEPS)
def test_the_wrong_step_is_found_by_its_number_and_an_example(id):
    """A number alone is a guess; each right step is told its own reason; the solution's example is right, the cell's is not."""
    (wrong, example), steps = SOLVED[id], STEPS[id]
    assert steps == list(range(1, len(steps) + 1)) and len(steps) >= 3
    told_why = {step: check(id, (step, example)) for step in steps if step != wrong}
    assert all(one.outcome == NOT_YET and one.says.startswith(f"step {step} is right: ") for step, one in told_why.items())
    assert len({one.says.partition(": ")[2] for one in told_why.values()}) == len(steps) - 1
    for guess in (wrong, (wrong,), (wrong, None), (wrong, ...), (0, example), (len(steps) + 1, example), (wrong + 0.5, example), "ab"):
        assert check(id, guess).outcome in (NOT_YET, UNJUDGED)
    [shown] = re.findall(r"^Step \d, for example `(.+?)`[:,]", told(id).solution)
    assert check(id, eval(shown, {"math": math})).outcome == RIGHT
    [asked] = re.findall(r"for example (\(.+\))$", question(id), re.MULTILINE)
    assert check(id, eval(asked, {"math": math})).outcome == NOT_YET


def test_which_step_is_wrong_varies():
    assert len(STEPS) == 10 and {SOLVED[id][0] for id in STEPS} == {1, 2, 3, 4, 5}


def test_an_untouched_cell_is_told_what_to_do_and_every_chapter_s_is_untouched():
    for one in EVERY:
        verdict = check(one.id, None)
        assert verdict.outcome == UNTRIED and "put your answer where None stands" in verdict.says
        assert f'hint("{one.id}")' in verdict.says
