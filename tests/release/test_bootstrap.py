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
STEPS = [" -m venv ", "pip>=23.1", boot.CPU_TORCH, "-e .[lab,test]", "doctor --warm"]


class Machine:
    """Records the commands in place of running them; ``fails`` maps a part of one to the error that it ends with."""

    def __init__(self, root):
        self.root, self.venv, self.fails, self.commands, self.ran = root, root / ".venv", {}, [], None

    def step(self, environ, venv, title, command):
        line = " ".join(map(str, command))
        self.commands.append(line)
        for part, error in self.fails.items():
            if part in line:
                raise error
        if " -m venv " in line:
            boot.python_in(venv).parent.mkdir(parents=True, exist_ok=True)
            boot.python_in(venv).touch()

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
    made = Machine(root)
    for name in ("step", "run"):
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
    code = f"import sys; sys.path[:0] = [{str(ROOT)!r}, {str(ROOT / 'notebooks')!r}]; import workbook.copies"
    subprocess.run([sys.executable, "-I", "-S", "-c", code], check=True)  # no package is to be had without site


def test_the_first_start_makes_everything_the_second_nothing_and_env_looks_again(machine):
    assert machine.start("test", "-k", "scans") == 7 and steps(machine) == STEPS
    assert machine.ran == [str(boot.python_in(machine.venv)), "-m", "pytest", *boot.TESTS, "-k", "scans"]
    assert machine.start("lab") == 7 and machine.commands == []
    assert machine.start("env") == 0 and steps(machine) == STEPS[1:]


def test_another_extra_a_changed_project_and_another_torch_are_put_on_top(machine):
    machine.start("lab")
    machine.start("test")
    assert steps(machine) == STEPS[1:]
    (machine.root / "pyproject.toml").write_text(PYPROJECT + "# changed\n")
    machine.start("lab")  # which keeps the packages of test
    assert steps(machine) == STEPS[1:]
    machine.start("lab", LRNNLAB_TORCH="torch==2.9.0")
    assert machine.commands[1].endswith("pip install torch==2.9.0")
    assert machine.start("lab") == 7 and machine.commands == []  # the choice is remembered


@pytest.mark.parametrize("part", STEPS[:4])
@pytest.mark.parametrize("error", [KeyboardInterrupt(), boot.Trouble(boot.DISK)], ids=["Ctrl-C", "a full disk"])
def test_a_start_that_ended_half_way_is_made_good_by_the_next(machine, capsys, part, error):
    machine.fails = {part: error}
    assert machine.start("env") == (130 if isinstance(error, KeyboardInterrupt) else 1)
    assert ("Stopped" if isinstance(error, KeyboardInterrupt) else boot.DISK) in capsys.readouterr().out
    (machine.venv / "half").write_text("copied")
    machine.fails = {}
    assert machine.start("env") == 0 and steps(machine) == STEPS and not (machine.venv / "half").exists()


def test_a_project_that_was_moved_gets_a_new_environment_and_keeps_the_old_one_aside(machine):
    machine.start("env")
    stamp = machine.venv / "lrnnlab-stamp.json"
    stamp.write_text(json.dumps(dict(json.loads(stamp.read_text()), root="/elsewhere")))
    (machine.venv / "mine").write_text("a notebook")
    assert machine.start("env") == 0 and steps(machine) == STEPS
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


def test_a_half_made_environment_is_removed_without_following_links(machine):
    machine.fails = {"-e .": boot.Trouble("")}
    machine.start("env")
    outside = machine.root.parent / "outside"
    outside.mkdir()
    (outside / "keep").write_text("kept")
    (machine.venv / "lib64").symlink_to(outside, target_is_directory=True)
    machine.fails = {}
    assert machine.start("env") == 0 and (outside / "keep").read_text() == "kept"


NO_BUILD = boot.Trouble("no build")


@pytest.mark.parametrize("system, driver, chosen, fails, asked", [
    ("Linux", False, "", {}, [boot.CPU_TORCH]),
    ("Linux", False, "", {boot.CPU_TORCH: NO_BUILD}, [boot.CPU_TORCH, "--torch-backend cpu torch>=2.4"]),
    ("Linux", False, "", {boot.CPU_TORCH: NO_BUILD, "--torch-backend": boot.Trouble(boot.NETWORK)},
     [boot.CPU_TORCH, "--torch-backend cpu torch>=2.4", "torch>=2.4"]),
    ("Linux", False, "", {boot.CPU_TORCH: boot.Trouble(boot.NETWORK)}, [boot.CPU_TORCH]),  # and that is the end
    ("Linux", False, "torch==2.9.0", {}, ["torch==2.9.0"]), ("Linux", True, "", {}, ["torch>=2.4"]),
    ("Darwin", False, "", {}, ["torch>=2.4"]), ("Windows", True, "", {}, ["torch>=2.4"]),
])  # fmt: skip
def test_which_torch(machine, monkeypatch, system, driver, chosen, fails, asked):
    monkeypatch.setattr(boot.platform, "system", lambda: system)
    monkeypatch.setattr(boot, "has_nvidia_driver", lambda: driver)
    machine.fails = fails
    assert machine.start("env", LRNNLAB_TORCH=chosen) == (boot.NETWORK in map(str, fails.values()) and len(asked) == 1)
    found = [line for line in machine.commands if re.search("torch[=>]=", line)]
    assert len(found) == len(asked) and all(line.endswith(end) for line, end in zip(found, asked))


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
    "Error: ensurepip is not available": "cannot make virtual environments", "it broke": "its last lines stand above",
}


@pytest.mark.parametrize("output", SAID)
def test_what_a_failed_step_printed_is_shown_and_understood(tmp_path, capsys, output):
    code = f"import sys; print('out \u00e9'); print({output!r}, file=sys.stderr); sys.exit(3)"
    with pytest.raises(boot.Trouble, match=re.escape(SAID[output])):
        boot.step(dict(os.environ, PYTHONIOENCODING="utf-8"), tmp_path / ".venv", "title", [sys.executable, "-c", code])
    assert all(line in capsys.readouterr().out for line in output.splitlines()[-1:])


def test_a_reader_s_copy_is_made_once_and_an_author_gets_none(machine):
    (machine.root / "notebooks" / "00_start_here.ipynb").write_text("first")
    mine = machine.root / "my_notebooks"
    assert machine.start("lab", "--author") == 7 and not mine.exists() and "JUPYTER_CONFIG_PATH" not in machine.env
    assert f"--ServerApp.root_dir={machine.root}" in machine.ran and {*boot.AUTHOR} <= {*machine.ran}
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


def test_a_real_environment_without_a_network(tmp_path):
    """By this Python's own venv and ensurepip; pip then has no index to ask, and that is what is said."""
    for name in ("bootstrap.py", "pyproject.toml"):
        shutil.copy(ROOT / name, tmp_path)
    environ = {name: value for name, value in os.environ.items() if not name.startswith(("PIP_", "UV_"))}
    environ.update(PIP_CONFIG_FILE=os.devnull, PIP_INDEX_URL="http://127.0.0.1:9/simple", PIP_RETRIES="1")
    done = subprocess.run([sys.executable, tmp_path / "bootstrap.py", "env"], env=environ, capture_output=True, text=True,
                          timeout=300, check=False)
    assert done.returncode == 1 and boot.NETWORK in done.stdout, done.stdout
    assert boot.python_in(tmp_path / ".venv").exists()
