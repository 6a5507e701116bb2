"""The fast weight matrix as a picture that changes token by token (chapter 09).

The memory that is drawn learns which letter follows which.  At token t the key is the letter before, the value this
letter, the query this letter again, all one-hot; so column k of W is what W says will follow k, and y_t is its guess of
the next letter.  (A slow net that sees two letters at once is assumed.  phi is the identity here.)

==========  =======================================================  ==================================================
rule        what a token writes into the column of its key            what the column then is
==========  =======================================================  ==================================================
sum         v                                            (Eq. 2)      how often each letter followed
delta       beta (v - W k)                               (Eq. 7-8)    beta = 1: the last letter that followed
recurrent   beta (v - tanh(y_{t-1}) / tanh(1) - W k)     (Eq. 9)      beta = 1, one successor: parity of pairs
==========  =======================================================  ==================================================

Letters: T time, V different letters of the text; W fast weights (V, V + 1), k, v, q, beta as in paper 003, y answer.
"""

from __future__ import annotations

from html import escape
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from lrnnlab.show.style import DIVERGING, FAINT, INK, SMALL, colour_bar, ink_on, new_figure, styled
from lrnnlab.algebra.fast_weights import FastLayer, states

RULES = {"sum": "sum", "delta rule": "delta", "recurrent": "recurrent"}  # as on the buttons
BETAS = (0.25, 0.5, 0.75, 1.0, 1.5, 1.9, 2.0)
LONGEST, MOST = 16, 6  # tokens, different letters
REACH = 2.0  # an entry of this size or more has the darkest colour
START = "·"  # stands before the first letter


class Reading(NamedTuple):
    """A text read by the memory: its letters, W_0 ... W_T (T+1, V, V+1), and y_1 ... y_T (T, V)."""

    text: str
    letters: tuple[str, ...]
    states: np.ndarray
    answers: np.ndarray


def remember(text: str, rule: str = "delta", beta: float = 1.0) -> Reading:
    """Read a text; columns of W are the letters before (first the start), rows those after, in order of appearance.

    ``ValueError`` for an unknown rule, no letter, more than 16 letters or more than 6 different ones.

    >>> read = remember("abaca", "delta")
    >>> read.letters, read.states[-1][:, 1].tolist()             # after a: b first, then c
    (('a', 'b', 'c'), [0.0, 0.0, 1.0])
    >>> remember("abaca", "sum").states[-1][:, 1].tolist()
    [0.0, 1.0, 1.0]
    """
    letters = tuple(dict.fromkeys(text))
    if not 1 <= len(text) <= LONGEST or len(letters) > MOST:
        raise ValueError(f"a text of 1 to {LONGEST} letters, at most {MOST} different ones, is read; got {len(text)} with "
                         f"{len(letters)} different: {text!r}")  # fmt: skip
    if rule not in RULES.values():
        raise ValueError(f"the rules are {', '.join(RULES.values())}, got {rule!r}")
    V, place = len(letters), [letters.index(letter) for letter in text]
    code = np.eye(V + 1)
    keys, queries, values = code[[0, *(p + 1 for p in place[:-1])]], code[[p + 1 for p in place]], np.eye(V)[place]
    layer = FastLayer(keys, queries, values, np.full(len(text), float(beta)))
    found = _with_feedback(layer) if rule == "recurrent" else states(layer, range(len(text)), rule)
    return Reading(text, letters, np.array(found), np.array([W @ q for W, q in zip(found[1:], queries)]))


def _with_feedback(layer: FastLayer) -> list[np.ndarray]:
    """W_0 ... W_T of the delta rule whose value sees the answer before: v_t - tanh(y_{t-1}) / tanh(1)."""
    W, y = np.zeros((layer.values.shape[1], layer.keys.shape[1])), np.zeros(layer.values.shape[1])
    found = [W]
    for k, q, v, beta in zip(layer.keys, layer.queries, layer.values, layer.strengths):
        W = W + beta * np.outer(v - np.tanh(y) / np.tanh(1) - W @ k, k)
        y = W @ q
        found.append(W)
    return found


@styled
def memory_picture(text: str, rule: str, beta: float, position: int) -> Figure:
    """W before a token, what the token writes, and W after it; a full frame is the key's column, a dashed the query's.

    position : 1 is the first letter; one behind the end shows the last.  ``ValueError`` as in :func:`remember`.

    >>> [axes.get_title("left") for axes in memory_picture("abab", "delta", 1.0, 3).axes[:3]]
    ['$W_{2}$, before', 'written', '$W_{3}$, after']
    """
    read, t = remember(text, rule, beta), min(position, len(text))
    before, after = read.states[t - 1], read.states[t]
    figure, panels = new_figure(2.9, columns=3, left=0.6, right=0.2, top=0.85, bottom=0.5, gap=0.35, sharey=True)
    key = 0 if t == 1 else 1 + read.letters.index(text[t - 2])
    titles = (f"$W_{{{t - 1}}}$, before", "written", f"$W_{{{t}}}$, after")
    for axes, W, title in zip(panels, (before, after - before, after), titles):
        _matrix(axes, W, read.letters)
        axes.set_title(title)
    _frame(panels[1], key, len(read.letters), "-")
    for column in dict.fromkeys((key, 1 + read.letters.index(text[t - 1]))):
        _frame(panels[2], column, len(read.letters), "-" if column == key else (0, (2, 1.5)))
        _numbers(panels[2], after[:, column], column)
    panels[0].set_yticks(range(len(read.letters)), read.letters)
    panels[0].set_ylabel("this letter")
    panels[1].set_xlabel("letter before")
    _spelled(figure, text, t)
    return figure


