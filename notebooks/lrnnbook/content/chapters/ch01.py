"""The pictures of chapter 01 (subtraction).

Four that move: the two differences of the proof of Propositions 1 and 2, as arrows; the states of all expressions under
one layer with one A, seen through cells (Theorem A); dials, the states of diagonal channels step by step (Theorems D and
D'); and lights, which exact models fit, with one at work.

Letters: M modulus, n numbers in an expression, D width of the state, b block size in real numbers, T time; x state.
"""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PatchCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Circle, Rectangle

from lrnnbook.content.show.interactive import Moving
from lrnnbook.content.show.style import (
    FAINT,
    INK,
    LIVE,
    RECORDED,
    SMALL,
    canvas,
    heatmap,
    ink_on,
    new_figure,
    printed,
    styled,
    value_colour,
)  # fmt: skip
from lrnnbook.content.tables.minimal import Construction, Fit, fits
from lrnnlab.automata import MooreMachine
from lrnnlab.automata.languages import language, read
from lrnnlab.expressivity.theorems.cascades import DiagonalCascade, pair_up

M = 5

# --- two arrows (Propositions 1 and 2) --------------------------------------------------------------------------------

DRIVES = {"0": np.array([-0.4, 0.7]), "1": np.array([1.2, 0.1]), "-": np.array([-0.3, -0.4])}  # B u
START = np.array([-2.0, 1.6])
TRANSITIONS = ("one A", "diagonal, one for each letter", "a matrix for each letter")
ARROWS = (("1-0", "0-1"), ("0-1-0", "0-0-1"))  # from, to


def transitions(kind: str, turn: float, size: float) -> dict[str, np.ndarray]:
    """A matrix (2, 2) for each letter: one turn, diagonals, or two turns and a mirror; ``turn`` in degrees."""
    cos, sin = np.cos(np.radians(turn)), np.sin(np.radians(turn))
    A = size * np.array([[cos, -sin], [sin, cos]])
    if kind == "one A":
        return {"0": A, "1": A, "-": A}
    if kind == "a matrix for each letter":
        return {"0": A, "1": A @ A, "-": size * np.diag([1.0, -1.0])}
    return {"0": size * np.diag([1.0, cos]), "1": size * np.diag([cos, -1.0]), "-": size * np.eye(2)}


def arrow_ends(kind: str, turn: float, size: float) -> np.ndarray:
    """The states (2, 2, 2) after the four words of ``ARROWS``: (arrow, from or to, coordinate)."""
    A, ends = transitions(kind, turn, size), []
    for word in itertools.chain(*ARROWS):
        x = START
        for letter in word:
            x = A[letter] @ x + DRIVES[letter]
        ends.append(x)
    return np.array(ends).reshape(2, 2, 2)


@styled
def two_arrows(transition: str, turn: float, size: float) -> Figure:
    """The states after 1-0 and 0-1, joined by an arrow, and those after 0-1-0 and 0-0-1; dashed, the parallelogram."""
    ends = arrow_ends(transition, turn, size)
    figure, axes = new_figure(4.2, left=0.75, right=0.4, top=0.2, bottom=0.55)
    axes.plot(ends[:, 0, 0], ends[:, 0, 1], ends[:, 1, 0], ends[:, 1, 1], ls="--", color=FAINT, lw=1.2)
    middle = ends.mean((0, 1))
    for (start, end), words, colour in zip(ends, ARROWS, (RECORDED, LIVE)):
        axes.annotate("", end, start, arrowprops={"arrowstyle": "-|>", "color": colour, "lw": 2.2, "shrinkA": 4, "shrinkB": 4})
        for x, word in zip((start, end), words):
            away = (x - middle) / max(float(np.linalg.norm(x - middle)), 1e-9)
            axes.plot(*x, "o", ms=8, color=colour)
            axes.annotate(f"x({printed(word)})", x, tuple(16 * away), textcoords="offset points", va="center",
                          ha="left" if away[0] > 0 else "right")  # fmt: skip
    axes.set(xlabel="first number of the state", ylabel="second number")
    axes.margins(0.3, 0.2)
    axes.set_aspect("equal", adjustable="datalim")
    return figure


