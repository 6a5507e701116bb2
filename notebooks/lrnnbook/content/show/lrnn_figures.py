"""Paper 000 drawn: how states grow under each column rule, why soft nets fade, the scan and its speed.

Letters: p the norm, b block size, k step, T time, L length with x_0 counted; A transition, x state.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from lrnnbook.content.show.frames import curves, handle, level, log_ticks, panels, picture, runs_of, setting, trained
from lrnnbook.content.show.labels import look, looks
from lrnnbook.content.show.style import (
    FAINT,
    GRID,
    INK,
    LIVE,
    PAGE,
    RECORDED,
    SMALL,
    SOURCES,
    Look,
    label_ends,
    new_figure,
    styled,
)
from lrnnbook.content.tables.lrnn_fig1 import schedule
from lrnnbook.content.tables.lrnn_growth import FLOAT32_MAX, bound
from lrnnbook.content.tables.lrnn_speed import paper_ratio
from lrnnbook.content.tables.results import ordered

# --- growth by rule, by p and by what the rule is given (``lrnn/growth``) ---------------------------------------------

KINDS = ("gaussian", "positive")  # of blocks, a column each
POWERS = 300  # powers of ten shown up and down


@picture
def growth_by_rule(found: pd.DataFrame) -> Figure:
    """How the state's norm grows or shrinks with B u = 0: a row of panels for each p, a column for each kind of blocks."""
    settings = [config["setting"] for config in found["config"]]
    norms = list(dict.fromkeys(p for one in settings for p in one["norms"] if p is not None))
    lengths, b = [0, *setting(found)["lengths"]], setting(found)["b"]
    figure, grid = panels([f"p = {p:g}, {kind} blocks" for p in norms for kind in KINDS], len(KINDS), 2.3 * len(norms) + 0.55,
                          "step k", r"$\|x_k\|_1\, /\, \|x_0\|_1$", left=0.8, right=1.2, gap=1.2, top=0.35, bottom=0.5,
                          sharex=True)  # fmt: skip
    figure.subplots_adjust(hspace=0.2)  # labels are beside the panels, not between the rows
    for axes, (p, kind) in zip(grid, [(p, kind) for p in norms for kind in KINDS]):
        runs = runs_of(found, task=kind).itertuples()
        here = {run.row: run.curves.get(f"{p:g}", run.curves.get("any"))["state"] for run in runs}
        states = pd.concat([pd.DataFrame(state).assign(row=row, k=lengths[1:]) for row, state in here.items()])
        start = pd.DataFrame({"row": list(here), "k": 0, "median": 0, "min": 0, "max": 0})
        ends = curves(axes, pd.concat([start, states]), "k", ["median", "min", "max"], looks(here))
        beyond = [f", to $10^{{{end:.0f}}}$" if abs(end) > POWERS else "" for end, *_ in ends]
        most = bound(p, b, lengths)
        axes.plot(lengths, most, color=INK, lw=1.0, label="most possible", zorder=1)
        for sign in (1, -1):
            level(axes, sign * np.log10(FLOAT32_MAX))
        axes.set(xlim=(0, lengths[-1]), ylim=(-POWERS, POWERS))
        axes.set_yticks(range(-200, 201, 100), [f"$10^{{{t}}}$" if t else "1" for t in range(-200, 201, 100)])
        named = [(end, name + more, colour) for (end, name, colour), more in zip(ends, beyond)]
        label_ends(axes, [*named, (most[-1], "most by Eq. 6", INK)])
    grid[-2].annotate("dashed: where float32 ends", (0, 0), (6, 6), xycoords="axes fraction", textcoords="offset points",
                      fontsize=SMALL)  # fmt: skip
    return figure


# --- the way to a wrong answer by position, and horizons (``lrnn/fading``) --------------------------------------------

FITS = {"10-200": ("predicted from 10 to 200", "o", 11), "10-40": ("from 10 to 40", "d", 7)}  # its marker, and how large
REACH = (0.015, 2)  # of the ratio: above the threshold everything is wrong soon
TRAINED = 40  # the longest string seen in training
FIRST = 2  # the first position drawn: at 1 the states of a class are one point


