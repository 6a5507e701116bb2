"""Chapter 00 (start here): the map of the book, a network whose clock runs fast, and the reader's own to play with.

The clock is a complex diagonal network (seed 1 of ``lrnn/table2``, Sum(5), as a live cell trains it), recorded because other
processors round otherwise and train another one; ``python -m lrnnbook.content.chapters.ch00`` trains it again and writes it.
"""

import base64
import json
from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch

from lrnnbook.content.chapters import playground
from lrnnbook.content.show.frames import panels
from lrnnbook.content.show.interactive import Moving
from lrnnbook.content.show.interactive.export import page_net
from lrnnbook.content.show.style import FAINT, INK, PAGE, RECORDED, SMALL, ink_on, new_figure, styled, value_colour
from lrnnbook.content.tables import plan, train_run
from lrnnbook.content.tables.records import data_folder, provenance, recorded_folder
from lrnnlab import task
from lrnnlab.files import put
from lrnnlab.models import Net

Minutes = tuple[int, int]  # to read, and for the exercises
# Of each sitting: its title, its minutes, the chapters that it uses, its place on the map, and its lettered notebooks.
SITTINGS: dict[str, tuple[str, Minutes, tuple[str, ...], tuple[int, float], tuple[tuple[str, Minutes], ...]]] = {
    "00": ("start here", (20, 25), (), (0, 1.3), ()),
    "01": ("subtraction", (50, 65), ("00",), (1, 0), (
        ("stored inputs", (15, 25)), ("sum and last letters", (30, 15)), ("two layers", (10, 0)), ("turns and resets", (20, 5)),
        ("groups and depth", (25, 10)), ("block size", (20, 20)), ("liquid s4", (10, 15)),
    )),
    "02": ("block-diagonal LRNN", (50, 105), ("00",), (1, 1.3), (
        ("stability", (20, 5)), ("fading", (30, 5)), ("modarith and the table", (25, 80)), ("column rules", (30, 0)),
        ("train and verify by hand", (20, 20)),
    )),
    "03": ("parallel scans", (30, 65), ("02",), (2, 1.3), (
        ("other roads", (20, 25)), ("paper listings", (30, 0)), ("benchmark", (35, 15)), ("floats", (25, 0)),
    )),
    "04": ("rotations", (55, 60), ("00",), (1, 2.4), (
        ("layer in code", (20, 10)), ("every rotation", (25, 10)), ("constant norm", (20, 0)), ("coloured inputs", (30, 15)),
        ("lru wider heads", (15, 0)), ("norm in training", (20, 0)), ("kept and reported", (15, 0)),
    )),
    "05": ("diagonal kernels", (45, 80), ("00",), (1, 3.91), (
        ("layer and fft", (15, 5)), ("delay line and dss", (25, 10)), ("where modes start", (15, 0)), ("exact shifts", (20, 10)),
        ("product of kernels", (20, 15)), ("shift and reverse", (25, 5)),
    )),
    "06": ("ill-conditioned reals", (55, 75), ("05",), (2, 4.26), (
        ("best nodes", (15, 10)), ("every shift", (25, 0)), ("nearly exact", (10, 25)), ("reach", (25, 20)),
        ("paper checked", (20, 0)), ("running sum", (10, 10)),
    )),
    "07": ("long-range suite", (40, 65), ("05",), (3, 3.91), (
        ("theorems proved", (35, 20)), ("all benchmarks", (30, 5)),
    )),
    "08": ("memory in depth", (45, 60), ("03",), (3, 1.3), (
        ("tree and masks", (15, 10)), ("order of composition", (20, 15)), ("lemma 1 in use", (25, 15)), ("errors double", (15, 35)),
        ("paper checked", (20, 0)), ("clusters and gradients", (35, 5)), ("text and cost", (15, 10)),
    )),
    "09": ("fast weights", (50, 45), ("02",), (2, 2.4), (
        ("delta rule", (15, 15)), ("rational outputs", (20, 0)), ("counting brackets", (20, 15)), ("even lengths", (20, 0)),
        ("bounded depth", (25, 0)), ("found counter", (35, 0)), ("feedback", (20, 0)), ("reflections", (25, 25)), ("paper checked", (20, 0)), ("three ways to lose a state", (10, 35)),
    )),
    "10": ("one ladder", (50, 70), ("02",), (3, 0), (
        ("more theorems", (50, 25)), ("when nets fail", (20, 35)), ("whole ladder", (35, 25)), ("recurrence puzzles", (10, 0)),
    )),
}
EVENING = ("00", "02", "10")  # the path of one evening
LEFT, WIDTH = (0.01, 0.62, 1.97, 2.84), (0.53, 0.88, 0.81, 0.86)  # of the boxes, by column


