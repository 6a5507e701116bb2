# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 04 · Rotations
#
# A recurrent layer multiplies its state by the same matrix at every step. Let the matrix stretch by 2 %, and after 1,000 steps the
# state is 400 million times longer. Let it shrink by 2 %, and nothing is left. A rotation does neither: it keeps every length for ever.

# %% jupyter={"source_hidden": true} tags=["hide-input", "nbval-ignore-output"]
import math
import timeit

import numpy as np
import sympy as sp
import torch
from scipy import linalg
from sklearn.datasets import load_digits

import lrnnbook
from lrnnbook import show, tables
from lrnnbook.content.chapters import ch04
from lrnnbook.content.chapters.rotations import R, cayley, random_rotation
from lrnnbook.content.exercises import check, guess, hint, mine, solution
from lrnnbook.content.show.widgets import explore
from lrnnbook.content.tables import records
from lrnnlab import models, scans

lrnnbook.needs("0.1")
show.figure(
    ch04.three_paths(),
    alt="Left three paths in the plane that start at one point and turn by the same angle: one winds outwards, one inwards to the "
        "centre, one stays on its circle. Right their lengths up to step 1,000 on a logarithmic axis: 400 million, 1, and two "
        "billionths.",
    caption="What to see: one matrix, used again and again, ends at infinity or at nothing, unless it is a rotation.",
)  # fmt: skip

# %% [markdown]
# RotRNN (paper 001: Biegun, Dolga, Cunningham and Barber, 2024) is built on this. But a layer also *adds an input* at every step, and
# a rotated state plus noise is a random walk: it grows after all. So the layer shrinks its state a little, by $\gamma$, and rescales it
# by $\alpha$:
#
# $$x_t = \alpha\,(\gamma A x_{t-1} + B u_t).$$
#
# Here $A$ is the rotation, $B$ brings the input in, and $0 < \gamma < 1$. The paper's Lemma 3 gives the $\alpha$ that keeps the mean
# squared length of the state at any number $c$ you like. It is off by one symbol. You will find it before you see the proof.
#
# **What we ask.** *What does a transition that preserves the norm keep?* You will build the runs that test the lemma, repair it, train a rotation
# layer to draw from memory, and find that every LRU is a RotRNN.
#
# **Which version.** We quote the version submitted to ICLR 2025 (later withdrawn), here and in 04a to 04g. A
# third version on arXiv, of June 2026, we have not read; it may say better.
#
# *You need:* matrices, complex numbers, and chapter 00. *It takes* about 55 min to read and 1 h for the exercises, and half a minute of computing.

# %% [markdown]
# ## 1 Lemma 3, and one symbol
#
# > **The paper, Lemma 3.** "[...] let the inputs $u_t$ be sampled i.i.d., with mean 0 and variance $I$. Then for any
# > constant $c$, if $\mathbb{E}[\|x_1\|^2] = c$ and $\alpha = \frac{1}{\sqrt{c\gamma^2 + \mathrm{Tr}[B^\top B]}}$ we
# > have that $\mathbb{E}[\|x_t\|^2] = c$ for all timesteps $t$."
#
# Inputs like these, independent and with mean 0 and variance $I$, are called *white*. Test the lemma: start many runs
# at $\|x_1\|^2 = c$, and watch the mean of $\|x_t\|^2$.

# %% [markdown]
# **Exercise 1** ★ *(10 min, 4 points: to run a recurrence on many inputs at once)* **Build.** The cell starts `runs` states
# of squared length $c$, a row each. Add your lines: `steps - 1` times, one step of the equation above for all runs, with fresh white
# inputs (as many numbers each as $B$ has columns), and then the mean of $\|x_t\|^2$.

# %%
# %%build mean_square
import numpy as np


def mean_square(alpha, gamma, A, B, c, steps=12, runs=2000):
    rng = np.random.default_rng(0)
    x = rng.standard_normal((runs, len(A)))
    x *= np.sqrt(c) / np.linalg.norm(x, axis=1, keepdims=True)
    sizes = [c]  # the mean of |x_t|^2 at t = 1, 2, ..., steps
    raise NotImplementedError  # your lines
    return np.array(sizes)


# %% [markdown]
# <!-- Exercise 04.1: from notebooks/lrnnbook/content/exercises/ch04.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint 1</summary>
#
# `rng.standard_normal((runs, B.shape[1]))` are the inputs of one step, a row for each run.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# The states are rows, so the equation is written from the right: `x @ A.T` and `u @ B.T`.
#
# </details>

# %% [markdown]
# Now run it with the $\alpha$ of the lemma. Take $c = 4$, a random rotation of width 4, and a $B$ with $\mathrm{Tr}\,B^\top B = 1$:

# %% tags=["nbval-ignore-output"]
mean_square = mine("mean_square")
rng, gamma, c = np.random.default_rng(1), 0.9, 4
A, B = random_rotation(4, rng), rng.standard_normal((4, 3))
B /= np.linalg.norm(B)
Tr = np.trace(B.T @ B)

alpha = np.sqrt(1 / (c * gamma**2 + Tr))  # as Lemma 3 prints it
ch04.show_sizes(mean_square(alpha, gamma, A, B, c), c)

# %% [markdown]
# **Exercise 2** ★ *(5 min, 2 points: to find the fault in a printed formula)* The line should be flat. Change one symbol
# of `alpha` in the cell above, and run it again, until it is. Try it with $c = 9$, too. Then write down your $\alpha$:

# %%
my_alpha = None  # exercise 2: a function of (c, gamma, Tr)
check("04.2", my_alpha)

# %% [markdown]
# <!-- Exercise 04.2: from notebooks/lrnnbook/content/exercises/ch04.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint 1</summary>
#
# The line falls from $c$ to 1 in one step, whatever $c$ is. By which factor should $\alpha^2$ be larger?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# The symbols of the formula are $c$, $\gamma$, $\mathrm{Tr}$, and a 1.
#
# </details>

# %% [markdown]
# Why is the printed symbol wrong? The idea of the proof is Pythagoras. The input is independent of the state, so on average the two are at a
# right angle, and their squares add. It takes four lines (Eq. 7 to 9 and a last one), and you can run each of them. Each cell ends
# in an `assert` that names its step. Change a line, and run the proof again from its first cell.
#
# **Step 1** (Eq. 7). Multiply out the square. It has three parts:
#
# $$\|\gamma Ax + Bu\|^2 = \gamma^2\|x\|^2 + u^\top B^\top B\,u + 2\gamma\,x^\top A^\top B\,u .$$
#
# The first part needs $A^\top A = I$: a rotation keeps the length of $x$, so $A$ drops out. **All rotations** of width 2: `R(theta)`
# turns the plane by a free angle. At width 4, **one** rotation of fractions (`cayley`), with $\gamma$, $B$, $x$ and $u$ free.

