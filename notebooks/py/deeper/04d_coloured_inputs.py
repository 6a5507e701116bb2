# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 04d · Coloured inputs
#
# Lemma 3 asks for white input. What happens to the norm without it, and how far can it go? *It takes* about 30 min to read and 15 min for the exercises. Read [chapter 04](../04_rotations.ipynb) first.

# %% jupyter={"source_hidden": true} tags=["hide-input"]
import math

import numpy as np
import sympy as sp

import lrnnbook
from lrnnbook import show
from lrnnbook.content.chapters import ch04
from lrnnbook.content.chapters.rotations import R
from lrnnbook.content.exercises import check, hint, solution

lrnnbook.needs("0.1")

# %% [markdown]
# `R(theta)` is the rotation of the plane in SymPy.

# %% [markdown]
# ## 1 Break the hypothesis: inputs that are not white
#
# The paper says that white input is an assumption, "which we hope to be able to overcome in future work". What happens
# without it can be worked out.
#
# Input has the *colour* $\rho$ if $\mathbb{E}\,u_t u_s^\top = \rho^{|t-s|} I$; at $\rho = 0$ it is white.
#
# > **Theorem.** For a pair that turns by $\theta$ and stationary input of colour $\rho$, $|\rho| \le 1$, with
# > $\xi^2\,\mathrm{Tr}\,B^\top B = c\,(1 - \gamma^2)$, the norm tends to
# > $$c\;\frac{1 - \gamma^2\rho^2}{1 - 2\gamma\rho\cos\theta + \gamma^2\rho^2}.$$
#
# This is a resonance: inputs that resemble the one before add up where the state turns slowly, and cancel where it
# turns fast.
#
# **Step 1.** Of $B$ only the trace of $B^\top B$ counts: $\mathrm{Tr}\,B^\top R(a)B = \cos a\;\mathrm{Tr}\,B^\top B$
# (free $a$ and $B$). So the input that came $k$ steps ago adds $\gamma^k\rho^k\cos k\theta = \mathrm{Re}\,m^k$ to
# the correlation with the present one, where $m = \gamma\rho e^{i\theta}$.
#
# **Step 2** (one layer, exactly). So with $c = 1$ and $q_t = 1 + m + \dots + m^{t-1}$ the norm obeys
# $s_t = \gamma^2 s_{t-1} + (1 - \gamma^2)(1 + 2\,\mathrm{Re}\,m\,q_{t-1})$. The cell compares this with the covariance
# of $x_t$ and $u_t$ together, in fractions, for 8 steps.

# %% tags=["proof-colour"]
a, B = sp.Symbol("a", real=True), sp.Matrix(2, 3, sp.symbols("b1:7"))
assert sp.expand((B.T * R(a) * B).trace() - sp.cos(a) * (B.T * B).trace()) == 0, (
    "Colour, step 1: Tr(B^T R(a) B) = cos(a) Tr(B^T B)"
)

rate, rho, turn = sp.Rational(9, 10), sp.Rational(4, 5), sp.Matrix([[3, -4], [4, 3]]) / 5
B = sp.Matrix([[2, 1, -1], [0, 3, 1]])
B2 = (1 - rate**2) / (B.T * B).trace()  # xi^2
F = sp.Matrix(sp.BlockMatrix([[rate * turn, rho * B], [sp.zeros(3, 2), rho * sp.eye(3)]]))
noise = B.col_join(sp.eye(3))  # u_t = rho u_(t-1) + sqrt(1 - rho^2) noise; B u_t enters the state
X, m, q, s = sp.diag(sp.zeros(2), sp.eye(3)), rate * rho * (3 + 4 * sp.I) / 5, 0, 0
for t in range(1, 9):
    X = F * X * F.T + (1 - rho**2) * noise * noise.T
    s = rate**2 * s + (1 - rate**2) * (1 + 2 * sp.re(sp.expand(m * q)))
    q = sp.expand(1 + m * q)
    assert B2 * X[:2, :2].trace() == s, "Colour, step 2: the recurrence is that of the covariance"
