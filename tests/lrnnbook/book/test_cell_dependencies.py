"""Which cells a widget needs: found from the text of the cells alone."""

from pathlib import Path

import nbformat
import pytest

from lrnnbook.machinery.book.cell_dependencies import bound_again, names, needed, widget_cells, widgets
from lrnnbook.machinery.copies import chapters_in

NOTEBOOKS = chapters_in(Path(__file__).resolve().parents[3] / "notebooks")


@pytest.mark.parametrize("codes, kept", [
    (["a = 1", "b = slow()", "def f(): return a", "f_widget = f\nf_widget"], [0, 2, 3]),
    (["rows = []", "rows.append(1)", "a = rows\na"], [0, 1, 2]),
    (["t = {}", "t['k'] = 2", "t.x = 3", "print(t)", "t"], [0, 1, 2, 4]),
    (["a = 1", "a = 2", "a"], [1, 2]),  # the last one counts
    (["a = 1", "a += 1", "a"], [0, 1, 2]),  # and what it is made of
    (["import show", "show.figure(1)", "show"], [0, 2]),  # a module is not changed by its functions
    (["net = 0", "fit(net)", "net"], [0, 1, 2]),
    (["a = 1", "def f(a): return a", "f"], [1, 2]),  # the argument a is another a
    (["a = 1", "def f(): return [a for b in range(3)]", "f"], [0, 1, 2]),
    (["for i in range(3): pass", "i"], [0, 1]),
    (["net = 1", "print([0 for net in range(3)])", "net"], [0, 2]),  # a loop of its own, also where Python inlines it
    (["net = 1", "[net for net in range(3)]", "{net: 1 for net in range(3)}\n{net for net in range(3)}"], [2]),
])  # fmt: skip
def test_needed_cells(codes, kept):
    assert needed(codes, len(codes) - 1) == kept


def test_a_chapter_s_widgets_are_made_without_the_rest(tmp_path):
    source = tmp_path / "07_sample.py"
    source.write_text(
        "# %% [markdown]\n# # A\n\n# %%\nfrom lrnnbook.content.show.widgets import explore\n"
        "from lrnnbook.content.chapters.ch02 import growth\n\n# %%\nraise SystemExit('slow')\n\n"
        "# %%\nprint('dropped')\na_widget = explore(growth, {'p': [1.0, 2.0], 'b': [2]}, alt='Growth.')\na_widget\n")  # fmt: skip
    made = widgets(source)
    assert list(made) == ["a_widget"] and made["a_widget"].values == {"p": 1.0, "b": 2}
    assert widgets(source, only=[]) == {}


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_every_widget_of_the_book_is_found_by_its_name(notebook):
    stored = nbformat.read(notebook, 4)
    panels = [i for i, cell in enumerate(stored.cells) if "interactive panel" in str(cell.get("outputs", ""))]
    assert list(widget_cells(stored)) == [i for i in panels if "guess(" not in stored.cells[i].source]


def test_a_build_cell_is_read_without_its_magic_and_its_imports_are_the_same_things_again():
    build = "%%build scan\nimport torch\n\n\ndef scan(A):\n    return torch.stack(A)"
    assert names(build).binds == {"torch", "scan"}
    assert bound_again(["import torch\nx = 1", build, "print(torch, x)"]) == []
    assert bound_again(["import torch\nx = 1", "print(torch, x)", build + "\nx = 2"]) != []
