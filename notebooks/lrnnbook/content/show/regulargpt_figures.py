"""Paper 002 drawn from records: Tables 1 and 2, the clusters of Figure 3, the gradients of Figure 4a, Table 3 (chapter 08).

The paper's numbers are grey, every recorded run is a blue dot.

Letters: p = P(1); l depth; m elements of the transition monoid; T time, C chunk, K thickness.
"""

import itertools
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lrnnbook.content.show import frames, labels
from lrnnbook.content.show.labels import looks, named
from lrnnbook.content.show.style import FAINT, INK, PAPER, RECORDED, Look, label_ends, printed, value_colour
from lrnnbook.content.tables import get, regulargpt_table1
from lrnnbook.content.tables.declared import paper
from lrnnbook.content.tables.regulargpt_fig3 import build_task
from lrnnlab.automata import MooreMachine, transition_monoid

NETS = {row: named(row) for row in ("rnn", "transformer", "regulargpt_c2", "regulargpt_c3")}
TASKS = {task: named(task) for task in get("regulargpt/table1").tasks}
CLUSTERED = {task: named(task) for task in ("parity", "cycle_navigation", "s_3", "suffix")}
MARKERS = "os^vD*XdPp"  # by element: its colour alone does not tell it from its neighbours
SAYS = {"paper": "paper, mean of 3", "seed": "recorded, each seed"}  # of the marks of Tables 1 and 2
NOTHING = "e"  # the name of the element that does nothing
READERS = looks(["regulargpt_c2", "transformer", "rnn", "lrnn"], "regulargpt/fig4")
ASKED = {"parity": "Parity: all bits", "even_pairs": "Even Pairs: first and last", "suffix": "Suffix: the last four"}
MODELS = looks(["kerple", "t5", "alibi", "c8k1", "c8k2", "c16k2", "c24k2", "c8k2_gpt2"])


@frames.picture
def accuracy_by_task(found: pd.DataFrame, live: Mapping[tuple[str, str], Sequence[float]] = {},
                     tasks: Sequence[str] = tuple(TASKS)) -> Figure:  # fmt: skip
    """Table 1, or some of its tasks: the share of right answers beyond the trained lengths; the dots of a cell are its seeds.

    ``live`` is (task, row) -> shares of runs of today."""
    says = {"best": "paper, best of 3", **SAYS, "live": "live", "level": "majority"}
    beyond = "right answers beyond the trained lengths"
    theirs, here = (table[table["task"].isin(tasks)] for table in (paper("regulargpt/table1"), found))
    return frames.shares(here, "accuracy", {task: TASKS[task] for task in tasks}, NETS, says, size=(1.6 + 0.24 * len(tasks), len(NETS)),
                         x=beyond, level="majority", across="row", live=live, paper=theirs)  # fmt: skip


@frames.picture
def accuracy_by_p(found: pd.DataFrame) -> Figure:
    """Table 2: a panel for every net, Parity with ones of probability p: at length 40 (above) and beyond (below)."""
    rows = regulargpt_table1.TABLE_2.rows
    theirs = paper("regulargpt/table2")
    figure, grid = frames.panels([NETS[row] for row in rows] + [""] * len(rows), len(rows), 4.2, "p = P(1)", left=0.75, right=0.2,
                                 top=0.75, gap=0.35, sharex=True)  # fmt: skip
    for axes, (measure, row) in zip(grid, itertools.product(regulargpt_table1.MEASURES, rows)):
        printed = theirs[(theirs["metric"] == measure) & (theirs["row"] == row)]
        frames.put(axes, "paper", printed["task"].astype(float), printed["value"], zorder=2)
        for p, cell in found[found["row"] == row].groupby("task"):
            frames.put(axes, "seed", frames.beside(float(p), len(cell), 0.03), 100 * cell[measure], zorder=3)
        frames.level(axes, 50)
        ps = [float(p) for p in regulargpt_table1.TABLE_2.tasks]
        axes.set(ylim=(40, 103), xlim=(0, 1), xticks=ps, yticks=[50, 75, 100])
    for axes, title in zip(grid[:: len(rows)], regulargpt_table1.MEASURES.values()):
        axes.set_ylabel(title.replace(" (", "\n("))
    frames.legend(figure, [frames.handle(name, mark) for mark, name in {**SAYS, "level": "majority"}.items()])
    return figure


