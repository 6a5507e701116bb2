"""The grammar of pictures of recorded runs: each takes a frame (``tables.results.runs``) and is a few calls of these.

Runs of one cell are seeds: a line or a dot is their mean, a band or a whisker goes from the least to the greatest.  A
``looks`` maps what a row is called in the frame to its name and its :class:`~lrnnbook.content.show.style.Look`.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import wraps
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle

from lrnnbook.content.show.style import FAINT, LIVE, PAPER, RECORDED, SMALL, Look, ink_on, new_figure, styled
from lrnnbook.content.tables.results import CELL, column

Looks = Mapping[Any, tuple[str, Look]]
MARKS: dict[str, dict] = {  # what a mark stands for, in every picture
    "best": {"marker": "D", "ms": 6, "color": PAPER, "ls": ""},  # the paper's greatest
    "paper": {"marker": "D", "ms": 6, "color": PAPER, "mfc": "none", "ls": ""},
    "seen": {"marker": "o", "ms": 8, "color": RECORDED, "mfc": "none", "ls": ""},  # at the training length
    "mean": {"marker": "o", "ms": 5, "color": RECORDED, "lw": 2},
    "seed": {"marker": "o", "ms": 4.5, "color": RECORDED, "mec": "white", "mew": 0.5, "alpha": 0.9, "ls": ""},
    "live": {"marker": "s", "ms": 5, "color": LIVE, "mec": "white", "mew": 0.6, "ls": ""},
    "level": {"color": FAINT, "lw": 1.2, "ls": (0, (3, 2))},  # what needs no skill
}


def picture(draw: Callable[..., Figure]) -> Callable[..., Figure]:
    """Decorator: in the book's style, of runs of one budget; ``ValueError`` without runs, or of several budgets."""

    @wraps(draw)
    def drawn(found: pd.DataFrame, *arguments: Any, **named: Any) -> Figure:
        budgets = sorted(set(found.get("budget", ())))
        if len(budgets) != 1:
            raise ValueError(f"one picture shows the runs of one budget, got {len(found)} of {budgets}")
        return styled(draw)(found, *arguments, **named)

    return drawn


def runs_of(found: pd.DataFrame, **wanted: Any) -> pd.DataFrame:
    """The runs of a task, a row or the like; ``ValueError`` where there are none."""
    kept = found
    for name, value in wanted.items():
        kept = kept[kept[name] == value]
        if kept.empty:
            raise ValueError(f"no run of {name} {value!r} among {len(found)}; there are {sorted(set(found[name]))}")
    return kept


def in_order(found: pd.DataFrame, name: str, order: Iterable) -> list:
    """What there is of an order of tasks or rows."""
    known = set(found[name])
    return [one for one in order if one in known]


def setting(found: pd.DataFrame) -> Mapping:
    """The setting of the first run."""
    return found["config"].iloc[0]["setting"]


def points(found: pd.DataFrame, curve: Callable[[Any], pd.Series | pd.DataFrame]) -> pd.DataFrame:
    """A line for each point of ``curve`` (by x) of each run, with its task, row and seed; NaN where another run goes on."""
    runs = {(run.task, run.row, run.seed): curve(run) for run in found.itertuples()}
    long = pd.concat(runs, names=[*CELL, "seed"])
    long = long.to_frame() if isinstance(long, pd.Series) else long
    return long.unstack([0, 1, 2]).stack([1, 2, 3], future_stack=True).reset_index()


