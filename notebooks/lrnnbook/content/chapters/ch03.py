"""Chapter 03 (parallel scans): which scan wins where, and the chapter's pictures, tables and sentences.

The race is a model with P processors and one memory.  In the model a scan takes as long as
the worst of three things (in ticks, one multiplication a processor and tick):

    multiplications / P,    BALANCE * numbers moved / P,    steps that wait for each other.

The first and the third are Brent's bound, within a factor of two; the second is the memory, which moves one number in
the time of BALANCE multiplications.  Starts of kernels, Python, caches and page faults are left out.

Letters: T time, b block size, h blocks, chains B h (strings times blocks), P processors; L = 2^ceil(log2(T + 1)), the
positions of a scan (x_0 in front, zeros behind); A transition, x state.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure

from lrnnbook.content.show.bench_figures import COLOURS, OURS, PARTS, found, recorded, rows
from lrnnbook.content.show.frames import log_ticks, panels
from lrnnbook.content.show.interactive import Moving
from lrnnbook.content.show.style import FAINT, GRID, INK, LIVE, SMALL, label_ends, new_figure, styled
from lrnnbook.content.tables import lrnn_speed, results
from lrnnbook.content.tables import records as files
from lrnnbook.content.tables.lrnn_fig1 import schedule
from lrnnbook.machinery.bench.cases import Case
from lrnnlab.training import deterministic

BALANCE = 32  # a core of 16 lanes at 2.5 GHz beside a memory of 5 GB/s: 32; an H200 (16,896 lanes, 4.3 TB/s): 31
LANES = 16  # of single precision, in one vector of a core
GPU = 16896  # lanes of an H200
WAYS = tuple(COLOURS)
GIVEN = ("loop", "PScan")  # of these one is first in the race
SIZES, CHAINS = (1, 2, 4, 8, 16), (1, 8, 128, 1024)
MACHINES = {LANES: "one CPU core", 4608: "RTX 8000", GPU: "H200"}
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
    """The faster of loop and PScan in the model; the loop where both are equal."""
    return min(GIVEN, key=lambda way: ticks(cost(way, T, b, chains), P)[0])


@styled
def scan_race(b: int, chains: int) -> Figure:
    """Whether the loop or PScan is first in the model, for every T and every number of processors up to 100,000."""
    figure, axes = new_figure(3.0, left=0.8, right=0.4, top=0.3, bottom=0.55)
    T, P = 2 ** np.arange(2, 15) - 1, np.geomspace(1, 1e5, 120)  # lengths at which PScan fills nothing up
    first = np.array([[winner(int(t), b, chains, p) == "PScan" for p in P] for t in T])
    axes.pcolormesh(P, T, first, cmap=ListedColormap([GRID, COLOURS["PScan"]]), vmin=0, vmax=1, alpha=0.45, shading="nearest")
    for name, here in (("loop", ~first), ("PScan", first)):
        if here.mean() > 0.03:
            row, column = np.argwhere(here).mean(0).round().astype(int)
            axes.text(P[column], T[row], name, ha="center", va="center", fontsize=11, fontweight="bold")
    for lanes, machine in MACHINES.items():
        axes.axvline(lanes, color=INK, lw=1, ls=(0, (1, 2)))
        axes.annotate(machine, (lanes, 0.03), (2, 0), xycoords=("data", "axes fraction"), textcoords="offset points", rotation=90, fontsize=SMALL)
    log_ticks(axes, x=(1, 10, 100, 1000, 10_000, 100_000), y=(10, 100, 1000, 10_000))
    axes.set(xlim=(1, 1e5), ylim=(3, T[-1]), xlabel="processors P", ylabel="T")
    axes.grid(False)
    return figure


def race_sentence(b: int, chains: int) -> str:
    """On which of the machines PScan is first at T = 500, in the model."""
    said = [f"{machine}: <b>{winner(500, b, chains, lanes)}</b>" for lanes, machine in MACHINES.items()]
    return f"First at T = 500 on {', '.join(said)}."


@styled
def by_length(seconds: Mapping[str, Mapping[int, float]]) -> Figure:
    """Seconds of each scan against T."""
    figure, axes = new_figure(3.0, left=0.95, right=1.5, bottom=0.55, top=0.2)
    for (name, times), colour in zip(seconds.items(), (FAINT, LIVE, INK)):
        axes.plot(list(times), list(times.values()), "o-", color=colour, ms=4, label=name)
    axes.set(xlabel="T", ylabel="time", xlim=(min(times), max(times)))
    log_ticks(axes, x=sorted(times)[::3], y={1e-4: "0.1 ms", 1e-3: "1 ms", 1e-2: "10 ms", 0.1: "100 ms", 1: "1 s"})
    label_ends(axes)
    return figure


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
    titles = "step 1", "then step 2", "both, as one step"
    figure, steps = panels(titles, 3, 2.6, "x before", "x after", left=0.75, right=0.1, bottom=0.55, gap=0.5)
    for axes, (A, b), at in zip(steps, (first, second, (A2 * A1, A2 * b1 + b2)), (start, middle, start)):
        axes.plot(x, A * x + b, color=INK)
        axes.plot([at, at, x[0]], [-1, A * at + b, A * at + b], color=FAINT, lw=1, ls="--")
        axes.plot(at, A * at + b, "o", ms=7, color=COLOURS["PScan"])
        axes.annotate(f"{at:g} → {A * at + b:g}", (at, A * at + b), (6, -16 if A > 0 else 8), textcoords="offset points")
        axes.set(xlim=tuple(x), ylim=(-1, 2))
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
    axes.plot(whole, "o-", color=INK, label="from 0")
    axes.plot(list(anew), list(anew.values()), "o-", color=COLOURS["PScan"], label=f"anew at {m}")
    label_ends(axes)
    axes.set(xlabel="t", ylabel="state", xlim=(0, len(A) - 1))
    return figure


@styled
def work_picture() -> Figure:
    """Multiplications of PScan over the loop's, against T, for blocks of size 1 and 8."""
    figure, both = panels(("b = 1", "b = 8"), 2, 2.9, "T", "multiplications / the loop's", right=0.8, gap=1.1)
    T = 2 ** np.arange(1, 15) - 1
    for axes, b in zip(both, (1, 8)):
        for way in GIVEN:
            times = [cost(way, t, b, 1).multiplications / cost("loop", t, b, 1).multiplications for t in map(int, T)]
            axes.plot(T, times, color=COLOURS[way], label=way)
        log_ticks(axes, x=(1, 10, 100, 1000, 10_000), y=(1, 3, 10, 30, 100))
        axes.set(xlim=(1, T[-1]), ylim=(0.7, 100))
        label_ends(axes)
    return figure


