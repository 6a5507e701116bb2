# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 09b · Rational outputs
#
# Which outputs of a layer of addition can a weighted automaton compute? *It takes* about 20 min to read. Read [chapter 09](../09_fast_weights.ipynb) first.

# %% jupyter={"source_hidden": true} tags=["hide-input"]
from fractions import Fraction
from itertools import product

import numpy as np
import sympy as sp

import lrnnbook
from lrnnbook import show
from lrnnbook.content.chapters import fast_weight_solutions as fw
from lrnnbook.content.exercises import hint, solution

lrnnbook.needs("0.1")

# %% [markdown]
# ## 1 Proposition 3.1
#
# The paper has two linear Transformers. The *unnormalised* one (ULT) answers $y_t = W_t q_t$. The *normalised* one (NLT) divides this by
# $z_t\cdot q_t$, where $z_t$ is the sum of the keys so far. So its answer is a weighted mean of the values.
#
# > **Proposition 3.1.** "NLTs are not rationally recurrent."
# >
# > **Proposition 3.2.** "NLTs can recognise certain counter languages."
# >
# > **Proposition 3.4.** "The state complexity of a single-layer NLT is $O(\log(n))$".
#
# For the proofs the paper refers to other papers. These ones need no other paper.
#
# A *weighted automaton* with $N$ states gives each word a number: $f(w_1 \dots w_T) = \alpha A_{w_1} \cdots A_{w_T}\,\omega$, with a row $\alpha$ of $N$ numbers, a column $\omega$, and a
# matrix $A_c$ for each letter. A function that such an automaton computes is *rational*. A net is *rationally recurrent* (Merrill and others, 2020) if every number that it
# passes on is rational. The *Hankel matrix* of $f$ is the table $H[u, v] = f(uv)$, a row for every
# beginning $u$ and a column for every ending $v$.
#
# **Claim (Proposition 3.1).** No weighted automaton computes what one normalised layer says.
#
# **Step 1.** One head with equal keys, value 1 for a and 0 for b, answers with the share of a's. **All words of 1 to 6 letters.**

# %% tags=["proof-prop_3_1"]
ab_words = ["".join(word) for n in range(1, 7) for word in product("ab", repeat=n)]

def share_of_a(word):
    W = z = Fraction(0)  # keys and queries are 1, so W and z are numbers
    for letter in word:
        W, z = W + (letter == "a"), z + 1  # Eq. 4
    return W / z  # Eq. 5

print("f(aab) =", share_of_a("aab"), " f(abbb) =", share_of_a("abbb"))
assert all(share_of_a(word) == Fraction(word.count("a"), len(word)) for word in ab_words), (
    "Proposition 3.1, step 1: it says the share of a's"
)

# %% [markdown]
# **Step 2.** For beginnings $a^i$ and endings $b^j$ the table is $i/(i+j)$: a Cauchy matrix (entries $1/(x_i + y_j)$) whose row $i$ is multiplied by $i$. Its determinant is
# $\prod_i i\,\prod_{i<j}(j-i)^2 / \prod_{i,j}(i+j)$, which is not 0, so it has full rank. **Checked:** the determinant at sizes 1 to 8, the rank at
# 1, 2, 4, 8 and 16.

# %% tags=["proof-prop_3_1"]
H = sp.Matrix(16, 16, lambda i, j: sp.Rational(share_of_a("a" * (i + 1) + "b" * (j + 1))))
ranks = {n: H[:n, :n].rank() for n in (1, 2, 4, 8, 16)}
print("size: rank =", ranks, " determinant at size 4:", H[:4, :4].det())
assert all(H[i, j] == sp.Rational(i + 1, i + j + 2) for i in range(16) for j in range(16)), (
    "Proposition 3.1, step 2: it is i/(i+j)"
)
assert all(n == rank for n, rank in ranks.items()), "Proposition 3.1, step 2: the rank is full"
for n in range(1, 9):
    i = range(1, n + 1)
    above = sp.prod(i) * sp.prod((b - a) ** 2 for a in i for b in i if a < b)
    assert H[:n, :n].det() == sp.Rational(above, sp.prod(a + b for a in i for b in i)), (
        "Proposition 3.1, step 2: its determinant"
    )

