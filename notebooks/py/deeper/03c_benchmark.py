# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 03c · Benchmark
#
# Why was the paper's PScan no faster at test time? And how fast is each scan that we could install, beside what the memory allows, on a CPU and on a GPU? *It takes* about 35 min to read and 15 min for the exercises. It belongs to [chapter 03](../03_parallel_scans.ipynb).

# %% jupyter={"source_hidden": true} tags=["hide-input"]
import math
import statistics
import time

import numpy as np
import torch

import lrnnbook
from lrnnbook import show
from lrnnbook.content.chapters import ch03
from lrnnbook.content.exercises import check, hint, solution
from lrnnbook.content.show import bench_figures, lrnn_figures
from lrnnbook.content.show.widgets import explore
from lrnnlab import scans
from lrnnlab.scans import linear_scan, token_scan

lrnnbook.needs("0.1")
scans.warm()

# %% [markdown]
# ## 1 Why the paper's PScan was no faster at test time
#
# > **The paper, section 4.5.** "Sequential requires 0.033s per instance, while PScan completes the task in 0.021s" (training, $T = 40$). "During
# > the testing stage, we set $T = 500$, where both Sequential and PScan take 0.03s per instance. [...] the complexity incurred by $b^3$ counteracts
# > the speedup offered by $\log(T)$. To validate our hypothesis, we set $b = 1$ and reassess the speed. Subsequently, PScan achieves 0.0008s per
# > instance, whereas Sequential takes 0.002s."
#
# Their machine was a GPU (Quadro RTX 8000) and ours is one thread of a CPU, so seconds cannot be compared; but ratios can be looked at side by side. Ours are measured live with a batch of 16, and recorded with a batch of 128 (`lrnnlab reproduce lrnn/speed --budget desk`).

# %%
live = ch03.live_speed(batch=16)
ratios = live["model.pscan.ratio"]
times = f"{min(ratios):.1f} to {max(ratios):.1f} times the loop's"

# %% jupyter={"source_hidden": true} tags=["hide-input", "varies", "nbval-ignore-output"]
show.figure(
    lrnn_figures.speed_ratios(live, "live"),
    alt="Live: time over the sequential loop's in four settings, for the whole model and the "
        f"scan alone. PScan's time for the whole model is {times}.",
    caption="What to see: where PScan (first line of each group) lies: right of the line it "
            f"is slower than the loop. Here, on one CPU thread, the whole model takes {times} "
            "time. The paper's diamonds lie on the line or left.",
)  # fmt: skip

# %% jupyter={"source_hidden": true} tags=["hide-input"]
table, least = ch03.speed_table()
show.table(
    table,
    formats={name: ".2f" for name in table[0] if "/" in name or "recorded" in name},
    caption="Time of PScan over the loop's. Last column: what making the transitions, readout "
            "and optimiser take of the loop's whole time.",
)  # fmt: skip
print(f"in every setting at least {math.floor(10 * least) * 10} % of the loop's whole "
      "time is not the scan")

# %% [markdown]
# **What can be said.**
#
# * On one CPU thread PScan gains nothing from its small depth, and its work is many times the loop's.
# * On an H200 (section 5) a loop in Python waits for Python at every step, and PScan beats it. The scan alone takes
#   0.20, 0.31, 0.43 and 0.78 times the loop's time with blocks of 2, 4, 8 and 16 ($T = 500$, $B = 128$, forward). So larger
#   blocks do cost PScan its lead, as the paper says. So do longer strings: at $T = 4{,}096$ the ratio is 0.93 to 1.24. In
#   training at $T = 40$ with $b = 8$ it is 0.62; the paper's, for the whole model, is 0.64. Our compiled loop beats both by far.
# * The paper's explanation, $b^3$ against $\log T$, rightly points to the work: chapter 03, section 4, counts 33 times the loop's multiplications. With $b = 1$, where $b^3 = b^2$, it is 8 times.
# * But its three numbers do not prove it. Whatever is timed *besides* the scan is the same for both ways and pulls the ratio towards 1. Here that part is most of the time: at each position a network makes $h b^2 = 512$ numbers of $A_t$. With $b = 1$, in 64 blocks so that the width is the same, it makes only 64, so this part shrinks as well, and the ratio moves away from 1 *for two reasons at once*.
# * A loop of 500 steps took the paper's GPU no longer than one of 40 with its backward pass. What an "instance" is (a string? a batch?) the paper does not say.

# %% [markdown]
# ## 2 The token table
#
# The last column of the table in section 1 says where to look: not at the scan but at the transitions. A regular language has a handful of letters. In the first layer $A_t$ depends on the letter only, so there are $V$ different matrices, not $B\,T$. Make them once, and let the scan **look them up**: then neither the tensor $A$ of shape $(B, T, h, b, b)$ nor its gradient ever exists.

