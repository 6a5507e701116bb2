# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 10b · When nets fail
#
# A net that is right at 100 may fail at 300. Can you predict where, what does it still track when it fails, and which nets can a restart not mend? *It takes* about 20 min to read and 35 min for the exercises. It belongs to [chapter 10](../10_one_ladder.ipynb).

# %% jupyter={"source_hidden": true} tags=["hide-input"]
import torch

import lrnnbook
from lrnnbook import show, tables
from lrnnbook.content.chapters import ch10
from lrnnbook.content.exercises import check, hint, solution
from lrnnbook.content.tables import ladder
from lrnnlab import snap
from lrnnlab.automata.algebra import quotient_scores, quotients
from lrnnlab.models import exact_model
from lrnnlab.tasks import task
from lrnnlab.verification import black_box, quantise
from lrnnlab.verification.interchange import interchange

lrnnbook.needs("0.1")

# %%
recorded = tables.results.runs("ladder/models_x_tasks")

# %% [markdown]
# ## 1 How long? The error horizon
#
# A linear recurrence cannot mend an error: what a state is off by is multiplied by the same matrices as the state
# itself. So the states that belong to one state of the machine spread, or move together to where the readout does not look
# for them (notebook 02b, where it was the moving that ended nets). If it is the spread, answers go wrong when it
# reaches the gap between two states, and a law fitted to the spread at positions 10 to 100 should predict where, without
# running the net there. Does it?

# %% jupyter={"source_hidden": true} tags=["hide-input", "nbval-ignore-output"]
show.figure(
    ch10.horizons(recorded),
    alt="Positions where nets fail against positions where their states predicted it, on "
    "logarithmic axes; nets that drift "
    "are scattered widely about the diagonal, nets that last lie along the top, whatever was predicted.",
    caption="Each point is a run that was still right at 100. On the line: predicted correctly. "
    "Above the dashed line: right to 500.",
)
predicted = ch10.horizon_scores(recorded)
print(f"{predicted.drifted} runs that drift: predicted within a factor of {predicted.factor:.2f} in the median; guessing 150 "
      f"for each is within {predicted.by_guess:.2f}\n"
      f"rank correlation of predicted and seen: {predicted.rank:.2f}; of {predicted.lasted} runs that last, "
      f"{predicted.false_alarms:.0%} are predicted to fail before 500")  # fmt: skip

# %% [markdown]
# The prediction is poor. It orders nets a little, but guessing "position 150" for every net is closer, since most of what drifts and is
# right at 100 fails before 300. Nor does it say *whether* a net drifts: many that last (Elman, one-hot columns) have a flat
# curve of the spread over the gap, and a law that is fitted to the noise of a flat curve reaches 1 somewhere all the same.
# What mends itself, then? One-hot columns put every state back to a corner at every step, and no recorded net of theirs that
# learned was lost. Squashed states can mend errors, and often do not: of one layer 16 of the 51 LSTMs that learned drift all
# the same, and 5 of the 50 Elman nets. A scan need not rule out pulling back: *memory recurrent units* have several resting states and
# still run by a parallel scan (De Geeter and others, *Read on*). We have not trained them.

# %% [markdown]
# **Exercise 10** ★★ *(10 min, 4 points: to read a curve that comes back)* **Read a curve.** A net holds Parity by a
# phase that should turn by $\pi$ at each 1 and turns by $\pi + 0.02$. All tokens are 1. From which position on is its
# sign wrong for the first time, and from which is it right again? (It answers by the sign of the real part, from 1 at
# the start.)

# %%
my_positions = None  # exercise 10: two numbers
check("10.10", my_positions)

# %% [markdown]
# <!-- Exercise 10.10: from notebooks/lrnnbook/content/exercises/ch10.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint 1</summary>
#
# After $t$ tokens the phase is off by $0.02\,t$.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# The real part has the right sign as long as $\cos(0.02\,t) > 0$.
#
# </details>

# %% [markdown]
# ## 2 From the net back to a machine
#
# The machine of chapter 10's section 8, learned by chapter 02's recipe and proved without a restart:

# %% tags=["varies", "nbval-ignore-output"]
mine = ch10.typed("(ab|ba)*c")
made, verdict = ch10.taught(mine)
print(verdict)

# %% jupyter={"source_hidden": true} tags=["hide-input"]
show.table(
    ch10.exact_rows(mine),
    caption="Exact weights for it, compared with the machine on all words. Size: of the largest block, or writes a token. "
    "For the other families we have none.",
)

# %% [markdown]
# You can take all of it away as one text: the machine, the prediction for each family, the trained weights and what was proved of them.

# %% tags=["varies", "nbval-ignore-output"]
parcel = ch10.parcel(mine, made, verdict)
print(f"{len(parcel):,} characters of JSON")

# %% [markdown]
# If a net has learned a machine, the machine is in it. Angluin's L* finds it from outside: it asks the net about
# words, builds the smallest machine that agrees, and looks for a word on which the two differ. For a snapped net that
# search is exact; for others, words are drawn.