@styled
def lost_states(loop: np.ndarray, scan: np.ndarray) -> Figure:
    """The states of a loop and of PScan on the same numbers, and from where on PScan's are not numbers."""
    figure, axes = new_figure(2.5, right=1.0)
    t = np.arange(1, len(loop) + 1)
    axes.plot(t, loop, color=COLOURS["loop"], lw=3, zorder=1, label="loop")
    axes.plot(t, scan, color=COLOURS["PScan"], zorder=2)
    lost = t[np.isnan(scan)]
    axes.axvspan(lost[0], lost[-1], color=COLOURS["PScan"], alpha=0.15, lw=0)
    axes.text(350, 1.0, "PScan: NaN", ha="center", color=COLOURS["PScan"])
    axes.axvline(300.5, color=FAINT, lw=1.2, ls=(0, (4, 3)))
    axes.text(303, 0.15, "inputs begin", color=INK, fontsize=SMALL)
    axes.set(xlim=(1, len(t)), ylim=(-0.1, 2.2), xlabel="step t", ylabel="state")
    label_ends(axes)
    return figure


def rounding_curves(walks: Mapping[str, tuple[np.ndarray, np.ndarray]]) -> Figure:
    """How far float32 is from the exact state (solid) and from what is proved of every machine (dashed), by step and name."""
    figure, axes = new_figure(2.9, right=1.5, bottom=0.55, top=0.25)
    for (name, (off, bound)), colour in zip(walks.items(), ("#0072B2", "#D55E00")):
        steps = np.arange(1, len(off) + 1)
        axes.semilogy(steps, np.where(off > 0, off, np.nan), color=colour, lw=1.4, label=f"{name}, seen")
        axes.semilogy(steps, bound, "--", color=colour, lw=1.4, label=f"{name}, proved")
    axes.set(xlim=(0, len(off)), xlabel="step", ylabel="off by at most")
    label_ends(axes)
    return figure
