"""bootstrap.py, without a network: what it decides is tested directly, what it would run is recorded by a fake."""

import ast
import errno
import importlib.util
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from packaging.specifiers import SpecifierSet

try:
    import tomllib
except ModuleNotFoundError:  # Python 3.10, where pytest brings tomli along
    import tomli as tomllib

REPOSITORY = Path(__file__).resolve().parents[2]
FILE = REPOSITORY / "bootstrap.py"
SOURCE = FILE.read_text(encoding="utf-8")

_spec = importlib.util.spec_from_file_location("bootstrap", FILE)
boot = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(boot)

PYPROJECT = '[project]\nname = "lrnnlab"\ndependencies = [\n    "torch>=2.4",\n    "numpy>=1.26",\n]\n'
ENOSPC = "ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device\n"
REFUSED = (
    "WARNING: Retrying (Retry(total=0, connect=None)) after connection broken by 'NewConnectionError(Failed to "
    "establish a new connection: [Errno -3] Temporary failure in name resolution)': /simple/torch/\n"
    "ERROR: Could not find a version that satisfies the requirement torch>=2.4 (from versions: none)\n"
    "ERROR: No matching distribution found for torch>=2.4\n"
)
NO_BUILD = "ERROR: No matching distribution found for torch==2.13.0+cpu\n"


class Machine:
    """A stand-in for everything outside: it records the commands, and lets those fail that it is told to."""

    def __init__(self, root):
        self.root, self.venv = root, root / ".venv"
        self.commands, self.failures = [], []
        self.packages = ["lrnnlab", "numpy", "pip", "torch"]
        self.handed_over = None

    def step(self, root, environ, title, command):
        self.commands.append(command)
        assert root == self.root
        for sign, sentence in self.failures:
            if sign in " ".join(command):
                raise boot.Trouble(sentence, "".join(f"line {i}\n" for i in range(100)))
        if command[-2:-1] == ["venv"]:
            python = boot.venv_python(Path(command[-1]))
            python.parent.mkdir(parents=True)
            python.touch()

    def packages_in(self, venv):
        return list(self.packages) if boot.venv_python(venv).exists() else []

    def hand_over(self, command, root, env, timed):
        self.handed_over, self.env, self.timed = command, env, timed
        return 7

    def start(self, *argv, environ=None):
        self.commands.clear()
        return boot.main(list(argv), self.root, environ or {"PATH": "/bin"})

    @property
    def lines(self):
        return [" ".join(command) for command in self.commands]

    @property
    def stamp(self):
        return boot.read_stamp(self.venv)

    def is_finished(self):
        return bool(self.stamp and self.stamp.get("packages"))


@pytest.fixture
def machine(tmp_path, monkeypatch):
    root = tmp_path / "a folder with spaces"
    root.mkdir()
    (root / "pyproject.toml").write_text(PYPROJECT)
    fake = Machine(root)
    for name in ("step", "packages_in", "hand_over"):
        monkeypatch.setattr(boot, name, getattr(fake, name))
    monkeypatch.setattr(boot, "has_nvidia_driver", lambda: False)
    monkeypatch.setattr(boot.platform, "system", lambda: "Linux")
    monkeypatch.setattr(boot.shutil, "disk_usage", lambda path: _usage(50e9))
    return fake


def _usage(free):
    return type("Usage", (), {"free": free})()


# ---- an old Python, and nothing but Python ------------------------------------------------------------------------


def test_an_old_python_can_parse_the_file():
    ast.parse(SOURCE, feature_version=(3, 6))
    assert "from __future__" not in SOURCE  # annotations from the future are an error before 3.7


def test_the_version_is_checked_before_anything_newer_than_python_3_6_runs():
    """Only imports of old modules, one constant and the check itself come before it."""
    body = ast.parse(SOURCE).body
    check = next(i for i, node in enumerate(body) if isinstance(node, ast.If))
    assert [type(node) for node in body[1:check] if not isinstance(node, (ast.Import, ast.ImportFrom))] == [
        ast.Assign, ast.FunctionDef]


