"""Figures 1 to 3 of paper 004: pictures and their classes, errors on ListOps by node, and what nets say of pictures.

Letters: M side of a picture.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from lrnnlab.show.shift_figures import ROWS as KERNELS
from lrnnlab.show.style import FAINT, GRID, SMALL, Look, check_one_budget, new_figure, styled, value_colour
from lrnnlab.tables.dlr_table3 import SPLITS, operator_levels, reading_nothing, scored
from lrnnlab.tables.text import by_cell
from lrnnlab.tasks.base import numpy_random
from lrnnlab.tasks.pathfinder import PathfinderSegmentation, draw, draw_scene, segment

ROWS = {"dlr": KERNELS["dlr"], "dss": KERNELS["dss"],
        "local_attention": ("LocalAttention", Look("#E69F00", (0, (6, 1.5)), "s"))}  # fmt: skip
CLASSES = ("elsewhere", "on a main path", "on a main path with a circle at both ends")
COLOURS = ("#f4f4f4", value_colour(1, 3), value_colour(2, 3))  # of the classes; elsewhere is nearly white
UNANSWERED = "#000000"  # of a pixel for which a run that broke off has no answer
OPERATORS = ("MIN", "MAX", "MED", "SM")
MORE = {"": ("-", ""), "-longer": ((0, (4, 2)), ", more items"), "-slower": ((0, (6, 1, 1, 1)), ", more items, lower rate")}


@styled
def pictures_and_classes(side: int = 128, count: int = 4, seed: int = 0) -> Figure:
    """Figure 1: pictures of Pathfinder-Segmentation, connected and not in turn, and below each what is asked for.

    Parameters
    ----------
    side : int
        M, one of those that have settings: 32, 64, 128, 256 or 512.
    count : int
        How many pictures.
    seed : int
        Of the pictures.

    Examples
    --------
    >>> len(pictures_and_classes(32, count=2).axes)
    4
    """
    settings = PathfinderSegmentation(side).settings
    figure, panels = new_figure(3.95, rows=2, columns=count, left=0.1, right=0.1, top=0.3, bottom=0.4, gap=0.1, squeeze=False)
    rng = numpy_random(seed)
    for number, (above, below) in enumerate(panels.T):
        scene = draw_scene(settings, rng)
        while scene.connected != (number % 2 == 0):
            scene = draw_scene(settings, rng)
        _picture(above, draw(scene))
        _classes(below, segment(scene))
        above.set_title("connected" if scene.connected else "not connected", fontsize=SMALL, loc="center")
    _legend(figure)
    return figure


@styled
def errors_by_node(records: Sequence[Mapping], rows: Sequence[str] = ("dlr", "local_attention")) -> Figure:
    """Figure 2: how often values are wrong on ListOps-SubTrees, by the height of the node and by its operator.

    A band goes from the least to the greatest over seeds.  Grey dashes are what the commonest value there gets wrong, dots
    on the left what he gets wrong who knows the operator too: a net above them has not read what stands below the node.

    Parameters
    ----------
    records : list of dict
        Of ``dlr/table3``, all of one ListOps task and one budget.
    rows : tuple of str
        Which nets are drawn, of ``ROWS``.

    Raises
    ------
    ValueError
        If there are none of these rows, or of two tasks or budgets.

    Examples
    --------
    >>> from lrnnlab.tables import plan, run_all
    >>> made = list(run_all(plan("dlr/table3", tasks=["listops-128"], rows=["dlr"])))
    >>> [axes.get_xlabel() for axes in errors_by_node(made).axes]
    ['height of the node (up to 128 tokens)', 'operator']
    """
    records = [record for record in records if record["row"] in rows and "by_height" in record]
    _one_task(records, "ListOps")
    check_one_budget(records)
    figure, (left, right) = new_figure(3.3, columns=2, left=0.65, right=0.15, top=0.45, bottom=0.55, gap=0.35, sharey=True,
                                       gridspec_kw={"width_ratios": (1.5, 1)})  # fmt: skip
    heights = sorted({part["height"] for record in records for part in record["by_height"]})
    _errors(left, records, rows, "height", heights)
    _errors(right, records, rows, "operator", OPERATORS)
    setting = records[0]["config"]["setting"]
    known = operator_levels(setting["size"], setting["items"]["test"])
    left.hlines([100 * (1 - known[height]) for height in heights], np.arange(len(heights)) - 0.4,
                np.arange(len(heights)) + 0.4, color=FAINT, lw=1.8, ls=(0, (1, 1)), label="of its operator")  # fmt: skip
    left.set(xlabel=f"height of the node (up to {setting['size']} tokens)", ylabel="% of the values wrong", ylim=(0, 100))
    right.set(xlabel="operator")
    figure.legend(*left.get_legend_handles_labels(), loc="upper right", ncols=5)
    return figure


@styled
def pictures_and_answers(records: Sequence[Mapping]) -> Figure:
    r"""Figure 3: test pictures of Pathfinder-Segmentation, the classes asked for, and what each net answers.

    Parameters
    ----------
    records : list of dict
        Of ``dlr/table3``, all of one segmentation task and one budget; of each row the least seed is drawn.

    Raises
    ------
    ValueError
        If there are none, or of two tasks or budgets.

    Examples
    --------
    >>> from lrnnlab.tables import plan, run_all
    >>> made = list(run_all(plan("dlr/table3", tasks=["segmentation-32"], rows=["dlr"])))
    >>> [axes.get_title("center") for axes in pictures_and_answers(made).axes[:3]]
    ['picture', 'asked for', 'DLR\n3 steps']
    """
    records = [record for record in records if "predicted" in record]
    _one_task(records, "Segmentation")
    check_one_budget(records)
    chosen = [min(cell, key=lambda record: record["seed"]) for cell in by_cell(records, "row").values()]
    chosen.sort(key=lambda record: list(ROWS).index(record["row"]))
    side, count = chosen[0]["config"]["setting"]["size"], len(chosen[0]["predicted"])
    columns = 2 + len(chosen)
    figure, panels = new_figure(0.9 + count * 7 / columns, rows=count, columns=columns, left=0.1, right=0.1, top=0.45,
                                bottom=0.4, gap=0.1)  # fmt: skip
    settings = PathfinderSegmentation(side).settings
    for number, line in enumerate(panels):
        scene = draw_scene(settings, numpy_random(SPLITS.index("test"), number))
        _picture(line[0], draw(scene))
        _classes(line[1], segment(scene))
        for axes, record in zip(line[2:], chosen):
            classes = np.array(["012x".index(answer) for answer in record["predicted"][number]]).reshape(side, side)
            _classes(axes, np.ma.masked_equal(classes, 3))
    named = [f"{ROWS[record['row']][0]}\n{record['metrics']['steps']:,} steps" for record in chosen]
    for axes, title in zip(panels[0], ["picture", "asked for", *named]):
        axes.set_title(title, fontsize=SMALL, loc="center")
    _legend(figure)
    return figure


@styled
def scores_by_step(records: Sequence[Mapping]) -> Figure:
    """How far a core gets with ListOps-SubTrees and Segmentation, by step, and what the level of one who reads no further is.

    On the left the share of right values of expressions of up to 128 tokens, beside that of one who knows every node's
    operator and height; on the right macro F1 at 32 x 32, beside that of one who sees the 3 x 3 pixels around each.

    Parameters
    ----------
    records : list of dict
        Of ``dlr/table3``, of one budget; of several seeds the least is drawn.  Cells with more steps and items are dashed.

    Examples
    --------
    >>> from lrnnlab.tables import plan, run_all
    >>> made = list(run_all(plan("dlr/table3", tasks=["listops-128", "segmentation-32"], rows=["dlr"])))
    >>> [axes.get_title("left") for axes in scores_by_step(made).axes]
    ['values right', 'macro F1']
    """
    check_one_budget(records)
    figure, panels = new_figure(3.2, columns=2, left=0.55, right=0.15, top=0.75, bottom=0.55, gap=0.6)
    for axes, task, title in zip(panels, ("listops-128", "segmentation-32"), ("values right", "macro F1")):
        found = [record for record in records if record["task"].startswith(task)]
        for (which, row), cell in by_cell(found).items():
            record = min(cell, key=lambda record: record["seed"])
            name, (called, look) = scored(record), ROWS[row]
            points = [(at["step"], at[name]) for at in record["curve"] if at["step"]]
            dash, more = MORE[which.removeprefix(task)]
            axes.plot(*zip(*points), color=look.colour, ls=dash, marker=look.marker, ms=3.5, lw=1.3, label=called + more)
        level = reading_nothing(found[0])
        axes.axhline(level, color=FAINT, lw=1.4, ls=(0, (1, 1)), label="reads no further")
        axes.set(xscale="log", xlabel="step", ylim=(0, 1))
        ticks = [tick for tick in (10, 100, 1000, 10_000) if axes.get_xlim()[0] <= tick <= axes.get_xlim()[1]]
        axes.set_xticks(ticks, [f"{tick:,}" for tick in ticks])
        axes.minorticks_off()
        axes.set_title(title)
    shown = {label: line for axes in panels for line, label in zip(*axes.get_legend_handles_labels())}
    figure.legend(list(shown.values()), list(shown), loc="upper right", ncols=3)
    return figure


def _one_task(records: Sequence[Mapping], kind: str) -> None:
    tasks = sorted({record["task"] for record in records})
    if len(tasks) != 1:
        raise ValueError(f"the picture shows records of one task of {kind}, got {len(records)} of {tasks}")


def _errors(axes: Axes, records: Sequence[Mapping], rows: Sequence[str], by: str, names: Sequence) -> None:
    at = np.arange(len(names))
    for row in rows:
        cell = [{part[by]: 100 * (1 - part["right"]) for part in r[f"by_{by}"]} for r in records if r["row"] == row]
        if cell:
            title, look = ROWS[row]
            found = np.array([[seed[name] for name in names] for seed in cell])
            dash = look.dash if by == "height" else ""
            axes.plot(at, found.mean(0), color=look.colour, ls=dash, marker=look.marker, ms=5, label=title)
            axes.vlines(at, found.min(0), found.max(0), color=look.colour, lw=4, alpha=0.4)
    level = {part[by]: 100 * (1 - part["majority"]) for part in records[0][f"by_{by}"]}
    axes.hlines([level[name] for name in names], at - 0.4, at + 0.4, color=FAINT, lw=1.4, ls=(0, (4, 2)), label="commonest value")
    axes.set_xticks(at, names)
    axes.set_xlim(-0.5, len(names) - 0.5)


def _picture(axes: Axes, pixels: np.ndarray) -> None:
    axes.imshow(pixels, cmap="Greys", vmin=0, vmax=255, interpolation="nearest")
    _frame(axes)


def _classes(axes: Axes, classes: np.ndarray) -> None:
    axes.imshow(classes, cmap=ListedColormap(COLOURS).with_extremes(bad=UNANSWERED), vmin=0, vmax=2, interpolation="nearest")
    _frame(axes)


def _frame(axes: Axes) -> None:
    axes.set(xticks=[], yticks=[])
    axes.grid(False)
    for spine in axes.spines.values():
        spine.set(visible=True, color=GRID)


def _legend(figure: Figure) -> None:
    figure.legend([Patch(facecolor=colour, edgecolor=GRID) for colour in COLOURS], CLASSES, loc="lower center", ncols=3)
