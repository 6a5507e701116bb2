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
# **What we ask.** Take the simplest recurrence there is: at every step each number of the state is multiplied by a
# constant of its own, the input is added, and the answer is a weighted sum of these numbers. Such a layer is a
# convolution, and its kernel is a sum of exponentials. *Which kernels can $N$ exponentials fit?* Paper 004 (Gupta,
# Mehta and Berant, 2022) builds a model on them, the DLR.
#
# We drag eigenvalues and look at kernels, walk through the paper's Proposition 1 and find linear recurrences that it
# leaves out, count the modes of DLR-prod (fewer than the paper says), find a start that fits kernels twice as long
# as the paper's, prove which shifts are possible at all, and train.
#
# *You need:* complex numbers, and that $e^{i\theta}$ turns by $\theta$. *It takes* about 2 h 30 min to read with the proofs, and about a minute of computing.
# Chapter 06 is about real eigenvalues, and why they cannot do this.

# %% tags=["hide-input"]
import numpy as np
import sympy as sp
import torch

import lrnnlab
from lrnnlab import models, scans, tasks, training
from workbook import show, tables
from workbook.chapters import ch05
from workbook.exercises import check, hint, predict, solution
from workbook.show.widgets import explore
from workbook.tables import kernels
from workbook.tables.regulargpt_fig4 import receptive_field

EXPECTED = "0.1"
if not lrnnlab.__version__.startswith(EXPECTED):
    raise RuntimeError(
        f"needs lrnnlab {EXPECTED}, here is {lrnnlab.__version__}: run bootstrap.py"
    )
print(f"lrnnlab {EXPECTED}: ready")

# %% [markdown]
# ## 1 A recurrence is a convolution
#
# > **The paper, Eq. 1.** $x_k = \mathrm{diag}(\Lambda)\,x_{k-1} + \mathbf 1\cdot u_k$, $\quad y_k = \langle w, x_k\rangle$, with $\Lambda, w \in \mathbb C^N$.
#
# **Step 1: one mode.** $x_{n,k} = \lambda_n x_{n,k-1} + u_k$ unrolls to $x_{n,k} = \sum_{j \le k} \lambda_n^{\,j}\,u_{k-j}$ (Eq. 3).
#
# **Step 2: add them up.** $y_k = \sum_{j\le k} K_j\,u_{k-j}$ with the **kernel** $K_j = \sum_n w_n \lambda_n^{\,j}$ (Eq. 4). So the kernel is the answer of the recurrence to the input $1, 0, 0, \dots$, its *impulse response*. The numbers $K_j$ are called its *taps*, and $j$ the *lag*.
#
# **Step 3: take the real part.** The input is real, so $\mathrm{Re}\,y$ is the convolution with $\mathrm{Re}\,K$. A mode $\lambda$ then always brings its mirror image $\bar\lambda$ with it:
# $\mathrm{Re}(w\lambda^j) = \frac12(w\lambda^j + \bar w\bar\lambda^j)$. Keep that in mind; it decides much below.
#
# The cell computes all three in free symbols, for two modes and five inputs:

# %% tags=["proof-convolution"]
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
mode = sp.Symbol("z")  # stands for w lambda^j, any complex number
assert sp.expand_complex(sp.re(mode) - (mode + sp.conjugate(mode)) / 2) == 0, (
    "The convolution, step 3: the mean"
)
mirror = sp.conjugate(w[0]) * sp.conjugate(lam[0]) ** 3
assert sp.conjugate(w[0] * lam[0] ** 3) == mirror, "The convolution, step 3: the mirror image"
print("y_1 =", sp.collect(sp.expand(K[1] * u[0] + K[0] * u[1]), u))

# %% [markdown]
# Here is one layer of the package, run in four ways.

# %%
torch.manual_seed(0)
dlr = models.DLR(3, state=8).double()
batch = torch.randn(2, 50, 3, dtype=torch.float64)
log_lambda, mode_weights = dlr.modes()
by_recurrence = scans.linear_scan(
    log_lambda.exp().repeat(3), batch.repeat_interleave(8, 2).to(torch.complex128)
)
by_recurrence = (mode_weights * by_recurrence.unflatten(2, (3, 8))).sum(-1).real + dlr.skip * batch
vandermonde = scans.convolution.vandermonde  # K_j = sum_n w_n lambda_n^j from log lambda and w
K = vandermonde(log_lambda, mode_weights, 50)
by_sum = torch.stack([sum(K[:, j] * batch[:, k - j] for j in range(k + 1)) for k in range(50)], 1)
by_sum = by_sum + dlr.skip * batch
state, by_step = dlr.initial(2), []
for k in range(50):
    state, y = dlr.step(state, batch[:, k])
    by_step.append(y)
same = [
    torch.allclose(dlr(batch), other)
    for other in (by_recurrence, by_sum, torch.stack(by_step, 1))
]
print(
    f"the layer's convolution = scan = the sum as it stands = one step at a time: {all(same)}"
)
slopes = torch.autograd.functional.jacobian(
    lambda log: vandermonde(log, mode_weights, 6)[0], log_lambda
)
by_hand = torch.stack([mode_weights[0] * log_lambda.exp() ** j * j for j in range(6)])
print(
    f"dK_j / d log lambda_n = j w_n lambda_n^j: {torch.allclose(slopes, by_hand.conj())} "
    "(torch gives its conjugate)"
)


# %% [markdown]
# The derivative in the last line is the paper's reason for the values at which training starts (its section 2.3): where $|\lambda|$ is well below 1, $\lambda^j$ is nearly 0 at large $j$, and so is the gradient that could change it.
#
# Next, the whole layer is made from its parameters. Each mode has a decay and a frequency, which all channels share; each channel has a complex weight for each mode. The kernel is a table of powers times the weights; the convolution goes through the FFT, of twice the length (what follows says why twice).

# %%
def dlr_kernel(layer, L):
    """The kernel of every channel, (channels, L)."""
    size = np.exp(-(layer.root_decay.detach().numpy() ** 2))  # |lambda|, at most 1 whatever is learned
    lam = size * np.exp(1j * layer.frequency.detach().numpy())
    w = layer.W.detach().numpy()[0]  # real and imaginary parts, (channels, modes, 2)
    powers = lam[:, None] ** np.arange(L)  # (modes, L)
    return ((w[..., 0] + 1j * w[..., 1]) @ powers).real


def dlr_layer(layer, u):
    """u (L, channels) -> (L, channels)."""
    L, K = len(u), dlr_kernel(layer, len(u)).T
    y = np.fft.irfft(np.fft.rfft(K, 2 * L, axis=0) * np.fft.rfft(u, 2 * L, axis=0), 2 * L, axis=0)[:L]
    return y + layer.skip.detach().numpy() * u


same = [
    np.allclose(dlr_kernel(dlr, 50), dlr.kernel(50).detach()),
    np.allclose(dlr_layer(dlr, batch[0].numpy()), dlr(batch)[0].detach()),
]
assert all(same), "these lines are not the package's layer"
print(f"these lines have the package's kernel and outputs: {all(same)}")

# %% [markdown]
# ### The FFT, and how long it must be
#
# A bidirectional layer has a kernel $\overset{\rightarrow}{K}$ looking back and another, $\overset{\leftarrow}{K}$, looking ahead (Eq. 5 and 6). Both together are a *Toeplitz* matrix: entry $(k, j)$ depends on $k - j$ only. Put the taps on a ring of $n$ places, those that look back from place 0 upwards and those that look ahead from place $n-1$ downwards. If they do not meet, the *circular* convolution with this ring gives the same outputs, and circular convolutions are what the FFT computes. In the ring of $2L$ places of the paper (section A.1) one place stays free, the paper's $X$.
#
# **Step 1 (Eq. 5 is Eq. 6).** Two recurrences, one from the left and one from the right, give two sums. (Computed for one random example in whole numbers, to see that the indices are right.)

# %% tags=["proof-ring"]
draw = np.random.default_rng(0)
length, (back, w_back, ahead, w_ahead) = 6, draw.integers(-3, 4, (4, 3)).tolist()
signal = draw.integers(1, 9, length).tolist()


def recurrent(nodes, weights, letters):
    state, found = [0] * len(nodes), []
    for letter in letters:
        state = [node * x + letter for node, x in zip(nodes, state)]
        found.append(sum(w * x for w, x in zip(weights, state)))
    return found


taps_back = kernels.kernel(back, w_back, length)
taps_ahead = kernels.kernel(ahead, w_ahead, length)
sums = [
    sum((taps_back[i - j] if j <= i else taps_ahead[j - i - 1]) * signal[j] for j in range(length))
    for i in range(length)
]
from_left = recurrent(back, w_back, signal)
from_right = [0, *recurrent(ahead, w_ahead, signal[::-1])]
assert [y + from_right[length - 1 - i] for i, y in enumerate(from_left)] == sums, (
    "The ring, step 1: Eq. 5 is Eq. 6"
)
print("y =", sums)

# %% [markdown]
# **Step 2 (the ring).** On $n = 2L$ places the ring gives the same sums, whatever stands in the free place.

# %% tags=["proof-ring"]
X = sp.Symbol("X")


# what looks back stands from place 0 upwards, what looks ahead from place n - 1 downwards
def ring(K, k, n, free=0):
    found = [None] * n
    for place, tap in [*enumerate(K), *((-1 - j, tap) for j, tap in enumerate(k[:-1]))]:
        here = found[place % n]
        found[place % n] = tap if here is None else here + tap
    return [free if tap is None else tap for tap in found]


def around(column, u):  # the product with the circulant matrix of this first column
    n = len(column)
    return [
        sp.expand(sum(column[(i - j) % n] * u[j] for j in range(len(u)))) for i in range(len(u))
    ]


ring_of_2L = ring(taps_back, taps_ahead, 2 * length, X)
assert around(ring_of_2L, signal) == sums, "The ring, step 2: the ring gives the same sums"
print("L = 3 on the ring:", ring(["K0", "K1", "K2"], ["k0", "k1", "k2"], 6, "X"))

# %% [markdown]
# **Step 3 (the least length).** $2L - 1$ places are enough, and fewer are not. (All lengths below $3L$, for this
# example.)

# %% tags=["proof-ring"]
enough = [
    n for n in range(1, 3 * length) if around(ring(taps_back, taps_ahead, n), signal) == sums
]
assert enough == [*range(2 * length - 1, 3 * length)], (
    "The ring, step 3: 2 L - 1 places, and no fewer"
)
print("places that are enough:", enough)