def panels(
    titles: Sequence[str], across: int, height: float, x: str = "", y: str = "", **margins: Any
) -> tuple[Figure, list[Axes]]:  # fmt: skip
    """A panel for each title, so many in a line; ``x`` is written below the lowest, ``y`` beside the first of a line."""
    lines, columns = -(-len(titles) // across), min(across, len(titles))
    figure, grid = new_figure(height, rows=lines, columns=columns, squeeze=False, **{"sharey": True, **margins})
    for axes, title in zip(grid.flat, titles):
        axes.set_title(title)
    for axes in grid[-1]:
        axes.set_xlabel(x)
    for axes in grid[:, 0]:
        axes.set_ylabel(y)
    for axes in grid.flat[len(titles) :]:
        axes.remove()
    return figure, list(grid.flat[: len(titles)])


def curves(axes: Axes, found: pd.DataFrame, x: str, y: str | Sequence[str], looks: Looks, by: str = "row", bars: bool = False,
           **line: Any) -> list[tuple[float, str, str]]:  # fmt: skip
    """A line for each of ``looks``, which ends where one of its runs does; what ``label_ends`` is to write at the ends.

    ``y`` is one column, or three: the middle, the least and the greatest of it."""
    ends = []
    for key in in_order(found, by, looks):
        (name, look), part = looks[key], found[found[by] == key]
        if isinstance(y, str):
            cell = part.groupby(x)[y].agg(["mean", "min", "max", "count", "size"]).query("count > 0")
            mean = cell["mean"].where(cell["count"] == cell["size"])
        else:
            cell = part.set_index(x)[list(y)].set_axis(["mean", "min", "max"], axis=1)
            mean = cell["mean"]
        if bars:
            axes.vlines(cell.index, cell["min"], cell["max"], color=look.colour, lw=3, alpha=0.4)
        else:
            axes.fill_between(cell.index, cell["min"], cell["max"], color=look.colour, alpha=0.18, lw=0)
        axes.plot(cell.index, mean, label=name, **_drawn(look, line))
        ends.append((float(mean.iloc[-1]), name, look.colour))
    return ends


def _drawn(look: Look, line: Mapping[str, Any]) -> dict[str, Any]:
    """How matplotlib is told of a look; it has its marker where ``line`` says how large."""
    return {"color": look.colour, "ls": look.dash, "marker": look.marker if "ms" in line else "", **line}


def number_grid(axes: Axes, texts: pd.DataFrame, grounds: pd.DataFrame, at: Sequence[float] | None = None,
            size: tuple[float, float] = (1, 1)) -> None:  # fmt: skip
    """Texts on grounds of these colours, on none where there is ``""``: row below row, columns in the middle of ``at``."""
    at = range(texts.shape[1]) if at is None else at
    for y, (line, colours) in enumerate(zip(texts.to_numpy(), grounds.to_numpy())):
        for x, text, colour in zip(at, line, colours):
            if colour:
                axes.add_patch(Rectangle((x - size[0] / 2, y - size[1] / 2), *size, color=colour, lw=0))
                axes.text(x, y, text, ha="center", va="center", fontsize=SMALL, color=ink_on(colour))
    axes.set(ylim=(len(texts) - 0.5, -0.5), yticks=range(len(texts)))
    axes.tick_params(length=0)
    axes.grid(False)
    axes.spines[:].set_visible(False)


def shares(
    found: pd.DataFrame, metric: str, tasks: Mapping[str, str], rows: Mapping[str, str], says: Mapping[str, str], *,
    size: tuple[float, int], x: str, seen: str = "", level: str = "", across: str = "task", paper: pd.DataFrame | None = None,
    live: Mapping[tuple[str, str], Sequence[float]] = {},
) -> Figure:  # fmt: skip
    """Shares of right answers: a panel for each task, a line for each row (or the other way round); "not run" where it is not.
    """
    of, lines = (tasks, rows) if across == "task" else (rows, tasks)
    figure, grid = panels(list(of.values()), size[1], size[0], left=1.95 if across == "task" else 1.45, right=0.25, top=0.65,
                          bottom=0.55, gap=0.45 if across == "task" else 0.34)  # fmt: skip
    printed = [] if paper is None else paper.groupby(CELL)
    theirs = {key: cell.set_index("metric")["value"] / 100 for key, cell in printed}
    cells = dict(list(found.groupby(CELL)))
    for axes, one in zip(grid, of):
        share_lines(axes, list(lines.values()))
        if across == "row":  # names of models are long
            axes.set_title(of[one], fontsize=SMALL)
        for place, line in enumerate(lines):
            key = (one, line) if across == "task" else (line, one)
            levels = column(found[found["task"] == key[0]], level) if level else []
            if len(levels):
                axes.plot([levels.iloc[0]] * 2, [place - 0.45, place + 0.45], zorder=1, **MARKS["level"])
            for mark, name in (("best", "greatest"), ("paper", metric)):
                if name in theirs.get(key, ()):
                    put(axes, mark, [theirs[key][name]], [place], zorder=2)
            if key in cells:
                _seeds(axes, place, column(cells[key], metric), column(cells[key], seen) if seen else (), "seed" in says)
            elif paper is None or key in theirs:
                axes.text(0.5, place, "not run", fontsize=SMALL, color=FAINT, ha="center", va="center",
                          bbox={"fc": "white", "ec": "none", "pad": 1})  # fmt: skip
            put(axes, "live", live.get(key, []), [place] * len(live.get(key, [])), zorder=4)
    figure.supxlabel(x, fontsize=10, y=0.12 / size[0])
    legend(figure, [handle(name, mark) for mark, name in says.items() if mark != "live" or live])
    return figure


def _seeds(axes: Axes, place: int, shares: pd.Series, seen: Sequence[float], apart: bool) -> None:
    if apart:
        return put(axes, "seed", shares, beside(place, len(shares), 0.25), zorder=3)
    if len(seen):
        put(axes, "seen", [np.mean(seen)], [place], zorder=3)
    axes.plot([shares.min(), shares.max()], [place] * 2, color=RECORDED, lw=2, zorder=2)
    axes.plot(shares, [place] * len(shares), "|", color=RECORDED, ms=8, mew=1.2, clip_on=False, zorder=2)
    put(axes, "mean", [shares.mean()], [place], zorder=3)


def share_lines(axes: Axes, names: Sequence[str]) -> None:
    """Shares, 0 to 100 %, from left to right, a line for each name."""
    axes.set(xlim=(0, 1), ylim=(len(names) - 0.5, -0.5))
    axes.set_xticks([0, 0.5, 1], ["0", "50 %", "100 %"])
    axes.set_yticks(range(len(names)), names)
    axes.grid(False, axis="x")
    axes.tick_params(length=0)


def put(axes: Axes, mark: str, x: Sequence[float] | pd.Series, y: Sequence[float] | pd.Series, **more: Any) -> None:
    """Some of ``MARKS``, whole also at the edge."""
    axes.plot(x, y, **{**MARKS[mark], "clip_on": False, **more})


def beside(place: float, count: int, step: float) -> list[float]:
    """Places for ``count`` dots around one, so that equal seeds are all seen."""
    return [place + step * (k - (count - 1) / 2) for k in range(count)]


def handle(name: str, of: str | Look, **line: Any) -> Line2D:
    """How a legend shows one of ``MARKS``, or a look."""
    return Line2D([], [], label=name, **({**MARKS[of], **line} if isinstance(of, str) else _drawn(of, line)))


def legend(figure: Figure, handles: Sequence[Line2D], ncols: int = 0, **where: Any) -> None:
    """At the top of a figure, so many in a line."""
    where = {"loc": "upper right", "handletextpad": 0.4, "columnspacing": 1.2, **where}
    figure.legend(handles=handles, ncols=ncols or len(handles), **where)


def trained(axes: Axes, length: float, above: bool = False) -> None:
    """A line at the longest length seen in training, named at the foot, or above the panel."""
    axes.axvline(length, color=FAINT, lw=1.2)
    axes.annotate(f"trained up to {length}", (length, int(above)), (0 if above else 4, 4), xycoords=("data", "axes fraction"),
                  textcoords="offset points", fontsize=SMALL, annotation_clip=False)  # fmt: skip


def level(axes: Axes, height: float, **line: Any) -> None:
    """A dashed line across at what needs no skill."""
    axes.axhline(height, **{"zorder": 1, **MARKS["level"], **line})


def log_ticks(axes: Axes, x: Sequence | Mapping = (), y: Sequence | Mapping = ()) -> None:
    """Logarithmic axes with these ticks and no others; a mapping says what is written at each."""
    for name, ticks in (("x", x), ("y", y)):
        if len(ticks):
            axes.set(**{f"{name}scale": "log"})
            said = ticks.values() if isinstance(ticks, Mapping) else [f"{tick:,}" for tick in ticks]
            getattr(axes, f"set_{name}ticks")(list(ticks), said)
    axes.minorticks_off()
