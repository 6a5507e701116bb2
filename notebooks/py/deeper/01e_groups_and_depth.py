# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 01e · Groups and depth
#
# How many diagonal layers does a task need? The groups in its automaton say it. *It takes* about 25 min to read and 10 min for the exercises. Read [chapter 01](../01_subtraction.ipynb) first.

# %% jupyter={"source_hidden": true} tags=["hide-input"]
from itertools import product

import numpy as np
import sympy as sp

import lrnnbook
from lrnnbook import show
from lrnnbook.content.chapters import ch01
from lrnnbook.content.exercises import check, hint, solution
from lrnnbook.content.tables import minimal
from lrnnlab import automata
from lrnnlab.automata.languages import GROUPS, language, read
from lrnnlab.expressivity.theorems import cascades, one_layer

lrnnbook.needs("0.1")

# %% [markdown]
# ## 1 Groups in an automaton
#
# Proposition 2 and Theorem D are about one layer. Now stack several: what layer 2 does depends on
# the letter *and on the state of layer 1*, and so on. What is gained can be said exactly with one notion from
# algebra.
#
# A **group** is a set of invertible maps of some set to itself that is closed in two ways. If it contains two maps, it
# contains the map that does first the one and then the other. If it contains a map, it contains the one that undoes it. (The six ways to rearrange three points are a group, $S_3$; so are the five turns by multiples of 72°.)
# It is *commutative* if the order of two maps never matters, $gh = hg$. How far a group is from commutative is
# measured by its **commutators** $g^{-1}h^{-1}gh$: undo $g$, undo $h$, do $g$, do $h$. If $g$ and $h$ commute, this
# does nothing. All products of commutators of $G$ are again a group, $G'$; do the same with $G'$, and so on:
# $G > G' > G'' > \cdots$ is the **derived series**. If it comes down to the group of one map that does nothing, $G$
# is *solvable*, and the number of steps is its *derived length*: 1 for a commutative group, 2 for $S_3$ (whose
# commutators are the three turns, which commute).
#
# Groups occur in an automaton: we say that a set of words *acts as a group* if there are states which each of these
# words permutes, such that the permutations are a group. In the automaton of Sum(5) the five letters permute the five
# states by turns. In that of EvenPair no word permutes two or more states other than by leaving them where they are
# (the table of [01f](01f_block_size.ipynb) computes a derived length of 0 for it).

# %%
series = {name: [*map(len, cascades.derived_series(list(GROUPS[name].values())))] for name in GROUPS}
show.table(
    [
        {
            "group": name,
            "permutes": f"{len(next(iter(GROUPS[name].values())))} points",
            "sizes in the derived series": " > ".join(map(str, sizes))
            if sizes[-1] == 1
            else f"{sizes[0]} = {sizes[1]} = ...",
            "layers needed": len(sizes) - 1 if sizes[-1] == 1 else "none are enough",
        }
        for name, sizes in series.items()
    ],
    caption="S_3 and S_4: all permutations of 3 and 4 points; A_4 and A_5: the even ones of 4 "
            "and 5 points; Q_8: the eight quaternion units.",
)  # fmt: skip

# %% [markdown]
# ## 2 Theorem D′
#
# > **Theorem D′.** With $\ell$ diagonal layers and finitely many states, every group in the automaton is solvable, of
# > derived length at most $\ell$. Conversely the word problem of a solvable group (which element is the product of the
# > letters?) fits into as many layers as its derived length.
#
# *Proof, first half.* Let words act as a group $G$ on a set of states of the automaton. First we make them act on
# states of the layers. Let $Y$ be the set of reachable states of the layers that stand for these states of the
# automaton. Of all words made of the given ones take a word $e$ that leaves as few different states of $Y$ as
# possible, and repeat it until it does nothing on the set $eY$ of these. It then does nothing to the states of the
# automaton either, since $eY$ stands for all of them. Every word $e\,w\,e$ maps $eY$ to itself, and permutes it,
# since it cannot leave fewer states than $e$ does. So we have words that act as a group on $eY$; $G$ is its image,
# and the derived series of an image is no longer. It is therefore enough to bound the derived length of a group $G$
# of words that permute a set of states of the layers.
#
# **Step 1.** On layer 1 these words move each channel by turns about one centre (Theorem D, steps 1 to 3), and these
# commute; so every commutator, hence everything in $G'$, does nothing on layer 1.
#
# Keep a state of layer 1 fixed: then $G'$ permutes the states of layer 2 above it, again by turns about one centre
# (for each state below another one), so $G''$ does nothing there. And so on: the $\ell$-th derived group does
# nothing on all $\ell$ layers. $\blacksquare$

