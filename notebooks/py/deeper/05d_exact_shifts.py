# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 05d · Exact shifts
#
# How many modes does an exact shift need, and which kernels do which modes fit? *It takes* about 20 min to read and 10 min for the exercises. Read [chapter 05](../05_diagonal_kernels.ipynb) first.

# %% jupyter={"source_hidden": true} tags=["hide-input"]
import numpy as np
import sympy as sp

import lrnnbook
from lrnnbook import show
from lrnnbook.content.chapters import ch05
from lrnnbook.content.exercises import check, hint, solution
from lrnnbook.content.tables import kernels

lrnnbook.needs("0.1")

# %% [markdown]
# ## 1 The theorem
#
# A DLR (diagonal linear RNN) is $x_k = \mathrm{diag}(\Lambda)\,x_{k-1} + \mathbf 1\cdot u_k$, $y_k = \langle w, x_k\rangle$. Its kernel is $K_j = \sum_n w_n\lambda_n^{\,j}$, of which a layer keeps the real part.
# How many modes does a shift by $S$ need? The count depends on whether the other taps must be exactly 0:

# %% jupyter={"source_hidden": true} tags=["hide-input", "nbval-ignore-output"]
show.figure(
    ch05.modes_for_shifts(64),
    alt="The number of modes against the shift S, on 64 lags. Exact shifts: a V from 63 down to 33 at S = 32 and up to 64. Nearly exact "
        "shifts: a straight line from 1 to 63, below the V.",
    caption="Modes with their mirror images counted, so 2N for a layer. What to see: exactly 0 at all later lags is what makes "
            "short shifts expensive.",
)  # fmt: skip

# %% [markdown]
# > **Theorem (exact shifts).** There are $N$ nodes ($\lambda \ne 0$) and weights whose kernel is 1 at $S$ and 0 at the other lags of $0 \dots L-1$ if and only if
# > $$N \ge \max(S + 1,\; L - S).$$
#
# **Step 1 (a recurrence).** Let $c_0, \dots, c_N$ be the coefficients of the polynomial $\prod(z - \lambda_n)$. A sum of $N$ exponentials obeys $\sum_{j=0}^N c_j K_{k+j} = 0$ for all $k$, because each $\lambda_n$ is a root. And $c_N = 1$, $c_0 = \pm\prod\lambda_n \ne 0$.

# %% tags=["proof-exact_shifts"]
lam, w = sp.symbols("lambda1:6"), sp.symbols("w1:6")
for N in range(1, 6):
    c = kernels.monic(lam[:N])
    K = [sum(w[n] * lam[n] ** k for n in range(N)) for k in range(N + 2)]
    assert all(sp.expand(sum(c[j] * K[k + j] for j in range(N + 1))) == 0 for k in (0, 1)), (
        "Exact shifts, step 1: the recurrence"
    )
    assert c[-1] == 1 and sp.expand(c[0] - (-1) ** N * sp.prod(lam[:N])) == 0, (
        "Exact shifts, step 1: the ends"
    )
show.math("N = 2:\\quad c =", [sp.expand(one) for one in kernels.monic(lam[:2])])


# %% [markdown]
# **Step 2 (too few modes).** If $N < L - S$, take $k = S$: of $K_S \dots K_{S+N}$ only the first is not 0, so the recurrence says $c_0 = 0$, which is false. If $N < S + 1$, take $k = S - N$: only the last is not 0, so $c_N = 0$, false again. **All $L < 8$:** the recurrence of one of these lags has exactly one term, $c_0$ or $c_N$. **Sample:** random nodes never solve it (exact ranks).

# %% tags=["proof-exact_shifts"]
def needed(L, S):
    return max(S + 1, L - S)


cases, draw = (
    [(N, L, S) for L in range(2, 8) for S in range(L) for N in range(1, L + 1)],
    np.random.default_rng(0),
)
for N, L, S in cases:
    if N < needed(L, S):
        hot = [int(k == S) for k in range(L)]
        terms = [
            [j for j in range(N + 1) if hot[k + j]] for k in (S, S - N) if k >= 0 and k + N < L
        ]
        assert [0] in terms or [N] in terms, "Exact shifts, step 2: the term"
        nodes = [int(a) + 1 for a in draw.choice(9, N, replace=False)]
        table = [[node**k for node in nodes] for k in range(L)]
        wider = [[*row, one] for row, one in zip(table, hot)]
        assert kernels.exact_matrix(wider).rank() == N + 1 > kernels.exact_matrix(table).rank(), (
            "Exact shifts, step 2: the rank"
        )
