"""A picture that moves has a photograph of how it opens."""

import base64
import io
import re

import numpy as np
import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output
from PIL import Image

from lrnnbook.content.show import interactive
from lrnnbook.content.show.output import WIDGET
from lrnnbook.machinery.book import BookError, Execution
from lrnnbook.machinery.book.outputs import WIDGET_VIEW, tidy
from lrnnbook.machinery.book.stills import add_stills
from lrnnlab.tasks import Sum


def run_of(*pictures):
    """An execution whose one cell shows these pictures that move."""
    shown = [new_output("display_data", {"text/plain": repr(one), WIDGET_VIEW: {"model_id": str(n)}}) for n, one in enumerate(pictures)]
    states = {str(n): {"_esm": one._esm, "data": one.data, "at": one.at, "alt": one.alt} for n, one in enumerate(pictures)}
    return Execution(new_notebook(cells=[new_code_cell("walk_widget", outputs=shown)]), widgets=states)


def test_what_moves_is_photographed_as_it_opens_or_where_its_still_is(program):
    opens, moved = interactive.walk(Sum(3).machine), interactive.walk(Sum(3).machine, [0, 1])
    posed = interactive.walk(Sum(3).machine)
    posed.data = {**posed.data, "still": {"word": [0, 1]}}
    run = run_of(opens, moved, posed)
    add_stills(run)
    stills = [output.data for output in tidy(run.notebook.cells[0].outputs)]
    assert [data["text/plain"] for data in stills] == [WIDGET] * 3 and all("A finite automaton" in data["text/html"] for data in stills)
    pictures = [base64.b64decode(re.search(r"base64,([^\"]+)", data["text/html"])[1]) for data in stills]
    assert pictures[0] != pictures[1] == pictures[2] and max(map(len, pictures)) < 60_000
    for picture in pictures:
        pixels = np.asarray(Image.open(io.BytesIO(picture)).convert("L"))
        assert (pixels[:12] == 255).all() and (pixels < 128).sum() > 1_000  # a margin, and circles, arrows and letters


def test_without_a_browser_nothing_is_built(monkeypatch):
    monkeypatch.setenv("LRNNLAB_CHROMIUM", "no-such-browser")
    with pytest.raises(BookError, match=r'"walk_widget"\): no still of a picture that moves: there is no browser: none of no-such-browser;'):
        add_stills(run_of(interactive.walk(Sum(3).machine)))
