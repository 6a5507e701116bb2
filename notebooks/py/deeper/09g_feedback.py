# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 09g · Feedback
#
# A rule that sees its own last answer keeps parity: how, and for how long? *It takes* about 20 min to read. Read [chapter 09](../09_fast_weights.ipynb) first.

# %% jupyter={"source_hidden": true} tags=["hide-input"]
from itertools import product

import numpy as np
import sympy as sp

import lrnnbook
from lrnnbook import show
from lrnnbook.content.chapters import fast_weight_solutions as fw
from lrnnbook.content.exercises import hint, solution

lrnnbook.needs("0.1")

# %% [markdown]
# ## 1 Recurrent Delta
#
# > **The paper, abstract.** "recurrent FWPs and self-referential weight matrices successfully overcome certain limitations of the LT, e.g., allowing for generalisation on the parity problem."
#
# Here are weights that do it.
#
# **Claim (Recurrent Delta).** One number of *Recurrent Delta* computes parity. A 1 writes $1 - \tanh(y_{t-1})/\tanh 1$ with strength $\sigma(40)$. A
# 0 writes the same with strength $\sigma(-40)$, next to nothing. The answer is right on every string of up to $10^{16}$ tokens (in real numbers).
#
# **Step 1.** What is written, $f(y) = 1 - \tanh(y)/\tanh 1$, takes 0 to 1 and 1 to 0.

# %% tags=["proof-recurrent_delta"]
y, feedback, gate = sp.Symbol("y", real=True), -1 / sp.tanh(1), 40
f = 1 + feedback * sp.tanh(y)
print("f(0) =", f.subs(y, 0), "  f(1) =", sp.simplify(f.subs(y, 1)))
assert f.subs(y, 0) == 1 and sp.simplify(f.subs(y, 1)) == 0, "Recurrent Delta, step 1: 0 -> 1 -> 0"

# %% [markdown]
# **Step 2.** The pair $\{0, 1\}$ *attracts*: $f'(0)f'(1) = 1/\sinh^2 1 = 0.724$ is below 1. So errors die out, while those of the delta rule at best
# persist.

# %% tags=["proof-recurrent_delta"]
multiplier = (sp.diff(f, y).subs(y, 0) * sp.diff(f, y).subs(y, 1)).rewrite(sp.exp)
print(f"f'(0) f'(1) = {float(multiplier):.4f}")
assert sp.simplify(multiplier - (1 / sp.sinh(1) ** 2).rewrite(sp.exp)) == 0 and multiplier < 1, (
    "Recurrent Delta, step 2: it attracts"
)

# %% [markdown]
# **Step 3.** How long? Let $\varepsilon$ be the error and $\sigma = \sigma(-40)$. Near its target the layer writes $f(y) = f(\text{target}) - \nu\,\delta$, with $\delta$ the signed error of $y$. By the mean value theorem $0 \le \nu \le L_0 = |f'(0)|$, and near 1 $0 \le \nu \le L_1 = |f'(0.9)|$ as long as $|\delta| \le 0.1$. So, up to a sign, a 0 takes $\delta$ to
# $\delta\,(1 - \sigma(1+\nu)) + \sigma$, and a 1 takes it to $\delta\,(\nu - \sigma(1+\nu)) + \sigma$. In words: a 0 adds at most $\sigma$ to
# $\varepsilon$. A 1 multiplies $\varepsilon$ by at most $L_0$ or $L_1$, and adds at most $\sigma$. (**Grid:** errors up to 0.1, with three larger
# $\sigma$; we allow $1.1\,\sigma$.)
#
# Now measure the state by $\varepsilon$ where it should be 1, and by $L_0\,\varepsilon$ where it should be 0. Since $L_0L_1 < 1$, this measure
# grows by at most $1.1\,L_0\,\sigma$ a token, and stays below 0.1 for more than $10^{16}$ tokens.

# %% tags=["proof-recurrent_delta"]
L0, L1 = (abs(float(sp.diff(f, y).subs(y, at))) for at in (0, 0.9))
sigma = float(1 / (1 + sp.exp(gate)))
lasts = 0.1 / (1.1 * L0 * sigma)
print(f"L0 = {L0:.3f}, L1 = {L1:.3f}, L0 L1 = {L0 * L1:.3f}; right for at least {lasts:.1e} tokens")
off = np.linspace(-0.1, 0.1, 2001)
for (at, L), rate in product(((0, L0), (1, L1)), (1e-2, 1e-4, 1e-6)):
    pull = 1 - np.tanh(at + off) / np.tanh(1) - (at + off)  # f(y) - y
    after = {0: abs(off + rate * pull), 1: abs(at + off + (1 - rate) * pull - (1 - at))}
    assert (after[0] <= abs(off) + rate + 1e-12).all(), (
        "Recurrent Delta, step 3: what a 0 does (on a grid)"
    )
    assert (after[1] <= L * abs(off) + 1.1 * rate + 1e-12).all(), (
        "Recurrent Delta, step 3: what a 1 does (on a grid)"
    )
