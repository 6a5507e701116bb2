"""A reader's own copy: made once, never overwritten, started over, compared with the project; and the progress in it."""

import json
import os
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from right_answers import right

from lrnnbook.content.exercises import check, guess, progress
from lrnnbook.content.exercises.building import builds
from lrnnbook.content.exercises.checking import exercises
from lrnnbook.content.exercises.progress import FILE, _exercises
from lrnnbook.machinery import cli, copies
from lrnnbook.machinery.book.command import find_sources

ROOT = Path(__file__).resolve().parents[2]
CHAPTERS = copies.chapters_in(ROOT / "notebooks")


def chapter(project, name, *cells):
    (project / "notebooks" / "py" / name).parent.mkdir(parents=True, exist_ok=True)
    (project / "notebooks" / name).parent.mkdir(exist_ok=True)
    (project / "notebooks" / "py" / f"{name}.py").touch()
    nbformat.write(new_notebook(cells=list(cells)), project / "notebooks" / f"{name}.ipynb")


@pytest.fixture
def project(tmp_path):
    chapter(tmp_path, "00_start", new_markdown_cell("# Start"), new_code_cell("x = 1"))
    chapter(tmp_path, "01_more", new_markdown_cell("# More"))
    return tmp_path


@pytest.fixture
def mine(tmp_path, monkeypatch):
    """A copy of the real chapters, where the process stands."""
    folder = tmp_path / "my_notebooks"
    copies.make(folder)
    monkeypatch.chdir(folder)
    return folder


def test_what_is_there_is_never_overwritten_and_new_chapters_come(project):
    folder = project / "mine"
    assert copies.make(folder, project) == ["00_start.ipynb", "01_more.ipynb"]
    (folder / "00_start.ipynb").write_text("mine")
    chapter(project, "00_start", new_markdown_cell("# Other"))
    chapter(project, "02_new", new_markdown_cell("# New"))
    assert copies.make(folder, project) == ["02_new.ipynb"]
    assert (folder / "00_start.ipynb").read_text() == "mine"


def test_what_goes_deeper_lies_below_in_a_copy_as_in_the_project(project, monkeypatch):
    folder = project / "mine"
    for name in ("deeper/00a_and", "deeper/01a_on"):
        chapter(project, name, new_markdown_cell("# And"))
    assert copies.make(folder, project) == ["00_start.ipynb", "deeper/00a_and.ipynb", "01_more.ipynb", "deeper/01a_on.ipynb"]
    assert copies.copied(folder) == ["00_start", "00a_and", "01_more", "01a_on"]
    (folder / "deeper" / "01a_on.ipynb").write_text("mine")
    assert "01a_on: nothing has changed" in copies.news("01a", folder, project)
    assert "deeper/01a_on.ipynb is fresh; what you had is deeper/01a_on.20" in copies.start_over("01a", folder, project)
    for place, found in (("", folder), ("deeper", folder), (copies.AS_MADE, None), ("../notebooks/deeper", None)):
        monkeypatch.chdir(folder / place)
        assert copies.here() == found


def test_a_copy_that_was_made_flat_is_neither_lost_nor_broken(tmp_path, monkeypatch, capsys):
    """Made before there was ``deeper/``: what the reader has stays, can be asked about, and the new ones come beside it."""
    project, folder = tmp_path / "project", tmp_path / "mine"
    for name in ("00_start", "00a_and"):
        chapter(project, name, new_markdown_cell("# And"))
    copies.make(folder, project)
    (folder / "00a_and.ipynb").write_text("mine")
    (project / "notebooks" / "deeper").mkdir()
    (project / "notebooks" / "py" / "deeper").mkdir()
    for file in ("00a_and.ipynb", "py/00a_and.py"):
        file = project / "notebooks" / file
        file.rename(file.parent / "deeper" / file.name)
    chapter(project, "deeper/00a_and", new_markdown_cell("# Other"))
    assert "1 change since your copy was made" in copies.news("00a", folder, project)
    assert "deeper/00a_and.ipynb is fresh; what you had is 00a_and.ipynb" in copies.start_over("00a", folder, project)
    (folder / "deeper" / "00a_and.ipynb").unlink()
    monkeypatch.setattr(copies, "PROJECT", project)
    monkeypatch.setattr(copies.make, "__defaults__", (project,))
    monkeypatch.setattr(copies.left_behind, "__defaults__", (project,))
    assert cli.main(["copy", "--folder", str(folder)]) == 0
    assert capsys.readouterr().out.splitlines()[:2] == [
        "deeper/00a_and.ipynb", "Lettered chapters are in deeper/ now; yours from before stay as they are: 00a_and.ipynb"]  # fmt: skip
    assert (folder / "00a_and.ipynb").read_text() == "mine" and copies.copied(folder) == ["00_start", "00a_and"]
    assert "nothing has changed" in copies.news("00a", folder, project)
    assert cli.main(["copy", "--folder", str(folder)]) == 0 and "before" not in capsys.readouterr().out


