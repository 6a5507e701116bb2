# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 06d · Reach
#
# With a phase, how many modes does a shift need, exactly or nearly? *It takes* about 25 min to read and 20 min for the exercises. Beyond [chapter 06](../06_ill_conditioned_reals.ipynb).

# %% jupyter={"source_hidden": true} tags=["hide-input"]
import math

import numpy as np
import sympy as sp

import lrnnbook
from lrnnbook import show
from lrnnbook.content.chapters import ch06
from lrnnbook.content.exercises import check, hint, solution
from lrnnbook.content.show.widgets import explore
from lrnnbook.content.tables import kernels

lrnnbook.needs("0.1")

# %% [markdown]
# ## 1 How many modes does a shift need?
#
# Complex nodes make small weights. What is left to ask is how many of them are needed, and there are two answers.
#
# > **Theorem 3** (proved in notebook 05d). There are $N$ modes ($\lambda \ne 0$) and weights that make the one-hot at $S$ on the lags $0, \dots, L-1$ *exactly* if and only if
# > $N \ge \max(S + 1,\; L - S)$. Where the kernel is cast to its real part, $2N \ge \max(S+1, L-S)$.

# %% jupyter={"source_hidden": true} tags=["hide-input", "nbval-ignore-output"]
show.figure(
    ch06.exact_shifts(24),
    alt="A map of modes N against shift S for L = 24. The white region of exact shifts lies "
        "above a V: 24 modes are needed for S = 0 and S = 23, and 13 for S = 11 and 12.",
    caption="What to see: the cheapest exact shift is the one by half the length. The line is "
            "max(S + 1, L - S); the colours are least squares, which knows nothing of it.",
)  # fmt: skip

# %% [markdown]
# **Exercise 12** ★ *(5 min, 3 points: to find the cheapest shift)* How many modes does the cheapest exact shift of
# length $L$ need, by Theorem 3? Which shifts are that cheap?

# %%
my_modes = None  # a function of L
check("06.12", my_modes)

# %% [markdown]
# <!-- Exercise 06.12: from notebooks/lrnnbook/content/exercises/ch06.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint</summary>
#
# $S + 1$ and $L - S$ add up to $L + 1$.
#
# </details>

# %% [markdown]
# With lag 0 left to the skip weight an exact shift by $S \ge 1$ asks for $2N \ge \max(S, L - S)$: put one $\lambda_n$ into each weight, and it is the one-hot at $S - 1$ on $L - 1$ lags. So from $L = 2^{14}$ on the paper's DLR, with $N = 4096$, makes exactly only the copy and, at $2^{14}$, the shift by $8192 = 2N$. It is tempting to take this for the reason why its $R^2$ falls there. That would be wrong: a trained layer need not be exact, and to be *nearly* 0 at the other lags asks for few modes and small weights.
#
# > **Theorem 4.** Let $N$ modes be cast to reals, and let lag 0 be free (the skip weight $D$ sets it).
# > **(a)** If $S \le 2N$: for every error $0 < d < 1$ there is a kernel, *for all lengths at once*, that is 1 at $S$, at most $d$ in size at every other lag (but 0), with weights
# > $$\|w\|_1 = d^{-S/2N} \le \frac1d .$$
# > **(b)** If $S > 2N$ and $L \ge 2S$: every kernel of $N$ modes, whatever they are, misses the one-hot by at least $\sqrt{1 - 2N/S}$ of its norm.
#
# So an error of 10 % costs weights of at most 10 as long as $S \le 2N$. Compare this with $10^{84}$ for real modes. The kernel is the half circle of chapter 05 with a decay: $\lambda_n = r\,e^{\mathrm i\pi(2n+1)/(2N)}$, $w_n = \lambda_n^{-S}/N$, with $r^{2N} = d$.
#
# **Step 1 (waves that cancel).** $\mathrm{Re}\,K_k = r^{k-S}\,c_{k-S}$ with $c_m = \frac1N\sum_{n<N}\cos\big((2n+1)\phi\big)$, $\phi = \frac{\pi m}{2N}$. Since $2\sin\phi\,\cos\big((2n+1)\phi\big) = \sin\big((2n+2)\phi\big) - \sin(2n\phi)$, the sum times $2\sin\phi$ telescopes to $\sin(2N\phi) = \sin \pi m = 0$. So $c_m = 0$ wherever $\sin\phi \ne 0$, that is unless $m$ is a multiple of $2N$.

