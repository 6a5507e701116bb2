"""Chapter 03 (parallel scans): which scan wins where, and the chapter's pictures, tables and sentences.

The race is a model with P processors and one memory, beside the recorded benchmark.  In the model a scan takes as long as
the worst of three things (in ticks, one multiplication a processor and tick):

    multiplications / P,    BALANCE * numbers moved / P,    steps that wait for each other.

The first and the third are Brent's bound, within a factor of two; the second is the memory, which moves one number in
the time of BALANCE multiplications.  Starts of kernels, Python, caches and page faults are left out.

Letters: T time, b block size, h blocks, chains B h (strings times blocks), P processors; L = 2^ceil(log2(T + 1)), the
positions of a scan (x_0 in front, zeros behind); A transition, x state.
"""

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure

from lrnnbook.content.show.bench_figures import COLOURS, LOOKS, OURS, PARTS, found, recorded, rows
from lrnnbook.content.show.interactive import Moving
from lrnnbook.content.show.style import FAINT, INK, SMALL, Look, label_ends, new_figure, styled
from lrnnbook.content.tables import lrnn_speed, results
from lrnnbook.content.tables import records as files
from lrnnbook.content.tables.lrnn_fig1 import schedule
from lrnnbook.machinery.bench.cases import Case
from lrnnlab.training import deterministic

BALANCE = 32  # a core of 16 lanes at 2.5 GHz beside a memory of 5 GB/s: 32; an H200 (16,896 lanes, 4.3 TB/s): 31
LANES = 16  # of single precision, in one vector of a core
GPU = 16896  # lanes of an H200
WAYS = tuple(COLOURS)
GIVEN = ("loop", "PScan", "tree")  # of these one wins where A comes from memory; a table needs few symbols
LENGTHS, SIZES, CHAINS = (40, 500, 4096, 16384), (1, 2, 4, 8, 16), (1, 8, 1024, 8192)
PROCESSORS = {f"{P:,}": P for P in (1, 16, 4608, GPU, 10**6, 10**8, 10**9)}
MACHINES = {LANES: "one core", 4608: "RTX 8000", GPU: "H200"}
HOLDS = ("arithmetic", "memory", "its depth")


def levels(T: int) -> int:
    """ceil(log2(T + 1)), the depth of PScan for T inputs and x_0 (paper 000, Sec. 3.4)."""
    return T.bit_length()


def matrix_products(T: int) -> int:
    """Matrix-matrix products of PScan: (L/2) log2 L - (L - 1), for the L/2 words of each level less the given letters."""
    L = 1 << levels(T)
    return L // 2 * levels(T) - (L - 1)


def levels_widget() -> Moving:
    """The scan of a recurrence of one number, level by level, for L = 2, 4, 8 or 16; the moves are those of the code."""
    A = [1, 2, -1, 1, 1, -1, 2, 1, -1, 1, 1, -1, 1, 2, -1, 1]
    b = [1, 1, 0, 2, -1, 1, 0, 1, 3, -1, 0, 2, 1, -2, 1, 0]  # b_0 is the state at the start
    moves = {str(n): [[move._asdict() for move in level] for level in schedule(n)] for n in (2, 4, 8, 16)}
    alt = ("Rows of numbers, one after each level of a parallel scan, with a button that plays the levels and a slider over "
           "them; arrows say which number is multiplied and added to which, and states that are right are filled.")  # fmt: skip
    return Moving("levels", {"levels": moves, "A": A, "b": b}, {"L": "8", "level": 1}, alt)


class Cost(NamedTuple):
    """What all chains take together, and how many steps wait for each other."""

    multiplications: int
    numbers: int
    depth: int


