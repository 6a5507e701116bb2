"""Make this workbook's environment, then open it or test it.  Needs only Python itself.

    python bootstrap.py lab  [jupyter lab options]   open your copy of the workbook: lab --no-browser --port 8899
    python bootstrap.py lab  --author [options]      open the workbook itself: a save writes its source too
    python bootstrap.py test [pytest options]        run the whole test suite, for example: test -k scans -x -n 0
    python bootstrap.py env                          only make or repair the environment

Your copy is the folder my_notebooks, made at the first start; nothing in it is ever overwritten.
The first start makes a virtual environment in the folder .venv and takes minutes; the next ones take a second.
One that is half-made or out of date is repaired; to begin anew, delete .venv.  A .venv that bootstrap.py did not make,
or that is a link, is never changed.
The environment variable LRNNLAB_TORCH (say, "torch==2.13.0") asks for one particular build of PyTorch.
Linux, macOS and Windows, from any working folder; paths given to jupyter or pytest count from the project folder.
"""

import contextlib
import errno
import hashlib
import json
import os
import platform
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

MINIMUM = (3, 10)  # requires-python of pyproject.toml, which an old Python has no module to read


def too_old(version):
    """Return the sentence for a Python older than MINIMUM, or an empty string."""
    if tuple(version[:2]) >= MINIMUM:
        return ""
    return (f"lrnnlab needs Python {MINIMUM[0]}.{MINIMUM[1]} or newer, and this is Python {version[0]}.{version[1]}.  "
            "Install a newer one and start again with it, for example: python3.12 bootstrap.py lab")


# An old Python must still parse this file and reach this line: no annotations, no syntax newer than Python 3.6.
if too_old(sys.version_info):
    sys.exit(too_old(sys.version_info))

ROOT = Path(__file__).resolve().parent
STAMP = "lrnnlab-stamp.json"  # in a .venv of ours, from its first moment; complete once the environment is
CPU_TORCH = "torch==2.13.0+cpu"  # '+cpu' matches nothing but a CPU build, and only where pip is set up to find one
EXTRAS = {"lab": ["lab"], "test": ["lab", "test"], "env": ["lab", "test"]}
MINE = "my_notebooks"  # a reader's copy of the chapters, which git ignores
CALM = ".jupyter"  # settings of a reader's Lab: no menu of a teacher's, and nobody is asked whether they want news
# A reader's Lab knows notebooks only.  An author's pairs each chapter with its source; no file of the project says so, or
# jupytext would pair in any JupyterLab, a hub's too.  The filters are those of workbook.book.sync.
READER = ["--ServerApp.jpserver_extensions=jupyterlab_jupytext=False"]
AUTHOR = ["--JupytextConfiguration.formats=notebooks///ipynb,notebooks/py///py:percent",
          "--JupytextConfiguration.notebook_metadata_filter=kernelspec,-jupytext",
          "--JupytextConfiguration.cell_metadata_filter=tags,nbgrader,-all"]
# Two processes, each with whole files, in the order in which they are collected: half the time on two cores.
TWO_AT_ONCE = ["-n", "2", "--dist", "loadfile", "--no-loadscope-reorder"]
PACKAGES = ("import importlib.metadata as found, json; "
            "print(json.dumps(sorted(str(one.metadata['Name']) for one in found.distributions())))")
DISK = "The disk is full.  Make room where the project, the temporary files (TMPDIR) and pip's cache are; start again."
NETWORK = "The package index could not be reached.  Check the network (or the proxy and its certificate); start again."
SIGNS = {  # in what a failed step printed, in lower case; the first that is found is the cause
    "no space left on device|not enough space on the disk|disk quota exceeded|errno 28\\b": DISK,
    "newconnection|new connection|name resolution|getaddrinfo failed|network is unreachable|timed out|timeouterror|"
    "proxyerror|dns error|connection (aborted|refused|broken)|error sending request|sslerror|certificate.verify.failed": NETWORK,
    "no matching distribution|could not find a version|requires a different python":
        "No build of a needed package was found for this Python.  If the network is up, try another Python.",
    "ensurepip|no module named '?venv":
        "This Python cannot make virtual environments.  On Debian and Ubuntu, install the package "
        f"python3.{sys.version_info[1]}-venv; elsewhere, use a complete Python.",
    "": "A step of the installation failed; its last lines stand above."}


class Trouble(Exception):
    """A sentence for the person at the keyboard, and what a failed step printed."""


def say(text):
    print(text, flush=True)  # at once, also into a pipe


def venv_python(venv, windows=os.name == "nt"):
    """Return the path of the interpreter inside the virtual environment."""
    return venv / "Scripts" / "python.exe" if windows else venv / "bin" / "python"


