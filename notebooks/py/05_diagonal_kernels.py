# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 05 · Diagonal kernels
#
# Take twelve complex numbers that only turn, each at a steady speed of its own. Weight them, add them up, keep the real part. For
# 24 steps you get a single 1, at step 7, and 0 at all others:

# %% jupyter={"source_hidden": true} tags=["hide-input", "nbval-ignore-output"]
import numpy as np
import sympy as sp
import torch

import lrnnbook
from lrnnbook import show, tables
from lrnnbook.content.chapters import ch05
from lrnnbook.content.exercises import check, guess, hint, mine, solution
from lrnnbook.content.show.widgets import explore
from lrnnbook.content.tables import kernels
from lrnnbook.content.tables.regulargpt_fig4 import receptive_field
from lrnnlab import models, tasks, training

lrnnbook.needs("0.1")
show.figure(
    ch05.waves_on_disc("shift by 7, half circle"),
    alt="Left the unit circle with twelve modes on its upper half and their mirror images on the lower half. Right above "
        "twelve dots at each lag, spread evenly but at lag 7, where all are at the top, and at lag 31, at the bottom. Right "
        "below their sum: 1 at lag 7, -1 at lag 31 and 0 elsewhere.",
    caption="What to see: at lag 7 all twelve agree. At every other lag of the kernel they cancel. After 24 steps they agree "
            "again, upside down.",
)  # fmt: skip

# %% [markdown]
# Such sums are all that the simplest recurrent layer can remember. Each number of its state is multiplied by a constant at every step,
# and the input is added. With the constants above, the layer repeats its input seven steps later.
#
# **What we ask.** *Which kernels can $N$ exponentials make?* Paper 004 (Gupta, Mehta and Berant, 2022) builds a model on such
# sums, the DLR (diagonal linear RNN). On one benchmark, at four lengths, its $R^2$ is .83, .39, .25 and .22. You will predict these
# four numbers to within .03, by counting modes, without any training.
#
# *You need:* complex numbers, and that $e^{i\theta}$ turns by $\theta$. *It takes* about 45 min to read and 1 h 20 min for the exercises, and about a minute of computing.
# Chapter 06 shows what happens if the numbers are real.

# %% [markdown]
# A **mode** is one number of the state with its weight $w$; its **node** is the constant $\lambda = |\lambda|e^{i\theta}$ that multiplies it at every
# step. So at step $k$ it adds $w\lambda^k$: it has turned $k$ times by $\theta$. Each ring is a mirror image, $\bar\lambda$. The sum at step $k$ is *tap* $k$
# of the **kernel**, $k$ is its *lag*, and the second peak, upside down, is the *echo* of the first. Grey is the kernel that you want. Drag the modes,
# or go to one with Tab and move it with the arrow keys (with Shift five times as far). Draw an input of your own, and see what the layer makes of it.

# %% jupyter={"source_hidden": true} tags=["hide-input", "nbval-ignore-output"]
disc_widget = ch05.modes_widget("shift by 7, half circle")
disc_widget

# %% [markdown]
# Try four things:
#
# * **Break and repair.** Choose *drag: one mode*, and turn one by 10°. The twelve waves no longer cancel. Now press *fit the weights again*. Do the
#   same with "shift by 7, DFT grid": there no weights are enough.
# * **Fade.** Put back, and drag all modes to radius 0.97: the peak becomes lower, and so does the echo. Fitted again, the peak is 1, and the echo fades. At
#   radius 1.02 the layer explodes. The paper writes $\lambda = e^{-a^2 + i\theta}$ so that this cannot happen.
# * **Turn.** "Shift by 7, DFT grid" has the twelve 12-th roots of unity. Modes and mirror images coincide, and the rank in the last
#   sentence, the number of independent kernels, is 12. Turn all by 5°: it is 24, and you can fit. Turn them by 15°: they coincide again.
# * **One mode.** Can you find the fading sine with one mode? (Drag a little, then fit.)

# %% [markdown]
# ## 1 A recurrence is a convolution
#
# The layer is linear, so you know all of it once you know its answer to a single 1. Here it is, in symbols:
#
# > **The paper, Eq. 1.** $x_k = \mathrm{diag}(\Lambda)\,x_{k-1} + \mathbf 1\cdot u_k$, $\quad y_k = \langle w, x_k\rangle$, with $\Lambda, w \in \mathbb C^N$.
#
# **Step 1: one mode.** $x_{n,k} = \lambda_n x_{n,k-1} + u_k$ unrolls to $x_{n,k} = \sum_{j \le k} \lambda_n^{\,j}\,u_{k-j}$ (Eq. 3).
#
# **Step 2: add them up.** $y_k = \sum_{j\le k} K_j\,u_{k-j}$ with the kernel $K_j = \sum_n w_n \lambda_n^{\,j}$ (Eq. 4). So the
# kernel is the answer to the input $1, 0, 0, \dots$, the *impulse response*.
#
# **Step 3: cast to reals.** The input is real, so $\mathrm{Re}\,y$ is the convolution with $\mathrm{Re}\,K$. A mode $\lambda$
# then always brings its mirror image $\bar\lambda$ with it: $\mathrm{Re}(w\lambda^j) = \frac12(w\lambda^j + \bar w\bar\lambda^j)$.
# Keep that in mind; it decides much below.
#
# The check: **all modes, weights and inputs** as free symbols, for two modes and five inputs.

