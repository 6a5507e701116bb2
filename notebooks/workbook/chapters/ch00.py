"""Chapter 00 (start here): the map of the book."""

from __future__ import annotations

from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch

from workbook.show.style import FAINT, INK, LIVE, PAGE, SMALL, styled

# Of each sitting: its title, its minutes, the chapters that it uses, its place on the map, and what lies behind it.
SITTINGS: dict[str, tuple[str, int, tuple[str, ...], tuple[int, int], tuple[tuple[str, int], ...]]] = {
    "00": ("start here", 15, (), (0, 1), ()),
    "01": ("subtraction", 60, ("00",), (1, 0), ()),
    "02": ("block-diagonal LRNN", 60, ("00",), (1, 1), ()),
    "03": ("parallel scans", 60, ("02",), (2, 1), ()),
    "04": ("rotations", 60, ("00",), (1, 2), ()),
    "05": ("diagonal kernels", 60, ("00",), (1, 3), ()),
    "06": ("ill-conditioned reals", 60, ("05",), (2, 3), ()),
    "07": ("long-range suite", 60, ("05",), (2, 4), ()),
    "08": ("memory in depth", 60, ("03",), (3, 1), ()),
    "09": ("fast weights", 60, ("02",), (2, 2), ()),
    "10": ("one ladder", 60, ("01", "02"), (3, 0), ()),
}
EVENING = ("00", "02", "10")  # the path of one evening


@styled
def map_picture() -> Figure:
    """The sittings with their minutes, what each uses, and the lettered notebooks behind it."""
    figure = Figure(figsize=(PAGE, 7.4))
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(0, 4), ylim=(-4.5, 0.5))
    axes.axis("off")
    for number, (title, minutes, uses, (column, row), behind) in SITTINGS.items():
        evening = number in EVENING
        x, y = column + 0.05, -row + 0.38
        axes.add_patch(FancyBboxPatch((x, y - 0.26), 0.86, 0.28, "round,pad=0,rounding_size=0.04", lw=2 if evening else 1,
                                      edgecolor=LIVE if evening else INK, facecolor="white"))  # fmt: skip
        axes.text(x + 0.03, y - 0.06, f"{number} · {minutes} min", weight="bold", va="center", color=INK)
        axes.text(x + 0.03, y - 0.19, title, va="center", color=INK)
        for line, (name, length) in enumerate(behind):
            axes.text(x + 0.03, y - 0.35 - 0.11 * line, f"{number}{chr(97 + line)} {name} · {length}", va="center", color=INK, size=SMALL)
        for one in uses:
            from_column, from_row = SITTINGS[one][3]
            both = one in EVENING and evening
            axes.annotate("", (x, y - 0.12), (from_column + 0.91, -from_row + 0.26), zorder=0,
                          arrowprops={"arrowstyle": "-|>", "color": LIVE if both else FAINT, "lw": 2 if both else 1.2,
                                      "connectionstyle": "arc3,rad=0.05"})  # fmt: skip
    return figure
