"""Runs beyond this machine's own processes: handed to a cluster that dask or submitit looks after.

=======================  ==============================================================================================
``dask://HOST:PORT``     the scheduler of a dask cluster, whose workers have one thread each (``--nthreads 1``)
``slurm``                one Slurm job a run, ``jobs`` of them at a time, by submitit
``local``                the same with processes of this machine: to try out
=======================  ==============================================================================================

``slurm`` and ``local`` may be followed by what submitit's ``update_parameters`` takes, as in
``slurm:slurm_partition=cpu,timeout_min=600``.  The workers see the same ``data`` folder and have the same lrnnlab
installed.  They write the records; a run whose worker dies is begun again elsewhere, from its checkpoint.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

TRIES = 4  # of one run, whose worker dies
PATIENCE = 30  # seconds until a scheduler must have answered


def check_engine(engine: str, data: Path | None) -> None:
    """``ValueError`` for an engine that is not known, a package that is not installed, or no ``data`` to meet in."""
    kind, _, where = engine.partition(":")
    if kind not in ("dask", "slurm", "local") or (kind == "dask" and not where.strip("/")):
        raise ValueError(f"no engine {engine!r}; there are dask://HOST:PORT, slurm and local")
    if data is None:
        raise ValueError(f"--engine {engine} keeps records: other machines have no other way to give them back")
    _package("distributed" if kind == "dask" else "submitit")


def submit(
    engine: str, work: Callable[..., dict], calls: Sequence[tuple], jobs: int, data: Path
) -> Iterator[dict]:
    """``work(*call)`` for each of ``calls``, in order as they are ready; by submitit, ``jobs`` at a time."""
    kind, _, options = engine.partition(":")
    if kind == "dask":
        yield from _dask(f"tcp:{options}", work, calls)
    else:
        yield from _submitit(kind, options, work, calls, jobs, data / "checkpoints" / "jobs")


def _package(name: str) -> ModuleType:
    try:
        return import_module(name)
    except ImportError:
        raise ValueError(f"this engine needs {name}, which is not installed: pip install 'lrnnlab[cluster]'") from None


def _dask(address: str, work: Callable[..., dict], calls: Sequence[tuple]) -> Iterator[dict]:
    distributed = _package("distributed")
    try:
        client = distributed.Client(address, timeout=PATIENCE)
    except (OSError, ValueError) as error:
        raise ValueError(f"no dask scheduler answers at {address}: {error}") from None
    with client:
        futures = [client.submit(_alone, work, *call, pure=False, retries=0) for call in calls]
        try:
            for future in futures:
                yield future.result()
        except distributed.KilledWorker as error:
            raise ChildProcessError(f"a run took its worker with it again and again: {error}") from error
        except CancelledError as error:
            raise ChildProcessError(f"the dask scheduler is gone; the same call does the rest: {error}") from error
        finally:
            client.cancel([future for future in futures if not future.done()])


def _alone(work: Callable[..., dict], *call) -> dict:
    """``work`` on a worker of dask; ``ValueError`` on one with several threads, which share torch's random numbers."""
    threads = _package("distributed").get_worker().state.nthreads
    if threads > 1:
        raise ValueError(f"a dask worker has {threads} threads: start it with --nthreads 1, as many workers as cores")
    return work(*call)


class Job:
    """``work`` as submitit calls it; submitit calls it again where Slurm took the machine away or the time was up."""

    def __init__(self, work: Callable[..., dict]):
        self.work = work

    def __call__(self, *call) -> dict:
        return self.work(*call)

    def checkpoint(self, *call: Any) -> Any:
        """What to put into the queue again: the same, which finds its own checkpoint."""
        return _package("submitit").helpers.DelayedSubmission(self, *call)


def _submitit(
    kind: str, options: str, work: Callable[..., dict], calls: Sequence[tuple], jobs: int, folder: Path
) -> Iterator[dict]:
    submitit = _package("submitit")
    try:
        executor = submitit.AutoExecutor(folder=folder, cluster=kind)
    except RuntimeError as error:
        raise ValueError(f"--engine {kind}: {str(error).splitlines()[0]}") from None
    parts = [part for part in options.split(",") if part]
    if bare := [part for part in parts if "=" not in part]:
        raise ValueError(f"--engine {kind}:{options}: options are name=value with commas between, got {bare[0]!r}")
    named = dict(part.split("=", 1) for part in parts)
    numbers = {name: int(value) if value.isdecimal() else value for name, value in named.items()}
    try:
        executor.update_parameters(**{"timeout_min": 24 * 60, "cpus_per_task": 1, **numbers})
    except (AssertionError, NameError) as error:
        raise ValueError(f"--engine {kind}:{options}: {str(error).splitlines()[0]}") from None
    waiting, shown = list(range(len(calls))), 0
    running: dict[int, Any] = {}
    made: dict[int, dict] = {}
    tries = dict.fromkeys(waiting, 0)
    try:
        while shown < len(calls):
            while waiting and len(running) < jobs:
                number = waiting.pop(0)
                tries[number] += 1
                try:
                    running[number] = executor.submit(Job(work), *calls[number])
                except (submitit.core.utils.FailedJobError, submitit.core.utils.FailedSubmissionError) as error:
                    raise ValueError(f"--engine {kind}{options and f':{options}'}: {str(error).strip()}") from None
            for number, job in [(number, job) for number, job in running.items() if job.done()]:
                del running[number]
                try:
                    made[number] = job.result()
                except submitit.core.utils.UncompletedJobError as error:
                    if tries[number] == TRIES or isinstance(error, submitit.core.utils.FailedJobError):
                        raise ChildProcessError(f"a run does not come to its end: {error}") from error
                    waiting.insert(0, number)
            while shown in made:
                yield made.pop(shown)
                shown += 1
            time.sleep(0.2)
    finally:
        for job in running.values():
            job.cancel(check=False)