# %% [markdown]
# **Step 4 (the paper's code, Figure 4).** The code puts $K$ and then the reversed $k$ on the ring. So $X$ is the last tap of $k$, which enters no output.
#
# **Step 5 (the FFT).** Three FFTs of length $2L$ compute the circular convolution (in floats).

# %% tags=["proof-ring"]
code = taps_back + taps_ahead[::-1]
assert code == ring(taps_back, taps_ahead, 2 * length, taps_ahead[-1]), (
    "The ring, step 4: X is the last tap"
)
assert around(code, signal) == sums, "The ring, step 4: the ring of the code gives the same sums"
by_fft = np.fft.irfft(np.fft.rfft(code) * np.fft.rfft(signal, 2 * length))[:length]
assert abs(by_fft - sums).max() < 1e-12 * max(map(abs, code)) * sum(signal), (
    "The ring, step 5: the FFT gives the same sums"
)
print("by three FFTs:", by_fft.round(6).tolist())

# %% [markdown]
# **Break a hypothesis.** On a ring of $L$ places the end runs into the beginning. (`torch.fft.rfft(K)` without `n=2*L` is the commonest mistake in code of this kind, and raises no error.)

# %% tags=["proof-ring"]
with show.expect_failure("The ring, step 2"):
    too_short = around(ring(taps_back, taps_ahead, length, X), signal)
    assert too_short == sums, f"The ring, step 2: {too_short}"

# %% [markdown]
# **Exercise 1** ★ *(5 min, 3 points: why a ring of 2L - 1 places is enough)* Why is a ring of $2L - 1$ places enough,
# and $2L - 2$ not? For $L = 3$ write the taps on a ring of 5 places, in the order of the places: `K0`, `K1`, `K2` are
# the taps behind, `k0`, `k1`, `k2` those ahead (`k0` meets the next input).

# %%
my_ring = None  # five names, for example ["K0", ...]
check("05.1", my_ring)

# %% [markdown]
# <!-- Exercise 05.1: from notebooks/workbook/exercises/ch05.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint</summary>
#
# Count the taps that some output meets.
#
# </details>
#
# <details><summary>Solution</summary>
#
# $L$ taps behind and $L - 1$ ahead are met (the last one ahead never is): $2L - 1$ different
# places are needed. `["K0", "K1", "K2", "k1", "k0"]`.
#
# </details>

# %% [markdown]
# ## 2 A picture to play with: modes on the disc
#
# Each mode is a point $\lambda = |\lambda| e^{i\theta}$. Its angle is how far it turns in a step, its radius is the share that is left after a step. Here are twelve modes:

# %% tags=["hide-input"]
show.figure(
    ch05.modes_on_disc("shift by 7, half circle"),
    alt="Left the unit circle with twelve modes on its upper half and their mirror images on "
        "the lower half. Right above the impulse response: 1 at lag 7, -1 at lag 31, 1 at lag "
        "55 and 0 elsewhere; the kernel of 24 taps is 1 at lag 7 only. Right below a flat "
        "frequency response.",
    caption="What to see: twelve waves that agree at lag 7 and cancel at every other lag of "
            "the kernel. Every frequency passes equally: a shift changes no amplitude. After "
            "24 steps the waves meet again, upside down.",
)  # fmt: skip

# %% [markdown]
# Drag the modes, or go to one with Tab and move it with the arrow keys: left and right turn it by 1°, up and down change $|\lambda|$ by 0.01, and with Shift five times as much.
#
# *Try.* **(a)** Drag all modes to radius 0.97: the peak becomes lower, and the echo too. At 1.02 the layer explodes: the paper writes $\lambda = e^{-a^2 + i\theta}$ so that this cannot happen.
# **(b)** Choose the DFT grid (the twelve 12-th roots of unity, section 4), whose kernel repeats after 12, and turn it. Tap $k$ is multiplied by $\cos k\theta$, so at 5° the echo at lag 19 is all but gone, and at 10° it hangs upside down. At 15° modes and mirror images meet again: look at the rank in the sentence. **(c)** Move one mode by 5° in "box" and in "fading sine, real modes": in which of the two does the kernel break?

# %% tags=["hide-input"]
disc_widget = ch05.modes_widget("shift by 7, half circle")
disc_widget

# %% [markdown]
# ## 3 Proposition 1, and what it leaves out
#
# > **The paper, Proposition 1.** "Let $A \in \mathbb C^{N\times N}$ be diagonalizable over $\mathbb C$ as $V\mathrm{diag}(\Lambda)V^{-1}$. Then, $\exists w \in \mathbb C^N$ such that DLR parameterized by $\Lambda, w$ computes the same map"
# > as $x_k = A x_{k-1} + B u_k$, $y_k = C x_k$.
#
# **Step 1 (powers of a diagonalisable matrix).** $A^j = V\,\mathrm{diag}(\Lambda)^j\,V^{-1}$, so the kernel is $C A^j B = (CV)\,\mathrm{diag}(\Lambda)^j\,(V^{-1}B)$. The cell does it with free symbols for $N = 2$.

# %% tags=["proof-proposition_1"]
a, b, c, d, first, second = sp.symbols("a b c d lambda1 lambda2")
V, Lam = sp.Matrix([[a, b], [c, d]]), sp.diag(first, second)
B, C = sp.Matrix(sp.symbols("B1 B2")), sp.Matrix([sp.symbols("C1 C2")])
A = V * Lam * V.inv()
for j in range(4):
    assert sp.simplify(A**j - V * Lam**j * V.inv()) == sp.zeros(2), (
        "Proposition 1, step 1: A^j = V Lambda^j V^-1"
    )
print("V^-1 A^2 V =", sp.simplify(V.inv() * A**2 * V))

# %% [markdown]
# **Step 2 (read off the weights).** A row times a diagonal times a column is $\sum_n (CV)_n \lambda_n^{\,j} (V^{-1}B)_n$. So $w_n = (CV)_n (V^{-1}B)_n$. $\blacksquare$

# %% tags=["proof-proposition_1"]
w = [left * right for left, right in zip(C * V, V.inv() * B)]
for j in range(4):
    kernel = (C * A**j * B)[0]
    assert sp.simplify(kernel - (w[0] * first**j + w[1] * second**j)) == 0, (
        "Proposition 1, step 2: the weights are read off"
    )
print("w_1 =", sp.factor(w[0]))


# %% [markdown]
# **Step 3 (equal eigenvalues merge).** Two modes with the same $\lambda$ are one mode, with the sum of their weights. The least number of states of a linear recurrence with a given kernel is the rank of the Hankel matrix $K_{i+j}$ (a classical fact that we do not prove); here it is the number of different $\lambda$ whose weight is not 0. (Computed exactly for ten random systems of whole numbers, $N = 4$, each with a double eigenvalue.)

# %% tags=["proof-proposition_1"]
def system(draw, beside=0, N=4):
    """Nodes (two equal), step 2's weights, and the kernel; ``beside`` stands above the equal nodes."""
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
# ### Break a hypothesis
#
# Put a 1 beside the double eigenvalue (a *Jordan block*), and $A$ is not diagonalisable any more:

# %% tags=["proof-proposition_1"]
with show.expect_failure("Proposition 1, step 3"):
    nodes, w, kernel = system(np.random.default_rng(0), beside=1)
    assert kernel == kernels.kernel(nodes, w, 11), (
        f"Proposition 1, step 3: {kernel[:4]}, not {kernels.kernel(nodes, w, 4)}"
    )

# %% [markdown]
# Is that an accident of the proof, or is there a linear recurrence that no DLR computes? The section of the paper is called "DLRs are as expressive as general linear RNNs". Take the **delay line**, which hands the input on from cell to cell and after $S + 1$ cells gives it out: with three cells $y_k = u_{k-2}$, and the kernel is $0, 0, 1, 0, 0, \dots$, with zeros for ever.
#
# > **Put right.** A delay line by $S \ge 1$ steps is no DLR of any size.
#
# **Step 1 (zeros after the 1 force the weights to be 0).** Suppose $\sum_n w_n\lambda_n^{\,k}$ is that kernel, with $M$ different $\lambda_n \ne 0$. It is 0 at the $M$ lags $S+1, \dots, S+M$ after the 1. These are $M$ equations for $w$, with the determinant $\prod_n\lambda_n^{S+1} \prod_{i<j}(\lambda_j - \lambda_i) \ne 0$: so $w = 0$.

# %% tags=["proof-delay_line"]
lam = sp.symbols("lambda1:5")
for M, S in [(M, S) for M in range(1, 5) for S in (1, 2, 3)]:
    table = sp.Matrix(M, M, lambda k, n: lam[n] ** (S + 1 + k))
    gaps = sp.prod(lam[j] - lam[i] for i in range(M) for j in range(i + 1, M))
    assert sp.expand(table.det() - sp.prod(lam[:M]) ** (S + 1) * gaps) == 0, (
        "The delay line, step 1: the determinant of the silent lags"
    )
print("M = 2, S = 2:", sp.factor(sp.Matrix(2, 2, lambda k, n: lam[n] ** (3 + k)).det()))

# %% [markdown]
# **Step 2 (a mode at 0 does not help).** $\lambda = 0$ gives the kernel $1, 0, 0, \dots$, which is 0 at all lags from 1 on. So no mode is left that could make the 1 at lag $S$. $\blacksquare$

# %% tags=["proof-delay_line"]
assert kernels.kernel([0], [1], 6) == [1, 0, 0, 0, 0, 0], (
    "The delay line, step 2: a mode at 0 is silent from lag 1 on"
)
print("lambda = 0:", kernels.kernel([0], [1], 6))


# %% [markdown]
# **Step 3 (the delay line is a linear RNN of $S + 1$ states, and of no fewer).** The cell runs it, and computes its
# Hankel rank, for $S = 1, 2, 5$.
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
# Near every matrix there are diagonalisable ones, so DLRs come as near to the delay line as one likes, for all lengths at once, but at a price. Let $\lambda_n = \varepsilon\,e^{2\pi\mathrm i n/N}$ and $w_n = \lambda_n^{-(N-1)}/N$.
#
# **Step 1 (error and weights).** The kernel is 1 at lag $N-1$, $\varepsilon^N$ at lag $2N-1$, and so on, and 0 elsewhere; the weights are of size $\varepsilon^{1-N}/N$. The cell does it for $N = 4$, where the roots of unity are $\pm1, \pm\mathrm i$, with $\varepsilon$ a free symbol.

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
print("kernel:", kernel[:8], " |w| =", eps ** (1 - N) / N)

