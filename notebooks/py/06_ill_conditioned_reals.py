# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 06 · Ill-conditioned reals
#
# **What we ask.** The diagonal linear RNN of chapter 05 has complex eigenvalues. Does it need them? Paper 004 (Gupta, Mehta
# and Berant, 2022) trains a version with real ones, DLR-ℝ, sees it fail to shift 256 numbers, and explains this by a claim:
# the weights of an exact shift grow exponentially. We put the claim right, find the exact value, extend it to every shift
# and any number of modes, watch float32 and float64 give out where it says, and train both models.
#
# *You need:* matrices, polynomials, and section 1 of chapter 05. *It takes* about an hour to read, and less than a minute of
# computing.

# %%
from fractions import Fraction
from math import exp, log, log2, log10

import numpy as np
import torch
from scipy.optimize import linprog

import lrnnlab
from lrnnlab import records
from lrnnlab.course import check, hint, predict, solution
from lrnnlab.tables import dlr_table2, plan
from lrnnlab import show
from lrnnlab.show.conditioning_figures import (
    exact_shifts,
    extremal_proof,
    learned_kernels,
    shift_costs,
)
from lrnnlab.show.conditioning_widgets import (
    LAMBDAS,
    LENGTHS,
    MODES,
    PERCENTS,
    cost_picture,
    cost_sentence,
    float_kernels,
    float_sentence,
    sum_picture,
    sum_sentence,
)
from lrnnlab.show.proof_widgets import steps
from lrnnlab.show.shift_figures import shift_by_length
from lrnnlab.show.widgets import explore
from lrnnlab.algebra.circle_modes import power_table
from lrnnlab.algebra.float_limits import (
    DIGITS,
    breaking_point,
    running_sum,
    running_sums,
    shifts_in_floats,
)
from lrnnlab.algebra.ill_conditioning import (
    chebyshev_nodes,
    claim_1,
    corrected_formula,
    determinant_gap,
    exact_minimum,
    exact_weights,
    printed_formula,
)
from lrnnlab.algebra.kernel_fits import best_fit, families
from lrnnlab.algebra.modes import kernel
from lrnnlab.algebra.shift_norms import (
    INTERVALS,
    circle_shift,
    every_shift,
    least_weights,
    smallest_norm,
    worst_growth,
    worst_shift,
)
from lrnnlab.algebra.shifts import shift_criterion, shift_table
from lrnnlab.training.steady import steady_arithmetic
from lrnnlab.tasks.atomic import Shift
from lrnnlab.tasks.atomic_levels import shift_level, trivial_level

EXPECTED = "0.1"
if not lrnnlab.__version__.startswith(EXPECTED):
    raise RuntimeError(
        f"this notebook needs lrnnlab {EXPECTED}, here is {lrnnlab.__version__}: run "
        "bootstrap.py"
    )
print(f"lrnnlab {EXPECTED}: ready")

# %% [markdown]
# ## 1 A shift is a one-hot kernel
#
# A DLR with nodes $\lambda_1, \dots, \lambda_N$ and weights $w_1, \dots, w_N$ is a convolution, $y = K * u$, with the kernel
#
# $$K_k = \sum_{i=1}^N w_i\,\lambda_i^k, \qquad k = 0, \dots, L-1.$$
#
# To move the input by $S$ places, $y_k = u_{k-S}$, the kernel must be **one-hot**: 1 at lag $S$ and 0 at the others. For given
# nodes this is a linear system for $w$. In DLR-ℝ nodes are in $(0, 1]$ and weights are real.
#
# > **The paper, section 3.3.** "While this version managed to give an $R^2$ score of 1 on CumSum, it scored 0 on Select-Fixed
# > and, as shown in Table 2, failed on Shift with lengths as short as 256. This suggests that methods such as EMA, based on
# > diagonal state spaces with purely-real parameterizations are incapable of modeling even short arbitrary kernels and we
# > formally prove this in §A.4."
#
# Here is the best that double precision finds, with as many modes as lags, $N = L = 32$:

# %% tags=["nbval-ignore-output"]
L = 32
kinds = families(L)
rows = []
for S in (1, 4, 8, 16):
    fits = {
        name: best_fit(kinds[name], np.eye(L)[S])
        for name in ("real, (0,1]", "real, [-1,1]", "circle (DFT)")
    }
    rows.append(
        {
            "S": S,
            **{
                name: f"{fit.error:.1f}, 10^{max(round(log10(fit.norm)), 0)}"
                for name, fit in fits.items()
            },
        }
    )
show.table(
    rows,
    caption="Error of the best one-hot kernel as a share of its norm, and the size of ||w||₁ "
            "= sum of |w_i|.",
)

