"""What a benchmark is, and what it says: case by case, each recorded as soon as it is timed (``tables.run_all``).

A record, a line of ``data/records/bench/NAME.jsonl``, holds one case with its own machine and provenance.  So what an
interrupted benchmark has timed stays, the same call times the rest, two benchmarks at once do not touch each other's
cases, and those of another machine lie beside.
"""

from __future__ import annotations

import os
import platform
import re
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import torch

MODULES = {"scans": "scans", "step": "steps", "dlr": "dlr", "tree": "steps", "fast_weights": "steps", "delta": "delta"}  # where each is


@dataclass(frozen=True)
class Bench:
    """What is timed and how."""

    name: str
    cases: Mapping[str, Callable[[], dict]]
    report: Callable[[str, dict], str]
    rounds: int
    threads: int = 1
    device: str = "cpu"
    limit: float | None = None
    versions: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self):
        if self.rounds < 1:
            raise ValueError(f"rounds must be at least 1, got {self.rounds}")
        cores(self.threads)
        if self.device == "cuda" and not torch.cuda.is_available():
            raise ValueError("no CUDA device here")
        if self.device != "cpu" and self.threads > 1:
            raise ValueError(f"threads are of the CPU: with device {self.device} there is one, got {self.threads}")

    def chosen(self, only: str) -> list[Case]:
        """The cases whose name contains ``only``; ``ValueError`` if there is none."""
        found = [Case(self, name) for name in self.cases if only in name]
        if not found:
            raise ValueError(f"no case with {only!r} in its name; there are {', '.join(self.cases)}")
        return found


@dataclass(frozen=True)
class Case:
    """One case of a benchmark, for :func:`lrnnbook.content.tables.run_all`."""

    bench: Bench
    case: str
    clock = True
    steady = False  # it has threads of its own

    @property
    def experiment(self) -> str:
        """As records name it."""
        return f"bench/{self.bench.name}"

    @property
    def device(self) -> str:
        """Where it runs."""
        return self.bench.device

    def config(self) -> dict:
        """All that makes two timings ones of the same thing, but the versions of the libraries."""
        return {"experiment": self.experiment, "case": self.case, "threads": self.bench.threads, "device": self.device,
                "machine": machine(self.device)}  # fmt: skip

    def source(self) -> None:
        """None: seconds differ from run to run, whatever the code."""

    def says(self) -> dict:
        """What names it in its record, and how it was timed."""
        return {**self.config(), "rounds": self.bench.rounds, "limit": self.bench.limit, "versions": dict(self.bench.versions)}

    def measure(self, progress: bool = False, checkpoint: Path | None = None) -> dict:
        """Time it."""
        return {"metrics": self.bench.cases[self.case]()}

    def enough(self, record: dict) -> bool:
        """Whether it was timed in as many rounds and up to as long as is asked."""
        return record["rounds"] >= self.bench.rounds and (record.get("limit") or 0) >= (self.bench.limit or 0)


def get(name: str, **options: Any) -> Bench:
    """A benchmark by its name, with the options that it has (``rounds``, ...); ``ValueError`` lists the names.

    >>> list(get("tree").cases)
    ['T=512 c=2', 'T=512 c=128']
    """
    if name not in MODULES:
        raise ValueError(f"no benchmark {name!r}; there are {', '.join(MODULES)}")
    return getattr(import_module(f"lrnnbook.machinery.bench.{MODULES[name]}"), name)(**options)


def cores(threads: int) -> list[int]:
    """The cores that this process may use, by number; ``ValueError`` unless there are ``threads`` of them."""
    allowed = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_setaffinity") else list(range(os.cpu_count() or 1))
    if not 1 <= threads <= len(allowed):
        raise ValueError(f"threads must be 1..{len(allowed)}, got {threads}")
    return allowed


def machine(device: str = "cpu") -> dict:
    """What kind of machine this is: enough to tell timings of two kinds apart, nothing about whose it is."""
    instructions = torch.backends.cpu.get_cpu_capability()
    found = {"processor": _processor(), "cores": os.cpu_count(), "instructions": instructions}
    return found if device == "cpu" else {**found, "gpu": torch.cuda.get_device_name()}


def _processor() -> str:
    """The processor's own name where the system tells it."""
    told = Path("/proc/cpuinfo")
    names = re.findall(r"^model name\s*:\s*(.+)$", told.read_text(), re.MULTILINE) if told.exists() else []
    return (names or [platform.processor() or platform.machine()])[0].strip()


def describe(machine: Mapping) -> str:
    """A machine in words; its processor is not known in every record."""
    parts = (machine.get("processor"), f"{machine['cores']} cores", machine["instructions"], machine.get("gpu"))
    return ", ".join(part for part in parts if part)


PARTS = ("forward", "both", "backward")


def spread(seconds: Sequence[float]) -> dict[str, Any]:
    """Median, least and greatest, and how many there are."""
    return {"median": statistics.median(seconds), "min": min(seconds), "max": max(seconds), "rounds": len(seconds)}


def summary(taken: Mapping[str, Sequence[float]]) -> dict[str, dict]:
    """The spread of every form's seconds, and how many times the median of the first (ours) it takes."""
    found = {form: spread(seconds) for form, seconds in taken.items()}
    ours = next(iter(found.values()))["median"]
    return {form: {**one, "times_ours": one["median"] / ours} for form, one in found.items()}


def of_forms(name: str, head: str, steps: Mapping[str, Callable[[int], Mapping]], rounds: int, device: str = "cpu"
) -> Bench:
    """A benchmark of several forms of the same: by case ``steps(rounds)``, the seconds of every form, ours first."""

    def measured(timed: Callable[[int], Mapping]) -> dict:
        return {"forms": summary(timed(rounds))}

    def report(case: str, found: Mapping) -> str:
        lines = [f"  {form:20s} " + " ".join(f"{one[part] * 1e3:8.2f}" for part in ("median", "min", "max"))
                 + f" {one['times_ours']:7.1f}x" for form, one in found["forms"].items()]  # fmt: skip
        return "\n".join([head.format(case), *lines])

    return Bench(name, {case: partial(measured, timed) for case, timed in steps.items()}, report, rounds, device=device)


def of_peers(head: str, found: Mapping, width: int) -> str:
    """Peers as text: milliseconds (medians) of each part, times ours, share of the copy's speed where known, peak memory."""
    heading = "".join(f"{part + ', ms':>14s}   x ours   of copy" for part in PARTS)
    lines = [head, f"  {'':{width}s} {heading}    memory, MB"]
    shown = (("median", 1e3, ".2f", 14), ("times_ours", 1, ".1f", 9), ("share", 1, ".0%", 10))
    for name, one in found["peers"].items():
        cells = [(f"{one[part][key] * scale:{form}}" if key in one.get(part, ()) else "").rjust(room)
                 for part in PARTS for key, scale, form, room in shown]  # fmt: skip
        peak = "" if one.get("peak") is None else f"{one['peak'] / 1e6:14.0f}"
        said = f"not run: {one['skipped']}" if "skipped" in one else "".join(cells) + peak
        lines.append(f"  {name:{width}s} {said}")
    return "\n".join(lines)
