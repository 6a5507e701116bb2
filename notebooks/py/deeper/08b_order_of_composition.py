# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 08b · Order of composition
#
# What do the printed heads compute, where does it matter, and which product reads the state? *It takes* about 20 min to read and 15 min for the exercises. Read [chapter 08](../08_working_memory_in_depth.ipynb) first.

# %% jupyter={"source_hidden": true} tags=["hide-input"]
import itertools
from collections import Counter
from fractions import Fraction

import numpy as np

import lrnnbook
from lrnnbook import show
from lrnnbook.content.chapters import ch08
from lrnnbook.content.chapters.tree_composition import compose, letters, recursion, truth, words
from lrnnbook.content.exercises import check, hint, solution
from lrnnlab import automata

lrnnbook.needs("0.1")

# %% jupyter={"source_hidden": true} tags=["hide-input", "nbval-ignore-output"]
show.figure(
    ch08.order_picture(),
    alt="Two trees over the letters a to h. Left the nodes read ab, cd, ef, gh, then abcd and efgh, and the root abcdefgh. "
        "Right they read ba, dc, fe, hg, then dcba and hgfe, and the root hgfedcba.",
    caption="What each node has read. What to see: one exchange in every merge turns the whole string around.",
)  # fmt: skip

# %% [markdown]
# A node holds the **action** of its word: a matrix $A$ whose row $s$ has its 1 in the column of the state that the word leads to from $s$
# (the paper's Eq. 2). First the word $u$, then $v$, is the product $A_u A_v$.
#
# Four functions of the sitting are at work here: `compose(A, B)` is the layer of Lemma 1; `recursion(leaves, layer, before)` uses a layer
# depth by depth, with `before` in front of the string; `letters` writes Eq. 2 for each letter; `truth` follows every state letter by
# letter, slowly.
#
# ## 1 The printed order
#
# > **The paper, section 7.2.** "One concrete construction for concatenation is setting $r_0 = 0$ and the remaining $-\infty$ for
# > the first head; $r_1 = 0$ and the remaining $-\infty$ for the second head."
#
# So the first head reads the position itself, which holds the *later* word. The second head reads the earlier one. Lemma 1 then
# multiplies later by earlier. But with one-hot *rows* it should be earlier by later: $A_u A_v$ is first $u$, then $v$.
#
# **Claim (the order).** The printed heads compute the action of the string *read backwards*. That is harmless exactly for tasks that answer a word
# and its mirror image alike.
#
# **Step 1.** In words: the later word is written first. After the last layer every place holds its prefix mirrored.
# This is so for every machine. **All $T \le 64$.**

# %% tags=["proof-order"]
for T in range(1, 65):
    held = recursion([(t,) for t in range(T)], lambda earlier, later: later + earlier, ())
    assert held[-1] == [tuple(range(i, -1, -1)) for i in range(T)], (
        "The order, step 1: every prefix is mirrored"
    )
print(f"T = 5, the last place holds {recursion('abcde', lambda u, v: v + u, '')[-1][-1]}")


# %% [markdown]
# **Step 2.** So what comes out is a machine of its own. Its state is the map of the word so far, and a new letter acts *before* all
# that was read. On every word of 8 letters it gives the task's answer to the mirrored word, and so do the matrices in the printed
# order.

# %% tags=["proof-order"]
def printed(machine):
    """What the printed heads compute, as a machine: its state is the product so far, as a map."""
    return automata.MooreMachine.from_rule(
        tuple(range(machine.num_states)), machine.symbols,
        lambda product, letter: tuple(product[s] for s in machine.transitions[letter].tolist()),
        lambda product: int(machine.outputs[product[machine.initial]]),
    )  # fmt: skip


for name in ("S_3", "Tomita 3", "D_2"):
    machine = ch08.machine_of(name)
    strings, one = words(machine, 8), np.eye(machine.num_states, dtype=int)
    made = recursion(letters(machine, strings), lambda u, v: compose(v, u), one)[-1][-1]
    assert np.array_equal(made, truth(machine, strings[:, ::-1])[-1]), "The order, step 2: the matrices"
    mirrored = [machine.answer(word[::-1])[-1] for word in strings]
    assert [printed(machine).answer(word)[-1] for word in strings] == mirrored, (
        "The order, step 2: the answer to the mirrored word"
    )
    print(f"{name}: {len(strings)} words of 8 letters, each answered as its mirror image")

# %% [markdown]
# **Step 3.** When do two machines agree on *all* words? Follow both on the same word: the two states that they reach must have the same
# answer. A search over all such pairs of states decides it. For these eight tasks the printed order is never wrong.
#
# **Step 4.** If the letters commute, so do all products, and the printed order does no harm. But that is not the only way: in three of the
# eight tasks the letters do not commute, and still a word and its mirror image have one answer.

# %% tags=["proof-order"]
commuting = ("Parity", "(aa)*", "Sum(5)", "Tomita 5", "Tomita 6")
mirrored = ("EvenPair(2)", "EvenPair(5)", "Tomita 4")
for name in (*commuting, *mirrored):
    machine = ch08.machine_of(name)
    assert automata.equivalent(machine, printed(machine)) is None, (
        "The order, step 3: both machines agree on all words"
    )
    assert automata.classify(machine).commutative == (name in commuting), (
        "The order, step 4: the letters of the first five commute"
    )
