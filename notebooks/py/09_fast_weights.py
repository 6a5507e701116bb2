# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 09 · Fast weights
#
# **What we ask.** A linear Transformer keeps a matrix of *fast weights*, which every token changes by a learning rule. What can
# such a rule count? Paper 003 (Irie, Csordás and Schmidhuber, 2023) compares four: plain addition, the delta rule, the delta
# rule with feedback, and a matrix that changes itself. We prove what each of them can and cannot do, with explicit weights where
# something can, repair one remark, find what the delta rule loses, and train. At the end one sign opens the door to a later
# literature.
#
# *You need:* outer products, and section 1 of chapter 02. *It takes* about an hour to read, and a minute of computing.

# %%
from collections import Counter, defaultdict
from fractions import Fraction

import numpy as np
import torch

import lrnnlab
from lrnnlab import records
from lrnnlab.course import check, hint, predict, solution
from lrnnlab.tables import get, plan, run_all
from lrnnlab import show
from lrnnlab.show.fast_weight_figures import (
    BETAS,
    LONGEST,
    RULES,
    memory_film,
    memory_picture,
    memory_sentence,
)
from lrnnlab.show.fast_weight_widgets import (
    DEPTHS,
    KEYS,
    LEAKS,
    NOISES,
    RESET_LEAKS,
    STRENGTHS,
    leak_picture,
    leak_sentence,
    parity_picture,
    parity_sentence,
    reset_picture,
    reset_sentence,
)
from lrnnlab.show.fwp_figures import fwp_tables, negative_by_position
from lrnnlab.show.names import named
from lrnnlab.show.proof_widgets import steps
from lrnnlab.show.widgets import explore
from lrnnlab.algebra.counting_bits import bits_needed, one_layer, proposition_3_2
from lrnnlab.algebra.delta_counters import (
    labels,
    leak,
    legal_words,
    nothing_adds,
    reset_is_solved,
)
from lrnnlab.algebra.delta_spectrum import repeated_token, spectrum, stability
from lrnnlab.algebra.fast_weights import outputs, random_layer, states
from lrnnlab.algebra.layer_norm_remark import constant, proposition_3_3, repair
from lrnnlab.algebra.parity_by_reflection import below_two, first_error, parity, run
from lrnnlab.algebra.printed_examples import printed
from lrnnlab.algebra.rational_recurrence import BALANCE, proposition_3_1, rational_parts
from lrnnlab.algebra.recurrent_parity import e_lstm_parity, recurrent_parity, srwm_parity
from lrnnlab.algebra.token_counts import (
    configuration,
    depth_since_reset,
    proposition_3_4,
    reset_dyck_1,
)
from lrnnlab.scans import linear_scan
from lrnnlab.tasks import COUNTER_TASKS

EXPECTED = "0.1"
if not lrnnlab.__version__.startswith(EXPECTED):
    raise RuntimeError(
        f"this notebook needs lrnnlab {EXPECTED}, here is {lrnnlab.__version__}: run "
        "bootstrap.py"
    )
print(f"lrnnlab {EXPECTED}: ready")

# %% [markdown]
# ## 1 A memory that is written while it reads
#
# > **The paper, section 2.** "This can be viewed as a system of two NNs where one net (the slow net; Eq. 1) learns to 'program' the fast
# > net (Eq. 3) by generating its weight changes (Eq. 2)."
#
# The slow net makes a key $k_t$, a value $v_t$ and a query $q_t$ from each token (we write $k$ for the paper's $\phi(k)$). Three rules:
#
# $$\text{sum:}\quad W_t = W_{t-1} + v_t k_t^\top \qquad \text{delta:}\quad W_t = W_{t-1} + \beta_t\,(v_t - W_{t-1}k_t)\,k_t^\top
# \qquad y_t = W_t q_t$$
#
# and *Recurrent Delta*, where the slow net also sees $\tanh(y_{t-1})$. Addition piles up. The delta rule first asks what the memory says to
# $k_t$, and corrects it by a share $\beta_t$. Multiply out, and it is this book's sentence $x_t = A_t x_{t-1} + b_t$, for each row of $W$:
#
# $$W_t = W_{t-1}\,\underbrace{(I - \beta_t k_t k_t^\top)}_{A_t} + \beta_t v_t k_t^\top .$$
#
# The cell checks it: the rule as it stands, in fractions, against the scan of chapter 03.

# %%
layer = random_layer(np.random.default_rng(0), V=3, n=4, m=2)
word = (0, 2, 1, 1, 0, 2, 2, 1)
by_rule = np.array(states(layer, word, "delta")[1:], dtype=float)
k, v, beta = (
    torch.tensor(part[list(word)].astype(float))
    for part in (layer.keys, layer.values, layer.strengths)
)
A = (
    torch.eye(4, dtype=torch.float64) - beta[:, None, None] * k[:, :, None] * k[:, None, :]
)  # symmetric: rows or columns
b = beta[:, None, None] * v[:, :, None] * k[:, None, :]  # (T, m, n)
by_scan = linear_scan(A[None, :, None].expand(1, -1, 2, -1, -1), b[None], backend="reference")[
    0
].numpy()
print(f"rule and scan give the same W_t: {np.allclose(by_rule, by_scan, rtol=1e-9)}")

