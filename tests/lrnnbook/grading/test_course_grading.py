"""Grading under abuse: the fence holds, nothing stops the batch, and every mark is earned."""

import csv
import time
from dataclasses import replace
from pathlib import Path

import nbformat
import pytest
from attacks import QUICK
from fenced import QUICK as LIMITS
from kinds import right
from rehearsal import left, marked, rehearse

from lrnnbook.content.exercises.judging import UNJUDGED
from lrnnbook.machinery.cli import main as lrnnlab_main
from lrnnbook.machinery.grading import fence as fences
from lrnnbook.machinery.grading import grading
from lrnnbook.machinery.grading.command import main
from lrnnbook.machinery.grading.fence import Fence
from lrnnbook.machinery.grading.gradebook import assignment_of, grade_folder, page
from lrnnbook.machinery.grading.gradebook import rehearse as rehearse_set
from lrnnbook.machinery.grading.grading import grade_all, grade_notebook
from lrnnbook.machinery.grading.releasing import release
from lrnnbook.machinery.grading.sets import find, load
from lrnnbook.machinery.grading.submissions import Cell, Notebook, Submission, read
from lrnnbook.machinery.grading.validator import MIND, STOPS, validate

ROOT = Path(__file__).parents[3]

pytest.importorskip("nbgrader", reason="a release needs nbgrader: pip install -e '.[course]'")


def hand_in(folder, name, notebook):
    folder.mkdir(exist_ok=True)
    nbformat.write(notebook, folder / f"{name}.ipynb")
    return Submission(name, folder / f"{name}.ipynb")


def with_first(notebook, cell):
    notebook.cells.insert(0, nbformat.v4.new_code_cell(cell))
    return notebook


# --- a folder --------------------------------------------------------------------------------------------------------


def test_a_third_of_the_kinds_get_what_they_earned_and_leave_nothing(fence):
    """All of them, 200 times: python tests/support/rehearsal.py."""
    chosen = [right, *QUICK[::3], right]
    assert rehearse("ps1", len(chosen), jobs=2, within=fence, kinds=chosen) == []


def test_the_rehearsal_notices_what_is_wrong():
    """Without a fence, where each of these succeeds."""

    def lucky(scene):
        return scene.handout.released, 1

    def reads(scene):
        return scene.with_last(f"exec(open({scene.places['SOURCE']!r}).read())"), 0

    def touches(scene):
        cell = f"""
import os, socket, subprocess, sys
open({scene.places["CANARY"]!r}, "a").close()
os.chmod({scene.places["CANARY"]!r}, 0o600)
socket.socket(socket.AF_UNIX).connect({scene.places["SOCKET"]!r})
"""
        return scene.with_first(cell), scene.full

    found = rehearse("ps1", 4, within=Fence(limits=LIMITS), kinds=[right, lucky, reads, touches])
    assert found[:2] == ["001_lucky: 0 points, and should have 1", "002_reads: 16 points, and should have 0"]
    assert found[2].endswith("canary was touched")
    assert found[3:] == ["somebody reached the unix socket"]


def test_one_that_burns_all_its_time_costs_the_one_beside_it_nothing(fence, tmp_path, handout):
    slow = "from fractions import Fraction\nfrom random import getrandbits\n"
    body = "return Fraction(getrandbits(2**21), getrandbits(2**21), _normalize=False)"
    slow += "\n".join(f"def {name}(*arguments): {body}" for name in handout.problem_set.functions)
    burns = "import os\nfor _ in range(4):\n    if not os.fork():\n        while True: pass\nwhile True: pass"
    files = [hand_in(tmp_path / "in", "a", with_first(handout.notebook(), burns)),
             hand_in(tmp_path / "in", "b", handout.notebook())]  # fmt: skip
    untouched = {name.replace(".", "_"): None for name in handout.answers}
    files.append(hand_in(tmp_path / "in", "c", with_first(handout.notebook(**untouched), slow)))
    files.append(hand_in(tmp_path / "in", "d", handout.notebook()))
    notebook = handout.notebook()
    for _ in range(10):
        with_first(notebook, "while True: pass")
    files.append(hand_in(tmp_path / "in", "e", notebook))
    found = {}
    for some, total in ((files[:4], 8), (files[3:], 3)):  # seconds for the whole of a submission
        within = replace(fence, limits=replace(LIMITS, total=total))
        found |= {report.student: report.points for report in grade_all(some, handout.problem_set, within, 2)}
    assert found == {"a": 16, "b": 16, "c": 0, "d": 16, "e": 0}


