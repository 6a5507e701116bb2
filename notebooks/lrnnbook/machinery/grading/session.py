"""One submission, run: its cells in a process in the fence, and in a new one whenever that ends."""

from __future__ import annotations

import difflib
import time
from dataclasses import replace
from typing import Any

from lrnnbook.content.exercises.judging import CannotJudge, shown
from lrnnbook.machinery.grading.fence import Fence
from lrnnbook.machinery.grading.sandboxed_process import Gone, Process
from lrnnbook.machinery.grading.serialization import decode, encode
from lrnnbook.machinery.grading.submissions import Cell, Notebook

MAX_RESTARTS = 12  # new processes for one submission


class Session:
    """The locked set-up, what the visible tests define (``helpers``: an answer may use that), then a notebook's own cells; what
    takes too long or ends its process costs what depends on it: a new process takes over without it."""

    def __init__(self, notebook: Notebook, setup: str, helpers: tuple[str, ...], fence: Fence) -> None:
        self.notebook, self.setup, self.helpers, self.fence = notebook, setup, helpers, fence
        self.process: Process | None = None
        self.faults: dict[int, str] = {}  # cell, 0 for the set-up -> what it raised
        self.notes: dict[int, list[str]] = {}  # cell -> what of it was not run
        self.skipped: set[int] = set()  # cells that ended the process
        self.dead: dict[str, str] = {}  # functions that did
        self.functions: list[str] = []
        self.left, self.until = MAX_RESTARTS, time.monotonic() + fence.limits.whole
        self.computed = 0.0  # seconds of computing time of the processes that have ended
        self.over = ""

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the process."""
        if self.process is not None:
            self.process.close()
            self.computed += self.process.computed
            self.process = None

    def start(self) -> None:
        """Run the cells, in a new process whenever one ends it; at the end ``process`` is ready, or ``over``."""
        while self.process is None and not self._exhausted():
            self.left -= 1
            limits = self.fence.limits
            left = replace(limits, total=int(limits.total - self.computed) + 1)
            self.process = Process(replace(self.fence, limits=left))
            number = 0
            try:
                self._run(self.process, self.setup, 0)
                for helper in self.helpers:
                    self.process.ask("cell", helper, 0)
                for cell in self.notebook.own:
                    if cell.number not in self.skipped:
                        number = cell.number
                        self._run(self.process, cell.source, number)
                number = 0
                self.functions = self.process.ask("functions").get("functions", [])
            except Gone as gone:
                self.close()
                self.faults[number] = str(gone)
                self.skipped.add(number)

    def _run(self, process: Process, source: str, number: int) -> None:
        reply = process.ask("cell", source, number)
        self.notes[number] = reply.get("notes", [])
        if "error" in reply:
            self.faults[number] = reply["error"]

    def _exhausted(self) -> str:
        """Why no more is asked of this notebook, or nothing."""
        limits = self.fence.limits
        if self.computed + (self.process.computed if self.process else 0) > limits.total:
            self.over = self.over or f"the notebook as a whole used more than {limits.total} seconds of computing time"
        elif time.monotonic() > self.until:
            self.over = self.over or f"the notebook as a whole took more than {limits.whole:g} seconds by the clock"
        elif self.process is None and self.left <= 0:
            self.over = self.over or "the notebook ended its process again and again"
        return self.over

    def call(self, name: str, arguments: tuple, named: dict) -> object:
        """Ask the student's function; CannotJudge says why there is no answer."""
        if name in self.dead:
            raise CannotJudge(self.dead[name])
        self.start()
        if self._exhausted():
            raise CannotJudge(self.over)
        if name not in self.functions:
            raise CannotJudge(self.missing(name))
        asked = f"{name}({', '.join([*map(shown, arguments), *(f'{key}={shown(value)}' for key, value in named.items())])})"
        question = name, [encode(value) for value in arguments], {key: encode(value) for key, value in named.items()}
        try:
            reply = self.process.ask("call", *question)
        except Gone as gone:
            self.close()
            self.dead[name] = f"{name} was called before and {gone}"  # without arguments: they may be a hidden test's
            raise CannotJudge(f"{asked} {gone}") from None
        if "error" in reply:
            undone = reply.get("kind") == "NotImplementedError"
            raise CannotJudge("not attempted" if undone else f"{asked} raised {reply['error']}"[:400])
        try:
            return decode(reply.get("value"))
        except ValueError as error:
            raise CannotJudge(f"{asked} sent the grader what is no answer: {str(error)[:100]}") from None

    def missing(self, name: str) -> str:
        """There is no such function: what may have happened?"""
        text = f"there is no function {name!r} when all cells have run"
        near = difflib.get_close_matches(name, [one for one in self.functions if one not in self.setup], 1)
        cells = {cell.number: cell for cell in self.notebook.cells if f"def {name}" in cell.source}
        if cells and all(cell.is_test for cell in cells.values()):
            return f"{text}: it stands in cell {min(cells)}, which is a test and is replaced. Put it into a cell of its own"
        number = min(cells, default=None)
        if number in self.faults:
            return f"{text}: cell {number}, where it stands, failed: {self.faults[number]}"
        return f"{text}; there is {near[0]!r}: was it renamed?" if near else f"{text}: was its cell deleted?"

    def begin_tests(self) -> None:
        """Make names for visible tests in the student's own process: the set-up's, the helpers', and the answers."""
        self._ask("begin", [self.setup, *self.helpers], self.notebook.answers)

    def test(self, cell: Cell) -> str:
        """Run a visible test in the student's own process; what it raised, or nothing."""
        return self._ask("test", cell.source, cell.number).get("error", "")

    def _ask(self, *question: Any) -> dict:
        if self.process is None:
            return {}
        try:
            return self.process.ask(*question)
        except Gone as gone:
            self.close()
            return {"error": str(gone)}
