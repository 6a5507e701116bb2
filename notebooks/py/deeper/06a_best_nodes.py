# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 06a · Best nodes
#
# Which real nodes make a shift with the smallest weights, and why no others? *It takes* about 15 min to read and 10 min for the exercises. Beyond [chapter 06](../06_ill_conditioned_reals.ipynb).

# %% jupyter={"source_hidden": true} tags=["hide-input"]
import math
from fractions import Fraction

import numpy as np
import sympy as sp

import lrnnbook
from lrnnbook import show
from lrnnbook.content.exercises import check, hint, solution
from lrnnbook.content.tables import kernels

lrnnbook.needs("0.1")

# %% [markdown]
# ## 1 The bound is reached
#
# > **Theorem 1.** For $N \ge 2$ nodes in $[0, 1]$ the least $\|w\|_1$ of a one-hot kernel at lag $N-1$ is $2^{2N-3}$, exactly. It is
# > reached at $\lambda_k = \frac12\big(1 - \cos\frac{\pi k}{N-1}\big)$, $k = 0, \dots, N-1$, and only there.
#
# Steps 1 to 3 are in the sitting: $\|w\|_1 \ge |p_{N-1}|$ for every $p$ of degree $N - 1$ within $\pm1$ on $[0, 1]$. Chebyshev's, moved to $[0, 1]$, $T^*(x) = T_{N-1}(2x - 1)$, has the leading coefficient $2^{2N-3}$, and
# $T_n^2 + (1 - x^2)\,U_{n-1}^2 = 1$ (step 2), where $U$ is Chebyshev's polynomial of the second kind.

# %% [markdown]
# **Step 4 (when equality holds).** Nothing is lost in step 1 only if $p(\lambda_i) = \pm 1$ at every node, with the sign of $w_i$. $T^*$ is $\pm 1$ at exactly $N$ places: by step 2 these are $x = \pm1$ and the zeros of
# $U_{N-2}$, which are $N$ different points. All $N$ weights are needed (step 1 of Claim 1). So if any nodes reach the bound, it is these $N$.

# %% tags=["proof-theorem_1_equality"]
X = sp.Symbol("x")
T = [sp.Poly(sp.chebyshevt(n, X), X) for n in range(13)]
U = [sp.Poly(sp.chebyshevu(n, X), X) for n in range(13)]
for n in range(1, 13):
    q = sp.Poly(X**2 - 1, X) * U[n - 1]
    assert q.degree() == n + 1 and q.is_sqf, "Theorem 1, step 4: n + 1 different zeros"
    assert q.count_roots(-1, 1) == n + 1, "Theorem 1, step 4: all of them real and in [-1, 1]"
show.math("T_3^2 - 1 =", sp.factor(T[3].as_expr() ** 2 - 1))

# %% [markdown]
# **Step 5 (the products of differences there).** Let $n = N-1$ and $q = (x^2 - 1)\,U_{n-1}$, whose zeros these are. Its derivative is $q' = x\,U_{n-1} + n\,T_n$: that is $n\,T_n$ at the inner zeros, and at both ends it is $2n\,T_n$. So $q'$ has the sign of $T_n$ at each of
# them. From one simple zero of $q$ to the next the sign of $q'$ changes: $T_n$ is $+1$ and $-1$ there in turn.

# %% tags=["proof-theorem_1_equality"]
for n in range(1, 13):
    q = sp.Poly(X**2 - 1, X) * U[n - 1]
    assert q.diff(X) == sp.Poly(X, X) * U[n - 1] + n * T[n], "Theorem 1, step 5: the derivative"
    assert all(q.diff(X)(end) == 2 * n * T[n](end) for end in (-1, 1)), (
        "Theorem 1, step 5: the ends"
    )
    assert q.LC() == 2 ** (n - 1), "Theorem 1, step 5: in front"
    values = [T[n].eval(math.cos(math.pi * k / n)) for k in range(n + 1)]
    assert all(abs(value - (-1) ** k) < 1e-9 for k, value in enumerate(values)), (
        "Theorem 1, step 5: in turn"
    )
half, slope = sp.Rational(1, 2), (sp.Poly(X**2 - 1, X) * U[2]).diff(X)
for name, polynomial in (("q'", slope), ("T_3", T[3])):
    print(f"n = 3: {name} at -1, -1/2, 1/2, 1 is", [polynomial(y) for y in (-1, -half, half, 1)])

