"""A problem set: one py:percent source that holds text, solutions and hidden tests.

Cells are marked in the first line, in nbgrader's words, shortened (what is left out is filled in by :func:`load`)::

    # %% nbgrader={"grade_id": "ps1-setup", "locked": true}               run before everything, not to be changed
    # %% nbgrader={"grade_id": "ps1_1", "solution": true}                 the student's; ### BEGIN SOLUTION ... END
    # %% nbgrader={"grade_id": "ps1_1_seen", "grade": true, "points": 1}  a test; ### BEGIN HIDDEN TESTS ... END

An answer is a function; its name is what binds it to its tests.  Sources live in ``notebooks/assignments``: below
``notebooks``, where a teacher looks, and not in ``notebooks/py``, whose every file has an executed twin that all may
read.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from nbformat import NotebookNode

import lrnnlab
from lrnnlab.book.drifting import read_source
from lrnnlab.course.reading import top_names
from lrnnlab.course.showing import clean

BEGIN, END = "### BEGIN ", "### END "
SOLUTION, HIDDEN = "SOLUTION", "HIDDEN TESTS"
_REMARKS = re.compile(r"  # (fmt: skip|noqa.*)$", re.MULTILINE)  # to tools that read the source, not to students
HEADER = re.compile(r"^## (?P<id>ps\d+\.\d+) · (?P<title>.+)\n\*(?P<stars>★+) · (?P<minutes>\d+) minutes · "
                    r"(?P<points>\d+) points\. Teaches: (?P<teaches>[^*]+)\*", re.MULTILINE)  # fmt: skip


@dataclass(frozen=True)
class Task:
    """One task: its id (``ps1.1``), title, the functions that answer it, its test cells (grade_id, source, points)."""

    id: str
    title: str
    functions: tuple[str, ...]
    tests: tuple[tuple[str, str, int], ...]

    @property
    def points(self) -> int:
        return sum(points for _, _, points in self.tests)


@dataclass(frozen=True)
class ProblemSet:
    """A source, read: ``setup`` is the code of its locked cells that are no tests."""

    name: str
    notebook: NotebookNode
    setup: str
    tasks: tuple[Task, ...]

    @property
    def functions(self) -> tuple[str, ...]:
        return tuple(name for task in self.tasks for name in task.functions)

    @property
    def points(self) -> int:
        return sum(task.points for task in self.tasks)


def known(root: Path | None = None) -> list[Path]:
    """The sources in ``notebooks/assignments``; ``root`` is the repository."""
    folder = (root or Path(lrnnlab.__file__).parents[1]) / "notebooks" / "assignments"
    return sorted(path for path in folder.glob("ps*.py") if re.fullmatch(r"ps\d+(_.*)?", path.stem))


def find(name: str, root: Path | None = None) -> Path:
    """The source of the known set ``ps1``, and never a path: a notebook that was handed in may say the name.

    ValueError lists the sets there are.
    """
    there = known(root)
    found = [path for path in there if name in (path.stem, path.stem.partition("_")[0])]
    if len(found) != 1:
        listed = ", ".join(path.stem for path in there) or "none"
        raise ValueError(f"'{clean(name, 40)}' is no problem set; there are {listed}")
    return found[0]


def chosen(text: str, root: Path | None = None) -> Path:
    """The source that a teacher names: a known set, or the path of a file.  Its code runs in the grader."""
    return Path(text) if text.endswith(".py") and Path(text).is_file() else find(text, root)


def load(source: Path) -> ProblemSet:
    """Read a source and fill in nbgrader's metadata.  ValueError says which cell of it is wrong.

    >>> load(find("ps1")).functions[:3]
    ('state_after', 'collision', 'sum_states')
    """
    notebook, name = read_source(source), source.stem.partition("_")[0]
    headers = {found["id"]: found for cell in notebook.cells if cell.cell_type == "markdown"
               for found in HEADER.finditer(cell.source)}  # fmt: skip
    functions: dict[str, list[str]] = {id: [] for id in headers}
    tests: dict[str, list] = {id: [] for id in headers}
    setup, seen = [], set()
    for number, cell in enumerate(notebook.cells, 1):
        cell.source = _REMARKS.sub("", cell.source)
        cell.metadata.pop("lines_to_next_cell", None)
        marks = cell.metadata.get("nbgrader")
        if marks is None:
            continue
        cell.metadata["nbgrader"] = marks = _filled(marks)
        grade_id = marks["grade_id"]
        task = ".".join(grade_id.split("_")[:2])
        if grade_id in seen or (task not in headers and (marks["grade"] or marks["solution"])):
            raise ValueError(f"{source.name}, cell {number}: {grade_id!r} is used twice, or no header names {task!r}")
        seen.add(grade_id)
        if marks["solution"]:
            functions[task] += top_names(without(cell.source, SOLUTION))
        elif marks["grade"]:
            tests[task].append((grade_id, cell.source, marks["points"]))
        else:
            setup.append(cell.source)
    tasks = tuple(Task(id, found["title"], tuple(functions[id]), tuple(tests[id])) for id, found in headers.items())
    for made in tasks:
        said = int(headers[made.id]["points"])
        if not made.functions or made.points != said:
            raise ValueError(f"{source.name}: {made.id} says {said} points, its tests give {made.points}; "
                             f"its functions are {made.functions}")  # fmt: skip
    return ProblemSet(name, notebook, "\n".join(setup), tasks)


def _filled(marks: dict) -> dict:
    """nbgrader's metadata in full."""
    full = {"schema_version": 3, "grade": False, "solution": False, "task": False, **marks}
    full["locked"] = bool(marks.get("locked", full["grade"] and not full["solution"]))
    return full


def without(source: str, region: str) -> str:
    """A cell without the lines of its regions of one kind (the marks go too).

    >>> without("a\\n### BEGIN SOLUTION\\nb\\n### END SOLUTION\\nc", "SOLUTION")
    'a\\nc'
    """
    return "\n".join(_split(source, region)[0])


def inside(source: str, region: str) -> list[str]:
    """The lines inside the regions of one kind."""
    return _split(source, region)[1]


def _split(source: str, region: str) -> tuple[list[str], list[str]]:
    kept: list = []
    cut: list = []
    within = False
    for line in source.splitlines():
        if line.strip() in (BEGIN + region, END + region):
            within = line.strip().startswith(BEGIN)
        else:
            (cut if within else kept).append(line)
    return kept, cut
