"""Grade a whole folder: marks as a table (CSV), and a page of feedback for each student.

One broken submission never stops the others; the order and the marks are the same on every run, whatever the number
of processes.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from lrnnlab.course.feedback import page
from lrnnlab.course.fence import Fence
from lrnnlab.course.grader import grade_all
from lrnnlab.course.grading import Report
from lrnnlab.course.sets import ProblemSet, load
from lrnnlab.course.submissions import Unreadable, read, students


def grade_folder(
    folder: Path,
    source: Path,
    out: Path,
    fence: Fence,
    *,
    jobs: int = 1,
    say: Callable[[str], None] | None = None,
) -> list[Report]:
    """Grade every submission in ``folder``; write ``out/marks.csv`` and ``out/feedback/STUDENT.html``.

    ``fence`` as :func:`lrnnlab.course.fence.find` gives it; ``jobs`` submissions at a time.  ValueError where the folder
    or the source is wrong, or ``out`` is inside the folder.

    >>> grade_folder(Path("submitted"), find("ps1"), Path("marks"), fence.find(), jobs=2)  # doctest: +SKIP
    """
    problem_set = load(source)
    submissions = students(folder, problem_set.name)
    if out.resolve().is_relative_to(folder.resolve()):
        raise ValueError(f"marks do not belong among the submissions: {out} is inside {folder}")
    pages = out / "feedback"
    pages.mkdir(parents=True, exist_ok=True)
    reports = []
    for report in grade_all(submissions, source, problem_set, fence.hiding(folder, out, source.parent), jobs):
        reports.append(report)
        (pages / f"{report.student}.html").write_text(page(report, problem_set), encoding="utf-8")
        write_marks(out / "marks.csv", problem_set, reports)  # after each: an interrupted run leaves what it has
        if say:
            remark = f", {report.problem}" if report.problem else ""
            say(f"{len(reports)}/{len(submissions)} {report.student}: {report.points}/{report.possible}{remark}")
    return reports


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