# %% [markdown]
# To see it, let the memory learn *which letter follows which*: the key is the letter before, the value this letter, the query this letter
# again, so that $y_t$ is a guess of the next one. (The picture's slow net sees two letters at once.)

# %%
show.figure(
    memory_film("abcabdab"),
    alt="Eight pictures of the memory in three rows, one after each letter of abcabdab. In "
        "the row of the sum the cell of b after a grows darker each time. In the row of the "
        "delta rule the column of b shows c first and d later, never both. In the row of the "
        "recurrent rule cells switch on and off.",
    caption="What to see, in the column of b: after c and then d, the sum keeps both; the "
            "delta rule (with beta = 1) has replaced c by d; the recurrent rule takes back "
            "what it said, so a pair that comes twice is gone.",
)  # fmt: skip

# %% [markdown]
# *Try:* `aaaaaaaa` under each rule. Which rule keeps the number of a's, which keeps whether there was one, which keeps the parity? Then the delta rule
# with $\beta = 2$.

# %%
memory_widget = explore(
    memory_picture,
    {
        "text": "abcabdabcabd",
        "rule": RULES,
        "beta": list(BETAS),
        "position": list(range(1, LONGEST + 1)),
    },
    initial={"rule": "delta", "beta": 1.0, "position": 6},
    sentence=memory_sentence,
    alt="The fast weights before a letter, what it writes, and the fast weights after it. A "
    "full frame is the column of the letter before, a dashed one that of this letter.",
)
memory_widget

# %% [markdown]
# ## 2 What addition knows
#
# > **Proposition 3.1.** "NLTs are not rationally recurrent."
# >
# > **Proposition 3.2.** "NLTs can recognise certain counter languages."
# >
# > **Proposition 3.4.** "The state complexity of a single-layer NLT is $O(\log(n))$".
#
# (An NLT divides $y_t$ by $z_t\cdot q_t$, where $z_t$ is the sum of the keys; a ULT does not.) The paper refers to other papers for the proofs. Here are ones that stand
# alone.
#
# **Proposition 3.1.** *Step 1.* One head with equal keys and values 1 for a, 0 for b says the share of a's. *Step 2.* On $a^i b^j$ that is
# $i/(i+j)$: a Cauchy matrix with its rows multiplied. *Step 3.* Its determinant is never 0, so its rank grows without end. *Step 4.* A weighted automaton with $N$ states has a
# table $f(uv)$ of rank at most $N$. So none computes it. $\blacksquare$

# %%
steps(proposition_3_1())

# %% [markdown]
# **Break a hypothesis.** Drop the division. The output is then #a − #b, and the proof falls at its first step:

# %%
broken = proposition_3_1(f=lambda text: outputs(BALANCE, text)[-1, 0])
print("steps that hold without the division:", [step.holds for step in broken.steps])
steps(rational_parts())

# %% [markdown]
# So Appendix C.1's "these proofs can be directly adopted for ULTs" needs an addition: what adds up is rational, and only a *non-linearity* on it, such as "equal to
# 0", is not.
#
# **Proposition 3.4, made exact.** Without positions a sum does not see an order. One layer's output is a function of *how often each token occurred, and of the last token*:
# $|\Sigma|\binom{n+|\Sigma|-2}{|\Sigma|-1}$ possibilities, so $(|\Sigma|-1)\log_2 n + O(1)$ bits; and weights in general position tell all of them apart.

# %%
steps(proposition_3_4())

# %% [markdown]
# **Proposition 3.2** holds, and counting is what addition is good at. Two remarks. It takes about $\log_2 n$ bits, whoever does it, so "finite precision" (the paper, section 1)
# cannot mean a fixed number of them; and divided by $n$ the margin shrinks as $1/n$. And to see that *no prefix* was negative takes a second layer:

# %%
steps(bits_needed())
steps(proposition_3_2())
print("with one layer:", [step.holds for step in proposition_3_2(recognise=one_layer).steps])

# %% [markdown]
# ## 3 What it cannot: $(aa)^*$
#
# > **Proposition 3.3.** "NLTs can not recognise certain regular languages." *Proof.* "[...] NLTs can not recognise the regular language $(aa)^*$."
#
# An average of equal things is that thing: on $aaa\cdots$ every layer says the same at every step. That is the whole proof, and it needs that nothing else stands in the string.
# **Break it:** with a token in front (BOS) outputs do move, though monotonically, so one layer still cannot see even lengths.

# %%
steps(proposition_3_3())
print("with BOS:", [step.holds for step in proposition_3_3(bos=True).steps])

# %% [markdown]
# Not normalised, the attention's output on $a^t$ is $t\,c$. Appendix C.1:
#
# > "Nevertheless, if we assume an extra layer normalisation layer following the self-attention layer (which is typically the case in practice), the
# > constant-output argument also holds for unnormalised linear attention."
#
# $\mathrm{LN}(t\,c)$ is constant only if the norm's $\varepsilon$ is 0 *and* nothing was added before, and in practice neither is so: blocks have a residual, and the released
# ones put the norm before the attention, not behind it.

