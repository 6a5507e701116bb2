"""State diagrams show a machine's names, labels and answers; accuracy by length has its levels beside it."""

import numpy as np
import pytest
from matplotlib.colors import to_rgb

from lrnnbook.content.show import graph_layout, style
from lrnnbook.content.show.automaton_figures import state_diagram
from lrnnbook.content.show.training_figures import accuracy_by_length
from lrnnlab.tasks import EvenPair, ModArith, Sum


def written(figure):
    return [text.get_text() for axes in figure.axes for text in axes.texts]


@pytest.mark.parametrize("M", [3, 5, 8])
def test_a_machine_that_counts_stands_in_order(M):
    assert graph_layout.circle_order(Sum(M).machine, range(M)) == list(range(M))


def test_the_diagram_shows_names_labels_and_answers():
    machine = EvenPair(2).machine
    figure = state_diagram(machine)
    assert written(figure).count("answer") == 1 and {"none", *machine.names} <= set(written(figure))
    faces = [to_rgb(patch.get_facecolor()) for patch in figure.axes[0].patches[: machine.num_states]]
    assert faces == [to_rgb(style.value_colour(int(shown), 2)) for shown in machine.outputs]
    assert "answer" not in written(state_diagram(Sum(5).machine))  # there the names are the answers
    with pytest.raises(ValueError, match="room for 16 states, this machine has 25"):
        state_diagram(ModArith(5).machine)


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