# %% tags=["proof-lemma_3"]
gamma, theta = sp.Symbol("gamma", positive=True), sp.Symbol("theta", real=True)
layers = []
for A in (R(theta), cayley(sp.randMatrix(4, min=-3, max=3, seed=6))):
    N = A.rows
    B = sp.Matrix(N, 2, sp.symbols(f"b1:{2 * N + 1}"))
    x, u = sp.Matrix(sp.symbols(f"x1:{N + 1}")), sp.Matrix(sp.symbols("u1:3"))
    square = (gamma * A * x + B * u).dot(gamma * A * x + B * u)
    parts = gamma**2 * x.dot(x), (B * u).dot(B * u), 2 * gamma * (A * x).dot(B * u)
    assert sp.trigsimp(sp.expand(square - sum(parts))) == 0, "Lemma 3, step 1: Eq. 7"
    layers.append((B, x, u, parts))
    show.math(rf"\text{{width {N}, first part:}} \quad \gamma^2 \|x\|^2 =", parts[0])


# %% [markdown]
# **Step 2** (Eq. 8). Now take means. The state $x = x_{t-1}$ is made of *earlier* inputs, which are independent of $u = u_t$.
# All inputs have mean 0, so $\mathbb{E}\,x_iu_j = 0$. The variance is $I$, so $\mathbb{E}\,u_iu_j$ is 1 for $i = j$ and 0 otherwise.
# The mean of the third part is 0: the right angle. (The cell uses that a quadratic form $z^\top H z$ has the mean
# $\mathrm{Tr}(H\,\mathbb{E}[zz^\top])$.)

# %% tags=["proof-lemma_3"]
def mean(form, x, u, xu=0, uu=sp.eye(2)):
    """E of a quadratic form in z = (x, u), where E x_i u_j = xu and E u_i u_j = uu[i, j]."""
    n, z = len(x), [*x, *u]
    xx = sp.Matrix(n, n, lambda i, j: sp.Symbol(f"X_{min(i, j)}{max(i, j)}"))  # E x_i x_j: any
    moments = sp.Matrix.vstack(xx.row_join(xu * sp.ones(n, 2)), (xu * sp.ones(2, n)).row_join(uu))
    return sp.expand((sp.hessian(form, z) * moments).trace() / 2)


for B, x, u, (own, driven, crossed) in layers:
    assert mean(crossed, x, u) == 0, "Lemma 3, step 2: Eq. 8"
show.math(r"\mathbb{E}\,[\, 2\gamma\, x^\top A^\top B u \,] =", mean(crossed, x, u))

# %% [markdown]
# **Step 3** (Eq. 9). The second part has the mean $\mathrm{Tr}\,B^\top B$. So one step makes
# $\mathbb{E}\|x_t\|^2 = \alpha^2\,(\gamma^2\,\mathbb{E}\|x_{t-1}\|^2 + \mathrm{Tr}\,B^\top B)$.

# %% tags=["proof-lemma_3"]
gamma = sp.Symbol("gamma", positive=True)
for B, x, u, (own, driven, crossed) in layers:
    assert mean(driven, x, u) == sp.expand((B.T * B).trace()), "Lemma 3, step 3: Eq. 9"
    whole, before = mean(own + driven + crossed, x, u), mean(x.dot(x), x, u)
    assert sp.expand(whole - gamma**2 * before - (B.T * B).trace()) == 0, (
        "Lemma 3, step 3: the three parts"
    )
show.math(r"\mathbb{E}\,[\, u^\top B^\top B u \,] =", mean(driven, x, u), r"= \mathrm{Tr}\, B^\top B")

# %% [markdown]
# So far the paper is right. Its last line inserts $\mathbb{E}\|x_{t-1}\|^2 = c$ and the printed $\alpha$, and says that $c$ comes out.
#
# **Step 4 (all cases).** $\alpha^2(c\gamma^2 + \mathrm{Tr}) = 1$. The printed $\alpha$ gives **1, whatever $c$ is**. The lemma is
# true for $c = 1$ and false for every other $c$.

# %% tags=["proof-lemma_3"]
c, gamma, Tr = sp.symbols("c gamma Tr", positive=True)
printed_alpha2 = 1 / (c * gamma**2 + Tr)  # alpha squared
value = sp.simplify(printed_alpha2 * (gamma**2 * c + Tr))
show.math(r"\mathbb{E}\|x_t\|^2 =", printed_alpha2, r"\cdot (\gamma^2 c + Tr) =", value)
assert value == 1 and sp.solve(value - c, c) == [1], (
    "Lemma 3, step 4: 1 comes out, which is c for c = 1 only"
)
with show.expect_failure("the last line of the paper's proof"):
    assert value == c, "the last line of the paper's proof: E||x_t||^2 = c"

# %% [markdown]
# **Step 5 (all cases).** And in the long run? Every step multiplies $\mathbb{E}\|x\|^2$ by $\alpha^2\gamma^2$ and adds
# $\alpha^2\,\mathrm{Tr}$. The factor is below 1 if $\mathrm{Tr} > (1 - c)\gamma^2$, for instance for every $c \ge 1$. Then the norm
# tends to $\mathrm{Tr} / (\mathrm{Tr} + (c - 1)\gamma^2)$, and this is $c$ for $c = 1$ only.

# %% tags=["proof-lemma_3"]
c, gamma, Tr, s = sp.symbols("c gamma Tr s", positive=True)
below_one = sp.together(1 - printed_alpha2 * gamma**2).as_numer_denom()[0]  # its denominator is positive
assert sp.expand(below_one - (Tr - (1 - c) * gamma**2)) == 0, "Lemma 3, step 5: the factor is below 1"
(settled,) = sp.solve(printed_alpha2 * (gamma**2 * s + Tr) - s, s)
assert sp.simplify(settled - Tr / (Tr + (c - 1) * gamma**2)) == 0, "Lemma 3, step 5: the value"
numerator = sp.factor(sp.together(settled - c).as_numer_denom()[0])
assert sp.solve(numerator, c) == [1], "Lemma 3, step 5: when it is c"
show.math(r"\mathbb{E}\|x\|^2 \to", settled, r"\text{; minus } c \text{ this has the numerator }", numerator)

# %% [markdown]
# **Break it.** Steps 1 to 3 use one hypothesis each. Take that hypothesis away, and the step fails. Do it by hand first: in the cell of step 1
# replace `R(theta)` by `R(theta) * sp.diag(2, 1)`, run it, and change it back. The next cell takes away all three, one after the
# other. First $A$ stretches one direction by 2. Then inputs are correlated with the state. Then their variance is not $I$.

# %% tags=["proof-lemma_3"]
gamma, theta = sp.Symbol("gamma", positive=True), sp.Symbol("theta", real=True)
B, x, u, (own, driven, crossed) = layers[0]
with show.expect_failure("Lemma 3, step 1"):
    A = R(theta) * sp.diag(2, 1)
    square = (gamma * A * x + B * u).dot(gamma * A * x + B * u)
    parts = gamma**2 * x.dot(x), (B * u).dot(B * u), 2 * gamma * (A * x).dot(B * u)
    assert sp.trigsimp(sp.expand(square - sum(parts))) == 0, (
        "Lemma 3, step 1: Eq. 7 for a stretched A"
    )
