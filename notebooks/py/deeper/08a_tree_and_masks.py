# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 08a · Tree and masks
#
# Does every letter reach the root by exactly one route, how large is the tree, and are the tree and the masks one model? *It takes* about 15 min to read and 10 min for the exercises. Read [chapter 08](../08_working_memory_in_depth.ipynb) first.

# %% jupyter={"source_hidden": true} tags=["hide-input"]
import itertools
import math
from collections import Counter
from fractions import Fraction

import numpy as np
import sympy as sp
import torch

import lrnnbook
from lrnnbook import show
from lrnnbook.content.chapters import ch08
from lrnnbook.content.exercises import check, hint, solution
from lrnnbook.content.show.widgets import explore
from lrnnbook.content.tables import regulargpt_table1
from lrnnbook.content.tables.lrnn_fig1 import schedule
from lrnnlab.models.layers.attention import dilated_mask

lrnnbook.needs("0.1")

# %% jupyter={"source_hidden": true} tags=["hide-input", "nbval-ignore-output"]
show.figure(
    ch08.routes_picture(),
    alt="Two rows of square masks over 27 letters in chunks of three. Above, with steps 1, 3 and 9, three masks of three diagonals each "
        "make a full triangle of ones: one route to each earlier letter. Below, with steps 1, 2 and 4, the diagonals lie closer, and the "
        "routes form a narrow band with one, two or three of them, and nothing beyond 14 letters.",
    caption="Rows see columns, C = 3. What to see: with powers of three every earlier letter comes once. With powers of two some come two "
            "or three times, and far ones never.",
)  # fmt: skip

# %% [markdown]
# Here is the tree of the paper's Figure 1, for a task of yours, with the mask of every depth. Dots are what the masks compute for the
# other positions.
#
# *Try:* type a string of your own, of swaps `s` and turns `t` of three things. Make $C$ larger: you get fewer depths, but each merge
# has more to do. If a string does not fill its chunks, lines lead out of it.

# %% jupyter={"source_hidden": true} tags=["hide-input", "nbval-ignore-output"]
tree_widget = explore(
    ch08.chunk_tree,
    {
        "task": list(ch08.WORDS),
        "string": "",
        "C": list(ch08.CHUNKS),
        "order": list(ch08.ORDERS),
    },
    initial={"task": "S_3", "C": 2, "order": "earlier first"},
    sentence=ch08.tree_sentence,
    alt="The tree over the typed string, each node named by a shortest word that does the "
    "same, with the mask of every depth.",
)
tree_widget


# %% [markdown]
# ## 1 The depths suffice
#
# At depth $\ell = 0, 1, \dots$ position $m$ sees $m,\; m - C^\ell,\; m - 2\,C^\ell,\; \dots,\; m - (C-1)\,C^\ell$ (the paper's
# Eq. 1).
#
# **Claim (the depths).** After depth $\ell$ position $m$ has seen the $C^{\ell+1}$ letters that end at $m$, *each of them by exactly one
# route* (near the start: all there are). So $T \ge 2$ letters need $\lceil\log_C T\rceil$ depths, and no fewer are enough.
#
# **Step 1 (depth 0).** Position $m$ sees $m, m-1, \dots, m-C+1$: the distances $0$ to $C-1$, each by one route.
#
# **Step 2 (from $\ell - 1$ to $\ell$).** Position $m - j\,C^\ell$ holds the $C^\ell$ letters that end there, at distances
# $0, \dots, C^\ell - 1$ from it. For $j = 0, \dots, C-1$ these words are side by side: every distance below $C^{\ell+1}$
# is $j\,C^\ell + r$ with one $j$ and one $r$ (division with remainder). So the count of routes by distance is a one for each
# of $0, \dots, C^{\ell+1} - 1$, and nothing else. **All chunks $C \le 8$, four depths.**

# %% tags=["proof-depths"]
def routes(C, steps):
    """{distance: how many routes lead that far back}, for depths with these steps."""
    ways = Counter([0])
    for step in steps:
        ways = Counter({far: sum(ways[far - j * step] for j in range(C))
                        for far in {near + j * step for near in ways for j in range(C)}})  # fmt: skip
    return ways


