# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 03a · Other roads
#
# PScan makes about $\frac T2\log_2 T$ products of matrices. Can a tree do with fewer than $T$? Which recurrences cannot be scanned, and which need no scan at all? *It takes* about 20 min to read and 25 min for the exercises. It belongs to [chapter 03](../03_parallel_scans.ipynb).

# %% jupyter={"source_hidden": true} tags=["hide-input"]
import numpy as np
import sympy as sp
import torch

import lrnnbook
from lrnnbook import show
from lrnnbook.content.chapters import ch03
from lrnnbook.content.exercises import check, guess, hint, solution
from lrnnlab import scans
from lrnnlab.scans import linear_scan

lrnnbook.needs("0.1")
scans.warm()


# %% [markdown]
# ## 1 A tree with less work
#
# PScan makes up to $L/2$ products at every level. Most of these are not needed. Make a binary tree over the
# steps, and go through it twice (after Blelloch, 1990). On the way **up**, compute one pair for each node: the
# composition of all steps below it. On the way **down**, hand each node
# a *state*: the one before its first step. The left child gets the state that its parent got. The right child gets this state after the left child's pair
# has been applied. These are two passes instead of one, but fewer than $T$ products, so $O(b^3 h T)$ work.
#
# **Step 1 (sample).** The tree gives the loop's states, on random whole numbers for $T = 1$ to 39. This checks the code. That the
# tree is right for all numbers follows from chapter 03, section 1, applied at every node.

# %% tags=["proof-tree"]
def apply(A, x):
    return (A @ x[..., None])[..., 0]


def pair_after(second, first):
    (A2, b2), (A1, b1) = second, first
    return A2 @ A1, apply(A2, b1) + b2


def states_before(A, b, x0):  # the states before n nodes, from the pairs of all but the last of them
    if len(b) == 0:
        return x0[None]
    end = len(b) // 2 * 2
    up = pair_after((A[1:end:2], b[1:end:2]), (A[:end:2], b[:end:2]))  # one pair for two nodes
    down = states_before(*up, x0).repeat_interleave(2, 0)[: len(b) + 1]  # handed on to both children
    down[1::2] = apply(A[::2], down[:-1:2]) + b[::2]  # the right child: after the left child's pair
    return down


def tree_scan(A, b, x0):  # states (T, n) from A (T, n, n), b (T, n) and x0 (n)
    return apply(A, states_before(A[:-1], b[:-1], x0)) + b


# %% tags=["proof-tree"]
dice = torch.Generator().manual_seed(3)
for T in range(1, 40):
    shapes = (T, 3, 3), (T, 3), (3,)
    A, b, x0 = (torch.randint(-1, 2, shape, generator=dice) for shape in shapes)
    x, states = x0, []
    for A_t, b_t in zip(A, b):
        x = A_t @ x + b_t
        states.append(x)
    assert torch.equal(tree_scan(A, b, x0), torch.stack(states)), "The tree, step 1: not the loop's states"
print(f"the tree gives the loop's states for T = 1 to {T}")


# %% [markdown]
# **Step 2.** From a level of $n$ nodes the $\lceil n/2\rceil$ nodes above it are made with $\lceil n/2\rceil - 1$ products, one for each of them but the last, whose pair nobody needs. Summed over the levels that is less than $T$. **All $T \le 5{,}000$**; the induction for every $T$ is yours, in exercise 4.

