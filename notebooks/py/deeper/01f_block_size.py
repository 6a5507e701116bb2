# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 01f · Block size
#
# One layer, blocks of size $b$: how large must they be? Theorem E gives a bound, and a table has the smallest exact models that we know. *It takes* about 20 min to read and 20 min for the exercises. Read [chapter 01](../01_subtraction.ipynb) first.

# %% jupyter={"source_hidden": true} tags=["hide-input"]
from itertools import product

import numpy as np

import lrnnbook
from lrnnbook import show
from lrnnbook.content.chapters import ch01
from lrnnbook.content.exercises import check, hint, solution
from lrnnbook.content.show.automaton_figures import state_diagram
from lrnnbook.content.show.widgets import explore
from lrnnbook.content.tables import minimal
from lrnnlab.automata.languages import language, read
from lrnnlab.expressivity.theorems import cascades

lrnnbook.needs("0.1")

# %% [markdown]
# ## 1 How large must a block be?
#
# > **Theorem E.** If the orbit of a point of $\mathbb R^b$ under $x \mapsto Ax + d$ is finite, it enters its cycle
# > after at most $b$ steps.
#
# **Step 1.** On the vectors $(x, 1)$ the map is linear, with a matrix $H$ of size $b + 1$ whose last row is
# $0 \cdots 0\ 1$. Let $K_j$ be the space of the vectors that $H^j$ sends to 0. As in Theorem C ([01b](01b_sum_and_last_letters.ipynb)) it grows until it stops
# for good. All its vectors end in 0, as the last coordinate stays; so its dimension is at most $b$, and $K_b = K_{b+1}
# = \cdots$. **All maps** with entries 0 and $\pm 1$ for $b = 1, 2$; **sample:** 4,000 for $b = 3$.
#
# **Step 2.** A finite orbit reaches some point twice, $x_k = x_{k+N}$, with $k \ge b$ after going round the
# cycle often enough. Then $H^k$ sends $(x_0, 1) - (x_N, 1)$ to 0; by step 1 so does $H^b$, and $x_b = x_{b+N}$: it is in
# the cycle after $b$ steps. $\blacksquare$ (The cell runs the same maps from every start with entries 0, $\pm 1$. The
# cycles of these maps have lengths that divide 12, so an orbit is finite if $x_{24} = x_{36}$.)

# %% tags=["proof-theorem_e"]
draw = np.random.default_rng(0)
orbits = {}
for b in (1, 2, 3):
    entries = list(product((-1, 0, 1), repeat=b * b + b)) if b < 3 else draw.integers(-1, 2, (4000, 12))
    H = np.zeros((len(entries), b + 1, b + 1), dtype=np.int64)
    H[:, :b], H[:, b, b] = np.array(entries).reshape(-1, b, b + 1), 1
    v = np.array([(*x, end) for *x, end in product((-1, 0, 1), repeat=b + 1)]).T
    gone, later = ((P @ v == 0).all(axis=1) for P in (np.linalg.matrix_power(H, b + j) for j in (0, 3)))
    assert (gone == later).all() and not gone[:, v[b] != 0].any(), (
        "Theorem E, step 1: what is not gone after b steps stays"
    )
    x = np.array([(*start, 1) for start in product((-1, 0, 1), repeat=b)]).T
    runs = [np.linalg.matrix_power(H, k) @ x for k in range(37)]
    finite = (runs[24] == runs[36]).all(axis=1)  # (maps, starts)
    cycling = [(runs[k] == runs[k + 12]).all(axis=1) for k in range(25)]
    orbits[b] = [int((finite & ~np.any(cycling[:k], axis=0) & cycling[k]).sum()) for k in range(25)]
    assert orbits[b][b] > 0 == sum(orbits[b][b + 1 :]), (
        f"Theorem E, step 2: an orbit of b = {b} runs more than b steps"
    )
    said = ", ".join(f"{steps} steps: {many} orbits" for steps, many in enumerate(orbits[b][: b + 1]))
    print(f"b = {b}, before the cycle: {said}")

# %% [markdown]
# Apply this to the language $D_n$ of balanced brackets `a`…`b` of depth at most $n$. If all blocks of one layer had
# size $n$ at most, then after $n$ times `a` every block would be in its cycle, and $a^n$ and $a^{n+N}$ would end in one
# state for some $N$. But $a^n b^n$ is balanced, and $a^{n+N} b^n$ is too deep. So one layer with finitely many
# states needs a block of size at least $n + 1$, *whatever the number of blocks and the readout*.
#
# **Step 3.** The shift of $b$ unit vectors, the last of which goes to 0, runs exactly $b$ steps. ($b$ up to 13.)

