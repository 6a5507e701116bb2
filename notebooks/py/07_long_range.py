# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 07 · The long-range suite
#
# A net reads 4,096 numbers and has to write them down again in the order of their distance from the first one. The task is called *Sort*.
# The net scores $R^2 = 0.49$, where a perfect answer scores 1 and a constant 0. Has it learned half of sorting?

# %% jupyter={"source_hidden": true} tags=["hide-input", "nbval-ignore-output"]
import math

import numpy as np
import sympy as sp
import torch
from torch import nn

import lrnnbook
from lrnnbook import show, tables
from lrnnbook.content.chapters import ch07
from lrnnbook.content.exercises import check, guess, hint, mine, solution
from lrnnbook.content.show.widgets import explore
from lrnnlab import tasks, training
from lrnnlab.tasks.numbers import atomic, atomic_levels

lrnnbook.needs("0.1")

show.figure(
    ch07.published_scores(),
    alt="Five published scores as dots on an axis of R squared from 0 to 1: Sort 0.49, CumMax 0.52, Shift 0.22, ContextShift 0.04, MIPS 0.01.",
    caption="Five scores as paper 004 prints them. What to see: two nets seem to have half of a skill. A dot alone does not say so.",
)

# %% [markdown]
# You cannot tell from the number alone. You need a second number: what scores somebody who has *nothing* of the skill?
#
# **What we ask.** *What do long-range benchmarks ask, and what does a good score say?* Paper 004 (Gupta, Mehta and Berant, 2022) built
# most of those in this chapter. Its tables are a pattern of ones and zeros: one model has a skill, another has nothing of it. You will
# build the missing baseline, and see that the pattern depends on three numbers: how many lags a task asks for, how many channels there are,
# and how many steps a net is trained.
#
# *You need:* chapter 05, and section 1 of chapter 06. *It takes* about 40 min to read and 1 h 5 min for the exercises, and a minute of computing.

# %% [markdown]
# ## 1 Eleven skills
#
# The paper's *atomic tasks* are regressions. A sequence of $L$ numbers goes in, with two more columns that tell the place in the
# sequence. Numbers have to come out, at every place or at the last ones.
#
# * *Shift*: at every place the numbers of $jL/8$ steps before, $j = 0, \dots, 7$.
# * *CumSum* and *CumMax*: the sum of all numbers so far (over the root of how many they are), and the largest of them.
# * *Reverse*: when all is read, the numbers backwards.
# * *Sort*: when all is read, the numbers in the order of their distance from the first one.
# * *Select*: the marked numbers, in their order. *SelectFixed*: the same, with the same places marked in all inputs.
# * *MIPS* (maximum inner product search): each place has a query, a key and a value. The answer is the value whose key, of all
#   keys so far, has the largest scalar product with the query.
# * *ContextShift*: a shift by as many steps as the first two numbers say.
# * *Solve*: an orthogonal matrix $A$ and a right side $b$ are read row by row. The solution of $AX = b$ has to come out, and that is
#   $X = A^\top b$. *SolveFixed*: the same with one $A$ for all inputs.
#
# Choose a task. The upper strip is what goes in; below it is what has to come out, where it has to come out:

# %% jupyter={"source_hidden": true} tags=["varies", "hide-input", "nbval-ignore-output"]
skill_widget = explore(
    ch07.one_input,
    {"task": list(atomic.ATOMIC), "length": [16, 32, 48, 64], "seed": [0, 1, 2, 3]},
    sentence=ch07.task_sentence,
    alt="Two strips of coloured cells, one for the numbers that are read and one for those that "
    "have to be written.",
    initial={"task": "reverse", "length": 32},
)  # fmt: skip
skill_widget


# %% [markdown]
# The score is $R^2 = 1 - \sum (\hat y - y)^2 / \sum (y - \bar y)^2$, where $\bar y$ is *one* number, the mean of all answers. So
# $R^2 = 1$ is perfect, and $0$ is what one constant gets.
#
# ## 2 How much can you score without the skill?
#
# A constant gets 0. An answer that depends on the place and on the first number gets more, although it sorts nothing: the numbers closest
# to the first one come out first, those farthest away come out last. How much is that worth? Build it:

# %% [markdown]
# **Exercise 1** ★★ *(15 min, 5 points: to build the baseline that a score needs)* **Build.** Write a function of three arrays: `x` $(n, L)$, inputs of
# Sort; `y` $(n, L)$, their answers; and `x_new` $(m, L)$, fresh inputs. It returns its answers to `x_new`, $(m, L)$. Learn what you like from
# `x` and `y`, but of each row of `x_new` use the *first number only*.

# %%
# %%build baseline
def baseline(x, y, x_new):
    import numpy as np

    raise NotImplementedError  # your lines


# %% [markdown]
# <!-- Exercise 07.1: from notebooks/lrnnbook/content/exercises/ch07.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint 1</summary>
#
# The best answer at place $i$ is a function of the first number alone. Estimate it from `x[:, 0]` and `y[:, i]`, for all $i$ at once.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# For example: a polynomial of degree 7 in the first number, fitted by `np.linalg.lstsq`; or the mean answer of the 40 known
# inputs whose first number is nearest.
#
# </details>

