"""What comes back is of any name and kind: each gets its row, nobody else is touched, and what is shown is safe."""

import csv
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import nbformat
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lrnnbook.content.exercises.judging import NOT_YET, RIGHT, UNJUDGED, Verdict
from lrnnbook.machinery.grading import fence
from lrnnbook.machinery.grading.command import main
from lrnnbook.machinery.grading.gradebook import assignment_of, grade_folder, merge_marks, page, read_marks
from lrnnbook.machinery.grading.grading import Part, Report, grade_all
from lrnnbook.machinery.grading.releasing import release
from lrnnbook.machinery.grading.sanitize import ROOM, cell, clean, label
from lrnnbook.machinery.grading.sets import find
from lrnnbook.machinery.grading.submissions import MAX_CHARACTERS, MAX_DEPTH, MAX_FILE_BYTES, Submission, collect

ROOT = Path(__file__).parents[3]
pytest.importorskip("nbgrader", reason="a release needs nbgrader: pip install -e '.[course]'")
posix = pytest.mark.skipif(os.name != "posix", reason="grading needs Linux or macOS")


@pytest.fixture(scope="module")
def within():
    """What runs here is our own; so a machine without a fence tests it too."""
    return fence.find(unfenced=True, limits=fence.Limits(seconds=5, wall=60))


# --- the folder ------------------------------------------------------------------------------------------------------


def deep(folder, levels):
    """Folders below one another, deeper than any path may be long."""
    here = os.open(folder, os.O_RDONLY)
    for _ in range(levels):
        os.mkdir("d", dir_fd=here)
        here, above = os.open("d", os.O_RDONLY, dir_fd=here), here
        os.close(above)
    os.close(here)


@posix
def test_whatever_is_handed_in_has_a_row_and_nobody_else_is_touched(tmp_path, handout, within):
    folder = os.fsencode(tmp_path / "in")
    os.mkdir(folder)
    solved = nbformat.writes(handout.notebook()).encode()

    def put(name, data):
        with open(os.path.join(folder, name), "wb") as file:
            file.write(data)

    def with_cell(source):
        notebook = handout.notebook()
        notebook.cells.insert(0, nbformat.v4.new_code_cell(source))
        return json.dumps(notebook).encode()  # nbformat would not write half a character

    due = {}  # by the student's name: points, and a word of the problem

    def hand_in(name, data, points, problem, student=None):
        put(name, data)
        due[label(os.fsdecode(student or name.removesuffix(b".ipynb")))] = points, problem

    full = handout.points()
    hand_in(b"anna.ipynb", solved, full, "")
    hand_in(b"anna.json", b"{}", 0, "no list of cells")
    if sys.platform.startswith("linux"):  # elsewhere names are text
        hand_in(b"J\xfcrgen.ipynb", solved, full, "")
        os.mkdir(os.path.join(folder, b"\xff" * 255))
        hand_in(os.path.join(b"\xff" * 255, b"\xfe.ipynb"), b"{}", 0, "holds 2 notebooks", b"\xff" * 255)
        put(os.path.join(b"\xff" * 255, b"\xff.ipynb"), b"{}")
    for name in (b"l" * 249, b"\x1b[2J", b"=1+1"):
        hand_in(name + b".ipynb", b"{}", 0, "no list of cells")
    hand_in(b"...ipynb", b"{}", 0, "no list of cells", b"...ipynb")
    hand_in(b"empty.ipynb", b"", 0, "is empty")
    hand_in(b"html.ipynb", b"<html>", 0, "not JSON")
    hand_in(b"nested.ipynb", b'{"cells":' + b"[" * 100_000, 0, "not JSON")
    hand_in(b"huge.ipynb", b"{", 0, "has 50 MB")
    os.truncate(os.path.join(folder, b"huge.ipynb"), MAX_FILE_BYTES + 1)
    hand_in(b"long.ipynb", with_cell("#" * MAX_CHARACTERS), 0, "1,000,000 characters")
    hand_in(b"plus.ipynb", with_cell("x = " + "1+" * 100_000 + "1"), full, "")
    hand_in(b"minus.ipynb", with_cell("-" * 200_000 + "1"), full, "")
    hand_in(b"half.ipynb", with_cell('%x \ud800\nraise ValueError("\\ud800")'), full, "")
    hand_in(b"link.ipynb", b"", 0, "is a link")
    os.remove(os.path.join(folder, b"link.ipynb"))
    os.symlink(os.path.join(folder, b"anna.ipynb"), os.path.join(folder, b"link.ipynb"))
    os.mkfifo(os.path.join(folder, b"pipe.ipynb"))
    due["pipe"] = 0, "is a pipe"
    with socket.socket(socket.AF_UNIX) as line:
        before = os.getcwd()
        os.chdir(folder)  # a socket's path is short
        line.bind("sock.ipynb")
        os.chdir(before)
    due["sock"] = 0, "is a socket"
    for name in (b"deep", b"deep_beside"):
        os.mkdir(os.path.join(folder, name))
        deep(os.path.join(folder, name), 1_200)
    due["deep"] = 0, "holds no notebook"
    hand_in(b"deep_beside/ps1.ipynb", solved, full, "", b"deep_beside")
    put(b".DS_Store", b"")

    said = []
    reports = grade_folder(tmp_path / "in", find("ps1"), tmp_path / "out", within, jobs=2, say=said.append)
    subprocess.run(["rm", "-rf", folder], check=True)  # deeper than shutil.rmtree goes
    table = read_marks(tmp_path / "out" / "marks.csv", handout.problem_set)
    got = dict(zip(table.index, zip(table["points"].astype(int), table["problem"])))
    assert set(got) == {cell(student) for student in due}
    for student, (points, problem) in due.items():
        assert got[cell(student)][0] == points, (student, got[cell(student)])
        assert problem in got[cell(student)][1] if problem else not got[cell(student)][1], student
    pages = list((tmp_path / "out" / "feedback").iterdir())
    assert len(pages) == len(reports) == len(said) == len(due)
    assert not any(path.name.startswith(".") for path in pages)
    assert all(path.read_text(encoding="utf-8").replace("\n", "").isprintable() for path in pages)


