"""The minutes that chapters and exercises say: counted, and not older than what they count."""

import re
from pathlib import Path

import jupytext
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell

from workbook.book.reading_time import reading, timed
from workbook.exercises.hints import HEADER

NOTEBOOKS = Path(__file__).parents[3] / "notebooks"
CHAPTERS = {path.stem.partition("_")[0]: jupytext.read(path).cells for path in sorted((NOTEBOOKS / "py").glob("[0-9]*.py"))}
EXERCISES = {f"{chapter[:2]}.{found['number']}": int(found["minutes"]) for chapter, cells in CHAPTERS.items()
             for cell in cells for found in HEADER.finditer(cell.source)}  # fmt: skip
# Exercises worked through from the chapter's text alone, without hints and solutions: passages gone back to (beside the
# one just above), lines of code or of argument written, answers that were judged wrong.
WORKED = {
    "01.9": (1, 2, 0), "01.11": (1, 2, 0), "01.12": (1, 2, 0), "01.13": (0, 3, 0), "01.15": (1, 4, 0),
    "02.6": (0, 2, 0), "02.7": (1, 6, 0), "02.8": (0, 2, 0), "02.9": (0, 5, 0), "02.10": (1, 11, 0),
    "03.2": (1, 3, 0), "03.3": (0, 1, 0), "03.4": (0, 3, 0), "03.5": (0, 3, 0), "03.6": (1, 2, 1), "03.7": (0, 2, 0),
    "03.10": (1, 6, 0), "04.1": (1, 2, 0), "04.2": (1, 2, 0), "04.4": (0, 2, 0), "04.6": (1, 4, 0), "04.7": (0, 2, 0),
    "04.8": (1, 2, 0), "04.9": (0, 2, 0), "04.11": (1, 2, 0), "05.1": (0, 2, 0), "05.2": (1, 2, 0), "05.3": (0, 6, 0),
    "05.4": (0, 2, 0), "05.5": (1, 2, 0), "05.6": (0, 5, 0), "05.7": (1, 6, 0), "05.10": (0, 3, 0), "05.14": (0, 3, 0),
    "06.1": (1, 3, 1), "06.2": (1, 5, 0), "06.3": (0, 5, 0), "06.4": (1, 1, 0), "06.6": (1, 6, 0), "06.11": (0, 2, 0),
    "06.12": (1, 4, 0), "06.13": (1, 3, 0), "07.2": (1, 2, 0), "07.3": (1, 4, 0), "07.4": (0, 1, 0), "07.5": (0, 1, 0),
    "07.6": (1, 1, 0), "07.7": (0, 1, 0), "07.9": (0, 2, 0), "08.2": (0, 1, 1), "08.3": (1, 6, 0), "08.4": (1, 4, 0),
    "08.5": (0, 2, 0), "08.8": (0, 3, 0), "08.9": (0, 6, 0), "08.10": (0, 2, 0), "08.11": (0, 7, 0), "08.12": (1, 5, 0),
    "08.15": (1, 1, 1), "09.1": (0, 2, 0), "09.2": (0, 5, 0), "09.3": (1, 5, 0), "09.4": (1, 2, 1), "09.5": (1, 2, 0),
    "09.7": (1, 2, 0), "09.9": (0, 5, 0), "09.11": (0, 2, 0), "10.1": (0, 5, 0), "10.2": (1, 3, 0), "10.3": (0, 1, 0),
    "10.5": (1, 2, 0), "10.6": (1, 4, 0), "10.7": (1, 3, 1), "10.8": (0, 3, 0), "10.9": (0, 2, 0),
}  # fmt: skip


def by_rule(passages, lines, failed):
    """TEACHING.md's rule: two minutes, two a passage, two a line, five a failed try; in steps of five."""
    return max(5, 5 * round((2 + 2 * passages + 2 * lines + 5 * failed) / 5))


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_a_chapter_says_what_is_counted(chapter):
    cells = CHAPTERS[chapter]
    minutes = reading(cells)
    assert [timed(cell.source, minutes) for cell in cells] == [cell.source for cell in cells]
    assert sum(timed(cell.source, minutes + 5) != cell.source for cell in cells) == 1


def test_what_is_folded_and_what_exercises_ask_does_not_count():
    cells = [new_markdown_cell("word " * 1200), new_code_cell("a = 1\n" * 60)]
    header = "**Exercise 1** ★ *(5 min, 3 points: to count)* "
    folded = new_code_cell("b = 1\n" * 600, metadata={"tags": ["hide-input"]})
    asked = [new_markdown_cell(header + "word " * 900), new_code_cell("x = None\n" * 600 + 'check("00.1", x)')]
    assert reading(cells) == reading([*cells, folded, *asked]) == 15
    assert reading([new_markdown_cell("word " * 600 + "\n\n" + header + "word " * 900)]) == 5
    assert reading([*cells, *cells]) == 30


def test_teaching_says_how_long_each_chapter_takes():
    row = r"^\| (\d\d) [^|]+\|[^|]+\|[^|]+\|([^|]+)\|([^|]+)\|$"
    told = (NOTEBOOKS / "TEACHING.md").read_text(encoding="utf-8").partition("## What each chapter needs")[2]
    table = re.findall(row, told.partition("\n## ")[0], re.MULTILINE)
    assert [chapter for chapter, *_ in table] == [chapter for chapter in CHAPTERS if len(chapter) == 2]
    for chapter, read, exercise in table:
        (head,) = re.findall(r"\*It takes\* about ([\d hmin]+) to\s", "\n".join(cell.source for cell in CHAPTERS[chapter][:6]))
        assert read.strip() == head, f"chapter {chapter} says {head} in its head"
        hours, minutes = map(int, re.fullmatch(r"\s*(?:(\d+) h)?\s*(?:(\d+) min)?\s*", exercise).groups(0))
        worked, exercises = 60 * hours + minutes, sum(EXERCISES[id] for id in EXERCISES if id[:2] == chapter)
        assert abs(worked - exercises) <= 0.15 * worked, f"exercises of {chapter}: {exercises} min"


def test_the_minutes_of_exercises_follow_the_rule():
    off = {id: (EXERCISES[id], by_rule(*done)) for id, done in WORKED.items()
           if not 2 / 3 <= EXERCISES[id] / by_rule(*done) <= 3 / 2}  # fmt: skip
    assert not off, "says, and by the rule"
    assert len(WORKED) >= 30 and {id[:2] for id in WORKED} == {chapter[:2] for chapter in CHAPTERS} - {"00"}
