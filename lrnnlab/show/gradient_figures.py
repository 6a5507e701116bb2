"""How far back networks look (paper 002, Sec. 6 and 7.4): cumulative gradients, and perplexity by length.

Letters: T time, C chunk, K thickness, L depths.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lrnnlab.tables import regulargpt_table3 as table3
from lrnnlab.show.style import FAINT, PAPER, Look, label_ends, new_figure, styled

NETS = {
    "regulargpt_c2": ("RegularGPT", Look("#0072B2")), "transformer": ("Transformer", Look("#E69F00", (0, (6, 1.5)))),
    "rnn": ("RNN", Look("#882255", (0, (3, 1.2)))), "lrnn": ("LRNN", Look("#009E73", (0, (1, 1.2)))),
}  # fmt: skip
TASKS = {"parity": "Parity: all bits", "even_pairs": "Even Pairs: first and last", "suffix": "Suffix: the last four"}
MODELS = {  # row of table3: its name here and in the paper's table, and its look
    "kerple": ("KERPLE", "KERPLE", Look("#8a8a8a", (0, (6, 1.5)))), "t5": ("T5", "T5", Look("#8a8a8a", (0, (2, 1)))),
    "alibi": ("ALiBi", "ALiBi", Look("#8a8a8a", (0, (4, 1, 1, 1)))),
    "c8k1": ("8 / 1", "", Look("#CC79A7")), "c8k2": ("8 / 2", "32 / 6", Look("#882255")),
    "c16k2": ("16 / 2", "64 / 6", Look("#E69F00")), "c24k2": ("24 / 2", "128 / 6", Look("#0072B2")),
    "c8k2_gpt2": ("8 / 2, GPT-2", "", Look("#332288")),
}  # fmt: skip


@styled
def gradients(records: Sequence[Mapping]) -> Figure:
    """The share of the gradient from each position on, a panel a task, a line a net: thick the least seed, thin others.

    records : of ``regulargpt/fig4``.  The grey line is the straight one: every position counts alike.  In the legend
    of a panel stands how many answers the nets have right at that length, from the worst to the best seed.  ValueError
    without records.

    >>> metrics = {"accuracy": 1.0}
    >>> run = {"task": "parity", "row": "rnn", "seed": 0, "gradient": [1.0, 0.5], "metrics": metrics}
    >>> [text.get_text() for text in gradients([run]).axes[0].get_legend().get_texts()]
    ['RNN, 100 %']
    """
    tasks = [task for task in TASKS if any(record["task"] == task for record in records)]
    if not tasks:
        raise ValueError(f"no record of {', '.join(TASKS)} among {len(records)} records")
    figure, panels = new_figure(
        3.6, columns=len(tasks), left=0.6, right=0.2, top=1.1, gap=0.3, squeeze=False, sharey=True
    )
    for axes, task in zip(panels[0], tasks):
        _gradients(axes, [record for record in records if record["task"] == task])
        axes.set_title(TASKS[task], pad=68, fontsize=10)
        axes.legend(
            loc="lower left", bbox_to_anchor=(-0.02, 1.0), handlelength=2.2, borderaxespad=0.1, labelspacing=0.2
        )
    panels[0, 0].set_ylabel("share of the gradient from here on")
    return figure


def _gradients(axes: Axes, records: Sequence[Mapping]) -> None:
    for row, (name, look) in NETS.items():
        mine = sorted((record for record in records if record["row"] == row), key=lambda record: record["seed"])
        right = [f"{100 * record['metrics']['accuracy']:.0f}" for record in mine]
        told = " to ".join(sorted({min(right, key=int), max(right, key=int)}, key=int)) if mine else ""
        for record in mine:
            first, share = record is mine[0], np.asarray(record["gradient"])
            axes.plot(
                share, color=look.colour, ls=look.dash, lw=1.8 if first else 0.8, zorder=3 if first else 2,
                label=f"{name}, {told} %" if first else None,
            )  # fmt: skip
            axes.set(xlim=(0, len(share)), ylim=(0, 1.03), xlabel="position", xticks=[0, len(share) // 2, len(share)])
    axes.plot(axes.get_xlim(), [1, 0], color="#d9d9d9", lw=4, zorder=0)


@styled
def perplexity_by_length(records: Sequence[Mapping]) -> Figure:
    """Perplexity of the last character by length, over that at the trained length; right the paper's, of another text.

    records : of ``regulargpt/table3``; a line is the mean over seeds, the band around it goes from the least to the
    greatest.  RegularGPT's lines are as deep as the text needs; with as many depths as in training, they are thin.
    Scales are logarithmic.  ValueError without records.

    >>> run = {"row": "t5", "seed": 0, "metrics": {"perplexity": {"32": 6.0, "64": 6.5}}}
    >>> [axes.get_title("left") for axes in perplexity_by_length([run]).axes]
    ['here: characters, trained on 32', 'paper: words, trained on 512']
    """
    if not records:
        raise ValueError("a picture of perplexities needs records, got 0")
    figure, (ours, paper) = new_figure(3.8, columns=2, left=0.6, right=0.9, top=0.35, gap=1.45)
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
    ends = [_curve(paper, [table3.PAPER[name]], name, look) for _, name, look in MODELS.values() if name]
    ends.append(_curve(paper, [table3.PAPER["256 / 6"]], "256 / 6", Look(PAPER)))
    _finish(paper, ends, table3.PAPER_LENGTHS, "paper: words, trained on 512", (1, 2, 5, 10, 20, 40))
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
