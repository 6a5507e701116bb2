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

# %% jupyter={"source_hidden": true} tags=["hide-input", "nbval-ignore-output"]
import math
import time

import numpy as np
import sympy as sp
import torch

import lrnnbook
from lrnnbook import show
from lrnnbook.content.chapters import ch03
from lrnnbook.content.exercises import check, hint, mine, solution
from lrnnbook.content.show import lrnn_figures
from lrnnbook.content.show.widgets import explore
from lrnnlab import scans
from lrnnlab.scans import linear_scan

lrnnbook.needs("0.1")
scans.warm()

show.figure(
    lrnn_figures.scan_schedule(8),
    alt="The three levels of a parallel scan of length 8: the first applies A1, A3, A5, A7; "
        "the second A2, A3A2, A6, A7A6; the third A4, A5A4, A6A5A4, A7A6A5A4, each to the "
        "last state of the run before.",
    caption="Figure 1 of paper 000, from our code. Follow an arrow: what it comes from is multiplied by the product at its head, and added "
            "to what is there. (2..3 is what the inputs 2 and 3 would make of the state 0.) What to see: filled circles are finished "
            "states. There is 1 at first, then 2, 4, 8.",
)  # fmt: skip

# %% [markdown]
# The same trick computes 500 steps in nine rounds. Run it beside a loop, on 16 strings with 8 blocks of size 8:

# %% tags=["varies", "nbval-ignore-output"]
inputs = torch.Generator().manual_seed(0)
blocks = torch.randn(16, 500, 8, 8, 8, generator=inputs) * 0.3
drive = torch.randn(16, 500, 8, 8, generator=inputs)


def seconds(run, *given):  # the best of three
    best = math.inf
    for _ in range(3):
        begun = time.perf_counter()
        run(*given)
        best = min(best, time.perf_counter() - begun)
    return best


names = {"paper": "PScan, 9 rounds", "cpu": "a compiled loop, 500 steps"}
for way, name in names.items():
    took = seconds(lambda A, b: linear_scan(A, b, backend=way), blocks, drive)
    print(f"{name:27s} {1e3 * took:6.1f} ms")

# %% [markdown]
# Nine rounds instead of 500, and much slower.
#
# **What we ask.** *Why do fewer rounds lose here, and where do they win?* Paper 000 (Fan, Chi and Rudnicky, 2024) calls this scan
# PScan, and reports that at test time it was no faster than a loop (section 4.5). You will build a parallel scan of your own and race it,
# prove that PScan is right, count what it costs, and see where floats break it.
#
# *You need:* matrices, what a logarithm is, and blocks (chapter 02). *It takes* about 30 min to read and 1 h 5 min for the exercises, and less than a minute of computing.
#
# ## 1 Two steps are one step
#
# One step is a map $f_t(x) = A_t x + b_t$. Write it as the pair $(A_t, b_t)$. A **scan** computes all the states $x_1, \dots, x_T$.
#
# **Claim.** Two steps, one after the other, are one step with the pair
#
# $$(A_2, b_2) \circ (A_1, b_1) = (A_2 A_1,\; A_2 b_1 + b_2),$$
#
# and this composition is **associative**: $(f_3 \circ f_2) \circ f_1 = f_3 \circ (f_2 \circ f_1)$.
#
# *Proof.* $A_2(A_1 x + b_1) + b_2 = A_2A_1\,x + (A_2 b_1 + b_2)$. And maps, done one after the other, do not care how you bracket them.
# $\blacksquare$

# %% jupyter={"source_hidden": true} tags=["hide-input", "nbval-ignore-output"]
show.figure(
    ch03.two_steps_are_one((0.5, 0.5), (-0.8, 1.4)),
    alt="Three lines: step 1 takes 0 to 0.5, step 2 takes 0.5 to 1, and the line of both together takes 0 to 1.",
    caption="What to see: on one number a step is a line. Two lines, one after the other, are a line again, so two steps are one.",
)

