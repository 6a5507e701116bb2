"""Grade a whole folder: marks as a table (CSV), and a page of feedback for each student, safe whatever the submission holds.

One broken submission never stops the others; the order and the marks are the same on every run, whatever the number
of processes.  A late hand-in is graded alone, into the same table.  What a hidden test says holds its input and often its
answer: a page says it only where the teacher wishes so; else what was right, what was not, and the points.
"""

from __future__ import annotations

import html
import math
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import jinja2
import markupsafe
import nbformat

from lrnnbook.content.exercises.judging import NOT_YET, RIGHT, UNJUDGED, UNTRIED
from lrnnbook.machinery.grading import lms
from lrnnbook.machinery.grading.fence import Fence
from lrnnbook.machinery.grading.grading import BY_HAND, OWN_FAULT, Part, Report, grade_all
from lrnnbook.machinery.grading.sanitize import block, cell, clean
from lrnnbook.machinery.grading.sets import HIDDEN, ProblemSet, Task, inside, known, load, without
from lrnnbook.machinery.grading.submissions import Submission, Unreadable, collect, read
from lrnnlab.files import alone, is_clutter, put

if TYPE_CHECKING:
    import pandas as pd

TASK = re.compile(r"ps\d+\.\d+")
MAX_GUESSED_BYTES = 5_000_000  # bytes of a notebook that is asked which set it is of


def grade_folder(
    folder: Path,
    source: Path,
    out: Path,
    fence: Fence,
    *,
    jobs: int = 1,
    say: Callable[[str], None] = lambda line: None,
    show_hidden: bool = False,
    secret: str = "",
) -> list[Report]:
    """Grade every submission in ``folder``; write ``out/marks.csv`` and ``out/feedback/STUDENT.html``."""
    from lrnnlab import scans

    problem_set, marks = load(source, secret), out / "marks.csv"
    if out.resolve().is_relative_to(folder.resolve()):
        raise ValueError(f"marks do not belong among the submissions: {out} is inside {folder}")
    before = read_marks(marks, problem_set)
    reports = []
    with TemporaryDirectory(prefix="lrnnlab-hand-ins-") as place:  # which its owner alone may read
        submissions = collect(folder, problem_set.name, Path(place))
        check_out(out)
        (out / "feedback").mkdir(parents=True, exist_ok=True)
        fence, note = fence.hiding(folder, place, out, source.parent), fence.describe()
        scans.warm()  # outside, once: inside, compiled kernels are read
        rehearse(problem_set, fence)
        if not marks.exists():  # which says from now on that the pages beside it are ours
            merge_marks(marks, problem_set, [], note)
        for submission, report in zip(submissions, grade_all(submissions, problem_set, fence, jobs)):
            report = replace(report, notes=(submission.said, *report.notes)) if submission.said else report
            reports.append(report)
            done, name = f"{len(reports)}/{len(submissions)} {report.student}", cell(report.student)
            if report.problem.startswith(OWN_FAULT) and name in before.index:
                say(f"{done}: {report.problem}; the marks of before stay")
                continue
            about = {"id": submission.id, "late": "LATE" if submission.late else "", "handed_in": submission.handed_in}
            # after each: an interrupted run leaves what it has
            row = merge_marks(marks, problem_set, [report], note, about).loc[name]
            text = page(report, problem_set, show_hidden=show_hidden, adjust=row["adjust"], comment=row["comment"])
            put(out / "feedback" / f"{report.student}.html", text.encode())
            was = before["points"].get(name, row["points"])
            by_hand = f", {row['adjust']} by hand" if row["adjust"] else ""
            say(f"{done}: {row['points']}/{report.possible}{by_hand}{f' (was {was})' if was != row['points'] else ''}"
                + "".join(f", {said}" for said in (about["late"], report.problem, submission.said) if said))
    return reports


def rehearse(problem_set: ProblemSet, fence: Fence) -> None:
    """Grade the source's own solutions.  ValueError where they do not get all points, so that no class would."""
    with TemporaryDirectory(prefix="lrnnlab-source-") as place:
        path = Path(place) / "source.ipynb"
        nbformat.write(problem_set.notebook, path)
        [report] = grade_all([Submission("the source", path)], problem_set, fence.hiding(place))
    if report.problem:
        raise ValueError(f"nothing can be graded: {report.problem}")
    lost = [part for part in report.parts if part.points < part.possible and part.verdict.outcome != BY_HAND]
    if report.notes or lost:
        said = report.notes[0] if report.notes else f"{lost[0].id} gives no points: {lost[0].verdict.says}"
        raise ValueError(f"{problem_set.name} cannot be graded, for with the source's own answers {said}")


