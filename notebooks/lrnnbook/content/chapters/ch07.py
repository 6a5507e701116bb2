"""Chapter 07 (the long-range suite): its pictures with their sentences.

Letters: B batch, T input length, T' answers, L the paper's length, H channels, N unknowns, M chosen places.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cache

import numpy as np
import pandas as pd
import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from torch import nn

from lrnnbook.content.show.frames import curves, log_ticks, panels, picture, runs_of
from lrnnbook.content.show.labels import TASKS, named
from lrnnbook.content.show.style import (
    DIVERGING,
    FAINT,
    GRID,
    INK,
    LIVE,
    PAPER,
    RECORDED,
    SMALL,
    Look,
    colour_bar,
    heatmap,
    label_ends,
    new_figure,
    styled,
)
from lrnnbook.content.tables.declared import paper
from lrnnbook.content.tables.dlr_table1 import PAPER_LEVELS, short
from lrnnbook.content.tables.results import CELL, ordered
from lrnnlab.tasks.numbers.atomic import ATOMIC, Select
from lrnnlab.tasks.numbers.atomic_levels import trivial_level
from lrnnlab.tasks.numbers.continuous import ContinuousTask

LINEAR = ("cumsum", "solve_fixed", "select_fixed", "reverse")  # of one answer column
PUBLISHED = {  # scores of paper 004: R2, the length of its level, net and length (Shift's level is the same at all lengths)
    "sort": (0.49, 4096, "DLR, 6 layers, L = 4,096"), "cummax": (0.52, 4096, "DLR, 1 layer, L = 4,096"),
    "shift": (0.22, 4096, "DLR, 1 layer, L = 2²⁰"), "context_shift": (0.04, 512, "attention, 2 layers, L = 512"),
    "mips": (0.01, 512, "DLR, 6 layers, L = 512"),
}  # fmt: skip

# --- the tasks -------------------------------------------------------------------------------------------------------


def beside_more_steps(longer: pd.DataFrame, plain: pd.DataFrame) -> pd.DataFrame:
    """Steps and R2 of each run, and of the same seed with the steps of ``dlr/table1``; ``KeyError`` where that is not there."""
    then = ordered(longer).reset_index(drop=True)
    then["row"] = then["row"].str.rpartition("_")[0].replace("", "dlr_6")
    key = [*CELL, "seed"]
    now = plain.set_index(key).loc[pd.MultiIndex.from_frame(then[key])].reset_index()
    mixers, tasks = then["row"].str.rsplit("_", expand=True, n=1), then["task"].str.split("-", expand=True)
    return pd.DataFrame({
        "mixer": mixers[0], "layers": mixers[1].astype(int), "task": [ATOMIC[name]().name for name in tasks[0]],
        "L": tasks[1].astype(int), "steps": now["steps"].map("{:,}".format), "R2": now["r2"].map(short),
        "more steps": then["steps"].map("{:,}".format), "R2 then": then["r2"].map(short),
        "R2 .9 at step": ["-" if pd.isna(at) else f"{at:,.0f}" for at in then["learned_at"]],
    })  # fmt: skip


def skill(name: str) -> ContinuousTask:
    """One of the eleven tasks by its registry name; Select with eight chosen places."""
    return ATOMIC[name](8) if issubclass(ATOMIC[name], Select) else ATOMIC[name]()  # type: ignore[arg-type]


def example(name: str, length: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """One input (columns, T), without the position columns, and its answers (d_out, T')."""
    task = skill(name)
    batch = task.sample(1, length, torch.Generator().manual_seed(seed))
    return batch.inputs[0, :, : task.columns].T.numpy(), batch.targets[0].T.numpy()


@styled
def published_scores(levels: bool = False, yours: Mapping[str, float] | None = None) -> Figure:
    """Published scores on five tasks (dots); with ``levels`` what can be scored there without the skill (rings), and ``yours``."""
    figure, axes = new_figure(3.2 if levels else 2.5, left=1.1, right=3.0 if levels else 2.65, top=0.4, bottom=0.5)
    names = ("paper", "no skill", "yours") if levels else ("paper",)
    for y, (task, (score, length, net)) in enumerate(PUBLISHED.items()):
        texts = [f"{score:.2f}"]
        axes.plot(score, y, "o", color=PAPER, ms=6, clip_on=False)
        if levels:
            level, own = PAPER_LEVELS[task][length], (yours or {}).get(task)
            axes.plot(level, y, "o", mfc="none", mec=INK, ms=11, mew=1.4, clip_on=False)
            if own is not None:
                axes.plot(own, y, "s", mfc="none", mec=LIVE, ms=16, mew=1.8, clip_on=False)
            texts += [f"{level:.2f}", "" if own is None else f"{own:.2f}"]
        for x, text in zip((1.03, 1.18, 1.38), texts):
            axes.text(x, y, text, transform=axes.get_yaxis_transform(), va="center", fontsize=SMALL)
        axes.text(1.55 if levels else 1.18, y, net.replace(", L", "\nL") if levels else net, transform=axes.get_yaxis_transform(),
                  va="center", fontsize=SMALL)  # fmt: skip
    for x, text in zip((1.03, 1.18, 1.38), names):
        axes.text(x, -0.85, text, transform=axes.get_yaxis_transform(), va="center", fontsize=SMALL)
    axes.set(xlim=(0, 1), ylim=(4.5, -0.5), xlabel="R²", yticks=range(5), yticklabels=map(named, PUBLISHED))
    axes.grid(False, axis="y")
    return figure


@styled
def one_input(task: str, length: int, seed: int) -> Figure:
    """What goes in, and below it what has to come out, each number where it is read or written."""
    inputs, answers = example(task, length, seed)
    size = max(np.abs(inputs).max(), np.abs(answers).max())
    rows, T = len(inputs) + len(answers), inputs.shape[1]
    figure, (top, low) = new_figure(0.95 + 0.2 * rows, rows=2, left=0.75, right=0.9, top=0.1, bottom=0.5, gap=0.2,
                                    sharex=True, height_ratios=[len(inputs), len(answers)])  # fmt: skip
    for axes, values, name in ((top, inputs, "input"), (low, answers, "answer")):
        start = T - values.shape[1]
        drawn = heatmap(axes, values, size, extent=(start - 0.5, T - 0.5, len(values) - 0.5, -0.5))
        axes.set(xlim=(-0.5, T - 0.5), yticks=[])
        axes.set_ylabel(name, rotation=0, ha="right", va="center")
    top.tick_params(labelbottom=False)
    low.set_xlabel("place")
    colour_bar(figure, drawn)
    return figure


def task_sentence(task: str, length: int, seed: int) -> str:
    """What a task asks for, and the score without the skill."""
    called, says = named(task), TASKS[task]["says"]
    level = trivial_level(skill(task), length)
    return f"<b>{called}</b>: {says}. Best known R² without the skill, at this length: <b>{level:.3f}</b>."


# --- lags and channels -----------------------------------------------------------------------------------------------


def lags(task: ContinuousTask, length: int) -> tuple[np.ndarray, np.ndarray]:
    """The weight that each answer of a linear task gives to each lag, and whether it sees a number there; (T', T) both."""
    drawn = task.draw(2, task.check_length(length), torch.Generator().manual_seed(0)).double()
    free = (drawn[0, :, 0] != drawn[1, :, 0]).nonzero()[:, 0]
    T = drawn.shape[1]
    probes = drawn[:1].repeat(len(free) + 1, 1, 1)
    probes[:, free, 0] = 0
    probes[torch.arange(len(free)), free, 0] = 1
    answers = task.targets(probes)[..., 0]
    response = (answers[:-1] - answers[-1]).numpy()  # (places, T')
    asks, seen = np.zeros((response.shape[1], T)), np.zeros((response.shape[1], T), bool)
    for j in range(response.shape[1]):
        lag = T - response.shape[1] + j - free.numpy()
        past = lag >= 0
        asks[j, lag[past]], seen[j, lag[past]] = response[past, j], True
    return asks, seen


def fit_channels(asks: np.ndarray, seen: np.ndarray, channels: int) -> np.ndarray:
    """sum_h c_h(j) K_h(s), (T', T), near ``asks`` where ``seen``: kernels and a readout by place, by alternating least squares."""
    rng, ridge = np.random.default_rng(0), 1e-9 * np.eye(channels)
    K, c = rng.normal(size=(channels, asks.shape[1])), np.zeros((len(asks), channels))
    for _ in range(60):
        for j, visible in enumerate(seen):
            k = K[:, visible]
            c[j] = np.linalg.solve(k @ k.T + ridge, k @ asks[j, visible])
        for s in np.flatnonzero(seen.any(0)):
            a = c[seen[:, s]]
            K[:, s] = np.linalg.solve(a.T @ a + ridge, a.T @ asks[seen[:, s], s])
    return c @ K


@cache
def best_with_channels(name: str, length: int, channels: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
    """``lags`` of a linear task, the best fit found with that many channels, and its R2 on uncorrelated inputs of one variance."""
    asks, seen = lags(skill(name), length)
    found = fit_channels(asks, seen, channels)
    return asks, seen, found, float(1 - (((found - asks) * seen) ** 2).sum() / (asks**2).sum())


@styled
def lag_pictures(length: int) -> Figure:
    """What four linear tasks ask of each lag: a row an answer, a column a lag, grey where nothing can be seen."""
    figure, every = panels([*map(named, LINEAR)], 4, 2.5, "lag", "answer", left=0.6, right=0.1, top=0.35, bottom=0.55,
                           gap=0.35, sharey=False)  # fmt: skip
    for axes, name in zip(every, LINEAR):
        _lag_table(axes, *lags(skill(name), length))
    return figure


def _lag_table(axes: Axes, weights: np.ndarray, seen: np.ndarray) -> None:
    """Weights by lag in colour, grey where nothing can be seen."""
    size = np.abs(weights[seen]).max()
    heatmap(axes, np.where(seen, weights / size, np.nan), cmap=DIVERGING.with_extremes(bad="#dddddd"))


@styled
def with_channels(task: str, channels: int) -> Figure:
    """The weights by lag that a linear task of length 24 asks for, and the best that the channels can do."""
    asks, seen, found, _ = best_with_channels(task, 24, channels)
    titles = "asked for", f"with {channels} channel{'s' * (channels > 1)}"
    figure, both = panels(titles, 2, 2.7, "lag", "answer", left=0.6, right=0.1, top=0.35, bottom=0.55, gap=0.4,
                          sharey=False)  # fmt: skip
    for axes, weights in zip(both, (asks, found)):
        _lag_table(axes, weights, seen)
    return figure


def with_channels_sentence(task: str, channels: int) -> str:
    """The R2 of the channels with a readout by place."""
    asks, _, _, score = best_with_channels(task, 24, channels)
    return (f"{named(task)}, {len(asks)} answers: {channels} channel{'s' * (channels > 1)} with a linear readout, "
            f"another one at each place, come to an R² of <b>{score:.2f}</b>.")  # fmt: skip


@picture
def by_width(found: pd.DataFrame) -> Figure:
    """R2 of one layer on Reverse (``dlr/width``) by channels / L: best linear readout by place, gates of Theorem 3, trained."""
    figure, axes = new_figure(3.0, width=6.4, right=2.1, bottom=0.6, top=0.25)
    shares = {1 / 32: "1/32", 1 / 16: "1/16", 1 / 8: "1/8", 1 / 4: "1/4", 1 / 2: "1/2", 1: "1", 2: "2"}
    bound = [best_with_channels("reverse", 32, round(32 * share))[3] if share < 1 / 2 else 1.0 for share in shares]
    axes.plot([*shares], bound, color=PAPER, lw=1.4, label="linear readouts by place")
    axes.plot([*shares], [min(1.0, share) for share in shares], color=INK, lw=1.4, ls=(0, (4, 2)), label="gates: H / L")
    L = found["task"].str.split("-").str[1].astype(int)
    found = found.assign(L=L, share=found["row"].astype(int) / L)
    looks = {L: (f"trained, L = {L}", Look(RECORDED, "", marker)) for L, marker in zip(sorted(set(L)), "os^v")}
    curves(axes, found, "share", "r2", looks, by="L", bars=True, ms=5.5, clip_on=False)
    log_ticks(axes, x=shares)
    axes.set(ylim=(0, 1.03), xlim=(1 / 32, 2), xlabel="channels / L", ylabel="R²")
    label_ends(axes)
    return figure


@styled
def look_alike(L: int, H: int) -> Figure:
    """Theorem 3 (b) on Reverse: two inputs of which H drawn kernels hand on the same numbers to one place that must answer
    differently; of the places, the one whose answer the kernels miss most."""
    draw = np.random.default_rng(0)
    K = draw.normal(size=(H, 2 * L))  # taps
    changes = []
    for j in range(L):  # answer j is written at place L + j; number i is then L + j - i steps back
        seen = K[:, L + j - np.arange(L)]
        wanted = np.eye(L)[L - 1 - j]
        changes.append(wanted - np.linalg.pinv(seen) @ seen @ wanted)  # what no kernel sees of the wanted number
    j = int(np.argmax([change @ change for change in changes]))
    x = draw.uniform(-1, 1, L)
    pair = (x, x - 1.2 * changes[j] / changes[j][L - 1 - j])
    figure, (left, middle, right) = new_figure(2.9, columns=3, left=0.6, right=0.4, top=0.6, gap=0.7, width_ratios=[L, H + 1, 3])
    for values, colour, marker, name in zip(pair, (DIVERGING(0.08), DIVERGING(0.92)), "os", ("one input", "another")):
        look = {"color": colour, "marker": marker, "ls": "", "ms": 7 if marker == "s" else 11, "mfc": colour if marker == "s" else "none", "mew": 1.8}
        left.plot(values, label=name, **look)
        middle.plot(K[:, L + j - np.arange(L)] @ values, **look)
        right.plot([0], values[L - 1 - j], **look)
    left.set(xlabel="place", title="two inputs", xticks=range(L))
    left.axvspan(L - 1.5 - j, L - 0.5 - j, color="#f1f1f1", lw=0, zorder=0)
    left.legend(loc="lower left", bbox_to_anchor=(0, -0.02), ncols=2, handletextpad=0.2, columnspacing=1)
    for axes, room in ((left, 0.3), (middle, 0.1)):
        low, high = axes.get_ylim()
        axes.set_ylim(low - room * (high - low), high + 0.1 * (high - low))
    middle.set(xlabel="channel", title=f"handed on\nto place {L + j}", xticks=range(H), xlim=(-0.7, H - 0.3))
    right.set(title="wanted\nthere", xticks=[], xlim=(-1, 1), ylim=left.get_ylim())
    for axes in (left, middle, right):
        axes.axhline(0, color=FAINT, lw=0.8, zorder=0)
    return figure


THREE = {"solve_fixed": "one kernel", "reverse": "L/2 kernels", "mips": "look up by content"}
THREE_NETS = {"dlr_1": "DLR, 1 layer", "dlr_6": "DLR, 6 layers", "attention_1": "attention, 1 layer"}


@picture
def three_skills(found: pd.DataFrame) -> Figure:
    """R2 on three tasks by three nets at L = 64 (``dlr/table1``, means over seeds), the paper's in grey, and the score without
    the skill at the same length."""
    r2 = found.groupby(CELL)["r2"].mean()
    theirs = paper("dlr/table1").set_index(CELL)["value"]
    figure, every = new_figure(2.6, columns=3, left=1.35, right=0.35, top=0.65, bottom=0.8, gap=0.35, sharey=True)
    for axes, (name, needs) in zip(every, THREE.items()):
        level = trivial_level(skill(name), 64)
        for y, row in enumerate(THREE_NETS):
            value = r2[f"{name}-64", row]
            axes.barh(y, max(value, 0), 0.55, color=RECORDED)
            inside = value > 0.75
            axes.text(value + (-0.03 if inside else 0.04), y, f"{value:.2f}", va="center", ha="right" if inside else "left", fontsize=11,
                      color="white" if inside else INK)  # fmt: skip
            if (f"{name}-4096", row) in theirs:
                axes.plot(theirs[f"{name}-4096", row], y + 0.42, "D", color=PAPER, ms=5, clip_on=False)
        axes.axvline(level, color=INK, lw=1.4, ls=(0, (2, 2)))
        axes.set(xlim=(0, 1), ylim=(2.6, -0.6), title=f"{named(name)}\n{needs}", yticks=range(3), yticklabels=THREE_NETS.values(),
                 xlabel=f"R²\nno skill: {level:.2f} at L = 64")  # fmt: skip
        axes.grid(False, axis="y")
        axes.tick_params(length=0)
    return figure


@picture
def steps_to_learn(found: pd.DataFrame, longer: pd.DataFrame) -> Figure:
    """After how many steps R2 is 0.9, by length: one layer of DLR and six, a line for each task that one of them learned.

    Of several seeds of ``dlr/table1`` the median counts, and one that did not learn took endless steps.  Where it did not
    learn, ``dlr/longer`` is taken (hollow marks).  An arrow is drawn at the most steps where these did not either, or there
    are none.
    """
    titles = {"dlr_1": "1 layer", "dlr_6": "6 layers"}
    figure, grid = panels([*titles.values()], 2, 3.6, "length L", "steps until R² is 0.9", left=0.8, right=1.25, bottom=0.6,
                          gap=1.35)  # fmt: skip
    more = longer[longer["row"] == "4"].assign(row="dlr_6")
    learned, later = (runs.assign(at=runs["learned_at"].fillna(math.inf)).groupby(CELL)["at"].median() for runs in (found, more))
    steps = pd.concat([found, more]).groupby(CELL)["steps"].max()
    for axes, row in zip(grid, titles):
        cells = [(*task.split("-"), task) for task in runs_of(found, row=row)["task"].drop_duplicates()]
        for name in dict.fromkeys(name for name, *_ in cells):
            points = []
            for L, task in sorted((int(L), task) for other, L, task in cells if other == name):
                for at, fill in ((learned[task, row], RECORDED), (later.get((task, row), math.inf), "white")):
                    if math.isfinite(at):
                        points.append((L, at, fill))
                        break
                else:
                    points.append((L, steps[task, row], ""))
            known = [(L, at) for L, at, fill in points if fill]
            if not known:
                continue
            axes.plot(*zip(*known), color=RECORDED, lw=1.3, label=named(name))
            for L, at, fill in points:
                if not fill:
                    axes.plot([known[-1][0], L], [known[-1][1], at], color=RECORDED, lw=0.8, ls=":")
                axes.plot(L, at, "o" if fill else "^", color=RECORDED, ms=5, mfc=fill or "white")
        log_ticks(axes, x=(64, 128, 512), y=(50, 100, 200, 500, 1000, 2000, 5000))
        label_ends(axes)
    return figure


@styled
def reverse_gates(L: int) -> Figure:
    """What each channel of Theorem 3, step 4, holds at each place: a row a channel, framed where its gate is open."""
    figure, axes = new_figure(0.36 * (L + 1) + 0.55, left=1.5, right=0.1, top=0.05)
    for place in range(2 * L):
        for h in range(L):
            k, is_open = place - 2 * h - 1, place == L + h
            axes.add_patch(Rectangle((place - 0.5, h - 0.5), 1, 1, fc="#fde8d8" if is_open else "white", ec=INK if is_open else GRID,
                                     lw=1.6 if is_open else 0.8, zorder=2 + is_open))  # fmt: skip
            axes.text(place, h, f"$x_{k}$" if 0 <= k < L else "0", ha="center", va="center", color=INK if is_open else FAINT, zorder=4)
        if place >= L:
            axes.text(place, L + 0.1, f"$x_{2 * L - 1 - place}$", ha="center", va="center")
    axes.set(xlim=(-0.52, 2 * L - 0.48), ylim=(L + 0.6, -0.52), xticks=range(2 * L), xlabel="place", yticks=range(L + 1))
    axes.set_yticklabels([*(f"channel {h}, lag {2 * h + 1}" for h in range(L)), "answer"])
    axes.tick_params(length=0)
    axes.grid(False)
    for spine in axes.spines.values():
        spine.set_visible(False)
    return figure


@styled
def soft_maximum(betas: Sequence[float]) -> Figure:
    """48 numbers, their running maximum, and what a running sum of exponentials makes of them (Theorem 5)."""
    draw, places = np.random.default_rng(1), np.arange(48)
    x = draw.uniform(-1, 1, 48) * np.linspace(0.2, 1, 48)
    figure, axes = new_figure(2.8, right=1.3, top=0.15)
    axes.plot(x, "o", color=FAINT, ms=4)
    curves = {f"β = {beta}": np.log(np.exp(beta * x).cumsum()) / beta for beta in betas}
    curves["maximum"] = np.maximum.accumulate(x)
    looks = [*zip(("#E69F00", "#882255", "#0B6E4F"), ((0, (1, 1.2)), (0, (3, 1.2)), (0, (6, 1.5)))), (INK, "-")]
    for (name, curve), (colour, dash) in zip(curves.items(), looks):
        axes.plot(places, curve, color=colour, ls=dash, drawstyle="steps-post", label=name)
    axes.set(xlim=(-0.5, 47.5), xlabel="place i", ylabel="value")
    label_ends(axes)
    return figure


# --- what a net looks at ---------------------------------------------------------------------------------------------


def sensitivity(net: nn.Module, inputs: torch.Tensor) -> np.ndarray:
    """(T', T): the mean size of the derivative of each answer by each number read; 0 where all inputs have the same number."""
    inputs = inputs.clone().requires_grad_()
    answers = net(inputs)
    rows = []
    for answer in answers.unbind(1):
        slopes = [torch.autograd.grad(column.sum(), inputs, retain_graph=True)[0] for column in answer.unbind(-1)]
        rows.append(torch.stack(slopes)[..., 0].abs().mean((0, 1)).numpy())
    read = (inputs[1:, :, 0] != inputs[:1, :, 0]).any(0).numpy()
    return np.stack(rows) * (read if len(inputs) > 1 else 1)


@styled
def sensitivity_picture(maps: Mapping[str, np.ndarray], task: str, answer: int) -> Figure:
    """How much every answer of a trained net depends on every place, and, below, the answer that was picked."""
    found = maps[task]
    row = round(answer / 100 * (len(found) - 1))
    figure, (top, low) = new_figure(4.2, rows=2, left=0.7, right=0.9, top=0.15, bottom=0.55, gap=0.3, sharex=True,
                                    height_ratios=[2, 1])  # fmt: skip
    drawn = heatmap(top, found / found.max(), cmap="Blues", vmin=0)
    top.axhline(row, color=LIVE, lw=1)
    top.set(ylabel="answer")
    low.bar(range(found.shape[1]), found[row] / found.max(), color=LIVE, width=1)
    low.set(ylim=(0, 1), xlim=(-0.5, found.shape[1] - 0.5), xlabel="place", ylabel="looks at")
    colour_bar(figure, drawn)
    return figure


def sensitivity_sentence(maps: Mapping[str, np.ndarray], task: str, answer: int) -> str:
    """On which places the answer that was picked depends."""
    found = maps[task]
    row = round(answer / 100 * (len(found) - 1))
    sizes = np.sort(found[row])[::-1]
    half = int((sizes.cumsum() < sizes.sum() / 2).sum()) + 1
    return (f"{named(task)}, answer {row} of {len(found)}: it looks most at place "
            f"<b>{int(found[row].argmax())}</b>; half of its slope comes from <b>{half}</b> of {found.shape[1]} "
            "places.")  # fmt: skip


def sorted_kernels(net: nn.Module, length: int) -> list[np.ndarray]:
    """Of each layer with a kernel the kernels (H, length), divided by their largest taps and sorted by the lags of these."""
    found = []
    for layer in net.modules():
        if hasattr(layer, "kernel"):
            taps = layer.kernel(length).detach().numpy()
            order = np.abs(taps).argmax(1).argsort(kind="stable")
            found.append(taps[order] / np.abs(taps[order]).max(1, keepdims=True))
    return found


@styled
def kernel_picture(found: Mapping[str, np.ndarray], layer: str) -> Figure:
    """The kernels of one layer, ``found[layer]``: a row a channel, a column a lag."""
    figure, axes = new_figure(2.9, left=0.7, right=0.9, top=0.15, bottom=0.55)
    drawn = heatmap(axes, found[layer])
    axes.set(xlabel="lag", ylabel="channel")
    colour_bar(figure, drawn)
    return figure


def kernel_sentence(found: Mapping[str, np.ndarray], layer: str) -> str:
    """How many different lags the largest taps of a layer have."""
    taps = np.abs(found[layer])
    return (f"{layer}: the largest taps of {len(taps)} channels are at <b>{len(set(taps.argmax(1)))}</b> different "
            "lags.")  # fmt: skip
