# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 03d · Benchmark
#
# How fast is each scan that we could install, and how near does ours come to the memory's speed, on a CPU and on a GPU? *It takes* about 20 min to read. Behind [chapter 03](03_parallel_scans.ipynb).

# %% tags=["hide-input"]
import statistics
import time

import numpy as np
import torch

import lrnnlab
from lrnnlab import scans
from workbook import show
from workbook.chapters import ch03
from workbook.exercises import check, hint, solution
from workbook.show import bench_figures
from workbook.show.widgets import explore

EXPECTED = "0.1"
if not lrnnlab.__version__.startswith(EXPECTED):
    raise RuntimeError(f"this notebook needs lrnnlab {EXPECTED}, here is "
                       f"{lrnnlab.__version__}: run bootstrap.py")
scans.warm()
print(f"lrnnlab {EXPECTED}: ready")

# %% [markdown]
# ## 1 The recorded benchmark
#
# We timed every scan that could be installed, in turn and on the same numbers (`lrnnlab bench scans --threads 1 --record`, and `--threads 2`). The colour says how it scans: black is a loop, purple PScan, green another tree.

# %% tags=["hide-input"]
bench = bench_figures.recorded()


def draw_times(part):
    return bench_figures.times_ours(bench, bench_figures.PARTS[part])


def say_times(part):
    return ch03.times_sentence(bench, part)


show.figure(
    draw_times("forward + backward"),
    alt="For every case and number of threads, the time of six other scans over ours, "
        "on a logarithmic axis. What was not run is a hollow mark. The numbers are "
        "in the table below.",
    caption="Recorded. What to see: everything right of the line takes longer than our "
            "compiled loop. Among the others, loops tend to lie left of trees: on a CPU work "
            "decides, not depth.",
)  # fmt: skip
print(say_times("forward + backward").replace(". ", ".\n"))

# %% tags=["hide-input"]
times_widget = explore(
    draw_times, {"part": list(bench_figures.PARTS)}, initial={"part": "forward"},
    sentence=say_times,
    alt="Time of every other scan over ours for the chosen part of the work.",
)  # fmt: skip
times_widget

# %% tags=["hide-input"]
for threads in bench:
    show.table(
        bench_figures.times_table(bench, threads), formats={"ours, ms": ".3g"},
        caption=f"Recorded on {bench_figures.origin(bench[threads])}, "
                f"{threads} thread{'s' * (threads > 1)}, forward and backward: milliseconds of "
                "ours (median), and how many times longer the others took; or why a case was "
                "not run.",
    )  # fmt: skip

# %% [markdown]
# **Exercise 8** ★ *(10 min, 3 points: to read more than arithmetic from a benchmark)* **Read a picture.** JAX compiles
# both a loop, `lax.scan`, and a tree, `associative_scan`. In the table for one thread there is exactly one case of
# blocks in which the tree takes less than half of the loop's time. Which? And why there, since one thread wins nothing
# from depth?

# %%
my_case = None  # exercise 8: (b, B, T), three whole numbers
check("03.8", my_case)

# %% [markdown]
# <!-- Exercise 03.8: from notebooks/workbook/exercises/ch03.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint 1</summary>
#
# The table has the times of both over ours: look for a row in which that of `associative_scan` is much the smaller.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# A tree has less to lose where $b^3$ is not much more than $b^2$, and more to win where $T$ is large and little is
# done at each step.
#
# </details>
#
# <details><summary>Solution</summary>
#
# $b = 2$, $B = 1$, $T = 16{,}384$. One thread does all of the tree's work itself, so depth wins nothing. But each
# step of a loop has a cost of its own, to start it; with one string and blocks of size 2 a step has next to nothing to
# compute, and 16,384 starts are most of the time. The tree starts fewer and larger operations. With 128 strings a
# step has more to compute, its start counts for less, and the tree wins little or nothing. At $b = 4$ and $B = 1$ it
# even takes nine times the loop's time, and 43 times its own at $b = 2$, though the arithmetic grows eightfold only: JAX
# must multiply these blocks in another way, which the table does not explain.
#
# </details>

# %% [markdown]
# ## 2 The memory's line
#
# No scan that reads $A$ and $b$ and writes $x$ can be faster than the memory. How much of the memory's speed do they use? In the same run, in turn with the scans, a large array is copied; the bytes that this reads and writes in a second are our 100 %. Some cases beat 100 %: they fit into the cache, or they read far more than they write, which a copy does not. The copy itself varies: its least and greatest speed are printed below.

# %% tags=["hide-input"]
show.figure(
    bench_figures.memory_line(bench),
    alt="For every case, which share of the memory's copying speed our scan reaches, forward "
        "and backward, with a line at 100 percent; grey dots: the fastest other.",
    caption="Recorded. What to see: how near ours comes to the line, and how far from it the "
            "fastest other stays. Where little has to move (token table, constant blocks) a "
            "low share can still be the least time.",
)  # fmt: skip
print(ch03.memory_sentence(bench))

# %% [markdown]
# ## 3 On a GPU
#
# The same cases, timed once on an NVIDIA H200 (`lrnnlab bench scans --device cuda --record`), by the GPU's own clock. Shares are of
# the speed at which it copies memory in the same run, 4.1 to 4.2 TB/s. The last two columns name the other scan that comes nearest, and
# how many times longer its forward pass takes.

# %% tags=["hide-input"]
show.table(
    ch03.gpu_table(),
    formats={"ours, forward, ms": ".3g", "times ours": ".3g"},
    caption=f"Recorded on {bench_figures.origin(bench_figures.recorded(device='cuda')[1])}: our forward pass, the share of the copying "
            "speed that forward, backward and both in one call reach, and the nearest other scan. The others were the loop (unbind), PScan, "
            "torch's associative_scan, torch-slices, pararnn's scan_dense and accelerated-scan, each where it can scan the case.",
)

