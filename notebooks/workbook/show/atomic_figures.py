"""The atomic tasks drawn (chapter 07): R2 by task and net, here and in paper 004.

Letters: L length.
"""

from collections.abc import Sequence
from itertools import groupby
from statistics import fmean
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap, to_hex
from matplotlib.figure import Figure

from workbook.show.frames import number_grid, panels, picture, there
from workbook.show.labels import named
from workbook.show.style import FAINT, PAPER, RECORDED, SMALL
from workbook.tables.declared import paper
from workbook.tables.dlr_table1 import PAPER_LEVELS, TABLE, level_of, short

TASKS = list(dict.fromkeys(task.split("-")[0] for task in TABLE.tasks))
LINE, HEAD = 0.215, 0.85  # inches, the height of a row of numbers and of what stands above the first
COLUMNS, FIRST = 20.8, 2.8  # a panel is so many numbers wide, of which the first are the level without skill and the steps
MIDDLE: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": SMALL}


@picture
def r2_by_task(found: pd.DataFrame, lengths: Sequence[int] = (64, 128, 512)) -> Figure:
    """R2 by task and net (``dlr/table1``), a panel for each length, in grey the paper's tables 1 and 6: the darker, the more
    is had of what lies above the level without skill, which stands in the first column; the second has the steps."""
    found = _split(found)
    lengths = there(found, "L", lengths)
    titles = [*(f"here, L = {L}, by layers" for L in lengths), "paper, by layers and L"]
    figure, grid = panels(titles, 1, len(titles) * (len(TASKS) * LINE + HEAD) + 0.05, left=1.05, right=0.05, top=HEAD,
                          bottom=0.05, gap=HEAD)  # fmt: skip
    for axes, L in zip(grid, lengths):
        cells = found[found["L"] == L]
        r2 = cells.groupby(["name", "row"])["r2"].agg(fmean).unstack().reindex(
            index=TASKS, columns=there(cells, "row", TABLE.rows))  # fmt: skip
        firsts = cells.drop_duplicates("name").set_index("name", drop=False).reindex(TASKS)
        levels = [level_of(run.task, run.level) if run.L > 0 else np.nan for run in firsts.itertuples()]
        above = r2.sub(levels, axis=0).div(1 - np.array(levels), axis=0)
        _numbers(axes, r2, above, levels, [row.rsplit("_", 1) for row in r2], RECORDED)
        axes.text(2.1, -0.95, "steps", color=PAPER, **MIDDLE)
        for y, steps in enumerate(cells.groupby("name")["steps"].max().reindex(TASKS)):
            axes.text(2.1, y, "" if np.isnan(steps) else f"{steps:,.0f}", color=PAPER, **MIDDLE)
    r2 = _split(paper("dlr/table1")).set_index(["name", "row", "L"])["value"].unstack([1, 2]).reindex(TASKS)
    levels = np.array([[PAPER_LEVELS.get(task, {}).get(L, 0.0) for _, L in r2] for task in TASKS])
    _numbers(grid[-1], r2, (r2 - levels) / (1 - levels), levels[:, -1],
             [(row.rsplit("_", 1)[0], f"{row[-1]}, {L:,}") for row, L in r2], PAPER)  # fmt: skip
    return figure


def _split(found: pd.DataFrame) -> pd.DataFrame:
    parts = found["task"].str.split("-")
    return found.assign(name=parts.str[0], L=parts.str[1].astype(int))


def _numbers(axes: Axes, r2: pd.DataFrame, above: pd.DataFrame, levels: Sequence[float], heads: Sequence, colour: str) -> None:
    """Numbers on a ground as dark as they stand above their level, under a head of (mixer, depth)."""
    shades = LinearSegmentedColormap.from_list("above", ["#ffffff", colour])
    wide = (COLUMNS - FIRST) / len(heads)
    middle = [FIRST + wide * (x + 0.5) for x in range(len(heads))]
    grounds = above.map(lambda share: "" if np.isnan(share) else to_hex(shades(np.clip(share, 0, 1))))
    number_grid(axes, r2.map(short), grounds, middle, (0.96 * wide, 0.94))
    for y, level in enumerate(levels):
        axes.text(0.6, y, "" if np.isnan(level) else short(level), color=PAPER, **MIDDLE)
    axes.text(0.6, -0.95, "no skill", color=PAPER, **MIDDLE)
    for x, (_, depth) in zip(middle, heads):
        axes.text(x, -0.95, depth, **MIDDLE)
    for mixer, group in groupby(zip(middle, heads), lambda head: head[1][0]):
        ends = [x for x, _ in group]
        axes.text((ends[0] + ends[-1]) / 2, -1.85, named(mixer, "dlr/table1"), **MIDDLE)
        axes.plot([ends[0] - 0.45 * wide, ends[-1] + 0.45 * wide], [-1.4] * 2, color=FAINT, lw=0.8, clip_on=False)
    axes.set(xlim=(0, COLUMNS), xticks=[])
    axes.set_yticks(range(len(TASKS)), map(named, TASKS))
    axes.set_title(axes.get_title("left"), x=-0.16, pad=38)
