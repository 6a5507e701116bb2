# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 01b · Sum and last letters
#
# There is no subtraction in Sum. How many states does it need with one $A$, and what does a layer with finitely many states remember? *It takes* about 30 min to read and 15 min for the exercises. Read [chapter 01](../01_subtraction.ipynb) first.

# %% jupyter={"source_hidden": true} tags=["hide-input"]
from itertools import product

import numpy as np
import sympy as sp

import lrnnbook
from lrnnbook import show
from lrnnbook.content.exercises import check, hint, solution
from lrnnlab.automata.languages import language, read

lrnnbook.needs("0.1")

# %% [markdown]
# ## 1 Sum, and what S4 cannot do
#
# In its section 4.4 the paper uses Proposition 1 to explain its results on **Sum**, **EvenPair** and **ModArith**:
#
# > **The paper.** "The inferior performance of S4 and S4D is expected since they cannot represent subtraction as
# > illustrated in Prop. 1."
#
# But there is no subtraction in Sum (add digits modulo $M$) or in EvenPair (is the last letter the first one?). Only
# ModArith contains the expressions of [chapter 01](../01_subtraction.ipynb), and with them Theorem A. And one number with the constant $A = 1$
# computes Sum, with a readout that takes the remainder.
#
# **Step 1.** The state is the sum: for six free letters, in symbols.
#
# **Step 2.** On strings of $n$ digits the state takes all values from 0 to $4n$ and no others: $4n + 1$ states,
# which for $n = 500$ fit into 11 bits. **All $n \le 6$.**

# %% tags=["proof-sum_by_counting"]
A = 1
letters = sp.symbols("s1:7")
x = 0
for s in letters:
    x = sp.expand(A * x + s)
assert x == sum(letters), "The counter, step 1: the state is the sum of the letters"
states = {n: {sum(word) for word in product(range(5), repeat=n)} for n in range(1, 7)}
assert all(found == set(range(4 * n + 1)) for n, found in states.items()) and (4 * 500).bit_length() == 11, (
    "The counter, step 2: 4 n + 1 states"
)
print("x =", x, "   h(x) = x mod 5;  states at n = 1, ..., 6:", *map(len, states.values()))

# %% [markdown]
# **Break a hypothesis.** With $A = 2$ the state is a sum in which earlier letters weigh more.

# %% tags=["proof-sum_by_counting"]
with show.expect_failure("The counter, step 1"):
    A, x = 2, 0
    for s in letters:
        x = sp.expand(A * x + s)
    assert x == sum(letters), f"The counter, step 1: the state is {x}"

# %% [markdown]
# There is an analogue of Proposition 1 for Sum. Make the same hypothesis, that *the state is a function of the
# value*.
#
# **Step 1.** Then $x_{01} = x_{10}$, and this says $A d = d$ for $d = B u_1 - B u_0$.
#
# **Step 2.** So $M$ ones and $M$ zeros end $(1 + A + \cdots + A^{M-1})\,d = M d$ apart, as each $A$ leaves $d$ as it
# is.
#
# **Step 3.** Both strings have the value 0, so $M d = 0$ and $d = 0$: the layer cannot tell `0` from `1`.

# %% tags=["proof-sum_analogue"]
A, b0, b1 = sp.symbols("A Bu_0 Bu_1", commutative=False)
apart = sp.expand((A * b0 + b1) - (A * b1 + b0))  # x(01) - x(10), the start cancels
assert sp.expand(apart - (1 - A) * (b1 - b0)) == 0, "The analogue for Sum, step 1: equal states say A d = d"
M, a = 5, sp.Symbol("a")
factor = sp.rem(sum(a**i for i in range(M)), a - 1, a)  # a polynomial in A, applied to a d with A d = d
assert factor == M, "The analogue for Sum, step 2: M ones and M zeros end M d apart"
gap = sp.Symbol("d")
assert sp.solve(factor * gap, gap) == [0], "The analogue for Sum, step 3: M d = 0 leaves d = 0 only"
print(f"x(01) - x(10) = (1 - A) d;  x(1...1) - x(0...0) = {factor} d = 0, so d = 0")

# %% [markdown]
# **Break a hypothesis.** The last step divides by $M$, as real and complex numbers allow. In numbers modulo 5 it fails,
# and there $x \leftarrow x + s$ is a state that *is* the value.

