"""Paper 003's tables as pictures (chapter 09), and accuracy by position once the delta rule may reflect.

Letters: T time, n_h writes per token.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from lrnnlab.show.names import named
from lrnnlab.show.style import FAINT, INK, LIVE, PAPER, RECORDED, SMALL, Look, check_one_budget, new_figure, styled
from lrnnlab.show.table_figures import mark_absent, mark_live, mark_seeds, share_panel
from lrnnlab.tables import fwp_negative, get
from lrnnlab.tables.declared import paper as papers

ROWS = {row: named(row) for row in get("fwp/table1").rows} | {"linear": "linear (ULT)", "transformer": "Transformer"}
LOOKS = {  # of fwp/negative: orange for beta in (0, 1), green for (0, 2); one write dashed, two solid
    "beta1_nh1": ("beta in (0, 1), one write", Look("#E69F00", (0, (5, 1.5)), "s")),
    "beta1_nh2": ("(0, 1), two writes", Look("#E69F00", "-", "D")),
    "beta2_nh1": ("(0, 2), one write", Look("#009E73", (0, (5, 1.5)), "^")),
    "beta2_nh2": ("(0, 2), two writes", Look("#009E73", "-", "o")),
}


@styled
def fwp_tables(records: Sequence[Mapping], live: Mapping[tuple[str, str], Sequence[float]] | None = None) -> Figure:
    """Tables 1 and 2 in one: a panel a task, a line a model; whole strings of Bin1, the longer ones.

    A grey diamond is the paper's number, a dot the mean of ours over seeds, with a whisker from the least to the
    greatest and a stroke for every seed; an empty ring is the mean on Bin0.

    Parameters
    ----------
    records : list of dict
        Of ``fwp/table1`` and ``fwp/table2``, of one budget.
    live : dict, optional
        (task, row) -> Bin1 accuracies of runs of today: squares.

    Raises
    ------
    ValueError
        Without records, or with those of two budgets.

    Examples
    --------
    >>> made = {"bin0": 1.0, "bin1": 0.9}
    >>> run = {"task": "aa", "row": "srwm", "budget": "desk", "metrics": {"last": made}}
    >>> [axes.get_title("left") for axes in fwp_tables([run]).axes][:2]
    ['parity', '(aa)*']
    """
    check_one_budget(records)
    tables = [get("fwp/table1"), get("fwp/table2")]
    printed = pd.concat([papers(table.name) for table in tables]).query("metric == 'last.bin1'")
    theirs = printed.set_index(["task", "row"])["value"]
    figure, panels = new_figure(5.2, rows=2, columns=4, left=1.95, right=0.25, top=0.65, bottom=0.55, gap=0.45, sharey=True)
    for axes, task in zip(panels.flat, [task for table in tables for task in table.tasks]):
        for place, row in enumerate(ROWS):
            cell = [record["metrics"]["last"] for record in records if (record["task"], record["row"]) == (task, row)]
            paper = theirs.get((task, row))
            if paper is not None:
                axes.plot([paper / 100], [place], "D", ms=6, mfc="none", mec=PAPER, clip_on=False, zorder=2)
            if cell:
                mark_seeds(axes, place, *([found[part] for found in cell] for part in ("bin0", "bin1")))
            elif paper is not None:
                mark_absent(axes, place)
            mark_live(axes, place, (live or {}).get((task, row), []))
        share_panel(axes, len(ROWS), named(task))
    for axes in panels[:, 0]:
        axes.set_yticks(range(len(ROWS)), ROWS.values())
    figure.supxlabel("whole strings right", fontsize=10, y=0.1 / figure.get_size_inches()[1])
    handles = [
        Line2D([], [], ls="none", marker="D", ms=6, mfc="none", mec=PAPER, label="paper, Bin1"),
        Line2D([], [], color=RECORDED, lw=2, marker="o", ms=5, label="recorded, Bin1, over seeds"),
        Line2D([], [], ls="none", marker="o", ms=8, mfc="none", mec=RECORDED, label="recorded, Bin0"),
        Line2D([], [], ls="none", marker="s", ms=5, color=LIVE, label="live, Bin1"),
    ]
    figure.legend(handles=handles[: 4 if live else 3], loc="upper right", ncols=4, handletextpad=0.4, columnspacing=1.2)
    return figure


@styled
def negative_by_position(records: Sequence[Mapping]) -> Figure:
    """Right answers by position, far past the training length: a panel a task, a line a kind of transition.

    The band goes from the least to the greatest seed.  Trained up to the grey line; the dashed line is what the best
    constant answer gets.

    Parameters
    ----------
    records : list of dict
        Of ``fwp/negative``, of one budget.

    Raises
    ------
    ValueError
        Without records, or with those of two budgets.

    Examples
    --------
    >>> run = {"task": "aa", "row": "beta2_nh1", "budget": "desk", "by_position": [1.0] * 40,
    ...        "metrics": {"levels": {"majority": 0.5}}, "config": {"setting": {"stages": [[9, 12], [9, 40]]}}}
    >>> [axes.get_title("left") for axes in negative_by_position([run]).axes]
    ['(aa)*']
    """
    check_one_budget(records)
    tasks = [task for task in get("fwp/negative").tasks if any(record["task"] == task for record in records)]
    rows, columns = -(-len(tasks) // 2), min(2, len(tasks))
    figure, panels = new_figure(2.1 * rows + 1, rows=rows, columns=columns, left=0.75, right=0.25, gap=0.55, top=0.7,
                                sharey=True, squeeze=False)  # fmt: skip
    for axes, task in zip(panels.flat, tasks):
        _curves(axes, [record for record in records if record["task"] == task])
        axes.set_title(named(task))
    for axes in panels.flat[len(tasks) :]:
        axes.remove()
    for axes in panels[-1]:
        axes.set_xlabel("position in the string")
    for axes in panels[:, 0]:
        axes.set_ylabel("right answers")
    shown = [(label, look) for row, (label, look) in LOOKS.items() if any(record["row"] == row for record in records)]
    handles = [Line2D([], [], color=look.colour, ls=look.dash, lw=1.5, label=label) for label, look in shown]
    figure.legend(handles=handles, loc="upper right", ncols=4, handletextpad=0.4, columnspacing=1.2)
    return figure


def _curves(axes, records: Sequence[Mapping]) -> None:
    block, setting = fwp_negative.BLOCK, records[0]["config"]["setting"]
    axes.set(xlim=(0, fwp_negative.FAR), ylim=(0, 1.03))
    axes.set_yticks([0, 0.5, 1], ["0", "50 %", "100 %"])
    for row, (name, look) in LOOKS.items():
        curves = np.array([record["by_position"] for record in records if record["row"] == row])
        if len(curves):
            at = block * (np.arange(curves.shape[1]) + 0.5)
            axes.fill_between(at, curves.min(0), curves.max(0), color=look.colour, alpha=0.2, lw=0)
            axes.plot(at, curves.mean(0), color=look.colour, ls=look.dash, lw=1.5, label=name)
    majority, longest = records[0]["metrics"]["levels"]["majority"], setting["stages"][-1][1]
    axes.axvline(longest, color=FAINT, lw=1.2)
    axes.axhline(majority, color=INK, lw=1, ls=(0, (1, 2)), zorder=4)
    marks = {"ha": "left", "va": "top", "fontsize": SMALL, "textcoords": "offset points"}
    axes.annotate(f"trained up to {longest}", (longest, 0), (4, 11), **marks)
    axes.annotate("a constant answer", (fwp_negative.FAR, majority), (-2, -5), **{**marks, "ha": "right"})
