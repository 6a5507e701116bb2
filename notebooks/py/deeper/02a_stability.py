# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 02a · Stability
#
# How much can a product of blocks grow for every $p$, when does float32 overflow, and what do random columns do? *It takes* about 20 min to read and 5 min for the exercises. Read [chapter 02](../02_block_diagonal_lrnn.ipynb) first.

# %% jupyter={"source_hidden": true} tags=["hide-input"]
from fractions import Fraction

import numpy as np
import sympy as sp

import lrnnbook
from lrnnbook import show
from lrnnbook.content.chapters import ch02
from lrnnbook.content.exercises import check, hint, solution

lrnnbook.needs("0.1")

# %% [markdown]
# The paper's remedy against growth is a bound on the columns:

# %% [markdown]
# > Eq. 6: every column $v$ of every block has $\|v\|_p \le 1$, obtained by $v' = v / \max(1, \|v\|_p)$. "In other
# > words, we can stabilize Eq. (5) by selecting a sufficiently small $p$." "Take $p = 1$ as an example": Eq. 7, proved in section 3 of the chapter.
# > "However, a small $p$ restricts a model's expressiveness": they use $p = 1.2$. And in the Limitations: "the p-norm
# > parameter is chosen to be close to 1 to ensure stability; longer sequences correspond to smaller values of $p$."

# %% [markdown]
# ## 1 How much a product can grow, for every $p$
#
# The corrected statement of Eq. 7:
#
# > **Theorem 2.** Let $p \ge 1$ and $b \ge 2$. Under Eq. 6 the columns of a product of $k$ blocks have 1-norm at
# > most $b^{\,k(1-1/p)}$, and this is attained. So there is a bound for all $k$ exactly if $p = 1$. For the paper's
# > $p = 1.2$ and $b = 8$ the factor is $8^{1/6} = \sqrt 2$ a step.
#
# **Step 1.** A single column has $\|v\|_1 \le b^{1-1/p}\|v\|_p$ (Hölder). The function $x^p$ is convex, so it lies
# above its tangent at the mean $\mu = \|v\|_1/b$ of the sizes $x_i = |v_i|$; summed over the $b$ entries the tangent
# gives $b \mu^p$. So $\|v\|_p^p \ge b\mu^p = b^{1-p}\|v\|_1^p$. **All columns** of size $b = 4$.

# %% tags=["proof-sharp"]
x, p, q, mu = sp.symbols("x p q mu", positive=True)
bend = sp.diff(x ** (1 + q), x, 2)  # p = 1 + q
sizes = sp.symbols("x1:5", positive=True)
tangent = sum(mu**p + p * mu ** (p - 1) * (entry - mu) for entry in sizes)
tangent = tangent.subs(sizes[3], 4 * mu - sum(sizes[:3]))  # their mean is mu
claimed = 1 - 1 / p  # the exponent of b
rest = sp.simplify(sp.powdenest(((4 * mu) ** p * 4 ** (-p * claimed) / (4 * mu**p)), force=True))
assert bend.is_positive and sp.simplify(tangent - 4 * mu**p) == 0 and rest == 1, "Theorem 2, step 1: Hölder"
show.math(r"\text{second derivative: }", bend, r"\text{; sum of the tangents for } b = 4:\ ", sp.simplify(tangent))

# %% [markdown]
# **Step 2.** The largest column 1-norm of a product is at most the product of the largest ones:
# $\mathbf 1^\top|A'||A| \le c\,\mathbf 1^\top|A|$ where $c$ is the largest column 1-norm of $A'$. That is step 2 of
# Eq. 7 with $c$ in the place of 1, so what is missing is again $\sum_j d_j|A_{jk}|$ with $d_j \ge 0$. Together with
# step 1, the columns of a product of $k$ blocks have 1-norm at most $b^{k(1-1/p)}$. (The cell writes out $b = 2$,
# and tries 300 random chains of four blocks.)

# %% tags=["proof-sharp"]
c = sp.Symbol("c", positive=True)
left = sp.Matrix([[c - d0 - e for d0, e in zip(sizes[:2], sizes[2:])], sizes[2:]])  # |A'|, columns c - d_j
missing = sp.expand(c * sp.Matrix([[1, 1]]) - sp.Matrix([[1, 1]]) * left)
raw = np.random.default_rng(0).standard_normal((300, 4, 8, 8))
blocks = raw / np.linalg.norm(raw, 1.2, axis=-2, keepdims=True)
norm_1 = lambda A: np.abs(A).sum(-2).max(-1)  # noqa: E731
share = norm_1(blocks[:, 3] @ blocks[:, 2] @ blocks[:, 1] @ blocks[:, 0]) / norm_1(blocks).prod(1)
assert list(missing) == list(sizes[:2]) and share.max() <= 1 + 1e-12, "Theorem 2, step 2: products"
assert norm_1(blocks).max() <= 8 ** (1 - 1 / 1.2) + 1e-12, "Theorem 2, step 2: products"
print(f"300 random chains reach at most {share.max():.3f} of the product of their norms")

