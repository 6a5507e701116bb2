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
# A paper proves that no layer of a certain kind can subtract. Here is such a layer, with one number $x$ as its state, and it subtracts.
# It reads an expression letter by letter, $x_k = 7\,x_{k-1} + \mathrm{code}(u_k)$. The digits 0 to 4 have the codes 1 to 5, and the
# minus has 6. At the end a function `h` reads the answer modulo 5 off the last state.

# %% jupyter={"source_hidden": true} tags=["hide-input"]
from fractions import Fraction
from itertools import product

import numpy as np
import sympy as sp

import lrnnbook
from lrnnbook import show
from lrnnbook.content.chapters import ch01
from lrnnbook.content.exercises import check, hint, solution
from lrnnbook.content.show.widgets import explore
from lrnnbook.content.tables import minimal
from lrnnlab.automata.languages import language, read
from lrnnlab.expressivity.theorems import cascades

lrnnbook.needs("0.1")


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


def value(numbers):
    return (numbers[0] - sum(numbers[1:])) % 5


draw = np.random.default_rng(0)
tried = [word for k in range(1, 5) for word in product(range(5), repeat=k)]
tried += [tuple(draw.integers(5, size=k).tolist()) for k in draw.integers(1, 120, size=200)]
assert all(h(run(word)) == value(word) for word in tried), "The base-7 layer, step 1: the readout is right"
print(f"3-1-4: the state is {run((3, 1, 4))}, the answer {h(run((3, 1, 4)))}")
print(f"{len(tried)} expressions, the longest of {max(map(len, tried))} numbers: all right")

# %% jupyter={"source_hidden": true} tags=["hide-input", "nbval-ignore-output"]
show.figure(
    ch01.word_picture("digits (A = 7)", 2, 10),
    alt="25 points on five lines, one line for each value modulo 5. Every expression of two numbers has a state of its own.",
    caption="What to see: the states of all 25 expressions of two numbers, coloured by their value. No two share a state, so h can "
    "give each its own answer.",
)

# %% [markdown]
# **What we ask.** *What can a linear recurrence not represent?* Paper 000 (Fan, Chi and Rudnicky, 2024) says: subtraction, if the
# transition is the same for every letter (Proposition 1). And even if it depends on the letter, as long as it is diagonal
# (Proposition 2). You have just seen one number subtract. So why does the proof seem right?
#
# Both proofs are short, and both say what they assume: one gets its contradiction "by forcing $x_{0-1} \ne x_{1-0}$" and "Enforcing
# $x_{0-0-1} = x_{0-1-0}$". Subtraction forces only one of the two. You will find out which, break the other, and repair the result.
#
# **How to read the proofs.** Each step is a sentence and a short cell that ends in `assert ..., "Theorem A, step 3: ..."`. Change a line
# and run the cell again: the `assert` tells you which step of which proof breaks. A badge says how strong a step is: **all cases** (in
# symbols), **all** of a finite number, a **sample** (drawn at random), or **float** (in rounded numbers). Where we break a hypothesis ourselves, `show.expect_failure` demands
# that exactly this step fails.
#
# *You need:* matrices, eigenvalues, modular arithmetic, and chapter 00. *It takes* about 1 h to read and 1 h 5 min for the exercises, and less than a minute of
# computing.

# %% [markdown]
# ## 1 A proof that says no
#
# A layer keeps a state, a vector: $x_k = A\,x_{k-1} + B u_k$. The matrices $A$ and $B$ are the same for every letter $u_k$, as in S4,
# S5 and LRU (see the [glossary](glossary.ipynb)). The answer is $h(x_k)$. The paper leaves the readout $h$ open: it "may or may not be
# a linear operation".
#
# > **The paper, Proposition 1.** "An input-independent LRNN is inconsistent in representing subtraction."
#
# Write $x_{0-1}$ for the state after the three letters `0`, `-`, `1`. The proof compares two differences. The blue arrow leads from
# $x_{1-0}$ to $x_{0-1}$. The orange arrow does the same after `0-`.

# %% jupyter={"source_hidden": true} tags=["hide-input", "nbval-ignore-output"]
arrows_widget = explore(
    ch01.two_arrows,
    {"transition": list(ch01.TRANSITIONS), "turn": list(range(0, 181, 20)), "size": [0.4, 0.6, 0.8, 1.0, 1.2]},
    initial={"transition": "one A", "turn": 40, "size": 0.8},
    sentence=ch01.arrows_sentence,
    alt="The arrow from x(1-0) to x(0-1) and the arrow from x(0-1-0) to x(0-0-1), for a chosen transition. With one A they are "
        "equal and parallel, the sides of a parallelogram.",
)
arrows_widget