# %% jupyter={"source_hidden": true} tags=["hide-input", "proof-convolution"]
lam, w, u = sp.symbols("lambda1:3"), sp.symbols("w1:3"), sp.symbols("u0:5")
K = [w[0] * lam[0] ** j + w[1] * lam[1] ** j for j in range(5)]
x = [sp.S(0), sp.S(0)]
for k in range(5):
    x = [sp.expand(lam[n] * x[n] + u[k]) for n in (0, 1)]
    unrolled = [sum(lam[n] ** j * u[k - j] for j in range(k + 1)) for n in (0, 1)]
    assert [sp.expand(a - b) for a, b in zip(x, unrolled)] == [0, 0], (
        "The convolution, step 1: a mode unrolled"
    )
    y = w[0] * x[0] + w[1] * x[1]
    assert sp.expand(y - sum(K[j] * u[k - j] for j in range(k + 1))) == 0, (
        "The convolution, step 2: the output is a convolution"
    )
mode = sp.Symbol("z")  # w lambda^j, any complex number
assert sp.expand_complex(sp.re(mode) - (mode + sp.conjugate(mode)) / 2) == 0, (
    "The convolution, step 3: the mean"
)
mirror = sp.conjugate(w[0]) * sp.conjugate(lam[0]) ** 3
assert sp.conjugate(w[0] * lam[0] ** 3) == mirror, "The convolution, step 3: the mirror image"
show.math("y_1 =", sp.collect(sp.expand(K[1] * u[0] + K[0] * u[1]), u))

# %% [markdown]
# Build it, with NumPy alone, in three steps: the kernel, the convolution, and (in section 4) the way back from a wanted kernel to weights.
#
# **Exercise 1** ★ *(5 min, 3 points: to compute a layer's kernel)* **Build.** A function of the
# nodes $\lambda_n$ of the modes, their weights $w_n$ (arrays of $N$ complex numbers) and $L$ that returns the
# $L$ real numbers $\mathrm{Re}\sum_n w_n\lambda_n^{\,j}$, $j = 0, \dots, L-1$.

# %%
# %%build kernel
import numpy as np


def kernel(nodes, weights, L):
    raise NotImplementedError  # your lines


# %% [markdown]
# <!-- Exercise 05.1: from notebooks/lrnnbook/content/exercises/ch05.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint</summary>
#
# `nodes ** np.arange(L)[:, None]` is a table with a row for each lag.
#
# </details>

# %% [markdown]
# An FFT is the fast way to convolve. It computes a *circular* convolution, on a ring where the end of a sequence runs into its
# beginning, so the ring must be long enough.
#
# **Exercise 2** ★★ *(10 min, 4 points: to compute a causal convolution)* **Build.** A function of a kernel and an input, $T$ real numbers each, that returns the $T$ outputs
# $y_k = \sum_{j \le k} K_j\,u_{k-j}$, for every $T \ge 1$. Try it by the FFT (`np.fft.rfft` and `np.fft.irfft`); `np.convolve` is fine, too.

# %%
# %%build convolve
import numpy as np


def convolve(kernel, u):
    raise NotImplementedError  # your lines


# %% [markdown]
# <!-- Exercise 05.2: from notebooks/lrnnbook/content/exercises/ch05.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint 1</summary>
#
# How long must the ring be for the end not to run into the beginning? (Notebook 05a, section 2.)
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# `np.fft.rfft(u, n)` appends zeros to `u` until there are `n` numbers, and `np.fft.irfft(..., n)` gives
# `n` back.
#
# </details>

# %% [markdown]
# Now run the twelve modes of the first picture on an input: once by your convolution, once by the recurrence, a step after the other.

# %% tags=["nbval-ignore-output"]
kernel, convolve = mine("kernel"), mine("convolve")
nodes = np.exp(1j * np.pi * (np.arange(12) + 0.5) / 12)
weights = nodes**-7 / 12
u = np.random.default_rng(3).standard_normal(24).cumsum()
by_kernel = convolve(kernel(nodes, weights, 24), u)

x, by_steps = np.zeros(12), []
for u_k in u:
    x = nodes * x + u_k
    by_steps.append((weights @ x).real)
ch05.show_shift(u, by_kernel, np.array(by_steps))

# %% [markdown]
# ## 2 Is a full matrix better?
#
# A diagonal matrix looks like a poor one. What do you lose when you give up all other entries? Nothing, says the paper. The section is called "DLRs are
# as expressive as general linear RNNs", and has:
#
# > **The paper, Proposition 1.** "Let $A \in \mathbb C^{N\times N}$ be diagonalizable over $\mathbb C$ as $V\mathrm{diag}(\Lambda)V^{-1}$. Then, $\exists w \in \mathbb C^N$ such that DLR parameterized by $\Lambda, w$ computes the same map"
# > as $x_k = A x_{k-1} + B u_k$, $y_k = C x_k$.
#
# **Step 1 (powers of a diagonalisable matrix).** $A^j = V\,\mathrm{diag}(\Lambda)^j\,V^{-1}$, so the kernel is
# $C A^j B = (CV)\,\mathrm{diag}(\Lambda)^j\,(V^{-1}B)$.
#
# **Step 2 (read off the weights).** A row times a diagonal times a column is $\sum_n (CV)_n \lambda_n^{\,j} (V^{-1}B)_n$. So
# $w_n = (CV)_n (V^{-1}B)_n$. $\blacksquare$ The check: **all diagonalisable $2 \times 2$ matrices,** powers up to 3.

