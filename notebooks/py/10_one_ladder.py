# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 10 · One ladder
#
# A network learned to multiply permutations of three points. On strings of 40 letters it makes no mistake. After 499 letters most of
# its answers are wrong. Below are the same weights, restarted after every fifth letter: all answers are right.

# %% jupyter={"source_hidden": true} tags=["hide-input"]
import itertools

import numpy as np
import pandas as pd
import sympy as sp
import torch
from torch.nn import functional as F

import lrnnbook
from lrnnbook import show, tables
from lrnnbook.content.chapters import ch10
from lrnnbook.content.exercises import check, guess, hint, mine, solution
from lrnnbook.content.show import interactive
from lrnnbook.content.show.widgets import explore
from lrnnbook.content.tables import ladder
from lrnnlab.automata import MooreMachine, minimise
from lrnnlab.automata.parsing import my_machine
from lrnnlab.expressivity.prediction import FAMILIES, predict
from lrnnlab.models import build
from lrnnlab.tasks import StateTracking
from lrnnlab.verification import quantise, verify
from lrnnlab.verification.quantised import read_off

lrnnbook.needs("0.1")

recorded = tables.results.runs("ladder/models_x_tasks")
EIGHT = ("flip_flop", "d_2", "evenpair", "parity", "z_5", "tomita_3", "s_3", "a_5")
FEW = ("diagonal_positive", "diagonal_complex", "deltanet", "product_2", "block_softmax", "one_hot", "elman", "lstm")
few = recorded[recorded["row"].isin(FEW) & recorded["task"].isin(EIGHT)]
tasks = {name: ladder.ladder_task(name) for name in ladder.MACHINES}

# %% jupyter={"source_hidden": true} tags=["varies", "hide-input", "nbval-ignore-output"]
opened = ladder.trained(ladder.TABLE.setting("product_2", "s_3", "live"), seed=2, progress=False)[0].net
show.figure(
    ch10.clouds(quantise(opened, tasks["s_3"], every=5), tasks["s_3"]),
    alt="Six panels of dots in six colours. Above, the net alone: six clean clouds after 39 letters, smeared after 199, mixed after "
    "499. Below, the same net restarted every 5 letters: six clean clouds each time.",
    caption="What to see: each dot is what the network remembers of one of 300 strings (drawn in two directions), its colour is the right "
    "answer. Alone, the six clouds smear into each other. Restarted, they stay six clouds. No weight differs.",
)

# %% [markdown]
# **What we ask.** *Which recurrent rule can hold a finite-state machine? Which one learns it and keeps it at lengths that it never saw?
# And what can you do for one that does not?* You will write such a network, train it, lose it, mend it, and prove the mended one right
# on every string. (The one above is of this kind, trained with another recipe and seed.) Then you put a rule of your own on the ladder.
#
# *You need:* [02](02_block_diagonal_lrnn.ipynb). *It takes* about 50 min to read and 1 h 10 min for the exercises, and about a minute of computing. What you need of
# other chapters is here:
#
# * A **machine** has finitely many states, and each letter moves it from state to state. The task is always the same: after every
#   letter, say in which state the machine is.
# * A **linear recurrence** has a matrix $A_v$ for every letter $v$, does $x_t = A_v x_{t-1}$ (some models add a vector $b_v$), and reads the
#   answer from $x_t$ by a linear map and a constant. It *holds* a machine if some weights are right at every length, with bounded states and a
#   margin. Which matrices are allowed is its **rule**. A **head** is one matrix with its own piece of the state; a
#   net has several side by side.
# * Where every letter can be undone, the moves form a **group**. $S_3$ is the group of the six ways to put a triangle onto itself, the states of its machine: the
#   letter $s$ exchanges two corners, the letter $t$ turns it.
#
# ## 1 A network of mirrors
#
# Which matrices move a triangle as $s$ and $t$ do? Mirrors. A mirror with unit normal $k$ is the reflection $I - 2kk^\top$:

# %% jupyter={"source_hidden": true} tags=["hide-input", "nbval-ignore-output"]
show.figure(
    ch10.mirrors(),
    alt="A triangle with corners 0, 1, 2. One reflection exchanges corners 0 and 2. A second one, in another mirror, makes a turn of it.",
    caption="What to see: one mirror exchanges two corners, and used twice it has done nothing. Two different mirrors make a turn.",
)

# %% [markdown]
# So give every letter two mirrors. Training should choose how strongly each one acts, so let the factor be
# $I - \beta kk^\top$ with $0 < \beta < 2$. At $\beta = 1$ it erases the direction $k$, at $\beta = 2$ it reflects.

# %% [markdown]
# **Exercise 1** ★★ *(10 min, 4 points: to write reflections for all letters at once)* **Build.** Write the product of two such factors,
# $(I - \beta_2 k_2k_2^\top)(I - \beta_1 k_1k_1^\top)$, for every letter and head at once, in at most five lines. The directions come in any
# length. Everything in this section runs on your function.

# %%
# %%build two_reflections
import torch


def two_reflections(k, beta):  # directions (2, V, h, n), strengths (2, V, h) -> matrices (V, h, n, n)
    raise NotImplementedError  # your lines


# %% [markdown]
# <!-- Exercise 10.1: from notebooks/lrnnbook/content/exercises/ch10.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint 1</summary>
#
# `torch.nn.functional.normalize(k, dim=-1)` makes every direction a unit vector.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# `k.unsqueeze(-1) * k.unsqueeze(-2)` is $kk^\top$ for all of them at once. The first reflection acts first, so it is on the right.
#
# </details>

# %% [markdown]
# Here is the whole network. `scan` is the one that you wrote in chapter 02 (or ours). `step` does the same for one letter, which we need
# in section 6:

# %%
scan, two_reflections = mine("scan"), mine("two_reflections")


class Mirrors(torch.nn.Module):
    def __init__(self, letters, heads=8, n=4):
        super().__init__()
        self.k = torch.nn.Parameter(torch.randn(2, letters, heads, n))
        self.strength = torch.nn.Parameter(torch.zeros(2, letters, heads))

    def forward(self):  # the matrices of all letters: (letters, heads, n, n)
        return two_reflections(self.k, 2 * self.strength.sigmoid())