# %% [markdown]
# Now let it answer at the paper's length. It learns from 1,000 inputs and is scored on 2,000 others:

# %%
baseline = mine("baseline")


def drawn(n, L, rng):  # normal numbers, divided by the largest size in their row
    x = rng.normal(size=(n, L))
    return x / np.abs(x).max(1, keepdims=True)


def by_distance(x):  # the task Sort
    return np.take_along_axis(x, np.abs(x - x[:, :1]).argsort(1), 1)


def r2(found, wanted):
    return 1 - ((found - wanted) ** 2).sum() / ((wanted - wanted.mean()) ** 2).sum()


rng = np.random.default_rng(0)
x, x_new = drawn(1_000, 4_096, rng), drawn(2_000, 4_096, rng)
my_score = r2(baseline(x, by_distance(x), x_new), by_distance(x_new))
print(f"Sort, L = 4,096: R2 = {my_score:.2f} from the first number and the place")

# %% jupyter={"source_hidden": true} tags=["hide-input", "nbval-ignore-output"]
show.figure(
    ch07.published_scores(levels=True, yours={"sort": my_score}),
    alt="The five scores, each beside what can be scored without the skill. On Shift, Sort, MIPS and ContextShift the two are equal; on "
    "CumMax the score is 0.06 higher. On Sort the square of your own baseline surrounds both.",
    caption="The same dots, with rings: the best score that we know without the skill. Vermilion: your baseline. What to see: on four of five "
    "tasks the dot is inside the ring, so the score is no evidence of the skill.",
)

# %% [markdown]
# The six layers of the paper's net have learned nothing of sorting: your baseline has their score. On Shift, MIPS and ContextShift it
# is the same. CumMax is 0.06 above its level, more than a linear map gets at that length ([07a](deeper/07a_theorems_proved.ipynb)).
#
# For two of the rings there is a formula.
#
# **Theorem 1.** *Without the skill you can have an $R^2$ of $2/(C+1)$ on Shift with $C$ copies. On MIPS of length $L$ you can have
# $H_L/L$, with the harmonic number $H_L = 1 + \tfrac12 + \dots + \tfrac1L$.*
#
# **Step 1 (Shift).** Column $j$ of the answers is the input $jL/C$ places later, with zeros before. It holds $L - jL/C$ numbers of
# mean 0 and equal variance ($C$ divides $L$). Column 0 is the input itself. Answer that, and 0 in the other columns: over many inputs
# you explain $L$ of $L(C + 1)/2$ shares. **All cases.**
#
# **Step 2 (MIPS).** After $i + 1$ places the answer is one of the values $v_0, \dots, v_i$. All have length 1, are uncorrelated,
# and are equally likely to be the answer. Answer with their mean, for which you compare no key with a query: this explains
# $\tfrac1{i+1}$ of the variance. **Places 0 to 11.** (The other rings are integrals. For CumMax we answer the mean at each place. For
# ContextShift we copy the two numbers that tell the shift $s$ to places $s$ and $s+1$, where they must come out, and answer 0 elsewhere.)
#
# The folded cell computes both shares, and compares them with the package's levels:

# %% jupyter={"source_hidden": true} tags=["hide-input", "proof-levels"]
C, L, j = sp.symbols("C L j", positive=True)
all_numbers = sp.summation(L - j * L / C, (j, 0, C - 1))
level = sp.simplify(L / all_numbers)
assert sp.simplify(level - 2 / (C + 1)) == 0, "Theorem 1, step 1: the share of column 0 is 2/(C+1)"
packaged = atomic_levels.shift_level(8)
assert math.isclose(level.subs(C, 8), packaged), "Theorem 1, step 1: the package has another level"
explained = []
for i in range(12):
    products = np.eye(i + 1, dtype=int)  # the mean scalar product of v_k and v_l
    mean = [sp.Rational(1, i + 1)] * (i + 1)  # the answer, as weights of the values
    square = sum(
        mean[k] * mean[l] * int(products[k, l]) for k in range(i + 1) for l in range(i + 1)
    )
    inner = sum(
        sp.Rational(1, i + 1) * mean[k] * int(products[k, l])
        for k in range(i + 1)
        for l in range(i + 1)
    )
    error = 1 - 2 * inner + square  # |y|^2 is 1
    explained.append(1 - error)
    assert explained[i] == sp.Rational(1, i + 1), f"Theorem 1, step 2: place {i} explains another share"
H_12 = sum(sp.Rational(1, n) for n in range(1, 13))
assert sum(explained) / 12 == H_12 / 12, "Theorem 1, step 2: the mean share is H_L / L"
assert math.isclose(atomic_levels.mips_level(12), H_12 / 12), (
    "Theorem 1, step 2: the package has another level"
)
print(f"MIPS: {float(H_12 / 12):.3f} at length 12, {atomic_levels.mips_level(4096):.4f} at length 4,096")

# %% [markdown]
# **Break it.** If the values were correlated, their mean would explain more. With scalar products of $\tfrac12$ the share is no
# longer $\tfrac1{i+1}$:

