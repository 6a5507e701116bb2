"""One look for the whole book: sizes, the Okabe-Ito colours, and what each colour means.

A colour means one thing everywhere: the value of a string mod M (:func:`value_colour`), a kind of model
(``labels.yaml``), or where a number comes from (``PAPER`` grey, ``RECORDED`` blue, ``LIVE`` vermilion).

Letters: M modulus.
"""

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, NamedTuple

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.collections import LineCollection
from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure
from matplotlib.image import AxesImage

PAGE = 7.2  # inches: the width of a page's text
DPI = 144  # pixels an inch; a screen shows 96 CSS pixels an inch, so this is crisp up to a scale of 1.5
SMALL = 9  # points: no text is smaller
INK, FAINT, GRID = "#222222", "#8a8a8a", "#d4d4d4"
PAPER, RECORDED, LIVE = "#6b6b6b", "#0072B2", "#D55E00"
# negative purple, zero white, positive orange: told apart with any colour vision; 65 steps look continuous and leave
# room for letters among the 256 colours of a small PNG
DIVERGING = matplotlib.colormaps["PuOr_r"].resampled(65)

STYLE = {
    "font.family": "DejaVu Sans", "font.size": 10, "mathtext.fontset": "dejavusans", "text.usetex": False, "text.color": INK,
    # titles have a fixed height: matplotlib would measure every label to find a free one, at every picture
    "axes.titlesize": 11, "axes.titlelocation": "left", "axes.titley": 1.0, "axes.labelsize": 10, "axes.labelcolor": INK,
    "axes.edgecolor": FAINT, "axes.spines.top": False, "axes.spines.right": False, "axes.axisbelow": True,
    "axes.grid": True, "grid.color": GRID, "grid.linewidth": 0.8, "lines.linewidth": 1.8,
    "xtick.labelsize": SMALL, "ytick.labelsize": SMALL, "xtick.color": FAINT, "ytick.color": FAINT,
    "xtick.labelcolor": INK, "ytick.labelcolor": INK, "legend.fontsize": SMALL, "legend.frameon": False,
    "figure.facecolor": "white", "savefig.facecolor": "white", "figure.dpi": DPI, "savefig.dpi": DPI,
}  # fmt: skip


class Look(NamedTuple):
    """How a line or a point is drawn: the dash and the marker tell it apart where colours do not."""

    colour: str
    dash: object = "-"
    marker: str = "o"


SOURCES = {"paper": Look(PAPER, "-", "D"), "recorded": Look(RECORDED, "-", "o"), "live": Look(LIVE, "-", "s")}


def value_colour(value: int, M: int) -> str:
    """The colour of ``value`` mod M, as "#rrggbb": a closed circle of colours, so that M - 1 is next to 0."""
    if not -1 <= value < M:
        raise ValueError(f"{value} is no value mod {M}: those are 0..{M - 1}, and -1 for no answer")
    return "#ffffff" if value == -1 else to_hex(matplotlib.colormaps["twilight"]((value + 0.25) / M))


def symbol_looks(symbols: Sequence[str]) -> list[Look]:
    """Looks of tokens: numbers have the colour of their place among all, other symbols shades of grey; every marker differs."""
    numbers = sorted((s for s in symbols if s.isdecimal()), key=int)
    others = [s for s in symbols if not s.isdecimal()]
    greys = dict(zip(others, np.linspace(0.1, 0.75, max(1, len(others)))))
    colours = [to_hex((greys[s],) * 3) if s in greys else value_colour(numbers.index(s), len(numbers)) for s in symbols]
    return [Look(colour, "-", "os^vDP*Xdhp<>"[i % 13]) for i, colour in enumerate(colours)]


def ink_on(colour: str) -> str:
    """Black or white, whichever is read more easily on ``colour`` (WCAG 2 contrast)."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(colour)]
    luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    return "#000000" if luminance > 0.179 else "#ffffff"  # where both contrasts are equal


def printed(text: str) -> str:
    """A token's text as it is printed: a hyphen becomes the minus sign that it stands for."""
    return text.replace("-", "\N{MINUS SIGN}")


def styled(draw: Callable) -> Callable:
    """Decorator: run ``draw`` in the book's style, without touching anyone else's matplotlib settings."""

    @wraps(draw)
    def drawn(*arguments, **named):
        with matplotlib.rc_context(STYLE):
            return draw(*arguments, **named)

    return drawn


