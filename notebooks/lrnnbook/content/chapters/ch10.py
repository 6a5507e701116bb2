"""Chapter 10, one ladder: its pictures, and what is said under them.

Letters: T time, V tokens, Q states.
"""

import json
import math
import re
import textwrap
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from html import escape
from itertools import product
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

import numpy as np
import pandas as pd
import torch
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Patch, Rectangle

from lrnnbook.content.show.automaton_figures import state_diagram
from lrnnbook.content.show.frames import in_order, level, log_ticks, number_grid, panels, picture, runs_of, trained
from lrnnbook.content.show.labels import named
from lrnnbook.content.show.style import FAINT, GRID, INK, LIVE, PAPER, RECORDED, SMALL, label_ends, new_figure, styled
from lrnnbook.content.tables import (
    get,
    ladder_protocols,
    ladder_random,
    ladder_restart,
    ladder_strings,
    records,
    results,
)
from lrnnbook.content.tables.ladder import (
    DEEP,
    FAMILY,
    FAR,
    KNOWN,
    LENGTH,
    MACHINES,
    ROWS,
    WINDOW,
    by_position,
    ladder_task,
    predicted,
    windows,
)
from lrnnbook.content.tables.results import percent
from lrnnlab.automata import MooreMachine, classify
from lrnnlab.automata.parsing import my_machine
from lrnnlab.expressivity.construction import construct
from lrnnlab.expressivity.prediction import FAMILIES, Prediction, predict
from lrnnlab.models import Net, build, snap
from lrnnlab.tasks import StateTracking
from lrnnlab.training import Fit, Phase, fit, rng
from lrnnlab.training.restarts import Mend
from lrnnlab.verification import Quantised, Verdict, verify

HUES = {"never learned": "#a8a8a8", "learned, lost with length": "#E69F00", "lasts": RECORDED}  # at its deepest
KINDS = {"never learned": ("never learned",), "learned, lost with length": ("drifts", "aliases"), "lasts": ("lasts",)}
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#56B4E9")  # of states


def machine_name(code: str) -> str:
    """A column's name in the text."""
    kind, *numbers = code.split("_")
    drawn = code in ladder_random.TABLE.tasks
    return f"{kind} {', '.join(numbers)}" if drawn else named(code, "ladder")


def model_name(row: str) -> str:
    """A row's name in the text."""
    return named(row.removesuffix(DEEP), "ladder") + ", 2 layers" * row.endswith(DEEP)


def linear_probe(states: np.ndarray, labels: np.ndarray) -> float:
    """How often a logistic regression of standardised ``states`` (B, T, D) says ``labels`` (B, T): fitted on the first half of
    the strings, scored on the others.  Where all classes have the same mean its gradient is zero, and it finds nothing."""
    from sklearn.linear_model import LogisticRegression  # scikit-learn takes a second to load
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    half = len(labels) // 2
    seen, fresh = ((states[part].reshape(-1, states.shape[-1]), labels[part].ravel())
                   for part in (slice(half), slice(half, None)))  # fmt: skip
    return float(make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)).fit(*seen).score(*fresh))


def shade(run: pd.Series) -> tuple[float, float, float]:
    """A run's colour: its hue is what became of the net, its depth how much is right at 491 to 500, beyond the most frequent answer."""
    hue = next(HUES[name] for name, kinds in KINDS.items() if run["kind"] in kinds)
    depth = 0.25 + 0.75 * max(0, (run["far"] - run["majority"]) / (1 - run["majority"]))
    return tuple(1 - depth * (1 - channel) for channel in to_rgb(hue))


SIGNS = ("A cell has a stripe for each seed: grey, the net never learned its machine at 31 to 40; orange, it learned it and fell below "
         f"{KNOWN:.0%} somewhere before {FAR}; blue, it lasts to {FAR}. The deeper the colour, the more is right at {FAR - WINDOW + 1} to {FAR}. "
         "Hatched: a theorem says that no such net lasts at every length.").replace("%", " %")  # fmt: skip


def predicted_of(found: pd.DataFrame) -> pd.Series:
    """What is predicted of every run: ``can``, ``cannot`` or ``open``."""
    return pd.Series([predicted(row, machine) for row, machine in zip(found["row"], found["task"])], found.index, dtype=object)


