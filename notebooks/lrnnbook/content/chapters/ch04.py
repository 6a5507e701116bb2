"""Chapter 04, rotations: its pictures, and what is said under them.

Letters: T time, D width, N state size, h heads, n = N/h size of a head, K = N/2 modes; gamma decay, theta angle,
lambda = gamma e^(i theta) eigenvalue; rho the correlation of one input with the next, m = rho lambda; P rotation, B and
C input and output matrices, xi scale of the drive; u input, x state, y output.
"""

import cmath
import math
from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np
import pandas as pd
import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Arc, Circle, FancyBboxPatch, Wedge
from scipy.linalg import expm

from lrnnbook.content.chapters.rotations import Head, absorb, norm_over_time, stationary_norm
from lrnnbook.content.show.frames import log_ticks, panels, picture
from lrnnbook.content.show.norm_figures import LOOKS
from lrnnbook.content.show.output import figure
from lrnnbook.content.show.style import (
    FAINT,
    GRID,
    INK,
    LIVE,
    PAGE,
    RECORDED,
    SMALL,
    SOURCES,
    canvas,
    label_ends,
    new_figure,
    styled,
)
from lrnnlab.models import Net, blocks
from lrnnlab.models.block import PAPER_001
from lrnnlab.models.layers.modes import LRU, RotRNN

# --- why rotations, and what a trained one keeps ----------------------------------------------------------------------

STRETCHES = {1.02: "stretch by 2 %", 1.0: "rotation", 0.98: "shrink by 2 %"}


@styled
def three_paths() -> Figure:
    """A point turned again and again, and stretched, kept or shrunk at each step: its path, and its length up to step 1,000."""
    drawn, (plane, lengths) = new_figure(3.0, columns=2, left=0.45, right=1.5, top=0.2, bottom=0.55, gap=0.95)
    colours = dict(zip(STRETCHES, (LIVE, INK, RECORDED)))
    for factor, colour in colours.items():
        path = (factor * np.exp(0.2j)) ** np.arange(0, 56 if factor > 1 else 200)
        plane.plot(path.real, path.imag, color=colour, lw=1.5, zorder=3 if factor == 1 else 2)
        lengths.plot(factor ** np.arange(1001.0), color=colour, lw=2, label=STRETCHES[factor])
    plane.plot(1, 0, "o", color=INK, ms=6, zorder=4)
    plane.set(xlim=(-3, 3), ylim=(-3, 3), aspect="equal", xticks=[-2, 0, 2], yticks=[-2, 0, 2])
    lengths.set(yscale="log", xlim=(0, 1000), ylim=(1e-10, 1e10), xlabel="step t", ylabel="length of the state")
    lengths.set_yticks([1e-8, 1e-4, 1, 1e4, 1e8])
    lengths.minorticks_off()
    label_ends(lengths)
    return drawn


@styled
def from_memory(seen: np.ndarray, drawn: Mapping[str, np.ndarray], usual: np.ndarray, columns: int = 8) -> Figure:
    """Pictures (K, 64) as they were read and as each layer draws them; right R2 over the mean picture by row of pixels."""
    page, grid = canvas(2.6)
    grid.axis("off")
    rows = {"as read": seen, **drawn}
    for row, (name, pictures) in enumerate(rows.items()):
        for column in range(columns):
            here = page.add_axes((0.11 + 0.064 * column, 0.68 - 0.31 * row, 0.06, 0.06 * PAGE / 2.6))
            here.imshow(pictures[column].reshape(8, 8), cmap="gray_r", vmin=0, vmax=1)
            here.set_axis_off()
        page.text(0.1, 0.68 - 0.31 * row + 0.03 * PAGE / 2.6, name, ha="right", va="center")
    axes = page.add_axes((0.67, 0.2, 0.2, 0.7))
    for (_, pictures), colour in zip(drawn.items(), (RECORDED, LIVE)):
        off, all_of_it = (((a - seen) ** 2).reshape(-1, 8, 8).mean((0, 2)) for a in (pictures, usual))
        axes.plot(1 - off / all_of_it, np.arange(8), "o-", color=colour, ms=4)
    axes.set(xlim=(min(0, axes.get_xlim()[0]), 1.02), ylim=(7.3, -0.3), xlabel="R²", yticks=[0, 7])
    axes.set_yticklabels(["first row", "last row"])
    axes.yaxis.tick_right()
    return page


