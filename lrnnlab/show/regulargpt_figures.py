"""Tables 1 and 2 of paper 002 drawn (chapter 08): the paper's numbers in grey, every recorded run as a blue dot.

Letters: p = P(1).
"""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from lrnnlab.tables import regulargpt_table1 as table1
from lrnnlab.tables import regulargpt_table2 as table2
from lrnnlab.show.style import FAINT, LIVE, PAPER, RECORDED, SMALL, new_figure, styled

NETS = {
    "rnn": "RNN",
    "transformer": "Transformer",
    "regulargpt_c2": "RegularGPT, C = 2",
    "regulargpt_c3": "RegularGPT, C = 3",
}
TASKS = {
    "even_pairs": "Even Pairs", "modular_arithmetic_prefix": "Mod. Arithmetic (+)",
    "modular_arithmetic": "Mod. Arithmetic", "parity": "Parity", "cycle_navigation": "Cycle Navigation",
    **{f"d_{n}": rf"$D_{{{n}}}$" for n in (2, 3, 4, 12)}, **{f"tomita_{n}": f"Tomita {n}" for n in (3, 4, 5, 6)},
}  # fmt: skip


@styled
def accuracy_by_task(records: Sequence[dict], live: Sequence[dict] = ()) -> Figure:
    """Table 1: a panel for every net, a line for every task; the share of right answers beyond the trained lengths.

    records : of ``regulargpt/table1``, of one budget.      live : of the same table, made just now, in vermilion.
    A grey diamond is the paper's greatest of 3 seeds, a hollow one their mean; the stroke is the majority level; dots of
    one cell stand one below the other, a seed each.
    ValueError without records, or with those of two budgets.

    >>> run = {"task": "parity", "row": "rnn", "budget": "desk", "metrics": {"accuracy": 0.9, "majority": 0.5}}
    >>> [axes.get_title("left") for axes in accuracy_by_task([run]).axes]
    ['RNN', 'Transformer', 'RegularGPT, C = 2', 'RegularGPT, C = 3']
    """
    _one_budget(records)
    figure, panels = new_figure(
        4.7, columns=len(NETS), left=1.45, right=0.2, top=0.75, bottom=0.55, gap=0.22, sharey=True
    )
    majority = {record["task"]: record["metrics"]["majority"] for record in records}
    for axes, (row, name) in zip(panels, NETS.items()):
        for place, task in enumerate(TASKS):
            if task in majority:
                axes.plot([100 * majority[task]], [place], "|", color=FAINT, ms=11, mew=1.6, zorder=1)
            if task in table1.PAPER:
                best, mean = table1.PAPER[task][table1.ROWS.index(row)]
                _paper(axes, [best], [place])
                _paper(axes, [mean], [place], hollow=True)
            for found, colour in ((records, RECORDED), (live, LIVE)):
                shares = [100 * r["metrics"]["accuracy"] for r in found if (r["row"], r["task"]) == (row, task)]
                _runs(axes, shares, _beside(place, len(shares), 0.25), colour)
        axes.set_title(name, fontsize=SMALL)
        axes.set(xlim=(0, 103), xticks=[0, 50, 100], xticklabels=["0", "50", "100 %"])
        axes.set_ylim(len(TASKS) - 0.5, -0.5)
        axes.tick_params(length=0)
    panels[0].set_yticks(range(len(TASKS)), TASKS.values())
    figure.supxlabel("right answers beyond the trained lengths", fontsize=10, y=0.12 / figure.get_size_inches()[1])
    _legend(figure, bool(live))
    return figure


@styled
def accuracy_by_p(records: Sequence[dict], live: Sequence[dict] = ()) -> Figure:
    """Table 2: a panel for every net, Parity with ones of probability p: at length 40 (below) and beyond (above).

    As :func:`accuracy_by_task`, for records of ``regulargpt/table2``; the paper's numbers are means over 3 seeds.

    >>> run = {"task": "0.1", "row": "rnn", "budget": "desk", "metrics": {"accuracy": 0.9, "accuracy_seen": 1.0}}
    >>> len(accuracy_by_p([run]).axes)
    6
    """
    _one_budget(records)
    figure, panels = new_figure(4.2, rows=2, columns=len(table2.ROWS), left=0.75, right=0.2, top=0.75, bottom=0.5,
                                gap=0.35, sharex=True, sharey=True)  # fmt: skip
    for line, (measure, title) in zip(panels, table2.MEASURES.items()):
        for axes, row in zip(line, table2.ROWS):
            place = list(table2.MEASURES).index(measure)
            _paper(axes, [float(task) for task in table2.TASKS], table2.PAPER[row][place], hollow=True)
            for found, colour in ((records, RECORDED), (live, LIVE)):
                for task in table2.TASKS:
                    shares = [100 * r["metrics"][measure] for r in found if (r["row"], r["task"]) == (row, task)]
                    _runs(axes, _beside(float(task), len(shares), 0.03), shares, colour)
            axes.axhline(50, color=FAINT, lw=1.2, ls=(0, (3, 2)), zorder=1)
            axes.set(ylim=(40, 103), xlim=(0, 1), xticks=[float(task) for task in table2.TASKS], yticks=[50, 75, 100])
        line[0].set_ylabel(title.replace(" (", "\n("))
    for axes, row in zip(panels[0], table2.ROWS):
        axes.set_title(NETS[row])
    for axes in panels[-1]:
        axes.set_xlabel("p = P(1)")
    _legend(figure, bool(live), seeds=False)
    return figure


def _paper(axes: Axes, x: Sequence[float], y: Sequence[float], *, hollow: bool = False) -> None:
    axes.plot(x, y, "D", ms=6, color=PAPER, mfc="none" if hollow else PAPER, clip_on=False, zorder=2)


def _beside(place: float, count: int, step: float) -> list[float]:
    """Places for ``count`` dots around one, so that equal seeds are all seen."""
    return [place + step * (k - (count - 1) / 2) for k in range(count)]


def _runs(axes: Axes, x: Sequence[float], y: Sequence[float], colour: str) -> None:
    axes.plot(x, y, "o", ms=4.5, color=colour, mec="white", mew=0.5, alpha=0.9, clip_on=False, zorder=3)


def _legend(figure: Figure, live: bool, seeds: bool = True) -> None:
    def mark(marker: str, colour: str, label: str, **look) -> Line2D:
        return Line2D([], [], ls="none", marker=marker, color=colour, label=label, **look)

    handles = [mark("D", PAPER, "paper, best of 3", ms=6)] if seeds else []
    handles += [
        mark("D", PAPER, "paper, mean of 3", ms=6, mfc="none"),
        mark("o", RECORDED, "recorded, each seed", ms=4.5),
    ]
    handles += [mark("o", LIVE, "live", ms=4.5)] if live else []
    handles += [
        mark("|", FAINT, "majority", ms=11, mew=1.6)
        if seeds
        else Line2D([], [], color=FAINT, lw=1.2, ls=(0, (3, 2)), label="majority")
    ]
    figure.legend(handles=handles, loc="upper right", ncols=len(handles), handletextpad=0.3, columnspacing=1.2)


def _one_budget(records: Sequence[dict]) -> None:
    budgets = sorted({record["budget"] for record in records})
    if len(budgets) != 1:
        raise ValueError(f"one picture shows the records of one budget, got {len(records)} of {budgets}")