# %% tags=["proof-sum_analogue"]
with show.expect_failure("The analogue for Sum, step 3"):
    left = [d for d in range(5) if factor * d % 5 == 0]
    assert left == [0], f"The analogue for Sum, step 3: modulo 5, {factor} d = 0 holds for d = {left}"

# %% [markdown]
# ## 2 Theorem B
#
# For an arbitrary readout one can still say how many states are needed.
#
# > **Theorem B.** One layer with one $A$ that computes Sum($M$), with any readout, takes at least $(M-1)n + 1$
# > different states on strings of length $n$. The counter takes exactly so many.
#
# **Step 1.** A letter $u$ at position $j$ of $n$ adds $A^{n-j} B u$ to the state, whatever the other letters are. If two
# letters added the same there, changing one into the other would change the sum and not the state. So the $M$
# letters add $M$ different vectors. The states at length $n$ are therefore all sums of one vector from each of $n$
# sets of $M$ vectors.
#

# %% tags=["proof-theorem_b"]
A, x = sp.symbols("A x", commutative=False)
u, v, w = (sp.Symbol(f"Bu_{letter}", commutative=False) for letter in "uvw")


def after_letters(x, A, letters):
    for Bu in letters:
        x = sp.expand(A * x + Bu)
    return x


gap = sp.expand(after_letters(x, A, [w, u, w, w]) - after_letters(x, A, [w, v, w, w]))
assert gap == A**2 * u - A**2 * v, (
    "Theorem B, step 1: what a letter adds does not depend on the others"
)
show.math("x_{wuww} - x_{wvww} =", gap)

# %% [markdown]
# **Step 2.** For finite sets $X, Y$ of *real numbers* let $X + Y$ be the set of all sums $x + y$. It has at least
# $|X| + |Y| - 1$ members: with $x_1 < \dots < x_m$ and $y_1 < \dots < y_k$ the $m + k - 1$ sums
# $x_1 + y_1 < x_1 + y_2 < \dots < x_1 + y_k < x_2 + y_k < \dots < x_m + y_k$ are all different. (The cell writes each
# gap as a free positive number, for all sizes up to 6.)

# %% tags=["proof-theorem_b"]
gaps = sp.symbols("g1:13", positive=True)
for m, k in product(range(1, 7), repeat=2):
    X, Y = [sum(gaps[:i]) for i in range(m)], [sum(gaps[6 : 6 + i]) for i in range(k)]
    chain = [X[0] + y for y in Y] + [x + Y[-1] for x in X[1:]]
    rises = [sp.expand(b - a).is_positive for a, b in zip(chain, chain[1:])]
    assert len(chain) == m + k - 1 and all(rises), "Theorem B, step 2: m + k - 1 sums that grow"
show.math(r"m = k = 6:\quad", chain[0], "<", chain[1], "<", chain[2], r"< \dots <", chain[-1])

# %% [markdown]
# **Step 3.** For *vectors*, replace each by one number, $f(v) = v_1 + N v_2 + N^2 v_3 + \cdots$, with $N$ so large that
# no two of the finitely many sums get the same number. $f$ of a sum is the sum of the $f$, so step 2 counts the vectors
# too. **Sample:** sums of integer vectors.

# %% tags=["proof-theorem_b"]
draw = np.random.default_rng(0)
X, Y = draw.integers(-9, 10, (2, 30, 3))
sums = {tuple(x + y) for x in X for y in Y}
f = [1, 100, 100**2]
assert len({int(np.dot(f, s)) for s in sums}) == len(sums), (
    "Theorem B, step 3: one number for each vector, and no two alike"
)
print(f"{len(sums)} sums of vectors, as many numbers")


# %% [markdown]
# Step 2 and step 3, used $n - 1$ times, give $1 + n(M-1)$ at least. $\blacksquare$
#
# **Step 4, on examples.** 200 random layers of two numbers that keep the letters apart (step 1), all strings of up to
# six letters: none has fewer states.

# %% tags=["proof-theorem_b"]
def reachable(A, v, n):
    found = {(0,) * len(A)}
    for _ in range(n):
        found = {tuple((A @ np.array(x) + s).tolist()) for x in found for s in v}
    return found


def keeps_apart(A, v):  # A^j v_letter differs from letter to letter, for j < 6
    return all(len({tuple(row) for row in v @ np.linalg.matrix_power(A, j).T}) == len(v) for j in range(6))


