# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 02 · The block-diagonal LRNN
#
# A network whose state moves by nothing but matrix products learns to add modulo 5, from strings of 40 digits. Press play and watch
# the last panel. The dashed line is the same network with its matrices rounded to 0 and 1. Once it is perfect it
# stays so, while the network itself loses the far positions again:

# %% jupyter={"source_hidden": true} tags=["hide-input", "nbval-ignore-output"]
import itertools
from fractions import Fraction

import numpy as np
import sympy as sp
import torch

import lrnnbook
import lrnnlab
from lrnnbook import show
from lrnnbook.content.chapters import ch02
from lrnnbook.content.exercises import check, guess, hint, mine, solution
from lrnnbook.content.show import interactive
from lrnnbook.content.show.training_figures import accuracy_by_length
from lrnnlab import models
from lrnnlab.training import rng
from lrnnlab.verification.heads import head_tables, heads_machine

lrnnbook.needs("0.1")
film_widget = ch02.film_widget()
film_widget

# %% [markdown]
# The first panel has the network's eight matrices (*blocks*) for one digit. The second has 60 strings: a point's colour is the
# right answer, and its place is the network's, close to a corner if it is sure. *Rounded*, or **snapped**, means: a 1 at the largest
# entry of each column, 0 elsewhere.
#
# **How can rounding make a network better?** And can a *linear* recurrence learn a rule from short strings and keep it at every
# length? Paper 000 (Fan, Chi and Rudnicky, 2024) says yes, if the matrix depends on the input and is not diagonal. In this
# chapter you build that network from nothing: five short functions of your own (`columns`, `scan`, `training_step`, `snap`, `search`), from
# raw numbers to a proof about every string. The cells between them run on your functions (on the package's, until yours are right), and so do later chapters.
#
# *You need:* matrices, norms, a little of how networks are trained. *It takes* about 50 min to read and 1 h 45 min for the exercises, and a minute of computing on
# two cores.

# %% [markdown]
# ## 1 A column says where a state goes
#
# > The paper's Eq. 5: $x_k = A_k x_{k-1} + B u_k$, where $A_k = g(u_k)$ is block-diagonal: $h$ blocks of size
# > $b \times b$.
#
# Here $u_k$ is the vector of the $k$-th token, $x_k$ the state after it, and $g$ a small network. Each block moves its own $b$
# numbers of the state. A block with its piece of the state is called a **head**. ($h$ and $b$ are the paper's
# sizes here, and not the readout and the added vector of chapter 00.)
#
# Read a block by its **columns**. If the state is the $j$-th basis vector, the next one is column $j$, which says *where state $j$
# goes*. If every column is a basis vector, the block is a finite automaton with $b$ states. That is the whole idea, and it is exact.
# Here is one head that adds modulo 5, on 10,000 digits, with no training at all:

# %%
# on digit v, state j goes to (j + v) mod 5
A = np.stack([np.roll(np.eye(5), v, axis=0) for v in range(5)])
digits = np.random.default_rng(0).integers(5, size=10_000)
x, states = np.eye(5)[0], []
for v in digits:
    x = A[v] @ x
    states.append(x.argmax())
print(A[2].astype(int), "is the block of digit 2")
print("wrong answers among 10,000:", (states != digits.cumsum() % 5).sum())

# %% [markdown]
# > **Claim.** For every finite automaton there are blocks with which the recurrence is right on every string: column
# > $j$ of $A_k$ is the basis vector of the state to which the token leads state $j$, there is no input term ($B = 0$), and
# > the readout names the answer of the state.
#
# *Proof*, by induction on the position. The start is the basis vector of the first state. If the state is the $j$-th basis vector
# before a token, the block times it is column $j$, the basis vector of the next state. And the readout has one answer for each basis
# vector. $\blacksquare$
#
# *The folded cell checks, for Sum(5), the start, all 25 moves and all five answers: every case there is. The next one breaks the
# hypothesis: spread a hundredth of each column evenly over all states, and step 2 fails.*

# %% jupyter={"source_hidden": true} tags=["hide-input", "proof-one_hot"]
task = lrnnlab.task("sum", 5)
exact = models.exact_model(task.machine)
basis = np.eye(5, dtype=int)
start = exact.layers[0].x0[0].int().numpy()
assert (start == basis[task.machine.initial]).all(), "Claim, step 1: the start"
A_of = exact.layers[0].transition(exact.symbol_inputs())[0][:, 0].int().numpy()  # (tokens, to, from)
reached = {(v, j): A_of[v] @ basis[j] for v in range(5) for j in range(5)}
assert all((x == basis[(j + v) % 5]).all() for (v, j), x in reached.items()), "Claim, step 2: a successor"
logits = exact.head(exact.final_norm(torch.eye(5)))
assert logits.argmax(1).tolist() == [0, 1, 2, 3, 4], "Claim, step 3: the readout"
print(f"moves checked: {len(reached)}; answers in the five states:", *logits.argmax(1).tolist())

# %% jupyter={"source_hidden": true} tags=["hide-input", "proof-one_hot"]
with show.expect_failure("Claim, step 2"):
    soft = 0.99 * A_of + 0.002
    reached = {(v, j): soft[v] @ basis[j] for v in range(5) for j in range(5)}
    assert all((x == basis[(j + v) % 5]).all() for (v, j), x in reached.items()), "Claim, step 2: a successor"

# %% [markdown]
# **Exercise 1** ★ *(10 min, 4 points: to write a machine as blocks)* **Code.** `goes[token][j]` is the
# state to which a token sends state $j$ of a machine with $b$ states and $V$ tokens. Write a function that makes the
# blocks from this table, an array of shape $V \times b \times b$.

# %%
my_blocks = None  # exercise 1: a function of goes, such as [[0, 1], [1, 0]]
check("02.1", my_blocks)

# %% [markdown]
# <!-- Exercise 02.1: from notebooks/lrnnbook/content/exercises/ch02.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint</summary>
#
# Column $j$ is the target of state $j$.
#
# </details>

