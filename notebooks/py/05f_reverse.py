# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 05f · Reverse
#
# Which tasks can one convolution not do, and how many does Reverse need? *It takes* about 15 min to read. Behind [chapter 05](05_diagonal_kernels.ipynb).

# %% tags=["hide-input"]
import numpy as np
import torch

import lrnnlab
from lrnnlab import models, tasks, training
from workbook import show
from workbook.chapters import ch05
from workbook.exercises import hint, solution

EXPECTED = "0.1"
if not lrnnlab.__version__.startswith(EXPECTED):
    raise RuntimeError(
        f"needs lrnnlab {EXPECTED}, here is {lrnnlab.__version__}: run bootstrap.py"
    )
print(f"lrnnlab {EXPECTED}: ready")

# %% [markdown]
# ## 1 One convolution is not enough
#
# > **The paper, section 3.3.** DLR fails on Reverse, where "a value at position $i$ needs to be right-shifted by $2L - i$ positions".
#
# By how many places exactly? $x_p$ is at place $p$ and is wanted at place $2L - 1 - p$, so it must be shifted by $2L - 1 - 2p$. (With the paper's formula $x_0$ would land one place beyond the end.)

# %% tags=["hide-input"]
show.figure(
    ch05.reverse_moves(6),
    alt="Six letters and six zeros; an arrow from each letter to its place in the reversed "
        "copy, of lengths 11, 9, 7, 5, 3 and 1.",
    caption="What to see: every arrow has another length, all odd. One convolution moves "
            "everything by the same amounts.",
)  # fmt: skip


# %% [markdown]
# **Step 1 (the moves).** The $L$ letters need $L$ different shifts, all odd. **Every letter, $L \le 12$.**

# %% tags=["proof-reverse"]
def shift_of(L, p):
    return 2 * L - 1 - 2 * p


for L in range(2, 13):
    given = [*range(L), *[None] * L]  # the letter x_p is called p
    wanted = [*[None] * L, *reversed(range(L))]
    moves = [wanted.index(p) - given.index(p) for p in range(L)]
    assert moves == [shift_of(L, p) for p in range(L)], f"Reverse, step 1: L = {L}"
    assert len(set(moves)) == L and all(move % 2 for move in moves), (
        "Reverse, step 1: different and odd"
    )
print("L = 12:", moves)


# %% [markdown]
# **Step 2 (one kernel explains little).** There are $n_d = \min(d, 2L - d)$ pairs of an input and an output that are $d$ places apart, and for odd $d$ exactly one of them is wanted. So for white inputs the best tap at lag $d$ is $1/n_d$, and the best kernel explains the share $\frac1L\sum_d\frac1{n_d}$ of the variance, summed over the odd $d$. The cell compares this with least squares, for $L = 2, 5, 8$.

# %% tags=["proof-reverse"]
def best_convolution(L):
    return sum(1 / min(d, 2 * L - d) for d in range(1, 2 * L, 2)) / L


for L in (2, 5, 8):
    lags = [L + q - p for q in range(L) for p in range(L)]  # from letter p to output L + q
    goal = np.array([float(p == L - 1 - q) for q in range(L) for p in range(L)])
    table = np.array([[float(lag == d) for d in range(1, 2 * L)] for lag in lags])
    fitted = table @ np.linalg.lstsq(table, goal, rcond=None)[0]
    assert abs(1 - ((fitted - goal) ** 2).sum() / L - best_convolution(L)) < 1e-9, (
        "Reverse, step 2: what one kernel explains"
    )
print(f"explained: at L = 64 {best_convolution(64):.3f}, at 4096 {best_convolution(4096):.4f}")

# %% [markdown]
# **Step 3 (how many kernels).** Let every output $L + i$ weigh several convolutions in its own way, which gives it a kernel of its own. It sees the taps $i+1, \dots, i+L$ of that kernel, and wants the tap $2i+1$ alone to be 1 and the others 0. Look at the first $\lceil L/2\rceil$ outputs. Each of them sees the taps that the later ones want, so its kernel is 1 at its own tap and 0 at theirs. A table of these kernels at these taps is triangular with ones on the diagonal, so the kernels are independent, and as many convolutions are needed.
#
# **Step 4 (and no more).** Outputs $i$ and $i + \lceil L/2\rceil$ can share a kernel, the sum of their one-hots,
# since neither sees the other's tap.

# %% tags=["proof-reverse"]
for L in range(2, 13):
    half = (L + 1) // 2
    assert all(i + 1 <= 2 * j + 1 <= i + L for i in range(half) for j in range(i, half)), (
        "Reverse, step 3: each of the first outputs sees the taps of the later ones"
    )
    for i in range(L):
        kernel = {2 * j + 1 for j in (i % half, i % half + half) if j < L}
        assert [p for p in range(L) if L + i - p in kernel] == [L - 1 - i], (
            "Reverse, step 4: neither sees the other's tap"
        )
