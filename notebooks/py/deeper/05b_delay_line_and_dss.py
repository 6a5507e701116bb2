# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 05b · The delay line and DSS
#
# Which linear recurrences are a DLR, and what does it cost to come near one that is not? *It takes* about 25 min to read and 10 min for the exercises. Read [chapter 05](../05_diagonal_kernels.ipynb) first.

# %% jupyter={"source_hidden": true} tags=["hide-input"]
import numpy as np
import sympy as sp
import torch

import lrnnbook
from lrnnbook import show
from lrnnbook.content.chapters import ch05
from lrnnbook.content.exercises import check, hint, solution
from lrnnbook.content.tables import kernels
from lrnnlab import models, scans

lrnnbook.needs("0.1")


# %% [markdown]
# ## 1 What the proof needs
#
# A DLR (diagonal linear RNN) is $x_k = \mathrm{diag}(\Lambda)\,x_{k-1} + \mathbf 1\cdot u_k$, $y_k = \langle w, x_k\rangle$. Its kernel is $K_j = \sum_n w_n\lambda_n^{\,j}$, of which a layer keeps the real part. By Proposition 1 (chapter 05, section 2) a linear RNN $x_k = A x_{k-1} + B u_k$, $y_k = C x_k$
# with $A = V\,\mathrm{diag}(\Lambda)\,V^{-1}$ is a DLR with the weights $w_n = (CV)_n (V^{-1}B)_n$. Its proof has two steps; here is a third.
#
# **Step 3 (equal eigenvalues merge).** Two modes with the same $\lambda$ are one mode, with the sum of their weights. The least number of states of a linear recurrence with a given kernel is the rank of the Hankel matrix $K_{i+j}$ (a classical fact that we do not prove). Here it is the number of different $\lambda$ whose weight is not 0. **Sample:** ten random systems of whole numbers, $N = 4$, each with a double eigenvalue.

# %% tags=["proof-equal_modes"]
def system(draw, beside=0, N=4):
    """Nodes (two equal), step 2's weights, and the kernel; ``beside`` is the entry beside the equal nodes."""
    lower, upper = (sp.Matrix(np.triu(draw.integers(-1, 2, (N, N)), 1)) + sp.eye(N) for _ in "VU")
    V, nodes = lower.T * upper, draw.integers(-2, 3, N).tolist()  # V has determinant 1
    nodes[1] = nodes[0]
    D = sp.diag(*nodes)
    D[0, 1] = beside
    B, C = (sp.Matrix(draw.integers(1, 4, N)) for _ in "BC")
    weights = [left * right for left, right in zip(C.T * V, V.inv() * B)]
    return nodes, weights, [int((C.T * V * D**j * V.inv() * B)[0]) for j in range(11)]


draw, sizes = np.random.default_rng(0), []
for _ in range(10):
    nodes, w, kernel = system(draw)
    assert kernel == kernels.kernel(nodes, w, 11), "Proposition 1, step 3: the kernel"
    merged = [sum(w for node, w in zip(nodes, w) if node == one) for one in set(nodes)]
    sizes.append(kernels.hankel_rank(kernel, 6))
    assert sizes[-1] == sum(map(bool, merged)), "Proposition 1, step 3: the number of states"
print("states needed, of 4:", sizes)

# %% [markdown]
# ### Break it
#
# Put a 1 beside the double eigenvalue (a *Jordan block*), and $A$ is not diagonalisable any more:

# %% tags=["proof-equal_modes"]
with show.expect_failure("Proposition 1, step 3"):
    nodes, w, kernel = system(np.random.default_rng(0), beside=1)
    assert kernel == kernels.kernel(nodes, w, 11), (
        f"Proposition 1, step 3: {kernel[:4]}, not {kernels.kernel(nodes, w, 4)}"
    )

# %% [markdown]
# ## 2 No DLR is a delay line
#
# Is that an accident of the proof, or is there a linear recurrence that no DLR computes? The section of the paper is called "DLRs are as expressive as general linear RNNs". Take the **delay line**, which hands the input on from cell to cell and after $S + 1$ cells gives it out: with three cells $y_k = u_{k-2}$, and the kernel is $0, 0, 1, 0, 0, \dots$, with zeros for ever.
#
# > **The corrected statement.** A delay line by $S \ge 1$ steps is no DLR of any size.

