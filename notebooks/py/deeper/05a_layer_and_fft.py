# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 05a · The layer and its FFT
#
# How does a DLR run in code, and how long must its FFT be? *It takes* about 15 min to read and 5 min for the exercises. Read [chapter 05](../05_diagonal_kernels.ipynb) first.

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
# ## 1 The layer
#
# A DLR (diagonal linear RNN) is $x_k = \mathrm{diag}(\Lambda)\,x_{k-1} + \mathbf 1\cdot u_k$, $y_k = \langle w, x_k\rangle$. Its kernel is $K_j = \sum_n w_n\lambda_n^{\,j}$, of which a layer keeps the real part. Here is one layer of the package, run in four ways.

# %%
torch.manual_seed(0)
dlr = models.layers.DLR(3, state=8).double()
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
    f"the layer's convolution = scan = the sum as written = one step at a time: {all(same)}"
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
# The derivative in the last line is the paper's reason for the values at which training starts (its section 2.3). Where $|\lambda|$ is well below 1, $\lambda^j$ is nearly 0 at large $j$, and so is the gradient that could change it.
#
# Now build the whole layer from its parameters. Each mode has a decay and a frequency, which all channels share. Each channel has a complex weight for each mode. The kernel is a table of powers times the weights. The convolution goes through an FFT of twice the length; section 2 says why twice.

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
# ## 2 The FFT, and how long it must be
#
# A bidirectional layer has a kernel $\overset{\rightarrow}{K}$ looking back and another, $\overset{\leftarrow}{K}$, looking ahead (Eq. 5 and 6). Both together are a *Toeplitz* matrix: entry $(k, j)$ depends on $k - j$ only. Put the taps on a ring of $n$ places, those that look back from place 0 upwards and those that look ahead from place $n-1$ downwards. If they do not meet, the *circular* convolution with this ring gives the same outputs, and circular convolutions are what the FFT computes. In the ring of $2L$ places of the paper (section A.1) one place stays free, the paper's $X$.

# %% jupyter={"source_hidden": true} tags=["hide-input", "nbval-ignore-output"]
show.figure(
    ch05.rings_of_taps(4),
    alt="Left a ring of eight places. K0 to K3 go round from the top to the right, k0 to k2 from the top to the left, and one place "
        "between them is X. Right a ring of four places; three of them hold two taps each.",
    caption="Kernels of L = 4 taps. Green taps look back, pink ones look ahead (k_3 would weigh no input). What to see: on "
            "2L places no two taps meet, and X is free. On L places three places hold two.",
)  # fmt: skip

# %% [markdown]
# **Step 1 (Eq. 5 is Eq. 6).** Two recurrences, one from the left and one from the right, give two sums. **Sample:** one random example in whole numbers.

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
# **Step 2 (the ring).** On $n = 2L$ places the ring gives the same sums, whatever is in the free place.

# %% tags=["proof-ring"]
X = sp.Symbol("X")


# taps that look back go from place 0 upwards, those that look ahead from place n - 1 downwards
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
# **Step 3 (the least length).** $2L - 1$ places are enough, and fewer are not. **All lengths below $3L$,** for this example.

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
# **Step 5 (the FFT).** Three FFTs of length $2L$ compute the circular convolution. **Float.**

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
# **Exercise 9** ★ *(5 min, 3 points: to count the places of a ring)* Why is a ring of $2L - 1$ places enough,
# and $2L - 2$ not? For $L = 3$ write the taps on a ring of 5 places, in the order of the places: `K0`, `K1`, `K2` are
# the taps that look back, `k0`, `k1`, `k2` those that look ahead (`k0` weighs the next input).

# %%
my_ring = None  # five names, for example ["K0", ...]
check("05.9", my_ring)

# %% [markdown]
# <!-- Exercise 05.9: from notebooks/lrnnbook/content/exercises/ch05.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint</summary>
#
# Count the taps that some output uses.
#
# </details>

# %% [markdown]
# ## Exercises
#
# You will find each exercise in its section. Stuck? `hint("05.9")`. Done? Compare with `solution("05.9")`.

# %% [markdown]
# <!-- The exercises of this chapter, listed by lrnnlab book build. -->
#
# 1 exercise, 3 points, about 5 minutes:
#
# | exercise | section | difficulty | minutes | points | you will learn |
# |---|---|---|---|---|---|
# | 9 | [2 The FFT, and how long it must be](#2-The-FFT,-and-how-long-it-must-be) | ★ | 5 | 3 | to count the places of a ring |
#
# <details><summary>Solution of 05.9</summary>
#
# $L$ taps that look back and $L - 1$ that look ahead are used (the last one ahead never is): $2L - 1$ different
# places are needed. `["K0", "K1", "K2", "k1", "k0"]`.
#
# </details>
