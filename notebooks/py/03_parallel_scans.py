# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 03 · Parallel scans
#
# **What we ask.** How fast can $x_t = A_t\,x_{t-1} + b_t$ run? It looks sequential, step after step. Paper 000 (Fan, Chi and
# Rudnicky, 2024) runs it as a tree, in $\lceil\log_2 L\rceil$ levels, and then finds (section 4.5) that at test time this was
# no faster. We build the tree, prove it, count what it costs, and measure it: why not, and what is faster?
#
# *You need:* matrices, and what a logarithm is. *It takes* about an hour to read, and a minute and a half of computing.

# %%
import math
import statistics
import time

import numpy as np
import torch

import lrnnlab
from lrnnlab import records, scans
from lrnnlab.bench.cases import Case
from lrnnlab.course import check, hint, predict, solution
from lrnnlab.tables import get, lrnn_speed
from lrnnlab import show
from lrnnlab.show.bench_figures import (
    PARTS,
    found,
    memory_line,
    origin,
    recorded,
    rows,
    times_ours,
    times_table,
)
from lrnnlab.show.proof_widgets import steps
from lrnnlab.show.scan_figures import scan_schedule, schedule_sentence, speed_ratios
from lrnnlab.show.scan_widgets import (
    CHAINS,
    LENGTHS,
    PROCESSORS,
    SIZES,
    race_sentence,
    scan_race,
    tree_counts,
)
from lrnnlab.show.widgets import explore
from lrnnlab.algebra.doubling import (
    matrix_products,
    pscan_cost,
    pscan_equals_loop,
    pscan_schedule,
    split_level,
)
from lrnnlab.scans import linear_scan, paper, token_scan
from lrnnlab.scans.convolution import long_conv, vandermonde
from lrnnlab.scans.delta import delta_rule

EXPECTED = "0.1"
if not lrnnlab.__version__.startswith(EXPECTED):
    raise RuntimeError(f"this notebook needs lrnnlab {EXPECTED}, here is "
                       f"{lrnnlab.__version__}: run bootstrap.py")
scans.warm()
print(f"lrnnlab {EXPECTED}: ready")

# %% [markdown]
# ## 1 Why it can be a tree
#
# One step is a map $f_t(x) = A_t x + b_t$. Two steps are again such a map, with the pair
#
# $$(A_2, b_2) \circ (A_1, b_1) = (A_2 A_1,\; A_2 b_1 + b_2).$$
#
# Composing maps is **associative**: $(f_3 \circ f_2) \circ f_1 = f_3 \circ (f_2 \circ f_1)$. So brackets may be set as we
# like, and what lies in different brackets may be worked out at the same time. Nothing more is behind any parallel scan.
# The cell checks it in whole numbers, where equal means equal.

# %%
draw = torch.Generator().manual_seed(0)


def whole(*shape, most=3):
    return torch.randint(-most, most + 1, shape, generator=draw)


def apply(A, x):
    return (A @ x[..., None])[..., 0]


def after(second, first):
    (A2, b2), (A1, b1) = second, first
    return A2 @ A1, apply(A2, b1) + b2


three = [(whole(4, 4), whole(4)) for _ in range(3)]
left = after(after(three[2], three[1]), three[0])
right = after(three[2], after(three[1], three[0]))
print("both bracketings give the same pair: "
      f"{all(torch.equal(p, q) for p, q in zip(left, right))}")
start = whole(4)
one_by_one = start
for A, b in three:
    one_by_one = A @ one_by_one + b
print(f"and it takes x_0 to x_3: {torch.equal(left[0] @ start + left[1], one_by_one)}")

# %% [markdown]
# ## 2 The paper's scan, level by level
#
# > **The paper, section 3.4.** "The idea of PScan is to group *similar* operations together, run them in parallel, and deliver
# > the same results as those in the sequential [...] for loop mode." "Generally speaking, a length-L generation takes
# > $\lceil\log_2 L\rceil$ steps using PScan."
#
# Put $x_0$ in front of the inputs, so that there are $L = T + 1$ things in a row (and zeros behind, up to a power of two). At
# level $l$ the row is cut into groups of $2^{l+1}$; the second half of each group receives *a product of matrices times the
# last element of the first half*. Here it is for $L = 8$, drawn from the code that runs:

# %%
show.figure(
    scan_schedule(8),
    alt="The three levels of a parallel scan of length 8: the first applies A1, A3, A5, A7; "
        "the second A2, A3A2, A6, A7A6; the third A4, A5A4, A6A5A4, A7A6A5A4, each to the "
        "last state of the run before.",
    caption="Figure 1 of the paper, from our code. What to see: a filled circle is a finished "
            "state. There is 1 before the first level, then 2, 4, 8; and the products at the "
            "arrowheads get longer.",
)  # fmt: skip

# %%
schedule_widget = explore(
    scan_schedule, {"L": [2, 4, 8, 16]}, initial={"L": 16}, sentence=schedule_sentence,
    alt="The levels of a parallel scan of the chosen length.",
)  # fmt: skip
schedule_widget

# %% [markdown]
# ### The paper's listings
#
# Appendix A.2.1 shows how the products come about, on strings: at each level take every second row out (they are what this level needs) and
# multiply the others to the next size. Our own `split_level` does that; what it gives is what the paper prints.

# %%
rows_left = [[f"A{i}"] for i in range(1, 8)]
while rows_left:
    needed, rows_left, formed = split_level(rows_left)
    print(needed, f"({formed} product{'s' * (formed != 1)} made for the levels to come)")

# %%
steps(pscan_schedule())

# %% [markdown]
# A.2.2 runs the loop and the scan on the same random numbers and prints both. The same seed, drawn in the same order:

