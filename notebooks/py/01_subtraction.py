# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 01 · Subtraction
#
# **What we ask.** What can a linear recurrence *not* represent? Paper 000 (Fan, Chi and Rudnicky, 2024) says:
# subtraction, if the transition is the same for every letter (Proposition 1), and even if it depends on the letter but
# is diagonal (Proposition 2). From this it concludes that transitions should be block-diagonal.
#
# We walk through both proofs, find a hypothesis that they use without saying so, break it, and then prove what is true
# without it: six theorems (A to E, and D′) that hold for *any* readout. In section 8 stands a table of the smallest exact
# models.
#
# **How to read the proofs.** Each step is a sentence, followed by a short cell that computes what the sentence says and
# ends in `assert ..., "Theorem A, step 3: ..."`, with what the step claims in a few words. Change a line and run it
# again: the `assert` tells you which step of which proof breaks. Where we break a hypothesis ourselves, the cell stands
# under `with show.expect_failure("Theorem A, step 3")`, which demands that exactly this step fails. A step that is only checked
# on examples, or in floating point, says so.
#
# *You need:* matrices, eigenvalues, modular arithmetic, and chapter 00. What we use of groups is explained in section
# 7. *It takes* about 3 h 5 min to read with all proofs, and less than a minute of computing.

# %% tags=["hide-input"]
from fractions import Fraction
from itertools import product

import numpy as np
import sympy as sp

import lrnnlab
from lrnnlab import automata
from lrnnlab.automata.languages import GROUPS, language, read
from lrnnlab.expressivity import cascades, groups, minimal
from workbook import show
from workbook.chapters import ch01
from workbook.exercises import check, hint, predict, solution
from workbook.show.automaton_figures import state_diagram
from workbook.show.widgets import explore

if not lrnnlab.__version__.startswith("0.1"):
    raise RuntimeError(f"this chapter needs lrnnlab 0.1, here is {lrnnlab.__version__}: run bootstrap.py")
print("lrnnlab 0.1: ready")

# %% [markdown]
# ## 1 Proposition 1: one transition for all letters
#
# A layer reads letters $u_1, u_2, \dots$, each given as a vector, and keeps a state: $x_k = A\,x_{k-1} + B u_k$,
# with matrices $A$ and $B$ that are the same for every letter (S4, S5 and LRU are of this kind; the
# [glossary](glossary.ipynb) says what they are). The answer is $h(x_k)$; the paper leaves the readout $h$ open: it
# "may or may not be a linear operation".
#
# > **The paper, Proposition 1.** "An input-independent LRNN is inconsistent in representing subtraction."
#
# The proof compares four expressions. Write $x_{0-1}$ for the state after the three letters `0`, `-`, `1`, started from
# $z$.
#
# **Step 1.** Multiply out, in symbols that do not commute, as matrices do not:
#
# $$x_{0-1} = A^3 z + A^2 B u_0 + A B u_- + B u_1, \qquad x_{1-0} = A^3 z + A^2 B u_1 + A B u_- + B u_0 .$$

# %% tags=["proof-proposition_1"]
A, z = sp.symbols("A z", commutative=False)
Bu = {letter: sp.Symbol(f"Bu_{letter}", commutative=False) for letter in "01-"}


def state(word, x, gates):
    for letter in word:
        x = sp.expand(gates[letter] * x + Bu[letter])
    return x


def printed(a, b, x, A):
    return sp.expand(A**3 * x + A**2 * Bu[a] + A * Bu["-"] + Bu[b])


one = {"0": A, "1": A, "-": A}  # one transition for all letters
assert all(state(f"{a}-{b}", z, one) == printed(a, b, z, A) for a, b in ("01", "10")), (
    "Proposition 1, step 1: the two sums as printed"
)
print("x(0-1) =", state("0-1", z, one))

# %% [markdown]
# **Step 2.** For `0-0-1` and `0-1-0` the same sums hold, with $x_{0-}$ in the place of $z$.

# %% tags=["proof-proposition_1"]
after = state("0-", z, one)
assert all(state(f"0-{a}-{b}", z, one) == printed(a, b, after, one["-"]) for a, b in ("01", "10")), (
    "Proposition 1, step 2: the same sums from x(0-)"
)
print("x(0-) =", after)


# %% [markdown]
# **Step 3.** Subtract. The start cancels in both cases, and the *same* expression is left:
#
# $$x_{0-1} - x_{1-0} \;=\; A^2 B u_0 - A^2 B u_1 - B u_0 + B u_1 \;=\; x_{0-0-1} - x_{0-1-0} .$$

# %% tags=["proof-proposition_1"]
def differences(gates):
    pairs = (("0-1", "1-0"), ("0-0-1", "0-1-0"))
    return [sp.expand(state(a, z, gates) - state(b, z, gates)) for a, b in pairs]


short, long = differences(one)
assert short == long and not short.has(z), (
    "Proposition 1, step 3: one expression is left, and no start in it"
)
print("x(0-1) - x(1-0) = x(0-0-1) - x(0-1-0) =", short)

# %% [markdown]
# **Step 4.** Suppose that different values have different states and equal values have equal states. Then the left
# side is not zero, because $0-1 \ne 1-0$; and the right side is zero, because $0-0-1 = 0-1-0$. This is the
# contradiction. (The cell takes values modulo 5, as the paper's tasks do.)

# %% tags=["proof-proposition_1"]
M = 5
assert (0 - 1) % M != (1 - 0) % M and (0 - 0 - 1) % M == (0 - 1 - 0) % M, (
    "Proposition 1, step 4: different values, equal values"
)
print(f"modulo {M}: 0-1 = {(0 - 1) % M} and 1-0 = {1 % M}; 0-0-1 = 0-1-0 = {(0 - 0 - 1) % M}")

# %% [markdown]
# **Exercise 1** ★ *(5 min, 3 points: that what comes before cancels)* **A proof step.** For a word $w$ let $x(w)$ be
# the state after it. Write down $x(p\,a{-}b) - x(p\,c{-}d)$ for a layer with one $A$, where $a, b, c, d$ are numbers
# and $p$ is anything that stands in front, and see that $p$ has dropped out.

# %% [markdown]
# <!-- Exercise 01.1: from notebooks/workbook/exercises/ch01.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint 1</summary>
#
# Write down $x(p\,a{-}b)$ letter by letter: $a$, the minus, $b$.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# $p$ stands in the term $A^3 x(p)$ alone.
#
# </details>
#
# <details><summary>Solution</summary>
#
# $x(p\,a{-}b) = A^3 x(p) + A^2 B u_a + A B u_- + B u_b$, so the difference is
# $A^2 B(u_a - u_c) + B(u_b - u_d)$.
#
# </details>

# %% [markdown]
# ### Break a hypothesis: a matrix for each letter
#
# The algebra needs that the letters share one $A$. Give each letter its own, $A_0, A_1, A_-$, and step 3 breaks: the
# start $z$ does not cancel any more. Do it by hand first: in the cell of step 3 put
# `{**one, "0": sp.Symbol("A_0", commutative=False)}` for `one` in `differences(one)`, run it, and change it back. (If
# you change `one` itself, in the cell of step 1, that step fails already: its printed sums have one $A$.)

# %% tags=["proof-proposition_1"]
with show.expect_failure("Proposition 1, step 3"):
    own = {letter: sp.Symbol(f"A_{letter}", commutative=False) for letter in "01-"}
    short, long = differences(own)
    assert short == long and not short.has(z), (
        "Proposition 1, step 3: two expressions are left, and the start z is in the first"
    )
print("x(0-1) - x(1-0) =", short)

# %% [markdown]
# ### The hypothesis that is not said
#
# Look at step 4 again. *Different values need different states*: true for any readout, since $h$ gives one answer to
# one state. *Equal values need equal states*: nothing asks for that. A readout may give the same answer to many
# states, as one that reads a counter modulo 5 does. So what the paper has proved is:
#
# > **Put right.** With one $A$ for all letters, the state cannot be a *function of the value* that keeps different
# > values apart: $x_{0-1} \ne x_{1-0}$ and $x_{0-0-1} = x_{0-1-0}$ exclude each other.
#
# As a statement about *computing* subtraction, Proposition 1 is false. One number is enough: write the letters of the
# expression as the digits of a number in base 7 (digits 0 to 4 as 1 to 5, the minus as 6),
#
# $$x_k = 7\,x_{k-1} + \mathrm{code}(u_k),$$
#
# and let $h$ read the digits off and do the sum.
#
# **Step 1.** Nothing is lost: from the new state $7n + c$ one division gives the old state $n$ and the code $c$ back,
# for every $n$ and every $c$ from 1 to 6. So $h$ can read the expression off, whatever its length.

# %% tags=["proof-digits"]
base, n = 7, sp.Symbol("n", integer=True, nonnegative=True)
assert all(
    sp.floor((base * n + c) / sp.Integer(base)) == n and sp.Mod(base * n + c, base) == c for c in range(1, 7)
), "The base-7 layer, step 1: the old state and the letter can be read off the new state"
print(f"({base} n + c) // {base} = n and ({base} n + c) mod {base} = c for c = 1, ..., 6 and every n")


# %% [markdown]
# **Step 2.** The readout that does so is right on all 780 expressions of one to four numbers, and on 200 random ones of
# up to 119 numbers (a check on examples; step 1 is the proof).

# %% tags=["proof-digits"]
def run(numbers, base=7):
    x = 0
    for letter in "-".join(map(str, numbers)):
        x = base * x + (6 if letter == "-" else int(letter) + 1)
    return x


def h(x, base=7):
    numbers = []
    while x:
        x, c = divmod(x, base)
        numbers += [c - 1] if c != 6 else []
    return (2 * numbers[-1] - sum(numbers)) % 5


draw = np.random.default_rng(0)
tried = [word for k in range(1, 5) for word in product(range(5), repeat=k)]
tried += [tuple(draw.integers(5, size=k).tolist()) for k in draw.integers(1, 120, size=200)]
assert all(h(run(word)) == (word[0] - sum(word[1:])) % 5 for word in tried), (
    "The base-7 layer, step 2: the readout is right"
)
print(f"{len(tried)} expressions, the longest of {max(map(len, tried))} numbers: all right")

# %% [markdown]
# **Step 3.** This is how the layer escapes step 4 of the proposition: `0-0-1` and `0-1-0` have the same value and
# different states.
#
# **Step 4.** The layer pays in bits. The state of 119 numbers takes many more than the $119 \log_2 5$ that are needed
# to tell the expressions apart.

# %% tags=["proof-digits"]
first, second = run((0, 0, 1)), run((0, 1, 0))
assert first != second and h(first) == h(second) == (0 - 0 - 1) % 5, (
    "The base-7 layer, step 3: two states, one answer"
)
used, needed = run((4,) * 119).bit_length(), (5**119 - 1).bit_length()
assert used >= needed > 200, "The base-7 layer, step 4: the bits grow like the length"
print(f"x(0-0-1) = {first}, x(0-1-0) = {second}, both answered {h(first)}")
print(f"the state of 119 numbers: {used} bits; needed at least: {needed}")

# %% [markdown]
# **Break a hypothesis.** In base 6 the code 6 of the minus does not fit into a digit, and step 2 fails.

# %% tags=["proof-digits"]
with show.expect_failure("The base-7 layer, step 2"):
    wrong = [word for word in tried if h(run(word, 6), 6) != (word[0] - sum(word[1:])) % 5]
    assert not wrong, f"The base-7 layer, step 2: {len(wrong)} of {len(tried)} expressions are answered wrong"


# %% [markdown]
# **Exercise 2** ★ *(2 min, 2 points: which demand a readout makes)* Of the two demands "different values, different
# states" and "equal values, equal states", which one does an arbitrary readout need?

# %% [markdown]
# <!-- Exercise 01.2: from notebooks/workbook/exercises/ch01.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint</summary>
#
# The readout is a function of the state. What can a function not do?
#
# </details>
#
# <details><summary>Solution</summary>
#
# The first. A readout gives each state one answer, so different answers need different states. The
# second is a wish about the state, not about the answer: a readout may give the same answer to two states.
#
# </details>

# %% [markdown]
# **Exercise 3** ★★ *(10 min, 4 points: that what stores everything needs more bits than a float has)* **Break a
# model.** Here is the base-7 layer once more, in floats of 64 bits. It is right on all 780 expressions of one to four
# numbers, and on many more. Find a shortest expression that it gets wrong.

# %%
def in_floats(expression):
    x = 0.0
    for letter in expression:
        x = 7 * x + (6 if letter == "-" else int(letter) + 1)
    return h(int(x))  # h of step 2


my_expression = None  # exercise 3: a text such as "0-1-2"
check("01.3", my_expression)

