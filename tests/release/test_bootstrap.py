"""bootstrap.py: what it decides, on a stand-in for pip; and one real environment, made without a network."""

import ast
import json
import os
import re
import shutil
import subprocess
import sys
import time
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCE = (ROOT / "bootstrap.py").read_text(encoding="utf-8")
spec = spec_from_file_location("bootstrap", ROOT / "bootstrap.py")
boot = module_from_spec(spec)
spec.loader.exec_module(boot)
PYPROJECT = 'dependencies = [\n    "torch>=2.4",\n]\n'
TESTED = "torch==2.13.0\nnumpy==2.4.6\n"
CPU_TORCH = "torch==2.13.0+cpu"
STEPS = [" -m venv ", "ensurepip", "config list", "pip>=23.1", CPU_TORCH, "-e .[book,test]", "doctor --warm"]


class Machine:
    """Records the commands in place of running them; ``fails`` maps a part of one to the error that it ends with."""

    def __init__(self, root):
        self.root, self.venv, self.fails, self.commands, self.ran = root, root / ".venv", {}, [], None
        self.prints, self.packages, self.damaged, self.environs = {}, {}, [], []

    def ask(self, environ, venv, *arguments):
        """What the Python of .venv says; it runs where it is a file that says so."""
        if not boot.python_in(venv).is_file() or boot.python_in(venv).read_text() != "runs":
            return None
        if boot.DAMAGED in arguments:
            return "".join(f"{str(one)!r}\n" for one in self.damaged)
        return "/pip" if "import pip" in " ".join(map(str, arguments)) and "pip" in self.packages else repr(self.packages) * (
            boot.STATE in arguments) or None

    def step(self, environ, venv, title, command):
        line = " ".join(map(str, command))
        self.commands.append(line)
        self.environs.append(boot.child_env(environ, venv))
        for part, error in self.fails.items():
            if part in line:
                raise error
        if " -m venv " in line:
            boot.python_in(venv).parent.mkdir(parents=True, exist_ok=True)
            boot.python_in(venv).write_text("runs")
            (venv / "lib" / "python3.99").mkdir(parents=True, exist_ok=True)
        if "ensurepip" in line:
            self.packages["pip"] = "24"
        return self.prints.get(title, "")

    def run(self, command, root, env):
        self.ran, self.env = command, env
        return 7

    def start(self, *argv, **environ):
        self.commands.clear()
        return boot.main(list(argv), self.root, {"PATH": "/bin", **environ})


@pytest.fixture
def machine(tmp_path, monkeypatch):
    root = tmp_path / "a folder with spaces"
    (root / "notebooks").mkdir(parents=True)
    (root / "pyproject.toml").write_text(PYPROJECT)
    (root / "tests").mkdir()
    (root / "tests" / "constraints.txt").write_text(TESTED)
    made = Machine(root)
    for name in ("step", "run", "ask"):
        monkeypatch.setattr(boot, name, getattr(made, name))
    monkeypatch.setattr(boot, "has_nvidia_driver", lambda: False)
    monkeypatch.setattr(boot.platform, "system", lambda: "Linux")
    monkeypatch.setattr(boot.shutil, "disk_usage", lambda path: type("Usage", (), {"free": 50e9}))
    return made


def steps(machine):
    return [next(step for step in STEPS if step in line) for line in machine.commands]


def test_an_old_python_can_parse_the_file_and_nothing_but_python_is_needed():
    tree = ast.parse(SOURCE, feature_version=(3, 6))
    names = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    assert names <= sys.stdlib_module_names and "from __future__" not in SOURCE and "://" not in SOURCE
    code = f"import sys; sys.path[:0] = [{str(ROOT)!r}, {str(ROOT / 'notebooks')!r}]; import lrnnbook.machinery.copies"
    subprocess.run([sys.executable, "-I", "-S", "-c", code], check=True)  # no package is to be had without site


def test_the_first_start_makes_everything_the_second_nothing_and_env_looks_again(machine):
    assert machine.start("test", "-k", "scans") == 7 and steps(machine) == STEPS
    assert machine.ran == [str(boot.python_in(machine.venv)), "-m", "pytest", *boot.TESTS, "-k", "scans"]
    assert machine.start("lab") == 7 and machine.commands == []
    assert machine.start("env") == 0 and steps(machine) == STEPS[2:]