def element_colours(machine: MooreMachine, elements: np.ndarray) -> list[str]:
    """A colour for each element (m, n): that of the answer it gives, where each gives another one."""
    answers = machine.outputs[elements[:, machine.initial]].tolist()
    values = answers if sorted(answers) == list(range(len(elements))) else range(len(elements))
    return [value_colour(value, len(elements)) for value in values]


def element_names(machine: MooreMachine) -> list[str]:
    """A shortest word for each element of the machine's monoid."""
    return [printed("".join(machine.symbols[token] for token in word)) or NOTHING
            for word in transition_monoid(machine).words]  # fmt: skip


@frames.picture
def clusters_of_tasks(found: pd.DataFrame) -> Figure:
    """A column for each task: above the states of all depths of one net (least seed), coloured by the element of the monoid that
    the word below realises; below its clusters by depth (filled), other seeds' (hollow), and what the algebra predicts."""
    trained = found[found["row"] != "untrained"].sort_values("seed")
    tasks = frames.in_order(trained, "task", CLUSTERED)
    titles = [CLUSTERED[task] for task in tasks] + [""] * len(tasks)
    figure, grid = frames.panels(titles, len(tasks), 4.5, "letters below a state",
                                 left=0.6, right=0.1, top=0.3, gap=0.45, sharey=False)  # fmt: skip
    for task, above, below in zip(tasks, grid, grid[len(tasks) :]):
        runs = frames.runs_of(trained, task=task)
        _plane(above, task, runs["points"].iloc[0])
        _counts(below, [pd.DataFrame(depths) for depths in runs["depths"]])
    grid[0].set_ylabel("second axis")
    grid[len(tasks)].set_ylabel("clusters")
    return figure


def _plane(axes: Axes, task: str, points: Mapping) -> None:
    machine = build_task(task).machine
    colours, names = element_colours(machine, transition_monoid(machine).elements), element_names(machine)
    for element, at in pd.DataFrame({name: points[name] for name in ("element", "x", "y")}).groupby("element"):
        axes.plot(at["x"], at["y"], MARKERS[element % len(MARKERS)], color=colours[element], ms=5.5, mec=INK, mew=0.4)
        axes.annotate(names[element], (at["x"].mean(), at["y"].max()), (0, 5), textcoords="offset points", ha="center",
                      fontweight="bold", bbox={"fc": "white", "ec": "none", "pad": 0.4, "alpha": 0.7})  # fmt: skip
    axes.set(xlabel="first axis of PCA", xticks=[], yticks=[])
    axes.margins(0.1, 0.16)


def _counts(axes: Axes, nets: Sequence[pd.DataFrame]) -> None:
    first, *others = nets
    axes.step(first.index, first["predicted"], where="mid", color=INK, lw=1.4, label="by algebra")
    for other in others:
        axes.plot(other["found"], "o", color=RECORDED, mfc="none", ms=8)
    axes.plot(first["found"], "o", color=RECORDED, ms=5, label="found")
    most = max(first["predicted"].max(), *(net["found"].max() for net in nets))
    axes.set(ylim=(0, 1.4 * most), xlim=(-0.6, len(first) - 0.4))
    axes.set_xticks(first.index[::2], first["word"].astype(str)[::2])
    axes.yaxis.get_major_locator().set_params(integer=True)
    axes.tick_params(color=FAINT)
    axes.legend(loc="upper right", ncols=2, handlelength=1.2, columnspacing=0.8)


