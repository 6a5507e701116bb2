"""States that gather and gradients that reach back (chapter 08), to play with: depth by depth, position by position.

Letters: T time, l depth, N states that are looked at; m elements of the transition monoid.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PatchCollection
from matplotlib.figure import Figure
from matplotlib.patches import Circle
from torch import Tensor, nn

from lrnnlab.analysis import cumulative_gradient
from lrnnlab.automata import transition_monoid
from lrnnlab.tables.regulargpt_fig3 import build_task
from lrnnlab.tables.regulargpt_fig4 import shape
from lrnnlab.show.gradient_figures import NETS, gradients
from lrnnlab.show.style import FAINT, GRID, INK, SMALL, SOURCES, label_ends, new_figure, styled, typeset
from lrnnlab.show.tree_figures import NOTHING, element_colours

TITLES = {"parity": "Parity", "cycle_navigation": "Cycle Navigation", "s_3": r"$S_3$"}
NAMED = 12  # elements up to which each gets its name in the picture


class Seen(NamedTuple):
    """One net looked at: the task's name, ``recorded`` or ``live``, and what ``regulargpt_fig3.look`` found."""

    task: str
    source: str
    found: Mapping


def element_names(task: str) -> list[str]:
    """A shortest word for each element of the task's monoid.

    >>> element_names("cycle_navigation"), element_names("s_3")
    (['e', '0', '2', '00', '22'], ['e', 's', 't', 'st', 'ts', 'tt'])
    """
    machine = build_task(task).machine
    return [typeset("".join(machine.symbols[token] for token in word)) or NOTHING
            for word in transition_monoid(machine).words]  # fmt: skip


