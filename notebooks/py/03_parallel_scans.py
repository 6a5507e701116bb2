# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 03 · Parallel scans
#
# A linear recurrence $x_t = A_t\,x_{t-1} + b_t$ looks sequential: no state without the one before. Yet you can compute eight
# positions in three rounds:

# %% jupyter={"source_hidden": true} tags=["hide-input"]
import math
import time

import numpy as np
import sympy as sp
import torch

import lrnnbook
from lrnnbook import show
from lrnnbook.content.chapters import ch03
from lrnnbook.content.exercises import check, hint, solution
from lrnnbook.content.show import lrnn_figures
from lrnnbook.content.show.widgets import explore
from lrnnlab import scans
from lrnnlab.scans import linear_scan

lrnnbook.needs("0.1")
scans.warm()

# %% jupyter={"source_hidden": true} tags=["hide-input", "nbval-ignore-output"]
show.figure(
    lrnn_figures.scan_schedule(8),
    alt="The three levels of a parallel scan of length 8: the first applies A1, A3, A5, A7; "
        "the second A2, A3A2, A6, A7A6; the third A4, A5A4, A6A5A4, A7A6A5A4, each to the "
        "last state of the run before.",
    caption="Figure 1 of paper 000, from our code. 2..3 is what inputs 2 and 3 make of a state 0; an "
            "arrow adds the product at its head times what it comes from. What to see: a filled circle "
            "is a finished state. There is 1 before the first level, then 2, 4, 8; and the products "
            "at the arrowheads get longer.",
)  # fmt: skip

# %% [markdown]
# The same trick computes 500 steps in nine rounds. Run it beside a loop, on 16 strings with 8 blocks of size 8:

# %% tags=["varies", "nbval-ignore-output"]
inputs = torch.Generator().manual_seed(0)
blocks = torch.randn(16, 500, 8, 8, 8, generator=inputs) * 0.3
drive = torch.randn(16, 500, 8, 8, generator=inputs)
rounds = {"paper": "PScan, 9 rounds", "reference": "a loop in Python, 500 steps", "cpu": "a compiled loop, 500 steps"}
seconds, last = {}, {}
for backend in rounds:
    for _ in range(3):
        begun = time.perf_counter()
        last[backend] = linear_scan(blocks, drive, backend=backend)[:, -1]
        seconds[backend] = min(seconds.get(backend, math.inf), time.perf_counter() - begun)
for backend, name in rounds.items():
    same = torch.allclose(last[backend], last["cpu"], rtol=1e-3, atol=1e-4)
    print(f"{name:28s} {1e3 * seconds[backend]:6.1f} ms; the same last states: {same}")

# %% [markdown]
# Nine rounds in place of 500, and much slower.
#
# **What we ask.** The arrows above form a *tree*. *Why does the tree lose here, and where does it win?* Paper 000 (Fan, Chi and
# Rudnicky, 2024) calls this one PScan, and reports that at test time it was no faster than a loop (section 4.5). You will prove that
# PScan is right, count what it costs, and see where floats break it.
#
# *You need:* matrices, and what a logarithm is. *It takes* about 50 min to read and 55 min for the exercises, and less than a minute of computing. Words are
# explained where they first come, and once more in the [glossary](glossary.ipynb).

# %% [markdown]
# ## 1 Why it can be a tree
#
# One step is a map $f_t(x) = A_t x + b_t$. Write it as the pair $(A_t, b_t)$. A **scan** computes all the states $x_1, \dots, x_T$.
# It can be a tree because of two facts about these pairs.
#
# **Claim.** Two steps, one after the other, are one step with the pair
#
# $$(A_2, b_2) \circ (A_1, b_1) = (A_2 A_1,\; A_2 b_1 + b_2),$$
#
# and this composition is **associative**: $(f_3 \circ f_2) \circ f_1 = f_3 \circ (f_2 \circ f_1)$.
#
# In the cells SymPy may not swap two factors, so what holds for these letters holds for matrices of every size. (Bold words at a step
# say which cases its cell checks.)
#
# **Step 1 (all cases).** Applied to $x$, the composed pair gives what the two maps give one after the other. In colour: the
# second matrix acts on the first step's input, too.

# %% tags=["proof-composition"]
A1, A2, A3, b1, b2, b3, x = sp.symbols("A1 A2 A3 b1 b2 b3 x", commutative=False)


def after(second, first):
    (A2, b2), (A1, b1) = second, first
    return A2 * A1, A2 * b1 + b2


def applied(pair, x):
    A, b = pair
    return A * x + b


one_by_one = sp.expand(applied((A2, b2), applied((A1, b1), x)))
second_acts = r"A_{2} b_{1}"  # the second matrix acts on the first step's input, too
orange = rf"\textcolor{{#D55E00}}{{{second_acts}}}"
show.math("f_2(f_1(x)) =", sp.latex(one_by_one).replace(second_acts, orange))
composed = applied(after((A2, b2), (A1, b1)), x)
assert sp.expand(composed - one_by_one) == 0, "Composition, step 1: the pair is not both maps"

