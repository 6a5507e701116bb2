"""RegularGPT's states on a plane, and how many clusters they form at every depth (paper 002, Fig. 3).

The same for one net and one depth, to play with, is in ``cluster_widgets``.

Letters: l depth; m elements of the transition monoid.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lrnnlab.automata import transition_monoid
from lrnnlab.tables.regulargpt_fig3 import build_task
from lrnnlab.show.cluster_widgets import element_names
from lrnnlab.show.style import FAINT, INK, RECORDED, new_figure, styled
from lrnnlab.show.tree_figures import element_colours

TASKS = {"parity": "Parity", "cycle_navigation": "Cycle Navigation", "s_3": r"$S_3$"}
MARKERS = "os^vD*XdPp"  # by element: its colour alone does not tell it from its neighbours


@styled
def clusters_of_tasks(records: Sequence[Mapping]) -> Figure:
    """A column for each task: above the states of all depths of one net, below how many clusters every net has by depth.

    records : of ``regulargpt/fig3``; the row ``untrained`` is left out.  The net above is that of the least seed;
    colour, marker and the name above say which element of the transition monoid the word below a state
    realises.  Below, the line is what the algebra predicts, the filled points are that net, the hollow ones those of
    other seeds.  ValueError if there is no record of a trained net.

    >>> from lrnnlab import tables
    >>> made = list(tables.run_all(tables.plan("regulargpt/fig3", tasks=["parity"], rows=["ours"])))
    >>> [axes.get_title("left") for axes in clusters_of_tasks(made).axes]
    ['Parity', '']
    """
    trained = sorted((r for r in records if r["row"] != "untrained"), key=lambda record: record["seed"])
    tasks = [task for task in TASKS if any(record["task"] == task for record in trained)]
    if not tasks:
        raise ValueError(f"no record of a trained net among {len(records)} records")
    figure, panels = new_figure(4.5, rows=2, columns=len(tasks), left=0.6, right=0.1, top=0.3, gap=0.45, squeeze=False)
    for task, (above, below) in zip(tasks, panels.T):
        first, *others = [record for record in trained if record["task"] == task]
        _plane(above, first)
        _counts(below, first, others)
        above.set_title(TASKS[task])
    panels[0, 0].set_ylabel("second axis")
    panels[1, 0].set_ylabel("clusters")
    return figure


def _plane(axes: Axes, record: Mapping) -> None:
    machine = build_task(record["task"]).machine
    colours, names = element_colours(machine, transition_monoid(machine).elements), element_names(record["task"])
    points = {name: np.asarray(column) for name, column in record["points"].items()}
    for element in np.unique(points["element"]):
        here = points["element"] == element
        x, y = points["x"][here], points["y"][here]
        axes.plot(x, y, MARKERS[element % len(MARKERS)], color=colours[element], ms=5.5, mec=INK, mew=0.4)
        axes.annotate(names[element], (x.mean(), y.max()), (0, 5), textcoords="offset points", ha="center",
                      fontweight="bold", bbox={"fc": "white", "ec": "none", "pad": 0.4, "alpha": 0.7})  # fmt: skip
    axes.set(xlabel="first axis of PCA", xticks=[], yticks=[])
    axes.margins(0.1, 0.16)


def _counts(axes: Axes, record: Mapping, others: Sequence[Mapping]) -> None:
    depths = record["depths"]
    predicted, found = ([depth[name] for depth in depths] for name in ("predicted", "found"))
    axes.step(range(len(depths)), predicted, where="mid", color=INK, lw=1.4, label="by algebra")
    for other in others:
        axes.plot([depth["found"] for depth in other["depths"]], "o", color=RECORDED, mfc="none", ms=8)
    axes.plot(found, "o", color=RECORDED, ms=5, label="found")
    most = max(*predicted, *(depth["found"] for each in (record, *others) for depth in each["depths"]))
    axes.set(xlabel="letters below a state", ylim=(0, 1.4 * most), xlim=(-0.6, len(depths) - 0.4))
    axes.set_xticks(range(0, len(depths), 2), [str(depth["word"]) for depth in depths[::2]])
    axes.yaxis.get_major_locator().set_params(integer=True)
    axes.tick_params(color=FAINT)
    axes.legend(loc="upper right", ncols=2, handlelength=1.2, columnspacing=0.8)
