"""``lrnnlab bench scans``: every installed peer on every case, in turn, in one run.

The peers of a case take turns, so that a drift of the machine's speed meets all of them, and copying a large array
takes its turn as well: shares of the memory's speed are shares of what was measured in the same minute.  A call that
would need more memory than there is, or longer than the limit, is not made; what is found says so, and what a short
part of the case leads one to expect.

A GPU's seconds are its own, between two events: before each call it copies for about a millisecond, in which Python
has launched the call's kernels.  (A loop of thousands of kernels waits for Python all the same.)

The *share* is (bytes that must move) / (median seconds) / (bytes a second of the copy, read and written).
"""

import ctypes
import gc
import os
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from itertools import chain, product
from pathlib import Path

import numpy as np
import torch

from lrnnbook.machinery.bench import peers
from lrnnbook.machinery.bench.cases import CASES, Case
from lrnnbook.machinery.bench.recording import PARTS, Bench, cores, of_peers, spread
from lrnnlab.scans.kernels import allocator

COPY = 1 << 26  # float32 numbers: 256 MB read, 256 MB written; no cache holds them
PROBE = 32  # steps of the short part that is tried first
FLUSH = 1 << 23  # float64 numbers: 64 MB, more than a cache holds
AHEAD = 8  # copies (0.16 ms each on an H200) that keep a GPU busy, and empty its cache, while Python launches a call
WIDTH = 26  # letters of a peer's name
PATIENCE = 2.0  # seconds in all that a peer's call may take in more than two rounds
ROOM = 0.6  # of the free memory, at most, is asked for
_STATUS, _CLEAR, _MACHINE = Path("/proc/self/status"), Path("/proc/self/clear_refs"), Path("/proc/meminfo")


@contextmanager
def _cores(threads: int) -> Iterator[None]:
    """Hold this process to ``threads`` cores: JAX has no other way to be told."""
    pins, allowed = hasattr(os, "sched_setaffinity"), cores(threads)
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    if pins:
        os.sched_setaffinity(0, allowed[:threads])
    try:
        yield
    finally:
        torch.set_num_threads(before)
        if pins:
            os.sched_setaffinity(0, allowed)


def measure(case: Case, names: Sequence[str], rounds: int = 7, limit: float = 20.0, device: str = "cpu") -> dict:
    """One case: the copy's speed, and by peer seconds, ratios, peak memory and shares."""
    found: dict = {}
    for name in names:
        if case.kind in peers.PEERS[name].kinds and case.T <= peers.PEERS[name].longest:
            beside = sum(not refused for refused in found.values())
            found[name] = _refuse(name, case, beside, limit, device) or {}
    inputs, run = case.inputs(), [name for name in found if not found[name]]
    ready = ((name, peers.PEERS[name].prepare(case, inputs, device)) for name in run)
    found |= compare(chain(ready, [("copy", (peers.copy(COPY, device),))]), rounds, device)
    speed = 2 * 4 * COPY / found.pop("copy")["forward"]["median"]
    floor = {"forward": case.bytes_forward(), "backward": case.bytes_backward()}
    floor["both"] = sum(floor.values())
    for name, part in product(run, PARTS):
        if part in found[name]:
            found[name][part]["share"] = floor[part] / found[name][part]["median"] / speed
    return {"copy_bytes_per_second": speed, "peers": found}


def compare(ready: Iterable[tuple[str, Sequence[peers.Work]]], rounds: int, device: str = "cpu") -> dict[str, dict]:
    """By peer its peak memory, and by part its seconds and how many times longer than ours they are; all calls take turns."""
    found: dict[str, dict] = {}
    works: dict = {}
    for name, calls in ready:
        found[name] = {"peak": peak_memory(calls[:2][-1], device)}  # and warm, and compiled
        works |= {(name, part): call for part, call in zip(PARTS, calls)}
    for (name, part), taken in take_turns(works, rounds, device).items():
        found[name][part] = one = spread(taken)
        if part in found.get("ours", {}):
            one["times_ours"] = one["median"] / found["ours"][part]["median"]
    return found


