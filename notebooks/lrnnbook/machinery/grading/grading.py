"""Grade submissions: students' functions run in a fenced process, their tests in another, and only values pass.

For each submission the grader starts a process of its own (:func:`main`), which reads the notebook and runs the tests of
the *source*, whatever the submission holds in their place; there each function of the student's is a stand-in that asks
the student's process (:class:`Session`).  So a submission cannot see a hidden test, change a
checker, or report a mark; and what is deleted, doubled or split in it does not matter, as long as the function is there
at the end.

Tests are a teacher's, but they run on what students return, and a value can make a test run for ever or fill the memory:
each test has a bounded computing time, its process a bounded memory and a time by the clock.
"""

from __future__ import annotations

import builtins
import difflib
import os
import pickle
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from types import CodeType

from lrnnbook.content.exercises.judging import RIGHT, UNJUDGED, AnyError, CannotJudge, Verdict, judge, raised, shown
from lrnnbook.machinery.grading.fence import LRNNBOOK, PACKAGE, Fence
from lrnnbook.machinery.grading.sandboxed_process import STARTING, Gone, Process
from lrnnbook.machinery.grading.serialization import decode, encode
from lrnnbook.machinery.grading.sets import ProblemSet, Task
from lrnnbook.machinery.grading.submissions import Cell, Notebook, Submission, Unreadable, read

if os.name == "posix":
    import resource

MAX_GRADER_BYTES = 2 << 30  # bytes of a process that reads a notebook and judges answers
MAX_RESTARTS = 12  # new processes for one submission
MAX_NOTES = 40
TEST_TIME_FACTOR = 5  # times what a student's function may compute: what a test itself may
BY_HAND = "read by a person"  # the outcome of an answer in words
OWN_FAULT = "the grader met"  # what is no fault of the submission
# Not what lies in the folder in which the grader was started: that may be the submissions'.
_START = "import sys; sys.path[:] = filter(None, sys.path); from lrnnbook.machinery.grading.grading import main; main()"


@dataclass(frozen=True)
class Part:
    """One test cell's result: points got and possible."""

    id: str
    points: int
    possible: int
    verdict: Verdict


@dataclass(frozen=True)
class Report:
    """One student's result; ``notes`` are about the notebook as a whole, ``answers`` what was written, by the task's id."""

    student: str
    parts: tuple[Part, ...]
    notes: tuple[str, ...] = ()
    problem: str = ""
    answers: dict[str, str] = field(default_factory=dict)

    @property
    def points(self) -> int:
        return sum(part.points for part in self.parts)

    @property
    def possible(self) -> int:
        return sum(part.possible for part in self.parts)


class OutOfTime(BaseException):
    """A test has used up its computing time; no ``except Exception`` of its own stops that."""


def grade_all(
    submissions: Sequence[Submission], problem_set: ProblemSet, fence: Fence, jobs: int = 1
) -> Iterator[Report]:
    """Reports in the order of the submissions, ``jobs`` at a time, each from a process of its own."""
    limits, running, stopped = fence.limits, set(), []
    patience = limits.whole + limits.wall + 2 * STARTING  # seconds by the clock for one submission
    path = os.pathsep.join(filter(None, (str(PACKAGE.parent), str(LRNNBOOK.parent), os.environ.get("PYTHONPATH"))))
    bare = replace(problem_set, notebook=None)  # all that a grading process needs

    def graded(submission: Submission) -> Report:
        why = ""
        for _ in range(2):  # what the system has ended, for want of memory perhaps, gets another try
            with subprocess.Popen([sys.executable, "-c", _START], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                  env={**os.environ, "PYTHONPATH": path}, start_new_session=True) as process:  # fmt: skip
                running.add(process)
                if stopped:  # while it was starting, when nobody could end it yet
                    process.kill()
                try:
                    found, _ = process.communicate(pickle.dumps((submission, bare, fence)), timeout=patience)
                except subprocess.TimeoutExpired:
                    process.kill()
                    return ungraded(submission.student, bare, f"grading it took more than {patience:g} seconds by the clock")
                finally:
                    running.discard(process)
            if not process.returncode:
                return pickle.loads(found)
            why = f"the process that graded it ended, twice (exit status {process.returncode})"
            if stopped:
                break
        return ungraded(submission.student, bare, why)

    with ThreadPoolExecutor(max(1, min(jobs, len(submissions)))) as pool:  # its threads wait, the processes work
        try:
            yield from pool.map(graded, submissions)
        finally:
            stopped.append(True)
            for process in list(running):
                process.kill()  # what it has started in the fence ends with it


