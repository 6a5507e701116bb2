"""%%build and mine: what a reader builds is kept, and later cells and chapters run on it.

A cell that begins ``%%build scan`` is run, and its ``scan`` is judged by the contract of that name.  Where it is right, the
cell is kept as ``mine/scan.py`` in the reader's copy, and its digest in ``progress.json``; ``mine("scan")`` gives it from
then on, in every notebook.  Before that, and where there is no copy (in tests, when the book is built, on the site), it
gives the package's.  A chapter's builds are the ``BUILDS`` of its ``chNN.py``.
"""

import hashlib
import importlib
import re
import runpy
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lrnnbook.content.exercises.judging import NOT_YET, RIGHT, UNTRIED, AnyError, Verdict, judge, raised
from lrnnbook.content.exercises.progress import digest, note
from lrnnbook.machinery import copies

FOLDER = "mine"
MAGIC = re.compile(r"%%build +(\w+) *(?:\n|$)")  # the first line of a build cell
CHAPTERS = tuple(f"{number:02d}" for number in range(11))
_session: dict[str, Any] = {}  # what was found right in this process: a reader without a copy has it, too


@dataclass(frozen=True)
class Build:
    """One thing to build: its exercise, the contract that judges it, the package's own, and what *right* says besides."""

    exercise: str
    contract: Callable[[Any], None]
    reference: Any
    says: str


def builds(chapter: str = "") -> dict[str, Build]:
    """All builds by name, or those of a chapter ("02")."""
    found = {}
    for one in (chapter,) if chapter else CHAPTERS:
        found |= getattr(importlib.import_module(f"lrnnbook.content.exercises.ch{one}"), "BUILDS", {})
    return found


def build(name: str) -> Build:
    """The build of this name; ValueError, with all names, where there is none."""
    there = builds()
    if name not in there:
        raise ValueError(f"there is no build {name!r}; there are {', '.join(there)}")
    return there[name]


def verdict(name: str, answer: Any) -> Verdict:
    """What a build is told: right, and a sentence more; not yet, with the smallest input that fails; or not tried yet."""
    one = build(name)
    found = judge(lambda: one.contract(answer))
    if found.says == "not attempted":
        return Verdict(UNTRIED, f'write the cell and run it again; hint("{one.exercise}") gives you a start')
    return Verdict(RIGHT, one.says) if found.outcome == RIGHT else found


def mine(name: str) -> Any:
    """The reader's ``name``, as it was last found right; else the package's.  A line says which.

    ValueError for a name that no build cell has.

    >>> scan = mine("scan")
    scan: the package's, until yours is right (exercise 02.3)
    """
    one = build(name)
    if name in _session:
        print(f"{name}: yours")
        return _session[name]
    why, file = f"until yours is right (exercise {one.exercise})", kept(name)
    if own(name):
        try:
            made = runpy.run_path(str(file))[name]
            print(f"{name}: yours, from {FOLDER}/{name}.py")
            return made
        except AnyError as error:
            why = f"for {FOLDER}/{name}.py raised {raised(error)}"
    elif file is not None and file.is_file():
        why = f"for {FOLDER}/{name}.py was changed since it was found right: run its cell again (exercise {one.exercise})"
    print(f"{name}: the package's, {why}")
    return one.reference


def own(name: str) -> str | None:
    """The text of the reader's cell that was found right; None where there is none, or it was changed since."""
    file = kept(name)
    if file is None or not file.is_file():
        return None
    text = file.read_bytes()
    return text.decode() if digest(build(name).exercise) == _digest(text) else None


def kept(name: str) -> Path | None:
    """Where the reader's ``name`` is kept, or would be; None where there is no working copy."""
    folder = copies.here()
    return folder / FOLDER / f"{name}.py" if folder else None


def run(shell: Any, name: str, cell: str) -> Verdict | None:
    """Run a build cell, judge what it makes, and keep it if it is right; None where the cell itself raised."""
    one = build(name)
    before = {name: shell.user_ns.pop(name)} if name in shell.user_ns else {}  # judged is what this cell defines
    success = shell.run_cell(cell).success
    made = shell.user_ns.get(name)
    if made is None:
        shell.user_ns.update(before)
    if not success:  # the shell has shown the error
        return None
    found = Verdict(NOT_YET, f"this cell defines no {name}") if made is None else verdict(name, made)
    text = cell.encode()
    if found.outcome == RIGHT:
        _session[name] = shell.user_ns[name]
        if (file := kept(name)) is not None:
            copies.put(file, text)
    if said := note(one.exercise, found.outcome, _digest(text) if found.outcome == RIGHT else ""):
        print(said)
    return found


def register(shell: Any) -> None:
    """Give an IPython shell the magic ``%%build``."""
    from IPython.core.error import UsageError  # which a notebook shows in one line

    def magic(line: str, cell: str) -> Verdict | None:
        try:
            build(line.strip())
        except ValueError as error:
            raise UsageError(str(error)) from error
        return run(shell, line.strip(), cell)

    shell.register_magic_function(magic, "cell", "build")


def _digest(text: bytes) -> str:
    return hashlib.sha256(text).hexdigest()
