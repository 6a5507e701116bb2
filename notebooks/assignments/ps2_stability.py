# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Problem set 2 · Stability and norms
#
# Six tasks, 18 points, about an hour and a half. They belong to chapters 02 and 04: what keeps $x_t = A_t x_{t-1} +
# b_t$ from exploding, and what a norm says about it.
#
# Each answer is a **function** with the name given here; fill in its body, and run the test below it. You may add
# cells and functions of your own. A function must take and return plain data: numbers, text, lists, tuples, arrays.
# When this is graded, the tests below run again, and others with inputs that you have not seen.
#
# Before you hand in: *Kernel, Restart and Run All*, save, and `lrnnlab course validate ps2.ipynb`.

# %% nbgrader={"grade_id": "ps2-setup", "locked": true}
import itertools
import math

import numpy as np

from lrnnbook.content.exercises import agree, call, claim, expect, numbers

# %% [markdown]
# ## ps2.1 · Column norms
# *★ · 10 minutes · 3 points. Teaches: which way round a transition is read (chapter 02, section 1: A column says where a state goes)*
#
# In $x \leftarrow A x$ the *column* $j$ of $A$ says where state $j$ goes. Write `column_norms(A, p)`: the $p$-norm
# $(\sum_i |A_{ij}|^p)^{1/p}$ of every column, for any $p \ge 1$ and for `math.inf` (the largest $|A_{ij}|$).
#
# <details><summary>Hint</summary>A sign must not show in the norm. Which axis of the array counts rows?</details>


# %% nbgrader={"grade_id": "ps2_1", "solution": true}
def column_norms(A, p):
    """The p-norm of every column of A (a list of rows)."""
    ### BEGIN SOLUTION
    # Axis 0 runs down a column. The largest entry is what is left of the sum as p grows.
    size = np.abs(np.array(A, dtype=float))
    return size.max(axis=0) if p == math.inf else (size**p).sum(axis=0) ** (1 / p)
    ### END SOLUTION


# %% nbgrader={"grade_id": "ps2_1_seen", "grade": true, "points": 1}
expect(column_norms, [(([[3, 0], [4, 1]], 2), [5, 1]), (([[3, 0], [4, 1]], 1), [7, 1])])
print("ps2.1: right on the examples shown")

# %% nbgrader={"grade_id": "ps2_1_hidden", "grade": true, "points": 2}
# Run when this is graded: negative entries, other p, infinity, blocks that are not square.
### BEGIN HIDDEN TESTS
# says: negative entries, p = 1, an infinite p, or a block that is not square
_draw = np.random.default_rng(1)
for _shape, _p in itertools.product(((2, 2), (3, 5), (8, 8)), (1, 1.2, 2, 3.5, math.inf)):
    _A = _draw.normal(size=_shape).tolist()
    expect(column_norms, [((_A, _p), [np.linalg.norm([row[j] for row in _A], _p) for j in range(_shape[1])])])
### END HIDDEN TESTS

# %% [markdown]
# ## ps2.2 · The paper's column rule
# *★★ · 15 minutes · 3 points. Teaches: Eq. 6 of paper 000, as code (chapter 02, section 3: What keeps it from exploding)*
#
# Equation 6 replaces each column $v$ of a block by $v / \max(1, \|v\|_p)$: long columns are cut back to norm 1, short
# ones stay as they are. Write `clip_columns(A, p)` for finite $p$.
#
# <details><summary>Hint</summary>Use the task before. What must happen to a column of zeros?</details>


# %% nbgrader={"grade_id": "ps2_2", "solution": true}
def clip_columns(A, p):
    """The block with every column v divided by max(1, its p-norm)."""
    ### BEGIN SOLUTION
    # The maximum with 1 also takes care of columns of zeros: nothing is ever divided by less than 1.
    A = np.array(A, dtype=float)
    return A / np.maximum(1, (np.abs(A) ** p).sum(axis=0) ** (1 / p))
    ### END SOLUTION


# %% nbgrader={"grade_id": "ps2_2_seen", "grade": true, "points": 1}
expect(clip_columns, [(([[3, 0.5], [4, 0]], 2), [[0.6, 0.5], [0.8, 0]])])
print("ps2.2: right on the example shown")

# %% nbgrader={"grade_id": "ps2_2_hidden", "grade": true, "points": 2}
# Run when this is graded: against the rule that the package trains with.
### BEGIN HIDDEN TESTS
# says: a column that is short enough already, a column of zeros, or another p
import torch

from lrnnlab.models.layers.transitions import COLUMN_RULES


def _package(A, p):
    return COLUMN_RULES["clip"](torch.tensor(A, dtype=torch.float64), p).tolist()


_draw = np.random.default_rng(2)
_blocks = [_draw.normal(size=(n, n)).round(2).tolist() for n in (2, 3, 8)] + [[[0.0, 2.0], [0.0, -2.0]]]
agree(clip_columns, _package, list(itertools.product(_blocks, (1, 1.2, 2, 4))))
### END HIDDEN TESTS