# %% [markdown]
# The nodes on the circle need weights that add up to 1. Real ones need huge weights already for small $S$, and from some
# $S$ on double precision finds none. But 32 different nodes always have *exact* weights. How large are they?
#
# ## 2 Claim 1, put right
#
# > **The paper, Claim 1.** Let $\mathbf 1_N$ "denote the one-hot vector with 1 at position $N$. Let $P \in \mathbb R^{N\times N}$
# > with $P_{ij} = \lambda_i^j$ be a $N \times N$ Vandermonde matrix with each $\lambda_i \in [0,1]$. If $\mathbf 1_N = wP$ for
# > $w \in \mathbb R^N$, then $\|w\|_\infty \ge 2^{2N - O(\log N)}$."
#
# **Step 1 (nodes differ).** With $r < N$ different nodes the first $r$ lags ask for $w = 0$, and the last lag for 1. So all
# $N$ nodes differ, $P$ is invertible, and there is one $w$.
#
# **Step 2 (the weights).** If $\sum_i w_i \lambda_i^k$ is 0 for $k < N-1$ and 1 for $k = N-1$, then $\sum_i w_i\,p(\lambda_i)$ is
# the leading coefficient of $p$, for every polynomial $p$ of degree $N-1$. Take $p = \prod_{j \ne i}(x - \lambda_j)$, which is 0
# at all nodes but $\lambda_i$:
#
# $$w_i = \frac{1}{\prod_{j \ne i} (\lambda_i - \lambda_j)}. \qquad\text{The paper prints}\quad \frac{-1}{\prod_{j\ne i}(\lambda_j - \lambda_i)}.$$
#
# There are $N-1$ factors to turn around, so the printed sign is right for even $N$ only. And the one-hot is at lag $N-1$, the
# last of $0, \dots, N-1$: "position $N$" of a table with columns $0, \dots, N-1$ does not exist.
#
# **Step 3 (the largest is at least the geometric mean).** In $\prod_i |w_i|$ every pair of nodes stands twice, so
#
# $$\|w\|_\infty \;\ge\; \Big(\prod_i |w_i|\Big)^{1/N} = \Big(\prod_{i<j} |\lambda_i - \lambda_j|\Big)^{-2/N}.$$
#
# **Step 4 (the determinant is small).** On $[0, 1]$ that product is at most $2^{-N^2 + O(N \log N)}$; take the power $-2/N$.
# $\blacksquare$
#
# Three nodes by hand: $0, \frac12, 1$, and the shift by 2.

# %%
three = [Fraction(0), Fraction(1, 2), Fraction(1)]
for name, weights in (
    ("solved exactly", exact_weights(three)),
    ("1/prod (node - other)", corrected_formula(three)),
    ("as printed", printed_formula(three)),
):
    shown = ", ".join(str(w) for w in weights)
    print(
        f"{name:22s} w = {shown:9s}  kernel "
        f"{', '.join(str(tap) for tap in kernel(three, weights, 3))}"
    )

# %%
steps(claim_1())

# %% [markdown]
# ### Break a hypothesis: the formula, the index
#
# The printed formula, and the one-hot at "position $N$" taken literally (columns $1, \dots, N$):

# %%
steps(claim_1(formula=printed_formula))
steps(claim_1(first=1))

# %% [markdown]
# Step 1 is about *equal* nodes; nodes that are nearly equal are no better. Of $0, \frac12, \frac12 + d$:

# %%
for d in (Fraction(1, 10), Fraction(1, 100), Fraction(1, 1000)):
    total = sum(map(abs, exact_weights([Fraction(0), Fraction(1, 2), Fraction(1, 2) + d])))
    print(f"d = {float(d):5g}: ||w||_1 = {total}")

# %% [markdown]
# Step 4 quotes $\prod_{i<j}|\lambda_i - \lambda_j| \le (c + o(1))\,2^{-N^2}\sqrt{(N-1)!}\,(8e)^{N/2}N^{3/8}$ and leaves $c$ open. The
# largest product is known (at the zeros of $(1 - y^2)P'_{N-1}(y)$, with $P$ of Legendre), so $c$ can be read off:

# %%
gaps = {N: determinant_gap(N) for N in (4, 16, 64)}
print(
    "; ".join(
        f"N = {N}: ratio to the printed formula {exp(gap):.3f}" for N, gap in gaps.items()
    )
)

# %% [markdown]
# So the claim is right but for a sign and an index. It says little in numbers, though: what is hidden in $O(\log N)$?
#
# ## 3 The exact value
#
# > **Theorem 1.** For $N \ge 2$ nodes in $[0, 1]$ the least $\|w\|_1$ of a one-hot kernel at lag $N-1$ is $2^{2N-3}$, exactly. It is
# > reached at $\lambda_k = \frac12\big(1 - \cos\frac{\pi k}{N-1}\big)$, $k = 0, \dots, N-1$, and only there. So $\|w\|_\infty \ge 2^{2N-3}/N$: there is no $O(\log N)$ to find but $\log_2 N + 3$.
#
# *Proof.* By step 2 above, $\sum_i w_i\,p(\lambda_i) = [x^{N-1}]\,p$ for every $p$ of degree below $N$ (the bracket is the
# coefficient). So for every $p$ that stays within $\pm 1$ on $[0, 1]$
#
# $$\|w\|_1 \;\ge\; \Big|\sum_i w_i\,p(\lambda_i)\Big| \;=\; \big|[x^{N-1}]\,p\big| .$$
#
# Which polynomial within $\pm1$ has the largest leading coefficient? Chebyshev's, $T_{N-1}$, moved to $[0, 1]$:
# $T^*(x) = T_{N-1}(2x - 1)$. $T_n$ begins with $2^{n-1}x^n$, so $T^*$ begins with $2^{N-2}\cdot 2^{N-1} = 2^{2N-3}$. That is the
# bound. Equality asks for $p(\lambda_i) = \pm 1$ with the sign of $w_i$. $T^*$ is $\pm 1$ at $N$ places only, with alternating
# sign; and $w_i = 1/\prod_{j\ne i}(\lambda_i - \lambda_j)$ alternates too, because from one node to the next one more factor is
# negative. $\blacksquare$

# %%
show.figure(
    extremal_proof(7),
    alt="Left: the Chebyshev polynomial of degree 6 on the interval from 0 to 1; it touches "
        "plus one at four places and minus one at three. Right: the weights at these seven "
        "places, alternating in sign: 341 inside, half of it at both ends.",
    caption="The proof for N = 7. What to see: the weights have the sign of the polynomial at "
            "every node, so nothing is lost in the triangle inequality.",
)  # fmt: skip

# %%
steps(exact_minimum(12))

# %% [markdown]
# ### Break a hypothesis: the exponent, the interval, the best nodes
#
# A wrong exponent is found out (the bound, the equality, and the comparison with random nodes fail):

