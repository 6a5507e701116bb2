# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 01 · Subtraction
#
# **What we ask.** What can a linear recurrence *not* represent? Paper 000 (Fan, Chi and Rudnicky, 2024) says:
# subtraction, if the transition is the same for every letter (Proposition 1), and even if it depends on the letter but
# is diagonal (Proposition 2). From this it concludes that transitions should be block-diagonal.
#
# We walk through both proofs, find a hypothesis that they use in silence, break it, and then prove what is true without
# it: five theorems (A to E) that hold for *any* readout. At the end stands a table of the smallest exact models.
#
# *You need:* matrices, eigenvalues, and chapter 00. Words such as "group" are explained where they come.
# *It takes* an hour and a half to read, and less than a minute of computing.

# %%
from dataclasses import replace
from fractions import Fraction

import lrnnlab
from lrnnlab.automata import build
from lrnnlab.course import check, hint, predict, solution
from lrnnlab import show
from lrnnlab.show.automaton_figures import state_diagram
from lrnnlab.show.dial_figures import GATES, killer_sentence, killer_walk, layers_run
from lrnnlab.show.proof_figures import LAYERS, word_picture, word_sentence
from lrnnlab.show.proof_widgets import (
    DEPTHS,
    SAMPLES,
    SIZES,
    board,
    fit_lights,
    fit_sentence,
    steps,
)
from lrnnlab.show.widgets import explore
from lrnnlab.algebra.block_two import block_two, invertible_only
from lrnnlab.algebra.constructions import constructions
from lrnnlab.algebra.counting import sum_analogue, theorem_b, theorem_c, thue_morse
from lrnnlab.algebra.depth import group_cascade, theorem_d_prime
from lrnnlab.algebra.diagonal import killer_table, proposition_2, theorem_d
from lrnnlab.algebra.groups import derived_series
from lrnnlab.automata.languages import GROUPS, language, read
from lrnnlab.algebra.liquid import liquid_s4
from lrnnlab.algebra.minimal import smallest_models, theorem_e
from lrnnlab.algebra.one_layer import possible_in_one_diagonal_layer
from lrnnlab.algebra.stacking import even_pair_two_layers
from lrnnlab.algebra.storage import modulo_two, packing, theorem_a
from lrnnlab.algebra.subtraction import (
    counterexample_subtraction,
    counterexample_sum,
    letter_gates,
    proposition_1,
)

EXPECTED = "0.1"
if not lrnnlab.__version__.startswith(EXPECTED):
    raise RuntimeError(f"this notebook needs lrnnlab {EXPECTED}, here is "
                       f"{lrnnlab.__version__}: run bootstrap.py")
print(f"lrnnlab {EXPECTED}: ready")

# %% [markdown]
# ## 1 Proposition 1: one transition for all letters
#
# A layer reads letters $u_1, u_2, \dots$ and keeps a state: $x_k = A\,x_{k-1} + B u_k$, with the same $A$ for every
# letter (S4, S5 and LRU are of this kind). The answer is $h(x_k)$; the paper leaves the readout $h$ open: it "may or
# may not be a linear operation".
#
# > **The paper, Proposition 1.** "An input-independent LRNN is inconsistent in representing subtraction."
#
# The proof compares four expressions. Write $x_{0-1}$ for the state after the three letters `0`, `-`, `1`, started from
# $z$.
#
# **Steps 1 and 2.** Multiply out:
#
# $$x_{0-1} = A^3 z + A^2 B u_0 + A B u_- + B u_1, \qquad x_{1-0} = A^3 z + A^2 B u_1 + A B u_- + B u_0 .$$
#
# For `0-0-1` and `0-1-0` the same sums hold, with $x_{0-}$ in the place of $z$.
#
# **Step 3.** Subtract. The start cancels in both cases, and the *same* expression is left:
#
# $$x_{0-1} - x_{1-0} \;=\; A^2 B u_0 - A^2 B u_1 - B u_0 + B u_1 \;=\; x_{0-0-1} - x_{0-1-0} .$$
#
# **Step 4.** But $0-1 \ne 1-0$, so the left side must not be zero; and $0-0-1 = 0-1-0$, so the right side must be zero.
#
# The cell redoes the algebra in symbols that do not commute, as matrices do not.

# %%
steps(proposition_1())

# %% [markdown]
# ### The hypothesis in silence
#
# Look at step 4 again. *Different values need different states*: true for any readout, since $h$ gives one answer to
# one state. *Equal values need equal states*: nothing asks for that. A readout may send two states to one answer; a
# counter read modulo 5 does nothing else. Step 5 of the table shows two states, one answer. So what the paper has
# proved is:
#
# > **Put right.** With one $A$ for all letters, the state cannot be a *function of the value*: $x_{0-1} \ne x_{1-0}$
# > and $x_{0-0-1} = x_{0-1-0}$ exclude each other.
#
# As a statement about *computing* subtraction, Proposition 1 is false. One number is enough: write the letters of the
# expression as the digits of a number in base 7 (digits 0 to 4 as 1 to 5, the minus as 6),
#
# $$x_k = 7\,x_{k-1} + \mathrm{code}(u_k),$$
#
# and let $h$ read the digits off and do the sum.

# %%
counted = counterexample_subtraction()
steps(counted)