print(f"never wrong: {', '.join(commuting)} (commuting), {', '.join(mirrored)} (not)")

# %% [markdown]
# The paper looks into trained models on Parity and Cycle Navigation, whose letters commute, so the order could not be seen there.
# (And a trained network finds its own order; only the printed construction is wrong.)
#
# **Step 5.** Elsewhere it is wrong on some word. The search gives a shortest word, and it is indeed not answered as its mirror image.

# %% tags=["proof-order"]
for name in ("S_3", "Tomita 3", "D_2"):
    machine = ch08.machine_of(name)
    word = automata.equivalent(machine, printed(machine))
    assert word is not None, "The order, step 5: an error"
    assert machine.answer(word)[-1] != machine.answer(word[::-1])[-1], (
        "The order, step 5: not the mirror"
    )
    print(f"{name}: first error on {''.join(machine.symbols[t] for t in word)}")


# %% [markdown]
# How often does it err? Count the words that lead both machines to each pair of states. That gives, exactly and at each length, the share
# of uniform random words that are answered right. For 8 letters the cell also looks at every word.

# %% tags=["proof-order"]
def right_at(machine, longest, only=None):
    """(right, words) by length, exactly; only : the words whose true answer is that."""
    other, found = printed(machine), []
    ways = {(machine.initial, other.initial): 1}
    for _ in range(longest):
        after = Counter()
        for (p, q), count in ways.items():
            for step in zip(machine.transitions[:, p].tolist(), other.transitions[:, q].tolist()):
                after[step] += count
        ways = after
        asked = {pair: many for pair, many in ways.items() if only in (None, machine.outputs[pair[0]])}
        right = sum(many for (p, q), many in asked.items() if machine.outputs[p] == other.outputs[q])
        found.append((right, sum(asked.values())))
    return found


shares = {}
for name, machine in ((name, ch08.machine_of(name)) for name in ("S_3", "Tomita 3", "D_2")):
    shares[name] = [Fraction(*pair) for pair in right_at(machine, 64)]
    right = [machine.answer(w)[-1] == machine.answer(w[::-1])[-1] for w in words(machine, 8)]
    assert shares[name][7] == Fraction(sum(right), len(right)), (
        "The order, step 5: the count, word by word"
    )
    print(f"{name}: of all prefixes up to 64 right {float(sum(shares[name]) / 64):.3f}")

# %% [markdown]
# **Step 6.** Even that flatters it. $D_2$ has the brackets that close, nested at most two deep; almost every long random word is outside of
# it, read either way. Of the words that are *in* $D_2$, up to 64 letters, the printed order recognises only the empty one: a balanced word
# read backwards begins with a closing bracket. $\blacksquare$

# %% tags=["proof-order"]
right, members = map(sum, zip(*right_at(ch08.machine_of("D_2"), 64, only=1)))
assert members > 0 and right == 0, "The order, step 6: no word of D_2 is recognised"
print(f"words of D_2 with 1 to 64 letters: {members:,}, of which recognised: {right}")

# %% jupyter={"source_hidden": true} tags=["hide-input"]
lengths = (1, 2, 3, 4, 8, 16, 32, 64)
show.table(
    [{"task": name, **{f"{T}": float(found[T - 1]) for T in lengths},
      "all prefixes up to 64": float(sum(found) / 64)} for name, found in shares.items()],
    caption="How often the printed order is right on uniform random words, by length, exactly.",
    formats={**{f"{T}": ".3f" for T in lengths}, "all prefixes up to 64": ".3f"},
)  # fmt: skip

# %% [markdown]
# **Exercise 7** ★ *(5 min, 2 points: to find a word on which two machines differ)* Find a word over the letters `s` and `t`
# of $S_3$, as short as can be, that the printed order gets wrong.

# %%
my_word = None  # a text such as "sst"
check("08.7", my_word)


# %% [markdown]
# <!-- Exercise 08.7: from notebooks/lrnnbook/content/exercises/ch08.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint</summary>
#
# Which two permutations do not commute?
#
# </details>

# %% [markdown]
# ### The corrected statement
#
# **Step 7.** Exchange the two heads: the earlier word comes first. By section 4 of the sitting every prefix is then right for every
# machine. **All words of 8 letters** of the three that erred.

# %% tags=["proof-order"]
def all_right(layer):
    """Is every prefix of every word of 8 letters right, on the three machines?"""
    for name in ("S_3", "Tomita 3", "D_2"):
        machine = ch08.machine_of(name)
        strings, one = words(machine, 8), np.eye(machine.num_states, dtype=int)
        if not np.array_equal(recursion(letters(machine, strings), layer, one)[-1],
                              truth(machine, strings)):  # fmt: skip
            return False
    return True


assert all_right(compose), "The order, step 7: the exchanged heads are right"
print("with the heads exchanged every prefix is right")