# %% [markdown]
# What you see is a parallelogram. What stood before moves both ends of an arrow alike, so both arrows are the same.
#
# *Try* any turn and size of $A$, then the two other kinds of transition. When do the arrows come apart?

# %% [markdown]
# Now the proof. The symbols below do not commute, because matrices do not. (The paper's $u_0$ is our $B u_0$, the input vector of
# the letter `0`.)
#
# **Step 1 (all cases).** Multiply out, from any start $z$:
#
# $$x_{0-1} = A^3 z + A^2 B u_0 + A B u_- + B u_1, \qquad x_{1-0} = A^3 z + A^2 B u_1 + A B u_- + B u_0 .$$
#
# **Step 2 (all cases).** For `0-0-1` and `0-1-0` the same sums hold, with $x_{0-}$ in place of $z$.

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
    "Proposition 1, step 1: the paper's two sums, with B u for its u"
)
for word in ("0-1", "1-0"):
    show.math(f"x_{{{word}}} =", state(word, z, one), mark=z)


after = state("0-", z, one)
assert all(state(f"0-{a}-{b}", z, one) == printed(a, b, after, one["-"]) for a, b in ("01", "10")), (
    "Proposition 1, step 2: the same sums from x(0-)"
)
show.math("x_{0-} =", after, mark=z)


# %% [markdown]
# **Step 3 (all cases).** Subtract. The start cancels both times, and the *same* expression is left:
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
show.math("x_{0-1} - x_{1-0} = x_{0-0-1} - x_{0-1-0} =", short)

# %% [markdown]
# **Step 4.** Now the two demands of the paper. It forces $x_{0-1} \ne x_{1-0}$, because $0-1 \ne 1-0$: the blue arrow is not zero.
# And it enforces $x_{0-0-1} = x_{0-1-0}$, because $0-0-1 = 0-1-0$: the orange arrow is zero. But they are the same arrow: a
# contradiction.

# %% tags=["proof-proposition_1"]
M = 5
assert (0 - 1) % M != (1 - 0) % M and (0 - 0 - 1) % M == (0 - 1 - 0) % M, (
    "Proposition 1, step 4: different values, equal values"
)
print(f"modulo {M}: 0-1 = {(0 - 1) % M} and 1-0 = {1 % M}; 0-0-1 = 0-1-0 = {(0 - 0 - 1) % M}")

# %% [markdown]
# **Exercise 1** ★ *(5 min, 3 points: to cancel what came before)* **A proof step.** For a word $w$ let $x(w)$ be
# the state after it. Write down $x(p\,a{-}b) - x(p\,c{-}d)$ for a layer with one $A$, where $a, b, c, d$ are numbers
# and $p$ is anything in front, and check that $p$ drops out.

# %% [markdown]
# <!-- Exercise 01.1: from notebooks/lrnnbook/content/exercises/ch01.md, by lrnnlab book build; change it there. -->
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
# Give each letter its own matrix, $A_0, A_1, A_-$, and step 3 breaks: the start $z$ does not cancel any more. Do it by hand first. In
# the cell of step 3 put `{**one, "0": sp.Symbol("A_0", commutative=False)}` for `one` in `differences(one)`, run it, and change it
# back.

# %% tags=["proof-proposition_1"]
with show.expect_failure("Proposition 1, step 3"):
    own = {letter: sp.Symbol(f"A_{letter}", commutative=False) for letter in "01-"}
    short, long = differences(own)
    assert short == long and not short.has(z), (
        "Proposition 1, step 3: two expressions are left, and the start z is in the first"
    )
show.math("x_{0-1} - x_{1-0} =", short, mark=z)

# %% jupyter={"source_hidden": true} tags=["hide-input", "nbval-ignore-output"]
show.figure(
    ch01.two_arrows("a matrix for each letter", 140, 1.2),
    alt="The two arrows again, with a matrix of its own for each letter. They differ in length and direction.",
    caption="What to see: with a matrix for each letter the two arrows are no longer one. The blue one need not be zero, and the "
    "orange one may be.",
)