# %% jupyter={"source_hidden": true} tags=["hide-input", "proof-levels"]
with show.expect_failure("Theorem 1, step 2"):
    for i in range(12):
        products = (np.eye(i + 1) + np.ones((i + 1, i + 1))) / 2
        share = sp.Rational(np.mean(products))  # inner and square are both this
        assert share == sp.Rational(1, i + 1), f"Theorem 1, step 2: place {i} explains another share"


# %% [markdown]
# **Exercise 2** ★ *(5 min, 3 points: to see how a level depends on length)* **Predict.** Choose before you run: what part
# of the level at length 64 is the level of MIPS at length 128?

# %% jupyter={"source_hidden": true} tags=["hide-input", "nbval-ignore-output"]
def level_of_double():
    ratio = atomic_levels.mips_level(128) / atomic_levels.mips_level(64)
    names = ("it stays", "a bit more than half", "a bit more than a quarter")
    return min(zip((1, 0.5, 0.25), names), key=lambda one: abs(one[0] - ratio))[1]


guess("07.2", level_of_double)


# %% [markdown]
# <!-- Exercise 07.2: from notebooks/lrnnbook/content/exercises/ch07.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint 1</summary>
#
# The level is $H_L/L$.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# $H_{128} = H_{64} + \frac1{65} + \dots + \frac1{128}$, and these 64 numbers add up to nearly $\ln 2$.
#
# </details>

# %% [markdown]
# **Exercise 3** ★★ *(10 min, 4 points: to choose what a score is compared with)* **Code.** Find the bug. With this R² the mean
# of each place scores 0 on CumMax, and a table would hide what that mean is worth. Correct it; `found` and `wanted` are arrays
# (inputs, places).

# %%
def r2_by_place(found, wanted):
    return 1 - ((found - wanted) ** 2).mean() / ((wanted - wanted.mean(0)) ** 2).mean()


my_r2 = None  # exercise 3: a function of (found, wanted)
check("07.3", my_r2)

# %% [markdown]
# <!-- Exercise 07.3: from notebooks/lrnnbook/content/exercises/ch07.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint 1</summary>
#
# What is subtracted in the denominator, one number or one for each place?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# `wanted.mean()` and `wanted.mean(0)` differ where the mean depends on the place.
#
# </details>

# %% [markdown]
# ## 3 Which tasks are linear?
#
# Which of these skills can one layer have at all? A layer with $H$ channels is $H$ convolutions side by side. After them a function is
# applied at each place. If that is linear, the layer computes $y_t = \sum_h c_h(t)\,(K_h * x)_t$; its weights $c_h$
# may depend on the place, because two input columns tell it. So which of the eleven tasks are linear?

# %%
draw = training.rng(0, "chapter 07, linear")
rows = []
for name in atomic.ATOMIC:
    task, n = ch07.skill(name), 12_000
    batch = task.sample(n + 4000, 32, draw)
    x = np.c_[batch.inputs.flatten(1).double().numpy(), np.ones(n + 4000)]
    y = batch.targets.flatten(1).double().numpy()
    weights = np.linalg.lstsq(x[:n], y[:n], rcond=1e-6)[0]
    linear, level = r2(x[n:] @ weights, y[n:]), atomic_levels.trivial_level(task, 32)
    rows.append({"task": task.name, "best linear map": f"{round(linear, 2) + 0:.2f}",
                 "without the skill": f"{level:.2f}"})  # fmt: skip
show.table(rows, caption="R² of the best linear map from all numbers to all answers, fitted to "
           "12,000 inputs of length 32 and measured on 4,000 fresh ones.")  # fmt: skip

# %% [markdown]
# **Theorem 2.** *Shift, CumSum, Reverse, SelectFixed and SolveFixed are linear, up to a constant, in the numbers that change from
# input to input. CumMax, Sort, Select, MIPS, ContextShift and Solve are not.*
#
# The table is a fit to a sample; the proof in [07a](deeper/07a_theorems_proved.ipynb) needs no sample. (On Select the linear map is itself an
# answer without the skill, so the 0.00 beside it is too low.)
#
# For each answer a linear task asks how much it wants of each *lag*: of the number that was read $s$ steps before. Here are these
# weights. Grey is where nothing can be seen: before the start, or a number that is the same in all inputs.

# %% jupyter={"source_hidden": true} tags=["hide-input", "nbval-ignore-output"]
show.figure(
    ch07.lag_pictures(32),
    alt="Four tables of weights, answers down, lags across. CumSum: every row one constant. "
    "SolveFixed: 16 weights, no two under each other. SelectFixed: a few short vertical bars. "
    "Reverse: a diagonal with a lag of its own for every answer.",
    caption="Weights by lag, L = 32. What to see: a kernel is a row that all answers share. In "
    "SolveFixed no two weights stand under each other; in Reverse every answer wants a lag of its "
    "own and none of the others.",
)  # fmt: skip

