# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 09 · Fast weights
#
# **What we ask.** A linear Transformer keeps a matrix of *fast weights*, which every token changes by a learning rule. What can
# such a rule count? Paper 003 (Irie, Csordás and Schmidhuber, 2023) compares four: plain addition, the delta rule, the delta
# rule with feedback, and a matrix that changes itself. We prove what each of them can and cannot do, step by step in the cells,
# with explicit weights where something can; we repair one remark, find what the delta rule loses, and train. At the end one sign
# and one more write a token open the door to a later literature, and a single layer does all three: it counts, resets and keeps parity, by hand and by descent; and the counter that descent finds is snapped and proved right on every string.
#
# *You need:* outer products, eigenvalues, and section 1 of chapter 02. *It takes* about 4 h 5 min to read, and a minute of computing.

# %% tags=["hide-input"]
from fractions import Fraction
from inspect import getsource
from itertools import product

import numpy as np
import sympy as sp
import torch

import lrnnlab
from lrnnlab.models import FastWeights
from lrnnlab.scans import linear_scan
from workbook import show
from workbook.chapters import ch09
from workbook.chapters import fast_weight_solutions as fw
from workbook.exercises import check, hint, predict, solution
from workbook.show.widgets import explore
from workbook.tables import plan, results, run_all

EXPECTED = "0.1"
if not lrnnlab.__version__.startswith(EXPECTED):
    raise RuntimeError(
        f"this notebook needs lrnnlab {EXPECTED}, here is {lrnnlab.__version__}: run "
        "bootstrap.py"
    )
print(f"lrnnlab {EXPECTED}: ready")

# %% [markdown]
# ## 1 A memory that is written while it reads
#
# > **The paper, section 2.** "This can be viewed as a system of two NNs where one net (the slow net; Eq. 1) learns to 'program' the fast
# > net (Eq. 3) by generating its weight changes (Eq. 2)."
#
# The slow net makes a key $k_t$, a value $v_t$ and a query $q_t$ from each token (we write $k$ for the paper's $\phi(k)$). Two rules:
#
# $$\text{sum:}\quad W_t = W_{t-1} + v_t k_t^\top \qquad \text{delta:}\quad W_t = W_{t-1} + \beta_t\,(v_t - W_{t-1}k_t)\,k_t^\top
# \qquad y_t = W_t q_t$$
#
# The third, *Recurrent Delta*, is the delta rule whose slow net also sees $\tanh(y_{t-1})$; the fourth, the *self-referential* matrix (SRWM), makes its own
# $k_t$, $q_t$ and $\beta_t$ (section 7). Addition piles up. The delta rule first asks what the memory says to
# $k_t$, and corrects it by a share $\beta_t$.
#
# **Claim (the delta rule).** The delta rule is this book's sentence $x_t = A_t x_{t-1} + b_t$, for each row of $W$:
#
# $$W_t = W_{t-1}\,\underbrace{(I - \beta_t k_t k_t^\top)}_{A_t} + \beta_t v_t k_t^\top .$$
#
# **Step 1.** Multiply out, with free symbols:

# %% tags=["proof-transition"]
W, v = sp.Matrix(2, 3, sp.symbols("w:6")), sp.Matrix(sp.symbols("v:2"))
k, beta = sp.Matrix(sp.symbols("k:3")), sp.Symbol("beta")
by_rule = W + beta * (v - W * k) * k.T
as_recurrence = W * (sp.eye(3) - beta * k * k.T) + beta * v * k.T
print("difference of the two:", sp.expand(by_rule - as_recurrence).tolist())
assert sp.expand(by_rule - as_recurrence) == sp.zeros(2, 3), (
    "The delta rule, step 1: the rule is a linear recurrence"
)

# %% [markdown]
# **Step 2.** So the scan of chapter 03 runs it. One random layer, eight tokens: the rule in fractions, the scan in floats. $\blacksquare$

# %% tags=["proof-transition"]
layer, word = fw.random_layer(np.random.default_rng(0), V=3, n=4, m=2), [0, 2, 1, 1, 0, 2, 2, 1]
by_rule = np.array(fw.states(layer, word, "delta")[1:], dtype=float)
k, v, beta = (
    torch.tensor(part[word].astype(float)) for part in (layer.keys, layer.values, layer.strengths)
)
beta = beta[:, None, None]
# (T, n, n); symmetric, so rows or columns are the same
A = torch.eye(4) - beta * k[:, :, None] * k[:, None, :]
b = beta * v[:, :, None] * k[:, None, :]  # (T, m, n)
by_scan = linear_scan(A[None, :, None].expand(1, -1, 2, -1, -1), b[None], backend="reference")[0].numpy()
print("rule and scan give the same W_t:", np.allclose(by_rule, by_scan, rtol=1e-9))
assert np.allclose(by_rule, by_scan, rtol=1e-9), (
    "The delta rule, step 2: the scan runs the rule (one layer, in floats)"
)

# %% [markdown]
# The proofs below run the rules by `fw.states` and `fw.outputs`, which take any numbers, fractions above all. These are their lines:

# %%
print(getsource(fw.states), getsource(fw.outputs), sep="\n\n")


# %% [markdown]
# And a whole layer, as the package trains it: the slow net is one matrix, and for every head it makes a query, a key, a value and $b_t$, with
# $\beta_t = \sigma(b_t)$. The features $\phi$ are those of the released code, $\mathrm{elu} + 1$ over its sum. (The package itself
# runs a compiled loop, or many tokens at once.)

# %%
def delta_layer(layer, inputs):
    """inputs (T, D) -> (T, D), the heads side by side."""
    n, said = layer.size, []
    W = inputs.new_zeros(layer.heads, n, n)  # one matrix of fast weights a head: W_0 = 0
    for x in inputs:
        slow = (layer.slow.weight @ x).unflatten(0, (layer.heads, -1))  # Eq. 1: what the slow net makes
        q, k, v, b = slow.split([n, n, n, 1], dim=1)
        q, k = ((torch.nn.functional.elu(z) + 1) for z in (q, k))
        q, k = q / q.sum(1, keepdim=True), k / k.sum(1, keepdim=True)
        error = v - (W @ k[:, :, None])[:, :, 0]  # what the memory's answer to k lacks
        W = W + (torch.sigmoid(b) * error)[:, :, None] * k[:, None, :]
        said.append((W @ q[:, :, None]).flatten())
    return torch.stack(said)


torch.manual_seed(0)
layer, inputs = FastWeights(8, heads=2).double(), torch.randn(50, 8, dtype=torch.float64)
with torch.no_grad():
    same = torch.allclose(delta_layer(layer, inputs), layer(inputs[None])[0])
print("these lines and the package's layer say the same, 50 inputs:", same)
assert same, "these lines are not the package's layer"

# %% [markdown]
# To see it, let the memory learn *which letter follows which*: the key is the letter before, the value this letter, the query this letter
# again, so that $y_t$ is a guess of the next one. (The picture's slow net sees two letters at once.)

# %% tags=["hide-input"]
show.figure(
    ch09.memory_film("abcabdab"),
    alt="Eight pictures of the memory in three rows, one after each letter of abcabdab. In "
        "the row of the sum the cell of b after a grows darker when ab comes again. In the row of the "
        "delta rule the column of b shows c first and d later, never both. In the row of the "
        "recurrent rule cells switch on and off.",
    caption="What to see, in the column of b: after c and then d, the sum keeps both; the "
            "delta rule (with beta = 1) has replaced c by d; the recurrent rule takes back "
            "what it said: c goes to −1. In the column of a the pair ab is gone when it comes "
            "the second time, and back at the third.",
)  # fmt: skip

# %% [markdown]
# *Try:* `aaaaaaaa` under each rule. Which rule keeps the number of a's, which keeps whether there was one, which keeps the parity? Then the delta rule
# with $\beta = 2$.

# %% tags=["hide-input"]
memory_widget = explore(
    ch09.memory_picture,
    {
        "text": "abcabdabcabd",
        "rule": ch09.RULES,
        "beta": list(ch09.BETAS),
        "position": list(range(1, ch09.LONGEST + 1)),
    },
    initial={"rule": "delta", "beta": 1.0, "position": 6},
    sentence=ch09.memory_sentence,
    alt="The fast weights before a letter, what it writes, and the fast weights after it. A "
    "full frame is the column of the letter before, a dashed one that of this letter.",
)
memory_widget

# %% [markdown]
# **Exercise 1** ★ *(5 min, 4 points: why the delta rule is cheap)* **Code.** One step of the delta rule,
# `(W, k, v, beta) -> W`, without the matrix $I - \beta kk^\top$: only vectors, and one outer product.

# %%
my_step = None  # a function of W (m, n), k (n,), v (m,), beta
check("09.1", my_step)


# %% [markdown]
# <!-- Exercise 09.1: from notebooks/workbook/exercises/ch09.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint</summary>
#
# What does the memory say to $k$?
#
# </details>
#
# <details><summary>Solution</summary>
#
# `lambda W, k, v, beta: W + beta * np.outer(v - W @ k, k)`: what the memory's answer to $k$ lacks
# is added to it.
#
# </details>

# %% [markdown]
# **Exercise 2** ★★ *(15 min, 4 points: what may not be done at once)* **Find the bug.** The delta rule asks the
# memory before every write. To be quick this function asks once for a whole chunk of `size` tokens, and writes the
# chunk by one product of matrices. With one-hot keys that are all different it gives what the rule gives, token by
# token. When not? Mend it: same arguments, the right $W$.

# %%
def delta_in_chunks(W, keys, values, betas, size):
    """W (m, n), keys (T, n), values (T, m), betas (T,) -> W after T tokens."""
    for start in range(0, len(keys), size):
        K, V, b = (part[start : start + size] for part in (keys, values, betas))
        said = K @ W.T  # (chunk, m): what the memory says to each key
        W = W + (b[:, None] * (V - said)).T @ K
    return W


my_delta = None  # exercise 2: a function of (W, keys, values, betas, size)
check("09.2", my_delta)

# %% [markdown]
# <!-- Exercise 09.2: from notebooks/workbook/exercises/ch09.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint 1</summary>
#
# Write two values with one key, in one chunk. What should the memory say to it then?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# The second token of a chunk has to ask the memory that the first one has written to.
#
# </details>
#
# <details><summary>Solution</summary>
#
# `said` is what the memory says *before* the chunk. A token whose key is not orthogonal to those of earlier
# tokens of its chunk corrects an answer that is not the memory's any more: two writes with one key add up, where the
# second should replace the first. One after the other it is right, and `size` plays no part:
#
# ```
# def my_delta(W, keys, values, betas, size):
#     for k, v, beta in zip(keys, values, betas):
#         W = W + beta * np.outer(v - W @ k, k)
#     return W
# ```
#
# Chunks can be kept. The corrections $u_t = \beta_t\,(v_t - W k_t - \sum_{s<t} (k_s\cdot k_t)\,u_s)$ of a chunk are the
# solution of a triangular system, and this is how fast kernels of the delta rule do it: with
# `M = np.eye(len(K)) + np.tril(b[:, None] * (K @ K.T), -1)` write
# `W + np.linalg.solve(M, b[:, None] * (V - said)).T @ K`.
#
# </details>

# %% [markdown]
# ## 2 What addition knows
#
# The paper has two linear Transformers: the *unnormalised* one (ULT) answers $y_t = W_t q_t$; the *normalised* one (NLT) divides this by $z_t\cdot q_t$, where $z_t$ is the
# sum of the keys so far, so that it answers with a weighted mean of the values.
#
# > **Proposition 3.1.** "NLTs are not rationally recurrent."
# >
# > **Proposition 3.2.** "NLTs can recognise certain counter languages."
# >
# > **Proposition 3.4.** "The state complexity of a single-layer NLT is $O(\log(n))$".
#
# The paper refers to other papers for the proofs. Here are ones that stand alone.
#
# A *weighted automaton* with $N$ states gives each word a number: $f(w_1 \dots w_T) = \alpha A_{w_1} \cdots A_{w_T}\,\omega$, with a row $\alpha$ of $N$ numbers, a column $\omega$, and a
# matrix $A_c$ for each letter. A function that some such automaton computes is *rational*, and a net is called *rationally recurrent* (Merrill and others, 2020) if every number that it passes on is rational. The *Hankel matrix* of $f$ is the table $H[u, v] = f(uv)$, a row for every
# beginning $u$ and a column for every ending $v$.
#
# **Claim (Proposition 3.1).** No weighted automaton computes what one normalised layer says.
#
# **Step 1.** One head with equal keys, value 1 for a and 0 for b, says the share of a's. (All 126 words of 1 to 6 letters.)

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
# **Step 2.** For beginnings $a^i$ and endings $b^j$ the table is $i/(i+j)$: a Cauchy matrix (entries $1/(x_i + y_j)$) whose row $i$ is multiplied by $i$. It has full rank (checked at sizes 1, 2, 4, 8 and 16), and its determinant (checked at 1 to 8)
# is $\prod_i i\,\prod_{i<j}(j-i)^2 / \prod_{i,j}(i+j)$, which is not 0.

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
# **Step 3.** The rank is full at *every* size. For suppose that $\sum_j c_j\,\frac{i}{i+j} = 0$ for $i = 1, \dots, n$. Then the polynomial $p(x) = \sum_j c_j \prod_{l \ne j}(x + l)$, of degree $n - 1$ at most, has the
# $n$ zeros $1, \dots, n$, so it is 0; and $p(-j)$ is $c_j$ times a number that is not 0, so every $c_j$ is 0. (The cell does it for $n = 1, \dots, 8$ with free $c_j$; the argument is the same for all.)

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
# **Step 4.** The table of an automaton with $N$ states has rank at most $N$: it is (rows $\alpha A_u$) times (columns $A_v\omega$), $N$ numbers in between. So no $N$ is enough for $f$. $\blacksquare$ (Random automata of
# 1 to 4 states, words of up to 3 letters on both sides; the factorisation is what associativity says.)

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
# > **Appendix C.1.** "these proofs can be directly adopted for ULTs"
#
# For Proposition 3.1 that needs a closer look. The construction that the paper adopts compares two counts with zero, and for unnormalised layers everything hangs on that comparison. **Put right (rational outputs).** What an unnormalised layer says, what a DeltaNet layer says, and the states $W_t$ and $z_t$ of all of them are rational; only what a *non-linearity* makes of
# them, such as "equal to 0", need not be.
#
# **Step 1.** Two states are enough for #a − #b, for $W_t$ (the number of a's) and for $z_t$ (the length): one is always 1, the other adds. (All words of up to 6 letters.)

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
# **Step 2.** For a DeltaNet with keys of $n$ numbers and one query $n + 1$ are enough: the row of $W$, with a 1 behind it, changes by a matrix for each letter. (Here $n = 2$, random weights in fractions, words of up to 5 letters.)

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
# **Step 3.** With a query of its own for each letter one state more is enough, which keeps the last answer. An
# unnormalised layer with any keys, values and queries is the same automaton with $A_c = I$, and $v_ck_c^\top$ in the
# place of $\beta_cv_ck_c^\top$; and an output of several heads is a sum of such functions, which is rational too.

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
# **Step 4.** And no fewer do, by the ranks of their tables (words of up to 3 letters on both sides).

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

# %% [markdown]
# ### How much one layer of addition can remember
#
# **Claim (Proposition 3.4, made exact).** Without positions a sum does not see an order: one layer's output is a function of *how often each token occurred, and of the last token*. We call this pair the word's
# *configuration*. After $n$ tokens of $|\Sigma|$ kinds it is one of $|\Sigma|\binom{n+|\Sigma|-2}{|\Sigma|-1}$, so $(|\Sigma|-1)\log_2 n + O(1)$ bits.
#
# **Step 1.** The sum over positions is a sum over tokens, each times its count: $y = \sum_c n_c\,v_c\,(k_c\cdot q)$, over $\sum_c n_c\,(k_c\cdot q)$ if normalised, with the query $q$ of the last token. (Three random layers in
# fractions, every word of up to 4 tokens of three kinds.)

# %% tags=["proof-prop_3_4"]
layers = [fw.random_layer(np.random.default_rng(seed), 3, 3, 2) for seed in range(3)]
token_words = [word for n in range(1, 5) for word in product(range(3), repeat=n)]

def by_counts(layer, word, rule):
    q, counts = layer.queries[word[-1]], np.array([word.count(c) for c in range(3)])
    weights = counts * (layer.keys @ q)
    return weights @ layer.values / (weights.sum() if rule == "normalised" else 1)

for rule in ("sum", "normalised"):
    for layer in layers:
        alike = [
            (fw.outputs(layer, word, rule)[-1] == by_counts(layer, word, rule)).all()
            for word in token_words
        ]
        assert all(alike), (
            "Proposition 3.4, step 1: the output is a function of the counts and the last token"
        )
print(f"{len(token_words)} words, {len(layers)} layers, both rules:",
      "the order before the last token plays no part")  # fmt: skip

# %% [markdown]
# **Step 2.** The number of configurations: the last token is one of $|\Sigma|$, and the other $n - 1$ are spread over $|\Sigma|$ kinds. (Counted, 2 to 4 kinds, 1 to 5 tokens.)

# %% tags=["proof-prop_3_4"]
seen = {(V, n): len({(tuple(sorted(word)), word[-1]) for word in product(range(V), repeat=n)})
        for V in (2, 3, 4) for n in range(1, 6)}  # fmt: skip
print("three kinds, n = 1..5:", [seen[3, n] for n in range(1, 6)])
assert all(there == V * sp.binomial(n + V - 2, V - 1) for (V, n), there in seen.items()), (
    "Proposition 3.4, step 2: their number"
)

# %% [markdown]
# **Step 3.** The number cannot be lowered: a layer with general weights tells all configurations of one length apart. Take two of them, and look at the shares $n_c\,(k_c\cdot q)$ over their sum that they give to the values. If the counts differ, so do the shares where all keys and queries are alike, since both counts add up to the length. If only the last token differs, two kinds occur at least, and their queries can be chosen so that the shares differ. Where shares differ, the answers do for some values. So the two answers are rational functions of the weights, and not the same one; they agree on a set of measure 0 only, and there are countably many pairs. (Looked at for three kinds, up to 4 tokens, the best of the three layers.)

# %% tags=["proof-prop_3_4"]
told = [
    len({(len(word), *by_counts(layer, word, "normalised")) for word in token_words}) for layer in layers
]
configurations = sum(seen[3, n] for n in range(1, 5))
print(f"outputs told apart, by layer: {told}; configurations of up to 4 tokens: {configurations}")
assert max(told) == configurations, "Proposition 3.4, step 3: a general layer tells all of them apart"

# %% [markdown]
# **Step 4.** In bits: the number over $n^{|\Sigma|-1}$ has the limit $|\Sigma|/(|\Sigma|-1)!$, so its logarithm is $(|\Sigma|-1)\log_2 n$ and a constant. $\blacksquare$

# %% tags=["proof-prop_3_4"]
n = sp.Symbol("n", positive=True)
for V in (2, 3, 4, 5):
    count = V * sp.prod(n + j for j in range(V - 1)) / sp.factorial(V - 1)  # the binomial, written out
    limit = sp.limit(count / n ** (V - 1), n, sp.oo)
    assert all(count.subs(n, m) == V * sp.binomial(m + V - 2, V - 1) for m in range(1, 9)), (
        "Proposition 3.4, step 4: written out"
    )
    assert limit == sp.Rational(V, sp.factorial(V - 1)), (
        "Proposition 3.4, step 4: (V - 1) log2 n + O(1) bits"
    )
    print(f"{V} kinds: {V - 1} log2 n + {float(sp.log(limit, 2)):.2f} + o(1) bits")

# %% [markdown]
# **Break it.** The delta rule sees the order, and the proof falls at its first step:

# %% tags=["proof-prop_3_4"]
with show.expect_failure("Proposition 3.4, step 1"):
    for layer in layers:
        alike = [
            (fw.outputs(layer, word, "delta")[-1] == by_counts(layer, word, "sum")).all()
            for word in token_words
        ]
        assert all(alike), (
            "Proposition 3.4, step 1: the output is a function of the counts and the last token"
        )

