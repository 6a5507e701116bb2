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
# **What we ask.** What does a transition that preserves the norm keep? Paper 001 (Biegun, Dolga, Cunningham and Barber,
# "RotRNN") lets every head *turn* its state and shrink it a little, and scales the input so that the state keeps one
# size. It says that this size is constant, at all times and throughout training; that the LRU has no such guarantee;
# and that the two models agree only in a special case.
#
# We check every lemma and formula. Lemma 1 and 2 hold, and a worry of the paper's is unfounded. Lemma 3 is true for
# $c = 1$ and false otherwise; the norm is not constant in the paper's own code; and *every* LRU is a RotRNN.
#
# *You need:* matrices, complex numbers, and chapter 00. *It takes* an hour to read, and less than a minute of
# computing.

# %%
import math
from functools import partial

import numpy as np
import torch

import lrnnlab
from lrnnlab import records
from lrnnlab.course import check, hint, predict, solution
from lrnnlab.tables import plan, rotrnn_fig3, run_all
from lrnnlab.training.loop import train
from lrnnlab import show
from lrnnlab.show.norm_figures import norm_along_time, norm_through_training
from lrnnlab.show.proof_widgets import steps
from lrnnlab.show.rotation_figures import (
    HEAD_SIZES,
    MODES,
    TABLE_3,
    architecture,
    discs,
    discs_sentence,
    layer_heads,
)
from lrnnlab.show.rotation_widgets import (
    ANGLES,
    DECAYS,
    GAMMAS,
    RHOS,
    STARTS,
    TURNS,
    norm_climb,
    norm_sentence,
    turning,
    turning_sentence,
)
from lrnnlab.show.widgets import explore
from lrnnlab.models.lru import LRU
from lrnnlab.models.rotrnn import RotRNN, lru_as_rotrnn
from lrnnlab.models.net import PAPER_001, Net, blocks
from lrnnlab.algebra.coloured_input import ar1_norm, stationary_norm, stationary_range
from lrnnlab.algebra.lru_equivalence import conjugate_pairs, lru_is_rotrnn, wider_heads
from lrnnlab.algebra.lru_norm import equation_14
from lrnnlab.algebra.norms import equation_11, lemma_3, lemma_3_as_printed
from lrnnlab.algebra.orthogonal import random_rotation
from lrnnlab.algebra.rotation_layer import (
    equation_10,
    equation_19,
    p_is_redundant,
    scan_operator,
)
from lrnnlab.algebra.rotations import determinant_one, lemma_1, lemma_2
from lrnnlab.algebra.token_input import token_input
from lrnnlab.algebra.white_input import (
    constant_norm,
    from_zero,
    norm_theorem,
    simulated_norm,
    steps_until,
)
from lrnnlab.training.steady import stream

EXPECTED = "0.1"
if not lrnnlab.__version__.startswith(EXPECTED):
    raise RuntimeError(f"this notebook needs lrnnlab {EXPECTED}, here is "
                       f"{lrnnlab.__version__}: run bootstrap.py")
print(f"lrnnlab {EXPECTED}: ready")

# %% [markdown]
# ## 1 The layer
#
# > **The paper, Eq. 12.**
# > $x_t = \gamma A x_{t-1} + \xi B u_t \;\Leftrightarrow\; x_t = \xi \sum_{k=1}^t \gamma^{t-k} A^{t-k} B u_k$
#
# $A$ is a rotation, $0 < \gamma < 1$ a decay, and $\xi$ a scale that section 4 is about. There are $h$ such heads,
# each with its own $A, B, \gamma$, because one decay is one horizon; a matrix $C$ mixes them (Eq. 13). Around the
# layer stand a norm, a gate and a skip, and such blocks are stacked.

# %%
torch.manual_seed(3)
six = blocks(partial(RotRNN, state=64, heads=8), 32, 6, **PAPER_001)
net = Net(six, 10, 32, vocab_size=18, encoder="linear", pool="mean")
show.figure(
    architecture(net),
    alt="Inputs go through a linear map, six blocks, a mean over time and a linear map to "
        "logits. One block, drawn larger: batch norm, RotRNN, GELU, a gate, and a sum "
        "with what came in.",
    caption="What stands in Figure 1 of the paper, drawn from the network that runs here. "
            "What to see: time is mixed in one box only, the coloured one.",
)  # fmt: skip

# %%
torch.manual_seed(3)
layer = RotRNN(16, state=24, heads=4)
show.figure(
    layer_heads(layer),
    alt="An input of 16 numbers goes to four heads. Each has a matrix of 6 by 16 and a dial "
        "with three dots at one distance from the centre. The four states, 24 numbers, are "
        "mixed by a matrix of 16 by 24.",
    caption="What stands in Figure 2. A dial is the unit disc, its dots the eigenvalues "
            "of a head. What to see: in a head all dots are equally far from the "
            "centre, at its one γ.",
)  # fmt: skip


# %% [markdown]
# Here is the layer in eight lines, step by step as it is written, and beside it the layer of the package, which never
# multiplies by $A$ at all.

# %%
def written_out(layer, u):
    A, B = layer.transition(), layer.xi().view(-1, 1, 1) * layer.B  # (h, n, n) and (h, n, D)
    x, outputs = torch.zeros(A.shape[:2], dtype=u.dtype), []
    for u_t in u:
        x = (A @ x.unsqueeze(-1)).squeeze(-1) + B @ u_t
        outputs.append(layer.C[0] @ x.flatten() + layer.skip * u_t)
    return torch.stack(outputs)


with torch.no_grad():
    layer, u = layer.double(), torch.randn(200, 16, dtype=torch.float64)
    y, one_by_one = layer(u.unsqueeze(0))[0], written_out(layer, u)
    kernel = layer.kernel(200)
    convolved = torch.stack(
        [torch.einsum("kij,kj->i", kernel[: t + 1], u[: t + 1].flip(0)) for t in range(200)]
    )
print(f"the scan gives what is written out: {torch.allclose(y, one_by_one)}")
print("and so does the convolution of Eq. 12: "
      f"{torch.allclose(y, convolved + layer.skip * u)}")

