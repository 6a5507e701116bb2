# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 02e · Train and verify by hand
#
# What does the package do when it trains, snaps and verifies? The recipes, each step in a few lines, and whether label smoothing matters. *It takes* about 20 min to read and 20 min for the exercises. Read [chapter 02](../02_block_diagonal_lrnn.ipynb) first.

# %% jupyter={"source_hidden": true} tags=["hide-input"]

import numpy as np
import torch

import lrnnbook
from lrnnbook import show, tables
from lrnnbook.content.chapters import ch02
from lrnnbook.content.exercises import check, hint, mine, solution
from lrnnbook.content.show import training_figures
from lrnnlab import models, tasks, training, verification

lrnnbook.needs("0.1")

# %% [markdown]
# ## 1 The recipes
#
# Sum(5), strings of 40 digits, an answer after every digit. First we train the `softmax` model, whose training never
# looks at a longer string. When it is done, each column is snapped to its largest entry (1 there, 0 elsewhere), and
# if a search over all strings of 40 digits finds one that the snapped model gets wrong, training starts
# again. Then we train the `release` model. It stops when two checks in a row on strings of length 500 (a stream of its
# own, not the strings we judge by) are perfect. So it *has seen* the test length, and the table in
# [02c](02c_modarith_and_the_table.ipynb) says so.
#
# Neither is trained quite as in the paper: one layer with a linear readout, no more than a few hundred steps from
# each start, and up to six fresh starts. The `release` row has a squared loss, noise on its states, a larger weight decay,
# and keeps running means of its weights. The `softmax` row has no input term and starts from the first basis vector, so
# that nothing but its blocks moves its state. Its second phase puts noise on the states and adds a term to the loss
# that is small only where the columns are nearly one-hot. Both push the columns to the corners of the simplex (of the
# distributions).

# %%
task = tasks.Sum(5)
runs = {
    row: tables.plan("lrnn/table2", tasks=["sum"], rows=[row], seeds=[101])[0]
    for row in ("softmax", "release")
}
fits = {row: tables.train_run(run) for row, run in runs.items()}

# %% jupyter={"source_hidden": true} tags=["varies", "hide-input", "nbval-ignore-output"]
show.figure(
    training_figures.loss_curve({"softmax": fits["softmax"].losses}, classes=5),
    alt="Training loss of the softmax model by step on a logarithmic scale. It falls "
        "from ln 5, the loss of a uniform guess, to below 0.03, then rises while noise "
        "is put on the states.",
    caption="What to see: the loss falls fast, then rises again. That is the second "
            "phase, which adds noise to the states on purpose, to push the columns to the "
            "corners of the simplex.",
)  # fmt: skip

# %% [markdown]
# ## 2 A training step
#
# What `train` repeats: strings are drawn, the network answers after every digit, cross-entropy says how wrong it is, and
# AdamW moves the weights against the gradient, which is clipped to length 1. What the package's loop adds are
# choices: a learning rate that falls, the noise of the second phase, checks, fresh starts. Twenty steps by the
# `training_step` that you built in chapter 02 and by the package's loop lead to the same weights:

# %% tags=["varies", "nbval-ignore-output"]
training_step = mine("training_step")


def fresh():
    model = runs["softmax"].build_model()
    return model, torch.optim.AdamW(model.parameters(), lr=0.01), training.rng(1, "by hand")


ours, optimiser, stream = fresh()
losses = []
for _ in range(20):
    strings = task.sample(64, 40, stream)
    losses.append(training_step(ours, optimiser, strings.tokens, strings.targets))


def loss_of_fresh_strings():
    strings = task.sample(64, 40, stream)
    logits, answers = theirs(strings.tokens).flatten(0, 1), strings.targets.flatten()
    return torch.nn.functional.cross_entropy(logits, answers)


theirs, optimiser, stream = fresh()
state = training.engine.TrainState(theirs, optimiser, clip=1.0)
for _ in range(20):
    state.step(loss_of_fresh_strings())
same = all(torch.allclose(a, b) for a, b in zip(ours.parameters(), theirs.parameters()))
assert same, "this step is not the package's"
assert losses[-1] < losses[0], "the loss has not fallen"
print(f"the loss falls from {losses[0]:.2f} to {losses[-1]:.2f} in 20 steps, and the package's loop has the same weights")