# %%
steps(exact_minimum(8, exponent=lambda N: 2 * N - 2))

# %% [markdown]
# *In $[0, 1]$* is needed. On $[0, a]$ the leading coefficient is $2^{2N-3}/a^{N-1}$; with $a = 4$ that is $\frac12$, for every $N$!
# The interval's length over 4 is what counts (its *capacity*). But nodes above 1 are no remedy: the state grows like $4^t$.

# %%
rows = []
for N in (3, 5, 9, 17):
    near, far = chebyshev_nodes(N), [4 * node for node in chebyshev_nodes(N)]
    weights = exact_weights(far)
    rows.append(
        {
            "N": N,
            "||w||₁, nodes in [0, 1]": int(smallest_norm(N, N - 1)),
            "nodes in [0, 4]": float(sum(map(abs, weights))),
            "state of the largest node after N steps": 4**N,
        }
    )
    assert abs(float(sum(map(abs, exact_weights(near))) / smallest_norm(N, N - 1)) - 1) < 1e-12
show.table(
    rows, caption="The same shift by N - 1 with small weights, and what it costs instead."
)

# %% [markdown]
# And the *best* nodes are needed for $2^{2N-3}$; others do worse. Equally spaced ones, $\lambda_k = k/(N-1)$:

# %%
for N in (4, 8, 16, 32):
    even = sum(map(abs, exact_weights([Fraction(k, N - 1) for k in range(N)])))
    print(f"N = {N:2d}: best 2^{2 * N - 3}, equally spaced 2^{log2(even):.1f}")

# %% [markdown]
# ## 4 Every shift, any number of nodes
#
# Claim 1 has one shift and $N = L$. The experiment that it explains has neither: $N = 4096$ modes, $L = 256$ lags, and the
# shifts $S = jL/8$. With 4096 nodes for 256 equations there are very many solutions. Is a small one among them?
#
# > **Theorem 2.** Let $n = L - 1$. However many nodes in $[0, 1]$ there are, a kernel that is one-hot at $S$ on the lags $0, \dots, L-1$
# > has
# > $$\|w\|_1 \;\ge\; \big|[x^S]\,T^*_n\big| = \frac{n}{n+S}\,4^S\binom{n+S}{2S},$$
# > and $L$ nodes reach it, for all $S$ the same: the extrema of $T^*_n$.
#
# *Proof.* The bound: $\sum_i w_i\,p(\lambda_i) = [x^S]\,p$ for $\deg p \le n$, whatever the number of nodes; take $p = T^*_n$. Equality: at
# the extrema $w_k$ is the coefficient of $x^S$ in $\prod_{j\ne k}(x - \lambda_j) / \prod_{j \ne k}(\lambda_k - \lambda_j)$. As no node is negative, the
# coefficients of the first product alternate in sign, in the same way for every $k$; and the second product alternates with
# $k$, as $T^*_n$ does. $\blacksquare$
#
# (This is linear programming duality: the weights are a solution, the polynomial is its certificate.)

# %%
steps(every_shift(6))

# %% [markdown]
# A linear programme that has never heard of Chebyshev finds the same numbers. It chooses among 401 nodes and uses $L$:

# %%
L, grid = 7, np.linspace(0, 1, 401)
rows = []
for S in range(L):
    weights = least_weights(grid, np.eye(L)[S])
    rows.append(
        {
            "S": S,
            "linear programme": float(np.abs(weights).sum()),
            "closed form": smallest_norm(L, S),
        }
    )
show.table(
    rows,
    caption="L = 7: the least ||w||₁, to whole numbers (the grid misses the best nodes by a "
            "little).",
    formats={"linear programme": ",.0f", "closed form": ","},
)

# %% [markdown]
# Now the case of the experiment, $L = 256$. The seven shifts of Table 2 other than 0, whatever $N$ is:

# %%
rows = [
    {
        "interval": name,
        **{
            f"{j} L/8": f"10^{log10(smallest_norm(256, 32 * j, name)):.1f}"
            for j in range(1, 8)
        },
    }
    for name in INTERVALS
]
show.table(
    rows, caption="L = 256: the least ||w||₁ of an exact shift. float32 ends at 10^38.5."
)

# %% [markdown]
# Which shift is the dearest? From $S$ to $S + 1$ the price is multiplied by $4(n+S)(n-S)/((2S+1)(2S+2))$. For large $n$ this is 1
# where $n^2 - S^2 = S^2$: at $S = n/\sqrt2$, *not* at the end that Claim 1 looks at. There the price grows by $3 + 2\sqrt2 = 5.83$ with every
# lag, not by 4: all coefficients of $T^*_n$ together are $|T^*_n(-1)| = T_n(3) \approx \frac12(3 + 2\sqrt2)^n$, and the largest has at least its share.

# %%
steps(worst_growth(40))
found = worst_shift(256)
print(
    f"L = 256: dearest S = {found['S']}, n/sqrt 2 = {found['near']}, least ||w||_1 = "
    f"10^{found['log10']}"
)

# %% [markdown]
# ### A picture to play with

# %%
show.figure(
    shift_costs(256, 32),
    alt="Logarithm of the least norm of the weights against the shift, for L = 256. With "
        "nodes from 0 to 1 it rises to 10^194 near S = 180 and falls to 10^153; with nodes "
        "from -1 to 1 it rises to about 10^96; on the circle it is 1 throughout. Float32 ends "
        "at 10^38.",
    caption="What to see: allowing negative nodes halves the exponent; allowing a phase "
            "removes it. Diamonds: Table 2's shifts. Already the first of them, the ring, is "
            "beyond float32.",
)  # fmt: skip

