"""The norm of the state in networks that learn ListOps (``rotrnn/fig3``), through training.

Letters: L layers, t time; x state.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lrnnlab.show.style import FAINT, Look, label_ends, new_figure, styled

NAMES = {"rotrnn": "RotRNN, 8 heads of 8", "rotrnn_pairs": "RotRNN, 32 heads of 2",
         "lru_learned": "LRU, normaliser learned", "lru_recomputed": "LRU, normaliser recomputed"}  # fmt: skip
LOOKS = {"rotrnn": Look("#117733"), "rotrnn_pairs": Look("#44AA99", (0, (6, 1.5))),
         "lru_learned": Look("#AA4499", (0, (3, 1, 1, 1))), "lru_recomputed": Look("#CC6677", (0, (1, 1)))}  # fmt: skip
DASHES = ("-", (0, (6, 1.5)), (0, (3, 1, 1, 1)), (0, (1, 1)))  # by layer
LABELS = 0.75  # inches on the right of every panel


@styled
def norm_through_training(records: Sequence[Mapping], task: str = "layers4") -> Figure:
    """The mean of |x_t| at every look in training: of one layer in one panel, of more layers in a panel for each row.

    A line is the mean over seeds, the band around it goes from the least to the greatest.  A faint horizontal is the
    root of the number of parts that are normalised to 1: what a norm tends to under white input (with the LRU, as it
    starts).

    Parameters
    ----------
    records : list of dict
        Of ``rotrnn/fig3``.
    task : str
        Which of them.

    Raises
    ------
    ValueError
        If there is no record of ``task``.

    Examples
    --------
    >>> from lrnnlab import tables
    >>> made = list(tables.run_all(tables.plan("rotrnn/fig3", tasks=["layers1"], rows=["rotrnn"])))
    >>> len(norm_through_training(made, "layers1").axes[0].lines)
    2
    """
    chosen = [record for record in records if record["task"] == task]
    if not chosen:
        raise ValueError(f"no record of {task!r} among {len(records)} records")
    rows = {row: cell for row in NAMES if (cell := [record for record in chosen if record["row"] == row])}
    layers = chosen[0]["config"]["setting"]["layers"]
    groups = [list(rows)] if layers == 1 else [[row] for row in rows]
    columns = min(2, len(groups))
    right = 2.3 if layers == 1 else LABELS
    lines = -(-len(groups) // columns)
    figure, panels = new_figure(2.2 * lines + 0.7, rows=lines, columns=columns, right=right, gap=LABELS + 0.15, top=0.35,
                                squeeze=False, sharex=True, sharey=True)  # fmt: skip
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