# %% [markdown]
# **Step 3.** The block of equal entries, $W = b^{-1/p}\,\mathbf 1 \mathbf 1^\top$, obeys Eq. 6 with equality.
#
# **Step 4.** $W^k$ has column sums $b^{k(1-1/p)}$: with
# $\mathbf 1^\top\mathbf 1 = b$, $W^2 = b^{1-1/p}\,W$. And the exponent is positive for every $p > 1$. $\blacksquare$

# %% tags=["proof-sharp"]
p, size = sp.symbols("p b", positive=True)
equal_entry = size ** (-1 / p)
assert sp.simplify(size * equal_entry**p) == 1, "Theorem 2, step 3: the columns have p-norm 1"
print("p-norm of a column, to the power p:", sp.simplify(size * equal_entry**p))

# %% tags=["proof-sharp"]
p, q, size = sp.symbols("p q b", positive=True)  # p = 1 + q
w = sp.Symbol("w")
for b in (2, 3, 5):
    W = w * sp.ones(b, b)
    assert all(sp.ones(1, b) * W**k == (b * w) ** k * sp.ones(1, b) for k in range(1, 5)), (
        "Theorem 2, step 4: the powers"
    )
assert sp.simplify(sp.powsimp(size * equal_entry / size ** (1 - 1 / p))) == 1, "Theorem 2, step 4: the powers"
assert (1 - 1 / (1 + q)).simplify().is_positive, "Theorem 2, step 4: the powers"
show.math(r"\text{column sums of } W^k: \ (b w)^k \text{ with } b w =", sp.powsimp(size * equal_entry))

# %% [markdown]
# *Break it.* Claim half the exponent, $\tfrac12(1 - 1/p)$. Step 1 does not give it, and the powers of $W$ exceed it.

# %% tags=["proof-sharp"]
with show.expect_failure("Theorem 2, step 1"):
    p, mu = sp.symbols("p mu", positive=True)
    claimed = (1 - 1 / p) / 2
    rest = sp.simplify(sp.powdenest(((4 * mu) ** p * 4 ** (-p * claimed) / (4 * mu**p)), force=True))
    assert bend.is_positive and sp.simplify(tangent - 4 * mu**p) == 0 and rest == 1, "Theorem 2, step 1: Hölder"

# %% [markdown]
# ## 2 When float32 overflows
#
# > **Theorem 3.** Let $p = 1.2$ and $b = 8$, and apply the block $W$ of equal entries again and again to the state
# > $(1, \dots, 1)$. The state exceeds every float32 after 256 steps, and not before; multiplied out in float32 it is
# > infinite at step 257. The growth of $T$ steps, $b^{T(1-1/p)}$, is within float32 up to
# > $p = 1/(1 - \log_b F / T)$, where $F$ is the largest float32.
#
# **Step 1.** The factor is $8^{1/6}$ a step; in whole numbers, $8^{256} > F^6 \ge 8^{255}$. (Other blocks can do it
# a little sooner. After $k - 1$ steps the 1-norm of the state is at most $8 \cdot 8^{(k-1)/6}$ by Theorem 2. A last
# block whose columns are all the same basis vector collects all of it in one entry, which is then $8^{(k+5)/6}$. With
# it 251 steps are enough, and fewer are not, whatever the blocks.)
#
# **Step 2.** The float32 next to $\sqrt2$ is a little smaller, and its 256th power
# still fits: computed in fractions.

# %% tags=["proof-overflow"]
F = (2**24 - 1) * 2**104  # the largest float32
assert 8**256 > F**6 >= 8**255, "Theorem 3, step 1: the first power above F"
soonest = next(k for k in range(1, 300) if 8 ** (k + 5) > F**6)
assert soonest == 251, "Theorem 3, step 1: the first power above F, if a last block collects the entries"
print("first step above the largest float32: 256; if a last block collects the entries:", soonest)

