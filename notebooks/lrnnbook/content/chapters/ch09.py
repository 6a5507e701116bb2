"""Chapter 09 (fast weights): its pictures, its widgets, and the rows of its tables.

The memory that is drawn learns which letter follows which: at token t the key is the letter before, the value this
letter, the query this letter again, all one-hot.  So column k of W is what W says will follow k.

Letters: T time, V different letters of the text, n size of a key; W fast weights (V, V + 1), k, v, q, beta as in paper
003, y answer; g = 1 - beta |k|^2 the eigenvalue along k, w what the memory answers to k; e leak, m depth.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from fractions import Fraction
from functools import cache
from html import escape
from typing import NamedTuple

import matplotlib
import numpy as np
import pandas as pd
import torch
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from matplotlib.patches import Rectangle
from scipy.special import softmax
from torch import nn

from lrnnbook.content.chapters import fast_weight_solutions as fast
from lrnnbook.content.show.frames import log_ticks
from lrnnbook.content.show.interactive import Moving
from lrnnbook.content.show.labels import named
from lrnnbook.content.show.style import (
    FAINT,
    GRID,
    INK,
    LIVE,
    SMALL,
    colour_bar,
    heatmap,
    ink_on,
    label_ends,
    new_figure,
    styled,
)
from lrnnbook.content.tables import fwp_training, get, results
from lrnnbook.content.tables.declared import paper
from lrnnlab.tasks.counter_languages import COUNTER_TASKS
from lrnnlab.training import deterministic
from lrnnlab.training.loop import Trained

RULES = {"sum": "sum", "delta rule": "delta", "recurrent": "recurrent"}  # as on the buttons
BETAS = (0.25, 0.5, 0.75, 1.0, 1.5, 1.9, 2.0)
WRITTEN = (3, 1, 4, 2, 5, 1)  # the values that are written to one key
MAX_TOKENS, MAX_LETTERS = 16, 6  # tokens, different letters
REACH = 2.0  # an entry of this size or more has the darkest colour
START = "·"  # before the first letter
STRENGTHS = (0.0, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 1.75, 1.9, 1.95, 1.99, 2.0, 2.05, 2.1, 2.25, 2.5)
KEYS = {"unit": np.eye(4)[0], "sharp softmax": softmax([3.0, 0, 0, 0]), "flat softmax": np.full(4, 0.25)}
NOISES = (0.0, 1e-4, 1e-2, 1e-1)
STEPS = 60  # tokens of the parity counter
LEAKS = {"1/10": 10, "1/30": 30, "1/100": 100, "1/300": 300, "1/1000": 1000, "1/10000": 10_000}  # 1/e
DEPTHS, MAX_DEPTH = (1, 2, 3, 5, 7, 8, 10, 12, 13, 15, 20, 23, 30, 50, 71, 100), 100
RESET_LEAKS = {"1/4": 4, "1/10": 10, "1/100": 100}
PLAYED = 30  # brackets that are played
ADDER, DELTA, WRONG = "#009E73", "#E69F00", "#8B0000"  # the additive memory, the delta rule, a wrong answer


# --- the memory, token by token ----------------------------------------------------------------------------------------


class Reading(NamedTuple):
    """A text read by the memory: its letters, the column of every key, W_0 ... W_T (T+1, V, V+1), and y_1 ... y_T (T, V)."""

    letters: tuple[str, ...]
    keys: list[int]
    states: np.ndarray
    answers: np.ndarray


def remember(text: str, rule: str, beta: float) -> Reading:
    """Read a text; columns of W are the letters before (first the start), rows those after, in order of appearance."""
    letters = tuple(dict.fromkeys(text))
    if not 1 <= len(text) <= MAX_TOKENS or len(letters) > MAX_LETTERS:
        raise ValueError(f"a text of 1 to {MAX_TOKENS} letters, at most {MAX_LETTERS} different ones, is read; got {len(text)} with "
                         f"{len(letters)} different: {text!r}")  # fmt: skip
    V, place = len(letters), [letters.index(letter) for letter in text]
    keys, W, y, answers = [0, *(p + 1 for p in place[:-1])], np.zeros((V, V + 1)), np.zeros(V), []
    states = [W]
    for key, this in zip(keys, place):
        k, v = np.eye(V + 1)[key], np.eye(V)[this]
        written = {"sum": v, "delta": beta * (v - W @ k), "recurrent": beta * (v - np.tanh(y) / np.tanh(1) - W @ k)}[rule]
        W = W + np.outer(written, k)
        y = W[:, this + 1]
        states.append(W)
        answers.append(y)
    return Reading(letters, keys, np.array(states), np.array(answers))


@styled
def memory_picture(text: str, rule: str, beta: float, position: int) -> Figure:
    """W before a token, what the token writes, and W after it; a full frame is the key's column, a dashed the query's."""
    read, t = remember(text, rule, beta), min(position, len(text))
    before, after, key = read.states[t - 1], read.states[t], read.keys[t - 1]
    figure, panels = new_figure(2.9, columns=3, left=0.6, right=0.7, top=0.85, bottom=0.5, gap=0.35, sharey=True)
    titles = (f"$W_{{{t - 1}}}$, before", "written", f"$W_{{{t}}}$, after")
    for axes, W, title in zip(panels, (before, after - before, after), titles):
        drawn = _matrix(axes, W, read.letters)
        axes.set_title(title)
    _frame(panels[1], key, len(read.letters), "-")
    for column in dict.fromkeys((key, 1 + read.letters.index(text[t - 1]))):
        _frame(panels[2], column, len(read.letters), "-" if column == key else (0, (2, 1.5)))
    colour_bar(figure, drawn)
    panels[0].set_yticks(range(len(read.letters)), read.letters)
    panels[0].set_ylabel("this letter")
    panels[1].set_xlabel("letter before")
    _spelled(figure, text, t)
    return figure


def _matrix(axes: Axes, W: np.ndarray, letters: tuple[str, ...]) -> AxesImage:
    drawn = heatmap(axes, W, REACH, "{:.2g}".format, 0.005)
    axes.set_xticks(range(len(letters) + 1), [START, *letters])
    axes.tick_params(length=0)
    return drawn


def _frame(axes: Axes, column: int, rows: int, dash) -> None:
    axes.add_patch(Rectangle((column - 0.5, -0.5), 1, rows, fill=False, ec=INK, lw=2, ls=dash, clip_on=False, zorder=4))


def _spelled(figure: Figure, text: str, t: int) -> None:
    """The text above the panels, the letter that is being read in a box; three texts, as each costs a millisecond or two."""
    width, height = figure.get_size_inches()
    step = 2 * 0.602 * 11 / 72  # inches from letter to letter: two characters of DejaVu Sans Mono, 11 points
    boxed = {"boxstyle": "round,pad=0.2", "fc": "white", "ec": INK, "lw": 1.4}
    parts = ((0, text[: t - 1], INK, None), (t - 1, text[t - 1], INK, boxed), (t, text[t:], FAINT, None))
    for start, part, ink, box in parts:
        figure.text((0.6 + start * step) / width, 1 - 0.25 / height, " ".join(part), va="center", family="monospace",
                    fontsize=11, color=ink, bbox=box, parse_math=False)  # fmt: skip


def memory_sentence(text: str, rule: str, beta: float, position: int) -> str:
    """What the token did, and what the memory now expects."""
    read, t = remember(text, rule, beta), min(position, len(text))
    this, before = escape(text[t - 1]), escape(text[t - 2]) if t > 1 else "the start"
    was, now = read.states[t - 1 : t + 1, read.letters.index(text[t - 1]), read.keys[t - 1]]
    answer = read.answers[t - 1]
    best = answer.argmax()
    guess = f"<b>{escape(read.letters[best])}</b> ({answer[best]:.2f})" if answer[best] > 0.005 else "nothing it has seen"
    unused = " (beta has no part in the sum.)" if rule == "sum" else ""
    return (f"Token {t} of {len(text)}, <b>{this}</b> after {before}: W had said {was:.2f} for this pair, and says "
            f"{now:.2f} now. What it expects next, after {this}: {guess}.{unused}")  # fmt: skip


@styled
def memory_film(text: str, letter: str, at: Sequence[int]) -> Figure:
    """W after some tokens, a line of pictures for each rule, the column of a letter framed; columns are the letter before."""
    figure, grid = new_figure(4.3, rows=3, columns=len(at), left=0.95, right=0.7, top=0.35, bottom=0.55, gap=0.25)
    for row, (panels, (name, rule)) in enumerate(zip(grid, RULES.items())):
        read = remember(text, rule, 1.0)
        for axes, t in zip(panels, at):
            drawn = _matrix(axes, read.states[t], read.letters)
            _frame(axes, 1 + read.letters.index(letter), len(read.letters), "-")
            axes.set_yticks(range(len(read.letters)), read.letters if axes is panels[0] else [""] * len(read.letters))
            if not row:
                axes.set_title(f"after {' '.join(text[:t])}", fontsize=10)
        panels[0].set_ylabel(name)
    grid[-1][0].set_xlabel("letter before")
    colour_bar(figure, drawn)
    return figure


# --- one key, written again and again -----------------------------------------------------------------------------------


def left_of(values: Sequence[float], beta: float | None) -> np.ndarray:
    """What is left of value s (column) after write t (row) to one key of length 1: all of it for ``None``, the sum."""
    age = np.subtract.outer(np.arange(len(values)), np.arange(len(values)))
    kept = 1.0 if beta is None else beta * (1.0 - beta) ** age.clip(0)
    return np.where(age < 0, 0, kept * np.array(values))


def writes_widget() -> Moving:
    """One key written again and again, by the sum and by the delta rule: bars move from what was to what is left of it."""
    colours = [*map(to_hex, matplotlib.colormaps["viridis"](np.linspace(0.1, 1, len(WRITTEN))))]
    betas = (0.25, 0.5, 1, 1.5)
    low, high = (max(sum(row[sign * row > 0] * sign) for beta in (None, *betas) for row in left_of(WRITTEN, beta)) for sign in (-1, 1))
    data = {"values": WRITTEN, "betas": betas, "colours": colours, "inks": [*map(ink_on, colours)], "least": -low, "most": high}
    alt = ("Two rows of bars, one bar after each of six writes to one key, with a button that plays the writes and a slider over "
           "them. With the sum each bar stacks all values so far. With the delta rule and beta 1 each bar is the last value alone; with "
           "another beta old values shrink, or turn round.")  # fmt: skip
    return Moving("writes", data, {"beta": 1, "done": 3}, alt)


# --- what can be counted, under sliders ---------------------------------------------------------------------------------


def along(beta: float, key: str) -> float:
    """g = 1 - beta |k|^2, the eigenvalue along the key of that name in ``KEYS``."""
    return float(1 - beta * (KEYS[key] ** 2).sum())


def counted(beta: float, key: str, noise: float, bits: str) -> tuple[np.ndarray, np.ndarray]:
    """Bits repeated up to 60 tokens, and the counter's answers (60,): a 1 writes v = 1/2, a 0 nothing; seeded noise."""
    if not bits or set(bits) - set("01"):
        raise ValueError(f"the counter reads strings of 0 and 1, got {bits!r}")
    numbers = np.resize([int(bit) for bit in bits], STEPS)
    disturbed = noise * np.random.default_rng(0).normal(size=STEPS)
    return numbers, fast.reflected(numbers, 1 - along(beta, key), kind=np.float64, noise=disturbed)


