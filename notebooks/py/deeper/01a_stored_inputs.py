# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 01a · Stored inputs
#
# Theorem A says that a layer with one $A$ that subtracts stores its input. What do the proofs look like on real layers, what if states are only close, and what if the modulus is even? *It takes* about 15 min to read and 25 min for the exercises. Read [chapter 01](../01_subtraction.ipynb) first.

# %% jupyter={"source_hidden": true} tags=["hide-input"]
from itertools import product

import numpy as np
import sympy as sp

import lrnnbook
from lrnnbook import show
from lrnnbook.content.exercises import check, hint, solution

lrnnbook.needs("0.1")


# %% [markdown]
# ## 1 Theorem A on examples
#
# Steps 1 to 3, the proof, are in chapter 01.

# %% [markdown]
# **Step 4, on examples.** A *collision* is a pair of different expressions that share a state. The proof turns each
# collision into two expressions that refute *every* readout, because they have the same state and different values.
# We draw 300 layers with small whole entries, and find a collision of expressions of three numbers where there is
# one; then we take off the common beginning, and look at $s, t$ and at `0-s`, `0-t`.

# %% tags=["proof-theorem_a_collisions"]
def state_of(word, A, v, minus):  # v[s] is what the number s adds
    x = v[word[0]]
    for s in word[1:]:
        x = A @ (A @ x + minus) + v[s]
    return tuple(x.tolist())


def collision(layer):  # two expressions in one state, without the numbers that they begin with in common
    seen = {}
    for w in product(range(5), repeat=3):
        s, t = seen.setdefault(state_of(w, *layer), w), w
        if s != t:
            first = next(i for i in range(3) if s[i] != t[i])
            return s[first:], t[first:]


# %% tags=["proof-theorem_a_collisions"]
def value(word):
    return (word[0] - sum(word[1:])) % 5


draw, refuted = np.random.default_rng(0), 0
for D in draw.integers(1, 3, size=300):
    layer = [draw.integers(-3, 4, shape) for shape in ((D, D), (5, D), D)]
    if pair := collision(layer):
        s, t = pair
        s, t = next(((a, b) for a, b in ((s, t), ((0, *s), (0, *t))) if value(a) != value(b)), pair)
        assert state_of(s, *layer) == state_of(t, *layer) and value(s) != value(t), (
            "Theorem A, step 4: every collision gives two expressions in one state with two values"
        )
        refuted += 1
print(f"{refuted} of 300 random layers have a collision, and all of these are refuted")

# %% [markdown]
# **Step 5: conversely**, a layer whose states keep all expressions apart is enough, since $h$ may be any function.
# The base-7 layer is one: 625 expressions of four numbers, 625 states.

# %% tags=["proof-theorem_a_collisions"]
digits = np.array([[7]]), np.arange(1, 6)[:, None], np.array([6])
kept = {state_of(w, *digits) for w in product(range(5), repeat=4)}
assert len(kept) == 5**4, "Theorem A, step 5: a state that keeps all expressions apart"
print(f"base 7: {5**4} expressions, {len(kept)} states")

# %% [markdown]
# **Exercise 8** ★★ *(20 min, 5 points: to retell a proof and find where it needs its hypothesis)* **Find the wrong step.**
# *Claim: for every $M \ge 2$ a layer with one $A$ that answers all $a{-}b$ modulo $M$ has at least $M^2$ states.*
#
# 1. Suppose that $a{-}b$ and $c{-}d$ share a state. One state has one answer, so $a - b \equiv c - d$.
# 2. Write `0-` in front of both. They still share a state, so $-a - b \equiv -c - d$.
# 3. The difference of the two is $2a \equiv 2c$.
# 4. Hence $a \equiv c$.
# 5. Then $b \equiv d$ by step 1: the two were one expression, and all $M^2$ have states of their own.
#
# Which step does not follow, and which $M$, $a$, $c$ show it? Then prove the claim for $M = 3$ in your own words.

# %%
my_step = None  # exercise 8: the step, then (M, a, c), for example (1, (7, 2, 5))
check("01.8", my_step)

# %% [markdown]
# <!-- Exercise 01.8: from notebooks/lrnnbook/content/exercises/ch01.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint 1</summary>
#
# Steps 1, 2, 3 and 5 only add, subtract and use that one state has one answer.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# Write down twice each number modulo 4. Which two agree?
#
# </details>

# %% [markdown]
# ## 2 Break a hypothesis: an odd modulus
#
# That $M$ is odd is needed where we divide by 2. For $M = 4$ step 3 fails.

