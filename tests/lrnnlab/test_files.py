"""Files in folders that are not ours alone: what is no data, and that nothing of anybody's is written over."""

import os

import pytest
from PIL import Image

from lrnnbook.content.show import gallery as pictures
from lrnnbook.content.tables import records
from lrnnbook.machinery import cli
from lrnnlab import files


@pytest.mark.parametrize("name", [
    "._0_9.txt", ".DS_Store", ".ds_store", "Thumbs.db", "THUMBS.DB", "desktop.ini", "Desktop.ini", "Icon\r", "__MACOSX", "@eaDir",
    "$RECYCLE.BIN", "System Volume Information", "lost+found", ".ipynb_checkpoints", ".nfs00001", ".~lock.a.csv#", "~$a.docx", ".directory",
])  # fmt: skip
def test_what_systems_leave_is_told_from_data(name, tmp_path):
    assert files.is_clutter(name)
    (tmp_path / f"{name}").touch()
    assert files.files_in(tmp_path, os.path.splitext(name)[1].lower()) == []


THERE = {
    "a link": lambda path: [path.with_name("there").write_text("theirs"), path.symlink_to("there")],
    "a link that leads nowhere": lambda path: path.symlink_to("nowhere"),
    "a link to itself": lambda path: path.symlink_to(path.name),
    "a link to a folder": lambda path: [path.with_name("there").mkdir(), path.symlink_to("there")],
    "a folder": lambda path: path.mkdir(),
    "a pipe": lambda path: os.mkfifo(path),
}


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs a system with pipes and links")
@pytest.mark.parametrize("kind", THERE)
def test_only_a_plain_file_is_written_over(kind, tmp_path):
    path = tmp_path / "file"
    THERE[kind](path)
    before = state(tmp_path)
    for write in (lambda: files.put(path, b"ours"), lambda: files.check_file(path), lambda: records.check_writable([path])):
        with pytest.raises(OSError, match="file"):
            write()
    assert state(tmp_path) == before


def state(folder):
    return {path.name: (path.lstat().st_mode, path.is_symlink() and os.readlink(path),
                        path.is_file() and path.read_bytes()) for path in folder.iterdir()}  # fmt: skip


def test_a_lock_empties_no_file(tmp_path):
    (tmp_path / "theirs").write_text("theirs")
    (tmp_path / ".marks.csv.lock").symlink_to("theirs")
    with files.alone(tmp_path / "marks.csv"):
        pass
    assert (tmp_path / "theirs").read_text() == "theirs"


def test_what_is_set_aside_takes_nobody_s_place(tmp_path):
    path = tmp_path / "a.pt"
    kept = []
    for text in ("first", "second", "third"):
        path.write_text(text)
        kept.append(files.set_aside(path))
    path.symlink_to("nowhere")
    link = files.set_aside(path)
    assert [one.read_text() for one in kept] == ["first", "second", "third"] and link.is_symlink()
    assert not os.path.lexists(path) and len({*kept, link}) == 4 and {one.suffix for one in kept} == {".pt"}


@pytest.mark.parametrize("kind", ["a text", "another picture", "a link"])
def test_a_picture_that_is_not_ours_is_not_drawn_over(kind, tmp_path, capsys):
    path = tmp_path / "lrnn_fig1.png"
    if kind == "a text":
        path.write_text("theirs")
    else:
        Image.new("L", (2, 2)).save(path)
    if kind == "a link":
        pictures.draw(tmp_path / "ours", ["lrnn_fig1"])
        path.unlink()
        path.symlink_to(tmp_path / "ours" / path.name)
    before = state(tmp_path)
    assert cli.main(["figures", "lrnn_fig1", "--folder", str(tmp_path)]) == 2
    said = capsys.readouterr().err
    assert str(path) in said and ("a link is there" if kind == "a link" else "was not drawn by lrnnlab") in said
    assert state(tmp_path) == before