def collected(folder):
    """What each student has handed in, or what is wrong with it; the folder is gone when the copies are read."""
    with TemporaryDirectory() as place:
        shutil.copytree(folder, f"{place}/in", symlinks=True)
        found = collect(Path(place, "in"), "ps1", Path(place))
        shutil.rmtree(f"{place}/in")
        return {one.student: one.path.read_text() if one.path else one.problem for one in found}


@posix
def test_both_ways_to_lay_out_a_folder(tmp_path):
    for name in ("bob/ps1", "cy", "near/" + "d/" * MAX_DEPTH, "far/" + "d/" * (MAX_DEPTH + 1)):
        (tmp_path / name).mkdir(parents=True)
    for name in ("ada.ipynb", "carl.IPYNB", "bob/ps1/PS1.IPYNB", "bob/other.ipynb", "near/" + "d/" * MAX_DEPTH + "ps1.ipynb",
                 "far/" + "d/" * (MAX_DEPTH + 1) + "ps1.ipynb"):  # fmt: skip
        (tmp_path / name).write_text("{}")
    (tmp_path / "dan.ipynb").symlink_to(tmp_path / "ada.ipynb")
    for name in (".DS_Store", "desktop.ini", "._ada.ipynb", "~$ada.ipynb", "Icon\r", "bob/._ps1.ipynb", "bob/ps1/._ps1.ipynb"):
        (tmp_path / name).write_text("")
    for name in ("__MACOSX", "bob/.ipynb_checkpoints", "bob/@eaDir"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "ps1.ipynb").write_text("")
    assert collected(tmp_path) == {"ada": "{}", "bob": "{}", "carl": "{}", "cy": "holds no notebook", "near": "{}",
                                   "dan": "is a link, not a file", "far": "holds no notebook"}  # fmt: skip
    (tmp_path / "ada").mkdir()
    found = collected(tmp_path)
    assert (found["ada"], found["ada.ipynb"]) == ("holds no notebook", "{}")


# --- which problem set -----------------------------------------------------------------------------------------------

PAYLOAD = '# %% nbgrader={"grade_id": "x-setup", "locked": true}\nopen("PWNED", "w").write("x")\n'