# %% [markdown]
# **Step 3.** The rank is full at *every* size. Suppose that $\sum_j c_j\,\frac{i}{i+j} = 0$ for $i = 1, \dots, n$. Then the polynomial $p(x) = \sum_j c_j \prod_{l \ne j}(x + l)$, of degree $n - 1$ at most, has the
# $n$ zeros $1, \dots, n$, so it is 0. But $p(-j)$ is $c_j$ times a number that is not 0, so every $c_j$ is 0. **All $n \le 8$**, with free $c_j$; the argument is the same
# for all $n$.

# %% tags=["proof-prop_3_1"]
x = sp.Symbol("x")
for n in range(1, 9):
    c, places = sp.symbols(f"c1:{n + 1}"), range(1, n + 1)
    p = sp.Poly(sum(c[j - 1] * sp.prod(x + other for other in places if other != j) for j in places), x)
    factors = [sp.cancel(p.eval(-j) / c[j - 1]) for j in places]
    assert p.degree() < n and all(one.is_number and one != 0 for one in factors), (
        "Proposition 3.1, step 3: p = 0 makes every c_j = 0"
    )
print("n = 8: p(-j) / c_j =", factors)

# %% [markdown]
# **Step 4.** The table of an automaton with $N$ states has rank at most $N$: it is (rows $\alpha A_u$) times (columns $A_v\omega$), $N$ numbers in between. So no $N$ is enough for $f$. $\blacksquare$ **Sample:** random automata of
# 1 to 4 states, words of up to 3 letters on both sides. (The factorisation is associativity.)

# %% tags=["proof-prop_3_1"]
draw, short = np.random.default_rng(0), [word for n in range(4) for word in product((0, 1), repeat=n)]
for N in (1, 2, 3, 4):
    alpha, omega = draw.integers(-2, 3, (1, N)), draw.integers(-2, 3, (N, 1))
    A = draw.integers(-1, 2, (2, N, N))
    through = {(): np.eye(N, dtype=int)}
    for u in short[1:]:
        through[u] = through[u[:-1]] @ A[u[-1]]
    rows = np.vstack([alpha @ through[u] for u in short])
    columns = np.hstack([through[v] @ omega for v in short])
    table = np.array([[(alpha @ through[u] @ through[v] @ omega)[0, 0] for v in short] for u in short])
    rank = sp.Matrix(table).rank()
    print(f"{N} states: a table of {len(short)} x {len(short)} of rank {rank}")
    assert (rows @ columns == table).all() and rank <= N, (
        "Proposition 3.1, step 4: the rank is at most N"
    )

# %% [markdown]
# **Break it.** Drop the division, and let b have the value −1. The output is then #a − #b in place of the share, and the proof falls at its first step:

# %% tags=["proof-prop_3_1"]
with show.expect_failure("Proposition 3.1, step 1"):
    def difference(word):
        W = Fraction(0)
        for letter in word:
            W = W + (1 if letter == "a" else -1)
        return W

    assert all(difference(word) == Fraction(word.count("a"), len(word)) for word in ab_words), (
        "Proposition 3.1, step 1: it says the share of a's"
    )


# %% [markdown]
# ## 2 Unnormalised layers
#
# > **Appendix C.1.** "these proofs can be directly adopted for ULTs"
#
# For Proposition 3.1 that needs a closer look. The paper's construction compares two counts with zero, and for unnormalised layers everything
# depends on that comparison.
#
# **The corrected statement (rational outputs).** The outputs of an unnormalised layer and of a DeltaNet layer are rational, and so are the
# states $W_t$ and $z_t$ of all of them. Only what a *non-linearity* makes of them, such as "equal to 0", need not be.
#
# **Step 1.** Two states are enough for #a − #b, for $W_t$ (the number of a's) and for $z_t$ (the length): one is always 1, the other adds. **All words of up to 6 letters.**

# %% tags=["proof-rational"]
def automaton(alpha, A, omega):
    def f(word):
        row = np.array(alpha, dtype=object)
        for letter in word:
            row = row @ np.array(A[letter], dtype=object)
        return row @ np.array(omega, dtype=object)
    return f

words = [word for n in range(7) for word in product((0, 1), repeat=n)]
add = lambda number: [[1, number], [0, 1]]
balance, ones, length = (automaton([1, 0], [add(a), add(b)], [0, 1]) for a, b in ((1, -1), (1, 0), (1, 1)))
layer = fw.table([[1], [1]], [[1], [1]], [[1], [-1]])  # the unnormalised layer: equal keys, v = 1, -1
assert all(balance(word) == fw.outputs(layer, word)[-1, 0] for word in words if word), (
    "Rational outputs, step 1: the layer's output"
)
assert all((ones(w), length(w)) == (w.count(0), len(w)) for w in words), (
    "Rational outputs, step 1: the states W and z"
)
print("aab:", balance((0, 0, 1)), ones((0, 0, 1)), length((0, 0, 1)))

