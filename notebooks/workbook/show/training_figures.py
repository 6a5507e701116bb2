"""How a model learned and how far it holds: loss, accuracy by length, the spread of its states.

Letters: T time, C classes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure

from workbook.show.frames import trained
from workbook.show.labels import look_of
from workbook.show.style import FAINT, INK, label_ends, new_figure, styled

LABELS = 1.85  # inches in the right margin for what is written at the ends of lines


@styled
def loss_curve(series: Mapping[str, Sequence[tuple[int, float]]], *, classes: int | None = None) -> Figure:
    """Training loss by step, on a logarithmic scale, a line for each label -> [(step, loss in nats), ...].

    With ``classes`` also ln C, the loss of a uniform guess.

    >>> loss_curve({"clip": [(1, 1.6), (100, 0.2), (200, 0.01)]}, classes=5).axes[0].get_xlabel()
    'training step'
    """
    figure, axes = new_figure(3.2, right=LABELS)
    ends = []
    for place, (label, points) in enumerate(_filled(series).items()):
        steps, losses = np.asarray(points, dtype=float).reshape(-1, 2).T
        losses = np.where(losses > 0, losses, np.nan)  # a loss of exactly 0 has no place on a logarithmic scale
        look = look_of(label, place)
        axes.plot(steps, losses, color=look.colour, ls=look.dash, label=label)
        ends.append((_last(losses), label, look.colour))
    axes.set_yscale("log")
    if classes is not None:
        axes.axhline(math.log(classes), color=FAINT, lw=1.2, ls=(0, (4, 3)), label="chance")
        ends.append((math.log(classes), f"chance: ln {classes} = {math.log(classes):.2f}", FAINT))
    axes.set(xlabel="training step", ylabel="cross-entropy (nats)")
    axes.margins(x=0)
    label_ends(axes, ends)
    return figure


@styled
def accuracy_by_length(curves: Mapping[str, Sequence[float]], *, train_length: int, chance: float, majority: float,
                       window: int = 1) -> Figure:
    """Share of strings answered rightly after each token, one line per model, with what guessing would give.

    Parameters
    ----------
    curves : dict
        label -> (T,) accuracies of positions 1..T, NaN where no answer is asked for (the line joins its neighbours).  A
        label that begins with a model's or a source's name gets its colour (``labels.look_of``).
    train_length : int
        The longest string seen in training; everything right of the mark is new.
    chance, majority : float
        Accuracy of a uniform guess, and of the best constant answer.
    window : int
        Show means over so many neighbouring positions (in bold, the raw curve faint behind).
    """
    figure, axes = new_figure(3.4, right=LABELS, top=0.55)
    ends, longest = [], 1
    for place, (label, accuracies) in enumerate(_filled(curves).items()):
        accuracies = np.asarray(accuracies, dtype=float)
        kept = np.flatnonzero(~np.isnan(accuracies))
        if accuracies.ndim != 1 or not len(kept):
            raise ValueError(f"{label!r} needs accuracies (T,), not all NaN, got shape {accuracies.shape}")
        at, raw, look = kept + 1, accuracies[kept], look_of(label, place)
        shown = _means(raw, window)
        axes.plot(at, shown, color=look.colour, ls=look.dash, label=label, zorder=3)
        if window > 1:
            axes.plot(at, raw, color=look.colour, lw=0.8, alpha=0.35, zorder=2)
        ends.append((float(shown[-1]), label, look.colour))
        longest = max(longest, len(accuracies))
    axes.set(xlabel="position in the string" + (f" (means over {window})" if window > 1 else ""),
             ylabel="strings answered rightly", ylim=(0, 1.03), xlim=(1, max(longest, train_length, 2)))
    axes.set_yticks([0, 0.2, 0.4, 0.6, 0.8, 1], ["0", "20 %", "40 %", "60 %", "80 %", "100 %"])
    _seen(axes, train_length)
    ends += _mark_guessing(axes, chance, majority)
    label_ends(axes, ends)
    return figure


@styled
def spread(within: Sequence[float], between: Sequence[float], *, train_length: int | None = None, log_x: bool = False,
           title: str = "") -> Figure:
    """How far states of one class scatter, against how far apart the classes are, by position: (T,) each
    (``tables.lrnn_fading.within_between``).  What is zero in float32 lies on the lower edge; ``log_x`` is for thousands."""
    within, between = np.asarray(within, dtype=float), np.asarray(between, dtype=float)
    if within.shape != between.shape or within.ndim != 1:
        raise ValueError(f"need two curves (T,) of one length, got {within.shape} and {between.shape}")
    figure, axes = new_figure(3.0, right=LABELS, top=0.55)
    at, seen = np.arange(1, len(within) + 1), np.concatenate([within, between])
    seen = seen[seen > 1e-9]  # NaN is none of them
    floor, ends = (seen.min() / 2 if seen.size else 1e-9), []
    for values, label, colour, dash in ((within, "within a class", INK, "-"),
                                        (between, "between classes", FAINT, (0, (5, 2)))):
        shown = np.maximum(values, floor)  # NaN stays NaN
        axes.plot(at, shown, color=colour, ls=dash, label=label)
        ends.append((_last(shown), label, colour))
    axes.set_yscale("log")
    axes.set_ylim(bottom=floor)
    if log_x:
        axes.set_xscale("log")
    axes.set(xlabel="position in the string", ylabel="distance of states", xlim=(1, max(2, len(within))))
    if train_length is not None:
        _seen(axes, train_length)
    axes.set_title(title, pad=22)
    label_ends(axes, ends)
    return figure


def _filled(series):
    if not series:
        raise ValueError("there is nothing to draw: no curves")
    return series


def _last(values):
    kept = values[~np.isnan(values)]
    if not len(kept):
        raise ValueError("a curve has no number that can be drawn")
    return float(kept[-1])


def _means(values, window):
    """Means over ``window`` neighbours, fewer at both ends."""
    if window < 1:
        raise ValueError(f"the window is a number of positions, at least 1, got {window}")
    sums, half = np.concatenate([[0.0], np.cumsum(values)]), (window - 1) / 2
    low = np.maximum(np.arange(len(values)) - math.floor(half), 0)
    high = np.minimum(np.arange(len(values)) + math.ceil(half) + 1, len(values))
    return values if window == 1 else (sums[high] - sums[low]) / (high - low)


def _seen(axes, length):
    axes.axvspan(axes.get_xlim()[0], length, color="#f1f1f1", zorder=0)
    trained(axes, length, above=True)


def _mark_guessing(axes, chance, majority):
    """Horizontal marks, and what to write at their ends."""
    marks = [(chance, f"chance: {_percent(chance)}", (0, (1, 2))),
             (majority, f"majority: {_percent(majority)}", (0, (4, 3)))]
    if abs(chance - majority) < 0.005:
        marks = [(chance, f"chance = majority: {_percent(chance)}", (0, (4, 3)))]
    for level, _, dash in marks:
        axes.axhline(level, color=FAINT, lw=1.2, ls=dash, zorder=1)
    return [(level, text, FAINT) for level, text, _ in marks]


def _percent(share):
    return f"{100 * share:.0f} %"