@styled
def parity_picture(beta: float, key: str, noise: float, bits: str) -> Figure:
    """Left, the two eigenvalues of I - beta k k^T on a line; right, the counter's state: dots are right answers, crosses wrong."""
    figure, (line, panel) = new_figure(2.9, columns=2, left=0.25, right=0.2, top=0.4, bottom=0.55, gap=0.6,
                                       gridspec_kw={"width_ratios": (1, 1.5)})  # fmt: skip
    _eigenvalues(line, beta, key)
    numbers, w = counted(beta, key, noise, bits)
    t, right = np.arange(1, STEPS + 1), (w > 0.5) == numbers.cumsum() % 2
    right &= w != 0.5
    shown = w.clip(-0.95, 1.95)
    panel.axhline(0.5, color=FAINT, lw=1.2, ls=(0, (4, 3)))
    panel.plot(t, shown, color=GRID, lw=1.2, zorder=1)
    panel.plot(t[right], shown[right], "o", color=INK, ms=4)
    panel.plot(t[~right], shown[~right], "x", color=WRONG, ms=6, mew=1.6)
    panel.set(xlim=(0, STEPS + 1), ylim=(-1, 2), xlabel="token", title="the counter's state")
    panel.set_yticks([0, 0.5, 1], ["0", "½", "1"])
    return figure