def lasts(minutes: Minutes) -> str:
    """What the map says of a chapter's minutes: ``45+80``, or ``30`` where it has no exercise."""
    return "+".join(map(str, filter(None, minutes)))


@styled
def map_picture() -> Figure:
    """The sittings with their minutes, what each uses, and its lettered notebooks."""
    figure = Figure(figsize=(PAGE, 7.1))
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(0, 4), ylim=(-4.9, 0.5))
    axes.axis("off")
    for number, (title, minutes, uses, (column, row), lettered) in SITTINGS.items():
        evening = number in EVENING
        x, y = LEFT[column], -row + 0.38
        axes.add_patch(FancyBboxPatch((x, y - 0.26), WIDTH[column], 0.28, "round,pad=0,rounding_size=0.04", lw=3 if evening else 1,
                                      edgecolor=INK if evening else FAINT, facecolor="white"))  # fmt: skip
        axes.text(x + 0.025, y - 0.06, f"{number} · {lasts(minutes)}", weight="bold", va="center", color=INK)
        axes.text(x + 0.025, y - 0.19, title, va="center", color=INK)
        for line, (name, length) in enumerate(lettered):
            axes.text(x, y - 0.36 - 0.115 * line, f"{chr(97 + line)} {name} · {lasts(length)}", va="center", color=INK, size=SMALL)
        for one in uses:
            from_column, from_row = SITTINGS[one][3]
            both = one in EVENING and evening
            start, gap = LEFT[from_column] + WIDTH[from_column], LEFT[from_column + 1] - 0.05  # between the lists
            axes.plot([start, gap, gap], [-from_row + 0.26] * 2 + [y - 0.12], color=INK if both else FAINT, lw=2.4 if both else 1.2, zorder=both)
            axes.annotate("", (x, y - 0.12), (gap, y - 0.12), zorder=both, arrowprops={
                "arrowstyle": "-|>", "color": INK if both else FAINT, "lw": 2.4 if both else 1.2, "shrinkA": 0, "shrinkB": 0})  # fmt: skip
    return figure


# --- the clock --------------------------------------------------------------------------------------------------------

CLOCK = "records/clock.json"


@cache
def recorded_clock() -> dict[str, Any]:
    """``net`` as :func:`page_net` has it, and where it comes from."""
    return json.loads((recorded_folder() / CLOCK).read_text(encoding="utf-8"))


class Clock:
    """The recorded network, x = a[digit] x + b[digit] from ``start`` on: a, b (5, 32) and start (32,) complex.

    ``net`` : another complex diagonal one of this size, as :func:`page_net` has it.
    """

    def __init__(self, net: Mapping[str, Any] | None = None) -> None:
        net = recorded_clock()["net"] if net is None else net
        once, by_digit = (np.frombuffer(base64.b64decode(net[key]), kind).astype(float)
                          for key, kind in (("weights", "<f4"), ("rows", net["rows_in"])))  # fmt: skip
        parts = net["start"][0], *by_digit.reshape(2, 5, -1)
        self.start, self.a, self.b = (np.reshape(part, (*np.shape(part)[:-1], 32, 2)) @ np.array([1, 1j]) for part in parts)
        self.readout = np.split(once, np.cumsum([width for rows, width in net["tables"] if rows == 1])[:-1])

    def answer(self, x: np.ndarray) -> np.ndarray:
        """The answers (N,) to states (N, 32): a normalisation and two layers."""
        scale, shift, W, w, V, v = self.readout
        x = np.concatenate([x.real, x.imag], -1)
        x = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5) * scale + shift
        return (np.maximum(x @ W.reshape(64, 64) + w, 0) @ V.reshape(64, 5) + v).argmax(-1)

    def off(self, digits: np.ndarray, a: np.ndarray | None = None) -> np.ndarray:
        """Answer minus sum modulo 5 after each digit, (N, T); ``a``: with other multipliers."""
        x, off, a = self.start, [], self.a if a is None else a
        for column in digits.T:
            x = a[column] * x + self.b[column]
            off.append(self.answer(x))
        return (np.array(off).T - digits.cumsum(1)) % 5