def check_out(out: Path) -> None:
    """ValueError where marks or pages would be written through a link, or pages among files that are none of ours."""
    pages = out / "feedback"
    for path in (pages, out / "marks.csv"):
        if path.is_symlink():
            raise ValueError(f"{path} is a link, and nothing is written through a link: choose another --out")
    if pages.is_dir() and any(not is_clutter(page.name) for page in pages.iterdir()) and not (out / "marks.csv").is_file():
        raise ValueError(f"{pages} holds files, and no marks.csv lies beside it: choose another --out, or move it away")


def read_marks(path: Path, problem_set: ProblemSet | None = None) -> pd.DataFrame:
    """A table of marks, all text, by student; empty where there is none.  ValueError for what is another table."""
    import pandas as pd

    needed = ["student", "points", "possible", *(task.id for task in (problem_set.tasks if problem_set else ())), "problem", "fence"]
    try:
        table, sep = lms.table(path) if path.exists() else (pd.DataFrame(columns=needed, dtype=str), ",")
    except (OSError, ValueError) as error:  # of pandas' own: no text, no table, rows that are too long
        raise ValueError(f"{path} cannot be read ({error}): move it away, or choose another --out") from error
    missing = set(needed) - set(table.columns)
    twice = [name for names in (table.columns, () if missing else table["student"])
             for name, count in Counter(names).items() if count > 1]  # fmt: skip
    if missing or twice:
        what = f"it has no column {', '.join(sorted(missing))}" if missing else f"{twice[0]!r} is there twice"
        raise ValueError(f"{path} is no table of marks{f' of {problem_set.name}' if problem_set else ''} ({what}): move it away, "
                         "or choose another --out")  # fmt: skip
    table = table.set_index("student")
    for column in ("id", "adjust", "comment", "late", "handed_in"):
        table[column] = table.get(column, "")
    for column in (*filter(TASK.fullmatch, table.columns), "adjust"):
        for student, text in table[column].items():
            given(text, f"{column} of {student}")
    table.attrs["sep"] = sep
    return table


def given(text: str, where: str = "") -> float:
    """The points that a cell of a table says, a person's or the grader's.  ValueError for what is no number.

    >>> given(""), given("-1,5")
    (0.0, -1.5)
    """
    try:
        found = float(text.strip(" '").replace(",", ".") or 0)
    except ValueError:
        found = math.nan
    if not math.isfinite(found):
        raise ValueError(f"the column {where} is a number of points, such as 2 or -0.5, got {text!r}")
    return found


def merge_marks(path: Path, problem_set: ProblemSet, reports: Sequence[Report], fence_note: str = "",
                about: Mapping[str, str] | None = None) -> pd.DataFrame:  # fmt: skip
    """Write a row for each report into the table, among those that are there, sorted by student.  What a person wrote stays:
    ``adjust``, which is added to the points, ``comment``, and columns of his own."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with alone(path):
        table = read_marks(path, problem_set)
        for report in reports:
            got = {part.id: part.points for part in report.parts}
            tasks = {task.id: sum(got.get(id, 0) for id, _ in task.parts) for task in problem_set.tasks}
            row = {"possible": report.possible, **tasks, "problem": cell(report.problem), "fence": cell(fence_note),
                   **{key: cell(value) for key, value in (about or {}).items()}}  # fmt: skip
            table.loc[cell(report.student), list(row)] = [str(value) for value in row.values()]
        return _write(path, table)


def _write(path: Path, table: pd.DataFrame) -> pd.DataFrame:
    """Write a table with ``points`` added up, sorted, the grader's columns first."""
    sep, table = table.attrs["sep"], table.fillna("")
    tasks = list(filter(TASK.fullmatch, table.columns))
    table["points"] = table[[*tasks, "adjust"]].map(given).sum(axis=1).map("{:g}".format)
    ours = ["id", "points", "possible", *tasks, "adjust", "comment", "late", "problem", "fence", "handed_in"]
    table = table[[*ours, *table.columns.difference(ours, sort=False)]].sort_index()
    put(path, table.to_csv(lineterminator="\r\n", sep=sep).encode())
    return table


