# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 00 · Start here
#
# This is a workbook on one question, and on five papers that answer parts of it.
#
# > **Which recurrent rule can learn a finite-state machine, and keep it at lengths it never saw?**
#
# The linear recurrent models in the papers, which most of the book is about, are one sentence,
#
# $$x_t = A_t\,x_{t-1} + b_t, \qquad y_t = h(x_t).$$
#
# At time $t$ an input comes in. The *transition* $A_t$, a matrix, is applied to the *state* $x_{t-1}$, a vector; the
# vector $b_t$, which is made from the input, is added; and the *readout* $h$ turns the new state into the answer
# $y_t$. The models differ in what $A_t$ may be: fixed, a rotation, diagonal, block-diagonal, a function of the input
# or even of the output. The chapters walk through the papers' proofs in steps that a cell checks, run their
# experiments while you watch, and let you turn the knobs. Where a paper is loose we say so, and show the repaired
# statement.
#
# Run a cell with **Shift + Enter**, or the whole chapter from the menu *Run → Run All Cells*: half a minute of computing,
# after which the page stands at its end; scroll back up to here and read on. *It takes* about 15 min to read. Every term
# is explained where it first comes, and once more in the [glossary](glossary.ipynb), with a table of all letters.

# %%
import numpy as np

import lrnnlab
from lrnnlab import scans, snap, task, verify
from lrnnlab.automata import MooreMachine
from lrnnlab.training.evaluation import evaluate
from lrnnlab.verification import head_tables, heads_machine
from workbook import show
from workbook.exercises import check, hint, my_copy, predict, progress, solution
from workbook.show.automaton_figures import state_diagram
from workbook.show.training_figures import accuracy_by_length
from workbook.tables import plan, train

EXPECTED = "0.1"
if not lrnnlab.__version__.startswith(EXPECTED):
    raise RuntimeError(
        f"this notebook needs lrnnlab {EXPECTED}, not {lrnnlab.__version__}: run bootstrap.py"
    )
scans.warm()  # compiles the fast loops: up to a minute at the very first start, and then they are kept
print(f"lrnnlab {EXPECTED}: ready")

# %% [markdown]
# ## One result, live
#
# The task **Sum(5)**: read digits 0 to 4 and say, after each, their sum modulo 5. A machine with five states, one
# for each sum, does it. A machine with finitely many states, in which each letter leads from each state to one
# state, is called a **finite automaton**; a set of strings is a **regular language** if some finite automaton can
# tell its strings from all others.

# %%
sum5 = task("sum", 5)
for text in ("0324", "4444", "104"):
    answers = sum5.targets(sum5.read(text)[None])[0].tolist()
    print(f"{text}  ->  {answers}")

# %% [markdown]
# We train a block-diagonal linear recurrent network (paper 000: Fan, Chi and Rudnicky, 2024) on strings of **40**
# digits, nothing longer. It has one layer of eight 8 × 8 blocks, each of which moves eight numbers of the state, and
# every column of a block is a probability distribution. (That rule is called `softmax` here; chapter 02 has the
# paper's own.) Training takes some seconds on one core.

# %% tags=["nbval-ignore-output"]
run = plan("lrnn/table2", tasks=["sum"], rows=["softmax"], seeds=[101])[0]
result = train(run)
print(f"trained in {result.seconds:.1f} s, {result.steps} steps")

# %% [markdown]
# Now ask it strings of 500 digits, more than twelve times as long as anything it has seen, and look at every position.

# %%
measured = evaluate(result.model, sum5, seed=101, length=500)
untrained = evaluate(run.build_model(), sum5, seed=101, length=500, strings=256)
exact = measured.accuracy_all == 1.0
print(f"right at every position from 41 to 500, on 1,024 fresh strings: {exact}")

# %%
show.figure(
    accuracy_by_length(
        {"softmax": measured.per_position.numpy(), "untrained": untrained.per_position.numpy()},
        train_length=40, chance=sum5.chance, majority=sum5.majority(500), window=5,
    ),
    alt="Accuracy against position 1 to 500. The trained network stays at 100 percent to the end, "
        "far past the mark at 40; the untrained one stays near 20 percent, the chance level.",
    caption="What to see: the trained network's line does not bend where its training strings ended.",
)  # fmt: skip