def arrows_sentence(transition: str, turn: float, size: float) -> str:
    """Whether the two arrows of :func:`two_arrows` are one, and what follows."""
    ends = arrow_ends(transition, turn, size)
    first, second = ends[:, 1] - ends[:, 0]
    if np.allclose(first, second):
        return (f"Both arrows are ({first[0]:.2f}, {first[1]:.2f}). <b>The proof wants the blue one not to be 0 and the "
                "orange one to be 0.</b>")  # fmt: skip
    return f"The arrows differ by {np.linalg.norm(first - second):.2f}: <b>what stood before no longer cancels</b>."


# --- the states of expressions (Theorem A) ----------------------------------------------------------------------------

MIXED = "#ffe08a"  # a cell that holds several values: a colour that no value has
TURN = 0.8 * np.array([[np.cos(1), -np.sin(1)], [np.sin(1), np.cos(1)]])
LAYERS = {  # A (D, D), what each number adds (M, D), what the minus adds (D,)
    "counter (A = 1)": (np.array([[1]]), np.arange(M)[:, None], np.array([0])),
    "digits (A = 7)": (np.array([[7]]), np.arange(1, M + 1)[:, None], np.array([6])),
    "spiral (A shrinks, turns)": (
        TURN, np.column_stack([f(2 * np.pi * np.arange(M) / M) for f in (np.cos, np.sin)]), np.zeros(2)),
}  # fmt: skip


def value(numbers: Sequence[int]) -> int:
    """a - b - c - ... modulo 5."""
    return (2 * numbers[0] - sum(numbers)) % M


def word_states(layer: str, n: int) -> tuple[np.ndarray, np.ndarray]:
    """All expressions of n numbers (5^n, n), in order, and their states (5^n, D) under one of ``LAYERS``, from 0."""
    A, adds, minus = LAYERS[layer]
    states = np.zeros((1, len(A)), dtype=adds.dtype)
    for place in range(n):
        states = states @ A.T + minus if place else states
        states = ((states @ A.T)[:, None] + adds).reshape(-1, len(A))  # (5^place, 5, D) -> (5^(place + 1), D)
    return np.array(list(itertools.product(range(M), repeat=n))), states


def refutation(left: Sequence[int], right: Sequence[int]) -> tuple[tuple, tuple]:
    """Theorem A, step 2: of two expressions of one length in one state, two in one state with different values."""
    cut = next(place for place, (a, b) in enumerate(zip(left, right)) if a != b)
    pairs = [((*front, *left[cut:]), (*front, *right[cut:])) for front in ((), (0,))]
    return pairs[0] if value(pairs[0][0]) != value(pairs[0][1]) else pairs[1]


@dataclass(frozen=True)
class Cells:
    """Expressions seen through a grid: ``words``, ``states``, ``values`` row for row, ``cell`` the side of a cell,
    ``mixed`` (K, D) cells that hold several values, ``best`` the share of the expressions that the best readout of the
    cells answers, ``pair`` two rows in one cell or None."""

    words: np.ndarray
    states: np.ndarray
    values: np.ndarray
    cell: float
    mixed: np.ndarray
    best: float
    pair: tuple[int, int] | None


def cells(layer: str, n: int, bits: int) -> Cells:
    """All expressions of n numbers under one of ``LAYERS``, each axis cut into 2^bits cells."""
    words, states = word_states(layer, n)
    states, values = states.astype(float), (2 * words[:, 0] - words.sum(1)) % M
    cell = float(np.ptp(states, axis=0).max()) / (2**bits - 1)
    at = np.floor((states - states.min(0)) / cell)
    keys, first, member = np.unique(at, axis=0, return_index=True, return_inverse=True)
    votes = np.zeros((len(keys), M), dtype=int)
    np.add.at(votes, (member.reshape(-1), values), 1)
    pairs = np.column_stack([first[member.reshape(-1)], np.arange(len(words))])  # each row with the first of its cell
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    apart = pairs[values[pairs[:, 0]] != values[pairs[:, 1]]]
    chosen = apart if len(apart) else pairs
    return Cells(words, states, values, cell, keys[(votes > 0).sum(1) > 1], float(votes.max(1).sum() / votes.sum()),
                 tuple(chosen[0].tolist()) if len(chosen) else None)  # fmt: skip