# %%
for placement, epsilon in (("direct", 0.0), ("direct", 1e-5), ("post", 0.0), ("none", 0.0)):
    last = constant(placement, epsilon).steps[-1]
    print(f"norm {placement:6s} epsilon = {epsilon:g}: constant: {last.holds}")

# %% [markdown]
# **The repair, for one layer.** Let $r(t)$ be the difference of two logits behind a feed-forward part with $m$ ReLU units. *Step 1.* A unit's input is
# $(p + qt)/\sqrt{Q(t)}$ plus a bias, $Q$ a quadratic: at most two zeros, so at most $2m+1$ pieces. *Step 2.* On a piece $r$ has at most two zeros as well (four with the released
# norm). *Step 3.* So the answer changes at most $4m+2$ (or $8m+4$) times on all of $a^1, a^2, \dots$, and $(aa)^*$ wants a change at every step. $\blacksquare$ (Deeper unnormalised nets are
# not decided here.)

# %% tags=["nbval-ignore-output"]
for placement in ("post", "pre"):
    steps(repair(placement, networks=40))

# %% [markdown]
# ## 4 The delta rule: one eigenvalue
#
# $I - \beta kk^\top$ has the eigenvalue 1 on everything orthogonal to $k$, and $1 - \beta|k|^2$ along $k$.
#
# > **The paper, section 2.** "With the delta rule, $\phi$'s output elements need to be positive and sum up to one (e.g., we use softmax) for stability."
#
# *Step 1.* $\det(x - I + \beta kk^\top) = (x-1)^{n-1}(x - 1 + \beta|k|^2)$. *Step 2.* If $k \ge 0$ sums to one, $1/n \le |k|^2 \le 1$. *Step 3.* So the eigenvalue lies in
# $[1-\beta,\, 1 - \beta/n]$: stable, and **positive** for $\beta < 1$. $\blacksquare$ The condition is enough, and more than is needed: $0 \le \beta|k|^2 \le 2$ is what stability takes.

# %%
steps(spectrum())
steps(stability())
for feature_map, strength in (("unit", 0.9), ("elu", 0.9), ("softmax", 1.5)):
    print(
        f"{feature_map}, beta = {strength}:",
        [step.holds for step in spectrum(feature_map, strength).steps],
    )

# %% [markdown]
# What a positive eigenvalue costs. On one token, again and again, the memory says $W_t k = (1 - (1-\beta|k|^2)^t)\,v$: monotone in $t$. So one layer of DeltaNet cannot do $(aa)^*$, and
# not parity (look at strings of 1s):

# %%
steps(repeated_token())
print(
    "with beta = 4, so beta |k|^2 = 2:",
    [step.holds for step in repeated_token(beta=Fraction(4)).steps],
)

# %% [markdown]
# Here is a counter: a 1 writes $v = \frac12$ with strength $\beta$, a 0 writes nothing. Its state $w$ goes to $\frac12 + (1-\beta|k|^2)(w - \frac12)$. Opened at $\beta = 1.9$, with a little noise:

# %%
show.figure(
    parity_picture(1.9, "unit", 1e-2, "1101"),
    alt="Left, a line with the eigenvalues 1 and minus 0.9, both in the stable band. Right, "
        "the counter's state jumps about one half, nearer with every 1, and is wrong from "
        "about token 40.",
    caption="What to see: as long as the eigenvalue is negative the state changes sides at "
            "every 1, which is parity; as long as it is above -1 it forgets, and noise wins.",
)  # fmt: skip

# %% [markdown]
# *Try:* $\beta = 2$ and all noises. Then $\beta = 2$ with a softmax key: why is parity gone? Then $\beta = 2.1$.

# %%
parity_widget = explore(
    parity_picture,
    {"beta": list(STRENGTHS), "key": list(KEYS), "noise": list(NOISES), "bits": "1101"},
    initial={"beta": 1.9, "noise": 1e-2},
    sentence=parity_sentence,
    alt="The two eigenvalues of I - beta k k^T on a line, and the state of a parity counter "
    "over 60 tokens.",
)
parity_widget

# %% [markdown]
# ## 5 What the delta rule is for: the reset
#
# > **The paper, section 4.2.** "Here we use reset Dyck-1 to illustrate its benefits. Bhattamishra et al. (2020a) prove that a one-layer self-attention network cannot recognise reset
# > Dyck-1 as it has no mechanism to rewrite memory. As shown in Table 2, the delta-rule by itself allows LTs to recognise this language."
#
# Reset Dyck-1: brackets, and a token 1 that forgets all that is open; the label says whether a bracket is open *since the last 1*. Proposition 3.4 settles the sum: `((1()` and `1((()` have equal counts
# and equal last tokens, so a layer of addition gives them the same output, but their depths are 0 and 2. The delta rule forgets in one write: $\beta = 1$, $v = 0$ on the counter's key.

# %%
steps(reset_dyck_1())
steps(reset_is_solved())
print(
    "two words that differ in counts:",
    [step.holds for step in reset_dyck_1(pair=("((1()", "1(()(")).steps],
)

