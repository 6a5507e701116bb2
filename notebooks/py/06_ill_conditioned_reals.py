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
# Fourteen real modes can answer their first fourteen inputs with a delay of 13, exactly. Store their weights in float32, and the delay is gone:

# %% jupyter={"source_hidden": true} tags=["hide-input", "varies", "nbval-ignore-output"]
import math
from fractions import Fraction

import numpy as np
import sympy as sp
import torch
from torch import nn

import lrnnbook
from lrnnbook import show
from lrnnbook.content.chapters import ch06
from lrnnbook.content.exercises import check, guess, hint, mine, solution
from lrnnbook.content.show.widgets import explore
from lrnnbook.content.tables import kernels
from lrnnlab.tasks.numbers.atomic import Shift

lrnnbook.needs("0.1")

show.figure(
    ch06.float_kernels("[0,1]", 14),
    alt="Left: 14 weights between one and four million, alternating in sign, at nodes from 0 to 1, "
        "just below the line of float32's 24 digits. Right: the kernel in float32 is wrong at "
        "nearly every lag, in float64 it is a one at lag 13 and zeros before.",
    caption="The same 14 weights (left), computed in float32 and in float64 (right). Rings: what the kernel should "
            "be. Dots: what it is; a cross is outside of the panel. What to see: in float32 no tap but the last is near its ring.",
)  # fmt: skip

# %% [markdown]
# The weights are right; only their last binary digits are rounded. But each is a million or more, and together they must cancel
# until 0 or 1 is left. So an error in a last digit comes out multiplied by a million.
#
# **What we ask.** *Why do real eigenvalues need such large weights, and what do complex ones do better?* Paper 004 (Gupta, Mehta
# and Berant, 2022) claims that the weights grow exponentially. With this claim it explains why its real model, DLR-ℝ, cannot learn
# to shift 256 numbers. You will prove the claim, find the exact value, write the weights yourself on the line and on the circle, and train
# both models.
#
# *You need:* matrices, polynomials, and section 1 of chapter 05. *It takes* about 55 min to read and 1 h 15 min for the exercises, and less than a minute of computing.

# %% [markdown]
# ## 1 A shift is a one-hot kernel
#
# A diagonal linear RNN (DLR) with nodes $\lambda_1, \dots, \lambda_N$ and weights $w_1, \dots, w_N$ is a convolution, $y = K * u$,
# with the kernel
#
# $$K_k = \sum_{i=1}^N w_i\,\lambda_i^k, \qquad k = 0, \dots, L-1.$$
#
# A *node* is the number $\lambda$ by which one entry of the state is multiplied at every step; a *mode* is a node with its weight. To
# delay the input by $S$ steps, $y_k = u_{k-S}$, you need a **one-hot** kernel: 1 at lag $S$ and 0 at all others. In DLR-ℝ nodes are in
# $(0, 1]$ and weights are real.
#
# Drag $N$ from 8 to 12, where float32 keeps a last trace of the shift by $N - 1$, and on to 14. Near 30 float64 loses it too. Then
# try $[-1, 1]$, where both last twice as long, and the circle:

# %% jupyter={"source_hidden": true} tags=["hide-input", "nbval-ignore-output"]
float_widget = explore(
    ch06.float_kernels,
    {"interval": list(kernels.INTERVALS), "N": list(ch06.MODES)},
    initial={"interval": "[0,1]", "N": 8},
    sentence=ch06.float_sentence,
    alt="Weights of the exact shift on a logarithmic axis, and the kernel that float32 and "
    "float64 make of them.",
)
float_widget


# %% [markdown]
# In matrix form the kernel is $K = Pw$. The table of powers $P$ has a row for each lag and a column for each node,
# $P_{ki} = \lambda_i^k$ (the paper's $P$ is this one, transposed). How badly can it treat a rounding error? One number tells, its *condition number*:
#
# $$\mathrm{cond}(P) = \frac{\max_w \|Pw\| / \|w\|}{\min_w \|Pw\| / \|w\|}.$$
#
# If every weight is rounded to $m$ binary digits, a relative error of $2^{-m}$, then the kernel can be wrong by
# $\mathrm{cond}(P)\cdot 2^{-m}$ of its size. We call $P$ **ill-conditioned** for a float when this reaches 1: nothing of the kernel
# need be left. Here is the condition number for four sets of nodes ("best" comes in section 3):

# %%
def condition(nodes):
    lags = np.arange(len(nodes))[:, None]
    return np.linalg.cond(nodes**lags)  # P


def evenly(N):
    return np.linspace(0, 1, N)


def extremal(N):  # on [-1, 1]
    return -np.cos(np.pi * np.arange(N) / (N - 1))


def roots(N):
    return np.exp(2j * np.pi * np.arange(N) / N)


sets = {"[0, 1], even": evenly, "[0, 1], best": lambda N: (1 + extremal(N)) / 2,
        "[-1, 1], best": extremal, "circle": roots}  # fmt: skip
conditions = {}
for name, nodes in sets.items():
    conditions[name] = [condition(nodes(N)) for N in range(2, 25)]
    print(f"{name:14s}", *(f"N = {N}: {conditions[name][N - 2]:<9.2g}" for N in (4, 8, 14)))

# %% jupyter={"source_hidden": true} tags=["hide-input", "nbval-ignore-output"]
show.figure(
    ch06.condition_lines(conditions),
    alt="Condition number against N on a logarithmic axis. Nodes in [0, 1] cross the line of float32 at 10 and 11 and the line "
    "of float64 at 19 and 22; nodes in [-1, 1] cross that of float32 near 21; on the circle it is 1 at every N.",
    caption="What to see: straight lines on a logarithmic axis. Each further node in [0, 1] multiplies the condition number by six to eight, "
    "and the nodes with the smallest weights only delay the end by one to three. On the circle it is 1 at every N.",
)