def _spelled(numbers):
    return printed("-".join(map(str, numbers)))


@styled
def word_picture(layer: str, n: int, bits: int) -> Figure:
    """The states of all 5^n expressions, coloured by value (on a line, a row for each value); yellow cells hold several values,
    so no readout is right."""
    seen = cells(layer, n, bits)
    flat = seen.states.shape[1] == 1
    figure, axes = new_figure(3.2 if flat else 4.6, left=0.75, right=1.6, top=0.35, bottom=0.55)
    states, values = seen.states, seen.values
    low = states.min(0)
    at = np.column_stack([states, values]) if flat else states
    tall = M if flat else seen.cell
    corners = [(low[0] + k[0] * seen.cell, -0.5 if flat else low[1] + k[1] * seen.cell) for k in seen.mixed]
    axes.add_collection(PatchCollection([Rectangle(corner, seen.cell, tall) for corner in corners],
                                        fc=MIXED, ec=MIXED, lw=0.3, zorder=1))  # fmt: skip
    if 2**bits <= 32:
        borders = np.arange(2**bits + 1)[:, None] * seen.cell + low
        axes.vlines(borders[:, 0], *((-0.5, M - 0.5) if flat else borders[[0, -1], 1]), color=FAINT, lw=0.6, zorder=1.5)
        if not flat:
            axes.hlines(borders[:, 1], *borders[[0, -1], 0], color=FAINT, lw=0.6, zorder=1.5)
    colours = np.array([value_colour(v, M) for v in range(M)])
    size = max(3.0, 8 - n)
    axes.scatter(*at.T, s=size**2, c=colours[values], edgecolors=INK, linewidths=0.4, zorder=3)
    if seen.pair:
        _mark(axes, at[list(seen.pair)], [_spelled(seen.words[i]) for i in seen.pair])
    axes.grid(False)
    if flat:
        axes.set(yticks=range(M), ylim=(-0.5, M - 0.5), xlabel="state", ylabel="value mod 5")
    else:
        axes.set(aspect="equal", xlabel="first number of the state", ylabel="second number")
    axes.set_title(f"{layer}, {M**n} expressions of n = {n}")
    shown = [Line2D([], [], ls="", marker="o", mfc=c, mec=INK, mew=0.4, label=str(v)) for v, c in enumerate(colours)]
    shown += [Rectangle((0, 0), 1, 1, fc=MIXED, label="cell with\nseveral values")]
    axes.legend(handles=shown, title="value", loc="upper left", bbox_to_anchor=(1.01, 1.03), title_fontsize=SMALL)
    return figure


def _mark(axes: Axes, ends: np.ndarray, names: Sequence[str]):
    """Two points, joined, named; the lower name below its point."""
    axes.plot(*ends.T, color=INK, lw=1.6, zorder=2.5)
    order = np.argsort(ends[:, 1], kind="stable")
    for place, side in zip(order, (-1, 1)):
        axes.plot(*ends[place], "o", ms=13, mfc="none", mec=INK, mew=1.6, zorder=4)
        axes.annotate(names[place], ends[place], (10, 11 * side), textcoords="offset points", fontsize=10,
                      va="center", zorder=5, bbox={"fc": "white", "ec": FAINT, "pad": 1.5, "lw": 0.6})  # fmt: skip


def word_sentence(layer: str, n: int, bits: int) -> str:
    """What :func:`word_picture` shows, with the pair that refutes every readout of these cells."""
    seen = cells(layer, n, bits)
    each = "bits" if seen.states.shape[1] == 1 else "bits a number"
    start = f"n = {n}, {bits} {each}: "
    if seen.pair is None:
        return (f"{start}all {M**n} expressions lie in cells of their own: a readout that sees the cell can be right "
                "on all.")  # fmt: skip
    pair, values = seen.words[list(seen.pair)].tolist(), seen.values[list(seen.pair)].tolist()
    first, second = map(_spelled, pair)
    if values[0] != values[1]:
        return (f"{start}<b>{first}</b> and <b>{second}</b> share a cell, but their values are {values[0]} and "
                f"{values[1]}. The best readout of these cells is right on {seen.best:.0%} of the {M**n} expressions.")
    one, other = map(_spelled, refutation(*pair))
    return (f"{start}{first} and {second} share a cell, and here also a value; but then <b>{one}</b> and "
            f"<b>{other}</b> are just as close, and their values differ.")  # fmt: skip