# %% [markdown]
# ### The same with diagonal matrices
#
# Now give each letter its own *diagonal* matrix: $x_k = \mathrm{diag}(v_k)\,x_{k-1} + B u_k$.
#
# > **The paper, Proposition 2.** "A diagonal input-dependent LRNN is inconsistent in representing subtraction."
#
# **Step 1 (all cases).** Diagonal matrices commute, so $A_1 A_- A_0 z = A_0 A_- A_1 z$, and the start cancels again. What is left are
# the two sides of the paper's Eq. 8, which says that they differ. Here is the right one minus the left one:
#
# $$x_{1-0} - x_{0-1} = A_0 A_- B u_1 - A_1 A_- B u_0 + (A_0 - A_1) B u_- + B u_0 - B u_1 .$$
#
# **Step 2 (all cases).** After `0-` the same is left. The paper's Eq. 9 says that it is zero. **Step 3.** As in step 4 above, Eq. 8 and
# Eq. 9 exclude each other: the two arrows are the same, but one has to be zero and the other must not be.

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
    "Proposition 2, step 1: the start cancels, and the sides of Eq. 8 are left"
)
show.math("x_{1-0} - x_{0-1} =", commuting)


long = difference("0-1-0", "0-0-1", A_of)
assert sp.expand(long - commuting) == 0, "Proposition 2, step 2: the same is left after 0-"
assert (0 - 1) % 5 != (1 - 0) % 5 and (0 - 0 - 1) % 5 == (0 - 1 - 0) % 5, (
    "Proposition 2, step 3: different values, equal values"
)
show.math("x_{0-1-0} - x_{0-0-1} =", long)

# %% [markdown]
# ## 2 What the proof does not say
#
# Look at step 4 again. It makes two demands on the state, and the paper says both aloud.
#
# * *Different values need different states* ("by forcing"). True for any readout, because $h$ gives one answer to one state.
# * *Equal values need equal states* ("Enforcing"). But why? Nothing but the proof enforces it. A readout may give the same answer to
#   many states, and the `h` that you ran does.
#
# > **The corrected statement.** With one $A$ for all letters, or a diagonal one for each, the state cannot be a *function of the value*
# > that keeps different values apart: $x_{0-1} \ne x_{1-0}$ and $x_{0-0-1} = x_{0-1-0}$ exclude each other.
#
# As statements about *computing* subtraction, both propositions are false. The layer above refutes the first. A diagonal one that
# refutes the second is in [01a](deeper/01a_stored_inputs.ipynb).
#
# But does the base-7 layer work at every length? Step 1 of a proof was the run at the top: **all** expressions of up to four numbers and a **sample** of longer ones.
#
# **Step 2 (all cases).** Nothing is lost. From the state $7n + c$ one division gives the old state $n$ and the code $c$ back, for every
# $n$ and every $c$ from 1 to 6. So `h` can read off the whole expression.

# %% tags=["proof-digits"]
base, n = 7, sp.Symbol("n", integer=True, nonnegative=True)
assert all(
    sp.floor((base * n + c) / sp.Integer(base)) == n and sp.Mod(base * n + c, base) == c for c in range(1, 7)
), "The base-7 layer, step 2: the old state and the letter can be read off the new state"
show.math(rf"\lfloor ({base} n + c) / {base} \rfloor = n, \quad ({base} n + c) - {base} n = c \quad \text{{for }} c = 1, \dots, 6")

# %% [markdown]
# **Step 3.** And this is how it escapes step 4 of the proof: `0-0-1` and `0-1-0` have the same value and different states.
#
# **Step 4.** It pays in bits. How many does the state of 119 numbers take? (Section 3 says why at least 277 are needed.)

# %% tags=["proof-digits"]
first, second = run((0, 0, 1)), run((0, 1, 0))
assert first != second and h(first) == h(second) == (0 - 0 - 1) % 5, (
    "The base-7 layer, step 3: two states, one answer"
)
used, needed = run((4,) * 119).bit_length(), (5**119 - 1).bit_length()
assert used >= needed > 200, "The base-7 layer, step 4: the bits grow like the length"
print(f"x(0-0-1) = {first}, x(0-1-0) = {second}, both answered {h(first)}")
print(f"the state of 119 numbers: {used} bits; needed at least: {needed}")

# %% jupyter={"source_hidden": true} tags=["hide-input", "nbval-ignore-output"]
show.figure(
    ch01.bits_by_length([run((4,) * n).bit_length() for n in range(1, 61)]),
    alt="Bits of the state against the numbers in the expression. Base 7 rises by 5.6 bits a number and passes the 53 bits in which "
    "a float counts at the tenth; the least that any layer with one A needs rises by 2.3.",
    caption="What to see: the price grows with every number. At the tenth the state leaves the 53 bits in which a float counts. "
    "Dashed: what any layer with one A needs.",
)

