# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 08g · Text and cost
#
# Does it carry over to natural language, what breaks beyond $C^2$ letters, and what does the model cost? *It takes* about 15 min to read and 10 min for the exercises. Read [chapter 08](../08_working_memory_in_depth.ipynb) first.

# %% jupyter={"source_hidden": true} tags=["hide-input"]
import itertools
import math
from fractions import Fraction

import sympy as sp

import lrnnbook
from lrnnbook import show
from lrnnbook.content.chapters import ch08
from lrnnbook.content.exercises import check, hint, solution
from lrnnbook.content.show import regulargpt_figures
from lrnnbook.content.tables import results
from lrnnbook.machinery.bench.steps import tree_ratio, tree_step

lrnnbook.needs("0.1")

# %% [markdown]
# ## 1 Natural language
#
# > **The paper, section 6.** "we first observe exploding perplexities for $C = 32$ after $L_{ex} \ge 2048$. RegularGPT might only
# > learn to model $\lceil\log_{32} 512\rceil = 2$ layers during training, hence it fails to recursively model more than $32^2 = 1024$
# > tokens during inference."
#
# The paper trains on OpenWebText2, which we may not ship. **In its place** we take the characters of Python's own help texts, with short
# pieces in training and smaller $C$: for $C = 8$ and 16 the ratio of $C^2$ to the trained length, 2 and 8, is that of the paper's 32 and
# 64. In the tables $C / K$ means chunks of $C$ and $K$ different layers at every depth (the paper calls $K$ the thickness). You cannot
# compare the numbers of the two texts, but you can compare their *shapes*. (`lrnnlab reproduce regulargpt/table3 --budget desk`.)

# %% jupyter={"source_hidden": true} tags=["hide-input", "nbval-ignore-output"]
text = results.runs("regulargpt/table3")
show.figure(
    regulargpt_figures.perplexity_by_length(text),
    alt="Left, recorded: perplexity of the last character by length, over that at the "
        "trained length, means and ranges of three seeds. Right, the paper's, words, 512 "
        "to 8,192. In both the curves of RegularGPT with small chunks jump up where the "
        "length passes C squared (with GPT-2's blocks hardly); on the left, held to two depths, "
        "they stay level. T5 rises from the start on the left, late "
        "on the right; KERPLE and ALiBi stay almost level.",
    caption="What to see: beyond C squared the thick lines rise, as in the paper. Thin "
            "lines: the same nets, held to the two depths that they were trained with.",
)  # fmt: skip
show.table(
    ch08.rows_of_perplexities(text),
    caption="Recorded, on characters: perplexity of the last one after so many, mean and "
            f"range of three seeds. Guessing by frequency: {text['unigram'].iloc[0]:.1f}.",
)  # fmt: skip
show.table(
    ch08.rows_of_table_3(),
    caption="The paper, on words: perplexity of the last one after so many.",
)


# %% [markdown]
# **What breaks?** Two things happen past $C^2$. The text is longer than the word of a node after two depths; and the layers run a *third* time, on
# outputs of their own that they were never trained on. The thin lines separate the two. These nets are held to two depths, so they miss
# the earlier letters as well, but no layer runs a third time. Where a thick line jumps and its thin one stays level, it is the untrained
# depth that does the harm, and not the missing letters. On regular languages a further time is no harm, because there every depth does
# the same.
#
# > **The paper, section 7.4.** "RegularGPT settles on the local windowed-attention pattern".
#
# With thickness $K > 1$ the window is wider than $C^2$, too: each of the $K$ layers of a depth slides, and together they look
# $K(C-1)C^\ell$ back, $K(C^2 - 1)$ after two depths.
#
# ## 2 What it costs
#
# > **The paper, section 3.4.** "if $T = 512$ and $C = 128$, then $512 \cdot 128 \cdot K \log_{128} 512 < 512^2 L$ when
# > $K < \frac{512 L}{128 \log_{128} 512} \approx 3.11 L$. Namely, as long as $K < 3L$, our model is likely to be more
# > efficient than a vanilla Transformer."
#
# ($K$ layers are used at every depth, $L$ is the number of the Transformer's layers.)
#
# **Claim (the cost).** At $T = 512$ and $C = 128$ the condition is $K < 2L$ for attention alone, and $K < 0.54\,L$ for whole layers.
#
# **Step 1.** The arithmetic is right: $T / (C \log_C T) = 3.11$.
#
# **Step 2.** But depths are whole: $\lceil\log_{128} 512\rceil = 2$, not 1.29. So attention alone is cheaper only if $K < 2L$.

# %% tags=["proof-cost"]
def depths(T, C):
    return next(depths for depths in itertools.count(1) if C**depths >= T)


T, C = 512, 128
assert round(T / (C * math.log(T, C)), 2) == 3.11, "The cost, step 1: the ratio is 3.11"
whole = Fraction(T, C * depths(T, C))
assert whole == 2, "The cost, step 2: two depths"
print(f"log_{C} {T} = {math.log(T, C):.2f}, {depths(T, C)} depths: K < {whole} L")

# %% [markdown]
# **Step 3.** And only attention is counted. A layer of width $d$ has $12 d^2$ weights: four $d \times d$ for queries, keys, values and
# output, two $d \times 4d$ in the feed-forward network. With $d = 768$ and GPT-2's 50,257 words this gives the 81 M ($K = 6$) and 123 M
# ($K = 12$) parameters of the paper's Table 5, so this is the model that is meant.
#
# **Step 4.** Each weight is a multiplication and an addition for every token, $24 d^2$ in all; every key that a query is compared with
# costs $4d$. At $T = 512$ attention is a tenth of a layer, if every query sees all keys, and less if it sees the earlier ones only.