# %% [markdown]
# So such a network *exists*. Can training *find* it? Gradients do not move along basis vectors. So we train raw numbers, one block of them for
# each token and head, and turn every column into a probability distribution: state $j$ goes to state $i$ *with some weight*.
#
# **Exercise 2** ★ *(5 min, 4 points: to put a softmax along columns)* **Build the columns.** `raw` is a torch tensor
# $V \times h \times b \times b$: token, head, row (where to), column (where from). Return blocks of the same shape whose columns
# are probability distributions, by softmax. Entries as large as 1,000 must do no harm, and gradients must flow.

# %%
# %%build columns
import torch


def columns(raw):
    raise NotImplementedError  # your lines


# %% [markdown]
# <!-- Exercise 02.2: from notebooks/lrnnbook/content/exercises/ch02.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint 1</summary>
#
# The second to last index of `raw` is the row: where a state goes to. A column is what lies along it.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# In floats $e^{1000}$ is infinite. Softmax does not change when a number is subtracted from all entries of a column; torch's own
# `softmax` does that for you.
#
# </details>

# %% [markdown]
# ## 2 Train it
#
# The network is two equations and a readout. For a string of tokens $v_1 v_2 \dots$, in each head,
#
# $$A_v = \mathrm{columns}(\gamma\, R_v), \qquad x_t = A_{v_t}\, x_{t-1}, \qquad y_t = W\, \mathrm{LayerNorm}(x_t) + c,$$
#
# where $R_v$ are the raw numbers, $x_0$ is the first basis vector of every head, and $\gamma$ (the *gain*) is 4. With five
# tokens the paper's $g$ can say no more than five sets of blocks, so we train those themselves. There is no input term.
# (We write $t$ for the paper's $k$.)
#
# **Exercise 3** ★ *(10 min, 4 points: to run a recurrence of heads)* **Build the scan.** Read a batch of strings:
# `A` are the blocks of exercise 2, `tokens` is $B \times T$, and `x0` is $h \times b$, the state that every string starts from. Return
# the states *after* each token, $B \times T \times h \times b$. One loop over positions is enough; training calls it 400 times,
# so do not loop over strings.

# %%
# %%build scan
import torch


def scan(A, tokens, x0):
    raise NotImplementedError  # your lines


# %% [markdown]
# <!-- Exercise 02.3: from notebooks/lrnnbook/content/exercises/ch02.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint 1</summary>
#
# `A[tokens[:, t]]` are the blocks of all strings at position `t`, $(B, h, b, b)$; with `x[..., None]` a state is
# $(B, h, b, 1)$.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# Begin with `x = x0.expand(len(tokens), *x0.shape)`. First the block, then keep the state: the first one you return is after
# the first token.
#
# </details>

# %% [markdown]
# The rest of the model is a few lines of plain PyTorch around your two functions:

# %%
columns, scan = mine("columns"), mine("scan")


class BlockNet(torch.nn.Module):
    def __init__(self, V=5, h=8, b=8, gain=4.0):
        super().__init__()
        self.gain, self.raw = gain, torch.nn.Parameter(torch.randn(V, h, b, b))
        self.register_buffer("x0", torch.eye(b)[0].repeat(h, 1))  # state 0
        self.norm = torch.nn.LayerNorm(h * b)
        self.linear = torch.nn.Linear(h * b, V)

    def blocks(self):
        return columns(self.gain * self.raw)

    def readout(self, x):  # (..., h, b) -> (..., V)
        return self.linear(self.norm(x.flatten(-2)))

    def forward(self, tokens, A=None):  # with other blocks, if they are given
        A = self.blocks() if A is None else A
        return self.readout(scan(A, tokens, self.x0))


# %% [markdown]
# **Exercise 4** ★★ *(15 min, 4 points: to write a training step)* **Build the training step.** `net(tokens)` gives logits,
# $B \times T \times C$ ($C$ answers), and `answers` is $B \times T$. Make one step against the gradient of the mean cross-entropy over all positions,
# with the length of the whole gradient clipped at 1. Return the loss of this batch, before the step, as a float.

# %%
# %%build training_step
import torch


def training_step(net, optimiser, tokens, answers):
    raise NotImplementedError  # your lines


# %% [markdown]
# <!-- Exercise 02.4: from notebooks/lrnnbook/content/exercises/ch02.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint 1</summary>
#
# `torch.nn.functional.cross_entropy` takes logits $(N, C)$ and answers $(N)$: flatten batch and positions into one.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# Five lines after the loss: clear the old gradients, `backward`, clip, `step`, and return `loss.item()`.
#
# </details>

# %% [markdown]
# Now train it, three times: with *weight decay* 1, which pulls all weights towards 0 at every step, and twice without it.

# %% tags=["varies", "nbval-ignore-output"]
training_step = mine("training_step")


def train(weight_decay, seed, steps=400):
    torch.manual_seed(seed)
    net = BlockNet()
    optimiser = torch.optim.AdamW(net.parameters(), 1e-2, weight_decay=weight_decay)
    for step in range(steps):
        tokens = torch.randint(5, (64, 40))
        loss = training_step(net, optimiser, tokens, tokens.cumsum(1) % 5)
    print(f"decay {weight_decay}, seed {seed}: the last loss is {loss:.4f}")
    return net


net = train(weight_decay=1, seed=0)
nets = {"decay 1": net, "decay 0": train(0, seed=0)}
nets["decay 0, seed 2"] = train(0, seed=2)

# %% [markdown]
# Every net has seen 400 batches of 64 strings of 40 digits. Now each of them reads 256 fresh strings of 500 digits:

# %% tags=["varies", "nbval-ignore-output"]
fresh = torch.randint(5, (256, 500))


@torch.no_grad()
def accuracy(net, A=None, strings=fresh):  # at each position
    right = net(strings, A).argmax(-1) == strings.cumsum(1) % 5
    return right.float().mean(0)


for name, one in nets.items():
    right = accuracy(one)
    print(name, *(f"{right[t - 1]:.0%} at {t}" for t in (40, 100, 200, 500)), sep="  ")

