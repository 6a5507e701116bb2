# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 01d · Turns and resets
#
# Theorem D gave words that no diagonal layer with finitely many states tells apart. Which tasks does that rule out, exactly which tasks fit, and what does a singular block add? *It takes* about 20 min to read and 5 min for the exercises. Read [chapter 01](../01_subtraction.ipynb) first.

# %% jupyter={"source_hidden": true} tags=["hide-input"]
from itertools import product

import numpy as np
import sympy as sp

import lrnnbook
from lrnnbook import show
from lrnnbook.content.exercises import guess, hint, solution
from lrnnbook.content.tables import minimal
from lrnnlab import automata
from lrnnlab.automata.languages import language, read
from lrnnlab.expressivity.theorems import cascades, one_layer

lrnnbook.needs("0.1")

# %% [markdown]
# ## 1 Killer words for 16 tasks
#
# Two words $p\,u\,v\,w$ and $p\,v\,u\,w$, where all letters of $u$ and $v$ occur in $w$, refute every diagonal layer with finitely many states if
# their answers differ (Theorem D). Chapter 01 did it for subtraction and EvenPair. Here are such words for 16 tasks; the
# [glossary](../glossary.ipynb) lists the tasks, and [01e](01e_groups_and_depth.ipynb) explains those that are named after groups.
#
# **Step 1.** For each task the letters of $u$ and $v$ are in $w$.
#
# **Step 2 (orders 1 to 6 and 12).** So by Theorem D both words end in one state. We also run them, in *universal layers*: one run
# is enough for all channels whose turns come back after $N$ repetitions. The universal layer of order $N$ has a channel for each set of
# letters that reset and each other letter. The channel counts that letter modulo $N$ from the last reset on. One more channel is reset by every
# letter. From these you can read off the state of any channel of the kind: which of its resetting letters came last, and how often each
# other letter has come since. Between resets turns only add up.

# %% tags=["proof-killer_words"]
KILLERS = {  # task: u, v, w, with nothing in front
    "a-b-c mod 5": ("0-", "1-", "0-1"), "ModArith(5)": ("0-", "1-", "0-1"),
    "EvenPair(2)": ("0", "1", "01"), "EvenPair(5)": ("0", "1", "01"),
    "Tomita 3": ("0", "1", "01"), "Tomita 4": ("00", "1", "01"), "Q_8": ("i", "j", "ij"),
    **dict.fromkeys(("D_2", "D_3", "D_4", "D_12", "(abab)*"), ("a", "b", "ab")),
    **dict.fromkeys(("S_3", "S_4", "A_4", "A_5"), ("s", "t", "st")),
}  # fmt: skip
for u, v, w in KILLERS.values():
    assert set(u + v) <= set(w), f"Killer words, step 1: a letter of {u}{v} is missing in {w}"
pairs = {task: (u + v + w, v + u + w) for task, (u, v, w) in KILLERS.items()}
print(f"{len(pairs)} tasks; for D_2 the words are", *pairs["D_2"])


def universal_end(word, N):
    letters = sorted(set(word))
    return cascades.universal_layer(letters, N).run(map(letters.index, word))[-1]


for first, second in set(pairs.values()):
    for N in (1, 2, 3, 4, 5, 6, 12):
        assert universal_end(first, N) == universal_end(second, N), (
            f"Killer words, step 2: order {N} tells {first} and {second} apart"
        )
print(f"{len(set(pairs.values()))} pairs of words: one state in each universal layer")


# %% [markdown]
# **Step 3.** The two words have different answers. **Step 4.** A second definition of each language, which shares no code with its
# automaton, gives the same answers.

# %% tags=["proof-killer_words"]
def answers_of(task, words):
    machine = language(task).machine
    return [int(machine.answer(read(machine, word))[-1]) for word in words]


for task, words in pairs.items():
    first, second = answers_of(task, words)
    assert first != second, f"Killer words, step 3: {task} answers both {' and '.join(words)} by {first}"
    again = [language(task).oracle(word) for word in words]
    assert again == [first, second], f"Killer words, step 4: the second definition of {task} answers {again}"
print(f"{len(pairs)} tasks answer their two words differently")