# %% [markdown]
# **Exercise 4** ★ *(5 min, 3 points: to read off a lag)* **A proof step.** Reverse reads $L$ numbers at places $0$ to $L - 1$ and
# writes them backwards at places $L$ to $2L - 1$. Write a function of the place `t` (from `L` to `2 * L - 1`) and of `L`. It returns
# the lag that Reverse asks for there.

# %%
my_lag = None  # exercise 4: a function of (t, L)
check("07.4", my_lag)

# %% [markdown]
# <!-- Exercise 07.4: from notebooks/lrnnbook/content/exercises/ch07.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint 1</summary>
#
# At place $t$ the answer is $x_{2L-1-t}$.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# A lag is the place that is written less the place that was read.
#
# </details>

# %% [markdown]
# ## 4 Lags against channels
#
# A channel has one kernel, and all answers share it. How many channels does a task need? In the widget
# Reverse has 24 answers, and each wants a lag of its own. Are 12 channels enough? And how many does SolveFixed need?

# %% jupyter={"source_hidden": true} tags=["varies", "hide-input", "nbval-ignore-output"]
channels_widget = explore(
    ch07.with_channels,
    {"task": list(ch07.LINEAR), "channels": [1, 2, 3, 4, 6, 8, 10, 12]},
    sentence=ch07.with_channels_sentence,
    alt="Two tables of weights by lag: what a task asks for, and the best that the channels can do.",
    initial={"task": "reverse", "channels": 4},
)  # fmt: skip
channels_widget

# %% [markdown]
# **Theorem 3.** *One layer hands on the $H$ numbers $(K_h * x)_t$ to place $t$. Any function may be applied to them there, a different
# one at each place, and the inputs may be any numbers.*
#
# * *(a) For SolveFixed one kernel is enough.*
# * *(b) Reverse needs $L/2$ channels ($L$ even), and with a readout by place $L/2$ are enough.*
# * *(c) In the paper's own layer, without its norm, the readout is a sum of GELUs. If the inputs are bounded (here by 1) and
#   nothing is rounded, $L$ channels reverse as exactly as you like.*
# * *(d) CumMax, which is not linear, needs $L$.*
# * *(e) Solve of $N$ unknowns, which is not linear either, needs $N(N+1)/2$.*
#
# Why are fewer not enough? Because some change of the input is then seen by no kernel:

# %% jupyter={"source_hidden": true} tags=["hide-input", "nbval-ignore-output"]
show.figure(
    ch07.look_alike(L=8, H=3),
    alt="Left: two inputs of eight numbers, circles and squares, which differ a little at most places and by more than 1 at place 1. Middle: what three "
    "channels hand on to place 14; circles and squares coincide. Right: what is wanted there, two different numbers.",
    caption="Reverse of 8 numbers with 3 channels, kernels drawn at random. What to see: the two inputs (left) give the same three numbers "
    "(middle), and at place 14 they need different answers (right): the number at place 1, grey. No readout can help.",
)

# %% [markdown]
# You cannot choose better kernels either: with fewer than $L/2$ of them there are always such a place and two such inputs.
# [07a](deeper/07a_theorems_proved.ipynb) proves all five parts in six steps, and adds the skip around the
# layer, which hands on one number more.
#
# This explains the strangest pair in the paper's table. At length 4,096 one layer of DLR with 128 channels scores 0.97 on SelectFixed
# and 0.01 on Reverse, though both only move numbers. The paper gives the reason: few kernels against many. Theorem 3 puts numbers on
# it. SelectFixed asks for at most 32 lags, and there are 128 channels; Reverse asks for 4,096 lags. So it is one layer *of that width*
# that cannot reverse.

# %% [markdown]
# **Exercise 5** ★★ *(15 min, 4 points: to build a kernel that solves a system)* **Build.** SolveFixed with $N$ unknowns has
# $T = N^2 + 2N$ places: row 0 of $A$, then $b_0$, row 1 of $A$, then $b_1$, and so on. At the last $N$ places nothing is read (zeros),
# and $X_0, \dots, X_{N-1}$ are written. Write a function of the matrix $A$ that returns *one* kernel, an array of $T$ numbers. At the
# last $N$ places its convolution with the input must give $X = A^\top b$. (The numbers of $A$ add a constant at each place, which the readout
# subtracts again.)

# %%
my_kernel = None  # exercise 5: a function of A (N, N) that returns N**2 + 2 * N numbers
check("07.5", my_kernel)

# %% [markdown]
# <!-- Exercise 07.5: from notebooks/lrnnbook/content/exercises/ch07.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint 1</summary>
#
# The kernel at lag $s$ is what an answer gets of the number that was read $s$ steps before. At which place is $b_i$ read, and
# at which is $X_j$ written?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# $b_i$ is read at place $i(N + 1) + N$, and $X_j$ is written at place $T - N + j$. All these lags differ.
#
# </details>

# %% [markdown]
# **Exercise 6** ★ *(5 min, 4 points: to find where one kernel is enough)* **Break the hypothesis.** Of twelve numbers at
# places 0 to 11 four are to be copied to places 12 to 15, in order. In general that takes four lags and four
# channels. Choose four places for which *one* kernel is enough, although all twelve numbers change from input to
# input.

