"""One student's process, from the grader's side: start it in the fence, ask it, watch what it uses, end it.

Each is a fresh interpreter in a fence of its own, so no submission can touch another, and what a process has spoilt
goes with it.  It loads what the notebook imports and no more.  A thread watches it ten times a second, all that it
started with it, and ends the whole tree where a limit is passed: so nobody here waits for a student without end.  A
reply, which may come between two looks, counts as one only if no limit is passed when it comes.
"""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from lrnnbook.machinery.grading.fence import HOME, KERNELS, Fence, calls_filter
from lrnnbook.machinery.grading.serialization import Channel, Closed

_START = "from lrnnbook.machinery.grading.worker import main; main()"
STARTING = 120  # seconds by the clock
ENDING = 60
TICK = 0.1  # seconds between two looks
MAX_MESSAGE_CHARACTERS = 400  # characters of what an exception says, or of a name
MAX_LISTED = 5_000  # names of functions, and notes
FILES = 20_000


class Gone(RuntimeError):
    """The student's process is no more; the message says why."""


class Process:
    """A fresh interpreter in the fence, which runs cells and calls; close it at the end."""

    def __init__(self, fence: Fence) -> None:
        self.fence, self.limits = fence, fence.limits
        self.computed = 0.0  # seconds of computing time, of all its processes, as last seen
        self._why, self._ready, self._closed = "", False, False
        self._home = tempfile.TemporaryDirectory(prefix="lrnnlab-", ignore_cleanup_errors=True)
        self._process, self._root, self._handle = _start(fence, self._home.name)
        self._channel = Channel(self._process.stdout, self._process.stdin)
        self._over, self._since, self._until = threading.Event(), 0.0, time.monotonic() + STARTING
        self._watcher = threading.Thread(target=self._watch, daemon=True)
        self._watcher.start()
        try:
            self._receive()
        except Gone as gone:
            raise RuntimeError(f"a process in the fence did not start: it {gone}") from None

    def ask(self, question: str, *arguments: Any) -> dict:
        """Ask what :class:`lrnnbook.machinery.grading.worker.Worker` answers, return the reply.  Gone where there is none."""
        self._since, self._until = self.computed, time.monotonic() + self.limits.wall
        try:
            self._channel.send({question: arguments})
        except Closed:
            self._give_up()
        reply = self._receive()
        self._until = float("inf")
        return reply

    def _receive(self) -> dict:
        """A reply, as far as it is of the kind that a worker makes."""
        try:
            reply = self._channel.receive()
        except Closed:
            self._give_up()
        except ValueError:
            reply = None
        self._ready = True
        self._why = self._why or self._passed()
        if not self._why and not isinstance(reply, dict):
            self._why = "sent the grader what no function returns"
        if self._why:
            self._give_up()
        for key in {"error", "kind"} & reply.keys():
            reply[key] = str(reply[key])[:MAX_MESSAGE_CHARACTERS]
        for key in {"functions", "notes"} & reply.keys():
            listed = reply[key] if isinstance(reply[key], list) else []
            reply[key] = [text for text in listed[:MAX_LISTED] if isinstance(text, str) and len(text) < MAX_MESSAGE_CHARACTERS]
        return reply

    def _give_up(self) -> None:
        code = self.close()
        known: dict[int, str] = {signal.SIGXCPU: f"used more than {self.limits.seconds} seconds of computing time",
                 signal.SIGKILL: "was ended by the system (time or memory)",
                 signal.SIGSEGV: "crashed"} if os.name == "posix" else {}  # fmt: skip
        ended = -code if code < 0 else code - 128  # a fence tells the signal as a shell does
        raise Gone(self._why or known.get(ended) or f"ended the whole process (exit status {code})")

    def close(self) -> int:
        """End it with all that it started, and remove its folder; return how it had ended."""
        if not self._closed:
            self._closed = True
            self._over.set()
            with suppress(OSError):  # what it did not read
                self._process.stdin.close()
            with suppress(subprocess.TimeoutExpired):  # one that ends by itself says how
                self._process.wait(0.2)
            self._kill()
            self._process.wait(ENDING)
            self._watcher.join()
            if self._handle >= 0:
                os.close(self._handle)
            self._process.stdout.close()
            self._home.cleanup()
        return self._process.returncode

    def _kill(self) -> None:
        """End it with all that it started, and wait until it has ended."""
        if self._handle >= 0:  # the fence's first process, which takes all others along, also when its command is gone
            with suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._handle, signal.SIGKILL)
            select.select([self._handle], [], [], ENDING)
        elif os.name == "posix":
            with suppress(ProcessLookupError, PermissionError):  # macOS says so of one that has ended
                os.killpg(self._process.pid, signal.SIGKILL)
        else:
            self._process.kill()

    # --- what it uses ------------------------------------------------------------------------------------------------

    def _watch(self) -> None:
        while not self._over.wait(TICK):
            self._why = self._why or self._passed()
            if self._why:
                self._kill()
                return

    def _passed(self) -> str:
        """Which limit is passed, in words, or nothing."""
        limits = self.limits
        if time.monotonic() > self._until:
            return f"took more than {limits.wall:g} seconds by the clock"
        seconds, memory, count = usage(self._root) if self._root else (0.0, 0, 0)
        self.computed = max(self.computed, seconds)
        if self.computed - self._since > limits.seconds + 2:  # the system's own limit comes first, for one process
            return f"used more than {limits.seconds} seconds of computing time"
        if self.computed > limits.total:
            return f"used more than {limits.total} seconds of computing time in all"
        if memory > limits.memory:
            return f"used more than {limits.memory >> 20} MiB of memory"
        if count > 2 * limits.processes:
            return f"started more than {limits.processes} processes"
        return f"made more than {FILES} files" if self._files() > FILES else ""

    def _files(self) -> int:
        """How many files are in the folders that it may write: the kernel keeps them in memory that nobody counts."""
        count = 0  # before its first word the fence may not be up yet, and these be folders of the machine's own
        for folder in (HOME, str(KERNELS)) if self._handle >= 0 and self._ready else ():
            with suppress(OSError):  # it has ended, or there are no compiled kernels
                found = os.statvfs(f"/proc/{self._root}/root{folder}")
                count += found.f_files - found.f_ffree
        return count


