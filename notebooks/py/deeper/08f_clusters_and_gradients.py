# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 08f · Clusters and gradients
#
# Two looks inside a net. How many different states must it have at each depth? And how far back does it look? *It takes* about 35 min to read and 5 min for the exercises. Read [chapter 08](../08_working_memory_in_depth.ipynb) first.

# %% jupyter={"source_hidden": true} tags=["hide-input"]
import itertools
import math

import numpy as np
import sympy as sp

import lrnnbook
from lrnnbook import show
from lrnnbook.content.chapters import ch08
from lrnnbook.content.exercises import check, hint, solution
from lrnnbook.content.show import regulargpt_figures
from lrnnbook.content.show.widgets import explore
from lrnnbook.content.tables import results

lrnnbook.needs("0.1")

# %% [markdown]
# ## 1 As many states as actions
#
# > **The paper, section 7.3.** "Ideally, we want to see a limited number of clusters across all layers, indicating the model learns
# > to capture the state transition function. As we can see in Figure 3, PARITY has 2 clusters and Cycle Navigation has 5 clusters."
#
# How many should there be? Depth $\ell$ sees words of exactly $2^{\ell+1}$ letters. Words with the same action may share one state of
# the network; words with different actions must not.
#
# > **Clusters.** Let every state of the automaton have an answer of its own. A net (chunks of two) that is right on all strings has
# > at depth $\ell$ at least as many different states as there are actions of words of *exactly* $2^{\ell+1}$ letters.
#
# **Step 1 (the hypothesis).** In these three tasks every state of the automaton has an answer of its own:

# %% tags=["proof-at_least"]
three = [ch08.machine_of(name) for name in ("Parity", "Cycle Navigation", "S_3")]
assert all(len(set(machine.outputs.tolist())) == machine.num_states for machine in three), (
    "Clusters, step 1: every state has an answer of its own"
)
print("states and answers:", *(machine.num_states for machine in three))

# %% [markdown]
# **Step 2.** Let a string end in a word $u$ of $C^{\ell+1}$ letters. At depth $\ell$ the tree has one node whose letters are exactly
# $u$, and the others have no letter of $u$. So if $u$ is exchanged for $v$ of the same length, nothing at depth $\ell$ changes but this
# node. If it holds the same for both, everything above is the same too, and so is the answer. **$C = 2$ and 3, all $T \le 64$.**

# %% tags=["proof-at_least"]
for C, T, depth in itertools.product((2, 3), range(2, 65), range(5)):
    size = C ** (depth + 1)
    if size <= T:
        nodes = [set(range(max(0, end + 1 - size), end + 1)) for end in range(T - 1, -1, -size)]
        last = set(range(T - size, T))
        assert nodes[0] == last, "Clusters, step 2: the node of the last letters"
        assert not any(last & node for node in nodes[1:]), (
            "Clusters, step 2: another node has one of them"
        )
print(f"C = {C}, T = {T}: at the depth of {C**3} letters {len(range(T - 1, -1, -(C**3)))} nodes, apart")


# %% [markdown]
# **Step 3.** If $u$ and $v$ have different actions, some state $s$ is led to two states. Put a word in front that leads to $s$: the two
# strings have different answers. So the node must hold different things. First list the actions by length. Then find the state, the word
# and the answers for every pair of actions: **all pairs, nine depths**. $\blacksquare$

# %% tags=["proof-at_least", "proof-clusters"]
def actions_by_length(machine, longest):
    """For 0, 1, 2, ... letters the actions of all words of that length: sets of tuples."""
    moves = machine.transitions.tolist()
    found = [{tuple(range(machine.num_states))}]
    for _ in range(longest):
        found.append({tuple(move[s] for s in action) for action in found[-1] for move in moves})
    return found


print("S_3, 0 to 5 letters:", [*map(len, actions_by_length(ch08.machine_of("S_3"), 5))], "actions")

