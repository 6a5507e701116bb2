"""The long-range tasks drawn (chapter 07): what trivial predictors get, and what the nets get."""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure

from workbook.show.frames import handle, legend, picture, put, share_lines
from workbook.show.labels import named
from workbook.show.style import INK, SMALL, Look, new_figure
from workbook.tables.long_range_levels import beside_nets

OTHERS = {"mfc": "none", "ms": 5, "mew": 1}


@picture
def levels_beside_nets(found: pd.DataFrame) -> Figure:
    """A line for each task: runs of ``lra/levels`` above it, the best named; those of other tables below it, means over seeds.

    >>> from workbook.tables.results import runs
    >>> [label.get_text() for label in levels_beside_nets(runs("lra/levels")).axes[0].get_yticklabels()][:2]
    ['ListOps', 'Text']
    """
    rows, trivial = beside_nets(found), found[found["experiment"] == "lra/levels"]
    figure, axes = new_figure(1.3 + 0.55 * len(rows), left=1.05, right=1.0, top=0.75, bottom=0.5)
    share_lines(axes, [named(row["task"]) for row in rows])
    for place, row in enumerate(rows):
        put(axes, "level", [row["majority"]] * 2, [place - 0.36, place + 0.36], zorder=1)
        shares = trivial["accuracy"][trivial["task"] == row["task"]]
        put(axes, "best", shares, [place - 0.18] * len(shares), color=INK, zorder=3, **OTHERS)
        put(axes, "best", [row["trivial"]], [place - 0.18], color=INK, ms=5, zorder=3)
        put(axes, "seed", [*row["nets"].values()], [place + 0.18] * len(row["nets"]), ms=5.5, zorder=3)
        axes.text(1.03, place - 0.18, row["predictor"], transform=axes.get_yaxis_transform(), fontsize=SMALL, va="center")
    axes.set_xlabel("right answers on the test items")
    diamond = Look(INK, "", "D")
    handles = [handle("best without long range (its name at the right)", diamond, ms=5),
               handle("others without long range", diamond, **OTHERS),
               handle("our nets, means over seeds", "seed", ms=5.5), handle("majority", "level")]  # fmt: skip
    legend(figure, handles, ncols=2)
    return figure
