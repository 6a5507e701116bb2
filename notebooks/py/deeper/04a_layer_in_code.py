# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 04a · The layer in code
#
# How do you run the layer of chapter 04 step by step, as a sum, and as a scan, without ever multiplying by $A$? *It takes* about 20 min to read and 10 min for the exercises. Read [chapter 04](../04_rotations.ipynb) first.

# %% jupyter={"source_hidden": true} tags=["hide-input"]
import numpy as np
import sympy as sp
import torch

import lrnnbook
from lrnnbook import show
from lrnnbook.content.chapters import ch04
from lrnnbook.content.chapters.rotations import R
from lrnnbook.content.exercises import check, hint, solution
from lrnnlab import models

lrnnbook.needs("0.1")

# %% [markdown]
# ## 1 The layer
#
# > **The paper, Eq. 12.**
# > $x_t = \gamma A x_{t-1} + \xi B u_t \;\Leftrightarrow\; x_t = \xi \sum_{k=1}^t \gamma^{t-k} A^{t-k} B u_k$
#
# $A$ is a rotation, $0 < \gamma < 1$ a decay, and $\xi$ a scale ([chapter 04](../04_rotations.ipynb), sections 1 and 4). After $k$ steps $\gamma^k$ of
# an input is left, so a decay says how far back the layer can look. To look back over several distances, the layer has
# $h$ such recurrences side by side, called *heads*, each with its own $A$, $B$ and $\gamma$; a matrix $C$ mixes their
# states into the output (Eq. 13). In the network the layer is part of a *block*. First comes a batch norm (every input
# channel gets mean 0 and variance 1), then the layer, then a gate (each output is multiplied by a number between 0 and
# 1 that the network computes). At the end the block's input is added again, which is called a skip connection.
# Such blocks are stacked.

# %%
torch.manual_seed(3)
net = ch04.paper_network()

# %% jupyter={"source_hidden": true} tags=["hide-input", "nbval-ignore-output"]
show.figure(
    ch04.architecture(net),
    alt="Inputs go through a linear map, six blocks, a mean over time and a linear map to "
        "logits. One block, drawn larger: batch norm, RotRNN, GELU, a gate, and a sum "
        "with what came in.",
    caption="What is in Figure 1 of the paper, drawn from a network of the package. "
            "What to see: inside a block one box only mixes positions, the coloured one.",
)  # fmt: skip


# %% [markdown]
# The next cell builds the layer from the parameters that it learns and runs it step by step, as it is written above.
# It compares the outputs with those of the package's layer, which never multiplies by $A$ at all. A head has angles
# $\theta$, a free matrix $M$, of which $P = e^{M - M^\top}$ is a rotation ([chapter 04](../04_rotations.ipynb), section 2), a decay $\gamma$, and $B$;
# $A = P\,\mathrm{diag}(R(\theta_1), R(\theta_2), \dots)\,P^\top$.

# %%
def from_parameters(layer):
    """gamma A (h, n, n) and xi B (h, n, D) of every head."""
    matrices = []
    for gamma_log, theta, M, B in zip(layer.gamma_log, layer.theta, layer.M, layer.B):
        gamma = torch.exp(-torch.exp(gamma_log))  # in (0, 1), whatever is learned
        cos, sin = theta.cos(), theta.sin()
        turns = torch.stack([cos, -sin, sin, cos], 1).unflatten(1, (2, 2))  # R(theta) for each angle
        P = torch.matrix_exp(M - M.T)
        xi = ((1 - gamma**2) / (B**2).sum()).sqrt()  # Eq. 11 for c = 1
        matrices.append((gamma * P @ torch.block_diag(*turns) @ P.T, xi * B))
    return map(torch.stack, zip(*matrices))


def written_out(layer, u):
    A, B = from_parameters(layer)
    x, outputs = torch.zeros(A.shape[:2], dtype=u.dtype), []
    for u_t in u:
        x = (A @ x.unsqueeze(-1)).squeeze(-1) + B @ u_t
        outputs.append(layer.C[0] @ x.flatten() + layer.skip * u_t)
    return torch.stack(outputs)


