"""Accuracy by position: the numbers that are drawn, and the levels that a reader compares them with."""

import numpy as np

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