# %% [markdown]
# *Try:* $L = 8$, and find the dearest shift; then $L = 512$, where even float64 ends. Does the top of the curve stay at 71 %? (`percent` is $100\,S/L$.)

# %%
cost_widget = explore(
    cost_picture, {"interval": list(INTERVALS), "L": list(LENGTHS), "percent": list(PERCENTS)},
    initial={"L": 256, "percent": 71}, sentence=cost_sentence,
    alt="Logarithm of the least norm of the weights against the shift, for three sets of "
        "nodes.",
)  # fmt: skip
cost_widget

# %% [markdown]
# ### Break a hypothesis: not positive, not real
#
# With nodes in $[-1, 1]$ the certificate is $T_m$ itself, where $m$ is $n$ or $n-1$, whichever has the parity of $S$. Its coefficients are smaller but still
# exponential: $2^{N-2}$ for the last lag, and $(1 + \sqrt2)^L = 2.41^L$ or so for the dearest.

# %%
steps(every_shift(5, "[-1,1]"))

# %% [markdown]
# On the circle $w_i = \lambda_i^{-S}/N$ at the $N$-th roots of unity: $\|w\|_1 = 1$, for every $S$. So **it is the phase that cures it, not the sign.**

# %%
steps(circle_shift())


# %% [markdown]
# ### Break a hypothesis: not exact
#
# All this is about *exact* one-hots. Let every tap be wrong by up to $\varepsilon$. The same certificate then only says
#
# $$\|w\|_1 \;\ge\; \big|[x^S]\,T^*_n\big| - \varepsilon\,T_n(3),$$
#
# since $\sum_i w_i\,T^*_n(\lambda_i)$ is off by at most $\varepsilon$ times the sum of all coefficients. The linear programme with this slack:

# %%
def least_norm_within(nodes, target, error):
    """The least ||w||_1 of a kernel that is nowhere further than ``error`` from ``target``."""
    table = power_table(nodes, len(target))
    table = np.hstack([table, -table])  # w = its positive part minus its negative part
    found = linprog(np.ones(2 * len(nodes)), A_ub=np.vstack([table, -table]),
                    b_ub=np.concatenate([target + error, error - target]))  # fmt: skip
    return found.fun


L, rows = 8, []
total = sum(smallest_norm(L, k) for k in range(L))  # T_n(3)
for S in (1, 5):
    for error in (0.0, 0.001, 0.1, 0.3, 0.4):
        bound = max(smallest_norm(L, S) - error * total, 0)
        rows.append(
            {
                "S": S,
                "error allowed": error,
                "linear programme": least_norm_within(grid, np.eye(L)[S], error),
                "bound": float(bound),
            }
        )
show.table(
    rows,
    caption=f"L = 8. S = 1 is a cheap shift, S = 5 the dearest. T_n(3) = {total:,}.",
    formats={"linear programme": ",.0f", "bound": ",.0f", "error allowed": "g"},
)

# %% [markdown]
# For the dearest shift the bound is an equality until the error is about a third (exercise 9; the last digits are the grid's): hardly anything is gained by
# being inexact. For a cheap shift it soon says nothing. It holds up to $\varepsilon = |[x^S]T^*_n| / T_n(3)$; how much is that at $L = 256$?

# %%
total = sum(smallest_norm(256, k) for k in range(256))
for S in (32, 128, 180, 224):
    print(
        f"L = 256, S = {S:3d}: the bound speaks up to an error of "
        f"{smallest_norm(256, S) / total:.1g}"
    )

# %% [markdown]
# So for $S = 180$ an error of 5 % still asks for weights near $10^{193}$; for $S = 32$ this certificate excludes nothing. (Other
# polynomials might; we have not looked.) What least squares in double precision reaches is in section 1, and what training
# reaches in section 7.
#
# ## 5 When floats give out
#
# Let us leave theory and store the weights. Terms as large as $2^{2N-3}$ must cancel until 0 or 1 is left. A float with $m$ binary digits
# knows a number of that size to within $2^{2N-3-m}$; when this is 1, all is lost: at $N = (m + 3)/2$, so **13.5 for float32** ($m = 24$) and
# **28 for float64** ($m = 53$).

# %% tags=["nbval-ignore-output"]
opened = {"interval": "[0,1]", "N": 14}
show.figure(
    float_kernels(**opened),
    alt="Left: 14 weights between 2^20 and 2^22, alternating in sign, at nodes from 0 to 1, "
        "just below the line of float32's 24 digits. Right: the kernel in float32 is wrong at "
        "nearly every lag, in float64 it is a one at lag 13 and zeros before.",
    caption="What to see: the same 14 weights, exact and then rounded. Float32 has lost the "
            "shift, as predicted for 13.5; rings are what is asked for.",
)  # fmt: skip

# %% [markdown]
# *Try:* drag $N$ to 12 (a last trace of the shift), then to 30, where float64 goes. Then the same on $[-1, 1]$, where both last twice as long, and on the
# circle, where nothing happens.

# %%
float_widget = explore(
    float_kernels,
    {"interval": list(INTERVALS), "N": list(MODES)},
    initial=opened,
    sentence=float_sentence,
    alt="Weights of the exact shift on a logarithmic axis, and the kernel that float32 and "
    "float64 make of them.",
)
float_widget

# %%
for interval in ("[0,1]", "[-1,1]", "circle"):
    for precision in DIGITS:
        at = breaking_point(precision, interval)
        if at["predicted"] is None:
            said = f"never up to N = 64: {at['observed'] is None}"
        else:
            near = abs(at["observed"] - at["predicted"]) <= 3
            said = f"predicted N = {at['predicted']}, observed within 3 of it: {near}"
        print(f"{interval:7s} {precision}: {said}")

# %% tags=["nbval-ignore-output"]
steps(shifts_in_floats())