def main() -> None:
    """The program: grade the one submission that standard input holds."""
    submission, problem_set, fence = pickle.load(sys.stdin.buffer)
    with os.fdopen(os.dup(1), "wb") as out:
        os.dup2(2, 1)  # what a test prints
        if os.name == "posix":
            for what, bound in ((resource.RLIMIT_DATA, MAX_GRADER_BYTES), (resource.RLIMIT_CPU, int(fence.limits.whole))):
                resource.setrlimit(what, (bound, resource.getrlimit(what)[1]))
        pickle.dump(grade(submission, problem_set, fence), out)


def grade(submission: Submission, problem_set: ProblemSet, fence: Fence) -> Report:
    """Grade one submission.  Never raises for what a student did, nor for what goes wrong here."""
    try:
        if submission.path is None:
            raise Unreadable(submission.problem)
        return grade_notebook(submission.student, read(submission.path), problem_set, fence)
    except Unreadable as error:
        return ungraded(submission.student, problem_set, str(error))
    except AnyError as error:  # one submission never stops the others
        return ungraded(submission.student, problem_set, f"{OWN_FAULT} {raised(error)}")


def ungraded(student: str, problem_set: ProblemSet, why: str) -> Report:
    """No points, and why."""
    parts = [Part(id, 0, points, Verdict(UNJUDGED, why)) for task in problem_set.tasks for id, points in task.parts]
    return Report(student, tuple(parts), problem=why)


def grade_notebook(student: str, notebook: Notebook, problem_set: ProblemSet, fence: Fence) -> Report:
    """Grade what was read of one submission."""
    with closing(Session(notebook, problem_set.setup, problem_set.helpers, fence)) as session:
        session.start()
        parts = tuple(part for task in problem_set.tasks for part in _grade_task(task, problem_set, session))
    notes = [f"cell {number}: {note}" for number, found in sorted(session.notes.items()) for note in found if number]
    notes += [f"{f'cell {number}' if number else 'the set-up'} failed: {fault}"
              for number, fault in sorted(session.faults.items())]  # fmt: skip
    notes, problem = [*notes, *notebook.doubled(problem_set.functions)][:MAX_NOTES], ""
    if notebook.assignment not in ("", problem_set.name) or (notebook.assignment and notebook.variant != problem_set.variant):
        says = f"it is the notebook of {notebook.assignment}, graded as {problem_set.name}"
        says += ", with another --secret" * (notebook.assignment == problem_set.name)
        problem, notes = ("", [says, *notes]) if any(part.points for part in parts) else (says, notes)
    answers = {task.id: notebook.answer(task.functions, [id for id, *_ in task.words]) for task in problem_set.tasks}
    return Report(student, parts, tuple(notes), problem, answers)


def _grade_task(task: Task, problem_set: ProblemSet, session: Session) -> Iterator[Part]:
    names = _names(problem_set)
    names |= {name: _stand_in(name, session) for name in problem_set.functions}  # in place: helpers see them
    for id, source, points in task.tests:
        verdict = _judge(_compiled(source, id), names, TEST_TIME_FACTOR * session.fence.limits.seconds)
        yield Part(id, points if verdict.outcome == RIGHT else 0, points, verdict)
    yield from (Part(id, 0, points, Verdict(BY_HAND)) for id, _, points in task.words)


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


def _stand_in(name: str, session: Session) -> Callable:
    def ask(*arguments, **named):
        return session.call(name, arguments, named)

    ask.__name__ = name
    return ask


def _judge(test: CodeType, names: dict, seconds: int) -> Verdict:
    """How a test ends, which may compute for so many seconds here; what the student's process computes counts there."""

    def stop(*_: object) -> None:
        raise OutOfTime

    timed = hasattr(signal, "setitimer")  # Windows has none
    if timed:
        signal.signal(signal.SIGPROF, stop)
        signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        return judge(lambda: exec(test, names))  # noqa: S102  a teacher's
    except OutOfTime:
        said = f"the test took more than {seconds} seconds of computing time on what the answer is"
        return Verdict(UNJUDGED, said, said)
    finally:
        if timed:
            signal.setitimer(signal.ITIMER_PROF, 0)


