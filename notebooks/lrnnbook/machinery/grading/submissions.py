"""What came back: whose it is, and what it says.  Nothing here runs a student's code.

A folder of submissions holds ``NAME.ipynb`` or ``NAME/ps1.ipynb`` (at any depth below NAME, as nbgrader has it).
Before the first one runs, all are copied to a place that only the grader may read; then their folder is not read again.
"""

import json
import os
import re
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lrnnbook.machinery.grading.sanitize import label
from lrnnlab.files import is_clutter

# A link is refused, a pipe does not make us wait; Windows has neither flag, and would change the ends of lines.
OPEN = os.O_RDONLY | sum(getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_BINARY"))
MAX_FILE_BYTES = 50_000_000  # bytes of one notebook: outputs are large, code is not
MAX_CHARACTERS, MAX_CELLS = 1_000_000, 2_000  # characters of code of one notebook, and cells that hold some
MAX_NAME_CHARACTERS = 200  # characters of a name in a notebook
MAX_DEPTH = 20  # folders below one another in which one student's notebook is looked for
_KINDS = {stat.S_IFLNK: "a link", stat.S_IFIFO: "a pipe", stat.S_IFSOCK: "a socket", stat.S_IFCHR: "a device",
          stat.S_IFBLK: "a device", stat.S_IFDIR: "a folder"}  # fmt: skip


class Unreadable(ValueError):
    """What was handed in is no notebook; the message says in plain words what it is."""


@dataclass(frozen=True)
class Submission:
    """One student's: the notebook's path, or None and what is wrong."""

    student: str
    path: Path | None
    problem: str = ""


@dataclass(frozen=True)
class Cell:
    """One code cell: ``number`` counts all cells from 1; a marked cell is a test, an answer, or the set-up."""

    number: int
    source: str
    grade_id: str = ""
    is_test: bool = False
    is_setup: bool = False


@dataclass(frozen=True)
class Notebook:
    """A notebook as far as a grader cares: ``answers`` are the functions that it was released to ask for."""

    cells: tuple[Cell, ...]
    assignment: str = ""
    answers: tuple[str, ...] = ()
    marks: tuple[str, ...] = ()

    @property
    def own(self) -> tuple[Cell, ...]:
        """The cells that are no tests."""
        return tuple(cell for cell in self.cells if not cell.is_test)

    def doubled(self, names: Iterable[str]) -> list[str]:
        """A sentence for each of the functions ``names`` that the notebook's cells define more than once."""
        code = "\n".join(cell.source for cell in self.own)
        counts = {name: len(re.findall(rf"^(?:def {name}\b|{name} *=[^=])", code, re.MULTILINE)) for name in names}
        return [f"{name} is defined {count} times: the last definition counts" for name, count in counts.items() if count > 1]


def collect(folder: Path, name: str, place: Path) -> list[Submission]:
    """Copy every notebook in a folder of submissions to ``place``; one submission for each entry, sorted by student, who is
    called as the entry is.  Of several notebooks of one ``name.ipynb`` counts."""
    try:
        entries = [entry for entry in os.scandir(folder) if not is_clutter(entry.name)]
    except OSError as error:
        raise ValueError(f"{folder} is no folder of submissions ({error.strerror})") from error
    if not entries:
        raise ValueError(f"{folder} holds no submission")
    names, found = {entry.name.casefold() for entry in entries}, []
    for number, entry in enumerate(sorted(entries, key=lambda entry: entry.name)):
        stem, suffix = os.path.splitext(entry.name)
        student = label(stem if suffix.casefold() == ".ipynb" and stem.casefold() not in names else entry.name)
        try:
            data = _bytes(_notebook(entry, name))
        except Unreadable as error:
            found.append(Submission(student, None, str(error)))
            continue
        copy = place / f"{number}.ipynb"
        copy.write_bytes(data)
        found.append(Submission(student, copy))
    return sorted(found, key=lambda submission: submission.student)


def _notebook(entry: os.DirEntry, name: str) -> str:
    """The path of the notebook that a student handed in.  Unreadable where there is none, or more than one."""
    try:
        if not entry.is_dir(follow_symlinks=False):
            return entry.path
        os.scandir(entry.path).close()
    except OSError as error:
        raise Unreadable(f"the folder cannot be read ({error.strerror})") from error
    notebooks = list(_notebooks(entry.path))
    named = [path for path in notebooks if os.path.basename(path).casefold() == f"{name}.ipynb".casefold()] or notebooks
    if len(named) != 1:
        listed = ", ".join(os.path.relpath(path, entry.path) for path in sorted(named)[:5])
        raise Unreadable(f"holds {len(named)} notebooks ({listed})" if named else "holds no notebook")
    return named[0]


def _notebooks(top: str) -> Iterator[str]:
    """The notebooks below a folder; no link is followed."""
    for folder, folders, files in os.walk(top):
        depth = folder.count(os.sep) - top.count(os.sep)
        folders[:] = [name for name in folders if depth < MAX_DEPTH and not is_clutter(name)]
        for name in files:
            path = os.path.join(folder, name)
            if name.casefold().endswith(".ipynb") and not is_clutter(name) and not os.path.islink(path):
                yield path


def _bytes(path: str) -> bytes:
    """The bytes of a file, no larger than MAX_FILE_BYTES; Unreadable for a link, a pipe, or whatever else is no file."""
    try:
        kind = os.lstat(path).st_mode
        if not stat.S_ISREG(kind):
            raise Unreadable(f"is {_KINDS.get(stat.S_IFMT(kind), 'something else')}, not a file")
        with open(os.open(path, OPEN), "rb") as file:  # it may have been replaced since
            size = os.fstat(file.fileno()).st_size
            data = file.read(MAX_FILE_BYTES + 1) if size <= MAX_FILE_BYTES else b""
    except OSError as error:
        raise Unreadable(f"the file cannot be read ({error.strerror})") from error
    if max(size, len(data)) > MAX_FILE_BYTES:
        raise Unreadable(f"the file has {max(size, len(data)) / 1e6:.0f} MB: clear all outputs and save it again")
    return data


def read(path: Path) -> Notebook:
    """A notebook's code cells, without outputs.  JSON can take thirty times its bytes in memory, which the caller bounds."""
    return parse(_bytes(str(path)))


def parse(data: bytes) -> Notebook:
    """The notebook that these bytes of a file are."""
    if not data.strip():
        raise Unreadable("the file is empty")
    try:
        content = json.loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError, MemoryError) as error:
        raise Unreadable(f"the file is not a notebook (not JSON: {str(error)[:80]}); "
                         "save it in JupyterLab as .ipynb, not as .py or .html") from error  # fmt: skip
    if not isinstance(content, dict) or not isinstance(content.get("cells"), list):
        raise Unreadable("the file is JSON, but not a notebook of version 4 (it has no list of cells)")
    cells, marks = [], []
    for number, cell in enumerate(content["cells"], 1):
        if not isinstance(cell, dict):
            raise Unreadable(f"cell {number} is damaged: not a cell but of type {type(cell).__name__}")
        mark = _dict(_dict(cell.get("metadata")).get("nbgrader"))
        grade_id, source = _name(mark.get("grade_id")), _text(cell.get("source"))
        marks += [grade_id] if grade_id else []
        if cell.get("cell_type") == "code" and source.strip():
            is_test = bool(mark.get("grade"))
            cells.append(Cell(number, source, grade_id, is_test, bool(grade_id) and not is_test and not mark.get("solution")))
    if sum(len(cell.source) for cell in cells) > MAX_CHARACTERS or len(cells) > MAX_CELLS:
        raise Unreadable(f"it holds more than {MAX_CHARACTERS:,} characters or {MAX_CELLS:,} cells of code: hand in your answers "
                         "alone, and read data from nowhere")  # fmt: skip
    about = _dict(_dict(content.get("metadata")).get("lrnnlab"))
    answers = [_name(name) for answer in _list(about.get("answers")) for name in _list(_dict(answer).get("functions"))]
    return Notebook(tuple(cells), _name(about.get("assignment")), tuple(filter(str.isidentifier, answers))[:MAX_CELLS],
                    tuple(marks[:MAX_CELLS]))  # fmt: skip


def _dict(value: Any) -> dict:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list:
    return value if isinstance(value, list) else []


def _name(value: Any) -> str:
    return value[:MAX_NAME_CHARACTERS] if isinstance(value, str) else ""


def _text(source: Any) -> str:
    """A cell's source, which is one text or a list of lines."""
    return "".join(part for part in ([source] if isinstance(source, str) else _list(source)) if isinstance(part, str))