def disagreements(found: pd.DataFrame) -> pd.DataFrame:
    """The runs that last on all strings that were drawn though none of their kind can last."""
    return found[(found["kind"] == "lasts") & (predicted_of(found) == "cannot")]


def refutations(found: pd.DataFrame) -> list[dict]:
    """By model: the nets that last though none of their kind can, and how they answer the two words that refute it."""
    seeming, rows = disagreements(found), []
    for row in in_order(seeming, "row", ROWS):
        here = runs_of(seeming, row=row)
        counted = Counter(map(machine_name, here["task"]))
        asked = here["refuted.words"][here["refuted.n"].notna()]  # one of the two it gets wrong
        sizes = [max(map(len, words)) for words in asked]
        rows.append({"model": model_name(row), "nets": len(here), "machines": ", ".join(
                         f"{name} ({count})" if count > 1 else name for name, count in counted.items()),
                     "wrong on the words": len(sizes), "letters of such a word, at most":
                         " to ".join(map(str, sorted({min(sizes), max(sizes)}))) if sizes else ""})  # fmt: skip
    return rows


def _counts(found: pd.DataFrame) -> dict[str, int]:
    return {"runs": len(found), **{name: int(found["kind"].isin(of).sum()) for name, of in KINDS.items()}}


def outcomes(found: pd.DataFrame) -> list[dict]:
    """For each thing that may be predicted, how many runs came out how."""
    says = {"can": "it can, with so many layers", "cannot": "it cannot last", "open": "open, or no family of the table"}
    of = predicted_of(found)
    return [{"predicted": text, **_counts(found[of == what])} for what, text in says.items()]


def missed(found: pd.DataFrame) -> list[dict]:
    """For each model, what came of the cells that can last."""
    can = found[predicted_of(found) == "can"]
    return [{"model": model_name(row), **_counts(here),
             "not on": ", ".join(dict.fromkeys(map(machine_name, here["task"][here["kind"] != "lasts"])))}
            for row in in_order(can, "row", ROWS) for here in [runs_of(can, row=row)]]  # fmt: skip


def cannot_hold(family: str, machine: str) -> bool:
    """Whether a theorem says that no one layer of a family lasts on a machine."""
    least = predict(ladder_task(machine).machine, family).least
    return least is None or least > 1


@picture
def ladder(found: pd.DataFrame, families: Mapping[str, str] = {}) -> Figure:
    """Rows models, two layers below one, columns machines; ``SIGNS`` says what is in a cell, ``families`` which family a row of
    one's own is of."""
    rows = sorted(in_order(found, "row", ROWS), key=lambda row: (ROWS.index(row.removesuffix(DEEP)), row.endswith(DEEP)))
    rows += dict.fromkeys(row for row in found["row"] if row not in ROWS)  # of one's own
    names = ["2 layers" if row.removesuffix(DEEP) in rows and row.endswith(DEEP) else model_name(row) for row in rows]
    columns = in_order(found, "task", dict.fromkeys([*MACHINES, *ladder_random.TABLE.tasks, *found["task"]]))
    figure, axes = new_figure(1.75 + (0.3 if len(rows) < 12 else 0.215) * len(rows), left=1.62, right=0.1, top=1.05, bottom=0.62)
    for (row, column), cell in found.groupby(["row", "task"]):
        x, y = columns.index(column) - 0.5, rows.index(row) - 0.5
        for n, (_, run) in enumerate(cell.sort_values("seed").iterrows()):
            axes.add_patch(Rectangle((x + n / len(cell), y), 1 / len(cell), 1, fc=shade(run), lw=0))
        if (cannot_hold(families[row], column) if row in families else predicted(row, column) == "cannot"):
            axes.add_patch(Rectangle((x, y), 1, 1, fill=False, hatch="////", ec=INK, lw=0))
    axes.set(xlim=(-0.5, len(columns) - 0.5), ylim=(len(rows) - 0.5, -0.5))
    axes.set_yticks(range(len(rows)), names)
    axes.set_xticks(range(len(columns)), map(machine_name, columns), rotation=60, ha="left", rotation_mode="anchor")
    axes.tick_params(length=0)
    axes.grid(False)
    axes.spines[:].set_visible(False)
    _white_lines(axes, len(columns), [0.8 if name == "2 layers" else 2 for name in names])
    figure.legend(handles=[*(Patch(fc=hue, label=name) for name, hue in HUES.items()),
                           Patch(fc="white", hatch="////", ec=INK, lw=0, label="a theorem says no")], ncols=4, loc="lower center")  # fmt: skip
    return figure


