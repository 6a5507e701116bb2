"""What ``lrnnlab book check`` adds to a run of nbval, as a pytest plugin: nothing of what nbval finds is taken away.

    pytest --nbval notebooks/03_parallel_scans.ipynb                                    # strict and plain
    pytest --nbval -p lrnnbook.machinery.book.nbval_plugin notebooks/03_parallel_scans.ipynb      # and more

To nbval's own comparison it adds :func:`lrnnbook.machinery.book.comparison.cell_faults`, which also compares pictures and the words
beside them.  After the last cell every widget is moved through its values, the kernel tells the arithmetic that it really
has, and the cells of proofs run once more, as a reader would run them again.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell

from lrnnbook.machinery.book.comparison import cell_faults
from lrnnbook.machinery.book.cpu_presets import ASK, NATIVE, SETTINGS
from lrnnbook.machinery.book.inspection import Problem, inspect
from lrnnbook.machinery.book.outputs import printed, without_colour
from lrnnbook.machinery.book.running import IGNORE, RAISES, BookError, kernel_environment, tags, where
from lrnnbook.machinery.book.sync import drift, read_twin, source_of
from lrnnbook.machinery.copies import tree

REPORT, ARITHMETIC = "LRNNLAB_NBVAL_REPORT", "LRNNLAB_NBVAL_ARITHMETIC"  # what check_notebook() tells the plugin
# Runs in the kernel after the last cell, where the widgets are alive: a first value that works proves one value.
SWEEP = "from lrnnbook.machinery.book.widget_sweep import sweep_explorers\nprint(*sweep_explorers(globals()), sep='\\n')"
SECONDS_PER_CHAPTER = 120  # reported, never asserted: a loaded machine is no fault of the notebook


def check_notebook(
    notebook: Path, *, say: Callable[[str], None] | None = None, timeout: float = 600, arithmetic: str = NATIVE
) -> list[Problem]:
    """Everything wrong with a committed notebook: drift from its source, what is seen at rest, and after a fresh run.

    ``say`` gets progress and the time taken; ``timeout`` is in seconds, for one cell.  ``arithmetic`` names one of
    :data:`lrnnbook.machinery.book.cpu_presets.SETTINGS`, which the run then has; that it has it is checked too.
    """
    notebook = Path(notebook).resolve()
    name, cells = notebook.stem, (committed := read_twin(notebook)).cells
    found = [Problem(name, 0, "drift", line) for line in drift(source_of(notebook), notebook)]
    found += inspect(committed, name, tree(notebook).parent)
    code, began = [i for i, cell in enumerate(cells) if cell.cell_type == "code"], time.perf_counter()
    faults, said = _run(notebook, len(code), say, timeout, arithmetic)
    if say:
        say(f"ran in {time.perf_counter() - began:.0f} s of the {SECONDS_PER_CHAPTER} s a chapter may take")
    for number, kind, message in faults:
        i = code[number] if number is not None else -1
        found.append(Problem(name, i + 1, kind, message, where(cells, i) if i >= 0 else ""))
    return found or ([Problem(name, 0, "nbval", "\n" + said)] if said else [])


def _run(
    notebook: Path, total: int, say: Callable | None, timeout: float, arithmetic: str
) -> tuple[list[list], str]:
    """(number of the code cell or None, kind, message) of each fault, and what nbval says ("" where all passed)."""
    # Only the name goes to pytest, which takes a "[" in a path for the beginning of parameters.
    command = [sys.executable, "-m", "pytest", "-p", "nbval.plugin", "-p", __name__, "--nbval", "--nbval-current-env",
               f"--nbval-cell-timeout={timeout:g}", "-o", "addopts=", "-p", "no:cacheprovider", "-v", "--color=no",
               "--tb=short", notebook.name]  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        # The options and plugins of the repository's tests are not for these (one that shuffles would shuffle cells).
        environment = kernel_environment(arithmetic) | {
            "PYTEST_ADDOPTS": "", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", REPORT: os.fspath(report), ARITHMETIC: arithmetic,
        }  # fmt: skip
        process = subprocess.Popen(command, cwd=notebook.parent, env=environment, stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, encoding="utf-8", errors="replace")  # fmt: skip
        lines = []
        with process:
            for line in process.stdout:
                lines.append(line)
                if say and (done := re.search(r"::Cell (\d+) (\w+)", line)) and int(done[1]) < total:
                    say(f"cell {int(done[1]) + 1} of {total}: {done[2].lower()}")
        if not report.is_file():
            raise BookError(f"{notebook.name}: nbval made no report:\n{''.join(lines)}")
        return json.loads(report.read_text(encoding="utf-8")), "".join(lines) if process.returncode else ""


# --- what pytest calls -----------------------------------------------------------------------------------------------


def pytest_collection_modifyitems(items: list) -> None:
    """Let each cell compare by our rules too; after a notebook's last cell come ours, and those of proofs once more."""
    os.environ.setdefault("TQDM_DISABLE", "1")  # the kernels', which begin later
    collected, items[:] = list(items), []
    for notebook, group in groupby(collected, key=lambda item: item.parent):
        cells = list(group)
        if not hasattr(cells[0], "cell"):  # another test, in the same call
            items += cells
            continue
        proof = [item.cell for item in cells if any(tag.startswith("proof-") for tag in tags(item.cell))]
        own = [("widget", new_code_cell(SWEEP, execution_count=1)), ("arithmetic", new_code_cell(ASK, execution_count=1))]
        number = {id(item.cell): item.cell_num for item in cells}
        for cell_num, (job, cell) in enumerate(own + [("again", cell) for cell in proof], len(cells)):
            options: dict = defaultdict(bool)
            cells.append(type(cells[0]).from_parent(notebook, name=f"Cell {cell_num}", cell_num=cell_num, cell=cell,
                                                    options=options))  # fmt: skip
            cells[-1].job = job
        for item in cells:
            item.job, item.faults, item.number = getattr(item, "job", "cell"), [], number.get(id(item.cell))
            item.options["check"] = item.job != "again"
            item.compare_outputs = partial(_compare, item, item.compare_outputs)
        items += cells