class Net(torch.nn.Module):
    def __init__(self, rule, task):
        super().__init__()
        self.vocab_size, self.classes = task.vocab_size, task.classes
        self.rule = rule(task.vocab_size)
        self.x0 = torch.nn.Parameter(torch.randn(self.rule().shape[1:3]))
        self.read = torch.nn.Linear(self.x0.numel(), task.classes)

    def forward(self, tokens):  # (B, T) -> (B, T, states of the machine)
        return self.read(scan(self.rule(), tokens, self.x0).flatten(2))

    def initial_state(self, batch):
        return self.x0.expand(batch, *self.x0.shape)

    def step(self, x, token):
        x = (self.rule()[token] @ x.unsqueeze(-1)).squeeze(-1)
        return x, self.read(x.flatten(1))


# %% [markdown]
# Training is nine lines in a loop. Strings grow from 4 to 40 letters:

# %% tags=["varies", "nbval-ignore-output"]
def teach(net, task, steps=600):
    optimiser = torch.optim.Adam(net.parameters(), lr=1e-2)
    slower = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, steps)
    dice = torch.Generator().manual_seed(0)
    for n in range(steps):
        length = 4 + round(36 * min(1, n / (0.6 * steps)))
        batch = task.sample_near(64, length, dice)  # 64 random strings and their answers
        logits = net(batch.inputs)
        loss = F.cross_entropy(logits.flatten(0, 1), batch.targets.flatten())
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optimiser.step()
        slower.step()
    return net


@torch.no_grad()
def right_at(net, task, length):  # in the last ten positions of 256 strings
    dice = torch.Generator().manual_seed(1)
    batch = task.sample_near(256, length, dice)
    right = net(batch.inputs).argmax(-1) == batch.targets
    return right[:, -10:].float().mean().item()


s_3 = tasks["s_3"]
torch.manual_seed(0)
net = teach(Net(Mirrors, s_3), s_3)
for length in (40, 500):
    print(f"S_3: right at {length}: {right_at(net, s_3, length):.1%}")
print(f"guessing one of six: {1 / 6:.1%}")

# %% [markdown]
# Perfect at 40, and no better than a die at 500. Where did it go? A factor multiplies its direction by $1 - \beta$, and every $\beta$ is
# below 2. So what tells the six answers apart shrinks. What all strings have in common shrinks more slowly, the readout's constant not at
# all, and these drown the rest. Take that mean away, and more answers are right for a while:

# %% tags=["varies", "nbval-ignore-output"]
with torch.no_grad():
    dice = torch.Generator().manual_seed(2)
    batch = s_3.sample_near(256, 500, dice)
    states = scan(net.rule(), batch.inputs, net.x0).flatten(2)
    logits = net.read(states)
    right = (logits.argmax(-1) == batch.targets).float().mean(0)
    apart = ((logits - logits.mean(0)).argmax(-1) == batch.targets).float().mean(0)
    beta = 2 * net.rule.strength.sigmoid()
print(f"beta between {beta.min():.2f} and {beta.max():.2f}")
for t in (40, 100, 200):
    x, q = states[:, t - 1], batch.targets[:, t - 1]
    means = torch.stack([x[q == answer].mean(0) for answer in range(6)])
    common = means.mean(0)
    print(f"after {t:3d} letters: six answers {(means - common).norm(dim=-1).mean():.2g} from their mean, which is {common.norm():.2g} long; "
          f"{right[t - 1]:.0%} right, without the mean {apart[t - 1]:.0%}")


# %% [markdown]
# ## 2 The ladder
#
# What you have trained is one cell of a map. Its columns are machines, in the order of three rungs:
#
# * *Star-free* machines count nothing, not even modulo 2: the flip-flop (keep the letter written last), $D_2$ (brackets nested at
#   most two deep), EvenPair (is the last letter the first?).
# * Then come machines that contain a commutative group, because some word leads states round in a cycle: Parity, $\mathbb Z_5$ (add modulo
#   5) and Tomita 3 (after an odd run of 1 no odd run of 0).
# * $S_3$ can be built up from commutative groups. $A_5$, the 60 even permutations of five points, cannot.
#
# Its rows are eight models of one layer:
#
# * *blocks, softmax* are the blocks of chapter 02; *one-hot columns* are such blocks, rounded to 0 and 1 already while they train;
# * *2 reflections* is section 1; *DeltaNet* has one factor $I - \beta kk^\top$ with $\beta < 1$;
# * *diagonal, positive* and *diagonal, complex* have one gate $a_t$ for each number of the state, in $[0, 1]$ or complex with $|a_t| \le 1$;
# * *Elman* (a tanh) and *LSTM* are not linear in their state.
#
# Every model gets the protocol of section 1, and a net that does not know length 40 gets a second, longer try. A net that knows length 40
# either *lasts* (99 % right in every ten positions up to 500) or *loses* its machine. In all, 38 models, 36 of them with two layers as
# well, were trained on 19 machines with three seeds: 4,218 runs, all in [10c](deeper/10c_whole_ladder.ipynb).

# %% [markdown]
# **Exercise 2** ★ *(5 min, 3 points: to bet on a column before you see it)* **Predict.** Which of the eight models keep $S_3$ to position
# 500 with all three seeds? Bet before you look at the map.

# %% tags=["nbval-ignore-output"]
def who_keeps_s_3():
    runs = few[few["task"] == "s_3"]
    kinds = {row: set(runs["kind"][runs["row"] == row]) for row in FEW}
    keep = [ch10.model_name(row) for row in FEW if kinds[row] == {"lasts"}]
    return ", ".join(sorted(keep, key=str.lower))


guess("10.2", who_keeps_s_3)

# %% [markdown]
# <!-- Exercise 10.2: from notebooks/lrnnbook/content/exercises/ch10.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint</summary>
#
# Which of them can pull a state back to where it should be, or never leave it?
#
# </details>