# %% [markdown]
# <!-- Exercise 01.3: from notebooks/workbook/exercises/ch01.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint 1</summary>
#
# A float holds whole numbers up to $2^{53}$ without a gap, and only every second one above.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# How many letters has an expression whose state passes $2^{53}$? With which digit should it begin, and is its
# state odd or even?
#
# </details>
#
# <details><summary>Solution</summary>
#
# `4-0-0-0-0-0-0-0-0-1`. With 17 letters the state stays below $7^{17} \approx 2.3 \cdot 10^{14}$, far
# below $2^{53} \approx 9.0 \cdot 10^{15}$. With 19 letters it begins with the code 5 of the digit 4 and the code 6 of the
# minus: $5 \cdot 7^{18} + 6 \cdot 7^{17} \approx 9.5 \cdot 10^{15}$ is above, and with any other first digit it is below.
# There only even numbers are left, so a state that should be odd is moved by one, and $h$ reads another last number.
# Steps 1 and 2 are about whole numbers of any size; the 53 bits of a float run out at the tenth number of the
# expression.
#
# </details>

# %% [markdown]
# ## 2 What is true: Theorem A
#
# The base-7 layer escapes by storing *everything*. That is no accident.
#
# > **Theorem A.** Let $M \ge 3$ be odd, and one layer have one $A$ for all letters. If some readout is right modulo $M$
# > on all expressions $a-b-c-\cdots$ of up to $n+1$ numbers, then two different expressions of $n$ numbers never share
# > a state. So the state holds at least $n \log_2 M$ bits: it has stored the input.
#
# **Step 1: the prefix drops out.** Let $s$ and $t$ be expressions of equal length and $p$ something in front. Then
# $x(ps) = A^{|s|}x(p) + (\text{a sum that depends on } s \text{ only})$, so $x(ps) - x(pt)$ does not depend on $p$. The
# cell does the induction: if it holds after $k$ letters, it holds after $k+1$.

# %% tags=["proof-theorem_a"]
k = sp.Symbol("k", integer=True, positive=True)
A, p, c, u = sp.symbols("A p c Bu", commutative=False)  # p: x(p); c: what the letters add; u: what one more adds
after = sp.expand(A * (A**k * p + c) + u)
rest = sp.expand(after - A ** (k + 1) * p)
assert rest == A * c + u and not rest.has(p), (
    "Theorem A, step 1: one more letter, and still no prefix in the second part"
)
print("A (A^k p + c) + Bu = A^(k+1) p +", rest)

# %% [markdown]
# **Step 2: a collision can be moved.** Suppose $x(s) = x(t)$ with $s \ne t$. Take off what they begin with in
# common: by step 1 what is left of them shares a state as well. So let the first numbers differ, $s_1 \ne t_1$; call
# the sums of the others $R$ and $R'$. Again by step 1, `0-s` and `0-t` share a state too. Expressions that share a
# state get the same answer; so modulo $M$
#
# $$s_1 - R \equiv t_1 - R' \ \text{ (from } s, t), \qquad -s_1 - R \equiv -t_1 - R' \ \text{ (from } 0{-}s, 0{-}t).$$
#
# Subtract one from the other: $2(s_1 - t_1) \equiv 0$.
#
# **Step 3: we may divide by two.** Let $M = 2k + 1$ be odd. Then $2(k + 1) = M + 1 \equiv 1$, so two has an inverse,
# and $s_1 \equiv t_1$: a contradiction. $\blacksquare$

# %% tags=["proof-theorem_a"]
s1, t1, R, S = sp.symbols("s1 t1 R S")
assert sp.expand((s1 - R) - (t1 - S) - ((-s1 - R) - (-t1 - S)) - 2 * (s1 - t1)) == 0, (
    "Theorem A, step 2: 2 (s1 - t1) is left"
)
k = sp.Symbol("k", integer=True, positive=True)
M, half = 2 * k + 1, k + 1
assert sp.Mod(sp.expand(2 * half - 1), M) == 0, "Theorem A, step 3: two has an inverse modulo M"
print(f"2 (s1 - t1) = 0 modulo M; with M = {M} and 2 ({half}) = M + 1 this says s1 = t1 modulo M")


# %% [markdown]
# **Step 4, on examples.** A *collision* is a pair of different expressions that share a state. The proof turns each
# collision into two expressions that refute *every* readout, because they have the same state and different values.
# We draw 300 layers with small whole entries, and find a collision of expressions of three numbers where there is
# one; then we take off the common beginning, and look at $s, t$ and at `0-s`, `0-t`.

# %% tags=["proof-theorem_a"]
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


# %% tags=["proof-theorem_a"]
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

# %% tags=["proof-theorem_a"]
digits = np.array([[7]]), np.arange(1, 6)[:, None], np.array([6])
kept = {state_of(w, *digits) for w in product(range(5), repeat=4)}
assert len(kept) == 5**4, "Theorem A, step 5: a state that keeps all expressions apart"
print(f"base 7: {5**4} expressions, {len(kept)} states")

# %% [markdown]
# **Exercise 4** ★★ *(20 min, 5 points: the proof of Theorem A, in your own words)* **A proof step.** Prove Theorem A
# for $M = 3$ and $n = 2$ in your own words, with no algebra beyond that of this section. How many states are there
# at least?

# %% [markdown]
# <!-- Exercise 01.4: from notebooks/workbook/exercises/ch01.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint 1</summary>
#
# There are nine expressions of two digits.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# Suppose that two of them share a state: first with the same first digit, then with different ones.
#
# </details>
#
# <details><summary>Solution</summary>
#
# Nine. Suppose two of the nine expressions $a{-}b$ and $c{-}d$ share a state. If $a = c$, then by
# step 1 the states after the one letter $b$ and after $d$ agree too, and these have different values. If
# $a \ne c$: $a - b \equiv c - d$ and, with `0-` in front, $-a - b \equiv -c - d$ modulo 3, so
# $2(a - c) \equiv 0$, and $a = c$ as 2 has an inverse modulo 3. So all nine states differ.
#
# </details>

# %% [markdown]
# ### Your step
#
# **Exercise 5** ★★ *(10 min, 4 points: how a proof by contradiction becomes a construction)* **A proof step.** Steps
# 2 and 3 argue by contradiction. Make a construction of them: given are two expressions $s, t$ of equal length that
# share a state and whose first numbers differ. Write a function that returns two expressions which share a state
# *and* have different values modulo 5 (an expression is a tuple of its numbers). The cell after the solution tries
# it.

# %%
my_refutation = None  # exercise 5: your line, a function such as lambda s, t: (s, t)
check("01.5", my_refutation)

# %% [markdown]
# <!-- Exercise 01.5: from notebooks/workbook/exercises/ch01.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint 1</summary>
#
# What if $s$ and $t$ themselves have different values?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# If they have one value, what do `0-s` and `0-t` have?
#
# </details>
#
# <details><summary>Solution</summary>
#
# `lambda s, t: (s, t) if value(s) != value(t) else ((0, *s), (0, *t))`. By step 1 of Theorem A
# both pairs share a state; by steps 2 and 3 not both can have equal values.
#
# </details>

# %%
if my_refutation is not None:
    left, right = map(tuple, my_refutation((1, 0, 2), (3, 1, 3)))
    same_front = left[:-3] == right[:-3] and left[-3:] == (1, 0, 2) and right[-3:] == (3, 1, 3)
    assert same_front and value(left) != value(right), "your line: one state (by step 1), different values"
    print(f"{left} and {right} share a state, and their values are {value(left)} and {value(right)}")

# %% [markdown]
# ### Break a hypothesis: an odd modulus
#
# That $M$ is odd is needed where we divide by 2. For $M = 4$ step 3 fails.

# %% tags=["proof-theorem_a"]
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
# **Exercise 6** ★ *(5 min, 2 points: where Theorem A needs an odd modulus)* **Break the hypothesis.** Where does the
# proof of Theorem A fail for $M = 4$? Which two expressions of two numbers may share a state?

# %%
my_expressions = None  # exercise 6: two expressions, for example ("0-1", "2-2")
check("01.6", my_expressions)

# %% [markdown]
# <!-- Exercise 01.6: from notebooks/workbook/exercises/ch01.md, by lrnnlab book build; change it there. -->
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
#
# <details><summary>Solution</summary>
#
# The proof ends with $2(s_1 - t_1) \equiv 0$, which modulo 4 leaves $s_1 - t_1 = 2$. So `0-0` and
# `2-2` may share a state: both have the value 0, and so have `0-0-0` and `0-2-2`. Any pair may in which both
# numbers differ by 2. (Of expressions of one number none may: their values differ.)
#
# </details>

# %% [markdown]
# ### Theorem A with a margin
#
# Theorem A speaks of states that are *equal*; it is enough that they are close. A real network cannot tell two
# states apart that are closer than some margin; a bounded state has room for only so many points with that margin;
# and by step 1 of Theorem A a common prefix changes neither the difference of two states nor their *distance*. So
# every bounded layer with a margin fails on expressions that are long enough. Here is a layer of two numbers whose
# $A$ turns by one radian and shrinks to 0.8 (in floating point).
#
# **Step 1.** If $0.8 R + 1 \le R$, the disc of radius $R$ is never left, as every letter adds a vector of length at
# most 1. (The cell takes $R = 1/(1 - 0.8)$, and looks at all expressions of four numbers.)

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
# are as close. (Computed for the two that step 2 found.)

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
# ### A picture to play with: where expressions end up
#
# Each point is the state of one expression of $n$ numbers, coloured by its value modulo 5. The readout sees only in
# which cell of a grid a state lies; *bits* says how fine the grid is. A grey cell holds states of several values: no
# readout that sees only the cells is right there.

# %% tags=["hide-input"]
opened = {"layer": "spiral (A shrinks, turns)", "n": 3, "bits": 4}
show.figure(
    ch01.word_picture(**opened),
    alt="Points in the plane, the states of 125 expressions of three numbers under a layer "
        "that turns and shrinks, in five colours, over a grid of 16 by 16 cells. Several "
        "cells are grey; two points of one of them are ringed and named.",
    caption="What to see: colours lie mixed. Where two of them share a cell it is grey, and "
            "every readout of the cells errs.",
)  # fmt: skip

# %% [markdown]
# *Try:* the counter does not get better with more bits, since its collisions are exact. The digits do, but each further
# number asks for more bits. And look at the spiral with $n = 4$ and 8 bits: two expressions share a cell *and* a
# value, so nothing is wrong yet; the sentence below the picture goes on as step 2 of Theorem A does, with `0-` in
# front.

# %% tags=["hide-input"]
words_widget = explore(
    ch01.word_picture,
    {"layer": list(ch01.LAYERS), "n": [1, 2, 3, 4], "bits": [2, 3, 4, 5, 6, 8, 10, 12, 16, 20]},
    initial=opened,
    sentence=ch01.word_sentence,
    alt="The states of all expressions of n numbers, coloured by value, with the "
        "cells of the readout.",
)
words_widget

# %% [markdown]
# ## 3 Sum, and what S4 cannot do
#
# In its section 4.4 the paper uses Proposition 1 to explain its results on **Sum**, **EvenPair** and **ModArith**:
#
# > **The paper.** "The inferior performance of S4 and S4D is expected since they cannot represent subtraction as
# > illustrated in Prop. 1."
#
# But there is no subtraction in Sum (add digits modulo $M$) or in EvenPair (is the last letter the first one?). Only
# ModArith contains the expressions of section 1, and with them Theorem A. And one number with the constant $A = 1$
# computes Sum, with a readout that takes the remainder.
#
# **Step 1.** The state is the sum: for six free letters, in symbols.
#
# **Step 2.** On strings of $n$ digits the state takes all values from 0 to $4n$ and no others: $4n + 1$ states,
# which for $n = 500$ fit into 11 bits. (The cell lists them for $n \le 6$.)

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
# For an arbitrary readout one can still say how many states are needed.
#
# > **Theorem B.** One layer with one $A$ that computes Sum($M$), with any readout, takes at least $(M-1)n + 1$
# > different states on strings of length $n$. The counter takes exactly so many.
#
# **Step 1.** A letter $u$ at position $j$ of $n$ adds $A^{n-j} B u$ to the state, whatever stands elsewhere. If two
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
print("x(wuww) - x(wvww) =", gap)

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
print("m = k = 6:", *chain[:3], "...", chain[-1])

# %% [markdown]
# **Step 3.** For *vectors*, replace each by one number, $f(v) = v_1 + N v_2 + N^2 v_3 + \cdots$, with $N$ so large that
# no two of the finitely many sums get the same number. $f$ of a sum is the sum of the $f$, so step 2 counts the vectors
# too. (Checked on examples: sums of integer vectors.)

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
# infinitely many. (Checked up to $n = 6$ on those of 150 random layers of width 1, 2, 3 in which $A^D d \ne 0$.)

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
        "Theorem C, step 4: the first letter is seen however far back it stands"
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
# **Exercise 7** ★★ *(15 min, 4 points: what a periodic readout costs a ReLU network)* The readout of the counter for
# Sum(5) must be periodic. A ReLU network that reads one number and gives one number is a continuous function made of
# straight pieces. Let the answer be its value, rounded to a whole number. What is the least number of pieces with
# which it is right on all strings of 500 digits? Show that fewer are not enough.

