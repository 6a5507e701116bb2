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
# A paper proves that no layer of a certain kind can subtract. Here is such a layer, and it subtracts.
#
# The task: read an expression such as `3-1-4` letter by letter, and say its value modulo 5. From left to right, $3 - 1 - 4 = -2$, so the
# answer is 3. The layer keeps one number $x$. Each letter multiplies it by 7 and adds the code of the letter: 1 to 5 for the
# digits 0 to 4, and 6 for the minus.

# %% jupyter={"source_hidden": true} tags=["hide-input", "nbval-ignore-output"]
from fractions import Fraction
from itertools import product

import numpy as np
import sympy as sp

import lrnnbook
from lrnnbook import show
from lrnnbook.content.chapters import ch00, ch01
from lrnnbook.content.exercises import check, hint, mine, solution
from lrnnbook.content.show.widgets import explore
from lrnnbook.content.tables import minimal
from lrnnlab.automata.languages import language
from lrnnlab.expressivity.theorems import cascades

lrnnbook.needs("0.1")
show.figure(
    ch01.same_answer(),
    alt="The states of the 25 expressions 0-a-b on a line of numbers, each at the height of its value. No two are equal. Two of one height are "
        "ringed: 0-0-1 at 4552 and 0-1-0 at 4600, both with the answer 4.",
    caption="What to see: 0 − 0 − 1 and 0 − 1 − 0 have the same value and different states. The readout answers 4 to both, and nothing is wrong.",
)  # fmt: skip

# %% [markdown]
# **What we ask.** *What can a linear recurrence not represent?* Paper 000 (Fan, Chi and Rudnicky, 2024) says: subtraction, if the
# transition is the same for every letter (Proposition 1). And even if it depends on the letter, as long as it is diagonal
# (Proposition 2). Both proofs are short. You will find the word in them on which everything hangs, break it, and repair the result.
#
# Here is the whole layer: `run` reads, `h` is the readout.

# %% tags=["proof-digits"]
code = {"0": 1, "1": 2, "2": 3, "3": 4, "4": 5, "-": 6}


def run(text, A=7):
    x = 0
    for letter in text:
        x = A * x + code[letter]
    return x


def h(x, A=7):
    codes = []
    while x:
        x, last = divmod(x, A)  # the last letter comes off first
        codes = [last, *codes]
    first, *others = [c - 1 for c in codes if c != 6]
    return (first - sum(others)) % 5


def value(text):
    first, *others = map(int, text.split("-"))
    return (first - sum(others)) % 5


for text in ("3-1-4", "0-0-1", "0-1-0"):
    print(f"{text}: the state is {run(text)}, the answer {h(run(text))},",
          f"the value {value(text)}")

# %% [markdown]
# **Step 1.** Is it right? The folded cell tries **all** 780 expressions of up to four numbers and a **sample** of 200 longer ones.

# %% jupyter={"source_hidden": true} tags=["hide-input", "proof-digits"]
draw = np.random.default_rng(0)
tried = [word for k in range(1, 5) for word in product(range(5), repeat=k)]
tried += [tuple(draw.integers(5, size=k).tolist()) for k in draw.integers(1, 120, size=200)]
tried = ["-".join(map(str, word)) for word in tried]
assert all(h(run(text)) == value(text) for text in tried), "The base-7 layer, step 1: the readout is right"
print(f"{len(tried)} expressions, the longest of {max(map(len, tried)) // 2 + 1} numbers: all right")

# %% [markdown]
# *How to read the proofs.* A step is a sentence, and a cell that ends in `assert ..., "Theorem A, step 3: ..."`. Change a line, run the
# cell again, and the `assert` tells you which step breaks. A badge says how strong a step is: **all cases** (in
# symbols), **all** of a finite number, a **sample**, or **float** (rounded). The proof of section 1 is in view; checks of the others are
# folded, one click away. Where we break a hypothesis ourselves, `show.expect_failure` demands that exactly this step fails.
#
# *You need:* matrices, eigenvalues, modular arithmetic, and chapter 00. *It takes* about 50 min to read and 1 h 5 min for the exercises, and less than a minute of
# computing.
#
# ## 1 A proof that says no
#
# A layer keeps a state, a vector $x$. Its matrix $A$ is the same for every letter, as in S4,
# S5 and LRU (see the [glossary](glossary.ipynb)), and each letter adds a vector of its own, $b_0$, $b_1$, $b_-$:
#
# $$x_k = A\,x_{k-1} + b_{\text{letter}} .$$
#
# The answer is $h(x_k)$. The paper leaves the readout $h$ open: it "may or may not be a linear operation".
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
# What you see is a parallelogram. Whatever came before moves both ends of an arrow by the same vector, so both arrows are equal.
#
# *Try* any turn and size of $A$, then the two other kinds of transition. When do the arrows come apart?