print(f"E||x_8||^2 = {float(s):.4f}, where white input has {float(1 - rate**16):.4f}")

# %% [markdown]
# **Step 3.** As $|m| < 1$, $q_t$ tends to $1/(1 - m)$, and $s_t$ to the value that the recurrence then leaves as it
# is, which is the theorem's (free $\gamma$, $\rho$, $\theta$). $\blacksquare$
#
# **Step 4.** At every time, if $m \ne \gamma^2$: with $\ell$ for the limit, $s_t = (1 - \gamma^{2t})\,\ell -
# 2(1 - \gamma^2)\,\mathrm{Re}\,\frac{m}{1 - m}\frac{\gamma^{2t} - m^t}{\gamma^2 - m}$ solves the recurrence and starts
# at 0. (At $m = \gamma^2$, that is $\rho e^{\mathrm i\theta} = \gamma$, the last fraction is its limit, $t\,\gamma^{2(t-1)}$. For all $t$: $\gamma^{2t}$, $m^t$ and $\bar m^t$ are free symbols $G$, $M$, $\bar M$.)

# %% tags=["proof-colour"]
p, k = sp.symbols("p k")  # p = e^(i theta), k = gamma rho, so m = k p
limit = 1 + k * p / (1 - k * p) + (k / p) / (1 - k / p)
cosine = (p + 1 / p) / 2
assert sp.simplify(limit - (1 - k**2) / (1 - 2 * k * cosine + k**2)) == 0, (
    "Colour, step 3: the limit of the theorem"
)
g2, m, n, G, M, N = sp.symbols("g2 m n G M N")  # n and N are the conjugates of m and M


def at(G, M, N):  # s_t over 1 - gamma^2
    limit = (1 + m / (1 - m) + n / (1 - n)) / (1 - g2)
    return limit * (1 - G) - sum(z / (1 - z) * (G - Z) / (g2 - z) for z, Z in ((m, M), (n, N)))


one_step = g2 * at(G, M, N) + 1 + sum(z * (1 - Z) / (1 - z) for z, Z in ((m, M), (n, N)))
assert at(1, 1, 1) == 0, "Colour, step 4: the start"
assert sp.cancel(sp.together(at(g2 * G, m * M, n * N) - one_step)) == 0, "Colour, step 4: one step"
show.math(r"\text{in the long run: }", sp.factor(limit))

# %% [markdown]
# **Step 5 (sample).** Runs of a head with this input, stationary from its first step, and $x_0 = 0$: within 5 standard
# errors at each of 60 steps.

# %% tags=["proof-colour"]
draw, rate, rho, runs = np.random.default_rng(1), 0.9, 0.8, 3000
B = np.array([[2.0, 1, -1], [0, 3, 1]])
B *= math.sqrt((1 - rate**2) / (B**2).sum())
turn, mode = np.array([[0.6, -0.8], [0.8, 0.6]]), rate * rho * (0.6 + 0.8j)
u, x, s, q = draw.standard_normal((runs, 3)), np.zeros((runs, 2)), 0, 0
for t in range(60):
    u = u if t == 0 else rho * u + math.sqrt(1 - rho**2) * draw.standard_normal((runs, 3))
    x, s = rate * x @ turn.T + u @ B.T, rate**2 * s + (1 - rate**2) * (1 + 2 * (mode * q).real)
    q, squares = 1 + mode * q, (x**2).sum(1)
    assert abs(squares.mean() - s) < 5 * squares.std() / math.sqrt(runs), (
        "Colour, step 5: within 5 standard errors"
    )
white_norm = 1 - rate**120
print(
    f"E||x||^2 at t = 60: {squares.mean():.2f} in runs, {s:.2f} derived; "
    f"white input has {white_norm:.2f}"
)

# %% [markdown]
# *Break it:* treat the input as if it were white ($m = 0$).