def update(out: Path) -> tuple[pd.DataFrame, dict[str, Path]]:
    """Add up the marks that a person has changed by hand and put his word on the pages; the table, and the page of each student."""
    path = out / "marks.csv"
    if not path.is_file():
        raise ValueError(f"there is no {path}: lrnnlab course grade writes it")
    check_out(out)
    with alone(path):
        table = _write(path, read_marks(path))
    pages = {cell(one.stem): one for one in sorted((out / "feedback").glob("*.html"))}
    for student in table.index.intersection(list(pages)):
        total = _total(**table.loc[student, ["points", "possible", "adjust", "comment"]]).replace("\\", r"\\")
        text = re.sub("(?s){}.*?{}".format(*TOTAL), total, pages[student].read_text(encoding="utf-8"), count=1)
        put(pages[student], text.encode())
    return table, pages


def assignment_of(folder: Path) -> str:
    """The known problem set that most submissions in a folder name.  ValueError where there is none."""
    named, known_names = Counter(), {path.stem.partition("_")[0] for path in known()}
    with TemporaryDirectory(prefix="lrnnlab-hand-ins-") as place:
        for submission in collect(folder, "", Path(place)):
            try:
                small = submission.path and submission.path.stat().st_size < MAX_GUESSED_BYTES
                named[read(submission.path).assignment if small else ""] += 1
            except Unreadable:
                continue
    said = Counter({name: count for name, count in named.items() if name in known_names})
    if not said or said.most_common(1)[0][1] <= said.total() / 2:
        listed = ", ".join(f"{clean(name, 40)} ({count})" for name, count in named.most_common(5) if name)
        raise ValueError(f"which problem set is it? The submissions say {listed or 'nothing'}: give --set ps1, or the path of a "
                         "source")  # fmt: skip
    return said.most_common(1)[0][0]


TOTAL = "<!-- total -->", "<!-- /total -->"
_SIGNS = {RIGHT: "✓", NOT_YET: "✗", UNJUDGED: "?", BY_HAND: "✎", UNTRIED: "○"}  # a sign beside the word: not by colour alone
_UNSEEN = {NOT_YET: "wrong on an input that you have not seen", UNJUDGED: "of a wrong kind on an input that you have not seen"}
_PAGE = Path(__file__).with_name("page.html")


def page(report: Report, problem_set: ProblemSet, *, show_hidden: bool = False, adjust: str = "", comment: str = "") -> str:
    """The page as text: with what hidden tests say if ``show_hidden``, and with what a person added and said."""
    written = jinja2.Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    written.filters |= {"clean": clean, "block": block}
    tasks = [(task, _rows(task, report, show_hidden)) for task in problem_set.tasks]
    total = markupsafe.Markup(_total(f"{report.points + given(adjust):g}", report.possible, adjust, comment))
    return written.from_string(_PAGE.read_text(encoding="utf-8")).render(name=problem_set.name, report=report, total=total, tasks=tasks, right=RIGHT,
                                             signs=_SIGNS)  # fmt: skip


def _total(points: str, possible: object, adjust: str, comment: str) -> str:
    """The part of a page that a person's word changes: the points in all, and what was added by hand, and why."""
    by_hand = f", of these {given(adjust):+g} by hand" if given(adjust) else ""
    said = f'<blockquote><strong>From your teacher.</strong> {html.escape(clean(comment, 4000))}</blockquote>' if comment.strip() else ""
    return f"{TOTAL[0]}<p>{points} of {html.escape(str(possible))} points{by_hand}.</p>{said}{TOTAL[1]}"


def _rows(task: Task, report: Report, show_hidden: bool) -> list[tuple[Part, str, str, str]]:
    """The parts of a task, each with what it asks, its outcome and what is said.  What a visible test says too gives nothing away."""
    got, sources = {part.id: part for part in report.parts}, {id: source for id, source, _ in task.tests}
    hidden = {id for id, source in sources.items() if inside(source, HIDDEN)}
    open_words = {got[id].verdict.says for id in sources if id in got and id not in hidden}
    rows = []
    for part in (got[id] for id, _ in task.parts if id in got):
        outcome, says, asks = part.verdict.outcome, part.verdict.says, "the test that you have"
        if says == "not attempted":
            outcome, says = UNTRIED, ""
        if part.id not in sources:
            asks = "your words"
        elif part.id in hidden:
            asks = " ".join(re.findall(r"^# (.+)", without(sources[part.id], HIDDEN), re.MULTILINE)) or "further cases"
            if not show_hidden and (outcome == NOT_YET or (says and says not in open_words)):
                told = re.findall(r"# says: (.+)", sources[part.id])
                says = " · ".join(filter(None, (part.verdict.brief or _UNSEEN[outcome], *told)))
        rows.append((part, asks, outcome, says))
    return rows