def test_a_test_that_never_ends_or_fills_the_memory_costs_its_points_or_its_submission_alone(fence, tmp_path, handout, monkeypatch):
    """Python is stopped in the middle of it; what Python cannot stop ends with the process that grades."""
    text = find("ps1").read_text(encoding="utf-8")
    marker = '# %% nbgrader={"grade_id": "ps1_2_seen"'
    at = text.index("\n", text.index(marker)) + 1
    plants = {"large": "if answer == 'large':\n    x = [0] * 10**10", "ever": "while answer == 'ever':\n    pass", "deaf": "if answer == 'deaf':\n    sum(range(10**14))"}
    source = tmp_path / "ps1_endless.py"
    source.write_text(f"{text[:at]}answer = collision(3, 1)\n" + "\n".join(plants.values()) + f"\n{text[at:]}", encoding="utf-8")
    within, problem_set = marked(fence), load(source)
    files = [hand_in(tmp_path / "in", name, handout.notebook(ps1_2=f"def collision(M, n): return {name!r}")) for name in plants]
    files.append(hand_in(tmp_path / "in", "honest", handout.notebook()))
    large, ever, honest = grade_all([files[0], files[1], files[3]], problem_set, within, 2)
    assert large.points == 13 and "MemoryError" in str(large.parts)
    assert ever.points == 13 and "the test took more than 5 seconds" in str(ever.parts)
    assert honest.points == 16
    monkeypatch.setattr(grading, "STARTING", (5 - within.limits.whole - within.limits.wall) / 2)
    [deaf] = grade_all([files[2]], problem_set, within)
    assert (deaf.points, deaf.problem) == (0, "grading it took more than 5 seconds by the clock")
    assert {part.verdict.outcome for part in deaf.parts} == {UNJUDGED}
    until = time.monotonic() + 20
    while left(within) and time.monotonic() < until:
        time.sleep(0.05)
    assert not left(within)


def test_a_process_that_grades_and_is_ended_gets_another_try(tmp_path, handout, fence, monkeypatch):
    once = tmp_path / "once"
    start = f"import os\nif not os.path.exists({str(once)!r}): open({str(once)!r}, 'w'); os.kill(os.getpid(), 9)\n{grading._START}"
    monkeypatch.setattr(grading, "_START", start)
    [report] = grade_all([hand_in(tmp_path / "in", "bob", handout.notebook())], handout.problem_set, fence)
    assert once.exists() and report.points == 16


def test_the_command_grades_and_a_late_hand_in_alone(tmp_path, handout, fence, capsys, monkeypatch):
    """One at a time or two make no difference."""
    folder, late, out = tmp_path / "submitted", tmp_path / "late", tmp_path / "submitted-marks"
    hand_in(folder, "=ada", handout.notebook())
    hand_in(folder, "bob", handout.notebook(ps1_2="def collision(M, n): return 1 / 0"))
    for name in ("bob", "cy"):
        hand_in(late, name, handout.notebook())
    assert assignment_of(folder) == "ps1"
    monkeypatch.chdir(ROOT)

    def graded(*options):
        assert main(["grade", *map(str, options)]) == 0
        rows = list(csv.DictReader((out / "marks.csv").open()))
        assert {(row["problem"], row["fence"]) for row in rows} == {("", fence.describe())}
        return [(row["student"], row["points"], row["ps1.2"]) for row in rows]

    assert graded(folder, "--jobs", 1) == [("'=ada", "16", "3"), ("bob", "13", "0")]
    feedback = (out / "feedback" / "bob.html").read_text()
    assert "collision(5, 2) raised ZeroDivisionError: division by zero (cell 9, line 1)" in feedback
    assert "fence" not in feedback and "bubblewrap" not in feedback  # that is the teacher's to know
    assert "def collision(M, n): return 1 / 0" in feedback
    said = capsys.readouterr().out
    assert "2 graded in" in said and said.startswith(fence.describe())
    assert graded(late, "--out", out, "--jobs", 2) == [("'=ada", "16", "3"), ("bob", "16", "3"), ("cy", "16", "3")]
    said = capsys.readouterr().out
    assert "1/2 bob: 16/16 (was 13)" in said and "2/2 cy: 16/16\n" in said


def test_without_a_fence_the_command_refuses_or_marks_say_so(tmp_path, handout, capsys, monkeypatch):
    folder = tmp_path / "submitted"
    hand_in(folder, "ada", handout.notebook())
    monkeypatch.setattr(fences.shutil, "which", lambda program: None)
    assert main(["grade", str(folder), "--set", "ps1"]) == 2
    said = capsys.readouterr().err
    assert len(said.splitlines()) == 1
    assert "install bubblewrap" in said
    assert not (tmp_path / "submitted-marks").exists()
    assert main(["grade", str(folder), "--set", "ps1", "--unfenced"]) == 0
    [row] = csv.DictReader((tmp_path / "submitted-marks" / "marks.csv").open())
    assert (row["points"], row["fence"]) == ("16", Fence().describe())
    assert "NOT FENCED IN" in capsys.readouterr().out


