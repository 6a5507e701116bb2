"""The exercises of chapters 05 to 10 that came later: planted answers, kinds, predictions."""

import ast
import re
from pathlib import Path

import numpy as np
import pytest
from proof_cells import sources
from right_answers import right
from wrong_answers import OTHER_STYLE, WRONG

from workbook.exercises import ch09, check, predict
from workbook.exercises.checking import exercises
from workbook.exercises.hints import worked
from workbook.exercises.judging import NOT_YET, RIGHT, UNJUDGED
from workbook.exercises.prediction import Prediction

NOTEBOOKS = Path(__file__).parents[3] / "notebooks" / "py"
CHAPTERS = ("05", "06", "07", "08", "09", "10")
KINDS = {"A proof step", "Code", "Predict", "Break the hypothesis"}
LATER = [one for name in CHAPTERS for one in exercises(name) if one.id in WRONG]


def test_all_that_chapters_07_to_10_ask_is_here():
    assert {one.id for name in ("07", "08", "09", "10") for one in exercises(name)} <= WRONG.keys()
    assert len(LATER) == len(WRONG) == len(OTHER_STYLE)


@pytest.mark.parametrize("exercise", LATER, ids=lambda one: one.id)
def test_each_is_solved_by_its_solution_and_by_nothing_planted(exercise):
    assert OTHER_STYLE[exercise.id] or isinstance(exercise, Prediction)  # a text has no other style
    for answer in (right(exercise), *OTHER_STYLE[exercise.id]):
        assert check(exercise.id, answer).outcome == RIGHT, answer
    assert len(WRONG[exercise.id]) >= 3
    said = [check(exercise.id, wrong) for wrong in WRONG[exercise.id]]
    assert {one.outcome for one in said} <= {NOT_YET, UNJUDGED}, said
    assert sum(one.outcome == NOT_YET for one in said) >= 2
    assert all(one.says and "\n" not in repr(one) for one in said)


def test_a_judge_that_is_broken_is_seen(monkeypatch):
    """With another truth in it the judge of 09.8 takes a planted answer and refuses the right one."""
    monkeypatch.setattr(ch09, "ENOUGH_ONES", 310)
    assert check("09.8", WRONG["09.8"][0]).outcome == RIGHT
    assert check("09.8", 618).outcome == NOT_YET


# --- the chapters' text ----------------------------------------------------------------------------------------------


def source(chapter):
    return "\n\n".join(path.read_text(encoding="utf-8") for path in sources(chapter))


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_each_chapter_asks_for_every_kind_of_answer(chapter):
    asked = source(chapter).replace("\n# ", " ")
    kinds = re.findall(r"\*\*Exercise \d+\*\* ★+ \*\([^*]+\)\* +\*\*([^*]+)\*\*", asked)
    assert {kind.strip(".") for kind in kinds} >= KINDS


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_every_exercise_is_asked_by_a_cell(chapter):
    asked = re.findall(r'^(check|predict)\("(.+?)",', source(chapter), re.MULTILINE)
    assert asked == [("predict" if isinstance(one, Prediction) else "check", one.id) for one in exercises(chapter)]


def names_of(chapter, *wanted):
    """The chapter's imports, and those functions and values of it, run."""
    tree = ast.parse(source(chapter))
    kept = [node for node in tree.body if isinstance(node, (ast.Import, ast.ImportFrom))
            or getattr(node, "name", None) in wanted
            or (isinstance(node, ast.Assign) and getattr(node.targets[0], "id", None) in wanted)]  # fmt: skip
    names = {}
    exec(compile(ast.Module(kept, []), f"chapter {chapter}", "exec"), names)
    return names


@pytest.mark.parametrize("id, wanted", [("05.12", ("outputs_learned", "train", "flat")), ("06.10", ("worst_fit",)),
                                        ("09.10", ("kept_alive",))])  # fmt: skip
def test_predictions_come_out_as_they_are_explained(id, wanted):
    """(08.13 needs the net that its chapter trains for eight seconds.)"""
    asked = predict(id, names_of(id[:2], *wanted)[wanted[0]])
    asked.choice.value = due(id)
    asked.commit()
    assert asked.came == due(id)
    assert "right" in asked.says.value


def due(id):
    return right(next(one for one in exercises(id[:2]) if one.id == id))


def written_solutions():
    """(id, code) of the solutions that begin with a lambda or hold a function my_..."""
    for chapter in CHAPTERS:
        for id, one in worked(chapter).items():
            for code in re.findall(r"^`(lambda .+?)`|^```\n(def my_.+?)^```", one.solution, re.MULTILINE | re.DOTALL):
                yield pytest.param(id, "".join(code), id=id)


@pytest.mark.parametrize("id, code", list(written_solutions()))
def test_a_solution_that_is_code_is_right_with_what_the_chapter_imports(id, code):
    """And with the functions of the exercises before it, as the steps of a build are."""
    names = names_of(id[:2])
    for earlier in written_solutions():
        if earlier.id == id:
            break
        if earlier.id[:2] == id[:2] and earlier.values[1].startswith("def"):
            exec(earlier.values[1], names)
    exec(code if code.startswith("def") else f"my_answer = {code}", names)
    assert check(id, next(value for name, value in reversed(names.items()) if name.startswith("my_"))).outcome == RIGHT


def test_what_is_built_in_three_steps_gives_what_the_package_gives(capsys):
    names = {"my_kernel": None, "my_convolution": None, "my_fit": None, **names_of("05")}
    after = re.search(r"^if None not in \(my_kernel.+?(?=^# %%)", source("05"), re.MULTILINE | re.DOTALL)[0]
    exec(after, names)
    assert capsys.readouterr().out == ""
    for name, id in zip(("my_kernel", "my_convolution", "my_fit"), ("05.4", "05.5", "05.6")):
        names[name] = due(id)
    exec(after, names)
    layer, circle, half = capsys.readouterr().out.splitlines()
    assert layer.endswith("True") and circle.endswith("0.71, 0.71, 0.71, 0.77, 0.75") and half.count("0.00") == 5
    names["my_fit"] = WRONG["05.6"][0]
    with pytest.raises(AssertionError):
        exec(after, names)


def test_the_bug_that_a_reader_looks_for_is_one_and_one_line_mends_it():
    [shown] = re.findall(r"^def states_with_a_bug.+?\n\n", source("04"), re.MULTILINE | re.DOTALL)
    names = {"np": np}
    for code, outcome in ((shown, NOT_YET), (shown.replace("np.tile", "np.repeat"), RIGHT)):
        exec(code, names)
        assert check("04.1", names["states_with_a_bug"]).outcome == outcome