@pytest.mark.parametrize("version", [(2, 7, 18), (3, 6, 15), (3, 9, 18)])
def test_an_old_python_gets_a_sentence_with_both_versions(version):
    sentence = boot.too_old(version)
    assert f"Python {version[0]}.{version[1]}." in sentence
    assert "3.10 or newer" in sentence


@pytest.mark.parametrize("version", [(3, 10, 0), (3, 13, 1), (4, 0, 0)])
def test_a_new_python_is_welcome(version):
    assert boot.too_old(version) == ""


def test_only_the_standard_library_is_imported():
    names = [alias.name for node in ast.walk(ast.parse(SOURCE)) if isinstance(node, ast.Import) for alias in node.names]
    names += [node.module for node in ast.walk(ast.parse(SOURCE)) if isinstance(node, ast.ImportFrom)]
    assert {name.split(".")[0] for name in names} <= sys.stdlib_module_names | {"lrnnlab"}
    code = f"import sys; sys.path.insert(0, {str(REPOSITORY)!r}); import workbook.copies"
    subprocess.run([sys.executable, "-I", "-S", "-c", code], check=True)  # no package is to be had without site


def test_it_names_no_package_index():
    assert "://" not in SOURCE
    assert not re.search(r"index-url|find-links", SOURCE)


def test_it_is_in_step_with_pyproject():
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["requires-python"] == ">={}.{}".format(*boot.MINIMUM)
    assert set().union(*boot.EXTRAS.values()) <= set(project["optional-dependencies"])
    torch = next(line for line in project["dependencies"] if line.startswith("torch"))
    assert SpecifierSet(torch[len("torch"):]).contains(boot.CPU_TORCH.split("==")[1])


# ---- which torch ---------------------------------------------------------------------------------------------------


def torch(machine):
    """What was asked of pip and of uv, up to the first that succeeded."""
    return [line.rpartition(" install ")[2] for line in machine.lines if re.search("torch[=>]=", line)]


def by_uv(machine):
    return f"--python {boot.venv_python(machine.venv)} --torch-backend cpu torch>=2.4"


def test_torch_on_linux_without_a_driver_is_the_cpu_build_if_there_is_any(machine):
    machine.start("env")
    assert torch(machine) == [boot.CPU_TORCH]
    machine.failures = [(boot.CPU_TORCH, "no build"), ("--torch-backend", boot.NETWORK)]  # uv asks a server of its own
    shutil.rmtree(machine.venv)
    assert machine.start("env") == 0
    assert torch(machine) == [boot.CPU_TORCH, by_uv(machine), "torch>=2.4"]
    assert machine.lines[3].endswith("pip install uv") and "-m uv" in machine.lines[4]


@pytest.mark.parametrize("sentence", [boot.NETWORK, boot.DISK])
def test_a_dead_network_and_a_full_disk_end_the_attempts(machine, capsys, sentence):
    machine.failures = [(boot.CPU_TORCH, sentence)]
    assert machine.start("env") == 1
    assert torch(machine) == [boot.CPU_TORCH]
    said = capsys.readouterr().out
    assert sentence in said and "| line 99" in said and "| line 80" not in said


@pytest.mark.parametrize("system, driver, chosen, asked", [
    ("Linux", True, "", "torch>=2.4"), ("Darwin", False, "", "torch>=2.4"), ("Windows", True, "", "torch>=2.4"),
    ("Linux", False, "torch==2.9.0", "torch==2.9.0"), ("Linux", True, "torch==2.9.0", "torch==2.9.0"),
])  # fmt: skip
def test_torch_elsewhere_is_what_the_index_has_or_the_reader_s_choice(machine, monkeypatch, system, driver, chosen, asked):
    monkeypatch.setattr(boot.platform, "system", lambda: system)
    monkeypatch.setattr(boot, "has_nvidia_driver", lambda: driver)
    assert machine.start("env", environ={"PATH": "", "LRNNLAB_TORCH": chosen}) == 0
    assert torch(machine) == [asked]


