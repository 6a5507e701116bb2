"""Why soft nets fade (``lrnn/fading``): the way to a wrong answer by position, and horizons, predicted and seen.

Letters: T time.
"""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from workbook.show.frames import handle, level, log_ticks, picture, setting, trained
from workbook.show.labels import look
from workbook.show.style import FAINT, INK, SMALL, Look, label_ends, new_figure
from workbook.tables.results import ordered

FITS = {"10-200": ("predicted from 10 to 200", "o", 11), "10-40": ("from 10 to 40", "d", 7)}  # its marker, and how large
REACH = (0.015, 2)  # of the ratio: above the threshold everything is wrong soon
TRAINED = 40  # the longest string seen in training
FIRST = 2  # the first position drawn: at 1 the states of a class are one point


@picture
def fading(found: pd.DataFrame) -> Figure:
    """How far the strings of each row have gone to a wrong answer, by position (``readout``, at 1 where 1 % of the answers are
    wrong; a cross where float32 overflows); below, horizons predicted and seen."""
    found = ordered(found)
    length = setting(found)["length"]
    below, above = 0.21 * len(found) + 0.1, 2.6
    figure, (upper, lower) = new_figure(above + below + 1.55, rows=2, left=0.95, right=1.25, top=0.5, bottom=0.5,
                                        sharex=True, height_ratios=(above, below))  # fmt: skip
    upper.set(yscale="log", xlim=(FIRST, 1.6 * length), ylim=REACH, ylabel="gone of the way to an error")
    log_ticks(upper, y={0.03: "3 %", 0.1: "10 %", 0.3: "30 %", 1: "100 %"})
    log_ticks(lower, x=[tick for tick in (2, 10, 40, 200, 500, 1000, 2000) if tick <= length])
    _curves(upper, found)
    _horizons(lower, found, length)
    for axes in (upper, lower):
        axes.axvspan(FIRST, TRAINED, color="#f1f1f1", zorder=0)
        axes.axvline(TRAINED, color=FAINT, lw=1.2, zorder=0.5)
    trained(upper, TRAINED, above=True)
    lower.set_xlabel("position in the string")
    return figure


def _curves(axes: Axes, found: pd.DataFrame) -> None:
    ends: dict[str, list[float]] = {}
    for run in found.itertuples():
        of = look(run.row)
        ratio = pd.Series(run.curves["readout"], run.curves["position"], dtype=float)
        ratio = ratio[(ratio.index >= FIRST) & (ratio > 0)]
        if ratio.empty:  # nowhere nearer to an error than at the start
            continue
        axes.plot(ratio.index, ratio, color=of.colour, ls=of.dash, lw=1.5, label=f"{run.row} {run.seed}")
        if not np.isnan(run.overflow):
            end = run.overflow - 1
            high = min(ratio.iloc[-1], REACH[1]) if ratio.index[-1] == end else REACH[1]  # of float32 nothing is left to compare
            axes.plot([end], [high], "x", color=INK, ms=6, mew=1.5, zorder=4, clip_on=False)
        ends.setdefault(run.row, []).append(float(np.clip(ratio.iloc[-1], *REACH)))
    level(axes, 1, color=INK, ls=(0, (4, 3)), zorder=2)
    axes.annotate("here 1 % of the answers are wrong", (FIRST, 1), (4, 4), textcoords="offset points", fontsize=SMALL)
    label_ends(axes, [(float(np.median(heights)), row, look(row).colour) for row, heights in ends.items()])


def _horizons(axes: Axes, found: pd.DataFrame, length: int) -> None:
    """A row of marks for each run; what lies beyond the length stands at its end, as an arrow."""
    beyond = 1.25 * length
    for place, (_, run) in enumerate(found.iterrows()):
        colour, seen = look(run["row"]).colour, beyond if np.isnan(run["seen"]) else run["seen"]
        axes.plot([seen], [place], ">" if seen == beyond else "o", color=colour, mec=INK, mew=0.6, ms=7, zorder=3)
        for fit, (_, marker, size) in FITS.items():
            at = run[f"predicted.{fit}.horizon"]
            at = at if at <= length else beyond  # NaN is beyond, too
            axes.plot([at], [place], marker, mfc="none", mec=INK, mew=1.1, ms=size, zorder=4)
            axes.plot([at, seen], [place] * 2, color=colour, lw=1.5, zorder=2)
        if not run["learned"]:
            axes.annotate("not learned", (seen, place), (8, 0), textcoords="offset points", va="center", fontsize=SMALL)
    axes.axvline(length, color=FAINT, lw=1.2, ls=(0, (1, 2)))
    axes.set_yticks(range(len(found)), [f"{run.row} {run.seed}" for run in found.itertuples()])
    axes.set(ylim=(len(found) - 0.4, -0.6))
    axes.tick_params(axis="y", length=0)
    axes.grid(False, axis="y")
    axes.annotate(f"beyond\n{length:,}", (1, 0.5), (6, 0), xycoords="axes fraction", textcoords="offset points",
                  va="center", fontsize=SMALL)
    handles = [
        handle("seen", Look(FAINT, "", "o"), mec=INK, mew=0.6, ms=7),
        *(handle(name, Look(INK, "", marker), mfc="none", mew=1.1, ms=size) for name, marker, size in FITS.values()),
        handle("float32 overflows", Look(INK, "", "x"), ms=6, mew=1.5),
    ]
    axes.legend(handles=handles, loc="lower left", bbox_to_anchor=(0, 1), ncols=4, handletextpad=0.2, columnspacing=0.9)
