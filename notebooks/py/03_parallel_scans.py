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
# **What we ask.** How fast can $x_t = A_t\,x_{t-1} + b_t$ run? It looks sequential, step after step. Paper 000 (Fan, Chi and
# Rudnicky, 2024) runs it as a tree, in $\lceil\log_2 L\rceil$ levels, and then finds (section 4.5) that at test time this was
# no faster. We build the tree, prove it, count what it costs, and measure it: why not, and what is faster?
#
# *You need:* matrices, and what a logarithm is. *It takes* about 1 h 55 min to read, and a minute and a half of computing.
# Terms are explained where they first come, and once more in the [glossary](glossary.ipynb).

# %% tags=["hide-input"]
import math
import statistics
import time

import numpy as np
import sympy as sp
import torch

import lrnnlab
from lrnnlab import scans
from lrnnlab.scans import linear_scan, paper, token_scan
from workbook import show
from workbook.chapters import ch03
from workbook.exercises import check, hint, predict, solution
from workbook.show import bench_figures, scan_figures
from workbook.show.widgets import explore

EXPECTED = "0.1"
if not lrnnlab.__version__.startswith(EXPECTED):
    raise RuntimeError(f"this notebook needs lrnnlab {EXPECTED}, here is "
                       f"{lrnnlab.__version__}: run bootstrap.py")
scans.warm()
print(f"lrnnlab {EXPECTED}: ready")

# %% [markdown]
# ## 1 Why it can be a tree
#
# One step is a map $f_t(x) = A_t x + b_t$, which we write as the pair $(A_t, b_t)$. A **scan** (all the states
# $x_1, \dots, x_T$ of such a recurrence) can be a tree because of two facts about these pairs.
#
# **Claim.** Two steps, one after the other, are one step with the pair
#
# $$(A_2, b_2) \circ (A_1, b_1) = (A_2 A_1,\; A_2 b_1 + b_2),$$
#
# and this composition is **associative**: $(f_3 \circ f_2) \circ f_1 = f_3 \circ (f_2 \circ f_1)$.
#
# The letters below are free: SymPy may not swap two factors. What holds for them holds for matrices of every size.
#
# **Step 1.** Applied to $x$, the composed pair gives what the two maps give one after the other.

# %% tags=["proof-composition"]
A1, A2, A3, b1, b2, b3, x = sp.symbols("A1 A2 A3 b1 b2 b3 x", commutative=False)


def after(second, first):
    (A2, b2), (A1, b1) = second, first
    return A2 * A1, A2 * b1 + b2


def applied(pair, x):
    A, b = pair
    return A * x + b


one_by_one = sp.expand(applied((A2, b2), applied((A1, b1), x)))
print("first (A1, b1), then (A2, b2):", one_by_one)
composed = applied(after((A2, b2), (A1, b1)), x)
assert sp.expand(composed - one_by_one) == 0, "Composition, step 1: the pair is not both maps"

# %% [markdown]
# **Step 2.** Both ways to set brackets around three pairs give the same pair. $\blacksquare$

# %% tags=["proof-composition"]
f1, f2, f3 = (A1, b1), (A2, b2), (A3, b3)
left = [sp.expand(part) for part in after(after(f3, f2), f1)]
right = [sp.expand(part) for part in after(f3, after(f2, f1))]
print("(f3 f2) f1 =", left)
assert left == right, "Composition, step 2: the brackets matter"

# %% [markdown]
# So brackets may be set as we like, and what lies in different brackets may be computed at the same time. Every
# parallel scan of this recurrence rests on this fact alone.
#
# **Break it.** The order of the two matrices matters: with $A_1 A_2$ in place of $A_2 A_1$ the pair is another map.

# %% tags=["proof-composition"]
with show.expect_failure("Composition, step 1"):
    x = sp.Symbol("x", commutative=False)
    composed = applied((A1 * A2, A2 * b1 + b2), x)
    assert sp.expand(composed - one_by_one) == 0, "Composition, step 1: A1 A2 is not A2 A1"

# %% [markdown]
# **Exercise 1** ★ *(5 min, 2 points: that in floats a tree and a loop are two sums)* **Break the hypothesis.** This
# section needs that brackets do not matter. Find three floats with $(a + b) + c$ and $a + (b + c)$ at least 1 apart.

# %%
my_floats = None  # exercise 1: three numbers
check("03.1", my_floats)

# %% [markdown]
# <!-- Exercise 03.1: from notebooks/workbook/exercises/ch03.md, by lrnnlab book build; change it there. -->
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
# $-10^{16} + 1$ is rounded back to $-10^{16}$, and the sum is 0. Theorem and listing are about real numbers,
# where addition is associative.
#
# </details>

# %% [markdown]
# ### The recurrence must be linear in the state
#
# Two affine maps (maps $x \mapsto Ax + b$) compose to an affine map, which a pair of the same size describes. Two
# maps $x \mapsto \tanh(ax + c)$ do not compose to a third map of this kind, so no pair $(a, c)$ describes two steps.
#
# **Step 1.** Apply $\operatorname{artanh}$, the inverse of $\tanh$, to a map of this kind: what comes out is the
# straight line $ax + c$, whose second derivative is 0.

# %% tags=["proof-tanh"]
r, a, c, a2, c2 = sp.symbols("r a c a2 c2", real=True)
line = sp.simplify(sp.diff(sp.atanh(sp.tanh(a * r + c)), r))
print("the slope of artanh(tanh(a r + c)) is", line)
assert line == a and sp.diff(line, r) == 0, "Two maps with tanh, step 1: one layer is no straight line"

# %% [markdown]
# **Step 2.** Do the same with two such maps, one after the other: what comes out is $a_2\tanh(ar + c) + c_2$, and
# this is not a straight line: its second derivative at $r = 0$ is not 0 for $a = 2$, $c = -\frac12$,
# $a_2 = \frac32$. $\blacksquare$

# %% tags=["proof-tanh"]
two = a2 * sp.tanh(a * r + c) + c2
bend = sp.diff(two, r, 2).subs({r: 0, a: 2, c: sp.Rational(-1, 2), a2: sp.Rational(3, 2)})
print(f"second derivative of two layers at 0: {float(bend):.3f}")
assert bend.evalf() != 0, "Two maps with tanh, step 2: two layers are a straight line as well"

# %% [markdown]
# (A nonlinear recurrence can still be run in parallel by other means, for instance by Newton's method with a scan in each
# of its steps; it is then solved approximately, again and again, until nothing changes.)

# %% [markdown]
# **Exercise 2** ★★ *(10 min, 4 points: what else than A x + b can be scanned)* **Code.** Here is another recurrence:
# $x_t = \max(x_{t-1} + a_t,\; b_t)$. Can it be run as a tree? Give the pair that describes the step $(a_1, b_1)$
# followed by the step $(a_2, b_2)$.

# %%
# exercise 2: a function of (a2, b2) and (a1, b1), in this order; it returns the pair (a, b)
my_pair = None
check("03.2", my_pair)

# %% [markdown]
# <!-- Exercise 03.2: from notebooks/workbook/exercises/ch03.md, by lrnnlab book build; change it there. -->
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
# ## 2 The paper's scan, level by level
#
# > **The paper, section 3.4.** "The idea of PScan is to group *similar* operations together, run them in parallel, and deliver
# > the same results as those in the sequential [...] for loop mode." "Generally speaking, a length-L generation takes
# > $\lceil\log_2 L\rceil$ steps using PScan."
#
# Put $x_0$ in front of the inputs, so that $L = T + 1$ vectors stand in a row, and fill up with zeros behind until
# $L$ is a power of two. At level $l = 0, 1, \dots$ the row is cut into groups of $2^{l+1}$. To every element of the
# second half of a group, *a product of matrices times the last element of the first half* is added. Such a product,
# written as a string of letters, is called a *word* below. Here are the levels for $L = 8$, drawn from the code that
# runs:

# %% tags=["hide-input"]
show.figure(
    scan_figures.scan_schedule(8),
    alt="The three levels of a parallel scan of length 8: the first applies A1, A3, A5, A7; "
        "the second A2, A3A2, A6, A7A6; the third A4, A5A4, A6A5A4, A7A6A5A4, each to the "
        "last state of the run before.",
    caption="Figure 1 of the paper, from our code. What to see: a filled circle is a finished "
            "state. There is 1 before the first level, then 2, 4, 8; and the products at the "
            "arrowheads get longer.",
)  # fmt: skip

# %% [markdown]
# The same level by level, with numbers: $x_t = A_t x_{t-1} + b_t$ for numbers $A_t$ and $b_t$. Play it, or step through it.
#
# *Try:* $L = 16$. Which numbers change at the last level, and how far do their arrows reach?

# %% tags=["hide-input"]
schedule_widget = ch03.levels_widget()
schedule_widget

# %% [markdown]
# **Exercise 3** ★ *(5 min, 2 points: how to count the work of a parallel scan)* How many products of two matrices
# does PScan make for $L = 16$? It makes one for every word of more than one letter: count them in the still picture
# for $L = 8$ first. For $L = 16$ the moving picture shows from where to where each word leads.

