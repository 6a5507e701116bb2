"""Paper 002 drawn from records: Tables 1 and 2, the clusters of Figure 3, the gradients of Figure 4a, Table 3 (chapter 08).

The paper's numbers are grey, every recorded run is a blue dot.

Letters: p = P(1); l depth; m elements of the transition monoid; T time, C chunk, K thickness.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from lrnnlab.automata import MooreMachine, transition_monoid
from lrnnlab.show.style import (
    FAINT,
    INK,
    LIVE,
    PAPER,
    RECORDED,
    SMALL,
    Look,
    check_one_budget,
    label_ends,
    new_figure,
    printed,
    styled,
    value_colour,
)
from lrnnlab.tables import regulargpt_table2 as table2
from lrnnlab.tables.declared import paper
from lrnnlab.tables.regulargpt_fig3 import build_task

NETS = {"rnn": "RNN", "transformer": "Transformer", "regulargpt_c2": "RegularGPT, C = 2",
        "regulargpt_c3": "RegularGPT, C = 3"}  # fmt: skip
TASKS = {
    "even_pairs": "Even Pairs", "modular_arithmetic_prefix": "Mod. Arithmetic (+)",
    "modular_arithmetic": "Mod. Arithmetic", "parity": "Parity", "cycle_navigation": "Cycle Navigation",
    **{f"d_{n}": rf"$D_{{{n}}}$" for n in (2, 3, 4, 12)}, **{f"tomita_{n}": f"Tomita {n}" for n in (3, 4, 5, 6)},
}  # fmt: skip
CLUSTERED = {"parity": "Parity", "cycle_navigation": "Cycle Navigation", "s_3": r"$S_3$", "suffix": "The last four"}
MARKERS = "os^vD*XdPp"  # by element: its colour alone does not tell it from its neighbours
NOTHING = "e"  # the name of the element that does nothing
READERS = {
    "regulargpt_c2": ("RegularGPT", Look("#0072B2")), "transformer": ("Transformer", Look("#E69F00", (0, (6, 1.5)))),
    "rnn": ("RNN", Look("#882255", (0, (3, 1.2)))), "lrnn": ("LRNN", Look("#009E73", (0, (1, 1.2)))),
}  # fmt: skip
ASKED = {"parity": "Parity: all bits", "even_pairs": "Even Pairs: first and last", "suffix": "Suffix: the last four"}
MODELS = {  # row of table3: its name here and in the paper's table, and its look
    "kerple": ("KERPLE", "KERPLE", Look("#8a8a8a", (0, (6, 1.5)))), "t5": ("T5", "T5", Look("#8a8a8a", (0, (2, 1)))),
    "alibi": ("ALiBi", "ALiBi", Look("#8a8a8a", (0, (4, 1, 1, 1)))),
    "c8k1": ("8 / 1", "", Look("#CC79A7")), "c8k2": ("8 / 2", "32 / 6", Look("#882255")),
    "c16k2": ("16 / 2", "64 / 6", Look("#E69F00")), "c24k2": ("24 / 2", "128 / 6", Look("#0072B2")),
    "c8k2_gpt2": ("8 / 2, GPT-2", "", Look("#332288")),
}  # fmt: skip


@styled
def accuracy_by_task(records: Sequence[dict], live: Sequence[dict] = ()) -> Figure:
    """Table 1: a panel for every net, a line for every task; the share of right answers beyond the trained lengths.

    A grey diamond is the paper's greatest of 3 seeds, a hollow one their mean; the stroke is the majority level; dots of
    one cell stand one below the other, a seed each.

    Parameters
    ----------
    records : list of dict
        Of ``regulargpt/table1``, of one budget.
    live : list of dict
        Of the same table, made just now, in vermilion.

    Raises
    ------
    ValueError
        Without records, or with those of two budgets.

    Examples
    --------
    >>> run = {"task": "parity", "row": "rnn", "budget": "desk", "metrics": {"accuracy": 0.9, "majority": 0.5}}
    >>> [axes.get_title("left") for axes in accuracy_by_task([run]).axes]
    ['RNN', 'Transformer', 'RegularGPT, C = 2', 'RegularGPT, C = 3']
    """
    check_one_budget(records)
    figure, panels = new_figure(4.7, columns=len(NETS), left=1.45, top=0.75, bottom=0.55, gap=0.22, sharey=True)
    majority = {record["task"]: record["metrics"]["majority"] for record in records}
    theirs = paper("regulargpt/table1").set_index(["task", "row", "metric"])["value"]
    for axes, (row, name) in zip(panels, NETS.items()):
        for place, task in enumerate(TASKS):
            if task in majority:
                axes.plot([100 * majority[task]], [place], "|", color=FAINT, ms=11, mew=1.6, zorder=1)
            for metric in ("greatest", "accuracy"):
                if (task, row, metric) in theirs:
                    _paper(axes, [theirs[task, row, metric]], [place], hollow=metric == "accuracy")
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
def accuracy_by_p(records: Sequence[dict]) -> Figure:
    """Table 2: a panel for every net, Parity with ones of probability p: at length 40 (above) and beyond (below).

    As :func:`accuracy_by_task`, for records of ``regulargpt/table2``; the paper's numbers are means over 3 seeds.

    >>> run = {"task": "0.1", "row": "rnn", "budget": "desk", "metrics": {"accuracy": 0.9, "accuracy_seen": 1.0}}
    >>> len(accuracy_by_p([run]).axes)
    6
    """
    check_one_budget(records)
    rows, tasks = table2.TABLE.rows, table2.TABLE.tasks
    theirs = paper("regulargpt/table2").set_index(["metric", "row", "task"])["value"]
    figure, panels = new_figure(4.2, rows=2, columns=len(rows), left=0.75, right=0.2, top=0.75, bottom=0.5,
                                gap=0.35, sharex=True, sharey=True)  # fmt: skip
    for line, (measure, title) in zip(panels, table2.MEASURES.items()):
        for axes, row in zip(line, rows):
            _paper(axes, [float(task) for task in tasks], [theirs[measure, row, task] for task in tasks], hollow=True)
            for task in tasks:
                shares = [100 * r["metrics"][measure] for r in records if (r["row"], r["task"]) == (row, task)]
                _runs(axes, _beside(float(task), len(shares), 0.03), shares, RECORDED)
            axes.axhline(50, color=FAINT, lw=1.2, ls=(0, (3, 2)), zorder=1)
            axes.set(ylim=(40, 103), xlim=(0, 1), xticks=[float(task) for task in tasks], yticks=[50, 75, 100])
        line[0].set_ylabel(title.replace(" (", "\n("))
    for axes, row in zip(panels[0], rows):
        axes.set_title(NETS[row])
    for axes in panels[-1]:
        axes.set_xlabel("p = P(1)")
    _legend(figure, live=False, seeds=False)
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
    handles += [mark("D", PAPER, "paper, mean of 3", ms=6, mfc="none"), mark("o", RECORDED, "recorded, each seed", ms=4.5)]
    handles += [mark("o", LIVE, "live", ms=4.5)] if live else []
    stroke = mark("|", FAINT, "majority", ms=11, mew=1.6)
    handles.append(stroke if seeds else Line2D([], [], color=FAINT, lw=1.2, ls=(0, (3, 2)), label="majority"))
    figure.legend(handles=handles, loc="upper right", ncols=len(handles), handletextpad=0.3, columnspacing=1.2)


def element_colours(machine: MooreMachine, elements: np.ndarray) -> list[str]:
    """A colour for each element (m, n): that of the answer it gives, where each gives another one.

    >>> colours = element_colours(build_task("parity").machine, np.array([[0, 1], [1, 0]]))
    >>> colours == [value_colour(0, 2), value_colour(1, 2)]
    True
    """
    answers = machine.outputs[elements[:, machine.initial]].tolist()
    values = answers if sorted(answers) == list(range(len(elements))) else range(len(elements))
    return [value_colour(value, len(elements)) for value in values]


def element_names(machine: MooreMachine) -> list[str]:
    """A shortest word for each element of the machine's monoid.

    >>> element_names(build_task("cycle_navigation").machine), element_names(build_task("s_3").machine)
    (['e', '0', '2', '00', '22'], ['e', 's', 't', 'st', 'ts', 'tt'])
    """
    return [printed("".join(machine.symbols[token] for token in word)) or NOTHING
            for word in transition_monoid(machine).words]  # fmt: skip


@styled
def clusters_of_tasks(records: Sequence[Mapping]) -> Figure:
    """A column for each task: above the states of all depths of one net, below how many clusters every net has by depth.

    The net above is that of the least seed; colour, marker and the name above say which element of the transition
    monoid the word below a state realises.  Below, the line is what the algebra predicts, the filled points are that
    net, the hollow ones those of other seeds.

    Parameters
    ----------
    records : list of dict
        Of ``regulargpt/fig3``; the row ``untrained`` is left out.

    Raises
    ------
    ValueError
        If there is no record of a trained net.

    Examples
    --------
    >>> from lrnnlab import tables
    >>> made = list(tables.run_all(tables.plan("regulargpt/fig3", tasks=["parity"], rows=["ours"])))
    >>> [axes.get_title("left") for axes in clusters_of_tasks(made).axes]
    ['Parity', '']
    """
    trained = sorted((r for r in records if r["row"] != "untrained"), key=lambda record: record["seed"])
    tasks = [task for task in CLUSTERED if any(record["task"] == task for record in trained)]
    if not tasks:
        raise ValueError(f"no record of a trained net among {len(records)} records")
    figure, panels = new_figure(4.5, rows=2, columns=len(tasks), left=0.6, right=0.1, top=0.3, gap=0.45, squeeze=False)
    for task, (above, below) in zip(tasks, panels.T):
        first, *others = [record for record in trained if record["task"] == task]
        _plane(above, first)
        _counts(below, first, others)
        above.set_title(CLUSTERED[task])
    panels[0, 0].set_ylabel("second axis")
    panels[1, 0].set_ylabel("clusters")
    return figure


def _plane(axes: Axes, record: Mapping) -> None:
    machine = build_task(record["task"]).machine
    colours, names = element_colours(machine, transition_monoid(machine).elements), element_names(machine)
    points = {name: np.asarray(column) for name, column in record["points"].items()}
    for element in np.unique(points["element"]):
        here = points["element"] == element
        x, y = points["x"][here], points["y"][here]
        axes.plot(x, y, MARKERS[element % len(MARKERS)], color=colours[element], ms=5.5, mec=INK, mew=0.4)
        axes.annotate(names[element], (x.mean(), y.max()), (0, 5), textcoords="offset points", ha="center",
                      fontweight="bold", bbox={"fc": "white", "ec": "none", "pad": 0.4, "alpha": 0.7})  # fmt: skip
    axes.set(xlabel="first axis of PCA", xticks=[], yticks=[])
    axes.margins(0.1, 0.16)


def _counts(axes: Axes, record: Mapping, others: Sequence[Mapping]) -> None:
    depths = record["depths"]
    predicted, found = ([depth[name] for depth in depths] for name in ("predicted", "found"))
    axes.step(range(len(depths)), predicted, where="mid", color=INK, lw=1.4, label="by algebra")
    for other in others:
        axes.plot([depth["found"] for depth in other["depths"]], "o", color=RECORDED, mfc="none", ms=8)
    axes.plot(found, "o", color=RECORDED, ms=5, label="found")
    most = max(*predicted, *(depth["found"] for each in (record, *others) for depth in each["depths"]))
    axes.set(xlabel="letters below a state", ylim=(0, 1.4 * most), xlim=(-0.6, len(depths) - 0.4))
    axes.set_xticks(range(0, len(depths), 2), [str(depth["word"]) for depth in depths[::2]])
    axes.yaxis.get_major_locator().set_params(integer=True)
    axes.tick_params(color=FAINT)
    axes.legend(loc="upper right", ncols=2, handlelength=1.2, columnspacing=0.8)


@styled
def gradients(records: Sequence[Mapping]) -> Figure:
    """The share of the gradient from each position on, a panel a task, a line a net: thick the least seed, thin others.

    The grey line is the straight one: every position counts alike.  In the legend of a panel stands how many answers
    the nets have right at that length, from the worst to the best seed.

    Parameters
    ----------
    records : list of dict
        Of ``regulargpt/fig4``.

    Raises
    ------
    ValueError
        Without records.

    Examples
    --------
    >>> metrics = {"accuracy": 1.0}
    >>> run = {"task": "parity", "row": "rnn", "seed": 0, "gradient": [1.0, 0.5], "metrics": metrics}
    >>> [text.get_text() for text in gradients([run]).axes[0].get_legend().get_texts()]
    ['RNN, 100 %']
    """
    tasks = [task for task in ASKED if any(record["task"] == task for record in records)]
    if not tasks:
        raise ValueError(f"no record of {', '.join(ASKED)} among {len(records)} records")
    figure, panels = new_figure(3.6, columns=len(tasks), left=0.6, top=1.1, gap=0.3, squeeze=False, sharey=True)
    for axes, task in zip(panels[0], tasks):
        _gradients(axes, [record for record in records if record["task"] == task])
        axes.set_title(ASKED[task], pad=68, fontsize=10)
        axes.legend(loc="lower left", bbox_to_anchor=(-0.02, 1.0), handlelength=2.2, borderaxespad=0.1, labelspacing=0.2)
    panels[0, 0].set_ylabel("share of the gradient from here on")
    return figure


def _gradients(axes: Axes, records: Sequence[Mapping]) -> None:
    for row, (name, look) in READERS.items():
        mine = sorted((record for record in records if record["row"] == row), key=lambda record: record["seed"])
        right = [f"{100 * record['metrics']['accuracy']:.0f}" for record in mine]
        told = " to ".join(sorted({min(right, key=int), max(right, key=int)}, key=int)) if mine else ""
        for record in mine:
            first, share = record is mine[0], np.asarray(record["gradient"])
            axes.plot(share, color=look.colour, ls=look.dash, lw=1.8 if first else 0.8, zorder=3 if first else 2,
                      label=f"{name}, {told} %" if first else None)  # fmt: skip
            axes.set(xlim=(0, len(share)), ylim=(0, 1.03), xlabel="position", xticks=[0, len(share) // 2, len(share)])
    axes.plot(axes.get_xlim(), [1, 0], color="#d9d9d9", lw=4, zorder=0)


@styled
def perplexity_by_length(records: Sequence[Mapping]) -> Figure:
    """Perplexity of the last character by length, over that at the trained length; right the paper's, of another text.

    A line is the mean over seeds, the band around it goes from the least to the greatest.  RegularGPT's lines are as
    deep as the text needs; with as many depths as in training, they are thin.  Scales are logarithmic.

    Parameters
    ----------
    records : list of dict
        Of ``regulargpt/table3``.

    Raises
    ------
    ValueError
        Without records.

    Examples
    --------
    >>> run = {"row": "t5", "seed": 0, "metrics": {"perplexity": {"32": 6.0, "64": 6.5}}}
    >>> [axes.get_title("left") for axes in perplexity_by_length([run]).axes]
    ['here: characters, trained on 32', 'paper: words, trained on 512']
    """
    if not records:
        raise ValueError("a picture of perplexities needs records, got 0")
    figure, (ours, right) = new_figure(3.8, columns=2, left=0.6, right=0.9, top=0.35, gap=1.45)
    ends = []
    for row, (name, _, look) in MODELS.items():
        mine = [record["metrics"] for record in records if record["row"] == row]
        if not mine:
            continue
        ends.append(_curve(ours, [found["perplexity"].values() for found in mine], name, look))
        if "trained_depth" in mine[0]:
            held = np.mean([_over_first(found["trained_depth"].values()) for found in mine], axis=0)
            ours.plot(held, color=look.colour, lw=0.9)
        lengths = list(mine[0]["perplexity"])
    _finish(ours, ends, lengths, "here: characters, trained on " + lengths[0], (1, 1.5, 2, 3, 5, 10))
    theirs = paper("regulargpt/table3")
    printed_by = {row: part["value"].tolist() for row, part in theirs.groupby("row")}
    ends = [_curve(right, [printed_by[name]], name, look) for _, name, look in MODELS.values() if name]
    ends.append(_curve(right, [printed_by["256 / 6"]], "256 / 6", Look(PAPER)))
    _finish(right, ends, theirs["task"].unique(), "paper: words, trained on 512", (1, 2, 5, 10, 20, 40))
    ours.set_ylabel("perplexity over that at the trained length")
    return figure


def _over_first(values) -> np.ndarray:
    values = np.array(list(values), dtype=float)
    return values / values[0]


def _curve(axes: Axes, seeds: Sequence, name: str, look: Look) -> tuple[float, str, str]:
    """Draw the mean of some nets' values, each over its first; what is to be written at its end."""
    found = np.array([_over_first(values) for values in seeds])
    axes.fill_between(range(found.shape[1]), found.min(0), found.max(0), color=look.colour, alpha=0.15, lw=0)
    axes.plot(found.mean(0), "o", color=look.colour, ls=look.dash, ms=3.5)
    return found[:, -1].mean(), name, look.colour


def _finish(axes: Axes, ends: list, lengths: Sequence, title: str, ticks: Sequence[float]) -> None:
    axes.axhline(1, color=FAINT, lw=1.0, zorder=0)
    axes.set_yscale("log")
    low, high = 0.8, axes.get_ylim()[1]  # room for the names of those that stay level
    axes.set_ylim(low, high)
    axes.set_yticks([tick for tick in ticks if low <= tick <= high])
    axes.set_yticks([], minor=True)
    axes.yaxis.set_major_formatter("{x:g}")
    axes.set(xlabel="length", xlim=(-0.2, len(lengths) - 0.8))
    axes.set_title(title, fontsize=10)
    axes.set_xticks(range(len(lengths)), [f"{int(length):,}" for length in lengths])
    label_ends(axes, ends)