with show.expect_failure("Lemma 3, step 2"):
    assert mean(crossed, x, u, xu=sp.Rational(1, 2)) == 0, (
        "Lemma 3, step 2: Eq. 8 for inputs that remember"
    )
with show.expect_failure("Lemma 3, step 3"):
    trace = sp.expand((B.T * B).trace())
    assert mean(driven, x, u, uu=sp.diag(3, 1)) == trace, (
        "Lemma 3, step 3: Eq. 9 for another variance"
    )

# %% [markdown]
# > **The corrected statement.** Lemma 3 holds for every $c$ with
# > $\alpha = \sqrt{\frac{c}{c\gamma^2 + \mathrm{Tr}[B^\top B]}}$, and with no other positive $\alpha$.
#
# **Step 1 (all cases).** By step 3 of the lemma, with this $\alpha$, a mean square of $c$ is $c$ again one step later.
#
# **Step 2 (all cases).** No other positive $\alpha$ does that: the cell solves for $\alpha^2$.

# %% jupyter={"source_hidden": true} tags=["hide-input", "proof-lemma_3_repaired"]
c, gamma, Tr, alpha2 = sp.symbols("c gamma Tr alpha2", positive=True)
right = c / (c * gamma**2 + Tr)
assert sp.simplify(right * (gamma**2 * c + Tr)) == c, "Lemma 3 put right, step 1: from c to c"
assert sp.solve(alpha2 * (gamma**2 * c + Tr) - c, alpha2) == [right], (
    "Lemma 3 put right, step 2: no other alpha does it"
)
show.math(r"\alpha^2 = \textcolor{#D55E00}{c} \cdot", right / c)

# %% [markdown]
# The paper's experiments have $c = 1$, where both agree. Its Eq. 11 inherits the error: [04c](deeper/04c_constant_norm.ipynb).
#
# ## 2 A rotation from any matrix
#
# Used at every step, $\alpha$ also shrinks the past: an input $k$ steps back has the factor $\alpha^k$. So the network sets $\alpha = 1$
# and scales $B$ instead, by $\xi$ with $\xi^2\,\mathrm{Tr}\,B^\top B = c\,(1 - \gamma^2)$, which makes up for what $\gamma$ takes away (Eq. 12):
#
# $$x_t = \gamma A x_{t-1} + \xi B u_t .$$
#
# But gradient descent moves numbers freely, and most matrices are not rotations. How does the layer learn one?
#
# > **The paper, Lemma 1.** "Let $M \in \mathbb{R}^{N \times N}$, let $S = M - M^\top$ [...]. Then
# > $A = \exp(S) \in SO(N)$."
#
# $SO(N)$ is the set of rotations: $A^\top A = I$ and $\det A = 1$. So the network learns any $M$, and always gets a rotation.
#
# **Step 1 (all cases).** $S^\top = -S$ for every $M$. So $\exp(S)\exp(S)^\top = \exp(S)\exp(-S)$. Multiply it out:
# the terms of degree $k$ are $S^k$ times
# $\sum_i \frac{1}{i!}\frac{(-1)^{k-i}}{(k-i)!} = \frac{(1 - 1)^k}{k!}$, by the binomial theorem. That is 0 for every $k \ge 1$, so
# the product is $I$.
#
# **Step 2 (all cases).** So $(\det A)^2 = \det(AA^\top) = 1$. And $A = \exp(\frac12 S)^2$ is the square of a real matrix, so
# $\det A = d^2$ for a real $d$: it is not $-1$, but 1. $\blacksquare$
#
# **Step 3 (sample, float).** Fifty random $M$ of size 8. *Break it:* add the identity, and $S$ is no longer skew. Replace $\exp(S)$
# by a mirror, $\mathrm{diag}(-1, 1)$, which keeps every length too: it is no square.

# %% jupyter={"source_hidden": true} tags=["hide-input", "proof-lemma_1"]
N, k = sp.symbols("N k", integer=True, positive=True)
i = sp.Symbol("i", integer=True, nonnegative=True)
M = sp.MatrixSymbol("M", N, N)
S = M - M.T
assert sp.simplify(S.T + S) == sp.ZeroMatrix(N, N), "Lemma 1, step 1: S is skew"
term = sp.binomial(k, i) * sp.Integer(-1) ** (k - i)  # k! times 1 / i! times (-1)^(k - i) / (k - i)!
of_degree = sp.summation(term, (i, 0, k))
assert of_degree == 0, "Lemma 1, step 1: the two series cancel"
show.math(r"k! \text{ times the factor of } S^k \text{ in } \exp(S)\exp(S)^\top: \ \sum_{i=0}^k", term, "=", of_degree)

d = sp.Symbol("d", real=True)  # det exp(S / 2)
found = {root**2 for root in sp.solve(sp.Eq((d**2) ** 2, 1), d)}
assert found == {1}, "Lemma 1, step 2: the determinant is 1"
worst = 0
for m in np.random.default_rng(0).standard_normal((50, 8, 8)):
    A = linalg.expm(m - m.T)
    worst = max(worst, np.abs(A.T @ A - np.eye(8)).max(), abs(np.linalg.det(A) - 1))
assert worst < 1e-11, "Lemma 1, step 3: rotations in floating point"
print(f"the determinant can only be {found.pop()}; 50 random exp(S) are rotations to within 1e-11")

with show.expect_failure("Lemma 1, step 1"):
    tilted = S + sp.Identity(N)
    assert sp.simplify(tilted.T + tilted) == sp.ZeroMatrix(N, N), "Lemma 1, step 1: S is skew"
with show.expect_failure("Lemma 1, step 2"):
    mirror = sp.diag(-1, 1)
    assert mirror * mirror.T == sp.eye(2) and mirror.det() == 1, (
        "Lemma 1, step 2: the determinant of a mirror is -1"
    )


# %% [markdown]
# The whole layer is fifteen lines. (Its heads, several such recurrences side by side, each with a $\gamma$ of its own, come below.)

# %%
class Rotation(torch.nn.Module):
    def __init__(self, N, gamma, outputs):
        super().__init__()
        self.gamma = gamma
        self.M = torch.nn.Parameter(torch.randn(N, N) / N**0.5)
        self.B = torch.nn.Parameter(torch.randn(N))
        self.C = torch.nn.Parameter(torch.randn(outputs, N) / N**0.5)

    def forward(self, u):  # (strings, steps) -> C x at the last step
        A = torch.linalg.matrix_exp(self.M - self.M.T)
        xi = ((1 - self.gamma**2) / (self.B @ self.B)) ** 0.5
        x = torch.zeros(len(u), len(A))
        for u_t in u.T:
            x = self.gamma * x @ A.T + xi * torch.outer(u_t, self.B)
        return x @ self.C.T


