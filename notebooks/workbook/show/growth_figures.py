"""How states grow under each column rule (``lrnn/growth``): by rule, by p and by what the rule is given.

Letters: p the norm, b block size, k step; A transition, x state.
"""

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from workbook.show.frames import chosen, curves, level, panels, picture, setting
from workbook.show.labels import looks
from workbook.show.style import INK, SMALL, label_ends
from workbook.tables.lrnn_growth import FLOAT32_MAX, bound

KINDS = ("gaussian", "positive")  # of blocks, a column each
REACH = 300  # powers of ten shown up and down


@picture
def growth_by_rule(found: pd.DataFrame) -> Figure:
    """How the state's norm grows or shrinks with B u = 0: a row of panels for each p, a column for each kind of blocks."""
    settings = [config["setting"] for config in found["config"]]
    norms = list(dict.fromkeys(p for one in settings for p in one["norms"] if p is not None))
    lengths, b = [0, *setting(found)["lengths"]], setting(found)["b"]
    figure, grid = panels([f"p = {p:g}, {kind} blocks" for p in norms for kind in KINDS], len(KINDS), 2.3 * len(norms) + 0.55,
                          "step k", r"$\|x_k\|_1\, /\, \|x_0\|_1$", left=0.8, right=1.2, gap=1.2, top=0.35, bottom=0.5,
                          sharex=True)  # fmt: skip
    figure.subplots_adjust(hspace=0.2)  # labels stand beside the panels, not between the rows
    for axes, (p, kind) in zip(grid, [(p, kind) for p in norms for kind in KINDS]):
        runs = chosen(found, task=kind).itertuples()
        here = {run.row: run.curves.get(f"{p:g}", run.curves.get("any"))["state"] for run in runs}
        states = pd.concat([pd.DataFrame(state).assign(row=row, k=lengths[1:]) for row, state in here.items()])
        start = pd.DataFrame({"row": list(here), "k": 0, "median": 0, "min": 0, "max": 0})
        ends = curves(axes, pd.concat([start, states]), "k", ["median", "min", "max"], looks(here))
        beyond = [f", to $10^{{{end:.0f}}}$" if abs(end) > REACH else "" for end, *_ in ends]
        most = bound(p, b, lengths)
        axes.plot(lengths, most, color=INK, lw=1.0, label="most possible", zorder=1)
        for sign in (1, -1):
            level(axes, sign * np.log10(FLOAT32_MAX))
        axes.set(xlim=(0, lengths[-1]), ylim=(-REACH, REACH))
        axes.set_yticks(range(-200, 201, 100), [f"$10^{{{t}}}$" if t else "1" for t in range(-200, 201, 100)])
        named = [(end, name + more, colour) for (end, name, colour), more in zip(ends, beyond)]
        label_ends(axes, [*named, (most[-1], "most by Eq. 6", INK)])
    grid[-2].annotate("dashed: where float32 ends", (0, 0), (6, 6), xycoords="axes fraction", textcoords="offset points",
                      fontsize=SMALL)  # fmt: skip
    return figure
