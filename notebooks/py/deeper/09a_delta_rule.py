# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 09a · The delta rule
#
# What is a layer of the delta rule, line by line? How large may its strength be, and does it help to read two letters in turn? *It takes* about 15 min to read and 15 min for the exercises. Read [chapter 09](../09_fast_weights.ipynb) first.

# %% jupyter={"source_hidden": true} tags=["hide-input"]
from fractions import Fraction
from inspect import getsource

import numpy as np
import sympy as sp
import torch

import lrnnbook
from lrnnbook import show
from lrnnbook.content.chapters import fast_weight_solutions as fw
from lrnnbook.content.exercises import check, hint, solution
from lrnnlab.models.layers import FastWeights

lrnnbook.needs("0.1")

# %% [markdown]
# ## 1 The rules and the layer
#
# The proofs of this chapter run the rules with `fw.states` and `fw.outputs`. Both take any numbers, and we mostly give them fractions:

# %%
print(getsource(fw.states), getsource(fw.outputs), sep="\n\n")


# %% [markdown]
# Now a whole layer, as the package trains it. The slow net is one matrix. For every head it makes a query, a key, a value and $b_t$, with
# $\beta_t = \sigma(b_t)$. The features $\phi$ are those of the released code, $\mathrm{elu} + 1$ over its sum. (The package computes the same
# in a compiled loop, or for many tokens at once.)

# %%
def delta_layer(layer, inputs):
    """inputs (T, D) -> (T, D), the heads side by side."""
    n, said = layer.size, []
    W = inputs.new_zeros(layer.heads, n, n)  # one matrix of fast weights a head: W_0 = 0
    for x in inputs:
        slow = (layer.slow.weight @ x).unflatten(0, (layer.heads, -1))  # Eq. 1: what the slow net makes
        q, k, v, b = slow.split([n, n, n, 1], dim=1)
        q, k = ((torch.nn.functional.elu(z) + 1) for z in (q, k))
        q, k = q / q.sum(1, keepdim=True), k / k.sum(1, keepdim=True)
        error = v - (W @ k[:, :, None])[:, :, 0]  # what the memory's answer to k lacks
        W = W + (torch.sigmoid(b) * error)[:, :, None] * k[:, None, :]
        said.append((W @ q[:, :, None]).flatten())
    return torch.stack(said)


torch.manual_seed(0)
layer, inputs = FastWeights(8, heads=2).double(), torch.randn(50, 8, dtype=torch.float64)
with torch.no_grad():
    same = torch.allclose(delta_layer(layer, inputs), layer(inputs[None])[0])
print("these lines and the package's layer say the same, 50 inputs:", same)
assert same, "these lines are not the package's layer"


# %% [markdown]
# ## 2 A chunk at once

# %% [markdown]
# **Exercise 7** ★★ *(15 min, 4 points: to see what may not be done at once)* **Find the bug.** The delta rule asks the
# memory before every write. To be quick this function asks once for a whole chunk of `size` tokens, and writes the
# chunk by one product of matrices. With one-hot keys that are all different it gives what the rule gives, token by
# token. When not? Mend it: same arguments, the right $W$.

# %%
def delta_in_chunks(W, keys, values, betas, size):
    """W (m, n), keys (T, n), values (T, m), betas (T,) -> W after T tokens."""
    for start in range(0, len(keys), size):
        K, V, b = (part[start : start + size] for part in (keys, values, betas))
        said = K @ W.T  # (chunk, m): what the memory says to each key
        W = W + (b[:, None] * (V - said)).T @ K
    return W


my_delta = None  # exercise 7: a function of (W, keys, values, betas, size)
check("09.7", my_delta)

# %% [markdown]
# <!-- Exercise 09.7: from notebooks/lrnnbook/content/exercises/ch09.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint 1</summary>
#
# Write two values with one key, in one chunk. What should the memory say to it then?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# The second token of a chunk has to ask the memory that the first one has written to.
#
# </details>

# %% [markdown]
# ## 3 How large may the strength be?
#
# For stability the paper asks for keys that are positive and sum to one. That is enough, and more than you need.
#
# **Claim (stability).** The rule is stable if and only if $0 \le \beta|k|^2 \le 2$.
#
# **Step 1.** $|1 - s| \le 1$, with $s = \beta|k|^2$, if and only if $0 \le s \le 2$. For example, the key $(\frac35, -\frac45)$ is neither positive nor
# of sum one, and has the eigenvalue 0 at $\beta = 1$. **All cases.**

# %% tags=["proof-stability"]
s = sp.Symbol("s", real=True)
stable = sp.solve_univariate_inequality(sp.Abs(1 - s) <= 1, s, relational=False)
unit = (Fraction(3, 5), Fraction(-4, 5))
print("stable for s in", stable, " the eigenvalue of the key (3/5, -4/5):", 1 - sum(a * a for a in unit))
assert stable == sp.Interval(0, 2) and sum(a * a for a in unit) == 1, (
    "Stability, step 1: stable exactly for 0 <= s <= 2"
)


