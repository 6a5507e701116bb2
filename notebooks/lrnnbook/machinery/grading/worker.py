"""What runs in a student's process: cells and calls, asked for one by one.

It holds nothing that a student should not see: no solution, no hidden test, no mark.  It sends back what functions
return, as plain data, and the grader compares.  So a student's code may do to its own process what it likes.
"""

import io
import json
import linecache
import os
import random
import shutil
import sys
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from types import ModuleType
from typing import Any

import numpy as np

from lrnnbook.content.exercises.judging import raised
from lrnnbook.machinery.grading.fence import KERNELS, STORED, Limits
from lrnnbook.machinery.grading.serialization import Channel, Closed, decode, encode, written

if os.name == "posix":
    import resource

MAX_PRINTED_CHARACTERS = 2000  # characters of what a cell prints
MAX_CELL_NOTES = 20  # of one cell
TIMED = ("time", "timeit", "capture", "prun")  # commands of Jupyter that run what follows them


def main() -> None:
    """The program: answer on standard output what standard input asks, until nobody does.  Limits are its argument."""
    limits = Limits(**json.loads(sys.argv[1]))
    channel = Channel(os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb"))
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)
    if os.path.isdir(STORED):  # numba takes compiled kernels only from a folder that it may write
        shutil.copytree(STORED, KERNELS, dirs_exist_ok=True, ignore=shutil.ignore_patterns("*.pyc"))
    sys.argv[:] = [""]
    random.seed(0)
    np.random.seed(0)
    module = sys.modules["__main__"] = ModuleType("__main__")  # as in Jupyter: pickle and others look a class up there
    worker = Worker(vars(module))
    confine(limits)
    try:
        channel.send({"ready": True})
        while True:
            question = channel.receive()
            allow(limits.seconds)
            reply = worker.answer(question)
            try:
                channel.send(reply)
            except (TypeError, ValueError, RecursionError, MemoryError) as error:
                channel.send({"error": raised(error)})
    except Closed:
        os._exit(0)  # whatever threads a student has left


def confine(limits: Limits) -> None:
    """Put the limits on this process and all that it starts, for good."""
    if os.name != "posix":
        return
    bounds = {
        resource.RLIMIT_DATA: limits.memory, resource.RLIMIT_FSIZE: limits.folder, resource.RLIMIT_NOFILE: 128,
        resource.RLIMIT_CORE: 0, resource.RLIMIT_CPU: limits.total + 1,
    }  # fmt: skip
    if _counts_processes():
        bounds[resource.RLIMIT_NPROC] = limits.processes
    for what, bound in bounds.items():
        resource.setrlimit(what, (bound, bound))


def _counts_processes() -> bool:
    """Is this a user namespace of its own, whose processes the kernel counts apart from all others (Linux 5.14)?"""
    try:
        with open("/proc/self/uid_map") as file:
            everybody = file.read().split() == ["0", "0", "4294967295"]
        release = tuple(int(part) for part in os.uname().release.split("-")[0].split(".")[:2])
    except (OSError, ValueError):
        return False
    return not everybody and release >= (5, 14)


def allow(seconds: int) -> None:
    """From now on so many seconds of computing time, then the system ends this process."""
    if os.name == "posix":
        used = resource.getrusage(resource.RUSAGE_SELF)
        last = resource.getrlimit(resource.RLIMIT_CPU)[1]
        resource.setrlimit(resource.RLIMIT_CPU, (min(int(used.ru_utime + used.ru_stime) + 1 + seconds, last), last))


