"""Chapter 02, the block-diagonal LRNN: its pictures and widgets, and the bound for a soft network.

Pictures: blocks as heatmaps, their eigenvalues, what a column rule does, how products grow.  The bound (Theorem 4 of
the chapter) needs the numbers of a trained network's last layer, the places that its heads can be in, and what it does
on long strings.

Letters: V vocabulary, C classes, h blocks (heads), b block size, p the norm, k steps; A transition.  [i, j] of a block
takes state j to state i, so a *column* says where one state goes.
"""

import copy
import functools
import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd
import torch
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.collections import PatchCollection
from matplotlib.figure import Figure
from matplotlib.patches import Circle, Rectangle

from lrnnbook.content.show import labels
from lrnnbook.content.show.frames import panels
from lrnnbook.content.show.interactive import Moving
from lrnnbook.content.show.style import (
    DIVERGING,
    FAINT,
    INK,
    PAGE,
    SMALL,
    Look,
    colour_bar,
    heatmap,
    label_ends,
    new_figure,
    printed,
    styled,
    symbol_looks,
    value_colour,
)  # fmt: skip
from lrnnbook.content.show.widgets import Explorer, explore
from lrnnbook.content.tables import get, lrnn_growth, results
from lrnnbook.content.tables.lrnn_growth import FLOAT32_MAX, growth_per_step
from lrnnbook.content.tables.records import recorded
from lrnnlab.automata import MooreMachine
from lrnnlab.models import Net
from lrnnlab.models.exact import symbol_transitions
from lrnnlab.models.layers.transitions import COLUMN_RULES
from lrnnlab.tasks import MachineTask, Sum

POWERS = [1.0, 1.01, 1.05, 1.1, 1.2, 1.3, 1.5, 1.75, 2.0]

SHARES = colormaps["Oranges"].resampled(65)  # of probabilities
FLOAT32_TINY = float(np.finfo(np.float32).smallest_subnormal)
KINDS = ("worst", "positive", "permutation", "softmax", "gaussian", "signs")

# the bound is Eq. 6's, so it has clip's colour; permutations are what exact models are made of; the rest is grey
KIND_LOOKS = {"worst": labels.look("clip")._replace(dash="-"), "permutation": labels.look("exact"),
              "softmax": labels.look("softmax")._replace(dash=(0, (3, 3))), "positive": Look("#555555", (0, (6, 2))),
              "gaussian": Look("#555555", (0, (4, 1, 1, 1))), "signs": Look("#555555", (0, (2, 1)))}  # fmt: skip


def random_blocks(kind: str, steps: int, p: float, b: int, seed: int = 0) -> np.ndarray:
    """(steps, b, b) float64 blocks that obey Eq. 6: no column has a p-norm above 1."""
    if kind == "worst":
        return np.full((steps, b, b), b ** (-1 / p))
    draw = np.random.default_rng(seed)
    if kind == "permutation":
        return np.eye(b)[draw.permuted(np.tile(np.arange(b), (steps, 1)), axis=1)]
    raw = draw.standard_normal((steps, b, b))
    if kind == "softmax":
        powers = np.exp(raw - raw.max(1, keepdims=True))
        return powers / powers.sum(1, keepdims=True)
    made: dict[str, Callable] = {"positive": np.abs, "gaussian": np.asarray, "signs": np.sign}
    raw = made[kind](raw)
    return raw / np.linalg.norm(raw, p, axis=1, keepdims=True)


def log10_products(blocks: np.ndarray) -> np.ndarray:
    """log10 ||A_k ... A_1||_1 for k = 0..K, from blocks (..., K, b, b): (..., K + 1), 0 for the empty product."""
    logs = lrnn_growth.log10_products(blocks, 1, range(1, blocks.shape[-3] + 1))
    return np.concatenate([np.zeros_like(logs[..., :1]), logs], -1)


def overflow_step(p: float, b: int) -> int | None:
    """The first k at which b^(k (1 - 1/p)) is larger than any float32, exactly; None if it never is (p = 1, or b = 1)."""
    share = (p - 1) / p if p < math.inf else 1.0  # near p = 1 the rounded 1 - 1/p would be far off, or 0
    slope = share * math.log2(b)  # in float64: a relative error of 1e-16, the nearest tie is 6e-8 away
    return math.floor(math.log2(FLOAT32_MAX) / slope) + 1 if slope > 0 else None