# %% [markdown]
# **Step 2 (in floats the price is paid; measured).** The cell makes this kernel for $N = 8$ and $\varepsilon = 0.1, 0.01, 0.001$ in float64, and compares it with the delay line's on the lags 0 to 15. In these three cases the error is at most $\varepsilon^N$, the exact one, plus $4N\cdot 2^{-53}$ times the largest weight. (For other $N$ and $\varepsilon$ we claim nothing. The rounding itself differs between processors, so the cell prints the bound.) The exact error $\varepsilon^N$ falls with $\varepsilon$, but already from $\varepsilon = 0.1$ to $0.01$ the rounding outweighs it, and the bound rises.

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
# **Exercise 2** ★★ *(10 min, 4 points: what breaks where a matrix cannot be diagonalised)* **Break the hypothesis.**
# Find a $2\times 2$ matrix $A$ of whole numbers, other than $\begin{pmatrix}0&1\\0&0\end{pmatrix}$, with
# $C = (1, 0)$ and $B = (0, 1)^\top$, whose kernel $C A^k B$ is no DLR. (The cell computes the shortest linear
# recurrence of the kernel, $\sum_j c_j K_{k+j} = 0$ for all $k$, and accepts $A$ if the polynomial $\sum_j c_j z^j$
# has a double root. For a DLR that polynomial is $\prod(z - \lambda_n)$ over the different $\lambda_n$ whose weight
# is not 0, so its roots are simple.)

# %%
my_A = None  # [[a, b], [c, d]]
check("05.2", my_A)

# %% [markdown]
# <!-- Exercise 05.2: from notebooks/workbook/exercises/ch05.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint</summary>
#
# It needs a double eigenvalue, and its upper right entry must not be 0. An eigenvalue other than 0 is easy to find.
#
# </details>
#
# <details><summary>Solution</summary>
#
# For example $\begin{pmatrix}1&1\\0&1\end{pmatrix}$: kernel $0, 1, 2, 3, \dots$, recurrence
# $(z-1)^2$. A DLR of any size has simple roots.
#
# </details>

# %% [markdown]
# ### DSS is a DLR
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
print("x(t) =", held)

# %% [markdown]
# **Step 2 (one step after the other).** Hold each input for a time $\Delta$. What comes out at the times $\Delta, 2\Delta, \dots$ is a DLR with $\lambda = e^{\Delta\Lambda}$ and the weight $w_dss\,(e^{\Delta\Lambda} - 1)/\Lambda$.

# %% tags=["proof-dss"]
leap, gain = sp.exp(step * rate), (sp.exp(step * rate) - 1) / rate
w_dlr, state = w_dss * gain, sp.S(0)
for k in range(4):
    state = held.subs({t: step, x: state, u[0]: u[k]}, simultaneous=True)
    as_dlr = sum(w_dlr * leap**j * u[k - j] for j in range(k + 1))
    assert sp.simplify(w_dss * state - as_dlr) == 0, "DSS, step 2: held inputs make a DLR"
print("w' =", w_dlr)

# %% [markdown]
# **Step 3 (and back).** Every $\lambda$ other than 0 and 1 is reached by $\Lambda = \ln\lambda/\Delta$ and $w = w'\Lambda/(\lambda - 1)$; at $\lambda = 1$ the weight has the limit $w\Delta$.

# %% tags=["proof-dss"]
back = {rate: sp.log(node) / step, w_dss: x * (sp.log(node) / step) / (node - 1)}  # x stands for w'
assert [sp.simplify(one.subs(back, simultaneous=True)) for one in (leap, w_dss * gain)] == [
    node,
    x,
], "DSS, step 3: back"
assert sp.limit(w_dss * (node - 1) / sp.log(node) * step, node, 1) == w_dss * step, (
    "DSS, step 3: the limit"
)
print("Lambda =", back[rate], ", w =", back[w_dss])

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

# %%
torch.manual_seed(1)
dss = models.DSS(3, state=8).double()
exponents, weights = dss.modes()
as_dlr = vandermonde(exponents, weights, 40)
print(
    "our DSS layer's kernel is that of the DLR it names: "
    f"{torch.allclose(dss.kernel(40), as_dlr)}; all |lambda| < 1: "
    f"{bool((exponents.exp().abs() < 1).all())}"
)

# %% [markdown]
# ## 4 Where the modes start
#
# > **The paper, section 2.3.** The angles start at $2\pi n/N$. "At this initialization with $(\log\Lambda)_{\mathrm{re}} = \mathbf 0$ and $L = N$ we would have $K = \mathrm{DFT}\cdot w$. As DFT is invertible and well-conditioned, there is a $w$ for any arbitrary
# > length-$N$ kernel".
#
# **Step 1 (rows are orthogonal).** Let $z = e^{2\pi\mathrm i k/N}$. Then $\sum_n \lambda_n^{\,k} = \sum_n z^n$ is $N$ where $z = 1$, that is if $N$ divides $k$; and otherwise 0, since $(z - 1)\sum_n z^n = z^N - 1 = 0$. So different rows of the table $\lambda_n^{\,k}$, $k < N$, are orthogonal, and all have the same length: its condition number (largest over smallest singular value) is 1. (`root_sum` adds up roots of unity exactly.)

# %% tags=["proof-dft_start"]
z = sp.Symbol("z")
for N in range(2, 10):
    assert sp.expand((z - 1) * sum(z**n for n in range(N)) - (z**N - 1)) == 0, (
        "The DFT start, step 1: the sum"
    )
    rows = [kernels.root_sum([n * k for n in range(N)], N) for k in range(2 * N)]
    assert rows == [N if k % N == 0 else 0 for k in range(2 * N)], "The DFT start, step 1: the rows"
    table = np.exp(2j * np.pi * np.outer(np.arange(N), np.arange(N)) / N)
    assert abs(np.linalg.cond(table) - 1) < 1e-10, (
        "The DFT start, step 1: the condition number, in floats"
    )
print("N = 9: products of row 0 with rows 0 to 17:", rows)

# %% [markdown]
# **Step 2 (a shift is cheap).** The weights $w_n = \lambda_n^{-S}/N$ make the shift by $S$: all waves agree at lag
# $S$. Every weight has size $1/N$.
#
# **Step 3 (the end).** $\lambda_n^{\,N} = 1$: past $N$ the kernel repeats.
#
# **Step 4 (the FFT).** $K$ is $N$ times the inverse DFT of $w$ (in floats).

# %% tags=["proof-dft_start"]
for N in range(2, 10):
    for S in range(N):
        hot = [
            kernels.root_sum([n * (k - S) for n in range(N)], N) / sp.Integer(N)
            for k in range(3 * N)
        ]
        assert hot[:N] == [int(k == S) for k in range(N)], "The DFT start, step 2: a one-hot at S"
        assert hot[N : 2 * N] == hot[:N] == hot[2 * N :], (
            "The DFT start, step 3: the kernel repeats after N"
        )
w = np.random.default_rng(0).standard_normal((2, 64)).T @ [1, 1j]
nodes = np.exp(2j * np.pi * np.arange(64) / 64)
assert abs((nodes ** np.arange(64)[:, None]) @ w - 64 * np.fft.ifft(w)).max() < 1e-10, (
    "The DFT start, step 4: the kernel is N times the inverse DFT"
)
print("N = 9, S = 8:", hot[:18])

# %% [markdown]
# **Break a hypothesis.** The proof needs *all* $N$ roots. Take only every second one, each twice, and the rows are
# no longer orthogonal (here $N = 6$).

# %% tags=["proof-dft_start"]
with show.expect_failure("The DFT start, step 1"):
    rows = [kernels.root_sum([2 * n * k for n in range(6)], 6) for k in range(12)]
    assert rows == [6 if k % 6 == 0 else 0 for k in range(12)], f"The DFT start, step 1: {rows}"

# %% [markdown]
# It also needs that the modes have *no decay*. By default the paper starts with $|\lambda| = e^{-dt/2}$, $dt$ log-uniform between .0005 and .5, "to induce locality bias". Is the table then still "well-conditioned"? (Measured in floats, at $N = L = 128$.)
#
# **Step 1 (one modulus).** If all $|\lambda_n| = r$, the table is $\mathrm{diag}(r^k)$ times the DFT, and its condition number is $r^{1-N}$.
#
# **Step 2 (the default decays).** In three random draws of the default decays the condition number is above $10^4$.
#
# **Step 3 (the atomic tasks).** For its atomic tasks (section 7 has five of them) the paper sets $dt = 10^{-5}$, and
# the condition number stays below 1.01.

# %% tags=["proof-decays"]
N, draw = 128, np.random.default_rng(0)


def condition(nodes):
    return kernels.spectrum(nodes, N, cast=False)["condition"]


grid = kernels.arc_nodes(N, offset=0)
assert abs(condition(0.98 * grid) / 0.98 ** (1 - N) - 1) < 1e-6, (
    "Decays, step 1: the condition number is r^(1 - N)"
)
spread = [condition(kernels.decayed_nodes(N, 0.0005, 0.5, draw)) for _ in range(3)]
assert min(spread) > 1e4, "Decays, step 2: the default is badly conditioned"
assert condition(np.exp(-1e-5 / 2) * grid) < 1.01, "Decays, step 3: dt = 1e-5 is well conditioned"
print(
    f"r = 0.98: {condition(0.98 * grid):.4g}; default decays: all above 10^4; dt = 1e-5: below 1.01"
)


# %% [markdown]
# ### Half a circle is better
#
# The layer keeps only the real part of the kernel (we say that it is *cast to reals*). Now $N$ complex weights are $2N$ real numbers, so one would hope for all real kernels of length $2N$. The full circle does not give them: with each $\lambda$ it contains $\bar\lambda$ already, so the mirror images bring nothing new, and half of the weights are wasted.
#
# > **Ours.** $\lambda_n = e^{i\pi(2n+1)/(2N)}$, $n = 0 \dots N-1$, gives *every* real kernel of length $2N$, with condition number 1.
#
# **Step 1 (the roots).** $z^{2N} = -1$ has the roots $e^{i\pi(2n+1)/(2N)}$, $n = 0\dots 2N-1$; they come in conjugate pairs, none is real, and our $N$ are those of the upper half. So modes and mirror images are all $2N$ roots. The cell computes in whole numbers: it stores the root $e^{2\pi\mathrm i a/(4N)}$ as $a$.

# %% tags=["proof-half_circle"]
def circle(N, full=False):
    return [4 * n if full else 2 * n + 1 for n in range(N)]  # in units of a 4N-th turn