def child_env(environ, venv, windows=os.name == "nt"):
    """Return the environment for children: this .venv first, and no packages from anywhere else."""
    env = {key: value for key, value in environ.items() if key not in ("PYTHONPATH", "PYTHONHOME")}
    path = str(venv_python(venv, windows).parent) + os.pathsep + environ.get("PATH", "")
    return dict(env, VIRTUAL_ENV=str(venv), PIP_USER="0", PATH=path)


def read_stamp(venv):
    """Return what the stamp says, or None where there is none; of one that cannot be read, nothing."""
    try:
        return dict(json.loads((venv / STAMP).read_text(encoding="utf-8")))
    except OSError:
        return None
    except (ValueError, TypeError):
        return {}


def half_made(root):
    """Return the stamp of an environment that never was complete: nobody has worked in it, and it may be removed."""
    return {"root": str(root)}


def write_stamp(venv, stamp):
    """Write the stamp in one step, so that it is there whole or not at all."""
    half = venv / (STAMP + ".part")
    half.write_text(json.dumps(stamp, indent=1), encoding="utf-8")
    os.replace(str(half), str(venv / STAMP))


def packages_in(venv):
    """Return the names of the packages that the interpreter inside .venv finds; none if it does not run."""
    with contextlib.suppress(OSError, ValueError, subprocess.SubprocessError):
        return json.loads(subprocess.check_output([str(venv_python(venv)), "-I", "-c", PACKAGES],
                                                  stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
    return []


def not_ours(venv, stamp):
    """Return what .venv is, if bootstrap.py did not make it or it is behind a link; else an empty string."""
    real = os.path.realpath(str(venv))  # on Windows a junction is no link, and yet leads elsewhere
    if venv.is_symlink() or real != os.path.join(os.path.realpath(str(venv.parent)), venv.name):
        return f"a link to {real}"
    theirs = os.path.lexists(str(venv)) and stamp is None and not (venv.is_dir() and not any(venv.iterdir()))
    return "not an environment that bootstrap.py made" if theirs else ""


def step(root, environ, title, command):
    """Run one step of the installation; on a terminal its last line is shown.  Trouble, with what it printed, if it fails."""
    say(f"   {title} ...")
    printed, tty = [], sys.stdout.isatty()
    # The child inherits the lock: should this process be killed, the next start waits until the child has ended too.
    with subprocess.Popen(command, cwd=str(root), env=child_env(environ, root / ".venv"), stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8", errors="replace",
                          close_fds=False) as process:
        for line in process.stdout:
            printed.append(line)
            if tty:
                print("      " + ascii(line.strip())[1:-1][:70].ljust(70), end="\r", flush=True)
    if tty:
        print(" " * 76, end="\r", flush=True)
    if process.returncode:
        text = "".join(printed)
        raise Trouble(next(said for sign, said in SIGNS.items() if re.search(sign, text.lower())), text)


def has_nvidia_driver():
    """Tell whether an NVIDIA driver is present; torch itself is not installed yet and cannot be asked."""
    with contextlib.suppress(OSError, subprocess.SubprocessError):
        return Path("/proc/driver/nvidia/version").exists() or bool(
            subprocess.check_output(["nvidia-smi", "-L"], stderr=subprocess.DEVNULL, timeout=20).strip())
    return False


def install_torch(root, environ, override, cuda):
    """Install torch before the project asks for it, so that the project's own 'torch>=...' is already met.

    On the standard index the Linux builds bring CUDA with them, the macOS and Windows builds do not.
    """
    requirement = re.search(r'"(torch\b[^"]*)"', (root / "pyproject.toml").read_text(encoding="utf-8")).group(1)
    python = str(venv_python(root / ".venv"))
    pip = [python, "-I", "-m", "pip", "install"]
    attempts = []
    if not override and not cuda and platform.system() == "Linux":
        uv = [python, "-I", "-m", "uv", "pip", "install", "--python", python, "--torch-backend", "cpu", requirement]
        attempts = [("PyTorch's CPU build, where pip is set up to find it", [pip + [CPU_TORCH]]),
                    ("PyTorch's CPU build, from where uv knows it to be", [pip + ["uv"], uv])]
    for title, commands in attempts:
        try:
            for command in commands:
                step(root, environ, title, command)
            return
        except Trouble as trouble:
            # uv asks a server of its own: that one being out of reach does not mean that there is no network.
            if trouble.args[0] == DISK or (trouble.args[0] == NETWORK and "uv" not in title):
                raise
    step(root, environ, "PyTorch, " + (override or "with CUDA on Linux: several GB"), pip + [override or requirement])


def make_venv(root, environ):
    """Make a virtual environment with pip in it, in the place of one of ours that never was complete."""
    venv = root / ".venv"
    for path in [path for path in venv.iterdir() if path.name != STAMP]:
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(str(path))
        else:
            path.unlink()
    # Started from inside .venv, sys.executable is what was just deleted; the Python it was made from is not.
    python = getattr(sys, "_base_executable", None) or sys.executable
    step(root, environ, "virtual environment with Python " + platform.python_version(), [python, "-I", "-m", "venv", str(venv)])
    # the first pip of Python 3.10 cannot install a project editable
    step(root, environ, "pip", [str(venv_python(venv)), "-I", "-m", "pip", "install", "pip>=23.1"])


def install(root, environ, wanted, complete=None):
    """Install everything into .venv, on top of what is there if it is ``complete`` (its stamp), else from nothing."""
    venv, cuda = root / ".venv", platform.system() == "Linux" and has_nvidia_driver()
    python, extras = str(venv_python(venv)), f".[{','.join(wanted['extras'])}]"
    free, needed = shutil.disk_usage(str(root)).free / 1e9, 8 if cuda else 4
    if not complete and free < needed:  # better said now than after half of a long download
        raise Trouble(f"{free:.1f} GB of disk space are free, and about {needed} GB are needed.  "
                      f"Make room in {root} and start again.", "")
    venv.mkdir(exist_ok=True)
    write_stamp(venv, dict(complete, packages=[]) if complete else half_made(root))
    try:
        if not complete:
            make_venv(root, environ)
        install_torch(root, environ, wanted["torch"], cuda)
        step(root, environ, "lrnnlab and what it needs", [python, "-I", "-m", "pip", "install", "-e", extras])
    except Trouble as trouble:
        if complete and trouble.args[0] != DISK:
            write_stamp(venv, complete)  # pip gave up in good order: what worked before still does
        raise
    write_stamp(venv, dict(wanted, packages=packages_in(venv)))
    try:
        step(root, environ, "compiled scans, so that no notebook waits", [python, "-m", "lrnnlab", "doctor", "--warm"])
    except Trouble:
        say(f"   That was not essential: going on.  For a closer look: {python} -m lrnnlab doctor")


def try_lock(file):
    """Lock the file for this process if nobody else has; the system unlocks it when its holders end, however."""
    os.set_inheritable(file.fileno(), True)
    try:
        if os.name == "nt":
            import msvcrt
            os.lseek(file.fileno(), 1 << 30, os.SEEK_SET)  # far past the end, so that reading the file stays possible
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            import fcntl
            fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        return error.errno not in (errno.EACCES, errno.EAGAIN)  # a disk that knows no locks: go on without
    return True


def verdict(stamp, wanted, packages):
    """Return (what to do, why): "ready", "update" (pip on top of what is there) or "make" (from nothing)."""
    if stamp.get("root", wanted["root"]) != wanted["root"]:
        return "make", f"the project folder was moved here from {stamp['root']}"
    if not stamp.get("packages") or "pip" not in packages:  # pip takes a half-copied package for an installed one
        return "make", "an earlier start was interrupted, or its Python does not run"
    if stamp.get("pyproject") != wanted["pyproject"]:
        return "update", "pyproject.toml has changed"
    if stamp.get("extras") != wanted["extras"]:
        return "update", "it lacks the packages for: " + ", ".join(wanted["extras"])
    if stamp.get("torch") != wanted["torch"]:
        return "update", "LRNNLAB_TORCH asks for " + wanted["torch"]
    gone = sorted(set(stamp["packages"]) - set(packages))
    return ("update", "these packages are missing: " + ", ".join(gone)) if gone else ("ready", f"{len(packages)} packages")


def prepare(root, extras, environ):
    """Make, repair or just confirm the environment in root/.venv, alone in this folder."""
    venv, started = root / ".venv", time.monotonic()
    with (root / "pyproject.toml").open("rb+") as lock:
        if not try_lock(lock):
            say("Another bootstrap.py is at work in this folder: waiting for it to end.  Ctrl-C gives up.")
            while not try_lock(lock):
                time.sleep(0.5)
        stamp = read_stamp(venv)
        old = stamp or {}
        wanted = {"root": str(root), "pyproject": hashlib.sha256((root / "pyproject.toml").read_bytes()).hexdigest(),
                  "extras": sorted({*extras, *old.get("extras", [])}),
                  "torch": environ.get("LRNNLAB_TORCH") or old.get("torch", "")}
        action, why = "make", "there is none yet"
        if stamp is not None:
            action, why = verdict(stamp, wanted, packages_in(venv))
        if action == "ready":
            say(f"The environment is ready: {why} ({time.monotonic() - started:.1f} s).")
            return
        if not_ours(venv, stamp):
            raise Trouble(f"{venv} is {not_ours(venv, stamp)}: rename it or remove it, and start again.", "")
        say(f"{'Updating' if action == 'update' else 'Making'} the environment {venv}: {why}.")
        if action == "make" and stamp not in (None, half_made(root)):  # it may hold more than was put there from here
            aside = root / time.strftime(".venv-%Y%m%d-%H%M%S")
            venv.rename(aside)
            say(f"What was there is now called {aside.name}: delete it if nobody needs it.")
        install(root, environ, wanted, stamp if action == "update" else None)
    say(f"The environment is ready ({time.monotonic() - started:.0f} s).")


def own_copy(root):
    """Make the reader's copy of the chapters, or add to it those that are new."""
    sys.path[:0] = [str(ROOT), str(ROOT / "notebooks")]
    from workbook import copies  # which imports Python's own library only
    (root / MINE).mkdir(exist_ok=True)
    added = copies.make(root / MINE, root)
    say(f"Your copy of the chapters is {root / MINE}" + (f"; new in it: {', '.join(added)}." if added else "."))


def final_command(command, rest, root, python, superuser=False):
    """Return the arguments of what runs in the environment at last."""
    if command == "test":
        return [str(python), "-m", "pytest"] + TWO_AT_ONCE + rest  # what the user says comes last and wins: -n 0
    author = "--author" in rest
    folder, start = (root, "notebooks/00_start_here.ipynb") if author else (root / MINE, "00_start_here.ipynb")
    page = "/lab/tree/" + start if (folder / start).exists() else "/lab"
    lab = [str(python), "-m", "jupyterlab", f"--ServerApp.root_dir={folder}", f"--LabApp.default_url={page}"]
    lab += (AUTHOR if author else READER) + ["--allow-root"] * superuser  # in a container one often is root
    return lab + [option for option in rest if option != "--author"]


def hand_over(command, root, env, timed=False):
    """Let a command take this one's place: its exit code, its Ctrl-C, its terminal.  Returns if timed, and on Windows."""
    started, code = time.monotonic(), None
    os.chdir(str(root))
    if os.name != "nt" and not timed:
        os.execve(command[0], command, env)
    process = subprocess.Popen(command, env=env)
    signal.signal(signal.SIGTERM, lambda *_: process.terminate())
    while code is None:
        with contextlib.suppress(KeyboardInterrupt):  # the child has it too, and decides what it means
            code = process.wait()
    if timed:
        say(f"That took {time.monotonic() - started:.0f} seconds.")
    return code if code >= 0 else 128 - code  # as a shell says which signal ended it


def main(argv, root=ROOT, environ=os.environ):
    """Carry out the command line; return the exit code."""
    command, rest = (argv[0], list(argv[1:])) if argv else ("--help", [])
    if command in ("-h", "--help"):
        say(__doc__.strip())
        return 0
    if command not in EXTRAS or (command == "env" and rest):
        say(f"bootstrap.py does not know '{' '.join(argv)}'.\n\n{__doc__.strip()}")
        return 2
    try:
        prepare(root, EXTRAS[command], environ)
        if command == "env":
            return 0
        env = child_env(environ, root / ".venv")
        if command == "lab" and "--author" not in rest:
            own_copy(root)
            env["JUPYTER_CONFIG_PATH"] = os.pathsep.join(filter(None, [str(root / CALM), env.get("JUPYTER_CONFIG_PATH")]))
        superuser = hasattr(os, "geteuid") and os.geteuid() == 0
        return hand_over(final_command(command, rest, root, venv_python(root / ".venv"), superuser), root, env, command == "test")
    except Trouble as trouble:
        say("\n".join(["", *("      | " + line for line in trouble.args[1].splitlines()[-15:]), trouble.args[0]]))
    except ValueError as error:  # of the reader's copy
        say(f"\n{error}")
    except OSError as error:
        say("\n" + (DISK if error.errno in (errno.ENOSPC, errno.EDQUOT) else
                    f"The system refused: {error}.  Is the folder writable, and is nothing running from .venv?"))
    except KeyboardInterrupt:
        say("\nStopped.  Start the same command again to finish.")
        return 130
    return 1


if __name__ == "__main__":
    sys.stdout.reconfigure(errors="replace")  # a path may hold letters that the terminal cannot show
    sys.exit(main(sys.argv[1:]))
