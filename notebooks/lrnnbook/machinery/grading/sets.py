"""A problem set: one py:percent source that holds text, solutions and hidden tests.

Cells are marked in the first line, in nbgrader's words, shortened (what is left out is filled in by :func:`load`)::

    # %% nbgrader={"grade_id": "ps1-setup", "locked": true}               run before everything, not to be changed
    # %% nbgrader={"grade_id": "ps1_1", "solution": true}                 the student's; ### BEGIN SOLUTION ... END
    # %% nbgrader={"grade_id": "ps1_1_seen", "grade": true, "points": 1}  a test; ### BEGIN HIDDEN TESTS ... END
    # %% [markdown] nbgrader={"grade_id": "ps1_1_why", "solution": true, "grade": true, "points": 2}   an answer in words

An answer is a function; its name is what binds it to its tests.  An answer in words is read by a person; its solution is the
rubric, which the page shows.  The comment on top of a hidden test is its name on the page, ``# says: n larger than 2`` inside it
what the page says where it fails.  ``_M = 5  # vary: 3 | 7`` and ``_seed = 31  # vary: 1 to 99`` are drawn anew by a teacher's secret.  Sources live in ``notebooks/assignments``: below
``notebooks``, where a teacher looks, and not in ``notebooks/py``, whose every file has an executed twin that all may
read.
"""

import ast
import hashlib
import random
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from lrnnbook.content.exercises.judging import shown
from lrnnbook.machinery import copies
from lrnnbook.machinery.grading.sanitize import clean

BEGIN, END = "### BEGIN ", "### END "
SOLUTION, HIDDEN = "SOLUTION", "HIDDEN TESTS"
NO_WORDS = "*Your words here.*"  # where an answer in words goes
_VARY = re.compile(r"= (?P<now>[^=\n]+?)  # vary: (?P<others>.+)$", re.MULTILINE)
_REMARKS = re.compile(r"  # (fmt: skip|noqa.*)$", re.MULTILINE)  # to tools that read the source, not to students
_MARK = re.compile(r"\s*#+\s*(begin|end)\b.*(solution|hidden)", re.IGNORECASE)  # what means to be one, perhaps wrongly written
HEADER = re.compile(r"^## (?P<id>ps\d+\.\d+) · (?P<title>.+)\n\*(?P<stars>★+) · (?P<minutes>\d+) minutes · "
                    r"(?P<points>\d+) points?\. Teaches: (?P<teaches>[^*]+)\*", re.MULTILINE)  # fmt: skip
HINT = re.compile(r"<summary>Hint</summary>(.+?)</details>", re.DOTALL)


@dataclass(frozen=True)
class Task:
    """One task: its id (``ps1.1``), title, the functions that answer it, its test cells (grade_id, source, points), its answers in
    words (grade_id, rubric, points), what it teaches, its hint."""

    id: str
    title: str
    functions: tuple[str, ...]
    tests: tuple[tuple[str, str, int], ...]
    words: tuple[tuple[str, str, int], ...] = ()
    teaches: str = ""
    hint: str = ""

    @property
    def parts(self) -> list[tuple[str, int]]:
        return [(id, points) for id, _, points in (*self.tests, *self.words)]

    @property
    def points(self) -> int:
        return sum(points for _, points in self.parts)


@dataclass(frozen=True)
class ProblemSet:
    """A source, read: ``setup`` is the code of its locked cells that are no tests."""

    name: str
    notebook: Any
    setup: str
    tasks: tuple[Task, ...]
    variant: str = ""  # two digits of the secret: enough to notice another, too few to find it by

    @property
    def helpers(self) -> tuple[str, ...]:
        """What the visible parts of its test cells define, statement by statement: an answer may use it, as in a notebook."""
        return tuple(helper for task in self.tasks for _, source, _ in task.tests
                     for helper in definitions(without(source, HIDDEN)))  # fmt: skip

    @property
    def functions(self) -> tuple[str, ...]:
        return tuple(name for task in self.tasks for name in task.functions)

    @property
    def points(self) -> int:
        return sum(task.points for task in self.tasks)


