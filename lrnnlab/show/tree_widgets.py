"""Noise in RegularGPT's recursion (chapter 08): how errors of the letters grow from layer to layer, and a cure.

Paper 002, Sec. 7.2 applies Lemma 1's network to its own outputs.  ``proofs.error_correction`` has the theory; here are
a string of 512 letters, a slider for the size of the errors, and the layer with and without re-binarisation.

Letters: T time, n states, l layers done, e size of the errors.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from matplotlib.figure import Figure

from lrnnlab.show.style import FAINT, INK, LIVE, label_ends, new_figure, styled
from lrnnlab.algebra.chunk_composition import compose
from lrnnlab.algebra.clusters import machine_of
from lrnnlab.algebra.error_correction import reach, rebinarised, simulate, worst_errors
from lrnnlab.algebra.recursion import states_read

NOISY = ("Parity", "Cycle Navigation", "S_3")
NOISES = (0.0, 0.005, 0.01, 0.02, 0.04, 0.08, 0.12, 0.125, 0.13, 0.16, 0.2, 0.24)
LAYERS = {"Lemma 1": compose, "re-binarised": rebinarised}
PLACES = {"the letters": False, "every layer": True}
T = 512
FLAT, TOP = 0.01, 1e7  # errors below FLAT are drawn to scale, above it their logarithms


@dataclass(frozen=True)
class Noisy:
    """By layers done, 0..9: ``errors`` the largest found, ``worst`` the largest that can be, ``right`` the share of
    positions whose state is read as without noise."""

    n: int
    errors: np.ndarray
    worst: np.ndarray
    right: np.ndarray


@lru_cache(maxsize=8)  # the picture and the sentence under it ask for the same run
def noisy_run(task: str, e: float, layer: str, noise: str) -> Noisy:
    """The recursion on a random string of 512 letters, its letters (or every layer's output too) wrong by up to e.

    The letters are permutations, so the worst case does not depend on the word (``proofs.error_correction``).
    ValueError for a name that there is not, or a negative e.

    >>> bool(noisy_run("Parity", 0.125, "re-binarised", "every layer").errors.max() <= 0.125)
    True
    >>> noisy_run("Cycle Navigation", 1 / 32, "Lemma 1", "the letters").worst.tolist()[:5]
    [0.03125, 0.125, 0.375, 1.0, 5.5]
    """
    for name, known in ((task, NOISY), (layer, LAYERS), (noise, PLACES)):
        if name not in known:
            raise ValueError(f"{name!r} is none of {', '.join(known)}")
    machine, draw = machine_of(task), np.random.default_rng(0)
    tokens = draw.integers(machine.num_symbols, size=T)
    found = simulate(machine, tokens, e, draw, LAYERS[layer], PLACES[noise])
    right = states_read(found.layers, machine) == states_read(found.exact, machine)
    again = e * PLACES[noise]
    worst = [_worst(machine.num_states, side * e, len(found.errors) - 1, LAYERS[layer], side * again) for side in (-1, 1)]
    return Noisy(machine.num_states, found.errors, np.max(worst, axis=0), right.mean(1))


def _worst(n: int, e: float, depth: int, layer: Callable, again: float) -> list[float]:
    """The errors by layer of an n x n permutation with e on every number at first, and ``again`` after every layer."""
    rows = worst_errors(n, abs(e), depth, lambda A, B: layer(A, B) + again)
    return [max(abs(row["ones"][e > 0] - 1), abs(row["zeros"][e > 0])) for row in rows]


@styled
def noise_picture(task: str, e: float, layer: str, noise: str) -> Figure:
    """Left, the largest error by layers done, found and possible; right, the share of states that can still be read.

    The dashed line is what re-binarisation removes wholly; the dotted one what reading by chance gives.

    >>> noise_picture("Parity", 0.04, "Lemma 1", "the letters").axes[0].get_ylabel()
    'largest error of a number'
    """
    run = noisy_run(task, e, layer, noise)
    figure, (left, right) = new_figure(3.3, columns=2, left=0.75, right=0.95, top=0.4, bottom=0.55, gap=1.85)
    done = np.arange(len(run.errors))
    left.axhline(float(reach(2)), color=INK, lw=1.0, ls=(0, (4, 3)))
    left.plot(done, run.worst, color=FAINT, marker="^", ms=4)
    left.plot(done, run.errors, color=LIVE, marker="o", ms=4)
    left.set_yscale("symlog", linthresh=FLAT, linscale=0.5)
    left.set(ylim=(-FLAT / 5, TOP), xlim=(0, done[-1]), xlabel="layers done", ylabel="largest error of a number",
             title=f"{task}, e = {e:g}")  # fmt: skip
    left.set_yticks([0, 0.01, 0.1, 1, 100, 1e4, 1e6], ["0", "0.01", "0.1", "1", "100", "10,000", "1,000,000"])
    left.minorticks_off()
    label_ends(left, [(min(run.worst[-1], TOP), "at worst", FAINT), (min(run.errors[-1], TOP), "found", LIVE),
                      (float(reach(2)), "1/8", INK)])  # fmt: skip
    right.axhline(1 / run.n, color=FAINT, lw=1.2, ls=(0, (1, 2)))
    right.plot(done, run.right, color=LIVE, marker="o", ms=4, clip_on=False)
    right.set(ylim=(0, 1), xlim=(0, done[-1]), xlabel="layers done", title="states read right")
    right.set_yticks([0, 0.25, 0.5, 0.75, 1], ["0", "25 %", "50 %", "75 %", "100 %"])
    for axes in (left, right):
        axes.set_xticks(done)
    label_ends(right, [(1 / run.n, "chance", FAINT), (run.right[-1], "read", LIVE)])
    return figure


def noise_sentence(task: str, e: float, layer: str, noise: str) -> str:
    """What is left of the states after the last layer.

    >>> noise_sentence("Parity", 0.04, "re-binarised", "the letters")
    'Errors of up to 0.04 in the letters: <b>gone</b> after the first layer, for any string of any length (0.04 ≤ 1/8).'
    """
    run, within = noisy_run(task, e, layer, noise), e <= reach(2)
    start = f"Errors of up to {e:g} in {noise}: "
    if e == 0:
        return "Without errors both layers are exact at every depth."
    if layer == "re-binarised" and within:
        last = "after the first layer" if noise == "the letters" else "in the next layer, so none adds to another"
        return f"{start}<b>gone</b> {last}, for any string of any length ({e:g} ≤ 1/8)."
    share = f"{run.right[-1]:.0%} of the {T} states are read right"
    more = " Above 1/8 the cure is no proof, but random errors are seldom at their worst." * (layer == "re-binarised")
    return (f"{start}after {len(run.errors) - 1} layers the largest is {run.errors[-1]:.3g} (at worst "
            f"{run.worst[-1]:.3g}), and <b>{share}</b>.{more}")  # fmt: skip
