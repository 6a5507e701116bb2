# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 04c · A constant norm
#
# How long does the norm climb, what makes it constant from the first step, and what does the paper's Eq. 11 make of $c \ne 1$? *It takes* about 20 min to read. Read [chapter 04](../04_rotations.ipynb) first.

# %% jupyter={"source_hidden": true} tags=["hide-input"]
import math

import numpy as np
import sympy as sp
import torch

import lrnnbook
from lrnnbook import show
from lrnnbook.content.chapters.rotations import cayley, random_rotation
from lrnnlab import models

lrnnbook.needs("0.1")


# %% [markdown]
# `cayley(M)` is the rotation $(I + S)(I - S)^{-1}$ with $S = M - M^\top$: of
# whole numbers it makes fractions, so what we compute with it is exact. `random_rotation(N, draw)` is a random rotation in floats.

# %% [markdown]
# ## 1 The theorem of chapter 04, by other ways
#
# [Chapter 04](../04_rotations.ipynb), section 4: with white input and $\xi^2\,\mathrm{Tr}\,B^\top B = c\,(1 - \gamma^2)$,
# $\mathbb{E}\|x_t\|^2 = c + \gamma^{2t}(\mathbb{E}\|x_0\|^2 - c)$. Its proof uses that nothing is *correlated*; independence is not
# needed. Steps 1 to 3 are there; here are the others.

# %% [markdown]
# **Step 4** (one layer, exactly). Now without the recurrence of the norm, from the covariance
# $X_t = \mathbb{E}\,x_tx_t^\top$ itself: $X_t = \gamma^2 A X_{t-1} A^\top + \xi^2 BB^\top$, and
# $\mathbb{E}\|x_t\|^2$ is its trace. A layer of width 4 in fractions, $\gamma = 9/10$, $c = 2$, for 12 steps, from
# $x_0 = 0$, from an $x_0$ of length $\sqrt c$, and from a larger one.

# %% tags=["proof-norm_exact"]
def formula(t, c, gamma, s_0):
    return c + gamma ** (2 * t) * (s_0 - c)


def norms(A, B, rate, drives, X):
    """E||x_t||^2, t = 0, 1, ..., from the covariances; drives: the squares of xi_1, xi_2, ..."""
    traces = [X.trace()]
    for drive in drives:
        X = rate**2 * A * X * A.T + drive * B * B.T
        traces.append(X.trace())
    return traces


A_exact = cayley(sp.randMatrix(4, min=-3, max=3, seed=7))
B_exact = sp.randMatrix(4, 3, min=-3, max=3, seed=8)
decay, aim = sp.Rational(9, 10), 2
drive = aim * (1 - decay**2) / (B_exact.T * B_exact).trace()
for X in (sp.zeros(4), sp.diag(aim, 0, 0, 0), 5 * sp.eye(4)):
    claimed = [formula(k, aim, decay, X.trace()) for k in range(13)]
    assert norms(A_exact, B_exact, decay, [drive] * 12, X) == claimed, (
        "The norm, step 4: the formula is the trace of the covariance"
    )
    print(f"from {X.trace()} to {float(claimed[-1]):.3f} in 12 steps")

# %% [markdown]
# *Break it:* a transition that stretches one direction; and $\gamma$ put before the input as well.

# %% tags=["proof-norm_exact"]
X = 5 * sp.eye(4)
with show.expect_failure("The norm, step 4"):
    stretched = A_exact * sp.diag(2, 1, 1, 1)
    assert norms(stretched, B_exact, decay, [drive] * 12, X) == claimed, (
        "The norm, step 4: a stretched A"
    )
with show.expect_failure("The norm, step 4"):
    assert norms(A_exact, B_exact, decay, [decay**2 * drive] * 12, X) == claimed, (
        "The norm, step 4: gamma before both"
    )

# %% [markdown]
# **Step 5.** 95 % of the limit is reached when $\gamma^{2t} \le 1/20$. The cell says when that is, and checks with
# whole numbers that it is so at this step and not at the one before.

# %% tags=["proof-norm_exact"]
for nines in (2, 3, 4):
    p, q = 10**nines - 1, 10**nines  # gamma = p / q
    late = math.ceil(math.log(0.05) / (2 * math.log(p / q)))
    assert 20 * p ** (2 * late) <= q ** (2 * late), "The norm, step 5: reached"
    assert 20 * p ** (2 * late - 2) > q ** (2 * late - 2), "The norm, step 5: not before"
    print(f"γ = {p / q}: 95 % of the limit at step {late:,}")