# %% [markdown]
# The same in symbols: Eq. 10 and 12 unroll the recurrence, and both say $x_0 = 0$ without saying so. Remember that.

# %%
steps(equation_10())

# %% [markdown]
# Why no multiplication by $A$? In coordinates that suit it, a rotation is made of rotations of the plane, and one of
# those costs two products a number (Eq. 19). The scan then carries triples $(\gamma, \theta, z)$: decays multiply,
# angles add, and no matrix is ever formed.

# %%
steps(equation_19())
steps(scan_operator())

# %% [markdown]
# ## 2 Lemma 1: rotations from any matrix
#
# > **The paper, Lemma 1.** "Let $M \in \mathbb{R}^{N \times N}$, let $S = M - M^\top$ [...]. Then
# > $A = \exp(S) \in SO(N)$."
#
# So a network may learn $M$ freely, and what it gets is always a rotation.
#
# **Step 1.** $S^\top = -S$, and $S$ commutes with $-S$. So $\exp(S)\exp(S)^\top = \exp(S)\exp(-S) = \exp(0) = I$: order
# by order the two series cancel.
#
# **Step 2.** $\det(I + eS) = 1 + e\,\mathrm{Tr}\,S + O(e^2)$. So $\det\exp(tS)$ grows at the rate $\mathrm{Tr}\,S$, and
# $\det\exp(S) = \exp(\mathrm{Tr}\,S)$ (Jacobi).
#
# **Step 3.** $S$ has zeros on its diagonal, so $\mathrm{Tr}\,S = 0$ and the determinant is 1. $\blacksquare$

# %%
steps(lemma_1())

# %% [markdown]
# **Break a hypothesis.** With the identity added $S$ is no longer skew:

# %%
steps(lemma_1(symmetric=1))

# %% [markdown]
# What is it good for? A rotation keeps every length, in every power. Other matrices do not, not even if their largest
# eigenvalue is on the unit circle.

# %%
draw = np.random.default_rng(0)
square = draw.standard_normal((8, 8))
square /= np.abs(np.linalg.eigvals(square)).max()
shear = np.eye(8) + np.eye(8, k=1)
kept = {"rotation": random_rotation(8, draw), "random, largest eigenvalue 1": square,
        "ones on two diagonals": shear}  # fmt: skip
vector = draw.standard_normal(8)
show.table(
    [
        {
            "A": name,
            **{
                f"k = {k}": np.linalg.norm(np.linalg.matrix_power(A, k) @ vector)
                / np.linalg.norm(vector)
                for k in (1, 10, 100)
            },
        }
        for name, A in kept.items()
    ],
    caption="How long A^k v is, over the length of v. All eigenvalues of the "
            "last matrix are 1.",
)

# %% [markdown]
# ## 3 Lemma 2: cheap powers, and a worry that is unfounded
#
# > **The paper, Lemma 2.** "Let $P \in O(N)$ be an orthogonal matrix and let $\Theta \in SO(N)$ be a block-diagonal
# > rotation matrix. Then $A = P \Theta P^\top \in SO(N)$. Moreover, any rotation matrix can be written in this form".
#
# Then $A^k = P\,\Theta^k P^\top$, since $P^\top P = I$ in between; and $\Theta^k$ holds the rotations by $k\theta_i$.

# %%
steps(lemma_2())

# %% [markdown]
# The network learns $P = \exp(M - M^\top)$, which has determinant 1 by Lemma 1, while the lemma speaks of any
# orthogonal $P$.
#
# > **The paper, section 3.2.** "While this means that $A = P\Theta P^\top$ may not be surjective onto $SO(N)$, we
# > find it is sufficiently general".
#
# > **Put right.** It *is* surjective: every rotation is $P\Theta P^\top$ with $\det P = 1$.
#
# **Step 1.** Let $A = P\Theta P^\top$ with $\det P = -1$, and $D = \mathrm{diag}(-1, 1, \dots, 1)$. As $DD = I$,
# $A = (PD)(D\Theta D)(PD)^\top$, and $\det PD = 1$.
#
# **Step 2.** $D\Theta D$ is $\Theta$ with $-\theta_1$ in the place of $\theta_1$: a rotation seen in a mirror turns the
# other way. (For odd $N$ flip the axis instead, and $\Theta$ stays as it is.) $\blacksquare$
#
# The third step of the table takes random rotations apart, of every size up to 9, and puts them together again.

# %% tags=["nbval-ignore-output"]
one = determinant_one()
steps(one)

# %%
print(f"every rotation has a P of determinant 1: {one.holds}; "
      f"{one.data['rebuilt']} of them rebuilt")

# %% [markdown]
# ### P is redundant
#
# More is true. $C$ and $B$ are free matrices, and
#
# $$C A^k B = C\,(P\Theta^k P^\top)\,B = (CP)\;\Theta^k\;(P^\top B).$$
#
# So a layer *without* $P$, with $CP$ for $C$ and $P^\top B$ for $B$, computes the same; and $\mathrm{Tr}\,B^\top B$
# stays, hence $\xi$ too. $P$ changes how the weights move in training, not what the layer can say. In heads of width 2
# it is not even in $A$, because rotations of the plane commute.

# %%
steps(p_is_redundant())

# %% [markdown]
# **A rotation to turn.** One head of width 4, so two angles, gets one impulse. Left: two of the four numbers of its
# state. Right: the output, with $P$ and with $P$ absorbed.

# %%
opened = {"theta_1": 20, "theta_2": 45, "gamma": 0.98, "P": "absorbed"}
show.figure(
    turning(**opened),
    alt="Left, a spiral of 60 points that starts near the unit circle and winds inwards. "
        "Right, an output that swings and fades; the line of the layer with P runs through "
        "every ring of the layer without.",
    caption="What to see: rings lie on the line. The state looks different with P and "
            "without, the output does not.",
)  # fmt: skip