# %% jupyter={"source_hidden": true} tags=["hide-input", "nbval-ignore-output"]
show.figure(
    ch10.ladder(few),
    alt="A map of eight models by eight machines. One-hot columns, Elman and LSTM are mostly blue. Softmax blocks are blue and orange, two "
    "reflections orange, diagonal models and DeltaNet mostly grey and hatched beyond the first columns.",
    caption=f"Recorded. {ch10.SIGNS} What to see: under hatching no machine with a group is learned. Elsewhere reflections, DeltaNet and "
    "softmax blocks learn much (orange) and keep little or half of it; one-hot columns, linear too, keep all that they learn. Blue under hatching must fall later.",
)

# %% [markdown]
# Three outcomes that one accuracy would mix up. *Never learned* is grey, and mostly where a theorem says no. *Learned and lost* is
# orange: mostly linear models. *Lasts* is blue: models that are not linear in their state, such as an LSTM, which
# can pull an error back, or that are exact by construction, such as one-hot columns. Neither is a guarantee: see Elman and one-hot columns on $A_5$, and the
# LSTM on $D_2$ and $\mathbb Z_5$.
#
# Softmax blocks lose $\mathbb Z_5$ with all three seeds. Trained until their columns are pure, they last. Here every model
# gets the same recipe, and columns that are not pure leak ([10c](deeper/10c_whole_ladder.ipynb) runs both recipes). One
# recipe for all compares rules. It does not show any rule at its best.
#
# The curves of a cell:

# %% jupyter={"source_hidden": true} tags=["varies", "hide-input", "nbval-ignore-output"]
cell_widget = explore(
    lambda model, machine: ch10.one_cell(recorded, model, machine),
    {"model": {ch10.model_name(row): row for row in ladder.TABLE.rows},
     "machine": {ch10.machine_name(name): name for name in ladder.MACHINES}},
    sentence=lambda model, machine: ch10.told(recorded, model, machine),
    alt="Share of right answers by position for one model on one machine, a line for each seed.",
    initial={"model": "deltanet", "machine": "flip_flop"},
)  # fmt: skip
cell_widget

# %% [markdown]
# ## 3 Three reasons to say no, or yes
#
# Hatching needs no training: it comes from short theorems. Here are three; the rest are in
# [10a](deeper/10a_more_theorems.ipynb).
#
# **Theorem 1.** *One-hot columns hold every machine.* Write letter $v$ as the matrix $A_v$ with a 1 in row $v(q)$ of column $q$, and keep
# the state $q$ as the basis vector $e_q$. Then $A_v e_q = e_{v(q)}$, and by induction a word moves $e_q$ where the machine goes, at every
# length: floats hold 0 and 1 exactly.
#
# *Checked in the folded cell: all 12 arrows of $S_3$, all words of up to six letters, and one word of 100,000.*

# %% jupyter={"source_hidden": true} tags=["hide-input", "proof-one_hot"]
machine = ladder.ladder_task("s_3").machine
arrows, Q = machine.transitions, machine.num_states
unit = np.eye(Q, dtype=int)
A = [np.array([[int(arrows[v, q] == r) for q in range(Q)] for r in range(Q)]) for v in range(len(arrows))]
for v, q in itertools.product(range(len(arrows)), range(Q)):
    assert (A[v] @ unit[q] == unit[arrows[v, q]]).all(), (
        "Theorem 1, step 1: a column sends its state elsewhere"
    )
print(f"{len(arrows) * Q} arrows of S_3, each a column")

def carried(word):
    x = unit[machine.initial]
    for v in word:
        x = A[v] @ x
    return x


words = [w for n in range(7) for w in itertools.product(range(len(arrows)), repeat=n)]
words.append(np.random.default_rng(0).integers(len(arrows), size=100_000))
for word in words:
    state = machine.initial
    for v in word:
        state = arrows[v, state]
    assert (carried(word) == unit[state]).all(), (
        "Theorem 1, step 2: the vector is not that of the state"
    )
print(f"{len(words)} words, the longest of {len(words[-1]):,} letters")

# %% [markdown]
# **Theorem 2.** *Gates between 0 and 1 hold no group.* A **gate** is the factor $a_t$ in $x_t = a_t x_{t-1} + b_t$, for each number of the
# state by itself. Read the same word again and again: what can one number do?

# %% jupyter={"source_hidden": true} tags=["hide-input", "nbval-ignore-output"]
show.figure(
    ch10.gates(),
    alt="Three panels of a state against the number of letters a. Gate 0.7: it comes to rest at 4. Gate 1: it grows without bound. Gate "
    "minus 1: it flips between 1 and minus 1.",
    caption="What to see: filled dots are odd counts. Only the gate −1 keeps odd and even apart at every length with a bounded state.",
)

# %% [markdown]
# With a gate below 1 the state comes to rest. With the gate 1 it must add 0, or it leaves every bound. Either way reading the word once
# more changes less and less, so a continuous readout answers alike. But where a word $w$ turns states round in a cycle, the answers after
# $w^n$ and $w^{n+1}$ differ for every $n$. So no net of such gates keeps a margin between them at all lengths: not with one layer, and not
# with several, because each layer reads what has come to rest below it. (The proof needs bounded states, and gates and inputs that are
# Lipschitz in what the layer reads.)
#
# *Checked in the folded cells, in symbols: two letters are again one gate, the product; the change after $n$ readings is $a^n$ times the
# first; $a^n \to 0$.*

# %% jupyter={"source_hidden": true} tags=["hide-input", "proof-non_negative"]
a, b, x, y, gate, add = sp.symbols("a b x y a' b'")
read = lambda state: a * state + b  # noqa: E731
both = sp.Poly(gate * read(x) + add, x)
assert both.degree() == 1 and both.LC() == gate * a, "Theorem 2, step 1: not a map with the product of the gates"
assert sp.expand((read(y) - read(x)) - a * (y - x)) == 0, "Theorem 2, step 1: not a times the change before"
print("two tokens:", sp.expand(both.as_expr()))