for C in range(2, 9):
    assert routes(C, [1]) == Counter(range(C)), "The depths, step 1: one route to each of C letters"
    for depth in range(1, 4):
        ways = routes(C, [C**level for level in range(depth + 1)])
        assert ways == Counter(range(C ** (depth + 1))), (
            "The depths, step 2: one route to each of C^(depth + 1) letters"
        )
print(f"C = {C}, {depth + 1} depths: distances 0 to {max(ways):,}, routes to each: {set(ways.values())}")

# %% [markdown]
# In other words, *a distance has one way to be written in base $C$*, and digit $\ell$ says how many steps it takes at depth
# $\ell$.
#
# **Step 3 (the masks that run).** As matrices, with a 1 where a mask is open: the product of the masks of all depths has a 1
# for every letter up to the position, and no other number.

# %% tags=["proof-depths"]
for C, depths in ((2, 5), (3, 3), (5, 2)):
    T = C**depths
    masks = [
        np.isfinite(dilated_mask(T, C, depth).numpy()).astype(int) for depth in range(depths)
    ]
    seen = np.linalg.multi_dot(masks[::-1])
    assert np.array_equal(seen, np.tril(np.ones((T, T), dtype=int))), (
        "The depths, step 3: every letter is seen once"
    )
    print(f"C = {C}, T = {T}: {depths} masks, and every earlier letter is seen exactly once")


# %% [markdown]
# **Step 4 (how many depths).** A position has seen the whole string as soon as $C^{\ell+1} \ge T$. So the number of depths is the least
# $n$ with $C^n \ge T$, which is $\lceil\log_C T\rceil$. Floats can get it wrong: the released code computes $\log T / \log C$ and rounds
# up, and the quotient of two rounded logarithms may lie above a whole number.
# $\blacksquare$

# %% tags=["proof-depths"]
def least_depths(T, C):
    return next(depths for depths in itertools.count(1) if C**depths >= T)


assert all(C ** (least_depths(T, C) - 1) < T <= C ** least_depths(T, C)
           for C in range(2, 9) for T in range(2, 501)), (
    "The depths, step 4: the least number of depths"
)  # fmt: skip
off = [(C, T) for C in range(2, 6) for T in range(2, 501)
       if math.ceil(math.log(T) / math.log(C)) != least_depths(T, C)]  # fmt: skip
print(f"in floating point another number of depths, C = 2 to 5, T = 2 to 500: {off}")

# %% [markdown]
# ### Break a hypothesis: the steps
#
# *Exactly once* is what lets a merge be a composition. Let the step be $2^\ell$ whatever the chunk: with $C = 3$ some letters
# now come by two routes or more, and no tree is left.

# %% tags=["proof-depths"]
with show.expect_failure("The depths, step 2"):
    for C in range(2, 9):
        assert routes(C, [1]) == Counter(range(C)), "The depths, step 1: one route to each of C letters"
        for depth in range(1, 4):
            ways = routes(C, [2**level for level in range(depth + 1)])
            assert ways == Counter(range(C ** (depth + 1))), (
                "The depths, step 2: some letter has two routes"
            )
print(f"C = {C}, steps 1, 2: {ways.total()} routes to {len(ways)} letters")

# %% [markdown]
# **Exercise 6** ★ *(10 min, 2 points: to see why steps must be powers of the chunk)* **Break the hypothesis.** As above,
# $C = 3$, but steps of $2^\ell$, at two depths: 1, then 2. Which distances $m - n$ come by two routes?

# %%
my_twice = None  # a set of distances
check("08.6", my_twice)

# %% [markdown]
# <!-- Exercise 08.6: from notebooks/lrnnbook/content/exercises/ch08.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint</summary>
#
# Write down all sums of one of $0, 1, 2$ and one of $0, 2, 4$.
#
# </details>

# %% [markdown]
# ## 2 The same routes as a scan?
#
# > **The paper, section 4.** "the routing path specified by the parallel scan algorithm is the same as our
# > Sliding-Dilated-Attention".
#
# For the last of eight positions, yes. Here are the routes of paper 000's scan, read from the code that runs (chapter 03), beside those
# of the masks with $C = 2$:

# %%
scan = [{move.target: move.source for move in level} for level in schedule(8)]
for position in (7, 5):
    by_scan = [level.get(position) for level in scan]
    by_mask = [position - 2**depth if position >= 2**depth else None for depth in range(3)]
    print(
        f"position {position}: the scan reads {by_scan}, the masks {by_mask} (None: nothing): "
        f"{by_scan == by_mask}"
    )

# %% [markdown]
# Position 5 takes other routes. The masks slide: each position has a tree of its own, and every depth has $T$ nodes. (That is
# the scan of Hillis and Steele.) The paper's section 3.1 describes something else again, "non-overlapping chunks", which is how
# its released code works: a single tree, for the last position.
#
# ## 3 How large is the tree?
#
# Depth $\ell$ keeps every $C^{\ell+1}$-th position, so it has $\lceil T/C^{\ell+1}\rceil$ nodes.
#
# **Step 1.** $\lceil x\rceil < x + 1$, and $\sum_\ell T/C^{\ell+1} < T/(C-1)$: fewer than $T/(C-1) + \lceil\log_C T\rceil$ nodes
# in all. The first part is the geometric series, for any $C$. **All $T \le 2{,}000$, $C \le 8$.**

# %% tags=["proof-nodes"]
c, n = sp.symbols("C n", positive=True)
series = (1 - c**-n) / (c - 1)  # 1/C + 1/C^2 + ... + 1/C^n: the two lines say so by induction
assert sp.simplify(series.subs(n, 1) - 1 / c) == 0, "The tree, step 1: the series for n = 1"
assert sp.simplify(series.subs(n, n + 1) - series - c ** -(n + 1)) == 0, (
    "The tree, step 1: the series from n to n + 1"
)
show.math(r"\frac{1}{C} + \frac{1}{C^2} + \cdots + \frac{1}{C^n} =", series)
for C, T in itertools.product(range(2, 9), range(2, 2001)):
    depths = next(depths for depths in itertools.count(1) if C**depths >= T)
    nodes = sum(math.ceil(Fraction(T, C ** (depth + 1))) for depth in range(depths))
    assert nodes < Fraction(T, C - 1) + depths, "The tree, step 1: too many nodes"
print(f"the last of them: C = {C}, T = {T}, {depths} depths, {nodes} nodes")

# %% [markdown]
# ## 4 The same weights, both ways
#
# The model runs both ways on one set of weights: as a tree, which answers once, and with masks, which answer everywhere.

# %%
parity = regulargpt_table1.build_task({"task": "parity"})
both = regulargpt_table1.make_network("regulargpt_c2", parity, seed=0, width=32, padding="masked").eval()
agree = []
for T in range(1, 41):
    tokens = torch.randint(2, (4, T), generator=torch.Generator().manual_seed(T))
    answers = {}
    for both.form in ("tree", "masks"):
        answers[both.form] = both(tokens).detach()
    agree.append(torch.allclose(answers["tree"], answers["masks"][:, -1], atol=1e-5))
print(
    f"tree and masks give the last position the same answer, T = 1 to {len(agree)}: "
    f"{all(agree)}"
)
for name, row in (("RegularGPT", "regulargpt_c2"), ("Transformer, 5 layers", "transformer")):
    net = regulargpt_table1.make_network(row, parity, "paper", seed=0)
    print(f"{name}, width 256: {sum(p.numel() for p in net.parameters()):,} parameters")

# %% [markdown]
# The paper's Table 4 gives RegularGPT 4.3 M parameters. That is the *Transformer's* number; RegularGPT, which uses one layer
# at every depth, has less than a fifth of it.

# %% [markdown]
# ## Exercises
#
# You will find each exercise in its section. Stuck? `hint("08.6")`. Done? Compare with `solution("08.6")`.

# %% [markdown]
# <!-- The exercises of this chapter, listed by lrnnlab book build. -->
#
# 1 exercise, 2 points, about 10 minutes:
#
# | exercise | section | difficulty | minutes | points | you will learn |
# |---|---|---|---|---|---|
# | 6 | [1 The depths suffice](#1-The-depths-suffice) | ★ | 10 | 2 | to see why steps must be powers of the chunk |
#
# <details><summary>Solution of 08.6</summary>
#
# $\{2, 4\}$: $2 = 2 + 0 = 0 + 2$ and $4 = 2 + 2 = 0 + 4$.
#
# </details>