# %% [markdown]
# **Step 2.** For a DeltaNet with keys of $n$ numbers and one query, $n + 1$ states are enough: the row of $W$, with a 1 after it, is multiplied by a
# matrix for each letter. **Sample:** $n = 2$, random weights in fractions, words of up to 5 letters.

# %% tags=["proof-rational"]
two_keys = fw.random_layer(np.random.default_rng(0), 2, 2)

def row_step(c):
    """(w, 1), with the row w of W, after the letter c is (w, 1) before it times this matrix."""
    k, v, beta = two_keys.keys[c], two_keys.values[c, 0], two_keys.strengths[c]
    A = np.eye(2, dtype=int) - beta * np.outer(k, k)
    return np.block([[A, np.zeros((2, 1), int)], [beta * v * k, np.ones((1, 1), int)]])

query = two_keys.queries[0]
one_query = automaton([0, 0, 1], [row_step(0), row_step(1)], [*query, 0])
same_query = fw.FastLayer(two_keys.keys, np.stack([query, query]), two_keys.values, two_keys.strengths)
some = [word for word in words if 0 < len(word) < 6]
assert all(one_query(word) == fw.outputs(same_query, word, "delta")[-1, 0] for word in some), (
    "Rational outputs, step 2: n + 1 states"
)
print("n + 1 =", len(row_step(0)), "states; abab ->", one_query((0, 1, 0, 1)))


# %% [markdown]
# **Step 3.** With a query for each letter, one more state is enough. It keeps the last answer. An
# unnormalised layer with any keys, values and queries is the same automaton with $A_c = I$, and $v_ck_c^\top$ instead of
# $\beta_cv_ck_c^\top$. An output of several heads is a sum of such functions, which is rational too.

# %% tags=["proof-rational"]
def with_answer(c):
    M = row_step(c)
    answer = M[:, :-1] @ two_keys.queries[c]  # y_t, linear in W_(t-1) and 1
    return np.block([[M, answer[:, None]], [np.zeros((1, 4), int)]])

many_queries = automaton([0, 0, 1, 0], [with_answer(0), with_answer(1)], [0, 0, 0, 1])
assert all(many_queries(word) == fw.outputs(two_keys, word, "delta")[-1, 0] for word in some), (
    "Rational outputs, step 3: n + 2 states"
)
print("n + 2 =", len(with_answer(0)), "states; abab ->", many_queries((0, 1, 0, 1)))

# %% [markdown]
# **Step 4.** Fewer states are not enough, as the ranks of their tables show (words of up to 3 letters on both sides).

# %% tags=["proof-rational"]
short = [word for word in words if len(word) < 4]
functions = {"#a - #b": balance, "W": ones, "z": length,
             "one query": one_query, "a query a letter": many_queries}  # fmt: skip
ranks = {name: sp.Matrix([[f(u + w) for w in short] for u in short]).rank()
         for name, f in functions.items()}  # fmt: skip
print(ranks)
assert list(ranks.values()) == [2, 2, 2, 2 + 1, 2 + 2], (
    "Rational outputs, step 4: the ranks of the tables"
)

# %% [markdown]
# **Step 5.** The function "1 where a's and b's are equal in number, else 0" is not rational: on $a^i b^j$ its table is the identity, of full rank at every size. $\blacksquare$

# %% tags=["proof-rational"]
block = [[int(balance((0,) * i + (1,) * j) == 0) for j in range(1, 9)] for i in range(1, 9)]
print("rows of the table:", block[0], block[1], "...")
assert block == np.eye(8, dtype=int).tolist(), (
    "Rational outputs, step 5: the table of the indicator is the identity"
)

# %% [markdown]
# **Break it.** Without the non-linearity step 5 falls:

# %% tags=["proof-rational"]
with show.expect_failure("Rational outputs, step 5"):
    block = [[balance((0,) * i + (1,) * j) for j in range(1, 9)] for i in range(1, 9)]
    assert block == np.eye(8, dtype=int).tolist(), "Rational outputs, step 5: the table is the identity"