# %% jupyter={"source_hidden": true} tags=["hide-input", "varies", "nbval-ignore-output"]
show.figure(
    accuracy_by_length({name: accuracy(one) for name, one in nets.items()}, train_length=40, chance=0.2, majority=0.2, window=5),
    alt="Accuracy by position from 1 to 500 of the three nets: at 100 percent to position 40 and some way beyond, then down to "
        "the level of guessing.",
    caption="Trained just now. What to see: nobody can tell these nets apart at length 40, where they were trained, and none of them "
            "can add at length 500.",
)  # fmt: skip

# %% [markdown]
# All lose. Is what they learned wrong, or only blurred? Let the first net read a string token by token. On the left, a block times the
# state before it is the state after it. On the right is the product of all blocks so far; the head starts in state 0, so its
# state is column 0 of the product. The panel opens on the head that the answer listens to most.
#
# *Try:* follow the dark cell of the state through positions 1 to 12. Then go to 500: all columns of the product are nearly alike, so the
# head no longer knows where it started. Press *rounded*: they differ again.

# %% jupyter={"source_hidden": true} tags=["varies", "hide-input", "nbval-ignore-output"]
loud = int((net.linear.weight * net.norm.weight).detach().unflatten(1, (8, 8)).std(2).amax(0).argmax())
token_widget = ch02.token_widget(
    {"soft": net.blocks().detach().numpy(), "rounded": np.eye(8)[net.blocks().argmax(2)].swapaxes(2, 3)},
    lambda x: net.readout(torch.from_numpy(x).float()).argmax(-1).numpy(), lrnnlab.task("sum", 5), "0324", loud,
)  # fmt: skip
token_widget

# %% [markdown]
# ## 3 What keeps it from exploding
#
# A long product of blocks can fail in two ways: it explodes, or it forgets. The paper guards against the first.
#
# > Eq. 6: every column $v$ of every block has $\|v\|_p \le 1$, obtained by $v' = v / \max(1, \|v\|_p)$.
#
# "In other words, we can stabilize Eq. (5) by selecting a sufficiently small $p$," it says, and: "However, a small $p$ restricts a
# model's expressiveness." It takes $p = 1.2$. Is that small enough? Move $p$ and $b$, and watch how large a product can get: of the
# worst blocks that Eq. 6 allows, and of random blocks (*gaussian*: normal entries; *signs*: only their signs; *positive*: without their signs; *softmax* and *permutation* columns).

# %% jupyter={"source_hidden": true} tags=["hide-input", "nbval-ignore-output"]
growth_widget = ch02.growth_widget()
growth_widget

# %% [markdown]
# At $p = 1$ the worst case is flat for every $b$. At any larger $p$ it rises. Here is the block whose $8 \times 8$ entries are all equal:

# %%
for p in (1, 1.2):
    worst = np.full((8, 8), 8 ** (-1 / p))  # every column has p-norm 1
    for k in (1, 2, 256):
        size = np.linalg.matrix_power(worst, k).sum(0).max()
        print(f"p = {p}: the columns of power {k} sum to {size:.3g}")

# %% [markdown]
# Why is $p = 1$ special? Let $|A|$ be the matrix of absolute values, and $\mathbf{1}^\top |A|$ the row of the columns'
# 1-norms. Inequalities between rows or matrices hold entry by entry.
#
# > **Eq. 7.** If the columns of $A$ and $A'$ have 1-norm at most 1, so have those of $A'A$:
# > $\mathbf 1^\top |A'A| \le \mathbf 1^\top|A'||A| \le \mathbf 1^\top|A| \le \mathbf 1^\top$.
#
# *Proof.* (1) An entry of $A'A$ is a sum of products; the triangle inequality. (2) Write $1 - d_j$ for the sum of column $j$ of $|A'|$. Then in
# entry $k$ the left falls short of the right by $\sum_j d_j |A_{jk}|$, and no term is negative. (3) Is the hypothesis on $A$. $\blacksquare$
#
# *The folded cell checks (1) for both signs of two terms, (2) for every block of size 3 (**all cases**, in symbols), and
# the chain on 200 random pairs of blocks of fractions (**sample**). The next one breaks the hypothesis twice: with columns a
# tenth too long, and with $p = 1.2$.*

# %% jupyter={"source_hidden": true} tags=["hide-input", "proof-eq_7"]
r, s = sp.symbols("r s", nonnegative=True)  # the sizes of u and v
gaps = [sp.expand((r + s) ** 2 - (a * r + c * s) ** 2) for a in (1, -1) for c in (1, -1)]
assert all(gap.is_nonnegative for gap in gaps), "Eq. 7, step 1: the triangle inequality"
show.math(r"(|u| + |v|)^2 - (u + v)^2 \text{ for the four pairs of signs:} \quad", gaps)

n = 3
# size: |A|
d, size = sp.symbols("d:3", nonnegative=True), sp.Matrix(n, n, sp.symbols("a:9", nonnegative=True))
left = sp.Matrix(n, n, lambda i, j: sp.Symbol(f"c{i}{j}"))  # |A'|
# its columns sum to 1 - d_j
left[0, :] = sp.Matrix([[1 - d[j] - left[1, j] - left[2, j] for j in range(n)]])
missing = sp.expand(sp.ones(1, n) * size - sp.ones(1, n) * left * size)
assert all(entry == sum(d[j] * size[j, k] for j in range(n)) and entry.is_nonnegative
           for k, entry in enumerate(missing)), "Eq. 7, step 2: what is missing"  # fmt: skip
show.math(r"\text{missing in the first column:} \quad", missing[0])

def block_of_fractions(draw, b, size=1):
    raw = draw.integers(-9, 10, (b, b)) * Fraction(1)
    return size * raw / np.maximum(abs(raw).sum(0), 1)  # 1-norms of columns: ``size``, or 0


draw = np.random.default_rng(0)
for _ in range(200):
    A2, A1 = block_of_fractions(draw, 4), block_of_fractions(draw, 4)
    chain = abs(A2 @ A1).sum(0), (abs(A2) @ abs(A1)).sum(0), abs(A1).sum(0), np.ones(4, int)
    assert all((low <= high).all() for low, high in itertools.pairwise(chain)), "Eq. 7, step 3: the chain"