# %% [markdown]
# Train it to *draw from memory*. It reads a handwritten digit pixel by pixel, 64 of them, and then has to draw the whole picture from its
# last state. How much of the picture is left there? $\gamma$ decides:

# %% tags=["varies", "nbval-ignore-output"]
digits = torch.tensor(load_digits().images).float().flatten(1) / 16
usual = digits[:1500].mean(0)  # the mean picture needs no memory


def train(layer, steps=400):
    optimiser = torch.optim.Adam(layer.parameters(), lr=0.01)
    for _ in range(steps):
        u = (digits - usual)[torch.randint(1500, (64,))]
        loss = (layer(u) - u).square().mean()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    return layer


torch.manual_seed(0)
forgetful = train(Rotation(64, gamma=0.8, outputs=64))
retentive = train(Rotation(64, gamma=0.97, outputs=64))

# %% jupyter={"source_hidden": true} tags=["hide-input", "varies", "nbval-ignore-output"]
unseen = digits[1500:]
with torch.no_grad():
    drawn = {f"γ = {layer.gamma}": (layer(unseen - usual) + usual).numpy() for layer in (forgetful, retentive)}
show.figure(
    ch04.from_memory(unseen.numpy(), drawn, usual.numpy()),
    alt="Rows of small pictures of digits: as read, drawn with gamma 0.8 and with gamma 0.97. With 0.8 only the last rows of each "
        "digit are right, above is a blur. With 0.97 the digits can be read. Right, the share of each row of pixels that is remembered.",
    caption="Live, digits that training has not seen. What to see: with γ = 0.8 only the last pixels are left in the state; with 0.97 "
            "all of them can be read, though the first rows only half as well as the last. Right: R² by row of pixels, above the mean picture.",
)  # fmt: skip

# %% [markdown]
# After $k$ steps $\gamma^k$ of an input is left: $0.8^{63}$ is less than a millionth, $0.97^{63}$ is 0.15. So a decay says how far back
# the layer can look. To look over several distances the paper's layer has $h$ such recurrences side by side, called *heads*. A matrix $C$
# mixes their states into the output.

# %% jupyter={"source_hidden": true} tags=["hide-input", "nbval-ignore-output"]
torch.manual_seed(3)
show.figure(
    ch04.layer_heads(models.layers.RotRNN(16, state=24, heads=4)),
    alt="An input of 16 numbers goes to four heads. Each has a matrix of 6 by 16 and a dial "
        "with three dots at one distance from the centre. The four states, 24 numbers, are "
        "mixed by a matrix of 16 by 24.",
    caption="Figure 2 of the paper, from a layer of the package. A dial is the unit disc, its dots the eigenvalues "
            "of a head, one of each conjugate pair. What to see: in a head all dots are "
            "equally far from the centre, at its one γ.",
)  # fmt: skip


# %% [markdown]
# **Exercise 3** ★ *(5 min, 3 points: to see what rounding does to a rotation)* **Predict.** Choose before you run.
# $\cos 1$ and $\sin 1$ are rounded to bfloat16 (8 binary digits), and the rotation of the plane that they make is
# applied 1,000 times, without further rounding. How long is a vector of length 1 afterwards, to the nearest power of
# ten?

# %% tags=["nbval-ignore-output"]
def rounded_rotation():
    turn = torch.tensor([math.cos(1), math.sin(1)], dtype=torch.float64)
    cosine, sine = turn.bfloat16().tolist()
    rotation = np.array([[cosine, -sine], [sine, cosine]])
    length = float(np.linalg.norm(np.linalg.matrix_power(rotation, 1000)[:, 0]))
    each = f"each step multiplies it by {math.hypot(cosine, sine):.5f}"
    return 10.0 ** round(math.log10(length)), f"its length is {length:.3g}: {each}"


guess("04.3", rounded_rotation)


# %% [markdown]
# <!-- Exercise 04.3: from notebooks/lrnnbook/content/exercises/ch04.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint 1</summary>
#
# A number between one half and 1 is off by up to 1/512, which can be almost 0.4 % of it.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# What is $(1 - 0.002)^{1000}$?
#
# </details>

# %% [markdown]
# ## 3 P is redundant
#
# The paper's layer uses this rotation indirectly. It learns angles and a rotation $P = \exp(M - M^\top)$, and takes
# $A = P\Theta P^\top$, where $\Theta$ holds turns of the plane $R(\theta_i)$ along its diagonal. Powers are then cheap:
# $A^k = P\Theta^kP^\top$, and $\Theta^k$ turns by $k\theta_i$. (Lemma 2 says that every rotation has this form:
# [04b](deeper/04b_every_rotation.ipynb).)
#
# But does the layer need $P$ at all? $C$ and $B$ are free matrices, and
#
# $$C A^k B = C\,(P\Theta^k P^\top)\,B = (CP)\;\Theta^k\;(P^\top B).$$
#
# A layer *without* $P$, with $CP$ and $P^\top B$ as its $C$ and $B$, computes the same. $P$ changes how the weights move in training,
# not what the layer can express.
#
# **Steps 1 to 3.** The equation above, for **all k ≤ 5** on one example with $N = 4$, exactly. $\xi$ stays the same, because
# $\mathrm{Tr}\,(P^\top B)^\top(P^\top B) = \mathrm{Tr}\,B^\top B$ (the same $P$, every $B$). And in heads of width 2 (**all cases**)
# $P$ drops out of $A$ itself, $P\Theta P^\top = \Theta$, because rotations of the plane commute.

# %% jupyter={"source_hidden": true} tags=["hide-input", "proof-absorb"]
def two_kernels(P):
    Theta = sp.diag(sp.Matrix([[3, -4], [4, 3]]) / 5, sp.Matrix([[5, -12], [12, 5]]) / 13)
    B, C = sp.randMatrix(4, 3, min=-3, max=3, seed=4), sp.randMatrix(2, 4, min=-3, max=3, seed=5)
    A = P * Theta * P.T
    return [C * A**k * B for k in range(6)], [(C * P) * Theta**k * (P.T * B) for k in range(6)]


P = cayley(sp.randMatrix(4, min=-3, max=3, seed=3))
kept, absorbed = two_kernels(P)
assert kept == absorbed, "P is redundant, step 1: P goes into C and B"
free = sp.Matrix(4, 3, sp.symbols("b1:13"))
assert sp.expand(((P.T * free).T * (P.T * free)).trace() - (free.T * free).trace()) == 0, (
    "P is redundant, step 2: the trace stays, and with it xi"
)
a, b = sp.symbols("a b", real=True)
assert sp.expand(R(a) * R(b) - R(b) * R(a)) == sp.zeros(2, 2), (
    "P is redundant, step 3: rotations of the plane commute"
)
show.math("C A^5 B =", kept[5].evalf(4))

# %% [markdown]
# **Step 4 (float).** A layer of the package with $P$ and one without it have the same outputs. *Break it:* a $P$ with a stretched
# column cannot be absorbed.

