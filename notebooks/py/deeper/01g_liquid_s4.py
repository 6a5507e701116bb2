# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 01g · Liquid-S4 and errata
#
# How does Liquid-S4 escape Proposition 2, where does the paper say something else than we found, and what does all this not show? *It takes* about 10 min to read and 15 min for the exercises. Read [chapter 01](../01_subtraction.ipynb) first.

# %% jupyter={"source_hidden": true} tags=["hide-input"]

import sympy as sp

import lrnnbook
from lrnnbook import show
from lrnnbook.content.exercises import check, hint, solution

lrnnbook.needs("0.1")

# %% [markdown]
# ## 1 How Liquid-S4 escapes
#
# Liquid-S4 has $x_k = (A + \mathrm{diag}(B u_k))\,x_{k-1} + B u_k$ (Eq. 4). The paper says that it "does not suffer
# from the limitation outlined in Proposition 2". That is correct, and can be made exact. Write $G_c = A +
# \mathrm{diag}(Bu_c)$ and
#
# $$K = G_1 G_- G_0 - G_0 G_- G_1, \qquad x_{0-1} - x_{1-0} = K z + g$$
#
# with a vector $g$ that does not depend on the start. After `0-` the difference is $K x_{0-} + g$.
#
# **Step 1.** If $K$ and $G_- G_0$ are invertible, the equation $K x_{0-} + g = 0$ has a solution $z$. Here is a layer of
# width 2 where they are.

# %% tags=["proof-liquid_s4"]
driven = {"0": sp.Matrix([1, 0]), "1": sp.Matrix([0, 2]), "-": sp.Matrix([1, -1])}  # B u for each letter


def liquid_layer(t):  # t scales the entries off the diagonal
    A = sp.Matrix([[1, 2 * t], [-t, 3]])
    G = {letter: A + sp.diag(*driven[letter]) for letter in driven}
    return G, G["1"] * G["-"] * G["0"] - G["0"] * G["-"] * G["1"]


def liquid(word, x, G):
    for letter in word:
        x = G[letter] * x + driven[letter]
    return x


# %% tags=["proof-liquid_s4"]
def start(G, K):  # the z with K x(0-) + g = 0
    zero = sp.zeros(2, 1)
    g = liquid("0-1", zero, G) - liquid("1-0", zero, G)
    return (K * G["-"] * G["0"]).LUsolve(-g - K * liquid("0-", zero, G))


G, K = liquid_layer(1)
assert K.det() != 0 and (G["-"] * G["0"]).det() != 0, (
    "Liquid-S4, step 1: the equation for z has a solution"
)
escape = start(G, K)
show.math("K =", K, r", \quad z =", escape)

# %% [markdown]
# **Step 2.** From this start $x_{0-0-1} = x_{0-1-0}$, exactly; **step 3:** and $x_{0-1} \ne x_{1-0}$.

# %% tags=["proof-liquid_s4"]
assert liquid("0-0-1", escape, G) == liquid("0-1-0", escape, G), (
    "Liquid-S4, step 2: the equal values have equal states"
)
assert liquid("0-1", escape, G) != liquid("1-0", escape, G), (
    "Liquid-S4, step 3: the different values have different states"
)
show.math("x_{0-0-1} = x_{0-1-0} =", liquid("0-0-1", escape, G))

# %% [markdown]
# **Step 4.** The escape comes from the off-diagonal part of $A$ alone. Scale it by $t$: the determinant of $K$ is a
# multiple of $t^2$. With $A$ diagonal, $t = 0$, even $K = 0$: both differences are $g$, and Proposition 2 is back.

# %% tags=["proof-liquid_s4"]
scale = sp.Symbol("t")
determinant, (G_0, K_0) = sp.factor(liquid_layer(scale)[1].det()), liquid_layer(0)
assert sp.rem(determinant, scale**2, scale) == 0 and K_0 == sp.zeros(2, 2), (
    "Liquid-S4, step 4: K vanishes with the off-diagonal part"
)
y = sp.Matrix(sp.symbols("y1 y2"))
unequal, equal = (
    sp.expand(liquid(a, y, G_0) - liquid(b, y, G_0)) for a, b in (("0-1", "1-0"), ("0-0-1", "0-1-0"))
)
assert unequal == equal and not equal.has(*y), "Liquid-S4, step 4: one difference, whatever the start"
show.math(r"\det K =", determinant, r"; \quad \text{at } t = 0 \text{ both differences are }", tuple(equal))

# %% [markdown]
# **Step 5.** This start escapes *one* contradiction. It does not make Liquid-S4 represent subtraction: already $0 = 0 -
# 0$ fails.

# %% tags=["proof-liquid_s4"]
gap = liquid("0", escape, G) - liquid("0-0", escape, G)
assert gap != sp.zeros(2, 1), "Liquid-S4, step 5: equal values, different states"
show.math("x_0 - x_{0-0} =", gap)

# %% [markdown]
# **Break a hypothesis.** Without the off-diagonal part, at $t = 0$, the equation of step 1 cannot be solved.

# %% tags=["proof-liquid_s4"]
with show.expect_failure("Liquid-S4, step 1"):
    G_0, K_0 = liquid_layer(0)
    assert K_0.det() != 0 and (G_0["-"] * G_0["0"]).det() != 0, (
        f"Liquid-S4, step 1: det K = {K_0.det()}, no start helps"
    )