print(sum(N < needed(L, S) for N, L, S in cases), "cases with too few modes")

# %% [markdown]
# **Step 3 (enough modes).** The $N$-th roots of unity do it, with the weights $w_n = \lambda_n^{-S}/N$: their kernel is 1 at $S$ and at all multiples of $N$ from it, and 0 elsewhere; and $S - N$ and $S + N$ lie outside of $0 \dots L-1$. $\blacksquare$ **All $L < 8$.**

# %% tags=["proof-exact_shifts"]
for N, L, S in cases:
    if N >= needed(L, S):
        hot = [
            kernels.root_sum([n * (k - S) for n in range(N)], N) / sp.Integer(N)
            for k in range(L)
        ]
        assert hot == [int(k == S) for k in range(L)], (
            f"Exact shifts, step 3: {N} modes, S = {S}, L = {L}: the kernel is {hot}"
        )
print(sum(N >= needed(L, S) for N, L, S in cases), "cases with enough")

# %% [markdown]
# **Step 4 (with the cast to reals).** $N$ modes and their mirror images are $2N$ modes, so $2N \ge \max(S+1, L-S)$ is needed; and with the half circle it is enough: its kernel is 1 at $S$, $-1$ at $S \pm 2N$, and 0 in between.

# %% tags=["proof-exact_shifts"]
for N, L, S in cases:
    if 2 * N >= needed(L, S):
        both = [sign * (2 * n + 1) for n in range(N) for sign in (1, -1)]
        hot = [
            kernels.root_sum([e * (k - S) for e in both], 4 * N) / sp.Integer(2 * N)
            for k in range(L)
        ]
        assert hot == [int(k == S) for k in range(L)], "Exact shifts, step 4: a one-hot at S"
odd = [s * (2 * n + 1) for n in range(3) for s in (1, -1)]
half = [kernels.root_sum([e * (k - 2) for e in odd], 12) / sp.Integer(6) for k in range(8)]
print("N = 3, S = 2 on 8 lags:", half)

# %% [markdown]
# **Break a hypothesis.** "For a shift by $S$ the number $S + 1$ of modes is enough" sounds right, since so many numbers must be remembered. But an *exact* kernel must also be 0 at all later lags:

# %% tags=["proof-exact_shifts"]
with show.expect_failure("Exact shifts, step 3"):
    for N, L, S in cases:
        if N >= S + 1:
            hot = [
                kernels.root_sum([n * (k - S) for n in range(N)], N) / sp.Integer(N)
                for k in range(L)
            ]
            assert hot == [int(k == S) for k in range(L)], (
                f"Exact shifts, step 3: {N} modes, S = {S}, L = {L}: the kernel is {hot}"
            )

# %% [markdown]
# ## 2 Nearly exact
#
# But must a layer be exact? Let the modes of the half circle fade, $|\lambda_n| = r < 1$, and their echoes fade with them. A trained layer can do this, and it changes the count:
#
# > **Theorem (the reach; proved in notebook 06d).** Let $N$ modes be cast to reals, and let lag 0 be free (the skip weight sets it). If $S \le 2N$, then for every error $0 < d < 1$ there is a kernel that is 1 at $S$ and at most $d$ in size at every other lag, **for all lengths at once**, with weights $\|w\|_1 = d^{-S/2N} \le 1/d$. If $S > 2N$ and $L \ge 2S$, every kernel of $N$ modes misses the one-hot by at least $\sqrt{1 - 2N/S}$ of its norm.
#
# So $S$ real weights, that is $S/2$ modes, are enough after all for a shift that is nearly exact, at every length: to be *nearly* 0 later costs very little. Here are $N = 8$ and $S = 16 = 2N$ at $L = 200$, where an exact shift would need 92 modes:

# %%
N, S, L = 8, 16, 200
for d in (0.5, 0.1, 0.01):
    nodes = d ** (1 / (2 * N)) * kernels.arc_nodes(N, np.pi)
    w = nodes ** float(-S) / N
    made = (w * nodes ** np.arange(L)[:, None]).sum(1).real
    wrong = abs(made - np.eye(L)[S])[1:].max()
    print(
        f"d = {d}: at lag {S} {made[S]:.3f}, largest error elsewhere {wrong:.3f}, "
        f"||w||_1 = {abs(w).sum():.1f}"
    )