# %% [markdown]
# Now the proof. The symbols below do not commute, because matrices do not. (The paper writes $u_0$ for our $b_0$.)
#
# **Step 1 (all cases).** Multiply out, from any start $z$:
#
# $$x_{0-1} = A^3 z + A^2 b_0 + A b_- + b_1, \qquad x_{1-0} = A^3 z + A^2 b_1 + A b_- + b_0 .$$
#
# **Step 2 (all cases).** For `0-0-1` and `0-1-0` the same sums hold, with $x_{0-}$ as the start.

# %% tags=["proof-proposition_1", "proof-proposition_2"]
A, z = sp.symbols("A z", commutative=False)
b = {letter: sp.Symbol(f"b_{letter}", commutative=False) for letter in "01-"}


def state(word, x, gates):
    for letter in word:
        x = sp.expand(gates[letter] * x + b[letter])
    return x


def printed(first, last, x, A):
    return sp.expand(A**3 * x + A**2 * b[first] + A * b["-"] + b[last])


one = {"0": A, "1": A, "-": A}  # one transition for all letters
assert all(state(f"{i}-{j}", z, one) == printed(i, j, z, A) for i, j in ("01", "10")), (
    "Proposition 1, step 1: the paper's two sums"
)
after = state("0-", z, one)
assert all(state(f"0-{i}-{j}", z, one) == printed(i, j, after, A) for i, j in ("01", "10")), (
    "Proposition 1, step 2: the same sums from x(0-)"
)
for word in ("0-1", "1-0", "0-"):
    show.math(f"x_{{{word}}} =", state(word, z, one), mark=z)


# %% [markdown]
# **Step 3 (all cases).** Subtract. The start cancels both times, and the *same* expression is left:
#
# $$x_{0-1} - x_{1-0} \;=\; A^2 b_0 - A^2 b_1 - b_0 + b_1 \;=\; x_{0-0-1} - x_{0-1-0} .$$

# %% tags=["proof-proposition_1", "proof-proposition_2"]
def differences(gates):
    pairs = (("0-1", "1-0"), ("0-0-1", "0-1-0"))
    return [sp.expand(state(s, z, gates) - state(t, z, gates)) for s, t in pairs]


short, long = differences(one)
assert short == long and not short.has(z), (
    "Proposition 1, step 3: one expression is left, and no start in it"
)
show.math("x_{0-1} - x_{1-0} = x_{0-0-1} - x_{0-1-0} =", short)

# %% [markdown]
# **Step 4.** Now the two demands of the paper. It gets its contradiction "by forcing $x_{0-1} \ne x_{1-0}$", because $0-1 \ne 1-0$:
# the blue arrow is not zero. And by "Enforcing $x_{0-0-1} = x_{0-1-0}$", because $0-0-1 = 0-1-0$: the orange arrow is zero. But they
# are the same arrow.

# %% tags=["proof-proposition_1"]
M = 5
assert (0 - 1) % M != (1 - 0) % M and (0 - 0 - 1) % M == (0 - 1 - 0) % M, (
    "Proposition 1, step 4: different values, equal values"
)
print(f"modulo {M}: 0-1 = {(0 - 1) % M} and 1-0 = {1 % M}; 0-0-1 = 0-1-0 = {(0 - 0 - 1) % M}")

# %% [markdown]
# **Exercise 1** ★ *(5 min, 3 points: to cancel what came before)* **A proof step.** For a word $w$ let $x(w)$ be
# the state after it. Write down $x(p\,i{-}j) - x(p\,k{-}l)$ for a layer with one $A$, where $i, j, k, l$ are digits
# and $p$ is anything in front, and check that $p$ drops out.

# %% [markdown]
# *Your argument (double-click to write):*

# %% [markdown]
# <!-- Exercise 01.1: from notebooks/lrnnbook/content/exercises/ch01.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint 1</summary>
#
# Write down $x(p\,i{-}j)$ letter by letter: $i$, the minus, $j$.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# $p$ occurs in the term $A^3 x(p)$ alone.
#
# </details>

# %% [markdown]
# ### Break a hypothesis: a matrix for each letter
#
# Give each letter its own matrix, $A_0, A_1, A_-$, and step 3 breaks: the start $z$ does not cancel any more. Do it by hand first. In
# the cell of step 3 replace `one` in `differences(one)` by `{**one, "0": sp.Symbol("A_0", commutative=False)}`, run it, and change it
# back.

# %% tags=["proof-proposition_1"]
with show.expect_failure("Proposition 1, step 3"):
    own = {letter: sp.Symbol(f"A_{letter}", commutative=False) for letter in "01-"}
    short, long = differences(own)
    assert short == long and not short.has(z), (
        "Proposition 1, step 3: two expressions are left, and the start z is in the first"
    )
show.math("x_{0-1} - x_{1-0} =", short, mark=z)