def _white_lines(axes: Axes, columns: int, widths: Sequence[float]) -> None:
    """Names of columns above, and lines between the cells of a table; ``widths`` of those above each row."""
    axes.xaxis.tick_top()
    for place in range(1, columns):
        axes.axvline(place - 0.5, color="white", lw=2)
    for place, width in enumerate(widths[1:], 1):
        axes.axhline(place - 0.5, color="white", lw=width)


def own_row(row: str, found: Mapping[str, tuple[float, float]]) -> pd.DataFrame:
    """Runs of one's own for :func:`ladder`: of each machine the shares right at 31 to 40 and at 491 to 500."""
    return pd.DataFrame([{
        "row": row, "task": machine, "seed": 0, "budget": "desk", "trained": near, "far": far,
        "kind": "never learned" if near < KNOWN else "lasts" if far >= KNOWN else "drifts",
        "majority": ladder_task(machine).majority(ladder_task(machine).near(FAR)),
    } for machine, (near, far) in found.items()])  # fmt: skip


@picture
def twelve_bars(found: pd.DataFrame, rows: Sequence[str]) -> Figure:
    """A bar a model: of its runs that can last, the shares that never learn, that lose it with length, and that last."""
    counts = {row: _counts(here) for row in rows for here in [found[(found["row"] == row) & (predicted_of(found) == "can")]]}
    order = sorted(rows, key=lambda row: -counts[row]["lasts"] / counts[row]["runs"])
    figure, axes = new_figure(0.95 + 0.27 * len(rows), left=1.75, right=0.75, top=0.35, bottom=0.3)
    for place, row in enumerate(order):
        left, runs = 0.0, counts[row]["runs"]
        for name in reversed(HUES):
            axes.barh(place, counts[row][name] / runs, 0.78, left=left, color=HUES[name], label=name if not place else None)
            left += counts[row][name] / runs
        axes.text(1.01, place, f"{counts[row]['lasts']} of {runs}", va="center", fontsize=SMALL)
    axes.set(xlim=(0, 1), ylim=(len(rows) - 0.5, -0.5))
    axes.set_yticks(range(len(rows)), map(model_name, order))
    axes.set_xticks([0, 0.5, 1], ["0", "50 %", "100 %"])
    axes.grid(False)
    axes.tick_params(length=0)
    figure.legend(ncols=3, loc="upper right")
    return figure


@styled
def forecast(families: Mapping[str, str], machines: Sequence[str]) -> Figure:
    """How many layers of a family (its name in the text -> its name) are enough for a machine, as :func:`_layers` writes it."""
    greens = {"1": "#009E73", "2": "#73c9b2", "≤ 2": "#73c9b2", "more": "#d3efe7", "some": "#d3efe7", "never": "white", "?": "#ededed"}
    said = pd.DataFrame([[_layers(predict(ladder_task(name).machine, family)) for name in machines] for family in families.values()])
    figure, axes = new_figure(0.95 + 0.34 * len(families), left=2.0, right=0.1, top=0.75, bottom=0.1)
    number_grid(axes, said, said.map(greens.get))
    axes.set_yticks(range(len(families)), families)
    axes.set(xlim=(-0.5, len(machines) - 0.5))
    axes.set_xticks(range(len(machines)), map(machine_name, machines))
    _white_lines(axes, len(machines), [2] * len(families))
    return figure


def _layers(found: Prediction) -> str:
    """1, 2, ≤ 2 (one may do), more (than one), some (one may do), never, or ? where nothing is known."""
    if found.least is None:
        return "never"
    if found.layers in (1, 2):
        return f"{'≤ ' * (found.least < found.layers)}{found.layers}"
    return "?" if found.verdict == "not decided" else "more" if found.least > 1 else "some"


