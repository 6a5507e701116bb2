# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 09j · Counting modulo M
#
# What does a reflection keep below $\beta = 2$, and what do one and two writes count modulo $M$? *It takes* about 15 min to read. Behind [chapter 09](09_fast_weights.ipynb).

# %% tags=["hide-input"]

import numpy as np
import sympy as sp
import torch

import lrnnlab
from workbook import show
from workbook.chapters import ch09
from workbook.chapters import fast_weight_solutions as fw
from workbook.exercises import check, hint, predict, solution
from workbook.tables import plan, results, run_all

EXPECTED = "0.1"
if not lrnnlab.__version__.startswith(EXPECTED):
    raise RuntimeError(
        f"this notebook needs lrnnlab {EXPECTED}, here is {lrnnlab.__version__}: run "
        "bootstrap.py"
    )
print(f"lrnnlab {EXPECTED}: ready")

# %% [markdown]
# ## 1 Below 2
#
# With $\beta = 2\sigma(b)$ the strength comes near 2, and never reaches it in exact numbers. **Claim (below 2).** With $1 < \beta < 2$ the distance of $w$ from $\frac12$ is multiplied by $\beta - 1$ at every 1, and noise ends the parity after about $\ln\frac1{2\,\text{noise}} \big/ {-\ln(\beta-1)}$ ones.
#
# **Step 1.** After $t$ ones $w - \frac12 = -\frac12(1-\beta)^t$. (By induction, free $g = 1 - \beta$.)

# %% tags=["proof-below_two"]
g, t, half = *sp.symbols("g t"), sp.Rational(1, 2)
beta = 1 - g
says = half - half * g**t
after = says + beta * (half - says)
print("w_1, w_2, w_3 =", [sp.factor(says.subs(t, n)) for n in (1, 2, 3)])
assert says.subs(t, 0) == 0 and sp.simplify(after - says.subs(t, t + 1)) == 0, (
    "Below 2, step 1: the distance from 1/2"
)


# %% [markdown]
# **Step 2.** With noise the first error comes when that distance has come down to the noise, give or take a half. ($\beta = 1.9$, noise $10^{-4}$, 20 runs of 4,000 ones, in floats.)

# %% tags=["proof-below_two"]
def first_errors(noise):
    ones, draw = np.ones(4000, int), np.random.default_rng(0)
    runs = [fw.reflected(ones, 1.9, noise=draw.normal(0, noise, 4000)) for _ in range(20)]
    return np.median([fw.first_error(run, ones) or 4000 for run in runs])

due = fw.predicted_error(1.9, 1e-4)
print(
    f"predicted {due:.0f}; the median is within a half of it: {due / 2 < first_errors(1e-4) < 1.5 * due}"
)
assert due / 2 < first_errors(1e-4) < 1.5 * due, "Below 2, step 2: noise wins about then (sampled)"

# %% [markdown]
# **Step 3.** Two surprises of floats. Without noise rounding alone can keep a parity alive: a float32 keeps a swing of some units of the last place alive for 4,000 ones at $\beta = 1.9$ and $1.99$, and loses it at $1.5$.

# %% tags=["proof-below_two"]
all_ones = np.ones(4000, int)
silent = {beta: fw.first_error(fw.reflected(all_ones, beta), all_ones) for beta in (1.5, 1.9, 1.99)}
print("first error without noise:", silent)
assert silent[1.9] is None and silent[1.99] is None and silent[1.5] is not None, (
    "Below 2, step 3: rounding keeps it alive"
)

# %% [markdown]
# **Step 4.** And $2\sigma(b)$ *is* 2 in float32 from $b = 17$ on. $\blacksquare$

# %% tags=["proof-below_two"]
strengths = {b: 2 * torch.sigmoid(torch.tensor(float(b))) for b in range(12, 24)}
reached = [b for b, value in strengths.items() if value == 2]
print("2 sigmoid(b) is 2 for b =", reached)
assert reached == list(range(17, 24)), "Below 2, step 4: from b = 17 on"

# %% [markdown]
# **Break it:** without noise step 2 has nothing to predict.

