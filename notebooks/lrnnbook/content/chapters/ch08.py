"""Chapter 08, working memory in depth: its pictures with their sentences, and its tables.

A node of RegularGPT's tree is over the last letter of its word and holds what the word does to every state: an element of
the machine's transition monoid, named by a shortest word that does the same (e: nothing).

Letters: T time, c chunk (the paper's C), l depth or layers done; n states, m elements; e size of the errors; p = P(1).
"""

from __future__ import annotations

import copy
import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import matplotlib
import numpy as np
import pandas as pd
import torch
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.colors import ListedColormap, to_rgb
from matplotlib.figure import Figure
from torch import Tensor, nn

from lrnnbook.content.chapters import tree_composition as composition
from lrnnbook.content.chapters.tree_composition import Tree, grow
from lrnnbook.content.show import regulargpt_figures as pictures
from lrnnbook.content.show.frames import log_ticks
from lrnnbook.content.show.interactive import Moving
from lrnnbook.content.show.labels import named
from lrnnbook.content.show.style import (
    FAINT,
    GRID,
    INK,
    LIVE,
    PAGE,
    SMALL,
    SOURCES,
    canvas,
    colour_bar,
    ink_on,
    label_ends,
    new_figure,
    printed,
    styled,
)
from lrnnbook.content.tables import ladder, regulargpt_table1
from lrnnbook.content.tables import regulargpt_fig3 as fig3
from lrnnbook.content.tables import regulargpt_fig4 as fig4
from lrnnbook.content.tables import regulargpt_table1 as table1
from lrnnbook.content.tables import regulargpt_table3 as table3
from lrnnbook.content.tables.declared import paper
from lrnnbook.content.tables.regulargpt_fig3 import elements_by_depth, states_by_depth
from lrnnbook.content.tables.regulargpt_fig4 import cumulative_gradient
from lrnnbook.content.tables.results import percent
from lrnnbook.content.tables.word_actions import appended, machine_of, multiplication_table
from lrnnlab.automata import MooreMachine, transition_monoid
from lrnnlab.automata.languages import read
from lrnnlab.models import build
from lrnnlab.models.layers.attention import dilated_mask
from lrnnlab.tasks import Task
from lrnnlab.tasks.batch import answered
from lrnnlab.training import rng
from lrnnlab.training.evaluation import accuracy_at_lengths

# ------------------------------------------------------------------------------------------------------------ the tree

WORDS = {  # task -> a word to open on
    "Parity": "1011000110101101", "Cycle Navigation": "++0-+++--+0+++-+", "S_3": "ststtsstttsts",
    "D_2": "aababbabaabbab", "Tomita 3": "1101100110001001",
}  # fmt: skip
MERGED = (  # tasks whose units for a merge are counted
    "Parity", "(aa)*", "Sum(5)", "EvenPair(2)", "EvenPair(5)", "Tomita 5", "Tomita 6", "S_3", "A_5", "ModArith(5)", "D_2", "D_3",
    "D_4", "D_12", "Tomita 3", "Tomita 4",
)  # fmt: skip
CHUNKS = (2, 3, 4, 8, 16)
ORDERS = ("earlier first", "as printed")
MAX_LETTERS_DRAWN = 16  # letters that are drawn
LEFT, ACROSS, LOW, HIGH = 0.95, 4.8, 0.45, 4.35  # inches: of the first letter, from it to the last, of letters and root
MASK = 0.92  # inches, the largest side of a mask


def asked(task: str, string: str) -> tuple[tuple[int, ...], str]:
    """The tokens of what was typed, and a note if it had to be cut, or if the task reads other letters."""
    machine, word = machine_of(task), "".join(string.split()).translate(str.maketrans("−–", "--"))
    if not word:
        return read(machine, WORDS[task])[:MAX_LETTERS_DRAWN], ""
    if not set(word) <= set(machine.symbols):
        letters = " ".join(map(printed, machine.symbols))
        return read(machine, WORDS[task])[:MAX_LETTERS_DRAWN], f"{task} reads {letters}, so this is a word of its own. "
    note = f"Only the first {MAX_LETTERS_DRAWN} letters are drawn. " if len(word) > MAX_LETTERS_DRAWN else ""
    return read(machine, word)[:MAX_LETTERS_DRAWN], note


@styled
def chunk_tree(task: str, string: str, C: int, order: str = ORDERS[0]) -> Figure:
    """The tree over a string (circles; dots: what masks compute as well), and the mask of each depth (Eq. 1).

    A dashed line leads to a place before the start; in a mask the rows that the tree needs are dark.
    """
    tree = _grown(task, string, C, order)
    figure, axes = canvas(HIGH + 0.65)
    rise = (HIGH - LOW) / tree.depths
    heights = [LOW + rise * row for row in range(tree.depths + 1)]
    _edges(axes, tree, heights)
    _nodes(axes, tree, heights)
    for depth, high in enumerate(heights[1:]):
        axes.text(0.12, high, f"depth {depth}", va="center", fontsize=SMALL)
        _mask(axes, tree, depth, high, min(MASK, rise - 0.1))
    axes.text(PAGE - MASK - 0.12, HIGH + 0.3, "who sees whom", fontsize=SMALL, va="bottom")
    return figure


def _grown(task, string, C, order):
    return grow(machine_of(task), asked(task, string)[0], C, order == ORDERS[1])