# %% jupyter={"source_hidden": true} tags=["hide-input", "proof-proposition_1"]
first, second = sp.symbols("lambda1 lambda2")
V, Lam = sp.Matrix(2, 2, sp.symbols("v1:5")), sp.diag(first, second)
B, C = sp.Matrix(sp.symbols("B1 B2")), sp.Matrix([sp.symbols("C1 C2")])
A = V * Lam * V.inv()
for j in range(4):
    assert sp.simplify(A**j - V * Lam**j * V.inv()) == sp.zeros(2), (
        "Proposition 1, step 1: A^j = V Lambda^j V^-1"
    )
show.math("V^{-1} A^2 V =", sp.simplify(V.inv() * A**2 * V))

w = [left * right for left, right in zip(C * V, V.inv() * B)]
for j in range(4):
    tap = (C * A**j * B)[0]
    assert sp.simplify(tap - (w[0] * first**j + w[1] * second**j)) == 0, (
        "Proposition 1, step 2: the weights are read off"
    )
show.math("w_1 =", sp.factor(w[0]))

# %% [markdown]
# So the proposition is right, and the section's title says more than it. *Diagonalisable* is needed. Take the **delay line**, which hands its input on from cell to cell: with three cells
# $y_k = u_{k-2}$, and the kernel is $0, 0, 1, 0, 0, \dots$, with zeros for ever.
#
# > **The corrected title.** Every *diagonalisable* linear RNN is a DLR. A delay line by $S \ge 1$ steps is no DLR of any size.
#
# Why not? A sum of $M$ different exponentials (none of them 0) that is 0 for $M$ lags in a row is 0 for ever. So the first
# picture must have an echo: after 24 steps its waves agree again, upside down. Notebook [05b](deeper/05b_delay_line_and_dss.ipynb) proves it, and
# comes as near to a delay line as you like, with weights that explode.

# %% [markdown]
# ## 3 Half a circle is better
#
# Where should training start? The paper spreads the modes evenly over the whole circle, at the angles $2\pi n/N$. Then "$K = \mathrm{DFT}\cdot w$",
# and as the DFT can be inverted, $N$ weights give any kernel of length $N$ ([05c](deeper/05c_where_modes_start.ipynb) proves it). But a layer casts its
# kernel to reals, and $N$ complex weights are $2N$ real numbers. Do they make all real kernels of length $2N$?
#
# The panel opens on the paper's start with 16 modes, asked for kernels of length 32. On the right are the singular values of the
# real table of powers $\lambda_n^{\,j}$. Each one above 0 is a direction in which the kernel can be changed. Their number is the rank, and largest over smallest is the *condition number*.
#
# * Close the arc from 360 to 180, and watch rank and condition number.
# * Then let the modes fade: set their radius $|\lambda|$ to 0.9. What does fading cost?

# %% jupyter={"source_hidden": true} tags=["hide-input", "nbval-ignore-output"]
start_widget = explore(
    lambda arc, radius: ch05.start_spectrum(arc, N=16, per_mode=2, r=radius),
    {"arc": [180, 210, 240, 270, 300, 330, 360], "radius": [0.9, 0.95, 1.0]},
    sentence=lambda arc, radius: ch05.start_sentence(arc, N=16, per_mode=2, r=radius),
    initial={"arc": 360, "radius": 1.0},
    alt="Modes on an arc of the circle with their mirror images, and the singular values of "
        "their table of powers.",
)  # fmt: skip
start_widget


# %% [markdown]
# On the full circle each dot lies in a ring. With each $\lambda$ it has $\bar\lambda$ already, so the mirror images bring nothing
# new, and half of the weights are wasted. Half a circle wastes none:
#
# > **Theorem (ours).** $\lambda_n = e^{i\pi(2n+1)/(2N)}$, $n = 0 \dots N-1$, gives *every* real kernel of length $2N$, with condition number 1.
#
# **Step 1 (the roots).** $(e^{i\theta})^{2N} = -1$ for $\theta = \pi(2n+1)/(2N)$, $n = 0\dots 2N-1$. These $2N$ roots of $z^{2N} + 1$ come in conjugate
# pairs, and none is real. Our $N$ are those of the upper half. So modes and mirror images are all $2N$ roots.
#
# **Step 2 (rows are orthogonal).** Row $j$ of the real table holds $\mathrm{Re}\,\lambda_n^{\,j}$ and $-\mathrm{Im}\,\lambda_n^{\,j}$ for
# all modes. Take two rows that are $k$ lags apart. As $|\lambda_n| = 1$, their product is $\sum_n \mathrm{Re}\,\lambda_n^{\,k}$, and twice
# this is the sum of the $k$-th powers of all $2N$ roots: $2N$ at $k = 0$, and 0 for $0 < k < 2N$. So the rows are orthogonal, and all have the same length:
# rank $2N$, condition number 1. $\blacksquare$
#
# **Step 3 (the paper's grid).** On the full circle rows that are $N$ lags apart are equal, so the rank is only $N$.
#
# The check, in whole numbers: **all $N \le 8$**, and step 1 on the full circle, where it fails.

# %% jupyter={"source_hidden": true} tags=["hide-input", "proof-half_circle"]
def circle(N, full=False):
    return [4 * n if full else 2 * n + 1 for n in range(N)]  # in units of a 4N-th turn


for N in range(2, 9):
    together = {e % (4 * N) for e in circle(N)} | {-e % (4 * N) for e in circle(N)}
    assert together == {e for e in range(4 * N) if 2 * N * e % (4 * N) == 2 * N}, (
        f"The half circle, step 1: N = {N}"
    )
    assert not together & {0, 2 * N}, "The half circle, step 1: none is 1 or -1"

