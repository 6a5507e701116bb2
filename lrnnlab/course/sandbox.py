"""The fence round a student's code: what a process may still do after it called :func:`confine`.

Three layers, each of which works alone:

* **limits** of the system (Linux, macOS): computing time, memory (Linux), size of files, open files;
* a **hook** that Python itself calls before it opens a file, starts a program or connects to a machine.  It works
  wherever Python does and gives clear messages.  Native code goes round it;
* **Landlock** (Linux 5.13 and newer, no rights needed): the kernel itself refuses to read outside a list of folders,
  to write outside one folder and to run any program; from Linux 6.7 also TCP, from 6.12 signals to others.

What is *not* stopped.  A process may use up the time and memory it has, and fill its own folder with many small files.
With Landlock native code can still change a file's mode or times, see which processes run, start processes (they are
ended with their parent) and send UDP; that the hook alone forbids.  Without Landlock (macOS, an old kernel, some
containers) native code can read and write what the user can.  Gaps of the kernel are gaps here.  Where that matters,
grade in a container or a virtual machine of its own.
"""

from __future__ import annotations

import ctypes
import os
import platform
import struct
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

if os.name == "posix":
    import resource

FENCES = ("limits", "hook", "landlock")
_CREATE, _ADD, _RESTRICT = 444, 445, 446  # Landlock's system calls, the same numbers on x86-64 and ARM
_READ = 1 << 2 | 1 << 3  # files, folders
_FILE_ONLY = 1 << 0 | 1 << 1 | 1 << 2 | 1 << 14 | 1 << 15  # run, write, read, truncate, ioctl: what a file may be asked
_HANDLED = ((1, 13), (2, 14), (3, 15), (5, 16))  # from this version on, so many kinds of access
_NO_NEW_PRIVILEGES = 38

_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_CHANGES = {"os.remove", "os.rename", "os.rmdir", "os.mkdir", "os.chmod", "os.chown", "os.link", "os.symlink",
            "os.truncate", "os.utime", "os.mkfifo", "os.mknod", "os.setxattr", "os.removexattr"}  # fmt: skip
_LISTS = {"os.listdir", "os.scandir"}
_NEVER = {"os.system", "os.exec", "os.fork", "os.forkpty", "os.posix_spawn", "os.spawn", "os.kill", "os.killpg",
          "subprocess.Popen", "pty.spawn", "socket.connect", "socket.bind", "socket.sendto", "socket.sendmsg",
          "socket.getaddrinfo", "socket.gethostbyname", "ctypes.dlopen", "signal.pthread_kill"}  # fmt: skip


@dataclass(frozen=True)
class Limits:
    """What one submission may use.

    seconds : computing time of one cell or one call.   wall : seconds by the clock, of the same.
    total : seconds by the clock, of the whole submission.   memory : bytes beyond what Python and torch have taken.
    file : bytes of the largest file it may write.
    """

    seconds: int = 10
    wall: float = 40
    total: float = 240
    memory: int = 1 << 30
    file: int = 1 << 20


DEFAULT = Limits()


def readable_places() -> tuple[str, ...]:
    """What student code may read: Python, the installed packages, lrnnlab itself; not the course, not the records."""
    import lrnnlab

    places = {sys.prefix, sys.base_prefix, "/usr", "/lib", "/lib64", "/etc/ld.so.cache", "/etc/localtime", "/dev/null",
              "/dev/urandom", str(Path(lrnnlab.__file__).parent)}  # fmt: skip
    places |= {place for place in sys.path if Path(place).name in ("site-packages", "dist-packages")}
    return tuple(sorted(os.path.realpath(place) for place in places if os.path.exists(place)))


def confine(folder: str, readable: Sequence[str], limits: Limits, fences: Sequence[str] = FENCES) -> tuple[str, ...]:
    """Fence this process in for good: write in ``folder`` only, read there and in ``readable``; return what holds.

    >>> confine("/tmp", readable_places(), Limits())  # doctest: +SKIP
    ('limits', 'hook', 'landlock')
    """
    folder = os.path.realpath(folder)
    holds = []
    if "limits" in fences:
        set_limits(limits)
        holds.append("limits")
    if "landlock" in fences and restrict(folder, readable):
        holds.append("landlock")
    if "hook" in fences:  # last: the layers above need ctypes, which it forbids
        sys.addaudithook(guard(folder, tuple(readable)))
        holds.append("hook")
    return tuple(fence for fence in FENCES if fence in holds)


