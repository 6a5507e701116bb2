# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 06b · Every shift
#
# What does each shift cost with real nodes, and which is the most expensive? *It takes* about 25 min to read. Beyond [chapter 06](../06_ill_conditioned_reals.ipynb).

# %% jupyter={"source_hidden": true} tags=["hide-input"]
import math
from fractions import Fraction

import numpy as np
import sympy as sp
from scipy.optimize import linprog

import lrnnbook
from lrnnbook import show
from lrnnbook.content.tables import kernels

lrnnbook.needs("0.1")

# %% [markdown]
# ## 1 Theorem 2
#
# The kernel of nodes $\lambda_i$ and weights $w_i$ is $K_k = \sum_i w_i\,\lambda_i^k$, and $T^*_n(x) = T_n(2x - 1)$ is Chebyshev's polynomial, moved to $[0, 1]$.

# %% [markdown]
# > **Theorem 2.** Let $n = L - 1$. However many nodes in $[0, 1]$ there are, a kernel that is one-hot at $S$ on the lags $0, \dots, L-1$
# > has
# > $$\|w\|_1 \;\ge\; \big|[x^S]\,T^*_n\big| = \frac{n}{n+S}\,4^S\binom{n+S}{2S},$$
# > and $L$ nodes reach it, the same ones for every $S$: the extrema of $T^*_n$.
#
# ($[x^S]\,p$ is the coefficient of $x^S$ in $p$.)
#
# **Step 1 (the coefficients).** For every $n$: since $T_n(\cos t) = \cos nt$, the polynomial $y = T^*_n$ solves $x(1-x)\,y'' + (\frac12 - x)\,y' + n^2 y = 0$ (put $x = \frac12(1 + \cos t)$). Compare the coefficients of $x^S$ on both sides: the coefficient of $x^{S+1}$ in $y$ is $-\frac{n^2 - S^2}{(S+1)(S+\frac12)}$ times that of $x^S$. The closed form grows by the same
# factor, up to the sign, and at $S = 0$ both are $|T_n(-1)| = 1$. **All cases**, with free $n$, $S$ and $t$.

# %% tags=["proof-theorem_2"]
n, S, t = sp.symbols("n S t", positive=True)
x, y = (1 + sp.cos(t)) / 2, sp.cos(n * t)
slope = y.diff(t) / x.diff(t)
bend = slope.diff(t) / x.diff(t)
equation = x * (1 - x) * bend + (sp.Rational(1, 2) - x) * slope + n**2 * y
assert sp.simplify(equation) == 0, "Theorem 2, step 1: the equation"
closed = n / (n + S) * 4**S * sp.gamma(n + S + 1) / sp.gamma(2 * S + 1) / sp.gamma(n - S + 1)
z, half = sp.Symbol("z", positive=True), sp.Rational(1, 2)
factor = (n**2 - S**2) / ((S + 1) * (S + half))
left = [  # the equation's left side for z^S and for z^(S + 1), over z^S
    sp.simplify((z * (1 - z) * p.diff(z, 2) + (half - z) * p.diff(z) + n**2 * p) / z**S)
    for p in (z**S, z ** (S + 1))
]
at_S, above = [sp.expand(side).coeff(z, 0) for side in left]
assert sp.simplify(at_S / above - factor) == 0, "Theorem 2, step 1: the coefficients of x^S"
assert sp.gammasimp(closed.subs(S, S + 1) / closed - factor) == 0, "Theorem 2, step 1: the factor"
assert sp.simplify(closed.subs(S, 0)) == 1, "Theorem 2, step 1: the first coefficient"
show.math(r"\text{from } S \text{ to } S + 1:\ ", sp.factor(factor))


# %% [markdown]
# And it is what SymPy finds in $T^*_n$, for all $S \le n < 13$:

# %% tags=["proof-theorem_2"]
def star(n):
    x = sp.Symbol("x")
    return sp.Poly(sp.chebyshevt(n, 2 * x - 1), x)


def cost(n, S):  # the closed form
    return sp.Rational(n, n + S) * 4**S * sp.binomial(n + S, 2 * S)


for n in range(1, 13):
    assert [abs(star(n).nth(S)) for S in range(n + 1)] == [cost(n, S) for S in range(n + 1)], (
        "Theorem 2, step 1: the coefficients of T*"
    )
