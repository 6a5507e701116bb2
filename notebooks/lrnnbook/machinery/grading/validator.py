"""Before hand-in: what in this notebook would a grader choke on?  In plain words, without the hidden tests.

The notebook is looked at, then run from top to bottom as the grader runs it (a fresh, fenced process, Python alone),
and then its own visible tests are run.  What is said here about a test says nothing about the hidden ones.
"""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from lrnnbook.machinery.grading import fence
from lrnnbook.machinery.grading.fence import Fence
from lrnnbook.machinery.grading.grading import Session
from lrnnbook.machinery.grading.sanitize import tell
from lrnnbook.machinery.grading.sets import NO_WORDS, definitions, top_names
from lrnnbook.machinery.grading.submissions import Cell, Notebook, Unreadable, read

STOPS, MIND = "must be put right", "please look"  # points would be lost, or might be


def validate(path: Path, within: Fence | None = None) -> list[str]:
    """All findings about a notebook that is to be handed in; none is good news.  ``within``: the fence; else the one that this
    machine has, or none: it is the student's own code."""
    path = Path(path)
    if not path.is_file():
        return [f"{STOPS}: there is no file {path}: save the notebook, and under this name (on Colab: File, Download, then upload it to Files)"]
    try:
        notebook = read(path)
    except Unreadable as error:
        return [f"{STOPS}: {error}"]
    if not notebook.answers:
        return [f"{STOPS}: this is no notebook of a problem set, or its own description was lost: copy your answers into a fresh one"]
    return [*_at_rest(notebook, path), *_running(notebook, within or fence.find(unfenced=True))]


def report(path: Path | str) -> bool:
    """Print all findings and tell whether there are none; a set's last cell calls it."""
    findings = validate(Path(path))
    for number, finding in enumerate(findings, 1):
        tell(f"{number}. {finding}")
    if not findings:
        tell("Nothing found: a grader can run this notebook, and its visible tests pass.")
    return not findings


def _at_rest(notebook: Notebook, path: Path) -> Iterator[str]:
    if path.suffix != ".ipynb":
        yield f"{MIND}: the file is called {path.name}: a notebook's name ends in .ipynb"
    if b'"jupytext"' in path.read_bytes():
        yield f"{MIND}: the notebook is paired with a text file: edits in one can be lost in the other. Unpair it"
    for said in notebook.doubled(notebook.answers):
        yield f"{MIND}: {said}"
    for id, count in sorted(Counter(notebook.marks).items()):
        if count > 1:
            yield f"{MIND}: the cell {id!r} is there {count} times: a copy can be deleted"
    for id, text in notebook.words:
        if NO_WORDS in text:
            yield f"{MIND}: {id} holds no words of yours yet"
    for cell in notebook.own:
        yield from _calls(cell)


def _calls(cell: Cell) -> Iterator[str]:
    """Calls of what no grader answers, as far as a look at the text tells."""
    try:
        tree = ast.parse(cell.source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # running it says so
        return
    for node in ast.walk(tree):
        called = node.func if isinstance(node, ast.Call) else None
        if getattr(called, "id", "") == "input":
            yield f"{STOPS}: cell {cell.number} calls input(): nobody is there to answer"
        elif getattr(called, "attr", "") in ("exit", "_exit"):
            said = ast.get_source_segment(cell.source, node)[:40]
            yield f"{MIND}: cell {cell.number} may end the whole process: leave {said} out"


def _running(notebook: Notebook, within: Fence) -> Iterator[str]:
    setup = "\n".join(cell.source for cell in notebook.cells if cell.is_setup)
    helpers = tuple(helper for cell in notebook.cells if cell.is_test for helper in definitions(cell.source)
                    if not {*notebook.answers}.intersection(top_names(helper)))  # fmt: skip
    with closing(Session(notebook, setup, helpers, within)) as session:
        session.start()
        for number, notes in sorted(session.notes.items()):
            for note in notes:
                yield f"{STOPS if 'whole cell' in note else MIND}: cell {number}: {note}"
        for number, fault in sorted(session.faults.items()):
            if number:  # else it is the set-up, whose cell says so too
                jupyter = ": Jupyter alone runs that" if "await" in fault else ""
                yield f"{STOPS}: cell {number} failed when the notebook was run from top to bottom: {fault}{jupyter}"
        if session.over:
            yield f"{STOPS}: {session.over}"
            return
        for name in notebook.answers:
            if name not in session.functions:
                yield f"{STOPS}: {session.missing(name)}"
        for cell, fault in session.visible_tests():
            if fault and cell.is_test:
                said = re.sub(r"^(CannotJudge|NotYet): | \(cell \d+, line \d+\)$", "", fault)
                yield f"{STOPS}: the test in cell {cell.number} ({cell.grade_id}) says: {said}"