# %% tags=["varies", "nbval-ignore-output"]
snapped = black_box.extract(snap(made.net), mine.symbols)
trained = black_box.extract(made.net, mine.symbols)
print("the snapped copy:", snapped)
print("the net itself:  ", trained)

# %% [markdown]
# **What does a net that fails track?** One layer of the delta rule with one write a token cannot hold $S_3$ (chapter 10, section 4). How
# often a trained one is right stands in the last row below. Is that nothing? A machine can be read more coarsely: $S_3$
# has a *quotient* with two states, the sign of the permutation (is the number of exchanges even?). Quotients can be
# listed, and a net's own answers read through each:

# %% tags=["varies", "nbval-ignore-output"]
s_3 = ladder.ladder_task("s_3")
net = ladder.trained(ladder.TABLE.setting("deltanet_negative", "s_3", "live"), seed=0)[0].net
batch = s_3.sample(128, 40, torch.Generator().manual_seed(1))
answered = black_box.answers(net)(batch.tokens.numpy())
every = quotients(s_3.machine)
scores = quotient_scores(answered, batch.targets.numpy(), every)
show.table(
    [{"quotient": " | ".join(found.machine.names), "states": score.size, "right": f"{score.accuracy:.1%}",
      "by chance": f"{score.chance:.1%}"} for found, score in zip(every[1:], scores[1:])],
    caption="The net's answers on S₃ at lengths up to 40, read through every quotient. By chance: "
    "how often answers drawn with the net's own frequencies would be right.",
)  # fmt: skip

# %% [markdown]
# Read the row of the quotient with two states: the sign is the part of $S_3$ that its family can hold (one reflection comes
# back after two), and is how far its answers can be right at every length. Compare the quotients with three states with
# chance, and the six permutations with the third that the sign alone gives (exercise 11).
#
# **Ask the net, not a probe.** The usual instrument is a linear probe: a logistic regression from states to the sign.
# It can miss what is there. Where the states of even and of odd permutations are equally many and have the same mean,
# as the corners of a hexagon taken in turn have, the gradient of its loss is zero at zero weights, and it finds
# nothing. A dictionary of dense
# matrices can hold all of $S_3$, and may hide its sign so:

# %% tags=["varies", "nbval-ignore-output"]
sign = next(found for found in every if found.machine.num_states == 2).blocks
knows = ladder.trained(ladder.TABLE.setting("dictionary", "s_3", "live"), seed=0)[0].net
for name, one in (("DeltaNet, beta up to 2", net), ("dictionary", knows)):
    own = sign[black_box.answers(one)(batch.tokens.numpy())] == sign[batch.targets.numpy()]
    probed = ch10.linear_probe(one.states(batch.tokens).detach().numpy(), sign[batch.targets.numpy()])
    print(f"{name}: its own answers have the right sign in {own.mean():.1%} of cases, a linear "
    f"probe reads it in {probed:.1%}")

# %% [markdown]
# **Swap two states.** A probe says that something can be read from a state, not that the net reads it. So let two strings exchange
# their states at position 30, and let each read ten more tokens. If the answers come from the state, each string now answers for
# the other's past. The control pushes each state as far in a random direction:

# %% tags=["varies", "nbval-ignore-output"]
one_layer = ladder.trained(ladder.TABLE.setting("block_softmax", "s_3", "live"), seed=0)[0].net
for name, one in (("blocks, softmax", one_layer), ("dictionary", knows), ("DeltaNet, beta up to 2", net)):
    found = interchange(one, s_3, position=30)
    print(f"{name}: left alone {found.own:.1%} right; swapped, {found.swapped:.1%} right for the other's past; "
          f"pushed at random, {found.random:.1%} right for its own")  # fmt: skip

# %% [markdown]
# **Exercise 11** ★ *(5 min, 2 points: to read accuracy through a quotient)* A net tracks the sign in $S_3$ and nothing else: it
# answers with one of the three permutations of the right sign, each as often as the others. How often is it right,
# and how often is one that answers with always the same permutation of that sign?

# %%
my_shares = None  # exercise 11: two numbers
check("10.11", my_shares)

# %% [markdown]
# <!-- Exercise 10.11: from notebooks/lrnnbook/content/exercises/ch10.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint</summary>
#
# Three permutations have the right sign.
#
# </details>

# %% [markdown]
# ## 3 Which state stands for a class?
#
# Chapter 10 restarts a net from one state for each class of answers. Which?
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
behind = quantise(exact_model(tomita_3.machine), tomita_3)
print(f"{len(behind.codebook)} classes, told apart by the words {[''.join(map(str, word)) for word in behind.words]}")


# %% [markdown]
# **Exercise 12** ★★ *(15 min, 4 points: to write the loop yourself)* **Build.** Write `restart(step, start, codes, tokens)`: it reads
# `tokens` one by one with `state, answer = step(state, token)`, puts the state to `codes[answer]` after each, and returns the list
# of answers.

# %%
def restart(step, start, codes, tokens):
    answers = []
    for token in tokens:
        pass  # exercise 12
    return answers


check("10.12", restart)

# %% [markdown]
# <!-- Exercise 10.12: from notebooks/lrnnbook/content/exercises/ch10.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint</summary>
#
# Which of the two that `step` returns do you keep for the next token?
#
# </details>

