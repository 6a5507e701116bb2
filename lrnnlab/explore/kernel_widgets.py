"""Modes to drag on the disc, and what they make of a kernel (chapter 05): pictures for four widgets, with sentences.

A mode is drawn at its lambda; the real part that a layer takes of its kernel puts a mirror mode at conj(lambda).

Letters: N modes, L length, k lag, S lag of the 1; lambda nodes, w weights, K kernel, r a factor on |lambda|.
"""

from __future__ import annotations

from math import pi

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Circle

from lrnnlab.explore.style import FAINT, INK, SMALL, new_figure, styled
from lrnnlab.proofs.circle_modes import arc_nodes, decayed_nodes, power_table, spectrum
from lrnnlab.proofs.kernel_fits import best_fit, targets

N, L = 12, 24  # of the modes that are dragged; twice as many lags, which is what the half circle fits
PERIODS = 3  # how many times L the impulse response is followed
LEFT_BEHIND, MOVED = "#B8B8B8", "#0B6E4F"  # where the modes stood, where they are
DRAG = {"all modes": slice(None), "one mode": slice(1)}
SETS = ("one mode", "shift by 7, DFT grid", "shift by 7, half circle", "box, half circle", "fading sine, real modes",
        "a layer at its start")  # fmt: skip
STARTS = ("off the grid", "DFT grid")  # of the modes of a product


def mode_set(name: str) -> tuple[np.ndarray, np.ndarray]:
    """(nodes, weights) of one of ``SETS``, both complex; ValueError for another name.

    >>> mode_set("one mode")[0].round(3).tolist()
    [(0.823+0.475j)]
    """
    if name not in SETS:
        raise ValueError(f"a set of modes is one of {', '.join(SETS)}; got {name!r}")
    if name == "one mode":
        return 0.95 * np.exp([1j * pi / 6]), np.ones(1, complex)
    if name.startswith("shift"):
        nodes = arc_nodes(N, pi) if name.endswith("half circle") else arc_nodes(N, offset=0)
        return nodes, nodes**-7 / N
    if name == "a layer at its start":  # paper 004, Sec. 2.3
        draw = np.random.default_rng(5)
        return decayed_nodes(N, 0.0005, 0.5, draw), draw.standard_normal((N, 2)) @ [1, 1j] / N
    nodes = arc_nodes(N, pi) if name.startswith("box") else np.arange(1, N + 1) / N
    return nodes + 0j, best_fit(nodes, targets(L)["box" if name.startswith("box") else "fading sine"]).weights + 0j


