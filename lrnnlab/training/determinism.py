"""The same numbers every time: streams of randomness by purpose, and arithmetic that does not depend on the load."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager

import torch

from lrnnlab.scans.kernels.allocator import keep_freed_memory
from lrnnlab.scans.kernels.threads import flushes, torch_on_one
from lrnnlab.validation import checked


@checked
def rng(seed: int, purpose: str) -> torch.Generator:
    """Make a generator for one (seed, purpose), so that no two uses of randomness share numbers.

    Parameters
    ----------
    seed : int
        The seed of a run.
    purpose : str
        What the numbers are for, such as ``"train"`` or ``"test"``.

    Returns
    -------
    torch.Generator
        Seeded by a SHA-256 digest of both.

    Examples
    --------
    >>> rng(1, "train").initial_seed() == rng(1, "test").initial_seed()
    False
    """
    digest = hashlib.sha256(f"{purpose}/{seed}".encode()).digest()
    return torch.Generator().manual_seed(int.from_bytes(digest[:7], "big"))


@contextmanager
def deterministic(alone: bool = False) -> Iterator[None]:
    """Run torch on one thread with denormals flushed: the same numbers however busy the machine is, and no slow tails.

    Compiled scans take as many threads as torch had, since they add in the same order on any number; with ``alone``, for a
    clock, one too.

    Sharp softmax columns are full of denormal numbers, which many processors handle far more slowly.  Asking the system
    for memory at each step takes time too, so the process keeps what it has
    (:func:`lrnnlab.scans.kernels.allocator.keep_freed_memory`).

    Examples
    --------
    >>> with deterministic():
    ...     torch.get_num_threads()
    1
    """
    flushing = flushes()
    torch.set_flush_denormal(True)
    keep_freed_memory()
    try:
        with torch_on_one(alone):
            yield
    finally:
        torch.set_flush_denormal(flushing)
