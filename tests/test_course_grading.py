"""Grading under abuse: the fence holds, nothing stops the batch, and every mark is earned."""

import csv
import os
import sys
from pathlib import Path

import nbformat
import pytest

from lrnnlab.cli import main as lrnnlab_main
from lrnnlab.course.attacks import KINDS
from lrnnlab.course.command import main
from lrnnlab.course.feedback import page
from lrnnlab.course.grading import Part, Report
from lrnnlab.course.judging import NOT_YET, Verdict
from lrnnlab.course.kinds import Scene
from lrnnlab.course.marking import assignment_of, grade_folder
from lrnnlab.course.planted import Handout, plants
from lrnnlab.course.rehearsal import rehearse, write
from lrnnlab.course.sandbox import FENCES, Limits, guard, landlock
from lrnnlab.course.server import Gone, Server
from lrnnlab.course.sets import find
from lrnnlab.course.validating import MIND, STOPS, validate
from lrnnlab.course.wire import Closed

ROOT = Path(__file__).parents[1]
QUICK = Limits(seconds=1, wall=15, memory=300 << 20)

pytestmark = pytest.mark.skipif(os.name != "posix", reason="grading forks: Linux and macOS")
pytest.importorskip("nbgrader", reason="a release needs nbgrader: pip install -e '.[course]'")


@pytest.fixture(scope="module")
def handout():
    return Handout.of("ps1", ROOT)


@pytest.fixture(scope="module")
def server():
    with Server(QUICK) as server:
        yield server


@pytest.fixture(scope="module")
def second_server():
    with Server(QUICK) as server:
        yield server


@pytest.fixture
def pupil(server):
    pupil = server.pupil()
    yield pupil
    pupil.close()


def run(pupil, cell):
    return pupil.ask({"cell": cell, "number": 1})


# --- the fence -------------------------------------------------------------------------------------------------------

SECRET = "a secret that no student may read"
TOUCH = {  # Python that must not reach a file outside, by the layer it goes round
    "reads": "open({path!r}).read()",
    "reads through os": "import os; os.read(os.open({path!r}, os.O_RDONLY), 99)",
    "reads through pathlib": "import pathlib; pathlib.Path({path!r}).read_bytes()",
    "reads through a link": "import os; os.symlink({path!r}, 'link'); open('link').read()",
    "reads from a relative path": "import os; open(os.path.relpath({path!r})).read()",
    "reads through numpy": "import numpy; numpy.fromfile({path!r}, 'u1')[0]",
    "lists": "import os; os.listdir(os.path.dirname({path!r}))",
    "writes": "open({path!r}, 'w').write('mine')",
    "appends": "open({path!r}, 'a').write('mine')",
    "makes a neighbour": "open({path!r} + '.new', 'x').write('mine')",
    "removes": "import os; os.remove({path!r})",
    "renames": "import os; os.rename({path!r}, 'mine')",
    "changes its mode": "import os; os.chmod({path!r}, 0o777)",
    "through a program": "import subprocess; subprocess.run(['cat', {path!r}], check=True)",
    "through a shell": "import os; assert os.system('cat ' + {path!r}) == 0",
    "imports it": "import sys; sys.path.insert(0, {folder!r}); import secret_module",
}


@pytest.mark.parametrize("fences", [FENCES, ("limits", "hook"), ("limits", "landlock")], ids="+".join)
def test_nothing_outside_can_be_read_or_written(server, tmp_path, fences):
    if "landlock" in fences and not landlock():
        if "hook" in fences:
            fences = ("limits", "hook")
        else:
            pytest.skip("this kernel has no Landlock")
    path = tmp_path / "secret.txt"
    path.write_text(SECRET)
    path.chmod(0o644)
    (tmp_path / "secret_module.py").write_text("x = 1")
    pupil = server.pupil(fences)
    assert pupil.fences == fences
    for way, cell in TOUCH.items():
        if way == "changes its mode" and "hook" not in fences:
            continue  # Landlock does not speak of modes: the documentation says so
        reply = run(pupil, cell.format(path=str(path), folder=str(tmp_path)))
        assert "error" in reply, way
        assert SECRET not in str(reply), way
    assert "error" not in run(pupil, "open('a.txt', 'w').write('a')\nassert open('a.txt').read() == 'a'")
    pupil.close()
    assert path.read_text() == SECRET
    assert path.stat().st_mode & 0o777 == 0o644
    assert sorted(one.name for one in tmp_path.iterdir()) == ["secret.txt", "secret_module.py"]


