"""Grade submissions: students' functions run in a fenced process, their tests in another, and only values pass.

For each submission the locked set-up, then what the visible tests define (an answer may use that) and then all of the
student's cells run, in their order, in a fresh process (:mod:`workbook.grading.sandboxed_process`).  Test cells come from the
*source*, whatever the submission holds in their place; they run here, where each function of the student's is a
stand-in that asks the student's process.  So a submission cannot see a hidden test, change a checker, or report a mark;
and what is deleted, doubled or split in it does not matter, as long as the function is there at the end.

A cell or a call that takes too long or ends its process costs what depends on it and nothing else: a new process takes
over without it.
"""

from __future__ import annotations

import difflib
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from types import CodeType

import nbformat

from workbook.exercises.judging import RIGHT, UNJUDGED, AnyError, CannotJudge, Verdict, judge, raised, shown
from workbook.grading import serialization as wire
from workbook.grading.fence import Fence
from workbook.grading.notebook_parser import digest
from workbook.grading.sandboxed_process import Gone, Process
from workbook.grading.sets import ProblemSet, Task
from workbook.grading.submissions import Code, Notebook, Submission, Unreadable, digested, doubled, read

RESTARTS = 12  # new processes for one submission


@dataclass(frozen=True)
class Part:
    """One test cell's result: points got and possible."""

    id: str
    points: int
    possible: int
    verdict: Verdict


@dataclass(frozen=True)
class Report:
    """One student's result; ``notes`` are about the notebook as a whole."""

    student: str
    parts: tuple[Part, ...]
    notes: tuple[str, ...] = ()
    problem: str = ""

    @property
    def points(self) -> int:
        return sum(part.points for part in self.parts)

    @property
    def possible(self) -> int:
        return sum(part.possible for part in self.parts)


