"""Paper 004 drawn: Shift, the atomic tasks, pictures and lists, language models; long-range tasks beside trivial predictors.

Letters: L length, M side of a picture.
"""

from collections.abc import Mapping, Sequence
from itertools import groupby
from statistics import fmean
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap, ListedColormap, to_hex
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from lrnnbook.content.show import frames
from lrnnbook.content.show.labels import looks, named
from lrnnbook.content.show.style import (
    FAINT,
    GRID,
    INK,
    PAPER,
    RECORDED,
    SMALL,
    Look,
    label_ends,
    new_figure,
    styled,
    value_colour,
)
from lrnnbook.content.tables import get, paper
from lrnnbook.content.tables.dlr_table1 import PAPER_LEVELS, TABLE, level_of, short
from lrnnbook.content.tables.dlr_table3 import SPLITS, operator_levels, reading_nothing
from lrnnbook.content.tables.kernels import predicted_r2
from lrnnbook.content.tables.results import column, percent
from lrnnlab.tasks.draws import numpy_random
from lrnnlab.tasks.long_range.pathfinder import PathfinderSegmentation, draw, draw_scene, segment
from lrnnlab.tasks.numbers.atomic_levels import shift_level

# --- Shift (chapter 06): R2 by length ---------------------------------------------------------------------------------

LOOKS = looks(get("dlr/table2").rows, "dlr/table2")


@frames.picture
def shift_by_length(found: pd.DataFrame) -> Figure:
    """R2 on Shift by length (``dlr/table2``): left ours, mean and range over seeds; right the paper's, in grey.  Dashed: what
    copying the input is worth; pale steps: what the reach of a DLR's modes predicts, all shifts by S <= 2N."""
    steps = sorted(set(found["steps"]))
    sizes = {config["setting"]["options"]["state"] for config in found["config"][found["row"] == "dlr"]}
    here = "".join(f"N = {N:,}, " for N in sizes) + " to ".join(f"{end:,}" for end in sorted({steps[0], steps[-1]}))
    figure, grid = frames.panels([f"here: {here} steps", "paper: N = 4,096, 86,000 steps"], 2, 3.6, "length L", left=0.6,
                                 right=0.15, gap=1.35, top=0.35)  # fmt: skip
    grid[0].set(ylabel="R2", ylim=(min(0, found["r2"].min()) - 0.05, 1.05))
    theirs = paper("dlr/table2")
    for axes, runs, value, N in ((grid[0], found, "r2", sizes), (grid[1], theirs, "value", {4096})):
        runs = runs.assign(power=np.log2(runs["task"].astype(int)))
        powers, margin = sorted(set(runs["power"])), 0.4 if axes is grid[0] else 0.7
        axes.set(xlim=(powers[0] - margin, powers[-1] + margin))
        axes.set_xticks(powers, [f"$2^{{{power:.0f}}}$" for power in powers])
        if axes is grid[0]:
            ends = frames.curves(axes, runs, "power", value, LOOKS, bars=True, ms=5, lw=1.4)
            label_ends(axes, [*ends, (shift_level(), f"no shift: {shift_level():.3f}", FAINT)])
        else:
            frames.curves(axes, runs, "power", value, LOOKS, color=PAPER, ms=5, lw=1.2)
            for row, part in runs.groupby("row"):
                first = part.sort_values("power").iloc[0]
                side, shift = ("left", (0, -12)) if len(part) == 1 else ("right", (-6, {"dlr": -4, "sgconv": 3}.get(str(row), 0)))
                axes.annotate(LOOKS[str(row)][0], (first["power"], first[value]), shift, textcoords="offset points",
                              fontsize=SMALL, ha=side, va="center")  # fmt: skip
        frames.level(axes, shift_level())
        for size in N:
            reach = np.arange(*np.ceil(axes.get_xlim()))
            axes.step(reach, [predicted_r2(2 ** int(power), size) for power in reach], where="mid", color=FAINT, lw=6, alpha=0.25,
                      zorder=0, label="predicted for DLR")  # fmt: skip
    return figure


# --- the atomic tasks (chapter 07): R2 by task and net ----------------------------------------------------------------