draw = np.random.default_rng(0)
drawn = [(draw.integers(-2, 3, (2, 2)), draw.integers(-2, 3, (2, 2))) for _ in range(400)]
apart = [layer for layer in drawn if keeps_apart(*layer)][:200]
least = [min(len(reachable(*layer, n)) for layer in apart) for n in range(1, 7)]
assert all(found >= n + 1 for n, found in enumerate(least, 1)), (
    "Theorem B, step 4: no layer has fewer states"
)
print(f"{len(apart)} layers, two letters: at least {least} states")

# %% [markdown]
# **Step 5.** The counter for Sum(5) has exactly so many (strings of up to six letters).

# %% tags=["proof-theorem_b"]
counted = [len(reachable(np.array([[1]]), np.arange(5)[:, None], n)) for n in range(1, 7)]
assert counted == [4 * n + 1 for n in range(1, 7)], (
    "Theorem B, step 5: the counter for Sum(5) has exactly so many"
)
print(f"Sum(5) by the counter: {counted}; on 500 digits every layer needs {4 * 500 + 1} states,")
print(f"and for a-b-c-... on 119 numbers, by Theorem A, {5**119:.1e}")

# %% [markdown]
# **Break a hypothesis.** A layer that does not keep the letters apart, here one that forgets after two letters, does
# not compute Sum, and has fewer states.

# %% tags=["proof-theorem_b"]
with show.expect_failure("Theorem B, step 4"):
    forgets = np.array([[0, 0], [1, 0]])
    least = [len(reachable(forgets, np.array([[0, 0], [1, 0]]), n)) for n in range(1, 7)]
    assert all(found >= n + 1 for n, found in enumerate(least, 1)), (
        f"Theorem B, step 4: {least} states at n = 1, ..., 6"
    )

# %% [markdown]
# ## 3 Theorem C
#
# So for Sum the number of states grows with the length, slowly; and the readout must be periodic over all of them,
# which a small network fitted on short strings has no reason to be. A finite automaton, on the other hand, needs
# five states for all lengths together. What can a layer with one $A$ do if it has finitely many states?
#
# > **Theorem C.** If one layer with one $A$ can reach only finitely many states, then its state depends on nothing
# > but the length of the string and its last $D$ letters, where $D$ is the width of the state.
#
# **Step 1: what survives $D$ steps survives for ever.** If $A^D d \ne 0$, then $A^j d \ne 0$ for all $j$. To see
# this, let $K_j$ be the space of all $d$ with $A^j d = 0$. Each $K_j$ lies in $K_{j+1}$. If once $K_j = K_{j+1}$,
# then they are equal from there on: $A^{j+2} d = 0$ says $A d \in K_{j+1} = K_j$, so $A^{j+1} d = 0$. Until then the
# dimension grows by at least one each time, and it is at most $D$; so $K_D = K_{D+1} = \cdots$. (This is called
# Fitting's lemma. The cell tries every matrix of size 2 with entries from -2 to 2 and every one of size 3 with
# entries 0 and $\pm 1$.)

# %% tags=["proof-theorem_c"]
for D, entries in ((2, range(-2, 3)), (3, range(-1, 2))):
    A = np.array(list(product(entries, repeat=D * D))).reshape(-1, D, D)
    power = np.linalg.matrix_power(A, D)
    vectors = np.array(list(product(range(-1, 2), repeat=D))).T  # (D, 3^D)
    gone, later = ((P @ vectors == 0).all(axis=1) for P in (power, power @ A @ A @ A))
    assert (gone == later).all(), (
        "Theorem C, step 1: what is not gone after D steps is not gone later"
    )
    print(f"D = {D}: {len(A)} matrices, {vectors.shape[1]} vectors;", end=" ")
    print(f"{gone.sum()} pairs are gone after D steps, no more later")


# %% [markdown]
# **Step 2.** Let $d = B(u_a - u_b)$ for two letters. If $A^D d \ne 0$, then by step 1 every position adds one of at
# least two different vectors, and as in Theorem B there are at least $n + 1$ states at length $n$, for every $n$:
# infinitely many. **Sample:** up to $n = 6$, those of 150 random layers of width 1, 2, 3 in which $A^D d \ne 0$.

# %% tags=["proof-theorem_c"]
def longer(found, A, v):
    return {tuple((A @ np.array(x, dtype=object) + s).tolist()) for x in found for s in v}


