"""The fence round a student's code: which one this machine has, and the command that starts Python inside it.

`bubblewrap <https://github.com/containers/bubblewrap>`_ gives each process that the grader starts namespaces of its own
(users, processes, network, IPC, host name, mounts) as an unprivileged user.  It sees Python, the installed packages,
``lrnnlab``, the parts of ``lrnnbook`` that run there, and one small folder of its own that it may write; not the course's
sources, what others handed in, the home or any socket.  Where libseccomp is there, system calls that no exercise needs
are refused too: sockets, shared memory that nobody counts, keys, looking into other processes, mounts, namespaces.

Without bubblewrap there is no fence, and :func:`find` refuses unless it is told ``unfenced``.

What is *not* stopped: gaps of the kernel; reading Python and the packages; using up the time and memory that is given.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

import lrnnlab

PACKAGE = Path(lrnnlab.__file__).resolve().parent
LRNNBOOK = Path(__file__).resolve().parents[2]
PARTS = ("__init__.py", "content/__init__.py", "content/exercises", "machinery/__init__.py", "machinery/copies.py", "machinery/grading")
SHOWN = (PACKAGE, *(LRNNBOOK / part for part in PARTS))
KERNELS = PACKAGE / "scans" / "kernels" / "__pycache__"  # compiled kernels; inside it is a small folder that numba may write,
STORED = "/kernels"  # filled from this one
PAGE = 4096  # bytes in which a folder in memory is given out
HOME = "/submission"  # the one folder that can be written
NOBODY = 65534  # who a student's process is where the grader is root
FORBIDDEN = """
    socket socketcall shmget shmat shmctl msgget semget memfd_create memfd_secret add_key request_key keyctl ptrace
    process_vm_readv process_vm_writev process_madvise kcmp pidfd_getfd unshare setns mount umount2 pivot_root chroot
    open_tree open_tree_attr move_mount fsopen fsconfig fsmount fspick mount_setattr io_uring_setup io_uring_enter
    io_uring_register bpf perf_event_open userfaultfd inotify_init inotify_init1 fanotify_init name_to_handle_at
    open_by_handle_at quotactl quotactl_fd swapon swapoff reboot syslog acct kexec_load init_module finit_module
""".split()
_DROP = (f"import os, sys; os.setgroups([]); os.setresgid(*[{NOBODY}] * 3); os.setresuid(*[{NOBODY}] * 3); "
         "os.execv(sys.argv[1], sys.argv[1:])")  # fmt: skip


class NoFence(ValueError):
    """This machine has no fence; the message says what to do."""


@dataclass(frozen=True)
class Limits:
    """What one submission may use: the system keeps ``seconds``, ``memory`` and ``folder`` inside each process, which is told
    so (``MemoryError``); the grader adds up what all processes use, and ends them together."""

    seconds: int = 10  # computing time of one cell or one call
    total: int = 120  # of the whole submission
    wall: float = 60  # by the clock, for a cell or a call; far more than the above, since others compute beside it
    whole: float = 600  # by the clock, for the submission
    memory: int = 1 << 30  # bytes, of all its processes together
    folder: int = 32 << 20  # bytes of what it writes
    processes: int = 64  # and threads, at a time


DEFAULT = Limits()


@dataclass(frozen=True)
class Fence:
    """bubblewrap, the ``program``, or none at all.  ``hidden`` folders stay out of sight even below what Python needs."""

    program: str = ""
    version: str = ""
    limits: Limits = DEFAULT
    hidden: tuple[str, ...] = ()

    def describe(self) -> str:
        """What held, in one line, for marks and pages."""
        if not self.program:
            return "NOT FENCED IN: students' code ran with the grader's own rights."
        calls = "system calls filtered" if _seccomp() else "system calls not filtered: there is no libseccomp"
        return f"Students' code ran fenced in by {self.version} ({calls})."

    def hiding(self, *folders: Path | str) -> Fence:
        """The same, and these folders are out of sight too."""
        return replace(self, hidden=(*self.hidden, *(os.path.realpath(folder) for folder in folders)))

    def command(self, code: str, *arguments: str, info: int = -1, calls: int = -1) -> list[str]:
        """The command line that runs a line of Python in the fence; ``info`` and ``calls`` are open files."""
        python = [sys.executable, "-c", code, *arguments]
        return _bubblewrap(self, python, info, calls) if self.program else python

    def environment(self, home: str) -> dict[str, str]:
        """The variables of the process, next to nothing of this machine's; ``home`` is its folder without a fence."""
        home = HOME if self.program else home
        one = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")
        windows = {key: os.environ[key] for key in ("SYSTEMROOT", "PATH") if os.name == "nt" and key in os.environ}
        return {**one, **windows, "PYTHONPATH": os.pathsep.join(sorted({str(PACKAGE.parent), str(LRNNBOOK.parent)})),
                "PYTHONHASHSEED": "0", "HOME": home, "TMPDIR": home, "MPLBACKEND": "agg", "MPLCONFIGDIR": home,
                "LANG": "C.UTF-8", "TQDM_DISABLE": "1", "USER": "student", "PYTHONDONTWRITEBYTECODE": "1",
                "CUDA_VISIBLE_DEVICES": "", "JOBLIB_MULTIPROCESSING": "0"}  # fmt: skip


