"""nbval, run on a notebook the way our own checker wants it: same environment, same patterns, and nothing thrown away.

This module is also the pytest plugin that the run loads.  nbval executes each cell and compares its words and whole
numbers; the plugin tidies both sides before (a progress bar is no fault, a widget is its sentence), runs two cells of
ours after the last one (every widget moved through all its values; the arithmetic that the kernel really has), then each
cell of a proof again as a reader would, and writes down all fresh outputs, so that one run of a chapter serves nbval and
:func:`workbook.book.compare`.
"""

from __future__ import annotations

import functools
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell

from workbook.book.cpu_presets import ASK, NATIVE
from workbook.book.outputs import tidy
from workbook.book.running import FIRST, BookError, Run, cleared, is_code, kernel_environment
from workbook.book.text import nbval_config

ASKED = "LRNNLAB_NBVAL"  # what nbval() asks of the plugin: where to report, our cells, the first cell's limit
# Runs in the kernel after the last cell, where the widgets are alive: a first value that works proves one value.
SWEEP = "from workbook.book.widget_sweep import sweep_explorers\nprint(*sweep_explorers(globals()), sep='\\n')"
OURS = (SWEEP, ASK)


def nbval(
    notebook: Path,
    *,
    say: Callable[[str], None] | None = None,
    timeout: float = 600,
    arithmetic: str = NATIVE,
) -> tuple[Run, str]:
    """Run ``pytest --nbval`` on a notebook in a process of its own: the run, and what nbval says ("" where all passed).

    The notebook of the run ends in two cells of ours (:data:`OURS`).  In this process nbval could not run: pytest
    inside pytest shares plugins, capture and options.  ``timeout`` is in seconds, for one cell; a kernel that never
    answers its first cell is started anew, once.

    >>> nbval(Path("notebooks/00_start_here.ipynb"))[1]  # doctest: +SKIP
    ''
    """
    run, said = _nbval(notebook, say, timeout, min(timeout, FIRST), arithmetic)
    if run is None:
        run, said = _nbval(notebook, say, timeout, timeout, arithmetic)
    if run is None:
        raise BookError(f"{notebook.name}: nbval made no report:\n{said}")
    return run, said


def _nbval(
    notebook: Path, say: Callable[[str], None] | None, timeout: float, first: float, arithmetic: str
) -> tuple[Run | None, str]:
    command = [sys.executable, "-m", "pytest", "-p", "nbval.plugin", "-p", __name__, "--nbval", "--nbval-current-env"]
    command += ["-o", "addopts=", "-p", "no:cacheprovider", "-v", "--color=no", "--tb=short"]
    command += [f"--nbval-cell-timeout={timeout:g}"]
    committed, began = nbformat.read(notebook, as_version=4), time.perf_counter()
    total = sum(cell.cell_type == "code" for cell in committed.cells)
    with tempfile.TemporaryDirectory() as folder:
        report, patterns = Path(folder) / "report.json", Path(folder) / "sanitize.cfg"
        patterns.write_text(nbval_config(), encoding="utf-8")
        # The options and plugins of the repository's tests are not for these (one that shuffles would shuffle cells).
        environment = kernel_environment(arithmetic) | {
            "PYTEST_ADDOPTS": "", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
            ASKED: json.dumps({"report": os.fspath(report), "cells": OURS, "first": first, "again": _again(committed)}),
        }  # fmt: skip
        # Only the name goes to pytest, which takes a "[" in a path for the beginning of parameters.
        process = subprocess.Popen(
            [*command, "--nbval-sanitize-with", os.fspath(patterns), notebook.name], cwd=notebook.parent,
            env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8", errors="replace",
        )  # fmt: skip
        lines = []
        with process:
            for line in process.stdout:
                lines.append(line)
                done = re.search(r"::Cell (\d+) (\w+)", line)
                if say and done and int(done[1]) < total:
                    say(f"cell {int(done[1]) + 1} of {total}: {done[2].lower()}")
        said = "".join(lines) if process.returncode else ""
        if not report.is_file():
            return None, "".join(lines)
        fresh = json.loads(report.read_text(encoding="utf-8"))
    if fresh["silent"] and first < timeout:
        return None, said
    return _as_run(committed, fresh["outputs"], time.perf_counter() - began), said


