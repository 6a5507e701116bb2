# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 08d · Errors double
#
# A trained layer gives numbers that are nearly bits. What does the next layer make of them? *It takes* about 15 min to read and 35 min for the exercises. Read [chapter 08](../08_working_memory_in_depth.ipynb) first.

# %% jupyter={"source_hidden": true} tags=["hide-input"]
import itertools
from fractions import Fraction

import numpy as np
import sympy as sp

import lrnnbook
from lrnnbook import show
from lrnnbook.content.chapters import ch08
from lrnnbook.content.chapters.tree_composition import compose, first_weights, recursion, second_weights
from lrnnbook.content.exercises import check, hint, solution

lrnnbook.needs("0.1")

# %% jupyter={"source_hidden": true} tags=["hide-input", "nbval-ignore-output"]
show.figure(
    ch08.doubling_picture(),
    alt="Errors by layers done, on a logarithmic axis. At worst the ones double three times and the zeros grow a little faster; once zeros "
        "pass one half, at the third layer, both jump and then grow tenfold a layer, up to 500,000. Random errors grow more "
        "slowly, to 900 after nine layers.",
    caption="Lemma 1 on 512 letters of Cycle Navigation (n = 5), each number wrong by up to 1/32. What to see: errors double until "
            "the zeros pass one half; from there on they grow tenfold, 2n, a layer.",
)  # fmt: skip

# %% [markdown]
# A node holds the **action** of its word: a matrix $A$ whose row $s$ has its 1 in the column of the state that the word leads to from $s$
# (the paper's Eq. 2). First the word $u$, then $v$, is the product $A_u A_v$. Lemma 1
# multiplies two of them in two layers. `first_weights(n)` and `second_weights(n)` are their weights, `compose(A, B)` is the same layer
# without its zero weights, and `recursion(leaves, layer, before)` uses a layer depth by depth.
#
# ## 1 Errors grow
#
# Lemma 1 is exact for exact bits. A trained layer gives numbers *near* bits; what does the next one make of them? Suppose each
# number of each letter's matrix is wrong by up to $e$. The letters are permutations here, as in Cycle Navigation or $S_3$.
#
# **Claim (noise).** At worst the error of the ones doubles in every layer, that of the zeros more than doubles, as long as zeros are at most
# $\frac12$. From there on errors grow by a factor that tends to $2n$ a layer. This holds for every word of $2^\ell$ letters after $\ell$ layers; for
# words that do not fill their tree it is a bound, as the identities before the start are exact and the layer is monotone.
#
# **Step 1.** Every weight of $W_1$ and $W_2$ is 0 or more, and ReLU does not decrease. So the layer is *monotone*: a larger input
# never makes a smaller output. The worst is therefore $+e$ everywhere or $-e$ everywhere.
#
# **Step 2 (sample).** One run on 512 letters with random errors up to $e = \frac1{32}$ lies between the two ends, number by number.

# %% tags=["proof-noise"]
for n in range(2, 6):
    assert min(first_weights(n).min(), second_weights(n).min()) >= 0, (
        "Noise, step 1: no weight is negative"
    )
draw, machine, e = np.random.default_rng(0), ch08.machine_of("Cycle Navigation"), 1 / 32
exact = np.eye(5)[machine.transitions[draw.integers(3, size=512)]]  # (512, 5, 5)
shifts = (-e, e, draw.uniform(-e, e, exact.shape))
low, high, near_bits = (np.array(recursion(exact + shift, compose, np.eye(5))) for shift in shifts)
assert ((low <= near_bits) & (near_bits <= high)).all(), "Noise, step 2: between the two ends"
print(f"{near_bits.size:,} numbers of {len(near_bits) - 1} layers, all between the two ends")

# %% [markdown]
# **Step 3.** Let the layer be $f(A, B)_{ij} = \sum_k h(A_{ik}, B_{kj})$ with *any* function $h$. For permutation matrices $P$ and $R$
# then $f(PA, BR) = P f(A, B) R$. Let $M$ have one number, $d$, on its diagonal and another, $o$, off it, so that $RM = MR$; step 4
# shows that $f(M, M)$ is such a matrix too. Two words whose matrices are $PM$ and $RM$ then give
# $f(PM, RM) = P f(M, M) R = PR\,f(M, M)$: the worst numbers do not depend on the words. **All permutations of 2 and 3 things**, with
# free symbols.