# %%
B, T, V, h, b = 16, 500, 8, 8, 8
draw = torch.Generator().manual_seed(6)
tables = [
    (torch.randn(V, h, b, b, generator=draw) * 0.3).requires_grad_(),
    torch.randn(V, h, b, generator=draw).requires_grad_(),
]
tokens = torch.randint(V, (B, T), generator=draw)
dx = torch.randn(B, T, h, b, generator=draw)
by_token = token_scan(*tables, tokens)
spread_out = linear_scan(tables[0][tokens], tables[1][tokens])
print(f"the same states: {torch.allclose(by_token, spread_out, atol=1e-5)}")
pairs = zip(*(torch.autograd.grad(x, tables, dx) for x in (by_token, spread_out)))
print(
    "the same gradients of the tables: "
    f"{all(((p - q).abs() <= 1e-3 * (q.abs().max() + q.abs())).all() for p, q in pairs)}"
)
print(
    f"A and its gradient at B = 128: {2 * 128 * T * h * b * b * 4 / 1e6:.0f} MB; tables and "
    f"their gradients: {2 * V * h * b * b * 4 / 1e6:.2f} MB"
)
spread, table = ch03.must_move(128, 500, 8, 8)
print(
    f"bytes that must move, forward and backward: {spread / 1e6:.0f} MB against "
    f"{table / 1e6:.0f} MB, {spread / table:.0f} times less"
)

# %% [markdown]
# This is the line *compiled, by token* in the figure of section 1. In layers above the first the input is no longer one of $V$ things, and the table is of no use; there the whole
# $A$ has to be made and read.

# %% [markdown]
# **Exercise 10** ★ *(5 min, 3 points: to tell when a token table saves memory)* For which numbers of letters $V$ does a
# token table save memory, at given $B$ and $T$? And why can it not be used in the second layer?

# %% [markdown]
# <!-- Exercise 03.10: from notebooks/lrnnbook/content/exercises/ch03.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint</summary>
#
# How many numbers has the table, and how many the tensor of all steps?
#
# </details>

# %% [markdown]
# ## 3 The recorded benchmark
#
# We timed every scan that could be installed, in turn and on the same numbers (`lrnnlab bench scans --threads 1 --record`, and `--threads 2`). The colour says how it scans: black is a loop, purple PScan, green another tree.

# %% jupyter={"source_hidden": true} tags=["hide-input", "nbval-ignore-output"]
bench = bench_figures.recorded()


def draw_times(part):
    return bench_figures.times_ours(bench, bench_figures.PARTS[part])


def say_times(part):
    return ch03.times_sentence(bench, part)


show.figure(
    draw_times("forward + backward"),
    alt="For every case and number of threads, the time of the other scans over ours, "
        "on a logarithmic axis. What was not run is a hollow mark. The numbers are "
        "in the table below.",
    caption="Recorded. What to see: everything right of the line takes longer than our "
            "compiled loop. Among the others, loops tend to lie left of trees: on a CPU work "
            "decides, not depth.",
)  # fmt: skip
print(say_times("forward + backward").replace(". ", ".\n"))

# %% jupyter={"source_hidden": true} tags=["hide-input", "nbval-ignore-output"]
times_widget = explore(
    draw_times, {"part": list(bench_figures.PARTS)}, initial={"part": "forward"},
    sentence=say_times,
    alt="Time of every other scan over ours for the chosen part of the work.",
)  # fmt: skip
times_widget

# %% jupyter={"source_hidden": true} tags=["hide-input"]
for threads in bench:
    show.table(
        bench_figures.times_table(bench, threads), formats={"ours, ms": ".3g"},
        caption=f"Recorded on {bench_figures.origin(bench[threads])}, "
                f"{threads} thread{'s' * (threads > 1)}, forward and backward: milliseconds of "
                "ours (median), the share of the copying speed (section 4) that it reaches forward and "
                "in both together, and how many times longer the others took; or why a case was not run.",
    )  # fmt: skip

# %% [markdown]
# **Exercise 11** ★ *(10 min, 3 points: to read more than arithmetic from a benchmark)* **Read a picture.** JAX compiles
# both a loop, `lax.scan`, and a tree, `associative_scan`. In the table for one thread there is exactly one case of
# blocks in which the tree takes less than half of the loop's time. Which? And why there, since one thread wins nothing
# from depth?

# %%
my_case = None  # exercise 11: (b, B, T), three whole numbers
check("03.11", my_case)

# %% [markdown]
# <!-- Exercise 03.11: from notebooks/lrnnbook/content/exercises/ch03.md, by lrnnlab book build; change it there. -->
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