torch.manual_seed(3)
rotrnn = models.layers.RotRNN(16, state=24, heads=4)
with torch.no_grad():
    layer, u = rotrnn.double(), torch.randn(200, 16, dtype=torch.float64)
    y, one_by_one = layer(u.unsqueeze(0))[0], written_out(layer, u)
    kernel = layer.kernel(200)
    convolved = torch.stack(
        [torch.einsum("kij,kj->i", kernel[: t + 1], u[: t + 1].flip(0)) for t in range(200)]
    )
assert torch.allclose(y, one_by_one), "these lines are not the package's layer"
print(f"the scan gives what is written out: {torch.allclose(y, one_by_one)}")
print(f"and so does the convolution of Eq. 12: {torch.allclose(y, convolved + layer.skip * u)}")

# %% [markdown]
# ### Eq. 10 and Eq. 12
#
# Now the same in symbols. Section 1 of chapter 04 has a second form of the layer too, $x_t = \alpha(\gamma A x_{t-1} + B u_t)$,
# which the paper unrolls as Eq. 10.
#
# **Step 1.** From $x_0 = 0$ the second form gives $x_t = \sum_k \alpha^{t+1-k}\gamma^{t-k}A^{t-k}Bu_k$ (Eq. 10).
#
# **Step 2.** From $x_0 = 0$ the layer gives the sum of Eq. 12.
#
# The cell multiplies out the recurrences for $t = 1$ to $6$. $A$, $x_0$ and $Bu_k$ are free symbols that do not
# commute, as matrices do not.

# %% tags=["proof-equation_12"]
A, x_0 = sp.symbols("A x_0", commutative=False)
Bu = [sp.Symbol(f"Bu_{k}", commutative=False) for k in range(7)]
alpha, gamma, xi = sp.symbols("alpha gamma xi", positive=True)


def unrolled(t, scale, drive, x, A=A, gamma=gamma):
    for k in range(1, t + 1):
        x = sp.expand(scale * (gamma * A * x + drive * Bu[k]))
    return x


def printed(t, scale, drive, A=A, gamma=gamma):
    powers = {k: scale ** (t + 1 - k) * gamma ** (t - k) * A ** (t - k) for k in range(1, t + 1)}
    return sp.expand(sum(powers[k] * drive * Bu[k] for k in powers))


assert all(unrolled(t, alpha, 1, 0) == printed(t, alpha, 1) for t in range(1, 7)), (
    "Eq. 12, step 1: the sum of Eq. 10"
)
assert all(unrolled(t, 1, xi, 0) == printed(t, 1, xi) for t in range(1, 7)), (
    "Eq. 12, step 2: the sum of Eq. 12"
)
show.math("x_3 =", unrolled(3, 1, xi, 0))

# %% [markdown]
# **Step 3.** Both sums leave out the part of the start: $(\alpha\gamma A)^t x_0$ in the second form, and the same
# with $\alpha = 1$ in the layer. So both assume $x_0 = 0$ without saying so. Section 4 of chapter 04 comes back to this.

# %% tags=["proof-equation_12"]
A, gamma = sp.Symbol("A", commutative=False), sp.Symbol("gamma", positive=True)
left_out = [sp.expand(unrolled(t, alpha, 1, x_0) - printed(t, alpha, 1)) for t in range(1, 7)]
assert left_out == [sp.expand((alpha * gamma * A) ** t * x_0) for t in range(1, 7)], (
    "Eq. 12, step 3: what is left out is the start's part"
)
layer_too = [sp.expand(unrolled(t, 1, xi, x_0) - printed(t, 1, xi)) for t in range(1, 7)]
assert layer_too == [sp.expand((gamma * A) ** t * x_0) for t in range(1, 7)], (
    "Eq. 12, step 3: in the layer too"
)
show.math(r"\text{left out at } t = 3:\ ", left_out[2])

# %% [markdown]
# *Break it:* start at another $x_0$.