# %% [markdown]
# **Break it.** Keep the printed order and call it repaired.

# %% tags=["proof-order"]
with show.expect_failure("The order, step 7"):
    assert all_right(lambda earlier, later: compose(later, earlier)), (
        "The order, step 7: the printed order"
    )

# %% [markdown]
# **Exercise 8** ★★ *(10 min, 4 points: to tell when the order of composition does not matter)* **A proof step.** The printed
# order is wrong on no word of a commutative machine. Prove it. Then find a machine that is not commutative and where it
# is never wrong either (step 4 names some), and say why.

# %%
my_language = None  # its name, for example "Tomita 5"
check("08.8", my_language)

# %% [markdown]
# <!-- Exercise 08.8: from notebooks/lrnnbook/content/exercises/ch08.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint 1</summary>
#
# An action is a product of letters' actions.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# Which question has the same answer from both ends of a word?
#
# </details>

# %% [markdown]
# ## 2 Which product reads the state?
#
# At the end the paper maps $A(\sigma_{0:T})$ to the state "$A(\sigma_{0:T}) \circ q_0$". Read as a function composition, which is how
# its section 7.1 defines the sign, this is right: apply the action to the state $q_0$. (In the text that we have the sign is lost; we
# claim no error here.) But which *linear map* is it, for the matrices of Eq. 2?
#
# **Claim (the readout).** With one-hot rows, as in Eq. 2, it is $q_0^\top A$, and not $Aq_0$. With one-hot columns it is $Aq_0$, and the printed order
# of the heads is right as well.
#
# **Step 1.** With one-hot rows, the earlier word first, the state is row $q_0$: the product $q_0^\top A$.
#
# **Step 2.** Column $q_0$, the product $A q_0$, answers another question: from which states is $q_0$ reached?
#
# **Step 3.** Make the *columns* of Eq. 2 one-hot instead. Then the printed order of the heads is right, and so is $A q_0$ as a
# product: one transposition repairs both. $\blacksquare$

# %% tags=["proof-read_out"]
d_2 = ch08.machine_of("D_2")
d_2_words, one = words(d_2, 8), np.eye(d_2.num_states, dtype=int)
q0, states = d_2.initial, d_2.run(d_2_words).T  # (T, S)
rows = np.array(recursion(letters(d_2, d_2_words), compose, one)[-1])  # (T, S, n, n)
assert np.array_equal(rows[:, :, q0], one[states]), "The readout, step 1: row q0 is the state"
assert np.array_equal(rows[0, :, :, q0], d_2.transitions[d_2_words[:, 0]] == q0), (
    "The readout, step 2: one letter"
)
leads_to = np.array(truth(d_2, d_2_words)).argmax(-1)  # (T, S, n): where each state is led
assert np.array_equal(rows[..., q0], leads_to == q0), (
    "The readout, step 2: from which states q0 is reached"
)
other = (rows[:, :, :, q0] != one[states]).any(-1)
assert other.any(), "The readout, step 2: column q0 is another vector"
print(f"row q0 is the state on all {states.size} prefixes;",
      f"column q0 is another vector on {other.mean():.0%}")  # fmt: skip


# %% tags=["proof-read_out"]
def columns_read(leaves):
    """Printed order of the heads, and A q_0 as a product."""
    return np.array(recursion(leaves, lambda u, v: compose(v, u), one)[-1])[..., q0]


turned = [np.swapaxes(leaf, -1, -2) for leaf in letters(d_2, d_2_words)]
assert np.array_equal(columns_read(turned), one[states]), "The readout, step 3: column q0 is the state"
with show.expect_failure("The readout, step 3"):
    assert np.array_equal(columns_read(letters(d_2, d_2_words)), one[states]), (
        "The readout, step 3: rows"
    )

# %% [markdown]
# ## Exercises
#
# You will find each exercise in its section. Stuck? `hint("08.8")`. Done? Compare with `solution("08.8")`.

# %% [markdown]
# <!-- The exercises of this chapter, listed by lrnnlab book build. -->
#
# 2 exercises, 6 points, about 15 minutes:
#
# | exercise | section | difficulty | minutes | points | you will learn |
# |---|---|---|---|---|---|
# | 7 | [1 The printed order](#1-The-printed-order) | ★ | 5 | 2 | to find a word on which two machines differ |
# | 8 | [1 The printed order](#1-The-printed-order) | ★★ | 10 | 4 | to tell when the order of composition does not matter |
#
# <details><summary>Solution of 08.7</summary>
#
# `st` or `ts`: the two letters do not commute, and words of one letter read the same from both
# ends.
#
# </details>
#
# <details><summary>Solution of 08.8</summary>
#
# The printed order makes $A_{u_T} \cdots A_{u_1}$ instead of $A_{u_1} \cdots A_{u_T}$; if the
# letters' matrices commute, the two are equal. `"EvenPair(2)"` asks whether the first letter equals the last,
# and so does the answer to the mirrored word: its actions do not commute ($01$ and $10$ end in different
# states), its *answers* do not care. `"Tomita 4"` (no 000) is another.
#
# </details>