class Sitting:
    """One submission's process, and the next one where it ends."""

    def __init__(self, notebook: Notebook, setup: str, helpers: tuple[str, ...], fence: Fence) -> None:
        self.notebook, self.setup, self.helpers, self.fence = notebook, setup, helpers, fence
        self.process: Process | None = None
        self.faults: dict[int, str] = {}  # cell, 0 for the set-up -> what it raised
        self.skipped: set[int] = set()  # cells that ended the process
        self.dead: dict[str, str] = {}  # functions that did
        self.functions: list[str] = []
        self.left, self.until = RESTARTS, time.monotonic() + fence.limits.whole
        self.computed = 0.0  # seconds of computing time of the processes that have ended
        self.over = ""

    def start(self) -> None:
        """Run the cells, in a new process whenever one ends it; at the end ``process`` is ready, or ``over``."""
        while self.process is None and not self.exhausted():
            self.left -= 1
            limits = self.fence.limits
            process = Process(replace(self.fence, limits=replace(limits, total=int(limits.total - self.computed) + 1)))
            number = 0
            try:
                reply = process.ask({"cell": self.setup})
                if "error" in reply:
                    self.faults[0] = reply["error"]
                for helper in self.helpers:
                    process.ask({"cell": helper})
                for cell in self._to_run():
                    number = cell.number
                    reply = process.ask({"cell": cell.source, "number": number})
                    if "error" in reply:
                        self.faults[number] = reply["error"]
                number = 0
                self.functions = process.ask({"names": True}).get("functions", [])
                self.process = process
            except Gone as gone:
                self.computed += process.computed
                self.faults[number] = str(gone)
                self.skipped.add(number)
            finally:
                if self.process is None:
                    process.close()

    def exhausted(self) -> str:
        """Why no more is asked of this notebook, or nothing."""
        limits = self.fence.limits
        if self.computed + (self.process.computed if self.process else 0) > limits.total:
            self.over = self.over or f"the notebook as a whole used more than {limits.total} seconds of computing time"
        elif time.monotonic() > self.until:
            self.over = self.over or f"the notebook as a whole took more than {limits.whole:g} seconds by the clock"
        elif self.process is None and self.left <= 0:
            self.over = self.over or "the notebook ended its process again and again"
        return self.over

    def _to_run(self) -> list[Code]:
        return [cell for cell in self.notebook.cells if not cell.is_test and cell.number not in self.skipped]

    def call(self, name: str, arguments: tuple, named: dict | None = None) -> object:
        """Ask the student's function; CannotJudge says why there is no answer."""
        if name in self.dead:
            raise CannotJudge(self.dead[name])
        if self.process is None:
            self.start()
        if self.exhausted():
            raise CannotJudge(self.over)
        if name not in self.functions:
            raise CannotJudge(self.missing(name))
        named = named or {}
        said = f"{name}({', '.join([*map(shown, arguments), *(f'{key}={shown(value)}' for key, value in named.items())])})"
        question = {"call": name, "arguments": [wire.encode(argument) for argument in arguments],
                    "named": {key: wire.encode(value) for key, value in named.items()}}  # fmt: skip
        try:
            reply = self.process.ask(question)
        except Gone as gone:
            self.close()
            self.dead[name] = f"{name} was called before and {gone}"  # without arguments: they may be a hidden test's
            raise CannotJudge(f"{said} {gone}") from None
        if "error" in reply:
            undone = reply.get("kind") == "NotImplementedError"
            raise CannotJudge("not attempted" if undone else f"{said} raised {reply['error']}"[:400])
        try:
            return wire.decode(reply.get("value"))
        except ValueError as error:
            raise CannotJudge(f"{said} sent the grader what is no answer: {str(error)[:100]}") from None

    def begin(self) -> None:
        """Make names for visible tests in the student's process: the set-up's, the helpers', and the answers by the wire."""
        self._ask({"begin": [self.setup, *self.helpers], "functions": self.notebook.answers})

    def test(self, cell: Code) -> dict:
        """Run a visible test in the student's process; the reply says what it raised."""
        return self._ask({"cell": cell.source, "number": cell.number, "test": True})

    def _ask(self, question: dict) -> dict:
        try:
            return self.process.ask(question)
        except Gone as gone:
            self.close()
            return {"error": str(gone)}

    def missing(self, name: str) -> str:
        """There is no such function: what may have happened?"""
        text = f"there is no function {name!r} when all cells have run"
        near = difflib.get_close_matches(name, [one for one in self.functions if one not in self.setup], 1)
        cells = {cell.number: cell for cell in self.notebook.cells if f"def {name}" in cell.source}
        if cells and all(cell.is_test for cell in cells.values()):
            return f"{text}: it stands in cell {min(cells)}, which is a test and is replaced. Put it into a cell of its own"
        number = min(cells, default=None)
        if number in self.faults:
            return f"{text}: cell {number}, where it stands, failed: {self.faults[number]}"
        return f"{text}; there is {near[0]!r}: was it renamed?" if near else f"{text}: was its cell deleted?"

    def close(self) -> None:
        """End the process."""
        if self.process is not None:
            self.process.close()
            self.computed += self.process.computed
            self.process = None


def rehearse(problem_set: ProblemSet, fence: Fence) -> None:
    """Grade the source's own solutions.  ValueError where they do not get all points, so that no class would."""
    try:
        _names(problem_set)
    except AnyError as error:
        raise ValueError(f"the set-up of {problem_set.name} fails: {raised(error)}") from error
    solved = digested(digest(nbformat.writes(problem_set.notebook).encode()))
    sitting = Sitting(solved, problem_set.setup, problem_set.helpers, fence)
    try:
        sitting.start()
        if sitting.process is None:
            raise ValueError(f"nothing can be graded: {sitting.faults.get(0) or sitting.over}")
        if 0 in sitting.faults:
            raise ValueError(f"the set-up of {problem_set.name} fails in the students' process: {sitting.faults[0]}")
        for part in _graded(problem_set, sitting):
            if part.points < part.possible:
                raise ValueError(f"the source's own answers get {part.points} of {part.possible} points in {part.id}: "
                                 f"{part.verdict.says}")  # fmt: skip
    except RuntimeError as error:
        raise ValueError(f"nothing can be graded: {error}") from error
    finally:
        sitting.close()


