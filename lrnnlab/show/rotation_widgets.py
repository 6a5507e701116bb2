"""Chapter 04, to play with: the norm of a rotated state over time, and a rotation to turn, with P and without.

Letters: t time, T its last; gamma decay, theta angle (here in degrees), l = gamma e^(i theta); rho the correlation of
one input with the next, m = rho l; A = P Theta P^T rotation, B and C input and output matrices, xi scale of the drive;
u input, x state, y output; K runs.
"""

from __future__ import annotations

import cmath
import math

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Circle
from scipy.linalg import expm
from scipy.signal import lfilter

from lrnnlab.show.style import FAINT, INK, LIVE, SOURCES, label_ends, new_figure, styled
from lrnnlab.algebra.coloured_input import norm_over_time, stationary_norm
from lrnnlab.algebra.rotation_layer import Head, absorb

GAMMAS = (0.5, 0.9, 0.97, 0.99, 0.999)
RHOS = (-0.9, 0.0, 0.5, 0.9, 0.99)
ANGLES = (0, 15, 45, 90, 180)
STARTS = ("zero", "unit", "scaled first step")
LAST, RUNS = 2000, 100  # steps and runs of the simulation
SPAN = (1e-3, 400)  # of E||x||^2 in the picture: all that the controls can give
B = np.array([[0.8, 0.2], [-0.4, 0.4]])  # drives the pair; Tr(B^T B) = 1
TURNS = (0, 5, 20, 45, 120, 180)
DECAYS = (0.8, 0.95, 0.98, 0.999)
STEPS = 60  # of the trajectory


def _check_start(start: str) -> None:
    if start not in STARTS:
        raise ValueError(f"x_0 is one of {', '.join(STARTS)}, got {start!r}")


def norm_curve(gamma: float, rho: float, theta: float, start: str, T: int = LAST) -> np.ndarray:
    """E||x_t||^2 of a pair with c = 1 under AR(1) input, t = 0 to T: (T + 1,).

    start : ``"zero"``, x_0 = 0; ``"unit"``, ||x_0|| = 1; ``"scaled first step"``, x_0 = 0 and the first drive
    k = 1 / sqrt(1 - gamma^2) times as large.  The last adds (k - 1) xi l^(t-1) B u_1 to every state, and so to the norm
    its square and its product with the state, sum over j of gamma^(2 (t-j)) Re m^(j-1).
    ValueError for another start; otherwise as :func:`lrnnlab.algebra.coloured_input.norm_over_time`.

    >>> [norm_curve(0.9, 0.0, 30, start, 5).round(3).tolist()[1] for start in STARTS]
    [0.19, 1.0, 1.0]
    """
    _check_start(start)
    angle = math.radians(theta)
    norms = norm_over_time(gamma, angle, rho, float(start == "unit"), T)
    if start == "scaled first step":
        more, m, steps = (1 - gamma**2) ** -0.5 - 1, rho * cmath.rect(gamma, angle), np.arange(T)
        product = lfilter([1], [1, -(gamma**2)], (m**steps).real)
        norms[1:] += (1 - gamma**2) * (more**2 * gamma ** (2 * steps) + 2 * more * product)
    return norms


def simulated_norms(
    gamma: float, rho: float, theta: float, start: str, T: int = LAST, runs: int = RUNS, seed: int = 0
) -> np.ndarray:
    """||x_t||^2 of K runs, t = 1 to T: (K, T).  The input is Gaussian and stationary, two numbers a step, through B.

    >>> simulated_norms(0.9, 0.5, 30, "unit", T=7, runs=3).shape
    (3, 7)
    """
    _check_start(start)
    noise = np.random.default_rng(seed).standard_normal((runs, T, 2))
    noise[:, 1:] *= math.sqrt(1 - rho**2)  # the first one is as it is: so u has variance 1 from the beginning
    u = lfilter([1], [1, -rho], noise, axis=1)
    drive = math.sqrt(1 - gamma**2) * (u @ (B[0] + 1j * B[1]))  # (K, T): a pair of states is one complex number
    if start == "scaled first step":
        drive[:, 0] /= math.sqrt(1 - gamma**2)
    transition = cmath.rect(gamma, math.radians(theta))
    before = np.full((runs, 1), transition * (start == "unit"))
    return np.abs(lfilter([1], [1, -transition], drive, axis=1, zi=before)[0]) ** 2


@styled
def norm_climb(gamma: float, rho: float, theta: float, x_0: str) -> Figure:
    """E||x_t||^2 against t: the paper's flat line, the formula, and the mean of simulated runs with two errors.

    >>> [line.get_label() for line in norm_climb(0.9, 0.0, 30, "zero").axes[0].lines]
    ['paper', 'formula', 'simulated']
    """
    formula = norm_curve(gamma, rho, theta, x_0)[1:]
    squares = simulated_norms(gamma, rho, theta, x_0)
    mean, error = squares.mean(0), squares.std(0) / math.sqrt(len(squares))
    figure, axes = new_figure(3.5, left=0.75, right=1.25, top=0.4, bottom=0.55)
    t, paper = np.arange(1, LAST + 1), SOURCES["paper"]
    shown = np.unique(np.geomspace(1, LAST, 120).astype(int)) - 1  # as many points as the eye can tell apart
    axes.fill_between(t[shown], *(np.clip((mean + side * error)[shown], SPAN[0] / 10, None) for side in (-2, 2)),
                      color=LIVE, alpha=0.25, lw=0)  # fmt: skip
    axes.plot([1, LAST], [1, 1], color=paper.colour, lw=2.5, label="paper")
    axes.plot(t[shown], formula[shown], color=INK, lw=1.6, label="formula")
    axes.plot(t[shown], mean[shown], color=LIVE, lw=1.2, ls=(0, (1, 1.5)), label="simulated")
    axes.set(xscale="log", yscale="log", xlim=(1, LAST), ylim=SPAN, xlabel="step t", ylabel="E‖xₜ‖²",
             title=f"γ = {gamma:g}, ρ = {rho:g}, θ = {theta}°, x₀: {x_0}")  # fmt: skip
    axes.set_xticks([1, 10, 100, 1000], ["1", "10", "100", "1,000"])
    axes.set_yticks([0.001, 0.01, 0.1, 1, 10, 100], ["0.001", "0.01", "0.1", "1", "10", "100"])
    axes.minorticks_off()
    ends = np.clip([1, formula[-1], mean[-1]], *SPAN)
    label_ends(axes, list(zip(ends, ("paper: 1, always", "formula", f"{RUNS} runs"), (paper.colour, INK, LIVE))))
    return figure


