"""What came back: whose it is, and what it says.  Nothing here runs a student's code.

A folder of submissions, or a zip of one, holds ``NAME.ipynb`` or ``NAME/ps1.ipynb`` (at any depth below NAME, as nbgrader has it),
each perhaps zipped, NAME perhaps as Moodle or Canvas writes it.
Before the first one runs, all are copied to a place that only the grader may read; then their folder is not read again.
"""

import json
import os
import re
import stat
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lrnnbook.machinery.grading.lms import PACKED, Name, unpack, whose, zipped
from lrnnbook.machinery.grading.sanitize import label
from lrnnlab.files import is_clutter

# A link is refused, a pipe does not make us wait; Windows has neither flag, and would change the ends of lines.
OPEN = os.O_RDONLY | sum(getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_BINARY"))
MAX_FILE_BYTES = 50_000_000  # bytes of one notebook: outputs are large, code is not
MAX_CHARACTERS, MAX_CELLS = 1_000_000, 2_000  # characters of code of one notebook, and cells that hold some
MAX_ANSWER = 20_000  # characters of an answer that a page shows
MAX_NAME_CHARACTERS = 200  # characters of a name in a notebook
MAX_DEPTH = 20  # folders below one another in which one student's notebook is looked for
_KINDS = {stat.S_IFLNK: "a link", stat.S_IFIFO: "a pipe", stat.S_IFSOCK: "a socket", stat.S_IFCHR: "a device",
          stat.S_IFBLK: "a device", stat.S_IFDIR: "a folder"}  # fmt: skip


class Unreadable(ValueError):
    """What was handed in is no notebook; the message says in plain words what it is."""


@dataclass(frozen=True)
class Submission:
    """One student's: the notebook's path, or None and what is wrong; of a platform's, whose id it is and how it was called."""

    student: str
    path: Path | None
    problem: str = ""
    id: str = ""
    late: bool = False
    handed_in: str = ""
    said: str = ""  # which of several uploads counts


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
    """A notebook as far as a grader cares: ``answers`` are the functions that it was released to ask for, ``words`` the texts."""

    cells: tuple[Cell, ...]
    assignment: str = ""
    answers: tuple[str, ...] = ()
    marks: tuple[str, ...] = ()
    words: tuple[tuple[str, str], ...] = ()
    variant: str = ""

    @property
    def own(self) -> tuple[Cell, ...]:
        """The cells that are no tests."""
        return tuple(cell for cell in self.cells if not cell.is_test)

    def answer(self, functions: Iterable[str], ids: Iterable[str]) -> str:
        """What was written for a task: the cells that define its functions, and its words."""
        begins = re.compile(rf"^(?:(?:def|class) +(?:{'|'.join(functions) or '(?!)'})\b|(?:{'|'.join(functions) or '(?!)'}) *=[^=])", re.MULTILINE)
        found = [cell.source for cell in self.own if not cell.is_setup and begins.search(cell.source)]
        return "\n\n".join([*found, *(text for id, text in self.words if id in set(ids))])[:MAX_ANSWER]

    def doubled(self, names: Iterable[str]) -> list[str]:
        """A sentence for each of the functions ``names`` that the notebook's cells define more than once."""
        code = "\n".join(cell.source for cell in self.own)
        counts = {name: len(re.findall(rf"^(?:def {name}\b|{name} *=[^=])", code, re.MULTILINE)) for name in names}
        return [f"{name} is defined {count} times: the last definition counts" for name, count in counts.items() if count > 1]


def collect(folder: Path, name: str, place: Path) -> list[Submission]:
    """Copy every notebook in a folder of submissions, or a zip of one, to ``place``; one submission for each entry, sorted by student,
    who is called as the entry is; of a platform's for each student's id, of which the last upload counts.  Of several notebooks of
    one ``name.ipynb`` counts."""
    if folder.is_file() and zipfile.is_zipfile(folder):
        folder = unpack(folder, place, MAX_FILE_BYTES)
    try:
        entries = [entry for entry in os.scandir(folder) if not is_clutter(entry.name)]
    except OSError as error:
        raise ValueError(f"{folder} is no folder of submissions ({error.strerror})") from error
    if not entries:
        raise ValueError(f"{folder} holds no submission")
    names, found = {entry.name.casefold() for entry in entries}, []
    uploads = _by_id(sorted(entries, key=lambda entry: entry.name))
    for number, (entry, about, others) in enumerate(uploads):
        stem, suffix = os.path.splitext(entry.name)
        plain = stem if suffix.casefold() in PACKED and stem.casefold() not in names else entry.name
        said = f"of {len(others) + 1} uploads {entry.name} counts, the last one; not {', '.join(others)}" if others else ""
        more = (about.id, about.late, label(entry.name), said) if about else ()
        student = label(about.student if about else plain)
        student = label(entry.name) if student in {one.student for one in found} else student
        try:
            path = _notebook(entry, name)
            data = _bytes(path)
            if path.casefold().endswith(".zip"):
                data = zipped(data, name, MAX_FILE_BYTES)
        except ValueError as error:  # Unreadable, or what a zip is told
            found.append(Submission(student, None, str(error), *more))
            continue
        copy = place / f"{number}.ipynb"
        copy.write_bytes(data)
        found.append(Submission(student, copy, "", *more))
    return sorted(found, key=lambda submission: submission.student)


def _by_id(entries: list[os.DirEntry]) -> Iterator[tuple[os.DirEntry, Name | None, list[str]]]:
    """Each entry, what a platform's name says of it, and the names of the same student's that do not count."""
    said = {entry.name: whose(entry.name) for entry in entries}
    same: dict[str, list[os.DirEntry]] = {}
    for entry in entries:
        about = said[entry.name]
        same.setdefault(about.id if about else "", []).append(entry)
    for id, theirs in same.items():
        numbers = [said[entry.name].upload for entry in theirs if id]
        if len({*numbers} - {0}) + numbers.count(0) < len(theirs):  # no platform's: plain names, or an upload's number twice
            yield from ((entry, None, []) for entry in theirs)
            continue
        *others, last = sorted(theirs, key=lambda entry: (_holds_one(entry), said[entry.name].upload))
        yield last, said[last.name], [entry.name for entry in others]


def _holds_one(entry: os.DirEntry) -> bool:
    """May this upload hold a notebook?  Moodle has a text that was typed in beside the file."""
    return "_onlinetext" not in entry.name and (entry.is_dir() or os.path.splitext(entry.name)[1].casefold() in PACKED)


def _notebook(entry: os.DirEntry, name: str) -> str:
    """The path of the notebook that a student handed in.  Unreadable where there is none, or more than one."""
    try:
        if not entry.is_dir(follow_symlinks=False):
            return entry.path
        os.scandir(entry.path).close()
    except OSError as error:
        raise Unreadable(f"the folder cannot be read ({error.strerror})") from error
    notebooks = list(_notebooks(entry.path, ".ipynb")) or list(_notebooks(entry.path, ".zip"))
    named = [path for path in notebooks if os.path.basename(path).casefold() == f"{name}.ipynb".casefold()] or notebooks
    if len(named) != 1:
        listed = ", ".join(os.path.relpath(path, entry.path) for path in sorted(named)[:5])
        raise Unreadable(f"holds {len(named)} notebooks ({listed})" if named else "holds no notebook")
    return named[0]


def _notebooks(top: str, suffix: str) -> Iterator[str]:
    """The notebooks (or zips) below a folder; no link is followed."""
    for folder, folders, files in os.walk(top):
        depth = folder.count(os.sep) - top.count(os.sep)
        folders[:] = [name for name in folders if depth < MAX_DEPTH and not is_clutter(name)]
        for name in files:
            path = os.path.join(folder, name)
            if name.casefold().endswith(suffix) and not is_clutter(name) and not os.path.islink(path):
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
    cells, marks, words = [], [], []
    for number, cell in enumerate(content["cells"], 1):
        if not isinstance(cell, dict):
            raise Unreadable(f"cell {number} is damaged: not a cell but of type {type(cell).__name__}")
        mark = _dict(_dict(cell.get("metadata")).get("nbgrader"))
        grade_id, source = _name(mark.get("grade_id")), _text(cell.get("source"))
        marks += [grade_id] if grade_id else []
        if cell.get("cell_type") == "markdown" and mark.get("solution"):
            words.append((grade_id, source))
        elif cell.get("cell_type") == "code" and source.strip():
            is_test = bool(mark.get("grade"))
            cells.append(Cell(number, source, grade_id, is_test, bool(grade_id) and not is_test and not mark.get("solution")))
    if sum(len(cell.source) for cell in cells) > MAX_CHARACTERS or len(cells) > MAX_CELLS:
        raise Unreadable(f"it holds more than {MAX_CHARACTERS:,} characters or {MAX_CELLS:,} cells of code: hand in your answers "
                         "alone, and read data from nowhere")  # fmt: skip
    about = _dict(_dict(content.get("metadata")).get("lrnnlab"))
    answers = [_name(name) for answer in _list(about.get("answers")) for name in _list(_dict(answer).get("functions"))]
    return Notebook(tuple(cells), _name(about.get("assignment")), tuple(filter(str.isidentifier, answers))[:MAX_CELLS],
                    tuple(marks[:MAX_CELLS]), tuple(words[:MAX_CELLS]), _name(about.get("variant")))  # fmt: skip


def _dict(value: Any) -> dict:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list:
    return value if isinstance(value, list) else []


def _name(value: Any) -> str:
    return value[:MAX_NAME_CHARACTERS] if isinstance(value, str) else ""


def _text(source: Any) -> str:
    """A cell's source, which is one text or a list of lines."""
    return "".join(part for part in ([source] if isinstance(source, str) else _list(source)) if isinstance(part, str))
