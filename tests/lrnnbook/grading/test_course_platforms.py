"""A learning platform's hand-ins come in with their ids, and its own export goes back filled; what a person wrote stays."""

import csv
import io
import os
import shutil
import unicodedata
import zipfile

import nbformat
import pytest

from lrnnbook.content.exercises.judging import RIGHT, Verdict
from lrnnbook.machinery.grading.command import main
from lrnnbook.machinery.grading.gradebook import merge_marks, page, read_marks
from lrnnbook.machinery.grading.grading import Part, Report
from lrnnbook.machinery.grading.lms import whose
from lrnnbook.machinery.grading.submissions import MAX_FILE_BYTES, collect

pytest.importorskip("nbgrader", reason="a release needs nbgrader: pip install -e '.[course]'")
posix = pytest.mark.skipif(os.name != "posix", reason="grading needs Linux or macOS")

MOODLE = {"Ann Lee_4711_assignsubmission_file_": "ann", "Bo Öz O'Neil_4712_assignsubmission_file": "bo"}
CANVAS = {"leeann_101_90001_ps1.ipynb": "ann", "ozbo_LATE_102_90002_ps1.ipynb": "late", "ozbo_102_90011_ps1-1.ipynb": "bo"}


def zip_of(files):
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return data.getvalue()


def collected(path, place):
    place.mkdir()
    return {one.student: (one.path.read_text() if one.path else one.problem, one.id, one.late, one.said)
            for one in collect(path, "ps1", place)}  # fmt: skip


# --- what comes in ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["folder", "zip"])
def test_moodles_and_canvas_hand_ins_have_their_ids_and_the_last_upload_counts(tmp_path, kind):
    for shape, files in (("moodle", {f"{name}/ps1.ipynb": text for name, text in MOODLE.items()}), ("canvas", CANVAS)):
        if kind == "zip":
            path = tmp_path / f"{shape}.zip"
            path.write_bytes(zip_of(files))
        else:
            path = tmp_path / shape
            for name, text in files.items():
                (path / name).parent.mkdir(parents=True, exist_ok=True)
                (path / name).write_text(text)
        found = collected(path, tmp_path / f"{shape}_place")
        if shape == "moodle":
            assert found == {"Ann Lee (4711)": ("ann", "4711", False, ""), "Bo Öz O'Neil (4712)": ("bo", "4712", False, "")}
        else:
            assert found == {"leeann (101)": ("ann", "101", False, ""), "ozbo (102)": ("bo", "102", False,
                "of 2 uploads ozbo_102_90011_ps1-1.ipynb counts, the last one; not ozbo_LATE_102_90002_ps1.ipynb")}  # fmt: skip


def test_what_a_student_may_choose_in_a_name_makes_him_nobody_else():
    """The file's own name comes last, and may look like any other's front."""
    assert whose("Eve_4713_assignsubmission_file_Ann Lee_4711_assignsubmission_file_ps1.ipynb").id == "4713"
    assert whose("eve_103_90000_leeann_101_99999_ps1.ipynb").id == "103"
    assert whose("ann.ipynb") is whose("000_right.ipynb") is whose("lab_two_final.ipynb") is None


def test_plain_names_that_look_like_a_platforms_lose_nobody(tmp_path):
    """Numbers in plain names: a platform gives each upload its own."""
    (tmp_path / "in").mkdir()
    for name in ("lab_3_2_anna.ipynb", "lab_3_2_bob.ipynb", "Ann (4711).ipynb", "Ann_4711_assignsubmission_file_ps1.ipynb"):
        (tmp_path / "in" / name).write_text(name)
    found = collected(tmp_path / "in", tmp_path / "place")
    assert sorted(text for text, *_ in found.values()) == sorted(os.listdir(tmp_path / "in"))


