# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 03d · Floats
#
# What overflows in a scan, which digits differ, and what should you never do? *It takes* about 25 min to read. It belongs to [chapter 03](../03_parallel_scans.ipynb).

# %% jupyter={"source_hidden": true} tags=["hide-input"]
import time

import sympy as sp
import torch

import lrnnbook
from lrnnbook import show
from lrnnbook.content.chapters import ch03
from lrnnbook.content.exercises import hint, solution
from lrnnlab import scans
from lrnnlab.scans import linear_scan
from lrnnlab.verification.semantics.rounding import Bounds

lrnnbook.needs("0.1")
scans.warm()

# %%
draw = torch.Generator().manual_seed(0)


def stopwatch(work):
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


# %% [markdown]
# ## 1 What overflows
#
# **Never divide by cumulative products.** For numbers $a_t \ne 0$, with $P_t = a_t \cdots a_1$ and from $x_0 = 0$,
#
# $$x_t = P_t \sum_{s \le t} b_s / P_s:$$
#
# a cumulative product and a cumulative sum, which every library has. As algebra it is right.
#
# **Step 1.** If $x_{t-1} = P_{t-1} S$, where $S$ is the sum up to $t - 1$, then $P_t\,(S + b_t/P_t) = a_t x_{t-1} + b_t$; and it begins with $S = 0$.

# %% tags=["proof-division"]
P, S, a_t, b_t = sp.symbols("P S a_t b_t", nonzero=True)
one_more = sp.expand((a_t * P) * (S + b_t / (a_t * P)))
show.math(r"P_t \left(S + \frac{b_t}{P_t}\right) =", one_more)
assert sp.simplify(one_more - (a_t * (P * S) + b_t)) == 0, "Division, step 1: not the recurrence"

# %% [markdown]
# **Step 2.** In float32 it is not. With $a_t = \frac12$ and $b_t = 1$ the quotient $b_t/P_t = 2^t$ is infinite from $t = 128$ on, while the state
# stays below 2. $\blacksquare$

# %% tags=["proof-division"]
quotients = 1 / torch.full((200,), 0.5).cumprod(0)
first = int(quotients.isinf().nonzero()[0]) + 1
print(f"1 / P_t is infinite from t = {first} on; the state is then 2 - 2^{1 - first}")
state = sum(sp.Rational(1, 2) ** s for s in range(first))
assert first == 128 and state < 2, "Division, step 2: another step, or a state that large"


# %% [markdown]
# You can do the same in logarithms, with $P_t = \exp \sum_{s \le t} \log a_s$. At which step does each of the
# two begin to be wrong?

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
for name, gate in gates.items():
    ones = torch.ones(length)
    truth = linear_scan(gate.double()[None, :, None], ones.double()[None, :, None]).flatten()
    ours = linear_scan(gate[None, :, None], ones[None, :, None]).flatten()
    tried = {
        "division": by_division(gate, ones),
        "logarithms": by_logarithms(gate, ones),
        "the scan": ours,
    }
    lines.append({"a": name, **{way: breaks_at(x, truth) for way, x in tried.items()}})
show.table(
    lines,
    caption="First step that is wrong by more than 0.001 (of the state, where that is above 1), in "
            "float32, with b = 1. The state itself stays within 1 / (1 - 0.6) = 2.5, for no |a| is "
            "above 0.6.",
)

# %% [markdown]
# Division breaks when $1/P_t$, or the sum of the $b_s/P_s$, leaves what float32 can hold, though no state does. Logarithms work as long as everything is positive, and fail at the first negative number or reset; and our models need both. The compiled loop, which is "the scan" in this table, forms no product at all.

# %% [markdown]
# **But a tree does form products** (chapter 03, section 6): PScan gives NaN where a state of 0 waits through 300 doublings. How soon does a product of random blocks overflow?

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
# ## 2 Other brackets, other digits
#
# Float addition is not associative, so loop and tree differ in the last digits; and so would a scan whose tree depended on the number of threads. Ours is
# cut into parts by shape alone, and sums over parts are taken in a fixed order:

# %% tags=["varies", "nbval-ignore-output"]
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
    looped, treed = (linear_scan(A[:2], b[:2], backend=name) for name in ("reference", "paper"))
apart = float((looped - treed).abs().max() / looped.abs().max())
print(f"loop and PScan bit for bit the same: {torch.equal(looped, treed)}; they differ by {apart:.0e} of the largest")

# %% tags=["varies", "nbval-ignore-output"]
ulp = torch.finfo(torch.float32).eps * 2.0 ** looped.abs().log2().floor()
print(
    f"loop and PScan: {float((looped != treed).float().mean()):.0%} of the states differ; at "
    f"most {float(((looped - treed).abs() / ulp).max()):,.0f} units in the last place"
)

# %% [markdown]
# (There are many such units only where a state happens to be near 0: there the error is small compared with the
# terms of the sum, but not with the sum.)
#
# How far can the digits go apart? A sum of $n$ products, in whatever order, is off by at most about $n u$ times the sum of
# their absolute values, where $u = 2^{-24}$ in float32 (Higham, *Accuracy and Stability of Numerical Algorithms*, 3.1). So one
# can keep a bound $e$ beside every number: after a step $x \leftarrow A x$ it is $|A|\,e + n u\,|A|\,|x|$. `Bounds` does
# that for every operation of a net. Here are 60 random blocks with columns on the simplex, and 60 random reflections
# $I - 2 k k^\top$, which change no length:

# %% tags=["varies", "nbval-ignore-output"]
draw.manual_seed(10)
keys = torch.nn.functional.normalize(torch.randn(60, 8, 1, generator=draw), dim=1)
products = {
    "blocks": torch.softmax(torch.randn(60, 8, 8, generator=draw), 1),
    "reflections": torch.eye(8) - 2 * keys @ keys.mT,
}


def walk(A, dtype):
    bounds, x, states, proved = Bounds(), torch.eye(8)[:, :1].to(dtype), [], []
    for A_t in A.to(dtype):
        with bounds:
            x = A_t @ x
        states.append(x.double())
        proved.append(float(bounds.of(x).max()))
    return torch.stack(states), torch.tensor(proved)


walks = {}
for name, A in products.items():
    (single, proved), (double, finer) = walk(A, torch.float32), walk(A, torch.float64)
    off, short = ((x - double).abs().flatten(1).amax(1) for x in (single, walk(A, torch.bfloat16)[0]))
    assert (off <= proved).all(), "outside of its bound"
    assert not (short <= proved).all(), "bfloat16 is told from float32"
    walks[name] = off.numpy(), proved.numpy()
    print(f"{name}, after 60 steps: float32 is off by {off[-1]:.0e}; "
          f"proved are {proved[-1]:.0e}, and {finer[-1]:.0e} for float64")

# %% jupyter={"source_hidden": true} tags=["hide-input", "varies", "nbval-ignore-output"]
show.figure(
    ch03.rounding_curves(walks),
    alt="Error of the state by step on a logarithmic axis: what is seen grows slowly for both; what "
    "is proved grows slowly for blocks and exponentially for reflections.",
    caption="Solid: how far float32 is from float64. Dashed: how far any machine can be from the exact state.",
)


# %% [markdown]
# A reflection makes no error larger, but $|A|$ does, and the bound sees no more than $|A|$. After some steps it says nothing.
# That is why `verify` (chapters 02 and 10) asks for as little as it can: of a snapped net only which entry of a column is the
# largest, of a restarted net one step from each state.
#
# ## 3 Gradients
#
# **Never index in the loop that is to be differentiated.** `A[:, t]` looks harmless. But its gradient is a tensor of the *whole* shape of $A$, zero but for one slice, and there are $T$ of
# them to add: quadratic. `A.unbind(1)` gives the same slices and one gradient for all.

# %% tags=["varies", "nbval-ignore-output"]
def loop_over(slices):
    x, states = 0.0, []
    for a_t in slices:
        x = a_t * x + 1.0
        states.append(x)
    return torch.stack(states, 1)


def backward_seconds(T, cut):
    a = torch.rand(8, T, 64, requires_grad=True)
    seconds = []
    for _ in range(9):
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
            "linear, 4 is quadratic; at these lengths fixed costs count too, and on a busy machine a "
            "ratio can be off.",
    formats=dict.fromkeys(doubled, ".1f"),
)


# %% [markdown]
# The sequential loop of the paper's listing A.2.2 indexes `A[:,i]` and `u[:,i]`; and so does the one in the code that the authors released (`block_model.py`:
# `blocks[:,i]`, `v[:,i]`). So its backward pass is the quadratic one. What that costs with blocks, at the paper's training length $T = 40$ and at $T = 160$:

# %% tags=["varies", "nbval-ignore-output"]
def matrix_loop(A, b):
    x, states = torch.zeros_like(b[0]), []
    for A_t, b_t in zip(A, b):
        x = (A_t @ x[..., None])[..., 0] + b_t
        states.append(x)
    return torch.stack(states, 1)


def blocks_backward(T, cut):
    A = (torch.rand(16, T, 8, 8, 8) / 8).requires_grad_()  # (B, T, h, b, b)
    b = torch.rand(16, T, 8, 8, requires_grad=True)
    seconds = []
    for _ in range(3):
        x = matrix_loop(list(cut(A)), list(cut(b))).sum()
        seconds.append(stopwatch(lambda x=x: torch.autograd.grad(x, (A, b))))
    return min(seconds)


slower = {
    T: blocks_backward(T, cuts["A[:, t]"]) / blocks_backward(T, cuts["A.unbind(1)"])
    for T in (40, 160)
}
print("backward pass of the indexing loop over that of unbind: "
      + ", ".join(f"{ratio:.1f} times at T = {T}" for T, ratio in slower.items()))

# %% [markdown]
# **Never train with a scan whose gradient you have not checked.** torch has a scan of its own. With `combine_mode="pointwise"` it gives right states and, without a warning, a wrong gradient of $A$ (torch issue 172568; `combine_mode="generic"` is right). One of our tests will tell us when this is mended.

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
# ## 4 Never
#
# | never | because | instead |
# |---|---|---|
# | divide by cumulative products | they leave float32 where no state does; a reset is division by 0 | scan |
# | logarithms of gates | signs and resets have none | scan |
# | trust a tree with growing blocks | $\infty \cdot 0$ | loop, or blocks that cannot grow (chapter 02) |
# | `A[:, t]` in a loop | quadratic backward pass | `A.unbind(1)`, or a hand-written backward pass |
# | `combine_mode="pointwise"` in training | wrong gradient, silently | `"generic"`, or check first |
# | sum in the order in which threads end | another result every time | parts by shape, fixed order |
