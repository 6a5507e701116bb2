"""A table of trained models as one picture: which rows hold past the training length, and which never learned it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from lrnnlab.show.names import renamed
from lrnnlab.show.style import FAINT, LIVE, RECORDED, SMALL, new_figure, styled


@styled
def holds(records: Sequence[dict], tasks: Sequence[str], rows: Sequence[str],
          live: Mapping[tuple[str, str], Sequence[float]] | None = None) -> Figure:
    """One panel per task, one line per row, in the given order.

    A ring is the mean at the training length, a dot the mean at all longer positions; its whisker reaches from the
    least to the greatest seed, small strokes are the single seeds.

    Parameters
    ----------
    records : list of dict
        Of one experiment and one budget, with ``accuracy_seen`` and ``accuracy_all`` among their metrics and the
        majority level among their ``levels``.
    tasks, rows : list of str
        What is shown.
    live : dict, optional
        (task, row) -> accuracies past the training length of runs of today: squares.

    Examples
    --------
    >>> run = {"task": "sum", "row": "clip", "metrics": {"accuracy_seen": 1.0, "accuracy_all": 0.4}, "levels": {"majority": 0.2}}
    >>> [axes.get_title(loc="left") for axes in holds([run], ["sum", "evenpair"], ["clip", "s4"]).axes]
    ['sum', 'evenpair']
    """
    if not tasks or not rows:
        raise ValueError(f"a picture needs tasks and rows, got {list(tasks)} and {list(rows)}")
    figure, panels = new_figure(1.2 + 0.25 * len(rows), columns=len(tasks), left=1.6, right=0.25, top=0.65, bottom=0.55,
                                gap=0.5, sharey=True, squeeze=False)  # fmt: skip
    for axes, task in zip(panels[0], tasks):
        for place, row in enumerate(rows):
            cell = [r for r in records if (r["task"], r["row"]) == (task, row)]
            if cell:
                seen = [r["metrics"]["accuracy_seen"] for r in cell]
                mark_seeds(axes, place, seen, [r["metrics"]["accuracy_all"] for r in cell])
            else:
                mark_absent(axes, place)
            mark_live(axes, place, (live or {}).get((task, row), []))
        majority = next((r["levels"]["majority"] for r in records if r["task"] == task), None)
        if majority is not None:
            axes.axvline(majority, color=FAINT, lw=1.2, ls=(0, (3, 2)), zorder=1)
        share_panel(axes, len(rows), task)
    panels[0, 0].set_yticks(range(len(rows)), map(renamed, rows))
    figure.supxlabel("right answers", fontsize=10, y=0.12 / figure.get_size_inches()[1])
    handles = [
        Line2D([], [], ls="none", marker="o", ms=8, mfc="none", mec=RECORDED, label="at the training length"),
        Line2D([], [], color=RECORDED, lw=2, marker="o", ms=5, label="past it, over seeds"),
        Line2D([], [], ls="none", marker="s", ms=5, color=LIVE, label="past it, live"),
        Line2D([], [], color=FAINT, lw=1.2, ls=(0, (3, 2)), label="majority"),
    ]
    figure.legend(handles=handles[:2] + (handles[2:] if live else handles[3:]), loc="upper right", ncols=4,
                  handletextpad=0.4, columnspacing=1.2)  # fmt: skip
    return figure


def share_panel(axes: Axes, rows: int, title: str) -> None:
    """Ready for so many rows of shares, 0 to 100 %, one below the other."""
    axes.set(xlim=(0, 1), ylim=(rows - 0.5, -0.5), title=title)
    axes.set_xticks([0, 0.5, 1], ["0", "50 %", "100 %"])
    axes.grid(False, axis="x")
    axes.tick_params(length=0)


def mark_seeds(axes: Axes, place: int, seen: Sequence[float], past: Sequence[float]) -> None:
    """A row's ring (the mean of ``seen``), dot (the mean of ``past``), its whisker, and a stroke for every seed."""
    axes.plot([np.mean(seen)], [place], "o", ms=8, mfc="none", mec=RECORDED, clip_on=False, zorder=3)
    axes.plot([min(past), max(past)], [place] * 2, color=RECORDED, lw=2, zorder=2)
    axes.plot(past, [place] * len(past), "|", color=RECORDED, ms=8, mew=1.2, clip_on=False, zorder=2)
    axes.plot([np.mean(past)], [place], "o", ms=5, color=RECORDED, clip_on=False, zorder=3)


def mark_absent(axes: Axes, place: int) -> None:
    """A row that has no run says so."""
    axes.text(0.5, place, "not run", fontsize=SMALL, color=FAINT, ha="center", va="center",
              bbox={"fc": "white", "ec": "none", "pad": 1})  # fmt: skip


def mark_live(axes: Axes, place: int, shares: Sequence[float]) -> None:
    """Runs of today, a square each."""
    axes.plot(shares, [place] * len(shares), "s", ms=5, color=LIVE, mec="white", mew=0.6, clip_on=False, zorder=4)
