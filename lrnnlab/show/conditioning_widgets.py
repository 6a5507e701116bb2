"""Pictures of chapter 06 that follow a slider: weights and kernels in floats, the price of a shift, the running sum.

Letters: N modes, L length, S lag of the 1, k lag; lambda nodes, w weights, K kernel; u input, x state.
"""

from __future__ import annotations

from math import log10, sqrt
from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from scipy.signal import lfilter

from lrnnlab.show.conditioning_figures import circle_angles, shift_costs, stems
from lrnnlab.show.style import FAINT, INK, SMALL, new_figure, styled
from lrnnlab.algebra.float_limits import DIGITS, LARGEST, overflow_length, running_sum, shift_weights
from lrnnlab.algebra.shift_norms import smallest_norm

MODES = (*range(2, 33), 36, 40, 48, 56, LARGEST)
LENGTHS = (8, 16, 32, 64, 128, 256, 512)
PERCENTS = tuple(range(1, 100, 2))  # a shift as a share of L: S = L percent // 100
LAMBDAS = (0.5, 0.7, 0.9, 0.95, 0.99, 0.995, 0.999)
PLACES = 500  # points of a drawn curve; each is the largest of its stretch
EXACT = 1e-18  # an error below this is drawn and told as this; with lambda = 1/2 in float64 it is 0
WRONG = 0.5  # an error from here on, and the largest tap may be another one


@styled
def float_kernels(interval: str, N: int) -> Figure:
    """Left, |w| at its nodes on a log axis; right, the kernel in float32 and float64: 1 at lag N-1 is asked for.

    Rings are what is asked for, dots what comes out; a dot outside the panel is drawn as a cross at its edge.
    ValueError as in ``shift_weights``.

    >>> [axes.get_title("left") for axes in float_kernels("[0,1]", 40).axes][-1]
    '|w|, N = 40, [0,1]'
    """
    found = shift_weights(N, interval)
    figure, axes = new_figure(3.9, columns=2, rows=2, left=0.75, gap=0.7)
    low, high, round_ = 2.0**-8, 2.0**124, interval == "circle"
    left = figure.add_subplot(axes[0, 0].get_gridspec()[:, 0])
    for panel in axes[:, 0]:
        panel.remove()
    stems(left, circle_angles(found.nodes) if round_ else found.nodes, found.weights, low)
    for digits in DIGITS.values():
        left.axhline(2.0**digits, color=INK, lw=1.2, ls=(0, (4, 3)), zorder=4)
    left.set(yscale="log", ylim=(low, high), xlim={"[-1,1]": (-1.04, 1.04)}.get(interval, (-0.02, 1.02)),
             xlabel="angle of the node, in turns" if round_ else "node", title=f"|w|, N = {N}, {interval}")  # fmt: skip
    names = {2**digits: f"{precision}\n2^{digits}" for precision, digits in DIGITS.items()}
    left.set_yticks([1, *names, 2.0**80, 2.0**110], ["1", *names.values(), "2^80", "2^110"])
    left.minorticks_off()
    kernels = {"float32": (found.kernel32, found.error32), "float64": (found.kernel64, found.error64)}
    for panel, (precision, (kernel, error)) in zip(axes[:, 1], kernels.items()):
        _kernel(panel, kernel)
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
    panel.plot(np.flatnonzero(~inside), np.where(kernel[~inside] > high, high, low), "x", color=INK, mew=1.6, ms=6,
               clip_on=False)  # fmt: skip
    panel.set(xlim=(-0.03 * N - 0.4, 1.03 * N - 0.6), ylim=(low, high))
    panel.set_yticks([0, 1])
    panel.xaxis.set_major_locator(MaxNLocator(6, integer=True))


def error_words(error: float) -> str:
    """A kernel's largest error in words, to a power of ten: it is the last digits' business and no more.

    >>> error_words(0.0469), error_words(3e9), error_words(float("inf"))
    ('right to 0.1', 'wrong by 1e+09', 'wrong, no number')
    """
    if not np.isfinite(error):
        return "wrong, no number"
    if error >= WRONG:
        return f"wrong by {10.0 ** np.floor(log10(error)):.0e}" if error >= 10 else "wrong by 1 or more"
    return f"right to {10.0 ** np.ceil(log10(max(error, 1e-300))):.2g}"


