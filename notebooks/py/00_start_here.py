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
# Two small networks learned to add digits modulo 5, from strings of 40 digits. There, neither makes a single mistake. Now we give
# them 500.

# %% jupyter={"source_hidden": true} tags=["hide-input", "nbval-ignore-output"]
import numpy as np

import lrnnbook
from lrnnbook import show
from lrnnbook.content.chapters import ch00
from lrnnbook.content.exercises import check, guess, hint, my_copy, progress, solution
from lrnnbook.content.show.automaton_figures import state_diagram
from lrnnbook.content.show.training_figures import accuracy_by_length
from lrnnlab import build, evaluate, scans, snap, task, train, verify
from lrnnlab.automata import MooreMachine
from lrnnlab.verification.heads import head_tables, heads_machine

lrnnbook.needs("0.1")
scans.warm()  # compiles the fast loops: up to a minute at the very first start, and then they are kept
show.figure(
    ch00.clock_picture(),
    alt="Two panels against position 1 to 500. Above, a line: the blocks are right on every string at every position. Below, coloured "
        "bands for the complex network: right on all strings up to about 80; then most answers are the sum plus 2, then plus 3, "
        "then plus 4; around 330 most are right again, and the bands come round once more.",
    caption="What to see: up to the dashed line, the length of training, nobody can tell the two apart. Beyond it the lower one is not "
            "lost: its answers go round like the hand of a clock. (*sum + 1* passes quickly.)",
)  # fmt: skip

# %% [markdown]
# Look at the lower network at position 150. It is right on 1 % of the strings. Guessing would give 20 %. So it is not
# guessing: on 90 % of the strings it says *exactly the sum plus 2*. And at 320 it is right again, on 70 %.
#
# It has a clock, and the hand runs a little fast. It has not forgotten how to add; it is early. Why does the upper network have
# no such clock?
#
# > **Which recurrent rule can learn a finite-state machine, and keep it at lengths it never saw?**
#
# That is the question of this book. Five papers answer parts of it. We prove what they prove, train what they train, and repair what
# does not hold. And you build it: by the end of chapter 02 a network, its training and its proof are your own.
#
# Run a cell with **Shift + Enter**, or all of them from the menu *Run → Run All Cells*. JupyterLab then jumps to the end: scroll
# back up here and read on. *It takes* about 20 min to read and 25 min for the exercises, and your computer half a minute.
#
# ## One equation
#
# The task is **Sum(5)**: read digits 0 to 4, and after each one say the sum so far, modulo 5. So `0324` asks for 0, 3, 0, 4.
# Both networks are the same equation, and so is almost every model in this book:
#
# $$x_t = A_t\,x_{t-1} + b_t, \qquad y_t = h(x_t).$$
#
# At time $t$ a digit comes in. It chooses the *transition* $A_t$, which moves the *state* $x_{t-1}$, and a vector
# $b_t$, which is added. The *readout* $h$ turns the state into an answer. Models differ in what $A_t$ may be: fixed, a
# rotation, diagonal, made of blocks, chosen by the input or even by the last answer.
#
# The lower network has a state of 32 complex numbers, and each digit multiplies them by 32 numbers of its own. Here is all of it, on
# one string of 500 digits; `answer` is the readout.

# %%
clock = ch00.Clock()  # a and b: 32 complex numbers for each digit
x, total, off = clock.start, 0, ""
for digit in np.random.default_rng(1).integers(5, size=500):
    x = clock.a[digit] * x + clock.b[digit]
    total = (total + digit) % 5
    off += f"{(clock.answer(x) - total) % 5}"
print("\n".join(off[t : t + 40] for t in range(0, 500, 40)))

# %% [markdown]
# Each printed digit is the answer minus the sum, modulo 5; 0 means right. There are 40 to a line, so the first line is as long as the
# training strings. Then you can watch the hand go round: 1, 2, 3, 4, and from digit 286 on it is at 0 again for a while. Later it
# turns back: there is a second hand, and that one is late. The weights are recorded, since another kind of processor rounds
# differently and would train a different clock. In
# [chapter 01](01_subtraction.ipynb) you will find the hand, measure by how much it is fast, and put it right.

# %% [markdown]
# **Exercise 1** ★ *(5 min, 3 points: to write the task down)* **Code.** Write a function `my_sums` that takes a text of
# digits, such as `"0324"`, and returns the list of the sums modulo 5 after each digit, here `[0, 3, 0, 4]`.

# %%
my_sums = None  # a function of a text
check("00.1", my_sums)