# %% [markdown]
# **Break it.** In base 6 the code 6 of the minus does not fit into a digit, and step 1 fails.

# %% tags=["proof-digits"]
with show.expect_failure("The base-7 layer, step 1"):
    wrong = [word for word in tried if h(run(word, 6), 6) != value(word)]
    assert not wrong, f"The base-7 layer, step 1: {len(wrong)} of {len(tried)} expressions are answered wrong"


# %% [markdown]
# **Exercise 2** ★ *(5 min, 2 points: to separate two demands on a state)* Of the two demands "different values, different
# states" and "equal values, equal states", which one does an arbitrary readout need?

# %% [markdown]
# <!-- Exercise 01.2: from notebooks/lrnnbook/content/exercises/ch01.md, by lrnnlab book build; change it there. -->
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
# **Exercise 3** ★★ *(10 min, 4 points: to find where a float forgets)* **Break a
# model.** Here is the base-7 layer once more, in floats of 64 bits. It is right on all 780 expressions of one to four
# numbers, and on many more. Find a shortest expression that it gets wrong.

# %%
def in_floats(expression):
    x = 0.0
    for letter in expression:
        x = 7 * x + (6 if letter == "-" else int(letter) + 1)
    return h(int(x))  # h of the first cell


my_expression = None  # exercise 3: a text such as "0-1-2"
check("01.3", my_expression)

# %% [markdown]
# <!-- Exercise 01.3: from notebooks/lrnnbook/content/exercises/ch01.md, by lrnnlab book build; change it there. -->
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
# ## 3 A layer that escapes stores everything
#
# The base-7 layer keeps the whole expression. Could a smarter layer keep less? Look at the states of three layers with one $A$: a
# counter ($A = 1$), the digits ($A = 7$), and a spiral, whose $A$ turns and shrinks. Each point is one expression of $n$ numbers,
# coloured by its value modulo 5. States are rounded: the readout only sees which cell of a grid a state is in. The *bits* say how
# fine the grid is. A yellow cell holds several values: every readout of the cells errs there.

# %% jupyter={"source_hidden": true} tags=["hide-input", "nbval-ignore-output"]
words_widget = explore(
    ch01.word_picture,
    {"layer": list(ch01.LAYERS), "n": [1, 2, 3, 4], "bits": [2, 3, 4, 5, 6, 8, 10, 12, 16, 20]},
    initial={"layer": "spiral (A shrinks, turns)", "n": 3, "bits": 4},
    sentence=ch01.word_sentence,
    alt="Points in the plane, the states of all expressions of n numbers, coloured by value, over the cells of the readout. It "
        "opens on 125 expressions under a layer that turns and shrinks: several of the 16 by 16 cells are yellow, and two "
        "points of one of them are ringed and named.",
)
words_widget

# %% [markdown]
# With 4 bits an axis has 16 cells, and the colours lie mixed. Two expressions that share a cell, with different values, are
# ringed and named.
#
# *Try:* the counter does not improve with more bits, because its collisions are exact. The digits do improve, but each
# further number asks for more bits. Now take the spiral with $n = 4$ and 8 bits. Two expressions share a cell *and* a value, so nothing is wrong yet. The
# sentence below the picture puts `0-` in front, and then it is.
#
# That move is the proof of a theorem.
#
# > **Theorem A.** Let $M \ge 3$ be odd, and let one layer have one $A$ for all letters. If some readout is right modulo $M$ on all
# > expressions $a-b-c-\cdots$ of up to $n+1$ numbers, then two different expressions of $n$ numbers never share a state.
#
# So the state takes at least $M^n$ values, or $n \log_2 M$ bits: it has stored the input.
#
# **Step 1: the prefix drops out (all cases).** Let $s$ and $t$ be expressions of equal length, and let $p$ be something in front. Then
# $x(ps) = A^{|s|}x(p) + (\text{a sum that depends on } s \text{ only})$. So $x(ps) - x(pt)$ does not depend on $p$: the parallelogram
# again. The cell does the induction from $k$ letters to $k+1$.

# %% tags=["proof-theorem_a"]
k = sp.Symbol("k", integer=True, positive=True)
A, p, c, u = sp.symbols("A p c Bu", commutative=False)  # p: x(p); c: what the letters add; u: what one more adds
after = sp.expand(A * (A**k * p + c) + u)
rest = sp.expand(after - A ** (k + 1) * p)
assert rest == A * c + u and not rest.has(p), (
    "Theorem A, step 1: one more letter, and still no prefix in the second part"
)
show.math("A (A^k p + c) + Bu = A^{k+1} p +", rest)

