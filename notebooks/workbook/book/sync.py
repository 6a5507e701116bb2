"""Source and twin: do they still say the same?"""

import difflib
from pathlib import Path

import jupytext
import nbformat
from nbformat import NotebookNode

from workbook.book.reading_time import exercising, reading, timed
from workbook.book.running import HIDDEN, KERNEL, BookError, where
from workbook.exercises.hints import refolded

# What a save in an author's JupyterLab (bootstrap.py lab --author) keeps in a source beside the cells' text.
FILTERS = {"notebook_metadata_filter": "kernelspec,-jupytext", "cell_metadata_filter": "tags,nbgrader,-all"}
KEPT = {"tags", "nbgrader"}
SHOWN = KEPT | {"jupyter"}  # what a twin keeps: the build marks in it which cells are folded


def source_of(notebook: Path) -> Path:
    """``notebooks/NAME.ipynb`` -> ``notebooks/py/NAME.py``."""
    return notebook.parent / "py" / f"{notebook.stem}.py"


def twin_of(source: Path) -> Path:
    """``notebooks/py/NAME.py`` -> ``notebooks/NAME.ipynb``."""
    return source.parent.parent / f"{source.stem}.ipynb"


def read_source(source: Path) -> NotebookNode:
    """A py:percent file as a notebook that was not run yet.  BookError for a file that is no text in UTF-8."""
    try:
        return jupytext.reads(source.read_text(encoding="utf-8"), fmt="py:percent")
    except UnicodeDecodeError as error:
        raise BookError(f"{source} is no text in UTF-8 ({error})") from error


def folded(notebook: NotebookNode) -> NotebookNode:
    """The notebook with Jupyter's own mark at each cell that is tagged ``hide-input``."""
    for cell in notebook.cells:
        if HIDDEN in cell.metadata.get("tags", ()):
            cell.metadata["jupyter"] = NotebookNode(source_hidden=True)
    return notebook


def as_built(source: Path) -> str:
    """The text of a source as a build leaves it: hints and solutions from their file, how long it takes to read as
    counted, all else as a save would write it."""
    notebook = read_source(source)
    for i, cell in enumerate(notebook.cells):
        cell.metadata.pop("lines_to_next_cell", None)  # how many blank lines were there instead
        if lost := sorted(set(cell.metadata) - KEPT):
            place = where(notebook.cells, i)
            raise BookError(f"{source.name}, {place}: a save keeps tags and nbgrader, and would lose {', '.join(lost)}")
    written = [cell for cell in notebook.cells if cell.cell_type == "markdown"]
    read, exercises = reading(notebook.cells), exercising(notebook.cells)
    try:
        for cell, text in zip(written, refolded([cell.source for cell in written])):
            cell.source = timed(text, read, exercises)
    except ValueError as error:
        raise BookError(str(error)) from error
    notebook.metadata = NotebookNode(kernelspec=NotebookNode(KERNEL), jupytext=NotebookNode(FILTERS))
    return jupytext.writes(notebook, fmt="py:percent")


def read_twin(notebook: Path) -> NotebookNode:
    """A notebook as it is committed.  Raises :class:`BookError` where the file is damaged."""
    try:
        found = nbformat.read(notebook, as_version=4)
        nbformat.validate(found)
        return found
    except (ValueError, AttributeError, TypeError, KeyError, nbformat.ValidationError) as error:  # half a file, a merge's marks
        raise BookError(f"{notebook.name} is not a notebook ({error}): restore it, or delete it and build") from error


def drift(source: Path, notebook: Path) -> list[str]:
    """Where a source and its twin differ in text, kind, tags or folds of their cells; empty where they agree.

    Outputs, ids and counts are no part of it.  A missing file is a difference too, and so are the state of widgets in a
    twin and a source that is not written as a build leaves it (:func:`as_built`).
    """
    for file, other in ((source, notebook), (notebook, source)):
        if not file.is_file():
            return [f"{other.name} has no partner {file.name}"]
    twin = read_twin(notebook)
    found = differences(folded(read_source(source)).cells, twin.cells, "source", "twin")
    if "widgets" in twin.metadata:
        found.append("the twin holds what Colab or JupyterLab saved of its widgets, which a build leaves out")
    return found or _not_as_built(source)


def differences(ours: list[NotebookNode], theirs: list[NotebookNode], us: str, them: str) -> list[str]:
    """Where two lists of cells differ in text, kind, tags or folds; ``us`` and ``them`` say which is which."""
    matcher = difflib.SequenceMatcher(None, [*map(identity, theirs)], [*map(identity, ours)], autojunk=False)
    found = []
    for verb, a0, a1, b0, b1 in matcher.get_opcodes():
        if verb == "replace" and a1 - a0 == b1 - b0:
            found += [_cell_difference(ours, theirs, a, b, us, them) for a, b in zip(range(a0, a1), range(b0, b1))]
        elif verb != "equal":
            found += [f"only in the {us}: {where(ours, b)}" for b in range(b0, b1)]
            found += [f"only in the {them}: {where(theirs, a)}" for a in range(a0, a1)]
    return found


def _not_as_built(source: Path) -> list[str]:
    text, built = (one.splitlines() for one in (source.read_text(encoding="utf-8"), as_built(source)))
    line = next((n for n, (a, b) in enumerate(zip(text, built), 1) if a != b), min(len(text), len(built)) + 1)
    what = "the head, the blank lines between cells or the hints and solutions are not as lrnnlab book build writes them"
    return [f"line {line} of {source.name}: {what}"] if text != built else []


def identity(cell: NotebookNode) -> tuple[str, str, str]:
    """What source and twin must agree on in one cell."""
    metadata = {key: cell.metadata[key] for key in SHOWN if cell.metadata.get(key)}
    return cell.cell_type, cell.source.rstrip(), repr(sorted(metadata.items()))


def _cell_difference(ours: list[NotebookNode], theirs: list[NotebookNode], a: int, b: int, us: str, them: str) -> str:
    ours_lines, theirs_lines = _lines(ours[b]), _lines(theirs[a])
    lines = list(difflib.unified_diff(theirs_lines, ours_lines, them, us, lineterm="", n=0))[2:]  # less the two names
    body = [line for line in lines if not line.startswith("@@")]
    return "\n".join([f"{where(ours, b)} differs (- {them}, + {us}):", *("    " + line for line in body)])


def _lines(cell: NotebookNode) -> list[str]:
    kind, text, metadata = identity(cell)
    return [f"[{kind}] {metadata}", *text.splitlines()]