# %% [markdown]
# **Exercise 9** ★★ *(10 min, 4 points: to find the best weights)*
#
# **Step 6 (the weights): this line is yours.** The derivative of $\prod_j (y - y_j)$ at $y_k$ is
# $\prod_{j\ne k}(y_k - y_j)$. With step 5 you know it for the nodes $y_k = -\cos\frac{\pi k}{n}$ on $[-1, 1]$; the
# nodes on $[0, 1]$ are half as far apart. So what is $w_k$, the weight of the $k$-th of the best nodes,
# $k = 0, \dots, N-1$? (As long as `None` stands here the chapter goes on with step 7, which does not need it. The
# second cell adds your sizes up, as Theorem 1 asks.)

# %%
my_weight = None  # exercise 9: a function of N and k, such as lambda N, k: (-1) ** k * N
check("06.9", my_weight)

# %% [markdown]
# <!-- Exercise 06.9: from notebooks/lrnnbook/content/exercises/ch06.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint 1</summary>
#
# The monic polynomial with these zeros is $q/2^{n-1}$.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# Halving $n$ differences divides their product by $2^n$: so $w_k = 2^n \cdot 2^{n-1}/q'(y_k)$.
#
# </details>

# %%
if my_weight is not None:
    for N in range(2, 13):
        total, due = sum(abs(my_weight(N, k)) for k in range(N)), 2 ** (2 * N - 3)
        assert abs(total / due - 1) < 1e-9, (
            f"Theorem 1, step 6: N = {N}: the sizes add up to {total}, not {due}"
        )
    print(f"N = 2 to 12: your sizes add up to 2^(2N-3); for N = {N} to {total:,.0f}")

# %% [markdown]
# **Step 7 (the bound is reached).** For every $N$ it is step 6 that shows this: the sizes of its weights add up to $2^{2N-3}$. Here it is checked without step 6, for $N$ up to 12: the weights at these nodes, solved for exactly (the nodes rounded to 240 binary digits), alternate in sign, and their sizes add up to $2^{2N-3}$, to 30 digits. $\blacksquare$

# %% tags=["proof-theorem_1_equality"]
for N in range(2, 13):
    w = kernels.exact_weights(kernels.chebyshev_nodes(N))
    assert all(a * b < 0 for a, b in zip(w, w[1:])), "Theorem 1, step 7: the signs"
    assert abs(sum(map(abs, w)) / 2 ** (2 * N - 3) - 1) < Fraction(1, 10**30), (
        "Theorem 1, step 7: the sum"
    )
print("N = 12:", " ".join(f"{float(a):,.0f}" for a in w))
print(f"the sizes add up to {float(sum(map(abs, w))):,.0f} = 2^21")

# %% [markdown]
# **Step 8 (a look at other nodes).** Ten random sets of fractions for each $N$: all have a larger $\|w\|_1$. (These are
# samples; that no nodes do better is proved in steps 1 to 3.)

# %% tags=["proof-theorem_1_equality"]
draw, least = np.random.default_rng(0), Fraction(10**9)
for N in [N for N in range(2, 13) for _ in range(10)]:
    nodes = [Fraction(int(a) + 1, 10 * N) for a in draw.choice(10 * N, N, replace=False)]
    least = min(least, sum(map(abs, kernels.exact_weights(nodes))) / 2 ** (2 * N - 3))
assert least > 1, "Theorem 1, step 8: random nodes cost more"
print(f"the best of 110 random sets has {float(least):.3f} times the least norm")

# %% [markdown]
# ### Break a hypothesis: the best nodes, the interval
#
# Take equally spaced nodes in place of the best ones. Step 7 fails:

# %% tags=["proof-theorem_1_equality"]
with show.expect_failure("Theorem 1, step 7"):
    for N in range(2, 13):
        w = kernels.exact_weights([Fraction(k, N - 1) for k in range(N)])
        assert all(a * b < 0 for a, b in zip(w, w[1:])), "Theorem 1, step 7: the signs"
        times = sum(map(abs, w)) / 2 ** (2 * N - 3)
        said = f"for N = {N} the sum is {float(times):.3f} times the least"
        assert abs(times - 1) < Fraction(1, 10**30), f"Theorem 1, step 7: {said}"

