# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 08c · Lemma 1 in use
#
# How many hidden units does a merge need? What must be there before the start of the string? And when are the layer's outputs bits again, so that it can read them itself? *It takes* about 25 min to read and 15 min for the exercises. Read [chapter 08](../08_working_memory_in_depth.ipynb) first.

# %% jupyter={"source_hidden": true} tags=["hide-input"]
import itertools

import numpy as np
import sympy as sp

import lrnnbook
from lrnnbook import show
from lrnnbook.content.chapters import ch08
from lrnnbook.content.chapters.tree_composition import (
    compose,
    first_weights,
    letters,
    recursion,
    second_weights,
    truth,
    words,
)
from lrnnbook.content.exercises import check, hint, solution
from lrnnlab import automata

lrnnbook.needs("0.1")

# %% jupyter={"source_hidden": true} tags=["hide-input", "nbval-ignore-output"]
show.figure(
    ch08.units_picture(),
    alt="Left: ReLU(a + b - 1) over the square of a and b; it is 0 at three corners and 1 where both are 1. Right: sixteen tasks by number "
        "of states and of actions. Nine lie below the line where m squared is n cubed, among them Parity, S_3 and A_5; D_2 to D_12, "
        "Tomita 3 and 4, and Modular Arithmetic, just, lie above.",
    caption="What to see: one unit of Lemma 1 is an AND gate for two bits (left). With one gate for each pair of actions some tasks need "
            "fewer units than with Lemma 1, and the brackets D need many more (right).",
)  # fmt: skip


# %% [markdown]
# A node holds the **action** of its word: a matrix $A$ whose row $s$ has its 1 in the column of the state that the word leads to from $s$
# (the paper's Eq. 2). First the word $u$, then $v$, is the product $A_u A_v$. Lemma 1
# multiplies two such matrices with $n^3$ hidden units, one for each $(i, j, k)$; `first_weights(n)` and `second_weights(n)` are its
# $W_1$ and $W_2$.
#
# ## 1 A gate for each pair of actions
#
# A machine does not need *all* 0/1 matrices, only the actions of its words. Let it have $m$ of them. Together they are its *transition
# monoid*: composing two of them gives another one, and one of them does nothing. Code an action as a one-hot vector of length $m$, and
# spend one AND gate on each pair of actions: $m^2$ hidden units.
#
# **Claim (AND gates).** These $m^2$ gates do what the $n^3$ units of Lemma 1 do for this machine. They are fewer if and only if $m < n^{3/2}$.
#
# The machines are those of the book:
#
# | machine | its task |
# |---|---|
# | Sum(5) | add digits modulo 5 |
# | $S_3$, $A_5$ | compose permutations of three things (a swap `s` and a turn `t`), even permutations of five |
# | $D_n$ | do the brackets close, nested at most $n$ deep? |
# | $(aa)^*$ | count letters modulo 2 |
# | EvenPair | are the first and the last letter equal? |
# | Tomita 3 to 6 | small languages of 0s and 1s, in use as tests since Tomita (1982) |
#
# **Step 1.** Unit $(a, b)$ is $\mathrm{ReLU}(x_a + y_b - 1)$, and feeds the place of the action "first $a$, then $b$". The result is
# the one-hot code of the product, for every pair.

# %% tags=["proof-and_gates"]
def action_table(machine):
    """All actions (m, n), and (m, m) the number of "first a, then b"."""
    actions = automata.transition_monoid(machine).elements
    number = {action.tobytes(): place for place, action in enumerate(actions)}
    return actions, np.array([[number[b[a].tobytes()] for b in actions] for a in actions])


for name in ("Parity", "Sum(5)", "S_3", "D_2", "Tomita 3"):
    actions, table = action_table(ch08.machine_of(name))
    m, one = len(actions), np.eye(len(actions), dtype=int)
    W1 = np.concatenate([np.repeat(one, m, axis=1), np.tile(one, m)])  # (2 m, m²)
    W2 = one[table.ravel()]  # (m², m)
    a, b = np.indices((m, m)).reshape(2, -1)
    made = np.maximum(np.concatenate([one[a], one[b]], axis=1) @ W1 - 1, 0) @ W2
    assert np.array_equal(made, one[table[a, b]]), (
        "AND gates, step 1: the gates give the code of the product"
    )
    print(f"{name}: {m} actions, {m * m} AND gates, right on all pairs")

# %% [markdown]
# **Step 2.** Lemma 1 on the matrices of Eq. 2 gives the matrix of the same action, for every pair: the two codes agree.

