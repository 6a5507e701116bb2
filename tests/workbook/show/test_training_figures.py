"""Accuracy by position: the numbers that are drawn, and the levels that a reader compares them with."""

import numpy as np
import pytest

from workbook.show.training_figures import accuracy_by_length


def line(axes, label):
    (found,) = [one for one in axes.lines if one.get_label() == label]
    return found


def test_accuracy_marks_training_length_chance_and_majority():
    accuracies = np.linspace(1, 0, 100)
    axes = accuracy_by_length({"lstm": accuracies}, train_length=40, chance=0.2, majority=0.7).axes[0]
    assert np.array_equal(line(axes, "lstm").get_ydata(), accuracies)
    assert line(axes, "lstm").get_xdata().tolist() == list(range(1, 101))
    assert {"trained up to 40", "chance: 20 %", "majority: 70 %", "lstm"} <= {text.get_text() for text in axes.texts}
    assert [40, 40] in [list(one.get_xdata()) for one in axes.lines]


def test_accuracy_joins_over_positions_that_carry_no_label():
    axes = accuracy_by_length({"x": [1, np.nan, 0.5]}, train_length=2, chance=0.2, majority=0.2).axes[0]
    assert line(axes, "x").get_xdata().tolist() == [1, 3] and line(axes, "x").get_ydata().tolist() == [1, 0.5]


@pytest.mark.parametrize("window", [1, 2, 8, 500])
def test_smoothing_is_the_mean_of_the_neighbours(window):
    values = np.random.default_rng(2).uniform(size=50)
    axes = accuracy_by_length({"x": values}, train_length=2, chance=0.2, majority=0.2, window=window).axes[0]
    before, after = (window - 1) // 2, window // 2
    assert np.allclose(line(axes, "x").get_ydata(), [values[max(0, t - before) : t + after + 1].mean() for t in range(50)])