# %% tags=["proof-overflow"]
factor = np.float32(8 ** (1 / 6))
rounded = Fraction(float(factor))
assert rounded**2 < 2 and rounded**256 <= F < rounded**257, "Theorem 3, step 2: the factor is rounded first"
print(f"the float32 next to the square root of 2: {float(rounded):.9f}; the first power above: 257")


# %% [markdown]
# **Step 3.** Multiplied out in float32, each product is rounded once more, by at most $2^{-24}$ of itself, so
# infinity can come no earlier and no later than between the two steps that the cell computes first; it comes at 257.
#
# **Step 4.** The entries of the product $W^k$ itself are 8 times smaller than those of the state, so they exceed $F$
# six steps later: from step 262 on (multiplied out in float32, 263).

# %% tags=["proof-overflow"]
def infinite_from(x, k=0):
    with np.errstate(over="ignore"):
        while np.isfinite(x):
            x, k = x * factor, k + 1
    return k


ulp = Fraction(1, 2**24)
early, late = (next(k for k in range(250, 270) if (rounded * (1 + e)) ** k > F) for e in (ulp, -ulp))
assert early <= infinite_from(np.float32(1)) == 257 <= late, "Theorem 3, step 3: in float32"
print(f"between {early} and {late}, and in fact at step {infinite_from(np.float32(1))}")

# %% tags=["proof-overflow"]
entry = np.float32(8 ** (-1 / 1.2))  # of W = W^1
assert 8**262 > (8 * F) ** 6 >= 8**261 and infinite_from(entry, 1) == 263, "Theorem 3, step 4: the product"
print("the entries of W^k: above F from 262 on; in float32 infinite at", infinite_from(entry, 1))

# %% [markdown]
# **Step 5.** So the paper's "longer sequences correspond to smaller values of $p$" can be made exact: the $p$ of the
# theorem solves $b^{T(1 - 1/p)} = F$. $\blacksquare$

# %% tags=["proof-overflow"]
T, b, limit, inverse = sp.symbols("T b F u", positive=True)  # u = 1/p
(found,) = sp.solve(sp.Eq(T * (1 - inverse) * sp.log(b), sp.log(limit)), inverse)
inverses = {n: float(found.subs({T: n, b: 8, limit: F})) for n in (40, 128, 255, 500, 10_000)}  # 1/p
assert sp.simplify(found - (1 - sp.log(limit) / (T * sp.log(b)))) == 0, "Theorem 3, step 5: the largest p"
assert 1 / inverses[255] > 1.2 > 1 / inverses[500] > 1.09 and inverses[40] < 0, "Theorem 3, step 5: the largest p"
print(
    "largest safe p:",
    *(f"T = {n:,}: {1 / u:.4f}" if u > 0 else f"T = {n}: any" for n, u in inverses.items()),
)

# %% [markdown]
# So at the training length 40 no $p$ can overflow, at the test length 500 the paper's 1.2 can, and $p = 1$ never does.
#
# *Break it.* Count in exact powers of $\sqrt2$, without rounding the factor first, and step 2 fails.

# %% tags=["proof-overflow"]
with show.expect_failure("Theorem 3, step 2"):
    square = Fraction(2)  # of the exact factor
    assert square**128 <= F < square**129, "Theorem 3, step 2: the factor is rounded first"

# %% jupyter={"source_hidden": true} tags=["hide-input", "nbval-ignore-output"]
show.figure(
    ch02.growth(1.2, 8),
    alt="Norm of products of blocks over 500 steps on a logarithmic scale at p = 1.2, b = 8. "
        "The worst case is a straight line that crosses the float32 ceiling near step 256; "
        "positive blocks grow a little slower; permutations stay at 1; random signs and "
        "Gaussian columns shrink until float32 holds zero.",
    caption="What to see: at p = 1.2 the same constraint admits explosion (all entries of one "
            "sign), perfect memory (permutations) and vanishing (random signs). Training has "
            "to find the middle one.",
)  # fmt: skip

# %% [markdown]
# **Exercise 10** ★ *(5 min, 3 points: to turn a bound into a largest exponent)* Up to which $p$ does the 1-norm of the
# state grow by at most a factor of 10 in 500 steps for $b = 8$, whatever the blocks? The growth widget of the chapter shows only
# that it lies between 1 and 1.01: compute it to five decimals.

# %%
my_p = None  # exercise 10: the largest p, to five decimals
check("02.10", my_p)


# %% [markdown]
# <!-- Exercise 02.10: from notebooks/lrnnbook/content/exercises/ch02.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint 1</summary>
#
# Theorem 2 has the largest growth a step.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# Solve $8^{500(1-1/p)} = 10$.
#
# </details>