# %% tags=["proof-equation_12"]
with show.expect_failure("Eq. 12, step 2"):
    assert all(unrolled(t, 1, xi, x_0) == printed(t, 1, xi) for t in range(1, 7)), (
        "Eq. 12, step 2: Eq. 12 leaves out the start"
    )

# %% [markdown]
# ### Why no multiplication by $A$?
#
# In coordinates that suit it, a rotation is made of rotations of the plane, one for each pair of coordinates (notebook
# [04b](04b_every_rotation.ipynb)). The paper's Eq. 19 says that turning all pairs costs two multiplications for each number of $x$:
# $\Theta x = x \odot \cos + (-x_2, x_1, -x_4, x_3, \dots) \odot \sin$, where $\odot$ multiplies entry by entry.
#
# **Step 1.** This is $\Theta x$, for three pairs, free angles and a free $x$.

# %% tags=["proof-equation_19"]
angles, point = sp.symbols("theta_1:4"), sp.Matrix(sp.symbols("x_1:7"))
cos, sin = (sp.Matrix([f(angle) for angle in angles for _ in "12"]) for f in (sp.cos, sp.sin))
swapped = sp.Matrix([-point[1], point[0], -point[3], point[2], -point[5], point[4]])
block_turns = sp.diag(*map(R, angles))
cheap = point.multiply_elementwise(cos) + swapped.multiply_elementwise(sin)
assert sp.expand(cheap - block_turns * point) == sp.zeros(6, 1), (
    "Eq. 19, step 1: Eq. 19 turns x by Theta"
)
show.math(r"\text{first pair: }", cheap[0], r"\text{ and }", cheap[1])

# %% [markdown]
# *Break it:* leave the minus signs out.

# %% tags=["proof-equation_19"]
with show.expect_failure("Eq. 19, step 1"):
    swapped = sp.Matrix([point[1], point[0], point[3], point[2], point[5], point[4]])
    cheap = point.multiply_elementwise(cos) + swapped.multiply_elementwise(sin)
    assert sp.expand(cheap - block_turns * point) == sp.zeros(6, 1), (
        "Eq. 19, step 1: without the minus signs it is not Theta x"
    )


# %% [markdown]
# **Exercise 8** ★★ *(10 min, 4 points: to pair angles with coordinates)* **Find the bug.** The function
# below runs one head by Eq. 19; `theta` has an angle for each pair of coordinates, `B` has the shape (n, D) and `u`
# the shape (T, D). It is right for heads of width 2, and for every head whose angles are equal. For other heads the
# length of the state changes even at $\gamma = 1$. One line is wrong: mend it. (Pairs are neighbours, as in Eq. 19.)

# %%
def states_with_a_bug(theta, gamma, xi, B, u):
    cos, sin = np.tile(np.cos(theta), 2), np.tile(np.sin(theta), 2)  # (n,): for each coordinate
    x, states = np.zeros(len(B)), []
    for u_t in u:
        swapped = np.empty_like(x)  # (-x_2, x_1, -x_4, x_3, ...)
        swapped[0::2], swapped[1::2] = -x[1::2], x[0::2]
        x = gamma * (x * cos + swapped * sin) + xi * B @ u_t
        states.append(x)
    return np.array(states)  # (T, n)


for angles in ([0.4], [0.4, 0.4], [0.4, 1.1]):
    B = np.ones((2 * len(angles), 1))
    kicked = states_with_a_bug(np.array(angles), 1.0, 1.0, B, np.eye(50, 1))  # one impulse
    lengths = np.linalg.norm(kicked, axis=1)
    print(f"angles {angles}: the length stays: {np.allclose(lengths, lengths[0])}")

my_states = None  # exercise 8: a function of (theta, gamma, xi, B, u)
check("04.8", my_states)


# %% [markdown]
# <!-- Exercise 04.8: from notebooks/lrnnbook/content/exercises/ch04.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint 1</summary>
#
# Print `cos` for `theta = np.array([0.4, 1.1])`. Which of its four numbers belong to $x_1$ and $x_2$?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# `np.tile` repeats a whole row, `np.repeat` every number of it.
#
# </details>