def grade(submission: Submission, problem_set: ProblemSet, fence: Fence) -> Report:
    """Grade one submission.  Never raises for what a student did.

    >>> grade(students(folder, "ps1")[0], load(find("ps1")), fence.find()).points  # doctest: +SKIP
    17
    """
    try:
        if submission.path is None:
            raise Unreadable(submission.problem)
        notebook = read(submission.path)
    except Unreadable as error:
        return ungraded(submission.student, problem_set, str(error))
    return grade_notebook(submission.student, notebook, problem_set, fence)


def ungraded(student: str, problem_set: ProblemSet, why: str) -> Report:
    """The report of a submission that cannot be judged at all."""
    parts = [Part(id, 0, points, Verdict(UNJUDGED, why)) for task in problem_set.tasks for id, _, points in task.tests]
    return Report(student, tuple(parts), problem=why)


def grade_notebook(student: str, notebook: Notebook, problem_set: ProblemSet, fence: Fence) -> Report:
    """Grade what was read of one submission."""
    sitting = Sitting(notebook, problem_set.setup, problem_set.helpers, fence)
    try:
        sitting.start()
        parts = _graded(problem_set, sitting)
    finally:
        sitting.close()
    notes, problem = _notes(notebook, problem_set, sitting), ""
    if notebook.assignment not in ("", problem_set.name):
        says = f"it is the notebook of {notebook.assignment}, graded as {problem_set.name}"
        problem, notes = ("", [says, *notes]) if any(part.points for part in parts) else (says, notes)
    return Report(student, parts, tuple(notes), problem)


def _graded(problem_set: ProblemSet, sitting: Sitting) -> tuple[Part, ...]:
    return tuple(part for task in problem_set.tasks for part in _grade_task(task, problem_set, sitting))


def _names(problem_set: ProblemSet) -> dict[str, object]:
    """The names that tests begin with: the set-up's, and what visible tests define (of any task, as in a notebook)."""
    names: dict[str, object] = {"__name__": "__main__", "print": lambda *shown, **options: None}
    exec(_compiled(problem_set.setup, f"{problem_set.name} set-up"), names)  # noqa: S102  a teacher's
    for helper in problem_set.helpers:
        with suppress(AnyError):
            exec(_compiled(helper, f"{problem_set.name} helpers"), names)  # noqa: S102
    return names


def _compiled(source: str, place: str) -> CodeType:
    return compile(source, f"<{place}>", "exec", dont_inherit=True)


def _grade_task(task: Task, problem_set: ProblemSet, sitting: Sitting) -> list[Part]:
    names = _names(problem_set)
    names |= {name: _stand_in(name, sitting) for name in problem_set.functions}  # in place: helpers see them
    parts = []
    for id, source, points in task.tests:
        verdict = judge(partial(exec, _compiled(source, id), names))
        parts.append(Part(id, points if verdict.outcome == RIGHT else 0, points, verdict))
    return parts


def _stand_in(name: str, sitting: Sitting) -> Callable:
    def ask(*arguments, **named):
        return sitting.call(name, arguments, named)

    ask.__name__ = name
    return ask


def _notes(notebook: Notebook, problem_set: ProblemSet, sitting: Sitting) -> list[str]:
    """What a student should know beside the marks."""
    found = [f"cell {cell.number}: {note}" for cell in notebook.cells if not cell.is_test for note in cell.notes]
    found += [f"{f'cell {number}' if number else 'the set-up'} failed: {fault}"
              for number, fault in sorted(sitting.faults.items())]  # fmt: skip
    return [*found, *doubled(notebook, problem_set.functions)][:40]