@styled
def gates() -> Figure:
    """A number of a state after letters a, for three gates: filled where their count is odd."""
    titles = "gate 0.7: comes to rest", "gate 1: leaves every bound", "gate −1: flips for ever"
    figure, every = panels(titles, 3, 2.1, "letters a so far", "state", left=0.5, right=0.1, bottom=0.5, gap=0.4,
                           sharey=False)  # fmt: skip
    n = np.arange(15)
    for axes, states in zip(every, (4 - 4 * 0.7**n, n / 2.0, (-1.0) ** n)):
        axes.plot(n, states, color=GRID, lw=1)
        axes.scatter(n, states, s=26, c=[RECORDED if k % 2 else "white" for k in n], edgecolors=RECORDED, zorder=3)
        axes.set(xlim=(-0.7, 14.7))
    return figure


@styled
def mirrors() -> Figure:
    """A triangle, mirrored once, and mirrored again: two reflections turn it."""
    corners = np.array([[np.cos(angle), np.sin(angle)] for angle in np.pi / 2 + 2 * np.pi / 3 * np.arange(3)])
    lines = [np.pi / 2 + np.pi / 3 * k for k in (2, 1)]  # directions of the mirrors
    titles = "before", "one reflection", "two reflections: a turn"
    figure, every = panels(titles, 3, 2.2, left=0.1, right=0.1, top=0.35, bottom=0.05, gap=0.1, sharey=False)
    for n, axes in enumerate(every):
        at = corners
        for angle in lines[:n]:
            k = np.array([-np.sin(angle), np.cos(angle)])
            at = at @ (np.eye(2) - 2 * np.outer(k, k))
        axes.fill(*at.T, fc="#f2f2f2", ec=INK)
        axes.scatter(*at.T, s=230, c=COLOURS[:3], zorder=3)
        for place, corner in zip(at, "012"):
            axes.text(*place, corner, ha="center", va="center", color="white", fontweight="bold", zorder=4)
        if n:
            end = 1.45 * np.array([np.cos(lines[n - 1]), np.sin(lines[n - 1])])
            axes.plot(*np.array([-end, end]).T, color=LIVE, lw=1.4, ls=(0, (5, 3)))
        axes.set(xlim=(-1.6, 1.6), ylim=(-1.25, 1.45), aspect="equal")
        axes.set_axis_off()
    return figure


def draw_ladder(data: Path, folder: Path) -> list[Path]:
    """Draw the recorded ladder with the runs of one's own in ``data`` below it, as PNG, SVG and PDF with key and caption.
    ValueError where there are none, and for files of these names that we did not draw."""
    from lrnnbook.content.show.gallery import drawn_here  # which loads what draws the pictures of all tables

    name = "ladder/models_x_tasks"
    own = results.frame(records.read(data, name))
    if own.empty:
        raise ValueError(f"{data} has no records of {name}: lrnnlab reproduce a .yaml that is like it, first")
    paths = [folder / f"ladder.{kind}" for kind in ("png", "svg", "pdf")]
    if found := [path for path in paths if path.exists() and not drawn_here(paths[0])]:
        raise ValueError(f"{found[0]} was not drawn by lrnnlab: choose another --folder, or move it away")
    records.check_writable(paths)
    other = own["budget"] != "desk"
    own.loc[other, "row"] += " (" + own["budget"][other] + ")"
    figure = ladder(pd.concat([results.runs(name), own.assign(budget="desk")], ignore_index=True))
    said = f"{SIGNS} The last rows are one's own; in brackets their budget, where it is not that of all others, desk."
    figure.text(0.02, -0.01, textwrap.fill(said, 110), va="top", fontsize=7, transform=figure.transFigure)
    for path in paths:
        more = {"metadata": {"Records": str(data)}} if path == paths[0] else {}
        figure.savefig(path, bbox_inches="tight", dpi=200, **more)
    return paths


@picture
def one_cell(found: pd.DataFrame, row: str, machine: str) -> Figure:
    """Right answers by position of one model on one machine, a line a seed, in windows of ten positions."""
    figure, axes = new_figure(2.9, right=1.3, bottom=0.55, top=0.3)
    asked, here = ladder_task(machine), found[(found["row"] == row) & (found["task"] == machine)]
    for run in here.itertuples():
        at = WINDOW * np.arange(1, len(run.accuracy_by_ten) + 1)
        axes.plot(at, run.accuracy_by_ten, color=RECORDED, lw=1.4, label=f"seed {run.seed}")
    majority = asked.majority(asked.near(FAR)) if here.empty else here["majority"].iloc[0]
    for height, name in ((majority, "majority"), (asked.chance, "chance")):
        level(axes, height, label=name)
    return _by_position(figure, axes)