# %% tags=["proof-and_gates"]
for name in ("Parity", "Sum(5)", "S_3", "D_2", "Tomita 3"):
    actions, table = action_table(ch08.machine_of(name))
    n, rows = actions.shape[1], np.eye(actions.shape[1], dtype=int)[actions]  # (m, n, n), Eq. 2
    a, b = np.indices(table.shape).reshape(2, -1)
    x = np.concatenate([rows[a].reshape(-1, n * n), rows[b].reshape(-1, n * n)], axis=1)
    made = (np.maximum(x @ first_weights(n) - 1, 0) @ second_weights(n)).reshape(-1, n, n)
    assert np.array_equal(made, rows[table[a, b]]), "AND gates, step 2: the two codes agree"
print("the last of five:", name, "with", len(a), "pairs")

# %% [markdown]
# **Step 3.** So $m^2$ gates do what $n^3$ units do, and they are fewer exactly where $m^2 < n^3$. Count states and actions of sixteen
# machines:

# %% tags=["proof-and_gates"]
n_and_m = {name: ch08.machine_of(name) for name in ch08.MERGED}
n_and_m = {name: (machine.num_states, len(automata.transition_monoid(machine)))
         for name, machine in n_and_m.items()}  # fmt: skip
fewer = [name for name, (n, m) in n_and_m.items() if m**2 < n**3]
assert fewer == list(n_and_m)[:9], "AND gates, step 3: gates are fewer in the first nine"
print("fewer AND gates:", ", ".join(fewer))

# %% [markdown]
# **Step 4.** The paper's model has width 256 and 4 · 256 hidden units. Modular Arithmetic and $D_{12}$ need more of both kinds, and
# even the input $[\mathrm{Flat}(A), \mathrm{Flat}(B)]$ has more than 256 numbers.

# %% tags=["proof-and_gates"]
for name in ("ModArith(5)", "D_12"):
    n, m = n_and_m[name]
    assert min(n**3, m**2) > 4 * 256 and 2 * n * n > 256, (
        "AND gates, step 4: more units than the model has"
    )
    print(f"{name}: {n**3:,} units or {m**2:,} gates, and {2 * n * n:,} numbers to read")

# %% jupyter={"source_hidden": true} tags=["hide-input"]
show.table(
    [{"task": name, "states n": n, "actions m": m, "n³ units": n**3, "m² gates": m**2}
     for name, (n, m) in n_and_m.items()],
    caption="Hidden units for one merge: n³ by Lemma 1, or m² by AND gates over one-hot "
            "actions. The gates are fewer in the first nine rows.",
)  # fmt: skip

# %% [markdown]
# So a trained model that does well on $D_{12}$ or on Modular Arithmetic works in another way: it has too few units for Lemma 1, and too
# few for a gate on every pair of actions. The lemma says what *can* be, not what is learned.

# %% [markdown]
# **Exercise 9** ★★ *(15 min, 4 points: to tell when AND gates are fewer)* **Find the wrong step.** *Claim: for machines of $n \ge 2$
# states AND gates are always fewer than Lemma 1's units.* Let the words act in $m$ ways.
#
# 1. There are $m^2$ gates and $n^3$ units, so the gates are fewer exactly if $m < n^{3/2}$.
# 2. A word's action is known once we know where the word leads from the start, and there are $n$ states. So $m \le n$.
# 3. $n < n^{3/2}$ for $n \ge 2$.
# 4. So $m < n^{3/2}$, and the gates are fewer.
#
# Which step does not follow? Show it with a machine whose gates are *not* fewer: a row for each letter, that says where it leads from
# each state. Then say for which groups the claim is right, if a state is an element of the group, and why it is wrong for
# all machines whose words act in all $n^n$ ways.

# %%
my_step = None  # exercise 9: the step, then the rows, for example (1, [[1, 2, 0]])
check("08.9", my_step)


# %% [markdown]
# <!-- Exercise 08.9: from notebooks/lrnnbook/content/exercises/ch08.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint 1</summary>
#
# In a group, if a state is an element, where a word leads from 1 tells the word's action. Is that so in the flip-flop?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# How many maps of $n$ states into themselves are there?
#
# </details>