# %% [markdown]
# <!-- Exercise 00.1: from notebooks/lrnnbook/content/exercises/ch00.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint</summary>
#
# Keep one number and bring it up to date at each digit.
#
# </details>

# %% [markdown]
# ## Train one yourself
#
# Now the other kind. The state is eight pieces of eight numbers, and each digit moves every piece by an 8 × 8 matrix of its
# own, a *block*. Six functions are all you need: `task`, `build`, `train`, `evaluate`, `snap`, `verify`. (The network is the row
# `softmax` in a table of paper 000, by Fan, Chi and Rudnicky.)

# %% tags=["varies", "nbval-ignore-output"]
sum5 = task("sum", 5)
net = build("block_diagonal", sum5, rule="softmax", drive="none",
            start="first", gain=4.0, head="linear", seed=1)
train(net, sum5, steps=400, lr=1e-2, weight_decay=1.0, clip=1.0,
      progress=False)
for length in (40, 500):
    score = evaluate(net, sum5, length=length)
    print(f"{length} digits: right on {score.accuracy_last:.1%} of the strings")

# %% [markdown]
# Right at 40. And at 500? When we tried the seeds 0 to 9, all ten were right at 40, and at 500 they were right on 18 % to 100 % of the
# strings. So blocks alone are no cure. But look inside: every column of such a block is a probability distribution, and after training one entry of
# each is much larger than the others. **Snap** it: write 1 for the largest entry and 0 for the rest. No training, only rounding.

# %% tags=["varies", "nbval-ignore-output"]
snapped = snap(net)
score = evaluate(snapped, sum5, length=500)
print(f"500 digits, snapped: right on {score.accuracy_last:.1%} of the strings")

# %% jupyter={"source_hidden": true} tags=["hide-input", "varies", "nbval-ignore-output"]
show.figure(
    accuracy_by_length(
        {f"live, {name}": evaluate(one, sum5, length=500).per_position.numpy() for name, one in (("as trained", net), ("snapped", snapped))},
        train_length=40, chance=sum5.chance, majority=sum5.majority(500), window=5,
    ),
    alt="Accuracy against position 1 to 500 of the network just trained. As trained it is right up to position 40 and falls later, "
        "with most seeds; its snapped copy stays at 100 percent.",
    caption="What to see: your network as trained and, dashed, its snapped copy, the same weights rounded. With most seeds only the snapped copy lasts.",
)  # fmt: skip

# %% [markdown]
# The blocks of the first picture were not rounded. Their training goes on until the columns are nearly pure, and starts again where a snapped
# copy is wrong ([02](02_block_diagonal_lrnn.ipynb)); all five recorded seeds are right to 500.
# [Chapter 10](10_one_ladder.ipynb) trains every rule alike, 600 steps on the answers alone, and there these blocks fade as yours may
# have done.
#
# ## Not sampled, but proved
#
# A thousand strings prove nothing about all strings. But a block with its eight numbers of the state (a **head**) is, once snapped, a
# machine of eight states: each digit leads from each state to one state. A machine of five states, one for each sum,
# does the task. Such machines are **finite automata**, and the sets of words that they can recognise are the **regular languages**. (Every word is explained again in the [glossary](glossary.ipynb).)
#
# Now run your heads and the task's machine side by side, on *all* strings at once. There are finitely many pairs (states of the
# heads, state of the task), so a search can visit every pair that some string reaches. If an answer is wrong in one of them, the search
# gives you the string. If it is wrong in none, that is a proof.

# %% tags=["varies", "nbval-ignore-output"]
verdict = verify(snapped, sum5.specification)
print(verdict)

# %% [markdown]
# *Proved* is about every string of every length. (It was so with all ten seeds. For a copy that is wrong, the search names a shortest string that it gets wrong.) The
# line also says which heads are enough, how many states they reach together, how
# many pairs the search visited, and by how much the largest entries lead (before the softmax). In chapter 02 you write this search yourself. Here is the
# machine that these heads make together.

# %% jupyter={"source_hidden": true} tags=["hide-input", "varies", "nbval-ignore-output"]
machine, names = sum5.machine, "drawn is the smallest machine that does the task."
if verdict.proved and verdict.heads:
    of_heads = heads_machine(head_tables(snapped), verdict.heads, sum5.symbols)
    if of_heads.num_states <= 16:
        machine, names = of_heads, "a state's name lists the states of the heads that take part."
show.figure(
    state_diagram(machine),
    alt="State diagram of the automaton found inside the trained network: states joined by arrows "
        "labelled with digits; colours show which answer each state gives.",
    caption=f"What to see: the network has built a counter modulo 5. Each arrow adds its digit; {names}",
)  # fmt: skip