# %% [markdown]
# ## ps2.3 · Break the hypothesis
# *★★ · 20 minutes · 4 points. Teaches: that a column norm of 1 is no bound, unless p = 1 (chapter 02a, section 1: How much a product can grow, for every p)*
#
# With $p = 1$ a product of such blocks never grows. Show that it does for every $p > 1$: write `growing_block(p, b)`,
# a $b \times b$ block ($b \ge 2$) whose columns have $p$-norm at most 1, and whose largest $|$eigenvalue$|$ is
# $b^{1-1/p}$, which is the most there can be.
#
# <details><summary>Hint</summary>All entries equal. A column of b numbers c has the p-norm c b^(1/p).</details>


# %% nbgrader={"grade_id": "ps2_3", "solution": true}
def growing_block(p, b):
    """A (b, b) block within Eq. 6 whose spectral radius is b^(1 - 1/p)."""
    ### BEGIN SOLUTION
    # The vector of ones is multiplied by b * b^(-1/p): every row sums to that.
    return np.full((b, b), b ** (-1 / p))
    ### END SOLUTION


# %% nbgrader={"grade_id": "ps2_3_seen", "grade": true, "points": 2}
def grows(function, p, b):
    """Claims that function(p, b) obeys Eq. 6 and grows as fast as it can."""
    A = numbers(call(function, p, b), (b, b), "the block", real=True)
    claim(np.isfinite(A).all(), f"p={p}, b={b}: not all entries are finite numbers")
    longest = (np.abs(A) ** p).sum(0).max() ** (1 / p)
    claim(longest <= 1 + 1e-9, f"p={p}, b={b}: a column has the norm {longest:.6f}")
    radius, most = np.abs(np.linalg.eigvals(A)).max(), b ** (1 - 1 / p)
    claim(radius >= most * (1 - 1e-6), f"p={p}, b={b}: the largest eigenvalue is {radius:.4f}, possible is {most:.4f}")


grows(growing_block, 2, 2)
print("ps2.3: a block of size 2 that grows by sqrt(2) a step")

# %% nbgrader={"grade_id": "ps2_3_hidden", "grade": true, "points": 2}
# Run when this is graded: other p and sizes.
### BEGIN HIDDEN TESTS
# says: p near 1, or b larger than 2
_exponents, _sizes = (1.01, 1.2, 2, 7), (2, 3, 8)  # vary: (1.02, 1.3, 3), (2, 5, 7) | (1.05, 1.7, 9), (3, 4, 11) | (1.01, 2.5, 6), (2, 6, 9)
for _p, _b in itertools.product(_exponents, _sizes):
    grows(growing_block, _p, _b)
### END HIDDEN TESTS

# %% [markdown]
# ## ps2.4 · At which step does it overflow?
# *★★ · 15 minutes · 3 points. Teaches: that stability is a question of length; predict, then compute (chapter 02a, section 2: When float32 overflows)*
#
# By ps2.3 the size of the state can grow by the factor $b^{1-1/p}$ a step. Let it be 1 at the start. Write
# `overflow_step(p, b)`: the first step at which it is larger than the largest float32, $(2^{24} - 1) \cdot 2^{104}$;
# and `None` if that never happens. First *predict* for $p = 1.2$, $b = 8$, the setting of the paper: more or less
# than the 500 steps of its test?
#
# <details><summary>Hint</summary>Logarithms. What happens at p = 1?</details>


# %% nbgrader={"grade_id": "ps2_4", "solution": true}
def overflow_step(p, b):
    """The first step at which b^(1 - 1/p) to the power of the step is above the largest float32, or None."""
    ### BEGIN SOLUTION
    # k (1 - 1/p) ln b > ln max: the first whole k above the quotient. At p = 1 or b = 1 nothing grows.
    rate = (1 - 1 / p) * math.log(b)
    if rate <= 0:
        return None
    return math.floor(math.log((2**24 - 1) * 2**104) / rate) + 1
    ### END SOLUTION


# %% nbgrader={"grade_id": "ps2_4_seen", "grade": true, "points": 1}
expect(overflow_step, [((1.2, 8), 256)], rtol=0, atol=0)  # a count is exact
print("ps2.4: right for the setting of the paper. Did you predict it?")


# %% nbgrader={"grade_id": "ps2_4_hidden", "grade": true, "points": 2}
# Run when this is graded: other p and b, and where nothing grows.
### BEGIN HIDDEN TESTS
def _by_steps(p, b):
    """One multiplication a step, in logarithms to base 2."""
    size, step, factor = 0.0, 0, (1 - 1 / p) * math.log2(b)
    while size <= math.log2((2**24 - 1) * 2**104):
        size, step = size + factor, step + 1
    return step