def float_sentence(interval: str, N: int) -> str:
    """What the chosen weights are, and which floats are left.

    >>> float_sentence("[0,1]", 20)[:75]
    'N = 20 nodes in [0,1]: the weights add up to 2^37, and the kernel is sums o'
    """
    found, power = shift_weights(N, interval), smallest_norm(N, N - 1, interval).bit_length() - 1
    lost = [name for name, error in (("float32", found.error32), ("float64", found.error64)) if not error < WRONG]
    says = {0: "Both floats still hold the shift", 1: "float32 has <b>lost</b> the shift, float64 still holds it",
            2: "Both floats have <b>lost</b> the shift"}[len(lost)]  # fmt: skip
    if interval == "circle":
        return f"N = {N} nodes on the circle: every |w| is 1/{N}, they add up to 1, at every N. {says}."
    return (f"N = {N} nodes in {interval}: the weights add up to 2^{power}, and the kernel is sums of such numbers that must "
            f"give 0 and 1. float32 has 24 binary digits, float64 has 53. {says}.")  # fmt: skip


def shift_of(L: int, percent: int) -> int:
    """S = L percent // 100.

    >>> shift_of(256, 71)
    181
    """
    return L * percent // 100


def cost_picture(interval: str, L: int, percent: int) -> Figure:
    """``shift_costs`` with the shift as a share of L.

    >>> cost_picture("[0,1]", 16, 50).axes[0].get_xlabel()
    'shift S'
    """
    return shift_costs(L, shift_of(L, percent), interval)


def cost_sentence(interval: str, L: int, percent: int) -> str:
    """The least ||w||_1 of the chosen shift, the dearest one, and how far floats are from it.

    >>> cost_sentence("[0,1]", 8, 70)
    'A shift by S = 5 of L = 8 with nodes in [0,1] costs ||w||₁ = 39,424. It is the <b>dearest</b> of this L.'
    """
    S, costs = shift_of(L, percent), [smallest_norm(L, place, interval) for place in range(L)]
    if interval == "circle":
        return f"A shift by S = {S} of L = {L} with nodes on the circle costs ||w||₁ = 1, as every shift does."
    dearest, price = costs.index(max(costs)), costs[S]
    text = f"{price:,}" if price < 10**6 else f"10^{log10(price):.1f}"
    said = f"A shift by S = {S} of L = {L} with nodes in {interval} costs ||w||₁ = {text}."
    if S == dearest:
        return f"{said} It is the <b>dearest</b> of this L."
    return (f"{said} The dearest is S = {dearest} (0.707 (L − 1) = {(L - 1) / sqrt(2):.1f}), "
            f"with 10^{log10(costs[dearest]):.1f}.")  # fmt: skip


class Sums(NamedTuple):
    """What ``summed`` returns: lags, errors there as shares of max |x|, the first lag without a number, or None."""

    k: np.ndarray
    errors: np.ndarray
    observed: int | None
    predicted: float


def summed(lam: float, precision: str, seed: int = 0) -> Sums:
    """The running sum of random inputs against the recurrence in float64: the largest error of each stretch of lags.

    ValueError unless 0 < lam < 1, or for a precision that NumPy has not.

    >>> found = summed(0.9, "float32")
    >>> 800 < found.observed <= 843, bool(found.errors[:300].max() < 1e-5)
    (True, True)
    """
    predicted = overflow_length(lam, precision)
    lam = float(np.array(lam, precision))
    u = np.random.default_rng(seed).uniform(-1, 1, int(1.05 * predicted) + 2).astype(precision)
    x, want = running_sum(lam, u, precision), lfilter([1], [1, -lam], u.astype(float))
    finite = np.isfinite(x)
    observed = None if finite.all() else int(np.argmin(finite))
    good = slice(0, observed)
    errors, k = np.abs(x[good] - want[good]) / np.abs(want).max(), np.arange(len(u))[good]
    starts = np.unique(np.linspace(0, len(k), PLACES, endpoint=False).astype(int))
    return Sums(k[starts], np.maximum.reduceat(errors, starts), observed, predicted)


@styled
def sum_picture(lam: float, precision: str) -> Figure:
    """The running sum's error along k, and where it must overflow.

    >>> sum_picture(0.9, "float32").axes[0].get_xlabel()
    'k'
    """
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
    """How far the running sum reaches, in one sentence.

    >>> sum_sentence(0.5, "float32")[:66]
    'λ = 0.5 in float32: λ^(-k) overflows from k = 128 on. Up to there '
    """
    found = summed(lam, precision)
    worst = 10.0 ** np.ceil(log10(max(found.errors.max(), EXACT)))
    reach = "to the end of the picture" if found.observed is None else f"up to k = {found.observed:,}"
    return (f"λ = {lam:g} in {precision}: λ^(-k) overflows from k = {found.predicted:,.0f} on. Up to there the sum is "
            f"accurate: finite {reach}, with errors below {worst:.0e} of the largest |x|.")  # fmt: skip