# %% [markdown]
# How much can *any* function of counts and last token get? Take all legal words of up to 8 tokens, sort them by what a layer of addition can see, and let an oracle give each group its
# commonest label:

# %%
seen = defaultdict(Counter)
words = legal_words(8)
for text in words:
    seen[configuration(tuple(text))][depth_since_reset(text) > 0] += 1
best = sum(max(found.values()) for found in seen.values())
wrong = sum(
    labels(text, Fraction(1, 1000))[-1] != (depth_since_reset(text) > 0)
    for text in legal_words(6)
)
print(
    f"{len(words)} words in {len(seen)} groups: at best {best / len(words):.1%} of the "
    "labels, by the sum"
)
print(f"wrong by the delta rule with a leak of 1/1000, words of up to 6 tokens: {wrong}")

# %% [markdown]
# So an addition that cannot solve the task may still give nineteen labels of twenty. Only whole strings tell. (And explicit weights tell what *can* be learned; how fast it is learned, Table 2 in section 8.)

# %%
show.figure(
    reset_picture("((()1(())1((1()", 10, -1),
    alt="Above, the depth since the last 1, a counter of the delta rule that follows it down "
        "to 0 at each 1, and a sum that does not. Below, labels: the sum is wrong at several "
        "places, the delta rule at none.",
    caption="What to see: at a 1 the delta rule is at 0 at once. The sum can only add "
            "something, here -1, whatever is open.",
)  # fmt: skip

# %% [markdown]
# *Try:* `((1()` and `1((()`. Then find a string on which the sum is right everywhere; and one on which no value for "added at 1" helps.

# %%
reset_widget = explore(
    reset_picture, {"text": "((()1(())1((1()", "over": RESET_LEAKS, "added": [0, -1, -2, -3]},
    initial={"over": 10, "added": -1}, sentence=reset_sentence,
    alt="Depth since the reset, the two counters, and their labels.",
)  # fmt: skip
reset_widget

# %% [markdown]
# ## 6 What it loses: exact counting
#
# The counter in the last picture leaks, and it must. With $0 < \beta|k|^2 < 2$ a write is a contraction along $k$, at 2 a reflection, at 0 nothing: **never a translation**, so no token can add 1.
# What is left is $w \mapsto (1-e)\,w \pm 1$, with a leak $e$. After $m$ opening and $m$ closing brackets it says
#
# $$-\frac{(1 - (1-e)^m)^2}{e} \qquad\text{and not } 0.$$
#
# *Step 1.* Up: $\sum_{i<m}(1-e)^i = (1-(1-e)^m)/e$. *Step 2.* Down: multiplied by $(1-e)^m$, less the same sum. *Step 3.* Together the formula; it passes $-\frac12$ near $m = 1/\sqrt{2e}$. $\blacksquare$

# %%
steps(leak())
print(
    "with another formula, -m^2 e:",
    [step.holds for step in leak(formula=lambda e, m: -m * m * e).steps],
)

# %% [markdown]
# And no other weights do better: states after $(^m$ and $(^{m+2}$ come together, and what has come together no write takes apart.

# %%
steps(nothing_adds())
print("with addition:", [step.holds for step in nothing_adds(rule="sum").steps])

# %%
show.figure(
    leak_picture(100, 20),
    alt="Left, depth and counter on 20 opening and 20 closing brackets: the counter ends "
        "below 0. Right, how far below 0 it ends against the depth, dots on the formula's "
        "line, which crosses one half at depth 8.",
    caption="What to see: with a leak of 1/100 the dots pass the dashed line at m = 8. From "
            "there on )) is taken for more than was open.",
)  # fmt: skip

# %%
leak_widget = explore(
    leak_picture,
    {"over": LEAKS, "m": list(DEPTHS)},
    initial={"over": 100, "m": 20},
    sentence=leak_sentence,
    alt="A leaking counter against the true depth, and where it ends for every depth.",
)
leak_widget

# %% [markdown]
# So the paper's 100 % for DeltaNet on Dyck-1, on strings of up to 100 brackets, is a result about **bounded depth**: a leak of $1/10{,}000$ is enough for depth 50, as section 5 checked.
#
# | rule | counts exactly | resets | parity |
# |---|---|---|---|
# | sum | yes | no | no |
# | delta, $\beta\in(0,1)$ | no, to a depth | yes | no |
# | delta, $\beta = 2$ | no | yes | yes (section 9) |
# | Recurrent Delta, SRWM | ? | yes | yes (section 7) |
#
# ## 7 Feedback: parity
#
# > **The paper, abstract.** "recurrent FWPs and self-referential weight matrices successfully overcome certain limitations of the LT, e.g., allowing for generalisation on the parity problem."
#
# Explicit weights. **Recurrent Delta**, one number: a 1 writes $1 - \tanh(y_{t-1})/\tanh 1$ with $\beta = \sigma(40)$, so 0 becomes 1 and 1 becomes 0; a 0 writes nothing. The pair $\{0, 1\}$ *attracts*: errors die out, where
# the delta rule's at best persist. **SRWM**, four columns: its softmaxes pick single columns, and the rule then says "copy column $j$ into column $i$"; column 1 alternates between two programs.