@styled
def same_answer() -> Figure:
    """The states of 0-a-b under the digits layer at the heights of their values; 0-0-1 and 0-1-0 are named."""
    words, states = word_states("digits (A = 7)", 3)
    words, x = words[:25], states[:25, 0]
    values = np.array([value(word) for word in words])
    figure, axes = new_figure(2.7, left=0.75, right=0.3, top=0.15, bottom=0.55)
    axes.scatter(x, values, s=46, c=[value_colour(v, M) for v in values], edgecolors=INK, linewidths=0.5, zorder=3)
    for word in ((0, 0, 1), (0, 1, 0)):
        at = int(x[(words == word).all(1)][0]), value(word)
        axes.plot(*at, "o", ms=13, mfc="none", mec=LIVE, mew=1.8)
        axes.annotate(f"{_spelled(word)}: x = {at[0]}", at, (-8, 14), textcoords="offset points")
    axes.set(xlabel="state x of 0 − a − b", ylabel="value modulo 5", yticks=range(M), ylim=(-0.5, M))
    return figure


@styled
def collisions(states: Mapping[int, int], refuted: Mapping[int, Sequence[str] | None]) -> Figure:
    """For each A how many states the expressions of three numbers have, and two expressions that refute the layer."""
    figure, axes = new_figure(2.7, left=0.75, right=1.9, top=0.2, bottom=0.55)
    for row, (A, found) in enumerate(states.items()):
        pair = refuted[A]
        axes.barh(row, found, height=0.6, color=FAINT if pair else LIVE)
        said = f"{printed(pair[0])} and {printed(pair[1])}" if pair else "no two share a state"
        axes.annotate(said, (found, row), (6, 0), textcoords="offset points", va="center", fontsize=SMALL)
    axes.set(xlabel="different states of the 125 expressions of three numbers", xlim=(0, 5**3), ylim=(len(states) - 0.5, -0.5))
    axes.set_yticks(range(len(states)), [f"A = {printed(str(A))}" for A in states])
    axes.axvline(5**3, color=INK, lw=1, ls="--")
    axes.grid(False)
    return figure


# --- dials (Theorems D and D') ----------------------------------------------------------------------------------------

GATES = {
    "leave": (1.0, 0), "turn 72°": (1.0, 72), "turn 120°": (1.0, 120), "turn 180°": (1.0, 180), "reset": (0.0, 0),
    "shrink to 60 %": (0.6, 0),
}  # fmt: skip
POINTS = {"0": 0.9 * np.exp(1.1j), "1": 0.6 * np.exp(3.6j), "-": 0.4 * np.exp(-0.9j)}  # where a letter resets to
KILLERS = {"0-1-0-1": 3, "1-0-0-1": 0}  # and their values mod 5
STEP, DIAL = 0.74, 0.27  # inches between two dials, radius of one


def block_path(word: str) -> np.ndarray:
    """The states (T + 1, 2) of the block of size 2 of section 5, which stores the first number; the minus does nothing."""
    path = [np.zeros(2)]
    for letter in word:
        s = 0 if letter == "-" else int(letter) / (M - 1)
        A, drive = np.array([[1, -s], [0, 0]]), np.array([s, 1])
        path.append(path[-1] if letter == "-" else A @ path[-1] + drive)
    return np.array(path)


def killers_widget() -> Moving:
    """A channel with a gate to choose for each letter, and beside it a block of size 2: a dial is the complex plane around the
    centre of the turns, its dot the state."""
    points = {letter: [point.real, point.imag] for letter, point in POINTS.items()}
    data = {"gates": GATES, "points": points, "words": KILLERS, "M": M,
            "colours": [value_colour(value, M) for value in (*range(M), -1)]}  # fmt: skip
    opened = {"zero": "leave", "one": "turn 72°", "minus": "turn 180°", "block": True}
    alt = ("Dials of one channel that reads the words 0-1-0-1 and 1-0-0-1, with a menu for what each letter does to it. "
           "They differ on the way and end alike. Beside them squares of a block of size 2 that reads the same words, and remembers.")  # fmt: skip
    return Moving("killers", data, opened, alt)