n, c = sp.symbols("n c", positive=True)
for below in (sp.S(0), sp.exp(-c)):
    assert sp.limit(below**n, n, sp.oo) == 0, "Theorem 2, step 2: a gate below 1 does not fade"
assert sp.expand(read(x) - x).subs(a, 1) == b, "Theorem 2, step 2: with the gate 1 the change is not b"
print("changes with the gate exp(-c):", sp.simplify(sp.exp(-c) ** n), "times the first")

# %% [markdown]
# **Several layers.** Let the states below change at the $n$-th reading of $w$ by at most $C\rho^n$ with $\rho < 1$. Then the layer
# above does $x \mapsto a_n x + b_n$ with $|a_n - a|$ and $|b_n - b|$ at most $C'\rho^n$. If $a < 1$, its changes shrink geometrically, too.
# If $a = 1$, then $x_{n+1} = x_n + b + O(\rho^n)$; bounded states leave $b = 0$, and the changes are $O(\rho^n)$. So it goes on, layer by
# layer. $\blacksquare$
#
# **Break it.** The right panel breaks the hypothesis: the gate $-1$ holds Parity. And so does arithmetic that is not real. In a byte that
# wraps round at 256, the gate 1 is bounded and may add 128 at every letter: 128, 0, 128, 0, ... *Both, run in the folded cells:*

# %% jupyter={"source_hidden": true} tags=["hide-input", "proof-non_negative"]
with show.expect_failure("Theorem 2, step 2"):
    n, c = sp.symbols("n c", positive=True)
    for below in (sp.S(0), sp.exp(-c), sp.S(-1)):
        assert sp.limit(abs(below) ** n, n, sp.oo) == 0, "Theorem 2, step 2: a gate below 1 does not fade"

with show.expect_failure("Theorem 2, step 2"):
    state = np.cumsum(np.full(8, 128, np.uint8), dtype=np.uint8)  # gate 1, b = 128
    print(*state)
    assert not np.diff(state).any(), "Theorem 2, step 2: bounded states, and the gate 1 still adds b"


# %% [markdown]
# **Theorem 3.** *A permutation of $Q$ points with $c$ cycles is a product of $Q - c$ reflections, and of no fewer.* (A point that stays
# is a cycle of its own.)
#
# *Proof.* A reflection exchanges two points, as in the picture of section 1, and a cycle of $r$ points is $r - 1$ exchanges. No fewer
# will do: a product of $m$ reflections fixes a space of at least $Q - m$ dimensions, and a permutation one of exactly $c$, the vectors that
# are constant on its cycles. $\blacksquare$ So one reflection a letter cannot move three points round; two can. Nor can one in
# other coordinates: $I - \beta kk^\top$ has real eigenvalues only, and what first comes back after three steps has complex ones.
# (DeltaNet of the map, with $\beta < 1$, never reflects, so its Parity is hatched, too.)
#
# *Checked in the folded cells: all 10 exchanges and all 120 permutations of five points, and the rank of each.*

# %% jupyter={"source_hidden": true} tags=["hide-input", "proof-reflections"]
def exchange(i, j, Q=5):
    k = [(p == i) - (p == j) for p in range(Q)]  # times the root of 2, so that 2 k k^T is this times itself
    return np.array([[int(r == s) - k[r] * k[s] for s in range(Q)] for r in range(Q)])


for i, j in itertools.combinations(range(5), 2):
    swapped = [j if p == i else i if p == j else p for p in range(5)]
    assert np.array_equal(exchange(i, j), np.eye(5)[swapped]), (
        "Theorem 3, step 1: the reflection exchanges i and j"
    )
print(exchange(0, 2, Q=3))

def cycles(g):
    seen, found = set(), []
    for p in range(len(g)):
        cycle = []
        while p not in seen:
            seen.add(p)
            cycle.append(p)
            p = g[p]
        found += [cycle] if cycle else []
    return found


used = {}
for g in itertools.permutations(range(5)):
    product, used[g] = np.eye(5, dtype=int), 0
    for first, *others in cycles(g):
        for p in others:
            product, used[g] = exchange(first, p) @ product, used[g] + 1
    assert all(product[g[p], p] == 1 for p in range(5)), (
        "Theorem 3, step 1: the product is another permutation"
    )
print("a cycle of five points takes", used[(1, 2, 3, 4, 0)], "reflections")

for g, count in used.items():
    P = sp.Matrix(5, 5, lambda r, s: int(r == g[s]))
    assert (P - sp.eye(5)).rank() == 5 - len(cycles(g)) == count, "Theorem 3, step 2: another rank"
print("permutations that need 0, 1, 2, 3, 4 reflections:", *np.bincount(list(used.values())))

# %% [markdown]
# **Exercise 3** ★ *(5 min, 3 points: to count reflections)* How many reflections does the permutation
# $0 \to 1 \to 2 \to 0$, $3 \leftrightarrow 4$ of six points take?

# %%
my_count = None  # exercise 3: a number
check("10.3", my_count)

# %% [markdown]
# <!-- Exercise 10.3: from notebooks/lrnnbook/content/exercises/ch10.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint</summary>
#
# Count the cycles. Does the sixth point count?
#
# </details>

# %% [markdown]
# A net need not move five points to hold $A_5$: its 60 moves are also the turns of an icosahedron, and a turn of space is two
# reflections.
#
# ## 4 The predictor
#
# `predict(machine, family)` puts these theorems and their relatives together. A *family* is a rule and everything that it may learn. How
# many layers are enough?

# %% jupyter={"source_hidden": true} tags=["hide-input", "nbval-ignore-output"]
show.figure(
    ch10.forecast({"gates in [0, 1]": "non-negative", "gates in [−1, 1]": "signed", "complex gates": "complex", "one reflection": "reflection",
                   "two reflections": "reflections", "blocks with pure columns": "blocks"}, EIGHT),
    alt="Six families by eight machines. Gates in 0 to 1 hold no machine from Parity on; signed gates hold Parity; complex gates all but A5; "
    "two reflections hold all groups of the map in one layer; blocks hold everything in one layer.",
    caption="1, 2: this number of layers is enough, and no fewer. ≤ 2: two are enough, and whether one is, we do not know. More: one is not "
    "enough, some number is. Some: some number is, and one may be. Never: no number is. ?: we do not know. What to see: only the last row holds every machine "
    "in one layer.",
)