print("the chain of inequalities holds for 200 random pairs; the last:", *map(str, chain[0]))

# %% jupyter={"source_hidden": true} tags=["hide-input", "proof-eq_7"]
with show.expect_failure("Eq. 7, step 3"):
    draw, longer = np.random.default_rng(1), Fraction(11, 10)
    A2, A1 = block_of_fractions(draw, 4, longer), block_of_fractions(draw, 4, longer)
    chain = abs(A2 @ A1).sum(0), (abs(A2) @ abs(A1)).sum(0), abs(A1).sum(0), np.ones(4, int)
    assert all((low <= high).all() for low, high in itertools.pairwise(chain)), "Eq. 7, step 3: the chain"

with show.expect_failure("Eq. 7, step 3"):
    A1 = np.full((8, 8), 8 ** (-1 / 1.2))
    longest = [np.linalg.norm(np.linalg.matrix_power(A1, k), 1.2, axis=0).max() for k in (1, 2)]
    print(f"p = 1.2: the longest column of A has p-norm {longest[0]:.4f}, of A^2 {longest[1]:.4f}")
    assert longest[0] < 1 + 1e-12 and longest[1] < 1 + 1e-12, "Eq. 7, step 3: the square has a column longer than 1"

# %% [markdown]
# **The corrected statement.** For $p \ge 1$ and $b \ge 2$ the columns of a product of $k$ blocks have 1-norm at most
# $b^{k(1-1/p)}$, and the block of equal entries attains it. At $p = 1.2$ and $b = 8$ that is a factor of $\sqrt2$ a step, enough to
# leave float32 after 256 steps. Proof: [02a](deeper/02a_stability.ipynb). [02d](deeper/02d_column_rules.ipynb) shows the price of $p = 1$: below
# $p = 2$ rotations are hard to build.
#
# Your columns have 1-norm 1. So your net cannot explode, and whatever went wrong beyond position 40 was something else.
#
# **Exercise 5** ★★ *(15 min, 4 points: to bound eigenvalues by a norm)* **Find the wrong step.** *Claim: a block whose columns
# have 2-norm at most 1 has no eigenvalue outside the unit circle.* Let $Av = \lambda v$ with $v \ne 0$, and $A_j$ be the columns.
#
# 1. $|\lambda|\,\|v\|_2 = \|Av\|_2$.
# 2. $Av = \sum_j v_j A_j$, so $\|Av\|_2 \le \sum_j |v_j|\,\|A_j\|_2 \le \sum_j |v_j|$ by the triangle inequality.
# 3. And $\sum_j |v_j| \le \|v\|_2$.
# 4. So $|\lambda|\,\|v\|_2 \le \|v\|_2$, and $|\lambda| \le 1$.
#
# Which step does not follow, and which vector $v$ shows it? Then change the norm so that all four steps are right, and say for which $p$
# Eq. 6 allows blocks with an eigenvalue outside.

# %%
my_step = None  # exercise 5: the step, then the vector, for example (1, [1, 0])
check("02.5", my_step)

# %% [markdown]
# <!-- Exercise 02.5: from notebooks/lrnnbook/content/exercises/ch02.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint 1</summary>
#
# Which of $\sum_j |v_j|$ and $\|v\|_2$ is the 1-norm of $v$? Compare the two for a vector of two entries.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# For the second question: what is the eigenvalue of the block of equal entries above, at $p = 1.2$?
#
# </details>

# %% [markdown]
# **Exercise 6** ★ *(5 min, 3 points: to break a hypothesis)* **Break the hypothesis.** Give a $2 \times
# 2$ matrix whose columns have 2-norm at most 1 and whose 100th power has an entry of at least $10^{10}$.

# %%
my_matrix = None  # exercise 6: two rows of two numbers
check("02.6", my_matrix)

# %% [markdown]
# <!-- Exercise 02.6: from notebooks/lrnnbook/content/exercises/ch02.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint</summary>
#
# How long is a column of two equal entries, in 1-norm, if its 2-norm is 1?
#
# </details>

# %% [markdown]
# ## 4 Soft columns forget
#
# A soft column sends a little of its state to places where it should not be. Would sharper columns last longer? Turn up the gain of the
# first net, without training it again, and ask for 3,000 digits:

# %% tags=["varies", "nbval-ignore-output"]
longer, curves = torch.randint(5, (64, 3000)), {}
for gain in (4, 5, 6, 7):
    net.gain = gain
    curves[gain] = accuracy(net, strings=longer)
    bad = (curves[gain] < 0.9).nonzero().flatten().tolist()
    print(f"gain {gain}: below 90 % at", bad[0] + 1 if bad else "no position")
net.gain = 4

# %% jupyter={"source_hidden": true} tags=["hide-input", "varies", "nbval-ignore-output"]
show.figure(
    ch02.bends(curves),
    alt="Accuracy by position from 10 to 3,000 on a logarithmic axis, for gains 4 to 7: four falls of the same shape, each "
        "farther to the right.",
    caption="What to see: the same net with sharper columns. Each bends, and each step of the gain puts the bend about three times farther "
            "out. What a column leaks falls by a factor of about e with each unit of gain (the largest raw number of a column in use "
            "leads by about 1). Sharper columns forget later, but they do forget.",
)  # fmt: skip

# %% [markdown]
# How does a leak add up? Take a block of three states, 1 to 3. The distributions over three states fill a triangle, and a column of the block is a
# point of it. Drag the columns (or go to one with Tab and press the arrow keys), and see what every state becomes when the same
# token comes again and again.
#
# *Try:* the soft counter forgets where it began. Drag each column into the corner of its next state: how near must it come for float32 to tell the
# states apart after 1,000 steps? Then let two columns meet.

# %% jupyter={"source_hidden": true} tags=["hide-input", "nbval-ignore-output"]
simplex_widget = ch02.simplex_widget("soft counter")
simplex_widget