def _eigenvalues(axes: Axes, beta: float, key: str) -> None:
    g = along(beta, key)
    axes.axvspan(-1, 1, color="#009E73", alpha=0.13, lw=0)
    axes.axhline(0, color=INK, lw=1)
    axes.plot([1], [0], "o", ms=11, mfc="white", mec=INK, mew=1.8, zorder=3)
    axes.plot([g], [0], "o", ms=8, color=INK if abs(g) <= 1 + 1e-12 else WRONG, zorder=4)
    axes.annotate(f"{g:.2f}", (g, 0), (0, 12), textcoords="offset points", ha="center", fontsize=10, fontweight="bold")
    axes.annotate("1, three times", (1, 0), (4, -20), textcoords="offset points", ha="right", fontsize=SMALL)
    axes.annotate("stable", (-0.95, 0.8), fontsize=SMALL, color="#005B43")
    axes.set(xlim=(-1.75, 1.25), ylim=(-1, 1), xlabel=r"eigenvalues of $I - \beta k k^\top$", title="eigenvalues")
    axes.set_xticks([-1, 0, 1], ["\N{MINUS SIGN}1", "0", "1"])
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
    axes.grid(False)


def parity_sentence(beta: float, key: str, noise: float, bits: str) -> str:
    """What the eigenvalue does to the counter, and how long it lasted."""
    g = along(beta, key)
    numbers, w = counted(beta, key, noise, bits)
    if abs(g - 1) < 1e-12:
        does = "a 1 writes nothing"
    elif abs(g + 1) < 1e-12:
        does = "a 1 reflects the state at ½, and parity is kept"
    elif g < -1:
        does = "a 1 turns the state round and takes it further away, without end"
    elif g < 0:
        does = (f"a 1 turns the state round and shrinks its distance from ½, which halves every "
                f"{math.log(2) / -math.log(-g):.3g} ones")  # fmt: skip
    else:
        does = "a 1 pulls the state towards ½ from below, and never to the other side"
    wrong = fast.first_error(w, numbers)
    lasted = f"all {STEPS} tokens are answered rightly" if wrong is None else f"the first wrong answer is at token {wrong}"
    theorem = ("holds, so no threshold is crossed twice" if 0 < g < 1 - 1e-12 else
               "is gone, and step 2 of the proof (a repeated token makes the answer rise, each time) goes first")  # fmt: skip
    return (f"The eigenvalue g along the key is <b>{g:.2f}</b>: {does}. Here {lasted}. The hypothesis 0 &lt; g &lt; 1 "
            f"{theorem}.")  # fmt: skip


