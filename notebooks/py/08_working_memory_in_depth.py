# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 08 · Working memory in depth
#
# Walk around a circle of five places: + is a step forward, − a step back, 0 stays. Where do you end? You need not walk at all. Merge
# the steps in pairs, then merge the pairs, and so on:

# %% jupyter={"source_hidden": true} tags=["hide-input", "nbval-ignore-output"]
import copy
import itertools
from fractions import Fraction
from functools import reduce

import numpy as np
import sympy as sp
import torch
from torch import nn
from torch.nn import functional as F

import lrnnbook
from lrnnbook import show
from lrnnbook.content.chapters import ch08
from lrnnbook.content.chapters.tree_composition import letters, truth, words
from lrnnbook.content.exercises import check, guess, hint, mine, solution
from lrnnbook.content.show import regulargpt_figures
from lrnnbook.content.show.widgets import explore
from lrnnbook.content.tables import regulargpt_table1, results

lrnnbook.needs("0.1")
filling_widget = ch08.filling_widget()
filling_widget


# %% [markdown]
# Each circle carries a shortest word that does the same as the letters below it. Such a word is never long, because there are only
# five ways to move.
#
# Play the merges, then press a letter. How many circles change?

# %% [markdown]
# **What we ask.** *Can depth replace recurrence?* A recurrent network carries its state from letter to letter. Paper 002 (Chi, Fan,
# Rudnicky and Ramadge, 2023) carries it from layer to layer. Its RegularGPT is a Transformer with *one* layer, used again and again
# on longer and longer words, until the word is the whole string: $x_t = A_t\,x_{t-1} + b_t$, bracketed as a tree (chapter 03) and
# learned.
#
# You will write this network, train it on 40 letters and ask it 500. Then you will find out why it works, build an exact one by hand,
# and watch an automaton appear among its states.
#
# *You need:* matrices, what attention is, and chapter 03. *It takes* about 45 min to read and 1 h for the exercises, and a minute of computing.
#
# ## 1 A tree over the string
#
# > **The paper, section 2.3.** "we first divide the sequence into $T/C$ chunks with each chunk of length $C < T$, and we
# > compose the final answer by recursively merging the chunk outputs. This approach does not suffer from the unseen
# > summation issue as the model was trained to handle a fixed amount of $C$ bits at a time in its WM (chunk)."
#
# (WM is working memory.) Here is one merge. It is one layer of a Transformer. The last word of the chunk asks. Its *query* is compared
# with the *key* of each word, every head adds a learned number $r_j$ for each place $j$ of the chunk, and a softmax of these scores
# mixes the words' *values*. The mixture is added to the last word and normalised. Then a feed-forward network does the same.

# %%
class Merge(nn.Module):
    """One node for each chunk: words (..., C, D) -> (..., D)."""

    def __init__(self, width, heads, chunk):
        super().__init__()
        self.heads, self.r = heads, nn.Parameter(torch.zeros(heads, chunk))
        self.Q, self.K, self.V, self.O = (nn.Linear(width, width, bias=False) for _ in range(4))
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.norm_1, self.norm_2 = nn.LayerNorm(width), nn.LayerNorm(width)

    def forward(self, words):
        part = lambda x: x.unflatten(-1, (self.heads, -1))  # (..., D) -> (..., heads, size)
        last = words[..., -1, :]
        query, key, value = part(self.Q(last)), part(self.K(words)), part(self.V(words))
        scores = torch.einsum("...hd,...chd->...hc", query, key) / query.shape[-1] ** 0.5
        shares = (scores + self.r).softmax(-1)
        mixed = torch.einsum("...hc,...chd->...hd", shares, value).flatten(-2)
        seen = self.norm_1(last + self.O(mixed))
        return self.norm_2(seen + self.down(torch.relu(self.up(seen))))


# %% [markdown]
# And here is the tree: the *same* merge at every depth, until one word is left. If a row does not fill its chunks, a learned vector
# comes before the start of the string. Remember it for section 4.

# %%
class Tree(nn.Module):
    """Strings (B, T) of letters -> the logits of one answer each, (B, answers)."""

    def __init__(self, letters=2, answers=2, width=32, heads=4, chunk=2):
        super().__init__()
        self.chunk, self.merge = chunk, Merge(width, heads, chunk)
        self.embedding, self.head = nn.Embedding(letters, width), nn.Linear(width, answers)
        self.before = nn.Parameter(torch.randn(width))

    def hidden(self, tokens):
        """The letters, then the nodes of every depth; the last row has one node."""
        rows = [self.embedding(tokens)]
        while rows[-1].shape[1] > 1:
            missing = self.before.expand(len(tokens), -rows[-1].shape[1] % self.chunk, -1)
            full = torch.cat([missing, rows[-1]], 1)
            rows.append(self.merge(full.unflatten(1, (-1, self.chunk))))
        return rows

    def forward(self, tokens):
        return self.head(self.hidden(tokens)[-1][:, 0])


# %% [markdown]
# *Checked (a sample):* with the weights of the package's RegularGPT, which agrees with the released code, `Tree` gives the same answers.

# %% jupyter={"source_hidden": true} tags=["hide-input"]
parity = regulargpt_table1.build_task({"task": "parity"})
for row, chunk in (("regulargpt_c2", 2), ("regulargpt_c3", 3)):
    theirs = regulargpt_table1.make_network(row, parity, seed=0, width=32).eval()
    layer, ours = theirs.layers[0], Tree(chunk=chunk, heads=theirs.layers[0].heads)
    norms = [part for part in layer.block.modules() if isinstance(part, nn.LayerNorm)]
    linears = [part for part in layer.block.modules() if isinstance(part, nn.Linear)]
    names = ("norm_1", "norm_2", "up", "down", "Q", "K", "V", "O")
    for name, part in zip(names, (norms[0], norms[-1], *linears, layer.Q, layer.K, layer.V, layer.O)):
        getattr(ours.merge, name).load_state_dict(part.state_dict())
    with torch.no_grad():
        ours.merge.r.copy_(layer.r.flip(1))  # r_0 is that of the last word
        ours.before.copy_(theirs.pad)
        ours.embedding.weight.copy_(theirs.embedding.weight[:-1] * 32**0.5)
        ours.head.load_state_dict(theirs.head.state_dict())
        strings = [torch.randint(2, (4, T), generator=torch.Generator().manual_seed(T)) for T in range(2, 41)]
        same = [torch.allclose(ours(string), theirs(string), atol=1e-5) for string in strings]
    assert all(same), "these lines are not the package's network"
    print(f"chunks of {chunk}: the same answers on strings of 2 to 40 letters, {sum(same)} of {len(same)} lengths")