def eigenvalues(A: np.ndarray) -> np.ndarray:
    """The eigenvalues of blocks A (..., b, b) as complex128 (..., b), largest modulus first."""
    found = np.linalg.eigvals(np.asarray(A, dtype=np.float64)).astype(np.complex128)
    order = np.lexsort((-found.imag, -found.real, -np.abs(found).round(12)), axis=-1)
    return np.take_along_axis(found, order, axis=-1)


@styled
def transition_grid(A: np.ndarray, symbols: Sequence[str], ringed: Sequence[int] = ()) -> Figure:
    """Every block of every token, A (V, h, b, b), of probabilities: a row of heatmaps per token, a column per head; some
    heads ringed."""
    figure, axes, x, y = _mosaic(np.asarray(A, float), largest=0.14, left=0.75, top=0.65)
    axes.set_yticks(y, map(printed, symbols))
    axes.set_xticks(x, range(len(x)))
    axes.set(xlabel="head", ylabel="token")
    b = A.shape[-1]
    for head in ringed:
        axes.add_patch(Rectangle((x[head] - b / 2 - 0.4, -0.4), b + 0.8, axes.get_ylim()[0] + 0.3, fill=False, ec=INK, lw=2,
                                 clip_on=False))
    return figure


@styled
def vote_grid(nets: dict[str, np.ndarray]) -> Figure:
    """What each state of each head adds to each logit (h, b, C), around the mean over answers and states, each net on its scale."""
    rows = []
    for votes in nets.values():
        around = votes - votes.mean(2, keepdims=True)
        around = (around - around.mean(1, keepdims=True)).transpose(0, 2, 1)
        rows.append(around / np.abs(around).max())
    figure, axes, x, y = _mosaic(np.stack(rows), largest=0.14, left=1.2, top=0.65)
    axes.set_yticks(y, nets)
    axes.set_xticks(x, range(len(x)))
    axes.set(xlabel="head")
    return figure


@styled
def bends(curves: dict[int, Sequence[float]]) -> Figure:
    """Accuracy (T,) by position of one net at several gains, with the gain written where the curve comes down."""
    figure, axes = new_figure(3.2, right=0.35)
    for (gain, right), colour in zip(curves.items(), SHARES(np.linspace(0.5, 1, len(curves)))):
        shown = pd.Series(right, range(1, len(right) + 1)).rolling(15, center=True, min_periods=1).mean()
        axes.plot(shown, color=colour)
        if (low := shown < 0.7).any():
            axes.text(low.idxmax() * 1.06, 0.72, f"gain {gain}", fontsize=SMALL)
    axes.axhline(0.2, color=FAINT, lw=1.2, ls=(0, (4, 3)))
    axes.text(10.5, 0.22, "guessing", fontsize=SMALL)
    axes.set(xscale="log", xlim=(10, len(right)), ylim=(0, 1.03), xlabel="position in the string", ylabel="right answers")
    axes.set_xticks([10, 40, 100, 1000], ["10", "40: trained up to here", "100", "1,000"])
    axes.set_yticks([0, 0.5, 1], ["0", "50 %", "100 %"])
    return figure


@styled
def before_after(A0: np.ndarray, A1: np.ndarray, symbols: Sequence[str], head: int) -> Figure:
    """One head's blocks (V, h, b, b) for every token before and after training, on one colour scale."""
    pair = np.stack([A0[:, head], A1[:, head]]).astype(float)  # (2, V, b, b)
    figure, axes, x, y = _mosaic(pair, largest=0.3, left=0.9, top=0.7)
    axes.set_yticks(y, ("before", "after"), fontsize=10)
    axes.set_xticks(x, map(printed, symbols))
    axes.set_xlabel("token")
    axes.set_title(f"head {head}", pad=32)  # points: past the labels
    return figure