# %% [markdown]
# ### Break a hypothesis: a matrix for each letter
#
# The algebra itself needs that the letters share one $A$. Give each letter its own, $A_0, A_1, A_-$, and step 3 breaks:
# the start $z$ does not cancel any more.

# %%
steps(proposition_1(gates=letter_gates()))

# %% [markdown]
# ## 2 What is true: Theorem A
#
# The base-7 layer escapes by storing *everything*. That is no accident.
#
# > **Theorem A.** Let $M \ge 3$ be odd, and one layer have one $A$ for all letters. If some readout is right modulo $M$
# > on all expressions $a-b-c-\cdots$ of up to $n+1$ numbers, then two different expressions of $n$ numbers never share
# > a state. The state holds $n \log_2 M$ bits: it has stored the input.
#
# **Step 1: the prefix drops out.** Let $s$ and $t$ be expressions of equal length and $p$ something in front. Then
# $x(ps) = A^{|s|}x(p) + (\text{a sum that depends on } s \text{ only})$, so $x(ps) - x(pt)$ does not depend on $p$.
#
# **Step 2: a collision can be moved.** Suppose $x(s) = x(t)$ with $s \ne t$. Take off what they begin with in common:
# by step 1 the rest is in one state as well. So let the first numbers differ, $s_1 \ne t_1$; call the sums of the
# others $R$ and $R'$. Again by step 1, `0-s` and `0-t` share a state too.
#
# **Step 3: two answers, one too many.** One state, one answer; so modulo $M$
#
# $$s_1 - R \equiv t_1 - R' \quad\text{(from } s, t), \qquad -s_1 - R \equiv -t_1 - R' \quad\text{(from } 0{-}s, 0{-}t).$$
#
# Subtract: $2(s_1 - t_1) \equiv 0$. As $M$ is odd, $s_1 = t_1$: a contradiction. $\blacksquare$
#
# The cell also turns collisions of random layers into the two expressions that refute every readout.

# %%
proof_a = theorem_a()
steps(proof_a)

# %% [markdown]
# ### Break a hypothesis: an odd modulus
#
# *M odd* is needed in the last line, where we divide by 2. Modulo 2 minus is plus, the counter is right, and it stores
# almost nothing.

# %%
steps(modulo_two(8))

# %% [markdown]
# *Equality of states* can be weakened. A real network cannot tell two states apart that are closer than some margin; a
# bounded state has room for only so many points with that margin; and step 1 keeps *distances* as it keeps equality. So
# every bounded layer fails at some number of numbers. Here a layer of two numbers whose $A$ turns by one radian and
# shrinks to 0.8:

# %%
steps(packing())


# %% [markdown]
# ### A picture to play with: where expressions end up
#
# Each point is the state of one expression of $n$ numbers, coloured by its value modulo 5. The readout sees only in
# which cell a state lies; *bits* says how fine the cells are. A grey cell holds several values: no readout of these
# cells is right there.

# %%
def draw_words(layer, n, bits):
    return word_picture(layer, n, bits)


opened = {"layer": "spiral (A shrinks, turns)", "n": 3, "bits": 4}
show.figure(
    draw_words(**opened),
    alt="Points in the plane, the states of 125 expressions of three numbers under a layer "
        "that turns and shrinks, in five colours, over a grid of 16 by 16 cells. Several "
        "cells are grey; two points of one of them are ringed and named.",
    caption="What to see: colours lie mixed. Where two of them share a cell it is grey, and "
            "every readout of the cells errs.",
)  # fmt: skip

# %% [markdown]
# *Try:* the counter does not get better with more bits, since its collisions are exact. The digits do, but each further
# number asks for more bits. And look at the spiral with $n = 4$ and 8 bits: two expressions share a cell *and* a value,
# so nothing is wrong yet; the sentence below the picture applies step 2 to them.

# %%
words_widget = explore(
    draw_words,
    {"layer": list(LAYERS), "n": [1, 2, 3, 4], "bits": [2, 3, 4, 5, 6, 8, 10, 12, 16, 20]},
    initial=opened,
    sentence=word_sentence,
    alt="The states of all expressions of n numbers, coloured by value, with the "
        "cells of the readout.",
)
words_widget

# %% [markdown]
# ## 3 Sum, and what S4 cannot do
#
# In its section 4.4 the paper uses Proposition 1 to explain its results on **Sum**, **EvenPair** and **ModArith**:
#
# > **The paper.** "The inferior performance of S4 and S4D is expected since they cannot represent subtraction".
#
# But there is no subtraction in Sum (add digits modulo $M$) or in EvenPair (is the last letter the first one?). Only
# ModArith contains the expressions of section 1, and with them Theorem A. As for Sum, one number with a constant $A =
# 1$ computes Sum, with a readout that takes the remainder:

# %%
sum_counter = counterexample_sum()
steps(sum_counter)

# %% [markdown]
# One can build the analogue of Proposition 1 for Sum, with the same silent hypothesis. If states were functions of
# values, then $x_{01} = x_{10}$ says $A d = d$ for $d = B u_1 - B u_0$, so $M$ ones and $M$ zeros are $M d$ apart; both
# have the value 0, so $d = 0$, and the layer cannot tell 0 from 1.

# %%
steps(sum_analogue())