# %% tags=["proof-theorem_d_prime"]
a, e, c, x = sp.symbols("a e c x")
y = x
for turn in (1 / a, 1 / e, a, e):  # undo g, undo h, do g, do h: turns about c
    y = c + turn * (y - c)
assert sp.simplify(y - x) == 0, (
    "Theorem D′, step 1: a commutator of two turns about one centre does nothing"
)
print("x, after turns by 1/a, 1/e, a, e about c:", sp.simplify(y))


# %% [markdown]
# *Second half, by construction.* The set of all $r\,g'$ with $g' \in G'$ is called the *coset* of $r$. Choose one
# representative of every coset, and write each element as $g = r\,g'$ with such an $r$ and $g' \in G'$. A letter $c$
# turns the product $g$ into $c\,g = r_1\,h\,g'$, where $r_1$ represents the coset of $c\,r$, and $h = r_1^{-1} c\,r$
# is in $G'$ and depends on $c$ and $r$ only. Layer 1 keeps the coset: cosets multiply as a commutative group, which
# is a product of cyclic groups, and a cyclic group is the turns of one channel. The layers above keep $g'$, which is
# multiplied by $h$: for them the same is done with $G'$ in the place of $G$, and so on. So each layer turns by an
# amount that depends on the letter and the layers below.
#
# **Step 2.** For each of four groups the cell builds the layers, as many as the derived length, and compares their
# states with the group's elements over *all* words: each state stands for one element, and each element for one
# state.

# %% tags=["proof-theorem_d_prime"]
def layers_of(name, wanted):
    machine, series = language(name).machine, cascades.derived_series(list(GROUPS[name].values()))
    cascade = cascades.group_cascade(name)
    assert cascade.depth == wanted == len(series) - 1, (
        f"Theorem D′, step 2: {name} has {cascade.depth} layers, not {wanted}"
    )
    answers, confused = cascades.pair_up(cascade, machine)
    one_to_one = len(answers) == len(set(answers.values())) == machine.num_states == len(series[0])
    assert confused is None and one_to_one, (
        "Theorem D′, step 2: each state is one element, and each element one state"
    )
    print(f"{name}: {cascade.depth} layers, {len(answers)} states; sizes", *map(len, series))
    return cascade, machine, series, answers


wanted = {"S_3": 2, "Q_8": 2, "A_4": 2, "S_4": 3}
built = {name: layers_of(name, wanted[name]) for name in wanted}

# %% [markdown]
# **Step 3.** In these layers one can watch the first half: each element of the $j$-th derived group, written as a word
# and read from *every* state, leaves layers 1 to $j$ as they are.

# %% tags=["proof-theorem_d_prime"]
for name, (cascade, machine, series, answers) in built.items():
    acts = automata.transition_monoid(machine)  # every element of the group, and a shortest word for it
    words = {machine.names[to[machine.initial]]: word for to, word in zip(acts.elements, acts.words)}
    for j, group in enumerate(series):
        for element, before in product(group, answers):
            after = before
            for token in words["".join(map(str, element))]:
                after = cascade.step(after, token)
            assert after[:j] == before[:j], (
                "Theorem D′, step 3: the j-th derived group leaves layers 1 to j as they are"
            )
    print(f"{name}: from {len(answers)} states, words of up to {max(map(len, acts.words))} letters")

