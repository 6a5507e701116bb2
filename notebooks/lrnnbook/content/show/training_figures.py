"""How a model learned and how far it holds: loss, accuracy by length, the spread of its states.

Letters: T time, C classes.
"""

import math
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lrnnbook.content.show.frames import trained
from lrnnbook.content.show.labels import look_of
from lrnnbook.content.show.style import FAINT, INK, label_ends, new_figure, styled

LABELS = 1.85  # inches in the right margin for what is written at the ends of lines


@styled
def loss_curve(series: Mapping[str, Sequence[tuple[int, float]]], *, classes: int) -> Figure:
    """Training loss by step, on a logarithmic scale, a line for each label -> [(step, loss in nats), ...], and ln C, the loss
    of a uniform guess."""
    figure, axes = new_figure(3.2, right=LABELS)
    ends = [(math.log(classes), f"chance: ln {classes} = {math.log(classes):.2f}", FAINT)]
    axes.axhline(math.log(classes), color=FAINT, lw=1.2, ls=(0, (4, 3)), label="chance")
    for place, (label, points) in enumerate(series.items()):
        loss, look = pd.Series(dict(points)), look_of(label, place)
        axes.plot(loss.where(loss > 0), color=look.colour, ls=look.dash, label=label)  # 0 has no place on this scale
        ends.append((loss[loss > 0].iloc[-1], label, look.colour))
    axes.set(yscale="log", xlabel="training step", ylabel="cross-entropy (nats)")
    axes.margins(x=0)
    label_ends(axes, ends)
    return figure


@styled
def accuracy_by_length(curves: Mapping[str, Sequence[float]], *, train_length: int, chance: float, majority: float,
                       window: int = 1) -> Figure:  # fmt: skip
    """Share of strings answered correctly after each token, one line per model, with what guessing would give.

    Parameters
    ----------
    curves : dict
        label -> (T,) accuracies of positions 1..T, NaN where no answer is asked for (the line joins its neighbours).  A
        label that begins with a model's or a source's name gets its colour (``labels.look_of``); a second one is dashed.
    train_length : int
        The longest string seen in training; everything right of the mark is new.
    chance, majority : float
        Accuracy of a uniform guess, and of the best constant answer.
    window : int
        Show means over so many neighbouring positions (in bold, the raw curve faint behind).
    """
    figure, axes = new_figure(3.4, right=LABELS, top=0.55)
    ends, drawn = [], set()
    for place, (label, accuracies) in enumerate(curves.items()):
        raw, look = pd.Series(accuracies, range(1, len(accuracies) + 1)).dropna(), look_of(label, place)
        shown = raw.rolling(window, center=True, min_periods=1).mean()
        axes.plot(shown, color=look.colour, ls=(0, (5, 2)) if look in drawn else look.dash, label=label, zorder=3)
        drawn.add(look)
        if window > 1:
            axes.plot(raw, color=look.colour, lw=0.8, alpha=0.35, zorder=2)
        ends.append((shown.iloc[-1], label, look.colour))
    axes.set(xlabel="position in the string" + (f" (means over {window})" if window > 1 else ""),
             ylabel="strings answered correctly", ylim=(0, 1.03), xlim=(1, max(train_length, *map(len, curves.values()), 2)))  # fmt: skip
    axes.set_yticks([0, 0.2, 0.4, 0.6, 0.8, 1], ["0", "20 %", "40 %", "60 %", "80 %", "100 %"])
    _seen(axes, train_length)
    levels = {"chance": (chance, (0, (1, 2))), "majority": (majority, (0, (4, 3)))}
    if abs(chance - majority) < 0.005:
        levels = {"chance = majority": (chance, (0, (4, 3)))}
    for name, (level, dash) in levels.items():
        axes.axhline(level, color=FAINT, lw=1.2, ls=dash, zorder=1)
        ends.append((level, f"{name}: {100 * level:.0f} %", FAINT))
    label_ends(axes, ends)
    return figure


@styled
def spread(within: Sequence[float], between: Sequence[float], *, train_length: int, title: str) -> Figure:
    """How far states of one class scatter, against how far apart the classes are, by position: (T,) each
    (``tables.lrnn_fading.within_between``).  What is zero in float32 lies on the lower edge."""
    figure, axes = new_figure(3.0, right=LABELS, top=0.55)
    both = pd.DataFrame({"within a class": within, "between classes": between}, np.arange(1, len(within) + 1))
    floor, ends = both[both > 1e-9].min().min() / 2, []
    for (label, values), colour, dash in zip(both.items(), (INK, FAINT), ("-", (0, (5, 2)))):
        shown = values.clip(lower=floor)  # NaN stays NaN
        axes.plot(shown, color=colour, ls=dash, label=label)
        ends.append((shown.dropna().iloc[-1], label, colour))
    axes.set(xscale="log", yscale="log", xlabel="position in the string", ylabel="distance of states", xlim=(1, len(within)))
    axes.set_ylim(bottom=floor)
    _seen(axes, train_length)
    axes.set_title(title, pad=22)
    label_ends(axes, ends)
    return figure


def _seen(axes: Axes, length: int) -> None:
    axes.axvspan(axes.get_xlim()[0], length, color="#f1f1f1", zorder=0)
    trained(axes, length, above=True)