def products(places, N):
    return [
        kernels.root_sum([sign * e * k for e in places for sign in (1, -1)], 4 * N)
        for k in range(2 * N)
    ]


def rank(row):
    return sp.Matrix(len(row), len(row), lambda i, j: row[abs(i - j)]).rank()


for N in range(2, 9):
    assert products(circle(N), N) == [2 * N] + [0] * (2 * N - 1), (
        "The half circle, step 2: twice the products"
    )
    assert rank(products(circle(N), N)) == 2 * N, "The half circle, step 2: the rank"

for N in range(2, 9):
    assert rank(products(circle(N, full=True), N)) == N, (
        "The half circle, step 3: the rank of the grid is N"
    )
print("N = 2 to 8: modes and mirror images are all roots, and the rank is 2N; on the full circle it is N")

with show.expect_failure("The half circle, step 1"):
    for N in range(2, 9):
        together = {e % (4 * N) for e in circle(N, full=True)} | {
            -e % (4 * N) for e in circle(N, full=True)
        }
        assert together == {e for e in range(4 * N) if 2 * N * e % (4 * N) == 2 * N}, (
            f"The half circle, step 1: N = {N}"
        )

# %% [markdown]
# **Exercise 3** ★★ *(15 min, 5 points: to prove that half a circle is enough)* **A proof step.** Prove that $z^{2N} + 1$ has
# its roots in conjugate pairs, none of them real, and that the sum of their $k$-th powers is 0 for $0 < k < 2N$.
# Where does this fail for $z^{2N} - 1$? And how many of *its* roots have an imaginary part of 0 or more?

# %%
my_roots = None  # a function of N: the number for z^(2N) - 1
check("05.3", my_roots)

# %% [markdown]
# <!-- Exercise 05.3: from notebooks/lrnnbook/content/exercises/ch05.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint 1</summary>
#
# Write $z = e^{i\theta}$; the sum is a geometric series.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# Which roots of the two polynomials are real?
#
# </details>

# %% [markdown]
# ## 4 How many modes does a shift need?
#
# For given nodes the kernel is linear in the weights. So the best approximation of a wanted kernel is a projection, which you can compute.
#
# **Exercise 4** ★★ *(15 min, 5 points: to fit a kernel by least squares)* **Build.** A function of the nodes and of the $L$
# wanted real numbers that returns the $N$ complex weights whose kernel, cast to reals, is nearest (least squares:
# `np.linalg.lstsq`).

# %%
# %%build fit_weights
import numpy as np


def fit_weights(nodes, wanted):
    raise NotImplementedError  # your lines


# %% [markdown]
# <!-- Exercise 05.4: from notebooks/lrnnbook/content/exercises/ch05.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint 1</summary>
#
# With $w = a + \mathrm ib$: what is $\mathrm{Re}(w\lambda^j)$ in the real unknowns $a$ and $b$?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# The real table has $2N$ columns, $\mathrm{Re}\,\lambda_n^{\,j}$ and $-\mathrm{Im}\,\lambda_n^{\,j}$.
#
# </details>

# %% [markdown]
# Here are five wanted kernels of length 64, and your fits with 32 modes, on the paper's circle and on the half circle:

# %% tags=["nbval-ignore-output"]
fit_weights = mine("fit_weights")


def full(N):
    return np.exp(2j * np.pi * np.arange(N) / N)


def half(N):
    return np.exp(1j * np.pi * (np.arange(N) + 0.5) / N)


goals, fits = kernels.targets(64), {}
for circle, nodes in (("full circle", full(32)), ("half circle", half(32))):
    for name, wanted in goals.items():
        fits[circle, name] = kernel(nodes, fit_weights(nodes, wanted), 64)
ch05.show_fits(goals, fits)

# %% [markdown]
# The hardest kernel is a **one-hot**: 1 at one lag $S$ and 0 at the others. It shifts the input by $S$. How does its error fall with the number of modes?

# %% jupyter={"source_hidden": true} tags=["hide-input", "nbval-ignore-output"]
fit_widget = explore(
    ch05.fit_by_modes,
    {"target": list(kernels.targets(ch05.LENGTH)), "family": list(kernels.families(4)),
     "N": [2, 4, 6, 8, 9, 10, 12, 16, 17, 18, 24, ch05.LENGTH]},
    initial={"target": "shift by L/2", "family": "half circle", "N": 8}, sentence=ch05.fit_sentence,
    alt="Left a target kernel with the best fit of N modes of a family, right the least error by N for five families. It opens "
        "on a one-hot at lag 16 of 32 and 8 half-circle modes, whose kernel is half as high, with an echo. The error of the half "
        "circle falls to 0 from N = 8 to 10, of both circles at 18, and of real modes stays near 1 for long.",
)  # fmt: skip
fit_widget