# %% [markdown]
# **Exercise 13** ★ *(5 min, 3 points: to count what a proof needs)* **Count.** A net on $A_5$ (60 states, 2 letters) is restarted
# after every token. How many steps of the net decide whether it is right on all strings?

# %%
my_steps = None  # exercise 13
check("10.13", my_steps)

# %% [markdown]
# <!-- Exercise 10.13: from notebooks/lrnnbook/content/exercises/ch10.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint</summary>
#
# From how many states can a letter be read?
#
# </details>

# %% [markdown]
# ## 4 The ladder, restarted
#
# We trained the ladder's nets again (seed 0) that know length 40 and lose it by 500, and restarted them: all 209 of one layer, and all
# 281 of two. Right means 99 % at positions 491 to 500. *Alone* is the net as it is: some are right there all the same, because they
# dip in between and come back. *Proved* and *wrong on some string* are verdicts on all strings, with a restart after every token.

# %% jupyter={"source_hidden": true} tags=["hide-input"]
lost = tables.results.runs("ladder/restart")
show.table(ch10.mended(lost), caption="Recorded, one row a model.")

# %% [markdown]
# So 198 of the 209 nets of one layer are wrong at the end, and a restart after every token turns 195 of them. After every 5th token it
# leaves 200 of the 209 right, after every 20th 183: what drifts fast is in the wrong region before it is put back. And what is left?

# %% jupyter={"source_hidden": true} tags=["hide-input"]
show.table(ch10.not_proved(lost), caption="Recorded: the nets that a restart after every token does not make provably right, and why.")

# %% [markdown]
# Two reasons. *The net has not learned a machine*: its states on modular arithmetic split into more than a hundred classes. *Its
# state counts*: linear attention only adds, so every count is a state of its own. With one layer strings lead to counts that were
# never visited. With two and a normaliser the answers far out are right, and a string of two letters is answered wrongly.
#
# No net is left open: nowhere could rounding, on any machine, change an answer that was proved.

# %% [markdown]
# ## 5 What a restart does not mend
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
# 4 exercises, 13 points, about 35 minutes:
#
# | exercise | section | difficulty | minutes | points | you will learn |
# |---|---|---|---|---|---|
# | 10 | [1 How long? The error horizon](#1-How-long?-The-error-horizon) | ★★ | 10 | 4 | to read a curve that comes back |
# | 11 | [2 From the net back to a machine](#2-From-the-net-back-to-a-machine) | ★ | 5 | 2 | to read accuracy through a quotient |
# | 12 | [3 Which state stands for a class?](#3-Which-state-stands-for-a-class?) | ★★ | 15 | 4 | to write the loop yourself |
# | 13 | [3 Which state stands for a class?](#3-Which-state-stands-for-a-class?) | ★ | 5 | 3 | to count what a proof needs |
#
# <details><summary>Solution of 10.10</summary>
#
# 79 and 236: $0.02\,t$ passes $\pi/2$ after $t = 78.5$ and $3\pi/2$ after $t = 235.6$. From 79 to 235 every answer is wrong, and from 236 to 392 every answer is right again: the net aliases, and a test at 250 alone would say that it is perfect.
#
# </details>
#
# <details><summary>Solution of 10.11</summary>
#
# Both a third: one of the three permutations of the right sign is the right one, whichever of them the net gives, because on long random words each of them is as frequent as the others.
#
# </details>
#
# <details><summary>Solution of 10.12</summary>
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
#
# <details><summary>Solution of 10.13</summary>
#
# 122: two letters from each of 60 codes, and two from the start.
#
# </details>

# %% [markdown]
# ## Read on
#
# * J. Chung, H. Choi and S. J. Kim, *Rethinking state tracking in recurrent models through error control dynamics*,
#   [arXiv:2605.07755](https://arxiv.org/abs/2605.07755): affine recurrences cannot correct errors along directions that separate states.
# * C. Wang and M. Niepert, *State-regularized recurrent neural networks*, [arXiv:1901.08817](https://arxiv.org/abs/1901.08817): nets that are trained
#   with finitely many states.
# * F. De Geeter, G. Lambrechts, D. Ernst and G. Drion, *Parallelizable memory recurrent units*,
#   [arXiv:2601.09495](https://arxiv.org/abs/2601.09495): several resting states and a parallel scan (we read the abstract).
# * R. Buitrago and A. Gu, *Understanding and improving length generalization in recurrent models*,
#   [arXiv:2507.02782](https://arxiv.org/abs/2507.02782): long strings lead to states that short ones never showed; beginning some training
#   strings in such states mends much (we read the abstract).
# * J. Siems and others, *Learning state-tracking from code using linear RNNs*, [arXiv:2602.14814](https://arxiv.org/abs/2602.14814): where
#   some actions are hidden, linear recurrences can track worse than others (we read the abstract).
# * Nets certified from their weights alone, without a restart: 349 of 350 on 42 patterns with an absorbing state, 1 of 20 GRUs and 0 of 20
#   LSTMs, [ICML 2026](https://icml.cc/virtual/2026/68270) (we read the abstract).
