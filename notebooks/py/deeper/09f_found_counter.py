# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 09f · A counter found by descent
#
# Two writes a token count exactly. Does descent find such a counter, and can you prove it right? *It takes* about 35 min to read. Read [chapter 09](../09_fast_weights.ipynb) first.

# %% jupyter={"source_hidden": true} tags=["hide-input"]

import numpy as np
import sympy as sp
import torch

import lrnnbook
from lrnnbook import show
from lrnnbook.content.chapters import ch09
from lrnnbook.content.chapters import fast_weight_solutions as fw
from lrnnbook.content.exercises import hint, solution
from lrnnlab.models.layers import FastWeights

lrnnbook.needs("0.1")

# %% [markdown]
# Here is the net of chapter 09's first picture again, trained on strings of up to 50 tokens. Now it reads 4,000, with hardly a reset:

# %% jupyter={"source_hidden": true} tags=["hide-input", "varies", "nbval-ignore-output"]
counter_net, head = ch09.found_counter()
show.figure(
    ch09.counter_picture(counter_net, head, 4000, 0.0005),
    alt="Above, the number of open brackets over 4,000 tokens and what the head holds: two lines that part slowly. Below, their difference, "
        "which grows.",
    caption="Live. What to see: the head counts hundreds of brackets, but its steps are not exactly alike. The difference grows, and where it "
            "passes one half the answer can be wrong.",
)  # fmt: skip

# %% [markdown]
# It is nearly a counter. Which counter? We first write one by hand (sections 1 and 2), then see what descent found (3), round a
# handful of its numbers, and prove that the copy is right on every string (4).
#
# ## 1 Two writes count
#
# One write is never a translation. Two are: reflect at 0, then at $\frac12$, and $w \mapsto -w \mapsto 1 + w$. (*DeltaProduct*, Siems and others 2025, lets a token write several times, and $\beta$ may be 2, see section 5 of chapter 09.)
#
# **Claim (two writes).** One layer with two writes a token, $\beta \in [0, 2]$ and one key counts brackets exactly, resets, and keeps parity.
#
# **Step 1.** Two reflections, at $a$ and then at $b$, are the translation by $2(b - a)$.

# %% tags=["proof-two_writes"]
w, a, b = sp.symbols("w a b")
strength = 2

def write(w, beta, v):
    return w + beta * (v - w)

def read(w, writes):
    for beta, v in writes:
        w = sp.expand(write(w, beta, v))
    return w

both = read(w, [(strength, a), (strength, b)])
print("w ->", both)
assert sp.expand(both - w - 2 * (b - a)) == 0, "Two writes, step 1: two reflections are a translation"

# %% [markdown]
# **Step 2.** So these weights take $w$ to $w + 1$, to $w - 1$, to 0, and to $1 - w$. By induction on the first three,
# $w$ *is* the number of open brackets since the last reset, on every string. A token that flips a counter of its own keeps its parity there. **All cases.**

# %% tags=["proof-two_writes"]
w, half = sp.Symbol("w"), sp.Rational(1, 2)
program = {
    "(": [(2, 0), (2, half)],
    ")": [(2, 0), (2, -half)],
    "1": [(1, 0), (0, 0)],  # the reset; the second write is off
    "flip": [(2, half), (0, 0)],
}
does = {token: read(w, writes) for token, writes in program.items()}
for token, after in does.items():
    show.math(rf"\text{{at {token}}}: \quad w \mapsto", after)
assert does == {"(": w + 1, ")": w - 1, "1": 0, "flip": 1 - w}, (
    "Two writes, step 2: counts, resets, keeps parity"
)


# %% [markdown]
# **Step 3.** Floats round nothing here: as long as the depth is below $2^{23}$, all numbers are halves of whole numbers, and float32 has
# them. The package's own layer, in float32 and with these weights, reads $(^{5000})^{5000}$:

# %% tags=["proof-two_writes"]
def brackets_layer(beta=40.0):
    """Three heads of size 1, of which the first counts; rows of a head: q, then k, v, b of each write."""
    layer = FastWeights(3, heads=3, feature_map="unit", allow_negative_eigenvalues=True, householders=2)
    weights = torch.zeros(3, 7, 3)  # heads, rows, tokens ( ) 1
    weights[0, [0, 1, 4]] = 1  # q and both keys
    weights[0, [3, 6], :2] = beta  # b of the brackets: 2 sigmoid(40) is 2 in float32
    weights[0, 5] = torch.tensor([0.5, -0.5, 0])  # v of the second write
    weights[0, 6, 2] = -200  # 2 sigmoid(-200) is 0; at b = 0 the first write has beta = 1
    with torch.no_grad():
        layer.slow.weight.copy_(weights.flatten(0, 1))
    return layer

def counts(layer, tokens):
    with torch.no_grad():
        return layer(torch.eye(3)[tokens][None])[0, :, 0].tolist()

deep, bracket_counter = [0] * 5000 + [1] * 5000, brackets_layer()
assert counts(bracket_counter, deep) == [*range(1, 5001), *range(4999, -1, -1)], (
    "Two writes, step 3: 5,000 deep and back"
)
print("depth 5,000 and back: exact")

# %% [markdown]
# And 20,000 random tokens with many resets; 2,000 of them also step by step. $\blacksquare$

# %% tags=["proof-two_writes"]
draw, depth, tokens, depths = np.random.default_rng(0), 0, [], []
for chance in draw.random((20_000, 2)):
    tokens.append(2 if chance[0] < 0.02 else int(depth > 0 and chance[1] > 0.55))
    depth = (depth + 1, depth - 1, 0)[tokens[-1]]
    depths.append(depth)
assert counts(bracket_counter, tokens) == depths, "Two writes, step 3: 20,000 tokens with resets"
bracket_counter.backend = "reference"
assert counts(bracket_counter, tokens[:2000]) == depths[:2000], "Two writes, step 3: and step by step"
print(f"{tokens.count(2)} resets, depth up to {max(depths)}: exact")

# %% [markdown]
# **Break it:** $\beta = 1.9$ in place of 2.

# %% tags=["proof-two_writes"]
with show.expect_failure("Two writes, step 1"):
    (w, a, b), strength = sp.symbols("w a b"), sp.Rational(19, 10)
    both = read(w, [(strength, a), (strength, b)])
    assert sp.expand(both - w - 2 * (b - a)) == 0, (
        "Two writes, step 1: two reflections are a translation"
    )


# %% [markdown]
# ## 2 The end of the interval is needed
#
# **Claim (the open interval).** If $0 < \beta|k|^2 < 2$ for all writes, then no number of writes a token counts exactly, whatever the keys are.
#
# **Step 1.** A token's writes multiply a row by $M = A_1 \cdots A_h$. By step 3 of the proof for one write ([09e](09e_bounded_depth.ipynb), section 2), $|xA_i| = |x|$ only if
# $x$ is orthogonal to $k_i$, and then $xA_i = x$. So $|xM| < |x|$ for every $x \ne 0$ in the span of the keys. **Sample:** the norm of $M$ on the
# span, for 200 random tokens with three writes and keys of four numbers, in floats.

# %% tags=["proof-open_interval"]
def random_token(draw, shares=(0.05, 1.95)):
    """M and c of one token, W -> W M + c (a row), and a basis of the span of its three keys."""
    M, c, keys = np.eye(4), np.zeros(4), draw.normal(size=(3, 4))
    for k, s, v in zip(keys, draw.uniform(*shares, 3), draw.normal(size=3)):
        A = np.eye(4) - s * np.outer(k, k) / (k @ k)
        M, c = M @ A, c @ A + s * v * k / (k @ k)
    return M, c, np.linalg.qr(keys.T)[0]

random_tokens = [random_token(np.random.default_rng(seed)) for seed in range(200)]
norms = [np.linalg.norm(basis.T @ M @ basis, 2) for M, c, basis in random_tokens]
print(f"the greatest norm on the span: {max(norms):.3f}")
assert max(norms) < 1, "The open interval, step 1: a contraction on the span (sampled)"

# %% [markdown]
# **Step 2.** What is written, $c$, lies in the span. So after equal tokens, from $W_0 = 0$, the difference $W_{m+1} - W_m = c\,M^m$ falls at least
# as fast as the $m$-th power of that norm. The states are bounded, and the proof ends as that of one write. $\blacksquare$ **Sample:** the same
# 200 tokens, $m = 50$.