def test_without_a_fence_the_secret_is_read(server, tmp_path):
    """So the tests above can fail."""
    path = tmp_path / "secret.txt"
    path.write_text(SECRET)
    pupil = server.pupil(("limits",))
    reply = run(pupil, f"print(open({str(path)!r}).read())")
    pupil.close()
    assert reply == {"printed": SECRET + "\n"}


@pytest.mark.skipif(not landlock(), reason="this kernel has no Landlock")
def test_native_code_does_not_get_round_landlock(server, tmp_path):
    path = tmp_path / "secret.txt"
    path.write_text(SECRET)
    cell = f"import ctypes\nlibc = ctypes.CDLL(None)\nassert libc.open({str(path).encode()!r}, 0) >= 0"
    pupil = server.pupil(("limits", "landlock"))
    assert run(pupil, cell)["kind"] == "AssertionError"
    assert "error" in run(pupil, f"import os; os.kill({os.getpid()}, 0)") or landlock() < 6
    pupil.close()


def test_the_course_is_not_readable_to_students(server):
    pupil = server.pupil(limits=Limits(wall=60))
    for path in (ROOT / "notebooks" / "assignments", ROOT / "notebooks", ROOT / "tests", ROOT / "data", ROOT):
        assert "PermissionError" in run(pupil, f"import os; os.listdir({str(path)!r})")["error"]
    assert "error" not in run(pupil, "import lrnnlab.proofs.depth, lrnnlab.tasks, scipy.optimize")


def test_the_environment_tells_nothing(pupil, monkeypatch):
    monkeypatch.setenv("SECRET_TOKEN", "x")
    assert run(pupil, "import os; assert not {'SECRET_TOKEN', 'USER'} & set(os.environ)") == {"printed": ""}


def test_processes_do_not_share_anything_but_what_is_loaded(server):
    first, second = server.pupil(), server.pupil()
    run(first, "import numpy; numpy.pi = 3; left = 1; open('note', 'w').write('x')")
    assert run(second, "import numpy, os; assert numpy.pi > 3.1 and not os.path.exists('note')") == {"printed": ""}
    assert run(second, "left")["kind"] == "NameError"
    first.close(), second.close()


def test_the_same_numbers_every_time(server):
    cell = "import random, torch, numpy\nprint(random.random(), torch.rand(1), numpy.random.rand(), hash('a'))"
    seen = set()
    for _ in range(2):
        pupil = server.pupil()
        seen.add(run(pupil, cell)["printed"])
        pupil.close()
    assert len(seen) == 1


def test_scans_run_in_a_student_s_process(pupil):
    """Compiled kernels and a backward pass survive the fork."""
    cell = ("import torch\nfrom lrnnlab.scans import linear_scan\n"
            "a = torch.full((1, 50, 3), 0.5, requires_grad=True)\n"
            "linear_scan(a, torch.ones(1, 50, 3)).sum().backward()\nprint(a.grad.shape)")  # fmt: skip
    assert run(pupil, cell) == {"printed": "torch.Size([1, 50, 3])\n"}


@pytest.mark.parametrize("cell, why", [
    ("while True: pass", "used more than 1 seconds of computing time"),
    ("import os; os._exit(3)", "ended the whole process .exit status 3"),
    ("import ctypes; ctypes.string_at(0)", "crashed"),
])  # fmt: skip
def test_why_a_process_ended(server, cell, why):
    pupil = server.pupil()
    with pytest.raises(Gone, match=why):
        run(pupil, cell)


def test_memory_is_limited_and_the_process_goes_on(pupil):
    assert run(pupil, "kept = []\nwhile True: kept.append(bytearray(10**7))")["kind"] == "MemoryError"
    assert run(pupil, "del kept; x = 1") == {"printed": ""}


