# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 01c · Two layers
#
# Theorems A to C are about one layer. Can two layers with one $A$ each hold the first letter? *It takes* about 10 min to read. Read [chapter 01](../01_subtraction.ipynb) first.

# %% jupyter={"source_hidden": true} tags=["hide-input"]
from fractions import Fraction
from itertools import product

import numpy as np
import sympy as sp

import lrnnbook
from lrnnbook import show
from lrnnbook.content.exercises import hint, solution

lrnnbook.needs("0.1")

# %% [markdown]
# ## 1 A clock, and a layer that reads it
#
# Theorems A ([chapter 01](../01_subtraction.ipynb)), B and C ([01b](01b_sum_and_last_letters.ipynb)) are about *one* layer. Between two layers there is something non-linear, and then a constant $A$ stores
# the first letter with ease. Layer 1 is a clock, $p_t = \tfrac12 p_{t-1} + \tfrac12$; layer 2 adds the digit $s_t$
# only where $p_t < 0.625$: $x_t = x_{t-1} + [p_t < 0.625]\,(s_t + 1)$, where $[\dots]$ is 1 if the condition holds
# and 0 if not. Both start at 0.
#
# **Step 1.** $p_t = 1 - 2^{-t}$, so $p_1 = \tfrac12$ and $p_t \ge \tfrac34$ later: layer 2 takes the first letter and
# no other, at any length.
#

# %% tags=["proof-two_layers"]
time, threshold = sp.Symbol("t", integer=True, positive=True), sp.Rational(5, 8)
p_t = 1 - sp.Rational(1, 2) ** time
assert sp.simplify(p_t / 2 + sp.Rational(1, 2) - p_t.subs(time, time + 1)) == 0, "Two layers, step 1: p_t = p_(t-1)/2 + 1/2"
assert p_t.subs(time, 1) == sp.Rational(1, 2), "Two layers, step 1: the clock starts at 1/2"
assert p_t.subs(time, 1) < threshold <= p_t.subs(time, 2) and p_t.diff(time).is_positive, (
    "Two layers, step 1: only the first letter is taken"
)
show.math("p_t =", p_t)


# %% [markdown]
# **Step 2.** So at every position $x_t - 1$ is the first digit, and a readout that compares it with the current
# digit computes EvenPair. (Tried in fractions, on all 780 strings of up to four digits.)

# %% tags=["proof-two_layers"]
def both_layers(digits, number):
    p, x, found = number(0), number(0), []
    for digit in digits:
        p = p / number(2) + number(1) / number(2)
        x = x + (number(digit + 1) if p < 0.625 else number(0))
        found.append((p, x))
    return found


words = [word for n in range(1, 5) for word in product(range(5), repeat=n)]
assert all(x == word[0] + 1 for word in words for _, x in both_layers(word, Fraction)), (
    "Two layers, step 2: x holds the first letter"
)
print(f"{len(words)} strings are right")

# %% [markdown]
# **Step 3.** In float32 too, at any length: the clock stops at $p = 1$ for good, and $x$ is a whole number below 6,
# which float32 holds exactly. **Runs:** the clock for 64 steps, the layers on five strings of 120 digits.

# %% tags=["proof-two_layers"]
clock = [p for p, _ in both_layers([0] * 64, np.float32)]
stops = next(t for t in range(1, 64) if clock[t] == clock[t - 1])
held = all(x == s + 1 for s in range(5) for _, x in both_layers([s, *range(5)] * 20, np.float32))
assert [p < 0.625 for p in clock] == [True] + [False] * 63 and held, (
    "Two layers, step 3: the float32 clock stops for good"
)
print(f"in float32 p_t = {clock[-1]:g} from t = {stops} on")

# %% [markdown]
# **Break a hypothesis.** With the threshold at 0.8 the second letter is taken as well.

# %% tags=["proof-two_layers"]
with show.expect_failure("Two layers, step 1"):
    threshold = sp.Rational(4, 5)
    assert p_t.subs(time, 1) < threshold <= p_t.subs(time, 2), (
        f"Two layers, step 1: p_2 = {p_t.subs(time, 2)} is below {threshold} as well"
    )

# %% [markdown]
# ## 2 Without a residual connection
#
# In these two layers the digit also reaches layer 2 and the readout directly, as a residual connection would carry
# it. It works without such a connection, too, if layer 1 holds the digits: $p_t = p_{t-1}/16 + s_t + 1$.
#
# **Step 1.** The whole part of $p_t$ is $s_t + 1$; and 16 times the rest has the whole part $s_{t-1} + 1$, or 0 at
# the first digit. For all digits before these two together add less than $\tfrac{1}{16}$ to $p_t$.
#

# %% tags=["proof-two_plain_layers"]
oldest = Fraction(5, 16**2) / (1 - Fraction(1, 16))  # more than all letters before the last two add
assert oldest < Fraction(1, 16) and Fraction(5, 16) + oldest < 1, (
    "Two plain layers, step 1: the rest does not disturb the two digits"
)
print(f"what is older adds less than {float(oldest):.4f}, and that is below 1/16")

# %% [markdown]
# **Step 2.** Layer 2 adds $7 (s_1 + 1)$ at the first digit and $s_t - s_{t-1}$ at every later one. These differences
# cancel in pairs, and $6 (s_1 + 1) + (s_t + 1)$ is left: a number with two digits in base 6, which $h$ compares. **All words of eight letters.**

# %% tags=["proof-two_plain_layers"]
s = sp.symbols("s1:9")
total = 7 * (s[0] + 1) + sum(s[t] - s[t - 1] for t in range(1, 8))
assert sp.expand(total - (6 * (s[0] + 1) + s[7] + 1)) == 0, (
    "Two plain layers, step 2: the first and the last letter are left"
)
show.math("x =", sp.expand(total))

# %% [markdown]
# **Step 3.** In float32, at any length: the cell finds *all* values that $p$ can take, tries every next letter, and
# reads both letters back right each time.

# %% tags=["proof-two_plain_layers"]
codes = np.arange(1, 6, dtype=np.float32)
values = edge = codes
while len(edge):
    edge = np.setdiff1d((edge[:, None] / np.float32(16) + codes).ravel(), values)
    values = np.union1d(values, edge)
following = values[:, None] / np.float32(16) + codes
last = np.floor(following)
before = np.floor((following - last) * np.float32(16))
right = (last == codes) & (before == np.floor(values)[:, None])
assert right.all(), "Two plain layers, step 3: both letters are read back right from every float32 state"
print(f"float32: {len(values)} values times 5 letters, all read back right")

# %% [markdown]
# **Step 4, on examples.** Run in float32 on ten random strings of 999 digits; $x$ holds small whole numbers only.

# %% tags=["proof-two_plain_layers"]
strings = np.random.default_rng(0).integers(5, size=(10, 999))
p, x = np.zeros(10, np.float32), np.zeros(10, np.float32)
for digit in strings.T.astype(np.float32):
    p = p / np.float32(16) + digit + 1
    before = np.floor((p - np.floor(p)) * np.float32(16))
    x = x + np.where(before == 0, 7 * np.floor(p), np.floor(p) - before)
    assert (x == 6 * (strings[:, 0] + 1) + digit + 1).all(), (
        "Two plain layers, step 4: x holds the first and the last letter"
    )
print(f"{strings.size} states of random strings hold their first and last letter")

# %% [markdown]
# So EvenPair is no obstacle for a stack of two constant layers, at any length.