# %% tags=["proof-open_interval", "varies", "nbval-ignore-output"]
outside = [np.abs(c - c @ basis @ basis.T).max() for M, c, basis in random_tokens]
after_50 = [np.linalg.norm(c @ np.linalg.matrix_power(M, 50)) for M, c, basis in random_tokens]
limits = [norm**50 * np.linalg.norm(c) for norm, (M, c, basis) in zip(norms, random_tokens)]
print(f"c is within {max(outside):.0e} of the span; largest of the differences after 50 tokens: {max(after_50):.1g}")
assert max(outside) < 1e-9, "The open interval, step 2: what is written lies in the span (sampled)"
assert all(size <= bound + 1e-12 for size, bound in zip(after_50, limits)), (
    "The open interval, step 2: and falls (sampled)"
)

# %% [markdown]
# **Step 3.** The counter above with $\beta = 1.99$ is the leaking one, with $e = 1 - 0.99^2$ and brackets that count for $0.995$ each. By the
# formula for the leak it is wrong from depth 6 on.

# %% tags=["proof-open_interval"]
w, beta = sp.Symbol("w"), sp.Rational(199, 100)
first = w + beta * (0 - w)
second = sp.expand(first + beta * (sp.Rational(1, 2) - first))
leak = 1 - second.coeff(w)
worth = sp.expand(second - (1 - leak) * w)
deepest = next(m for m in range(1, 100) if worth * (1 - (1 - leak) ** m) ** 2 / leak > sp.Rational(1, 2))
print("( takes w to", second, " so e =", leak, " wrong from depth", deepest)
assert leak == 1 - sp.Rational(99, 100) ** 2 and worth == beta / 2, (
    "The open interval, step 3: a leak of 0.0199"
)
assert deepest == 6, "The open interval, step 3: wrong from depth 6 on"

# %% [markdown]
# **Break it:** shares of 2.

# %% tags=["proof-open_interval"]
with show.expect_failure("The open interval, step 1"):
    at_two = [
        np.linalg.norm(random_token(np.random.default_rng(seed), shares=(2, 2))[0], 2)
        for seed in range(200)
    ]
    assert max(at_two) < 1 - 1e-9, "The open interval, step 1: a contraction on the span"

# %% [markdown]
# ## 3 Is it learned?
#
# The weights above are written by hand. Does descent find such weights? From the released start the delta rules of
# [09i](09i_paper_checked.ipynb) are right, or nearly, on Bin0 of reset Dyck-1. Of Bin1 they have little more than half to two thirds. A start near
# addition makes the reset hard to learn. The proof above suggests a better start: all writes go to one key, and every $\beta$ starts near 2 (at
# $2\sigma(12) = 1.99999$). Then each token is a translation at first. The net still has to learn the values, and that the token 1 must lower
# a $\beta$. (Predict: once the net knows reset Dyck-1, how much of what a head holds is left after each of the three tokens?)

# %% tags=["proof-found_counter", "varies", "nbval-ignore-output"]
for seed in range(9):
    made = ch09.resetting_net(seed)
    left = dict(zip("()1", ch09.left(made.net)))
    machines = [
        head
        for head, (up, down, reset) in enumerate(zip(*left.values()), 1)
        if min(up, down) > 0.99 and abs(reset) < 0.1
    ]
    if machines:
        break
show.table(
    [
        {"token": token, **{f"left in head {k}": f"{share:.4f}" for k, share in enumerate(shares, 1)}}
        for token, shares in left.items()
    ],
    caption=f"Live, seed {seed}, 3,000 batches: the share of what a head holds that is left after a "
            f"token's two writes. Whole strings right: {made.watched[-1]['bin0']:.1%} of Bin0, "
            f"{made.watched[-1]['bin1']:.1%} of Bin1.",
)  # fmt: skip
print("heads in which brackets leave what is there, and the token 1 wipes it:", machines or "none")

