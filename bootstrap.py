"""Make this workbook's environment, then open it or test it.  Needs only Python itself.

    python bootstrap.py lab  [jupyter lab options]   open your copy of the workbook: lab --no-browser --port 8899
    python bootstrap.py lab  --author [options]      open the workbook itself: a save writes its source too
    python bootstrap.py test [pytest options]        library, workbook and chapters, in minutes: test -k scans -x -n 0
    python bootstrap.py test --all                   and planted faults, rehearsals, other arithmetic, every browser test
    python bootstrap.py env                          only make the environment, or repair it: pip looks at every package

Your copy is the folder my_notebooks, made at the first start; nothing in it is ever overwritten.  The environment is the
folder .venv: the first start takes minutes, the next ones a second.  A .venv that bootstrap.py did not make, or that is a
link, is never changed.  To begin anew, delete .venv.
The environment variable LRNNLAB_TORCH (say, "torch==2.13.0") asks for one particular build of PyTorch.
"""

import contextlib
import hashlib
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

# An old Python must still parse this file and reach this line: no annotations, no syntax newer than Python 3.6.
if sys.version_info < (3, 10):  # noqa: UP036
    sys.exit("lrnnlab needs Python 3.10 or newer, and this is Python {}.{}.  Install a newer one and start again with it, "
             "for example: python3.12 bootstrap.py lab".format(*sys.version_info[:2]))

ROOT = Path(__file__).resolve().parent
EXTRAS = {"lab": {"lab"}, "test": {"lab", "test"}, "env": {"lab", "test"}}
CPU_TORCH = "torch==2.13.0+cpu"  # '+cpu' matches nothing but a CPU build, and only where pip is set up to find one
# A reader's Lab knows notebooks only.  An author's pairs each chapter with its source; no file of the project says so, or
# jupytext would pair in any JupyterLab, a hub's too.  The filters are those of workbook.book.sync.
READER = ["--ServerApp.jpserver_extensions=jupyterlab_jupytext=False"]
AUTHOR = ["--JupytextConfiguration.formats=notebooks///ipynb,notebooks/py///py:percent",
          "--JupytextConfiguration.notebook_metadata_filter=kernelspec,-jupytext",
          "--JupytextConfiguration.cell_metadata_filter=tags,nbgrader,-all"]
TESTS = ["-n", "2", "--dist", "loadfile", "--no-loadscope-reorder"]  # two processes, each with whole files
DISK = "The disk is full.  Make room where the project, the temporary files (TMPDIR) and pip's cache are; start again."
NETWORK = "The package index could not be reached.  Check the network (or the proxy and its certificate); start again."
SIGNS = {  # in what a failed step printed, in lower case; the first that is found is the cause
    "no space left on device|not enough space on the disk|disk quota exceeded|errno 28\\b": DISK,
    "newconnection|new connection|name resolution|getaddrinfo failed|network is unreachable|timed out|timeouterror|"
    "proxyerror|dns error|connection (aborted|refused|broken)|error sending request|sslerror|certificate.verify.failed": NETWORK,
    "no matching distribution|could not find a version|requires a different python":
        "No build of a needed package was found for this Python.  If the network is up, try another Python.",
    "ensurepip|no module named '?venv": "This Python cannot make virtual environments.  On Debian and Ubuntu, install the "
        f"package python3.{sys.version_info[1]}-venv; elsewhere, use a complete Python.",
    "": "A step of the installation failed; its last lines stand above."}


class Trouble(Exception):
    """A sentence for the person at the keyboard."""


def python_in(venv):
    """The interpreter inside a virtual environment."""
    return venv / "Scripts" / "python.exe" if os.name == "nt" else venv / "bin" / "python"


def child_env(environ, venv):
    """The environment of children: this .venv first, and no packages from anywhere else."""
    env = {key: value for key, value in environ.items() if key not in ("PYTHONPATH", "PYTHONHOME")}
    path = str(python_in(venv).parent) + os.pathsep + environ.get("PATH", "")
    return dict(env, VIRTUAL_ENV=str(venv), PIP_USER="0", PATH=path)


