"""Runs of tables and cases of benchmarks: how many go at once and where, what is recorded, how long it still takes."""

import sys
import time
import warnings
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
from contextlib import nullcontext
from pathlib import Path
from typing import Protocol

from lrnnbook.content.tables import engines, records
from lrnnbook.content.tables.code import same
from lrnnbook.content.tables.registry import plan
from lrnnlab.training import deterministic
from lrnnlab.validation import checked


class Work(Protocol):
    """One thing to do and to record: a run of a table, or a case of a benchmark."""

    @property
    def experiment(self) -> str: ...
    @property
    def device(self) -> str: ...
    @property
    def clock(self) -> bool: ...  # seconds are the result, so that nothing may run beside
    @property
    def steady(self) -> bool: ...  # sums in a fixed order, so that its numbers depend on nothing beside
    def says(self) -> dict: ...  # what names it in its record
    def config(self) -> dict: ...  # all that decides what comes out
    def source(self) -> str | None: ...  # a digest of the code that it goes through, where that decides what comes out
    def measure(self, progress: bool, checkpoint: Path | None) -> dict: ...
    def enough(self, record: dict) -> bool: ...  # whether a record of this configuration will do


def perform(work: Work, progress: bool = False, checkpoint: Path | None = None) -> dict:
    """Train or measure; the returned record holds the configuration, what was found, and where it came from."""
    provenance = records.provenance(work.device, work.source() if checkpoint else None)  # of the code as it is now
    start = time.perf_counter()
    with deterministic(alone=work.clock) if work.steady else nullcontext():
        found = work.measure(progress, checkpoint)
    return {
        **work.says(), "wall_seconds": round(time.perf_counter() - start, 3), **found,
        "fingerprint": records.fingerprint(work.config()), "config": work.config(), "provenance": provenance,
    }  # fmt: skip


@checked
def reproduce(
    name: str, *, tasks: Sequence[str] | None = None, rows: Sequence[str] | None = None,
    seeds: Sequence[int] | None = None, budget: str = "live", protocol: str | None = None, jobs: int = 1,
    engine: str | None = None, data: Path | None = None,
) -> list[dict]:  # fmt: skip
    """The records of (part of) a table or figure of a paper, by its name: ``plan``, then :func:`run_all`.

    >>> [found["metrics"]["levels"] for found in reproduce("lrnn/fig1", rows=["8"])]
    [3]
    """
    runs = plan(name, tasks=tasks, rows=rows, seeds=seeds, budget=budget, protocol=protocol)
    return list(run_all(runs, jobs=jobs, engine=engine, data=data))


@checked
def run_all(
    runs: Sequence[Work], *, jobs: int = 1, engine: str | None = None, data: Path | None = None, reuse: bool = True,
    progress: bool = False, announce: Callable[[int, int], None] | None = None,
) -> Iterator[dict]:  # fmt: skip
    """Perform ``runs``, ``jobs`` at a time, and yield their records in order as they are ready.

    Every run has sums in a fixed order and random numbers of its own, so the numbers depend neither on ``jobs`` nor on ``engine``.
    Where seconds are the result, one run goes at a time whatever ``jobs``: two clocks disturb each other.

    Parameters
    ----------
    runs : list
        What :func:`lrnnbook.content.tables.plan` returns, or the ``chosen`` cases of a benchmark.
    jobs : int
        How many go at a time.
    engine : str, optional
        Where runs go instead of to processes of this machine, see :mod:`lrnnbook.content.tables.engines`; it needs ``data``.
    data : Path, optional
        Where every record is written as soon as it exists.  If a write fails, the record is yielded all the same, with
        why under ``"unwritten"``.
    reuse : bool
        Whether a good record in ``data`` of the very same configuration is not run again; unfinished runs go on from
        ``data/checkpoints``.
    progress : bool
        Whether to show bars.
    announce : callable, optional
        Called once before anything is run, with the number of runs and the number that is recorded.

    Raises
    ------
    OSError
        Before anything is run, if nothing can be written in ``data``.
    ValueError
        For less than one job, and for an engine where seconds are the result.

    Examples
    --------
    >>> [record["metrics"]["levels"] for record in run_all(plan("lrnn/fig1", rows=["8"]))]
    [3]
    """
    if jobs < 1:
        raise ValueError(f"jobs must be at least 1, got {jobs}")
    if any(run.clock for run in runs):
        jobs = 1
        if engine is not None:
            raise ValueError(f"{runs[0].experiment} measures time: it runs alone on this machine, not by --engine {engine}")
    if engine is not None:
        engines.check_engine(engine, data)
    found = _recorded(runs, data if reuse else None)
    missing = [run for run, record in zip(runs, found) if record is None]
    if announce is not None:
        announce(len(runs), len(runs) - len(missing))
    if data is not None:
        data = data.resolve()  # other processes may have other working folders
        places = {records.place(data, run.says()) for run in missing}
        records.check_writable([*places, *([data / records.FINISHED / "run.json"] if missing else [])])
    made = _performed(missing, jobs, engine, data, reuse, progress)
    try:
        for record in found:
            yield next(made) if record is None else record
    finally:
        with warnings.catch_warnings():  # of results that nobody fetched before an interrupt: they are recorded
            warnings.simplefilter("ignore", UserWarning)
            made.close()