print("L = 12:", half, "kernels")

# %% [markdown]
# **Break it.** With the paper's $2L - i$ step 1 fails:

# %% tags=["proof-reverse"]
with show.expect_failure("Reverse, step 1"):
    for L in range(2, 13):
        given, wanted = [*range(L), *[None] * L], [*[None] * L, *reversed(range(L))]
        moves = [wanted.index(p) - given.index(p) for p in range(L)]
        assert moves == [2 * L - p for p in range(L)], (
            f"Reverse, step 1: L = {L}: {[2 * L - p for p in range(L)]}, not {moves}"
        )


# %% [markdown]
# ## 2 Four tasks, live
#
# One layer is trained for 100 steps on each of four atomic tasks. (The training loop is that of chapter 05, section 5.)

# %% tags=["hide-input"]
def train(task, length, steps=200, layers=1, width=16, rate=5e-3, **options):
    """(net before training as a state, net, R2 on fresh sequences)."""
    torch.manual_seed(0)
    draw = training.rng(0, "train")
    scored = task.sample(1, length, draw).targets.shape[1]
    paper = models.PAPER_004  # the norm behind the sum, the gate, the activation
    stacked = models.blocks(lambda width: models.DLR(width, **options), width, layers, **paper)
    net = models.Net(stacked, task.d_out, width, columns=task.d_in, last_outputs=scored)
    start = {name: value.clone() for name, value in net.state_dict().items()}
    optimiser = torch.optim.AdamW(net.parameters(), lr=rate, weight_decay=0, fused=True)
    with training.deterministic():
        for _ in range(steps):
            batch = task.sample(8, length, draw)
            optimiser.zero_grad()
            batch.loss(net(batch.inputs)).backward()
            optimiser.step()
        fresh = task.sample(128, length, training.rng(0, "test"))
        with torch.no_grad():
            return start, net, tasks.continuous.r_squared(net(fresh.inputs), fresh.targets)


flat = {"dt": (1e-5, 1e-5)}  # modes that hardly fade, the paper's start for such tasks

# %% tags=["nbval-ignore-output"]
atomic = tasks.atomic
asked = {
    atomic.CumSum(): "1",
    atomic.CumMax(): ".52",
    atomic.Reverse(): ".01",
    atomic.ContextShift(): "0",
}
other = {task.name: train(task, 64, steps=100, state=64, **flat)[2] for task in asked}
show.table(
    [
        {
            "task": task.name,
            "paper, L = 4096": paper,
            "live, L = 64": other[task.name],
            "an answer that learns nothing, L = 64": tasks.atomic_levels.trivial_level(
                task, 64
            ),
        }
        for task, paper in asked.items()
    ],
    caption="R2 of one DLR layer; live after 100 steps. Lengths and budgets differ: the "
    "columns agree in kind, not in digits.",
    formats={"live, L = 64": ".2f", "an answer that learns nothing, L = 64": ".2f"},
)

# %%
least = max(other["Reverse"], other["ContextShift"])
print(f"CumSum learned: {other['CumSum'] > 0.9}; Reverse and ContextShift not: {least < 0.4}")

# %% [markdown]
# CumSum is one kernel (all ones). The paper's .52 on CumMax is hardly more than what the mean of each position scores (.46 at its length), so little was learned there. Reverse needs many kernels. And ContextShift needs a kernel that depends on the input, which a constant transition cannot have.

# %% [markdown]
# **Exercise 13** ★ *(5 min, 3 points: to count the kernels of a task)* How many different shifts does Reverse need at length
# $L$, and how many kernels, if each output may weigh them in its own way?

# %% [markdown]
# <!-- Exercise 05.13: from notebooks/workbook/exercises/ch05.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint 1</summary>
#
# Look at the picture of the moves: how many arrows of different length are there for $L$ letters?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# Which taps does an output never see? Can two outputs share a kernel?
#
# </details>
#
# <details><summary>Solution</summary>
#
# $L$ shifts; $\lceil L/2\rceil$ kernels, as an output does not see all taps, and two can share
# one.
#
# </details>

# %% [markdown]
# ## Exercises
#
# You will find each exercise in its section. Stuck? `hint("05.13")`. Done? Compare with `solution("05.13")`.

# %% [markdown]
# <!-- The exercises of this chapter, listed by lrnnlab book build. -->
#
# 1 exercise, 3 points, about 5 minutes:
#
# | exercise | section | difficulty | minutes | points | you will learn |
# |---|---|---|---|---|---|
# | 13 | [2 Four tasks, live](#2-Four-tasks,-live) | ★ | 5 | 3 | to count the kernels of a task |
