"""Figures 1 to 3 of paper 004: pictures and their classes, errors on ListOps by node, and what nets say of pictures.

Letters: M side of a picture.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from lrnnlab.tasks.pathfinder import PathfinderSegmentation, draw, draw_scene, segment
from lrnnlab.tasks.seeds import numpy_random
from workbook.show.frames import chosen, curves, legend, log_ticks, panels, picture, points, setting, there
from workbook.show.labels import looks
from workbook.show.style import FAINT, GRID, SMALL, new_figure, styled, value_colour
from workbook.tables.dlr_table3 import SPLITS, operator_levels, reading_nothing
from workbook.tables.results import column

ROWS = looks(["dlr", "dss", "local_attention"], "dlr/table3")
CLASSES = ("elsewhere", "on a main path", "on a main path with a circle at both ends")
COLOURS = ("#f4f4f4", value_colour(1, 3), value_colour(2, 3))  # of the classes; elsewhere is nearly white
UNANSWERED = "#000000"  # of a pixel for which a run that broke off has no answer
OPERATORS = ("MIN", "MAX", "MED", "SM")
MORE = {"": ("-", ""), "-longer": ((0, (4, 2)), ", more items"), "-slower": ((0, (6, 1, 1, 1)), ", more items, lower rate")}


@styled
def pictures_and_classes(side: int = 128, count: int = 4, seed: int = 0) -> Figure:
    """Figure 1: pictures of Pathfinder-Segmentation, connected and not in turn, and below each what is asked for."""
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


@picture
def errors_by_node(found: pd.DataFrame, task: str, rows: Sequence[str] = ("dlr", "local_attention")) -> Figure:
    """Figure 2: how often values are wrong on a ListOps task of ``dlr/table3``, by height and by operator.  Dashes: what the
    commonest value gets wrong, dots: who knows the operator too; a net above them has not read what stands below."""
    found = chosen(found[column(found, "by_height").notna() & found["row"].isin(rows)], task=task)
    options = setting(found)
    figure, grid = panels(["", ""], 2, 3.3, "operator", "% of the values wrong", left=0.65, right=0.15, top=0.45, bottom=0.55,
                          gap=0.35, gridspec_kw={"width_ratios": (1.5, 1)})  # fmt: skip
    for axes, by in zip(grid, ("height", "operator")):
        nodes = found.rename(columns={f"by_{by}": "nodes"}).assign(by=by)
        at = points(nodes, lambda run: pd.DataFrame(run.nodes).set_index(run.by)[["right", "majority"]])
        names = sorted(set(at["height"])) if by == "height" else OPERATORS
        at = at.assign(x=at[by].map(names.index), wrong=100 * (1 - at["right"]))
        line = {} if by == "height" else {"ls": ""}
        curves(axes, at, "x", "wrong", {row: ROWS[row] for row in rows}, bars=True, ms=5, **line)
        level = at.groupby("x")["majority"].first()
        x = np.arange(len(names))
        axes.hlines(100 * (1 - level), x - 0.4, x + 0.4, color=FAINT, lw=1.4, ls=(0, (4, 2)), label="commonest value")
        axes.set_xticks(x, names)
        axes.set(xlim=(-0.5, len(names) - 0.5), ylim=(0, 100))
        if by == "height":
            known = operator_levels(options["size"], options["items"]["test"])
            axes.hlines([100 * (1 - known[height]) for height in names], x - 0.4, x + 0.4, color=FAINT, lw=1.8, ls=(0, (1, 1)),
                        label="of its operator")  # fmt: skip
            axes.set_xlabel(f"height of the node (up to {options['size']} tokens)")
    legend(figure, grid[0].get_legend_handles_labels()[0], handletextpad=0.8, columnspacing=2)
    return figure


@picture
def pictures_and_answers(found: pd.DataFrame, task: str) -> Figure:
    r"""Figure 3: test pictures of a segmentation task of ``dlr/table3``, the classes asked for, and nets' answers (least seed).
    """
    found = chosen(found[column(found, "predicted").notna()], task=task).sort_values("seed").drop_duplicates("row")
    runs = [chosen(found, row=row).iloc[0] for row in there(found, "row", ROWS)]
    side, count = setting(found)["size"], len(runs[0]["predicted"])
    columns = 2 + len(runs)
    figure, panels_ = new_figure(0.9 + count * 7 / columns, rows=count, columns=columns, left=0.1, right=0.1, top=0.45,
                                 bottom=0.4, gap=0.1)  # fmt: skip
    settings = PathfinderSegmentation(side).settings
    for number, line in enumerate(panels_):
        scene = draw_scene(settings, numpy_random(SPLITS.index("test"), number))
        _picture(line[0], draw(scene))
        _classes(line[1], segment(scene))
        for axes, run in zip(line[2:], runs):
            classes = np.array(["012x".index(answer) for answer in run["predicted"][number]]).reshape(side, side)
            _classes(axes, np.ma.masked_equal(classes, 3))
    named = [f"{ROWS[run['row']][0]}\n{run['steps']:,.0f} steps" for run in runs]
    for axes, title in zip(panels_[0], ["picture", "asked for", *named]):
        axes.set_title(title, fontsize=SMALL, loc="center")
    _legend(figure)
    return figure


@picture
def scores_by_step(found: pd.DataFrame) -> Figure:
    """How far a core gets with ListOps-SubTrees and Segmentation (``dlr/table3``), by step, least seed; dashed: with more steps
    and items.  Beside it one who knows every node's operator and height, or the 3 x 3 pixels around each."""
    kinds = {"listops-128": ("values right", "accuracy"), "segmentation-32": ("macro F1", "macro_f1")}
    figure, grid = panels([title for title, _ in kinds.values()], 2, 3.2, "step", left=0.55, right=0.15, top=0.75, bottom=0.55,
                          gap=0.6, sharey=False)  # fmt: skip
    shown = {}
    for axes, (task, (_, name)) in zip(grid, kinds.items()):
        for more, (dash, said) in MORE.items():
            here = found[found["task"] == task + more].sort_values("seed").drop_duplicates("row")
            if len(here):
                at = points(here, lambda run: pd.DataFrame(run.curve).set_index("step")).query("step > 0")
                named = {row: (called + said, look) for row, (called, look) in ROWS.items()}
                curves(axes, at, "step", name, named, ls=dash, ms=3.5, lw=1.3)
        first = chosen(found, task=task)
        nothing = reading_nothing(setting(first), first["by_height"].iloc[0])
        axes.axhline(nothing, color=FAINT, lw=1.4, ls=(0, (1, 1)), label="reads no further")
        axes.set(xscale="log", ylim=(0, 1))
        low, high = axes.get_xlim()
        log_ticks(axes, x=[tick for tick in (10, 100, 1000, 10_000) if low <= tick <= high])
        shown |= {line.get_label(): line for line in axes.lines}
    legend(figure, list(shown.values()), ncols=3, handletextpad=0.8, columnspacing=2)
    return figure


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
