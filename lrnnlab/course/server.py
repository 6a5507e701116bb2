"""One warm process that forks a fresh one for every student: Python, torch and lrnnlab are loaded once.

The grader starts the server as a program of its own, so that nothing which the grader holds (solutions, hidden tests,
marks, the environment's variables) is in the memory that a student's process inherits.  What that means: a fork shares
pages, not state; a student cannot change what the next one gets, and starting one takes milliseconds.  But all have
the same loaded libraries and the same seed of Python's hash: that makes marks repeatable.

``Server`` is the grader's side, ``main`` the server's, :mod:`lrnnlab.course.pupil` the student's.
"""

from __future__ import annotations

import gc
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from lrnnlab.course import wire
from lrnnlab.course.sandbox import DEFAULT, FENCES, Limits

_START = "import sys; from lrnnlab.course.server import main; main(int(sys.argv[1]))"
_SUBREAPER = 36  # prctl: children of children come to this process when theirs ends


class Gone(RuntimeError):
    """The student's process is no more; the message says why."""


class Server:
    """The grader's handle on a server; use it as a context manager.

    >>> with Server(Limits(seconds=5)) as server:
    ...     pupil = server.pupil()
    ...     _ = pupil.ask({"cell": "def double(n): return 2 * n"})
    ...     print(pupil.ask({"call": "double", "arguments": [21]}))
    {'value': 42}
    """

    def __init__(self, limits: Limits = DEFAULT) -> None:
        if os.name != "posix":
            raise ValueError(f"grading needs Linux or macOS, this is {sys.platform}: use WSL or a container")
        self.limits = limits
        self.start()

    def start(self) -> None:
        """Start the server's program (again, after :meth:`close`)."""
        self._home = tempfile.TemporaryDirectory(prefix="lrnnlab-course-", ignore_cleanup_errors=True)
        self._line, theirs = socket.socketpair()
        self._process = subprocess.Popen(
            [sys.executable, "-c", _START, str(theirs.fileno())], pass_fds=[theirs.fileno()], cwd=self._home.name,
            env=_environment(self._home.name), stdin=subprocess.DEVNULL,
        )  # fmt: skip
        theirs.close()

    def __enter__(self):
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the server and every process that it started; remove all their folders."""
        self._line.close()  # the server ends when its line does
        self._process.wait()
        self._home.cleanup()

    def pupil(self, fences: Sequence[str] = FENCES, limits: Limits | None = None) -> Pupil:
        """A fresh process in a fresh, empty folder, inside those of ``fences`` that this machine has."""
        limits = limits or self.limits
        folder = tempfile.mkdtemp(dir=self._home.name)
        ours, theirs = socket.socketpair()
        with theirs:
            order = {"folder": folder, "limits": asdict(limits), "fences": list(fences)}
            wire.send(self._line, order)
            try:
                socket.send_fds(self._line, [b"."], [theirs.fileno()])
            except ConnectionError as error:
                raise wire.Closed("the server is gone") from error
            number = wire.receive(self._line)["started"]
        return Pupil(self, number, ours, limits, folder)

    def end(self, number: int) -> int:
        """End a student's process and what it started; return how it had ended (see ``os.waitstatus_to_exitcode``)."""
        wire.send(self._line, {"end": number})
        return wire.receive(self._line)["ended"]


