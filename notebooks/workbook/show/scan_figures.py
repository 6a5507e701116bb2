"""Pictures of the scan: who adds what to whom (paper 000, Fig. 1), and what it costs beside the loop (Sec. 4.5).

Letters: L length with x_0 counted, T time, b block size; A transition, x state.
"""

from collections.abc import Sequence

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from workbook.show.frames import picture
from workbook.show.style import FAINT, GRID, INK, LIVE, PAGE, RECORDED, SMALL, SOURCES, new_figure, styled
from workbook.tables.lrnn_fig1 import schedule
from workbook.tables.lrnn_speed import paper_ratio

DONE, CARRIED = RECORDED, LIVE  # a state that is right; what a level carries over
SHORTEST = 0.42  # inches between two positions
WAYS = {"pscan": "PScan", "cpu": "compiled loop", "table": "compiled, by token"}


@styled
def scan_schedule(L: int = 8) -> Figure:
    """Which matrices each level of the scan applies, and to what (Figure 1 of paper 000), read from the code that runs: a circle
    t..s is what the inputs t to s make, filled where a state is right; an arrow adds its product times where it comes from."""
    levels = schedule(L)
    width, edge = min(PAGE, 0.9 + 2.1 * len(levels)), 0.55  # inches; what lies outside the first and last circles
    unit = (width - 2 * edge) / len(levels)  # inches between two levels
    figure, axes = new_figure(SHORTEST * L + 0.55, width=width, left=0, right=0, top=0.45, bottom=0.1)
    begins = list(range(L))  # the first of the inputs that position t holds
    for number in range(len(levels) + 1):
        for t in range(L):
            _circle(axes, number, begins[t], t)
            if number < len(levels):
                axes.plot([number, number + 1], [t, t], color=GRID, lw=1.2, zorder=0)
        for move in levels[number] if number < len(levels) else ():
            _carry(axes, number, move, unit)
            begins[move.target] = begins[move.source]
    names = ["inputs", *(f"after level {i}" for i in range(1, len(levels) + 1))]
    for number, name in enumerate(names):
        axes.text(number, -0.75, name, ha="center", va="bottom", fontsize=10)
    axes.set(xlim=(-edge / unit, len(levels) + edge / unit), ylim=(L - 0.5, -0.6))
    axes.axis("off")
    return figure


def _circle(axes, number, first, last):
    done = first == 0
    text = f"$x_{{{last}}}$" if done else f"$b_{{{last}}}$" if first == last else f"{first}..{last}"
    axes.text(number, last, text, ha="center", va="center", fontsize=SMALL, color="white" if done else INK, zorder=4,
              bbox={"boxstyle": "round,pad=0.3,rounding_size=0.8", "fc": DONE if done else "white",
                    "ec": DONE if done else FAINT, "lw": 1.0})  # fmt: skip


def _carry(axes, number, move, unit):
    """The arrow of one move; at its head, left of the circle that it adds to, the product that it applies."""
    axes.annotate(product_text(move.word), (number + 0.27 / unit, move.source),
                  (number + 1 - 0.3 / unit, move.target),
                  ha="right", va="center", fontsize=SMALL, color=CARRIED, zorder=3,
                  bbox={"boxstyle": "round,pad=0.12", "fc": "white", "ec": "none"},
                  arrowprops={"arrowstyle": "<|-", "color": CARRIED, "relpos": (0, 0.5), "shrinkA": 0, "shrinkB": 0,
                              "mutation_scale": 9, "lw": 1.2})  # fmt: skip


def product_text(word: Sequence[int]) -> str:
    """A product as mathematical text, the middle of one that needs more than five digits left out."""
    if sum(len(str(i)) for i in word) > 5:
        return rf"$A_{{{word[0]}}}\cdots A_{{{word[-1]}}}$"
    return f"${''.join(f'A_{{{i}}}' for i in word)}$"


@picture
def speed_ratios(found: pd.DataFrame, source: str = "recorded") -> Figure:
    """Time over the sequential loop's (``lrnn/speed``) by row and way, ``source`` recorded or live: medians over rounds, and
    from the least to the greatest; a grey diamond is what the paper reports of its own machine."""
    look, paper = SOURCES[source], SOURCES["paper"]
    lines = (len(WAYS) + 1.4) * len(found)
    figure, panels = new_figure(0.24 * lines + 1.3, columns=2, left=1.75, top=0.7, bottom=0.55, gap=0.2, sharey=True)
    heights, names = [], []
    for place, run in enumerate(found.to_dict("records")):
        top, setting = place * (len(WAYS) + 1.4), run["config"]["setting"]
        heights += [top + i for i in range(len(WAYS) + 1)]
        names += [f"T = {setting['length']}, {'training' if setting['training'] else 'testing'}, b = {setting['b']}"]
        names += WAYS.values()
        for axes, part in zip(panels, ("model", "scan")):
            for i, way in enumerate(WAYS, 1):
                least, ratio, most = (run[f"{part}.{way}.{name}"] for name in ("ratio_min", "ratio", "ratio_max"))
                axes.plot([least, most], [top + i] * 2, color=look.colour, lw=4, alpha=0.35)
                axes.plot(ratio, top + i, look.marker, color=look.colour, ms=6)
        if ratio := paper_ratio(run["row"]):
            panels[0].plot(ratio, top + 1, paper.marker, color=paper.colour, ms=6)
    for axes, title in zip(panels, ("the whole model", "the scan alone")):
        axes.axvline(1, color=INK, lw=1.2)
        axes.set(xscale="log", title=title, xlabel="time / time of the sequential loop", ylim=(lines - 1, -0.6))
        axes.grid(False, axis="y")
        axes.tick_params(axis="y", length=0)
        axes.xaxis.set_major_formatter("{x:g}")
    panels[0].set_yticks(heights, names)
    for text in panels[0].get_yticklabels()[:: len(WAYS) + 1]:
        text.set_fontweight("bold")
    shown = [Line2D([], [], marker=one.marker, color=one.colour, ls="none", label=label)
             for one, label in ((look, f"{source}, one thread of a CPU"), (paper, "paper, its GPU (PScan only)"))]
    figure.legend(handles=shown, loc="upper left", ncols=2, borderaxespad=0.2)
    return figure
