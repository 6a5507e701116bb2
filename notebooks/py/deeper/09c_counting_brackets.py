# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 09c · Counting brackets
#
# How much can one layer of addition remember, and how many bits does its counting take? *It takes* about 20 min to read and 15 min for the exercises. Read [chapter 09](../09_fast_weights.ipynb) first.

# %% jupyter={"source_hidden": true} tags=["hide-input"]
from fractions import Fraction
from itertools import product

import numpy as np
import sympy as sp

import lrnnbook
from lrnnbook import show
from lrnnbook.content.chapters import fast_weight_solutions as fw
from lrnnbook.content.exercises import check, hint, solution

lrnnbook.needs("0.1")

# %% [markdown]
# ## 1 How much one layer of addition can remember
#
# **Claim (Proposition 3.4, made exact).** Without positions a sum does not see an order: one layer's output is a function of *how often each token occurred, and of the last token*. We call this pair the word's *configuration*.
# After $n$ tokens of $|\Sigma|$ kinds there are $|\Sigma|\binom{n+|\Sigma|-2}{|\Sigma|-1}$ of them, which takes $(|\Sigma|-1)\log_2 n + O(1)$ bits.
#
# **Step 1.** The sum over positions is a sum over tokens, each times its count: $y = \sum_c n_c\,v_c\,(k_c\cdot q)$, over $\sum_c n_c\,(k_c\cdot q)$ if normalised, with the query $q$ of the last token.
# **Sample:** three random layers in fractions, every word of up to 4 tokens of three kinds.

# %% tags=["proof-prop_3_4"]
layers = [fw.random_layer(np.random.default_rng(seed), 3, 3, 2) for seed in range(3)]
token_words = [word for n in range(1, 5) for word in product(range(3), repeat=n)]

def by_counts(layer, word, rule):
    q, counts = layer.queries[word[-1]], np.array([word.count(c) for c in range(3)])
    weights = counts * (layer.keys @ q)
    return weights @ layer.values / (weights.sum() if rule == "normalised" else 1)

for rule in ("sum", "normalised"):
    for layer in layers:
        alike = [
            (fw.outputs(layer, word, rule)[-1] == by_counts(layer, word, rule)).all()
            for word in token_words
        ]
        assert all(alike), (
            "Proposition 3.4, step 1: the output is a function of the counts and the last token"
        )
print(f"{len(token_words)} words, {len(layers)} layers, both rules:",
      "the order before the last token plays no part")  # fmt: skip

# %% [markdown]
# **Step 2.** The number of configurations: the last token is one of $|\Sigma|$, and the other $n - 1$ are spread over $|\Sigma|$ kinds. **Counted** for
# 2 to 4 kinds, 1 to 5 tokens.

# %% tags=["proof-prop_3_4"]
seen = {(V, n): len({(tuple(sorted(word)), word[-1]) for word in product(range(V), repeat=n)})
        for V in (2, 3, 4) for n in range(1, 6)}  # fmt: skip
print("three kinds, n = 1..5:", [seen[3, n] for n in range(1, 6)])
assert all(there == V * sp.binomial(n + V - 2, V - 1) for (V, n), there in seen.items()), (
    "Proposition 3.4, step 2: their number"
)

# %% [markdown]
# **Step 3.** No smaller number will do: a layer with general weights tells all configurations of one length apart. Take two of them. Each value
# gets a share of the answer, $n_c\,(k_c\cdot q)$ over their sum.
#
# * If the counts differ, take equal keys and queries. Both counts add up to the length, so the shares differ.
# * If only the last token differs, at least two kinds occur. Choose their queries so that the shares differ.
#
# Where shares differ, the answers differ for some values. So the two answers are different rational functions of the weights. They agree only
# on a set of measure 0, and there are countably many pairs. **Sample:** three kinds, up to 4 tokens, the best of the three layers.

# %% tags=["proof-prop_3_4"]
told = [
    len({(len(word), *by_counts(layer, word, "normalised")) for word in token_words}) for layer in layers
]
configurations = sum(seen[3, n] for n in range(1, 5))
print(f"outputs told apart, by layer: {told}; configurations of up to 4 tokens: {configurations}")
assert max(told) == configurations, "Proposition 3.4, step 3: a general layer tells all of them apart"