# %% [markdown]
# ## 4 The memory's line
#
# No scan that reads $A$ and $b$ and writes $x$ can be faster than the memory. How much of the memory's speed do they use? In the same run, in turn with the scans, a large array is copied; the bytes that this reads and writes in a second are our 100 %. Some cases beat 100 %: they fit into the cache, or they read far more than they write, which a copy does not. The copy itself varies: its least and greatest speed are printed below.

# %% jupyter={"source_hidden": true} tags=["hide-input", "nbval-ignore-output"]
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
# ## 5 On a GPU
#
# The same cases, timed once on an NVIDIA H200 (`lrnnlab bench scans --device cuda --record`), by the GPU's own clock. Shares are of
# the speed at which it copies memory in the same run, 4.1 to 4.2 TB/s. The last two columns name the other scan that comes nearest, and
# how many times longer its forward pass takes.

# %% jupyter={"source_hidden": true} tags=["hide-input"]
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
# * *Few long strings.* With $B = 1$ and $T = 16{,}384$ it cuts the string into chunks (chapter 03, exercise 6) and reaches 1 to 12 %. One case is unlike the others: with
#   $b = 16$ forward takes 1.49 ms, 17 times as long as with $b = 8$, and backward only 0.31 ms. We cannot explain it.
# * *Diagonal.* Real transitions reach 42 % forward, complex ones 19 %.
# * *Token table.* On one CPU core it is 2.4 times as fast as reading $A$ ($T = 500$, $b = 8$, forward). Here it saves memory but no time: it takes 1.1 to 2.0 times as long.
# * *The others.* In no case was another scan faster. The nearest took 2.2 times as long (accelerated-scan, real diagonal, forward and backward), for blocks
#   3.5 times (pararnn, forward only). With $B = 1$ only pararnn was timed; the others would have taken too long.
# * *Two of them wait.* The loop (unbind) waits for Python, which starts every step: at $T = 500$ it takes 18 to 28 ms whatever the block size, though blocks of 16 move 36 times the bytes of blocks of 2.
#   So does PScan at $T = 40$ with small blocks. On longer strings its time is its own: from $T = 40$ to 500 it grows tenfold, while its levels grow from 6 to 9.
# * *And sometimes ours waits.* With $b = 2$ and $T = 500$ forward and backward in one call took 1.05 ms (0.65 to 1.59), but alone they take 0.03 and 0.04 ms: this call waits for Python, too.
#
# **Does the model of chapter 03, section 5, hold?** With 128 strings it says that the loop is first and that memory is what holds it up. So it was, most clearly with
# large blocks. But it says that PScan takes 6 to 22 times as long, and a tree about 3 times; measured are 52 to 1,498 times for PScan and 41 to 349 times for
# torch's `associative_scan`. It says that the token table takes 0.11 times as long at $b = 8$; measured are 1.1 to 2.0. With one string it lets each of 16,384 steps cost one tick, and ours
# is not that loop: it works in chunks. So the model tells you which scan is first, and not by how much.

# %% [markdown]
# ## 6 What the model leaves out: page faults
#
# A result needs memory. The system hands out fresh memory page by page, when a page is touched for the first time. Each first touch costs a call into the system: 32,000 calls for the gradient of $A$ at $(B, T, h, b, b) = (128, 500, 8, 8, 8)$, 131 MB in pages of 4 kB. In a naive backward pass that takes about as long as all of the arithmetic. Linux gives pages of 2 MB to those who ask; `np.empty` asks, `torch.empty` does not, so our scans take large results from NumPy. Here is how long it takes to fill 64 MB, live:

# %% tags=["varies", "nbval-ignore-output"]
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
# ## 7 A softmax and its scan in one pass
#
# Above the first layer there is no table: a small network makes raw numbers $r_t$, a softmax over the rows of each column makes $A_t$, and
# the scan $x_t = A_t x_{t-1}$ reads it. Taken apart, the way back builds $\partial L / \partial A_t$ and then
# $\partial L / \partial r_t$, each as large as $A_t$. The first need never exist.
#
# > **The gradient in closed form.** Let $g_t$ be the gradient that arrives at $x_t$, from its own use and from all later states, and
# > $v_t = A_t^\top g_t$. Then $v_t$ is what passes on to $x_{t-1}$, and
# > $$\frac{\partial L}{\partial r_t[i,j]} = A_t[i,j] \; x_{t-1}[j] \; \bigl(g_t[i] - v_t[j]\bigr).$$
#
# *Proof.* $x_t[i] = \sum_j A_t[i,j]\, x_{t-1}[j]$, so the gradient in $A_t[i,j]$ is $g_t[i]\, x_{t-1}[j]$. The softmax of column $j$ has
# $\partial A[k,j] / \partial r[i,j] = A[k,j]\,(\delta_{ik} - A[i,j])$. Hence
# $$\frac{\partial L}{\partial r[i,j]} = \sum_k g[k]\, x[j]\, A[k,j]\,(\delta_{ik} - A[i,j])
# = x[j]\, A[i,j] \Bigl(g[i] - \sum_k A[k,j]\, g[k]\Bigr),$$
# and the last sum is $v[j]$. $\square$
#
# So a block's way back needs only the block, one state and one vector $g$, and all of them fit into registers. Two things can be read off.
# Every column of the gradient sums to 0, as it must, since a constant added to a column changes no softmax. And a column that is
# one-hot has no gradient at all: where $A[i,j] = 1$, $v[j] = g[i]$. A sharp column learns no more.