# %%
given = torch.Generator().manual_seed(1)
A, u, x0 = (
    torch.randn(*shape, generator=given) for shape in ((1, 7, 2, 2), (1, 7, 2), (1, 2))
)
printed = torch.tensor(
    [
        [0.8310, -0.2477],
        [0.5167, -1.4218],
        [1.1399, 1.3024],
        [0.9628, 1.3150],
        [-1.5308, -1.6903],
        [-3.6631, 1.6082],
        [1.7805, 7.1659],
        [2.5068, -0.6256],
    ]
)
for backend in scans.available():
    x = linear_scan(A.unsqueeze(2), u.unsqueeze(2), x0.unsqueeze(1), backend=backend)[0, :, 0]
    apart = (torch.cat([x0, x]) - printed).abs().max()
    print(f"{backend:10s} agrees with the paper's printout to its four decimals: "
          f"{bool(apart <= 0.5e-4 + 1e-6)}")

# %% [markdown]
# ### Proof that it equals the loop
#
# **Claim.** After level $l$, position $t$ holds what the loop would give if it were *started anew* at the beginning of $t$'s group of
# $2^{l+1}$.
#
# **Step 1 (before the first level).** A group of one holds its own input. The claim holds for "level $-1$".
#
# **Step 2 (first half).** It stays, and it keeps its beginning: nothing to show.
#
# **Step 3 (second half).** Position $t$ holds $x$ as if started at the middle $m$ of the group. Starting earlier adds what the
# state before $m$ becomes on the way, $A_t A_{t-1} \cdots A_m\, x_{m-1}$; and $x_{m-1}$ is the last of the first half, which is right by
# the claim. That product is exactly what the level applies.
#
# **Step 4 (the end).** After $\log_2 L$ levels there is one group, it begins with $x_0$, and the loop started there is the loop. $\blacksquare$
#
# The cell walks through the levels in whole numbers and compares with the loop started anew at every group.

# %%
L, size = 16, 3
A, x = whole(L - 1, size, size, most=2), whole(L, size)  # x: x_0 and the inputs
inputs = x.clone()


def loop_from(begin, end):
    state = inputs[begin]
    for t in range(begin + 1, end + 1):
        state = A[t - 1] @ state + inputs[t]
    return state