# %% [markdown]
# What any readout must live with is this.
#
# > **Theorem B.** One layer with one $A$ that computes Sum($M$), with any readout, takes at least $(M-1)n + 1$
# > different states on strings of length $n$. The counter takes exactly so many.
#
# *Proof.* The letter at position $j$ adds $A^{n-j} B u$ to the state, whatever stands elsewhere. These $M$ vectors
# differ (else a changed letter would go unseen, and the sum changes), so the states at length $n$ are a sum of $n$ sets
# of $M$ points each. For finite sets of real numbers $|X + Y| \ge |X| + |Y| - 1$: go up from the smallest sum, first
# along $Y$, then along $X$. For vectors, look at them through a linear function that keeps the finitely many points in
# question apart. Hence $1 + n(M-1)$ at least. $\blacksquare$

# %%
steps(theorem_b())
print(f"Sum(5) on 500 digits: at least {4 * 500 + 1} states, {sum_counter.data['bits']} bits; "
      f"a-b-c... on 119 numbers by Theorem A: at least {counted.data['needed']} bits")  # fmt: skip

# %% [markdown]
# So for Sum the states grow with the length, slowly; and the readout must be periodic over all of them, which a small
# network fitted on short strings has no reason to be. A finite automaton, on the other hand, has five states for ever.
# Can such a layer have finitely many?
#
# > **Theorem C.** If one layer with one $A$ can reach finitely many states only, then its state depends on the length
# > of the string and on its last $D$ letters at most ($D$ the width).
#
# *Proof.* Let $d = B(u_a - u_b)$ for two letters. If $A^D d \ne 0$, then $A^j d \ne 0$ for all $j$: the space splits
# into a part on which $A$ is invertible and one on which $A^D = 0$ (Fitting), and $d$ has a part in the first. Then
# every position adds one of at least two vectors, and as in Theorem B there are at least $n + 1$ states at length $n$,
# for every $n$: infinitely many. So $A^D d = 0$ for all pairs of letters: which letter stood more than $D$ places ago
# makes no difference. $\blacksquare$
#
# With finitely many states one such layer computes neither Sum nor parity nor EvenPair nor ModArith, all of which
# depend on letters arbitrarily far back.

# %%
steps(theorem_c())

# %% [markdown]
# Between "finitely many" and "stores all" lie states that grow like a power of the length. Here is a limit for them, by
# an old sequence (Thue and Morse: 0110 1001 1001 0110, letter $i$ being the parity of the ones in $i$). If $(A - I)^d =
# 0$, this word of length $2^d$ and its complement end in one state, because their difference is
# $(A-I)(A^2-I)(A^4-I)\cdots(B u_1 - B u_0)$, with $d$ factors that all contain $A - I$. Their first letters differ, so
# a layer of that kind cannot know the first letter.

# %%
steps(thue_morse(4))

# %% [markdown]
# ### Break a hypothesis: two layers
#
# Theorems A to C are about *one* layer. Between two layers stands something non-linear, and then a constant $A$ stores
# the first letter with ease. Layer 1 is a clock, $p_t = \tfrac12 p_{t-1} + \tfrac12$, so $p_1 = \tfrac12$ and $p_t \ge
# \tfrac34$ later; layer 2 adds the letter only where $p_t < 0.625$: $x_t = x_{t-1} + [p_t < 0.625]\,(u_t + 1)$. So
# EvenPair is no obstacle for a stack of two constant layers, at any length, even in float32 (steps 3 and 5 say why).

# %%
steps(even_pair_two_layers())

# %% [markdown]
# ## 4 Proposition 2: a diagonal transition for each letter
#
# Now the transition may depend on the letter, $x_k = \mathrm{diag}(v_k)\,x_{k-1} + B u_k$. Every coordinate lives
# alone: call it a *channel*, $x \mapsto a x + b$ with numbers $a, b$ (real or complex) chosen by the letter. Sum(5) is
# now easy with finitely many states: letter $s$ turns a complex channel by $s \cdot 72°$. But:
#
# > **The paper, Proposition 2.** "A diagonal input-dependent LRNN is inconsistent in representing subtraction."
#
# The proof has the plan of section 1. Diagonal matrices commute, so $A_1 A_- A_0 z = A_0 A_- A_1 z$ and the start
# cancels; what is left, the paper's Eq. 8, is the same after `0-` (Eq. 9):
#
# $$x_{1-0} - x_{0-1} = A_0 A_- B u_1 - A_1 A_- B u_0 + (A_0 - A_1) B u_- + B u_0 - B u_1 .$$
#
# And it has the same gap. Steps 4 and 5 show a single channel that computes subtraction by storing the digits.

# %%
steps(proposition_2())

# %% [markdown]
# **Break a hypothesis.** With transitions that do not commute the first two steps fail.

# %%
steps(proposition_2(commutative=False))