# --- the network and the layer, drawn from what runs -----------------------------------------------------------------

ROTRNN, LRU_COLOUR = LOOKS["rotrnn"][1].colour, LOOKS["lru_learned"][1].colour  # as in Figure 3
TABLE_3 = {  # of paper 001: the range of gamma, and the largest theta, at the start
    "ListOps": ((0.5, 0.999), math.pi / 100), "Text": ((0.5, 0.8), math.pi / 10),
    "Retrieval": ((0.5, 0.999), 2 * math.pi), "Image": ((0.99, 0.999), 2 * math.pi),
    "Pathfinder": ((0.1, 0.9999), math.pi / 10), "Path-X": ((0.999, 0.9999), math.pi / 10),
    "Speech Commands": ((0.1, 0.9999), math.pi / 10),
}  # fmt: skip
STATE = 64  # N of the RotRNN in the discs, twice the LRU's number of modes
DISCS = {"task": "Retrieval", "n": 8, "mode": 29}  # what the picture opens on
LAGS = 60  # of the kernels
FEWEST = 16  # a mean over fewer strings is not drawn
GATE_TEXT = {"half_glu1": "a · σ(Wa)", "full_glu": "Va · σ(Wa)", "linear": "Va", "none": "a"}


def _box(axes: Axes, x: float, y: float, width: float, height: float, text: str, fill: str = "white") -> None:
    """A box with its text, (x, y) in the middle."""
    corner = x - width / 2, y - height / 2
    axes.add_patch(FancyBboxPatch(corner, width, height, boxstyle="round,pad=0,rounding_size=.06", fc=fill, ec=INK,
                                  lw=1.1, zorder=2))  # fmt: skip
    axes.text(x, y, text, ha="center", va="center", fontsize=SMALL, zorder=3, linespacing=1.35)


def _arrow(axes: Axes, start: tuple[float, float], end: tuple[float, float], bend: str = "arc3") -> None:
    axes.annotate("", end, start, zorder=1, arrowprops={"arrowstyle": "-|>", "color": INK, "lw": 1.1, "shrinkA": 0,
                                                        "shrinkB": 0, "mutation_scale": 10, "connectionstyle": bend})


def _chain(axes: Axes, y: float, centres: Sequence[float], widths: Sequence[float]) -> None:
    """Arrows from each box to the next."""
    for (a, wide), (b, other) in zip(zip(centres, widths), list(zip(centres, widths))[1:]):
        _arrow(axes, (a + wide / 2, y), (b - other / 2, y))


def paper_network() -> Net:
    """Six blocks of RotRNN with 8 heads for ListOps, as the paper has them; from torch's generator."""
    made = blocks(partial(RotRNN, state=64, heads=8), 32, 6, **PAPER_001)
    return Net(made, 10, 32, vocab_size=18, encoder="linear", pool="mean")