# %% [markdown]
# *Checked in the folded cells for all cases. Letters there may not be swapped, so it holds for matrices of every size. Step 1: the
# composed pair is both maps. Step 2: brackets do not matter. Last cell: with $A_1A_2$ instead of $A_2A_1$, step 1 fails.*

# %% jupyter={"source_hidden": true} tags=["hide-input", "proof-composition"]
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

# %% jupyter={"source_hidden": true} tags=["hide-input", "proof-composition"]
f1, f2, f3 = (A1, b1), (A2, b2), (A3, b3)
left = [sp.expand(part) for part in after(after(f3, f2), f1)]
right = [sp.expand(part) for part in after(f3, after(f2, f1))]
show.math(r"(f_3 \circ f_2) \circ f_1 =", tuple(left))
assert left == right, "Composition, step 2: the brackets matter"

# %% jupyter={"source_hidden": true} tags=["hide-input", "proof-composition"]
with show.expect_failure("Composition, step 1"):
    x = sp.Symbol("x", commutative=False)
    composed = applied((A1 * A2, A2 * b1 + b2), x)
    assert sp.expand(composed - one_by_one) == 0, "Composition, step 1: A1 A2 is not A2 A1"

# %% [markdown]
# So you may bracket as you like, and compute what is in different brackets at the same time. Every parallel scan of this recurrence
# rests on this fact alone. (With a $\tanh$ around each step it fails: [03a](deeper/03a_other_roads.ipynb).)

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

# %% [markdown]
# ## 2 Build one, and race it
#
# Here is the simplest parallel scan (Hillis and Steele, 1986). Give every position its own pair. In the first round every position composes its
# pair with the one before it, and so knows the last two steps. In the second round it composes with the pair *two* places before it, and
# knows four. Then four, eight, ... : after $k$ rounds it knows the last $2^k$ steps. Where nothing is that far back, the pair is
# finished.

# %% [markdown]
# **Exercise 3** ★★ *(20 min, 5 points: to write a parallel scan that is right for every length)* **Build.** Write `doubling_scan` for
# numbers, which is $x_t = a_t x_{t-1} + b_t$ at each place of `(B, T, D)`, real or complex. The loop over `shift` is the only loop.

# %%
# %%build doubling_scan
import torch


def doubling_scan(a, b, x0):  # (B, T, D), (B, T, D), (B, D) -> (B, T, D)
    raise NotImplementedError  # your lines


# %% [markdown]
# <!-- Exercise 03.3: from notebooks/lrnnbook/content/exercises/ch03.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint 1</summary>
#
# Put $x_0$ into the first pair: $b_1$ becomes $a_1 x_0 + b_1$. Then every position may start from 0.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# In one round position $t$ composes its pair with the one `shift` places before it, and `shift` doubles. Both parts of the new
# pair need the *old* $a$. Where there is nothing `shift` places before, the pair stays.
#
# </details>

# %% [markdown]
# Race it against a loop in Python and against the same loop compiled, on one string with one number of state:

# %% tags=["varies", "nbval-ignore-output"]
doubling_scan = mine("doubling_scan")


def loop(a, b, x0):
    x, states = x0, []
    for t in range(a.shape[1]):
        x = a[:, t] * x + b[:, t]
        states.append(x)
    return torch.stack(states, 1)


runs = {"a Python loop": loop, "yours": doubling_scan, "a compiled loop": linear_scan}
race = {name: {} for name in runs}
for T in (2**k for k in range(3, 15)):
    a, b = torch.rand(1, T, 1), torch.randn(1, T, 1)
    for name, run in runs.items():
        race[name][T] = seconds(run, a, b, torch.zeros(1, 1))
for name, times in race.items():
    print(f"{name:16s} T = 16,384: {1e3 * times[16384]:8.2f} ms")

# %% jupyter={"source_hidden": true} tags=["varies", "hide-input", "nbval-ignore-output"]
show.figure(
    ch03.by_length(race),
    alt="Seconds against T on logarithmic axes. The Python loop is a straight line up to hundreds of milliseconds; the doubling scan "
    "is nearly flat and far below it; the compiled loop is below both.",
    caption="Measured just now. What to see: your scan leaves the Python loop far behind, because Python pays for every step and you have "
    "14 rounds. The compiled loop pays next to nothing for a step, does the least work, and beats both.",
)