def _by_position(figure: Figure, axes: Axes) -> Figure:
    """Finish a picture of right answers by position, to 500."""
    axes.set(xlim=(0, FAR), ylim=(0, 1.03), xlabel="position", ylabel="right answers")
    trained(axes, LENGTH)
    axes.yaxis.set_major_formatter(lambda share, _: f"{share:.0%}")
    label_ends(axes)
    return figure


@picture
def horizons(found: pd.DataFrame) -> Figure:
    """Where nets fail, against where their states at 10 to 100 predicted it; what lasts, or is predicted to, at the edge."""
    figure, axes = new_figure(3.8, width=6.4, left=0.8, bottom=0.6, top=0.2, right=1.2)
    pairs = horizon_pairs(found)
    for kind, marker, colour in (("drifts", "o", RECORDED), ("aliases", "^", "#E69F00"), ("lasts", "s", "#009E73")):
        here = pairs[pairs["kind"] == kind]
        axes.plot(here["predicted"], here["seen"], ls="", marker=marker, color=colour, ms=5, mfc="none", label=kind, clip_on=False)
    axes.plot([100, 5 * FAR], [100, 5 * FAR], color=GRID, lw=1.2)
    axes.axhline(FAR, color=PAPER, lw=1, ls=(0, (3, 2)))
    log_ticks(axes, x={100: "100", 200: "200", 500: "500", 1000: "1,000", 5 * FAR: "later"},
              y={100: "100", 200: "200", FAR: str(FAR), FAR + 100: "never"})  # fmt: skip
    axes.set(xlim=(60, 6 * FAR), ylim=(75, 700), xlabel="predicted from positions 10 to 100",
             ylabel="first of ten positions below 99 %")  # fmt: skip
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    return figure


def right_by_ten(model: torch.nn.Module, asked: StateTracking, strings: int = 64) -> np.ndarray:
    """Right answers in windows of ten positions, to 500, on fresh strings."""
    return windows(by_position(model, asked, FAR, strings, rng(0, "ladder/test")))


@styled
def restart_curves(curves: Mapping[str, np.ndarray]) -> Figure:
    """Right answers by position of one net alone and restarted, by name."""
    figure, axes = new_figure(2.9, right=1.1, bottom=0.55, top=0.3)
    colours = ("#222222", "#E69F00", "#56B4E9", "#009E73")
    for (name, right), colour, width in zip(curves.items(), colours, (1.6, 4.2, 2.6, 1.2)):
        axes.plot(np.arange(len(right)) + WINDOW, right, color=colour, lw=width, label=name)
    return _by_position(figure, axes)


@styled
def clouds(restarted: Quantised, asked: StateTracking, times: Sequence[int] = (39, 199, 499)) -> Figure:
    """States of 300 strings in the plane in which they vary most, a colour a state of the machine: above the net alone, below the
    same net restarted; with the share of right answers."""
    from sklearn.decomposition import PCA

    batch = asked.sample_near(300, FAR, rng(0, "ladder/states"))
    models = {"alone": restarted.restarted(FAR + 1), f"restarted every {restarted.every}": restarted}
    figure, grid = new_figure(4.3, rows=2, columns=len(times), left=0.35, right=0.1, top=0.35, bottom=0.1, gap=0.12, squeeze=False)
    with torch.no_grad():
        seen = {name: model.states(batch.inputs)[:, [t - 1 for t in times]].numpy() for name, model in models.items()}
        right = {name: (model(batch.inputs).argmax(-1) == batch.targets).float().mean(0) for name, model in models.items()}
    plane = PCA(2).fit(seen["alone"][:, 0])
    edge = 1.1 * max(np.abs(plane.transform(states.reshape(-1, states.shape[-1]))).max() for states in seen.values())
    for (name, states), line in zip(seen.items(), grid):
        line[0].set_ylabel(name)
        for k, (t, axes) in enumerate(zip(times, line)):
            axes.scatter(*plane.transform(states[:, k]).T, s=9, c=[COLOURS[q % len(COLOURS)] for q in batch.targets[:, t - 1].tolist()],
                         lw=0, alpha=0.8)  # fmt: skip
            axes.set(xticks=[], yticks=[], xlim=(-edge, edge), ylim=(-edge, edge))
            axes.text(0.5, 0.92, f"{float(right[name][t - 1]):.0%} right", transform=axes.transAxes, ha="center", fontweight="bold")
            if name == "alone":
                axes.set_title(f"after {t} letters")
    return figure