# %% tags=["proof-at_least"]
for machine in three:
    front = {machine.initial: ()}  # a word to each state
    for state, word in (todo := list(front.items())):
        for letter, after in enumerate(machine.transitions[:, state].tolist()):
            if after not in front:
                front[after] = (*word, letter)
                todo.append((after, front[after]))
    reached = {s: machine.run([*word])[-1] if word else machine.initial for s, word in front.items()}
    assert reached == {s: s for s in range(machine.num_states)}, (
        "Clusters, step 3: a word leads to each state"
    )
    for size in (2 ** (depth + 1) for depth in range(9)):
        for u, v in itertools.combinations(sorted(actions_by_length(machine, size)[size]), 2):
            s = next(s for s in range(machine.num_states) if u[s] != v[s])
            assert machine.outputs[u[s]] != machine.outputs[v[s]], (
                "Clusters, step 3: two strings with different answers"
            )
print(f"{len(three)} tasks, words of 2 to {size} letters: every two actions are told apart by an answer")

# %% [markdown]
# A network may have *more* clusters than that. Where several states share an answer, two different actions may never be told apart
# by an answer; then fewer clusters can do. Drop that hypothesis, for example with $D_2$:

# %% tags=["proof-at_least"]
with show.expect_failure("Clusters, step 1"):
    machine = ch08.machine_of("D_2")
    assert len(set(machine.outputs.tolist())) == machine.num_states, (
        "Clusters, step 1: D_2 has two answers for four states"
    )

# %% [markdown]
# **Exercise 13** ★ *(5 min, 2 points: to count the actions of words of one length)* **Predict.** Before you run anything:
# how many clusters does a layer show that sees words of exactly 8 letters, for Tomita 5 (an even number of 0s and of
# 1s, 4 states), and for $(aa)^*$ (2 states)?

# %%
my_clusters = None  # two numbers, for example (4, 2)
check("08.13", my_clusters)

# %% [markdown]
# <!-- Exercise 08.13: from notebooks/lrnnbook/content/exercises/ch08.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint</summary>
#
# How many 0s can a word of 8 letters with an even number of 1s have?
#
# </details>

# %% [markdown]
# ## 2 How many actions?
#
# **Claim (actions).** In Parity and Cycle Navigation the number of actions is that of the states, at every depth, as the paper has it. In most
# other tasks it is not.
#
# **Step 1.** Let $S_k$ be the set of actions for $k$ letters. Then $S_{k+1}$ is $S_k$ followed by every letter. **All words of up to 4
# letters**, followed one by one, agree.
#
# **Step 2.** Figure 3 of the paper: 2 for Parity and 5 for Cycle Navigation, at all nine depths.
#
# **Step 3.** The table: by length of the word, the number of actions.

# %% tags=["proof-clusters"]
COUNTS = {  # for words of 1, 2, 4, 8, 16, 32 and 64 letters
    "Parity": (2, 2, 2, 2, 2, 2, 2), "Cycle Navigation": (3, 5, 5, 5, 5, 5, 5),
    "(aa)*": (1, 1, 1, 1, 1, 1, 1), "EvenPair(2)": (2, 4, 4, 4, 4, 4, 4),
    "ModArith(5)": (7, 22, 105, 129, 129, 129, 129), "D_2": (2, 4, 8, 8, 8, 8, 8),
    "D_12": (2, 4, 13, 54, 259, 413, 413), "Tomita 3": (2, 4, 14, 21, 21, 21, 21),
    "Tomita 4": (2, 4, 9, 10, 10, 10, 10), "Tomita 5": (2, 2, 2, 2, 2, 2, 2),
    "Tomita 6": (2, 3, 3, 3, 3, 3, 3), "S_3": (2, 4, 6, 6, 6, 6, 6),
}  # fmt: skip
by_length = {name: actions_by_length(ch08.machine_of(name), 64) for name in COUNTS}
for name, found in by_length.items():
    machine, one_by_one = ch08.machine_of(name), [tuple(range(ch08.machine_of(name).num_states))]
    for length in range(1, 5):
        one_by_one = [tuple(move[s] for s in states) for states in one_by_one
                      for move in machine.transitions.tolist()]  # fmt: skip
        assert set(one_by_one) == found[length], "Actions, step 1: the actions of all words"