# %% [markdown]
# *Try:* switch $P$ to *kept*: the spiral becomes a tangle, and the output does not move. Then put $\gamma$ at 0.999 and
# one angle at 120°: three places, for ever. Which outputs can a head give with both angles 0?

# %%
turning_widget = explore(
    turning,
    {
        "theta_1": list(TURNS),
        "theta_2": list(TURNS),
        "gamma": list(DECAYS),
        "P": ["kept", "absorbed"],
    },
    initial=opened,
    sentence=turning_sentence,
    alt="The path of two numbers of the state after an impulse, and the outputs of the layer "
        "with P and without.",
)
turning_widget

# %% [markdown]
# ## 4 Lemma 3: the norm, and an error in the last line
#
# The paper first scales the whole state, $x_t = \alpha(\gamma A x_{t-1} + B u_t)$ (Eq. 6).
#
# > **The paper, Lemma 3.** "[...] let the inputs $u_t$ be sampled i.i.d., with mean 0 and variance $I$. Then for any
# > constant $c$, if $\mathbb{E}[\|x_1\|^2] = c$ and $\alpha = \frac{1}{\sqrt{c\gamma^2 + \mathrm{Tr}[B^\top B]}}$ we
# > have that $\mathbb{E}[\|x_t\|^2] = c$ for all timesteps $t$."
#
# The proof is an induction in four lines, from $\mathbb{E}\|x_{t-1}\|^2 = c$:
#
# 1. square: $\mathbb{E}\|x_t\|^2 = \alpha^2(\gamma^2\,\mathbb{E}\|x_{t-1}\|^2 + \mathbb{E}\,u_t^\top B^\top B u_t +
#    2\gamma\, \mathbb{E}\,x_{t-1}^\top A^\top B u_t)$, because $A^\top A = I$ (Eq. 7);
# 2. the last term is 0, as $u_t$ and $x_{t-1}$ are uncorrelated (Eq. 8);
# 3. $\mathbb{E}\,u_t^\top B^\top B u_t = \mathrm{Tr}\,B^\top B$, as $\mathbb{E}\,u_t u_t^\top = I$ (Eq. 9);
# 4. put $\alpha$ in: $\mathbb{E}\|x_t\|^2 = c$.
#
# Do the last line yourself before you read on.

# %%
steps(lemma_3_as_printed())

# %% [markdown]
# $\alpha^2(c\gamma^2 + \mathrm{Tr}) = 1$: the printed $\alpha$ gives **1, whatever $c$ is**. For $c = 1$ the lemma is
# true. For another $c$ the root should have been $\sqrt{c/(c\gamma^2 + \mathrm{Tr})}$.

# %%
steps(lemma_3())

# %% [markdown]
# As $\alpha$ is applied again at every step (Eq. 10), the paper sets it to 1 and scales $B$ alone, with $\xi^2
# \,\mathrm{Tr}\, B^\top B = 1 - c\gamma^2$ (Eq. 11). That inherits the error; right is $c\,(1 - \gamma^2)$.

# %%
steps(equation_11())

# %% [markdown]
# Experiments in the paper have $c = 1$, where both agree. Here is $c = 2$, run: 2,000 sequences of white input, one
# head, $\gamma = 0.5$.

# %%
torch.manual_seed(4)
white, rows = torch.randn(2000, 12, 16), []
for c, normaliser, predicted in (
    (1, "paper", 1.0),
    (2, "paper", (1 - 2 / 4) / (1 - 1 / 4)),
    (2, "corrected", 2.0),
):
    head = RotRNN(
        16, state=8, heads=1, gamma=(0.5, 0.5), c=c, normaliser=normaliser, start="random"
    )
    with torch.no_grad():
        found = float((head.hidden(white)[:, -1] ** 2).sum(-1).mean())
    rows.append({"c": c, "ξ as": normaliser, "E‖x‖² at t = 12": found, "derived": predicted})
show.table(rows, caption="What the paper's ξ and the corrected ξ make of c.",
           formats={"E‖x‖² at t = 12": ".2f", "derived": ".2f"})  # fmt: skip
try:
    RotRNN(16, state=8, heads=1, gamma=(0.9, 0.9), c=2, normaliser="paper")(white)
except ValueError as error:
    print(f"c = 2, gamma = 0.9: {str(error).split(',')[0]}")

# %% [markdown]
# ## 5 Is the norm constant?
#
# > **The paper, section 4.1.** "the expected norm of the recurrent state remains constant throughout the entire
# > sequence, providing stronger guarantees than expected convergence at infinite sequence length."
#
# Lemma 3 asks for $\mathbb{E}\|x_1\|^2 = c$. But the layer starts at $x_0 = 0$ (section 1), so $x_1 = \xi B u_1$, and
# $\mathbb{E}\|x_1\|^2 = \xi^2\,\mathrm{Tr} = c\,(1 - \gamma^2)$. The hypothesis fails at the first step. What is true?
#
# > **Theorem.** Let $A$ be orthogonal, $\xi^2\,\mathrm{Tr}\,B^\top B = c\,(1 - \gamma^2)$, and $u$ white: of mean 0,
# > covariance $I$, uncorrelated in time and with $x_0$. Then
# > $$\mathbb{E}\|x_t\|^2 = c + \gamma^{2t}\left(\mathbb{E}\|x_0\|^2 - c\right).$$
#
# *Proof.* Lines 1 to 3 above give $s_t = \gamma^2 s_{t-1} + c\,(1 - \gamma^2)$ for $s_t = \mathbb{E}\|x_t\|^2$, so
# $s_t - c = \gamma^2 (s_{t-1} - c)$. $\blacksquare$ (Independence is not needed, only that nothing is correlated.)

# %%
steps(norm_theorem())

# %% [markdown]
# From $x_0 = 0$, as in the paper's own listing (App. C), it climbs: $c\,(1 - \gamma^{2t})$.

# %%
steps(from_zero())
print(f"95 % of the limit is reached at step {steps_until(0.99):,} for γ = 0.99, "
      f"{steps_until(0.999):,} for 0.999, {steps_until(0.9999):,} for 0.9999; sequences of "
      "Path-X have 16,384")  # fmt: skip

