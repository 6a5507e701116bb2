"""State diagrams: names, labels and answers are the machine's, and no label lies on another, a state or an arrow."""

import pytest
from matplotlib.colors import to_rgb

from lrnnlab.tasks import EvenPair, ModArith, Sum
from workbook.show import graph_layout, style
from workbook.show.automaton_figures import state_diagram


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