# %% [markdown]
# That is the answer in one picture. Few rounds win where a *step* is expensive. Where *work* is expensive, the loop wins. The rest of the
# chapter makes both numbers exact, for the paper's scan and for blocks.
#
# ## 3 PScan equals the loop
#
# > **The paper, section 3.4.** "The idea of PScan is to group *similar* operations together, run them in parallel, and deliver
# > the same results as those in the sequential [...] for loop mode." "Generally speaking, a length-L generation takes
# > $\lceil\log_2 L\rceil$ steps using PScan."
#
# PScan does less than doubling. Put $x_0$ in front of the inputs, and zeros at the end until the row's length $L$ is a power of two. At level
# $l = 1, 2, \dots$ cut the row into groups of $2^l$. To every element of the second half of a group, add *the last element of the first half,
# multiplied by all matrices from the middle of the group up to that element*.
#
# Here are the levels with numbers for $A_t$ and $b_t$. Play them, or step through. *Try:* $L = 16$. Which numbers change at the last
# level, and how far do their arrows reach?

# %% jupyter={"source_hidden": true} tags=["hide-input", "nbval-ignore-output"]
schedule_widget = ch03.levels_widget()
schedule_widget

# %% [markdown]
# **Exercise 4** ★ *(5 min, 2 points: how to count the work of a parallel scan)* How many products of two matrices
# does PScan make for $L = 16$? It makes one for every arrow that carries two matrices or more: in the picture
# at the top, for $L = 8$, there are five. For $L = 16$ the moving picture shows all arrows.

# %%
my_products = None  # exercise 4: a whole number
check("03.4", my_products)

# %% [markdown]
# <!-- Exercise 03.4: from notebooks/lrnnbook/content/exercises/ch03.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint</summary>
#
# Each word of two or more letters costs one product: draw the four levels of $L = 16$, or count for $L = 4$ first.
#
# </details>

# %% [markdown]
# Is it always right? The paper runs one example. You can prove it in three steps.
#
# **Claim.** After level $l$, position $t$ holds what the loop would give if you *started it anew* at the beginning of $t$'s group of $2^l$,
# with the input there as its start.
#
# *Proof, by induction.* (1) Before the first level each position is a group of its own, and holds its input. (2) In the first half of a
# group nothing changes, and nothing has to: the group begins where it began one level before. (3) In the second half let $m$ be the middle.
# The loop started anew at $m$ gives $y_t$. The loop that started earlier has some state $x$ at $m - 1$, and it is ahead of $y_t$ by
# $A_t \cdots A_m\,x$, because each step multiplies the difference by its matrix, and the inputs cancel. That is exactly what the level adds.
# After the last level there is one group. It begins with $x_0$, so every position holds the loop's state. $\blacksquare$

# %% jupyter={"source_hidden": true} tags=["hide-input", "nbval-ignore-output"]
show.figure(
    ch03.two_starts(np.array([0.9, 0.8, 1.1, 0.7, 0.9, 1.2, 0.8, 0.9]), np.array([1, -0.5, 0.8, 0.3, -0.6, 0.9, -0.4, 0.5]), m=4),
    alt="States of a loop from 0 to 7, and of the loop started anew at 4. Bars between them fit exactly.",
    caption="What to see: a loop from 0 and the same loop started anew at m = 4. Each bar is the product of the matrices from 4 to t, "
    "times the state at 3. It is all that the second half lacks.",
)

# %% [markdown]
# *Checked in the folded cell for all cases: step 3. [03b](deeper/03b_paper_listings.ipynb) checks that the code that the paper prints does
# what the claim says, product by product, and what happens when you multiply in the other order.*

# %% jupyter={"source_hidden": true} tags=["hide-input", "proof-pscan"]
A, P, u, x, y = sp.symbols("A P u x y", commutative=False)
one_more = A * (P * x + y) + u
show.math("A (P x + y) + u =", sp.expand(one_more))
assert sp.expand(one_more - ((A * P) * x + (A * y + u))) == 0, "PScan, step 3: not of the same form"