@styled
def gathering(seen: Seen, depth: int) -> Figure:
    """Left, the states of a depth among those of all depths (faint); right, how many clusters there are, by depth.

    Colour is the element of the monoid that the word below a state makes; a ring goes around each cluster that was
    found, which knows nothing of elements.  ValueError for a depth that the net has not.

    >>> depths = [{"word": 2, "found": 2, "predicted": 2, "purity": 1.0, "wholeness": 1.0, "points": 2}]
    >>> points = {"depth": [0, 0], "element": [0, 1], "cluster": [0, 1], "x": [0.0, 1.0], "y": [0.0, 0.0]}
    >>> [t.get_text() for t in gathering(Seen("parity", "live", {"depths": depths, "points": points}), 0).axes[0].texts]
    ['e', '1']
    """
    depths = seen.found["depths"]
    if not 0 <= depth < len(depths):
        raise ValueError(f"the net has depths 0..{len(depths) - 1}, got depth={depth}")
    figure, (left, right) = new_figure(3.9, columns=2, left=0.2, right=1.3, top=0.4, bottom=0.55, gap=0.65)
    _states(left, seen, depth)
    look, places = SOURCES[seen.source], np.arange(len(depths))
    due, found = ([at[name] for at in depths] for name in ("predicted", "found"))
    right.step(places, due, where="mid", color=INK, lw=1.4)
    right.plot(places, found, look.marker, color=look.colour, ms=6, zorder=3)
    right.axvline(depth, color=FAINT, lw=1.2, ls=(0, (4, 3)))
    most = max(*due, *found)
    right.set(xlabel="depth", title="clusters", xlim=(-0.5, len(depths) - 0.5), yscale="log" if most > 20 else "linear",
              ylim=(0.8, 1.5 * most) if most > 20 else (0, most + 1.0))  # fmt: skip
    ticks = [1, 2, 5, 10, 20, 50, 100, 200, 500] if most > 20 else range(0, most + 2, 1 + most // 8)
    right.set_yticks([tick for tick in ticks if tick <= 1.5 * most], [str(tick) for tick in ticks if tick <= 1.5 * most])
    right.minorticks_off()
    right.set_xticks(places)
    label_ends(right, [(due[-1], "by algebra", INK), (found[-1], f"found, {seen.source}", look.colour)])
    return figure


def _states(axes: Axes, seen: Seen, depth: int):
    points = {name: np.asarray(column) for name, column in seen.found["points"].items()}
    at, here = np.stack([points["x"], points["y"]], axis=1), points["depth"] == depth
    machine = build_task(seen.task).machine
    colours = np.array(element_colours(machine, transition_monoid(machine).elements))
    axes.scatter(*at[~here].T, s=7, color=GRID, linewidths=0, zorder=1)
    axes.scatter(*at[here].T, s=24, c=colours[points["element"][here]], edgecolors=FAINT, linewidths=0.5, zorder=3)
    centre = at.mean(0)
    reach = 1.2 * np.abs(at - centre).max()
    found = {  # (depth, cluster) -> middle and radius of its ring
        key: _ring(at[(points["depth"] == key[0]) & (points["cluster"] == key[1])], 0.035 * reach)
        for key in sorted(set(zip(points["depth"].tolist(), points["cluster"].tolist()))) if key[1] != -1
    }  # fmt: skip
    reach = max(reach, *(1.02 * (np.abs(middle - centre).max() + radius) for middle, radius in found.values()))
    rings = [Circle(*ring) for (at_depth, _), ring in found.items() if at_depth == depth]
    axes.add_collection(PatchCollection(rings, facecolor="none", edgecolor=INK, lw=0.9, zorder=2, clip_on=False),
                        autolim=False)  # fmt: skip
    axes.set(xlim=(centre[0] - reach, centre[0] + reach), ylim=(centre[1] - reach, centre[1] + reach), aspect="equal",
             xticks=[], yticks=[], title=f"{TITLES[seen.task]}, depth {depth}", anchor="W")  # fmt: skip
    axes.spines[:].set_visible(False)
    if len(colours) <= NAMED:
        names = element_names(seen.task)
        for element in sorted(set(points["element"][here].tolist())):
            x, y = at[here & (points["element"] == element)].mean(0)
            axes.annotate(names[element], (x, y), (7, 7), textcoords="offset points", fontsize=SMALL + 1, zorder=4,
                          fontweight="bold")  # fmt: skip


def _ring(inside: np.ndarray, margin: float) -> tuple[np.ndarray, float]:
    middle = inside.mean(0)
    return middle, np.linalg.norm(inside - middle, axis=1).max() + margin


def gathering_sentence(seen: Seen, depth: int) -> str:
    """What was found at a depth beside what the algebra says, as HTML.

    >>> at = {"word": 8, "found": 6, "predicted": 6, "purity": 1.0, "wholeness": 1.0, "points": 120}
    >>> gathering_sentence(Seen("s_3", "recorded", {"depths": [at]}), 0)
    'Depth 0, words of 8 letters: <b>6 clusters</b> among 120 states, the algebra predicts <b>6</b>. Clusters and elements are the same.'
    """
    at = seen.found["depths"][depth]
    start = (f"Depth {depth}, words of {at['word']} letters: <b>{at['found']} cluster{'s' * (at['found'] != 1)}</b> among "
             f"{at['points']} states, the algebra predicts <b>{at['predicted']}</b>.")  # fmt: skip
    if at["purity"] == at["wholeness"] == 1:
        return f"{start} Clusters and elements are the same."
    return (f"{start} {at['purity']:.0%} of the states have the commonest element of their cluster, {at['wholeness']:.0%} lie "
            "in the commonest cluster of their element.")  # fmt: skip


class Readers(NamedTuple):
    """Nets on one task of ``regulargpt/fig4``: row -> share right; position -> row -> cumulative gradient (position + 1,)."""

    task: str
    accuracy: Mapping[str, float]
    curves: Mapping[int, Mapping[str, np.ndarray]]


def look_back(task: str, nets: Mapping[str, nn.Module], accuracy: Mapping[str, float], strings: Tensor,
              positions: Sequence[int]) -> Readers:  # fmt: skip
    """How far back nets (row -> net) look from each of ``positions`` of strings (B, T), worked out once for a slider.

    ValueError for a position outside the strings.
    """
    return Readers(task, accuracy, {position: {row: cumulative_gradient(net, strings, position) for row, net in nets.items()}
                                    for position in positions})  # fmt: skip


def fields(readers: Readers, position: int) -> Figure:
    """How far back each net looks from a position, as ``gradient_figures.gradients`` draws it."""
    return gradients([{"task": readers.task, "row": row, "seed": 0, "gradient": curve,
                       "metrics": {"accuracy": readers.accuracy[row]}}
                      for row, curve in readers.curves[position].items()])  # fmt: skip


def fields_sentence(readers: Readers, position: int) -> str:
    """Where half of each net's gradient lies, as HTML.  A net that looks at nothing is said to.

    >>> fields_sentence(Readers("parity", {"rnn": 0.5}, {3: {"rnn": np.zeros(4)}}), 3)
    'The answer after 4 letters. Half of the gradient lies in the last: RNN looks at nothing.'
    """
    told = []
    for row, curve in readers.curves[position].items():
        name, half = NETS[row][0], shape(curve)["half"]
        told.append(f"{name} <b>{half}</b>" if curve[0] > 0 else f"{name} looks at nothing")
    return f"The answer after {position + 1} letters. Half of the gradient lies in the last: {', '.join(told)}."