# %% [markdown]
# **Exercise 7** ★ *(5 min, 3 points: to tell a kept norm from a kept memory)* **Predict.** Choose before you run. Blocks of size 8
# whose columns are softmax of random normal numbers keep the 1-norm of a state without negative entries. Two states start at
# different basis vectors, so they are 2 apart in 1-norm. At each step a new block is drawn and applied to both. After
# how many steps are they less than a millionth apart?

# %% tags=["nbval-ignore-output"]
def forgetting():
    draw, states = rng(8, "exercise"), torch.eye(8)[:, :2].double()
    names = {15: "after about 15 steps", 150: "after about 150", 1500: "after about 1,500"}
    for step in range(1, 5001):
        states = torch.randn(8, 8, generator=draw).double().softmax(0) @ states
        apart = float((states[:, 0] - states[:, 1]).abs().sum())
        if apart < 1e-6:
            nearest = min(names, key=lambda count: abs(np.log(count / step)))
            return names[nearest], f"after step {step} they are {apart:.1e} apart"
    return "never: the norm is kept", f"after {step} steps they are {apart:.1e} apart"


guess("02.7", forgetting)

# %% [markdown]
# <!-- Exercise 02.7: from notebooks/lrnnbook/content/exercises/ch02.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint</summary>
#
# The norm of a state is kept. Is the norm of a difference?
#
# </details>

# %% [markdown]
# Two theorems say how long a soft network lasts ([02b](deeper/02b_fading.ipynb)). One guarantees that it is right on every
# string up to a length, computed from its columns. The other says that a soft head cannot count for ever: on $111\dots$ its
# state converges.
#
# The network of the film lasts to position 500 because its training went on, with noise on the states and a penalty on
# soft columns, until its columns were nearly *pure*, that is, one-hot ([02e](deeper/02e_train_and_verify_by_hand.ipynb)). It never saw a longer string
# either, and all five recorded seeds last so. But *nearly* is not *for ever*.
#
# ## 5 Snap it and prove it
#
# As the gain rises, a column tends to a single 1. So go to the limit at once.
#
# **Exercise 8** ★ *(10 min, 3 points: to read an automaton off a network)* **Build the snap.** Given blocks `A`,
# $V \times h \times b \times b$, return the table `goes`, $V \times h \times b$, of whole numbers: `goes[v, k, s]` is the row of the largest
# entry of column `s`, where head `k` goes from state `s` on token `v`.

# %%
# %%build snap
import torch


def snap(A):
    raise NotImplementedError  # your lines


# %% [markdown]
# <!-- Exercise 02.8: from notebooks/lrnnbook/content/exercises/ch02.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint 1</summary>
#
# Along which index do the entries of a column lie?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# `A.max` says how large the largest entry is. Which method says where it is?
#
# </details>

# %% tags=["varies", "nbval-ignore-output"]
snap = mine("snap")


def table(net):
    return torch.as_tensor(snap(net.blocks().detach()))


for name, one in nets.items():
    snapped = torch.nn.functional.one_hot(table(one), 8).mT.float()
    soft, hard = accuracy(one)[499], accuracy(one, snapped)[499]
    print(f"{name}: at position 500 soft {soft:.1%}, snapped {hard:.1%}")

# %% [markdown]
# Look at the first line. No training, only rounding, from guessing to all 256 strings. The net had learned to add, but its soft columns
# could not hold on to it. The other two may have learned less: without weight decay, nothing makes a head that is not needed keep
# quiet.
#
# But 256 strings are not all strings. A snapped net is a finite automaton, so we can ask for all of them. What decides everything that can
# follow is the **pair** (states of the heads, state of the machine that says what is right), and there are finitely many pairs.
#
# **Exercise 9** ★★ *(30 min, 5 points: to prove something of all strings by a search)* **Build the search.** `goes` is the table of
# exercise 8, and all heads start in state 0. `answer` is given a tuple, the states of all heads, and returns what the snapped net
# answers there. `machine` says what is right: `machine.initial`, `machine.transitions[token, q]`, `machine.outputs[q]`.
# `goes` is a torch tensor: make its entries `int` before you put them into a set.
# Return a shortest tuple of tokens after which the two differ, or `None` if there is none. Then the network is proved right.

# %%
# %%build search
from collections import deque


def search(goes, answer, machine):
    raise NotImplementedError  # your lines


# %% [markdown]
# <!-- Exercise 02.9: from notebooks/lrnnbook/content/exercises/ch02.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint 1</summary>
#
# Keep a queue of what is still to be extended, shortest strings first: each entry is a pair of states and the string that led
# there. It begins with one entry, `queue = deque([(((0,) * goes.shape[1], machine.initial), ())])`.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# One move: from the pair `(heads, q)` token `v` leads to `tuple(int(goes[v, k, s]) for k, s in enumerate(heads))` and
# `machine.transitions[v, q]`. Compare the two answers there at once.
#
# </details>
#
# <details><summary>Hint 3</summary>
#
# A pair that you have seen before leads to nothing new, so keep a set of the pairs and append only what is not in it. What does
# it mean when the queue is empty?
#
# </details>

# %% [markdown]
# Search the three nets. We count the joint states of the heads that your search asks about, and stop it after 20,000:

# %% tags=["varies", "nbval-ignore-output"]
search, machine = mine("search"), lrnnlab.task("sum", 5).specification


def searched(net, heads, answer, most=20_000):
    asked = set()

    def counted(states):
        asked.add(tuple(map(int, states)))
        if len(asked) > most:
            raise OverflowError("too many joint states")
        return answer(states)

    try:
        word = search(table(net)[:, heads], counted, machine)
    except OverflowError:
        return "gave up", len(asked)
    if word is None:
        return "right on every string", len(asked)
    return "wrong on " + "".join(str(int(v)) for v in word), len(asked)


for name, one in nets.items():
    answer = lambda states: int(one.readout(torch.eye(8)[list(states)]).argmax())
    found, count = searched(one, list(range(8)), answer)
    print(f"{name}: {found}, after {count:,} joint states")