# %%
my_pieces = None  # exercise 7: the least number of pieces
check("01.7", my_pieces)

# %% [markdown]
# <!-- Exercise 01.7: from notebooks/workbook/exercises/ch01.md, by lrnnlab book build; change it there. -->
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
# (section 3).
#
# </details>
#
# <details><summary>Solution</summary>
#
# 800. Rounding allows each value an error of one half. So from a state with the answer 4 to the next one,
# with the answer 0, the function falls by at least 3; and on the way from an answer 0 to the answer 4, four states later,
# it rises by at least 3. On the states 0 to 2000 it does each of the two 400 times, by turns, and one straight piece
# cannot do both: at least 800 pieces. Straight lines through the right answers are no more: they have corners at 4, 5, 9,
# 10, ..., 1995, 1999. (Each piece is right on at most five states in a row. To count only this gives 2001 / 5, so 401
# pieces; these would be enough if the function could jump, but a ReLU network is continuous.)
#
# </details>

# %% [markdown]
# ### Between finitely many states and all
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
# ### Break a hypothesis: two layers
#
# Theorems A to C are about *one* layer. Between two layers stands something non-linear, and then a constant $A$ stores
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
print("p_t =", p_t)


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
# which float32 holds exactly. (The cell runs the clock for 64 steps, and the layers on five strings of 120 digits.)

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
# cancel in pairs, and $6 (s_1 + 1) + (s_t + 1)$ is left: a number with two digits in base 6, which $h$ compares.
# (The cell has eight free letters.)

# %% tags=["proof-two_plain_layers"]
s = sp.symbols("s1:9")
total = 7 * (s[0] + 1) + sum(s[t] - s[t - 1] for t in range(1, 8))
assert sp.expand(total - (6 * (s[0] + 1) + s[7] + 1)) == 0, (
    "Two plain layers, step 2: the first and the last letter are left"
)
print("x =", sp.expand(total))

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
#
# ## 4 Proposition 2: a diagonal transition for each letter
#
# Now the transition may depend on the letter, $x_k = \mathrm{diag}(v_k)\,x_{k-1} + B u_k$. The coordinates do not
# mix. Call each of them a *channel*: $x \mapsto a x + b$ with numbers $a, b$ (real or complex) chosen by the letter.
# Sum(5) is now easy with finitely many states: letter $s$ turns a complex channel by $s \cdot 72°$. But:
#
# > **The paper, Proposition 2.** "A diagonal input-dependent LRNN is inconsistent in representing subtraction."
#
# **Step 1.** Diagonal matrices commute, so $A_1 A_- A_0 z = A_0 A_- A_1 z$ and the start cancels. What is left is the
# paper's Eq. 8:
#
# $$x_{1-0} - x_{0-1} = A_0 A_- B u_1 - A_1 A_- B u_0 + (A_0 - A_1) B u_- + B u_0 - B u_1 .$$
#

# %% tags=["proof-proposition_2"]
any_start = sp.Symbol("z", commutative=False)
Bu_of = {letter: sp.Symbol(f"Bu_{letter}", commutative=False) for letter in "01-"}


def difference(first, second, gates):
    ends = []
    for word in (first, second):
        x = any_start
        for letter in word:
            x = sp.expand(gates[letter] * x + Bu_of[letter])
        ends.append(x)
    return sp.expand(ends[0] - ends[1])


A_of = {letter: sp.Symbol(f"A_{letter}") for letter in "01-"}  # symbols that commute, as diagonal matrices do
eq_8 = A_of["0"] * A_of["-"] * Bu_of["1"] - A_of["1"] * A_of["-"] * Bu_of["0"]
eq_8 += (A_of["0"] - A_of["1"]) * Bu_of["-"] + Bu_of["0"] - Bu_of["1"]
commuting = difference("1-0", "0-1", A_of)
assert sp.expand(commuting - eq_8) == 0 and not commuting.has(any_start), (
    "Proposition 2, step 1: the start cancels, and Eq. 8 is left"
)
print("x(1-0) - x(0-1) =", commuting)

# %% [markdown]
# **Step 2.** After `0-` the same is left (Eq. 9).
#
# **Step 3.** As in Proposition 1, the values of `0-1` and `1-0` ask for different states; with `0-` in front they
# ask for equal ones.

# %% tags=["proof-proposition_2"]
long = difference("0-1-0", "0-0-1", A_of)
assert sp.expand(long - commuting) == 0, "Proposition 2, step 2: the same is left after 0-"
assert (0 - 1) % 5 != (1 - 0) % 5 and (0 - 0 - 1) % 5 == (0 - 1 - 0) % 5, (
    "Proposition 2, step 3: different values, equal values"
)
print("x(0-1-0) - x(0-0-1) =", long)

# %% [markdown]
# **Break a hypothesis.** With transitions that do not commute the start stays.

# %% tags=["proof-proposition_2"]
with show.expect_failure("Proposition 2, step 1"):
    own = {letter: sp.Symbol(f"A_{letter}", commutative=False) for letter in "01-"}
    short = difference("1-0", "0-1", own)
    assert not short.has(any_start), "Proposition 2, step 1: the start cancels"
print("x(1-0) - x(0-1) =", short)

# %% [markdown]
# The proof has the gap of section 1: a state need not be a function of the value. **Put right** as there, it says that
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
# ## 5 What is true: Theorem D
#
# Theorem C asked for finitely many states; let us ask for the same here.
#
# > **Theorem D.** Let one diagonal layer reach finitely many states. If all letters of $u$ and $v$ occur in $w$, then
# > for every $p$
# > $$x(p\,u\,v\,w) = x(p\,v\,u\,w).$$
#
# *Proof.* Take one channel; the set of its reachable states is a finite set $R \subset \mathbb C$, and every letter
# maps $R$ into $R$.
#
# **Step 1.** $(ax + b) - (ay + b) = a(x - y)$: if $a = 0$ the letter is a **reset**, it forgets all. If $a \ne 0$ it
# keeps different states different, and a map of a finite set into itself that does so meets every point: it *permutes*
# $R$. (The cell tries all 256 maps of a set of four points into itself.)
#
# **Step 2.** A permutation leaves the sum $S$ of the $n$ points of $R$ as it is: $aS + nb = S$. Let $c = S/n$ be their
# mean: then $ac + b = c$, for every letter that is no reset.

# %% tags=["proof-theorem_d"]
a, b, x, y, S = sp.symbols("a b x y S")
maps = list(product(range(4), repeat=4))
injective = [f for f in maps if len({f[i] for i in range(4)}) == 4]
assert sp.expand((a * x + b) - (a * y + b) - a * (x - y)) == 0, (
    "Theorem D, step 1: differences are multiplied by a"
)
assert len(maps) == 256 and all(set(f) == set(range(4)) for f in injective), (
    "Theorem D, step 1: no point is left out"
)
n = sp.Symbol("n", positive=True)
drive = sp.solve(sp.Eq(a * S + n * b, S), b)[0]
assert sp.simplify(a * (S / n) + drive - S / n) == 0, "Theorem D, step 2: the mean stays"
print(f"a S + n b = S gives b = {drive}, and a (S/n) + b = S/n")

# %% [markdown]
# **Step 3.** So $ax + b = c + a(x - c)$, and $|ax + b - c|^2 = |a|^2\,|x - c|^2$. Sum this over $R$: a permutation
# leaves the sum $V = \sum_R |x - c|^2$ as it is, so $V = |a|^2 V$. If $R$ has more than one point, $V$ is positive, and
# $|a| = 1$: the letter is a **turn** about $c$. (If $R$ is one point, every letter does nothing to it.)
#
# The cell also looks for a counterexample: it takes all sets of two to four points of a grid in the complex plane and
# *all* maps $x \mapsto ax + b$ that permute them, in whole numbers. Each has $|a| = 1$.

# %% tags=["proof-theorem_d"]
ar, ai, xr, xi, cr, ci = sp.symbols("a_r a_i x_r x_i c_r c_i", real=True)
alpha, x, c = ar + sp.I * ai, xr + sp.I * xi, cr + sp.I * ci
moved = alpha * x + c * (1 - alpha) - c  # a x + b - c, with b = c (1 - a) from step 2
square = sp.expand(moved * sp.conjugate(moved) - (ar**2 + ai**2) * (x - c) * sp.conjugate(x - c))
assert sp.simplify(square) == 0, "Theorem D, step 3: |a x + b - c|^2 = |a|^2 |x - c|^2"
V, size = sp.symbols("V size", positive=True)
assert sp.solve(sp.Eq(size**2 * V, V), size) == [1], "Theorem D, step 3: hence |a| = 1"

grid = [complex(i, j) for i in range(3) for j in range(3)]
sets = {frozenset(points) for points in product(grid, repeat=4) if len(set(points)) > 1}
found = 0
for R in sets:
    P, Q, *others = sorted(R, key=lambda w: (w.real, w.imag))
    for P1, Q1 in product(R, repeat=2):  # where P and Q go decides a = (P1 - Q1) / (P - Q) and b
        images = {(P1 - Q1) * (w - Q) + Q1 * (P - Q) for w in R}  # times (P - Q): whole numbers
        if P1 != Q1 and images == {w * (P - Q) for w in R}:
            found += 1
            squares = [(w * w.conjugate()).real for w in (P1 - Q1, P - Q)]
            assert squares[0] == squares[1], (
                "Theorem D, step 3: a permutation of R that is no turn"
            )
print(f"{len(sets)} sets, {found} maps a x + b that permute one of them: |a| = 1 for each")

# %% [markdown]
# **Step 4.** Turns about one centre commute. So if no letter of $w$ resets the channel, then no letter of $u$ and $v$
# does, and $uv$ and $vu$ do the same.
#
# **Step 5.** If some letter of $w$ resets it, what came before is forgotten: after the last reset the state depends on
# the letters from there on alone. $\blacksquare$

# %% tags=["proof-theorem_d"]
a, e, c, x, b, b1, b2, q = sp.symbols("a e c x b b1 b2 q")
orders = [c + second * ((c + first * (x - c)) - c) for first, second in ((a, e), (e, a))]
assert sp.expand(orders[0] - orders[1]) == 0, "Theorem D, step 4: turns about one centre commute"
last = x
for gate, drive in ((a, b), (e, b1), (0, q), (a, b2)):  # the third letter is a reset to q
    last = sp.expand(gate * last + drive)
assert not last.has(x) and last == a * q + b2, "Theorem D, step 5: nothing before a reset is left"
print("c + a e (x - c) in both orders;  after a reset to q and one more letter: x =", last)


# %% [markdown]
# **Step 6, on examples.** 5,000 random channels with finitely many states: each letter turns by a multiple of an
# $m$-th of a turn ($m$ up to 12) or resets. The words are those for subtraction: $u$ = `0-`, $v$ = `1-`, $w$ = `0-1`. A
# state lies at a whole radius and a whole number of $m$-ths of a turn from the centre, so the cell computes with whole
# numbers.

# %% tags=["proof-theorem_d"]
def channel(draw):  # m, and for 0, 1, -: is it a reset; by or to which angle, in m-ths; to which radius
    m, resets = draw.integers(1, 13), draw.random(3) < draw.choice([0, 0.3, 0.6])
    return int(m), resets, draw.integers(m, size=3), draw.integers(1, 4, size=3)


def end(word, m, resets, angles, radii):
    radius, angle = 1, 0
    for i in map("01-".index, word):
        radius, angle = (radii[i], angles[i]) if resets[i] else (radius, (angle + angles[i]) % m)
    return radius, angle


def times_apart(w):  # in how many channels the two words end apart
    return sum(end("0-1-" + w, *gates) != end("1-0-" + w, *gates) for gates in channels)


draw = np.random.default_rng(0)
channels = [channel(draw) for _ in range(5000)]
assert times_apart("0-1") == 0, "Theorem D, step 6: both words end in one state of each channel"
print(f"{len(channels)} channels, in each of which 0-1-0-1 and 1-0-0-1 end in one state")


# %% [markdown]
# **Step 7, on examples.** In complex128 too, up to rounding: the same channels about centres drawn at random.

# %% tags=["proof-theorem_d"]
def end_in_floats(word, centre, m, resets, angles, radii):
    x = centre + 1
    for i in map("01-".index, word):
        turn = np.exp(2j * np.pi * angles[i] / m)
        x = centre + radii[i] * turn if resets[i] else centre + turn * (x - centre)
    return x


draw = np.random.default_rng(1)
centres = draw.normal(size=5000) + 1j * draw.normal(size=5000)
ends = [[end_in_floats(word, centre, *gates) for centre, gates in zip(centres, channels)]
        for word in ("0-1-0-1", "1-0-0-1")]  # fmt: skip
