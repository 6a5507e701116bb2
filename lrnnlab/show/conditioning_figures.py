"""Pictures of Claim 1 of paper 004 (chapter 06): the proof, what each shift costs, and which shifts are exact.

Letters: N modes, L length, n = L - 1, S lag of the 1, k lag; lambda nodes, w weights; T Chebyshev, T*(x) = T(2x - 1).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import log10, pi, sqrt

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure

from lrnnlab.show.style import DIVERGING, FAINT, INK, SMALL, label_ends, new_figure, styled
from lrnnlab.algebra.circle_modes import arc_nodes
from lrnnlab.algebra.float_limits import shift_weights
from lrnnlab.algebra.kernel_fits import best_fit
from lrnnlab.algebra.shift_norms import INTERVALS, smallest_norm
from lrnnlab.algebra.shifts import needed_modes

SIGNS = {1: DIVERGING(0.92), -1: DIVERGING(0.08), 0: FAINT}  # of a weight; 0 stands for a complex one
DASHES = dict(zip(INTERVALS, ("-", (0, (5, 2)), (0, (1, 1.5)))))
LIMITS = {"float32 keeps 24 digits": 24 * log10(2), "float32 ends": log10(float(np.finfo("float32").max)),
          "float64 ends": log10(float(np.finfo("float64").max))}  # fmt: skip
EIGHTHS = range(1, 8)  # the shifts by j L/8 of paper 004's Table 2


def stems(axes: Axes, at: Sequence[float], values: Sequence[float], floor: float) -> None:
    """Stems from ``floor`` to |value| with a dot on it, coloured by the sign; complex values have one neutral colour."""
    values = np.asarray(values)
    signs = np.zeros(len(values), int) if np.iscomplexobj(values) else np.sign(values).astype(int)
    colours = [SIGNS[sign] for sign in signs]
    axes.vlines(at, floor, np.abs(values), colors=colours, lw=1.4)
    axes.scatter(at, np.abs(values), c=colours, s=22, zorder=3)


@styled
def extremal_proof(N: int = 7) -> Figure:
    """The proof of the exact value: T*_(N-1) touches +-1 at N places (left); there the weights alternate (right).

    ValueError for N < 2, or one that ``shift_weights`` does not take.

    >>> left, right = extremal_proof(5).axes
    >>> right.get_title("left")
    '|w|, they add up to 2^7 = 128'
    """
    if N < 2:
        raise ValueError(f"a polynomial with extrema needs N >= 2, got {N}")
    found, x = shift_weights(N), np.linspace(0, 1, 400)
    figure, (left, right) = new_figure(2.9, columns=2, gap=0.75, left=0.6)
    left.axhline(0, color=FAINT, lw=0.8)
    left.plot(x, np.cos((N - 1) * np.arccos(2 * x - 1)), color=INK)
    left.scatter(found.nodes, np.sign(found.weights), c=[SIGNS[s] for s in np.sign(found.weights).astype(int)], s=40,
                 zorder=3)  # fmt: skip
    left.set(xlabel="node", ylim=(-1.25, 1.25), title=f"T*, degree {N - 1}, leading coefficient 2^{2 * N - 3}")
    left.set_yticks([-1, 0, 1])
    stems(right, found.nodes, found.weights, 0)
    right.set(
        xlabel="node",
        ylim=(0, 1.3 * np.abs(found.weights).max()),
        title=f"|w|, they add up to 2^{2 * N - 3} = {2 ** (2 * N - 3):,}",
    )
    for sign, name, place in ((1, "w > 0", 0.98), (-1, "w < 0", 0.88)):
        right.text(0.99, place, name, color=SIGNS[sign], ha="right", va="top", fontsize=10, fontweight="bold",
                   transform=right.transAxes)  # fmt: skip
    return figure


@styled
def shift_costs(L: int = 256, S: int = 32, interval: str = "[0,1]") -> Figure:
    """log10 of the least ||w||_1 against the shift, for nodes in [0, 1], in [-1, 1] and on the circle.

    The ring marks the shift S on the line of ``interval``; diamonds stand at the multiples of L/8, Table 2's shifts.
    ValueError for a shift or an interval that ``smallest_norm`` does not take, or L < 8.

    >>> shift_costs(16, 2).axes[0].get_xlabel()
    'shift S'
    """
    if L < 8:
        raise ValueError(f"eight shifts by j L/8 need L >= 8, got L={L}")
    chosen = log10(smallest_norm(L, S, interval))
    curves = {name: [log10(smallest_norm(L, place, name)) for place in range(L)] for name in INTERVALS}
    figure, axes = new_figure(3.5, left=0.75, right=1.75)
    top = 1.12 * max(max(curve) for curve in curves.values())
    axes.set(xlim=(0, L - 1), ylim=(-0.04 * top, top), xlabel="shift S", ylabel="log10 of the least ||w||₁",
             title=f"L = {L}: any number of nodes")  # fmt: skip
    ends = []
    for name, curve in curves.items():
        axes.plot(range(L), curve, color=INK, ls=DASHES[name], lw=2.6 if name == interval else 1.5)
        ends.append((curve[-1], {"circle": "circle: 1"}.get(name, name), INK))
    axes.plot([j * L // 8 for j in EIGHTHS], [curves[interval][j * L // 8] for j in EIGHTHS], "D", color=FAINT, ms=5)
    axes.plot(S, chosen, "o", mfc="none", mec=INK, mew=2, ms=12, zorder=5)
    axes.axvline((L - 1) / sqrt(2), color=FAINT, lw=1.2, ls=(0, (4, 3)))
    axes.annotate("0.707 (L − 1)", ((L - 1) / sqrt(2), 1), (4, -2), xycoords=("data", "axes fraction"),
                  textcoords="offset points", va="top", fontsize=SMALL)  # fmt: skip
    for text, height in LIMITS.items():
        if height < top:
            axes.axhline(height, color=FAINT, lw=0.9)
            ends.append((height, text, FAINT))
    label_ends(axes, ends)
    return figure


@styled
def exact_shifts(L: int = 24) -> Figure:
    """Which shifts S a DLR with N modes makes exactly: the error of the best fit by roots of unity, N against S.

    White is an exact shift (error below 1e-9).  The line is N = max(S + 1, L - S).  ValueError for L < 2.

    >>> exact_shifts(6).axes[0].get_title("left")
    'L = 6: white, an exact shift; grey, none'
    """
    if L < 2:
        raise ValueError(f"a map of shifts needs L >= 2, got {L}")
    targets = np.eye(L)
    error = np.array([[best_fit(arc_nodes(N, offset=0), targets[S], cast=False).error for S in range(L)]
                      for N in range(1, L + 1)])  # fmt: skip
    figure, axes = new_figure(3.4, width=4.6, left=0.65, right=0.15)
    axes.pcolormesh(np.arange(L + 1) - 0.5, np.arange(L + 1) + 0.5, error > 1e-9, cmap=ListedColormap(["white", "#bdbdbd"]),
                    edgecolors="#e6e6e6", lw=0.4)  # fmt: skip
    edges = np.repeat(np.arange(L + 1) - 0.5, 2)[1:-1]
    axes.plot(edges, np.repeat([needed_modes(L, S) - 0.5 for S in range(L)], 2), color=INK)
    axes.set(xlabel="shift S", ylabel="modes N", title=f"L = {L}: white, an exact shift; grey, none")
    axes.grid(False)
    return figure


@styled
def learned_kernels(kernels: Mapping[str, np.ndarray]) -> Figure:
    """Kernels of all channels over each other, each divided by its largest |tap|.

    kernels : name -> (channels, L), one panel each.  Dotted lines stand at the multiples of L/8.  ValueError for none,
    or one with less than 8 lags.

    >>> [axes.get_title("left") for axes in learned_kernels({"a": np.eye(4, 16), "b": np.eye(4, 16)}).axes]
    ['a', 'b']
    """
    shapes = [kernel.shape for kernel in kernels.values()]
    if not shapes or any(len(shape) != 2 or shape[1] < 8 for shape in shapes):
        raise ValueError(f"needs kernels (channels, L) with L >= 8, got shapes {shapes}")
    figure, panels = new_figure(2.9, columns=len(kernels), gap=0.3, squeeze=False, sharey=True)
    for axes, (name, kernel) in zip(panels[0], kernels.items()):
        largest = np.abs(kernel).max(1, keepdims=True)
        axes.plot((kernel / np.where(largest > 0, largest, 1)).T, color=INK, alpha=0.45, lw=0.9)
        for j in EIGHTHS:
            axes.axvline(j * kernel.shape[1] / 8, color=FAINT, lw=1, ls=(0, (1, 2)))
        axes.set(xlabel="lag k", ylim=(-1.05, 1.05), title=name)
        axes.grid(False)
    panels[0, 0].set_ylabel("kernel / its largest tap")
    return figure


def circle_angles(nodes: np.ndarray) -> np.ndarray:
    """Angles of nodes of modulus 1 in turns, 0 to 1.

    >>> circle_angles(np.array([1, 1j, -1])).tolist()
    [0.0, 0.25, 0.5]
    """
    return np.angle(nodes) / (2 * pi) % 1
