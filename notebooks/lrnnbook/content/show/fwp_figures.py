"""Paper 003's tables as pictures (chapter 09), and accuracy by position once the delta rule may reflect."""

from collections.abc import Mapping, Sequence

import pandas as pd
from matplotlib.figure import Figure

from lrnnbook.content.show import frames
from lrnnbook.content.show.labels import looks, named
from lrnnbook.content.show.style import INK, SMALL
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