# %% tags=["proof-theorem_e"]
for b in range(1, 14):
    met, x = [], np.eye(b, dtype=int)[0]
    while x.tolist() not in met:
        met.append(x.tolist())
        x = np.eye(b, k=-1, dtype=int) @ x
    assert met.index(x.tolist()) == b, "Theorem E, step 3: the shift runs b steps before its cycle"
print(f"b = {b}: after {met.index(x.tolist())} steps the shift is at", *x, "for good")

# %% [markdown]
# **Step 4.** $a^n b^n$ is in $D_n$, and $a^{n+N} b^n$ is not, for $N = 1, 2, \dots$: in the automaton the state after
# $a^{n+1}$ is one that is never left.
#
# **Step 5.** Size $n + 1$ is enough: depth $d$ is the unit vector $e_d$, and what is too deep is the zero vector. That
# model is right on all words. (For $n$ = 2, 3, 4 and 12.)

# %% tags=["proof-theorem_e"]
sizes = {}
for n in (2, 3, 4, 12):
    machine = language(f"D_{n}").machine
    deep = machine.run(read(machine, "a" * (n + 1)))[-1]
    balanced = int(machine.answer(read(machine, "a" * n + "b" * n))[-1])
    assert balanced == 1 != int(machine.outputs[deep]), (
        "Theorem E, step 4: n is not too deep, n + 1 is"
    )
    assert (machine.transitions[:, deep] == deep).all(), (
        "Theorem E, step 4: what is too deep stays so"
    )
    model = minimal.constructions(f"D_{n}")[0].model
    sizes[n] = model.size
    assert sizes[n] == n + 1 and cascades.pair_up(model, machine)[1] is None, (
        "Theorem E, step 5: b = n + 1 is enough"
    )
print("smallest block:", ", ".join(f"D_{n}: {b}" for n, b in sizes.items()))

# %% [markdown]
# **Break it.** The bound cannot be lowered: claim one step fewer, and the same orbits refute it.

# %% tags=["proof-theorem_e"]
with show.expect_failure("Theorem E, step 2"):
    for b, steps in orbits.items():
        assert sum(steps[b:]) == 0, (
            f"Theorem E, step 2: with b = {b}, {sum(steps[b:])} orbits run {b} steps and not {b - 1}"
        )

# %% jupyter={"source_hidden": true} tags=["hide-input", "nbval-ignore-output"]
show.figure(
    state_diagram(ch01.brackets()),
    alt="Automaton of D_2, drawn as a ring: a leads from 0 to 1 to 2, and b back; a from 2 and b "
        "from 0 lead to a sink, which is never left.",
    caption="What to see: three times a leads from every state into the sink, two times a "
            "does not. So b is at least 3.",
)  # fmt: skip

# %% [markdown]
# **Exercise 13** ★★ *(10 min, 3 points: to hold an automaton in a block)* Give the block of size 3 for $D_2$: which
# vectors stand for the depths 0, 1, 2 and for the sink, and what are $A_a$ and $A_b$?

# %% [markdown]
# <!-- Exercise 01.13: from notebooks/lrnnbook/content/exercises/ch01.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint 1</summary>
#
# Draw the automaton first.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# A state of it is a basis vector; what leads to the sink leads to zero.
#
# </details>

# %% [markdown]
# ## 2 The smallest models
#
# All of this together: for each language the number of states $|Q|$ of its automaton, how many different things words
# can do to them ($|$monoid$|$), what one layer needs, and the smallest exact block that we know. "Pre-period" is the
# number of times that a word must be repeated before its powers run in a cycle, for the word that takes longest; by
# Theorem E some block is at least as large. "b needed" is the largest of three bounds. The first is the pre-period. The
# second is 2, if real diagonal gates (turns of order 1 or 2) are not enough by the two laws of
# [01d](01d_turns_and_resets.ipynb). The third is 3, if the automaton has a group that is not solvable or of derived
# length above 2. For the finite groups of maps $x \mapsto Ax + d$ of the plane are turns and reflections about one
# point, which have derived length 2 at most (a classical fact that we do not prove here). Every model in the table is exact: it is compared with the automaton over *all* words. "Within Eq.
# 6" is the smallest block that we know among those that obey the paper's constraint with $p = 1.2$.

# %% jupyter={"source_hidden": true} tags=["hide-input"]
table = minimal.smallest_models()
columns = [
    "task",
    "|Q|",
    "|monoid|",
    "pre-period",
    "derived length",
    "one diagonal layer",
    "b needed",
    "b found",
    "tight",
    "within Eq. 6",
    "construction",
]
show.table(
    [{name: row[name] for name in columns} for row in table],
    caption="One layer with finitely many states, any number of blocks, any readout; b "
            "counts real numbers.",
)  # fmt: skip

