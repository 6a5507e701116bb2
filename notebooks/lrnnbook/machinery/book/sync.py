"""Source and twin: do they still say the same?"""

import difflib
import os
from collections.abc import Container
from pathlib import Path

import jupytext
import nbformat
from jupytext.config import JupytextConfiguration, load_jupytext_config
from nbformat import NotebookNode

from lrnnbook.content.exercises.hints import refolded
from lrnnbook.machinery.book.reading_time import exercising, reading, timed
from lrnnbook.machinery.book.running import HIDDEN, IGNORE, KERNEL, VARIES, BookError, tags, where
from lrnnbook.machinery.copies import place, tree

KEPT = ("jupyter", "nbgrader", "tags")  # what a cell has beside its text; jupytext.toml names the same, and a test says so


def source_of(notebook: Path) -> Path:
    """``notebooks/NAME.ipynb`` -> ``notebooks/py/NAME.py``; below ``deeper/`` where the notebook is."""
    return tree(notebook) / "py" / place(notebook).with_suffix(".py")


def twin_of(source: Path) -> Path:
    """``notebooks/py/NAME.py`` -> ``notebooks/NAME.ipynb``; below ``deeper/`` where the source is."""
    return tree(source).parent / place(source).with_suffix(".ipynb")


def read_source(source: Path) -> NotebookNode:
    """A py:percent file as a notebook that was not run yet.  BookError for a file that is no text in UTF-8."""
    try:
        return parsed(source.read_text(encoding="utf-8"))
    except UnicodeDecodeError as error:
        raise BookError(f"{source} is no text in UTF-8 ({error})") from error


def parsed(text: str) -> NotebookNode:
    """The notebook that a text in py:percent is."""
    notebook = jupytext.reads(text, fmt="py:percent")
    for cell in notebook.cells:
        cell.metadata.pop("lines_to_next_cell", None)  # blank lines are as jupytext writes them
    return notebook


def pairing(source: Path) -> JupytextConfiguration:
    """How jupytext pairs a source: ``jupytext.toml`` of its project."""
    if (config := load_jupytext_config(os.fspath(source.resolve()))) is None:
        raise BookError(f"there is no jupytext.toml in a folder above {source}, to pair it with a notebook")
    return config


def as_built(source: Path, unlike: Container[int] | None = None) -> str:
    """The text of a source as a build leaves it: hints and solutions from their file, how long it takes to read as
    counted, Jupyter's own mark where code is folded, all else as jupytext writes it.  ``unlike`` are the positions of cells
    whose outputs nbval cannot compare: these alone, and those that vary, get its tag."""
    notebook = read_source(source)
    for i, cell in enumerate(notebook.cells):
        if lost := sorted(set(cell.metadata) - set(KEPT)):
            place = where(notebook.cells, i)
            raise BookError(f"{source.name}, {place}: jupytext.toml keeps {', '.join(KEPT)}, and would lose {', '.join(lost)}")
        if unlike is not None:
            ignore = i in unlike or VARIES in tags(cell)
            cell.metadata["tags"] = [*(tag for tag in tags(cell) if tag != IGNORE), *[IGNORE] * ignore]
        cell.metadata["jupyter"] = {"source_hidden": True} if HIDDEN in tags(cell) else {}
        cell.metadata = NotebookNode({key: cell.metadata[key] for key in KEPT if cell.metadata.get(key)})
    written = [cell for cell in notebook.cells if cell.cell_type == "markdown"]
    read, exercises = reading(notebook.cells), exercising(notebook.cells)
    try:
        for cell, text in zip(written, refolded([cell.source for cell in written])):
            cell.source = timed(text, read, exercises)
    except ValueError as error:
        raise BookError(str(error)) from error
    notebook.metadata = NotebookNode(kernelspec=NotebookNode(KERNEL))
    return jupytext.writes(notebook, fmt="py:percent", config=pairing(source))


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
    found = differences(read_source(source).cells, twin.cells, "source", "twin")
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
    what = "the head, the blank lines, the folds or the hints and solutions are not as lrnnlab book build writes them"
    return [f"line {line} of {source.name}: {what}"] if text != built else []


def identity(cell: NotebookNode) -> tuple[str, str, str]:
    """What source and twin must agree on in one cell."""
    metadata = {key: cell.metadata[key] for key in KEPT if cell.metadata.get(key)}
    return cell.cell_type, cell.source.rstrip(), repr(sorted(metadata.items()))


def _cell_difference(ours: list[NotebookNode], theirs: list[NotebookNode], a: int, b: int, us: str, them: str) -> str:
    ours_lines, theirs_lines = _lines(ours[b]), _lines(theirs[a])
    lines = list(difflib.unified_diff(theirs_lines, ours_lines, them, us, lineterm="", n=0))[2:]  # less the two names
    body = [line for line in lines if not line.startswith("@@")]
    return "\n".join([f"{where(ours, b)} differs (- {them}, + {us}):", *("    " + line for line in body)])


def _lines(cell: NotebookNode) -> list[str]:
    kind, text, metadata = identity(cell)
    return [f"[{kind}] {metadata}", *text.splitlines()]