# %% [markdown]
# The paper writes the tree as attention through masks. At depth $\ell = 0, 1, \dots$ position $m$ sees
#
# $$m,\quad m - C^\ell,\quad m - 2\,C^\ell,\quad \dots,\quad m - (C-1)\,C^\ell \qquad\text{(the paper's Eq. 1)}$$
#
# and nothing else, so $r_j$ belongs to the position $j\,C^\ell$ letters back. Every letter reaches the root by exactly one route
# ([08a](deeper/08a_tree_and_masks.ipynb) proves it, and draws tree and masks for a string of yours).

# %% [markdown]
# **Exercise 1** ★ *(5 min, 2 points: to count the nodes of a tree)* **Predict.** $T = 500$, $C = 2$. How many nodes does the
# tree have, without the letters?

# %%
my_nodes = None  # a whole number
check("08.1", my_nodes)

# %% [markdown]
# <!-- Exercise 08.1: from notebooks/lrnnbook/content/exercises/ch08.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint</summary>
#
# Halve 500, and round up, until 1.
#
# </details>

# %% [markdown]
# ## 2 Trained: Parity from 40 letters to 500
#
# Is the number of ones odd? Train `Tree` on strings of one length a batch. Lengths begin at 1 or 2, and double as soon as the longer
# ones are known, up to 40. (`film` keeps a copy of the net every 50 steps, for section 7.)

# %% tags=["varies", "nbval-ignore-output"]
torch.manual_seed(0)
net, longest, losses, doubled, film = Tree(), 2, [], {0: 2}, {}
descent = torch.optim.Adam(net.parameters(), lr=1e-3)
for step in range(401):
    if step % 50 == 0:
        film[step] = copy.deepcopy(net)
    T = int(torch.randint(1, longest + 1, ()))
    bits = torch.randint(2, (128, T))
    loss = F.cross_entropy(net(bits), bits.sum(1) % 2)
    descent.zero_grad()
    loss.backward()
    descent.step()
    losses.append(loss.item())
    if losses[-1] < 0.1 and longest < 2 * T and longest < 40:
        longest = doubled[step] = min(2 * longest, 40)

# %% jupyter={"source_hidden": true} tags=["varies", "hide-input", "nbval-ignore-output"]
show.figure(
    ch08.loss_picture(losses, doubled),
    alt="The loss by training step on a logarithmic axis. It stays near that of a guess for most of the way, then falls within a few "
        "steps; marks above say when the lengths double.",
    caption="Live. What to see: words of up to eight letters take most of the steps. Then 16, 32 and 40 letters follow within a few, because "
            "the merge is the same one.",
)  # fmt: skip


# %% [markdown]
# Strings of 40 letters use six depths, strings of 500 nine. The net has never been as deep as that:

# %% tags=["varies", "nbval-ignore-output"]
def accuracy(net, T, strings=64):
    """The share of right answers on random strings of T bits."""
    bits = torch.randint(2, (strings, T), generator=torch.Generator().manual_seed(T))
    return (net(bits).argmax(1) == bits.sum(1) % 2).float().mean().item()


shares = {T: accuracy(net, T) for T in (40, 41, 64, 100, 200, 300, 400, 500)}
print(*(f"{T} letters: {share:.0%}" for T, share in shares.items()), sep="\n")

# %% [markdown]
# > **The paper, section 5.1.** "Table 1 shows that RegularGPT with $C = 2$ achieves similar performance as an RNN and
# > substantially outperforms a vanilla Transformer."

# %% jupyter={"source_hidden": true} tags=["hide-input", "nbval-ignore-output"]
desk = results.runs("regulargpt/table1")
beyond = [share for T, share in shares.items() if T > 41]
show.figure(
    regulargpt_figures.accuracy_by_task(desk, {("parity", "regulargpt_c2"): [sum(beyond) / len(beyond)]},
                                        ("parity", "even_pairs", "cycle_navigation", "d_2")),
    alt="Accuracy beyond the training length for four tasks in four panels: RNN, Transformer, RegularGPT with chunks of 2 and of 3. "
        "On Parity the Transformer is at the level of a guess, RegularGPT at 100 percent.",
    caption="Paper (grey), recorded (blue, every seed), yours (vermilion). What to see: on Parity the Transformer guesses, while "
            "RegularGPT with C = 2 is right on everything. The dashed stroke is the commonest answer. Nine more tasks are in 08e.",
)  # fmt: skip


# %% [markdown]
# **Exercise 2** ★ *(5 min, 3 points: to predict what an exact layer does at new depths)*
# **Predict** before you run: your net read strings of up to 40 bits, in six depths. Now 32 strings
# of 2,048 bits, eleven depths: how many answers are right?

# %% tags=["nbval-ignore-output"]
def far_beyond():
    share = accuracy(net, 2048, strings=32)
    said = "all" if share == 1 else "most, not all" if share > 0.75 else "about half"
    return said, f"Right at 2,048 bits: {share:.0%} of 32 strings"


guess("08.2", far_beyond)

# %% [markdown]
# <!-- Exercise 08.2: from notebooks/lrnnbook/content/exercises/ch08.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint</summary>
#
# Every depth uses the same layer. What does the eleventh one read, if the tenth one is right?
#
# </details>