# %% jupyter={"source_hidden": true} tags=["hide-input", "proof-absorb"]
torch.manual_seed(5)
with torch.no_grad():
    layer = models.layers.RotRNN(3, state=12, heads=3).double()
    without = models.layers.RotRNN(3, state=12, heads=3, rotation="absorbed").double()
    P = layer.orthogonal()  # (h, n, n)
    for name in ("gamma_log", "theta", "skip"):
        getattr(without, name).copy_(getattr(layer, name))
    without.B.copy_(P.mT @ layer.B)
    without.C.copy_(layer.C @ torch.block_diag(*P))
    u = torch.randn(2, 50, 3, dtype=torch.float64)
    assert torch.allclose(layer(u), without(u), rtol=0, atol=1e-12), (
        "P is redundant, step 4: the same outputs without P"
    )
saved = sum(p.numel() for p in layer.parameters()) - sum(p.numel() for p in without.parameters())
print(f"the same outputs to within 1e-12, with {saved} parameters fewer")

with show.expect_failure("P is redundant, step 1"):
    stretched = cayley(sp.randMatrix(4, min=-3, max=3, seed=3)) * sp.diag(2, 1, 1, 1)
    kept, absorbed = two_kernels(stretched)
    assert kept == absorbed, "P is redundant, step 1: a stretched P does not go into C and B"

# %% [markdown]
# **A rotation to turn.** One head of width 4, so two angles, gets one impulse. Left: two of the four numbers of its state. Right:
# the output, with $P$ and with $P$ absorbed. *Try:* switch $P$ to *kept*. The spiral becomes a tangle, and the output does not
# change. Then go back to *absorbed*, with $\gamma = 0.999$ and a first angle of 120°: the pair visits three directions again and
# again, and hardly shrinks. Which outputs can a head give if both angles are 0?

# %% jupyter={"source_hidden": true} tags=["hide-input", "nbval-ignore-output"]
turning_widget = explore(ch04.turning, **ch04.TURNING_WIDGET)
turning_widget


# %% [markdown]
# **Exercise 4** ★★ *(15 min, 4 points: to absorb a shared matrix)* **A proof step.** A bidirectional layer shares $P$,
# $\Theta$ and $B$ between its two directions and has a $C$ for each. Show that $P$ can be absorbed here too. Can it
# also be absorbed in a network that shares $P$ between two layers with different $B$?

# %% [markdown]
# <!-- Exercise 04.4: from notebooks/lrnnbook/content/exercises/ch04.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint</summary>
#
# Do what this section does with one layer, once for each direction.
#
# </details>

# %% [markdown]
# ## 4 From zero, the norm climbs
#
# > **The paper, section 4.1.** "the expected norm of the recurrent state remains constant throughout the entire
# > sequence, providing stronger guarantees than expected convergence at infinite sequence length."
#
# Lemma 3 asks for $\mathbb{E}\|x_1\|^2 = c$. But the paper's code starts at $x_0 = 0$. Then $x_1 = \xi B u_1$, and
# $\mathbb{E}\|x_1\|^2 = \xi^2\,\mathrm{Tr}\,B^\top B = c\,(1 - \gamma^2)$. The hypothesis fails at the first step. What is true?
#
# > **Theorem.** Let $A$ be orthogonal, $\xi^2\,\mathrm{Tr}\,B^\top B = c\,(1 - \gamma^2)$, and $u$ white (also uncorrelated with $x_0$). Then
# >
# > $$\mathbb{E}\|x_t\|^2 = c + \gamma^{2t}\left(\mathbb{E}\|x_0\|^2 - c\right).$$
#
# *Proof.* Write $s_t = \mathbb{E}\|x_t\|^2$. Steps 1 to 3 of Lemma 3, with $\alpha = 1$ and $\xi B$ as $B$, give
# $s_t = \gamma^2 s_{t-1} + c\,(1 - \gamma^2)$. The formula is right at $t = 0$ (**step 1, all cases**) and solves this recurrence for every
# $t$ (**step 2, all cases**). $\blacksquare$
#
# From $x_0 = 0$ that is $c\,(1 - \gamma^{2t})$. It grows at *every* step, by $c\,\gamma^{2t}(1 - \gamma^2) > 0$ (**step 3, all cases**): the norm
# is constant nowhere. ([04c](deeper/04c_constant_norm.ipynb) has two ways to make it constant.)

# %% jupyter={"source_hidden": true} tags=["hide-input", "proof-norm"]
def formula(t, c, gamma, s_0):
    return c + gamma ** (2 * t) * (s_0 - c)


c, gamma, s_0 = sp.symbols("c gamma s_0", positive=True)
t = sp.Symbol("t", integer=True, nonnegative=True)
now, later = formula(t, c, gamma, s_0), formula(t + 1, c, gamma, s_0)
assert formula(0, c, gamma, s_0) == s_0, "The norm, step 1: the formula at t = 0"
assert sp.simplify(later - gamma**2 * now - c * (1 - gamma**2)) == 0, (
    "The norm, step 2: the formula solves the recurrence"
)
show.math("s_t =", now)

c, gamma = sp.symbols("c gamma", positive=True)
t = sp.Symbol("t", integer=True, nonnegative=True)
now, later = formula(t, c, gamma, 0), formula(t + 1, c, gamma, 0)
grows = sp.simplify((later - now) / (c * gamma ** (2 * t) * (1 - gamma**2)))
assert grows == 1, "The norm, step 3: it grows at every step"
show.math(r"\text{from zero:} \quad s_t =", now)

# %% [markdown]
# Your `mean_square` can check it, with $\alpha = 1$, $\xi B$ as its $B$, and a start of nearly zero:

# %% tags=["nbval-ignore-output"]
gamma, c, rng = 0.9, 4, np.random.default_rng(1)
A, B = random_rotation(4, rng), rng.standard_normal((4, 3))
xi = np.sqrt(c * (1 - gamma**2)) / np.linalg.norm(B)
ch04.show_sizes(mean_square(1, gamma, A, xi * B, 1e-9, steps=40), c, gamma)

# %% [markdown]
# It climbs to $c$ and is never there. What if the input is not white? Here is one pair of coordinates with $c = 1$. ρ is the *colour* of
# the input, how much one input is correlated with the next: $\mathbb{E}\,u_t u_s^\top = \rho^{|t-s|} I$. At $\rho = 0$ it is white.

# %% jupyter={"source_hidden": true} tags=["hide-input", "nbval-ignore-output"]
norm_widget = explore(ch04.norm_climb, **ch04.CLIMB_WIDGET)
norm_widget

# %% [markdown]
# The controls take away two hypotheses of Lemma 3: the start, and the white input. The sentence under the picture says what fails
# then. *Try:* choose $x_0$ *unit* or *scaled first step*: now the line is flat. Then set ρ = 0.9. Which angle makes the state
# large, and which makes it small? What does θ do at ρ = 0? The formula for coloured input is in
# [04d](deeper/04d_coloured_inputs.ipynb).