# %% [markdown]
# ## 3 Five kernels, five families
#
# Now we take five kernels and five families of modes. The table below shows the least error and, in brackets, the
# size $\|w\|_1$ of the weights.
#
# **Step 1.** The half circle fits every kernel of length $2N$, with small weights.
#
# **Step 2.** The paper's grid repeats itself after $N$: on a shift its error is $\sqrt{1/2}$.
#
# **Step 3.** Real modes fit neither shifts nor noise: their errors are above .3.
#
# **Step 4.** But they do fit a kernel that is smooth and fades: their errors on the fading sine are below .05.
#
# **Float:** all four steps are measured in float64 on these five kernels, with $N = 32$.

# %% tags=["proof-what_fits"]
N = 32
goals = kernels.targets(2 * N)
fits = {kind: {name: kernels.best_fit(nodes, goal) for name, goal in goals.items()}
        for kind, nodes in kernels.families(N).items()}  # fmt: skip
shifted, reals = ("shift by L/4", "shift by L/2"), ("real, (0,1]", "real, [-1,1]")
assert max(fit.error for fit in fits["half circle"].values()) < 1e-10, (
    "What fits, step 1: the errors"
)
assert all(fits["half circle"][name].norm < 1.001 for name in shifted), (
    "What fits, step 1: the weights"
)
assert all(abs(fits["circle (DFT)"][name].error - 0.5**0.5) < 1e-9 for name in shifted), (
    "What fits, step 2: the error of the grid is sqrt(1/2)"
)
assert min(fits[kind][name].error for kind in reals for name in (*shifted, "noise")) > 0.3, (
    "What fits, step 3: real modes fit neither shifts nor noise"
)
assert max(fits[kind]["fading sine"].error for kind in reals) < 0.05, (
    "What fits, step 4: real modes fit what fades"
)
said = lambda fit: f"{fit.error:.2f} ({fit.norm:.2g})"
fit_rows = [{"target": name, **{kind: said(row[name]) for kind, row in fits.items()}} for name in goals]

# %% jupyter={"source_hidden": true} tags=["varies", "hide-input", "nbval-ignore-output"]
show.table(
    fit_rows,
    caption="32 modes, 64 lags: the best achievable error (as a share of the target's norm) "
    "and the weights' size. Computed in float64, so an error here is what arithmetic "
    "can reach (chapter 06).",
)

# %% [markdown]
# **Exercise 11** ★★ *(10 min, 4 points: to find the cheapest shift)* **Find the wrong step.** *Claim: of all exact shifts on $L$
# lags (without the cast) the one by 0 needs the fewest modes, and the one by $L - 1$ the most.*
#
# 1. A shift by $S$ needs at least $S + 1$ modes.
# 2. $L$ modes are enough for every shift on $L$ lags: the $L$-th roots of unity.
# 3. So the shift by $L - 1$ needs $L$ modes, and no shift needs more.
# 4. $S + 1$ is least for $S = 0$. So the shift by 0 needs the fewest.
#
# Which step does not follow? Show it on 64 lags, with a shift that needs fewer modes than the one by 0, and its number of modes. Then say
# which shift needs the fewest on $L$ lags, and why no layer has to pay for a shift by 0.

# %%
my_step = None  # exercise 11: the step, then (the shift, its number of modes), for example (1, (63, 64))
check("05.11", my_step)

# %% [markdown]
# <!-- Exercise 05.11: from notebooks/lrnnbook/content/exercises/ch05.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint 1</summary>
#
# A shift needs at least $S + 1$ modes. Are they enough?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# $S + 1$ grows with $S$, and $L - S$ falls.
#
# </details>

# %% [markdown]
# ## Exercises
#
# You will find each exercise in its section. Stuck? `hint("05.11")`. Done? Compare with `solution("05.11")`.

# %% [markdown]
# <!-- The exercises of this chapter, listed by lrnnlab book build. -->
#
# 1 exercise, 4 points, about 10 minutes:
#
# | exercise | section | difficulty | minutes | points | you will learn |
# |---|---|---|---|---|---|
# | 11 | [3 Five kernels, five families](#3-Five-kernels,-five-families) | ★★ | 10 | 4 | to find the cheapest shift |
#
# <details><summary>Solution of 05.11</summary>
#
# Step 4, for example `(4, (32, 33))`: $S + 1$ is only one of two lower bounds. The kernel $1, 0, 0, \dots, 0$ of the shift by 0 must
# be silent for $L - 1$ lags, so it needs $N = L$, as many as the shift by $L - 1$. $\max(S+1, L-S)$ is least in the middle: $L/2 + 1$ for
# even $L$ (at $S = L/2$ and $L/2 - 1$), $(L+1)/2$ for odd. No layer has to pay for a shift by 0, because the skip weight $D$ does it for
# nothing.
#
# </details>