far = abs(np.subtract(*ends)).max()
assert far < 1e-12, "Theorem D, step 7: the words end apart in complex128"
print(f"in complex128 the words end within 1e-12 of each other: {far < 1e-12}")

# %% [markdown]
# **Step 8.** For all channels whose turns have an order that divides $N$ (done $N$ times, they do nothing) one run
# is enough. The *universal layer* of order $N$ has a channel for every set of letters that reset and every other
# letter, which it counts modulo $N$ from the last reset on, and one channel that every letter resets. From these
# channels the state of any channel of the kind can be read off: those with its resetting letters tell which of them
# came last and how often each other letter has come since, and between resets turns add up. (The cell runs the
# universal layers of order 1 to 6 and 12.)

# %% tags=["proof-theorem_d"]
tokens = [["-01".index(letter) for letter in word] for word in ("0-1-0-1", "1-0-0-1")]
for N in (1, 2, 3, 4, 5, 6, 12):
    layer = cascades.universal_layer("-01", N)
    first, second = (layer.run(word)[-1] for word in tokens)
    assert first == second, f"Theorem D, step 8: the universal layer of order {N} tells the words apart"
print(f"order {N}: {len(layer.layers[0])} channels, and both words end in one state")

# %% [markdown]
# **Step 9, on examples.** *Finitely many* is needed: channels that shrink, $|a| < 1$, tell the words apart.

# %% tags=["proof-theorem_d"]
draw = np.random.default_rng(2)
a = draw.uniform(-0.7, 0.7, (5000, 3)) + 1j * draw.uniform(-0.7, 0.7, (5000, 3))
b, x = draw.normal(size=(5000, 3)), np.zeros((2, 5000), complex)
for both in zip(*tokens):
    for word, letter in enumerate(both):
        x[word] = a[:, letter] * x[word] + b[:, letter]
shrunk = abs(x[0] - x[1])
assert (shrunk > 0).all() and np.median(shrunk) > 1e-6, (
    "Theorem D, step 9: channels that shrink tell the words apart"
)
print(f"in 5,000 channels that shrink the words end {np.median(shrunk):.3f} apart (the median)")

# %% [markdown]
# **Break a hypothesis.** Leave the letter `1` out of $w$, and the words end apart in many channels.

# %% tags=["proof-theorem_d"]
with show.expect_failure("Theorem D, step 6"):
    several = times_apart("0-")
    assert several == 0, f"Theorem D, step 6: in {several} of 5000 channels the words end apart"

# %% [markdown]
# **Exercise 8** ★★ *(15 min, 4 points: why a permuting letter is a turn)* **A proof step.** In step 3 of Theorem D,
# why is $|a| = 1$, and where is it used that $R$ has more than one point?

# %% [markdown]
# <!-- Exercise 01.8: from notebooks/workbook/exercises/ch01.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint 1</summary>
#
# $\sum_R |x - c|^2$ is the same before and after.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# When is this sum zero?
#
# </details>
#
# <details><summary>Solution</summary>
#
# The letter permutes $R$, so $\sum_{x \in R} |x - c|^2 = \sum_{x \in R} |a|^2 |x - c|^2$. If $R$
# has two points the sum is not zero, and $|a| = 1$. If $R$ is one point, every letter does nothing, whatever
# $a$ is.
#
# </details>

# %% [markdown]
# ### Killer words
#
# To show that a task does not fit into one diagonal layer with finitely many states, it is enough to give
# $p, u, v, w$ as in Theorem D such that the words $puvw$ and $pvuw$ have different answers. For subtraction take $u$
# = `0-`, $v$ = `1-`, $w$ = `0-1`: the words **0-1-0-1** and **1-0-0-1** end in the same state, and *no readout of
# any kind* gives both answers. The cells do the same for ModArith, for EvenPair, for the bracket languages $D_n$
# (section 8) and $(abab)^*$, for Tomita's languages 3 and 4, and for five groups whose elements do not all commute
# (section 7). The [glossary](glossary.ipynb) lists these tasks.
#
# **Step 1.** For each task the letters of $u$ and $v$ are in $w$.

# %% tags=["proof-killer_words"]
KILLERS = {  # task: u, v, w, with nothing in front
    "a-b-c mod 5": ("0-", "1-", "0-1"), "ModArith(5)": ("0-", "1-", "0-1"),
    "EvenPair(2)": ("0", "1", "01"), "EvenPair(5)": ("0", "1", "01"),
    "Tomita 3": ("0", "1", "01"), "Tomita 4": ("00", "1", "01"), "Q_8": ("i", "j", "ij"),
    **dict.fromkeys(("D_2", "D_3", "D_4", "D_12", "(abab)*"), ("a", "b", "ab")),
    **dict.fromkeys(("S_3", "S_4", "A_4", "A_5"), ("s", "t", "st")),
}  # fmt: skip
for u, v, w in KILLERS.values():
    assert set(u + v) <= set(w), f"Killer words, step 1: a letter of {u}{v} is missing in {w}"
pairs = {task: (u + v + w, v + u + w) for task, (u, v, w) in KILLERS.items()}
print(f"{len(pairs)} tasks; for D_2 the words are", *pairs["D_2"])


# %% [markdown]
# **Step 2.** So by Theorem D both words end in the same state of every diagonal layer with finitely many states.
# (Run in the universal layers of order 1 to 6 and 12.)

# %% tags=["proof-killer_words"]
def universal_end(word, N):
    letters = sorted(set(word))
    return cascades.universal_layer(letters, N).run(map(letters.index, word))[-1]


for first, second in set(pairs.values()):
    for N in (1, 2, 3, 4, 5, 6, 12):
        assert universal_end(first, N) == universal_end(second, N), (
            f"Killer words, step 2: order {N} tells {first} and {second} apart"
        )
print(f"{len(set(pairs.values()))} pairs of words: one state in each universal layer")


# %% [markdown]
# **Step 3.** The two words have different answers.
#
# **Step 4.** These answers agree with a second definition of the language, which shares no code with its automaton.

# %% tags=["proof-killer_words"]
def answers_of(task, words):
    machine = language(task).machine
    return [int(machine.answer(read(machine, word))[-1]) for word in words]


for task, words in pairs.items():
    first, second = answers_of(task, words)
    assert first != second, f"Killer words, step 3: {task} answers both {' and '.join(words)} by {first}"
    again = [language(task).oracle(word) for word in words]
    assert again == [first, second], f"Killer words, step 4: the second definition of {task} answers {again}"
print(f"{len(pairs)} tasks answer their two words differently")

# %% tags=["hide-input"]
show.table(
    [{"task": task, "word": words[0], "answer": answers_of(task, words)[0],
      "other word": words[1], "other answer": answers_of(task, words)[1]}
     for task, words in pairs.items() if task not in ("D_3", "D_4", "D_12", "A_4", "EvenPair(2)")],
    caption="Pairs of words that end in one state of every diagonal layer with finitely many states; "
            f"{len(pairs)} tasks were checked, a few that are much alike are not shown. For the "
            "groups, an answer is the number of the element reached.",
)  # fmt: skip

# %% [markdown]
# **Break a hypothesis.** One diagonal layer does compute Parity, so there such words must have the same answer. They
# do.

# %% tags=["proof-killer_words"]
with show.expect_failure("Killer words, step 3"):
    first, second = answers_of("Parity", ("0101", "1001"))
    assert first != second, f"Killer words, step 3: Parity answers both 0101 and 1001 by {first}"

# %% [markdown]
# **Exercise 9** ★ *(10 min, 3 points: to refute all diagonal layers with two words)* The task is to say whether two
# b have stood side by side anywhere so far. Find two words of four letters a and b that rule out one diagonal layer
# (with finitely many states) for it.

# %%
my_words = None  # exercise 9: two words, for example ("aabb", "abab")
check("01.9", my_words)

# %% [markdown]
# <!-- Exercise 01.9: from notebooks/workbook/exercises/ch01.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint 1</summary>
#
# One letter each for $u$ and $v$ leaves two for $w$. Which $w$ contain both letters?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# $u = a$, $v = b$; try $w = ab$ and $w = ba$.
#
# </details>
#
# <details><summary>Solution</summary>
#
# `abba` and `baba`: $u = a$, $v = b$, $w = ba$, so by Theorem D they end in the same state. The first
# has two b side by side, the second has not. (With $w = ab$, as for $D_2$, neither of the words has.)
#
# </details>

# %% [markdown]
# ### A picture to play with: killer words on dials
#
# Choose what each letter does to a channel. Each dial is the complex plane around the centre of the turns, and the
# dot is the state.

# %% tags=["hide-input"]
show.figure(
    ch01.killer_walk("leave", "turn 72°", "turn 180°"),
    alt="Two rows of eight small dials: one channel while it reads 0-1-0-1 and while it "
        "reads 1-0-0-1, which ends with the hand in the same place; below, two rows of eight "
        "squares: a block of size 2 that reads the same words and keeps the first number, "
        "ending 0.25 apart.",
    caption="What to see: the rows of the channel differ on the way and end alike. The block "
            "of size 2 remembers the first number.",
)  # fmt: skip

# %% [markdown]
# *Try* any turns and resets: the last dials agree. Then take the hypothesis away: let the minus *shrink*, so that the
# channel has infinitely many states. The sentence says which step of Theorem D goes first, and how far apart the
# words end. (As long as the minus resets, no other letter brings them apart: why?) How far apart would they be after
# a hundred letters more (section 11)?

# %% tags=["hide-input"]
killers_widget = ch01.killers_widget()
killers_widget

# %% [markdown]
# ### Exactly which tasks fit
#
# Theorem D has a companion. Two words *do the same* in an automaton if they lead from every state to the same state. A
# task fits into one diagonal layer with finitely many states *exactly* if two laws hold in its smallest automaton, for
# all letters $x, y$ and all words $s, m$:
#
# $$x\,y\,m \ \text{ does the same as }\ y\,x\,m \ \text{ if } x \text{ and } y \text{ occur in } m; \qquad
# x^K s\,x \ \text{ does the same as }\ s\,x \ \text{ for some } K > 0.$$
#
# The first is Theorem D for single letters. The second holds in a channel with $K$ the order of its turns: if $x$ is a
# reset, the last $x$ forgets what was before; if it is a turn, $x^K$ does nothing. Together they suffice: cut a word
# after the last occurrence of each of its letters; within a piece, all letters but its last come again later, so by the
# first law their order does not matter, and by the second only their numbers modulo $K$ do. Both are known to the
# universal layer of order $K$. The function `minimal.possible_in_one_diagonal_layer` decides the two laws and, where
# one fails, finds two words that no such layer tells apart and that are answered differently.
#
# **Step 1.** Its verdict on six languages is what a search through the universal layer over all words finds. (For
# Sum(5), whose universal layer is large, the turn by 72° stands in its place.)

# %% tags=["proof-two_laws"]
verdicts = {}
for name in ("Parity", "Sum(5)", "Tomita 5", "Tomita 6", "Tomita 3", "(abab)*"):
    machine = language(name).machine
    verdicts[name] = found = minimal.possible_in_one_diagonal_layer(machine)
    layer = (minimal.constructions(name)[0].model if name == "Sum(5)"
             else cascades.universal_layer(machine.symbols, found.order))  # fmt: skip
    confused = cascades.pair_up(layer, machine)[1]
    assert found.possible == (confused is None), "The two laws, step 1: the verdict is what the search finds"
enough = [name for name, found in verdicts.items() if found.possible]
print("one diagonal layer is enough for", ", ".join(enough))

# %% [markdown]
# **Step 2.** Where the answer is no, the two words that it gives end in the same state of the universal layer, and
# have different answers.

# %% tags=["proof-two_laws"]
for name, found in verdicts.items():
    if not found.possible:
        machine = language(name).machine
        layer = cascades.universal_layer(machine.symbols, found.order)
        first, second = (layer.run(word)[-1] for word in found.words)
        answers = [int(machine.answer(word)[-1]) for word in found.words]
        assert first == second and answers[0] != answers[1], "The two laws, step 2: one state, two answers"
        print(f"{name}:", *("".join(machine.symbols[t] for t in word) for word in found.words))

# %% [markdown]
# **Step 3, on examples.** Step 1 with 100 random automata of three states and two letters.

# %% tags=["proof-two_laws"]
draw, possible = np.random.default_rng(0), 0
for _ in range(100):
    machine = automata.MooreMachine(draw.integers(3, size=(2, 3)), draw.integers(2, size=3), 0, "ab")
    found = minimal.possible_in_one_diagonal_layer(machine)
    confused = cascades.pair_up(cascades.universal_layer("ab", found.order), machine)[1]
    assert found.possible == (confused is None), (
        "The two laws, step 3: the verdict is what the search finds"
    )
    possible += found.possible
print(f"of 100 random automata {possible} fit into one diagonal layer, by the two laws and by search")