def settled(norms: np.ndarray, limit: float, within: float = 0.05) -> int | None:
    """The first t from which on the norms stay within a share of their limit; None if they do not yet at the last.

    >>> settled(np.array([0.0, 0.5, 1.0, 0.99]), 1.0), settled(np.array([0.0, 0.5]), 1.0)
    (2, None)
    """
    away = np.flatnonzero(np.abs(norms - limit) > within * limit)
    first = int(away[-1]) + 1 if len(away) else 0
    return first if first < len(norms) else None


def norm_sentence(gamma: float, rho: float, theta: float, x_0: str) -> str:
    """What the norm does here, and whether the paper's statement is true of it.

    >>> norm_sentence(0.99, 0.0, 45, "zero").split(":")[0]
    'After one step E‖x‖² is 0.0199, in the long run 1; it stays within 5 % of that from step 150 on'
    """
    norms, limit = norm_curve(gamma, rho, theta, x_0), stationary_norm(gamma, math.radians(theta), rho)
    since = settled(norms[1:], limit)
    when = f"from step {since + 1:,} on" if since is not None else f"only after step {LAST:,}"
    told = f"After one step E‖x‖² is {norms[1]:.3g}, in the long run {limit:.3g}; it stays within 5 % of that {when}: "
    if np.abs(norms[1:] - 1).max() < 1e-9:
        return told + "<b>here the paper's statement is true</b>, the norm is 1 at every step."
    if rho == 0:
        return told + "<b>1 is the limit, not the value</b>. What θ is makes no difference, because the input is white."
    return told + ("the input is <b>not white</b>, and the angle decides how large the state becomes: "
                   f"{limit:.3g} times what the paper says.")  # fmt: skip


def turning_head(theta_1: float, theta_2: float, gamma: float) -> Head:
    """A head of width 4 with these two angles (degrees), and P, B, C that are always the same; one input, one output.

    >>> turning_head(30, 90, 0.9).kernel(3).shape
    (3, 1, 1)
    """
    M = np.array([[0, 0.9, -0.7, 0.2], [0, 0, 0.8, 0.6], [0, 0, 0, -1.1], [0, 0, 0, 0]])
    P = expm(M - M.T)
    drive = P @ np.array([0.8, 0.0, 0.6, 0.0])  # in the coordinates of P, both pairs start on their first axis
    return Head(gamma, np.radians([theta_1, theta_2]), P, drive[:, None], np.array([[0.9, 0.1, 0.7, -0.4]]))


def answer(head: Head, steps: int = STEPS) -> tuple[np.ndarray, np.ndarray]:
    """(states (T, N), outputs (T,)) after one impulse, in units in which the first state has size 1.

    >>> states, outputs = answer(turning_head(30, 90, 0.5), 3)
    >>> np.linalg.norm(states, axis=1).round(6).tolist()
    [1.0, 0.5, 0.25]
    """
    states = head.states(np.eye(steps, 1)) / (head.xi * np.linalg.norm(head.B))
    return states, states @ head.C[0]


@styled
def turning(theta_1: int, theta_2: int, gamma: float, P: str) -> Figure:
    """Left, two of the four numbers of the state after one impulse, step by step; right, the output of both layers.

    P : ``"kept"``, the layer as it is; or ``"absorbed"``, P taken into B and C.  The left panel shows the layer chosen,
    the right panel always both.  ValueError for another word.

    >>> [line.get_label() for line in turning(30, 90, 0.95, "kept").axes[1].lines][:2]
    ['P kept', 'P absorbed']
    """
    if P not in ("kept", "absorbed"):
        raise ValueError(f"P is 'kept' or 'absorbed', got {P!r}")
    head = turning_head(theta_1, theta_2, gamma)
    (kept, y), (plain, plain_y) = answer(head), answer(absorb(head))
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
    """Where the pair is at the end, what the left panel shows, and how far apart the outputs are.

    >>> turning_sentence(30, 90, 0.95, "absorbed").split(";")[0]
    'After 59 steps the first pair has turned by 59 · 30° = 1,770° and the state has shrunk to γ<sup>59</sup> = 0.0485'
    """
    head, last = turning_head(theta_1, theta_2, gamma), STEPS - 1
    apart = np.abs(answer(head)[1] - answer(absorb(head))[1]).max()
    seen = ("with P kept, each number of the state mixes both angles, and only the size of all four shrinks evenly"
            if P == "kept" else "with P absorbed, the first pair is alone on its spiral")  # fmt: skip
    same = "<b>the same</b>, to rounding" if apart < 1e-12 else f"<b>{apart:.2g} apart</b>"
    return (f"After {last} steps the first pair has turned by {last} · {theta_1}° = {last * theta_1:,}° and the state "
            f"has shrunk to γ<sup>{last}</sup> = {gamma**last:.3g}; {seen}. The outputs with P "
            f"and without are {same}.")  # fmt: skip