for N in range(2, 9):
    together = {e % (4 * N) for e in circle(N)} | {-e % (4 * N) for e in circle(N)}
    assert together == {e for e in range(4 * N) if 2 * N * e % (4 * N) == 2 * N}, (
        f"The half circle, step 1: N = {N}"
    )
    assert not together & {0, 2 * N}, "The half circle, step 1: none is 1 or -1"
print("N = 8, in 32nds of a turn:", sorted(together))


# %% [markdown]
# **Step 2 (rows are orthogonal).** Twice the product of two rows of the real table that are $k$ lags apart is the sum of the $k$-th powers of all $2N$ roots: $2N$ at $k = 0$, and 0 for $0 < k < 2N$. So the rows are orthogonal, and all have the same length: rank $2N$, condition number 1. $\blacksquare$

# %% tags=["proof-half_circle"]
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
print("N = 8:", products(circle(8), 8))

# %% [markdown]
# **Step 3 (the paper's grid).** For the full circle rows that are $N$ lags apart are equal, so the rank is only $N$.

# %% tags=["proof-half_circle"]
for N in range(2, 9):
    assert rank(products(circle(N, full=True), N)) == N, (
        "The half circle, step 3: the rank of the grid is N"
    )
print("N = 8:", products(circle(8, full=True), 8))

# %% [markdown]
# **Break a hypothesis.** On the full circle step 1 fails:

# %% tags=["proof-half_circle"]
with show.expect_failure("The half circle, step 1"):
    for N in range(2, 9):
        together = {e % (4 * N) for e in circle(N, full=True)} | {
            -e % (4 * N) for e in circle(N, full=True)
        }
        assert together == {e for e in range(4 * N) if 2 * N * e % (4 * N) == 2 * N}, (
            f"The half circle, step 1: N = {N}"
        )

# %% tags=["hide-input"]
start_opens = {"arc": 360, "N": 16, "L / N": 2, "|λ|": 1.0}


def draw_start(**at):
    return ch05.start_spectrum(*at.values())


def say_start(**at):
    return ch05.start_sentence(*at.values())


show.figure(
    draw_start(**start_opens),
    alt="Left 16 modes all around the unit circle, each on the mirror image of another or, at 1 and −1, "
        "on its own. Right "
        "their 32 singular values: 16 equal ones, and 16 at rounding level.",
    caption="The paper's start, asked for kernels twice as long as N. What to see: each dot "
            "lies in a ring, another's or its own, and half of the singular values are nothing.",
)  # fmt: skip

# %% [markdown]
# *Try.* Close the arc from 360 to 180, and watch rank and condition number. Then set $L = N$ and $|\lambda| = 0.9$.

# %% tags=["hide-input"]
start_widget = explore(
    draw_start,
    {"arc": [180, 210, 240, 270, 300, 330, 360], "N": [4, 8, 16, 32], "L / N": [1, 1.5, 2, 3],
     "|λ|": [0.9, 0.97, 1.0]},
    initial=start_opens, sentence=say_start,
    alt="Modes on an arc of the circle with their mirror images, and the singular values of "
        "their table of powers.",
)  # fmt: skip
start_widget

# %% [markdown]
# **Exercise 3** ★★ *(15 min, 5 points: why half a circle is enough)* **A proof step.** Prove that $z^{2N} + 1$ has
# its roots in conjugate pairs, none of them real, and that the sum of their $k$-th powers is 0 for $0 < k < 2N$.
# Where does this fail for $z^{2N} - 1$? And how many of *its* roots have an imaginary part of 0 or more?

# %%
my_roots = None  # a function of N: the number for z^(2N) - 1
check("05.3", my_roots)

# %% [markdown]
# <!-- Exercise 05.3: from notebooks/workbook/exercises/ch05.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint 1</summary>
#
# Put $z = e^{i\theta}$; the sum is a geometric series.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# Which roots of the two polynomials are real?
#
# </details>
#
# <details><summary>Solution</summary>
#
# $N + 1$. The roots of $z^{2N} + 1$ are $z = e^{i\theta}$ with $2N\theta \equiv \pi$, so
# $\theta = \pi(2n+1)/(2N)$; $-\theta$ is one of them too, and $\theta = 0$ and $\pi$ are not, as $2N\theta$
# would be a multiple of $2\pi$. The sum is $e^{i\pi k/(2N)} \sum_n e^{2\pi i kn/(2N)}$, a geometric series:
# $(e^{2\pi i k} - 1)/(e^{\pi i k/N} - 1) = 0$. The roots of $z^{2N} - 1$ are $e^{i\pi n/N}$, among them 1 and
# $-1$, which are real and their own mirror images: the upper half, with them, has $N + 1$ points, one more than
# there are modes.
#
# </details>

# %% [markdown]
# ## 5 What fits, and what cannot
#
# For given modes the kernel is linear in the weights, so the best approximation of a wanted kernel is a projection, and its error can simply be computed. We begin with the hardest kernel, a *one-hot*: 1 at one lag and 0 at the others, which shifts its input. For it there is a theorem in which the modes may be chosen *freely*.
#
# > **Theorem (exact shifts).** There are $N$ modes ($\lambda \ne 0$) and weights whose kernel is 1 at $S$ and 0 at the other lags of $0 \dots L-1$ if and only if
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
print("N = 2: c =", [sp.expand(one) for one in kernels.monic(lam[:2])])


# %% [markdown]
# **Step 2 (too few modes).** If $N < L - S$, take $k = S$: of $K_S \dots K_{S+N}$ only the first is not 0, so the recurrence says $c_0 = 0$, which is false. If $N < S + 1$, take $k = S - N$: only the last is not 0, so $c_N = 0$, false again. The cell looks at each case with $L < 8$: the recurrence of one of these lags has exactly one term, $c_0$ or $c_N$; and random nodes never solve it (exact ranks, samples).

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
# **Step 3 (enough modes).** The $N$-th roots of unity do it, with the weights of section 4: their kernel is 1 at $S$ and at all multiples of $N$ from it, and 0 elsewhere; and $S - N$ and $S + N$ lie outside of $0 \dots L-1$. (The cell has all cases with $L < 8$.) $\blacksquare$

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
# (All four steps are measurements in float64 on these five kernels, with $N = 32$.)

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

# %% tags=["nbval-ignore-output", "hide-input"]
show.table(
    fit_rows,
    caption="32 modes, 64 lags: the best achievable error (as a share of the target's norm) "
    "and the weights' size. Computed in float64, so an error here is what arithmetic "
    "can reach (chapter 06).",
)

# %% tags=["hide-input"]
fit_opens = {"target": "shift by L/2", "family": "half circle", "N": 8}
show.figure(
    ch05.fit_by_modes(**fit_opens),
    alt="Left a one-hot at lag 16 of 32 and the best kernel of 8 half-circle modes, half as "
        "high, with an echo. Right the least error by N for five families: the half circle "
        "falls to 0 from N = 8 to 10, both circles at 18, real modes near 1 for long.",
    caption="What to see: the error does not fade away, it falls off a cliff, where the "
            "theorem of exact shifts says: as soon as 2N is 17 or more for the half circle, and N for "
            "the paper's grid (drawn at even N: 10 and 18).",
)  # fmt: skip

# %% [markdown]
# *Try.* Choose "fading sine": here the real modes are good, and the DFT grid is not. Then "noise": it has no structure that few modes could use, so the error falls evenly with the number of independent waves.

# %% tags=["hide-input"]
fit_widget = explore(
    ch05.fit_by_modes,
    {"target": list(kernels.targets(ch05.LENGTH)), "family": list(kernels.families(4)),
     "N": [2, 4, 6, 8, 9, 10, 12, 16, 17, 18, 24, ch05.LENGTH]},
    initial=fit_opens, sentence=ch05.fit_sentence,
    alt="A target kernel with the best fit of N modes of a family, and the least error by N "
        "for all families.",
)  # fmt: skip
fit_widget

# %% [markdown]
# **Exercise 4** ★ *(5 min, 3 points: what a layer's kernel is)* **Build, step 1 of 3.** In three exercises you write
# what stands behind the table and the picture above, with NumPy alone. First the kernel. Write a function of the
# nodes (another word for modes) $\lambda_n$, weights $w_n$ (arrays of $N$ complex numbers) and $L$ that returns the
# $L$ real numbers $\mathrm{Re}\sum_n w_n\lambda_n^{\,j}$, $j = 0, \dots, L-1$.

# %%
my_kernel = None  # exercise 4: a function of (nodes, weights, L)
check("05.4", my_kernel)

# %% [markdown]
# <!-- Exercise 05.4: from notebooks/workbook/exercises/ch05.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint</summary>
#
# `nodes ** np.arange(L)[:, None]` is a table with a row for each lag.
#
# </details>
#
# <details><summary>Solution</summary>
#
# The table of powers, times the weights:
#
# ```
# def my_kernel(nodes, weights, L):
#     return (nodes ** np.arange(L)[:, None] @ weights).real
# ```
#
# </details>

# %% [markdown]
# **Exercise 5** ★★ *(10 min, 4 points: how long a ring a causal convolution needs)* **Build, step 2 of 3.** Now let
# it run. Write a function of a kernel and an input, $T$ real numbers each, that returns the $T$ outputs
# $y_k = \sum_{j \le k} K_j\,u_{k-j}$, by the FFT (`np.fft.rfft` and `np.fft.irfft`), for every $T \ge 1$.

# %%
my_convolution = None  # exercise 5: a function of (kernel, u)
check("05.5", my_convolution)

# %% [markdown]
# <!-- Exercise 05.5: from notebooks/workbook/exercises/ch05.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint 1</summary>
#
# How long must the ring be for the end not to run into the beginning? (Section 1.)
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# `np.fft.rfft(u, n)` puts zeros behind `u` until there are `n` numbers, and `np.fft.irfft(..., n)` gives
# `n` back.
#
# </details>
#
# <details><summary>Solution</summary>
#
# A ring of $2T$ places, of which the first $T$ outputs are kept ($2T - 1$ would do):
#
# ```
# def my_convolution(kernel, u):
#     T = len(u)
#     return np.fft.irfft(np.fft.rfft(kernel, 2 * T) * np.fft.rfft(u, 2 * T), 2 * T)[:T]
# ```
#
# </details>