# %%
my_places = None  # exercise 6: four numbers, growing
check("07.6", my_places)


# %% [markdown]
# <!-- Exercise 07.6: from notebooks/lrnnbook/content/exercises/ch07.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint 1</summary>
#
# The lag of answer $j$ is $12 + j - p_j$. At which place does the same lag lie for another answer?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# When are all four lags the same one?
#
# </details>

# %% [markdown]
# ## 5 What depth buys
#
# **Theorem 4.** *With readouts by place, two layers with $b$ and $L/b$ channels reverse $L = b \cdot (L/b)$ numbers. So two layers of
# $\sqrt L$ channels do what one layer needs $L/2$ channels for. And $k$ layers of $L^{1/k}$ channels each reverse $L$ numbers as
# well.*
#
# **Step 1 (two digits).** Write $j = bq + r$ with $r < b$. The lag $2j + 1$ is $2bq + (2r + 1)$: the first layer moves by $2r + 1$, the
# second by $2bq$. Each must know its digit from the place that it writes to. The second does: it writes to $t = L + bq + r$. The first
# writes to $\tau = t - 2bq = L + r - bq$, and $(\tau - L) \bmod b = r$. Here are the two layers, on any list `x`:

# %% tags=["proof-digits"]
def two_layers(x, b):
    L, T = len(x), 2 * len(x)
    u, first, y = [*x, *[None] * L], [None] * T, [None] * T
    for place in range(T):
        lag = 2 * ((place - L) % b) + 1  # one of b channels
        first[place] = u[place - lag] if place >= lag else None
    for place in range(L, T):
        lag = 2 * b * ((place - L) // b)  # one of L / b channels
        y[place] = first[place - lag]
    return y[L:]


print(two_layers([*"abcdefghijkl"], b=3))

# %% [markdown]
# **All $L \le 60$ and all $b$**, and 4,096 numbers with 64 channels twice:

# %% jupyter={"source_hidden": true} tags=["hide-input", "proof-digits"]
for L in range(1, 61):
    for b in (b for b in range(1, L + 1) if L % b == 0):
        assert two_layers(range(L), b) == [*range(L)][::-1], f"Theorem 4, step 1: L = {L}, b = {b}"
wrong = sum(a != b for a, b in zip(two_layers(range(4096), 64), reversed(range(4096))))
print(f"4,096 numbers, 64 channels twice: {wrong} in a wrong place")

# %% [markdown]
# **Step 2 (more digits).** Let $j = r_0 + b\,r_1 + b^2 r_2$, and let three layers move by $2r_0 + 1$, $2b\,r_1$ and
# $2b^2 r_2$, in this order. The last writes to $L + j$. The one before writes to $L - b^2 r_2 + b\,r_1 + r_0$, where $r_1$
# can be read modulo $b^2$. The first writes to $L - b^2 r_2 - b\,r_1 + r_0$, where $r_0$ can be read modulo $b$. The same
# works for any number of digits. **Two to four digits:**

# %% jupyter={"source_hidden": true} tags=["hide-input", "proof-digits"]
for b, k in ((5, 2), (3, 3), (4, 3), (2, 4), (3, 4)):
    L = b**k
    for answer in range(L):
        place = L + answer
        for layer in reversed(range(k)):  # from the last layer to the first
            digit = (place - L) % b ** (layer + 1) // b**layer  # what the place tells
            place -= 2 * b**layer * digit + (layer == 0)
        assert place == L - 1 - answer, f"Theorem 4, step 2: b = {b}, {k} layers, answer {answer}"
print("4 layers of 3 channels reverse", 3**4, "numbers; 3 layers of 16 would reverse", f"{16**3:,}")

# %% [markdown]
# **Break it.** In the other order, the large move first, this formula no longer tells the digit. (Another one does. Which?)

# %% jupyter={"source_hidden": true} tags=["hide-input", "proof-digits"]
with show.expect_failure("Theorem 4, step 2"):
    b, k = 3, 3
    L = b**k
    for answer in range(L):
        place = L + answer
        for layer in range(k):  # the small move last
            digit = (place - L) % b ** (layer + 1) // b**layer
            place -= 2 * b**layer * digit + (layer == 0)
        assert place == L - 1 - answer, f"Theorem 4, step 2: b = {b}, {k} layers, answer {answer}"

# %% [markdown]
# **Exercise 7** ★ *(5 min, 3 points: to split a lag into digits)* By Theorem 4, how many channels does the widest of *three* layers
# need at least to reverse 4,096 numbers by digits?

# %%
my_channels = None  # exercise 7: a number
check("07.7", my_channels)

# %% [markdown]
# <!-- Exercise 07.7: from notebooks/lrnnbook/content/exercises/ch07.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint 1</summary>
#
# A layer of $b$ channels handles one digit to the base $b$.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# Three digits to the base $b$ reach $b^3$ numbers.
#
# </details>

# %% [markdown]
# Theorem 4 says that such weights *exist*. Its readouts by place are freer than a GELU and a sum. What does training find?
#
# ## 6 The eleven tasks, trained
#
# Three of the eleven tell the whole pattern: a skill that needs one kernel, one that needs $L/2$, and one that must compare contents. All
# tasks, six kinds of nets and three lengths are in [07b](deeper/07b_all_benchmarks.ipynb).

# %% jupyter={"source_hidden": true} tags=["hide-input", "nbval-ignore-output"]
atomic_runs = tables.results.runs("dlr/table1")
show.figure(
    ch07.three_skills(atomic_runs),
    alt="R squared of three nets on three tasks. SolveFixed: DLR 1.00 with one layer and with six, attention 0.34. Reverse: DLR 0.44 with one "
    "layer and 0.96 with six, attention 0.68. MIPS: DLR 0.07 with either, which is the score without the skill, attention 0.93.",
    caption="Recorded, L = 64, width 32, equal steps (`lrnnlab reproduce dlr/table1 --budget desk`); diamonds: the paper's, L = 4,096, 40,000 "
    "steps. What to see: the skills differ as the theorems suggest. One layer of DLR has one skill of three, depth adds Reverse, and only "
    "attention looks up.",
)

# %% [markdown]
# **Exercise 8** ★ *(5 min, 3 points: to compare two nets on two tasks)* **Read a picture.** Compare *one* layer of DLR with *one* layer of
# attention at $L = 64$. On which task has DLR more than .9 and attention less than .5, and on which is it the other way round? (What
# can each of them do that the other cannot?)

# %%
my_tasks = None  # exercise 8: two names, for example ("Sort", "Shift")
check("07.8", my_tasks)

# %% [markdown]
# <!-- Exercise 07.8: from notebooks/lrnnbook/content/exercises/ch07.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint</summary>
#
# In which panels do the first and the last bar differ most?
#
# </details>

# %% [markdown]
# Read it by the theorems. *SolveFixed* needs one kernel, and one layer of DLR has it. *Reverse* grows with depth; one layer of 32 channels
# has just the $L/2$ of Theorem 3. *MIPS* multiplies keys and queries, and convolutions add up numbers at fixed lags.
#
# How many steps does a skill take as sequences get longer? After fewer steps than these, a score of zero says nothing about the
# model:

# %% jupyter={"source_hidden": true} tags=["hide-input", "nbval-ignore-output"]
longer_runs = tables.results.runs("dlr/longer")
show.figure(
    ch07.steps_to_learn(atomic_runs, longer_runs),
    alt="Steps until R2 is 0.9 by length for eight tasks, one layer of DLR and six: of one layer hardly more with the "
    "length; of six layers CumMax, Reverse, Select and Solve take several times as many steps at twice the length, "
    "and Reverse at 512 is not learned in 4,000.",
    caption="Recorded. The step at which R² was first 0.9 or more, of one layer of DLR (left) and of six (right), the median over seeds. "
    "Hollow: with four times the steps of the table above, over which the rate falls more slowly. A triangle: not learned in "
    "the most steps that we tried. What to see: one layer learns Shift in as many steps at eight times the length; six layers "
    "need several times as many for Reverse, Select and Solve at twice the length.",
)


# %% [markdown]
# So a table of equal steps says *which net has a skill first*. It does not say *which net can have it*: that takes a proof. With
# four times the steps nearly all of the zeros that we tried again turn into skills ([07b](deeper/07b_all_benchmarks.ipynb)).
#
# **Live.** Now train one yourself. This is the whole layer, $H$ channels with $N$ modes each:
#
# $$K_h(s) = \mathrm{Re}\sum_n w_{hn}\,\lambda_{hn}^s, \qquad \text{out} = \mathrm{norm}\big(x + W\,\mathrm{GELU}(K * x + d\,x)\big).$$

# %%
class Layer(nn.Module):
    def __init__(self, H=32, N=64):
        super().__init__()
        # a node is exp(-exp(decay) + i angle)
        angle = math.pi * (torch.arange(N) + 0.5) / N  # half of the circle
        self.angle = nn.Parameter(angle.repeat(H, 1))
        self.decay = nn.Parameter(torch.full((H, N), -12.0))
        self.w = nn.Parameter(0.01 * torch.randn(H, N, 2))
        self.d, self.W = nn.Parameter(torch.randn(H)), nn.Linear(H, H)
        self.norm = nn.LayerNorm(H)

    def kernel(self, L):  # (H, L)
        log = torch.complex(-self.decay.exp(), self.angle)[..., None]
        w = torch.view_as_complex(self.w)[..., None]
        return (w * torch.exp(log * torch.arange(L))).sum(1).real

    def forward(self, x):  # (B, T, H)
        u, T = x.mT, x.shape[1]
        K = torch.fft.rfft(self.kernel(T), 2 * T)
        y = torch.fft.irfft(torch.fft.rfft(u, 2 * T) * K, 2 * T)[..., :T]
        y = nn.functional.gelu((y + self.d[:, None] * u).mT)
        return self.norm(x + self.W(y))


def train(net, task, length, draw, steps=400):
    optimiser = torch.optim.Adam(net.parameters(), lr=1e-2)
    slower = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, steps)
    for _ in range(steps):
        batch = task.sample(32, length, draw)
        found = net(batch.inputs)[:, -batch.targets.shape[1] :]  # the last places
        optimiser.zero_grad()
        nn.functional.mse_loss(found, batch.targets).backward()
        optimiser.step()
        slower.step()