# %% tags=["proof-theorem_a_collisions"]
with show.expect_failure("Theorem A, step 3"):
    M = 4
    apart = [(s, t) for s, t in product(range(M), repeat=2) if s != t and 2 * (s - t) % M == 0]
    assert not apart, (
        f"Theorem A, step 3: 2 (s1 - t1) = 0 modulo {M} for s1, t1 = {apart[0][0]}, {apart[0][1]}"
    )

# %% [markdown]
# Modulo 2 the whole theorem fails: minus is plus there, so a counter that adds up the numbers is right, and it
# stores almost nothing.

# %% tags=["proof-modulo_two"]
M, n = 2, 8
words = list(product(range(M), repeat=n))
assert -1 % M == 1, "Modulo 2, step 1: minus is plus"
assert all(sum(w) % M == (w[0] - sum(w[1:])) % M for w in words), (
    "Modulo 2, step 2: the counter answers right"
)
states = {sum(w) for w in words}
assert len(states) == n + 1 < len(words), "Modulo 2, step 3: with few states"
print(f"modulo {M}: right on {len(words)} expressions of {n} numbers, with {len(states)} states")

# %% [markdown]
# **Exercise 9** ★ *(5 min, 2 points: to find the hypothesis that a proof uses)* **Break the hypothesis.** Where does the
# proof of Theorem A fail for $M = 4$? Which two expressions of two numbers may share a state?

# %%
my_expressions = None  # exercise 9: two expressions, for example ("0-1", "2-2")
check("01.9", my_expressions)

# %% [markdown]
# <!-- Exercise 01.9: from notebooks/lrnnbook/content/exercises/ch01.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint 1</summary>
#
# By what does the proof divide?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# Both expressions must have the same value, and they must still have the same value with any `p-` in
# front.
#
# </details>

# %% [markdown]
# ## 3 Theorem A with a margin
#
# Theorem A speaks of states that are *equal*; it is enough that they are close. A real network cannot tell two states
# apart that are closer than some margin. A bounded state has room for only so many points with that margin. And by step
# 1 of Theorem A a common prefix changes neither the difference of two states nor their *distance*. So
# every bounded layer with a margin fails on expressions that are long enough. Here is a layer of two numbers whose
# $A$ turns by one radian and shrinks to 0.8 (in floating point).
#
# **Step 1.** If $0.8 R + 1 \le R$, the disc of radius $R$ is never left, as every letter adds a vector of length at
# most 1. **All expressions** of four numbers, with $R = 1/(1 - 0.8)$, in floats.

# %% tags=["proof-packing"]
turn, shrink, margin = 1.0, 0.8, 0.5
spiral = shrink * np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
corners = np.array([(np.cos(2 * np.pi * s / 5), np.sin(2 * np.pi * s / 5)) for s in range(5)])


def point(word):  # the state; a number adds one of five corners, and the minus adds nothing
    x = corners[word[0]]
    for s in word[1:]:
        x = spiral @ spiral @ x + corners[s]
    return x


radius = 1 / (1 - 0.8)
largest = max(np.linalg.norm(point(w)) for w in product(range(5), repeat=4))
assert shrink * radius + 1 <= radius + 1e-12 and largest <= radius, (
    "The margin, step 1: a disc that is never left"
)
print(f"radius {radius:.2f}; the largest state of four numbers: {largest:.2f}")

# %% [markdown]
# **Step 2.** Discs of half the margin around the states do not overlap and lie in the disc of radius $R$ + half the
# margin, so there is room for $(1 + 2R/\mathrm{margin})^2$ states. Five to the power $n$ is more from some $n$ on, so
# two expressions come closer than the margin no later than there. (The cell finds two by sorting the states into square
# cells whose side is half the margin: two in one cell are closer than the margin.)

# %% tags=["proof-packing"]
room = (1 + 2 * radius / margin) ** 2
certain = next(n for n in range(1, 20) if 5**n > room)


def close(n):  # two expressions of n numbers in one cell
    seen = {}
    for w in product(range(5), repeat=n):
        s = seen.setdefault(tuple(np.floor(point(w) / (margin / 2))), w)
        if s != w:
            return s, w


found_at = next(n for n in range(1, 9) if close(n))
assert found_at <= certain, "The margin, step 2: two expressions are too close no later than counting says"
print(f"room for {room:.0f} states: two are too close at {certain} numbers or before; found at {found_at}")


# %% [markdown]
# **Step 3.** As in Theorem A, either these two expressions or the two with `0-` in front have different values, and
# are as close. **One pair:** the two that step 2 found.

# %% tags=["proof-packing"]
def answer(word):
    return (word[0] - sum(word[1:])) % 5


s, t = close(found_at)
while s[0] == t[0]:
    s, t = s[1:], t[1:]