@picture
def fading(found: pd.DataFrame) -> Figure:
    """How far the strings of each row have gone to a wrong answer, by position (``readout``, at 1 where 1 % of the answers are
    wrong; a cross where float32 overflows); below, horizons predicted and seen."""
    found = ordered(found)
    length = setting(found)["length"]
    below, above = 0.21 * len(found) + 0.1, 2.6
    figure, (upper, lower) = new_figure(above + below + 1.55, rows=2, left=0.95, right=1.25, top=0.5, bottom=0.5,
                                        sharex=True, height_ratios=(above, below))  # fmt: skip
    upper.set(yscale="log", xlim=(FIRST, 1.6 * length), ylim=REACH, ylabel="gone of the way to an error")
    log_ticks(upper, y={0.03: "3 %", 0.1: "10 %", 0.3: "30 %", 1: "100 %"})
    log_ticks(lower, x=[tick for tick in (2, 10, 40, 200, 500, 1000, 2000) if tick <= length])
    _curves(upper, found)
    _horizons(lower, found, length)
    for axes in (upper, lower):
        axes.axvspan(FIRST, TRAINED, color="#f1f1f1", zorder=0)
        axes.axvline(TRAINED, color=FAINT, lw=1.2, zorder=0.5)
    trained(upper, TRAINED, above=True)
    lower.set_xlabel("position in the string")
    return figure


def _curves(axes: Axes, found: pd.DataFrame) -> None:
    ends: dict[str, list[float]] = {}
    for run in found.itertuples():
        of = look(run.row)
        ratio = pd.Series(run.curves["readout"], run.curves["position"], dtype=float)
        ratio = ratio[(ratio.index >= FIRST) & (ratio > 0)]
        if ratio.empty:  # nowhere nearer to an error than at the start
            continue
        axes.plot(ratio.index, ratio, color=of.colour, ls=of.dash, lw=1.5, label=f"{run.row} {run.seed}")
        if not np.isnan(run.overflow):
            end = run.overflow - 1
            high = min(ratio.iloc[-1], REACH[1]) if ratio.index[-1] == end else REACH[1]  # of float32 nothing is left to compare
            axes.plot([end], [high], "x", color=INK, ms=6, mew=1.5, zorder=4, clip_on=False)
        ends.setdefault(run.row, []).append(float(np.clip(ratio.iloc[-1], *REACH)))
    level(axes, 1, color=INK, ls=(0, (4, 3)), zorder=2)
    axes.annotate("here 1 % of the answers are wrong", (FIRST, 1), (4, 4), textcoords="offset points", fontsize=SMALL)
    label_ends(axes, [(float(np.median(heights)), row, look(row).colour) for row, heights in ends.items()])


def _horizons(axes: Axes, found: pd.DataFrame, length: int) -> None:
    """A row of marks for each run; an arrow at its end for what lies beyond the length."""
    beyond = 1.25 * length
    for place, (_, run) in enumerate(found.iterrows()):
        colour, seen = look(run["row"]).colour, beyond if np.isnan(run["seen"]) else run["seen"]
        axes.plot([seen], [place], ">" if seen == beyond else "o", color=colour, mec=INK, mew=0.6, ms=7, zorder=3)
        for fit, (_, marker, size) in FITS.items():
            at = run[f"predicted.{fit}.horizon"]
            at = at if at <= length else beyond  # NaN is beyond, too
            axes.plot([at], [place], marker, mfc="none", mec=INK, mew=1.1, ms=size, zorder=4)
            axes.plot([at, seen], [place] * 2, color=colour, lw=1.5, zorder=2)
        if not run["learned"]:
            axes.annotate("not learned", (seen, place), (8, 0), textcoords="offset points", va="center", fontsize=SMALL)
    axes.axvline(length, color=FAINT, lw=1.2, ls=(0, (1, 2)))
    axes.set_yticks(range(len(found)), [f"{run.row} {run.seed}" for run in found.itertuples()])
    axes.set(ylim=(len(found) - 0.4, -0.6))
    axes.tick_params(axis="y", length=0)
    axes.grid(False, axis="y")
    axes.annotate(f"beyond\n{length:,}", (1, 0.5), (6, 0), xycoords="axes fraction", textcoords="offset points",
                  va="center", fontsize=SMALL)
    handles = [
        handle("seen", Look(FAINT, "", "o"), mec=INK, mew=0.6, ms=7),
        *(handle(name, Look(INK, "", marker), mfc="none", mew=1.1, ms=size) for name, marker, size in FITS.values()),
        handle("float32 overflows", Look(INK, "", "x"), ms=6, mew=1.5),
    ]
    axes.legend(handles=handles, loc="lower left", bbox_to_anchor=(0, 1), ncols=4, handletextpad=0.2, columnspacing=0.9)


# --- who adds what to whom (Fig. 1), and what it costs beside the loop (Sec. 4.5) -------------------------------------

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
