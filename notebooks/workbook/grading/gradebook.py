"""Grade a whole folder: marks as a table (CSV), and a page of feedback for each student.

One broken submission never stops the others; the order and the marks are the same on every run, whatever the number
of processes.  A late hand-in is graded alone, into the same table.
"""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from lrnnlab.files import alone, is_clutter, put
from workbook.grading.feedback import page
from workbook.grading.fence import Fence
from workbook.grading.grader import OWN_FAULT, grade_all
from workbook.grading.grading import Report, rehearse
from workbook.grading.sanitize import cell, clean
from workbook.grading.sets import ProblemSet, known, load
from workbook.grading.submissions import Unreadable, collect, read


def grade_folder(
    folder: Path,
    source: Path,
    out: Path,
    fence: Fence,
    *,
    jobs: int = 1,
    say: Callable[[str], None] | None = None,
    show_hidden: bool = False,
) -> list[Report]:
    """Grade every submission in ``folder``; write ``out/marks.csv`` and ``out/feedback/STUDENT.html``."""
    problem_set = load(source)
    if out.resolve().is_relative_to(folder.resolve()):
        raise ValueError(f"marks do not belong among the submissions: {out} is inside {folder}")
    before = read_marks(out / "marks.csv", problem_set)
    reports = []
    with TemporaryDirectory(prefix="lrnnlab-hand-ins-") as place:  # which its owner alone may read
        submissions = collect(folder, problem_set.name, Path(place))
        check_out(out)
        (out / "feedback").mkdir(parents=True, exist_ok=True)
        fence, note = fence.hiding(folder, place, out, source.parent), fence.describe()
        rehearse(problem_set, fence)
        if not (out / "marks.csv").exists():  # which says from now on that the pages beside it are ours
            merge_marks(out / "marks.csv", problem_set, [], note)
        for report in grade_all(submissions, source, problem_set, fence, jobs):
            reports.append(report)
            done = f"{len(reports)}/{len(submissions)} {report.student}"
            if report.problem.startswith(OWN_FAULT) and cell(report.student) in before:
                if say:
                    say(f"{done}: {report.problem}; the marks of before stay")
                continue
            text = page(report, problem_set, show_hidden=show_hidden, fence_note=note)
            write(out / "feedback" / f"{report.student}.html", text)
            # After each: an interrupted run leaves what it has.
            merge_marks(out / "marks.csv", problem_set, [report], note)
            if say:
                old = before.get(cell(report.student), {}).get("points")
                was = f" (was {old})" if old not in (None, str(report.points)) else ""
                remark = f", {report.problem}" if report.problem else ""
                marks = f"{report.points}/{report.possible}{was}{remark}"
                say(f"{done}: {marks}")
    return reports


def check_out(out: Path) -> None:
    """ValueError where marks or pages would be written through a link, or pages among files that are none of ours."""
    pages = out / "feedback"
    for path in (pages, out / "marks.csv"):
        if path.is_symlink():
            raise ValueError(f"{path} is a link, and nothing is written through a link: choose another --out")
    if pages.is_dir() and any(not is_clutter(page.name) for page in pages.iterdir()) and not (out / "marks.csv").is_file():
        raise ValueError(f"{pages} holds files, and no marks.csv lies beside it: choose another --out, or move it away")


def read_marks(path: Path, problem_set: ProblemSet) -> dict[str, dict[str, str]]:
    """The rows of a table of marks by student, none where there is no table.  ValueError for what is another table."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = csv.DictReader(file)
            missing = set(_columns(problem_set)) - set(rows.fieldnames or ())
            listed = [row for row in rows if not missing]
            found = {row["student"]: row for row in listed}
            twice = [name for names in (rows.fieldnames or (), [row["student"] for row in listed])
                     for name, count in Counter(names).items() if count > 1]  # fmt: skip
            damaged = any(None in row or None in row.values() for row in found.values())
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise ValueError(f"{path} cannot be read ({error}): move it away, or choose another --out") from error
    if missing or damaged or twice:
        what = (f"it has no column {', '.join(sorted(missing))}" if missing else f"{twice[0]!r} stands there twice" if twice
                else "a row has too few cells, or too many")  # fmt: skip
        raise ValueError(f"{path} is no table of marks of {problem_set.name} ({what}): move it away, "
                         "or choose another --out")  # fmt: skip
    return found


def merge_marks(path: Path, problem_set: ProblemSet, reports: Sequence[Report], fence_note: str = "") -> None:
    """Write a row for each report into the table, among those that are there, sorted by student."""
    with alone(path):
        _merge(path, problem_set, reports, fence_note)


def _merge(path, problem_set, reports, fence_note):
    rows = read_marks(path, problem_set)
    columns = list(next(iter(rows.values()), _columns(problem_set)))
    for report in reports:
        got = {part.id: part.points for part in report.parts}
        tasks = [sum(got[id] for id, _, _ in task.tests) for task in problem_set.tasks]
        values = [cell(report.student), report.points, report.possible, *tasks, cell(report.problem), cell(fence_note)]
        row: dict = dict(zip(_columns(problem_set), values, strict=True))
        rows[row["student"]] = {**dict.fromkeys(columns, ""), **rows.get(row["student"], {}), **row}
    text = io.StringIO()
    table = csv.DictWriter(text, columns)
    table.writeheader()
    table.writerows(rows[student] for student in sorted(rows))
    write(path, text.getvalue())


def _columns(problem_set: ProblemSet) -> list[str]:
    return ["student", "points", "possible", *(task.id for task in problem_set.tasks), "problem", "fence"]


def write(path: Path, text: str) -> None:
    """Write a file whole or not at all.  ValueError where that cannot be done."""
    try:
        put(path, text.encode())
    except OSError as error:
        raise ValueError(f"{path} cannot be written ({error.strerror})") from error


def assignment_of(folder: Path) -> str:
    """The known problem set that most submissions in a folder name.  ValueError where there is none."""
    named, known_names = Counter(), {path.stem.partition("_")[0] for path in known()}
    with TemporaryDirectory(prefix="lrnnlab-hand-ins-") as place:
        for submission in collect(folder, "", Path(place)):
            try:
                named[read(submission.path).assignment if submission.path else ""] += 1
            except Unreadable:
                continue
    said = Counter({name: count for name, count in named.items() if name in known_names})
    if not said or said.most_common(1)[0][1] <= said.total() / 2:
        listed = ", ".join(f"{clean(name, 40)} ({count})" for name, count in named.most_common(5) if name)
        raise ValueError(f"which problem set is it? The submissions say {listed or 'nothing'}: give --set ps1, or the path of a "
                         "source")  # fmt: skip
    return said.most_common(1)[0][0]