# %%
my_products = None  # exercise 3: a whole number
check("03.3", my_products)


# %% [markdown]
# <!-- Exercise 03.3: from notebooks/workbook/exercises/ch03.md, by lrnnlab book build; change it there. -->
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
# ### The paper's listings
#
# **Claim.** The code of the paper's appendix A.2.1 makes the products that Figure 1 shows, in $\lceil\log_2 L\rceil$
# levels.
#
# > **The paper, appendix A.2.1.** `coef=x[::2]`, `remain=x[1::2]`, `coef_remain=np.core.defchararray.add(coef[1:],remain[:,-1:])`,
# > `remain=np.concatenate([remain,coef_remain],axis=1)`
#
# The listing keeps the products in rows, at first one row for each matrix. At each level it takes out every second
# row, beginning with the first: these are the words that the level needs. It lengthens each of the other rows to
# twice its size, with the words of the row behind it, each multiplied by the last word of the row itself. The cell
# does that with words in place of matrices, as the paper does: `A3A2` stands for the product $A_3 A_2$.

# %% tags=["proof-schedule", "proof-pscan", "proof-work"]
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
# **Step 1.** For $L = 8$ these are the three lists that the paper prints.

# %% tags=["proof-schedule"]
printed = [
    [["A1"], ["A3"], ["A5"], ["A7"]],
    [["A2", "A3A2"], ["A6", "A7A6"]],
    [["A4", "A5A4", "A6A5A4", "A7A6A5A4"]],
]
print(*levels_of(8), sep="\n")
assert levels_of(8) == printed, "The listings, step 1: not the lists of the paper"

# %% [markdown]
# **Step 2.** A level leaves $(n - 1)/2$ of $n$ rows, so of $L - 1 = 2^k - 1$ rows none is left after $k$ levels: the
# depth is $\log_2 L$, and with zeros up to the next power of two it is $\lceil\log_2(T+1)\rceil$ for $T$ inputs.
# (Run for $L$ up to 1,024.)

# %% tags=["proof-schedule"]
n = sp.Symbol("n", integer=True, positive=True)
left_over = (2**n - 1 - 1) / 2
assert sp.simplify(left_over - (2 ** (n - 1) - 1)) == 0, "The listings, step 2: not 2^(n-1) - 1 rows are left"
depths = {T: len(levels_of(1 << T.bit_length())) for T in (1, 2, 3, 7, 8, 40, 500, 1023)}
print("levels for T inputs:", depths)
assert depths == {T: math.ceil(math.log2(T + 1)) for T in depths}, "The listings, step 2: another depth"

# %% [markdown]
# **Step 3.** The listing itself runs `int(np.ceil(np.log2(seq_len)))` times, without $x_0$. For `seq_len` $= 2^k - 1$ that is enough
# unless $k = 1$: one input needs one level and gets none. (The listing A.2.2 has it right. Run for $k$ up to 10.)
# $\blacksquare$

# %% tags=["proof-schedule"]
runs = {2**k - 1: int(np.ceil(np.log2(2**k - 1))) for k in range(1, 11)}
short = [seq_len for seq_len, count in runs.items() if count != len(levels_of(seq_len + 1))]
print("too few levels for seq_len in", short)
assert short == [1], "The listings, step 3: the listing falls short elsewhere"

# %% [markdown]
# A.2.2 runs the loop and the scan on the same random numbers and prints both. We draw the same numbers, from the
# same seed in the same order, and compare every scan of the package with the printout:

# %%
given = torch.Generator().manual_seed(1)
A, u, x0 = (
    torch.randn(*shape, generator=given) for shape in ((1, 7, 2, 2), (1, 7, 2), (1, 2))
)
their_states = torch.tensor(
    [
        [0.8310, -0.2477],
        [0.5167, -1.4218],
        [1.1399, 1.3024],
        [0.9628, 1.3150],
        [-1.5308, -1.6903],
        [-3.6631, 1.6082],
        [1.7805, 7.1659],
        [2.5068, -0.6256],
    ]
)
for backend in scans.available("cpu"):
    states = linear_scan(A.unsqueeze(2), u.unsqueeze(2), x0.unsqueeze(1), backend=backend)
    states = states[0, :, 0]
    apart = (torch.cat([x0, states]) - their_states).abs().max()
    print(f"{backend:10s} agrees with the paper's printout to its four decimals: "
          f"{bool(apart <= 0.5e-4 + 1e-6)}")


# %% [markdown]
# ### Proof that it equals the loop
#
# > **The paper, appendix A.2.2.** "The below shows that Sequential and PScan are equivalent as they generate the same outputs."
#
# One example is no proof. Here is one.
#
# **Claim.** After level $l$, position $t$ holds what the loop would give if it were *started anew* at the beginning of $t$'s group of
# $2^{l+1}$, with the input there as its start. So after the last level it holds $x_t$.
#
# A state is written out as the list of words that add up to it; `A2A1u0` is $A_2A_1u_0$, and $u_0$ stands for $x_0$.
#
# **Step 1 (before the first level).** Every position is a group of its own and holds its input, which is what the
# loop gives if it starts there.

# %% tags=["proof-pscan"]
def loop(first, last):
    words = [f"u{first}"]
    for t in range(first + 1, last + 1):
        words = [f"A{t}{word}" for word in words] + [f"u{t}"]
    return words


print("the loop from 1 to 3:", " + ".join(loop(1, 3)))
assert all(loop(t, t) == [f"u{t}"] for t in range(64)), "PScan, step 1: a group of one"

# %% [markdown]
# **Step 2 (first half).** A position in the first half of a group stays as it is. It may, because the group begins
# where the smaller group of the level before began. (Checked for all positions below 1,024.)

# %% tags=["proof-pscan"]
halves = [2**l for l in range(10)]
first_half = [(t, half) for half in halves for t in range(1024) if t % (2 * half) < half]
print(f"{len(first_half):,} places in a first half: the beginning of the group is the same")
same = [t - t % half == t - t % (2 * half) for t, half in first_half]
assert all(same), "PScan, step 2: another beginning"

# %% [markdown]
# **Step 3 (second half: what an earlier start adds).** Let $y$ be the state at $t - 1$ if the loop starts at the middle $m$ of the
# group. If it starts earlier, and $x$ is the state at $m - 1$, then the state at $t - 1$ is $Px + y$ with $P = A_{t-1}\cdots A_m$. One
# step more, and it is of the same form with $P$ replaced by $A_t P$ and $y$ by $A_t y + u_t$, which is the loop from $m$ again. At $t = m$ it
# begins with $A_m x + u_m$. So for every $t$ in the second half the difference is $A_t \cdots A_m\, x$: by induction, for free letters.

# %% tags=["proof-pscan"]
A, P, u, x, y = sp.symbols("A P u x y", commutative=False)
one_more = A * (P * x + y) + u
print("one step more:", sp.expand(one_more))
assert sp.expand(one_more - ((A * P) * x + (A * y + u))) == 0, "PScan, step 3: not of the same form"

# %% [markdown]
# **Step 4 (that product is what the level applies).** Count rows from 0. We claim that before level $l$ row $r$ consists of the $2^l$ words $A_t\cdots A_m$, $t = m, \dots, m + 2^l - 1$, with $m = 2^l(r+1)$. At level 0 this is so: row $r$ is $A_{r+1}$. And `split` keeps it so. It joins row $2i+1$, which begins at $m = 2^{l+1}(i+1)$ and whose last word is $A_{m+2^l-1}\cdots A_m$, with row $2i+2$, whose words are $A_t \cdots A_{m+2^l}$. Multiplied by that last word these become $A_t\cdots A_m$, so the new row $i$ has all words from $m$ on, to twice the length. Now group $g$ takes row $2g$, for which $m = 2^{l+1}g + 2^l$ is the middle of the group: place $t$ of the second half receives $A_t\cdots A_m$, as step 3 asks. (Spelt out for every place of every $L$ up to 256.)

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
# **Step 5 (the end).** By steps 1 to 4 the claim passes from level to level. After $\log_2 L$ levels there is one group, it begins with
# $x_0$, and the loop started there is the loop. The cell runs the whole scan on words, for $T = 1$ to 33 inputs with empty padding
# behind, and compares every position after every level with the loop. $\blacksquare$

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
# **Break it.** Multiply in the other order, and step 4 fails:

# %% tags=["proof-pscan"]
with show.expect_failure("PScan, step 4"):
    coef, remain = [["A1"], ["A3"]], [["A2"]]
    longer = [[run[-1] + word for word in row] for row, run in zip(coef[1:], remain)]
    assert longer == [["A3A2"]], "PScan, step 4: A2A3 is not the product from the middle on"


# %% [markdown]
# **Put right.** With the products in the other order the scan is right for matrices that commute, and not for others.
#
# **Step 1.** Each word in the other order has the same letters, each of them once. So for matrices that commute,
# such as numbers and diagonal matrices ($b = 1$), it is the same product. (For every word of $L$ up to 64.)