# %% [markdown]
# ## 4 Depth against work
#
# > **The paper, section 3.4.** "The computational complexity of our model is $O(b^3 h \log(T))$".
#
# That is the time with enough processors. What makes it short is the **depth**, the number of rounds that must wait for each other:
# $T$ in a loop, $\log_2 L$ in PScan. The **work** is how much you compute in all. A loop applies one matrix a step, $b^2 h T$
# multiplications for $h$ blocks of size $b$. PScan multiplies matrices *by matrices*, which takes $b^3$ each.
#
# **Claim.** PScan makes $\frac L2 \log_2 L - (L-1)$ products of two matrices. So its work is $\Theta(b^3 h T \log T)$.
#
# *Proof.* Each of the $\log_2 L$ levels has $L/2$ arrows, one to each place of a second half. The first arrow of each group carries a
# single matrix, which is given; there are $\frac L2 + \frac L4 + \dots + 1 = L - 1$ groups. Every other arrow needs one
# further product: its own matrix times the word of the arrow before it. And $L$ is between $T$ and $2T$. $\blacksquare$ (03b counts them in the paper's code, for all $L \le 1{,}024$.)

# %%
def work(T, b, h):  # multiplications of the loop and of PScan
    levels = T.bit_length()
    L = 2**levels
    products = L // 2 * levels - (L - 1)
    arrows = L // 2 * levels
    return h * b**2 * T, h * (b**3 * products + b**2 * arrows)


for b in (1, 2, 8):
    loops, pscan = work(500, b, 8)
    print(f"T = 500, b = {b}: loop {loops:9,}, PScan {pscan:9,}: {pscan / loops:4.1f} times")

# %% jupyter={"source_hidden": true} tags=["hide-input", "nbval-ignore-output"]
show.figure(
    ch03.work_picture(),
    alt="Multiplications over the loop's against T. With b = 1 PScan climbs to 13, with b = 8 to 55.",
    caption="What to see: PScan's work over the loop's grows with log T, and larger blocks make it worse. (Another tree, in 03a, needs fewer "
            "than T products.)",
)

# %% [markdown]
# So the paper's $O(b^3 h\log T)$ is the time with a processor for every two positions, and PScan wins from some number of processors on.
# Take as time $\max(\text{work}/P, \text{depth})$:

# %%
loops, pscan = work(500, 1, 8)
wins = [P for P in range(1, 5001) if max(pscan / P, 9) < max(loops / P, 500)]
print(f"T = 500, blocks of size 1: PScan is faster from P = {wins[0]} on")

# %% [markdown]
# **Exercise 5** ★★ *(10 min, 4 points: to predict when less depth pays)* Leave the memory out: let the time be
# $\max(\text{multiplications}/P, \text{depth})$, as in the cell above. From which $P$ on is PScan faster than
# the loop at $T = 500$, $b = 8$, $h = 8$ and one string? And with a batch of 128?

# %%
my_P = None  # exercise 5: 2 numbers, the least P for 1 string and for 128
check("03.5", my_P)

# %% [markdown]
# <!-- Exercise 03.5: from notebooks/lrnnbook/content/exercises/ch03.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint 1</summary>
#
# The loop is never below $T$ ticks.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# `work(500, 8, 8)` gives PScan's multiplications for one string. Divide them by 500.
#
# </details>

# %% [markdown]
# ## 5 Where does each win?
#
# Let us add the memory to the model. A scan takes as long as the largest of three things:
#
# $$\frac{\text{multiplications}}{P}, \qquad 32\,\frac{\text{numbers read and written}}{P}, \qquad \text{steps that wait for each other.}$$
#
# The largest of the first and the third is Brent's bound, within a factor of 2 of the best time. The middle one says that a processor waits
# 32 multiplications for a number from memory, which is about right for an H200, a large GPU. A **chain** is the recurrence of one
# block on one string: $B$ strings with $h$ blocks are $B \cdot h$ chains, and no chain needs another.

