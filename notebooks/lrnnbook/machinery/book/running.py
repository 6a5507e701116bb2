"""Run a notebook from top to bottom in a fresh kernel, watching what its Output widgets catch."""

import os
import time
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path
from queue import Empty
from textwrap import indent

import matplotlib.font_manager  # noqa: F401  builds the font cache here: the kernel would announce it on stderr
from jupyter_client.asynchronous.client import AsyncKernelClient
from jupyter_client.channels import AsyncZMQSocketChannel
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
from nbformat import NotebookNode
from traitlets import Type

from lrnnbook.machinery.book.cpu_presets import NATIVE, environment
from lrnnbook.machinery.book.outputs import without_colour

KERNEL = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
# Tags: lrnnbook.machinery.book says what each is for.
HIDDEN, VARIES, IGNORE, RAISES = "hide-input", "varies", "nbval-ignore-output", "raises-exception"
OUTPUT_WIDGET = "OutputModel"
START = 180.0  # seconds for a kernel to start


class BookError(ValueError):
    """A notebook that cannot be built, read or run; the message says which cell and why."""


@dataclass
class Execution:
    """One execution: the notebook with fresh outputs, and the position of the cell that raised.

    ``caught`` maps a cell's position (from 0) to the outputs that Output widgets caught while it ran: there, and
    nowhere else, lie the errors of ``interact`` callbacks.  ``widgets`` maps a widget's model to its state at the end.
    """

    notebook: NotebookNode
    caught: dict[int, list[NotebookNode]] = field(default_factory=dict)
    failed: int | None = None
    widgets: dict[str, dict] = field(default_factory=dict)


class Channel(AsyncZMQSocketChannel):
    """Ask every second: a message that comes between two looks may wake nobody, and is then waited for until ``timeout``."""

    async def get_msg(self, timeout: float | None = None) -> dict:  # type: ignore[override]
        ends = float("inf") if timeout is None else time.monotonic() + timeout
        while not await self.socket.poll(max(0, int(1000 * min(1, ends - time.monotonic())))):
            if time.monotonic() >= ends:
                raise Empty
        return await self._recv()


class Client(AsyncKernelClient):
    shell_channel_class, iopub_channel_class = Type(Channel), Type(Channel)


class Manager(AsyncKernelManager):
    client_factory = Type(Client)


def kernel_environment(arithmetic: str = NATIVE) -> dict[str, str]:
    """The environment of a kernel whose outputs are to be committed."""
    dropped = {"MPLBACKEND", "PYTHONHASHSEED", "PYTHONOPTIMIZE", "PYTHONWARNINGS"}
    dropped |= {"MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "OMP_THREAD_LIMIT", "OMP_DYNAMIC", "MKL_DYNAMIC"}
    kept = {name: value for name, value in os.environ.items() if name not in dropped}
    if kept.get("PYTHONPATH"):
        kept["PYTHONPATH"] = os.pathsep.join(map(os.path.abspath, kept["PYTHONPATH"].split(os.pathsep)))
    return kept | {"TQDM_DISABLE": "1", "OMP_NUM_THREADS": "1"} | environment(arithmetic)


def execute(
    notebook: NotebookNode, folder: Path, *, say: Callable[[str], None] | None = None, timeout: float = 600
) -> Execution:
    """Run a copy of ``notebook`` in ``folder``; the first cell that raises (and is not meant to) ends the run."""
    run = Execution(cleared(notebook))
    cells = run.notebook.cells
    order = [i for i, cell in enumerate(cells) if is_code(cell)]
    cell_began = time.perf_counter()
    reported: set = set()
    current = 0

    def starts(cell: NotebookNode, cell_index: int) -> None:
        nonlocal current, cell_began
        current, cell_began = cell_index, time.perf_counter()

    def ends(cell: NotebookNode, cell_index: int, execute_reply: dict) -> None:
        caught = run.caught.setdefault(cell_index, [])
        for model, state in client.widget_state.items():
            for output in state.get("outputs", ()) if state.get("_model_name") == OUTPUT_WIDGET else ():
                if (model, repr(output)) not in reported:
                    reported.add((model, repr(output)))
                    caught.append(NotebookNode(output))
        if say:
            say(f"cell {order.index(cell_index) + 1} of {len(order)}: {time.perf_counter() - cell_began:.1f} s")

    client = NotebookClient(
        run.notebook,
        kernel_name=KERNEL["name"],
        kernel_manager_class=Manager,
        startup_timeout=START,
        timeout=timeout,
        record_timing=False,
        resources={"metadata": {"path": str(folder)}},
        extra_arguments=["--log-level=ERROR"],  # the kernel warns on our terminal about its own transport
        on_cell_execute=starts,
        on_cell_executed=ends,
    )
    try:
        client.execute(env=kernel_environment())
    except CellExecutionError:
        run.failed = current
    except CellTimeoutError as error:
        raise BookError(f"{where(cells, current)} took longer than {timeout:g} s") from error
    except DeadKernelError as error:
        raise BookError(f"{where(cells, current)}: the kernel died while it ran (out of memory?)") from error
    except RuntimeError as error:  # so nbclient says that none came
        raise BookError(f"the kernel did not start: {error}") from error
    run.widgets = client.widget_state
    return run


def cleared(notebook: NotebookNode) -> NotebookNode:
    """A copy without outputs, counts or widget state."""
    notebook = deepcopy(notebook)
    notebook.metadata.pop("widgets", None)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    return notebook


def is_code(cell: NotebookNode) -> bool:
    """Whether a cell is one that a kernel runs (an empty one is not)."""
    return cell.cell_type == "code" and bool(cell.source.strip())


def tags(cell: NotebookNode) -> list[str]:
    """A cell's tags."""
    return cell.metadata.get("tags", [])


def where(cells: list[NotebookNode], index: int) -> str:
    """A cell as a reader finds it: its place among all cells and among those that run."""
    cell = cells[index]
    line = next((line.strip() for line in cell.source.splitlines() if line.strip()), "empty")
    prompt = f"In [{sum(map(is_code, cells[: index + 1]))}], " if is_code(cell) else ""
    return f'cell {index + 1} ({prompt}"{line[:60]}")'


def failure(run: Execution) -> str:
    """What the cell that ended a run did: its source and its traceback."""
    cell = run.notebook.cells[run.failed]
    errors = [output for output in cell.outputs if output.output_type == "error"]
    traceback = "\n".join(line for output in errors for line in output.traceback)
    source = indent(cell.source, "    ")
    return f"{where(run.notebook.cells, run.failed)} raised\n\n{source}\n\n{without_colour(traceback)}"