print("L = 8:", [cost(7, S) for S in range(8)])

# %% [markdown]
# **Step 2 (the bound).** Step 1 of Theorem 1 holds for any number of nodes: $\sum_i w_i\,p(\lambda_i) = \sum_k p_k K_k = [x^S]\,p$ for $\deg p \le n$. Take $p = T^*_n$, which is within $\pm1$. The cell does it, in fractions, for random kernels of $2L$ nodes (samples): the mean of two exact solutions is a third.

# %% tags=["proof-theorem_2"]
draw = np.random.default_rng(0)
for L, S in [(L, S) for L in range(2, 8) for S in range(L)]:
    nodes = [Fraction(int(a) + 1, 97) for a in draw.choice(97, 2 * L, replace=False)]
    w = [a / 2 for half in (nodes[:L], nodes[L:]) for a in kernels.exact_weights(half, S)]
    values = [
        sum(int(c) * node**k for k, c in enumerate(star(L - 1).all_coeffs()[::-1]))
        for node in nodes
    ]
    paired = sum(a * value for a, value in zip(w, values))
    assert abs(paired) == cost(L - 1, S) and max(map(abs, values)) <= 1, (
        "Theorem 2, step 2: the pairing"
    )
    assert sum(map(abs, w)) >= cost(L - 1, S), "Theorem 2, step 2: the bound"
print(
    f"the last: L = 7, S = 6, 14 nodes: ||w||_1 = {float(sum(map(abs, w))):.3g}, at least {cost(6, 6)}"
)

# %% [markdown]
# **Step 3 (signs).** At the extrema $w_k$ is the coefficient of $x^S$ in $\prod_{j\ne k}(x - \lambda_j) / \prod_{j \ne k}(\lambda_k - \lambda_j)$. As no node is negative, the
# coefficients of the first product alternate in sign, in the same way for every $k$; and the second product alternates with
# $k$, as $T^*_n$ does. So $w_k$ is 0 or has the sign of $T^*_n(\lambda_k)$, up to one sign for all $k$, and nothing is lost in the triangle inequality.

# %% tags=["proof-theorem_2"]
solved = {}
for L, S in [(L, S) for L in range(2, 9) for S in range(L)]:
    nodes = kernels.chebyshev_nodes(L)
    solved[L, S] = w = kernels.exact_weights(nodes, S)
    kernel = [sum(a * node**k for a, node in zip(w, nodes)) for k in range(L)]
    assert kernel == [int(k == S) for k in range(L)], "Theorem 2, step 3: the one-hot"
    assert len({a * (-1) ** k > 0 for k, a in enumerate(w) if a}) == 1, (
        "Theorem 2, step 3: the signs"
    )
print("L = 4, S = 1:", [round(float(a), 6) for a in solved[4, 1]])

# %% [markdown]
# **Step 4 (equality).** So, with $|T^*_n| = 1$ at these nodes, $\sum_k |w_k| = |\sum_k w_k\,T^*_n(\lambda_k)|$, which is the bound. In numbers: to 30 digits, at nodes of 240 binary digits, $L < 9$. $\blacksquare$

# %% tags=["proof-theorem_2"]
for (L, S), w in solved.items():
    assert abs(sum(map(abs, w)) / int(cost(L - 1, S)) - 1) < Fraction(1, 10**30), (
        "Theorem 2, step 4: the sizes add up to the bound"
    )
print(f"{len(solved)} pairs (L, S): ||w||_1 is the coefficient")


# %% [markdown]
# **Step 5 (a second opinion).** A linear programme that has never heard of Chebyshev finds the same numbers (in floats; it chooses among 401 nodes on a grid, which misses the best nodes by a little).

# %% tags=["proof-theorem_2"]
def least_norm(nodes, target):
    """The least ||w||_1 of the kernel ``target``; w is its positive part minus its negative part."""
    table = nodes ** np.arange(len(target))[:, None]
    return linprog(np.ones(2 * len(nodes)), A_eq=np.hstack([table, -table]), b_eq=target).fun


