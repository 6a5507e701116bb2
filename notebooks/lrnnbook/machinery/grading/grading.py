"""Grade submissions: students' functions run in a fenced process, their tests in another, and only values pass.

For each submission the grader starts a process of its own (:func:`main`), which reads the notebook and runs the tests of
the *source*, whatever the submission holds in their place; there each function of the student's is a stand-in that asks
the student's process (:class:`lrnnbook.machinery.grading.session.Session`).  So a submission cannot see a hidden test, change a
checker, or report a mark; and what is deleted, doubled or split in it does not matter, as long as the function is there
at the end.

Tests are a teacher's, but they run on what students return, and a value can make a test run for ever or fill the memory:
each test has a bounded computing time, its process a bounded memory and a time by the clock.
"""

import os
import pickle
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from types import CodeType

from lrnnbook.content.exercises.judging import RIGHT, UNJUDGED, AnyError, Verdict, judge, raised
from lrnnbook.machinery.grading.fence import LRNNBOOK, PACKAGE, Fence
from lrnnbook.machinery.grading.sandboxed_process import STARTING
from lrnnbook.machinery.grading.session import Session
from lrnnbook.machinery.grading.sets import ProblemSet, Task
from lrnnbook.machinery.grading.submissions import Notebook, Submission, Unreadable, read

if os.name == "posix":
    import resource

MAX_GRADER_BYTES = 2 << 30  # bytes of a process that reads a notebook and judges answers
MAX_NOTES = 40
TEST_TIME_FACTOR = 5  # times what a student's function may compute: what a test itself may
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
    parts = [Part(id, 0, points, Verdict(UNJUDGED, why)) for task in problem_set.tasks for id, _, points in task.tests]
    return Report(student, tuple(parts), problem=why)


def grade_notebook(student: str, notebook: Notebook, problem_set: ProblemSet, fence: Fence) -> Report:
    """Grade what was read of one submission."""
    with Session(notebook, problem_set.setup, problem_set.helpers, fence) as session:
        session.start()
        parts = tuple(part for task in problem_set.tasks for part in _grade_task(task, problem_set, session))
    notes = [f"cell {number}: {note}" for number, found in sorted(session.notes.items()) for note in found if number]
    notes += [f"{f'cell {number}' if number else 'the set-up'} failed: {fault}"
              for number, fault in sorted(session.faults.items())]  # fmt: skip
    notes, problem = [*notes, *notebook.doubled(problem_set.functions)][:MAX_NOTES], ""
    if notebook.assignment not in ("", problem_set.name):
        says = f"it is the notebook of {notebook.assignment}, graded as {problem_set.name}"
        problem, notes = ("", [says, *notes]) if any(part.points for part in parts) else (says, notes)
    return Report(student, parts, tuple(notes), problem)


def _grade_task(task: Task, problem_set: ProblemSet, session: Session) -> Iterator[Part]:
    names = _names(problem_set)
    names |= {name: _stand_in(name, session) for name in problem_set.functions}  # in place: helpers see them
    for id, source, points in task.tests:
        verdict = _judge(_compiled(source, id), names, TEST_TIME_FACTOR * session.fence.limits.seconds)
        yield Part(id, points if verdict.outcome == RIGHT else 0, points, verdict)


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
        return Verdict(UNJUDGED, f"the test took more than {seconds} seconds of computing time on what the answer is")
    finally:
        if timed:
            signal.setitimer(signal.ITIMER_PROF, 0)