# %% [markdown]
# ## 3 What random columns do
#
# The worst case is one block. What do *random* columns do, each divided by its $p$-norm? We measure it on 50 chains
# of 200 random blocks of size 8, and with each rate its standard error. The rate is the factor by which the 1-norm
# of the state changes at a step, on average.
#
# **Step 1.** Gaussian columns and columns of random signs shrink the state, at $p = 1$, 1.2 and 2.
#
# **Step 2.** For columns of random signs one number says it all: every column is $b^{-1/p}$ times its signs, so for
# each $b$ the rates at all $p$ follow from one of them; written as a multiple of $b^{1/2-1/p}$, they are the same
# number.
#
# **Step 3.** Blocks of positive entries keep the 1-norm at $p = 1$; for larger $p$ they make it grow, by less than
# the bound of Theorem 2.

# %% tags=["proof-typical"]
def rate(kind, p, b=8, steps=200, chains=50):
    """How ||x||_1 changes a step, and its standard error; a state that is lost starts again."""
    draw, x, logs = np.random.default_rng(0), np.ones((chains, b, 1)), []
    for step in range(steps):
        A = kind(draw.standard_normal((chains, b, b)))
        x = A / np.linalg.norm(A, p, axis=1, keepdims=True) @ x
        size = np.abs(x).sum((1, 2))
        x = np.where((alive := size > 1e-9)[:, None, None], x / np.where(alive, size, 1)[:, None, None], 1)
        logs.append(np.where(alive, np.log(np.where(alive, size, 1)), np.nan))
    each = np.exp(np.nanmean(logs[steps // 10 :], 0))
    return each.mean(), each.std() / chains**0.5


exponents = (1, 1.2, 2)
kinds = {"Gaussian": lambda raw: raw, "signs": np.sign, "positive": np.abs}
rates = {name: [rate(kind, p) for p in exponents] for name, kind in kinds.items()}
for name, found in rates.items():
    print(f"{name}:", ", ".join(f"p = {p}: {r:.3f} +- {e:.3f}" for p, (r, e) in zip(exponents, found)))
assert all(r + 3 * e < 1 for name in ("Gaussian", "signs") for r, e in rates[name]), (
    "Random columns, step 1: mixed signs shrink"
)

# %% tags=["proof-typical"]
shares = [r / 8 ** (1 / 2 - 1 / p) for p, (r, _) in zip(exponents, rates["signs"])]
assert max(shares) - min(shares) < 1e-9 and 0.93 < shares[0] < 0.97, "Random columns, step 2: one number"
print(f"signs: {shares[0]:.3f} times b^(1/2 - 1/p)")

# %% tags=["proof-typical"]
bounds = [8 ** (1 - 1 / p) for p in exponents]
positive = [r for r, _ in rates["positive"]]
assert abs(positive[0] - 1) < 1e-12, "Random columns, step 3: positive columns"
assert all(1 < r < most for r, most in zip(positive[1:], bounds[1:])), "Random columns, step 3: positive columns"
print(
    "positive columns, share of the bound:",
    ", ".join(f"{r / most:.3f}" for r, most in zip(positive, bounds)),
)

# %% [markdown]
# *Break it.* At $p = 4$ blocks of mixed signs make the state grow, too.

# %% tags=["proof-typical"]
with show.expect_failure("Random columns, step 1"):
    at_four = {name: [rate(kinds[name], p) for p in (1, 4)] for name in ("Gaussian", "signs")}
    assert all(r + 3 * e < 1 for name in ("Gaussian", "signs") for r, e in at_four[name]), (
        "Random columns, step 1: mixed signs shrink"
    )

# %% [markdown]
# ## Exercises
#
# You will find each exercise in its section. Stuck? `hint("02.10")`. Done? Compare with `solution("02.10")`.

# %% [markdown]
# <!-- The exercises of this chapter, listed by lrnnlab book build. -->
#
# 1 exercise, 3 points, about 5 minutes:
#
# | exercise | section | difficulty | minutes | points | you will learn |
# |---|---|---|---|---|---|
# | 10 | [2 When float32 overflows](#2-When-float32-overflows) | ★ | 5 | 3 | to turn a bound into a largest exponent |
#
# <details><summary>Solution of 02.10</summary>
#
# $500\,(1 - 1/p) \ln 8 = \ln 10$ gives $p = 1/(1 - \ln 10/(500 \ln 8)) = 1.00222$. At
# $p = 1.0022$ the bound is 9.8, at 1.0023 it is 10.9.
#
# </details>
