"""Modes to drag on the disc, and what they make of a kernel (chapter 05): a picture that follows a slider at once.

A mode is drawn at its lambda; the real part that a layer takes of its kernel puts a mirror mode at conj(lambda).

Letters: N modes, L length, k lag; lambda nodes, w weights.
"""

from __future__ import annotations

from functools import cache
from math import pi

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Circle

from lrnnlab.show.kept_figure import KeptFigure, round_limit
from lrnnlab.show.style import FAINT, INK, SMALL, new_figure, styled
from lrnnlab.algebra.circle_modes import arc_nodes, decayed_nodes, spectrum
from lrnnlab.algebra.kernel_fits import best_fit, targets

N, L = 12, 24  # of the modes that are dragged; twice as many lags, which is what the half circle fits
PERIODS = 3  # how many times L the impulse response is followed
LEFT_BEHIND, MOVED = "#B8B8B8", "#0B6E4F"  # where the modes stood, where they are
ANGLES = tuple(range(-15, 50, 5))  # degrees: the stops of the widget's slider
DRAG = {"all modes": slice(None), "one mode": slice(1)}
SETS = ("one mode", "shift by 7, DFT grid", "shift by 7, half circle", "box, half circle", "fading sine, real modes",
        "a layer at its start")  # fmt: skip


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


def answers(nodes: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(impulse response over ``PERIODS`` kernels, size of the kernel's frequency response at 0, 1, ..., 180 degrees).

    >>> [part.shape for part in answers(*mode_set("one mode"))]
    [(72,), (181,)]
    """
    response = impulse_response(nodes, weights, PERIODS * L)
    return response, np.abs(np.exp(-1j * np.radians(np.arange(181))[:, None] * np.arange(L)) @ response[:L])


@cache
def limits(modes: str, drag: str, angles: tuple[float, ...], radius: float) -> tuple[float, float, float]:
    """(lower and upper limit of the impulse response, upper limit of the frequency response): room for all angles.

    >>> limits("shift by 7, half circle", "all modes", (0, 5), 1.0)
    (-1.5, 1.5, 2.0)
    """
    seen = [answers(*dragged(modes, drag, angle, radius)[:2]) for angle in angles]
    below, above = (max(0.0, *((sign * response).max() for response, _ in seen)) for sign in (-1, 1))
    return (-round_limit(max(below, above / 10)), round_limit(max(above, below / 10)),
            round_limit(max(size.max() for _, size in seen)))  # fmt: skip


class ModesOnDisc:
    """Left the modes on the disc; right what the recurrence answers to an impulse, and the kernel's frequency response.

    Called with (modes, drag, angle in degrees, radius), it gives its figure, the same one every time.  The response is
    of the L taps alone, so it exists at |lambda| >= 1, too.

    >>> figure = ModesOnDisc()("one mode", "all modes", 0, 1.0)
    >>> [axes.get_xlabel() for axes in figure.axes]
    ['lag k', 'frequency (degrees a step)', '']
    """

    @styled
    def __init__(self):
        self.figure, (self.upper, self.lower) = new_figure(
            3.9, rows=2, left=3.55, right=0.15, top=0.35, gap=0.75, kind=KeptFigure)  # fmt: skip
        upper, lower, lags, turns = self.upper, self.lower, np.arange(PERIODS * L), np.arange(181)
        upper.axvspan(-1, L - 0.5, color="#f1f1f1", zorder=0)
        upper.set(xlim=(-1, PERIODS * L), xlabel="lag k", xticks=range(0, PERIODS * L + 1, L))
        upper.set_title(f"impulse response (dots: the kernel, L = {L})")
        lower.set(xlim=(0, 180), xticks=range(0, 181, 60), xlabel="frequency (degrees a step)")
        lower.set_title("frequency response (ticks: modes)")
        self.disc = Disc(self.figure.add_axes([0.01, 0.09, 0.42, 0.42 * 7.2 / 3.9]))
        self.figure.moving(*self.disc.parts)
        self.response, self.taps, self.size, self.angles = self.figure.moving(
            *upper.plot(lags, 0 * lags, color=FAINT, lw=1.2), *upper.plot(lags[:L], 0 * lags[:L], "o", color=MOVED, ms=3.5),
            *lower.plot(turns, 0 * turns, color=MOVED), *lower.plot([], [], "|", color=INK, ms=9, clip_on=False))  # fmt: skip

    @styled
    def __call__(self, modes: str, drag: str, angle: float, radius: float) -> Figure:
        nodes, weights, before = dragged(modes, drag, angle, radius)
        response, size = answers(nodes, weights)
        self.response.set_ydata(response)
        self.taps.set_ydata(response[:L])
        self.size.set_ydata(size)
        self.angles.set_data(np.degrees(np.abs(np.angle(nodes))), np.zeros(len(nodes)))
        # one scale for the whole slider: a turn moves the curves and never the axes, so they are drawn once
        *ends, top = limits(modes, drag, ANGLES if angle in ANGLES else (angle,), radius)
        self.upper.set_ylim(*ends)
        self.lower.set_ylim(0, top)
        self.disc.show(nodes, before, weights)
        return self.figure


class Disc:
    """The unit circle with modes (dots, as large as their weights), mirror modes (rings) and where they came from."""

    def __init__(self, axes: Axes, reach: float = 1.22):
        axes.add_patch(Circle((0, 0), 1, fc="#fafafa", ec=FAINT, lw=1.2))
        axes.plot([-1, 1, np.nan, 0, 0], [0, 0, np.nan, -1, 1], color="#dddddd", lw=0.8)
        (self.ways,) = axes.plot([], [], color=LEFT_BEHIND, lw=1.0)
        self.stood = axes.scatter([], [], 14, color=LEFT_BEHIND, zorder=2)
        self.mirrored = axes.scatter([], [], 95, facecolors="none", edgecolors=MOVED, lw=1.0, zorder=3)
        self.now = axes.scatter([], [], color=MOVED, zorder=4)
        self.parts = (self.ways, self.stood, self.mirrored, self.now)
        axes.set(xlim=(-reach, reach), ylim=(-reach, reach), aspect="equal")
        axes.axis("off")
        axes.text(0, 1.0, r"modes $\lambda_n$ (dots), their mirror images (rings)", transform=axes.transAxes,
                  fontsize=SMALL)  # fmt: skip

    def show(self, nodes: np.ndarray, before: np.ndarray, weights: np.ndarray) -> None:
        ways = np.stack([before, nodes, np.full(len(nodes), np.nan)], 1).ravel()  # one line draws faster than twelve
        self.ways.set_data(ways.real, ways.imag)
        for dots, places in ((self.stood, before), (self.mirrored, nodes.conj()), (self.now, nodes)):
            dots.set_offsets(np.stack([places.real, places.imag], 1))
        self.now.set_sizes(16 + 44 * np.abs(weights) / np.abs(weights).max())


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