# %% [markdown]
# ## 3 Lemma 1: a layer can compose
#
# What should a node hold? For each state of the task's automaton, where its word leads. Call this the **action** of the word. Write it
# as a matrix $A$ with one-hot rows (the paper's Eq. 2): row $s$ has its 1 in the column of the state that is reached from $s$. First
# the word $u$, then $v$, is the product $A_u A_v$. So a merge must multiply matrices. Can two layers of a network do that?
#
# > **The paper, Lemma 1 (Approximation for Binary Matrix Product).** "Let $A, B \in \{0, 1\}^{n\times n}$ be binary matrices
# > [...]. Then, there exists a two-layer ReLU network such that
# > $f_{mlp}([\mathrm{Flat}(A), \mathrm{Flat}(B)]) \approx \mathrm{Flat}(AB)$" [...].
#
# $\mathrm{Flat}$ writes a matrix row after row. The proof is the left picture: for bits, $ab = \mathrm{ReLU}(a + b - 1)$.

# %% jupyter={"source_hidden": true} tags=["hide-input", "nbval-ignore-output"]
show.figure(
    ch08.units_of_a_merge(),
    alt="Left: ReLU(a + b - 1) over the unit square, light where it is 0 and dark at a = b = 1, with the four products of bits. Right: "
        "ReLU(s) rises from 0 without end; the difference of two ReLUs is 0 up to a quarter, rises, and is 1 from three quarters on. "
        "Shaded: where s lies if bits are off by up to an eighth.",
    caption="What to see, left: at the four corners one ReLU is the product of two bits. Right (for section 6): where bits are off by up to "
            "1/8, s = a + b - 1 lies in the shaded parts. There two ReLUs are flat, and one is not.",
)


# %% [markdown]
# **Step 1.** $\mathrm{ReLU}(a + b - 1)$ is 1 for $1 + 1$ only. *Check: all four pairs; the fold has the paper's weights $W_1$ (Eq. 3) and $W_2$.*

# %% jupyter={"source_hidden": true} tags=["hide-input", "proof-lemma_1"]
def relu(x):
    return np.maximum(x, 0)


def first_weights(n):
    """W1 by Eq. 3, (2 n², n³): hidden unit (i, j, k) reads the numbers at two places, from 1."""
    z = np.arange(1, 2 * n * n + 1)[:, None, None, None]
    i, j, k = np.ogrid[1 : n + 1, 1 : n + 1, 1 : n + 1]
    reads = (z == (i - 1) * n + k) | (z == (n + k - 1) * n + j)
    return reads.reshape(2 * n * n, n**3).astype(int)


def second_weights(n):
    """W2 = I (n² x n²) times a column of n ones, Kronecker: (n³, n²)."""
    return np.kron(np.eye(n * n, dtype=int), np.ones((n, 1), dtype=int))


for a, b in itertools.product((0, 1), repeat=2):
    print(f"a = {a}, b = {b}: ReLU(a + b - 1) = {relu(a + b - 1)}")
    assert relu(a + b - 1) == a * b, "Lemma 1, step 1: a b = ReLU(a + b - 1)"


# %% [markdown]
# **Step 2.** $(AB)_{ij} = \sum_k A_{ik} B_{kj}$. Give every $(i, j, k)$ a hidden unit: $n^3$ of them. The first layer makes
# $A_{ik} + B_{kj}$ for each. **Step 3.** Subtract 1 and apply ReLU: now the unit holds $A_{ik} B_{kj}$. The second layer adds up over
# $k$. $\blacksquare$ *Check: all matrices, $n \le 4$, with free symbols in place of numbers.*

# %% jupyter={"source_hidden": true} tags=["hide-input", "proof-lemma_1"]
def free(n):
    """Two n x n matrices of symbols."""
    return (np.array(sp.symbols(f"{name}:{n}:{n}")).reshape(n, n) for name in "AB")


for n in range(2, 5):
    A, B = free(n)
    units = list(itertools.product(range(n), repeat=3))
    sums = np.concatenate([A.ravel(), B.ravel()]) @ first_weights(n)
    assert list(sums) == [A[i, k] + B[k, j] for i, j, k in units], (
        "Lemma 1, step 2: a unit for each i, j, k"
    )
    listed = np.zeros((2 * n * n, n**3), dtype=int)
    for i, j, k in units:
        listed[[i * n + k, n * n + k * n + j], (i * n + j) * n + k] = 1
    assert np.array_equal(listed, first_weights(n)), "Lemma 1, step 2: the listing"
    show.math(rf"n = {n}:\quad {n**3}\text{{ hidden units, of which the last one reads }}", sums[-1])

for n in range(2, 5):
    A, B = free(n)
    products = np.array([A[i, k] * B[k, j] for i, j, k in itertools.product(range(n), repeat=3)])
    assert (products @ second_weights(n) == (A @ B).ravel()).all(), (
        "Lemma 1, step 3: the second layer gives the product"
    )
show.math("(AB)_{00} =", (products @ second_weights(n))[0])


# %% [markdown]
# So on bits the network *is* the product; nothing is approximate. **Step 4.** *Check: the paper's example, all 256 pairs for $n = 2$, and
# a sample of 200 for each of $n = 3, 4, 5$.*

# %% jupyter={"source_hidden": true} tags=["hide-input", "proof-lemma_1"]
def network(A, B, bias=1):
    """(S, n, n) twice -> (S, n, n): two layers, and nothing but them."""
    n = A.shape[-1]
    x = np.concatenate([A.reshape(-1, n * n), B.reshape(-1, n * n)], axis=1)
    return (relu(x @ first_weights(n) - bias) @ second_weights(n)).reshape(A.shape)