# %% tags=["proof-colour"]
with show.expect_failure("Colour, step 5"):
    assert abs(squares.mean() - white_norm) < 5 * squares.std() / math.sqrt(runs), (
        "Colour, step 5: coloured inputs do not follow the formula for white ones"
    )

# %% [markdown]
# **Exercise 11** ★ *(5 min, 3 points: to predict a resonance)* **Predict.** Before
# you look at the table below: $\gamma = \rho = 0.99$ and $\theta = 90°$. What is the long-run $\mathbb{E}\|x\|^2$
# for $c = 1$, where white input has 1? (10 percent off will do.)

# %%
my_prediction = None  # exercise 11: the long-run E||x||^2
check("04.11", my_prediction)

# %% [markdown]
# <!-- Exercise 04.11: from notebooks/lrnnbook/content/exercises/ch04.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint 1</summary>
#
# At 90° the angle's cosine is 0.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# Where does the state point two steps later? And the input?
#
# </details>

# %% jupyter={"source_hidden": true} tags=["hide-input"]
colours = {f"ρ = {rho:g}": rho for rho in ch04.RHOS}
show.table(
    [
        {
            "θ": f"{angle}°",
            **{
                name: ch04.stationary_norm(0.99, math.radians(angle), rho)
                for name, rho in colours.items()
            },
        }
        for angle in (0, 15, 45, 90, 180)
    ],
    caption="Long-run E‖x‖² at γ = 0.99, c = 1. The paper's value is 1.",
    formats=dict.fromkeys(colours, ".3g"),
)

# %% [markdown]
# ## 2 How far can it go?
#
# > **Theorem.** For *any* stationary input of covariance $I$ the long-run $\mathbb{E}\|x\|^2$ of a pair lies between
# > $\frac{1-\gamma}{1+\gamma}$ and $\frac{1+\gamma}{1-\gamma}$ times $c$. With two input channels both ends are
# > reached, by inputs of a single frequency, if $BB^\top$ is a multiple of $I$ or $\theta$ is 0 or 180°; otherwise
# > no input of a single frequency reaches an end.
#
# *Proof.* Read the pair as one complex number, and call $\xi Bu_t$, read the same way, the *drive*. A stationary
# drive is a mixture of frequencies $\omega$. Its part of frequency $\omega$, $b\,e^{i\omega t}$ with $b$ complex,
# adds $b\,e^{i\omega t}/(1 - \gamma e^{i(\theta - \omega)})$ to the state. The mean squares of all parts $b$ add up
# to $\xi^2\,\mathrm{Tr}\,B^\top B = c\,(1 - \gamma^2)$, so the long-run $\mathbb{E}\|x\|^2$ is a weighted mean of
# $c\,\frac{1 - \gamma^2}{|1 - \gamma e^{i(\theta-\omega)}|^2}$ over the frequencies.
#
# **Step 1.** That number is $c\,f$ with $f = \frac{1 - \gamma^2}{1 - 2\gamma\cos\varphi + \gamma^2}$, $\varphi =
# \theta - \omega$. It rises with $\cos\varphi$; at $\cos\varphi = -1$ it is $\frac{1 - \gamma}{1 +
# \gamma}$, and at $\cos\varphi = 1$ it is $\frac{1 + \gamma}{1 - \gamma}$. A mean lies between these ends.

# %% tags=["proof-range"]
gamma, phi, cosine = sp.symbols("gamma phi cosine", real=True)
distance = sp.expand((1 - gamma * sp.exp(sp.I * phi)) * (1 - gamma * sp.exp(-sp.I * phi)))
f = (1 - gamma**2) / (1 - 2 * gamma * cosine + gamma**2)
written = 1 - 2 * gamma * sp.cos(phi) + gamma**2
assert sp.simplify(distance.rewrite(sp.cos) - written) == 0, "The range, step 1: the distance"
slope = 2 * gamma * (1 - gamma**2) / (1 - 2 * gamma * cosine + gamma**2) ** 2
assert sp.simplify(sp.diff(f, cosine) - slope) == 0, (
    "The range, step 1: it rises, as this is positive"
)
ends = [sp.factor(f.subs(cosine, sign)) for sign in (-1, 1)]
assert sp.simplify(ends[0] - (1 - gamma) / (1 + gamma)) == 0, "The range, step 1: the lower end"
assert sp.simplify(ends[0] * ends[1]) == 1, "The range, step 1: the upper end"
print(f"at γ = 0.999: from {ends[0].subs(gamma, 0.999):.4f} to {ends[1].subs(gamma, 0.999):,.0f}")