# %% tags=["nbval-ignore-output"]
steps(recurrent_parity(T=20_000))
steps(srwm_parity(T=5000))

# %%
print(
    "Recurrent Delta without feedback:",
    [step.holds for step in recurrent_parity(feedback=0.0, T=2000).steps],
)
print(
    "with soft gates, sigmoid(3):     ",
    [step.holds for step in recurrent_parity(gate=3.0, T=2000).steps],
)
print(
    "SRWM with soft choices:          ",
    [step.holds for step in srwm_parity(b=2.0, T=500).steps],
)

# %% [markdown]
# Is "element-wise" the limit, then? The paper calls its e-LSTM "computationally limited", and its own Table 1 has the e-LSTM at 100/100 on parity. One number does it, $c \mapsto \tanh(0.6 - 4c)$. What a Quasi-RNN lacks is not
# the other numbers, but that what it writes depends on $c$ at all:

# %% tags=["nbval-ignore-output"]
steps(e_lstm_parity())

# %%
print(
    "gates that do not see c:",
    [step.holds for step in e_lstm_parity(weight=0.0, T=1000).steps],
)

# %% [markdown]
# Explicit weights say that it *can*. Whether it is *learned* is another question, so we train. The recipe is ours (8 numbers, two heads, short strings first); the paper's best
# configuration has 4 numbers and one head, and in section 8 the recorded row has it. (Predict: strings have 2 to 40 tokens in training. How many of the strings of 51 to 100 will be right in all positions?)

# %%
feedback = list(
    run_all(plan("fwp/table1", tasks=["parity"], rows=["recurrent_delta"], seeds=[0]))
)
for found in feedback:
    last = found["metrics"]["last"]
    print(
        f"Recurrent Delta, seed {found['seed']}: all of Bin0 right: {last['bin0'] == 1}; of "
        f"Bin1: {last['bin1'] == 1}"
    )

# %% [markdown]
# ## 8 Tables 1 and 2
#
# Strings are positive ones only; every position has a label; **a string counts if all its positions are right**. Bin0 are the sizes of training, Bin1 the next. Mind the sizes: $(aa)^*$ has 25 strings in each bin, so its
# accuracies are multiples of 4 %.

# %%
show.table(
    [
        {
            "task": name,
            "strings in Bin0": task.count(task.bin(0)),
            "in Bin1": task.count(task.bin(1)),
        }
        for name, task in (
            (name, COUNTER_TASKS[name]()) for name in ("aa", "abab", "anbn", "anbncn")
        )
    ],
    caption="Distinct strings there are. The other tasks have more than anybody will sample.",
)

# %% [markdown]
# The paper prints the best of 1,458 configurations for each cell (144 for the LSTMs), chosen on the test bins, one seed. Ours have *one* configuration, several seeds, and 800 to 2,000 batches in place of the paper's up to 187,500. Two scores are shown: of the
# last weights, and below of those that the test bins would choose, as the paper does. (`lrnnlab reproduce fwp/table1 --budget desk` prints them, and a third, chosen on held-out strings.) A low number of ours therefore says "not learned so fast, or not so well", and does
# not contradict the paper.

# %% tags=["nbval-ignore-output"]
desk = {name: records.read_all(records.data_folder() / "records" / "fwp" / name / "desk")
        for name in ("table1", "table2", "negative")}  # fmt: skip


def percent(found, score="last"):
    """Whole strings right in Bin0/Bin1: the mean over seeds, and (the range of Bin1)."""
    if not found:
        return None
    bin0, bin1 = (
        [100 * record["metrics"][score][name] for record in found] for name in ("bin0", "bin1")
    )
    middle = f"{np.mean(bin0):.0f}/{np.mean(bin1):.0f}"
    return (
        middle if min(bin1) == max(bin1) else f"{middle} ({min(bin1):.0f} to {max(bin1):.0f})"
    )


def beside(name, tasks, live=()):
    """Rows of a table: the paper's Bin0/Bin1, ours as recorded and live."""
    table = get(f"fwp/{name}")
    for row in table.rows:
        line = {"model": named(row)}
        for task in tasks:
            cell = [
                record
                for record in desk[name]
                if (record["task"], record["row"]) == (task, row)
            ]
            line[f"{named(task)}, paper"] = "{:g}/{:g}".format(
                *table.paper[row][table.tasks.index(task)]
            )
            line[f"{named(task)}, recorded"] = percent(cell)
            if any(found["task"] == task for found in live):
                line[f"{named(task)}, live"] = percent(
                    [found for found in live if (found["task"], found["row"]) == (task, row)]
                )
        yield line


for name, tasks in (
    ("table1", ("parity", "aa", "abab")),
    ("table1", ("anbn", "anbncn", "shuffle_2")),
    ("table2", ("dyck_1", "reset_dyck_1")),
):
    seeds = sorted({record["seed"] for record in desk[name] if record["task"] in tasks})
    show.table(
        beside(name, tasks, live=feedback if name == "table1" else ()),
        caption="Whole strings of Bin0/Bin1 in percent, last weights. Recorded by lrnnlab "
        f"reproduce fwp/{name} --budget desk, seeds {', '.join(map(str, seeds))}: "
        "mean (range of Bin1). The paper: the best of its search.",
    )