def find(unfenced: bool = False, limits: Limits = DEFAULT) -> Fence:
    """The fence of this machine, tried out.  NoFence says in one sentence what is missing, unless ``unfenced`` will do."""
    try:
        return _tried(limits)
    except NoFence as error:
        if unfenced:
            return Fence(limits=limits)
        raise NoFence(f"nothing here can fence in students' code ({error}): install bubblewrap (Linux), or say --unfenced "
                      "to run their code with your own rights") from None  # fmt: skip


def _tried(limits: Limits) -> Fence:
    """bubblewrap, if a student's process starts in it; NoFence says why not."""
    program = shutil.which("bwrap")
    if program is None:
        raise NoFence("there is no bubblewrap")
    if not hasattr(os, "pidfd_open"):
        raise NoFence("Python here has no os.pidfd_open")
    version = subprocess.run([program, "--version"], capture_output=True, text=True, check=False).stdout.strip()
    fence = Fence(os.path.realpath(program), version, limits)
    try:
        tried = subprocess.run(fence.command("import lrnnbook.machinery.grading.worker"), capture_output=True, text=True, check=False,
                               errors="replace", timeout=120, env=fence.environment(HOME), stdin=subprocess.DEVNULL)  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NoFence(f"bubblewrap does not start: {error}") from None
    if tried.returncode:
        lines = tried.stderr.strip().splitlines() or [f"exit status {tried.returncode}"]
        raise NoFence(f"bubblewrap is there and does not work: {lines[-1][:200]}")
    return fence


