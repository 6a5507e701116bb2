"""The pictures in figures/ come from one command, and what they claim is checked before they are drawn."""

import pytest
from PIL import Image

from lrnnbook.content.show import gallery as pictures
from lrnnbook.content.tables import records
from lrnnbook.machinery import cli


def test_a_picture_is_drawn_and_small(tmp_path):
    (path,) = pictures.draw(tmp_path, ["found_automaton"])
    data = path.read_bytes()
    assert data.startswith(b"\x89PNG") and len(data) <= 150_000


@pytest.mark.parametrize("name", [name for name, picture in pictures.PICTURES.items() if picture.tables])
def test_every_picture_of_records_is_drawn_from_them(name):
    figure = pictures.PICTURES[name].figure()
    assert any(axes.lines or axes.collections or axes.patches or axes.images for axes in figure.axes)


def test_without_records_the_table_says_how_to_make_them(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(records, "data_folder", lambda: tmp_path)
    with pytest.raises(ValueError, match="reproduce lrnn/table2"):
        pictures.PICTURES["lrnn_table2"].figure()
    assert cli.main(["figures", "lrnn_table2", "--folder", str(tmp_path)]) == 2
    assert "no records of lrnn/table2: run lrnnlab reproduce lrnn/table2 --budget desk first" in capsys.readouterr().err


def test_every_committed_picture_has_its_function():
    folder = records.data_folder().parent / "figures"
    assert {path.stem for path in folder.glob("*.png")} == set(pictures.PICTURES)


@pytest.mark.parametrize("name", pictures.PICTURES)
def test_a_committed_picture_is_of_the_records_that_are_there(name):
    """Drawn again on another machine a pixel may differ, so what is compared is the digest that travels in the file."""
    with Image.open(records.data_folder().parent / "figures" / f"{name}.png") as picture:
        assert picture.text["Records"] == pictures.PICTURES[name].source(), f"run lrnnlab figures {name}"
        assert picture.text["Description"] == pictures.PICTURES[name].alt