# %% [markdown]
# ## 3 Does label smoothing decide whether it extrapolates?
#
# Trained fast (AdamW, learning rate 3e-3) with plain cross-entropy, the `release` network reaches a loss near zero at
# length 40, and past it one seed of six stays exact up to 500. With labels smoothed by 0.1 three of six do (recorded, below).
# (*Smoothed* means that the loss does not ask for probability 1 of the right class: a tenth of it is spread evenly over all classes.) Why
# should *smoothing* matter to *length*? Two guesses:
#
# 1. **The loss stops asking.** Once every answer is right with a margin, the gradient of cross-entropy vanishes,
#    long before the five clouds of states ([02b](02b_fading.ipynb)) are points. A smoothed label, or a squared loss, has its optimum at
#    finite logits: every deviation costs, for ever.
# 2. **The optimiser stops listening.** Adam divides by the root of a running mean of squared gradients, with a memory of
#    $1/(1-\beta_2)$ steps, a thousand by default. If the gradients fall by orders of magnitude, Adam still divides by
#    the large ones of the beginning: its steps shrink to nothing.
#
# The two can be told apart, because the second can be mended without touching the loss: shorten the memory
# ($\beta_2 = 0.99$), clip the gradients to norm 1 so that there is nothing large to remember, or both. We watch the
# gradient on fresh strings, and how far the five transition matrices still move.

# %% tags=["varies", "nbval-ignore-output"]
shown = ("plain", "smoothing", "clipped_short")
variants = {run.row: run for run in tables.plan("lrnn/smoothing", seeds=[2])}
probe = task.sample(128, 40, training.rng(2, "probe"))
watched, past = {}, {}
for name in shown:
    run, seen, last = variants[name], [], [models.exact.symbol_transitions(variants[name].build_model())[0]]
    smoothing = run.setting.recipe.phases[0].smoothing

    def watch(model, step, seen=seen, last=last, smoothing=smoothing):
        logits, answers = model(probe.tokens).flatten(0, 1), probe.targets.flatten()
        loss = torch.nn.functional.cross_entropy(logits, answers, label_smoothing=smoothing)
        gradients = torch.autograd.grad(loss, list(model.parameters()))
        now, _ = models.exact.symbol_transitions(model)
        moved, last[0] = float((now - last[0]).norm() / now.norm()), now
        seen.append((float(torch.cat([g.flatten() for g in gradients]).norm()), moved))
        return {"score": 0.0}

    found = training.fit(run.build_model, task, run.setting.recipe, seed=2, watch=watch, watch_every=25)
    watched[name] = seen
    past[name] = training.evaluate(found.net, task, seed=2, strings=256).accuracy_all
moved_last = {name: sum(m for _, m in seen[-4:]) for name, seen in watched.items()}
six_seeds = tables.results.runs("lrnn/smoothing")
recorded_past = six_seeds.query("seed == 2").set_index("row")["accuracy_all"]
show.table(
    [
        {
            "variant": name,
            "gradient, largest": max(g for g, _ in seen),
            "gradient, at the end": seen[-1][0],
            "matrices moved, steps 100 to 200": sum(m for _, m in seen[4:8]),
            "matrices moved, steps 400 to 500": moved_last[name],
            "right past 40": past[name],
            "recorded, the same seed": recorded_past[name],
        }
        for name, seen in watched.items()
    ],
    caption="Live, one seed. Norm of the gradient on 128 strings of length 40; relative "
            "change of the transition matrices, summed over checks 25 steps apart; accuracy "
            "at positions 41 to 500 at the end, and what it was when it was recorded.",
)

# %% tags=["varies", "nbval-ignore-output"]
assert min(moved_last, key=moved_last.get) == "plain", "with the plain loss the matrices move least"
print("moved in the last hundred steps:", ", ".join(f"{name} {moved:.3g}" for name, moved in moved_last.items()))

# %% [markdown]
# How far a network then *holds* depends on more than this: the last two columns, of one and the same run, can differ
# as soon as a processor adds up in another order, and the variants may change places. One seed is an anecdote. These
# are the recorded results of six seeds each (`lrnnlab reproduce lrnn/smoothing --budget desk --seeds 0-5`):