# %% [markdown]
# (At which $N$ exactly an error first passes one half depends on how sums are ordered, so another machine may say 13 or 15.)
#
# ## 6 With a phase: how many modes does an exact shift need?
#
# Complex nodes make small weights. What is left to ask is how many of them are needed.
#
# > **Theorem 3.** A DLR with $N$ modes ($\lambda \ne 0$) makes the one-hot at $S$ on the lags $0, \dots, L-1$ if and only if
# > $N \ge \max(S + 1,\; L - S)$. Where the kernel is cast to its real part, $2N \ge \max(S+1, L-S)$.
#
# *Proof.* A sum of $N$ exponentials obeys a recurrence $\sum_{j=0}^N c_j K_{k+j} = 0$, as long as $k + N < L$; here $c_N = 1$ and
# $c_0 = \pm\prod\lambda_n \ne 0$. If $N < L - S$, write it down at $k = S$: only $K_S = 1$ is not zero, so $c_0 = 0$, impossible. If $N < S + 1$, at
# $k = S - N$: $c_N = 0$, impossible. Otherwise the $N$-th roots of unity do it: their kernel is 1 at all lags $S$ modulo $N$, and only $S$ itself lies
# within $0, \dots, L-1$. Cast to reals, $N$ modes and their conjugates are $2N$; the half circle of chapter 05 shows that they suffice. $\blacksquare$

# %%
steps(shift_criterion(6))

# %%
show.figure(
    exact_shifts(24),
    alt="A map of modes N against shift S for L = 24. The white region of exact shifts lies "
        "above a V: 24 modes are needed for S = 0 and S = 23, and 13 for S = 11 and 12.",
    caption="What to see: the cheapest shift is the one by half the length. The line is max(S "
            "+ 1, L - S); the colours are least squares, which knows nothing of it.",
)  # fmt: skip

# %% [markdown]
# **Break a hypothesis.** Forget the second condition, and say $N \ge S + 1$:

# %%
steps(shift_criterion(4, needed=lambda L, S: S + 1))

# %% [markdown]
# This is a count for Table 2, where $N = 4096$, so 8192 real modes:

# %%
show.table(
    [
        {
            "L": f"2^{row['L'].bit_length() - 1}",
            "cheapest shift needs": row["cheapest"],
            "dearest needs": row["dearest"],
            "a DLR has": row["DLR"],
            "so it makes exactly": f"{row['DLR exact']} of 7",
            "DLR-prod has": row["DLR-prod"],
        }
        for row in shift_table()
    ],
    caption="Real modes, for the shifts j L/8, j = 1..7 (the shift by 0 is the skip "
    "weight's). Enough modes are necessary, not sufficient.",
    formats=dict.fromkeys(
        ("cheapest shift needs", "dearest needs", "a DLR has", "DLR-prod has"), ","
    ),
)

# %% [markdown]
# From $L = 2^{14}$ on *no* shift but 0 is exact for the paper's DLR, and its $R^2$ in Table 2 falls from there. For DLR-prod the count forbids
# nothing, and it does better. (A count explains a fall; it does not predict its size.)
#
# ## 7 Trained: Table 2
#
# **Shift** is the task: an input of $L$ random numbers, and eight outputs at every position, output $j$ being the input of $jL/8$ steps ago (0
# before the start). The score is $R^2$ over all outputs. One layer, width 32, batches of 4, 86,000 steps in the paper.
#
# One number of the table needs reading: **.22** stands in it seven times. Output 0 is the input itself, which the skip weight copies. To get this
# right, and to answer 0 to the rest, explains one of $\sum_j (1 - j/8) = 4.5$ shares of variance (a shift by $jL/8$ has $jL/8$ zeros):

# %%
print(f"identity only: 1/4.5 = {1 / 4.5:.3f}; with L = 256: {trivial_level(Shift(), 256):.3f}")

# %% [markdown]
# So .22 is "nothing learned but the identity", and DLR-ℝ's .23 is that as well. Live, at the paper's shortest length, with some hundred steps at rates
# that were chosen for so few: a DLR and a DLR-ℝ, each with $N = L = 256$. (Predict first: what will output 1, the shift by 32, score?)

# %%
table2 = dlr_table2
live, nets = {}, {}
for run in plan("dlr/table2", tasks=["256"], rows=["dlr", "dlr_real"], seeds=[101]):
    with steady_arithmetic():
        nets[run.row] = table2.trained(run.setting, run.seed).net.eval()
        by_batch, by_shift = table2.scores(
            nets[run.row],
            run.setting["tests"],
            run.setting["batch"],
            256,
            torch.Generator().manual_seed(0),
        )
    live[run.row] = float(np.mean(by_batch))
    print(
        f"{run.row:8s} outputs with R2 above 0.9: {sum(value > 0.9 for value in by_shift)} of "
        f"8; below 0.1: {sum(value < 0.1 for value in by_shift)} of 8"
    )
print(
    f"DLR-R within 0.02 of the identity's {shift_level():.3f}: "
    f"{abs(live['dlr_real'] - shift_level()) < 0.02}"
)

# %% [markdown]
# Beside the paper's numbers and the recorded runs (`lrnnlab reproduce dlr/table2 --budget desk`), each in columns of its own:

# %% tags=["nbval-ignore-output"]
NAMES = {
    "dss": "DSS_exp",
    "dlr": "DLR",
    "sgconv": "SGConv",
    "dlr_prod": "DLR-prod",
    "dlr_small": "DLR, small N",
    "dlr_real": "DLR-ℝ",
}
desk = records.read_all(records.data_folder() / "records" / "dlr" / "table2" / "desk")
lengths = [L for L in table2.TASKS if any(r["task"] == L for r in desk)]