# %% jupyter={"source_hidden": true} tags=["hide-input", "nbval-ignore-output"]
race_widget = explore(
    ch03.scan_race,
    {"b": list(ch03.SIZES), "chains": list(ch03.CHAINS)},
    initial={"b": 1, "chains": 8},
    sentence=ch03.race_sentence,
    alt="Regions of T and processors up to 100,000 in which the loop or PScan is first, with lines at one CPU core, an RTX 8000 and an "
    "H200. With 8 chains of size 1 PScan is first right of about 1,400 processors for the shortest strings and of 7,200 for the longest.",
)
race_widget

# %% [markdown]
# With one string (8 chains) and blocks of size 1, PScan is first on an H200. Move to blocks of size 8, or to 128 strings (1,024 chains): the
# border leaves the picture, because in the model memory then limits the loop, or PScan's products cost more than its depth saves.
#
# The clock agrees where we timed it: with 1,024 chains no scan of less depth is faster than our loop, on a CPU or on an H200. A
# loop that Python starts step by step is another matter, there as in section 2 ([03c](deeper/03c_benchmark.ipynb) has all the times).

# %% [markdown]
# **Exercise 6** ★★ *(15 min, 4 points: to scan a long string in chunks)* Here is a scan in **chunks**. Cut the
# $T$ steps into $T/c$ chunks of $c$. Compute the pair of every chunk by a loop inside it, all chunks at once; then
# go through the chunks by a loop, for the state at the end of each; then loop inside all chunks once more for the
# states. What is the depth? For which $c$ is it least, at
# $T = 20{,}000$? And by which factor is the work larger than the loop's?

# %%
my_c = None  # exercise 6: the chunk size c
check("03.6", my_c)

# %% [markdown]
# <!-- Exercise 03.6: from notebooks/lrnnbook/content/exercises/ch03.md, by lrnnlab book build; change it there. -->
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

# %% [markdown]
# ## 6 Products overflow where no state does
#
# The proof of section 3 is about real numbers. What about floats? Let a state of 0 wait through 300 steps that would double it. Then
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
# of their own ([03d](deeper/03d_floats.ipynb)): dividing by cumulative products, adding logarithms. And in training
# a loop that takes `A[:, t]` has a slow gradient, because that of each slice is as large as all of $A$.

# %% [markdown]
# ## What to remember
#
# 1. Two steps $x \mapsto A_tx + b_t$ compose to one, and composition is associative. All parallel scans rest on this.
# 2. After level $l$ every position holds the loop started anew at its group: so PScan needs $\lceil\log_2(T+1)\rceil$ levels.
# 3. Its work is $\Theta(b^3hT\log T)$, 33 times the loop's at $T = 500$, $b = 8$. Few rounds win where steps are expensive, a loop where
#    work is. With many chains work is what counts, in our model and in our timings.
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
# You will find each exercise in its section (others are in 03a to 03d). Stuck? `hint("03.1")`. Done? Compare with `solution("03.1")`.

