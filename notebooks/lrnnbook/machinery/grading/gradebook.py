"""Grade a whole folder: marks as a table (CSV), and a page of feedback for each student, safe whatever the submission holds.

One broken submission never stops the others; the order and the marks are the same on every run, whatever the number
of processes.  A late hand-in is graded alone, into the same table.  What a hidden test says holds its input and often its
answer: a page says it only where the teacher wishes so; else what was right, what was not, and the points.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import jinja2
import nbformat

from lrnnbook.content.exercises.judging import NOT_YET, RIGHT, UNJUDGED
from lrnnbook.machinery.grading.fence import Fence
from lrnnbook.machinery.grading.grading import OWN_FAULT, Report, grade_all
from lrnnbook.machinery.grading.sanitize import cell, clean
from lrnnbook.machinery.grading.sets import HIDDEN, ProblemSet, Task, inside, known, load
from lrnnbook.machinery.grading.submissions import Submission, Unreadable, collect, read
from lrnnlab.files import alone, is_clutter, put

if TYPE_CHECKING:
    import pandas as pd

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
) -> list[Report]:
    """Grade every submission in ``folder``; write ``out/marks.csv`` and ``out/feedback/STUDENT.html``."""
    from lrnnlab import scans

    problem_set, marks = load(source), out / "marks.csv"
    if out.resolve().is_relative_to(folder.resolve()):
        raise ValueError(f"marks do not belong among the submissions: {out} is inside {folder}")
    before = read_marks(marks, problem_set)["points"].to_dict()
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
        for report in grade_all(submissions, problem_set, fence, jobs):
            reports.append(report)
            done, name = f"{len(reports)}/{len(submissions)} {report.student}", cell(report.student)
            if report.problem.startswith(OWN_FAULT) and name in before:
                say(f"{done}: {report.problem}; the marks of before stay")
                continue
            text = page(report, problem_set, show_hidden=show_hidden, fence_note=note)
            put(out / "feedback" / f"{report.student}.html", text.encode())
            merge_marks(marks, problem_set, [report], note)  # after each: an interrupted run leaves what it has
            was = f" (was {before[name]})" if before.get(name, str(report.points)) != str(report.points) else ""
            remark = f", {report.problem}" if report.problem else ""
            say(f"{done}: {report.points}/{report.possible}{was}{remark}")
    return reports


def rehearse(problem_set: ProblemSet, fence: Fence) -> None:
    """Grade the source's own solutions.  ValueError where they do not get all points, so that no class would."""
    with TemporaryDirectory(prefix="lrnnlab-source-") as place:
        path = Path(place) / "source.ipynb"
        nbformat.write(problem_set.notebook, path)
        [report] = grade_all([Submission("the source", path)], problem_set, fence.hiding(place))
    if report.problem:
        raise ValueError(f"nothing can be graded: {report.problem}")
    lost = [part for part in report.parts if part.points < part.possible]
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


def read_marks(path: Path, problem_set: ProblemSet) -> pd.DataFrame:
    """A table of marks, all text, by student; empty where there is none.  ValueError for what is another table."""
    import pandas as pd

    columns = ["student", "points", "possible", *(task.id for task in problem_set.tasks), "problem", "fence"]
    if not path.exists():
        return pd.DataFrame(columns=columns, dtype=str).set_index("student")
    try:
        table = pd.read_csv(path, dtype=str, header=None, keep_default_na=False, encoding="utf-8-sig")
    except (OSError, ValueError) as error:  # of pandas' own: no text, no table, rows that are too long
        raise ValueError(f"{path} cannot be read ({error}): move it away, or choose another --out") from error
    table = table.set_axis(table.iloc[0], axis=1).iloc[1:]
    missing = set(columns) - set(table.columns)
    twice = [name for names in (table.columns, () if missing else table["student"])
             for name, count in Counter(names).items() if count > 1]  # fmt: skip
    if missing or twice:
        what = f"it has no column {', '.join(sorted(missing))}" if missing else f"{twice[0]!r} is there twice"
        raise ValueError(f"{path} is no table of marks of {problem_set.name} ({what}): move it away, "
                         "or choose another --out")  # fmt: skip
    return table.set_index("student")


