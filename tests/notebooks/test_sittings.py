"""A chapter is one sitting: counted from its notebook, for 00 and for each that has lettered notebooks behind it."""

import re
from itertools import accumulate
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell

from lrnnbook.content.chapters.ch00 import SITTINGS as SITTINGS_ON_THE_MAP
from lrnnbook.content.exercises.hints import HEADER
from lrnnbook.content.show.output import WIDGET
from lrnnbook.machinery.book.reading_time import exercising, reading
from lrnnbook.machinery.book.running import HIDDEN

NOTEBOOKS = Path(__file__).resolve().parents[2] / "notebooks"
LETTERED = sorted((NOTEBOOKS / "deeper").glob("[0-9][0-9][a-z]_*.ipynb"))
SITTINGS = [path for path in sorted(NOTEBOOKS.glob("[0-9][0-9]_*.ipynb"))
            if path.stem[:2] in {"00", *(lettered.stem[:2] for lettered in LETTERED)}]  # fmt: skip
NOT_TEXT = re.compile(r"```[\s\S]*?```|<!--[\s\S]*?-->|^\|.*\|$|^#+ .*$", re.MULTILINE)
FORMULA = re.compile(r"\$\$.+?\$\$|\$[^$]+\$|`[^`]+`", re.DOTALL)
WORD = re.compile(r"[^\W\d_][\w'’-]*")


def is_generated(cell):
    return cell.source.startswith("<!--")


def text(cell):
    """The running text of a Markdown cell; a formula counts as one letter, an exercise and what is folded do not count."""
    source = cell.source
    if cell.cell_type != "markdown" or is_generated(cell) or HEADER.search(source):
        return ""
    return FORMULA.sub("x", NOT_TEXT.sub("\n\n", source.replace("](deeper/", "](")))  # the folder of an address is no word


def sentences(written):
    parts = re.split(r"\n\s*\n|^\s*(?:[-*>]|\d+\.)\s", written, flags=re.MULTILINE)
    return [sentence for part in parts for sentence in re.split(r"(?<=[.?!])[)*\"”]*\s+(?=\S)", " ".join(part.split()))]


def shows(cell):
    """Whether a cell's output holds a picture, a widget or what moves."""
    return any("image/png" in data or "<img" in data.get("text/html", "") or data.get("text/plain") == WIDGET
               for data in (one.get("data", {}) for one in cell.get("outputs", ())))  # fmt: skip


def counts(path):
    """What a reader of a notebook has before them."""
    cells = nbformat.read(path, 4).cells
    words = [len(WORD.findall(text(cell))) for cell in cells]
    pictures = [i for i, cell in enumerate(cells) if shows(cell)]
    before = list(accumulate(words, initial=0))
    long = [one for cell in cells for one in sentences(text(cell)) if len(WORD.findall(one)) > 35]
    return {
        "minutes": reading(cells), "words": before[-1], "cells": sum(not is_generated(cell) for cell in cells),
        "proof cells": sum(any(tag.startswith("proof-") for tag in cell.metadata.get("tags", ())) for cell in cells),
        "pictures": len(pictures), "words a picture": before[-1] // max(len(pictures), 1),
        "words before the first": before[pictures[0]] if pictures else before[-1], "long sentences": long,
        "exercises": sum(bool(HEADER.search(cell.source)) for cell in cells),
    }  # fmt: skip


MOST = {"minutes": 60, "words": 2600, "cells": 70, "proof cells": 20, "words a picture": 300, "words before the first": 250}


@pytest.mark.parametrize("path", SITTINGS, ids=lambda path: path.stem)
def test_it_is_one_sitting(path):
    found = counts(path)
    assert not {name: found[name] for name, most in MOST.items() if found[name] > most}
    assert not found["long sentences"]


@pytest.mark.parametrize("path", LETTERED, ids=lambda path: path.stem)
def test_behind_it_an_idea_takes_an_hour_at_most(path):
    assert counts(path)["minutes"] <= 60


NAMED = {"01": {"proof-proposition_1", "proof-proposition_2"}, "04": {"proof-lemma_3"}, "06": {"proof-claim_1"}}  # walked through in view
UNSEEN = re.compile(r"\b(tables|ladder)\.|show\.figure\(|\balt=|^\s*(import|from)\s", re.MULTILINE)  # records, drawing, set-up


def in_view(cells):
    """The code cells that a reader sees unfolded, each with its tags of proofs."""
    for cell in cells:
        tags = cell.metadata.get("tags", ())
        if cell.cell_type == "code" and HIDDEN not in tags:
            yield cell.source, {tag for tag in tags if tag.startswith("proof-")}


def lines(code):
    return sum(bool(line.strip()) and not line.strip().startswith("#") for line in code.splitlines())


def share_of_proofs(cells, named=frozenset()):
    """How much of the code in view is in cells that check or prove; the ``named`` proofs are not counted at all."""
    seen = [(lines(code), bool(tags) or "assert " in code or "expect_failure(" in code)
            for code, tags in in_view(cells) if not tags & named]  # fmt: skip
    return sum(many for many, proves in seen if proves) / max(sum(many for many, _ in seen), 1)


@pytest.mark.parametrize("path", SITTINGS, ids=lambda path: path.stem)
def test_in_view_are_model_training_and_search_and_not_what_checks_proofs(path):
    cells = nbformat.read(path, 4).cells
    assert share_of_proofs(cells, NAMED.get(path.stem[:2], set())) <= 0.4
    assert [code for code, _ in in_view(cells) if not code.startswith("%%build ") and UNSEEN.search(code)] == []


def test_what_is_in_view_is_counted():
    cells = [new_code_cell("a = 1\n\n# why\nb = 2"), new_code_cell("assert a", metadata={"tags": ["proof-one"]}), new_markdown_cell("x"),
             new_code_cell("c = 3\nd = 4\nassert c"), new_code_cell("e = 5", metadata={"tags": ["hide-input"]})]
    assert share_of_proofs(cells) == 4 / 6 and share_of_proofs(cells, {"proof-one"}) == 3 / 5
    assert UNSEEN.search("x = tables.plan()") and UNSEEN.search("import torch") and not UNSEEN.search("from_one = 1")


def both(path):
    """Minutes to read, and of exercises."""
    cells = nbformat.read(path, 4).cells
    return reading(cells), exercising(cells)


def test_the_map_of_chapter_00_is_that_of_the_folder():
    for number, (_, minutes, uses, _, behind) in SITTINGS_ON_THE_MAP.items():
        (path,) = NOTEBOOKS.glob(f"{number}_*.ipynb")
        found = [(one.stem.partition("_")[2].replace("_", " "), both(one)) for one in LETTERED if one.stem.startswith(number)]
        assert (minutes, list(behind)) == (both(path), found), number
        assert {*uses} <= {*SITTINGS_ON_THE_MAP}


def test_the_readme_says_the_same_minutes():
    rows = re.findall(r"^\| \[(\d\d) .*\| (\d+) \+ (\d+) \|$", (NOTEBOOKS.parent / "README.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert {number: (int(read), int(exercises)) for number, read, exercises in rows} == {
        number: minutes for number, (_, minutes, *_) in SITTINGS_ON_THE_MAP.items()}  # fmt: skip


if __name__ == "__main__":
    for path in [*SITTINGS, *LETTERED]:
        print(path.stem, {name: len(found) if name == "long sentences" else found for name, found in counts(path).items()})
