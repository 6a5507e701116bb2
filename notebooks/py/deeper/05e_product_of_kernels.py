# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 05e · The product of two kernels
#
# DLR-prod multiplies the real part of a kernel by its imaginary part. How many modes does the product have? *It takes* about 20 min to read and 15 min for the exercises. Read [chapter 05](../05_diagonal_kernels.ipynb) first.

# %% jupyter={"source_hidden": true} tags=["hide-input"]
import numpy as np
import sympy as sp

import lrnnbook
from lrnnbook import show
from lrnnbook.content.chapters import ch05
from lrnnbook.content.exercises import check, hint, solution
from lrnnbook.content.show.widgets import explore
from lrnnbook.content.tables import kernels

lrnnbook.needs("0.1")

# %% [markdown]
# ## 1 How many modes does a product have?
#
# A DLR (diagonal linear RNN) is $x_k = \mathrm{diag}(\Lambda)\,x_{k-1} + \mathbf 1\cdot u_k$, $y_k = \langle w, x_k\rangle$. Its kernel is $K_j = \sum_n w_n\lambda_n^{\,j}$, of which a layer keeps the real part.
#
# > **The paper, section 2.1.** DLR-prod uses $\mathrm{Re}(K_k)\cdot\mathrm{Im}(K_k)$. "In §A.2 we prove that this kernel corresponds to the kernel of a DLR of size at most $4N^2$ and generalize this to define the Kronecker product of DLRs".
#
# **Step 1 (Kronecker).** $\big(\sum_m w_m\lambda_m^{\,k}\big)\big(\sum_n w'_n\lambda_n'^{\,k}\big) = \sum_{m,n} w_m w'_n\,(\lambda_m\lambda'_n)^k$: the product of two kernels is a kernel, with $MN$ modes.

# %% tags=["proof-kronecker"]
nodes_m, v = sp.symbols("lambda1:4"), sp.symbols("w1:4")  # M = 3 modes
nodes_n, q = sp.symbols("lambda'1:3"), sp.symbols("w'1:3")  # and N = 2
pairs = [(m, n) for m in range(3) for n in range(2)]
for k in range(6):
    longer = sum(v[m] * nodes_m[m] ** k for m in range(3))
    shorter = sum(q[n] * nodes_n[n] ** k for n in range(2))
    listed = sum(v[m] * q[n] * (nodes_m[m] * nodes_n[n]) ** k for m, n in pairs)
    assert sp.expand(longer * shorter - listed) == 0, (
        "Kronecker, step 1: the product"
    )
primes = [kernels.gaussian(*pair) for pair in ((2, 1), (3, 2), (4, 1), (5, 2), (6, 1))]
values = [
    x * y
    for x, y in zip(
        kernels.kernel(primes[:3], [1, 2, 3], 13), kernels.kernel(primes[3:], [1, -1], 13)
    )
]
assert kernels.hankel_rank(values, 7) == 6, "Kronecker, step 1: the size is needed"
print("M = 3, N = 2: 6 modes; the Hankel rank of an example is", kernels.hankel_rank(values, 7))

# %% [markdown]
# The example has Gaussian primes for nodes, $2 + \mathrm i, 3 + 2\mathrm i, \dots$: their factors are unique, so no two products coincide. So $MN$ modes can be necessary.
#
# **Break it.** The paper's first sum runs to $N$; it must run to $M$:

# %% tags=["proof-kronecker"]
with show.expect_failure("Kronecker, step 1"):
    product = sum(v[m] * nodes_m[m] for m in range(3)) * sum(q[n] * nodes_n[n] for n in range(2))
    printed = sum(v[m] * q[n] * nodes_m[m] * nodes_n[n] for m in range(2) for n in range(2))
    assert sp.expand(product - printed) == 0, (
        f"Kronecker, step 1: {sp.expand(product - printed)} is missing"
    )