# %% [markdown]
# Where one layer is not enough, you also get two words that every such layer confuses in the end:

# %%
for family in ("non-negative", "reflection", "reflections"):
    found = predict(s_3.machine, family)
    print(f"S_3 by {family}: {found.verdict}")
    if found.counterexample:
        print("    it confuses", found.counterexample.text("st"))


# %% [markdown]
# **Exercise 4** ★ *(5 min, 3 points: to predict what depth buys)* **Predict.** Choose before you run: how many layers of
# complex gates (the family `complex`) does $S_4$ take? Each layer can take off one
# commutative step of the group.

# %% tags=["nbval-ignore-output"]
def layers_of_s4():
    found = predict(tasks["s_4"].machine, "complex")
    return str(found.layers), found.theorem


guess("10.4", layers_of_s4)

# %% [markdown]
# <!-- Exercise 10.4: from notebooks/lrnnbook/content/exercises/ch10.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint 1</summary>
#
# $S_4$ has the normal subgroups $A_4$ and $V_4$.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# Each layer takes off one commutative factor: what are $S_4/A_4$, $A_4/V_4$ and $V_4$?
#
# </details>

# %% [markdown]
# **Exercise 5** ★★ *(10 min, 4 points: to tell two families apart)* **Break the hypothesis.** Give a regular
# expression over `a` and `b` whose machine one layer of gates in $[-1, 1]$ holds, and no number of layers of gates in
# $[0, 1]$ does.

# %%
my_expression = None  # exercise 5: a text
check("10.5", my_expression)

# %% [markdown]
# <!-- Exercise 10.5: from notebooks/lrnnbook/content/exercises/ch10.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint 1</summary>
#
# Which machine does a gate of $-1$ hold?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# Strings with an even number of a.
#
# </details>

# %% [markdown]
# **Exercise 6** ★★ *(15 min, 4 points: to tell families apart by depth)* **Break a model.** Design
# a machine, as a regular expression over `a` and `b`, that breaks *one* layer of complex gates: products of reflections (the family
# `reflections`) hold it in one layer, complex gates (`complex`) do not, and `predict` says how many layers of them are enough.

# %%
my_deep_one = None  # exercise 6: a text
check("10.6", my_deep_one)

# %% [markdown]
# <!-- Exercise 10.6: from notebooks/lrnnbook/content/exercises/ch10.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint 1</summary>
#
# As in Theorem 4 (10a): complex gates fade or turn, and then the order of two tokens is lost. Which strings ask for the
# order all the time?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# The tokens take turns.
#
# </details>

# %% [markdown]
# ## 5 Holding is not learning
#
# And where a rule *can* hold a machine, does training find it, and does the net keep it? Here are the runs that could have lasted, for twelve of the models:

# %% jupyter={"source_hidden": true} tags=["hide-input", "nbval-ignore-output"]
TWELVE = ("block_softmax", "block_clip", "diagonal_positive", "diagonal_complex", "deltanet_negative", "product_2", "product_3",
          "dictionary", "one_hot", "pd", "elman", "lstm")  # fmt: skip
can = ch10.outcomes(recorded)[0]
show.figure(
    ch10.twelve_bars(recorded, TWELVE),
    alt="Twelve bars. One-hot columns last in 52 of 54 runs, Elman in 45 of 57, LSTM in 35 of 57; two and three reflections and clipped blocks "
    "learn almost always and lose their machine in most runs.",
    caption="Recorded runs of models of one layer on machines that their family can hold. What to see: reflections and clipped blocks "
    "learn almost everything and keep almost nothing. One-hot columns can hold no more than clipped blocks, and keep what they learn. "
    f"(Of all models, with one layer and with two, {can['runs']:,} runs could last: {can['never learned']} never learned, "
    f"{can['learned, lost with length']} lost, {can['lasts']} last. For ModArith(3) we do not know whether blocks of eight states are enough. "
    "Names: clip, long columns cut to norm 1; phases, "
    "one-hot columns times turns; dictionary, mixtures of any matrices; β to 2, one reflection.)",
)


# %% [markdown]
# So most nets that fail had learned their machine. They can be mended without training.
#
# ## 6 The cure
#
# Your net knew $S_3$ for 40 letters. At letter 20 its state has shrunk, and its *answer* is still right. So let the answer put the state
# back. Keep six states, one for each answer: the mean of what the net visits in short strings. After every $k$-th letter, replace the
# state by the kept one with the same answer. No weight changes:

# %% tags=["varies", "nbval-ignore-output"]
@torch.no_grad()
def follow(net, tokens, codes=None, every=None):
    x, states, answers = net.initial_state(len(tokens)), [], []
    for t, token in enumerate(tokens.T, start=1):
        x, logits = net.step(x, token)
        states.append(x)
        answers.append(logits.argmax(-1))
        if every and t % every == 0:
            x = codes[answers[-1]]
    return torch.stack(states, 1), torch.stack(answers, 1)


short = s_3.sample_near(256, 40, dice)
states, answers = follow(net, short.inputs)
codes = torch.stack([states[answers == q].mean(0) for q in range(6)])

long, curves = s_3.sample_near(256, 500, dice), {}
for name, every in {"alone": None, "every 20": 20, "every 5": 5}.items():
    answers = follow(net, long.inputs, codes, every)[1]
    right = (answers == long.targets).float().mean(0)
    curves[name] = right.unfold(0, 10, 1).mean(-1).numpy()
    print(f"{name}: right at 491 to 500: {curves[name][-1]:.1%}")

# %% jupyter={"source_hidden": true} tags=["varies", "hide-input", "nbval-ignore-output"]
show.figure(
    ch10.restart_curves(curves),
    alt="Right answers by position: the net alone falls to one in six, the same net restarted is right to the end.",
    caption="What to see: the same weights. Alone the net guesses from about position 150 on, restarted it is right to the end.",
)