STRAY = ["01_more (1)", "01_more-LAPTOP-AB12", "01_more (Ann's conflicted copy 2026-11-28)", "01_more_conf(2)", "01_more-Copy1",
         "01_more.sync-conflict-20261128-101112-ABCDEFG", "01_more.nbconvert", "Copy of 01_more", "Untitled", "01_mine"]


def test_what_others_put_beside_the_chapters_is_no_chapter(project):
    """Programs that keep folders in step leave conflict copies of notebook and source; people leave notebooks without a source."""
    folder, notebooks = project / "mine", project / "notebooks"
    copies.make(folder, project)
    for name in STRAY:
        for path in (notebooks / f"{name}.ipynb", folder / copies.AS_MADE / f"{name}.ipynb"):
            path.write_bytes((notebooks / "01_more.ipynb").read_bytes())
        if name not in STRAY[-2:]:
            (notebooks / "py" / f"{name}.py").touch()
    (notebooks / "py" / "03_folder.py").mkdir()
    assert copies.make(folder, project) == []
    assert "01_more: nothing has changed" in copies.news("01", folder, project)
    assert not set(copies.copied(folder)) & set(STRAY[:-2])
    assert find_sources(project, ["01_more"]) == [notebooks / "py" / "01_more.py"]
    assert [path.stem for path in copies.chapters_in(notebooks / "py", ".py")] == ["00_start", "01_more"]


def test_starting_over_keeps_every_old_one(project):
    folder = project / "mine"
    copies.make(folder, project)
    for text in ("first", "second"):
        (folder / "00_start.ipynb").write_text(text)
        assert "00_start.ipynb is fresh; what you had is 00_start.20" in copies.start_over("00", folder, project)
    assert (folder / "00_start.ipynb").read_bytes() == (project / "notebooks" / "00_start.ipynb").read_bytes()
    assert sorted(path.read_text() for path in folder.glob("00_start.20*.ipynb")) == ["first", "second"]
    (folder / "01_more.ipynb").unlink()
    assert "you had none" in copies.start_over("01_more", folder, project)


def test_the_news_are_the_project_s_and_not_the_reader_s(project):
    folder = project / "mine"
    copies.make(folder, project)
    (folder / "00_start.ipynb").write_text("what the reader made of it")
    assert copies.news("00", folder, project) == "00_start: nothing has changed since your copy was made."
    chapter(project, "00_start", new_markdown_cell("# Start"), new_code_cell("x = 2"), new_markdown_cell("More"))
    said = copies.news("00", folder, project)
    assert 'only in the new version: cell 3 ("More")' in said and 'only in the old version: cell 2 (In [1], "x = 1")' in said
    chapter(project, "00_start", new_markdown_cell("# Start"), new_code_cell("x = 2"))
    assert "-x = 1" in copies.news("00", folder, project) and "+x = 2" in copies.news("00", folder, project)
    copies.start_over("00", folder, project)
    assert "nothing has changed" in copies.news("00", folder, project)


def test_a_damaged_copy_and_a_chapter_that_is_gone_stop_no_other(project, capsys, monkeypatch):
    mine = project / "mine"
    copies.make(mine, project)
    made = mine / copies.AS_MADE
    (made / "01_more.ipynb").write_text('{"cells": [')
    (made / "02_gone.ipynb").write_bytes((made / "00_start.ipynb").read_bytes())
    with pytest.raises(ValueError, match=f"{copies.AS_MADE}/01_more.ipynb is not a notebook; lrnnlab copy start-over 01 puts"):
        copies.news("01", mine, project)
    monkeypatch.setattr(copies, "_chapters", lambda _: sorted((project / "notebooks").glob("*.ipynb")))
    assert cli.main(["copy", "news", "--folder", str(mine)]) == 1
    said = capsys.readouterr().out
    assert "00_start: nothing has changed" in said and "01_more.ipynb is not a notebook" in said and "02" in said
    for damage in ("{}", "[]", '{"cells": [3]}'):
        (made / "01_more.ipynb").write_text(damage)
        for look in (lambda: _exercises(made / "01_more.ipynb"), lambda: copies.news("01", mine, project)):
            with pytest.raises(ValueError, match="01_more.ipynb is not a notebook.*start-over 01"):
                look()


def test_a_chapter_that_is_a_link_is_kept_as_it_is(project):
    mine, theirs = project / "mine", project / "theirs.ipynb"
    copies.make(mine, project)
    theirs.write_text("theirs")
    for chapter, target in (("00_start", theirs), ("01_more", "/nowhere/away.ipynb")):
        (mine / f"{chapter}.ipynb").unlink()
        (mine / f"{chapter}.ipynb").symlink_to(target)
        assert f"what you had is {chapter}.20" in copies.start_over(chapter, mine, project)
        (kept,) = mine.glob(f"{chapter}.20*.ipynb")
        assert os.readlink(kept) == str(target) and not (mine / f"{chapter}.ipynb").is_symlink()
    assert theirs.read_text() == "theirs"