# %% [markdown]
# **Step 2: move a collision (all cases).** Suppose $x(s) = x(t)$ with $s \ne t$. Drop their common beginning. By step 1 the
# rest still shares a state, so let the first numbers differ, $s_1 \ne t_1$. Call the sums of the other numbers $R$ and $R'$. Again by
# step 1, `0-s` and `0-t` share a state too. Expressions that share a state get the same answer, so modulo $M$
#
# $$s_1 - R \equiv t_1 - R' \ \text{ (from } s, t), \qquad -s_1 - R \equiv -t_1 - R' \ \text{ (from } 0{-}s, 0{-}t).$$
#
# Subtract one from the other: $2(s_1 - t_1) \equiv 0$.
#
# **Step 3: divide by two (all cases).** Let $M = 2k + 1$ be odd. Then $2(k + 1) = M + 1 \equiv 1$, so two has an inverse, and
# $s_1 \equiv t_1$: a contradiction. $\blacksquare$

# %% tags=["proof-theorem_a"]
s1, t1, R, S = sp.symbols("s1 t1 R S")
assert sp.expand((s1 - R) - (t1 - S) - ((-s1 - R) - (-t1 - S)) - 2 * (s1 - t1)) == 0, (
    "Theorem A, step 2: 2 (s1 - t1) is left"
)
k = sp.Symbol("k", integer=True, positive=True)
M, half = 2 * k + 1, k + 1
assert sp.Mod(sp.expand(2 * half - 1), M) == 0, "Theorem A, step 3: two has an inverse modulo M"
show.math(r"2 (s_1 - t_1) \equiv 0 \ \text{ and } \ 2 \cdot (", half, r") \equiv 1 \ \text{ modulo } M =", M, r"\text{, so } s_1 \equiv t_1")

# %% [markdown]
# **Exercise 5** ★★ *(10 min, 4 points: to turn a contradiction into a construction)* **Code.** Steps
# 2 and 3 argue by contradiction. Turn them into a construction: you are given two expressions $s, t$ of equal length that
# share a state and whose first numbers differ. Write a function that returns two expressions which share a state
# *and* have different values modulo 5 (an expression is a tuple of its numbers). The cell after the solution tries
# it out.

# %%
my_refutation = None  # exercise 5: your line, a function such as lambda s, t: (s, t)
check("01.5", my_refutation)

# %% [markdown]
# <!-- Exercise 01.5: from notebooks/lrnnbook/content/exercises/ch01.md, by lrnnlab book build; change it there. -->
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
# ## 4 Diagonal layers: turns and resets
#
# A diagonal layer does not mix its coordinates. Call each of them a *channel*: $x \mapsto a x + b$, with numbers $a, b$ (real or complex)
# chosen by the letter. Now allow finitely many states only. What can a channel still do?
#
# Choose what each letter does. Each dial is the complex plane around the centre of the turns, and the dot is the state.

# %% jupyter={"source_hidden": true} tags=["hide-input", "nbval-ignore-output"]
killers_widget = ch01.killers_widget()
killers_widget

# %% [markdown]
# Here `0` leaves the state of the channel alone, `1` turns it by 72°, and the minus by 180°. The two rows of the channel
# differ on the way and end alike. The block of size 2 (section 5), whose state is a point of the square, remembers the first
# number.
#
# *Try* any turns and resets: the last dials agree. Then take the hypothesis away and let the minus *shrink*, so that the channel has
# infinitely many states. The sentence says which step of the proof breaks first, and how far apart the words end. As long
# as the minus resets, they end alike whatever the other letters do. Why?

# %% [markdown]
# > **Theorem D.** Let one diagonal layer reach finitely many states. If all letters of $u$ and $v$ occur in $w$, then for every $p$
# > $$x(p\,u\,v\,w) = x(p\,v\,u\,w).$$
#
# *Proof.* Take one channel. Its reachable states are a finite set $R \subset \mathbb C$, and every letter maps $R$ into $R$.
#
# **Step 1 (all cases).** $(ax + b) - (ay + b) = a(x - y)$. If $a = 0$ the letter is a **reset**: it forgets everything. If $a \ne 0$ it
# keeps different states different. Such a map of a finite set into itself is onto: it *permutes* $R$. (That is the pigeonhole
# principle; the cell tries **all 256 maps** of four points.)
#
# **Step 2 (all cases).** A permutation leaves the sum $S$ of the $n$ points of $R$ as it is: $aS + nb = S$. Let $c = S/n$ be their mean.
# Then $ac + b = c$, for every letter that is no reset.

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
show.math(r"a S + n b = S \ \text{ gives } \ b =", drive, r"\text{, and then } \ a \tfrac{S}{n} + b = \tfrac{S}{n}")