# %% tags=["proof-noise"]
h = sp.Function("h")


def any_layer(A, B):
    n = len(A)
    return np.array([[sum(h(A[i, k], B[k, j]) for k in range(n)) for j in range(n)]
                     for i in range(n)])  # fmt: skip


for n in (2, 3):
    A, B = (np.array(sp.symbols(f"{name}:{n}:{n}")).reshape(n, n) for name in "AB")
    M = np.where(np.eye(n, dtype=bool), *sp.symbols("d o"))
    group = [np.eye(n, dtype=int)[list(p)] for p in itertools.permutations(range(n))]
    for P, R in itertools.product(group, repeat=2):
        assert (any_layer(P @ A, B @ R) == P @ any_layer(A, B) @ R).all(), "Noise, step 3: f(PA, BR)"
        assert (any_layer(P @ M, R @ M) == P @ R @ any_layer(M, M)).all(), "Noise, step 3: f(PM, RM)"
print(f"n = {n}: {len(group) ** 2} pairs of permutations")

# %% [markdown]
# **Step 4.** So two numbers say all: $d$ on the ones of the matrix and $o$ off them. With $h$ the unit of Lemma 1,
#
# $$d' = \mathrm{ReLU}(2d - 1) + (n-1)\,\mathrm{ReLU}(2o - 1), \qquad
#   o' = 2\,\mathrm{ReLU}(d + o - 1) + (n-2)\,\mathrm{ReLU}(2o - 1).$$

# %% tags=["proof-noise"]
d, o = sp.symbols("d o")
for n in range(2, 7):
    eye = np.eye(n, dtype=bool)
    made = any_layer(*[np.where(eye, d, o)] * 2)
    assert (made[eye] == h(d, d) + (n - 1) * h(o, o)).all(), "Noise, step 4: d"
    assert (made[~eye] == h(d, o) + h(o, d) + (n - 2) * h(o, o)).all(), "Noise, step 4: o"
show.math(r"n = 6, \text{ off the diagonal:} \quad", made[0, 1])


# %% [markdown]
# **Step 5.** These are the numbers of the whole run on 512 letters, layer by layer.

# %% tags=["proof-noise"]
def worst(n, e, layers):
    """(d, o) after 0, 1, ... layers, with an error of e on every number of the letters."""
    found = [(1 + e, e)]
    for _ in range(layers):
        d, o = found[-1]
        both = max(2 * o - 1, 0)
        found.append((max(2 * d - 1, 0) + (n - 1) * both, 2 * max(d + o - 1, 0) + (n - 2) * both))
    return found


for layer, (d, o) in enumerate(worst(5, Fraction(1, 32), 9)):
    assert set(high[layer, -1].ravel().tolist()) == {float(d), float(o)}, (
        "Noise, step 5: the run has these two numbers"
    )
print(f"after nine layers d = {d}, o = {o}")

# %% [markdown]
# **Step 6.** While $o \le \frac12$ the last terms are 0. With $d = 1 + x$ the rules are $x' = 2x$ and $o' = 2(x + o)$: the error of the
# ones **doubles** in every layer, and that of the zeros more than doubles. **All cases** of the identity; in numbers, in units of $e$,
# for machines of 2 to 7 states.

# %% tags=["proof-noise"]
x, o = sp.symbols("x o", positive=True)
assert sp.expand(2 * (1 + x) - 1 - (1 + 2 * x)) == 0, "Noise, step 6: the ones"
assert sp.expand(2 * ((1 + x) + o - 1) - 2 * (x + o)) == 0, "Noise, step 6: the zeros"
e = Fraction(1, 4096)
for n in range(2, 8):
    grown = worst(n, e, 7)
    for layer, ((d, o), (after, off)) in enumerate(itertools.pairwise(grown)):
        assert o <= Fraction(1, 2) and d - 1 == 2**layer * e, "Noise, step 6: in numbers"
        assert off == 2 * (2**layer * e + o), "Noise, step 6: in numbers"
