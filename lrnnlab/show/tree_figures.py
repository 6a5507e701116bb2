"""The tree of RegularGPT over a string, with the masks that make it: Figure 1 of paper 002, for any string (chapter 08).

A node stands over the last letter of its word and holds what the word does to every state, an element of the machine's
transition monoid; it is named by a shortest word that does the same (e: nothing).  The tree needs a few nodes of every
depth; with masks every position has one.

Letters: T time, c chunk (the paper's C), l depth; m elements of the monoid; j how many steps of c^l back.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, reduce

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

from lrnnlab.automata import MooreMachine, transition_monoid
from lrnnlab.show.style import FAINT, GRID, INK, PAGE, SMALL, ink_on, new_figure, styled, typeset, value_colour
from lrnnlab.models.chunk_masks import depth_count, dilated_mask, kept_positions
from lrnnlab.algebra.chunk_composition import multiplication_table
from lrnnlab.algebra.clusters import appended, machine_of
from lrnnlab.automata.languages import read

WORDS = {  # task -> a word to open on
    "Parity": "1011000110101101", "Cycle Navigation": "++0-+++--+0+++-+", "S_3": "ststtsstttsts",
    "D_2": "aababbabaabbab", "Tomita 3": "1101100110001001",
}  # fmt: skip
CHUNKS = (2, 3, 4, 8, 16)
ORDERS = ("earlier first", "as printed")
LONGEST = 16  # letters that are drawn
NOTHING = "e"
LEFT, ACROSS, LOW, HIGH = 0.95, 4.8, 0.45, 4.35  # inches: of the first letter, from it to the last, of letters and root
MASK = 0.92  # inches, the largest side of a mask


@dataclass(frozen=True)
class Tree:
    """``elements`` (L + 1, T): row 0 the letters, row l + 1 what depth l holds at every position; element 0 does nothing."""

    machine: MooreMachine
    tokens: tuple[int, ...]
    chunk: int
    elements: np.ndarray

    @cached_property
    def monoid(self):
        """The actions, each with a shortest word."""
        return transition_monoid(self.machine)

    @property
    def depths(self) -> int:
        """ceil(log_c T), at least 1."""
        return len(self.elements) - 1

    @property
    def root(self) -> int:
        """The element that the last position holds in the end."""
        return int(self.elements[-1, -1])

    @property
    def answer(self) -> int:
        """The class of the state that the root leads to from the start."""
        return int(self.machine.outputs[self.monoid.elements[self.root, self.machine.initial]])

    def kept(self, depth: int) -> list[int]:
        """The positions that the tree needs of a depth; -1 are the letters."""
        T = len(self.tokens)
        return list(range(T)) if depth < 0 else kept_positions(T, self.chunk, depth)

    def name(self, element: int) -> str:
        """A shortest word that does the same."""
        return typeset("".join(self.machine.symbols[token] for token in self.monoid.words[element])) or NOTHING


def grow(machine: MooreMachine, tokens: tuple[int, ...], chunk: int, later_first: bool = False) -> Tree:
    """Compose the actions of ``tokens`` depth by depth: position i with i - j c^l, j = 1..c-1; before the start, nothing.

    later_first : in the order of the printed heads, which read the position itself first (paper 002, Sec. 7.2; for
    c > 2 continued likewise).  Any c; for c = 2 this is ``proofs.recursion.recursion`` in numbers of elements.
    ValueError for an empty string, or c below 2.

    >>> tree = grow(machine_of("Parity"), (1, 0, 1, 1, 0, 0, 0), 2)
    >>> tree.elements.tolist()[1:]
    [[1, 1, 1, 0, 1, 0, 0], [1, 1, 0, 1, 0, 0, 1], [1, 1, 0, 1, 1, 1, 1]]
    >>> tree.kept(0), tree.answer
    ([0, 2, 4, 6], 1)
    """
    T = len(tokens)
    depths = depth_count(T, chunk)
    times, letters = multiplication_table(transition_monoid(machine)), appended(machine)[1][:, 0]
    rows = [letters[list(tokens)]]
    for depth in range(depths):
        back = [min(j * chunk**depth, T) for j in range(chunk)]
        seen = [np.concatenate([np.zeros(far, dtype=int), rows[-1][: T - far]]) for far in back]  # (c, T), itself first
        rows.append(reduce(lambda first, then: times[first, then], seen if later_first else seen[::-1]))
    return Tree(machine, tuple(tokens), chunk, np.stack(rows))


def asked(task: str, string: str) -> tuple[tuple[int, ...], str]:
    """The tokens of what was typed, and a note if it had to be cut, or if the task reads other letters.

    >>> asked("Parity", "101"), asked("S_3", "101")[1]
    (((1, 0, 1), ''), 'S_3 reads s t, so this is a word of its own. ')
    """
    machine, word = machine_of(task), "".join(string.split()).translate({0x2212: "-", 0x2013: "-"})
    if not word:
        return read(machine, WORDS[task])[:LONGEST], ""
    if not set(word) <= set(machine.symbols):
        letters = " ".join(map(typeset, machine.symbols))
        return read(machine, WORDS[task])[:LONGEST], f"{task} reads {letters}, so this is a word of its own. "
    note = f"Only the first {LONGEST} letters are drawn. " if len(word) > LONGEST else ""
    return read(machine, word)[:LONGEST], note


def element_colours(machine: MooreMachine, elements: np.ndarray) -> list[str]:
    """A colour for each element (m, n): that of the answer it gives, where each gives another one.

    >>> colours = element_colours(machine_of("Parity"), np.array([[0, 1], [1, 0]]))
    >>> colours == [value_colour(0, 2), value_colour(1, 2)]
    True
    """
    answers = machine.outputs[elements[:, machine.initial]].tolist()
    values = answers if sorted(answers) == list(range(len(elements))) else range(len(elements))
    return [value_colour(value, len(elements)) for value in values]


@styled
def chunk_tree(task: str, string: str, C: int, order: str = ORDERS[0]) -> Figure:
    """The tree over a string, the root above the last letter; on the right who sees whom at each depth (Eq. 1).

    Circles are the nodes that the tree needs, dots what the masks compute as well; colour is the element.  A dashed
    line leads to a place before the start.  In a mask the rows that the tree needs are dark.
    ValueError for a task or an order that there is not.

    >>> figure = chunk_tree("Parity", "1011", 2)
    >>> [text.get_text() for text in figure.axes[0].texts][:9]
    ['1', '0', '1', '1', '1', 'e', '1', 'letters', 'depth 0']
    """
    tree = _grown(task, string, C, order)
    figure, axes = new_figure(HIGH + 0.65, left=0, right=0, top=0, bottom=0)
    axes.set(xlim=(0, PAGE), ylim=(0, HIGH + 0.65))  # so that every length is in inches
    axes.axis("off")
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
    if task not in WORDS or order not in ORDERS:
        raise ValueError(f"tasks are {', '.join(WORDS)}, orders {', '.join(ORDERS)}; got {task!r} and {order!r}")
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
    colours = element_colours(tree.machine, tree.monoid.elements)
    dots = [(position, row) for row in range(1, tree.depths + 1)
            for position in set(range(len(tree.tokens))) - set(tree.kept(row - 1))]  # fmt: skip
    nodes = [(position, row) for row in range(tree.depths + 1) for position in tree.kept(row - 1)]
    for places, size, edge in ((dots, 14, 0.0), (nodes, 250, 0.8)):
        shown = [colours[tree.elements[row, position]] for position, row in places]
        axes.scatter(_across(tree, [p for p, _ in places]), [heights[row] for _, row in places], s=size, c=shown,
                     edgecolors=FAINT, linewidths=edge, zorder=3)  # fmt: skip
    for position, row in nodes:
        element = int(tree.elements[row, position])
        name = typeset(tree.machine.symbols[tree.tokens[position]]) if row == 0 else tree.name(element)
        fits = len(name) <= 2  # a longer name stands beside its circle
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
    """Depths, work, and whether the root has the answer, as HTML; what was typed is repeated only where it was read.

    >>> tree_sentence("S_3", "st", 2, "as printed").split(". ")[1]
    'The root does what <b>ts</b> does, answer 4; but letter after letter the answer is 3: <b>wrong</b>'
    """
    tree, note = _grown(task, string, C, order), asked(task, string)[1]
    T, word = len(tree.tokens), typeset("".join(tree.machine.symbols[token] for token in tree.tokens))
    kept = sum(len(tree.kept(depth)) for depth in range(tree.depths))
    truth, name = int(tree.machine.answer(list(tree.tokens))[-1]), tree.name(tree.root)
    did = f"The root does {'nothing' if name == NOTHING else f'what <b>{name}</b> does'}, answer {tree.answer}"
    fair = "as letter after letter" if truth == tree.answer else (
        f"but letter after letter the answer is {truth}: <b>wrong</b>")  # fmt: skip
    turned = "" if order == ORDERS[0] else " In the printed order the tree reads the string backwards."
    return (f"{note}{word}: {T} letters in chunks of {C} take <b>{tree.depths} depth{'s' * (tree.depths > 1)}</b>, "
            f"{kept} nodes in the tree, {T * tree.depths} with masks. {did}{'; ' if truth != tree.answer else ', '}"
            f"{fair}.{turned}")  # fmt: skip
