"""The teacher's rehearsal of ps0, as TEACHING has it, in a real browser: release, answer, check, hand in, grade, read, a point by hand."""

import csv
import os
import shutil
import time

import browser as reader
import pytest
from jupyter_lab import jupyter_lab

from lrnnbook.machinery.grading.command import main

pytest.importorskip("nbgrader", reason="a release needs nbgrader: pip install -e '.[course]'")
pytestmark = [pytest.mark.thorough, pytest.mark.skipif(os.name != "posix", reason="grading needs Linux or macOS")]

RIGHT = "def answers(digits):\n    return [sum(digits[: t + 1]) % 5 for t in range(len(digits))]"
SAVED = "() => !document.querySelector('.lm-DockPanel-tabBar .lm-mod-current.jp-mod-dirty')"


def cell_of(panel, code):
    return panel.locator(".jp-CodeCell").filter(has=panel.page.locator(".cm-content", has_text=code))


def looked_at(page, path, name):
    """A page of feedback as a student reads it, on a telephone and on a laptop: nothing is cut off at the right; its text."""
    for width in (390, 1280):
        page.set_viewport_size({"width": width, "height": 900})
        page.goto(path.as_uri())
        page.screenshot(path=reader.artefacts() / f"rehearsal_{name}_{width}.png", full_page=True)
        assert page.evaluate(reader.CUT) == []
    return page.locator("body").inner_text()


def test_the_rehearsal_of_ps0(browser, tmp_path, monkeypatch):
    from playwright.sync_api import expect

    monkeypatch.chdir(tmp_path)
    began = time.monotonic()
    assert main(["release", "ps0", "--out", "handout"]) == 0
    with jupyter_lab(tmp_path / "handout", tmp_path / "state") as server:
        page = browser.new_page(viewport={"width": 1280, "height": 960})
        page.set_default_timeout(reader.MS)
        page.goto(server.page("lab"))
        panel = reader.open_notebook(page, "ps0")
        for number, (student, answer, says) in enumerate((
            ("ann", RIGHT, "the test in cell 10 (ps0_2_seen) says: not attempted"),
            ("Bob O'Neil_4712_assignsubmission_file_/ps0", RIGHT.replace("t + 1", "t"), "(ps0_1_seen) says: answers([0, 3, 2, 4]) gave [0, 0, 3, 0]"),
        )):  # fmt: skip
            reader.write(page, cell_of(panel, "def answers"), answer)
            if not number:
                panel.locator(".jp-MarkdownCell", has_text="Your words here").dblclick()
                words = panel.locator(".jp-MarkdownCell .cm-content:visible")
                expect(words).to_have_count(1)
                words.click()
                page.keyboard.press("Control+a")
                page.keyboard.insert_text("I hope to learn proofs. I worry about torch.")
                page.keyboard.press("Shift+Enter")
            tested = cell_of(panel, "ps0.1: right on the example").locator(".jp-OutputArea-output")
            reader.run_until(page, tested.filter(has_text="gave [0, 0, 3, 0]" if number else "ps0.1: right on the example").first)
            page.keyboard.press("Control+s")
            page.wait_for_function(SAVED)
            last = cell_of(panel, 'report("ps0.ipynb")')
            last.locator(".cm-content").click()
            page.keyboard.press("Shift+Enter")
            expect(last.locator(".jp-OutputArea-output")).to_contain_text(says)
            assert "holds no words of yours" not in last.inner_text()
            page.screenshot(path=reader.artefacts() / f"rehearsal_lab_{number}.png")
            page.keyboard.press("Control+s")
            page.wait_for_function(SAVED)
            handed_in = tmp_path / "class" / f"{student}.ipynb"  # by hand, and as Moodle does
            handed_in.parent.mkdir(parents=True)
            shutil.copy(tmp_path / "handout" / "ps0.ipynb", handed_in)
        page.close()
    assert main(["grade", "class", "--out", "marks", *([] if shutil.which("bwrap") else ["--unfenced"])]) == 0
    page = browser.new_page()
    ann, bob = (tmp_path / "marks" / "feedback" / f"{name}.html" for name in ("ann", "Bob O'Neil (4712)"))
    said = looked_at(page, ann, "ann")
    assert "2 of 4 points." in said and "I hope to learn proofs" not in said, "folded"
    said = looked_at(page, bob, "bob")
    assert "0 of 4 points." in said and "answers([0, 3, 2, 4]) gave [0, 0, 3, 0], and should give [0, 3, 0, 4]" in said
    assert "a string of one digit, a long one, or none at all" in said and "How to go on" in said
    marks = tmp_path / "marks" / "marks.csv"
    with marks.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    next(row for row in rows if row["id"] == "4712").update({"adjust": "1", "comment": "Two fine sentences"})
    with marks.open("w", encoding="utf-8", newline="") as file:
        out = csv.DictWriter(file, rows[0])
        out.writeheader()
        out.writerows(rows)
    assert main(["marks", "marks"]) == 0
    said = looked_at(page, bob, "bob_by_hand")
    assert "1 of 4 points, of these +1 by hand" in said and "From your teacher. Two fine sentences" in said
    page.locator("summary").last.click()
    assert "I hope to learn proofs" in page.locator("body").inner_text()
    page.close()
    (reader.artefacts() / "rehearsal.txt").write_text(f"{time.monotonic() - began:.0f} seconds for the machine's part of the rehearsal\n")