def leaked(e: float, deepest: int) -> np.ndarray:
    """The counter after (^m )^m for m = 1..deepest (deepest,), by running all of them side by side."""
    m, w = np.arange(1, deepest + 1), np.zeros(deepest)
    for t in range(2 * deepest):
        moved = (1 - e) * w + np.where(t < m, 1, -1)
        w = np.where(t < 2 * m, moved, w)
    return w


@styled
def leak_picture(over: int, m: int) -> Figure:
    """Left, the counter and the depth on (^m )^m; right, how far below 0 it ends, for all m: run (dots), formula (line)."""
    e, t = 1 / over, np.arange(2 * m + 1)
    figure, (left, right) = new_figure(3.1, columns=2, left=0.6, right=0.95, top=0.4, bottom=0.5, gap=1.4)
    depth, w = np.minimum(t, 2 * m - t), [0.0]
    for step in t[1:]:
        w.append((1 - e) * w[-1] + (1 if step <= m else -1))
    left.plot(t, depth, color=FAINT, label="depth")
    left.plot(t, w, color=DELTA, label="counter")
    left.axhline(0, color=INK, lw=0.8)
    left.set(xlim=(0, 2 * m), title=f"reading (^{m} )^{m}", xlabel="token")
    label_ends(left)
    every = np.arange(1, MAX_DEPTH + 1)
    right.plot(every, (1 - (1 - e) ** every) ** 2 / e, color=INK, lw=1.2)
    right.plot(every[::3], -leaked(e, MAX_DEPTH)[::3], "o", color=DELTA, ms=4)
    right.plot([m], [-w[-1]], "o", mfc="none", mec=INK, mew=2, ms=11)
    right.axhline(0.5, color=FAINT, lw=1.2, ls=(0, (4, 3)), label="wrong above")
    log_ticks(right, y=(0.0001, 0.01, 1, 100))
    right.set(xlim=(0, MAX_DEPTH + 1), ylim=(5e-5, 3e2), xlabel="depth m", title="below 0, after (^m )^m")
    label_ends(right)
    return figure