def _performed(
    runs: Sequence[Work], jobs: int, engine: str | None, data: Path | None, reuse: bool, progress: bool
) -> Generator[dict, None, None]:
    """The records of runs, in order, by this machine's processes or by an engine."""
    if engine is not None and data is not None and runs:
        yield from engines.submit(engine, recorded_once, [(run, data, reuse) for run in runs], jobs, data)
    elif min(jobs, len(runs)) == 1:
        yield from (recorded_once(run, data, reuse, progress) for run in runs)
    elif runs:
        from joblib import Parallel, delayed  # a tenth of a second to load

        calls = (delayed(recorded_once)(run, data, reuse) for run in runs)
        try:
            yield from Parallel(n_jobs=min(jobs, len(runs)), return_as="generator")(calls)
        except BrokenProcessPool as error:
            raise ChildProcessError("a process was killed; the same call does the rest, from the last checkpoints") from error


def _recorded(runs: Sequence[Work], data: Path | None) -> list[dict | None]:
    """The good record of exactly each of these runs, where there is one."""
    good: dict[tuple, dict] = {}
    if data is not None:
        folders = {records.recorded_folder(), data} if data == records.data_folder() else {data}
        for folder in sorted(folders, key=lambda one: one == data):  # an installed package has records of its own
            for name in {run.experiment for run in runs}:
                good |= {(name, *records.identity(one)): one for one in records.read(folder, name)}
    found: list[dict | None] = []
    for run in runs:
        record = good.get((run.experiment, *records.identity(run.says())))
        if record and not run.enough(record):
            record = None
        if record and record["fingerprint"] != records.fingerprint(run.config()):
            print(f"the record of {records.who(record)} belongs to another configuration: skipped", file=sys.stderr)
            record = None
        found.append(record and {**record, "recorded": True})
    _say_if_code_changed(runs, found)
    return found


def _say_if_code_changed(runs: Sequence[Work], found: Sequence[dict | None]) -> None:
    """Of records which other code made than would make them now, as far as is known: a line for each table."""
    known, changed = records.sources(), dict[str, list[str]]()
    for run, record in zip(runs, found):
        if record and (now := run.source()) and not same(record["provenance"].get("source"), now, known.get(run.experiment, [])):
            changed.setdefault(run.experiment, []).append(records.who(record))
    for name, who in changed.items():
        print(f"{name}: the code has changed since {len(who)} of these records were made (the first: {who[0]}); "
              "--again makes them again", file=sys.stderr)  # fmt: skip


def recorded_once(run: Work, data: Path | None, reuse: bool, progress: bool = False) -> dict:
    """One run, in whatever process: the same arithmetic in all, and recorded at once."""
    if reuse and data is not None and (found := _recorded([run], data)[0]):
        return found  # another series was faster
    name = f"{run.experiment.replace('/', '-')}-{records.fingerprint(run.config())}.pt"
    checkpoint = None if data is None else data / "checkpoints" / name
    record = perform(run, progress=progress, checkpoint=checkpoint)
    if data is None or checkpoint is None:
        return {**record, "recorded": False}
    try:
        records.keep(data, record)
    except OSError as error:
        return {**record, "recorded": False, "unwritten": f"{error.filename}: {error.strerror}"}
    for kept in [checkpoint, *checkpoint.parent.glob(f"{checkpoint.stem}.try*")]:  # some runs keep one for each of their tries
        kept.unlink(missing_ok=True)
    return {**record, "recorded": False}


def time_left(seconds: float, done: int, runs: int) -> str:
    """How long ``runs`` runs still take, of which ``done`` took ``seconds``."""
    if not 0 < done < runs:
        return ""
    left = seconds / done * (runs - done)
    shown = f"{left:.0f} s" if left < 100 else f"{left / 60:.0f} min" if left < 6000 else f"{left / 3600:.1f} h"
    return f"about {shown} left"