assert L0 * L1 < 1 and lasts > 1e16, (
    "Recurrent Delta, step 3: right on every string of up to 10^16 tokens"
)


# %% [markdown]
# **Step 4.** Run, in floats: every prefix of 20,000 random bits is right, and a disturbance of 0.2 is gone after 40 ones. $\blacksquare$

# %% tags=["proof-recurrent_delta", "varies", "nbval-ignore-output"]
def run(bits, start=0.0, gate=gate, feedback=float(feedback)):
    rates, y, found = 1 / (1 + np.exp([gate, -gate])), start, []
    for bit in bits:
        y = y + rates[bit] * (1 + feedback * np.tanh(y) - y)
        found.append(y)
    return np.array(found)

coin_bits = np.random.default_rng(0).integers(0, 2, 20_000)
right = ((run(coin_bits) > 0.5) == coin_bits.cumsum() % 2).mean()
left = np.ptp([run([1] * 40, start)[-1] for start in (-0.2, 0.0, 0.2)])
print(f"right: {right:.0%}; of the disturbance of 0.2 there is {left:.0e} left")
assert right == 1 and left < 0.01, "Recurrent Delta, step 4: run in floats"

# %% [markdown]
# **Break it:** no feedback; then soft gates, $\sigma(\pm3)$ in place of $\sigma(\pm40)$.

# %% tags=["proof-recurrent_delta"]
with show.expect_failure("Recurrent Delta, step 1"):
    flat = 1 + 0 * sp.tanh(y)
    assert flat.subs(y, 1) == 0, "Recurrent Delta, step 1: 0 -> 1 -> 0"
with show.expect_failure("Recurrent Delta, step 4"):
    assert ((run(coin_bits, gate=3.0) > 0.5) == coin_bits.cumsum() % 2).all(), (
        "Recurrent Delta, step 4: run in floats"
    )

# %% [markdown]
# ## 2 A matrix that changes itself
#
# **Claim (SRWM).** One *SRWM* layer of size 4 computes parity. Its rule (Eq. 10 to 12) reads $y$, $q$, $k$ and the strength from its own matrix $W$ at a column $x$ that the token picks, and writes $W \leftarrow W + \beta\,W(\phi(q) - \phi(k))\,\phi(k)^\top$, $\phi$ a softmax. With large
# numbers each softmax picks a single column, and the rule says "copy column $j$ into column $i$".
#
# The token 1 reads column 1, which alternates between two programs: A ("answer 1; next copy column 2") and B ("answer 0; next copy column 3").
# Columns 2 and 3 keep B and A. A 0 reads column 4 minus column 1. Its strength is $\sigma(-120)$, so it writes nothing, and its answer is the
# parity so far.
#
# These are the programs, as columns of $W$: the answer, the columns that $q$ and $k$ pick, and the strength.

# %% tags=["proof-srwm"]
large = 120.0

def weights(b):
    A, B, zero = np.zeros((3, 13))  # rows: y (4), q (4), k (4), strength
    A[[0, 5, 8, 12]] = 1, b, b, b  # answers 1; q picks column 2, k column 1
    B[[6, 8, 12]] = b, b, b  # answers 0; q picks column 3
    zero[0] = 1
    return np.stack([A, B, A, zero], 1)

W0 = weights(large)
print("columns 1 to 4: answer, q to column 2, q to 3, k to 1, strength")
print(*W0[W0.any(1)].T.tolist(), sep="\n")

# %% [markdown]
# **Step 1.** At the token 1 the rule copies column 2 into column 1. **Float:** the softmaxes are $e^{-120}$ from picking one column.

# %% tags=["proof-srwm"]
inputs = np.array([[-1.0, 0, 0, 1], [1.0, 0, 0, 0]])  # of the tokens 0 and 1

def srwm(bits, W):
    found, softmax = [], lambda a: np.exp(a - a.max()) / np.exp(a - a.max()).sum()
    for bit in bits:
        z = W @ inputs[bit]
        q, k = softmax(z[4:8]), softmax(z[8:12])
        W = W + np.outer((W @ (q - k)) / (1 + np.exp(-z[12])), k)
        found.append(z[0])
    return np.array(found), W

