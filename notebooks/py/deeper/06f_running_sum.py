# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 06f · Running sum
#
# Can you compute a mode as one cumulative sum, and where do floats end it? *It takes* about 10 min to read and 10 min for the exercises. Beyond [chapter 06](../06_ill_conditioned_reals.ipynb).

# %% jupyter={"source_hidden": true} tags=["hide-input"]
import math

import numpy as np
import sympy as sp

import lrnnbook
from lrnnbook import show
from lrnnbook.content.chapters import ch06
from lrnnbook.content.exercises import check, hint, solution
from lrnnbook.content.show.widgets import explore

lrnnbook.needs("0.1")

# %% [markdown]
# ## 1 The running sum
#
# One more sentence of the paper about reals. A mode is $x_k = \lambda x_{k-1} + u_k$, and
#
# > **The paper, footnote 1.** "$x_k = \sum_{j=0}^k \lambda^{k-j}u_j = \lambda^k \sum_{j=0}^k u_j\lambda^{-j}$ [...] is a vanilla cumulative sum with more
# > extensively supported parallel implementations. Unfortunately, this reduction is numerically stable only if $|\lambda| = 1$".
#
# Why should it be unstable? All terms of the sum are made with small *relative* errors, so the error is small beside the largest of them; and with $\lambda < 1$ the largest
# are the last ones, of which $x_k$ mainly consists. What can go wrong is the range: $\lambda^{-k}$ leaves float32 when $k\,|\ln\lambda| > \ln(3.4\cdot10^{38}) = 88.7$.
# So: accurate until the sum itself overflows, at $k = 88.7/|\ln\lambda|$ or up to $\ln\frac1{1-\lambda}/|\ln\lambda|$ steps earlier, and useless from there.

# %% jupyter={"source_hidden": true} tags=["varies", "hide-input", "nbval-ignore-output"]
show.figure(
    ch06.sum_picture(0.99, "float32"),
    alt="Error of the running sum in float32 for lambda 0.99: level near 1e-7 up to 8,660 "
        "steps; then there are no numbers.",
    caption="What to see: no instability, the error is as small at the end as at the "
            "beginning. It ends at once, just before the dashed line (the sum is larger than "
            "its last term).",
)  # fmt: skip

# %% jupyter={"source_hidden": true} tags=["hide-input", "nbval-ignore-output"]
sum_widget = explore(
    ch06.sum_picture,
    {"lam": list(ch06.LAMBDAS), "precision": list(ch06.DIGITS)},
    initial={"lam": 0.9},
    sentence=ch06.sum_sentence,
    alt="Error of the running sum along k, and where it overflows.",
)
sum_widget

# %% [markdown]
# **Step 1 (the reduction).** It is the same number, in exact arithmetic (six steps, free symbols).

# %% tags=["proof-running_sum"]
lam, u = sp.Symbol("lambda", positive=True), sp.symbols("u0:6")
x = sp.S(0)
for k in range(6):
    x = sp.expand(lam * x + u[k])
    assert sp.expand(lam**k * sum(u[j] * lam**-j for j in range(k + 1)) - x) == 0, (
        "The running sum, step 1: the reduction is exact"
    )
show.math("x_5 =", x)

# %% [markdown]
# **Steps 2 and 3 (measured, float32).** Four $\lambda$ and random inputs: errors stay small up to the last finite number; and the first number that is not finite comes at $88.7/|\ln\lambda|$, give or take a step, or up to $\ln\frac1{1-\lambda}/|\ln\lambda|$ steps before (exercise 14).
#
# **Step 4.** The same in float64, at $\lambda = 0.99$: the numbers stay finite eight times as far.

# %% tags=["proof-running_sum"]
for lam in (0.999, 0.99, 0.9, 0.5):
    found = ch06.summed(lam, "float32")
    assert found.errors.max() < 1e-3, "The running sum, step 2: the errors stay small"
    early = found.predicted - math.log(1 / (1 - lam)) / -math.log(lam)
    assert early - 1 <= found.observed <= found.predicted + 1, (
        "The running sum, step 3: the first number that is not finite"
    )
    print(f"lambda = {lam}: finite up to k = {found.observed:,}; λ^-k overflows at {found.predicted:,.0f}")