# %% [markdown]
# ## 2 What comes before the start?
#
# **Claim (prefixes).** With identities before the string, $\lceil\log_2 T\rceil$ layers give the action of every prefix. With zeros they do not.
#
# **Step 1.** The printed heads (quoted in section 5 of the sitting) have one finite number each: the first head's $r_0$, the second head's $r_1$. A
# softmax with one finite score is 1 there, whatever the contents add to it. So the first head reads position $i$, the second
# $i - 2^\ell$.
#
# **Step 2.** But at depth $\ell$ the first $2^\ell$ positions have nothing at $i - 2^\ell$. There the second head has nothing to read.

# %% tags=["proof-prefixes"]
def head(T, depth, r, content):
    """The softmax of Eq. 1 for one head, (T, T); a row of zeros where no key is seen."""
    back = np.subtract.outer(np.arange(T), np.arange(T))
    scores = content + np.select([back == 0, back == 2**depth], r, -np.inf)
    shares = np.exp(scores)
    total = shares.sum(1, keepdims=True)
    return np.divide(shares, total, out=np.zeros_like(shares), where=total > 0)


T, never = 16, -np.inf
for depth in range(4):
    content = np.random.default_rng(depth).normal(size=(T, T))  # any scores of the contents
    itself, other = head(T, depth, (0, never), content), head(T, depth, (never, 0), content)
    assert np.array_equal(itself, np.eye(T)), "Prefixes, step 1: the first head"
    assert np.array_equal(other, np.eye(T, k=-(2**depth))), "Prefixes, step 1: the second head"
    empty = int((other.sum(1) == 0).sum())
    assert empty == 2**depth, "Prefixes, step 2: 2^depth positions have nothing to read"
    print(f"depth {depth}: {empty} of {T} positions have no key for the second head")

# %% [markdown]
# **Step 3.** Let a layer write two words one after the other, the earlier first, and put the *empty word* before the start. Then
# after $\ell$ layers place $i$ holds the last $2^\ell$ letters up to $i$ (all of them, where there are fewer), in order. This is about
# words, so it holds for every machine. **All $T \le 64$**, with $T$ different letters.

# %% tags=["proof-prefixes"]
for T in range(1, 65):
    held = recursion([(t,) for t in range(T)], lambda earlier, later: earlier + later, ())
    for depth, row in enumerate(held):
        due = [tuple(range(max(0, i + 1 - 2**depth), i + 1)) for i in range(T)]
        assert row == due, "Prefixes, step 3: the last letters, in order"
print(f"T = {T}: {len(held) - 1} layers, and the last place holds all {len(held[-1][-1])} letters")

# %% [markdown]
# **Step 4.** Words may be replaced by their matrices, since $A_{uv} = A_u A_v$ and the empty word is the identity: for all 729 pairs
# of maps of three states, the layer makes "first $u$, then $v$" of $A_u$ and $A_v$.

# %% tags=["proof-prefixes"]
maps = np.array(list(itertools.product(range(3), repeat=3)))
one = np.eye(3, dtype=int)
for u, v in itertools.product(maps, repeat=2):
    assert np.array_equal(compose(one[u], one[v]), one[v[u]]), "Prefixes, step 4: first u, then v"
print(f"{len(maps) ** 2} pairs of maps: compose is 'first u, then v'")

# %% [markdown]
# **Step 5.** Together: with identities before the string, $\lceil\log_2 T\rceil$ layers give the action of *every* prefix. Once more in
# numbers, on all words of 1 to 8 letters of Tomita 3 (a language of 0s and 1s with five states, whose letters do not
# commute). $\blacksquare$

# %% tags=["proof-prefixes"]
tomita_3 = ch08.machine_of("Tomita 3")
one = np.eye(5, dtype=int)
for length in range(1, 9):
    strings = words(tomita_3, length)
    last = recursion(letters(tomita_3, strings), compose, one)[-1]
    assert np.array_equal(last, truth(tomita_3, strings)), (
        "Prefixes, step 5: the action of every prefix"
    )
print(f"{strings.size} prefixes of all words of {length} letters: all right")

# %% [markdown]
# **Break the hypothesis: zeros before the start.** Then a position can be read only if all $2^{\lceil\log_2 T\rceil}$ letters of
# its tree exist, here only the last of eight.

# %% tags=["proof-prefixes"]
strings, nothing = words(tomita_3, 8), np.zeros((5, 5), dtype=int)
last = recursion(letters(tomita_3, strings), compose, nothing)[-1]
readable = [int(found[:, tomita_3.initial].any(1).sum()) for found in last]
print(f"words that can still be read, after 1 to 8 letters: {readable} of {len(strings)}")
with show.expect_failure("Prefixes, step 5"):
    assert np.array_equal(last, truth(tomita_3, strings)), "Prefixes, step 5: zeros before the start"