# %% [markdown]
# **What can be said.**
#
# * *Many strings, large blocks.* With $B = 128$, $T \ge 500$ and blocks of 8 or 16 our scan reaches 60 to 82 % of the copying speed forward, and 61 to
#   86 % forward and backward. It is the loop of chapter 03, one step after the other, for all chains at once.
# * *Small blocks.* With blocks of 2 or 4 and the same $B$ and $T$ it reaches 13 to 35 % forward.
# * *Short strings.* With $T = 40$ it takes 9 to 26 microseconds and reaches 1 to 45 %. There is most likely too little work to fill the GPU.
# * *Few long strings.* With $B = 1$ and $T = 16{,}384$ it cuts the string into chunks (chapter 03, exercise 10) and reaches 1 to 12 %. One case is unlike the others: with
#   $b = 16$ forward takes 1.49 ms, 17 times as long as with $b = 8$, and backward only 0.31 ms. We cannot explain it.
# * *Diagonal.* Real transitions reach 42 % forward, complex ones 19 %.
# * *Token table.* On one CPU core it is 2.3 times as fast as reading $A$ ($T = 500$, $b = 8$, forward). Here it saves memory but no time: it takes 1.1 to 2.0 times as long.
# * *The others.* In no case was another scan faster. The nearest took 2.2 times as long (accelerated-scan, real diagonal, forward and backward), for blocks
#   3.5 times (pararnn, forward only). With $B = 1$ only pararnn was timed; the others would have taken too long.
# * *Two of them wait.* The loop (unbind) waits for Python, which starts every step: at $T = 500$ it takes 18 to 28 ms whatever the block size, though blocks of 16 move 36 times the bytes of blocks of 2.
#   So does PScan at $T = 40$ with small blocks. On longer strings its time is its own: from $T = 40$ to 500 it grows tenfold, while its levels grow from 6 to 9.
# * *And sometimes ours waits.* With $b = 2$ and $T = 500$ forward and backward in one call took 1.05 ms (0.65 to 1.59), but alone they take 0.03 and 0.04 ms: this call waits for Python, too.
#
# **Does the model of chapter 03, section 4, hold?** With 128 strings it says that the loop is first and that memory is what holds it up. So it was, most clearly with
# large blocks. But it says that PScan takes 6 to 22 times as long, and a tree about 3 times; measured are 52 to 1,498 times for PScan and 41 to 349 times for
# torch's `associative_scan`. It says that the token table takes 0.11 times as long at $b = 8$; measured are 1.1 to 2.0. With one string it lets each of 16,384 steps cost one tick, and ours
# is not that loop: it works in chunks. So the model tells you which scan is first, and not by how much.

# %% [markdown]
# ## 4 What the model leaves out: page faults
#
# A result needs memory. The system hands out fresh memory page by page, when a page is touched for the first time. Each first touch costs a call into the system: 32,000 calls for the gradient of $A$ at $(B, T, h, b, b) = (128, 500, 8, 8, 8)$, 131 MB in pages of 4 kB. In a naive backward pass that takes about as long as all of the arithmetic. Linux gives pages of 2 MB to those who ask; `np.empty` asks, `torch.empty` does not, so our scans take large results from NumPy. Here is how long it takes to fill 64 MB, live:

# %% tags=["nbval-ignore-output"]
numbers = 1 << 24
kept = torch.empty(numbers).fill_(0)
ways = {
    "memory used before": lambda: kept,
    "fresh, np.empty": lambda: torch.from_numpy(np.empty(numbers, np.float32)),
    "fresh, torch.empty": lambda: torch.empty(numbers),
}


def stopwatch(work):
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


taken = {name: [] for name in ways}
for _ in range(7):
    for name, make in ways.items():
        taken[name].append(stopwatch(lambda make=make: make().fill_(1)))
base = statistics.median(taken["memory used before"])
compared = {name: statistics.median(seconds) / base for name, seconds in taken.items()}
show.table(
    [
        {"memory": name, "time / time in used memory": ratio}
        for name, ratio in compared.items()
    ],
    caption="Live, medians of seven. " + (
        "Neither fresh row takes longer than used memory: on this machine, here and now, fresh "
        "pages cost nothing that this cell could see."
        if max(compared.values()) < 1.1
        else "The middle row lies below the last: here huge pages are to be had for the asking."
        if compared["fresh, np.empty"] < 0.9 * compared["fresh, torch.empty"]
        else "The middle row does not lie clearly below the last: on this machine asking gains little, as "
        "where huge pages are switched off, or given to everybody."
    ),
)

# %% [markdown]
# ## 5 What this does not show
#
# * **Nothing about other GPUs.** The numbers are of one H200, in float32, with one run of five rounds a case.
# * **Not that trees are bad.** For $b = 1$, few chains and long strings they are the right thing on parallel hardware.
# * **Not how fast the peers can be.** Each was called as its documentation has it, on shapes of ours, on one kind of machine.
# * **Not that a fast scan makes a fast model.** In [03c](03c_test_time.ipynb) most of the time is spent on making $A_t$.

# %% [markdown]
# ## Exercises
#
# You will find each exercise in its section. Stuck? `hint("03.8")`. Done? Compare with `solution("03.8")`.

# %% [markdown]
# <!-- The exercises of this chapter, listed by lrnnlab book build. -->
#
# 1 exercise, 3 points, about 10 minutes:
#
# | exercise | section | difficulty | minutes | points | you will learn |
# |---|---|---|---|---|---|
# | 8 | [1 The recorded benchmark](#1-The-recorded-benchmark) | ★ | 10 | 3 | to read more than arithmetic from a benchmark |