# %% tags=["proof-cost"]
d = 768
weights = sum(rows * columns for rows, columns in [(d, d)] * 4 + [(d, 4 * d), (4 * d, d)])
assert weights == 12 * d**2, "The cost, step 3: the weights of a layer"
assert [(K * weights + 50257 * d) // 10**6 for K in (6, 12)] == [81, 123], (
    "The cost, step 3: the parameters of Table 5"
)


def layer(keys):
    """Multiplications and additions for one token: weights, scores and mixture of so many keys."""
    return 2 * weights + 2 * (d * keys + keys * d)


attention = [1 - Fraction(layer(0), layer(keys)) for keys in (512, Fraction(513, 2))]
assert 0 < attention[1] < attention[0] <= Fraction(1, 10), (
    "The cost, step 4: attention is a tenth of a layer at most"
)
print(f"attention's share of a layer: {float(attention[0]):.1%} (all keys),",
      f"{float(attention[1]):.1%} (earlier ones)")  # fmt: skip

# %% [markdown]
# **Step 5.** Counted in whole layers, RegularGPT is cheaper only for $K < 0.54\,L$: with as many layers as the Transformer it costs more.
#
# **Step 6.** With $K = L$ and two depths it pays from $T = 6d + 2C$ on: solve $24 d^2 + 4 d T = 2\,(24 d^2 + 4 d C)$.
#
# **Step 7.** Two depths are enough for $C^2$ letters: 1,024 for $C = 32$ and 4,096 for $C = 64$. Beyond that a third depth runs. In the
# paper's Table 3 the perplexity explodes at the first tested length beyond that, for these two, and nowhere else. $\blacksquare$

# %% tags=["proof-cost"]
ratio = Fraction(layer(T), depths(T, C) * layer(C))
assert ratio < 1 and round(float(ratio), 2) == 0.54, "The cost, step 5: cheaper for K < 0.54 L only"
t, c, D = sp.symbols("T C d", positive=True)
pays = sp.solve(sp.Eq(24 * D**2 + 4 * D * t, 2 * (24 * D**2 + 4 * D * c)), t)
assert pays == [6 * D + 2 * c], "The cost, step 6: it pays from T = 6 d + 2 C on"
lengths = (512, 1024, 2048, 4096, 8192)
perplexity = {
    row["model (C / K)"]: [row[str(length)] for length in lengths] for row in ch08.rows_of_table_3()
}
for chunk in (32, 64, 128, 256):
    row = perplexity[f"{chunk} / 6"]
    cliff = next((length for length, found in zip(lengths, row) if found > 10 * row[0]), None)
    due = next((length for length in lengths if length > chunk ** depths(512, chunk)), None)
    assert cliff == due, "The cost, step 7: the cliffs of Table 3"
    print(f"C = {chunk}: two depths, up to {chunk**2:,} letters; the perplexity explodes at {cliff}")
show.math(r"K = L \text{ pays from } T =", pays[0], rf"= {6 * d + 2 * C:,} \text{{ on}}".replace(",", "{,}"))

# %% jupyter={"source_hidden": true} tags=["hide-input"]
costs = [(C, depths(512, C)) for C in (32, 64, 128, 256)]
show.table(
    [{"C": C, "depths": n, "window": C**n, "printed": 512 / (C * math.log(512, C)),
      "attention": 512 / (C * n), "whole layers": layer(512) / (n * layer(C))} for C, n in costs],
    caption="K/L below which RegularGPT is cheaper at T = 512, width 768: as printed, with "
            "whole depths, and with whole layers (below 1: with as many layers it costs more). "
            "The window is what its depths see.",
    formats={"printed": ".2f", "attention": ".2f", "whole layers": ".3f"},
)  # fmt: skip

# %% [markdown]
# **Break it:** take the logarithm for the number of depths, as printed.

# %% tags=["proof-cost"]
with show.expect_failure("The cost, step 2"):
    whole = 512 / (128 * math.log(512, 128))
    assert whole == 2, f"The cost, step 2: {whole:.2f}, with 1.29 depths"

# %% [markdown]
# All this is about the model *with masks*, which answers at every position. For one answer a string the tree does far less: each
# depth has only one in $C$ positions of the depth before. Live, a training step of the same weights, $T = 512$:

# %% tags=["varies", "nbval-ignore-output"]
for chunk in (2, 128):
    print(f"C = {chunk}: masks take {tree_ratio(tree_step(chunk, rounds=3)):.1f} times as long as the tree")

# %% [markdown]
# **Exercise 14** ★ *(10 min, 2 points: to count costs with whole depths)* $T = 512$, $C = 64$: below which
# $K/L$ is attention cheaper, with whole depths?

# %%
my_threshold = None  # a number
check("08.14", my_threshold)

# %% [markdown]
# <!-- Exercise 08.14: from notebooks/lrnnbook/content/exercises/ch08.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint</summary>
#
# With chunks of 64, 512 letters take two depths.
#
# </details>

# %% [markdown]
# ## Exercises
#
# You will find each exercise in its section. Stuck? `hint("08.14")`. Done? Compare with `solution("08.14")`.

# %% [markdown]
# <!-- The exercises of this chapter, listed by lrnnlab book build. -->
#
# 1 exercise, 2 points, about 10 minutes:
#
# | exercise | section | difficulty | minutes | points | you will learn |
# |---|---|---|---|---|---|
# | 14 | [2 What it costs](#2-What-it-costs) | ★ | 10 | 2 | to count costs with whole depths |
#
# <details><summary>Solution of 08.14</summary>
#
# 4: 512 letters take two depths of chunks of 64, and $512/(64 \cdot 2) = 4$. (Printed with
# $\log_{64} 512 = 1.5$ it would be $5.33$.)
#
# </details>