# %% tags=["hide-input"]
show.table(
    [
        {
            "task": name,
            "says": language(name).says,
            "one diagonal layer": "yes" if found.possible else "no",
            "because": found.reason,
        }
        for name, found in verdicts.items()
    ],
    caption="Six languages and whether one diagonal layer with finitely many states is enough.",
)

# %% [markdown]
# **Break a hypothesis.** A layer of order 2 is too coarse for Tomita 6, which counts modulo 3.

# %% tags=["proof-two_laws"]
with show.expect_failure("The two laws, step 1"):
    machine = language("Tomita 6").machine
    confused = cascades.pair_up(cascades.universal_layer(machine.symbols, 2), machine)[1]
    assert confused is None, "The two laws, step 1: a layer of order 2 confuses two words of Tomita 6"


# %% [markdown]
# **Exercise 10** ★ *(5 min, 4 points: what a layer of resets and turns cannot see)* **Predict.** Choose before you
# run. The answer is 1 where the last two letters are equal, else 0, so that `abbaa` gives 0 0 1 0 1. Does this task
# fit into one diagonal layer with finitely many states? When you run your choice, the function
# `minimal.possible_in_one_diagonal_layer` decides.

# %%
def last_two_equal():
    def step(state, token):
        return token, int(token == state[0])

    machine = automata.build((None, 0), "ab", step, lambda state: state[1])
    verdict = minimal.possible_in_one_diagonal_layer(machine)
    if verdict.possible:
        return "yes", verdict.reason
    order = "do not commute" in verdict.reason
    cause = "two letters do not commute" if order else "repetitions of a letter matter"
    first, second = ("".join(machine.symbols[t] for t in word) for word in verdict.words)
    return f"no: {cause}", f"{verdict.reason}; such a layer confuses {first} with {second}"


predict("01.10", last_two_equal)

# %% [markdown]
# <!-- Exercise 01.10: from notebooks/workbook/exercises/ch01.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint 1</summary>
#
# Before a word that contains both letters, is anything remembered?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# Compare $ba$ with $baaaa\dots$
#
# </details>
#
# <details><summary>Solution</summary>
#
# No, and not because of the order of the letters: after two letters all before them is forgotten.
# But in one channel a letter either resets, and twice is as good as once, or turns, and after $K$ turns all is
# as before. Either way $a^{K+1}$ leads where $a$ leads; but after $b$ the answer to $a$ is 0 and to $a^{K+1}$
# it is 1.
#
# </details>

# %% [markdown]
# ## 6 Why a block of size 2 changes everything
#
# The decisive step of Theorem D was its first one: on *one* number, a map $x \mapsto ax + b$ either forgets
# everything ($a = 0$) or nothing. On *two* numbers there is something between, a matrix that is not zero and not
# invertible. For the letter $s \in \{0,\dots,4\}$ let
#
# $$A_s = \begin{pmatrix} 1 & -s/4 \\ 0 & 0 \end{pmatrix}, \quad B u_s = \begin{pmatrix} s/4 \\ 1 \end{pmatrix}, \quad
# \text{then}\quad \begin{pmatrix} 0 \\ 0 \end{pmatrix} \mapsto \begin{pmatrix} s/4 \\ 1 \end{pmatrix}, \quad
# \begin{pmatrix} r \\ 1 \end{pmatrix} \mapsto \begin{pmatrix} r - s/4 + s/4 \\ 1 \end{pmatrix} = \begin{pmatrix} r \\ 1
# \end{pmatrix}.$$
#
# **Step 1.** The first letter is stored, and every later one leaves it alone.
#
# **Step 2.** $A_s$ is neither zero nor invertible: its rank is 1.
#
# **Step 3.** Each column has at most one entry that is not zero, and its size is at most 1, so the paper's
# constraint (Eq. 6, chapter 02: the $p$-norm of every column is at most 1) holds for every $p$.

# %% tags=["proof-block_two"]
r, s = sp.symbols("r s")


def keeps(corner, s=s):
    A, drive = sp.Matrix([[1, corner * s], [0, 0]]), sp.Matrix([s, 1])
    return A * sp.zeros(2, 1) + drive, sp.simplify(A * sp.Matrix([r, 1]) + drive)


empty, full = keeps(corner=-1)
assert list(empty) == [s, 1] and list(full) == [r, 1], (
    "The block of size 2, step 1: the first letter is stored and kept"
)
A = [sp.Matrix([[1, -sp.Rational(s, 4)], [0, 0]]) for s in range(5)]
assert all(block.rank() == 1 and block.det() == 0 for block in A), (
    "The block of size 2, step 2: neither zero nor invertible"
)
columns = [block.col(j) for block in A for j in (0, 1)]
assert all(sum(entry != 0 for entry in v) <= 1 and max(map(abs, v)) <= 1 for v in columns), (
    "The block of size 2, step 3: Eq. 6"
)
print("(0, 0) goes to", tuple(empty), "and (r, 1) to", tuple(full))

# %% [markdown]
# **Step 4.** With the last letter beside it (a channel with $A = 0$) this layer computes EvenPair. The cell compares it
# with the automaton over *all* words, by a search through the pairs (state of the layer, state of the automaton), of
# which there are finitely many (`cascades.pair_up`; put `cascades.pair_up??` into a cell to read its lines).

# %% tags=["proof-block_two"]
for M in (2, 5):
    model, machine = minimal.constructions(f"EvenPair({M})")[0].model, language(f"EvenPair({M})").machine
    first = model.layers[0][0]  # the block; beside it stands the last letter
    for token in range(M):
        step = Fraction(token, M - 1)
        assert first.rule(token, ()) == (((1, -step), (0, 0)), (step, 1)), (
            "The block of size 2, step 4: the block above"
        )
    assert model.size == 2 and cascades.pair_up(model, machine)[1] is None, (
        "The block of size 2, step 4: right on all words"
    )
print("EvenPair(2) and EvenPair(5): right on all words")

# %% [markdown]
# **Step 5.** $a - b - c - \cdots = 2a - (a + b + c + \cdots)$. So one layer subtracts on all well-formed
# expressions: this block holds $a$, and beside it a turn by 72° a unit adds up all numbers.
#
# **Step 6.** A block of size 3 does it even on strings that are not well-formed, whose value is the sum of the
# numbers before the first minus less that of the numbers after it.

# %% tags=["proof-block_two"]
numbers = sp.symbols("a b c d")
assert sp.expand(2 * numbers[0] - sum(numbers) - (numbers[0] - sum(numbers[1:]))) == 0, (
    "The block of size 2, step 5: twice the first"
)
model, larger = (one.model for one in minimal.constructions("a-b-c mod 5")[:2])
machine = language("a-b-c mod 5, expressions").machine
assert model.size == 2 and cascades.pair_up(model, machine)[1] is None, (
    "The block of size 2, step 5: right on all expressions"
)
machine = language("a-b-c mod 5").machine
assert larger.size == 3 and cascades.pair_up(larger, machine)[1] is None, (
    "The block of size 2, step 6: right on all strings"
)
print(f"expressions: blocks of size {model.size}; all strings: blocks of size {larger.size}")

# %% [markdown]
# **Step 7, on examples, in float64.** 300 random expressions of up to 249 numbers, the readout being twice the first
# number less the angle of the turn.

# %% tags=["proof-block_two"]
draw, wrong = np.random.default_rng(0), 0
for length in draw.integers(1, 250, size=300):
    numbers = draw.integers(5, size=length)
    x, turned = np.zeros(2), 1 + 0j
    for k in numbers:
        x = np.array([[1, -k / 4], [0, 0]]) @ x + np.array([k / 4, 1])
        turned *= np.exp(2j * np.pi * k / 5)
    read_off = 2 * round(4 * x[0]) - round(np.angle(turned) * 5 / (2 * np.pi))
    wrong += read_off % 5 != (2 * numbers[0] - numbers.sum()) % 5
assert wrong == 0, "The block of size 2, step 7: float64 reads off right"
print(f"{wrong} of 300 random expressions wrong in float64")

# %% [markdown]
# **Break a hypothesis.** The corner $-s/4$ takes away again what $B u_s$ adds. Set it to 0, and the block adds up
# the numbers instead of keeping the first:

# %% tags=["proof-block_two"]
with show.expect_failure("The block of size 2, step 1"):
    empty, full = keeps(corner=0)
    assert list(full) == [r, 1], f"The block of size 2, step 1: (r, 1) goes to {tuple(full)}"

# %% [markdown]
# **Exercise 11** ★★ *(10 min, 4 points: that to forget is a transition of zeros)* **Code.** Change the block of this
# section so that it stores the **last** letter $s$ other than 0, as the first of its two numbers (as $s/4$, like the
# block above, from the start $(0, 0)$). Give $A$ and $B u$ for
# the letters 0 to 4.

# %%
# exercise 11: letter -> (A, Bu), for example {0: ([[1, 0], [0, 1]], [0, 0]), 1: ...}
my_block = None
check("01.11", my_block)


# %% [markdown]
# <!-- Exercise 01.11: from notebooks/workbook/exercises/ch01.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint 1</summary>
#
# What must a letter $s \ne 0$ do to the state before?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# Its $A$ is zero, and $Bu$ is what is to be stored.
#
# </details>
#
# <details><summary>Solution</summary>
#
# Letter 0: the identity, nothing driven. Letter $s \ne 0$: $A = 0$, $B u_s = (s/4, 0)$. It needs
# no block at all: this is a reset in a channel.
#
# </details>

# %% [markdown]
# ### Singular is essential
#
# > **Claim.** A layer with invertible transitions only (rotations, as in chapter 04) and finitely many states does not
# > compute EvenPair.
#
# **Step 1.** Every letter permutes the states, and some power of a permutation does nothing: the $m$-th, if $m$ is
# the least common multiple of the lengths of its cycles. (All permutations of up to 5 states.)

# %% tags=["proof-invertible_only"]
def power(f, m):  # a permutation (a tuple) m times
    to = range(len(f))
    for _ in range(m):
        to = [f[i] for i in to]
    return list(to)


for n in range(1, 6):
    for f in (f for f in product(range(n), repeat=n) if len(set(f)) == n):
        # for each state the length of its cycle
        cycles = [next(m for m in range(1, n + 1) if power(f, m)[i] == i) for i in range(n)]
        assert power(f, np.lcm.reduce(cycles)) == list(range(n)), (
            "Invertible transitions, step 1: the m-th power does nothing"
        )
print(f"the last one, {f}, has cycles of the lengths {cycles}")

# %% [markdown]
# **Step 2.** So $0^m 1$ ends where $1$ ends. (All pairs of the 48 signed permutations of three coordinates, $m = 12$.)

# %% tags=["proof-invertible_only"]
orders = [list(q) for q in product(range(3), repeat=3) if len(set(q)) == 3]
turns = [np.eye(3, dtype=int)[q] * signs for q in orders for signs in product((1, -1), repeat=3)]
x = np.array([1, 2, 4])
for A_0, A_1 in product(turns, repeat=2):
    assert (A_1 @ np.linalg.matrix_power(A_0, 12) @ x == A_1 @ x).all(), (
        "Invertible transitions, step 2: 0^m 1 ends where 1 ends"
    )
print(f"{len(turns)} invertible blocks, all pairs: 0^12 1 ends where 1 ends")


# %% [markdown]
# **Step 3.** EvenPair wants different answers. **Step 4.** Indeed some letter of its smallest automaton *merges*
# states, which no permutation does.

# %% tags=["proof-invertible_only"]
def two_answers(name):
    machine = language(name).machine
    return [int(machine.answer(read(machine, word))[-1]) for word in ("0" * 12 + "1", "1")]


answers = two_answers("EvenPair(2)")
assert answers[0] != answers[1], "Invertible transitions, step 3: the answers differ"
moves = automata.minimise(language("EvenPair(2)").machine).transitions
assert any(len(set(move.tolist())) < len(move) for move in moves), (
    "Invertible transitions, step 4: some letter merges states"
)
print(f"EvenPair answers {answers}; its letters move the states to {moves.tolist()}")

# %% [markdown]
# **Break a hypothesis.** Parity, which rotations do compute, wants one answer.

# %% tags=["proof-invertible_only"]
with show.expect_failure("Invertible transitions, step 3"):
    answers = two_answers("Parity")
    assert answers[0] != answers[1], f"Invertible transitions, step 3: Parity answers {answers}"