# %% [markdown]
# **Exercise 5** ★ *(5 min, 3 points: to read a power from a straight line)* **Read a picture.** Look at
# the picture of this section as it opens, $\gamma = 0.99$ and $x_0 = 0$. Both axes are logarithmic, and the formula begins
# as a straight line: as which power of $t$ does $\mathbb{E}\|x_t\|^2$ grow there? And at about which step does it
# pass one half? (20 percent off will do.)

# %%
my_reading = None  # exercise 5: two numbers, the power and the step
check("04.5", my_reading)

# %% [markdown]
# <!-- Exercise 04.5: from notebooks/lrnnbook/content/exercises/ch04.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint 1</summary>
#
# How many decades does the line rise while $t$ goes from 1 to 10?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# One half lies 0.7 of a decade above 0.1.
#
# </details>

# %% [markdown]
# **Exercise 6** ★★ *(10 min, 4 points: to keep a norm constant while the decay changes)* **Code.** Let the decay depend on
# time, $x_t = \gamma_t A_t x_{t-1} + \xi_t B u_t$ with $\mathrm{Tr}\,B^\top B = 1$, white $u$ and $x_0 = 0$. The
# $A_t$ are rotations. Which $\xi_t$ make $\mathbb{E}\|x_t\|^2 = 1$ for all $t \ge 1$?

# %%
# exercise 6: a function of the list of gamma_1 ... gamma_T that returns xi_1 ... xi_T
my_scales = None
check("04.6", my_scales)

# %% [markdown]
# <!-- Exercise 04.6: from notebooks/lrnnbook/content/exercises/ch04.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint</summary>
#
# What must the first scale, $\xi_1$, be?
#
# </details>

# %% [markdown]
# ## 5 Every LRU is a RotRNN
#
# The LRU (linear recurrent unit, Orvieto and others, 2023) has a diagonal transition instead: each of its complex numbers $\lambda_k$, a
# *mode*, multiplies one number of the state.
#
# > **The paper, section 4.1.** "Consider the case where the learned eigenvalues of $\Lambda$ come in
# > complex-conjugate pairs. [...] up to normalisation, this is algebraically equivalent to the multi-head RotRNN with
# > [...] $\mathcal{D}_h = 2$. [...] this exact special case of the LRU is unlikely to occur naturally".
#
# You need no special case, only that the LRU reads out a real part, $y = \mathrm{Re}(\tilde C \tilde x)$.
#
# > **Theorem.** Every LRU of $N$ modes (with $0 < |\lambda_k| < 1$) is a RotRNN with $N$ heads of width 2,
# > normalisation included.
#
# *Proof.* **Step 1 (all cases).** Multiplying by $\lambda = \gamma e^{i\theta}$ turns the point $(\mathrm{Re}\,x,
# \mathrm{Im}\,x)$ by $\theta$ and shrinks it by $\gamma$. So one mode is one head, whose $B$ has the rows $\mathrm{Re}\,\tilde B_k$ and $\mathrm{Im}\,\tilde
# B_k$.
#
# **Step 2 (all cases).** $\mathrm{Re}(\tilde C_k x) = \mathrm{Re}\,\tilde C_k\,\mathrm{Re}\,x - \mathrm{Im}\,\tilde
# C_k\,\mathrm{Im}\,x$: a row $C = (\mathrm{Re}\,\tilde C_k,\ -\mathrm{Im}\,\tilde C_k)$.
#
# **Step 3 (sample, float).** The head's $\xi$ and the LRU's own normaliser are *one number for each mode*. Divide the mode's columns of $C$ by
# $\xi$ and multiply them by the normaliser. (If a mode's row of $\tilde B$ is 0, it adds nothing: take any $B \ne 0$ and
# $C = 0$.) $\blacksquare$ The cell runs an LRU of 7 modes and its 7 heads.
#
# **Step 4** (the same LRU). None of its eigenvalues is the conjugate of another one or of itself: it is not the paper's special
# case. *Break it:* forget a sign in the row $C$.

# %% jupyter={"source_hidden": true} tags=["hide-input", "proof-lru"]
gamma, theta, p, q, v, w = sp.symbols("gamma theta p q v w", real=True)
mode, x, C_k = gamma * (sp.cos(theta) + sp.I * sp.sin(theta)), p + sp.I * q, v + sp.I * w
turned = sp.Matrix(sp.expand(mode * x).as_real_imag())
assert (gamma * R(theta) * sp.Matrix([p, q]) - turned).expand() == sp.zeros(2, 1), (
    "LRU as RotRNN, step 1: a mode turns and shrinks"
)
assert sp.expand(v * p - w * q - sp.re(sp.expand(C_k * x))) == 0, (
    "LRU as RotRNN, step 2: Re(C_k x) is the row C times the state"
)
show.math(r"\mathrm{Re}(\tilde C_k x) =", sp.re(sp.expand(C_k * x)))

draw = np.random.default_rng(0)
modes = draw.uniform(0.5, 0.99, 7) * np.exp(2j * np.pi * draw.uniform(size=7))
B, C = (draw.standard_normal(s) + 1j * draw.standard_normal(s) for s in ((7, 3), (2, 7)))
scale = np.sqrt(1 - np.abs(modes) ** 2)  # the LRU's normaliser of each mode
u, x, heads = draw.standard_normal((60, 3)), np.zeros(7, complex), []
for k, mode in enumerate(modes):
    head_B, head_C = np.array([B[k].real, B[k].imag]), np.array([C[:, k].real, -C[:, k].imag]).T
    head_xi = math.sqrt((1 - abs(mode) ** 2) / (head_B**2).sum())
    A = abs(mode) * np.array(R(np.angle(mode)), dtype=float)
    heads.append([A, head_xi * head_B, head_C * scale[k] / head_xi, np.zeros(2)])
for u_t in u:
    x = modes * x + scale * (B @ u_t)
    for head in heads:
        head[3] = head[0] @ head[3] + head[1] @ u_t
    assert np.allclose((C @ x).real, sum(head[2] @ head[3] for head in heads), rtol=0, atol=1e-12), (
        "LRU as RotRNN, step 3: the heads have the outputs of the LRU"
    )
gap = min(abs(mode - other.conjugate()) for mode in modes for other in modes)
assert gap > 0.01, "LRU as RotRNN, step 4: no eigenvalue is the conjugate of one"
print(f"60 outputs agree to within 1e-12; conjugates are at least {gap:.2f} apart")

p, q, v, w = sp.symbols("p q v w", real=True)
with show.expect_failure("LRU as RotRNN, step 2"):
    x, C_k = p + sp.I * q, v + sp.I * w
    assert sp.expand(v * p + w * q - sp.re(sp.expand(C_k * x))) == 0, (
        "LRU as RotRNN, step 2: a sign of the row C is wrong"
    )

