"""Pictures of RotRNN (paper 001): the network (Fig. 1), the layer with its heads (Fig. 2), and where eigenvalues start.

Both diagrams are drawn from a network or layer that runs, with its sizes.

Letters: T time, D width, N state size, h heads, n = N/h size of a head, K = N/2 modes; gamma decay, theta angle,
lambda = gamma e^(i theta) eigenvalue; u input, x state, y output.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Arc, Circle, FancyBboxPatch, Wedge

from lrnnlab.show.norm_figures import LOOKS
from lrnnlab.show.style import FAINT, GRID, INK, PAGE, SMALL, new_figure, styled
from lrnnlab.models.lru import LRU
from lrnnlab.models.rotrnn import RotRNN
from lrnnlab.models.net import Net
from lrnnlab.algebra.lru_equivalence import Modes, as_heads

ROTRNN, LRU_COLOUR = LOOKS["rotrnn"].colour, LOOKS["lru_learned"].colour  # as in Figure 3
TABLE_3 = {  # of paper 001: the range of gamma, and the largest theta, at the start
    "ListOps": ((0.5, 0.999), math.pi / 100), "Text": ((0.5, 0.8), math.pi / 10),
    "Retrieval": ((0.5, 0.999), 2 * math.pi), "Image": ((0.99, 0.999), 2 * math.pi),
    "Pathfinder": ((0.1, 0.9999), math.pi / 10), "Path-X": ((0.999, 0.9999), math.pi / 10),
    "Speech Commands": ((0.1, 0.9999), math.pi / 10),
}  # fmt: skip
STATE = 64  # N of the RotRNN in the discs, twice the LRU's number of modes
HEAD_SIZES, MODES = (2, 4, 8, 16), (2, 4, 24, 29)  # to choose from
LAGS = 60  # of the kernels
GATE_TEXT = {"half_glu1": "a · σ(Wa)", "half_glu2": "y · σ(Wa)", "full_glu": "Va · σ(Wa)", "linear": "Va", "none": "a"}


def _canvas(height: float):
    """A figure with one axes whose units are inches."""
    figure, axes = new_figure(height, left=0, right=0, top=0, bottom=0)
    axes.set(xlim=(0, PAGE), ylim=(0, height))
    axes.set_axis_off()
    return figure, axes


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


@styled
def architecture(net: Net) -> Figure:
    """The network, and one of its blocks larger: what stands in Figure 1 of paper 001, with this network's sizes.

    Blocks must be pre-norm ones, as the paper's are: ValueError otherwise.

    >>> from lrnnlab.models.net import PAPER_001, blocks
    >>> made = blocks(RotRNN, 32, 6, **PAPER_001)
    >>> net = Net(made, 10, 32, vocab_size=18, encoder="linear", pool="mean")
    >>> [text.get_text() for text in architecture(net).axes[0].texts][:2]
    ['inputs\\nT × 18', 'Linear\\n18 → 32']
    """
    block, D = net.blocks[0], net.width
    if block.place != "pre":
        raise ValueError(f"Figure 1 has the norm before the layer, got blocks with place {block.place!r}")
    size, C = net.vocab_size or net.columns, net.outputs
    figure, axes = _canvas(2.75)
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
    """The layer as h independent heads, mixed at the end: Figure 2 of paper 001, with this layer's gammas and thetas.

    A dial is the unit disc; a head's dots are its eigenvalues, all at the distance gamma from the centre.  ValueError
    for more than 6 heads, which no page holds.

    >>> figure = layer_heads(RotRNN(3, state=8, heads=2))
    >>> len([patch for patch in figure.axes[0].patches if isinstance(patch, Circle)])
    2
    """
    if layer.heads > 6:
        raise ValueError(f"a picture holds at most 6 heads, got {layer.heads}")
    D, n, N = len(layer.skip), layer.B.shape[1], 2 * layer.modes
    figure, axes = _canvas(0.95 * layer.heads + 0.5)
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


def starting_layers(task: str, n: int, seed: int = 0) -> tuple[LRU, RotRNN]:
    """An LRU of 32 modes and a RotRNN of 64 states in heads of n, fresh, in the ranges of Table 3 for the task.

    torch's generator is left as it was.  ValueError for a task that the table has not.

    >>> lru, rot = starting_layers("Text", 8)
    >>> lru.modes, rot.modes, rot.heads
    (32, 32, 8)
    """
    if task not in TABLE_3:
        raise ValueError(f"Table 3 has {', '.join(TABLE_3)}, got {task!r}")
    moduli, theta = TABLE_3[task]
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        lru = LRU(1, state=STATE // 2, modulus=moduli, phase=theta)
        return lru, RotRNN(1, state=STATE, heads=STATE // n, gamma=moduli, theta=theta, rotation="absorbed")


def eigenvalues(layer: LRU | RotRNN) -> np.ndarray:
    """lambda of every mode, (K,) complex; of a RotRNN's real A the conjugates are eigenvalues as well.

    >>> eigenvalues(RotRNN(1, state=8, heads=2)).shape
    (4,)
    """
    return torch.exp(layer.system().log.detach().to(torch.complex128)).numpy()


def mode_kernels(lru: LRU, mode: int) -> tuple[np.ndarray, np.ndarray]:
    """The impulse response of one mode, (T,), and of the head of width 2 made of it, each in units of its largest.

    ValueError for a mode that there is not.

    >>> one, other = mode_kernels(starting_layers("Text", 2)[0], 3)
    >>> bool(np.allclose(one, other))
    True
    """
    if not 1 <= mode <= lru.modes:
        raise ValueError(f"modes are counted from 1 to {lru.modes}, got {mode}")
    pick = slice(mode - 1, mode)
    drive, read = (torch.view_as_complex(part).detach().numpy().astype(complex) for part in (lru.B, lru.C[0]))
    one = Modes(eigenvalues(lru)[pick], drive[pick], read[:, pick])
    kernels = [part.kernel(LAGS)[:, 0, 0] for part in (one, *as_heads(one))]
    return tuple(kernel / np.abs(kernels[0]).max() for kernel in kernels)


@styled
def discs(task: str, n: int, mode: int) -> Figure:
    """Where eigenvalues lie at the start, LRU left and RotRNN in the middle; right, a mode's kernel and its head's.

    The grey sector is what Table 3 allows.  An arc joins the eigenvalues of one head; hollow are the conjugates, which
    the real A of a RotRNN has too.  The mode is counted in the LRU, where it is ringed.

    >>> [axes.get_title("left") for axes in discs("Text", 8, 1).axes]
    ['LRU: 32 moduli', 'RotRNN: 8 moduli', 'mode 1, and its head']
    """
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
    """What is free and what is tied here, and how far apart the two kernels are.

    >>> discs_sentence("Text", 8, 1).split(". ")[1]
    'Heads of n = 8: 8 moduli for 32 angles, 4 on each circle'
    """
    lru, rot = starting_layers(task, n)
    (low, high), theta = TABLE_3[task]
    one, other = mode_kernels(lru, mode)
    chosen = eigenvalues(lru)[mode - 1]
    tie = (f"Heads of n = {n}: {rot.heads} moduli for {rot.modes} angles, {n // 2} on each circle" if n > 2 else
           "Heads of n = 2: a modulus for every angle, and <b>nothing is tied</b>")  # fmt: skip
    apart = np.abs(one - other).max()
    same = "<b>the same</b>, to rounding" if apart < 1e-12 else f"<b>{apart:.2g} apart</b>"
    return (f"{task} starts with |λ| from {low:g} to {high:g} and angles up to {math.degrees(theta):.3g}°. {tie}. "
            f"Mode {mode} has |λ| = {abs(chosen):.4f} and turns by {math.degrees(np.angle(chosen)) % 360:.1f}° a step; "
            f"its kernel and that of a head of width 2 are {same}.")  # fmt: skip