@styled
def eigenvalue_plane(before: np.ndarray, after: np.ndarray, symbols: Sequence[str], order: int) -> Figure:
    """Where the eigenvalues (V, h, b) of each token's blocks lie, against the unit circle, on which nothing grows or is lost,
    and the order-th roots of unity, some of which a machine that counts mod ``order`` must have."""
    eigs = {"before": before, "after": after}
    figure, both = panels([*eigs], 2, 3.6, "real part", "imaginary part", right=1.0, gap=0.3, left=0.75, sharex=True)
    reach = 1.1 * max(1.0, *(np.abs(values).max() for values in eigs.values()))
    for axes, values in zip(both, eigs.values()):
        axes.add_patch(Circle((0, 0), 1, fill=False, ec=INK, lw=1.2))
        for root in np.exp(2j * np.pi * np.arange(order) / order):
            axes.plot([0.94 * root.real, 1.06 * root.real], [0.94 * root.imag, 1.06 * root.imag], color=INK, lw=1.2)
        sizes = np.linspace(9, 4, len(symbols))  # where tokens share an eigenvalue, the later ones lie on the earlier
        for symbol, look, size, points in zip(symbols, symbol_looks(symbols), sizes, values.reshape(len(symbols), -1)):
            axes.plot(points.real, points.imag, look.marker, color=look.colour, mec=INK, mew=0.4, ms=size,
                      alpha=0.85, label=printed(symbol), ls="none")
        axes.set(xlim=(-reach, reach), ylim=(-reach, reach), aspect="equal")
    both[1].legend(title="token", loc="center left", bbox_to_anchor=(1.02, 0.5), title_fontsize=SMALL)
    return figure


@styled
def growth(p: float, b: int, *, reach: float | None = None, kind: str | None = None) -> Figure:
    """How large products of up to 500 blocks under Eq. 6 become, log10 of the largest column sum: the worst, and random ones.
    ``reach``: powers of ten shown up and down; ``kind``: one of ``KINDS`` to look at, the others faint."""
    figure, axes = new_figure(3.8, left=1.0, right=1.6)
    blocks = np.stack([random_blocks(kind, 500, p, b) for kind in KINDS])
    curves = dict(zip(KINDS, log10_products(blocks)))
    for name, curve in curves.items():
        look, chosen = KIND_LOOKS[name], kind in (None, name)
        axes.plot(curve, color=look.colour if chosen else FAINT, ls=look.dash, lw=2.4 if kind == name else 1.6,
                  alpha=1.0 if chosen else 0.5, label="worst possible" if name == "worst" else name)
    for limit, text in ((FLOAT32_MAX, "float32 overflows"), (FLOAT32_TINY, "float32 is zero")):
        axes.axhline(np.log10(limit), color=FAINT, lw=1.2, ls=(0, (4, 3)), label=text)
    low = min(-60, *(curve[np.isfinite(curve)].min() for curve in curves.values()))
    high = max(60, *(curve.max() for curve in curves.values()))
    low, high = (-reach, reach) if reach else (25 * np.floor(low / 25), 25 * np.ceil(high / 25))
    axes.set(xlim=(0, 500), ylim=(low, high), xlabel="step k", ylabel=r"$\|A_k \cdots A_1\|_1$",
             title=f"p = {p:g}, b = {b}")
    ticks = [t for t in axes.get_yticks() if low <= t <= high]
    axes.set_yticks(ticks, [f"$10^{{{t:.0f}}}$" for t in ticks])
    label_ends(axes)
    return figure


def growth_sentence(p: float, b: int, kind: str | None = None) -> str:
    """What Eq. 6 allows at this p and b, and what columns of one kind do over 500 steps, in a sentence each."""
    if kind is not None:
        rate = 10 ** float(log10_products(random_blocks(kind, 500, p, b)[None])[0, -1] / 500)
        return f"{growth_sentence(p, b)} {kind.capitalize()} columns: by {rate:.3f} a step over 500."
    step = overflow_step(p, b)
    if step is None:
        return f"At p = {p:g}, b = {b} the state cannot grow: no product of blocks has a norm above 1."
    factor = growth_per_step(p, b)
    shown = f"{factor:.3f}" if factor >= 1.001 else f"{factor:.7f}"
    return f"At p = {p:g}, b = {b} the state can grow by {shown} a step: float32 overflows at step {step:,}."