# %%
for N in (4, 8, 16, 32):
    even = sum(map(abs, kernels.exact_weights([Fraction(k, N - 1) for k in range(N)])))
    print(f"N = {N:2d}: best 2^{2 * N - 3}, equally spaced 2^{math.log2(even):.1f}")

# %% [markdown]
# *In $[0, 1]$* is needed. On $[0, a]$ the leading coefficient is $2^{2N-3}/a^{N-1}$; with $a = 4$ that is $\frac12$, for every $N$!
# The interval's length over 4 is what counts (its *capacity*). But nodes above 1 are no remedy: the state grows like $4^t$.

# %%
rows = []
for N in (3, 5, 9, 17):
    far = [4 * node for node in kernels.chebyshev_nodes(N)]
    rows.append(
        {
            "N": N,
            "||w||₁, nodes in [0, 1]": kernels.smallest_norm(N, N - 1),
            "nodes in [0, 4]": float(sum(map(abs, kernels.exact_weights(far)))),
            "state of the largest node after N steps": 4**N,
        }
    )
show.table(
    rows, caption="The same shift by N - 1 with small weights, and what it costs instead."
)

# %% [markdown]
# ## 2 Claim 1, two remarks
#
# Step 1 of Claim 1 is about *equal* nodes; nodes that are nearly equal are hardly better. For the nodes $0, \frac12, \frac12 + d$:

# %%
for d in (Fraction(1, 10), Fraction(1, 100), Fraction(1, 1000)):
    total = sum(
        map(abs, kernels.exact_weights([Fraction(0), Fraction(1, 2), Fraction(1, 2) + d]))
    )
    print(f"d = {float(d):5g}: ||w||_1 = {total}")

# %% [markdown]
# The paper's own bound for the product is $(c + o(1))\,2^{-N^2}\sqrt{(N-1)!}\,(8e)^{N/2}N^{3/8}$, with "some fixed $c > 0$". The largest product is known (Fekete's: the nodes are the zeros of
# $(1 - y^2)P'_{N-1}(y)$ on $y = 2\lambda - 1$, with $P$ of Legendre; we take this from the literature), so $c$ can be read off:

# %%
for N in (4, 16, 64):
    inner = np.polynomial.legendre.legroots(np.polynomial.legendre.legder([0] * (N - 1) + [1]))
    nodes = (1 + np.array([-1, *inner, 1])) / 2
    i, j = np.triu_indices(N, 1)
    log_printed = (-(N**2) * math.log(2) + math.lgamma(N) / 2
                   + N / 2 * (math.log(8) + 1) + 3 / 8 * math.log(N))  # fmt: skip
    print(
        f"N = {N:2d}: c is near {math.exp(np.log(np.abs(nodes[i] - nodes[j])).sum() - log_printed):.3f}"
    )

# %% [markdown]
# ## Exercises
#
# You will find each exercise in its section. Stuck? `hint("06.9")`. Done? Compare with `solution("06.9")`.

# %% [markdown]
# <!-- The exercises of this chapter, listed by lrnnlab book build. -->
#
# 1 exercise, 4 points, about 10 minutes:
#
# | exercise | section | difficulty | minutes | points | you will learn |
# |---|---|---|---|---|---|
# | 9 | [1 The bound is reached](#1-The-bound-is-reached) | ★★ | 10 | 4 | to find the best weights |
#
# <details><summary>Solution of 06.9</summary>
#
# `lambda N, k: (-1) ** (N - 1 - k) * 2 ** (2 * N - 3) / (N - 1) / (2 if k in (0, N - 1) else 1)`.
# With $n = N-1$: the monic polynomial with the zeros $y_k$ is $q/2^{n-1}$, so
# $\prod_{j\ne k}(y_k - y_j) = q'(y_k)/2^{n-1}$, which is $\pm n/2^{n-1}$ inside and twice that at the ends; on
# $[0, 1]$ all $n$ differences are halved. So $|w_k| = 2^{2n-1}/n = 2^{2N-3}/(N-1)$ inside, half of it at the
# ends, and the sum of the sizes is $2^{2N-3}\big(\frac{n-1}{n} + \frac{2}{2n}\big)$, exactly $2^{2N-3}$. The
# last node has the sign +, and signs alternate.
#
# </details>