def _again(notebook: NotebookNode) -> list[int]:
    """Which code cells run once more: those of proofs, from the last to the first, so each alone, and then in order."""
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    proof = [i for i, cell in enumerate(code) if any(tag.startswith("proof-") for tag in cell.metadata.get("tags", ()))]
    return proof[::-1] + proof


def _as_run(committed: NotebookNode, outputs: list[list[dict]], seconds: float) -> Run:
    """The fresh outputs, cell by cell, where they belong: in the notebook with our cells at its end."""
    notebook = cleared(committed)
    notebook.cells += [new_code_cell(code) for code in OURS]
    code = [i for i, cell in enumerate(notebook.cells) if cell.cell_type == "code"]
    run = Run(notebook, seconds)
    for count, (i, fresh) in enumerate(zip(code, outputs), 1):
        cell = notebook.cells[i]
        cell.outputs = [nbformat.from_dict(output) for output in fresh]
        cell.execution_count = count if is_code(cell) else None
        wrong = any(output.output_type == "error" for output in cell.outputs)
        if wrong and "raises-exception" not in cell.metadata.get("tags", ()) and run.failed is None:
            run.failed = i
    for count, fresh in zip(_again(committed), outputs[len(code) :]):
        said = [f"{output['ename']}: {output['evalue']}" for output in fresh if output["output_type"] == "error"]
        if said and run.failed is None:
            run.again.setdefault(code[count], said[0])
    return run


# --- the plugin: hooks that pytest calls in the process that nbval() starts ------------------------------------------


def pytest_collection_modifyitems(items: list) -> None:
    """Let nbval's cells compare tidy outputs; after a notebook's last cell run ours, and those that run again."""
    for item in items:
        if hasattr(item, "compare_outputs"):
            item.compare_outputs = functools.partial(_compare_tidy, item.compare_outputs)
    cells = [new_code_cell(code) for code in _asked().get("cells", ())] if items else []
    cells += [items[i].cell for i in _asked().get("again", ())] if items else []
    for cell in cells:
        number = items[-1].cell_num + 1
        kind, notebook, unchecked = type(items[-1]), items[-1].parent, defaultdict(bool)
        items.append(kind.from_parent(notebook, name=f"Cell {number}", cell_num=number, cell=cell, options=unchecked))


def _asked() -> dict:
    return json.loads(os.environ.get(ASKED, "{}"))


def _compare_tidy(compare_outputs: Callable, fresh: list, committed: list, **options) -> bool:
    return compare_outputs(tidy(fresh), tidy(committed), **options)


def pytest_runtest_setup(item: Any) -> None:
    """The first cell, which imports, has a limit of its own: a busy kernel can miss its first message."""
    if item.cell_num == 0 and "first" in _asked():
        item.config.option.nbval_cell_timeout, item.given = _asked()["first"], item.config.option.nbval_cell_timeout


def pytest_runtest_teardown(item: Any) -> None:
    """After the first cell, the limit of all others."""
    item.config.option.nbval_cell_timeout = getattr(item, "given", item.config.option.nbval_cell_timeout)


def pytest_sessionfinish(session: Any) -> None:
    """Write down what each cell gave, and whether the first one gave no answer in its time."""
    if "report" in _asked() and session.items:
        outputs = [item.test_outputs or [] for item in session.items]
        silent = session.items[0].parent.timed_out and _interrupted(outputs[0])
        Path(_asked()["report"]).write_text(json.dumps({"outputs": outputs, "silent": silent}), encoding="utf-8")


def _interrupted(outputs: list) -> bool:
    return not outputs or any(output.get("ename") == "KeyboardInterrupt" for output in outputs)
