"""A run that broke off is told apart in every table and picture, and no table mixes budgets or protocols."""

import copy
import math

import numpy as np
import pytest

from lrnnlab.tasks import task
from workbook.book import sync as drifting
from workbook.book.text import difference
from workbook.show import automaton_figures, language_figures
from workbook.tables import records, results, rotrnn_fig3


def test_an_r2_that_is_none_is_not_a_perfect_one():
    run = {"experiment": "dlr/table1", "row": "dlr_1", "task": "shift-64", "seed": 0, "budget": "desk", "protocol": "ours"}
    made = results.frame([{**run, "metrics": {"r2": math.nan, "finished": False}},
                          {**run, "row": "dlr_2", "metrics": {"r2": 0.95, "finished": True}}])  # fmt: skip
    assert results.grid(made, "r2", "mean").loc["shift-64"].tolist() == ["NaN !", "0.95"]
    assert results.reasons(made)[["row", "why"]].values.tolist() == [["dlr_1", "1 not learned"]]


def test_norms_that_are_none_are_said_to_be():
    record = copy.deepcopy(records.recorded("rotrnn/fig3")[0])
    assert math.isnan(rotrnn_fig3.apart([1.0, None]))
    record["metrics"]["norm_end"][0] = None
    assert "first, start" in results.line(record) and "first, end" not in results.line(record)
    time = {"strings": [3, 0], "real": [None, 1.0], "formula": [1.0, 1.0]}
    assert rotrnn_fig3._share(time, "real") is None and rotrnn_fig3._share({**time, "real": [2.0, None]}, "real") == 2


def test_a_rate_at_which_a_seed_broke_off_has_a_cross():
    made = [one for one in records.recorded("dlr/table5") if one["task"] == "depth4-0.01"]
    broken = {**made[0], "seed": 9, "metrics": {**made[0]["metrics"], "test": None}}
    crosses = [line for axes in language_figures.loss_by_rate(results.frame([*made, broken])).axes for line in axes.lines
               if line.get_marker() == "x" and len(line.get_xdata())]  # fmt: skip
    assert [line.get_xdata().tolist() for line in crosses] == [[0.01]]
    marked = results.frame([*made, {**broken, "metrics": {**broken["metrics"], "finished": False}}])
    assert results.grid(marked, "test", "number").loc["depth4-0.01", broken["row"]] == f"{made[0]['metrics']['test']:.4g} !"


def test_a_mean_over_seeds_ends_where_one_of_them_broke_off():
    made = next(one for one in records.recorded("dlr/table5") if (one["task"], one["row"]) == ("characters", "dlr_pre"))
    half = {**made, "seed": 9, "watched": made["watched"][:4]}
    axes = language_figures.loss_by_step(results.frame([made, half])).axes[1]
    (test,) = [line for line in axes.lines if line.get_marker() == "o"]
    assert np.isfinite(test.get_ydata()).tolist() == [True] * 4 + [False] * (len(made["watched"]) - 4)


@pytest.mark.parametrize("name", ["s_3", "tomita_5", "evenpair"])
def test_a_legend_of_answers_stays_on_the_page(name):
    figure = automaton_figures.state_diagram(task(name).machine)
    figure.canvas.draw()
    edge = figure.bbox.x1
    assert all(text.get_window_extent().x1 <= edge for axes in figure.axes for text in axes.texts)


def test_what_begins_with_dashes_is_a_change_too():
    from nbformat.v4 import new_code_cell

    (said,) = drifting.differences([new_code_cell("++x")], [new_code_cell("--x")], "twin", "source")
    assert "--x" in said and "++x" in said


def test_letters_of_a_word_are_no_seconds():
    assert difference("as many 0s as 1s", "as many 1s as 0s") is not None
    assert difference("took 1.2s and 10s", "took 2 s and 31 ms") is None
