"""The pictures in figures/ come from one command, and what they claim is checked before they are drawn."""

import matplotlib
import pytest
from PIL import Image

from workbook import cli
from workbook.show import gallery as pictures
from workbook.show.output import quick_png
from workbook.show.style import new_figure
from workbook.tables import records


def test_a_picture_is_drawn_and_small(tmp_path):
    (path,) = pictures.draw(tmp_path, ["found_automaton"])
    data = path.read_bytes()
    assert data.startswith(b"\x89PNG") and len(data) <= 150_000


@pytest.mark.parametrize("name", [name for name, picture in pictures.PICTURES.items() if picture.tables])
def test_every_picture_of_records_is_drawn_from_them(name):
    figure = pictures.PICTURES[name].figure()
    assert any(axes.lines or axes.collections or axes.patches or axes.images for axes in figure.axes)


def test_an_unknown_picture_is_refused(tmp_path, capsys):
    with pytest.raises(ValueError, match="no picture 'mona_lisa'"):
        pictures.draw(tmp_path, ["mona_lisa"])
    assert cli.main(["figures", "mona_lisa", "--folder", str(tmp_path)]) == 2


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


def test_a_reader_who_sets_all_text_in_latex_needs_none_here():
    with matplotlib.rc_context({"text.usetex": True, "text.latex.preamble": r"\no such command"}):
        figure, axes = new_figure(2.0)
        axes.plot([0, 1])
        axes.set_title("$x_t$ of 50 %")
        assert quick_png(figure)