# %%
B, T, h, b = 3, 20, 2, 4
draw = torch.Generator().manual_seed(7)
raw = torch.randn(B, T, b, h, b, generator=draw, dtype=torch.float64).requires_grad_()
start = torch.rand(B, h, b, generator=draw, dtype=torch.float64)
dx = torch.randn(B, T, h, b, generator=draw, dtype=torch.float64)
A, x = scans.softmax_scan(raw, start, backend="reference")
(by_autograd,) = torch.autograd.grad(x, raw, dx)

A, x = A.detach().transpose(2, 3), x.detach()  # (B, T, h, row, column)
before = torch.cat([start[:, None], x[:, :-1]], 1)
closed, without_v, g = torch.empty_like(A), torch.empty_like(A), torch.zeros_like(start)
for t in reversed(range(T)):
    g = g + dx[:, t]
    v = torch.einsum("zhij,zhi->zhj", A[:, t], g)
    slope = A[:, t] * before[:, t, :, None]
    closed[:, t] = slope * (g[..., :, None] - v[..., None, :])
    without_v[:, t] = slope * g[..., :, None]  # a planted fault
    g = v
closed, without_v = (one.transpose(2, 3) for one in (closed, without_v))
assert torch.allclose(closed, by_autograd, rtol=0, atol=1e-12)
assert not torch.allclose(without_v, by_autograd, rtol=0, atol=1e-2)
assert closed.sum(2).abs().max() < 1e-12
print("the closed form is autograd's gradient to 1e-12; without v it is not; its columns sum to 0")

# %% [markdown]
# `softmax_scan` does this in one compiled pass. A layer of chapter 02 goes one step further
# (`lrnnlab/models/kernels/generator.py`): the same pass makes the two products of the network, part of the batch by part. Of the
# tensors as large as $A$ only $A$ itself is kept; $r_t$ and its gradient do not outlive their part.

# %% [markdown]
# ## 8 What this does not show
#
# * **Nothing about other GPUs.** The numbers are of one H200, in float32, with one run of five rounds a case.
# * **Not that trees are bad.** For $b = 1$, few chains and long strings they are the right thing on parallel hardware.
# * **Not how fast the peers can be.** Each was called as its documentation has it, on shapes of ours, on one kind of machine.
# * **Not that a fast scan makes a fast model.** In section 1 most of the time is spent on making $A_t$.

# %% [markdown]
# ## Exercises
#
# You will find each exercise in its section. Stuck? `hint("03.10")`. Done? Compare with `solution("03.10")`.

# %% [markdown]
# <!-- The exercises of this chapter, listed by lrnnlab book build. -->
#
# 2 exercises, 6 points, about 15 minutes:
#
# | exercise | section | difficulty | minutes | points | you will learn |
# |---|---|---|---|---|---|
# | 10 | [2 The token table](#2-The-token-table) | ★ | 5 | 3 | to tell when a token table saves memory |
# | 11 | [3 The recorded benchmark](#3-The-recorded-benchmark) | ★ | 10 | 3 | to read more than arithmetic from a benchmark |
#
# <details><summary>Solution of 03.10</summary>
#
# $V < B\,T$ (tables $V h b^2$, the tensor $B T h b^2$). In the second layer the input is the
# first layer's output, which depends on the whole string so far.
#
# </details>
#
# <details><summary>Solution of 03.11</summary>
#
# $b = 2$, $B = 1$, $T = 16{,}384$. One thread does all of the tree's work itself, so depth wins nothing. But each
# step of a loop has a cost of its own, to start it; with one string and blocks of size 2 a step has next to nothing to
# compute, and 16,384 starts are most of the time. The tree starts fewer and larger operations. With 128 strings a
# step has more to compute, its start counts for less, and the tree wins little or nothing. At $b = 4$ and $B = 1$ it
# even takes eight times the loop's time, and 37 times its own at $b = 2$, though the arithmetic grows eightfold only: JAX
# must multiply these blocks in another way, which the table does not explain.
#
# </details>
