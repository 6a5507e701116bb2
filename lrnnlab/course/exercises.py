"""check, hint and solution: an exercise that answers, in plain JupyterLab.

An exercise is bound by its id, a text such as ``"01.5"`` (chapter 01, exercise 5), never by its place in a notebook.
Those of chapter 01 live in ``lrnnlab.chapters.ch01``, and so on.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from lrnnlab.course.judging import UNTRIED, Verdict, judge


@dataclass(frozen=True)
class Exercise:
    """One exercise that can be checked.

    Parameters
    ----------
    id : str
        Chapter and number, such as ``"02.8"``.
    stars, minutes : int
        How hard it is and how long it takes, as the chapter's text says.
    teaches : str
        What is learned, as the chapter's text says.
    test : callable
        Raises NotYet or CannotJudge for a wrong answer (see :mod:`lrnnlab.course.judging`).
    hints : tuple of str
        From faint to strong.
    solution : str
        Explained, Markdown.
    answer : callable
        Makes an answer that is right.
    """

    id: str
    stars: int
    minutes: int
    teaches: str
    test: Callable[[Any], None]
    hints: tuple[str, ...]
    solution: str
    answer: Callable[[], Any]


class Text(str):
    """A text that a notebook shows as Markdown, and everything else as it is."""

    def _repr_markdown_(self) -> str:
        return str(self)

    def __repr__(self) -> str:
        return str(self)


def check(id: str, answer: Any) -> Verdict:
    """Right, not yet (with the input that shows it), or cannot be judged (and why).  ValueError for an unknown id.

    >>> check("01.5", 400)
    not yet: 400 pieces are too few: some string of 500 digits leads to a state that none of them is right on
    >>> check("01.5", 401), check("01.5", "many")
    (right, cannot be judged: the answer should be one number, got 'many')
    >>> check("01.5", None)
    not tried yet: put your answer where None stands and run the cell again; hint("01.5") gives you a start
    """
    exercise = find(id)
    if answer is None:
        how = "put your answer where None stands and run the cell again"
        return Verdict(UNTRIED, f'{how}; hint("{id}") gives you a start' if exercise.hints else how)
    return judge(lambda: exercise.test(answer))


def hint(id: str, n: int = 1) -> Text:
    """The n-th hint, from 1; after the last there is the solution.

    >>> hint("01.6")
    Look at (abab)* in the table of killer words.
    >>> hint("01.6", 3)
    Traceback (most recent call last):
    ValueError: 01.6 has 2 hints, got n=3; then there is solution("01.6")
    """
    hints = find(id).hints
    if not 1 <= n <= len(hints):
        count = f"{len(hints)} hint{'s' * (len(hints) != 1)}"
        raise ValueError(f'{id} has {count}, got n={n}; then there is solution("{id}")')
    return Text(hints[n - 1])


def solution(id: str) -> Text:
    """The worked solution.

    >>> solution("01.9").startswith("Two.")
    True
    """
    return Text(find(id).solution)


def exercises(chapter: str) -> tuple[Exercise, ...]:
    """The exercises of a chapter that can be checked.  ValueError where there are none.

    >>> [exercise.id for exercise in exercises("01")]
    ['01.4', '01.5', '01.6', '01.8', '01.9', '01.12', '01.13']
    """
    name = f"lrnnlab.chapters.ch{chapter}"
    if not chapter.isalnum() or importlib.util.find_spec(name) is None:
        raise ValueError(f"no chapter {chapter!r} has exercises to check; ids look like '01.5'")
    return importlib.import_module(name).EXERCISES


def find(id: str) -> Exercise:
    """An exercise by its id."""
    there = exercises(str(id).partition(".")[0])
    found = [exercise for exercise in there if exercise.id == id]
    if not found:
        raise ValueError(f"there is no exercise {id!r} to check; there are {', '.join(one.id for one in there)}")
    return found[0]