# %% [markdown]
# ### The same with diagonal matrices
#
# > **The paper, Proposition 2.** "A diagonal input-dependent LRNN is inconsistent in representing subtraction."
#
# Now each letter has its own *diagonal* matrix. Diagonal matrices commute, so $A_1 A_- A_0 z = A_0 A_- A_1 z$, and the start cancels again.
# That is all that is new. So we call the functions of the first proof, with symbols that commute.
#
# **Step 1 (all cases).** The start cancels, and the two sides of the paper's Eq. 8 are left, the first minus the second:
#
# $$x_{0-1} - x_{1-0} = A_1 A_- b_0 - A_0 A_- b_1 + (A_1 - A_0)\, b_- + b_1 - b_0 .$$
#
# **Step 2 (all cases).** After `0-` the same is left, and the paper's Eq. 9 says that it is zero. Eq. 8 says that it is not, as in
# step 4.

# %% tags=["proof-proposition_2"]
diagonal = {letter: sp.Symbol(f"A_{letter}") for letter in "01-"}  # commute
short, long = differences(diagonal)
A_0, A_1, A_minus = diagonal.values()
eq_8 = A_1 * A_minus * b["0"] - A_0 * A_minus * b["1"]
eq_8 += (A_1 - A_0) * b["-"] + b["1"] - b["0"]
assert sp.expand(short - eq_8) == 0 and not short.has(z), (
    "Proposition 2, step 1: the start cancels, and the sides of Eq. 8 are left"
)
assert long == short, "Proposition 2, step 2: the same is left after 0-"
show.math("x_{0-0-1} - x_{0-1-0} =", long)

# %% [markdown]
# ## 2 What the proof does not say
#
# Look at step 4 again. It makes two demands on the state, and the paper says both aloud.
#
# * *Different values need different states* ("forcing"). True for any readout, because $h$ gives one answer to one state.
# * *Equal values need equal states* ("Enforcing"). But why? Nothing but the proof enforces it. A readout may give the same answer to
#   many states, and the `h` that you ran does.
#
# > **The corrected statement.** With one $A$ for all letters, or a diagonal one for each, the state cannot be a *function of the value*
# > that keeps different values apart: $x_{0-1} \ne x_{1-0}$ and $x_{0-0-1} = x_{0-1-0}$ exclude each other.
#
# As statements about *computing* subtraction, both propositions are false. The layer above refutes the first. A diagonal one that
# refutes the second is in [01a](deeper/01a_stored_inputs.ipynb).
#
# Does the base-7 layer work at every length? Yes: from the state $7n + c$ one division gives the old state $n$ and the code $c$ back, so
# `h` can read off the whole expression. It pays in bits. The folded cell checks this: step 2 in **all cases**, and what the state of 119 numbers
# costs.

# %% jupyter={"source_hidden": true} tags=["hide-input", "proof-digits"]
base, n = 7, sp.Symbol("n", integer=True, nonnegative=True)
assert all(
    sp.floor((base * n + c) / sp.Integer(base)) == n and sp.Mod(base * n + c, base) == c for c in range(1, 7)
), "The base-7 layer, step 2: the old state and the letter can be read off the new state"
first, second = run("0-0-1"), run("0-1-0")
assert first != second and h(first) == h(second) == (0 - 0 - 1) % 5, (
    "The base-7 layer, step 3: two states, one answer"
)
used, needed = run("-".join("4" * 119)).bit_length(), (5**119 - 1).bit_length()
assert used >= needed > 200, "The base-7 layer, step 4: the bits grow like the length"
print(f"the state of 119 numbers: {used} bits; needed at least, by section 3: {needed}")

# %% jupyter={"source_hidden": true} tags=["hide-input", "nbval-ignore-output"]
show.figure(
    ch01.bits_by_length([run("-".join("4" * n)).bit_length() for n in range(1, 61)]),
    alt="Bits of the state against the numbers in the expression. Base 7 rises by 5.6 bits a number and passes the 53 bits in which "
    "a float counts at the tenth; the least that any layer with one A needs rises by 2.3.",
    caption="What to see: the price grows with every number. At the tenth the state leaves the 53 bits in which a float counts. "
    "Dashed: what any layer with one A needs.",
)

# %% [markdown]
# **Break it.** In base 6 the code 6 of the minus does not fit into a digit, and step 1 fails (folded).

# %% jupyter={"source_hidden": true} tags=["hide-input", "proof-digits"]
with show.expect_failure("The base-7 layer, step 1"):
    wrong = [text for text in tried if h(run(text, 6), 6) != value(text)]
    assert not wrong, f"The base-7 layer, step 1: {len(wrong)} of {len(tried)} expressions are answered wrong"


# %% [markdown]
# **Exercise 2** ★ *(5 min, 2 points: to separate two demands on a state)* Of the two demands "different values, different
# states" and "equal values, equal states", which one does an arbitrary readout need?

# %% [markdown]
# *Your argument (double-click to write):*

# %% [markdown]
# <!-- Exercise 01.2: from notebooks/lrnnbook/content/exercises/ch01.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint</summary>
#
# The readout is a function of the state. What can a function not do?
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
    return h(int(x))  # the readout of the first cell


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