# %% [markdown]
# **Step 2 (the paper's count).** $\mathrm{Re}\,K = \frac12(K + \bar K)$ and $\mathrm{Im}\,K = \frac1{2i}(K - \bar K)$ have $2N$ modes each, so step 1 gives $4N^2$. But
#
# $$\mathrm{Re}\,K\;\mathrm{Im}\,K = \tfrac1{4i}(K + \bar K)(K - \bar K) = \tfrac1{4i}(K^2 - \bar K^2) = \tfrac12\,\mathrm{Im}\,K^2 .$$
#
# The cell writes $a_n$ for $w_n\lambda_n^k$ and $b_n$ for its conjugate; what holds for these symbols holds for every $k$.

# %% tags=["proof-dlr_prod"]
z = sp.Symbol("z")
assert sp.expand_complex(sp.re(z) * sp.im(z) - sp.im(z**2) / 2) == 0, (
    "DLR-prod, step 2: the identity"
)
for N in (1, 2, 3, 4):
    a, b = sp.symbols(f"a1:{N + 1}"), sp.symbols(f"b1:{N + 1}")
    minus = [-bar for bar in b]
    listed = [x * y for x in (*a, *b) for y in (*a, *minus)]  # the paper's terms, one by one
    assert len(listed) == 4 * N**2, "DLR-prod, step 2: the count"
    assert sp.expand((sum(a) + sum(b)) * (sum(a) - sum(b)) - sum(listed)) == 0, (
        "DLR-prod, step 2: the terms"
    )
print("N = 4:", len(listed), "terms")

# %% [markdown]
# **Step 3 (half of them cancel).** All mixed terms $\lambda_m\bar\lambda_n$, $2N^2$ of them, add up to 0: $(m, n)$ has the opposite sign of $(n, m)$.
#
# **Step 4 (pairs).** In $K^2$ the pairs $(m,n)$ and $(n,m)$ give the same mode: $N(N+1)/2$ are left, and with the
# mirror images $N(N+1)$.

# %% tags=["proof-dlr_prod"]
for N in (1, 2, 3, 4):
    a, b = sp.symbols(f"a1:{N + 1}"), sp.symbols(f"b1:{N + 1}")
    left = sp.Poly((sum(a) + sum(b)) * (sum(a) - sum(b)), *a, *b).as_dict()
    mixed = [powers for powers in left if sum(powers[:N]) == 1]
    assert not mixed, "DLR-prod, step 3: the mixed terms cancel"
    assert (
        len(left) == N * (N + 1)
        and sum(sum(powers[:N]) == 2 for powers in left) == N * (N + 1) // 2
    ), "DLR-prod, step 4: N (N + 1) modes are left"
print("N = 4:", len(left), "modes")

# %% [markdown]
# **Step 5 (no fewer).** Take Gaussian primes for nodes. Up to a unit ($\pm 1, \pm\mathrm i$), no two may be equal, and none may be the conjugate of any of them. Then the $N(N+1)$ modes of step 4 are different, since factors are unique, and their weights are not 0; so the Hankel rank is $N(N+1)$, and no smaller DLR has this kernel. **$N = 1, 2, 3$.** The same holds for almost all nodes and weights. The rank is full where a determinant is not 0. This is a polynomial in their real and imaginary parts, and a polynomial that is not 0 everywhere is 0 on a set of measure 0 only.

# %% tags=["proof-dlr_prod"]
for N in (1, 2, 3):
    nodes = [kernels.gaussian(*pair) for pair in ((2, 1), (3, 2), (4, 1))][:N]
    w = [kernels.gaussian(*pair) for pair in ((1, 2), (3, -1), (2, 3))][:N]
    K = kernels.kernel(nodes, w, 2 * N * (N + 1) + 2)
    found = kernels.hankel_rank([value.x * value.y for value in K], N * (N + 1) + 1)
    assert found == N * (N + 1), f"DLR-prod, step 5: the rank is {found}"
print("N = 3: rank", found, "instead of", 4 * 3**2)

# %% [markdown]
# **Exercise 12** ★★ *(10 min, 4 points: to share weights among products)*
#
# **Step 6 (with the cast to reals): this line is yours.** If only the real part of the kernel counts, the mirror
# images come for free, and the $N(N+1)/2$ modes $\lambda_m\lambda_n$ with $m \le n$ are enough. With which weights?
# Write the function of $w_m$, $w_n$ and of whether $m = n$.