# %% [markdown]
# The error is the distance from the wanted kernel, over its norm. It does not fade away, it falls off a cliff: at $N = 9$ for the
# half circle, and at $N = 17$ for the paper's grid, *circle (DFT)*. Why there? A sum of $M$ exponentials obeys a recurrence: of any $M + 1$ taps in a row, the first and
# the last are combinations of the others. With $M$ zeros in a row, before the 1 or after it, the 1 would be 0 too. Cast to reals, $N$ modes
# and their mirror images are $M = 2N$ exponentials; on the paper's grid, where they coincide, $M = N$. The two counts of this chapter, for nodes that you may choose (not 0):
#
# | a shift by $S$ | is possible if and only if | theorem |
# |---|---|---|
# | exactly, on the lags $0 \dots L-1$ | $M \ge \max(S + 1,\; L - S)$ | exact shifts, [05d](deeper/05d_exact_shifts.ipynb) |
# | nearly, at every length, lag 0 free | $M \ge S$ | the reach, [06d](deeper/06d_reach.ipynb) |
#
# The half circle reaches the first bound. But must a layer be exact? Let the modes of the half circle fade, $|\lambda_n| = r < 1$, and their echoes fade with them. This gives the second count (lag 0 is free because
# the layer's skip weight sets it):
#
# > **Theorem (the reach).** If $S \le 2N$, then for every error $0 < d < 1$ some kernel of $N$ modes, cast to reals, is 1 at $S$ and at most $d$ in size at every other lag but 0, **for all lengths at once**.
# > Its weights have $\|w\|_1 = d^{-S/2N} \le 1/d$. If $S > 2N$ and $L \ge 2S$, every kernel of $N$ modes misses the one-hot by at least $\sqrt{1 - 2N/S}$ of its norm.
#
# Back in the panel, try other kernels, and other families of modes.
#
# * How does the paper's DFT grid do on the fading sine? And real modes?
# * "Noise" has no structure that few modes could use: how does its error fall?
# * Where is the cliff of each family for "shift by L/4"?

# %% [markdown]
# **Exercise 5** ★★ *(15 min, 5 points: to make a shift with as few modes as possible)* **Code.** Write a
# function that gives modes and weights whose kernel, cast to reals, is the one-hot at $S$ on the lags $0 \dots L-1$,
# with as few modes as possible (the mirror images do not count).

# %%
my_shift = None  # a function of (S, L); it returns two lists, nodes and weights
check("05.5", my_shift)

# %% [markdown]
# <!-- Exercise 05.5: from notebooks/lrnnbook/content/exercises/ch05.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint 1</summary>
#
# Take the half circle with $N = \lceil \max(S+1, L-S)/2\rceil$.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# The weights are $\lambda^{-S}/N$.
#
# </details>

# %% [markdown]
# **Exercise 6** ★★ *(5 min, 3 points: to count modes)* **Predict.** On $L = 64$ lags, how many of the
# seven shifts by $8, 16, \dots, 56$ can a DLR with $N = 24$ modes, cast to reals, make *exactly*? (The first count, by its kernel
# alone, lag 0 included. In section 5 it is trained on them, with the skip weight, and the second count applies.)

# %%
my_count = None  # a whole number
check("05.6", my_count)

# %% [markdown]
# <!-- Exercise 05.6: from notebooks/lrnnbook/content/exercises/ch05.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint 1</summary>
#
# With the mirror images there are $2N = 48$ modes.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# A shift by $S$ needs $\max(S + 1, L - S)$.
#
# </details>

# %% [markdown]
# ## 5 Predict the paper's scores
#
# The benchmark **Shift** asks for eight copies of the input at once, moved by $0, L/8, \dots, 7L/8$: eight one-hot kernels. The
# paper's layer has $N = 4096$ modes, and $L$ goes up to a million. The score is
# $R^2$, 1 less the squared error over the variance. First a warning: **a score of .22 means that nothing has been learned**. The
# answer has eight columns. Copy the input into the first one, where nothing is shifted, write 0 into the others, and you score $2/9$.
#
# Now count. By the second count the modes make the shifts with $jL/8 \le 2N$. Suppose that the other shifts are not learned at all. A shift by
# $jL/8$ begins with $jL/8$ zeros, so output $j$ has the share $1 - j/8$ of the input's variance. All eight together have 4.5 of
# these shares, and
#
# $$R^2 = \frac1{4.5}\sum_{jL/8 \le 2N}\Big(1 - \frac j8\Big).$$

# %% jupyter={"source_hidden": true} tags=["hide-input", "nbval-ignore-output"]
PAPER = tables.dlr_table2.printed()
paper = {2**power / N: PAPER.loc[row, f"2^{power}"] for row, N in (("dlr", 4096), ("dlr_small", 512)) for power in (14, 16, 18, 20)}
means = tables.results.runs("dlr/table2").astype({"task": int}).groupby(["row", "task"])["r2"].mean()["dlr"]
show.figure(
    ch05.predicted_scores(paper, {L / 32: score for L, score in means.items()}),
    alt="R2 on Shift by L over N, from 2 to 4096. A falling staircase from 1 to two ninths, reached at 16. Four scores of ours "
        "and eight of the paper lie on it or just beside it.",
    caption="What to see: the count predicts the scores, and nothing is fitted. Paper: N = 4,096 and 512, at L = 2^14 to 2^20. "
            "Recorded: our own runs, with N = 32 and L = 128 to 1,024.",
)  # fmt: skip


# %% [markdown]
# With $N = 4096$ the paper's DLR scores .83, .39, .25 and .22. The staircase says .833, .417, .222 and .222. (Just past its last
# step a layer scores a little more than nothing: [05f](deeper/05f_shift_and_reverse.ipynb) says why, and has the tables.)
#
# Does a layer that you train obey the count? Here is a whole DLR with one input and eight outputs, and Shift, at $L = 64$:

# %%
class DLR(torch.nn.Module):
    def __init__(self, nodes, outputs=8):  # nodes on the unit circle
        super().__init__()
        N, param = len(nodes), torch.nn.Parameter
        self.a = param(torch.full((N,), 0.002))
        self.theta = param(torch.tensor(np.angle(nodes)).float())
        self.w = param(torch.randn(outputs, N, 2) / N)
        self.skip = param(torch.zeros(outputs, 1))

    def kernel(self, L):  # (outputs, L): Re sum_n w_n lambda_n^j
        log_lambda = torch.complex(-self.a**2, self.theta)
        powers = torch.exp(log_lambda[:, None] * torch.arange(L))
        return (torch.view_as_complex(self.w) @ powers).real

    def forward(self, u):  # (strings, L) -> (strings, outputs, L)
        L = u.shape[-1]
        K = torch.fft.rfft(self.kernel(L), 2 * L)
        U = torch.fft.rfft(u, 2 * L)[:, None]
        return torch.fft.irfft(K * U)[..., :L] + self.skip * u[:, None]


def shifts(strings, L=64):  # inputs, and copies moved by 0, 8, ..., 56
    u = torch.randn(strings, L)
    moved = [u.roll(S, 1) * (torch.arange(L) >= S) for S in range(0, L, 8)]
    return u, torch.stack(moved, 1)


def train(layer, steps=300):
    optimiser = torch.optim.Adam(layer.parameters(), lr=0.01)
    for _ in range(steps):
        u, wanted = shifts(16)
        loss = (layer(u) - wanted).square().mean()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    return layer


# %% tags=["varies", "nbval-ignore-output"]
torch.manual_seed(0)
layers = {"64 modes, full circle": train(DLR(full(64))),
          "16 modes, full circle": train(DLR(full(16))),
          "16 modes, half circle": train(DLR(half(16)))}  # fmt: skip
u, wanted = shifts(512)
for name, layer in layers.items():
    off = (layer(u) - wanted).square().sum() / wanted.square().sum()
    count = kernels.predicted_r2(64, len(layer.theta))
    print(f"{name}: R² {1 - off:.3f}, predicted {count:.3f}")

# %% [markdown]
# The counts say 1 for 64 modes and .833 for 16, on either start; training comes a little short of the second. Here is what the layers have learned. Each row is the kernel of one
# output, and should be a single 1:

# %% jupyter={"source_hidden": true} tags=["varies", "hide-input", "nbval-ignore-output"]
maps = {}
for name in ("64 modes, full circle", "16 modes, half circle"):
    maps[name] = layers[name].kernel(64).detach().numpy()
    maps[name][:, 0] += layers[name].skip.detach().numpy()[:, 0]
show.figure(
    ch05.kernel_maps(maps, marks=[8 * j for j in range(8)]),
    alt="Two maps of eight kernels over 64 lags. With 64 modes each row has one strong tap, the eight on a diagonal. With 16 modes the "
        "diagonal breaks off after the row of the shift by 32.",
    caption="Live. Every row is the kernel of one output, with the skip weight at lag 0 (brown 1, white 0, purple -1); triangles mark the eight shifts. What to see: 64 modes make "
            "all eight; 16 modes reach lag 32 = 2N, and the rows of the shifts by 40, 48 and 56 are nearly empty.",
)  # fmt: skip


# %% [markdown]
# **Exercise 7** ★ *(5 min, 3 points: to predict what training reaches)* **Predict** before you run:
# the DLR of exercise 6, with 24 modes on the half circle, is trained on Shift. Of the eight outputs, the shifts by 0, 8,
# ..., 56, how many get an R² above one half?

# %% tags=["nbval-ignore-output"]
def outputs_learned():
    torch.manual_seed(0)
    layer, (u, wanted) = train(DLR(half(24))), shifts(512)
    off = (layer(u) - wanted).square().sum((0, 2))
    found = 1 - off / wanted.square().sum((0, 2))
    said = ", ".join(f"by {8 * j}: {R2:.2f}" for j, R2 in enumerate(found))
    return int((found > 0.5).sum()), f"R² of each: {said}"


guess("05.7", outputs_learned)

# %% [markdown]
# <!-- Exercise 05.7: from notebooks/lrnnbook/content/exercises/ch05.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint 1</summary>
#
# Which shifts are within reach of $2N = 48$?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# An echo comes 48 lags away, upside down.
#
# </details>

# %% [markdown]
# ## 6 How far back does it look?
#
# The **receptive field** says how much each earlier input counts: it is the size of $\partial y_T/\partial u_{T-j}$ as a function of
# $j$. For one linear layer it is $|K_j|$. Two linear layers one after the other have the kernel $K * K'$, the convolution of the two.

# %% tags=["varies", "nbval-ignore-output"]
layer = layers["16 modes, half circle"]
u = torch.zeros(1, 64, requires_grad=True)
last = layer(u)[0, 3, -1]  # output 3, the shift by 24, at the last step
(slope,) = torch.autograd.grad(last, u)
K = layer.kernel(64)[3].detach()
K[0] += layer.skip[3, 0].detach()
apart = (slope[0].flip(0) - K).abs().max()
print(f"largest difference between gradient and kernel: {apart:.0e}")

# %% [markdown]
# So does depth make a net look further back? Here are stacks of the paper's layers whose modes fade fast:

# %% jupyter={"source_hidden": true} tags=["varies", "hide-input", "nbval-ignore-output"]
noise, fields = torch.randn(1, 128, 3, generator=torch.Generator().manual_seed(0)), {}
for depth in (1, 2, 4, 8):
    found = []
    for seed in range(32):
        torch.manual_seed(seed)
        stacked = models.blocks(lambda width: models.layers.DLR(width, state=64, dt=(0.2, 0.5)), 16, depth, **models.block.PAPER_004)
        found.append(receptive_field(models.Net(stacked, 1, 16, columns=3), noise))
        found[-1] /= found[-1].max()
    fields[f"{depth} layer{'s' * (depth > 1)}"] = np.mean(found, 0)