# %% jupyter={"source_hidden": true} tags=["hide-input", "nbval-ignore-output"]
show.figure(
    ch05.delay_and_echoes(5, (1, 0.8, 0.5)),
    alt="Four kernels over 24 lags. The delay line has a single 1, at lag 5. Six modes on the unit circle have a 1 at lags 5, 11, 17 "
        "and 23. With |lambda| = 0.8 the echo at lag 11 is 0.26 high, with 0.5 it cannot be seen.",
    caption="The delay line by five steps, and three DLRs of six modes. What to see: the delay line is silent for ever, and a DLR "
            "has an echo. Modes nearer 0 make the echo smaller, and need larger weights.",
)  # fmt: skip

# %% [markdown]
# **Step 1 (zeros after the 1 force the weights to be 0).** Suppose $\sum_n w_n\lambda_n^{\,k}$ is that kernel, with $M$ different $\lambda_n \ne 0$. It is 0 at the $M$ lags $S+1, \dots, S+M$ after the 1. These are $M$ equations for $w$, with the determinant $\prod_n\lambda_n^{S+1} \prod_{i<j}(\lambda_j - \lambda_i) \ne 0$: so $w = 0$.

# %% tags=["proof-delay_line"]
lam = sp.symbols("lambda1:5")
for M, S in [(M, S) for M in range(1, 5) for S in (1, 2, 3)]:
    table = sp.Matrix(M, M, lambda k, n: lam[n] ** (S + 1 + k))
    gaps = sp.prod(lam[j] - lam[i] for i in range(M) for j in range(i + 1, M))
    assert sp.expand(table.det() - sp.prod(lam[:M]) ** (S + 1) * gaps) == 0, (
        "The delay line, step 1: the determinant of the silent lags"
    )
show.math(r"M = S = 2:\quad\det =", sp.factor(sp.Matrix(2, 2, lambda k, n: lam[n] ** (3 + k)).det()))

# %% [markdown]
# **Step 2 (a mode at 0 does not help).** $\lambda = 0$ gives the kernel $1, 0, 0, \dots$, which is 0 at all lags from 1 on. So no mode is left that could make the 1 at lag $S$. $\blacksquare$

# %% tags=["proof-delay_line"]
assert kernels.kernel([0], [1], 6) == [1, 0, 0, 0, 0, 0], (
    "The delay line, step 2: a mode at 0 is silent from lag 1 on"
)
print("lambda = 0:", kernels.kernel([0], [1], 6))


# %% [markdown]
# **Step 3 (the delay line is a linear RNN of $S + 1$ states, and of no fewer).** The cell runs it, and computes its
# Hankel rank. **$S = 1, 2, 5$.**
#
# **Step 4 (short inputs).** On inputs of *bounded* length it is a DLR: the $S + 1$ roots of unity of order $S + 1$ with $w_n = \lambda_n^{-S}/(S+1)$ have a kernel that agrees with it up to lag $2S$.

# %% tags=["proof-delay_line"]
def line(S, closed=0):
    """The kernel of S + 1 cells in a row; ``closed`` leads the last one back to the first."""
    state, found = [1] + [0] * S, []
    for _ in range(4 * S + 5):
        found.append(state[-1])
        state = [closed * state[-1], *state[:-1]]
    return found


for S in (1, 2, 5):
    assert line(S) == [int(k == S) for k in range(4 * S + 5)], "The delay line, step 3: the kernel"
    ranks = {kernels.hankel_rank(line(S), size) for size in (S + 1, S + 2, 2 * S + 2)}
    assert ranks == {S + 1}, "The delay line, step 3: the rank"
    roots = [
        kernels.root_sum([n * (k - S) for n in range(S + 1)], S + 1) / (S + 1)
        for k in range(4 * S + 5)
    ]
    differ = [k for k, (one, other) in enumerate(zip(line(S), roots)) if one != other]
    assert differ[0] == 2 * S + 1, "The delay line, step 4: the kernels differ first at lag 2 S + 1"
print("delay by 5:", line(5)[:13], "\nsix roots: ", roots[:13])

# %% [markdown]
# **Break it.** Lead the last cell back to the first. This ring is diagonalisable, and its kernel is not 0 after the
# 1.

# %% tags=["proof-delay_line"]
with show.expect_failure("The delay line, step 3"):
    assert line(2, closed=1) == [int(k == 2) for k in range(13)], (
        f"The delay line, step 3: {line(2, closed=1)[:9]}"
    )