# %% [markdown]
# ## 3 A layer that escapes stores everything
#
# The base-7 layer keeps the whole expression. Could a smarter layer keep less? Look at the states of three layers with one $A$: a
# counter ($A = 1$), the digits ($A = 7$), and a spiral, whose $A$ turns and shrinks. Each point is one expression of $n$ numbers,
# coloured by its value modulo 5. States are rounded: the readout only sees which cell of a grid a state is in, and the *bits* say how
# fine the grid is. A yellow cell holds several values, so every readout of the cells is wrong on some expression there.

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
# further number asks for more bits. Now take the spiral with $n = 4$ and 8 bits. Two expressions share a cell *and* a value, so nothing is
# wrong yet. The sentence below the picture writes `0-` in front of both, and then it is.
#
# That move is the proof of a theorem.
#
# > **Theorem A.** Let $M \ge 3$ be odd, and let one layer have one $A$ for all letters. If some readout is right modulo $M$ on all
# > expressions $a-b-c-\cdots$ of up to $n+1$ numbers from 0 to $M-1$, one letter each, then two different expressions of $n$ numbers never
# > share a state.
#
# So the state takes at least $M^n$ values, or $n \log_2 M$ bits: it has stored the input.
#
# *Proof.* **Step 1: what is in front drops out.** Let $s$ and $t$ be expressions of equal length, and let $p$ be something in front. Then
# $x(ps) = A^{|s|}x(p) + (\text{a sum that depends on } s \text{ only})$. So $x(ps) - x(pt)$ does not depend on $p$: the parallelogram
# again.
#
# **Step 2: move a collision.** Suppose $x(s) = x(t)$ with $s \ne t$. If both begin alike, drop the common beginning: by step 1
# the rests share a state too, since the difference of the states does not depend on what is in front. Now the first numbers differ, $s_1 \ne t_1$. Call the sums of the other numbers $S$ and $T$. Again by
# step 1, `0-s` and `0-t` share a state too. Expressions that share a state get the same answer, so modulo $M$
#
# $$s_1 - S \equiv t_1 - T \ \text{ (from } s, t), \qquad -s_1 - S \equiv -t_1 - T \ \text{ (from } 0{-}s, 0{-}t).$$
#
# Subtract one from the other: $2(s_1 - t_1) \equiv 0$.
#
# **Step 3: divide by two.** Let $M = 2k + 1$ be odd. Then $2(k + 1) = M + 1 \equiv 1$, so two has an inverse, and
# $s_1 \equiv t_1$: a contradiction. $\blacksquare$ (The folded cell checks the three steps in **all cases**, in symbols.)

# %% jupyter={"source_hidden": true} tags=["hide-input", "proof-theorem_a"]
k = sp.Symbol("k", integer=True, positive=True)
A, p, c, u = sp.symbols("A p c b", commutative=False)  # p: x(p); c: what the letters add; u: what one more adds
after = sp.expand(A * (A**k * p + c) + u)
rest = sp.expand(after - A ** (k + 1) * p)
assert rest == A * c + u and not rest.has(p), (
    "Theorem A, step 1: one more letter, and still nothing from the front in the second part"
)
s1, t1, S, T = sp.symbols("s1 t1 S T")
assert sp.expand((s1 - S) - (t1 - T) - ((-s1 - S) - (-t1 - T)) - 2 * (s1 - t1)) == 0, (
    "Theorem A, step 2: 2 (s1 - t1) is left"
)
M, half = 2 * k + 1, k + 1
assert sp.Mod(sp.expand(2 * half - 1), M) == 0, "Theorem A, step 3: two has an inverse modulo M"
show.math("A (A^k p + c) + b = A^{k+1} p +", rest, r"\text{, and } \ 2 (s_1 - t_1) \equiv 0, \ 2 \cdot (", half, r") \equiv 1")

# %% [markdown]
# **Exercise 4** ★★ *(15 min, 4 points: to turn a contradiction into a construction)* **Build.** Turn the proof into a program. You are given a
# layer: a number `A`, and a dictionary `code` of what each letter adds (as `run` uses them). Look for two expressions of `n` numbers that share a state, and make from them two
# expressions that share a state and have *different values* modulo 5. Return them as texts such as `("0-1", "1-0")`, or `None` if all
# expressions of `n` numbers have states of their own.

# %%
# %%build collide
from itertools import product


def collide(A, code, n):
    raise NotImplementedError  # your lines


# %% [markdown]
# <!-- Exercise 01.4: from notebooks/lrnnbook/content/exercises/ch01.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint 1</summary>
#
# Keep a dictionary from states to texts. What if the two texts have different values already?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# If they have one value, drop what they have in common in front (step 2 says that the rests share a state too). Then
# compare the values once more; if they are still equal, write `0-` in front of both.
#
# </details>

# %% [markdown]
# Your program refutes layers. Here it looks at six, which differ in $A$ alone, and at their states after three numbers. The two expressions
# in a line share a state, and have different values.

# %%
collide = mine("collide")
texts = ["-".join(numbers) for numbers in product("01234", repeat=3)]
refuted = {A: collide(A, code, 3) for A in (0, 1, -1, 2, 3, 7)}
states = {A: len({run(text, A) for text in texts}) for A in refuted}
for A, pair in refuted.items():
    said = [f"{text} = {value(text)}" for text in pair or ()]
    print(f"A = {A}: {states[A]} states", *said, sep=", ")