# %% [markdown]
# Four tasks, one or two layers, 400 steps of 32 inputs, a few seconds each. Which of them will one layer learn? Guess before you run:

# %% tags=["varies", "nbval-ignore-output"]
nets, fresh, rows = {}, {}, []
plan = {"shift": (64, 1), "solve_fixed": (48, 1), "cummax": (64, 1), "reverse": (32, 2)}
for name, (length, layers) in plan.items():
    task, draw = ch07.skill(name), training.rng(0, f"chapter 07, {name}")
    torch.manual_seed(0)
    inside = [Layer() for _ in range(layers)]
    net = nn.Sequential(nn.Linear(task.d_in, 32), *inside, nn.Linear(32, task.d_out))
    train(net, task, length, draw)
    batch = task.sample(256, length, draw)
    with torch.no_grad():
        found = net(batch.inputs)[:, -batch.targets.shape[1] :]
    nets[name], fresh[name] = net, batch
    rows.append({"task": task.name, "layers": layers, "L": length, "R²": f"{r2(found, batch.targets):.3f}",
                 "without the skill": f"{atomic_levels.trivial_level(task, length):.3f}"})  # fmt: skip
show.table(rows, caption="Live: R² after 400 steps of 32 inputs.")

# %% [markdown]
# **What do they look at?** Take the size of the gradient of an answer with respect to every number that was read, averaged over
# inputs. The upper panel has all answers at once: what section 3 drew, by place instead of by lag and without signs, now found by
# training. The lower panel has the answer that you pick (`answer` goes from 0, the first one, to 100, the last).