def random_digits(strings: int = 500, length: int = 500) -> np.ndarray:
    """The strings that the pictures and numbers of the clock are about."""
    return np.random.default_rng(0).integers(5, size=(strings, length))


def _bands(axes: Axes, off: np.ndarray) -> None:
    """By position, the shares of strings that are right and off by 1, 2, 3, 4; each named where it is widest."""
    shares = np.array([(off == k).mean(0) for k in range(5)])
    colours = [RECORDED, *(value_colour(k, 5) for k in range(1, 5))]
    at, tops = np.arange(1, off.shape[1] + 1), shares.cumsum(0)
    axes.stackplot(at, shares, colors=colours, lw=0.8, ec="white")
    for k, colour in enumerate(colours):
        t = int(np.convolve(shares[k], np.ones(31) / 31, "same")[40:-40].argmax()) + (40 if k else 0)
        if shares[k, t] > 0.2:
            axes.text(t + 1 if k else 21, tops[k, t] - shares[k, t] / 2, f"sum + {k}" if k else "right", color=ink_on(colour), ha="center", va="center", size=SMALL)
    axes.set(xlim=(1, at[-1]), ylim=(0, 1), yticks=[0, 0.5, 1], yticklabels=["0", "50 %", "100 %"])
    axes.axvline(40, color=INK, lw=1, ls="--")
    axes.grid(False)


@styled
def clock_picture() -> Figure:
    """Above, the blocks, of which every recorded seed is right at every position; below, the clock's answers."""
    figure, (above, below) = new_figure(3.9, rows=2, left=0.75, right=0.3, top=0.35, bottom=0.55, gap=0.5, sharex=True,
                                        gridspec_kw={"height_ratios": [1, 4]})
    above.plot([1, 500], [1, 1], color=RECORDED, lw=3)
    above.set(ylim=(0, 1.25), yticks=[0, 1], yticklabels=["0", "100 %"], title="blocks: right answers")
    above.axvline(40, color=INK, lw=1, ls="--")
    _bands(below, Clock().off(random_digits()))
    below.set(title="complex numbers: what it answers", xlabel="position in the string (trained up to 40)")
    return figure


@styled
def mended_picture(off: np.ndarray, mended: np.ndarray) -> Figure:
    """The clock's answers before and after its hands were put right."""
    titles = "as it was trained", "ten angles put right"
    figure, both = panels(titles, 1, 4.4, "position in the string (trained up to 40)", left=0.75, right=0.3, top=0.35,
                          bottom=0.55, gap=0.5, sharex=True)  # fmt: skip
    for axes, one in zip(both, (off, mended)):
        _bands(axes, one)
    return figure


def playground_widget(net: Net) -> Moving:
    """The reader's own network, to run, break and prove, beside the clock."""
    mine = playground.entry("Sum(5), blocks", net, task("sum", 5))
    return playground.panel([mine | {"rival": recorded_clock()["net"]}])


if __name__ == "__main__":
    (run,) = plan("lrnn/table2", tasks=["sum"], rows=["diagonal_complex"], seeds=[1])
    made = {"provenance": provenance(), "net": page_net(train_run(run).net, task("sum", 5).specification)}
    put(data_folder() / CLOCK, (json.dumps(made, separators=(",", ":")) + "\n").encode())
