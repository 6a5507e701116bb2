"""Hints and solutions: read from a chapter's file, copied into the chapter, and right where they are code."""

import ast
import re

import numpy as np
import pytest
from proof_cells import sources

from lrnnbook.content.exercises import check, hint, solution
from lrnnbook.content.exercises.building import builds
from lrnnbook.content.exercises.checking import exercises
from lrnnbook.content.exercises.hints import HEADER, LISTED, folded, refolded, worked
from lrnnbook.content.exercises.judging import NOT_YET, RIGHT
from lrnnbook.content.exercises.prediction import Prediction
from lrnnbook.machinery.book.sync import read_source

ALL = [f"{chapter:02d}" for chapter in range(11)]
CHAPTERS = ("05", "06", "07", "08", "09", "10")


def test_an_exercise_that_no_cell_checks_has_hints_and_a_solution():
    with pytest.raises(ValueError, match=r'no cell checks the exercise 01.1, but hint\("01.1"\)'):
        check("01.1", 1)
    assert hint("01.5", 2) == "When is this sum zero?" and solution("01.5").startswith("Step 3, for example")


def chapter_cells(number):
    """The cells of a chapter: of its sitting, then of the lettered notebooks behind it."""
    return [cell for path in sources(number) for cell in read_source(path).cells]


@pytest.mark.parametrize("number", ALL)
def test_each_exercise_has_its_parts(number):
    """Header, a cell that asks where one can check it, hints and solution; in this order, and the next one after them."""
    text = "\n\n".join(cell.source for cell in chapter_cells(number))
    found = re.findall(r"^\*\*Exercise (\d+)|^(check|guess|%%build)(?:\(\"(.*?)\"| (\w+)$)|^<!-- Exercise (.*?):", text, re.MULTILINE)
    found = [(n, how, id or (builds()[name].exercise if name else ""), fold) for n, how, id, name, fold in found]
    asked = {one.id: "guess" if isinstance(one, Prediction) else "check" for one in exercises(number)}
    asked |= {one.exercise: "%%build" for one in builds(number).values()}
    due = []
    for n in [n for n, *_ in found if n]:
        id = f"{number}.{n}"
        due += [(n, "", "", ""), *([("", asked[id], id, "")] if id in asked else []), ("", "", "", id)]
    assert found == due
    assert {f"{number}.{n}" for n, *_ in found if n} == {*worked(number)}
    assert len(HEADER.findall(text)) == len(worked(number)) == text.count("**Exercise ")


@pytest.mark.parametrize("number", ALL)
def test_a_chapter_holds_the_hints_and_solutions_of_its_file_and_lists_its_exercises(number):
    """Nobody edits the chapter's copies: lrnnlab book build writes them."""
    folds, listed = [], []
    for path in sources(number):
        texts = [cell.source for cell in read_source(path).cells if cell.cell_type == "markdown"]
        assert refolded(texts) == texts
        folds += [text for text in texts if text.startswith("<!-- Exercise ")]
        for table in (text for text in texts if text.startswith(LISTED)):
            rows = re.findall(r"^\| (\d+) \| \[(.+)\]\(#(.+)\) \| ★+ \| \d+ \| (\d+) \|", table, re.MULTILINE)
            headings = re.findall(r"^## (.+)$", "\n\n".join(texts), re.MULTILINE)
            listed += [int(row[0]) for row in rows]
            assert all(title in headings and link == title.replace(" ", "-") for _, title, link, _ in rows)
            assert f" {sum(int(row[3]) for row in rows)} points, " in table
            solved = re.findall(r"<summary>Solution of (.+?)</summary>\n\n(.+?)\n\n</details>", table, re.DOTALL)
            assert dict(solved) == {f"{number}.{row[0]}": worked(number)[f"{number}.{row[0]}"].solution for row in rows}
    assert sorted(folds) == sorted(map(folded, worked(number))) and not any("Solution" in fold for fold in folds)
    assert sorted(listed) == list(range(1, len(worked(number)) + 1))


def source(chapter):
    return "\n\n".join(path.read_text(encoding="utf-8") for path in sources(chapter))


def names_of(chapter):
    """The chapter's imports, run."""
    kept = [node for node in ast.parse(source(chapter)).body if isinstance(node, (ast.Import, ast.ImportFrom))]
    names = {}
    exec(compile(ast.Module(kept, []), f"chapter {chapter}", "exec"), names)
    return names


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


def test_the_bug_that_a_reader_looks_for_is_one_and_one_line_mends_it():
    [shown] = re.findall(r"^def states_with_a_bug.+?\n\n", source("04"), re.MULTILINE | re.DOTALL)
    names = {"np": np}
    for code, outcome in ((shown, NOT_YET), (shown.replace("np.tile", "np.repeat"), RIGHT)):
        exec(code, names)
        assert check("04.8", names["states_with_a_bug"]).outcome == outcome
