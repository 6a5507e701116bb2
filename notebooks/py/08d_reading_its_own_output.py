# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 08d · Reading its own output
#
# Lemma 1's layer is used again and again on what it wrote itself. What must be there before the start of the string, and when are its outputs bits again? *It takes* about 15 min to read. Behind [chapter 08](08_working_memory_in_depth.ipynb).

# %% tags=["hide-input"]
import itertools

import numpy as np
import sympy as sp

import lrnnlab
from workbook import show
from workbook.chapters import ch08

EXPECTED = "0.1"
if not lrnnlab.__version__.startswith(EXPECTED):
    raise RuntimeError(
        f"this notebook needs lrnnlab {EXPECTED}, here is {lrnnlab.__version__}: run "
        "bootstrap.py"
    )
print(f"lrnnlab {EXPECTED}: ready")


# %% [markdown]
# ## 1 The layer and the recursion
#
# A node holds the **action** of its word: a matrix $A$ whose row $s$ has its 1 in the column of the state that the word leads to from $s$
# (the paper's Eq. 2). First the word $u$, then $v$, is the product $A_u A_v$. Here are the layer and the recursion of the sitting, and the slow truth, which follows every state letter by letter:

# %% tags=["proof-prefixes", "proof-closure"]
def compose(A, B):
    """Lemma 1 without its zero weights: sum over k of ReLU(A_ik + B_kj - 1), for (..., n, n)."""
    s = A[..., :, None, :] + np.swapaxes(B, -1, -2)[..., None, :, :] - 1
    return np.maximum(s, 0).sum(-1)


def recursion(leaves, layer, before):
    """Depth by depth what each place holds, chunks of two: layer(place i - 2^l, place i).

    before : what stands at places before the first.
    """
    held, back = [list(leaves)], 1
    while back < len(leaves):
        last = held[-1]
        held.append([layer(last[i - back] if i >= back else before, last[i])
                     for i in range(len(last))])  # fmt: skip
        back *= 2
    return held


# %% tags=["proof-prefixes", "proof-closure"]
def letters(machine, strings):
    """Eq. 2 for each letter of strings (S, T): a list over t of (S, n, n)."""
    one = np.eye(machine.num_states, dtype=int)
    return [one[machine.transitions[column]] for column in strings.T]


def truth(machine, strings):
    """The matrix of each prefix, by following every state letter by letter: a list over t."""
    one = np.eye(machine.num_states, dtype=int)
    state = np.tile(np.arange(machine.num_states), (len(strings), 1))
    found = []
    for column in strings.T:
        state = np.take_along_axis(machine.transitions[column], state, axis=1)
        found.append(one[state])
    return found


def words(machine, length):
    """Every word of so many letters, (V^length, length)."""
    return np.array(list(itertools.product(range(machine.num_symbols), repeat=length)))


# %% [markdown]
# ## 2 What comes before the start?
#
# **Claim (prefixes).** With identities before the string, $\lceil\log_2 T\rceil$ layers give the action of every prefix. With zeros they do not.
#
# **Step 1.** The printed heads (quoted in section 4 of the sitting) have one finite number each: the first head's $r_0$, the second head's $r_1$. A
# softmax with one finite score is 1 there, whatever the contents add to it: the first head reads position $i$, the second
# $i - 2^\ell$.
#
# **Step 2.** But at depth $\ell$ the first $2^\ell$ positions have nothing at $i - 2^\ell$. There the second head takes a softmax over
# nothing.

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
# after $\ell$ layers place $i$ holds the last $2^\ell$ letters up to $i$ (all of them, where there are fewer), in order. No machine has
# been named: this is so for every one. **All $T \le 64$**, with $T$ different letters.

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
# (The released code has one learned vector there. It may *learn* to be the identity; nothing makes it.)
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
# **Step 3.** Lemma 1 admits *all* 0/1 matrices, and these are not closed: some products have entries above 1 (the cell counts them for
# $n = 2$).
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