# %% jupyter={"source_hidden": true} tags=["hide-input"]
show.table(
    [{"task": task, "word": words[0], "answer": answers_of(task, words)[0],
      "other word": words[1], "other answer": answers_of(task, words)[1]}
     for task, words in pairs.items() if task not in ("D_3", "D_4", "D_12", "A_4", "EvenPair(2)")],
    caption="Pairs of words that end in one state of every diagonal layer with finitely many states; "
            f"{len(pairs)} tasks were checked, a few that are much alike are not shown. For the "
            "groups, an answer is the number of the element reached.",
)  # fmt: skip

# %% [markdown]
# **Break it.** One diagonal layer does compute Parity, so there such words must have the same answer. They do.

# %% tags=["proof-killer_words"]
with show.expect_failure("Killer words, step 3"):
    first, second = answers_of("Parity", ("0101", "1001"))
    assert first != second, f"Killer words, step 3: Parity answers both 0101 and 1001 by {first}"

# %% [markdown]
# ## 2 Exactly which tasks fit
#
# Theorem D has a companion. Two words *do the same* in an automaton if they lead from every state to the same state. A
# task fits into one diagonal layer with finitely many states *exactly* if two laws hold in its smallest automaton, for
# all letters $x, y$ and all words $s, m$:
#
# $$x\,y\,m \ \text{ does the same as }\ y\,x\,m \ \text{ if } x \text{ and } y \text{ occur in } m; \qquad
# x^K s\,x \ \text{ does the same as }\ s\,x \ \text{ for some } K > 0.$$
#
# The first is Theorem D for single letters. The second holds in a channel with $K$ the order of its turns: if $x$ is a
# reset, the last $x$ forgets what was before; if it is a turn, $x^K$ does nothing. Together they suffice. Cut a word
# after the last occurrence of each of its letters. Within a piece, all letters but its last come again later. So by the
# first law their order does not matter, and by the second only their numbers modulo $K$ do. Both are known to the
# universal layer of order $K$. The function `one_layer.possible_in_one_diagonal_layer` decides the two laws and, where
# one fails, finds two words that no such layer tells apart and that are answered differently.
#
# **Step 1.** Its verdict on six languages is what a search through the universal layer over all words finds. (The
# universal layer of Sum(5) is large, so there we search the turn by 72°.)

# %% tags=["proof-two_laws"]
verdicts = {}
for name in ("Parity", "Sum(5)", "Tomita 5", "Tomita 6", "Tomita 3", "(abab)*"):
    machine = language(name).machine
    verdicts[name] = found = one_layer.possible_in_one_diagonal_layer(machine)
    layer = (minimal.constructions(name)[0].model if name == "Sum(5)"
             else cascades.universal_layer(machine.symbols, found.order))  # fmt: skip
    confused = cascades.pair_up(layer, machine)[1]
    assert found.possible == (confused is None), "The two laws, step 1: the verdict is what the search finds"
enough = [name for name, found in verdicts.items() if found.possible]
print("one diagonal layer is enough for", ", ".join(enough))

# %% [markdown]
# **Step 2.** Where the answer is no, the two words that it gives end in the same state of the universal layer, and
# have different answers.

# %% tags=["proof-two_laws"]
for name, found in verdicts.items():
    if not found.possible:
        machine = language(name).machine
        layer = cascades.universal_layer(machine.symbols, found.order)
        first, second = (layer.run(word)[-1] for word in found.words)
        answers = [int(machine.answer(word)[-1]) for word in found.words]
        assert first == second and answers[0] != answers[1], "The two laws, step 2: one state, two answers"
        print(f"{name}:", *("".join(machine.symbols[t] for t in word) for word in found.words))

# %% [markdown]
# **Step 3, on examples.** Step 1 with 100 random automata of three states and two letters.

# %% tags=["proof-two_laws"]
draw, possible = np.random.default_rng(0), 0
for _ in range(100):
    machine = automata.MooreMachine(draw.integers(3, size=(2, 3)), draw.integers(2, size=3), 0, "ab")
    found = one_layer.possible_in_one_diagonal_layer(machine)
    confused = cascades.pair_up(cascades.universal_layer("ab", found.order), machine)[1]
    assert found.possible == (confused is None), (
        "The two laws, step 3: the verdict is what the search finds"
    )
    possible += found.possible