def _start(fence: Fence, home: str) -> tuple[subprocess.Popen, int, int]:
    """The command, the process that all others descend from, and an open handle of that one where it is a fence's."""
    kept: dict[str, int] = {}
    if fence.program:
        told, kept["info"] = os.pipe()
        kept["calls"] = calls_filter()
    handles = [handle for handle in kept.values() if handle >= 0]
    posix: dict[str, Any] = {}
    if os.name == "posix":
        posix = {"pass_fds": handles, "umask": 0o022, "start_new_session": True}
    try:
        process = subprocess.Popen(fence.command(_START, json.dumps(asdict(fence.limits)), **kept), cwd=home,
                                   env=fence.environment(home), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   stderr=subprocess.DEVNULL, **posix)  # fmt: skip
    finally:
        for handle in handles:
            os.close(handle)
    if not fence.program:
        return process, process.pid, -1
    said = ""
    with open(told, encoding="utf-8") as file:
        while not said.rstrip().endswith("}") and (part := file.readline()):
            said += part
    root = json.loads(said)["child-pid"] if said else 0
    return process, root, os.pidfd_open(root) if said else -1  # a number could be another process's by and by


def tree(root: int) -> Iterator[int]:
    """A process and all its descendants that live (Linux; elsewhere the process alone)."""
    waiting = [root]
    while waiting:
        pid = waiting.pop()
        yield pid
        with suppress(OSError):  # it has just ended
            for thread in os.listdir(f"/proc/{pid}/task"):
                waiting += map(int, Path(f"/proc/{pid}/task/{thread}/children").read_text().split())


def usage(root: int) -> tuple[float, int, int]:
    """Seconds of computing time, bytes of memory that are theirs, and number of processes and threads, of a tree."""
    ticks, memory, count = 0, 0, 0
    for pid in tree(root):
        try:
            stat = Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
            status = Path(f"/proc/{pid}/status").read_text(errors="replace")
        except OSError:
            continue
        ticks += sum(map(int, stat[11:15]))  # its own and its ended children's, user and system
        count += int(stat[17])
        sizes = dict(line.split(":", 1) for line in status.splitlines() if line.startswith(("RssAnon", "RssShmem")))
        memory += sum(int(size.split()[0]) << 10 for size in sizes.values())
    return ticks / (os.sysconf("SC_CLK_TCK") if ticks else 1), memory, count