# %% tags=["proof-below_two"]
with show.expect_failure("Below 2, step 2"):
    assert due / 2 < first_errors(0.0) < 1.5 * due, "Below 2, step 2: noise wins about then"

# %% [markdown]
# Here is the counter at $\beta = 1.9$, with noise of 0.01:

# %% tags=["hide-input"]
show.figure(
    ch09.parity_picture(1.9, "unit", 1e-2, "1101"),
    alt="Left, a line with the eigenvalues 1 and minus 0.9, both in the stable band. Right, "
        "the counter's state jumps about one half, nearer with every 1, and is wrong from "
        "about token 40.",
    caption="What to see: as long as the eigenvalue is negative the state changes sides at "
            "every 1, which is parity; as long as it is above -1 it forgets, and noise wins.",
)  # fmt: skip

# %% [markdown]
# **Exercise 9** ★★ *(15 min, 4 points: to give a reflection something to reflect)* **A proof step.** With $W_0 = 0$
# one layer of the delta rule reads $a^t$, and its output alternates between two values. Prove that one of them is 0.
# What must a token before the string do, and what must $a$ do, so that they are $+1$ and $-1$? (All keys, and the
# query, are one unit vector.)

# %%
my_tokens = None  # ((beta, v) of the token before, (beta, v) of a)
check("09.9", my_tokens)


# %% [markdown]
# <!-- Exercise 09.9: from notebooks/workbook/exercises/ch09.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint 1</summary>
#
# What is the output after no token, and what does a map of order two do twice?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# What should the token $a$ write if it only turns?
#
# </details>
#
# <details><summary>Solution</summary>
#
# The output's state goes by one affine map, $w \mapsto g\,w + c$, with $g = 1 - \beta|k|^2$ along
# the key. If it alternates, $w_3 = w_1 \ne w_2$; but
# $w_2 - w_1 = g\,c$ and $w_3 - w_1 = g\,(1+g)\,c$, so $g\,c \ne 0$ and $g = -1$: $w \mapsto c - w$, whose orbit from $0$ is $0, c, 0, c, \dots$ Read with
# any query it is $0$ and one other value. So first a token that sets $w$ to $1$ ($\beta = 1$, $v = 1$, unit
# key), and then $a$ with $\beta = 2$, $v = 0$: $w \mapsto -w$.
#
# </details>

# %% [markdown]
# **Exercise 10** ★ *(5 min, 3 points: to predict what rounding keeps)* **Predict** before you run:
# this section's counter in float32, without noise, moves from $w$ to $w + \beta(\frac12 - w)$ at every 1, and below
# $\beta = 2$ it should come ever nearer to $\frac12$. Of $\beta = 1.5, 1.6, 1.7, 1.8, 1.9$, how many still tell the
# parity of 20,000 ones?

# %%
def kept_alive():
    ones, strengths = np.ones(20_000, int), (1.5, 1.6, 1.7, 1.8, 1.9)
    lost = {beta: fw.first_error(fw.reflected(ones, beta), ones) for beta in strengths}
    said = ", ".join(f"β = {beta}: {at or 'never'}" for beta, at in lost.items())
    return list(lost.values()).count(None), f"Ones until parity is lost, {said}"

predict("09.10", kept_alive)

# %% [markdown]
# <!-- Exercise 09.10: from notebooks/workbook/exercises/ch09.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint</summary>
#
# Which numbers does float32 have next to one half?
#
# </details>
#
# <details><summary>Solution</summary>
#
# Two: 1.8 and 1.9. Near $\frac12$ float32 goes in steps of $2^{-24}$ above and $2^{-25}$ below.
# One step above, the distance times $\beta - 1$ is rounded to a whole step below if
# $\beta - 1 > \frac34$, else to half a step. From a whole step below it comes back to one step above, from half a step
# it does not. So these two swing for ever, as nothing but rounding makes them; a
# little noise ends it.
#
# </details>