def _across(tree, position):
    return LEFT + min(0.7, ACROSS / max(1, len(tree.tokens) - 1)) * np.asarray(position)


def _edges(axes: Axes, tree: Tree, heights):
    """Faint lines for all positions (the masks), dark ones for the tree, dashed ones out of the string."""
    T, faint, dark, out = len(tree.tokens), [], [], []
    for depth in range(tree.depths):
        kept = set(tree.kept(depth))
        for position in range(T):
            for j in range(tree.chunk):
                child = position - j * tree.chunk**depth
                line = [(_across(tree, child), heights[depth]), (_across(tree, position), heights[depth + 1])]
                if child >= 0:
                    (dark if position in kept else faint).append(line)
                elif position in kept:
                    out.append(line)
    axes.add_collection(LineCollection(faint, colors=GRID, lw=0.7, zorder=1), autolim=False)
    axes.add_collection(LineCollection(dark, colors=INK, lw=1.3, zorder=2), autolim=False)
    # what lies left of the letters is padding: the lines end in the margin
    short = [[_cut(line), line[1]] for line in out]
    axes.add_collection(LineCollection(short, colors=FAINT, lw=1.0, linestyles=[(0, (3, 2))], zorder=2), autolim=False)


def _cut(line, edge=LEFT - 0.22):
    """Where a line from (x, y) to the left meets the margin."""
    (x0, y0), (x1, y1) = line
    return edge, y1 + (y0 - y1) * (x1 - edge) / (x1 - x0)


def _nodes(axes: Axes, tree: Tree, heights):
    colours, names = pictures.element_colours(tree.machine, tree.monoid.elements), pictures.element_names(tree.machine)
    dots = [(position, row) for row in range(1, tree.depths + 1)
            for position in set(range(len(tree.tokens))) - set(tree.kept(row - 1))]  # fmt: skip
    nodes = [(position, row) for row in range(tree.depths + 1) for position in tree.kept(row - 1)]
    for places, size, edge in ((dots, 14, 0.0), (nodes, 250, 0.8)):
        shown = [colours[tree.elements[row, position]] for position, row in places]
        axes.scatter(_across(tree, [p for p, _ in places]), [heights[row] for _, row in places], s=size, c=shown,
                     edgecolors=FAINT, linewidths=edge, zorder=3)  # fmt: skip
    for position, row in nodes:
        element = int(tree.elements[row, position])
        name = printed(tree.machine.symbols[tree.tokens[position]]) if row == 0 else names[element]
        fits = len(name) <= 2  # a longer name is written beside its circle
        axes.text(_across(tree, position) + (0 if fits else -0.15), heights[row] + (0 if fits else 0.16), name,
                  ha="center" if fits else "right", va="center", fontsize=SMALL, zorder=4,
                  color=ink_on(colours[element]) if fits else INK)  # fmt: skip
    axes.text(0.12, heights[0], "letters", va="center", fontsize=SMALL)


def _mask(axes: Axes, tree: Tree, depth: int, high: float, side: float):
    """Who (row, from above) sees whom (column) at a depth; side in inches, its upper edge a little above ``high``."""
    seen = np.isfinite(dilated_mask(len(tree.tokens), tree.chunk, depth).numpy())
    picture = np.ones((*seen.shape, 3))
    picture[seen] = to_rgb(GRID)
    rows = tree.kept(depth)
    picture[rows] = np.where(seen[rows, :, None], to_rgb(INK), picture[rows])
    left, top = PAGE - MASK - 0.12, high + 0.12
    axes.imshow(picture, extent=(left, left + side, top - side, top), interpolation="nearest", aspect="auto", zorder=2)
    axes.plot([left, left + side, left + side, left, left], [top, top, top - side, top - side, top], color=FAINT, lw=0.8)


def tree_sentence(task: str, string: str, C: int, order: str = ORDERS[0]) -> str:
    """Depths, work, and whether the root has the answer, as HTML; what was typed is repeated only where it was read."""
    tree, note = _grown(task, string, C, order), asked(task, string)[1]
    T, word = len(tree.tokens), printed("".join(tree.machine.symbols[token] for token in tree.tokens))
    kept = sum(len(tree.kept(depth)) for depth in range(tree.depths))
    truth, name = int(tree.machine.answer(list(tree.tokens))[-1]), pictures.element_names(tree.machine)[tree.root]
    did = f"The root does {'nothing' if name == pictures.NOTHING else f'what <b>{name}</b> does'}, answer {tree.answer}"
    fair = "as letter after letter" if truth == tree.answer else (
        f"but letter after letter the answer is {truth}: <b>wrong</b>")  # fmt: skip
    turned = "" if order == ORDERS[0] else " In the printed order the tree reads the string backwards."
    return (f"{note}{word}: {T} letters in chunks of {C} take <b>{tree.depths} depth{'s' * (tree.depths > 1)}</b>, "
            f"{kept} nodes in the tree, {T * tree.depths} with masks. {did}{'; ' if truth != tree.answer else ', '}"
            f"{fair}.{turned}")  # fmt: skip


