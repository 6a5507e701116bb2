"""How the compiled loops share their work: in parts that depend on the shape alone, so that no number depends on the threads.

The batch is cut into parts; sums over parts are taken in their order.  Where the batch has fewer entries than there are threads,
blocks or channels are cut too, of which each is computed by itself.  Torch's own threads go on spinning for a while after each of
its operations and are in the way of ours: on two cores two threads gain most where torch has one (``deterministic``).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache

import torch

PARTS = 8
MIN_CUT_SUM = 1 << 18  # multiplications from which sums are cut
MAX_ALONE = 1 << 21  # multiplications up to which one thread does all: to wake another would take longer
_granted = 1  # threads that loops may use while torch has one


@contextmanager
def torch_on_one(alone: bool) -> Iterator[None]:
    """Torch's own operations on one thread; compiled loops, unless ``alone``, on as many as torch had before."""
    global _granted
    threads, before = torch.get_num_threads(), _granted
    _granted = 1 if alone else max(threads, before)
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)
        _granted = before


def allowed() -> int:
    """How many threads may work."""
    return max(torch.get_num_threads(), _granted)


def over_batch(work: Callable[[int, int, int], None], batch: int, parts: int) -> None:
    """Call ``work(part, i, j)`` for ``parts`` parts of the batch, entries i:j each; at least one, at most ``PARTS``."""
    rows = max(1, min(parts, PARTS, batch))
    _share(work, [(r, batch * r // rows, batch * (r + 1) // rows) for r in range(rows)], allowed())


def over_chains(
    work: Callable[..., None], batch: int, width: int, multiplications: int, grain: int = 1, sums: bool = False
) -> int:
    """Call ``work(part, i, j, k, l)`` for batch entries i:j of every part, and blocks or channels k:l; how many parts.

    Where parts have ``sums`` of their own, how many there are may not depend on the threads.
    """
    threads = 1 if multiplications <= MAX_ALONE else allowed()
    rows = threads if not sums else PARTS if multiplications >= MIN_CUT_SUM else 1
    rows = max(1, min(rows, batch))
    columns = max(1, min(-(-min(threads, PARTS) // rows), width // grain))
    if rows == columns == 1:
        work(0, 0, batch, 0, width)
        return 1
    over_width = [width // grain * c // columns * grain for c in range(columns)] + [width]
    parts = [(r, batch * r // rows, batch * (r + 1) // rows, over_width[c], over_width[c + 1])
             for r in range(rows) for c in range(columns)]  # fmt: skip
    _share(work, parts, threads)
    return rows


def _share(work: Callable[..., None], parts: Sequence[tuple], threads: int) -> None:
    """Call ``work(*part)`` for every part."""
    threads = min(threads, len(parts))
    left = iter(parts)  # whoever is free takes the next part: a list's iterator hands each out once
    flushing = flushes() if threads > 1 else False
    others = [_pool(threads - 1).submit(_help, work, left, flushing) for _ in range(threads - 1)]
    try:
        _work_off(work, left)  # this thread works too, from the first moment on
    finally:
        for other in others:
            if not other.cancel():  # unless it has not begun
                other.result()  # the arrays are its own until it ends


def _work_off(work: Callable[..., None], parts: Iterator[tuple]) -> None:
    for part in parts:
        work(*part)


def _help(work: Callable[..., None], parts: Iterator[tuple], flushing: bool) -> None:
    torch.set_flush_denormal(flushing)  # every thread has this setting for itself
    _work_off(work, parts)


def flushes() -> bool:
    """Whether denormals are flushed now (torch can set this but not tell)."""
    small = torch.tensor([1e-38], dtype=torch.float32, device="cpu")
    return float(small * 1e-2) == 0.0


@cache
def _pool(threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(threads, thread_name_prefix="lrnnlab-scan", initializer=_one_thread)


def _one_thread() -> None:
    """What torch does within a part is done by the part's own thread (a setting of OpenMP, which every thread has for itself)."""
    from threadpoolctl import threadpool_limits

    threadpool_limits(1, user_api="openmp")


if hasattr(os, "register_at_fork"):  # a forked child inherits the pool but not its threads, and would wait forever
    os.register_at_fork(after_in_child=_pool.cache_clear)