TASKS = list(dict.fromkeys(task.split("-")[0] for task in TABLE.tasks))
ROW_INCHES, HEAD = 0.215, 0.85  # inches, the height of a row of numbers and of what is above the first
COLUMNS, FIRST = 20.8, 2.8  # a panel is so many numbers wide, of which the first are the level without skill and the steps
MIDDLE: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": SMALL}


@frames.picture
def r2_by_task(found: pd.DataFrame, lengths: Sequence[int] = (64, 128, 512)) -> Figure:
    """R2 by task and net (``dlr/table1``), a panel for each length, in grey the paper's tables 1 and 6: the darker, the more
    is had of what lies above the level without skill, which the first column shows; the second has the steps."""
    found = _split(found)
    lengths = frames.in_order(found, "L", lengths)
    titles = [*(f"here, L = {L}, by layers" for L in lengths), "paper, by layers and L"]
    figure, grid = frames.panels(titles, 1, len(titles) * (len(TASKS) * ROW_INCHES + HEAD) + 0.05, left=1.05, right=0.05, top=HEAD,
                          bottom=0.05, gap=HEAD)  # fmt: skip
    for axes, L in zip(grid, lengths):
        cells = found[found["L"] == L]
        r2 = cells.groupby(["name", "row"])["r2"].agg(fmean).unstack().reindex(
            index=TASKS, columns=frames.in_order(cells, "row", TABLE.rows))  # fmt: skip
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
    """Numbers on a ground that is darker the further they are above their level, under a head of (mixer, depth)."""
    shades = LinearSegmentedColormap.from_list("above", ["#ffffff", colour])
    wide = (COLUMNS - FIRST) / len(heads)
    middle = [FIRST + wide * (x + 0.5) for x in range(len(heads))]
    grounds = above.map(lambda share: "" if np.isnan(share) else to_hex(shades(np.clip(share, 0, 1))))
    frames.number_grid(axes, r2.map(short), grounds, middle, (0.96 * wide, 0.94))
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


# --- Figures 1 to 3: pictures and their classes, errors on ListOps by node, what nets say of pictures -----------------

CORES = looks(["dlr", "dss", "local_attention"], "dlr/table3")
CLASSES = ("elsewhere", "on a main path", "on a main path with a circle at both ends")
COLOURS = ("#f4f4f4", value_colour(1, 3), value_colour(2, 3))  # of the classes; elsewhere is nearly white
UNANSWERED = "#000000"  # of a pixel for which a run that broke off has no answer
OPERATORS = ("MIN", "MAX", "MED", "SM")
MORE = {"": ("-", ""), "-longer": ((0, (4, 2)), ", more items"), "-slower": ((0, (6, 1, 1, 1)), ", more items, lower rate")}


@styled
def pictures_and_classes(side: int, count: int) -> Figure:
    """Figure 1: pictures of Pathfinder-Segmentation, connected and not in turn, and below each what is asked for."""
    settings = PathfinderSegmentation(side).settings
    figure, panels = new_figure(3.95, rows=2, columns=count, left=0.1, right=0.1, top=0.3, bottom=0.4, gap=0.1, squeeze=False)
    rng = numpy_random(0)
    for number, (above, below) in enumerate(panels.T):
        scene = draw_scene(settings, rng)
        while scene.connected != (number % 2 == 0):
            scene = draw_scene(settings, rng)
        _picture(above, draw(scene))
        _classes(below, segment(scene))
        above.set_title("connected" if scene.connected else "not connected", fontsize=SMALL, loc="center")
    _legend(figure)
    return figure