# %% [markdown]
# **Step 3 (all cases).** So $ax + b = c + a(x - c)$, and $|ax + b - c|^2 = |a|^2\,|x - c|^2$.
# Sum this over $R$. A permutation leaves $V = \sum_R |x - c|^2$ as it is, so $V = |a|^2 V$. If $R$ has more than one point, $V$ is
# positive and $|a| = 1$: the letter is a **turn** about $c$. (If $R$ is one point, every letter leaves it alone. The cell also tries
# **all sets** of two to four points of a $3 \times 3$ grid.)
#
# The cell also looks for a counterexample: it tries *all* maps $x \mapsto ax + b$ that permute two to four points of a grid.

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

# %% jupyter={"source_hidden": true} tags=["hide-input", "nbval-ignore-output"]
show.figure(
    ch01.turn_or_reset(),
    alt="Left, five states on a circle, each with an arrow to the next; their mean stays. Right, the five states with arrows into one point.",
    caption="What to see: all that a letter can do to a channel with finitely many states. It turns them about their mean, or it "
    "sends all of them to one.",
)

# %% [markdown]
# **Step 4 (all cases).** Turns about one centre commute. So if no letter of $w$ resets the channel, then no letter of $u$ and $v$ does,
# and $uv$ and $vu$ do the same.
#
# **Step 5 (all cases).** If some letter of $w$ resets it, what came before is forgotten: no $x$ is left, and none comes back with the
# next letter. After the last reset the state depends only on the letters from there on. $\blacksquare$

# %% tags=["proof-theorem_d"]
a, e, c, x, b, b1, b2, q = sp.symbols("a e c x b b1 b2 q")
orders = [c + second * ((c + first * (x - c)) - c) for first, second in ((a, e), (e, a))]
assert sp.expand(orders[0] - orders[1]) == 0, "Theorem D, step 4: turns about one centre commute"
last = x
for gate, drive in ((a, b), (e, b1), (0, q), (a, b2)):  # the third letter is a reset to q
    last = sp.expand(gate * last + drive)
assert not last.has(x) and last == a * q + b2, "Theorem D, step 5: nothing before a reset is left"
show.math(r"c + a e (x - c) \text{ in both orders; after a reset to } q \text{ and one more letter: } x =", last)

# %% [markdown]
# **Exercise 8** ★★ *(15 min, 4 points: to see why a permuting letter is a turn)* **A proof step.** In step 3 of Theorem D,
# why is $|a| = 1$, and where is it used that $R$ has more than one point?

# %% [markdown]
# <!-- Exercise 01.8: from notebooks/lrnnbook/content/exercises/ch01.md, by lrnnlab book build; change it there. -->
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
# Can you refute *every* diagonal layer with finitely many states, whatever its readout? Two words are enough. For subtraction take $u$ =
# `0-`, $v$ = `1-`, $w$ = `0-1`. Then **0-1-0-1** and **1-0-0-1** end in the same state, and they need different answers. Here are such
# words for 16 tasks; the [glossary](glossary.ipynb) lists the tasks.
#
# **Step 1.** For each task the letters of $u$ and $v$ are in $w$. **Step 2 (orders 1 to 6 and 12).** So by Theorem D both words end in one
# state. We run them in *universal layers*, which contain every channel whose turns have a given order
# ([01d](deeper/01d_turns_and_resets.ipynb)).

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
# **Step 3.** The two words have different answers. **Step 4.** A second definition of each language, which shares no code with its
# automaton, gives the same answers.

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

# %% jupyter={"source_hidden": true} tags=["hide-input"]
show.table(
    [{"task": task, "word": words[0], "answer": answers_of(task, words)[0],
      "other word": words[1], "other answer": answers_of(task, words)[1]}
     for task, words in pairs.items() if task not in ("D_3", "D_4", "D_12", "A_4", "EvenPair(2)")],
    caption="Pairs of words that end in one state of every diagonal layer with finitely many states; "
            f"{len(pairs)} tasks were checked, a few that are much alike are not shown. For the "
            "groups, an answer is the number of the element reached.",
)  # fmt: skip