# %% [markdown]
# It is the same climb that each mode of an LRU makes (section 7), so here the two do not differ. Two small changes
# would make it constant from the first step: an $x_0$ of length $\sqrt c$ (a fixed one will do), or a first input
# that counts $1/\sqrt{1 - \gamma^2}$ times as much.

# %%
steps(constant_norm())

# %% [markdown]
# And in simulation, with three kinds of white input, of which the last is uncorrelated but not independent. The
# expected length $\mathbb{E}\|x\|$ itself is smaller than the root of $\mathbb{E}\|x\|^2$.

# %%
steps(simulated_norm())

# %% [markdown]
# ### A picture to play with
#
# One rotation pair, $c = 1$. ρ is the *colour* of the input: how much an input is correlated with the next one
# ($\mathbb{E}\,u_t u_s^\top = \rho^{|t-s|} I$); at $\rho = 0$ it is white.

# %%
first = {"gamma": 0.99, "rho": 0.0, "theta": 45, "x_0": "zero"}
show.figure(
    norm_climb(**first),
    alt="Expected squared norm against the step, both logarithmic. The paper's line is flat "
        "at 1. The formula climbs from 0.02 at step 1 and meets it after about 150 steps; the "
        "mean of 100 simulated runs lies on the formula.",
    caption="What to see: with white input and x₀ = 0 the paper's line is where the norm "
            "arrives, not where it is.",
)  # fmt: skip

# %% [markdown]
# *Try:* x_0 *unit* or *scaled first step*: the line is flat at last. Then give the input a colour, ρ = 0.9: which angle
# makes the state large, which makes it small? And what does θ do at ρ = 0?

# %%
norm_widget = explore(
    norm_climb,
    {"gamma": list(GAMMAS), "rho": list(RHOS), "theta": list(ANGLES), "x_0": list(STARTS)},
    initial=first,
    sentence=norm_sentence,
    alt="Expected squared norm of the state against the step: the paper's line, the formula, "
        "and simulated runs.",
)
norm_widget

# %% [markdown]
# ## 6 Break the hypothesis: inputs that are not white
#
# The paper says that white input is an assumption, "which we hope to be able to overcome in future work". What happens
# without it can be worked out. For a pair of angle $\theta$ and input of colour $\rho$ the norm tends to
#
# $$c\;\frac{1 - \gamma^2\rho^2}{1 - 2\gamma\rho\cos\theta + \gamma^2\rho^2}:$$
#
# a resonance. Inputs that repeat themselves add up where the state turns slowly, and cancel where it turns fast.

# %%
steps(ar1_norm())
colours = {f"ρ = {rho:g}": rho for rho in RHOS}
show.table(
    [
        {
            "θ": f"{angle}°",
            **{
                name: stationary_norm(0.99, math.radians(angle), rho)
                for name, rho in colours.items()
            },
        }
        for angle in (0, 15, 45, 90, 180)
    ],
    caption="Long-run E‖x‖² at γ = 0.99, c = 1. The paper's value is 1.",
    formats=dict.fromkeys(colours, ".3g"),
)

# %% [markdown]
# For *any* stationary input of variance 1, how far can it go? From $\frac{1-\gamma}{1+\gamma}$ to
# $\frac{1+\gamma}{1-\gamma}$ times $c$: at $\gamma = 0.999$ from 0.0005 to 1,999. Where $BB^\top$ is a multiple of $I$, as in
# the cell, both ends are reached by an input of a single frequency. Other $B$ drive both directions of a turn at once:
# $B = (1, 0)^\top$ at $\theta = 90°$ gets no further than from 0.0010 to 999.5.

# %%
steps(stationary_range())

# %% [markdown]
# What a first layer *really* reads in our tasks are tokens. As one-hot vectors they are not white even when drawn
# independently: they have a mean, which drives the state like a constant input, and their scatter has another size.
# Subtracting the mean and dividing by the scatter repairs both. (In the network of section 1 a batch norm does a part
# of this.)

# %%
steps(token_input())

# %% [markdown]
# ## 7 RotRNN and LRU
#
# ### Equation 14
#
# The paper derives the norm of the LRU, $\tilde x_t = \Lambda \tilde x_{t-1} + \tilde B u_t$, whose modes $\lambda_k$
# are complex numbers, to compare:
#
# > $\mathbb{E}[\|x_t\|^2] = \sum_{i=1}^t \sum_k b_k |\lambda_k|^{2i} \to \sum_k b_k \frac{1}{1 - |\lambda_k|^2}$
#
# Unrolled, the recurrence has $\Lambda^0 \tilde B u_t$ for the newest input: the sum runs from $i = 0$ to $t - 1$. As
# printed it misses a factor $|\lambda_k|^2$ in every mode, and the printed limit is that of the right sum. So the
# conclusion, to normalise by $\sqrt{1 - |\lambda_k|^2}$, stands. With it the norm is $\sum_k b_k(1 -
# |\lambda_k|^{2t})$: the climb of section 5.

# %%
steps(equation_14())

# %% [markdown]
# ### Every LRU is a RotRNN
#
# > **The paper, section 4.1.** "Consider the case where the learned eigenvalues of $\Lambda$ come in
# > complex-conjugate pairs. [...] up to normalisation, this is algebraically equivalent to the multi-head RotRNN with
# > [...] $\mathcal{D}_h = 2$. [...] this exact special case of the LRU is unlikely to occur naturally".
#
# It occurs always. The LRU reads out $y = \mathrm{Re}(\tilde C \tilde x)$, and that is all one needs.
#
# > **Theorem.** Every LRU of $N$ modes (with $0 < |\lambda_k| < 1$) is a RotRNN with $N$ heads of width 2,
# > normalisation included.
#
# *Proof.* **Step 1.** Multiplying by $\lambda = \gamma e^{i\theta}$ is turning the point $(\mathrm{Re}\,x,
# \mathrm{Im}\,x)$ by $\theta$ and shrinking it by $\gamma$. So one mode is one head, with $B = (\mathrm{Re}\,\tilde
# b;\ \mathrm{Im}\,\tilde b)$.
#
# **Step 2.** $\mathrm{Re}(\tilde c x) = \mathrm{Re}\,\tilde c\,\mathrm{Re}\,x - \mathrm{Im}\,\tilde
# c\,\mathrm{Im}\,x$: a row $C = (\mathrm{Re}\,\tilde c,\ -\mathrm{Im}\,\tilde c)$.
#
# **Step 3.** $\xi$ and the LRU's own normaliser are *one number for each mode*; divide $C$ by the one and multiply by
# the other. $\blacksquare$

