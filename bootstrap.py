"""Make this workbook's environment, then open it or test it.  Needs only Python itself.

    python bootstrap.py lab  [jupyter lab options]   open your copy of the workbook: lab --no-browser --port 8899
    python bootstrap.py lab  --author [options]      open the workbook itself: a save writes its source too
    python bootstrap.py test [pytest options]        run the whole test suite, for example: test -k scans -x -n 0
    python bootstrap.py env                          only make or repair the environment

Your copy is the folder my_notebooks, made at the first start; nothing in it is ever overwritten.
The first start makes a virtual environment in the folder .venv and takes minutes; the next ones take a second.
Whatever is found half-made, damaged or out of date is repaired.  To begin anew, delete the folder .venv.
The environment variable LRNNLAB_TORCH (say, "torch==2.13.0") asks for one particular build of PyTorch.
Linux, macOS and Windows, from any working folder; paths given to jupyter or pytest count from the project folder.
"""

import contextlib
import errno
import functools
import hashlib
import importlib.util
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import time
from collections import namedtuple
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
RULES = 1  # raise it when this file installs differently: every environment is then made anew
STAMP, LOG = "lrnnlab-stamp.json", "bootstrap.log"  # both inside .venv; the log also marks a .venv as ours
CPU_TORCH = "torch==2.13.0+cpu"  # '+cpu' matches nothing but a CPU build, and only where pip is set up to find one
CPU_GB, CUDA_GB = 4, 8  # free disk space needed, in 10^9 bytes
EXTRAS = {"lab": {"lab"}, "test": {"lab", "test"}, "env": {"lab", "test"}}
# Two processes, each with whole files, in the order in which they are collected: half the time on two cores.
TWO_AT_ONCE = ["-n", "2", "--dist", "loadfile", "--no-loadscope-reorder"]
# A reader's Lab knows notebooks only: whatever the times of the files, it opens them, and a save is of one file.
READER = ["--ServerApp.jpserver_extensions=jupyterlab_jupytext=False"]
CALM = ".jupyter"  # and has no menu of a teacher's and asks nobody whether they want news
# An author's Lab pairs each chapter with its source.  No file of the project says so: jupytext would find it from any
# JupyterLab, a hub's too, and pair for readers.  The filters are those of lrnnlab.book.drifting.
AUTHOR = ["--JupytextConfiguration.formats=notebooks///ipynb,notebooks/py///py:percent",
          "--JupytextConfiguration.notebook_metadata_filter=kernelspec,-jupytext",
          "--JupytextConfiguration.cell_metadata_filter=tags,nbgrader,-all"]
MINE = "my_notebooks"  # a reader's copy of the chapters, which git ignores
DISK, NETWORK, OTHER = "disk", "network", "other"

Attempt = namedtuple("Attempt", "tool requirement gigabytes why")
Site = namedtuple("Site", "root environ lock")  # lock: the file descriptor that holds it


class Trouble(Exception):
    """What went wrong: its kind (DISK, NETWORK or OTHER) and a sentence for the person at the keyboard."""


say = functools.partial(print, flush=True)  # at once, also into a pipe


def venv_python(venv, windows=os.name == "nt"):
    """Return the path of the interpreter inside the virtual environment."""
    return venv / "Scripts" / "python.exe" if windows else venv / "bin" / "python"


def child_env(environ, venv, windows=os.name == "nt"):
    """Return the environment for children: this .venv first, and no packages from anywhere else."""
    env = {key: value for key, value in environ.items() if key not in ("PYTHONPATH", "PYTHONHOME")}
    env["VIRTUAL_ENV"], env["PIP_USER"] = str(venv), "0"
    env["PATH"] = str(venv_python(venv, windows).parent) + os.pathsep + environ.get("PATH", "")
    return env


def wanted_stamp(root, extras, environ):
    """Return what the stamp must say for the environment to count as finished."""
    digest = hashlib.sha256((root / "pyproject.toml").read_bytes()).hexdigest()
    return {"rules": RULES, "root": str(root), "pyproject": digest, "extras": sorted(extras),
            "torch": environ.get("LRNNLAB_TORCH", "")}