# %% [markdown]
# **Exercise 6** ★★ *(15 min, 5 points: that the cast to reals turns N complex unknowns into 2N real ones)* **Build,
# step 3 of 3.** Now the way back, from a wanted kernel to weights. Write a function of the nodes and of the $L$
# wanted real numbers that returns the $N$ complex weights whose kernel, cast to reals, comes nearest (least squares:
# `np.linalg.lstsq`). The second cell then compares all three with the package.

# %%
my_fit = None  # exercise 6: a function of (nodes, wanted)
check("05.6", my_fit)

# %% [markdown]
# <!-- Exercise 05.6: from notebooks/workbook/exercises/ch05.md, by lrnnlab book build; change it there. -->
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
#
# <details><summary>Solution</summary>
#
# $\mathrm{Re}(w\lambda^j) = a\,\mathrm{Re}\,\lambda^j - b\,\mathrm{Im}\,\lambda^j$ is linear in $2N$ real
# unknowns. A complex least squares without the cast asks for an imaginary part of 0 as well, which nobody wants:
#
# ```
# def my_fit(nodes, wanted):
#     table = nodes ** np.arange(len(wanted))[:, None]
#     found = np.linalg.lstsq(np.hstack([table.real, -table.imag]), wanted, rcond=None)[0]
#     return found[: len(nodes)] + 1j * found[len(nodes) :]
# ```
#
# </details>

# %%
if None not in (my_kernel, my_convolution, my_fit):
    torch.manual_seed(0)
    with torch.no_grad():
        one, white = models.DLR(1, state=8).double(), torch.randn(1, 50, 1, dtype=torch.float64)
        log_lambda, w = one.modes()
        mine = my_convolution(my_kernel(log_lambda.exp().numpy(), w[0].numpy(), 50), white[0, :, 0].numpy())
        same = np.allclose(mine + one.skip.item() * white[0, :, 0].numpy(), one(white)[0, :, 0])
    print(f"a layer of the package gives what yours gives: {same}")
    for name in ("circle (DFT)", "half circle"):
        nodes, errors = kernels.families(32)[name], []
        for goal in kernels.targets(64).values():
            made = my_kernel(nodes, my_fit(nodes, goal), 64)
            errors.append(np.linalg.norm(made - goal) / np.linalg.norm(goal))
            assert abs(errors[-1] - kernels.best_fit(nodes, goal).error) < 1e-6
        print(f"{name}, the column of the table: " + ", ".join(f"{error:.2f}" for error in errors))

# %% [markdown]
# **Exercise 7** ★★ *(15 min, 5 points: how to make a shift with as few modes as possible)* **Code.** Write a
# function that gives modes and weights whose kernel, cast to reals, is the one-hot at $S$ on the lags $0 \dots L-1$,
# with as few modes as possible (the mirror images do not count).

# %%
my_shift = None  # a function of (S, L); it returns two lists, nodes and weights
check("05.7", my_shift)

# %% [markdown]
# <!-- Exercise 05.7: from notebooks/workbook/exercises/ch05.md, by lrnnlab book build; change it there. -->
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
#
# <details><summary>Solution</summary>
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

# %% [markdown]
# **Exercise 8** ★★ *(5 min, 3 points: what a count of modes forbids)* **Predict.** On $L = 64$ lags, how many of the
# seven shifts by $8, 16, \dots, 56$ can a DLR with $N = 24$ modes, cast to reals, make exactly? (By its kernel
# alone, lag 0 included, without the skip weight. In section 7 it is trained on them, with it.)

# %%
my_count = None  # a whole number
check("05.8", my_count)

# %% [markdown]
# <!-- Exercise 05.8: from notebooks/workbook/exercises/ch05.md, by lrnnlab book build; change it there. -->
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
#
# <details><summary>Solution</summary>
#
# Four: the shifts by 16, 24, 32 and 40 need 48, 40, 33 and 41. The one by 48 needs 49.
#
# </details>

# %% [markdown]
# **Exercise 9** ★★ *(10 min, 4 points: what a shift costs)* Which exact shift needs the fewest modes on $L$ lags
# (without the cast), and how many? Why does a shift by 0 need as many as one by $L - 1$? And why does no layer have
# to pay for it?

# %% [markdown]
# <!-- Exercise 05.9: from notebooks/workbook/exercises/ch05.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint</summary>
#
# $S + 1$ grows with $S$, and $L - S$ falls.
#
# </details>
#
# <details><summary>Solution</summary>
#
# $\max(S+1, L-S)$ is least in the middle: $L/2 + 1$ for even $L$ (at $S = L/2$ and $L/2 - 1$),
# $(L+1)/2$ for odd. By 0: the kernel $1, 0, 0, \dots, 0$ must be silent for $L - 1$ lags, so $N = L$. The skip
# weight $D$ does it for nothing.
#
# </details>

# %% [markdown]
# ### Before and after training
#
# The best *achievable* error is not what training finds. Here all modes and weights are trained by Adam on the kernel itself. In each panel stand two errors: after training, and the least that is possible with the modes of the start.

# %% tags=["nbval-ignore-output"]
N, L = 16, 32
goals = {name: goal for name, goal in kernels.targets(L).items() if name != "shift by L/4"}
wanted = torch.tensor(np.array(list(goals.values())), dtype=torch.float32)
flat = {"dt": (1e-5, 1e-5)}
kinds = {
    "real": {"eigenvalues": "real"},
    "DFT grid": flat,
    "half circle": {"init": "half_circle", **flat},
    "with decays": {},
}
# float32 angles are off by 1e-7, and least squares would make use of that, with weights in the millions
exact_nodes = {
    "DFT grid": kernels.families(N)["circle (DFT)"],
    "half circle": kernels.families(N)["half circle"],
}
columns, after = {}, {}
for kind, options in kinds.items():
    torch.manual_seed(0)
    layer = models.DLR(len(goals), state=N, **options)
    nodes = exact_nodes.get(kind, layer.modes()[0].detach().exp().numpy())
    least = [kernels.best_fit(nodes, goal).error for goal in goals.values()]
    before = layer.kernel(L).detach().numpy()
    optimiser = torch.optim.Adam(layer.parameters(), lr=0.03, fused=True)
    with training.deterministic():
        for _ in range(200):
            optimiser.zero_grad()
            (layer.kernel(L) - wanted).square().sum().backward()
            optimiser.step()
    trained = layer.kernel(L).detach().numpy()
    after[kind] = np.linalg.norm(trained - wanted.numpy(), axis=1) / np.linalg.norm(
        wanted.numpy(), axis=1
    )
    columns[kind] = {
        "before": before,
        "after": trained,
        "errors": [f"{got:.2f} / {best:.2f}" for got, best in zip(after[kind], least)],
    }
show.figure(
    ch05.kernel_gallery(goals, columns),
    alt="Sixteen small panels: four target kernels by four families of modes, each with the "
        "kernel before and after training. The half circle lies on all targets. The other "
        "complex families lie on them after training, the real family on none.",
    caption="Live. Grey: wanted. Pink: before training. Green: after 200 steps. Written in: "
            "error after training / least error with the modes of the start. What to see: the "
            "half circle has nothing to learn but weights; the other complex families must "
            "move their modes, and do. The real modes end above what they could reach, by as much as the two numbers say.",
)  # fmt: skip

# %%
print(
    f"half circle: all four learned to 5 %: {bool(after['half circle'].max() < 0.05)}; "
    f"real modes: all four missed by more than 15 %: {bool(after['real'].min() > 0.15)}"
)

# %% [markdown]
# ## 6 DLR-prod: how many modes has a product?
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
# (The cell's example has Gaussian primes for nodes, $2 + \mathrm i, 3 + 2\mathrm i, \dots$: there factors are unique, so that no two products coincide. So $MN$ modes can be necessary.)
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
# **Step 5 (no fewer).** Take Gaussian primes for nodes, none of which equals another one, or the conjugate of any of them, up to a unit ($\pm 1, \pm\mathrm i$). Then the $N(N+1)$ modes of step 4 are different, since factors are unique, and their weights are not 0; so the Hankel rank is $N(N+1)$, and no smaller DLR has this kernel. (Computed exactly for $N = 1, 2, 3$.) The same holds for almost all nodes and weights: a determinant of size $N(N+1)$ is a polynomial in their real and imaginary parts, and one that is not 0 everywhere is 0 almost nowhere.

# %% tags=["proof-dlr_prod"]
for N in (1, 2, 3):
    nodes = [kernels.gaussian(*pair) for pair in ((2, 1), (3, 2), (4, 1))][:N]
    w = [kernels.gaussian(*pair) for pair in ((1, 2), (3, -1), (2, 3))][:N]
    K = kernels.kernel(nodes, w, 2 * N * (N + 1) + 2)
    found = kernels.hankel_rank([value.x * value.y for value in K], N * (N + 1) + 1)
    assert found == N * (N + 1), f"DLR-prod, step 5: the rank is {found}"
print("N = 3: rank", found, "in place of", 4 * 3**2)

# %% [markdown]
# **Exercise 10** ★★ *(10 min, 4 points: how products of modes share their weight)*
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
check("05.10", my_weight)

# %% [markdown]
# <!-- Exercise 05.10: from notebooks/workbook/exercises/ch05.md, by lrnnlab book build; change it there. -->
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
#
# <details><summary>Solution</summary>
#
# `lambda w_m, w_n, same: -0.5j * (1 if same else 2) * w_m * w_n`:
# $\frac12\,\mathrm{Im}\,K^2 = \mathrm{Re}\big(-\frac{\mathrm i}2 K^2\big)$, and in $K^2$ the mode
# $\lambda_m\lambda_n$ stands once for $m = n$ and twice for $m < n$.
#
# </details>

# %% [markdown]
# (Fewer are not enough: $n$ modes with the cast have rank $2n$ at most, and the rank is $N(N+1)$.)
#
# > **Put right.** DLR-prod is a DLR of size $N(N+1)$, and of size $N(N+1)/2$ with the paper's own cast. For almost all modes no smaller one has its kernel.
#
# **Break it.** With the paper's count step 5 fails:

# %% tags=["proof-dlr_prod"]
with show.expect_failure("DLR-prod, step 5"):
    assert found == 4 * 3**2, f"DLR-prod, step 5: the rank is {found}"

# %% [markdown]
# For $N = 4096$ these are 16.8 million modes in place of 67 million, and 8.4 million with the cast. And **at the start the product has
# no more modes than the DLR itself**.
#
# **Step 1 (products stay on the grid).** A product of two $N$-th roots of unity is an $N$-th root of unity, so there are $N$ products only.
#
# **Step 2 (the rank).** So the rank is at most $N$. (Computed exactly for $N = 4$.)

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