def test_another_extra_a_changed_project_and_another_torch_are_put_on_top(machine):
    machine.start("lab")
    machine.start("test")
    assert steps(machine) == STEPS[2:]
    (machine.root / "pyproject.toml").write_text(PYPROJECT + "# changed\n")
    machine.start("lab")  # which keeps the packages of test
    assert steps(machine) == STEPS[2:]
    machine.start("lab", LRNNLAB_TORCH="torch==2.9.0")
    assert any(re.search("-c .* torch==2.9.0$", line) for line in machine.commands)
    assert "torch" not in (machine.venv / "lrnnlab-constraints.txt").read_text()  # the tested one would take its place
    assert machine.start("lab") == 7 and machine.commands == []  # the choice is remembered


@pytest.mark.parametrize("part", STEPS[:6])
@pytest.mark.parametrize("error", [KeyboardInterrupt(), boot.Trouble(boot.DISK)], ids=["Ctrl-C", "a full disk"])
def test_a_start_that_ended_half_way_is_made_good_by_the_next_which_removes_nothing(machine, capsys, part, error):
    machine.fails = {part: error}
    assert machine.start("env") == (130 if isinstance(error, KeyboardInterrupt) else 1)
    assert ("Stopped" if isinstance(error, KeyboardInterrupt) else boot.DISK) in capsys.readouterr().out
    (machine.venv / "mine").write_text("a notebook")
    machine.fails = {}
    assert machine.start("env") == 0 and steps(machine)[-5:] == STEPS[2:] and (machine.venv / "mine").exists()
    assert machine.start("lab") == 7 and machine.commands == []


# --- an environment that changes under us ----------------------------------------------------------------------------


def made(machine):
    machine.start("test")
    assert machine.start("test") == 7 and machine.commands == []


def test_packages_that_something_else_put_there_or_removed_are_looked_at_once(machine):
    made(machine)
    machine.packages["numpy"] = "1.0"
    assert machine.start("lab") == 7 and steps(machine) == STEPS[2:]
    assert machine.start("lab") == 7 and machine.commands == []


def test_a_python_that_is_gone_or_another_is_replaced_in_place(machine):
    made(machine)
    python = boot.python_in(machine.venv)
    mine = python.with_name("python-of-mine")
    for link in (python, python.with_name("python3.9"), mine):
        link.unlink(missing_ok=True)
        link.symlink_to("/nowhere/python3.9")
    machine.packages.pop("pip")
    assert machine.start("lab") == 7 and steps(machine) == STEPS
    assert not python.is_symlink() and not python.with_name("python3.9").is_symlink() and mine.is_symlink()
    python.write_text("a library is missing")
    assert machine.start("lab") == 7 and steps(machine) == [STEPS[0], *STEPS[2:]]


def test_a_python_that_still_does_not_run_is_said(machine, monkeypatch, capsys):
    monkeypatch.setattr(boot, "ask", lambda *given: None)
    assert machine.start("env") == 1 and "does not run" in capsys.readouterr().out


def test_a_damaged_package_is_installed_again_and_a_person_s_own_left_alone(machine, capsys):
    made(machine)
    machine.damaged = [machine.venv / f"{name}.dist-info" for name in ("numpy-2.4.6", "Pip-24", "nvidia_nccl_cu13-2", "mine-1")]
    for one in machine.damaged:
        one.mkdir()
    assert machine.start("env") == 0 and "numpy is damaged" in capsys.readouterr().out
    assert [one.exists() for one in machine.damaged] == [False, False, False, True]
    assert steps(machine) == STEPS[1:]  # pip itself was


STAMPS = ["", "[1]", "null", "3", '"text"', '{"root": 3, "extras": null}', '{"extras": [{}, ["book"]], "torch": {}}', "\udc80", "[" * 9999]


@pytest.mark.parametrize("text", STAMPS, ids=range(len(STAMPS)))
def test_a_stamp_of_another_kind_counts_as_none(machine, text):
    made(machine)
    stamp = machine.venv / "lrnnlab-stamp.json"
    stamp.write_bytes(text.encode("utf-8", "surrogateescape"))
    assert machine.start("test") == 7 and steps(machine) == STEPS[2:]
    assert machine.start("test") == 7 and machine.commands == [] and len(list(machine.root.glob(".venv*"))) == 1


