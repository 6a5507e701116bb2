"""What came back: whose it is, and what it says.  Nothing here runs a student's code, and nothing here raises for it.

A folder of submissions holds ``NAME.ipynb`` or ``NAME/ps1.ipynb`` (at any depth below NAME, as nbgrader has it).
Before the first one runs, all are copied to a place that only the grader may read; then their folder is not read again.
"""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from lrnnlab.files import is_clutter
from workbook.grading import notebook_parser as reading
from workbook.grading.notebook_parser import FILE, Unreadable
from workbook.grading.sanitize import label

# A link is refused, a pipe does not make us wait; Windows has neither flag, and would change the ends of lines.
OPEN = os.O_RDONLY | sum(getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_BINARY"))
DEEP, MANY = 20, 10_000  # folders below one another, and files in all, in which one student's notebook is looked for
WAIT = 60  # seconds by the clock to read one notebook
_KINDS = {stat.S_IFLNK: "a link", stat.S_IFIFO: "a pipe", stat.S_IFSOCK: "a socket", stat.S_IFCHR: "a device",
          stat.S_IFBLK: "a device", stat.S_IFDIR: "a folder"}  # fmt: skip


@dataclass(frozen=True)
class Submission:
    """One student's: the notebook's path, or None and what is wrong."""

    student: str
    path: Path | None
    problem: str = ""


@dataclass(frozen=True)
class Code:
    """One code cell: ``number`` counts all cells from 1, ``notes`` say in plain words what of it is not run.

    ``is_setup`` : is it a marked cell that is neither a test nor an answer?
    ``defines`` : the functions that it defines at its top level.
    """

    number: int
    source: str
    grade_id: str = ""
    is_test: bool = False
    is_setup: bool = False
    notes: tuple[str, ...] = ()
    defines: tuple[str, ...] = ()


@dataclass(frozen=True)
class Notebook:
    """A notebook as far as a grader cares."""

    cells: tuple[Code, ...]
    assignment: str = ""
    answers: tuple[str, ...] = ()
    marks: dict = field(default_factory=dict)


def collect(folder: Path, name: str, place: Path) -> list[Submission]:
    """Copy every notebook in a folder of submissions to ``place``; one submission for each entry, sorted by student.

    ``name`` is the problem set's: of several notebooks of one student ``ps1.ipynb`` counts.  A student is called as
    the file or folder is (:func:`workbook.grading.sanitize.label`), a notebook without its ``.ipynb``, unless a folder is
    called so too.  ValueError where there is no such folder, nothing in it, or no room to copy to.
    """
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
            data = _taken(_notebook(entry, name))
        except Unreadable as error:
            found.append(Submission(student, None, str(error)))
            continue
        copy = place / f"{number}.ipynb"
        try:
            copy.write_bytes(data)
        except OSError as error:
            raise ValueError(f"{copy}: the submissions cannot be copied ({error.strerror})") from error
        found.append(Submission(student, copy))
    return sorted(found, key=lambda submission: submission.student)


def _notebook(entry: os.DirEntry, name: str) -> str:
    """The path of the notebook that a student handed in.  Unreadable where there is none, or more than one."""
    try:
        if not entry.is_dir(follow_symlinks=False):
            return entry.path
        notebooks = list(_notebooks(entry.path))
    except OSError as error:
        raise Unreadable(f"the folder cannot be read ({error.strerror})") from error
    named = [path for path in notebooks if os.path.basename(path).casefold() == f"{name}.ipynb".casefold()] or notebooks
    if len(named) != 1:
        listed = ", ".join(os.path.relpath(path, entry.path) for path in sorted(named)[:5])
        raise Unreadable(f"holds {len(named)} notebooks ({listed})" if named else "holds no notebook")
    return named[0]


def _notebooks(folder: str) -> Iterator[str]:
    """The notebooks below a folder, nearest first; no link is followed."""
    row, seen = deque([(folder, 0)]), 0
    while row:
        folder, depth = row.popleft()
        try:
            entries = os.scandir(folder)
        except OSError:
            if not depth:
                raise
            continue
        with entries:
            for entry in entries:
                seen += 1
                if seen > MANY:
                    return
                if is_clutter(entry.name):
                    continue
                if entry.is_dir(follow_symlinks=False):
                    if depth < DEEP:
                        row.append((entry.path, depth + 1))
                elif entry.name.casefold().endswith(".ipynb") and entry.is_file(follow_symlinks=False):
                    yield entry.path


def _taken(path: str) -> bytes:
    """The bytes of a file, no larger than FILE; Unreadable for a link, a pipe, or whatever else is no file."""
    try:
        kind = os.lstat(path).st_mode
        if not stat.S_ISREG(kind):
            raise Unreadable(f"is {_KINDS.get(stat.S_IFMT(kind), 'something else')}, not a file")
        with open(os.open(path, OPEN), "rb") as file:  # it may have been replaced since
            size = os.fstat(file.fileno()).st_size
            data = file.read(FILE + 1) if size <= FILE else b""
    except OSError as error:
        raise Unreadable(f"the file cannot be read ({error.strerror})") from error
    if max(size, len(data)) > FILE:
        raise Unreadable(f"the file has {max(size, len(data)) / 1e6:.0f} MB: clear all outputs and save it again")
    return data


def read(path: Path) -> Notebook:
    """A notebook's code cells, read by a process of its own.  Unreadable says what the file is instead."""
    program = Path(reading.__file__).resolve()
    try:
        file = path.open("rb")
    except OSError as error:
        raise Unreadable(f"the file cannot be read ({error.strerror})") from error
    with file:
        if (size := os.fstat(file.fileno()).st_size) > FILE:
            raise Unreadable(f"the file has {size / 1e6:.0f} MB: clear all outputs and save it again")
        try:
            done = subprocess.run([sys.executable, "-I", "-S", str(program)], stdin=file, stdout=subprocess.PIPE,
                                  stderr=subprocess.DEVNULL, cwd=program.parent, timeout=WAIT)  # fmt: skip
        except subprocess.TimeoutExpired as error:
            raise Unreadable(f"reading the file took more than {WAIT} seconds") from error
    if done.returncode:
        raise Unreadable("reading the file ended the process that read it: it is nested too deeply, or too large")
    found = json.loads(done.stdout)
    if "unreadable" in found:
        raise Unreadable(found["unreadable"])
    return digested(found)


def digested(found: dict) -> Notebook:
    """The notebook that :func:`workbook.grading.notebook_parser.digest` has read."""
    cells = tuple(Code(**{**cell, "notes": tuple(cell["notes"]), "defines": tuple(cell["defines"])})
                  for cell in found["cells"])  # fmt: skip
    return Notebook(cells, found["assignment"], tuple(found["answers"]), found["marks"])


def doubled(notebook: Notebook, names: Iterable[str]) -> list[str]:
    """A sentence for each of the functions ``names`` that the notebook's cells define more than once."""
    defined = [name for cell in notebook.cells if not cell.is_test for name in cell.defines]
    return [f"{name} is defined {defined.count(name)} times: the last definition counts"
            for name in names if defined.count(name) > 1]  # fmt: skip