# %% [markdown]
# **Step 4, on examples.** The layers run on 200 random words of 40 letters and answer with the product, which is
# computed separately by moving the points; in complex128 they stay on their exact states, up to $10^{-9}$.

# %% tags=["proof-theorem_d_prime"]
draw = np.random.default_rng(0)
for name, (cascade, machine, _, answers) in built.items():
    generators = list(GROUPS[name].values())
    for word in draw.integers(len(generators), size=(200, 40)).tolist():
        points = list(range(len(generators[0])))
        for token in word:
            points = [generators[token][point] for point in points]
        last = cascade.run(word)[-1]
        assert machine.names[answers[last]] == "".join(map(str, points)), (
            "Theorem D′, step 4: the product of the letters"
        )
    drift = abs(cascade.values(word)[-1] - cascade.points(last)).max()
    assert drift < 1e-9, "Theorem D′, step 4: complex128 stays on the exact states"
print("200 random words for each of", ", ".join(built))

# %% [markdown]
# **Step 5.** For $A_5$ the derived series stops at once, $A_5' = A_5$; by the first half no number of layers is enough.
#
# **Step 6.** One layer is not enough for any of the five.

# %% tags=["proof-theorem_d_prime"]
A_5 = cascades.derived_series(list(GROUPS["A_5"].values()))
assert A_5[0] == A_5[1] and len(A_5[0]) == 60, (
    "Theorem D′, step 5: the commutators of A_5 are all of A_5"
)
alone = {name: one_layer.possible_in_one_diagonal_layer(language(name).machine) for name in GROUPS}
assert not any(found.possible for found in alone.values()), "Theorem D′, step 6: one layer is not enough"
print(f"A_5 has {len(A_5[0])} elements, its commutators make {len(A_5[1])}")
print("one layer is not enough for", ", ".join(alone))

# %% [markdown]
# **Step 7.** ModArith(5) contains only commutative groups, yet one layer is not enough, by the killer words. Three
# diagonal layers are enough, as a comparison with its automaton over all words shows. Layer 1 holds the term that is
# being multiplied, as a power of 2, and a clock. (Times 2 is a turn, since 2 generates the numbers 1 to 4 modulo 5.)
# Layer 2 remembers, by the clock, whether the term was zero one step ago. Layer 3 turns by what the value gains.
# Whether two would do, we leave open.
#

# %% tags=["proof-theorem_d_prime"]
machine = language("ModArith(5)").machine
known = {one.model.name: one.model for one in minimal.constructions("ModArith(5)")}
three = known["three diagonal layers"]
assert three.depth == 3 and cascades.pair_up(three, machine)[1] is None, (
    "Theorem D′, step 7: three layers are right on all words"
)
assert not one_layer.possible_in_one_diagonal_layer(machine).possible, (
    "Theorem D′, step 7: one layer is not enough"
)
print(f"ModArith(5): {three.depth} diagonal layers")


# %% [markdown]
# **Step 8, on examples.** We draw random layers of one channel each, with resets and turns of order 2: all groups in
# them have derived length at most the number of layers. (The answer is the state itself, so that the automaton keeps
# all states apart.)

# %% tags=["proof-theorem_d_prime"]
def random_channel(draw, depth):  # what each of three letters does, for each state of the layers below
    gates = {(token, lower): ("reset" if draw.random() < 0.1 else "turn", int(draw.integers(2)))
             for token in range(3) for lower in product(((0,), (1,)), repeat=depth)}  # fmt: skip
    return cascades.Channel(2, lambda token, lower: gates[token, lower])