# %% [markdown]
# Where do the eigenvalues lie when training begins? The ranges are those of the paper's Table 3. An arc joins the eigenvalues of one
# head. *Try:* $n = 2$, where nothing is tied. Then ListOps (nested lists of digits to evaluate), where all angles are below 1.8°: at the
# start a mode is little more than a fading average. Then Path-X (pictures of 16,384 pixels), where all eigenvalues lie near the rim.

# %% jupyter={"source_hidden": true} tags=["hide-input", "nbval-ignore-output"]
discs_widget = explore(ch04.discs, **ch04.DISCS_WIDGET)
discs_widget

# %% [markdown]
# Heads wider than 2 share one $\gamma$, so they are LRUs whose moduli are *tied*: wider heads take functions away
# ([04e](deeper/04e_lru_wider_heads.ipynb)). Apart from this tie, the two models compute the same. They differ in how they are trained.
#
# Modes are also fast: a scan (chapter 03) joins steps two by two, in $\log_2 T$ levels. All it needs is an operator that joins two steps.
#
# **Exercise 7** ★★ *(10 min, 4 points: to write the operator of a scan)* **Build.** A pair of coordinates is written as
# one complex number $z$, so that turning by $\theta$ is multiplying by $e^{\mathrm i\theta}$. `first` and `second`
# are triples $(\gamma, \theta, z)$: the decay, the angle and the input of a step. If the triples of steps 1 to $t$
# are joined one after the other from the left, the last entry of the result must be the state $x_t$. (Write it with NumPy's functions:
# then it also joins arrays of steps.)

# %%
# %%build join
import numpy as np


def join(first, second):
    raise NotImplementedError  # your lines: return a triple


# %% [markdown]
# <!-- Exercise 04.7: from notebooks/lrnnbook/content/exercises/ch04.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint 1</summary>
#
# The first $z$ has one more step to go: turn and shrink it, then add the second $z$.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# Decays multiply, angles add.
#
# </details>

# %% [markdown]
# With it a scan is seven lines. Here are 4,096 steps of 64 modes, by the loop, by your operator, and by the package's compiled scan:

# %%
join = mine("join")


def scan(steps, far=1):  # gamma, theta, z: arrays (T, modes)
    while far < len(steps[2]):  # a place holds the join of `far` steps
        first, second = zip(*[(part[:-far], part[far:]) for part in steps])
        joined = zip(steps, join(first, second))
        steps = [np.concatenate([part[:far], new]) for part, new in joined]
        far *= 2
    return steps[2]


def loop(steps):
    x, states = 0, []
    for gamma, theta, z in zip(*steps):
        x = gamma * np.exp(1j * theta) * x + z
        states.append(x)
    return np.array(states)


# %% jupyter={"source_hidden": true} tags=["hide-input", "varies", "nbval-ignore-output"]
rng, shape = np.random.default_rng(0), (4096, 64)
steps = [np.full(shape, 0.99), rng.uniform(0, np.pi, shape), rng.standard_normal(shape) + 0j]
turn, drive = (torch.as_tensor(part)[None] for part in (steps[0] * np.exp(1j * steps[1]), steps[2]))
machines = {"the loop": lambda: loop(steps), "your join, 12 levels": lambda: scan(steps),
            "the package": lambda: scans.linear_scan(turn, drive)[0].numpy()}  # fmt: skip
apart = np.abs(scan(steps) - machines["the package"]()).max()
seconds = {name: min(timeit.repeat(run, number=1, repeat=3)) for name, run in machines.items()}
print(f"largest difference of the states: {apart:.0e}")
print("; ".join(f"{name}: {1000 * took:.0f} ms" for name, took in seconds.items()))

# %% [markdown]
# Twelve levels do twelve times the work of the loop, so on one core of this size nothing is gained: levels pay off where many cores
# share them. The package's scan is compiled, and goes through the steps once.

# %% [markdown]
# ## 6 In a trained network
#
# > **The paper, section 5.1.** "hidden states of the RotRNN have an almost constant magnitude throughout training,
# > with very little variance across layer depth or random initialisations."
#
# We trained networks of four layers on short ListOps expressions, for 400 steps: RotRNN with heads of width 8 and of width 2, and the
# LRU with its normaliser learned and recomputed. Is the magnitude "almost constant"?

# %% jupyter={"source_hidden": true} tags=["hide-input", "nbval-ignore-output"]
show.figure(
    show.norm_figures.norm_of_a_layer(tables.results.runs("rotrnn/fig3"), "layers4"),
    alt="Recorded: the mean norm of the state in the fourth layer through 400 steps of training, over its norm at the start, a line for each of four kinds: "
        "RotRNN with 8 heads and with 32, LRU learned and LRU recomputed. The numbers are in the table below.",
    caption="Recorded, means over seeds: the fourth layer. What to see: no kind keeps its norm through training, and rotations do not "
            "keep it better than the LRU.",
)  # fmt: skip
desk = records.recorded("rotrnn/fig3")
LABELS = {row: name for row, (name, _) in show.norm_figures.LOOKS.items()}
deep = {
    row: [r["metrics"] for r in desk if (r["task"], r["row"]) == ("layers4", row)] for row in LABELS
}
COLUMNS = {"norm at the start": "norm_start", "at the end": "norm_end",
           "‖x‖² / formula, white input": "white_over_formula",
           "‖x‖² / formula, ListOps": "real_over_formula"}  # fmt: skip
show.table(
    [{"kind": LABELS[row],
      **{title: float(np.mean([metrics[name][-1] for metrics in deep[row]])) for title, name in COLUMNS.items()}}
     for row in LABELS],
    caption="Recorded, means over seeds: the fourth layer. The formula is that of section 4.",
    formats=dict.fromkeys(COLUMNS, ".2f"),
)  # fmt: skip

# %% [markdown]
# White input gives the formula's norm even in trained layers. ListOps does not, because it is not white. What one layer keeps, the
# next one reads, so deeper layers get inputs that are correlated in time. And $B$ turns to where inputs are large. All layers are in
# [04f](deeper/04f_norm_in_training.ipynb), which also says why the paper's contrast is there at the start only.
#
# So what does a norm-preserving transition keep? The past, evenly: after $k$ steps $\gamma^k$ of an input is left, whatever
# its direction in the state.
# It cannot keep a bit for ever, because what is left shrinks as $\gamma^k$ ([04g](deeper/04g_kept_and_reported.ipynb)). And it keeps an
# error as evenly as the past: nothing in the layer removes it. [Chapter 10](10_one_ladder.ipynb#6-The-cure) shows what does.
#
# ## What to remember
#
# 1. Lemma 3 is true for $c = 1$. For other $c$ the last line of its proof is wrong, and one symbol repairs it.
# 2. $\exp(M - M^\top)$ is a rotation for every $M$. But the layer can do without $P$.
# 3. From $x_0 = 0$ the norm is not constant: it climbs as $c\,(1 - \gamma^{2t})$, as an LRU's does.
# 4. Every LRU is a RotRNN with heads of width 2.
# 5. All this is for white input. Inputs of a trained network are not white.
#
# **Go deeper:**
#
# * [04a the layer in code](deeper/04a_layer_in_code.ipynb): how do you run it without ever multiplying by $A$? About 20 min.
# * [04b every rotation](deeper/04b_every_rotation.ipynb): does $P\Theta P^\top$ reach all rotations, as Lemma 2 hopes? About 25 min.
# * [04c a constant norm](deeper/04c_constant_norm.ipynb): how long does the climb take, and how can you avoid it? About 20 min.
# * [04d coloured inputs](deeper/04d_coloured_inputs.ipynb): what happens to the norm without white input? About 30 min.
# * [04e the LRU and wider heads](deeper/04e_lru_wider_heads.ipynb): Eq. 14, and what a tied modulus costs. About 15 min.
# * [04f the norm in training](deeper/04f_norm_in_training.ipynb): the paper's Figure 3, tried again on small networks. About 25 min.
# * [04g kept and reported](deeper/04g_kept_and_reported.ipynb): what can be kept, the paper's accuracies, and its errata. About 15 min.