# %% [markdown]
# **Break it.** One diagonal layer does compute Parity, so there such words must have the same answer. They do.

# %% tags=["proof-killer_words"]
with show.expect_failure("Killer words, step 3"):
    first, second = answers_of("Parity", ("0101", "1001"))
    assert first != second, f"Killer words, step 3: Parity answers both 0101 and 1001 by {first}"

# %% [markdown]
# **Exercise 9** ★ *(10 min, 3 points: to refute all diagonal layers with two words)* The task is to say whether two b's
# have appeared side by side anywhere so far. Find two words of four letters a and b that rule out one diagonal layer
# (with finitely many states) for it.

# %%
my_words = None  # exercise 9: two words, for example ("aabb", "abab")
check("01.9", my_words)

# %% [markdown]
# <!-- Exercise 01.9: from notebooks/lrnnbook/content/exercises/ch01.md, by lrnnlab book build; change it there. -->
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
# ## 5 A block of size 2
#
# On *one* number, a map $x \mapsto ax + b$ forgets everything ($a = 0$) or nothing. On *two* numbers there is something between: a matrix
# that is not zero and not invertible. For the letter $s \in \{0,\dots,4\}$ let
#
# $$A_s = \begin{pmatrix} 1 & -s/4 \\ 0 & 0 \end{pmatrix}, \quad B u_s = \begin{pmatrix} s/4 \\ 1 \end{pmatrix}, \quad
# \text{then}\quad \begin{pmatrix} 0 \\ 0 \end{pmatrix} \mapsto \begin{pmatrix} s/4 \\ 1 \end{pmatrix}, \quad
# \begin{pmatrix} r \\ 1 \end{pmatrix} \mapsto \begin{pmatrix} r - s/4 + s/4 \\ 1 \end{pmatrix} = \begin{pmatrix} r \\ 1
# \end{pmatrix}.$$
#
# **Step 1 (all cases).** The block stores the first letter, and every later one leaves it alone.
#
# **Step 2 (all five letters).** $A_s$ is neither zero nor invertible: its rank is 1.
#
# **Step 3 (all five letters).** Each column has at most one entry that is not zero, of size at most 1. So the paper's constraint (Eq. 6,
# chapter 02: the $p$-norm of every column is at most 1) holds for every $p$.

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
show.math(sp.zeros(2, 1), r"\mapsto", empty, r"\text{, and then } \ ", sp.Matrix([r, 1]), r"\mapsto", full)

# %% jupyter={"source_hidden": true} tags=["hide-input", "nbval-ignore-output"]
show.figure(
    ch01.stored_first(["0-3-1", "1-4-0", "2-0-2", "3-1-4", "4-2-3"]),
    alt="From the start (0, 0) five arrows, one for each first number, to five places on the line 1; each is named by its expression.",
    caption="What to see: the first number chooses one of five places. The numbers after it leave the state where it is.",
)

# %% [markdown]
# **Step 4 (all words).** With the last letter beside it (a channel with $A = 0$) this layer computes EvenPair: is the last letter the
# first one? Killer words showed that no diagonal layer with finitely many states does. The search goes through the pairs (state of the
# layer, state of the automaton), of which there are finitely many.

# %% tags=["proof-block_two"]
for M in (2, 5):
    model, machine = minimal.constructions(f"EvenPair({M})")[0].model, language(f"EvenPair({M})").machine
    first = model.layers[0][0]  # the block; beside it stands the last letter
    for token in range(M):
        step = Fraction(token, M - 1)
        assert first.transition(token, ()) == (((1, -step), (0, 0)), (step, 1)), (
            "The block of size 2, step 4: the block above"
        )
    assert model.size == 2 and cascades.pair_up(model, machine)[1] is None, (
        "The block of size 2, step 4: right on all words"
    )
print("EvenPair(2) and EvenPair(5): right on all words")

# %% [markdown]
# **Break it.** The corner $-s/4$ takes away again what $B u_s$ adds. Set it to 0, and the block adds up the numbers instead of keeping
# the first:

# %% tags=["proof-block_two"]
with show.expect_failure("The block of size 2, step 1"):
    empty, full = keeps(corner=0)
    assert list(full) == [r, 1], f"The block of size 2, step 1: (r, 1) goes to {tuple(full)}"

# %% [markdown]
# The same block subtracts. It keeps the first number $a$; beside it a channel that turns by 72° for each unit keeps the sum of all
# numbers ([01d](deeper/01d_turns_and_resets.ipynb)). And $a - b - c - \cdots = 2a - (a + b + c + \cdots)$.