# %% [markdown]
# The released code has one learned vector there. It may *learn* to be the identity; nothing forces it.
#
# ## 3 Are outputs bits again?
#
# **Claim (closure).** Lemma 1 can be iterated on matrices whose rows have at most one 1, and not on all 0/1 matrices.
#
# **Step 1.** If row $i$ of $A$ has its 1 in column $k$, then row $i$ of $AB$ *is* row $k$ of $B$, whatever $B$ is. So products of
# matrices with one-hot rows have one-hot rows, and Eq. 2 can be iterated.

# %% tags=["proof-closure"]
for n in (2, 3, 4):
    B = np.array(sp.symbols(f"B:{n}:{n}")).reshape(n, n)
    for leads in itertools.product(range(n), repeat=n):
        A = np.eye(n, dtype=int)[list(leads)]
        assert (A @ B == B[list(leads)]).all(), "Closure, step 1: a row of AB is a row of B"
print(f"n = {n}: {n**n} maps, B of free symbols")


# %% [markdown]
# **Step 2.** So do matrices whose rows have *at most* one 1: a row of zeros gives a row of zeros. (A state that nothing leaves, such as
# "wrong for ever", may therefore be left out.) All pairs of such matrices of size 3:

# %% tags=["proof-closure"]
def with_rows(n, most):
    """All n x n matrices of 0 and 1 with at most so many ones in a row."""
    rows = [row for row in itertools.product((0, 1), repeat=n) if sum(row) <= most]
    return np.array(list(itertools.product(rows, repeat=n)))


def stays(most):
    """Do products of these matrices have the same form?"""
    found = with_rows(3, most)
    products = compose(found[:, None], found)
    return products.max() <= 1 and products.sum(-1).max() <= most


assert stays(most=1), "Closure, step 2: at most one 1 in a row stays so"
print(f"{len(with_rows(3, 1)) ** 2} pairs: no product leaves")

# %% [markdown]
# **Step 3.** Lemma 1 admits *all* 0/1 matrices. Their products can leave this set: some have entries above 1. **Counted for $n = 2$.**
#
# **Step 4.** Then the next layer is wrong. For the matrix $J$ of ones, $f(J, J) = J^2$ is right, but $f(J^2, J^2)$ is not
# $J^4$. $\blacksquare$

# %% tags=["proof-closure"]
every = with_rows(2, 2)
above = int((compose(every[:, None], every).max((-1, -2)) > 1).sum())
assert above > 0, "Closure, step 3: some products have entries above 1"
J = np.ones((3, 3), dtype=int)
square = compose(J, J)
assert np.array_equal(square, J @ J), "Closure, step 4: the first time"
assert (compose(square, square) != square @ square).all(), "Closure, step 4: the next layer is wrong"
print(f"n = 2: {above} of {len(every) ** 2} products are no bits; n = 3: f(J², J²) has "
      f"{compose(square, square)[0, 0]} where J⁴ has {(square @ square)[0, 0]}")  # fmt: skip

# %% [markdown]
# **Break the hypothesis** of step 2: allow two ones in a row.

# %% tags=["proof-closure"]
with show.expect_failure("Closure, step 2"):
    assert stays(most=2), "Closure, step 2: two ones in a row"

# %% [markdown]
# ## Exercises
#
# You will find each exercise in its section. Stuck? `hint("08.9")`. Done? Compare with `solution("08.9")`.

# %% [markdown]
# <!-- The exercises of this chapter, listed by lrnnlab book build. -->
#
# 1 exercise, 4 points, about 15 minutes:
#
# | exercise | section | difficulty | minutes | points | you will learn |
# |---|---|---|---|---|---|
# | 9 | [1 A gate for each pair of actions](#1-A-gate-for-each-pair-of-actions) | ★★ | 15 | 4 | to tell when AND gates are fewer |
#
# <details><summary>Solution of 08.9</summary>
#
# Step 2, for example `(2, [[1, 0], [0, 0]])`, an exchange and a reset of two states: the words act in all four ways, and 16 gates
# are not fewer than 8 units. Two words can lead from the start to one state, and from another state apart. The claim is right for every
# group of more than one element, if the elements are the states: there $m = n$, and $n^2 < n^3$. Where the words act in all $n^n$ ways,
# $m = n^n \ge n^2$ for $n \ge 2$, so $m^2 \ge n^4 > n^3$.
#
# </details>