# %% jupyter={"source_hidden": true} tags=["hide-input", "nbval-ignore-output"]
show.figure(
    ch01.collisions(states, refuted),
    alt="A bar for each of six layers: how many different states the 125 expressions of three numbers have. A = 0 has 5, A = 1 and -1 have "
        "13, A = 2 has 85, A = 3 and 7 have all 125. Beside each bar the two expressions that refute the layer, or none.",
    caption="What to see: a layer is refuted as soon as it has fewer than 125 states. A = 3 is enough, "
            "and base 7 was generous (two letters multiply by 9, and two codes differ by at most 4).",
)  # fmt: skip

# %% [markdown]
# ## 4 The clock of chapter 00 is a turn
#
# What does a network find that is *trained* to count? A diagonal layer does not mix its coordinates. Call each of them a *channel*:
# $x \mapsto a x + b$, with complex numbers $a, b$ chosen by the letter. The lower network of chapter 00 has 32 of them. A channel
# that counts modulo 5 should turn by 72° for each unit. Here are two that nearly do: by how much each digit turns them, and how far that is ahead of 0°, 72°, 144°, 216°, 288°.

# %%
clock, unit = ch00.Clock(), 72 * np.arange(5)
for channel, way in ((9, -1), (23, 1)):  # channel 9 turns clockwise
    angles = np.degrees(np.angle(clock.a[:, channel])) * way % 360
    ahead = (angles - unit).mean()
    print(f"channel {channel}: {angles.round(1)} degrees, on average {ahead:+.2f}")

# %% [markdown]
# There is the hand. Channel 9 runs ahead by about 1.2° a digit. After 150 digits that is 177°, two and a half
# hours of 72°: the network says *sum plus 2*. After about 305 digits the hand has gone round once too often, and soon after that,
# near 340, the network is most often right again. (Channel 23 is late by 1.4° a digit, mostly at the digit 4; the readout listens to it less.)
#
# So mend it. Write the ten exact angles into the two channels, and leave everything else as it was trained.

# %%
mended = clock.a.copy()
mended[:, 9] = abs(clock.a[:, 9]) * np.exp(-1j * np.radians(unit))
mended[:, 23] = abs(clock.a[:, 23]) * np.exp(1j * np.radians(unit))
digits = ch00.random_digits()
before, now = clock.off(digits), clock.off(digits, mended)
for t in (40, 150, 500):
    was, became = ((off[:, t - 1] == 0).mean() for off in (before, now))
    print(f"position {t}: right on {was:.0%}, mended {became:.0%}")

# %% jupyter={"source_hidden": true} tags=["hide-input", "nbval-ignore-output"]
show.figure(
    ch00.mended_picture(before, now),
    alt="Two panels of bands, the shares of answers that are right and off by 1 to 4 at positions 1 to 500. Above, as trained, the bands go round; "
        "below, with ten angles put right, nearly all answers are right up to about 150, then some are the sum plus 4.",
    caption="What to see: ten exact angles, and the answers stop going round. What goes wrong later "
            "comes from what we left alone: the other 30 channels, and sizes a little below 1.",
)  # fmt: skip

# %% [markdown]
# ### Turns and resets
#
# A turn by exactly 72° is back after five steps, so the channel has finitely many states and no hand runs ahead. What else can a
# channel do with finitely many states?

# %% jupyter={"source_hidden": true} tags=["hide-input", "nbval-ignore-output"]
show.figure(
    ch01.turn_or_reset(),
    alt="Left, five states on a circle, each with an arrow to the next; their mean stays. Right, the five states with arrows into one point.",
    caption="What to see: all that a letter can do to a channel with finitely many states. It turns them about their mean, or it "
    "sends all of them to one.",
)

# %% [markdown]
# > **Theorem D.** Let one diagonal layer reach finitely many states, on all words over its letters. If all letters of $u$ and $v$ occur in $w$, then for every $p$
# >
# > $$x(p\,u\,v\,w) = x(p\,v\,u\,w).$$
#
# *Proof.* Take one channel. Its states are a finite set $R$ of points in the plane, and every letter maps $R$ into $R$.
#
# 1. If $a = 0$ the letter is a **reset**: it forgets everything. If $a \ne 0$ it keeps different points different, so on a finite set it is a
#    *permutation*.
# 2. A permutation leaves the mean $c$ of the points where it is, so $x - c$ becomes $a\,(x - c)$.
# 3. It leaves the sum of all $|x - c|^2$ as it is, so $|a| = 1$: the letter is a **turn** about $c$. (If $R$ is a single point, every letter leaves it alone.)
# 4. Turns about one centre commute. So if no letter of $w$ resets the channel, $uv$ and $vu$ do the same.
# 5. If a letter of $w$ does, everything before it is forgotten, and both words go on alike. $\blacksquare$
#
# The folded cell checks the algebra of the five steps in **all cases**.

