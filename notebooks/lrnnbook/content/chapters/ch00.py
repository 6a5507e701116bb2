"""Chapter 00 (start here): the map of the book, and its two networks to play with."""

from collections.abc import Mapping

from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch

from lrnnbook.content.chapters import playground
from lrnnbook.content.show.interactive import Moving
from lrnnbook.content.show.style import FAINT, INK, LIVE, PAGE, SMALL, styled
from lrnnlab import task
from lrnnlab.models import Net

Minutes = tuple[int, int]  # to read, and for the exercises
# Of each sitting: its title, its minutes, the chapters that it uses, its place on the map, and its lettered notebooks.
SITTINGS: dict[str, tuple[str, Minutes, tuple[str, ...], tuple[int, float], tuple[tuple[str, Minutes], ...]]] = {
    "00": ("start here", (15, 25), (), (0, 1.3), ()),
    "01": ("subtraction", (60, 65), ("00",), (1, 0), (
        ("stored inputs", (15, 25)), ("sum and last letters", (30, 15)), ("two layers", (10, 0)), ("turns and resets", (20, 5)),
        ("groups and depth", (25, 10)), ("block size", (20, 20)), ("liquid s4", (10, 15)),
    )),
    "02": ("block-diagonal LRNN", (50, 80), ("00",), (1, 1.3), (
        ("stability", (20, 5)), ("fading", (30, 5)), ("modarith and the table", (25, 80)), ("column rules", (30, 0)),
        ("train and verify by hand", (20, 20)),
    )),
    "03": ("parallel scans", (50, 55), ("02",), (2, 1.3), (
        ("other roads", (20, 15)), ("paper listings", (15, 0)), ("benchmark", (35, 15)), ("floats", (25, 0)),
    )),
    "04": ("rotations", (60, 50), ("00",), (1, 2.4), (
        ("layer in code", (20, 10)), ("every rotation", (25, 10)), ("constant norm", (20, 0)), ("coloured inputs", (30, 15)),
        ("lru wider heads", (15, 0)), ("norm in training", (20, 0)), ("kept and reported", (15, 0)),
    )),
    "05": ("diagonal kernels", (50, 80), ("00",), (1, 3.7), (
        ("layer and fft", (15, 5)), ("delay line and dss", (25, 10)), ("where modes start", (15, 0)), ("exact shifts", (20, 10)),
        ("product of kernels", (20, 15)), ("shift and reverse", (25, 5)),
    )),
    "06": ("ill-conditioned reals", (55, 75), ("05",), (2, 3.7), (
        ("best nodes", (15, 10)), ("every shift", (25, 0)), ("nearly exact", (10, 35)), ("reach", (25, 20)),
        ("paper checked", (20, 0)), ("running sum", (10, 10)),
    )),
    "07": ("long-range suite", (40, 50), ("05",), (2, 4.85), (
        ("theorems proved", (35, 20)), ("all benchmarks", (30, 5)),
    )),
    "08": ("memory in depth", (60, 65), ("03",), (3, 1.3), (
        ("tree and masks", (15, 10)), ("order of composition", (20, 15)), ("lemma 1 in use", (25, 15)), ("errors double", (15, 35)),
        ("paper checked", (20, 0)), ("clusters and gradients", (35, 5)), ("text and cost", (15, 10)),
    )),
    "09": ("fast weights", (55, 45), ("02",), (3, 3.2), (
        ("delta rule", (15, 15)), ("rational outputs", (20, 0)), ("counting brackets", (20, 15)), ("even lengths", (20, 0)),
        ("bounded depth", (25, 0)), ("found counter", (30, 0)), ("feedback", (20, 0)), ("reflections", (25, 25)), ("paper checked", (20, 0)),
    )),
    "10": ("one ladder", (55, 60), ("01", "02"), (3, 0), (
        ("more theorems", (50, 15)), ("when nets fail", (20, 35)), ("whole ladder", (30, 10)), ("recurrence puzzles", (10, 0)),
    )),
}
EVENING = ("00", "02", "10")  # the path of one evening
LEFT, WIDTH = (0.01, 0.62, 1.88, 2.85), (0.53, 0.88, 0.86, 0.86)  # of the boxes, by column


def lasts(minutes: Minutes) -> str:
    """What the map says of a chapter's minutes: ``45+80``, or ``30`` where it has no exercise."""
    return "+".join(map(str, filter(None, minutes)))


@styled
def map_picture() -> Figure:
    """The sittings with their minutes, what each uses, and the lettered notebooks behind it."""
    figure = Figure(figsize=(PAGE, 7.6))
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(0, 4), ylim=(-5.3, 0.5))
    axes.axis("off")
    for number, (title, minutes, uses, (column, row), behind) in SITTINGS.items():
        evening = number in EVENING
        x, y = LEFT[column], -row + 0.38
        axes.add_patch(FancyBboxPatch((x, y - 0.26), WIDTH[column], 0.28, "round,pad=0,rounding_size=0.04", lw=2 if evening else 1,
                                      edgecolor=LIVE if evening else INK, facecolor="white"))  # fmt: skip
        axes.text(x + 0.03, y - 0.06, f"{number} · {lasts(minutes)}", weight="bold", va="center", color=INK)
        axes.text(x + 0.03, y - 0.19, title, va="center", color=INK)
        for line, (name, length) in enumerate(behind):
            axes.text(x + 0.03, y - 0.36 - 0.115 * line, f"{chr(97 + line)} {name} · {lasts(length)}", va="center", color=INK, size=SMALL,
                      bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.5})
        for one in uses:
            from_column, from_row = SITTINGS[one][3]
            both = one in EVENING and evening
            bend = 0.3 if column - from_column > 1 and row > from_row else 0.05  # around the list between them
            axes.annotate("", (x, y - 0.12), (LEFT[from_column] + WIDTH[from_column], -from_row + 0.26), zorder=0,
                          arrowprops={"arrowstyle": "-|>", "color": LIVE if both else FAINT, "lw": 2 if both else 1.2,
                                      "connectionstyle": f"arc3,rad={bend}"})  # fmt: skip
    return figure


def playground_widget(nets: Mapping[str, Net]) -> Moving:
    """The chapter's two trained networks, to run, break and prove."""
    return playground.panel([playground.entry("Sum(5), blocks", nets["softmax"], task("sum", 5), nets["diagonal_complex"])])
