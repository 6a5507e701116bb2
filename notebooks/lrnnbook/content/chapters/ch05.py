"""Chapter 05 (diagonal kernels): its pictures with their sentences, and the training that its notebooks share.

On the disc a mode is drawn at its lambda, and the mirror mode that the real part brings at conj(lambda).

Letters: T time, D channels, N modes, L length, k lag, S lag of the 1, r a factor on |lambda|; lambda nodes, w weights,
K kernel.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import pi

import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Circle

from lrnnbook.content.show.interactive import Moving
from lrnnbook.content.show.output import figure as show_figure
from lrnnbook.content.show.style import (
    FAINT,
    INK,
    LIVE,
    PAGE,
    SMALL,
    SOURCES,
    heatmap,
    label_ends,
    new_figure,
    styled,
)
from lrnnbook.content.tables.kernels import (
    arc_nodes,
    best_fit,
    decayed_nodes,
    families,
    kernel,
    needed_modes,
    power_table,
    predicted_r2,
    spectrum,
    targets,
)
from lrnnlab import models, training
from lrnnlab.tasks.numbers.continuous import ContinuousTask, r_squared

LENGTH = 32  # of the kernels of the picture with sliders
WANTED, FITTED, START, AHEAD = "#B0B0B0", "#0B6E4F", "#CC79A7", "#A0457A"
BLUES = ("#9ecae1", "#4292c6", "#08519c", "#041f3d")  # from 1 to 8 layers
DISC, LAGS = 12, 24  # of the modes that are dragged; twice as many lags, which is what the half circle fits
PERIODS = 2  # how many times L the impulse response is followed
SETS = ("one mode", "shift by 7, DFT grid", "shift by 7, half circle", "box, half circle", "fading sine, real modes",
        "a layer at its start")  # fmt: skip
STARTS = ("off the grid", "DFT grid")  # of the modes of a product
ROUNDING = 1e-15  # singular values below this share of the largest are rounding, which every processor does otherwise


# --- modes on the disc ------------------------------------------------------------------------------------------------


def mode_set(name: str) -> tuple[np.ndarray, np.ndarray]:
    """(nodes, weights) of one of ``SETS``, both complex."""
    if name == "one mode":
        return 0.95 * np.exp([1j * pi / 6]), np.ones(1, complex)
    if name.startswith("shift"):
        nodes = arc_nodes(DISC, pi) if name.endswith("half circle") else arc_nodes(DISC, offset=0)
        return nodes, nodes**-7 / DISC
    if name == "a layer at its start":  # paper 004, Sec. 2.3
        draw = np.random.default_rng(5)
        return decayed_nodes(DISC, 0.0005, 0.5, draw), draw.standard_normal((DISC, 2)) @ [1, 1j] / DISC
    nodes = arc_nodes(DISC, pi) if name.startswith("box") else np.arange(1, DISC + 1) / DISC
    return nodes + 0j, best_fit(nodes, targets(LAGS)["box" if name.startswith("box") else "fading sine"]).weights + 0j


@styled
def waves_on_disc(modes: str) -> Figure:
    """Left the modes on the disc; right what each mode adds at each lag, and their sum, the impulse response."""
    nodes, weights = mode_set(modes)
    lags = np.arange(2 * LAGS)
    figure, (upper, lower) = new_figure(3.9, rows=2, left=3.55, right=0.15, top=0.35, gap=0.6)
    added, response = (weights * nodes ** lags[:, None]).real, np.real(kernel(nodes, weights, len(lags)))
    for these, size in ((lags, 2.5), (lags[np.abs(response) > 0.5], 7)):  # large where all agree
        upper.plot(these, added[these], "o", color=FITTED, ms=size)
    upper.set_title(f"what each of the {len(nodes)} modes adds")
    lower.plot(response, color=FAINT, lw=1.2)
    lower.plot(response[:LAGS], "o", color=FITTED, ms=3.5)
    lower.set_title(f"their sum (dots: the kernel of {LAGS} taps)")
    lower.set_xlabel("lag")
    for axes in (upper, lower):
        axes.axvspan(-1, LAGS - 0.5, color="#f1f1f1", zorder=0)
        axes.set(xlim=(-1, len(lags)), xticks=(0, 7, 24, 31, 48))
    _disc(figure, (0.01, 0.09, 0.42, 0.42 * 7.2 / 3.9), nodes, weights)
    return figure


def wanted_kernel(name: str) -> np.ndarray:
    """The kernel (24,) that one of ``SETS`` is fitted to."""
    made = targets(LAGS) | {"shift by 7": (np.arange(LAGS) == 7).astype(float)}
    return made[{"one mode": "fading sine", "a layer at its start": "shift by 7"}.get(name, name.split(",")[0])]


def modes_widget(modes: str) -> Moving:
    """Modes to drag on the disc, with their waves, their kernel beside the wanted one, weights to fit again, and an input to draw
    with its output; it opens on one of ``SETS``."""
    def pairs(values):
        return np.stack([values.real, values.imag], 1).tolist()

    sets = {name: {**dict(zip(("nodes", "weights"), map(pairs, mode_set(name)))), "wanted": wanted_kernel(name).tolist()} for name in SETS}
    hill = [0.25, 0.5, 0.75, 1, -0.5]  # a shape that is known again where it comes out
    opened = {"modes": modes, "drag": "all", "nodes": sets[modes]["nodes"], "weights": sets[modes]["weights"],
              "input": hill + [0] * (PERIODS * LAGS - len(hill))}  # fmt: skip
    alt = ("Modes as points on the complex disc, which can be dragged or moved with the arrow keys; beside it the wave of each mode, "
           "and their sum, the kernel, over the wanted kernel in grey; below an input that can be drawn, the layer's output, and the frequency "
           "response of the kernel.")  # fmt: skip
    return Moving("disc", {"sets": sets, "L": LAGS, "periods": PERIODS}, opened, alt)


@styled
def rings_of_taps(L: int) -> Figure:
    """L taps that look back (K) and L - 1 that look ahead (k) on a ring of 2L places, with one free, and on one of L."""
    figure, rings = new_figure(3.5, columns=2, left=0.1, right=0.1, top=0.35, bottom=0.1, gap=0.3)
    for axes, n in zip(rings, (2 * L, L)):
        for place in range(n):
            x, y = np.sin(2 * pi * place / n), np.cos(2 * pi * place / n)
            taps = [(f"$K_{place}$", FITTED)] * (place < L) + [(f"$k_{n - 1 - place}$", AHEAD)] * (n - place < L)
            axes.add_patch(Circle((x, y), 0.25, fc="#fde8d8" if len(taps) > 1 else "white", ec=FAINT, lw=1.2))
            for (tap, colour), shift in zip(taps or [("X", FAINT)], (-0.12, 0.12) if len(taps) > 1 else (0,)):
                axes.text(x + shift, y, tap, ha="center", va="center", color=colour, fontsize=11)
            axes.text(0.62 * x, 0.62 * y, f"{place}", ha="center", va="center", color=FAINT, fontsize=SMALL)
        axes.set(xlim=(-1.6, 1.6), ylim=(-1.3, 1.3), aspect="equal", title=f"a ring of {'2L' if n > L else 'L'} = {n} places")
        axes.axis("off")
    return figure


@styled
def delay_and_echoes(S: int, sizes: Sequence[float]) -> Figure:
    """The kernel of a delay line by S, and of S + 1 modes at equal angles for each |lambda|: 1 at S, then echoes."""
    lags = np.arange(4 * (S + 1))
    kernels = {"delay line": (lags == S).astype(float)}
    for size in sizes:
        name = rf"$|\lambda| = {size}$, $|w| = {size**-S / (S + 1):.2g}$"
        kernels[name] = np.where(lags % (S + 1) == S, float(size) ** (lags - S), 0)
    figure, rows = new_figure(0.75 * len(kernels) + 0.7, rows=len(kernels), left=1.75, right=0.2, top=0.15, gap=0.15, sharex=True)
    for axes, (name, taps) in zip(rows, kernels.items()):
        axes.vlines(lags, 0, taps, color=FITTED, lw=2)
        axes.plot(taps, "o", color=FITTED, ms=4.5)
        axes.set(ylim=(-0.15, 1.2), yticks=(0, 1), xlim=(-0.7, len(lags)), xticks=range(S, len(lags), S + 1))
        axes.set_ylabel(name, rotation=0, ha="right", va="center", labelpad=8)
    axes.set_xlabel("lag")
    return figure


def _disc(figure: Figure, place: Sequence[float], nodes: np.ndarray, weights: np.ndarray) -> None:
    """The unit circle with modes (dots, as large as their weights) and mirror modes (rings)."""
    axes, reach = figure.add_axes(place), 1.22
    axes.add_patch(Circle((0, 0), 1, fc="#fafafa", ec=FAINT, lw=1.2))
    axes.plot([-1, 1, np.nan, 0, 0], [0, 0, np.nan, -1, 1], color="#dddddd", lw=0.8)
    axes.scatter(nodes.real, -nodes.imag, 95, facecolors="none", edgecolors=FITTED, lw=1.0, zorder=3)
    axes.scatter(nodes.real, nodes.imag, 16 + 44 * np.abs(weights) / np.abs(weights).max(), color=FITTED, zorder=4)
    axes.set(xlim=(-reach, reach), ylim=(-reach, reach), aspect="equal")
    axes.axis("off")
    axes.text(0, 1.0, r"modes $\lambda_n$ (dots), their mirror images (rings)", transform=axes.transAxes, fontsize=SMALL)


# --- where modes start, and what products of modes reach --------------------------------------------------------------


def start_nodes(arc: int, N: int, r: float) -> np.ndarray:
    """N modes of modulus r, spread over the first ``arc`` degrees: half a step from its ends, on 360 from 0 (paper)."""
    return r * arc_nodes(N, np.radians(arc), offset=0.0 if arc == 360 else 0.5)


@styled
def start_spectrum(arc: int, N: int, per_mode: float, r: float) -> Figure:
    """Left, modes on an arc of the circle; right, the singular values of their real table at L = per_mode N."""
    nodes, length = start_nodes(arc, N, r), round(per_mode * N)
    found = spectrum(nodes, length)
    figure, axes = new_figure(3.3, left=4.0, right=0.3, top=0.35)
    count = len(found["values"])
    _singular_values(axes, found["values"] / found["values"][0])
    axes.axhline(1e-10, color=FAINT, lw=1.2, ls=(0, (4, 3)))
    axes.annotate("below counts as 0", (1, 1e-10), (0, -3), xycoords=("axes fraction", "data"),
                  textcoords="offset points", fontsize=SMALL, va="top", ha="right")  # fmt: skip
    axes.set(xlim=(0.5, count + 0.5), xlabel="number", title=f"singular values, rank {found['rank']} of {count}")
    axes.xaxis.get_major_locator().set_params(integer=True)
    _disc(figure, (0.01, 0.02, 3.15 / 7.2, 3.15 / 3.3 * 0.95), nodes, np.ones(N))
    return figure


def _singular_values(axes: Axes, values: np.ndarray) -> None:
    """Shares of the largest, by size, on a logarithmic axis that ends where rounding begins."""
    axes.plot(np.arange(1, len(values) + 1), np.maximum(values, ROUNDING), "o", color=FITTED, ms=4.5)
    axes.set(yscale="log", ylim=(1e-16, 5), ylabel="share of the largest")
    axes.set_yticks([1, 1e-5, 1e-10, 1e-15])
    axes.minorticks_off()


def start_sentence(arc: int, N: int, per_mode: float, r: float) -> str:
    """Which kernels these modes make, and at what condition number."""
    length = round(per_mode * N)
    found = spectrum(start_nodes(arc, N, r), length)
    rank = found["rank"]
    made = f"<b>every</b> real kernel of length {length}" if rank == length else (
        f"a space of {rank} dimensions among the real kernels of length {length}, "
        f"<b>{length - rank} short</b>")  # fmt: skip
    condition = f"{found['condition']:.4g}" if np.isfinite(found["condition"]) else "infinite"
    return f"{N} modes with their mirror images make {made}; condition number {condition}."


def product_spectrum(N: int, modes: str) -> np.ndarray:
    """Singular values of the Hankel matrix of Re K Im K, (4N^2 + 4,): as many above 0 as the product has modes."""
    size, place = 4 * N * N + 4, np.arange(N)
    turns = place / N if modes == "DFT grid" else (place + 0.56 * (place / N) ** 2 + 0.05) / N  # no two sums coincide
    weights = np.exp(2j * (1 + place)) / N
    K = power_table(np.exp(2j * pi * turns), 2 * size, cast=False) @ weights
    made = K.real * K.imag
    found = np.linalg.svd(made[np.arange(size)[:, None] + np.arange(size)], compute_uv=False)
    return found / found[0]


@styled
def product_modes(N: int, modes: str) -> Figure:
    """How many modes DLR-prod's kernel has: singular values, with lines at N(N+1) and at the paper's 4N^2."""
    values = product_spectrum(N, modes)
    figure, axes = new_figure(2.9, top=0.45)
    _singular_values(axes, values)
    for at, name in ((N * (N + 1), "N(N+1)"), (4 * N * N, "4N²")):
        axes.axvline(at, color=INK, lw=1.2, ls=(0, (4, 3)))
        axes.annotate(f"{name} = {at}", (at, 1), (0, 3), xycoords=("data", "axes fraction"), ha="center",
                      textcoords="offset points", fontsize=SMALL)  # fmt: skip
    axes.set(xlim=(0, len(values) + 1), xlabel="singular value of the Hankel matrix of Re K Im K, by size")
    return figure


def product_sentence(N: int, modes: str) -> str:
    """The count, in words."""
    rank = int((product_spectrum(N, modes) > 1e-9).sum())
    text = f"{N} mode{'s' * (N > 1)} make a product of <b>{rank}</b> modes; the paper allows {4 * N * N}."
    if modes == "DFT grid":
        return f"{text} Products of N-th roots of unity are N-th roots of unity: no gain until the modes leave the grid."
    return f"{text} With the cast to reals half as many have the same kernel, N(N+1)/2 = {N * (N + 1) // 2}."


# --- shifts and kernels ----------------------------------------------------------------------------------------------


@styled
def modes_for_shifts(L: int) -> Figure:
    """How many modes, mirror images counted, each shift needs: exactly on L lags, and nearly at every length."""
    figure, axes = new_figure(2.9, right=0.3, top=0.2)
    S = np.arange(1, L)
    exact = np.array([needed_modes(L, lag) for lag in S])
    axes.fill_between(S, S, exact, color="#eeeeee", zorder=0)
    axes.plot(S, exact, color=INK)
    axes.plot(S, S, color=FITTED, ls=(0, (6, 1.5)))
    axes.text(0.16 * L, 0.87 * L, f"exact on {L} lags: max(S + 1, L − S)", va="bottom")
    axes.text(0.25 * L, 0.21 * L, "nearly exact, at every length: S", va="top", color=FITTED)
    axes.set(xlim=(0, L), ylim=(0, L + 2), xlabel="shift S", ylabel="modes", xticks=range(0, L + 1, L // 8), yticks=range(0, L + 1, L // 4))
    return figure


CIRCLES = {"half circle": FITTED, "circle (DFT)": LIVE}  # the two families that the text is about


@styled
def fit_by_modes(target: str, family: str, N: int) -> Figure:
    """Left, a target of length 32 and the best kernel of N modes of a family; right, the least error by N."""
    goal = targets(LENGTH)[target]
    fit = best_fit(families(N)[family], goal)
    figure, (left, right) = new_figure(3.0, columns=2, left=0.55, right=1.85, top=0.35, gap=0.45)
    left.plot(goal, "s", color=WANTED, ms=6, label="wanted")
    left.plot(fit.kernel, "o-", color=CIRCLES.get(family, INK), ms=3, lw=1.0, label="best")
    low, high = min(goal.min(), fit.kernel.min()), max(goal.max(), fit.kernel.max())
    left.set(xlabel="lag k", xlim=(-1, LENGTH), ylim=(low - 0.15 * (high - low), high + 0.35 * (high - low)),
             title=f"{target}: error {fit.error:.2f}")  # fmt: skip
    left.legend(loc="upper right", ncols=2, handlelength=1.2, borderaxespad=0.1)
    reach = range(2, LENGTH + 1)
    sets = [families(modes) for modes in reach]
    for kind, marker in zip(families(4), "os  ^"):  # the circles are told apart by colour, the others by their marks
        curve, colour, thick = [best_fit(nodes[kind], goal).error for nodes in sets], CIRCLES.get(kind, INK), kind in CIRCLES
        right.plot(reach, curve, color=colour, lw=2.4 if thick else 0.8, marker=marker.strip() or None, ms=3.5, markevery=(2, 4),
                   alpha=1 if thick or kind == family else 0.55, zorder=3 if thick else 2, label=kind)  # fmt: skip
    right.plot(N, fit.error, "o", color=CIRCLES.get(family, INK), ms=8, zorder=4)
    right.set(xlabel="modes N", xlim=(2, LENGTH), ylim=(-0.03, 1.05), xticks=(2, 9, 17, 24, LENGTH), title="least error by N")
    right.legend(loc="center left", bbox_to_anchor=(1, 0.5), handlelength=2.2)
    return figure


def show_shift(u: np.ndarray, by_kernel: np.ndarray, by_steps: np.ndarray) -> None:
    """Show an input, what a convolution makes of it, and what the recurrence does, step by step."""
    figure, axes = new_figure(2.4, left=0.6, right=1.75, top=0.15)
    axes.plot(u, color=WANTED, lw=3)
    axes.plot(by_steps, "o", color=INK, ms=6, mfc="none")
    axes.plot(by_kernel, color=LIVE, lw=1.8)
    axes.set(xlabel="step k", xlim=(0, len(u) - 1))
    label_ends(axes, [(u[-1], "input u", WANTED), (by_kernel[-1], "your convolution", LIVE), (by_steps[-1], "recurrence (rings)", INK)])
    apart = np.abs(np.asarray(by_kernel) - by_steps).max()
    said = "are the same, the input seven steps later" if apart < 1e-6 else f"are {apart:.2g} apart at most"
    show_figure(figure, "An input, the output of the convolution and that of the recurrence against the step.",
                f"What to see: the convolution and the recurrence {said}.")  # fmt: skip


def show_fits(wanted: Mapping[str, np.ndarray], fits: Mapping[tuple[str, str], np.ndarray]) -> None:
    """Show wanted kernels in grey, a column each, and those that were fitted to them, by (nodes, wanted), a row for each set of nodes."""
    circles = list(dict.fromkeys(circle for circle, _ in fits))
    figure, grid = new_figure(2.9, rows=len(circles), columns=len(wanted), left=1.05, right=0.1, top=0.35, bottom=0.15, gap=0.2)
    for axes, name in zip(grid[0], wanted):
        axes.set_title(name, fontsize=10)
    for row, circle in zip(grid, circles):
        row[0].text(-0.12, 0.5, circle, transform=row[0].transAxes, ha="right", va="center")
        for axes, (name, goal) in zip(row, wanted.items()):
            made = np.asarray(fits[circle, name])
            error = np.linalg.norm(made - goal) / np.linalg.norm(goal)
            axes.plot(goal, color=WANTED, lw=4)
            axes.plot(made, color=LIVE, lw=1.1)
            low, high = goal.min(), goal.max()
            axes.set(xticks=[], yticks=[], ylim=(low - 0.7 * (high - low), high + 0.35 * (high - low)))
            axes.text(0.97, 0.03, f"error {error:.2f}", transform=axes.transAxes, ha="right", va="bottom", fontsize=SMALL)
    show_figure(figure, "Five wanted kernels of length 64 in grey, and in vermilion the fits of 32 modes, above on the full circle, below on the half circle. "
                "The error is written in each panel.",
                "Grey: wanted. Vermilion: your fits with 32 modes. What to see: the half circle makes every kernel of length 64; on the full circle, "
                "whose kernels repeat after 32 lags, half of a shift is missing.")  # fmt: skip


def fit_sentence(target: str, family: str, N: int) -> str:
    """Error and weights of the best kernel; for a shift, how many modes an exact one needs."""
    fit = best_fit(families(N)[family], targets(LENGTH)[target])
    text = (f"The best kernel of {N} modes of the family <b>{family}</b> misses by {fit.error:.1%} of the target's "
            f"norm, with weights of ||w||<sub>1</sub> = {fit.norm:.2g}.").replace("%", " %")  # fmt: skip
    if not target.startswith("shift"):
        return text
    S = LENGTH // int(target[-1])
    need = needed_modes(LENGTH, S)
    return (f"{text} An exact shift by {S} on {LENGTH} lags needs {need} modes, mirror images counted: so "
            f"N = {-(-need // 2)} at least, and the half circle needs no more.")  # fmt: skip


@styled
def kernel_gallery(wanted: Mapping[str, np.ndarray], columns: Mapping[str, Mapping]) -> Figure:
    """A row a target, a column a family: wanted, before and after training, with the errors written in."""
    rows = len(wanted)
    figure, axes = new_figure(1.02 * rows + 0.8, rows=rows, columns=len(columns), left=0.95, right=0.1, top=0.6,
                              bottom=0.2, gap=0.12, squeeze=False)  # fmt: skip
    for column, (family, found) in enumerate(columns.items()):
        axes[0, column].set_title(family, fontsize=10)
        for row, (name, goal) in enumerate(wanted.items()):
            here, low, high = axes[row, column], goal.min(), goal.max()
            here.plot(goal, color=WANTED, lw=4, label="wanted")
            here.plot(found["before"][row], color=START, lw=1.0, label="before training")
            here.plot(found["after"][row], color=FITTED, lw=1.2, label="after training")
            here.set(ylim=(low - 0.25 * (high - low), high + 0.45 * (high - low)), xticks=[], yticks=[])
            here.text(0.98, 0.97, found["errors"][row], transform=here.transAxes, ha="right", va="top", fontsize=SMALL)
            if not column:
                here.text(-0.06, 0.5, name, transform=here.transAxes, ha="right", va="center", fontsize=SMALL)
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="upper center", ncols=3, borderaxespad=0.2)
    return figure


@styled
def predicted_scores(paper: Mapping[float, float], recorded: Mapping[float, float]) -> Figure:
    """R2 on Shift by L / N (keys): the count of section 5 as a line, the paper's and the recorded scores as points."""
    figure, axes = new_figure(3.2, right=1.9)
    N = 4096
    lengths = np.unique(np.geomspace(2 * N, 4096 * N, 2000).astype(int))
    axes.plot(lengths / N, [predicted_r2(int(L), N) for L in lengths], color=INK, label="predicted")
    for source, scores, looks in (("paper", paper, {"ms": 6}), ("recorded", recorded, {"ms": 10, "mfc": "none", "mew": 1.8})):
        axes.plot([*scores], [*scores.values()], SOURCES[source].marker, color=SOURCES[source].colour, label=source, **looks)
    axes.axhline(2 / 9, color=FAINT, lw=1.2, ls=(0, (4, 3)), zorder=1, label="nothing learned, 2/9")
    axes.set(xlim=(2, 4096), ylim=(0, 1.05), xlabel="L / N, steps for each mode", ylabel="R² on Shift")
    axes.set_xscale("log", base=2)
    axes.set_xticks(ticks := [2**k for k in range(2, 12, 2)], [f"{tick}" for tick in ticks])
    axes.minorticks_off()
    axes.legend(loc="center left", bbox_to_anchor=(1, 0.5), handlelength=2.2)
    return figure