@styled
def routes_picture(C: int = 3, depths: int = 3) -> Figure:
    """Masks of each depth, and the routes that they make to each letter: with steps C^l (above) and 2^l (below)."""
    T = C**depths
    back = np.subtract.outer(np.arange(T), np.arange(T))
    figure, grid = new_figure(3.25, rows=2, columns=depths + 1, left=0.85, right=0.75, top=0.35, bottom=0.1, gap=0.25)
    rows = []
    for base in (C, 2):
        masks = [np.isin(back, base**depth * np.arange(C)).astype(int) for depth in range(depths)]
        rows.append([*masks, np.linalg.multi_dot(masks[::-1])])
    most = max(int(row[-1].max()) for row in rows)
    looks = ListedColormap(["white", *matplotlib.colormaps["Blues"](np.linspace(0.35, 1, most))])
    for panels, row, base in zip(grid, rows, (C, 2)):
        for axes, matrix in zip(panels, row):
            drawn = axes.imshow(matrix, cmap=looks, vmin=-0.5, vmax=most + 0.5, interpolation="nearest")
            axes.set(xticks=[], yticks=[])
            axes.spines[:].set_visible(True)
        panels[0].set_ylabel("steps " + ", ".join(str(base**depth) for depth in range(depths)))
    for axes, title in zip(grid[0], [*(f"depth {depth}" for depth in range(depths)), "routes"]):
        axes.set_title(title)
    colour_bar(figure, drawn)
    figure.axes[-1].set_yticks(range(most + 1))
    return figure


@styled
def order_picture(word: str = "abcdefgh") -> Figure:
    """The tree over a word with what each node has read: left the earlier word first, right in the order of the printed heads."""
    figure, axes = canvas(2.6)
    for left, title, turned in ((0.3, "earlier word first", False), (3.95, "as printed: later word first", True)):
        axes.text(left, 2.35, title, fontsize=11)
        across, held = left + 0.15 + 0.39 * np.arange(len(word)), list(word)
        for row in range(4):
            high = 0.2 + 0.6 * row
            for x, text in zip(across, held):
                axes.text(x, high, text, ha="center", va="center", zorder=3, color=LIVE if turned and row else INK,
                          bbox={"fc": "white", "ec": "none", "pad": 1})  # fmt: skip
            if row < 3:
                middles = across.reshape(-1, 2).mean(1)
                lines = [[(x, high), (middle, high + 0.6)] for middle, pair in zip(middles, across.reshape(-1, 2)) for x in pair]
                axes.add_collection(LineCollection(lines, colors=FAINT, lw=1.2, zorder=1), autolim=False)
                held = [v + u if turned else u + v for u, v in zip(held[::2], held[1::2])]
                across = middles
    return figure


@styled
def units_of_a_merge() -> Figure:
    """Left, the unit ReLU(a + b - 1) between the bits; right, by s, that unit, the two ReLUs that repair, and where s lies if bits
    are off by up to an eighth."""
    figure, (gate, ramp) = new_figure(3.1, columns=2, left=0.5, right=0.2, top=0.4, bottom=0.5, gap=0.9, width_ratios=(1, 1.7))
    _gate(gate)
    s = np.linspace(-1.25, 1.25, 251)
    for low, high in ((-1.25, 0.25), (0.75, 1.25)):
        ramp.axvspan(low, high, color=GRID, alpha=0.5, lw=0)
    ramp.plot(s, np.maximum(s, 0), color=INK, ls=(0, (4, 3)), label="ReLU(s): Lemma 1")
    ramp.plot(s, np.maximum(2 * s - 0.5, 0) - np.maximum(2 * s - 1.5, 0), color=LIVE, label="two ReLUs: repairs")
    ramp.set(xlim=(-1.25, 1.25), ylim=(-0.05, 1.3), xticks=[-1, 0, 0.25, 0.75, 1], yticks=[0, 1], xlabel="s = a + b − 1", title="one unit")
    ramp.set_xticklabels(["−1", "0", "¼", "¾", "1"])
    ramp.legend(loc="upper left")
    return figure


def _gate(axes: Axes) -> None:
    a = np.linspace(0, 1, 101)
    axes.imshow(np.maximum(a + a[:, None] - 1, 0), origin="lower", extent=(0, 1, 0, 1), cmap="Blues", vmax=1.3)
    for x, y in itertools.product((0, 1), repeat=2):
        axes.text(0.1 + 0.8 * x, 0.1 + 0.8 * y, f"{x * y}", ha="center", va="center", fontsize=14, fontweight="bold")
    axes.set(xticks=[0, 1], yticks=[0, 1], xlabel="a", ylabel="b", title="ReLU(a + b − 1)")
    axes.grid(False)


@styled
def units_picture() -> Figure:
    """Left, the unit ReLU(a + b - 1) between the bits; right, states and actions of ``MERGED``: do gates or Lemma 1 need less?"""
    figure, (gate, plane) = new_figure(3.5, columns=2, left=0.4, right=0.2, top=0.4, gap=0.9, width_ratios=(1, 2.2))
    _gate(gate)
    n = np.array([1.5, 100])
    plane.fill_between(n, n**1.5, 1, color=SOURCES["recorded"].colour, alpha=0.12, lw=0)
    plane.plot(n, n**1.5, color=INK, lw=1, ls=(0, (4, 3)))
    at: dict[tuple[int, int], list[str]] = {}
    for name in MERGED:
        machine = machine_of(name)
        place = machine.num_states, len(transition_monoid(machine))
        at.setdefault(place, []).append(re.sub(r"_(\d+)", r"$_{\1}$", name))
    for (states, actions), names in at.items():
        left = states < 8 and names[0][:2] in ("D$", "S$")  # on the other side of what lies close by
        plane.plot(states, actions, "o", color=LIVE, ms=5)
        plane.annotate(", ".join(names), (states, actions), (-6, 3) if left else (6, -6), textcoords="offset points", va="center",
                       ha="right" if left else "left", fontsize=SMALL)  # fmt: skip
    log_ticks(plane, x=(2, 5, 10, 20, 50, 100), y=(2, 10, 100, 1000))
    plane.set(xlim=(1.5, 100), ylim=(1.2, 1500), xlabel="states n", ylabel="actions m")
    plane.text(95, 2.2, "fewer gates: m² < n³", ha="right")
    plane.text(1.7, 250, "fewer units in\nLemma 1: n³ < m²")
    return figure


