"""Memory for large results on the CPU, kept from one call to the next.

The system hands out fresh memory in pages that it must first fill with zeros; for a large gradient that takes longer
than computing it, and a training step asks for the same sizes over and over.  So large results lie in arrays that are
kept here, and a result's memory is used again once nobody holds the result.  (They come from NumPy, which asks the
system for huge pages where torch does not.)  For what torch itself makes and drops, :func:`keep_freed_memory`.
"""

from __future__ import annotations

import ctypes
import math
import sys
import threading
import weakref
from collections.abc import Sequence
from functools import cache

import numpy as np
import torch
from torch import Tensor

MIN_KEPT = 1 << 22  # bytes from which this pays
MAX_IDLE = 1 << 28  # bytes that may stay here unused
CACHE_LINE_BYTES = 64


class Shelf:
    """Arrays of bytes; of each it is known whether a tensor still lies in it."""

    def __init__(self, kept: int):
        self.kept = kept
        self._lock = threading.Lock()
        self._arrays: list[tuple[np.ndarray, weakref.ref]] = []  # the memory, and the view of it that a tensor holds

    def take(self, size: int) -> Tensor:
        """``size`` bytes that nobody else uses, uninitialised, from the beginning of a cache line on."""
        with self._lock:
            idle = [i for i, (_, view) in enumerate(self._arrays) if view() is None]
            fitting = next((i for i in reversed(idle) if self._arrays[i][0].nbytes == size + CACHE_LINE_BYTES), None)
            memory = np.empty(size + CACHE_LINE_BYTES, np.uint8) if fitting is None else self._arrays.pop(fitting)[0]
            start = -memory.ctypes.data % CACHE_LINE_BYTES
            handed = memory[start : start + size]
            self._arrays.append((memory, weakref.ref(handed)))
            self._give_back(self.kept)
        return torch.from_numpy(handed)  # whose storage, shared by all its views, holds ``handed``

    def clear(self) -> None:
        """Give all unused memory back to the system."""
        with self._lock:
            self._give_back(0)

    def _give_back(self, most: int) -> None:
        """Of the unused arrays keep those used last, up to ``most`` bytes; those in use are kept by their users."""
        total, staying = 0, []
        for memory, view in reversed(self._arrays):
            in_use = view() is not None
            total += 0 if in_use else memory.nbytes - CACHE_LINE_BYTES  # as asked for: two of 128 MB are 256 MB
            if in_use or total <= most:
                staying.append((memory, view))
        self._arrays = staying[::-1]


@cache
def shelf() -> Shelf:
    """The process's one shelf."""
    return Shelf(MAX_IDLE)


def empty(shape: Sequence[int], dtype: torch.dtype) -> Tensor:
    """An uninitialised CPU tensor; a large one lies in kept memory."""
    size = math.prod(shape) * dtype.itemsize
    if size < MIN_KEPT:
        return torch.empty(shape, dtype=dtype, device="cpu")
    return shelf().take(size).view(dtype).view(shape)


@cache
def keep_freed_memory() -> bool:
    """From now on let this process keep what torch frees on the CPU, up to ``MAX_IDLE`` bytes; says whether it can."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None) if sys.platform == "linux" else None
    if mallopt is None:
        return False
    trim_threshold, mmap_threshold = -1, -3  # glibc's malloc.h
    largest = 1 << 25  # a larger piece is mapped by itself in any case
    return bool(mallopt(trim_threshold, MAX_IDLE) and mallopt(mmap_threshold, largest))