def leak_sentence(over: int, m: int) -> str:
    """Where the counter ends, and from which depth on it is wrong."""
    e, end = Fraction(1, over), float(fast.leaky(Fraction(1, over), m))
    verdict = "<b>wrong</b> by more than ½" if end < -0.5 else "still nearer to 0 than to -1"
    return (f"After (^{m} )^{m} the counter says <b>{end:.2f}</b> and not 0: minus (1 - (1 - e)^m)² / e, {verdict}. With "
            f"e = 1/{over} it breaks at depth {fast.breaks_at(e)}, about 1/√(2e) = {(over / 2) ** 0.5:.1f}.")  # fmt: skip


def both_counters(text: str, over: int, added: int) -> dict[str, np.ndarray]:
    """Depth since the reset, the delta counter with leak 1/over, and the adder whose value at 1 is ``added``; each (T,)."""
    if not 1 <= len(text) <= PLAYED or set(text) - set(fast.BRACKETS):
        raise ValueError(f"1 to {PLAYED} tokens among ( ) 1 are read, got {len(text)}: {text!r}")
    word, depth = fast.tokens(text), [fast.depth_since_reset(text[:end]) for end in range(1, len(text) + 1)]
    if min(depth) < 0:
        raise ValueError(f"token {depth.index(-1) + 1} of {text!r} closes what is not open")
    delta = fast.outputs(fast.reset_counter(Fraction(1, over)), word, "delta")[:, 0]
    adder = fast.outputs(fast.table([[1]] * 3, [[1]] * 3, [[1], [-1], [added]]), word, "sum")[:, 0]
    return {"depth": np.array(depth, float), "delta rule": delta.astype(float), "sum": adder.astype(float)}


@styled
def reset_picture(text: str, over: int, added: int) -> Figure:
    """Above, both counters and the true depth; below, the labels: open or not since the last 1, crosses where wrong."""
    found, t = both_counters(text, over, added), np.arange(1, len(text) + 1)
    figure, (above, below) = new_figure(3.9, rows=2, left=0.95, right=0.95, top=0.15, bottom=0.35, gap=0.35,
                                        gridspec_kw={"height_ratios": (2.2, 1)}, sharex=True)  # fmt: skip
    colours = {"depth": FAINT, "delta rule": DELTA, "sum": ADDER}
    for name, y in found.items():
        lw, alpha = (5, 0.4) if name == "depth" else (1.8, 1)
        above.plot(t, y, color=colours[name], lw=lw, alpha=alpha, label=name)
    above.axhline(0.5, color=INK, lw=0.8, ls=(0, (4, 3)))
    above.set(xlim=(0.5, len(text) + 0.5), ylabel="counter")
    label_ends(above)
    truth = found["depth"] > 0.5
    for row, y in enumerate(found.values()):
        says = y > 0.5
        good, bad = says == truth, says != truth
        below.scatter(t[good], np.full(good.sum(), row), s=60, c=np.where(says[good], INK, "white"), edgecolors=INK, lw=1)
        below.scatter(t[bad], np.full(bad.sum(), row), s=60, marker="x", c=WRONG, linewidths=2)
    below.set(ylim=(2.6, -0.6))
    below.set_yticks(range(3), ["truth", "delta rule", "sum"])
    below.set_xticks(t, list(text), family="monospace", fontsize=11)
    below.tick_params(length=0)
    below.grid(False)
    return figure