@styled
def architecture(net: Net) -> Figure:
    """The network, and one of its pre-norm blocks larger: as in Figure 1 of paper 001, with this network's sizes."""
    block, D = net.blocks[0], net.width
    size, C = net.vocab_size or net.columns, net.outputs
    figure, axes = canvas(2.75)
    whole = [f"inputs\nT × {size}", f"Linear\n{size} → {D}", f"block\n× {len(net.blocks)}",
             "all positions" if net.pool == "none" else f"{net.pool} over\ntime", f"Linear\n{D} → {C}",
             f"logits\n{C}"]  # fmt: skip
    centres, widths, top = np.linspace(0.6, PAGE - 0.6, len(whole)), [0.86] * len(whole), 2.35
    for x, text in zip(centres, whole):
        _box(axes, x, top, 0.86, 0.5, text, "#dcecdf" if text.startswith("block") else "white")
    _chain(axes, top, centres, widths)
    middle = centres[2]
    mixer, gate = type(block.mixer).__name__, block.gate
    inner = [f"{'batch' if isinstance(block.norm, torch.nn.BatchNorm1d) else 'layer'}\nnorm", f"{mixer}\nu → y",
             f"a = {gate.activation.upper()}(y)\n(dropout)", f"{GATE_TEXT[gate.kind]}\n(dropout)", "+"]  # fmt: skip
    wide, y = [0.75, 0.85, 1.3, 1.15, 0.34], 0.75
    centres = np.array([1.35, 2.5, 3.9, 5.45, 6.45])
    axes.add_patch(FancyBboxPatch((0.45, 0.2), 6.35, 1.45, boxstyle="round,pad=0,rounding_size=.1", fc="#f3f9f4",
                                  ec=ROTRNN, lw=1.1, ls=(0, (4, 2)), zorder=0))  # fmt: skip
    for x, width, text in zip(centres, wide, inner):
        _box(axes, x, y, width, 0.5 if len(text) > 1 else 0.34, text, "#dcecdf" if text.startswith(mixer) else "white")
    _chain(axes, y, centres, wide)
    _arrow(axes, (0.15, y), (centres[0] - wide[0] / 2, y))
    _arrow(axes, (centres[-1] + wide[-1] / 2, y), (PAGE - 0.05, y))
    axes.plot([0.65, 0.65, centres[-1]], [y, 1.35, 1.35], color=INK, lw=1.1, zorder=1)
    _arrow(axes, (centres[-1], 1.35), (centres[-1], y + 0.17))
    axes.text(0.62, 0.98, "z", ha="right", va="center", fontsize=10)
    axes.text(3.6, 1.4, f"skip, T × {D}", ha="center", va="bottom", fontsize=SMALL)
    for corner, side in ((middle - 0.43, 0.45), (middle + 0.43, 6.8)):  # the block, and the block larger
        axes.plot([corner, side], [top - 0.25, 1.63], color=ROTRNN, lw=0.8, ls=(0, (2, 2)), zorder=0)
    return figure


@styled
def layer_heads(layer: RotRNN) -> Figure:
    """The layer as h independent heads, mixed at the end: Figure 2 of paper 001.  A dial is the unit disc; a head's dots are its
    eigenvalues, all at the distance gamma from the centre."""
    D, n, N = len(layer.skip), layer.B.shape[1], 2 * layer.modes
    figure, axes = canvas(0.95 * layer.heads + 0.5)
    middle, bottom = (0.95 * layer.heads + 0.5) / 2 + 0.12, 0.17
    heights = middle + 0.95 * (np.arange(layer.heads)[::-1] - (layer.heads - 1) / 2)
    _box(axes, 0.5, middle, 0.6, 0.5, f"$u_t$\n{D}")
    decays, angles = layer.gamma().detach().numpy(), layer.theta.detach().numpy()
    for head, (y, gamma, theta) in enumerate(zip(heights, decays, angles), 1):
        _arrow(axes, (0.8, middle), (1.25, y))
        _box(axes, 1.75, y, 1.0, 0.5, f"$\\xi B^{{({head})}}$\n{n} × {D}")
        _arrow(axes, (2.25, y), (2.6, y))
        axes.add_patch(Circle((3.0, y), 0.38, fc="white", ec=FAINT, lw=1.1, zorder=2))
        points = 0.38 * gamma * np.exp(1j * theta)
        axes.plot(3.0 + points.real, y + points.imag, "o", color=ROTRNN, ms=4.5, zorder=4)
        axes.text(3.47, y, f"$x^{{({head})}}_t = γ A\\, x^{{({head})}}_{{t-1}} + \\dots$\nγ = {gamma:.3f}",
                  va="center", fontsize=SMALL, linespacing=1.4)  # fmt: skip
        _arrow(axes, (4.95, y), (5.15, y))
    low, high = heights[-1] - 0.35, heights[0] + 0.35
    _box(axes, 5.3, middle, 0.3, high - low, f"{N}")
    _arrow(axes, (5.45, middle), (5.62, middle))
    _box(axes, 5.95, middle, 0.66, 0.5, f"C\n{D} × {N}")
    _arrow(axes, (6.28, middle), (6.43, middle))
    _box(axes, 6.55, middle, 0.24, 0.28, "+")
    _arrow(axes, (6.67, middle), (6.8, middle))
    axes.text(6.84, middle, "$y_t$", va="center", fontsize=11)
    axes.plot([0.5, 0.5, 6.55], [middle - 0.25, bottom, bottom], color=INK, lw=1.1, zorder=0)
    _arrow(axes, (6.55, bottom), (6.55, middle - 0.14))
    axes.text(3.6, bottom + 0.04, "skip, element by element", ha="center", va="bottom", fontsize=SMALL,
              bbox={"fc": "white", "ec": "none", "pad": 0.5})  # fmt: skip
    return figure