# %% [markdown]
# **Exercise 1** ★ *(5 min, 3 points: what the task asks)* **Code.** Write a function `my_sums` that takes a text of
# digits, such as `"0324"`, and returns the list of the sums modulo 5 after each digit, here `[0, 3, 0, 4]`.

# %%
my_sums = None  # a function of a text
check("00.1", my_sums)

# %% [markdown]
# <!-- Exercise 00.1: from notebooks/workbook/exercises/ch00.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint</summary>
#
# Keep one number and bring it up to date at each digit.
#
# </details>
#
# <details><summary>Solution</summary>
#
# `lambda text: [sum(map(int, text[:t])) % 5 for t in range(1, len(text) + 1)]`, or, as a
# recurrence does it, one number that each digit moves: $x_t = (x_{t-1} + u_t) \bmod 5$.
#
# </details>

# %% [markdown]
# ## Not sampled, but proved
#
# A thousand strings prove nothing about all strings. But each column of this network's matrices has one entry that is much
# larger than the others, and if we **snap** it (put 1 for the largest entry of each column and 0 for the others; nothing is
# trained again), every block becomes a finite automaton. A search through the pairs (state of the blocks, state of
# the task's automaton) follows *all* strings at once: either it finds a string that is answered wrongly, or there is
# none.

# %%
snapped = snap(result.model)
verdict = verify(snapped, sum5.specification)
print(verdict.proved)

# %% [markdown]
# That is a statement about every string of every length, and about the snapped copy. The trained network itself, whose
# columns are only near to such columns, need not be right for ever (exercise 4; chapter 02 measures when it errs). A
# block with its eight numbers is called a **head**. The next cell prints which heads are enough for the proof, how
# many pairs of states the search met, and two margins: by how much the largest entry of a column leads the next one
# at the least (before softmax), and by how much the right answer leads the next one. Below it stands the machine
# that these heads make together.

# %% tags=["nbval-ignore-output"]
print(verdict)
of_heads = heads_machine(head_tables(snapped), verdict.heads, sum5.symbols)

# %% tags=["hide-input", "nbval-ignore-output"]
machine, names = of_heads, "a state's name lists the states of the blocks that take part."
if of_heads.num_states > 16:
    names = "drawn is the smallest machine that does the same, "
    names += f"for the blocks' own has {of_heads.num_states} states."
    machine = sum5.machine
show.figure(
    state_diagram(machine),
    alt="State diagram of the automaton found inside the trained network: states joined by arrows "
        "labelled with digits; colours show which answer each state gives.",
    caption=f"What to see: the network has built a counter modulo 5. Each arrow adds its digit; {names}",
)  # fmt: skip

# %% [markdown]
# **Exercise 2** ★ *(5 min, 3 points: why fewer than five states are not enough)* **A proof step.** Two words may end
# in the same state of an automaton only if the right answers agree after them, at once and after every further word.
# For Sum(5), give five words of which no two may end in the same state.

# %%
my_words = None  # five texts of digits
check("00.2", my_words)


# %% [markdown]
# <!-- Exercise 00.2: from notebooks/workbook/exercises/ch00.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint</summary>
#
# Begin with words of one digit. After which of them do the right answers differ already?
#
# </details>
#
# <details><summary>Solution</summary>
#
# `0`, `1`, `2`, `3`, `4`: their sums differ, so their answers do, and no two of them can share a
# state. Five words that are pairwise different in this sense need five states, and the automaton has no more.
#
# </details>

# %% [markdown]
# **Exercise 3** ★ *(5 min, 3 points: that a counter never heals)* **Predict** before you run: one of the 25 arrows
# of the automaton of Sum(5) is wrong. From the state of the sum 4, the digit 1 leads to 1 in place of 0. How often
# is the last answer right on random strings of 500 digits?