show.figure(
    ch05.receptive_fields(fields, share=0.01, steps=60),
    alt="Receptive fields of stacks of 1, 2, 4 and 8 layers on a logarithmic axis, each with a dot where it falls to one percent: the dots lie further "
        "back with depth, and the lines are as steep beyond them.",
    caption="Live, the mean of 32 untrained stacks of each depth, whose modes keep exp(-dt/2) of their size a step. What to see: depth moves the "
            "place where 1 % is left (dots, with the lag), but a fading kernel keeps fading: layers bring in powers of j (exercise 8), not another rate.",
)  # fmt: skip

# %% [markdown]
# And here are two layers that learn Shift:

# %% jupyter={"source_hidden": true} tags=["varies", "hide-input", "nbval-ignore-output"]
untrained, deep, reached = ch05.train_dlr(tasks.atomic.Shift(), 64, steps=150, layers=2, state=64)
inputs = tasks.atomic.Shift().sample(32, 64, training.rng(0, "fields")).inputs
looked = receptive_field(deep, inputs)
deep.load_state_dict(untrained)
right = looked[::-1][::8].min() / np.delete(looked[::-1], np.arange(0, 64, 8)).max()
show.figure(
    ch05.receptive_fields(
        {"at its start": receptive_field(deep, inputs), "trained": looked},
        marks=[8 * j for j in range(8)],
    ),
    alt="Receptive fields of a stack of two layers on Shift. At its start the newest "
    "position counts most and all others about alike; after training there are peaks at multiples of 8.",
    caption="Live. Grey: where the answer is. What to see: the trained stack looks at the "
    f"eight places that matter: the least of them counts {right:.1f} times as much as the largest other. "
    "The start already looked everywhere.",
)
assert reached > 0.9 and right > 1, "two layers learn Shift, and look where the answer is"

# %% [markdown]
# **Exercise 8** ★★ *(10 min, 4 points: to see what depth does to a fading kernel)* **A proof step.** A layer has one mode,
# $K_j = r^j$ with $0 < r < 1$, and $m$ such layers follow one another, with nothing between. What is the
# kernel of the stack? Where is its largest tap?

# %%
my_tap = None  # a function of (r, m, j): tap j of the stack
check("05.8", my_tap)

# %% [markdown]
# <!-- Exercise 05.8: from notebooks/lrnnbook/content/exercises/ch05.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint</summary>
#
# How many ways are there to split $j$ steps over $m$ layers?
#
# </details>

# %% [markdown]
# ## What to remember
#
# 1. A diagonal recurrence is a convolution, and its kernel a sum of exponentials. Every diagonalisable linear RNN is the same thing; a delay line is not.
# 2. Cast to reals, $N$ modes have $2N$ real weights. The paper's full circle uses half of them. The half circle has every real kernel of length $2N$, with condition number 1.
# 3. With $M$ exponentials (2N, if modes and mirror images differ) an exact shift needs $M \ge \max(S + 1, L - S)$. A nearly exact one needs $M \ge S$, at every length: this is what training uses, and what predicts the paper's scores.
# 4. A linear layer looks back as far as its kernel. More layers add powers of $j$ to a fading kernel, not another rate.
#
# **Go deeper:**
#
# * [05a layer and fft](deeper/05a_layer_and_fft.ipynb) (15 min): the layer built from its parameters, and how long its FFT must be.
# * [05b delay line and dss](deeper/05b_delay_line_and_dss.ipynb) (25 min): which recurrences are a DLR, and what it costs to come near one that is not.
# * [05c where modes start](deeper/05c_where_modes_start.ipynb) (15 min): the paper's start, its decays, and kernels before and after training.
# * [05d exact shifts](deeper/05d_exact_shifts.ipynb) (20 min): the proof of the cliff, and which kernels which modes fit.
# * [05e product of kernels](deeper/05e_product_of_kernels.ipynb) (20 min): DLR-prod has $N(N+1)$ modes, not $4N^2$.
# * [05f shift and reverse](deeper/05f_shift_and_reverse.ipynb) (25 min): why one convolution cannot reverse a sequence, our records of Shift, where the paper says something else, and what all this does not show.

# %% [markdown]
# ## Exercises
#
# You will find each exercise in its section (others are in the lettered notebooks). Stuck? `hint("05.1")`. Done? Compare with `solution("05.1")`.