# %% [markdown]
# ## 3 Near the delay line
#
# Near every matrix there are diagonalisable ones, so DLRs come as near to the delay line as one likes, for all lengths at once, but at a price. Let $\lambda_n = \varepsilon\,e^{2\pi\mathrm i n/N}$ and $w_n = \lambda_n^{-(N-1)}/N$.
#
# **Step 1 (error and weights).** The kernel is 1 at lag $N-1$, $\varepsilon^N$ at lag $2N-1$, and so on, and 0 elsewhere; the weights are of size $\varepsilon^{1-N}/N$. **All $\varepsilon$,** for $N = 4$, where the roots of unity are $\pm1, \pm\mathrm i$.

# %% tags=["proof-almost_delay"]
eps, N = sp.Symbol("epsilon", positive=True), 4
nodes = [eps * sp.I**n for n in range(N)]
w = [node ** (1 - N) / N for node in nodes]
kernel = [sp.simplify(sum(a * node**k for a, node in zip(w, nodes))) for k in range(3 * N)]
assert kernel == [eps ** (k - N + 1) if k % N == N - 1 else 0 for k in range(3 * N)], (
    "Near the delay line, step 1: the kernel"
)
assert all(sp.simplify(sp.Abs(a) - eps ** (1 - N) / N) == 0 for a in w), (
    "Near the delay line, step 1: the weights"
)
show.math(r"K_0, \dots, K_7 =", kernel[:8], r",\quad |w| =", eps ** (1 - N) / N)

# %% [markdown]
# **Step 2 (in floats the price is paid).** **Float.** The cell makes this kernel for $N = 8$ and $\varepsilon = 0.1, 0.01, 0.001$ in float64, and compares it with the delay line's on the lags 0 to 15. In these three cases the error is at most $\varepsilon^N$, the exact one, plus $4N\cdot 2^{-53}$ times the largest weight. (For other $N$ and $\varepsilon$ we claim nothing. The rounding itself differs between processors, so the cell prints the bound.) The exact error $\varepsilon^N$ falls with $\varepsilon$, but already from $\varepsilon = 0.1$ to $0.01$ the rounding outweighs it, and the bound rises.

# %% tags=["proof-almost_delay"]
N, bounds = 8, []
for eps in (0.1, 0.01, 0.001):
    nodes = eps * np.exp(2j * np.pi * np.arange(N) / N)
    w = nodes ** -float(N - 1) / N
    made = (w * nodes ** np.arange(2 * N)[:, None]).sum(1)
    bounds.append(eps**N + 4 * N * abs(w).max() * 2.0**-53)
    assert abs(made - (np.arange(2 * N) == N - 1)).max() <= bounds[-1], (
        "Near the delay line, step 2: the error is within the bound"
    )
    print(
        f"epsilon = {eps}: weights {abs(w).max():.1e}, exact error {eps**N:.0e}, "
        f"in float64 at most {bounds[-1]:.0e}"
    )

# %% [markdown]
# So near a kernel that no DLR has, the weights explode. Chapter 06 is about exactly this.

# %% [markdown]
# **Exercise 10** ★★ *(10 min, 4 points: to build a recurrence that is no DLR)* **Break the hypothesis.**
# Find a $2\times 2$ matrix $A$ of whole numbers, other than $\begin{pmatrix}0&1\\0&0\end{pmatrix}$, with
# $C = (1, 0)$ and $B = (0, 1)^\top$, whose kernel $C A^k B$ is no DLR. (The cell computes the shortest linear
# recurrence of the kernel, $\sum_j c_j K_{k+j} = 0$ for all $k$, and accepts $A$ if the polynomial $\sum_j c_j z^j$
# has a double root. For a DLR that polynomial is $\prod(z - \lambda_n)$ over the different $\lambda_n$ whose weight
# is not 0, so its roots are simple.)

# %%
my_A = None  # [[a, b], [c, d]]
check("05.10", my_A)

# %% [markdown]
# <!-- Exercise 05.10: from notebooks/lrnnbook/content/exercises/ch05.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint</summary>
#
# It needs a double eigenvalue, and its upper right entry must not be 0. An eigenvalue other than 0 is easy to find.
#
# </details>

# %% [markdown]
# ## 4 DSS is a DLR
#
# > **The paper, section 2.1.** DSS discretizes $\frac{dx}{dt} = \mathrm{diag}(\Lambda)x + \mathbf 1 u$, "which results in the DLR" with $\lambda = e^{\Delta\Lambda}$ and weights $w\,(e^{\Delta\Lambda} - 1)/\Lambda$.
#
# Channel by channel the converse holds too: a kernel of DSS is a kernel of DLR with other parameters, and what differs
# is how far one step of the optimiser moves it. But every channel of a DSS layer has a step $\Delta$, and so modes, of
# its own, while the channels of a DLR layer share $N$ modes.
#
# **Step 1 (hold the input).** With a constant input $u$, $x(t) = e^{t\Lambda}x + \frac{e^{t\Lambda}-1}{\Lambda}\,u$ solves $x' = \Lambda x + u$ and starts at $x$.

