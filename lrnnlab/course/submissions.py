"""What came back: whose it is, and what it says.  Nothing here runs a student's code, and nothing here raises for it.

A folder of submissions holds ``NAME.ipynb`` or ``NAME/ps1.ipynb`` (at any depth below NAME, as nbgrader has it).
"""

from __future__ import annotations

import ast
import json
import re
from dataclasses import dataclass, field
from pathlib import Path

from lrnnlab.course.sets import top_names

LARGEST = 50_000_000  # bytes of a notebook


class Unreadable(ValueError):
    """A file that is no notebook; the message says so in plain words."""


@dataclass(frozen=True)
class Submission:
    """One student's: the notebook's path, or None and what is wrong."""

    student: str
    path: Path | None
    problem: str = ""


@dataclass(frozen=True)
class Code:
    """One code cell.  ``number`` counts all cells from 1; ``notes`` say what of it is not run, in plain words."""

    number: int
    source: str
    grade_id: str = ""
    is_test: bool = False
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Notebook:
    """A notebook as far as a grader cares."""

    cells: tuple[Code, ...]
    assignment: str = ""
    answers: tuple[dict, ...] = ()
    marks: dict = field(default_factory=dict)  # grade_id -> how many cells carry it


def students(folder: Path, name: str) -> list[Submission]:
    """Everything in a folder of submissions, sorted by student.  ValueError where there is no such folder or nothing.

    ``name`` is the problem set's: of several notebooks of one student ``ps1.ipynb`` counts.
    """
    if not folder.is_dir():
        raise ValueError(f"{folder} is no folder of submissions")
    found = [_submission(entry, name) for entry in sorted(folder.iterdir()) if not entry.name.startswith(".")]
    if not found:
        raise ValueError(f"{folder} holds no submission")
    names = [submission.student for submission in found]
    for student in sorted({student for student in names if names.count(student) > 1}):
        raise ValueError(f"{folder} holds a file and a folder of {student!r}: which one counts?")
    return found


def _submission(entry: Path, name: str) -> Submission:
    if entry.is_symlink():
        return Submission(entry.stem, None, "is a link, not a file")
    if entry.is_file():
        return Submission(entry.stem if entry.suffix in (".ipynb", ".py", ".json") else entry.name, entry)
    notebooks = [path for path in sorted(entry.rglob("*.ipynb"))
                 if ".ipynb_checkpoints" not in path.parts and path.is_file()
                 and path.resolve().is_relative_to(entry.resolve())]  # fmt: skip
    named = [path for path in notebooks if path.name == f"{name}.ipynb"] or notebooks
    if len(named) == 1:
        return Submission(entry.name, named[0])
    listed = ", ".join(str(path.relative_to(entry)) for path in named[:5])
    return Submission(entry.name, None, f"holds {len(named)} notebooks ({listed})" if named else "holds no notebook")


def read(path: Path) -> Notebook:
    """A notebook's code cells.  Unreadable says what the file is instead."""
    try:
        size = path.stat().st_size
        data = path.read_bytes() if size <= LARGEST else b""
    except OSError as error:
        raise Unreadable(f"the file cannot be read ({error.strerror})") from error
    if size > LARGEST:
        raise Unreadable(f"the file has {size / 1e6:.0f} MB: clear all outputs and save it again")
    if not data.strip():
        raise Unreadable("the file is empty")
    try:
        content = json.loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise Unreadable(f"the file is not a notebook (not JSON: {str(error)[:80]}); "
                         "save it in JupyterLab as .ipynb, not as .py or .html") from error  # fmt: skip
    if not isinstance(content, dict) or not isinstance(content.get("cells"), list):
        raise Unreadable("the file is JSON, but not a notebook of version 4 (it has no list of cells)")
    return _notebook(content)


def _notebook(content: dict) -> Notebook:
    cells, marks = [], {}
    for number, cell in enumerate(content["cells"], 1):
        if not isinstance(cell, dict):
            raise Unreadable(f"cell {number} is damaged: not a cell but {str(cell)[:40]!r}")
        source = cell.get("source", "")
        source = "".join(map(str, source)) if isinstance(source, list) else str(source)
        mark = _dict(_dict(cell.get("metadata")).get("nbgrader"))
        grade_id = str(mark.get("grade_id", ""))
        if grade_id:
            marks[grade_id] = marks.get(grade_id, 0) + 1
        if cell.get("cell_type") == "code" and source.strip():
            source, notes = plain_python(source)
            cells.append(Code(number, source, grade_id, bool(mark.get("grade")), notes))
    about = _dict(_dict(content.get("metadata")).get("lrnnlab"))
    answers = about.get("answers")
    answers = tuple(answer for answer in answers if isinstance(answer, dict)) if isinstance(answers, list) else ()
    return Notebook(tuple(cells), str(about.get("assignment", "")), answers, marks)


def _dict(value) -> dict:
    return value if isinstance(value, dict) else {}


def plain_python(source: str) -> tuple[str, tuple[str, ...]]:
    """A cell without Jupyter's own commands, which no grader runs, and a note for each.

    >>> plain_python("%matplotlib inline\\nx = 1")
    ('\\nx = 1', ('line 1, "%matplotlib inline", is a command of Jupyter and is not run',))
    >>> plain_python("%%bash\\nls")[0]
    ''
    """
    lines = source.splitlines()
    first = next((number for number, line in enumerate(lines) if line.strip()), 0)
    if lines and lines[first].lstrip().startswith("%%"):
        if re.match(r"\s*%%(time|timeit|capture|prun)\b", lines[first]):
            return "\n".join("" if number == first else line for number, line in enumerate(lines)), ()
        return "", (f'the whole cell, which begins with "{lines[first].strip()[:40]}", is not run',)
    notes = []
    for number, line in enumerate([] if _compiles(source) else lines):  # in Python a line may go on with a %
        if re.match(r"\s*(%|!|\?)", line):
            notes.append(f'line {number + 1}, "{line.strip()[:40]}", is a command of Jupyter and is not run')
            indent = line[: len(line) - len(line.lstrip())]
            lines[number] = f"{indent}pass" if indent else ""
    return "\n".join(lines), tuple(notes)


def _compiles(source: str) -> bool:
    try:
        ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # the last two: nested a thousand times
        return False
    return True


def defined(notebook: Notebook) -> list[str]:
    """All functions that a notebook's cells define at their top level, in order, each once a definition."""
    return [name for cell in notebook.cells if not cell.is_test for name in top_names(cell.source)]