# %% [markdown]
# **Step 4.** In bits: the number over $n^{|\Sigma|-1}$ has the limit $|\Sigma|/(|\Sigma|-1)!$. So its logarithm is $(|\Sigma|-1)\log_2 n$ plus a constant in the limit. $\blacksquare$

# %% tags=["proof-prop_3_4"]
n = sp.Symbol("n", positive=True)
for V in (2, 3, 4, 5):
    count = V * sp.prod(n + j for j in range(V - 1)) / sp.factorial(V - 1)  # the binomial, written out
    limit = sp.limit(count / n ** (V - 1), n, sp.oo)
    assert all(count.subs(n, m) == V * sp.binomial(m + V - 2, V - 1) for m in range(1, 9)), (
        "Proposition 3.4, step 4: written out"
    )
    assert limit == sp.Rational(V, sp.factorial(V - 1)), (
        "Proposition 3.4, step 4: (V - 1) log2 n + O(1) bits"
    )
    print(f"{V} kinds: {V - 1} log2 n + {float(sp.log(limit, 2)):.2f} + o(1) bits")

# %% [markdown]
# **Break it.** The delta rule sees the order, and the proof falls at its first step:

# %% tags=["proof-prop_3_4"]
with show.expect_failure("Proposition 3.4, step 1"):
    for layer in layers:
        alike = [
            (fw.outputs(layer, word, "delta")[-1] == by_counts(layer, word, "sum")).all()
            for word in token_words
        ]
        assert all(alike), (
            "Proposition 3.4, step 1: the output is a function of the counts and the last token"
        )

# %% [markdown]
# **Exercise 8** ★★★ *(15 min, 5 points: to count what positions add)* **A proof step.** Let keys, values and
# queries depend on the token *and* on whether its position is odd or even. On what does the layer's output depend now?
# Count these configurations after $n$ tokens, as a function of $n$ and $|\Sigma|$. How many bits are they? And where does
# the proof of Proposition 3.4 break for two layers?

# %%
my_configurations = None  # with odd and even positions: a function of n and of the number of kinds of tokens
check("09.8", my_configurations)

# %% [markdown]
# <!-- Exercise 09.8: from notebooks/lrnnbook/content/exercises/ch09.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint 1</summary>
#
# Split the sum of step 1 into the odd and the even positions. Which of the two halves holds the last token?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# Fix the last token. How many tokens are left to be spread in its half, and how many in the other?
#
# </details>
#
# <details><summary>Hint 3</summary>
#
# What does the second layer add up?
#
# </details>

# %% [markdown]
# ## 2 Counting, and the bits it takes
#
# **Proposition 3.2** holds, and addition is good at counting. But any way of counting takes about $\log_2 n$ bits, so "finite precision" (the
# paper, section 1) cannot mean a fixed number of them. And a counter that is divided by $n$ has a margin that shrinks as $1/n$.
#
# **Claim (bits).** Counting takes about $\log_2 n$ bits, and no fixed number is enough. The counter is one head with equal keys and the values 1 and $-1$, on all words of up to 7 letters.
#
# **Step 1.** Normalised, the least answer that is not 0 is $1/n$ for odd $n$ and $2/n$ for even $n$.

# %% tags=["proof-bits"]
answers = {n: {Fraction(sum(word), n) for word in product((1, -1), repeat=n)} for n in range(1, 8)}
margins = {n: min(abs(y) for y in answers[n] if y) for n in answers}
print("margin by length:", {n: str(margin) for n, margin in margins.items()})
assert all(margins[n] == Fraction(2 - n % 2, n) for n in margins), (
    "Bits, step 1: the normalised margin shrinks as 1/n"
)

# %% [markdown]
# **Step 2.** Not normalised, it is 1 for odd $n$ and 2 for even $n$: it stays.

# %% tags=["proof-bits"]
whole = {n: {n * y for y in answers[n]} for n in answers}
assert all(min(abs(y) for y in whole[n] if y) == 2 - n % 2 for n in whole), (
    "Bits, step 2: unnormalised, it stays"
)
print("unnormalised:", {n: str(min(abs(y) for y in whole[n] if y)) for n in whole})


