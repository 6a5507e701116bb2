"""Paper 003's tables as pictures (chapter 09), and accuracy by position once the delta rule may reflect."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from lrnnbook.content.show import frames
from lrnnbook.content.show.labels import looks, named
from lrnnbook.content.show.style import INK, LIVE, SMALL, label_ends
from lrnnbook.content.tables import fwp_negative, get
from lrnnbook.content.tables.declared import paper
from lrnnbook.content.tables.results import column

ROWS = {row: named(row) for row in get("fwp/table1").rows}
LOOKS = looks(get("fwp/negative").rows)


@frames.picture
def fwp_tables(found: pd.DataFrame, live: Mapping[tuple[str, str], Sequence[float]] = {}) -> Figure:
    """Tables 1 and 2 in one: whole strings of Bin1, the longer ones, beside the paper's; rings are of Bin0."""
    tables = [get("fwp/table1"), get("fwp/table2")]
    tasks = {task: named(task, "fwp") for table in tables for task in table.tasks}
    says = {"paper": "paper, Bin1", "mean": "recorded, Bin1, over seeds", "seen": "recorded, Bin0", "live": "live, Bin1"}
    return frames.shares(found, "last.bin1", tasks, ROWS, says, size=(5.2, 4), x="whole strings right", seen="last.bin0",
                         live=live, paper=pd.concat([paper(table.name) for table in tables]))  # fmt: skip


@frames.picture
def parity_by_position(found: pd.DataFrame, live: Mapping[int, Sequence[float]]) -> Figure:
    """Right answers on parity by position with one write a token: recorded runs, and the same of nets of today by the end of beta."""
    rows, tops = {"beta1_nh1": "β below 1", "beta2_nh1": "β below 2"}, {1: "β below 1", 2: "β below 2"}
    runs = frames.runs_of(found, task="parity")
    figure, (axes,) = frames.panels([""], 1, 3.0, "position in the string", "right answers", left=0.75, right=1.85, top=0.15)
    for row, name in rows.items():
        for one in runs[runs["row"] == row].itertuples():
            positions = fwp_negative.BLOCK * (np.arange(len(one.by_position)) + 0.5)
            axes.plot(positions, one.by_position, color=LOOKS[row][1].colour, lw=0.8, alpha=0.8)
    for top, shares in live.items():
        smooth = np.asarray(shares)[: len(shares) // fwp_negative.BLOCK * fwp_negative.BLOCK].reshape(-1, fwp_negative.BLOCK).mean(1)
        axes.plot(fwp_negative.BLOCK * (np.arange(len(smooth)) + 0.5), smooth, color=LIVE, lw=1.8, ls="-" if top == 2 else (0, (2, 1.5)))
        low = next((place for place, share in enumerate(smooth) if share < 0.85), len(smooth) - 1)  # where it falls
        axes.annotate(f"yours, {tops[top]}", (fwp_negative.BLOCK * (low + 0.5), smooth[low]), (14, 14) if top == 2 else (24, -60), textcoords="offset points",
                      fontsize=SMALL, color=LIVE, arrowprops={"arrowstyle": "-", "color": LIVE, "lw": 0.8})  # fmt: skip
    last = {name: runs[runs["row"] == row]["by_position"].map(lambda shares: shares[-1]).mean() for row, name in rows.items()}
    ends = [(last[name], f"recorded, {name}", LOOKS[row][1].colour) for row, name in rows.items()]
    frames.trained(axes, frames.setting(runs)["stages"][-1][1])
    frames.level(axes, 0.5, color=INK, lw=1, ls=(0, (1, 2)), zorder=4)
    axes.set(xlim=(0, fwp_negative.FAR), ylim=(0, 1.03))
    axes.set_yticks([0, 0.5, 1], ["0", "50 %", "100 %"])
    label_ends(axes, ends)
    return figure


@frames.picture
def negative_by_position(found: pd.DataFrame) -> Figure:
    """Right answers by position (``fwp/negative``), far past the training length; dotted is what a constant answer gets."""
    tasks = frames.in_order(found, "task", get("fwp/negative").tasks)
    height = 2.1 * -(-len(tasks) // 2) + 1
    figure, grid = frames.panels([named(task, "fwp") for task in tasks], 2, height, "position in the string", "right answers",
                                 left=0.75, right=0.25, gap=0.55, top=0.7)  # fmt: skip
    at = frames.points(found, lambda run: pd.Series(run.by_position, name="right").rename_axis("block"))
    at["position"] = fwp_negative.BLOCK * (at["block"] + 0.5)
    for axes, task in zip(grid, tasks):
        frames.curves(axes, at[at["task"] == task], "position", "right", LOOKS, lw=1.5)
        here = frames.runs_of(found, task=task)
        majority = column(here, "levels.majority").iloc[0]
        frames.trained(axes, frames.setting(here)["stages"][-1][1])
        frames.level(axes, majority, color=INK, lw=1, ls=(0, (1, 2)), zorder=4)
        axes.annotate("a constant answer", (fwp_negative.FAR, majority), (-2, -5), textcoords="offset points", ha="right",
                      va="top", fontsize=SMALL)  # fmt: skip
        axes.set(xlim=(0, fwp_negative.FAR), ylim=(0, 1.03))
        axes.set_yticks([0, 0.5, 1], ["0", "50 %", "100 %"])
    frames.legend(figure, [frames.handle(*LOOKS[row], lw=1.5) for row in frames.in_order(found, "row", LOOKS)])
    return figure