def merge_marks(path: Path, problem_set: ProblemSet, reports: Sequence[Report], fence_note: str = "") -> None:
    """Write a row for each report into the table, among those that are there, sorted by student."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with alone(path):
        table = read_marks(path, problem_set)
        for report in reports:
            got = {part.id: part.points for part in report.parts}
            tasks = {task.id: sum(got[id] for id, _, _ in task.tests) for task in problem_set.tasks}
            row = {"points": report.points, "possible": report.possible, **tasks, "problem": cell(report.problem),
                   "fence": cell(fence_note)}  # fmt: skip
            table.loc[cell(report.student), list(row)] = [str(value) for value in row.values()]
        put(path, table.fillna("").sort_index().to_csv(lineterminator="\r\n").encode())


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


_SIGNS = {RIGHT: "✓", NOT_YET: "✗", UNJUDGED: "?"}  # a sign beside the word: not by colour alone
_HIDDEN = {NOT_YET: "a hidden test fails", UNJUDGED: "on the input of a hidden test"}
_PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>{{ name }}: {{ report.student | clean }}</title><style>
body { font: 16px/1.5 sans-serif; max-width: 46em; margin: 2em auto; padding: 0 1em; color: #222; background: #fff }
table { border-collapse: collapse; width: 100% } th, td { text-align: left; vertical-align: top; padding: .3em .6em }
th { width: 9em } th + th { width: 5em } th + th + th { width: auto } tr { border-top: 1px solid #ccc }
.right { color: #00664b } .not { color: #a33c00 } code { overflow-wrap: anywhere }
</style></head>
<body>
<h1>{{ name }}: {{ report.student | clean }}</h1>
<p>{{ report.points }} of {{ report.possible }} points.</p>
{% if fence %}<p><strong>{{ fence | clean }}</strong></p>{% endif %}
{% if report.problem %}<p><strong>It could not be graded: {{ report.problem | clean }}.</strong></p>{% endif %}
{% for task, rows in tasks %}
<h2>{{ task.id }} · {{ task.title | clean }}</h2>
<table>
<tr><th>test</th><th>points</th><th>result</th></tr>
{% for part, says in rows %}
<tr><td>{{ part.id | clean }}</td><td>{{ part.points }} of {{ part.possible }}</td><td>
<span class="{{ "right" if part.verdict.outcome == right else "not" }}">{{ signs[part.verdict.outcome] }} {{ part.verdict.outcome }}</span>
{%- if says %}<br><code>{{ says | clean }}</code>{% endif %}</td></tr>
{% endfor %}
</table>
{% endfor %}
{% if report.notes %}
<h2>About the notebook</h2>
<ul>{% for note in report.notes %}<li><code>{{ note | clean }}</code></li>{% endfor %}</ul>
{% endif %}
</body></html>
"""


def page(report: Report, problem_set: ProblemSet, *, show_hidden: bool = False, fence_note: str = "") -> str:
    """The page as text: with what hidden tests say if ``show_hidden``, and with a sentence on the fence."""
    written = jinja2.Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    written.filters["clean"] = clean
    tasks = [(task, _rows(task, report, show_hidden)) for task in problem_set.tasks]
    return written.from_string(_PAGE).render(name=problem_set.name, report=report, fence=fence_note, tasks=tasks,
                                             right=RIGHT, signs=_SIGNS)  # fmt: skip


def _rows(task: Task, report: Report, show_hidden: bool) -> list[tuple]:
    """The parts of a task, each with what is said of it.  What a visible test says too gives no hidden one away."""
    hidden = {id for id, source, _ in task.tests if inside(source, HIDDEN)}
    parts = [part for part in report.parts if part.id in {id for id, _, _ in task.tests}]
    open_words = {part.verdict.says for part in parts if part.id not in hidden}
    return [(part, _HIDDEN.get(part.verdict.outcome, "")
             if part.id in hidden and not show_hidden and part.verdict.says not in open_words else part.verdict.says)
            for part in parts]  # fmt: skip