# %% tags=["proof-dss"]
t, step, rate, w_dss, x, node = sp.symbols("t Delta Lambda w x lambda", nonzero=True)
u = sp.symbols("u_0:4")
held = sp.exp(t * rate) * x + (sp.exp(t * rate) - 1) / rate * u[0]
assert sp.simplify(sp.diff(held, t) - rate * held - u[0]) == 0, "DSS, step 1: the equation"
assert sp.simplify(held.subs(t, 0) - x) == 0, "DSS, step 1: the start"
show.math("x(t) =", held)

# %% [markdown]
# **Step 2 (one step after the other).** Hold each input for a time $\Delta$. What comes out at the times $\Delta, 2\Delta, \dots$ is a DLR with $\lambda = e^{\Delta\Lambda}$ and the weight $w\,(e^{\Delta\Lambda} - 1)/\Lambda$.

# %% tags=["proof-dss"]
leap, gain = sp.exp(step * rate), (sp.exp(step * rate) - 1) / rate
w_dlr, state = w_dss * gain, sp.S(0)
for k in range(4):
    state = held.subs({t: step, x: state, u[0]: u[k]}, simultaneous=True)
    as_dlr = sum(w_dlr * leap**j * u[k - j] for j in range(k + 1))
    assert sp.simplify(w_dss * state - as_dlr) == 0, "DSS, step 2: held inputs make a DLR"
show.math("w' =", w_dlr)

# %% [markdown]
# **Step 3 (and back).** Every $\lambda$ other than 0 and 1 is reached by $\Lambda = \ln\lambda/\Delta$ and $w = w'\Lambda/(\lambda - 1)$; at $\lambda = 1$ the weight has the limit $w\Delta$.

# %% tags=["proof-dss"]
back = {rate: sp.log(node) / step, w_dss: x * (sp.log(node) / step) / (node - 1)}  # x is w'
assert [sp.simplify(one.subs(back, simultaneous=True)) for one in (leap, w_dss * gain)] == [
    node,
    x,
], "DSS, step 3: back"
assert sp.limit(w_dss * (node - 1) / sp.log(node) * step, node, 1) == w_dss * step, (
    "DSS, step 3: the limit"
)
show.math(r"\Lambda =", back[rate], r",\quad w =", back[w_dss].subs(x, sp.Symbol("w'")))

# %% [markdown]
# **Break it.** Leave out the factor $(e^{\Delta\Lambda} - 1)/\Lambda$:

# %% tags=["proof-dss"]
with show.expect_failure("DSS, step 2"):
    w_dlr, state = w_dss, sp.S(0)
    for k in range(4):
        state = held.subs({t: step, x: state, u[0]: u[k]}, simultaneous=True)
        as_dlr = sum(w_dlr * leap**j * u[k - j] for j in range(k + 1))
        assert sp.simplify(w_dss * state - as_dlr) == 0, (
            f"DSS, step 2: {sp.simplify(w_dss * state)} is not {as_dlr}"
        )

# %% [markdown]
# Our DSS layer names its DLR, and has its kernel:

# %%
torch.manual_seed(1)
dss = models.layers.DSS(3, state=8).double()
exponents, weights = (part.detach() for part in dss.modes())
as_dlr = scans.convolution.vandermonde(exponents, weights, 40)
print(
    "our DSS layer's kernel is that of the DLR it names: "
    f"{torch.allclose(dss.kernel(40), as_dlr)}; largest |lambda|: {float(exponents.exp().abs().max()):.3f}"
)

# %% [markdown]
# ## Exercises
#
# You will find each exercise in its section. Stuck? `hint("05.10")`. Done? Compare with `solution("05.10")`.

# %% [markdown]
# <!-- The exercises of this chapter, listed by lrnnlab book build. -->
#
# 1 exercise, 4 points, about 10 minutes:
#
# | exercise | section | difficulty | minutes | points | you will learn |
# |---|---|---|---|---|---|
# | 10 | [3 Near the delay line](#3-Near-the-delay-line) | ★★ | 10 | 4 | to build a recurrence that is no DLR |
#
# <details><summary>Solution of 05.10</summary>
#
# For example $\begin{pmatrix}1&1\\0&1\end{pmatrix}$: kernel $0, 1, 2, 3, \dots$, recurrence
# $(z-1)^2$. A DLR of any size has simple roots.
#
# </details>
