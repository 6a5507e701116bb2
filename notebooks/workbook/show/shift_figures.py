"""Shift drawn (chapter 06): R2 by length, here and in paper 004.

Letters: L length.
"""

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from lrnnlab.tasks.atomic_levels import shift_level
from workbook.show.frames import curves, level, panels, picture
from workbook.show.labels import looks
from workbook.show.style import FAINT, PAPER, SMALL, label_ends
from workbook.tables import get
from workbook.tables.declared import paper
from workbook.tables.kernels import predicted_r2

LOOKS = looks(get("dlr/table2").rows, "dlr/table2")


@picture
def shift_by_length(found: pd.DataFrame) -> Figure:
    """R2 on Shift by length (``dlr/table2``): left ours, mean and range over seeds; right the paper's, in grey.  Dashed: what
    copying the input is worth; pale steps: what the reach of a DLR's modes predicts, all shifts by S <= 2N."""
    steps = sorted(set(found["steps"]))
    sizes = {config["setting"]["options"]["state"] for config in found["config"][found["row"] == "dlr"]}
    here = "".join(f"N = {N:,}, " for N in sizes) + " to ".join(f"{end:,}" for end in sorted({steps[0], steps[-1]}))
    figure, grid = panels([f"here: {here} steps", "paper: N = 4,096, 86,000 steps"], 2, 3.6, "length L", left=0.6, right=0.15,
                          gap=1.35, top=0.35)  # fmt: skip
    grid[0].set(ylabel="R2", ylim=(min(0, found["r2"].min()) - 0.05, 1.05))
    theirs = paper("dlr/table2")
    for axes, runs, value, N in ((grid[0], found, "r2", sizes), (grid[1], theirs, "value", {4096})):
        runs = runs.assign(power=np.log2(runs["task"].astype(int)))
        powers, margin = sorted(set(runs["power"])), 0.4 if axes is grid[0] else 0.7
        axes.set(xlim=(powers[0] - margin, powers[-1] + margin))
        axes.set_xticks(powers, [f"$2^{{{power:.0f}}}$" for power in powers])
        if axes is grid[0]:
            ends = curves(axes, runs, "power", value, LOOKS, bars=True, ms=5, lw=1.4)
            label_ends(axes, [*ends, (shift_level(), f"no shift: {shift_level():.3f}", FAINT)])
        else:
            curves(axes, runs, "power", value, LOOKS, color=PAPER, ms=5, lw=1.2)
            for row, part in runs.groupby("row"):
                first = part.sort_values("power").iloc[0]
                side, shift = ("left", (0, -12)) if len(part) == 1 else ("right", (-6, {"dlr": -4, "sgconv": 3}.get(str(row), 0)))
                axes.annotate(LOOKS[str(row)][0], (first["power"], first[value]), shift, textcoords="offset points",
                              fontsize=SMALL, ha=side, va="center")  # fmt: skip
        level(axes, shift_level())
        for size in N:
            reach = np.arange(*np.ceil(axes.get_xlim()))
            axes.step(reach, [predicted_r2(2 ** int(power), size) for power in reach], where="mid", color=FAINT, lw=6, alpha=0.25,
                      zorder=0, label="predicted for DLR")  # fmt: skip
    return figure
