# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 10d · Restart
#
# Can you make a net that drifts right at every length, and prove it, without any training? *It takes* about 15 min to read. Behind [chapter 10](10_one_ladder.ipynb).

# %% tags=["hide-input"]
import itertools

import numpy as np
import sympy as sp
import torch

import lrnnlab
from lrnnlab.models import build, exact_model
from lrnnlab.tasks import task
from lrnnlab.verification import quantise, verify
from lrnnlab.verification.quantised import read_off
from workbook import show
from workbook.chapters import ch10
from workbook.exercises import check, hint, solution
from workbook.tables import ladder

EXPECTED = "0.1"
if not lrnnlab.__version__.startswith(EXPECTED):
    raise RuntimeError(
        f"needs lrnnlab {EXPECTED}, here is {lrnnlab.__version__}: run bootstrap.py"
    )
print(f"lrnnlab {EXPECTED}: ready")

# %% [markdown]
# ## 1 A net that drifts, and the same net restarted
#
# A product of two reflections learns $S_3$ at length 40. We train one (about ten seconds), and let it read 500 tokens:

# %% tags=["nbval-ignore-output"]
s_3 = ladder.ladder_task("s_3")
net = ladder.trained(ladder.TABLE.setting("product_2", "s_3", "live"), seed=0)[0].net
restarted = {k: quantise(net, s_3, every=k) for k in (20, 5, 1)}
curves = {"alone": ch10.right_by_ten(net, s_3)}
curves |= {f"every {k}": ch10.right_by_ten(model, s_3) for k, model in restarted.items()}
show.figure(
    ch10.restart_curves(curves),
    alt="Right answers by position: the net alone falls on the way to 500, the same net restarted is right to the end.",
    caption="The same weights. After every 20th, 5th or single token the state is put to a state that the "
    "net visited in short strings and from which it answers alike.",
)

# %% [markdown]
# Nothing was trained in between. What did `quantise` do? It let the net read 256 strings of length 40 and kept six of the visited
# states, one for each answer. After every $k$-th token it asks the net for its answer, and puts the state to the kept state with
# the same answer. The readout was right all the time; only the state had moved.

# %% tags=["nbval-ignore-output"]
show.figure(
    ch10.drifting_states(net, restarted[1], s_3),
    alt="Two rows of three clouds of points, in six colours. Above, the six clouds spread and mix from position 20 to 500; below "
    "they stay six points.",
    caption="States of 300 strings, in the two directions in which they vary most; a colour is a state of the "
    "machine. Above the net alone, below restarted after every token.",
)

# %% [markdown]
# ## 2 Why the recurrence cannot do this itself
#
# **Theorem 7.** Let $x_t = A_v x_{t-1} + b_v$ hold a machine exactly: $A_v s_q + b_v = s_{\delta(q, v)}$. If a word $g$ permutes the
# states and $g^r$ is the identity, then $A_g^r$ fixes every difference $s_q - s_p$. So an error along such a difference is never
# made smaller, and fresh errors add up.
#
# *Proof, step 1.* The shift $b_v$ cancels, so differences go where the states go: $A_v (s_q - s_p) = s_{\delta(q,v)} - s_{\delta(p,v)}$.
# **All pairs**, for an affine model of $S_3$ with six random states:

# %% tags=["proof-drift"]
machine = ladder.ladder_task("s_3").machine
arrows = machine.transitions  # (letters, states)
draw = np.random.default_rng(0)
S = sp.Matrix(5, 6, draw.integers(-9, 10, 30).tolist())  # a column for each state
lifted = S.col_join(sp.ones(1, 6))
maps = []
for move in arrows:
    both = S[:, move.tolist()] * lifted.inv()  # [A | b] with A s_q + b = s_(where q goes), for all q
    maps.append((both[:, :5], both[:, 5]))
for v, (A, b) in enumerate(maps):
    for q, p in itertools.permutations(range(6), 2):
        moved = A * (S[:, q] - S[:, p])
        assert moved == S[:, int(arrows[v, q])] - S[:, int(arrows[v, p])], "step 1"

# %% [markdown]
# *Step 2.* Read $g$ again and again: after $r$ times every state is back, hence every difference too. $A_g^r d = d$: no shrinking,
# in any norm. **All words up to length 4:**

# %% tags=["proof-drift"]
for word in itertools.chain(*(itertools.product(range(2), repeat=n) for n in range(1, 5))):
    A, goes = sp.eye(5), np.arange(6)
    for v in word:
        A, goes = maps[v][0] * A, arrows[v][goes]
    r, power = 1, goes
    while not (power == np.arange(6)).all():
        r, power = r + 1, goes[power]
    differences = S[:, 1:] - S[:, :1] * sp.ones(1, 5)
    assert A**r * differences == differences, "step 2"

# %% [markdown]
# *Step 3.* So let each pass through $g^r$ add an error $e$ along a difference. After $n$ passes the state is off by $n\,e$. A net that
# rounds, or was trained to a finite precision, does just that: its states walk. **All** $n \le 30$ **:**

# %% tags=["proof-drift"]
A, b = maps[0]
r = next(r for r in range(1, 7) if A**r == sp.eye(5))  # the first letter, as often as it takes to come back
e = (S[:, 1] - S[:, 0]) / 1000
x = S[:, 0]
for n in range(1, 31):
    for _ in range(r):
        x = A * x + b
    x = x + e
    assert x == S[:, 0] + n * e, "step 3"