# %% [markdown]
# <!-- The exercises of this chapter, listed by lrnnlab book build. -->
#
# 6 exercises, 21 points, about 65 minutes:
#
# | exercise | section | difficulty | minutes | points | you will learn |
# |---|---|---|---|---|---|
# | 1 | [1 Two steps are one step](#1-Two-steps-are-one-step) | ★ | 5 | 2 | to find where float addition is not associative |
# | 2 | [1 Two steps are one step](#1-Two-steps-are-one-step) | ★★ | 10 | 4 | to scan another recurrence |
# | 3 | [2 Build one, and race it](#2-Build-one,-and-race-it) | ★★ | 20 | 5 | to write a parallel scan that is right for every length |
# | 4 | [3 PScan equals the loop](#3-PScan-equals-the-loop) | ★ | 5 | 2 | how to count the work of a parallel scan |
# | 5 | [4 Depth against work](#4-Depth-against-work) | ★★ | 10 | 4 | to predict when less depth pays |
# | 6 | [5 Where does each win?](#5-Where-does-each-win?) | ★★ | 15 | 4 | to scan a long string in chunks |
#
# <details><summary>Solution of 03.1</summary>
#
# For example $(10^{16}, -10^{16}, 1)$: from the left it is 1; bracketed the other way
# $-10^{16} + 1$ is rounded back to $-10^{16}$, and the sum is 0. The claims of this chapter are about real numbers,
# where addition is associative.
#
# </details>
#
# <details><summary>Solution of 03.2</summary>
#
# $\max(\max(x + a_1, b_1) + a_2, b_2) = \max(x + (a_1 + a_2), \max(b_1 + a_2, b_2))$, so the pair
# is $(a_1 + a_2, \max(b_1 + a_2, b_2))$. It is the affine rule with max for plus and plus for times.
#
# </details>
#
# <details><summary>Solution of 03.3</summary>
#
# ```python
# def doubling_scan(a, b, x0):
#     b, shift = torch.cat([a[:, :1] * x0[:, None] + b[:, :1], b[:, 1:]], 1), 1
#     while shift < b.shape[1]:
#         b = torch.cat([b[:, :shift], a[:, shift:] * b[:, :-shift] + b[:, shift:]], 1)
#         a = torch.cat([a[:, :shift], a[:, shift:] * a[:, :-shift]], 1)
#         shift *= 2
#     return b
# ```
#
# </details>
#
# <details><summary>Solution of 03.4</summary>
#
# 17: $8 \cdot 4 - 15$. There are $\log_2 16 = 4$ levels of 8 words, and 15 of these are single
# letters.
#
# </details>
#
# <details><summary>Solution of 03.5</summary>
#
# PScan's multiplications are 8,523,776, and the loop never takes less than 500 ticks:
# $P > 8523776 / 500$, so 17,048. (At that $P$ the loop is held up by its depth, since $256000/P < 500$.) With
# 128 strings all multiplications are 128 times as many, and $P = 2{,}182{,}087$: no machine. So `(17048, 2182087)`.
#
# </details>
#
# <details><summary>Solution of 03.6</summary>
#
# 100. The depth is $c + T/c + c$, least at $c = \sqrt{T/2}$, where it is $2\sqrt{2T} = 400$. The work is about
# $(b^3 + 2b^2)\,T$: more than the loop's by a factor of $b + 2$, whatever $T$ is. GPUs scan long strings with few chains in this way.
#
# </details>

# %% [markdown]
# ## Read on
#
# * T.-H. Fan, T.-C. Chi, A. Rudnicky: *Advancing Regular Language Reasoning in Linear Recurrent Neural Networks*, 2024, [arXiv:2309.07412](https://arxiv.org/abs/2309.07412): the paper of this chapter.
# * W. D. Hillis, G. L. Steele: *Data Parallel Algorithms*, 1986, [doi:10.1145/7902.7903](https://doi.org/10.1145/7902.7903): the scan by doubling, which you built in section 2.
# * G. E. Blelloch: *Prefix Sums and Their Applications*, 1990, report CMU-CS-90-190: the tree with up- and down-pass, and scans of recurrences.
# * R. P. Brent: *The Parallel Evaluation of General Arithmetic Expressions*, 1974, [doi:10.1145/321812.321815](https://doi.org/10.1145/321812.321815): time from work and depth.
# * E. Martin, C. Cundy: *Parallelizing Linear Recurrent Neural Nets Over Sequence Length*, 2018, [arXiv:1709.04057](https://arxiv.org/abs/1709.04057).
# * S. Yang and others: *Parallelizing Linear Transformers with the Delta Rule over Sequence Length*, 2024, [arXiv:2406.06484](https://arxiv.org/abs/2406.06484): the chunks of 03a.
# * Y. H. Lim and others: *Parallelizing Non-Linear Sequential Models over the Sequence Length*, 2024, [arXiv:2309.12252](https://arxiv.org/abs/2309.12252): Newton's method with a scan in each step.
# * W. Merrill and others: *Why Are Linear RNNs More Parallelizable?*, 2026, [arXiv:2603.03612](https://arxiv.org/abs/2603.03612): linear recurrences are circuits of logarithmic depth, non-linear ones need not be (we read the abstract).