@styled
def column_rule(raw: np.ndarray, p: float, rule: str) -> Figure:
    """What a rule of ``COLUMN_RULES`` makes of one raw block: before and after, with the p-norm and sum of each column."""
    made = COLUMN_RULES[rule](torch.from_numpy(raw), p).numpy()
    limit = max(np.abs(raw).max(), np.abs(made).max(), 1e-12)
    rows, columns = raw.shape
    cell = min(0.42, (PAGE - 1.8) / (2 * columns))
    figure, both = new_figure(1.0 + rows * cell, width=max(1.8 + 2 * columns * cell, 5.0), columns=2, left=0.75,
                                right=0.8, top=0.4, bottom=0.55, gap=0.25)
    for axes, block, name in zip(both, (raw, made), ("raw", f"{rule}, p = {p:g}")):
        drawn = _heatmap(axes, block, limit)
        norms, sums = np.linalg.norm(block, p, axis=0), block.sum(0)
        axes.set_xticks(range(columns), [f"{_short(norm)}\n{_short(total)}" for norm, total in zip(norms, sums)])
        axes.set_yticks([])
        axes.set_title(name)
    both[0].annotate(f"{p:g}-norm\nsum", (0, 0), xycoords="axes fraction", xytext=(-6, -4),
                       textcoords="offset points", ha="right", va="top", fontsize=SMALL)
    colour_bar(figure, drawn)
    return figure


def _mosaic(blocks: np.ndarray, *, largest: float, left: float, top: float):
    """(figure, axes, x centres (C,), y centres (R,)) of blocks (R, C, m, n) on one colour scale, from 0 if none is negative."""
    R, C, m, n = blocks.shape
    wide = np.full((R, m + 1, C, n + 1), np.nan)
    wide[:, :m, :, :n] = blocks.swapaxes(1, 2)
    x, y = (np.concatenate([[0], np.tile([1.0] * size + [0.8], many).cumsum()]) for size, many in ((n, C), (m, R)))
    cell = min(largest, (PAGE - left - 1.0) / x[-1], 6.5 / y[-1])  # inches an entry: small models are not blown up
    width, height = cell * x[-1], cell * y[-1]
    figure, axes = new_figure(max(height, 1.0) + top + 0.1, width=max(left + width + 1.0, 4.0), left=left, top=top,
                              right=max(1.0, 4.0 - left - width), bottom=0.1 + max(1.0 - height, 0))
    limit, signed = max(np.abs(blocks).max(), 1e-12), blocks.min() < 0
    mesh = axes.pcolormesh(x, y, wide.reshape(R * (m + 1), C * (n + 1)), cmap=DIVERGING if signed else SHARES,
                           vmin=-limit if signed else 0, vmax=limit)  # fmt: skip
    corners = [(x[c * (n + 1)], y[r * (m + 1)]) for r in range(R) for c in range(C)]
    axes.add_collection(PatchCollection([Rectangle(corner, n, m) for corner in corners], facecolor="none", edgecolor=FAINT, lw=0.6))
    axes.set(xlim=(0, x[-1]), ylim=(y[-1], 0))
    axes.grid(False)
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0, top=True, labeltop=True, labelbottom=False)
    axes.xaxis.set_label_position("top")
    colour_bar(figure, mesh)
    return figure, axes, x[:-1 : n + 1] + n / 2, y[:-1 : m + 1] + m / 2


def _heatmap(axes: Axes, block: np.ndarray, limit: float, least: float = 0.0):
    """One block with its numbers in the cells, from ``least`` on."""
    drawn = heatmap(axes, block, limit, _short, least, aspect="equal")
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


# ---------------------------------------------------------------------------------------------------------- the widgets


def growth_widget() -> Explorer:
    """Products of blocks under Eq. 6: move p, b and the kind of columns."""
    def chosen(columns):
        return None if columns == "all" else columns

    return explore(
        lambda p, b, columns: growth(p, b, reach=310, kind=chosen(columns)),
        {"p": POWERS, "b": [2, 3, 4, 6, 8, 12, 16], "columns": ["all", *KINDS]},
        initial={"p": 1.2, "b": 8},
        sentence=lambda p, b, columns: growth_sentence(p, b, chosen(columns)),
        alt="Norm of products of blocks over 500 steps for the chosen p, b and kind of columns.",
    )


