# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 03c · Test time
#
# Why was the paper's PScan no faster at test time, and what is? *It takes* about 10 min to read. Behind [chapter 03](03_parallel_scans.ipynb).

# %% tags=["hide-input"]
import math

import torch

import lrnnlab
from lrnnlab import scans
from lrnnlab.scans import linear_scan, token_scan
from workbook import show
from workbook.chapters import ch03
from workbook.exercises import hint, solution
from workbook.show import lrnn_figures

EXPECTED = "0.1"
if not lrnnlab.__version__.startswith(EXPECTED):
    raise RuntimeError(f"this notebook needs lrnnlab {EXPECTED}, here is "
                       f"{lrnnlab.__version__}: run bootstrap.py")
scans.warm()
print(f"lrnnlab {EXPECTED}: ready")

# %% [markdown]
# ## 1 Why the paper's PScan was no faster at test time
#
# > **The paper, section 4.5.** "Sequential requires 0.033s per instance, while PScan completes the task in 0.021s" (training, $T = 40$). "During
# > the testing stage, we set $T = 500$, where both Sequential and PScan take 0.03s per instance. [...] the complexity incurred by $b^3$ counteracts
# > the speedup offered by $\log(T)$. To validate our hypothesis, we set $b = 1$ and reassess the speed. Subsequently, PScan achieves 0.0008s per
# > instance, whereas Sequential takes 0.002s."
#
# Their machine was a GPU (Quadro RTX 8000) and ours is one thread of a CPU, so seconds cannot be compared; but ratios can be looked at side by side. Ours are measured live with a batch of 16, and recorded with a batch of 128 (`lrnnlab reproduce lrnn/speed --budget desk`).

# %% tags=["nbval-ignore-output"]
live = ch03.live_speed(batch=16)
ratios = live["model.pscan.ratio"]
times = f"{min(ratios):.1f} to {max(ratios):.1f} times the loop's"
show.figure(
    lrnn_figures.speed_ratios(live, "live"),
    alt="Live: time over the sequential loop's in four settings, for the whole model and the "
        f"scan alone. PScan's time for the whole model is {times}.",
    caption="What to see: where PScan (first line of each group) lies: right of the line it "
            f"is slower than the loop. Here, on one CPU thread, the whole model takes {times} "
            "time. The paper's diamonds lie on the line or left.",
)  # fmt: skip

# %% tags=["hide-input"]
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
# * On an H200 ([03d](03d_benchmark.ipynb), section 3) a loop in Python waits for Python at every step, and PScan beats it. The scan alone takes
#   0.20, 0.31, 0.43 and 0.78 times the loop's time with blocks of 2, 4, 8 and 16 ($T = 500$, $B = 128$, forward). So larger
#   blocks do cost PScan its lead, as the paper says. So do longer strings: at $T = 4{,}096$ the ratio is 0.93 to 1.24. In
#   training at $T = 40$ with $b = 8$ it is 0.62; the paper's, for the whole model, is 0.64. Our compiled loop beats both by far.
# * The paper's explanation, $b^3$ against $\log T$, rightly points to the work: chapter 03, section 3, counts 33 times the loop's multiplications. With $b = 1$, where $b^3 = b^2$, it is 8 times.
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
# **Exercise 7** ★ *(5 min, 3 points: to tell when a token table saves memory)* For which numbers of letters $V$ does a
# token table save memory, at given $B$ and $T$? And why can it not be used in the second layer?

# %% [markdown]
# <!-- Exercise 03.7: from notebooks/workbook/exercises/ch03.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint</summary>
#
# How many numbers has the table, and how many the tensor of all steps?
#
# </details>
#
# <details><summary>Solution</summary>
#
# $V < B\,T$ (tables $V h b^2$, the tensor $B T h b^2$). In the second layer the input is the
# first layer's output, which depends on the whole string so far.
#
# </details>

# %% [markdown]
# ## Exercises
#
# You will find each exercise in its section. Stuck? `hint("03.7")`. Done? Compare with `solution("03.7")`.

# %% [markdown]
# <!-- The exercises of this chapter, listed by lrnnlab book build. -->
#
# 1 exercise, 3 points, about 5 minutes:
#
# | exercise | section | difficulty | minutes | points | you will learn |
# |---|---|---|---|---|---|
# | 7 | [2 The token table](#2-The-token-table) | ★ | 5 | 3 | to tell when a token table saves memory |
