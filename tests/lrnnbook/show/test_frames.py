"""The grammar of pictures: what a reader sees of the numbers of a frame."""

import pandas as pd
import pytest
from matplotlib.collections import FillBetweenPolyCollection

from lrnnbook.content.show import frames
from lrnnbook.content.show.style import FAINT, Look, new_figure
from lrnnbook.content.tables import results

LOOKS = {"a": ("first", Look("#000000")), "b": ("second", Look("#0072B2", "--", "s"))}


def run(row, seed, curve, task="sum", budget="desk", **metrics):
    return {"experiment": "lrnn/table2", "task": task, "row": row, "seed": seed, "budget": budget, "curve": curve,
            "metrics": metrics}  # fmt: skip


def along(found):
    return frames.points(found, lambda run: pd.Series(run.curve, name="share").rename_axis("t"))


def test_a_line_is_the_mean_and_its_band_the_least_and_the_greatest():
    found = results.frame([run("b", 0, [1.0, 0.5]), run("b", 1, [0.0, 0.5]), run("unknown", 0, [9.0, 9.0])])
    axes = new_figure()[1]
    assert frames.curves(axes, along(found), "t", "share", LOOKS, ms=5) == [(0.5, "second", "#0072B2")]
    (line,) = axes.lines
    assert line.get_ydata().tolist() == [0.5, 0.5] and (line.get_marker(), line.get_linestyle()) == ("s", "--")
    (band,) = (one for one in axes.collections if isinstance(one, FillBetweenPolyCollection))
    assert {tuple(at) for at in band.get_paths()[0].vertices} >= {(0, 0), (0, 1), (1, 0.5)}


@pytest.mark.parametrize("across", ["task", "row"])
def test_shares_put_every_number_in_its_panel_and_line(across):
    found = results.frame([run("a", 0, [], far=0.25, near=1.0, level=0.2), run("a", 1, [], far=0.75, near=0.5, level=0.2),
                           run("b", 0, [], task="parity", far=1.0, near=1.0, level=0.5)])  # fmt: skip
    paper = pd.DataFrame([("sum", "b", "far", 90.0)], columns=["task", "row", "metric", "value"])
    figure = frames.shares(found, "far", {"sum": "Sum", "parity": "Parity"}, {"a": "A", "b": "B"}, {"mean": "mean", "live": "now"},
                           size=(3, 2), x="right", seen="near", level="level", across=across, paper=paper,
                           live={("parity", "a"): [0.1]})  # fmt: skip
    drawn = {}
    for panel, axes in enumerate(figure.axes):
        for line in axes.lines:
            for x, y in zip(line.get_xdata(), line.get_ydata()):
                drawn.setdefault((panel, round(float(y))), set()).add((line.get_marker(), round(float(x), 9)))
    at = (lambda task, row: (task, row)) if across == "task" else (lambda task, row: (row, task))
    assert {("o", 0.5), ("o", 0.75), ("|", 0.25), ("|", 0.75)} <= drawn[at(0, 0)]  # mean, ring of the mean, a stroke a seed
    assert ("o", 1.0) in drawn[at(1, 1)] and ("D", 0.9) in drawn[at(0, 1)] and ("s", 0.1) in drawn[at(1, 0)]
    levels = {line.get_xdata()[0] for line in figure.axes[0].lines if line.get_color() == FAINT}
    assert levels == ({0.2} if across == "task" else {0.2, 0.5})
    said = [text.get_text() for axes in figure.axes for text in axes.texts]
    assert said == ["not run"]  # of the cell that the paper has, and no run
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["mean", "now"]


def test_a_picture_is_of_runs_of_one_budget_that_are_there():
    draw = frames.picture(lambda found: new_figure()[0])
    one = run("a", 0, [])
    assert draw(results.frame([one])).axes
    with pytest.raises(ValueError, match=r"got 0 of \[\]"):
        draw(results.frame([]))
    with pytest.raises(ValueError, match=r"got 2 of \['desk', 'live'\]"):
        draw(results.frame([one, {**one, "budget": "live"}]))
    with pytest.raises(ValueError, match="no run of row 'c' among 1; there are .*'a'"):
        frames.runs_of(results.frame([one]), row="c")
