"""What one reader costs a server: memory and processor time of JupyterLab and of every chapter's kernel.

``lrnnlab book footprint`` starts what a hub starts for a student, on this machine, and reads what Linux says of it.
"""

from __future__ import annotations

import os
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from nbformat.v4 import new_code_cell

from workbook.book.jupyter_server import jupyter_lab
from workbook.book.outputs import printed
from workbook.book.running import BookError, execute, failure
from workbook.book.sync import read_twin

# Runs in the kernel after the last cell; imports nothing, which would count.
ASK = "print(*(open(f'/proc/self/{file}').read() for file in ('status', 'stat')), sep='')"


@dataclass(frozen=True)
class Footprint:
    """Of one process: MB at the end and at its highest, seconds of processor time, seconds by the clock."""

    name: str
    end: float
    highest: float
    cpu: float
    seconds: float

    def __str__(self) -> str:
        return (f"{self.name:28} {self.end:6.0f} MB at the end, {self.highest:6.0f} MB at its highest, "
                f"{self.cpu:6.1f} s of one core, {self.seconds:6.1f} s by the clock")  # fmt: skip


def of_chapter(notebook: Path, timeout: float = 600) -> Footprint:
    """A chapter's kernel after *Run All*; BookError where a cell raises or takes longer than ``timeout`` seconds."""
    notebook = Path(notebook)
    longer = read_twin(notebook)
    longer.cells.append(new_code_cell(ASK))
    run = execute(longer, notebook.resolve().parent, timeout=timeout)
    if run.failed is not None:
        raise BookError(failure(run))
    return Footprint(notebook.stem, *parsed(printed(run.notebook.cells[-1])), run.seconds)


def of_lab(folder: Path) -> Footprint:
    """JupyterLab's own process, from its start to its first page, with no kernel."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as state, jupyter_lab(folder, Path(state)) as server:
        return Footprint("JupyterLab", *of_process(server.process.pid), time.monotonic() - began)


def of_process(pid: int) -> tuple[float, float, float]:
    """:func:`parsed` for a process that runs; BookError where the system is not Linux, or the process has ended."""
    try:
        return parsed("".join(Path(f"/proc/{pid}/{file}").read_text() for file in ("status", "stat")))
    except (FileNotFoundError, ProcessLookupError, KeyError) as error:
        raise BookError(f"memory is read from /proc/{pid}: the process has ended, or this is no Linux") from error


def parsed(said: str) -> tuple[float, float, float]:
    """(MB now, MB at its highest, seconds of processor time with that of ended children), as proc(5) says them."""
    kb = {line.split(":")[0]: int(line.split()[1]) for line in said.splitlines() if line.startswith("Vm")}
    ticks = said.rpartition(")")[2].split()[11:15]  # utime, stime, cutime, cstime
    return kb["VmRSS"] / 1000, kb["VmHWM"] / 1000, sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK")