# %% [markdown]
# ## 5 What is true: Theorem D
#
# Theorem C asked for finitely many states; let us ask for the same here.
#
# > **Theorem D.** Let one diagonal layer reach finitely many states. If all letters of $u$ and $v$ occur in $w$, then
# > for every $p$
# > $$x(p\,u\,v\,w) = x(p\,v\,u\,w).$$
#
# *Proof.* Take one channel; the set of its reachable states is a finite set $R \subset \mathbb C$, and every letter
# maps $R$ into $R$.
#
# **Step 1.** $(ay + b) - (az + b) = a(y - z)$: if $a = 0$ the letter is a **reset**, it forgets all. If $a \ne 0$ it
# keeps different states different, so it *permutes* the finite set $R$.
#
# **Step 2.** A permutation leaves the mean of $R$ where it is. Let $c$ be that mean: $ac + b = c$, for every letter
# that is no reset.
#
# **Step 3.** So $ax + b = c + a(x - c)$. The sum of $|x - c|^2$ over $R$ stays too, hence $|a| = 1$ (if $R$ has more
# than one point): a **turn** about $c$.
#
# **Step 4.** Turns about one centre commute. If no letter of $w$ resets the channel, then no letter of $u$ and $v$
# does, and $uv$ and $vu$ do the same. If some letter of $w$ resets it, what came before is forgotten. $\blacksquare$

# %% tags=["nbval-ignore-output"]
proof_d = theorem_d()
steps(proof_d)

# %%
print(f"Theorem D holds: {proof_d.holds}; with a letter of u, v left out of w: "
      f"{theorem_d(w='0-').holds}")

# %% [markdown]
# ### Killer words
#
# To show that a task does not fit into one diagonal layer, give $p, u, v, w$ such that the two words have different
# answers. For subtraction take $u$ = `0-`, $v$ = `1-`, $w$ = `0-1`: the words **0-1-0-1** and **1-0-0-1** end in one
# state, and *no readout of any kind* gives both answers. The same for EvenPair, bracket languages, the Tomita languages
# 3 and 4, and groups whose elements do not commute.

# %%
shown = [
    row for row in killer_table() if not row["task"].startswith(("D_", "A_4", "EvenPair(2)"))
]
show.table(
    shown,
    caption="Pairs of words that end in one state of every diagonal layer with finitely many "
            "states. For the groups, an answer is the number of the element reached.",
)  # fmt: skip


# %% [markdown]
# ### A picture to play with: killer words on dials
#
# Choose what each letter does to a channel. A dial is the complex plane around the centre of the turns, the dot is the
# state.

# %%
def draw_killers(zero, one, minus, blocks):
    return killer_walk(zero, one, minus, blocks == "b = 2")


def killers_say(zero, one, minus, blocks):
    return killer_sentence(zero, one, minus, blocks == "b = 2")


show.figure(
    draw_killers("leave", "turn 72°", "turn 180°", "b = 2"),
    alt="Four rows of eight small dials: one channel while it reads 0-1-0-1 and while it "
        "reads 1-0-0-1, which ends with the hand in the same place; below, a block of size 2 "
        "that reads the same words and keeps the first number, ending 0.25 apart.",
    caption="What to see: the rows of the channel differ on the way and end alike. The block "
            "of size 2 remembers the first number.",
)  # fmt: skip

# %% [markdown]
# *Try:* any turns and resets, the last dials agree. Then *shrink* one letter: the channel has infinitely many states
# now, Theorem D does not apply, and the words come apart; but by how much after a hundred letters more?

# %%
killers_widget = explore(
    draw_killers,
    {
        "zero": list(GATES),
        "one": list(GATES),
        "minus": list(GATES),
        "blocks": ["b = 1", "b = 2"],
    },
    initial={"zero": "turn 120°", "one": "turn 72°", "minus": "reset", "blocks": "b = 1"},
    sentence=killers_say,
    alt="Dials of one channel reading the words 0-1-0-1 and 1-0-0-1, and of a block "
        "of size 2 if chosen.",
)
killers_widget

# %% [markdown]
# Theorem D has a companion. A task fits into one diagonal layer with finitely many states *exactly* if two laws hold in
# its automaton: letters commute before a word that contains both, and enough repetitions of a letter change nothing
# before that letter comes again. The function `possible_in_one_diagonal_layer` decides it and, where the answer is no,
# finds the words.

# %%
verdicts = {name: possible_in_one_diagonal_layer(language(name).machine) for name in
            ("Parity", "Sum(5)", "Tomita 5", "Tomita 6", "Tomita 3", "(abab)*")}  # fmt: skip
show.table(
    [
        {
            "task": name,
            "says": language(name).says,
            "one diagonal layer": "yes" if found.possible else "no",
            "because": found.reason,
        }
        for name, found in verdicts.items()
    ],
    caption="Six languages and whether one diagonal layer with finitely "
            "many states is enough.",
)

# %% [markdown]
# ## 6 Why a block of size 2 changes everything
#
# Step 1 of Theorem D was the point: on *one* number, a map $x \mapsto ax + b$ either forgets everything ($a = 0$) or
# nothing. On *two* numbers there is something between, a matrix that is not zero and not invertible. For the letter $s
# \in \{0,\dots,4\}$ let
#
# $$A_s = \begin{pmatrix} 1 & -s/4 \\ 0 & 0 \end{pmatrix}, \quad B u_s = \begin{pmatrix} s/4 \\ 1 \end{pmatrix}, \quad
# \text{then}\quad \begin{pmatrix} 0 \\ 0 \end{pmatrix} \mapsto \begin{pmatrix} s/4 \\ 1 \end{pmatrix}, \quad
# \begin{pmatrix} r \\ 1 \end{pmatrix} \mapsto \begin{pmatrix} r - s/4 + s/4 \\ 1 \end{pmatrix} = \begin{pmatrix} r \\ 1
# \end{pmatrix}.$$
#
# The first letter is stored, and every later one leaves it alone. Each column has a single entry of size at most 1, so
# the paper's constraint (Eq. 6, chapter 02) holds for every $p$. And $a - b - c - \cdots = 2a - (a + b + c + \cdots)$:
# with a turn that adds up, beside this block, one layer subtracts.

