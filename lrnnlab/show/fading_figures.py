"""Why soft nets fade (``lrnn/fading``): the way to a wrong answer by position, and horizons, predicted and seen.

Letters: T time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from lrnnlab.show.style import FAINT, FAMILIES, INK, SMALL, label_ends, new_figure, styled

FIT = "10-200"  # the prediction that is drawn full size; the others are drawn small
REACH = (0.015, 2)  # of the ratio: above the threshold everything is wrong soon
TRAINED = 40  # the longest string seen in training
FIRST = 2  # the first position drawn: at 1 the states of a class are one point


@styled
def fading(records: Sequence[Mapping]) -> Figure:
    """How far the strings of each row have gone to a wrong answer, by position; below, horizons predicted and seen.

    A line is the ratio ``readout``: the 99 % quantile over strings, which is at 1 where 1 % of the answers are wrong.
    It ends where float32 overflows, which a cross marks, or before, where it is infinite from there on.

    Parameters
    ----------
    records : list of dict
        Of ``lrnn/fading``, one line and one row of marks each.

    Raises
    ------
    ValueError
        Without a record.

    Examples
    --------
    >>> curves = {"position": [1, 10, 100], "readout": [0.0, 0.1, 0.3]}
    >>> found = {"seen": None, "overflow": None, "learned": True, "predicted": {"10-200": {"horizon": 300.0}}}
    >>> made = {"row": "clip", "seed": 0, "curves": curves, "metrics": found, "config": {"setting": {"length": 100}}}
    >>> [axes.get_xlabel() for axes in fading([made]).axes]
    ['', 'position in the string']
    """
    if not records:
        raise ValueError("there is nothing to draw: no records of lrnn/fading")
    length = max(record["config"]["setting"]["length"] for record in records)
    below, above = 0.21 * len(records) + 0.1, 2.6
    figure, (upper, lower) = new_figure(above + below + 1.55, rows=2, left=0.95, right=1.25, top=0.5, bottom=0.5,
                                        sharex=True, height_ratios=(above, below))  # fmt: skip
    upper.set(xscale="log", yscale="log", xlim=(FIRST, 1.6 * length), ylim=REACH, ylabel="gone of the way to an error")
    _curves(upper, records)
    _horizons(lower, records, length)
    for axes in (upper, lower):
        axes.axvspan(FIRST, TRAINED, color="#f1f1f1", zorder=0)
        axes.axvline(TRAINED, color=FAINT, lw=1.2, zorder=0.5)
    upper.annotate(f"trained up to {TRAINED}", (TRAINED, 1), (0, 4), xycoords=("data", "axes fraction"),
                   textcoords="offset points", fontsize=SMALL, annotation_clip=False)
    ticks = [tick for tick in (2, 10, 40, 200, 500, 1000, 2000) if tick <= length]
    lower.set_xticks(ticks, [f"{tick:,}" for tick in ticks])
    lower.minorticks_off()
    lower.set_xlabel("position in the string")
    return figure


def _curves(axes, records):
    ends = {}
    for record in records:
        curves, look = record["curves"], FAMILIES[record["row"]]
        at = np.asarray(curves["position"])
        ratio = np.array([np.nan if value is None else value for value in curves["readout"]], dtype=float)
        shown = (at >= FIRST) & (ratio > 0)
        at, ratio = at[shown], ratio[shown]
        if not len(at):  # nowhere nearer to an error than at the start
            continue
        axes.plot(at, ratio, color=look.colour, ls=look.dash, lw=1.5, label=f"{record['row']} {record['seed']}")
        if record["metrics"]["overflow"] is not None:
            end = record["metrics"]["overflow"] - 1
            high = min(ratio[-1], REACH[1]) if at[-1] == end else REACH[1]  # of float32 nothing is left to compare
            axes.plot([end], [high], "x", color=INK, ms=6, mew=1.5, zorder=4, clip_on=False)
        ends.setdefault(record["row"], []).append(float(np.clip(ratio[-1], *REACH)))
    axes.axhline(1, color=INK, lw=1.2, ls=(0, (4, 3)))
    axes.set_yticks([0.03, 0.1, 0.3, 1], ["3 %", "10 %", "30 %", "100 %"])
    axes.minorticks_off()
    axes.annotate("here 1 % of the answers are wrong", (FIRST, 1), (4, 4), textcoords="offset points", fontsize=SMALL)
    labels = [(float(np.median(heights)), row, FAMILIES[row].colour) for row, heights in ends.items()]
    label_ends(axes, labels)


def _horizons(axes, records, length):
    """A row of marks for each record; what lies beyond the length stands at its end, as an arrow."""
    beyond = 1.25 * length
    for place, record in enumerate(records):
        found, colour = record["metrics"], FAMILIES[record["row"]].colour
        seen = found["seen"] or beyond
        axes.plot([seen], [place], ">" if seen == beyond else "o", color=colour, mec=INK, mew=0.6, ms=7, zorder=3)
        for fit, predicted in found["predicted"].items():
            at = predicted["horizon"]
            at = beyond if at is None or at > length else at
            axes.plot([at], [place], "o" if fit == FIT else "d", mfc="none", mec=INK, mew=1.1,
                      ms=11 if fit == FIT else 7, zorder=4)
            axes.plot([at, seen], [place] * 2, color=colour, lw=1.5, zorder=2)
        if not found["learned"]:
            axes.annotate("not learned", (seen, place), (8, 0), textcoords="offset points", va="center", fontsize=SMALL)
    axes.axvline(length, color=FAINT, lw=1.2, ls=(0, (1, 2)))
    axes.set_yticks(range(len(records)), [f"{record['row']} {record['seed']}" for record in records])
    axes.set(ylim=(len(records) - 0.4, -0.6))
    axes.tick_params(axis="y", length=0)
    axes.grid(False, axis="y")
    axes.annotate(f"beyond\n{length:,}", (1, 0.5), (6, 0), xycoords="axes fraction", textcoords="offset points",
                  va="center", fontsize=SMALL)
    handles = [
        Line2D([], [], color=FAINT, marker="o", mec=INK, mew=0.6, ls="none", ms=7, label="seen"),
        Line2D([], [], mfc="none", mec=INK, marker="o", ls="none", ms=11, mew=1.1, label="predicted from 10 to 200"),
        Line2D([], [], mfc="none", mec=INK, marker="d", ls="none", ms=7, mew=1.1, label="from 10 to 40"),
        Line2D([], [], color=INK, marker="x", ls="none", ms=6, mew=1.5, label="float32 overflows"),
    ]
    axes.legend(handles=handles, loc="lower left", bbox_to_anchor=(0, 1), ncols=4, handletextpad=0.2, columnspacing=0.9)