# %% jupyter={"source_hidden": true} tags=["hide-input", "nbval-ignore-output"]
show.figure(
    ch03.two_steps_are_one((0.5, 0.5), (-0.8, 1.4)),
    alt="Three lines: step 1 takes 0 to 0.5, step 2 takes 0.5 to 1, and the line of both together takes 0 to 1.",
    caption="What to see: on one number a step is a line. Two lines, one after the other, are a line again, so two steps are one.",
)

# %% [markdown]
# **Step 2 (all cases).** Both ways to set brackets around three pairs give the same pair. $\blacksquare$

# %% tags=["proof-composition"]
f1, f2, f3 = (A1, b1), (A2, b2), (A3, b3)
left = [sp.expand(part) for part in after(after(f3, f2), f1)]
right = [sp.expand(part) for part in after(f3, after(f2, f1))]
show.math(r"(f_3 \circ f_2) \circ f_1 =", tuple(left))
assert left == right, "Composition, step 2: the brackets matter"

# %% [markdown]
# So you may set brackets as you like, and compute what is in different brackets at the same time. Every parallel scan of
# this recurrence rests on this fact alone. (With a $\tanh$ around each step it fails:
# [03a](deeper/03a_other_roads.ipynb).)
#
# **Break it.** The order of the two matrices matters. With $A_1 A_2$ in place of $A_2 A_1$ the pair is another map:

# %% tags=["proof-composition"]
with show.expect_failure("Composition, step 1"):
    x = sp.Symbol("x", commutative=False)
    composed = applied((A1 * A2, A2 * b1 + b2), x)
    assert sp.expand(composed - one_by_one) == 0, "Composition, step 1: A1 A2 is not A2 A1"

# %% [markdown]
# **Exercise 1** ★ *(5 min, 2 points: to find where float addition is not associative)* **Break the hypothesis.** This
# section needs that brackets do not matter. Find three floats with $(a + b) + c$ and $a + (b + c)$ at least 1 apart.

# %%
my_floats = None  # exercise 1: three numbers
check("03.1", my_floats)

# %% [markdown]
# <!-- Exercise 03.1: from notebooks/lrnnbook/content/exercises/ch03.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint 1</summary>
#
# How large is the gap between neighbouring floats near $10^{16}$?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# Let two of the three cancel.
#
# </details>
#
# <details><summary>Solution</summary>
#
# For example $(10^{16}, -10^{16}, 1)$: from the left it is 1; bracketed the other way
# $-10^{16} + 1$ is rounded back to $-10^{16}$, and the sum is 0. The claims of this chapter are about real numbers,
# where addition is associative.
#
# </details>

# %% [markdown]
# **Exercise 2** ★★ *(10 min, 4 points: to scan another recurrence)* **Code.** Here is another recurrence:
# $x_t = \max(x_{t-1} + a_t,\; b_t)$. Can it be run as a tree? Give the pair that describes the step $(a_1, b_1)$
# followed by the step $(a_2, b_2)$.

# %%
# exercise 2: a function of (a2, b2) and (a1, b1), in this order; it returns the pair (a, b)
my_pair = None
check("03.2", my_pair)

# %% [markdown]
# <!-- Exercise 03.2: from notebooks/lrnnbook/content/exercises/ch03.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint 1</summary>
#
# What does adding do to a maximum?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# $\max(u, v) + a = \max(u + a, v + a)$.
#
# </details>
#
# <details><summary>Solution</summary>
#
# $\max(\max(x + a_1, b_1) + a_2, b_2) = \max(x + (a_1 + a_2), \max(b_1 + a_2, b_2))$, so the pair
# is $(a_1 + a_2, \max(b_1 + a_2, b_2))$. It is the affine rule with max for plus and plus for times.
#
# </details>

# %% [markdown]
# ## 2 PScan equals the loop
#
# > **The paper, section 3.4.** "The idea of PScan is to group *similar* operations together, run them in parallel, and deliver
# > the same results as those in the sequential [...] for loop mode." "Generally speaking, a length-L generation takes
# > $\lceil\log_2 L\rceil$ steps using PScan."
#
# Put $x_0$ in front of the inputs, so that you have a row of $T + 1$ vectors. Fill up with zeros behind until its length $L$ is a
# power of two. At level $l = 0, 1, \dots$ (the pictures count from 1) cut the row into groups of $2^{l+1}$. To every element of the
# second half of a group, add *the last element of the first half, multiplied by all matrices from the middle of the group up to
# that element*.
#
# We call such a product, written as a string of letters, a *word*. Here are the levels with numbers in place of $A_t$ and $b_t$. Play
# them, or step through.
#
# *Try:* $L = 16$. Which numbers change at the last level, and how far do their arrows reach?