# %% [markdown]
# And chosen as the paper chooses, by the best mean of both *test* bins among all looks at a run (a look every hundred steps). The difference is what selection on the test set gives away:

# %% tags=["nbval-ignore-output"]
chosen = []
for row in get("fwp/table1").rows:
    line = {"model": named(row)}
    for task in (*get("fwp/table1").tasks, *get("fwp/table2").tasks):
        found = [
            record
            for record in (*desk["table1"], *desk["table2"])
            if (record["task"], record["row"]) == (task, row)
        ]
        line[named(task)] = percent(found, "by_test")
    chosen.append(line)
show.table(chosen, caption="Recorded: Bin0/Bin1 of the weights that the test bins choose.")

# %% tags=["nbval-ignore-output"]
show.figure(
    fwp_tables(
        [*desk["table1"], *desk["table2"]],
        live={("parity", "recurrent_delta"): [r["metrics"]["last"]["bin1"] for r in feedback]},
    ),
    alt="For each of eight tasks and seven models: the paper's whole-string accuracy on "
    "longer strings as a grey diamond, the recorded ones in blue, the live one on parity "
    "in vermilion.",
    caption="What to see: who is at 100 % on the three regular languages (first panels), and "
    "who on those that count. Grey and blue differ in budget and in how the net was "
    "chosen.",
)

# %% [markdown]
# Is a cell a matter of what the rule *can* do, or of how fast it is learned? The proofs decide some of them:
#
# | cell | can it be right at all lengths? |
# |---|---|
# | linear on parity, $(aa)^*$, $(abab)^*$ | no, one layer (section 3; look at the 1s, and at the b's) |
# | DeltaNet on parity, $(aa)^*$ | no, one layer (section 4) |
# | linear on reset Dyck-1 | no, one layer (section 5) |
# | DeltaNet on anything that counts | not exactly, only to a depth (section 6) |
# | Recurrent Delta and SRWM on parity | yes (section 7) |
#
# ## 9 One sign: the door to what came next
#
# Section 4 had $\beta = \sigma(b) < 1$, an eigenvalue in $(0, 1)$. Let $\beta = 2\sigma(b)$, keys of length 1, and it lies in $(-1, 1)$. Nothing else changes: no feedback, still a linear scan, still in parallel over time.
# (Grazzi and others, 2024, showed what this does.)
#
# **Parity in one layer.** *Step 1.* $W_0 = 0$; a 1 has $k = e_1$, $v = \frac12$, $\beta = 2$: $w \mapsto w + 2(\frac12 - w) = 1 - w$. *Step 2.* A 0 writes elsewhere. *Step 3.* So $w$ is the parity, exactly, at every length. $\blacksquare$

# %%
steps(parity(T=20_000))
print("with beta = 1.9:", [step.holds for step in parity(beta=Fraction(19, 10), T=2000).steps])
print("with v = 0:     ", [step.holds for step in parity(v=Fraction(0), T=2000).steps])

# %% [markdown]
# The interval is open, though: with $\beta < 2$ the distance from $\frac12$ shrinks by $|1-\beta|$ at every 1. (Two surprises of floats: $2\sigma(b)$ *is* 2 in float32 from $b = 17$ on; and rounding alone can keep a parity alive.)

# %% tags=["nbval-ignore-output"]
steps(below_two())

# %% [markdown]
# **Two writes a token** (DeltaProduct; Siems and others, 2025): two reflections are a rotation, by twice the angle between their keys. So keys at an angle of $\pi/M$ count modulo $M$, and with $M = 5$ that is chapter 01's Sum(5):

# %%
for M in (3, 5, 7):
    first, second = np.array([1.0, 0.0]), np.array([np.cos(np.pi / M), np.sin(np.pi / M)])
    turn = (np.eye(2) - 2 * np.outer(second, second)) @ (
        np.eye(2) - 2 * np.outer(first, first)
    )
    powers = [np.allclose(np.linalg.matrix_power(turn, j), np.eye(2)) for j in range(1, M + 1)]
    print(f"M = {M}: the first power that is the identity: {powers.index(True) + 1}")

# %% [markdown]
# Trained, live: the same net twice, but for the factor 2. (Predict both numbers.)

# %% tags=["nbval-ignore-output"]
doors = {"beta1_nh1": "beta in (0, 1)", "beta2_nh1": "beta in (0, 2)"}
door = list(
    run_all(plan("fwp/negative", tasks=["parity"], rows=list(doors), seeds=[0, 1, 2, 3]))
)
scores = {
    row: [found["metrics"]["last"]["bin1"] for found in door if found["row"] == row]
    for row in doors
}
for row, name in doors.items():
    print(
        f"{name}: all strings of 51 to 100 right: {sum(score == 1 for score in scores[row])} of "
        f"{len(scores[row])} seeds"
    )