VERDICTS = {"proved": "proved", "refuted": "wrong on some string", "open": "open: right by less than rounding may change"}


def mended(found: pd.DataFrame) -> list[dict]:
    """For each model, and for all, how many of the nets that lose their machine are right at 491 to 500 alone and restarted, and
    how many are proved."""
    lost = found[found["kind"].isin(ladder_restart.LOST)]
    models = {model_name(row): lost[lost["row"] == row] for row in in_order(lost, "row", ROWS)}
    layers = {f"all of {name}": lost[lost["row"].str.endswith(DEEP) == deep] for name, deep in (("one layer", False), ("two layers", True))}
    return [{"model": name, "lost with length": len(here), "machines": here["task"].nunique(),
             "right alone": int((here["alone"] >= KNOWN).sum()),
             **{f"right, restarted every {k}": int((here[f"right.{k}"] >= KNOWN).sum()) for k in ladder_restart.EVERY},
             **{name: int((here["verdict"] == verdict).sum()) for verdict, name in VERDICTS.items() if (lost["verdict"] == verdict).any()}}
            for name, here in (models | layers | {"all": lost}).items() if len(here)]  # fmt: skip


def not_proved(found: pd.DataFrame) -> list[dict]:
    """The nets that lose their machine and are not proved when they are restarted after every token."""
    left = found[found["kind"].isin(ladder_restart.LOST) & (found["verdict"] != "proved")]
    return [{"model": model_name(run.row), "machine": machine_name(run.task), "states kept": f"{run.codes:.0f}",
             "right at 491 to 500": f"{run.right:.1%}", "on all strings": "open" if run.verdict == "open" else
             f"wrong on one of {run.shortest:.0f} letters", "its states": run.why if isinstance(run.why, str) else "closed"}
            for run in left.assign(right=left["right.1"]).itertuples()]  # fmt: skip


def counted(found: pd.DataFrame, told: Mapping[str, bool]) -> list[dict]:
    """Runs of attention on machines whose states counts tell, and on the others."""
    runs = found[found["row"].str.removesuffix(DEEP).isin([row for row, (family, _) in FAMILY.items() if family == "attention"])]
    return [{"counts tell the states": "yes" if said else "no", "machines": len([name for name in told if told[name] == said]),
             **_counts(runs[runs["task"].map(told) == said])} for said in (True, False)]  # fmt: skip


def of_random(found: pd.DataFrame) -> list[dict]:
    """For each model, on how many machines of each kind and size it knows length 40 / lasts."""
    kinds = {"maps of 4": "maps_4_", "maps of 8": "maps_8_", "maps of 16": "maps_16_", "turns of 4": "turns_4_", "turns of 8": "turns_8_",
             "turns of 16": "turns_16_", "recall (2)": "recall_"}  # fmt: skip
    return [{"model": model_name(row),
             **{title: f"{(here['kind'] != 'never learned').sum()} / {(here['kind'] == 'lasts').sum()}" for title, kind in kinds.items()
                for here in [found[(found["row"] == row) & found["task"].str.startswith(kind)]]}}
            for row in in_order(found, "row", ROWS)]  # fmt: skip


@picture
def strings_needed(found: pd.DataFrame) -> Figure:
    """Right answers at 491 to 500 by the number of strings that were seen, a panel a machine, a line a rule."""
    machines = list(dict.fromkeys(task.rsplit("-", 1)[0] for task in found["task"]))
    figure, axes = panels([machine_name(name) for name in machines], 3, 2.7, "strings of 40 tokens", "right at 491 to 500", right=1.55)
    colours = dict(zip(ladder_strings.TABLE.rows, ("#222222", RECORDED, "#009E73", "#E69F00")))
    for name, panel in zip(machines, axes):
        here = found[found["task"].str.startswith(f"{name}-")].assign(strings=lambda runs: runs["task"].str.rsplit("-").str[-1].astype(int))
        for row, colour in colours.items():
            line = here[here["row"] == row].sort_values("strings")
            panel.plot(line["strings"], line["far"], color=colour, marker="o", ms=4, label=model_name(row) if row != "table" else "a table")
        level(panel, here["majority"].iloc[0])
        log_ticks(panel, x={strings: strings for strings in sorted(set(here["strings"]))})
        panel.set(ylim=(0, 1.05))
    axes[-1].legend(loc="center left", bbox_to_anchor=(1.02, 0.5))
    return figure