# %% [markdown]
# ## 2 Claim 1
#
# Perhaps somebody clever finds nodes for which the weights stay small. How can you *know* that nobody does? A polynomial tells you.
# Let $p$ have degree $N - 1$ and add up $\sum_i w_i\,p(\lambda_i)$. The power $\lambda^k$ in $p$ contributes its coefficient times $K_k$,
# and of the shift by $N - 1$ all $K_k$ are 0 but the last. So the sum is the leading coefficient of $p$. If $|p| \le 1$ on all of
# $[0, 1]$, then the sizes $|w_i|$ must add up to at least that much.
#
# So which $p$ proves most? The panel is a *seesaw*: `push` moves the zeros of $p$ from even spacing, at 0, towards the ends of the
# interval, at 100. Its outer humps go down and its inner ones up; the highest may just touch $\pm1$. How much can you prove?

# %% jupyter={"source_hidden": true} tags=["hide-input", "nbval-ignore-output"]
seesaw_widget = explore(
    ch06.seesaw,
    {"N": [3, 4, 5, 6, 7, 8], "push": list(ch06.PUSHES)},
    initial={"N": 7, "push": 0},
    sentence=ch06.seesaw_sentence,
    alt="A polynomial within plus and minus one with its zeros, and the lower bound that it proves for the weights.",
)
seesaw_widget

# %% [markdown]
# Keep the best one in mind. The paper takes a longer way, through determinants:
#
# > **The paper, Claim 1.** Let $\mathbf 1_N$ "denote the one-hot vector with 1 at position $N$. Let $P \in \mathbb R^{N\times N}$
# > with $P_{ij} = \lambda_i^j$ be a $N \times N$ Vandermonde matrix with each $\lambda_i \in [0,1]$. If $\mathbf 1_N = wP$ for
# > $w \in \mathbb R^N$, then $\|w\|_\infty \ge 2^{2N - O(\log N)}$."
#
# The cells below use free symbols, so they hold for **all nodes**; a loop says for how many.
#
# **Step 1 (nodes differ).** The first $r$ lags of $r$ nodes are a square system with determinant
# $\prod_{i<j}(\lambda_j - \lambda_i)$. Suppose that only $r < N$ nodes were different. The first $r$ lags must be 0, which forces
# all weights to be 0 (those of equal nodes added up). Then lag $N-1$ could not be 1. **All nodes, up to 4 of them.**

# %% tags=["proof-claim_1"]
free = sp.symbols("x1:5")


def powers(nodes, lags):  # a row for each lag, a column for each node
    return sp.Matrix([[node**k for node in nodes] for k in lags])


def gaps(nodes):  # the product of all differences
    return sp.prod(b - a for i, a in enumerate(nodes) for b in nodes[i + 1 :])


for r in range(1, 5):
    determinant = powers(free[:r], range(r)).det()
    assert sp.expand(determinant - gaps(free[:r])) == 0, (
        "Claim 1, step 1: the determinant is the product of differences"
    )
show.math(r"\text{three nodes:} \quad \det =", sp.factor(powers(free[:3], range(3)).det()))


# %% [markdown]
# **Step 2 (the weights).** As lags below $N-1$ are 0 and lag $N-1$ is 1, $\sum_i w_i\,p(\lambda_i)$ is the leading coefficient of
# $p$, for every polynomial $p$ of degree $N-1$. Take $p = \prod_{j \ne i}(x - \lambda_j)$, which is 0 at all nodes but $\lambda_i$:
#
# $$w_i = \frac{1}{\prod_{j \ne i} (\lambda_i - \lambda_j)}. \qquad\text{The paper prints}\quad \frac{-1}{\prod_{j\ne i}(\lambda_j - \lambda_i)}.$$
#
# The cell inserts these weights into the system. **All nodes, $N \le 4$.**

# %% tags=["proof-claim_1"]
def weights(nodes):
    return [1 / sp.prod(a - b for b in nodes if b != a) for a in nodes]


for N in (2, 3, 4):
    kernel = powers(free[:N], range(N)) * sp.Matrix(weights(free[:N]))
    assert [sp.cancel(tap) for tap in kernel] == [0] * (N - 1) + [1], f"Claim 1, step 2: {N} nodes"
three = [sp.S(0), sp.Rational(1, 2), sp.S(1)]
kernel = list(powers(three, range(3)) * sp.Matrix(weights(three)))
show.math(r"\text{nodes } 0, \tfrac12, 1: \quad w =", weights(three), r", \quad K =", kernel)


# %% [markdown]
# **Step 3 (a sign).** Turning $\lambda_j - \lambda_i$ around costs a sign for each of the $N-1$ factors, so the printed weights are right
# for even $N$ only.
#
# **Step 4 (an index).** "Position $N$" must be the last lag, $N-1$. With columns $1, \dots, N$ instead of $0, \dots, N-1$ each
# weight has another factor $1/\lambda_i$, which makes it no smaller.

# %% tags=["proof-claim_1"]
def printed(nodes):
    return [-1 / sp.prod(b - a for b in nodes if b != a) for a in nodes]


for N in (2, 3, 4):
    signs = {sp.cancel(wrong / right) for wrong, right in zip(printed(free[:N]), weights(free[:N]))}
    assert signs == {(-1) ** N}, "Claim 1, step 3: the sign is (-1)^N"
show.math(r"\text{nodes } 0, \tfrac12, 1 \text{, as printed:} \quad w =", printed(three))
for N in (2, 3, 4):
    divided = [w / node for w, node in zip(weights(free[:N]), free)]
    kernel = powers(free[:N], range(1, N + 1)) * sp.Matrix(divided)
    assert [sp.cancel(tap) for tap in kernel] == [0] * (N - 1) + [1], (
        "Claim 1, step 4: a one-hot at lag N - 1"
    )
some = [sp.S(1) / 4, sp.S(1) / 2, sp.S(1)]
later = [w / node for w, node in zip(weights(some), some)]
show.math(r"\text{nodes } \tfrac14, \tfrac12, 1: \quad w =", weights(some), r"\text{; for lags 1 to 3:} \quad w =", later)

# %% [markdown]
# **Step 5 (the largest is at least the geometric mean).** In $\prod_i |w_i|$ every pair of nodes occurs twice, so
#
# $$\|w\|_\infty \;\ge\; \Big(\prod_i |w_i|\Big)^{1/N} = \Big(\prod_{i<j} |\lambda_i - \lambda_j|\Big)^{-2/N}.$$

