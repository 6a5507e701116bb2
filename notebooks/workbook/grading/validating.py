"""Before hand-in: what in this notebook would a grader choke on?  In plain words, without the hidden tests.

The notebook is looked at, then run from top to bottom as the grader runs it (a fresh, fenced process, Python alone),
and then its own visible tests are run.  What is said here about a test says nothing about the hidden ones.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from workbook.grading import fence
from workbook.grading.fence import Fence
from workbook.grading.grading import Sitting
from workbook.grading.notebook_parser import definitions
from workbook.grading.sanitize import clean
from workbook.grading.submissions import Code, Notebook, Unreadable, doubled, read

STOPS, MIND = "must be put right", "please look"


@dataclass(frozen=True)
class Finding:
    """One thing: ``weight`` is STOPS (points would be lost) or MIND."""

    weight: str
    says: str

    def __str__(self) -> str:
        return f"{self.weight}: {self.says}"


def validate(path: Path, within: Fence | None = None) -> list[Finding]:
    """All findings about a notebook that is to be handed in; none is good news.  Nothing is written.

    ``within`` : the fence; else the one that this machine has, or none: it is the student's own code.

    >>> validate(Path("ps1.ipynb"))  # doctest: +SKIP
    [Finding(weight='must be put right', says="there is no function 'turns'; there is 'turn': was it renamed?")]
    """
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
    for said in doubled(notebook, notebook.answers):
        yield Finding(MIND, said)
    for id, count in sorted(notebook.marks.items()):
        if count > 1:
            yield Finding(MIND, f"the cell {id!r} is there {count} times: a copy can be deleted")
    for cell in notebook.cells:
        if not cell.is_test:
            yield from _cell(cell)


def _cell(cell: Code) -> Iterator[Finding]:
    for note in cell.notes:
        yield Finding(STOPS if "whole cell" in note else MIND, f"cell {cell.number}: {note}")
    try:
        tree = ast.parse(cell.source)
        compile(tree, "<cell>", "exec", dont_inherit=True)
    except SyntaxError as error:
        said = f"cell {cell.number} is not Python: {error.msg} (line {error.lineno})"
        yield Finding(STOPS, f"{said}: Jupyter alone runs that" if "await" in error.msg else said)
        return
    except (ValueError, RecursionError, MemoryError):
        yield Finding(STOPS, f"cell {cell.number} is not Python, or is nested too deeply for it")
        return
    called = {node.func.id for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}
    if "input" in called:
        yield Finding(STOPS, f"cell {cell.number} calls input(): nobody is there to answer")
    if "get_ipython" in called:
        yield Finding(STOPS, f"cell {cell.number} calls get_ipython(): the grader runs Python, not Jupyter")
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ("exit", "_exit"):
            yield Finding(MIND, f"cell {cell.number} may end the whole process: "
                                f"leave {ast.get_source_segment(cell.source, node)[:40]} out")


def _running(notebook: Notebook, within: Fence) -> Iterator[Finding]:
    setup = "\n".join(cell.source for cell in notebook.cells if cell.is_setup)
    helpers = tuple(helper for cell in notebook.cells if cell.is_test for helper in definitions(cell.source))
    sitting = Sitting(notebook, setup, helpers, within)
    try:
        sitting.start()
        for number, fault in sorted(sitting.faults.items()):
            if number:  # else it is the set-up, whose cell says so too
                yield Finding(STOPS, f"cell {number} failed when the notebook was run from top to bottom: {fault}")
        if sitting.over:
            yield Finding(STOPS, sitting.over)
            return
        for name in notebook.answers:
            if name not in sitting.functions:
                yield Finding(STOPS, sitting.missing(name))
        yield from _visible_tests(notebook, sitting)
    finally:
        sitting.close()


def _visible_tests(notebook: Notebook, sitting: Sitting) -> Iterator[Finding]:
    """The notebook's own tests, as the grader runs them, but in the student's process: they are the student's to see."""
    for _, cells in groupby(
        (cell for cell in notebook.cells if cell.is_test), lambda cell: cell.grade_id.split("_")[:2]
    ):
        if sitting.process is not None:
            sitting.begin()
        for cell in cells:
            if sitting.process is None:
                return
            reply = sitting.test(cell)
            if "error" in reply:
                said = re.sub(r"^(CannotJudge|NotYet): | \(cell \d+, line \d+\)$", "", str(reply["error"]))
                yield Finding(STOPS, f"the test in cell {cell.number} ({cell.grade_id}) says: {said}")


def report(findings: list[Finding]) -> str:
    """The findings for a reader.

    >>> print(report([]))
    Nothing found: a grader can run this notebook, and its visible tests pass.
    """
    if not findings:
        return "Nothing found: a grader can run this notebook, and its visible tests pass."
    return "\n".join(f"{number}. {clean(finding)}" for number, finding in enumerate(findings, 1))