# %% [markdown]
# Why can the recurrence not do this by itself? One that shrinks forgets its state (section 1). And one that is exact never forgets an
# error. (Theorems 4 to 6 are in 10a.)
#
# **Theorem 7.** Let $x_t = A_v x_{t-1} + b_v$ hold a machine exactly: every state $q$ has a vector $z_q$, and $A_v z_q + b_v = z_{v(q)}$. If a
# word $g$ permutes the states and $g^r$ is the identity, then $A_g^r$ fixes every difference $z_q - z_p$. So an error along such a
# difference does not shrink under $g$, and fresh errors add up.
#
# *Proof.* The shift $b_v$ cancels, so differences go where states go: $A_v (z_q - z_p) = z_{v(q)} - z_{v(p)}$. After
# $g^r$ every state is back, hence every difference too. The same error $e$ in each pass leaves the state $n\,e$ off after $n$ passes.
# $\blacksquare$
#
# *Checked in the folded cells on one affine model of $S_3$, in fractions: all pairs of states, all words of up to four letters, 30 passes.*

# %% jupyter={"source_hidden": true} tags=["hide-input", "proof-drift"]
moves = ladder.ladder_task("s_3").machine.transitions  # (letters, states)
draw = np.random.default_rng(0)
S = sp.Matrix(5, 6, draw.integers(-9, 10, 30).tolist())  # a column for each state
lifted = S.col_join(sp.ones(1, 6))
maps = []
for move in moves:
    both = S[:, move.tolist()] * lifted.inv()  # [A | b] with A s_q + b = s_(where q goes), for all q
    maps.append((both[:, :5], both[:, 5]))
for v, (M, _) in enumerate(maps):
    for q, p in itertools.permutations(range(6), 2):
        moved = M * (S[:, q] - S[:, p])
        assert moved == S[:, int(moves[v, q])] - S[:, int(moves[v, p])], "step 1"

for word in itertools.chain(*(itertools.product(range(2), repeat=n) for n in range(1, 5))):
    M, goes = sp.eye(5), np.arange(6)
    for v in word:
        M, goes = maps[v][0] * M, moves[v][goes]
    r, power = 1, goes
    while not (power == np.arange(6)).all():
        r, power = r + 1, goes[power]
    differences = S[:, 1:] - S[:, :1] * sp.ones(1, 5)
    assert M**r * differences == differences, "step 2"
turn, shift = maps[0]
r = next(r for r in range(1, 7) if turn**r == sp.eye(5))  # the first letter, as often as it takes to come back
e = (S[:, 1] - S[:, 0]) / 1000
state = S[:, 0]
for n in range(1, 31):
    for _ in range(r):
        state = turn * state + shift
    state = state + e
    assert state == S[:, 0] + n * e, "step 3"

# %% [markdown]
# Choosing the largest logit is not affine: it answers $q$ in a whole region around $z_q$, and so it can correct. And it makes a proof possible:
#
# **Theorem 8.** A net that is restarted after every letter from one of $K$ states, chosen by its answer, is a machine with $V + KV$ arrows for $V$ letters. It is right on
# *every* string if and only if it is right along the arrows that a string can reach.
#
# *Proof.* After each letter the state is one of the $K$ kept ones. So the next answer and the next state depend on that one and the letter
# alone. If every arrow that is reached is right, so is, by induction, every answer. $\blacksquare$ *Checked in the folded cell on an untrained LSTM: its arrows against the net itself, on all strings of up to ten letters.*

# %% jupyter={"source_hidden": true} tags=["hide-input", "proof-restart"]
untrained = build("lstm", ladder.ladder_task("parity"), seed=3)
with torch.no_grad():
    for weight in untrained.parameters():
        weight.mul_(3)
quantised = quantise(untrained, ladder.ladder_task("parity"), every=1)
table = read_off(quantised)[0]
assert table.num_states == 1 + 2 + 2 * len(quantised.codebook), "step 1"
for length in range(1, 11):
    strings = torch.tensor(list(itertools.product(range(2), repeat=length)))
    with torch.no_grad():
        said = quantised(strings).argmax(-1).numpy()
    assert (said == table.answer(strings.numpy())).all(), "step 2"

# %% [markdown]
# `quantise` does what you just did, after every letter and in double precision, and looks for better states to keep. `verify` then searches all
# arrows, and bounds what rounding can change on any computer:

# %% tags=["varies", "nbval-ignore-output"]
print(verify(quantise(net, s_3), s_3.specification))

# %% [markdown]
# Right on every string of every length, with the weights that were guessing at 500. (The 15 joint states are the start and the
# $2 + 6 \cdot 2$ arrows of Theorem 8.) Does that mend every net? We tried all nets of seed 0, of one layer and of two, that know length 40
# and lose it:

# %% jupyter={"source_hidden": true} tags=["hide-input"]
lost = tables.results.runs("ladder/restart")
whole = ch10.mended(lost)[-1]
print(f"{whole['lost with length']} nets lose their machine. Right at 491 to 500: alone {whole['right alone']}, restarted after every letter "
      f"{whole['right, restarted every 1']}; of these {whole['proved']} are proved right on every string")

# %% [markdown]
# Those that are right alone fall below 99 % earlier and have come back by then. Which ones a restart does not mend, and why, is in
# [10b](deeper/10b_when_nets_fail.ipynb).
#
# ## 7 A rule of your own
#
# Now you. A rule is a module whose `forward` gives a matrix for every letter and head. A rotation, say, or something that
# nobody has tried.

# %% [markdown]
# **Exercise 7** ★★★ *(20 min, 6 points: to design a recurrent rule and find out what it can hold)* **Build.** Write `my_rule` in about ten
# lines: weights of your own, and finite matrices that depend on all of them.

# %%
# %%build my_rule
import torch


class my_rule(torch.nn.Module):
    def __init__(self, letters):
        super().__init__()
        raise NotImplementedError  # your weights: torch.nn.Parameter(...)

    def forward(self):  # matrices (letters, h, n, n)
        raise NotImplementedError  # your lines


