# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 10e · Harder machines
#
# Somebody chose the ladder's nineteen machines. Do they flatter some rules? And how much must a net see before it beats a table? *It takes* about 10 min to read. Behind [chapter 10](10_one_ladder.ipynb).

# %% tags=["hide-input"]
import lrnnlab
from workbook import show, tables
from workbook.chapters import ch10
from workbook.exercises import check, hint, solution
from workbook.tables import ladder

EXPECTED = "0.1"
if not lrnnlab.__version__.startswith(EXPECTED):
    raise RuntimeError(f"needs lrnnlab {EXPECTED}, here is {lrnnlab.__version__}: run bootstrap.py")
print(f"lrnnlab {EXPECTED}: ready")

# %% [markdown]
# ## 1 Drawn at random
#
# Two letters, and for each letter a map of 4, 8 or 16 states to themselves: any map (*maps*) or a permutation (*turns*), three draws
# each. The last two columns are *recall*: three or four keys, each with the last of two values that was written there. Keys are
# written again and again, half of the tokens write nothing, and the state is what all keys hold: 8 or 16 states.

# %% tags=["hide-input"]
drawn = tables.results.runs("ladder/random")
show.figure(
    ch10.ladder(drawn),
    alt="A table of eight models by twenty machines: maps of 4, 8 and 16 states, turns of 4, 8 and 16 states, recall of 3 and 4 keys.",
    caption="Recorded, one seed, one try of 600 steps. ∞: right to 500. A number: the first ten positions below 99 %. Grey: never "
    "learned at the training length. A red corner: a theorem says that no such net lasts.",
)

# %% tags=["hide-input"]
show.table(ch10.of_random(drawn), caption="The same, counted: of the machines of each kind, how many a model learns at length 40, and "
           "how many it keeps to 500.")  # fmt: skip

# %% [markdown]
# An LSTM keeps all twenty, an Elman net nearly all. Of what is linear in its state, softmax blocks and one-hot columns keep machines of
# 4 and most of 8 states; permutations of 16 do not fit into their blocks of 8 (red corners). And products of reflections? On the
# ladder they learn nearly everything at length 40:

# %%
chosen = tables.results.runs("ladder/models_x_tasks")
large = drawn[drawn["task"].str.contains("_8_|_16_")]
for name, found in (("the ladder's machines", chosen), ("drawn, 8 or 16 states", large)):
    known = found[found["row"] == "product_3"]["kind"] != "never learned"
    print(f"three reflections, {name}: {known.sum()} of {len(known)} nets know length 40")

# %% [markdown]
# So yes: our nineteen machines flatter them. The ladder's groups are symmetries of small figures, which a few reflections make. What is
# drawn at random is not. On recall all eight rules learn length 40, and those that must bring a key back exactly, by reflections,
# lose it (three reflections do not).
#
# The predictor was written before these machines were drawn. Where it says that no net of a family lasts, none does:

# %%
against = [
    (run.row, run.task)
    for run in drawn.itertuples()
    if run.kind == "lasts" and ladder.predicted(run.row, run.task) == "cannot"
]
print(f"{len(drawn)} nets; last against a verdict: {len(against)}")
assert not against

# %% [markdown]
# ## 2 How many strings?
#
# The ladder's nets see fresh strings for ever. What if there are only 1, 2, 4, ..., 128 strings of 40 tokens, seen again and again?
# The rival is a *table*. It writes down which state followed which state and token, and answers from that. It has no weights.

# %% tags=["hide-input"]
few = tables.results.runs("ladder/strings")
show.figure(
    ch10.strings_needed(few),
    alt="Right answers at positions 491 to 500 by the number of training strings, for three machines: the table is right from one or two "
    "strings on; nets need more.",
    caption="Recorded, one seed. Dashed: one who always gives the most frequent answer.",
)

# %% [markdown]
# The table is right for ever after one or two strings. An LSTM needs 32 on all three machines; softmax blocks need 32 on $S_3$, and 128
# are too few for them on the random maps and permutations. Three reflections know $S_3$ at length 40 from 32 strings on and do not keep
# it. None of them has learned *less* than the table's rule; they have to find it among all the rules that fit.
#
# How many tokens does the table need? A machine of $K$ states and $V$ letters has $K V$ pairs, and the table is complete when each was
# seen. If pairs came alike, collecting them all would take $K V\,(1 + \frac12 + \dots + \frac1{K V})$ tokens on average:

# %%
for states in (4, 8, 16, 60):
    pairs = 2 * states
    print(
        f"{states} states, 2 letters: {pairs} pairs, about {pairs * sum(1 / n for n in range(1, pairs + 1)):.0f} tokens"
    )


# %% [markdown]
# The comparison is not fair, and that is its point: the table is *told* the state after every token, so nothing is hidden. A net is
# worth its training where the state is not given, or where the rule must be found from answers alone (notebook 10d's words).

# %% [markdown]
# **Exercise 12** ★ *(10 min, 4 points: to write the rival yourself)* **Build.** Write `table_of(strings, states)`: `strings` are lists of
# tokens, `states` the state after each token, and every string starts in state 0. Return a dict from (state, token) to the next state.

# %%
def table_of(strings, states):
    pass  # exercise 12


check("10.12", table_of)

# %% [markdown]
# <!-- Exercise 10.12: from notebooks/workbook/exercises/ch10.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint</summary>
#
# The state before the first token is 0; the state before any other is the one that was reached by the token before it.
#
# </details>
#
# <details><summary>Solution</summary>
#
# ```python
# def table_of(strings, states):
#     table = {}
#     for tokens, reached in zip(strings, states):
#         before = 0
#         for token, after in zip(tokens, reached):
#             table[before, token] = after
#             before = after
#     return table
# ```
#
# </details>

# %% [markdown]
# ## Exercises
#
# You will find each exercise in its section. Stuck? `hint("10.12")`. Done? Compare with `solution("10.12")`.

# %% [markdown]
# <!-- The exercises of this chapter, listed by lrnnlab book build. -->
#
# 1 exercise, 4 points, about 10 minutes:
#
# | exercise | section | difficulty | minutes | points | you will learn |
# |---|---|---|---|---|---|
# | 12 | [2 How many strings?](#2-How-many-strings?) | ★ | 10 | 4 | to write the rival yourself |