# %% tags=["proof-claim_1"]
for N in (2, 3, 4):
    assert sp.cancel(sp.prod(weights(free[:N])) ** 2 * gaps(free[:N]) ** 4) == 1, (
        "Claim 1, step 5: every pair of nodes occurs twice"
    )
sizes = [abs(w) for w in weights(three)]
mean = float(sp.prod(sizes)) ** (1 / 3)
show.math(r"\text{nodes } 0, \tfrac12, 1: \quad \|w\|_\infty =", max(sizes), rf"\ge {mean:.2f} \text{{, the geometric mean}}")

# %% [markdown]
# So weights are large because nodes in $[0, 1]$ are close together: how large can that product be?
#
# **Step 6 (Chebyshev rows).** The polynomial $T^*_k(x) = T_k(2x - 1)$, with Chebyshev's $T_k$, stays within $\pm1$ on $[0, 1]$ and
# begins with $2^{2k-1}x^k$. Replace the row $\lambda^k$ of the determinant by the row $T^*_k(\lambda)$: this multiplies it by
# $2^{2k-1}$ and adds multiples of the rows above. As $\sum_{k=1}^{N-1} (2k-1) = (N-1)^2$,
#
# $$\prod_{i<j} |\lambda_i - \lambda_j| = 2^{-(N-1)^2}\;\big|\det\,[\,T^*_k(\lambda_i)\,]\big| .$$

# %% tags=["proof-claim_1"]
for N in (2, 3, 4):
    table = sp.Matrix(N, N, lambda k, i: sp.chebyshevt(k, 2 * free[i] - 1))
    assert sp.expand(table.det() - 2 ** ((N - 1) ** 2) * gaps(free[:N])) == 0, (
        "Claim 1, step 6: the determinant of the Chebyshev rows"
    )
show.math("T^*_2(x_1) =", sp.expand(sp.chebyshevt(2, 2 * free[0] - 1)))

# %% [markdown]
# **Step 7 (the claim).** By Hadamard's inequality a determinant is at most the product of the lengths of its columns. Here each
# of $N$ columns has $N$ entries within $\pm1$, so its length is at most $\sqrt N$. Altogether
#
# $$\|w\|_\infty \;\ge\; \Big(2^{-(N-1)^2} N^{N/2}\Big)^{-2/N} = \frac{2^{2N - 4 + 2/N}}{N}. \qquad \blacksquare$$
#
# The exponent in symbols (**all cases**); the bound for **two sets of nodes** at each $N$ up to 24, evenly spaced and
# Chebyshev's.

# %% tags=["proof-claim_1"]
n = sp.Symbol("N", positive=True)
exponent = sp.expand(-2 / n * (-((n - 1) ** 2) + n / 2 * sp.log(n, 2)))
assert sp.simplify(exponent - (2 * n - 4 + 2 / n - sp.log(n, 2))) == 0, (
    "Claim 1, step 7: the exponent"
)
for N in range(2, 25):
    even = [Fraction(k, N - 1) for k in range(N)]
    largest = [max(map(abs, kernels.exact_weights(a))) for a in (even, kernels.chebyshev_nodes(N))]
    assert min(largest) >= 2 ** (2 * N - 4 + 2 / N) / N, "Claim 1, step 7: the bound"
show.math(r"\log_2 \|w\|_\infty \ge", exponent)
bound, spaced, best = float(exponent.subs(n, N)), *map(math.log2, largest)
show.math(rf"N = {N}: \quad 2^{{{bound:.1f}}} \text{{ (bound)}} \le 2^{{{best:.1f}}} \text{{ (Chebyshev)}} \le 2^{{{spaced:.1f}}} \text{{ (evenly spaced)}}")

# %% [markdown]
# **Exercise 1** ★ *(10 min, 3 points: to find the weights of a shift)* The nodes are $0, \frac14, 1$. Find the
# weights of the shift by 2, by hand.

# %%
my_weights = None  # three numbers, not rounded, for the nodes 0, 1/4, 1: for example [2 / 7, 0, -1]
check("06.1", my_weights)

# %% [markdown]
# <!-- Exercise 06.1: from notebooks/lrnnbook/content/exercises/ch06.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint</summary>
#
# Solve the three equations of the one-hot, or use the formula of step 2.
#
# </details>

# %% [markdown]
# ### Break a hypothesis: the formula, the index
#
# These are the lines of step 2, first with the printed formula, then with columns $1, \dots, N$. You can also do it by hand: in the
# cell of step 2 replace `1 / sp.prod(a - b` by `-1 / sp.prod(b - a`, or `range(N)` by `range(1, N + 1)`, run it, and change it back.

# %% tags=["proof-claim_1"]
with show.expect_failure("Claim 1, step 2"):
    for N in (2, 3, 4):
        kernel = powers(free[:N], range(N)) * sp.Matrix(printed(free[:N]))
        assert [sp.cancel(tap) for tap in kernel] == [0] * (N - 1) + [1], (
            f"Claim 1, step 2: {N} nodes"
        )
with show.expect_failure("Claim 1, step 2"):
    for N in (2, 3, 4):
        kernel = powers(free[:N], range(1, N + 1)) * sp.Matrix(weights(free[:N]))
        assert [sp.cancel(tap) for tap in kernel] == [0] * (N - 1) + [1], (
            f"Claim 1, step 2: {N} nodes"
        )

# %% [markdown]
# **The corrected statement.** Claim 1 holds with the weights of step 2, the 1 at lag $N - 1$, and the bound of step 7.
#
# ## 3 The exact value
#
# What does $O(\log N)$ hide? The seesaw gives a shorter proof, and the exact answer:
#
# > **Theorem 1.** For $N \ge 2$ nodes in $[0, 1]$ the least $\|w\|_1$ of a one-hot kernel at lag $N-1$ is $2^{2N-3}$, exactly. It is
# > reached at $\lambda_k = \frac12\big(1 - \cos\frac{\pi k}{N-1}\big)$, $k = 0, \dots, N-1$, and only there.
#
# So $\|w\|_\infty \ge 2^{2N-3}/N$: the $O(\log N)$ of Claim 1 is at most $\log_2 N + 3$. The whole proof is in one picture. The best
# polynomial of the seesaw, the one at `push` 100, is Chebyshev's, moved to $[0, 1]$: $T^*(x) = T_{N-1}(2x - 1)$.