# %% [markdown]
# **Step 2.** To reach the upper end, the whole drive $\beta\cdot u_t$ ($\beta = $ the first row of $B$ plus $i$ times
# the second) must have the frequency $\theta$. (For the lower end the frequency must be $\theta + 180°$; the
# argument is the same.) The input is *real*, so with $\omega$ it has $-\omega$ too, and the question is how the
# drive divides between the two. An input of covariance $I$ and a single frequency is, for two channels,
# $\sqrt 2\,(\cos(\omega t + \varphi), \pm\sin(\omega t + \varphi))$ with a random phase $\varphi$ and either sign, or (in
# its second moments) a random choice between the two. Its drive has the shares $\frac12 \pm \frac{\det B}{\mathrm{Tr}\,BB^\top}$ at $\omega$ and $-\omega$.
# One of them is 0 only if $BB^\top$ is a multiple of $I$:
# $\mathrm{Tr}\,BB^\top \mp 2\det B = (b_{11} \mp b_{22})^2 + (b_{12} \pm b_{21})^2$. At $\theta = 0$ or 180° it does
# not matter, since $\cos(\theta - \omega) = \cos(\theta + \omega)$ there.

# %% tags=["proof-range"]
b11, b12, b21, b22 = sp.symbols("b11 b12 b21 b22", real=True)
B = sp.Matrix([[b11, b12], [b21, b22]])
trace = (B * B.T).trace()
for sign in (1, -1):
    forward = b11 + sp.I * b21 - sign * sp.I * (b12 + sp.I * b22)  # e^(i(wt + phi)), times sqrt 2
    backward = b11 + sp.I * b21 + sign * sp.I * (b12 + sp.I * b22)  # and e^(-i(wt + phi))
    shares = [sp.expand(z * sp.conjugate(z)) / 2 for z in (forward, backward)]
    assert sp.expand(sum(shares) - trace) == 0, "The range, step 2: together"
    assert sp.expand(shares[0] - trace / 2 - sign * B.det()) == 0, (
        "The range, step 2: how it divides"
    )
    zero = (b11 - sign * b22) ** 2 + (b12 + sign * b21) ** 2
    assert sp.expand(2 * shares[1] - zero) == 0, "The range, step 2: when one share is 0"
for quarter in (0, sp.pi):
    apart = sp.expand_trig(sp.cos(quarter - phi) - sp.cos(quarter + phi))
    assert apart == 0, "The range, step 2: theta 0 or 180 degrees"
print("one share is 0 where (b11 - b22)^2 + (b12 + b21)^2 is, the other where (b11 + b22)^2 + (b12 - b21)^2 is")


# %% [markdown]
# **Step 3** (numerical, two matrices). At $\gamma = 0.999$ and $\theta = 90°$, over 3,601 frequencies and both signs:
# $B = I$ reaches both ends, 0.0005 and 1,999. $B = (1, 0; 0, 0)$ divides every drive in halves, and gets no further
# than from 0.0010 to 999.5.

# %% tags=["proof-range"]
def reached(B, rate=0.999, theta=math.pi / 2):
    omega, split = np.linspace(0, math.pi, 3601), np.linalg.det(B) / (B**2).sum()
    at = [
        (1 - rate**2) / np.abs(1 - rate * np.exp(1j * (theta - side * omega))) ** 2
        for side in (1, -1)
    ]
    both = [(0.5 + sign * split) * at[0] + (0.5 - sign * split) * at[1] for sign in (1, -1)]
    return np.min(both), np.max(both)