def recorded_r2(row, L):
    found = [r["metrics"]["r2"] for r in desk if (r["row"], r["task"]) == (row, L)]
    return float(np.mean(found)) if found else None


rows = [
    {
        "model": name,
        **{f"paper, L = {L}": float(r2) for L, r2 in table2.PAPER.loc[row].items()},
        **{f"recorded, L = {int(L):,}": recorded_r2(row, L) for L in lengths},
        "live, L = 256": live.get(row),
    }
    for row, name in NAMES.items()
]
show.table(
    rows, formats=dict.fromkeys(list(rows[0])[1:], ".2f"),
    caption="R² on Shift. Paper: 86,000 steps, N = 4096 (small: 512); which number belongs to "
            "which length is inferred, its blanks were lost. Recorded: means over seeds, N = "
            "L up to 4096 (small: L/8), far fewer steps.",
)  # fmt: skip

# %% tags=["nbval-ignore-output"]
show.figure(
    shift_by_length(desk),
    alt="R2 on Shift against the length for six models; left the recorded runs, right the "
        "paper's numbers in grey. A dashed line at 0.222 is the identity alone: DLR-R gets no "
        "further, in both.",
    caption="Recorded, and the paper. What to see: who lies on the dashed line has learned "
            "the identity only. Ours have fewer steps the longer they are, so on the left a "
            "low point far out may be haste, not a limit.",
)  # fmt: skip

# %% [markdown]
# What do the kernels look like? Each of the 32 channels has one. Where they are sums of turning modes a channel can be a spike; where they are
# sums of fading ones it cannot:

# %% tags=["nbval-ignore-output"]
learned = {
    NAMES[row]: net.blocks[0].mixer.kernel(256).detach().numpy() for row, net in nets.items()
}
show.figure(
    learned_kernels(learned),
    alt="The kernels of 32 channels after training, over each other. Left, DLR: sharp spikes "
        "at the multiples of 32 lags and little between. Right, DLR-R: smooth lines without "
        "any spike.",
    caption="Live. What to see: on the left spikes at the dotted lines, the shifts that were "
            "asked for; on the right no lag stands out.",
)  # fmt: skip

# %% [markdown]
# Is it the training that fails, or the modes? Take the *learned* $\lambda$ of both, and give them the best weights that least squares in double
# precision can find for the one-hots at 32 and at 128:

# %%
for row, name in (("dlr", "DLR"), ("dlr_real", "DLR-R")):
    log_lambda, weights = nets[row].blocks[0].mixer.modes()
    nodes = log_lambda.exp().detach().numpy()
    errors = [best_fit(nodes, np.eye(256)[S]).error for S in (32, 128)]
    print(
        f"{name:5s}: best error below 0.1: {[e < 0.1 for e in errors]}; above 0.8: "
        f"{[e > 0.8 for e in errors]}; learned ||w||_1 below 10 in every channel: "
        f"{bool((weights.abs().sum(1) < 10).all())}"
    )

# %% [markdown]
# It is the modes. (An error of 1 is the kernel 0.) Would more of them help, as many as the paper's 4096, spread over $(0, 1]$?

# %%
for N in (256, 4096):
    nodes = (1 - np.cos(np.pi * np.arange(1, N + 1) / N)) / 2
    error = best_fit(nodes, np.eye(256)[32]).error
    print(f"N = {N:4d}, S = 32: best error above 0.85: {error > 0.85}")

# %% [markdown]
# ## 8 The running sum
#
# One more sentence of the paper about reals. A mode is $x_k = \lambda x_{k-1} + u_k$, and
#
# > **The paper, footnote 1.** "$x_k = \sum_{j=0}^k \lambda^{k-j}u_j = \lambda^k \sum_{j=0}^k u_j\lambda^{-j}$ [...] is a vanilla cumulative sum with more
# > extensively supported parallel implementations. Unfortunately, this reduction is numerically stable only if $|\lambda| = 1$".
#
# Why should it be unstable? All terms of the sum are made with small *relative* errors, so the error is small beside the largest of them; and with $\lambda < 1$ these are the
# last ones, which are those that $x_k$ consists of. What can go wrong is the range: $\lambda^{-k}$ leaves float32 when $k\,|\ln\lambda| > \ln(3.4\cdot10^{38}) = 88.7$.
# So: accurate up to $k = 88.7/|\ln\lambda|$, and useless from there.

# %% tags=["nbval-ignore-output"]
show.figure(
    sum_picture(0.99, "float32"),
    alt="Error of the running sum in float32 for lambda 0.99: level near 1e-7 up to 8,660 "
        "steps; then there are no numbers.",
    caption="What to see: no instability, the error is as small at the end as at the "
            "beginning. It ends at once, just before the dashed line (the sum is larger than "
            "its last term).",
)  # fmt: skip

# %%
sum_widget = explore(
    sum_picture,
    {"lam": list(LAMBDAS), "precision": list(DIGITS)},
    initial={"lam": 0.9},
    sentence=sum_sentence,
    alt="Error of the running sum along k, and where it overflows.",
)
sum_widget

# %% tags=["nbval-ignore-output"]
sums = running_sums()
steps(sums)

# %%
print(f"small errors up to the overflow, and there: {sums.holds}")


# %% [markdown]
# So the sum may be used in **chunks** shorter than that, the last state of a chunk being carried into the next. Only a $\lambda$ that is the same
# at every step has such a length, though. If it depends on the input no length is safe, and a reset is a division by 0 (chapter 03, section 8).

# %%
def in_chunks(lam, u, size):
    """x_k = lam x_{k-1} + u_k in float32: running sums of ``size`` inputs each."""
    states, carried = [], np.float32(0)
    for start in range(0, len(u), size):
        part = u[start : start + size]
        fading = np.float32(lam) ** np.arange(1, len(part) + 1, dtype="float32")
        states.append(running_sum(lam, part) + fading * carried)
        carried = states[-1][-1]
    return np.concatenate(states)