# %%
my_weight = None  # a function of (w_m, w_n, same), same is True where m = n
if my_weight is not None:
    lam, w = np.array([0.9j, 0.5 + 0.5j]), np.array([1 + 2j, 3 - 1j])
    pairs = [(0, 0), (0, 1), (1, 1)]
    for k in range(9):
        made = sum(
            my_weight(w[m], w[n], m == n) * (lam[m] * lam[n]) ** k for m, n in pairs
        ).real
        assert abs(made - (w @ lam**k).real * (w @ lam**k).imag) < 1e-12, (
            "DLR-prod, step 6: the product of both kernels"
        )
check("05.12", my_weight)

# %% [markdown]
# <!-- Exercise 05.12: from notebooks/lrnnbook/content/exercises/ch05.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint 1</summary>
#
# Use that $\mathrm{Im}\,z = \mathrm{Re}(-\mathrm i z)$.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# How often does $\lambda_m\lambda_n$ occur in $K^2$?
#
# </details>

# %% [markdown]
# (Fewer are not enough: $n$ modes with the cast have rank $2n$ at most, and the rank is $N(N+1)$.)
#
# > **The corrected statement.** DLR-prod is a DLR of size $N(N+1)$, and of size $N(N+1)/2$ with the paper's own cast. For almost all modes no smaller one has its kernel.
#
# **Break it.** With the paper's count step 5 fails:

# %% tags=["proof-dlr_prod"]
with show.expect_failure("DLR-prod, step 5"):
    assert found == 4 * 3**2, f"DLR-prod, step 5: the rank is {found}"

# %% [markdown]
# For $N = 4096$ these are 16.8 million modes instead of 67 million, and 8.4 million with the cast. And **at the start the product has
# no more modes than the DLR itself**.
#
# **Step 1 (products stay on the grid).** A product of two $N$-th roots of unity is an $N$-th root of unity, so there are $N$ products only.
#
# **Step 2 (the rank).** So the rank is at most $N$. **$N = 4$.**

# %% tags=["proof-on_grid"]
for N in range(1, 30):
    assert len({(m + n) % N for m in range(N) for n in range(N)}) == N, (
        "On the grid, step 1: there are N products only"
    )
i, four_weights = (
    kernels.gaussian(0, 1),
    [kernels.gaussian(*pair) for pair in ((1, 2), (3, -1), (2, 3), (4, 1))],
)
on_grid = [i**n for n in range(4)]
assert len({x * y for x in on_grid for y in on_grid}) == 4, "On the grid, step 1: N = 4"


def product_rank(nodes):
    K = kernels.kernel(nodes, four_weights, 41)
    return kernels.hankel_rank([value.x * value.y for value in K], 21)


assert product_rank(on_grid) <= 4, "On the grid, step 2: the rank is N at most"
print("N = 4 on the grid: rank", product_rank(on_grid))

# %% [markdown]
# **Break it.** Only training moves the modes apart. Off the grid (each root times another Gaussian prime) the rank is $N(N+1) = 20$:

# %% tags=["proof-on_grid"]
off_grid = [
    node * kernels.gaussian(*pair)
    for node, pair in zip(on_grid, ((2, 1), (3, 2), (4, 1), (5, 2)))
]
with show.expect_failure("On the grid, step 2"):
    assert product_rank(off_grid) <= 4, f"On the grid, step 2: the rank is {product_rank(off_grid)}"

# %% jupyter={"source_hidden": true} tags=["hide-input", "nbval-ignore-output"]
product_opens = {"N": 3, "modes": "off the grid"}
show.figure(
    ch05.product_modes(**product_opens),
    alt="Forty singular values on a logarithmic axis. The first 12 are between 0.3 and 1; "
        "from the 13th on they are at rounding level. There are lines at 12 and at 36.",
    caption="What to see: the cliff is at N(N+1), not at 4N².",
)  # fmt: skip