def known() -> list[Path]:
    """The sources in ``notebooks/assignments``."""
    folder = copies.PROJECT / "notebooks" / "assignments"
    return sorted(path for path in folder.glob("ps*.py") if re.fullmatch(r"ps\d+(_.*)?", path.stem))


def find(name: str) -> Path:
    """The source of the known set ``ps1``, and never a path: a notebook that was handed in may say the name."""
    there = known()
    found = [path for path in there if name in (path.stem, path.stem.partition("_")[0])]
    if len(found) != 1:
        listed = ", ".join(path.stem for path in there) or "none"
        raise ValueError(f"'{clean(name, 40)}' is no problem set; there are {listed}")
    return found[0]


def source_of(text: str) -> Path:
    """The source that a teacher names: a known set, or the path of a file.  Its code runs in the grader."""
    if text.endswith(".py"):
        if not Path(text).is_file():
            raise ValueError(f"there is no file {text}")
        return Path(text)
    return find(text)


def load(source: Path, secret: str = "") -> ProblemSet:
    """Read a source and fill in nbgrader's metadata; ``secret`` draws what it says may vary.  ValueError says which cell is wrong."""
    from lrnnbook.machinery.book import sync  # here: a process that grades is handed the set, and loads no book

    notebook, name = sync.read_source(source), source.stem.partition("_")[0]
    asked = [found for cell in notebook.cells if cell.cell_type == "markdown" for found in HEADER.finditer(cell.source)]
    headers = {found["id"]: found for found in asked}
    hints = {found["id"]: HINT.search(found.string, found.end()) for found in asked}
    if not asked or len(headers) < len(asked):
        again = [id for id, count in Counter(found["id"] for found in asked).items() if count > 1]
        what = f"two headers say {again[0]}" if again else "there is no header of a task, ## ps1.1 · ..."
        raise ValueError(f"{source.name}: {what}")
    functions, tests, words = ({id: [] for id in headers} for _ in range(3))
    setup, seen = [], set()
    for number, cell in enumerate(notebook.cells, 1):
        drawn = partial(_drawn, draw=random.Random(f"{name} {number} {secret}") if secret else None)
        cell.source = _REMARKS.sub("", _VARY.sub(drawn, cell.source))
        where = f"{source.name}, cell {number}"
        try:
            list(_lines(cell.source))
        except ValueError as error:
            raise ValueError(f"{where}, {error}") from None
        cell.metadata.pop("lines_to_next_cell", None)
        marks = cell.metadata.get("nbgrader")
        if marks is None:
            continue
        cell.metadata["nbgrader"] = marks = _filled(marks, where)
        grade_id = marks["grade_id"]
        task = ".".join(grade_id.split("_")[:2])
        if grade_id in seen:
            raise ValueError(f"{where}: {grade_id!r} is used twice")
        if task not in headers and (marks["grade"] or marks["solution"]):
            raise ValueError(f"{where}: {grade_id!r} is of a task without a header: '## {task} · A title', and below it "
                             "'*★ · 10 minutes · 2 points. Teaches: what it is about*'")  # fmt: skip
        seen.add(grade_id)
        if cell.cell_type == "markdown":
            if not (marks["solution"] and marks["grade"]):
                raise ValueError(f"{where}: {grade_id!r} is of words, which are a solution and have points")
            words[task].append((grade_id, "\n".join(inside(cell.source, SOLUTION)), marks["points"]))
            continue
        try:
            compile(cell.source, where, "exec")
        except SyntaxError as error:
            raise ValueError(f"{where}, line {error.lineno}: {error.msg}") from None
        if marks["solution"]:
            functions[task] += top_names(without(cell.source, SOLUTION))
        elif marks["grade"]:
            tests[task].append((grade_id, cell.source, marks["points"]))
        else:
            setup.append(cell.source)
    tasks = tuple(Task(id, found["title"], tuple(functions[id]), tuple(tests[id]), tuple(words[id]), " ".join(found["teaches"].split()),
                       " ".join(hints[id][1].split()) if hints[id] else "") for id, found in headers.items())  # fmt: skip
    for made in tasks:
        said = int(headers[made.id]["points"])
        if not (made.functions or made.words) or made.points != said:
            raise ValueError(f"{source.name}: {made.id} says {said} points, its tests give {made.points}; "
                             f"its functions are {made.functions}")  # fmt: skip
    again = [one for one, count in Counter(one for made in tasks for one in made.functions).items() if count > 1]
    if again:
        raise ValueError(f"{source.name}: the function {again[0]!r} is asked for twice, and its name binds it to its tests")
    variant = hashlib.sha256(f"{name} {secret}".encode()).hexdigest()[:2] if secret else ""
    return ProblemSet(name, notebook, "\n".join(setup), tasks, variant)