def test_a_project_that_may_only_be_read_still_starts(machine, monkeypatch):
    made(machine)
    opened = Path.open

    def read_only(path, mode="r", *rest, **options):
        if set(mode) & set("wa+"):
            raise PermissionError(30, "Read-only file system", str(path))
        return opened(path, mode, *rest, **options)

    monkeypatch.setattr(Path, "open", read_only)
    assert machine.start("test") == 7 and machine.commands == []


LEADS_AWAY = dict.fromkeys(
    "PIP_TARGET PIP_PREFIX PIP_ROOT PIP_PYTHON PIP_DRY_RUN PIP_REQUIREMENT PIP_NO_DEPS PIP_IGNORE_INSTALLED PIP_PLATFORM UV_PYTHON "
    "UV_SYSTEM_PYTHON PYTHONPATH PYTHONHOME PYTHONPLATLIBDIR PYTHONOPTIMIZE".split(), "/elsewhere")


def test_settings_say_what_comes_from_where_and_never_where_to(machine):
    """Variables and files alike: pip's files are read once, and then only what they say of sources is told."""
    kept = {"PIP_INDEX_URL": "https://there/simple", "PIP_CERT": "/cert", "UV_DEFAULT_INDEX": "https://there/simple"}
    machine.prints["pip's settings"] = ("global.target='/a'\ninstall.prefix='/b'\n:env:.index-url='https://there/simple'\n"
                                        "global.index-url='https://other'\ninstall.find-links='/a b\\n/c'\nfreeze.timeout='9'\n")  # fmt: skip
    assert machine.start("lab", **LEADS_AWAY, **kept, PIP_CONFIG_FILE="mine.conf") == 7
    before, after = machine.environs[0], machine.environs[-1]
    for env in (before, after, machine.env):
        assert not set(LEADS_AWAY) & set(env) and kept.items() <= env.items() and env["PIP_USER"] == "0"
    assert before["PIP_CONFIG_FILE"] == "mine.conf" and after["PIP_CONFIG_FILE"] == os.devnull
    assert after["PIP_FIND_LINKS"] == "/a b\n/c" and "PIP_TIMEOUT" not in after


def test_a_project_that_was_moved_gets_a_new_environment_and_keeps_the_old_one_aside(machine):
    machine.start("env")
    stamp = machine.venv / "lrnnlab-stamp.json"
    stamp.write_text(json.dumps(dict(json.loads(stamp.read_text()), root="/elsewhere")))
    (machine.venv / "mine").write_text("a notebook")
    assert machine.start("env") == 0 and steps(machine) == [STEPS[0], *STEPS[2:]]
    assert [path.read_text() for path in machine.root.glob(".venv-*/mine")] == ["a notebook"]


@pytest.mark.parametrize("kind", ["not ours", "a link", "a dangling link", "a file"])
def test_what_bootstrap_did_not_make_is_refused_and_left_as_it_is(machine, capsys, kind):
    theirs = machine.root.parent / "theirs"
    theirs.mkdir()
    (theirs / "keep").write_text("kept")
    if kind == "not ours":
        shutil.copytree(theirs, machine.venv)
    elif kind == "a file":
        machine.venv.write_text("kept")
    else:
        machine.venv.symlink_to(theirs if kind == "a link" else "nowhere")
    before = sorted(machine.root.rglob("*"))
    assert machine.start("env") == 1 and machine.commands == [] and str(machine.venv) in capsys.readouterr().out
    assert sorted(machine.root.rglob("*")) == before and (theirs / "keep").read_text() == "kept"


NO_BUILD = boot.Trouble("no build")


TORCH = "torch==2.13.0"