# %% [markdown]
# For comparison, the longest sequences of the paper, those of Path-X, have 16,384 steps.
#
# **Step 6.** The squared norms of $h$ heads add up, so with $c = 1$ that of all of them tends to $h$, which means a
# length of about $\sqrt h$: 5.66 for the paper's 32 heads. (Of *about* that: the mean length itself is smaller than
# the root of the mean square. Step 10 measures it.)

# %% tags=["proof-norm_exact"]
t = sp.Symbol("t", integer=True, nonnegative=True)
decays = [sp.Rational(1, 2), sp.Rational(9, 10), sp.Rational(99, 100)]
together = sum(sp.limit(formula(t, 1, each, 0), t, sp.oo) for each in decays)
assert together == len(decays), "The norm, step 6: the norm of h heads tends to h"
print(f"h = {len(decays)} heads: E||x||^2 tends to {together}; sqrt(32) = {math.sqrt(32):.2f}")

# %% [markdown]
# It is the same climb that each mode of an LRU makes (chapter 04, section 5), so here the two do not differ. Two small changes
# would make the norm constant from the first step.
#
# **Step 7.** An $x_0$ of length $\sqrt c$: a fixed one will do, or a random one of covariance $\frac cN I$. (By the
# theorem; computed on the layer of step 4.)
#
# **Step 8.** Or $x_0 = 0$ and a first input that counts $1/\sqrt{1 - \gamma^2}$ times as much. That factor is the only
# one: $\xi_1^2\,\mathrm{Tr} = c$ is what $\mathbb{E}\|x_1\|^2 = c$ asks for.

# %% tags=["proof-norm_exact"]
for X in (sp.diag(aim, 0, 0, 0), sp.eye(4) * sp.Rational(aim, 4)):
    assert set(norms(A_exact, B_exact, decay, [drive] * 12, X)) == {aim}, (
        "The norm, step 7: constant from an x_0 of length sqrt(c)"
    )
first = drive / (1 - decay**2)
reached = norms(A_exact, B_exact, decay, [first] + [drive] * 11, sp.zeros(4))
assert reached == [0] + [aim] * 12, "The norm, step 8: constant from the first step on"
print(f"from x_0 = 0 with a larger first input: 0, then {aim} at every step")

# %% [markdown]
# *Break it:* let the first input count as much as the others.

# %% tags=["proof-norm_exact"]
with show.expect_failure("The norm, step 8"):
    reached = norms(A_exact, B_exact, decay, [drive] * 12, sp.zeros(4))
    assert reached == [0] + [aim] * 12, "The norm, step 8: the first step is too small"

# %% [markdown]
# **Step 9 (sample).** In simulation: 3,000 runs of a head of width 4 with $\gamma = 0.97$ and $c = 1$, and three kinds
# of white input. The last is uncorrelated in time but *not* independent: the signs are drawn anew at every step, but
# their common size is one draw for the whole run. The means follow the formula within 5 standard
# errors at each of 60 steps.
#
# **Step 10 (sample).** The mean length $\mathbb{E}\|x\|$ is smaller than the root of $\mathbb{E}\|x\|^2$.

# %% tags=["proof-norm_exact"]
draw = np.random.default_rng(0)
A, B = random_rotation(4, draw), draw.standard_normal((4, 3))
B *= math.sqrt((1 - 0.97**2) / (B**2).sum())  # xi times B
signs = draw.choice([-1.0, 1.0], size=(2, 3000, 60, 3))
kinds = {"Gaussian": draw.standard_normal((3000, 60, 3)), "signs": signs[0],
         "not independent": signs[1] * draw.standard_normal((3000, 1, 1))}  # fmt: skip
for kind, u in kinds.items():
    x = np.zeros((3000, 4))
    for k in range(1, 61):
        x = 0.97 * x @ A.T + u[:, k - 1] @ B.T
        squares = (x**2).sum(1)
        off = abs(squares.mean() - (1 - 0.97 ** (2 * k))) / (squares.std() / math.sqrt(3000))
        assert off < 5, "The norm, step 9: within 5 standard errors"
    assert np.sqrt(squares).mean() < math.sqrt(squares.mean()), (
        "The norm, step 10: the mean length is smaller"
    )
    print(f"{kind}: E||x||^2 = {squares.mean():.2f} at t = 60, formula {1 - 0.97**120:.2f}; "
          f"E||x|| = {np.sqrt(squares).mean():.2f}")  # fmt: skip

