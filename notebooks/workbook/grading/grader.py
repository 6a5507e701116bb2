"""Grade several submissions at a time, each in a process of the grader's own that can be ended.

Tests are a teacher's, but they run on what students return, and a value can make a test run for ever: the process in
which that happens (:func:`work`) is ended after a time, its submission is told so, and the others do not notice.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from queue import Queue

from workbook.exercises.judging import AnyError, Verdict, raised
from workbook.grading.fence import PACKAGE, WORKBOOK, Fence
from workbook.grading.grading import Part, Report, grade, ungraded
from workbook.grading.sandbox import Limits
from workbook.grading.sandboxed_process import STARTING
from workbook.grading.serialization import Closed, Line
from workbook.grading.sets import ProblemSet, load
from workbook.grading.submissions import Submission

# Not what lies in the folder in which the grader was started: that may be the submissions'.
OWN_FAULT = "the grader met"  # what is no fault of the submission
_START = "import sys; sys.path[:] = filter(None, sys.path); from workbook.grading.grader import work; work()"


def grade_all(
    submissions: Sequence[Submission], source: Path, problem_set: ProblemSet, fence: Fence, jobs: int = 1
) -> Iterator[Report]:
    """Reports in the order of the submissions, ``jobs`` at a time; ``source`` is the problem set's."""
    from lrnnlab import scans

    scans.warm()  # outside, once: inside, compiled kernels are read
    with ExitStack() as stack:
        free: Queue[Grader] = Queue()
        jobs = max(1, min(jobs, len(submissions)))
        pool = stack.enter_context(ThreadPoolExecutor(jobs))  # its threads wait, the processes work
        for _ in range(jobs):  # after the pool: where all is stopped they end first, and no thread waits for them
            free.put(stack.enter_context(Grader(source, problem_set, fence)))

        def one(submission: Submission) -> Report:
            grader = free.get()
            try:
                return grader.grade(submission)
            finally:
                free.put(grader)

        yield from pool.map(one, submissions)


class Grader:
    """A process that grades one submission after the other; use it as a context manager."""

    def __init__(self, source: Path, problem_set: ProblemSet, fence: Fence) -> None:
        self._source, self._set, self._fence = source, problem_set, fence
        limits = fence.limits
        self.patience = limits.whole + limits.wall + 2 * STARTING  # seconds by the clock for one submission
        self.stopped = False
        self._start()

    def _start(self) -> None:
        path = os.pathsep.join(filter(None, (str(PACKAGE.parent), str(WORKBOOK.parent), os.environ.get("PYTHONPATH"))))
        self._process = subprocess.Popen(
            [sys.executable, "-c", _START], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0,
            env={**os.environ, "PYTHONPATH": path}, start_new_session=True,
        )  # fmt: skip
        self._line = Line(self._process.stdout.fileno(), self._process.stdin.fileno())

    def grade(self, submission: Submission) -> Report:
        """Grade one submission, whatever happens."""
        order = {"source": str(self._source.resolve()), "fence": asdict(self._fence), "student": submission.student,
                 "path": str(submission.path or ""), "problem": submission.problem}  # fmt: skip
        for _ in range(2):  # what the system has ended, for want of memory perhaps, gets another try
            late = threading.Timer(self.patience, self._process.kill)
            late.start()
            try:
                self._line.send(order)
                return _report(self._line.receive())
            except (Closed, ValueError) as error:
                self.close()
                if self.stopped:
                    return ungraded(submission.student, self._set, "grading was stopped")
                self._start()
                why = f"the process that graded it ended, twice ({error})"
                if late.finished.is_set():
                    why = f"grading it took more than {self.patience:g} seconds by the clock"
                    break
            finally:
                late.cancel()
        return ungraded(submission.student, self._set, why)

    def __enter__(self) -> Grader:
        return self

    def __exit__(self, *_: object) -> None:
        self.stopped = True
        self.close()

    def close(self) -> None:
        """End the process; what it has started in the fence ends with it."""
        self._process.kill()
        self._process.wait()
        self._process.stdin.close()
        self._process.stdout.close()


def work() -> None:
    """The program: grade what standard input names until it ends."""
    line, kept = Line(os.dup(0), os.dup(1)), None
    os.dup2(2, 1)  # what a test prints
    while True:
        try:
            order = line.receive()
        except Closed:
            return
        fence = Fence(**{**order["fence"], "limits": Limits(**order["fence"]["limits"])})
        kept = kept or load(Path(order["source"]))
        submission = Submission(order["student"], Path(order["path"]) if order["path"] else None, order["problem"])
        try:
            line.send(asdict(grade(submission, kept, fence)))
        except Closed:
            return
        except AnyError as error:
            line.send(asdict(ungraded(submission.student, kept, f"{OWN_FAULT} {raised(error)}")))


def _report(data: dict) -> Report:
    parts = tuple(Part(**{**part, "verdict": Verdict(**part["verdict"])}) for part in data["parts"])
    return Report(data["student"], parts, tuple(data["notes"]), data["problem"])
