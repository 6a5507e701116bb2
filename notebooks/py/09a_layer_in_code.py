# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 09a · The layer in code
#
# What is a whole layer of fast weights, line by line, and what may not be done at once? *It takes* about 5 min to read. Behind [chapter 09](09_fast_weights.ipynb).

# %% tags=["hide-input"]
from inspect import getsource

import torch

import lrnnlab
from lrnnlab.models import FastWeights
from workbook.chapters import fast_weight_solutions as fw
from workbook.exercises import check, hint, solution

EXPECTED = "0.1"
if not lrnnlab.__version__.startswith(EXPECTED):
    raise RuntimeError(
        f"this notebook needs lrnnlab {EXPECTED}, here is {lrnnlab.__version__}: run "
        "bootstrap.py"
    )
print(f"lrnnlab {EXPECTED}: ready")

# %% [markdown]
# ## 1 The rules and the layer
#
# The proofs of this chapter run the rules by `fw.states` and `fw.outputs`, which take any numbers, fractions above all. These are their lines:

# %%
print(getsource(fw.states), getsource(fw.outputs), sep="\n\n")


# %% [markdown]
# And a whole layer, as the package trains it: the slow net is one matrix, and for every head it makes a query, a key, a value and $b_t$, with
# $\beta_t = \sigma(b_t)$. The features $\phi$ are those of the released code, $\mathrm{elu} + 1$ over its sum. (The package itself
# runs a compiled loop, or many tokens at once.)

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
# **Exercise 2** ★★ *(15 min, 4 points: to see what may not be done at once)* **Find the bug.** The delta rule asks the
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


my_delta = None  # exercise 2: a function of (W, keys, values, betas, size)
check("09.2", my_delta)

# %% [markdown]
# <!-- Exercise 09.2: from notebooks/workbook/exercises/ch09.md, by lrnnlab book build; change it there. -->
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
#
# <details><summary>Solution</summary>
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

# %% [markdown]
# ## Exercises
#
# You will find each exercise in its section. Stuck? `hint("09.2")`. Done? Compare with `solution("09.2")`.

# %% [markdown]
# <!-- The exercises of this chapter, listed by lrnnlab book build. -->
#
# 1 exercise, 4 points, about 15 minutes:
#
# | exercise | section | difficulty | minutes | points | you will learn |
# |---|---|---|---|---|---|
# | 2 | [2 A chunk at once](#2-A-chunk-at-once) | ★★ | 15 | 4 | to see what may not be done at once |