s, t = next(((a, b) for a, b in ((s, t), ((0, *s), (0, *t))) if answer(a) != answer(b)), (s, t))
apart = np.linalg.norm(point(s) - point(t))
assert apart < margin and answer(s) != answer(t), "The margin, step 3: too close, and different values"
print(f"{'-'.join(map(str, s))} and {'-'.join(map(str, t))} are {apart:.3f} apart")

# %% [markdown]
# **Break a hypothesis.** If $A$ turns and does not shrink, the step fails for every disc: $R + 1 \le R$ has no
# solution.

# %% tags=["proof-packing"]
with show.expect_failure("The margin, step 1"):
    shrink, R = 1, sp.Symbol("R", positive=True)
    assert shrink * R + 1 <= R, "The margin, step 1: a disc that is never left"

# %% [markdown]
# ## 4 One channel stores everything, too
#
# The proof of Proposition 2 has the gap of Proposition 1: a state need not be a function of the value. **The corrected statement** says that
# a diagonal layer cannot have $x_{0-1} \ne x_{1-0}$ and $x_{0-0-1} = x_{0-1-0}$. As a statement about computing
# subtraction it is false, because one channel can store the numbers: a number $s$ does $x \mapsto 5x + s$, the minus
# does nothing, and $x$ starts at 1.
#
# **Step 1.** Dividing by 5 gives the last number and the state before it back, so $h$ can read them all off, at any
# length.

# %% tags=["proof-one_channel"]
n = sp.Symbol("n", integer=True, nonnegative=True)
parts = [(sp.floor((5 * n + s) / sp.Integer(5)), sp.Mod(5 * n + s, 5)) for s in range(5)]
assert parts == [(n, s) for s in range(5)], "One channel, step 1: the old state and the number can be read off"
print("(5 n + s) // 5 = n and (5 n + s) mod 5 = s for s = 0, ..., 4 and every n")

# %% [markdown]
# **Step 2.** The readout that does so is right on all 3,905 expressions of up to five numbers, which all have states
# of their own (a check on examples; step 1 is the proof).

# %% tags=["proof-one_channel"]
answers, words = {}, [word for k in range(1, 6) for word in product(range(5), repeat=k)]
for word in words:
    x = 1
    for s in word:
        x = 5 * x + s
    stored, numbers = x, []
    while x > 1:
        x, s = divmod(x, 5)
        numbers.append(s)
    answers[stored] = (2 * numbers[-1] - sum(numbers)) % 5 == (word[0] - sum(word[1:])) % 5
assert all(answers.values()) and len(answers) == len(words), (
    "One channel, step 2: the readout is right, and everything is stored"
)
print(f"{len(words)} expressions, {len(answers)} states, all read off right")

# %% [markdown]
# ## Exercises
#
# You will find each exercise in its section. Stuck? `hint("01.8")`. Done? Compare with `solution("01.8")`.

# %% [markdown]
# <!-- The exercises of this chapter, listed by lrnnlab book build. -->
#
# 2 exercises, 7 points, about 25 minutes:
#
# | exercise | section | difficulty | minutes | points | you will learn |
# |---|---|---|---|---|---|
# | 8 | [1 Theorem A on examples](#1-Theorem-A-on-examples) | ★★ | 20 | 5 | to retell a proof and find where it needs its hypothesis |
# | 9 | [2 Break a hypothesis: an odd modulus](#2-Break-a-hypothesis:-an-odd-modulus) | ★ | 5 | 2 | to find the hypothesis that a proof uses |
#
# <details><summary>Solution of 01.8</summary>
#
# Step 4, for example `(4, (4, 0, 2))`: 2 has an inverse modulo $M$ only if $M$ is odd, and modulo 4 twice 0 and twice 2 are the
# same. For $M = 3$ there are nine states. Suppose two of the nine expressions $a{-}b$ and $c{-}d$ share one. If $a = c$, the states after the
# one letter $b$ and after $d$ agree too (what is in front cancels), and these have different values unless $b = d$. If $a \ne c$:
# $a - b \equiv c - d$ and, with `0-` in front, $-a - b \equiv -c - d$ modulo 3, so $2(a - c) \equiv 0$, and $a = c$ as 2 has an inverse
# modulo 3. So all nine states differ.
#
# </details>
#
# <details><summary>Solution of 01.9</summary>
#
# The proof ends with $2(s_1 - t_1) \equiv 0$, which modulo 4 leaves $s_1 - t_1 = 2$. So `0-0` and
# `2-2` may share a state: both have the value 0, and so have `0-0-0` and `0-2-2`. Any pair may in which both
# numbers differ by 2. (Of expressions of one number none may: their values differ.)
#
# </details>
