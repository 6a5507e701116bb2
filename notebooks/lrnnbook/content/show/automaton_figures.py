"""Finite automata drawn with matplotlib alone: the state diagram.

The colour of a state is its answer (``style.value_colour``); white means that it has none.
"""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Circle, Polygon

from lrnnbook.content.show.graph_layout import Plan, lay_out
from lrnnbook.content.show.style import INK, PAGE, SMALL, canvas, ink_on, printed, styled, value_colour
from lrnnlab.automata import NO_LABEL, MooreMachine

EDGE = 0.12  # inches of white around a diagram


@styled
def state_diagram(machine: MooreMachine) -> Figure:
    """The diagram of a machine with at most 16 states; an arrow's label says which tokens go that way.  Where a state's name is
    not its answer, a line below tells the answers' colours."""
    laid = lay_out(machine)
    answers = sorted(set(machine.outputs.tolist()) - {NO_LABEL})
    told = bool(answers) and any(name != str(shown) for name, shown in zip(machine.names, machine.outputs.tolist()))
    (wide, high), below = laid.high - laid.low + 2 * EDGE, 0.35 * told
    colours = [*answers, *([NO_LABEL] if NO_LABEL in machine.outputs else [])]
    step = min(0.42, (PAGE - 0.95) / max(len(colours), 1))  # inches from one answer to the next
    width = max(wide, 2.6, told * (0.85 + step * len(colours)))
    figure, axes = canvas(high + below, width)
    _draw(axes, machine, laid, np.array([(width - wide) / 2 + EDGE, below + EDGE]) - laid.low)
    if told:
        _legend(axes, machine, colours, step)
    return figure


def _draw(axes: Axes, machine: MooreMachine, laid: Plan, shift: np.ndarray):
    """The diagram, moved by ``shift``.  Of the axes' texts, first come the names of the states, then the labels."""
    M = max(2, machine.outputs.max() + 1)
    for state, (name, shown) in enumerate(zip(machine.names, machine.outputs.tolist())):
        colour, at = value_colour(shown, M), laid.centres[state] + shift
        axes.add_patch(Circle(at, laid.size, fc=colour, ec=INK, lw=1.0, zorder=4))
        axes.text(*at, name, ha="center", va="center", fontsize=10 if len(name) < 4 else SMALL, color=ink_on(colour),
                  zorder=5)
    _arrow(axes, laid.entry + shift, INK, 1.1, 2)
    for edge, curve in laid.curves.items():
        _arrow(axes, curve + shift, INK, 1.1, 2)
        if laid.labels[edge]:
            axes.text(*laid.at[edge] + shift, printed(laid.labels[edge]), ha="center", va="center", fontsize=SMALL,
                      color=INK, zorder=6, bbox={"fc": "white", "ec": "none", "pad": 0.8})


def _arrow(axes, curve, colour, width, above):
    tip, long = curve[-1], 0.085 + 0.014 * width
    shaft = curve[:max(2, int((np.linalg.norm(curve - tip, axis=1) >= 0.8 * long).sum()))]
    axes.add_line(Line2D(*shaft.T, color=colour, lw=width, zorder=above, solid_capstyle="butt"))
    back = (tip - shaft[-1]) / np.linalg.norm(tip - shaft[-1]) * long
    side = 0.42 * np.array([-back[1], back[0]])
    axes.add_patch(Polygon([tip, tip - back + side, tip - back - side], fc=colour, ec="none", zorder=above))


def _legend(axes, machine, answers, step):
    """Under the diagram: what the colours answer."""
    M, x = max(2, machine.outputs.max() + 1), 0.75
    axes.text(EDGE, 0.2, "answer", va="center", fontsize=SMALL)
    for shown in answers:
        axes.add_patch(Circle((x, 0.2), 0.09, fc=value_colour(shown, M), ec=INK, lw=0.8))
        axes.text(x + 0.14, 0.2, "none" if shown == NO_LABEL else str(shown), va="center", fontsize=SMALL)
        x += step
