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
# Which state should a restart go back to, and which nets can it not mend? *It takes* about 5 min to read. Behind [chapter 10](10_one_ladder.ipynb).

# %% tags=["hide-input"]
import lrnnlab
from lrnnlab.models import exact_model
from lrnnlab.tasks import task
from lrnnlab.verification import quantise
from workbook import show, tables
from workbook.chapters import ch10
from workbook.exercises import check, hint, solution

EXPECTED = "0.1"
if not lrnnlab.__version__.startswith(EXPECTED):
    raise RuntimeError(
        f"needs lrnnlab {EXPECTED}, here is {lrnnlab.__version__}: run bootstrap.py"
    )
print(f"lrnnlab {EXPECTED}: ready")

# %% [markdown]
# ## 1 Which state stands for a class?
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
# ## 2 The ladder, restarted
#
# We trained the ladder's nets again (seed 0) that know length 40 and lose it by 500, and restarted them: all 209 of one layer, and of
# two layers those on the first five machines. Right means 99 % at positions 491 to 500. *Proved* and *wrong on some string* are
# verdicts on all strings, with a restart after every token.

# %% tags=["hide-input"]
lost = tables.results.runs("ladder/restart")
show.table(ch10.mended(lost), caption="Recorded, one row a model. Open: right, but by less than rounding may change.")

# %% [markdown]
# A restart after every token mends nearly all. One after every 20th mends fewer: what drifts fast is in the wrong region before it is
# put back. And what is left?

# %% tags=["hide-input"]
show.table(ch10.not_proved(lost), caption="Recorded: the nets that a restart after every token does not make provably right, and why.")

# %% [markdown]
# Three reasons. *The net has not learned a machine*: its states on modular arithmetic split into more than a hundred classes. *Its
# state counts*: linear attention only adds, so every count is a state of its own, and strings lead to counts that were never
# visited. *It is right by too little*: rounding might change an answer.

# %% [markdown]
# ## 3 What it does not mend
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
# | 10 | [1 Which state stands for a class?](#1-Which-state-stands-for-a-class?) | ★★ | 15 | 4 | to write the loop yourself |
# | 11 | [1 Which state stands for a class?](#1-Which-state-stands-for-a-class?) | ★ | 5 | 3 | to count what a proof needs |

# %% [markdown]
# ## Read on
#
# * J. Chung, H. Choi and S. J. Kim, *Rethinking state tracking in recurrent models through error control dynamics*,
#   [arXiv:2605.07755](https://arxiv.org/abs/2605.07755): affine recurrences cannot correct errors along directions that separate states.
# * C. Wang and M. Niepert, *State-regularized recurrent neural networks*, [arXiv:1901.08817](https://arxiv.org/abs/1901.08817): nets that are trained
#   with finitely many states.