def dragged(modes: str, drag: str, angle: float, radius: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(nodes, weights, nodes before): the chosen modes are multiplied by radius exp(i angle), angle in degrees.

    >>> nodes, weights, before = dragged("one mode", "all modes", 60, 2.0)
    >>> np.allclose(nodes / before, 2 * np.exp(1j * pi / 3))
    True
    """
    if drag not in DRAG or not radius > 0:
        raise ValueError(f"drag {' or '.join(DRAG)} by a radius above 0; got {drag!r}, {radius}")
    before, weights = mode_set(modes)
    nodes = before.copy()
    nodes[DRAG[drag]] *= radius * np.exp(1j * np.radians(angle))
    return nodes, weights, before


def impulse_response(nodes: np.ndarray, weights: np.ndarray, steps: int) -> np.ndarray:
    """What the recurrence answers to 1, 0, 0, ...: (steps,), real part, by stepping.

    >>> impulse_response(np.array([0.5]), np.array([8.0]), 4).tolist()
    [8.0, 4.0, 2.0, 1.0]
    """
    state, found = np.ones(len(nodes), complex), []
    for _ in range(steps):
        found.append((weights * state).sum().real)
        state = nodes * state
    return np.array(found)


@styled
def modes_on_disc(modes: str, drag: str, angle: float, radius: float) -> Figure:
    """Left the modes on the disc; right what the recurrence answers to an impulse, and the kernel's frequency response.

    The response is of the L taps alone, so it exists at |lambda| >= 1, too.

    >>> [axes.get_xlabel() for axes in modes_on_disc("one mode", "all modes", 0, 1.0).axes]
    ['lag k', 'frequency (degrees a step)', '']
    """
    nodes, weights, before = dragged(modes, drag, angle, radius)
    figure, (upper, lower) = new_figure(3.9, rows=2, left=3.55, right=0.15, top=0.35, gap=0.75)
    response = impulse_response(nodes, weights, PERIODS * L)
    upper.axvspan(-1, L - 0.5, color="#f1f1f1", zorder=0)
    upper.plot(response, color=FAINT, lw=1.2)
    upper.plot(response[:L], "o", color=MOVED, ms=3.5)
    upper.set(xlim=(-1, PERIODS * L), xlabel="lag k", xticks=range(0, PERIODS * L + 1, L),
              title=f"impulse response (dots: the kernel, L = {L})")  # fmt: skip
    upper.title.set_fontsize(10)
    turns = np.arange(0, 181)
    size = np.abs(np.exp(-1j * np.radians(turns)[:, None] * np.arange(L)) @ response[:L])
    lower.plot(turns, size, color=MOVED)
    lower.plot(np.degrees(np.abs(np.angle(nodes))), np.zeros(len(nodes)), "|", color=INK, ms=9, clip_on=False)
    lower.set(xlim=(0, 180), ylim=(0, max(1.1 * size.max(), 1e-3)), xticks=range(0, 181, 60),
              xlabel="frequency (degrees a step)", title="frequency response (ticks: modes)")  # fmt: skip
    lower.title.set_fontsize(10)
    _disc(figure.add_axes([0.01, 0.09, 0.42, 0.42 * 7.2 / 3.9]), nodes, before, weights)
    return figure


def _disc(axes: Axes, nodes, before, weights, reach: float = 1.22) -> None:
    """The unit circle with modes (dots, as large as their weights), mirror modes (rings) and where they came from."""
    axes.add_patch(Circle((0, 0), 1, fc="#fafafa", ec=FAINT, lw=1.2))
    axes.plot([-1, 1, np.nan, 0, 0], [0, 0, np.nan, -1, 1], color="#dddddd", lw=0.8)
    ways = np.stack([before, nodes, np.full(len(nodes), np.nan)], 1).ravel()  # one line draws faster than twelve
    axes.plot(ways.real, ways.imag, color=LEFT_BEHIND, lw=1.0)
    share = np.abs(weights) / np.abs(weights).max()
    axes.scatter(before.real, before.imag, 14, color=LEFT_BEHIND, zorder=2)
    axes.scatter(nodes.real, -nodes.imag, 95, facecolors="none", edgecolors=MOVED, lw=1.0, zorder=3)
    axes.scatter(nodes.real, nodes.imag, 16 + 44 * share, color=MOVED, zorder=4)
    axes.set(xlim=(-reach, reach), ylim=(-reach, reach), aspect="equal")
    axes.axis("off")
    axes.text(
        0, 1.0, r"modes $\lambda_n$ (dots), their mirror images (rings)", transform=axes.transAxes, fontsize=SMALL
    )


def modes_sentence(modes: str, drag: str, angle: float, radius: float) -> str:
    """How long the slowest mode lasts, the largest tap, and how well the modes determine a kernel.

    >>> modes_sentence("one mode", "all modes", 0, 1.0).split(";")[0]
    '<b>1 mode</b>: the slowest has |λ| = 0.95 and is down to 1/e after 19 steps'
    """
    nodes, weights, _ = dragged(modes, drag, angle, radius)
    slowest, taps = np.abs(nodes).max(), impulse_response(nodes, weights, L)
    if abs(slowest - 1) < 1e-9:
        lasts = "never fades"
    elif slowest < 1:
        lasts = f"is down to 1/e after {-1 / np.log(slowest):,.0f} steps"
    else:
        lasts = f"grows tenfold in {np.log(10) / np.log(slowest):,.0f} steps"
    largest, found = int(np.abs(taps).argmax()), spectrum(nodes, L)
    share = taps[largest] ** 2 / (taps**2).sum()
    condition = f"{found['condition']:.3g}" if np.isfinite(found["condition"]) else "infinite"
    return (f"<b>{len(nodes)} mode{'s' * (len(nodes) > 1)}</b>: the slowest has |λ| = {slowest:.4g} and {lasts}; the "
            f"largest tap on 0..{L - 1} is K<sub>{largest}</sub> = {taps[largest]:.3g}, with {share:.0%} of the "
            f"kernel's energy. The {L} x {2 * len(nodes)} real table of powers has rank {found['rank']} and condition "
            f"number {condition}.")  # fmt: skip


def start_nodes(arc: int, N: int, r: float) -> np.ndarray:
    """N modes of modulus r, spread over the first ``arc`` degrees: half a step from its ends, on 360 from 0 (paper).

    >>> np.degrees(np.angle(start_nodes(180, 2, 1.0))).round(6).tolist()
    [45.0, 135.0]
    """
    return r * arc_nodes(N, np.radians(arc), offset=0.0 if arc == 360 else 0.5)


@styled
def start_spectrum(arc: int, N: int, per_mode: float, r: float) -> Figure:
    """Left, modes on an arc of the circle; right, the singular values of their real table at L = per_mode N.

    >>> start_spectrum(180, 8, 2, 1.0).axes[0].get_title("left")
    'singular values, rank 16 of 16'
    """
    nodes, length = start_nodes(arc, N, r), round(per_mode * N)
    found = spectrum(nodes, length)
    figure, axes = new_figure(3.3, left=4.0, right=0.3, top=0.35)
    values = np.maximum(found["values"] / found["values"][0], 1e-17)
    axes.plot(np.arange(1, len(values) + 1), values, "o", color=MOVED, ms=4.5)
    axes.axhline(1e-10, color=FAINT, lw=1.2, ls=(0, (4, 3)))
    axes.annotate("below counts as 0", (1, 1e-10), (0, -3), xycoords=("axes fraction", "data"),
                  textcoords="offset points", fontsize=SMALL, va="top", ha="right")  # fmt: skip
    axes.set(yscale="log", ylim=(3e-18, 5), xlim=(0.5, len(values) + 0.5), xlabel="number",
             ylabel="share of the largest", title=f"singular values, rank {found['rank']} of {len(values)}")  # fmt: skip
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.set_yticks([1, 1e-5, 1e-10, 1e-15])
    axes.minorticks_off()
    _disc(figure.add_axes([0.01, 0.02, 3.15 / 7.2, 3.15 / 3.3 * 0.95]), nodes, nodes, np.ones(N))
    return figure


def start_sentence(arc: int, N: int, per_mode: float, r: float) -> str:
    """Which kernels these modes make, and at what condition number.

    >>> start_sentence(180, 8, 2, 1.0)
    '8 modes with their mirror images make <b>every</b> real kernel of length 16; condition number 1.'
    """
    length = round(per_mode * N)
    found = spectrum(start_nodes(arc, N, r), length)
    rank = found["rank"]
    made = f"<b>every</b> real kernel of length {length}" if rank == length else (
        f"a space of {rank} dimensions among the real kernels of length {length}, <b>{length - rank} short</b>")  # fmt: skip
    condition = f"{found['condition']:.4g}" if np.isfinite(found["condition"]) else "infinite"
    return f"{N} modes with their mirror images make {made}; condition number {condition}."


def product_spectrum(N: int, start: str) -> np.ndarray:
    """Singular values of the Hankel matrix of Re K Im K, (4N^2 + 4,): as many above 0 as the product has modes.

    The modes lie on the circle, at the N-th roots of unity or off them, each by another angle.  (In floats a picture,
    not a proof: that is :func:`lrnnlab.proofs.kernel_products.dlr_prod`.)

    >>> [int((product_spectrum(N, start) > 1e-9).sum()) for start in STARTS for N in (1, 2, 3, 4)]
    [2, 6, 12, 20, 1, 2, 3, 4]
    """
    if start not in STARTS:
        raise ValueError(f"modes start {' or '.join(STARTS)}, got {start!r}")
    size, place = 4 * N * N + 4, np.arange(N)
    turns = place / N if start == "DFT grid" else (place + 0.56 * (place / N) ** 2 + 0.05) / N  # no two sums coincide
    weights = np.exp(2j * (1 + place)) / N
    K = power_table(np.exp(2j * pi * turns), 2 * size, cast=False) @ weights
    made = K.real * K.imag
    found = np.linalg.svd(made[np.arange(size)[:, None] + np.arange(size)], compute_uv=False)
    return found / found[0]


@styled
def product_modes(N: int, start: str) -> Figure:
    """How many modes DLR-prod's kernel has: singular values, with lines at N(N+1) and at the paper's 4N^2.

    >>> product_modes(2, "off the grid").axes[0].get_xlabel()
    'singular value of the Hankel matrix of Re K Im K, by size'
    """
    values = np.maximum(product_spectrum(N, start), 1e-18)
    figure, axes = new_figure(2.9, top=0.45)
    axes.plot(np.arange(1, len(values) + 1), values, "o-", color=MOVED, ms=4.5, lw=0.8)
    for at, name in ((N * (N + 1), "N(N+1)"), (4 * N * N, "4N²")):
        axes.axvline(at, color=INK, lw=1.2, ls=(0, (4, 3)))
        axes.annotate(f"{name} = {at}", (at, 1), (0, 3), xycoords=("data", "axes fraction"), ha="center",
                      textcoords="offset points", fontsize=SMALL)  # fmt: skip
    axes.set(yscale="log", ylim=(3e-19, 5), xlim=(0, len(values) + 1), ylabel="share of the largest",
             xlabel="singular value of the Hankel matrix of Re K Im K, by size")  # fmt: skip
    axes.set_yticks([1, 1e-6, 1e-12, 1e-18])
    axes.minorticks_off()
    return figure


def product_sentence(N: int, start: str) -> str:
    """The count, in words.

    >>> product_sentence(3, "off the grid")[:42]
    '3 modes make a product of <b>12</b> modes;'
    """
    rank = int((product_spectrum(N, start) > 1e-9).sum())
    text = f"{N} mode{'s' * (N > 1)} make a product of <b>{rank}</b> modes; the paper allows {4 * N * N}."
    if start == "DFT grid":
        return (
            f"{text} Products of N-th roots of unity are N-th roots of unity: no gain until the modes leave the grid."
        )
    return f"{text} With the cast to reals half as many have the same kernel, N(N+1)/2 = {N * (N + 1) // 2}."