# %% [markdown]
# **Step 2.** Write 0 again and again. Each write multiplies the memory's answer to $k$ by $1 - s$. Over 200 writes it stays bounded at
# $s = 0, 1, 2$, and beyond 2 it grows without bound ($s = \frac52$).

# %% tags=["proof-stability"]
def size_after(s, T=200):
    one_number = fw.table([[1]], [[1]], [[0]], [s])
    return abs(fw.states(one_number, (0,) * T, "delta", start=one_number.keys)[-1][0, 0])

after_200 = {str(s): size_after(s) for s in (Fraction(0), Fraction(1), Fraction(2), Fraction(5, 2))}
print({s: f"{float(size):.2g}" for s, size in after_200.items()})
assert all(after_200[s] == abs(1 - Fraction(s)) ** 200 for s in after_200), (
    "Stability, step 2: |1 - s|^T"
)
assert max(after_200["0"], after_200["1"], after_200["2"]) <= 1 < 10**30 < after_200["5/2"], (
    "Stability, step 2: bounded, and not bounded"
)

# %% [markdown]
# **Step 3.** Some condition *is* needed: $\mathrm{elu}+1$ without the division is unstable. $\blacksquare$ **Sample:** 5,000 keys of 8 numbers,
# $\beta = 0.9$.

# %% tags=["proof-stability"]
x = np.abs(np.random.default_rng(0).normal(size=(5000, 8)))
least = (1 - 0.9 * ((x + 1) ** 2).sum(-1)).min()  # elu(x) + 1 = x + 1 for x > 0
print(f"the least eigenvalue: {least:.1f}")
assert least < -1, "Stability, step 3: elu + 1 is unstable (sampled)"

# %% [markdown]
# **Break it:** at $s = 2.1$ the answer is no longer bounded.

# %% tags=["proof-stability"]
with show.expect_failure("Stability, step 2"):
    assert max(size_after(Fraction(21, 10)), after_200["2"]) <= 1, (
        "Stability, step 2: bounded at s = 2.1"
    )

# %% [markdown]
# ## 4 Two letters in turn do not help
#
# With one repeated letter the delta rule has no parity (chapter 09, section 3). Are two letters in turn easier?
#
# **Claim (two letters).** With $0 < \beta|k|^2 < 1$ one layer of DeltaNet cannot do $(abab)^*$ with a margin that stays.
#
# Reading *ab* multiplies each row of $W$ by $M = (I - s\,kk^\top)(I - r\,ll^\top)$, with unit vectors $k$, $l$ along the two keys, and adds something. Only the plane of $k$ and $l$ matters; let $C$ be the square of the cosine between them. (If they are parallel, $C = 1$, this is the theorem of one letter, with $g = (1-s)(1-r)$.)
#
# **Step 1.** $\mathrm{tr}\,M = 2 - s - r + srC$ and $\det M = (1-s)(1-r)$, in the plane.

# %% tags=["proof-abab"]
s, r, angle, C = sp.symbols("s r angle C")
k, l = sp.Matrix([1, 0]), sp.Matrix([sp.cos(angle), sp.sin(angle)])
M = (sp.eye(2) - s * k * k.T) * (sp.eye(2) - r * l * l.T)
trace, det = 2 - s - r + s * r * C, (1 - s) * (1 - r)
show.math(r"\text{trace: }", trace, r"; \quad \text{determinant: }", det)
assert sp.simplify(M.trace() - trace.subs(C, sp.cos(angle) ** 2)) == 0, "Two letters, step 1: the trace"
assert sp.simplify(M.det() - det) == 0, "Two letters, step 1: the determinant"

# %% [markdown]
# **Step 2.** The eigenvalues are real: $\mathrm{tr}^2 - 4\det = (s-r)^2 + srC\,\bigl(2(1-s) + 2(1-r) + srC\bigr) \ge 0$.
#
# To show SymPy the signs, we write $s = 1/(1+a)$, $r = 1/(1+b)$ and $C = 1/(1+c)$ with positive $a, b, c$. At $C = 0$ the keys are at a right
# angle, and the eigenvalues are $1-s$ and $1-r$.

# %% tags=["proof-abab"]
s, r, C = sp.symbols("s r C")
a, b, c = sp.symbols("a b c", positive=True)
below_one = {s: 1 / (1 + a), r: 1 / (1 + b), C: 1 / (1 + c)}
more = s * r * C * (2 * (1 - s) + 2 * (1 - r) + s * r * C)
assert sp.expand(trace**2 - 4 * det - (s - r) ** 2 - more) == 0, "Two letters, step 2: the discriminant"
show.math(r"\text{added to } (s - r)^2: \quad", sp.factor(more.subs(below_one)))
assert sp.factor(more.subs(below_one)).is_positive, "Two letters, step 2: it is positive"