def test_the_driver_is_found_by_its_tool_and_a_missing_or_failing_tool_means_none(monkeypatch):
    if Path("/proc/driver/nvidia/version").exists():
        pytest.skip("this machine has the driver")
    answers = {"gpu": b"GPU 0: some name\n", "none": b"", "missing": FileNotFoundError(),
               "hangs": subprocess.TimeoutExpired("nvidia-smi", 20), "fails": subprocess.CalledProcessError(9, "x")}
    for name, answer in answers.items():
        def ask(*args, answer=answer, **kwargs):
            if isinstance(answer, bytes):
                return answer
            raise answer

        monkeypatch.setattr(boot.subprocess, "check_output", ask)
        assert boot.has_nvidia_driver() is (name == "gpu"), name


# ---- the first start, the second, and the repairs ------------------------------------------------------------------


def test_the_first_start_makes_everything_in_order_and_hands_over(machine):
    assert machine.start("lab", "--no-browser", "--port", "8899") == 7
    assert [re.sub(r"^.*?-m ", "", line) for line in machine.lines] == [
        f"venv {machine.venv}", "pip install pip>=23.1", f"pip install {boot.CPU_TORCH}", "pip install -e .[lab]",
        "lrnnlab doctor --warm"]
    assert machine.stamp["extras"] == ["lab"] and machine.stamp["packages"] == machine.packages
    assert machine.handed_over[-3:] == ["--no-browser", "--port", "8899"] and not machine.timed


def test_the_second_start_runs_nothing_but_what_was_asked_for(machine):
    machine.start("env")
    assert machine.start("lab") == 7
    assert machine.commands == []


def updated(machine):
    return not any(" venv " in line for line in machine.lines) and machine.lines[-2].endswith("-e .[lab,test]")


def made_anew(machine):
    return " -m venv " in machine.lines[0] and machine.is_finished()


def test_another_extra_is_added_to_what_is_there(machine):
    machine.start("lab")
    machine.start("test")
    assert updated(machine)
    machine.start("lab")
    assert machine.commands == []
    assert machine.stamp["extras"] == ["lab", "test"]


@pytest.mark.parametrize("where", [" venv ", "pip>=", "torch", "-e .["])
def test_a_start_that_is_interrupted_or_fails_is_made_good_by_the_next(machine, monkeypatch, where, capsys):
    whole = machine.step

    def dies(root, environ, title, command):
        if where in " ".join(command):
            raise KeyboardInterrupt
        whole(root, environ, title, command)

    monkeypatch.setattr(boot, "step", dies)
    assert machine.start("env") == 130
    assert not machine.is_finished()
    (machine.venv / "half-copied").mkdir()
    monkeypatch.setattr(boot, "step", whole)
    machine.failures = [(where, "It broke.")] * 2 if where in (" venv ", "-e .[") else [(where, boot.NETWORK)]
    assert machine.start("env") == 1
    assert not machine.is_finished()
    machine.failures = []
    assert machine.start("env") == 0
    assert made_anew(machine) and not (machine.venv / "half-copied").exists()
    assert "interrupted" in capsys.readouterr().out


@pytest.mark.parametrize("content", ["", "{", "[]", '"x"', "{}", "3", "null"])
def test_a_damaged_stamp_means_a_new_environment(machine, content):
    machine.start("env")
    (machine.venv / boot.STAMP).write_text(content)
    (machine.venv / "keep.txt").write_text("mine")
    assert machine.start("env") == 0 and made_anew(machine) and kept_aside(machine)


def kept_aside(machine):
    """Where somebody has worked in an environment, what they put there is not lost with it."""
    (aside,) = machine.root.glob(".venv-*")
    return (aside / "keep.txt").read_text() == "mine"


def test_a_changed_pyproject_updates_in_place(machine, capsys):
    machine.start("env")
    (machine.root / "pyproject.toml").write_text(PYPROJECT + "# changed\n")
    machine.start("env")
    assert updated(machine) and "pyproject.toml has changed" in capsys.readouterr().out
    machine.start("env")
    assert machine.commands == []


def test_a_broken_interpreter_means_a_new_environment(machine, capsys):
    machine.start("env")
    boot.venv_python(machine.venv).unlink()
    (machine.venv / "keep.txt").write_text("mine")
    machine.start("env")
    assert made_anew(machine) and kept_aside(machine) and "does not run" in capsys.readouterr().out


