"""Make the executed twin of a source."""

import difflib
import hashlib
from collections.abc import Callable
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from lrnnbook.machinery.book.inspection import inspect, widget_problems
from lrnnbook.machinery.book.outputs import tidy, unlike
from lrnnbook.machinery.book.running import KERNEL, BookError, Execution, execute, failure
from lrnnbook.machinery.book.stills import add_stills
from lrnnbook.machinery.book.sync import as_built, pairing, parsed, read_source, read_twin
from lrnnbook.machinery.copies import place
from lrnnlab.files import put


def build_notebook(source: Path, root: Path, *, say: Callable[[str], None] | None = None, timeout: float = 600) -> Path:
    """Execute ``notebooks/py/NAME.py`` and write ``notebooks/NAME.ipynb`` under ``root``, or both in ``deeper/``; return its path.

    First the source gets its hints and solutions (:mod:`lrnnbook.content.exercises.hints`), and its head and blank lines as jupytext
    writes them; then, by its outputs, nbval's tags.  The two are a pair as jupytext leaves it.  Building twice gives the
    same bytes (where the cells print the same).  Only a notebook that passes its own inspection is written; else
    :class:`BookError` names the cell, and the file that was there stays as it was.  ``timeout`` is in seconds, for one cell.
    """
    source, root = Path(source), Path(root).resolve()
    twin = root / "notebooks" / place(source).with_suffix(".ipynb")
    if not read_source(source).cells:
        raise BookError(f"{source.name} holds no cell: is it py:percent, with lines that begin with '# %%'?")
    if (built := as_built(source)) != source.read_text(encoding="utf-8"):
        put(source, built.encode())
    notebook = read_source(source)
    notebook.metadata = NotebookNode(kernelspec=NotebookNode(KERNEL))
    give_ids(notebook.cells, read_twin(twin).cells if twin.is_file() else [], source.stem)
    run = execute(notebook, twin.parent, say=say, timeout=timeout)
    if run.failed is not None:
        raise BookError(f"{source.stem}, {failure(run)}\n\n{twin.name} is not written.")
    add_stills(run)
    committed = for_commit(run, root)
    built = as_built(source, {i for i, cell in enumerate(committed.cells) if unlike(cell.get("outputs", ()))})
    for cell, marked in zip(committed.cells, parsed(built).cells, strict=True):
        cell.metadata = marked.metadata
    pairing(source).set_default_format_options(committed.metadata.setdefault("jupytext", NotebookNode()), read=True)
    if problems := inspect(committed, source.stem, root) + widget_problems(run, source.stem):
        raise BookError("\n".join([*map(str, problems), f"{twin.name} is not written."]))
    if built != source.read_text(encoding="utf-8"):
        put(source, built.encode())
    put(twin, as_bytes(committed))
    return twin


def give_ids(cells: list[NotebookNode], old: list[NotebookNode], name: str) -> None:
    """Give each cell the id of the old cell it came from, else one made from its text, so that no build draws lots."""
    keys = [[(cell.cell_type, cell.source.rstrip()) for cell in side] for side in (old, cells)]
    kept: dict[int, str] = {}
    before, now = keys
    for verb, a0, a1, b0, b1 in difflib.SequenceMatcher(None, before, now, autojunk=False).get_opcodes():
        if verb == "equal" or (verb == "replace" and a1 - a0 == b1 - b0):  # an edited cell stays the same cell
            kept.update(zip(range(b0, b1), (cell.get("id", "") for cell in old[a0:a1])))
    taken = {id for id in kept.values() if id}
    for i, cell in enumerate(cells):
        cell.id = kept.get(i) or _new_id(f"{name}\n{cell.cell_type}\n{cell.source}", taken)


def _new_id(text: str, taken: set[str]) -> str:
    id = hashlib.sha256(text.encode()).hexdigest()[:8]
    while id in taken:  # the same text twice in one notebook
        id = hashlib.sha256((text + id).encode()).hexdigest()[:8]
    taken.add(id)
    return id


def for_commit(run: Execution, root: Path) -> NotebookNode:
    """An executed notebook without what changes from run to run or from machine to machine."""
    # IPython writes a file in a traceback in full or from the home folder; a reader knows it from the repository
    home = Path.home()
    prefixes = [f"{root}/"] + ([f"~/{root.relative_to(home)}/"] if root.is_relative_to(home) else [])
    notebook = run.notebook
    notebook.metadata.pop("widgets", None)
    notebook.metadata.language_info.pop("version", None)
    notebook.nbformat, notebook.nbformat_minor = 4, 5  # cells have ids
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs = tidy(cell.outputs)
            for output in cell.outputs:
                for prefix in prefixes if output.output_type == "error" else ():
                    output.traceback = [line.replace(prefix, "") for line in output.traceback]
    return notebook


def as_bytes(notebook: NotebookNode) -> bytes:
    """A notebook as it is written to its file."""
    nbformat.validate(notebook)
    return f"{nbformat.writes(notebook).rstrip()}\n".encode()