A, B = np.array([[1, 0], [1, 0]]), np.array([[0, 1], [1, 0]])
sums = np.concatenate([A.ravel(), B.ravel()]) @ first_weights(2)
print(f"[Flat A, Flat B] W1 = {sums}, after ReLU(. - 1) {relu(sums - 1)}, Flat(AB) = {(A @ B).ravel()}")
assert sums.tolist() == [1, 1, 2, 0, 1, 1, 2, 0], "Lemma 1, step 4: the printed example"
assert relu(sums - 1).tolist() == [0, 0, 1, 0, 0, 0, 1, 0], "Lemma 1, step 4: the printed example"
assert (A @ B).ravel().tolist() == [0, 1, 0, 1], "Lemma 1, step 4: the printed example"
all_pairs = np.array(list(itertools.product((0, 1), repeat=8))).reshape(256, 2, 2, 2)
draw = np.random.default_rng(0)
for pairs in (all_pairs, *(draw.integers(2, size=(200, 2, n, n)) for n in (3, 4, 5))):
    A, B = pairs[:, 0], pairs[:, 1]
    assert np.array_equal(network(A, B), A @ B), "Lemma 1, step 4: the network multiplies"
    print(f"n = {A.shape[-1]}: {len(A)} pairs, no error")

# %% [markdown]
# **Break it:** without the bias of 1 a sum is only a sum. And entries must be bits: $\mathrm{ReLU}(2 + 2 - 1)$ is 3.

# %% jupyter={"source_hidden": true} tags=["hide-input", "proof-lemma_1"]
with show.expect_failure("Lemma 1, step 1"):
    for a, b in itertools.product((0, 1), repeat=2):
        assert relu(a + b - 0) == a * b, (
            f"Lemma 1, step 1: without a bias ReLU({a} + {b}) is {relu(a + b)}"
        )
with show.expect_failure("Lemma 1, step 1"):
    for a, b in itertools.product((0, 1, 2, 3), repeat=2):
        assert relu(a + b - 1) == a * b, f"Lemma 1, step 1: {a} and {b} give {relu(a + b - 1)}"
with show.expect_failure("Lemma 1, step 4"):
    A, B = all_pairs[:, 0], all_pairs[:, 1]
    assert np.array_equal(network(A, B, bias=0), A @ B), "Lemma 1, step 4: the network without a bias"

# %% [markdown]
# **Exercise 3** ★★ *(15 min, 4 points: to see what larger chunks cost)* **Code.** Chunks of three: the weights of one layer
# of ReLUs that multiplies *three* matrices of bits with one-hot rows at once, $\mathrm{ReLU}([\mathrm{Flat}(A),
# \mathrm{Flat}(B), \mathrm{Flat}(C)]\,W_1 + c)\,W_2 = \mathrm{Flat}(ABC)$, with at most $n^4$ hidden units.

# %%
my_triple = None  # a function of n; it returns W1 (3 n n, units), c (units,) and W2 (units, n n)
check("08.3", my_triple)


# %% [markdown]
# <!-- Exercise 08.3: from notebooks/lrnnbook/content/exercises/ch08.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint</summary>
#
# When do three bits add up to 3?
#
# </details>

# %% [markdown]
# ## 4 What comes before the start?
#
# For 500 letters the layer is used nine times, and eight times it reads its own output. The paper does not say two things that this
# needs. Something must be there before the start of the string, and outputs must be bits again. Start with the first. Here are
# Lemma 1 without its zero weights, and the recursion:

# %% tags=["proof-one_eighth"]
def compose(A, B):
    """Lemma 1 without its zero weights: sum over k of ReLU(A_ik + B_kj - 1), for (..., n, n)."""
    s = A[..., :, None, :] + np.swapaxes(B, -1, -2)[..., None, :, :] - 1
    return np.maximum(s, 0).sum(-1)


def recursion(leaves, layer, before):
    """Depth by depth what each place holds, chunks of two: layer(place i - 2^l, place i).

    before : what stands at places before the first.
    """
    held, back = [list(leaves)], 1
    while back < len(leaves):
        last = held[-1]
        held.append([layer(last[i - back] if i >= back else before, last[i])
                     for i in range(len(last))])  # fmt: skip
        back *= 2
    return held


# %% [markdown]
# **Claim (prefixes).** With identities before the string, $\lceil\log_2 T\rceil$ layers give the action of every prefix. With
# zeros they do not.
#
# Why? After $\ell$ layers place $i$ holds its last $2^\ell$ letters in order, or all there are, if the *empty word* is before the
# start. The empty word does nothing, so its matrix is the identity ([08c](deeper/08c_lemma_1_in_use.ipynb) has the proof). With zeros
# you can read a position only if all letters of its tree exist. Of eight positions, only the last has them. (`letters` writes the
# matrix of each letter; `truth` follows every state letter by letter.)

# %%
tomita_3 = ch08.machine_of("Tomita 3")  # a language of 0s and 1s; its letters do not commute
strings = words(tomita_3, 8)
for said, before in {"identities": np.eye(5, dtype=int), "zeros": np.zeros((5, 5), dtype=int)}.items():
    last = recursion(letters(tomita_3, strings), compose, before)[-1]
    right = [(made == due).all(axis=(1, 2)).mean() for made, due in zip(last, truth(tomita_3, strings))]
    print(f"{said} before the start: right after 1 to 8 letters", *(f"{share:.0%}" for share in right))


# %% [markdown]
# The released code puts one learned vector there, as `Tree` does. It *may* learn to be the identity; nothing forces it.
#
# ## 5 The order of composition
#
# > **The paper, section 7.2.** "One concrete construction for concatenation is setting $r_0 = 0$ and the remaining $-\infty$ for
# > the first head; $r_1 = 0$ and the remaining $-\infty$ for the second head."
#
# The first head reads the position itself, which holds the *later* word; the second head reads the earlier one. Lemma 1
# then multiplies later by earlier. But with one-hot rows $A_u A_v$ means first $u$, then $v$: it should be earlier by later.
#
# **Claim (the order).** The printed heads compute the action of the string *read backwards*. They are right on all words exactly for
# tasks that answer a word and its mirror image alike ([08b](deeper/08b_order_of_composition.ipynb) has the proof).
#
# How often does this matter? Count over all words of six letters:

# %%
def share_right(machine, layer, length=6):
    """Of all words of so many letters, the share whose answer is right."""
    strings, identity = words(machine, length), np.eye(machine.num_states, dtype=int)
    made = recursion(letters(machine, strings), layer, identity)[-1][-1]
    states = made[:, machine.initial].argmax(-1)
    return (machine.outputs[states] == [machine.answer(word)[-1] for word in strings]).mean()


asked = [ch08.machine_of(name) for name in ("Parity", "Cycle Navigation", "S_3", "Tomita 3", "D_2")]
show.table(
    [{"task": name, "heads as printed": share_right(machine, lambda earlier, later: compose(later, earlier)),
      "heads exchanged": share_right(machine, compose)}
     for name, machine in zip(("Parity", "Cycle Navigation", "S₃", "Tomita 3", "D₂"), asked)],
    caption="Share of all words of six letters that are answered right.",
    formats=dict.fromkeys(("heads as printed", "heads exchanged"), ".1%"),
)  # fmt: skip

# %% [markdown]
# **The corrected statement.** Exchange the two heads, so that the earlier word comes first: by section 4 every prefix is then right,
# for every machine.
#
# The paper looks into models trained on Parity and Cycle Navigation. Their letters commute, so there the order cannot be seen. (A
# trained network finds its own order. Only the printed construction is wrong.)
#
# ## 6 Errors double
#
# Lemma 1 is exact for exact bits. A trained layer gives numbers *near* bits. What does the next layer make of them? Below, every number
# of every letter's matrix is wrong by up to $e$. Move $e$: how many layers does the state survive?

# %% jupyter={"source_hidden": true} tags=["hide-input", "nbval-ignore-output"]
noise_widget = explore(
    ch08.noise_picture,
    {"task": list(ch08.NOISY), "e": list(ch08.NOISES), "layer": list(ch08.LAYERS),
     "noise": list(ch08.PLACES)},
    initial={"task": "Cycle Navigation", "e": 0.04, "layer": "Lemma 1", "noise": "the letters"},
    sentence=ch08.noise_sentence,
    alt="Largest error and share of states read right, by layers done.",
)  # fmt: skip
noise_widget

# %% [markdown]
# **Claim (noise).** Let the letters be permutations of $n$ states, as in Cycle Navigation. At worst the error of the ones doubles in
# every layer. The error of the zeros grows by more than that. It starts to run away when it passes $\frac12$: from then on errors grow
# by a factor that tends to $2n$.
#
# Why doubling? Two ones, each $1 + x$, give $\mathrm{ReLU}(2(1 + x) - 1) = 1 + 2x$. ([08d](deeper/08d_errors_double.ipynb) has the
# proof, and what holds for other letters.)
#
# ### A layer that repairs
#
# Can a layer compose *and* remove errors? With twice as many units it can. Let $s = A_{ik} + B_{kj} - 1$, and replace
# $\mathrm{ReLU}(s)$ by $\mathrm{ReLU}(2s - \frac12) - \mathrm{ReLU}(2s - \frac32)$ (section 3, on the right of the picture). More generally, with a slope
# $g > 1$,
#
# $$\mathrm{ReLU}\bigl(gs - \tfrac{g-1}2\bigr) - \mathrm{ReLU}\bigl(gs - \tfrac{g+1}2\bigr).$$
#
# > **One eighth.** If all inputs are within $\frac14 - \frac1{4g}$ of bits ($\frac18$ for $g = 2$), the output is *exactly* the
# > product. It is so for no larger error.
#
# **Step 1.** The two ReLUs are 0 up to $s = \frac12 - \frac1{2g}$ and 1 from $s = \frac12 + \frac1{2g}$ on.
#
# **Step 2.** Let $e$ be the bound. Two ones give $s \ge 1 - 2e$, which is the upper kink. Any other two bits give $s \le 2e$, the lower
# one. So every unit is exactly 1 or 0, and their sum is the product. *Check: both steps for all $g$.*

# %% jupyter={"source_hidden": true} tags=["hide-input", "proof-one_eighth"]
g = sp.Symbol("g", positive=True)  # g > 1


def unit(s, g):
    """The two ReLUs at s; sp.Max keeps exact numbers exact."""
    return sp.Max(g * s - (g - 1) / 2, 0) - sp.Max(g * s - (g + 1) / 2, 0)


lower, upper = sp.Rational(1, 2) - 1 / (2 * g), sp.Rational(1, 2) + 1 / (2 * g)
assert sp.simplify(g * lower - (g - 1) / 2) == 0, "One eighth, step 1: the lower kink"
assert sp.simplify(g * upper - (g + 1) / 2) == 0, "One eighth, step 1: the upper kink"
s = sp.Symbol("s")
assert sp.simplify((g * upper - (g - 1) / 2) - 1) == 0, "One eighth, step 1: the height"
assert sp.expand((g * s - (g - 1) / 2) - (g * s - (g + 1) / 2)) == 1, (
    "One eighth, step 1: flat from there on"
)
for slope in (2, 3, 4):
    ends = [end.subs(g, slope) for end in (lower, upper)]
    assert [unit(s, sp.Integer(slope)) for s in (-1, *ends, 2)] == [0, 0, 1, 1], (
        "One eighth, step 1: flat outside"
    )
    print(f"g = {slope}: 0 up to {ends[0]}, 1 from {ends[1]}")

bound = sp.Rational(1, 4) - 1 / (4 * g)
assert sp.simplify(2 * (1 - bound) - 1 - upper) == 0, "One eighth, step 2: two ones"
assert sp.simplify((1 + bound) + bound - 1 - lower) == 0, "One eighth, step 2: a one and a zero"
show.math("e =", bound, r", \quad g = 2, 3, 4:", tuple(bound.subs(g, slope) for slope in (2, 3, 4)))