# %% [markdown]
# A readout can correct what the recurrence cannot, because it is not affine: it answers $q$ in a whole region around $s_q$.
# (More than permutations: *Read on*, below.)
#
# ## 3 Why that proves it
#
# **Theorem 8.** A net that is restarted after every token from $K$ states is a machine with $V + K V$ arrows. It is right on *every*
# string if and only if it is right along the arrows that a string can reach.
#
# *Proof.* After each token the state is one of the $K$ codes. So the next answer and the next code depend on the code and the letter
# alone, and by induction the whole answer follows from the arrows. $\square$
#
# The cell takes a net that nobody trained, restarts it, reads its arrows off by one step each, and compares with the net itself.
# **All strings up to length 10:**

# %% tags=["proof-restart"]
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
# So `verify` can decide about all strings. Of the net that you trained above:

# %% tags=["nbval-ignore-output"]
verdict = verify(restarted[1], s_3.specification)
print(f"every token: {len(restarted[1].codebook)} codes; {verdict}")
print(f"every 5:     {verify(restarted[5], s_3.specification)}")
assert verdict.proved or verdict.counterexample or not verdict.decided

# %% [markdown]
# For $k = 5$ it reads off $2^1 + \dots + 2^5$ answers from each code, a larger machine. Each step is what this computer's arithmetic
# makes of it. `verify` says by how much a logit leads, and compares that with what the other precision changes.
#
# ## 4 Which state stands for a class?
#
# The mean of the visited states seems natural. It fails where a class is a circle of states: the mean of a circle is its middle,
# where the net has never been. `quantise` therefore tries states that were *visited*, beside the mean, and keeps the one from which
# each letter is answered by the widest margin.
#
# And if the answer does not tell the state? A machine that says only "yes" at $0$ of five has four states behind one "no". Then
# `quantise` asks further: what would you answer after a 1? After 1, 1? It adds such words until each letter leads from each class to
# one class. That is Moore's algorithm for the smallest machine, run on the states of a net.

# %%
tomita_3 = task("tomita_3")
behind = quantise(exact_model(tomita_3.machine, tomita_3.machine.num_states), tomita_3)
print(f"{len(behind.codebook)} classes, told apart by the words {[''.join(map(str, word)) for word in behind.words]}")


# %% [markdown]
# **Exercise 10** ★★ *(15 min, 4 points: to write the loop yourself)* **Build.** Write `restart(step, start, codes, tokens)`: it reads
# `tokens` one by one with `state, answer = step(state, token)`, puts the state to `codes[answer]` after each, and returns the list
# of answers.

# %%
def restart(step, start, codes, tokens):
    answers = []
    for token in tokens:
        pass  # exercise 10
    return answers


check("10.10", restart)

# %% [markdown]
# <!-- Exercise 10.10: from notebooks/workbook/exercises/ch10.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint</summary>
#
# Which of the two that `step` returns do you keep for the next token?
#
# </details>
#
# <details><summary>Solution</summary>
#
# ```python
# def restart(step, start, codes, tokens):
#     state, answers = start, []
#     for token in tokens:
#         state, answer = step(state, token)
#         answers.append(answer)
#         state = codes[answer]
#     return answers
# ```
#
# </details>

# %% [markdown]
# **Exercise 11** ★ *(5 min, 3 points: to count what a proof needs)* **Count.** A net on $A_5$ (60 states, 2 letters) is restarted
# after every token. How many steps of the net decide whether it is right on all strings?

# %%
my_steps = None  # exercise 11
check("10.11", my_steps)

# %% [markdown]
# <!-- Exercise 10.11: from notebooks/workbook/exercises/ch10.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint</summary>
#
# From how many states can a letter be read?
#
# </details>
#
# <details><summary>Solution</summary>
#
# 122: two letters from each of 60 codes, and two from the start.
#
# </details>

# %% [markdown]
# ## 5 What it does not mend
#
# A net that never learned the machine is restarted into a wrong machine, and `verify` shows the shortest string. Attention and
# long convolutions keep what they have read: their state grows, so no finite codebook holds it. RegularGPT has no state that steps. `quantise`
# refuses all three by name.
# And if errors are large already at length 40, classes split for ever; then `closed` is false and `why` names the word.

# %% [markdown]
# ## Exercises
#
# You will find each exercise in its section. Stuck? `hint("10.10")`. Done? Compare with `solution("10.10")`.

# %% [markdown]
# <!-- The exercises of this chapter, listed by lrnnlab book build. -->
#
# 2 exercises, 7 points, about 20 minutes:
#
# | exercise | section | difficulty | minutes | points | you will learn |
# |---|---|---|---|---|---|
# | 10 | [4 Which state stands for a class?](#4-Which-state-stands-for-a-class?) | ★★ | 15 | 4 | to write the loop yourself |
# | 11 | [4 Which state stands for a class?](#4-Which-state-stands-for-a-class?) | ★ | 5 | 3 | to count what a proof needs |

# %% [markdown]
# ## Read on
#
# * J. Chung, H. Choi and S. J. Kim, *Rethinking state tracking in recurrent models through error control dynamics*,
#   [arXiv:2605.07755](https://arxiv.org/abs/2605.07755): affine recurrences cannot correct errors along directions that separate states.
# * C. Wang and M. Niepert, *State-regularized recurrent neural networks*, [arXiv:1901.08817](https://arxiv.org/abs/1901.08817): nets that are trained
#   with finitely many states.