# %% [markdown]
# **Exercise 11** ★★ *(10 min, 4 points: to forget with a transition of zeros)* **Code.** Change the block of this
# section so that it stores the **last** letter $s$ other than 0, as the first of its two numbers (as $s/4$, like the
# block above, from the start $(0, 0)$). Give $A$ and $B u$ for
# the letters 0 to 4.

# %%
# exercise 11: letter -> (A, Bu), for example {0: ([[1, 0], [0, 1]], [0, 0]), 1: ...}
my_block = None
check("01.11", my_block)

# %% [markdown]
# <!-- Exercise 01.11: from notebooks/lrnnbook/content/exercises/ch01.md, by lrnnlab book build; change it there. -->
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
# ## What to remember
#
# 1. What stood before cancels in a difference. So with one $A$, or with diagonal ones, the state cannot be equal for equal values and
#    different for different ones.
# 2. Nothing requires equal states for equal values. One number that stores the whole expression subtracts.
# 3. That is the price: with one $A$ and any readout, subtraction modulo an odd number makes the state store its input (Theorem A).
# 4. With diagonal transitions and finitely many states a letter is a turn or a reset, and two killer words end in one state (Theorem D).
# 5. On one number a letter forgets everything or nothing. A block of two numbers can keep one thing and forget another.
#
# All of this is about what *exists*. What training finds is another question, and chapter 02 asks it.
#
# **Go deeper:**
#
# * [01a stored inputs](deeper/01a_stored_inputs.ipynb): what if states are only close, or the modulus is even? (15 min)
# * [01b sum and last letters](deeper/01b_sum_and_last_letters.ipynb): how many states does a sum need, and what do finitely many
#   remember? (30 min)
# * [01c two layers](deeper/01c_two_layers.ipynb): two layers with one $A$ each hold the first letter at any length. (10 min)
# * [01d turns and resets](deeper/01d_turns_and_resets.ipynb): exactly which tasks fit into one diagonal layer? (20 min)
# * [01e groups and depth](deeper/01e_groups_and_depth.ipynb): how many diagonal layers does a group need? (25 min)
# * [01f block size](deeper/01f_block_size.ipynb): how large must a block be, and what are the smallest models? (20 min)
# * [01g Liquid-S4 and errata](deeper/01g_liquid_s4.ipynb): how Liquid-S4 escapes, where the paper says something else, and what all this
#   does not show. (10 min)
#
# ## Read on
#
# * The paper: Fan, Chi and Rudnicky, *Advancing Regular Language Reasoning in Linear Recurrent Neural Networks*, 2024,
#   [arXiv:2309.07412](https://arxiv.org/abs/2309.07412). Liquid-S4: Hasani et al., *Liquid Structural State-Space
#   Models*, 2022, [arXiv:2209.12951](https://arxiv.org/abs/2209.12951).
# * How many diagonal layers a group needs, counted and in trained models: Shakerinava,
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
#
# ## Exercises
#
# You will find each exercise in its section (others are in the notebooks behind). Stuck? `hint("01.1")`. Done? Compare with `solution("01.1")`.

# %% [markdown]
# <!-- The exercises of this chapter, listed by lrnnlab book build. -->
#
# 7 exercises, 24 points, about 65 minutes:
#
# | exercise | section | difficulty | minutes | points | you will learn |
# |---|---|---|---|---|---|
# | 1 | [1 A proof that says no](#1-A-proof-that-says-no) | ★ | 5 | 3 | to cancel what came before |
# | 2 | [2 What the proof does not say](#2-What-the-proof-does-not-say) | ★ | 5 | 2 | to separate two demands on a state |
# | 3 | [2 What the proof does not say](#2-What-the-proof-does-not-say) | ★★ | 10 | 4 | to find where a float forgets |
# | 5 | [3 A layer that escapes stores everything](#3-A-layer-that-escapes-stores-everything) | ★★ | 10 | 4 | to turn a contradiction into a construction |
# | 8 | [4 Diagonal layers: turns and resets](#4-Diagonal-layers:-turns-and-resets) | ★★ | 15 | 4 | to see why a permuting letter is a turn |
# | 9 | [4 Diagonal layers: turns and resets](#4-Diagonal-layers:-turns-and-resets) | ★ | 10 | 3 | to refute all diagonal layers with two words |
# | 11 | [5 A block of size 2](#5-A-block-of-size-2) | ★★ | 10 | 4 | to forget with a transition of zeros |