L, grid = 7, np.linspace(0, 1, 401)
programme = [least_norm(grid, np.eye(L)[S]) for S in range(L)]
for S in range(L):
    assert 1 - 1e-6 < programme[S] / cost(L - 1, S) < 1 + 5e-3, (
        "Theorem 2, step 5: the programme finds the same price"
    )

# %% jupyter={"source_hidden": true} tags=["hide-input"]
show.table(
    [
        {"S": S, "linear programme": price, "closed form": int(cost(6, S))}
        for S, price in enumerate(programme)
    ],
    caption="L = 7: the least ||w||₁, to whole numbers.",
    formats={"linear programme": ",.0f", "closed form": ","},
)

# %% [markdown]
# (This is duality of linear programming: the weights are a solution, the polynomial is its certificate.) **Break it.** Is the price of a shift by $S$ simply $4^S$, whatever the length?

# %% tags=["proof-theorem_2"]
with show.expect_failure("Theorem 2, step 1"):
    for n in range(1, 13):
        assert [abs(star(n).nth(S)) for S in range(n + 1)] == [4**S for S in range(n + 1)], (
            "Theorem 2, step 1: 4^S"
        )

# %% [markdown]
# Now the case of the experiment, $L = 256$. The seven shifts of Table 2 other than 0, whatever $N$ is:

# %%
rows = [
    {
        "interval": name,
        **{
            f"{j} L/8": f"10^{math.log10(kernels.smallest_norm(256, 32 * j, name)):.1f}"
            for j in range(1, 8)
        },
    }
    for name in kernels.INTERVALS
]
show.table(
    rows, caption="L = 256: the least ||w||₁ of an exact shift. float32 ends at 10^38.5."
)

# %% [markdown]
# ## 2 The most expensive shift
#
# Which shift is the most expensive (exercise 6 of the sitting)?
#
# **Step 1 (from one shift to the next).** From $S$ to $S + 1$ the price is multiplied by $4(n+S)(n-S)/((2S+1)(2S+2))$. For large $n$ this is 1
# where $n^2 - S^2 = S^2$: at $S = n/\sqrt2$, *not* at the end that Claim 1 looks at.

# %% tags=["proof-most_expensive"]
n, S = sp.symbols("n S", positive=True)
price = n / (n + S) * 4**S * sp.gamma(n + S + 1) / sp.gamma(2 * S + 1) / sp.gamma(n - S + 1)
ratio = 4 * (n + S) * (n - S) / ((2 * S + 1) * (2 * S + 2))
assert sp.gammasimp(price.subs(S, S + 1) / price - ratio) == 0, (
    "The most expensive shift, step 1: the ratio"
)
assert sp.simplify(sp.limit(ratio.subs(S, n / sp.sqrt(2)), n, sp.oo)) == 1, (
    "The most expensive shift, step 1: its limit"
)
show.math(r"\text{from } S \text{ to } S + 1:\ ", sp.factor(ratio))

# %% [markdown]
# **Step 2 (where the top is).** Within 1 of $n/\sqrt2$, for every $n < 60$ (each one computed).

# %% tags=["proof-most_expensive"]
for n in range(1, 60):
    prices = [kernels.smallest_norm(n + 1, S) for S in range(n + 1)]
    assert abs(prices.index(max(prices)) - n / math.sqrt(2)) < 1, (
        "The most expensive shift, step 2: it is near n / sqrt(2)"
    )
prices = [kernels.smallest_norm(256, S) for S in range(256)]
print(
    f"L = 256: most expensive S = {prices.index(max(prices))}, n/sqrt 2 = {255 / math.sqrt(2):.1f}, "
    f"least ||w||_1 = 10^{math.log10(max(prices)):.1f}"
)

# %% [markdown]
# **Step 3 (how high it is).** All prices together are $|T^*_n(-1)| = T_n(3)$, as the coefficients of $T^*_n$ alternate in sign (step 1 of Theorem 2); and $T_n(3) \approx \frac12(3 + 2\sqrt2)^n$. The largest lies between their mean and their sum. So the price of the most expensive shift grows like $(3 + 2\sqrt2)^n = 5.83^n$, up to a factor of at most $2(n + 1)$, and not like $4^n$. (The cell has $n < 60$.)