@frames.picture
def errors_by_node(found: pd.DataFrame, task: str, rows: Sequence[str] = ("dlr", "local_attention")) -> Figure:
    """Figure 2: how often values are wrong on a ListOps task of ``dlr/table3``, by height and by operator.  Dashes: what the
    commonest value gets wrong, dots: who knows the operator too; a net above them has not read the levels below."""
    found = frames.runs_of(found[column(found, "by_height").notna() & found["row"].isin(rows)], task=task)
    options = frames.setting(found)
    figure, grid = frames.panels(["", ""], 2, 3.3, "operator", "% of the values wrong", left=0.65, right=0.15, top=0.45,
                                 bottom=0.55, gap=0.35, gridspec_kw={"width_ratios": (1.5, 1)})  # fmt: skip
    for axes, by in zip(grid, ("height", "operator")):
        nodes = found.rename(columns={f"by_{by}": "nodes"}).assign(by=by)
        at = frames.points(nodes, lambda run: pd.DataFrame(run.nodes).set_index(run.by)[["right", "majority"]])
        names = sorted(set(at["height"])) if by == "height" else OPERATORS
        at = at.assign(x=at[by].map(names.index), wrong=100 * (1 - at["right"]))
        line = {} if by == "height" else {"ls": ""}
        frames.curves(axes, at, "x", "wrong", {row: CORES[row] for row in rows}, bars=True, ms=5, **line)
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
    frames.legend(figure, grid[0].get_legend_handles_labels()[0], handletextpad=0.8, columnspacing=2)
    return figure


@frames.picture
def pictures_and_answers(found: pd.DataFrame, task: str) -> Figure:
    r"""Figure 3: test pictures of a segmentation task of ``dlr/table3``, the classes asked for, and nets' answers (least seed).
    """
    found = frames.runs_of(found[column(found, "predicted").notna()], task=task).sort_values("seed").drop_duplicates("row")
    runs = [frames.runs_of(found, row=row).iloc[0] for row in frames.in_order(found, "row", CORES)]
    side, count = frames.setting(found)["size"], len(runs[0]["predicted"])
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
    named = [f"{CORES[run['row']][0]}\n{run['steps']:,.0f} steps" for run in runs]
    for axes, title in zip(panels_[0], ["picture", "asked for", *named]):
        axes.set_title(title, fontsize=SMALL, loc="center")
    _legend(figure)
    return figure


@frames.picture
def scores_by_step(found: pd.DataFrame) -> Figure:
    """How far a core gets with ListOps-SubTrees and Segmentation (``dlr/table3``), by step, least seed; dashed: with more steps
    and items.  Beside it one who knows every node's operator and height, or the 3 x 3 pixels around each."""
    kinds = {"listops-128": ("values right", "accuracy"), "segmentation-32": ("macro F1", "macro_f1")}
    figure, grid = frames.panels([title for title, _ in kinds.values()], 2, 3.2, "step", left=0.55, right=0.15, top=0.75,
                                 bottom=0.55, gap=0.6, sharey=False)  # fmt: skip
    shown = {}
    for axes, (task, (_, name)) in zip(grid, kinds.items()):
        for more, (dash, said) in MORE.items():
            here = found[found["task"] == task + more].sort_values("seed").drop_duplicates("row")
            if len(here):
                at = frames.points(here, lambda run: pd.DataFrame(run.curve).set_index("step")).query("step > 0")
                named = {row: (called + said, look) for row, (called, look) in CORES.items()}
                frames.curves(axes, at, "step", name, named, ls=dash, ms=3.5, lw=1.3)
        first = frames.runs_of(found, task=task)
        nothing = reading_nothing(frames.setting(first), first["by_height"].iloc[0])
        axes.axhline(nothing, color=FAINT, lw=1.4, ls=(0, (1, 1)), label="reads no further")
        axes.set(xscale="log", ylim=(0, 1))
        low, high = axes.get_xlim()
        frames.log_ticks(axes, x=[tick for tick in (10, 100, 1000, 10_000) if low <= tick <= high])
        shown |= {line.get_label(): line for line in axes.lines}
    frames.legend(figure, list(shown.values()), ncols=3, handletextpad=0.8, columnspacing=2)
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


# --- language models: losses by step beside what counting gets, and at which rate which model breaks ------------------

MIXERS = looks(["dlr", "transformer"])
ROWS = looks(["dlr_post", "dlr_pre", "transformer_post", "transformer_pre", "dlr_post_small"])
DEPTHS, RATES = {4: 64, 16: 32}, (0.001, 0.003, 0.01, 0.03)  # layers: width
PLACES = {"post": "post-norm", "pre": "pre-norm"}