@pytest.mark.parametrize("system, driver, chosen, fails, asked", [
    ("Linux", False, "", {}, [CPU_TORCH]),
    ("Linux", False, "", {CPU_TORCH: NO_BUILD}, [CPU_TORCH, f"--torch-backend cpu -c constraints {TORCH}"]),
    ("Linux", False, "", {CPU_TORCH: NO_BUILD, "--torch-backend": boot.Trouble(boot.NETWORK)},
     [CPU_TORCH, f"--torch-backend cpu -c constraints {TORCH}", TORCH]),
    ("Linux", False, "", {CPU_TORCH: boot.Trouble(boot.NETWORK)}, [CPU_TORCH]),  # and that is the end
    ("Linux", False, "", {TORCH: NO_BUILD}, [CPU_TORCH, f"-c constraints {TORCH}", TORCH, "--torch-backend cpu torch"]),  # newer
    ("Linux", False, "torch==2.9.0", {}, ["torch==2.9.0"]), ("Linux", True, "", {}, [TORCH]),
    ("Darwin", False, "", {}, [TORCH]), ("Windows", True, "", {}, [TORCH]),
])  # fmt: skip
def test_which_torch(machine, monkeypatch, system, driver, chosen, fails, asked):
    monkeypatch.setattr(boot.platform, "system", lambda: system)
    monkeypatch.setattr(boot, "has_nvidia_driver", lambda: driver)
    machine.fails = fails
    assert machine.start("env", LRNNLAB_TORCH=chosen) == (boot.NETWORK in map(str, fails.values()) and len(asked) == 1)
    lines = [line.replace(str(machine.venv / "lrnnlab-constraints.txt"), "constraints") for line in machine.commands]
    found = [line for line in lines if re.search(" torch(==.*)?$", line)]
    assert len(found) == len(asked) and all(line.endswith(end) for line, end in zip(found, asked))


def test_versions_that_cannot_be_had_here_give_way_to_the_newest_that_fit(machine, capsys):
    machine.fails = {"lrnnlab-constraints.txt -e": NO_BUILD}
    assert machine.start("env") == 0 and "tests/constraints.txt cannot be had here" in capsys.readouterr().out
    assert " -c " not in next(line for line in reversed(machine.commands) if " -e " in line)
    (machine.root / "tests" / "constraints.txt").write_text(TESTED + "new==1\n")
    machine.fails = {}
    assert machine.start("lab") == 7 and steps(machine) == STEPS[2:]  # other versions are tested now
    (machine.root / "tests" / "constraints.txt").unlink()
    assert machine.start("lab") == 7 and not any(" -c " in line for line in machine.commands)


@pytest.mark.parametrize("free, driver, needed", [(1.25e9, False, 4), (5e9, True, 8)])
def test_too_little_room_is_said_before_anything_is_downloaded(machine, monkeypatch, capsys, free, driver, needed):
    monkeypatch.setattr(boot.shutil, "disk_usage", lambda path: type("Usage", (), {"free": free}))
    monkeypatch.setattr(boot, "has_nvidia_driver", lambda: driver)
    assert machine.start("env") == 1 and machine.commands == []
    said = capsys.readouterr().out
    assert f"{free / 1e9:.1f} GB" in said and f"{needed} GB" in said


SAID = {
    "OSError: [Errno 28] No space left on device": boot.DISK, "OSError: [Errno 122] Disk quota exceeded": boot.DISK,
    "after connection broken by 'NewConnectionError()'\nERROR: No matching distribution found for x": boot.NETWORK,
    "socket.gaierror: [Errno 11001] getaddrinfo failed": boot.NETWORK, "certificate verify failed": boot.NETWORK,
    "ERROR: No matching distribution found for torch": "try another Python", "No module named venv": "-venv",
    "Error: ensurepip is not available": "cannot make virtual environments", "ERROR: ResolutionImpossible: for help": "fit together",
    "PermissionError: [Errno 13] Permission denied: 'x'": "belong to somebody else",
    "ERROR: Configuration file could not be loaded.": boot.SETTINGS, "it broke": "its last lines stand above",
}


@pytest.mark.parametrize("output", SAID)
def test_what_a_failed_step_printed_is_shown_and_understood(tmp_path, capsys, output):
    code = f"import sys; print('out \u00e9'); print({output!r}, file=sys.stderr); sys.exit(3)"
    with pytest.raises(boot.Trouble, match=re.escape(SAID[output])):
        boot.step(dict(os.environ, PYTHONIOENCODING="utf-8"), tmp_path / ".venv", "title", [sys.executable, "-c", code])
    assert all(line in capsys.readouterr().out for line in output.splitlines()[-1:])