# %%
steps(block_two())

# %% [markdown]
# **Break a hypothesis.** The corner $-s/4$ is what pays back the drive. Set it to 0 and the block is a counter that
# forgets where it began:

# %%
steps(block_two(corner=Fraction(0)))

# %% [markdown]
# *Singular* is essential, too. If all transitions are invertible (rotations, as in chapter 04) and the states finitely
# many, every letter permutes the states; then $0^m$ does nothing for some $m$, and $0^m 1$ ends where $1$ ends.
# EvenPair wants different answers.

# %%
steps(invertible_only())
print("the same claim for Parity, which rotations do compute: "
      f"{invertible_only('Parity').holds}")

# %% [markdown]
# ## 7 Depth: how many diagonal layers?
#
# Proposition 2 and Theorem D are about one layer. Let a gate of layer 2 see the letter *and the state of layer 1*, and
# so on. What is gained can be said exactly with one notion from algebra.
#
# A set of invertible maps that can be composed and undone is a **group**. To see how far a group is from commutative,
# collect all products of $g^{-1}h^{-1}gh$: if $gh = hg$ always, this is the identity alone. In general it is a smaller
# group, $G'$; do the same with $G'$, and so on: $G > G' > G'' > \cdots$ is the **derived series**. If it comes down to
# the identity, $G$ is *solvable* and the number of steps is its *derived length*. An automaton contains groups: words
# that permute some of its states.

# %%
series = {
    name: [len(group) for group in derived_series(list(GROUPS[name].values()))]
    for name in GROUPS
}
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
)

# %% [markdown]
# > **Theorem D′.** With $\ell$ diagonal layers and finitely many states, every group in the automaton is solvable, of
# > derived length at most $\ell$. Conversely the word problem of a solvable group (which element is the product of the
# > letters?) fits into as many layers as its derived length.
#
# *Proof, first half.* Let words act as a group on the reachable states. On layer 1 each channel is permuted by turns
# about one centre (Theorem D), and these commute; so everything in $G'$ acts on layer 1 like the identity. Keep a state
# of layer 1 fixed: then $G'$ permutes the states of layer 2 above it, again by turns about one centre, so $G''$ is the
# identity there. After $\ell$ layers the $\ell$-th derived group does nothing. $\blacksquare$
#
# *Second half, by construction.* Layer $j$ keeps the part of the product that lies between two groups of the series,
# and turns by an amount that depends on the letter and the layers below. The cell builds the layers for each group,
# pairs off their states with the group's elements over all words, and runs them.

# %% tags=["nbval-ignore-output"]
proof_depth = theorem_d_prime()
steps(proof_depth)

# %%
print(f"Theorem D' holds: {proof_depth.holds}; S_4 with 2 layers instead of 3: "
      f"{theorem_d_prime({'S_4': 2}).holds}")


# %% [markdown]
# Watch two of them work. The letters are $s$, which swaps the first two points, and $t$, which moves all of them round.

# %%
def reached(name, word):
    machine = language(name).machine
    return [
        machine.names[state] for state in (machine.initial, *machine.run(read(machine, word)))
    ]


show.figure(
    layers_run(group_cascade("S_3"), "sttstst", reached("S_3", "sttstst")),
    alt="Two rows of dials for S_3 on the word s t t s t s t: the first row flips at "
        "each s, the second row turns by thirds, forwards or backwards; below, the "
        "permutation reached.",
    caption="What to see, S_3: layer 1 counts the s modulo 2. The same letter t turns layer 2 "
            "one way or the other, depending on layer 1.",
)  # fmt: skip

# %%
show.figure(
    layers_run(group_cascade("S_4"), "sttstst", reached("S_4", "sttstst")),
    alt="Four rows of dials for S_4 on the word s t t s t s t: a sign in layer 1, thirds of a "
        "turn in layer 2, two signs in layer 3; below, the permutation reached.",
    caption="What to see, S_4: a sign, a third of a turn above it, two signs above both: 2 x "
            "3 x 4 = 24 states, one for each permutation.",
)  # fmt: skip

# %% [markdown]
# For $A_5$, the even permutations of five points, the series stops at once: $A_5' = A_5$. No number of diagonal layers
# with finitely many states tracks it, while *one* block of size 3 does (the turns of an icosahedron, in the table
# below).
#
# ModArith(5) contains only commutative groups, yet one layer is not enough, by the killer words. Three diagonal layers
# are: step 7 of the table. Layer 1 holds the term that is being multiplied, as a power of 2 (times 2 is a turn, since 2
# generates the numbers 1 to 4 modulo 5), and a clock; layer 2 remembers, by the clock, whether the term was zero one
# step ago; layer 3 turns by what the value gains. Whether two would do, we leave open.