def test_an_update_that_is_interrupted_means_a_new_environment(machine, monkeypatch):
    machine.start("env")
    (machine.venv / "keep.txt").write_text("mine")
    (machine.root / "pyproject.toml").write_text(PYPROJECT + "# changed\n")
    machine.failures = [("-e .[", boot.DISK)]
    assert machine.start("env") == 1
    machine.failures = []
    assert machine.start("env") == 0 and made_anew(machine) and kept_aside(machine)


def test_a_moved_folder_means_a_new_environment_and_the_old_one_is_kept(machine, capsys):
    """It may be a copy of another folder with all that is in it, or the same one seen from a container."""
    machine.start("env")
    (machine.venv / "keep.txt").write_text("mine")
    moved = machine.root.with_name("elsewhere")
    machine.root.rename(moved)
    machine.root, machine.venv = moved, moved / ".venv"
    machine.start("env")
    assert made_anew(machine) and machine.stamp["root"] == str(moved) and kept_aside(machine)
    said = capsys.readouterr().out
    assert "moved" in said and "is now called .venv-" in said


def test_a_missing_package_is_brought_back(machine, capsys):
    machine.start("env")
    machine.packages.remove("numpy")
    machine.start("env")
    assert updated(machine) and "missing: numpy" in capsys.readouterr().out


def test_the_reader_s_choice_of_torch_updates_once_and_is_then_kept(machine):
    machine.start("env")
    chosen = {"LRNNLAB_TORCH": "torch==2.9.0", "PATH": ""}
    machine.start("env", environ=chosen)
    assert machine.lines[0].endswith("pip install torch==2.9.0")
    for environ in (chosen, {"PATH": ""}):
        machine.start("env", environ=environ)
        assert machine.commands == []
    (machine.root / "pyproject.toml").write_text(PYPROJECT + "# changed\n")
    machine.start("env")
    assert torch(machine) == ["torch==2.9.0"]


def test_a_failed_update_leaves_what_worked_but_a_full_disk_does_not(machine):
    machine.start("env")
    before = machine.stamp
    (machine.root / "pyproject.toml").write_text(PYPROJECT + "# changed\n")
    machine.failures = [("-e .[", boot.NETWORK)]
    assert machine.start("env") == 1
    assert machine.stamp == before
    machine.failures = [("-e .[", boot.DISK)]
    assert machine.start("env") == 1
    assert not machine.is_finished()


def test_a_failed_compilation_is_told_and_does_not_matter(machine, capsys):
    machine.failures = [("doctor", "no compiler")]
    assert machine.start("env") == 0
    assert "going on" in capsys.readouterr().out
    machine.start("env")
    assert machine.commands == []


# ---- what is not ours ----------------------------------------------------------------------------------------------


def everything(folder):
    return {path.relative_to(folder): os.readlink(path) if path.is_symlink() else path.is_file() and path.read_bytes()
            for path in sorted(folder.rglob("*"))}  # fmt: skip


def another_s(machine):
    """A finished environment that bootstrap.py made for another folder."""
    root = machine.root.with_name("another")
    (root / ".venv").mkdir(parents=True)
    (root / ".venv" / "keep.txt").write_text("mine")
    stamp = dict(root=str(root), pyproject="", extras=[], torch="", packages=["pip"])
    boot.write_stamp(root / ".venv", stamp)
    python = boot.venv_python(root / ".venv")
    python.parent.mkdir()
    python.touch()
    return root / ".venv"


THEIRS = {
    "a folder": lambda machine: [machine.venv.mkdir(), (machine.venv / "precious").write_text("mine")],
    "an environment of another tool": lambda machine: [machine.venv.mkdir(), (machine.venv / "pyvenv.cfg").write_text("uv")],
    "a file": lambda machine: machine.venv.write_text("mine"),
    "a link to another project's": lambda machine: machine.venv.symlink_to(another_s(machine)),
    "a link to a folder": lambda machine: machine.venv.symlink_to(another_s(machine).parent),
    "a link to an empty folder": lambda machine: [(machine.root / "empty").mkdir(), machine.venv.symlink_to("empty")],
    "a link that leads nowhere": lambda machine: machine.venv.symlink_to("nowhere"),
    "a link to itself": lambda machine: machine.venv.symlink_to(".venv"),
}