def reset_sentence(text: str, over: int, added: int) -> str:
    """How many labels each of the two gets wrong."""
    found = both_counters(text, over, added)
    wrong = {name: int(((y > 0.5) != (found["depth"] > 0.5)).sum()) for name, y in found.items()}
    seen = f"{text.count('(')} times (, {text.count(')')} times ) and {text.count('1')} times 1"
    return (f"Wrong labels of {len(text)}: delta rule <b>{wrong['delta rule']}</b>, sum <b>{wrong['sum']}</b>. The sum "
            f"knows no more than {seen}, in any order, and that the last was {text[-1]}.")  # fmt: skip


# --- the rows of its tables --------------------------------------------------------------------------------------------


def whole_strings(found: pd.DataFrame, score: str = "last") -> pd.Series:
    """Whole strings right in Bin0/Bin1 by task and row: the mean over seeds, and (the range of Bin1), rounded down."""

    def down(share: float) -> int:
        return math.floor(share + 1e-9)  # 99.999... is 100

    def say(cell: pd.DataFrame) -> str:
        bin0, bin1 = (100 * cell[f"{score}.{name}"] for name in ("bin0", "bin1"))
        mean = f"{down(bin0.mean())}/{down(bin1.mean())}"
        return mean if bin1.min() == bin1.max() else f"{mean} ({down(bin1.min())} to {down(bin1.max())})"

    return found.groupby(results.CELL, sort=False)[[f"{score}.bin0", f"{score}.bin1"]].apply(say)


def beside(name: str, tasks: Sequence[str], live: Sequence[Mapping] = ()) -> pd.DataFrame:
    """Table 1 or 2: the paper's Bin0/Bin1, ours as recorded and live."""
    table, found = get(f"fwp/{name}"), results.runs(f"fwp/{name}")
    kinds = {"paper": paper(table.name).groupby(results.CELL)["value"].agg(lambda bins: "/".join(f"{one:g}" for one in bins)),
             "recorded": whole_strings(found), **({"live": whole_strings(results.frame(live))} if live else {}),
             "why": results.reasons(found).set_index(results.CELL)["why"]}  # fmt: skip
    cells = pd.concat(kinds, axis=1).fillna({"why": ""}).sort_index()
    made = pd.concat({named(task, "fwp"): cells.loc[task].dropna(axis=1, how="all") for task in tasks}, axis=1)
    made.columns = made.columns.map(", ".join)
    return made.reindex(table.rows).rename(named).rename_axis("model")


def sizes() -> Iterator[dict]:
    """How many distinct strings the bins of the four smallest tasks have."""
    for name in ("aa", "abab", "anbn", "anbncn"):
        task = COUNTER_TASKS[name]()
        yield {"task": named(name), "strings in Bin0": task.count(task.bin(0)), "in Bin1": task.count(task.bin(1))}


def chosen_by_test() -> pd.DataFrame:
    """Both tables: Bin0/Bin1 of the weights that the test bins choose, recorded."""
    one, two = get("fwp/table1"), get("fwp/table2")
    cells = whole_strings(results.runs(one.name, two.name), "by_test").unstack("task")
    made = cells.reindex(index=one.rows, columns=[*one.tasks, *two.tasks])
    return made.rename(named).rename(columns=lambda task: named(task, "fwp")).rename_axis(index="model", columns=None)