print("in units of e: ones", [int((d - 1) / e) for d, o in grown], "zeros", [int(o / e) for d, o in grown])

# %% [markdown]
# **Step 7.** Once zeros pass $\frac12$, all $n$ units add to the error. Without the constants the two rules are a matrix with the
# eigenvalues $2n$ and 0, so errors grow by a factor that tends to $2n$ a layer.
#
# **Step 8.** With $-e$ everywhere the ones shrink, $1 - 2^\ell e$; after $\log_2\frac1e$ layers nothing is left of the state.
#
# **Step 9 (sample).** Random errors grow too, more slowly. $\blacksquare$

# %% tags=["proof-noise"]
n = sp.Symbol("n", positive=True)
woken = sp.Matrix([[2, 2 * (n - 1)], [2, 2 + 2 * (n - 2)]])
assert woken.eigenvals() == {2 * n: 1, 0: 1}, "Noise, step 7: the eigenvalues are 2 n and 0"
show.math(woken, r"\quad \text{has the eigenvalues } 2n \text{ and } 0")
grown = [o for _, o in worst(5, Fraction(1, 32), 20)]
assert abs(grown[-1] / grown[-2] - 10) < Fraction(1, 100), "Noise, step 7: n = 5, in numbers"
ones = [float(low[layer, -1].max()) for layer in range(10)]
assert ones == [max(1 - 2**layer / 32, 0) for layer in range(10)], "Noise, step 8: the ones shrink"
found = np.abs(near_bits - np.array(recursion(exact, compose, np.eye(5)))).max((1, 2, 3))
assert (found[1:] > found[:-1]).all() and found[-1] < float(max(worst(5, Fraction(1, 32), 9)[-1])), (
    "Noise, step 9: random errors grow more slowly"
)
print(f"e = 1/32: the ones, at worst {ones}\nlargest random error by layer: "
      + ", ".join(f"{error:.3g}" for error in found))  # fmt: skip

# %% [markdown]
# **Break it:** letters that are no permutations, as those of Tomita 3. They may lead several states to one. Then the worst numbers depend
# on the word, and $d$ and $o$ are not all of them.

# %% tags=["proof-noise"]
with show.expect_failure("Noise, step 5"):
    meeting = np.eye(5)[ch08.machine_of("Tomita 3").transitions[draw.integers(2, size=512)]]
    met = np.array(recursion(meeting + 1 / 32, compose, np.eye(5)))
    for layer, (d, o) in enumerate(worst(5, Fraction(1, 32), 9)):
        numbers = set(met[layer, -1].ravel().tolist())
        assert numbers == {float(d), float(o)}, (
            f"Noise, step 5: {len(numbers)} numbers after layer {layer}"
        )

# %% [markdown]
# **Exercise 10** ★★ *(10 min, 2 points: to tell when errors of floats would matter)* How many layers does Lemma 1's
# recursion last, for a permutation of $n$ states, before the worst errors of size $e = 2^{-k}$ have left nothing of
# the ones? What does the answer say about float32 as the only source of errors?

# %% [markdown]
# <!-- Exercise 08.10: from notebooks/lrnnbook/content/exercises/ch08.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint 1</summary>
#
# The ones are worth $1 - 2^\ell e$ after $\ell$ layers.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# And the zeros? Step 6 above and exercise 11 have them.
#
# </details>

# %% [markdown]
# ### A step for you
#
# **Exercise 11** ★ *(10 min, 3 points: to solve a recurrence of errors)* **A proof step.** Step 6 says how zeros grow:
# in units of $e$ they are $z_0 = 1$ and $z_{\ell+1} = 2\,(2^\ell + z_\ell)$. Solve it: the line that is missing is
# $z_\ell$ as a function of $\ell$. The statement and its `assert` are below.