@pytest.mark.parametrize("kind", THEIRS)
def test_a_venv_made_by_somebody_else_is_refused_and_left_alone(machine, capsys, kind):
    THEIRS[kind](machine)
    before = everything(machine.root.parent)
    for _ in range(2):
        assert machine.start("env") == 1
        assert everything(machine.root.parent) == before and machine.commands == []
    what = "a link to" if kind.startswith("a link") else "not an environment that bootstrap.py made"
    assert f"{machine.venv} is {what}" in capsys.readouterr().out


def test_a_link_to_a_finished_environment_of_this_very_folder_is_used_and_never_changed(machine, capsys):
    """As where it was moved to a larger disk."""
    machine.start("env")
    larger = machine.root.with_name("larger disk")
    machine.venv.rename(larger)
    machine.venv.symlink_to(larger)
    assert machine.start("lab") == 7 and machine.commands == []
    (machine.root / "pyproject.toml").write_text(PYPROJECT + "# changed\n")
    before = everything(larger)
    assert machine.start("lab") == 1 and everything(larger) == before
    assert f"is a link to {larger}" in capsys.readouterr().out


def test_an_empty_folder_is_nobody_s(machine):
    machine.venv.mkdir()
    assert machine.start("env") == 0 and machine.is_finished()


def test_making_anew_follows_no_link(machine):
    machine.failures = [("torch", "It broke.")]
    assert machine.start("env") == 1
    machine.failures = []
    outside = another_s(machine)
    (machine.venv / "lib64").symlink_to(outside, target_is_directory=True)
    (machine.venv / "one").symlink_to(outside / "keep.txt")
    before = everything(outside)
    assert machine.start("env") == 0 and made_anew(machine)
    assert everything(outside) == before and not (machine.venv / "lib64").exists()


def test_a_copy_of_the_reader_s_that_is_a_link_to_nowhere_is_told(machine, capsys):
    (machine.root / "notebooks").mkdir()
    (machine.root / "notebooks" / "00_start_here.ipynb").write_text("{}")
    (machine.root / boot.MINE).symlink_to("nowhere")
    assert machine.start("lab") == 1 and machine.handed_over is None
    assert boot.MINE in capsys.readouterr().out


# ---- what went wrong, in a sentence --------------------------------------------------------------------------------


SAID = {
    ENOSPC: "The disk is full", "OSError: [Errno 122] Disk quota exceeded": "The disk is full",
    "[WinError 112] There is not enough space on the disk": "The disk is full",
    REFUSED: "could not be reached", "socket.gaierror: [Errno 11001] getaddrinfo failed": "could not be reached",
    "SSLError(SSLCertVerificationError: certificate verify failed: self signed)": "could not be reached",
    "  Caused by: dns error: failed to lookup address information": "could not be reached",
    "HTTPSConnectionPool(host='x', port=443): Read timed out.": "could not be reached",
    NO_BUILD: "try another Python", "Collecting pytest-timeout\nERROR: it broke": "its last lines stand above",
    "": "its last lines stand above", "No module named venv": "cannot make virtual environments",
    "Error: Command '[...]' returned non-zero: ensurepip is not available": f"install the package python3.{sys.version_info[1]}-venv",
}


@pytest.mark.parametrize("output", SAID)
def test_what_a_failed_step_printed_is_understood(tmp_path, output):
    """A real child, with letters of all kinds on both streams."""
    code = f"import sys; print('out \u00e9'); print({output!r}, file=sys.stderr); sys.exit(3)"
    with pytest.raises(boot.Trouble) as caught:
        boot.step(tmp_path, dict(os.environ, PYTHONIOENCODING="utf-8"), "title", [sys.executable, "-c", code])
    sentence, printed = caught.value.args
    assert SAID[output] in sentence and output in printed and "out \u00e9" in printed


