"""Shift drawn (chapter 06): R2 by length, here and in paper 004.

Letters: L length.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lrnnlab.algebra.shifts import predicted_r2
from lrnnlab.show.style import FAINT, PAPER, SMALL, Look, check_one_budget, label_ends, new_figure, styled
from lrnnlab.tables import dlr_table2
from lrnnlab.tasks.atomic_levels import shift_level
from lrnnlab.training.evaluation import summary

ROWS = {
    "dlr": ("DLR", Look("#0B6E4F", "-", "o")),
    "dlr_prod": ("DLR-prod", Look("#E69F00", (0, (6, 1.5)), "s")),
    "dlr_small": ("DLR, small N", Look("#56B4E9", (0, (4, 1, 1, 1)), "^")),
    "dlr_full": ("DLR, N = L", Look("#0B6E4F", (0, (1, 3)), "*")),
    "dlr_real": ("DLR-R", Look("#882255", (0, (3, 1.2)), "D")),
    "dss": ("DSS", Look("#000000", (0, (1, 1.2)), "v")),
    "sgconv": ("SGConv", Look("#332288", (0, (8, 2)), "P")),
}


@styled
def shift_by_length(records: Sequence[Mapping]) -> Figure:
    """R2 on Shift by length: left ours, mean and range over seeds; right the paper's, in grey.

    The lower dashed line is what copying the input without a shift is worth.  The pale steps are what the reach of a DLR's
    modes predicts: all shifts by S <= 2N and no others.

    Parameters
    ----------
    records : list of dict
        Of ``dlr/table2``, of one budget.

    Raises
    ------
    ValueError
        If there are none, or of two budgets.

    Examples
    --------
    >>> metrics, options = {"r2": 0.9, "steps": 400}, {"state": 32}
    >>> made = {"row": "dlr", "task": "256", "budget": "live", "metrics": metrics,
    ...         "config": {"setting": {"options": options}}}
    >>> [axes.get_title("left") for axes in shift_by_length([made]).axes]
    ['here: N = 32, 400 steps', 'paper: N = 4,096, 86,000 steps']
    """
    check_one_budget(records)
    figure, (ours, paper) = new_figure(3.6, columns=2, left=0.6, right=0.15, gap=1.35, top=0.35, sharey=True)
    ours.set(ylabel="R2", ylim=(min([0, *(record["metrics"]["r2"] for record in records)]) - 0.05, 1.05))
    steps = sorted({record["metrics"]["steps"] for record in records})
    sizes = {record["config"]["setting"]["options"]["state"] for record in records if record["row"] == "dlr"}
    named = "".join(f"N = {N:,}, " for N in sizes)
    ours.set_title(f"here: {named}{steps[0]:,}{f' to {steps[-1]:,}' if len(steps) > 1 else ''} steps")
    _ours(ours, records)
    paper.set_title("paper: N = 4,096, 86,000 steps")
    _paper(paper)
    for axes, N in ((ours, sizes), (paper, {4096})):
        axes.axhline(shift_level(), color=FAINT, lw=1.2, ls=(0, (4, 3)), zorder=1)
        axes.set_xlabel("length L")
        for size in N:
            powers = np.arange(*np.ceil(axes.get_xlim()))
            axes.step(powers, [predicted_r2(2 ** int(power), size) for power in powers], where="mid", color=FAINT,
                      lw=6, alpha=0.25, zorder=0, label="predicted for DLR")  # fmt: skip
    return figure


def _ours(axes: Axes, records: Sequence[Mapping]) -> None:
    lengths = sorted({int(record["task"]) for record in records})
    axes.set(xlim=(np.log2(lengths[0]) - 0.4, np.log2(lengths[-1]) + 0.4))
    _powers(axes, [int(np.log2(L)) for L in lengths])
    ends = []
    for row, (name, look) in ROWS.items():
        cells = {L: summary(found) for L in lengths
                 if (found := [r["metrics"]["r2"] for r in records if (r["row"], int(r["task"])) == (row, L)])}  # fmt: skip
        if not cells:
            continue
        x, mean = [np.log2(L) for L in cells], [cell["mean"] for cell in cells.values()]
        axes.plot(x, mean, color=look.colour, ls=look.dash, marker=look.marker, ms=5, lw=1.4, label=name)
        low, high = ([cell[end] for cell in cells.values()] for end in ("min", "max"))
        axes.vlines(x, low, high, color=look.colour, lw=3, alpha=0.5)
        ends.append((mean[-1], name, look.colour))
    label_ends(axes, [*ends, (shift_level(), f"no shift: {shift_level():.3f}", FAINT)])


def _paper(axes: Axes) -> None:
    powers = [int(column.removeprefix("2^")) for column in dlr_table2.PAPER]
    axes.set(xlim=(powers[0] - 0.7, powers[-1] + 0.7))
    _powers(axes, powers)
    for row in dlr_table2.PAPER.index:
        name, look = ROWS[row]
        given = dlr_table2.PAPER.loc[row].to_numpy(float)
        there = np.flatnonzero(np.isfinite(given))
        x, y = np.array(powers)[there], given[there]
        axes.plot(x, y, color=PAPER, ls=look.dash, marker=look.marker, ms=5, lw=1.2, label=name)
        side, shift = ("left", (0, -12)) if len(there) == 1 else ("right", (-6, {"dlr": -4, "sgconv": 3}.get(row, 0)))
        axes.annotate(name, (x[0], y[0]), shift, textcoords="offset points", fontsize=SMALL, ha=side, va="center")


def _powers(axes: Axes, powers: Sequence[int]) -> None:
    axes.set_xticks(powers, [f"$2^{{{power}}}$" for power in powers])
