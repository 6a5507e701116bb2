"""What runs in a student's process: cells and calls, asked for one by one.

It holds nothing that a student should not see: no solution, no hidden test, no mark.  It sends back what functions
return, as plain data, and the grader compares.  So a student's code may do to its own process what it likes.
"""

from __future__ import annotations

import io
import json
import os
import random
import shutil
import sys
from typing import Any

import numpy as np

from lrnnlab.course.fence import KERNELS, STORED
from lrnnlab.course.judging import raised
from lrnnlab.course.sandbox import Limits, allow, confine
from lrnnlab.course.wire import Closed, Line, decode, encode

KEPT = 2000  # characters of what a cell prints


class Sink(io.TextIOBase):
    """A stream that keeps its first characters and counts the rest.

    >>> sink = Sink(3); sink.write("abcdef"), sink.kept
    (6, 'abc')
    """

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
    names: dict[str, Any] = {"__name__": "__main__", "display": lambda *shown, **options: None}
    confine(limits)
    try:
        line.send({"ready": True})
        while True:
            question = line.receive()
            allow(limits.seconds)
            _reply(line, answer(question, names))
    except Closed:
        os._exit(0)  # whatever threads a student has left


def _reply(line: Line, message: dict) -> None:
    try:
        line.send(message)
    except (TypeError, ValueError, RecursionError, MemoryError) as error:
        line.send({"error": raised(error)})


def answer(question: dict, names: dict[str, Any]) -> dict:
    """Run a cell, name what is there, or call a function.

    >>> names = {}
    >>> answer({"cell": "def double(n): return 2 * n", "number": 1}, names)
    {'printed': ''}
    >>> answer({"call": "double", "arguments": [21]}, names), answer({"names": True}, names)
    ({'value': 42}, {'functions': ['double']})
    """
    sink = Sink()
    before = sys.stdout, sys.stderr
    sys.stdout = sys.stderr = sink
    try:
        if "cell" in question:
            place = f"<cell {question.get('number', 0)}>"
            exec(compile(question["cell"], place, "exec"), names)  # noqa: S102  behind the fence
            return {"printed": sink.kept}
        if "call" in question:
            arguments = [decode(argument) for argument in question["arguments"]]
            return {"value": encode(names[question["call"]](*arguments))}
        return {"functions": sorted(name for name, value in names.items() if callable(value) and name[:1] != "_")}
    except BaseException as error:  # noqa: BLE001  whatever it raises, sys.exit too, is an outcome and no fault here
        return {"error": raised(error) + _where(error), "kind": type(error).__name__}
    finally:
        sys.stdout, sys.stderr = before


def _where(error: BaseException) -> str:
    """The last line of a cell that had a part in it, as `` (cell 3, line 2)``."""
    found = []
    if isinstance(error, SyntaxError):
        found.append((error.filename, error.lineno))
    trace = error.__traceback__
    while trace:
        found.append((trace.tb_frame.f_code.co_filename, trace.tb_lineno))
        trace = trace.tb_next
    lines = [f" ({file[1:-1]}, line {line})" for file, line in found if str(file).startswith("<cell ")]
    return lines[-1] if lines else ""