def _refuse(name: str, case: Case, beside: int, limit: float, device: str) -> dict | None:
    """Why this call is not made, judged by a short part of it; None if it may be."""
    if case.T <= 2 * PROBE:
        return None
    short = replace(case, T=PROBE)
    inputs = short.inputs()
    both = peers.PEERS[name].prepare(short, inputs, device)[:2][-1]
    _seconds(both, device)  # compiles
    factor, room = case.T / short.T, free_memory(device)
    held = (beside + 2) * factor * sum(part.nbytes for part in inputs.values())
    need = (peak_memory(both, device) or 0) * factor
    seconds = _seconds(both, device) * factor
    if room is not None and need > ROOM * (room - held):
        return {"skipped": f"would need about {need / 1e9:.0f} GB", "expected_seconds": seconds}
    if seconds > limit:
        return {"skipped": f"would take about {seconds:.0f} s", "expected_seconds": seconds}
    return None


def take_turns(works: dict, rounds: int, device: str = "cpu") -> dict:
    """Seconds of every call, round by round; a slow peer stops after ``PATIENCE`` seconds in all, two rounds at least."""
    taken: dict = {name: [] for name in works}
    before = [peers.copy(COPY, device)] * AHEAD if device == "cuda" else [np.ones(FLUSH).sum]
    for turn in range(rounds + 1):
        for name, work in works.items():
            if len(taken[name]) > 1 and sum(taken[name]) > PATIENCE and name[0] != "ours":
                continue
            for clear in before:
                clear()
            seconds = _seconds(work, device)
            if turn:  # the first round warms up
                taken[name].append(seconds)
    return taken


def _seconds(work, device: str) -> float:
    """Seconds of one call: the processor's, or the GPU's."""
    if device == "cpu":
        start = time.perf_counter()
        work()
        return time.perf_counter() - start
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record()
    work()
    end.record()
    end.synchronize()
    return begin.elapsed_time(end) / 1e3


def _read(path: Path, field: str) -> int:
    """Bytes of a line such as ``VmHWM:  1234 kB``."""
    line = next(line for line in path.read_text().splitlines() if line.startswith(f"{field}:"))
    return int(line.split()[1]) * 1024


def peak_memory(work: peers.Work, device: str = "cpu") -> int | None:
    """Bytes that resident memory (or the GPU's) grew at its highest while ``work`` ran, its result included; None off Linux."""
    gc.collect()
    if device == "cuda":
        torch.cuda.reset_peak_memory_stats()
        before = torch.cuda.memory_allocated()
        work()
        return torch.cuda.max_memory_allocated() - before
    if not _CLEAR.exists():
        return None
    ctypes.CDLL(None).malloc_trim(0)  # or memory freed before would be used again, and not counted
    allocator.shelf().clear()
    before = _read(_STATUS, "VmRSS")
    _CLEAR.write_text("5")  # resets the highest mark
    result = work()
    grown = _read(_STATUS, "VmHWM") - before
    del result
    return max(0, grown)


def free_memory(device: str = "cpu") -> int | None:
    """Bytes that a program can have without swapping: of a GPU, or on Linux."""
    if device == "cuda":
        return torch.cuda.mem_get_info()[0]
    return _read(_MACHINE, "MemAvailable") if _MACHINE.exists() else None


def report(case: str, found: dict) -> str:
    """One case as text, with the speed of the copy."""
    return of_peers(f"{case}   (copy {found['copy_bytes_per_second'] / 1e9:.1f} GB/s, read and written)", found, WIDTH)


def scans(threads: int = 1, rounds: int = 7, limit: float = 20.0, device: str = "cpu") -> Bench:
    """All cases, for ``lrnnlab bench scans``."""

    def measured(case: Case) -> dict:
        with _cores(threads):
            found = measure(case, peers.installed(device), rounds, limit, device)
        found["peers"] |= {name: {"skipped": why} for name, why in peers.absent(device).items()}
        return found

    cases = {case.name: partial(measured, case) for case in CASES}
    return Bench("scans", cases, report, rounds, threads, device, limit, peers.versions())