# %% [markdown]
# A line with digits names a string that this net, snapped, gets wrong, and there is no shorter one. In our run the third line is the lesson
# of the chapter: that net had answered all 256 strings of 500 digits, and here are nine digits that it gets wrong. **A sample said
# 100 %, and a search names the string.**
#
# For the first net the search gave up. Eight heads of eight states have up to $8^8$ joint states, about 17 million. But the answer may not
# need all heads, and a proof can leave the others out, because of this:
#
# > **Theorem 1.** If every head's state is a basis vector, LayerNorm subtracts and divides by
# > numbers that do not depend on *which* basis vectors they are. With a linear readout every head adds its own term
# > to each logit, its **vote**, whatever the other heads do.
#
# *Proof.* A state of $h$ basis vectors of size $b$ has $h$ ones and otherwise zeros. So its mean is $1/b$ and its variance
# $1/b - 1/b^2$, always: one number $\sigma$ divides all states, and a logit is a constant plus a sum over the heads. $\blacksquare$
#
# *The folded cell checks mean and variance for all $h$ and $b$ (in symbols), and in all 81 states of four heads of size 3. There votes make
# every logit, for all weights, and for weights drawn at random (**sample**) two loud heads settle some answers. The next cell
# breaks the hypothesis: with soft columns no single $\sigma$ fits.*

# %% jupyter={"source_hidden": true} tags=["hide-input", "proof-votes"]
h, b, C = 4, 3, 2
heads, size = sp.symbols("h b", positive=True)
mean = heads / (heads * size)  # h ones among h b numbers; squared they are h ones again
assert sp.simplify(mean - mean**2 - (1 / size - 1 / size**2)) == 0, "Theorem 1, step 1: mean and variance"
tuples = list(itertools.product(range(b), repeat=h))
joint = {t: np.concatenate([np.eye(b, dtype=int)[:, s] for s in t]) * Fraction(1) for t in tuples}
means = {x.mean() for x in joint.values()}
variances = {(x * x).mean() - x.mean() ** 2 for x in joint.values()}
assert means == {Fraction(1, b)} and variances == {Fraction(1, b) - Fraction(1, b * b)}, (
    "Theorem 1, step 1: mean and variance"
)
print("means:", *means, " variances:", *variances)

sigma = sp.sqrt(sp.Rational(1, b) - sp.Rational(1, b * b))
first = (0,) * h


def logits_of(w):  # times sigma, in each state; w: (classes, h b)
    return {t: w @ (x - Fraction(1, b)) for t, x in joint.items()}


def vote(logit, k, s):  # of head k: it is in state s and not in state 0
    return logit[first[:k] + (s,) + first[k + 1 :]] - logit[first]


free = logits_of(np.array(sp.symbols(f"w:{h * b}")))  # one class: the others are alike
summed = {t: free[first] + sum(vote(free, k, s) for k, s in enumerate(t)) for t in tuples}
assert all(sp.expand(summed[t] - free[t]) == 0 for t in tuples), "Theorem 1, step 2: a sum of votes"

w = np.random.default_rng(0).integers(-9, 10, (C, h, b)) * Fraction(1)
w[:, 2:] /= 10  # heads 2 and 3 have small votes
logit = logits_of(w.reshape(C, -1))
lead = lambda k, s: vote(logit, k, s) @ (1, -1)  # noqa: E731  what it adds to the lead of class 0
worst = sum(min(lead(k, s) for s in range(b)) for k in (2, 3))
safe = [t for t in tuples if logit[first] @ (1, -1) + lead(0, t[0]) + lead(1, t[1]) + worst > 0]
assert safe and all(logit[t][0] > logit[t][1] for t in safe), (
    "Theorem 1, step 3: the others vote as badly as they can"
)
print(f"{len(safe)} of {len(tuples)} states are decided by two heads of four")
show.math(rf"\text{{{len(tuples)} states: constant and votes give every logit; }} 1 / \sigma =", 1 / sigma)

# %% jupyter={"source_hidden": true} tags=["hide-input", "proof-votes"]
with show.expect_failure("Theorem 1, step 1"):
    softened = [Fraction(9, 10) * x + Fraction(1, 30) if t[0] else x for t, x in joint.items()]
    variances = {(x * x).mean() - x.mean() ** 2 for x in softened}
    assert variances == {Fraction(1, b) - Fraction(1, b * b)}, "Theorem 1, step 1: mean and variance"


# %% [markdown]
# So read the votes off a net: put every head in state 0, move one of them, and see what the logits do.

# %% tags=["varies", "nbval-ignore-output"]
@torch.no_grad()
def votes_of(net):
    x = net.x0.repeat(8, 8, 1, 1)  # [k, s]: every head in state 0 ...
    for k in range(8):
        x[k, :, k] = torch.eye(8)  # ... but head k in state s
    constant = net.readout(net.x0).double()
    return constant, net.readout(x).double() - constant  # (head, state, class)


for name, voting in nets.items():
    votes = votes_of(voting)[1]
    most = (votes.amax(1) - votes.amin(1)).amax(1).tolist()
    print(name, *(f"{change:.2f}" for change in most), sep="  ")

# %% jupyter={"source_hidden": true} tags=["hide-input", "varies", "nbval-ignore-output"]
show.figure(
    ch02.vote_grid({name: votes_of(one)[1].numpy() for name, one in nets.items()}),
    alt="For each of three nets a heatmap for each of eight heads, answers by states, of what a state adds to each logit. With weight "
        "decay one head or a few have colour; without it a few more do, and the others have a trace.",
    caption="Orange: this state (across) of this head votes for an answer (down); purple: against it; each net on a scale of its own. "
            "What to see: with weight decay one head votes (in our run) and the others are silent. Without it every head has a say, some "
            "too faint to see here, and even a faint one can spoil an answer.",
)  # fmt: skip

# %% [markdown]
# Follow only the loudest heads, and let the others vote as badly as they can. If one answer leads even then, it *is* the answer.
# If none does, `answer` returns `None`. Then the string that your search names is only *not settled*, and we follow one head more:

# %% tags=["varies", "nbval-ignore-output"]
constant, votes = votes_of(net)
loudness = (votes.amax(1) - votes.amin(1)).amax(1)