@pytest.mark.parametrize("free, driver, needed", [(1.25e9, False, 4), (5e9, True, 8)])
def test_too_little_room_is_said_before_anything_is_downloaded(machine, monkeypatch, capsys, free, driver, needed):
    monkeypatch.setattr(boot.shutil, "disk_usage", lambda path: _usage(free))
    monkeypatch.setattr(boot, "has_nvidia_driver", lambda: driver)
    assert machine.start("env") == 1
    assert machine.commands == [] and not machine.venv.exists()
    said = capsys.readouterr().out
    assert f"{free / 1e9:.1f} GB" in said and f"{needed} GB" in said


@pytest.mark.parametrize("error, code, sign", [
    (OSError(errno.ENOSPC, "No space left on device"), 1, "disk is full"),
    (PermissionError(errno.EACCES, "Permission denied", "/x"), 1, "/x"),
    (KeyboardInterrupt(), 130, "Stopped"),
    (boot.Trouble("A sentence.", ""), 1, "A sentence."),
])
def test_every_ending_is_a_sentence_and_a_code(machine, monkeypatch, capsys, error, code, sign):
    def fail(*args):
        raise error

    monkeypatch.setattr(boot, "prepare", fail)
    assert machine.start("env") == code
    assert sign in capsys.readouterr().out
    assert machine.handed_over is None


# ---- the command line and what comes at last -----------------------------------------------------------------------


def test_help_and_a_wrong_command(machine, capsys):
    assert machine.start("--help") == 0
    assert machine.start() == 0
    assert machine.start("frobnicate") == 2
    assert machine.start("env", "extra") == 2
    assert machine.commands == []
    out = capsys.readouterr().out
    assert out.count("bootstrap.py lab  --author") == 4
    assert "'frobnicate'" in out


def test_pytest_gets_its_options_and_its_exit_code_passes_through(machine):
    assert machine.start("test", "-k", "a or b", "-x") == 7 and machine.timed
    assert machine.handed_over == [str(boot.venv_python(machine.venv)), "-m", "pytest", *boot.TWO_AT_ONCE,
                                    "-k", "a or b", "-x"]


def test_a_reader_s_copy_is_made_once_and_an_author_gets_none(machine, capsys):
    chapters, mine = machine.root / "notebooks", machine.root / boot.MINE
    chapters.mkdir()
    (chapters / "00_start_here.ipynb").write_text("first")
    assert machine.start("lab", "--author") == 7 and not mine.exists()
    assert machine.start("lab") == 7
    assert "new in it: 00_start_here.ipynb" in capsys.readouterr().out
    (mine / "00_start_here.ipynb").write_text("mine")
    (chapters / "01_more.ipynb").write_text("second")
    machine.start("lab")
    assert [(mine / name).read_text() for name in ("00_start_here.ipynb", "01_more.ipynb")] == ["mine", "second"]
    assert machine.handed_over[3] == f"--ServerApp.root_dir={mine}"


def test_a_readers_lab_shows_no_menu_of_a_teachers_and_asks_for_no_news(machine):
    machine.start("lab", environ={"PATH": "/bin", "JUPYTER_CONFIG_PATH": "/theirs"})
    assert machine.env["JUPYTER_CONFIG_PATH"] == f"{machine.root / boot.CALM}{os.pathsep}/theirs"
    machine.start("lab", "--author")
    assert "JUPYTER_CONFIG_PATH" not in machine.env
    settings = json.loads((Path(boot.__file__).parent / boot.CALM / "labconfig" / "page_config.json").read_text())
    installed = Path(sys.prefix) / "share" / "jupyter" / "labextensions"
    for name, off in settings["disabledExtensions"].items():  # a name that JupyterLab does not know would do nothing
        core = Path(sys.prefix) / "share" / "jupyter" / "lab" / "static" / "package.json"
        assert off and ((installed / name).is_dir() or name.partition(":")[0] in json.loads(core.read_text())["dependencies"])