# %% jupyter={"source_hidden": true} tags=["hide-input", "varies", "nbval-ignore-output"]
maps = {name: ch07.sensitivity(net, fresh[name].inputs[:32])[-fresh[name].targets.shape[1] :] for name, net in nets.items()}
look_widget = explore(
    lambda task, answer: ch07.sensitivity_picture(maps, task, answer),
    {"task": list(maps), "answer": list(range(0, 101, 5))},
    sentence=lambda task, answer: ch07.sensitivity_sentence(maps, task, answer),
    alt="Above, for every answer, how strongly it depends on every place; below, the bars of one answer.",
    initial={"task": "reverse", "answer": 75},
)  # fmt: skip
look_widget

# %% [markdown]
# And these are the kernels that do it, channels in the order of their largest tap:

# %% jupyter={"source_hidden": true} tags=["hide-input", "varies", "nbval-ignore-output"]
taps = {
    f"{ch07.skill(name).name}, layer {number}": kernel
    for name, net in nets.items()
    for number, kernel in enumerate(ch07.sorted_kernels(net, fresh[name].inputs.shape[1]), 1)
}
kernel_widget = explore(
    lambda layer: ch07.kernel_picture(taps, layer),
    {"layer": list(taps)},
    sentence=lambda layer: ch07.kernel_sentence(taps, layer),
    alt="The kernels of a layer, a row for each channel, a column for each lag.",
)
kernel_widget

# %% [markdown]
# ## What to remember
#
# 1. A score means nothing before you know what you can score without the skill: 0.222 on Shift, 0.46 on CumMax and
#    0.49 on Sort at the paper's length, $H_L/L$ on MIPS, 0.17 on ContextShift at length 64.
# 2. Five of the eleven tasks are linear, six are not. Of the linear ones SolveFixed needs one kernel, SelectFixed as many channels
#    as it has lags, Reverse $L/2$, whatever the readout.
# 3. Depth divides a lag into digits: two layers of $\sqrt L$ channels reverse, where one layer needs $L/2$.
# 4. A zero after few steps says nothing about the model.
# 5. A benchmark asks for long range only where bags of words and single pixels fail ([07b](deeper/07b_all_benchmarks.ipynb)).
#
# **Go deeper:**
#
# * [07a theorems proved](deeper/07a_theorems_proved.ipynb) (35 min): the proofs of Theorems 2 and 3, a running maximum from a running sum, and
#   what training makes of the channels.
# * [07b all benchmarks](deeper/07b_all_benchmarks.ipynb) (30 min): three lengths, more steps, trees, pictures, books and the Long Range Arena,
#   where the paper says something else, and what all this does not show.

# %% [markdown]
# ## Exercises
#
# You will find each exercise in its section. Stuck? `hint("07.2")`. Done? Compare with `solution("07.2")`.