# %% jupyter={"source_hidden": true} tags=["hide-input", "nbval-ignore-output"]
product_widget = explore(
    ch05.product_modes,
    {"N": [1, 2, 3, 4], "modes": list(ch05.STARTS)},
    initial=product_opens,
    sentence=ch05.product_sentence,
    alt="Singular values of the Hankel matrix of the product of real and imaginary part.",
)
product_widget

# %% [markdown]
# **Exercise 13** ★ *(5 min, 3 points: to see where a bound is wasteful)* **A proof step.** Deduce $4N^2$ from the Kronecker
# product, and say in one sentence where it is wasteful.

# %% [markdown]
# <!-- Exercise 05.13: from notebooks/lrnnbook/content/exercises/ch05.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint 1</summary>
#
# A product of two sums of modes is a sum over pairs of modes.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# How many modes has $\mathrm{Re}\,K$, with the mirror images?
#
# </details>

# %% [markdown]
# ## 2 Which shifts it can make
#
# Does DLR-prod have enough modes for the paper's Shift task? It has $N(N+1)$, plenty for every shift of the paper's table. But its weights are not free: they come from only $2N$ numbers. So we construct weights that work. Take as modes the $n_1$-th and the $n_2$-th roots of unity, $n_1 + n_2 = N$ without a common factor, and weights such that $\mathrm{Re}\,K$ is 1 at the lags $S + n_1\mathbb Z$ and $\mathrm{Im}\,K$ at $S + n_2\mathbb Z$, both 0 elsewhere. **Their product is 1 at $S + n_1 n_2\mathbb Z$ only**: the modes are the same for all $S$, and the period is near $N^2/4$. With $2047 + 2049 = 4096$ it is $2^{22} - 1$, so at the paper's sizes DLR-prod can make *every* shift exactly. That it scores .78 at $2^{20}$ has another reason.

# %% tags=["proof-prod_shifts"]
N, L = 16, 63
ways = [np.exp(2j * np.pi * np.arange(n) / n) for n in (7, 9)]  # 7 + 9 = N, 7 * 9 = L
for S in range(L):
    w = np.concatenate([factor * nodes ** -float(S) / len(nodes) for factor, nodes in zip((1, 1j), ways)])
    K = (w * np.concatenate(ways) ** np.arange(L)[:, None]).sum(1)
    assert np.allclose(K.real * K.imag, np.eye(L)[S], atol=1e-12), (
        "Shifts by DLR-prod, step 1: the product is the one-hot"
    )
print(f"{N} modes of DLR-prod make all {L} shifts on {L} lags")

# %% [markdown]
# ## Exercises
#
# You will find each exercise in its section. Stuck? `hint("05.12")`. Done? Compare with `solution("05.12")`.

# %% [markdown]
# <!-- The exercises of this chapter, listed by lrnnlab book build. -->
#
# 2 exercises, 7 points, about 15 minutes:
#
# | exercise | section | difficulty | minutes | points | you will learn |
# |---|---|---|---|---|---|
# | 12 | [1 How many modes does a product have?](#1-How-many-modes-does-a-product-have?) | ★★ | 10 | 4 | to share weights among products |
# | 13 | [1 How many modes does a product have?](#1-How-many-modes-does-a-product-have?) | ★ | 5 | 3 | to see where a bound is wasteful |
#
# <details><summary>Solution of 05.12</summary>
#
# `lambda w_m, w_n, same: -0.5j * (1 if same else 2) * w_m * w_n`:
# $\frac12\,\mathrm{Im}\,K^2 = \mathrm{Re}\big(-\frac{\mathrm i}2 K^2\big)$, and in $K^2$ the mode
# $\lambda_m\lambda_n$ occurs once for $m = n$ and twice for $m < n$.
#
# </details>
#
# <details><summary>Solution of 05.13</summary>
#
# $\mathrm{Re}\,K$ and $\mathrm{Im}\,K$ are DLRs of size $2N$ (the modes and their mirror images),
# so their product is one of size $2N \cdot 2N$. Both have the *same* modes, so most products come twice, and
# the mixed ones cancel.
#
# </details>