def safe(heads):
    rest = [k for k in range(8) if k not in heads]
    lead = votes[rest, :, None] - votes[rest, :, :, None]  # [k, s, c, d]: of d
    spoil = lead.amax(1).sum(0)  # at most, of d over c, by all of the rest

    def answer(states):
        logits = constant + votes[heads, list(states)].sum(0)
        best = int(logits.argmax())
        sure = (logits[best] - logits > spoil[best]).sum() == 4  # of 4 others
        return best if sure else None

    return answer


for n in range(1, 9):
    heads = loudness.argsort(descending=True)[:n].tolist()
    found, count = searched(net, heads, safe(heads))
    print(f"heads {heads}: {found}, after {count:,} joint states")
    if found == "right on every string":
        break

# %% [markdown]
# If the last line says *right on every string*, there it is: your network, your snap, your search, and a proof about strings of every length,
# in a handful of joint states. (If it does not, train with another seed: weight decay does not always leave a net this clean.)
# The package's `verify` does the same, and bounds what floating-point errors could change. Give it the same blocks and votes:

# %% tags=["varies", "nbval-ignore-output"]
soft = models.block_net(net.blocks(), net.x0, votes.permute(2, 0, 1), constant)
copy = lrnnlab.snap(soft)
verdict = lrnnlab.verify(copy, machine)
print(verdict)

# %% [markdown]
# Same verdict, same number of joint states. (A pair more than joint states: the start, before any token, has no answer.) It is about the snapped network with these
# weights. About the soft one it says nothing, and you have seen what that does at 500.
#
# What you built is kept in the folder `mine`. `lrnnlab copy export` makes one program of it that trains and proves with torch alone.
#
# Why are so few heads enough? Look at the soft blocks:

# %% jupyter={"source_hidden": true} tags=["hide-input", "varies", "nbval-ignore-output"]
show.figure(
    ch02.transition_grid(net.blocks().detach().numpy(), list("01234"), verdict.heads or ()),
    alt="Forty heatmaps, five tokens by eight heads, of the trained net's blocks; the heads that the proof followed are ringed. "
        "They have dark cells, and most of the others are evenly pale.",
    caption="A block's columns say where from, its rows where to; ringed: what the proof followed. What to see: weight decay has flattened "
            "the heads that the loss could spare, and a flat column forgets at once. In a ringed head, token 0 leaves each state of the "
            "counter where it is. Its soft columns are states that no string leads to.",
)  # fmt: skip

# %% [markdown]
# Here is the machine in the ringed heads; a state's name is its number in the head. Press digits, here or on the keyboard. *Try:* find a
# third string that ends where 0324 does, and then go on with the same digits from both.

# %% jupyter={"source_hidden": true} tags=["hide-input", "varies", "nbval-ignore-output"]
learned = heads_machine(head_tables(copy), verdict.heads, tuple("01234"))
walk_widget = interactive.walk(learned if learned.num_states <= 12 else lrnnlab.task("sum", 5).machine, word=[0, 3, 2, 4])
walk_widget

# %% [markdown]
# **And the paper's own rules?** Columns under Eq. 6, or under the released code's rule (subtract the column's mean, divide by the
# largest norm), are no distributions, so there is nothing to snap. Trained until 500 digits came out right, four of six recorded runs
# end later, where float32 overflows ([02b](deeper/02b_fading.ipynb)). [02c](deeper/02c_modarith_and_the_table.ipynb) proves a harder task with
# three layers and 24 heads, and has the paper's whole table. [Chapter 10](10_one_ladder.ipynb) trains every rule by one recipe,
# where these blocks stay soft and fail early, and asks what can be done about it.
#
# ## What to remember
#
# 1. A block whose columns are basis vectors *is* a finite automaton, and the recurrence runs it without error at every length.
# 2. Columns of 1-norm 1 keep a product bounded (Eq. 7). At $p > 1$ it can grow by a factor of $b^{1-1/p}$ a step, and no faster.
# 3. Soft columns forget, later the sharper they are. Rounded, the same net can be right for ever.
# 4. A thousand random strings can be right where nine digits are wrong. A search settles it, and votes say which heads to follow.
#
# **Go deeper**
#
# * [02a stability](deeper/02a_stability.ipynb) (20 min): how much can a product grow for every $p$, when does float32 overflow, and what do
#   random columns do?
# * [02b fading](deeper/02b_fading.ipynb) (30 min): what ends a trained network, and how long is a soft one provably
#   right?
# * [02c ModArith and the table](deeper/02c_modarith_and_the_table.ipynb) (25 min): a harder task learned, mended and proved, and all models
#   of the paper's Table 2.
# * [02d column rules](deeper/02d_column_rules.ipynb) (30 min): where the paper and its code disagree, and what Eq. 6 forbids a block to do.
# * [02e train and verify by hand](deeper/02e_train_and_verify_by_hand.ipynb) (20 min): the package's recipes, label smoothing, and
#   what training changes inside.

# %% [markdown]
# ## Exercises
#
# You will find each exercise in its section (others are in 02a to 02e). Stuck? `hint("02.1")`. Done? Compare with `solution("02.1")`.