once = srwm([1], W0)[1]
print("column 1 is now column 2:", np.allclose(once[:, 0], W0[:, 1]))
assert np.allclose(once, W0[:, [1, 1, 2, 3]], atol=1e-9), (
    "SRWM, step 1: column 2 is copied into column 1"
)

# %% [markdown]
# **Step 2.** The next 1 copies column 3 into column 1, and $W$ is what it was; a 0 writes nothing and answers the same. So the answer is the
# parity. $\blacksquare$ **Float**, to $10^{-9}$: all strings of 8 bits, and 5,000 random bits.

# %% tags=["proof-srwm"]
assert np.allclose(srwm([1, 1], W0)[1], W0, atol=1e-9), "SRWM, step 2: two 1s bring W back"
assert np.allclose(srwm([0], W0)[1], W0, atol=1e-9) and np.allclose(srwm([0], once)[1], once, atol=1e-9), (
    "SRWM, step 2: a 0"
)
for bits in [*product((0, 1), repeat=8), np.random.default_rng(0).integers(0, 2, 5000)]:
    assert np.allclose(srwm(bits, W0)[0], np.cumsum(bits) % 2, atol=1e-9), (
        "SRWM, step 2: the answer is the parity"
    )
print("256 strings of 8 bits and 5,000 random bits: right")

# %% [markdown]
# **Break it:** soft choices, with 2 in place of 120.

# %% tags=["proof-srwm"]
with show.expect_failure("SRWM, step 1"):
    soft = weights(2.0)
    assert np.allclose(srwm([1], soft)[1], soft[:, [1, 1, 2, 3]], atol=1e-9), (
        "SRWM, step 1: column 2 is copied into column 1"
    )

# %% [markdown]
# ## 3 The e-LSTM
#
# The paper also compares with an *e-LSTM* ("element-wise": each number $c$ of its state sees, besides the input, only itself). It calls
# this net "computationally limited", but its own Table 1 has it at 100/100 on parity.
#
# **Claim (the e-LSTM).** One number is enough: a 1 takes $c$ to $\tanh(0.6 - 4c)$. So it does not matter here that it sees no other number of the
# state. A *Quasi-RNN*, whose gates and writes see only the input, cannot do this: what it writes does not depend on $c$ at all.
#
# **Step 1.** Two intervals are taken into each other: $[0.9, 1]$ into $[-1, -0.9]$ and back. The map falls everywhere, so the ends decide.

# %% tags=["proof-e_lstm"]
c, weight = sp.Symbol("c", real=True), -4
toggle = sp.tanh(sp.Rational(3, 5) + weight * c)
ends = {at: float(toggle.subs(c, at)) for at in (-1.0, -0.9, 0.9, 1.0)}
print({at: round(value, 4) for at, value in ends.items()})
assert sp.expand(sp.diff(toggle, c) - weight * (1 - toggle**2)) == 0 and weight < 0, (
    "The e-LSTM, step 1: it falls everywhere"
)
assert ends[-0.9] >= 0.9 and ends[0.9] <= -0.9, "The e-LSTM, step 1: each interval into the other"


# %% [markdown]
# **Step 2.** A first 1 takes $c = 0$ into neither interval, but near $0.54$. The second takes it near $-0.91$, into the left interval. From there on
# the sign of $c$ is the parity, with gates that are nearly 0 and 1 ($\sigma(\pm 40)$). $\blacksquare$ **Float:** every prefix of 20,000 random bits.

# %% tags=["proof-e_lstm"]
def e_lstm(bits, weight=weight, gate=40.0):
    forget, c, found = 1 / (1 + np.exp([-gate, gate])), 0.0, []
    for bit in bits:
        c = forget[bit] * c + (1 - forget[bit]) * np.tanh(0.6 + weight * c)
        found.append(c)
    return np.array(found)

toggle_bits = np.random.default_rng(0).integers(0, 2, 20_000)
print("after 1, 11, 111, 1111:", e_lstm([1] * 4).round(3).tolist())
assert e_lstm([1])[0] > 0 and e_lstm([1, 1])[1] < -0.9, "The e-LSTM, step 2: into the left interval"
assert (((e_lstm(toggle_bits) > 0) == toggle_bits.cumsum() % 2)).all(), (
    "The e-LSTM, step 2: the sign of c is the parity"
)

# %% [markdown]
# **Break it:** a write that does not depend on $c$, as in a Quasi-RNN.

# %% tags=["proof-e_lstm"]
with show.expect_failure("The e-LSTM, step 2"):
    assert ((e_lstm(toggle_bits, weight=0.0) > 0) == toggle_bits.cumsum() % 2).all(), (
        "The e-LSTM, step 2: the sign of c is the parity"
    )