# %% [markdown]
# **Step 3.** They lie in $(0, 1)$: their product and their sum are positive, and so are the product $(1-\lambda_1)(1-\lambda_2) = sr(1 - C)$ and the sum $s + r - srC$ of $1 - \lambda_1$ and $1 - \lambda_2$.

# %% tags=["proof-abab"]
s, r, C = sp.symbols("s r C")
claimed = {"product": (det, det), "sum": (trace, (1 - s) + (1 - r) + s * r * C),
           "product of 1 - each": (1 - trace + det, s * r * (1 - C)),
           "sum of 1 - each": (2 - trace, s + r - s * r * C)}  # fmt: skip
for name, (found, formula) in claimed.items():
    assert sp.expand(found - formula) == 0, "Two letters, step 3: the formulas"
    assert sp.factor(sp.together(formula.subs(below_one))).is_positive, (
        "Two letters, step 3: all four are positive"
    )
print("positive:", ", ".join(claimed))


# %% [markdown]
# **Step 4.** So after $(ab)^t$ any linear reading is $c_0 + c_1\lambda_1^t + c_2\lambda_2^t$ with $\lambda$s in $(0, 1)$ (or $c_0 + (c_1 + c_2t)\lambda^t$, if they are equal). As a function of a real $t$ its derivative is 0 at most
# once, so it crosses a threshold at most twice. But $(abab)^*$ needs a change at every $t$. Every head has a limit as well, so a continuous
# reading of several heads keeps no margin. $\blacksquare$ **Sample:** 300 layers in floats, keys of three numbers, 40 times *ab*, thresholds at
# the first ten values.

# %% tags=["proof-abab"]
def most_crossings(shares, angle=None, T=40):
    found = []
    for seed in range(300):
        draw = np.random.default_rng(seed)
        keys, values, q = draw.normal(size=(2, 3)), draw.normal(size=2), draw.normal(size=3)
        if angle is not None:
            keys, q = np.array([[1, 0, 0], [np.cos(angle), np.sin(angle), 0]]), np.array([0.3, 1, 0])
        betas = draw.uniform(*shares, 2) / (keys**2).sum(1)  # beta |k|^2 is the share
        w, read = np.zeros(3), []
        for token in (0, 1) * T:
            w = w + betas[token] * (values[token] - w @ keys[token]) * keys[token]
            read += [w @ q] if token else []
        levels = np.array(read[:10])[:, None] + 1e-9
        found.append(np.abs(np.diff(np.array(read) >= levels, axis=1)).sum(1).max())
    return int(max(found))

most = most_crossings((0.05, 0.95))
print("crossings of a threshold by (ab)^t, at most:", most)
assert most <= 2, "Two letters, step 4: two crossings at most (300 layers, in floats)"

# %% [markdown]
# **Break it:** shares of 2, keys at 45°: the product of the two reflections is a quarter turn, whose eigenvalues are not real.

# %% tags=["proof-abab"]
with show.expect_failure("Two letters, step 4"):
    most = most_crossings((2, 2), angle=np.pi / 4)
    assert most <= 2, "Two letters, step 4: two crossings at most"

# %% [markdown]
# ## Exercises
#
# You will find each exercise in its section. Stuck? `hint("09.7")`. Done? Compare with `solution("09.7")`.

# %% [markdown]
# <!-- The exercises of this chapter, listed by lrnnlab book build. -->
#
# 1 exercise, 4 points, about 15 minutes:
#
# | exercise | section | difficulty | minutes | points | you will learn |
# |---|---|---|---|---|---|
# | 7 | [2 A chunk at once](#2-A-chunk-at-once) | ★★ | 15 | 4 | to see what may not be done at once |
#
# <details><summary>Solution of 09.7</summary>
#
# `said` is what the memory says *before* the chunk. A token whose key is not orthogonal to those of earlier
# tokens of its chunk corrects an answer that is not the memory's any more: two writes with one key add up, where the
# second should replace the first. One after the other it is right, and `size` plays no part:
#
# ```
# def my_delta(W, keys, values, betas, size):
#     for k, v, beta in zip(keys, values, betas):
#         W = W + beta * np.outer(v - W @ k, k)
#     return W
# ```
#
# Chunks can be kept. The corrections $u_t = \beta_t\,(v_t - W k_t - \sum_{s<t} (k_s\cdot k_t)\,u_s)$ of a chunk are the
# solution of a triangular system, and this is how fast kernels of the delta rule do it: with
# `M = np.eye(len(K)) + np.tril(b[:, None] * (K @ K.T), -1)` write
# `W + np.linalg.solve(M, b[:, None] * (V - said)).T @ K`.
#
# </details>