# %%
near = all(
    abs(found["metrics"]["symbols"] - 0.5) < 0.1 for found in door if found["row"] == "beta1_nh1"
)
print(
    f"beta in (0, 1), every seed: none of these strings right: {max(scores['beta1_nh1']) < 0.01}; "
    f"single answers near chance: {near}\nbeta in (0, 2), the best seed: more than half of them "
    f"right: {max(scores['beta2_nh1']) > 0.5}"
)


# %% tags=["nbval-ignore-output"]
def far(found):
    """Bin1, and single answers at the far end."""
    ends = [100 * record["by_position"][-1] for record in found]
    return percent(found), f"{np.mean(ends):.0f} ({min(ends):.0f} to {max(ends):.0f})"


lines = []
for source, found in (("recorded", desk["negative"]), ("live", door)):
    for task, row in dict.fromkeys((record["task"], record["row"]) for record in found):
        whole, end = far(
            [record for record in found if (record["task"], record["row"]) == (task, row)]
        )
        lines.append(
            {
                "task": task,
                "source": source,
                "beta in": f"(0, {row[4]})",
                "writes": int(row[-1]),
                "Bin0/Bin1": whole,
                "single answers at 400": end,
            }
        )
show.table(
    lines,
    caption="In percent: whole strings, and single answers at positions 391 to 400; mean "
            "(range). Recorded by lrnnlab reproduce fwp/negative --budget desk.",
)

# %% [markdown]
# Right up to 100 tokens, in all strings, is not right for ever: look at the last column, and at how it falls.

# %% tags=["nbval-ignore-output"]
show.figure(
    negative_by_position(desk["negative"]),
    alt="Right answers by position up to 400 on parity, (aa)*, Sum(5) and S3 for beta below 1 "
        "or below 2 and one or two writes a token. With beta below 1 all stay at the level of "
        "a constant answer.",
    caption="Recorded. What to see: orange (beta below 1) never leaves the dashed line. Green "
            "does, with one write on parity and (aa)*, with two on Sum(5) and S_3; and falls "
            "again far beyond the grey line: an eigenvalue near -1 and not at it is one reason.",
)  # fmt: skip

# %% [markdown]
# ## 10 Where the paper says something else
#
# | the paper | what we found |
# |---|---|
# | "these proofs can be directly adopted for ULTs" (C.1) | for Proposition 3.1 only behind a non-linearity; before it a ULT is rational (section 2) |
# | with a layer norm "the constant-output argument also holds" (C.1) | only for $\varepsilon = 0$ and without a residual; for one layer the conclusion can be saved (section 3) |
# | $\phi$ must be "positive and sum up to one [...] for stability" | enough, not needed: $\beta\lvert k\rvert^2 \le 2$ is (section 4) |
# | "(e.g., we use softmax)" | in the released code DeltaNet has $(\mathrm{elu}+1)$ over its sum; softmax is in Recurrent Delta and SRWM |
# | Eq. 9 concatenates $x_t$ and all of $y_{t-1}$ | released: each head sees its own $y_{t-1}$ only |
# | Eq. 10 to 12: one learning rate $\beta_t$ | released: four, for $y$, $q$, $k$ and $\beta$; and its GPU kernel reads only min(4, head size) of them, by our reading |
# | Tables 4 and 5: the best configurations | hidden size 4 and 8 heads are not in the search space of Table 3 |
# | Table 1: Bin1, "longer sequences", is the test | it also chose the net and ended the training; one seed |
# | 100 % on Dyck-1, DeltaNet | to a depth (section 6) |
# | the e-LSTM is "computationally limited" | not on parity, by its own Table 1 (section 7) |
# | Shuffle-2: "([ ])" is coded 2320 (C.2) | 1310 by the legend; 2320 is `[()]`. And TFFF is the parity of 0100 (below) |
# | Shuffle-2, "a mixture of two Dyck-1 languages" | the published generator makes *nested* strings only |

# %%
steps(printed())

# %% [markdown]
# ## 11 What this does not show
#
# * **Not that one-layer limits hold for deeper nets.** Proposition 3.3 is for NLTs of any depth; the repair of section 3, and sections 4 to 6, are for one layer.
# * **Not that Recurrent Delta or SRWM count exactly.** Table 1 says 100 % up to length 300; we prove nothing for them beyond parity.
# * **Not the paper's numbers again.** Ours have a hundredth of the batches, or less, and no search. Where ours are lower, we do not know which of the two is why.
# * **Not that $\beta \in (0, 2)$ is free.** An eigenvalue near $-1$ is not $-1$; lines fall far out in the last picture, and we did not look into the nets to prove that this is why.
# * **Nothing about language.** Positive strings of eight small languages.
#
# ## 12 Exercises
#
# 30 points. Where a cell can check an answer, fill it in and run it; `hint("09.1")` and `solution("09.1")` help with these.
#
# 1. ★ *(5 min, 3 points: how deep a leaking counter counts)* **Predict.** A counter with leak $e = 1/200$. At which depth is it wrong for the first time after $(^m)^m$? Write it down, then use section 6's formula.