# says: other p and b, or p = 1
_pairs = [(2, 3), (1.1, 5), (1.5, 12), (1.01, 8), (40, 1000)]  # vary: [(3, 5), (1.2, 7), (1.03, 9)] | [(2, 6), (1.4, 3), (50, 900)]
agree(overflow_step, _by_steps, _pairs, rtol=0, atol=0)
expect(overflow_step, [((1, 8), None), ((3, 1), None)])
### END HIDDEN TESTS

# %% [markdown]
# ## ps2.5 · The norm under white input
# *★★ · 15 minutes · 3 points. Teaches: what a norm-preserving transition does to noise (paper 001; chapter 04, section 1: Lemma 3, and one symbol)*
#
# A head of RotRNN does $x_t = \gamma R\,x_{t-1} + B u_t$ with a rotation $R$ and white input: mean 0, covariance $I$,
# uncorrelated in time. So $\mathbb{E}\|x_t\|^2 = \gamma^2\,\mathbb{E}\|x_{t-1}\|^2 + \mathrm{Tr}(B^\top B)$.
#
# Write `norm_after(gamma, trace, start, t)`: $\mathbb{E}\|x_t\|^2$, if it is `start` at $t = 0$. It must be quick for
# $t = 10^{12}$ too.
#
# <details><summary>Hint</summary>A geometric series; which gamma needs a line of its own?</details>


# %% nbgrader={"grade_id": "ps2_5", "solution": true}
def norm_after(gamma, trace, start, t):
    """E ||x_t||^2 after t steps from start."""
    ### BEGIN SOLUTION
    # s_t = g^2t s_0 + trace (1 + g^2 + ... + g^(2t-2)); without decay the sum has t equal terms.
    if gamma**2 == 1:
        return start + trace * t
    decayed = gamma ** (2 * t)
    return decayed * start + trace * (1 - decayed) / (1 - gamma**2)
    ### END SOLUTION


# %% nbgrader={"grade_id": "ps2_5_seen", "grade": true, "points": 1}
expect(norm_after, [((0.5, 3, 0, 1), 3), ((0.5, 3, 0, 2), 3.75), ((0.5, 3, 8, 1), 5)])
print("ps2.5: right on the examples shown")


# %% nbgrader={"grade_id": "ps2_5_hidden", "grade": true, "points": 2}
# Run when this is graded: many steps, no step at all, no decay.
### BEGIN HIDDEN TESTS
# says: no step at all, many steps, or no decay
def _step_by_step(gamma, trace, start, t):
    for _ in range(t):
        start = gamma**2 * start + trace
    return start


agree(norm_after, _step_by_step, [(0.9, 0.19, 4.0, 0), (0.999, 0.1, 2.0, 700), (1, 0.5, 1.0, 9), (0, 2, 7, 3)])
expect(norm_after, [((0.9, 0.19, 4.0, 10**12), 1.0), ((1, 2, 1, 10**12), 2 * 10**12 + 1)])
### END HIDDEN TESTS

# %% [markdown]
# ## ps2.6 · Put the paper right
# *★★ · 10 minutes · 2 points. Teaches: that a printed constant wants checking (chapter 04c, section 2: Eq. 11 inherits the error)*
#
# Drive the head with $\xi B u_t$ instead. Equation 11 of paper 001 chooses $\xi^2 = (1 -
# c\,\gamma^2)/\mathrm{Tr}(B^\top B)$ to hold $\mathbb{E}\|x_t\|^2 = c$. That is right for $c = 1$ only. Write
# `drive(gamma, trace, c)`: the $\xi^2$ that does it for every $c > 0$.
#
# <details><summary>Hint</summary>Put c on both sides of the recursion of ps2.5.</details>


# %% nbgrader={"grade_id": "ps2_6", "solution": true}
def drive(gamma, trace, c):
    """xi^2 that keeps E ||x_t||^2 = c."""
    ### BEGIN SOLUTION
    # c = gamma^2 c + xi^2 trace.
    return c * (1 - gamma**2) / trace
    ### END SOLUTION


# %% nbgrader={"grade_id": "ps2_6_seen", "grade": true, "points": 1}
expect(drive, [((0.5, 3, 1), 0.25)])
print("ps2.6: right for c = 1, as the paper is")

# %% nbgrader={"grade_id": "ps2_6_hidden", "grade": true, "points": 1}
# Run when this is graded: other c.
### BEGIN HIDDEN TESTS
# says: another c
_cases = (0.9, 2.0, 4.0), (0.5, 0.1, 0.25), (0.999, 8.0, 30.0)  # vary: (0.8, 3.0, 2.0), (0.95, 0.2, 7.0) | (0.7, 1.5, 9.0), (0.99, 5.0, 0.5)
for _gamma, _trace, _c in _cases:
    _xi2 = float(numbers(call(drive, _gamma, _trace, _c), real=True))
    _kept = _gamma**2 * _c + _xi2 * _trace
    claim(abs(_kept - _c) <= 1e-9 * _c, f"gamma={_gamma}, trace={_trace}, c={_c}: one step leads from c to {_kept:.6g}")
### END HIDDEN TESTS