# %% tags=["proof-order"]
def products_of(L, together):
    groups, words = [[f"A{i} "] for i in range(1, L)], []
    while groups:
        coef, remain = groups[::2], groups[1::2]
        words += [word for row in coef for word in row]
        groups = [
            run + [together(word, run[-1]) for word in row] for row, run in zip(coef[1:], remain)
        ]
    return words


for L in (2, 4, 8, 16, 32, 64):
    right = products_of(L, lambda word, last: word + last)
    other = products_of(L, lambda word, last: last + word)
    letters = [(sorted(one.split()), sorted(two.split())) for one, two in zip(right, other)]
    assert all(one == two for one, two in letters), "The other order, step 1: other letters"
print(f"{len(right)} words at L = {L}, {sum(a != b for a, b in zip(right, other))} of them "
      "spelt differently, all of the same letters")

# %% [markdown]
# **Step 2.** Blocks of size 2 need not commute: for the two in the cell $x_3$ comes out different. $\blacksquare$

# %% tags=["proof-order"]
swap = np.array([[0, 1], [1, 0]])  # A_2: swap the entries
forget = np.array([[1, 0], [0, 0]])  # A_3: forget the second
x_1 = np.array([1, 0])
print("A3 A2 x_1 =", forget @ swap @ x_1, "  A2 A3 x_1 =", swap @ forget @ x_1)
assert not np.array_equal(forget @ swap @ x_1, swap @ forget @ x_1), "The other order, step 2: these blocks commute"

# %% [markdown]
# The proof is about the algorithm, but what runs is code. So the next cell walks through the levels of `scans.paper`
# in whole numbers, where nothing is rounded, and compares every position with the loop started anew at the beginning
# of its group.

# %%
draw = torch.Generator().manual_seed(0)


def whole(*shape, most=3):
    return torch.randint(-most, most + 1, shape, generator=draw)


L, size = 16, 3
A, x = whole(L - 1, size, size, most=2), whole(L, size)  # x: x_0 and the inputs
inputs = x.clone()


def loop_from(A, begin, end):
    state = inputs[begin]
    for t in range(begin + 1, end + 1):
        state = A[t - 1] @ state + inputs[t]
    return state