# %% [markdown]
# A head that the last line names *is* the program of step 2, found by descent. A bracket leaves nearly all that is there and moves it; the
# token 1 leaves nearly nothing. With twice as many batches, on five times as many strings, such nets get all of Bin0 of reset Dyck-1 right, and
# four seeds of five get all of Bin1. That is the row *near translation* of [09i](09i_paper_checked.ipynb), which does well on the other seven tasks, too.

# %% [markdown]
# ## 4 Snap it, and prove it for every string
#
# The net above is not right for ever. A bracket leaves nearly all of what is there, but not all. A `1` leaves nearly nothing, but not nothing. The
# steps of `(` and `)` are not quite opposite. The other head counts nothing, and still takes part in the answer. These errors are small, and
# every token carries them on.
#
# So we set each number to the exact one that it is near. The counting head gets the values and strengths of step 2 of section 1. Its step $c$ is
# half the difference of the net's own two steps. The other head writes nothing. All else stays as trained: embedding, queries, norms,
# feed-forward part, readout. (Predict: of strings four times as long as those of training, how many does the net get right, and how many its
# copy?)

# %% tags=["proof-found_counter", "varies", "nbval-ignore-output"]
counter_net, counter = made.net.double(), machines[0] - 1
counter_block = counter_net.blocks[0]
with torch.no_grad():  # by token, write and head; queries by token and head
    queries, _, own_v, own_beta = counter_block.mixer.program(counter_net.symbol_inputs())
    first, second = own_beta[:, 0, counter, None], own_beta[:, 1, counter, None]
    moves = (1 - second) * first * own_v[:, 0, counter] + second * own_v[:, 1, counter]
step_c = ((moves[0] - moves[1]) / 2 * 1024).round() / 1024  # sums of such numbers are exact in floats
snapped_v, snapped_beta = torch.zeros_like(own_v), torch.zeros_like(own_beta)
snapped_v[:2, 1, counter] = torch.stack([step_c / 2, -step_c / 2])
snapped_beta[:2, :, counter], snapped_beta[2, 0, counter] = 2, 1

def whole_right(strings, snapped):
    """The share of whole strings that the net has right, with its own or the snapped writes."""
    mixer, written = counter_block.mixer, (snapped_v[strings.tokens], snapped_beta[strings.tokens])
    mixer.backend = "reference"  # the compiled backend makes its own writes
    if snapped:
        mixer.program = lambda z: (*FastWeights.program(mixer, z)[:2], *written)
    with torch.no_grad():
        right = counter_net(strings.tokens).argmax(-1) == strings.targets
    vars(mixer).pop("program", None)
    return (right | ~strings.mask).all(1).double().mean().item()

resets = ch09.COUNTER_TASKS["reset_dyck_1"]()
lines = []
for k in (0, 1, 3):
    draw = torch.Generator().manual_seed(9)
    strings = resets.batch(resets.test_strings(200, resets.bin(k), draw))
    copies = {"net": False, "its snapped copy": True}
    shares = {name: whole_right(strings, snapped) for name, snapped in copies.items()}
    lines.append({"sizes": "{} to {}".format(*resets.bin(k)), **shares})
show.table(
    [{**line, **{name: f"{line[name]:.1%}" for name in shares}} for line in lines],
    caption="Live. Whole strings right, of 200 of each bin.",
)

# %% [markdown]
# **Claim (the found counter).** The snapped copy of the trained net answers correctly on *every* string of reset Dyck-1, of every length (in real arithmetic).
#
# **Step 1.** Its memory goes from any $w$ to $w + c$ at `(`, to $w - c$ at `)`, and to 0 at `1`. By induction it is
# $d\,c$, where $d$ is the number of open brackets since the reset. **All cases**, with the copy's strengths and halves of $c$.

# %% tags=["proof-found_counter"]
w, c = sp.symbols("w c")
strengths = snapped_beta[:, :, counter].tolist()  # (token, write)
largest = int(step_c.abs().argmax())
shares_of_c = (snapped_v[:, :, counter, largest] / step_c[largest]).tolist()
wanted = {"(": w + c, ")": w - c, "1": 0}
does = {}
for token, betas, shares in zip(wanted, strengths, shares_of_c):
    does[token] = w
    for share, strength in zip(map(sp.nsimplify, shares), map(sp.nsimplify, betas)):
        does[token] = sp.expand(does[token] + strength * (share * c - does[token]))