# %% [markdown]
# ## 2 One write counts modulo 2 and nothing else
#
# **Claim (one write modulo $M$).** With one write a token, a letter read again and again brings the memory back ($W_M = W_0 \ne W_1$) only
# if $M$ is even and $\beta|k|^2 = 2$; then it comes back every second time already.
#
# **Exercise 11** ★ *(5 min, 4 points: to sum a geometric series)*
#
# **Step 1 is yours.** By step 2 of the proof for one write ([09f](09f_bounded_depth.ipynb), section 2) each
# step of $W$ is $g = 1 - \beta|k|^2$ times the one before, so $W_M - W_0$ is a multiple of $W_1 - W_0$. Which? Write
# it as a function of $g$ and $M$; the assert below, for one number, $w \mapsto g\,w + c$ from $w_0 = 0$ with
# $w_1 = c$, must hold for $M = 1, \dots, 7$.

# %%
my_factor = None  # a function of (g, M)
if my_factor is not None:
    g, c, w = *sp.symbols("g c"), sp.Integer(0)
    for M in range(1, 8):
        w = sp.expand(g * w + c)
        assert sp.cancel(w - sp.sympify(my_factor(g, M)) * c) == 0, (
            "One write modulo M, step 1: W_M - W_0 is factor times W_1 - W_0"
        )
check("09.11", my_factor)

# %% [markdown]
# <!-- Exercise 09.11: from notebooks/workbook/exercises/ch09.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint 1</summary>
#
# Write out $w_1 = c$, $w_2 = g c + c$ and $w_3$.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# How often does each power of $g$ occur in $w_M$?
#
# </details>
#
# <details><summary>Solution</summary>
#
# $w_M = c\,(1 + g + \dots + g^{M-1})$, so `lambda g, M: sum(g**j for j in range(M))`. Where
# $g \ne 1$ that is $(1 - g^M)/(1 - g)$ (at $g = 1$ it is $M$), which is 0 only for $g^M = 1$; of the real numbers that leaves
# $g = -1$, for even $M$.
#
# </details>

# %% [markdown]
# **Step 2.** The factor, as a polynomial in $g$, is $w_M / c$. Its only real zero is $-1$, and that for even $M$ alone. ($M = 2, \dots, 12$, all real roots counted exactly, a sample of the lengths; the solution of exercise 11 has the argument for all $M$.)

# %% tags=["proof-modulo"]
g, c, w = *sp.symbols("g c"), sp.Integer(0)
zeros = {}
for M in range(1, 13):
    w = sp.expand(g * w + c)
    zeros[M] = sorted(set(sp.real_roots(sp.Poly(sp.cancel(w / c), g)))) if M > 1 else []
print({M: [int(zero) for zero in found] for M, found in zeros.items()})
assert all(zeros[M] == ([-1] if M % 2 == 0 else []) for M in zeros), (
    "One write modulo M, step 2: -1 is the only real zero"
)

# %% [markdown]
# **Step 3.** And $g$ is real; at $g = -1$ the state is back after two. So no layer with one write a token counts a letter modulo 3, or 5, by coming back. $\blacksquare$ (With $|g| < 1$ it does not come back at all, and the limit of chapter 09, section 3, says that no margin is kept.)

# %% tags=["proof-modulo"]
states = [0]
for _ in range(6):
    states.append(-states[-1] + c)
print("at g = -1:", states)
assert states[2] == states[0] != states[1], "One write modulo M, step 3: period two"

# %% [markdown]
# ## 3 Two writes count modulo $M$
#
# **Two writes a token** (DeltaProduct; Siems and others, 2025) are two reflections, and with keys at an angle they are a rotation, by twice that angle. **Claim (two writes modulo $M$).** Keys at an angle of $\pi/M$ count modulo $M$; with $M = 5$ that is chapter 01's Sum(5).
#
# **Step 1.** Reflections along $(1, 0)$ and then along $(\cos\theta, \sin\theta)$ turn the plane by $2\theta$. (Free $\theta$.)

# %% tags=["proof-rotation"]
theta = sp.Symbol("theta", real=True)

def reflection(angle):
    k = sp.Matrix([sp.cos(angle), sp.sin(angle)])
    return sp.eye(2) - 2 * k * k.T