# %% [markdown]
# **Step 3.** *Any* recogniser of Dyck-1 (balanced brackets) needs that many bits. It must tell the beginnings $(^d$, $d = 0, \dots, n/2$, apart,
# because the ending $)^d$ is right after only one of them. So it has at least $n/2 + 1$ states. **Checked for all $d \le 12$.**

# %% tags=["proof-bits"]
def balanced(text):
    while "()" in text:
        text = text.replace("()", "")
    return not text

accepts = [[balanced("(" * d + ")" * e) for e in range(13)] for d in range(13)]
assert accepts == np.eye(13, dtype=bool).tolist(), "Bits, step 3: )^d is right after (^d alone"
print(f"n = 24: at least {len(accepts)} states, {np.log2(13):.1f} bits")

# %% [markdown]
# **Step 4.** The counter needs only a little more: $2n + 1$ values after up to $n$ letters.

# %% tags=["proof-bits"]
reached = {n: len(set().union({0}, *(whole[m] for m in range(1, n + 1)))) for n in whole}
print("values after up to n letters:", reached)
assert all(count == 2 * n + 1 for n, count in reached.items()), "Bits, step 4: 2n + 1 values"

# %% [markdown]
# **Step 5.** On a grid of $b$ binary digits after the point, an excess of one pair, $2/n$, is rounded to 0 at $n = 2^{b+2}$, and not at any smaller
# even $n$. **All $b \le 8$.**

# %% tags=["proof-bits"]
lost = {b: next(n for n in range(2, 2**12, 2) if round(Fraction(2, n) * 2**b) == 0) for b in range(1, 9)}
print("lost at n =", lost)
assert all(n == 2 ** (b + 2) for b, n in lost.items()), (
    "Bits, step 5: a grid of b bits loses a pair at 2^(b+2)"
)

# %% [markdown]
# **Step 6.** A float32 counter, which has 24 binary digits, stops at $2^{24}$. $\blacksquare$

# %% tags=["proof-bits"]
full = np.float32(2**24)
print(f"2^24 + 1 = {full + np.float32(1):.0f} in float32, 2^24 = {full:.0f}")
assert full + np.float32(1) == full and full - np.float32(1) != full, (
    "Bits, step 6: float32 counts to 2^24"
)

# %% [markdown]
# **Break it.** The margin of step 1 without the division:

# %% tags=["proof-bits"]
with show.expect_failure("Bits, step 1"):
    margins = {n: min(abs(y) for y in whole[n] if y) for n in whole}
    assert all(margins[n] == Fraction(2 - n % 2, n) for n in margins), (
        "Bits, step 1: the margin shrinks as 1/n"
    )

# %% [markdown]
# ## 3 Two kinds of brackets
#
# **Claim (Proposition 3.2).** Two layers, normalised or not, recognise Shuffle-2 exactly: words over two kinds of brackets that are balanced if you look at
# either kind alone. One layer cannot.
#
# **Step 1.** One head a kind, with $v = 1$ and $-1$ for its brackets and 0 for the others, says how many of that kind are open. **All words of
# up to 4 tokens.**

# %% tags=["proof-prop_3_2"]
bracket_values = np.array([[1, 0], [-1, 0], [0, 1], [0, -1]])  # tokens ( ) [ ]
kinds = fw.table([[1]] * 4, [[1]] * 4, bracket_values)
for word in (word for n in range(1, 5) for word in product(range(4), repeat=n)):
    opened = [word.count(0) - word.count(1), word.count(2) - word.count(3)]
    assert fw.outputs(kinds, word)[-1].tolist() == opened, (
        "Proposition 3.2, step 1: a layer counts what is open"
    )
print("([( ->", fw.outputs(kinds, (0, 2, 0))[-1].tolist())