# %% jupyter={"source_hidden": true} tags=["hide-input", "nbval-ignore-output"]
show.figure(
    ch06.extremal_proof(7),
    alt="Left: the Chebyshev polynomial of degree 6 on the interval from 0 to 1; it touches "
        "plus one at four places and minus one at three. Right: the weights at these seven "
        "places, alternating in sign.",
    caption="The proof for N = 7. What to see: the weights have the sign of the polynomial at "
            "every node, so nothing is lost in the triangle inequality.",
)  # fmt: skip

# %% [markdown]
# **Step 1 (a pairing).** For every polynomial $p$ of degree below $N$, $\sum_i w_i\,p(\lambda_i) = \sum_k p_k K_k$: add up the
# nodes first, or the lags first. With the one-hot kernel this is $p_{N-1}$, the leading coefficient. So for every $p$ that
# stays within $\pm 1$ on $[0, 1]$, $\|w\|_1 \ge |\sum_i w_i\,p(\lambda_i)| = |p_{N-1}|$. **All nodes and polynomials, $N \le 6$.**
#
# **Step 2 (it stays within ±1).** $T_n^2 + (1 - x^2)\,U_{n-1}^2 = 1$, where $U$ is Chebyshev's polynomial of the second kind. Neither
# term is negative on $[-1, 1]$, so neither is above 1. **All $n \le 12$.** (With $x = \cos t$ this is $\cos^2 nt + \sin^2 nt = 1$, for
# every $n$.)
#
# **Step 3 (its leading coefficient).** $T_0 = 1$, $T_1 = x$, and $T_{n+1} = 2x\,T_n - T_{n-1}$: each leading coefficient is twice the one
# before. So $T_n$ begins with $2^{n-1}x^n$, and $T^*$ with $2^{N-2}\cdot 2^{N-1} = 2^{2N-3}$. By step 1 no $w$ is smaller.
# Nothing is lost if every weight has the sign that $T^*$ has at its node, where $T^*$ must be $\pm1$: this happens at
# exactly $N$ places ([06a](deeper/06a_best_nodes.ipynb)). $\blacksquare$ **All $N \le 12$.** The folded cell checks the three steps:

# %% jupyter={"source_hidden": true} tags=["hide-input", "proof-theorem_1"]
for N in (2, 3, 4, 5, 6):
    w, node, p = (sp.symbols(f"{name}0:{N}") for name in ("w", "x", "p"))
    kernel = [sum(w[i] * node[i] ** k for i in range(N)) for k in range(N)]
    paired = sum(w[i] * sum(p[k] * node[i] ** k for k in range(N)) for i in range(N))
    assert sp.expand(paired - sum(p[k] * kernel[k] for k in range(N))) == 0, (
        "Theorem 1, step 1: over the nodes first or over the lags first"
    )
X = sp.Symbol("x")
T = [sp.Poly(sp.chebyshevt(n, X), X) for n in range(13)]
U = [sp.Poly(sp.chebyshevu(n, X), X) for n in range(13)]
for n in range(1, 13):
    assert T[n] ** 2 + sp.Poly(1 - X**2, X) * U[n - 1] ** 2 == 1, (
        "Theorem 1, step 2: T^2 + (1 - x^2) U^2 = 1"
    )
leading = {}
for N in range(2, 13):
    n = N - 1
    assert n < 2 or T[n] == sp.Poly(2 * X, X) * T[n - 1] - T[n - 2], (
        "Theorem 1, step 3: the recurrence"
    )
    leading[N] = T[n].compose(sp.Poly(2 * X - 1, X)).LC()
    assert leading[N] == 2 ** (2 * N - 3), "Theorem 1, step 3: the leading coefficient"
print(leading)

# %% [markdown]
# **Exercise 2** ★★ *(15 min, 5 points: to prove that a polynomial is extremal)* **A proof step.** No polynomial of degree $N-1$ within $\pm 1$ on $[0, 1]$ has a larger leading
# coefficient than $T^*$. Prove it. (Suppose $q$ has one; look at $T^* - c\,q$ at the extrema of $T^*$, with $0 < c < 1$ such that the leading terms
# cancel. How many zeros has it at least, and what is its degree at most?)

# %%
my_zeros = None  # a function of N; it returns (zeros at least, degree at most)
check("06.2", my_zeros)

# %% [markdown]
# <!-- Exercise 06.2: from notebooks/lrnnbook/content/exercises/ch06.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint</summary>
#
# How many times does $T^* - cq$ change sign, and what is its degree?
#
# </details>

# %% [markdown]
# ### Break a hypothesis: the exponent, the interval
#
# You cannot prove more than is true: with $2^{2N-2}$ step 3 fails.

# %% jupyter={"source_hidden": true} tags=["hide-input", "proof-theorem_1"]
with show.expect_failure("Theorem 1, step 3"):
    for N in range(2, 13):
        wrong = 2 ** (2 * N - 2)
        assert leading[N] == wrong, (
            f"Theorem 1, step 3: for N = {N} it is {leading[N]}, not {wrong}"
        )

# %% [markdown]
# *In $[0, 1]$* is needed. On $[0, a]$ the leading coefficient is $2^{2N-3}/a^{N-1}$; with $a = 4$ that is $\frac12$, for every $N$!
# But nodes above 1 are no remedy: the state grows like $4^t$.

# %% [markdown]
# **Exercise 3** ★★ *(5 min, 4 points: to use the length of the interval)* **Break the hypothesis.** Nodes may be in
# $[0, a]$. For which $a$ is the least $\|w\|_1$ of the shift by 4 with 5 nodes equal to 1?

# %%
my_end = None  # a number, to three decimals
check("06.3", my_end)

# %% [markdown]
# <!-- Exercise 06.3: from notebooks/lrnnbook/content/exercises/ch06.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint</summary>
#
# What is the leading coefficient of $T_4(2x/a - 1)$?
#
# </details>

