"""The same numbers every time: streams of randomness by purpose, and arithmetic that does not depend on the load."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager

import torch

from lrnnlab.scans.allocator import keep_freed_memory
from lrnnlab.validation import checked


@checked
def rng(seed: int, purpose: str) -> torch.Generator:
    """A generator of its own for every (seed, purpose), so that no two uses of randomness share numbers.

    >>> rng(1, "train").initial_seed() == rng(1, "test").initial_seed()
    False
    """
    digest = hashlib.sha256(f"{purpose}/{seed}".encode()).digest()
    return torch.Generator().manual_seed(int.from_bytes(digest[:7], "big"))


@contextmanager
def deterministic() -> Iterator[None]:
    """One thread, denormals flushed: the same numbers however many runs share the machine, and no slow tails.

    Sharp softmax columns are full of denormal numbers, with which many processors compute far more slowly; and to ask
    the system for memory at each step takes time too, so the process keeps what it has
    (:func:`lrnnlab.scans.allocator.keep_freed_memory`).
    """
    threads, flushing = torch.get_num_threads(), _flushes()
    torch.set_num_threads(1)
    torch.set_flush_denormal(True)
    keep_freed_memory()
    try:
        yield
    finally:
        torch.set_flush_denormal(flushing)
        torch.set_num_threads(threads)


def _flushes() -> bool:
    """Whether denormals are flushed now (torch can set this but not tell)."""
    return float(torch.tensor(1e-38) * torch.tensor(1e-2)) == 0.0