# %% [markdown]
# <!-- The exercises of this chapter, listed by lrnnlab book build. -->
#
# 9 exercises, 34 points, about 105 minutes:
#
# | exercise | section | difficulty | minutes | points | you will learn |
# |---|---|---|---|---|---|
# | 1 | [1 A column says where a state goes](#1-A-column-says-where-a-state-goes) | ★ | 10 | 4 | to write a machine as blocks |
# | 2 | [1 A column says where a state goes](#1-A-column-says-where-a-state-goes) | ★ | 5 | 4 | to put a softmax along columns |
# | 3 | [2 Train it](#2-Train-it) | ★ | 10 | 4 | to run a recurrence of heads |
# | 4 | [2 Train it](#2-Train-it) | ★★ | 15 | 4 | to write a training step |
# | 5 | [3 What keeps it from exploding](#3-What-keeps-it-from-exploding) | ★★ | 15 | 4 | to bound eigenvalues by a norm |
# | 6 | [3 What keeps it from exploding](#3-What-keeps-it-from-exploding) | ★ | 5 | 3 | to break a hypothesis |
# | 7 | [4 Soft columns forget](#4-Soft-columns-forget) | ★ | 5 | 3 | to tell a kept norm from a kept memory |
# | 8 | [5 Snap it and prove it](#5-Snap-it-and-prove-it) | ★ | 10 | 3 | to read an automaton off a network |
# | 9 | [5 Snap it and prove it](#5-Snap-it-and-prove-it) | ★★ | 30 | 5 | to prove something of all strings by a search |
#
# <details><summary>Solution of 02.1</summary>
#
# Put a 1 into row `goes[token][j]` of column `j`: `A[token, goes[token], range(b)] = 1` for each
# token. With rows and columns exchanged the block would say where states come from.
#
# </details>
#
# <details><summary>Solution of 02.2</summary>
#
# `return raw.softmax(-2)`, or `lifted = (raw - raw.amax(-2, keepdim=True)).exp()` and then
# `lifted / lifted.sum(-2, keepdim=True)`. Along `-1` it would be the rows that sum to 1: the mass of a state would not be kept, and a
# snapped block would say where states come from.
#
# </details>
#
# <details><summary>Solution of 02.3</summary>
#
# For each `t` take `x = (A[tokens[:, t]] @ x[..., None])[..., 0]` and append it to a list; `torch.stack(states, 1)` puts
# the positions second. A loop that writes into a tensor made beforehand, or into `x0`, breaks the gradient or the next string.
#
# </details>
#
# <details><summary>Solution of 02.4</summary>
#
# `loss = cross_entropy(net(tokens).flatten(0, 1), answers.flatten())`, then `optimiser.zero_grad()`, `loss.backward()`,
# `torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)` and `optimiser.step()`. Without `zero_grad` the second step goes along the
# sum of two gradients, and clipping before `backward` clips the gradient of the batch before.
#
# </details>
#
# <details><summary>Solution of 02.5</summary>
#
# Step 3, for example `(3, [1, 1])`: $\sum_j |v_j| = \|v\|_1 = 2$, and $\|v\|_2 = \sqrt 2$. With the 1-norm in place of the 2-norm all
# four steps are right, step 3 as an equality: if all columns have 1-norm at most 1, then $|\lambda|\,\|v\|_1 = \|Av\|_1 \le \|v\|_1$. For
# every $p > 1$ the block of equal entries has the eigenvalue $b^{1-1/p} > 1$. For $p < 1$ a column with $\|v\|_p \le 1$ has
# $\|v\|_1 \le 1$ as well, so there is none, as for $p = 1$.
#
# </details>
#
# <details><summary>Solution of 02.6</summary>
#
# All entries $1/\sqrt2$: both columns have 2-norm 1, and the eigenvalue is $\sqrt2$, so the
# entries of the 100th power are $2^{50}/2$, about $5.6 \cdot 10^{14}$. With
# $\begin{pmatrix}1&1\\1&-1\end{pmatrix}/\sqrt2$ nothing grows at all: it is a reflection.
#
# </details>
#
# <details><summary>Solution of 02.7</summary>
#
# After about 15 steps. Every column has some weight on every state, and what two columns have in
# common is the same for both states: only the rest of the distance is left, here about a third at each step.
# The entries of the difference sum to 0, so keeping the 1-norm of a state says nothing about it. A block that is to
# remember must have its columns near different corners of the simplex, which are the basis vectors.
#
# </details>
#
# <details><summary>Solution of 02.8</summary>
#
# `return A.argmax(-2)`. Rounding at one half would leave columns without any 1 where no entry has half of the mass, and
# `A.argmax(-1)` says from where each state is reached best, which is no automaton.
#
# </details>
#
# <details><summary>Solution of 02.9</summary>
#
# Start with the pair `((0,) * h, machine.initial)` and the empty string. Take pairs from the front of the queue; for each
# token form the next pair (head `k` goes from `s` to `goes[token, k, s]`), and return the string with that token if `answer` and
# `machine.outputs` differ there. If the pair is new, append it. When the queue is empty, no string is left over: `None` is a proof. To
# remember only the states of the heads, or only those of the machine, is not enough, because strings that share one of the two can
# differ in the other.
#
# </details>

# %% [markdown]
# ## Read on
#
# * T.-H. Fan, T.-C. Chi, A. Rudnicky, *Advancing Regular Language Reasoning in Linear Recurrent Neural Networks*
#   (2024), [arXiv:2309.07412](https://arxiv.org/abs/2309.07412): the paper of this chapter.
# * B. Walker and others, *Structured Linear CDEs: Maximally Expressive and Parallel-in-Time Sequence Models* (2025),
#   [arXiv:2505.17761](https://arxiv.org/abs/2505.17761): block-diagonal and other structured transitions in one theory.
# * I. Dubinin, A. Orvieto, F. Effenberger, *Improved state mixing in higher-order and block diagonal linear recurrent networks* (2026),
#   [arXiv:2602.12021](https://arxiv.org/abs/2602.12021): blocks again, chosen by the input, with rows kept in check by their 1-norm (we
#   read the abstract).
# * R. Grazzi, J. Siems and others, *Unlocking State-Tracking in Linear RNNs Through Negative Eigenvalues* (2024),
#   [arXiv:2411.12537](https://arxiv.org/abs/2411.12537): what the range of the eigenvalues decides; chapter 09 goes on from there.
# * J. Chung, H. Choi, S. J. Kim, *Rethinking State Tracking in Recurrent Models Through Error Control Dynamics* (2026),
#   [arXiv:2605.07755](https://arxiv.org/abs/2605.07755): why an affine recurrence has a finite horizon, and how to predict it; compare [02b](deeper/02b_fading.ipynb).
# * W. Merrill, J. Petty, A. Sabharwal, *The Illusion of State in State-Space Models* (2024), [arXiv:2404.08819](https://arxiv.org/abs/2404.08819): what
#   transitions that do not depend on the input cannot do.
