# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 07a · Linear or not
#
# Which of the eleven tasks are linear in their inputs, how far does a linear map come on CumMax, which is not, and what does it take? *It takes* about 10 min to read. Behind [chapter 07](07_long_range.ipynb).

# %% tags=["hide-input"]
import numpy as np
import sympy as sp
import torch

import lrnnlab
from lrnnlab import tasks, training
from lrnnlab.tasks import atomic
from workbook import show
from workbook.chapters import ch07
from workbook.exercises import check, hint, solution

EXPECTED = "0.1"
if not lrnnlab.__version__.startswith(EXPECTED):
    raise RuntimeError(
        f"needs lrnnlab {EXPECTED}, here is {lrnnlab.__version__}: run bootstrap.py"
    )
print(f"lrnnlab {EXPECTED}: ready")

# %% [markdown]
# ## 1 Theorem 2
#
# **Theorem 2.** *Shift, CumSum, Reverse, SelectFixed and SolveFixed are linear, up to a constant, in the numbers that
# change from input to input. CumMax, Sort, Select, MIPS, ContextShift and Solve are not.*
#
# **Step 1 (the six).** Draw 500 inputs, more than an input has numbers. If a task is linear in them, up to a constant,
# some weights fit all 500 exactly. Where none do, it is not linear.

# %% tags=["proof-linear"]
left = {}  # the largest error of the best weights
for name in atomic.ATOMIC:
    task = ch07.skill(name)
    drawn = task.draw(500, 16, torch.Generator().manual_seed(1)).double()
    x = np.c_[drawn.flatten(1).numpy(), np.ones(len(drawn))]
    y = task.targets(drawn).flatten(1).double().numpy()
    left[name] = np.abs(x @ np.linalg.lstsq(x, y, rcond=1e-6)[0] - y).max()
linear = [name for name in left if left[name] < 1e-6]
assert linear == ["shift", "cumsum", "reverse", "select_fixed", "solve_fixed"], (
    "Theorem 2, step 1: others"
)
assert all(left[name] > 0.1 for name in left if name not in linear), "Theorem 2, step 1: far from a fit"
print("not linear:", ", ".join(name for name in left if name not in linear))

# %% [markdown]
# **Step 2 (the five).** Their rules are sums with fixed weights: $y_i = x_{i - jL/8}$,
# $\sum_{k\le i} x_k/\sqrt{i+1}$, $x_{L-1-i}$, $x_{p_i}$, and $A^\top b$ with one $A$. So it is enough to know what they
# do to unit inputs. The cell finds their weights in this way, and compares with the rule. **Sample:** 50 inputs.

# %% tags=["proof-linear"]
for name in linear:
    task = ch07.skill(name)
    inputs = task.draw(50, 16, torch.Generator().manual_seed(2)).double()
    free = (inputs[0, :, 0] != inputs[1, :, 0]).nonzero()[:, 0]
    units = inputs[:1].repeat(len(free) + 1, 1, 1)
    units[:, free, 0] = 0
    units[torch.arange(len(free)), free, 0] = 1
    answers = task.targets(units)
    weights, rest = answers[:-1] - answers[-1], answers[-1]
    summed = torch.einsum("bp,pjd->bjd", inputs[:, free, 0], weights) + rest
    assert torch.allclose(summed, task.targets(inputs), atol=1e-5), (
        f"Theorem 2, step 2: {name} is another sum"
    )
print(f"{len(linear)} tasks, each a sum with fixed weights")

# %% [markdown]
# **Exercise 3** ★★★ *(15 min, 3 points: to use a symmetry)* **A proof step.** Why is $R^2 = 0$ the best that a linear map of
# the inputs can get on Solve, at any length?

# %% [markdown]
# <!-- Exercise 07.3: from notebooks/workbook/exercises/ch07.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint 1</summary>
#
# Turn the sign of all $b$ and of $X$: is that as likely as before? And the sign of $A$ and of $b$?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# A linear map is no better than 0 if every input number is uncorrelated with every answer.
#
# </details>
#
# <details><summary>Solution</summary>
#
# $(A, b, X)$, $(A, -b, -X)$ and $(-A, -b, X)$ are equally likely. By the second, $X_i$ is uncorrelated with every entry of $A$: the product turns its sign and has the same mean, which is thus 0. By the third, $X_i$ is uncorrelated with every entry of $b$ for the same reason. All answers have mean 0. So the best linear map plus a constant is 0, and $R^2$ is 0. It is the *product* $A^\top b$ that tells $X$.
#
# </details>