@styled
def layers_run(cascade: DiagonalCascade, word: str, names: Sequence[str]) -> Figure:
    """Every channel of a cascade while it reads at most 7 tokens: a row of dials a channel, lowest first, with marks at the
    places that it turns among; names (T + 1) are below the steps."""
    tokens = [cascade.symbols.index(letter) for letter in word]
    points = np.array([cascade.points(state) for state in (cascade.start, *cascade.run(tokens))])  # (T + 1, channels)
    channels = [(depth, channel) for depth, layer in enumerate(cascade.layers, 1) for channel in layer]
    figure, axes = canvas(0.68 * len(channels) + 0.7)
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


def _dial(axes: Axes, x: float, y: float, state: complex, ring: float = 0.9, order: int = 0):
    """The unit disc with a state in it and a line from the centre to it."""
    axes.add_patch(Circle((x, y), DIAL, fc="white", ec=INK if ring > 1 else FAINT, lw=ring, zorder=2))
    for k in range(order):
        mark = np.exp(2j * np.pi * k / order)
        axes.plot(x + DIAL * mark.real, y + DIAL * mark.imag, "o", ms=3, color=FAINT, zorder=2.5)
    tip = (x + DIAL * state.real, y + DIAL * state.imag)
    axes.plot([x, tip[0]], [y, tip[1]], color=FAINT, lw=1.2, zorder=3)
    axes.plot(*tip, "o", ms=6.5, color=INK, zorder=4)


@styled
def bits_by_length(used: Sequence[int]) -> Figure:
    """The bits that the state of the base-7 layer takes after 1, 2, ... numbers, beside those that any layer with one A
    needs (Theorem A) and those of a float."""
    n = np.arange(1, len(used) + 1)
    figure, axes = new_figure(2.8, right=1.5, bottom=0.55)
    axes.plot(n, used, color=LIVE)
    axes.plot(n, n * np.log2(M), color=INK, ls="--")
    axes.axhline(53, color=FAINT, lw=1.2)
    for height, name in ((used[-1], "base 7"), (n[-1] * np.log2(M), "at least"), (53, "a float holds")):
        axes.annotate(name, (n[-1], height), (6, 0), textcoords="offset points", va="center")
    axes.set(xlabel="numbers in the expression", ylabel="bits of the state", xlim=(0, n[-1]), ylim=(0, None))
    return figure


@styled
def turn_or_reset() -> Figure:
    """Five states under a letter that turns them by 72° about their mean, and under one that resets them."""
    R, c = np.exp(2j * np.pi * np.arange(5) / 5), 0.5 + 0.3j
    figure, axes = new_figure(2.7, columns=2, left=0.1, right=0.1, top=0.4, bottom=0.1, gap=0.3)
    for panel, title, to in ((axes[0], "a turn: |a| = 1", np.roll(R, -1)), (axes[1], "a reset: a = 0", np.full(5, -0.2 - 0.2j))):
        for x, y in zip(R + c, to + c):
            panel.annotate("", (y.real, y.imag), (x.real, x.imag),
                           arrowprops={"arrowstyle": "-|>", "color": LIVE, "lw": 1.6, "shrinkA": 5, "shrinkB": 5})  # fmt: skip
            panel.plot(x.real, x.imag, "o", ms=7, color=INK if abs(to[0] - to[1]) else FAINT)
        panel.plot(c.real, c.imag, "+", ms=10, color=RECORDED)
        panel.plot(to.real + c.real, to.imag + c.imag, "o", ms=7, color=INK)
        panel.set(title=title, xlim=(-1.4, 2.4), ylim=(-0.95, 1.55))
        panel.set_aspect("equal")
        panel.set_axis_off()
    axes[0].annotate("mean c", (c.real, c.imag), (8, -12), textcoords="offset points", color=RECORDED)
    return figure