# %% [markdown]
# ## 2 Eq. 11 inherits the error
#
# Because $\alpha$ is applied again at every step (Eq. 10), the paper sets it to 1 and scales $B$ alone, by a factor
# $\xi$ with $\xi^2\,\mathrm{Tr}\, B^\top B = 1 - c\gamma^2$ (Eq. 11). Now
# $\mathbb{E}\|x_t\|^2 = \gamma^2\,\mathbb{E}\|x_{t-1}\|^2 + \xi^2\,\mathrm{Tr}\,B^\top B$.
#
# **Step 1.** Eq. 11 says that the printed $\alpha$ is 1, with $\xi B$ for $B$.
#
# **Step 2.** With it the norm tends to $c + \frac{1 - c}{1 - \gamma^2}$, which is $c$ for $c = 1$ only.
#
# **Step 3.** For $c > 1/\gamma^2$ it asks for the root of a negative number.
#
# **Step 4.** With $\xi^2\,\mathrm{Tr}\,B^\top B = c\,(1 - \gamma^2)$ the norm tends to $c$.

# %% tags=["proof-equation_11"]
c, gamma, Tr, s = sp.symbols("c gamma Tr s", positive=True)
as_printed = 1 - c * gamma**2
asked = sp.solve(1 / (c * gamma**2 + Tr) - 1, Tr)
assert [sp.expand(drive) for drive in asked] == [as_printed], "Eq. 11, step 1: Eq. 11 is alpha = 1"
(limit,) = sp.solve(gamma**2 * s + as_printed - s, s)
assert sp.simplify(limit - c - (1 - c) / (1 - gamma**2)) == 0, "Eq. 11, step 2: the limit"
assert sp.solve(sp.numer(sp.together(limit - c)), c) == [1], "Eq. 11, step 2: when it is c"
example = as_printed.subs({c: 2, gamma: sp.Rational(9, 10)})
assert sp.solve(as_printed, c) == [1 / gamma**2] and example < 0, (
    "Eq. 11, step 3: the root of a negative number"
)
(limit,) = sp.solve(gamma**2 * s + c * (1 - gamma**2) - s, s)
assert sp.simplify(limit - c) == 0, "Eq. 11, step 4: the norm tends to c"
print("1 - c gamma^2 at c = 2, gamma = 0.9:", example)

# %% [markdown]
# *Break it:* do step 4 with what is printed.

# %% tags=["proof-equation_11"]
c, gamma, s = sp.symbols("c gamma s", positive=True)
with show.expect_failure("Eq. 11, step 4"):
    (limit,) = sp.solve(gamma**2 * s + as_printed - s, s)
    assert sp.simplify(limit - c) == 0, (
        "Eq. 11, step 4: as printed, the norm tends to another value"
    )

# %% [markdown]
# The experiments in the paper have $c = 1$, where both agree. The next cell runs one head with $\gamma = 0.5$, also
# for $c = 2$, on 2,000 sequences of white input (independent numbers of mean 0 and variance 1).

# %%
torch.manual_seed(4)
white, rows = torch.randn(2000, 12, 16), []
for c, normaliser, predicted in (
    (1, "paper", 1.0),
    (2, "paper", (1 - 2 / 4) / (1 - 1 / 4)),
    (2, "corrected", 2.0),
):
    head = models.layers.RotRNN(
        16, state=8, heads=1, gamma=(0.5, 0.5), c=c, normaliser=normaliser, start="random"
    )
    with torch.no_grad():
        found = float((head.hidden(white)[:, -1] ** 2).sum(-1).mean())
    rows.append({"c": c, "ξ as": normaliser, "E‖x‖² at t = 12": found, "derived": predicted})
show.table(rows, caption="What the paper's ξ and the corrected ξ make of c.",
           formats={"E‖x‖² at t = 12": ".2f", "derived": ".2f"})  # fmt: skip
try:
    models.layers.RotRNN(16, state=8, heads=1, gamma=(0.9, 0.9), c=2, normaliser="paper")(white)
except ValueError as error:
    print(f"c = 2, gamma = 0.9: {str(error).split(',')[0]}")
