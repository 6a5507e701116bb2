"""How much memory a call needs at its peak, and how much there is: of a GPU, or of a process on Linux (else None)."""

import ctypes
import gc
from collections.abc import Callable
from pathlib import Path

import torch

from lrnnlab.scans.kernels import allocator as kept_memory

_STATUS, _CLEAR, _MACHINE = Path("/proc/self/status"), Path("/proc/self/clear_refs"), Path("/proc/meminfo")


def _read(path: Path, field: str) -> int:
    """Bytes of a line such as ``VmHWM:  1234 kB``."""
    line = next(line for line in path.read_text().splitlines() if line.startswith(f"{field}:"))
    return int(line.split()[1]) * 1024


def peak(work: Callable[[], object], device: str = "cpu") -> int | None:
    """Bytes that resident memory (or the GPU's) grew at its highest while ``work`` ran, its result included."""
    gc.collect()
    if device == "cuda":
        torch.cuda.reset_peak_memory_stats()
        before = torch.cuda.memory_allocated()
        work()
        return torch.cuda.max_memory_allocated() - before
    if not _CLEAR.exists():
        return None
    ctypes.CDLL(None).malloc_trim(0)  # or memory freed before would be used again, and not counted
    kept_memory.shelf().clear()
    before = _read(_STATUS, "VmRSS")
    _CLEAR.write_text("5")  # resets the highest mark
    result = work()
    grown = _read(_STATUS, "VmHWM") - before
    del result
    return max(0, grown)


def free(device: str = "cpu") -> int | None:
    """Bytes that a program can have (without swapping)."""
    if device == "cuda":
        return torch.cuda.mem_get_info()[0]
    return _read(_MACHINE, "MemAvailable") if _MACHINE.exists() else None