# %% [markdown]
# ## Exercises
#
# You will find each exercise in its section. Stuck? `hint("04.2")`. Done? Compare with `solution("04.2")`.

# %% [markdown]
# <!-- The exercises of this chapter, listed by lrnnlab book build. -->
#
# 7 exercises, 24 points, about 60 minutes:
#
# | exercise | section | difficulty | minutes | points | you will learn |
# |---|---|---|---|---|---|
# | 1 | [1 Lemma 3, and one symbol](#1-Lemma-3,-and-one-symbol) | ★ | 10 | 4 | to run a recurrence on many inputs at once |
# | 2 | [1 Lemma 3, and one symbol](#1-Lemma-3,-and-one-symbol) | ★ | 5 | 2 | to find the fault in a printed formula |
# | 3 | [2 A rotation from any matrix](#2-A-rotation-from-any-matrix) | ★ | 5 | 3 | to see what rounding does to a rotation |
# | 4 | [3 P is redundant](#3-P-is-redundant) | ★★ | 15 | 4 | to absorb a shared matrix |
# | 5 | [4 From zero, the norm climbs](#4-From-zero,-the-norm-climbs) | ★ | 5 | 3 | to read a power from a straight line |
# | 6 | [4 From zero, the norm climbs](#4-From-zero,-the-norm-climbs) | ★★ | 10 | 4 | to keep a norm constant while the decay changes |
# | 7 | [5 Every LRU is a RotRNN](#5-Every-LRU-is-a-RotRNN) | ★★ | 10 | 4 | to write the operator of a scan |
#
# <details><summary>Solution of 04.1</summary>
#
# Three lines in a loop:
#
# ```
#     for _ in range(steps - 1):
#         u = rng.standard_normal((runs, B.shape[1]))
#         x = alpha * (gamma * x @ A.T + u @ B.T)
#         sizes.append((x**2).sum(1).mean())
# ```
#
# </details>
#
# <details><summary>Solution of 04.2</summary>
#
# The 1 should be a $c$: `lambda c, gamma, Tr: np.sqrt(c / (c * gamma**2 + Tr))`. One step takes a mean square of $c$ to
# $\alpha^2(\gamma^2 c + \mathrm{Tr})$. With the printed $\alpha$ that is 1, with this one it is $c$.
#
# </details>
#
# <details><summary>Solution of 04.3</summary>
#
# About 0.13. Rounded, $\cos^2 + \sin^2$ is 0.996 and no longer 1, so each step multiplies the
# length by 0.998. At some other angles the sum is above 1 and the vector grows. A rotation keeps the norm only as
# well as its numbers are stored.
#
# </details>
#
# <details><summary>Solution of 04.4</summary>
#
# Both directions have the kernel $C' P\Theta^k P^\top B$, each with its own $C'$; replace $B$ by $P^\top B$
# and, in both directions, $C'$ by $C'P$. With two layers: each has its own $B$ and $C$, so each absorbs $P$ by itself, and
# nothing is shared any more.
#
# </details>
#
# <details><summary>Solution of 04.5</summary>
#
# The first power: from $t = 1$ to 10 the line rises by nearly one decade. $1 - \gamma^{2t}$ is about
# $2(1 - \gamma)\,t$ as long as nothing has faded: the state is a random walk, whose *length* grows like
# $\sqrt t$. It passes one half at step 35, where $\gamma^{2t} = \frac12$.
#
# </details>
#
# <details><summary>Solution of 04.6</summary>
#
# $\xi_1 = 1$, and $\xi_t = \sqrt{1 - \gamma_t^2}$ later: from
# $s_t = \gamma_t^2 s_{t-1} + \xi_t^2$. Nothing else is needed, so such a layer may choose $\gamma_t$ by its
# input's position, and its rotation too.
#
# </details>
#
# <details><summary>Solution of 04.7</summary>
#
# Decays multiply, angles add, and the first $z$ is shrunk and turned by the second step before the second $z$
# is added:
#
# ```
# def join(first, second):
#     (gamma, theta, z), (gamma2, theta2, z2) = first, second
#     return gamma * gamma2, theta + theta2, gamma2 * np.exp(1j * theta2) * z + z2
# ```
#
# </details>

# %% [markdown]
# ## Read on
#
# * K. Biegun, R. Dolga, J. Cunningham and D. Barber, *RotRNN: Modelling long sequences with rotations*: the paper of
#   this chapter, [arXiv:2407.07239](https://arxiv.org/abs/2407.07239), in the version submitted to ICLR 2025.
# * A. Orvieto and others, *Resurrecting recurrent neural networks for long sequences* (the LRU), [arXiv:2303.06349](https://arxiv.org/abs/2303.06349).
# * M. Arjovsky, A. Shah and Y. Bengio, *Unitary evolution recurrent neural networks*, [arXiv:1511.06464](https://arxiv.org/abs/1511.06464): where
#   rotations in recurrent networks begin.
# * K. Helfrich, D. Willmott and Q. Ye, *Orthogonal recurrent neural networks with scaled Cayley transform*,
#   [arXiv:1707.09520](https://arxiv.org/abs/1707.09520): `cayley` as a parameterisation.
# * J. T. H. Smith, A. Warrington and S. W. Linderman, *Simplified state space layers for sequence modeling* (S5),
#   [arXiv:2208.04933](https://arxiv.org/abs/2208.04933).
# * Rotations whose angle the input decides: A. Karuvally and others, *Bridging Expressivity and Scalability with
#   Adaptive Unitary SSMs*, 2025, [arXiv:2507.05238](https://arxiv.org/abs/2507.05238); A. Lahoti
#   and others, *Mamba-3: Improved Sequence Modeling using State Space Principles*, 2026,
#   [arXiv:2603.15569](https://arxiv.org/abs/2603.15569).
