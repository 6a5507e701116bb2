"""Language models drawn (chapter 07): losses by step beside what counting gets, and at which rate which model breaks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from lrnnlab.show.style import FAINT, INK, Look, check_one_budget, label_ends, new_figure, styled
from lrnnlab.tables import dlr_table5 as table5

MODELS = {"dlr": ("DLR", Look("#0B6E4F", "-", "o")), "transformer": ("Transformer", Look("#E69F00", (0, (6, 1.5)), "s"))}
ROWS = {
    "dlr_post": ("DLR, post-norm", MODELS["dlr"][1]), "dlr_pre": ("DLR, pre-norm", MODELS["dlr"][1]),
    "transformer_post": ("Transformer, post-norm", MODELS["transformer"][1]),
    "transformer_pre": ("Transformer, pre-norm", MODELS["transformer"][1]),
    "dlr_post_small": ("DLR, post-norm, small start", Look("#0B6E4F", (0, (1, 1.2)), "^")),
}
PLACES = {"post": "post-norm", "pre": "pre-norm"}


@styled
def loss_by_step(records: Sequence[Mapping], task: str = "characters") -> Figure:
    """Loss by step, post-norm on the left, pre-norm on the right: thin on the text trained on, thick on the test text.

    Horizontal lines are what counting single tokens, pairs and triples gets on the same test text.

    Parameters
    ----------
    records : list of dict
        Of ``dlr/table5``, of one budget; lines are means over seeds.
    task : str
        ``"characters"`` or ``"tokens"``.

    Raises
    ------
    ValueError
        If there are none of this task, or of two budgets.

    Examples
    --------
    >>> run = {"row": "dlr_pre", "task": "characters", "budget": "desk", "losses": [(10, 3.0), (20, 2.5)],
    ...        "watched": [{"step": 0, "test": 4.5}, {"step": 20, "test": 2.6}],
    ...        "levels": {"unigram": 3.2, "bigram": 2.4, "trigram": 1.8}}
    >>> [axes.get_title("left") for axes in loss_by_step([run]).axes]
    ['post-norm', 'pre-norm']
    """
    records = [record for record in records if record["task"] == task]
    check_one_budget(records)
    figure, panels = new_figure(3.4, columns=2, left=0.65, right=1.15, top=0.65, bottom=0.5, gap=0.4, sharey=True)
    levels = records[0]["levels"]
    for axes, (place, title) in zip(panels, PLACES.items()):
        for mixer, (_, look) in MODELS.items():
            cell = [record for record in records if record["row"] == f"{mixer}_{place}"]
            if cell:
                _losses(axes, cell, look)
        for level in levels.values():
            axes.axhline(level, color=FAINT, lw=1.2, ls=(0, (4, 3)), zorder=1)
        axes.set_title(title)
        axes.set_xlabel("training step")
        axes.margins(x=0)
    lowest = min([*levels.values(), *(value for record in records for _, value in record["losses"])])
    panels[0].set(ylabel="nats a token", ylim=(lowest - 0.15, max(levels.values()) + 0.6))
    label_ends(panels[1], [(level, f"{name} {level:.2f}", FAINT) for name, level in levels.items()])
    handles = [Line2D([], [], color=look.colour, ls=look.dash, marker=look.marker, ms=4, label=f"{name}, test")
               for name, look in MODELS.values()]  # fmt: skip
    handles += [Line2D([], [], color=INK, lw=0.7, alpha=0.6, label="training, in the model's colour")]
    figure.legend(handles=handles, loc="upper right", ncols=3, columnspacing=1.4)
    return figure


def _losses(axes: Axes, cell: Sequence[Mapping], look: Look) -> None:
    """A model's two curves, means over seeds; a curve of numbers that are none ends."""
    axes.plot(*_mean([record["losses"] for record in cell]), color=look.colour, lw=0.7, alpha=0.6)
    tests = [[(one["step"], one["test"]) for one in record["watched"]] for record in cell]
    axes.plot(*_mean(tests), color=look.colour, ls=look.dash, marker=look.marker, ms=3.5)