def _matrix(axes: Axes, W: np.ndarray, letters: tuple[str, ...]) -> None:
    axes.imshow(W, cmap=DIVERGING, vmin=-REACH, vmax=REACH, aspect="auto", interpolation="nearest")
    axes.set_xticks(range(len(letters) + 1), [START, *letters])
    axes.tick_params(length=0)
    axes.grid(False)


def _frame(axes: Axes, column: int, rows: int, dash) -> None:
    axes.add_patch(Rectangle((column - 0.5, -0.5), 1, rows, fill=False, ec=INK, lw=2, ls=dash, clip_on=False, zorder=4))


def _numbers(axes: Axes, column: np.ndarray, at: int) -> None:
    for row, value in enumerate(column):
        if abs(value) > 0.005:
            ink = ink_on("#{:02x}{:02x}{:02x}".format(*DIVERGING((value / REACH + 1) / 2, bytes=True)[:3]))
            axes.text(at, row, f"{value:.2g}", ha="center", va="center", fontsize=SMALL, color=ink)


def _spelled(figure: Figure, text: str, t: int) -> None:
    """The text above the panels, the letter that is being read in a box; three texts, as each costs a millisecond or two."""
    width, height = figure.get_size_inches()
    step = 2 * 0.602 * 11 / 72  # inches from letter to letter: two characters of DejaVu Sans Mono, 11 points
    boxed = {"boxstyle": "round,pad=0.2", "fc": "white", "ec": INK, "lw": 1.4}
    parts = ((0, text[: t - 1], INK, None), (t - 1, text[t - 1], INK, boxed), (t, text[t:], FAINT, None))
    for start, part, ink, box in parts:
        figure.text((0.6 + start * step) / width, 1 - 0.25 / height, " ".join(part), va="center", family="monospace",
                    fontsize=11, color=ink, bbox=box)  # fmt: skip


def memory_sentence(text: str, rule: str, beta: float, position: int) -> str:
    """What the token did, and what the memory now expects.

    >>> memory_sentence("abab", "sum", 1.0, 3)[:48]
    'Token 3 of 4, <b>a</b> after b: W had said 0.00 '
    """
    read, t = remember(text, rule, beta), min(position, len(text))
    this, before = escape(text[t - 1]), escape(text[t - 2]) if t > 1 else "the start"
    key = 0 if t == 1 else 1 + read.letters.index(text[t - 2])
    row = read.letters.index(text[t - 1])
    was, now = (read.states[s][row, key] for s in (t - 1, t))
    answer = read.answers[t - 1]
    best = answer.argmax()
    guess = f"<b>{escape(read.letters[best])}</b> ({answer[best]:.2f})" if answer[best] > 0.005 else "nothing it has seen"
    unused = " (beta has no part in the sum.)" if rule == "sum" else ""
    return (f"Token {t} of {len(text)}, <b>{this}</b> after {before}: W had said {was:.2f} for this pair, and says "
            f"{now:.2f} now. What it expects next, after {this}: {guess}.{unused}")  # fmt: skip


@styled
def memory_film(text: str, beta: float = 1.0) -> Figure:
    """W after every token, a line of pictures for each rule; columns are the letter before, rows this letter.

    ``ValueError`` as in :func:`remember`.

    >>> [axes.get_ylabel() for axes in memory_film("abab").axes[:3]]
    ['sum', 'delta rule', 'recurrent']
    """
    figure, panels = new_figure(3.6, rows=3, left=0.75, right=0.7, top=0.3, bottom=0.15, gap=0.2)
    for axes, (name, rule) in zip(panels, RULES.items()):
        read = remember(text, rule, beta)
        V, steps = len(read.letters), read.states[1:]
        film = np.full((V, len(text) * (V + 2) - 1), np.nan)
        for t, W in enumerate(steps):
            film[:, t * (V + 2) : t * (V + 2) + V + 1] = W
        drawn = axes.imshow(film, cmap=DIVERGING, vmin=-REACH, vmax=REACH, aspect="auto", interpolation="nearest")
        for t in range(len(text)):
            axes.add_patch(Rectangle((t * (V + 2) - 0.5, -0.5), V + 1, V, fill=False, ec=FAINT, lw=0.8, clip_on=False))
        axes.set_ylabel(name)
        axes.set_yticks(range(V), read.letters)
        axes.set_xticks([t * (V + 2) + V / 2 for t in range(len(text))], text if rule == "sum" else [""] * len(text))
        axes.xaxis.tick_top()
        axes.tick_params(length=0)
        axes.grid(False)
        axes.spines[:].set_visible(False)
    colour_bar(figure, drawn)
    return figure