# %%
my_depth = None  # a whole number
check("09.1", my_depth)

# %% [markdown]
# 2. ★★ *(10 min, 4 points: what a sum cannot tell apart)* **Break the hypothesis.** Give two legal words of *four* tokens over `( ) 1` which one layer of addition cannot tell apart though their labels differ. (Section 5 has two of five.)

# %%
my_words = None  # two texts, for example ("((1)", "1(()")
check("09.2", my_words)

# %% [markdown]
# 3. ★ *(10 min, 4 points: why the delta rule is cheap)* **Code.** One step of the delta rule, `(W, k, v, beta) -> W`, without the matrix $I - \beta kk^\top$: only vectors, and one outer product.

# %%
my_step = None  # a function of W (m, n), k (n,), v (m,), beta
check("09.3", my_step)

# %% [markdown]
# 4. ★ *(5 min, 3 points: how fast an eigenvalue near -1 forgets)* **Predict.** $\beta = 1.99$ and noise $10^{-3}$. After about how many 1s is parity lost? (Within 5 %.)

# %%
my_ones = None  # a number
check("09.4", my_ones)

# %% [markdown]
# 5. ★★ *(15 min, 4 points: why a reflection needs something to reflect)* **A proof step.** With $W_0 = 0$ one layer of the delta rule reads $a^t$, and its output alternates between two values. Prove that one of them is 0. What must a token before the string do, and what must $a$ do, so that they are $+1$ and $-1$? (All keys, and the query, are one unit vector.)

# %%
my_tokens = None  # ((beta, v) of the token before, (beta, v) of a)
check("09.5", my_tokens)

# %% [markdown]
# 6. ★★ *(10 min, 4 points: how two reflections count)* Two unit keys in the plane whose two reflections ($\beta = 2$ each) count modulo 3.

# %%
my_keys = None  # two pairs of numbers
check("09.6", my_keys)

# %% [markdown]
# 7. ★★★ *(30 min, 5 points: how much a layer of addition can remember)* **A proof step.** Derive the number of configurations, and write it as a function of $n$ and $|\Sigma|$. Section 2 has the formula. Where does the proof of Proposition 3.4 break for two layers?

# %%
my_configurations = None  # a function of (n, number of tokens)
check("09.7", my_configurations)


# %% [markdown]
# 8. ★ *(5 min, 3 points: that rounding can keep what exact numbers lose)* **Predict** before you run: section 9's counter in float32, without noise, moves from $w$ to $w + \beta(\frac12 - w)$ at every 1, and below $\beta = 2$ it should come ever nearer to $\frac12$. Of $\beta = 1.5, 1.6, 1.7, 1.8, 1.9$, how many still tell the parity of 20,000 ones?

# %%
def kept_alive():
    ones, strengths = np.ones(20_000, int), (1.5, 1.6, 1.7, 1.8, 1.9)
    lost = {beta: first_error(run(ones, beta), ones) for beta in strengths}
    said = ", ".join(f"β = {beta}: {at or 'never'}" for beta, at in lost.items())
    return list(lost.values()).count(None), f"Ones until parity is lost, {said}"


predict("09.8", kept_alive)

# %% [markdown]
#
# <details><summary>Hints</summary>
#
# 1: $1/\sqrt{2e} = 10$, and a little more. 2: the 1 must stand in one of them where it forgets something. 4: $\ln(1/(2\cdot 10^{-3}))$ over $-\ln 0.99$. 5: what is the output after no token, and what does a map of order two do twice? 6: half the turn.
# 7: fix the last token; it occurs at least once. What does the second layer add up? 8: which numbers does float32 have next to one half?
#
# </details>
#
# <details><summary>Solutions</summary>
#
# **1.** 11: $(1 - 0.995^{11})^2\cdot 200 = 0.57$, and for 10 it is 0.48.
#
# **2.** `(1()` and `1(()`: counts 2, 1, 1, last token `)`; depths 0 and 1.
#
# **3.** `lambda W, k, v, beta: W + beta * np.outer(v - W @ k, k)`.
#
# **4.** $\ln 500/0.01005 = 618$.
#
# **5.** The output's state goes by one affine map, $w \mapsto g\,w + c$, with $g = 1 - \beta|k|^2$ along the key. If it alternates, $g = -1$: $w \mapsto c - w$, whose orbit from $0$ is $0, c, 0, c, \dots$ Read with any query it is $0$ and one other value. A token before the string
# that sets $w$ to $1$ ($\beta = 1$, $v = 1$, unit key) and then $v = 0$, $\beta = 2$: $w \mapsto -w$.
#
# **6.** $(1, 0)$ and $(\cos 60°, \sin 60°) = (\frac12, \frac{\sqrt 3}2)$: together a turn by 120°.
#
# **7.** With the last token fixed, one of its occurrences is given; the other $n - 1$ are spread over $|\Sigma|$ kinds: $\binom{n-1+|\Sigma|-1}{|\Sigma|-1}$, times $|\Sigma|$ last tokens. In the second layer keys and values are made of the first layer's outputs, which depend on the
# counts *so far*: the sum runs over prefixes, and the order comes in.
#
# </details>