@frames.picture
def loss_by_step(found: pd.DataFrame, task: str = "characters") -> Figure:
    """Loss by step (``dlr/table5``), post-norm left, pre-norm right: thin on the text trained on, thick on the test text.

    Horizontal lines are what counting single tokens, pairs and triples gets on the same test text."""
    found = frames.runs_of(found, task=task)
    figure, grid = frames.panels([*PLACES.values()], 2, 3.4, "training step", "nats a token", left=0.65, right=1.15, top=0.65,
                                 gap=0.4)  # fmt: skip
    levels = found["levels"].iloc[0]
    training = frames.points(found, lambda run: pd.DataFrame(run.losses, columns=["step", "loss"]).set_index("step"))
    test = frames.points(found, lambda run: pd.DataFrame(run.watched).set_index("step"))
    for axes, place in zip(grid, PLACES):
        rows = {f"{mixer}_{place}": look for mixer, look in MIXERS.items()}
        frames.curves(axes, training, "step", "loss", rows, lw=0.7, alpha=0.6, ls="-")
        frames.curves(axes, test, "step", "test", rows, ms=3.5)
        for height in levels.values():
            frames.level(axes, height)
        axes.margins(x=0)
    grid[0].set_ylim(min([*levels.values(), training["loss"].min()]) - 0.15, max(levels.values()) + 0.6)
    label_ends(grid[1], [(height, f"{name} {height:.2f}", FAINT) for name, height in levels.items()])
    tests = [frames.handle(f"{name}, test", look, ms=4) for name, look in MIXERS.values()]
    seen = frames.handle("training, in the model's colour", Look(INK), lw=0.7, alpha=0.6)
    frames.legend(figure, [*tests, seen], handletextpad=0.8)
    return figure


@frames.picture
def loss_by_rate(found: pd.DataFrame) -> Figure:
    """Test loss by learning rate after a short run without warm-up, a panel for each depth: post-norm filled, pre-norm hollow.
    At the unigram level nothing of the characters' order is learned; a cross there is of a run whose loss was no number."""
    found = found[found["task"].str.startswith("depth")]
    parts = found["task"].str.extract(r"depth(\d+)-(.*)").astype(float)
    found = found.assign(layers=parts[0], rate=parts[1], test=found["test"].astype(float))
    figure, grid = frames.panels([f"{layers} layers, width {width}" for layers, width in DEPTHS.items()], 2, 3.4, "learning rate",
                          "test loss, nats a character", left=0.65, right=1.15, top=0.85, gap=0.25)  # fmt: skip
    unigram = found["levels"].iloc[0]["unigram"]
    for axes, layers in zip(grid, DEPTHS):
        here = found[found["layers"] == layers]
        for row, look in ROWS.items():
            ended = here.dropna(subset="test")
            frames.curves(axes, ended, "rate", "test", {row: look}, bars=True, clip_on=False, **_marks(row, look))
            broke = here[(here["row"] == row) & here["test"].isna()]["rate"]
            axes.plot(broke, [unigram] * len(broke), "x", color=look[1].colour, ms=8, clip_on=False)
        frames.level(axes, unigram)
        axes.set(xlim=(8e-4, 3.8e-2))
        frames.log_ticks(axes, x=RATES)
    grid[0].set_ylim(None, unigram + 0.15)
    label_ends(grid[1], [(unigram, f"unigram {unigram:.2f}", FAINT)])
    frames.legend(figure, [frames.handle(*look, **_marks(row, look)) for row, look in ROWS.items()], ncols=3, handlelength=3)
    return figure


def _marks(row: str, look: tuple[str, Look]) -> dict:
    return {"ms": 6, "mfc": "white" if row.endswith("pre") else look[1].colour}


# --- the long-range tasks: what trivial predictors get, and what the nets get -----------------------------------------

REACHED = 0.02  # so far below the best net a predictor counts as its equal: the standard error of 500 items
GUESSING = 0.05  # who is no further above the majority than this has not learned the task
OTHERS = {"mfc": "none", "ms": 5, "mew": 1}