for token, after in does.items():
    show.math(rf"\text{{at {token}}}: \quad w \mapsto", after)
assert does == wanted, "The found counter, step 1: the memory is d c"


# %% [markdown]
# **Step 2.** So the answer depends only on the token and on $d$. Let $\ell$ be the margin of the answer 1 over the answer 0. The block passes on the
# token's embedding plus what is read, $x = e + d\,u$, and adds a feed-forward part of the normalised $x$. So $\ell = A + B\,d + f$: the numbers $A$
# and $B$ belong to the token, and $f$ is the feed-forward part.
#
# A normalised vector of $D$ numbers has at most the length $\sqrt D$. So a unit of the feed-forward part gets at most its bias plus
# $\sqrt D$ times the length of its weights. This bounds $|f| \le R$ for every $x$. Where $B > 0$, it follows that $\ell > 0$ for all
# $d > (R + |A|)/B$.

# %% tags=["proof-found_counter", "varies", "nbval-ignore-output"]
def block_output(token, depth):
    """x = e + d u, and what the block makes of it, of a token at a depth."""
    y = torch.zeros_like(queries[token])
    y[counter] = depth * step_c * queries[token, counter, 0]  # all keys are the first unit vector
    x = counter_net.encoder.weight[token] + counter_block.gate(y.flatten())
    return x, counter_block.after(counter_net.encoder.weight[token], y.flatten())

with torch.no_grad():
    aim, bias = (part[1] - part[0] for part in counter_net.head[0].parameters())  # of the lead
    norm, (W1, b1, W2, b2) = counter_block.ff_norm, counter_block.ff.parameters()
    longest = len(aim) ** 0.5
    most = longest * (W1 * norm.weight).norm(dim=1) + b1 + W1 @ norm.bias  # of each unit
    R = float((aim @ W2).abs() @ most.clamp(min=0) + (aim @ b2).abs() + bias.abs())
    A = [float(aim @ block_output(token, 0)[0]) for token in (0, 1)]
    B = [float(aim @ block_output(token, 1)[0]) - A[token] for token in (0, 1)]
enough = [int((R + abs(a)) / b) + 1 for a, b in zip(A, B)]
print(f"R = {R:.0f}, B = {B[0]:.2f} at ( and {B[1]:.2f} at ):",
      f"right from depths {enough[0]} and {enough[1]} on")  # fmt: skip
assert min(B) > 0, "The found counter, step 2: the lead grows with the depth"


# %% [markdown]
# **Step 3.** Up to these depths, one by one: at `(` a bracket is always open, at `1` never, and at `)` both occur. $\blacksquare$ **Float:** in
# doubles; the margins are far above their rounding.

# %% tags=["proof-found_counter", "varies", "nbval-ignore-output"]
def lead(token, depth):
    with torch.no_grad():
        closed, opened = counter_net.head(counter_net.final_norm(block_output(token, depth)[1]))
    return float(opened - closed)

least = {
    "(": min(lead(0, d) for d in range(1, enough[0] + 1)),
    ")": min(lead(1, d) for d in range(1, enough[1] + 1)),
    ") at depth 0": -lead(1, 0),
    "1": -lead(2, 0),
}
print("least margins:", {case: round(margin, 1) for case, margin in least.items()})
assert min(least.values()) > 0.1, "The found counter, step 3: every answer is right"

# %% [markdown]
# **Break it:** let `1` leave a hundredth of what was there.

# %% tags=["proof-found_counter"]
with show.expect_failure("The found counter, step 1"):
    w = sp.Symbol("w")
    leaky = {**does, "1": w + sp.Rational(99, 100) * (0 - w)}
    print("1 takes w to", leaky["1"])
    assert leaky == wanted, "The found counter, step 1: the memory is d c"

# %% [markdown]
# A network trained for seconds on strings of up to 50 tokens has a counter in it that is right for ever. The snapped machine of chapter 02 has five states; this one has infinitely many, so no search over states
# can prove it. Instead we used induction for the memory and a bound for the readout.