draw, longest = np.random.default_rng(1), {}
for count in (1,) * 20 + (2,) * 6 + (3,) * 3:
    drawn = tuple((random_channel(draw, depth),) for depth in range(count))
    stack = cascades.DiagonalCascade("random", ("a", "b", "c"), drawn)
    shown = lambda state: sum(q << i for i, (q,) in enumerate(state))
    machine = automata.MooreMachine.from_rule(stack.start, stack.symbols, stack.step, shown)
    length = automata.classify(machine).derived_length
    longest[count] = max(longest.get(count, 0), np.inf if length is None else length)
assert all(length <= count for count, length in longest.items()), (
    "Theorem D′, step 8: derived length at most the layers"
)
said = ", ".join(f"{length} in {count}" for count, length in longest.items())
print("the longest derived length, by layers:", said)

# %% [markdown]
# **Break a hypothesis.** Two layers are not enough for $S_4$, by the first half; and the construction uses one for
# each step of the series.

# %% tags=["proof-theorem_d_prime"]
with show.expect_failure("Theorem D′, step 2"):
    layers_of("S_4", 2)


# %% [markdown]
# ## 3 Watch two of them work
# The letters are $s$, which swaps the first two points, and $t$, which moves all of them round.

# %% jupyter={"source_hidden": true} tags=["hide-input", "nbval-ignore-output"]
def reached(name, word):
    machine = language(name).machine
    return [machine.names[state] for state in (machine.initial, *machine.run(read(machine, word)))]


show.figure(
    ch01.layers_run(cascades.group_cascade("S_3"), "sttstst", reached("S_3", "sttstst")),
    alt="Two rows of dials for S_3 on the word s t t s t s t: the first row flips at "
        "each s, the second row turns by thirds, forwards or backwards; below, the "
        "permutation reached.",
    caption="What to see, S_3: layer 1 counts the s modulo 2. The same letter t turns layer 2 "
            "one way or the other, depending on layer 1.",
)  # fmt: skip

# %% jupyter={"source_hidden": true} tags=["hide-input", "nbval-ignore-output"]
show.figure(
    ch01.layers_run(cascades.group_cascade("S_4"), "sttstst", reached("S_4", "sttstst")),
    alt="Four rows of dials for S_4 on the word s t t s t s t: a sign in layer 1, thirds of a "
        "turn in layer 2, two signs in layer 3; below, the permutation reached.",
    caption="What to see, S_4: a sign, a third of a turn above it, two signs above both: 2 x "
            "3 x 4 = 24 states, one for each permutation.",
)  # fmt: skip

# %% [markdown]
# For $A_5$, the even permutations of five points, no number of diagonal layers with finitely many states is enough,
# while *one* block of size 3 is (the turns of an icosahedron, in the table of [01f](01f_block_size.ipynb)).

# %% [markdown]
# **Exercise 12** ★★ *(10 min, 3 points: to read depth off commutators)* How many diagonal layers does the
# symmetry group of a regular pentagon need (5 turns, 5 reflections)? Think first, then let the cell check your
# answer.

# %%
my_layers = None  # exercise 12: a whole number
check("01.12", my_layers)

# %% [markdown]
# <!-- Exercise 01.12: from notebooks/lrnnbook/content/exercises/ch01.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint 1</summary>
#
# Turns commute with turns.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# Which symmetries are commutators? Do these commute?
#
# </details>

# %% [markdown]
# ## Exercises
#
# You will find each exercise in its section. Stuck? `hint("01.12")`. Done? Compare with `solution("01.12")`.

# %% [markdown]
# <!-- The exercises of this chapter, listed by lrnnlab book build. -->
#
# 1 exercise, 3 points, about 10 minutes:
#
# | exercise | section | difficulty | minutes | points | you will learn |
# |---|---|---|---|---|---|
# | 12 | [3 Watch two of them work](#3-Watch-two-of-them-work) | ★★ | 10 | 3 | to read depth off commutators |
#
# <details><summary>Solution of 01.12</summary>
#
# Two. A reflection $s$ reverses the direction of a turn $r$, $s\,r\,s = r^{-1}$, so the group does not
# commute; the commutators are turns, and turns commute: sizes 10, 5, 1.
#
# </details>