# %% [markdown]
# **Exercise 3** ★★★ *(15 min, 5 points: what positions add to a layer of addition)* **A proof step.** Let keys, values and
# queries depend on the token *and* on whether its position is odd or even. On what does the layer's output depend now?
# Count these configurations after $n$ tokens, as a function of $n$ and $|\Sigma|$. How many bits are they? And where does
# the proof of Proposition 3.4 break for two layers?

# %%
my_configurations = None  # with odd and even positions: a function of n and of the number of kinds of tokens
check("09.3", my_configurations)

# %% [markdown]
# <!-- Exercise 09.3: from notebooks/workbook/exercises/ch09.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint 1</summary>
#
# Split the sum of step 1 into the odd and the even positions. Which of the two halves holds the last token?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# Fix the last token. How many tokens are left to be spread in its half, and how many in the other?
#
# </details>
#
# <details><summary>Hint 3</summary>
#
# What does the second layer add up?
#
# </details>
#
# <details><summary>Solution</summary>
#
# The sum of step 1 now has a term for each token *and* each of the two kinds of positions. So the output is a
# function of how often each token occurred at the odd and how often at the even positions, and of the last token. With the
# last token, $p = \lceil n/2\rceil$ positions are of its kind and $q = \lfloor n/2\rfloor$ of the other. One of the $p$ holds
# it; the other $p - 1$ are spread over $|\Sigma|$ kinds of tokens, and so are the $q$:
#
# $$|\Sigma|\,\binom{p+|\Sigma|-2}{|\Sigma|-1}\,\binom{q+|\Sigma|-1}{|\Sigma|-1},$$
#
# `lambda n, s: s * sp.binomial((n + 1) // 2 + s - 2, s - 1) * sp.binomial(n // 2 + s - 1, s - 1)`. In bits
# that is $2\,(|\Sigma|-1)\log_2 n + O(1)$: twice as many as without positions, and still a multiple of $\log_2 n$. In the second
# layer keys and values are made of the first layer's outputs, which depend on the counts *so far*: the sum runs over
# prefixes, and the order comes in.
#
# </details>

# %% [markdown]
# ### Counting, and the bits it takes
#
# **Proposition 3.2** holds, and counting is what addition is good at. Two remarks. It takes about $\log_2 n$ bits, whoever does it, so "finite precision" (the paper, section 1)
# cannot mean a fixed number of them; and divided by $n$ the margin shrinks as $1/n$.
#
# **Claim (bits).** Counting takes about $\log_2 n$ bits, and no fixed number is enough. The counter is one head with equal keys and the values 1 and $-1$, on all words of up to 7 letters.
#
# **Step 1.** Normalised, the least answer that is not 0 is $1/n$ for odd $n$ and $2/n$ for even $n$.

# %% tags=["proof-bits"]
answers = {n: {Fraction(sum(word), n) for word in product((1, -1), repeat=n)} for n in range(1, 8)}
margins = {n: min(abs(y) for y in answers[n] if y) for n in answers}
print("margin by length:", {n: str(margin) for n, margin in margins.items()})
assert all(margins[n] == Fraction(2 - n % 2, n) for n in margins), (
    "Bits, step 1: the normalised margin shrinks as 1/n"
)

# %% [markdown]
# **Step 2.** Not normalised, it is 1 for odd $n$ and 2 for even $n$: it stays.

# %% tags=["proof-bits"]
whole = {n: {n * y for y in answers[n]} for n in answers}
assert all(min(abs(y) for y in whole[n] if y) == 2 - n % 2 for n in whole), (
    "Bits, step 2: unnormalised, it stays"
)
print("unnormalised:", {n: str(min(abs(y) for y in whole[n] if y)) for n in whole})


# %% [markdown]
# **Step 3.** *Any* recogniser of Dyck-1 (balanced brackets) needs that many bits: the beginnings $(^d$, $d = 0, \dots, n/2$, must all be told apart, since the ending $)^d$ is right after one of them alone. So there are at least
# $n/2 + 1$ states. (Checked for $d$ up to 12.)

# %% tags=["proof-bits"]
def balanced(text):
    while "()" in text:
        text = text.replace("()", "")
    return not text

accepts = [[balanced("(" * d + ")" * e) for e in range(13)] for d in range(13)]
assert accepts == np.eye(13, dtype=bool).tolist(), "Bits, step 3: )^d is right after (^d alone"
print(f"n = 24: at least {len(accepts)} states, {np.log2(13):.1f} bits")

# %% [markdown]
# **Step 4.** The counter needs hardly more: $2n + 1$ values after up to $n$ letters.

# %% tags=["proof-bits"]
reached = {n: len(set().union({0}, *(whole[m] for m in range(1, n + 1)))) for n in whole}
print("values after up to n letters:", reached)
assert all(count == 2 * n + 1 for n, count in reached.items()), "Bits, step 4: 2n + 1 values"

# %% [markdown]
# **Step 5.** On a grid of $b$ binary digits behind the point, an excess of one pair, $2/n$, is rounded to 0 at $n = 2^{b+2}$, and not at any smaller even $n$. ($b = 1, \dots, 8$.)

# %% tags=["proof-bits"]
lost = {b: next(n for n in range(2, 2**12, 2) if round(Fraction(2, n) * 2**b) == 0) for b in range(1, 9)}
print("lost at n =", lost)
assert all(n == 2 ** (b + 2) for b, n in lost.items()), (
    "Bits, step 5: a grid of b bits loses a pair at 2^(b+2)"
)

# %% [markdown]
# **Step 6.** A float32 counter, which has 24 binary digits, stands still at $2^{24}$. $\blacksquare$

# %% tags=["proof-bits"]
full = np.float32(2**24)
print(f"2^24 + 1 = {full + np.float32(1):.0f} in float32, 2^24 = {full:.0f}")
assert full + np.float32(1) == full and full - np.float32(1) != full, (
    "Bits, step 6: float32 counts to 2^24"
)

# %% [markdown]
# **Break it.** The margin of step 1 without the division:

# %% tags=["proof-bits"]
with show.expect_failure("Bits, step 1"):
    margins = {n: min(abs(y) for y in whole[n] if y) for n in whole}
    assert all(margins[n] == Fraction(2 - n % 2, n) for n in margins), (
        "Bits, step 1: the margin shrinks as 1/n"
    )

# %% [markdown]
# **Claim (Proposition 3.2).** Two layers, normalised or not, recognise Shuffle-2 exactly: words over two kinds of brackets that are balanced when one looks at either kind alone. One layer cannot.
#
# **Step 1.** One head a kind, with $v = 1$ and $-1$ for its brackets and 0 for the others, says how many of that kind are open. (All words of up to 4 tokens.)

# %% tags=["proof-prop_3_2"]
bracket_values = np.array([[1, 0], [-1, 0], [0, 1], [0, -1]])  # tokens ( ) [ ]
kinds = fw.table([[1]] * 4, [[1]] * 4, bracket_values)
for word in (word for n in range(1, 5) for word in product(range(4), repeat=n)):
    opened = [word.count(0) - word.count(1), word.count(2) - word.count(3)]
    assert fw.outputs(kinds, word)[-1].tolist() == opened, (
        "Proposition 3.2, step 1: a layer counts what is open"
    )
print("([( ->", fw.outputs(kinds, (0, 2, 0))[-1].tolist())


# %% [markdown]
# **Step 2.** A word is in the language if and only if both counts are 0 at the end and were never negative; the second layer sums $\mathrm{ReLU}(-\text{count})$ over all positions, and that is 0 if and only if none was. (Every
# word of up to 6 tokens, against taking out pairs.) Normalised layers divide by lengths: the count at position $t$ by $t$, the sum by the number of tokens. Nothing becomes 0 or changes its sign by that, so NLTs do it too.