@styled
def stored_first(words: Sequence[str]) -> Figure:
    """Where the state of the block of size 2 goes as it reads words that begin with different numbers."""
    figure, axes = new_figure(2.6, left=0.75, right=0.3, bottom=0.55)
    for word in words:
        path, first = block_path(word), int(word[0])
        axes.annotate("", path[1], path[0], arrowprops={"arrowstyle": "-|>", "color": value_colour(first, M), "lw": 1.8, "shrinkB": 6})
        axes.plot(*path[1:].T, "o", ms=9, color=value_colour(first, M), mec=INK)
        axes.annotate(printed(word), path[-1], (0, 9), textcoords="offset points", ha="center")
    axes.plot(0, 0, "s", ms=7, color=INK)
    axes.set(xlabel="first number of the state", ylabel="second number", xlim=(-0.15, 1.15), ylim=(-0.12, 1.3), yticks=[0, 1])
    return figure


# --- lights: which exact models fit -----------------------------------------------------------------------------------

SIZES, DEPTHS = (1, 2, 3, 4, 5, 6, 8, 10, 13, 25), (1, 2, 3)
LIGHTS = {True: ("#009E73", "✓", "an exact model fits"), False: ("#D9D9D9", "×", "impossible"),
          None: ("#FFFFFF", "?", "open")}  # fmt: skip
MAX_TOKENS_PLAYED = 16  # tokens that are played
SAMPLES = {
    "Parity": "0110111010", "Sum(5)": "0324410321", "(abab)*": "ababababba", "EvenPair(5)": "3021430133",
    "a-b-c mod 5": "3-1-4-0-2-2", "ModArith(5)": "2×3+4-1×3", "D_2": "aabbabaabb", "D_4": "aabaaabbbb",
    "D_12": "aaaaaabbbabbbb", "Tomita 3": "1101100110", "Tomita 4": "0100100010", "Tomita 6": "0010110010",
    "S_3": "ststtsstt", "A_5": "sttsttstt",
}  # fmt: skip


@cache
def board(task: str) -> dict[tuple[int, int], Fit]:
    """All the lights of a task, by (layers, b), for b in ``SIZES`` and layers in ``DEPTHS``; seconds for ModArith(5)."""
    return {(layers, b): fits(task, b, layers) for layers in DEPTHS for b in SIZES}


def play(found: Construction, word: str) -> list[dict]:
    """What a picture of a run needs: for the start and each token the numbers of the state and the answer (-1: none)."""
    answers = pair_up(found.model, found.machine)[0]
    states = [found.model.start, *found.model.run(read(found.machine, word))]
    return [{"token": token, "x": found.model.points(state), "answer": answers.get(state, -1)}
            for token, state in zip(["", *word], states)]  # fmt: skip


def played(task: str, typed: str = "") -> tuple[str, str]:
    """(word, note): the word typed if the task can read it, else its sample word and a note that says so."""
    machine, word = language(task).machine, typed.translate(str.maketrans("*−–", "×--")).strip()
    if word and set(word) <= set(machine.symbols):
        return word[:MAX_TOKENS_PLAYED], ""
    note = f"{task} reads {' '.join(map(printed, machine.symbols))}, so this is its sample word. " if word else ""
    return SAMPLES[task], note


@styled
def fit_lights(task: str, b: int, layers: int, word: str = "") -> Figure:
    """Above, the lights of a task, the chosen one ringed; below, its exact model reading a word, if there is one: a row for
    each number of the state, real and imaginary parts apart, with the answers under it."""
    figure, panels = new_figure(5.1, rows=3, left=1.0, right=1.25, top=0.6, bottom=0.1)
    width, height = figure.get_size_inches()
    tall = ((3.5, 1.15), (0.85, 1.95), (0.3, 0.35))
    for axes, (low, high) in zip(panels, tall):
        axes.set_position([1.0 / width, low / height, (width - 2.25) / width, high / height])
        axes.grid(False)
    _lights(panels[0], task, b, layers)
    construction = board(task)[layers, b].construction
    if construction is None:
        for axes in panels[1:]:
            axes.set_axis_off()
        panels[1].text(0.5, 0.5, "nothing to play: no exact model is known here", transform=panels[1].transAxes,
                       ha="center", va="center", color=FAINT)  # fmt: skip
        return figure
    machine = construction.machine
    _state(panels[1], panels[2], play(construction, played(task, word)[0]), max(2, int(machine.outputs.max()) + 1))
    return figure