def test_the_lab_opens_on_the_first_notebook_if_it_is_there(tmp_path):
    python = Path("python")
    assert "--LabApp.default_url=/lab" in boot.final_command("lab", [], tmp_path, python)
    for folder in ("notebooks", "my_notebooks"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "00_start_here.ipynb").touch()
    command = boot.final_command("lab", ["--no-browser"], tmp_path, python, superuser=False)
    assert command == ["python", "-m", "jupyterlab", f"--ServerApp.root_dir={tmp_path / 'my_notebooks'}",
                       "--LabApp.default_url=/lab/tree/00_start_here.ipynb", *boot.READER, "--no-browser"]
    author = boot.final_command("lab", ["--author", "--no-browser"], tmp_path, python)
    assert author == ["python", "-m", "jupyterlab", f"--ServerApp.root_dir={tmp_path}",
                      "--LabApp.default_url=/lab/tree/notebooks/00_start_here.ipynb", *boot.AUTHOR, "--no-browser"]
    assert "--allow-root" in boot.final_command("lab", [], tmp_path, python, superuser=True)


def test_the_interpreter_inside_on_each_system():
    assert boot.venv_python(Path("v"), windows=True) == Path("v", "Scripts", "python.exe")
    assert boot.venv_python(Path("v"), windows=False) == Path("v", "bin", "python")


def test_children_see_this_environment_first_and_no_packages_from_elsewhere():
    environ = {"PATH": "/bin", "PYTHONPATH": "/ros", "PYTHONHOME": "/x", "HOME": "/h"}
    env = boot.child_env(environ, Path("a b"), windows=False)
    assert env["PATH"] == str(Path("a b", "bin")) + os.pathsep + "/bin"
    assert "PYTHONPATH" not in env
    assert "PYTHONHOME" not in env
    assert env["HOME"] == "/h"
    assert environ["PYTHONPATH"] == "/ros"


def _in_a_child(code, **kwargs):
    """Run code in a fresh Python that has bootstrap.py imported as boot."""
    head = (f"import argparse, importlib.util, os, sys\nfrom pathlib import Path\n"
            f"spec = importlib.util.spec_from_file_location('boot', {str(FILE)!r})\n"
            "boot = importlib.util.module_from_spec(spec)\nspec.loader.exec_module(boot)\n")
    return subprocess.Popen([sys.executable, "-c", head + code], stdout=subprocess.PIPE, text=True, **kwargs)


@pytest.mark.parametrize("timed", [False, True])
def test_a_real_child_takes_over_with_its_exit_code_and_folder(tmp_path, timed):
    folder = tmp_path / "with space"
    folder.mkdir()
    child = "import os; print(os.getcwd(), flush=True); raise SystemExit(9)"
    code = f"sys.exit(boot.hand_over([sys.executable, '-c', {child!r}], Path({str(folder)!r}), dict(os.environ), {timed}))"
    with _in_a_child(code) as process:
        out = process.communicate(timeout=60)[0].splitlines()
    assert process.returncode == 9
    assert Path(out[0]).resolve() == folder.resolve()
    assert (re.fullmatch(r"That took \d+ seconds\.", out[1]) is not None) if timed else len(out) == 1


@pytest.mark.skipif(os.name == "nt", reason="sends POSIX signals")
@pytest.mark.parametrize("sent, code", [(signal.SIGINT, 5), (signal.SIGTERM, 128 + signal.SIGTERM)])
@pytest.mark.parametrize("timed", [False, True])
def test_a_signal_reaches_what_runs_at_last(tmp_path, sent, code, timed):
    """Ctrl-C in a terminal goes to all; what a service manager sends goes to the first process only."""
    child = ("import time\ntry:\n    print('begun', flush=True)\n    time.sleep(60)\n"
             "except KeyboardInterrupt:\n    time.sleep(0.3)\n    raise SystemExit(5)")
    start = ("import signal\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n"
             f"sys.exit(boot.hand_over([sys.executable, '-c', {child!r}], Path({str(tmp_path)!r}), dict(os.environ), {timed}))")
    with _in_a_child(start, start_new_session=True) as process:
        assert process.stdout.readline() == "begun\n"
        (os.killpg if sent == signal.SIGINT else os.kill)(process.pid, sent)
        process.communicate(timeout=30)
    assert process.returncode == (code if timed or sent == signal.SIGINT else -sent)


# ---- the parts that touch the system -------------------------------------------------------------------------------