# %% [markdown]
# ## Run it, break it, prove it
#
# Here is your network, and in the lower bar the clock. Type digits, or take 500 at random; snap; search. Then press a cell of a
# matrix, so that one column sends its state elsewhere, and search again: the shortest string that the broken network gets
# wrong appears in the box.

# %% jupyter={"source_hidden": true} tags=["hide-input", "varies", "nbval-ignore-output"]
playground_widget = ch00.playground_widget(net)
playground_widget

# %% [markdown]
# The same page, with three more networks and no Python, is one file: `lrnnlab book playground`.

# %% [markdown]
# **Exercise 2** ★ *(5 min, 3 points: to count the states that a task needs)* **A proof step.** Two words may end
# in the same state of an automaton only if the right answers agree after them, at once and after every further word.
# For Sum(5), give five words of which no two may end in the same state.

# %%
my_words = None  # five texts of digits
check("00.2", my_words)


# %% [markdown]
# <!-- Exercise 00.2: from notebooks/lrnnbook/content/exercises/ch00.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint</summary>
#
# Begin with words of one digit. After which of them do the right answers differ already?
#
# </details>

# %% [markdown]
# **Exercise 3** ★ *(5 min, 3 points: what one wrong arrow does to a counter)* **Predict** before you run: one of the 25 arrows
# of the automaton of Sum(5) is wrong. From the state of the sum 4, the digit 1 leads to 1 instead of 0. How often
# is the last answer right on random strings of 500 digits?

# %% jupyter={"source_hidden": true} tags=["hide-input", "nbval-ignore-output"]
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


guess("00.3", one_wrong_arrow)

# %% [markdown]
# <!-- Exercise 00.3: from notebooks/lrnnbook/content/exercises/ch00.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint</summary>
#
# How often does a string of 500 digits pass the wrong arrow? What happens to the answers after it?
#
# </details>

# %% [markdown]
# ## The map
#
# Every chapter is a *sitting*: at most an hour to read, and then its exercises, which take once to twice as long again and which
# you can leave for another day. Lettered notebooks go deeper into 01 to 10, one idea each, for when you want more. Three paths:
#
# * **one evening**: 00, 02, 10 (two hours to read; the exercises are for other days). You build a network, train it, prove it, and see where it ranks among the others. 10 builds on 02 and explains
#   what else it needs.
# * **four weeks**, as [TEACHING.md](TEACHING.md) plans them,
# * or everything, in order.

# %% jupyter={"source_hidden": true} tags=["hide-input", "nbval-ignore-output"]
show.figure(
    ch00.map_picture(),
    alt="Map of the book: eleven sittings from 00 to 10 with their minutes of reading and of exercises, arrows from each to those that build on it, and beside "
        "each its lettered notebooks.",
    caption="Numbers: minutes to read + minutes for the exercises. What to see: an arrow leads from a chapter to one that uses it. "
            "Bold: the path of one evening.",
)  # fmt: skip

# %% [markdown]
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
# The papers, numbered as in the workbook:
#
# * **000** Fan, Chi, Rudnicky: *Advancing Regular Language Reasoning in Linear Recurrent Neural Networks*
# * **001** Biegun, Dolga, Cunningham, Barber: *RotRNN*
# * **002** Chi, Fan, Rudnicky, Ramadge: *RegularGPT*
# * **003** Irie, Csordás, Schmidhuber: *Practical Computational Power of Linear Transformers and Their Recurrent and Self-Referential Extensions*
# * **004** Gupta, Mehta, Berant: *Simplifying and Understanding State Space Models with Diagonal Linear RNNs*
#
# ## Your copy, and how far you have come
#
# `python bootstrap.py lab` opens a copy of the chapters that is yours: write into it, run it, save it. Exercises that a cell
# checks are counted in `progress.json` beside it, on your machine only. Exercises that ask for an argument are not counted, so
# the total here is smaller than in the chapters. What to do next:

# %%
progress()

# %% [markdown]
# When the workbook changes, your copy does not. Ask what is new in a chapter, and start it over if you want it; what you had
# is kept beside it, with the date in its name.

# %%
my_copy()

# %% [markdown]
# ## How to read a number
#
# Three kinds of number are kept apart, by word and by colour. The **paper** printed it (grey). We **recorded** it, with a
# command that you can run again (blue, as the blocks' line in the first picture). Or it is **live**, computed as you read (vermilion in this
# chapter: your own network's curves). Other colours are values: a band *sum + 2* has the colour of a 2. Next to an accuracy you will
# often see two baselines: *chance* (guess uniformly) and *majority* (always give the most common answer).
#
# Checks say how strong they are: **all cases** (symbols: nothing is left out), **all n ≤ 12** (finite and complete), **sample**
# (drawn at random), **float** (rounded).