@posix
@pytest.mark.parametrize("honest", [0, 3])
def test_a_notebook_names_no_file(tmp_path, handout, honest, capsys, monkeypatch):
    """The name of a set stands in a notebook's metadata; as a path it would be code that runs in the grader."""
    (tmp_path / "in" / "mallory").mkdir(parents=True)
    path = tmp_path / "in" / "mallory" / "ps1.py"
    path.write_text(PAYLOAD.replace("PWNED", str(tmp_path / "PWNED")))
    notebook = handout.notebook()
    notebook.metadata["lrnnlab"]["assignment"] = str(path)
    nbformat.write(notebook, tmp_path / "in" / "mallory" / "ps1.ipynb")
    notebook.metadata.pop("lrnnlab")
    for number in range(honest):
        nbformat.write(notebook, tmp_path / "in" / f"honest{number}.ipynb")
    monkeypatch.chdir(tmp_path)
    assert main(["grade", str(tmp_path / "in"), "--unfenced"]) == 2
    assert "which problem set is it? The submissions say " in capsys.readouterr().err
    with pytest.raises(ValueError, match="is no problem set; there are ps0_practice, ps1_subtraction"):
        find(str(path))
    assert not (tmp_path / "PWNED").exists()
    notebook.metadata["lrnnlab"] = {"assignment": "ps1"}
    nbformat.write(notebook, tmp_path / "in" / "eve.ipynb")
    assert assignment_of(tmp_path / "in") == "ps1"


@posix
def test_the_folder_it_is_started_in_is_not_imported(tmp_path):
    for name in ("numpy.py", "nbformat/__init__.py", "nbgrader.py", "jupytext.py", "torch.py", "argparse.py"):
        path = tmp_path / "in" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"open({str(tmp_path / 'PWNED')!r}, 'w').write('x')")
    (tmp_path / "in" / "ada.ipynb").write_text('{"cells": [], "metadata": {"lrnnlab": {"assignment": "ps1"}}}')
    command = [sys.executable, "-m", "lrnnlab", "course", "grade", ".", "--unfenced", "--jobs", "1"]
    done = subprocess.run(command, cwd=tmp_path / "in", env={**os.environ, "PYTHONPATH": str(ROOT)}, timeout=300,
                          capture_output=True, text=True)  # fmt: skip
    assert not (tmp_path / "PWNED").exists()
    assert (done.returncode, "ada: 0/16" in done.stdout) == (0, True), done.stderr


# --- what is shown ---------------------------------------------------------------------------------------------------


@given(st.text(st.characters() | st.sampled_from("\x1b\0\u202e\ud800\n;=|"), max_size=900))
def test_what_is_shown_is_one_short_printable_line(text):
    for shown in (clean(text), cell(text)):
        assert shown.isprintable()
        shown.encode()
    assert len(clean(text)) <= ROOM
    first = cell(text)[:1]
    assert first not in {"=", "+", "-", "@"}
    assert not any(part.strip()[:1] in {"=", "+", "-", "@"} for part in cell(text).split(";"))


@given(st.sets(st.binary(min_size=1, max_size=255).filter(lambda name: not {0, 47} & set(name)), max_size=8))
def test_no_two_names_are_one_student(names):
    labels = {label(os.fsdecode(name)) for name in names}
    labels |= {label(one) for one in labels if len(one.encode()) < 256}  # a file may be called as another's label is
    fresh = {label(os.fsdecode(name)) for name in names}
    assert len(fresh) == len(names)
    assert all(one.isprintable() and len(f"{one}.html".encode()) < 256 and one[0] != "." for one in labels)


def report_of(handout, student, points=None, says="", outcome=RIGHT, problem=""):
    parts = tuple(Part(id, most if points is None else points, most, Verdict(outcome, says))
                  for task in handout.problem_set.tasks for id, _, most in task.tests)  # fmt: skip
    return Report(student, parts, (), problem)