class Pupil:
    """One student's process, from the grader's side."""

    def __init__(self, server: Server, number: int, line: socket.socket, limits: Limits, folder: str) -> None:
        self._server, self._number, self._line, self._limits, self._folder = server, number, line, limits, folder
        self._ended: int | None = None
        first = self._receive()
        if "fences" not in first:
            raise RuntimeError(f"a process could not be fenced in: {first}")
        self.fences = tuple(first["fences"])

    def ask(self, question: dict) -> dict:
        """Send a question of :func:`lrnnlab.course.pupil.answer`, return the reply.  Gone where there is none."""
        self._line.settimeout(self._limits.wall)
        try:
            wire.send(self._line, question)
        except (wire.Closed, TimeoutError):
            self._give_up(f"took more than {self._limits.wall:g} seconds")
        return self._receive()

    def _receive(self) -> dict:
        try:
            reply = wire.receive(self._line, until=time.monotonic() + self._limits.wall)
        except TimeoutError:
            self._give_up(f"took more than {self._limits.wall:g} seconds")
        except wire.Closed:
            self._give_up(None)
        except (ValueError, RecursionError):
            self._give_up("sent the grader what no function returns")
        if not isinstance(reply, dict):
            self._give_up("sent the grader what no function returns")
        return reply

    def _give_up(self, why: str | None) -> None:
        code = self.close()
        if why is None:
            known = {-signal.SIGXCPU: f"used more than {self._limits.seconds} seconds of computing time",
                     -signal.SIGKILL: "was ended by the system (time or memory)",
                     -signal.SIGSEGV: "crashed"}  # fmt: skip
            why = known.get(code, f"ended the whole process (exit status {code})")
        raise Gone(why)

    def close(self) -> int:
        """End it and remove its folder; return how it had ended."""
        if self._ended is None:
            self._line.close()
            self._ended = self._server.end(self._number)
            shutil.rmtree(self._folder, ignore_errors=True)  # what it made unremovable goes with the server's folder
        return self._ended


def _environment(home: str) -> dict[str, str]:
    """What a student's process may know of this machine's settings: next to nothing."""
    import lrnnlab

    one = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")
    return {**one, "PYTHONPATH": str(Path(lrnnlab.__file__).parents[1]), "PYTHONHASHSEED": "0", "HOME": home,
            "TMPDIR": home, "MPLBACKEND": "agg", "MPLCONFIGDIR": home, "LANG": "C.UTF-8", "TQDM_DISABLE": "1",
            "PYTHONDONTWRITEBYTECODE": "1", "CUDA_VISIBLE_DEVICES": ""}  # fmt: skip


def main(handle: int) -> None:
    """The server: load what students use, then fork on demand until the grader is gone."""
    from lrnnlab import scans
    from lrnnlab.course import pupil  # noqa: F401  loads torch
    from lrnnlab.course.sandbox import readable_places

    scans.warm()
    places = readable_places()
    if sys.platform.startswith("linux"):
        import ctypes

        ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)
    gc.collect()
    gc.freeze()  # what is loaded stays shared: no student's collector writes into it
    line, living = socket.socket(fileno=handle), set()
    while True:
        try:
            order = wire.receive(line)
        except wire.Closed:
            _end_strays(set())
            return
        if "end" in order:
            living.discard(order["end"])
            ended = _end(order["end"])
            _end_strays(living)
            wire.send(line, {"ended": ended})
        else:
            _, handles, _, _ = socket.recv_fds(line, 1, 1)
            number = _fork(line, handles[0], order, places)
            living.add(number)
            wire.send(line, {"started": number})


def _fork(line: socket.socket, handle: int, order: dict, places: tuple[str, ...]) -> int:
    number = os.fork()
    if number:
        os.close(handle)
        return number
    try:
        os.setsid()
        line.close()
        from lrnnlab.course import pupil

        theirs = socket.socket(fileno=handle)
        pupil.serve(theirs, order["folder"], places, Limits(**order["limits"]), tuple(order["fences"]))
    finally:
        os._exit(0)  # never back into the server's loop


def _end(number: int) -> int:
    """Wait a moment for a process that ends by itself (its status says why), then end it."""
    until = time.monotonic() + 0.2
    while time.monotonic() < until:
        found, code = os.waitpid(number, os.WNOHANG)
        if found:
            return os.waitstatus_to_exitcode(code)
        time.sleep(0.005)
    for kill in (os.killpg, os.kill):
        try:
            kill(number, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):  # it had no time to lead a group, or is gone
            pass
    return os.waitstatus_to_exitcode(os.waitpid(number, 0)[1])


def _end_strays(living: set[int]) -> None:
    """End what students' processes left behind (Linux: orphans come to this process), but not the ``living``."""
    listed = Path(f"/proc/self/task/{os.getpid()}/children")
    while listed.is_file() and (strays := set(map(int, listed.read_text().split())) - living):
        for stray in strays:
            os.kill(stray, signal.SIGKILL)
            os.waitpid(stray, 0)