# %% tags=["proof-reach"]
n, N, phi, q = (
    sp.Symbol("n"),
    sp.Symbol("N"),
    sp.Symbol("phi", real=True),
    sp.Symbol("q", integer=True),
)
one = 2 * sp.sin(phi) * sp.cos((2 * n + 1) * phi)
assert (
    sp.expand_trig(sp.fu(one - sp.sin((2 * n + 2) * phi) + sp.sin(2 * n * phi))).expand() == 0
), "Theorem 4, step 1: one term"
for M in range(1, 9):
    total = sum(2 * sp.sin(phi) * sp.cos((2 * k + 1) * phi) for k in range(M))
    assert sp.simplify(sp.fu(total) - sp.sin(2 * M * phi)) == 0, "Theorem 4, step 1: the sum"
print("2 sin(phi) times the sum of N cosines is sin(2 N phi)")

# %% [markdown]
# **Step 2 (echoes).** At $m = 2Nq$ every cosine is $\cos((2n+1)\pi q) = (-1)^q$. So the kernel is 1 at $S$, $-r^{2N}$ at $S + 2N$, $r^{4N}$ at $S + 4N$, and so on; before $S$ there is a lag $S - 2Nq \ge 0$ only if $S = 2N$, and that is lag 0, which is free.

# %% tags=["proof-reach"]
whole = sp.Symbol("n", integer=True)
assert sp.simplify(sp.cos((2 * whole + 1) * sp.pi * q) - (-1) ** q) == 0, (
    "Theorem 4, step 2: the echoes"
)
M = 5
earlier = {
    S: [S - 2 * M * j for j in range(1, 9) if S - 2 * M * j >= 0] for S in range(1, 2 * M + 1)
}
assert earlier == {**{S: [] for S in range(1, 2 * M)}, 2 * M: [0]}, "Theorem 4, step 2: before S"
print("N = 5: echoes before S:", {S: lags for S, lags in earlier.items() if lags})

# %% [markdown]
# **Step 3 (what it costs).** With $d = r^{2N}$ the echoes are at most $d$, and all of them together are $\sqrt{d^2 + d^4 + \dots} = d/\sqrt{1 - d^2}$ of the norm of the one-hot. There are $N$ weights of size $r^{-S}/N$, so $\|w\|_1 = r^{-S} = d^{-S/2N}$, which is at most $1/d$ exactly if $S \le 2N$.

# %% tags=["proof-reach"]
d, S = sp.symbols("d S", positive=True)
N = sp.Symbol("N", positive=True)
r = d ** (1 / (2 * N))
assert sp.simplify(r ** (2 * N) - d) == 0, "Theorem 4, step 3: the echo"
assert sp.simplify(N * (r**-S / N) - d ** (-S / (2 * N))) == 0, "Theorem 4, step 3: the weights"
assert sp.simplify(sp.log(d ** (-S / (2 * N)) * d) / sp.log(d) - (1 - S / (2 * N))) == 0, (
    "Theorem 4, step 3: the bound"
)
half = sp.Rational(1, 2)
assert sp.summation(half ** (2 * q), (q, 1, sp.oo)) == half**2 / (1 - half**2), (
    "Theorem 4, step 3: all echoes, at d = 1/2"
)
print("log(d ||w||_1) / log d = 1 - S/2N, not negative as long as S <= 2N")


# %% [markdown]
# **Step 4 (in numbers).** $N = 32$ modes, $d = 0.1$, in floats. By Theorem 3 *none* of these shifts is exact at $L = 256$. $\blacksquare$ (a)

# %% tags=["proof-reach"]
def fading_half_circle(N, S, d, L):
    nodes = d ** (1 / (2 * N)) * np.exp(1j * np.pi * (2 * np.arange(N) + 1) / (2 * N))
    w = nodes ** float(-S) / N
    return (w * nodes ** np.arange(L)[:, None]).sum(1).real, abs(w).sum()


for L in (256, 1024):
    for S in (1, 16, 32, 48, 63, 64):
        made, norm = fading_half_circle(32, S, 0.1, L)
        assert abs(made - np.eye(L)[S])[1:].max() < 0.1 + 1e-9, "Theorem 4, step 4: the error"
        assert abs(norm - 0.1 ** (-S / 64)) < 1e-9 and norm < 10 + 1e-9, (
            "Theorem 4, step 4: the weights"
        )
        assert kernels.needed_modes(L, S) > 64, "Theorem 4, step 4: Theorem 3"
        if L == 1024:
            print(f"S = {S:2d}, L = 1024: error at most 0.1, ||w||_1 = {norm:.2f}")


