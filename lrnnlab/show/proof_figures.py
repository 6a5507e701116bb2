"""The states of all expressions a-b-c-... under one layer with one A (chapter 01, Theorem A), seen through cells.

Letters: M modulus, n operands, D width of the state.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PatchCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle

from lrnnlab.show.style import FAINT, INK, SMALL, new_figure, styled, typeset, value_colour
from lrnnlab.algebra import words
from lrnnlab.algebra.words import WordStates, collisions, contradiction, spelled, word_states

M = 5
LAYERS = {"counter (A = 1)": words.counter, "digits (A = 7)": words.positional,
          "spiral (A shrinks, turns)": words.spiral}
MOST_LINES = 32  # cells a side up to which their borders are drawn


@dataclass(frozen=True)
class Cells:
    """Expressions seen through a grid: ``cell`` its side, ``mixed`` (K, D) cells that hold several values, ``best`` the
    share of the expressions that the best readout of the cells answers, ``pair`` two rows in one cell or None."""

    table: WordStates
    cell: float
    mixed: np.ndarray
    best: float
    pair: tuple[int, int] | None


def cells(layer: str, n: int, bits: int) -> Cells:
    """All expressions of n operands under one of ``LAYERS``, each axis cut into 2^bits cells.

    ValueError for a layer that there is not, or bits below 1.

    >>> cells("counter (A = 1)", 2, 8).best, cells("digits (A = 7)", 2, 8).best
    (0.36, 1.0)
    """
    if layer not in LAYERS or bits < 1:
        raise ValueError(f"a layer is one of {', '.join(LAYERS)}, bits are 1 or more; got {layer!r}, {bits}")
    table = word_states(LAYERS[layer](M), n)
    states = table.states.astype(float)
    cell = float(np.ptp(states, axis=0).max()) / (2**bits - 1)
    keys, member = np.unique(np.floor((states - states.min(0)) / cell), axis=0, return_inverse=True)
    votes = np.zeros((len(keys), M), dtype=int)
    np.add.at(votes, (member.reshape(-1), table.values), 1)
    pairs = collisions(states, cell)
    apart = pairs[table.values[pairs[:, 0]] != table.values[pairs[:, 1]]]
    chosen = apart if len(apart) else pairs
    return Cells(table, cell, keys[(votes > 0).sum(1) > 1], float(votes.max(1).sum() / votes.sum()),
                 tuple(chosen[0].tolist()) if len(chosen) else None)  # fmt: skip


@styled
def word_picture(layer: str, n: int, bits: int) -> Figure:
    """The states of all 5^n expressions, coloured by value; grey cells hold several values, so no readout is right.

    A state of one number lies on a line, drawn once for each value so that nothing is hidden.

    >>> [line.get_text() for line in word_picture("counter (A = 1)", 2, 8).axes[0].texts]
    ['1−0', '0−1']
    """
    seen = cells(layer, n, bits)
    flat = seen.table.states.shape[1] == 1
    figure, axes = new_figure(3.2 if flat else 4.6, left=0.75, right=1.6, top=0.35, bottom=0.55)
    states, values = seen.table.states.astype(float), seen.table.values
    low = states.min(0)
    at = np.column_stack([states, values]) if flat else states
    tall = M if flat else seen.cell
    corners = [(low[0] + k[0] * seen.cell, -0.5 if flat else low[1] + k[1] * seen.cell) for k in seen.mixed]
    axes.add_collection(PatchCollection([Rectangle(corner, seen.cell, tall) for corner in corners],
                                        fc="#d9d9d9", ec="#d9d9d9", lw=0.3, zorder=1))  # fmt: skip
    if 2**bits <= MOST_LINES:
        borders = np.arange(2**bits + 1)[:, None] * seen.cell + low
        axes.vlines(borders[:, 0], *((-0.5, M - 0.5) if flat else borders[[0, -1], 1]), color=FAINT, lw=0.6, zorder=1.5)
        if not flat:
            axes.hlines(borders[:, 1], *borders[[0, -1], 0], color=FAINT, lw=0.6, zorder=1.5)
    colours = np.array([value_colour(v, M) for v in range(M)])
    size = max(3.0, 8 - n)
    axes.scatter(*at.T, s=size**2, c=colours[values], edgecolors=INK, linewidths=0.4, zorder=3)
    if seen.pair:
        _mark(axes, at[list(seen.pair)], [spelled(seen.table.words[i]) for i in seen.pair])
    axes.grid(False)
    if flat:
        axes.set(yticks=range(M), ylim=(-0.5, M - 0.5), xlabel="state", ylabel="value mod 5")
    else:
        axes.set(aspect="equal", xlabel="first number of the state", ylabel="second number")
    axes.set_title(f"{layer}, {M**n} expressions of n = {n}")
    shown = [Line2D([], [], ls="", marker="o", mfc=c, mec=INK, mew=0.4, label=str(v)) for v, c in enumerate(colours)]
    shown += [Rectangle((0, 0), 1, 1, fc="#d9d9d9", label="cell with\nseveral values")]
    axes.legend(handles=shown, title="value", loc="upper left", bbox_to_anchor=(1.01, 1.03), title_fontsize=SMALL)
    return figure


def _mark(axes: Axes, ends: np.ndarray, names: Sequence[str]):
    """Two points, joined, named; the lower name below its point."""
    axes.plot(*ends.T, color=INK, lw=1.6, zorder=2.5)
    order = np.argsort(ends[:, 1], kind="stable")
    for place, side in zip(order, (-1, 1)):
        axes.plot(*ends[place], "o", ms=13, mfc="none", mec=INK, mew=1.6, zorder=4)
        axes.annotate(typeset(names[place]), ends[place], (10, 11 * side), textcoords="offset points", fontsize=10,
                      va="center", zorder=5, bbox={"fc": "white", "ec": FAINT, "pad": 1.5, "lw": 0.6})  # fmt: skip


def word_sentence(layer: str, n: int, bits: int) -> str:
    """What :func:`word_picture` shows, with the pair that refutes every readout of these cells.

    >>> word_sentence("digits (A = 7)", 1, 4)
    'n = 1, 4 bits: all 5 expressions lie in cells of their own: a readout that sees the cell can be right on all.'
    """
    seen = cells(layer, n, bits)
    each = "bits" if seen.table.states.shape[1] == 1 else "bits a number"
    start = f"n = {n}, {bits} {each}: "
    if seen.pair is None:
        return (f"{start}all {M**n} expressions lie in cells of their own: a readout that sees the cell can be right "
                "on all.")  # fmt: skip
    pair, values = seen.table.words[list(seen.pair)].tolist(), seen.table.values[list(seen.pair)].tolist()
    first, second = map(typeset, map(spelled, pair))
    if values[0] != values[1]:
        return (f"{start}<b>{first}</b> and <b>{second}</b> share a cell, but their values are {values[0]} and "
                f"{values[1]}. The best readout of these cells is right on {seen.best:.0%} of the {M**n} expressions.")
    one, other = map(typeset, map(spelled, contradiction(*pair, M)))
    return (f"{start}{first} and {second} share a cell, and here also a value; but then <b>{one}</b> and "
            f"<b>{other}</b> are just as close, and their values differ.")  # fmt: skip