def test_files_are_limited(pupil):
    assert "error" in run(pupil, "with open('big', 'wb') as f:\n    f.write(bytes(10**7))\n    f.flush()")


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="orphans are found on Linux")
def test_no_stray_process_survives(server):
    pupil = server.pupil(("limits",))  # without the hook, a fork succeeds
    cell = "import os, time\nchild = os.fork()\nif not child:\n    os.setsid()\n    time.sleep(600)\nprint(child)"
    stray = int(run(pupil, cell)["printed"])
    os.kill(stray, 0)
    pupil.close()
    with pytest.raises(ProcessLookupError):
        os.kill(stray, 0)


def test_the_hook_alone_says_what_it_refuses():
    hook = guard("/tmp/mine", ("/usr",))
    hook("open", ("/tmp/mine/x", "w", os.O_WRONLY))
    hook("open", (3, "r", 0))
    for event, arguments in (("open", ("/usr/x", "w", os.O_WRONLY)), ("open", ("/tmp/minefield", "r", 0)),
                             ("open", ("/tmp/mine/../x", "r", 0)), ("os.remove", ("/usr/x", -1)),
                             ("os.system", (b"ls",)),
                             ("os.rename", ("/tmp/mine/a", "/usr/b", -1, -1)), ("os.listdir", ("/",))):  # fmt: skip
        with pytest.raises(PermissionError, match="the grader does not allow"):
            hook(event, arguments)


def test_windows_is_told_at_once(monkeypatch):
    monkeypatch.setattr("lrnnlab.course.server.os.name", "nt")
    with pytest.raises(ValueError, match="needs Linux or macOS"):
        Server()


def test_sleeping_is_no_way_to_stop_the_batch(server):
    pupil = server.pupil(limits=Limits(wall=0.5))
    with pytest.raises(Gone, match="took more than 0.5 seconds"):
        run(pupil, "import time; time.sleep(99)")


# --- a folder --------------------------------------------------------------------------------------------------------


def test_one_of_each_kind_gets_what_it_earned(server, second_server):
    """The whole rehearsal, 200 of them: python -m lrnnlab course rehearse."""
    assert rehearse("ps1", len(KINDS), servers=[server, second_server], root=ROOT) == []


def test_the_rehearsal_notices_a_wrong_mark(server):
    from lrnnlab.course import kinds

    def lucky(scene):
        return scene.handout.released, 1

    assert rehearse("ps1", 2, servers=[server], kinds=[kinds.right, lucky], root=ROOT) == [
        "001_lucky: 0 points, and should have 1"]  # fmt: skip


def test_marks_and_feedback_are_the_same_on_every_run(tmp_path, handout, server, second_server):
    folder = tmp_path / "submitted"
    folder.mkdir()
    for number, kind in enumerate(KINDS[:8]):
        write(kind, Scene(handout, plants("ps1", ROOT), number, Path("/x"), Path("/y"), Path("/z")), folder)
    texts = []
    for servers in ([server], [server, second_server]):
        out = tmp_path / f"marks{len(servers)}"
        grade_folder(folder, find("ps1", ROOT), out, servers=servers)
        texts.append({path.name: path.read_text() for path in sorted(out.rglob("*.*"))})
    assert texts[0] == texts[1]
    assert len(texts[0]) == 9


def test_the_command_grades(tmp_path, handout, capsys, monkeypatch):
    folder = tmp_path / "submitted"
    folder.mkdir()
    nbformat.write(handout.notebook(), folder / "=ada.ipynb")
    nbformat.write(handout.notebook(ps1_2="def collision(M, n): return 1 / 0"), folder / "bob.ipynb")
    assert assignment_of(folder) == "ps1"
    monkeypatch.chdir(ROOT)
    assert main(["grade", str(folder), "--jobs", "1"]) == 0
    rows = list(csv.DictReader((tmp_path / "submitted-marks" / "marks.csv").open()))
    assert [(row["student"], row["points"], row["ps1.2"], row["problem"]) for row in rows] == [
        ("'=ada", "16", "3", ""), ("bob", "13", "0", "")]  # fmt: skip
    feedback = (tmp_path / "submitted-marks" / "feedback" / "bob.html").read_text()
    assert "collision(5, 2) raised ZeroDivisionError: division by zero (cell 8, line 1)" in feedback
    assert "2 graded in" in capsys.readouterr().out


