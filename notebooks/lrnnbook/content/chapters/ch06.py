"""Chapter 06 (ill-conditioned reals): its pictures with their sentences, and shifts in floats.

Letters: N modes, L length, n = L - 1, S lag of the 1, k lag; lambda nodes, w weights, K kernel; T Chebyshev,
T*(x) = T(2x - 1); u input, x state.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from math import log2, log10, pi, sqrt
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from lrnnbook.content.show.frames import panels
from lrnnbook.content.show.style import DIVERGING, FAINT, INK, LIVE, SMALL, label_ends, new_figure, styled
from lrnnbook.content.tables.kernels import (
    INTERVALS,
    arc_nodes,
    best_fit,
    chebyshev_nodes,
    exact_weights,
    extremal_nodes,
    needed_modes,
    smallest_norm,
)

SIGNS = {1: DIVERGING(0.92), -1: DIVERGING(0.08), 0: FAINT}  # of a weight; 0 stands for a complex one
DASHES = dict(zip(INTERVALS, ("-", (0, (5, 2)), (0, (1, 1.5)))))
LIMITS = {"float32 keeps 24 digits": 24 * log10(2), "float32 ends": log10(float(np.finfo("float32").max)),
          "float64 ends": log10(float(np.finfo("float64").max))}  # fmt: skip
PUSHES = tuple(range(0, 131, 10))  # percent of the way of evenly spaced zeros to Chebyshev's
EIGHTHS = range(1, 8)  # the shifts by j L/8 of paper 004's Table 2
MAX_MODES = 64  # modes; their weights still fit float32
DIGITS = {"float32": 24, "float64": 53}
MODES = (*range(2, 33), 36, 40, 48, 56, MAX_MODES)
LENGTHS = (8, 16, 32, 64, 128, 256, 512)
PERCENTS = tuple(range(1, 100, 2))  # a shift as a share of L: S = L percent // 100
LAMBDAS = (0.5, 0.7, 0.9, 0.95, 0.99, 0.995, 0.999)
PLACES = 500  # points of a drawn curve; each is the largest of its stretch
EXACT = 1e-18  # an error below this is drawn and told as this; with lambda = 1/2 in float64 it is 0
REACHED, REACHES, ERRORS = 256, (8, 16, 24, 31, 32, 33, 48, 63, 64, 65, 96, 128), (0.5, 0.3, 0.1, 0.01)
WRONG = 0.5  # an error from here on, and the largest tap may be another one


# --- shifts and running sums in floats --------------------------------------------------------------------------------


class ShiftWeights(NamedTuple):
    """The one-hot kernel at lag N - 1 by N modes: what ``shift_weights`` returns."""

    nodes: np.ndarray
    weights: np.ndarray
    log2_largest: float
    kernel32: np.ndarray
    kernel64: np.ndarray
    error32: float
    error64: float


def rounded_kernel(nodes: np.ndarray, weights: np.ndarray, L: int, precision: str) -> np.ndarray:
    """Re sum_n w_n lambda_n^k for k = 0..L-1, with nodes, weights, powers and sums in float32 or float64 (or complex)."""
    kind = np.result_type(precision, np.complex64) if np.iscomplexobj(nodes) else np.dtype(precision)
    powers = nodes.astype(kind) ** np.arange(L, dtype=precision)[:, None]
    with np.errstate(over="ignore", invalid="ignore"):  # weights may leave float32
        return (powers @ weights.astype(kind)).real


def shift_weights(N: int, interval: str) -> ShiftWeights:
    """N modes, at most 64, at Chebyshev extrema or roots of unity, whose kernel is 1 at lag N - 1 and 0 before, with the least
    ||w||_1: exact for the nodes, then rounded; an error is infinite where the weights leave float32."""
    if interval == "circle":
        nodes = np.exp(2j * pi * np.arange(N) / N)
        weights, largest = np.exp(-2j * pi * (np.arange(N) * (N - 1) % N) / N) / N, Fraction(1, N)
    else:
        points = extremal_nodes(N, N - 1, interval, bits=53)
        exact = exact_weights(points)
        nodes, weights, largest = np.array(points, float), np.array(exact, float), max(map(abs, exact))
    kernels = [rounded_kernel(nodes, weights, N, precision) for precision in DIGITS]
    gaps = [np.abs(found - (np.arange(N) == N - 1)) for found in kernels]
    errors = [float(np.nan_to_num(gap, nan=np.inf, posinf=np.inf).max()) for gap in gaps]
    return ShiftWeights(nodes, weights, log2(largest.numerator) - log2(largest.denominator), *kernels, *errors)


def running_sum(lam: float, u: np.ndarray, precision: str = "float32") -> np.ndarray:
    """x_k = lambda^k sum_{j <= k} u_j lambda^-j (L,), everything in ``precision``: the reduction of paper 004, Sec. 2.1;
    infinities or NaN once lambda^-k has overflowed."""
    k = np.arange(len(u), dtype=precision)
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        base = np.array(lam, precision)
        return base**k * np.cumsum(u.astype(precision) * base**-k)


# --- pictures ---------------------------------------------------------------------------------------------------------


def stems(axes: Axes, at: Sequence[float], values: Sequence[float], floor: float) -> None:
    """Stems from ``floor`` to |value| with a dot on top, coloured by the sign; complex values have a neutral colour."""
    values = np.asarray(values)
    signs = np.zeros(len(values), int) if np.iscomplexobj(values) else np.sign(values).astype(int)
    colours = [SIGNS[sign] for sign in signs]
    axes.vlines(at, floor, np.abs(values), colors=colours, lw=1.4)
    axes.scatter(at, np.abs(values), c=colours, s=22, zorder=3)


@styled
def condition_lines(conditions: Mapping[str, Sequence[float]]) -> Figure:
    """cond(P) at N = 2, 3, ... of each set of nodes, up to where float64 ends; dashed lines where each float has no digit left."""
    figure, axes = new_figure(3.3, left=0.75, right=1.75, top=0.3)
    axes.set(yscale="log", ylim=(0.3, 1e18), xlabel="modes N", ylabel="condition number")
    for name, digits in DIGITS.items():
        axes.axhline(2.0**digits, color=FAINT, lw=1.2, ls=(0, (4, 3)), label=f"{name} ends: $2^{{{digits}}}$")
    for colour, (name, found) in zip((FAINT, INK, INK, INK), conditions.items()):
        values = [value for value in found if value < 2.0 ** DIGITS["float64"]]
        whole = len(values) == len(found)
        axes.plot(range(2, 2 + len(values)), values, color=colour, lw=2, label=name if whole else None)
        if not whole:
            middle = len(values) // 2
            side, shift = ("right", -8) if found is next(iter(conditions.values())) else ("left", 8)  # left of the first line
            axes.annotate(name, (2 + middle, values[middle]), (shift, 0), textcoords="offset points", ha=side, va="center", fontsize=SMALL)
    axes.set_xlim(2, 1 + max(map(len, conditions.values())))
    axes.xaxis.set_major_locator(MaxNLocator(8, integer=True))
    axes.minorticks_off()
    label_ends(axes)
    return figure


@styled
def own_prices(real_weights: Callable, circle_weights: Callable, L: int) -> Figure:
    """||w||_1 of every shift on L lags by two functions, on the extrema of T* and on the circle (left); the shift by L - 1 with
    their weights in float32 (right)."""
    points = chebyshev_nodes(L, bits=53)
    real = [(np.array(points, float), np.array(real_weights(points, S), float)) for S in range(L)]
    circle = [tuple(map(np.asarray, circle_weights(L, S))) for S in range(L)]
    figure, grid = new_figure(3.4, columns=2, rows=2, left=0.75, gap=0.7)
    left = figure.add_subplot(grid[0, 0].get_gridspec()[:, 0])
    for panel in grid[:, 0]:
        panel.remove()
    for panel, name, made, marker in zip(grid[:, 1], ("nodes in [0, 1]", "circle"), (real, circle), "os"):
        prices = [log10(np.abs(weights).sum()) for _, weights in made]
        left.plot(prices, marker=marker, color=LIVE, ms=5, lw=1.4)
        left.annotate(name, (L - 1, prices[-1]), (0, 9 if panel is grid[1, 1] else -16), textcoords="offset points", ha="right",
                      fontsize=SMALL)  # fmt: skip
        _kernel(panel, rounded_kernel(*made[-1], L, "float32"))
        panel.set_title(f"{name}, float32")
    left.set(xlabel="shift S", ylabel="log10 of ||w||₁", title="the price of a shift", ylim=(-0.6, 12))
    left.xaxis.set_major_locator(MaxNLocator(6, integer=True))
    grid[0, 1].set_xticklabels([])
    grid[1, 1].set_xlabel("lag k")
    return figure


@styled
def extremal_proof(N: int) -> Figure:
    """The proof of the exact value: T*_(N-1) touches +-1 at N places (left); there the weights alternate (right)."""
    found, x = shift_weights(N, "[0,1]"), np.linspace(0, 1, 400)
    figure, (left, right) = new_figure(2.9, columns=2, gap=0.75, left=0.6)
    left.axhline(0, color=FAINT, lw=0.8)
    left.plot(x, np.cos((N - 1) * np.arccos(2 * x - 1)), color=INK)
    left.scatter(found.nodes, np.sign(found.weights), c=[SIGNS[s] for s in np.sign(found.weights).astype(int)], s=40,
                 zorder=3)  # fmt: skip
    left.set(xlabel="node", ylim=(-1.25, 1.25), title=f"T*, degree {N - 1}, leading coefficient 2^{2 * N - 3}")
    left.set_yticks([-1, 0, 1])
    stems(right, found.nodes, found.weights, 0)
    right.set(xlabel="node", ylim=(0, 1.3 * np.abs(found.weights).max()),
              title=f"|w|, they add up to 2^{2 * N - 3} = {2 ** (2 * N - 3):,}")  # fmt: skip
    for sign, name, place in ((1, "w > 0", 0.98), (-1, "w < 0", 0.88)):
        right.text(0.99, place, name, color=SIGNS[sign], ha="right", va="top", fontsize=10, fontweight="bold",
                   transform=right.transAxes)  # fmt: skip
    return figure


def bounded_polynomial(N: int, push: int) -> tuple[np.ndarray, float]:
    """N - 1 zeros, evenly spaced at push 0 and Chebyshev's at 100, of a polynomial with largest |value| 1 on [0, 1]; and its
    leading coefficient, a lower bound for ||w||_1 of the shift by N - 1."""
    at = (np.arange(N - 1) + 0.5) / (N - 1)
    zeros = at + push / 100 * ((1 - np.cos(pi * at)) / 2 - at)
    values = np.prod(np.linspace(0, 1, 4001)[:, None] - zeros, axis=1)
    return zeros, float(1 / np.abs(values).max())


@styled
def seesaw(N: int, push: int) -> Figure:
    """A polynomial within +-1 (left), and the bound that it proves beside what evenly spaced and the best nodes need."""
    zeros, lead = bounded_polynomial(N, push)
    even = float(sum(map(abs, exact_weights([Fraction(k, N - 1) for k in range(N)]))))
    x = np.linspace(0, 1, 400)
    figure, (left, right) = new_figure(2.9, columns=2, gap=1.75, left=0.6, right=0.7)
    left.axhspan(-1, 1, color="#f1f1f1", lw=0, zorder=0)
    left.axhline(0, color=FAINT, lw=0.8)
    left.plot(x, lead * np.prod(x[:, None] - zeros, axis=1), color=INK)
    left.plot(zeros, 0 * zeros, "o", color=INK, ms=6)
    left.set(xlim=(-0.03, 1.03), ylim=(-1.25, 1.25), xlabel="node", title=f"seesaw: p of degree {N - 1}, within ±1")
    left.set_yticks([-1, 0, 1])
    names = ("p proves: at least", "best nodes need", "even nodes need")
    heights, values = (2, 1, 0), (lead, 2.0 ** (2 * N - 3), even)
    right.barh(heights, values, 0.55, left=1, color=[SIGNS[1], FAINT, FAINT])
    for height, value in zip(heights, values):
        right.annotate(f"{value:,.0f}", (1 + value, height), (4, 0), textcoords="offset points", va="center", fontsize=SMALL)
    right.set(xscale="log", xlim=(1, 2.0 ** (2 * 8 - 1)), yticks=heights, yticklabels=names, title="sum of |w|")
    right.grid(False)
    return figure


def seesaw_sentence(N: int, push: int) -> str:
    """What the polynomial proves about every set of weights, and how far from the truth it is."""
    lead, best = bounded_polynomial(N, push)[1], 2 ** (2 * N - 3)
    said = (f"This p begins with {lead:,.0f} x^{N - 1} and stays within ±1: <b>whatever {N} nodes in [0, 1]</b> you take, the "
            f"|w| of the shift by {N - 1} add up to at least {lead:,.0f}.")  # fmt: skip
    if lead > 0.9999 * best:
        return f"{said} The best nodes need exactly that."
    return f"{said} The best nodes need {best:,}."


@styled
def shift_costs(L: int, S: int, interval: str = "[0,1]") -> Figure:
    """log10 of the least ||w||_1 against the shift, for nodes in [0, 1], in [-1, 1] and on the circle; the ring marks S on the
    line of ``interval``, diamonds the multiples of L/8, Table 2's shifts."""
    chosen = log10(smallest_norm(L, S, interval))
    curves = {name: [log10(smallest_norm(L, place, name)) for place in range(L)] for name in INTERVALS}
    figure, axes = new_figure(3.5, left=0.75, right=1.75)
    top = 1.12 * max(max(curve) for curve in curves.values())
    axes.set(xlim=(0, L - 1), ylim=(-0.04 * top, top), xlabel="shift S", ylabel="log10 of the least ||w||₁",
             title=f"L = {L}: any number of nodes")  # fmt: skip
    for name, curve in curves.items():
        axes.plot(range(L), curve, color=INK, ls=DASHES[name], lw=2.6 if name == interval else 1.5,
                  label=name + ": 1" * (name == "circle"))  # fmt: skip
    axes.plot([j * L // 8 for j in EIGHTHS], [curves[interval][j * L // 8] for j in EIGHTHS], "D", color=FAINT, ms=5)
    axes.plot(S, chosen, "o", mfc="none", mec=INK, mew=2, ms=12, zorder=5)
    axes.axvline((L - 1) / sqrt(2), color=FAINT, lw=1.2, ls=(0, (4, 3)))
    axes.annotate("0.707 (L − 1)", ((L - 1) / sqrt(2), 1), (4, -2), xycoords=("data", "axes fraction"),
                  textcoords="offset points", va="top", fontsize=SMALL)  # fmt: skip
    for text, height in LIMITS.items():
        if height < top:
            axes.axhline(height, color=FAINT, lw=0.9, label=text)
    label_ends(axes)
    return figure


@styled
def exact_shifts(L: int) -> Figure:
    """Which shifts S a DLR with N modes makes exactly (white: the best fit by roots of unity is off by less than 1e-9), N against
    S; the line is N = max(S + 1, L - S)."""
    targets = np.eye(L)
    error = np.array([[best_fit(arc_nodes(N, offset=0), targets[S], cast=False).error for S in range(L)]
                      for N in range(1, L + 1)])  # fmt: skip
    figure, axes = new_figure(3.4, width=4.6, left=0.65, right=0.15)
    axes.pcolormesh(np.arange(L + 1) - 0.5, np.arange(L + 1) + 0.5, error > 1e-9, edgecolors="#e6e6e6", lw=0.4,
                    cmap=ListedColormap(["white", "#bdbdbd"]))  # fmt: skip
    edges = np.repeat(np.arange(L + 1) - 0.5, 2)[1:-1]
    axes.plot(edges, np.repeat([needed_modes(L, S) - 0.5 for S in range(L)], 2), color=INK)
    axes.set(xlabel="shift S", ylabel="modes N", title=f"L = {L}: white, an exact shift; grey, none")
    axes.grid(False)
    return figure


@styled
def learned_kernels(kernels: Mapping[str, np.ndarray]) -> Figure:
    """Kernels of all channels over each other, each divided by its largest |tap|; dotted lines at the multiples of L/8."""
    figure, every = panels([*kernels], len(kernels), 2.9, "lag k", "kernel / its largest tap", gap=0.3)
    for axes, taps in zip(every, kernels.values()):
        largest = np.abs(taps).max(1, keepdims=True)
        axes.plot((taps / np.where(largest > 0, largest, 1)).T, color=INK, alpha=0.45, lw=0.9)
        for j in EIGHTHS:
            axes.axvline(j * taps.shape[1] / 8, color=FAINT, lw=1, ls=(0, (1, 2)))
        axes.set(ylim=(-1.05, 1.05))
        axes.grid(False)
    return figure


def fading_half_circle(N: int, S: int, error: float, L: int) -> tuple[np.ndarray, float]:
    """Theorem 4: the kernel (L,) of N fading half-circle modes that is 1 at S and has echoes ``error``; and ||w||_1."""
    nodes = error ** (1 / (2 * N)) * arc_nodes(N, pi)
    weights = nodes ** float(-S) / N
    return (weights * nodes ** np.arange(L)[:, None]).sum(1).real, float(np.abs(weights).sum())


@styled
def reach_picture(N: int, S: int, error: float) -> Figure:
    """The kernel of Theorem 4 on 256 lags; lag 0, which the skip weight sets, is left out."""
    taps, _ = fading_half_circle(N, S, error, REACHED)
    figure, axes = new_figure(2.7, left=0.65, right=0.2)
    shown = np.flatnonzero(np.abs(taps[1:]) > 1e-9) + 1
    axes.axvspan(0, min(2 * N, REACHED) + 0.5, color="#f1f1f1", lw=0, zorder=0)
    axes.axhline(0, color=FAINT, lw=0.8)
    axes.vlines(shown, 0, taps[shown], color=[INK if k == S else SIGNS[-1] for k in shown], lw=2)
    axes.plot(shown, taps[shown], "o", color=INK, ms=4)
    low, high = 1.1 * taps[shown].min(), 1.1 * taps[shown].max()
    axes.set(xlim=(0, REACHED), ylim=(min(-1.1, low), max(1.3, high)), xlabel="lag k",
             title=f"N = {N}, S = {S}, d = {error:g}: S is {'within' if S <= 2 * N else 'beyond'} 2N")  # fmt: skip
    return figure


def reach_sentence(N: int, S: int, error: float) -> str:
    """Which step of Theorem 4 holds, and what the kernel costs."""
    _, norm = fading_half_circle(N, S, error, REACHED)
    if S <= 2 * N:
        return (f"S = {S} is within 2N = {2 * N} (grey): all steps hold. The first echo is at lag {S + 2 * N}, of size "
                f"{error:g}, and ||w||₁ = d^(−S/2N) = {norm:.3g}, not above 1/d = {1 / error:.3g}. It is so at every "
                "length.")  # fmt: skip
    return (f"S = {S} is beyond 2N = {2 * N}: <b>step 2 goes first</b>. There is an echo before the 1, at lag "
            f"{S - 2 * N}, and it is larger, {1 / error:.3g} in size. Step 3 goes with it: ||w||₁ = {norm:.3g} is "
            f"above 1/d. And by (b) every kernel of {N} modes misses at least {100 - 200 * N / S:.2g} % of the shift's "
            "energy.")  # fmt: skip


@styled
def float_kernels(interval: str, N: int) -> Figure:
    """Left, |w| at its nodes on a log axis; right, the kernel in float32 and float64: rings are what is asked for, dots what
    comes out, crosses what lies outside the panel."""
    found = shift_weights(N, interval)
    figure, axes = new_figure(3.9, columns=2, rows=2, left=0.75, gap=0.7)
    round_ = interval == "circle"
    low, high = 2.0**-8, 2.0 ** max(60, log2(np.abs(found.weights).max()) + 6)
    left = figure.add_subplot(axes[0, 0].get_gridspec()[:, 0])
    for panel in axes[:, 0]:
        panel.remove()
    stems(left, np.angle(found.nodes) / (2 * pi) % 1 if round_ else found.nodes, found.weights, low)
    for digits in DIGITS.values():
        left.axhline(2.0**digits, color=INK, lw=1.2, ls=(0, (4, 3)), zorder=4)
    left.set(yscale="log", ylim=(low, high), xlim={"[-1,1]": (-1.04, 1.04)}.get(interval, (-0.02, 1.02)),
             xlabel="angle of the node, in turns" if round_ else "node", title=f"|w|, N = {N}, {interval}")  # fmt: skip
    names = {2**digits: f"{precision}\n$2^{{{digits}}}$" for precision, digits in DIGITS.items()}
    powers = [power for power in (80, 110) if 2.0**power < high]
    left.set_yticks([1, *names, *(2.0**power for power in powers)], ["1", *names.values(), *(f"$2^{{{power}}}$" for power in powers)])
    left.minorticks_off()
    kernels = {"float32": (found.kernel32, found.error32), "float64": (found.kernel64, found.error64)}
    for panel, (precision, (taps, error)) in zip(axes[:, 1], kernels.items()):
        _kernel(panel, taps)
        panel.set_title(f"{precision}: {error_words(error)}")
    axes[0, 1].set_xticklabels([])
    axes[1, 1].set_xlabel("lag k")
    return figure


def _kernel(panel, kernel):
    N, low, high = len(kernel), -0.6, 1.6
    target = np.arange(N) == N - 1
    inside = (kernel >= low) & (kernel <= high)  # not a number is outside
    panel.plot(np.arange(N), target, "o", mfc="none", mec=FAINT, mew=1.2, ms=7)
    panel.plot(np.flatnonzero(inside), kernel[inside], "o", color=INK, ms=3.5)
    panel.plot(np.flatnonzero(~inside), np.where(kernel[~inside] > high, high - 0.12, low + 0.12), "x", color=INK, mew=1.6, ms=6)
    panel.set(xlim=(-0.03 * N - 0.4, 1.03 * N - 0.6), ylim=(low, high))
    panel.set_yticks([0, 1])
    panel.xaxis.set_major_locator(MaxNLocator(6, integer=True))


def error_words(error: float) -> str:
    """A kernel's largest error in words, to a power of ten: it is the last digits' business and no more."""
    if not np.isfinite(error):
        return "wrong, no number"
    if error >= WRONG:
        return f"wrong by {10.0 ** np.floor(log10(error)):.0e}" if error >= 10 else "wrong by 1 or more"
    return f"right to {10.0 ** np.ceil(log10(max(error, 1e-300))):.2g}"


def float_sentence(interval: str, N: int) -> str:
    """What the chosen weights are, and which floats are left."""
    found, power = shift_weights(N, interval), smallest_norm(N, N - 1, interval).bit_length() - 1
    lost = [name for name, error in (("float32", found.error32), ("float64", found.error64)) if not error < WRONG]
    says = {0: "Both floats still hold the shift", 1: "float32 has <b>lost</b> the shift, float64 still holds it",
            2: "Both floats have <b>lost</b> the shift"}[len(lost)]  # fmt: skip
    if interval == "circle":
        return f"N = {N} nodes on the circle: every |w| is 1/{N}, they add up to 1, at every N. {says}."
    return (f"N = {N} nodes in {interval}: the weights add up to 2^{power}, and the kernel is sums of such "
            f"numbers that must give 0 and 1. float32 has 24 binary digits, float64 has 53. {says}.")  # fmt: skip


def cost_picture(interval: str, L: int, percent: int) -> Figure:
    """``shift_costs`` with the shift as a share of L."""
    return shift_costs(L, L * percent // 100, interval)


def cost_sentence(interval: str, L: int, percent: int) -> str:
    """The least ||w||_1 of the chosen shift, and which shift is the most expensive."""
    S, costs = L * percent // 100, [smallest_norm(L, place, interval) for place in range(L)]
    if interval == "circle":
        return f"A shift by S = {S} of L = {L} with nodes on the circle costs ||w||₁ = 1, as every shift does."
    top, price = costs.index(max(costs)), costs[S]
    text = f"{price:,}" if price < 10**6 else f"10^{log10(price):.1f}"
    said = f"A shift by S = {S} of L = {L} with nodes in {interval} costs ||w||₁ = {text}."
    if S == top:
        return f"{said} No shift of this L is <b>more expensive</b>."
    return (f"{said} The most expensive is S = {top} (0.707 (L − 1) = {(L - 1) / sqrt(2):.1f}), "
            f"with 10^{log10(costs[top]):.1f}.")  # fmt: skip


class Sums(NamedTuple):
    """What ``summed`` returns: lags, errors there as shares of max |x|, the first lag without a number, or None."""

    k: np.ndarray
    errors: np.ndarray
    observed: int | None
    predicted: float


def summed(lam: float, precision: str) -> Sums:
    """The running sum of random inputs against the recurrence in float64: the largest error of each stretch of lags."""
    from scipy.signal import lfilter  # half a second to load

    predicted = math.log(float(np.finfo(precision).max)) / -math.log(lam)  # lambda^-k overflows from here on
    lam = float(np.array(lam, precision))
    u = np.random.default_rng(0).uniform(-1, 1, int(1.05 * predicted) + 2).astype(precision)
    x, want = running_sum(lam, u, precision), lfilter([1], [1, -lam], u.astype(float))
    finite = np.isfinite(x)
    observed = None if finite.all() else int(np.argmin(finite))
    good = slice(0, observed)
    errors, k = np.abs(x[good] - want[good]) / np.abs(want).max(), np.arange(len(u))[good]
    starts = np.unique(np.linspace(0, len(k), PLACES, endpoint=False).astype(int))
    return Sums(k[starts], np.maximum.reduceat(errors, starts), observed, predicted)


@styled
def sum_picture(lam: float, precision: str) -> Figure:
    """The running sum's error along k, and where it must overflow."""
    found = summed(lam, precision)
    figure, axes = new_figure(3.0, left=0.8, right=0.3)
    end = 1.05 * found.predicted
    axes.plot(found.k, np.maximum(found.errors, EXACT), color=INK, lw=1.2)
    axes.axvline(found.predicted, color=FAINT, lw=1.4, ls=(0, (4, 3)))
    axes.axvspan(found.observed or end, end, color="#d9d9d9", lw=0)
    axes.text(0.5, 0.94, "grey at the right edge: no number any more; dashes: ln(largest number) / |ln λ|",
              transform=axes.transAxes, ha="center", va="top", fontsize=SMALL)  # fmt: skip
    axes.set(yscale="log", xlim=(0, end), ylim=(EXACT / 3, 10), xlabel="k", ylabel="error / largest |x|",
             title=f"λ = {lam:g}, {precision}")  # fmt: skip
    axes.set_yticks([1e-16, 1e-12, 1e-8, 1e-4, 1])
    axes.minorticks_off()
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    return figure


def sum_sentence(lam: float, precision: str) -> str:
    """How far the running sum reaches, in one sentence."""
    found = summed(lam, precision)
    worst = 10.0 ** np.ceil(log10(max(found.errors.max(), EXACT)))
    reach = "to the end of the picture" if found.observed is None else f"up to k = {found.observed:,}"
    return (f"λ = {lam:g} in {precision}: λ^(-k) overflows from k = {found.predicted:,.0f} on. The sum is "
            f"finite {reach}, with errors below {worst:.0e} of the largest |x|.")  # fmt: skip