for name, due in (("Parity", 2), ("Cycle Navigation", 5)):
    found = actions_by_length(ch08.machine_of(name), 512)
    assert {len(found[2 ** (depth + 1)]) for depth in range(9)} == {due}, (
        "Actions, step 2: the counts of Figure 3"
    )
sizes = [2**k for k in range(7)]
for name, found in by_length.items():
    assert tuple(len(found[size]) for size in sizes) == COUNTS[name], (
        "Actions, step 3: the counts of the table"
    )
    print(name, COUNTS[name])
print(f"D_2 and 4 letters: {len(one_by_one)} words followed one by one")


# %% [markdown]
# **Step 4.** $S_{k+1}$ depends on $S_k$ alone. So as soon as a set comes a second time, everything repeats, and *all* lengths are covered.
# In only four of the twelve tasks the lasting number is that of the states.
#
# **Step 5.** In a group (all letters are permutations) the lasting number is the order of the group divided by the length of that
# period. Why? In a group $S_k$ followed by one letter $a$ has as many elements as $S_k$. Once the numbers repeat, $S_{k+1}$ is therefore
# just $S_k$ followed by $a$, for *every* letter $a$. So every letter takes $S_k$ to $S_{k+1}$, and every inverse letter takes it to
# $S_{k-1}$. A word with as many letters as inverse letters takes $S_k$ to itself, and any two elements of $S_k$ differ by such a word.
# Hence each $S_k$ is one coset of the subgroup that these words make, and the sets of one period are all its cosets. **Nine groups.**

# %% tags=["proof-clusters"]
def lasting(found):
    """The numbers of one period, once the sets repeat."""
    first = {}
    for length, actions in enumerate(map(frozenset, found)):
        if actions in first:
            return [len(found[k]) for k in range(first[actions], length)]
        first[actions] = length


as_states = [name for name, found in by_length.items()
             if set(lasting(found)) == {ch08.machine_of(name).num_states}]  # fmt: skip