# %%
steps(lru_is_rotrnn())
torch.manual_seed(7)
with torch.no_grad():
    lru = LRU(16, state=12).double()
    u = torch.randn(2, 300, 16, dtype=torch.float64)
    same = torch.allclose(lru(u), lru_as_rotrnn(lru)(u))
print(f"an LRU of the package, and lru_as_rotrnn of it, say the same: {same}")

# %% [markdown]
# The paper's version even lacks a hypothesis: with conjugate *eigenvalues* alone its matrices $\tilde B$, $\tilde C$
# are not real; their rows and columns must be conjugate too.

# %%
steps(conjugate_pairs())

# %% [markdown]
# And the other way round? A RotRNN with heads of width $n$ is an LRU with $n/2$ modes a head, whose moduli (and
# $\xi$) are **tied**. So wider heads add no function; they take some away.

# %%
steps(wider_heads())

# %% [markdown]
# ### On the disc
#
# Where do the eigenvalues lie when training begins? The ranges are those of the paper's Table 3, for every data set.

# %%
start = {"task": "Retrieval", "n": 8, "mode": 29}
show.figure(
    discs(**start),
    alt="Left, 32 eigenvalues of an LRU spread over a ring of the unit disc. Middle, 32 of a "
        "RotRNN, on eight circles with four on each. Right, the kernel of one mode and that "
        "of a head of width 2, which coincide.",
    caption="What to see: an arc joins the eigenvalues of a head, all at one distance from "
            "the centre. Right: for heads of width 2 there is no difference left.",
)  # fmt: skip

# %% [markdown]
# *Try:* $n = 2$, where nothing is tied; ListOps, where all angles lie below 1.8°, so that at the
# start a mode is little more than a fading average; Path-X, where all lie at the rim.

# %%
discs_widget = explore(
    discs,
    {"task": list(TABLE_3), "n": list(HEAD_SIZES), "mode": list(MODES)},
    initial=start,
    sentence=discs_sentence,
    alt="Eigenvalues of an LRU and a RotRNN on the unit disc, and the kernels of one "
        "mode and its head.",
)
discs_widget

# %% [markdown]
# So what differs between the two models is not what they can compute but how they are trained: tied moduli, which
# numbers are the parameters, and whether the scale is recomputed at every step ($\xi$) or learned (the LRU's
# normaliser).
#
# ## 8 Figure 3: the norm while a network learns
#
# > **The paper, section 5.1.** "hidden states of the RotRNN have an almost constant magnitude throughout training,
# > with very little variance across layer depth or random initialisations. To contrast this, the LRU hidden state
# > norms vary wildly across layer depth".
#
# The paper trains 8-layer networks on ListOps, with 2,048 tokens, and prints no numbers. We train networks of 4
# layers on our own ListOps expressions of up to 64 tokens. There are four kinds: RotRNN with 8 heads of width 8;
# RotRNN with 32 heads of width 2; the LRU with its learned normaliser; and the LRU with the normaliser recomputed
# from $\lambda$ at every step. The last one is what the paper's own code has, in spite of what its section 2.3 says.
#
# First live, 40 steps of training:

# %% tags=["nbval-ignore-output"]
live = [
    record
    for row in ("rotrnn", "lru_learned")
    for record in run_all(
        plan("rotrnn/fig3", tasks=["layers4"], rows=[row], seeds=[0]), reuse=False
    )
]
show.figure(
    norm_through_training(live, "layers4"),
    alt="Live: the mean norm of the state in each of four layers of a RotRNN and of an LRU, "
        "in 40 steps of training.",
    caption="Live. What to see: how far each layer's norm moves from the faint line, where "
            "white input would put it in the long run.",
)  # fmt: skip

# %% [markdown]
# And recorded, 400 steps (`lrnnlab reproduce rotrnn/fig3 --budget desk`):

# %%
desk = records.read_all(records.data_folder() / "records" / "rotrnn" / "fig3" / "desk")
show.figure(
    norm_through_training(desk, "layers4"),
    alt="Recorded: the mean norm of the state in each of four layers, through 400 steps, in "
        "four panels: RotRNN with 8 heads, RotRNN with 32, LRU learned and LRU recomputed. "
        "The numbers stand in the table below.",
    caption="Recorded. What to see: in every panel the layers fan out. A faint line is where "
            "white input would put the norm: the root of the number of parts normalised to 1.",
)  # fmt: skip

# %%
LABELS = {"rotrnn": "RotRNN, 8 heads of 8", "rotrnn_pairs": "RotRNN, 32 heads of 2",
          "lru_learned": "LRU, learned", "lru_recomputed": "LRU, recomputed"}  # fmt: skip
deep = {
    row: [r["metrics"] for r in desk if (r["task"], r["row"]) == ("layers4", row)]
    for row in LABELS
}
COLUMNS = {"norm at the start": "norm_start", "at the end": "norm_end",
           "‖x‖² / formula, white input": "white_over_formula",
           "‖x‖² / formula, ListOps": "real_over_formula",
           "input correlated with the next": "lag1"}  # fmt: skip


def over_seeds(row, name, layer):
    return float(np.mean([metrics[name][layer] for metrics in deep[row]]))


show.table(
    [{"kind": LABELS[row], "layer": layer + 1,
      **{title: over_seeds(row, name, layer) for title, name in COLUMNS.items()}}
     for row in LABELS for layer in range(4)],
    caption="Recorded, means over seeds. Last column: 0 for white input. The formula is "
            "that of section 5.",
    formats=dict.fromkeys(COLUMNS, ".2f"),
)  # fmt: skip