# %% jupyter={"source_hidden": true} tags=["hide-input", "nbval-ignore-output"]
schedule_widget = ch03.levels_widget()
schedule_widget

# %% [markdown]
# **Exercise 3** ★ *(5 min, 2 points: how to count the work of a parallel scan)* How many products of two matrices
# does PScan make for $L = 16$? It makes one for every word of more than one letter: count them in the picture
# at the top for $L = 8$ first. For $L = 16$ the moving picture shows from where to where each word leads.

# %%
my_products = None  # exercise 3: a whole number
check("03.3", my_products)


# %% [markdown]
# <!-- Exercise 03.3: from notebooks/lrnnbook/content/exercises/ch03.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint</summary>
#
# A word of more than one letter is one product more: draw the four levels of $L = 16$, or count for $L = 4$ first.
#
# </details>
#
# <details><summary>Solution</summary>
#
# 17: $8 \cdot 4 - 15$. There are $\log_2 16 = 4$ levels of 8 words, and 15 of these are single
# letters.
#
# </details>

# %% [markdown]
# Is it always right? The paper runs one example. You can prove it.
#
# The code of the paper's appendix A.2.1 keeps the products in rows, at first one row for each matrix: `A1`, `A2`, ..., `A7` for
# $L = 8$. At each level it takes out every second row: `A1`, `A3`, `A5`, `A7`. These words the level applies. Each row that stays gets
# longer by the words of the row that stood behind it, multiplied by its own last word: `A2` becomes `A2`, `A3A2`, where `A3A2`
# means the product $A_3 A_2$. The cell does this with words:

# %% tags=["proof-pscan", "proof-work"]
def split(groups):
    coef, remain = groups[::2], groups[1::2]
    longer = [[word + run[-1] for word in row] for row, run in zip(coef[1:], remain)]
    return coef, [run + more for run, more in zip(remain, longer)]


def levels_of(L):
    """The words that each level needs, group by group, for x_0 and L - 1 matrices."""
    groups, levels = [[f"A{i}"] for i in range(1, L)], []
    while groups:
        coef, groups = split(groups)
        levels.append(coef)
    return levels


# %% [markdown]
# **Claim.** After level $l$, position $t$ holds what the loop gives if you *start it anew* at the beginning of $t$'s group of
# $2^{l+1}$, with the input there as its start. So after the last level it holds $x_t$.
#
# We write a state as the list of words that add up to it: `A2A1u0` is $A_2A_1u_0$. Here $u_t$ is what the row begins with at $t$: the
# start $x_0$ at 0, and the input $b_t$ behind it.
#
# **Step 1 (before the first level).** Every position is a group of its own and holds its input. The loop gives the same if it starts
# there.

# %% tags=["proof-pscan"]
def loop(first, last):
    words = [f"u{first}"]
    for t in range(first + 1, last + 1):
        words = [f"A{t}{word}" for word in words] + [f"u{t}"]
    return words


print("the loop from 1 to 3:", " + ".join(loop(1, 3)))
assert all(loop(t, t) == [f"u{t}"] for t in range(64)), "PScan, step 1: a group of one"

# %% [markdown]
# **Step 2 (first half).** A position in the first half of a group stays as it is. That is right, because the group begins where the
# smaller group of the level before began. **All positions below 1,024.**

# %% tags=["proof-pscan"]
halves = [2**l for l in range(10)]
first_half = [(t, half) for half in halves for t in range(1024) if t % (2 * half) < half]
print(f"{len(first_half):,} places in a first half: the beginning of the group is the same")
same = [t - t % half == t - t % (2 * half) for t, half in first_half]
assert all(same), "PScan, step 2: another beginning"

# %% [markdown]
# **Step 3 (second half).** How does a state change if the loop starts earlier? Start it at the middle $m$ of the group, and let $y$
# be the state at $t - 1$. Now start it earlier, and let $x$ be the state at $m - 1$. Suppose that the state at $t - 1$ is then
# $Px + y$ with $P = A_{t-1}\cdots A_m$.
#
# One more step keeps this form: $P$ becomes $A_t P$, and $y$ becomes $A_t y + u_t$, which is the loop from $m$ again. At $t = m$ it
# begins with $A_m x + u_m$. So in the whole second half the difference is $A_t \cdots A_m\, x$. **All cases.**

# %% tags=["proof-pscan"]
A, P, u, x, y = sp.symbols("A P u x y", commutative=False)
one_more = A * (P * x + y) + u
show.math("A (P x + y) + u =", sp.expand(one_more))
assert sp.expand(one_more - ((A * P) * x + (A * y + u))) == 0, "PScan, step 3: not of the same form"

