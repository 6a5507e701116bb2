"""The transitions themselves: blocks as heatmaps, their eigenvalues, what a column rule does, how products grow.

Letters: V vocabulary, h blocks (heads), b block size, p the norm, k steps; A transition.  [i, j] of a block takes
state j to state i, so a *column* says where one state goes.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.collections import PatchCollection
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.patches import Circle, Rectangle

from lrnnlab.analysis import (
    FLOAT32_MAX,
    FLOAT32_TINY,
    KINDS,
    growth_per_step,
    log10_products,
    overflow_step,
    random_blocks,
)  # fmt: skip
from lrnnlab.show.style import (
    DIVERGING,
    FAINT,
    FAMILIES,
    INK,
    PAGE,
    SMALL,
    Look,
    colour_bar,
    ink_on,
    label_ends,
    new_figure,
    styled,
    symbol_looks,
    typeset,
)  # fmt: skip
from lrnnlab.models import COLUMN_RULES

PAST_LABELS = 32  # points: a title above tick labels and a label that lie on top

# the bound is Eq. 6's, so it has clip's colour; permutations are what exact models are made of; the rest is grey
KIND_LOOKS = {"worst": FAMILIES["clip"]._replace(dash="-"), "permutation": FAMILIES["exact"],
              "softmax": FAMILIES["softmax"]._replace(dash=(0, (3, 3))), "positive": Look("#555555", (0, (6, 2))),
              "gaussian": Look("#555555", (0, (4, 1, 1, 1))), "signs": Look("#555555", (0, (2, 1)))}  # fmt: skip


@styled
def transition_grid(A: np.ndarray, symbols: Sequence[str], title: str = "", *, limit: float | None = None) -> Figure:
    """Every block of every token: one row of heatmaps per token, one column per head, one colour scale.

    A (V, h, b, b), as ``symbol_transitions(model)[0]`` gives it; symbols: V names.  The strip under each block holds
    its column sums: 1 for columns that are distributions, 0 after the released code's centring.  ``limit``: the value
    of the darkest colour; by default the largest entry or column sum.

    >>> transition_grid(np.eye(3)[None, None], ["a"]).axes[0].get_yticklabels()[0].get_text()
    'a'
    """
    figure, axes, x, y = _mosaic(_blocks(A, symbols), limit, largest=0.14, left=0.75, top=0.65)
    axes.set_yticks(y, map(typeset, symbols))
    axes.set_xticks(x, range(len(x)))
    axes.set(xlabel="head", ylabel="token")
    axes.set_title(title, pad=PAST_LABELS)
    return figure


@styled
def before_after(A0: np.ndarray, A1: np.ndarray, symbols: Sequence[str], head: int, *,
                 names: tuple[str, str] = ("before", "after"), title: str = "") -> Figure:
    """One head's blocks for every token at two times, for example as trained and as snapped, on one colour scale.

    A0, A1 (V, h, b, b); ``head`` counts from 0, as everywhere.

    >>> before_after(np.eye(2)[None, None] / 2, np.eye(2)[None, None], ["a"], 0).axes[0].get_yticklabels()[1].get_text()
    'after'
    """
    A0, A1 = _blocks(A0, symbols), _blocks(A1, symbols)
    if A0.shape != A1.shape or not 0 <= head < A0.shape[1]:
        raise ValueError(f"need two (V, h, b, b) of one shape and a head in 0..{A0.shape[1] - 1}, "
                         f"got {A0.shape}, {A1.shape} and head {head}")
    pair = np.stack([A0[:, head], A1[:, head]])  # (2, V, b, b)
    figure, axes, x, y = _mosaic(pair, None, largest=0.3, left=0.9, top=0.7)
    axes.set_yticks(y, names, fontsize=10)
    axes.set_xticks(x, map(typeset, symbols))
    axes.set_xlabel("token")
    axes.set_title(title or f"head {head}", pad=PAST_LABELS)
    return figure


@styled
def eigenvalue_plane(eigs: np.ndarray, symbols: Sequence[str], after: np.ndarray | None = None, *,
                     order: int | None = None, names: tuple[str, str] = ("before", "after"), title: str = "") -> Figure:
    """Where the eigenvalues of each token's blocks lie, against the unit circle, on which nothing grows or is lost.

    eigs (V, h, b) complex, from ``analysis.eigenvalues``; ``after``: the same later, in a second panel.  ``order``:
    mark the order-th roots of unity, where a machine that counts mod ``order`` must have some.

    >>> eigenvalue_plane(np.ones((2, 1, 1), complex), ["0", "1"]).axes[0].get_xlabel()
    'real part'
    """
    eigs = [np.asarray(e) for e in ([eigs] if after is None else [eigs, after])]
    for values in eigs:
        if values.ndim != 3 or len(values) != len(symbols):
            raise ValueError(f"need eigenvalues (V, h, b) for {len(symbols)} tokens, got {values.shape}")
    figure, panels = new_figure(3.6, width=PAGE if len(eigs) == 2 else 4.6, columns=len(eigs), right=1.0, gap=0.3,
                                left=0.75, sharex=True, sharey=True, squeeze=False)
    reach = 1.1 * max(1.0, *(np.abs(e).max() for e in eigs))
    for axes, values, name in zip(panels[0], eigs, names):
        axes.add_patch(Circle((0, 0), 1, fill=False, ec=INK, lw=1.2))
        for k in range(order or 0):
            turn = 2 * np.pi * k / order
            axes.plot([0.94 * np.cos(turn), 1.06 * np.cos(turn)], [0.94 * np.sin(turn), 1.06 * np.sin(turn)],
                      color=INK, lw=1.2)
        sizes = np.linspace(9, 4, len(symbols))  # where tokens share an eigenvalue, the later ones lie on the earlier
        for symbol, look, size, points in zip(symbols, symbol_looks(symbols), sizes, values.reshape(len(symbols), -1)):
            axes.plot(points.real, points.imag, look.marker, color=look.colour, mec=INK, mew=0.4, ms=size,
                      alpha=0.85, label=typeset(symbol), ls="none")
        axes.set(xlim=(-reach, reach), ylim=(-reach, reach), xlabel="real part", aspect="equal",
                 title=f"{title}{', ' if title else ''}{name}" if len(eigs) == 2 else title)
    panels[0, 0].set_ylabel("imaginary part")
    panels[0, -1].legend(title="token", loc="center left", bbox_to_anchor=(1.02, 0.5), title_fontsize=SMALL)
    return figure


@styled
def growth(p: float, b: int, steps: int = 500, *, seed: int = 0, reach: float | None = None,
           kind: str | None = None) -> Figure:
    """How large products of blocks under Eq. 6 become: the worst, and random ones of several kinds, in one picture.

    The height is log10 of the largest column sum of |A_k ... A_1|.  Above the upper mark float32 overflows, below the
    lower one it holds nothing but zero.  ``reach``: powers of ten shown up and down; by default what the lines need.
    Give it to keep the scale still under a slider: 310 holds all of p in 1..2, b up to 16, 500 steps.
    ``kind``: one of ``analysis.KINDS`` to look at; the others are drawn faintly.

    >>> figure = growth(1.2, 8, steps=100)
    >>> bool(abs(figure.axes[0].lines[0].get_ydata()[-1] - 100 / 6 * np.log10(8)) < 1e-9)
    True
    """
    figure, axes = new_figure(3.8, left=1.0, right=1.6)
    blocks = np.stack([random_blocks(kind, steps, p, b, seed) for kind in KINDS])
    curves = dict(zip(KINDS, log10_products(blocks)))
    ends = []
    if kind is not None and kind not in curves:
        raise ValueError(f"no kind of columns {kind!r}; there are {', '.join(KINDS)}")
    for name, curve in curves.items():
        look, chosen = KIND_LOOKS[name], kind in (None, name)
        axes.plot(curve, color=look.colour if chosen else FAINT, ls=look.dash, label=name, lw=2.4 if kind == name else 1.6,
                  alpha=1.0 if chosen else 0.5)
        ends.append((curve[-1], "worst possible" if name == "worst" else name, look.colour if chosen else FAINT))
    for limit, text in ((FLOAT32_MAX, "float32 overflows"), (FLOAT32_TINY, "float32 is zero")):
        level = np.log10(limit)
        axes.axhline(level, color=FAINT, lw=1.2, ls=(0, (4, 3)))
        ends.append((level, text, FAINT))
    low = min(-60, *(curve[np.isfinite(curve)].min() for curve in curves.values()))
    high = max(60, *(curve.max() for curve in curves.values()))
    low, high = (-reach, reach) if reach else (25 * np.floor(low / 25), 25 * np.ceil(high / 25))
    axes.set(xlim=(0, steps), ylim=(low, high), xlabel="step k", ylabel=r"$\|A_k \cdots A_1\|_1$",
             title=f"p = {p:g}, b = {b}")
    ticks = [t for t in axes.get_yticks() if low <= t <= high]
    axes.set_yticks(ticks, [f"$10^{{{t:.0f}}}$" for t in ticks])
    label_ends(axes, ends)
    return figure


def growth_sentence(p: float, b: int, kind: str | None = None, steps: int = 500) -> str:
    """What Eq. 6 allows at this p and b, and what columns of one kind do, in a sentence each.

    >>> growth_sentence(1.2, 8)
    'At p = 1.2, b = 8 the state can grow by 1.414 a step: float32 overflows at step 256.'
    """
    if kind is not None:
        rate = 10 ** float(log10_products(random_blocks(kind, steps, p, b, 0)[None])[0, -1] / steps)
        return f"{growth_sentence(p, b)} {kind.capitalize()} columns: by {rate:.3f} a step over {steps}."
    step = overflow_step(p, b)
    if step is None:
        return f"At p = {p:g}, b = {b} the state cannot grow: no product of blocks has a norm above 1."
    factor = growth_per_step(p, b)
    shown = f"{factor:.3f}" if factor >= 1.001 else f"{factor:.7f}"
    return f"At p = {p:g}, b = {b} the state can grow by {shown} a step: float32 overflows at step {step:,}."


@styled
def column_rule(raw: np.ndarray, p: float, rule: str) -> Figure:
    """What a rule of ``COLUMN_RULES`` makes of one raw block: before and after, with the p-norm and sum of each column.

    raw (b, b), or (b,) for a single column, b up to 8 or so: the numbers are printed in the cells.  ValueError for
    another rule, p < 1 or another shape.

    >>> figure = column_rule(np.array([[3.0, 0.1], [4.0, 0.2]]), 2, "clip")
    >>> [axes.get_title("left") for axes in figure.axes[:2]]
    ['raw', 'clip, p = 2']
    """
    raw = np.asarray(raw, dtype=np.float64)
    raw = raw[:, None] if raw.ndim == 1 else raw
    if raw.ndim != 2 or not raw.size or rule not in COLUMN_RULES or not p >= 1:
        raise ValueError(f"need a block (b, b) or a column (b,), a rule among {', '.join(COLUMN_RULES)} and p >= 1, "
                         f"got {raw.shape}, {rule!r} and p={p}")
    made = COLUMN_RULES[rule](torch.from_numpy(raw), p).numpy()
    limit = max(np.abs(raw).max(), np.abs(made).max(), 1e-12)
    rows, columns = raw.shape
    cell = min(0.42, (PAGE - 1.8) / (2 * columns))
    figure, panels = new_figure(1.0 + rows * cell, width=max(1.8 + 2 * columns * cell, 5.0), columns=2, left=0.75,
                                right=0.8, top=0.4, bottom=0.55, gap=0.25)
    for axes, block, name in zip(panels, (raw, made), ("raw", f"{rule}, p = {p:g}")):
        drawn = _heatmap(axes, block, limit)
        norms, sums = np.linalg.norm(block, p, axis=0), block.sum(0)
        axes.set_xticks(range(columns), [f"{_short(norm)}\n{_short(total)}" for norm, total in zip(norms, sums)])
        axes.set_yticks([])
        axes.set_title(name)
    panels[0].annotate(f"{p:g}-norm\nsum", (0, 0), xycoords="axes fraction", xytext=(-6, -4),
                       textcoords="offset points", ha="right", va="top", fontsize=SMALL)
    colour_bar(figure, drawn)
    return figure


def _blocks(A, symbols):
    A = np.asarray(A, dtype=np.float64)
    if A.ndim != 4 or A.shape[2] != A.shape[3] or len(A) != len(symbols):
        raise ValueError(f"need blocks (V, h, b, b) for {len(symbols)} tokens, got {A.shape}")
    return A


def _mosaic(blocks: np.ndarray, limit: float | None, *, largest: float, left: float, top: float):
    """(figure, axes, x centres (C,), y centres (R,)) of blocks (R, C, b, b), each with a strip of column sums below.

    One mesh holds all of them; rows of NaN, narrower than an entry, keep them apart.
    """
    R, C, b, _ = blocks.shape
    sums = blocks.sum(2, keepdims=True)  # (R, C, 1, b)
    gap = np.full_like(sums, np.nan)
    tall = np.concatenate([blocks, gap, sums, gap], axis=2)  # (R, C, b + 3, b)
    wide = np.concatenate([tall, np.full_like(tall[..., :1], np.nan)], axis=3)  # (R, C, b + 3, b + 1)
    values = wide.transpose(0, 2, 1, 3).reshape(R * (b + 3), C * (b + 1))
    heights, widths = np.tile([1.0] * b + [0.4, 1.0, 1.2], R), np.tile([1.0] * b + [0.8], C)
    x, y = np.concatenate([[0], widths.cumsum()]), np.concatenate([[0], heights.cumsum()])
    cell = min(largest, (PAGE - left - 1.0) / x[-1], 6.5 / y[-1])  # inches an entry: small models are not blown up
    width, height = cell * x[-1], cell * y[-1]
    figure, axes = new_figure(max(height, 1.0) + top + 0.1, width=max(left + width + 1.0, 4.0), left=left, top=top,
                              right=max(1.0, 4.0 - left - width), bottom=0.1 + max(1.0 - height, 0))
    limit = limit or max(np.nanmax(np.abs(values)), 1e-12)
    mesh = axes.pcolormesh(x, y, values, cmap=DIVERGING, vmin=-limit, vmax=limit)
    corners = [(x[c * (b + 1)], y[r * (b + 3)]) for r in range(R) for c in range(C)]
    frames = [Rectangle(corner, b, b) for corner in corners] + [Rectangle((u, v + b + 0.4), b, 1) for u, v in corners]
    axes.add_collection(PatchCollection(frames, facecolor="none", edgecolor=FAINT, lw=0.6))
    axes.set(xlim=(0, x[-1]), ylim=(y[-1], 0))
    axes.grid(False)
    axes.spines[:].set_visible(False)
    axes.tick_params(which="both", length=0, top=True, labeltop=True, labelbottom=False)
    axes.xaxis.set_label_position("top")
    axes.set_yticks(y[:-1:b + 3] + b + 0.9, ["sum"] * R, minor=True, color=FAINT, fontsize=SMALL)
    colour_bar(figure, mesh)
    return figure, axes, x[:-1:b + 1] + b / 2, y[:-1:b + 3] + b / 2


def _heatmap(axes: Axes, block: np.ndarray, limit: float):
    """One block with its numbers in the cells."""
    drawn = axes.imshow(block, cmap=DIVERGING, vmin=-limit, vmax=limit, interpolation="nearest")
    for (i, j), value in np.ndenumerate(block):
        shade = to_hex(drawn.cmap(drawn.norm(value)))
        axes.text(j, i, _short(value), ha="center", va="center", fontsize=SMALL, color=ink_on(shade))
    axes.grid(False)
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0)
    return drawn


def _short(value: float) -> str:
    """A number that fits its cell: .35, −1.2, 14; 0 and 1 only where they are meant exactly, else .00 and 1.0."""
    if abs(value - round(value)) < 1e-9:
        text = f"{round(value)}"
    else:
        text = f"{value:.2f}" if abs(value) < 0.995 else f"{value:.1f}" if abs(value) < 9.95 else f"{value:.0f}"
    if not float(text):
        text = text.removeprefix("-")  # what is rounded to nothing has no sign
    return text.replace("-0.", "-.").replace("-", "−") if text.startswith("-") else text.removeprefix("0") or "0"
