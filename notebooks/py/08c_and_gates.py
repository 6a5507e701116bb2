# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 08c · AND gates
#
# How many hidden units does a merge need? *It takes* about 10 min to read. Behind [chapter 08](08_working_memory_in_depth.ipynb).

# %% tags=["hide-input"]

import numpy as np

import lrnnlab
from lrnnlab import automata
from workbook import show
from workbook.chapters import ch08
from workbook.exercises import hint, solution

EXPECTED = "0.1"
if not lrnnlab.__version__.startswith(EXPECTED):
    raise RuntimeError(
        f"this notebook needs lrnnlab {EXPECTED}, here is {lrnnlab.__version__}: run "
        "bootstrap.py"
    )
print(f"lrnnlab {EXPECTED}: ready")


# %% [markdown]
# ## 1 The weights of Lemma 1
#
# A node holds the **action** of its word: a matrix $A$ whose row $s$ has its 1 in the column of the state that the word leads to from $s$
# (the paper's Eq. 2). First the word $u$, then $v$, is the product $A_u A_v$. Lemma 1 multiplies two such matrices with $n^3$ hidden units, one for each $(i, j, k)$, and these weights:

# %% tags=["proof-and_gates"]
def relu(x):
    return np.maximum(x, 0)


def first_weights(n):
    """W1 by Eq. 3, (2 n², n³): hidden unit (i, j, k) reads the numbers at two places, from 1."""
    z = np.arange(1, 2 * n * n + 1)[:, None, None, None]
    i, j, k = np.ogrid[1 : n + 1, 1 : n + 1, 1 : n + 1]
    reads = (z == (i - 1) * n + k) | (z == (n + k - 1) * n + j)
    return reads.reshape(2 * n * n, n**3).astype(int)


def second_weights(n):
    """W2 = I (n² x n²) times a column of n ones, Kronecker: (n³, n²)."""
    return np.kron(np.eye(n * n, dtype=int), np.ones((n, 1), dtype=int))


# %% [markdown]
# ## 2 A gate for each pair of actions
#
# A machine does not need *all* 0/1 matrices, only the actions of its words. Let it have $m$ of them. (They are closed under
# composition, and are called the elements of its *transition monoid*; a monoid is a set with an associative product and a neutral
# element.) Code an action as a
# one-hot vector of length $m$, and spend one AND gate on each pair of actions: $m^2$ hidden units.
#
# **Claim (AND gates).** These $m^2$ gates do what the $n^3$ units of Lemma 1 do for this machine. They are fewer if and only if $m < n^{3/2}$.
#
# The machines below are those of the book. Sum(5) adds digits modulo 5. $S_3$ are the permutations of three things, made by a swap `s`
# and a turn `t`; $A_5$ the even permutations of five. $D_n$ are brackets that close, nested at most $n$ deep. $(aa)^*$ counts letters
# modulo 2, EvenPair asks whether the first and the last letter are equal, and Tomita 3 to 6 are small languages of 0s and 1s, in use as
# tests since Tomita (1982).
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
    made = relu(np.concatenate([one[a], one[b]], axis=1) @ W1 - 1) @ W2
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
    made = (relu(x @ first_weights(n) - 1) @ second_weights(n)).reshape(-1, n, n)
    assert np.array_equal(made, rows[table[a, b]]), "AND gates, step 2: the two codes agree"
print("the last of five:", name, "with", len(a), "pairs")

# %% [markdown]
# **Step 3.** So $m^2$ gates do what $n^3$ units do, and they are fewer exactly where $m^2 < n^3$. The cell counts states and actions
# of sixteen machines.

# %% tags=["proof-and_gates"]
n_and_m = {name: ch08.machine_of(name) for name in (
    "Parity", "(aa)*", "Sum(5)", "EvenPair(2)", "EvenPair(5)", "Tomita 5", "Tomita 6", "S_3", "A_5",
    "ModArith(5)", "D_2", "D_3", "D_4", "D_12", "Tomita 3", "Tomita 4")}  # fmt: skip
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

# %% tags=["hide-input"]
show.table(
    [{"task": name, "states n": n, "actions m": m, "n³ units": n**3, "m² gates": m**2}
     for name, (n, m) in n_and_m.items()],
    caption="Hidden units for one merge: n³ by Lemma 1, or m² by AND gates over one-hot "
            "actions. The gates are fewer in the first nine rows.",
)  # fmt: skip

# %% [markdown]
# So where a trained model does well on $D_{12}$ or on Modular Arithmetic, it has no unit for every $(i, j, k)$, as in Lemma 1, and no
# gate for every pair of actions. The lemma says what *can* be, not what is learned.

# %% [markdown]
# **Exercise 4** ★★ *(15 min, 4 points: to tell when AND gates are fewer)* **A proof step.** With $m$ actions and $n$ states,
# when are $m^2$ AND gates fewer than $n^3$ units? For which groups, if a state is an element of the group? And why
# never for $n \ge 2$ states whose words act in all $n^n$ ways?

# %% [markdown]
# <!-- Exercise 08.4: from notebooks/workbook/exercises/ch08.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint 1</summary>
#
# If a state is an element of the group, $n = m$.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# How many maps of $n$ states into themselves are there?
#
# </details>
#
# <details><summary>Solution</summary>
#
# $m^2 < n^3$ means $m < n^{3/2}$. For a group with its elements as states $m = n$, and
# $n^2 < n^3$ for every group of more than one element. With $m = n^n \ge n^2$ it is $m^2 \ge n^4 > n^3$.
#
# </details>

# %% [markdown]
# ## Exercises
#
# You will find each exercise in its section. Stuck? `hint("08.4")`. Done? Compare with `solution("08.4")`.

# %% [markdown]
# <!-- The exercises of this chapter, listed by lrnnlab book build. -->
#
# 1 exercise, 4 points, about 15 minutes:
#
# | exercise | section | difficulty | minutes | points | you will learn |
# |---|---|---|---|---|---|
# | 4 | [2 A gate for each pair of actions](#2-A-gate-for-each-pair-of-actions) | ★★ | 15 | 4 | to tell when AND gates are fewer |