@pytest.mark.skipif(os.name == "nt", reason="sends a POSIX signal to a process group")
def test_ctrl_c_lets_a_step_tidy_up(tmp_path):
    child = (f"import time, pathlib\ntry:\n    pathlib.Path({str(tmp_path / 'begun')!r}).touch()\n    time.sleep(60)\n"
             f"except KeyboardInterrupt:\n    time.sleep(0.5)\n    pathlib.Path({str(tmp_path / 'tidied')!r}).touch()")
    code = ("import signal\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n"
            f"boot.step(Path({str(tmp_path)!r}), dict(os.environ), 'title', [sys.executable, '-c', {child!r}])")
    with _in_a_child(code, start_new_session=True, stderr=subprocess.DEVNULL) as process:
        within(lambda: (tmp_path / "begun").exists())
        os.killpg(process.pid, signal.SIGINT)
        process.wait(timeout=30)
    assert process.returncode != 0
    within(lambda: (tmp_path / "tidied").exists())


def within(holds, seconds=30):
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.02)


@pytest.mark.skipif(os.name == "nt", reason="on Windows a killed process leaves its children another way")
def test_one_at_a_time_and_a_dead_holder_holds_nothing_once_its_step_has_ended(tmp_path):
    file = tmp_path / "pyproject.toml"
    file.write_text(PYPROJECT)
    begun, end = tmp_path / "begun", tmp_path / "end"
    child = (f"import pathlib, time\npathlib.Path({str(begun)!r}).touch()\n"
             f"while not pathlib.Path({str(end)!r}).exists(): time.sleep(0.02)")
    code = (f"file = open({str(file)!r}, 'rb+')\nboot.try_lock(file)\n"
            f"boot.step(Path({str(tmp_path)!r}), dict(os.environ), 'title', [sys.executable, '-c', {child!r}])")
    with _in_a_child(code) as holder, file.open("rb+") as mine:
        within(begun.exists)
        assert not boot.try_lock(mine)
        assert file.read_text() == PYPROJECT  # a locked file can still be read
        holder.kill()
        holder.wait()
        assert not boot.try_lock(mine)  # pip is at work yet
        end.touch()
        within(lambda: boot.try_lock(mine))


def test_the_second_waits_says_so_and_then_goes_on(machine, monkeypatch, capsys):
    holder = (machine.root / "pyproject.toml").open("rb+")
    assert boot.try_lock(holder)
    monkeypatch.setattr(boot.time, "sleep", lambda seconds: holder.close())
    assert machine.start("env") == 0
    assert capsys.readouterr().out.count("Another bootstrap.py") == 1


def test_packages_of_a_real_environment_and_of_none(tmp_path, monkeypatch):
    assert boot.packages_in(tmp_path) == []
    monkeypatch.setattr(boot, "venv_python", lambda venv: Path(sys.executable))
    assert {"pytest", "lrnnlab"} <= set(boot.packages_in(tmp_path))
    monkeypatch.setattr(boot.subprocess, "check_output", lambda *args, **kwargs: b"nonsense")
    assert boot.packages_in(tmp_path) == []


def test_a_real_environment_is_made_in_the_place_of_a_half_one(tmp_path):
    """By this Python's own venv and ensurepip; pip then has no index to ask, and that is what is said."""
    for name in ("bootstrap.py", "pyproject.toml"):
        shutil.copy(REPOSITORY / name, tmp_path)
    (tmp_path / ".venv").mkdir()
    boot.write_stamp(tmp_path / ".venv", {"root": str(tmp_path.resolve())})
    (tmp_path / ".venv" / "half").touch()
    environ = {name: value for name, value in os.environ.items() if not name.startswith(("PIP_", "UV_"))}
    environ.update(PIP_CONFIG_FILE=os.devnull, PIP_INDEX_URL="http://127.0.0.1:9/simple", PIP_RETRIES="1")
    code = f"boot.has_nvidia_driver = lambda: True\nsys.exit(boot.main(['env'], Path({str(tmp_path.resolve())!r})))"
    with _in_a_child(f"boot.shutil.disk_usage = lambda path: argparse.Namespace(free=9e9)\n{code}", env=environ) as process:
        said = process.communicate(timeout=300)[0]
    assert process.returncode == 1 and boot.NETWORK in said, said
    assert boot.venv_python(tmp_path / ".venv").exists() and not (tmp_path / ".venv" / "half").exists()
