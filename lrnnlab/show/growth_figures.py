"""How states grow under each column rule (``lrnn/growth``): by rule, by p and by what the rule is given.

Letters: p the norm, b block size, k step; A transition, x state.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure

from lrnnlab.analysis import FLOAT32_MAX
from lrnnlab.show.style import FAINT, FAMILIES, INK, SMALL, Look, label_ends, new_figure, styled
from lrnnlab.tables.lrnn_growth import bound

KINDS = ("gaussian", "positive")  # of blocks, a column each
FREE = Look("#000000", (0, (1, 1.5)))  # no rule
REACH = 300  # powers of ten shown up and down
LABELS = 1.2  # inches on the right of every panel


@styled
def growth_by_rule(records: Sequence[Mapping]) -> Figure:
    """How the state's norm grows or shrinks with B u = 0: a row of panels for each p, a column for each kind of blocks.

    A line is the median over chains, the band around it goes from the least to the greatest.

    Parameters
    ----------
    records : list of dict
        Of ``lrnn/growth``, one for every kind in ``KINDS`` and every rule that is to be drawn.

    Raises
    ------
    ValueError
        If there is no record of a kind.

    Examples
    --------
    >>> from lrnnlab import tables
    >>> made = list(tables.run_all(tables.plan("lrnn/growth", tasks=KINDS, rows=["unit"])))
    >>> growth_by_rule(made).axes[2].get_title("left")
    'p = 1.2, gaussian blocks'
    """
    for kind in KINDS:
        if not any(record["task"] == kind for record in records):
            raise ValueError(f"no record of growth on {kind} columns among {len(records)} records")
    setting = records[0]["config"]["setting"]
    norms = dict.fromkeys(p for record in records for p in record["config"]["setting"]["norms"] if p is not None)
    if not norms:
        raise ValueError(f"no record of a rule with a p among {len(records)} records")
    figure, panels = new_figure(2.3 * len(norms) + 0.55, rows=len(norms), columns=len(KINDS), left=0.8, right=LABELS,
                                gap=LABELS, top=0.35, bottom=0.5, sharex=True, sharey=True)  # fmt: skip
    figure.subplots_adjust(hspace=0.2)  # labels stand beside the panels, not between the rows
    for line, p in zip(np.reshape(panels, (len(norms), len(KINDS))), norms):
        for axes, kind in zip(line, KINDS):
            chosen = [record for record in records if record["task"] == kind]
            _growth(axes, chosen, p, setting["b"])
            axes.set_title(f"p = {p:g}, {kind} blocks")
        line[0].set_ylabel(r"$\|x_k\|_1\, /\, \|x_0\|_1$")
    for axes in panels[-1]:
        axes.set_xlabel("step k")
    panels[-1, 0].annotate("dashed: where float32 ends", (0, 0), (6, 6), xycoords="axes fraction",
                           textcoords="offset points", fontsize=SMALL)
    return figure


def _growth(axes, records, p, b):
    ends = []
    for record in records:
        curves, lengths = record["curves"], [0, *record["config"]["setting"]["lengths"]]
        found = curves[f"{p:g}" if f"{p:g}" in curves else "any"]["state"]
        look = FAMILIES.get(record["row"], FREE)
        middle, low, high = ([0, *found[name]] for name in ("median", "min", "max"))
        axes.plot(lengths, middle, color=look.colour, ls=look.dash, label=record["row"])
        axes.fill_between(lengths, low, high, color=look.colour, alpha=0.2, lw=0)
        beyond = f", to $10^{{{middle[-1]:.0f}}}$" if abs(middle[-1]) > REACH else ""
        ends.append((middle[-1], record["row"] + beyond, look.colour))
    most = bound(p, b, lengths)
    axes.plot(lengths, most, color=INK, lw=1.0, label="most possible", zorder=1)
    ends.append((most[-1], "most by Eq. 6", INK))
    for sign in (1, -1):
        axes.axhline(sign * np.log10(FLOAT32_MAX), color=FAINT, lw=1.2, ls=(0, (4, 3)))
    axes.set(xlim=(0, lengths[-1]), ylim=(-REACH, REACH))
    axes.set_yticks(range(-200, 201, 100), [f"$10^{{{t}}}$" if t else "1" for t in range(-200, 201, 100)])
    label_ends(axes, ends)