def step(environ, venv, title, command):
    """Run one step of the installation; Trouble, below the last lines that it printed, if it fails."""
    print("   " + title + " ...", flush=True)
    done = subprocess.run([str(part) for part in command], cwd=str(venv.parent), env=child_env(environ, venv),
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode:
        text = done.stdout.decode("utf-8", "replace")
        print("".join(f"      | {line}\n" for line in text.splitlines()[-15:]))
        raise Trouble(next(said for sign, said in SIGNS.items() if re.search(sign, text.lower())))


def has_nvidia_driver():
    """Whether there is an NVIDIA driver; torch itself is not installed yet and cannot be asked."""
    with contextlib.suppress(OSError, subprocess.SubprocessError):
        return Path("/proc/driver/nvidia/version").exists() or bool(
            subprocess.check_output(["nvidia-smi", "-L"], stderr=subprocess.DEVNULL, timeout=20).strip())
    return False


def install(root, environ, wanted, venv):
    """Everything into ``venv``, where pip keeps what is there and fits."""
    pip, torch = [python_in(venv), "-I", "-m", "pip", "install"], wanted["torch"]
    cpu = platform.system() == "Linux" and not has_nvidia_driver()  # elsewhere the index has CPU builds only
    free, needed = shutil.disk_usage(str(root)).free / 1e9, 4 if cpu or platform.system() != "Linux" else 8
    if not python_in(venv).exists() and free < needed:  # better said now than after half of a long download
        raise Trouble(f"{free:.1f} GB of disk space are free, and about {needed} GB are needed.  Make room in {root} and start "
                      "again.")
    # Started from inside .venv, sys.executable may be what was deleted; the Python it was made from is not.
    python = getattr(sys, "_base_executable", None) or sys.executable
    if not python_in(venv).exists():
        step(environ, venv, "virtual environment with Python " + platform.python_version(), [python, "-I", "-m", "venv", venv])
    step(environ, venv, "pip", pip + ["pip>=23.1"])  # the first pip of Python 3.10 cannot install a project editable
    asked = torch or re.search(r'"(torch\b[^"]*)"', (root / "pyproject.toml").read_text(encoding="utf-8")).group(1)
    uv = [python_in(venv), "-I", "-m", "uv", "pip", "install", "--python", python_in(venv), "--torch-backend", "cpu", asked]
    ways = [("PyTorch's CPU build, where pip is set up to find it", [pip + [CPU_TORCH]]),
            ("PyTorch's CPU build, from where uv knows it to be", [pip + ["uv"], uv])] if cpu and not torch else []
    for title, commands in [*ways, ("PyTorch", [pip + [asked]])]:
        try:
            for command in commands:
                step(environ, venv, title, command)
            break
        except Trouble as trouble:  # uv asks a server of its own: that one out of reach does not mean no network
            if title == "PyTorch" or str(trouble) == DISK or (str(trouble) == NETWORK and "uv" not in title):
                raise
    step(environ, venv, "lrnnlab and what it needs", pip + ["-e", ".[{}]".format(",".join(wanted["extras"]))])
    with contextlib.suppress(Trouble):  # nothing that comes later needs it
        step(environ, venv, "compiled scans, so that no notebook waits", [python_in(venv), "-m", "lrnnlab", "doctor", "--warm"])


def prepare(root, extras, environ, repair=False):
    """Make the environment in root/.venv, or repair it, or find that it is ready."""
    venv, started = root / ".venv", time.monotonic()
    stamp = venv / "lrnnlab-stamp.json"  # in a .venv of ours, from its first moment; complete once the environment is
    old = {}
    with contextlib.suppress(OSError, ValueError):
        old = dict(json.loads(stamp.read_text(encoding="utf-8")))
    wanted = {"root": str(root), "extras": sorted(extras.union(old.get("extras", []))),
              "pyproject": hashlib.sha256((root / "pyproject.toml").read_bytes()).hexdigest(),
              "torch": environ.get("LRNNLAB_TORCH") or old.get("torch", "")}
    if old == wanted and python_in(venv).exists() and not repair:
        return
    real = os.path.realpath(str(venv))  # on Windows a junction is no link, and yet leads elsewhere
    if real != os.path.join(os.path.realpath(str(root)), ".venv"):
        raise Trouble(f"{venv} is a link to {real}, and nothing is written through one: remove it and start again.")
    if os.path.lexists(str(venv)) and not stamp.exists() and any(venv.iterdir()):
        raise Trouble(f"{venv} is not an environment that bootstrap.py made: rename it and start again.")
    if stamp.exists() and old.get("root") != str(root):  # it may hold more than was put there from here
        aside = root / time.strftime(".venv-%Y%m%d-%H%M%S")
        venv.rename(aside)
        print(f"The project was moved; its old environment is now called {aside.name}: delete it if nobody needs it.")
    elif stamp.exists() and "pyproject" not in old:  # half-made here: pip would take a half-copied package for a whole one
        shutil.rmtree(str(venv))
    fresh = not python_in(venv).exists()
    print("{} the environment {}.".format("Making" if fresh else "Updating", venv), flush=True)
    venv.mkdir(exist_ok=True)
    if fresh:
        stamp.write_text(json.dumps({"root": str(root)}), encoding="utf-8")
    install(root, environ, wanted, venv)
    stamp.write_text(json.dumps(wanted, indent=1), encoding="utf-8")
    print(f"The environment is ready ({time.monotonic() - started:.0f} s).", flush=True)


def final_command(command, rest, root):
    """What runs in the environment at last."""
    python = str(python_in(root / ".venv"))
    if command == "test":
        return [python, "-m", "pytest"] + TESTS + rest  # what the user says comes last and wins: -n 0
    author = "--author" in rest
    folder, start = (root, "notebooks/00_start_here.ipynb") if author else (root / "my_notebooks", "00_start_here.ipynb")
    superuser = ["--allow-root"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []  # in a container one often is
    return [python, "-m", "jupyterlab", f"--ServerApp.root_dir={folder}", "--LabApp.default_url=/lab/tree/" + start,
            *(AUTHOR if author else READER), *superuser, *(option for option in rest if option != "--author")]


def run(command, root, env):
    """Let a command take this one's place, with its exit code and its Ctrl-C; on Windows, wait for it."""
    os.chdir(str(root))
    if os.name != "nt":
        os.execve(command[0], command, env)
    return subprocess.call(command, env=env)


def main(argv, root=ROOT, environ=os.environ):
    """Carry out the command line; return the exit code."""
    command, rest = (argv[0], list(argv[1:])) if argv else ("--help", [])
    if command not in EXTRAS or (command == "env" and rest):
        print(__doc__.strip() if command in ("-h", "--help") else "bootstrap.py does not know '{}'.\n\n{}".format(
            " ".join(argv), __doc__.strip()))
        return 0 if command in ("-h", "--help") else 2
    try:
        with (root / "pyproject.toml").open("rb+") as file:
            with contextlib.suppress(ImportError, OSError):  # not on Windows, nor on a disk that knows no locks
                import fcntl
                fcntl.flock(file, fcntl.LOCK_EX)  # one at a time: whoever is second waits
            prepare(root, EXTRAS[command], environ, repair=command == "env")
        env = child_env(environ, root / ".venv")
        if command == "env":
            return 0
        if command == "lab" and "--author" not in rest:
            sys.path[:0] = [str(root), str(root / "notebooks")]
            from workbook import copies  # which imports Python's own library only
            print("Your copy of the chapters is {}.".format(root / "my_notebooks"))
            copies.make(root / "my_notebooks", root)
            env["JUPYTER_CONFIG_PATH"] = os.pathsep.join(filter(None, [str(root / ".jupyter"), env.get("JUPYTER_CONFIG_PATH")]))
        return run(final_command(command, rest, root), root, env)
    except KeyboardInterrupt:
        print("\nStopped.  Start the same command again to finish.")
        return 130
    except (Trouble, ValueError) as error:  # ValueError: of the reader's copy
        print(f"\n{error}")
    except OSError as error:
        print(f"\nThe system refused: {error}.  Is there room on the disk, is the folder writable, and does nothing run from "
              ".venv?")
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