class Session:
    """The locked set-up, what the visible tests define (``helpers``: an answer may use that), then a notebook's own cells; what
    takes too long or ends its process costs what depends on it: a new process takes over without it."""

    def __init__(self, notebook: Notebook, setup: str, helpers: tuple[str, ...], fence: Fence) -> None:
        self.notebook, self.setup, self.helpers, self.fence = notebook, setup, helpers, fence
        self.process: Process | None = None
        self.faults: dict[int, str] = {}  # cell, 0 for the set-up -> what it raised
        self.notes: dict[int, list[str]] = {}  # cell -> what of it was not run
        self.skipped: set[int] = set()  # cells that ended the process
        self.dead: dict[str, str] = {}  # functions that did
        self.functions: list[str] = []
        self.left, self.until = MAX_RESTARTS, time.monotonic() + fence.limits.whole
        self.computed = 0.0  # seconds of computing time of the processes that have ended
        self.over = ""

    def close(self) -> None:
        """End the process."""
        if self.process is not None:
            self.process.close()
            self.computed += self.process.computed
            self.process = None

    def start(self) -> None:
        """Run the cells, in a new process whenever one ends it; at the end ``process`` is ready, or ``over``."""
        while self.process is None and not self._exhausted():
            self.left -= 1
            limits = self.fence.limits
            left = replace(limits, total=int(limits.total - self.computed) + 1)
            self.process = Process(replace(self.fence, limits=left))
            number = 0
            try:
                self._run(self.process, self.setup, 0)
                for helper in self.helpers:
                    self.process.ask("cell", helper, 0)
                for cell in self.notebook.own:
                    if cell.number not in self.skipped:
                        number = cell.number
                        self._run(self.process, cell.source, number)
                number = 0
                self.functions = self.process.ask("functions").get("functions", [])
            except Gone as gone:
                self.close()
                self.faults[number] = str(gone)
                self.skipped.add(number)

    def _run(self, process: Process, source: str, number: int) -> None:
        reply = process.ask("cell", source, number)
        self.notes[number] = reply.get("notes", [])
        if "error" in reply:
            self.faults[number] = reply["error"]

    def _exhausted(self) -> str:
        """Why no more is asked of this notebook, or nothing."""
        limits = self.fence.limits
        if self.computed + (self.process.computed if self.process else 0) > limits.total:
            self.over = self.over or f"the notebook as a whole used more than {limits.total} seconds of computing time"
        elif time.monotonic() > self.until:
            self.over = self.over or f"the notebook as a whole took more than {limits.whole:g} seconds by the clock"
        elif self.process is None and self.left <= 0:
            self.over = self.over or "the notebook ended its process again and again"
        return self.over

    def call(self, name: str, arguments: tuple, named: dict) -> object:
        """Ask the student's function; CannotJudge says why there is no answer."""
        if name in self.dead:
            raise CannotJudge(self.dead[name], self.dead[name])
        self.start()
        if self._exhausted():
            raise CannotJudge(self.over, self.over)
        if name not in self.functions:
            raise CannotJudge(*[self.missing(name)] * 2)
        asked = f"{name}({', '.join([*map(shown, arguments), *(f'{key}={shown(value)}' for key, value in named.items())])})"
        question = name, [encode(value) for value in arguments], {key: encode(value) for key, value in named.items()}
        try:
            reply = self.process.ask("call", *question)
        except Gone as gone:
            self.close()
            self.dead[name] = f"{name} was called before and {gone}"  # without arguments: they may be a hidden test's
            raise CannotJudge(f"{asked} {gone}", f"{name} {gone}") from None
        if "error" in reply:
            kind = reply.get("kind")
            if kind == "NotImplementedError":
                raise CannotJudge("not attempted")
            known = isinstance(getattr(builtins, str(kind), None), type)  # a class of the student's own may be called as an input is
            raise CannotJudge(f"{asked} raised {reply['error']}"[:400], f"{name} raised {kind if known else 'an error'}")
        try:
            return decode(reply.get("value"))
        except ValueError as error:
            said = "sent the grader what is no answer"
            raise CannotJudge(f"{asked} {said}: {str(error)[:100]}", f"{name} {said}") from None

    def missing(self, name: str) -> str:
        """There is no such function: what may have happened?"""
        text = f"there is no function {name!r} when all cells have run"
        near = difflib.get_close_matches(name, [one for one in self.functions if one not in self.setup], 1)
        cells = {cell.number: cell for cell in self.notebook.cells if f"def {name}" in cell.source}
        if cells and all(cell.is_test for cell in cells.values()):
            return f"{text}: it is in cell {min(cells)}, which is a test and is replaced. Put it into a cell of its own"
        number = min(cells, default=None)
        if number in self.faults:
            return f"{text}: its cell, {number}, failed: {self.faults[number]}"
        return f"{text}; there is {near[0]!r}: was it renamed?" if near else f"{text}: was its cell deleted?"

    def visible_tests(self) -> Iterator[tuple[Cell, str]]:
        """Run the notebook's own tests in the student's process: they are the student's to see.  Each, and what it raised."""
        cells = [Cell(0, self.setup), *(Cell(0, helper) for helper in self.helpers)]
        cells += [cell for cell in self.notebook.cells if cell.is_test]
        cell = cells[0]
        try:
            self.process.ask("begin", self.notebook.answers)
            for cell in cells:
                yield cell, self.process.ask("cell", cell.source, cell.number).get("error", "")
        except Gone as gone:
            self.close()
            yield cell, str(gone)