def rule_row(raw: np.ndarray, rule: str, p: float = 1.2) -> dict:
    """What a column rule makes of a raw block (b, b): norms and sums of its columns, largest |eigenvalue|."""
    made = COLUMN_RULES[rule](torch.from_numpy(raw), p).numpy()
    norms, sums = np.linalg.norm(made, p, axis=0), made.sum(0).round(4) + 0.0
    return {"rule": rule, "least norm": norms.min(), "largest norm": norms.max(), "least sum": sums.min(),
            "largest sum": sums.max(), "largest |eigenvalue|": np.abs(np.linalg.eigvals(made)).max()}  # fmt: skip


def rule_widget(raw: np.ndarray) -> Explorer:
    """What each column rule makes of one raw block (b, b)."""
    def sentence(rule, p):
        row = rule_row(raw, rule, p)
        return (f"Under <b>{rule}</b> the columns' {p:g}-norms run from {row['least norm']:.2f} to "
                f"{row['largest norm']:.2f}; the largest eigenvalue has modulus {row['largest |eigenvalue|']:.2f}.")

    return explore(
        lambda rule, p: column_rule(raw, p, rule),
        {"rule": list(COLUMN_RULES), "p": [1.0, 1.2, 1.5, 2.0]},
        initial={"rule": "clip", "p": 1.2}, sentence=sentence,
        alt="One raw block and what the chosen column rule makes of it.",
    )


BLOCKS = {  # of the simplex: [i, j] takes state j to state i
    "soft counter": [[0.03, 0.03, 0.94], [0.94, 0.03, 0.03], [0.03, 0.94, 0.03]],
    "counter": [[0, 0, 1], [1, 0, 0], [0, 1, 0]],
    "soft reset": [[0.9, 0.8, 0.85], [0.05, 0.15, 0.05], [0.05, 0.05, 0.1]],
    "two that stay, one that leaves": [[1, 0, 0.3], [0, 1, 0.3], [0, 0, 0.4]],
}


def simplex_widget(block: str) -> Moving:
    """Columns of a block of three states to drag on the simplex, and what becomes of the states; opens on a block."""
    columns = {name: np.array(rows).T.tolist() for name, rows in BLOCKS.items()}
    alt = ("A triangle whose corners are three states, with the three columns of a block as points to drag or to move "
           "with the arrow keys, and the way of each state under repeated products; beside it the largest distance of two "
           "states by the number of steps, on a logarithmic axis.")  # fmt: skip
    return Moving("simplex", {"blocks": columns}, {"block": block, "columns": columns[block], "t": 12}, alt)


def film_widget() -> Moving:
    """The recorded run of ``lrnn/film``: every ten steps its blocks, its answers and its accuracy by position."""
    (record,) = (one for one in recorded("lrnn/film") if one["seed"] in get("lrnn/film").seeds)
    adding = Sum(record["config"]["modulus"])
    data = {key: record[key] for key in ("frames", "shape", "positions", "answers", "train_length")} | {
        "symbols": list(adding.symbols), "chance": adding.chance,
        "colours": [value_colour(value, adding.classes) for value in range(adding.classes)],
    }  # fmt: skip
    # without a kernel: where the snapped copy is right and the network is most often wrong
    data["still"] = {"frame": min(range(len(data["frames"])), key=lambda k: (data["frames"][k]["snapped"] < 1, data["frames"][k]["right"][-1]))}
    alt = ("A training run as a film, with a button that plays it and a slider over its frames: the heatmaps of eight heads, "
           "60 strings as points that move to the corners of a pentagon, and the accuracy by position; dashed, that of the "
           "snapped copy.")  # fmt: skip
    return Moving("film", data, {"frame": 0, "token": 1}, alt)


# ------------------------------------------------------------------------------- how long a soft network is right


def last_layer(model: Net) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
    """Of a one-layer model with a linear readout, in double precision, (A, W, bias, eps): A (V, h, b, b); the logits of a state
    x (h, b) are W (C, h, b) times (x - mean) / sqrt(variance + eps), plus bias (C,), LayerNorm's scale and shift within."""
    model = copy.deepcopy(model).double()
    norm: Any = model.final_norm
    (last,) = model.head
    A = symbol_transitions(model)[0].numpy()
    scale, shift, weight, bias = (part.detach().numpy() for part in (norm.weight, norm.bias, last.weight, last.bias))
    return A, (weight * scale).reshape(len(weight), *A.shape[1:3]), weight @ shift + bias, norm.eps