# %% tags=["proof-tree"]
def made_by_tree(n):
    up = -(-n // 2)
    return 0 if n == 1 else (up - 1) + made_by_tree(up)


assert all(made_by_tree(T) < T for T in range(1, 5001)), "The tree, step 2: as many products as steps"
print({T: made_by_tree(T) for T in (8, 500, 5000)})

# %% [markdown]
# **Exercise 7** ★★ *(10 min, 4 points: to count products by induction)* **A proof step.** The
# induction is yours. Suppose that a level of $\lceil n/2\rceil$ nodes and all levels above it make at most
# $f(\lceil n/2\rceil)$ products. For which $f$, with $f(n) < n$, does it follow that a level of $n$ nodes and all
# levels above it make at most $f(n)$? The induction and its asserts are below; put your $f$ in place of `None`.

# %%
my_bound = None  # exercise 7: a function of n, the number of nodes of a level

for n in range(1, 2000) if my_bound else ():
    assert made_by_tree(1) <= my_bound(1) and my_bound(n) < n, f"the bound itself, at n = {n}"
    up = -(-n // 2)
    assert n == 1 or (up - 1) + my_bound(up) <= my_bound(n) + 1e-9, f"from {up} nodes to {n}"
check("03.7", my_bound)

# %% [markdown]
# <!-- Exercise 03.7: from notebooks/lrnnbook/content/exercises/ch03.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint 1</summary>
#
# Try the count itself for $n = 1, 2, 4, 8$: what is always a little more?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# A level makes $\lceil n/2\rceil - 1 \le (n-1)/2$ products: what may the rest of the tree make?
#
# </details>

# %% jupyter={"source_hidden": true} tags=["hide-input"]
show.table(
    [
        {
            "T": T,
            "PScan, products": ch03.matrix_products(T),
            "tree, products": ch03.tree_counts(T)[0],
            "PScan, levels": T.bit_length(),
            "tree, levels": ch03.tree_counts(T)[2],
        }
        for T in (7, 40, 500, 4096, 16384)
    ],
    caption="Matrix products and levels of both. The loop makes no product and takes T steps.",
)


# %% [markdown]
# **Exercise 8** ★ *(5 min, 3 points: to predict which products overflow)* **Predict.** Choose before you run. In chapter
# 03, section 6, a state of 0 waited through 300 doublings, and PScan gave NaN. If `tree_scan` of this notebook is run on
# the same numbers, at how many steps does it give NaN, compared with PScan? And why can this never happen with blocks
# whose columns are probability distributions?

# %% tags=["nbval-ignore-output"]
def tree_on_doublings():
    waits = torch.arange(400) < 300
    A = torch.where(waits, 2.0, 0.5)[:, None, None] * torch.eye(2)
    b = torch.where(waits, 0.0, 1.0)[:, None].expand(400, 2)
    pscan = linear_scan(A[None, :, None], b[None, :, None], backend="paper")[0, :, 0]
    tree = tree_scan(A, b, torch.zeros(2))
    lost = [int(x.isnan().any(-1).sum()) for x in (tree, pscan)]
    more = "more" if lost[0] > lost[1] else "fewer" if lost[0] < lost[1] else "as many"
    answer = f"NaN at {more} steps" if lost[0] else "no NaN"
    return answer, f"NaN at {lost[0]} of 400 steps in the tree, at {lost[1]} in PScan"


guess("03.8", tree_on_doublings)


# %% [markdown]
# <!-- Exercise 03.8: from notebooks/lrnnbook/content/exercises/ch03.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint</summary>
#
# Look at what the up-pass multiplies.
#
# </details>

# %% [markdown]
# **Exercise 9** ★★ *(10 min, 4 points: to test a scan so that a bug shows)* **Code: find the bug.** Here is the
# scan by doubling of chapter 03, for numbers and the start 0, as somebody else wrote it. It passes two tests, and yet it is wrong on almost all
# other numbers. Why? Write the function as it should be.

# %%
def their_scan(a, b):
    a, b, shift = np.array(a, float), np.array(b, float), 1
    while shift < len(a):
        a[shift:] = a[shift:] * a[:-shift]
        b[shift:] = a[shift:] * b[:-shift] + b[shift:]
        shift *= 2
    return b


b = np.arange(1, 501)
print("all a = 1, a cumulative sum:", np.array_equal(their_scan(np.ones(500), b), b.cumsum()),
      "  all a = 0, resets:", np.array_equal(their_scan(np.zeros(500), b), b))  # fmt: skip
my_scan = None  # exercise 9: a function of a and b that returns the T states
check("03.9", my_scan)

# %% [markdown]
# <!-- Exercise 03.9: from notebooks/lrnnbook/content/exercises/ch03.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint 1</summary>
#
# Try $T = 2$ with $a_1 = 2$: what does the first pass make of $b_2$?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# The rule is $(a_2, b_2) \circ (a_1, b_1) = (a_2a_1,\; a_2b_1 + b_2)$. Which $a_2$ is in the second part?
#
# </details>

# %% [markdown]
# ## 2 The recurrence must be linear in the state
#
# Two affine maps (maps $x \mapsto Ax + b$) compose to an affine map, which a pair of the same size describes. Two
# maps $x \mapsto \tanh(ax + c)$ do not compose to a third map of this kind, so no pair $(a, c)$ describes two steps.
#
# **Step 1.** Apply $\operatorname{artanh}$, the inverse of $\tanh$, to a map of this kind: what comes out is the
# straight line $ax + c$, whose second derivative is 0.

# %% tags=["proof-tanh"]
r, a, c, a2, c2 = sp.symbols("r a c a2 c2", real=True)
line = sp.simplify(sp.diff(sp.atanh(sp.tanh(a * r + c)), r))
show.math(r"\frac{d}{dr}\, \mathrm{artanh}(\tanh(a r + c)) =", line)
assert line == a and sp.diff(line, r) == 0, "Two maps with tanh, step 1: one layer is no straight line"

# %% [markdown]
# **Step 2.** Do the same with two such maps, one after the other: what comes out is $a_2\tanh(ar + c) + c_2$, and
# this is not a straight line: its second derivative at $r = 0$ is not 0 for $a = 2$, $c = -\frac12$,
# $a_2 = \frac32$. $\blacksquare$

# %% tags=["proof-tanh"]
two = a2 * sp.tanh(a * r + c) + c2
bend = sp.diff(two, r, 2).subs({r: 0, a: 2, c: sp.Rational(-1, 2), a2: sp.Rational(3, 2)})
print(f"second derivative of two layers at 0: {float(bend):.3f}")
assert bend.evalf() != 0, "Two maps with tanh, step 2: two layers are a straight line as well"

# %% [markdown]
# A nonlinear recurrence can still be run in parallel by other means, for instance by Newton's method with a scan in each of its
# steps. It is then solved approximately, again and again, until nothing changes.

# %% [markdown]
# ## 3 The delta rule
#
# **The delta rule** has matrices of the kind $A_t = I - \beta_t k_t k_t^\top$ (chapter 09). It is the recurrence of this chapter for each row of a memory $W$, and could be scanned as above. But the product of such factors need not be multiplied out.
#
# **Claim (the WY form).** $(I - \beta_1 k_1k_1^\top)\cdots(I - \beta_c k_ck_c^\top) = I - \sum_i w_i k_i^\top$, and the vectors $w_i$ solve one triangular system (for $\beta_i \ne 0$; a factor with $\beta_i = 0$ is the identity and can be left out).
#
# **Step 1.** One factor more: if the product so far is $I - S$, the next is $I - S - w k^\top$ with $w = \beta\,(k - Sk)$. **All cases**; $q$ is $k^\top$.

# %% tags=["proof-wy"]
S, k, q = sp.symbols("S k q", commutative=False)
beta = sp.Symbol("beta")
w = beta * (k - S * k)
one_more = sp.expand((1 - S) * (1 - beta * k * q))
show.math(r"(1 - S)(1 - \beta k q) =", one_more)
assert sp.expand(one_more - (1 - S - w * q)) == 0, "The WY form, step 1: not of the same form"

# %% [markdown]
# **Step 2.** With $S = \sum_{i<t} w_ik_i^\top$ that reads $\frac1{\beta_t} w_t + \sum_{i<t} (k_i^\top k_t)\, w_i = k_t$: the unknown $w_t$ is in the equations $t, t+1, \dots$ only, so
# the system is triangular. **Example** in fractions: four vectors of size 3. $\blacksquare$

# %% tags=["proof-wy"]
K = sp.Matrix([[1, 2, 0, 1], [0, 1, 1, 3], [2, 0, 1, 1]])  # its columns are k_1 to k_4
betas = [sp.Rational(1, n) for n in (2, 3, 4, 5)]
gram = K.T * K
system = sp.Matrix(4, 4, lambda i, t: 1 / betas[t] if i == t else gram[i, t] if i < t else 0)
W = K * system.inv()  # W (beta^-1 + strictly upper part of K'K) = K
product = sp.eye(3)
for t in range(4):
    product *= sp.eye(3) - betas[t] * K[:, t] * K[:, t].T
show.math(r"(I - \beta_1 k_1 k_1^\top) \cdots (I - \beta_4 k_4 k_4^\top) =", product)
assert system.is_upper and product == sp.eye(3) - W * K.T, "The WY form, step 2: not the product"

# %% [markdown]
# So a chunk of $c$ steps becomes a few large matrix products, just what a GPU is good at. The cell compares the loop, the chunks and the scan of chapter 03 on random numbers:

# %%
from lrnnlab.scans.delta import delta_rule

draw = torch.Generator().manual_seed(10)
B, T, H, d = 2, 100, 1, 8
q, k, v = (torch.randn(B, T, H, d, generator=draw) for _ in range(3))
k = torch.nn.functional.normalize(k, dim=-1)
beta = torch.rand(B, T, H, generator=draw) * 2
by_loop, by_chunk = (
    delta_rule(q, k, v, beta, backend=backend, chunk=32) for backend in ("reference", "chunkwise")
)
A = torch.eye(d) - beta[..., None, None] * k[..., :, None] * k[..., None, :]  # (B, T, 1, d, d)
drive = beta[..., None, None] * v[..., :, None] * k[..., None, :]
drive = drive[:, :, 0]  # (B, T, d, d): row i of W is chain i
W = linear_scan(A.expand(B, T, d, d, d), drive)  # (B, T, row, d)
by_scan = (W @ q[:, :, 0, :, None])[..., 0].unsqueeze(2)
print("loop, chunks and scan agree: "
      f"{all(torch.allclose(by_loop, other, atol=1e-4) for other in (by_chunk, by_scan))}")
print(f"numbers of a transition that must be kept for {T} steps: {T * d * d} as blocks, "
      f"{T * (d + 1)} as k and beta")

# %% [markdown]
# ## 4 Constant transitions
#
# **A constant transition** needs no scan at all. Then $x_t = \sum_s A^{t-s} b_s$ is a convolution, and the FFT computes it in $O(T \log T)$ for all $t$ at once. This is how S4 and DLR run (chapter 05). It works no longer as soon as $A_t$ depends on the input.

# %% tags=["varies", "nbval-ignore-output"]
from lrnnlab.scans.convolution import long_conv, vandermonde

H, N, T = 3, 4, 1000
draw = torch.Generator().manual_seed(11)
log_lambda = torch.complex(
    -0.05 * torch.rand(H, N, generator=draw), 3 * torch.rand(H, N, generator=draw)
)
C = torch.complex(*torch.randn(2, H, N, generator=draw))
u = torch.randn(2, T, H, generator=draw)
y_conv = long_conv(u, vandermonde(log_lambda, C, T))
x = linear_scan(log_lambda.exp().flatten(), u.repeat_interleave(N, 2).to(torch.complex64))
y_scan = (C * x.unflatten(2, (H, N))).sum(-1).real
apart = float((y_conv - y_scan).abs().max() / y_scan.abs().max())
assert apart < 1e-4, "convolution and scan disagree"
print(f"convolution and scan differ by {apart:.0e} of the largest at most")

# %% [markdown]
# ## 5 Which road for which transition
#
# | transition | road | why |
# |---|---|---|
# | the same at every step | convolution | no state need be kept, and the kernel is made once |
# | one of a few ($V$ letters) | token table and loop | $A$ need not be read |
# | diagonal, on a GPU, long strings | tree | no $b^3$, and depth counts |
# | $I - \beta k k^\top$ | chunks | large matrix products in place of a scan |
# | blocks, many chains | compiled loop | the least work; the chains keep every processor busy |
# | blocks, few chains, long strings, very many processors | chunks, then a tree over chunks | here the tree's depth is worth its work |

# %% [markdown]
# ## Exercises
#
# You will find each exercise in its section. Stuck? `hint("03.7")`. Done? Compare with `solution("03.7")`.

# %% [markdown]
# <!-- The exercises of this chapter, listed by lrnnlab book build. -->
#
# 3 exercises, 11 points, about 25 minutes:
#
# | exercise | section | difficulty | minutes | points | you will learn |
# |---|---|---|---|---|---|
# | 7 | [1 A tree with less work](#1-A-tree-with-less-work) | ★★ | 10 | 4 | to count products by induction |
# | 8 | [1 A tree with less work](#1-A-tree-with-less-work) | ★ | 5 | 3 | to predict which products overflow |
# | 9 | [1 A tree with less work](#1-A-tree-with-less-work) | ★★ | 10 | 4 | to test a scan so that a bug shows |
#
# <details><summary>Solution of 03.7</summary>
#
# `lambda n: n - 1`. A level of $n$ nodes makes $\lceil n/2\rceil - 1 \le (n-1)/2$ products, and
# the levels above it, by the induction hypothesis, at most
# $f(\lceil n/2\rceil) = \lceil n/2\rceil - 1 \le (n-1)/2$: together at most $n - 1 = f(n)$. So the tree over
# $T$ steps makes at most $T - 1$ products.
#
# </details>
#
# <details><summary>Solution of 03.8</summary>
#
# At more steps. The tree's up-pass makes the product of 128 twos as well, that of steps 1 to 128:
# infinite in float32, and infinity times the state 0 is no number, so all is lost from step 129 on. PScan
# counts the start as a position, so its groups begin one step earlier, and its first word of 128 twos, $A_{255}\cdots A_{128}$,
# ends at step 255; the states before are right.
# Columns on the simplex never do it: they stay so under products, whose entries are at most 1.
#
# </details>
#
# <details><summary>Solution of 03.9</summary>
#
# Exchange the first two lines of the loop's body. As they stand, $b$ is brought up to date with the *new* $a$, the
# product of both halves, in place of the $a$ of the second half alone. Where all $a_t$ are 1, or all are 0, the product
# is that $a$, so both tests pass. Test a scan on numbers that it cannot pass by luck: random gates, and every $T$ from 1.
#
# </details>