def test_a_text_typed_beside_the_file_and_a_late_pdf_do_not_count(tmp_path):
    for name, text in {"Ann_1_assignsubmission_file/ps1.ipynb": "file", "Ann_1_assignsubmission_onlinetext/onlinetext.html": "",
                       "bo_2_10_ps1.ipynb": "bo", "bo_2_11_scan.pdf": ""}.items():  # fmt: skip
        (tmp_path / "in" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "in" / name).write_text(text)
    assert {student: text for student, (text, *_) in collected(tmp_path / "in", tmp_path / "place").items()} == {
        "Ann (1)": "file", "bo (2)": "bo"}  # fmt: skip


@pytest.mark.parametrize("files, says", [
    ({"a/ps1.ipynb": "mine", "__MACOSX/._ps1.ipynb": "", "a/notes.txt": ""}, "mine"),
    ({"x.ipynb": "x", "PS1.ipynb": "mine"}, "mine"),
    ({"x.ipynb": "", "y.ipynb": ""}, "the zip holds 2 notebooks"), ({"x.py": ""}, "the zip holds no notebook"),
    ({"x.ipynb": "0" * (MAX_FILE_BYTES + 1)}, "has 50 MB"), ({f"{n}.txt": "" for n in range(10_001)}, "more than 10,000 files"),
    (None, "cannot be read"),
])  # fmt: skip
def test_a_zip_that_a_student_handed_in(tmp_path, files, says):
    (tmp_path / "in" / "Bo_7_assignsubmission_file").mkdir(parents=True)
    data = zip_of(files) if files else zip_of({"x.ipynb": "0" * 9999})[:-40] + b"x" * 40
    (tmp_path / "in" / "ada.zip").write_bytes(data)
    (tmp_path / "in" / "Bo_7_assignsubmission_file" / "all.zip").write_bytes(data)
    found = collected(tmp_path / "in", tmp_path / "place")
    assert set(found) == {"ada", "Bo (7)"}
    assert all(says in text for text, *_ in found.values()), found


def test_a_class_zip_writes_nowhere_else(tmp_path):
    (tmp_path / "c.zip").write_bytes(zip_of({"../../evil.ipynb": "e", "/tmp/evil2.ipynb": "e", "../big.ipynb": "0" * (MAX_FILE_BYTES + 1)}))
    found = collected(tmp_path / "c.zip", tmp_path / "place")
    assert "has 50 MB" in found["big"][0] and found["evil"][0] == "e"
    assert {path.name for path in tmp_path.iterdir()} == {"c.zip", "place"}
    assert {path.suffix for path in (tmp_path / "place").iterdir()} == {".ipynb"}