# %% [markdown]
# **Exercise 4** ★★ *(10 min, 3 points: to tell a soft network from its snapped copy)* **Break
# the hypothesis.** Give a $2 \times 2$ matrix whose columns are probability distributions with at least 0.9 on the
# diagonal, so that snapping makes it the identity; and yet, after 500 steps of it, the states that began at the two
# corners $(1, 0)$ and $(0, 1)$ are less than a millionth apart (in 1-norm, the sum of the sizes of the entries).

# %%
my_matrix = None  # two rows of two numbers
check("00.4", my_matrix)

# %% [markdown]
# <!-- Exercise 00.4: from notebooks/lrnnbook/content/exercises/ch00.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint</summary>
#
# Try 0.9 on the diagonal. How far apart are the two columns of this matrix, and those of its square?
#
# </details>

# %% [markdown]
# ## What to remember
#
# 1. Almost every model here is $x_t = A_t x_{t-1} + b_t$, and they differ in what $A_t$ may be.
# 2. Two networks can agree on every string of the training length and part beyond it. An answer that is always wrong in the same way is a
#    clock, not a guess.
# 3. Snapped, blocks are automata, and a search proves the copy right on every string, or finds one that it gets wrong.
# 4. The proof is about the snapped copy. It says nothing about the network we trained (exercise 4).
# 5. Paper, recorded, live; and an accuracy is worth what it has beyond chance and majority.
#
# ## Exercises
#
# You will find each exercise in its section. Stuck? `hint("00.1")`. Done? Compare with `solution("00.1")`.

# %% [markdown]
# <!-- The exercises of this chapter, listed by lrnnlab book build. -->
#
# 4 exercises, 12 points, about 25 minutes:
#
# | exercise | section | difficulty | minutes | points | you will learn |
# |---|---|---|---|---|---|
# | 1 | [One equation](#One-equation) | ★ | 5 | 3 | to write the task down |
# | 2 | [Run it, break it, prove it](#Run-it,-break-it,-prove-it) | ★ | 5 | 3 | to count the states that a task needs |
# | 3 | [Run it, break it, prove it](#Run-it,-break-it,-prove-it) | ★ | 5 | 3 | what one wrong arrow does to a counter |
# | 4 | [How to read a number](#How-to-read-a-number) | ★★ | 10 | 3 | to tell a soft network from its snapped copy |
#
# <details><summary>Solution of 00.1</summary>
#
# `lambda text: [sum(map(int, text[:t])) % 5 for t in range(1, len(text) + 1)]`, or, as a
# recurrence does it, one number that each digit moves: $x_t = (x_{t-1} + u_t) \bmod 5$.
#
# </details>
#
# <details><summary>Solution of 00.2</summary>
#
# `0`, `1`, `2`, `3`, `4`: their sums differ, so their answers do, and no two of them can share a
# state. Five words that are pairwise different in this sense need five states, and the automaton has no more.
#
# </details>
#
# <details><summary>Solution of 00.3</summary>
#
# About 20 %, no better than a guess. A random string passes the wrong arrow at every 25th digit
# or so, twenty times in 500, and each passage shifts all answers after it by one. Nothing puts the sum right
# again. So at length 500 the shift may be anything, and the answer is a guess. An almost right counter is right
# on short strings only: that is why we look at lengths never trained on, and why we prove.
#
# </details>
#
# <details><summary>Solution of 00.4</summary>
#
# $\begin{pmatrix}0.9&0.1\\0.1&0.9\end{pmatrix}$: snapped it is the identity, which keeps its two
# states apart for ever. As it is, each step brings them nearer by the factor 0.8, so after 500 steps they are
# $2\cdot 0.8^{500}\approx 7\cdot 10^{-49}$ apart. The proof above speaks of the snapped network; of the soft
# one we know what was measured.
#
# </details>

# %% [markdown]
# ## Read on
#
# * T.-H. Fan, T.-C. Chi, A. Rudnicky: *Advancing Regular Language Reasoning in Linear Recurrent Neural Networks*, 2024, [arXiv:2309.07412](https://arxiv.org/abs/2309.07412): the network of this chapter.
# * G. Weiss, Y. Goldberg, E. Yahav: *Extracting Automata from Recurrent Neural Networks Using Queries and Counterexamples*, 2018, [arXiv:1711.09576](https://arxiv.org/abs/1711.09576): automata from networks that cannot be snapped.
# * The other four papers, and what came next: section 5 of the [glossary](glossary.ipynb).