# %% tags=["proof-prop_3_2"]
def removed(word, kind):
    text = "".join("()"[c % 2] for c in word if c // 2 == kind)
    while "()" in text:
        text = text.replace("()", "")
    return text

def two_layers(word, normalised=False):
    counts = bracket_values[list(word)].cumsum(0)
    if normalised:
        counts = counts / np.arange(1, len(word) + 1)[:, None]
    total = np.maximum(-counts, 0).sum()
    return not counts[-1].any() and not (total / len(word) if normalised else total)

recognise = two_layers
bracket_words = [word for n in range(1, 7) for word in product(range(4), repeat=n)]
wrong = [w for w in bracket_words if recognise(w) != (removed(w, 0) == removed(w, 1) == "")]
assert not wrong, "Proposition 3.2, step 2: exactly Shuffle-2"
assert all(recognise(word) == two_layers(word, normalised=True) for word in bracket_words), (
    "Proposition 3.2, step 2: normalised"
)
print(f"{len(bracket_words)} words, {len(wrong)} wrong")

# %% [markdown]
# **Step 3.** One layer is not enough: `(())` and `)(()` have one configuration, so by Proposition 3.4 one answer, and one of them alone is in the language. $\blacksquare$

# %% tags=["proof-prop_3_2"]
pair = [(0, 0, 1, 1), (1, 0, 0, 1)]
assert fw.configuration(pair[0]) == fw.configuration(pair[1]), (
    "Proposition 3.2, step 3: one configuration"
)
assert [removed(word, 0) == "" for word in pair] == [True, False], "Proposition 3.2, step 3: two labels"
print("what one layer sees of both:", fw.configuration(pair[0]))

# %% [markdown]
# **Break it.** Without the second layer, step 2:

# %% tags=["proof-prop_3_2"]
with show.expect_failure("Proposition 3.2, step 2"):
    recognise = lambda word: not bracket_values[list(word)].sum(0).any()
    wrong = [w for w in bracket_words if recognise(w) != (removed(w, 0) == removed(w, 1) == "")]
    assert not wrong, "Proposition 3.2, step 2: exactly Shuffle-2"

# %% [markdown]
# ## 3 What it cannot: $(aa)^*$
#
# > **Proposition 3.3.** "NLTs can not recognise certain regular languages." *Proof.* "[...] NLTs can not recognise the regular language $(aa)^*$."
#
# **Claim (Proposition 3.3).** On $aaa\cdots$ a normalised linear Transformer without positions says one thing at every step, whatever its depth.
#
# **Step 1.** A mean of equal things is that thing: $t$ equal keys and values give $W_t q/(z_t\cdot q) = v$. (Free symbols; $t = 1, \dots, 6$.)

# %% tags=["proof-prop_3_3"]
key, query, value = (sp.Matrix(sp.symbols(f"{name}:2", positive=True)) for name in "kqv")
nothing = (0 * key, 0 * value)

def answer(t, front=nothing):  # front: key and value of a token that stands in front
    W = front[1] * front[0].T + sum((value * key.T for _ in range(t)), sp.zeros(2, 2))
    z = front[0] + sum((key for _ in range(t)), sp.zeros(2, 1))
    return (W * query / z.dot(query)).applyfunc(sp.cancel)

print("y_5 =", answer(5).tolist())
assert all(answer(t) == value for t in range(1, 7)), "Proposition 3.3, step 1: y_t = v at every t"


# %% [markdown]
# **Step 2.** So every layer's input is the same at all positions, and so is its output: by induction at any depth, with any norms and feed-forward parts in between. (Looked at in floats: five random networks of four
# layers, on 40 a's.)

# %% tags=["proof-prop_3_3"]
def norm(x, epsilon=1e-5):
    centred = x - x.mean(-1, keepdims=True)
    return centred / np.sqrt((centred**2).mean(-1, keepdims=True) + epsilon)

def network(draw, T=40, D=6, depth=4, positions=0.0):
    x = np.tile(draw.normal(size=D), (T, 1)) + positions * np.arange(T)[:, None]
    for _ in range(depth):
        q, k, v = (x @ draw.normal(size=(D, D)) for _ in "qkv")
        W, z = np.einsum("ti,tj->tij", v, np.exp(k / D)).cumsum(0), np.exp(k / D).cumsum(0)
        x = norm(x + np.einsum("tij,tj->ti", W, np.exp(q / D)) / (z * np.exp(q / D)).sum(1, keepdims=True))
        x = x + np.maximum(norm(x) @ draw.normal(size=(D, D)), 0) @ draw.normal(size=(D, D))
    return x

moved = [np.ptp(network(np.random.default_rng(seed)), axis=0).max() for seed in range(5)]
print(f"outputs move by less than 1e-10: {max(moved) < 1e-10}")
assert max(moved) < 1e-10, (
    "Proposition 3.3, step 2: so it is through four layers (five networks, in floats)"
)

# %% [markdown]
# That is the whole proof, and it needs that nothing else stands in the string. **Step 3.** With a token in front (BOS, "beginning of string") it says $y_t = \frac{w_0v_0 + t\,w_1v_1}{w_0 + t\,w_1}$, where $w$ is key times query, and $y_{t+1} - y_t$ has one sign
# at all $t$: outputs move, but monotonically, so a threshold on one layer's answer is crossed once at most. $\blacksquare$

# %% tags=["proof-prop_3_3"]
w0, w1, t = sp.symbols("w0 w1 t", positive=True)
v0, v1 = sp.symbols("v0 v1", real=True)
y = (w0 * v0 + t * w1 * v1) / (w0 + t * w1)
step = sp.factor(y.subs(t, t + 1) - y)
print("y_(t+1) - y_t =", step)
assert sp.simplify(step - (v1 - v0) * w0 * w1 / ((w0 + t * w1) * (w0 + (t + 1) * w1))) == 0, (
    "Proposition 3.3, step 3: monotone in t"
)

# %% [markdown]
# **Break it:** step 1 with a BOS token.

# %% tags=["proof-prop_3_3"]
with show.expect_failure("Proposition 3.3, step 1"):
    bos = (sp.Matrix([1, 1]), sp.Matrix([1, 0]))
    assert all(answer(t, front=bos) == value for t in range(1, 7)), (
        "Proposition 3.3, step 1: y_t = v at every t"
    )


# %% [markdown]
# Not normalised, the attention's output on $a^t$ is $t\,c$. Appendix C.1:
#
# > "Nevertheless, if we assume an extra layer normalisation layer following the self-attention layer (which is typically the case in practice), the
# > constant-output argument also holds for unnormalised linear attention."
#
# **Claim (the norm).** $\mathrm{LN}(t\,c)$ is constant if the norm's $\varepsilon$ is 0 *and* nothing was added before. With an $\varepsilon$ it moves (for a $c$ whose entries are not all equal), and with a residual $x$ too, unless $x$ is a multiple of $c$ plus a constant vector; and in practice there are both: blocks have a residual, and the released
# ones put the norm before the attention, not behind it.
#
# **Step 1.** With $\varepsilon = 0$, directly behind the attention, it is constant. (Free $c$ of three numbers.)

# %% tags=["proof-layer_norm"]
def LN(x, epsilon=0):
    centred = x - sp.ones(3, 1) * sum(x) / 3
    return centred / sp.sqrt(sp.factor(centred.dot(centred) / 3) + epsilon)

def slope(c, residual=sp.zeros(3, 1), epsilon=0):
    t = sp.Symbol("t", positive=True)
    return sp.diff(LN(residual + t * c, epsilon), t).applyfunc(sp.simplify)

free = slope(sp.Matrix(sp.symbols("c:3", real=True)))
print("d LN(t c) / dt =", free.tolist())
assert free == sp.zeros(3, 1), "The norm, step 1: LN(t c) does not depend on t"

# %% [markdown]
# **Step 2.** With $\varepsilon > 0$ the slope is $(c - \mu)\,\varepsilon\,(t^2s^2 + \varepsilon)^{-3/2}$, with $\mu$ the mean and $s^2$ the variance of $c$'s entries: 0 only where $c = \mu$.

# %% tags=["proof-layer_norm"]
t, entry, mean, s, eps = sp.symbols("t c mu s epsilon", positive=True)
found = sp.diff(t * (entry - mean) / sp.sqrt(t**2 * s**2 + eps), t)
print(sp.factor(found))
assert sp.simplify(found - (entry - mean) * eps / (t**2 * s**2 + eps) ** sp.Rational(3, 2)) == 0, (
    "The norm, step 2: the slope"
)


# %% [markdown]
# **Step 3.** With $\varepsilon = 0$ and a residual $x$ the norm gives the direction of $y = \bar x + t\,\bar c$ (bars: the mean taken away). It turns at the rate $\sqrt{|y|^2|\bar c|^2 - (y\cdot\bar c)^2}\,/\,|y|^2$, and what is under the root is $|\bar x|^2|\bar c|^2 - (\bar x\cdot\bar c)^2$ at every $t$: 0 only if $\bar x$ and $\bar c$ are parallel. $\blacksquare$ (Free $x$ and $c$ of three numbers.)

# %% tags=["proof-layer_norm"]
def bar(x):
    return x - sp.ones(3, 1) * sum(x) / 3

def spread(y, c):
    return y.dot(y) * c.dot(c) - y.dot(c) ** 2

t, x, c = sp.Symbol("t"), *(sp.Matrix(sp.symbols(f"{name}:3", real=True)) for name in "xc")
assert sp.expand(spread(bar(x) + t * bar(c), bar(c)) - spread(bar(x), bar(c))) == 0, (
    "The norm, step 3: it turns at every t"
)

# %% [markdown]
# **Break it**, once with an $\varepsilon$ and once with a residual (for $c = (1, 2, 4)$):

# %% tags=["proof-layer_norm"]
with show.expect_failure("The norm, step 1"):
    moves = slope(sp.Matrix([1, 2, 4]), epsilon=sp.Rational(1, 10**5))
    assert moves == sp.zeros(3, 1), "The norm, step 1: LN(t c) does not depend on t"
with show.expect_failure("The norm, step 1"):
    moves = slope(sp.Matrix([1, 2, 4]), residual=sp.Matrix([0, 1, 0]))
    assert moves == sp.zeros(3, 1), "The norm, step 1: LN(x + t c) does not depend on t"

# %% [markdown]
# **Put right, for one layer (changes of sign).** Let $r(t)$ be the difference of two logits on $a^t$ behind an unnormalised attention and a feed-forward part with $m$ ReLU units, the norm behind the residual ("post"), before it ("pre", as
# released for the linear models), or behind everything as well ("post_twice", as released for the softmax Transformer). Then the answer changes at most $4m+2$ times ("post") or $8m+4$ times on all of $a^1, a^2, \dots$, while $(aa)^*$ wants a change
# at every step.
#
# **Step 1.** The norm makes $x + tc$ into entries $(p + qt)/\sqrt{Q(t)}$, where $Q$ is a quadratic and positive (a variance and $\varepsilon$). So a unit's input, $(p + qt)/\sqrt{Q(t)}$ plus a bias, has at most two zeros, and $m$ units cut the line into at most
# $2m+1$ pieces.

# %% tags=["proof-repair"]
t, p, q, bias = sp.symbols("t p q bias")
x, c = sp.Matrix(sp.symbols("x:3")), sp.Matrix(sp.symbols("c:3"))
centred = x + t * c - sp.ones(3, 1) * sum(x + t * c) / 3
variance = sp.expand(centred.dot(centred) / 3)
Q = sum(sp.Symbol(f"Q{j}") * t**j for j in range(3))
print("degrees: numerator", sp.degree(centred[0], t), " variance", sp.degree(variance, t))
assert all(sp.degree(entry, t) == 1 for entry in centred) and sp.degree(variance, t) == 2, (
    "Changes of sign, step 1: (p + q t)/sqrt(Q)"
)
assert sp.degree(sp.expand((p + q * t) ** 2 - bias**2 * Q), t) == 2, (
    "Changes of sign, step 1: a unit has two zeros at most"
)

# %% [markdown]
# **Step 2.** On a piece $r$ is one formula, and where it is 0 a polynomial is 0 that one gets by bringing the root to one side and squaring: of degree 2 for "post", 4 for the other two. So $r$ has at most
# $2(2m+1)$ or $4(2m+1)$ zeros, and changes its sign no more often. (If the polynomial is 0 identically, the two parts are
# the same up to their sign. Then $r$ is 0 on the piece, where nothing changes, or twice the part without the root, which
# has no more zeros than that.)

# %% tags=["proof-repair"]
t, p, q, u, w, const = sp.symbols("t p q u w const")
A = sum(sp.Symbol(f"A{j}") * t**j for j in range(3))
zero_where = {
    "post": (p + q * t) ** 2 - const**2 * Q,  # (p + q t) / sqrt(Q) + const = 0
    "pre": (p + q * t) ** 2 * Q - (u + w * t) ** 2,  # p + q t + (u + w t) / sqrt(Q) = 0
    "post_twice": A**2 - (u + w * t) ** 2 * Q,  # A(t) + (u + w t) sqrt(Q) = 0
}
units = sp.Symbol("m")
degrees = {place: sp.degree(sp.expand(made), t) for place, made in zero_where.items()}
bounds = {place: sp.expand(degree * (2 * units + 1)) for place, degree in degrees.items()}
print("at most so many changes:", {place: str(bound) for place, bound in bounds.items()})
assert bounds == {"post": 4 * units + 2, "pre": 8 * units + 4, "post_twice": 8 * units + 4}, (
    "Changes of sign, step 2: degree times pieces"
)


# %% [markdown]
# **Step 3.** Random networks keep far below. (Forty of each kind, $m = 16$, $t \le 3000$, in floats.) $\blacksquare$ Deeper unnormalised nets are not decided here.

# %% tags=["proof-repair", "nbval-ignore-output"]
def normed(x, epsilon=1e-5):
    centred = x - x.mean(-1, keepdims=True)
    return centred / np.sqrt((centred**2).mean(-1, keepdims=True) + epsilon)

def random_r(draw, place, D=8, m=16):
    x, c = draw.normal(size=(2, D)) * np.exp(draw.normal(size=(2, 1)))
    W1, W2, readout = draw.normal(size=(D, m)), draw.normal(size=(m, D)), draw.normal(size=D)
    b1, b2 = draw.normal(size=m), draw.normal()
    h = x + np.arange(1, 3001)[:, None] * c
    out = (h if place == "pre" else normed(h)) + np.maximum(normed(h) @ W1 + b1, 0) @ W2
    return (normed(out) if place == "post_twice" else out) @ readout + b2

def most_changes(make):
    found = {place: [make(np.random.default_rng(seed), place) for seed in range(40)] for place in bounds}
    return {place: max(int((np.diff(np.sign(r)) != 0).sum()) for r in rs) for place, rs in found.items()}

changes = most_changes(random_r)
allowed = {place: int(bound.subs(units, 16)) for place, bound in bounds.items()}
print("most changes of sign:", changes, " allowed:", allowed)
assert all(changes[place] <= allowed[place] for place in bounds), (
    "Changes of sign, step 3: random networks (sampled)"
)

# %% [markdown]
# **Break it:** a function that is no such network, $\cos \pi t$, which is what $(aa)^*$ wants.

# %% tags=["proof-repair"]
with show.expect_failure("Changes of sign, step 3"):
    changes = most_changes(lambda draw, place: np.cos(np.pi * np.arange(1, 3001)))
    assert all(changes[place] <= bounds[place].subs(units, 16) for place in bounds), (
        "Changes of sign, step 3: 2999 changes"
    )

# %% [markdown]
# ## 4 The delta rule: one eigenvalue
#
# $I - \beta kk^\top$ has the eigenvalue 1 on everything orthogonal to $k$, and $1 - \beta|k|^2$ along $k$.
#
# > **The paper, section 2.** "With the delta rule, $\phi$'s output elements need to be positive and sum up to one (e.g., we use softmax) for stability."
#
# **Claim (the eigenvalue).** If $k \ge 0$ sums to one, the eigenvalue along $k$ lies in $[1-\beta,\, 1 - \beta/n]$: stable, and **positive** for $\beta < 1$.
#
# **Step 1.** $\det(x - I + \beta kk^\top) = (x-1)^{n-1}(x - 1 + \beta|k|^2)$. (Free symbols, $n = 1$ to 4.)

# %% tags=["proof-spectrum"]
for n in (1, 2, 3, 4):
    k, (beta, x) = sp.Matrix(sp.symbols(f"k:{n}")), sp.symbols("beta x")
    found = (x * sp.eye(n) - (sp.eye(n) - beta * k * k.T)).det(method="berkowitz")
    claimed = (x - 1) ** (n - 1) * (x - 1 + beta * k.dot(k))
    assert sp.expand(found - claimed) == 0, "The eigenvalue, step 1: the characteristic polynomial"
print("n = 4:", claimed)

# %% [markdown]
# **Step 2.** If $k \ge 0$ sums to one, $1/n \le |k|^2 \le 1$: what is missing on the left is $\sum (k_i - \frac1n)^2$, and on the right $2\sum_{i<j} k_ik_j$; neither is negative. (Free symbols, $n = 2$ to 5.)

# %% tags=["proof-spectrum"]
for n in (5, 4, 3, 2):
    k = list(sp.symbols(f"k:{n - 1}"))
    k.append(1 - sum(k))  # they sum to one
    size, mixed = sum(a * a for a in k), sum(k[i] * k[j] for i in range(n) for j in range(i))
    assert sp.expand(size - sp.Rational(1, n) - sum((a - sp.Rational(1, n)) ** 2 for a in k)) == 0, (
        "The eigenvalue, step 2: left"
    )
    assert sp.expand(1 - size - 2 * mixed) == 0, "The eigenvalue, step 2: right"
print(
    f"n = {n}: |k|^2 - 1/{n} =", sp.factor(size - sp.Rational(1, n)), "  1 - |k|^2 =", sp.factor(1 - size)
)

# %% [markdown]
# **Step 3.** So the eigenvalue $1 - \beta|k|^2$ lies between $1-\beta$ and $1-\beta/n$. (5,000 keys of 8 numbers, soft ones and hard ones, by softmax and by the released code's $\mathrm{elu}+1$ over its sum.)

# %% tags=["proof-spectrum"]
elu = lambda x: np.where(x > 0, x + 1, np.exp(np.minimum(x, 0)))  # elu(x) + 1
over_sum = lambda x: x / x.sum(-1, keepdims=True)
keys = {"softmax": lambda x: over_sum(np.exp(x)), "elu_sum": lambda x: over_sum(elu(x))}
draw = np.random.default_rng(0)
raw = draw.normal(size=(5000, 8)) * draw.choice([0.1, 1.0, 10.0], (5000, 1))

def interval(beta, n=8):
    return 1 - beta, 1 - beta / n

low, high = interval(0.9)
g = {name: 1 - 0.9 * (key(raw) ** 2).sum(-1) for name, key in keys.items()}
print({name: f"{found.min():.3f} to {found.max():.3f}" for name, found in g.items()})
inside = [(found > low - 1e-12).all() and (found < high + 1e-12).all() for found in g.values()]
assert all(inside), "The eigenvalue, step 3: in [1 - beta, 1 - beta/n] (sampled)"

# %% [markdown]
# **Step 4.** For $0 < \beta < 1$ both ends are in $(0, 1)$: a write shrinks what was there and never turns it round. $\blacksquare$

# %% tags=["proof-spectrum"]
intervals = [interval(beta) for beta in (0.9, 0.001, 0.999)]
print("ends of the interval:", [f"({low:.3f}, {high:.5f})" for low, high in intervals])
assert all(0 < low <= high < 1 for low, high in intervals), (
    "The eigenvalue, step 4: stable and positive"
)

# %% [markdown]
# **Break it:** keys that do not sum to one; then a strength above 1.

# %% tags=["proof-spectrum"]
with show.expect_failure("The eigenvalue, step 3"):
    low, high = interval(0.9)
    found = 1 - 0.9 * (elu(raw) ** 2).sum(-1)
    assert found.min() > low - 1e-12 and found.max() < high + 1e-12, (
        "The eigenvalue, step 3: in [1 - beta, 1 - beta/n]"
    )
with show.expect_failure("The eigenvalue, step 4"):
    low, high = interval(1.5)
    assert 0 < low <= high < 1, "The eigenvalue, step 4: stable and positive"

# %% [markdown]
# The condition is enough, and more than is needed. **Claim (stability).** Stability takes $0 \le \beta|k|^2 \le 2$, no less and no more.
#
# **Step 1.** $|1 - s| \le 1$, with $s = \beta|k|^2$, if and only if $0 \le s \le 2$; for instance the key $(\frac35, -\frac45)$, neither positive nor of sum one, has the eigenvalue 0 at $\beta = 1$.

# %% tags=["proof-stability"]
s = sp.Symbol("s", real=True)
stable = sp.solve_univariate_inequality(sp.Abs(1 - s) <= 1, s, relational=False)
unit = (Fraction(3, 5), Fraction(-4, 5))
print("stable for s in", stable, " the eigenvalue of the key (3/5, -4/5):", 1 - sum(a * a for a in unit))
assert stable == sp.Interval(0, 2) and sum(a * a for a in unit) == 1, (
    "Stability, step 1: stable exactly for 0 <= s <= 2"
)


# %% [markdown]
# **Step 2.** What the memory says to $k$, with nothing new to write, is multiplied by $1 - s$ at each write: it is bounded at $s = 0, 1, 2$ over 200 writes, and beyond grows without bound ($s = \frac52$).

# %% tags=["proof-stability"]
def size_after(s, T=200):
    one_number = fw.table([[1]], [[1]], [[0]], [s])
    return abs(fw.states(one_number, (0,) * T, "delta", start=one_number.keys)[-1][0, 0])

after_200 = {str(s): size_after(s) for s in (Fraction(0), Fraction(1), Fraction(2), Fraction(5, 2))}
print({s: f"{float(size):.2g}" for s, size in after_200.items()})
assert all(after_200[s] == abs(1 - Fraction(s)) ** 200 for s in after_200), (
    "Stability, step 2: |1 - s|^T"
)
assert max(after_200["0"], after_200["1"], after_200["2"]) <= 1 < 10**30 < after_200["5/2"], (
    "Stability, step 2: bounded, and not bounded"
)

# %% [markdown]
# **Step 3.** And *some* condition is needed: $\mathrm{elu}+1$ alone, without the division, is unstable. (5,000 keys of 8 numbers, $\beta = 0.9$.) $\blacksquare$

# %% tags=["proof-stability"]
x = np.abs(np.random.default_rng(0).normal(size=(5000, 8)))
least = (1 - 0.9 * ((x + 1) ** 2).sum(-1)).min()  # elu(x) + 1 = x + 1 for x > 0
print(f"the least eigenvalue is below -1: {least < -1}")
assert least < -1, "Stability, step 3: elu + 1 is unstable (sampled)"

# %% [markdown]
# **Break it:** at $s = 2.1$ what the memory says is not bounded any more.

# %% tags=["proof-stability"]
with show.expect_failure("Stability, step 2"):
    assert max(size_after(Fraction(21, 10)), after_200["2"]) <= 1, (
        "Stability, step 2: bounded at s = 2.1"
    )

# %% [markdown]
# What a positive eigenvalue costs. **Claim (one letter).** With $0 < g = 1-\beta|k|^2 < 1$ one layer of DeltaNet cannot do $(aa)^*$ with a margin that stays, and so not parity (look at strings of 1s).
#
# **Step 1.** On one token, again and again, the memory says $W_t k = (1 - g^t)\,v$. (By induction in $t$, free symbols: right at 0, and one write takes $t$ to $t + 1$.)

# %% tags=["proof-repeated"]
t = sp.Symbol("t", positive=True)
v, beta, size = sp.symbols("v beta size")
g = 1 - beta * size  # size is |k|^2
says = (1 - g**t) * v  # after t writes
after = says + beta * (v - says) * size  # W k + beta (v - W k) |k|^2
print("after one more write:", sp.factor(after))
assert says.subs(t, 0) == 0 and sp.simplify(after - says.subs(t, t + 1)) == 0, (
    "One letter, step 1: W_t k = (1 - g^t) v"
)

# %% [markdown]
# **Step 2.** That is monotone: $g^t(1-g) > 0$ for every $g$ in $(0, 1)$. (We write $g = 1/(1 + a)$ with $a > 0$.)

# %% tags=["proof-repeated"]
t, a = sp.symbols("t a", positive=True)
between = 1 / (1 + a)
rise = sp.simplify(between**t - between ** (t + 1))
print("g^t - g^(t+1) =", rise)
assert rise.is_positive, "One letter, step 2: it rises at every step"


# %% [markdown]
# **Step 3.** So a threshold on what one head says is crossed once at most, and $(aa)^*$ needs a crossing at every step. (In fractions, $\beta = \frac9{10}$, $k = (\frac12, \frac12)$, all thresholds at its values.)

# %% tags=["proof-repeated"]
def crossings(beta, T=30):
    k = (Fraction(1, 2), Fraction(1, 2))
    layer = fw.table([k], [k], [[1]], [beta])
    read = [(W @ layer.keys[0])[0] for W in fw.states(layer, (0,) * T, "delta")]
    return max(sum((x >= level) != (y >= level) for x, y in zip(read, read[1:])) for level in read[1:])

print("crossings of a threshold, at most:", crossings(Fraction(9, 10)))
assert crossings(Fraction(9, 10)) == 1, "One letter, step 3: one crossing"

# %% [markdown]
# **Step 4.** And so it is for whatever reads several such heads continuously: $W_t$ has a limit, so its answers to $a^t$ and $a^{t+1}$ come as near to each other as one likes, and no margin between even and odd lengths is kept. ($|W_{t+1} - W_t| = g^t\,|W_1 - W_0|$ from any start $W_0$, with free
# symbols, keys of two numbers, $t = 1, 2$, and so for all $t$ by induction.) $\blacksquare$

# %% tags=["proof-repeated"]
k, v, W = sp.Matrix(sp.symbols("k:2")), sp.Matrix(sp.symbols("v:2")), [sp.Matrix(2, 2, sp.symbols("w:4"))]
beta = sp.Symbol("beta")
for _ in range(3):
    W.append(W[-1] + beta * (v - W[-1] * k) * k.T)
g = 1 - beta * k.dot(k)
apart = [sp.expand(W[t + 1] - W[t] - g * (W[t] - W[t - 1])) for t in (1, 2)]
print("W_(t+1) - W_t - g (W_t - W_(t-1)) =", [one.tolist() for one in apart])
assert apart == [sp.zeros(2, 2)] * 2, "One letter, step 4: each step of W is g times the one before"

# %% [markdown]
# **Break it:** $\beta = 4$, so that $\beta|k|^2 = 2$.

# %% tags=["proof-repeated"]
with show.expect_failure("One letter, step 3"):
    assert crossings(Fraction(4)) == 1, "One letter, step 3: one crossing"

# %% [markdown]
# Two letters in turn do not help. **Claim (two letters).** With $0 < \beta|k|^2 < 1$ one layer of DeltaNet cannot do $(abab)^*$ with a margin that stays either.
#
# Reading *ab* multiplies each row of $W$ by $M = (I - s\,kk^\top)(I - r\,ll^\top)$, with unit vectors $k$, $l$ along the two keys, and adds something. Only the plane of $k$ and $l$ matters; let $C$ be the square of the cosine between them. (If they are parallel, $C = 1$, this is the
# last theorem, with $g = (1-s)(1-r)$.)
#
# **Step 1.** $\mathrm{tr}\,M = 2 - s - r + srC$ and $\det M = (1-s)(1-r)$, in the plane.

# %% tags=["proof-abab"]
s, r, angle, C = sp.symbols("s r angle C")
k, l = sp.Matrix([1, 0]), sp.Matrix([sp.cos(angle), sp.sin(angle)])
M = (sp.eye(2) - s * k * k.T) * (sp.eye(2) - r * l * l.T)
trace, det = 2 - s - r + s * r * C, (1 - s) * (1 - r)
print("trace", trace, "  determinant", det)
assert sp.simplify(M.trace() - trace.subs(C, sp.cos(angle) ** 2)) == 0, "Two letters, step 1: the trace"
assert sp.simplify(M.det() - det) == 0, "Two letters, step 1: the determinant"

# %% [markdown]
# **Step 2.** The eigenvalues are real: $\mathrm{tr}^2 - 4\det = (s-r)^2 + srC\,\bigl(2(1-s) + 2(1-r) + srC\bigr) \ge 0$. (We write $s = 1/(1+a)$, $r = 1/(1+b)$, $C = 1/(1+c)$ with positive $a, b, c$, so that SymPy sees the signs. At $C = 0$, keys at a right angle, the eigenvalues are $1-s$ and $1-r$.)

# %% tags=["proof-abab"]
s, r, C = sp.symbols("s r C")
a, b, c = sp.symbols("a b c", positive=True)
below_one = {s: 1 / (1 + a), r: 1 / (1 + b), C: 1 / (1 + c)}
more = s * r * C * (2 * (1 - s) + 2 * (1 - r) + s * r * C)
assert sp.expand(trace**2 - 4 * det - (s - r) ** 2 - more) == 0, "Two letters, step 2: the discriminant"
print("what is added to (s - r)^2:", sp.factor(more.subs(below_one)))
assert sp.factor(more.subs(below_one)).is_positive, "Two letters, step 2: it is positive"

# %% [markdown]
# **Step 3.** They lie in $(0, 1)$: their product and their sum are positive, and so are the product $(1-\lambda_1)(1-\lambda_2) = sr(1 - C)$ and the sum $s + r - srC$ of $1 - \lambda_1$ and $1 - \lambda_2$.

# %% tags=["proof-abab"]
s, r, C = sp.symbols("s r C")
claimed = {"product": (det, det), "sum": (trace, (1 - s) + (1 - r) + s * r * C),
           "product of 1 - each": (1 - trace + det, s * r * (1 - C)),
           "sum of 1 - each": (2 - trace, s + r - s * r * C)}  # fmt: skip
for name, (found, formula) in claimed.items():
    assert sp.expand(found - formula) == 0, "Two letters, step 3: the formulas"
    assert sp.factor(sp.together(formula.subs(below_one))).is_positive, (
        "Two letters, step 3: all four are positive"
    )
print("positive:", ", ".join(claimed))


# %% [markdown]
# **Step 4.** So after $(ab)^t$ any linear reading is $c_0 + c_1\lambda_1^t + c_2\lambda_2^t$ with $\lambda$s in $(0, 1)$ (or $c_0 + (c_1 + c_2t)\lambda^t$, if they are equal): as a function of a real $t$ its derivative is 0 once at most, so it crosses a threshold twice at most; $(abab)^*$ wants a change at every $t$. And it has a limit, for every head, so whatever reads several heads continuously keeps no margin.
# (300 random layers in floats, keys of three numbers, 40 times *ab*, thresholds at the first ten values.) $\blacksquare$

# %% tags=["proof-abab"]
def most_crossings(shares, angle=None, T=40):
    found = []
    for seed in range(300):
        draw = np.random.default_rng(seed)
        keys, values, q = draw.normal(size=(2, 3)), draw.normal(size=2), draw.normal(size=3)
        if angle is not None:
            keys, q = np.array([[1, 0, 0], [np.cos(angle), np.sin(angle), 0]]), np.array([0.3, 1, 0])
        betas = draw.uniform(*shares, 2) / (keys**2).sum(1)  # beta |k|^2 is the share
        w, read = np.zeros(3), []
        for token in (0, 1) * T:
            w = w + betas[token] * (values[token] - w @ keys[token]) * keys[token]
            read += [w @ q] if token else []
        levels = np.array(read[:10])[:, None] + 1e-9
        found.append(np.abs(np.diff(np.array(read) >= levels, axis=1)).sum(1).max())
    return int(max(found))

most = most_crossings((0.05, 0.95))
print("crossings of a threshold by (ab)^t, at most:", most)
assert most <= 2, "Two letters, step 4: two crossings at most (300 layers, in floats)"

# %% [markdown]
# **Break it:** shares of 2, keys at 45°: the product of the two reflections is a quarter turn, whose eigenvalues are not real.

# %% tags=["proof-abab"]
with show.expect_failure("Two letters, step 4"):
    most = most_crossings((2, 2), angle=np.pi / 4)
    assert most <= 2, "Two letters, step 4: two crossings at most"

# %% [markdown]
# Here is a counter: a 1 writes $v = \frac12$ with strength $\beta$, a 0 writes nothing. Its state $w$ goes to $\frac12 + (1-\beta|k|^2)(w - \frac12)$. Opened at $\beta = 1.9$, with a little noise:

# %% tags=["hide-input"]
show.figure(
    ch09.parity_picture(1.9, "unit", 1e-2, "1101"),
    alt="Left, a line with the eigenvalues 1 and minus 0.9, both in the stable band. Right, "
        "the counter's state jumps about one half, nearer with every 1, and is wrong from "
        "about token 40.",
    caption="What to see: as long as the eigenvalue is negative the state changes sides at "
            "every 1, which is parity; as long as it is above -1 it forgets, and noise wins.",
)  # fmt: skip

# %% [markdown]
# *Try:* $\beta = 2$ and all noises. Then $\beta = 2$ with a softmax key: why is parity gone? Then $\beta = 2.1$. The sentence below says whether the hypothesis $0 < g < 1$ of the first theorem above (no $(aa)^*$, no parity) holds, and which of its steps goes first where it does not.

# %% tags=["hide-input"]
parity_widget = explore(
    ch09.parity_picture,
    {"beta": list(ch09.STRENGTHS), "key": list(ch09.KEYS), "noise": list(ch09.NOISES), "bits": "1101"},
    initial={"beta": 1.9, "noise": 1e-2},
    sentence=ch09.parity_sentence,
    alt="The two eigenvalues of I - beta k k^T on a line, and the state of a parity counter "
    "over 60 tokens.",
)
parity_widget

# %% [markdown]
# ## 5 What the delta rule is for: the reset
#
# > **The paper, section 4.2.** "Here we use reset Dyck-1 to illustrate its benefits. Bhattamishra et al. (2020a) prove that a one-layer self-attention network cannot recognise reset
# > Dyck-1 as it has no mechanism to rewrite memory. As shown in Table 2, the delta-rule by itself allows LTs to recognise this language."
#
# Reset Dyck-1: brackets, and a token 1 that forgets all that is open; the label says whether a bracket is open *since the last 1*.
#
# **Claim (reset Dyck-1).** No layer of addition labels reset Dyck-1.
#
# **Step 1.** `((1()` and `1((()` have one configuration: equal counts and equal last tokens.

# %% tags=["proof-reset_dyck_1"]
pair = ("((1()", "1((()")
print(
    "what a sum sees of each:",
    *("".join(sorted(text)) + ", last " + text[-1] for text in pair),
    sep="\n  ",
)
assert sorted(pair[0]) == sorted(pair[1]) and pair[0][-1] == pair[1][-1], (
    "Reset Dyck-1, step 1: one configuration"
)

# %% [markdown]
# **Step 2.** Their depths since the 1 are 0 and 2, so they have different labels.

# %% tags=["proof-reset_dyck_1"]
depths = [text.rpartition("1")[2].count("(") - text.rpartition("1")[2].count(")") for text in pair]
print("depths:", depths)
assert [depth > 0 for depth in depths] == [False, True], "Reset Dyck-1, step 2: two labels"

# %% [markdown]
# **Step 3.** The layer ends in one state, $W$ and $z$, whatever its keys and values are (free symbols); so it gives one answer, and is wrong on one of the two. $\blacksquare$

# %% tags=["proof-reset_dyck_1"]
keys = {char: sp.Matrix(sp.symbols(f"k{j}_:2")) for j, char in enumerate("()1")}
values = {char: sp.Symbol(f"v{j}") for j, char in enumerate("()1")}

def addition(W, char):
    return W + values[char] * keys[char].T

def ends_in(text, rule):
    W = sp.zeros(1, 2)
    for char in text:
        W = rule(W, char).expand()
    return W

print("W =", ends_in(pair[0], addition).tolist())
assert ends_in(pair[0], addition) == ends_in(pair[1], addition), "Reset Dyck-1, step 3: one state W"
z = [sum((keys[char] for char in text), sp.zeros(2, 1)) for text in pair]
assert z[0] == z[1], "Reset Dyck-1, step 3: one z"

# %% [markdown]
# **Step 4.** This is for one layer only: two tell the words apart (the second sums what the first one has counted at every position).

# %% tags=["proof-reset_dyck_1"]
counted = {text: np.cumsum([{"(": 1, ")": -1, "1": 0}[c] for c in text]) for text in pair}
print({text: f"first layer {first.tolist()}, second {first.sum()}" for text, first in counted.items()})
assert counted[pair[0]][-1] == counted[pair[1]][-1], (
    "Reset Dyck-1, step 4: the first layer gives one answer"
)
assert counted[pair[0]].sum() != counted[pair[1]].sum(), "Reset Dyck-1, step 4: the second gives two"

# %% [markdown]
# **Break it:** a pair that ends in another token; then the delta rule, which knows what came after what.

# %% tags=["proof-reset_dyck_1"]
with show.expect_failure("Reset Dyck-1, step 1"):
    assert sorted("((1()") == sorted("1(()(") and "((1()"[-1] == "1(()("[-1], (
        "Reset Dyck-1, step 1: one configuration"
    )
with show.expect_failure("Reset Dyck-1, step 3"):
    delta = lambda W, char: W + (values[char] - W.dot(keys[char])) * keys[char].T
    assert ends_in("(1", delta) == ends_in("1(", delta), "Reset Dyck-1, step 3: one state W"

# %% [markdown]
# The delta rule forgets in one write. **Claim (a small leak).** One layer, with a leak of $e = 1/10{,}000$, labels reset Dyck-1 rightly on *every* legal string (no bracket closes what is not open) of up to 100 tokens, and on longer ones as long as there are at most 100 tokens before the first 1 and after
# each 1: so on all of the paper's, which have at most 100 on either side of their one 1. Its one number $w$ goes to $(1-e)\,w + 1$ at (, to $(1-e)\,w - 1$ at ), to 0 at 1; it says "open" if $w > \frac12$.
#
# **Step 1.** These are writes of the delta rule, with key 1: $\beta = e$, $v = \pm 1/e$, and for the 1 $\beta = 1$, $v = 0$, which gives 0 whatever $w$ was.

# %% tags=["proof-leak_is_enough"]
w, e = sp.symbols("w e")
write = lambda w, beta, v: sp.expand(w + beta * (v - w))
print("( ->", write(w, e, 1 / e), "   ) ->", write(w, e, -1 / e), "   1 ->", write(w, 1, 0))
assert sp.expand(write(w, e, 1 / e) - (1 - e) * w - 1) == 0, "A small leak, step 1: an opening bracket"
assert sp.expand(write(w, e, -1 / e) - (1 - e) * w + 1) == 0, "A small leak, step 1: a closing bracket"
assert write(w, 1, 0) == 0, "A small leak, step 1: the reset"


# %% [markdown]
# **Step 2.** Both bracket writes are increasing in $w$. So among all words of $t$ tokens that end at depth $d$ the least $w$ comes from the least $w$ of one token less, and the greatest from the greatest; a sweep over $t$ and $d$, in fractions, therefore bounds *all* words. At depth 0 the greatest $w$ is at most
# $\frac12$, at any other depth the least is above $\frac12$. $\blacksquare$

# %% tags=["proof-leak_is_enough"]
def sweep(e, T):
    """For each number of tokens since the last 1 and each depth: the least and the greatest w."""
    bounds, worst = {0: (Fraction(0), Fraction(0))}, []
    for _ in range(T):
        moved = [(d + step, (1 - e) * low + step, (1 - e) * high + step)
                 for d, (low, high) in bounds.items() for step in (1, -1) if d + step >= 0]  # fmt: skip
        bounds = {d: (min(low for at, low, _ in moved if at == d),
                      max(high for at, _, high in moved if at == d))
                  for d in {at for at, *_ in moved}}  # fmt: skip
        worst.append(
            min(low - Fraction(1, 2) if d else Fraction(1, 2) - high for d, (low, high) in bounds.items())
        )
    return min(worst)

margin = sweep(Fraction(1, 10_000), 100)
print(f"least distance from 1/2, on the right side, over all words: {float(margin):.3f}")
assert margin > 0, "A small leak, step 2: right on every word of up to 100 tokens"

# %% [markdown]
# **Break it:** a leak of $1/1000$ is not small enough for 100 tokens.

# %% tags=["proof-leak_is_enough"]
with show.expect_failure("A small leak, step 2"):
    assert sweep(Fraction(1, 1000), 100) > 0, (
        "A small leak, step 2: right on every word of up to 100 tokens"
    )


# %% [markdown]
# How much can *any* function of counts and last token get? Take all legal words of up to 8 tokens, sort them by what a layer of addition can see, and let an oracle give each group its
# commonest label:

# %%
def is_legal(text):
    return all(fw.depth_since_reset(text[:end]) >= 0 for end in range(1, len(text) + 1))

legal = [text for n in range(1, 9) for text in map("".join, product("()1", repeat=n)) if is_legal(text)]
groups = {}
for text in legal:
    groups.setdefault(fw.configuration(text), [0, 0])[fw.depth_since_reset(text) > 0] += 1
best = sum(max(labels) for labels in groups.values()) / len(legal)
print(f"{len(legal)} words in {len(groups)} groups: at best {best:.1%} of the labels, by the sum")

# %% [markdown]
# So an addition that cannot solve the task may still give nineteen labels of twenty on short words. Only whole strings tell. (And explicit weights tell what *can* be expressed; how fast it is learned is the matter of Table 2 in section 8.)

# %% tags=["hide-input"]
show.figure(
    ch09.reset_picture("((()1(())1((1()", 10, -1),
    alt="Above, the depth since the last 1, a counter of the delta rule that follows it down "
        "to 0 at each 1, and a sum that does not. Below, labels: the sum is wrong at several "
        "places, the delta rule at none.",
    caption="What to see: at a 1 the delta rule is at 0 at once. The sum can only add "
            "something, here -1, whatever is open.",
)  # fmt: skip

# %% [markdown]
# *Try:* `((1()` and `1((()`. Then find a string on which the sum is right everywhere; and one on which no value for "added at 1" helps.

# %% tags=["hide-input"]
reset_widget = explore(
    ch09.reset_picture, {"text": "((()1(())1((1()", "over": ch09.RESET_LEAKS, "added": [0, -1, -2, -3]},
    initial={"over": 10, "added": -1}, sentence=ch09.reset_sentence,
    alt="Depth since the reset, the two counters, and their labels.",
)  # fmt: skip
reset_widget

# %% [markdown]
# **Exercise 4** ★★ *(10 min, 4 points: what a sum cannot tell apart)* **Break the hypothesis.** Give two legal words
# of *four* tokens over `( ) 1` which one layer of addition cannot tell apart though their labels differ. (*Try* above
# has two of five.)

# %%
my_words = None  # two texts, for example ("((1)", "1(()")
check("09.4", my_words)


# %% [markdown]
# <!-- Exercise 09.4: from notebooks/workbook/exercises/ch09.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint</summary>
#
# The 1 must stand in one of them where it forgets something.
#
# </details>
#
# <details><summary>Solution</summary>
#
# `(1()` and `1(()`. Both have two `(`, one `)` and one `1`, and `)` is the last token of both;
# but they end at the depths 0 and 1.
#
# </details>

# %% [markdown]
# **Exercise 5** ★★ *(10 min, 4 points: how many keys a memory has room for)* **Break a model.** A memory by the delta
# rule, $\beta = 1$, $W_0 = 0$, stores +1 or -1 with each of six letters, and is read by its sign. Its six unit keys
# have *five* dimensions: any two of them have the scalar product $-\frac15$ (the corners of a simplex). After one,
# two, three or four writes, whatever they are, every letter that was written is answered with the sign that was
# written to it last: it looks right. Find a list of writes after which some letter is not.

# %%
def six_answers(writes):
    """What the memory says to each of the six letters, after writes (letter 0 to 5, +1 or -1)."""
    products = 1.2 * np.eye(6) - 0.2  # of the keys
    says = np.zeros(6)
    for letter, number in writes:
        says = says + (number - says[letter]) * products[letter]
    return says


for writes in ([(0, 1)], [(0, 1), (1, 1)], [(0, 1), (1, 1), (0, -1)]):
    print(writes, six_answers(writes).round(3))
my_writes = None  # exercise 5: a list such as [(0, 1), (1, 1), (0, -1)]
check("09.5", my_writes)

# %% [markdown]
# <!-- Exercise 09.5: from notebooks/workbook/exercises/ch09.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint 1</summary>
#
# What do the six keys add up to, and so the six answers?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# Write the same number to one letter after the other.
#
# </details>
#
# <details><summary>Solution</summary>
#
# `[(0, 1), (1, 1), (2, 1), (3, 1), (4, 1)]`: now letter 0 is answered $-0.29$. The six keys add up to 0 (the
# square of the length of their sum is $6 - 30\cdot\frac15 = 0$), so the six answers of *any* $W$ do, and no memory at
# all answers six times +1. Five letters could be kept, but not by writing each once: every write with
# $\beta = 1$ takes a fifth of its correction from all others. Keys that are not orthogonal are right as long as few
# were written.
#
# </details>

# %% [markdown]
# ## 6 What it loses, with one write a token: exact counting
#
# The counter in the last picture leaks, $w \mapsto (1-e)\,w \pm 1$. **Claim (the leak).** After $m$ opening and $m$ closing brackets it says
#
# $$-\frac{(1 - (1-e)^m)^2}{e} \qquad\text{and not } 0.$$
#
# **Step 1.** Up: after $m$ opening brackets it says $u_m = \sum_{i<m}(1-e)^i = (1-(1-e)^m)/e$. (By induction, free symbols.)

# %% tags=["proof-leak"]
e, m, j = sp.symbols("e m j", positive=True)
up = lambda m: (1 - (1 - e) ** m) / e
print("u_1, u_2, u_3 =", [sp.factor(up(n)) for n in (1, 2, 3)])
assert up(0) == 0 and sp.simplify((1 - e) * up(m) + 1 - up(m + 1)) == 0, "The leak, step 1: up"

# %% [markdown]
# **Step 2.** Down: after $j$ closing brackets, $(1-e)^j\,u_m - u_j$.

# %% tags=["proof-leak"]
down = lambda j: (1 - e) ** j * up(m) - up(j)
assert down(0) == up(m) and sp.simplify((1 - e) * down(j) - 1 - down(j + 1)) == 0, (
    "The leak, step 2: down"
)
print("after ) :", sp.simplify(down(1)))

# %% [markdown]
# **Step 3.** Together, with $j = m$, the formula.

# %% tags=["proof-leak"]
formula = -((1 - (1 - e) ** m) ** 2) / e
print("after (^m )^m:", sp.factor(down(m)))
assert sp.simplify(down(m) - formula) == 0, "The leak, step 3: up and down"


# %% [markdown]
# **Step 4.** Rounded to a whole number, the counter is wrong where the formula passes $-\frac12$. (Section 5's "open if $w > \frac12$" fails then on the next token: one more ( brings $w$ to about $\frac12$ or less.) For small $me$ the formula is near $-m^2e$, so that is near $m = 1/\sqrt{2e}$. (The limit; and for six leaks the first wrong depth, by running the counter in fractions.) $\blacksquare$

# %% tags=["proof-leak"]
def first_wrong(leak):
    for depth in range(1, 1000):
        w = Fraction(0)
        for sign in [1] * depth + [-1] * depth:
            w = (1 - leak) * w + sign
        if w < -Fraction(1, 2):
            return depth

broken = {n: first_wrong(Fraction(1, n)) for n in (10, 30, 100, 300, 1000, 3000)}
print("first wrong depth:", {f"1/{n}": depth for n, depth in broken.items()})
print("1/sqrt(2e):       ", {f"1/{n}": round((n / 2) ** 0.5, 1) for n in broken})
assert sp.limit(formula.subs(m, 5) / e, e, 0) == -25, "The leak, step 4: the formula is near -m^2 e"
for n, depth in broken.items():
    below = [formula.subs({e: sp.Rational(1, n), m: at}) < -sp.Rational(1, 2) for at in (depth - 1, depth)]
    assert below == [False, True] and 0.9 < depth / (n / 2) ** 0.5 < 1.35, (
        "The leak, step 4: it breaks near 1/sqrt(2 e)"
    )

# %% [markdown]
# **Break it:** another formula, $-m^2e$ at all depths.

# %% tags=["proof-leak"]
with show.expect_failure("The leak, step 3"):
    other_formula = -(m**2) * e
    assert sp.simplify(down(m) - other_formula) == 0, "The leak, step 3: up and down"

# %% [markdown]
# No other weights do better. **Claim (one write).** No layer with *one write a token* and $0 \le \beta|k|^2 \le 2$ labels Dyck-1 with a fixed margin at all depths.
#
# **Step 1.** One number first: a write takes what is said to $k$ from $w$ to $(1-s)\,w + s\,v$, with $s = \beta|k|^2$. It is a contraction for $0 < s < 2$, a reflection at 2, nothing at 0, and **never a translation** $w \mapsto w + c$ with $c \ne 0$: that needs $s = 0$, and then nothing is added.

# %% tags=["proof-one_write"]
w, s, v, c = sp.symbols("w s v c")
written = (1 - s) * w + s * v
needed = sp.solve(sp.Poly(written - (w + c), w).coeffs(), [s, c], dict=True)
print("a write is w + c only for", needed)
assert needed == [{s: 0, c: 0}], "One write, step 1: no translation but by 0"

# %% [markdown]
# **Step 2.** Now any keys. After equal tokens, $W_{m+1} - W_m = (1-s)\,(W_m - W_{m-1})$, so $W_{m+1} - W_m = (1-s)^m\,(W_1 - W_0)$; and at $s = 2$ this makes $W_{m+2} = W_m$. (Free symbols, keys of two numbers, any start.)

# %% tags=["proof-one_write"]
k, v, W = sp.Matrix(sp.symbols("k:2")), sp.Matrix(sp.symbols("v:2")), [sp.Matrix(2, 2, sp.symbols("w:4"))]
s = sp.Symbol("s")
beta = s / k.dot(k)  # so that beta |k|^2 = s
for _ in range(2):
    W.append(W[-1] + beta * (v - W[-1] * k) * k.T)
steps_of_W = (W[1] - W[0], W[2] - W[1])
assert (steps_of_W[1] - (1 - s) * steps_of_W[0]).applyfunc(sp.simplify) == sp.zeros(2, 2), (
    "One write, step 2: by 1 - s"
)
assert (W[2] - W[0]).subs(s, 2).applyfunc(sp.simplify) == sp.zeros(2, 2), (
    "One write, step 2: a reflection comes back"
)
print("(W_2 - W_1) / (W_1 - W_0), entry by entry:", *{sp.cancel(b / a) for a, b in zip(*steps_of_W)})

# %% [markdown]
# **Step 3.** No later token takes two states apart: a write multiplies a row $x$ of their difference by $I - \beta kk^\top$, and $|x|^2$ falls by $s\,(2-s)\,(x\cdot u)^2 \ge 0$, with $u$ the unit vector along $k$.

# %% tags=["proof-one_write"]
x, u = sp.Matrix(sp.symbols("x:3")), sp.Matrix([*sp.symbols("u:2"), 0])
s = sp.Symbol("s")
u[2] = sp.sqrt(1 - u[0] ** 2 - u[1] ** 2)  # a unit vector
after = x - s * u * x.dot(u)
lost = sp.expand(x.dot(x) - after.dot(after))
print("|x|^2 falls by s (2 - s) (x.u)^2:", sp.expand(lost - s * (2 - s) * x.dot(u) ** 2) == 0)
assert sp.expand(lost - s * (2 - s) * x.dot(u) ** 2) == 0, "One write, step 3: what a write takes away"


# %% [markdown]
# **Step 4.** So $(^m)^m$ and $(^{m+2})^m$, of which one is balanced and one is not, end within $|1-s|^m\,|W_2 - W_0|$ of each other, with the $s$ of the opening bracket, in each head; for $|1-s| < 1$ that is as near as one likes, at $s = 2$ the two are one state, at $s = 0$ nothing is written. All these states lie in a bounded set, since what is old fades; there a continuous reading is uniformly continuous, so no fixed margin is left. (The bound looked at in 40 random layers, in fractions, $m = 8$.) $\blacksquare$

# %% tags=["proof-one_write"]
def beyond_the_bound(rule, m=8):
    draw, beyond = np.random.default_rng(0), 0
    for _ in range(40):
        layer = fw.random_layer(draw, 2, 2, 2)
        shares = fw.exact([draw.integers(1, 8) / 4, draw.integers(0, 9) / 4])  # 1/4 .. 7/4 and 0 .. 2
        layer = fw.FastLayer(layer.keys, layer.queries, layer.values, shares / (layer.keys**2).sum(1))
        ends = [fw.states(layer, [0] * opened + [1] * m, rule)[-1] for opened in (m, m + 2)]
        start = fw.states(layer, [0, 0], rule)
        allowed = (1 - shares[0]) ** (2 * m) * ((start[2] - start[0]) ** 2).sum()
        beyond += ((ends[1] - ends[0]) ** 2).sum() > allowed
    return beyond

print("layers beyond the bound:", beyond_the_bound("delta"), "of 40")
assert beyond_the_bound("delta") == 0, "One write, step 4: the two states come together (sampled)"

# %% [markdown]
# **Break it:** with addition nothing comes together.

# %% tags=["proof-one_write"]
with show.expect_failure("One write, step 4"):
    assert beyond_the_bound("sum") == 0, "One write, step 4: the two states come together"

# %% tags=["hide-input"]
show.figure(
    ch09.leak_picture(100, 20),
    alt="Left, depth and counter on 20 opening and 20 closing brackets: the counter ends "
        "below 0. Right, how far below 0 it ends against the depth, dots on the formula's "
        "line, which crosses one half at depth 8.",
    caption="What to see: with a leak of 1/100 the dots pass the dashed line at m = 8. From "
            "there on the counter is nearer to -1 than to 0 when all brackets are closed.",
)  # fmt: skip

# %% [markdown]
# *Try:* each leak $e$ in turn. By what factor must it shrink for the counter to last ten times as deep?

# %% tags=["hide-input"]
leak_widget = explore(
    ch09.leak_picture,
    {"over": ch09.LEAKS, "m": list(ch09.DEPTHS)},
    initial={"over": 100, "m": 20},
    sentence=ch09.leak_sentence,
    alt="A leaking counter against the true depth, and where it ends for every depth.",
)
leak_widget

# %% [markdown]
# So the paper's 100 % for DeltaNet on Dyck-1, on strings of up to 100 brackets, is a result about **bounded depth**: a leak of $1/10{,}000$ is enough for it, as section 5 proved.

# %% [markdown]
# **Exercise 6** ★ *(5 min, 3 points: how deep a leaking counter counts)* **Predict.** A counter with leak
# $e = 1/200$. What is the least $m$ for which it is below $-\frac12$ after $(^m)^m$? Write it down, then use this section's
# formula.

# %%
my_depth = None  # a whole number
check("09.6", my_depth)

# %% [markdown]
# <!-- Exercise 09.6: from notebooks/workbook/exercises/ch09.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint</summary>
#
# About $1/\sqrt{2e} = 10$, and a little more: where does the formula of section 6 pass one half?
#
# </details>
#
# <details><summary>Solution</summary>
#
# 11. After $(^m)^m$ the counter is below 0 by $(1 - (1-e)^m)^2/e$ (section 6). For $m = 10$ that
# is 0.48, for $m = 11$ it is 0.58, more than one half.
#
# </details>

# %% [markdown]
# ### The start decides: predict the drift, see it, cure it
#
# What does a *trained* DeltaNet do? The table of section 8 has it right on all of $a^nb^n$ up to $n = 50$ and wrong soon after, in every seed, while addition lasts longer with four seeds of five. By the formula above, what the first $a$ wrote has shrunk to $(1-e)^n$ after $n$ letters, $e$ being the share lost at a write; so the
# net cannot cancel $a$'s by $b$'s, but must learn what a count that has faded looks like for the $n$ that it sees, and nothing makes that right for the next. A net starts with $\beta$ near one half. To count to 100 it would have to learn $\beta$ down over four orders of magnitude, and what it writes up by as many; and once
# Bin0 is right nothing asks for more.
#
# The cure is to start there: $\beta = \sigma(-15) = 3\cdot10^{-7}$ for every token, and $v$ larger by as much (`write_start` of the layer; no number is frozen, and nothing can be expressed that could not be before). (Predict: up to which $n$ will each net be right?)

# %% tags=["nbval-ignore-output"]
sizes = range(1, 301)
nets = {"as released": ch09.counting_net(None, 0), "near addition": ch09.counting_net(-15.0, 0)}
found = {name: ch09.margins(net, sizes) for name, net in nets.items()}
first = {
    name: next((n for n, margin in zip(sizes, values) if margin <= 0), None)
    for name, values in found.items()
}
show.table(
    [
        {
            "start": name,
            "share lost at a write": f"{ch09.decay(net):.1e}",
            "left of a write after 100 more": f"{(1 - ch09.decay(net)) ** 100:.1%}",
            "first n with a wrong answer": first[name] or f"none up to {sizes[-1]}",
        }
        for name, net in nets.items()
    ],
    caption="Live, seed 0, 1,500 batches of strings with n up to 50. Of the two heads the one that "
            "loses less.",
)

# %% tags=["nbval-ignore-output", "hide-input"]
show.figure(
    ch09.margin_picture(found, sizes),
    alt="The least margin over all positions of a^n b^n against n up to 300, for a DeltaNet as "
        "released and one started near addition.",
    caption="What to see: a line below 0 is a wrong answer. Up to the grey line both were trained.",
)  # fmt: skip

# %% [markdown]
# How far is the cured net *proved* right? The language has one string of each size, and the cell above ran every one of them: so up to the size before the first wrong one the net is right on **all** strings of the task, not on a sample. (In the floats of this machine; the margins are far above their rounding.)

# %%
shrinks = ch09.decay(nets["near addition"]) < 1e-4 < ch09.decay(nets["as released"])
print("the cured net loses less than a ten-thousandth at a write, the released start more:", shrinks)

# %% [markdown]
# ### Two writes a token: counting after all
#
# One write is never a translation. Two are: reflect at 0, then at $\frac12$, and $w \mapsto -w \mapsto 1 + w$. (*DeltaProduct*, Siems and others 2025, lets a token write several times, and $\beta$ may be 2, see section 9.)
#
# **Claim (two writes).** One layer with two writes a token, $\beta \in [0, 2]$ and one key counts brackets exactly, resets, and keeps parity.
#
# **Step 1.** Two reflections, at $a$ and then at $b$, are the translation by $2(b - a)$.

# %% tags=["proof-two_writes"]
w, a, b = sp.symbols("w a b")
strength = 2

def write(w, beta, v):
    return w + beta * (v - w)

def read(w, writes):
    for beta, v in writes:
        w = sp.expand(write(w, beta, v))
    return w

both = read(w, [(strength, a), (strength, b)])
print("w ->", both)
assert sp.expand(both - w - 2 * (b - a)) == 0, "Two writes, step 1: two reflections are a translation"

# %% [markdown]
# **Step 2.** So these weights take $w$ to $w + 1$, to $w - 1$, to 0, and to $1 - w$. By induction, with the first three, $w$ *is* the number of open brackets since the last reset, on every string; and a token that flips, on a counter of its own, keeps its parity in $w$.

# %% tags=["proof-two_writes"]
w, half = sp.Symbol("w"), sp.Rational(1, 2)
program = {
    "(": [(2, 0), (2, half)],
    ")": [(2, 0), (2, -half)],
    "1": [(1, 0), (0, 0)],  # the reset; the second write is off
    "flip": [(2, half), (0, 0)],
}
does = {token: read(w, writes) for token, writes in program.items()}
print(does)
assert does == {"(": w + 1, ")": w - 1, "1": 0, "flip": 1 - w}, (
    "Two writes, step 2: counts, resets, keeps parity"
)


# %% [markdown]
# **Step 3.** Nothing here is rounded in floats: as long as the depth is below $2^{23}$ all numbers are halves of whole numbers that float32 has. The package's own layer, in float32, with these weights, reads $(^{5000})^{5000}$:

# %% tags=["proof-two_writes"]
def brackets_layer(beta=40.0):
    """Three heads of size 1, of which the first counts; rows of a head: q, then k, v, b of each write."""
    layer = FastWeights(3, heads=3, feature_map="unit", allow_negative_eigenvalues=True, householders=2)
    weights = torch.zeros(3, 7, 3)  # heads, rows, tokens ( ) 1
    weights[0, [0, 1, 4]] = 1  # q and both keys
    weights[0, [3, 6], :2] = beta  # b of the brackets: 2 sigmoid(40) is 2 in float32
    weights[0, 5] = torch.tensor([0.5, -0.5, 0])  # v of the second write
    weights[0, 6, 2] = -200  # 2 sigmoid(-200) is 0; at b = 0 the first write has beta = 1
    with torch.no_grad():
        layer.slow.weight.copy_(weights.flatten(0, 1))
    return layer

def counts(layer, tokens):
    with torch.no_grad():
        return layer(torch.eye(3)[tokens][None])[0, :, 0].tolist()

deep, bracket_counter = [0] * 5000 + [1] * 5000, brackets_layer()
assert counts(bracket_counter, deep) == [*range(1, 5001), *range(4999, -1, -1)], (
    "Two writes, step 3: 5,000 deep and back"
)
print("depth 5,000 and back: exact")

# %% [markdown]
# And 20,000 random tokens with many resets; 2,000 of them also step by step. $\blacksquare$

# %% tags=["proof-two_writes"]
draw, depth, tokens, depths = np.random.default_rng(0), 0, [], []
for chance in draw.random((20_000, 2)):
    tokens.append(2 if chance[0] < 0.02 else int(depth > 0 and chance[1] > 0.55))
    depth = (depth + 1, depth - 1, 0)[tokens[-1]]
    depths.append(depth)
assert counts(bracket_counter, tokens) == depths, "Two writes, step 3: 20,000 tokens with resets"
bracket_counter.form = "sequential"
assert counts(bracket_counter, tokens[:2000]) == depths[:2000], "Two writes, step 3: and step by step"
print(f"{tokens.count(2)} resets, depth up to {max(depths)}: exact")

# %% [markdown]
# **Break it:** $\beta = 1.9$ in place of 2.

# %% tags=["proof-two_writes"]
with show.expect_failure("Two writes, step 1"):
    (w, a, b), strength = sp.symbols("w a b"), sp.Rational(19, 10)
    both = read(w, [(strength, a), (strength, b)])
    assert sp.expand(both - w - 2 * (b - a)) == 0, (
        "Two writes, step 1: two reflections are a translation"
    )


# %% [markdown]
# The end of the interval is needed. **Claim (the open interval).** If $0 < \beta|k|^2 < 2$ for all writes, then no number of writes a token counts exactly, whatever the keys are.
#
# **Step 1.** A token's writes multiply a row by $M = A_1 \cdots A_h$. By step 3 of the proof for one write, $|xA_i| = |x|$ only where $x$ is orthogonal to $k_i$, and then $xA_i = x$; so $|xM| < |x|$ for every $x \ne 0$ in the span of the keys.
# (The norm of $M$ on the span, for 200 random tokens with three writes and keys of four numbers, in floats.)

# %% tags=["proof-open_interval"]
def random_token(draw, shares=(0.05, 1.95)):
    """M and c of one token, W -> W M + c (a row), and a basis of the span of its three keys."""
    M, c, keys = np.eye(4), np.zeros(4), draw.normal(size=(3, 4))
    for k, s, v in zip(keys, draw.uniform(*shares, 3), draw.normal(size=3)):
        A = np.eye(4) - s * np.outer(k, k) / (k @ k)
        M, c = M @ A, c @ A + s * v * k / (k @ k)
    return M, c, np.linalg.qr(keys.T)[0]

random_tokens = [random_token(np.random.default_rng(seed)) for seed in range(200)]
norms = [np.linalg.norm(basis.T @ M @ basis, 2) for M, c, basis in random_tokens]
print(f"the greatest norm on the span is below 1: {max(norms) < 1}")
assert max(norms) < 1, "The open interval, step 1: a contraction on the span (sampled)"

# %% [markdown]
# **Step 2.** What is written, $c$, lies in the span; so after equal tokens, from $W_0 = 0$, $W_{m+1} - W_m = c\,M^m$ falls at least as fast as the $m$-th power of that norm, and the end of the proof is that of one write, the states being bounded as there. $\blacksquare$ (The same 200 tokens, $m = 50$.)

# %% tags=["proof-open_interval"]
outside = [np.abs(c - c @ basis @ basis.T).max() for M, c, basis in random_tokens]
after_50 = [np.linalg.norm(c @ np.linalg.matrix_power(M, 50)) for M, c, basis in random_tokens]
limits = [norm**50 * np.linalg.norm(c) for norm, (M, c, basis) in zip(norms, random_tokens)]
print(f"c lies in the span: {max(outside) < 1e-9};",
      f"largest of the differences after 50 tokens: {max(after_50):.1g}")  # fmt: skip
assert max(outside) < 1e-9, "The open interval, step 2: what is written lies in the span (sampled)"
assert all(size <= bound + 1e-12 for size, bound in zip(after_50, limits)), (
    "The open interval, step 2: and falls (sampled)"
)

# %% [markdown]
# **Step 3.** The counter above with $\beta = 1.99$ is the leaking one, with $e = 1 - 0.99^2$ and brackets that count for $0.995$ each; so it is wrong from depth 6 on, by the formula for the leak.

# %% tags=["proof-open_interval"]
w, beta = sp.Symbol("w"), sp.Rational(199, 100)
first = w + beta * (0 - w)
second = sp.expand(first + beta * (sp.Rational(1, 2) - first))
leak = 1 - second.coeff(w)
worth = sp.expand(second - (1 - leak) * w)
deepest = next(m for m in range(1, 100) if worth * (1 - (1 - leak) ** m) ** 2 / leak > sp.Rational(1, 2))
print("( takes w to", second, " so e =", leak, " wrong from depth", deepest)
assert leak == 1 - sp.Rational(99, 100) ** 2 and worth == beta / 2, (
    "The open interval, step 3: a leak of 0.0199"
)
assert deepest == 6, "The open interval, step 3: wrong from depth 6 on"

# %% [markdown]
# **Break it:** shares of 2.

# %% tags=["proof-open_interval"]
with show.expect_failure("The open interval, step 1"):
    at_two = [
        np.linalg.norm(random_token(np.random.default_rng(seed), shares=(2, 2))[0], 2)
        for seed in range(200)
    ]
    assert max(at_two) < 1 - 1e-9, "The open interval, step 1: a contraction on the span"

# %% [markdown]
# | rule | counts exactly | resets | parity |
# |---|---|---|---|
# | sum | yes (section 2) | no (section 5) | no (section 3) |
# | delta, $\beta\in(0,1)$ | no, only to a depth (section 6) | yes, where $\beta$ is 1 (as $\sigma(40)$ is in float32) | no (section 4) |
# | delta, $\beta = 2$, one write a token | no | yes, with $\beta = 1$ at the reset | yes (section 9) |
# | **delta, $\beta \le 2$, two writes a token** | **yes** | **yes** | **yes** |
# | Recurrent Delta | not decided here | yes: without feedback it is the delta rule | yes (section 7) |
# | SRWM | not decided here | not decided here | yes (section 7) |

# %% [markdown]
# ### Is it learned?
#
# The weights above are written by hand. Does descent find such weights? From the released start the delta rules of section 8 are right, or nearly, on Bin0 of reset Dyck-1 and right on little more than half to two thirds of Bin1, and a start near addition stands in the way of the reset. The proof above says which start stands in the way of nothing: all writes go to one key, and every
# $\beta$ starts near 2 (at $2\sigma(12) = 1.99999$), so that each token is a translation to begin with. What is left to learn are the values, and that the token 1 must lower a $\beta$. (Predict: of what a head holds, how much is left after each of the three tokens once the net knows reset Dyck-1?)

# %% tags=["proof-found_counter", "nbval-ignore-output"]
for seed in range(9):
    made = ch09.resetting_net(seed)
    left = dict(zip("()1", ch09.left(made.net)))
    machines = [
        head
        for head, (up, down, reset) in enumerate(zip(*left.values()), 1)
        if min(up, down) > 0.99 and abs(reset) < 0.1
    ]
    if machines:
        break
show.table(
    [
        {"token": token, **{f"left in head {k}": f"{share:.4f}" for k, share in enumerate(shares, 1)}}
        for token, shares in left.items()
    ],
    caption=f"Live, seed {seed}, 3,000 batches: the share of what a head holds that is left after a "
            f"token's two writes. Whole strings right: {made.watched[-1]['bin0']:.1%} of Bin0, "
            f"{made.watched[-1]['bin1']:.1%} of Bin1.",
)  # fmt: skip
print("heads in which brackets leave what is there, and the token 1 wipes it:", machines or "none")

# %% [markdown]
# A head that the last line names *is* the program of step 2, found by descent: a bracket leaves (nearly) all that is there and moves it, the token 1 leaves (nearly) nothing. With twice as many batches, on five times as many strings, such nets have all of Bin0 of reset Dyck-1, and four seeds of five have all of Bin1. That is the row *near translation* of section 8, which does well on the other seven tasks, too.

# %% [markdown]
# ### Snap it, and prove it for every string
#
# The net above is not right for ever. A bracket leaves nearly all of what is there and not all, `1` nearly nothing, the steps of `(` and `)` are not quite opposite, and the other head, which counts nothing, has its say: small errors, and every token carries them on. So we set each number to the one that it is near: in
# the counting head the values and strengths of step 2 above, with half the difference of the net's own two steps as the step $c$; in the other head nothing. All else stays as descent left it: embedding, queries, norms, feed-forward part, readout. (Predict: of strings four times as long as those of training, how many does the net have right, and how many its copy?)

# %% tags=["proof-found_counter", "nbval-ignore-output"]
counter_net, counter = made.net.double(), machines[0] - 1
counter_block = counter_net.blocks[0]
with torch.no_grad():  # by token, write and head; queries by token and head
    queries, _, own_v, own_beta = counter_block.mixer.program(counter_net.symbol_inputs())
    first, second = own_beta[:, 0, counter, None], own_beta[:, 1, counter, None]
    moves = (1 - second) * first * own_v[:, 0, counter] + second * own_v[:, 1, counter]
step_c = ((moves[0] - moves[1]) / 2 * 1024).round() / 1024  # sums of such numbers are exact in floats
snapped_v, snapped_beta = torch.zeros_like(own_v), torch.zeros_like(own_beta)
snapped_v[:2, 1, counter] = torch.stack([step_c / 2, -step_c / 2])
snapped_beta[:2, :, counter], snapped_beta[2, 0, counter] = 2, 1

def whole_right(strings, snapped):
    """The share of whole strings that the net has right, with its own or the snapped writes."""
    mixer, written = counter_block.mixer, (snapped_v[strings.tokens], snapped_beta[strings.tokens])
    mixer.form = "sequential"  # the compiled form makes its own writes
    if snapped:
        mixer.program = lambda z: (*FastWeights.program(mixer, z)[:2], *written)
    with torch.no_grad():
        right = counter_net(strings.tokens).argmax(-1) == strings.targets
    vars(mixer).pop("program", None)
    return (right | ~strings.mask).all(1).double().mean().item()

resets = ch09.COUNTER_TASKS["reset_dyck_1"]()
lines = []
for k in (0, 1, 3):
    draw = torch.Generator().manual_seed(9)
    strings = resets.batch(resets.test_strings(200, resets.bin(k), draw))
    copies = {"net": False, "its snapped copy": True}
    shares = {name: whole_right(strings, snapped) for name, snapped in copies.items()}
    lines.append({"sizes": "{} to {}".format(*resets.bin(k)), **shares})
show.table(
    [{**line, **{name: f"{line[name]:.1%}" for name in shares}} for line in lines],
    caption="Live. Whole strings right, of 200 of each bin.",
)

# %% [markdown]
# **Claim (the found counter).** The snapped copy of the trained net answers rightly on *every* string of reset Dyck-1, of every length (in real arithmetic).
#
# **Step 1.** Its memory goes from any $w$ to $w + c$ at `(`, to $w - c$ at `)`, and to 0 at `1`. By induction it is $d\,c$, where $d$ is the number of open brackets since the reset. (Free symbols, with the strengths and the halves of $c$ that the copy has.)

# %% tags=["proof-found_counter"]
w, c = sp.symbols("w c")
strengths = snapped_beta[:, :, counter].tolist()  # (token, write)
largest = int(step_c.abs().argmax())
shares_of_c = (snapped_v[:, :, counter, largest] / step_c[largest]).tolist()
wanted = {"(": w + c, ")": w - c, "1": 0}
does = {}
for token, betas, shares in zip(wanted, strengths, shares_of_c):
    does[token] = w
    for share, strength in zip(map(sp.nsimplify, shares), map(sp.nsimplify, betas)):
        does[token] = sp.expand(does[token] + strength * (share * c - does[token]))
print(does)
assert does == wanted, "The found counter, step 1: the memory is d c"


# %% [markdown]
# **Step 2.** So what is answered depends on the token and on $d$ alone. Let $\ell$ be the lead of the answer 1 over the answer 0. The block passes on the token's embedding plus what is read, $x = e + d\,u$, and adds a feed-forward part of the normalised $x$: so $\ell = A + B\,d + f$ with numbers $A$ and $B$ of the token, and $f$ that feed-forward part. A normalised vector of $D$
# numbers is no longer than $\sqrt D$; so no unit of the feed-forward part gets more than its bias and $\sqrt D$ times the length of its weights, and $|f| \le R$ for every $x$ there is. Where $B > 0$, $\ell > 0$ for all $d > (R + |A|)/B$.

# %% tags=["proof-found_counter", "nbval-ignore-output"]
def block_output(token, depth):
    """x = e + d u, and what the block makes of it, of a token at a depth."""
    y = torch.zeros_like(queries[token])
    y[counter] = depth * step_c * queries[token, counter, 0]  # all keys are the first unit vector
    x = counter_net.encoder.weight[token] + counter_block.gate(y.flatten())
    return x, counter_block.after(counter_net.encoder.weight[token], y.flatten())

with torch.no_grad():
    aim, bias = (part[1] - part[0] for part in counter_net.head[0].parameters())  # of the lead
    norm, (W1, b1, W2, b2) = counter_block.ff_norm, counter_block.ff.parameters()
    longest = len(aim) ** 0.5
    most = longest * (W1 * norm.weight).norm(dim=1) + b1 + W1 @ norm.bias  # of each unit
    R = float((aim @ W2).abs() @ most.clamp(min=0) + (aim @ b2).abs() + bias.abs())
    A = [float(aim @ block_output(token, 0)[0]) for token in (0, 1)]
    B = [float(aim @ block_output(token, 1)[0]) - A[token] for token in (0, 1)]
enough = [int((R + abs(a)) / b) + 1 for a, b in zip(A, B)]
print(f"R = {R:.0f}, B = {B[0]:.2f} at ( and {B[1]:.2f} at ):",
      f"right from depths {enough[0]} and {enough[1]} on")  # fmt: skip
assert min(B) > 0, "The found counter, step 2: the lead grows with the depth"


# %% [markdown]
# **Step 3.** Up to these depths, one by one: at `(` there is always a bracket open, at `1` never, and at `)` both occur. $\blacksquare$ (In doubles; the margins are far above their rounding.)

# %% tags=["proof-found_counter", "nbval-ignore-output"]
def lead(token, depth):
    with torch.no_grad():
        closed, opened = counter_net.head(counter_net.final_norm(block_output(token, depth)[1]))
    return float(opened - closed)

least = {
    "(": min(lead(0, d) for d in range(1, enough[0] + 1)),
    ")": min(lead(1, d) for d in range(1, enough[1] + 1)),
    ") at depth 0": -lead(1, 0),
    "1": -lead(2, 0),
}
print("least margins:", {case: round(margin, 1) for case, margin in least.items()})
assert min(least.values()) > 0.1, "The found counter, step 3: every answer is right"

# %% [markdown]
# **Break it:** let `1` leave a hundredth of what was there.

# %% tags=["proof-found_counter"]
with show.expect_failure("The found counter, step 1"):
    w = sp.Symbol("w")
    leaky = {**does, "1": w + sp.Rational(99, 100) * (0 - w)}
    print("1 takes w to", leaky["1"])
    assert leaky == wanted, "The found counter, step 1: the memory is d c"

# %% [markdown]
# A network trained for seconds on strings of up to 50 tokens has a counter in it that is right for ever. The snapped machine of chapter 02 has five states; this one has infinitely many, so no search over states could prove it. What took the place of the search is induction for the memory and a bound for the readout.

# %% [markdown]
# **Exercise 7** ★★ *(10 min, 4 points: how two reflections count)* Two unit keys in the plane whose two reflections
# ($\beta = 2$ each) count modulo 3.

# %%
my_keys = None  # two pairs of numbers
check("09.7", my_keys)

# %% [markdown]
# <!-- Exercise 09.7: from notebooks/workbook/exercises/ch09.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint</summary>
#
# Two reflections turn by twice the angle between their keys.
#
# </details>
#
# <details><summary>Solution</summary>
#
# $(1, 0)$ and $(\cos 60°, \sin 60°) = (\frac12, \frac{\sqrt 3}2)$: 60° apart, so together a turn
# by 120°.
#
# </details>

# %% [markdown]
# ## 7 Feedback: parity
#
# > **The paper, abstract.** "recurrent FWPs and self-referential weight matrices successfully overcome certain limitations of the LT, e.g., allowing for generalisation on the parity problem."
#
# Explicit weights. **Claim (Recurrent Delta).** One number of *Recurrent Delta* computes parity: a 1 writes $1 - \tanh(y_{t-1})/\tanh 1$ with strength $\sigma(40)$, and a 0 the same with strength $\sigma(-40)$, next to nothing; the answer is
# right on every string of up to $10^{16}$ tokens (in real numbers).
#
# **Step 1.** What is written, $f(y) = 1 - \tanh(y)/\tanh 1$, takes 0 to 1 and 1 to 0.

# %% tags=["proof-recurrent_delta"]
y, feedback, gate = sp.Symbol("y", real=True), -1 / sp.tanh(1), 40
f = 1 + feedback * sp.tanh(y)
print("f(0) =", f.subs(y, 0), "  f(1) =", sp.simplify(f.subs(y, 1)))
assert f.subs(y, 0) == 1 and sp.simplify(f.subs(y, 1)) == 0, "Recurrent Delta, step 1: 0 -> 1 -> 0"

# %% [markdown]
# **Step 2.** The pair $\{0, 1\}$ *attracts*: $f'(0)f'(1) = 1/\sinh^2 1 = 0.724$ is below 1, so errors die out, where the delta rule's at best persist.

# %% tags=["proof-recurrent_delta"]
multiplier = (sp.diff(f, y).subs(y, 0) * sp.diff(f, y).subs(y, 1)).rewrite(sp.exp)
print(f"f'(0) f'(1) = {float(multiplier):.4f}")
assert sp.simplify(multiplier - (1 / sp.sinh(1) ** 2).rewrite(sp.exp)) == 0 and multiplier < 1, (
    "Recurrent Delta, step 2: it attracts"
)

# %% [markdown]
# **Step 3.** How long? Let $\varepsilon$ be the error and $\sigma = \sigma(-40)$. Near its target the layer writes $f(y) = f(\text{target}) - \nu\,\delta$, with $\delta$ the signed error of $y$. By the mean value theorem $0 \le \nu \le L_0 = |f'(0)|$, and near 1 $0 \le \nu \le L_1 = |f'(0.9)|$ as long as $|\delta| \le 0.1$. So, up to a sign, a 0 takes $\delta$ to $\delta\,(1 - \sigma(1+\nu)) + \sigma$, and a 1 takes it to $\delta\,(\nu - \sigma(1+\nu)) + \sigma$: a 0 adds at most $\sigma$ to $\varepsilon$, and a 1 multiplies it by $L_0$ or $L_1$ at most and adds at most
# $\sigma$. (The cell looks at a grid of errors up to 0.1, with three larger $\sigma$, and allows $1.1\,\sigma$.) Now measure the state by $\varepsilon$ where it should be 1, and by $L_0\,\varepsilon$ where it should be 0. Since $L_0L_1 < 1$, this measure grows by at most $1.1\,L_0\,\sigma$ a token, and stays below 0.1 for more than $10^{16}$ tokens.

# %% tags=["proof-recurrent_delta"]
L0, L1 = (abs(float(sp.diff(f, y).subs(y, at))) for at in (0, 0.9))
sigma = float(1 / (1 + sp.exp(gate)))
lasts = 0.1 / (1.1 * L0 * sigma)
print(f"L0 = {L0:.3f}, L1 = {L1:.3f}, L0 L1 = {L0 * L1:.3f}; right for at least {lasts:.1e} tokens")
off = np.linspace(-0.1, 0.1, 2001)
for (at, L), rate in product(((0, L0), (1, L1)), (1e-2, 1e-4, 1e-6)):
    pull = 1 - np.tanh(at + off) / np.tanh(1) - (at + off)  # f(y) - y
    after = {0: abs(off + rate * pull), 1: abs(at + off + (1 - rate) * pull - (1 - at))}
    assert (after[0] <= abs(off) + rate + 1e-12).all(), (
        "Recurrent Delta, step 3: what a 0 does (on a grid)"
    )
    assert (after[1] <= L * abs(off) + 1.1 * rate + 1e-12).all(), (
        "Recurrent Delta, step 3: what a 1 does (on a grid)"
    )
assert L0 * L1 < 1 and lasts > 1e16, (
    "Recurrent Delta, step 3: right on every string of up to 10^16 tokens"
)


# %% [markdown]
# **Step 4.** Run, in floats: every prefix of 20,000 random bits is right, and a disturbance of 0.2 is gone after 40 ones. $\blacksquare$

# %% tags=["proof-recurrent_delta"]
def run(bits, start=0.0, gate=gate, feedback=float(feedback)):
    rates, y, found = 1 / (1 + np.exp([gate, -gate])), start, []
    for bit in bits:
        y = y + rates[bit] * (1 + feedback * np.tanh(y) - y)
        found.append(y)
    return np.array(found)

coin_bits = np.random.default_rng(0).integers(0, 2, 20_000)
right = ((run(coin_bits) > 0.5) == coin_bits.cumsum() % 2).mean()
left = np.ptp([run([1] * 40, start)[-1] for start in (-0.2, 0.0, 0.2)])
print(f"right: {right:.0%}; of the disturbance less than 0.01 is left: {left < 0.01}")
assert right == 1 and left < 0.01, "Recurrent Delta, step 4: run in floats"

# %% [markdown]
# **Break it:** no feedback; then soft gates, $\sigma(\pm3)$ in place of $\sigma(\pm40)$.

# %% tags=["proof-recurrent_delta"]
with show.expect_failure("Recurrent Delta, step 1"):
    flat = 1 + 0 * sp.tanh(y)
    assert flat.subs(y, 1) == 0, "Recurrent Delta, step 1: 0 -> 1 -> 0"
with show.expect_failure("Recurrent Delta, step 4"):
    assert ((run(coin_bits, gate=3.0) > 0.5) == coin_bits.cumsum() % 2).all(), (
        "Recurrent Delta, step 4: run in floats"
    )

# %% [markdown]
# **Claim (SRWM).** One *SRWM* layer of size 4 computes parity. Its rule (Eq. 10 to 12) reads $y$, $q$, $k$ and the strength from its own matrix $W$ at a column $x$ that the token picks, and writes $W \leftarrow W + \beta\,W(\phi(q) - \phi(k))\,\phi(k)^\top$, $\phi$ a softmax. With large numbers
# each softmax picks a single column, and the rule says "copy column $j$ into column $i$". Column 1 is what the token 1 reads, and it alternates between two programs: A ("answer 1; next copy column 2") and B ("answer 0; next copy column 3"); columns 2
# and 3 keep B and A. A 0 reads column 4 less column 1: its strength is $\sigma(-120)$, so it writes nothing, and its answer is the parity so far.
#
# Here are the programs, as columns of $W$: what they answer, which column $q$ and $k$ pick, and the strength.

# %% tags=["proof-srwm"]
large = 120.0

def weights(b):
    A, B, zero = np.zeros((3, 13))  # rows: y (4), q (4), k (4), strength
    A[[0, 5, 8, 12]] = 1, b, b, b  # answers 1; q picks column 2, k column 1
    B[[6, 8, 12]] = b, b, b  # answers 0; q picks column 3
    zero[0] = 1
    return np.stack([A, B, A, zero], 1)

W0 = weights(large)
print("columns 1 to 4: answer, q to column 2, q to 3, k to 1, strength")
print(*W0[W0.any(1)].T.tolist(), sep="\n")

# %% [markdown]
# **Step 1.** At the token 1 the rule copies column 2 into column 1. (In floats; the softmaxes are $e^{-120}$ from picking one column.)

# %% tags=["proof-srwm"]
inputs = np.array([[-1.0, 0, 0, 1], [1.0, 0, 0, 0]])  # of the tokens 0 and 1

def srwm(bits, W):
    found, softmax = [], lambda a: np.exp(a - a.max()) / np.exp(a - a.max()).sum()
    for bit in bits:
        z = W @ inputs[bit]
        q, k = softmax(z[4:8]), softmax(z[8:12])
        W = W + np.outer((W @ (q - k)) / (1 + np.exp(-z[12])), k)
        found.append(z[0])
    return np.array(found), W

once = srwm([1], W0)[1]
print("column 1 is now column 2:", np.allclose(once[:, 0], W0[:, 1]))
assert np.allclose(once, W0[:, [1, 1, 2, 3]], atol=1e-9), (
    "SRWM, step 1: column 2 is copied into column 1"
)

# %% [markdown]
# **Step 2.** The next 1 copies column 3 into column 1, and $W$ is what it was; a 0 writes nothing and answers the same. So the answer is the parity. (In floats, to $10^{-9}$; all strings of 8 bits, and 5,000 random ones.) $\blacksquare$

# %% tags=["proof-srwm"]
assert np.allclose(srwm([1, 1], W0)[1], W0, atol=1e-9), "SRWM, step 2: two 1s bring W back"
assert np.allclose(srwm([0], W0)[1], W0, atol=1e-9) and np.allclose(srwm([0], once)[1], once, atol=1e-9), (
    "SRWM, step 2: a 0"
)
for bits in [*product((0, 1), repeat=8), np.random.default_rng(0).integers(0, 2, 5000)]:
    assert np.allclose(srwm(bits, W0)[0], np.cumsum(bits) % 2, atol=1e-9), (
        "SRWM, step 2: the answer is the parity"
    )
print("256 strings of 8 bits and 5,000 random bits: right")

# %% [markdown]
# **Break it:** soft choices, with 2 in place of 120.

# %% tags=["proof-srwm"]
with show.expect_failure("SRWM, step 1"):
    soft = weights(2.0)
    assert np.allclose(srwm([1], soft)[1], soft[:, [1, 1, 2, 3]], atol=1e-9), (
        "SRWM, step 1: column 2 is copied into column 1"
    )

# %% [markdown]
# The paper also compares with an *e-LSTM* ("element-wise": each number $c$ of its state sees, besides the input, only itself). It calls this net "computationally limited", and its own Table 1 has it at 100/100 on parity. **Claim (the e-LSTM).** One number does it: a 1 takes
# $c$ to $\tanh(0.6 - 4c)$. So to see no other number of the state is no hindrance here. A *Quasi-RNN*, whose gates and writes see the input alone, cannot do this: what it writes does not depend on $c$ at all.
#
# **Step 1.** Two intervals are taken into each other: $[0.9, 1]$ into $[-1, -0.9]$ and back. The map falls everywhere, so the ends decide.

# %% tags=["proof-e_lstm"]
c, weight = sp.Symbol("c", real=True), -4
toggle = sp.tanh(sp.Rational(3, 5) + weight * c)
ends = {at: float(toggle.subs(c, at)) for at in (-1.0, -0.9, 0.9, 1.0)}
print({at: round(value, 4) for at, value in ends.items()})
assert sp.expand(sp.diff(toggle, c) - weight * (1 - toggle**2)) == 0 and weight < 0, (
    "The e-LSTM, step 1: it falls everywhere"
)
assert ends[-0.9] >= 0.9 and ends[0.9] <= -0.9, "The e-LSTM, step 1: each interval into the other"


# %% [markdown]
# **Step 2.** A first 1 takes $c = 0$ into neither, but near $0.54$, which the second takes to near $-0.91$, into the left interval; from there on the sign of $c$ is the parity, at gates that are nearly 0 and 1 ($\sigma(\pm 40)$). (Every prefix of 20,000 random bits, in floats.) $\blacksquare$

# %% tags=["proof-e_lstm"]
def e_lstm(bits, weight=weight, gate=40.0):
    forget, c, found = 1 / (1 + np.exp([-gate, gate])), 0.0, []
    for bit in bits:
        c = forget[bit] * c + (1 - forget[bit]) * np.tanh(0.6 + weight * c)
        found.append(c)
    return np.array(found)

toggle_bits = np.random.default_rng(0).integers(0, 2, 20_000)
print("after 1, 11, 111, 1111:", e_lstm([1] * 4).round(3).tolist())
assert e_lstm([1])[0] > 0 and e_lstm([1, 1])[1] < -0.9, "The e-LSTM, step 2: into the left interval"
assert (((e_lstm(toggle_bits) > 0) == toggle_bits.cumsum() % 2)).all(), (
    "The e-LSTM, step 2: the sign of c is the parity"
)

# %% [markdown]
# **Break it:** a write that does not depend on $c$, as in a Quasi-RNN.

# %% tags=["proof-e_lstm"]
with show.expect_failure("The e-LSTM, step 2"):
    assert ((e_lstm(toggle_bits, weight=0.0) > 0) == toggle_bits.cumsum() % 2).all(), (
        "The e-LSTM, step 2: the sign of c is the parity"
    )

# %% [markdown]
# Explicit weights say that it *can*. Whether it is *learned* is another question, so we train. The recipe is ours (8 numbers, two heads, short strings first); the paper's best
# configuration has 4 numbers and one head, and in section 8 the recorded row has it. (Predict: strings have 2 to 40 tokens in training. How many of the strings of 51 to 100 will be right in all positions?)

# %%
feedback_runs = list(
    run_all(plan("fwp/table1", tasks=["parity"], rows=["recurrent_delta"], seeds=[0]))
)
for record in feedback_runs:
    last = record["metrics"]["last"]
    print(
        f"Recurrent Delta, seed {record['seed']}: all of Bin0 right: {last['bin0'] == 1}; of "
        f"Bin1: {last['bin1'] == 1}"
    )

# %% [markdown]
# (One seed; section 8's recorded row has several, and the range of their results.)
#
# ## 8 Tables 1 and 2
#
# All strings are positive ones, that is, such as belong to the language; every position has a label; **a string counts if all its positions are right**. Bin0 are the sizes of training, Bin1 the next. (In reset Dyck-1 a bin bounds each side of the 1, and training has strings of up to 50 tokens: about a tenth of Bin0 is longer than all of these, so *not learned* may be *lost with length* there.) Mind the sizes: $(aa)^*$ has 25 strings in each bin, so the
# accuracy of one run is a multiple of 4 % (the tables have means over seeds, rounded down).

# %% tags=["hide-input"]
show.table(
    ch09.sizes(),
    caption="Distinct strings there are. The other tasks have more than anybody will sample.",
)

# %% [markdown]
# The paper prints the best of 1,458 configurations for each cell (144 for the LSTMs), chosen on the test bins, one seed, after up to 187,500 batches at one rate. Ours have *one* configuration a cell, several seeds, 1,500 to 25,000 batches, a rate that falls to 0, and the
# last weights; a second table below has the weights that the test bins would choose, as the paper does. (`lrnnlab reproduce fwp/table1 --budget desk` prints them, and a third, chosen on held-out strings.) A low number says why: **not expressible** by one layer (with the section that proves it), **not learned** (in so
# many seeds not all of Bin0 is right), or **lost with length** (Bin0 right, Bin1 not). The last three rows are ours, with the starts of section 6: two *near addition*, of which that of Recurrent Delta has its feedback at 0 to begin with, and one *near translation*, which has two writes a token, to one key. (In the regular tasks its $\beta$ starts at 1 instead of 2; on reset Dyck-1 it has two heads, elsewhere eight.)

# %% tags=["hide-input", "nbval-ignore-output"]
for name, tasks in (
    ("table1", ("parity", "aa")),
    ("table1", ("abab", "anbn")),
    ("table1", ("anbncn", "shuffle_2")),
    ("table2", ("dyck_1", "reset_dyck_1")),
):
    recorded = results.runs(f"fwp/{name}").query("task in @tasks")
    show.table(
        ch09.beside(name, tasks, live=feedback_runs if name == "table1" else ()),
        caption="Whole strings of Bin0/Bin1 in percent, last weights. Recorded by lrnnlab "
        f"reproduce fwp/{name} --budget desk, seeds {', '.join(map(str, sorted(recorded['seed'].unique())))}, "
        f"up to {recorded['steps'].max():,} batches: "
        "mean (range of Bin1), rounded down. The paper: the best of its search.",
    )

# %% [markdown]
# And chosen as the paper chooses, by the best mean of both *test* bins among all looks at a run. The difference is what selection on the test set gives away:

# %% tags=["nbval-ignore-output", "hide-input"]
show.table(
    ch09.chosen_by_test(),
    caption="Recorded: Bin0/Bin1 of the weights that the test bins choose.",
)

# %% tags=["nbval-ignore-output", "hide-input"]
show.figure(
    ch09.both_tables(live=feedback_runs),
    alt="For each of eight tasks and each model: the paper's whole-string accuracy on "
    "longer strings as a grey diamond, where there is one, the recorded ones in blue, the "
    "live one on parity in vermilion.",
    caption="What to see: who is at 100 % on the three regular languages (first panels), and "
    "who on those that count: there the two rows near addition have another start, a lower "
    "rate and no more batches than their models (Recurrent Delta's also other sizes). The last "
    "row, with two writes a token, is the only one that stands in every panel with a mean on "
    "Bin1 above 90 %.",
)

# %% [markdown]
# What is low, and what we know of it:
#
# * **Counting with the delta rule** is lost with length from the released start, and mostly kept from a start near addition, with a lower rate and no more batches (section 6 shows why; DeltaNet on $a^nb^n$ differs in nothing else).
# * **Counting with SRWM.** Bin0 is learned (of Shuffle-2 with four seeds of five, and 99.2 % with the fifth) and Bin1 is not. Its memory decays in the same way, but its start cannot be moved in the same way: $y_t = W_{t-1}x_t$ contains $W_0x_t$, so what makes the writes larger makes larger what was there before them. We know no cure.
# * **Reset Dyck-1.** A start near addition is wrong here: the reset needs $\beta$ near 1 for one token and nearly 0 for the others, and a value of 0 for that one, exact to a count in a hundred thousand. From the released start Bin0 is learned, or nearly, in 10,000 to 25,000 batches, with leaks that last for Bin0; Bin1
#   is right in part. Explicit weights with one write do it (section 5), and we have not found training that does. With two writes and a start near translation training does (section 6).
# * **Counting with the e-LSTM.** Its numbers stay between $-1$ and $1$, so a deeper count needs finer differences; the paper's own 90, 22 and 85.7 on Bin1 are the only counting cells of its Table 1 below 100.
#
# Is a cell a matter of what the rule *can* do, or of how fast it is learned? The proofs decide some of them:
#
# | cell | can it be right at all lengths? |
# |---|---|
# | linear on parity, $(aa)^*$, $(abab)^*$ | no, one layer (section 3; look at strings of 1s, and at the b's, where $W_tq$ is again $t$ times one vector) |
# | Transformer on parity, $(aa)^*$, $(abab)^*$ | no, one layer without positions: softmax attention is a weighted mean, so on strings of 1s, on $a^t$, and at the b's of $(ab)^t$ it says the same at every $t$, as a normalised linear layer does (section 3) |
# | DeltaNet on parity, $(aa)^*$ | no, one layer (section 4, *What a positive eigenvalue costs*) |
# | DeltaNet on $(abab)^*$ | no, one layer (section 4, *Two letters in turn do not help*) |
# | linear on reset Dyck-1 | no, one layer (section 5) |
# | DeltaNet on anything that counts | not exactly, only to a depth, with one write a token (section 6) |
# | DeltaNet with two writes and $\beta \le 2$ on Dyck-1 and reset Dyck-1 | yes (section 6; the row *near translation*, which is not the paper's) |
# | Recurrent Delta on parity | proved up to $10^{16}$ tokens with these weights; beyond, not decided here (section 7) |
# | SRWM on parity | with these weights yes for the 5,000 tokens that were run; the errors of a token are some $e^{-120}$ (section 7) |

# %% [markdown]
# ## 9 One sign: the door to what came next
#
# Section 4 had $\beta = \sigma(b) < 1$, an eigenvalue in $(0, 1)$. Let $\beta = 2\sigma(b)$, keys of length 1, and it lies in $(-1, 1)$. Nothing else changes: no feedback, still a linear scan, still in parallel over time.
# (Grazzi and others, 2024, showed what this does.)
#
# **Claim (parity).** One layer with $\beta = 2$ computes parity, exactly, at every length, in float32 too. The memory starts at $W_0 = 0$; a 1 has $k = e_1$, $v = \frac12$, $\beta = 2$; a 0 writes elsewhere ($k = e_2$); the query is $e_1$.
#
# **Step 1.** A 1 takes $w$, what is said to $e_1$, to $w + 2(\frac12 - w) = 1 - w$; so $w$ goes from 0 to 1 and back.

# %% tags=["proof-parity"]
w, beta_of_1, v_of_1 = sp.Symbol("w"), 2, sp.Rational(1, 2)
after = sp.expand(w + beta_of_1 * (v_of_1 - w))
print("w ->", after)
assert sp.expand(after - (1 - w)) == 0, "Parity, step 1: a 1 takes w to 1 - w"

# %% [markdown]
# **Step 2.** So the output is the parity after every prefix. (The layer itself, all strings of 8 bits, in fractions.)

# %% tags=["proof-parity"]
layer = fw.table([[0, 1], [1, 0]], [[1, 0], [1, 0]], [[0], ["1/2"]], [1, Fraction(beta_of_1)])
for word in product((0, 1), repeat=8):
    said = fw.outputs(layer, word, "delta")[:, 0].tolist()
    assert said == [sum(word[:end]) % 2 for end in range(1, 9)], (
        "Parity, step 2: the output is the parity"
    )
print("10110100 ->", fw.outputs(layer, (1, 0, 1, 1, 0, 1, 0, 0), "delta")[:, 0].astype(int).tolist())

# %% [markdown]
# **Step 3.** In float32 nothing is rounded, since $w$ is 0 or 1 and $\frac12$ is a float: the two transitions are exact, and so is every length. (Run as well: 20,000 random bits, and as many 1s.) $\blacksquare$

# %% tags=["proof-parity"]
two, half = np.float32(beta_of_1), np.float32(0.5)
table = {float(w): float(w + two * (half - w)) for w in np.float32([0, 1])}
print("float32:", table)
assert table == {0: 1, 1: 0}, "Parity, step 3: both transitions are exact in float32"
for bits in (np.random.default_rng(0).integers(0, 2, 20_000), np.ones(20_000, int)):
    assert (fw.reflected(bits, float(beta_of_1)) == bits.cumsum() % 2).all(), "Parity, step 3: run"

# %% [markdown]
# **Break it:** $\beta = 1.9$; then $v = 0$, with which nothing is ever written, since $W_0 = 0$.

# %% tags=["proof-parity"]
with show.expect_failure("Parity, step 1"):
    w = sp.Symbol("w")
    after = sp.expand(w + sp.Rational(19, 10) * (v_of_1 - w))
    assert sp.expand(after - (1 - w)) == 0, "Parity, step 1: a 1 takes w to 1 - w"
with show.expect_failure("Parity, step 2"):
    layer = fw.table([[0, 1], [1, 0]], [[1, 0], [1, 0]], [[0], [0]], [1, 2])
    assert fw.outputs(layer, (1, 1), "delta")[:, 0].tolist() == [1, 0], (
        "Parity, step 2: the output is the parity"
    )

# %% [markdown]
# The interval is open, though. **Claim (below 2).** With $1 < \beta < 2$ the distance of $w$ from $\frac12$ is multiplied by $\beta - 1$ at every 1, and noise ends the parity after about $\ln\frac1{2\,\text{noise}} \big/ {-\ln(\beta-1)}$ ones.
#
# **Step 1.** After $t$ ones $w - \frac12 = -\frac12(1-\beta)^t$. (By induction, free $g = 1 - \beta$.)

# %% tags=["proof-below_two"]
g, t, half = *sp.symbols("g t"), sp.Rational(1, 2)
beta = 1 - g
says = half - half * g**t
after = says + beta * (half - says)
print("w_1, w_2, w_3 =", [sp.factor(says.subs(t, n)) for n in (1, 2, 3)])
assert says.subs(t, 0) == 0 and sp.simplify(after - says.subs(t, t + 1)) == 0, (
    "Below 2, step 1: the distance from 1/2"
)


# %% [markdown]
# **Step 2.** With noise the first error comes when that distance has come down to the noise, give or take a half. ($\beta = 1.9$, noise $10^{-4}$, 20 runs of 4,000 ones, in floats.)

# %% tags=["proof-below_two"]
def first_errors(noise):
    ones, draw = np.ones(4000, int), np.random.default_rng(0)
    runs = [fw.reflected(ones, 1.9, noise=draw.normal(0, noise, 4000)) for _ in range(20)]
    return np.median([fw.first_error(run, ones) or 4000 for run in runs])

due = fw.predicted_error(1.9, 1e-4)
print(
    f"predicted {due:.0f}; the median is within a half of it: {due / 2 < first_errors(1e-4) < 1.5 * due}"
)
assert due / 2 < first_errors(1e-4) < 1.5 * due, "Below 2, step 2: noise wins about then (sampled)"

# %% [markdown]
# **Step 3.** Two surprises of floats. Without noise rounding alone can keep a parity alive: a float32 keeps a swing of some units of the last place alive for 4,000 ones at $\beta = 1.9$ and $1.99$, and loses it at $1.5$.

# %% tags=["proof-below_two"]
all_ones = np.ones(4000, int)
silent = {beta: fw.first_error(fw.reflected(all_ones, beta), all_ones) for beta in (1.5, 1.9, 1.99)}
print("first error without noise:", silent)
assert silent[1.9] is None and silent[1.99] is None and silent[1.5] is not None, (
    "Below 2, step 3: rounding keeps it alive"
)

# %% [markdown]
# **Step 4.** And $2\sigma(b)$ *is* 2 in float32 from $b = 17$ on. $\blacksquare$

# %% tags=["proof-below_two"]
strengths = {b: 2 * torch.sigmoid(torch.tensor(float(b))) for b in range(12, 24)}
reached = [b for b, value in strengths.items() if value == 2]
print("2 sigmoid(b) is 2 for b =", reached)
assert reached == list(range(17, 24)), "Below 2, step 4: from b = 17 on"

# %% [markdown]
# **Break it:** without noise step 2 has nothing to predict.

# %% tags=["proof-below_two"]
with show.expect_failure("Below 2, step 2"):
    assert due / 2 < first_errors(0.0) < 1.5 * due, "Below 2, step 2: noise wins about then"

# %% [markdown]
# **Exercise 8** ★ *(5 min, 3 points: how fast an eigenvalue near -1 forgets)* **Predict.** $\beta = 1.99$ and noise
# $10^{-3}$. After about how many 1s is parity lost? (Within 5 %.)

# %%
my_ones = None  # a number
check("09.8", my_ones)

# %% [markdown]
# <!-- Exercise 09.8: from notebooks/workbook/exercises/ch09.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint 1</summary>
#
# Each 1 multiplies the distance from $\frac12$ by $-0.99$. When is it as small as the noise?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# $\ln(1/(2\cdot 10^{-3}))$ over $-\ln 0.99$.
#
# </details>
#
# <details><summary>Solution</summary>
#
# The distance from $\frac12$ is at first $\frac12$, and $\frac12\cdot 0.99^t$ is down to
# $10^{-3}$ for $t = \ln 500/0.01005 = 618$.
#
# </details>

# %% [markdown]
# **Exercise 9** ★★ *(15 min, 4 points: why a reflection needs something to reflect)* **A proof step.** With $W_0 = 0$
# one layer of the delta rule reads $a^t$, and its output alternates between two values. Prove that one of them is 0.
# What must a token before the string do, and what must $a$ do, so that they are $+1$ and $-1$? (All keys, and the
# query, are one unit vector.)

# %%
my_tokens = None  # ((beta, v) of the token before, (beta, v) of a)
check("09.9", my_tokens)


# %% [markdown]
# <!-- Exercise 09.9: from notebooks/workbook/exercises/ch09.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint 1</summary>
#
# What is the output after no token, and what does a map of order two do twice?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# What should the token $a$ write if it only turns?
#
# </details>
#
# <details><summary>Solution</summary>
#
# The output's state goes by one affine map, $w \mapsto g\,w + c$, with $g = 1 - \beta|k|^2$ along
# the key. If it alternates, $w_3 = w_1 \ne w_2$; but
# $w_2 - w_1 = g\,c$ and $w_3 - w_1 = g\,(1+g)\,c$, so $g\,c \ne 0$ and $g = -1$: $w \mapsto c - w$, whose orbit from $0$ is $0, c, 0, c, \dots$ Read with
# any query it is $0$ and one other value. So first a token that sets $w$ to $1$ ($\beta = 1$, $v = 1$, unit
# key), and then $a$ with $\beta = 2$, $v = 0$: $w \mapsto -w$.
#
# </details>

# %% [markdown]
# **Exercise 10** ★ *(5 min, 3 points: that rounding can keep what exact numbers lose)* **Predict** before you run:
# this section's counter in float32, without noise, moves from $w$ to $w + \beta(\frac12 - w)$ at every 1, and below
# $\beta = 2$ it should come ever nearer to $\frac12$. Of $\beta = 1.5, 1.6, 1.7, 1.8, 1.9$, how many still tell the
# parity of 20,000 ones?

# %%
def kept_alive():
    ones, strengths = np.ones(20_000, int), (1.5, 1.6, 1.7, 1.8, 1.9)
    lost = {beta: fw.first_error(fw.reflected(ones, beta), ones) for beta in strengths}
    said = ", ".join(f"β = {beta}: {at or 'never'}" for beta, at in lost.items())
    return list(lost.values()).count(None), f"Ones until parity is lost, {said}"

predict("09.10", kept_alive)

# %% [markdown]
# <!-- Exercise 09.10: from notebooks/workbook/exercises/ch09.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint</summary>
#
# Which numbers does float32 have next to one half?
#
# </details>
#
# <details><summary>Solution</summary>
#
# Two: 1.8 and 1.9. Near $\frac12$ float32 goes in steps of $2^{-24}$ above and $2^{-25}$ below.
# One step above, the distance times $\beta - 1$ is rounded to a whole step below if
# $\beta - 1 > \frac34$, else to half a step. From a whole step below it comes back to one step above, from half a step
# it does not. So these two swing for ever, as nothing but rounding makes them; a
# little noise ends it.
#
# </details>

# %% [markdown]
# ### One write counts modulo 2 and nothing else
#
# **Claim (one write modulo $M$).** With one write a token, a letter read again and again brings the memory back ($W_M = W_0 \ne W_1$) only
# if $M$ is even and $\beta|k|^2 = 2$; then it comes back every second time already.
#
# **Exercise 11** ★ *(5 min, 4 points: why one write counts modulo 2 only)*
#
# **Step 1 is yours.** By section 6 each
# step of $W$ is $g = 1 - \beta|k|^2$ times the one before, so $W_M - W_0$ is a multiple of $W_1 - W_0$. Which? Write
# it as a function of $g$ and $M$; the assert below, for one number, $w \mapsto g\,w + c$ from $w_0 = 0$ with
# $w_1 = c$, must hold for $M = 1, \dots, 7$.

# %%
my_factor = None  # a function of (g, M)
if my_factor is not None:
    g, c, w = *sp.symbols("g c"), sp.Integer(0)
    for M in range(1, 8):
        w = sp.expand(g * w + c)
        assert sp.cancel(w - sp.sympify(my_factor(g, M)) * c) == 0, (
            "One write modulo M, step 1: W_M - W_0 is factor times W_1 - W_0"
        )
check("09.11", my_factor)

# %% [markdown]
# <!-- Exercise 09.11: from notebooks/workbook/exercises/ch09.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint 1</summary>
#
# Write out $w_1 = c$, $w_2 = g c + c$ and $w_3$.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# How often does each power of $g$ occur in $w_M$?
#
# </details>
#
# <details><summary>Solution</summary>
#
# $w_M = c\,(1 + g + \dots + g^{M-1})$, so `lambda g, M: sum(g**j for j in range(M))`. Where
# $g \ne 1$ that is $(1 - g^M)/(1 - g)$ (at $g = 1$ it is $M$), which is 0 only for $g^M = 1$; of the real numbers that leaves
# $g = -1$, for even $M$.
#
# </details>

# %% [markdown]
# **Step 2.** The factor, as a polynomial in $g$, is $w_M / c$. Its only real zero is $-1$, and that for even $M$ alone. ($M = 2, \dots, 12$, all real roots counted exactly, a sample of the lengths; the solution of exercise 11 has the argument for all $M$.)

# %% tags=["proof-modulo"]
g, c, w = *sp.symbols("g c"), sp.Integer(0)
zeros = {}
for M in range(1, 13):
    w = sp.expand(g * w + c)
    zeros[M] = sorted(set(sp.real_roots(sp.Poly(sp.cancel(w / c), g)))) if M > 1 else []
print({M: [int(zero) for zero in found] for M, found in zeros.items()})
assert all(zeros[M] == ([-1] if M % 2 == 0 else []) for M in zeros), (
    "One write modulo M, step 2: -1 is the only real zero"
)

# %% [markdown]
# **Step 3.** And $g$ is real; at $g = -1$ the state is back after two. So no layer with one write a token counts a letter modulo 3, or 5, by coming back. $\blacksquare$ (With $|g| < 1$ it does not come back at all, and section 4's limit says that no margin is kept.)

# %% tags=["proof-modulo"]
states = [0]
for _ in range(6):
    states.append(-states[-1] + c)
print("at g = -1:", states)
assert states[2] == states[0] != states[1], "One write modulo M, step 3: period two"

# %% [markdown]
# **Two writes a token** (DeltaProduct; Siems and others, 2025) are two reflections, and with keys at an angle they are a rotation, by twice that angle. **Claim (two writes modulo $M$).** Keys at an angle of $\pi/M$ count modulo $M$; with $M = 5$ that is chapter 01's Sum(5).
#
# **Step 1.** Reflections along $(1, 0)$ and then along $(\cos\theta, \sin\theta)$ turn the plane by $2\theta$. (Free $\theta$.)

# %% tags=["proof-rotation"]
theta = sp.Symbol("theta", real=True)

def reflection(angle):
    k = sp.Matrix([sp.cos(angle), sp.sin(angle)])
    return sp.eye(2) - 2 * k * k.T

turn = (reflection(theta) * reflection(0)).applyfunc(sp.trigsimp)
print("the product:", turn.tolist())
rotation = sp.Matrix([[sp.cos(2 * theta), -sp.sin(2 * theta)], [sp.sin(2 * theta), sp.cos(2 * theta)]])
assert (turn - rotation).applyfunc(sp.simplify) == sp.zeros(2, 2), (
    "Two writes modulo M, step 1: a rotation by twice the angle"
)


# %% [markdown]
# **Step 2.** At $\theta = \pi/M$ its first power that is the identity is the $M$-th. ($M = 2, \dots, 12$; the $j$-th power turns by $2\pi j/M$.) $\blacksquare$

# %% tags=["proof-rotation"]
def period(angle):
    return next(j for j in range(1, 100) if rotation.subs(theta, j * angle) == sp.eye(2))

periods = {M: period(sp.pi / M) for M in range(2, 13)}
square = (rotation * rotation - rotation.subs(theta, 2 * theta)).applyfunc(sp.trigsimp)
print("M: period =", periods)
assert square.applyfunc(sp.simplify) == sp.zeros(2, 2), (
    "Two writes modulo M, step 2: powers of a rotation add up its angle"
)
assert all(M == found for M, found in periods.items()), (
    "Two writes modulo M, step 2: the M-th power is the first identity"
)

# %% [markdown]
# **Break it:** an angle of $2\pi/M$.

# %% tags=["proof-rotation"]
with show.expect_failure("Two writes modulo M, step 2"):
    periods = {M: period(2 * sp.pi / M) for M in range(2, 13)}
    assert all(M == found for M, found in periods.items()), (
        "Two writes modulo M, step 2: the M-th power is the first identity"
    )

# %% [markdown]
# Trained, live: the same net twice, but for the factor 2. (Predict both numbers.)

# %% tags=["nbval-ignore-output"]
doors = {"beta1_nh1": "beta in (0, 1)", "beta2_nh1": "beta in (0, 2)"}
door = list(
    run_all(plan("fwp/negative", tasks=["parity"], rows=list(doors), seeds=[0, 1, 2, 3]))
)
trained = results.frame(door).set_index("row")
scores = trained["last.bin1"]
for row, name in doors.items():
    print(f"{name}: all strings of 51 to 100 right: {sum(scores[row] == 1)} of {len(scores[row])} seeds")

# %%
near = all(abs(trained.loc["beta1_nh1", "symbols"] - 0.5) < 0.1)
print(
    f"beta in (0, 1), every seed: none of these strings right: {max(scores['beta1_nh1']) < 0.01}; "
    f"single answers near chance: {near}\nbeta in (0, 2), the best seed: more than half of them "
    f"right: {max(scores['beta2_nh1']) > 0.5}"
)

# %% tags=["nbval-ignore-output", "hide-input"]
show.table(
    ch09.reflecting(live=door),
    caption="In percent: whole strings, and single answers at positions 391 to 400; mean "
            "(range). Recorded by lrnnlab reproduce fwp/negative --budget desk.",
)

# %% [markdown]
# Right up to 100 tokens, in all strings, is not right for ever: look at the last column, and at how it falls.

# %% tags=["nbval-ignore-output", "hide-input"]
show.figure(
    ch09.far_out(),
    alt="Right answers by position up to 400 on parity, (aa)*, Sum(5) and S3 for beta below 1 "
        "or below 2 and one or two writes a token. With beta below 1 all are down at the level of "
        "a constant answer after ten to twenty positions.",
    caption="Recorded. What to see: orange (beta below 1) is soon down at the dotted line. Green "
            "is right beyond the grey line, on parity and (aa)* with one write, on all four "
            "with two; most of it falls further out. Below we look into the nets that learned "
            "parity.",
)  # fmt: skip


# %% [markdown]
# ### Two leaks: train, snap, prove
#
# Why does it fall? An eigenvalue near $-1$ and not at it is one reason: token 1's $\beta$ ends short of 2. There may be a second: token 0 should write nothing. Where its $\beta$, in the head that counts, is not 0 (the lines below show it) and its key is not orthogonal to that of 1, every 0 takes a little of what is counted. We train the
# live net again (its layer has two heads), find the head in which token 1 has the larger $\beta$, and set one of the two strengths, or both, to the number that it should have:

# %% tags=["nbval-ignore-output"]
def accuracy(net, strengths, tokens):
    """Right answers in the last ten positions, with strengths (token, head) in place of the net's."""
    mixer = net.blocks[0].mixer
    mixer.program = lambda z: (*FastWeights.program(mixer, z)[:3], strengths[tokens][:, :, None])
    mixer.form = "sequential"  # the compiled form makes its own strengths
    with torch.no_grad():
        right = net(tokens).argmax(-1) == 1 - tokens.cumsum(1) % 2  # the class 1 is "even"
    del mixer.program
    return right[:, -10:].double().mean().item()

tokens, lines = torch.randint(2, (50, 1000), generator=torch.Generator().manual_seed(5)), []
for seed in (0, 1, 2):
    net = ch09.reflecting_net(seed)
    with torch.no_grad():
        # beta (token, head)
        own = net.blocks[0].mixer.program(net.blocks[0].norm(net.encoder.weight))[3][:, 0]
    head = int(own[1].argmax())
    one, zero, both, alone = own.clone(), own.clone(), own.clone(), torch.zeros_like(own)
    one[1, head] = both[1, head] = alone[1, head] = 2
    zero[0, head] = both[0, head] = 0
    kinds = {"as trained": own, "token 1: 2": one, "token 0: 0": zero, "both": both,
             "both, other head 0": alone}  # fmt: skip
    right = {name: accuracy(net, strengths, tokens) for name, strengths in kinds.items()}
    lines.append({"seed": seed, "beta of 1": f"{own[1, head]:.4f}", "beta of 0": f"{own[0, head]:.2f}",
                  **right})  # fmt: skip
show.table(
    [
        {name: f"{cell:.0%}" if isinstance(cell, float) else cell for name, cell in line.items()}
        for line in lines
    ],
    caption="Live. Single answers right at positions 991 to 1,000 of 50 random strings, with the "
    "strengths of the counting head as trained, one of them set, or both; in the last column the "
    "other head never writes.",
)

# %% tags=["nbval-ignore-output"]
right = {name: sum(line[name] == 1 for line in lines) for name in list(lines[0])[3:]}
print(f"nets (of {len(lines)}) without an error there:", right)

# %% [markdown]
# So there can be two leaks. Closing one of them may be enough for this length, or may not, as the rows say; the line under the table counts the nets for each.
#
# As in chapter 02 a net that is *snapped* (its soft numbers replaced by the exact ones that they are near) can be *proved*. **Claim (the snapped net).** The net of seed 0 with $\beta = 2$ for token 1 in its counting head, and 0 for everything else, answers rightly on every string of every length (in real arithmetic).
#
# **Step 1.** With a unit key and $\beta = 2$ the memory goes from 0 to $2vk^\top$, and from there back to 0; token 0 changes nothing. So it is in one of two states, told apart by the parity. (Free symbols, keys of three numbers; the argument needs $k\cdot k = 1$ only, and $\phi$ divides every key by its length.)

# %% tags=["proof-snapped"]
k, v, beta = sp.Matrix([*sp.symbols("k:2", real=True), 0]), sp.Matrix(sp.symbols("v:2")), 2
k[2] = sp.sqrt(1 - k[0] ** 2 - k[1] ** 2)  # |k| = 1
W = [sp.zeros(2, 3)]
for _ in range(2):
    W.append((W[-1] + beta * (v - W[-1] * k) * k.T).expand())
print("W_1 - 2 v k^T =", (W[1] - 2 * v * k.T).expand().tolist(),
      "  W_2 =", W[2].applyfunc(sp.simplify).tolist())  # fmt: skip
assert (W[1] - 2 * v * k.T).expand() == sp.zeros(2, 3), "The snapped net, step 1: from 0 to 2 v k^T"
assert W[2].applyfunc(sp.simplify) == sp.zeros(2, 3), "The snapped net, step 1: and back to 0"

# %% [markdown]
# **Step 2.** What is read at a position is a function of the token there and of the memory: four cases. The trained net's own weights give the right answer in each. (Logits in floats; the margins are printed, and are far above rounding.)

# %% tags=["proof-snapped", "nbval-ignore-output"]
parity_net = ch09.reflecting_net(0)
parity_block, margins = parity_net.blocks[0], {}
with torch.no_grad():
    q, k, v, beta = parity_block.mixer.program(parity_block.norm(parity_net.encoder.weight))
    head = int(beta[1, 0].argmax())
    for parity in (0, 1):
        W = parity * 2 * torch.outer(v[1, 0, head], k[1, 0, head])
        for token in (0, 1):
            heard = torch.zeros_like(q[token])
            heard[head] = W @ q[token, head]  # the other head's memory is 0
            after = parity_block.after(parity_net.encoder.weight[token], heard.flatten())
            logits = parity_net.head(parity_net.final_norm(after))
            margins[token, parity] = float(logits[1 - parity] - logits[parity])  # the class 1 is "even"
print("margin by (token, parity):", {case: round(margin, 1) for case, margin in margins.items()})
assert min(margins.values()) > 0.1, "The snapped net, step 2: all four answers are right"

# %% [markdown]
# **Step 3.** That this is what the package's net computes: the same strengths put into its own forward pass, 20 strings of 1,000 tokens. $\blacksquare$

# %% tags=["proof-snapped"]
strengths = torch.zeros(2, 2)
tokens = torch.randint(2, (20, 1000), generator=torch.Generator().manual_seed(7))
strengths[1, head] = 2
mixer = parity_block.mixer
mixer.program = lambda z: (*FastWeights.program(mixer, z)[:3], strengths[tokens][:, :, None])
mixer.form = "sequential"  # the compiled form makes its own strengths
with torch.no_grad():
    right = parity_net(tokens).argmax(-1) == 1 - tokens.cumsum(1) % 2
del mixer.program  # its own strengths again
print("right in every position:", bool(right.all()))
assert right.all(), "The snapped net, step 3: the net itself, on 1,000 tokens"

# %% [markdown]
# **Break it:** $\beta = 1.99$.

# %% tags=["proof-snapped"]
with show.expect_failure("The snapped net, step 1"):
    k, v, W = sp.Matrix([1, 0]), sp.Matrix([1]), [sp.zeros(1, 2)]
    for _ in range(2):
        W.append((W[-1] + sp.Rational(199, 100) * (v - W[-1] * k) * k.T).expand())
    assert W[2] == sp.zeros(1, 2), "The snapped net, step 1: and back to 0"


# %% [markdown]
# ## 10 Where the paper says something else
#
# | the paper | what we found |
# |---|---|
# | "these proofs can be directly adopted for ULTs" (C.1) | for Proposition 3.1 only behind a non-linearity; before it a ULT is rational (section 2) |
# | with a layer norm "the constant-output argument also holds" (C.1) | only for $\varepsilon = 0$ and without a residual; for one layer the conclusion can be saved (section 3) |
# | $\phi$ must be "positive and sum up to one [...] for stability" | enough, not needed: $\beta\lvert k\rvert^2 \le 2$ is (section 4) |
# | "(e.g., we use softmax)" | in the released code DeltaNet has $(\mathrm{elu}+1)$ over its sum; softmax is in Recurrent Delta and SRWM |
# | Eq. 9 concatenates $x_t$ and all of $y_{t-1}$ | released: each head sees its own $y_{t-1}$ only |
# | Eq. 10 to 12: one learning rate $\beta_t$ | released: four, for $y$, $q$, $k$ and $\beta$; and its GPU kernel reads only min(4, head size) of them, by our reading |
# | Tables 4 and 5: the best configurations | hidden size 4 and 8 heads are not in the search space of Table 3 |
# | Table 1: Bin1, "longer sequences", is the test | it also chose the net and ended the training; one seed |
# | 100 % on Dyck-1, DeltaNet | to a depth (section 6) |
# | the e-LSTM is "computationally limited" | not on parity, by its own Table 1 (section 7) |
# | Shuffle-2: "([ ])" is coded 2320 (C.2) | 1310 by the legend; 2320 is `[()]`. And TFFF is the parity of 0100 (below) |
# | Shuffle-2, "a mixture of two Dyck-1 languages" | the published generator makes *nested* strings only |
#
# **Claim (the printed examples).** Two of the worked examples of Appendix C.2 contradict their legend.
#
# **Step 1.** By the legend (0 both kinds closed, 1 only ( open, 2 only [ open, 3 both) `([])` is coded 1310, not 2320.

# %% tags=["proof-printed"]
def code(text):
    ends = range(1, len(text) + 1)
    opened = [
        [text[:end].count(pair[0]) > text[:end].count(pair[1]) for pair in ("()", "[]")] for end in ends
    ]
    return "".join(str(first + 2 * second) for first, second in opened)

print("([]) ->", code("([])"))
assert code("([])") == "1310", "The printed examples, step 1: the legend's code"

# %% [markdown]
# **Step 2.** 2320 is the code of `[()]`, and of no other word of two pairs. It is also what comes out if the two flags of `([])` are taken in the other order.

# %% tags=["proof-printed"]
even = lambda text: text.count("(") == text.count(")") and text.count("[") == text.count("]")
coded = [text for text in map("".join, product("()[]", repeat=4)) if even(text) and code(text) == "2320"]
other_order = code("([])").translate(str.maketrans("12", "21"))
print("coded 2320:", coded, "  ([]) with the flags in the other order:", other_order)
assert coded == ["[()]"] and other_order == "2320", "The printed examples, step 2: whose code 2320 is"

# %% [markdown]
# **Step 3.** TFFF ("T where the 1s so far are even") is the parity of 0100, not of 0010, which the paper prints as ∅010; and the third example, NNNbbS for the next symbols of aaabbb, is right. $\blacksquare$

# %% tags=["proof-printed"]
parity = {
    text: "".join("FT"[text[:end].count("1") % 2 == 0] for end in range(1, 5)) for text in ("0100", "0010")
}
following = lambda n: "N" * n + "b" * (n - 1) + "S"
print(parity, " aaabbb:", following(3))
assert parity["0100"] == "TFFF" != parity["0010"] and following(3) == "NNNbbS", (
    "The printed examples, step 3: the other two examples"
)

# %% [markdown]
# **Break it:** the printed code.

# %% tags=["proof-printed"]
with show.expect_failure("The printed examples, step 1"):
    assert code("([])") == "2320", "The printed examples, step 1: the printed code"

# %% [markdown]
# ## 11 What this does not show
#
# * **Not that one-layer limits hold for deeper nets.** Proposition 3.3 is for NLTs of any depth; the repair of section 3, and the limits of sections 4 to 6, are for one layer.
# * **Not that Recurrent Delta or SRWM count exactly.** Table 1 says 100 % up to length 300; we prove nothing for them beyond parity.
# * **Not that two writes learn to count from any start.** The net of section 6 has its one key from the beginning and its $\beta$ near 2. How many heads and batches it has, and which tasks begin at $\beta = 1$, was chosen with seeds of 90 and more; but a first recipe had been scored on the table's own seeds before: with eight heads and 10,000 batches most of them were right on all of Bin1 of reset Dyck-1 early, and lost part of it again. Five more seeds, on which nothing was chosen, came out alike: four of the five have all of Bin1 of reset Dyck-1 (not kept in `data/records`; `lrnnlab reproduce fwp/table2 --budget desk --rows deltanet_translation --seeds 5-9` makes them again).
# * **Not the paper's numbers again.** Ours have a small part of the batches, and no search.
# * **Not that snapping always works.** The nets of sections 6 and 9 are easy cases: one layer, two or three tokens, and a head that has nearly learned a translation or a reflection.
# * **Nothing about language.** Positive strings of eight small languages.
#
# ## 12 What you have learned
#
# 1. A layer of addition knows how often each token occurred, and the last token: it counts exactly and cannot forget.
# 2. One layer of the delta rule with $\beta < 1$ (and keys that sum to one) has only eigenvalues in $(0, 1]$: it forgets at will, but has no parity, no $(aa)^*$, no $(abab)^*$, and its counters leak.
# 3. One write a token is never a translation; two reflections are, so $\beta = 2$ and two writes count exactly, reset and keep parity in one layer; and from a start near translation descent finds such weights.
# 4. Feedback buys parity as well, at the price of the parallel scan; its two states attract, so errors die out.
# 5. A net that is right up to 100 tokens may still have leaks; closing them (snap) turns it into a machine of two states, which four cases prove right, or into a counter, which an induction and a bound prove right at every depth.

# %% [markdown]
# ## 13 Exercises
#
# They stand in the sections that they are about. `hint("09.1")` and `solution("09.1")` show what is folded there.

# %% [markdown]
# <!-- The exercises of this chapter, listed by lrnnlab book build. -->
#
# 11 exercises, 42 points, about 100 minutes:
#
# | exercise | section | difficulty | minutes | points | you will learn |
# |---|---|---|---|---|---|
# | 1 | [1 A memory that is written while it reads](#1-A-memory-that-is-written-while-it-reads) | ★ | 5 | 4 | why the delta rule is cheap |
# | 2 | [1 A memory that is written while it reads](#1-A-memory-that-is-written-while-it-reads) | ★★ | 15 | 4 | what may not be done at once |
# | 3 | [2 What addition knows](#2-What-addition-knows) | ★★★ | 15 | 5 | what positions add to a layer of addition |
# | 4 | [5 What the delta rule is for: the reset](#5-What-the-delta-rule-is-for:-the-reset) | ★★ | 10 | 4 | what a sum cannot tell apart |
# | 5 | [5 What the delta rule is for: the reset](#5-What-the-delta-rule-is-for:-the-reset) | ★★ | 10 | 4 | how many keys a memory has room for |
# | 6 | [6 What it loses, with one write a token: exact counting](#6-What-it-loses,-with-one-write-a-token:-exact-counting) | ★ | 5 | 3 | how deep a leaking counter counts |
# | 7 | [6 What it loses, with one write a token: exact counting](#6-What-it-loses,-with-one-write-a-token:-exact-counting) | ★★ | 10 | 4 | how two reflections count |
# | 8 | [9 One sign: the door to what came next](#9-One-sign:-the-door-to-what-came-next) | ★ | 5 | 3 | how fast an eigenvalue near -1 forgets |
# | 9 | [9 One sign: the door to what came next](#9-One-sign:-the-door-to-what-came-next) | ★★ | 15 | 4 | why a reflection needs something to reflect |
# | 10 | [9 One sign: the door to what came next](#9-One-sign:-the-door-to-what-came-next) | ★ | 5 | 3 | that rounding can keep what exact numbers lose |
# | 11 | [9 One sign: the door to what came next](#9-One-sign:-the-door-to-what-came-next) | ★ | 5 | 4 | why one write counts modulo 2 only |

# %% [markdown]
# ## 14 Read on
#
# * The paper: K. Irie, R. Csordás, J. Schmidhuber, *Practical Computational Power of Linear Transformers and Their Recurrent and Self-Referential Extensions*, EMNLP 2023, [arXiv:2310.16076](https://arxiv.org/abs/2310.16076).
# * The delta rule as a linear Transformer: I. Schlag, K. Irie, J. Schmidhuber, *Linear Transformers Are Secretly Fast Weight Programmers*, 2021, [arXiv:2102.11174](https://arxiv.org/abs/2102.11174); with feedback: K. Irie and others, *Going Beyond Linear Transformers with Recurrent Fast Weight Programmers*, 2021, [arXiv:2106.06295](https://arxiv.org/abs/2106.06295);
#   the self-referential matrix: K. Irie and others, *A Modern Self-Referential Weight Matrix That Learns to Modify Itself*, 2022, [arXiv:2202.05780](https://arxiv.org/abs/2202.05780).
# * In parallel over time: S. Yang and others, *Parallelizing Linear Transformers with the Delta Rule over Sequence Length*, 2024, [arXiv:2406.06484](https://arxiv.org/abs/2406.06484).
# * Negative eigenvalues: R. Grazzi, J. Siems and others, *Unlocking State-Tracking in Linear RNNs Through Negative Eigenvalues*, 2024, [arXiv:2411.12537](https://arxiv.org/abs/2411.12537). Several writes a token: J. Siems and others, *DeltaProduct: Improving State-Tracking in Linear RNNs via Householder Products*, 2025, [arXiv:2502.10297](https://arxiv.org/abs/2502.10297).
# * Rational recurrences and counters: W. Merrill and others, *A Formal Hierarchy of RNN Architectures*, 2020, [arXiv:2004.08500](https://arxiv.org/abs/2004.08500). Reset Dyck-1: S. Bhattamishra and others, *On the Ability and Limitations of Transformers to Recognize Formal Languages*, 2020, [arXiv:2009.11264](https://arxiv.org/abs/2009.11264).
