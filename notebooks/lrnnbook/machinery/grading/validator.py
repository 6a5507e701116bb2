"""Before hand-in: what in this notebook would a grader choke on?  In plain words, without the hidden tests.

The notebook is looked at, then run from top to bottom as the grader runs it (a fresh, fenced process, Python alone),
and then its own visible tests are run.  What is said here about a test says nothing about the hidden ones.
"""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from lrnnbook.machinery.grading import fence
from lrnnbook.machinery.grading.fence import Fence
from lrnnbook.machinery.grading.sanitize import clean
from lrnnbook.machinery.grading.session import Session
from lrnnbook.machinery.grading.sets import definitions
from lrnnbook.machinery.grading.submissions import Cell, Notebook, Unreadable, read

STOPS, MIND = "must be put right", "please look"


class Finding(NamedTuple):
    """One thing: ``weight`` is STOPS (points would be lost) or MIND."""

    weight: str
    says: str

    def __str__(self) -> str:
        return f"{self.weight}: {self.says}"


def validate(path: Path, within: Fence | None = None) -> list[Finding]:
    """All findings about a notebook that is to be handed in; none is good news.  ``within``: the fence; else the one that this
    machine has, or none: it is the student's own code."""
    path = Path(path)
    if not path.is_file():
        return [Finding(STOPS, f"there is no file {path}")]
    try:
        notebook = read(path)
    except Unreadable as error:
        return [Finding(STOPS, str(error))]
    if not notebook.answers:
        return [Finding(STOPS, "this is no notebook of a problem set, or its own description was lost: copy your "
                               "answers into a fresh one")]  # fmt: skip
    return [*_at_rest(notebook, path), *_running(notebook, within or fence.find(unfenced=True))]


def _at_rest(notebook: Notebook, path: Path) -> Iterator[Finding]:
    if path.suffix != ".ipynb":
        yield Finding(MIND, f"the file is called {path.name}: a notebook's name ends in .ipynb")
    if b'"jupytext"' in path.read_bytes():
        yield Finding(MIND, "the notebook is paired with a text file: edits in one can be lost in the other. Unpair it")
    for said in notebook.doubled(notebook.answers):
        yield Finding(MIND, said)
    for id, count in sorted(Counter(notebook.marks).items()):
        if count > 1:
            yield Finding(MIND, f"the cell {id!r} is there {count} times: a copy can be deleted")
    for cell in notebook.own:
        yield from _calls(cell)


def _calls(cell: Cell) -> Iterator[Finding]:
    """Calls of what no grader answers, as far as a look at the text tells."""
    try:
        tree = ast.parse(cell.source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # running it says so
        return
    for node in ast.walk(tree):
        called = node.func if isinstance(node, ast.Call) else None
        if getattr(called, "id", "") == "input":
            yield Finding(STOPS, f"cell {cell.number} calls input(): nobody is there to answer")
        elif getattr(called, "attr", "") in ("exit", "_exit"):
            yield Finding(MIND, f"cell {cell.number} may end the whole process: "
                                f"leave {ast.get_source_segment(cell.source, node)[:40]} out")


def _running(notebook: Notebook, within: Fence) -> Iterator[Finding]:
    setup = "\n".join(cell.source for cell in notebook.cells if cell.is_setup)
    helpers = tuple(helper for cell in notebook.cells if cell.is_test for helper in definitions(cell.source))
    with Session(notebook, setup, helpers, within) as session:
        session.start()
        for number, notes in sorted(session.notes.items()):
            for note in notes:
                yield Finding(STOPS if "whole cell" in note else MIND, f"cell {number}: {note}")
        for number, fault in sorted(session.faults.items()):
            if number:  # else it is the set-up, whose cell says so too
                jupyter = ": Jupyter alone runs that" if "await" in fault else ""
                yield Finding(STOPS, f"cell {number} failed when the notebook was run from top to bottom: {fault}{jupyter}")
        if session.over:
            yield Finding(STOPS, session.over)
            return
        for name in notebook.answers:
            if name not in session.functions:
                yield Finding(STOPS, session.missing(name))
        yield from _visible_tests(notebook, session)


def _visible_tests(notebook: Notebook, session: Session) -> Iterator[Finding]:
    """The notebook's own tests, as the grader runs them, but in the student's process: they are the student's to see."""
    tests = (cell for cell in notebook.cells if cell.is_test)
    for _, cells in groupby(tests, lambda cell: cell.grade_id.split("_")[:2]):
        session.begin_tests()
        for cell in cells:
            if fault := session.test(cell):
                said = re.sub(r"^(CannotJudge|NotYet): | \(cell \d+, line \d+\)$", "", fault)
                yield Finding(STOPS, f"the test in cell {cell.number} ({cell.grade_id}) says: {said}")


def report(findings: list[Finding]) -> str:
    """The findings for a reader."""
    if not findings:
        return "Nothing found: a grader can run this notebook, and its visible tests pass."
    return "\n".join(f"{number}. {clean(finding)}" for number, finding in enumerate(findings, 1))