lam, u = 0.5, np.random.default_rng(1).uniform(-1, 1, 2000)
truth = [0.0]
for value in u:
    truth.append(lam * truth[-1] + value)
whole, cut = running_sum(lam, u), in_chunks(lam, u, 100)
print(f"one sum over 2,000 inputs: finite at the end: {bool(np.isfinite(whole[-1]))}")
print(
    f"chunks of 100 < 88.7/ln 2 = {88.7 / log(2):.0f}: largest error below 1e-6: "
    f"{np.abs(cut - truth[1:]).max() < 1e-6}"
)

# %% [markdown]
# ## 9 Where the paper says something else
#
# | the paper | what we found |
# |---|---|
# | $w_i = -1/\prod_{j\ne i}(\lambda_j - \lambda_i)$ (A.4) | right for even $N$ only; $1/\prod_{j\ne i}(\lambda_i - \lambda_j)$ (section 2) |
# | the one-hot "at position $N$", "$S = L = N$" | the last lag is $N-1$; with columns $1, \dots, N$ each weight has another factor $1/\lambda_i$ |
# | $\lVert w\rVert_\infty \ge 2^{2N - O(\log N)}$ (Claim 1) | right. Exactly: the least $\lVert w\rVert_1$ is $2^{2N-3}$ (section 3) |
# | "some fixed $c > 0$" | $c$ is near 0.63 (section 2, last cell) |
# | Claim 1 "explain[s] its failure on the Shift task" | it has $N = L$ and one shift; the experiment has $N = 4096$, $L = 256$ and others. Theorem 2 covers it: $10^{84}$ at least (section 4) |
# | nodes in $(0, 1]$ (A.4), in $[0, 1]$ (Claim 1) | the best nodes contain 0; in $(0, 1]$ one comes as near as one likes |
# | real modes are "incapable of modeling even short arbitrary kernels and we formally prove this" (3.3) | proved is: of making them *exactly* with small weights. In exact arithmetic they make all; what a small error would cost is another question (section 4) |
# | the running sum is "numerically stable only if $\lvert\lambda\rvert = 1$" (footnote 1) | accurate until $\lambda^{-k}$ overflows (section 8) |
# | DLR-prod: "nearly perfect performance on lengths as large as 1M" (3.3) | its last number in Table 2 is .78 |
# | .22 (Table 2) | the score of the identity alone, $2/9$ (section 7) |
#
# ## 10 What this does not show
#
# * **Not that real modes are useless.** A moving average, a cumulative sum, everything that fades smoothly is well within their reach (chapter 05 has a table).
# * **Not a bound on approximation.** For the dearest shifts small errors do not help; for cheap ones our certificate is silent (section 4).
# * **Nothing about several layers**, or about transitions that depend on the input: a real gate that opens and closes is not a kernel.
# * **Nothing about which of float's failures training meets.** Our DLR-ℝ stops long before its weights are large: gradient descent does not go there.
# * **Table 2 is not repeated at its size.** Live and recorded runs have some hundred steps on a CPU; the paper's have 86,000 on a GPU. A low score after few steps says that little was learned *yet*.
#
# ## 11 Exercises
#
# 36 points. Where a cell can check an answer, fill it in and run it; `hint("06.1")` and `solution("06.1")` help with these.
#
# 1. ★ *(5 min, 3 points: how to find the weights of a shift)* The nodes are $0, \frac14, 1$. Find the weights of the shift by 2, by hand.

# %%
my_weights = None  # three numbers, for the nodes 0, 1/4, 1
check("06.1", my_weights)

# %% [markdown]
# 2. ★★ *(15 min, 5 points: why no polynomial has a larger leading coefficient)* **A proof step.** In the proof of Theorem 1: no polynomial within $\pm 1$ on $[0, 1]$ has a larger leading coefficient than $T^*$. Prove it. (Suppose $q$ has; look at
#    $T^* - c\,q$ at the extrema of $T^*$, with $c < 1$ such that the leading terms cancel. How many zeros has it at least, and what is its degree at most?)

# %%
my_zeros = None  # a function of N; it returns (zeros at least, degree at most)
check("06.2", my_zeros)

# %% [markdown]
# 3. ★ *(5 min, 2 points: which shift is dearest)* **Predict.** $L = 16$; which shift is the dearest with nodes in $[0, 1]$? Write it down, then run.

# %%
my_dearest = None  # a whole number, before you use the widget of section 4
check("06.3", my_dearest)

# %% [markdown]
# 4. ★★ *(20 min, 5 points: how to get exact weights for every shift)* **Code.** Write a function of the nodes (fractions) and $S$ that returns the exact weights of the one-hot at $S$, for all $S$, not only the last.

# %%
my_solver = None  # a function of (nodes, S); it returns a list of fractions
check("06.4", my_solver)

# %% [markdown]
# 5. ★ *(5 min, 2 points: where a float loses a shift)* **Predict.** bfloat16 has 8 binary digits. At about which $N$ (within one half) does it lose the shift by $N - 1$, with nodes in $[0, 1]$, and in $[-1, 1]$?

# %%
my_losses = None  # two numbers, for example (9.5, 12)
check("06.5", my_losses)

# %% [markdown]
# 6. ★★ *(10 min, 4 points: why the bound needs nodes within 1)* **Break the hypothesis.** Nodes may be in $[0, a]$. For which $a$ is the least $\|w\|_1$ of the shift by 4 with 5 nodes equal to 1?

# %%
my_end = None  # a number
check("06.6", my_end)

# %% [markdown]
# 7. ★ *(5 min, 3 points: which shift is cheapest)* How many modes does the cheapest exact shift of length $L$ need, by Theorem 3? Which shifts are that cheap?

