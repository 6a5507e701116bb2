"""What came back: whose it is, and what it says.  Nothing here runs a student's code.

A folder of submissions, or a zip of one, holds ``NAME.ipynb`` or ``NAME/ps1.ipynb`` (at any depth below NAME, as nbgrader has it),
each perhaps zipped, NAME perhaps as Moodle or Canvas writes it.
Before the first one runs, all are copied to a place that only the grader may read; then their folder is not read again.
"""

import io
import json
import os
import re
import stat
import unicodedata
import zipfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from lrnnbook.content.exercises.judging import AnyError
from lrnnbook.machinery.grading.lms import PACKED, Name, whose
from lrnnbook.machinery.grading.sanitize import label
from lrnnlab.files import is_clutter

# A link is refused, a pipe does not make us wait; Windows has neither flag, and would change the ends of lines.
OPEN = os.O_RDONLY | sum(getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_BINARY"))
MAX_FILE_BYTES = 50_000_000  # bytes of one notebook: outputs are large, code is not
MAX_CHARACTERS, MAX_CELLS = 1_000_000, 2_000  # characters of code of one notebook, and cells that hold some
MAX_ANSWER = 20_000  # characters of an answer that a page shows
MAX_NAME_CHARACTERS = 200  # characters of a name in a notebook
MAX_DEPTH = 20  # folders below one another in which one student's notebook is looked for
MAX_MEMBERS = 10_000  # files in a student's zip
_KINDS = {stat.S_IFLNK: "a link", stat.S_IFIFO: "a pipe", stat.S_IFSOCK: "a socket", stat.S_IFCHR: "a device",
          stat.S_IFBLK: "a device", stat.S_IFDIR: "a folder that cannot be read"}  # fmt: skip
Files = dict[str, Callable[[], bytes]]  # what reads each, by its path below the folder; a folder's own path ends with a slash


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
    files = _in_zip(folder) if folder.is_file() and zipfile.is_zipfile(folder) else _in_folder(folder)
    entries: dict[str, Files] = {}
    for path in sorted(files):
        entries.setdefault(path.partition("/")[0], {})[path] = files[path]
    if not entries:
        raise ValueError(f"{folder} holds no submission")
    names, taken, found = set(map(_alike, entries)), set(), []
    for number, (entry, about, others) in enumerate(_by_id(entries)):
        stem = os.path.splitext(entry)[0]
        plain = stem if entry.casefold().endswith(PACKED) and _alike(stem) not in names else entry
        student = label(about.student if about else plain)
        student = label(entry, marked=True) if _alike(student) in taken else student
        taken.add(_alike(student))
        said = f"of {len(others) + 1} uploads {entry} counts, the last one; not {', '.join(others)}" if others else ""
        more = (about.id, about.late, label(entry), said) if about else ()
        copy = place / f"{number}.ipynb"
        try:
            copy.write_bytes(_notebook(entries[entry], entry, name))
            found.append(Submission(student, copy, "", *more))
        except Unreadable as error:
            found.append(Submission(student, None, str(error), *more))
    return sorted(found, key=lambda submission: submission.student)


def _alike(name: str) -> str:
    """One and the same for names that look the same, or that a file system takes for one."""
    return unicodedata.normalize("NFC", name).casefold()


def _by_id(entries: dict[str, Files]) -> Iterator[tuple[str, Name | None, list[str]]]:
    """Each entry, what a platform's name says of it, and the names of the same student's that do not count."""
    ordered = sorted(entries, key=lambda entry: (not whose(entry), entry != unicodedata.normalize("NFC", entry), entry))
    said, same = {entry: whose(entry) for entry in ordered}, defaultdict(list)
    for entry, about in said.items():
        same[f"{about.id}/" if about else entry].append(entry)

    def latest(entry: str) -> tuple[bool, int]:  # Moodle has a text that was typed in beside the file
        holds = "_onlinetext" not in entry and (entry not in entries[entry] or entry.casefold().endswith(PACKED))
        return holds, said[entry].upload

    for theirs in same.values():
        uploads = [said[entry].upload for entry in theirs if said[entry]]
        if len({*uploads} - {0}) + uploads.count(0) < len(theirs):  # no platform's: a plain name, or an upload's number twice
            yield from ((entry, None, []) for entry in theirs)
        else:
            *others, last = sorted(theirs, key=latest)
            yield last, said[last], others


def _notebook(files: Files, entry: str, name: str) -> bytes:
    """The notebook that a student handed in, of these files.  Unreadable where there is none, or more than one."""
    if entry not in files:  # it is a folder, or "", a zip
        books = [[path for path in files if path.casefold().endswith(suffix)] for suffix in PACKED]
        found = books[0] or books[1]
        named = [path for path in found if path.rpartition("/")[2].casefold() == f"{name}.ipynb".casefold()] or found
        if len(named) != 1:
            listed = ", ".join(path.removeprefix(f"{entry}/") for path in named[:5])
            holds = f"holds {len(named)} notebooks ({listed})" if named else "holds no notebook"
            hint = "the zip of a whole class is named itself: lrnnlab course grade CLASS.zip"
            raise Unreadable(holds if entry else f"the zip {holds} ({hint})")
        [entry] = named
    data = files[entry]()
    if not entry.casefold().endswith(".zip"):
        return data
    if data.count(b"PK\x01\x02") > MAX_MEMBERS:
        raise Unreadable(f"the zip holds more than {MAX_MEMBERS:,} files")
    inner = _in_zip(io.BytesIO(data))
    return _notebook({path: reader for path, reader in inner.items() if not path.casefold().endswith(".zip")}, "", name)


def _in_folder(top: Path) -> Files:
    """The files of a folder; a link in it is one, which is not followed, and no link below is."""
    try:
        entries = [entry for entry in os.scandir(top) if not is_clutter(entry.name)]
    except OSError as error:
        raise ValueError(f"{top} is no folder of submissions ({error.strerror})") from error
    found: Files = {}
    for entry in entries:
        if not entry.is_dir(follow_symlinks=False) or not os.access(entry.path, os.R_OK | os.X_OK):
            found[entry.name] = partial(_bytes, entry.path)
            continue
        found[f"{entry.name}/"] = bytes
        for folder, folders, names in os.walk(entry.path):
            deep = folder.count(os.sep) - entry.path.count(os.sep) >= MAX_DEPTH
            folders[:] = [name for name in folders if not deep and not is_clutter(name)]
            paths = [os.path.join(folder, name) for name in names if not is_clutter(name)]
            found |= {Path(path).relative_to(top).as_posix(): partial(_bytes, path) for path in paths if not os.path.islink(path)}
    return found


def _in_zip(file: Path | io.BytesIO) -> Files:
    """The files in a zip, none of which is unpacked to where its name may lead.  Unreadable where it is none."""
    try:
        archive = zipfile.ZipFile(file)
    except AnyError as error:
        raise Unreadable(f"the zip cannot be read ({str(error)[:80]})") from error
    found: Files = {}
    for member in archive.infolist():
        parts = [part for part in member.filename.split("/") if part not in ("", ".", "..")]
        if parts and not any(map(is_clutter, parts)):
            found["/".join(parts) + "/" * member.is_dir()] = partial(_member, archive, member)
    return found


def _member(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> bytes:
    """The bytes of a file in a zip: as many as it says, no more than MAX_FILE_BYTES."""
    if member.file_size > MAX_FILE_BYTES:
        raise Unreadable(f"the file has {member.file_size / 1e6:.0f} MB: clear all outputs and save it again")
    try:
        return archive.read(member)
    except AnyError as error:  # whoever made the zip chose how: of any kind of compression
        raise Unreadable(f"the zip cannot be read ({str(error)[:80]})") from error


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
        mark = _below(cell, dict, "metadata", "nbgrader")
        grade_id = _below(mark, str, "grade_id")[:MAX_NAME_CHARACTERS]
        source = _below(cell, str, "source") or "".join(part for part in _below(cell, list, "source") if isinstance(part, str))
        marks += [grade_id] if grade_id else []
        if cell.get("cell_type") == "markdown" and mark.get("solution"):
            words.append((grade_id, source))
        elif cell.get("cell_type") == "code" and source.strip():
            is_test = bool(mark.get("grade"))
            cells.append(Cell(number, source, grade_id, is_test, bool(grade_id) and not is_test and not mark.get("solution")))
    if sum(len(cell.source) for cell in cells) > MAX_CHARACTERS or len(cells) > MAX_CELLS:
        raise Unreadable(f"it holds more than {MAX_CHARACTERS:,} characters or {MAX_CELLS:,} cells of code: hand in your answers "
                         "alone, and read data from nowhere")  # fmt: skip
    about = _below(content, dict, "metadata", "lrnnlab")
    assignment, variant = (_below(about, str, key)[:MAX_NAME_CHARACTERS] for key in ("assignment", "variant"))
    answers = [name for answer in _below(about, list, "answers") for name in _below(answer, list, "functions")
               if isinstance(name, str) and name.isidentifier() and len(name) <= MAX_NAME_CHARACTERS]  # fmt: skip
    return Notebook(tuple(cells), assignment, tuple(answers[:MAX_CELLS]), tuple(marks[:MAX_CELLS]), tuple(words[:MAX_CELLS]), variant)


def _below(value: Any, kind: type, *keys: str) -> Any:
    """What is of this kind below these keys, or an empty one."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value if isinstance(value, kind) else kind()