# %% [markdown]
# ## 8 How large must a block be?
#
# > **Theorem E.** In $\mathbb R^b$ a finite orbit of $x \mapsto Ax + d$ runs at most $b$ steps before it enters its
# > cycle.
#
# *Proof.* On the vectors $(x, 1)$ the map is linear, with a matrix $H$ of size $b + 1$. Split the space as in Theorem
# C: on one part $H$ is invertible, on the other it dies. The last coordinate stays 1 for ever, so the first part is at
# least one-dimensional and the second at most $b$-dimensional: it is gone after $b$ steps. On the invertible part a
# finite orbit is a cycle from the start. $\blacksquare$
#
# Apply this to the language $D_n$ of balanced brackets `a`…`b` of depth at most $n$. If all blocks of one layer had
# size $n$ at most, then after $n$ times `a` every block would be in its cycle, and $a^n$ and $a^{n+N}$ would end in one
# state for some $N$. But $a^n b^n$ is balanced, and $a^{n+N}$ is too deep for good. So one layer needs a block of size
# $n + 1$, *whatever the number of blocks and the readout*.

# %%
brackets = language("D_2").machine
brackets = replace(
    brackets, names=[{"None": "sink"}.get(name, name) for name in brackets.names]
)
show.figure(
    state_diagram(brackets),
    alt="Automaton of D_2: states 0, 1, 2 in a row, a leads up and b leads down; a from 2 and "
        "b from 0 lead to a sink.",
    caption="What to see: three times a leads from every state into the sink, two times a "
            "does not. So b >= 3.",
)  # fmt: skip
steps(theorem_e())

# %% [markdown]
# ### The smallest models
#
# All of this together: for each language the number of states $|Q|$ of its automaton, how many different things words
# can do to them ($|$monoid$|$), what one layer needs, and the smallest exact block that we know. Every model in it is
# exact: it was compared with the automaton over *all* words. "Within Eq. 6" is the smallest that obeys the paper's
# constraint with $p = 1.2$.

# %%
table = smallest_models()
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
)

# %%
show.table(
    [
        {"task": task, **found.row()}
        for task in ("Sum(5)", "EvenPair(5)", "a-b-c mod 5", "ModArith(5)")
        for found in constructions(task)
    ],
    caption="Every exact model known here for the paper's tasks and for subtraction. "
            "'states': how many it reaches. On 'expressions': right wherever the "
            "string is well-formed.",
)

# %% [markdown]
# The paper uses $b = 8$: one layer for Sum and EvenPair, three for ModArith. The table agrees that this is enough room:
# 5, 2 and (in three layers) 5 within Eq. 6. That a model *exists* says nothing about whether training finds it; see
# chapter 02. And $D_{12}$ shows that $b = 8$ is not enough for every regular language in one layer.
#
# ### A picture to play with: blocks against depth
#
# Choose a task, a block size and a depth. A green light means that an exact model with finitely many states is known;
# then it reads a word (type your own, press Enter). So the two constant layers of section 3 do not count: in exact
# arithmetic their clock never stops.

# %%
boards = {task: board(task) for task in SAMPLES}


def draw_fit(task, b, layers, word):
    return fit_lights(boards[task], b, layers, word)


def fit_says(task, b, layers, word):
    return fit_sentence(boards[task], b, layers, word)


show.figure(
    draw_fit("ModArith(5)", 2, 3, ""),
    alt="Thirty lights for ModArith(5): impossible at b = 1 in one to three layers, open for "
        "small blocks in one and two layers, green from b = 8 in one layer, b = 4 in two, b = "
        "2 in three. Below, the state of the three diagonal layers while they read 2×3+4-1×3.",
    caption="What to see: depth and block size can replace each other. Three layers of turns "
            "(b = 2) do what one layer does with b = 8.",
)  # fmt: skip

# %%
fit_widget = explore(
    draw_fit, {"task": list(SAMPLES), "b": list(SIZES), "layers": list(DEPTHS), "word": ""},
    initial={"task": "D_4", "b": 5, "layers": 1}, sentence=fit_says,
    alt="Lights for every block size and depth of the chosen task, and the state of an exact "
        "model while it reads a word.",
)  # fmt: skip
fit_widget

# %% [markdown]
# ## 9 Liquid-S4's escape
#
# Liquid-S4 has $x_k = (A + \mathrm{diag}(B u_k))\,x_{k-1} + B u_k$ (Eq. 4). The paper says that it "does not suffer
# from the limitation outlined in Proposition 2". That is correct, and can be made exact. Write $G_c = A +
# \mathrm{diag}(Bu_c)$ and
#
# $$K = G_1 G_- G_0 - G_0 G_- G_1, \qquad x_{0-1} - x_{1-0} = K z + g$$
#
# with a vector $g$ that does not depend on the start. After `0-` the difference is $K x_{0-} + g$. If $K$ is
# invertible, a start $z$ can be chosen that makes the second difference zero and not the first. All of it comes from
# $A$'s off-diagonal part: with $A$ diagonal $K = 0$, and Proposition 2 is back.

# %%
steps(liquid_s4())

# %% [markdown]
# **Break a hypothesis.** Off-diagonal part times $t = 0$:

# %%
steps(liquid_s4(t=0))