def reflecting(live: Sequence[Mapping]) -> Iterator[dict]:
    """Rows of ``fwp/negative``, recorded and live: whole strings, and single answers at the far end."""
    for source, found in (("recorded", results.runs("fwp/negative")), ("live", results.frame(live))):
        ends = (100 * results.column(found, "by_position.-1").astype(float)).groupby([found["task"], found["row"]])
        far = ends.agg(lambda cell: f"{cell.mean():.0f} ({cell.min():.0f} to {cell.max():.0f})")
        for (task, row), bins in whole_strings(found).items():
            yield {
                "task": named(task, "fwp"), "source": source, "beta in": f"(0, {row[4]})", "writes": int(row[-1]),
                "Bin0/Bin1": bins, "single answers at 400": far[task, row],
            }  # fmt: skip


@cache
def _fit(table: str, row: str, task: str, budget: str, seed: int, **changed: int | tuple) -> Trained:
    with deterministic():
        return fwp_training.fit(COUNTER_TASKS[task](), get(table).setting(row, task, budget) | changed, seed)


def counting_net(row: str, seed: int) -> nn.Module:
    """A DeltaNet of that row of Table 1, trained on a^n b^n, n = 1..50, for 1,500 steps."""
    return deepcopy(_fit("fwp/table1", row, "anbn", "desk", seed, pool=2000, watch_every=1500).net.eval())


def reflecting_net(seed: int) -> nn.Module:
    """The net of ``fwp/negative`` with beta in (0, 2), one write and one layer, trained on parity as live."""
    return deepcopy(_fit("fwp/negative", "beta2_nh1", "parity", "live", seed).net.eval())


def resetting_net(seed: int) -> Trained:
    """A DeltaNet with two writes a token, trained on reset Dyck-1 for 3,000 steps from a start near translation."""
    return deepcopy(_fit("fwp/table2", "deltanet_translation", "reset_dyck_1", "desk", seed, pool=2000, watch_every=3000,
                         stages=((3000, 50),)))  # fmt: skip


@torch.no_grad()
def left(net: nn.Module) -> list[list[float]]:
    """Of what a head holds, the share that is left after a token's writes, (1 - beta_1)(1 - beta_2), by token and head."""
    _, _, _, beta = net.layers[0].program(net.symbol_inputs())
    return (1 - beta).prod(1).tolist()


def found_counter() -> tuple[nn.Module, int]:
    """The first such net in which a head counts, and that head: a bracket leaves what it holds, and the token 1 wipes it."""
    nets = (resetting_net(seed).net.double() for seed in range(9))
    return next((net, head) for net in nets for head, (up, down, reset) in enumerate(zip(*left(net)))
                if min(up, down) > 0.99 and abs(reset) < 0.1)  # fmt: skip


@torch.no_grad()
def head_counts(net: nn.Module, head: int, tokens: Sequence[int]) -> np.ndarray:
    """What a head with one key holds after each token, in its own steps: half of what ( and ) write differently."""
    _, _, v, beta = (part[:, :, head] if part.ndim > 3 else part for part in net.layers[0].program(net.symbol_inputs()))
    beta = beta[:, :, head, None]  # (token, write, 1), and v (token, write, n)
    kept, written = (1 - beta).prod(1), (1 - beta[:, 1]) * beta[:, 0] * v[:, 0] + beta[:, 1] * v[:, 1]
    step = (written[0] - written[1]) / 2
    w, held = torch.zeros_like(step), []
    for token in tokens:
        w = kept[token] * w + written[token]
        held.append(float(w @ step / step.square().sum()))
    return np.array(held)


def brackets(length: int = 400, resets: float = 0.008) -> tuple[str, np.ndarray]:
    """Random tokens ( ) 1, a share of them resets, as a text, and how many brackets are open after each."""
    draw, depth, text, depths = np.random.default_rng(0), 0, "", []
    for chance in draw.random((length, 2)):
        text += "1" if chance[0] < resets else ")" if depth > 0 and chance[1] > 0.6 else "("
        depth = {"(": depth + 1, ")": depth - 1, "1": 0}[text[-1]]
        depths.append(depth)
    return text, np.array(depths)