def filling_widget() -> Moving:
    """The tree over 16 letters in chunks of two as it fills, merge by merge; a letter that is changed is merged again."""
    tasks = {}
    for task in NOISY:
        machine, monoid = machine_of(task), transition_monoid(machine_of(task))
        colours = pictures.element_colours(machine, monoid.elements)
        tasks[task.replace("S_3", "S₃")] = {
            "symbols": list(machine.symbols), "letters": appended(machine)[1][:, 0].tolist(),
            "times": multiplication_table(monoid).tolist(), "answers": machine.outputs[monoid.elements[:, machine.initial]].tolist(),
            "names": pictures.element_names(machine), "colours": colours, "inks": [*map(ink_on, colours)],
            "word": [int(token) for token in read(machine, 2 * WORDS[task])[:MAX_LETTERS_DRAWN]],
        }  # fmt: skip
    alt = ("A binary tree over 16 letters, with a button that plays its merges and a slider over them. Each circle is named by a "
           "shortest word that does the same as its letters. A press changes a letter; what is merged again is orange.")  # fmt: skip
    return Moving("tree", {"tasks": tasks}, {"task": "Cycle Navigation", "word": tasks["Cycle Navigation"]["word"], "done": 2,
                                             "changed": None}, alt)  # fmt: skip


# --------------------------------------------------------------------------------------------------------------- noise

NOISY = ("Parity", "Cycle Navigation", "S_3")
NOISES = (0.0, 0.005, 0.01, 0.02, 0.04, 0.08, 0.12, 0.125, 0.13, 0.16, 0.2, 0.24)
LAYERS = {"Lemma 1": composition.compose, "repairing": composition.rebinarised}
PLACES = {"the letters": False, "every layer": True}
NOISY_LENGTH = 512  # letters
FLAT, TOP = 0.01, 1e7  # errors below FLAT are drawn to scale, above it their logarithms


class Noisy(NamedTuple):
    """By layers done, 0..9: the largest error found, the largest possible, the share of positions whose state is read right."""

    n: int
    errors: np.ndarray
    worst: np.ndarray
    right: np.ndarray


@lru_cache(maxsize=8)  # the picture and the sentence under it ask for the same run
def noisy_run(task: str, e: float, layer: str, noise: str) -> Noisy:
    """The recursion on a random string of 512 letters, its letters (or every layer's output too) wrong by up to e."""
    machine, draw = machine_of(task), np.random.default_rng(0)
    tokens = draw.integers(machine.num_symbols, size=NOISY_LENGTH)
    noisy, exact = composition.simulate(machine, tokens, e, draw, LAYERS[layer], PLACES[noise])
    right = composition.states_read(noisy, machine) == composition.states_read(exact, machine)
    errors = np.abs(noisy - exact).reshape(len(exact), -1).max(axis=1)
    worst = composition.worst_errors(machine.num_states, e, len(errors) - 1, LAYERS[layer], PLACES[noise])
    return Noisy(machine.num_states, errors, np.array(worst), right.mean(1))


@styled
def noise_picture(task: str, e: float, layer: str, noise: str) -> Figure:
    """Left, the largest error by layers done, found and possible (dashed: what is repaired); right, the share of states read."""
    run = noisy_run(task, e, layer, noise)
    figure, (left, right) = new_figure(3.3, columns=2, left=1.1, right=0.8, top=0.4, bottom=0.55, gap=1.7)
    done = np.arange(len(run.errors))
    left.plot(done, run.worst, color=FAINT, marker="^", ms=4, label="at worst")
    left.plot(done, run.errors, color=LIVE, marker="o", ms=4, label="found")
    left.axhline(float(composition.reach(2)), color=INK, lw=1.0, ls=(0, (4, 3)), zorder=1.9, label="1/8")
    left.set_yscale("symlog", linthresh=FLAT, linscale=0.5)
    left.set(ylim=(-FLAT / 5, TOP), xlim=(0, done[-1]), xlabel="layers done", ylabel="largest error of a number",
             title=f"{task}, e = {e:g}")  # fmt: skip
    left.set_yticks([0, 0.01, 0.1, 1, 100, 1e4, 1e6], ["0", "0.01", "0.1", "1", "100", "10,000", "1,000,000"])
    left.minorticks_off()
    right.axhline(1 / run.n, color=FAINT, lw=1.2, ls=(0, (1, 2)), label="chance")
    right.plot(done, run.right, color=LIVE, marker="o", ms=4, clip_on=False, label="read")
    right.set(ylim=(0, 1), xlim=(0, done[-1]), xlabel="layers done", title="states read right")
    right.set_yticks([0, 0.25, 0.5, 0.75, 1], ["0", "25 %", "50 %", "75 %", "100 %"])
    for axes in (left, right):
        axes.set_xticks(done)
        label_ends(axes)
    return figure