# %%
my_zeros = None  # a function of the number of layers
if my_zeros is not None:
    assert my_zeros(0) == 1, "your step: the start"
    assert all(my_zeros(l + 1) == 2 * (2**l + my_zeros(l)) for l in range(20)), "your step"
check("08.11", my_zeros)

# %% [markdown]
# <!-- Exercise 08.11: from notebooks/lrnnbook/content/exercises/ch08.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint 1</summary>
#
# Divide by $2^\ell$: what is added in each layer?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# $z_{\ell+1}/2^{\ell+1} = z_\ell/2^\ell + 1$.
#
# </details>

# %% [markdown]
# ### A layer that repairs
#
# The [sitting](../08_working_memory_in_depth.ipynb) replaces one ReLU by two, which removes errors up to a bound. Exercise 12 asks you
# for the proof. Here $s = a + b - 1$, and $a$ and $b$ are near bits.
#
# The paper does not ask where a trained model gets its precision from. Its layer has more than Lemma 1: a residual connection and
# layer normalisation, which may do what the second ReLU does here. Section 7 of the sitting measures it.

# %% [markdown]
# **Exercise 12** ★★ *(15 min, 4 points: to prove that a second ReLU removes errors)* **A proof step.** Prove that
# $\mathrm{ReLU}(gs - \frac{g-1}2) - \mathrm{ReLU}(gs - \frac{g+1}2)$, $g > 1$, is exact for inputs within
# $\frac14 - \frac1{4g}$ of bits, and that no function of $a + b$ can reach $\frac14$.

# %%
my_reach = None  # for g = 3, the largest error that is removed wholly, to three decimals
check("08.12", my_reach)

# %% [markdown]
# <!-- Exercise 08.12: from notebooks/lrnnbook/content/exercises/ch08.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint</summary>
#
# What is $s$ at least, what at most?
#
# </details>

# %% [markdown]
# ## Exercises
#
# You will find each exercise in its section. Stuck? `hint("08.10")`. Done? Compare with `solution("08.10")`.

# %% [markdown]
# <!-- The exercises of this chapter, listed by lrnnlab book build. -->
#
# 3 exercises, 9 points, about 35 minutes:
#
# | exercise | section | difficulty | minutes | points | you will learn |
# |---|---|---|---|---|---|
# | 10 | [1 Errors grow](#1-Errors-grow) | ★★ | 10 | 2 | to tell when errors of floats would matter |
# | 11 | [1 Errors grow](#1-Errors-grow) | ★ | 10 | 3 | to solve a recurrence of errors |
# | 12 | [1 Errors grow](#1-Errors-grow) | ★★ | 15 | 4 | to prove that a second ReLU removes errors |
#
# <details><summary>Solution of 08.10</summary>
#
# $k$ layers, whatever $n$: $1 - 2^k 2^{-k} = 0$. The zeros are worse: $(\ell+1)\,2^\ell e$ passes
# $\frac12$ earlier, for $e = 2^{-24}$, the size of float32's rounding, after 19 layers. That is a string of
# half a million letters: the precision of numbers is not the problem, that of what was learned is.
#
# </details>
#
# <details><summary>Solution of 08.11</summary>
#
# With $y_\ell = z_\ell/2^\ell$ the rule is $y_{\ell+1} = y_\ell + 1$, $y_0 = 1$. So
# $z_\ell = (\ell+1)\,2^\ell$: the error of a zero is $(\ell+1)\,2^\ell e$ after $\ell$ layers, as long as it
# was at most $\frac12$ before.
#
# </details>
#
# <details><summary>Solution of 08.12</summary>
#
# Let $e = \frac14 - \frac1{4g}$, which is $\frac16$ for $g = 3$. Two ones:
# $s \ge 1 - 2e = \frac12 + \frac1{2g}$, and there both ReLUs are on: $gs - \frac{g-1}2 - gs + \frac{g+1}2 = 1$.
# Otherwise $s \le 2e = \frac12 - \frac1{2g}$, and both are off: 0. With errors of $\frac14$ two ones and a one
# with a zero can both have $a + b = \frac32$.
#
# </details>