@frames.picture
def gradients(found: pd.DataFrame) -> Figure:
    """The share of the gradient from each position on (``regulargpt/fig4``), a line a net: thick the least seed, grey what every
    position alike would give.  The legend says how many answers the nets have right there."""
    tasks = frames.in_order(found, "task", ASKED)
    figure, grid = frames.panels([""] * len(tasks), len(tasks), 3.6, "position", left=0.6, top=1.1, gap=0.3)
    for axes, task in zip(grid, tasks):
        here = frames.runs_of(found, task=task).sort_values("seed")
        for row in frames.in_order(here, "row", READERS):
            (name, look), mine = READERS[row], frames.runs_of(here, row=row)
            ends = {round(100 * end) for end in (mine["accuracy"].min(), mine["accuracy"].max())}
            right = " to ".join(map(str, sorted(ends)))
            for place, share in enumerate(mine["gradient"]):
                axes.plot(share, color=look.colour, ls=look.dash, lw=0.8 if place else 1.8, zorder=2 if place else 3,
                          label=None if place else f"{name}, {right} %")  # fmt: skip
        T = len(here["gradient"].iloc[0])
        axes.set(xlim=(0, T), ylim=(0, 1.03), xticks=[0, T // 2, T])
        axes.plot([0, T], [1, 0], color="#d9d9d9", lw=4, zorder=0)
        axes.set_title(ASKED[task], pad=68, fontsize=10)
        axes.legend(loc="lower left", bbox_to_anchor=(-0.02, 1.0), handlelength=2.2, borderaxespad=0.1, labelspacing=0.2)
    grid[0].set_ylabel("share of the gradient from here on")
    return figure


@frames.picture
def perplexity_by_length(found: pd.DataFrame) -> Figure:
    """Perplexity of the last character by length, over that at the trained length; right the paper's, of another text.

    RegularGPT's lines are as deep as the text needs; with as many depths as in training, they are thin."""
    here, held = (_over_first(found, f"{name}.") for name in ("perplexity", "trained_depth"))
    theirs = paper("regulargpt/table3")
    first = theirs.groupby("row")["value"].transform("first")
    theirs = theirs.assign(over=theirs["value"] / first, length=theirs["task"].astype(int))
    rows = {labels.MODELS[row].get("paper_row"): look for row, (_, look) in MODELS.items()} | {"256 / 6": Look(PAPER)}
    printed_ = {row: (row, look) for row, look in rows.items() if row}
    titles = [f"here: characters, trained on {here['length'].min()}", "paper: words, trained on 512"]
    figure, grid = frames.panels(titles, 2, 3.8, "length", left=0.6, right=0.9, top=0.35, gap=1.45, sharey=False)
    both = ((here, MODELS, (1, 1.5, 2, 3, 5, 10)), (theirs, printed_, (1, 2, 5, 10, 20, 40)))
    for axes, (over, of, ticks) in zip(grid, both):
        lengths = sorted(set(over["length"]))
        place = over.assign(place=over["length"].map(lengths.index))
        ends = frames.curves(axes, place, "place", "over", of, ms=3.5, marker="o")
        if axes is grid[0]:
            for row, cell in held.dropna().groupby("row"):
                axes.plot(cell.groupby("length")["over"].mean().to_numpy(), color=MODELS[row][1].colour, lw=0.9)
        axes.axhline(1, color=FAINT, lw=1.0, zorder=0)
        axes.set_yscale("log")
        low, high = 0.8, axes.get_ylim()[1]  # room for the names of those that stay level
        frames.log_ticks(axes, y={tick: f"{tick:g}" for tick in ticks if low <= tick <= high})
        axes.set(ylim=(low, high), xlim=(-0.2, len(lengths) - 0.8))
        axes.set_xticks(range(len(lengths)), [f"{length:,}" for length in lengths])
        axes.set_title(axes.get_title("left"), fontsize=10)
        label_ends(axes, ends)
    grid[0].set_ylabel("perplexity over that at the trained length")
    return figure


def _over_first(found: pd.DataFrame, metric: str) -> pd.DataFrame:
    """A metric by length, over that at the first: a line for each run and ``length``."""
    values = found[[name for name in found if name.startswith(metric)]]
    over = values.div(values.iloc[:, 0], axis=0).rename(columns=lambda name: int(name.removeprefix(metric)))
    return found[["row", "seed"]].join(over).melt(["row", "seed"], var_name="length", value_name="over").astype({"length": int})
