"""The atlas of small machines as a poster: every machine of two letters and three states, in the colour of what can keep it."""

from collections import Counter

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Circle, FancyArrowPatch, FancyBboxPatch, Rectangle

from lrnnbook.content.show.interactive import Moving
from lrnnbook.content.show.style import INK, PAGE, styled
from lrnnbook.content.tables import records
from lrnnbook.content.tables.ladder_atlas import NEVER, OPEN, tables

KINDS = (  # what a machine needs, the least first; its colour
    ("gates in [0, 1] (Mamba's), one layer", "#5aae61"),
    ("gates in [0, 1], two layers", "#c7e9c0"),
    ("negative gates: in [-1, 1]", "#b3d3ec"),
    ("turns (two reflections), one layer", "#d5bfe0"),
    ("turns (two reflections), two layers", "#fdc980"),
)
A, B = INK, "#b2182b"  # the letters' arrows; b is dashed
CORNERS = np.array([[0, 0.27], [-0.27, -0.2], [0.27, -0.2]])
COLUMNS = 18


def verdicts(states: int = 3) -> dict[str, str]:
    """Family -> what is recorded of each machine, a sign each."""
    found = {one["row"]: one["verdicts"] for one in records.recorded("ladder/atlas") if one["task"] == f"states_{states}"}
    if not found:
        raise ValueError("no records of ladder/atlas: run lrnnlab reproduce ladder/atlas --budget desk first")
    return found


FAMILIES = {
    "non_negative": "gates in [0, 1] (Mamba)", "signed": "gates in [-1, 1]", "complex": "complex gates", "deltanet": "DeltaNet, beta up to 1",
    "reflection": "DeltaNet, beta up to 2", "reflections": "two reflections a token", "rank_one": "RWKV-7", "constant": "one A for all (S4, RotRNN)",
    "blocks": "a block with soft columns",
}  # fmt: skip
TITLE = "An atlas of small machines"
LEAD = ("Every machine of two letters and three states. Its colour is the simplest family of recurrent networks that can track its state on strings "
        "of any length, with the best possible weights. Press one (arrow keys move on), or type your own. The verdicts are theorems, told in chapter 10.")  # fmt: skip
ALT = ("All 216 machines of three states and two letters as tiles in five colours. Press one to see what each family of networks can do "
       "with it, two words that show why not, and to run a word; or type a machine of your own.")  # fmt: skip


def panel() -> Moving:
    """The atlas to look things up in; what is typed may have two to four states."""
    signs = {states: verdicts(states) for states in (2, 3, 4)}
    order = [[which, i] for which, i, _ in in_order(signs[3])]
    first = list(tables(3))[order[0][1]]
    data = {"verdicts": {str(states): found for states, found in signs.items()}, "order": order, "kinds": [list(one) for one in KINDS],
            "rows": [[row, name] for row, name in FAMILIES.items()]}  # fmt: skip
    return Moving("atlas", data, {"table": list(first), "word": "", "text": "", "fault": "", "only": ""}, ALT)


def kind(signs: dict[str, str], i: int) -> int:
    """Which of ``KINDS`` machine i is."""
    keeps = {row: said[i] not in (NEVER, OPEN) for row, said in signs.items()}
    if keeps["non_negative"]:
        return 0 if signs["non_negative"][i] == "1" else 1
    if keeps["signed"]:
        return 2
    return 3 if "1" in (signs["complex"][i], signs["reflections"][i]) else 4


def in_order(signs: dict[str, str]) -> list[tuple[int, int, tuple[int, ...]]]:
    """(kind, place in the record, table) of all machines: by kind, then those beside each other whose letters do alike."""
    found = [(kind(signs, i), i, table) for i, table in enumerate(tables(3))]

    def alike(table: tuple[int, ...]) -> list:
        maps = table[::2], table[1::2]
        return [sorted(len(set(one)) for one in maps), sorted(sum(one[q] == q for q in range(3)) for one in maps), sorted(maps), table]

    return sorted(found, key=lambda one: (one[0], alike(one[2])))


@styled
def poster() -> Figure:
    """All 216 machines, each a tile."""
    signs = verdicts()
    placed, counts = in_order(signs), Counter(kind(signs, i) for i in range(len(signs["signed"])))
    rows, head, wide = -(-len(placed) // COLUMNS), 1.35, 1.25 * PAGE
    side = wide / COLUMNS
    figure = Figure(figsize=(wide, rows * side + head))
    axes = figure.add_axes((0, 0, 1, rows * side / (rows * side + head)))
    axes.set(xlim=(0, COLUMNS), ylim=(-rows, 0), aspect="equal")
    axes.axis("off")
    for place, (which, _, table) in enumerate(placed):
        tile(axes, np.array([place % COLUMNS + 0.5, -(place // COLUMNS) - 0.5]), table, KINDS[which][1])
    top = figure.add_axes((0, 1 - head / (rows * side + head), 1, head / (rows * side + head)))
    top.set(xlim=(0, wide), ylim=(0, head))
    top.axis("off")
    top.text(0.1, 1.22, "All 216 machines of three states and two letters: which rule can keep them for ever?", size=13, weight="bold", va="center")
    for k, (name, colour) in enumerate(KINDS):
        x, y = 0.1 + wide / 3 * (k % 3), 0.78 - 0.34 * (k // 3)
        top.add_patch(Rectangle((x, y - 0.11), 0.3, 0.22, facecolor=colour))
        top.text(x + 0.4, y, f"{counts[k]}  {name}", size=9, va="center")
    x = 0.1 + 2 * wide / 3
    for k, (letter, colour) in enumerate((("a", A), ("b", B))):
        top.plot([x + 1.6 * k, x + 1.6 * k + 0.5], [0.44, 0.44], color=colour, lw=1.6, ls="-" if letter == "a" else (0, (4, 1.5)))
        top.text(x + 1.6 * k + 0.6, 0.44, f"letter {letter}", size=9, va="center")
    top.text(0.1, 0.1, "A black dot is the first state. Each machine answers with its state, after every letter.", size=9, va="center")
    return figure


def tile(axes: Axes, centre: np.ndarray, table: tuple[int, ...], colour: str) -> None:
    """A machine of three states on its ground."""
    axes.add_patch(FancyBboxPatch(centre - 0.46, 0.92, 0.92, boxstyle="round,pad=0,rounding_size=0.08", fc=colour, ec="none"))
    for letter, (ink, bend, dash) in enumerate(((A, 0.22, "-"), (B, -0.22, (0, (4, 1.5))))):
        for q in range(3):
            to, here = table[2 * q + letter], CORNERS[q] + centre
            if to == q:
                out = CORNERS[q] / np.hypot(*CORNERS[q])
                aside = np.array([-out[1], out[0]]) * (0.045 if letter else -0.045)
                axes.add_patch(Circle(here + 0.095 * out + aside, 0.05, fc="none", ec=ink, lw=0.9, ls=dash))
            else:
                axes.add_patch(FancyArrowPatch(here, CORNERS[to] + centre, connectionstyle=f"arc3,rad={bend}", arrowstyle="-|>",
                                               mutation_scale=6, shrinkA=3, shrinkB=3, color=ink, lw=0.9, ls=dash))  # fmt: skip
    for q in range(3):
        axes.add_patch(Circle(CORNERS[q] + centre, 0.055, fc="white" if q else INK, ec=INK, lw=1, zorder=3))