print(f"of 100 random automata {possible} fit into one diagonal layer, by the two laws and by search")

# %% jupyter={"source_hidden": true} tags=["hide-input"]
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
    caption="Six languages and whether one diagonal layer with finitely many states is enough.",
)

# %% [markdown]
# **Break a hypothesis.** A layer of order 2 is too coarse for Tomita 6, which counts modulo 3.

# %% tags=["proof-two_laws"]
with show.expect_failure("The two laws, step 1"):
    machine = language("Tomita 6").machine
    confused = cascades.pair_up(cascades.universal_layer(machine.symbols, 2), machine)[1]
    assert confused is None, "The two laws, step 1: a layer of order 2 confuses two words of Tomita 6"


# %% [markdown]
# **Exercise 11** ★ *(5 min, 4 points: to predict what resets and turns cannot see)* **Predict.** Choose before you
# run. The answer is 1 where the last two letters are equal, else 0, so that `abbaa` gives 0 0 1 0 1. Does this task
# fit into one diagonal layer with finitely many states? When you run your choice, the function
# `one_layer.possible_in_one_diagonal_layer` decides.

# %% tags=["nbval-ignore-output"]
def last_two_equal():
    def step(state, token):
        return token, int(token == state[0])

    machine = automata.MooreMachine.from_rule((None, 0), "ab", step, lambda state: state[1])
    verdict = one_layer.possible_in_one_diagonal_layer(machine)
    if verdict.possible:
        return "yes", verdict.reason
    order = "do not commute" in verdict.reason
    cause = "two letters do not commute" if order else "repetitions of a letter matter"
    first, second = ("".join(machine.symbols[t] for t in word) for word in verdict.words)
    return f"no: {cause}", f"{verdict.reason}; such a layer confuses {first} with {second}"


guess("01.11", last_two_equal)

# %% [markdown]
# <!-- Exercise 01.11: from notebooks/lrnnbook/content/exercises/ch01.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint 1</summary>
#
# Before a word that contains both letters, is anything remembered?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# Compare $ba$ with $baaaa\dots$
#
# </details>

# %% [markdown]
# ## 3 The block of size 2 subtracts
#
# The block of chapter 01, section 5, stores the first letter and keeps it.

# %% [markdown]
# **Step 5.** $a - b - c - \cdots = 2a - (a + b + c + \cdots)$. So one layer subtracts on all well-formed
# expressions: this block holds $a$, and beside it a turn by 72° a unit adds up all numbers.
#
# **Step 6.** A block of size 3 does it even on strings that are not well-formed, whose value is the sum of the
# numbers before the first minus less that of the numbers after it.

# %% tags=["proof-block_two_subtracts"]
numbers = sp.symbols("a b c d")
assert sp.expand(2 * numbers[0] - sum(numbers) - (numbers[0] - sum(numbers[1:]))) == 0, (
    "The block of size 2, step 5: twice the first"
)
model, larger = (one.model for one in minimal.constructions("a-b-c mod 5")[:2])
machine = language("a-b-c mod 5, expressions").machine
assert model.size == 2 and cascades.pair_up(model, machine)[1] is None, (
    "The block of size 2, step 5: right on all expressions"
)
machine = language("a-b-c mod 5").machine
assert larger.size == 3 and cascades.pair_up(larger, machine)[1] is None, (
    "The block of size 2, step 6: right on all strings"
)
print(f"expressions: blocks of size {model.size}; all strings: blocks of size {larger.size}")

# %% [markdown]
# **Step 7, on examples, in float64.** 300 random expressions of up to 249 numbers, the readout being twice the first
# number less the angle of the turn.

# %% tags=["proof-block_two_subtracts"]
draw, wrong = np.random.default_rng(0), 0
for length in draw.integers(1, 250, size=300):
    numbers = draw.integers(5, size=length)
    x, turned = np.zeros(2), 1 + 0j
    for k in numbers:
        x = np.array([[1, -k / 4], [0, 0]]) @ x + np.array([k / 4, 1])
        turned *= np.exp(2j * np.pi * k / 5)
    read_off = 2 * round(4 * x[0]) - round(np.angle(turned) * 5 / (2 * np.pi))
    wrong += read_off % 5 != (2 * numbers[0] - numbers.sum()) % 5
