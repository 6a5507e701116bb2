"""Make this workbook's environment, then open it or test it.  Needs only Python itself.

    python bootstrap.py lab  [jupyter lab options]   open your copy of the workbook: lab --no-browser --port 8899
    python bootstrap.py lab  --author [options]      open the workbook itself: a save writes its source too
    python bootstrap.py test [pytest options]        library, workbook and chapters, in minutes: test -k scans -x -n 0
    python bootstrap.py test --all                   and deeper notebooks, planted faults, rehearsals, every browser test
    python bootstrap.py env                          only make the environment, or repair it: pip looks at every package

Your copy is the folder my_notebooks, made at the first start; nothing in it is ever overwritten.  The environment is the
folder .venv: the first start takes minutes, the next ones a second.  Where Python or packages in it were changed, upgraded
or removed by something else, the next start mends it.  A .venv that bootstrap.py did not make, or that is a link, is never
changed.  To begin anew, delete .venv.  The versions are those of tests/constraints.txt, which the tests ran with.
The environment variable LRNNLAB_TORCH (say, "torch==2.13.0") asks for one particular build of PyTorch.
"""

import ast
import contextlib
import hashlib
import json
import locale
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
EXTRAS = {"lab": {"book"}, "test": {"book", "test"}, "env": {"book", "test"}}
TESTS = ["-n", "2", "--dist", "loadfile", "--no-loadscope-reorder"]  # two processes, each with whole files
# Of the settings of pip and uv, those that say what comes from where.  All others are ignored, in files and in variables such
# as PIP_TARGET: they could lead packages out of .venv, or keep them from being installed.
SOURCES = set("""INDEX_URL EXTRA_INDEX_URL DEFAULT_INDEX INDEX FIND_LINKS NO_INDEX OFFLINE CONSTRAINT BUILD_CONSTRAINT
    TRUSTED_HOST INSECURE_HOST CERT CLIENT_CERT PROXY TIMEOUT DEFAULT_TIMEOUT HTTP_TIMEOUT RETRIES CACHE_DIR NO_CACHE_DIR NO_CACHE
    KEYRING_PROVIDER USE_FEATURE USE_DEPRECATED NATIVE_TLS SYSTEM_CERTS CONFIG_FILE""".split())
ELSEWHERE = {"PYTHONPATH", "PYTHONHOME", "PYTHONPLATLIBDIR", "PYTHONEXECUTABLE", "__PYVENV_LAUNCHER__",
             "PYTHONOPTIMIZE"}  # without asserts no exercise and no proof would fail
PIP = ["-I", "-m", "pip"]
# Run by the Python of .venv: which one it is, and which packages it has; it fails where that is not this environment's Python.
STATE = """import os, platform, sys, sysconfig
assert os.path.samefile(sys.prefix, sys.argv[1])
there = set(os.listdir(sysconfig.get_path("purelib"))) - {"__pycache__"}
print(sysconfig.get_config_var("EXT_SUFFIX"), platform.machine(), sorted(there))"""
# The same Python names the packages of which a file is missing or empty, or of which the list of files is.
DAMAGED = """import csv, os, sysconfig
site = sysconfig.get_path("purelib")
for name in sorted(os.listdir(site)):
    if name.endswith(".dist-info"):
        try:
            with open(os.path.join(site, name, "RECORD"), encoding="utf-8", newline="") as file:
                rows = [row for row in csv.reader(file) if not row[0].endswith(".pyc")]
            whole = rows and all(os.path.getsize(os.path.join(site, row[0])) or row[2] in ("", "0") for row in rows)
        except (OSError, ValueError, IndexError):
            whole = False
        if not whole:
            print(ascii(os.path.join(site, name)))"""