# %% [markdown]
# ## 7 Depth: how many diagonal layers?
#
# Proposition 2 and Theorem D are about one layer. Now put several on top of each other: what layer 2 does depends on
# the letter *and on the state of layer 1*, and so on. What is gained can be said exactly with one notion from
# algebra.
#
# A **group** is a set of invertible maps of some set to itself that is closed in two ways: if it contains two maps,
# it contains the map that does first the one and then the other; and if it contains a map, it contains the one that
# undoes it. (The six ways to rearrange three points are a group, $S_3$; so are the five turns by multiples of 72°.)
# It is *commutative* if the order of two maps never matters, $gh = hg$. How far a group is from commutative is
# measured by its **commutators** $g^{-1}h^{-1}gh$: undo $g$, undo $h$, do $g$, do $h$. If $g$ and $h$ commute, this
# does nothing. All products of commutators of $G$ are again a group, $G'$; do the same with $G'$, and so on:
# $G > G' > G'' > \cdots$ is the **derived series**. If it comes down to the group of one map that does nothing, $G$
# is *solvable*, and the number of steps is its *derived length*: 1 for a commutative group, 2 for $S_3$ (whose
# commutators are the three turns, which commute).
#
# Groups occur in an automaton: we say that a set of words *acts as a group* if there are states which each of these
# words permutes, such that the permutations are a group. In the automaton of Sum(5) the five letters permute the five
# states by turns. In that of EvenPair no word permutes two or more states other than by leaving them where they are
# (the table of section 8 computes a derived length of 0 for it).

# %%
series = {name: [*map(len, groups.derived_series(list(GROUPS[name].values())))] for name in GROUPS}
show.table(
    [
        {
            "group": name,
            "permutes": f"{len(next(iter(GROUPS[name].values())))} points",
            "sizes in the derived series": " > ".join(map(str, sizes))
            if sizes[-1] == 1
            else f"{sizes[0]} = {sizes[1]} = ...",
            "layers needed": len(sizes) - 1 if sizes[-1] == 1 else "none are enough",
        }
        for name, sizes in series.items()
    ],
    caption="S_3 and S_4: all permutations of 3 and 4 points; A_4 and A_5: the even ones of 4 "
            "and 5 points; Q_8: the eight quaternion units.",
)  # fmt: skip

# %% [markdown]
# > **Theorem D′.** With $\ell$ diagonal layers and finitely many states, every group in the automaton is solvable, of
# > derived length at most $\ell$. Conversely the word problem of a solvable group (which element is the product of the
# > letters?) fits into as many layers as its derived length.
#
# *Proof, first half.* Let words act as a group $G$ on a set of states of the automaton. First we make them act on
# states of the layers. Let $Y$ be the set of reachable states of the layers that stand for these states of the
# automaton. Of all words made of the given ones take a word $e$ that leaves as few different states of $Y$ as
# possible, and repeat it until it does nothing on the set $eY$ of these. It then does nothing to the states of the
# automaton either, since $eY$ stands for all of them. Every word $e\,w\,e$ maps $eY$ to itself, and permutes it,
# since it cannot leave fewer states than $e$ does. So we have words that act as a group on $eY$; $G$ is its image,
# and the derived series of an image is no longer. It is therefore enough to bound the derived length of a group $G$
# of words that permute a set of states of the layers.
#
# **Step 1.** On layer 1 these words move each channel by turns about one centre (Theorem D, steps 1 to 3), and these
# commute; so every commutator, hence everything in $G'$, does nothing on layer 1.
#
# Keep a state of layer 1 fixed: then $G'$ permutes the states of layer 2 above it, again by turns about one centre
# (for each state below another one), so $G''$ does nothing there. And so on: the $\ell$-th derived group does
# nothing on all $\ell$ layers. $\blacksquare$

# %% tags=["proof-theorem_d_prime"]
a, e, c, x = sp.symbols("a e c x")
y = x
for turn in (1 / a, 1 / e, a, e):  # undo g, undo h, do g, do h: turns about c
    y = c + turn * (y - c)
assert sp.simplify(y - x) == 0, (
    "Theorem D′, step 1: a commutator of two turns about one centre does nothing"
)
print("x, after turns by 1/a, 1/e, a, e about c:", sp.simplify(y))


# %% [markdown]
# *Second half, by construction.* The set of all $r\,g'$ with $g' \in G'$ is called the *coset* of $r$. Choose one
# representative of every coset, and write each element as $g = r\,g'$ with such an $r$ and $g' \in G'$. A letter $c$
# turns the product $g$ into $c\,g = r_1\,h\,g'$, where $r_1$ represents the coset of $c\,r$, and $h = r_1^{-1} c\,r$
# is in $G'$ and depends on $c$ and $r$ only. Layer 1 keeps the coset: cosets multiply as a commutative group, which
# is a product of cyclic groups, and a cyclic group is the turns of one channel. The layers above keep $g'$, which is
# multiplied by $h$: for them the same is done with $G'$ in the place of $G$, and so on. So each layer turns by an
# amount that depends on the letter and the layers below.
#
# **Step 2.** For each of four groups the cell builds the layers, as many as the derived length, and compares their
# states with the group's elements over *all* words: each state stands for one element, and each element for one
# state.

# %% tags=["proof-theorem_d_prime"]
def layers_of(name, wanted):
    machine, series = language(name).machine, groups.derived_series(list(GROUPS[name].values()))
    cascade = groups.group_cascade(name)
    assert cascade.depth == wanted == len(series) - 1, (
        f"Theorem D′, step 2: {name} has {cascade.depth} layers, not {wanted}"
    )
    answers, confused = cascades.pair_up(cascade, machine)
    one_to_one = len(answers) == len(set(answers.values())) == machine.num_states == len(series[0])
    assert confused is None and one_to_one, (
        "Theorem D′, step 2: each state is one element, and each element one state"
    )
    print(f"{name}: {cascade.depth} layers, {len(answers)} states; sizes", *map(len, series))
    return cascade, machine, series, answers


wanted = {"S_3": 2, "Q_8": 2, "A_4": 2, "S_4": 3}
built = {name: layers_of(name, wanted[name]) for name in wanted}

# %% [markdown]
# **Step 3.** In these layers one can watch the first half: each element of the $j$-th derived group, written as a word
# and read from *every* state, leaves layers 1 to $j$ as they are.

# %% tags=["proof-theorem_d_prime"]
for name, (cascade, machine, series, answers) in built.items():
    acts = automata.transition_monoid(machine)  # every element of the group, and a shortest word for it
    words = {machine.names[to[machine.initial]]: word for to, word in zip(acts.elements, acts.words)}
    for j, group in enumerate(series):
        for element, before in product(group, answers):
            after = before
            for token in words["".join(map(str, element))]:
                after = cascade.step(after, token)
            assert after[:j] == before[:j], (
                "Theorem D′, step 3: the j-th derived group leaves layers 1 to j as they are"
            )
    print(f"{name}: from {len(answers)} states, words of up to {max(map(len, acts.words))} letters")

# %% [markdown]
# **Step 4, on examples.** The layers run on 200 random words of 40 letters and answer with the product, which is
# computed separately by moving the points; in complex128 they stay on their exact states, up to $10^{-9}$.

# %% tags=["proof-theorem_d_prime"]
draw = np.random.default_rng(0)
for name, (cascade, machine, _, answers) in built.items():
    generators = list(GROUPS[name].values())
    for word in draw.integers(len(generators), size=(200, 40)).tolist():
        points = list(range(len(generators[0])))
        for token in word:
            points = [generators[token][point] for point in points]
        last = cascade.run(word)[-1]
        assert machine.names[answers[last]] == "".join(map(str, points)), (
            "Theorem D′, step 4: the product of the letters"
        )
    drift = abs(cascade.values(word)[-1] - cascade.points(last)).max()
    assert drift < 1e-9, "Theorem D′, step 4: complex128 stays on the exact states"
print("200 random words for each of", ", ".join(built))

# %% [markdown]
# **Step 5.** For $A_5$ the derived series stops at once, $A_5' = A_5$; by the first half no number of layers is enough.
#
# **Step 6.** One layer is not enough for any of the five.

# %% tags=["proof-theorem_d_prime"]
A_5 = groups.derived_series(list(GROUPS["A_5"].values()))
assert A_5[0] == A_5[1] and len(A_5[0]) == 60, (
    "Theorem D′, step 5: the commutators of A_5 are all of A_5"
)
alone = {name: minimal.possible_in_one_diagonal_layer(language(name).machine) for name in GROUPS}
assert not any(found.possible for found in alone.values()), "Theorem D′, step 6: one layer is not enough"
print(f"A_5 has {len(A_5[0])} elements, its commutators make {len(A_5[1])}")
print("one layer is not enough for", ", ".join(alone))

# %% [markdown]
# **Step 7.** ModArith(5) contains only commutative groups, yet one layer is not enough, by the killer words. Three
# diagonal layers are enough, as a comparison with its automaton over all words shows: layer 1 holds the term that is
# being multiplied, as a power of 2 (times 2 is a turn, since 2 generates the numbers 1 to 4 modulo 5), and a clock;
# layer 2 remembers, by the clock, whether the term was zero one step ago; layer 3 turns by what the value gains.
# Whether two would do, we leave open.
#

# %% tags=["proof-theorem_d_prime"]
machine = language("ModArith(5)").machine
known = {one.model.name: one.model for one in minimal.constructions("ModArith(5)")}
three = known["three diagonal layers"]
assert three.depth == 3 and cascades.pair_up(three, machine)[1] is None, (
    "Theorem D′, step 7: three layers are right on all words"
)
assert not minimal.possible_in_one_diagonal_layer(machine).possible, (
    "Theorem D′, step 7: one layer is not enough"
)
print(f"ModArith(5): {three.depth} diagonal layers")


# %% [markdown]
# **Step 8, on examples.** We draw random layers of one channel each, with resets and turns of order 2: all groups in
# them have derived length at most the number of layers. (The answer is the state itself, so that the automaton keeps
# all states apart.)

# %% tags=["proof-theorem_d_prime"]
def random_channel(draw, depth):  # what each of three letters does, for each state of the layers below
    gates = {(token, lower): ("reset" if draw.random() < 0.1 else "turn", int(draw.integers(2)))
             for token in range(3) for lower in product(((0,), (1,)), repeat=depth)}  # fmt: skip
    return cascades.Channel(2, lambda token, lower: gates[token, lower])


draw, longest = np.random.default_rng(1), {}
for count in (1,) * 20 + (2,) * 6 + (3,) * 3:
    drawn = tuple((random_channel(draw, depth),) for depth in range(count))
    stack = cascades.DiagonalCascade("random", ("a", "b", "c"), drawn)
    shown = lambda state: sum(q << i for i, (q,) in enumerate(state))
    machine = automata.build(stack.start, stack.symbols, stack.step, shown)
    length = automata.classify(machine).derived_length
    longest[count] = max(longest.get(count, 0), np.inf if length is None else length)
assert all(length <= count for count, length in longest.items()), (
    "Theorem D′, step 8: derived length at most the layers"
)
said = ", ".join(f"{length} in {count}" for count, length in longest.items())
print("the longest derived length, by layers:", said)

# %% [markdown]
# **Break a hypothesis.** Two layers are not enough for $S_4$, by the first half; and the construction uses one for
# each step of the series.

# %% tags=["proof-theorem_d_prime"]
with show.expect_failure("Theorem D′, step 2"):
    layers_of("S_4", 2)


# %% [markdown]
# Watch two of them work. The letters are $s$, which swaps the first two points, and $t$, which moves all of them round.

# %% tags=["hide-input"]
def reached(name, word):
    machine = language(name).machine
    return [machine.names[state] for state in (machine.initial, *machine.run(read(machine, word)))]


show.figure(
    ch01.layers_run(groups.group_cascade("S_3"), "sttstst", reached("S_3", "sttstst")),
    alt="Two rows of dials for S_3 on the word s t t s t s t: the first row flips at "
        "each s, the second row turns by thirds, forwards or backwards; below, the "
        "permutation reached.",
    caption="What to see, S_3: layer 1 counts the s modulo 2. The same letter t turns layer 2 "
            "one way or the other, depending on layer 1.",
)  # fmt: skip

# %% tags=["hide-input"]
show.figure(
    ch01.layers_run(groups.group_cascade("S_4"), "sttstst", reached("S_4", "sttstst")),
    alt="Four rows of dials for S_4 on the word s t t s t s t: a sign in layer 1, thirds of a "
        "turn in layer 2, two signs in layer 3; below, the permutation reached.",
    caption="What to see, S_4: a sign, a third of a turn above it, two signs above both: 2 x "
            "3 x 4 = 24 states, one for each permutation.",
)  # fmt: skip

# %% [markdown]
# For $A_5$, the even permutations of five points, no number of diagonal layers with finitely many states is enough,
# while *one* block of size 3 is (the turns of an icosahedron, in the table below).

# %% [markdown]
# **Exercise 12** ★★ *(10 min, 3 points: how depth follows from commutators)* How many diagonal layers does the
# symmetry group of a regular pentagon need (5 turns, 5 reflections)? Think first, then let the cell check your
# answer.

# %%
my_layers = None  # exercise 12: a whole number
check("01.12", my_layers)

