"""The long-range tasks drawn (chapter 07): what trivial predictors get, and what the nets get."""

from collections.abc import Mapping
from statistics import fmean

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from workbook.show.frames import handle, legend, picture, put, share_lines
from workbook.show.labels import named
from workbook.show.style import INK, SMALL, Look, new_figure
from workbook.tables import get, paper
from workbook.tables.results import percent

REACHED = 0.02  # so far below the best net a predictor counts as its equal: the standard error of 500 items
GUESSING = 0.05  # who is no further above the majority than this has not learned the task
OTHERS = {"mfc": "none", "ms": 5, "mew": 1}


@picture
def levels_beside_nets(found: pd.DataFrame) -> Figure:
    """A line for each task: runs of ``lra/levels`` above it, the best named; those of other tables below it, means over seeds.
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


def beside_nets(found: pd.DataFrame) -> list[dict]:
    """A row for each task: what guessing, the best trivial predictor, and our nets get; and what follows from it."""
    body, ours = [], found["experiment"] == "lra/levels"
    levels, trained = found[ours], found[~ours]
    for task in sorted(set(levels["task"]), key=[*get("lra/levels").tasks, "path-x"].index):
        top = levels.loc[levels["validation"][levels["task"] == task].astype(float).idxmax()]
        asked = [_asked(config) == _asked(top["config"]) for config in trained["config"]]
        nets = trained[(trained["task"] == task) & np.array(asked, dtype=bool)]
        means = nets.groupby(["experiment", "row"])["accuracy"].agg(fmean).sort_values(ascending=False).to_dict()
        which, net = next(iter(means.items()), (None, None))
        body.append({
            **top[["task", "data", "chance", "majority"]], "trivial": top["accuracy"], "predictor": top["row"], "nets": means,
            "net": net, "best_net": None if which is None else " ".join(which), "says": _says(top, net), "paper": _printed(task),
        })  # fmt: skip
    return body


def _asked(config: Mapping) -> dict:
    """Which part of published files a run is of; how many of their bytes are read makes no other task."""
    files = config["setting"].get("files", {})
    return {name: value for name, value in files.items() if name != "length"}


def _says(top: pd.Series, net: float | None) -> str:
    """What follows for a task from its best predictor and its best net."""
    trivial, majority = top["accuracy"], top["majority"]
    if net is None:
        return "no net is recorded"
    if max(trivial, net) < majority + GUESSING:
        return "neither gets beyond guessing: it says nothing yet"
    if trivial > net - REACHED:
        return f"asks nothing long: {top['row']} alone gets {percent(trivial)}, the best net {percent(net)}"
    return f"the best net is {100 * (net - trivial):.0f} points ahead of what has no memory"


def _printed(task: str) -> str:
    """The papers' numbers, which are of the original data."""
    found = []
    for table, row, called in (("rotrnn/table1", "rotrnn", "RotRNN"), ("dlr/table4", "dlr", "DLR"),
                               ("dlr/table4", "attention", "Transformer")):  # fmt: skip
        printed = paper(table)
        found += [f"{called} {value:.1f}" for value in printed["value"][(printed["task"] == task) & (printed["row"] == row)]]
    return ", ".join(found)