def places(to: np.ndarray, heads: Sequence[int], specification: MooreMachine) -> list[tuple[tuple[int, ...], int]]:
    """All pairs (states of ``heads``, right class) that some string leads to, where an answer is asked for; to (V, h, b) says
    where each token sends each state of each head, all of which start in state 0."""
    heads = list(heads)
    seen = {((0,) * len(heads), specification.initial)}
    found = list(seen)
    for states, q in found:
        for token, moves in enumerate(to):
            after = tuple(moves[heads, list(states)].tolist()), int(specification.transitions[token, q])
            if after not in seen:
                seen.add(after)
                found.append(after)
    outputs = specification.outputs
    return sorted({(states, int(outputs[q])) for states, q in found if outputs[q] >= 0})


def first_wrong(model: Net, task: MachineTask, length: int) -> dict[str, int]:
    """The position of the first wrong answer on v v v ... and v w v w ..., for those that have one up to ``length``: states are
    multiplied out in double precision, for models of ``last_layer``."""
    A, W, bias, eps = last_layer(model)
    V, h, b = A.shape[:3]
    words = [(v,) for v in range(V)] + list(itertools.permutations(range(V), 2))
    tokens = np.array([np.resize(word, length) for word in words])
    right = task.specification.answer(tokens)  # -1 where none is asked for
    x, found = np.broadcast_to(np.eye(b)[0], (len(words), h, b)), {}
    for t in range(length):
        x = (A[tokens[:, t]] @ x[..., None])[..., 0]
        z = x.reshape(len(words), -1)
        logits = (z - 1 / b) @ W.reshape(len(W), -1).T / np.sqrt(z.var(1) + eps)[:, None] + bias
        for n in np.flatnonzero((logits.argmax(1) != right[:, t]) & (right[:, t] >= 0)):
            found.setdefault("".join(task.symbols[v] for v in words[n] * (3 // len(words[n]) + 1)) + "...", t + 1)
    return found


# ------------------------------------------------------------------------------------------------------- token by token

READ_AT = (*range(1, 13), 16, 20, 30, 40, 60, 80, 100, 150, 200, 300, 500)  # positions
WORD = 12  # tokens that may be typed
UNSEEN = 0.005  # an entry below it is left blank


def token_by_token(A: np.ndarray, tokens: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """What blocks A (V, h, b, b) do on one string: blocks A_t (T, h, b, b), products A_t ... A_1, states x_t (T + 1, h, b), from
    the first basis vector on."""
    moves = A[tokens]
    products = np.stack(list(itertools.accumulate(moves, lambda done, after: after @ done)))
    start = np.broadcast_to(np.eye(A.shape[-1])[0], (1, *A.shape[1:3]))
    return moves, products, np.concatenate([start, products[..., 0]])  # the state is column 0


@styled
def step_picture(A: np.ndarray, product: np.ndarray, before: np.ndarray, after: np.ndarray, t: int, symbol: str) -> Figure:
    """One head at position t: its block times its state is the next state; and the product of all blocks so far."""
    b = len(A)
    wide = np.full((b, 2 * b + 6), np.nan)
    places = {"A": b / 2, "before": b + 1.5, "after": b + 3.5, "product": 3 * b / 2 + 6}
    for name, values in (("A", A), ("before", before[:, None]), ("after", after[:, None]), ("product", product)):
        left = round(places[name] - values.shape[1] / 2)
        wide[:, left : left + values.shape[1]] = values
    cell = 6.1 / wide.shape[1]
    figure, axes = new_figure(b * cell + 1.15, left=0.55, right=PAGE - 0.55 - 6.1, top=0.45, bottom=0.7)
    _heatmap(axes, wide, 1.0, UNSEEN)
    earlier, now = (str(number).translate(labels.LOW) for number in (t - 1, t))  # mathematics would take 30 ms a picture
    so_far = f"so far: A{now} ⋯ A₁" if t > 1 else "so far: A₁"
    for name, text in (("A", f"A{now}, token {symbol}"), ("before", f"x{earlier}"), ("after", f"x{now}"), ("product", so_far)):
        axes.text(places[name] - 0.5, -0.8, text, ha="center", va="bottom")
    for sign, place in (("·", b), ("=", b + 2)):
        axes.text(place, (b - 1) / 2, sign, ha="center", va="center", fontsize=SMALL + 4)
    frames = [Rectangle((left - 0.5, -0.5), many, b)
              for left, many in ((0, b), (b + 1, 1), (b + 3, 1), (b + 6, b))]  # fmt: skip
    axes.add_collection(PatchCollection(frames, facecolor="none", edgecolor=FAINT, lw=0.8))
    axes.set_xticks([*range(b), *range(b + 6, 2 * b + 6)], [*range(b)] * 2)
    axes.set(yticks=range(b), ylabel="to state", xlim=(-0.6, 2 * b + 5.6), ylim=(b - 0.4, -0.6))
    axes.set_xlabel("from state", loc="left")
    return figure


def columns_apart(product: np.ndarray) -> float:
    """How far two columns of a product (b, b) lie apart at most, in half the 1-norm: what is left of where one started."""
    return float(np.abs(product[:, :, None] - product[:, None]).sum(0).max() / 2)


def token_widget(
    nets: dict[str, np.ndarray], readout: Callable[[np.ndarray], np.ndarray], task: MachineTask, string: str, head: int = 0
) -> Explorer:  # fmt: skip
    """Blocks (V, h, b, b), states and products of some nets with one readout, (T, h, b) -> (T,) answers, token by token, opened
    on a head; a typed string is read in a loop."""
    @functools.lru_cache(maxsize=4)  # every position and head of a string
    def read(net, string):
        word = task.read(string)
        if len(word) > WORD:
            raise ValueError(f"Type 1 to {WORD} tokens; this is {len(word)}")
        tokens = np.resize(word.numpy(), READ_AT[-1])
        moves, products, x = token_by_token(nets[net], tokens)
        return tokens, readout(x[1:]), task.machine.answer(tokens), moves, products, x

    def draw(digits, position, net, head):
        tokens, _, _, A, products, x = read(net, digits)
        t = position - 1
        return step_picture(A[t, head], products[t, head], x[t, head], x[t + 1, head], position, task.symbols[tokens[t]])

    def sentence(digits, position, net, head):
        _, answers, right, _, products, _ = read(net, digits)
        said, due = int(answers[position - 1]), int(right[position - 1])
        apart = columns_apart(products[position - 1, head])
        return (f"From different starts, head {head} is in states that lie at most <b>{apart:.3f}</b> apart after {position} "
                f"token{'s' * (position > 1)} (1: nothing is forgotten; 0: no start is remembered). The whole net answers "
                f"<b>{said}</b>, and {due} is right.")  # fmt: skip

    return explore(
        draw,
        {"digits": string, "position": list(READ_AT), "net": list(nets), "head": list(range(next(iter(nets.values())).shape[1]))},
        sentence=sentence,
        alt="For one head: the block of the token as a heatmap with its numbers, times the state before it, and the state after "
        "it; right of them the product of all blocks so far.",
        initial={"position": 4, "head": head},
    )


DIFFERS = "differs from the paper's"
SAME = {"s4d_inv": "s4d", "s4d_legs": "s4d"}  # three starts of one model have what the sweep found for the first
ACCURACIES = {
    "training length": "accuracy_seen", "last position": "accuracy_last",
    "best checkpoint, last position": "best_accuracy_last", "all past training": "accuracy_all",
    "snapped, all past training": "snapped_accuracy_all",
}  # fmt: skip
RULE = {"proved": "searched"}  # its name says more than this rule of stopping does: what is proved has a column
STOPS = {
    "long": "ends when right on strings of the test length",
    "watched": "of the test length it sees nothing but looks that name the best checkpoint",
    "proved": "accepted by a search over all strings of the training length",
}  # fmt: skip


def table2_cells(found: pd.DataFrame) -> pd.DataFrame:
    """A row for each cell: seeds, steps, what ended training, how many snapped models are proved right on every string, and
    mean (least to greatest) of each accuracy in percent; after each task what guessing scores at the last position."""
    made = results.ordered(found)
    runs = made.assign(proved=made.get("snapped_proved")).groupby(results.CELL, sort=False)
    body = pd.DataFrame({
        "seeds": runs.size().astype(str),
        "steps": runs["steps"].agg(lambda steps: " to ".join(dict.fromkeys(f"{n:,}" for n in (steps.min(), steps.max())))),
        "stop": runs["stop"].first().replace(RULE),
        "proved": runs["proved"].agg(lambda runs: "" if runs.isna().any() else f"{runs.sum()} of {len(runs)}"),
    }).join(results.lines(made, ACCURACIES, "percent").rename_axis(results.CELL))  # fmt: skip
    for task, level in made.groupby("task", sort=False)["levels"].first().items():
        checks = max(level["best_of_40_guesser"], level["best_of_40_majority"])  # who guesses, and who says one thing
        for title, share in (("chance", level["chance"]), ("majority", level["majority"]), ("best of 40 checks", checks)):
            body.loc[(task, f"guess: {title}"), "last position"] = results.percent(share)
    body = body.fillna("").reset_index()
    return body.sort_values("task", key=lambda task: task.map([*made["task"].unique()].index), kind="stable", ignore_index=True)


def differs(setting: dict) -> str:
    """How a recorded setting differs from the paper's training, in a few words."""
    options, recipe = setting["options"], setting["recipe"]
    phases = recipe["phases"]
    lengths = [phase["length"] for phase in phases if phase.get("length")]
    said = {
        f"{'up to ' * any(phase['until'] for phase in phases)}{sum(phase['steps'] for phase in phases):,} steps of "
        f"{recipe['batch']}": True,
        f"lengths grow ({', '.join(map(str, lengths))}, then all)": lengths,
        "squared loss": any(phase["loss"] == "squared" for phase in phases),
        "averaged weights": recipe["average"],
        "weight decay": any(phase["weight_decay"] >= 0.1 for phase in phases),
        "noise on the states": any(phase["noise"] for phase in phases),
        "pruned and mended": recipe.get("mend"),
        "linear readout": options.get("head") == "linear",
        "no input term, x_0 fixed": options.get("drive") == "none",
        "input term B u": options.get("drive") == "linear",
        "orthogonal start": options.get("start") == "orthogonal",
        f"up to {recipe['attempts']} starts": recipe["attempts"] > 1,
        STOPS.get(setting["stop"], ""): setting["stop"] in STOPS,
    }
    return "; ".join(text for text, holds in said.items() if holds)


def best_of_sweep(swept: pd.DataFrame, task: str, row: str) -> str:
    """What ``lrnn/baseline_rates`` found best for a row at the training length, and of how many that were tried."""
    of = {name: results.column(swept, f"config.setting.{name}") for name in ("baseline", "lr", "options", "phase.steps")}
    tried = swept.assign(**of, layers=of["options"].str["layers"], head=of["options"].str.get("head").fillna("mlp"))
    tried = tried[(tried["task"] == task) & tried["baseline"].isin({row, SAME.get(row, row)})]
    if tried.empty:
        return "with this setting, the only one that was tried"
    best = tried.loc[tried["accuracy"].where(tried["finished"].astype(bool)).idxmax()]  # what broke off is out
    whose = "" if best["baseline"] == row else f"of {best['baseline'].upper()}, whose setting it has, the "
    count = len(tried.groupby(["layers", "head", "lr", "phase.steps"]))
    return (f"{whose}best of {count} settings tried: {results.percent(best['accuracy'])} after {best['phase.steps']:,} steps "
            f"({best['layers']} layer{'s' if best['layers'] > 1 else ''}, {best['head']}, {best['lr']:g})")  # fmt: skip


def table2_reasons(found: pd.DataFrame) -> pd.DataFrame:
    """A row for each cell: layers, seeds, why it is low (or that it holds), how its training differs from the paper's."""
    made, swept = found, results.runs("lrnn/baseline_rates")
    low = results.reasons(made).set_index(results.CELL)["why"]
    known, body = get("lrnn/table2").declared.found["why"]["known"], []
    for (task, row), cell in results.ordered(made).groupby(results.CELL, sort=False):
        why, setting = low.get((task, row), "holds"), cell["config"].iloc[0]["setting"]
        if 2 * (cell["accuracy_seen"] < known).sum() >= len(cell):  # most have not learned: what else was tried
            why = f"{why}; {best_of_sweep(swept, task, row)}"
        ends = "; a check that is all right ends it, as in the paper" * (cell["protocol"].iloc[0] == "paper")
        body.append({"task": task, "row": row, "layers": setting["options"].get("layers", 1), "seeds": len(cell), "why": why,
                     DIFFERS: differs(setting) + ends})  # fmt: skip
    return pd.DataFrame(body)