# %% tags=["proof-most_expensive"]
before, now = 1, 3  # T_0(3) and T_1(3); then T_{n+1} = 2 * 3 * T_n - T_{n-1}
for n in range(1, 60):
    prices = [kernels.smallest_norm(n + 1, S) for S in range(n + 1)]
    assert sum(prices) == now <= (n + 1) * max(prices), "The most expensive shift, step 3: the sum"
    assert abs(2 * now / (3 + 2 * math.sqrt(2)) ** n - 1) < 1 / 30**n + 1e-12, (
        "The most expensive shift, step 3: its size"
    )
    before, now = now, 6 * now - before
print(
    f"n = 59: the most expensive costs 10^{math.log10(max(prices)):.1f}, "
    f"all together 10^{math.log10(before):.1f}"
)

# %% [markdown]
# ## 3 Break a hypothesis: not positive
#
# With nodes in $[-1, 1]$ the certificate is $T_m$ itself, where $m$ is $n$ or $n-1$, whichever has the parity of $S$ (the other one has no $x^S$).
#
# **Step 1 (the coefficients).** `smallest_norm` is the coefficient of $x^S$ in $T_m$, and no $T$ of degree up to $n$ has a larger one ($L < 13$).

# %% tags=["proof-both_signs"]
y = sp.Symbol("y")
for L, S in [(L, S) for L in range(2, 13) for S in range(L)]:
    m = L - 1 if (L - 1 - S) % 2 == 0 else L - 2
    among = [abs(sp.Poly(sp.chebyshevt(degree, y), y).nth(S)) for degree in range(L)]
    assert kernels.smallest_norm(L, S, "[-1,1]") == among[m] == max(among), (
        "Both signs, step 1: the largest coefficient is that of T_m"
    )
print("L = 8:", [kernels.smallest_norm(8, S, "[-1,1]") for S in range(8)])

# %% [markdown]
# **Step 2 (it is reached).** At the extrema of $T_m$ (to 240 binary digits) the exact weights make the one-hot, and their sizes add up to the coefficient (computed for all $S$ and $L < 9$). The bound itself is step 2 of Theorem 2, word for word: $|T_m| \le 1$ on $[-1, 1]$.

# %% tags=["proof-both_signs"]
for L, S in [(L, S) for L in range(2, 9) for S in range(L)]:
    nodes = kernels.extremal_nodes(L, S, "[-1,1]")
    w = kernels.exact_weights(nodes, S)
    kernel = [sum(a * node**k for a, node in zip(w, nodes)) for k in range(L)]
    assert kernel == [int(k == S) for k in range(L)], "Both signs, step 2: the one-hot"
    norm = sum(map(abs, w)) / kernels.smallest_norm(L, S, "[-1,1]")
    assert abs(norm - 1) < Fraction(1, 10**30), "Both signs, step 2: the norm"
grid = np.linspace(-1, 1, 401)
for S in range(6):  # and the linear programme, in floats
    table = grid ** np.arange(6)[:, None]
    found = linprog(np.ones(802), A_eq=np.hstack([table, -table]), b_eq=np.eye(6)[S]).fun
    assert abs(found / kernels.smallest_norm(6, S, "[-1,1]") - 1) < 2e-3, (
        "Both signs, step 2: the programme"
    )
print("equal for every S and L < 9; the linear programme agrees at L = 6")

# %% [markdown]
# **Step 3 (still exponential).** The last lag, $L - 1$, costs $2^{L-2}$; and the sizes of all coefficients of $T_n$ together are $\frac12\big((1+\sqrt2)^n + (1-\sqrt2)^n\big)$, so the price of the most expensive shift grows like $(1 + \sqrt2)^L = 2.41^L$.

# %% tags=["proof-both_signs"]
root = sp.sqrt(2)
for n in range(2, 13):
    together = sum(abs(c) for c in sp.Poly(sp.chebyshevt(n, y), y).all_coeffs())
    assert sp.expand(((1 + root) ** n + (1 - root) ** n) / 2 - together) == 0, (
        "Both signs, step 3: the sum"
    )
    assert kernels.smallest_norm(n + 1, n, "[-1,1]") == 2 ** (n - 1), (
        "Both signs, step 3: the last lag"
    )
highest = max(kernels.smallest_norm(13, S, "[-1,1]") for S in range(13))
print(f"L = 13: the last lag costs {2**11}, the most expensive {highest}")
