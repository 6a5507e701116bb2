"""Chapter 00 (start here): the map of the book."""

from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch

from workbook.show.style import FAINT, INK, LIVE, PAGE, SMALL, styled

# Of each sitting: its title, its minutes, the chapters that it uses, its place on the map, and what lies behind it.
SITTINGS: dict[str, tuple[str, int, tuple[str, ...], tuple[int, float], tuple[tuple[str, int], ...]]] = {
    "00": ("start here", 15, (), (0, 1.3), ()),
    "01": ("subtraction", 55, ("00",), (1, 0), (
        ("stored inputs", 15), ("sum and last letters", 30), ("two layers", 10), ("turns and resets", 20),
        ("groups and depth", 25), ("block size", 20), ("liquid s4", 10),
    )),
    "02": ("block-diagonal LRNN", 45, ("00",), (1, 1.3), (
        ("stability", 20), ("fading", 30), ("modarith and the table", 25), ("column rules", 30),
        ("train and verify by hand", 20),
    )),
    "03": ("parallel scans", 45, ("02",), (2, 1.3), (
        ("other roads", 20), ("paper listings", 15), ("benchmark", 35), ("floats", 25),
    )),
    "04": ("rotations", 60, ("00",), (1, 2.4), (
        ("layer in code", 20), ("every rotation", 25), ("constant norm", 20), ("coloured inputs", 30),
        ("lru wider heads", 15), ("norm in training", 25), ("kept and reported", 15),
    )),
    "05": ("diagonal kernels", 50, ("00",), (1, 3.7), (
        ("layer and fft", 15), ("delay line and dss", 25), ("where modes start", 15), ("exact shifts", 20),
        ("product of kernels", 20), ("shift and reverse", 25),
    )),
    "06": ("ill-conditioned reals", 55, ("05",), (2, 3.7), (
        ("best nodes", 15), ("every shift", 25), ("nearly exact", 10), ("reach", 25), ("paper checked", 20),
        ("running sum", 10),
    )),
    "07": ("long-range suite", 45, ("05",), (2, 4.85), (
        ("theorems proved", 35), ("all benchmarks", 30),
    )),
    "08": ("memory in depth", 60, ("03",), (3, 1.3), (
        ("tree and masks", 15), ("order of composition", 20), ("lemma 1 in use", 25), ("errors double", 15),
        ("paper checked", 20), ("clusters and gradients", 40), ("text and cost", 15),
    )),
    "09": ("fast weights", 55, ("02",), (3, 3.2), (
        ("delta rule", 15), ("rational outputs", 20), ("counting brackets", 20), ("even lengths", 20), ("bounded depth", 25),
        ("found counter", 30), ("feedback", 20), ("reflections", 25), ("paper checked", 20),
    )),
    "10": ("one ladder", 50, ("01", "02"), (3, 0), (
        ("more theorems", 45), ("when nets fail", 15), ("whole ladder", 20),
    )),
}
EVENING = ("00", "02", "10")  # the path of one evening
LEFT, WIDTH = (0.04, 0.76, 1.9, 2.93), (0.56, 0.86, 0.86, 0.86)  # of the boxes, by column


def said(minutes: int) -> str:
    """Minutes as the chapters say them: ``55 min``, ``1 h 40``."""
    hours, rest = divmod(minutes, 60)
    return f"{hours} h {rest:02}" if hours else f"{rest} min"


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
        axes.text(x + 0.03, y - 0.06, f"{number} · {said(minutes)}", weight="bold", va="center", color=INK)
        axes.text(x + 0.03, y - 0.19, title, va="center", color=INK)
        for line, (name, length) in enumerate(behind):
            axes.text(x + 0.03, y - 0.36 - 0.115 * line, f"{chr(97 + line)} {name} · {length}", va="center", color=INK, size=SMALL,
                      bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.5})
        for one in uses:
            from_column, from_row = SITTINGS[one][3]
            both = one in EVENING and evening
            axes.annotate("", (x, y - 0.12), (LEFT[from_column] + WIDTH[from_column], -from_row + 0.26), zorder=0,
                          arrowprops={"arrowstyle": "-|>", "color": LIVE if both else FAINT, "lw": 2 if both else 1.2,
                                      "connectionstyle": "arc3,rad=0.05"})  # fmt: skip
    return figure