# %%
my_modes = None  # a function of L
check("06.7", my_modes)

# %% [markdown]
# 8. ★★ *(10 min, 4 points: where a running sum leaves its floats)* **A proof step.** Derive $88.7/|\ln\lambda|$, where the last term of the sum overflows. For inputs that are all 1 the sum itself overflows *earlier*: by how many steps?

# %%
my_earlier = None  # a function of lambda
check("06.8", my_earlier)


# %% [markdown]
# 9. ★★★ *(30 min, 5 points: when a bound by duality is met)* **A proof step.** In section 4 the linear programme meets the bound $|[x^S]T^*_n| - \varepsilon\,T_n(3)$ as long as $\varepsilon$ is small. Prove that it does. (Which kernel would make every
#    inequality of the proof an equality?)
# 10. ★ *(5 min, 3 points: that the last lag is not the hardest)* **Predict** before you run: 32 real modes in $(0, 1]$ and 32 lags. Double precision fits one-hots at lag 1, 8, 16 and 31, the last, as well as it can. Which comes out worst?

# %%
def worst_fit():
    nodes = families(32)["real, (0,1]"]
    found = {S: best_fit(nodes, np.eye(32)[S]).error for S in (1, 8, 16, 31)}
    said = ", ".join(f"lag {S}: {error:.2f}" for S, error in found.items())
    return max(found, key=found.get), f"Errors, as a share of the one-hot: {said}"


predict("06.10", worst_fit)

# %% [markdown]
#
# <details><summary>Hints</summary>
#
# 1: three equations, or the formula of step 2. 2: how many times does $T^* - cq$ change sign, and what is its degree? 3: $15/\sqrt2$. 4: the polynomial that is 1 at $\lambda_i$ and 0 at the other nodes; which of its coefficients?
# 5: where do $2N - 3$ and $N - 2$ reach 8? 6: the leading coefficient of $T_4(2x/a - 1)$. 8: a geometric series. 9: the extrema of $T^*$, and taps that are wrong by exactly $\varepsilon$. 10: where is the top of section 4's curve?
#
# </details>
#
# <details><summary>Solutions</summary>
#
# **1.** $1/(\frac14\cdot 1) = 4$; $1/(\frac14 \cdot (-\frac34)) = -\frac{16}{3}$; $1/(1 \cdot \frac34) = \frac43$. They sum to 0, and to 0 with the nodes.
#
# **2.** At the $N$ extrema $T^*$ is $\pm1$ in turn and $|cq| < 1$, so $T^* - cq$ has the signs of $T^*$: $N - 1$ changes, hence $N - 1$ zeros. But its leading terms cancel, its degree is at most $N - 2$: it would be 0, and it is not.
#
# **3.** 11 ($15/\sqrt 2 = 10.6$).
#
# **4.** The weight of node $i$ is the coefficient of $x^S$ in $\ell_i(x) = \prod_{j\ne i}(x - \lambda_j)/(\lambda_i - \lambda_j)$: for a polynomial $p$ of degree below $N$, $p = \sum_i p(\lambda_i)\,\ell_i$, so $[x^S]\,p = \sum_i p(\lambda_i)\,[x^S]\,\ell_i$; with $p = x^k$ this is the one-hot.
#
#     def solver(nodes, S):
#         weights = []
#         for i, node in enumerate(nodes):
#             coefficients, scale = [Fraction(1)], Fraction(1)
#             for other in nodes[:i] + nodes[i + 1:]:
#                 shifted = [Fraction(0), *coefficients]
#                 coefficients = [a - other * b for a, b in zip(shifted, [*coefficients, Fraction(0)])]
#                 scale *= node - other
#             weights.append(coefficients[S] / scale)
#         return weights
#
# **5.** $2N - 3 = 8$ at 5.5; $N - 2 = 8$ at 10.
#
# **6.** $2^{2N-3}/a^{N-1} = 128/a^4 = 1$, so $a = 2^{7/4} = 3.364$.
#
# **7.** $S + 1$ and $L - S$ add up to $L + 1$, so the larger is at least half of it: $\lceil (L+1)/2 \rceil$, that is `L // 2 + 1`. For odd $L$ at $S = (L-1)/2$ alone, for even $L$ at $L/2 - 1$ and $L/2$.
#
# **8.** $\lambda^{-k} = e^{k|\ln\lambda|}$ passes the largest number $e^{88.7}$ there. The sum of all terms up to $k$ is $(\lambda^{-(k+1)} - 1)/(\lambda^{-1} - 1)$, about $\lambda^{-k}/(1 - \lambda)$: it passes $\ln\frac1{1-\lambda}/|\ln\lambda|$ steps earlier.
#
# **9.** Let $c_k = [x^k]T^*_n$, and let $w^{(k)}$ be the weights of the one-hot at $k$ on the extrema of $T^*_n$. By Theorem 2's proof $w^{(k)}_i$ has the sign of $c_k\,T^*_n(\lambda_i)$. Take $w = w^{(S)} - \varepsilon \sum_k \mathrm{sign}(c_S c_k)\,w^{(k)}$. Its taps are wrong by exactly $\varepsilon$. As long as $\varepsilon$ is so small that no $w_i$ changes its sign,
# $\|w\|_1 = |\sum_i w_i T^*_n(\lambda_i)| = |c_S| - \varepsilon \sum_k |c_k| = |c_S| - \varepsilon\,T_n(3)$. For $S > 0$ no $w^{(S)}_i$ is 0, so there is room: up to $\varepsilon = \min_i |w^{(S)}_i| / \sum_k |w^{(k)}_i|$, which is 0.326 for $L = 8$, $S = 5$.
#
# </details>
