"""The long-range tasks drawn (chapter 07): what trivial predictors get, and what the nets get."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from lrnnlab.show.style import FAINT, INK, RECORDED, SMALL, new_figure, styled
from lrnnlab.show.table_figures import share_panel
from lrnnlab.tables.long_range_levels import NAMES, beside_nets
from lrnnlab.tables.text import by_cell


@styled
def levels_beside_nets(levels: Sequence[dict], nets: Sequence[dict]) -> Figure:
    """A line for each task: trivial predictors above it, the best of them named; our nets below it, means over seeds.

    Parameters
    ----------
    levels : list of dict
        Records of ``lra/levels``.
    nets : list of dict
        Records of ``rotrnn/table1`` and ``dlr/table4``, of the same budget.

    Raises
    ------
    ValueError
        For no levels, or records of two budgets.

    Examples
    --------
    >>> metrics = {"accuracy": 0.9, "validation": 0.9, "chance": 0.5, "majority": 0.54}
    >>> level = {"task": "text", "row": "bag", "budget": "desk", "protocol": "ours", "data": "Text (stand-in)",
    ...          "metrics": metrics}
    >>> [label.get_text() for label in levels_beside_nets([level], []).axes[0].get_yticklabels()]
    ['Text']
    """
    if not levels:
        raise ValueError("a picture of levels needs records, got 0")
    rows, cells = beside_nets(levels, nets), by_cell(levels, "task")
    figure, axes = new_figure(1.3 + 0.55 * len(rows), left=1.05, right=1.0, top=0.75, bottom=0.5)
    share_panel(axes, len(rows), "")
    for place, row in enumerate(rows):
        axes.plot([row["majority"]] * 2, [place - 0.36, place + 0.36], color=FAINT, lw=1.6, ls=(0, (2, 1.2)), zorder=1)
        shares = [record["metrics"]["accuracy"] for record in cells[row["task"],]]
        axes.plot(shares, [place - 0.18] * len(shares), "D", ms=5, mfc="none", mec=INK, mew=1, clip_on=False, zorder=3)
        axes.plot([row["trivial"]], [place - 0.18], "D", ms=5, color=INK, clip_on=False, zorder=3)
        axes.plot([*row["nets"].values()], [place + 0.18] * len(row["nets"]), "o", ms=5.5, color=RECORDED, alpha=0.7, mec="white",
                  mew=0.5, clip_on=False, zorder=3)  # fmt: skip
        axes.text(1.03, place - 0.18, row["predictor"], transform=axes.get_yaxis_transform(), fontsize=SMALL, va="center")
    axes.set_yticks(range(len(rows)), [NAMES[row["task"]] for row in rows])
    axes.set_xlabel("right answers on the test items")
    handles = [
        Line2D([], [], ls="none", marker="D", ms=5, color=INK, label="best without long range (its name at the right)"),
        Line2D([], [], ls="none", marker="D", ms=5, mfc="none", mec=INK, label="others without long range"),
        Line2D([], [], ls="none", marker="o", ms=5.5, color=RECORDED, label="our nets, means over seeds"),
        Line2D([], [], color=FAINT, lw=1.6, ls=(0, (2, 1.2)), label="majority"),
    ]
    figure.legend(handles=handles, loc="upper right", ncols=2, handletextpad=0.4, columnspacing=1.2)
    return figure