class Worker:
    """Answers the grader's questions.  ``names`` are the notebook's, then those of its visible tests."""

    def __init__(self, names: dict[str, Any]) -> None:
        self.names, self.number = names, 0
        self.notes: list[str] = []
        names["display"] = lambda *shown, **options: None
        names["get_ipython"] = lambda: self

    def answer(self, question: dict) -> dict:
        """The reply to one question, which names a method and its arguments; what it raised, where it raised."""
        sink = _Sink()
        self.notes = []
        try:
            with redirect_stdout(sink), redirect_stderr(sink):
                [(method, arguments)] = question.items()
                return getattr(self, f"_{method}")(*arguments) or {"printed": sink.kept, "notes": self.notes[:MAX_CELL_NOTES]}
        except BaseException as error:  # noqa: BLE001  whatever it raises, sys.exit too, is an outcome and no fault here
            return {"error": raised(error) + _where(error), "kind": type(error).__name__, "notes": self.notes[:MAX_CELL_NOTES]}

    def _cell(self, source: str, number: int) -> None:
        self.number = number
        self.run(source, number)

    def _functions(self) -> dict:
        known = ("display", "get_ipython")
        return {"functions": sorted(name for name, value in self.names.items()
                                    if callable(value) and name[:1] != "_" and name not in known)}  # fmt: skip

    def _call(self, name: str, arguments: list, named: dict) -> dict:
        named = {key: decode(value) for key, value in named.items()}
        return {"value": encode(self.names[name](*map(decode, arguments), **named))}

    def _begin(self, functions: list[str]) -> None:
        """Fresh names, but for the student's functions, asked as the grader asks: for the visible tests."""
        self.names = {name: _as_asked(self.names[name]) for name in functions if name in self.names}

    def run(self, source: str, number: int) -> None:
        """Run a cell.  Its place is called as IPython calls one, its lines are kept: inspect, TorchScript and Numba ask."""
        place = f"{_CELL}{number}>" if number else "<set-up>"
        linecache.cache[place] = (len(source), None, source.splitlines(keepends=True), place)
        try:
            code = compile(source, place, "exec", dont_inherit=True)
        except SyntaxError:
            code = compile(_plain_python(source), place, "exec", dont_inherit=True)
        exec(code, self.names)  # noqa: S102  behind the fence

    # --- what IPython's shell would do; get_ipython() is this object ---------------------------------------------------

    def run_line_magic(self, name: str, line: str, *_: Any, **__: Any) -> Any:
        """``%name line``: what it times is run, nothing else is."""
        if name not in TIMED:
            self._note(f"%{name} {line}")
            return None
        try:
            return eval(line, self.names)
        except SyntaxError:
            self.run(line, 0)

    def run_cell_magic(self, name: str, line: str, cell: str) -> None:
        """``%%name line`` at a cell's head."""
        if name in TIMED:
            self.run(f"#\n{cell}", self.number)
        else:
            self.notes.append(f'the whole cell, which begins with "%%{f"{name} {line}".strip()[:40]}", is not run')

    def system(self, line: str) -> list:
        """``!line`` and ``name = !line``."""
        self._note(f"!{line}")
        return []

    getoutput = system

    def _note(self, command: str) -> None:
        line = sys._getframe(2).f_lineno
        self.notes.append(f'line {line}, "{command.strip()[:40]}", is a command of Jupyter and is not run')


class _Sink(io.TextIOBase):
    """A stream that keeps its first characters."""

    kept = ""

    def write(self, text: str) -> int:
        self.kept += text[: MAX_PRINTED_CHARACTERS - len(self.kept)]
        return len(text)


def _plain_python(source: str) -> str:
    """A cell in which IPython has made calls of get_ipython() from its commands (``%time``, ``!ls``, ``name?``)."""
    from IPython.core.inputtransformer2 import TransformerManager

    return TransformerManager().transform_cell(source)


def _as_asked(function: Callable) -> Callable:
    """The function as the grader calls it: arguments and answer pass as plain data."""

    def sent(value: Any) -> Any:
        return decode(json.loads(written(encode(value))))

    def ask(*arguments: Any, **named: Any) -> Any:
        return sent(function(*sent(arguments), **sent(named)))

    ask.__name__ = getattr(function, "__name__", "the function")
    return ask


_CELL = "<ipython-cell "


def _where(error: BaseException) -> str:
    """The last line of a cell that had a part in it, as `` (cell 3, line 2)``."""
    found = [(error.filename, error.lineno)] if isinstance(error, SyntaxError) else []
    trace = error.__traceback__
    while trace:
        found.append((trace.tb_frame.f_code.co_filename, trace.tb_lineno))
        trace = trace.tb_next
    lines = [f" (cell {file[len(_CELL) : -1]}, line {line})" for file, line in found if str(file).startswith(_CELL)]
    return lines[-1] if lines else ""