# %% jupyter={"source_hidden": true} tags=["hide-input"]
rows = six_seeds.groupby("row").agg(**{
    "seeds": ("seed", "size"),
    "exact past 40": ("accuracy_all", lambda shares: (shares == 1).sum()),
    "mean": ("accuracy_all", "mean"),
    "least": ("accuracy_all", "min"),
    "greatest": ("accuracy_all", "max"),
    "at length 40": ("accuracy_seen", "min"),
}).loc[[*variants]].rename_axis("variant").reset_index()  # fmt: skip
show.table(rows, caption="Recorded. Accuracy at positions 41 to 500 after 500 steps, over "
                         "seeds; 'at length 40' is the least over seeds of the accuracy at "
                         "positions 1 to 40.")  # fmt: skip

# %% [markdown]
# **What we find.** The first guess fares better. The two losses that never stop asking, smoothed labels and the squared loss,
# come out exact on three and four seeds of six. Each way to mend the optimiser does so on one, as often as the plain loss.
# While the rule is being found the gradient is large; once length 40 is right it is smaller by orders of magnitude (the
# table of the live runs), and smoothed labels keep some of it alive.
#
# Six seeds are few. In earlier records of the same settings, which rounded otherwise, clipping with a shorter memory was
# exact on three seeds too, as many as smoothing. What both sets of records agree on: clipping alone and a shorter memory
# alone are exact on one seed of six, so to mend Adam's memory is not enough.
#
# And none of them is reliable: at best four seeds of six are exact after 500 steps. Nothing in these losses rewards
# being exact at lengths that are never shown. That is why the `release` and `clip` rows of the table need checks on
# long strings and fresh starts, and why the `softmax` row takes another road: make the columns one-hot, then prove.

# %% [markdown]
# ## 4 What changed inside
#
# What does training do to one head, and do the heads count?

# %%
snapped = models.snap(fits["softmax"].net)
verdict = verification.verify(snapped, task.specification)

# %%
before, _ = models.exact.symbol_transitions(runs["softmax"].build_model())
after, _ = models.exact.symbol_transitions(fits["softmax"].net)

# %% jupyter={"source_hidden": true} tags=["varies", "hide-input", "nbval-ignore-output"]
head = (verdict.heads or (0,))[0]
show.figure(
    ch02.before_after(before.numpy(), after.numpy(), task.symbols, head),
    alt=f"The blocks of head {head} for the five tokens, before and after training.",
    caption=f"What to see: head {head} before training (top) is a blurred identity, about half of each "
            "column on the diagonal; after it, each token has its map.",
)

# %% jupyter={"source_hidden": true} tags=["varies", "hide-input", "nbval-ignore-output"]
show.figure(
    ch02.eigenvalue_plane(
        ch02.eigenvalues(before.numpy()), ch02.eigenvalues(after.numpy()), task.symbols, order=5
    ),
    alt="Eigenvalues of all blocks in the complex plane, before and after training, with the "
        "unit circle and the fifth roots of unity marked. Before, they lie near the real "
        "line between 0 and 1; after, many lie at 0 or on the unit circle, some at the fifth roots.",
    caption="What to see: counting modulo 5 needs the fifth roots of unity. After "
            "training some eigenvalues of tokens 1 to 4 lie on those marks. Others lie near 0: "
            "those heads forget. Others on the circle belong to cycles of other lengths.",
)

# %% [markdown]
# ## 5 Snap and verify
#
# Here are `snap`, which you built in chapter 02, and the package's `verify` in a few lines. *Snap*: on each token each state of each head
# goes to where the largest entry of its column is.

# %%
snap = mine("snap")
moves = snap(after).numpy()  # (token, head, from) -> to
goes = models.exact.symbol_transitions(snapped)[0].numpy()  # of the package's, (token, head, to, from)
assert np.array_equal(goes.argmax(2), moves), "this snap is not the package's"
print("columns that are the basis vector of their largest entry:", int(goes.sum()))


# %% [markdown]
# *Verify*: follow pairs of the heads' states and the state of the machine that says what is right, from the start through
# all tokens, until no new pair comes. In each pair the right class must win even if the other heads vote against it
# as much as they can. (The package also bounds what rounding could do.)

# %%
def votes_by_hand(model):
    layer, (readout,) = model.layers[0], model.head
    h, b = layer.h, layer.b
    basis = torch.eye(b).double().repeat(1, h)  # row s: all heads in state s
    seen = model.final_norm(basis).unflatten(1, (h, b))
    votes = torch.einsum("chi,shi->hsc", readout.weight.unflatten(1, (h, b)), seen)
    return votes.detach().numpy(), readout.bias.detach().numpy()


