"""Dials: states of diagonal channels, step by step (chapter 01, Theorems D and D'), and of the block that stores.

Letters: T time; a gate is x <- a x + (1 - |a|) p, p the point of its letter.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Circle, Rectangle

from lrnnlab.show.style import FAINT, INK, PAGE, SMALL, new_figure, styled, typeset, value_colour
from lrnnlab.algebra.arithmetic_blocks import first_symbol
from lrnnlab.algebra.cascades import DiagonalCascade

M = 5
GATES = {
    "leave": (1.0, 0), "turn 72°": (1.0, 72), "turn 120°": (1.0, 120), "turn 180°": (1.0, 180), "reset": (0.0, 0),
    "shrink to 60 %": (0.6, 0),
}  # fmt: skip
POINTS = {"0": 0.9 * np.exp(1.1j), "1": 0.6 * np.exp(3.6j), "-": 0.4 * np.exp(-0.9j)}  # where a letter resets to
KILLERS = {"0-1-0-1": 3, "1-0-0-1": 0}  # and their values mod 5
STEP, DIAL = 0.74, 0.27  # inches between two dials, radius of one


def channel_path(word: str, gates: Mapping[str, str]) -> np.ndarray:
    """The states (T + 1,) of one channel, complex, with a gate of ``GATES`` for each letter.

    Turns are about 0, a reset goes to the letter's point p, and what shrinks goes a part of the way to p.  ValueError
    for a gate that there is not.

    >>> np.abs(channel_path("0-", {"0": "turn 180°", "-": "turn 180°"}) - [0.75, -0.75, 0.75]).max() < 1e-12
    np.True_
    """
    unknown = [gate for gate in gates.values() if gate not in GATES]
    if unknown:
        raise ValueError(f"a gate is one of {', '.join(GATES)}, got {unknown[0]!r}")
    path = [0.75 + 0j]
    for letter in word:
        size, degrees = GATES[gates[letter]]
        path.append(size * np.exp(1j * np.radians(degrees)) * path[-1] + (1 - size) * POINTS[letter])
    return np.array(path)


def block_path(word: str) -> np.ndarray:
    """The states (T + 1, 2) of the block of size 2 that stores the first number; the minus does nothing.

    >>> block_path("1-0").tolist()
    [[0.0, 0.0], [0.25, 1.0], [0.25, 1.0], [0.25, 1.0]]
    """
    block, symbols = first_symbol(M, others=1), (*map(str, range(M)), "-")
    path = [block.start]
    for letter in word:
        path.append(block.move(path[-1], symbols.index(letter), ()))
    return np.array(path, dtype=float)


def _gap(zero, one, minus):
    return float(abs(np.subtract(*(channel_path(w, {"0": zero, "1": one, "-": minus})[-1] for w in KILLERS))))


@styled
def killer_walk(zero: str, one: str, minus: str, block: bool = False) -> Figure:
    """0-1-0-1 and 1-0-0-1, read letter by letter by a channel with these gates; ``block``: and by a block of size 2.

    A dial is the complex plane around the centre of the turns, its dot the state.

    >>> killer_walk("leave", "turn 72°", "leave").axes[0].texts[-1].get_text()
    'same\\nstate'
    """
    gates = {"0": zero, "1": one, "-": minus}
    rows = 4 if block else 2
    figure, axes = _bare(rows * 0.92 + 0.1)
    top = axes.get_ylim()[1]
    for row in range(rows):
        word, y = list(KILLERS)[row % 2], top - 0.92 * row - 0.58
        axes.text(0.05, y, f"{'channel,' if row < 2 else 'b = 2,'}\nvalue {KILLERS[word]}", va="center", fontsize=SMALL)
        for t, state in enumerate(channel_path(word, gates) if row < 2 else block_path(word)):
            x = 0.98 + STEP * t
            axes.text(x, y + DIAL + 0.11, typeset(word[t - 1]) if t else "start", ha="center", va="center",
                      fontsize=11 if t else SMALL)  # fmt: skip
            last = t == len(word)
            _dial(axes, x, y, state, ring=2.4 if last else 0.9) if row < 2 else _square(axes, x, y, state, last)
    middles = [top - 0.92 * row - 0.58 for row in range(0, rows, 2)]
    for y, gap in zip(middles, (_gap(zero, one, minus), abs(np.subtract(*(block_path(w)[-1] for w in KILLERS))).max())):
        x = 0.98 + STEP * len(word)
        axes.plot([x + 0.37] * 2, [y + 0.2, y - 1.12], color=INK, lw=1.2)
        axes.text(x + 0.42, y - 0.46, "same\nstate" if gap < 1e-9 else f"{gap:.2f}\napart", va="center", fontsize=SMALL)
    return figure


def killer_sentence(zero: str, one: str, minus: str, block: bool = False) -> str:
    """What :func:`killer_walk` shows.

    >>> killer_sentence("leave", "turn 72°", "leave")[:57]
    'The words end in <b>one state</b>, and their values are 3'
    """
    if _gap(zero, one, minus) < 1e-9:
        said = ("The words end in <b>one state</b>, and their values are 3 and 0: whatever this channel is used for, "
                "it cannot tell them apart.")  # fmt: skip
    else:
        said = ("The words come <b>apart</b>, because a gate that shrinks lets the channel have infinitely many "
                "states: Theorem D asks for finitely many.")  # fmt: skip
    return said + (" The <b>block of size 2</b> tells them apart: it still knows that one began with 0, the other "
                   "with 1." if block else "")  # fmt: skip


@styled
def layers_run(cascade: DiagonalCascade, word: str, names: Sequence[str]) -> Figure:
    """Every channel of a cascade while it reads a word of at most 7 tokens: a row of dials a channel, lowest first.

    names (T + 1): what stands below each step, for example the group element reached.  Marks on a dial are the places
    that a channel of this order turns among.  ValueError if there are not T + 1 names, or the word is longer.

    >>> from lrnnlab.algebra.depth import group_cascade
    >>> len(layers_run(group_cascade("S_3"), "st", ["012", "102", "210"]).axes[0].texts)
    9
    """
    if len(names) != len(word) + 1 or len(word) > 7:
        raise ValueError(f"a word of at most 7 tokens and a name more are needed, got {word!r} and {len(names)} names")
    tokens = [cascade.symbols.index(letter) for letter in word]
    points = np.array([cascade.points(state) for state in (cascade.start, *cascade.run(tokens))])  # (T + 1, channels)
    channels = [(depth, channel) for depth, layer in enumerate(cascade.layers, 1) for channel in layer]
    figure, axes = _bare(0.68 * len(channels) + 0.7)
    top = axes.get_ylim()[1]
    for t, name in enumerate(names):
        x = 1.3 + STEP * t
        axes.text(x, top - 0.18, word[t - 1] if t else "start", ha="center", va="center", fontsize=11 if t else SMALL)
        for row, (_, channel) in enumerate(channels):
            _dial(axes, x, top - 0.65 - 0.68 * row, points[t, row], order=channel.order)
        axes.text(x, 0.12, name, ha="center", va="center", fontsize=SMALL)
    for row, (depth, channel) in enumerate(channels):
        axes.text(0.05, top - 0.65 - 0.68 * row, f"layer {depth}\n{360 // channel.order}° turns", va="center",
                  fontsize=SMALL)  # fmt: skip
    axes.text(0.05, 0.12, "element", va="center", fontsize=SMALL)
    return figure


def _bare(height: float):
    """A figure with one axes whose units are inches."""
    figure, axes = new_figure(height, left=0, right=0, top=0, bottom=0)
    axes.set(xlim=(0, PAGE), ylim=(0, height))
    axes.set_axis_off()
    return figure, axes


def _dial(axes: Axes, x: float, y: float, state: complex, ring: float = 0.9, order: int = 0):
    """The unit disc with a state in it and a line from the centre to it."""
    axes.add_patch(Circle((x, y), DIAL, fc="white", ec=INK if ring > 1 else FAINT, lw=ring, zorder=2))
    for k in range(order):
        mark = np.exp(2j * np.pi * k / order)
        axes.plot(x + DIAL * mark.real, y + DIAL * mark.imag, "o", ms=3, color=FAINT, zorder=2.5)
    tip = (x + DIAL * state.real, y + DIAL * state.imag)
    axes.plot([x, tip[0]], [y, tip[1]], color=FAINT, lw=1.2, zorder=3)
    axes.plot(*tip, "o", ms=6.5, color=INK, zorder=4)


def _square(axes: Axes, x: float, y: float, state: np.ndarray, last: bool):
    """The unit square with the block's state in it, coloured by the number that it stores."""
    corner = np.array([x - DIAL, y - DIAL])
    edge, wide = (INK, 2.4) if last else (FAINT, 0.9)
    axes.add_patch(Rectangle(corner, 2 * DIAL, 2 * DIAL, fc="white", ec=edge, lw=wide))
    colour = value_colour(round(state[0] * (M - 1)) if state[1] else -1, M)
    axes.plot(*(corner + 0.06 + state * (2 * DIAL - 0.12)), "o", ms=8, mfc=colour, mec=INK, mew=0.8)