# %% jupyter={"source_hidden": true} tags=["hide-input", "proof-theorem_d"]
a, e, shift, x, y, c, q = sp.symbols("a e shift x y c q")
assert sp.expand((a * x + shift) - (a * y + shift) - a * (x - y)) == 0, (
    "Theorem D, step 1: differences are multiplied by a"
)
n = sp.Symbol("n", positive=True)
drive = sp.solve(sp.Eq(a * n * c + n * shift, n * c), shift)[0]  # the n points of R add up to n c, before and after
assert sp.expand(a * x + drive - (c + a * (x - c))) == 0, "Theorem D, step 2: x - c becomes a (x - c)"
spread, size = sp.symbols("spread size", positive=True)
assert sp.solve(sp.Eq(size**2 * spread, spread), size) == [1], "Theorem D, step 3: hence |a| = 1"
orders = [c + second * ((c + first * (x - c)) - c) for first, second in ((a, e), (e, a))]
assert sp.expand(orders[0] - orders[1]) == 0, "Theorem D, step 4: turns about one centre commute"
last = x
for gate, add in ((a, shift), (e, y), (0, q), (a, c)):  # the third letter is a reset to q
    last = sp.expand(gate * last + add)
assert last == a * q + c, "Theorem D, step 5: nothing before a reset is left"
show.math(r"\text{a turn: } \ b =", sp.factor(drive), r"\text{; after a reset to } q \text{ and one more letter: } \ x =", last)

# %% [markdown]
# **Exercise 5** ★★ *(10 min, 4 points: to see why a permuting letter is a turn)* **Find the wrong step.** A letter does
# $x \mapsto a x + b$ to a channel, with $a \ne 0$, and maps a finite set $R$ of points into itself. *Claim: it is a turn.*
#
# 1. As $a \ne 0$, it keeps different points different, so on the finite set $R$ it is a permutation.
# 2. Hence it leaves the mean $c$ of $R$ where it is, and $x - c$ becomes $a\,(x - c)$.
# 3. The sum of all $|x - c|^2$ over $R$ is the same before and after, and the letter multiplies it by $|a|^2$. So $|a| = 1$.
# 4. A map with $|a| = 1$ that leaves $c$ where it is turns the plane about $c$.
#
# Which step does not follow, and which letter on which points shows it?

# %%
my_step = None  # exercise 5: the step, then (a, b, the points of R), for example (1, (1j, 0, [1, 1j, -1, -1j]))
check("01.5", my_step)

# %% [markdown]
# <!-- Exercise 01.5: from notebooks/lrnnbook/content/exercises/ch01.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint 1</summary>
#
# $\sum_R |x - c|^2 = |a|^2 \sum_R |x - c|^2$. By what does one divide?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# When is this sum zero?
#
# </details>

# %% [markdown]
# ### Two killer words
#
# Can you refute *every* diagonal layer with finitely many states, whatever its readout? Two words are enough. For subtraction take
# $u$ = `0-`, $v$ = `1-`, $w$ = `0-1`. By Theorem D, **0-1-0-1** and **1-0-0-1** end in the same state. But $0-1-0-1 \equiv 3$ and
# $1-0-0-1 \equiv 0$.
#
# Choose what each letter does to the channel. Each dial is the plane around the centre of the turns, and the dot is the state.

# %% jupyter={"source_hidden": true} tags=["hide-input", "nbval-ignore-output"]
killers_widget = ch01.killers_widget()
killers_widget

# %% [markdown]
# It opens with a `0` that leaves the state alone, a `1` that turns it by 72°, and a minus that turns it by 180°. The two rows of the channel
# differ on the way and end alike: one state for two answers. The other picture is a block of size 2, which section 5 is about. It
# remembers the first number.
#
# *Try* any turns and resets: the last dials agree. Then take the hypothesis away and let the minus *shrink*, so that the channel has
# infinitely many states. The sentence says which step of the proof breaks first, and how far apart the words end. As long
# as the minus resets, they end alike whatever the other letters do. Why (step 5)?
#
# EvenPair asks whether the last letter is the first one. There $u$ = `0`, $v$ = `1`, $w$ = `01` do it: 0101 and 1001 end in one state, and only
# the second is an even pair. Killer words for 16 tasks are in [01d](deeper/01d_turns_and_resets.ipynb).

# %% [markdown]
# **Exercise 6** ★ *(10 min, 3 points: to refute all diagonal layers with two words)* The task is to say whether two b's
# have appeared side by side anywhere so far. Find two words of four letters a and b that rule out one diagonal layer
# (with finitely many states) for it.

# %%
my_words = None  # exercise 6: two words, for example ("aabb", "abab")
check("01.6", my_words)

# %% [markdown]
# <!-- Exercise 01.6: from notebooks/lrnnbook/content/exercises/ch01.md, by lrnnlab book build; change it there. -->
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