def _bubblewrap(fence: Fence, python: list[str], info: int, calls: int) -> list[str]:
    bind, empty = _places(fence.hidden)
    view: list[str] = []
    above = {str(folder) for path in (*bind, fence.program) for folder in Path(path).parents[:-1]}
    for path in sorted({*bind, *empty, *above}, key=lambda path: Path(path).parts):  # what lies deeper comes later
        if path in empty:
            view += ["--tmpfs", path]
        elif path in bind:
            view += ["--ro-bind", path, path]
        elif not any(Path(path).is_relative_to(one) for one in bind):
            view += ["--dir", path]  # left to bubblewrap, it would be its owner's alone
    for link in ("/lib", "/lib64", "/lib32"):
        view += ["--symlink", os.readlink(link), link] if os.path.islink(link) else ["--ro-bind-try", link, link]
    own = ["--unshare-all", "--unshare-user", *_no_more_users(fence.program), "--die-with-parent", "--new-session",
           "--cap-drop", "ALL", "--hostname", "fence"]  # fmt: skip
    inner = ["--proc", "/proc", "--dev", "/dev", "--size", str(fence.limits.folder), "--tmpfs", HOME]
    if KERNELS.is_dir():
        view += ["--ro-bind", str(KERNELS), STORED]
        inner += ["--size", str(fence.limits.folder + _stored()), "--tmpfs", str(KERNELS)]
    inner += [part for path in ("/dev", *sorted(empty), "/") for part in ("--remount-ro", path)]
    inner += ["--chdir", HOME]
    inner += ["--info-fd", str(info)] if info >= 0 else []
    inner += ["--seccomp", str(calls)] if calls >= 0 else []
    if os.geteuid():
        return [fence.program, *own, *view, *inner, *python]
    # Root: the view is made with root's rights, since an unprivileged user may not reach what it is made of; then an
    # unprivileged user starts the fence itself in it.
    view += ["--dir", "/tmp", "--dir", HOME, "--ro-bind", fence.program, fence.program]
    caps = ["--cap-drop", "ALL", "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
    return [fence.program, "--die-with-parent", "--bind", "/proc", "/proc", "--dev-bind", "/dev", "/dev", *view, *caps,
            python[0], "-I", "-S", "-c", _DROP, fence.program, *own, "--uid", str(NOBODY), "--gid", str(NOBODY),
            "--bind", "/", "/", *inner, *python]  # fmt: skip


def _stored() -> int:
    """Bytes that a copy of the compiled kernels takes in memory, by whole pages: more with every call that they know."""
    return sum(-(-path.stat().st_size // PAGE) * PAGE for path in KERNELS.rglob("*") if path.is_file())


def _places(hidden: Iterable[str]) -> tuple[set[str], set[str]]:
    """What is to be seen, and the folders below it that are to be empty."""
    prefixes = {sys.prefix, sys.base_prefix, sys.exec_prefix, *sysconfig.get_config_vars("installed_base", "base")}
    seen = {os.path.join(prefix, part) for prefix in prefixes for part in ("lib", "lib64", "pyvenv.cfg")}
    seen |= {sysconfig.get_paths()[key] for key in ("stdlib", "platstdlib", "purelib", "platlib")}
    seen |= {place for place in sys.path if Path(place).name in ("site-packages", "dist-packages")}
    seen |= {"/usr/lib", "/usr/lib64", "/usr/lib32", "/usr/local/lib", "/usr/share/zoneinfo", "/nix/store",
             "/gnu/store", "/etc/ld.so.cache", "/etc/alternatives", "/etc/localtime"}  # fmt: skip
    seen |= set(_links(sys.executable))
    seen = {path for path in seen | {os.path.realpath(path) for path in seen} if os.path.exists(path)}
    installed = PACKAGE.parent.name in ("site-packages", "dist-packages")
    seen |= set(map(str, SHOWN))
    secret = {*hidden, *([] if installed else [str(PACKAGE.parent)])}
    empty = {path for path in secret if any(path != one and Path(path).is_relative_to(one) for one in seen)}
    return seen, {path for path in empty if os.path.isdir(path)}


def _links(program: str) -> list[str]:
    """A program and, where it is a link, what it leads to, step by step."""
    steps = [program]
    while os.path.islink(steps[-1]) and len(steps) < 40:
        steps.append(os.path.normpath(os.path.join(os.path.dirname(steps[-1]), os.readlink(steps[-1]))))
    return [*steps, os.path.realpath(program)]


@lru_cache
def _no_more_users(program: str) -> tuple[str, ...]:
    """bubblewrap 0.8 and newer: no further user namespaces inside."""
    said = subprocess.run([program, "--help"], capture_output=True, text=True, check=False)
    return ("--disable-userns",) if "--disable-userns" in said.stdout + said.stderr else ()


@lru_cache
def _seccomp() -> ctypes.CDLL | None:
    try:
        library = ctypes.CDLL("libseccomp.so.2")
    except OSError:
        return None
    library.seccomp_init.restype = ctypes.c_void_p
    return library


def calls_filter() -> int:
    """An open file with the filter that refuses the calls in FORBIDDEN, compiled by libseccomp; -1 without it."""
    library = _seccomp()
    if library is None:
        return -1
    allow, refuse = 0x7FFF0000, 0x00050000 | 1  # SCMP_ACT_ALLOW, SCMP_ACT_ERRNO(EPERM)
    rules = ctypes.c_void_p(library.seccomp_init(ctypes.c_uint32(allow)))
    for name in FORBIDDEN:
        number = library.seccomp_syscall_resolve_name(name.encode())
        if number != -1:  # a call that this version knows
            library.seccomp_rule_add_array(rules, ctypes.c_uint32(refuse), number, 0, None)
    with tempfile.TemporaryFile() as file:
        if library.seccomp_export_bpf(rules, file.fileno()):
            raise OSError("libseccomp could not compile the filter of system calls")
        library.seccomp_release(rules)
        handle = os.dup(file.fileno())
    os.lseek(handle, 0, os.SEEK_SET)
    return handle
