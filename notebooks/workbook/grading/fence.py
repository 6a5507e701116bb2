"""The fence round a student's code: which one this machine has, and the command that starts Python inside it.

`bubblewrap <https://github.com/containers/bubblewrap>`_ gives each process that the grader starts namespaces of its own
(users, processes, network, IPC, host name, mounts) as an unprivileged user.  It sees Python, the installed packages,
the folder of lrnnlab's package and one small folder of its own that it may write; not the course's sources, what others
handed in, the home or any socket.  Where libseccomp is there, system calls that no exercise needs are refused too:
sockets, shared memory that nobody counts, keys, looking into other processes, mounts, namespaces.

Without bubblewrap, Docker or Podman do the same with an image that the teacher names.  With neither there is no fence,
and :func:`find` refuses unless it is told ``unfenced``.

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
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

import lrnnlab
from workbook.grading.sandbox import DEFAULT, Limits

BUBBLEWRAP, DOCKER, PODMAN, NONE = "bubblewrap", "docker", "podman", "none"
PACKAGE = Path(lrnnlab.__file__).resolve().parent
WORKBOOK = Path(__file__).resolve().parents[1]
KERNELS = PACKAGE / "scans" / "__pycache__"  # compiled kernels; inside it is a small folder that numba may write,
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
class Fence:
    """One kind of fence.  ``hidden`` are folders that stay out of sight even below what Python needs."""

    kind: str
    program: str = ""
    version: str = ""
    image: str = ""
    limits: Limits = DEFAULT
    hidden: tuple[str, ...] = ()

    def describe(self) -> str:
        """What held, in one line, for marks, pages and the doctor."""
        if self.kind == NONE:
            return "NOT FENCED IN: students' code ran with the grader's own rights."
        if self.kind == BUBBLEWRAP:
            calls = "system calls filtered" if _seccomp() else "system calls not filtered: there is no libseccomp"
            return f"Students' code ran fenced in by {self.version} ({calls})."
        return f"Students' code ran fenced in by {self.kind}, image {self.image}."

    def hiding(self, *folders: Path | str) -> Fence:
        """The same, and these folders are out of sight too."""
        return replace(self, hidden=(*self.hidden, *(os.path.realpath(folder) for folder in folders)))

    def command(self, code: str, *arguments: str, name: str = "", info: int = -1, calls: int = -1) -> list[str]:
        """The command line that runs a line of Python in the fence."""
        python = ["-c", code, *arguments]
        if self.kind == NONE:
            return [sys.executable, *python]
        if self.kind == BUBBLEWRAP:
            return _bubblewrap(self, [sys.executable, *python], info, calls)
        return _container(self, ["python3", *python], name)

    def environment(self, home: str = HOME) -> dict[str, str]:
        """The variables of the command: of this machine's next to nothing."""
        if self.kind in (DOCKER, PODMAN):  # the client's own; inside are those of :func:`inside`
            return dict(os.environ)
        # Windows starts no program without these.
        return inside(home) | {key: os.environ[key] for key in ("SYSTEMROOT", "PATH") if key in os.environ}


def inside(home: str) -> dict[str, str]:
    """The variables that a student's process sees."""
    one = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")
    return {**one, "PYTHONPATH": os.pathsep.join(sorted({str(PACKAGE.parent), str(WORKBOOK.parent)})), "PYTHONHASHSEED": "0", "HOME": home, "TMPDIR": home,
            "MPLBACKEND": "agg", "MPLCONFIGDIR": home, "LANG": "C.UTF-8", "TQDM_DISABLE": "1", "USER": "student",
            "PYTHONDONTWRITEBYTECODE": "1", "CUDA_VISIBLE_DEVICES": "", "JOBLIB_MULTIPROCESSING": "0"}  # fmt: skip


def find(image: str = "", unfenced: bool = False, limits: Limits = DEFAULT) -> Fence:
    """The fence of this machine, tried out.  NoFence says in one sentence what is missing.

    Parameters
    ----------
    image : str
        Of Docker or Podman, with Python and lrnnlab's requirements; taken before bubblewrap where it is given.
    unfenced : bool
        Whether to do without a fence.
    limits : Limits
        What a submission may use.

    Examples
    --------
    >>> find(unfenced=True).kind in (BUBBLEWRAP, NONE)
    True
    """
    found = _with_image(image, limits) if image else _with_bubblewrap(limits)
    if isinstance(found, Fence):
        return found
    if unfenced and not image:
        return Fence(NONE, limits=limits)
    raise NoFence(f"nothing here can fence in students' code ({found}): install bubblewrap (Linux), or start Docker or "
                  "Podman and name an image that has lrnnlab's requirements with --image, or say --unfenced to run "
                  "their code with your own rights")  # fmt: skip