# %% [markdown]
# **Step 5 (a matrix of full rank).** For (b) write the kernel's lags $1, \dots, 2S-1$ into a *Hankel matrix*, $H_{ij} = K_{i+j-1}$ with $i, j = 1, \dots, S$. For the one-hot it is 1 on the antidiagonal and 0 elsewhere: it turns a vector around and keeps its length. A mode gives $w\lambda\cdot\lambda^{i-1}\lambda^{j-1}$, a matrix of rank 1; the real part of $N$ modes is half the sum of
# the modes and of their complex conjugates, so its matrix has rank $2N$ at most.

# %% tags=["proof-reach"]
def hankel(K, S):  # K[k] is the kernel at lag k
    return np.array([[K[i + j + 1] for j in range(S)] for i in range(S)])


for S, N in ((6, 2), (9, 3), (12, 5)):
    assert (hankel(np.eye(2 * S)[S], S) == np.eye(S)[::-1]).all(), "Theorem 4, step 5: the one-hot"
    nodes = [sp.Rational(k + 1, 7) + sp.I * sp.Rational(N - k, 9) for k in range(N)]
    one = sp.Matrix(hankel([sp.expand(nodes[0] ** k) for k in range(2 * S)], S))
    assert one.rank() == 1, "Theorem 4, step 5: a mode"
    K = [sum(sp.re(sp.expand(node**k)) for node in nodes) for k in range(2 * S)]
    assert sp.Matrix(hankel(K, S)).rank() <= 2 * N, "Theorem 4, step 5: N modes"
print("N = 5, S = 12: rank", sp.Matrix(hankel(K, S)).rank())

# %% [markdown]
# **Step 6 (what is left).** So there are at least $S - 2N$ perpendicular unit vectors that the kernel's matrix sends to 0 and the one-hot's does not shorten: the difference $E$ of the two matrices has $\sum E_{ij}^2 \ge S - 2N$. And $E$ holds the error of each lag at most $S$ times. So $\sum_k e_k^2 \ge (S - 2N)/S$. $\blacksquare$ (b) The cell
# counts the lags, and tries the bound on random modes with the best weights (samples, in floats).

# %% tags=["proof-reach"]
for S in range(2, 30):
    places = [i + j + 1 for i in range(S) for j in range(S)]
    assert max(places.count(k) for k in range(1, 2 * S)) == S, (
        "Theorem 4, step 6: each lag at most S times"
    )
draw, least = np.random.default_rng(0), 9.0
for N, S in [
    (N, S) for N in (1, 2, 4) for S in (2 * N + 1, 3 * N + 1, 6 * N) for _ in range(20)
]:
    nodes = draw.uniform(0.5, 1, N) * np.exp(1j * draw.uniform(0, np.pi, N))
    fit = kernels.best_fit(nodes, np.eye(2 * S)[S])
    E = hankel(fit.kernel - np.eye(2 * S)[S], S)
    assert (E**2).sum() >= S - 2 * N - 1e-9, "Theorem 4, step 6: the matrix"
    least = min(least, fit.error**2 / (1 - 2 * N / S))
assert least >= 1, "Theorem 4, step 6: the error"
print(f"the best of 180 fits has {least:.2f} times the least squared error that (b) allows")

# %% [markdown]
# **Break a hypothesis.** $S = 2N + 1$ in step 4's lines: the echo that lay on lag 0 now lies on lag 1, and it is larger than the shift itself.

# %% tags=["proof-reach"]
with show.expect_failure("Theorem 4, step 4"):
    made, norm = fading_half_circle(32, 65, 0.1, 256)
    assert abs(made - np.eye(256)[65])[1:].max() < 0.1 + 1e-9, (
        f"Theorem 4, step 4: at lag 1 the kernel is {made[1]:.1f}"
    )

# %% [markdown]
# Between (a) and (b) there is room: (b) excludes an error below $\sqrt{1/(2N+1)}$ at $S = 2N+1$, and the half circle's is much larger. Least squares over the weights, best of several radii, lag 0 free:

# %% tags=["varies", "nbval-ignore-output"]
places, L, N = (32, 48, 63, 64, 65, 66, 96, 128), 256, 32
targets = np.eye(L)[1:, places]  # (L - 1, 8): a column for each shift, without lag 0
errors = []
for r in (0.995, 0.98, 0.95, 0.87):
    nodes = r * np.exp(1j * np.pi * (2 * np.arange(N) + 1) / (2 * N))
    lags = nodes ** np.arange(1, L)[:, None]
    table = np.hstack([lags.real, -lags.imag])
    fitted = table @ np.linalg.lstsq(table, targets, rcond=None)[0]
    errors.append(np.linalg.norm(fitted - targets, axis=0))