# %% [markdown]
# ## 5 A block of size 2
#
# On *one* number, a map $x \mapsto ax + b$ forgets everything ($a = 0$) or nothing. On *two* numbers there is something between: a matrix
# that is not zero and not invertible. For the number $s$ from 0 to 4 let
#
# $$A_s = \begin{pmatrix} 1 & -s/4 \\ 0 & 0 \end{pmatrix}, \qquad b_s = \begin{pmatrix} s/4 \\ 1 \end{pmatrix}.$$
#
# At the start $(0, 0)$ it stores: the state becomes $(s/4, 1)$. Later it keeps: $(r, 1)$ goes to $(r - s/4 + s/4, 1) = (r, 1)$.

# %% jupyter={"source_hidden": true} tags=["hide-input", "nbval-ignore-output"]
show.figure(
    ch01.stored_first(["0-3-1", "1-4-0", "2-0-2", "3-1-4", "4-2-3"]),
    alt="From the start (0, 0) five arrows, one for each first number, to five places on the line 1; each is named by its expression.",
    caption="What to see: the first number chooses one of five places. The numbers after it leave the state where it is.",
)


# %% [markdown]
# Now put the block beside a clock that turns by exactly 72° a unit. The block keeps the first number, the clock the sum of all. And
# $a - b - c - \cdots = 2a - (a + b + c + \cdots)$. So here is a layer with 25 states, and a start, that
# subtracts at every length.

# %%
def block_and_clock(text):
    block, clock = np.zeros(2), 1
    for s in map(int, text.split("-")):
        A, b = np.array([[1, -s / 4], [0, 0]]), np.array([s / 4, 1])
        block, clock = A @ block + b, np.exp(2j * np.pi * s / 5) * clock
    return block, clock


def read_off(block, clock):
    total = round(np.angle(clock) * 5 / (2 * np.pi))
    return (2 * round(4 * block[0]) - total) % 5


draw = np.random.default_rng(0)
texts = ["-".join(map(str, draw.integers(5, size=250))) for _ in range(100)]
wrong = sum(read_off(*block_and_clock(text)) != value(text) for text in texts)
print(f"{wrong} of {len(texts)} expressions of 250 numbers are answered wrong, in floats")

# %% [markdown]
# The base-7 layer needs about 1,400 bits for that; in floats it is lost at the tenth number. This one has nothing to lose.
#
# That the block is right on *all* words is a search through finitely many pairs, as in chapter 00. The folded cell does it for EvenPair
# (**all words**), which killer words have just denied to every diagonal layer with finitely many states. It also checks **all five numbers**: $A_s$ is
# neither zero nor invertible, and it obeys the constraint that the paper has for blocks (Eq. 6, chapter 02).

# %% jupyter={"source_hidden": true} tags=["hide-input", "proof-block_two"]
r, s = sp.symbols("r s")


def keeps(corner, s=s):
    A, drive = sp.Matrix([[1, corner * s], [0, 0]]), sp.Matrix([s, 1])
    return A * sp.zeros(2, 1) + drive, sp.simplify(A * sp.Matrix([r, 1]) + drive)


empty, full = keeps(corner=-1)
assert list(empty) == [s, 1] and list(full) == [r, 1], (
    "The block of size 2, step 1: the first letter is stored and kept"
)
blocks = [sp.Matrix([[1, -sp.Rational(s, 4)], [0, 0]]) for s in range(5)]
assert all(block.rank() == 1 and block.det() == 0 for block in blocks), (
    "The block of size 2, step 2: neither zero nor invertible"
)
columns = [block.col(j) for block in blocks for j in (0, 1)]
assert all(sum(entry != 0 for entry in v) <= 1 and max(map(abs, v)) <= 1 for v in columns), (
    "The block of size 2, step 3: Eq. 6"
)
for M in (2, 5):
    model, machine = minimal.constructions(f"EvenPair({M})")[0].model, language(f"EvenPair({M})").machine
    first = model.layers[0][0]  # the block; beside it is the last letter
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
# **Break it.** The corner $-s/4$ takes away again what $b_s$ adds. Set it to 0, and the block adds up the numbers instead of keeping
# the first (folded).

# %% jupyter={"source_hidden": true} tags=["hide-input", "proof-block_two"]
with show.expect_failure("The block of size 2, step 1"):
    empty, full = keeps(corner=0)
    assert list(full) == [r, 1], f"The block of size 2, step 1: (r, 1) goes to {tuple(full)}"

# %% [markdown]
# **Exercise 7** ★★ *(10 min, 4 points: to forget with a transition of zeros)* **Code.** Change the block of this
# section so that it stores the **last** letter $s$ other than 0, as the first of its two numbers (as $s/4$, like the
# block above, from the start $(0, 0)$). Give $A$ and $b$ for
# the letters 0 to 4.

# %%
# exercise 7: letter -> (A, b), for example {0: ([[1, 0], [0, 1]], [0, 0]), 1: ...}
my_block = None
check("01.7", my_block)