def test_wrong_calls_are_one_line(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(ROOT)
    for call in (["grade", str(tmp_path / "none")], ["grade", str(tmp_path)], ["grade", str(tmp_path), "--set", "ps9"]):
        assert main(call) == 2
        assert len(capsys.readouterr().err.splitlines()) == 1


def test_a_server_that_ended_is_started_again(tmp_path, handout, second_server):
    folder = tmp_path / "submitted"
    folder.mkdir()
    for name in ("ada", "bob"):
        nbformat.write(handout.notebook(), folder / f"{name}.ipynb")
    second_server._process.kill()
    second_server._process.wait()
    with pytest.raises(Closed):
        second_server.pupil()
    reports = grade_folder(folder, find("ps1", ROOT), tmp_path / "marks", servers=[second_server])
    assert [report.points for report in reports] == [handout.points()] * 2


def test_marks_do_not_go_among_the_submissions(tmp_path):
    (tmp_path / "ada.ipynb").write_text("{}")
    with pytest.raises(ValueError, match="marks do not belong among the submissions"):
        grade_folder(tmp_path, find("ps1", ROOT), tmp_path / "marks")


def test_feedback_is_safe_to_open(handout):
    verdict = Verdict(NOT_YET, "<script>alert(1)</script>")
    parts = tuple(Part(id, 0, points, verdict) for task in handout.problem_set.tasks for id, _, points in task.tests)
    text = page(Report("<img src=x onerror=alert(1)>", parts, ("<b>note</b>",), "<i>problem</i>"), handout.problem_set)
    assert "<script" not in text
    assert "<img" not in text
    assert "<b>" not in text
    assert "<i>" not in text
    assert f"0 of {handout.problem_set.points} points" in text


# --- before hand-in --------------------------------------------------------------------------------------------------


def test_a_good_notebook_has_nothing_to_say(tmp_path, handout, server):
    path = tmp_path / "ps1.ipynb"
    nbformat.write(handout.notebook(), path)
    assert validate(path, server) == []


def test_a_validator_says_what_a_grader_would_choke_on(tmp_path, handout, server):
    notebook = handout.notebook(
        ps1_1=handout.answers["ps1.1"].replace("def state_after", "def state_afther"),
        ps1_2="def collision(M, n): return input()",
        ps1_3=None,
        ps1_4="def killer_words(n:\n    return",
    )
    notebook.cells.insert(0, nbformat.v4.new_code_cell("!pip install x\nimport sys\nsys.exit()"))
    notebook.cells.insert(0, nbformat.v4.new_code_cell("%%bash\nls"))
    notebook.cells.append(nbformat.v4.new_code_cell("while True: pass"))
    marks = [cell.metadata.get("nbgrader", {}).get("grade_id") for cell in notebook.cells]
    notebook.cells.append(notebook.cells[marks.index("ps1_5")].copy())
    notebook.cells[-1]["id"] = "a-copy"
    notebook.metadata["jupytext"] = {"formats": "ipynb,py"}
    path = tmp_path / "mine.json"
    nbformat.write(notebook, path)
    found = [str(one) for one in validate(path, server)]
    for part in (
        f"{MIND}: the file is called mine.json", f"{MIND}: the notebook is paired", f"{MIND}: turns is defined 2 times",
        f"{MIND}: the cell 'ps1_5' is there 2 times", f"{STOPS}: cell 1: the whole cell, which begins with \"%%bash\"",
        f"{MIND}: cell 2: line 1, \"!pip install x\"",
        f"{MIND}: cell 2 may end the whole process: leave sys.exit() out",
        "calls input(): nobody is there to answer", "is not Python:", "there is 'state_afther': was it renamed?",
        "(ps1_3_seen) says: not attempted",
        "there is no function 'killer_words' when all cells have run",
        "failed when the notebook was run from top to bottom: used more than 1 seconds",
    ):  # fmt: skip
        assert any(part in line for line in found), (part, found)


@pytest.mark.parametrize("text, says", [
    ("", "is empty"), ("x", "not a notebook"), ('{"cells": []}', "no notebook of a problem set"),
])  # fmt: skip
def test_a_validator_of_what_is_no_submission(tmp_path, text, says, capsys):
    path = tmp_path / "ps1.ipynb"
    path.write_text(text)
    assert lrnnlab_main(["course", "validate", str(path)]) == 1
    assert says in capsys.readouterr().out