# %% [markdown]
# **Step 2.** A word is in the language if and only if both counts are 0 at the end and were never negative. The second layer sums
# $\mathrm{ReLU}(-\text{count})$ over all positions. That sum is 0 if and only if no count was negative. Normalised layers divide by lengths: the
# count at position $t$ by $t$, the sum by the number of tokens. No sign changes by that, and nothing becomes 0, so NLTs do it too.
# **All words of up to 6 tokens**, compared with taking out pairs.

# %% tags=["proof-prop_3_2"]
def removed(word, kind):
    text = "".join("()"[c % 2] for c in word if c // 2 == kind)
    while "()" in text:
        text = text.replace("()", "")
    return text

def two_layers(word, normalised=False):
    counts = bracket_values[list(word)].cumsum(0)
    if normalised:
        counts = counts / np.arange(1, len(word) + 1)[:, None]
    total = np.maximum(-counts, 0).sum()
    return not counts[-1].any() and not (total / len(word) if normalised else total)

recognise = two_layers
bracket_words = [word for n in range(1, 7) for word in product(range(4), repeat=n)]
wrong = [w for w in bracket_words if recognise(w) != (removed(w, 0) == removed(w, 1) == "")]
assert not wrong, "Proposition 3.2, step 2: exactly Shuffle-2"
assert all(recognise(word) == two_layers(word, normalised=True) for word in bracket_words), (
    "Proposition 3.2, step 2: normalised"
)
print(f"{len(bracket_words)} words, {len(wrong)} wrong")

# %% [markdown]
# **Step 3.** One layer is not enough: `(())` and `)(()` have the same configuration, so by Proposition 3.4 the same answer. But only one of them is in
# the language. $\blacksquare$

# %% tags=["proof-prop_3_2"]
pair = [(0, 0, 1, 1), (1, 0, 0, 1)]
assert fw.configuration(pair[0]) == fw.configuration(pair[1]), (
    "Proposition 3.2, step 3: one configuration"
)
assert [removed(word, 0) == "" for word in pair] == [True, False], "Proposition 3.2, step 3: two labels"
print("what one layer sees of both:", fw.configuration(pair[0]))

# %% [markdown]
# **Break it.** Without the second layer, step 2:

# %% tags=["proof-prop_3_2"]
with show.expect_failure("Proposition 3.2, step 2"):
    recognise = lambda word: not bracket_values[list(word)].sum(0).any()
    wrong = [w for w in bracket_words if recognise(w) != (removed(w, 0) == removed(w, 1) == "")]
    assert not wrong, "Proposition 3.2, step 2: exactly Shuffle-2"

# %% [markdown]
# ## Exercises
#
# You will find each exercise in its section. Stuck? `hint("09.8")`. Done? Compare with `solution("09.8")`.

# %% [markdown]
# <!-- The exercises of this chapter, listed by lrnnlab book build. -->
#
# 1 exercise, 5 points, about 15 minutes:
#
# | exercise | section | difficulty | minutes | points | you will learn |
# |---|---|---|---|---|---|
# | 8 | [1 How much one layer of addition can remember](#1-How-much-one-layer-of-addition-can-remember) | ★★★ | 15 | 5 | to count what positions add |
#
# <details><summary>Solution of 09.8</summary>
#
# The sum of step 1 now has a term for each token *and* each of the two kinds of positions. So the output is a
# function of how often each token occurred at the odd and how often at the even positions, and of the last token. With the
# last token, $p = \lceil n/2\rceil$ positions are of its kind and $q = \lfloor n/2\rfloor$ of the other. One of the $p$ holds
# it; the other $p - 1$ are spread over $|\Sigma|$ kinds of tokens, and so are the $q$:
#
# $$|\Sigma|\,\binom{p+|\Sigma|-2}{|\Sigma|-1}\,\binom{q+|\Sigma|-1}{|\Sigma|-1},$$
#
# `lambda n, s: s * sp.binomial((n + 1) // 2 + s - 2, s - 1) * sp.binomial(n // 2 + s - 1, s - 1)`. In bits
# that is $2\,(|\Sigma|-1)\log_2 n + O(1)$: twice as many as without positions, and still a multiple of $\log_2 n$. In the second
# layer keys and values are made of the first layer's outputs, which depend on the counts *so far*: the sum runs over
# prefixes, and the order comes in.
#
# </details>
