"""check, hint and solution: an exercise that answers, in plain JupyterLab.

An exercise is bound by its id, a text such as ``"01.10"`` (chapter 01, exercise 10), never by its place in a notebook.
Its hints and its solution are in ``ch01.md``; where a cell can check it, its judge is in ``ch01.py`` beside that.
"""

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from lrnnbook.content.exercises.building import builds
from lrnnbook.content.exercises.hints import Text, Worked, worked
from lrnnbook.content.exercises.judging import UNTRIED, Verdict, judge
from lrnnbook.content.exercises.progress import note


@dataclass(frozen=True)
class Exercise:
    """One exercise that can be checked: its id, and a judge (see :mod:`lrnnbook.content.exercises.judging`)."""

    id: str
    test: Callable[[Any], None]


def check(id: str, answer: Any) -> Verdict:
    """Right, not yet (with the input that shows it), or cannot be judged (and why).  ValueError for an unknown id.

    In a working copy of the chapters the outcome is written down: :mod:`lrnnbook.content.exercises.progress`.

    >>> check("01.10", 1000)
    not yet: 1000 pieces are enough, but fewer are as well
    >>> check("01.10", 800), check("01.10", "many")
    (right, cannot be judged: the answer should be one number, got 'many')
    >>> check("01.10", None)
    not tried yet: put your answer where None stands and run the cell again; hint("01.10") gives you a start
    """
    exercise = find(id)
    if answer is None:
        start = f'put your answer where None stands and run the cell again; hint("{id}") gives you a start'
        verdict = Verdict(UNTRIED, start)
    else:
        verdict = judge(lambda: exercise.test(answer))
    if said := note(id, verdict.outcome):
        print(said)
    return verdict


def hint(id: str, n: int = 1) -> Text:
    """The n-th hint, from 1; after the last there is the solution.

    >>> hint("01.6")
    One letter each for $u$ and $v$ leaves two for $w$. Which $w$ contain both letters?
    >>> hint("01.6", 3)
    Traceback (most recent call last):
    ValueError: 01.6 has 2 hints, got n=3; then there is solution("01.6")
    """
    hints = told(id).hints
    if not 1 <= n <= len(hints):
        count = f"{len(hints)} hint{'s' * (len(hints) != 1)}"
        raise ValueError(f'{id} has {count}, got n={n}; then there is solution("{id}")')
    return Text(hints[n - 1])


def solution(id: str) -> Text:
    """The worked solution.

    >>> solution("01.12").startswith("Two.")
    True
    """
    return Text(told(id).solution)


def told(id: str) -> Worked:
    """Hints and solution of an exercise, whether a cell can check it or not.  ValueError for an unknown id."""
    there = worked(str(id).partition(".")[0])
    if id not in there:
        raise ValueError(f"there is no exercise {id!r}; there are {', '.join(there)}")
    return there[id]


def exercises(chapter: str) -> tuple[Exercise, ...]:
    """The exercises of a chapter that can be checked: predictions, and pairs of id and judge."""
    there = importlib.import_module(f"lrnnbook.content.exercises.ch{chapter}").EXERCISES
    return tuple(Exercise(*one) if isinstance(one, tuple) else one for one in there)


def find(id: str) -> Exercise:
    """An exercise that can be checked, by its id."""
    told(id)
    chapter = id.partition(".")[0]
    there = {exercise.id: exercise for exercise in exercises(chapter)}
    there |= {one.exercise: Exercise(one.exercise, one.contract) for one in builds(chapter).values()}
    if id not in there:
        raise ValueError(f'no cell checks the exercise {id}, but hint("{id}") and solution("{id}") are there; checked are '
                         + ", ".join(there))  # fmt: skip
    return there[id]