# %% [markdown]
# **Exercise 14** ★ *(10 min, 3 points: to read what a bound on the columns costs)* **Read a picture.** For which tasks of
# the table is the number in the column "within Eq. 6" larger than the smallest block found without the constraint
# ("b found")? What have their models in common?

# %%
my_tasks = None  # exercise 14: a list of names from the table's first column
check("01.14", my_tasks)

# %% [markdown]
# <!-- Exercise 01.14: from notebooks/lrnnbook/content/exercises/ch01.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint 1</summary>
#
# Compare the columns "b found" and "within Eq. 6" row by row.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# What does the column "construction" say of the rows in which they differ?
#
# </details>

# %% jupyter={"source_hidden": true} tags=["hide-input"]
show.table(
    [
        {"task": task, **found.row()}
        for task in ("Sum(5)", "EvenPair(5)", "a-b-c mod 5", "ModArith(5)")
        for found in minimal.constructions(task)
    ],
    caption="Every exact model known here for the paper's tasks and for subtraction. "
            "'states': how many it reaches. On 'expressions': right wherever the "
            "string is well-formed.",
)  # fmt: skip

# %% [markdown]
# The paper uses $b = 8$: one layer for Sum and EvenPair, three for ModArith. The table agrees that this is enough room:
# 5, 2 and (in two layers already) 5 within Eq. 6. That a model *exists* says nothing about
# whether training finds it; see chapter 02. And $D_{12}$ shows that $b = 8$ is not enough for every regular language
# in one layer.
#
# ## 3 A picture to play with: blocks against depth
#
# Choose a task, a block size and a depth. A green light means that an exact model with finitely many states is
# known; below the lights it reads a word (type your own and press Enter). The two constant layers of [01c](01c_two_layers.ipynb) are
# not among these models: in exact arithmetic their clock never stops, so they have infinitely many states.

# %% jupyter={"source_hidden": true} tags=["hide-input", "nbval-ignore-output"]
show.figure(
    ch01.fit_lights("ModArith(5)", 2, 3),
    alt="Thirty lights for ModArith(5): impossible at b = 1 in one to three layers, open for "
        "small blocks in one and two layers, green from b = 8 in one layer, b = 4 in two, b = "
        "2 in three. Below, the state of the three diagonal layers while they read 2×3+4-1×3.",
    caption="What to see: depth and block size can replace each other. Three layers of turns "
            "and resets (b = 2) do what one layer does with b = 8.",
)  # fmt: skip

# %% jupyter={"source_hidden": true} tags=["hide-input", "nbval-ignore-output"]
fit_widget = explore(
    ch01.fit_lights,
    {"task": list(ch01.SAMPLES), "b": list(ch01.SIZES), "layers": list(ch01.DEPTHS), "word": ""},
    initial={"task": "D_4", "b": 5, "layers": 1}, sentence=ch01.fit_sentence,
    alt="Lights for every block size and depth of the chosen task, and the state of an exact "
        "model while it reads a word.",
)  # fmt: skip
fit_widget

# %% [markdown]
# ## Exercises
#
# You will find each exercise in its section. Stuck? `hint("01.13")`. Done? Compare with `solution("01.13")`.

# %% [markdown]
# <!-- The exercises of this chapter, listed by lrnnlab book build. -->
#
# 2 exercises, 6 points, about 20 minutes:
#
# | exercise | section | difficulty | minutes | points | you will learn |
# |---|---|---|---|---|---|
# | 13 | [1 How large must a block be?](#1-How-large-must-a-block-be?) | ★★ | 10 | 3 | to hold an automaton in a block |
# | 14 | [2 The smallest models](#2-The-smallest-models) | ★ | 10 | 3 | to read what a bound on the columns costs |
#
# <details><summary>Solution of 01.13</summary>
#
# $e_0, e_1, e_2$ and the zero vector. $A_a$ sends $e_0 \to e_1 \to e_2 \to 0$, $A_b$ sends
# $e_2 \to e_1 \to e_0 \to 0$: two shifts, nothing driven.
#
# </details>
#
# <details><summary>Solution of 01.14</summary>
#
# Sum(5), $a-b-c$ mod 5, ModArith(5), Tomita 3, Tomita 6, $S_3$ and $A_5$. In all of them but Tomita 3 something
# turns by an angle that is no multiple of 90 degrees. Two numbers are enough for such a turn (three for the turns of
# $A_5$), but the columns of its matrix have a $p$-norm above 1 for $p < 2$. Within the constraint our models permute
# unit vectors instead, which takes more of them: five for Sum(5) and for $A_5$. A sign is within it, so Parity and
# Tomita 5 cost nothing. In Tomita 3 a state is a sum of two unit vectors, and a column with two ones is too long as
# well.
#
# </details>