# %% [markdown]
# <!-- Exercise 01.12: from notebooks/workbook/exercises/ch01.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint 1</summary>
#
# Turns commute with turns.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# Which symmetries are commutators? Do these commute?
#
# </details>
#
# <details><summary>Solution</summary>
#
# Two. A reflection $s$ reverses the direction of a turn $r$, $s\,r\,s = r^{-1}$, so the group does not
# commute; the commutators are turns, and turns commute: sizes 10, 5, 1.
#
# </details>

# %% [markdown]
# ## 8 How large must a block be?
#
# > **Theorem E.** If the orbit of a point of $\mathbb R^b$ under $x \mapsto Ax + d$ is finite, it enters its cycle
# > after at most $b$ steps.
#
# **Step 1.** On the vectors $(x, 1)$ the map is linear, with a matrix $H$ of size $b + 1$ whose last row is
# $0 \cdots 0\ 1$. Let $K_j$ be the space of the vectors that $H^j$ sends to 0. As in Theorem C it grows until it stops
# for good. All its vectors end in 0, as the last coordinate stays; so its dimension is at most $b$, and $K_b = K_{b+1}
# = \cdots$. (The cell tries all maps with entries 0 and $\pm 1$ for $b = 1, 2$, and 4,000 random ones for $b = 3$.)
#
# **Step 2.** An orbit that is finite meets some point twice, $x_k = x_{k+N}$, with $k \ge b$ after going round the
# cycle often enough. Then $H^k$ sends $(x_0, 1) - (x_N, 1)$ to 0; by step 1 so does $H^b$, and $x_b = x_{b+N}$: it is in
# the cycle after $b$ steps. $\blacksquare$ (The cell runs the same maps from every start with entries 0, $\pm 1$. The
# cycles of these maps have lengths that divide 12, so an orbit is finite if $x_{24} = x_{36}$.)

# %% tags=["proof-theorem_e"]
draw = np.random.default_rng(0)
orbits = {}
for b in (1, 2, 3):
    entries = list(product((-1, 0, 1), repeat=b * b + b)) if b < 3 else draw.integers(-1, 2, (4000, 12))
    H = np.zeros((len(entries), b + 1, b + 1), dtype=np.int64)
    H[:, :b], H[:, b, b] = np.array(entries).reshape(-1, b, b + 1), 1
    v = np.array([(*x, end) for *x, end in product((-1, 0, 1), repeat=b + 1)]).T
    gone, later = ((P @ v == 0).all(axis=1) for P in (np.linalg.matrix_power(H, b + j) for j in (0, 3)))
    assert (gone == later).all() and not gone[:, v[b] != 0].any(), (
        "Theorem E, step 1: what is not gone after b steps stays"
    )
    x = np.array([(*start, 1) for start in product((-1, 0, 1), repeat=b)]).T
    runs = [np.linalg.matrix_power(H, k) @ x for k in range(37)]
    finite = (runs[24] == runs[36]).all(axis=1)  # (maps, starts)
    cycling = [(runs[k] == runs[k + 12]).all(axis=1) for k in range(25)]
    orbits[b] = [int((finite & ~np.any(cycling[:k], axis=0) & cycling[k]).sum()) for k in range(25)]
    assert orbits[b][b] > 0 == sum(orbits[b][b + 1 :]), (
        f"Theorem E, step 2: an orbit of b = {b} runs more than b steps"
    )
    said = ", ".join(f"{steps} steps: {many} orbits" for steps, many in enumerate(orbits[b][: b + 1]))
    print(f"b = {b}, before the cycle: {said}")

# %% [markdown]
# Apply this to the language $D_n$ of balanced brackets `a`…`b` of depth at most $n$. If all blocks of one layer had
# size $n$ at most, then after $n$ times `a` every block would be in its cycle, and $a^n$ and $a^{n+N}$ would end in one
# state for some $N$. But $a^n b^n$ is balanced, and $a^{n+N} b^n$ is too deep. So one layer with finitely many
# states needs a block of size at least $n + 1$, *whatever the number of blocks and the readout*.
#
# **Step 3.** The shift of $b$ unit vectors, the last of which goes to 0, runs exactly $b$ steps. ($b$ up to 13.)

# %% tags=["proof-theorem_e"]
for b in range(1, 14):
    met, x = [], np.eye(b, dtype=int)[0]
    while x.tolist() not in met:
        met.append(x.tolist())
        x = np.eye(b, k=-1, dtype=int) @ x
    assert met.index(x.tolist()) == b, "Theorem E, step 3: the shift runs b steps before its cycle"
print(f"b = {b}: after {met.index(x.tolist())} steps the shift is at", *x, "for good")

# %% [markdown]
# **Step 4.** $a^n b^n$ is in $D_n$, and $a^{n+N} b^n$ is not, for $N = 1, 2, \dots$: in the automaton the state after
# $a^{n+1}$ is one that is never left.
#
# **Step 5.** Size $n + 1$ is enough: depth $d$ is the unit vector $e_d$, and what is too deep is the zero vector. That
# model is right on all words. (For $n$ = 2, 3, 4 and 12.)

# %% tags=["proof-theorem_e"]
sizes = {}
for n in (2, 3, 4, 12):
    machine = language(f"D_{n}").machine
    deep = machine.run(read(machine, "a" * (n + 1)))[-1]
    balanced = int(machine.answer(read(machine, "a" * n + "b" * n))[-1])
    assert balanced == 1 != int(machine.outputs[deep]), (
        "Theorem E, step 4: n is not too deep, n + 1 is"
    )
    assert (machine.transitions[:, deep] == deep).all(), (
        "Theorem E, step 4: what is too deep stays so"
    )
    model = minimal.constructions(f"D_{n}")[0].model
    sizes[n] = model.size
    assert sizes[n] == n + 1 and cascades.pair_up(model, machine)[1] is None, (
        "Theorem E, step 5: b = n + 1 is enough"
    )
print("smallest block:", ", ".join(f"D_{n}: {b}" for n, b in sizes.items()))

# %% [markdown]
# **Break it.** The bound cannot be lowered: claim one step fewer, and the same orbits refute it.

# %% tags=["proof-theorem_e"]
with show.expect_failure("Theorem E, step 2"):
    for b, steps in orbits.items():
        assert sum(steps[b:]) == 0, (
            f"Theorem E, step 2: with b = {b}, {sum(steps[b:])} orbits run {b} steps and not {b - 1}"
        )

# %% tags=["hide-input"]
show.figure(
    state_diagram(ch01.brackets()),
    alt="Automaton of D_2, drawn as a ring: a leads from 0 to 1 to 2, and b back; a from 2 and b "
        "from 0 lead to a sink, which is never left.",
    caption="What to see: three times a leads from every state into the sink, two times a "
            "does not. So b is at least 3.",
)  # fmt: skip

# %% [markdown]
# **Exercise 13** ★★ *(10 min, 3 points: how a block holds an automaton)* Give the block of size 3 for $D_2$: which
# vectors stand for the depths 0, 1, 2 and for the sink, and what are $A_a$ and $A_b$?

# %% [markdown]
# <!-- Exercise 01.13: from notebooks/workbook/exercises/ch01.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint 1</summary>
#
# Draw the automaton first.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# A state of it is a basis vector; what leads to the sink leads to zero.
#
# </details>
#
# <details><summary>Solution</summary>
#
# $e_0, e_1, e_2$ and the zero vector. $A_a$ sends $e_0 \to e_1 \to e_2 \to 0$, $A_b$ sends
# $e_2 \to e_1 \to e_0 \to 0$: two shifts, nothing driven.
#
# </details>

# %% [markdown]
# ### The smallest models
#
# All of this together: for each language the number of states $|Q|$ of its automaton, how many different things words
# can do to them ($|$monoid$|$), what one layer needs, and the smallest exact block that we know. "Pre-period" is the
# number of times that a word must be repeated before its powers run in a cycle, for the word that takes longest; by
# Theorem E some block is at least as large. "b needed" is the largest of three bounds: the pre-period; 2, if real
# diagonal gates (turns of order 1 or 2) are not enough by the two laws of section 5; 3, if the automaton has a group
# that is not solvable or of derived length above 2, because the finite groups of maps $x \mapsto Ax + d$ of the
# plane are turns and reflections about one point, which have derived length 2 at most (a classical fact that we do
# not prove here). Every model in the table is exact: it is compared with the automaton over *all* words. "Within Eq.
# 6" is the smallest block that we know among those that obey the paper's constraint with $p = 1.2$.

# %% tags=["hide-input"]
table = minimal.smallest_models()
columns = [
    "task",
    "|Q|",
    "|monoid|",
    "pre-period",
    "derived length",
    "one diagonal layer",
    "b needed",
    "b found",
    "tight",
    "within Eq. 6",
    "construction",
]
show.table(
    [{name: row[name] for name in columns} for row in table],
    caption="One layer with finitely many states, any number of blocks, any readout; b "
            "counts real numbers.",
)  # fmt: skip

# %% [markdown]
# **Exercise 14** ★ *(10 min, 3 points: what a bound on the columns costs)* **Read a picture.** For which tasks of
# the table is the number in the column "within Eq. 6" larger than the smallest block found without the constraint
# ("b found")? What have their models in common?

# %%
my_tasks = None  # exercise 14: a list of names from the table's first column
check("01.14", my_tasks)

# %% [markdown]
# <!-- Exercise 01.14: from notebooks/workbook/exercises/ch01.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint 1</summary>
#
# Compare the columns "b found" and "within Eq. 6" row by row.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# What does the column "construction" say of the rows in which they differ?
#
# </details>
#
# <details><summary>Solution</summary>
#
# Sum(5), $a-b-c$ mod 5, ModArith(5), Tomita 3, Tomita 6, $S_3$ and $A_5$. In all of them but Tomita 3 something
# turns by an angle that is no multiple of 90 degrees. Two numbers are enough for such a turn (three for the turns of
# $A_5$), but the columns of its matrix have a $p$-norm above 1 for $p < 2$. Within the constraint our models permute
# unit vectors instead, which takes more of them: five for Sum(5) and for $A_5$. A sign is within it, so Parity and
# Tomita 5 cost nothing. In Tomita 3 a state is a sum of two unit vectors, and a column with two ones is too long as
# well.
#
# </details>

# %% tags=["hide-input"]
show.table(
    [
        {"task": task, **found.row()}
        for task in ("Sum(5)", "EvenPair(5)", "a-b-c mod 5", "ModArith(5)")
        for found in minimal.constructions(task)
    ],
    caption="Every exact model known here for the paper's tasks and for subtraction. "
            "'states': how many it reaches. On 'expressions': right wherever the "
            "string is well-formed.",
)  # fmt: skip

# %% [markdown]
# The paper uses $b = 8$: one layer for Sum and EvenPair, three for ModArith. The table agrees that this is enough room:
# 5, 2 and (in two layers already) 5 within Eq. 6. That a model *exists* says nothing about
# whether training finds it; see chapter 02. And $D_{12}$ shows that $b = 8$ is not enough for every regular language
# in one layer.
#
# ### A picture to play with: blocks against depth
#
# Choose a task, a block size and a depth. A green light means that an exact model with finitely many states is
# known; below the lights it reads a word (type your own and press Enter). The two constant layers of section 3 are
# not among these models: in exact arithmetic their clock never stops, so they have infinitely many states.

# %% tags=["hide-input"]
show.figure(
    ch01.fit_lights("ModArith(5)", 2, 3),
    alt="Thirty lights for ModArith(5): impossible at b = 1 in one to three layers, open for "
        "small blocks in one and two layers, green from b = 8 in one layer, b = 4 in two, b = "
        "2 in three. Below, the state of the three diagonal layers while they read 2×3+4-1×3.",
    caption="What to see: depth and block size can replace each other. Three layers of turns "
            "and resets (b = 2) do what one layer does with b = 8.",
)  # fmt: skip

# %% tags=["hide-input"]
fit_widget = explore(
    ch01.fit_lights,
    {"task": list(ch01.SAMPLES), "b": list(ch01.SIZES), "layers": list(ch01.DEPTHS), "word": ""},
    initial={"task": "D_4", "b": 5, "layers": 1}, sentence=ch01.fit_sentence,
    alt="Lights for every block size and depth of the chosen task, and the state of an exact "
        "model while it reads a word.",
)  # fmt: skip
fit_widget

# %% [markdown]
# ## 9 How Liquid-S4 escapes
#
# Liquid-S4 has $x_k = (A + \mathrm{diag}(B u_k))\,x_{k-1} + B u_k$ (Eq. 4). The paper says that it "does not suffer
# from the limitation outlined in Proposition 2". That is correct, and can be made exact. Write $G_c = A +
# \mathrm{diag}(Bu_c)$ and
#
# $$K = G_1 G_- G_0 - G_0 G_- G_1, \qquad x_{0-1} - x_{1-0} = K z + g$$
#
# with a vector $g$ that does not depend on the start. After `0-` the difference is $K x_{0-} + g$.
#
# **Step 1.** If $K$ and $G_- G_0$ are invertible, the equation $K x_{0-} + g = 0$ has a solution $z$. Here is a layer of
# width 2 where they are.