def verify_by_hand(model, moves, machine, most=20_000):
    """The heads that are enough for a proof and how many pairs were met; None where no heads are."""
    (votes, bias), start = votes_by_hand(model), model.layers[0].x0.argmax(-1)
    loudest = np.argsort(-np.ptp(votes, axis=1).max(-1), kind="stable")
    for count in range(1, len(loudest) + 1):
        heads, others = loudest[:count], votes[loudest[count:]]
        least = (others[..., :, None] - others[..., None, :]).min(1).sum(0)  # the others at worst
        met = {(tuple(start[heads].tolist()), machine.initial): None}  # a dict keeps the order
        for states, q in (todo := list(met)):
            for token in range(machine.num_symbols):
                after = tuple(moves[token, heads, states].tolist()), int(machine.transitions[token, q])
                if after not in met and len(met) < most:
                    met[after] = None
                    todo.append(after)
        said = [(votes[heads, states].sum(0) + bias, machine.outputs[q]) for states, q in met]
        leads = [np.delete(logits[r] - logits + least[r], r).min() for logits, r in said if r >= 0]
        if len(met) < most and min(leads) > 1e-9:
            return tuple(heads.tolist()), len(met)
    return None


by_hand_too = verify_by_hand(snapped, moves, task.specification)
assert (by_hand_too is not None) == verdict.proved, "these lines are not the package's verify"

# %% tags=["varies", "nbval-ignore-output"]
print("heads that are enough, and pairs met:", by_hand_too, " the package's heads:", verdict.heads)

# %% [markdown]
# **Exercise 14** ★★ *(20 min, 4 points: to find which counters fit in a block)* A block of size $b$ whose
# columns are probability distributions can have the eigenvalue $e^{2\pi i/5}$ only if $b \ge 5$. Why, and what does
# that say about the smallest `softmax` model for Sum(5)? Train eight heads of size 4 and see (six starts, half a
# minute):
#
# ```python
# from dataclasses import replace
#
# small = replace(runs["softmax"].setting, options={**runs["softmax"].setting.options, "b": 4})  # h is 8
# tried = tables.train_run(replace(runs["softmax"], setting=small))
# tested = training.evaluate(tried.net, task, seed=101)
# print(tested.accuracy_seen, tested.accuracy_all)  # up to position 40, and past it
# ```
#
# Now take snapped heads, as many as you like in one layer. Which is the least block size $b$ for a counter modulo
# $M = 6$, 12, 30 and 360?

# %%
my_sizes = None  # exercise 14: four numbers, the least b for M = 6, 12, 30 and 360
check("02.14", my_sizes)

# %% [markdown]
# <!-- Exercise 02.14: from notebooks/lrnnbook/content/exercises/ch02.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint 1</summary>
#
# A head of $b$ states has periods up to $b$ only.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# Two heads with periods 4 and 3 know a sum modulo 12.
#
# </details>

# %% [markdown]
# ## Exercises
#
# You will find each exercise in its section. Stuck? `hint("02.14")`. Done? Compare with `solution("02.14")`.

# %% [markdown]
# <!-- The exercises of this chapter, listed by lrnnlab book build. -->
#
# 1 exercise, 4 points, about 20 minutes:
#
# | exercise | section | difficulty | minutes | points | you will learn |
# |---|---|---|---|---|---|
# | 14 | [5 Snap and verify](#5-Snap-and-verify) | ★★ | 20 | 4 | to find which counters fit in a block |
#
# <details><summary>Solution of 02.14</summary>
#
# (3, 4, 5, 9): the greatest prime power that divides $M$. A column-stochastic matrix has its
# eigenvalues of modulus 1 at roots of unity whose order divides the period of a cycle of its states (Frobenius), and
# an order of 5 needs a period of at least 5, so five states. With $b = 4$ no single head can count modulo 5; heads of other periods cannot
# make up for it, because a sum modulo 5 is not a function of sums modulo 2, 3 and 4. (Trained so, no start of the six knew length 40 when
# we tried it, and past 40 the last one only guessed.) In general, heads with one
# prime power each know the sum modulo all of them, so modulo $M$; and if no head has a period that is a
# multiple of $p^k$, the least common multiple of all periods is none either.
#
# </details>