for number, level in enumerate(paper.products(A)):
    half = level.shape[1]
    for group in range(L // (2 * half)):
        middle = 2 * half * group + half
        last = x[middle - 1].clone()
        for j in range(half):
            x[middle + j] += level[group, j] @ last
    right = all(torch.equal(x[t], loop_from(t - t % (2 * half), t)) for t in range(L))
    print(f"after level {number + 1}: groups of {2 * half:2d}, every state as the "
          f"claim says: {right}")

# %%
steps(pscan_equals_loop())


# %% [markdown]
# ### Break a hypothesis
#
# The proof never swaps two matrices. Build the products in the other order, and it works for matrices that commute (a
# diagonal transition, $b = 1$), and for no others:

# %%
def scan_in_wrong_order(A, b, x0):
    right = paper.products
    paper.products = lambda A: [level.mT for level in right(A.mT)]  # (AB)^T = B^T A^T
    try:
        return paper.linear_scan(A, b, x0)
    finally:
        paper.products = right


for b_size in (1, 2):
    A, b, x0 = whole(1, 7, 1, b_size, b_size), whole(1, 7, 1, b_size), whole(1, 1, b_size)
    same = torch.equal(scan_in_wrong_order(A, b, x0), paper.linear_scan(A, b, x0))
    print(f"b = {b_size}: products in the wrong order give the right states: {same}")


# %% [markdown]
# And the recurrence must be linear *in the state*. Two affine maps compose to an affine map, which is as large as each of them. Two
# maps $x \mapsto \tanh(Ax + b)$ do not compose to a third of the kind, so there is nothing of fixed size to keep in a node:

# %%
def layer(a, c):
    return lambda x: np.tanh(a * x + c)


both = layer(1.5, 0.2)(layer(2.0, -0.5)(np.linspace(-1, 1, 201)))
# of a single tanh(a x + c), arctanh is a straight line; its second differences vanish
bend = np.abs(np.diff(np.arctanh(both), 2)).max()
single = np.abs(np.diff(np.arctanh(layer(1.5, 0.2)(np.linspace(-1, 1, 201))), 2)).max()
print(f"one layer is a straight line under arctanh: {single < 1e-12}; two are: {bend < 1e-12}")

# %% [markdown]
# ## 3 Depth against work
#
# > **The paper, section 3.4.** "The computational complexity of our model is $O(b^3 h \log(T))$".
#
# That is the **depth**: the time with as many processors as one could wish. The **work**, how much is computed in all, is another
# matter. The loop applies one matrix a step: $b^2 h T$ multiplications. PScan multiplies matrices *by matrices*, $b^3$ each. How many?
# For every level $L/2$ words, all of which but the single letters are products made once: $\frac L2 \log_2 L - (L-1)$.

# %%
cost = pscan_cost(T=500, b=8, h=8)
steps(cost)
print(
    f"T = 500, b = 8: {cost.data['ratio']:.1f} times the loop's multiplications, in "
    f"{cost.data['depth']} levels for 500 steps"
)


# %% [markdown]
# So depth falls from $T$ to $\log_2 T$, and work grows from $b^2hT$ to $\Theta(b^3 h T \log T)$. With few processors work decides, with
# very many depth. (Check it by hand for $L = 8$: in the figure above five arrowheads carry a product.)
#
# ### A tree with less work
#
# PScan makes a product for every position at every level. Most are not needed: **up** the tree make one pair a node, **down** the
# tree hand *states*. The left child gets the state that comes in, the right child gets it after the left child's pair has been
# applied (after Blelloch, 1990). Two passes instead of one, but less than $T$ products, so $O(b^3 h T)$ work:

# %%
def tree_scan(A, b, x0):
    """States (T, n) from A (T, n, n), b (T, n) and x0 (n): up with pairs, down with states."""
    nodes, counts = [(A, b)], [len(b)]
    while counts[-1] > 1:
        counts.append(-(-counts[-1] // 2))
        end = 2 * (counts[-1] - 1)  # the last node of a level is never applied to anything
        A, b = nodes[-1]
        nodes.append(after((A[1:end:2], b[1:end:2]), (A[:end:2], b[:end:2])))
    coming = x0[None]  # the state before each node
    for count, (A, b) in zip(counts[-2::-1], nodes[-2::-1]):
        parents, end = coming, 2 * (count // 2)
        coming = parents.new_empty(count, len(x0))
        coming[::2] = parents
        coming[1::2] = apply(A[:end:2], parents[: count // 2]) + b[:end:2]
    A, b = nodes[0]
    return apply(A, coming) + b


agree = []
for T in range(1, 40):
    A, b, x0 = whole(T, 3, 3, most=1), whole(T, 3), whole(3)
    loop = linear_scan(A[None, :, None], b[None, :, None], x0[None, None], backend="reference")
    agree.append(torch.equal(tree_scan(A, b, x0), loop[0, :, 0]))
print(f"the tree gives the loop's states for T = 1 to {len(agree)}: {all(agree)}")
show.table(
    [
        {
            "T": T,
            "PScan, products": matrix_products(T),
            "tree, products": tree_counts(T)[0],
            "PScan, levels": T.bit_length(),
            "tree, levels": tree_counts(T)[2],
        }
        for T in (7, 40, 500, 4096, 16384)
    ],
    caption="Matrix products and levels of both. The loop makes no product and takes T steps.",
)

# %% [markdown]
# ## 4 Where does each win?
#
# A model in one line: a scan takes as long as the worst of
#
# $$\frac{\text{multiplications}}{P}, \qquad 32\,\frac{\text{numbers read and written}}{P}, \qquad \text{steps that wait for each other.}$$
#
# $P$ is the number of processors, each one multiplication a tick. The first and third are Brent's bound, true within a factor of 2. The middle
# one is the memory, which delivers one number in the time in which the whole machine could do 32 multiplications. That is about right for a CPU
# core beside its memory, and for an H200 beside its. What is *not* in it: the start of a kernel, Python, caches, page faults.
#
# A *chain* is one block of one string; there are $B \cdot h$ of them and they never meet. And the **token table** is the loop once more,
# only that it looks $A_t$ up in a small table instead of reading it from memory (section 6).

# %%
bench = recorded()
opened = {"T": 500, "b": 8, "chains": 1024, "P": 16}
show.figure(
    scan_race(bench, **opened),
    alt="Left: time over the loop's against processors for PScan, tree and token table at T = "
        "500, b = 8 and 1,024 chains. PScan and tree stay above 1 and the table below, level, "
        "until some million processors; from there PScan and tree fall below the loop. Marks "
        "of measured times stand at 16 and 32 processors. Right: the loop is first everywhere "
        "below about ten million processors.",
    caption="What to see: with 1,024 chains there is work for everybody without a tree. A "
            "tree pays from some ten million processors on, where the loop has nothing left "
            "to spread. Marks: recorded, forward (star: ours; the others as in section 7). "
            "Those far above their lines show what the model leaves out.",
)  # fmt: skip

# %% [markdown]
# *Try:* one chain, $T = 16{,}384$ and $P$ of an H200 (16,896): now the tree is right, and this is what the GPU scans of diagonal models are made for. Then
# $b = 1$ against $b = 8$. And look how far above its line each mark lies: that is what the model leaves out.

# %%
race_widget = explore(
    lambda T, b, chains, P: scan_race(bench, T, b, chains, P),
    {"T": list(LENGTHS), "b": list(SIZES), "chains": list(CHAINS), "P": PROCESSORS},
    initial=opened,
    sentence=lambda T, b, chains, P: race_sentence(bench, T, b, chains, P),
    alt="Modelled time against processors for four ways to scan, with measured marks; and "
        "which way wins at every T and P.",
)
race_widget

# %% [markdown]
# ## 5 Why the paper's PScan was no faster at test time
#
# > **The paper, section 4.5.** "Sequential requires 0.033s per instance, while PScan completes the task in 0.021s" (training, $T = 40$). "During
# > the testing stage, we set $T = 500$, where both Sequential and PScan take 0.03s per instance. [...] the complexity incurred by $b^3$ counteracts
# > the speedup offered by $\log(T)$. To validate our hypothesis, we set $b = 1$ and reassess the speed. Subsequently, PScan achieves 0.0008s per
# > instance, whereas Sequential takes 0.002s."
#
# Their machine was a GPU (Quadro RTX 8000), ours is one thread of a CPU, so seconds cannot be compared; ratios can be looked at side by side. Live, with a
# batch of 16; recorded, with a batch of 128 (`lrnnlab reproduce lrnn/speed --budget desk`).

# %% tags=["nbval-ignore-output"]
speed, live = get("lrnn/speed"), []
with lrnnlab.training.steady.steady_arithmetic():
    for row in speed.rows:
        setting = {**lrnn_speed.setting(row, "sum", "live"), "batch": 16}
        live.append(
            {"row": row, "config": {"setting": setting}, **lrnn_speed.measure(setting, seed=0)}
        )
ratios = [record["metrics"]["model"]["pscan"]["ratio"] for record in live]
times = f"{min(ratios):.1f} to {max(ratios):.1f} times the loop's"
show.figure(
    speed_ratios(live, "live"),
    alt="Live: time over the sequential loop's in four settings, for the whole model and the "
        f"scan alone. PScan's time for the whole model is {times}.",
    caption="What to see: where PScan (first line of each group) lies: right of the line it "
            f"is slower than the loop. Here, on one CPU thread, the whole model takes {times} "
            "time. The paper's diamonds lie on the line or left.",
)  # fmt: skip

# %%
desk = {
    record["row"]: record
    for record in records.read_all(
        records.data_folder() / "records" / "lrnn" / "speed" / "desk"
    )
}
shares, table = [], []
for row in speed.rows:
    model, scan = desk[row]["metrics"]["model"], desk[row]["metrics"]["scan"]
    paper_says = lrnn_speed.PAPER.get(row)
    shares.append(1 - scan["sequential"]["median"] / model["sequential"]["median"])
    table.append(
        {
            "setting": row,
            "paper, PScan / loop": paper_says[1] / paper_says[0] if paper_says else None,
            "recorded, whole model": model["pscan"]["ratio"],
            "recorded, scan alone": scan["pscan"]["ratio"],
            "not the scan, of the loop's whole time": f"{shares[-1]:.0%}",
        }
    )
show.table(
    table,
    formats={name: ".2f" for name in table[0] if "/" in name or "recorded" in name},
    caption="Time of PScan over the loop's. Last column: what making the transitions, readout "
            "and optimiser take of the loop's whole time.",
)
print(f"in every setting at least {math.floor(10 * min(shares)) * 10} % of the loop's whole "
      "time is not the scan")

# %% [markdown]
# **What can be said.**
#
# * On one CPU thread PScan has nothing to win from depth, and its work is many times the loop's.
# * The paper's explanation, $b^3$ against $\log T$, points to the work, rightly: section 3 counts 33 times the loop's multiplications. With $b = 1$
#   there is no $b^3$, and PScan's work is 8 times the loop's.
# * But its three numbers do not prove it. Whatever is timed *besides* the scan is the same for both ways and draws the ratio to 1. Here that part is most of
#   the time: at each position a network makes $h b^2 = 512$ numbers of $A_t$. With $b = 1$ it makes only 64, so this part shrinks as well, and the ratio
#   moves away from 1 *for two reasons at once*.
# * A loop of 500 steps took the paper's GPU no longer than one of 40 with its backward pass. What an "instance" is (a string? a batch?) the paper does not say.
#
# ## 6 The token table
#
# The last column says where to look: not at the scan but at the transitions. A regular language has a handful of letters. In the first layer $A_t$ depends on the
# letter only, so there are $V$ different matrices, not $B\,T$. Make them once, and let the scan **look them up**: then neither the
# tensor $A$ of shape $(B, T, h, b, b)$ nor its gradient ever exists.

# %%
B, T, V, h, b = 16, 500, 8, 8, 8
draw.manual_seed(6)
tables = [
    (torch.randn(V, h, b, b, generator=draw) * 0.3).requires_grad_(),
    torch.randn(V, h, b, generator=draw).requires_grad_(),
]
tokens = torch.randint(V, (B, T), generator=draw)
dx = torch.randn(B, T, h, b, generator=draw)
by_token = token_scan(*tables, tokens)
spread_out = linear_scan(tables[0][tokens], tables[1][tokens])
print(f"the same states: {torch.allclose(by_token, spread_out, atol=1e-5)}")
pairs = zip(*(torch.autograd.grad(x, tables, dx) for x in (by_token, spread_out)))
print(
    "the same gradients of the tables: "
    f"{all(((p - q).abs() <= 1e-3 * (q.abs().max() + q.abs())).all() for p, q in pairs)}"
)
block, table_case = Case("block", 128, 500, 8, 8), Case("table", 128, 500, 8, 8)
print(
    f"A and its gradient at B = 128: {2 * 128 * T * h * b * b * 4 / 1e6:.0f} MB; tables and "
    f"their gradients: {2 * V * h * b * b * 4 / 1e6:.2f} MB"
)
least = [case.bytes_forward() + case.bytes_backward() for case in (block, table_case)]
print(
    f"bytes that must move, forward and backward: {least[0] / 1e6:.0f} MB against "
    f"{least[1] / 1e6:.0f} MB, {least[0] / least[1]:.0f} times less"
)


# %% [markdown]
# This is the line *compiled, by token* in the figure of section 5. In layers above the first the input is no longer one of $V$ things, and the table is of no use; there the whole
# $A$ has to be made and read.
#
# ## 7 The recorded benchmark
#
# Every scan that could be installed, on the same numbers, in turn, in one run (`lrnnlab bench scans --threads 1 --record`, and `--threads 2`). Colour says which way it
# scans, black the loop, purple PScan, green a tree.

# %%
def draw_times(part):
    return times_ours(bench, PARTS[part])


def say_times(part):
    told = []
    for threads, record in bench.items():
        cells = [
            (one[PARTS[part]]["times_ours"], f"{peer} on {case.group}, {case.label}")
            for case in rows(bench)
            for peer, one in found(record, case.name).items()
            if peer != "ours" and PARTS[part] in one
        ]
        faster = [name for times, name in cells if times < 1]
        told.append(
            f"{threads} thread{'s' * (threads > 1)}: {len(cells)} pairs of peer and case were "
            f"run; another was faster than ours in {len(faster)}"
            + (f" ({'; '.join(faster)})" if faster else "")
        )
    return f"{part.capitalize()}. {'. '.join(told)}."


show.figure(
    draw_times("forward + backward"),
    alt="For every case and number of threads, the time of six other scans over ours, "
        "on a logarithmic axis. What was not run is a hollow mark. The numbers stand "
        "in the table below.",
    caption="Recorded. What to see: everything right of the line takes longer than our "
            "compiled loop. Among the others, loops tend to lie left of trees: on a CPU work "
            "decides, not depth.",
)  # fmt: skip
print(say_times("forward + backward"))

# %%
times_widget = explore(
    draw_times, {"part": list(PARTS)}, initial={"part": "forward"}, sentence=say_times,
    alt="Time of every other scan over ours for the chosen part of the work.",
)  # fmt: skip
times_widget

# %%
for threads in bench:
    show.table(
        times_table(bench, threads), formats={"ours, ms": ".3g"},
        caption=f"Recorded on {origin(bench[threads])}, {threads} thread{'s' * (threads > 1)}, "
                "forward and backward: milliseconds of ours (median), and how many times longer the others took; "
                "or why a case was not run.",
    )  # fmt: skip

# %% [markdown]
# ### The memory's line
#
# No scan that reads $A$ and $b$ and writes $x$ can be faster than the memory. How much of that speed is used? In the same run a large array is copied, in turn with the scans; its bytes a second,
# read and written, are 100 %. (A case can lie beyond: if it fits into the cache, or since it reads far more than it writes, which a copy does not. And the copy is not
# equally fast every time; its least and greatest speed stand below.)

# %%
show.figure(
    memory_line(bench),
    alt="For every case, which share of the memory's copying speed our scan reaches, forward "
        "and backward, with a line at 100 percent; grey dots: the fastest other.",
    caption="Recorded. What to see: how near ours comes to the line, and how far from it the "
            "fastest other stays. Where little has to move (token table, constant blocks) a "
            "low share can still be the least time.",
)  # fmt: skip
for threads, record in bench.items():
    shares = [found(record, case.name)["ours"]["forward"]["share"] for case in rows(bench)
              if case.name.startswith("block B=128")
              and "forward" in found(record, case.name).get("ours", {})]  # fmt: skip
    copies = [case["copy_bytes_per_second"] / 1e9 for case in record["cases"]]
    print(
        f"{threads} thread{'s' * (threads > 1)}, blocks, B = 128, forward: {min(shares):.0%} "
        f"to {max(shares):.0%} of the copying speed ({min(copies):.1f} to {max(copies):.1f} GB/s)"
    )

# %% [markdown]
# ### What the model leaves out: page faults
#
# A result needs memory. Fresh memory is given page by page, at first touch, and each first touch is a call into the system: 32,000 of them for the gradient of $A$ at
# $(B, T, h, b, b) = (128, 500, 8, 8, 8)$, 131 MB in pages of 4 kB. In a naive backward pass that takes about as long as all of the arithmetic. Linux gives pages of 2 MB to those who ask;
# `np.empty` asks, `torch.empty` does not, so our scans take large results from NumPy. Filling 64 MB, live:

# %% tags=["nbval-ignore-output"]
N = 1 << 24
kept = torch.empty(N).fill_(0)
ways = {
    "memory used before": lambda: kept,
    "fresh, np.empty": lambda: torch.from_numpy(np.empty(N, np.float32)),
    "fresh, torch.empty": lambda: torch.empty(N),
}


def stopwatch(work):
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


taken = {name: [] for name in ways}
for _ in range(7):
    for name, make in ways.items():
        taken[name].append(stopwatch(lambda make=make: make().fill_(1)))
base = statistics.median(taken["memory used before"])
compared = {name: statistics.median(seconds) / base for name, seconds in taken.items()}
show.table(
    [
        {"memory": name, "time / time in used memory": ratio}
        for name, ratio in compared.items()
    ],
    caption="Live, medians of seven. On Linux, where huge pages are to be had, the middle row "
            "lies below the last.",
)


# %% [markdown]
# ## 8 Numerics: what overflows, and what never to do
#
# **Never divide by cumulative products.** With $P_t = a_t \cdots a_1$ one may write $x_t = P_t \sum_s b_s / P_s$, two cumulative sums that every library has. Or the same in
# logarithms, $P_t = \exp \sum \log a_s$. Where does each stop being right?

# %%
def by_division(a, b):
    P = a.cumprod(0)
    return P * (b / P).cumsum(0)


def by_logarithms(a, b):
    log_P = a.log().cumsum(0)
    return (log_P + (b.log() - log_P).logcumsumexp(0)).exp()


length = 500
noise = torch.rand(length, generator=draw) * 0.2 + 0.4
gates = {
    "0.5 at every step": torch.full((length,), 0.5),
    "between 0.4 and 0.6": noise,
    "the same, but a reset (0) at step 100": noise * (torch.arange(length) != 99),
    "the same, but alternating signs": noise * (-1) ** torch.arange(length),
}


def breaks_at(x, right):
    wrong = (~((x - right).abs() <= 1e-3 * right.abs().clamp(min=1))).nonzero()
    return f"step {int(wrong[0]) + 1}" if len(wrong) else "never"


lines = []
for name, a in gates.items():
    ones = torch.ones(length)
    truth = linear_scan(a.double()[None, :, None], ones.double()[None, :, None]).flatten()
    ours = linear_scan(a[None, :, None], ones[None, :, None]).flatten()
    tried = {
        "division": by_division(a, ones),
        "logarithms": by_logarithms(a, ones),
        "the scan": ours,
    }
    lines.append({"a": name, **{way: breaks_at(x, truth) for way, x in tried.items()}})
show.table(
    lines,
    caption="First step that is wrong by more than 0.001, in float32, with b = 1. The state "
            "itself never exceeds 3.",
)

# %% [markdown]
# Division breaks when $P_t$ leaves what float32 can hold, though no state does. Logarithms last where everything is positive, and fail at the first sign or reset, which is what our models
# live on. The scan never forms $P_t$.
#
# **But a tree does form products.** Here a state of 0 waits through 300 steps that would double it; then letters come in. The loop doubles zero. PScan makes the product of 128 twos first:

# %%
T = 400
waits = torch.arange(T) < 300
A = torch.where(waits, 2.0, 0.5)[None, :, None, None, None] * torch.eye(2)
b = torch.where(waits, 0.0, 1.0)[None, :, None, None].expand(1, T, 1, 2)
for backend in scans.available():
    x = linear_scan(A, b, backend=backend)
    lost = (~x.isfinite().all(-1)).flatten().nonzero()
    print(
        f"{backend:10s} "
        + (
            f"NaN from step {int(lost[0]) + 1} on, for {len(lost)} steps"
            if len(lost)
            else f"finite; last state {float(x[0, -1, 0, 0]):.4f}"
        )
    )

# %% [markdown]
# So "PScan equals the loop" is a theorem about real numbers. In floats $\infty \cdot 0$ is not a number, and a product can overflow where no state does. How soon does a product of random blocks?

# %%
product, step = torch.eye(8), 0
draw.manual_seed(8)
while bool(product.isfinite().all()):
    product, step = torch.randn(8, 8, generator=draw) @ product, step + 1
print("product of random 8 x 8 blocks with entries of variance 1: not finite in float32 at "
      f"block {step} of 500")
product = torch.eye(8)
for _ in range(500):
    product = torch.softmax(torch.randn(8, 8, generator=draw), 0) @ product
print(
    "columns on the simplex (chapter 02): all 500 finite, column sums "
    f"{float(product.sum(0).min()):.3f} to {float(product.sum(0).max()):.3f}"
)

# %% [markdown]
# **Other brackets, other digits.** Float addition is not associative, so loop and tree differ in the last digits; and so would a scan whose tree depended on the number of threads. Ours is
# cut into parts by shape alone, and sums over parts are taken in a fixed order:

# %%
draw.manual_seed(9)
A, b = (
    torch.randn(16, 300, 8, 8, 8, generator=draw) * 0.3,
    torch.randn(16, 300, 8, 8, generator=draw),
)
A.requires_grad_()
states, before = {}, torch.get_num_threads()
for threads in (1, 2):
    torch.set_num_threads(threads)
    x = linear_scan(A, b)
    states[threads] = x.detach(), *torch.autograd.grad(x.square().sum(), A)
torch.set_num_threads(before)
print("one thread and two, states and gradients bit for bit the same: "
      f"{all(map(torch.equal, states[1], states[2]))}")
with torch.no_grad():
    loop, tree = (linear_scan(A[:2], b[:2], backend=name) for name in ("reference", "paper"))
print(
    f"loop and PScan bit for bit the same: {torch.equal(loop, tree)}; to 1e-4 of the largest: "
    f"{bool((loop - tree).abs().max() < 1e-4 * loop.abs().max())}"
)

# %% tags=["nbval-ignore-output"]
ulp = torch.finfo(torch.float32).eps * 2.0 ** loop.abs().log2().floor()
print(
    f"loop and PScan: {float((loop != tree).float().mean()):.0%} of the states differ; at "
    f"most {float(((loop - tree).abs() / ulp).max()):,.0f} units in the last place"
)


# %% [markdown]
# (Many units only where a state happens to be near 0: the error is small against the sum's terms, not against the sum.)
#
# **Never index in the loop that is to be differentiated.** `A[:, t]` looks harmless. But its gradient is a tensor of the *whole* shape of $A$, zero but for one slice, and there are $T$ of
# them to add: quadratic. `A.unbind(1)` gives the same slices and one gradient for all.

# %% tags=["nbval-ignore-output"]
def loop_over(slices):
    x, states = 0.0, []
    for a_t in slices:
        x = a_t * x + 1.0
        states.append(x)
    return torch.stack(states, 1)


def backward_seconds(T, cut):
    a = torch.rand(8, T, 64, requires_grad=True)
    seconds = []
    for _ in range(3):
        x = loop_over(cut(a)).sum()
        seconds.append(stopwatch(lambda x=x: torch.autograd.grad(x, a)))
    return min(seconds)


cuts = {
    "A[:, t]": lambda a: (a[:, t] for t in range(a.shape[1])),
    "A.unbind(1)": lambda a: a.unbind(1),
}
growth = {
    name: [backward_seconds(T, cut) for T in (200, 400, 800)] for name, cut in cuts.items()
}
doubled = ("400 over 200 steps", "800 over 400 steps")
show.table(
    [
        {"slices": name, doubled[0]: one[1] / one[0], doubled[1]: one[2] / one[1]}
        for name, one in growth.items()
    ],
    caption="Live: how many times longer the backward pass takes when T doubles. 2 is "
            "linear, 4 is quadratic.",
    formats=dict.fromkeys(doubled, ".1f"),
)

# %% [markdown]
# **Never train with a scan whose gradient you have not checked.** torch has a scan of its own. What its `combine_mode="pointwise"` runs gives right states and, without a word, a gradient of $A$ that is
# wrong (torch issue 172568; `combine_mode="generic"` is right). A test of ours watches for the day when it is mended.

# %%
from torch._higher_order_ops.associative_scan import associative_scan_op


def pointwise(A, b):
    def compose(A1, b1, A2, b2):
        return A1 * A2, A2 * b1 + b2

    pairs = associative_scan_op(compose, [A.movedim(1, 0), b.movedim(1, 0)], ())
    return pairs[1].movedim(0, 1)


A, b = (torch.rand(2, 5, 3, generator=draw).requires_grad_() for _ in range(2))
theirs, ours = pointwise(A, b), linear_scan(A, b)
slopes = [torch.autograd.grad(x.sum(), (A, b)) for x in (theirs, ours)]
print(f"states right: {torch.allclose(theirs, ours)}; gradient of b right: "
      f"{torch.allclose(slopes[0][1], slopes[1][1])}; gradient of A right: "
      f"{torch.allclose(slopes[0][0], slopes[1][0])}; largest entry of theirs "
      f"{float(slopes[0][0].abs().max()):.3f}, of ours "
      f"{float(slopes[1][0].abs().max()):.3f}")  # fmt: skip

# %% [markdown]
# | never | because | instead |
# |---|---|---|
# | divide by cumulative products | they leave float32 where no state does; a reset is division by 0 | scan |
# | logarithms of gates | signs and resets have none | scan |
# | trust a tree with growing blocks | $\infty \cdot 0$ | loop, or blocks that cannot grow (chapter 02) |
# | `A[:, t]` in a loop | quadratic backward pass | `A.unbind(1)`, or a hand-written backward pass |
# | `combine_mode="pointwise"` in training | wrong gradient, silently | `"generic"`, or check first |
# | sum in the order in which threads end | another result every time | parts by shape, fixed order |
#
# ## 9 Two other roads
#
# **The delta rule** has matrices of the kind $A_t = I - \beta_t k_t k_t^\top$ (chapter 09). It is the same recurrence for each row of a memory $W$, and it could be scanned as above. But such
# factors have a product that need not be multiplied out: $c$ of them are $I$ minus a product of two thin matrices, found by solving *one triangular system* (the WY form). So a chunk of $c$ steps becomes a few
# large matrix products, just what a GPU is good at.

# %%
draw.manual_seed(10)
B, T, H, d = 2, 100, 1, 8
q, k, v = (torch.randn(B, T, H, d, generator=draw) for _ in range(3))
k = torch.nn.functional.normalize(k, dim=-1)
beta = torch.rand(B, T, H, generator=draw) * 2
by_loop, by_chunk = (
    delta_rule(q, k, v, beta, form=form, chunk=32) for form in ("sequential", "chunkwise")
)
A = torch.eye(d) - beta[..., None, None] * k[..., :, None] * k[..., None, :]  # (B, T, 1, d, d)
drive = beta[..., None, None] * v[..., :, None] * k[..., None, :]
drive = drive[:, :, 0]  # (B, T, d, d): row i of W is chain i
W = linear_scan(A.expand(B, T, d, d, d), drive)  # (B, T, row, d)
by_scan = (W @ q[:, :, 0, :, None])[..., 0].unsqueeze(2)
print("loop, chunks and scan agree: "
      f"{all(torch.allclose(by_loop, other, atol=1e-4) for other in (by_chunk, by_scan))}")
print(f"numbers of a transition that must be kept for {T} steps: {T * d * d} as blocks, "
      f"{T * (d + 1)} as k and beta")

# %% [markdown]
# **A constant transition** needs no scan at all. Then $x_t = \sum_s A^{t-s} b_s$ is a convolution, and the FFT does it in $O(T \log T)$ for all $t$ at once. It is the road of S4 and DLR (chapter 05), and
# it ends where $A_t$ begins to look at the input.

# %%
H, N, T = 3, 4, 1000
draw.manual_seed(11)
log_lambda = torch.complex(
    -0.05 * torch.rand(H, N, generator=draw), 3 * torch.rand(H, N, generator=draw)
)
C = torch.complex(*torch.randn(2, H, N, generator=draw))
u = torch.randn(2, T, H, generator=draw)
y_conv = long_conv(u, vandermonde(log_lambda, C, T))
x = linear_scan(log_lambda.exp().flatten(), u.repeat_interleave(N, 2).to(torch.complex64))
y_scan = (C * x.unflatten(2, (H, N))).sum(-1).real
print(
    "convolution and scan agree to 1e-4 of the largest: "
    f"{bool((y_conv - y_scan).abs().max() < 1e-4 * y_scan.abs().max())}"
)

# %% [markdown]
# | transition | road | why |
# |---|---|---|
# | the same at every step | convolution | no state need be kept, and the kernel is made once |
# | one of a few ($V$ letters) | token table and loop | $A$ need not be read |
# | diagonal, on a GPU, long strings | tree | no $b^3$, and depth counts |
# | $I - \beta k k^\top$ | chunks | large matrix products in place of a scan |
# | blocks, many chains | compiled loop | the least work; the chains keep every processor busy |
# | blocks, few chains, long strings, very many processors | chunks, then a tree over chunks | here the tree's depth is worth its work |
#
# ## 10 Where the paper says something else
#
# | the paper | what we found |
# |---|---|
# | "computational complexity [...] $O(b^3 h \log T)$" (3.4) | that is the depth, with a processor for every two positions; the work is $\Theta(b^3 h T \log T)$, 33 times the loop's at $T = 500$, $b = 8$ |
# | "$\lceil \log_2 L \rceil$ steps" | right, with $x_0$ counted in $L$: $\lceil \log_2 (T+1) \rceil$ for $T$ inputs |
# | listing A.2.1 runs $\lceil \log_2(\text{seq\_len}) \rceil$ times | no level at all for one input, where one is needed; A.2.2 has it right |
# | "Sequential and PScan are equivalent" (A.2.2) | as real numbers; in floats they differ in the last digits, and PScan can give NaN where the loop does not (section 8) |
# | $b^3$ is why PScan is no faster at test time (4.5) | likely part of it; what both ways share can do the same, and the three numbers cannot tell (section 5) |
# | training gains "due to the improved backpropagation path" (4.5) | a guess, as they say. Not seen here: on the CPU PScan loses in training too. A loop that indexes `A[:, i]`, as listing A.2.2 and the released sequential model do, has the quadratic backward pass of section 8: that would be a path to improve. (Whether it was this loop that they timed is not said) |
#
# ## 11 What this does not show
#
# * **Nothing about a GPU.** The recorded numbers are of CPU threads. The model of section 4 says where a GPU would differ, but a model is not a measurement.
# * **Not that trees are bad.** For $b = 1$, few chains and long strings they are the right thing on parallel hardware.
# * **Not how fast the peers can be.** Each was called as its documentation has it, on shapes of ours, on one kind of machine.
# * **Not that a fast scan makes a fast model.** In section 5 most of the time is spent on making $A_t$.
#
# ## 12 Exercises
#
# 26 points. Each exercise says how long it takes, what it is worth and what it teaches. Where a cell can check an answer,
# fill it in and run it; `hint("03.1")` and `solution("03.1")` help with these.
#
# 1. ★ *(5 min, 2 points: how to count the work of a parallel scan)* How many products of two matrices does PScan make
#    for $L = 16$? Count the words of more than one letter in the picture of section 2.

# %%
my_products = None  # exercise 1: a whole number
check("03.1", my_products)

# %% [markdown]
# 2. ★★ *(10 min, 4 points: where the count comes from)* **A proof step.** Prove $\frac L2 \log_2 L - (L - 1)$, and that
#    a tree needs fewer than $T$ products.
# 3. ★★ *(10 min, 4 points: when more work in less depth pays)* Forget the memory: time is
#    $\max(\text{multiplications}/P, \text{depth})$. From which $P$ on is PScan faster than the loop at $T = 500$,
#    $b = 8$, $h = 8$, one string? And with a batch of 128?

# %%
my_P = None  # exercise 3: the least P for one string
check("03.3", my_P)

# %% [markdown]
# 4. ★★ *(10 min, 4 points: what else than A x + b can be scanned)* **Code.** Another recurrence:
#    $x_t = \max(x_{t-1} + a_t,\; b_t)$. Is there a tree for it? Give the pair of "first $(a_1, b_1)$, then
#    $(a_2, b_2)$".

# %%
# exercise 4: a function of (a2, b2) and (a1, b1), in this order; it returns the pair (a, b)
my_pair = None
check("03.4", my_pair)


# %% [markdown]
# 5. ★ *(5 min, 3 points: when a table of letters saves memory)* For how many letters $V$ does a token table save
#    memory, at given $B$ and $T$? Why not in the second layer?
# 6. ★ *(5 min, 3 points: which products a tree makes)* **Predict.** Choose before you run. In section 8 a state of 0
#    waits through 300 doublings, and PScan gives NaN. Run `tree_scan` of section 3 on the same numbers: at how many
#    steps does it give NaN, compared with PScan? And why does a block with columns on the simplex never do it?

# %%
def tree_on_doublings():
    waits = torch.arange(400) < 300
    A = torch.where(waits, 2.0, 0.5)[:, None, None] * torch.eye(2)
    b = torch.where(waits, 0.0, 1.0)[:, None].expand(400, 2)
    pscan = linear_scan(A[None, :, None], b[None, :, None], backend="paper")[0, :, 0]
    tree = tree_scan(A, b, torch.zeros(2))
    lost = [int(x.isnan().any(-1).sum()) for x in (tree, pscan)]
    more = "more" if lost[0] > lost[1] else "fewer" if lost[0] < lost[1] else "as many"
    answer = f"NaN at {more} steps" if lost[0] else "no NaN"
    return answer, f"NaN at {lost[0]} of 400 steps in the tree, at {lost[1]} in PScan"


predict("03.6", tree_on_doublings)

# %% [markdown]
# 7. ★★★ *(30 min, 4 points: how a GPU would scan long strings)* A scan in **chunks**: cut $T$ into $T/c$ chunks, loop
#    inside all chunks at once for their pairs, loop over the chunks' last states, loop again inside. How many
#    multiplications is that, and which depth? Which $c$ makes the depth least?
# 8. ★ *(5 min, 2 points: that in floats a tree and a loop are two sums)* **Break the hypothesis.** Section 1 needs that
#    brackets do not matter. Find three floats with $(a + b) + c$ and $a + (b + c)$ at least 1 apart.

# %%
my_floats = None  # exercise 8: three numbers
check("03.8", my_floats)

# %% [markdown]
# <details><summary>Hints</summary>
#
# 2: each level has $L/2$ words, and every product is used once. 3: the loop is never below $T$ ticks. 4: what does adding do to a maximum? 6: look at what the up-pass multiplies. 7: a chunk's pair needs
# $b^3$ a step, its states $b^2$. 8: how large is the gap between neighbouring floats near $10^{16}$?
#
# </details>
#
# <details><summary>Solutions</summary>
#
# **1.** 17: $8 \cdot 4 - 15$.
#
# **2.** There are $\log_2 L$ levels of $L/2$ words. A word is given if it is a single letter, and each of the $L - 1$ letters stands alone exactly once (letter $A_t$ at the level whose second half begins at $t$). All other
# words are made by one product from words there already. For the tree: level $k$ has $n_k = \lceil n_{k-1}/2 \rceil$ nodes and makes $n_k - 1$ products; as $n_k - 1 \le (n_{k-1} - 1)/2$, they sum to less than $T - 1$.
#
# **3.** PScan's multiplications are 8,523,776, and the loop never takes less than 500 ticks: $P > 8523776 / 500$, so 17,048. (At that $P$ the loop is held up by its depth, since $256000/P < 500$.) With 128 strings all
# multiplications are 128 times as many, and $P \ge 2{,}182{,}087$: no machine.
#
# **4.** $\max(\max(x + a_1, b_1) + a_2, b_2) = \max(x + (a_1 + a_2), \max(b_1 + a_2, b_2))$, so the pair is $(a_1 + a_2, \max(b_1 + a_2, b_2))$. It is the affine rule with max for plus and plus for times.
#
# **5.** $V < B\,T$ (tables $V h b^2$, the tensor $B T h b^2$). In the second layer the input is the first layer's output, which depends on the whole string so far.
#
# **6.** At more steps: its up-pass makes the product of 128 twos as well, that of steps 1 to 128, and applies it to 0. PScan counts the start as a letter, so its first word of 128 twos ends at step 255, and the
# states before are right. Columns on the simplex stay so under products: entries are at most 1.
#
# **7.** About $(b^3 + 2 b^2)$ a step, $(b^3 + 2b^2)\,T$ in all, and depth $c + T/c + c$. Least at $c = \sqrt{T/2}$: $2\sqrt{2T}$. It is the GPU's way for long strings and few chains.
#
# **8.** For example $(10^{16}, -10^{16}, 1)$: from the left it is 1; bracketed the other way $-10^{16} + 1$ is rounded back to $-10^{16}$, and the sum is 0.
#
# </details>
