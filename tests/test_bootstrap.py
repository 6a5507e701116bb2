"""bootstrap.py, without a network: what it decides is tested directly, what it would run is recorded by a fake."""

import ast
import errno
import importlib.util
import io
import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from packaging.specifiers import SpecifierSet

try:
    import tomllib
except ModuleNotFoundError:  # Python 3.10, where pytest brings tomli along
    import tomli as tomllib

REPOSITORY = Path(__file__).resolve().parents[1]
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
        self.commands, self.failures, self.environments = [], [], []
        self.packages, self.damaged = ["lrnnlab", "numpy", "torch"], []
        self.handed_over = None

    def run(self, command, cwd, env, log, lock):
        self.commands.append(command)
        self.environments.append(env)
        assert Path(cwd) == self.root
        os.fstat(lock)  # held while a step runs
        for sign, output in self.failures:
            if sign in " ".join(command):
                log.write(output)
                return 1, output
        if command[-2:-1] == ["venv"]:
            python = boot.venv_python(Path(command[-1]))
            python.parent.mkdir(parents=True)
            python.touch()
        return 0, ""

    def probe(self, venv):
        if not boot.venv_python(venv).exists():
            return None
        return {"python": "3.11", "packages": list(self.packages), "damaged": list(self.damaged),
                "package": str(self.root / "lrnnlab" / "__init__.py")}

    def hand_over(self, command, root, env):
        self.handed_over, self.env = command, env
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


@pytest.fixture
def machine(tmp_path, monkeypatch):
    root = tmp_path / "a folder with spaces"
    root.mkdir()
    (root / "pyproject.toml").write_text(PYPROJECT)
    fake = Machine(root)
    for name in ("run", "probe", "hand_over"):
        monkeypatch.setattr(boot, name, getattr(fake, name))
    monkeypatch.setattr(boot, "has_nvidia_driver", lambda system: False)
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
    assert {name.split(".")[0] for name in names} <= sys.stdlib_module_names


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


def tools(attempts):
    return [(attempt.tool, attempt.requirement) for attempt in attempts]


def test_torch_on_linux_without_a_driver_is_the_cpu_build_if_there_is_any():
    attempts = boot.choose_torch("Linux", False, "torch>=2.4")
    assert tools(attempts) == [("pip", boot.CPU_TORCH), ("uv", "torch>=2.4"), ("pip", "torch>=2.4")]
    assert [attempt.gigabytes for attempt in attempts] == [boot.CPU_GB, boot.CPU_GB, boot.CUDA_GB]
    assert "no CPU build could be found" in attempts[-1].why


def test_torch_on_linux_with_a_driver_is_the_cuda_build():
    attempts = boot.choose_torch("Linux", True, "torch>=2.4")
    assert tools(attempts) == [("pip", "torch>=2.4")]
    assert attempts[0].gigabytes == boot.CUDA_GB


@pytest.mark.parametrize("system", ["Darwin", "Windows"])
@pytest.mark.parametrize("has_driver", [False, True])
def test_torch_elsewhere_is_what_the_index_has(system, has_driver):
    attempts = boot.choose_torch(system, has_driver, "torch>=2.4")
    assert tools(attempts) == [("pip", "torch>=2.4")]
    assert attempts[0].gigabytes == boot.CPU_GB


@pytest.mark.parametrize("system", ["Linux", "Darwin", "Windows"])
def test_the_reader_s_own_choice_of_torch_is_the_only_attempt(system):
    assert tools(boot.choose_torch(system, True, "torch>=2.4", "torch==2.9.0")) == [("pip", "torch==2.9.0")]


def test_a_torch_that_is_there_already_is_kept_if_it_will_do():
    attempts = boot.choose_torch("Linux", False, "torch>=2.4", installed=True)
    assert tools(attempts)[0] == ("keep", "torch>=2.4")
    assert len(attempts) == 4
    assert "--no-index" in boot.torch_command(attempts[0], Path("python"))[0]


def test_uv_is_installed_before_it_is_asked_and_is_told_the_interpreter():
    first, second = boot.torch_command(boot.choose_torch("Linux", False, "torch>=2.4")[1], Path("/a b/python"))
    assert first[-2:] == ["install", "uv"]
    assert second[-5:] == ["--python", str(Path("/a b/python")), "--torch-backend", "cpu", "torch>=2.4"]