double = ch06.summed(0.99, "float64")
assert (
    double.errors.max() < 1e-11
    and 7.8 < double.observed / ch06.summed(0.99, "float32").observed < 8.4
), "The running sum, step 4: float64 goes eight times as far"

# %% [markdown]
# **Break it.** A wall 20 % earlier than predicted:

# %% tags=["proof-running_sum"]
with show.expect_failure("The running sum, step 3"):
    for lam in (0.999, 0.99, 0.9, 0.5):
        found = ch06.summed(lam, "float32")
        assert found.observed <= 0.8 * found.predicted + 1, (
            f"The running sum, step 3: at lambda = {lam} the sum goes on"
        )


# %% [markdown]
# So the sum may be used in **chunks** shorter than that, the last state of a chunk being carried into the next. Only a $\lambda$ that is the same
# at every step has such a length, though. If it depends on the input no length is safe, and a reset is a division by 0 ([03d](03d_floats.ipynb)).

# %% tags=["varies", "nbval-ignore-output"]
def in_chunks(lam, u, size):
    """x_k = lam x_{k-1} + u_k in float32: running sums of ``size`` inputs each."""
    states, carried = [], np.float32(0)
    for start in range(0, len(u), size):
        part = u[start : start + size]
        fading = np.float32(lam) ** np.arange(1, len(part) + 1, dtype="float32")
        states.append(ch06.running_sum(lam, part) + fading * carried)
        carried = states[-1][-1]
    return np.concatenate(states)


lam, u = 0.5, np.random.default_rng(1).uniform(-1, 1, 2000)
truth = [0.0]
for value in u:
    truth.append(lam * truth[-1] + value)
whole, cut = ch06.running_sum(lam, u), in_chunks(lam, u, 100)
print(f"one sum over 2,000 inputs: finite at the end: {bool(np.isfinite(whole[-1]))}")
print(f"chunks of 100 < 88.7/ln 2 = {88.7 / math.log(2):.0f}: largest error {np.abs(cut - truth[1:]).max():.0e}")

# %% [markdown]
# **Exercise 14** ★★ *(10 min, 4 points: to predict an overflow)* **A proof step.** Derive
# $88.7/|\ln\lambda|$, where the last term of the sum overflows. For inputs that are all 1 the sum itself overflows
# *earlier*: by how many steps?

# %%
my_earlier = None  # a function of lambda
check("06.14", my_earlier)

# %% [markdown]
# <!-- Exercise 06.14: from notebooks/lrnnbook/content/exercises/ch06.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint</summary>
#
# The sum is a geometric series.
#
# </details>

# %% [markdown]
# ## Exercises
#
# You will find each exercise in its section. Stuck? `hint("06.14")`. Done? Compare with `solution("06.14")`.

# %% [markdown]
# <!-- The exercises of this chapter, listed by lrnnlab book build. -->
#
# 1 exercise, 4 points, about 10 minutes:
#
# | exercise | section | difficulty | minutes | points | you will learn |
# |---|---|---|---|---|---|
# | 14 | [1 The running sum](#1-The-running-sum) | ★★ | 10 | 4 | to predict an overflow |
#
# <details><summary>Solution of 06.14</summary>
#
# By $\ln\frac1{1-\lambda}/|\ln\lambda|$ steps. $\lambda^{-k} = e^{k|\ln\lambda|}$ passes the
# largest number, $e^{88.7}$, at $k = 88.7/|\ln\lambda|$. The sum of all terms up to $k$ is
# $(\lambda^{-(k+1)} - 1)/(\lambda^{-1} - 1)$, about $\lambda^{-k}/(1 - \lambda)$: it passes that number so much
# earlier.
#
# </details>