@styled
def noise_lines(noises: Sequence[float], lines: Mapping[str, Sequence[float]]) -> Figure:
    """The share of right answers by the size of the error, a line for each way to merge; the walk has five ends."""
    figure, axes = new_figure(2.9, left=0.75, right=1.2, top=0.2, bottom=0.5)
    axes.axhline(1 / 5, color=FAINT, lw=1.2, ls=(0, (1, 2)), zorder=2.1, label="chance")
    for (name, shares), colour, marker in zip(lines.items(), (INK, LIVE), "so"):
        axes.plot(noises, shares, color=colour, marker=marker, ms=4, clip_on=False, label=name)
    axes.axvline(1 / 8, color=FAINT, lw=1.2, ls=(0, (4, 3)))
    axes.annotate("1/8", (1 / 8, 0.5), (4, 0), textcoords="offset points", fontsize=SMALL)
    axes.set(xlim=(0, noises[-1]), ylim=(0, 1.03), xlabel="largest error of a number, e", ylabel="right answers")
    axes.set_yticks([0, 0.5, 1], ["0", "50 %", "100 %"])
    label_ends(axes)
    return figure


@styled
def loss_picture(losses: Sequence[float], doubled: Mapping[int, int]) -> Figure:
    """The loss by step of training, and at which steps the longest strings became how long."""
    figure, axes = new_figure(2.8, left=0.75, right=0.2, top=0.55, bottom=0.5)
    axes.plot(losses, color=LIVE, lw=1.2)
    axes.axhline(np.log(2), color=FAINT, lw=1.2, ls=(0, (1, 2)))
    last, row = -np.inf, 0
    for step, length in doubled.items():
        axes.axvline(step, color=GRID, lw=1.2, zorder=0)
        row = 0 if step - last > len(losses) / 15 else row + 1  # names of steps that lie close go up
        axes.annotate(f"up to {length}" if step == 0 else str(length), (step, 1), (1, 3 + 10 * (row % 3)), xycoords=("data", "axes fraction"),
                      textcoords="offset points", fontsize=SMALL, annotation_clip=False)  # fmt: skip
        last = step
    axes.annotate("a guess", (len(losses), np.log(2)), (-2, 3), textcoords="offset points", ha="right", fontsize=SMALL)
    log_ticks(axes, y=(1, 0.1, 0.01, 0.001))
    axes.set(xlim=(0, len(losses)), xlabel="training step", ylabel="loss")
    return figure


@styled
def doubling_picture(e: float = 1 / 32) -> Figure:
    """Lemma 1 on 512 letters of Cycle Navigation, each number off by up to e: worst errors of ones and zeros, and random ones."""
    run = noisy_run("Cycle Navigation", e, "Lemma 1", "the letters")
    done, worst = np.arange(len(run.errors)), [np.eye(run.n) + e]
    for _ in done[1:]:
        worst.append(composition.compose(worst[-1], worst[-1]))
    ones, zeros = np.array([(numbers[0, 0] - 1, numbers[0, 1]) for numbers in worst]).T
    figure, axes = new_figure(3.4, left=1.0, right=1.5)
    axes.axhline(0.5, color=FAINT, lw=1.2, ls=(0, (1, 2)), label="one half")
    axes.plot(done, e * 2.0**done, color=INK, lw=1, ls=(0, (4, 3)), label="doubling")
    axes.plot(done, zeros, color=SOURCES["recorded"].colour, marker="^", ms=5, label="zeros, at worst")
    axes.plot(done, ones, color=INK, marker="s", ms=4, label="ones, at worst")
    axes.plot(done, run.errors, color=LIVE, marker="o", ms=4, label="random errors")
    log_ticks(axes, y=(0.1, *(10**k for k in range(7))))
    axes.set(xlim=(0, done[-1]), ylim=(0.02, 1e6), xlabel="layers done", ylabel="error of a number", xticks=done)
    label_ends(axes)
    return figure


def noise_sentence(task: str, e: float, layer: str, noise: str) -> str:
    """What is left of the states after the last layer."""
    run, within = noisy_run(task, e, layer, noise), e <= composition.reach(2)
    start = f"Errors of up to {e:g} in {noise}: "
    if e == 0:
        return "Without errors both layers are exact at every depth."
    if layer == "repairing" and within:
        last = "after the first layer" if noise == "the letters" else "in the next layer, so none adds to another"
        return f"{start}<b>gone</b> {last}, for any string of any length ({e:g} ≤ 1/8)."
    share = f"{run.right[-1]:.0%} of the {NOISY_LENGTH} states are read right"
    more = " Above 1/8 nothing is proved, but random errors are seldom at their worst." * (layer == "repairing")
    return (f"{start}after {len(run.errors) - 1} layers the largest is {run.errors[-1]:.3g} (at worst "
            f"{run.worst[-1]:.3g}), and <b>{share}</b>.{more}")  # fmt: skip


# ------------------------------------------------------------------------------------------------ states and gradients


def fields_sentence(looks: pd.DataFrame) -> str:
    """Where half of each net's gradient lies, of ``small_readers`` at a position, as HTML.  A net that looks at nothing is said to."""
    told = []
    for row, curve in zip(looks["row"], looks["gradient"]):
        name, half = pictures.READERS[row][0], fig4.shape(curve)["half"]
        told.append(f"{name} <b>{half}</b>" if curve[0] > 0 else f"{name} looks at nothing")
    letters = len(looks["gradient"].iloc[0])
    return f"The answer after {letters} letters. Half of the gradient lies in the last: {', '.join(told)}."