def _compare(item: Any, nbval: Callable, fresh: list[NotebookNode], committed: list[NotebookNode]) -> bool:
    """nbval's question, answered by our rules and then by its own."""
    said = printed(NotebookNode(outputs=fresh))
    if item.job == "cell":
        item.faults = cell_faults(item.cell, fresh, tree(Path(item.fspath)).parent)
        if not item.faults and IGNORE not in tags(item.cell) and not nbval(fresh, committed):
            item.faults = [("nbval", "\n".join(map(str, item.comparison_traceback)))]
    elif item.job == "widget":
        item.faults = [("widget", line) for line in said.splitlines() if line.strip()]
    else:
        missed = SETTINGS[os.environ.get(ARITHMETIC, NATIVE)].missed(said)
        item.faults = [("arithmetic", line) for line in missed] if ARITHMETIC in os.environ else []
    item.comparison_traceback = [f"[{kind}] {message}" for kind, message in item.faults]
    return not item.faults


def pytest_runtest_teardown(item: Any) -> None:
    """A cell that raises ends the run, as it ends a reader's."""
    errors = [one for one in getattr(item, "test_outputs", None) or [] if one.output_type == "error"]
    if not errors or RAISES in tags(item.cell):
        return
    said = f"{errors[0].ename}: {errors[0].evalue}"
    if item.job == "again":
        item.faults = [("again", f"raised when it ran once more after all cells: {said}")]
    else:
        traceback = without_colour("\n".join(errors[0].traceback))
        item.faults = [("error", f"raised {said}\n{item.cell.source}\n{traceback}")]
        item.session.shouldstop = "a cell raised"


def pytest_sessionfinish(session: Any) -> None:
    """Write down what each cell did wrong."""
    if REPORT in os.environ:
        faults = [(item.number, *fault) for item in session.items for fault in getattr(item, "faults", [])]
        Path(os.environ[REPORT]).write_text(json.dumps(list(dict.fromkeys(faults))), encoding="utf-8")