# %% jupyter={"source_hidden": true} tags=["hide-input", "nbval-ignore-output"]
show.figure(
    ch03.two_starts(np.array([0.9, 0.8, 1.1, 0.7, 0.9, 1.2, 0.8, 0.9]), np.array([1, -0.5, 0.8, 0.3, -0.6, 0.9, -0.4, 0.5]), m=4),
    alt="States of a loop from 0 to 7, and of the loop started anew at 4. Bars between them fit exactly.",
    caption="What to see: a loop from 0 and the same loop started anew at m = 4. Each bar is the product of the matrices from 4 to t, "
    "times the state at 3. It is all that the second half lacks.",
)

# %% [markdown]
# **Step 4 (the level applies this product).** Count rows from 0. Before level $l$, row $r$ holds the $2^l$ words
# $A_t\cdots A_m$ with $t = m, \dots, m + 2^l - 1$, where $m = 2^l(r+1)$. At level 0 this is so: row $r$ is $A_{r+1}$.
#
# And `split` keeps it so. It joins row $2i+1$, which begins at $m = 2^{l+1}(i+1)$, with row $2i+2$, whose words are
# $A_t \cdots A_{m+2^l}$. The last word of the first is $A_{m+2^l-1}\cdots A_m$. Multiplied by it, the words of the second become
# $A_t\cdots A_m$. So the new row $i$ holds all words from $m$ on, to twice the length.
#
# Now group $g$ takes row $2g$. For this row $m = 2^{l+1}g + 2^l$, the middle of the group. Place $t$ of the second half receives
# $A_t\cdots A_m$, as step 3 asks. **All $L \le 256$.**

# %% tags=["proof-pscan"]
places = 0
for L in (2**k for k in range(1, 9)):
    for l, groups in enumerate(levels_of(L)):
        for g, words in enumerate(groups):
            m = 2 ** (l + 1) * g + 2**l
            places += len(words)
            wanted = ["".join(f"A{i}" for i in range(m + j, m - 1, -1)) for j in range(2**l)]
            assert words == wanted, "PScan, step 4: not the product from the middle on"
print(f"{places:,} words are the products that step 3 asks for")

# %% [markdown]
# **Step 5 (the end).** By steps 1 to 4 the claim passes from level to level. After $\log_2 L$ levels there is one group. It begins
# with $x_0$, and the loop started there is the loop. The cell compares every position after every level with the
# loop. **All $T \le 33$.** $\blacksquare$

# %% tags=["proof-pscan"]
for T in range(1, 34):
    L = 1 << T.bit_length()
    x = [[f"u{t}"] if t <= T else [] for t in range(L)]
    for l, groups in enumerate(levels_of(L)):
        for g, words in enumerate(groups):
            m = 2 ** (l + 1) * g + 2**l
            for t, word in enumerate(words, m):
                x[t] = x[t] + [word + w for w in x[m - 1]]
        for t in range(T + 1):
            start = t - t % 2 ** (l + 1)
            assert sorted(x[t]) == sorted(loop(start, t)), "PScan, step 5: not the loop started anew"
    whole_loop = [sorted(x[t]) == sorted(loop(0, t)) for t in range(T + 1)]
    assert all(whole_loop), "PScan, step 5: not the loop"
print(f"T = 1 to {T}: the same words in every state; x_3 =", " + ".join(sorted(x[3])))

# %% [markdown]
# **Break it.** Multiply in the other order, and step 4 fails. (For matrices that commute the other order is right, too:
# [03b](deeper/03b_paper_listings.ipynb).)

# %% tags=["proof-pscan"]
with show.expect_failure("PScan, step 4"):
    coef, remain = [["A1"], ["A3"]], [["A2"]]
    longer = [[run[-1] + word for word in row] for row, run in zip(coef[1:], remain)]
    assert longer == [["A3A2"]], "PScan, step 4: A2A3 is not the product from the middle on"

# %% [markdown]
# ## 3 Depth against work
#
# > **The paper, section 3.4.** "The computational complexity of our model is $O(b^3 h \log(T))$".
#
# That is the time with enough processors. What makes it short is the **depth**, the number of rounds that must wait for each other:
# $T$ in a loop, $\log_2 L$ in PScan. The **work** is how much you compute in all. A loop applies one matrix a step: $b^2 h T$
# multiplications for $h$ blocks of size $b$. PScan multiplies matrices *by matrices*, which takes $b^3$ each. How many more is that?

# %% jupyter={"source_hidden": true} tags=["hide-input", "nbval-ignore-output"]
show.figure(
    ch03.work_picture(),
    alt="Multiplications over the loop's against T. With b = 1 PScan climbs to 13 and the tree to 4; with b = 8 PScan climbs to 55 "
        "and the tree to 11.",
    caption="What to see: PScan's work over the loop's grows with log T, and blocks make it worse. What the pictures call "
            "tree is another one, which goes up and down (03a): it needs fewer products.",
)

# %% [markdown]
# **Claim.** PScan makes $\frac L2 \log_2 L - (L-1)$ products of two matrices. So its work is $\Theta(b^3 h T \log T)$, and the paper's
# $O(b^3 h \log T)$ is the time with one processor for every two positions.
#
# **Step 1.** Each of the $\log_2 L$ levels applies $L/2$ words, one to each place of a second half. **All $L \le 1{,}024$.**