# %% [markdown]
# ## 4 Where floats give out
#
# Now you can predict the first picture. A float with $m$ binary digits knows a sum of terms of total size $2^{2N-3}$ to within
# $2^{2N-3-m}$. When this is 1, all is lost: at $N = (m + 3)/2$, which is **13.5 for float32** ($m = 24$) and **28 for float64**
# ($m = 53$). (The condition number warns a little earlier. It allows for every kernel and every error; this counts one kernel and typical rounding.)
#
# The cell looks for the first $N$ at which some tap is wrong by one half or more, and finds it within 3 of the prediction, for both
# intervals and both floats. On the circle there is none up to $N = 64$. (Another machine may lose the shift one node earlier or later,
# because rounding depends on the order of the sum.) **Float:**

# %% jupyter={"source_hidden": true} tags=["hide-input", "proof-floats", "varies", "nbval-ignore-output"]
logs = [ch06.shift_weights(N, "[0,1]").log2_largest for N in (10, 20, 40)]
growth = [(logs[1] - logs[0]) / 10, (logs[2] - logs[1]) / 20]
assert all(1.8 < digits < 2 for digits in growth), "Floats, step 1: nearly 2 binary digits a mode"
print("log2 of the largest weight at N = 10, 20, 40:", [round(value, 1) for value in logs])
for interval, digits_a_mode, start in (("[0,1]", 2, -3), ("[-1,1]", 1, -2), ("circle", 0, 0)):
    made = [ch06.shift_weights(N, interval) for N in range(2, 65)]
    for digits, errors in (
        (24, [one.error32 for one in made]),
        (53, [one.error64 for one in made]),
    ):
        lost = next((N for N, error in enumerate(errors, 2) if error >= 0.5), None)
        predicted = (digits - start) / digits_a_mode if digits_a_mode else None
        near = (
            lost is None
            if predicted is None
            else lost is not None and abs(lost - predicted) <= 3
        )
        assert near, "Floats, step 2: within 3 of the predicted N"
        print(f"{interval:7s} {digits} digits: predicted N = {predicted or 'none'}, observed N = {lost or 'none up to 64'}")

# %% [markdown]
# **Break it.** On the circle the weights do not grow, and step 1 of the check fails:

# %% jupyter={"source_hidden": true} tags=["hide-input", "proof-floats"]
with show.expect_failure("Floats, step 1"):
    logs = [ch06.shift_weights(N, "circle").log2_largest for N in (10, 20, 40)]
    growth = [(logs[1] - logs[0]) / 10, (logs[2] - logs[1]) / 20]
    assert all(1.8 < digits < 2 for digits in growth), "Floats, step 1: the weights do not grow"

# %% [markdown]
# **Exercise 4** ★ *(5 min, 2 points: to predict where a float loses a shift)* **Predict.** bfloat16 has 8 binary digits. At
# about which $N$ (within one half) does it lose the shift by $N - 1$, with nodes in $[0, 1]$, and in $[-1, 1]$?

# %%
my_losses = None  # two numbers, for example (9.5, 12)
check("06.4", my_losses)


# %% [markdown]
# <!-- Exercise 06.4: from notebooks/lrnnbook/content/exercises/ch06.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint</summary>
#
# Where do $2N - 3$ and $N - 2$ reach 8?
#
# </details>

# %% [markdown]
# ## 5 Every shift, any number of nodes
#
# Claim 1 has one shift and $N = L$. The experiment that it explains has neither: $N = 4096$ modes, $L = 256$ lags, and the shifts
# $S = jL/8$. With 4096 nodes for 256 equations there are very many solutions. Is a small one among them? First you need the weights
# of *every* shift:

# %% [markdown]
# **Exercise 5** ★★ *(20 min, 5 points: to compute exact weights for every shift)* **Build.** Write a function of $N$ different
# nodes (fractions) and $S < N$. It returns the $N$ exact weights, fractions too, whose kernel on the lags $0, \dots, N-1$ is the one-hot
# at $S$. For $S = N-1$ step 2 of Claim 1 has the formula; which coefficient of the same polynomial belongs to another $S$?

# %%
# %%build real_weights
def real_weights(nodes, S):
    raise NotImplementedError  # your lines


# %% [markdown]
# <!-- Exercise 06.5: from notebooks/lrnnbook/content/exercises/ch06.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint 1</summary>
#
# Take the polynomial that is 1 at $\lambda_i$ and 0 at the other nodes.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# Which of its coefficients is the weight?
#
# </details>

# %% [markdown]
# **Exercise 6** ★ *(5 min, 2 points: to guess which shift costs most)* **Predict**, then let your weights decide. On $L = 16$ lags the
# shift by 0 costs $\|w\|_1 = 1$ (a node 0), and the one by 15 costs $2^{29}$ (Theorem 1). Which shift is the most expensive?

# %%
real_weights = mine("real_weights")


# %% tags=["nbval-ignore-output"]
def most_expensive():
    nodes = kernels.chebyshev_nodes(16, bits=53)
    prices = [float(sum(map(abs, real_weights(nodes, S)))) for S in range(16)]
    every = ", ".join(f"{S}: {price:.2g}" for S, price in enumerate(prices))
    return int(np.argmax(prices)), f"the prices by shift: {every}"


guess("06.6", most_expensive)

# %% [markdown]
# <!-- Exercise 06.6: from notebooks/lrnnbook/content/exercises/ch06.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint</summary>
#
# The shift by 1 costs 450, the one by 14 costs $4.0\cdot10^9$. That is more than the shift by 15 costs.
#
# </details>

# %% [markdown]
# > **Theorem 2.** Let $n = L - 1$. However many nodes in $[0, 1]$ there are, a kernel that is one-hot at $S$ on the lags $0, \dots, L-1$
# > has
# >
# > $$\|w\|_1 \;\ge\; \big|[x^S]\,T^*_n\big| = \frac{n}{n+S}\,4^S\binom{n+S}{2S},$$
# >
# > and $L$ nodes reach it, the same ones for every $S$: the extrema of $T^*_n$.
#
# ($[x^S]\,p$ is the coefficient of $x^S$ in $p$.) The proof is that of Theorem 1 again: pair the kernel with $T^*_n$, and one coefficient is
# left ([06b](deeper/06b_every_shift.ipynb)). So more modes do not help, and your weights on these nodes cannot be beaten:

# %% jupyter={"source_hidden": true} tags=["hide-input", "nbval-ignore-output"]
cost_widget = explore(
    ch06.cost_picture,
    {"interval": list(kernels.INTERVALS), "L": list(ch06.LENGTHS), "percent": list(ch06.PERCENTS)},
    initial={"L": 256, "percent": 71}, sentence=ch06.cost_sentence,
    alt="Logarithm of the least norm of the weights against the shift, for three sets of nodes. At L = 256, where it opens, nodes "
        "from 0 to 1 rise to 10^194 near S = 180 and fall to 10^153, nodes from -1 to 1 rise to about 10^96, and on the circle it "
        "is 1 throughout. Float32 ends at 10^38.",
)  # fmt: skip
cost_widget

# %% [markdown]
# Negative nodes halve the exponent, a phase removes it. Diamonds are the shifts of the paper's Table 2: already the first of them is beyond
# float32.
#
# The top is at 71 % of the length, *not* at the end that Claim 1 looks at. Is that so for every $L$? Try $L = 8$, then $L = 512$,
# where even float64 ends. (`percent` is $100\,S/L$.)

# %% [markdown]
# **Exercise 7** ★ *(5 min, 2 points: to read a logarithmic axis)* **Read a picture.** Look at the picture of
# this section as it opens, $L = 256$. The line *float32 ends* is the largest number that float32 can hold. Up to about which
# shift, counted from 0, does a float32 hold weights of this size, with nodes in $[0, 1]$ and with nodes in $[-1, 1]$?
# (Both within 5. The seven shifts of Table 2 begin at 32.)

# %%
my_limits = None  # exercise 7: two shifts, for [0, 1] and for [-1, 1]
check("06.7", my_limits)


# %% [markdown]
# <!-- Exercise 06.7: from notebooks/lrnnbook/content/exercises/ch06.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint</summary>
#
# Where does each curve cross the line?
#
# </details>

# %% [markdown]
# ## 6 On the circle
#
# What if nodes may have a phase? Then every shift costs 1, the least there is. Build one before you read why:

# %% [markdown]
# **Exercise 8** ★★ *(10 min, 4 points: to build a shift with small weights)* **Build.** Write a function of $L$ and $S < L$. It returns
# $L$ nodes on the unit circle and $L$ weights, complex numbers, whose sizes add up to 1. Their kernel on the lags $0, \dots, L-1$
# is the one-hot at $S$.

# %%
# %%build circle_weights
def circle_weights(L, S):
    import numpy as np

    raise NotImplementedError  # your lines; return nodes, weights


# %% [markdown]
# <!-- Exercise 06.8: from notebooks/lrnnbook/content/exercises/ch06.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint 1</summary>
#
# The numbers $1, z, \dots, z^{L-1}$ add up to 0 if $z \ne 1$ and $z^L = 1$. Which nodes make such sums at every lag?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# Take the $L$-th roots of unity. Weights $1/L$ make the shift by 0; what turns the 1 to lag $S$?
#
# </details>

# %% [markdown]
# Both of your functions side by side: the price of every shift on 16 lags, and the shift by 15 when the weights are rounded to float32.

# %% jupyter={"source_hidden": true} tags=["hide-input", "varies", "nbval-ignore-output"]
circle_weights = mine("circle_weights")
show.figure(
    ch06.own_prices(real_weights, circle_weights, 16),
    alt="Left: the logarithm of the price by shift. With real nodes it rises from 0 to above 10 at the shift by 11 and falls to 8.7 at 15; "
    "on the circle it is 0 at every shift. Right: the two kernels in float32; on the circle a one at lag 15 and zeros before, with "
    "real nodes nothing of it.",
    caption="Your functions (vermilion). What to see: on the line the shift by 11 costs 36,000 million, on the circle every shift costs 1, and only "
    "the circle's shift survives float32.",
)

# %% [markdown]
# **Step 1 (no less than 1).** $1 = |K_S| \le \sum_i |w_i|\,|\lambda_i|^S \le \|w\|_1$ for all nodes with $|\lambda_i| \le 1$, by the
# triangle inequality. **Sample:** random nodes in the disc.
#
# **Step 2 (1 is reached).** Take the $L$-th roots of unity and $w_i = \lambda_i^{-S}/L$. The kernel at lag $k$ is the mean of $z^i$,
# $i = 0 \dots L-1$, with $z = e^{2\pi\mathrm i(k-S)/L}$. Since $(z - 1)\sum_i z^i = z^L - 1 = 0$, it is 0 unless $z = 1$.
# $\blacksquare$ **All $L \le 12$**, the kernels in floats:

# %% jupyter={"source_hidden": true} tags=["hide-input", "proof-circle"]
draw = np.random.default_rng(0)
for _ in range(100):
    nodes = draw.uniform(0, 1, 5) * np.exp(2j * np.pi * draw.uniform(0, 1, 5))
    w = draw.standard_normal(5) + 1j * draw.standard_normal(5)
    assert all(abs(w @ nodes**S) <= abs(w).sum() + 1e-12 for S in range(9)), (
        "The circle, step 1: |K_S| is at most the sum of the sizes"
    )
z = sp.Symbol("z")
for L in range(2, 13):
    assert sp.expand((z - 1) * sum(z**i for i in range(L)) - (z**L - 1)) == 0, (
        "The circle, step 2: the sum"
    )
    nodes = np.exp(2j * np.pi * np.arange(L) / L)
    for S in range(L):
        w = nodes**-S / L
        made = (w * nodes ** np.arange(L)[:, None]).sum(1)
        assert abs(made - np.eye(L)[S]).max() < 1e-12, "The circle, step 2: the kernel, in floats"
        assert abs(abs(w).sum() - 1) < 1e-12, "The circle, step 2: the norm, in floats"
print("||w||_1 = 1 for every shift on L = 2 to 12 lags")