assert wrong == 0, "The block of size 2, step 7: float64 reads off right"
print(f"{wrong} of 300 random expressions wrong in float64")


# %% [markdown]
# ## 4 Singular is essential
#
# > **Claim.** A layer with invertible transitions only (rotations, as in chapter 04) and finitely many states does not
# > compute EvenPair.
#
# **Step 1.** Every letter permutes the states, and some power of a permutation does nothing: the $m$-th, if $m$ is
# the least common multiple of the lengths of its cycles. **All permutations** of up to 5 states.

# %% tags=["proof-invertible_only"]
def power(f, m):  # a permutation (a tuple) m times
    to = range(len(f))
    for _ in range(m):
        to = [f[i] for i in to]
    return list(to)


for n in range(1, 6):
    for f in (f for f in product(range(n), repeat=n) if len(set(f)) == n):
        # for each state the length of its cycle
        cycles = [next(m for m in range(1, n + 1) if power(f, m)[i] == i) for i in range(n)]
        assert power(f, np.lcm.reduce(cycles)) == list(range(n)), (
            "Invertible transitions, step 1: the m-th power does nothing"
        )
print(f"the last one, {f}, has cycles of the lengths {cycles}")

# %% [markdown]
# **Step 2.** So $0^m 1$ ends where $1$ ends. **All pairs** of the 48 signed permutations of three coordinates, $m = 12$.

# %% tags=["proof-invertible_only"]
orders = [list(q) for q in product(range(3), repeat=3) if len(set(q)) == 3]
turns = [np.eye(3, dtype=int)[q] * signs for q in orders for signs in product((1, -1), repeat=3)]
x = np.array([1, 2, 4])
for A_0, A_1 in product(turns, repeat=2):
    assert (A_1 @ np.linalg.matrix_power(A_0, 12) @ x == A_1 @ x).all(), (
        "Invertible transitions, step 2: 0^m 1 ends where 1 ends"
    )
print(f"{len(turns)} invertible blocks, all pairs: 0^12 1 ends where 1 ends")


# %% [markdown]
# **Step 3.** EvenPair wants different answers. **Step 4.** Indeed some letter of its smallest automaton *merges*
# states, which no permutation does.

# %% tags=["proof-invertible_only"]
def two_answers(name):
    machine = language(name).machine
    return [int(machine.answer(read(machine, word))[-1]) for word in ("0" * 12 + "1", "1")]


answers = two_answers("EvenPair(2)")
assert answers[0] != answers[1], "Invertible transitions, step 3: the answers differ"
moves = automata.minimise(language("EvenPair(2)").machine).transitions
assert any(len(set(move.tolist())) < len(move) for move in moves), (
    "Invertible transitions, step 4: some letter merges states"
)
print(f"EvenPair answers {answers}; its letters move the states to {moves.tolist()}")

# %% [markdown]
# **Break a hypothesis.** Parity, which rotations do compute, wants one answer.

# %% tags=["proof-invertible_only"]
with show.expect_failure("Invertible transitions, step 3"):
    answers = two_answers("Parity")
    assert answers[0] != answers[1], f"Invertible transitions, step 3: Parity answers {answers}"

# %% [markdown]
# ## Exercises
#
# You will find each exercise in its section. Stuck? `hint("01.11")`. Done? Compare with `solution("01.11")`.

# %% [markdown]
# <!-- The exercises of this chapter, listed by lrnnlab book build. -->
#
# 1 exercise, 4 points, about 5 minutes:
#
# | exercise | section | difficulty | minutes | points | you will learn |
# |---|---|---|---|---|---|
# | 11 | [2 Exactly which tasks fit](#2-Exactly-which-tasks-fit) | ★ | 5 | 4 | to predict what resets and turns cannot see |
#
# <details><summary>Solution of 01.11</summary>
#
# No, and not because of the order of the letters: after two letters all before them is forgotten.
# But in one channel a letter either resets, and twice is as good as once, or turns, and after $K$ turns all is
# as before. Either way $a^{K+1}$ leads where $a$ leads; but after $b$ the answer to $a$ is 0 and to $a^{K+1}$
# it is 1.
#
# </details>
