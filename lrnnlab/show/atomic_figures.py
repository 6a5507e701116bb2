"""The atomic tasks drawn (chapter 07): R2 by task and net, here and in paper 004.

Letters: L length.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from statistics import fmean
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap, to_hex
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from lrnnlab.show.names import named
from lrnnlab.show.style import FAINT, PAPER, RECORDED, SMALL, check_one_budget, ink_on, new_figure, styled
from lrnnlab.tables import dlr_table1
from lrnnlab.tables.text import by_cell
from lrnnlab.tasks.atomic import ATOMIC

TASKS = tuple(dlr_table1.STEPS)
LINE, HEAD = 0.215, 0.85  # inches, the height of a row of numbers and of what stands above the first
COLUMNS, FIRST = 20.8, 2.8  # a panel is so many numbers wide, of which the first are the level without skill and the steps
NAMES = {"attention_ff": "+ 2 x FF"}
MIDDLE: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": SMALL}


@styled
def r2_by_task(records: Sequence[Mapping], lengths: Sequence[int] = (64, 128, 512)) -> Figure:
    """R2 by task and net, a panel for each length with the nets recorded there; in grey the paper's tables 1 and 6.

    The darker a number's ground, the more of what is above the level without skill is had; that level stands in the
    first column (the paper's, at L = 512), and what is no better is on white.  The second has the steps of a task.

    Parameters
    ----------
    records : list of dict
        Of ``dlr/table1``, of one budget; seeds are averaged.
    lengths : list of int
        Which are shown, if there are records of them.

    Raises
    ------
    ValueError
        If there are no records, or of two budgets, or none of these lengths.

    Examples
    --------
    >>> run = {"row": "dlr_1", "task": "sort-64", "budget": "desk", "metrics": {"r2": 0.4, "level": 0.49, "steps": 9}}
    >>> [axes.get_title("left") for axes in r2_by_task([run]).axes]
    ['here, L = 64, by layers', 'paper, by layers and L']
    """
    check_one_budget(records)
    found = {cell: fmean(r["metrics"]["r2"] for r in of) for cell, of in by_cell(records).items()}
    levels = {task: dlr_table1.level_of(of[0]) for (task,), of in by_cell(records, "task").items()}
    steps = {task: max(r["metrics"]["steps"] for r in of) for (task,), of in by_cell(records, "task").items()}
    lengths = [L for L in lengths if any(task.endswith(f"-{L}") for task, _ in found)]
    if not lengths:
        raise ValueError("no record of dlr/table1 has one of these lengths")
    panels = len(lengths) + 1
    figure, stacked = new_figure(panels * (len(TASKS) * LINE + HEAD) + 0.05, rows=panels, left=1.05, right=0.05,
                                 top=HEAD, bottom=0.05, gap=HEAD)  # fmt: skip
    for axes, L in zip(stacked, lengths):
        rows = [row for row in dlr_table1.ROWS if any((f"{task}-{L}", row) in found for task in TASKS)]
        cells = {(task, x): found[f"{task}-{L}", row] for task in TASKS for x, row in enumerate(rows)
                 if (f"{task}-{L}", row) in found}  # fmt: skip
        level = {task: [levels[f"{task}-{L}"]] * len(rows) for task in TASKS if f"{task}-{L}" in levels}
        _numbers(axes, f"here, L = {L}, by layers", cells, level, rows, [row.rsplit("_", 1)[1] for row in rows], RECORDED)
        axes.text(2.1, -0.95, "steps", color=PAPER, **MIDDLE)
        for y, task in enumerate(TASKS):
            axes.text(2.1, y, f"{steps[f'{task}-{L}']:,}" if f"{task}-{L}" in steps else "", color=PAPER, **MIDDLE)
    paper, columns = dlr_table1.PAPER, dlr_table1.COLUMNS
    cells = {(task, x): paper.loc[task].iloc[x] for task in TASKS for x in range(len(columns))}
    level = {task: [dlr_table1.PAPER_LEVELS.get(task, {}).get(long, 0.0) for _, long in columns] for task in TASKS}
    _numbers(stacked[-1], "paper, by layers and L", cells, level, [name for name, _ in columns],
             [f"{name[-1]}, {long:,}" for name, long in columns], PAPER)  # fmt: skip
    return figure


def _numbers(axes: Axes, title: str, cells: Mapping[tuple[str, int], float], levels: Mapping[str, Sequence[float]],
             rows: Sequence[str], depths: Sequence[str], colour: str) -> None:
    """Numbers on a ground as dark as they stand above their level, under a head of mixers and depths."""
    shades = LinearSegmentedColormap.from_list("above", ["#ffffff", colour])
    wide = (COLUMNS - FIRST) / len(rows)
    middle = [FIRST + wide * (x + 0.5) for x in range(len(rows))]
    for y, task in enumerate(TASKS):
        if task in levels:
            axes.text(0.6, y, dlr_table1.short(levels[task][-1]), color=PAPER, **MIDDLE)
        for x, r2 in ((x, r2) for (other, x), r2 in cells.items() if other == task and np.isfinite(r2)):
            level = levels[task][x]
            ground = to_hex(shades(np.clip((r2 - level) / (1 - level), 0, 1)))
            axes.add_patch(Rectangle((middle[x] - 0.48 * wide, y - 0.47), 0.96 * wide, 0.94, color=ground, lw=0))
            axes.text(middle[x], y, dlr_table1.short(r2), color=ink_on(ground), **MIDDLE)
    axes.text(0.6, -0.95, "no skill", color=PAPER, **MIDDLE)
    for x, depth in enumerate(depths):
        axes.text(middle[x], -0.95, depth, **MIDDLE)
    for mixer, group in groupby(range(len(rows)), lambda x: rows[x].rsplit("_", 1)[0]):
        ends = list(group)
        axes.text((middle[ends[0]] + middle[ends[-1]]) / 2, -1.85, NAMES.get(mixer) or named(mixer), **MIDDLE)
        axes.plot([middle[ends[0]] - 0.45 * wide, middle[ends[-1]] + 0.45 * wide], [-1.4] * 2, color=FAINT, lw=0.8, clip_on=False)
    axes.set(xlim=(0, COLUMNS), ylim=(len(TASKS) - 0.5, -0.5), xticks=[])
    axes.set_yticks(range(len(TASKS)), [ATOMIC[task]().name for task in TASKS])
    axes.tick_params(length=0)
    axes.grid(False)
    axes.spines[:].set_visible(False)
    axes.set_title(title, x=-0.16, pad=38)
