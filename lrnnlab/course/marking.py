"""Grade a whole folder: marks as a table (CSV), and a page of feedback for each student.

One broken submission never stops the others; the order and the marks are the same on every run, whatever the number
of processes.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from queue import Queue

from lrnnlab.course.feedback import page
from lrnnlab.course.grading import Report, grade, ungraded
from lrnnlab.course.sandbox import DEFAULT, Limits
from lrnnlab.course.server import Server
from lrnnlab.course.sets import ProblemSet, load
from lrnnlab.course.submissions import Submission, Unreadable, read, students
from lrnnlab.course.wire import Closed


def grade_folder(
    folder: Path,
    source: Path,
    out: Path,
    *,
    jobs: int = 1,
    limits: Limits = DEFAULT,
    servers: Sequence[Server] = (),
    say: Callable[[str], None] | None = None,
) -> list[Report]:
    """Grade every submission in ``folder``; write ``out/marks.csv`` and ``out/feedback/STUDENT.html``.

    ``jobs`` submissions at a time, each on a server of its own, or on ``servers`` that run already.  ValueError where
    the folder or the source is wrong, or ``out`` is inside the folder.

    >>> grade_folder(Path("submitted"), find("ps1"), Path("marks"), jobs=2)  # doctest: +SKIP
    """
    problem_set = load(source)
    submissions = students(folder, problem_set.name)
    if out.resolve().is_relative_to(folder.resolve()):
        raise ValueError(f"marks do not belong among the submissions: {out} is inside {folder}")
    pages = out / "feedback"
    pages.mkdir(parents=True, exist_ok=True)
    reports = []
    for report in grade_all(submissions, problem_set, jobs, limits, servers):
        reports.append(report)
        (pages / f"{report.student}.html").write_text(page(report, problem_set), encoding="utf-8")
        write_marks(out / "marks.csv", problem_set, reports)  # after each: an interrupted run leaves what it has
        if say:
            remark = f", {report.problem}" if report.problem else ""
            say(f"{len(reports)}/{len(submissions)} {report.student}: {report.points}/{report.possible}{remark}")
    return reports


def grade_all(
    submissions: Sequence[Submission], problem_set: ProblemSet, jobs: int, limits: Limits, servers: Sequence[Server]
) -> Iterator[Report]:
    """Reports in the order of the submissions; see :func:`grade_folder`."""
    jobs = len(servers) or max(1, min(jobs, len(submissions)))
    with ExitStack() as stack:
        free: Queue[Server] = Queue()
        for server in servers or [stack.enter_context(Server(limits)) for _ in range(jobs)]:
            free.put(server)

        def one(submission: Submission) -> Report:
            server = free.get()
            try:
                return _grade_twice(submission, problem_set, server)
            finally:
                free.put(server)

        # Threads do: the students' code runs in processes of their own, and ours waits for it.
        pool = stack.enter_context(ThreadPoolExecutor(jobs))
        yield from pool.map(one, submissions)


def _grade_twice(submission: Submission, problem_set: ProblemSet, server: Server) -> Report:
    """Grade; where the server itself ends (something got round the fence, or the system killed it), once more."""
    for _ in range(2):
        try:
            return grade(submission, problem_set, server)
        except Closed:
            server.close()
            server.start()
    return ungraded(submission.student, problem_set, "grading it ended the grader's server, twice")


def write_marks(path: Path, problem_set: ProblemSet, reports: list[Report]) -> None:
    """One row a student: points, points possible, points of each task, what was wrong with the file."""
    with path.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["student", "points", "possible", *(task.id for task in problem_set.tasks), "problem"])
        for report in reports:
            got = {part.id: part.points for part in report.parts}
            tasks = [sum(got[id] for id, _, _ in task.tests) for task in problem_set.tasks]
            rows.writerow([_cell(report.student), report.points, report.possible, *tasks, _cell(report.problem)])


def _cell(text: str) -> str:
    """A spreadsheet takes a text that begins like this for a formula."""
    return f"'{text}" if text[:1] in ("=", "+", "-", "@") else text


def assignment_of(folder: Path) -> str:
    """The problem set that the submissions in a folder name.  ValueError where they do not agree on one."""
    if not folder.is_dir():
        raise ValueError(f"{folder} is no folder of submissions")
    named: Counter = Counter()
    for submission in students(folder, ""):
        try:
            named[read(submission.path).assignment if submission.path else ""] += 1
        except Unreadable:
            continue
    del named[""]
    if not named or named.most_common(1)[0][1] <= sum(named.values()) / 2:
        raise ValueError(f"which problem set is it? The submissions say {dict(named)}: give --set ps1")
    return named.most_common(1)[0][0]