# %% [markdown]
# So **it is the phase that helps, not the sign.** How many modes do you need? For an exact shift $N \ge \max(S + 1,\; L - S)$. If
# lag 0 is free and every other lag may be off by $d$, then $N \ge S/2$ modes, cast to reals, are enough, with weights that add up to
# at most $1/d$ ([06d](deeper/06d_reach.ipynb)).
#
# ## 7 Does training find it?
#
# **Shift** is the paper's task: $L$ random numbers go in, and at every position $k$ eight numbers must come out, $u_{k - jL/8}$ for
# $j = 0, \dots, 7$ (0 before the start). The score is $R^2$. A model that only copies output 0 and answers 0 elsewhere has $2/9 = .22$
# (chapter 05), and DLR-ℝ has .23 in the paper. Train both kinds of nodes at the paper's shortest length, $N = L = 256$, with 400 steps
# instead of 86,000. This is the whole layer, $y = K * u + d\,u$ in 32 channels that share their nodes, with a GELU, a linear map and
# a norm after it:

# %%
class DLR(nn.Module):
    def __init__(self, N, real, H=32):
        super().__init__()
        self.N, self.d = N, nn.Parameter(torch.randn(H))
        # a node is exp(-exp(decay) + i angle)
        angle = torch.zeros(N) if real else math.pi * (torch.arange(N) + 0.5) / N
        decay = torch.linspace(-7, 0, N) if real else torch.full((N,), -12.0)
        self.angle = nn.Parameter(angle, requires_grad=not real)
        self.decay = nn.Parameter(decay)
        self.w = nn.Parameter(0.1 * torch.randn(2 - real, H, N))  # Re w and Im w
        self.mix, self.norm = nn.Linear(H, H), nn.LayerNorm(H)

    def kernel(self, L):  # (H, L)
        log = torch.complex(-self.decay.exp(), self.angle)
        P = torch.exp(log[:, None] * torch.arange(L))
        return sum(w @ part for w, part in zip(self.w, (P.real, -P.imag))) / self.N

    def forward(self, x):  # (B, L, H)
        u, L = x.mT, x.shape[1]
        K = torch.fft.rfft(self.kernel(L), 2 * L)
        y = torch.fft.irfft(torch.fft.rfft(u, 2 * L) * K, 2 * L)[..., :L]
        y = nn.functional.gelu((y + self.d[:, None] * u).mT)
        return self.norm(x + self.mix(y))


# %% [markdown]
# Training is seven lines. Predict first: what will output 1, the shift by 32, score?

# %% tags=["varies", "nbval-ignore-output"]
def train(net, L, steps=400):
    optimiser = torch.optim.Adam(net.parameters(), lr=3e-2)
    slower = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, steps)
    for step in range(steps):
        batch = Shift().sample(4, L, torch.Generator().manual_seed(step))
        optimiser.zero_grad()
        nn.functional.mse_loss(net(batch.inputs), batch.targets).backward()
        optimiser.step()
        slower.step()


def r2(found, wanted):
    off = found - wanted
    return 1 - (off**2).sum() / ((wanted - wanted.mean()) ** 2).sum()


L, nets = 256, {}
fresh = Shift().sample(64, L, torch.Generator().manual_seed(1_000_000))
for name, real in (("DLR", False), ("DLR-ℝ", True)):
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(3, 32), DLR(L, real), nn.Linear(32, 8))
    train(net, L)
    with torch.no_grad():
        found = net(fresh.inputs)
    scores = [r2(found[..., j], fresh.targets[..., j]) for j in range(8)]
    print(f"{name:5s} R2 = {r2(found, fresh.targets):.3f}; by output:", *(f"{max(s, 0):.2f}" for s in scores))
    nets[name] = net

# %% [markdown]
# Each of the 32 channels has a kernel. Where modes turn, their sum can be a spike; where they only fade, it cannot:

# %% jupyter={"source_hidden": true} tags=["hide-input", "varies", "nbval-ignore-output"]
learned = {name: net[1].kernel(L).detach().numpy() for name, net in nets.items()}
show.figure(
    ch06.learned_kernels(learned),
    alt="The kernels of 32 channels after training, over each other. Left, DLR: sharp spikes "
    "at the multiples of 32 lags and little between. Right, DLR-R: smooth lines without "
    "any spike.",
    caption="Live. What to see: on the left spikes at the dotted lines, the shifts that were "
    "asked for; on the right no lag stands out.",
)

# %% [markdown]
# Is it the training that fails, or the modes? It is the modes. Give DLR-ℝ's learned nodes the best weights that float64 can find,
# and they still miss ([06e](deeper/06e_paper_checked.ipynb)). Real modes are not useless, though: a moving average or a cumulative sum, whatever fades
# smoothly, is well within their reach.
#
# ## What to remember
#
# 1. A shift by $N - 1$ with $N$ real nodes in $[0, 1]$ costs $\|w\|_1 = 2^{2N-3}$ at least. Claim 1 is right but for a sign and an
#    index.
# 2. A polynomial that stays within $\pm1$ is a certificate: it bounds the weights from below, and Chebyshev's reaches the bound.
# 3. The table of powers of real nodes is ill-conditioned: floats lose the shift at $N = 13.5$ (float32) and 28 (float64). On the circle the
#    condition number is 1.
# 4. With a phase a shift costs $\|w\|_1 = 1$ on enough modes, and a trained DLR learns seven of eight such shifts in 400 steps.
#
# **Go deeper:**
#
# * [06a best nodes](deeper/06a_best_nodes.ipynb) (15 min): which nodes reach the bound, and why no others do.
# * [06b every shift](deeper/06b_every_shift.ipynb) (25 min): the proof of Theorem 2, the most expensive shift, and nodes in $[-1, 1]$.
# * [06c nearly exact](deeper/06c_nearly_exact.ipynb) (10 min): what changes if the kernel may be a little wrong.
# * [06d reach](deeper/06d_reach.ipynb) (25 min): how many modes with a phase a shift needs.
# * [06e paper checked](deeper/06e_paper_checked.ipynb) (20 min): the paper's Table 2 predicted and run, and where the paper says something else.
# * [06f running sum](deeper/06f_running_sum.ipynb) (10 min): the recurrence as a cumulative sum, and where its floats end.