def read_stamp(venv):
    """Return the stamp, or None where there is none that can be read."""
    try:
        stamp = json.loads((venv / STAMP).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return stamp if isinstance(stamp, dict) else None


def write_stamp(venv, stamp):
    """Write the stamp in one step, so that it is there whole or not at all."""
    half = venv / (STAMP + ".part")
    half.write_text(json.dumps(stamp, indent=1, sort_keys=True), encoding="utf-8")
    os.replace(str(half), str(venv / STAMP))


# Runs inside .venv.  Reading 100 metadata folders takes a tenth of a second, importing torch would take seconds.
# The first file each package recorded stands for all: it is gone when somebody deleted the package's folder.
PROBE = """
import importlib.metadata, importlib.util, json, os, sys
packages, damaged = [], []
for dist in importlib.metadata.distributions():
    name = dist.metadata["Name"]
    lines = (dist.read_text("RECORD") or "").splitlines()
    code = [line.rsplit(",", 2)[0].strip('"') for line in lines[:50] if ".dist-info/" not in line and line[:2] != ".."]
    packages.append(name)
    if not lines or (code and not os.path.exists(dist.locate_file(code[0]))):
        damaged.append(name)
spec = importlib.util.find_spec("lrnnlab")
print(json.dumps({"python": "%d.%d" % sys.version_info[:2], "packages": sorted(packages), "damaged": sorted(damaged),
                  "package": spec.origin if spec else None}))
"""


def probe(venv):
    """Ask the interpreter inside .venv what it finds (a dict); None if it does not run."""
    try:
        return json.loads(subprocess.check_output([str(venv_python(venv)), "-I", "-c", PROBE], timeout=60,
                                                  stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
    except (OSError, ValueError, subprocess.SubprocessError):
        return None


def verdict(stamp, wanted, found):
    """Return (what to do, why): "ready", "update" (pip on top of what is there) or "rebuild" (from nothing).

    Only a finished environment is built upon: pip takes a half-copied package for an installed one.
    """
    if found is None:
        return "rebuild", "its Python does not run"
    if stamp is None:
        return "rebuild", "an earlier start was interrupted before it was finished"
    for key, why in (("rules", "bootstrap.py now installs differently"), ("root", "the project folder was moved")):
        if stamp.get(key) != wanted[key]:
            return "rebuild", why
    if stamp.get("python") != found["python"]:
        return "rebuild", f"it was made with Python {stamp.get('python')} and now runs {found['python']}"
    damaged = sorted(set(found["damaged"]) - set(stamp.get("damaged", ())))
    if damaged:
        return "rebuild", "files are missing from " + ", ".join(damaged)
    if stamp.get("pyproject") != wanted["pyproject"]:
        return "update", "pyproject.toml has changed"
    if not set(wanted["extras"]) <= set(stamp.get("extras", ())):
        return "update", "it lacks the packages for: " + ", ".join(wanted["extras"])
    if wanted["torch"] not in ("", stamp.get("torch")):
        return "update", "LRNNLAB_TORCH asks for " + wanted["torch"]
    gone = sorted(set(stamp.get("packages", ())) - set(found["packages"]))
    if gone or found["package"] != stamp.get("package"):
        return "update", "these packages are missing: " + ", ".join(gone or ["lrnnlab"])
    return "ready", f"Python {found['python']}, {len(found['packages'])} packages"


def has_nvidia_driver(system):
    """Tell whether an NVIDIA driver is present; torch itself is not installed yet and cannot be asked."""
    system32 = Path(os.environ.get("SYSTEMROOT", "C:\\Windows")) / "System32"
    if Path("/proc/driver/nvidia/version").exists() or (system == "Windows" and (system32 / "nvcuda.dll").exists()):
        return True
    try:
        return bool(subprocess.check_output(["nvidia-smi", "-L"], stderr=subprocess.DEVNULL, timeout=20).strip())
    except (OSError, subprocess.SubprocessError):
        return False


def choose_torch(system, has_driver, requirement, override="", installed=False):
    """Return the attempts at installing torch, in order; the first that succeeds ends the matter.

    On the standard index the Linux builds bring CUDA with them, the macOS and Windows builds do not.
    """
    if override:
        return [Attempt("pip", override, CPU_GB, "as LRNNLAB_TORCH asks")]
    keep = [Attempt("keep", requirement, 0, "the one already here, if it will do")] if installed else []
    if system != "Linux":
        return keep + [Attempt("pip", requirement, CPU_GB, "the build for " + system)]
    if has_driver:
        return keep + [Attempt("pip", requirement, CUDA_GB, "with CUDA: there is an NVIDIA driver; several GB")]
    return keep + [
        Attempt("pip", CPU_TORCH, CPU_GB, "the CPU build, where pip is set up to find it; there is no NVIDIA driver"),
        Attempt("uv", requirement, CPU_GB, "the CPU build, from where uv knows it to be"),
        Attempt("pip", requirement, CUDA_GB, "no CPU build could be found, so the CUDA build, which also runs without "
                                             "a GPU; several GB"),
    ]


def torch_command(attempt, python):
    """Return the commands of one attempt, a list of argument lists."""
    pip = [str(python), "-I", "-m", "pip", "install"]
    if attempt.tool == "uv":
        uv = [str(python), "-I", "-m", "uv", "pip", "install", "--python", str(python), "--torch-backend", "cpu"]
        return [pip + ["uv"], uv + [attempt.requirement]]
    return [pip + (["--no-index"] if attempt.tool == "keep" else []) + [attempt.requirement]]


def install_torch(site, installed):
    """Install torch before the project asks for it, so that the project's own 'torch>=...' is already met."""
    requirement = re.search(r'"(torch\b[^"]*)"', (site.root / "pyproject.toml").read_text(encoding="utf-8")).group(1)
    override, system = site.environ.get("LRNNLAB_TORCH", ""), platform.system()
    attempts = choose_torch(system, has_nvidia_driver(system), requirement, override, installed)
    for number, attempt in enumerate(attempts, start=1):
        free = shutil.disk_usage(str(site.root)).free / 1e9
        if free < attempt.gigabytes:  # better said now than after half of a long download
            raise Trouble(DISK, f"{free:.1f} GB of disk space are free, and about {attempt.gigabytes} GB are needed "
                                f"(PyTorch: {attempt.why}).  Make room in {site.root} and start again.")
        try:
            for command in torch_command(attempt, venv_python(site.root / ".venv")):
                step(site, "PyTorch: " + attempt.why, command, quiet=number < len(attempts))
            return
        except Trouble as trouble:
            # uv asks a server of its own: that one being out of reach does not mean that there is no network.
            kind = trouble.args[0]
            if number == len(attempts) or kind == DISK or (kind == NETWORK and attempt.tool != "uv"):
                raise


SIGNS = (  # the first kind that shows in what pip or uv printed is the cause; matched in lower case
    (DISK, ("no space left on device", "not enough space on the disk", "disk quota exceeded", "errno 28]"),
     "The disk is full.  Make room where the project, the temporary files (TMPDIR) and pip's cache are; start again."),
    (NETWORK, ("newconnectionerror", "failed to establish a new connection", "name resolution", "getaddrinfo failed",
               "network is unreachable", "connecttimeout", "read timed out", "readtimeout", "proxyerror", "dns error",
               "connection aborted", "connection refused", "connection broken", "error sending request", "sslerror",
               "certificate_verify_failed", "certificate verify failed"),
     "The package index could not be reached.  Check the network (or the proxy and its certificate); start again."),
    (OTHER, ("no matching distribution", "could not find a version", "requires a different python"),
     "No build of a needed package was found for Python {} on {}.  If the network is up, try another Python."),
)


def diagnose(output):
    """Return (kind, sentence) for what pip or uv printed when it failed."""
    text = output.lower()
    for kind, signs, sentence in SIGNS:
        if any(sign in text for sign in signs):
            return kind, sentence.format(platform.python_version(), platform.system() + " " + platform.machine())
    return OTHER, "A step of the installation failed; its last lines stand above."


def run(command, cwd, env, log, lock):
    """Run a command, what it prints going to the log and in short to a terminal; return (exit code, output)."""
    lines, width = [], shutil.get_terminal_size().columns - 8
    log.write(f"\n$ {' '.join(command)}\n")
    # The child shares the lock: should this process be killed, the next start waits until the child has ended too.
    process = subprocess.Popen(command, cwd=str(cwd), env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, encoding="utf-8", errors="replace",
                               pass_fds=() if os.name == "nt" else (lock,))
    try:
        for line in process.stdout:
            lines.append(line)
            log.write(line)
            if sys.stdout.isatty():
                shown = line.strip()[:width].encode("ascii", "replace").decode("ascii")
                print("\r      " + shown.ljust(width), end="\r", flush=True)
        return process.wait(), "".join(lines)
    except KeyboardInterrupt:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(10)  # the child has the same Ctrl-C: pip takes a moment to remove its temporary files
        raise
    finally:
        if process.poll() is None:  # too slow, or the log could not be written
            process.terminate()
            process.wait()
        process.stdout.close()
        if sys.stdout.isatty():
            print(" " * (width + 6), end="\r", flush=True)


def step(site, title, command, quiet=False):
    """Run one step and say how long it took; raise Trouble if it fails, showing its last lines unless quiet."""
    venv, started = site.root / ".venv", time.monotonic()
    say("   " + title + " ...")
    with (venv / LOG).open("a", encoding="utf-8") as log:
        code, output = run(command, site.root, child_env(site.environ, venv), log, site.lock)
    say(f"      {'did not work,' if code else 'done in'} {time.monotonic() - started:.1f} s")
    if code:
        kind, sentence = diagnose(output)
        if not quiet or kind == DISK:
            say("\n".join("      | " + line for line in output.splitlines()[-15:]))
        raise Trouble(kind, f"{sentence}\nThe complete log: {venv / LOG}")


def clear(venv):
    """Empty .venv: the stamp first, so that what is half-deleted is not trusted, and all but the log."""
    venv.mkdir(exist_ok=True)
    if (venv / STAMP).exists():
        (venv / STAMP).unlink()
    (venv / LOG).write_text("", encoding="utf-8")
    for path in venv.iterdir():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(str(path))
        elif path.name != LOG:
            path.unlink()


def make_venv(site):
    """Make an empty virtual environment with pip in it."""
    for module in ("venv", "ensurepip"):
        if importlib.util.find_spec(module) is None:
            raise Trouble(OTHER, f"This Python comes without the module '{module}'.  On Debian and Ubuntu, install the "
                                 f"package python3.{sys.version_info[1]}-venv; elsewhere, use a complete Python.")
    if (site.root / ".venv").exists():
        say("   removing what is left of the old one ...")
    clear(site.root / ".venv")
    # Started from inside .venv, sys.executable is what was just deleted; the Python it was made from is not.
    python = getattr(sys, "_base_executable", None) or sys.executable
    step(site, "virtual environment with Python " + platform.python_version(),
         [python, "-I", "-m", "venv", str(site.root / ".venv")])


def install(site, extras, fresh):
    """Install everything into .venv; the stamp is taken away before and written after."""
    venv = site.root / ".venv"
    python, before = venv_python(venv), read_stamp(venv)
    pip = [str(python), "-I", "-m", "pip", "install"]
    if fresh:
        make_venv(site)
        step(site, "pip", pip + ["pip>=23.1"])  # the first pip of Python 3.10 cannot install a project editable
    else:
        (venv / STAMP).unlink()
    try:
        install_torch(site, installed=not fresh)
        step(site, "lrnnlab with the packages for: " + ", ".join(extras), pip + ["-e", f".[{','.join(extras)}]"])
    except Trouble as trouble:
        if not fresh and trouble.args[0] != DISK:
            write_stamp(venv, before)  # pip gave up in good order: what worked before still does
        raise
    found = probe(venv)
    if found is None:
        raise Trouble(OTHER, f"The new environment's Python does not run.  The complete log: {venv / LOG}")
    # What is found right after the installation counts as whole: no oddity of a package can cause endless repairs.
    write_stamp(venv, {**found, **wanted_stamp(site.root, extras, site.environ)})
    try:
        step(site, "compiled scans, so that the first notebook need not wait for them",
             [str(python), "-m", "lrnnlab", "doctor", "--warm"])
    except Trouble:
        say(f"   That was not essential: going on.  For a closer look: {python} -m lrnnlab doctor")


def try_lock(file):
    """Lock the file for this process if nobody else has; the system unlocks it when its holders end, however."""
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


@contextlib.contextmanager
def alone(root):
    """Wait until no other bootstrap.py works on this folder; gives the descriptor of the locked file."""
    with (root / "pyproject.toml").open("rb+") as file:
        if not try_lock(file):
            say("Another bootstrap.py is at work in this folder: waiting for it to end.  Ctrl-C gives up.")
            while not try_lock(file):
                time.sleep(0.5)
        yield file.fileno()


def prepare(root, extras, environ):
    """Make, repair or just confirm the environment in root/.venv."""
    venv, started = root / ".venv", time.monotonic()
    with alone(root) as lock:
        if venv.exists() and read_stamp(venv) is None and not (venv / LOG).exists():
            aside = root / time.strftime(".venv-%Y%m%d-%H%M%S")
            venv.rename(aside)  # somebody else's, or made by hand: never deleted
            say(f"There was a .venv that bootstrap.py did not make; it is now called {aside.name}.")
        stamp = read_stamp(venv)
        action, why = "rebuild", "there is none yet"
        if venv.exists():
            action, why = verdict(stamp, wanted_stamp(root, extras, environ), probe(venv))
        if action == "ready":
            say(f"The environment is ready: {why} ({time.monotonic() - started:.1f} s).")
            return
        say(f"{'Making' if action == 'rebuild' else 'Updating'} the environment {venv}: {why}.")
        everything = sorted(set(extras) | set((stamp or {}).get("extras", ())))
        install(Site(root, environ, lock), everything, fresh=action == "rebuild")
    say(f"The environment is ready ({time.monotonic() - started:.0f} s).")


def final_command(command, rest, root, python, superuser=False):
    """Return the arguments of what runs in the environment at last."""
    if command == "test":
        return [str(python), "-m", "pytest"] + TWO_AT_ONCE + rest  # what the user says comes last and wins: -n 0
    author = "--author" in rest
    folder, start = (root, "notebooks/00_start_here.ipynb") if author else (root / MINE, "00_start_here.ipynb")
    page = "/lab/tree/" + start if (folder / start).exists() else "/lab"
    lab = [str(python), "-m", "jupyterlab", "--ServerApp.root_dir=" + str(folder), "--LabApp.default_url=" + page]
    lab += AUTHOR if author else READER
    lab += ["--allow-root"] if superuser else []  # in a container one often is root; jupyter would balk
    return lab + [option for option in rest if option != "--author"]


def own_copy(root):
    """Make the reader's copy of the chapters, or add to it those that are new, as lrnnlab/copies.py says."""
    spec = importlib.util.spec_from_file_location("copies", str(ROOT / "lrnnlab" / "copies.py"))
    copies = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(copies)
    (root / MINE).mkdir(exist_ok=True)
    added = copies.make(root / MINE, root)
    say(f"Your copy of the chapters is {root / MINE}" + (f"; new in it: {', '.join(added)}." if added else "."))


def hand_over(command, root, env):
    """Let a command take this one's place: its exit code, its Ctrl-C, its terminal.  Returns on Windows only."""
    os.chdir(str(root))
    if os.name != "nt":
        os.execve(command[0], command, env)
    process = subprocess.Popen(command, env=env)
    while True:
        try:
            return process.wait()
        except KeyboardInterrupt:
            pass  # the child has it too, and decides what it means


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
        if command == "lab" and "--author" not in rest:
            own_copy(root)
        venv, superuser = root / ".venv", hasattr(os, "geteuid") and os.geteuid() == 0
        last = final_command(command, rest, root, venv_python(venv), superuser)
        env = child_env(environ, venv)
        if command == "lab" and "--author" not in rest:
            paths = [str(root / CALM), *filter(None, [env.get("JUPYTER_CONFIG_PATH")])]
            env["JUPYTER_CONFIG_PATH"] = os.pathsep.join(paths)
        return hand_over(last, root, env)
    except Trouble as trouble:
        say("\n" + trouble.args[1])
    except OSError as error:
        say("\n" + (SIGNS[0][2] if error.errno in (errno.ENOSPC, errno.EDQUOT) else
                    f"The system refused: {error}.  Is the folder writable, and is nothing running from .venv?"))
    except KeyboardInterrupt:
        say("\nStopped.  Start the same command again to finish.")
        return 130
    return 1


if __name__ == "__main__":
    sys.stdout.reconfigure(errors="replace")  # a path may hold letters that the terminal cannot show
    sys.exit(main(sys.argv[1:]))