one, half = reached(np.eye(2)), reached(np.diag([1.0, 0]))
assert np.allclose(one, (0.001 / 1.999, 1999)), "The range, step 3: B = I"
narrower = (1 - 0.999**2) / (1 + 0.999**2), (1999 + 1 / 1999) / 2
assert np.allclose(half, narrower), "The range, step 3: one row"
print(f"B = I: {one[0]:.4f} to {one[1]:,.1f}; B of one row: {half[0]:.4f} to {half[1]:,.1f}")

# %% [markdown]
# *Break it:* claim that both ends are reached whatever $B$ is.

# %% tags=["proof-range"]
with show.expect_failure("The range, step 3"):
    assert np.allclose(half, (0.001 / 1.999, 1999)), "The range, step 3: one row reaches the ends"

# %% [markdown]
# **Exercise 12** ★★ *(10 min, 4 points: to drive a rotation at its own angle)* **Break the hypothesis.** A head
# of width 2 has $\gamma = 0.99$, $\theta = 0.7$ and $B = I$, and $\xi$ as for white input and $c = 1$. Give inputs
# of length $\sqrt 2$ (the squared length that white input in two dimensions has on average) that bring $\|x_t\|^2$
# above 190.

# %%
my_input = None  # exercise 12: a function of t = 0, 1, 2, ... that returns two numbers
check("04.12", my_input)

# %% [markdown]
# <!-- Exercise 04.12: from notebooks/lrnnbook/content/exercises/ch04.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint</summary>
#
# What does the state do between two inputs?
#
# </details>

# %% [markdown]
# ## 3 Tokens
#
# In our tasks a first layer reads tokens. As one-hot vectors they are not white, even when they are drawn
# independently: they have a mean, which drives the state like a constant input, and their variance is not 1. Let
# token $v$ have the probability $p_v$ and the column $b_v$ of $B$; let $b = \sum_v p_vb_v$ be the mean column and
# $\sigma^2 = \sum_v p_v\|b_v - b\|^2$ the *scatter*. With $l = \gamma e^{i\theta}$, from $x_0 = 0$,
#
# $$\mathbb{E}\|x_t\|^2 = \xi^2\left(\sigma^2\,\frac{1 - \gamma^{2t}}{1 - \gamma^2} + \|b\|^2\,\frac{|1 - l^t|^2}{|1 -
# l|^2}\right).$$
#
# **Step 1** (one layer, every string). The formula is the mean over *all* $3^t$ strings of $t = 1$ to $5$ tokens,
# exactly, with $\xi = 1$.

# %% tags=["proof-tokens"]
token_decay, token_turn = sp.Rational(9, 10), sp.Matrix([[3, -4], [4, 3]]) / 5
mode = token_decay * (3 + 4 * sp.I) / 5  # l
columns, chances = sp.Matrix([[2, -1, 0], [1, 3, -2]]), sp.Matrix([1, 2, 3]) / 6
mean_column = columns * chances
scatter = sum(
    chances[v] * (columns[:, v] - mean_column).dot(columns[:, v] - mean_column) for v in range(3)
)


def over_all_strings(B, T):
    reached = [(sp.Integer(1), sp.zeros(2, 1))]  # (probability, state) of every string so far
    for _ in range(T):
        reached = [
            (w * chances[v], token_decay * token_turn * x + B[:, v])
            for w, x in reached
            for v in range(3)
        ]
    return sum(w * x.dot(x) for w, x in reached)


size = lambda z: sp.expand(z * sp.conjugate(z))
for T in range(1, 6):
    from_scatter = scatter * (1 - token_decay ** (2 * T)) / (1 - token_decay**2)
    from_mean = mean_column.dot(mean_column) * size(sp.expand(1 - mode**T)) / size(1 - mode)
    assert sp.expand(over_all_strings(columns, T) - from_scatter - from_mean) == 0, (
        "Tokens, step 1: the mean over all strings"
    )
print(f"after 5 tokens: {float(from_scatter):.3f} from the scatter, {float(from_mean):.3f} from the mean")