def tree_counts(T: int) -> tuple[int, int, int]:
    """(products, applications, depth) of the work-efficient scan (Blelloch 1990), up the tree with pairs (A_t ... A_s, what they
    make of 0), only left of the last node of a level; down with states: the right child gets the left one's pair applied."""
    products, up, count = 0, 0, T
    height = levels(T) - (T & (T - 1) == 0)  # ceil(log2 T)
    while count > 1:
        count = -(-count // 2)
        products, up = products + count - 1, up + (count > 1)
    return products, products + (T - 1) + T, up + height + 1


def cost(way: str, T: int, b: int, chains: int) -> Cost:
    """Multiplications, numbers read and written, and depth of a way to scan: a product takes b^3 and is written and read once,
    an application b^2 and moves a state; every A_t and b_t is read, with a table only a token."""
    products, applications, depth = 0, T, T
    if way == "PScan":
        products, depth = matrix_products(T), levels(T)
        applications = depth << (depth - 1)
    elif way == "tree":
        products, applications, depth = tree_counts(T)
    given = 1 if way == "token table" else b**2 + b
    moved = given * T + 2 * b**2 * products + (2 * b * applications if products else b * T)
    return Cost(chains * (b**3 * products + b**2 * applications), chains * moved, depth)


def ticks(of: Cost, P: int) -> tuple[float, str]:
    """The model's time on P processors, and which of ``HOLDS`` it is due to."""
    times = of.multiplications / P, BALANCE * of.numbers / P, float(of.depth)
    return max(times), HOLDS[times.index(max(times))]


def winner(T: int, b: int, chains: int, P: int) -> str:
    """The fastest of loop, PScan and tree in the model; the first of them where two are equal."""
    return min(GIVEN, key=lambda way: ticks(cost(way, T, b, chains), P)[0])


def timed() -> dict[int, dict]:
    """Processors of the model -> the recorded benchmark of a machine with so many: ``LANES`` a thread, ``GPU`` for the H200."""
    return {LANES * threads: record for threads, record in recorded().items()} | {GPU: recorded(device="cuda")[1]}


def measured(records: Mapping[int, Mapping], T: int, b: int, chains: int) -> dict[int, dict[str, float]]:
    """Processors -> peer -> forward time over our scan's, ``"token table"`` being ours with tables; empty where no record has
    the case, as for blocks of size one."""
    marks = {}
    for processors, record in records.items():
        case = f"B={chains // 8} T={T} h=8 b={b}"
        blocks, table = found(record, f"block {case}"), found(record, f"table {case}").get(OURS, {})
        here = {peer: one["forward"]["times_ours"] for peer, one in blocks.items() if "forward" in one}
        if OURS not in here:
            continue
        if "forward" in table:
            here["token table"] = table["forward"]["median"] / blocks[OURS]["forward"]["median"]
        marks[processors] = here
    return marks


@styled
def scan_race(records: Mapping[int, Mapping], T: int, b: int, chains: int, P: int) -> Figure:
    """Left, time over the loop's against P: lines are the model's, marks the benchmark's (:func:`timed`) forward times over
    those of our scan.  Right, which way wins at every T and P."""
    figure, (left, right) = new_figure(3.7, columns=2, left=0.7, right=0.15, top=0.4, bottom=0.5, gap=1.75)
    reach = 2.0 ** np.arange(0, 31)
    loop, ends = np.array([ticks(cost("loop", T, b, chains), p)[0] for p in reach]), []
    for way in WAYS:
        curve = np.array([ticks(cost(way, T, b, chains), p)[0] for p in reach]) / loop
        left.plot(reach, curve, color=COLOURS[way], label=way)
        ends.append((curve[-1], way, COLOURS[way]))
    for processors, peers in measured(records, T, b, chains).items():
        for peer, times in peers.items():
            if peer not in LOOKS and peer not in WAYS:
                continue
            look = LOOKS.get(peer, Look(COLOURS.get(peer, INK), marker="P"))
            left.plot(processors, times, look.marker, color=look.colour, mec="white", mew=0.5, ms=7.5, label=peer,
                      zorder=4)  # fmt: skip
    left.axvline(P, color=FAINT, lw=1.2, ls=(0, (4, 3)))
    left.set(xscale="log", yscale="log", xlim=(1, reach[-1]), ylim=(5e-4, 2e3), xlabel="processors P",
             ylabel="time / time of the loop",
             title=f"T = {T:,}, b = {b}, {chains:,} chain{'s' if chains > 1 else ''}")  # fmt: skip
    left.set_yticks([0.001, 0.01, 0.1, 1, 10, 100, 1000], ["0.001", "0.01", "0.1", "1", "10", "100", "1,000"])
    label_ends(left, ends)
    _regions(right, b, chains)
    right.plot(P, T, "o", mfc="none", mec=INK, mew=2, ms=11, zorder=5)
    for lanes, machine in MACHINES.items():
        right.annotate(machine, (lanes, 0.02), (1, 0), xycoords=("data", "axes fraction"), textcoords="offset points",
                       rotation=90, va="bottom", fontsize=SMALL)  # fmt: skip
        right.axvline(lanes, color=INK, lw=0.8, ls=(0, (1, 2)))
    right.set_title("first in the model")
    for axes in (left, right):
        axes.set_xticks(10.0 ** np.arange(0, 10, 3))
        axes.minorticks_off()
    return figure


def _regions(axes, b, chains):
    """Colour T and P by the winner among those that read A from memory, with its name in each region."""
    T = np.unique(np.round(np.geomspace(4, 20_000, 40)).astype(int))
    P = 2.0 ** np.arange(0, 30.5, 0.5)
    costs = [[cost(way, int(t), b, chains) for way in GIVEN] for t in T]
    best = np.array([[np.argmin([ticks(of, p)[0] for of in ways]) for p in P] for ways in costs])  # (T, P)
    axes.pcolormesh(P, T, best, cmap=ListedColormap([COLOURS[way] for way in GIVEN]), vmin=-0.5, vmax=2.5, alpha=0.45,
                    shading="nearest")  # fmt: skip
    for place, way in enumerate(GIVEN):
        here = np.argwhere(best == place)
        if len(here) > 0.03 * best.size:
            row = int(np.median(here[:, 0]))
            inside = here[here[:, 0] == row, 1]
            middle = np.clip(np.median(inside) / len(P), 0.13, 0.87)  # so that the name stays on the panel
            axes.text(P[int(middle * len(P))], T[row], way, ha="center", va="center", fontsize=10, fontweight="bold")
    axes.set(xscale="log", yscale="log", xlim=(1, P[-1]), ylim=(4, 20_000), xlabel="processors P", ylabel="T")
    axes.set_yticks([10, 100, 1000, 10_000], ["10", "100", "1,000", "10,000"])
    axes.grid(False)


def race_sentence(records: Mapping[int, Mapping], T: int, b: int, chains: int, P: int) -> str:
    """What the model says at this place, and what the nearest machine measured, if one did."""
    costs = {way: cost(way, T, b, chains) for way in WAYS}
    first, loop = winner(T, b, chains, P), ticks(costs["loop"], P)[0]
    said = [f"{way} {ticks(of, P)[0] / loop:.3g} times the loop's (held up by {ticks(of, P)[1]})"
            for way, of in costs.items() if way != "loop"]  # fmt: skip
    text = (f"On {P:,} processors the model has the <b>{first}</b> first: the loop is held up by "
            f"{ticks(costs['loop'], P)[1]}, {', '.join(said)}.")  # fmt: skip
    marks = measured(records, T, b, chains)
    if not marks:
        return f"{text} The benchmark has no such case (only T = 40, 500, 4,096 with 1,024 chains, T = 16,384 with 8)."
    processors = min(marks, key=lambda one: abs(math.log(one / P)))
    others = ", ".join(f"{peer} {times:.3g}" for peer, times in marks[processors].items() if peer != OURS)
    machine = MACHINES.get(processors, f"{processors // LANES} cores")
    return f"{text} Measured on {machine}, times our scan: {others or 'nothing else was run'}."


def live_speed(batch: int) -> pd.DataFrame:
    """``lrnn/speed`` measured here and now with a small batch."""
    measured_here = []
    with deterministic(alone=True):
        for row in lrnn_speed.TABLE.rows:
            setting = {**lrnn_speed.TABLE.setting(row, "sum", "live"), "batch": batch}
            run = {"experiment": "lrnn/speed", "row": row, "budget": "live", "config": {"setting": setting}}
            measured_here.append({**run, **lrnn_speed.measure(setting, seed=0)})
    return results.frame(measured_here)


def speed_table() -> tuple[list[dict], float]:
    """PScan over the loop in the paper and in the recorded runs of ``lrnn/speed``; and the least share of the loop's whole time
    that is not the scan: transitions, readout, optimiser."""
    desk = {record["row"]: record["metrics"] for record in files.recorded("lrnn/speed")}
    table, shares = [], []
    for row in lrnn_speed.TABLE.rows:
        model, scan = desk[row]["model"], desk[row]["scan"]
        shares.append(1 - scan["sequential"]["median"] / model["sequential"]["median"])
        table.append({
            "setting": row, "paper, PScan / loop": lrnn_speed.paper_ratio(row),
            "recorded, whole model": model["pscan"]["ratio"], "recorded, scan alone": scan["pscan"]["ratio"],
            "not the scan, of the loop's whole time": f"{shares[-1]:.0%}",
        })  # fmt: skip
    return table, min(shares)


def must_move(B: int, T: int, h: int, b: int) -> tuple[int, int]:
    """Bytes that must move, forward and backward, with A in memory and with a token table."""
    cases = Case("block", B, T, h, b), Case("table", B, T, h, b)
    spread, table = (case.bytes_forward() + case.bytes_backward() for case in cases)
    return spread, table


def times_sentence(records: Mapping[int, Mapping], part: str) -> str:
    """How many pairs of peer and case were timed, and in which another was faster than ours; by threads."""
    told = []
    for threads, record in records.items():
        cells = [(one[PARTS[part]]["times_ours"], f"{peer} on {case.group}, {case.label}") for case in rows(records)
                 for peer, one in found(record, case.name).items() if peer != OURS and PARTS[part] in one]  # fmt: skip
        faster = [name for times, name in cells if times < 1]
        told.append(f"{threads} thread{'s' * (threads > 1)}: {len(cells)} pairs of peer and case; another was "
                    f"faster than ours in {len(faster)}" + (f" ({'; '.join(faster)})" if faster else ""))  # fmt: skip
    return f"{part.capitalize()}. {'. '.join(told)}."


def memory_sentence(records: Mapping[int, Mapping]) -> str:
    """Which share of the memory's copying speed our scan reaches on blocks with 128 strings, forward; by threads."""
    lines = []
    for threads, record in records.items():
        cases = [case.name for case in rows(records) if case.name.startswith("block B=128")]
        shares = [found(record, name)[OURS]["forward"]["share"] for name in cases
                  if "forward" in found(record, name).get(OURS, {})]  # fmt: skip
        copies = [case["copy_bytes_per_second"] / 1e9 for case in record["cases"]]
        lines.append(f"{threads} thread{'s' * (threads > 1)}, blocks, B = 128, forward: {min(shares):.0%} to "
                     f"{max(shares):.0%} of the copying speed ({min(copies):.1f} to {max(copies):.1f} GB/s)")
    return "\n".join(lines)


def gpu_table() -> list[dict]:
    """One dict a case timed on a GPU: our milliseconds, shares of the copy's speed, and the nearest other scan."""
    records, table = recorded(device="cuda"), []
    for case in rows(records):
        peers = found(records[1], case.name)
        ours = peers[OURS]
        others = {peer: one["forward"]["times_ours"] for peer, one in peers.items() if peer != OURS and "forward" in one}
        nearest = min(others, key=lambda peer: others[peer])
        shares = {part: f"{ours[key]['share']:.0%}" for part, key in (("forward", "forward"), ("backward", "backward"),
                                                                     ("both", "both"))}  # fmt: skip
        table.append({"case": f"{case.group}, {case.label}", "ours, forward, ms": ours["forward"]["median"] * 1e3, **shares,
                      "nearest other, forward": nearest, "times ours": others[nearest]})  # fmt: skip
    return table


@styled
def two_steps_are_one(first: tuple[float, float], second: tuple[float, float]) -> Figure:
    """Two steps (A, b) on one number as lines, and their composition; a point that goes through both."""
    (A1, b1), (A2, b2) = first, second
    x, start = np.array([-1.0, 2.0]), 0.0
    middle = A1 * start + b1
    figure, panels = new_figure(2.6, columns=3, left=0.75, right=0.1, bottom=0.55, gap=0.5, sharey=True)
    for axes, (A, b), at, title in zip(panels, (first, second, (A2 * A1, A2 * b1 + b2)), (start, middle, start),
                                       ("step 1", "then step 2", "both, as one step")):  # fmt: skip
        axes.plot(x, A * x + b, color=INK)
        axes.plot([at, at, x[0]], [-1, A * at + b, A * at + b], color=FAINT, lw=1, ls="--")
        axes.plot(at, A * at + b, "o", ms=7, color=COLOURS["PScan"])
        axes.annotate(f"{at:g} → {A * at + b:g}", (at, A * at + b), (6, -16 if A > 0 else 8), textcoords="offset points")
        axes.set(xlim=tuple(x), ylim=(-1, 2), title=title, xlabel="x before")
    panels[0].set_ylabel("x after")
    return figure


@styled
def two_starts(A: np.ndarray, b: np.ndarray, m: int) -> Figure:
    """The states of x_t = A_t x_{t-1} + b_t from t = 0, and of the same loop started anew at m; bars are the product A_t ... A_m
    times the state at m - 1."""
    whole, anew, bars = [b[0]], {m: b[m]}, {}
    for t in range(1, len(A)):
        whole.append(A[t] * whole[-1] + b[t])
        if t >= m:
            anew[t] = b[t] if t == m else A[t] * anew[t - 1] + b[t]
            bars[t] = A[m : t + 1].prod() * whole[m - 1]
    figure, axes = new_figure(2.8, right=1.1, bottom=0.55)
    for t, bar in bars.items():
        axes.plot([t, t], [anew[t], anew[t] + bar], color=COLOURS["tree"], lw=5, alpha=0.5, solid_capstyle="butt")
    axes.plot(whole, "o-", color=INK)
    axes.plot(list(anew), list(anew.values()), "o-", color=COLOURS["PScan"])
    label_ends(axes, [(whole[-1], "from 0", INK), (anew[len(A) - 1], f"anew at {m}", COLOURS["PScan"])])
    axes.set(xlabel="t", ylabel="state", xlim=(0, len(A) - 1))
    return figure


@styled
def work_picture() -> Figure:
    """Multiplications of PScan and the tree over the loop's, against T, for blocks of size 1 and 8."""
    figure, panels = new_figure(2.9, columns=2, right=0.8, gap=1.1, sharey=True)
    T = 2 ** np.arange(1, 15) - 1
    for axes, b in zip(panels, (1, 8)):
        ends = []
        for way in ("PScan", "tree", "loop"):
            times = [cost(way, t, b, 1).multiplications / cost("loop", t, b, 1).multiplications for t in map(int, T)]
            axes.plot(T, times, color=COLOURS[way])
            ends.append((times[-1], way, COLOURS[way]))
        axes.set(xscale="log", yscale="log", xlim=(1, T[-1]), ylim=(0.7, 100), xlabel="T", title=f"b = {b}")
        axes.set_yticks([1, 3, 10, 30, 100], ["1", "3", "10", "30", "100"])
        axes.set_xticks([1, 10, 100, 1000, 10_000], ["1", "10", "100", "1,000", "10,000"])
        axes.minorticks_off()
        label_ends(axes, ends)
    panels[0].set_ylabel("multiplications / the loop's")
    return figure


@styled
def lost_states(loop: np.ndarray, scan: np.ndarray) -> Figure:
    """The states of a loop and of PScan on the same numbers, and from where on PScan's are not numbers."""
    figure, axes = new_figure(2.5, right=1.0)
    t = np.arange(1, len(loop) + 1)
    axes.plot(t, loop, color=COLOURS["loop"], lw=3, zorder=1)
    axes.plot(t, scan, color=COLOURS["PScan"], zorder=2)
    lost = t[np.isnan(scan)]
    axes.axvspan(lost[0], lost[-1], color=COLOURS["PScan"], alpha=0.15, lw=0)
    axes.text(350, 1.0, "PScan: NaN", ha="center", color=COLOURS["PScan"])
    axes.axvline(300.5, color=FAINT, lw=1.2, ls=(0, (4, 3)))
    axes.text(303, 0.15, "inputs begin", color=INK, fontsize=SMALL)
    axes.set(xlim=(1, len(t)), ylim=(-0.1, 2.2), xlabel="step t", ylabel="state")
    label_ends(axes, [(float(loop[-1]), "loop", COLOURS["loop"])])
    return figure


def rounding_curves(walks: Mapping[str, tuple[np.ndarray, np.ndarray]]) -> Figure:
    """How far float32 is from the exact state (solid) and from what is proved of every machine (dashed), by step and name."""
    figure, axes = new_figure(2.9, right=1.5, bottom=0.55, top=0.25)
    ends = []
    for (name, (off, bound)), colour in zip(walks.items(), ("#0072B2", "#D55E00")):
        steps = np.arange(1, len(off) + 1)
        axes.semilogy(steps, np.where(off > 0, off, np.nan), color=colour, lw=1.4)
        axes.semilogy(steps, bound, "--", color=colour, lw=1.4)
        ends += [(off[-1], f"{name}, seen", colour), (bound[-1], f"{name}, proved", colour)]
    axes.set(xlim=(0, len(off)), xlabel="step", ylabel="off by at most")
    label_ends(axes, ends)
    return figure