# %% [markdown]
# Note the last step of both tables: this start escapes *one* contradiction. It does not make Liquid-S4 represent
# subtraction; already $0 = 0 - 0$ fails.
#
# ## 10 Where the paper says something else
#
# | the paper | what we found |
# |---|---|
# | Propositions 1 and 2: such layers are "inconsistent in representing subtraction" | right if the state must be a function of the value; false with a readout (sections 1, 4). True for any readout: Theorems A and D |
# | S4 and S4D fail on Sum and EvenPair *because* of Proposition 1 (section 4.4) | neither task contains a subtraction. A constant $A = 1$ computes Sum; two constant layers compute EvenPair (section 3) |
# | diagonal transitions are not enough (motivation of section 3) | in *one* layer with finitely many states. Three diagonal layers compute ModArith(5), two the group $S_3$ (section 7) |
# | Liquid-S4 has "input-dependent block matrices" (section 4.4) | Eq. 4 is one $A$ plus a diagonal that depends on the input: not blocks that do |
# | "it is feasible to maintain the same block size if more layers are employed" | for ModArith yes (table in section 8). In general it is a hope; for $D_{12}$ with $b = 8$ and more layers we leave it open |
#
# Whether the column norms of Eq. 6 and 7 keep a product from exploding is the business of chapter 02; what the parallel
# scan costs, of chapter 03.
#
# ## 11 What the propositions do not say
#
# * **Nothing about training.** All of this is about which functions *exist*. A model that can represent a task may not
#   learn it, and Table 2 of the paper measures learning.
# * **Nothing about short strings.** Theorem A lets the state store all of a short input; a network trained and tested
#   at length 40 need not notice.
# * **Nothing about several layers**, except Theorem D′. Theorems A to C fall with a second layer (section 3).
# * **Nothing about infinitely many states.** Theorems C, D, D′ and E ask for finitely many, in exact arithmetic. A
#   diagonal layer whose states grow stores everything (section 4); one whose states shrink tells the killer words apart
#   by less and less. Rounding is yet another matter.
# * **"Open" in the table means: we know no model and no proof.** Not that there is none.

# %%
print(f"what is left of a difference after 100 letters that shrink it to 60 %: {0.6**100:.1e}")

# %% [markdown]
# ## 12 Exercises
#
# 40 points. Each exercise says how long it takes, what it is worth and what it teaches. Where a cell can check an
# answer, fill it in and run it; `hint("01.5")` and `solution("01.5")` help with these. All hints
# and solutions are folded below.
#
# 1. ★ *(5 min, 3 points: that what comes before cancels)* **A proof step.** Write down $x(p\,a{-}b) - x(p\,c{-}d)$ for
#    a layer with one $A$, and see that $p$ is not in it.
# 2. ★ *(2 min, 2 points: which demand a readout makes)* Of the two demands "different values, different states" and
#    "equal values, equal states", which one does an arbitrary readout need?
# 3. ★★ *(20 min, 5 points: the proof of Theorem A, in your own words)* **A proof step.** Prove Theorem A for $M = 3$
#    and $n = 2$ with your own words and no algebra beyond that of section 2. How many states, at least?
# 4. ★ *(5 min, 2 points: where Theorem A needs an odd modulus)* **Break the hypothesis.** Where does the proof of
#    Theorem A fail for $M = 4$? Which two expressions of two numbers may share a state?

# %%
my_expressions = None  # exercise 4: two expressions, for example ("0-1", "2-2")
check("01.4", my_expressions)

# %% [markdown]
# 5. ★★ *(15 min, 4 points: what a periodic readout costs a ReLU network)* The readout of the counter for Sum(5) must be
#    periodic. A ReLU network of one number is a function of $m$ straight pieces. Show that, rounded, it is right on at
#    most $5m$ of the counter's states 0, 1, 2, ... in a row. How many pieces do all strings of 500 digits ask for?

# %%
my_pieces = None  # exercise 5: the least whole number m that your bound allows
check("01.5", my_pieces)

# %% [markdown]
# 6. ★ *(5 min, 3 points: to refute all diagonal layers with two words)* Find two words of four letters that rule out
#    one diagonal layer for $D_2$, balanced brackets of depth at most 2.

# %%
my_words = None  # exercise 6: two words, for example ("aabb", "abab")
check("01.6", my_words)

# %% [markdown]
# 7. ★★ *(15 min, 4 points: why a permuting letter is a turn)* **A proof step.** In step 3 of Theorem D, why is
#    $|a| = 1$, and where is it used that $R$ has more than one point?
# 8. ★★ *(10 min, 4 points: that to forget is a transition of zeros)* **Code.** Change the block of section 6 so that it
#    stores the **last** letter other than 0. Give $A$ and $B u$ for the letters 0 to 4.

# %%
# exercise 8: letter -> (A, Bu), for example {0: ([[1, 0], [0, 1]], [0, 0]), 1: ...}
my_block = None
check("01.8", my_block)

# %% [markdown]
# 9. ★★ *(10 min, 3 points: how depth follows from commutators)* How many diagonal layers does the symmetry group of a
#    regular pentagon need (5 turns, 5 reflections)? First think, then let the cell check.

# %%
my_layers = None  # exercise 9: a whole number
check("01.9", my_layers)


