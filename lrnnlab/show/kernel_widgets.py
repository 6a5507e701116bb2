"""Where a layer's modes start, and what products of modes reach (chapter 05): pictures for two widgets, with sentences.

Letters: N modes, L length; lambda nodes, r a factor on |lambda|.
"""

from __future__ import annotations

from math import pi

import numpy as np
from matplotlib.figure import Figure

from lrnnlab.show.modes_on_disc import MOVED, Disc
from lrnnlab.show.style import FAINT, INK, SMALL, new_figure, styled
from lrnnlab.algebra.circle_modes import arc_nodes, power_table, spectrum

STARTS = ("off the grid", "DFT grid")  # of the modes of a product
ROUNDING = 1e-15  # singular values below this share of the largest are rounding, which every processor does otherwise


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
    values = np.maximum(found["values"] / found["values"][0], ROUNDING)
    axes.plot(np.arange(1, len(values) + 1), values, "o", color=MOVED, ms=4.5)
    axes.axhline(1e-10, color=FAINT, lw=1.2, ls=(0, (4, 3)))
    axes.annotate("below counts as 0", (1, 1e-10), (0, -3), xycoords=("axes fraction", "data"),
                  textcoords="offset points", fontsize=SMALL, va="top", ha="right")  # fmt: skip
    axes.set(yscale="log", ylim=(1e-16, 5), xlim=(0.5, len(values) + 0.5), xlabel="number",
             ylabel="share of the largest", title=f"singular values, rank {found['rank']} of {len(values)}")  # fmt: skip
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.set_yticks([1, 1e-5, 1e-10, 1e-15])
    axes.minorticks_off()
    Disc(figure.add_axes([0.01, 0.02, 3.15 / 7.2, 3.15 / 3.3 * 0.95])).show(nodes, nodes, np.ones(N))
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
    not a proof: that is :func:`lrnnlab.algebra.kernel_products.dlr_prod`.)

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
    values = np.maximum(product_spectrum(N, start), ROUNDING)
    figure, axes = new_figure(2.9, top=0.45)
    axes.plot(np.arange(1, len(values) + 1), values, "o-", color=MOVED, ms=4.5, lw=0.8)
    for at, name in ((N * (N + 1), "N(N+1)"), (4 * N * N, "4N²")):
        axes.axvline(at, color=INK, lw=1.2, ls=(0, (4, 3)))
        axes.annotate(f"{name} = {at}", (at, 1), (0, 3), xycoords=("data", "axes fraction"), ha="center",
                      textcoords="offset points", fontsize=SMALL)  # fmt: skip
    axes.set(yscale="log", ylim=(1e-16, 5), xlim=(0, len(values) + 1), ylabel="share of the largest",
             xlabel="singular value of the Hankel matrix of Re K Im K, by size")  # fmt: skip
    axes.set_yticks([1, 1e-5, 1e-10, 1e-15])
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