@styled
def kernel_maps(panels: Mapping[str, np.ndarray], marks: Sequence[int] = ()) -> Figure:
    """Kernels (outputs, T) as rows of colour, from -1 to 1; ``marks``: lags with a tick above."""
    figure, axes = new_figure(2.7, columns=len(panels), left=0.55, right=0.15, top=0.5, gap=0.3, squeeze=False)
    for place, (here, (name, K)) in enumerate(zip(axes[0], panels.items())):
        heatmap(here, K)
        here.set(xlabel="lag k")
        here.set_title(name, pad=12, fontsize=10)
        here.plot(marks, np.full(len(marks), 1.02), "v", color=INK, ms=4, transform=here.get_xaxis_transform(),
                  clip_on=False)  # fmt: skip
        if not place:
            here.set_ylabel("output")
        else:
            here.set_yticks([])
    return figure


@styled
def receptive_fields(fields: Mapping[str, np.ndarray], marks: Sequence[int] = (), share: float = 0, steps: int = 1000) -> Figure:
    """How much each input counts over the largest, by how many steps it lies back: arrays of ``receptive_field``, last position first.
    ``marks`` are lags with a thick line; the dots are at the first lag from which on no more than ``share`` is left."""
    figure, axes = new_figure(3.1, left=0.75, right=1.25, top=0.2)
    for mark in marks:
        axes.axvline(mark, color="#d9d9d9", lw=4, zorder=0)
    shown = min(steps, *map(len, fields.values()))
    for place, ((name, field), colour) in enumerate(zip(fields.items(), BLUES if share else (FAINT, LIVE))):
        back = field[::-1] / field.max()
        axes.plot(back[:shown], color=colour, lw=1.6, label=name)
        if share:
            lag = int(np.flatnonzero(back > share)[-1]) + 1
            axes.plot(lag, share, "o", color=colour, ms=8, zorder=4)
            axes.annotate(f"{lag}", (lag, share), (0, -19 if place % 2 else 9), textcoords="offset points", ha="center",
                          bbox={"fc": "white", "ec": "none", "pad": 0.6})  # fmt: skip
    axes.set(yscale="log", ylim=(1e-5 if share else 1e-2, 1.6), xlim=(0, shown - 1), xlabel="steps back", ylabel="share of the largest")
    axes.minorticks_off()
    label_ends(axes)
    return figure


