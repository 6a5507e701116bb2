"""The steps of a proof as a table, and which exact models fit (chapter 01): lights, and a model at work on a word.

Letters: b block size in real numbers, T time; x state.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lrnnlab import show
from lrnnlab.show.names import mathematical
from lrnnlab.show.style import DIVERGING, FAINT, INK, SMALL, ink_on, new_figure, styled, typeset, value_colour
from lrnnlab.algebra.evidence import Evidence
from lrnnlab.automata.languages import language
from lrnnlab.algebra.minimal import Fit, fits, play

SIZES, DEPTHS = (1, 2, 3, 4, 5, 6, 8, 10, 13, 25), (1, 2, 3)
LIGHTS = {True: ("#009E73", "✓", "an exact model fits"), False: ("#D9D9D9", "×", "impossible"),
          None: ("#FFFFFF", "?", "open")}  # fmt: skip
LONGEST = 16  # tokens that are played
SAMPLES = {
    "Parity": "0110111010", "Sum(5)": "0324410321", "(abab)*": "ababababba", "EvenPair(5)": "3021430133",
    "a-b-c mod 5": "3-1-4-0-2-2", "ModArith(5)": "2×3+4-1×3", "D_2": "aabbabaabb", "D_4": "aabaaabbbb",
    "D_12": "aaaaaabbbabbbb", "Tomita 3": "1101100110", "Tomita 4": "0100100010", "Tomita 6": "0010110010",
    "S_3": "ststtsstt", "A_5": "sttsttstt",
}  # fmt: skip


def steps(proof: Evidence) -> None:
    """Display the steps of a proof, each with what was computed for it.

    >>> from lrnnlab.algebra.counting import sum_analogue
    >>> steps(sum_analogue())  # doctest: +SKIP
    """
    rows = [{**row, "claim": mathematical(row["claim"]), "computed": mathematical(row["computed"])}
            for row in proof.table()]  # fmt: skip
    show.table(rows, caption=f"{proof.name}, {'every step holds' if proof.holds else 'NOT every step holds'} "
                             f"({proof.how} check): {proof.claim}")  # fmt: skip


@dataclass(frozen=True)
class Board:
    """All the lights of a task: ``found[layers, b]`` of :func:`lrnnlab.algebra.minimal.fits`."""

    task: str
    found: dict[tuple[int, int], Fit]


def board(task: str) -> Board:
    """Decide every light of a task, for b in ``SIZES`` and layers in ``DEPTHS``; a few seconds for ModArith(5).

    ValueError for a task without a sample word, or without any exact model.

    >>> lights = board("D_2").found
    >>> lights[1, 2].known, lights[1, 3].known, lights[2, 1].known
    (False, True, None)
    """
    if task not in SAMPLES:
        raise ValueError(f"no sample word for {task!r}; there are some for {', '.join(SAMPLES)}")
    return Board(task, {(layers, b): fits(task, b, layers) for layers in DEPTHS for b in SIZES})


def played(board: Board, typed: str = "") -> tuple[str, str]:
    """(word, note): the word typed if the task can read it, else its sample word and a note that says so.

    ``*`` stands for ×.  Words are cut after 16 tokens.

    >>> played(Board("S_3", {}), "0101")
    ('ststtsstt', 'S_3 reads s t, so this is its sample word. ')
    """
    machine, word = language(board.task).machine, typed.replace("*", "×").strip()
    if word and set(word) <= set(machine.symbols):
        return word[:LONGEST], ""
    note = f"{board.task} reads {' '.join(map(typeset, machine.symbols))}, so this is its sample word. " if word else ""
    return SAMPLES[board.task], note


@styled
def fit_lights(board: Board, b: int, layers: int, word: str = "") -> Figure:
    """Above, the lights of a task, the chosen one ringed; below, its exact model reading a word, if there is one.

    Each row of the lower picture is one number of the state, real and imaginary parts apart, with the answers under it.

    >>> figure = fit_lights(board("Parity"), 1, 1, "0110")
    >>> [text.get_text() for text in figure.axes[2].texts]
    ['0', '0', '1', '0', '0']
    """
    figure, panels = new_figure(5.1, rows=3, left=1.0, right=1.25, top=0.6, bottom=0.1)
    width, height = figure.get_size_inches()
    tall = ((3.5, 1.15), (0.85, 1.95), (0.3, 0.35))
    for axes, (low, high) in zip(panels, tall):
        axes.set_position([1.0 / width, low / height, (width - 2.25) / width, high / height])
        axes.grid(False)
    _lights(panels[0], board, b, layers)
    construction = board.found[layers, b].construction
    if construction is None:
        for axes in panels[1:]:
            axes.set_axis_off()
        panels[1].text(0.5, 0.5, "nothing to play: no exact model is known here", transform=panels[1].transAxes,
                       ha="center", va="center", color=FAINT)  # fmt: skip
        return figure
    machine = construction.machine
    _state(panels[1], panels[2], play(construction, played(board, word)[0]), max(2, int(machine.outputs.max()) + 1))
    return figure


def _lights(axes: Axes, board: Board, b: int, layers: int):
    for known, (colour, sign, _) in LIGHTS.items():  # markers, not texts: thirty texts take half a second
        at = [(SIZES.index(size), DEPTHS.index(depth)) for (depth, size), found in board.found.items()
              if found.known is known]  # fmt: skip
        if at:
            axes.scatter(*zip(*at), s=330, color=colour, edgecolors=FAINT, linewidths=0.8, label=sign)
            axes.scatter(*zip(*at), s=60, marker=f"${sign}$", color=INK, linewidths=0)
    axes.scatter(SIZES.index(b), DEPTHS.index(layers), s=330, facecolors="none", edgecolors=INK, linewidths=3.0)
    axes.set(xlim=(-0.6, len(SIZES) - 0.4), ylim=(len(DEPTHS) - 0.45, -0.55), aspect="equal",
             title=f"{typeset(board.task)}: is there an exact model?")  # fmt: skip
    axes.set_xticks(range(len(SIZES)), [f"b ≤ {size}" if size == 1 else str(size) for size in SIZES])
    axes.set_yticks(range(len(DEPTHS)), ["1 layer", "2 layers", "3 layers"])
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    for place, (colour, sign, says) in enumerate(LIGHTS.values()):
        axes.annotate(f"{sign} {says.replace('an exact model ', 'a model ')}", (1.02, 0.85 - 0.33 * place),
                      xycoords="axes fraction", fontsize=SMALL, va="center")  # fmt: skip


def _state(axes: Axes, below: Axes, rows: list[dict], classes: int):
    """The numbers of the state as a picture, a column a token, and the answers in circles below."""
    x = np.array([row["x"] for row in rows]).T  # (numbers, T + 1)
    parts = [part for entry in x for part in ((entry.real, entry.imag) if np.abs(entry.imag).max() > 1e-9
                                              else (entry.real,))]  # fmt: skip
    reach = max(1.0, float(np.abs(parts).max()))
    drawn = axes.imshow(parts, cmap=DIVERGING, vmin=-reach, vmax=reach, aspect="auto", interpolation="nearest")
    axes.set_xticks(range(len(rows)), ["start", *(typeset(row["token"]) for row in rows[1:])], fontsize=10)
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


def fit_sentence(board: Board, b: int, layers: int, word: str = "") -> str:
    """What the chosen light says, and what is played.

    >>> fit_sentence(board("D_2"), 2, 1)
    'D_2, blocks up to b = 2, 1 layer: <b>impossible</b>, one layer needs b >= 3.'
    """
    found = board.found[layers, b]
    start = f"{board.task}, blocks up to b = {b}, {layers} layer{'s' if layers > 1 else ''}: "
    if found.construction is None:
        why = found.why.removeprefix("open: ")
        return f"{start}<b>{LIGHTS[found.known][2]}</b>, {why}."
    text, note = played(board, word)
    within = found.construction.model.column_norm(1.2) < 1 + 1e-9
    return (f"{start}<b>an exact model fits</b>, {found.why}; its columns {'obey' if within else 'break'} Eq. 6 with "
            f"p = 1.2. {note}Played: {typeset(text)}.")  # fmt: skip