draw = np.random.default_rng(1)
widths = np.repeat([1, 2, 3], 50)
layers = [(draw.integers(-1, 2, (D, D)), draw.integers(-1, 2, (2, D))) for D in widths]
grow = [(A, v) for A, v in layers if (np.linalg.matrix_power(A, len(A)) @ (v[1] - v[0])).any()]
for A, v in grow:
    found = {(0,) * len(A)}
    for n in range(1, 7):
        found = longer(found, A, v)
        assert len(found) >= n + 1, "Theorem C, step 2: at least n + 1 states"
print(f"in {len(grow)} of {len(layers)} layers something survives D steps")


# %% [markdown]
# **Step 3.** So if there are finitely many states, $A^D d = 0$ for every pair of letters: it makes no difference
# which letter stood at a place before the last $D$ ones. $\blacksquare$ (Checked on those of the 150 layers that
# have finitely many states, at most 120: on strings of six letters, all but the last $D$ leave one and the same
# trace.)

# %% tags=["proof-theorem_c"]
def few(A, v):  # does the layer reach 120 states at most?
    found = edge = {(0,) * len(A)}
    while edge and len(found) <= 120:
        edge = longer(edge, A, v) - found
        found = found | edge
    return not edge


finite = [(A, v) for A, v in layers if few(A, v)]
for A, v in finite:
    strings, D = {(0,) * len(A)}, len(A)
    for _ in range(6 - D):
        strings = longer(strings, A, v)
    early = {tuple(np.linalg.matrix_power(A, D) @ np.array(x)) for x in strings}
    assert len(early) == 1, "Theorem C, step 3: all but the last D letters leave one and the same trace"
print(f"{len(finite)} of {len(layers)} layers have finitely many states")

# %% [markdown]
# **Step 4.** Sum, parity, EvenPair and ModArith depend on letters arbitrarily far back, so no such layer with finitely
# many states computes them. For each, the cell takes two words that differ in the first letter alone, and repeats
# the same ending after both. Sooner or later the pair of states that the two words lead to in the task's automaton
# comes back, so only finitely many pairs occur. In each of them the two answers differ; so they differ after any
# number of repetitions.

# %% tags=["proof-theorem_c"]
for name, left, right, ending in (
    ("Sum(5)", "0", "1", "0"),
    ("Parity", "0", "1", "0"),
    ("EvenPair(5)", "0", "1", "0"),
    ("ModArith(5)", "0", "1", "+0"),
):
    machine = language(name).machine
    pair, met = tuple(machine.run(read(machine, word + ending))[-1] for word in (left, right)), []
    while pair not in met:
        met.append(pair)
        for token in read(machine, ending):
            pair = tuple(machine.transitions[token][q] for q in pair)
    answers = [[int(machine.outputs[q]) for q in pair] for pair in met]
    assert all(a != b for a, b in answers), (
        "Theorem C, step 4: the first letter is seen however long ago it came"
    )
    print(f"{name}: {left} and {right}, then {ending} any number of times: answers", *answers[-1])

# %% [markdown]
# **Break a hypothesis.** The counter, $A = 1$, has infinitely many states, and it does remember.

# %% tags=["proof-theorem_c"]
with show.expect_failure("Theorem C, step 3"):
    A, v = np.array([[1]], dtype=object), np.array([[0], [1]], dtype=object)
    early = {tuple(A @ np.array(x, dtype=object)) for x in longer(longer({(0,)}, A, v), A, v)}
    assert len(early) == 1, (
        f"Theorem C, step 3: two letters leave the traces {sorted(x for (x,) in early)} after D = 1 more"
    )

# %% [markdown]
# **Exercise 10** ★★ *(15 min, 4 points: to count the pieces of a periodic readout)* The readout of the counter for
# Sum(5) must be periodic. A ReLU network that reads one number and gives one number is a continuous function made of
# straight pieces. Let the answer be its value, rounded to a whole number. What is the least number of pieces with
# which it is right on all strings of 500 digits? Show that fewer are not enough.

# %%
my_pieces = None  # exercise 10: the least number of pieces
check("01.10", my_pieces)

# %% [markdown]
# <!-- Exercise 01.10: from notebooks/lrnnbook/content/exercises/ch01.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint 1</summary>
#
# Draw the right answers 0, 1, 2, 3, 4, 0, 1, ... over the states 0, 1, 2, ... and join them. Where must the
# function rise, and where must it fall, whatever the rounding?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# One straight piece cannot both rise and fall. On strings of $n$ digits the counter has the states 0 to $4n$
# (step 2 of the counter).
#
# </details>