DISK = "The disk is full.  Make room where the project, the temporary files (TMPDIR) and pip's cache are; start again."
NETWORK = "The package index could not be reached.  Check the network (or the proxy and its certificate); start again."
SETTINGS = "pip's own settings cannot be read: mend or remove the file that is named above, and start again."
SIGNS = {  # in what a failed step printed, in lower case; the first that is found is the cause
    "no space left on device|not enough space on the disk|disk quota exceeded|errno 28\\b|winerror 112\\b": DISK,
    "configuration file (could not be loaded|contains)|config(uration)? file .*(invalid|error)": SETTINGS,
    "newconnection|new connection|name resolution|getaddrinfo failed|network is unreachable|timed out|timeouterror|"
    "proxyerror|dns error|connection (aborted|refused|broken)|error sending request|sslerror|certificate.verify.failed": NETWORK,
    "permission denied|access is denied|read-only file system":
        "A file could not be written.  Does .venv belong to somebody else, is it read-only, or does something run from it?",
    "resolutionimpossible|conflicting dependencies": "What was asked for does not fit together.  Is there a constraint of your "
        "own, in LRNNLAB_TORCH or in pip's settings?",
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


def say(text):
    """Print; a terminal that is gone, or that lacks a letter, stops nothing."""
    with contextlib.suppress(OSError, ValueError):
        print(text, flush=True)


def child_env(environ, venv):
    """The environment of children: this .venv first, and no packages from anywhere else."""
    env = {key: value for key, value in environ.items() if key not in ELSEWHERE and (
        not key.startswith(("PIP_", "UV_")) or key.partition("_")[2] in SOURCES)}
    path = str(python_in(venv).parent) + os.pathsep + environ.get("PATH", "")
    return dict(env, VIRTUAL_ENV=str(venv), PIP_USER="0", PIP_DISABLE_PIP_VERSION_CHECK="1", PATH=path)


def ask(environ, venv, *arguments):
    """What the Python of ``venv`` prints to this; None if it does not run, or fails."""
    command, quiet = [str(python_in(venv)), "-I", *map(str, arguments)], subprocess.DEVNULL
    with contextlib.suppress(OSError, subprocess.SubprocessError):
        said = subprocess.check_output(command, env=child_env(environ, venv), stdin=quiet, stderr=quiet, timeout=300)
        return said.decode("utf-8", "replace")
    return None


def step(environ, venv, title, command):
    """Run one step of the installation and return what it printed; Trouble, below its last lines, if it fails."""
    say("   " + title + " ...")
    done = subprocess.run([str(part) for part in command], cwd=str(venv.parent), env=child_env(environ, venv),
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    text = done.stdout.decode(locale.getpreferredencoding(False), "replace")
    if done.returncode:
        say("".join(f"      | {line}\n" for line in text.splitlines()[-15:]))
        raise Trouble(next(said for sign, said in SIGNS.items() if re.search(sign, text.lower())))
    return text


def pip_settings(environ, venv):
    """``environ`` with what pip's files say of where packages come from, in place of the files."""
    found = {}
    for line in step(environ, venv, "pip's settings", [python_in(venv), *PIP, "config", "list"]).splitlines():
        match = re.match(r"(global|install|:env:)\.([\w-]+)=(['\"].*)", line)
        if match:
            section, name, value = match.groups()
            found[["global", "install", ":env:"].index(section), name] = ast.literal_eval(value)
    read = {"PIP_" + name.upper().replace("-", "_"): value for (_, name), value in sorted(found.items())}
    return dict(environ, **dict(read, PIP_CONFIG_FILE=os.devnull))


def has_nvidia_driver():
    """Whether there is an NVIDIA driver; torch itself is not installed yet and cannot be asked."""
    with contextlib.suppress(OSError, subprocess.SubprocessError):
        return Path("/proc/driver/nvidia/version").exists() or bool(
            subprocess.check_output(["nvidia-smi", "-L"], stderr=subprocess.DEVNULL, timeout=20).strip())
    return False


def mend(environ, venv, tested):
    """Give ``venv`` a Python and a pip that run; have pip forget our damaged packages, so that it installs them again."""
    if not ask(environ, venv, "-c", STATE, venv):  # none yet, or what it was made from was removed, moved or upgraded
        for link in python_in(venv).parent.glob("python*"):
            if link.is_symlink() and re.match(r"python[\d.]*$", link.name):  # venv would leave one that leads nowhere
                link.unlink()
        # Started from inside .venv, sys.executable may be what was deleted; the Python it was made from is not.
        python = getattr(sys, "_base_executable", None) or sys.executable
        step(environ, venv, "virtual environment with Python " + platform.python_version(),
             [python, "-I", "-m", "venv", "--without-pip", venv])
        if not ask(environ, venv, "-c", STATE, venv):
            raise Trouble(f"{python_in(venv)} does not run, or not as the Python of {venv}: rename that folder and start again.")
    ours = {"pip", "uv", "torch", "triton", "lrnnlab", *re.findall(r"^([\w-]+)==", tested, re.M)}
    again = set()
    for line in (ask(environ, venv, "-c", DAMAGED) or "").splitlines():
        listed = Path(ast.literal_eval(line))
        name = re.sub("[-_.]+", "-", listed.name.split("-")[0]).lower()
        if name in ours or name.startswith(("nvidia-", "cuda-")):
            say(f"   {name} is damaged: it will be installed again")
            again.add(name)
            shutil.rmtree(str(listed))  # pip's list of its files; pip then overwrites the files
    if ask(environ, venv, "-c", "import pip; print(pip.__path__[0])") is None or "pip" in again:
        step(environ, venv, "pip", [python_in(venv), "-I", "-m", "ensurepip", "--default-pip"])


def install(root, environ, wanted, venv):
    """Everything into ``venv``, where pip keeps what is there and fits."""
    torch, python = wanted["torch"], python_in(venv)
    cpu = platform.system() == "Linux" and not has_nvidia_driver()  # elsewhere the index has CPU builds only
    free, needed = shutil.disk_usage(str(root)).free / 1e9, 4 if cpu or platform.system() != "Linux" else 8
    if not any(venv.glob("[lL]ib/*")) and free < needed:  # better said now than after half of a long download
        raise Trouble(f"{free:.1f} GB of disk space are free, and about {needed} GB are needed.  Make room in {root} and start "
                      "again.")
    tested = tested_versions(root)
    mend(environ, venv, tested)
    environ, pip = pip_settings(environ, venv), [python, *PIP, "install"]
    step(environ, venv, "pip", pip + ["pip>=23.1"])  # the first pip of Python 3.10 cannot install a project editable
    pinned = next(iter(re.findall(r"^torch==[\w.]+", tested, re.M)), "torch")
    if torch:  # another than the tested one, to which the constraints would lead back
        tested = re.sub("^torch==.*", "", tested, flags=re.M)
    constraints = venv / "lrnnlab-constraints.txt"
    constraints.write_text(tested, encoding="utf-8")
    ways = [(["-c", constraints], torch or pinned)] if tested else []
    for fit, asked in [*ways, ([], torch or "torch")]:
        try:
            install_torch(environ, venv, fit, asked, cpu and not torch)
            step(environ, venv, "lrnnlab and what it needs", pip + fit + ["-e", ".[{}]".format(",".join(wanted["extras"]))])
            break
        except Trouble as trouble:
            if not fit or str(trouble) in (DISK, NETWORK):
                raise
            say("   The versions of tests/constraints.txt cannot be had here: trying the newest that fit.")
    with contextlib.suppress(Trouble):  # nothing that comes later needs it
        step(environ, venv, "compiled scans, so that no notebook waits", [python, "-m", "lrnnlab", "doctor", "--warm"])


def install_torch(environ, venv, fit, asked, cpu):
    """PyTorch, and where a CPU build will do, that one: it is a tenth of the size; ``fit`` are the constraints."""
    python = python_in(venv)
    pip = [python, *PIP, "install", *fit]
    uv = [python, "-I", "-m", "uv", "--no-config", "pip", "install", "--python", python, "--torch-backend", "cpu", *fit, asked]
    ways = [("PyTorch's CPU build, from where uv knows it to be", [pip + ["uv"], uv])] if cpu else []
    if cpu and "==" in asked:  # '+cpu' matches nothing but a CPU build, and only where pip is set up to find one
        ways.insert(0, ("PyTorch's CPU build, where pip is set up to find it", [pip + [asked + "+cpu"]]))
    for title, commands in [*ways, ("PyTorch", [pip + [asked]])]:
        try:
            for command in commands:
                step(environ, venv, title, command)
            return
        except Trouble as trouble:  # uv asks a server of its own: that one out of reach does not mean no network
            if title == "PyTorch" or str(trouble) == DISK or (str(trouble) == NETWORK and "uv" not in title):
                raise


def tested_versions(root):
    """The constraints that the tests ran with; none in a folder without the tests."""
    with contextlib.suppress(OSError):
        return (root / "tests" / "constraints.txt").read_text(encoding="utf-8")
    return ""


def read_stamp(stamp):
    """What a stamp says, in the kinds that it was written in; an empty one if it says nothing, or was written half."""
    found = {}
    with contextlib.suppress(OSError, ValueError, RecursionError):
        found = json.loads(stamp.read_text(encoding="utf-8"))
    found = found if isinstance(found, dict) else {}
    extras = found.get("extras")
    texts = {key: value for key, value in found.items() if isinstance(value, str)}
    return dict(texts, extras=[one for one in sorted(EXTRAS["env"]) if isinstance(extras, list) and one in extras])


def write_stamp(stamp, says):
    """Write a stamp, whole or not at all."""
    new = stamp.with_name(stamp.name + ".new")
    new.write_text(json.dumps(says, indent=1), encoding="utf-8")
    os.replace(str(new), str(stamp))


def prepare(root, extras, environ, repair=False):
    """Make the environment in root/.venv, or repair it, or find that it is ready."""
    venv, started = root / ".venv", time.monotonic()
    stamp = venv / "lrnnlab-stamp.json"  # in a .venv of ours, from its first moment; complete once the environment is
    old = read_stamp(stamp)
    settings = (root / "pyproject.toml").read_bytes() + tested_versions(root).encode()
    wanted = {"root": str(root), "extras": sorted(extras.union(old["extras"])), "settings": hashlib.sha256(settings).hexdigest(),
              "torch": environ.get("LRNNLAB_TORCH", "").strip() or old.get("torch", "")}
    state = ask(environ, venv, "-c", STATE, venv) if stamp.exists() else None
    if state and old == dict(wanted, state=state) and not repair:
        return
    real = os.path.realpath(str(venv))  # on Windows a junction is no link, and yet leads elsewhere
    if real != os.path.join(os.path.realpath(str(root)), ".venv"):
        raise Trouble(f"{venv} is a link to {real}, and nothing is written through one: remove it and start again.")
    if os.path.lexists(str(venv)) and not stamp.exists() and any(venv.iterdir()):
        raise Trouble(f"{venv} is not an environment that bootstrap.py made: rename it and start again.")
    if old.get("root", str(root)) != str(root):  # its programs would start the Python of where it was
        aside = root / time.strftime(".venv-%Y%m%d-%H%M%S")
        venv.rename(aside)
        say(f"The project was moved; its old environment is now called {aside.name}: delete it if nobody needs it.")
    say("{} the environment {}.".format("Updating" if stamp.exists() else "Making", venv))
    venv.mkdir(exist_ok=True)
    if not stamp.exists():
        write_stamp(stamp, {"root": str(root)})
    install(root, environ, wanted, venv)
    write_stamp(stamp, dict(wanted, state=ask(environ, venv, "-c", STATE, venv)))
    say(f"The environment is ready ({time.monotonic() - started:.0f} s).")


def final_command(command, rest, root):
    """What runs in the environment at last."""
    python = str(python_in(root / ".venv"))
    if command == "test":
        return [python, "-m", "pytest"] + TESTS + rest  # what the user says comes last and wins: -n 0
    author = "--author" in rest
    folder, start = (root, "notebooks/00_start_here.ipynb") if author else (root / "my_notebooks", "00_start_here.ipynb")
    superuser = ["--allow-root"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []  # in a container one often is
    return [python, "-m", "jupyterlab", f"--ServerApp.root_dir={folder}", "--LabApp.default_url=/lab/tree/" + start,
            *superuser, *(option for option in rest if option != "--author")]


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
        say(__doc__.strip() if command in ("-h", "--help") else "bootstrap.py does not know '{}'.\n\n{}".format(
            " ".join(argv), __doc__.strip()))
        return 0 if command in ("-h", "--help") else 2
    try:
        with contextlib.ExitStack() as lock:
            with contextlib.suppress(ImportError, OSError):  # not on Windows, nor on a disk that knows no locks
                import fcntl
                file = lock.enter_context((root / "pyproject.toml").open("rb+"))
                fcntl.flock(file, fcntl.LOCK_EX)  # one at a time: whoever is second waits
            prepare(root, EXTRAS[command], environ, repair=command == "env")
        env = child_env(environ, root / ".venv")
        if command == "env":
            return 0
        if command == "lab" and "--author" not in rest:
            sys.path[:0] = [str(root), str(root / "notebooks")]
            from lrnnbook.machinery import copies  # which imports Python's own library only
            say("Your copy of the chapters is {}.".format(root / "my_notebooks"))
            copies.make(root / "my_notebooks", root)
            env["JUPYTER_CONFIG_PATH"] = os.pathsep.join(filter(None, [str(root / ".jupyter"), env.get("JUPYTER_CONFIG_PATH")]))
        return run(final_command(command, rest, root), root, env)
    except KeyboardInterrupt:
        say("\nStopped.  Start the same command again to finish.")
        return 130
    except (Trouble, ValueError) as error:  # ValueError: of the reader's copy
        say(f"\n{error}")
    except OSError as error:
        say(f"\nThe system refused: {error}.  Is there room on the disk, is the folder writable, and does nothing run from "
              ".venv?")
    return 1


if __name__ == "__main__":
    for stream in filter(None, (sys.stdout, sys.stderr)):
        stream.reconfigure(errors="replace")
    sys.exit(main(sys.argv[1:]))