# %% tags=["hide-input"]
product_opens = {"N": 3, "modes": "off the grid"}


def draw_product(N, modes):
    return ch05.product_modes(N, modes)


def say_product(N, modes):
    return ch05.product_sentence(N, modes)


show.figure(
    draw_product(**product_opens),
    alt="Forty singular values on a logarithmic axis. The first 12 are between 0.3 and 1; "
        "from the 13th on they are at rounding level. Lines stand at 12 and at 36.",
    caption="What to see: the cliff stands at N(N+1), not at 4N².",
)  # fmt: skip

# %% tags=["hide-input"]
product_widget = explore(
    draw_product,
    {"N": [1, 2, 3, 4], "modes": list(ch05.STARTS)},
    initial=product_opens,
    sentence=say_product,
    alt="Singular values of the Hankel matrix of the product of real and imaginary part.",
)
product_widget

# %% [markdown]
# **Exercise 11** ★ *(5 min, 3 points: where $4N^2$ comes from)* **A proof step.** Deduce $4N^2$ from the Kronecker
# product, and say in one sentence where it is wasteful.

# %% [markdown]
# <!-- Exercise 05.11: from notebooks/workbook/exercises/ch05.md, by lrnnlab book build; change it there. -->
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
#
# <details><summary>Solution</summary>
#
# $\mathrm{Re}\,K$ and $\mathrm{Im}\,K$ are DLRs of size $2N$ (the modes and their mirror images),
# so their product is one of size $2N \cdot 2N$. Both have the *same* modes, so most products come twice, and
# the mixed ones cancel.
#
# </details>

# %% [markdown]
# ## 7 Shift: paper, recorded, live
#
# **Shift** asks for eight copies of the input at once, moved by $0, L/8, \dots, 7L/8$: eight one-hot kernels. The paper's Table 2, with $N = 4096$:
#
# | paper, $R^2$ at $L =$ | $2^{14}$ | $2^{16}$ | $2^{18}$ | $2^{20}$ |
# |---|---|---|---|---|
# | DSS | .71 | .34 | .22 | .22 |
# | DLR | .83 | .39 | .25 | .22 |
# | SGConv | .88 | .45 | .27 | .22 |
# | DLR-prod | 1 | 1 | .98 | .78 |
# | DLR, $N = 512$ | .30 | .22 | .22 | .22 |
#
# and .23 for DLR-ℝ, with real modes, at $2^8$. Two remarks. **A score of .22 means that nothing has been learned**: copying the input into the first column and answering 0 in the others scores $2/9$. And the theorem of the reach (section 5) predicts the DLR's row. Its modes can make the shifts by $jL/8 \le 2N$ nearly. The variance of output $j$ is $1 - j/8$ of the input's, since a shift by $jL/8$ begins with $jL/8$ zeros, and all eight together have 4.5 times that of the input. So, if the other shifts are not learned at all, $R^2 = \frac1{4.5}\sum_{jL/8 \le 2N}(1 - \frac j8)$:

# %% tags=["hide-input"]
PAPER = tables.dlr_table2.printed()
rows, N = [], 4096
for power in (14, 16, 18, 20):
    steps = [j * 2**power // 8 for j in range(1, 8)]
    rows.append(
        {
            "L": f"2^{power}",
            "shifts that a DLR reaches, of 7": sum(S <= 2 * N for S in steps),
            "makes exactly": sum(max(S, 2**power - S) <= 2 * N for S in steps),
            "R2 predicted": kernels.predicted_r2(2**power, N),
            "DLR, paper": PAPER.loc["dlr", f"2^{power}"],
            "DLR-prod, paper": PAPER.loc["dlr_prod", f"2^{power}"],
        }
    )
show.table(
    rows,
    caption="N = 4096: 2N = 8,192 modes, mirror images counted. Nothing is fitted.",
    formats={"R2 predicted": ".3f", "DLR, paper": ".2f", "DLR-prod, paper": ".2f"},
)
print(
    f"the trivial answer to Shift scores {tasks.atomic_levels.trivial_level(tasks.atomic.Shift(), 64):.3f}"
)

# %% [markdown]
# The paper's DLR scores what its reach allows, to within .03. (Had exactness counted, it would score .333 at $2^{14}$ and .222 from there on. With lag 0 left to the skip weight a shift by $S \ge 1$ is exact if and only if $2N \ge \max(S, L - S)$: put one $\lambda_n$ into each weight, and it is the one-hot at $S - 1$ on $L - 1$ lags. That is the shift by 8,192 at $2^{14}$, and no other.)
#
# Of DLR-prod the count of modes alone says little: its $N(N+1)$ modes are as many as any shift of the table asks for, but their weights are products of $2N$ numbers and not free. So here are weights. Take as modes the $n_1$-th and the $n_2$-th roots of unity, $n_1 + n_2 = N$ without a common factor, and weights such that $\mathrm{Re}\,K$ is 1 at the lags $S + n_1\mathbb Z$ and $\mathrm{Im}\,K$ at $S + n_2\mathbb Z$, both 0 elsewhere. **Their product is 1 at $S + n_1 n_2\mathbb Z$ only**: the modes are the same for all $S$, and the period is near $N^2/4$. With $2047 + 2049 = 4096$ it is $2^{22} - 1$, so at the paper's sizes DLR-prod can make *every* shift exactly, and what it lacks at $2^{20}$ has another reason than what it can express.

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
# Our own records (`lrnnlab reproduce dlr/table2 --budget desk --seeds 0-2`, 2,000 steps) are that table divided by 128: 32 modes, at $L = 128$ to 1,024. The reach depends on $L/N$ alone, so its prediction is the same:

# %% tags=["hide-input"]
r2 = tables.results.runs("dlr/table2").astype({"task": int}).groupby(["row", "task"])["r2"]
lowest, highest = r2.min(), r2.max()
spread = r2.agg(lambda cell: f"{cell.mean():.2f} ({cell.min():.2f} to {cell.max():.2f})")
lengths = (128, 256, 512, 1024)
show.table(
    [
        {
            "L": L,
            "L / N": L // 32,
            "DLR, predicted": kernels.predicted_r2(L, 32),
            "DLR": spread["dlr", L],
            "DLR, paper, at 128 L": PAPER.loc["dlr"].get(f"2^{L.bit_length() + 6}"),
            "DLR-prod": spread["dlr_prod", L],
            "DLR-prod, paper, at 128 L": PAPER.loc["dlr_prod"].get(f"2^{L.bit_length() + 6}"),
        }
        for L in lengths
    ],
    caption="R2 on Shift, recorded, N = 32: means over seeds, least and most. The paper has "
    "N = 4,096, and no number at 2^15 and 2^17.",
    formats={
        "DLR, predicted": ".3f",
        "DLR, paper, at 128 L": ".2f",
        "DLR-prod, paper, at 128 L": ".2f",
    },
)

# %%
off = {
    L: max(abs(end["dlr", L] - kernels.predicted_r2(L, 32)) for end in (lowest, highest))
    for L in lengths
}
ahead = (lowest["dlr_prod"] - highest["dlr"]).min()
print(
    f"DLR within .02 of the prediction at 128 and 256: {max(off[128], off[256]) < 0.02}; "
    f"within .09 at 512 and 1,024: {max(off[512], off[1024]) < 0.09}"
)
print(f"DLR-prod ahead of DLR by more than .1 at every length: {ahead > 0.1}")


# %% [markdown]
# At 512 and 1,024 the prediction is a little off, for two reasons. At 512 the first shift is by 64, which is $2N$: the very edge of the reach, and training does not get there (nor, by its .39, in the paper at $2^{16}$). At 1,024 all shifts lie beyond the edge; none is learned, but seven kernels, each of which misses its one-hot by a little less than the whole norm, add up to some .08. (The paper, too, has .30 at this $L/N$: $N = 512$ at $2^{14}$.)
#
# Now we train live, at $L = 64$: one layer of width 16, with 200 steps of 8 sequences.

# %%
def train(task, length, steps=200, layers=1, width=16, rate=5e-3, **options):
    """(net before training as a state, net, R2 on fresh sequences)."""
    torch.manual_seed(0)
    draw = training.rng(0, "train")
    scored = task.sample(1, length, draw).targets.shape[1]
    paper = models.PAPER_004  # the norm behind the sum, the gate, the activation
    stacked = models.blocks(lambda width: models.DLR(width, **options), width, layers, **paper)
    net = models.Net(stacked, task.d_out, width, columns=task.d_in, last_outputs=scored)
    start = {name: value.clone() for name, value in net.state_dict().items()}
    optimiser = torch.optim.AdamW(net.parameters(), lr=rate, weight_decay=0, fused=True)
    with training.deterministic():
        for _ in range(steps):
            batch = task.sample(8, length, draw)
            optimiser.zero_grad()
            batch.loss(net(batch.inputs)).backward()
            optimiser.step()
        fresh = task.sample(128, length, training.rng(0, "test"))
        with torch.no_grad():
            return start, net, tasks.continuous.r_squared(net(fresh.inputs), fresh.targets)


rows = {
    "DLR, DFT start, N = 64": {"state": 64, **flat},
    "DLR, DFT start, N = 16": {"state": 16, **flat},
    "DLR, half circle, N = 16": {"state": 16, "init": "half_circle", **flat},
    "DLR-prod, half circle, N = 16": {
        "state": 16,
        "init": "half_circle",
        "kind": "prod",
        **flat,
    },
    "DLR-ℝ, N = 64": {"state": 64, "eigenvalues": "real"},
}
shift = {name: train(tasks.atomic.Shift(), 64, **options) for name, options in rows.items()}


# %% tags=["nbval-ignore-output"]
def reach(options):
    N = options["state"]
    return (N // 2 - 1) * (N // 2 + 1) if "kind" in options else 2 * N


show.table(
    [{"model": name, "reach": None if "eigenvalues" in options else reach(options),
      "R2 predicted": None if "eigenvalues" in options else kernels.predicted_r2(64, reach(options) / 2),
      "R2, live": shift[name][2]} for name, options in rows.items()],
    caption="Live, 200 steps. Shift at L = 64, with the shifts by 8, 16, ..., 56; reach: the largest S "
            "that the modes make nearly, or of DLR-prod exactly, as above. (Real modes reach none with weights that a float holds: "
            "chapter 06.)",
    formats={"R2, live": ".2f", "R2 predicted": ".3f"},
)  # fmt: skip

# %%
score = {name: found[2] for name, found in shift.items()}
full, grid, half, prod, real = score.values()
trivial = tasks.atomic_levels.trivial_level(tasks.atomic.Shift(), 64)
print(
    f"all shifts within reach: above 0.9: {full > 0.9}; 16 modes: at most what the reach "
    f"allows, .833, on either start: {max(grid, half) < 0.86}"
)
print(
    f"their product above both: {prod > max(grid, half)}; real modes within 0.05 of the "
    f"trivial answer: {abs(real - trivial) < 0.05}"
)

# %% tags=["nbval-ignore-output"]
start, net, _ = shift["DLR, DFT start, N = 64"]
maps = {"after training": net.blocks[0].mixer.kernel(64).detach().numpy()}
trained = {name: value.clone() for name, value in net.state_dict().items()}
net.load_state_dict(start)
maps = {"before training": net.blocks[0].mixer.kernel(64).detach().numpy(), **maps}
net.load_state_dict(trained)
show.figure(
    ch05.kernel_maps(maps, marks=[8 * j for j in range(8)]),
    alt="Two maps of 16 kernels over 64 lags. Before training: noise. After training: each "
        "row has a few strong taps, all at multiples of 8.",
    caption="Live. Every row is the kernel of a channel, divided by its largest tap; "
            "triangles mark the eight shifts. What to see: training has swept the noise into "
            "columns.",
)  # fmt: skip


# %% [markdown]
# **Exercise 12** ★ *(5 min, 3 points: that what cannot be exact may still be learned)* **Predict** before you run:
# the DLR of exercise 8, started on the half circle, is trained on Shift. Of the eight outputs, the shifts by 0, 8,
# ..., 56, how many get an $R^2$ above one half?

# %%
def outputs_learned():
    shift = tasks.atomic.Shift()
    _, net, _ = train(shift, 64, state=24, init="half_circle", **flat)
    fresh = shift.sample(128, 64, training.rng(0, "test"))
    with torch.no_grad():
        made = net(fresh.inputs)
    found = [tasks.continuous.r_squared(made[..., j], fresh.targets[..., j]) for j in range(8)]
    said = ", ".join(f"by {8 * j}: {value:.2f}" for j, value in enumerate(found))
    return sum(value > 0.5 for value in found), f"R2 of each: {said}"


predict("05.12", outputs_learned)

# %% [markdown]
# <!-- Exercise 05.12: from notebooks/workbook/exercises/ch05.md, by lrnnlab book build; change it there. -->
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
#
# <details><summary>Solution</summary>
#
# 7, if training finds what is there (the panel says what it found). By section 5's reach the modes make every shift by $S \le 2N = 48$ nearly, which with the copy are
# 7 of 8; of the shift by 56 its second half says nothing, as $64 < 2 \cdot 56$, but the echo decides. In detail: the echo of the one by 8 is at lag 56, which only the last 8 of 64
# places see. The one by 48 has its echo at lag 0, and the skip weight takes it back. The one by 56 has it at
# lag 8, over 56 places, and is right at 8: it is better left out.
#
# </details>

# %% [markdown]
# ### Reverse: one convolution is not enough
#
# > **The paper, section 3.3.** DLR fails on Reverse, where "a value at position $i$ needs to be right-shifted by $2L - i$ positions".
#
# By how many places exactly? $x_p$ stands at place $p$ and is wanted at place $2L - 1 - p$, so it must be shifted by $2L - 1 - 2p$. (With the paper's formula $x_0$ would land one place beyond the end.)

# %% tags=["hide-input"]
show.figure(
    ch05.reverse_moves(6),
    alt="Six letters and six zeros; an arrow from each letter to its place in the reversed "
        "copy, of lengths 11, 9, 7, 5, 3 and 1.",
    caption="What to see: every arrow has another length, all odd. One convolution moves "
            "everything by the same amounts.",
)  # fmt: skip


# %% [markdown]
# **Step 1 (the moves).** The $L$ letters need $L$ different shifts, all odd. (Computed for every letter,
# $L \le 12$.)

# %% tags=["proof-reverse"]
def shift_of(L, p):
    return 2 * L - 1 - 2 * p


for L in range(2, 13):
    given = [*range(L), *[None] * L]  # the letter x_p is called p
    wanted = [*[None] * L, *reversed(range(L))]
    moves = [wanted.index(p) - given.index(p) for p in range(L)]
    assert moves == [shift_of(L, p) for p in range(L)], f"Reverse, step 1: L = {L}"
    assert len(set(moves)) == L and all(move % 2 for move in moves), (
        "Reverse, step 1: different and odd"
    )
print("L = 12:", moves)


# %% [markdown]
# **Step 2 (one kernel explains little).** There are $n_d = \min(d, 2L - d)$ pairs of an input and an output that are $d$ places apart, and for odd $d$ exactly one of them is wanted. So for white inputs the best tap at lag $d$ is $1/n_d$, and the best kernel explains the share $\frac1L\sum_d\frac1{n_d}$ of the variance, summed over the odd $d$. The cell compares this with least squares, for $L = 2, 5, 8$.

# %% tags=["proof-reverse"]
def best_convolution(L):
    return sum(1 / min(d, 2 * L - d) for d in range(1, 2 * L, 2)) / L


for L in (2, 5, 8):
    lags = [L + q - p for q in range(L) for p in range(L)]  # from letter p to output L + q
    goal = np.array([float(p == L - 1 - q) for q in range(L) for p in range(L)])
    table = np.array([[float(lag == d) for d in range(1, 2 * L)] for lag in lags])
    fitted = table @ np.linalg.lstsq(table, goal, rcond=None)[0]
    assert abs(1 - ((fitted - goal) ** 2).sum() / L - best_convolution(L)) < 1e-9, (
        "Reverse, step 2: what one kernel explains"
    )
print(f"explained: at L = 64 {best_convolution(64):.3f}, at 4096 {best_convolution(4096):.4f}")

# %% [markdown]
# **Step 3 (how many kernels).** Let every output $L + i$ weigh several convolutions in its own way, which gives it a kernel of its own. It sees the taps $i+1, \dots, i+L$ of that kernel, and wants the tap $2i+1$ alone to be 1 and the others 0. Look at the first $\lceil L/2\rceil$ outputs. Each of them sees the taps that the later ones want, so its kernel is 1 at its own tap and 0 at theirs. A table of these kernels at these taps is triangular with ones on the diagonal, so the kernels are independent, and as many convolutions are needed.
#
# **Step 4 (and no more).** Outputs $i$ and $i + \lceil L/2\rceil$ can share a kernel, the sum of their one-hots,
# since neither sees the other's tap.

# %% tags=["proof-reverse"]
for L in range(2, 13):
    half = (L + 1) // 2
    assert all(i + 1 <= 2 * j + 1 <= i + L for i in range(half) for j in range(i, half)), (
        "Reverse, step 3: each of the first outputs sees the taps of the later ones"
    )
    for i in range(L):
        kernel = {2 * j + 1 for j in (i % half, i % half + half) if j < L}
        assert [p for p in range(L) if L + i - p in kernel] == [L - 1 - i], (
            "Reverse, step 4: neither sees the other's tap"
        )
print("L = 12:", half, "kernels")

# %% [markdown]
# **Break it.** With the paper's $2L - i$ step 1 fails:

# %% tags=["proof-reverse"]
with show.expect_failure("Reverse, step 1"):
    for L in range(2, 13):
        given, wanted = [*range(L), *[None] * L], [*[None] * L, *reversed(range(L))]
        moves = [wanted.index(p) - given.index(p) for p in range(L)]
        assert moves == [2 * L - p for p in range(L)], (
            f"Reverse, step 1: L = {L}: {[2 * L - p for p in range(L)]}, not {moves}"
        )

# %% tags=["nbval-ignore-output"]
atomic = tasks.atomic
asked = {
    atomic.CumSum(): "1",
    atomic.CumMax(): ".52",
    atomic.Reverse(): ".01",
    atomic.ContextShift(): "0",
}
other = {task.name: train(task, 64, steps=100, state=64, **flat)[2] for task in asked}
show.table(
    [
        {
            "task": task.name,
            "paper, L = 4096": paper,
            "live, L = 64": other[task.name],
            "an answer that learns nothing, L = 64": tasks.atomic_levels.trivial_level(
                task, 64
            ),
        }
        for task, paper in asked.items()
    ],
    caption="R2 of one DLR layer; live after 100 steps. Lengths and budgets differ: the "
    "columns agree in kind, not in digits.",
    formats={"live, L = 64": ".2f", "an answer that learns nothing, L = 64": ".2f"},
)

# %%
least = max(other["Reverse"], other["ContextShift"])
print(f"CumSum learned: {other['CumSum'] > 0.9}; Reverse and ContextShift not: {least < 0.4}")

# %% [markdown]
# CumSum is one kernel (all ones); the paper's .52 on CumMax is hardly more than what the mean of each position scores (.46 at its length), so little was learned there; Reverse needs many kernels; and ContextShift needs a kernel that depends on the input, which a constant transition cannot have.

# %% [markdown]
# **Exercise 13** ★ *(5 min, 3 points: what Reverse asks for)* How many different shifts does Reverse need at length
# $L$, and how many kernels, if each output may weigh them in its own way?

# %% [markdown]
# <!-- Exercise 05.13: from notebooks/workbook/exercises/ch05.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint 1</summary>
#
# Look at the picture of the moves: how many arrows of different length are there for $L$ letters?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# Which taps does an output never see? Can two outputs share a kernel?
#
# </details>
#
# <details><summary>Solution</summary>
#
# $L$ shifts; $\lceil L/2\rceil$ kernels, as an output does not see all taps, and two can share
# one.
#
# </details>

# %% [markdown]
# ## 8 How far back does it look?
#
# The **receptive field** says how much each earlier input counts: it is the size of $\partial y_T/\partial u_{T-j}$ as a function of $j$. For one linear layer it is $|K_j|$; two linear layers one after the other have the kernel $K * K'$, the convolution of the two.

# %%
torch.manual_seed(0)
lower, upper = (models.DLR(1, state=8).double() for _ in range(2))
probe = torch.randn(1, 40, 1, dtype=torch.float64)
taps = [layer.kernel(40)[0].detach().numpy().copy() for layer in (lower, upper)]
for layer, K in zip((lower, upper), taps):
    K[0] += layer.skip.item()
one = receptive_field(lower, probe)[::-1]
two = receptive_field(lambda u: upper(lower(u)), probe)[::-1]
print(f"one layer: |K| (with the skip weight at lag 0): {np.allclose(one, np.abs(taps[0]))}; "
      f"two: |K * K'|: {np.allclose(two, np.abs(np.convolve(*taps)[:40]))}")  # fmt: skip

# %% tags=["nbval-ignore-output"]
T = 128
noise = torch.randn(8, T, 3, generator=torch.Generator().manual_seed(0))
fields = {}
for depth in (1, 2, 4, 8):
    torch.manual_seed(depth)
    stacked = models.blocks(
        lambda width: models.DLR(width, state=64, dt=(0.2, 0.5)),
        16,
        depth,
        **models.PAPER_004,
    )
    stack = models.Net(stacked, 1, 16, columns=3)
    fields[f"{depth} layer{'s' * (depth > 1)}"] = receptive_field(stack, noise)
show.figure(
    ch05.receptive_fields(fields, title="stacks at their start, dt between 0.2 and 0.5"),
    alt="Receptive fields of stacks of 1, 2, 4 and 8 layers over 128 steps back, on a "
        "logarithmic axis. All start at 1 and fall; that of eight layers stays above the others.",
    caption="Live. Modes that fade fast (the paper's start for Text). What to see: depth "
            "widens the field a little, but a fading kernel stays fading: layers bring in "
            "powers of j, not another rate.",
)  # fmt: skip

# %% tags=["nbval-ignore-output"]
start, net, reached = train(tasks.atomic.Shift(), 64, steps=150, layers=2, state=64, **flat)
inputs = tasks.atomic.Shift().sample(32, 64, training.rng(0, "fields")).inputs
looked = receptive_field(net, inputs)
net.load_state_dict(start)
right = looked[::-1][::8].min() / np.delete(looked[::-1], np.arange(0, 64, 8)).max()
show.figure(
    ch05.receptive_fields(
        {"at its start": receptive_field(net, inputs), "trained": looked},
        marks=[8 * j for j in range(8)],
        title="two layers on Shift",
    ),
    alt="Receptive fields of a stack of two layers on Shift. At its start the newest "
    "position counts most and all others about alike; after training there are peaks at multiples of 8.",
    caption="Live. Grey: where the answer is. What to see: the trained stack looks at the "
    f"eight places that matter: the least of them counts {right:.1f} times as much as the largest other. "
    "The start already looked everywhere.",
)

# %%
print(
    f"Shift in two layers, above 0.9: {reached > 0.9}; the eight places count more than every "
    f"other: {right > 1}"
)

# %% [markdown]
# **Exercise 14** ★★ *(10 min, 4 points: what depth does to a fading kernel)* **A proof step.** A layer has one mode,
# $K_j = r^j$ with $0 < r < 1$, and $m$ such layers stand one after the other, with nothing between. What is the
# kernel of the stack? Where is its largest tap?

# %%
my_tap = None  # a function of (r, m, j): tap j of the stack
check("05.14", my_tap)

# %% [markdown]
# <!-- Exercise 05.14: from notebooks/workbook/exercises/ch05.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint</summary>
#
# How many ways are there to split $j$ steps over $m$ layers?
#
# </details>
#
# <details><summary>Solution</summary>
#
# $\binom{j+m-1}{m-1}\,r^j$: each way to split $j$ steps over $m$ layers brings $r^j$. It rises as
# long as $(j+m)/(j+1) \cdot r > 1$, so its largest tap is near $j = (mr-1)/(1-r)$: it moves back with depth,
# but beyond it falls at the old rate.
#
# </details>

# %% [markdown]
# ## 9 Where the paper says something else
#
# | the paper | what we found |
# |---|---|
# | "DLRs are as expressive as general linear RNNs" (2.2) | if $A$ is diagonalisable; no DLR is a delay line (section 3) |
# | $K = \mathrm{DFT}\cdot w$, any kernel of length $N$ (2.3) | right, up to the sign of $i$ (it is $N$ times the inverse DFT); but with the cast to reals half a circle gives any kernel of length $2N$ |
# | "well-conditioned" | not with the paper's own default decays (section 4) |
# | DLR-prod: size "at most $4N^2$" (A.2) | $N(N+1)$, exactly; with the cast $N(N+1)/2$; at the start $N$ |
# | Kronecker product: $\sum_{m=1}^N$ (A.2) | $\sum_{m=1}^M$ |
# | Reverse: "right-shifted by $2L - i$" (3.3) | $2L - 1 - 2i$ |
# | the cumulative sum is "numerically stable only if $\lvert\lambda\rvert = 1$" (footnote 1) | it is accurate until the sum overflows, at or shortly before the $k$ at which $\lambda^{-k}$ does (notebook 06f) |
# | DLR scores .83, .39, .25, .22 on Shift (Table 2) | its reach, $S \le 2N$, predicts .833, .417, .222, .222 (section 7) |
# | $R^2$ of .22 on Shift, .52 on CumMax | .22 is what copying the first column scores; .46 is what the mean of each position scores, at both lengths |
# | "followed by a residual connection" (2.3) | the released code also adds $D\cdot u$ with a learned $D$ *before* the GELU, and normalises after the sum; so do we |
# | the $X$ of the ring (A.1) is free | the code of Figure 4 leaves the last tap of $\overset{\leftarrow}{K}$ there; no output meets it |
#
# ## 10 What this does not show
#
# * **Nothing about learning long shifts.** Live runs are 64 long; the paper's are up to a million. That a shift is within reach does not mean that training finds it.
# * **That the half circle is a better start in practice.** The one live run of each on Shift at $N = 16$ (section 7) decides nothing, and we have not compared the two over seeds, nor at the paper's sizes.
# * **Nothing about several layers with something non-linear between them.** The theorems are about one kernel.
# * **Nothing beyond float64 about the best fits of section 5.** With exact arithmetic real modes reach every kernel;
#   chapter 06 says at what price.
# * **A receptive field is a gradient at a few inputs**: what is 0 there may not be elsewhere.
#
# ## 11 What you have learned
#
# 1. A diagonal recurrence is a convolution, and its kernel a sum of exponentials; a diagonalisable linear RNN is the same thing, and a delay line is not.
# 2. Cast to reals, $N$ modes have $2N$ real weights. The paper's grid uses half of them; the half circle has every real kernel of length $2N$, with condition number 1.
# 3. An exact shift needs $2N \ge \max(S + 1, L - S)$. A nearly exact one needs $2N \ge S$, at every length: that is what training uses, and what predicts the paper's Table 2.
# 4. The product of real and imaginary part has $N(N+1)$ modes, not $4N^2$, and at the start only $N$.
# 5. One convolution moves everything by the same amounts; Reverse needs half as many convolutions as there are
#    letters.

# %% [markdown]
# ## 12 Exercises
#
# They stand in the sections that they are about. `hint("05.1")` and `solution("05.1")` show what is folded there.

# %% [markdown]
# <!-- The exercises of this chapter, listed by lrnnlab book build. -->
#
# 14 exercises, 53 points, about 125 minutes:
#
# | exercise | section | difficulty | minutes | points | you will learn |
# |---|---|---|---|---|---|
# | 1 | [1 A recurrence is a convolution](#1-A-recurrence-is-a-convolution) | ★ | 5 | 3 | why a ring of 2L - 1 places is enough |
# | 2 | [3 Proposition 1, and what it leaves out](#3-Proposition-1,-and-what-it-leaves-out) | ★★ | 10 | 4 | what breaks where a matrix cannot be diagonalised |
# | 3 | [4 Where the modes start](#4-Where-the-modes-start) | ★★ | 15 | 5 | why half a circle is enough |
# | 4 | [5 What fits, and what cannot](#5-What-fits,-and-what-cannot) | ★ | 5 | 3 | what a layer's kernel is |
# | 5 | [5 What fits, and what cannot](#5-What-fits,-and-what-cannot) | ★★ | 10 | 4 | how long a ring a causal convolution needs |
# | 6 | [5 What fits, and what cannot](#5-What-fits,-and-what-cannot) | ★★ | 15 | 5 | that the cast to reals turns N complex unknowns into 2N real ones |
# | 7 | [5 What fits, and what cannot](#5-What-fits,-and-what-cannot) | ★★ | 15 | 5 | how to make a shift with as few modes as possible |
# | 8 | [5 What fits, and what cannot](#5-What-fits,-and-what-cannot) | ★★ | 5 | 3 | what a count of modes forbids |
# | 9 | [5 What fits, and what cannot](#5-What-fits,-and-what-cannot) | ★★ | 10 | 4 | what a shift costs |
# | 10 | [6 DLR-prod: how many modes has a product?](#6-DLR-prod:-how-many-modes-has-a-product?) | ★★ | 10 | 4 | how products of modes share their weight |
# | 11 | [6 DLR-prod: how many modes has a product?](#6-DLR-prod:-how-many-modes-has-a-product?) | ★ | 5 | 3 | where $4N^2$ comes from |
# | 12 | [7 Shift: paper, recorded, live](#7-Shift:-paper,-recorded,-live) | ★ | 5 | 3 | that what cannot be exact may still be learned |
# | 13 | [7 Shift: paper, recorded, live](#7-Shift:-paper,-recorded,-live) | ★ | 5 | 3 | what Reverse asks for |
# | 14 | [8 How far back does it look?](#8-How-far-back-does-it-look?) | ★★ | 10 | 4 | what depth does to a fading kernel |

# %% [markdown]
# ## 13 Read on
#
# * Gupta, Mehta, Berant, *Simplifying and understanding state space models with diagonal linear RNNs*, [arXiv:2212.00768](https://arxiv.org/abs/2212.00768): the paper of this chapter.
# * Gu, Goel, Ré, *Efficiently modeling long sequences with structured state spaces*, [arXiv:2111.00396](https://arxiv.org/abs/2111.00396) (S4); Gupta, Gu, Berant, *Diagonal state spaces are as effective as structured state spaces*, [arXiv:2203.14343](https://arxiv.org/abs/2203.14343) (DSS); Gu, Gupta, Goel, Ré, *On the parameterization and initialization of diagonal state space models*, [arXiv:2206.11893](https://arxiv.org/abs/2206.11893) (S4D): where it comes from.
# * Li, Cai, Zhang, Chen, Dey, *What makes convolutional models great on long sequence modeling?*, [arXiv:2210.09298](https://arxiv.org/abs/2210.09298) (SGConv); Orvieto and others, *Resurrecting recurrent neural networks for long sequences*, [arXiv:2303.06349](https://arxiv.org/abs/2303.06349) (LRU, chapter 04).