def _lights(axes: Axes, task: str, b: int, layers: int):
    for known, (colour, sign, _) in LIGHTS.items():  # markers, not texts: thirty texts take half a second
        at = [(SIZES.index(size), DEPTHS.index(depth)) for (depth, size), found in board(task).items()
              if found.known is known]  # fmt: skip
        if at:
            axes.scatter(*zip(*at), s=330, color=colour, edgecolors=FAINT, linewidths=0.8, label=sign)
            axes.scatter(*zip(*at), s=60, marker=f"${sign}$", color=INK, linewidths=0)
    axes.scatter(SIZES.index(b), DEPTHS.index(layers), s=330, facecolors="none", edgecolors=INK, linewidths=3.0)
    axes.set(xlim=(-0.6, len(SIZES) - 0.4), ylim=(len(DEPTHS) - 0.45, -0.55), aspect="equal",
             title=f"{printed(task)}: is there an exact model?")  # fmt: skip
    axes.set_xticks(range(len(SIZES)), [f"b ≤ {size}" if size == 1 else str(size) for size in SIZES])
    axes.set_yticks(range(len(DEPTHS)), ["1 layer", "2 layers", "3 layers"])
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    for place, (_, sign, says) in enumerate(LIGHTS.values()):
        axes.annotate(f"{sign} {says.replace('an exact model ', 'a model ')}", (1.02, 0.85 - 0.33 * place),
                      xycoords="axes fraction", fontsize=SMALL, va="center")  # fmt: skip


def _state(axes: Axes, below: Axes, rows: list[dict], classes: int):
    """The numbers of the state as a picture, a column a token, and the answers in circles below."""
    x = np.array([row["x"] for row in rows]).T  # (numbers, T + 1)
    parts = [part for entry in x for part in ((entry.real, entry.imag) if np.abs(entry.imag).max() > 1e-9
                                              else (entry.real,))]  # fmt: skip
    reach = max(1.0, float(np.abs(parts).max()))
    drawn = heatmap(axes, parts, reach)
    axes.set_xticks(range(len(rows)), ["start", *(printed(row["token"]) for row in rows[1:])], fontsize=10)
    axes.xaxis.tick_top()
    axes.tick_params(length=0)
    axes.set_yticks([])
    axes.set_ylabel(f"state: {len(parts)} number{'s' if len(parts) > 1 else ''}")
    bar = axes.figure.colorbar(drawn, cax=axes.inset_axes([1.02, 0.0, 0.025, 1.0]))
    bar.outline.set_edgecolor(FAINT)
    below.set(xlim=axes.get_xlim(), ylim=(-0.5, 0.5))
    below.set_axis_off()
    axes.annotate("answer", (-0.02, -0.19), xycoords="axes fraction", ha="right", va="center", fontsize=SMALL)
    for t, row in enumerate(rows):
        colour = value_colour(row["answer"], classes)
        below.text(t, 0, str(row["answer"]) if row["answer"] >= 0 else "–", ha="center", va="center", fontsize=SMALL,
                   color=ink_on(colour), bbox={"boxstyle": "round,pad=0.3", "fc": colour, "ec": FAINT, "lw": 0.8})


def fit_sentence(task: str, b: int, layers: int, word: str = "") -> str:
    """What the chosen light says, and what is played."""
    found = board(task)[layers, b]
    start = f"{task}, blocks up to b = {b}, {layers} layer{'s' if layers > 1 else ''}: "
    if found.construction is None:
        why = found.why.removeprefix("open: ")
        return f"{start}<b>{LIGHTS[found.known][2]}</b>, {why}."
    text, note = played(task, word)
    within = found.construction.model.column_norm(1.2) < 1 + 1e-9
    return (f"{start}<b>an exact model fits</b>, {found.why}; its columns {'obey' if within else 'break'} Eq. 6 with "
            f"p = 1.2. {note}Played: {printed(text)}.")  # fmt: skip


def brackets() -> MooreMachine:
    """The automaton of D_2, its sink called so."""
    machine = language("D_2").machine
    return replace(machine, names=["sink" if name == "None" else name for name in machine.names])