def test_the_attempts_follow_each_other_until_one_succeeds(machine, capsys):
    machine.failures = [(boot.CPU_TORCH, NO_BUILD), ("--torch-backend", "error: dns error: failed to lookup\n")]
    assert machine.start("env") == 0
    torch = [line.rpartition(" install ")[2] for line in machine.lines if "torch" in line]
    assert torch == [boot.CPU_TORCH, f"--python {boot.venv_python(machine.venv)} --torch-backend cpu torch>=2.4",
                     "torch>=2.4"]
    assert "several GB" in capsys.readouterr().out


def test_a_dead_network_ends_the_attempts(machine, capsys):
    machine.failures = [(boot.CPU_TORCH, REFUSED)]
    assert machine.start("env") == 1
    assert "--torch-backend" not in " ".join(machine.lines)
    assert "could not be reached" in capsys.readouterr().out


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
        assert boot.has_nvidia_driver("Linux") is (name == "gpu"), name


# ---- the first start, the second, and the repairs ------------------------------------------------------------------


def test_the_first_start_makes_everything_in_order_and_hands_over(machine):
    assert machine.start("lab", "--no-browser", "--port", "8899") == 7
    assert [re.sub(r"^.*?-m ", "", line) for line in machine.lines] == [
        f"venv {machine.venv}", "pip install pip>=23.1", f"pip install {boot.CPU_TORCH}", "pip install -e .[lab]",
        "lrnnlab doctor --warm"]
    assert machine.stamp["extras"] == ["lab"]
    assert machine.stamp["packages"] == machine.packages
    assert machine.handed_over[-3:] == ["--no-browser", "--port", "8899"]


def test_the_second_start_runs_nothing_but_what_was_asked_for(machine):
    machine.start("env")
    assert machine.start("lab") == 7
    assert machine.commands == []


def test_another_extra_is_added_to_what_is_there(machine):
    machine.start("lab")
    machine.start("test")
    assert not any(" venv " in line for line in machine.lines)
    assert machine.lines[-2].endswith("-e .[lab,test]")
    machine.start("lab")
    assert machine.commands == []
    assert machine.stamp["extras"] == ["lab", "test"]


def test_a_half_made_environment_is_made_anew(machine, capsys):
    machine.start("env")
    (machine.venv / boot.STAMP).unlink()
    (machine.venv / "half-copied").mkdir()
    assert machine.start("env") == 0
    assert " -m venv " in machine.lines[0]
    assert not (machine.venv / "half-copied").exists()
    assert "interrupted" in capsys.readouterr().out


@pytest.mark.parametrize("content", ["", "{", "[]", '"x"', "{}"])
def test_a_damaged_stamp_is_no_stamp(machine, content):
    machine.start("env")
    (machine.venv / boot.STAMP).write_text(content)
    machine.start("env")
    assert " -m venv " in machine.lines[0]
    assert machine.stamp["extras"] == ["lab", "test"]


def test_a_changed_pyproject_updates_in_place(machine, capsys):
    machine.start("env")
    (machine.root / "pyproject.toml").write_text(PYPROJECT + "# changed\n")
    machine.start("env")
    assert not any(" venv " in line for line in machine.lines)
    assert machine.lines[0].endswith("--no-index torch>=2.4")
    assert machine.lines[1].endswith("-e .[lab,test]")
    assert "pyproject.toml has changed" in capsys.readouterr().out
    machine.start("env")
    assert machine.commands == []


def test_a_broken_interpreter_means_a_new_environment(machine, capsys):
    machine.start("env")
    boot.venv_python(machine.venv).unlink()
    machine.start("env")
    assert " -m venv " in machine.lines[0]
    assert "does not run" in capsys.readouterr().out


def test_a_moved_folder_means_a_new_environment(machine, capsys):
    machine.start("env")
    moved = machine.root.with_name("elsewhere")
    machine.root.rename(moved)
    machine.root, machine.venv = moved, moved / ".venv"
    machine.start("env")
    assert " -m venv " in machine.lines[0]
    assert "moved" in capsys.readouterr().out
    assert machine.stamp["root"] == str(moved)


def test_a_missing_package_is_brought_back_and_a_damaged_one_is_not_trusted(machine):
    machine.start("env")
    machine.packages.remove("numpy")
    machine.start("env")
    assert machine.lines[1].endswith("-e .[lab,test]")
    machine.damaged.append("torch")
    machine.start("env")
    assert " -m venv " in machine.lines[0]