def test_a_reader_s_copy_is_made_once_and_an_author_gets_none(machine):
    (machine.root / "notebooks" / "py").mkdir()
    for name in ("00_start_here.ipynb", "py/00_start_here.py"):
        (machine.root / "notebooks" / name).write_text("first")
    mine = machine.root / "my_notebooks"
    assert machine.start("lab", "--author") == 7 and not mine.exists() and "JUPYTER_CONFIG_PATH" not in machine.env
    assert f"--ServerApp.root_dir={machine.root}" in machine.ran
    assert machine.start("lab", "--port", "8899", JUPYTER_CONFIG_PATH="/theirs") == 7
    (mine / "00_start_here.ipynb").write_text("mine")
    assert machine.start("lab", "--port", "8899", JUPYTER_CONFIG_PATH="/theirs") == 7
    assert (mine / "00_start_here.ipynb").read_text() == "mine"
    assert f"--ServerApp.root_dir={mine}" in machine.ran and machine.ran[-2:] == ["--port", "8899"]
    assert machine.env["JUPYTER_CONFIG_PATH"] == f"{machine.root / '.jupyter'}{os.pathsep}/theirs"


@pytest.mark.skipif(os.name == "nt", reason="Windows has no flock")
def test_whoever_starts_second_waits(machine):
    code = (f"import fcntl, time; file = open({str(machine.root / 'pyproject.toml')!r}); fcntl.flock(file, fcntl.LOCK_EX); "
            "print(flush=True); time.sleep(1)")
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as holder:
        holder.stdout.readline()
        started = time.monotonic()
        assert machine.start("env") == 0 and time.monotonic() - started > 0.5


@pytest.mark.parametrize("encoding", ["utf-8", "cp1252", "ascii"])
def test_what_is_said_gets_through_any_encoding_and_a_reader_that_is_gone(tmp_path, encoding):
    root = tmp_path / "\u03a9mega"
    root.mkdir()
    shutil.copy(ROOT / "bootstrap.py", root)
    command, environ = [sys.executable, root / "bootstrap.py", "env"], dict(os.environ, PYTHONIOENCODING=encoding)
    done = subprocess.run(command, env=environ, capture_output=True, check=False)
    assert done.returncode == 1 and b"mega" in done.stdout and b"The system refused" in done.stdout and done.stderr == b""


@pytest.fixture(scope="module")
def real(tmp_path_factory):
    """A project with an environment by this Python's own venv and ensurepip, where pip had no index to ask."""
    root = tmp_path_factory.mktemp("real")
    shutil.copy(ROOT / "bootstrap.py", root)
    (root / "pyproject.toml").write_text(PYPROJECT)
    return root, start_real(root)


def start_real(root, **settings):
    environ = {name: value for name, value in os.environ.items() if not name.startswith(("PIP_", "UV_"))}
    environ.update(PIP_CONFIG_FILE=os.devnull, PIP_INDEX_URL="http://127.0.0.1:9/simple", PIP_RETRIES="1", **settings)
    return subprocess.run([sys.executable, root / "bootstrap.py", "env"], env=environ, capture_output=True, text=True,
                          timeout=300, check=False)  # fmt: skip


def test_a_real_environment_without_a_network(real):
    root, done = real
    assert done.returncode == 1 and boot.NETWORK in done.stdout, done.stdout
    assert boot.ask(os.environ, root / ".venv", "-c", boot.STATE, root / ".venv")


def test_a_real_one_is_mended_in_place(real):
    """Another Python behind the link, no pyvenv.cfg, half of pip: each would lead pip elsewhere, or fail at every start."""
    root, _ = real
    venv = root / ".venv"
    (venv / "mine").write_text("a notebook")
    python = boot.python_in(venv)
    (venv / "pyvenv.cfg").unlink()
    assert boot.ask(os.environ, venv, "-c", boot.STATE, venv) is None  # the Python that it was made from answers
    pip = next(venv.glob("[lL]ib/**/site-packages/pip/_internal"))
    (pip / "cli" / "parser.py").write_text("")
    (pip / "cli" / "main.py").unlink()
    if os.name != "nt":
        python.unlink()
        python.symlink_to("/nowhere/python3")
    done = start_real(root, PIP_TARGET=str(root / "elsewhere"), PIP_PYTHON="/nowhere/python3")
    assert done.returncode == 1 and boot.NETWORK in done.stdout and "pip is damaged" in done.stdout, done.stdout
    assert (pip / "cli" / "main.py").exists() and boot.ask(os.environ, venv, "-c", boot.DAMAGED) == ""
    assert (venv / "mine").read_text() == "a notebook" and not (root / "elsewhere").exists()