@pytest.mark.parametrize("kind", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_what_a_student_can_make_of_a_zip_costs_nobody_else(tmp_path, kind):
    """A name too long for a file system, bytes that no decompressor takes, a file and a folder of one name, a zip in a zip."""
    made = {"ann.ipynb": "ann", f"Bo_7_assignsubmission_file/{'ж' * 200}.ipynb": "bo", "cy.ipynb": "x" * 999, "dan": "", "dan/ps1.ipynb": "dan"}
    with zipfile.ZipFile(tmp_path / "class.zip", "w", kind) as archive:
        for name, text in made.items():
            archive.writestr(name, text)
        archive.writestr("eve.zip", zip_of({"a.zip": zip_of({"ps1.ipynb": "eve"})}))
        at = archive.getinfo("cy.ipynb").header_offset + 30 + len("cy.ipynb")
    data = bytearray((tmp_path / "class.zip").read_bytes())
    data[at : at + 9] = b"\xff" * 9
    (tmp_path / "class.zip").write_bytes(data)
    (tmp_path / "fay").mkdir()
    (tmp_path / "fay" / "all.zip").write_bytes(data)
    found = {student: text for student, (text, *_) in collected(tmp_path / "class.zip", tmp_path / "place").items()}
    assert found.pop("cy").startswith("the zip cannot be read (")
    assert found.pop("eve").startswith("the zip holds no notebook")
    assert found == {"ann": "ann", "Bo (7)": "bo", "dan": ""}


def test_names_that_look_the_same_are_two_students_with_two_pages(tmp_path):
    """Composed or not, in capitals or not: where a file system takes them for one, a page would be written over another."""
    names = {"Jürgen": "composed", "Ju\u0308rgen": "not", "JÜRGEN": "capitals", "Ann (7)": "plain"}
    files = {f"{name}.ipynb": text for name, text in names.items()} | {"Ann_7_assignsubmission_file/ps1.ipynb": "platform"}
    (tmp_path / "class.zip").write_bytes(zip_of(files))
    found = collected(tmp_path / "class.zip", tmp_path / "place")
    assert sorted(text for text, *_ in found.values()) == sorted([*names.values(), "platform"])
    assert found["JÜRGEN"][0] == "capitals" and found["Ann (7)"][1] == "7"
    assert len({unicodedata.normalize("NFC", student).casefold() for student in found}) == len(found)


# --- what a person writes --------------------------------------------------------------------------------------------


def report_of(handout, student, points=1):
    parts = tuple(Part(id, points, most, Verdict(RIGHT)) for task in handout.problem_set.tasks for id, _, most in task.tests)
    return Report(student, parts)


def edited(path, sep=",", **cells):
    """Write cells of the first row, as a spreadsheet does."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file, delimiter=sep))
    rows[0] |= cells
    with path.open("w", encoding="utf-8-sig", newline="") as file:
        out = csv.DictWriter(file, rows[0], delimiter=";")
        out.writeheader()
        out.writerows(rows)


def test_a_persons_word_adds_up_and_stays_and_is_on_the_page(tmp_path, handout, capsys):
    marks = tmp_path / "marks.csv"
    reports = [report_of(handout, "ada"), report_of(handout, "bob")]
    (tmp_path / "feedback").mkdir()
    for report in reports:
        (tmp_path / "feedback" / f"{report.student}.html").write_text(page(report, handout.problem_set), encoding="utf-8")
    merge_marks(marks, handout.problem_set, reports)
    edited(marks, adjust="2,5", comment="A fine <idea>; see \\1", room="12")
    assert main(["marks", str(tmp_path)]) == 0
    assert "2 rows added up, 1 of them with points by hand" in capsys.readouterr().out
    shown = (tmp_path / "feedback" / "ada.html").read_text(encoding="utf-8")
    assert "12.5 of 16 points, of these +2.5 by hand" in shown and "A fine &lt;idea&gt;; see \\1" in shown
    assert "10 of 16 points." in (tmp_path / "feedback" / "bob.html").read_text(encoding="utf-8")
    for points, total in ((1, "12.5"), (0, "2.5")):  # graded again, and again
        merge_marks(marks, handout.problem_set, [report_of(handout, "ada", points)])
        row = read_marks(marks, handout.problem_set).loc["ada"]
        assert list(row[["points", "adjust", "comment", "room"]]) == [total, "2,5", "A fine <idea>; see \\1", "12"]
    assert marks.read_text(encoding="utf-8").startswith("student;id;points;possible;ps1.1")  # a semicolon, as the spreadsheet has it
    edited(marks, ";", adjust="two")
    before = marks.read_bytes()
    assert main(["marks", str(tmp_path)]) == 2
    assert "the column adjust of ada is a number of points, such as 2 or -0.5, got 'two'" in capsys.readouterr().err
    assert marks.read_bytes() == before


# --- what goes back --------------------------------------------------------------------------------------------------

WORKSHEET = """Identifier,Full name,Status,Grade,Maximum Grade,Feedback comments
Participant 4711,Ann Lee,Submitted,,16.00,
Participant 4712,Bo Öz O'Neil,Submitted,,16.00,
Participant 4713,Cy Dee,No submission,,16.00,
"""
GRADEBOOK = """Student,ID,SIS Login ID,Section,ps1 (87568),ps2 (87570)
    Points Possible,,,,20,14
"Lee, Ann",101,al,1,,3
"Öz, Bo",102,bo,1,,4
"""


@pytest.mark.parametrize("sep", [",", ";"])
def test_a_platforms_own_export_is_filled(tmp_path, handout, capsys, sep):
    for shape, names, export in (("moodle", list(MOODLE), WORKSHEET), ("canvas", list(CANVAS)[::2], GRADEBOOK)):
        out = tmp_path / shape
        (out / "feedback").mkdir(parents=True)
        for name in [*names, "zed"]:
            about, student = whose(name), whose(name).student if whose(name) else name
            more = {"id": about.id if about else "", "handed_in": name if about else ""}
            merge_marks(out / "marks.csv", handout.problem_set, [report_of(handout, student)], "", more)
            (out / "feedback" / f"{student}.html").write_text(page(report_of(handout, student), handout.problem_set), encoding="utf-8")
        edited(out / "marks.csv", adjust="0.5", comment="See me")
        sheet = tmp_path / f"{shape}.csv"
        sheet.write_text(export.replace('"Lee, Ann"', "Lee Ann").replace('"Öz, Bo"', "Öz Bo").replace(",", sep), encoding="utf-8")
        before = sheet.read_bytes()
        assert main(["marks", str(out), "--into", str(sheet)]) == 0
        said = capsys.readouterr().out
        assert "without a line: zed" in said and sheet.read_bytes() == before
        assert ("the platform's maximum is 20, the set's 16" in said) == (shape == "canvas")
        with (out / f"{shape}-filled.csv").open(encoding="utf-8-sig", newline="") as file:
            rows = list(csv.reader(file, delimiter=sep))
        half = "10.5" if sep == "," else "10,5"
        with zipfile.ZipFile(out / f"{shape}-feedback.zip") as pages:
            inside = sorted(pages.namelist())
            assert all(b"points" in pages.read(one) for one in inside)
        if shape == "moodle":
            assert "2 of 3 lines filled, in 'Grade'" in said
            assert [row[3] for row in rows] == ["Grade", half, "10", ""] and rows[1][5] == "See me"
            assert inside == ["Ann Lee_4711_assignsubmission_file_/ps1_feedback.html",
                              "Bo Öz O'Neil_4712_assignsubmission_file/ps1_feedback.html", "zed.html"]  # fmt: skip
        else:
            assert [row[4:] for row in rows] == [["ps1 (87568)", "ps2 (87570)"], ["20", "14"], [half, "3"], ["10", "4"]]
            assert inside == ["leeann_101_90001_ps1.html", "ozbo_102_90011_ps1-1.html", "zed.html"]


LOCKED = """Identifier,Full name,Grade,Maximum Grade,Grade can be changed,Feedback comments
Participant 4711,Ann Lee,,16.00,Yes,
Participant 4712,Bo Öz,,16.00,Yes,
Participant 4713,Cy Dee,,16.00,No,
"""
GERMAN = LOCKED.replace("Grade", "Bewertung").replace("Feedback comments", "Feedback als Kommentar").replace("Participant ", "Teilnehmer/in")


@pytest.mark.parametrize("text, column, says, never", [
    (LOCKED, "Grade", ["leave out 4711: 17 points are", "leave out 4712: -1 points are", "leave out 4713, whose grade cannot"], "pages alone"),
    (GERMAN, "Bewertung", ["the comments (1) are on the pages alone: there is no column 'Feedback comments'"], "leave out"),
])  # fmt: skip
def test_what_a_platform_would_leave_out_unsaid_is_said(tmp_path, handout, capsys, text, column, says, never):
    for id in ("4711", "4712", "4713"):
        merge_marks(tmp_path / "marks.csv", handout.problem_set, [report_of(handout, id)], "", {"id": id})
    table = read_marks(tmp_path / "marks.csv")
    table["adjust"], table["comment"] = ["7", "-11", "6"], ["", "n < 3 & so on", ""]
    table.to_csv(tmp_path / "marks.csv")
    (tmp_path / "w.csv").write_text(text, encoding="utf-8")
    assert main(["marks", str(tmp_path), "--into", str(tmp_path / "w.csv"), "--column", column]) == 0
    said = capsys.readouterr().out
    assert all(one in said for one in says) and never not in said, said
    filled = (tmp_path / "w-filled.csv").read_text(encoding="utf-8-sig")
    assert ("n &lt; 3 &amp; so on" in filled) == (column == "Grade")  # Moodle reads HTML


def test_an_export_of_something_else_is_refused(tmp_path, handout, capsys):
    merge_marks(tmp_path / "marks.csv", handout.problem_set, [report_of(handout, "Ann (4711)")], "", {"id": "4711"})
    sheet = tmp_path / "w.csv"
    for text, says in (("Identifier,Grade\nParticipant 9,\n", "holds an id of the marks (4711)"),
                       ("Identifier,Note\nParticipant 4711,\n", "which column takes the points? --column says it; there are 'Identifier', 'Note'")):  # fmt: skip
        sheet.write_text(text)
        assert main(["marks", str(tmp_path), "--into", str(sheet)]) == 2
        assert says in capsys.readouterr().err
    assert main(["marks", str(tmp_path), "--into", str(sheet), "--column", "Note"]) == 0
    assert (tmp_path / "w-filled.csv").read_text(encoding="utf-8-sig").splitlines()[1] == "Participant 4711,10"
    assert main(["marks", str(tmp_path / "nowhere")]) == 2


# --- the whole way ---------------------------------------------------------------------------------------------------


@posix
def test_the_rehearsal_of_teaching_as_it_is_written_there(tmp_path, capsys, monkeypatch):
    """ps0 in ten minutes: release, answer, the last cell, hand in, feedback, a point by hand."""
    from nbclient import NotebookClient

    monkeypatch.chdir(tmp_path)
    assert main(["release", "ps0", "--out", "handout"]) == 0
    book = nbformat.read("handout/ps0.ipynb", as_version=4)
    right = "def answers(digits):\n    return [sum(digits[: t + 1]) % 5 for t in range(len(digits))]\n"
    (tmp_path / "class").mkdir()
    for name, answer in (("ann", right), ("bob", right.replace("t + 1", "t"))):
        [cell] = [one for one in book.cells if one.metadata.get("nbgrader", {}).get("grade_id") == "ps0_1"]
        cell.source = answer
        nbformat.write(book, "handout/ps0.ipynb")
        ran = NotebookClient(nbformat.read("handout/ps0.ipynb", as_version=4), resources={"metadata": {"path": "handout"}}, allow_errors=True).execute()
        outputs = ["".join(out.get("text", "") for out in one.get("outputs", [])) for one in ran.cells]
        assert not ran.cells[1].outputs, "the first cell does nothing where everything is there"
        assert "the test in cell 10 (ps0_2_seen) says: not attempted" in outputs[-1] and "ps0_3 holds no words of yours yet" in outputs[-1]
        assert ("(ps0_1_seen) says: answers([0, 3, 2, 4]) gave" in outputs[-1]) == (name == "bob")
        nbformat.write(ran, f"class/{name}.ipynb")
    assert main(["grade", "class", "--out", "marks", *([] if shutil.which("bwrap") else ["--unfenced"])]) == 0
    assert "1/2 ann: 2/4" in capsys.readouterr().out
    edited(tmp_path / "marks" / "marks.csv", adjust="1", comment="Fine words")
    assert main(["marks", "marks"]) == 0
    ann, bob = ((tmp_path / "marks" / "feedback" / f"{name}.html").read_text(encoding="utf-8") for name in ("ann", "bob"))
    assert "3 of 4 points, of these +1 by hand" in ann and "Fine words" in ann
    assert "answers([0, 3, 2, 4]) gave [0, 0, 3, 0], and should give [0, 3, 0, 4]" in bob
    assert "a string of one digit, a long one, or none at all" in bob and "How to go on: this task teaches what Sum(5) asks for" in bob