def test_an_environment_that_imports_another_lrnnlab_is_updated(machine):
    machine.start("env")
    found = dict(machine.probe(machine.venv), package="/somewhere/else/lrnnlab/__init__.py")
    wanted = boot.wanted_stamp(machine.root, {"lab"}, {})
    assert boot.verdict(machine.stamp, wanted, found)[0] == "update"
    assert boot.verdict(machine.stamp, wanted, dict(found, package=None))[0] == "update"
    assert boot.verdict(machine.stamp, wanted, machine.probe(machine.venv))[0] == "ready"


def test_an_oddity_of_a_fresh_package_does_not_cause_endless_repairs(machine):
    machine.damaged.append("odd")
    machine.start("env")
    machine.start("env")
    assert machine.commands == []
    machine.damaged.append("numpy")
    machine.start("env")
    assert " -m venv " in machine.lines[0]


def test_another_python_or_other_rules_mean_a_new_environment(machine):
    machine.start("env")
    found, wanted = machine.probe(machine.venv), boot.wanted_stamp(machine.root, {"lab"}, {})
    assert boot.verdict(machine.stamp, wanted, dict(found, python="3.12"))[0] == "rebuild"
    assert boot.verdict(machine.stamp, dict(wanted, rules=-1), found)[0] == "rebuild"


def test_the_reader_s_choice_of_torch_updates_once_and_is_then_kept(machine):
    machine.start("env")
    chosen = {"LRNNLAB_TORCH": "torch==2.9.0", "PATH": ""}
    machine.start("env", environ=chosen)
    assert machine.lines[0].endswith("pip install torch==2.9.0")
    for environ in (chosen, {"PATH": ""}):
        machine.start("env", environ=environ)
        assert machine.commands == []


def test_the_stamp_is_written_last_and_not_at_all_after_a_failure(machine):
    machine.failures = [("-e .[", "ERROR: it broke\n")]
    assert machine.start("env") == 1
    assert machine.stamp is None
    machine.failures = []
    assert machine.start("env") == 0
    assert " -m venv " in machine.lines[0]


def test_a_failed_update_leaves_what_worked_but_a_full_disk_does_not(machine):
    machine.start("env")
    before = machine.stamp
    (machine.root / "pyproject.toml").write_text(PYPROJECT + "# changed\n")
    machine.failures = [("-e .[", REFUSED)]
    assert machine.start("env") == 1
    assert machine.stamp == before
    machine.failures = [("-e .[", ENOSPC)]
    assert machine.start("env") == 1
    assert machine.stamp is None


def test_a_failed_compilation_is_told_and_does_not_matter(machine, capsys):
    machine.failures = [("doctor", "no compiler\n")]
    assert machine.start("env") == 0
    out = capsys.readouterr().out
    assert "no compiler" in out
    assert "going on" in out
    machine.start("env")
    assert machine.commands == []


def test_a_venv_made_by_somebody_else_is_kept_aside(machine, capsys):
    machine.venv.mkdir()
    (machine.venv / "precious").write_text("mine")
    assert machine.start("env") == 0
    aside = list(machine.root.glob(".venv-*"))
    assert (aside[0] / "precious").read_text() == "mine"
    assert aside[0].name in capsys.readouterr().out


def test_a_missing_ensurepip_names_debian_s_package(machine, monkeypatch, capsys):
    monkeypatch.setattr(boot.importlib.util, "find_spec", lambda name: None if name == "ensurepip" else object())
    assert machine.start("env") == 1
    assert f"python3.{sys.version_info[1]}-venv" in capsys.readouterr().out


# ---- what went wrong, in a sentence --------------------------------------------------------------------------------


@pytest.mark.parametrize("output, kind", [
    (ENOSPC, boot.DISK),
    ("OSError: [Errno 122] Disk quota exceeded", boot.DISK),
    ("[WinError 112] There is not enough space on the disk", boot.DISK),
    (REFUSED, boot.NETWORK),
    ("socket.gaierror: [Errno 11001] getaddrinfo failed", boot.NETWORK),
    ("SSLError(SSLCertVerificationError: certificate verify failed: self signed)", boot.NETWORK),
    ("  Caused by: dns error: failed to lookup address information", boot.NETWORK),
    (NO_BUILD, boot.OTHER),
    ("anything else", boot.OTHER),
    ("", boot.OTHER),
])
def test_pip_s_output_is_understood(output, kind):
    assert boot.diagnose(output)[0] == kind