@picture
def depth_curves(found: pd.DataFrame) -> Figure:
    """Right answers by position, a panel a model and a machine, a line a number of layers."""
    models = list(dict.fromkeys(found["row"].str.replace(r"-\d$", "", regex=True)))
    machines = in_order(found, "task", MACHINES)
    titles = [f"{model_name(model)}, {machine_name(machine)}" for model in models for machine in machines]
    figure, axes = panels(titles, len(machines), 5.6, "position", "right answers", right=1.0, gap=0.55)
    for panel, (model, machine) in zip(axes, product(models, machines)):
        for layers, colour in zip((1, 2, 3, 4), ("#a6cee3", "#5fa2ce", "#1f6fb0", "#08306b")):
            here = found[(found["row"] == f"{model}-{layers}") & (found["task"] == machine)]
            for accuracy in here["accuracy"]:
                panel.plot(range(1, len(accuracy) + 1), accuracy, color=colour, lw=1.8, label=f"{layers}")
        level(panel, ladder_task(machine).chance)
        panel.axvline(LENGTH, color=FAINT, lw=1)
        panel.set(xlim=(0, 100), ylim=(0, 1.04))
    axes[len(machines) - 1].legend(title="layers", loc="center left", bbox_to_anchor=(1.02, 0.5))
    return figure


def horizon_pairs(found: pd.DataFrame) -> pd.DataFrame:
    """``predicted``, ``seen``, and the ``kind``, of every run that was still right at 100; beyond 2,500 counts as 2,500, and
    what is right to 500 as 600."""
    kept = found[found["horizon.law"].notna() & (found["first"].astype(float).fillna(FAR) >= 100)]
    seen, expected = (kept[name].astype(float) for name in ("first", "horizon.horizon"))
    expected = expected.fillna(math.inf).clip(upper=5 * FAR)
    return pd.DataFrame({"predicted": expected, "seen": seen.fillna(FAR + 100), "kind": kept["kind"]})


class HorizonScores(NamedTuple):
    """How well the spread of states predicts where nets fail; ``factor`` and ``by_guess`` are medians of max(p/s, s/p)."""

    drifted: int
    factor: float
    by_guess: float
    rank: float
    lasted: int
    false_alarms: float


def horizon_scores(found: pd.DataFrame) -> HorizonScores:
    """The scores of ``horizon_pairs``, beside those of one who answers 150 for every net."""
    from scipy.stats import spearmanr  # nearly a second to load

    pairs = horizon_pairs(found)
    drifted, lasted = pairs[pairs["kind"] == "drifts"], pairs[pairs["kind"] == "lasts"]

    def off(predicted: float | pd.Series) -> float:
        return float(np.maximum(predicted / drifted["seen"], drifted["seen"] / predicted).median())

    rank = float(spearmanr(drifted["predicted"], drifted["seen"]).statistic)
    alarms = (lasted["predicted"] < FAR).sum() / max(len(lasted), 1)
    return HorizonScores(len(drifted), off(drifted["predicted"]), off(150), rank, len(lasted), alarms)


def told(found: pd.DataFrame, row: str, machine: str) -> str:
    """What one cell's runs say, in a sentence; HTML."""
    here = found[(found["row"] == row) & (found["task"] == machine)]
    if here.empty:
        return f"{model_name(row)} on {machine_name(machine)} is not recorded."
    learned = (here["trained"] >= KNOWN).sum()
    said = f"{model_name(row)} on {machine_name(machine)}: <b>{learned} of {len(here)}</b> learned the training length"
    first = here["first"][here["kind"].isin(("drifts", "aliases"))]
    if learned:
        said += f", <b>{(here['kind'] == 'lasts').sum()}</b> last to {FAR}"
    if len(first):
        said += f"; the ten positions from {first.min():.0f} on are below 99 %, {FAR - WINDOW + 1} to {FAR} are right to "
        said += f"{percent(here['far'].min())} to {percent(here['far'].max())} %" + "; it aliases" * any(here["kind"] == "aliases")
    return said + ("." if learned == len(here) else f" (as little as {percent(here['trained'].min())} % at 31 to 40).")