# ------------------------------------------------------------------------------------------------- records and live runs


def rows_of_table_1(desk: pd.DataFrame, nets: Sequence[str]) -> pd.DataFrame:
    """Table 1 in percent, rounded down: the paper, and greatest / mean of our seeds (how many)."""
    theirs = paper("regulargpt/table1").pivot(index="task", columns=["row", "metric"], values="value")
    cells = {}
    for net in nets:
        name = pictures.NETS[net].removeprefix("RegularGPT, ")
        both = theirs[net].dropna()
        cells[f"{name}: paper"] = both["greatest"].map("{:.1f} / ".format) + both["accuracy"].map("{:.1f}".format)
        cells[f"{name}: recorded"] = desk[desk["row"] == net].groupby("task")["accuracy"].agg(
            lambda shares: f"{percent(shares.max())} / {percent(shares.mean())} ({len(shares)})")  # fmt: skip
    cells["majority"] = desk.groupby("task")["majority"].first().map(percent)
    return pd.DataFrame(cells, index=table1.TABLE.tasks).rename(named).rename_axis("task")


def seeds_of_table_1(desk: pd.DataFrame) -> pd.DataFrame:
    """A line for each net and task: every seed beyond the trained lengths, the best one's share within them, and why it is low."""
    cells = desk.sort_values("accuracy").groupby(["row", "task"])
    best, known = cells.last(), table1.TABLE.declared.found["why"]["known"]
    found = pd.DataFrame({
        "least": cells["accuracy"].min(), "greatest": best["accuracy"],
        "each seed": cells["accuracy"].agg(lambda shares: " ".join(map(percent, shares))),
        "best seed, trained lengths": best["accuracy_seen"].map(percent),
        "why low": np.where(best["accuracy"] >= 0.9, "", np.where(best["accuracy_seen"] >= known, "lost with length", "not learned")),
    })  # fmt: skip
    order = pd.MultiIndex.from_product([pictures.NETS, table1.TABLE.tasks], names=["net", "task"])
    return found.reindex(order).dropna().rename(pictures.NETS, level="net").rename(named, level="task").reset_index()


def over_the_seam(desk: pd.DataFrame) -> Iterator[str]:
    """Of Modular Arithmetic in chunks of 2: the shares right by the number of × over the root's seam, means over seeds."""
    found = pd.DataFrame([*desk["over_the_seam"].dropna()])  # a run by length
    for length, shares in found.items():
        means = [*map(percent, np.mean([*shares], axis=0))]
        yield f"at length {length}, with {', '.join(map(str, range(len(means))))} or more ×: {' '.join(means)}"


def rows_of_table_2(desk: pd.DataFrame) -> Iterator[dict]:
    """Table 2 in percent, rounded down: the paper's means, and ours with every seed in brackets."""
    theirs = paper("regulargpt/table2").pivot(index=["metric", "row"], columns="task", values="value")
    for measure, title in regulargpt_table1.MEASURES.items():
        for net in regulargpt_table1.TABLE_2.rows:
            printed = theirs.loc[(measure, net)].map("{:.1f}".format)
            ours = desk[desk["row"] == net].groupby("task")[measure].agg(
                lambda shares: f"{percent(shares.mean())} ({' '.join(map(percent, shares))})")  # fmt: skip
            for said, cells in (("paper", printed), ("recorded", ours)):
                yield {"lengths": title, "net": pictures.NETS[net], "from": said,
                       **{f"p = {p}": cells.get(p) for p in regulargpt_table1.TABLE_2.tasks}}  # fmt: skip


def runs_of_table_2(desk: pd.DataFrame) -> Iterator[str]:
    """For every net, how many runs are right on every string, and how many know the trained length."""
    for net in regulargpt_table1.TABLE_2.rows:
        mine = desk[desk["row"] == net]
        right = sum((mine["accuracy"] == 1) & (mine["accuracy_seen"] == 1))
        yield (f"{pictures.NETS[net]}: right on every string, at both lengths, in {right} of {len(mine)} runs; above 99 % at "
               f"length 40 in {sum(mine['accuracy_seen'] > 0.99)}")  # fmt: skip


def states_and_elements(net: nn.Module, machine: MooreMachine, strings: Tensor) -> list[tuple[np.ndarray, np.ndarray]]:
    """For each depth all states (N, D) of a tree over strings (B, T), and the element (N,) that each should hold."""
    elements = elements_by_depth(machine, strings)
    states = states_by_depth(net, strings)[-len(elements) :]  # the letters may be before them
    return [(at.reshape(-1, at.shape[-1]), which.ravel()) for at, which in zip(states, elements)]


def rows_of_clusters(found: pd.DataFrame) -> list[dict]:
    """For each run of ``regulargpt/fig3`` the clusters found / predicted, by letters below a state."""
    return [{"task": pictures.CLUSTERED[run.task].strip("$"),
             "net": "untrained" if run.row == "untrained" else "trained", "seed": run.seed,
             "right at 500": f"{run.accuracy:.1%}",
             **{str(at["word"]): f"{at['found']} / {at['predicted']}" for at in run.depths}}
            for run in found.itertuples()]  # fmt: skip