cliff = dict(zip(places, np.min(errors, axis=0).tolist()))
show.table(
    [{"S": S, "least error": f"{error:.2g}"} for S, error in cliff.items()],
    caption="N = 32 modes on half circles, L = 256. What to see: a cliff between S = 64 = 2N "
    "and 65.",
)

# %% tags=["varies", "nbval-ignore-output"]
reached, beyond = max(cliff[S] for S in (32, 48, 63, 64)), min(cliff[S] for S in (65, 66, 96, 128))
assert reached < 1e-3 and beyond > 0.8, "the cliff is at S = 2N"
print(f"up to S = 2N: errors below {reached:.1e}; from 2N + 1 on: above {beyond:.2f}")

# %% [markdown]
# *Play with the proof.* Drag $S$ across $2N$ and see which step goes first; then make $d$ small, and see what it costs.

# %% jupyter={"source_hidden": true} tags=["hide-input", "nbval-ignore-output"]
reach_widget = explore(
    ch06.reach_picture,
    {"N": [8, 16, 32, 64], "S": list(ch06.REACHES), "error": list(ch06.ERRORS)},
    initial={"N": 32, "S": 64, "error": 0.3},
    sentence=ch06.reach_sentence,
    alt="The kernel of N fading modes on the half circle: a 1 at lag S, and echoes 2N lags apart.",
)
reach_widget


# %% [markdown]
# **Exercise 13** ★★ *(15 min, 5 points: to make echoes add up)* **Break a model.** Here is
# Theorem 4's kernel as a model that shifts by 10, with $N = 8$ and $d = 0.8$. On every input of up to 26 numbers it
# is right, and of a single 1 no echo is above 0.8. Give an input of at most 400 numbers between $-1$ and $1$ on which
# some output, which should lie between $-1$ and $1$ too, is off by more than 3.95.

# %% tags=["varies", "nbval-ignore-output"]
def shifted_by_10(u, N=8, d=0.8):
    nodes = d ** (1 / (2 * N)) * kernels.arc_nodes(N, math.pi)
    powers = nodes ** (np.arange(len(u))[:, None] - 10.0)  # (T, N)
    return np.convolve(powers.sum(1).real / N, u)[: len(u)]


def off(u):
    return np.abs(shifted_by_10(u) - np.r_[np.zeros(10), u][: len(u)]).max()


draw = np.random.default_rng(0)
short, long = (max(off(draw.uniform(-1, 1, T)) for _ in range(300)) for T in (26, 400))
print(f"300 random inputs of 26 numbers: off by less than {short:.0e}; of 400 numbers: by {long:.2f} at most")

my_input = None  # exercise 13: a list of at most 400 numbers
check("06.13", my_input)

# %% [markdown]
# <!-- Exercise 06.13: from notebooks/lrnnbook/content/exercises/ch06.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint 1</summary>
#
# At which lags are the echoes, of which sign, and how large is the $q$-th?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# Choose an output late in the input. Which sign should the number at each echo's lag have, so that all
# errors have one sign?
#
# </details>

# %% [markdown]
# ## Exercises
#
# You will find each exercise in its section. Stuck? `hint("06.12")`. Done? Compare with `solution("06.12")`.

# %% [markdown]
# <!-- The exercises of this chapter, listed by lrnnlab book build. -->
#
# 2 exercises, 8 points, about 20 minutes:
#
# | exercise | section | difficulty | minutes | points | you will learn |
# |---|---|---|---|---|---|
# | 12 | [1 How many modes does a shift need?](#1-How-many-modes-does-a-shift-need?) | ★ | 5 | 3 | to find the cheapest shift |
# | 13 | [1 How many modes does a shift need?](#1-How-many-modes-does-a-shift-need?) | ★★ | 15 | 5 | to make echoes add up |
#
# <details><summary>Solution of 06.12</summary>
#
# $S + 1$ and $L - S$ add up to $L + 1$, so the larger is at least half of it:
# $\lceil (L+1)/2 \rceil$, that is `L // 2 + 1`. For odd $L$ at $S = (L-1)/2$ alone, for even $L$ at $L/2 - 1$
# and $L/2$.
#
# </details>
#
# <details><summary>Solution of 06.13</summary>
#
# The echoes are $-d, d^2, -d^3, \dots$ at the lags 26, 42, 58, ..., so a number that changes its sign
# every 16 steps has one sign at all of them: `[1 if k // 16 % 2 == 0 else -1 for k in range(400)]`. The errors
# add up to $d + d^2 + \dots = d/(1-d) = 4$ nearly. (A sine wave of period 32 does it too: the modes resonate.) What
# a kernel does in the worst case is the *sum of the sizes* of its errors, not the largest of them: for a small sum
# take a small $d$, and pay with weights of $1/d$.
#
# </details>
