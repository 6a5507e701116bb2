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
# Somebody chose the ladder's nineteen machines. Do they flatter some rules? And how much must a net see before it beats a table? *It takes* about 15 min to read. Behind [chapter 10](10_one_ladder.ipynb).

# %% tags=["hide-input"]
import lrnnlab
from workbook import show, tables
from workbook.chapters import ch10
from workbook.exercises import check, hint, solution
from workbook.tables import ladder

EXPECTED = "0.1"
if not lrnnlab.__version__.startswith(EXPECTED):
    raise RuntimeError(
        f"needs lrnnlab {EXPECTED}, here is {lrnnlab.__version__}: run bootstrap.py"
    )
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
# TEXT1
#
# The predictor was written before these machines were drawn. Where it says that no net of a family lasts, none does:

# %%
against = [(run.row, run.task) for run in drawn.itertuples() if run.kind == "lasts" and ladder.predicted(run.row, run.task) == "cannot"]
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
    print(f"{states} states, 2 letters: {pairs} pairs, about {pairs * sum(1 / n for n in range(1, pairs + 1)):.0f} tokens")

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

# %% [markdown]
# ## Exercises
#
# You will find each exercise in its section. Stuck? `hint("10.12")`. Done? Compare with `solution("10.12")`.

# %% [markdown]
# <!-- The exercises of this chapter, listed by lrnnlab book build. -->