def halves(found: pd.DataFrame) -> dict[int, dict[tuple[int, int], tuple[np.ndarray, np.ndarray]]]:
    """For each trained net for Parity (by seed): its states on the plane, (mean, standard deviation) by their halves.

    The halves are the elements that the two words below a state make, 0 for an even number of ones; depth 0 is left out.
    """
    made = {}
    for run in found.query("task == 'parity' and row == 'regulargpt_c2'").itertuples():
        points = {name: np.array(column) for name, column in run.points.items()}
        at = np.stack([points["x"], points["y"]], axis=1)
        made[run.seed] = {}
        for pair in itertools.product((0, 1), repeat=2):
            here = at[(points["depth"] > 0) & (points["parts"] == pair).all(1)]
            made[run.seed][pair] = here.mean(0), here.std(0)
    return made


def rows_of_perplexities(text: pd.DataFrame) -> Iterator[dict]:
    """Our stand-in for Table 3: perplexity of the last character by length, mean and range of the seeds."""
    for model, (measure, depth) in itertools.product(
        table3.TABLE.rows, (("perplexity", "as the text needs"), ("trained_depth", "as in training"))
    ):
        seeds = text[text["row"] == model].filter(regex=rf"^{measure}\.").dropna()
        said = {name.partition(".")[2]: f"{found.mean():.2f} ({found.min():.2f} to {found.max():.2f})"
                for name, found in seeds.items()}  # fmt: skip
        if len(seeds):
            depth = depth if table3.TABLE.setting(model, "text", "desk")["kind"] == "regulargpt" else "–"
            yield {"model (C / K)": pictures.MODELS[model][0], "depth": depth, **said}


def rows_of_table_3() -> list[dict]:
    """The paper's Table 3."""
    return [{"model (C / K)": name, **dict(zip(found["task"], found["value"]))}
            for name, found in paper("regulargpt/table3").groupby("row", sort=False)]  # fmt: skip


def small_readers(name: str, nets: Mapping[str, nn.Module], positions: Sequence[int]) -> dict[int, pd.DataFrame]:
    """Position -> what ``show.regulargpt_figures.gradients`` draws: how far back each of four small nets looks from there.

    The share of right answers is that on 256 strings of 64 bits.
    """
    task, nets = fig4.build_task(name), {row: nets[row] for row in fig4.TABLE.rows}
    right = {row: accuracy_at_lengths(net, task, [64], strings=256, generator=rng(0, "chapter 08/test"))[64]
             for row, net in nets.items()}  # fmt: skip
    strings = task.sample(8, 64, rng(0, "chapter 08/look")).tokens
    return {position: pd.DataFrame([{"task": name, "row": row, "seed": 0, "budget": "live", "accuracy": right[row],
                                     "gradient": cumulative_gradient(net, strings, position)} for row, net in nets.items()])
            for position in positions}  # fmt: skip


# ------------------------------------------------------------------------------------- many nets, looked at alike

SMALL_NETS = {**{row: name for row, (name, _) in pictures.READERS.items()}, "lstm": "LSTM", "deltanet": "DeltaNet"}
DIGITS = np.array([*"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"])  # as in interactive/fields.js
FRAMES = (0, 50, 100, 150, 200, 300)  # steps of training at which a net is kept
LONGEST = 16  # letters on which small nets are trained
READ = 10  # letters of a word whose fields are shown


