"""A class from its zip to the platform's table: hand-ins of every kind, a person's word between two gradings, and back."""

import csv
import html
import os
import shutil
import zipfile

import pytest
from hand_ins import SHAPES, made, zipped
from planted import Handout

from lrnnbook.machinery.grading.command import main
from lrnnbook.machinery.grading.gradebook import read_marks

pytest.importorskip("nbgrader", reason="a release needs nbgrader: pip install -e '.[course]'")
pytestmark = pytest.mark.skipif(os.name != "posix", reason="grading needs Linux or macOS")
FENCE = [] if shutil.which("bwrap") else ["--unfenced"]
COUNTS = [8, pytest.param(40, marks=pytest.mark.thorough)]


def moodle_takes(sheet, packed):
    """What Moodle (mod/assign/feedback: offline, comments, file) reads from the worksheet and the zip: by id the points, the comment as
    a reader sees it, the pages.  A line whose points are none, or not between 0 and the maximum, or locked, it leaves out, unsaid."""
    with sheet.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    assert {"Identifier", "Grade", "Last modified (grade)"} <= set(rows[0])
    points, comments, pages = {}, {}, {}
    for row in rows:
        id = int(row["Identifier"].removeprefix("Participant "))
        if row["Grade"] and 0 <= float(row["Grade"]) <= float(row["Maximum Grade"]) and row["Grade can be changed"] == "Yes":
            points[id] = float(row["Grade"])
        comments[id] = html.unescape(row["Feedback comments"].partition("<")[0])  # it is HTML: a sign of a tag ends the text
    with zipfile.ZipFile(packed) as archive:
        for name in archive.namelist():
            _, id, kind, plugin, *_ = name.split("/")[0].split("_", 4)
            assert (kind, plugin) == ("assignsubmission", "file") and name.endswith("/ps1_feedback.html")
            assert pages.setdefault(int(id), archive.read(name).decode()) is not None
    return rows, points, comments, pages


def canvas_takes(sheet, packed):
    """The same of Canvas, which has no comments; a page goes to the student and the upload that its name says."""
    with sheet.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    points = {int(row["ID"]): float(row["ps1 (87568)"]) for row in rows if row["ID"] and row["ps1 (87568)"]}
    with zipfile.ZipFile(packed) as archive:
        pages = {int(name.replace("_LATE_", "_").split("_")[1]): archive.read(name).decode() for name in archive.namelist()}
    return rows, points, {}, pages


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("shape, takes", [("moodle", moodle_takes), ("canvas", canvas_takes)])
def test_a_class_from_its_zip_to_the_platforms_table(tmp_path, capsys, monkeypatch, shape, takes, count):
    monkeypatch.chdir(tmp_path)
    hand_ins = made(count)
    files, table = SHAPES[shape](hand_ins)
    where = "class.zip"
    if (shape, count) == ("moodle", 8):  # as folders; else as the zip that a platform gives
        where = "class"
        for name, data in files.items():
            (tmp_path / where / name).parent.mkdir(parents=True)
            (tmp_path / where / name).write_bytes(data)
    else:
        (tmp_path / where).write_bytes(zipped(files))
    (tmp_path / "sheet.csv").write_text(table, encoding="utf-8")
    grade = ["grade", "--out", "marks", "--seconds", "2", *FENCE]
    assert main([*grade, where]) == 0
    said = capsys.readouterr().out
    problem_set = Handout.of("ps1").problem_set

    def marks():
        return read_marks(tmp_path / "marks" / "marks.csv", problem_set).reset_index().set_index("id")

    assert marks()["points"].to_dict() == {str(one.id): str(one.points) for one in hand_ins}
    again = [one for one in hand_ins if one.earlier]
    if shape == "canvas":
        assert {id for id, late in marks()["late"].items() if late == "LATE"} == {str(one.id) for one in hand_ins if one.late}
        assert said.count("of 2 uploads") == len(again) > 0

    # A person's word: half a point and a comment for the hostile one, a comment for the endless one, too much for the first.
    path = tmp_path / "marks" / "marks.csv"
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    words = {"4712": ("0.5", "n < 3 & m > 2: see me"), "4713": ("", "Your loop does not end"), "4711": ("2", "")}
    for row in rows:
        row["adjust"], row["comment"] = words.get(row["id"], ("", ""))
    with path.open("w", encoding="utf-8", newline="") as file:
        out = csv.DictWriter(file, rows[0])
        out.writeheader()
        out.writerows(rows)
    due = {one.id: one.points + float(words.get(str(one.id), "0")[0] or 0) for one in hand_ins}
    for late in (False, True):  # and again, when the hostile one has handed in a right answer, late
        if late:
            right = next(one for one in hand_ins if one.points == problem_set.points)
            mended = type(right)(hand_ins[1].first, hand_ins[1].last, 4712, right.points, right.data)
            (tmp_path / "late.zip").write_bytes(zipped(SHAPES[shape]([mended])[0]))
            assert main([*grade, "late.zip"]) == 0
            due[4712] = right.points + 0.5
            assert f"({4712}): {due[4712]:g}/16, 0.5 by hand (was 13.5)" in capsys.readouterr().out
        assert main(["marks", "marks", "--into", "sheet.csv"]) == 0
        said = capsys.readouterr().out
        assert f"{count} of {table.count(chr(10)) - 1} lines filled" in said
        filled, points, comments, pages = takes(tmp_path / "marks" / "sheet-filled.csv", tmp_path / "marks" / "sheet-feedback.zip")
        over = [id for id, number in due.items() if number > problem_set.points] if shape == "moodle" else []
        assert 4711 in over or shape == "canvas"
        assert points == {id: number for id, number in due.items() if id not in over}
        for id in over:
            assert f"({id}): {due[id]:g} points" in said, "a line that Moodle leaves out is named"
        assert all(f"{due[id]:g} of 16 points" in pages[id] for id in due) and set(pages) == set(due)
        assert not any("fenced" in page.lower() for page in pages.values())
        for id, (_, comment) in words.items():
            assert html.escape(comment) in pages[int(id)]
            assert comments.get(int(id), comment) == comment
        before = list(csv.DictReader(table.splitlines()))
        kept = [{title: text for title, text in row.items() if title not in ("Grade", "Feedback comments", "ps1 (87568)")} for row in before]
        assert kept == [{title: row[title] for title in one} for row, one in zip(filled, kept, strict=True)]
    assert (tmp_path / "sheet.csv").read_text(encoding="utf-8") == table