# %% [markdown]
# <!-- Exercise 10.7: from notebooks/lrnnbook/content/exercises/ch10.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint 1</summary>
#
# A turn of the plane by an angle $\varphi$ is $\begin{pmatrix}\cos\varphi & -\sin\varphi\\ \sin\varphi & \cos\varphi\end{pmatrix}$: keep one angle for each letter and head.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# `torch.stack([torch.stack([c, -s], -1), torch.stack([s, c], -1)], -2)` makes the matrices from `c` and `s` of shape (letters, h).
#
# </details>

# %% [markdown]
# Which family of the predictor is the smallest that contains your rule? These serve most rules: `"non-negative"`, `"signed"` and `"complex"`
# (gates in $[0, 1]$, in $[-1, 1]$, in the complex disc; turns are complex gates), `"reflection"` (one a letter), `"reflections"` (two),
# `"blocks"` (columns that sum to 1), `"dictionary"` (any matrices). And what do you bet? Write `never`, `lost` or `lasts` for each
# machine. (Our rule, which runs until yours gives finite matrices, is two *whole* mirrors a letter: every $\beta = 2$.)

# %% tags=["varies", "nbval-ignore-output"]
my_rule = mine("my_rule")
my_family = "reflections"  # print(*FAMILIES, sep="\n") shows them all
my_bets = {"parity": "lasts", "s_3": "lasts", "a_5": "lost"}

my_row = {}
for name, bet in my_bets.items():
    task = tasks[name]
    says = predict(task.machine, my_family).verdict
    print(f"{name}: your bet: {bet}; the predictor: {says}")
    torch.manual_seed(0)
    own = teach(Net(my_rule, task), task, steps=300)
    my_row[name] = right_at(own, task, 40), right_at(own, task, 500)
    near, far = my_row[name]
    became = "never" if near < 0.99 else "lost" if far < 0.99 else "lasts"
    print(f"    right at 40: {near:.1%}, at 500: {far:.1%}: {became}, so you {'win' if bet == became else 'lose'} your bet")
    print("    restarted:", verify(quantise(own, task), task.specification))

# %% jupyter={"source_hidden": true} tags=["varies", "hide-input", "nbval-ignore-output"]
show.figure(
    ch10.ladder(pd.concat([few, ch10.own_row("yours", my_row)]), {"yours": my_family}),
    alt="The map of section 2 with one row more, yours, in the machines that were trained.",
    caption="The ladder with your row: one seed, 300 steps, the machines that you named. White: not trained. Hatched in your row: no single layer of "
    "the family that you named holds the machine.",
)

# %% [markdown]
# Two whole mirrors keep $A_5$, 60 states, to position 500, where the eight models above mostly fail: a reflection keeps every norm, so
# nothing fades. But learned mirrors are not exact, and what is not exact drifts (Theorem 7): the Parity above had fallen to 95 % when we ran it.
# What did *your* rule keep? Add `"z_5"` or `"flip_flop"` to the bets. On the flip-flop the predictor says "one layer", because its family
# may choose $\beta = 1$, which erases what lies along $k$. Our whole mirrors, $\beta = 2$ for good, must fail there all the same. Why?
#
# ## 8 A machine of your own
#
# Type a regular expression (letters and digits, `|`, `*`, `+`, `?`, parentheses), or arrows such as
# `even a odd*; odd a even; even b even; odd b odd`: each goes from a state by a letter to a state, and a `*` marks states that
# answer 1.

# %% jupyter={"source_hidden": true} tags=["varies", "hide-input", "nbval-ignore-output"]
machine_widget = explore(
    ch10.bench,
    {"text": "(ab|ba)*c", "family": list(FAMILIES)},
    sentence=ch10.bench_sentence,
    alt="The smallest machine of what is typed: its states as circles, its arrows with their "
    "tokens.",
    initial={"family": "signed"},
)
machine_widget

# %% [markdown]
# Change `text` to yours. Pure columns hold every machine (Theorem 1), so take chapter 02's blocks as a rule, with your
# columns:

# %% tags=["varies", "nbval-ignore-output"]
text = "(ab|ba)*c"
columns, own_machine = mine("columns"), my_machine(text)
own_task = StateTracking(own_machine, text)


class Blocks(torch.nn.Module):
    def __init__(self, letters):
        super().__init__()
        self.raw = torch.nn.Parameter(torch.randn(letters, 8, 8, 8))

    def forward(self):
        return columns(4 * self.raw)


torch.manual_seed(0)
blocks = teach(Net(Blocks, own_task), own_task, steps=400)
walker = quantise(blocks, own_task)
print(f"{own_machine.num_states} states;", verify(walker, own_task.specification))

# %% [markdown]
# The proof read every arrow off the network. So you can walk in it. This is what *your network* does when it is restarted after every
# letter; press its letters. (It has one state more than your machine: before the first letter it has not answered yet.)

# %% jupyter={"source_hidden": true} tags=["varies", "hide-input", "nbval-ignore-output"]
found = minimise(read_off(walker)[0])
walk_widget = interactive.walk(MooreMachine(found.transitions, found.outputs, found.initial, own_machine.symbols))
walk_widget

# %% [markdown]
# You typed a machine, a network learned it from strings of up to 40 letters, and what you walk in is that network.
# If the line says *proved*, it is right for ever. If not, give it more steps.
#
# ## What to remember
#
# 1. Three failures look alike at one length: never learned, learned and lost, impossible.
# 2. A machine's arrows say before training which rules can hold it.
# 3. Gates in $[0,1]$ hold no group. One reflection, used twice, has done nothing; two make a turn. Pure columns hold every machine.
# 4. What is linear in its state learns much and often loses it, because nothing in it corrects an error (unless it is exact by construction).
# 5. Its answers can. Restarted from its own answers, a net is a finite machine, and finitely many arrows decide about every string.
#
# **Go deeper:**
#
# * [10a more theorems](deeper/10a_more_theorems.ipynb): what depth buys and what fades, held against 4,218 runs.
# * [10b when nets fail](deeper/10b_when_nets_fail.ipynb): can you predict where, what does a failing net still track, and which nets does a
#   restart not mend?
# * [10c the whole ladder](deeper/10c_whole_ladder.ipynb): all rows and columns, machines drawn at random, and how many strings a rule needs.
# * [10d recurrence puzzles](deeper/10d_recurrence_puzzles.ipynb): hold twelve machines yourself, in as few numbers as you can.