# %% [markdown]
# <!-- The exercises of this chapter, listed by lrnnlab book build. -->
#
# 8 exercises, 29 points, about 65 minutes:
#
# | exercise | section | difficulty | minutes | points | you will learn |
# |---|---|---|---|---|---|
# | 1 | [2 How much can you score without the skill?](#2-How-much-can-you-score-without-the-skill?) | ★★ | 15 | 5 | to build the baseline that a score needs |
# | 2 | [2 How much can you score without the skill?](#2-How-much-can-you-score-without-the-skill?) | ★ | 5 | 3 | to see how a level depends on length |
# | 3 | [2 How much can you score without the skill?](#2-How-much-can-you-score-without-the-skill?) | ★★ | 10 | 4 | to choose what a score is compared with |
# | 4 | [3 Which tasks are linear?](#3-Which-tasks-are-linear?) | ★ | 5 | 3 | to read off a lag |
# | 5 | [4 Lags against channels](#4-Lags-against-channels) | ★★ | 15 | 4 | to build a kernel that solves a system |
# | 6 | [4 Lags against channels](#4-Lags-against-channels) | ★ | 5 | 4 | to find where one kernel is enough |
# | 7 | [5 What depth buys](#5-What-depth-buys) | ★ | 5 | 3 | to split a lag into digits |
# | 8 | [6 The eleven tasks, trained](#6-The-eleven-tasks,-trained) | ★ | 5 | 3 | to compare two nets on two tasks |
#
# <details><summary>Solution of 07.1</summary>
#
# All places share the powers of the first number, so one least-squares fit does them all:
#
# ```
# def baseline(x, y, x_new):
#     import numpy as np
#
#     known, new = (one[:, :1] ** np.arange(8) for one in (x, x_new))
#     return new @ np.linalg.lstsq(known, y, rcond=None)[0]
# ```
#
# It knows no number but the first, and scores .49 at the paper's length, as the paper's net does.
#
# </details>
#
# <details><summary>Solution of 07.2</summary>
#
# A bit more than half: $H_{128}/128$ is $0.0424$ and $H_{64}/64$ is $0.0741$, a ratio of $0.57$. The sum in the numerator grows like $\ln L$ only.
#
# </details>
#
# <details><summary>Solution of 07.3</summary>
#
# `lambda found, wanted: 1 - ((found - wanted) ** 2).mean() / wanted.var()`: one mean for all answers. With a mean for each place the denominator is only what is left after the easy part has been taken off.
#
# </details>
#
# <details><summary>Solution of 07.4</summary>
#
# `lambda t, L: 2 * (t - L) + 1`: the number $x_{2L-1-t}$ was read at place $2L - 1 - t$, and $t - (2L - 1 - t) = 2(t - L) + 1$.
#
# </details>
#
# <details><summary>Solution of 07.5</summary>
#
# $X_j = \sum_i A_{ij} b_i$, so put $A_{ij}$ at the lag between $b_i$ and $X_j$. All $N^2$ lags differ (Theorem 3, a), so no
# two weights collide:
#
# ```
# def my_kernel(A):
#     N = len(A)
#     T = N * N + 2 * N
#     kernel = np.zeros(T)
#     for i in range(N):
#         for j in range(N):
#             kernel[T - N + j - (i * (N + 1) + N)] = A[i, j]
#     return kernel
# ```
#
# </details>
#
# <details><summary>Solution of 07.6</summary>
#
# Four places in a row, such as 3, 4, 5, 6: all have the lag 9, and one kernel with a single 1 copies them. The rank of the table of weights is then 1.
#
# </details>
#
# <details><summary>Solution of 07.7</summary>
#
# 16: three layers with $b_1, b_2, b_3$ channels reverse $b_1 b_2 b_3$ numbers, and $15^3 = 3375 < 4096 = 16^3$.
#
# </details>
#
# <details><summary>Solution of 07.8</summary>
#
# SolveFixed (1.00 against about a third) and MIPS (.07 against .93). One layer of DLR adds up numbers at fixed
# lags with fixed weights: all that SolveFixed asks for, and useless where the *content* says which place is wanted.
# One layer of attention compares contents, which is what MIPS asks for, and has no weight for every pair of places.
#
# </details>

# %% [markdown]
# ## Read on
#
# * A. Gupta, H. Mehta and J. Berant, *Simplifying and understanding state space models with diagonal linear RNNs*,
#   [arXiv:2212.00768](https://arxiv.org/abs/2212.00768): paper 004.
# * Y. Tay and others, *Long Range Arena*, [arXiv:2011.04006](https://arxiv.org/abs/2011.04006).
# * Y. Li and others, *What makes convolutional models great on long sequence modeling?*, [arXiv:2210.09298](https://arxiv.org/abs/2210.09298): SGConv.
# * D. Linsley and others, *Learning long-range spatial dependencies with horizontal gated recurrent units*,
#   [arXiv:1805.08315](https://arxiv.org/abs/1805.08315): Pathfinder.
# * N. Nangia and S. Bowman, *ListOps: a diagnostic dataset for latent tree learning*, [arXiv:1804.06028](https://arxiv.org/abs/1804.06028).
# * J. Rae and others, *Compressive transformers for long-range sequence modelling*, [arXiv:1911.05507](https://arxiv.org/abs/1911.05507): PG-19.
# * S. Arora and others, *Zoology: measuring and improving recall in efficient language models*, [arXiv:2312.04927](https://arxiv.org/abs/2312.04927):
#   what a convolution with fixed lags cannot look up.