# %% [markdown]
# ## 2 A linear map on CumMax
#
# In the table of chapter 07 (section 3) the best linear map does more for CumMax than the mean of each place. That map can be had
# at any length. Two numbers of an input are uncorrelated, and all before a place count alike there. So it answers with
# the mean of the place and a multiple of the sum so far:

# %%
draw = training.rng(0, "chapter 07, linear")
rows = []
for length, inputs in {32: 8000, 128: 8000, 512: 8000, 4096: 4000}.items():
    batch = ch07.skill("cummax").sample(inputs, length, draw)
    y, so_far = batch.targets[..., 0].double(), batch.inputs[..., 0].double().cumsum(1)
    mean = y.mean(0)
    along = ((y - mean) * so_far).mean(0) / (so_far**2).mean(0)
    rows.append({
        "length": f"{length:,}", "mean of each place": f"{tasks.continuous.r_squared(mean.expand_as(y), y):.2f}",
        "and a multiple of the sum": f"{tasks.continuous.r_squared(mean + along * so_far, y):.2f}",
    })  # fmt: skip
show.table(rows, caption="R² on CumMax of the best linear map, and of its constant alone.")

# %% [markdown]
# The lead shrinks with the length: at 4,096 it is about 0.01, so a linear map does not score the paper's 0.52. The GELU of
# its layer must help.
#
# ## 3 A running maximum from a running sum
#
# For CumMax, which is not linear, a layer between two functions that work at each place for
# itself is enough:
#
# **Theorem 5.** *$\frac1\beta \ln \sum_{k \le i} e^{\beta x_k}$, an exponential, a running sum and a logarithm, is
# within $\frac{\ln(i+1)}{\beta}$ above $\max_{k \le i} x_k$.*
#
# **Step 1.** The largest of the $n$ terms is $e^{\beta m}$, the others lie between 0 and it: the sum is between
# $e^{\beta m}$ and $n\,e^{\beta m}$. The cell checks the two bounds where they are tight, all other terms 0 or all
# terms equal, for a free $n$, and at 1,000 drawn sequences.

# %% tags=["proof-cummax"]
beta, m, n = sp.symbols("beta m n", positive=True)
tight = [sp.log(k * sp.exp(beta * m)) / beta - m for k in (1, n)]
for gap, want in zip(tight, (0, sp.log(n) / beta)):
    assert sp.simplify(sp.expand_log(gap) - want) == 0, "Theorem 5, step 1: the bounds are other ones"
x = np.random.default_rng(0).uniform(-1, 1, (1000, 64))
for sharp in (1.0, 10.0, 100.0):
    soft = np.log(np.exp(sharp * x).cumsum(1)) / sharp
    above = soft - np.maximum.accumulate(x, axis=1)
    bound = np.log(np.arange(1, 65)) / sharp
    assert (above > -1e-9).all() and (above < bound + 1e-9).all(), (
        f"Theorem 5, step 1: beta = {sharp:g}"
    )
    print(f"beta = {sharp:g}: above the maximum by at most {above.max():.3f}, bound {bound[-1]:.3f}")

# %% [markdown]
# **Exercise 7** ★ *(5 min, 3 points: to use a bound)* How large must $\beta$ be in theorem 5 for an error of at most
# 0.01 at length 512? (The least $\beta$ for which the bound says so.)

# %%
my_beta = None  # exercise 7: a number
check("07.7", my_beta)

# %% [markdown]
# <!-- Exercise 07.7: from notebooks/workbook/exercises/ch07.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint 1</summary>
#
# The bound is largest at the last place.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# $\ln(512)/\beta \le 0.01$.
#
# </details>
#
# <details><summary>Solution</summary>
#
# $\beta = 100 \ln 512 \approx 623.8$. (In float32 $e^{624}$ overflows: subtract the running maximum first, which is what has to be computed.)
#
# </details>

# %% [markdown]
# ## Exercises
#
# You will find each exercise in its section. Stuck? `hint("07.3")`. Done? Compare with `solution("07.3")`.

# %% [markdown]
# <!-- The exercises of this chapter, listed by lrnnlab book build. -->
#
# 2 exercises, 6 points, about 20 minutes:
#
# | exercise | section | difficulty | minutes | points | you will learn |
# |---|---|---|---|---|---|
# | 3 | [1 Theorem 2](#1-Theorem-2) | ★★★ | 15 | 3 | to use a symmetry |
# | 7 | [3 A running maximum from a running sum](#3-A-running-maximum-from-a-running-sum) | ★ | 5 | 3 | to use a bound |