for number, level in enumerate(paper.products(A)):
    half = level.shape[1]
    for group in range(L // (2 * half)):
        middle = 2 * half * group + half
        last = x[middle - 1].clone()
        for j in range(half):
            x[middle + j] += level[group, j] @ last
    right = all(torch.equal(x[t], loop_from(A, t - t % (2 * half), t)) for t in range(L))
    print(f"after level {number + 1}: groups of {2 * half:2d}, every state as the "
          f"claim says: {right}")

# %% [markdown]
# ## 3 Depth against work
#
# > **The paper, section 3.4.** "The computational complexity of our model is $O(b^3 h \log(T))$".
#
# That is the **depth**: the time with as many processors as one could wish. The **work**, how much is computed in all, is another
# matter. The loop applies one matrix a step: $b^2 h T$ multiplications. PScan multiplies matrices *by matrices*, $b^3$ each. How many?
#
# **Claim.** PScan makes $\frac L2 \log_2 L - (L-1)$ products of two matrices; so its work is $\Theta(b^3 h T \log T)$, and the paper's
# $O(b^3 h \log T)$ is the time with one processor for every two positions.
#
# **Step 1.** Each of the $\log_2 L$ levels applies $L/2$ words, one to each place of a second half. (Counted for $L = 2$ to 1,024.)

# %% tags=["proof-work"]
sizes = [2**k for k in range(1, 11)]
applied_words = {L: [sum(map(len, groups)) for groups in levels_of(L)] for L in sizes}
print("words applied at L = 8, level by level:", applied_words[8])
for L, found in applied_words.items():
    assert found == [L // 2] * int(math.log2(L)), "Work, step 1: not L/2 words a level"


# %% [markdown]
# **Step 2.** Of these words $L - 1$ are single letters, which are given: one in each group, at the middle, so there are $\frac L2 + \frac L4 + \dots + 1 = L - 1$ of them, each letter once. Every other word is made by one product of two earlier words. So the number of products is $\frac L2\log_2 L - (L - 1)$. (Products are counted here as `split` makes them, $L = 2$ to 1,024.)

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
# **Step 3.** At $T = 500$, $b = 8$ (so $L = 512$) the products alone are 28.7 times the loop's multiplications, and with their applications to
# vectors, $b^2$ each, PScan makes 33.3 times as many. With $b = 1$, where $b^3 = b^2$, it is still 8.2 times.

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
# **Step 4.** For every $T$ the number of products lies between $\frac T2(\log_2 T - 2)$ and $T\log_2(2T)$, because $\frac L2\log_2 L - (L-1) = \frac L2(\log_2 L - 2) + 1$ and $\frac L2 \le T < L$. (The identity in letters; the bounds for $T$ up to 5,000.) So the work is $\Theta(b^3 h T\log T)$.

# %% tags=["proof-work"]
half, k = sp.symbols("half k")
assert sp.expand(half * k - (2 * half - 1) - (half * (k - 2) + 1)) == 0, "Work, step 4: the identity"
for T in range(1, 5001):
    made, L = work(T, b=1)[1], 1 << T.bit_length()
    assert L // 2 <= T < L, "Work, step 4: L is the next power of two"
    assert T / 2 * (math.log2(T) - 2) <= made <= T * math.log2(2 * T), "Work, step 4: a bound"
print(f"T = {T}: {T / 2 * (math.log2(T) - 2):,.0f} <= {made:,} <= {T * math.log2(2 * T):,.0f}")

# %% [markdown]
# **Step 5.** A level applies $L/2$ words and makes at most as many. With $P = L/2$ processors (and time as work over $P$) that is at most
# $(b^3 + b^2)\,h$ ticks a level, $(b^3 + b^2)\,h\log_2 L$ in all: the paper's $O(b^3h\log T)$. (For all $T$ up to 1,023 and six block sizes.)

# %% tags=["proof-work"]
for T in range(1, 1024):
    for b in (1, 2, 3, 4, 8, 16):
        levels, L = T.bit_length(), 1 << T.bit_length()
        ticks = sum(work(T, b)[1:]) / (L // 2)
        assert ticks <= (b**3 + b**2) * levels, "Work, step 5: more than (b^3 + b^2) a level"
print(f"T = {T}, b = {b}, h = 1: {ticks:,.0f} ticks with {L // 2} processors, "
      f"at most {(b**3 + b**2) * levels:,}")

# %% [markdown]
# **Step 6.** So PScan wins from some number of processors on, and not before. Take as time $\max(\text{work}/P, \text{depth})$, and one block of size $b = 1$ in each of $h = 8$ heads at $T = 500$: then that number is 66. (All $P$ up to 5,000 are tried.) $\blacksquare$

# %% tags=["proof-work"]
from_loop, *scan = work(T=500, b=1, h=8)
wins = [P for P in range(1, 5001) if max(sum(scan) / P, 9) < max(from_loop / P, 500)]
print(f"PScan is faster than the loop from P = {wins[0]} on")
assert wins == list(range(66, 5001)), "Work, step 6: another break-even"

# %% [markdown]
# **Break it.** Take $L$ given letters in place of $L - 1$, as if the start had one, too, and the count is wrong:

# %% tags=["proof-work"]
with show.expect_failure("Work, step 2"):
    assert products_made(8) == 8 // 2 * 3 - 8, "Work, step 2: five products for L = 8, not four"


# %% [markdown]
# So depth falls from $T$ to $\log_2 T$, and work grows from $b^2hT$ to $\Theta(b^3 h T \log T)$. With few processors
# the work decides, with very many the depth. (Check the count of products by hand for $L = 8$: in the figure above
# five arrowheads carry a product.)
#
# ### A tree with less work
#
# PScan makes up to $L/2$ products at every level. Most of these are not needed. Make a binary tree over the
# steps, and go through it twice (after Blelloch, 1990). On the way **up**, compute one pair for each node: the
# composition of all steps below it. On the way **down**, hand *states* to the nodes, to each the state before its
# first step: the left child gets the state that its parent got, and the right child gets this state after the left
# child's pair has been applied. These are two passes instead of one, but fewer than $T$ products, so $O(b^3 h T)$
# work.
#
# **Step 1.** The tree gives the loop's states: run on random whole numbers, for $T = 1$ to 39 (a check of this code on samples; that the tree is right for all numbers follows from section 1, applied at every node).

# %% tags=["proof-tree"]
def apply(A, x):
    return (A @ x[..., None])[..., 0]


def pair_after(second, first):
    (A2, b2), (A1, b1) = second, first
    return A2 @ A1, apply(A2, b1) + b2


def states_before(A, b, x0):  # the states before n nodes, from the pairs of all but the last of them
    if len(b) == 0:
        return x0[None]
    end = len(b) // 2 * 2
    up = pair_after((A[1:end:2], b[1:end:2]), (A[:end:2], b[:end:2]))  # one pair for two nodes
    down = states_before(*up, x0).repeat_interleave(2, 0)[: len(b) + 1]  # handed on to both children
    down[1::2] = apply(A[::2], down[:-1:2]) + b[::2]  # the right child: after the left child's pair
    return down


def tree_scan(A, b, x0):  # states (T, n) from A (T, n, n), b (T, n) and x0 (n)
    return apply(A, states_before(A[:-1], b[:-1], x0)) + b


# %% tags=["proof-tree"]
dice = torch.Generator().manual_seed(3)
for T in range(1, 40):
    shapes = (T, 3, 3), (T, 3), (3,)
    A, b, x0 = (torch.randint(-1, 2, shape, generator=dice) for shape in shapes)
    x, states = x0, []
    for A_t, b_t in zip(A, b):
        x = A_t @ x + b_t
        states.append(x)
    assert torch.equal(tree_scan(A, b, x0), torch.stack(states)), "The tree, step 1: not the loop's states"
print(f"the tree gives the loop's states for T = 1 to {T}")


# %% [markdown]
# **Step 2.** From a level of $n$ nodes the $\lceil n/2\rceil$ nodes above it are made with $\lceil n/2\rceil - 1$ products, one for each of them but the last, whose pair nobody needs. Summed over the levels that is less than $T$. (Counted for $T$ up to 5,000; for every $T$ the induction is left to you.)

# %% tags=["proof-tree"]
def made_by_tree(n):
    up = -(-n // 2)
    return 0 if n == 1 else (up - 1) + made_by_tree(up)


assert all(made_by_tree(T) < T for T in range(1, 5001)), "The tree, step 2: as many products as steps"
print({T: made_by_tree(T) for T in (8, 500, 5000)})

# %% [markdown]
# **Exercise 4** ★★ *(10 min, 4 points: how an induction counts the products of a tree)* **A proof step.** The
# induction is yours. Suppose that a level of $\lceil n/2\rceil$ nodes and all levels above it make at most
# $f(\lceil n/2\rceil)$ products. For which $f$, with $f(n) < n$, does it follow that a level of $n$ nodes and all
# levels above it make at most $f(n)$? The induction and its asserts stand below; put your $f$ in place of `None`.

# %%
my_bound = None  # exercise 4: a function of n, the number of nodes of a level

for n in range(1, 2000) if my_bound else ():
    assert made_by_tree(1) <= my_bound(1) and my_bound(n) < n, f"the bound itself, at n = {n}"
    up = -(-n // 2)
    assert n == 1 or (up - 1) + my_bound(up) <= my_bound(n) + 1e-9, f"from {up} nodes to {n}"
check("03.4", my_bound)

# %% [markdown]
# <!-- Exercise 03.4: from notebooks/workbook/exercises/ch03.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint 1</summary>
#
# Try the count itself for $n = 1, 2, 4, 8$: what is always a little more?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# A level makes $\lceil n/2\rceil - 1 \le (n-1)/2$ products: what may the rest of the tree make?
#
# </details>
#
# <details><summary>Solution</summary>
#
# `lambda n: n - 1`. A level of $n$ nodes makes $\lceil n/2\rceil - 1 \le (n-1)/2$ products, and
# the levels above it, by the induction hypothesis, at most
# $f(\lceil n/2\rceil) = \lceil n/2\rceil - 1 \le (n-1)/2$: together at most $n - 1 = f(n)$. So the tree over
# $T$ steps makes at most $T - 1$ products.
#
# </details>

# %% tags=["hide-input"]
show.table(
    [
        {
            "T": T,
            "PScan, products": ch03.matrix_products(T),
            "tree, products": ch03.tree_counts(T)[0],
            "PScan, levels": T.bit_length(),
            "tree, levels": ch03.tree_counts(T)[2],
        }
        for T in (7, 40, 500, 4096, 16384)
    ],
    caption="Matrix products and levels of both. The loop makes no product and takes T steps.",
)


# %% [markdown]
# **Exercise 5** ★★ *(10 min, 4 points: to see what a test of a scan does not try)* **Find the bug.** A third parallel
# scan, for numbers and the start 0 (after Hillis and Steele, 1986): in each pass every position takes up the pair
# that stands `shift` places before it, and `shift` doubles. It passes two tests, and yet it is wrong on almost all
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
# <!-- Exercise 03.5: from notebooks/workbook/exercises/ch03.md, by lrnnlab book build; change it there. -->
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
# A model in one line: a scan takes as long as the worst of
#
# $$\frac{\text{multiplications}}{P}, \qquad 32\,\frac{\text{numbers read and written}}{P}, \qquad \text{steps that wait for each other.}$$
#
# $P$ is the number of processors, each one multiplication a tick. The first and third are Brent's bound, true within a factor of 2. The middle one is the memory, which delivers one number in the time in which the whole machine could do 32 multiplications. That is about right for an H200 (a large GPU) and its memory; a single CPU thread, whose memory it need not share, has a few times less. What is *not* in it: the start of a kernel, Python, caches, page faults.
#
# A *chain* is the recurrence of one block on one string; there are $B \cdot h$ of them, and none needs the others.
# The **token table** is the loop once more, but it looks $A_t$ up in a small table instead of reading it from memory
# (section 6).

# %% tags=["hide-input"]
bench = bench_figures.recorded()
opened = {"T": 500, "b": 8, "chains": 1024, "P": 16}
show.figure(
    ch03.scan_race(bench, **opened),
    alt="Left: time over the loop's against processors for PScan, tree and token table at T = "
        "500, b = 8 and 1,024 chains. The table lies below 1 up to some two and a half million processors. The "
        "tree falls below 1 from some eight million on, PScan from some twenty million. Marks "
        "of measured times stand at 16 and 32 processors. Right: the loop is first everywhere "
        "below about six million processors, and for nearly all T up to eight.",
    caption="What to see: with 1,024 chains there is work for everybody without a tree. A tree pays "
            "from some eight million processors on, where the loop has nothing left to spread. On the "
            "right stands the fastest of loop, PScan and tree, which all read A from memory. Marks are "
            "recorded times, forward (star: ours; plus: ours with a token table; the others as in section 7). Those far above their "
            "lines show what the model leaves out.",
)  # fmt: skip

# %% [markdown]
# *Try:* one chain, $T = 16{,}384$ and the $P$ of an H200 (16,896): now the tree is the right choice, and for this case the GPU scans of diagonal models are made. Then compare $b = 1$ with $b = 8$. And see how far above its line each mark lies: so much the model leaves out.

# %% tags=["hide-input"]
race_widget = explore(
    lambda T, b, chains, P: ch03.scan_race(bench, T, b, chains, P),
    {"T": list(ch03.LENGTHS), "b": list(ch03.SIZES), "chains": list(ch03.CHAINS),
     "P": ch03.PROCESSORS},
    initial=opened,
    sentence=lambda T, b, chains, P: ch03.race_sentence(bench, T, b, chains, P),
    alt="Modelled time against processors for four ways to scan, with measured marks; and "
        "which way wins at every T and P.",
)  # fmt: skip
race_widget

# %% [markdown]
# **Exercise 6** ★★ *(10 min, 4 points: when more work in less depth pays)* Leave the memory out: let the time be
# $\max(\text{multiplications}/P, \text{depth})$, as in step 6 of section 3. From which $P$ on is PScan faster than
# the loop at $T = 500$, $b = 8$, $h = 8$ and one string (`my_P`)? And with a batch of 128?

# %%
my_P = None  # exercise 6: the least P for one string
check("03.6", my_P)

# %% [markdown]
# <!-- Exercise 03.6: from notebooks/workbook/exercises/ch03.md, by lrnnlab book build; change it there. -->
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
# ## 5 Why the paper's PScan was no faster at test time
#
# > **The paper, section 4.5.** "Sequential requires 0.033s per instance, while PScan completes the task in 0.021s" (training, $T = 40$). "During
# > the testing stage, we set $T = 500$, where both Sequential and PScan take 0.03s per instance. [...] the complexity incurred by $b^3$ counteracts
# > the speedup offered by $\log(T)$. To validate our hypothesis, we set $b = 1$ and reassess the speed. Subsequently, PScan achieves 0.0008s per
# > instance, whereas Sequential takes 0.002s."
#
# Their machine was a GPU (Quadro RTX 8000) and ours is one thread of a CPU, so seconds cannot be compared; but ratios can be looked at side by side. Ours are measured live with a batch of 16, and recorded with a batch of 128 (`lrnnlab reproduce lrnn/speed --budget desk`).

# %% tags=["nbval-ignore-output"]
live = ch03.live_speed(batch=16)
ratios = live["model.pscan.ratio"]
times = f"{min(ratios):.1f} to {max(ratios):.1f} times the loop's"
show.figure(
    scan_figures.speed_ratios(live, "live"),
    alt="Live: time over the sequential loop's in four settings, for the whole model and the "
        f"scan alone. PScan's time for the whole model is {times}.",
    caption="What to see: where PScan (first line of each group) lies: right of the line it "
            f"is slower than the loop. Here, on one CPU thread, the whole model takes {times} "
            "time. The paper's diamonds lie on the line or left.",
)  # fmt: skip

# %% tags=["hide-input"]
table, least = ch03.speed_table()
show.table(
    table,
    formats={name: ".2f" for name in table[0] if "/" in name or "recorded" in name},
    caption="Time of PScan over the loop's. Last column: what making the transitions, readout "
            "and optimiser take of the loop's whole time.",
)  # fmt: skip
print(f"in every setting at least {math.floor(10 * least) * 10} % of the loop's whole "
      "time is not the scan")

# %% [markdown]
# **What can be said.**
#
# * On one CPU thread PScan gains nothing from its small depth, and its work is many times the loop's.
# * The paper's explanation, $b^3$ against $\log T$, rightly points to the work: section 3 counts 33 times the loop's multiplications. With $b = 1$, where $b^3 = b^2$, it is 8 times.
# * But its three numbers do not prove it. Whatever is timed *besides* the scan is the same for both ways and pulls the ratio towards 1. Here that part is most of the time: at each position a network makes $h b^2 = 512$ numbers of $A_t$. With $b = 1$, in 64 blocks so that the width is the same, it makes only 64, so this part shrinks as well, and the ratio moves away from 1 *for two reasons at once*.
# * A loop of 500 steps took the paper's GPU no longer than one of 40 with its backward pass. What an "instance" is (a string? a batch?) the paper does not say.
#
# ## 6 The token table
#
# The last column of the table in section 5 says where to look: not at the scan but at the transitions. A regular language has a handful of letters. In the first layer $A_t$ depends on the letter only, so there are $V$ different matrices, not $B\,T$. Make them once, and let the scan **look them up**: then neither the tensor $A$ of shape $(B, T, h, b, b)$ nor its gradient ever exists.

# %%
B, T, V, h, b = 16, 500, 8, 8, 8
draw.manual_seed(6)
tables = [
    (torch.randn(V, h, b, b, generator=draw) * 0.3).requires_grad_(),
    torch.randn(V, h, b, generator=draw).requires_grad_(),
]
tokens = torch.randint(V, (B, T), generator=draw)
dx = torch.randn(B, T, h, b, generator=draw)
by_token = token_scan(*tables, tokens)
spread_out = linear_scan(tables[0][tokens], tables[1][tokens])
print(f"the same states: {torch.allclose(by_token, spread_out, atol=1e-5)}")
pairs = zip(*(torch.autograd.grad(x, tables, dx) for x in (by_token, spread_out)))
print(
    "the same gradients of the tables: "
    f"{all(((p - q).abs() <= 1e-3 * (q.abs().max() + q.abs())).all() for p, q in pairs)}"
)
print(
    f"A and its gradient at B = 128: {2 * 128 * T * h * b * b * 4 / 1e6:.0f} MB; tables and "
    f"their gradients: {2 * V * h * b * b * 4 / 1e6:.2f} MB"
)
spread, table = ch03.must_move(128, 500, 8, 8)
print(
    f"bytes that must move, forward and backward: {spread / 1e6:.0f} MB against "
    f"{table / 1e6:.0f} MB, {spread / table:.0f} times less"
)


# %% [markdown]
# This is the line *compiled, by token* in the figure of section 5. In layers above the first the input is no longer one of $V$ things, and the table is of no use; there the whole
# $A$ has to be made and read.

# %% [markdown]
# **Exercise 7** ★ *(5 min, 3 points: when a table of letters saves memory)* For which numbers of letters $V$ does a
# token table save memory, at given $B$ and $T$? And why can it not be used in the second layer?

# %% [markdown]
# <!-- Exercise 03.7: from notebooks/workbook/exercises/ch03.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint</summary>
#
# How many numbers has the table, and how many the tensor of all steps?
#
# </details>
#
# <details><summary>Solution</summary>
#
# $V < B\,T$ (tables $V h b^2$, the tensor $B T h b^2$). In the second layer the input is the
# first layer's output, which depends on the whole string so far.
#
# </details>

# %% [markdown]
# ## 7 The recorded benchmark
#
# We timed every scan that could be installed, in turn and on the same numbers (`lrnnlab bench scans --threads 1 --record`, and `--threads 2`). The colour says how it scans: black is a loop, purple PScan, green another tree.

# %% tags=["hide-input"]
def draw_times(part):
    return bench_figures.times_ours(bench, bench_figures.PARTS[part])


def say_times(part):
    return ch03.times_sentence(bench, part)


show.figure(
    draw_times("forward + backward"),
    alt="For every case and number of threads, the time of six other scans over ours, "
        "on a logarithmic axis. What was not run is a hollow mark. The numbers stand "
        "in the table below.",
    caption="Recorded. What to see: everything right of the line takes longer than our "
            "compiled loop. Among the others, loops tend to lie left of trees: on a CPU work "
            "decides, not depth.",
)  # fmt: skip
print(say_times("forward + backward"))

# %% tags=["hide-input"]
times_widget = explore(
    draw_times, {"part": list(bench_figures.PARTS)}, initial={"part": "forward"},
    sentence=say_times,
    alt="Time of every other scan over ours for the chosen part of the work.",
)  # fmt: skip
times_widget

# %% tags=["hide-input"]
for threads in bench:
    show.table(
        bench_figures.times_table(bench, threads), formats={"ours, ms": ".3g"},
        caption=f"Recorded on {bench_figures.origin(bench[threads])}, "
                f"{threads} thread{'s' * (threads > 1)}, forward and backward: milliseconds of "
                "ours (median), and how many times longer the others took; or why a case was "
                "not run.",
    )  # fmt: skip

# %% [markdown]
# **Exercise 8** ★ *(10 min, 3 points: that a step costs more than its arithmetic)* **Read a picture.** JAX compiles
# both a loop, `lax.scan`, and a tree, `associative_scan`. In the table for one thread there is exactly one case of
# blocks in which the tree takes less than half of the loop's time. Which? And why there, since one thread wins nothing
# from depth?

# %%
my_case = None  # exercise 8: (b, B, T), three whole numbers
check("03.8", my_case)

# %% [markdown]
# <!-- Exercise 03.8: from notebooks/workbook/exercises/ch03.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint 1</summary>
#
# The table has the times of both over ours: look for a row in which that of `associative_scan` is much the smaller.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# A tree has less to lose where $b^3$ is not much more than $b^2$, and more to win where $T$ is large and little is
# done at each step.
#
# </details>
#
# <details><summary>Solution</summary>
#
# $b = 2$, $B = 1$, $T = 16{,}384$. One thread does all of the tree's work itself, so depth wins nothing. But each
# step of a loop has a cost of its own, to start it; with one string and blocks of size 2 a step has next to nothing to
# compute, and 16,384 starts are most of the time. The tree starts fewer and larger operations. With 128 strings a
# step has more to compute, its start counts for less, and the tree wins little or nothing. At $b = 4$ and $B = 1$ it
# even takes nine times the loop's time, and 43 times its own at $b = 2$, though the arithmetic grows eightfold only: JAX
# must multiply these blocks in another way, which the table does not explain.
#
# </details>

# %% [markdown]
# ### The memory's line
#
# No scan that reads $A$ and $b$ and writes $x$ can be faster than the memory. How much of the memory's speed do they use? In the same run, in turn with the scans, a large array is copied; the bytes that this reads and writes in a second are our 100 %. (A case can lie above it, if it fits into the cache, or because it reads far more than it writes, which a copy does not. And the copy is not equally fast every time: its least and greatest speed stand below.)

# %% tags=["hide-input"]
show.figure(
    bench_figures.memory_line(bench),
    alt="For every case, which share of the memory's copying speed our scan reaches, forward "
        "and backward, with a line at 100 percent; grey dots: the fastest other.",
    caption="Recorded. What to see: how near ours comes to the line, and how far from it the "
            "fastest other stays. Where little has to move (token table, constant blocks) a "
            "low share can still be the least time.",
)  # fmt: skip
print(ch03.memory_sentence(bench))

# %% [markdown]
# ### What the model leaves out: page faults
#
# A result needs memory. The system hands out fresh memory page by page, when a page is touched for the first time, and each first touch costs a call into the system: 32,000 calls for the gradient of $A$ at $(B, T, h, b, b) = (128, 500, 8, 8, 8)$, 131 MB in pages of 4 kB. In a naive backward pass that takes about as long as all of the arithmetic. Linux gives pages of 2 MB to those who ask; `np.empty` asks, `torch.empty` does not, so our scans take large results from NumPy. Here is how long it takes to fill 64 MB, live:

# %% tags=["nbval-ignore-output"]
numbers = 1 << 24
kept = torch.empty(numbers).fill_(0)
ways = {
    "memory used before": lambda: kept,
    "fresh, np.empty": lambda: torch.from_numpy(np.empty(numbers, np.float32)),
    "fresh, torch.empty": lambda: torch.empty(numbers),
}


def stopwatch(work):
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


taken = {name: [] for name in ways}
for _ in range(7):
    for name, make in ways.items():
        taken[name].append(stopwatch(lambda make=make: make().fill_(1)))
base = statistics.median(taken["memory used before"])
compared = {name: statistics.median(seconds) / base for name, seconds in taken.items()}
show.table(
    [
        {"memory": name, "time / time in used memory": ratio}
        for name, ratio in compared.items()
    ],
    caption="Live, medians of seven. " + (
        "Neither fresh row takes longer than used memory: on this machine, here and now, fresh "
        "pages cost nothing that this cell could see."
        if max(compared.values()) < 1.1
        else "The middle row lies below the last: here huge pages are to be had for the asking."
        if compared["fresh, np.empty"] < 0.9 * compared["fresh, torch.empty"]
        else "The middle row does not lie clearly below the last: on this machine asking gains little, as "
        "where huge pages are switched off, or given to everybody."
    ),
)

# %% [markdown]
# ## 8 Numerics: what overflows, and what never to do
#
# **Never divide by cumulative products.** For numbers $a_t \ne 0$, with $P_t = a_t \cdots a_1$ and from $x_0 = 0$,
#
# $$x_t = P_t \sum_{s \le t} b_s / P_s:$$
#
# a cumulative product and a cumulative sum, which every library has. As algebra it is right.
#
# **Step 1.** If $x_{t-1} = P_{t-1} S$, where $S$ is the sum up to $t - 1$, then $P_t\,(S + b_t/P_t) = a_t x_{t-1} + b_t$; and it begins with $S = 0$.

# %% tags=["proof-division"]
P, S, a_t, b_t = sp.symbols("P S a_t b_t", nonzero=True)
one_more = sp.expand((a_t * P) * (S + b_t / (a_t * P)))
print("P_t (S + b_t / P_t) =", one_more)
assert sp.simplify(one_more - (a_t * (P * S) + b_t)) == 0, "Division, step 1: not the recurrence"

# %% [markdown]
# **Step 2.** In float32 it is not. With $a_t = \frac12$ and $b_t = 1$ the quotient $b_t/P_t = 2^t$ is infinite from $t = 128$ on, while the state
# stays below 2. $\blacksquare$

# %% tags=["proof-division"]
quotients = 1 / torch.full((200,), 0.5).cumprod(0)
first = int(quotients.isinf().nonzero()[0]) + 1
print(f"1 / P_t is infinite from t = {first} on; the state is then 2 - 2^{1 - first}")
state = sum(sp.Rational(1, 2) ** s for s in range(first))
assert first == 128 and state < 2, "Division, step 2: another step, or a state that large"


# %% [markdown]
# One can also do the same in logarithms, with $P_t = \exp \sum_{s \le t} \log a_s$. At which step does each of the
# two begin to be wrong?

# %%
def by_division(a, b):
    P = a.cumprod(0)
    return P * (b / P).cumsum(0)


def by_logarithms(a, b):
    log_P = a.log().cumsum(0)
    return (log_P + (b.log() - log_P).logcumsumexp(0)).exp()


length = 500
noise = torch.rand(length, generator=draw) * 0.2 + 0.4
gates = {
    "0.5 at every step": torch.full((length,), 0.5),
    "between 0.4 and 0.6": noise,
    "the same, but a reset (0) at step 100": noise * (torch.arange(length) != 99),
    "the same, but alternating signs": noise * (-1) ** torch.arange(length),
}


def breaks_at(x, right):
    wrong = (~((x - right).abs() <= 1e-3 * right.abs().clamp(min=1))).nonzero()
    return f"step {int(wrong[0]) + 1}" if len(wrong) else "never"


lines = []
for name, gate in gates.items():
    ones = torch.ones(length)
    truth = linear_scan(gate.double()[None, :, None], ones.double()[None, :, None]).flatten()
    ours = linear_scan(gate[None, :, None], ones[None, :, None]).flatten()
    tried = {
        "division": by_division(gate, ones),
        "logarithms": by_logarithms(gate, ones),
        "the scan": ours,
    }
    lines.append({"a": name, **{way: breaks_at(x, truth) for way, x in tried.items()}})
show.table(
    lines,
    caption="First step that is wrong by more than 0.001 (of the state, where that is above 1), in "
            "float32, with b = 1. The state itself stays within 1 / (1 - 0.6) = 2.5, for no |a| is "
            "above 0.6.",
)

# %% [markdown]
# Division breaks when $1/P_t$, or the sum of the $b_s/P_s$, leaves what float32 can hold, though no state does. Logarithms work as long as everything is positive, and fail at the first negative number or reset; and our models need both. The compiled loop, which is "the scan" in this table, forms no product at all.
#
# **But a tree does form products.** In the next cell a state of 0 waits through 300 steps that would double it, and then inputs come. The loop doubles zero. PScan makes a product of 128 twos first, which is infinite in float32:

# %%
T = 400
waits = torch.arange(T) < 300
A = torch.where(waits, 2.0, 0.5)[None, :, None, None, None] * torch.eye(2)
b = torch.where(waits, 0.0, 1.0)[None, :, None, None].expand(1, T, 1, 2)
for backend in scans.available("cpu"):
    x = linear_scan(A, b, backend=backend)
    lost = (~x.isfinite().all(-1)).flatten().nonzero()
    print(
        f"{backend:10s} "
        + (
            f"NaN from step {int(lost[0]) + 1} on, for {len(lost)} steps"
            if len(lost)
            else f"finite; last state {float(x[0, -1, 0, 0]):.4f}"
        )
    )

# %% [markdown]
# So "PScan equals the loop" is a theorem about real numbers. In floats $\infty \cdot 0$ is not a number, and a product can overflow where no state does. How soon does a product of random blocks overflow?

# %%
product, step = torch.eye(8), 0
draw.manual_seed(8)
while bool(product.isfinite().all()):
    product, step = torch.randn(8, 8, generator=draw) @ product, step + 1
print("product of random 8 x 8 blocks with entries of variance 1: not finite in float32 at "
      f"block {step} of 500")
product = torch.eye(8)
for _ in range(500):
    product = torch.softmax(torch.randn(8, 8, generator=draw), 0) @ product
print(
    "columns on the simplex (chapter 02): all 500 finite, column sums "
    f"{float(product.sum(0).min()):.3f} to {float(product.sum(0).max()):.3f}"
)

# %% [markdown]
# **Other brackets, other digits.** Float addition is not associative, so loop and tree differ in the last digits; and so would a scan whose tree depended on the number of threads. Ours is
# cut into parts by shape alone, and sums over parts are taken in a fixed order:

# %%
draw.manual_seed(9)
A, b = (
    torch.randn(16, 300, 8, 8, 8, generator=draw) * 0.3,
    torch.randn(16, 300, 8, 8, generator=draw),
)
A.requires_grad_()
states, before = {}, torch.get_num_threads()
for threads in (1, 2):
    torch.set_num_threads(threads)
    x = linear_scan(A, b)
    states[threads] = x.detach(), *torch.autograd.grad(x.square().sum(), A)
torch.set_num_threads(before)
print("one thread and two, states and gradients bit for bit the same: "
      f"{all(map(torch.equal, states[1], states[2]))}")
with torch.no_grad():
    looped, treed = (linear_scan(A[:2], b[:2], backend=name) for name in ("reference", "paper"))
print(
    f"loop and PScan bit for bit the same: {torch.equal(looped, treed)}; to 1e-4 of the largest: "
    f"{bool((looped - treed).abs().max() < 1e-4 * looped.abs().max())}"
)

# %% tags=["nbval-ignore-output"]
ulp = torch.finfo(torch.float32).eps * 2.0 ** looped.abs().log2().floor()
print(
    f"loop and PScan: {float((looped != treed).float().mean()):.0%} of the states differ; at "
    f"most {float(((looped - treed).abs() / ulp).max()):,.0f} units in the last place"
)


# %% [markdown]
# (There are many such units only where a state happens to be near 0: there the error is small compared with the
# terms of the sum, but not with the sum.)
#
# **Never index in the loop that is to be differentiated.** `A[:, t]` looks harmless. But its gradient is a tensor of the *whole* shape of $A$, zero but for one slice, and there are $T$ of
# them to add: quadratic. `A.unbind(1)` gives the same slices and one gradient for all.

# %% tags=["nbval-ignore-output"]
def loop_over(slices):
    x, states = 0.0, []
    for a_t in slices:
        x = a_t * x + 1.0
        states.append(x)
    return torch.stack(states, 1)


def backward_seconds(T, cut):
    a = torch.rand(8, T, 64, requires_grad=True)
    seconds = []
    for _ in range(9):
        x = loop_over(cut(a)).sum()
        seconds.append(stopwatch(lambda x=x: torch.autograd.grad(x, a)))
    return min(seconds)


cuts = {
    "A[:, t]": lambda a: (a[:, t] for t in range(a.shape[1])),
    "A.unbind(1)": lambda a: a.unbind(1),
}
growth = {
    name: [backward_seconds(T, cut) for T in (200, 400, 800)] for name, cut in cuts.items()
}
doubled = ("400 over 200 steps", "800 over 400 steps")
show.table(
    [
        {"slices": name, doubled[0]: one[1] / one[0], doubled[1]: one[2] / one[1]}
        for name, one in growth.items()
    ],
    caption="Live: how many times longer the backward pass takes when T doubles. 2 is "
            "linear, 4 is quadratic; at these lengths fixed costs count too, and on a busy machine a "
            "ratio can be off.",
    formats=dict.fromkeys(doubled, ".1f"),
)


# %% [markdown]
# The sequential loop of the paper's listing A.2.2 indexes `A[:,i]` and `u[:,i]`; and so does the one in the code that the authors released (`block_model.py`:
# `blocks[:,i]`, `v[:,i]`). So its backward pass is the quadratic one. What that costs with blocks, at the paper's training length $T = 40$ and at $T = 160$:

# %% tags=["nbval-ignore-output"]
def matrix_loop(A, b):
    x, states = torch.zeros_like(b[0]), []
    for A_t, b_t in zip(A, b):
        x = apply(A_t, x) + b_t
        states.append(x)
    return torch.stack(states, 1)


def blocks_backward(T, cut):
    A = (torch.rand(16, T, 8, 8, 8) / 8).requires_grad_()  # (B, T, h, b, b)
    b = torch.rand(16, T, 8, 8, requires_grad=True)
    seconds = []
    for _ in range(3):
        x = matrix_loop(list(cut(A)), list(cut(b))).sum()
        seconds.append(stopwatch(lambda x=x: torch.autograd.grad(x, (A, b))))
    return min(seconds)


slower = {
    T: blocks_backward(T, cuts["A[:, t]"]) / blocks_backward(T, cuts["A.unbind(1)"])
    for T in (40, 160)
}
print("backward pass of the indexing loop over that of unbind: "
      + ", ".join(f"{ratio:.1f} times at T = {T}" for T, ratio in slower.items()))

# %% [markdown]
# **Never train with a scan whose gradient you have not checked.** torch has a scan of its own. With `combine_mode="pointwise"` it gives right states and, without a warning, a wrong gradient of $A$ (torch issue 172568; `combine_mode="generic"` is right). One of our tests will tell us when this is mended.

# %%
from torch._higher_order_ops.associative_scan import associative_scan_op


def pointwise(A, b):
    def compose(A1, b1, A2, b2):
        return A1 * A2, A2 * b1 + b2

    pairs = associative_scan_op(compose, [A.movedim(1, 0), b.movedim(1, 0)], ())
    return pairs[1].movedim(0, 1)


A, b = (torch.rand(2, 5, 3, generator=draw).requires_grad_() for _ in range(2))
theirs, ours = pointwise(A, b), linear_scan(A, b)
slopes = [torch.autograd.grad(x.sum(), (A, b)) for x in (theirs, ours)]
print(f"states right: {torch.allclose(theirs, ours)}; gradient of b right: "
      f"{torch.allclose(slopes[0][1], slopes[1][1])}; gradient of A right: "
      f"{torch.allclose(slopes[0][0], slopes[1][0])}; largest entry of theirs "
      f"{float(slopes[0][0].abs().max()):.3f}, of ours "
      f"{float(slopes[1][0].abs().max()):.3f}")  # fmt: skip


# %% [markdown]
# | never | because | instead |
# |---|---|---|
# | divide by cumulative products | they leave float32 where no state does; a reset is division by 0 | scan |
# | logarithms of gates | signs and resets have none | scan |
# | trust a tree with growing blocks | $\infty \cdot 0$ | loop, or blocks that cannot grow (chapter 02) |
# | `A[:, t]` in a loop | quadratic backward pass | `A.unbind(1)`, or a hand-written backward pass |
# | `combine_mode="pointwise"` in training | wrong gradient, silently | `"generic"`, or check first |
# | sum in the order in which threads end | another result every time | parts by shape, fixed order |

# %% [markdown]
# **Exercise 9** ★ *(5 min, 3 points: which products a tree makes)* **Predict.** Choose before you run. In this
# section a state of 0 waited through 300 doublings, and PScan gave NaN. If `tree_scan` of section 3 is run on the
# same numbers, at how many steps does it give NaN, compared with PScan? And why can this never happen with blocks
# whose columns are probability distributions?

# %%
def tree_on_doublings():
    waits = torch.arange(400) < 300
    A = torch.where(waits, 2.0, 0.5)[:, None, None] * torch.eye(2)
    b = torch.where(waits, 0.0, 1.0)[:, None].expand(400, 2)
    pscan = linear_scan(A[None, :, None], b[None, :, None], backend="paper")[0, :, 0]
    tree = tree_scan(A, b, torch.zeros(2))
    lost = [int(x.isnan().any(-1).sum()) for x in (tree, pscan)]
    more = "more" if lost[0] > lost[1] else "fewer" if lost[0] < lost[1] else "as many"
    answer = f"NaN at {more} steps" if lost[0] else "no NaN"
    return answer, f"NaN at {lost[0]} of 400 steps in the tree, at {lost[1]} in PScan"


predict("03.9", tree_on_doublings)

# %% [markdown]
# <!-- Exercise 03.9: from notebooks/workbook/exercises/ch03.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint</summary>
#
# Look at what the up-pass multiplies.
#
# </details>
#
# <details><summary>Solution</summary>
#
# At more steps. The tree's up-pass makes the product of 128 twos as well, that of steps 1 to 128:
# infinite in float32, and infinity times the state 0 is no number, so all is lost from step 129 on. PScan
# counts the start as a position, so its groups begin one step earlier, and its first word of 128 twos, $A_{255}\cdots A_{128}$,
# ends at step 255; the states before are right.
# Columns on the simplex never do it: they stay so under products, whose entries are at most 1.
#
# </details>

# %% [markdown]
# ## 9 Two other roads
#
# **The delta rule** has matrices of the kind $A_t = I - \beta_t k_t k_t^\top$ (chapter 09). It is the recurrence of this chapter for each row of a memory $W$, and could be scanned as above. But the product of such factors need not be multiplied out.
#
# **Claim (the WY form).** $(I - \beta_1 k_1k_1^\top)\cdots(I - \beta_c k_ck_c^\top) = I - \sum_i w_i k_i^\top$, and the vectors $w_i$ solve one triangular system (for $\beta_i \ne 0$; a factor with $\beta_i = 0$ is the identity and can be left out).
#
# **Step 1.** One factor more: if the product so far is $I - S$, the next is $I - S - w k^\top$ with $w = \beta\,(k - Sk)$. (Free letters; $q$ stands for $k^\top$.)

# %% tags=["proof-wy"]
S, k, q = sp.symbols("S k q", commutative=False)
beta = sp.Symbol("beta")
w = beta * (k - S * k)
one_more = sp.expand((1 - S) * (1 - beta * k * q))
print("(1 - S)(1 - beta k q) =", one_more)
assert sp.expand(one_more - (1 - S - w * q)) == 0, "The WY form, step 1: not of the same form"

# %% [markdown]
# **Step 2.** With $S = \sum_{i<t} w_ik_i^\top$ that reads $\frac1{\beta_t} w_t + \sum_{i<t} (k_i^\top k_t)\, w_i = k_t$: the unknown $w_t$ stands in the equations $t, t+1, \dots$ only, so
# the system is triangular. (Solved in fractions for four vectors of size 3, an example.) $\blacksquare$

# %% tags=["proof-wy"]
K = sp.Matrix([[1, 2, 0, 1], [0, 1, 1, 3], [2, 0, 1, 1]])  # its columns are k_1 to k_4
betas = [sp.Rational(1, n) for n in (2, 3, 4, 5)]
gram = K.T * K
system = sp.Matrix(4, 4, lambda i, t: 1 / betas[t] if i == t else gram[i, t] if i < t else 0)
W = K * system.inv()  # W (beta^-1 + strictly upper part of K'K) = K
product = sp.eye(3)
for t in range(4):
    product *= sp.eye(3) - betas[t] * K[:, t] * K[:, t].T
print("the product of the four factors:", product.tolist())
assert system.is_upper and product == sp.eye(3) - W * K.T, "The WY form, step 2: not the product"

# %% [markdown]
# So a chunk of $c$ steps becomes a few large matrix products, just what a GPU is good at. The cell compares the loop, the chunks and the scan of this chapter on random numbers:

# %%
from lrnnlab.scans.delta import delta_rule

draw.manual_seed(10)
B, T, H, d = 2, 100, 1, 8
q, k, v = (torch.randn(B, T, H, d, generator=draw) for _ in range(3))
k = torch.nn.functional.normalize(k, dim=-1)
beta = torch.rand(B, T, H, generator=draw) * 2
by_loop, by_chunk = (
    delta_rule(q, k, v, beta, form=form, chunk=32) for form in ("sequential", "chunkwise")
)
A = torch.eye(d) - beta[..., None, None] * k[..., :, None] * k[..., None, :]  # (B, T, 1, d, d)
drive = beta[..., None, None] * v[..., :, None] * k[..., None, :]
drive = drive[:, :, 0]  # (B, T, d, d): row i of W is chain i
W = linear_scan(A.expand(B, T, d, d, d), drive)  # (B, T, row, d)
by_scan = (W @ q[:, :, 0, :, None])[..., 0].unsqueeze(2)
print("loop, chunks and scan agree: "
      f"{all(torch.allclose(by_loop, other, atol=1e-4) for other in (by_chunk, by_scan))}")
print(f"numbers of a transition that must be kept for {T} steps: {T * d * d} as blocks, "
      f"{T * (d + 1)} as k and beta")

# %% [markdown]
# **A constant transition** needs no scan at all. Then $x_t = \sum_s A^{t-s} b_s$ is a convolution, and the FFT computes it in $O(T \log T)$ for all $t$ at once. This is how S4 and DLR run (chapter 05). It is impossible as soon as $A_t$ depends on the input.

# %%
from lrnnlab.scans.convolution import long_conv, vandermonde

H, N, T = 3, 4, 1000
draw.manual_seed(11)
log_lambda = torch.complex(
    -0.05 * torch.rand(H, N, generator=draw), 3 * torch.rand(H, N, generator=draw)
)
C = torch.complex(*torch.randn(2, H, N, generator=draw))
u = torch.randn(2, T, H, generator=draw)
y_conv = long_conv(u, vandermonde(log_lambda, C, T))
x = linear_scan(log_lambda.exp().flatten(), u.repeat_interleave(N, 2).to(torch.complex64))
y_scan = (C * x.unflatten(2, (H, N))).sum(-1).real
print(
    "convolution and scan agree to 1e-4 of the largest: "
    f"{bool((y_conv - y_scan).abs().max() < 1e-4 * y_scan.abs().max())}"
)

# %% [markdown]
# **Exercise 10** ★★ *(15 min, 4 points: how a GPU would scan long strings)* Here is a scan in **chunks**. Cut the
# $T$ steps into $T/c$ chunks of $c$. Compute the pair of every chunk by a loop inside it, all chunks at once; then
# go through the chunks by a loop, for the state at the end of each; then loop inside all chunks once more for the
# states. How many multiplications is that, and what is the depth? For which $c$ is the depth least?

# %% [markdown]
# <!-- Exercise 03.10: from notebooks/workbook/exercises/ch03.md, by lrnnlab book build; change it there. -->
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
# | transition | road | why |
# |---|---|---|
# | the same at every step | convolution | no state need be kept, and the kernel is made once |
# | one of a few ($V$ letters) | token table and loop | $A$ need not be read |
# | diagonal, on a GPU, long strings | tree | no $b^3$, and depth counts |
# | $I - \beta k k^\top$ | chunks | large matrix products in place of a scan |
# | blocks, many chains | compiled loop | the least work; the chains keep every processor busy |
# | blocks, few chains, long strings, very many processors | chunks, then a tree over chunks | here the tree's depth is worth its work |
#
# ## 10 Where the paper says something else
#
# | the paper | what we found |
# |---|---|
# | "computational complexity [...] $O(b^3 h \log T)$" (3.4) | that is the depth, with a processor for every two positions; the work is $\Theta(b^3 h T \log T)$ (section 3), 33 times the loop's at $T = 500$, $b = 8$ |
# | "$\lceil \log_2 L \rceil$ steps" | right, with $x_0$ counted in $L$: $\lceil \log_2 (T+1) \rceil$ for $T$ inputs |
# | listing A.2.1 runs $\lceil \log_2(\text{seq\_len}) \rceil$ times | no level at all for one input, where one is needed; A.2.2 has it right |
# | "Sequential and PScan are equivalent" (A.2.2) | as real numbers; in floats they differ in the last digits, and PScan can give NaN where the loop does not (section 8) |
# | $b^3$ is why PScan is no faster at test time (4.5) | likely part of it; what both ways share can do the same, and the three numbers cannot tell (section 5) |
# | training gains "due to the improved backpropagation path" (4.5) | "we hypothesize", they say, and there is a reason: listing A.2.2 and the released sequential loop index `A[:, i]`, so their backward pass is quadratic (section 8 measures by how much), and PScan's is not. Which loop was timed is not said. Beside a loop that unbinds PScan loses in training too, on one CPU thread (section 5) |
#
# ## 11 What this does not show
#
# * **Nothing about a GPU.** The recorded numbers are of CPU threads. The model of section 4 says where a GPU would differ, but a model is not a measurement.
# * **Not that trees are bad.** For $b = 1$, few chains and long strings they are the right thing on parallel hardware.
# * **Not how fast the peers can be.** Each was called as its documentation has it, on shapes of ours, on one kind of machine.
# * **Not that a fast scan makes a fast model.** In section 5 most of the time is spent on making $A_t$.
#
# ## What you have learned
#
# 1. Two steps $x \mapsto A_tx + b_t$ compose to one, and composition is associative; all parallel scans rest on this.
# 2. PScan needs $\lceil\log_2(T+1)\rceil$ levels and gives the loop's states: proved, for matrices of every size, as real numbers.
# 3. Its work is $\Theta(b^3hT\log T)$, 33 times the loop's at $T = 500$, $b = 8$; a tree with fewer than $T$ products exists. In the model of section 4 depth pays only with very many processors.
# 4. Most of a model's time was not the scan but making $A_t$; with few letters a token table saves it.
# 5. In floats brackets matter: digits differ, products overflow where states do not; and a loop that indexes makes the backward pass quadratic.

# %% [markdown]
# ## 12 Exercises
#
# They stand in the sections that they are about. `hint("03.1")` and `solution("03.1")` show what is folded there.

# %% [markdown]
# <!-- The exercises of this chapter, listed by lrnnlab book build. -->
#
# 10 exercises, 33 points, about 85 minutes:
#
# | exercise | section | difficulty | minutes | points | you will learn |
# |---|---|---|---|---|---|
# | 1 | [1 Why it can be a tree](#1-Why-it-can-be-a-tree) | ★ | 5 | 2 | that in floats a tree and a loop are two sums |
# | 2 | [1 Why it can be a tree](#1-Why-it-can-be-a-tree) | ★★ | 10 | 4 | what else than A x + b can be scanned |
# | 3 | [2 The paper's scan, level by level](#2-The-paper's-scan,-level-by-level) | ★ | 5 | 2 | how to count the work of a parallel scan |
# | 4 | [3 Depth against work](#3-Depth-against-work) | ★★ | 10 | 4 | how an induction counts the products of a tree |
# | 5 | [3 Depth against work](#3-Depth-against-work) | ★★ | 10 | 4 | to see what a test of a scan does not try |
# | 6 | [4 Where does each win?](#4-Where-does-each-win?) | ★★ | 10 | 4 | when more work in less depth pays |
# | 7 | [6 The token table](#6-The-token-table) | ★ | 5 | 3 | when a table of letters saves memory |
# | 8 | [7 The recorded benchmark](#7-The-recorded-benchmark) | ★ | 10 | 3 | that a step costs more than its arithmetic |
# | 9 | [8 Numerics: what overflows, and what never to do](#8-Numerics:-what-overflows,-and-what-never-to-do) | ★ | 5 | 3 | which products a tree makes |
# | 10 | [9 Two other roads](#9-Two-other-roads) | ★★ | 15 | 4 | how a GPU would scan long strings |

# %% [markdown]
# ## Read on
#
# * T.-H. Fan, T.-C. Chi, A. Rudnicky: *Advancing Regular Language Reasoning in Linear Recurrent Neural Networks*, 2024, [arXiv:2309.07412](https://arxiv.org/abs/2309.07412): the paper of this chapter.
# * W. D. Hillis, G. L. Steele: *Data Parallel Algorithms*, 1986, [doi:10.1145/7902.7903](https://doi.org/10.1145/7902.7903): the scan by doubling, with more work and less depth.
# * G. E. Blelloch: *Prefix Sums and Their Applications*, 1990, report CMU-CS-90-190: the tree with up- and down-pass, and scans of recurrences.
# * R. P. Brent: *The Parallel Evaluation of General Arithmetic Expressions*, 1974, [doi:10.1145/321812.321815](https://doi.org/10.1145/321812.321815): time from work and depth.
# * E. Martin, C. Cundy: *Parallelizing Linear Recurrent Neural Nets Over Sequence Length*, 2018, [arXiv:1709.04057](https://arxiv.org/abs/1709.04057).
# * S. Yang and others: *Parallelizing Linear Transformers with the Delta Rule over Sequence Length*, 2024, [arXiv:2406.06484](https://arxiv.org/abs/2406.06484): the chunks of section 9.
# * Y. H. Lim and others: *Parallelizing Non-Linear Sequential Models over the Sequence Length*, 2024, [arXiv:2309.12252](https://arxiv.org/abs/2309.12252): Newton's method with a scan in each step.