@styled
def new_figure(height: float = 3.4, *, width: float = PAGE, rows: int = 1, columns: int = 1, left: float = 0.7,
               right: float = 0.2, top: float = 0.4, bottom: float = 0.5, gap: float = 0.4,
               **subplots: Any) -> tuple[Figure, Any]:
    """(Figure, axes) in the book's style; every length is in inches, ``gap`` is what lies between two panels."""
    figure = Figure(figsize=(width, height), dpi=DPI)
    axes = figure.subplots(rows, columns, **subplots)
    across = (width - left - right - gap * (columns - 1)) / columns
    down = (height - top - bottom - gap * (rows - 1)) / rows
    if min(across, down) <= 0:
        raise ValueError(f"no room for {rows} x {columns} panels on {width} x {height} inches within these margins")
    figure.subplots_adjust(left / width, bottom / height, 1 - right / width, 1 - top / height, gap / across, gap / down)
    return figure, axes


def canvas(height: float, width: float = PAGE) -> tuple[Figure, Axes]:
    """(Figure, axes) without margins, frame or ticks, on which every place is in inches from the lower left corner."""
    figure, axes = new_figure(height, width=width, left=0, right=0, top=0, bottom=0)
    axes.set(xlim=(0, width), ylim=(0, height))
    axes.set_axis_off()
    return figure, axes


def heatmap(axes: Axes, values: Any, limit: float = 1.0, say: Callable[[float], str] | None = None, least: float = 0.0,
            **image: Any) -> AxesImage:  # fmt: skip
    """Numbers as colours, from -limit to limit; ``say`` writes those of size ``least`` or more into their cells."""
    drawn = axes.imshow(values, **{"cmap": DIVERGING, "vmin": -limit, "vmax": limit, "aspect": "auto",
                                   "interpolation": "nearest", **image})  # fmt: skip
    for (row, column), value in np.ndenumerate(values) if say else ():
        if abs(value) >= least:  # not where none is there
            axes.text(column, row, say(value), ha="center", va="center", fontsize=SMALL,
                      color=ink_on(to_hex(drawn.cmap(drawn.norm(value)))))  # fmt: skip
    axes.grid(False)
    return drawn


def colour_bar(figure: Figure, drawn: ScalarMappable) -> None:
    """A colour bar for ``drawn``, 0.12 inches wide and at most two high, in the margin right of the last axes."""
    box, (width, height) = figure.axes[-1].get_position(), figure.get_size_inches()
    tall = min(box.height, 2 / height)
    bar = figure.colorbar(drawn, cax=figure.add_axes((box.x1 + 0.15 / width, box.y1 - tall, 0.12 / width, tall)))
    bar.outline.set_edgecolor(FAINT)
    bar.ax.grid(False)


def label_ends(axes: Axes, ends: Sequence[tuple[float, str, str]] | None = None) -> list:
    """Write labels in the right margin at the heights of line ends: ``ends`` holds (y, text, colour), by default those of
    the lines that have a label."""
    if ends is None:
        ends = [(float(line.get_ydata(orig=False)[-1]), str(line.get_label()), line.get_color()) for line in axes.lines
                if not str(line.get_label()).startswith("_")]  # fmt: skip
    points = 72 * axes.figure.get_size_inches()[1] * axes.get_position().height
    to_axes = axes.transData - axes.transAxes
    at = to_axes.transform([(axes.get_xlim()[1], y) for y, *_ in ends])[:, 1].clip(0, 1)
    placed = spread_apart(at.round(4), 1.3 * SMALL / points)
    strokes = [[(1, true), (1.012, y), (1.028, y)] for true, y in zip(at, placed)]
    axes.add_collection(LineCollection(strokes, colors=[colour for *_, colour in ends], lw=1.2, clip_on=False,
                                       transform=axes.transAxes), autolim=False)
    return [axes.text(1.035, y, text, transform=axes.transAxes, va="center", fontsize=SMALL, color=INK)
            for y, (_, text, _) in zip(placed, ends)]


def spread_apart(heights: Sequence[float], gap: float) -> np.ndarray:
    """Heights at least ``gap`` apart, in the same order, as near the given ones as least squares allows."""
    from scipy.optimize import isotonic_regression  # a sixth of a second to load

    heights = np.asarray(heights, dtype=float)
    order, gaps = np.argsort(heights, kind="stable"), gap * np.arange(len(heights))
    placed = np.empty_like(heights)
    placed[order] = isotonic_regression(heights[order] - gaps).x + gaps
    return placed