def test_a_package_without_a_build_is_told_apart_from_a_dead_network():
    assert "try another Python" in boot.diagnose(NO_BUILD)[1]
    assert "network" in boot.diagnose(REFUSED)[1]


def test_too_little_room_is_said_before_anything_is_downloaded(machine, monkeypatch, capsys):
    monkeypatch.setattr(boot.shutil, "disk_usage", lambda path: _usage(1.25e9))
    assert machine.start("env") == 1
    assert not any("torch" in line for line in machine.lines)
    out = capsys.readouterr().out
    assert "1.2 GB" in out
    assert "4 GB" in out


def test_the_cuda_fallback_asks_for_more_room(machine, monkeypatch, capsys):
    monkeypatch.setattr(boot.shutil, "disk_usage", lambda path: _usage(5e9))
    machine.failures = [(boot.CPU_TORCH, NO_BUILD), ("--torch-backend", "error\n")]
    assert machine.start("env") == 1
    assert not machine.lines[-1].endswith("pip install torch>=2.4")
    assert "8 GB" in capsys.readouterr().out


@pytest.mark.parametrize("error, code, sign", [
    (OSError(errno.ENOSPC, "No space left on device"), 1, "disk is full"),
    (PermissionError(errno.EACCES, "Permission denied", "/x"), 1, "/x"),
    (KeyboardInterrupt(), 130, "Stopped"),
    (boot.Trouble(boot.OTHER, "A sentence."), 1, "A sentence."),
])
def test_every_ending_is_a_sentence_and_a_code(machine, monkeypatch, capsys, error, code, sign):
    def fail(*args):
        raise error

    monkeypatch.setattr(boot, "prepare", fail)
    assert machine.start("env") == code
    assert sign in capsys.readouterr().out
    assert machine.handed_over is None


def test_the_last_lines_of_a_failed_step_and_the_place_of_the_log_are_shown(machine, capsys):
    machine.failures = [("-e .[", "".join(f"line {i}\n" for i in range(100)))]
    machine.start("env")
    out = capsys.readouterr().out
    assert "| line 99" in out
    assert "| line 80" not in out
    assert str(machine.venv / boot.LOG) in out
    assert "line 80" in (machine.venv / boot.LOG).read_text()


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
    assert machine.start("test", "-k", "a or b", "-x") == 7
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
    head = (f"import importlib.util, sys\nspec = importlib.util.spec_from_file_location('boot', {str(FILE)!r})\n"
            "boot = importlib.util.module_from_spec(spec)\nspec.loader.exec_module(boot)\n")
    return subprocess.Popen([sys.executable, "-c", head + code], stdout=subprocess.PIPE, text=True, **kwargs)


def test_a_real_child_takes_over_with_its_exit_code_and_folder(tmp_path):
    folder = tmp_path / "with space"
    folder.mkdir()
    code = ("import os, pathlib\n"
            "child = [sys.executable, '-c', 'import os; print(os.getcwd(), flush=True); raise SystemExit(9)']\n"
            f"sys.exit(boot.hand_over(child, pathlib.Path({str(folder)!r}), dict(os.environ)))")
    with _in_a_child(code) as process:
        out = process.communicate(timeout=60)[0]
    assert process.returncode == 9
    assert Path(out.strip()).resolve() == folder.resolve()


# ---- the parts that touch the system -------------------------------------------------------------------------------


def test_a_real_command_is_run_and_logged_whole(tmp_path):
    log = io.StringIO()
    code = "import sys; print('out \\u00e9'); print('err', file=sys.stderr); sys.exit(3)"
    env = dict(os.environ, PYTHONIOENCODING="utf-8")
    with (tmp_path / "lock").open("w") as lock:
        result = boot.run([sys.executable, "-c", code], tmp_path, env, log, lock.fileno())
    assert result[0] == 3
    assert sorted(result[1].split()) == sorted(["out", "\u00e9", "err"])
    assert result[1] in log.getvalue()


def test_a_log_that_cannot_be_written_ends_the_command_too(tmp_path):
    class Full(io.StringIO):
        def write(self, text):
            if "begun" in text and "$" not in text:
                raise OSError(errno.ENOSPC, "No space left on device")

    code = "import time; print('be' + 'gun', flush=True); time.sleep(60)"
    with (tmp_path / "lock").open("w") as lock, pytest.raises(OSError, match="No space"):
        boot.run([sys.executable, "-c", code], tmp_path, dict(os.environ), Full(), lock.fileno())


