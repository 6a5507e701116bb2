"""The minutes that chapters and exercises say: counted, and not older than what they count."""

import re
from pathlib import Path

import jupytext
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell

from lrnnbook.content.exercises.hints import HEADER
from lrnnbook.machinery.book.reading_time import exercising, reading, timed
from lrnnbook.machinery.copies import chapters_in

NOTEBOOKS = Path(__file__).parents[3] / "notebooks"
CHAPTERS = {path.stem.partition("_")[0]: jupytext.read(path).cells for path in chapters_in(NOTEBOOKS / "py", ".py") if path.stem[0].isdigit()}
EXERCISES = {f"{chapter[:2]}.{found['number']}": int(found["minutes"]) for chapter, cells in CHAPTERS.items()
             for cell in cells for found in HEADER.finditer(cell.source)}  # fmt: skip


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_a_chapter_says_what_is_counted(chapter):
    cells = CHAPTERS[chapter]
    read, exercises = reading(cells), exercising(cells)
    assert [timed(cell.source, read, exercises) for cell in cells] == [cell.source for cell in cells]
    assert sum(timed(cell.source, read + 5, exercises) != cell.source for cell in cells) == 1
    assert sum(timed(cell.source, read, exercises + 5) != cell.source for cell in cells) == 1


@pytest.mark.parametrize("read, exercises, told", [
    (45, 80, "45 min to read and 1 h 20 min for the exercises"), (60, 5, "1 h to read and 5 min for the exercises"),
    (10, 0, "10 min to read"),
])  # fmt: skip
@pytest.mark.parametrize("before", ["5 min to read", "1 h 5 min\nto read and 1 h for\nthe exercises", "2 h to read and 5 min for the exercises"])
def test_a_head_says_reading_and_exercises(read, exercises, told, before):
    assert timed(f"*It takes* about {before}, and a minute.", read, exercises) == f"*It takes* about {told}, and a minute."


def test_exercises_take_steps_of_five_minutes():
    assert not {id: minutes for id, minutes in EXERCISES.items() if minutes % 5}


def test_what_is_folded_and_what_exercises_ask_does_not_count():
    cells = [new_markdown_cell("word " * 1200), new_code_cell("a = 1\n" * 60)]
    header = "**Exercise 1** ★ *(5 min, 3 points: to count)* "
    folded = new_code_cell("b = 1\n" * 600, metadata={"tags": ["hide-input"]})
    asked = [new_markdown_cell(header + "word " * 900), new_code_cell("x = None\n" * 600 + 'check("00.1", x)')]
    assert reading(cells) == reading([*cells, folded, *asked]) == 15
    assert (exercising(cells), exercising([*cells, *asked, *asked])) == (0, 10)
    assert reading([new_markdown_cell("word " * 600 + "\n\n" + header + "word " * 900)]) == 5
    assert reading([*cells, *cells]) == 30


def test_teaching_says_how_long_each_chapter_takes():
    row = r"^\| (\d\d) [^|]+\|[^|]+\|[^|]+\|([^|]+)\|([^|]+)\|$"
    told = (NOTEBOOKS / "TEACHING.md").read_text(encoding="utf-8").partition("## What each chapter needs")[2]
    table = re.findall(row, told.partition("\n## ")[0], re.MULTILINE)
    assert [chapter for chapter, *_ in table] == [chapter for chapter in CHAPTERS if len(chapter) == 2]
    for chapter, read, exercise in table:
        (head,) = re.findall(r"\*It takes\* about ([\d hmin]+) to\s", "\n".join(cell.source for cell in CHAPTERS[chapter]))
        assert read.strip() == head, f"chapter {chapter} says {head} in its head"
        hours, minutes = map(int, re.fullmatch(r"\s*(?:(\d+) h)?\s*(?:(\d+) min)?\s*", exercise).groups(0))
        worked, exercises = 60 * hours + minutes, sum(EXERCISES[id] for id in EXERCISES if id[:2] == chapter)
        assert abs(worked - exercises) <= 0.15 * worked, f"exercises of {chapter}: {exercises} min"


def test_an_hour_names_exercises_of_its_chapters():
    """By what they teach, each in a chapter of the hour or in the notebook that is named after it."""
    taught = {" ".join(found["teaches"].split()): chapter for chapter, cells in CHAPTERS.items()
              for cell in cells for found in HEADER.finditer(cell.source)}  # fmt: skip
    hours = (NOTEBOOKS / "TEACHING_HOURS.md").read_text(encoding="utf-8").split("\n## Hour ")[1:]
    assert len(hours) == 6
    for hour in hours:
        title, _, text = hour.partition("\n")
        named = re.findall(r"(?<!\*)\*(to [^*]+)\*(?!\*)(?:\s\((\d\d\w?))?", text)
        assert len(named) >= 4
        for what, where in named:
            chapter = taught[" ".join(what.split())]
            assert chapter == where or (not where and chapter in re.findall(r"\d\d", title.partition("(")[2])), what


def test_a_week_of_the_plan_adds_up():
    text = (NOTEBOOKS / "TEACHING.md").read_text(encoding="utf-8")
    weeks = re.findall(r"^\| \d \[.*?\| (\d) h \| (\d) h: .*?\| ([\d.]+) h \| ([\d.]+) h \| `(ps\d)`", text, re.MULTILINE)
    said = {"an hour": 1, "an hour and a half": 1.5, "two hours": 2}
    for together, alone, hours, whole, name in weeks:
        (source,) = (NOTEBOOKS / "assignments").glob(f"{name}_*.py")
        head = source.read_text(encoding="utf-8").partition("# %% nbgrader")[0]
        (own,) = re.findall(f"about ({'|'.join(sorted(said, reverse=True))})", head)
        assert float(hours) == said[own] and float(whole) == float(together) + float(alone) + float(hours), name
    sums = [sum(float(whole) for *_, whole, _ in weeks[:count]) for count in (4, 6)]
    assert re.findall(r"Four weeks are ([\d.]+) hours of a student's time, six are ([\d.]+)\.", text) == [tuple(f"{hours:g}" for hours in sums)]