def _mean(curves: Sequence[Sequence]) -> tuple[list, np.ndarray]:
    """The steps of the longest of some curves of (step, value), and their mean, which is NaN where one of them has ended."""
    steps = [step for step, _ in max(curves, key=len)]
    values = np.full((len(curves), len(steps)), np.nan)
    for line, curve in zip(values, curves):
        line[: len(curve)] = [np.nan if value is None else value for _, value in curve]
    return steps, values.mean(0)


@styled
def loss_by_rate(records: Sequence[Mapping]) -> Figure:
    """Test loss by learning rate after a short run without warm-up, a panel for each depth: post-norm filled, pre-norm hollow.

    What ends at the unigram level has learned which characters are frequent and nothing of their order: it is broken.  A
    cross there is of a run whose loss was no number any more; a point is the mean over those seeds that came to the end.

    Parameters
    ----------
    records : list of dict
        Of ``dlr/table5``, of one budget, tasks ``depth4-...`` and ``depth16-...``; points are means over seeds.

    Raises
    ------
    ValueError
        If there are none of these, or of two budgets.

    Examples
    --------
    >>> run = {"row": "dlr_pre", "task": "depth16-0.01", "budget": "desk", "metrics": {"test": 2.4},
    ...        "levels": {"unigram": 3.2}}
    >>> [axes.get_title("left") for axes in loss_by_rate([run]).axes]
    ['4 layers, width 64', '16 layers, width 32']
    """
    records = [record for record in records if record["task"] in table5.SWEEP]
    check_one_budget(records)
    figure, panels = new_figure(3.4, columns=2, left=0.65, right=1.15, top=0.85, bottom=0.5, gap=0.25, sharey=True)
    level = records[0]["levels"]["unigram"]
    for axes, (layers, width) in zip(panels, table5.DEPTHS.items()):
        for row, (_, look) in ROWS.items():
            cells = {float(rate): [record["metrics"]["test"] for record in records
                                   if (record["row"], record["task"]) == (row, f"depth{layers}-{rate}")
                                   and record["metrics"]["test"] is not None] for rate in table5.RATES}  # fmt: skip
            points = [(rate, fmean(cell)) for rate, cell in cells.items() if cell]
            if points:
                axes.plot(*zip(*points), color=look.colour, ls=look.dash, marker=look.marker, ms=6, mfc=_fill(row, look),
                          clip_on=False)  # fmt: skip
            broke = [float(rate) for rate in table5.RATES if any(
                record["metrics"]["test"] is None for record in records
                if (record["row"], record["task"]) == (row, f"depth{layers}-{rate}"))]  # fmt: skip
            axes.plot(broke, [level] * len(broke), "x", color=look.colour, ms=8, clip_on=False)
        axes.axhline(level, color=FAINT, lw=1.2, ls=(0, (4, 3)), zorder=1)
        axes.set(xscale="log", xlabel="learning rate", xlim=(8e-4, 3.8e-2))
        axes.set_xticks([float(rate) for rate in table5.RATES], table5.RATES)
        axes.set_xticks([], minor=True)
        axes.set_title(f"{layers} layers, width {width}")
    panels[0].set(ylabel="test loss, nats a character", ylim=(None, level + 0.15))
    label_ends(panels[1], [(level, f"unigram {level:.2f}", FAINT)])
    handles = [Line2D([], [], color=look.colour, ls=look.dash, marker=look.marker, ms=6, label=name, mfc=_fill(row, look))
               for row, (name, look) in ROWS.items()]  # fmt: skip
    figure.legend(handles=handles, loc="upper right", ncols=3, columnspacing=1.4, handlelength=3)
    return figure


def _fill(row: str, look: Look) -> str:
    """Pre-norm is hollow."""
    return "white" if row.endswith("pre") else look.colour