def _drawn(found: re.Match, draw: random.Random | None) -> str:
    """One of the values that a line may have in place of its own, ``3 | 7`` or ``1 to 99``; without a draw its own."""
    if draw is None:
        return f"= {found['now']}"
    low, to, high = found["others"].partition(" to ")
    return f"= {draw.randint(int(low), int(high)) if to else draw.choice(found['others'].split(' | '))}"


def _filled(marks: Any, where: str) -> dict:
    """nbgrader's metadata in full; ValueError where what a source says of it is none."""
    if not isinstance(marks, dict) or not isinstance(marks.get("grade_id"), str):
        raise ValueError(f"{where}: nbgrader's metadata are a dict with a grade_id, got {shown(marks)}")
    if marks.get("grade") and (type(marks.get("points")) is not int or marks["points"] < 0):
        raise ValueError(f"{where}: a test has points, a whole number, got {shown(marks.get('points'))}")
    full = {"schema_version": 3, "grade": False, "solution": False, "task": False, **marks}
    full["locked"] = bool(marks.get("locked", full["grade"] and not full["solution"]))
    return full


def top_names(source: str) -> list[str]:
    """The functions that a cell defines at its top level, in order."""
    found = []
    for part in ast.parse(source).body:
        if isinstance(part, (ast.FunctionDef, ast.ClassDef)):
            found.append(part.name)
        elif isinstance(part, ast.Assign) and isinstance(part.value, (ast.Lambda, ast.Name, ast.Call, ast.Attribute)):
            found += [target.id for target in part.targets if isinstance(target, ast.Name)]
    return found


def definitions(source: str) -> list[str]:
    """The statements of a test cell that define and do not run: imports, functions, classes, values without a call."""
    kinds = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef)
    try:
        parts = ast.parse(source).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # a student's, before hand-in
        return []
    return [ast.unparse(part) for part in parts if isinstance(part, kinds)
            or (isinstance(part, ast.Assign) and not any(isinstance(inner, ast.Call) for inner in ast.walk(part)))]  # fmt: skip


def without(source: str, *regions: str) -> str:
    """A cell without the lines of its regions of these kinds, and without any mark."""
    return "\n".join(line for region, line in _lines(source) if region not in regions)


def inside(source: str, *regions: str) -> list[str]:
    """The lines inside the regions of these kinds."""
    return [line for region, line in _lines(source) if region in regions]


def _lines(source: str) -> Iterator[tuple[str, str]]:
    """Each line that is no mark, and the kind of region that it is in, or nothing.  ValueError for marks that are nearly right,
    which would hide nothing, and for regions that do not end."""
    begins, region = [BEGIN + SOLUTION, BEGIN + HIDDEN], ""
    for number, line in enumerate(source.splitlines(), 1):
        mark, wanted = line.strip(), [END + region] if region else begins
        if not _MARK.match(line):
            yield region, line
        elif mark not in wanted:
            raise ValueError(f"line {number}: {mark!r} is where {' or '.join(wanted)} should be")
        else:
            region = "" if region else mark.removeprefix(BEGIN)
    if region:
        raise ValueError(f"line {number}: {END + region!r} is missing at its end")