def set_limits(limits: Limits) -> None:
    """Memory, sizes of files, and a last bound of computing time (:func:`allow` sets the one that counts)."""
    taken = _address_space()
    if taken:
        resource.setrlimit(resource.RLIMIT_AS, (taken + limits.memory,) * 2)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limits.file,) * 2)
    resource.setrlimit(resource.RLIMIT_NOFILE, (128, 128))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    last = int(limits.total) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (last, last + 1))


def allow(seconds: int) -> None:
    """From now on so many seconds of computing time, then the system ends this process."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    last = resource.getrlimit(resource.RLIMIT_CPU)[1]
    wanted = int(used.ru_utime + used.ru_stime) + 1 + seconds
    resource.setrlimit(resource.RLIMIT_CPU, (wanted if last == resource.RLIM_INFINITY else min(wanted, last), last))


def _address_space() -> int:
    """Bytes of address space this process has taken; 0 where the system does not say (then no limit is set)."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    except OSError:
        return 0


def guard(folder: str, readable: tuple[str, ...]) -> Callable[[str, tuple], None]:
    """The audit hook: PermissionError before Python does what is not allowed.

    >>> hook = guard("/tmp/mine", ("/usr",))
    >>> hook("open", ("/usr/lib/x.py", "r", 0))
    >>> hook("open", ("/etc/passwd", "r", 0))
    Traceback (most recent call last):
    PermissionError: the grader does not allow to read /etc/passwd
    """

    def within(path, places):
        real = os.path.realpath(os.fsdecode(path))
        return any(real == place or real.startswith(place.rstrip("/") + "/") for place in places)

    def refuse(what):
        raise PermissionError(f"the grader does not allow {what}")

    def hook(event, arguments):
        if event == "open":
            path, _, flags = arguments
            if isinstance(path, int):  # a file that is open already
                return
            if flags & _WRITING and not within(path, (folder, "/dev/null")):
                refuse(f"to write {os.fsdecode(path)}")
            if not within(path, (folder, *readable)):
                refuse(f"to read {os.fsdecode(path)}")
        elif event in _LISTS:
            path = "." if arguments[0] is None else arguments[0]
            if not isinstance(path, int) and not within(path, (folder, *readable)):
                refuse(f"to list {os.fsdecode(path)}")
        elif event in _CHANGES:
            for path in arguments:
                if isinstance(path, (str, bytes, os.PathLike)) and not within(path, (folder,)):
                    refuse(f"to change {os.fsdecode(path)}")
        elif event in _NEVER:
            refuse(event)

    return hook


def landlock() -> int:
    """The version of Landlock that this kernel has, 0 for none.

    >>> landlock() >= 0
    True
    """
    if not sys.platform.startswith("linux") or platform.machine() not in ("x86_64", "aarch64", "arm64"):
        return 0
    return max(_libc().syscall(_CREATE, None, ctypes.c_size_t(0), ctypes.c_uint32(1)), 0)


def restrict(folder: str, readable: Sequence[str]) -> bool:
    """Put this process and all it starts under Landlock, for good; False where the kernel has none."""
    version = landlock()
    if not version:
        return False
    libc = _libc()
    kinds = (1 << max(count for since, count in _HANDLED if version >= since)) - 1
    net, scope = (0b11 if version >= 4 else 0), (0b11 if version >= 6 else 0)
    rules = struct.pack("=QQQ", kinds, net, scope)[: 24 if version >= 6 else 16 if version >= 4 else 8]
    ruleset = _done(libc.syscall(_CREATE, rules, ctypes.c_size_t(len(rules)), ctypes.c_uint32(0)))
    for place in readable:
        _add(libc, ruleset, place, _READ)
    _add(libc, ruleset, "/dev/null", 1 << 1)
    _add(libc, ruleset, folder, kinds & ~(1 << 0))  # everything but to run a program
    _done(libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0))
    _done(libc.syscall(_RESTRICT, ruleset, ctypes.c_uint32(0)))
    os.close(ruleset)
    return True


def _add(libc: ctypes.CDLL, ruleset: int, place: str, access: int) -> None:
    handle = os.open(place, os.O_PATH | os.O_CLOEXEC)
    try:
        access &= -1 if os.path.isdir(place) else _FILE_ONLY
        rule = struct.pack("=Qi", access, handle)
        _done(libc.syscall(_ADD, ruleset, ctypes.c_int(1), rule, ctypes.c_uint32(0)))
    finally:
        os.close(handle)


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _done(result: int) -> int:
    if result < 0:
        raise OSError(ctypes.get_errno(), f"Landlock: {os.strerror(ctypes.get_errno())}")
    return result