def test_nothing_is_written_through_a_link(project, tmp_path, capsys):
    """What stands behind ``.as_made``, and a chapter in it, may be those of another copy."""
    mine, other = project / "mine", project / "other"
    copies.make(other, project)
    mine.mkdir()
    (mine / copies.AS_MADE).symlink_to(other / copies.AS_MADE)
    chapter(project, "00_start", new_markdown_cell("# Other"))
    before = {path.name: path.read_bytes() for path in (other / copies.AS_MADE).iterdir()}
    for verb in ("make", "start-over"):
        assert cli.main(["copy", verb, *(["00"] if verb == "start-over" else []), "--folder", str(mine)]) == 2
        assert ".as_made is a link" in capsys.readouterr().err
    (mine / copies.AS_MADE).unlink()
    (mine / copies.AS_MADE).mkdir()
    (mine / copies.AS_MADE / copies.DEEPER).symlink_to(other)
    assert cli.main(["copy", "--folder", str(mine)]) == 2 and "deeper is a link" in capsys.readouterr().err
    (mine / copies.AS_MADE / copies.DEEPER).unlink()
    (mine / copies.AS_MADE / "00_start.ipynb").symlink_to(other / copies.AS_MADE / "00_start.ipynb")
    (mine / "00_start.ipynb").write_text("mine")
    with pytest.raises(OSError, match="a link is there"):
        copies.start_over("00", mine, project)
    assert (mine / "00_start.ipynb").read_text() == "mine"
    assert {path.name: path.read_bytes() for path in (other / copies.AS_MADE).iterdir()} == before


@pytest.mark.parametrize("number", sorted({path.stem[:2] for path in CHAPTERS if path.stem[0].isdigit()}))
def test_every_exercise_that_a_cell_checks_is_found_with_its_points(number):
    found = {}
    for path in CHAPTERS:
        if path.stem.startswith(number):
            found |= _exercises(path)
    assert set(found) == {one.id for one in exercises(number)} | {one.exercise for one in builds(number).values()}
    assert len({points > 0 for points in found.values()}) == 1  # all of a chapter's have points, or none has


def test_check_and_predict_write_what_the_page_shows(mine, monkeypatch):
    assert "| [00 start here](00_start_here.ipynb) | not opened | 0 of 4 | 0 of 12 |" in progress()
    assert "**Next:** open [00 start here](00_start_here.ipynb)." in progress()
    answer = right(exercises("00")[0])
    for given in (None, lambda text: [], answer, None):
        check("00.1", given)
    asked = guess("00.3", lambda: "about 20 %, no better than a guess")
    asked.choice.value = "about 80 %"
    asked.button.click()
    done = json.loads((mine / FILE).read_text())
    assert [(done[id]["outcome"], done[id]["tries"]) for id in ("00.1", "00.3")] == [("right", 2), ("not yet", 1)]
    assert "begun | 1 of 4 | 3 of 12 |" in progress()
    assert "**Next:** exercise 00.2 in [00 start here](00_start_here.ipynb)." in progress()
    for id in ("00.2", "00.4"):
        check(id, None)
    assert "run to the end | 1 of 4" in progress()
    asked = "| [01a stored inputs](deeper/01a_stored_inputs.ipynb) | {} |"
    assert asked.format("not opened") in progress()
    monkeypatch.chdir(mine / copies.DEEPER)
    check(next(iter(_exercises(mine / copies.DEEPER / "01a_stored_inputs.ipynb"))), None)
    assert "[01a stored inputs](deeper/01a_stored_inputs.ipynb) | " in progress() and asked.format("not opened") not in progress()


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff", b'{"00.1": 3}', b'{"00.1": {"outcome": "x", "tries": 0}}'])
def test_a_damaged_file_is_kept_and_counting_begins_anew(mine, content, capsys):
    (mine / FILE).write_bytes(content)
    assert check("00.2", list("01234")).outcome == "right"
    assert "was damaged: it is kept as progress.20" in capsys.readouterr().out
    assert [path.read_bytes() for path in mine.glob("progress.20*.json")] == [content]
    assert list(json.loads((mine / FILE).read_text())) == ["00.2"]


def test_the_command_line(tmp_path, capsys):
    folder = ["--folder", str(tmp_path / "mine")]
    assert cli.main(["copy", *folder]) == 0
    assert cli.main(["copy", "progress", *folder]) == 0
    assert "not opened" in capsys.readouterr().out
    assert cli.main(["copy", "news", *folder]) == 0
    assert capsys.readouterr().out.count("nothing has changed") == len(CHAPTERS)
    assert cli.main(["copy", "start-over", "03", *folder]) == 0
    assert cli.main(["copy", "start-over", *folder]) == 2 == cli.main(["copy", "make", "03", *folder])
    capsys.readouterr()
    for names in (["03"], []):
        assert cli.main(["copy", "news", *names, "--folder", str(tmp_path / "nowhere")]) == 2
        assert "no working copy" in capsys.readouterr().err
