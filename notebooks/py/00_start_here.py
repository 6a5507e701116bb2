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
# This is a workbook on one question:
#
# > **Which recurrent rule can learn a finite-state machine, and keep it at lengths it never saw?**
#
# Five papers answer parts of it. All their models are one sentence,
#
# $$x_t = A_t\,x_{t-1} + b_t, \qquad y_t = h(x_t),$$
#
# and differ in what $A_t$ may be: fixed, a rotation, diagonal, block-diagonal, a function of the input or even of the
# output. The chapters walk through the papers' proofs in steps that a cell checks, run their experiments while you
# watch, and let you turn the knobs. Where a paper is loose we say so, and show the repaired statement.
#
# Run a cell with **Shift + Enter**, or the whole chapter from the menu *Run → Run All Cells*.

# %%
import lrnnlab
from lrnnlab.evaluation import evaluate
from lrnnlab.experiments import plan, train
from lrnnlab.explore import show
from lrnnlab.explore.automaton_figures import state_diagram
from lrnnlab.explore.training_figures import accuracy_by_length
from lrnnlab.models import snap
from lrnnlab.tasks import Sum
from lrnnlab.verification import head_tables, heads_machine, verify

EXPECTED = "0.1"
if not lrnnlab.__version__.startswith(EXPECTED):
    raise RuntimeError(f"this notebook needs lrnnlab {EXPECTED}, here is {lrnnlab.__version__}: run bootstrap.py")
print(f"lrnnlab {EXPECTED}: ready")

# %% [markdown]
# ## One result, live
#
# The task **Sum(5)**: read digits 0 to 4 and say, after each, their sum modulo 5.

# %%
task = Sum(5)
for text in ("0324", "4444", "104"):
    answers = task.targets(task.read(text)[None])[0].tolist()
    print(f"{text}  ->  {answers}")

# %% [markdown]
# We train a block-diagonal linear recurrent network (paper 000: Fan, Chi and Rudnicky, 2024) on strings of **40**
# digits, nothing longer. It has one layer of eight 8 × 8 blocks whose columns are probability distributions. This takes
# a few seconds on one core.

# %% tags=["nbval-ignore-output"]
run = plan("lrnn/table2", tasks=["sum"], rows=["softmax"], seeds=[101])[0]
result = train(run)
print(f"trained in {result.seconds:.1f} s, {result.steps} steps")

# %% [markdown]
# Now ask it strings of 500 digits, more than twelve times as long as anything it has seen, and look at every position.

# %%
measured = evaluate(result.model, task, seed=101, length=500)
untrained = evaluate(run.build_model(), task, seed=101, length=500, strings=256)
show.figure(
    accuracy_by_length(
        {"softmax": measured.per_position.numpy(), "untrained": untrained.per_position.numpy()},
        train_length=40, chance=task.chance, majority=task.majority(500), window=5,
    ),
    alt="Accuracy against position 1 to 500. The trained network stays at 100 percent to the end, "
        "far past the mark at 40; the untrained one stays near 20 percent, the chance level.",
    caption="What to see: the trained network's line does not bend where its training strings ended.",
)  # fmt: skip
exact = measured.accuracy_all == 1.0
print(f"right at every position from 41 to 500, on 1,024 fresh strings: {exact}")

# %% [markdown]
# ## Not sampled, but proved
#
# A thousand strings prove nothing about all strings. But each column of this network's matrices leans strongly to one
# state, and if we **snap** it (each column to its largest entry, nothing retrained), every block becomes a finite
# automaton. We can then follow *all* strings at once, by search over its states, and compare with the automaton of the
# task: either a wrong string turns up, or none exists.

# %%
snapped = snap(result.model)
verdict = verify(snapped, task.specification)
print(verdict.proved)

# %% [markdown]
# That is a statement about every string of every length. Which blocks it took, and what they look like together:

# %% tags=["nbval-ignore-output"]
print(verdict)
machine = heads_machine(head_tables(snapped), verdict.heads, task.symbols)
show.figure(
    state_diagram(machine if machine.num_states <= 16 else task.machine),
    alt="State diagram of the automaton found inside the trained network: states joined by arrows "
        "labelled with digits; colours show which answer each state gives.",
    caption="What to see: the network has built a counter modulo 5. Each arrow adds its digit; "
            "a state's name lists the states of the blocks that take part.",
)  # fmt: skip

# %% [markdown]
# ## The map
#
# | chapter | question | paper |
# |---|---|---|
# | **00** start here | what is this? | |
# | [**01** subtraction](01_subtraction.ipynb) | what can a linear recurrence not represent? | 000 |
# | [**02** block-diagonal LRNN](02_block_diagonal_lrnn.ipynb) | what does a block buy, and why does it last? | 000 |
# | [**03** parallel scans](03_parallel_scans.ipynb) | how fast can $x_t = A_t x_{t-1} + b_t$ run? | 000 |
# | [**04** rotations](04_rotations.ipynb) | what does a norm-preserving transition keep? | 001 |
# | 05 diagonal kernels | what can a sum of exponentials fit? | 004 |
# | 06 ill-conditioned reals | why do complex eigenvalues matter? | 004 |
# | 07 long-range suite | what do long-range benchmarks ask? | 004 |
# | 08 working memory in depth | can depth replace recurrence? | 002 |
# | 09 fast weights | what can a learning rule count? | 003 |
# | 10 one ladder | all models, all tasks | all |
#
# Chapters in **bold** are open; the others are being written, in the order of their numbers.
#
# The papers, numbered as in the workbook: **000** Fan, Chi, Rudnicky: *Advancing Regular Language Reasoning in Linear
# Recurrent Neural Networks* · **001** Biegun, Dolga, Cunningham, Barber: *RotRNN* · **002** Chi, Fan, Rudnicky, Ramadge:
# *RegularGPT* · **003** Irie, Csordás, Schmidhuber: *Practical Computational Power of Linear Transformers and Their
# Recurrent and Self-Referential Extensions* · **004** Gupta, Mehta, Berant: *Simplifying and Understanding State Space
# Models with Diagonal Linear RNNs*.
#
# ## How to read a number here
#
# Three kinds are kept apart, by colour and by word: what the **paper** prints (grey), what we **recorded** earlier with a
# command you can run again (blue), and what is **live**, computed on your machine as you read (vermilion). Next to every
# accuracy stand two levels: *chance* (a uniform guess) and *majority* (always the commonest answer).