def test_wrong_calls_are_one_line(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(ROOT)
    for call in (["grade", str(tmp_path / "none")], ["grade", str(tmp_path)], ["grade", str(tmp_path), "--set", "ps9"]):
        assert main([*call, "--unfenced"]) == 2
        assert len(capsys.readouterr().err.splitlines()) == 1
    (tmp_path / "ada.ipynb").write_text("{}")
    with pytest.raises(ValueError, match="marks do not belong among the submissions"):
        grade_folder(tmp_path, find("ps1"), tmp_path / "marks", Fence())


# --- a set of a teacher's own ----------------------------------------------------------------------------------------

OWN = """
# %% nbgrader={"grade_id": "ps6-setup", "locked": true}
from lrnnbook.content.exercises import call, claim, expect

SETUP

# %% [markdown]
# ## ps6.1 · Power
# *★ · 10 minutes · 2 points. Teaches: powers*

# %% nbgrader={"grade_id": "ps6_1", "solution": true}
def power(x, n):
    return x**n

# %% nbgrader={"grade_id": "ps6_1_seen", "grade": true, "points": 1}
def is_right(function, x, wanted):
    claim(call(function, x, 2) == wanted, f"{x} squared is {wanted}")

def is_square(x, wanted):
    claim(call(power, x, 2) == wanted, f"{x} squared")

is_right(power, 3, 9)
claim(power(x=2, n=3) == 8, "2 to the 3 is 8")

# %% nbgrader={"grade_id": "ps6_1_hidden", "grade": true, "points": 1}
### BEGIN HIDDEN TESTS
expect(power, [((12345, 3), 12345**3)])
HIDDEN = 16
### END HIDDEN TESTS

# %% [markdown]
# ## ps6.2 · Square
# *★ · 10 minutes · 1 points. Teaches: squares*

# %% nbgrader={"grade_id": "ps6_2", "solution": true}
def square(x, n):
    return x * x

# %% nbgrader={"grade_id": "ps6_2_seen", "grade": true, "points": 1}
is_right(square, 4, WANTED)
is_square(4, WANTED)
"""


def own_set(folder, setup="", wanted="16"):
    (folder / "ps6_own.py").write_text(OWN.replace("SETUP", setup).replace("WANTED", wanted), encoding="utf-8")
    return load(folder / "ps6_own.py")


def test_tests_that_are_right_in_a_notebook_are_right_here_or_nothing_is_graded(tmp_path, fence):
    """A test may name arguments and use what an earlier task's test defines."""
    rehearse_set(own_set(tmp_path), fence)
    (tmp_path / "words.txt").write_text("ab")
    with pytest.raises(ValueError, match="the set-up failed: FileNotFoundError"):
        rehearse_set(own_set(tmp_path, f"WORDS = open({str(tmp_path / 'words.txt')!r}).read()"), fence)
    with pytest.raises(ValueError, match="ps6_2_seen gives no points: the test met NameError: name 'HIDDEN'"):
        rehearse_set(own_set(tmp_path, wanted="HIDDEN"), fence)


def test_a_later_visible_test_tells_no_hidden_input(tmp_path, fence):
    cell = "import os\ndef power(x, n): return x**n if x < 100 else os._exit(1)\ndef square(x, n): return x * x"
    problem_set = own_set(tmp_path)
    report = grade_notebook("ada", Notebook((Cell(1, cell),)), problem_set, fence)
    assert [part.points for part in report.parts] == [1, 0, 0]
    assert report.parts[2].verdict.says == "power was called before and ended the whole process (exit status 1)"
    shown = page(report, problem_set)
    assert "12345" in report.parts[1].verdict.says and "12345" not in shown.partition("What you wrote")[0]
    assert "power ended the whole process (exit status 1)" in shown


def test_a_student_s_own_kind_of_error_tells_no_hidden_input(tmp_path, fence):
    """A class of errors can be called as an input is; one of Python's own is named."""
    problem_set = own_set(tmp_path)
    for raised, told in (("type(f'Seen{x}', (ValueError,), {})(x)", "power raised an error"), ("IndexError(x)", "power raised IndexError")):
        cell = f"def power(x, n):\n    if x > 100:\n        raise {raised}\n    return x**n\ndef square(x, n): return x * x"
        report = grade_notebook("ada", Notebook((Cell(1, cell),)), problem_set, fence)
        shown = page(report, problem_set)
        assert "12345" in report.parts[1].verdict.says and "12345" not in shown
        assert f"<code>{told}</code>" in shown


WORDS = """
# %% [markdown]
# ## ps6.3 · Why
# *★ · 10 minutes · 3 points. Teaches: reasons*

# %% [markdown] nbgrader={"grade_id": "ps6_3", "solution": true, "grade": true, "points": 3}
# ### BEGIN SOLUTION
# 1 point: names the powers.
# ### END SOLUTION
"""


def test_an_answer_in_words_is_released_and_shown_and_its_points_are_a_persons(tmp_path, fence):
    source = tmp_path / "ps6_own.py"
    source.write_text((OWN + WORDS).replace("SETUP", "").replace("WANTED", "16"), encoding="utf-8")
    problem_set = load(source)
    rehearse_set(problem_set, fence)  # what no test can judge holds nothing up
    released = nbformat.read(release(str(source), tmp_path / "out"), as_version=4)
    assert "names the powers" not in nbformat.writes(released)
    [cell] = [one for one in released.cells if one.metadata.get("nbgrader", {}).get("grade_id") == "ps6_3"]
    path = tmp_path / "out" / "ps6.ipynb"
    assert cell.source == "*Your words here.*" and any("ps6_3 holds no words of yours yet" in line for line in validate(path, fence))
    cell.source = "Because\n<i>powers</i>."
    nbformat.write(released, path)
    assert not any("words of yours" in line for line in validate(path, fence))
    report = grade_notebook("ada", read(path), problem_set, fence)
    assert (report.points, report.possible) == (0, 6)
    shown = page(report, problem_set, adjust="2", comment="No powers of 0")
    assert "<pre>1 point: names the powers.</pre>" in shown and "Because\n&lt;i&gt;powers&lt;/i&gt;." in shown
    assert "✎ read by a person" in shown and "2 of 6 points, of these +2 by hand" in shown and "No powers of 0" in shown
    source.write_text(source.read_text(encoding="utf-8").replace(', "grade": true, "points": 3', ""), encoding="utf-8")
    with pytest.raises(ValueError, match="'ps6_3' is of words, which are a solution and have points"):
        load(source)


def test_a_hand_in_of_another_set_is_told_so(fence, tmp_path):
    problem_set = own_set(tmp_path)
    report = grade_notebook("ada", Notebook((Cell(1, "x = 1"),), "ps2"), problem_set, fence)
    assert (report.points, report.problem) == (0, "it is the notebook of ps2, graded as ps6")
    report = grade_notebook("ada", Notebook((Cell(1, "def power(x, n): return x**n"),), "ps2"), problem_set, fence)
    assert (report.points, report.problem, report.notes[0]) == (2, "", "it is the notebook of ps2, graded as ps6")


# --- before hand-in --------------------------------------------------------------------------------------------------


def test_a_good_notebook_has_nothing_to_say(tmp_path, handout, fence):
    path = tmp_path / "ps1.ipynb"
    nbformat.write(handout.notebook(), path)
    assert validate(path, fence) == []


def test_a_validator_says_what_a_grader_would_choke_on(tmp_path, handout, fence):
    notebook = handout.notebook(
        ps1_1=handout.answers["ps1.1"].replace("def state_after", "def state_afther"),
        ps1_2="def collision(M, n): return input()",
        ps1_3=None,
        ps1_4="def killer_words(n:\n    return",
    )
    notebook.cells.insert(0, nbformat.v4.new_code_cell("import sys\nsys.exit()"))
    notebook.cells.insert(0, nbformat.v4.new_code_cell("!pip install x"))
    notebook.cells.insert(0, nbformat.v4.new_code_cell("%%bash\nls"))
    notebook.cells.append(nbformat.v4.new_code_cell("while True: pass"))
    marks = [cell.metadata.get("nbgrader", {}).get("grade_id") for cell in notebook.cells]
    notebook.cells.append(notebook.cells[marks.index("ps1_5")].copy())
    notebook.cells[-1]["id"] = "a-copy"
    notebook.metadata["jupytext"] = {"formats": "ipynb,py"}
    path = tmp_path / "mine.json"
    nbformat.write(notebook, path)
    found = validate(path, fence)
    for part in (
        f"{MIND}: the file is called mine.json", f"{MIND}: the notebook is paired", f"{MIND}: turns is defined 2 times",
        f"{MIND}: the cell 'ps1_5' is there 2 times", f"{STOPS}: cell 1: the whole cell, which begins with \"%%bash\"",
        f"{MIND}: cell 2: line 1, \"!pip install x\"",
        f"{MIND}: cell 3 may end the whole process: leave sys.exit() out",
        "calls input(): nobody is there to answer", "SyntaxError: ", "there is 'state_afther': was it renamed?",
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