# %% [markdown]
# 10. ★★ *(10 min, 3 points: how a block holds an automaton)* Give the block of size 3 for $D_2$: which vectors stand
#     for the depths 0, 1, 2 and for the sink, and what are $A_a$ and $A_b$?
# 11. ★★★ *(15 min, 3 points: what only off-diagonal entries give)* **A proof step.** For which $A$ do the gates
#     $A + \mathrm{diag}(v)$ and $A + \mathrm{diag}(w)$ of Liquid-S4 commute?
# 12. ★ *(5 min, 4 points: what a layer of resets and turns cannot see)* **Predict.** Choose before you run. The answer
#     is 1 where the last two letters are equal, else 0, so that `abbaa` gives 0 0 1 0 1. Do these answers fit into one
#     diagonal layer with finitely many states? `possible_in_one_diagonal_layer` of section 5
#     decides.

# %%
def last_two_equal():
    def step(state, token):
        return token, int(token == state[0])

    machine = build((None, 0), "ab", step, lambda state: state[1])
    verdict = possible_in_one_diagonal_layer(machine)
    if verdict.possible:
        return "yes", verdict.reason
    order = "do not commute" in verdict.reason
    cause = "two letters do not commute" if order else "repetitions of a letter matter"
    first, second = ("".join(machine.symbols[t] for t in word) for word in verdict.words)
    return f"no: {cause}", f"{verdict.reason}; such a layer confuses {first} with {second}"


predict("01.12", last_two_equal)

# %% [markdown]
# <details><summary>Hints</summary>
#
# 3: there are nine expressions of two digits. 5: on one straight piece, how many of five successive answers 0, 1, 2, 3,
# 4, 0, ... can lie on a line? 6: look at $(abab)^*$ in the table of killer words. 7: $\sum_R |x - c|^2$ is the same
# before and after. 8: what must a letter $s \ne 0$ do to the state before? 9: turns commute with turns. 10: draw the
# automaton first. 11: multiply out; most terms cancel. 12: compare $ba$ with $baaaa\dots$
#
# </details>
#
# <details><summary>Solutions of 1 to 5</summary>
#
# **1.** $x(p\,a{-}b) = A^3 x(p) + A^2 B u_a + A B u_- + B u_b$, so the difference is $A^2 B(u_a - u_c) + B(u_b - u_d)$.
#
# **2.** The first. One state has one answer; so different answers need different states. The second is a wish about the
# state, not about the answer.
#
# **3.** Suppose two of the nine expressions $a{-}b$ and $c{-}d$ share a state. If $a = c$, then by step 1 the states
# after the one letter $b$ and after $d$ agree too, and these have different values. If $a \ne c$: $a - b \equiv c - d$
# and, with `0-` in front, $-a - b \equiv -c - d$ modulo 3, so $2(a - c) \equiv 0$, and $a = c$ as 2 has an inverse
# modulo 3. So all nine states differ.
#
# **4.** $2(s_1 - t_1) \equiv 0$ modulo 4 leaves $s_1 - t_1 = 2$. Of expressions of one number none may share a state,
# since their values differ; of two numbers `0-0` and `2-2` may, having the value 0 both, and `0-0-0` and `0-2-2` have
# the value 0 both as well.
#
# **5.** From 4 to 0 the answers fall by 4, otherwise they rise by 1; rounding allows each answer an error of one half,
# so a straight piece that falls by 3 or more between two states does not rise at the next, and one that rises does not
# fall. A piece is right on 0, 1, 2, 3, 4 at best: five states in a row, so $5m$ for $m$ pieces. Strings of 500 digits
# have 2001 states (section 3): $m \ge 401$.
#
# </details>
#
# <details><summary>Solutions of 6 to 12</summary>
#
# **6.** `abab` is balanced, `baab` is not; $u = a$, $v = b$, $w = ab$.
#
# **7.** The letter permutes $R$, so $\sum_{x \in R} |x - c|^2 = \sum_{x \in R} |a|^2 |x - c|^2$. If $R$ has two points
# the sum is not zero, and $|a| = 1$. If $R$ is one point, every letter does nothing, whatever $a$ is.
#
# **8.** Letter 0: the identity, nothing driven. Letter $s \ne 0$: $A = 0$, $B u_s = (s/4, 0)$. It needs no block at
# all: this is a reset in a channel.
#
# **9.** Two. The reflections undo the order of turns, so the group does not commute; the commutators are turns, and
# turns commute: sizes 10, 5, 1.
#
# **10.** $e_0, e_1, e_2$ and the zero vector. $A_a$ sends $e_0 \to e_1 \to e_2 \to 0$, $A_b$ sends $e_2 \to e_1 \to e_0
# \to 0$: two shifts, nothing driven.
#
# **11.** $(A + V)(A + W) - (A + W)(A + V) = A(W - V) - (W - V)A$, with entries $a_{ij}\,(w_j - v_j - w_i + v_i)$. So
# exactly if $a_{ij} = 0$ wherever $w - v$ differs at $i$ and $j$: for generic inputs, $A$ diagonal.
#
# **12.** No, and not because of the order of the letters: after two letters all before them is forgotten. In one
# channel a letter resets, and twice is as good as once, or turns, and after $K$ turns all is as before. Either way
# $a^{K+1}$ leads where $a$ leads; but after $b$ the answer to $a$ is 0 and to $a^{K+1}$ it is 1.
#
# </details>