# %%
every = [(row, layer) for row in LABELS for layer in range(4)]
white_is_right = all(
    abs(over_seeds(row, "white_over_formula", layer) - 1) < 0.05 for row, layer in every
)
print("white input gives the formula's norm, within 5 %, in every trained layer of every "
      f"kind: {white_is_right}")
print("ListOps gives more than 1.2 times that in every trained layer of every kind: "
      f"{all(over_seeds(row, 'real_over_formula', layer) > 1.2 for row, layer in every)}")  # fmt: skip
starts = [
    [over_seeds(row, "norm_start", layer) for row in ("rotrnn_pairs", "lru_learned")]
    for layer in range(4)
]
print("RotRNN with 32 heads and the LRU start with the same norms, within a fifth, layer by "
      f"layer: {all(abs(pairs / modes - 1) < 0.2 for pairs, modes in starts)}")  # fmt: skip
moved = {
    row: max(
        most / least
        for metrics in deep[row]
        for most, least in zip(metrics["norm_most"], metrics["norm_least"])
    )
    for row in LABELS
}
print("in every kind some layer's norm moves by more than a fifth in training: "
      f"{min(moved.values()) > 1.2}")

# %% [markdown]
# So at this size the contrast of the paper's Figure 3 does not show: RotRNN's norms move as well, and differ between
# layers as well. Why, if the norm is normalised at every step? Because the theorem is about *white* input, and the
# inputs are not white in two ways.
#
# **In time.** The last column of the table: in the first layer an input is hardly correlated with the next one, but
# what a layer keeps is what the next layer reads, so deeper layers have coloured inputs, and with angles below 1.8°
# that makes states large (section 6).
#
# **In space.** White also means covariance $I$. If inputs are uncorrelated in time but have covariance $\Sigma$, line
# 3 of the proof reads $\mathbb{E}\,u^\top B^\top B u = \mathrm{Tr}\,B \Sigma B^\top$, and the norm tends to
#
# $$c\;\frac{\mathrm{Tr}\,B\Sigma B^\top}{\mathrm{Tr}\,B B^\top}.$$
#
# A random $B$ makes that $c$ on average when every channel has variance 1, as after a batch norm. But $B$ is
# *trained*, and turns to where the inputs are large. Watch it do so, in a network with one layer:

# %% tags=["nbval-ignore-output"]
small = rotrnn_fig3.setting("rotrnn", "layers1", "desk")
single, probe = (
    rotrnn_fig3.build_net(small, seed=0),
    rotrnn_fig3.expressions(256, 64, stream(1, "chapter 04")),
)


def shares():
    """Tr(B S B^T) / Tr(B B^T) of each head, S the second moments of the inputs."""
    ((mixer, u),) = rotrnn_fig3.layer_inputs(single, probe)
    u = u[torch.arange(64) < probe[1].unsqueeze(1)]
    B = mixer.B.detach()
    return torch.einsum("hni,ij,hnj->h", B, u.mT @ u / len(u), B) / B.square().sum((1, 2))


before = shares()
train(
    single,
    lambda generator: rotrnn_fig3.expressions(32, 64, generator),
    torch.nn.functional.cross_entropy,
    steps=100,
    rate=small["rate"],
    recurrent_rate=small["recurrent_rate"],
    decay=small["decay"],
    generator=stream(2, "chapter 04"),
    progress=False,
)
after = shares()
show.table(
    [{"head": number, "before": float(early), "after 100 steps": float(late)}
     for number, (early, late) in enumerate(zip(before, after), 1)],
    caption="Live: what the inputs' covariance makes of c = 1, head by head.",
    formats={"before": ".2f", "after 100 steps": ".2f"},
)  # fmt: skip

# %%
print("before training the mean over heads is 1, within 15 %: "
      f"{abs(float(before.mean()) - 1) < 0.15}; after 100 steps it is above 1.2: "
      f"{float(after.mean()) > 1.2}")  # fmt: skip

# %% [markdown]
# Now along a string, in trained layers. Points are white input, and lie on the formula. The coloured line is what the
# layer gets in its network:

# %%
shown = [
    next(r for r in desk if (r["task"], r["row"]) == ("layers4", row))
    for row in ("rotrnn", "lru_learned")
]
show.figure(
    norm_along_time(shown),
    alt="Recorded: squared norm over its limit against the position in the string, for four "
        "layers of a RotRNN and of an LRU. White input follows the derived climb. On ListOps "
        "all layers rise above it, deeper ones more.",
    caption="Recorded, one seed. What to see: nothing is flat. The climb is that of section "
            "5; what is above the climb are inputs that are not white.",
)  # fmt: skip

# %% [markdown]
# | Figure 3 | the paper (8 layers, up to 2,048 tokens) | here (4 layers, up to 64 tokens, 400 steps) |
# |---|---|---|
# | RotRNN through training | "almost constant" | it moves like the LRU's, mostly up: $B$ turns to where inputs are large |
# | RotRNN across layers | "very little variance" | layers fan out: inputs of deeper layers are coloured |
# | LRU against RotRNN | "significantly larger" (one layer) | larger, as arithmetic has it: 32 modes normalised to 1 against 8 heads. RotRNN with 32 heads starts as large |
# | the LRU's learned normaliser | blamed | learned and recomputed look alike |
#
# Our networks are small and trained briefly, so this does not refute the picture. It says that $\xi$ alone does not
# explain it.
#
# ## 9 What is kept, and what cannot be
#
# **Kept: the past, evenly.** What is left in $x_t$ of the input at $s$ is $\xi\gamma^{t-s}A^{t-s}Bu_s$, and its
# length does not depend on the angles, nor on what came in between. So two strings that differ in the first letter
# only have states that approach each other by exactly $\gamma$ a step:

