"""%%build and mine: what a reader builds is kept, and later cells and chapters run on it.

A cell that begins ``%%build scan`` is run, and the ``scan`` that its text alone makes is judged by the contract of that name: what
is kept must stand alone, in other notebooks and programs.  Where it is right, the cell is kept as ``mine/scan.py`` in the reader's copy, and its digest in ``progress.json``; ``mine("scan")`` gives it from
then on, in every notebook.  Before that, and where there is no copy (in tests, when the book is built, on the site), it
gives the package's.  A chapter's builds are the ``BUILDS`` of its ``chNN.py``.
"""

import builtins
import dis
import hashlib
import importlib
import io
import linecache
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from types import CodeType
from typing import Any

from lrnnbook.content.exercises.judging import (
    RIGHT,
    UNTRIED,
    AnyError,
    CannotJudge,
    NotYet,
    Verdict,
    home,
    judge,
    raised,
)
from lrnnbook.content.exercises.progress import digest, note
from lrnnbook.machinery import copies

FOLDER = "mine"
MAGIC = re.compile(r"%%build +(\w+) *(?:\n|$)")  # the first line of a build cell
CHAPTERS = tuple(f"{number:02d}" for number in range(11))
LINES = 2_000_000  # of a cell, which its contract may run: right ones take less than a tenth
_session: dict[str, Any] = {}  # what was found right in this process: a reader without a copy has it, too
_helpers: set[str] = set()  # names that build cells have added to the notebook's


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

    def test() -> None:
        with _ending(home(answer)):
            one.contract(answer)

    found = judge(test)
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
    _, made, why = own(name)
    print(f"{name}: " + (f"the package's, {why}" if why else f"yours, from {FOLDER}/{name}.py"))
    return one.reference if why else made


def own(name: str) -> tuple[str, Any, str]:
    """The reader's cell that was found right, what it makes, and an empty text; or two times nothing, and why."""
    file, exercise = kept(name), build(name).exercise
    if file is None or not file.is_file():
        return "", None, f"until yours is right (exercise {exercise})"
    text = file.read_bytes()
    if digest(exercise) != _digest(text):
        return "", None, (f"for {FOLDER}/{name}.py was changed since it was found right: copy your change into the cell of exercise "
                          f"{exercise} and run that, which replaces the file")  # fmt: skip
    try:
        return text.decode(), _alone(name, text.decode(), str(file)), ""
    except AnyError as error:
        return "", None, f"for {FOLDER}/{name}.py cannot be used ({error})"


def kept(name: str) -> Path | None:
    """Where the reader's ``name`` is kept, or would be; None where there is no working copy."""
    folder = copies.here()
    return folder / FOLDER / f"{name}.py" if folder else None


def run(shell: Any, name: str, cell: str) -> Verdict | None:
    """Run a build cell, judge what it makes, and keep it if it is right; None where the cell itself raised."""
    one, made, names = build(name), [], set(shell.user_ns)
    others = {other: value for other, value in shell.user_ns.items() if callable(value) and other not in _helpers | {name}}
    success = shell.run_cell(cell).success
    _helpers.update(shell.user_ns.keys() - names)
    shell.user_ns.update(others)  # a helper of the cell may have the name of a function that other cells call
    if not success:  # the shell has shown the error
        return None
    found, text = judge(lambda: made.append(_alone(name, cell, f"<{name}, your cell>"))), cell.encode()
    if made:
        shell.user_ns[name] = made[0]  # with its own helpers
        found = verdict(name, made[0])
    if found.outcome == RIGHT:
        _session[name] = made[0]
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


def _alone(name: str, text: str, file: str) -> Any:
    """What the text of a cell, run without the notebook's names, makes of ``name``; NotYet where it lacks a name."""
    if not Path(file).exists():
        linecache.cache[file] = len(text), None, text.splitlines(True), file  # for the reader's own line, where one raises
    made: dict[str, Any] = {"__name__": f"{FOLDER}.{name}"}
    try:
        code = compile(text, file, "exec", dont_inherit=True)
        with redirect_stdout(io.StringIO()):  # which the shell has shown
            exec(code, made)  # noqa: S102 - the reader's own
        sought = _globals(code, "LOAD_GLOBAL") - _globals(code, "STORE_GLOBAL") - made.keys() - vars(builtins).keys()
        lacks = min(sought, default=None)
    except NameError as error:
        lacks = error.name
    except AnyError as error:
        raise CannotJudge(f"run without the rest of the notebook, this cell raised {raised(error)}") from None
    if lacks:
        raise NotYet(f"`{lacks}` is neither imported nor defined in this cell, and what you keep must stand alone")
    if made.get(name) is None:
        raise NotYet(f"this cell defines no {name}")
    return made[name]


def _globals(code: CodeType, instruction: str) -> set[str]:
    """The names outside of themselves that the functions in the code load or store."""
    inner = [one for one in code.co_consts if isinstance(one, CodeType)]
    found = {step.argval for one in inner for step in dis.get_instructions(one) if step.opname == instruction}
    return found.union(*(_globals(one, instruction) for one in inner))


@contextmanager
def _ending(file: str | None) -> Iterator[None]:
    """TimeoutError, within the code of ``file``, after ``LINES`` lines of it: an endless loop is told, and hangs no kernel."""
    left, before = LINES, sys.gettrace()

    def trace(frame: Any, event: str, given: Any) -> Any:
        nonlocal left
        if frame.f_code.co_filename != file:
            return None
        left -= event == "line"
        if left < 0:
            raise TimeoutError(f"it ran {LINES:,} lines and came to no end: does a loop go on for ever?")
        return trace

    sys.settrace(trace if file else before)
    try:
        yield
    finally:
        sys.settrace(before)


def _digest(text: bytes) -> str:
    return hashlib.sha256(text).hexdigest()