turn = (reflection(theta) * reflection(0)).applyfunc(sp.trigsimp)
print("the product:", turn.tolist())
rotation = sp.Matrix([[sp.cos(2 * theta), -sp.sin(2 * theta)], [sp.sin(2 * theta), sp.cos(2 * theta)]])
assert (turn - rotation).applyfunc(sp.simplify) == sp.zeros(2, 2), (
    "Two writes modulo M, step 1: a rotation by twice the angle"
)


# %% [markdown]
# **Step 2.** At $\theta = \pi/M$ its first power that is the identity is the $M$-th. ($M = 2, \dots, 12$; the $j$-th power turns by $2\pi j/M$.) $\blacksquare$

# %% tags=["proof-rotation"]
def period(angle):
    return next(j for j in range(1, 100) if rotation.subs(theta, j * angle) == sp.eye(2))

periods = {M: period(sp.pi / M) for M in range(2, 13)}
square = (rotation * rotation - rotation.subs(theta, 2 * theta)).applyfunc(sp.trigsimp)
print("M: period =", periods)
assert square.applyfunc(sp.simplify) == sp.zeros(2, 2), (
    "Two writes modulo M, step 2: powers of a rotation add up its angle"
)
assert all(M == found for M, found in periods.items()), (
    "Two writes modulo M, step 2: the M-th power is the first identity"
)

# %% [markdown]
# **Break it:** an angle of $2\pi/M$.

# %% tags=["proof-rotation"]
with show.expect_failure("Two writes modulo M, step 2"):
    periods = {M: period(2 * sp.pi / M) for M in range(2, 13)}
    assert all(M == found for M, found in periods.items()), (
        "Two writes modulo M, step 2: the M-th power is the first identity"
    )

# %% [markdown]
# ## 4 Trained
#
# Trained, live: the same net twice, but for the factor 2. (Predict both numbers.)

# %% tags=["nbval-ignore-output"]
doors = {"beta1_nh1": "beta in (0, 1)", "beta2_nh1": "beta in (0, 2)"}
door = list(
    run_all(plan("fwp/negative", tasks=["parity"], rows=list(doors), seeds=[0, 1, 2, 3]))
)
trained = results.frame(door).set_index("row")
scores = trained["last.bin1"]
for row, name in doors.items():
    print(f"{name}: all strings of 51 to 100 right: {sum(scores[row] == 1)} of {len(scores[row])} seeds")

# %%
near = all(abs(trained.loc["beta1_nh1", "symbols"] - 0.5) < 0.1)
print(
    f"beta in (0, 1), every seed: none of these strings right: {max(scores['beta1_nh1']) < 0.01}; "
    f"single answers near chance: {near}\nbeta in (0, 2), the best seed: more than half of them "
    f"right: {max(scores['beta2_nh1']) > 0.5}"
)

# %% tags=["nbval-ignore-output", "hide-input"]
show.table(
    ch09.reflecting(live=door),
    caption="In percent: whole strings, and single answers at positions 391 to 400; mean "
            "(range). Recorded by lrnnlab reproduce fwp/negative --budget desk.",
)

# %% [markdown]
# Right up to 100 tokens, in all strings, is not right for ever: look at the last column, and at the picture of chapter 09, section 5.

# %% [markdown]
# ## Exercises
#
# You will find each exercise in its section. Stuck? `hint("09.9")`. Done? Compare with `solution("09.9")`.

# %% [markdown]
# <!-- The exercises of this chapter, listed by lrnnlab book build. -->
#
# 3 exercises, 11 points, about 25 minutes:
#
# | exercise | section | difficulty | minutes | points | you will learn |
# |---|---|---|---|---|---|
# | 9 | [1 Below 2](#1-Below-2) | ★★ | 15 | 4 | to give a reflection something to reflect |
# | 10 | [1 Below 2](#1-Below-2) | ★ | 5 | 3 | to predict what rounding keeps |
# | 11 | [2 One write counts modulo 2 and nothing else](#2-One-write-counts-modulo-2-and-nothing-else) | ★ | 5 | 4 | to sum a geometric series |