# %%
torch.manual_seed(9)
with torch.no_grad():
    head = RotRNN(4, state=8, heads=1, gamma=(0.9, 0.9)).double()
    string = torch.randn(60, 4, dtype=torch.float64)
    other = string.clone()
    other[0] = -other[0]
    apart = (head.hidden(torch.stack([string, other])).diff(dim=0)[0] ** 2).sum(-1).sqrt()
    even = torch.allclose(apart / apart[0], head.gamma() ** torch.arange(60))
print(f"the distance after k more steps is 0.9^k of the first distance: {even}; "
      f"after 59 steps {float(apart[-1] / apart[0]):.4f} is left")  # fmt: skip

# %% [markdown]
# **Not kept: a bit, for ever.** Whether the first letter was $a$ or $b$ (EvenPair), or whether the number of ones is
# odd (Parity), must be read off that distance. It goes to 0 with $\gamma^k$, so behind any fixed margin such a layer
# is wrong on long strings. With $\gamma = 1$ nothing would fade, but then $\xi = \sqrt{1 - \gamma^2} = 0$ lets
# nothing in. And a constant $A$ cannot let the *letter* decide how far to turn: chapter 01's Theorems A to C hold for
# every layer of this chapter.
#
# **The price of a constant norm.** Of $\mathbb{E}\|x\|^2 = 1$ the newest input contributes $1 - \gamma^2$. Whoever
# remembers long must listen quietly.

# %%
show.table(
    [{"γ": f"{gamma:g}",
      "steps until half of a length is left": math.log(0.5) / math.log(gamma),
      "share of the newest input": 1 - gamma**2,
      "steps to 95 % of the norm": steps_until(gamma)}
     for gamma in (0.5, 0.9, 0.99, 0.999, 0.9999)],
    caption="What one decay buys, and what it costs.",
    formats={"steps until half of a length is left": ",.1f",
             "share of the newest input": ".4f",
             "steps to 95 % of the norm": ",d"},
)  # fmt: skip

# %% [markdown]
# ## 10 What the paper reports
#
# Accuracies of the paper's Table 1, on data that do not come with this workbook (sequences of 1,024 to 16,384; 50,000
# to 500,000 steps of training on accelerators). They are quoted, not reproduced; chapter 07 is about these tasks.

# %%
TABLE_1 = {
    "S4": (59.6, 86.8, 90.9, 91.1, 94.2, 96.4, 86.5),
    "S5": (62.2, 89.3, 91.4, 90.1, 95.3, 98.6, 87.8),
    "LRU, published": (60.2, 89.4, 89.9, 89.0, 95.1, 94.2, 86.3),
    "LRU, their reproduction": (57.9, 89.4, 89.4, 85.2, 90.0, 92.8, 84.1),
    "RotRNN": (61.1, 89.6, 89.9, 85.9, 93.0, 89.2, 84.8),
}
names = ("ListOps", "Text", "Retrieval", "Image", "Pathfinder", "Path-X", "average")
show.table([{"model": model, **dict(zip(names, row))} for model, row in TABLE_1.items()],
           caption="Paper 001, Table 1: test accuracy in percent.",
           formats=dict.fromkeys(names, ".1f"))  # fmt: skip
right = all(abs(sum(row[:-1]) / 6 - row[-1]) < 0.051 for row in TABLE_1.values())
print(f"the averages are those of their rows: {right}")

# %% [markdown]
# By the theorem of section 7 the last three rows are about the *same* family of functions (with the tie, in the
# last). What differs between them is training: start, parameters, rates. Between two reproductions of one model there
# are 2.2 points on average, more than between RotRNN and either of them.
#
# ## 11 Where the paper says something else
#
# | the paper | what we found |
# |---|---|
# | $P\Theta P^\top$ "may not be surjective onto $SO(N)$" (3.2) | it is; and $P$ is redundant (section 3) |
# | Lemma 3, "for any constant $c$"; Eq. 11 | for $c = 1$ only (section 4) |
# | the norm "remains constant throughout the entire sequence" (4.1) | not from $x_0 = 0$, where Eq. 10, Eq. 12 and its code start (section 5) |
# | Eq. 14, $i = 1, \dots, t$ | $i = 0, \dots, t - 1$ (section 7) |
# | equivalent to an LRU whose eigenvalues come in pairs, "up to normalisation" | to every LRU, normalisation included |
# | the LRU's normaliser is "learnt" (2.3), and Figure 3 is due to it | in the code released with the paper it is recomputed from $\lambda$ at every pass |
# | $D \in \mathbb{R}^{\mathcal{D}_u \times \mathcal{D}_u}$ (Eq. 13) | a vector in its App. B.3 and in both codes |
# | "Glorot" (B.3) | the listing divides by the root of the fan-in, the repository by that of fan-in plus fan-out |
# | $\gamma$ uniform on a ring (C) | the released code draws $\log(-\log\gamma)$ uniformly |
# | `dim_h / 2` in the listing of App. C | is no integer and fails; the repository has `//` |
# | "$L = 6$ [...] the same for all experiments" (B.2) | Figure 3 (a) has 8 layers, and so have the sweep files for ListOps in the repository |
#
# ## 12 What this does not show
#
# * **Not that the normalisation is useless.** That $\xi$ follows $\gamma$ while $\gamma$ is learned is a convenience,
#   whatever the norm does in time. We have not measured how training goes without it.
# * **Not that $P$ is useless in training.** It changes which steps gradient descent takes. It does not change what
#   can be reached.
# * **Nothing about long-range accuracy.** Our networks of section 8 are small and trained for minutes; they are there
#   for their norms.
# * **Not the paper's Figure 3.** It has no numbers to compare with, and its setting needs an accelerator.
#
# ## 13 Exercises
#
# 27 points. Each exercise says how long it takes, what it is worth and what it teaches. Where a cell can check an
# answer, fill it in and run it; `hint("04.1")` and `solution("04.1")` help with these.
#
# 1. ★ *(5 min, 2 points: to put numbers into a printed lemma)* Lemma 3 as printed, with $c = 4$. Let
#    $\mathbb{E}\|x_1\|^2 = 4$. What is $\mathbb{E}\|x_2\|^2$?