def small_films(name: str, rows: Iterable[str] = SMALL_NETS, steps: Sequence[int] = FRAMES) -> dict[str, dict[int, nn.Module]]:
    """Row of ``SMALL_NETS`` -> step -> the net as it was; trained live on strings that grow to 16 letters."""
    task, films = fig4.build_task(name), {}
    for row in rows:
        if row in fig4.TABLE.rows:
            net = fig4.build_net(fig4.TABLE.setting(row, "parity", "live"), task, seed=0)
        else:  # as in chapter 10
            net = build(row, task, seed=0, **ladder.TABLE.setting(row, "parity", "live")["options"])
        films[row], descent, draw = {}, torch.optim.Adam(net.parameters(), lr=3e-3), rng(0, f"chapter 08/{name}/{row}")
        for step in range(steps[-1] + 1):
            if step in steps:
                films[row][step] = copy.deepcopy(net)
            batch = task.sample_up_to(32, min(LONGEST, 2 + step // 7), draw)
            loss = batch.loss(net(batch.tokens))
            descent.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(net.parameters(), 1.0)
            descent.step()
    return films


def read_vectors(net: nn.Module, tokens: Tensor) -> np.ndarray:
    """(B, D) what the readout of any net reads after the last letter of each string (B, T)."""
    read: list[Tensor] = []
    hook = net.get_submodule("head").register_forward_pre_hook(lambda _, given: read.append(given[0]))
    with torch.no_grad():
        net(tokens)
    hook.remove()
    (vectors,) = read
    return (vectors if vectors.ndim == 2 else vectors[:, -1]).double().numpy(force=True)


def words_and_next(name: str) -> tuple[dict[str, Any], list[Tensor]]:
    """Words u of 5 to 12 letters, six of each length, and all words ua: what ``clusters.js`` needs to know, and the tokens."""
    draw, strings, machine = rng(0, "chapter 08/words"), list[Tensor](), machine_of(pictures.CLUSTERED[name])
    for length in range(5, 13):
        u = torch.randint(machine.num_symbols, (6, length), generator=draw)
        strings += [u, *(torch.cat([u, torch.full((6, 1), letter)], 1) for letter in range(machine.num_symbols))]
    sizes = range(0, 6 * len(strings), 6 * (1 + machine.num_symbols))
    parent = [index for start in sizes for index in (*[-1] * 6, *[*range(start, start + 6)] * machine.num_symbols)]
    letter = [one for _ in sizes for one in (*[-1] * 6, *(symbol for symbol in range(machine.num_symbols) for _ in range(6)))]
    elements = transition_monoid(machine).elements
    colours, answers = pictures.element_colours(machine, elements), machine.outputs[elements[:, machine.initial]].tolist()
    circle = answers if sorted(answers) == list(range(len(elements))) else list(range(len(elements)))  # where each is drawn
    words = ["".join(machine.symbols[token] for token in string) for group in strings for string in group.tolist()]
    action = [int(elements_by_depth(machine, group)[-1][i, -1]) for group in strings for i in range(len(group))]
    return {"symbols": list(machine.symbols), "words": words, "parent": parent, "letter": letter, "action": action,
            "names": pictures.element_names(machine), "colours": colours, "circle": circle}, strings  # fmt: skip


def clusters_of_film(name: str, film: Mapping[int, nn.Module], strings: Sequence[Tensor]) -> dict[str, Any]:
    """For every step of a film the states of the strings on the plane of the last, scaled to 0..1000, and scikit-learn's clusters."""
    from sklearn.decomposition import PCA

    task = fig4.build_task(name)
    states = [np.concatenate([read_vectors(net, tokens) for tokens in strings]) for net in film.values()]
    at = np.stack([*map(PCA(2, svd_solver="full").fit(states[-1]).transform, states)])
    low, high = at.min(1, keepdims=True), at.max(1, keepdims=True)
    at = (500 + 1000 * (at - (low + high) / 2) / np.maximum((high - low).max(2, keepdims=True), 1e-9)).round().astype(int)
    frames = [{"x": x.tolist(), "y": y.tolist(), "cluster": fig3.clusters_found(state, most=8).labels.tolist(),
               "right": accuracy_at_lengths(net, task, [LONGEST], strings=256, generator=rng(0, "chapter 08/test"))[LONGEST]}
              for net, state, (x, y) in zip(film.values(), states, at.swapaxes(1, 2))]  # fmt: skip
    return {"task": pictures.CLUSTERED[name], "steps": list(film), "frames": frames, "guessing": task.majority(LONGEST), "length": LONGEST}


def clusters_widget(films: Mapping[str, Mapping[str, Mapping[int, nn.Module]]]) -> Moving:
    """An automaton drawn onto each net's own states, by step of training.   films : task -> net -> step -> the net."""
    tasks, nets = {}, {}
    for name, rows in films.items():
        tasks[pictures.CLUSTERED[name]], strings = words_and_next(name)
        for row, film in rows.items():
            nets[f"{SMALL_NETS.get(row, row)}, {pictures.CLUSTERED[name]}"] = clusters_of_film(name, film, strings)
    first = next(iter(nets))
    alt = ("On the left the states of a net after some words, dots coloured by what each word does, in rings that scikit-learn found; an "
           "arrow for each letter leads from ring to ring, orange where words come to states of another action. On the right the "
           "automaton of the task. A slider and a button go through the training.")  # fmt: skip
    return Moving("clusters", {"tasks": tasks, "nets": nets}, {"net": first, "frame": len(nets[first]["frames"]) - 1}, alt)


def fields_of(task: Task, net: nn.Module, length: int = READ) -> dict[str, Any]:
    """A net's answers to all words of bits of a length, in order, and of each the gradient at its letters, a digit to base 64 each."""
    words = torch.tensor([*itertools.product(range(2), repeat=length)])
    with torch.no_grad():
        logits = net(words)
    answers = answered(logits if logits.ndim == 2 else logits[:, -1]).numpy(force=True)
    sizes = np.concatenate([fig4.gradients_by_token(net, part) for part in words.split(128)])
    digits = (63 * sizes / np.maximum(sizes.max(1, keepdims=True), 1e-30)).round().astype(int)
    return {"answers": "".join(map(str, answers)), "gradients": "".join(DIGITS[digit] for digit in digits.flat),
            "right": float((answers == task.label(words).numpy()).mean())}  # fmt: skip


def fields_widget(nets: Mapping[str, Mapping[str, nn.Module]]) -> Moving:
    """What counts in a word of ten bits: for the answer, for a net, and by its gradient.   nets : task -> net's row -> net."""
    tasks = {}
    for name, rows in nets.items():
        task = fig4.build_task(name)
        machine = task.machine
        tasks[pictures.CLUSTERED[name]] = {
            "symbols": list(machine.symbols), "transitions": machine.transitions.tolist(), "outputs": machine.outputs.tolist(),
            "initial": int(machine.initial), "nets": {SMALL_NETS.get(row, row): fields_of(task, net) for row, net in rows.items()},
        }  # fmt: skip
    alt = ("A word of ten bits, each a button, over three rows: whether the other bit there would change the right answer, whether it would "
           "change the net's, and how much of the gradient of the net's answer lies on it.")  # fmt: skip
    word = [int(bit) for bit in "0110100110"]
    return Moving("fields", {"tasks": tasks}, {"task": next(iter(tasks)), "net": SMALL_NETS["rnn"], "word": word}, alt)