@pytest.mark.parametrize("kind", ["pages of somebody", "a link for pages", "a link for marks"])
def test_marks_and_pages_go_to_no_place_of_somebody_else(tmp_path, handout, within, kind):
    out, theirs = tmp_path / "out", tmp_path / "theirs"
    for folder in (tmp_path / "in", out, theirs):
        folder.mkdir()
    nbformat.write(handout.notebook(), tmp_path / "in" / "ada.ipynb")
    (theirs / "ada.html").write_text("years")
    merge_marks(theirs / "marks.csv", handout.problem_set, [])
    if kind == "pages of somebody":
        theirs.rename(out / "feedback")
        (out / "feedback" / "marks.csv").unlink()
    elif kind == "a link for pages":
        merge_marks(out / "marks.csv", handout.problem_set, [])
        (out / "feedback").symlink_to(theirs)
    else:
        (out / "marks.csv").symlink_to(theirs / "marks.csv")
    before = {path: path.is_file() and path.read_bytes() for path in tmp_path.rglob("*")}
    with pytest.raises(ValueError, match="choose another --out"):
        grade_folder(tmp_path / "in", find("ps1"), out, within)
    assert {path: path.is_file() and path.read_bytes() for path in tmp_path.rglob("*")} == before


def test_pages_keep_hidden_tests_to_themselves_and_say_what_helps(handout):
    words = "collision(11, 9) gave X, and should give Y"
    raised = Verdict(UNJUDGED, words, "collision raised IndexError")
    seen = {"ps1_1_seen": Verdict(NOT_YET, "visible ps1_1_seen"), "ps1_2_seen": Verdict(RIGHT)}
    parts = tuple(Part(id, 0, most, seen.get(id) or (Verdict(NOT_YET, words) if id == "ps1_1_hidden" else raised))
                  for task in handout.problem_set.tasks[:2] for id, _, most in task.tests)  # fmt: skip
    rest = report_of(handout, "ada", 0, "not attempted", UNJUDGED).parts[4:]
    report = Report("ada", parts + rest, answers={"ps1.1": "def state_after(A):\n    return '<b>'"})
    shut = page(report, handout.problem_set)
    assert words not in shut and "11, 9" not in shut
    assert "Further cases, run when this is graded: several dimensions, one operand" in shut and "ps1_1_hidden" not in shut
    assert shut.count("wrong on an input that you have not seen") == 1
    assert "collision raised IndexError · n larger than 2" in shut  # its author's sentence
    assert "visible ps1_1_seen" in shut
    assert shut.count("○ not tried yet") == len(rest)  # visible and hidden tests say the same
    assert "<pre>def state_after(A):\n    return &#39;&lt;b&gt;&#39;</pre>" in shut  # folded, as it was written
    assert "How to go on: this task teaches Theorem A" in shut and "Hint: The state is the sum of the digits." in shut
    assert page(report, handout.problem_set, show_hidden=True).count(words) == 2


def test_pages_show_nothing_raw(handout):
    bad = "\x1b[31m<script>\u202e\ud800\0" + "x" * 10**7
    report = Report(bad, report_of(handout, "", 0, bad, NOT_YET).parts, (bad,), bad)
    text = page(report, handout.problem_set, show_hidden=True, adjust="2", comment=f"<b>good</b> {bad}")
    text.encode()
    assert "2 of 16 points, of these +2 by hand" in text
    assert "&lt;b&gt;good&lt;/b&gt;" in text
    assert "<script" not in text
    assert "\\x1b[31m&lt;script&gt;\\u202e\\ud800\\x00xxx" in text
    assert text.replace("\n", "").isprintable()
    assert len(text) < 20_000


# --- marks -----------------------------------------------------------------------------------------------------------