# %% [markdown]
# <!-- Exercise 01.7: from notebooks/lrnnbook/content/exercises/ch01.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint 1</summary>
#
# What must a letter $s \ne 0$ do to the state before?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# Its $A$ is zero, and $b$ is what is to be stored.
#
# </details>

# %% [markdown]
# ## What to remember
#
# 1. What came before cancels in a difference. So with one $A$, or with diagonal ones, the state cannot be equal for equal values and
#    different for different ones.
# 2. Nothing requires equal states for equal values. One number that stores the whole expression subtracts.
# 3. That is the price: with one $A$ and any readout, subtraction modulo an odd number makes the state store its input (Theorem A).
# 4. With diagonal transitions and finitely many states a letter is a turn or a reset, and two killer words end in one state (Theorem D).
#    A trained clock is a turn that is not quite exact.
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
# * Automata as layers of groups and resets, as [01e](deeper/01e_groups_and_depth.ipynb) builds them: Krohn and Rhodes, *Algebraic
#   Theory of Machines I*, 1965, [doi:10.1090/S0002-9947-1965-0188316-1](https://doi.org/10.1090/S0002-9947-1965-0188316-1).
#
# ## Exercises
#
# You will find each exercise in its section (others are in the deeper notebooks). Stuck? `hint("01.1")`. Done? Compare with `solution("01.1")`.

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
# | 4 | [3 A layer that escapes stores everything](#3-A-layer-that-escapes-stores-everything) | ★★ | 15 | 4 | to turn a contradiction into a construction |
# | 5 | [4 The clock of chapter 00 is a turn](#4-The-clock-of-chapter-00-is-a-turn) | ★★ | 10 | 4 | to see why a permuting letter is a turn |
# | 6 | [4 The clock of chapter 00 is a turn](#4-The-clock-of-chapter-00-is-a-turn) | ★ | 10 | 3 | to refute all diagonal layers with two words |
# | 7 | [5 A block of size 2](#5-A-block-of-size-2) | ★★ | 10 | 4 | to forget with a transition of zeros |
#
# <details><summary>Solution of 01.1</summary>
#
# $x(p\,i{-}j) = A^3 x(p) + A^2 b_i + A\,b_- + b_j$, so the difference is
# $A^2 (b_i - b_k) + b_j - b_l$.
#
# </details>
#
# <details><summary>Solution of 01.2</summary>
#
# The first. A readout gives each state one answer, so different answers need different states. The
# second is a wish about the state, not about the answer: a readout may give the same answer to two states.
#
# </details>
#
# <details><summary>Solution of 01.3</summary>
#
# `4-0-0-0-0-0-0-0-0-1`. With 17 letters the state stays below $7^{17} \approx 2.3 \cdot 10^{14}$, far
# below $2^{53} \approx 9.0 \cdot 10^{15}$. With 19 letters it begins with the code 5 of the digit 4 and the code 6 of the
# minus: $5 \cdot 7^{18} + 6 \cdot 7^{17} \approx 9.5 \cdot 10^{15}$ is above, and with any other first digit it is below.
# There only even numbers are left, so a state that should be odd is moved by one, and $h$ reads another last number.
# Steps 1 and 2 are about whole numbers of any size; the 53 bits of a float run out at the tenth number of the
# expression.
#
# </details>
#
# <details><summary>Solution of 01.4</summary>
#
# By step 1 of Theorem A all three pairs share a state; by steps 2 and 3 not both of the last two have equal values.
#
# ```python
# def collide(A, code, n):
#     def state(text):
#         x = 0
#         for letter in text:
#             x = A * x + code[letter]
#         return x
#
#     def value(text):
#         first, *others = map(int, text.split("-"))
#         return (first - sum(others)) % 5
#
#     seen = {}
#     for numbers in product("01234", repeat=n):
#         text = "-".join(numbers)
#         other = seen.setdefault(state(text), text)
#         if other != text:
#             while other[0] == text[0]:
#                 other, text = other[2:], text[2:]
#             if value(other) != value(text):
#                 return other, text
#             return "0-" + other, "0-" + text
#     return None
# ```
#
# </details>
#
# <details><summary>Solution of 01.5</summary>
#
# Step 3, for example `(3, (0.5, 1, [2]))`: the letter leaves the one point of $R$ alone, the sum is 0 before and after, and
# $0 = |a|^2 \cdot 0$ says nothing about $a$. What is right: if $R$ has two points or more, the sum is not zero, and $|a| = 1$. If $R$ is one
# point, every letter does nothing, whatever $a$ is, and that is all that Theorem D needs.
#
# </details>
#
# <details><summary>Solution of 01.6</summary>
#
# `abba` and `baba`: $u = a$, $v = b$, $w = ba$, so by Theorem D they end in the same state. The first
# has two b side by side, the second has not. (With $w = ab$ the words are `abab` and `baab`, and neither has.)
#
# </details>
#
# <details><summary>Solution of 01.7</summary>
#
# Letter 0: the identity, nothing added. Letter $s \ne 0$: $A = 0$, $b_s = (s/4, 0)$. It needs
# no block at all: this is a reset in a channel.
#
# </details>
