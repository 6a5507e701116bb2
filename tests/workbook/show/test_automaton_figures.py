"""State diagrams: names, labels and answers are the machine's, and no label lies on another, a state or an arrow."""

import numpy as np
import pytest
from matplotlib.colors import to_rgb

from lrnnlab.automata import MooreMachine, build
from lrnnlab.tasks import EvenPair, ModArith, Sum
from workbook.show import graph_layout, style
from workbook.show.automaton_figures import snapped_heads, state_diagram


def written(figure):
    return [text.get_text() for axes in figure.axes for text in axes.texts]


@pytest.mark.parametrize("M", [3, 5, 8])
def test_a_machine_that_counts_stands_in_order(M):
    assert graph_layout.circle_order(Sum(M).machine, range(M)) == list(range(M))


def test_labels_name_runs_all_and_all_but_one():
    machine = build(0, "01234", lambda s, v: int(v == 3) if s == 0 else min(v, 1), lambda s: s)
    assert graph_layout.edge_labels(machine) == {(0, 0): "not 3", (0, 1): "3", (1, 0): "0", (1, 1): "not 0"}
    four = MooreMachine([[0, 0], [0, 1], [0, 1], [1, 1], [1, 0]], [0, 1], 0, "01234")
    assert graph_layout.edge_labels(four) == {(0, 0): "0…2", (0, 1): "3,4", (1, 0): "0,4", (1, 1): "1…3"}
    assert graph_layout.edge_labels(MooreMachine([[0]] * 3, [0], 0, "abc")) == {(0, 0): "any"}


@pytest.mark.parametrize("machine", [Sum(2).machine, Sum(5).machine, EvenPair(2).machine, EvenPair(5).machine,
                                     ModArith(3).machine], ids=str)  # fmt: skip
def test_labels_touch_no_other_label_state_or_arrow(machine):
    laid = graph_layout.plan(machine)
    assert set(laid.labels) == {(s, int(t)) for row in machine.transitions for s, t in enumerate(row)}
    for edge, at in laid.at.items():
        box = laid.boxes[edge]
        for other, there in laid.at.items():
            if other != edge:
                assert (np.abs(at - there) > 0.9 * (box + laid.boxes[other])).any(), (edge, other)
                assert not (np.abs(laid.curves[other] - at) < 0.45 * box).all(1).any(), (edge, other)
        nearest = np.maximum(np.abs(laid.centres - at) - box, 0)
        assert (np.linalg.norm(nearest, axis=1) > 0.9 * laid.size).all(), edge
    for (start, end), curve in laid.curves.items():  # from rim to rim
        assert np.linalg.norm(curve[0] - laid.centres[start]) == pytest.approx(laid.size, abs=0.05)
        assert np.linalg.norm(curve[-1] - laid.centres[end]) == pytest.approx(laid.size, abs=0.05)
    assert (laid.high - laid.low <= style.PAGE + 0.3).all()


def test_the_diagram_shows_names_labels_and_answers():
    machine = EvenPair(2).machine
    figure = state_diagram(machine)
    assert written(figure).count("answer") == 1 and {"none", *machine.names} <= set(written(figure))
    faces = [to_rgb(patch.get_facecolor()) for patch in figure.axes[0].patches[: machine.num_states]]
    assert faces == [to_rgb(style.value_colour(int(shown), 2)) for shown in machine.outputs]
    assert "answer" not in written(state_diagram(Sum(5).machine))  # there the names are the answers
    with pytest.raises(ValueError, match="room for 16 states, this machine has 25"):
        state_diagram(ModArith(5).machine)


def test_heads_that_do_nothing_are_grey_and_named():
    idle = MooreMachine([[0]] * 3, [-1], 0, "012")
    assert {"head 0", "head 1", "head 2", "do nothing"} <= set(written(snapped_heads([Sum(3).machine, idle, idle])))
    one = snapped_heads([Sum(3).machine, idle], token=2)
    assert "does nothing" in written(one) and not {"1", "2"} & {text.get_text() for text in one.axes[0].texts if text.get_zorder() == 6}