# %% tags=["hide-input"]
def one_wrong_arrow():
    arrows = np.array([[(state + digit) % 5 for state in range(5)] for digit in range(5)])
    arrows[1, 4] = 1
    wrong = MooreMachine(arrows, np.arange(5), 0, tuple("01234"))
    tokens = np.random.default_rng(0).integers(5, size=(20_000, 500))
    right = (wrong.answer(tokens) == tokens.cumsum(1) % 5).mean(0)
    shares = {
        0.96: "about 96 %, as 24 of 25 arrows are", 0.8: "about 80 %", 0.5: "about 50 %",
        0.2: "about 20 %, no better than a guess",
    }  # fmt: skip
    nearest = min(shares, key=lambda share: abs(share - right[-1]))
    said = ", ".join(f"{right[t - 1]:.1%} after {t} digits" for t in (10, 40, 500))
    return shares[nearest], f"Right answers: {said}"


predict("00.3", one_wrong_arrow)

# %% [markdown]
# <!-- Exercise 00.3: from notebooks/workbook/exercises/ch00.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint</summary>
#
# How often does a string of 500 digits pass the wrong arrow? What happens to the answers after it?
#
# </details>
#
# <details><summary>Solution</summary>
#
# About 20 %, no better than a guess. A random string passes the wrong arrow at every 25th digit
# or so, twenty times in 500, and each passage shifts all answers after it by one. Nothing puts the sum right
# again. So at length 500 the shift may be anything, and the answer is a guess. An almost right counter is right
# on short strings only: that is why we look at lengths never trained on, and why we prove.
#
# </details>

# %% [markdown]
# **Exercise 4** ★★ *(10 min, 3 points: that a proof about the snapped network is none about the soft one)* **Break
# the hypothesis.** Give a $2 \times 2$ matrix whose columns are probability distributions with at least 0.9 on the
# diagonal, so that snapping makes it the identity; and yet, after 500 steps of it, the states that began at the two
# corners $(1, 0)$ and $(0, 1)$ are less than a millionth apart (in 1-norm, the sum of the sizes of the entries).

# %%
my_matrix = None  # two rows of two numbers
check("00.4", my_matrix)

# %% [markdown]
# <!-- Exercise 00.4: from notebooks/workbook/exercises/ch00.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint</summary>
#
# Try 0.9 on the diagonal. How far apart are the two columns of this matrix, and those of its square?
#
# </details>
#
# <details><summary>Solution</summary>
#
# $\begin{pmatrix}0.9&0.1\\0.1&0.9\end{pmatrix}$: snapped it is the identity, which keeps its two
# states apart for ever. As it is, each step brings them nearer by the factor 0.8, so after 500 steps they are
# $2\cdot 0.8^{500}\approx 7\cdot 10^{-49}$ apart. The proof above speaks of the snapped network; of the soft
# one we know what was measured.
#
# </details>

# %% [markdown]
# ## The map
#
# | chapter | question | paper |
# |---|---|---|
# | **00** start here | what is this? | |
# | [**01** subtraction](01_subtraction.ipynb) | what can a linear recurrence not represent? | 000 |
# | [**02** block-diagonal LRNN](02_block_diagonal_lrnn.ipynb) | what does a block buy, and why does it last? | 000 |
# | [**03** parallel scans](03_parallel_scans.ipynb) | how fast can $x_t = A_t x_{t-1} + b_t$ run? | 000 |
# | [**04** rotations](04_rotations.ipynb) | what does a norm-preserving transition keep? | 001 |
# | [**05** diagonal kernels](05_diagonal_kernels.ipynb) | what can a sum of exponentials fit? | 004 |
# | [**06** ill-conditioned reals](06_ill_conditioned_reals.ipynb) | why do complex eigenvalues matter? | 004 |
# | [**07** long-range suite](07_long_range.ipynb) | what do long-range benchmarks ask? | 004 |
# | [**08** working memory in depth](08_working_memory_in_depth.ipynb) | can depth replace recurrence? | 002 |
# | [**09** fast weights](09_fast_weights.ipynb) | what can a learning rule count? | 003 |
# | [**10** one ladder](10_one_ladder.ipynb) | which rule can learn a machine, and keep it? | all |
# | [**glossary**](glossary.ipynb) | what do the words, letters, models and tasks mean, and what is there to read? | all |
#
# The papers, numbered as in the workbook: **000** Fan, Chi, Rudnicky: *Advancing Regular Language Reasoning in Linear
# Recurrent Neural Networks* · **001** Biegun, Dolga, Cunningham, Barber: *RotRNN* · **002** Chi, Fan, Rudnicky, Ramadge:
# *RegularGPT* · **003** Irie, Csordás, Schmidhuber: *Practical Computational Power of Linear Transformers and Their
# Recurrent and Self-Referential Extensions* · **004** Gupta, Mehta, Berant: *Simplifying and Understanding State Space
# Models with Diagonal Linear RNNs*.
#
# ## Your copy, and how far you have come
#
# `python bootstrap.py lab` opens a copy of the chapters that is yours: write into it, run it and save it as you like. Each
# exercise that a cell checks is counted in the file `progress.json` beside it, which stays on your machine; those that ask
# for an argument in words are not, so its points are fewer than the chapters' lists say. Run this cell whenever you want
# to know what to do next:

# %%
progress()

# %% [markdown]
# When the workbook itself has changed, your copy has not: ask what is new in a chapter, and start it over if you want it.
# What you had is kept beside the fresh chapter, with the date in its name.

# %%
my_copy()

# %% [markdown]
# ## How to read a number here
#
# Three kinds are kept apart, by word, and by colour where they stand side by side: what the **paper** prints (grey), what we **recorded** earlier with a
# command you can run again (blue), and what is **live**, computed on your machine as you read (vermilion). Next to an
# accuracy stand, where guessing is worth something, two levels: *chance* (a uniform guess) and *majority* (always the
# commonest answer).

# %% [markdown]
# ## What you have learned
#
# 1. The linear recurrent models of the book are one sentence, $x_t = A_t x_{t-1} + b_t$, and differ in what $A_t$ may be.
# 2. A network trained on 40 digits can be right on 500: measured on 1,024 strings.
# 3. Snapped, its blocks are automata, and a search over their states proves the copy right on every string, or finds
#    one that it answers wrongly.
# 4. A proof about the copy is none about the trained network.
# 5. Three kinds of number are kept apart: paper, recorded, live; an accuracy is worth what it has beyond chance and majority.

# %% [markdown]
# ## Exercises
#
# They stand in the sections that they are about. `hint("00.1")` and `solution("00.1")` show what is folded there.

# %% [markdown]
# <!-- The exercises of this chapter, listed by lrnnlab book build. -->
#
# 4 exercises, 12 points, about 25 minutes:
#
# | exercise | stands in | difficulty | minutes | points | it teaches |
# |---|---|---|---|---|---|
# | 1 | [One result, live](#One-result,-live) | ★ | 5 | 3 | what the task asks |
# | 2 | [Not sampled, but proved](#Not-sampled,-but-proved) | ★ | 5 | 3 | why fewer than five states are not enough |
# | 3 | [Not sampled, but proved](#Not-sampled,-but-proved) | ★ | 5 | 3 | that a counter never heals |
# | 4 | [Not sampled, but proved](#Not-sampled,-but-proved) | ★★ | 10 | 3 | that a proof about the snapped network is none about the soft one |

# %% [markdown]
# ## Read on
#
# * T.-H. Fan, T.-C. Chi, A. Rudnicky: *Advancing Regular Language Reasoning in Linear Recurrent Neural Networks*, 2024, [arXiv:2309.07412](https://arxiv.org/abs/2309.07412): the network of this chapter.
# * G. Weiss, Y. Goldberg, E. Yahav: *Extracting Automata from Recurrent Neural Networks Using Queries and Counterexamples*, 2018, [arXiv:1711.09576](https://arxiv.org/abs/1711.09576): automata from networks that cannot be snapped.
# * The other four papers, and what came next: section 5 of the [glossary](glossary.ipynb).