@frames.picture
def levels_beside_nets(found: pd.DataFrame) -> Figure:
    """A line for each task: runs of ``lra/levels`` above it, the best named; those of other tables below it, means over seeds.
    """
    rows, trivial = beside_nets(found), found[found["experiment"] == "lra/levels"]
    figure, axes = new_figure(1.3 + 0.55 * len(rows), left=1.05, right=1.0, top=0.75, bottom=0.5)
    frames.share_lines(axes, [named(row["task"]) for row in rows])
    for place, row in enumerate(rows):
        frames.put(axes, "level", [row["majority"]] * 2, [place - 0.36, place + 0.36], zorder=1)
        shares = trivial["accuracy"][trivial["task"] == row["task"]]
        frames.put(axes, "best", shares, [place - 0.18] * len(shares), color=INK, zorder=3, **OTHERS)
        frames.put(axes, "best", [row["trivial"]], [place - 0.18], color=INK, ms=5, zorder=3)
        frames.put(axes, "seed", [*row["nets"].values()], [place + 0.18] * len(row["nets"]), ms=5.5, zorder=3)
        axes.text(1.03, place - 0.18, row["predictor"], transform=axes.get_yaxis_transform(), fontsize=SMALL, va="center")
    axes.set_xlabel("right answers on the test items")
    diamond = Look(INK, "", "D")
    handles = [frames.handle("best without long range (its name at the right)", diamond, ms=5),
               frames.handle("others without long range", diamond, **OTHERS),
               frames.handle("our nets, means over seeds", "seed", ms=5.5), frames.handle("majority", "level")]  # fmt: skip
    frames.legend(figure, handles, ncols=2)
    return figure


def beside_nets(found: pd.DataFrame) -> list[dict]:
    """A row for each task: what guessing, the best trivial predictor, and our nets get; and what follows from it."""
    body, ours = [], found["experiment"] == "lra/levels"
    levels, trained = found[ours], found[~ours]
    for task in sorted(set(levels["task"]), key=[*get("lra/levels").tasks, "path-x"].index):
        top = levels.loc[levels["validation"][levels["task"] == task].astype(float).idxmax()]
        asked = [_asked(config) == _asked(top["config"]) for config in trained["config"]]
        nets = trained[(trained["task"] == task) & np.array(asked, dtype=bool)]
        means = nets.groupby(["experiment", "row"])["accuracy"].agg(fmean).sort_values(ascending=False).to_dict()
        which, net = next(iter(means.items()), (None, None))
        body.append({
            **top[["task", "data", "chance", "majority"]], "trivial": top["accuracy"], "predictor": top["row"], "nets": means,
            "net": net, "best_net": None if which is None else " ".join(which), "says": _conclusion(top, net), "paper": _printed(task),
        })  # fmt: skip
    return body


def _asked(config: Mapping) -> dict:
    """Which part of published files a run is of; how many of their bytes are read makes no other task."""
    files = config["setting"].get("files", {})
    return {name: value for name, value in files.items() if name != "length"}


def _conclusion(top: pd.Series, net: float | None) -> str:
    """What follows for a task from its best predictor and its best net."""
    trivial, majority = top["accuracy"], top["majority"]
    if net is None:
        return "no net is recorded"
    if max(trivial, net) < majority + GUESSING:
        return "neither gets beyond guessing: it says nothing yet"
    if trivial > net - REACHED:
        return f"asks nothing long: {top['row']} alone gets {percent(trivial)}, the best net {percent(net)}"
    return f"the best net is {100 * (net - trivial):.0f} points ahead of what has no memory"


def _printed(task: str) -> str:
    """The papers' numbers, which are of the original data."""
    found = []
    for table, row, called in (("rotrnn/table1", "rotrnn", "RotRNN"), ("dlr/table4", "dlr", "DLR"),
                               ("dlr/table4", "attention", "Transformer")):  # fmt: skip
        printed = paper(table)
        found += [f"{called} {value:.1f}" for value in printed["value"][(printed["task"] == task) & (printed["row"] == row)]]
    return ", ".join(found)
