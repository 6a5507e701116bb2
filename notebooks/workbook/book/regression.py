"""Run a notebook again, by nbval, and say where the committed outputs are not what it gives."""

from __future__ import annotations

import json
from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from pathlib import Path

from nbformat import NotebookNode

from workbook.book.cpu_presets import NATIVE, SETTINGS
from workbook.book.image_comparison import picture_difference
from workbook.book.inspection import DATA_URI, IGNORE, TOLERANCE, Problem, inspect, tags, widget_problems
from workbook.book.nbval_plugin import OURS, nbval
from workbook.book.outputs import on_stderr, printed, tidy, whole_streams
from workbook.book.running import Run, failure, is_code, where
from workbook.book.sync import drift, read_twin, source_of
from workbook.book.text import difference

SECONDS_PER_CHAPTER = 120  # reported, never asserted: a loaded machine is not a fault of the notebook


def check(
    notebook: Path, *, say: Callable[[str], None] | None = None, timeout: float = 600, arithmetic: str = NATIVE
) -> list[Problem]:
    """Everything wrong with a committed notebook: drift from its source, what is seen at rest, and after a fresh run.

    ``say`` gets progress and the time taken; ``timeout`` is in seconds, for one cell.  ``arithmetic`` names one of
    :data:`workbook.book.cpu_presets.SETTINGS`, which the run then has; that it has it is checked too.

    >>> check(Path("notebooks/00_start_here.ipynb"))  # doctest: +SKIP
    []
    """
    notebook = Path(notebook).resolve()
    name, root = notebook.stem, notebook.parent.parent
    committed = read_twin(notebook)
    found = [Problem(name, 0, "drift", line) for line in drift(source_of(notebook), notebook)]
    run, said = nbval(notebook, say=say, timeout=timeout, arithmetic=arithmetic)
    if say:
        say(f"ran in {run.seconds:.0f} s of the {SECONDS_PER_CHAPTER} s a chapter may take")
    swept, asked = map(printed, run.notebook.cells[-len(OURS) :])
    found += [Problem(name, 0, "widget", line) for line in swept.splitlines() if line.strip()]
    if run.failed is None:
        found += [Problem(name, 0, "arithmetic", line) for line in SETTINGS[arithmetic].missed(asked)]
    elif run.failed >= len(committed.cells):  # one of ours raised, which compare does not see
        found.append(Problem(name, 0, "error", "\n" + failure(run)))
    del run.notebook.cells[-len(OURS) :]
    found += compare(committed, run, name, root)
    found += [Problem(name, i + 1, "again", f"raised when it ran once more after all cells: {said}", where(committed.cells, i))
              for i, said in run.again.items()]  # fmt: skip
    return found or ([Problem(name, 0, "nbval", "\n" + said)] if said else [])


def compare(committed: NotebookNode, fresh: Run, name: str = "notebook", root: Path | None = None) -> list[Problem]:
    """Everything wrong with a committed notebook, given a fresh run of it; runs nothing itself.

    >>> from nbformat.v4 import new_code_cell, new_notebook, new_output
    >>> from workbook.book.running import KERNEL
    >>> def printed(text):
    ...     cell = new_code_cell("print(n)", execution_count=1, outputs=[new_output("stream", text=text)])
    ...     return new_notebook(cells=[cell], metadata={"kernelspec": KERNEL})
    >>> compare(printed("2"), Run(printed("2")))
    []
    >>> print(*compare(printed("2"), Run(printed("3"))))
    notebook, cell 1 (In [1], "print(n)"): [text] committed '2', fresh run '3'
    """
    fresh = replace(fresh, notebook=_tidied(fresh.notebook))
    found = inspect(committed, name, root)
    known = {(problem.cell, problem.kind) for problem in found}
    # What only the fresh run shows: a path of this machine, a warning of this version.  Its counts say nothing.
    anew = [p for p in inspect(fresh.notebook, name, root) if p.kind in {"error", "warning", "path", "alt"}]
    found += [p for p in anew if (p.cell, p.kind) not in known] + widget_problems(fresh, name)
    for i, (old, new) in enumerate(zip(committed.cells, fresh.notebook.cells)):
        if i == fresh.failed:
            found = [p for p in found if (p.cell, p.kind) != (i + 1, "error")]
            found.append(Problem(name, i + 1, "error", "\n" + failure(fresh), where(committed.cells, i)))
            break  # what comes after the cell that raised was not run
        if is_code(old):
            faults = dict.fromkeys(_cell_faults(old, new))  # one cause shown through two mime types is one problem
            found += [Problem(name, i + 1, kind, text, where(committed.cells, i)) for kind, text in faults]
    return found


def _tidied(notebook: NotebookNode) -> NotebookNode:
    notebook = deepcopy(notebook)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs = tidy(cell.outputs)
    return notebook


def _cell_faults(committed: NotebookNode, fresh: NotebookNode) -> list[tuple[str, str]]:
    # stderr is left out here: inspect reports all of it
    old, new = ([o for o in whole_streams(cell.outputs) if not on_stderr(o)] for cell in (committed, fresh))
    if IGNORE in tags(committed):
        missing = bool(new) and not old
        return [("output", f"has no output, a fresh run gives {_sketch(new)}")] if missing else []
    if [_shape(output) for output in old] != [_shape(output) for output in new]:
        return [("output", f"committed {_sketch(old)}, fresh run {_sketch(new)}")]
    asked = [TOLERANCE.fullmatch(tag) for tag in tags(committed)]
    tolerance = {match[1]: float(match[2]) for match in asked if match}
    return [fault for a, b in zip(old, new) for fault in _output_faults(a, b, tolerance)]


def _shape(output: NotebookNode) -> tuple[str, ...]:
    """What kind of output it is: its stream, its error, or the forms it is shown in."""
    if output.output_type == "stream":
        return (output.name,)
    return ("error",) if output.output_type == "error" else tuple(sorted(output.data))


def _sketch(outputs: list[NotebookNode]) -> str:
    return ", ".join(" + ".join(_shape(output)) for output in outputs) or "no output"


def _output_faults(old: NotebookNode, new: NotebookNode, tolerance: dict[str, float]) -> list[tuple[str, str]]:
    if old.output_type == "stream":
        pairs = [("text/plain", old.text, new.text)]
    elif old.output_type == "error":  # a traceback names lines and files of the machine
        pairs = [("text/plain", f"{old.ename}: {old.evalue}", f"{new.ename}: {new.evalue}")]
    else:
        pairs = [(mime, old.data[mime], new.data[mime]) for mime in old.data]
    return [fault for mime, a, b in pairs for fault in _mime_faults(mime, a, b, tolerance)]


def _mime_faults(mime: str, old, new, tolerance: dict[str, float]) -> list[tuple[str, str]]:
    if mime in {"image/png", "image/jpeg"}:
        fault = picture_difference(old, new)
        return [("picture", fault)] if fault else []
    if not isinstance(old, str) or not isinstance(new, str):
        old, new = json.dumps(old, sort_keys=True), json.dumps(new, sort_keys=True)
    found = []
    for (form, a), (_, b) in zip(DATA_URI.findall(old), DATA_URI.findall(new)):
        if form in {"png", "jpeg"} and (fault := picture_difference(a, b)):
            found.append(("picture", fault))
    if said := difference(DATA_URI.sub(_as_text, old), DATA_URI.sub(_as_text, new), **tolerance):
        found.append(said)
    return found


def _as_text(uri) -> str:
    """A picture of pixels is compared apart and leaves a mark in the text; any other (SVG) stays as it is."""
    return f"data:{uri[1]}" if uri[1] in {"png", "jpeg"} else uri[0]