assert as_states == ["Parity", "Cycle Navigation", "Tomita 6", "S_3"], (
    "Actions, step 4: four of the twelve count states"
)
for name in ("Parity", "(aa)*", "Cycle Navigation", "Tomita 5", "Tomita 6", "S_3", "A_4", "S_4", "Q_8"):
    found = actions_by_length(ch08.machine_of(name), 64)
    order, counts = len(set().union(*found)), lasting(found)
    assert set(counts) == {order // len(counts)}, "Actions, step 5: the order over the period"
    for move in ch08.machine_of(name).transitions.tolist():
        assert {tuple(move[s] for s in action) for action in found[63]} == found[64], (
            "Actions, step 5: a letter"
        )
    print(f"{name}: {order} / {len(counts)} = {counts[0]}")

# %% [markdown]
# **Step 6.** For the brackets $D_n$ there is a closed form. Take a word that visits exactly $r + 1$ neighbouring depths, $r \le n$. What it
# does depends on $r$, on where among them it starts, and on where it ends: $(r+1)^2$ actions. All other words are one action, "wrong for
# ever". Long words of even length show the actions that start and end at the same parity. $\blacksquare$ **Counted for $n = 2, 3, 4$ and
# 12.**

# %% tags=["proof-clusters"]
for brackets in (2, 3, 4, 12):
    found = actions_by_length(ch08.machine_of(f"D_{brackets}"), 64)
    actions = 1 + sum((r + 1) ** 2 for r in range(brackets + 1))
    even = sum(((r + 1) ** 2 + 1) // 2 for r in range(brackets + 1))  # with "wrong", without "nothing"
    assert len(set().union(*found)) == actions, "Actions, step 6: all actions"
    assert sorted(lasting(found)) == sorted((even, actions - even)), "Actions, step 6: by parity"
    print(f"D_{brackets}: {actions} actions; long words show {even} (even) or {actions - even} (odd)")

# %% [markdown]
# **Break a hypothesis.** The claim is about *exactly* $2^{\ell+1}$ letters. The first node of each depth has fewer, if the string does not
# fill its chunks. Count words of *up to* that length, and the numbers change: a word of two letters of $(aa)^*$ has one action, words of one or two
# letters have two.

# %% tags=["proof-clusters"]
with show.expect_failure("Actions, step 3"):
    for name, found in by_length.items():
        up_to = [set().union(*found[1 : size + 1]) for size in sizes]
        assert tuple(map(len, up_to)) == COUNTS[name], (
            f"Actions, step 3: {name} has {[*map(len, up_to)]}"
        )

# %% [markdown]
# ## 3 The recorded nets
#
# The pictures show up to 120 states of each depth, from 64 strings of 500 letters, on the plane on which they vary most (PCA, principal
# component analysis). Colours are the true actions, known from the machine.
#
# Clusters come from scikit-learn, which is told nothing about the task. It takes the states of all depths together and uses Ward's rule:
# join the two groups whose union spreads least, again and again. It stops where the mean *silhouette* is largest (how much nearer a state
# is to its own cluster than to the next one), but always before one cluster is left. The clusters of a depth are those in which its states
# lie, so there may be only one.
#
# Three tasks are recorded (`lrnnlab reproduce regulargpt/fig3 --budget desk`): the paper's two, and $S_3$, the permutations of three
# things, whose letters do not commute. Words of two letters make four of its six permutations; longer ones all six.

# %% jupyter={"source_hidden": true} tags=["hide-input", "nbval-ignore-output"]
runs_3 = results.runs("regulargpt/fig3")
show.figure(
    regulargpt_figures.clusters_of_tasks(runs_3),
    alt="Three columns, Parity, Cycle Navigation and S_3. Above: states of all depths on a plane by action, two, five and six; Parity's even "
        "words lie in two groups. Below: the number of clusters found at every depth beside the algebra's number. ",
    caption="Recorded; above the first of three seeds, below all (hollow: the others). The paper's Figure 3, with a task whose letters do not "
            "commute. (In Cycle Navigation the letters 0, 1, 2 are a step back, staying, and a step.) What to see: the step from four to six "
            "in S_3, and Parity's even words, which lie in two groups.",
)  # fmt: skip

# %% jupyter={"source_hidden": true} tags=["hide-input"]
show.table(
    ch08.rows_of_clusters(runs_3),
    caption="Recorded: clusters found / predicted, by how many letters a state of that depth sees.",
)


# %% [markdown]
# **More than it must.** One net for Parity is right on all 256 strings of 500 letters and has *three* clusters at every depth, where
# two would do. The word below a state has two halves. Where do states lie on the plane, by what their halves do? The table measures how
# far two groups lie apart on an axis: the distance of their middles, over the sum of their two standard deviations. Two groups with
# more than 2 hardly overlap.

# %%
def apart(one, other, axis):
    return abs(one[0][axis] - other[0][axis]) / (one[1][axis] + other[1][axis])


measured = {}
for seed, at in ch08.halves(runs_3).items():
    even, odd = ((0, 0), (1, 1)), ((0, 1), (1, 0))
    measured[seed] = {
        "even from odd words, first axis": min(apart(at[a], at[b], 0) for a in even for b in odd),
        "even + even from odd + odd, second axis": apart(at[0, 0], at[1, 1], 1),
        "even + odd from odd + even, second axis": apart(at[0, 1], at[1, 0], 1),
    }
show.table(
    [{"seed": seed, **found} for seed, found in measured.items()],
    caption="Recorded, Parity, depths from 1 on: how far groups of states lie apart, in sums of "
            "two standard deviations.",
    formats=dict.fromkeys(next(iter(measured.values()), {}), ".1f"),
)  # fmt: skip
for what in next(iter(measured.values()), {}):
    print(f"{what}: apart with seeds {[seed for seed, found in measured.items() if found[what] > 2]}")

# %% [markdown]
# So in all three nets the first axis tells the action. The second one tells what an *even* word is made of: two even halves or two odd ones.
# For odd words only one seed tells this; with the others the two kinds overlap. In one of the nets (seed 2) the two kinds of even words lie
# half as far apart as even and odd ones do, and the rule counts three clusters. (In standard deviations, as in the table, its distance is
# the least: its groups are wider.)
#
# So "how many clusters" depends on how closely you look, by eye or by a rule. The proof above is certain: *at least* as many as actions.
# More is no mistake, and the right number is no proof that a net is right: one of the $S_3$ above has it and is wrong on one string in 23.

# %% [markdown]
# ## 4 Figure 4 again
#
# > **The paper, section 7.4.** "Ideally, we would like to see the receptive field covering the whole input sequence for the case of
# > regular languages because every single bit in the input sequence is important for the final results. This is equivalent to a
# > slanted line going from the lower right to the upper left, which is validated in Figure 4a."
#
# The tool: the size of the gradient of the answer by the vector of each letter, added up from the last letter to the first, as a
# share of the whole. A straight line says that all count alike. Recorded, at length 500, for four nets and three tasks: Parity
# (all bits count), Even Pairs (the first and the last do), and the parity of the last four bits.

# %% jupyter={"source_hidden": true} tags=["hide-input", "nbval-ignore-output"]
gradient_runs = results.runs("regulargpt/fig4")
show.figure(
    regulargpt_figures.gradients(gradient_runs),
    alt="Three panels, Parity, Even Pairs and the last four bits, with cumulative "
        "gradients over 500 positions for RegularGPT, Transformer, RNN and block-diagonal "
        "LRNN. The grey line is the straight one.",
    caption="Recorded, three seeds, the first one thick. What to see: near the grey line "
            "every letter counts alike. The legend says how many answers are right: a curve "
            "of a net that is wrong is no explanation of a right answer.",
)  # fmt: skip

# %% [markdown]
# ## 5 What a gradient cannot tell
#
# A gradient says where a small change of a letter's *vector* would change the logits. That is not where the answer comes from. Here is a
# recurrence that is right on Parity for strings of every length and has almost no gradient to letters far back. Write a bit as
# $s = \pm 1$ (minus for a one), and let $x_t = \tanh(3\,s_t\,x_{t-1})$ from $x_0 = 1$; the answer is the sign of $x_T$.
#
# **Step 1.** $\tanh$ is odd and keeps the sign. So $\mathrm{sign}(x_t) = s_t\,\mathrm{sign}(x_{t-1})$, and turning *any one* letter turns the
# answer, of a string of any length. **All 64 letters** of one string.

# %% tags=["proof-gradient"]
u = sp.Symbol("u", real=True)
assert sp.simplify(sp.tanh(-3 * u) + sp.tanh(3 * u)) == 0, "The gradient, step 1: odd"
signs = 1 - 2 * np.random.default_rng(0).integers(2, size=64)


def run(signs):
    x = [1.0]
    for s in signs:
        x.append(math.tanh(3 * s * x[-1]))
    return x


for t in range(64):
    turned = np.where(np.arange(64) == t, -signs, signs)
    assert run(turned)[-1] == -run(signs)[-1] != 0, "The gradient, step 1: one letter turned"
print("each of 64 letters turns the answer")

# %% [markdown]
# **Step 2.** $|x_t| = \tanh(3\,|x_{t-1}|)$ does not depend on the letters, so the sizes of all slopes are the same for every string.
# $\partial x_T / \partial s_t$ has a factor $3(1 - x_k^2)$ for each later step, which is below 0.1 once $|x|$ has settled: 99 % of the
# gradient lies on the last four of 64 letters. $\blacksquare$

# %% tags=["proof-gradient"]
x = np.array(run(signs))
assert np.array_equal(np.abs(x), run(np.ones(64))), (
    "The gradient, step 2: the sizes are those of every string"
)
slopes = 3 * (1 - x[1:] ** 2)  # of x_t by s_t x_(t-1)
by_letter = np.array([slopes[t] * abs(x[t]) * np.prod(slopes[t + 1 :]) for t in range(64)])
assert slopes[10:].max() < 0.1 and by_letter[-4:].sum() > 0.99 * by_letter.sum(), (
    "The gradient, step 2: 99 % lies on the last four letters"
)
print(f"on the last four letters lies {by_letter[-4:].sum() / by_letter.sum():.4%} of the gradient")

# %% [markdown]
# **Break it:** without the saturation, $x_t = s_t x_{t-1}$, the same answer has the same gradient everywhere.

# %% tags=["proof-gradient"]
with show.expect_failure("The gradient, step 2"):
    slopes, x = np.ones(64), np.cumprod([1, *signs])
    by_letter = np.array([slopes[t] * abs(x[t]) * np.prod(slopes[t + 1 :]) for t in range(64)])
    assert by_letter[-4:].sum() > 0.99 * by_letter.sum(), (
        f"The gradient, step 2: {by_letter[-4:].sum() / by_letter.sum():.1%}"
    )

# %% [markdown]
# ## 6 Trained nets
#
# The trained nets show it too. Look at Parity, where all letters count alike for any net that is right:

# %%
for found in gradient_runs.query("task == 'parity'").itertuples():
    print(
        f"{found.row:14s} seed {found.seed}: right at 500: {found.accuracy:6.1%}; "
        f"of the gradient {found.last4:5.1%} on the last four letters"
    )

# %% [markdown]
# A straight line is only a hint, and its absence is not even that. Of the three RegularGPTs that know the last four bits, two
# have a straighter line than any that knows Parity (blue, on the right). They look at what they do not need.
#
# A picture to play with: four of the small nets of the sitting, trained live on strings of up to 16 bits, looked at on 64.

# %%
films = {name: ch08.small_films(name, regulargpt_figures.READERS, (300,)) for name in ("parity", "suffix")}
small = {name: {row: film[300] for row, film in rows.items()} for name, rows in films.items()}

# %%
positions = (3, 7, 11, 15, 23, 31, 47, 63)
readers = {
    "Parity": ch08.small_readers("parity", small["parity"], positions),
    "the last four": ch08.small_readers("suffix", small["suffix"], positions),
}

# %% jupyter={"source_hidden": true} tags=["hide-input", "varies", "nbval-ignore-output"]
show.figure(
    regulargpt_figures.gradients(readers["the last four"][63]),
    alt="Cumulative gradients over 64 positions of four small nets that were trained on the "
        "parity of the last four bits.",
    caption="Live. What to see: to be right it is enough to look at the last four. A net may "
            "look further back all the same.",
)  # fmt: skip

# %% jupyter={"source_hidden": true} tags=["hide-input", "nbval-ignore-output"]
fields_widget = explore(
    lambda task, position: regulargpt_figures.gradients(readers[task][position]),
    {"task": list(readers), "position": list(positions)},
    initial={"task": "Parity", "position": 31},
    sentence=lambda task, position: ch08.fields_sentence(readers[task][position]),
    alt="Cumulative gradients of the answer at the chosen position, for RegularGPT, "
    "Transformer, RNN and LRNN.",
)
fields_widget

# %% [markdown]
# ## Exercises
#
# You will find each exercise in its section. Stuck? `hint("08.13")`. Done? Compare with `solution("08.13")`.

# %% [markdown]
# <!-- The exercises of this chapter, listed by lrnnlab book build. -->
#
# 1 exercise, 2 points, about 5 minutes:
#
# | exercise | section | difficulty | minutes | points | you will learn |
# |---|---|---|---|---|---|
# | 13 | [1 As many states as actions](#1-As-many-states-as-actions) | ★ | 5 | 2 | to count the actions of words of one length |
#
# <details><summary>Solution of 08.13</summary>
#
# 2 and 1: the length fixes the parity of the number of 0s and 1s together, so only (even, even)
# and (odd, odd) are left; and $a^8$ is one word.
#
# </details>