# %% tags=["proof-liquid_s4"]
driven = {"0": sp.Matrix([1, 0]), "1": sp.Matrix([0, 2]), "-": sp.Matrix([1, -1])}  # B u for each letter


def liquid_layer(t):  # t scales what stands off the diagonal
    A = sp.Matrix([[1, 2 * t], [-t, 3]])
    G = {letter: A + sp.diag(*driven[letter]) for letter in driven}
    return G, G["1"] * G["-"] * G["0"] - G["0"] * G["-"] * G["1"]


def liquid(word, x, G):
    for letter in word:
        x = G[letter] * x + driven[letter]
    return x


# %% tags=["proof-liquid_s4"]
def start(G, K):  # the z with K x(0-) + g = 0
    zero = sp.zeros(2, 1)
    g = liquid("0-1", zero, G) - liquid("1-0", zero, G)
    return (K * G["-"] * G["0"]).LUsolve(-g - K * liquid("0-", zero, G))


G, K = liquid_layer(1)
assert K.det() != 0 and (G["-"] * G["0"]).det() != 0, (
    "Liquid-S4, step 1: the equation for z has a solution"
)
escape = start(G, K)
print("K =", K.tolist(), "  z =", tuple(escape))

# %% [markdown]
# **Step 2.** From this start $x_{0-0-1} = x_{0-1-0}$, exactly; **step 3:** and $x_{0-1} \ne x_{1-0}$.

# %% tags=["proof-liquid_s4"]
assert liquid("0-0-1", escape, G) == liquid("0-1-0", escape, G), (
    "Liquid-S4, step 2: the equal values have equal states"
)
assert liquid("0-1", escape, G) != liquid("1-0", escape, G), (
    "Liquid-S4, step 3: the different values have different states"
)
print("x(0-0-1) = x(0-1-0) =", tuple(liquid("0-0-1", escape, G)))

# %% [markdown]
# **Step 4.** The escape comes from the off-diagonal part of $A$ alone. Scale it by $t$: the determinant of $K$ is a
# multiple of $t^2$. With $A$ diagonal, $t = 0$, even $K = 0$: both differences are $g$, and Proposition 2 is back.

# %% tags=["proof-liquid_s4"]
scale = sp.Symbol("t")
determinant, (G_0, K_0) = sp.factor(liquid_layer(scale)[1].det()), liquid_layer(0)
assert sp.rem(determinant, scale**2, scale) == 0 and K_0 == sp.zeros(2, 2), (
    "Liquid-S4, step 4: K vanishes with the off-diagonal part"
)
y = sp.Matrix(sp.symbols("y1 y2"))
unequal, equal = (
    sp.expand(liquid(a, y, G_0) - liquid(b, y, G_0)) for a, b in (("0-1", "1-0"), ("0-0-1", "0-1-0"))
)
assert unequal == equal and not equal.has(*y), "Liquid-S4, step 4: one difference, whatever the start"
print(f"det K = {determinant};  at t = 0 both differences are {tuple(equal)}")

# %% [markdown]
# **Step 5.** This start escapes *one* contradiction. It does not make Liquid-S4 represent subtraction: already $0 = 0 -
# 0$ fails.

# %% tags=["proof-liquid_s4"]
gap = liquid("0", escape, G) - liquid("0-0", escape, G)
assert gap != sp.zeros(2, 1), "Liquid-S4, step 5: equal values, different states"
print("x(0) - x(0-0) =", tuple(gap))

# %% [markdown]
# **Break a hypothesis.** Without the off-diagonal part, at $t = 0$, the equation of step 1 cannot be solved.

# %% tags=["proof-liquid_s4"]
with show.expect_failure("Liquid-S4, step 1"):
    G_0, K_0 = liquid_layer(0)
    assert K_0.det() != 0 and (G_0["-"] * G_0["0"]).det() != 0, (
        f"Liquid-S4, step 1: det K = {K_0.det()}, no start helps"
    )

# %% [markdown]
# **Exercise 15** ★★★ *(15 min, 3 points: what only off-diagonal entries give)* **A proof step.** For which matrices
# $A$ do the transitions $A + \mathrm{diag}(v)$ and $A + \mathrm{diag}(w)$ of Liquid-S4 commute, for given vectors
# $v$ and $w$?

# %% [markdown]
# <!-- Exercise 01.15: from notebooks/workbook/exercises/ch01.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint 1</summary>
#
# Multiply out; most terms cancel.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# What is the entry $(i, j)$ of $AD - DA$ for a diagonal $D$?
#
# </details>
#
# <details><summary>Solution</summary>
#
# With $V = \mathrm{diag}(v)$ and $W = \mathrm{diag}(w)$:
# $(A + V)(A + W) - (A + W)(A + V) = A(W - V) - (W - V)A$, with entries $a_{ij}\,(w_j - v_j - w_i + v_i)$. So
# exactly if $a_{ij} = 0$ wherever $w - v$ differs at $i$ and $j$: for generic inputs, $A$ diagonal.
#
# </details>

# %% [markdown]
# ## 10 Where the paper says something else
#
# | the paper | what we found |
# |---|---|
# | Propositions 1 and 2: such layers are "inconsistent in representing subtraction" | right if the state must be a function of the value; false with a readout (sections 1, 4). True for any readout: Theorems A and D |
# | S4 and S4D fail on Sum and EvenPair *because* of Proposition 1 (section 4.4) | neither task contains a subtraction. A constant $A = 1$ computes Sum; two constant layers compute EvenPair (section 3) |
# | diagonal transitions are not enough (motivation of section 3) | in *one* layer with finitely many states. Three diagonal layers compute ModArith(5), two the group $S_3$ (section 7) |
# | Liquid-S4 has "input-dependent block matrices" (section 4.4) | Eq. 4 is one $A$ plus a diagonal that depends on the input: not blocks that do |
# | "it is feasible to maintain the same block size if more layers are employed" | for ModArith yes (table in section 8). In general it is a hope; for $D_{12}$ with $b = 8$ and more layers we leave it open |
#
# Chapter 02 asks whether the column norms of Eq. 6 and 7 keep a product from exploding, and chapter 03 what the
# parallel scan costs.
#
# ## 11 What the propositions do not say
#
# * **Nothing about training.** All of this is about which functions *exist*. A model that can represent a task may not
#   learn it, and Table 2 of the paper measures learning.
# * **Nothing about short strings.** Theorem A lets the state store all of a short input; a network trained and tested
#   at length 40 need not notice.
# * **Nothing about several layers**, except Theorem D′. Two layers hold the first letter in few states at each length
#   (section 3), and in finitely many if the lower one keeps the last two letters in place of the clock; so Theorem C is
#   about one layer only. So is Theorem A: with a counter beside it, the first number is all that
#   subtraction asks for (section 6, step 5). Whether Theorem B holds for two layers we have not looked at.
# * **Nothing about infinitely many states.** Theorems C, D, D′ and E ask for finitely many, in exact arithmetic. A
#   diagonal layer whose states grow can store everything (section 4); one whose states shrink tells the killer words
#   apart by less and less. Rounding is yet another matter.
# * **"Open" in the table means that we know no model and no proof**, not that there is none.

# %%
print(f"what is left of a difference after 100 letters that shrink it to 60 %: {0.6**100:.1e}")

# %% [markdown]
# ## 12 What you have learned
#
# 1. Propositions 1 and 2 rule out that equal values have equal states and different values different ones. A readout
#    that sends several states to one answer computes subtraction, with one number that stores the whole expression.
# 2. With one $A$ for all letters and any readout, subtraction modulo an odd number makes the state store its input
#    (Theorem A); Sum needs a state that grows (B); finitely many states see only the last letters (C).
# 3. With a diagonal $A$ for each letter and finitely many states, a letter is a reset or a turn, and two killer
#    words end in the same state (D). $\ell$ such layers hold exactly the solvable groups of derived length up to
#    $\ell$ (D′).
# 4. A block of two numbers can forget in one direction and remember in the other, which no single number can; a
#    block needs at least as many numbers as the pre-period of the automaton (E).
# 5. What exists and what training finds are two questions. This chapter answers the first one only.
#

# %% [markdown]
# ## 13 Exercises
#
# They stand in the sections that they are about. `hint("01.1")` and `solution("01.1")` show what is folded there.

# %% [markdown]
# <!-- The exercises of this chapter, listed by lrnnlab book build. -->
#
# 15 exercises, 51 points, about 152 minutes:
#
# | exercise | stands in | difficulty | minutes | points | it teaches |
# |---|---|---|---|---|---|
# | 1 | [1 Proposition 1: one transition for all letters](#1-Proposition-1:-one-transition-for-all-letters) | ★ | 5 | 3 | that what comes before cancels |
# | 2 | [1 Proposition 1: one transition for all letters](#1-Proposition-1:-one-transition-for-all-letters) | ★ | 2 | 2 | which demand a readout makes |
# | 3 | [1 Proposition 1: one transition for all letters](#1-Proposition-1:-one-transition-for-all-letters) | ★★ | 10 | 4 | that what stores everything needs more bits than a float has |
# | 4 | [2 What is true: Theorem A](#2-What-is-true:-Theorem-A) | ★★ | 20 | 5 | the proof of Theorem A, in your own words |
# | 5 | [2 What is true: Theorem A](#2-What-is-true:-Theorem-A) | ★★ | 10 | 4 | how a proof by contradiction becomes a construction |
# | 6 | [2 What is true: Theorem A](#2-What-is-true:-Theorem-A) | ★ | 5 | 2 | where Theorem A needs an odd modulus |
# | 7 | [3 Sum, and what S4 cannot do](#3-Sum,-and-what-S4-cannot-do) | ★★ | 15 | 4 | what a periodic readout costs a ReLU network |
# | 8 | [5 What is true: Theorem D](#5-What-is-true:-Theorem-D) | ★★ | 15 | 4 | why a permuting letter is a turn |
# | 9 | [5 What is true: Theorem D](#5-What-is-true:-Theorem-D) | ★ | 10 | 3 | to refute all diagonal layers with two words |
# | 10 | [5 What is true: Theorem D](#5-What-is-true:-Theorem-D) | ★ | 5 | 4 | what a layer of resets and turns cannot see |
# | 11 | [6 Why a block of size 2 changes everything](#6-Why-a-block-of-size-2-changes-everything) | ★★ | 10 | 4 | that to forget is a transition of zeros |
# | 12 | [7 Depth: how many diagonal layers?](#7-Depth:-how-many-diagonal-layers?) | ★★ | 10 | 3 | how depth follows from commutators |
# | 13 | [8 How large must a block be?](#8-How-large-must-a-block-be?) | ★★ | 10 | 3 | how a block holds an automaton |
# | 14 | [8 How large must a block be?](#8-How-large-must-a-block-be?) | ★ | 10 | 3 | what a bound on the columns costs |
# | 15 | [9 How Liquid-S4 escapes](#9-How-Liquid-S4-escapes) | ★★★ | 15 | 3 | what only off-diagonal entries give |

# %% [markdown]
# ## 14 Read on
#
# * The paper: Fan, Chi and Rudnicky, *Advancing Regular Language Reasoning in Linear Recurrent Neural Networks*, 2024,
#   [arXiv:2309.07412](https://arxiv.org/abs/2309.07412). Liquid-S4: Hasani et al., *Liquid Structural State-Space
#   Models*, 2022, [arXiv:2209.12951](https://arxiv.org/abs/2209.12951).
# * How many diagonal layers a group needs, with the count of Theorem D′ and with trained models beside it: Shakerinava,
#   Khavari, Ravanbakhsh and Chandar, *The Expressive Limits of Diagonal SSMs for State-Tracking*, 2026,
#   [arXiv:2603.01959](https://arxiv.org/abs/2603.01959).
# * Limits of state-space models by circuit complexity: Merrill, Petty and Sabharwal, *The Illusion of State in
#   State-Space Models*, 2024, [arXiv:2404.08819](https://arxiv.org/abs/2404.08819).
# * Non-negative gates and star-free languages: Sarrof, Veitsman and Hahn, *The Expressive Capacity of State Space
#   Models*, 2024, [arXiv:2405.17394](https://arxiv.org/abs/2405.17394).
# * What negative eigenvalues add: Grazzi et al., *Unlocking State-Tracking in Linear RNNs Through Negative
#   Eigenvalues*, 2024, [arXiv:2411.12537](https://arxiv.org/abs/2411.12537).
# * Automata as layers of groups and resets, the source of the construction of Theorem D′: Krohn and Rhodes, *Algebraic
# Theory of Machines I*, 1965,
# [doi:10.1090/S0002-9947-1965-0188316-1](https://doi.org/10.1090/S0002-9947-1965-0188316-1).