def test_marks_are_merged(tmp_path, handout):
    path, problem_set = tmp_path / "marks.csv", handout.problem_set
    merge_marks(path, problem_set, [report_of(handout, "bob", 0), report_of(handout, "ada")], "fenced")
    merge_marks(path, problem_set, [report_of(handout, "cy", 0, problem="=HYPERLINK(1)")], "NOT FENCED")
    called = [report_of(handout, name) for name in ("student", "problem")]  # as columns are
    merge_marks(tmp_path / "named.csv", problem_set, called)
    assert sorted(read_marks(tmp_path / "named.csv", problem_set).index) == ["problem", "student"]
    found = read_marks(path, problem_set)
    assert list(found[["points", "fence"]].itertuples(name=None)) == [
        ("ada", "16", "fenced"), ("bob", "0", "fenced"), ("cy", "0", "NOT FENCED")]  # fmt: skip
    assert found.loc["cy", "problem"] == "'=HYPERLINK(1)"
    other = tmp_path / "other.csv"  # in another order: the same bytes
    merge_marks(other, problem_set, [report_of(handout, "cy", 0, problem="=HYPERLINK(1)")], "NOT FENCED")
    merge_marks(other, problem_set, [report_of(handout, "ada"), report_of(handout, "bob", 0)], "fenced")
    assert other.read_bytes() == path.read_bytes()
    with path.open(encoding="utf-8", newline="") as file:
        table = [[*row, "seen"] for row in csv.reader(file)]
    table[0][-1] = "remark"
    with path.open("w", encoding="utf-8-sig", newline="") as file:  # as a spreadsheet writes it
        csv.writer(file).writerows([*table, *[[""] * len(table[0])] * 2])
    merge_marks(path, problem_set, [report_of(handout, "bob")], "fenced")
    found = read_marks(path, problem_set)
    assert list(found[["points", "remark"]].itertuples(name=None)) == [
        ("ada", "16", "seen"), ("bob", "16", "seen"), ("cy", "0", "seen")]  # fmt: skip


@pytest.mark.parametrize("text, says", [
    ("student,points\nada,1\n", "has no column fence, possible, problem, ps1.1"), ("", "cannot be read"),
    ("\xff", "cannot be read"), ("HEAD\nada,1,1,1,1,1,1,1,,,,,\n", "cannot be read"),
    ("HEAD\nada,1,1,1,1,1,1,1,,\nada,2,1,1,1,1,1,1,,\n", "'ada' is there twice"),
    ("HEAD\nada,1,1,two,1,1,1,1,,\n", "the column ps1.1 of ada is a number of points, such as 2 or -0.5, got 'two'"),
    ("HEAD,note,note\nada,1,1,1,1,1,1,1,,,one,two\n", "'note' is there twice"),
])  # fmt: skip
def test_another_table_is_not_written_over(tmp_path, handout, text, says):
    path = tmp_path / "marks.csv"
    head = "student,points,possible,ps1.1,ps1.2,ps1.3,ps1.4,ps1.5,problem,fence"
    path.write_bytes(text.replace("HEAD", head).encode("latin-1"))
    before = path.read_bytes()
    with pytest.raises(ValueError, match=says):
        merge_marks(path, handout.problem_set, [report_of(handout, "ada")])
    assert path.read_bytes() == before


def test_marks_are_written_whole_or_not_at_all(tmp_path, handout, monkeypatch):
    path = tmp_path / "marks.csv"
    merge_marks(path, handout.problem_set, [report_of(handout, "ada")])
    before = path.read_bytes()

    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(OSError, match="No space left.*marks.csv"):
        merge_marks(path, handout.problem_set, [report_of(handout, "bob")])
    assert path.read_bytes() == before
    assert {one.name for one in tmp_path.iterdir()} <= {"marks.csv", ".marks.csv.lock"}


@posix
def test_two_graders_at_a_time_lose_no_row(tmp_path, handout):
    path, students = tmp_path / "marks.csv", [[f"{who}{number:02d}" for number in range(20)] for who in "ab"]
    threads = [threading.Thread(target=lambda names=names: [
        merge_marks(path, handout.problem_set, [report_of(handout, name)]) for name in names]) for names in students]  # fmt: skip
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(read_marks(path, handout.problem_set).index) == sorted([*students[0], *students[1]])