# %% [markdown]
# **Step 3.** *Check: all pairs of maps of 2 and 3 states, for $g = 2$ and 4.* **Step 4.** A little more than the bound, and the unit
# of two ones is $1 - 2g\varepsilon$: there is no larger bound. **Step 5.** An error of $\frac18$ added to the output of *every* layer is
# gone in the next one: depth does not add errors up (*a sample of 512 letters*). **Step 6.** No function of $a + b$ alone reaches
# $\frac14$: two ones with $-\frac14$ have the same sum as a one and a zero with $+\frac14$. $\blacksquare$

# %% jupyter={"source_hidden": true} tags=["hide-input", "proof-one_eighth"]
def repaired(A, B, g=2):
    """The layer with two ReLUs a unit, (..., n, n) twice."""
    s = A[..., :, None, :] + np.swapaxes(B, -1, -2)[..., None, :, :] - 1
    return (np.maximum(g * s - (g - 1) / 2, 0) - np.maximum(g * s - (g + 1) / 2, 0)).sum(-1)


def wrong_pairs(n, e, g):
    """Pairs of maps of n states whose product is wrong with -e or with +e everywhere."""
    maps = np.eye(n)[np.array(list(itertools.product(range(n), repeat=n)))]
    bad = [(repaired(maps[:, None] + shift, maps + shift, g) != maps[:, None] @ maps).any((-1, -2))
           for shift in (-e, e)]  # fmt: skip
    return int((bad[0] | bad[1]).sum())


for n, slope in itertools.product((2, 3), (2, 4)):
    e = 1 / 4 - 1 / (4 * slope)
    assert wrong_pairs(n, e, slope) == 0, "One eighth, step 3: exact up to the bound"
    assert wrong_pairs(n, e + 1 / 64, slope) > 0, "One eighth, step 4: wrong beyond the bound"
more = sp.Symbol("epsilon", positive=True)
missed = g * (1 - 2 * (bound + more)) - (g - 1) / 2  # on the ramp
assert sp.simplify(missed - (1 - 2 * g * more)) == 0, "One eighth, step 4: two ones"
print(f"n = 3: none of {27**2} pairs wrong at {e}, and {wrong_pairs(3, e + 1 / 64, 4)} at {e + 1 / 64}")


machine = ch08.machine_of("Cycle Navigation")
leaves = np.eye(5)[machine.transitions[np.random.default_rng(0).integers(3, size=512)]]
clean = np.array(recursion(leaves, compose, np.eye(5)))
for shift in (-1 / 8, 1 / 8):
    made = recursion(leaves + shift, lambda a, b: repaired(a, b) + shift, np.eye(5))
    assert np.array_equal(made, clean + shift), (
        "One eighth, step 5: the error is gone in the next layer"
    )
quarter = Fraction(1, 4)
assert 2 * (1 - quarter) == (1 + quarter) + quarter, "One eighth, step 6: two sums are the same"
print(f"{len(made) - 1} layers: what each adds, {shift:+}, is all that is wrong after it")

# %% [markdown]
# **Break it:** an error of $\frac9{64}$, a little more than $\frac18$.

# %% jupyter={"source_hidden": true} tags=["hide-input", "proof-one_eighth"]
with show.expect_failure("One eighth, step 3"):
    assert wrong_pairs(2, 9 / 64, 2) == 0, (
        f"One eighth, step 3: {wrong_pairs(2, 9 / 64, 2)} wrong pairs of 16"
    )

# %% [markdown]
# *Try:* in the panel above take the layer *repairing*, put noise on *every layer*, and push $e$ over $\frac18$.
#
# Now build a tree that is right for ever.

# %% [markdown]
# **Exercise 4** ★★ *(15 min, 4 points: to compose and repair in one layer)* **Build.** `merge(chunk)` takes a list of
# $C \ge 2$ matrices (bits with one-hot rows, each entry off by up to
# $\frac18$) and returns their *exact* product, the earlier word first. Nothing but sums and ReLUs is needed.

# %%
# %%build merge
import numpy as np


def merge(chunk):
    raise NotImplementedError  # your lines


# %% [markdown]
# <!-- Exercise 08.4: from notebooks/lrnnbook/content/exercises/ch08.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint 1</summary>
#
# Two matrices first. The unit $(i, k, j)$ reads $s = A_{ik} + B_{kj} - 1$:
# `s = A[:, :, None] + B[None] - 1`.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# One ReLU at $s$ is Lemma 1, and passes errors on. Which two ReLUs make 0 of all $s \le \frac14$ and 1 of all
# $s \ge \frac34$?
#
# </details>

# %% [markdown]
# **Exercise 5** ★★ *(20 min, 5 points: to build a whole model from one layer)* **Build.** `tree(leaves, C, merge)` takes
# the matrices of $T \ge 2$ letters and returns the rows of the tree above them: one for each depth, each a list of matrices.
# The last row is one matrix, the action of the whole word. What comes before the start?

# %%
# %%build tree
import numpy as np


def tree(leaves, C, merge):
    raise NotImplementedError  # your lines


# %% [markdown]
# <!-- Exercise 08.5: from notebooks/lrnnbook/content/exercises/ch08.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint 1</summary>
#
# A row gets shorter by the factor $C$, until one matrix is left. How many places are missing from its first chunk?
# `-len(row) % C` says it.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# The empty word comes before the start. Which matrix is its action?
#
# </details>

# %% [markdown]
# Ask your tree: walks of 500 letters around the circle, every number of every letter wrong by up to $e$. Once it merges with Lemma 1,
# once with your `merge`:

# %%
merge, tree = mine("merge"), mine("tree")
steps = letters(ch08.machine_of("Cycle Navigation"), np.arange(3))  # one matrix for each of - 0 +