# %% [markdown]
# ## Exercises
#
# You will find each exercise in its section (others are in 10a to 10c). Stuck? `hint("10.3")`. Done? Compare with `solution("10.3")`.

# %% [markdown]
# <!-- The exercises of this chapter, listed by lrnnlab book build. -->
#
# 7 exercises, 27 points, about 70 minutes:
#
# | exercise | section | difficulty | minutes | points | you will learn |
# |---|---|---|---|---|---|
# | 1 | [1 A network of mirrors](#1-A-network-of-mirrors) | ★★ | 10 | 4 | to write reflections for all letters at once |
# | 2 | [2 The ladder](#2-The-ladder) | ★ | 5 | 3 | to bet on a column before you see it |
# | 3 | [3 Three reasons to say no, or yes](#3-Three-reasons-to-say-no,-or-yes) | ★ | 5 | 3 | to count reflections |
# | 4 | [4 The predictor](#4-The-predictor) | ★ | 5 | 3 | to predict what depth buys |
# | 5 | [4 The predictor](#4-The-predictor) | ★★ | 10 | 4 | to tell two families apart |
# | 6 | [4 The predictor](#4-The-predictor) | ★★ | 15 | 4 | to tell families apart by depth |
# | 7 | [7 A rule of your own](#7-A-rule-of-your-own) | ★★★ | 20 | 6 | to design a recurrent rule and find out what it can hold |
#
# <details><summary>Solution of 10.1</summary>
#
# ```python
# def two_reflections(k, beta):
#     k = torch.nn.functional.normalize(k, dim=-1)
#     first, second = torch.eye(k.shape[-1]) - beta[..., None, None] * k.unsqueeze(-1) * k.unsqueeze(-2)
#     return second @ first
# ```
#
# </details>
#
# <details><summary>Solution of 10.2</summary>
#
# One-hot columns, Elman and LSTM. Blocks with softmax columns keep it with two seeds of three, and two reflections learn
# it and lose it. The others do not even learn it, and for each of them a theorem says that one layer cannot hold it.
#
# </details>
#
# <details><summary>Solution of 10.3</summary>
#
# 3: six points, and the cycles $(0\,1\,2)$, $(3\,4)$ and $(5)$; $6 - 3 = 3$, two for the cycle of three and one for the exchange.
#
# </details>
#
# <details><summary>Solution of 10.4</summary>
#
# Three: $S_4 \supset A_4 \supset V_4 \supset 1$ has the factors $\mathbb Z_2$, $\mathbb Z_3$ and $\mathbb Z_2^2$, all commutative, and no shorter series of this kind exists. The derived series of $S_4$ has length 3.
#
# </details>
#
# <details><summary>Solution of 10.5</summary>
#
# `(b|ab*a)*`, an even number of a: a gate of $-1$ at every a. No gates in $[0, 1]$ hold it, by Theorem 2: the word a turns two states.
#
# </details>
#
# <details><summary>Solution of 10.6</summary>
#
# `(ab)*`. One layer of complex gates confuses in the end $ab(ab)^n$, which is in it, and $ba(ab)^n$, which is
# not. What the loop $ab$ shrinks is forgotten; in what it does not shrink, a and b are turns about one centre, so $ab$
# and $ba$ do the same. Two layers hold it: the lower one shows the token before, and with it
# every mistake is seen at once. Two reflections a token hold it in one layer: resets of a part of the state do not
# commute; turns about one centre do.
#
# </details>
#
# <details><summary>Solution of 10.7</summary>
#
# One of many: a turn for each letter and head. It can add modulo any number, and as turns commute it cannot hold $S_3$.
#
# ```python
# class my_rule(torch.nn.Module):
#     def __init__(self, letters):
#         super().__init__()
#         self.angle = torch.nn.Parameter(torch.randn(letters, 16))
#
#     def forward(self):
#         c, s = self.angle.cos(), self.angle.sin()
#         return torch.stack([torch.stack([c, -s], -1), torch.stack([s, c], -1)], -2)
# ```
#
# </details>

# %% [markdown]
# ## Read on
#
# * Y. Sarrof, Y. Veitsman and M. Hahn, *The expressive capacity of state space models*, [arXiv:2405.17394](https://arxiv.org/abs/2405.17394): gates that
#   are not negative, and star-free languages.
# * R. Grazzi, J. Siems and others, *Unlocking state-tracking in linear RNNs through negative eigenvalues*,
#   [arXiv:2411.12537](https://arxiv.org/abs/2411.12537); J. Siems and others, *DeltaProduct*, [arXiv:2502.10297](https://arxiv.org/abs/2502.10297): products of reflections.
# * M. Shakerinava and others, *The expressive limits of diagonal SSMs for state-tracking*, [arXiv:2603.01959](https://arxiv.org/abs/2603.01959): how many layers a
#   solvable group takes.
# * A dictionary of dense matrices: A. Terzić and others, *On the Expressiveness and Length Generalization of Selective
#   State-Space Models on Regular Languages*, [arXiv:2412.19350](https://arxiv.org/abs/2412.19350). One-hot columns and
#   phases: A. Terzić and others, *Structured Sparse Transition Matrices to Enable State Tracking in State-Space
#   Models*, [arXiv:2509.22284](https://arxiv.org/abs/2509.22284).
# * W. Merrill, J. Petty and A. Sabharwal, *The illusion of state in state-space models*, [arXiv:2404.08819](https://arxiv.org/abs/2404.08819).
# * G. Weiss, Y. Goldberg and E. Yahav, *Extracting automata from recurrent neural networks*, [arXiv:1711.09576](https://arxiv.org/abs/1711.09576).
