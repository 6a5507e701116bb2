"""Experiments that measure instead of training: what one measurement is, and how it is made.

A measuring experiment is a module with ``NAME``, ``TASKS``, ``ROWS``, ``ALIASES`` as a training one has, and

=========================  ==========================================================================================
``setting(row, task,       all that decides the outcome besides the seed, as plain data; ``ValueError`` for a row, task
budget)``                  or budget that is not there
``measure(setting,         what was found, as parts of a record; ``"metrics"`` is one of them
seed)``
``table(records)``         the records as text, beside the paper's own numbers where it has some
``line(record)``           one record in a few words
``CLOCK``                  True where seconds are the result: then one run goes at a time; absent elsewhere
=========================  ==========================================================================================
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from lrnnlab import records


@dataclass(frozen=True)
class Measurement:
    """One cell of a measuring experiment; the counterpart of ``runner.Run``, with the same names for the same things."""

    experiment: str
    task: str
    row: str
    seed: int
    budget: str
    setting: dict
    protocol: str = "ours"

    def config(self) -> dict:
        """All that decides the outcome, as plain data."""
        return json.loads(json.dumps(asdict(self), default=list))

    def path(self, data: Path) -> Path:
        return data / "records" / self.experiment / self.budget / f"{self.task}-{self.row}-{self.seed}.json"


def grid(found: Sequence[str], known: Sequence[str], what: str, name: str) -> None:
    """``ValueError``, with what there is, unless all of ``found`` are among ``known``.

    >>> grid(["clip"], ["clip", "free"], "row", "lrnn/growth")
    """
    wrong = [one for one in found if one not in known]
    if wrong:
        raise ValueError(f"{name} has no {what} {wrong[0]!r}; there are {', '.join(known)}")


def perform(measure: Callable[[dict, int], dict], run: Measurement, **_) -> dict:
    """Make the measurement; the returned record holds the configuration, what was found, and where it came from."""
    provenance, start = records.provenance(run.setting.get("device", "cpu")), time.perf_counter()
    found = measure(run.setting, run.seed)
    return {
        "experiment": run.experiment, "task": run.task, "row": run.row, "seed": run.seed, "budget": run.budget,
        "protocol": run.protocol, "wall_seconds": round(time.perf_counter() - start, 3), **found,
        "fingerprint": records.fingerprint(run.config()), "config": run.config(), "provenance": provenance,
    }  # fmt: skip