def answered(e, merge, strings=20, T=500):
    """The share of walks whose end is read right."""
    draw, right = np.random.default_rng(0), 0
    for _ in range(strings):
        word = draw.integers(3, size=T)
        leaves = [steps[letter] + draw.uniform(-e, e, (5, 5)) for letter in word]
        root, due = tree(leaves, 2, merge)[-1][0], reduce(np.matmul, [steps[letter] for letter in word])
        right += root[0].argmax() == due[0].argmax()
    return right / strings


noises = [0, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.125, 0.15, 0.2, 0.25]
lines = {name: [answered(e, by) for e in noises] for name, by in
         {"Lemma 1": lambda chunk: reduce(compose, chunk), "your merge": merge}.items()}  # fmt: skip

# %% jupyter={"source_hidden": true} tags=["hide-input", "nbval-ignore-output"]
show.figure(
    ch08.noise_lines(noises, lines),
    alt="The share of walks of 500 letters that are answered right by the size of the error. Lemma 1 falls to chance at small errors; the "
        "tree with the repairing merge is at 100 percent up to one eighth and beyond.",
    caption="500 letters, nine depths. What to see: Lemma 1 is lost at errors of one or two hundredths. Your merge answers everything up to "
            "1/8, as proved. Random errors are seldom at their worst, so it lasts longer.",
)  # fmt: skip

# %% [markdown]
# A trained layer has no such ramp. It has a residual connection and layer normalisation. Does it repair, too?
#
# ## 7 What the layers hold
#
# > **The paper, section 7.3.** "Ideally, we want to see a limited number of clusters across all layers, indicating the model learns
# > to capture the state transition function. As we can see in Figure 3, PARITY has 2 clusters and Cycle Navigation has 5 clusters."
#
# How many clusters should there be? Words with the same action may share a state of the network; words with different actions must
# not.
#
# > **Clusters.** Let every state of the automaton have an answer of its own. A net (chunks of two) that is right on all strings has
# > at depth $\ell$ at least as many different states as there are actions of words of *exactly* $2^{\ell+1}$ letters.
#
# Why? Exchange the last $2^{\ell+1}$ letters of a string: at depth $\ell$ only one node changes. If that node held the same for two
# words with different actions, the net would answer both strings alike, and one of them wrongly
# ([08f](deeper/08f_clusters_and_gradients.ipynb) counts actions, and has the paper's figure again).
#
# Now look. Below are the states of your tree after short words, and those of other small nets that train here (300 steps on up to 16
# letters). Dots have the colour of what their word *does*. Rings are clusters that scikit-learn finds, told nothing about the task. Each
# arrow leads from the cluster of $u$ to that of $ua$. If a net has found the automaton, its arrows draw it.
#
# *Try:* play the training of your tree. Then take the LRNN on Cycle Navigation: the circle of the first picture. Whose arrows stay
# orange to the end?

# %% tags=["varies", "nbval-ignore-output"]
others = ["transformer", "rnn", "lrnn", "lstm", "deltanet"]
films = {"parity": {"Your tree": film} | ch08.small_films("parity", others),
         "cycle_navigation": ch08.small_films("cycle_navigation", ["lrnn", "lstm", "transformer"])}  # fmt: skip
clusters_widget = ch08.clusters_widget(films)
clusters_widget


# %% [markdown]
# Your tree may have more clusters than Parity has states. Even words often lie in two groups: made of two even halves, or of two odd ones. More
# clusters than needed are no mistake, and the right number is no proof.
#
# ### Does it correct errors?
#
# Measure how far states lie from the middle of their action, as a share of the distance between middles. If errors added up as in
# Lemma 1, this share would double from depth to depth.

# %% tags=["varies", "nbval-ignore-output"]
def spread(states, actions):
    """The farthest state from the middle of its action, over the least distance of two middles."""
    kinds, which = np.unique(actions, return_inverse=True)
    middles = np.stack([states[which == kind].mean(0) for kind in range(len(kinds))])
    between = np.linalg.norm(middles[:, None] - middles, axis=-1)
    away = np.linalg.norm(states - middles[which], axis=1).max()
    return away / between[np.triu_indices(len(middles), 1)].min()


strings = torch.randint(2, (64, 500), generator=torch.Generator().manual_seed(8))
spreads = [spread(*at) for at in ch08.states_and_elements(net, parity.machine, strings)]
print("farthest state / distance of middles, by depth:", *(f"{size:.3f}" for size in spreads))
print(f"doubled from depth 4 to depth 8, {spreads[4]:.3f} would be {16 * spreads[4]:.1f}")

# %% [markdown]
# It does not double. Nobody asked for that; a loss on 40 letters was enough.
#
# ## 8 How far back it looks
#
# Which letters does a net look at? Ask in three ways. Would the other letter in this place change the *right* answer? Would it change
# the *net's* answer? And how large is the gradient of the net's answer by the vector of this letter? The paper uses the third way: if
# all letters count alike, the net looks at the whole string.
#
# *Try:* Parity with the RNN. Every letter turns its answer; where is the gradient? Flip some letters. Then *The last four* (the
# parity of the last four bits): whose gradient points at letters that do not matter? Filled bars are letters that turn the net's answer.

# %% tags=["varies", "nbval-ignore-output"]
last_four = ch08.small_films("suffix", steps=(300,))
trained = {"parity": {row: film[max(film)] for row, film in films["parity"].items()},
           "suffix": {row: film[300] for row, film in last_four.items()}}  # fmt: skip
fields_widget = ch08.fields_widget(trained)
fields_widget

