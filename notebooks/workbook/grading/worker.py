"""What runs in a student's process: cells and calls, asked for one by one.

It holds nothing that a student should not see: no solution, no hidden test, no mark.  It sends back what functions
return, as plain data, and the grader compares.  So a student's code may do to its own process what it likes.
"""

from __future__ import annotations

import io
import json
import linecache
import os
import random
import shutil
import sys
from contextlib import suppress
from types import ModuleType
from typing import Any

import numpy as np

from workbook.exercises.judging import AnyError, raised
from workbook.grading.fence import KERNELS, STORED
from workbook.grading.sandbox import Limits, allow, confine
from workbook.grading.serialization import Closed, Line, decode, encode, stand_in

KEPT = 2000  # characters of what a cell prints


class Sink(io.TextIOBase):
    """A stream that keeps its first characters and counts the rest."""

    def __init__(self, room: int = KEPT) -> None:
        self.room, self.kept = room, ""

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        self.kept += text[: self.room - len(self.kept)]
        return len(text)


def main() -> None:
    """The program: answer on standard output what standard input asks, until nobody does.  Limits are its argument."""
    limits = Limits(**json.loads(sys.argv[1]))
    line, nowhere = Line(os.dup(0), os.dup(1)), os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)
    if os.path.isdir(STORED):  # numba takes compiled kernels only from a folder that it may write
        shutil.copytree(STORED, KERNELS, dirs_exist_ok=True, ignore=shutil.ignore_patterns("*.pyc"))
    sys.argv[:] = [""]
    random.seed(0)
    np.random.seed(0)
    module = sys.modules["__main__"] = ModuleType("__main__")  # as in Jupyter: pickle and others look a class up there
    module.__dict__["display"] = lambda *shown, **options: None
    tests: dict[str, Any] = {}
    confine(limits)
    try:
        line.send({"ready": True})
        while True:
            question = line.receive()
            allow(limits.seconds)
            _reply(line, answer(question, vars(module), tests))
    except Closed:
        os._exit(0)  # whatever threads a student has left


def _reply(line: Line, message: dict) -> None:
    try:
        line.send(message)
    except (TypeError, ValueError, RecursionError, MemoryError) as error:
        line.send({"error": raised(error)})


def answer(question: dict, names: dict[str, Any], tests: dict[str, Any] | None = None) -> dict:
    """Run a cell, name what is there, call a function, or run visible tests as the grader does.

    ``names`` are the notebook's.  Tests have their own, ``tests``: ``begin`` fills them with what it runs, and with the
    student's functions, whose answers pass over the wire.

    >>> names = {}
    >>> answer({"cell": "def double(n): return 2 * n", "number": 1}, names)
    {'printed': ''}
    >>> answer({"call": "double", "arguments": [21]}, names), answer({"names": True}, names)
    ({'value': 42}, {'functions': ['double']})
    >>> tests = {}
    >>> answer({"begin": ["x = 4"], "functions": ["double"]}, names, tests)
    {}
    >>> answer({"cell": "assert double(2) != x", "number": 2, "test": True}, names, tests)
    {'error': 'AssertionError (cell 2, line 1)', 'kind': 'AssertionError'}
    """
    sink = Sink()
    before = sys.stdout, sys.stderr
    sys.stdout = sys.stderr = sink
    try:
        if "cell" in question:
            number = question.get("number", 0)
            _run(question["cell"], f"<ipython-cell {number}>" if number else "<set-up>", tests if question.get("test") else names)
            return {"printed": sink.kept}
        if "begin" in question:
            tests.clear()
            for source in question["begin"]:
                with suppress(AnyError):
                    _run(source, "<set-up>", tests)
            tests |= {name: stand_in(names[name]) for name in question["functions"] if name in names}
            return {}
        if "call" in question:
            arguments = [decode(argument) for argument in question["arguments"]]
            named = {name: decode(argument) for name, argument in question.get("named", {}).items()}
            return {"value": encode(names[question["call"]](*arguments, **named))}
        return {"functions": sorted(name for name, value in names.items() if callable(value) and name[:1] != "_")}
    except BaseException as error:  # noqa: BLE001  whatever it raises, sys.exit too, is an outcome and no fault here
        return {"error": raised(error) + _where(error), "kind": type(error).__name__}
    finally:
        sys.stdout, sys.stderr = before


def _run(source: str, place: str, names: dict[str, Any]) -> None:
    """Run a cell.  Its place is called as IPython calls one, and its lines are kept: inspect, TorchScript and Numba ask."""
    linecache.cache[place] = (len(source), None, source.splitlines(keepends=True), place)
    exec(compile(source, place, "exec", dont_inherit=True), names)  # noqa: S102  behind the fence


def _where(error: BaseException) -> str:
    """The last line of a cell that had a part in it, as `` (cell 3, line 2)``."""
    found = []
    if isinstance(error, SyntaxError):
        found.append((error.filename, error.lineno))
    trace = error.__traceback__
    while trace:
        found.append((trace.tb_frame.f_code.co_filename, trace.tb_lineno))
        trace = trace.tb_next
    begin = "<ipython-cell "
    lines = [f" (cell {file[len(begin) : -1]}, line {line})" for file, line in found if str(file).startswith(begin)]
    return lines[-1] if lines else ""