@styled
def reverse_moves(L: int) -> Figure:
    """Reverse: every letter moves by another number of places."""
    figure, axes = new_figure(2.6, width=min(PAGE, 0.6 * 2 * L + 0.4), left=0.05, right=0.05, top=0.05, bottom=0.05)
    bow = np.linspace(0, np.pi, 60)
    for p in range(L):
        shift, target = 2 * L - 1 - 2 * p, 2 * L - 1 - p
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


# --- training ---------------------------------------------------------------------------------------------------------


def train_dlr(task: ContinuousTask, length: int, steps: int = 200, layers: int = 1, dt: tuple[float, float] = (1e-5, 1e-5),
              **options) -> tuple[dict, models.Net, float]:  # fmt: skip
    """Train paper 004's net of width 16, by default with modes that hardly fade (its Table 7): start, net, R2 on new inputs."""
    torch.manual_seed(0)
    draw = training.rng(0, "train")
    scored = task.sample(1, length, draw).targets.shape[1]
    stacked = models.blocks(lambda width: models.layers.DLR(width, dt=dt, **options), 16, layers, **models.block.PAPER_004)
    net = models.Net(stacked, task.d_out, 16, columns=task.d_in, last_outputs=scored)
    start = {name: value.clone() for name, value in net.state_dict().items()}
    optimiser = torch.optim.AdamW(net.parameters(), lr=5e-3, weight_decay=0, fused=True)
    with training.deterministic():
        for _ in range(steps):
            batch = task.sample(8, length, draw)
            optimiser.zero_grad()
            batch.loss(net(batch.inputs)).backward()
            optimiser.step()
        fresh = task.sample(128, length, training.rng(0, "test"))
        with torch.no_grad():
            return start, net, r_squared(net(fresh.inputs), fresh.targets)