@posix
def test_a_fault_of_the_grader_s_own_costs_no_marks(tmp_path, handout, capsys, monkeypatch):
    """Before anything is graded it is tried out; and what it meets later leaves the marks that are there."""
    folder, out = tmp_path / "in", tmp_path / "out"
    folder.mkdir()
    nbformat.write(handout.notebook(), folder / "ada.ipynb")
    asked = ["grade", str(folder), "--set", str(find("ps1")), "--out", str(out), "--unfenced"]
    out.mkdir()
    merge_marks(out / "marks.csv", handout.problem_set, [report_of(handout, "ada")])
    before = (out / "marks.csv").read_bytes()
    assert main([*asked, "--memory", "1"]) == 2
    assert "nothing can be graded" in capsys.readouterr().err and (out / "marks.csv").read_bytes() == before
    broken = tmp_path / "ps1_x.py"
    text = find("ps1").read_text(encoding="utf-8")
    broken.write_text(text.replace('"locked": true}\n', '"locked": true}\nimport nothing_of_the_kind\n', 1), encoding="utf-8")
    assert main([*asked[:3], str(broken), *asked[4:]]) == 2
    assert "nothing can be graded: the grader met ModuleNotFoundError" in capsys.readouterr().err
    monkeypatch.setattr("lrnnbook.machinery.grading.gradebook.rehearse", lambda *_: None)
    monkeypatch.setattr("lrnnbook.machinery.grading.gradebook.grade_all", lambda submissions, *_: [
        Report(one.student, (), problem="the grader met OSError: no room") for one in submissions])  # fmt: skip
    assert main(asked) == 1
    assert "the marks of before stay" in capsys.readouterr().out and (out / "marks.csv").read_bytes() == before


@posix
@pytest.mark.parametrize("slow", [0, 3])
def test_grading_that_is_stopped_ends_at_once(tmp_path, handout, within, monkeypatch, slow):
    """By Ctrl-C, while a process of its own works or, ``slow``, still starts."""
    made = handout.notebook()
    made.cells.insert(0, nbformat.v4.new_code_cell("import time\ntime.sleep(50)"))
    nbformat.write(made, tmp_path / "ada.ipynb")
    copies = [Submission(name, tmp_path / "ada.ipynb") for name in ("ada", "bob", "cy")]
    started = []

    class Starting(subprocess.Popen):
        def __init__(self, *command, **options):
            super().__init__(*command, **options)
            if not started:
                threading.Timer(0.5, lambda: signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)).start()
            started.append(self)
            time.sleep(slow)

    monkeypatch.setattr(subprocess, "Popen", Starting)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # where these tests run behind a shell's &, nobody hears it
    try:
        with pytest.raises(KeyboardInterrupt):
            next(grade_all(copies, handout.problem_set, within, jobs=1))
    finally:
        signal.signal(signal.SIGINT, before)
    assert len(started) == 1 and started[0].returncode == -signal.SIGKILL


# --- before hand-in, and nbgrader ------------------------------------------------------------------------------------


@posix
@pytest.mark.filterwarnings("ignore:Object of type")  # nbgrader's own, of its database
def test_nbgrader_grades_what_is_released_as_its_source(tmp_path, handout, monkeypatch):
    """In a course folder of its own: generate, autograde, feedback.  An untouched notebook gets nothing."""
    from nbgrader.apps import NbGraderAPI
    from traitlets.config import Config

    monkeypatch.setenv("PATH", os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"])))  # for alembic
    monkeypatch.setenv("PYTHONPATH", str(ROOT))  # for the kernel
    release("ps1", tmp_path / "source" / "ps1", source=True)
    config = Config()
    config.CourseDirectory.root, config.CourseDirectory.db_url = str(tmp_path), f"sqlite:///{tmp_path}/gradebook.db"
    course = NbGraderAPI(config=config)

    def done(result):
        assert result["success"], result["log"]

    done(course.generate_assignment("ps1"))
    released = nbformat.read(tmp_path / "release" / "ps1" / "ps1.ipynb", as_version=4)
    assert "BEGIN" not in nbformat.writes(released)
    for student, points in (("untouched", 0), ("solved", 16)):
        for one in released.cells:
            mark = one.metadata.get("nbgrader", {})
            if student == "solved" and mark.get("solution"):
                one.source = handout.answers[mark["grade_id"].replace("_", ".")]
        place = tmp_path / "submitted" / student / "ps1"
        place.mkdir(parents=True)
        nbformat.write(released, place / "ps1.ipynb")
        done(course.autograde("ps1", student))
        done(course.generate_feedback("ps1", student))
        mark = course.get_submission("ps1", student)
        assert (mark["score"], mark["max_score"]) == (points, 16)
        assert (tmp_path / "feedback" / student / "ps1" / "ps1.html").is_file()