def ledger() -> list[dict]:
    """The recorded runs of ``ladder/protocols``: by machine and model, the mean of every rule, in percent."""
    rules = ladder_protocols.RULES
    return [{"machine": machine_name(machine), "model": model_name(row),
             **{rule: percent(fmean(cell[f"rules.{rule}"])) for rule in rules}}
            for (machine, row), cell in results.runs("ladder/protocols").groupby(results.CELL, sort=False)]  # fmt: skip


# --- a machine of your own -------------------------------------------------------------------------------------------

_MENDING = Mend(Phase(steps=200, lr=6e-3, final_lr=3e-4, noise=0.3, purity=0.5), rounds=4)


def taught(machine: MooreMachine) -> tuple[Fit, Verdict]:
    """Softmax blocks trained on the states of a machine until their snapped copy is proved, by the recipe of Sum(5); and the
    last verdict.  What the copy gets wrong is learned, up to four times, then training starts again, up to four times."""
    asked, found = StateTracking(machine, "yours"), get("lrnn/table2").setting("softmax", "sum", "live")
    verdicts: list[Verdict] = []

    def accept(model: Net) -> bool | list[tuple[int, ...]]:
        verdicts.append(verify(snap(model), asked.specification, wanted=100))
        return verdicts[-1].proved or list(verdicts[-1].counterexamples)

    made = fit(lambda seed: build(found.model, asked, seed=seed, **found.options), asked,
               replace(found.recipe, mend=_MENDING, attempts=4), seed=0, accept=accept, progress=False)  # fmt: skip
    return made, verdicts[-1]


def typed(text: str) -> MooreMachine:
    """The machine of what is typed on one line: an expression, or arrows with a semicolon between them."""
    return my_machine(text.replace(";", "\n"))


def bench(text: str, family: str) -> Figure:
    """The diagram of what is typed, minimised; ValueError says what is wrong with it."""
    return state_diagram(typed(text))


def bench_sentence(text: str, family: str) -> str:
    """What algebra says of what is typed: its size, its groups, and the verdict on one family; HTML."""
    machine = typed(text)
    found, kind = predict(machine, family), classify(machine)
    groups = "no group: star-free" if kind.aperiodic else (
        f"groups of up to {kind.max_group_order} elements, {'' if kind.solvable else 'not '}solvable")  # fmt: skip
    confused = "Its layers come together on words like" if family in ("reflection", "reflections") else "It confuses, in the end,"
    words = f" {confused} {escape(found.counterexample.text(machine.symbols))}." if found.counterexample else ""
    why = re.sub(r" \([^)]*expressivity[^)]*\)|: the two words", "", found.theorem.split(". ")[0].rstrip("."))
    return (f"{machine.num_states} states; words do {kind.monoid_size} different things to them; {groups}. "
            f"{escape(FAMILIES[family])}: <b>{found.verdict}</b>. {escape(why)}.{words}")  # fmt: skip


def exact_rows(machine: MooreMachine) -> list[dict]:
    """The families of which exact weights are known, with their layers and size; each was compared on all words."""
    rows = []
    for family in FAMILIES:
        try:
            made = construct(machine, family)
        except ValueError:  # none are known
            continue
        rows.append({"family": family, "layers": made.model.depth, "size": made.size})
    return rows


def parcel(machine: MooreMachine, made: Fit, verdict: Verdict) -> str:
    """Machine, verdicts, trained weights and what was proved of their snapped copy, as JSON to take away."""
    found = {"states": list(machine.names) or machine.num_states, "tokens": list(machine.symbols),
             "arrows": machine.transitions.tolist(), "answers": machine.outputs.tolist(), "initial": machine.initial}  # fmt: skip
    told = {one.family: {"verdict": one.verdict, "theorem": one.theorem} for one in predict(machine)}
    weights = {name: weight.tolist() for name, weight in made.net.state_dict().items()}
    return json.dumps({"machine": found, "predicted": told, "snapped": str(verdict), "proved": verdict.proved,
                       "weights": weights}, indent=1)  # fmt: skip
