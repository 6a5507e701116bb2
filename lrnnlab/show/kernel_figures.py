"""Kernels drawn (chapter 05): what modes can fit, before and after training; maps, receptive fields, Reverse's moves.

Letters: T time, D channels, N modes, L length, k lag, S lag of the 1; K kernel.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure

from lrnnlab.show.style import DIVERGING, FAINT, INK, PAGE, SMALL, Look, label_ends, new_figure, styled
from lrnnlab.algebra.kernel_fits import best_fit, families, targets
from lrnnlab.algebra.shifts import needed_modes, reverse_shift

LENGTH = 32  # of the kernels of the picture with sliders
WANTED, FITTED, START = "#B0B0B0", "#0B6E4F", "#CC79A7"
LOOKS = (
    Look("#0B6E4F"),
    Look("#E69F00", (0, (6, 1.5))),
    Look("#882255", (0, (3, 1.2))),
    Look("#000000", (0, (1, 1.2))),
)


@styled
def fit_by_modes(target: str, family: str, N: int) -> Figure:
    """Left, a target of length 32 and the best kernel of N modes of a family; right, the least error by N, all families.

    Targets and families are those of :mod:`lrnnlab.algebra.kernel_fits`.

    >>> fit_by_modes("box", "half circle", 16).axes[0].get_title("left")
    'box: error 0.00'
    """
    goal = targets(LENGTH)[target]
    fit = best_fit(families(N)[family], goal)
    figure, (left, right) = new_figure(3.0, columns=2, left=0.55, right=1.4, top=0.35, gap=0.6)
    left.plot(goal, "s", color=WANTED, ms=6, label="wanted")
    left.plot(fit.kernel, "o-", color=FITTED, ms=3, lw=1.0, label="best")
    low, high = min(goal.min(), fit.kernel.min()), max(goal.max(), fit.kernel.max())
    left.set(xlabel="lag k", xlim=(-1, LENGTH), ylim=(low - 0.15 * (high - low), high + 0.35 * (high - low)),
             title=f"{target}: error {fit.error:.2f}")  # fmt: skip
    left.legend(loc="upper right", ncols=2, handlelength=1.2, borderaxespad=0.1)
    reach = range(2, LENGTH + 1, 2)
    sets, ends = [families(modes) for modes in reach], []
    for kind in families(4):
        curve, chosen = [best_fit(nodes[kind], goal).error for nodes in sets], kind == family
        colour = FITTED if chosen else WANTED
        right.plot(reach, curve, color=colour, lw=2.4 if chosen else 1.2, zorder=3 if chosen else 2, label=kind)
        ends.append((curve[-1], kind, colour))
    right.plot(N, fit.error, "o", color=FITTED, ms=7, zorder=4)
    right.set(xlabel="modes N", xlim=(0, LENGTH), ylim=(-0.03, 1.05), xticks=range(0, LENGTH, 8),
              title="least error by N")  # fmt: skip
    label_ends(right, ends)
    return figure


def fit_sentence(target: str, family: str, N: int) -> str:
    """Error and weights of the best kernel; for a shift, how many modes an exact one needs.

    >>> fit_sentence("shift by L/2", "half circle", 16)[:74]
    'The best kernel of 16 modes of the family <b>half circle</b> misses by 0.0'
    """
    fit = best_fit(families(N)[family], targets(LENGTH)[target])
    text = (f"The best kernel of {N} modes of the family <b>{family}</b> misses by {fit.error:.1%} of the target's norm, "
            f"with weights of ||w||<sub>1</sub> = {fit.norm:.2g}.").replace("%", " %")  # fmt: skip
    if not target.startswith("shift"):
        return text
    S = LENGTH // int(target[-1])
    need = needed_modes(LENGTH, S)
    return (f"{text} An exact shift by {S} on {LENGTH} lags needs {need} modes, mirror images counted: so "
            f"N = {-(-need // 2)} at least, which the half circle makes do with.")  # fmt: skip


@styled
def kernel_gallery(wanted: Mapping[str, np.ndarray], columns: Mapping[str, Mapping]) -> Figure:
    """A row a target, a column a family: wanted (grey), before (pink) and after training (green), errors written in.

    wanted : target -> (L,).   columns : family -> ``{"before": (rows, L), "after": (rows, L), "errors": [str, ...]}``.

    >>> part = {"before": np.zeros((1, 4)), "after": np.eye(1, 4), "errors": ["0.00 / 0.00"]}
    >>> len(kernel_gallery({"one-hot": np.eye(1, 4)[0]}, {"half circle": part}).axes)
    1
    """
    rows = len(wanted)
    figure, axes = new_figure(1.02 * rows + 0.55, rows=rows, columns=len(columns), left=0.95, right=0.1, top=0.35,
                              bottom=0.2, gap=0.12, squeeze=False)  # fmt: skip
    for column, (family, found) in enumerate(columns.items()):
        axes[0, column].set_title(family, fontsize=10)
        for row, (name, goal) in enumerate(wanted.items()):
            here, low, high = axes[row, column], goal.min(), goal.max()
            here.plot(goal, color=WANTED, lw=4)
            here.plot(found["before"][row], color=START, lw=1.0)
            here.plot(found["after"][row], color=FITTED, lw=1.2)
            here.set(ylim=(low - 0.25 * (high - low), high + 0.45 * (high - low)), xticks=[], yticks=[])
            here.text(0.98, 0.97, found["errors"][row], transform=here.transAxes, ha="right", va="top", fontsize=SMALL)
            if not column:
                here.text(-0.06, 0.5, name, transform=here.transAxes, ha="right", va="center", fontsize=SMALL)
    return figure


@styled
def kernel_maps(panels: Mapping[str, np.ndarray], marks: Sequence[int] = ()) -> Figure:
    """Kernels (D, T) as rows of colour, each row divided by its largest tap; ``marks``: lags with a tick above.

    >>> kernel_maps({"before": np.eye(3, 5)}, marks=[2]).axes[0].get_title("left")
    'before'
    """
    figure, axes = new_figure(2.7, columns=len(panels), left=0.55, right=0.15, top=0.5, gap=0.3, squeeze=False)
    for place, (here, (name, K)) in enumerate(zip(axes[0], panels.items())):
        here.imshow(K / np.abs(K).max(1, keepdims=True), cmap=DIVERGING, vmin=-1, vmax=1, aspect="auto",
                    interpolation="nearest")  # fmt: skip
        here.set(xlabel="lag k")
        here.set_title(name, pad=12, fontsize=10)
        here.grid(False)
        here.plot(marks, np.full(len(marks), 1.02), "v", color=INK, ms=4, transform=here.get_xaxis_transform(),
                  clip_on=False)  # fmt: skip
        if not place:
            here.set_ylabel("channel")
        else:
            here.set_yticks([])
    return figure


@styled
def receptive_fields(curves: Mapping[str, np.ndarray], marks: Sequence[int] = (), title: str = "") -> Figure:
    """How much each input counts, by how many steps it lies back: arrays of ``receptive_field``, last position first.

    Each curve is divided by its largest value; ``marks`` are lags with a thin line.

    >>> receptive_fields({"one layer": np.array([0.1, 1.0])}).axes[0].get_xlabel()
    'steps back'
    """
    figure, axes = new_figure(3.2, right=1.5)
    ends, bottom = [], max(1e-5, 0.3 * min(field.min() / field.max() for field in curves.values()))
    for mark in marks:
        axes.axvline(mark, color="#d9d9d9", lw=3, zorder=0)
    for (name, field), look in zip(curves.items(), LOOKS):
        back = np.maximum(field[::-1] / field.max(), bottom)
        axes.plot(back, color=look.colour, ls=look.dash, lw=1.3, label=name)
        ends.append((float(np.exp(np.log(back[-len(back) // 16 :]).mean())), name, look.colour))
    axes.set(yscale="log", ylim=(bottom, 1.6), xlim=(0, len(back) - 1), xlabel="steps back",
             ylabel="share of the largest", title=title)  # fmt: skip
    axes.minorticks_off()
    label_ends(axes, ends)
    return figure


@styled
def reverse_moves(L: int = 6) -> Figure:
    """Reverse: every letter moves by another number of places.

    >>> [text.get_text() for text in reverse_moves(2).axes[0].texts if text.get_text() in "123"]
    ['3', '1']
    """
    figure, axes = new_figure(2.6, width=min(PAGE, 0.6 * 2 * L + 0.4), left=0.05, right=0.05, top=0.05, bottom=0.05)
    bow = np.linspace(0, np.pi, 60)
    for p in range(L):
        shift, target = reverse_shift(L, p), 2 * L - 1 - p
        axes.text(p, 0, f"$x_{{{p}}}$", ha="center", va="center", fontsize=11)
        axes.text(target, 0, "0", ha="center", va="center", fontsize=11, color=FAINT)
        axes.text(target, -0.8, f"$x_{{{p}}}$", ha="center", va="center", fontsize=11, color=FITTED)
        height = 0.45 * (L - p)
        axes.plot(p + shift * (1 - np.cos(bow)) / 2, 0.4 + height * np.sin(bow), color=FAINT, lw=1.1)
        axes.plot(target, 0.42, "v", color=FAINT, ms=5)
        axes.text(L - 0.5, 0.4 + height, f"{shift}", ha="center", va="center", fontsize=SMALL,
                  bbox={"fc": "white", "ec": "none", "pad": 0.6})  # fmt: skip
    axes.set(xlim=(-0.6, 2 * L - 0.4), ylim=(-1.2, 0.75 + 0.45 * L))
    axes.axis("off")
    return figure