@styled
def counter_picture(net: nn.Module, head: int, length: int = 400, resets: float = 0.008) -> Figure:
    """Random tokens with resets: brackets open since the last 1, what the head holds, and the difference."""
    text, depths = brackets(length, resets)
    held, t = head_counts(net, head, fast.tokens(text)), np.arange(1, length + 1)
    figure, (above, below) = new_figure(3.6, rows=2, left=0.75, right=0.8, top=0.15, bottom=0.5, gap=0.25, sharex=True,
                                        gridspec_kw={"height_ratios": (2.2, 1)})  # fmt: skip
    above.plot(t, depths, color=FAINT, lw=5, alpha=0.5, label="open")
    above.plot(t, held, color=LIVE, lw=1.4, label="held")
    above.set(ylabel="open brackets", xlim=(0, length))
    label_ends(above)
    below.axhline(0, color=INK, lw=0.8)
    below.plot(t, held - depths, color=LIVE, lw=1.4)
    below.set(ylabel="difference", xlabel="token")
    return figure


@styled
def programs_picture(depths: np.ndarray, says: Mapping[str, np.ndarray]) -> Figure:
    """Open brackets by token (grey), and what three counters say."""
    figure, axes = new_figure(3.2, left=0.75, right=1.55, top=0.15, bottom=0.5)
    t = np.arange(1, len(depths) + 1)
    axes.plot(t, depths, color=FAINT, lw=6, alpha=0.5, label="open")
    for (name, said), colour, dash in zip(says.items(), (ADDER, DELTA, LIVE), ((0, (1, 1)), (0, (5, 1.5)), "-")):
        axes.plot(t, said, color=colour, lw=1.4, ls=dash, label=name)
    axes.set(xlim=(0, len(depths)), xlabel="token", ylabel="open brackets")
    label_ends(axes)
    return figure


@torch.no_grad()
def decay(net: nn.Module) -> float:
    """The share that one write of a DeltaNet takes of what its key holds: of its tokens the largest, of its heads the least."""
    _, key, _, beta = net.layers[0].program(net.symbol_inputs())
    return float((beta * key.pow(2).sum(-1)).amax((0, 1)).min())


@torch.no_grad()
def margins(net: nn.Module, sizes: Sequence[int]) -> list[float]:
    """For a^n b^n of each size n: the least gap, over all positions, of the right class's logit above the others."""
    batch = COUNTER_TASKS["anbn"]().batch([[0] * n + [1] * n for n in sizes])
    logits, targets = net(batch.tokens), batch.targets.clamp(min=0).unsqueeze(-1)
    gaps = logits.gather(-1, targets) - logits.scatter(-1, targets, -math.inf).amax(-1, keepdim=True)
    return gaps.squeeze(-1).masked_fill(~batch.mask, math.inf).amin(1).tolist()


@styled
def margin_picture(found: Mapping[str, Sequence[float]], sizes: Sequence[int]) -> Figure:
    """The margins of several nets by the size of a string: above 0 every position is right."""
    figure, axes = new_figure(3.0, left=0.9)
    for (name, values), colour, dash in zip(found.items(), (DELTA, ADDER), ((0, (5, 1.5)), "-")):
        axes.plot(sizes, values, color=colour, ls=dash, label=name)
    axes.axhline(0, color=INK, lw=0.8)
    axes.axvline(50, color=FAINT, lw=1.2)
    axes.annotate("trained up to 50", (50, 1), (4, 0), xycoords=("data", "axes fraction"), textcoords="offset points",
                  fontsize=SMALL, annotation_clip=False)  # fmt: skip
    axes.set_yscale("symlog", linthresh=1)
    axes.set(xlabel="n of $a^n b^n$", ylabel="least margin")
    axes.legend(loc="lower right", bbox_to_anchor=(1, 1), ncols=2, borderaxespad=0.2)
    return figure