# %% tags=["proof-work"]
sizes = [2**k for k in range(1, 11)]
applied_words = {L: [sum(map(len, groups)) for groups in levels_of(L)] for L in sizes}
print("words applied at L = 8, level by level:", applied_words[8])
for L, found in applied_words.items():
    assert found == [L // 2] * int(math.log2(L)), "Work, step 1: not L/2 words a level"


# %% [markdown]
# **Step 2.** Of these words $L - 1$ are single letters, which are given. There is one in each group, at the middle, so
# $\frac L2 + \frac L4 + \dots + 1 = L - 1$ in all, each letter once. Every other word is one product of two earlier words. So there
# are $\frac L2\log_2 L - (L - 1)$ products. **All $L \le 1{,}024$.**

# %% tags=["proof-work"]
def products_made(L):
    groups, made = [[f"A{i}"] for i in range(1, L)], 0
    while groups:
        made += sum(map(len, groups[2::2]))  # each word of coef[1:] is multiplied once
        _, groups = split(groups)
    return made


words = [word for groups in levels_of(64) for row in groups for word in row]
letters = [word for word in words if word.count("A") == 1]
assert sorted(letters) == sorted(f"A{i}" for i in range(1, 64)), "Work, step 2: the letters given"
print({L: products_made(L) for L in sizes})
for L in sizes:
    assert products_made(L) == L // 2 * int(math.log2(L)) - (L - 1), "Work, step 2: the count"


# %% [markdown]
# **Step 3.** At $T = 500$, $b = 8$ (so $L = 512$) the products alone take 28.7 times the loop's multiplications. Apply them to
# vectors, $b^2$ each, and PScan makes 33.3 times as many. With $b = 1$, where $b^3 = b^2$, it is still 8.2 times.

# %% tags=["proof-work"]
def work(T, b, h=1):
    """(loop, products, applications): multiplications of numbers."""
    k = T.bit_length()
    L = 1 << k
    return b**2 * h * T, b**3 * h * (L // 2 * k - (L - 1)), b**2 * h * (L // 2) * k


from_loop, from_products, from_applying = work(T=500, b=8, h=8)
small_loop, *small_scan = work(T=500, b=1, h=8)
ratios = [from_products / from_loop, (from_products + from_applying) / from_loop]
ratios = [round(ratio, 1) for ratio in (*ratios, sum(small_scan) / small_loop)]
print(f"loop {from_loop:,}, PScan {from_products:,} + {from_applying:,}; ratios {ratios}")
assert ratios == [28.7, 33.3, 8.2], "Work, step 3: other ratios"

# %% [markdown]
# **Step 4.** The number of products lies between $\frac T2(\log_2 T - 2)$ and $T\log_2(2T)$. The reason:
# $\frac L2\log_2 L - (L-1) = \frac L2(\log_2 L - 2) + 1$, and $\frac L2 \le T < L$. So the work is $\Theta(b^3 h T\log T)$.
# **All cases** of the identity; bounds for **all $T \le 5{,}000$.**

# %% tags=["proof-work"]
half, k = sp.symbols("half k")
assert sp.expand(half * k - (2 * half - 1) - (half * (k - 2) + 1)) == 0, "Work, step 4: the identity"
for T in range(1, 5001):
    made, L = work(T, b=1)[1], 1 << T.bit_length()
    assert L // 2 <= T < L, "Work, step 4: L is the next power of two"
    assert T / 2 * (math.log2(T) - 2) <= made <= T * math.log2(2 * T), "Work, step 4: a bound"
print(f"T = {T}: {T / 2 * (math.log2(T) - 2):,.0f} <= {made:,} <= {T * math.log2(2 * T):,.0f}")

# %% [markdown]
# **Step 5.** A level applies $L/2$ words and makes at most as many new ones. With $P = L/2$ processors (and time as work over $P$) that
# is at most $(b^3 + b^2)\,h$ ticks (multiplications, one after the other) a level, and $(b^3 + b^2)\,h\log_2 L$ in all: the paper's $O(b^3h\log T)$.
# **All $T < 1{,}024$**, six block sizes.

# %% tags=["proof-work"]
for T in range(1, 1024):
    for b in (1, 2, 3, 4, 8, 16):
        levels, L = T.bit_length(), 1 << T.bit_length()
        ticks = sum(work(T, b)[1:]) / (L // 2)
        assert ticks <= (b**3 + b**2) * levels, "Work, step 5: more than (b^3 + b^2) a level"
print(f"T = {T}, b = {b}, h = 1: {ticks:,.0f} ticks with {L // 2} processors, "
      f"at most {(b**3 + b**2) * levels:,}")

# %% [markdown]
# **Step 6.** So PScan wins from some number of processors on, and not before. Take as time $\max(\text{work}/P, \text{depth})$, and
# blocks of size $b = 1$ in $h = 8$ heads at $T = 500$: depth 9 against 500. Then that number is 66. **All $P \le 5{,}000$.**
# $\blacksquare$

# %% tags=["proof-work"]
from_loop, *scan = work(T=500, b=1, h=8)
wins = [P for P in range(1, 5001) if max(sum(scan) / P, 9) < max(from_loop / P, 500)]
print(f"PScan is faster than the loop from P = {wins[0]} on")
assert wins == list(range(66, 5001)), "Work, step 6: another break-even"

# %% [markdown]
# **Break it.** Take $L$ given letters in place of $L - 1$, as if the start had one, too, and the count is wrong. (Count by hand: in the picture at
# the top five arrowheads carry a product.)

# %% tags=["proof-work"]
with show.expect_failure("Work, step 2"):
    assert products_made(8) == 8 // 2 * 3 - 8, "Work, step 2: five products for L = 8, not four"


# %% [markdown]
# **Exercise 5** ★★ *(10 min, 4 points: to test a scan so that a bug shows)* **Code: find the bug.** Here is another
# parallel scan, for numbers and the start 0 (after Hillis and Steele, 1986): in each pass every position composes its pair with the
# one `shift` places before it, and `shift` doubles. It passes two tests, and yet it is wrong on almost all
# other numbers. Why? Write the function as it should be.

# %%
def doubling_scan(a, b):
    a, b, shift = np.array(a, float), np.array(b, float), 1
    while shift < len(a):
        a[shift:] = a[shift:] * a[:-shift]
        b[shift:] = a[shift:] * b[:-shift] + b[shift:]
        shift *= 2
    return b


b = np.arange(1, 501)
print("all a = 1, a cumulative sum:", np.array_equal(doubling_scan(np.ones(500), b), b.cumsum()),
      "  all a = 0, resets:", np.array_equal(doubling_scan(np.zeros(500), b), b))  # fmt: skip
my_scan = None  # exercise 5: a function of a and b that returns the T states
check("03.5", my_scan)

# %% [markdown]
# <!-- Exercise 03.5: from notebooks/lrnnbook/content/exercises/ch03.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint 1</summary>
#
# Try $T = 2$ with $a_1 = 2$: what does the first pass make of $b_2$?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# The rule is $(a_2, b_2) \circ (a_1, b_1) = (a_2a_1,\; a_2b_1 + b_2)$. Which $a_2$ stands in the second part?
#
# </details>
#
# <details><summary>Solution</summary>
#
# Exchange the first two lines of the loop's body. As they stand, $b$ is brought up to date with the *new* $a$, the
# product of both halves, in place of the $a$ of the second half alone. Where all $a_t$ are 1, or all are 0, the product
# is that $a$, so both tests pass. Test a scan on numbers that it cannot pass by luck: random gates, and every $T$ from 1.
#
# </details>

# %% [markdown]
# ## 4 Where does each win?
#
# Depth falls from $T$ to $\log_2 T$, and work grows from $b^2hT$ to $\Theta(b^3 h T \log T)$. With few processors the work decides,
# with very many the depth. Where is the border?
#
# Take a model in one line: a scan takes as long as the largest of
#
# $$\frac{\text{multiplications}}{P}, \qquad 32\,\frac{\text{numbers read and written}}{P}, \qquad \text{steps that wait for each other.}$$
#
# $P$ is the number of processors, each doing one multiplication a tick. The larger of the first and the third is Brent's bound, within
# a factor of 2 of the best time. The middle one is the memory: to each processor it delivers one number in 32 ticks. That is about
# right for an H200, a large GPU; one CPU thread waits a few times less. The model leaves out the start of a GPU program (a *kernel*),
# Python, caches and page faults.
#
# A *chain* is the recurrence of one block on one string. $B$ strings have $B \cdot h$ of them, and none needs the others. The **token
# table** is a loop that looks $A_t$ up in a small table ([03c](deeper/03c_benchmark.ipynb)). In the picture, marks are measured times.

# %% jupyter={"source_hidden": true} tags=["hide-input", "nbval-ignore-output"]
bench = ch03.timed()
race_widget = explore(
    lambda T, b, chains, P: ch03.scan_race(bench, T, b, chains, P),
    {"T": list(ch03.LENGTHS), "b": list(ch03.SIZES), "chains": list(ch03.CHAINS),
     "P": ch03.PROCESSORS},
    initial={"T": 500, "b": 8, "chains": 1024, "P": 16},
    sentence=lambda T, b, chains, P: ch03.race_sentence(bench, T, b, chains, P),
    alt="Left: modelled time over the loop's against processors for PScan, tree and token table, with marks of measured "
        "times, most of them far above their lines. Right: which way wins at every T and P. It opens on T = 500, b = 8 and "
        "1,024 chains: the table lies below 1 up to some two and a half million processors, the tree falls below 1 from some "
        "eight million on, PScan from some twenty million.",
)  # fmt: skip
race_widget

# %% [markdown]
# With 1,024 chains there is work for everybody without a tree. A tree pays from some eight million processors on, where the
# loop has nothing left to spread. On the right is the fastest of loop, PScan and tree, which all read $A$ from memory. Dotted
# is the $P$ of one CPU core (16 numbers at a time) and of two GPUs; the ring is at the $T$ and $P$ of the dashed line. Marks
# are recorded times over ours, without gradients, on one CPU core, two, and an H200 (star: ours; plus: ours with a token table;
# purple diamond: PScan; green: other trees; black: other loops).
#
# *Try:* one chain, $T = 16{,}384$ and the $P$ of an H200, 16,896: in the model the tree is now the right choice. Compare $b = 1$
# with $b = 8$. And how far above its line is each mark? That is how much the model leaves out.

# %% [markdown]
# With 1,024 chains the model says *loop* on both machines, and so does the clock: no scan of less depth that we timed is faster
# than our loop there. On the H200 it reads and writes at up to 82 % of the memory's speed with blocks of 8 or 16, but the model is far too
# kind to the trees ([03c](deeper/03c_benchmark.ipynb)). A loop that Python starts step by step is another matter: on the H200 PScan beats
# it at $T = 500$ ([03c](deeper/03c_benchmark.ipynb)).

# %% [markdown]
# **Exercise 6** ★★ *(10 min, 4 points: to predict when less depth pays)* Leave the memory out: let the time be
# $\max(\text{multiplications}/P, \text{depth})$, as in step 6 of section 3. From which $P$ on is PScan faster than
# the loop at $T = 500$, $b = 8$, $h = 8$ and one string (`my_P`)? And with a batch of 128?

# %%
my_P = None  # exercise 6: the least P for one string
check("03.6", my_P)

# %% [markdown]
# <!-- Exercise 03.6: from notebooks/lrnnbook/content/exercises/ch03.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint 1</summary>
#
# The loop is never below $T$ ticks.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# PScan's multiplications are printed in step 3 of section 3. Divide them by 500.
#
# </details>
#
# <details><summary>Solution</summary>
#
# PScan's multiplications are 8,523,776, and the loop never takes less than 500 ticks:
# $P > 8523776 / 500$, so 17,048. (At that $P$ the loop is held up by its depth, since $256000/P < 500$.) With
# 128 strings all multiplications are 128 times as many, and $P \ge 2{,}182{,}087$: no machine.
#
# </details>

# %% [markdown]
# **Exercise 10** ★★ *(15 min, 4 points: to scan a long string in chunks)* Here is a scan in **chunks**. Cut the
# $T$ steps into $T/c$ chunks of $c$. Compute the pair of every chunk by a loop inside it, all chunks at once; then
# go through the chunks by a loop, for the state at the end of each; then loop inside all chunks once more for the
# states. How many multiplications is that, and what is the depth? For which $c$ is the depth least?

# %% [markdown]
# <!-- Exercise 03.10: from notebooks/lrnnbook/content/exercises/ch03.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint 1</summary>
#
# A chunk's pair needs $b^3 + b^2$ multiplications a step, its states $b^2$.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# The depth is that of three loops, one after the other.
#
# </details>
#
# <details><summary>Solution</summary>
#
# About $(b^3 + 2 b^2)$ a step, $(b^3 + 2b^2)\,T$ in all, and depth $c + T/c + c$. Least at
# $c = \sqrt{T/2}$: $2\sqrt{2T}$. GPUs scan long strings with few chains in this way.
#
# </details>

# %% [markdown]
# ## 5 Products overflow where no state does
#
# The proof of section 2 is about real numbers. What about floats? Let a state of 0 wait through 300 steps that would double it. Then
# inputs come. The loop (`reference` in Python, `cpu` compiled) doubles zero. PScan (`paper`) multiplies the zero of step 127 by a
# product of 128 twos to get to step 255, and $2^{128}$ is infinite in float32:

# %%
T = 400
waits = torch.arange(T) < 300
A = torch.where(waits, 2.0, 0.5)[None, :, None, None, None] * torch.eye(2)
b = torch.where(waits, 0.0, 1.0)[None, :, None, None].expand(1, T, 1, 2)
found = {backend: linear_scan(A, b, backend=backend)[0, :, 0, 0] for backend in scans.backends(A)}
for backend, states in found.items():
    lost = (~states.isfinite()).nonzero()
    said = f"finite; last state {float(states[-1]):.4f}"
    if len(lost):
        said = f"NaN from step {int(lost[0]) + 1} on, for {len(lost)} steps"
    print(f"{backend:10s} {said}")

# %% jupyter={"source_hidden": true} tags=["hide-input", "nbval-ignore-output"]
show.figure(
    ch03.lost_states(found["reference"].numpy(), found["paper"].numpy()),
    alt="States against the step: the loop is 0 up to step 300 and then climbs to 2; PScan is 0 up to step 254 and not a number from "
        "255 on.",
    caption="What to see: PScan is lost before the first input comes, and never recovers.",
)

# %% [markdown]
# In floats $\infty \cdot 0$ is not a number, and a product can overflow where no state does. Blocks whose products cannot grow are
# safe: in chapter 02 the columns are probability distributions, and so are those of every product. Other ways to scan have traps
# of their own ([03d](deeper/03d_floats.ipynb)): dividing by cumulative products, adding logarithms, a loop that takes `A[:, t]`.

# %% [markdown]
# ## What to remember
#
# 1. Two steps $x \mapsto A_tx + b_t$ compose to one, and composition is associative. All parallel scans rest on this.
# 2. PScan needs $\lceil\log_2(T+1)\rceil$ levels and gives the loop's states: proved for matrices of every size, as real numbers.
# 3. Its work is $\Theta(b^3hT\log T)$, 33 times the loop's at $T = 500$, $b = 8$. With many chains a loop keeps every processor busy.
# 4. In floats brackets matter: a tree's products overflow where states do not.
#
# **Go deeper:**
#
# * [03a other roads](deeper/03a_other_roads.ipynb) (20 min): a tree that makes fewer than $T$ products, why $\tanh$ cannot be scanned, and what needs no scan.
# * [03b paper listings](deeper/03b_paper_listings.ipynb) (15 min): the paper's code checked against its printout, and where the paper says something else.
# * [03c benchmark](deeper/03c_benchmark.ipynb) (35 min): why the paper's PScan was no faster at test time, and every scan that we could install, timed on a CPU and on an H200.
# * [03d floats](deeper/03d_floats.ipynb) (25 min): what overflows, which digits differ, and six things never to do.

# %% [markdown]
# ## Exercises
#
# You will find each exercise in its section (others are in the notebooks behind). Stuck? `hint("03.1")`. Done? Compare with `solution("03.1")`.

# %% [markdown]
# <!-- The exercises of this chapter, listed by lrnnlab book build. -->
#
# 6 exercises, 20 points, about 55 minutes:
#
# | exercise | section | difficulty | minutes | points | you will learn |
# |---|---|---|---|---|---|
# | 1 | [1 Why it can be a tree](#1-Why-it-can-be-a-tree) | ★ | 5 | 2 | to find where float addition is not associative |
# | 2 | [1 Why it can be a tree](#1-Why-it-can-be-a-tree) | ★★ | 10 | 4 | to scan another recurrence |
# | 3 | [2 PScan equals the loop](#2-PScan-equals-the-loop) | ★ | 5 | 2 | how to count the work of a parallel scan |
# | 5 | [3 Depth against work](#3-Depth-against-work) | ★★ | 10 | 4 | to test a scan so that a bug shows |
# | 6 | [4 Where does each win?](#4-Where-does-each-win?) | ★★ | 10 | 4 | to predict when less depth pays |
# | 10 | [4 Where does each win?](#4-Where-does-each-win?) | ★★ | 15 | 4 | to scan a long string in chunks |

# %% [markdown]
# ## Read on
#
# * T.-H. Fan, T.-C. Chi, A. Rudnicky: *Advancing Regular Language Reasoning in Linear Recurrent Neural Networks*, 2024, [arXiv:2309.07412](https://arxiv.org/abs/2309.07412): the paper of this chapter.
# * W. D. Hillis, G. L. Steele: *Data Parallel Algorithms*, 1986, [doi:10.1145/7902.7903](https://doi.org/10.1145/7902.7903): the scan by doubling, with more work and less depth.
# * G. E. Blelloch: *Prefix Sums and Their Applications*, 1990, report CMU-CS-90-190: the tree with up- and down-pass, and scans of recurrences.
# * R. P. Brent: *The Parallel Evaluation of General Arithmetic Expressions*, 1974, [doi:10.1145/321812.321815](https://doi.org/10.1145/321812.321815): time from work and depth.
# * E. Martin, C. Cundy: *Parallelizing Linear Recurrent Neural Nets Over Sequence Length*, 2018, [arXiv:1709.04057](https://arxiv.org/abs/1709.04057).
# * S. Yang and others: *Parallelizing Linear Transformers with the Delta Rule over Sequence Length*, 2024, [arXiv:2406.06484](https://arxiv.org/abs/2406.06484): the chunks of 03a.
# * Y. H. Lim and others: *Parallelizing Non-Linear Sequential Models over the Sequence Length*, 2024, [arXiv:2309.12252](https://arxiv.org/abs/2309.12252): Newton's method with a scan in each step.
# * W. Merrill and others: *Why Are Linear RNNs More Parallelizable?*, 2026, [arXiv:2603.03612](https://arxiv.org/abs/2603.03612): linear recurrences are circuits of logarithmic depth, non-linear ones need not be (we read the abstract).