# %% [markdown]
# ## 4 Between finitely many states and all
#
# Between "finitely many states" and "stores everything" lie layers whose number of states grows like a power of the
# length, such as a counter, a counter of the counter's values, and so on: $A$ has the eigenvalue 1 only. The
# sequence of Thue and Morse, `0110 1001 1001 0110...`, shows a limit of these. Its letter number $i$, counted from
# 0, is 1 if $i$ written in binary has an odd number of ones, and 0 if not.
#
# > **Claim.** If $(A - I)^d = 0$, the Thue-Morse word of length $2^d$ and its complement (0 and 1 exchanged) end in
# > the same state. Their first letters differ, so such a layer does not always know the first letter.
#
# **Step 1.** The two states differ by a sum of $\pm A^j (B u_1 - B u_0)$ with the signs of the sequence, and that sum
# of powers is the product $(A-I)(A^2-I)(A^4-I)\cdots$ of $d$ factors, up to its sign.
#
# **Step 2.** Each factor contains $A - I$, so $(A - I)^d$ divides the product, which is 0.
#
# **Step 3.** We run it, in whole numbers, with a Jordan block of size $d$ and eigenvalue 1, for $d = 1, \dots, 5$.

# %% tags=["proof-thue_morse"]
a = sp.Symbol("a")


def jordan_end(bits, D):  # the state after the bits, with one Jordan block of size D
    A, x = np.eye(D, dtype=object) + np.eye(D, k=-1, dtype=object), np.array([0] * D, dtype=object)
    for bit in bits:
        x = A @ x
        x[0] += bit
    return x.tolist()


for d in range(1, 6):
    bits = [i.bit_count() % 2 for i in range(2**d)]
    signs = sp.Poly([1 - 2 * bit for bit in bits], a)  # the first letter has the highest power
    factors = sp.Poly(sp.prod([a ** (2**i) - 1 for i in range(d)]), a)
    assert signs == factors, "Thue-Morse, step 1: signs times powers are the product of d factors"
    assert signs.rem(sp.Poly((a - 1) ** d, a)).is_zero, "Thue-Morse, step 2: (a - 1)^d divides it"
    ends = jordan_end(bits, d), jordan_end([1 - bit for bit in bits], d)
    assert ends[0] == ends[1], "Thue-Morse, step 3: word and complement end in one state"
    print("".join(map(str, bits)), "and its complement end in", ends[0])

# %% [markdown]
# **Break a hypothesis.** A Jordan block of size $d + 1$ has $(A - I)^d \ne 0$, and tells them apart.

# %% tags=["proof-thue_morse"]
with show.expect_failure("Thue-Morse, step 3"):
    ends = jordan_end(bits, d + 1), jordan_end([1 - bit for bit in bits], d + 1)
    assert ends[0] == ends[1], (
        f"Thue-Morse, step 3: the last numbers are {ends[0][-1]} and {ends[1][-1]}"
    )

# %% [markdown]
# ## Exercises
#
# You will find each exercise in its section. Stuck? `hint("01.10")`. Done? Compare with `solution("01.10")`.

# %% [markdown]
# <!-- The exercises of this chapter, listed by lrnnlab book build. -->
#
# 1 exercise, 4 points, about 15 minutes:
#
# | exercise | section | difficulty | minutes | points | you will learn |
# |---|---|---|---|---|---|
# | 10 | [3 Theorem C](#3-Theorem-C) | ★★ | 15 | 4 | to count the pieces of a periodic readout |
#
# <details><summary>Solution of 01.10</summary>
#
# 800. Rounding allows each value an error of one half. So from a state with the answer 4 to the next one,
# with the answer 0, the function falls by at least 3; and on the way from an answer 0 to the answer 4, four states later,
# it rises by at least 3. On the states 0 to 2000 it does each of the two 400 times, by turns, and one straight piece
# cannot do both: at least 800 pieces. Straight lines through the right answers are no more: they have corners at 4, 5, 9,
# 10, ..., 1995, 1999. (Each piece is right on at most five states in a row. To count only this gives 2001 / 5, so 401
# pieces; these would be enough if the function could jump, but a ReLU network is continuous.)
#
# </details>