# %% [markdown]
# **Exercise 15** ★★★ *(15 min, 3 points: to see what off-diagonal entries give)* **Find the wrong step.** *Claim: for
# $v \ne w$ the transitions $A + \mathrm{diag}(v)$ and $A + \mathrm{diag}(w)$ of Liquid-S4 commute exactly if $A$ is
# diagonal.* Let $D = \mathrm{diag}(w - v)$.
#
# 1. Multiply out both products. All terms cancel but $AD$ and $DA$, so the transitions commute exactly if $AD = DA$.
# 2. As $v \ne w$, the diagonal matrix $D$ is not zero, and what commutes with it is diagonal as well.
# 3. Conversely, two diagonal matrices commute.
# 4. So the transitions commute exactly if $A$ is diagonal.
#
# Which step does not follow, and which $A$, $v$, $w$ show it? Then say for which $A$ they do commute.

# %%
my_step = None  # exercise 15: the step, then (A, v, w), for example (1, ([[1, 2], [0, 1]], [0, 0], [0, 1]))
check("01.15", my_step)

# %% [markdown]
# <!-- Exercise 01.15: from notebooks/lrnnbook/content/exercises/ch01.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint 1</summary>
#
# What is the entry $(i, j)$ of $AD - DA$ for a diagonal $D$?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# Which matrices commute with a $D$ whose diagonal entries are all equal?
#
# </details>

# %% [markdown]
# ## 2 Where the paper says something else
#
# | the paper | what we found |
# |---|---|
# | Propositions 1 and 2: such layers are "inconsistent in representing subtraction" | right if the state must be a function of the value; false with a readout ([chapter 01](../01_subtraction.ipynb)). True for any readout: Theorems A and D |
# | S4 and S4D fail on Sum and EvenPair *because* of Proposition 1 (section 4.4) | neither task contains a subtraction. A constant $A = 1$ computes Sum; two constant layers compute EvenPair ([01c](01c_two_layers.ipynb)) |
# | diagonal transitions are not enough (motivation of section 3) | in *one* layer with finitely many states. Three diagonal layers compute ModArith(5), two the group $S_3$ ([01e](01e_groups_and_depth.ipynb)) |
# | Liquid-S4 has "input-dependent block matrices" (section 4.4) | Eq. 4 is one $A$ plus a diagonal that depends on the input: not blocks that do |
# | "it is feasible to maintain the same block size if more layers are employed" | for ModArith yes (table in [01f](01f_block_size.ipynb)). In general it is a hope; for $D_{12}$ with $b = 8$ and more layers we leave it open |
#
# Chapter 02 asks whether the column norms of Eq. 6 and 7 keep a product from exploding, and chapter 03 what the
# parallel scan costs.
#
# ## 3 What the propositions do not say
#
# * **Nothing about training.** All of this is about which functions *exist*. A model that can represent a task may not
#   learn it, and Table 2 of the paper measures learning.
# * **Nothing about short strings.** Theorem A lets the state store all of a short input; a network trained and tested
#   at length 40 need not notice.
# * **Nothing about several layers**, except Theorem D′. Two layers hold the first letter in few states at each length
#   ([01c](01c_two_layers.ipynb)), and in finitely many if the lower one keeps the last two letters in place of the clock; so Theorem C is
#   about one layer only. So is Theorem A: with a counter beside it, the first number is all that
#   subtraction asks for ([01d](01d_turns_and_resets.ipynb), section 3). Whether Theorem B holds for two layers we have not looked at.
# * **Nothing about infinitely many states.** Theorems C, D, D′ and E ask for finitely many, in exact arithmetic. A
#   diagonal layer whose states grow can store everything ([01a](01a_stored_inputs.ipynb)); one whose states shrink tells the killer words
#   apart by less and less. Rounding is yet another matter.
# * **"Open" in the table means that we know no model and no proof**, not that there is none.

# %%
print(f"what is left of a difference after 100 letters that shrink it to 60 %: {0.6**100:.1e}")

# %% [markdown]
# ## Exercises
#
# You will find each exercise in its section. Stuck? `hint("01.15")`. Done? Compare with `solution("01.15")`.

# %% [markdown]
# <!-- The exercises of this chapter, listed by lrnnlab book build. -->
#
# 1 exercise, 3 points, about 15 minutes:
#
# | exercise | section | difficulty | minutes | points | you will learn |
# |---|---|---|---|---|---|
# | 15 | [1 How Liquid-S4 escapes](#1-How-Liquid-S4-escapes) | ★★★ | 15 | 3 | to see what off-diagonal entries give |
#
# <details><summary>Solution of 01.15</summary>
#
# Step 2, for example `(2, ([[0, 1], [1, 0]], [0, 0], [1, 1]))`: here $D = I$, which commutes with every $A$. What is right:
# $AD - DA$ has the entries $a_{ij}\,(d_j - d_i)$ with $d = w - v$. So the transitions commute exactly if $a_{ij} = 0$ wherever $w - v$
# differs at $i$ and $j$. For generic inputs it differs everywhere, and then $A$ is diagonal.
#
# </details>
