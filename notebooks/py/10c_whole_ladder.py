# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 10c · The whole ladder
#
# All models on all machines, and what the five papers' rules make of the same nets. *It takes* about 10 min to read. Behind [chapter 10](10_one_ladder.ipynb).

# %% tags=["hide-input"]


import lrnnlab
from workbook import show, tables
from workbook.chapters import ch10
from workbook.exercises import hint, solution

EXPECTED = "0.1"
if not lrnnlab.__version__.startswith(EXPECTED):
    raise RuntimeError(
        f"needs lrnnlab {EXPECTED}, here is {lrnnlab.__version__}: run bootstrap.py"
    )
print(f"lrnnlab {EXPECTED}: ready")

# %% [markdown]
# ## 1 The protocol
#
# A fair question is the same question to all. The net reads a string; after every token it has to say which state the
# smallest machine for the task is in (of ModArith: the value, at every number). (Asked for a yes or no, a constant answer is right in three of four cases of
# Tomita 5, and in nearly all where brackets are beyond mending.) Strings that ask something are not the ones that
# chance makes: in a *flip-flop*, which keeps the letter that was written last, only a tenth of the tokens write;
# where a machine has a state that cannot be left, half of the strings stay out of it, and the others do up to some
# position. (Were they to die at once, no string would go wrong late, and a net would not be asked whether it
# notices.)
#
# Training sees lengths 4 to 40. A try takes 600 steps of 64 strings at rate 0.01; a net that does not know positions
# 31 to 40 of fresh strings (99 %) gets another one, 1,800 steps at rate 0.003. Then it reads strings of 500 tokens,
# and three numbers are written down: accuracy at 31 to 40, accuracy at 491 to 500, and the first of the first
# ten positions in a row that are right less than 99 % of the time, together. The first alone flatters nets that fade slowly; the second is too kind to
# nets that come back by chance.

# %% [markdown]
# ## 2 The ladder
#
# Columns go up by the algebra of the machine. *Star-free* ones count nothing: flip-flop, brackets of bounded depth,
# EvenPair, Tomita 1, 2, 4 and 7. Then machines with commutative groups in them: Parity, a sum modulo 5, a walk on a
# cycle. Then $S_3$ and $S_4$, whose groups can be taken apart into commutative ones, and $A_5$, which cannot.
#
# Rows are the models of the five papers, as the chapters had them (softmax attention too), the delta rule with more
# freedom (a $\beta$ up to 2, products of two and three reflections), complex phases without an input term, and three
# from later work: blocks with one-hot columns, the same times a complex diagonal, and a dictionary of dense matrices
# that each token mixes.

# %% tags=["hide-input"]
recorded = tables.results.runs("ladder/models_x_tasks")
show.figure(
    ch10.ladder(recorded),
    alt="A table of models by machines. One-hot columns, LSTM, Elman and the ReLU RNN last most; "
    "diagonal models of one layer last at most "
    "on the flip-flop, Tomita 1, 2 and 5, D2 and D3; of what is linear in its state only blocks, "
    "one-hot columns, the dictionary, reflections and their products learn A5.",
    caption="Recorded, three seeds; two layers of a model stand below its one. ∞: right to 500 (1/3: one seed of "
    "three is); a number: the first of ten positions below 99 % of the seed that fails first (~: right again later); grey: the training length was never "
    "learned; a red corner: a theorem says that no such net lasts.",
)

# %% [markdown]
# ## 3 The ledger of protocols
#
# The five papers count by four rules. How much of a number is the net, and how much is the rule? These nets were
# trained once; every look at them was scored by each rule.

# %% tags=["hide-input"]
show.table(
    ch10.ledger(),
    caption="The same nets by each paper's rule, in percent, seed 0. 000: "
    "best of 40 looks at test strings, last position "
    "of 500; 001 and 004: chosen on held-out strings, tested at the training length; 002, ours: "
    "the last weights, the mean over lengths 42 to 500; "
    "003: whole strings of 1 to 40 (Bin0) and of 41 to 80 (Bin1), the look chosen on the test; held out: the same as "
    "Bin1, the look chosen on held-out strings.",
)

# %% [markdown]
# A net that has learned its machine is right by all of them. One that fades is right by the rules that look no further
# than the training length or a little beyond (001, 004 and 003), and loses most by those that look up to 500 (000 and
# 002): see the blocks on $\mathbb Z_5$. One that has learned nothing gets least from the rule that wants whole
# strings; one that nearly knows the training length gets its best from whole strings of Bin0 (the LSTM on $\mathbb Z_5$). And the last two columns say what choosing the look by the test is worth: nothing where a net is right at
# every look or at none, and most where it is right at some looks only, as the blocks on $D_2$ and DeltaNet on Parity are.

# %% [markdown]
# ## 4 What this does not show
#
# * "Lasts" means right to 500 on 128 strings, not for ever. What is proved is said to be proved (section 6).
# * One recipe for all is fair and is nobody's best: "never learned" says that two tries of it did not, no more.
# * A verdict of the predictor is about exact numbers and margins at every length. A net that will fail at a million
#   may be all that anybody needs.
# * Machines here have at most 60 states. What larger ones ask of memory is another question.