def starting_layers(task: str, n: int) -> tuple[LRU, RotRNN]:
    """An LRU of 32 modes and a RotRNN of 64 states in heads of n, fresh, in the ranges of Table 3 for the task."""
    moduli, theta = TABLE_3[task]
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        lru = LRU(1, state=STATE // 2, modulus=moduli, phase=theta)
        return lru, RotRNN(1, state=STATE, heads=STATE // n, gamma=moduli, theta=theta, rotation="absorbed")


def eigenvalues(layer: LRU | RotRNN) -> np.ndarray:
    """lambda of every mode, (K,) complex; of a RotRNN's real A the conjugates are eigenvalues as well."""
    return torch.exp(layer.system().log.detach().to(torch.complex128)).numpy()


def head_of_mode(value: complex, b: complex, c: complex) -> Head:
    """The head of width 2 that gives Re(c x_t) for the mode x_t = value x_{t-1} + b u_t: section 7 of the chapter."""
    head = Head(abs(value), np.angle([value]), np.eye(2), np.array([[b.real], [b.imag]]), np.array([[c.real, -c.imag]]))
    return Head(head.gamma, head.theta, head.P, head.B, head.C / head.xi)


def mode_kernels(lru: LRU, mode: int) -> tuple[np.ndarray, np.ndarray]:
    """The impulse response of one mode, (T,), and of the head of width 2 made of it, each in units of its largest."""
    drive, read = (torch.view_as_complex(part.detach()).flatten()[mode - 1].item() for part in (lru.B, lru.C))
    value = eigenvalues(lru)[mode - 1]
    head = head_of_mode(value, drive, read)
    kernels = (read * value ** np.arange(LAGS) * drive).real, head.kernel(LAGS)[:, 0, 0]
    return tuple(kernel / np.abs(kernels[0]).max() for kernel in kernels)


@styled
def discs(task: str, n: int, mode: int) -> Figure:
    """Where eigenvalues lie at the start, LRU left and RotRNN in the middle (an arc joins a head's, hollow are conjugates, grey
    is what Table 3 allows); right, a mode's kernel and its head's.  The mode is counted in the LRU, where it is ringed."""
    lru, rot = starting_layers(task, n)
    moduli, theta = TABLE_3[task]
    figure, panels = new_figure(2.95, columns=3, left=0.55, right=0.15, top=0.4, bottom=0.75, gap=0.55)
    free, tied = eigenvalues(lru), eigenvalues(rot)
    for axes in panels[:2]:
        axes.add_patch(Wedge((0, 0), moduli[1], 0, math.degrees(theta), width=moduli[1] - moduli[0], fc=GRID, ec="none",
                             zorder=0))  # fmt: skip
        axes.add_patch(Circle((0, 0), 1, fill=False, ec=INK, lw=1.2))
        axes.set(xlim=(-1.08, 1.08), ylim=(-1.08, 1.08), aspect="equal", xlabel="real part")
        axes.set_xticks([-1, 0, 1])
        axes.set_yticks([-1, 0, 1])
    panels[0].plot(free.real, free.imag, "s", color=LRU_COLOUR, ms=4, mew=0)
    panels[0].plot(free[mode - 1].real, free[mode - 1].imag, "o", mfc="none", mec=INK, mew=1.6, ms=10)
    for head in tied.reshape(rot.heads, -1):
        turns = np.degrees(np.angle(head)) % 360
        panels[1].add_patch(Arc((0, 0), 2 * abs(head[0]), 2 * abs(head[0]), theta1=turns.min(), theta2=turns.max(),
                                color=ROTRNN, lw=0.8, zorder=1))  # fmt: skip
    panels[1].plot(tied.real, -tied.imag, "o", mfc="none", mec=ROTRNN, mew=0.7, ms=3.5, alpha=0.6)
    panels[1].plot(tied.real, tied.imag, "o", color=ROTRNN, ms=4, mew=0)
    one, other = mode_kernels(lru, mode)
    panels[2].plot(one, color=LRU_COLOUR, ls=(0, (4, 1.5)), lw=1.6, label="LRU")
    panels[2].plot(other, "o", mfc="none", mec=ROTRNN, mew=0.9, ms=4, label="RotRNN, n = 2")
    panels[2].set(xlim=(-1, LAGS), ylim=(-1.12, 1.12), xlabel="steps since the impulse")
    panels[2].set_yticks([-1, 0, 1])
    titles = f"LRU: {len(free)} moduli", f"RotRNN: {rot.heads} moduli", f"mode {mode}, and its head"
    for axes, title in zip(panels, titles):
        axes.set_title(title)
    figure.legend(*panels[2].get_legend_handles_labels(), loc="lower right", ncols=2, borderaxespad=0.2)
    return figure


def discs_sentence(task: str, n: int, mode: int) -> str:
    """What is free and what is tied here, and how far apart the two kernels are."""
    lru, rot = starting_layers(task, n)
    (low, high), theta = TABLE_3[task]
    one, other = mode_kernels(lru, mode)
    chosen = eigenvalues(lru)[mode - 1]
    tie = (f"Heads of n = {n}: {rot.heads} moduli for {rot.modes} angles, {n // 2} on each circle" if n > 2 else
           "Heads of n = 2: a modulus for every angle, and <b>nothing is tied</b>")  # fmt: skip
    return (f"{task} starts with |λ| from {low:g} to {high:g} and angles up to {math.degrees(theta):.3g}°. {tie}. "
            f"Mode {mode} has |λ| = {abs(chosen):.4f} and turns by {math.degrees(np.angle(chosen)) % 360:.1f}° a step; "
            f"its kernel and that of a head of width 2 are {_compared(one, other)}.")  # fmt: skip


def _compared(one: np.ndarray, other: np.ndarray) -> str:
    apart = np.abs(one - other).max()
    return "<b>the same</b>, to rounding" if apart < 1e-12 else f"<b>{apart:.2g} apart</b>"


DISCS_WIDGET = {  # what ``explore(discs, ...)`` is told
    "controls": {"task": list(TABLE_3), "n": [2, 4, 8, 16], "mode": [2, 4, 24, 29]},
    "initial": DISCS,
    "sentence": discs_sentence,
    "alt": "Eigenvalues of an LRU and a RotRNN on the unit disc, and the kernels of one mode and its head.",
}


# --- the size of a state ---------------------------------------------------------------------------------------------

DRIVE = np.array([[0.8, 0.2], [-0.4, 0.4]])  # B of the pair; Tr(B^T B) = 1


def show_sizes(sizes: np.ndarray, c: float, gamma: float | None = None) -> None:
    """Show the mean squared lengths of runs, from t = 1, beside the c of Lemma 3; with ``gamma`` those from x_0 = 0, from t = 0, and
    the theorem's c (1 - gamma^(2t))."""
    drawn, flat = np.asarray(sizes), np.abs(np.asarray(sizes) - c).max() < 0.1 * c
    told = f"Live. Lemma 3 promises the grey line; the runs {'keep it' if flat else 'leave it after one step'}."
    if gamma is not None:
        told = "Live. What to see: the runs follow the theorem, and reach the paper's constant only in the limit."
    begun = "" if gamma is None else " It climbs from 0."
    figure(_sizes(drawn, c, gamma), f"The mean squared length of the states against the step, beside a grey line at c.{begun}", told)


@styled
def _sizes(sizes: np.ndarray, c: float, gamma: float | None) -> Figure:
    drawn, axes = new_figure(2.6, left=0.75, right=1.75, top=0.2, bottom=0.55)
    steps = np.arange(len(sizes)) + (gamma is None)
    axes.axhline(c, color=SOURCES["paper"].colour, lw=2.5, label=f"paper: {c:g}, always")
    axes.plot(steps, sizes, "o-" if gamma is None else "o", color=LIVE, lw=1.4, ms=4.5, label="2,000 runs")
    if gamma is not None:
        axes.plot(steps, c * (1 - gamma ** (2 * steps)), color=INK, lw=1.4, label="theorem")
    axes.set(xlim=(steps[0] - 0.3, steps[-1]), ylim=(0, 1.2 * max(c, *sizes)), xlabel="step t", ylabel="mean of ‖xₜ‖²")
    label_ends(axes)
    return drawn


# --- a rotation to turn, and the norm that climbs --------------------------------------------------------------------

RHOS = (-0.9, 0.0, 0.5, 0.9, 0.99)
LAST, RUNS = 2000, 100  # steps and runs of the simulation
TURNS = [0, 5, 20, 45, 120, 180]
CLIMB = {"gamma": 0.99, "rho": 0.0, "theta": 45, "x_0": "zero"}  # what the pictures open on
STEPS = 60  # of the trajectory


def norm_curve(gamma: float, rho: float, theta: float, start: str, T: int = LAST) -> np.ndarray:
    """E||x_t||^2 of a pair with c = 1 under AR(1) input, t = 0 to T: (T + 1,)."""
    from scipy.signal import lfilter  # half a second to load

    angle = math.radians(theta)
    norms = norm_over_time(gamma, angle, rho, float(start == "unit"), T)
    if start == "scaled first step":
        more, m, steps = (1 - gamma**2) ** -0.5 - 1, rho * cmath.rect(gamma, angle), np.arange(T)
        product = lfilter([1], [1, -(gamma**2)], (m**steps).real)
        norms[1:] += (1 - gamma**2) * (more**2 * gamma ** (2 * steps) + 2 * more * product)
    return norms


def simulated_norms(gamma: float, rho: float, theta: float, start: str, T: int = LAST, runs: int = RUNS) -> np.ndarray:
    """||x_t||^2 of K runs, t = 1 to T: (K, T).  The input is Gaussian and stationary, two numbers a step, through B."""
    from scipy.signal import lfilter

    noise = np.random.default_rng(0).standard_normal((runs, T, 2))
    noise[:, 1:] *= math.sqrt(1 - rho**2)  # the first one is as it is: so u has variance 1 from the beginning
    u = lfilter([1], [1, -rho], noise, axis=1)
    drive = math.sqrt(1 - gamma**2) * (u @ (DRIVE[0] + 1j * DRIVE[1]))  # (K, T): a pair of states is one complex number
    if start == "scaled first step":
        drive[:, 0] /= math.sqrt(1 - gamma**2)
    transition = cmath.rect(gamma, math.radians(theta))
    before = np.full((runs, 1), transition * (start == "unit"))
    return np.abs(lfilter([1], [1, -transition], drive, axis=1, zi=before)[0]) ** 2


@styled
def norm_climb(gamma: float, rho: float, theta: float, x_0: str) -> Figure:
    """E||x_t||^2 against t: the paper's flat line, the formula, and the mean of simulated runs with two errors."""
    formula = norm_curve(gamma, rho, theta, x_0)[1:]
    squares = simulated_norms(gamma, rho, theta, x_0)
    mean, error = squares.mean(0), squares.std(0) / math.sqrt(len(squares))
    figure, axes = new_figure(3.5, left=0.75, right=1.25, top=0.4, bottom=0.55)
    t = np.arange(1, LAST + 1)
    low, high = (10.0 ** turn(math.log10(value)) for turn, value in
                 ((math.floor, min(0.1, formula.min() / 1.2)), (math.ceil, max(2, 1.2 * formula.max()))))  # fmt: skip
    shown = np.unique(np.geomspace(1, LAST, 120).astype(int)) - 1  # as many points as the eye can tell apart
    axes.fill_between(t[shown], *(np.clip((mean + side * error)[shown], low / 10, None) for side in (-2, 2)),
                      color=LIVE, alpha=0.25, lw=0)  # fmt: skip
    axes.plot([1, LAST], [1, 1], color=FAINT, lw=2.5, label="paper: 1, always")
    axes.plot(t[shown], formula[shown], color=INK, lw=1.6, label="formula")
    axes.plot(t[shown], mean[shown], color=LIVE, lw=1.2, ls=(0, (1, 1.5)), label=f"{RUNS} runs")
    powers = [10.0**k for k in range(-4, 4) if low <= 10.0**k <= high]
    log_ticks(axes, x=(1, 10, 100, 1000), y={power: f"{power:,.4g}" for power in powers})
    axes.set(xlim=(1, LAST), ylim=(low, high), xlabel="step t", ylabel="E‖xₜ‖²",
             title=f"γ = {gamma:g}, ρ = {rho:g}, θ = {theta}°, x₀: {x_0}")  # fmt: skip
    label_ends(axes)
    return figure


def settled(norms: np.ndarray, limit: float) -> int | None:
    """The first t from which on the norms stay within 5 % of their limit; None if they do not yet at the last."""
    away = np.flatnonzero(np.abs(norms - limit) > 0.05 * limit)
    first = int(away[-1]) + 1 if len(away) else 0
    return first if first < len(norms) else None


def norm_sentence(gamma: float, rho: float, theta: float, x_0: str) -> str:
    """What the norm does here, and whether the paper's statement is true of it."""
    norms, limit = norm_curve(gamma, rho, theta, x_0), stationary_norm(gamma, math.radians(theta), rho)
    since = settled(norms[1:], limit)
    when = f"from step {since + 1:,} on" if since is not None else f"only after step {LAST:,}"
    told = f"After one step E‖x‖² is {norms[1]:.3g}, in the long run {limit:.3g}; it stays within 5 % of that {when}: "
    if np.abs(norms[1:] - 1).max() < 1e-9:
        return told + "<b>here the paper's statement is true</b>, the norm is 1 at every step."
    if rho == 0:
        return told + ("<b>1 is the limit, not the value</b>. All steps of Lemma 3 hold, but its hypothesis E‖x₁‖² = c "
                       "does not. What θ is makes no difference, because the input is white.")  # fmt: skip
    return told + ("the input is <b>not white</b>, so step 2 of Lemma 3 fails: the state holds earlier inputs, which "
                   "are correlated with this one. The angle decides how large the state becomes: "
                   f"{limit:.3g} times what the paper says.")  # fmt: skip


CLIMB_WIDGET = {  # what ``explore(norm_climb, ...)`` is told
    "controls": {"gamma": [0.5, 0.9, 0.97, 0.99, 0.999], "rho": list(RHOS), "theta": [0, 15, 45, 90, 180],
                 "x_0": ["zero", "unit", "scaled first step"]},
    "initial": CLIMB,
    "sentence": norm_sentence,
    "alt": "Expected squared norm of the state against the step: the paper's line, the formula, and simulated runs.",
}


def turning_head(theta_1: float, theta_2: float, gamma: float) -> Head:
    """A head of width 4 with these two angles (degrees), and P, B, C that are always the same; one input, one output."""
    M = np.array([[0, 0.9, -0.7, 0.2], [0, 0, 0.8, 0.6], [0, 0, 0, -1.1], [0, 0, 0, 0]])
    P = expm(M - M.T)
    drive = P @ np.array([0.8, 0.0, 0.6, 0.0])  # in the coordinates of P, both pairs start on their first axis
    return Head(gamma, np.radians([theta_1, theta_2]), P, drive[:, None], np.array([[0.9, 0.1, 0.7, -0.4]]))


def impulse(head: Head, steps: int = STEPS) -> tuple[np.ndarray, np.ndarray]:
    """(states (T, N), outputs (T,)) after one impulse, in units in which the first state has size 1."""
    states = head.states(np.eye(steps, 1)) / (head.xi * np.linalg.norm(head.B))
    return states, states @ head.C[0]


@styled
def turning(theta_1: int, theta_2: int, gamma: float, P: str) -> Figure:
    """Left, two of the four numbers of the state after one impulse, step by step; right, the output of both layers."""
    head = turning_head(theta_1, theta_2, gamma)
    (kept, y), (plain, plain_y) = impulse(head), impulse(absorb(head))
    states, names = (kept, ("x₁", "x₂")) if P == "kept" else (plain, ("(Pᵀx)₁", "(Pᵀx)₂"))
    figure, (left, right) = new_figure(3.4, columns=2, left=0.75, right=0.2, top=0.4, bottom=0.85, gap=0.8)
    left.add_patch(Circle((0, 0), 1, fill=False, ec=FAINT, lw=1.2))
    left.plot(states[:, 0], states[:, 1], color=FAINT, lw=0.8)
    left.scatter(states[:, 0], states[:, 1], c=np.arange(STEPS), cmap="viridis_r", s=22, zorder=3, lw=0)
    left.plot(*states[0, :2], "o", mfc="none", mec=INK, mew=1.6, ms=9, zorder=4)
    left.set(xlim=(-1.08, 1.08), ylim=(-1.08, 1.08), aspect="equal", xlabel=names[0], ylabel=names[1],
             title=f"state, P {P}")  # fmt: skip
    t, size = np.arange(STEPS), np.linalg.norm(head.C)
    right.plot(t, y, color=INK, lw=1.4, label="P kept")
    right.plot(t, plain_y, "o", mfc="none", mec=LIVE, mew=1.1, ms=5.5, label="P absorbed")
    for side in (-1, 1):
        right.plot(t, side * size * gamma**t, color=FAINT, lw=1.0, ls=(0, (4, 3)))
    right.set(xlim=(-1, STEPS), ylim=(-1.08 * size, 1.08 * size), xlabel="step t", title="output y")
    shown = [*right.lines[:2], Line2D([], [], color=FAINT, lw=1.0, ls=(0, (4, 3)), label="±‖C‖ γᵗ")]
    figure.legend(handles=shown, loc="lower right", ncols=3, borderaxespad=0.2)
    return figure


def turning_sentence(theta_1: int, theta_2: int, gamma: float, P: str) -> str:
    """Where the pair is at the end, what the left panel shows, and how far apart the outputs are."""
    head, last = turning_head(theta_1, theta_2, gamma), STEPS - 1
    seen = ("with P kept, each number of the state mixes both angles, and only the size of all four shrinks evenly"
            if P == "kept" else "with P absorbed, the first pair is alone on its spiral")  # fmt: skip
    return (f"After {last} steps the first pair has turned by {last} · {theta_1}° = {last * theta_1:,}° and the state "
            f"has shrunk to γ<sup>{last}</sup> = {gamma**last:.3g}; {seen}. The outputs with P "
            f"and without are {_compared(impulse(head)[1], impulse(absorb(head))[1])}.")  # fmt: skip


TURNING_WIDGET = {  # what ``explore(turning, ...)`` is told
    "controls": {"theta_1": TURNS, "theta_2": TURNS, "gamma": [0.8, 0.95, 0.98, 0.999], "P": ["kept", "absorbed"]},
    "initial": {"theta_1": 20, "theta_2": 45, "gamma": 0.98, "P": "absorbed"},
    "sentence": turning_sentence,
    "alt": "The path of two numbers of the state after an impulse, and the outputs of the layer with P and without.",
}


# --- the norm in a trained network -----------------------------------------------------------------------------------

@picture
def norm_along_time(found: pd.DataFrame) -> Figure:
    """Squared norms along a string after training (``rotrnn/fig3``) over the formula's limit for white input, where the paper's
    flat line is at 1: a row for each run, a column a layer; points are white input, the line is ListOps, down to 16 strings."""
    depth = len(found["time"].iloc[0])
    cells = [(run.row, layer, time) for run in found.itertuples() for layer, time in enumerate(run.time, 1)]
    titles = [f"{LOOKS[row][0].split(',')[0]}, layer {layer}" if not place or layer == 1 else ""
              for place, row in enumerate(found["row"]) for layer in range(1, depth + 1)]  # fmt: skip
    figure, grid = panels(titles, depth, 2.0 * len(found) + 0.85, "position t", r"$\mathrm{E}\|x_t\|^2$ / limit", left=0.75,
                          right=0.15, gap=0.15, top=0.65, sharex=True)  # fmt: skip
    figure.subplots_adjust(hspace=0.25)
    for axes, (row, _, time) in zip(grid, cells):
        _time(axes, time, LOOKS[row][1].colour)
    figure.legend(*grid[0].get_legend_handles_labels(), loc="upper center", ncols=4)
    return figure


def _time(axes: Axes, time: Mapping, colour: str) -> None:
    limit, at = time["limit"], np.arange(1, len(time["formula"]) + 1)
    white, formula, real = (np.array(time[name], dtype=float) / limit for name in ("white", "formula", "real"))
    axes.axhline(1, color=SOURCES["paper"].colour, ls=(0, (4, 3)), label="paper: constant")
    axes.plot(at, formula, color=INK, lw=1.2, label="white input, derived")
    axes.plot(at[::6], white[::6], ls="", marker="o", ms=4, color=INK, label="white input, measured")
    enough = np.array(time["strings"]) >= FEWEST
    axes.plot(at[enough], real[enough], color=colour, label="ListOps")
    axes.set(xlim=(1, at[-1]), yscale="log")
    axes.tick_params(labelsize=SMALL)