# %% [markdown]
# <!-- The exercises of this chapter, listed by lrnnlab book build. -->
#
# 8 exercises, 32 points, about 80 minutes:
#
# | exercise | section | difficulty | minutes | points | you will learn |
# |---|---|---|---|---|---|
# | 1 | [1 A recurrence is a convolution](#1-A-recurrence-is-a-convolution) | ★ | 5 | 3 | to compute a layer's kernel |
# | 2 | [1 A recurrence is a convolution](#1-A-recurrence-is-a-convolution) | ★★ | 10 | 4 | to compute a causal convolution |
# | 3 | [3 Half a circle is better](#3-Half-a-circle-is-better) | ★★ | 15 | 5 | to prove that half a circle is enough |
# | 4 | [4 How many modes does a shift need?](#4-How-many-modes-does-a-shift-need?) | ★★ | 15 | 5 | to fit a kernel by least squares |
# | 5 | [4 How many modes does a shift need?](#4-How-many-modes-does-a-shift-need?) | ★★ | 15 | 5 | to make a shift with as few modes as possible |
# | 6 | [4 How many modes does a shift need?](#4-How-many-modes-does-a-shift-need?) | ★★ | 5 | 3 | to count modes |
# | 7 | [5 Predict the paper's scores](#5-Predict-the-paper's-scores) | ★ | 5 | 3 | to predict what training reaches |
# | 8 | [6 How far back does it look?](#6-How-far-back-does-it-look?) | ★★ | 10 | 4 | to see what depth does to a fading kernel |
#
# <details><summary>Solution of 05.1</summary>
#
# The table of powers, times the weights:
#
# ```
# def kernel(nodes, weights, L):
#     return (nodes ** np.arange(L)[:, None] @ weights).real
# ```
#
# </details>
#
# <details><summary>Solution of 05.2</summary>
#
# A ring of $2T$ places, of which the first $T$ outputs are kept ($2T - 1$ would do):
#
# ```
# def convolve(kernel, u):
#     T = len(u)
#     return np.fft.irfft(np.fft.rfft(kernel, 2 * T) * np.fft.rfft(u, 2 * T), 2 * T)[:T]
# ```
#
# Or without a ring: `np.convolve(kernel, u)[:T]`.
#
# </details>
#
# <details><summary>Solution of 05.3</summary>
#
# $N + 1$. The roots of $z^{2N} + 1$ are $z = e^{i\theta}$ with $2N\theta \equiv \pi$, so
# $\theta = \pi(2n+1)/(2N)$; $-\theta$ is one of them too, and $\theta = 0$ and $\pi$ are not, as $2N\theta$
# would be a multiple of $2\pi$. The sum is $e^{i\pi k/(2N)} \sum_n e^{2\pi i kn/(2N)}$, a geometric series:
# $(e^{2\pi i k} - 1)/(e^{\pi i k/N} - 1) = 0$. The roots of $z^{2N} - 1$ are $e^{i\pi n/N}$, among them 1 and
# $-1$, which are real and their own mirror images: the upper half, with them, has $N + 1$ points, one more than
# there are modes.
#
# </details>
#
# <details><summary>Solution of 05.4</summary>
#
# $\mathrm{Re}(w\lambda^j) = a\,\mathrm{Re}\,\lambda^j - b\,\mathrm{Im}\,\lambda^j$ is linear in $2N$ real
# unknowns. A complex least squares without the cast asks for an imaginary part of 0 as well, which nobody wants:
#
# ```
# def fit_weights(nodes, wanted):
#     table = nodes ** np.arange(len(wanted))[:, None]
#     found = np.linalg.lstsq(np.hstack([table.real, -table.imag]), wanted, rcond=None)[0]
#     return found[: len(nodes)] + 1j * found[len(nodes) :]
# ```
#
# </details>
#
# <details><summary>Solution of 05.5</summary>
#
# By the sum in exercise 3, the real part is 1 at $S$, and 0 at all other lags less than $2N$ from
# $S$:
#
# ```
# def my_shift(S, L):
#     N = -(-max(S + 1, L - S) // 2)  # half of it, rounded up
#     nodes = kernels.arc_nodes(N, np.pi)
#     return nodes, nodes ** float(-S) / N
# ```
#
# </details>
#
# <details><summary>Solution of 05.6</summary>
#
# Four: the shifts by 16, 24, 32 and 40 need 48, 40, 33 and 41. The one by 48 needs 49.
#
# </details>
#
# <details><summary>Solution of 05.7</summary>
#
# 7, if training finds what is there (the panel says what it found). By section 4's reach the modes make every shift by $S \le 2N = 48$ nearly, which with the copy are
# 7 of 8; about the shift by 56 that theorem is silent, as $64 < 2 \cdot 56$; there the echo decides. In detail: the echo of the one by 8 is at lag 56, which only the last 8 of 64
# places see. The one by 48 has its echo at lag 0, and the skip weight takes it back. The one by 56 has it at
# lag 8, over 56 places, and is right at 8: it is better left out.
#
# </details>
#
# <details><summary>Solution of 05.8</summary>
#
# $\binom{j+m-1}{m-1}\,r^j$: each way to split $j$ steps over $m$ layers brings $r^j$. It rises as
# long as $(j+m)/(j+1) \cdot r > 1$, so its largest tap is near $j = (mr-1)/(1-r)$: it moves back with depth,
# but beyond it falls at the old rate.
#
# </details>

# %% [markdown]
# ## Read on
#
# * Gupta, Mehta, Berant, *Simplifying and understanding state space models with diagonal linear RNNs*, [arXiv:2212.00768](https://arxiv.org/abs/2212.00768): the paper of this chapter.
# * Gu, Goel, Ré, *Efficiently modeling long sequences with structured state spaces*, [arXiv:2111.00396](https://arxiv.org/abs/2111.00396): S4, where it comes from.
# * Gupta, Gu, Berant, *Diagonal state spaces are as effective as structured state spaces*, [arXiv:2203.14343](https://arxiv.org/abs/2203.14343): DSS.
# * Gu, Gupta, Goel, Ré, *On the parameterization and initialization of diagonal state space models*, [arXiv:2206.11893](https://arxiv.org/abs/2206.11893): S4D.
# * Li, Cai, Zhang, Chen, Dey, *What makes convolutional models great on long sequence modeling?*, [arXiv:2210.09298](https://arxiv.org/abs/2210.09298): SGConv.
# * Orvieto and others, *Resurrecting recurrent neural networks for long sequences*, [arXiv:2303.06349](https://arxiv.org/abs/2303.06349): the LRU (chapter 04).