# %%
my_second_norm = None  # exercise 1: a number
check("04.1", my_second_norm)

# %% [markdown]
# 2. ★ *(5 min, 3 points: to predict what correlated input does to a rotating state)* **Predict.** Before you run
#    anything: $\gamma = \rho = 0.99$ and $\theta = 90°$. Is the long-run norm above or below 1, and by which factor
#    about? Within 10 percent will do.

# %%
my_prediction = None  # exercise 2: the long-run E||x||^2
check("04.2", my_prediction)

# %% [markdown]
# 3. ★★ *(10 min, 4 points: the scan's operator for decay and turn)* **Code.** Write the operator of the scan for one
#    pair, with $z$ a complex number: `first` and `second` are triples $(\gamma, \theta, z)$, and folding them from the
#    left must give the state in the last place.

# %%
my_operator = None  # exercise 3: a function of (first, second) that returns a triple
check("04.3", my_operator)

# %% [markdown]
# 4. ★★ *(10 min, 4 points: that the norm's theorem needs white input)* **Break the hypothesis.** A head has
#    $\gamma = 0.99$, $\theta = 0.7$ and $B = I$. Give inputs of length $\sqrt 2$ (so their squared length is that of
#    white input in two dimensions) that bring $\|x_t\|^2$ above 190.

# %%
my_input = None  # exercise 4: a function of t = 0, 1, 2, ... that returns two numbers
check("04.4", my_input)

# %% [markdown]
# 5. ★★ *(10 min, 4 points: a constant norm with a decay that depends on time)* Let the decay depend on time,
#    $x_t = \gamma_t A_t x_{t-1} + \xi_t B u_t$ with $\mathrm{Tr}\,B^\top B = 1$, white $u$ and $x_0 = 0$. Which $\xi_t$
#    make $\mathbb{E}\|x_t\|^2 = 1$ for all $t \ge 1$?

# %%
# exercise 5: a function of the list of gamma_1 ... gamma_T that returns xi_1 ... xi_T
my_scales = None
check("04.5", my_scales)


# %% [markdown]
# 6. ★ *(5 min, 3 points: that a rotation has more than one logarithm)* **A proof step.** Which rotations of the plane
#    are $\exp(S)$ for more than one skew $S$? And why has no real $S$, skew or not, $\det\exp(S) = -1$?
# 7. ★★ *(15 min, 4 points: how far P is redundant)* **A proof step.** A bidirectional layer shares $P$, $\Theta$ and
#    $B$ between its directions and has a $C$ for each. Show that $P$ can be absorbed here too. And in a network that
#    shares $P$ between two layers with different $B$?
# 8. ★ *(5 min, 3 points: what rounding does to a norm that is kept)* **Predict.** Choose before you run. $\cos 1$ and
#    $\sin 1$ are rounded to bfloat16 (8 binary digits), and this rotation is applied 1,000 times, without further
#    rounding. A vector of length 1: how long is it afterwards, to the nearest power of ten?

# %%
def rounded_rotation():
    turn = torch.tensor([math.cos(1), math.sin(1)], dtype=torch.float64)
    cosine, sine = turn.bfloat16().tolist()
    rotation = np.array([[cosine, -sine], [sine, cosine]])
    length = float(np.linalg.norm(np.linalg.matrix_power(rotation, 1000)[:, 0]))
    each = f"each step multiplies it by {math.hypot(cosine, sine):.5f}"
    return 10.0 ** round(math.log10(length)), f"its length is {length:.3g}: {each}"


predict("04.8", rounded_rotation)

# %% [markdown]
# <details><summary>Hints</summary>
#
# 1: put it in. 2: at 90° the angle's cosine is 0. 3: "first turn and shrink by both, then add". 4: what does the
# state do between two inputs? 5: what must $\xi_1$ be? 6: what does turning by 360° do? 7: section 3, twice.
# 8: a rounded number is off by up to one part in 512.
#
# </details>
#
# <details><summary>Solutions</summary>
#
# **1.** 1, for any $\gamma$ and trace: $\alpha^2(\gamma^2 \cdot 4 + \mathrm{Tr})$ with $\alpha^2 = 1/(4\gamma^2 +
# \mathrm{Tr})$.
#
# **2.** Far below: $(1 - r^2)/(1 + r^2)$ with $r = 0.9801$, about 0.020. After two steps the state has turned by
# 180°, and the input, which has hardly changed, takes away what it gave.
#
# **3.** `lambda a, b: (a[0] * b[0], a[1] + b[1], b[0] * np.exp(1j * b[1]) * a[2] + b[2])`.
#
# **4.** Turn with the state: $u_t = \sqrt 2\,(\cos 0.7t,\ \sin 0.7t)$. Then every input arrives in the direction of
# the state, and lengths add up to $\sqrt2\,\xi/(1 - \gamma)$, with $\xi^2 = (1 - \gamma^2)/2$: squared, $(1 +
# \gamma)/(1 - \gamma) = 199$.
#
# **5.** $\xi_1 = 1$, and $\xi_t = \sqrt{1 - \gamma_t^2}$ later: from $s_t = \gamma_t^2 s_{t-1} + \xi_t^2$. Nothing
# else is needed, so such a layer may choose $\gamma_t$ by its input's position, and its rotation too.
#
# **6.** All of them: $S$ and $S$ plus a turn by 360° have the same exponential. And $\det\exp(S) =
# \exp(\mathrm{Tr}\,S) > 0$.
#
# **7.** Both directions have the kernel $C' P\Theta^k P^\top B$, each with its own $C'$; put $P^\top B$ for $B$ and
# $C'P$ for both. With two layers: each has its own $B$ and $C$, so each absorbs $P$ by itself, and nothing is shared
# any more.
#
# **8.** About 0.13. Rounded, $\cos^2 + \sin^2$ is 0.996, so each step multiplies the length by 0.998. At other angles the
# sum is above 1 and the vector grows. A rotation keeps the norm only as well as its numbers are stored.
#
# </details>
