"""What one submission may use, and the limits that the system keeps inside each of its processes.

The fence (:mod:`workbook.grading.fence`) keeps a process away from all that is outside.  What it may use up is bounded
twice: here, by the system, for one process, which is then told so (``MemoryError``); and by the grader
(:mod:`workbook.grading.sandboxed_process`), which adds up what all processes of a submission use and ends them together.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

if os.name == "posix":
    import resource


@dataclass(frozen=True)
class Limits:
    """What one submission may use.

    Parameters
    ----------
    seconds : int
        Computing time of one cell or one call.
    total : int
        Computing time of the whole submission.
    wall, whole : float
        Seconds by the clock, of the same; far more than the above, since others compute beside it.
    memory : int
        Bytes, of all its processes together.
    folder : int
        Bytes of what it writes.
    processes : int
        Processes and threads at a time.

    Examples
    --------
    >>> Limits(seconds=1).wall
    60
    """

    seconds: int = 10
    total: int = 120
    wall: float = 60
    whole: float = 600
    memory: int = 1 << 30
    folder: int = 32 << 20
    processes: int = 64


DEFAULT = Limits()


def confine(limits: Limits) -> None:
    """Put the limits on this process and all that it starts, for good."""
    if os.name != "posix":
        return
    bounds = {
        resource.RLIMIT_DATA: limits.memory, resource.RLIMIT_FSIZE: limits.folder, resource.RLIMIT_NOFILE: 128,
        resource.RLIMIT_CORE: 0, resource.RLIMIT_CPU: limits.total + 1,
    }  # fmt: skip
    if counts_processes():
        bounds[resource.RLIMIT_NPROC] = limits.processes
    for what, bound in bounds.items():
        resource.setrlimit(what, (bound, bound))


def counts_processes() -> bool:
    """Is this a user namespace of its own, whose processes the kernel counts apart from all others (Linux 5.14)?"""
    try:
        with open("/proc/self/uid_map") as file:
            everybody = file.read().split() == ["0", "0", "4294967295"]
        release = tuple(int(part) for part in os.uname().release.split("-")[0].split(".")[:2])
    except (OSError, ValueError):
        return False
    return not everybody and release >= (5, 14)


def allow(seconds: int) -> None:
    """From now on so many seconds of computing time, then the system ends this process."""
    if os.name == "posix":
        used = resource.getrusage(resource.RUSAGE_SELF)
        last = resource.getrlimit(resource.RLIMIT_CPU)[1]
        resource.setrlimit(resource.RLIMIT_CPU, (min(int(used.ru_utime + used.ru_stime) + 1 + seconds, last), last))