# %% [markdown]
# ### The scan's operator
#
# The parallel scan of this layer carries triples $(\gamma, \theta, z)$: the decay, the angle, and a pair of
# numbers $z$, the sum so far. The paper's App. C gives the operator that joins two of them: decays multiply, angles
# add, and no matrix is ever formed. (Here a pair is written as one complex number, for which turning by $\theta$ is
# multiplying by $e^{i\theta}$: chapter 04, section 5, step 1.)
#
# **Step 1.** The operator is associative, so brackets may be set as we like.
#
# **Step 2.** $(1, 0, 0)$ is neutral on both sides, so a string may be padded.
#
# **Step 3.** Folded from the left over $t = 5$ triples, its last entry is the state $x_5$.

# %% tags=["proof-scan_operator"]
def join(first, second):
    (g, theta, z), (g2, theta2, z2) = first, second
    return g * g2, theta + theta2, g2 * sp.exp(sp.I * theta2) * z + z2


def equal(first, second):
    return all(sp.expand(one - other) == 0 for one, other in zip(first, second))


triples = [sp.symbols(f"g_{k} theta_{k} z_{k}") for k in range(1, 6)]
a, b, c = triples[:3]
assert equal(join(join(a, b), c), join(a, join(b, c))), (
    "The scan operator, step 1: the operator is associative"
)
assert equal(join((1, 0, 0), a), a) and equal(join(a, (1, 0, 0)), a), (
    "The scan operator, step 2: (1, 0, 0) is neutral"
)
state, folded = 0, (1, 0, 0)
for g, theta, z in triples:
    state, folded = g * sp.exp(sp.I * theta) * state + z, join(folded, (g, theta, z))
assert sp.expand(state - folded[2]) == 0, "The scan operator, step 3: what is folded is the state"
print("two triples join to", join(a, b))


# %% [markdown]
# *Break it:* take an operator that turns and shrinks the *new* number instead of the old one. It is associative as
# well, but what comes out is not the state.

# %% tags=["proof-scan_operator"]
def join_wrongly(first, second):
    (g, theta, z), (g2, theta2, z2) = first, second
    return g * g2, theta + theta2, z + g * sp.exp(sp.I * theta) * z2


a, b, c = triples[:3]
assert equal(join_wrongly(join_wrongly(a, b), c), join_wrongly(a, join_wrongly(b, c))), (
    "The scan operator, step 1: this operator is associative too"
)
with show.expect_failure("The scan operator, step 3"):
    folded = (1, 0, 0)
    for triple in triples:
        folded = join_wrongly(folded, triple)
    assert sp.expand(state - folded[2]) == 0, (
        "The scan operator, step 3: what is folded is not the state"
    )

# %% [markdown]
# ## Exercises
#
# You will find each exercise in its section. Stuck? `hint("04.8")`. Done? Compare with `solution("04.8")`.

# %% [markdown]
# <!-- The exercises of this chapter, listed by lrnnlab book build. -->
#
# 1 exercise, 4 points, about 10 minutes:
#
# | exercise | section | difficulty | minutes | points | you will learn |
# |---|---|---|---|---|---|
# | 8 | [1 The layer](#1-The-layer) | ★★ | 10 | 4 | to pair angles with coordinates |
#
# <details><summary>Solution of 04.8</summary>
#
# In the first line: `np.repeat(np.cos(theta), 2), np.repeat(np.sin(theta), 2)`. Neighbours are a
# pair, so the angles must be $\theta_1, \theta_1, \theta_2, \theta_2$; `np.tile` makes
# $\theta_1, \theta_2, \theta_1, \theta_2$, and each coordinate of a pair turns by another angle. That is no
# rotation, so lengths change. With pairs $(x_1, x_3), (x_2, x_4)$ `np.tile` would be right, but then the swap
# would be another one: rotary position embeddings are written in both ways, and weights of the one run without
# an error in the other.
#
# </details>