def _with_bubblewrap(limits: Limits) -> Fence | str:
    program = shutil.which("bwrap")
    if program is None:
        return "there is no bubblewrap"
    if not hasattr(os, "pidfd_open"):
        return "Python here has no os.pidfd_open"
    version = subprocess.run([program, "--version"], capture_output=True, text=True, check=False).stdout.strip()
    return _tried(Fence(BUBBLEWRAP, os.path.realpath(program), version, limits=limits))


def _with_image(image: str, limits: Limits) -> Fence | str:
    for kind in (DOCKER, PODMAN):
        if program := shutil.which(kind):
            return _tried(Fence(kind, program, image=image, limits=limits))
    return "there is neither Docker nor Podman"


def _tried(fence: Fence) -> Fence | str:
    try:
        tried = subprocess.run(
            fence.command("import workbook.grading.worker"), capture_output=True, text=True, errors="replace", timeout=120,
            env=fence.environment(), stdin=subprocess.DEVNULL, check=False,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"{fence.kind} does not start: {error}"
    lines = tried.stderr.strip().splitlines() or [f"exit status {tried.returncode}"]
    return f"{fence.kind} is there and does not work: {lines[-1][:200]}" if tried.returncode else fence


# --- bubblewrap ------------------------------------------------------------------------------------------------------


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
    if KERNELS.is_dir():
        view += ["--ro-bind", str(KERNELS), STORED]
    own = ["--unshare-all", "--unshare-user", *_no_more_users(fence.program), "--die-with-parent", "--new-session",
           "--cap-drop", "ALL", "--hostname", "fence"]  # fmt: skip
    inner = ["--proc", "/proc", "--dev", "/dev", "--size", str(fence.limits.folder), "--tmpfs", HOME]
    inner += ["--size", str(fence.limits.folder + _stored()), "--tmpfs", str(KERNELS)] if KERNELS.is_dir() else []
    inner += [part for path in ("/dev", *sorted(empty), "/") for part in ("--remount-ro", path)]
    inner += ["--chdir", HOME, "--clearenv"]
    inner += [part for key, value in inside(HOME).items() for part in ("--setenv", key, value)]
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
    seen |= {str(PACKAGE), str(WORKBOOK)}
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


# --- Docker, Podman --------------------------------------------------------------------------------------------------


def _container(fence: Fence, python: Sequence[str], name: str) -> list[str]:
    limits = fence.limits
    user = f"{os.getuid() or NOBODY}:{os.getgid() or NOBODY}" if os.name == "posix" else f"{NOBODY}:{NOBODY}"
    place = "/lrnnlab-package"
    variables = inside(HOME) | {"PYTHONPATH": place}
    command = [
        fence.program, "run", "--rm", "--interactive", "--init", "--network", "none", "--read-only",
        "--cap-drop", "ALL", "--security-opt", "no-new-privileges", "--user", user,
        "--pids-limit", str(limits.processes),
        "--memory", str(limits.memory + limits.folder), "--memory-swap", str(limits.memory + limits.folder),
        "--ulimit", f"cpu={limits.total + 1}", "--tmpfs", f"{HOME}:rw,mode=1777,size={limits.folder}",
        "--workdir", HOME, "--volume", f"{PACKAGE}:{place}/lrnnlab:ro",
    ]  # fmt: skip
    if KERNELS.is_dir():
        there = f"{place}/lrnnlab/{KERNELS.relative_to(PACKAGE).as_posix()}"
        command += ["--volume", f"{KERNELS}:{STORED}:ro", "--tmpfs",
                    f"{there}:rw,mode=1777,size={limits.folder + _stored()}"]  # fmt: skip
    command += ["--name", name] if name else []
    command += [part for key, value in variables.items() for part in ("--env", f"{key}={value}")]
    return [*command, fence.image, *python]


def machine() -> tuple[bool, str]:
    """What the doctor says: does bubblewrap work here, and which it is, or why it does not.

    >>> stands, detail = machine()
    >>> stands == ("bubblewrap " in detail and "system calls" in detail)
    True
    """
    found = _with_bubblewrap(DEFAULT)
    if isinstance(found, Fence):
        return True, f"{found.version}, system calls {'filtered' if _seccomp() else 'not filtered: no libseccomp'}"
    others = [kind for kind in (DOCKER, PODMAN) if shutil.which(kind)]
    return False, found + (f"; with an image of yours {' or '.join(others)} may do (--image)" if others else "")