# %% [markdown]
# ## Exercises
#
# You will find each exercise in its section. Stuck? `hint("06.1")`. Done? Compare with `solution("06.1")`.

# %% [markdown]
# <!-- The exercises of this chapter, listed by lrnnlab book build. -->
#
# 8 exercises, 27 points, about 75 minutes:
#
# | exercise | section | difficulty | minutes | points | you will learn |
# |---|---|---|---|---|---|
# | 1 | [2 Claim 1](#2-Claim-1) | ★ | 10 | 3 | to find the weights of a shift |
# | 2 | [3 The exact value](#3-The-exact-value) | ★★ | 15 | 5 | to prove that a polynomial is extremal |
# | 3 | [3 The exact value](#3-The-exact-value) | ★★ | 5 | 4 | to use the length of the interval |
# | 4 | [4 Where floats give out](#4-Where-floats-give-out) | ★ | 5 | 2 | to predict where a float loses a shift |
# | 5 | [5 Every shift, any number of nodes](#5-Every-shift,-any-number-of-nodes) | ★★ | 20 | 5 | to compute exact weights for every shift |
# | 6 | [5 Every shift, any number of nodes](#5-Every-shift,-any-number-of-nodes) | ★ | 5 | 2 | to guess which shift costs most |
# | 7 | [5 Every shift, any number of nodes](#5-Every-shift,-any-number-of-nodes) | ★ | 5 | 2 | to read a logarithmic axis |
# | 8 | [6 On the circle](#6-On-the-circle) | ★★ | 10 | 4 | to build a shift with small weights |
#
# <details><summary>Solution of 06.1</summary>
#
# By the formula of step 2: $1/(\frac14\cdot 1) = 4$;
# $1/(\frac14 \cdot (-\frac34)) = -\frac{16}{3}$; $1/(1 \cdot \frac34) = \frac43$. Their sum is 0, and so is their sum when each is
# multiplied by its node.
#
# </details>
#
# <details><summary>Solution of 06.2</summary>
#
# $N - 1$ zeros at least, and degree $N - 2$ at most. At the $N$ extrema $T^*$ is $\pm1$ in turn
# and $|cq| < 1$, so $T^* - cq$ has the signs of $T^*$: $N - 1$ changes, hence $N - 1$ zeros. But its leading
# terms cancel, its degree is at most $N - 2$: it would be 0, and it is not.
#
# </details>
#
# <details><summary>Solution of 06.3</summary>
#
# On $[0, a]$ the leading coefficient is $2^{2N-3}/a^{N-1} = 128/a^4$. It is 1 for
# $a = 2^{7/4} = 3.364$.
#
# </details>
#
# <details><summary>Solution of 06.4</summary>
#
# 5.5 and 10: with nodes in $[0, 1]$ the bits that are lost, $2N - 3$, reach 8 at 5.5; with nodes
# in $[-1, 1]$ they are $N - 2$, which is 8 at 10.
#
# </details>
#
# <details><summary>Solution of 06.5</summary>
#
# The weight of node $i$ is the coefficient of $x^S$ in
# $\ell_i(x) = \prod_{j\ne i}(x - \lambda_j)/(\lambda_i - \lambda_j)$: for a polynomial $p$ of degree below $N$,
# $p = \sum_i p(\lambda_i)\,\ell_i$, so $[x^S]\,p = \sum_i p(\lambda_i)\,[x^S]\,\ell_i$; with $p = x^k$ this is
# the one-hot. Multiply the factors out, one node after the other, in fractions:
#
# ```
# def real_weights(nodes, S):
#     weights = []
#     for i, node in enumerate(nodes):
#         coefficients, scale = [Fraction(1)], Fraction(1)
#         for other in nodes[:i] + nodes[i + 1:]:
#             shifted = [Fraction(0), *coefficients]
#             coefficients = [a - other * b for a, b in zip(shifted, [*coefficients, Fraction(0)])]
#             scale *= node - other
#         weights.append(coefficients[S] / scale)
#     return weights
# ```
#
# </details>
#
# <details><summary>Solution of 06.6</summary>
#
# The price rises to $3.6\cdot10^{10}$ at the shift by 11 and falls again. It is highest near $15/\sqrt 2 = 10.6$; notebook 06b
# proves why.
#
# </details>
#
# <details><summary>Solution of 06.7</summary>
#
# About 11 and 28: the shift by 12 costs $10^{41}$ with nodes in $[0, 1]$, and the one by 29 costs
# $10^{38.8}$ with nodes in $[-1, 1]$, where float32 ends at $10^{38.5}$. Negative nodes halve the exponent, and yet
# not one of the seven shifts is left of the crossing. (Long before, at $10^{7.2}$, float32 has lost the last digit
# that tells 0 from 1.)
#
# </details>
#
# <details><summary>Solution of 06.8</summary>
#
# The $L$-th roots of unity, each with the weight $\lambda^{-S}/L$:
#
# ```
# def circle_weights(L, S):
#     nodes = np.exp(2j * np.pi * np.arange(L) / L)
#     return nodes, nodes**-S / L
# ```
#
# At lag $k$ the kernel is the mean of $\lambda^{k-S}$ over all roots: 1 for $k = S$, and otherwise 0 (step 2 below).
#
# </details>

# %% [markdown]
# ## Read on
#
# * Gupta, Mehta, Berant, *Simplifying and understanding state space models with diagonal linear RNNs*, [arXiv:2212.00768](https://arxiv.org/abs/2212.00768): the paper of this chapter, chapter 05 and chapter 07.
# * Gautschi, *Optimally conditioned Vandermonde matrices*, Numerische Mathematik 24 (1975), [doi:10.1007/BF01437212](https://doi.org/10.1007/BF01437212): the numerical analyst's view of real nodes.
# * Orvieto, De, Gulcehre, Pascanu, Smith, *Universality of linear recurrences followed by non-linear projections*, [arXiv:2307.11888](https://arxiv.org/abs/2307.11888).
# * Ran-Milo and others, *Provable benefits of complex parameterizations for structured state space models*, [arXiv:2410.14067](https://arxiv.org/abs/2410.14067): what complex eigenvalues are good for.