# %% [markdown]
# **Step 2.** For $V$ tokens that are equally likely, $\mathbb{E}\,uu^\top = \frac1V I$ and not $I$: after the first
# step the norm is $1/V$ of what the lemma assumes (for free $B$, $V = 4$).
#
# **Step 3.** In the long run the mean takes over where $\theta$ is small: with two tokens, $B = I$, $\gamma = 0.99$
# and the paper's $\xi$, the norm tends to 50.0 at $\theta = 0$ and to 0.251 at $\theta = 180°$. The paper says 1.
#
# **Step 4** (on the layer of step 1, exactly). This can be put right: with $b_v - b$ for $b_v$ and
# $\xi^2\sigma^2 = 1 - \gamma^2$ the norm is $1 - \gamma^{2t}$, as for white input. (In the network of [04a](04a_layer_in_code.ipynb) a
# batch norm does a part of this.)

# %% tags=["proof-tokens"]
free = sp.Matrix(2, 4, sp.symbols("b1:9"))
first = sum(free[:, v].dot(free[:, v]) for v in range(4)) / 4  # E||B u_1||^2
assert sp.expand(first - (free.T * free).trace() / 4) == 0, (
    "Tokens, step 2: the first step has 1/V of the size"
)
xi2 = (1 - 0.99**2) / 2  # B = I: the trace is 2, the scatter 1/2, the mean column (1/2, 1/2)
slow, fast = (xi2 * (0.5 / (1 - 0.99**2) + 0.5 / abs(1 - 0.99 * turn) ** 2) for turn in (1, -1))
assert math.isclose(slow, 50, rel_tol=1e-3) and math.isclose(fast, 0.251, rel_tol=2e-3), (
    "Tokens, step 3: the two limits"
)
centred = columns - mean_column * sp.ones(1, 3)
for T in range(1, 6):
    repaired = over_all_strings(centred, T) * (1 - token_decay**2) / scatter
    assert sp.expand(repaired) == 1 - token_decay ** (2 * T), (
        "Tokens, step 4: centred tokens are like white input"
    )
print(f"B = I, two tokens: {slow:.1f} at θ = 0, {fast:.3f} at θ = 180°")

# %% [markdown]
# *Break it:* treat the tokens as white noise, that is, leave out the mean.

# %% tags=["proof-tokens"]
with show.expect_failure("Tokens, step 1"):
    assert sp.expand(over_all_strings(columns, 5) - from_scatter) == 0, (
        "Tokens, step 1: the mean token is forgotten"
    )

# %% [markdown]
# ## Exercises
#
# You will find each exercise in its section. Stuck? `hint("04.11")`. Done? Compare with `solution("04.11")`.

# %% [markdown]
# <!-- The exercises of this chapter, listed by lrnnlab book build. -->
#
# 2 exercises, 7 points, about 15 minutes:
#
# | exercise | section | difficulty | minutes | points | you will learn |
# |---|---|---|---|---|---|
# | 11 | [1 Break the hypothesis: inputs that are not white](#1-Break-the-hypothesis:-inputs-that-are-not-white) | ★ | 5 | 3 | to predict a resonance |
# | 12 | [2 How far can it go?](#2-How-far-can-it-go?) | ★★ | 10 | 4 | to drive a rotation at its own angle |
#
# <details><summary>Solution of 04.11</summary>
#
# Far below: $(1 - r^2)/(1 + r^2)$ with $r = 0.9801$, about 0.020. After two steps the state has
# turned by 180°, and the input, which has hardly changed, takes away what it gave.
#
# </details>
#
# <details><summary>Solution of 04.12</summary>
#
# Turn with the state: $u_t = \sqrt 2\,(\cos 0.7t,\ \sin 0.7t)$. Then every input arrives in the
# direction of the state, and lengths add up to $\sqrt2\,\xi/(1 - \gamma)$, with $\xi^2 = (1 - \gamma^2)/2$:
# squared, $(1 + \gamma)/(1 - \gamma) = 199$.
#
# </details>