@pytest.mark.skipif(os.name == "nt", reason="sends a POSIX signal to a process group")
def test_ctrl_c_lets_the_child_tidy_up(tmp_path):
    child = ("import time, pathlib\ntry:\n    print('begun', flush=True)\n    time.sleep(60)\n"
             f"except KeyboardInterrupt:\n    time.sleep(0.3)\n    pathlib.Path({str(tmp_path / 'tidied')!r}).touch()")
    code = ("import io, os, pathlib, signal\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n"
            "class Log(io.StringIO):\n    def write(self, text):\n"
            "        if text == 'begun\\n':\n            print(text, flush=True)\n"
            f"with open({str(tmp_path / 'lock')!r}, 'w') as lock:\n    command = [sys.executable, '-c', {child!r}]\n"
            f"    boot.run(command, pathlib.Path({str(tmp_path)!r}), dict(os.environ), Log(), lock.fileno())")
    with _in_a_child(code, start_new_session=True, stderr=subprocess.DEVNULL) as process:
        assert process.stdout.readline() == "begun\n"
        os.killpg(process.pid, signal.SIGINT)
        process.wait(timeout=30)
    assert process.returncode != 0
    assert (tmp_path / "tidied").exists()


def test_one_at_a_time_and_a_dead_holder_holds_nothing(tmp_path):
    file = tmp_path / "pyproject.toml"
    file.write_text(PYPROJECT)
    code = (f"file = open({str(file)!r}, 'rb+')\nprint(boot.try_lock(file), flush=True)\nimport time\ntime.sleep(60)")
    with _in_a_child(code) as holder, file.open("rb+") as mine:
        try:
            assert holder.stdout.readline().strip() == "True"
            assert not boot.try_lock(mine)
            assert file.read_text() == PYPROJECT  # a locked file can still be read
        finally:
            holder.kill()
        holder.wait()
        assert boot.try_lock(mine)


def test_the_second_waits_says_so_and_then_goes_on(tmp_path, monkeypatch, capsys):
    file = (tmp_path / "pyproject.toml")
    file.write_text(PYPROJECT)
    holder = file.open("rb+")
    assert boot.try_lock(holder)
    monkeypatch.setattr(boot.time, "sleep", lambda seconds: holder.close())
    with boot.alone(tmp_path) as lock:
        assert lock > 2
    assert capsys.readouterr().out.count("Another bootstrap.py") == 1


def test_the_probe_of_a_real_environment(monkeypatch):
    monkeypatch.setattr(boot, "venv_python", lambda venv: Path(sys.executable))
    found = boot.probe(Path("anywhere"))
    assert found["python"] == "{}.{}".format(*sys.version_info)
    assert "pytest" in found["packages"]


def test_the_probe_of_an_interpreter_that_is_not_there_or_says_nonsense(tmp_path, monkeypatch):
    assert boot.probe(tmp_path) is None
    monkeypatch.setattr(boot.subprocess, "check_output", lambda *args, **kwargs: b"nonsense")
    assert boot.probe(tmp_path) is None


def test_the_probe_finds_packages_whose_files_are_gone(tmp_path):
    for name, record in (("whole", "whole.py,,\nwhole-1.dist-info/RECORD,,\n"), ("gone", "gone/__init__.py,,\n"),
                         ("halfcopied", None)):
        info = tmp_path / f"{name}-1.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1\n")
        if record:
            (info / "RECORD").write_text(record)
    (tmp_path / "whole.py").touch()
    code = f"import sys; sys.path[:] = [{str(tmp_path)!r}] + [p for p in sys.path if 'site-packages' not in p]\n"
    out = subprocess.run([sys.executable, "-I", "-c", code + boot.PROBE], capture_output=True, text=True, check=True)
    found = json.loads(out.stdout)
    assert found["damaged"] == ["gone", "halfcopied"]
    assert found["packages"] == ["gone", "halfcopied", "whole"]


def test_clearing_leaves_only_the_log_and_follows_no_link(tmp_path):
    venv, outside = tmp_path / ".venv", tmp_path / "outside"
    (venv / "lib").mkdir(parents=True)
    outside.mkdir()
    (outside / "precious").touch()
    (venv / "lib64").symlink_to(outside, target_is_directory=True)
    (venv / boot.STAMP).write_text("{}")
    boot.clear(venv)
    assert [path.name for path in venv.iterdir()] == [boot.LOG]
    assert (outside / "precious").exists()