# %% [markdown]
# So a gradient is a hint, not an explanation. There is a recurrence that is right on Parity at every length, with 99 % of its gradient
# on the last four of 64 letters ([08f](deeper/08f_clusters_and_gradients.ipynb) builds it).
#
# ## What to remember
#
# 1. One layer, used at every depth, sees each letter by exactly one route if its steps are powers of the chunk: a tree of
#    $\lceil\log_C T\rceil$ depths. Trained on 40 letters, yours answers 500.
# 2. Two layers of ReLUs multiply two matrices of bits exactly. To use them again and again you need one-hot rows and identities before
#    the string.
# 3. The printed heads compose backwards. Both tasks that the paper looks into cannot show it.
# 4. At worst errors at least double in each of Lemma 1's layers. Two ReLUs a unit remove all errors up to one eighth, at any depth.
# 5. A net that is right needs as many states as words of one length have actions. Its arrows draw the automaton. Neither a cluster nor
#    a gradient says how an answer is computed.
#
# **Go deeper:**
#
# * [08a tree and masks](deeper/08a_tree_and_masks.ipynb) (15 min): one route to each letter, how large the tree is, and the same weights as masks.
# * [08b order of composition](deeper/08b_order_of_composition.ipynb) (20 min): the proof that the printed heads read backwards, and which product reads the state.
# * [08c Lemma 1 in use](deeper/08c_lemma_1_in_use.ipynb) (25 min): how many units a merge needs, what comes before the start, and when outputs are bits again.
# * [08d errors double](deeper/08d_errors_double.ipynb) (15 min): the nine steps of the claim on noise.
# * [08e paper checked](deeper/08e_paper_checked.ipynb) (20 min): Tables 1 and 2 run again, chance, and where the paper says something else.
# * [08f clusters and gradients](deeper/08f_clusters_and_gradients.ipynb) (35 min): how many actions twelve tasks have, Figures 3 and 4 again, and what a gradient cannot tell.
# * [08g text and cost](deeper/08g_text_and_cost.ipynb) (15 min): Table 3 on a small text, what breaks beyond $C^2$, and what the model costs.

# %% [markdown]
# ## Exercises
#
# You will find each exercise in its section. Stuck? `hint("08.1")`. Done? Compare with `solution("08.1")`.

# %% [markdown]
# <!-- The exercises of this chapter, listed by lrnnlab book build. -->
#
# 5 exercises, 18 points, about 60 minutes:
#
# | exercise | section | difficulty | minutes | points | you will learn |
# |---|---|---|---|---|---|
# | 1 | [1 A tree over the string](#1-A-tree-over-the-string) | ★ | 5 | 2 | to count the nodes of a tree |
# | 2 | [2 Trained: Parity from 40 letters to 500](#2-Trained:-Parity-from-40-letters-to-500) | ★ | 5 | 3 | to predict what an exact layer does at new depths |
# | 3 | [3 Lemma 1: a layer can compose](#3-Lemma-1:-a-layer-can-compose) | ★★ | 15 | 4 | to see what larger chunks cost |
# | 4 | [6 Errors double](#6-Errors-double) | ★★ | 15 | 4 | to compose and repair in one layer |
# | 5 | [6 Errors double](#6-Errors-double) | ★★ | 20 | 5 | to build a whole model from one layer |
#
# <details><summary>Solution of 08.1</summary>
#
# 501. Every depth has half as many nodes as the one below, rounded up:
# $250 + 125 + 63 + 32 + 16 + 8 + 4 + 2 + 1 = 501$.
#
# </details>
#
# <details><summary>Solution of 08.2</summary>
#
# All, if states fall into the same few places after every depth, none of which holds both parities (section 7):
# then the eleventh use of the layer gets what the second one got, and small errors do not add up, since the layer puts states back
# to their places. What came out is what the panel says.
#
# </details>
#
# <details><summary>Solution of 08.3</summary>
#
# $\mathrm{ReLU}(A_{ik} + B_{kl} + C_{lj} - 2)$ is the product of three bits, and one needs it for
# all $(i, j, k, l)$: $n^4$ units. So the unit of $(i, k, l, j)$ has three ones in its column of $W_1$, its bias
# is $-2$, and it adds to place $(i, j)$. Chunks of $C$ take $n^{C+1}$ units; that is the price of fewer depths.
#
# ```
# def my_triple(n):
#     i, k, l, j = np.indices((n,) * 4).reshape(4, -1)
#     unit, W1, W2 = np.arange(n**4), np.zeros((3 * n * n, n**4)), np.zeros((n**4, n * n))
#     W1[i * n + k, unit] = W1[n * n + k * n + l, unit] = W1[2 * n * n + l * n + j, unit] = 1
#     W2[unit, i * n + j] = 1
#     return W1, np.full(n**4, -2), W2
# ```
#
# </details>
#
# <details><summary>Solution of 08.4</summary>
#
# $\mathrm{ReLU}(2s - \frac12) - \mathrm{ReLU}(2s - \frac32)$ is exactly 0 or 1 for errors of up to
# $\frac18$, as *A layer that repairs* shows; the sum over $k$ is the product. A longer chunk is merged from the left:
#
# ```
# def merge(chunk):
#     made, *later = chunk
#     for B in later:
#         s = made[:, :, None] + B[None] - 1  # places i, k, j
#         made = (np.maximum(2 * s - 0.5, 0) - np.maximum(2 * s - 1.5, 0)).sum(1)
#     return made
# ```
#
# </details>
#
# <details><summary>Solution of 08.5</summary>
#
# Fill up in front with identities, because the answer is that of the *last* letter: its chunks have to be full at
# the end of the string.
#
# ```
# def tree(leaves, C, merge):
#     row, rows = list(leaves), []
#     while len(row) > 1:
#         row = [np.eye(len(row[0]))] * (-len(row) % C) + row
#         row = [merge(row[i : i + C]) for i in range(0, len(row), C)]
#         rows.append(row)
#     return rows
# ```
#
# That is RegularGPT without attention: attention only brings the nodes of a chunk together, which is what the slice does here.
#
# </details>

# %% [markdown]
# ## Read on
#
# More papers: [08e](deeper/08e_paper_checked.ipynb).
#
# * The paper: T.-C. Chi, T.-H. Fan, A. I. Rudnicky, P. J. Ramadge, *Transformer Working Memory Enables Regular Language Reasoning and
#   Natural Language Length Extrapolation*, 2023, [arXiv:2305.03796](https://arxiv.org/abs/2305.03796).
