"""The norm of the state in networks that learn ListOps (``rotrnn/fig3``): through training, and along a string.

Letters: L layers, t time; x state, c the squared norm aimed at, gamma decay.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lrnnlab.show.style import FAINT, INK, PAPER, SMALL, Look, label_ends, new_figure, styled

NAMES = {"rotrnn": "RotRNN, 8 heads of 8", "rotrnn_pairs": "RotRNN, 32 heads of 2",
         "lru_learned": "LRU, normaliser learned", "lru_recomputed": "LRU, normaliser recomputed"}  # fmt: skip
LOOKS = {"rotrnn": Look("#117733"), "rotrnn_pairs": Look("#44AA99", (0, (6, 1.5))),
         "lru_learned": Look("#AA4499", (0, (3, 1, 1, 1))), "lru_recomputed": Look("#CC6677", (0, (1, 1)))}  # fmt: skip
DASHES = ("-", (0, (6, 1.5)), (0, (3, 1, 1, 1)), (0, (1, 1)))  # by layer
FEWEST = 16  # a mean over fewer strings is not drawn
LABELS = 0.75  # inches on the right of every panel


@styled
def norm_through_training(records: Sequence[Mapping], task: str = "layers4") -> Figure:
    """The mean of |x_t| at every look in training: of one layer in one panel, of more layers in a panel for each row.

    records : of ``rotrnn/fig3``.  A line is the mean over seeds, the band around it goes from the least to the greatest.
    A faint horizontal is the root of the number of parts that are normalised to 1: what a norm tends to under white
    input (with the LRU, as it starts).  ValueError if there is no record of ``task``.

    >>> from lrnnlab import tables
    >>> made = list(tables.run_all(tables.plan("rotrnn/fig3", tasks=["layers1"], rows=["rotrnn"])))
    >>> len(norm_through_training(made, "layers1").axes[0].lines)
    2
    """
    chosen = [record for record in records if record["task"] == task]
    if not chosen:
        raise ValueError(f"no record of {task!r} among {len(records)} records")
    rows = {row: [record for record in chosen if record["row"] == row] for row in NAMES}
    rows = {row: cell for row, cell in rows.items() if cell}
    layers = chosen[0]["config"]["setting"]["layers"]
    groups = [list(rows)] if layers == 1 else [[row] for row in rows]
    columns = min(2, len(groups))
    right = 2.3 if layers == 1 else LABELS
    figure, panels = new_figure(
        2.2 * -(-len(groups) // columns) + 0.7, rows=-(-len(groups) // columns), columns=columns, right=right,
        gap=LABELS + 0.15, top=0.35, squeeze=False, sharex=True, sharey=True,
    )  # fmt: skip
    figure.subplots_adjust(hspace=0.3)
    ends = [_training(axes, {row: rows[row] for row in group}) for axes, group in zip(panels.flat, groups)]
    panels[0, 0].set_ylim(0, None)
    for axes, group, labels in zip(panels.flat, groups, ends):  # the limits, shared by all panels, stand now
        axes.set_title("one layer" if layers == 1 else NAMES[group[0]])
        label_ends(axes, labels)
    for axes in panels.flat[len(groups) :]:
        axes.set_visible(False)
    for axes in panels[:, 0]:
        axes.set_ylabel(r"mean $\|x_t\|$")
    for axes in panels[-1]:
        axes.set_xlabel("step of training")
    return figure


def _training(axes: Axes, rows: Mapping[str, Sequence[Mapping]]) -> list[tuple[float, str, str]]:
    """Draw the layers of each row; what is to be written at the ends of the lines."""
    ends = []
    for row, cell in rows.items():
        step, setting = cell[0]["training"]["step"], cell[0]["config"]["setting"]
        found = np.array([record["training"]["norm"] for record in cell])  # (seeds, looks, L)
        for layer in range(setting["layers"]):
            name = NAMES[row] if setting["layers"] == 1 else f"layer {layer + 1}"
            dash = LOOKS[row].dash if setting["layers"] == 1 else DASHES[layer % len(DASHES)]
            seeds = found[..., layer]
            axes.plot(step, seeds.mean(0), color=LOOKS[row].colour, ls=dash, label=name)
            axes.fill_between(step, seeds.min(0), seeds.max(0), color=LOOKS[row].colour, alpha=0.15, lw=0)
            ends.append((seeds[:, -1].mean(), name, LOOKS[row].colour))
        parts = setting["options"].get("heads", setting["options"]["state"])
        axes.axhline(parts**0.5, color=FAINT, lw=1.0, zorder=1)
        axes.set_xlim(0, step[-1])
    return ends


@styled
def norm_along_time(records: Sequence[Mapping]) -> Figure:
    """Squared norms along a string after training, over what the paper says, a row of panels for each record.

    records : of ``rotrnn/fig3``, of one depth; a column is a layer.  Everything is divided by the limit of the formula
    for white input, so that the paper's flat line is at 1; points: white input, line: the network's own inputs on
    ListOps, as far as 16 strings go.  ValueError without records, or if their depths differ.

    >>> from lrnnlab import tables
    >>> made = list(tables.run_all(tables.plan("rotrnn/fig3", tasks=["layers1"], rows=["rotrnn"])))
    >>> [line.get_label() for line in norm_along_time(made).axes[0].lines]
    ['paper: constant', 'white input, derived', 'white input, measured', 'ListOps']
    """
    depths = {len(record["time"]) for record in records}
    if len(depths) != 1:
        raise ValueError(f"one picture shows records of one depth, got depths {sorted(depths)}")
    layers = depths.pop()
    figure, panels = new_figure(
        2.0 * len(records) + 0.85, rows=len(records), columns=layers, left=0.75, right=0.15, gap=0.15, top=0.65,
        bottom=0.5, squeeze=False, sharex=True, sharey=True,
    )  # fmt: skip
    figure.subplots_adjust(hspace=0.25)
    for number, (line, record) in enumerate(zip(panels, records)):
        for layer, (axes, time) in enumerate(zip(line, record["time"]), 1):
            _time(axes, time, LOOKS[record["row"]].colour)
            axes.set_title(f"{NAMES[record['row']].split(',')[0]}, layer {layer}" if not number or layer == 1 else "")
        line[0].set_ylabel(r"$\mathrm{E}\|x_t\|^2$ / limit")
    for axes in panels[-1]:
        axes.set_xlabel("position t")
    figure.legend(*panels[0, 0].get_legend_handles_labels(), loc="upper center", ncols=4)
    return figure


def _time(axes: Axes, time: Mapping, colour: str) -> None:
    limit, at = time["limit"], np.arange(1, len(time["formula"]) + 1)
    white, formula, real = (np.array(time[name], dtype=float) / limit for name in ("white", "formula", "real"))
    axes.axhline(1, color=PAPER, ls=(0, (4, 3)), label="paper: constant")
    axes.plot(at, formula, color=INK, lw=1.2, label="white input, derived")
    axes.plot(at[::6], white[::6], ls="", marker="o", ms=4, color=INK, label="white input, measured")
    enough = np.array(time["strings"]) >= FEWEST
    axes.plot(at[enough], real[enough], color=colour, label="ListOps")
    axes.set(xlim=(1, at[-1]), yscale="log")
    axes.tick_params(labelsize=SMALL)
