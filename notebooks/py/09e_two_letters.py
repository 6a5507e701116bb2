# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 09e · Two letters
#
# How large may the strength be, and does it help a memory with one eigenvalue to read two letters in turn? *It takes* about 15 min to read. Behind [chapter 09](09_fast_weights.ipynb).

# %% tags=["hide-input"]
from fractions import Fraction

import numpy as np
import sympy as sp

import lrnnlab
from workbook import show
from workbook.chapters import fast_weight_solutions as fw
from workbook.exercises import hint, solution

EXPECTED = "0.1"
if not lrnnlab.__version__.startswith(EXPECTED):
    raise RuntimeError(
        f"this notebook needs lrnnlab {EXPECTED}, here is {lrnnlab.__version__}: run "
        "bootstrap.py"
    )
print(f"lrnnlab {EXPECTED}: ready")

# %% [markdown]
# ## 1 How large may the strength be?
#
# For stability the paper asks for keys that are positive and sum to one. That is enough, and more than is needed. **Claim (stability).** Stability takes $0 \le \beta|k|^2 \le 2$, no less and no more.
#
# **Step 1.** $|1 - s| \le 1$, with $s = \beta|k|^2$, if and only if $0 \le s \le 2$; for instance the key $(\frac35, -\frac45)$, neither positive nor of sum one, has the eigenvalue 0 at $\beta = 1$.

# %% tags=["proof-stability"]
s = sp.Symbol("s", real=True)
stable = sp.solve_univariate_inequality(sp.Abs(1 - s) <= 1, s, relational=False)
unit = (Fraction(3, 5), Fraction(-4, 5))
print("stable for s in", stable, " the eigenvalue of the key (3/5, -4/5):", 1 - sum(a * a for a in unit))
assert stable == sp.Interval(0, 2) and sum(a * a for a in unit) == 1, (
    "Stability, step 1: stable exactly for 0 <= s <= 2"
)


# %% [markdown]
# **Step 2.** What the memory says to $k$, with nothing new to write, is multiplied by $1 - s$ at each write: it is bounded at $s = 0, 1, 2$ over 200 writes, and beyond grows without bound ($s = \frac52$).

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
# **Step 3.** And *some* condition is needed: $\mathrm{elu}+1$ alone, without the division, is unstable. (5,000 keys of 8 numbers, $\beta = 0.9$.) $\blacksquare$

# %% tags=["proof-stability"]
x = np.abs(np.random.default_rng(0).normal(size=(5000, 8)))
least = (1 - 0.9 * ((x + 1) ** 2).sum(-1)).min()  # elu(x) + 1 = x + 1 for x > 0
print(f"the least eigenvalue is below -1: {least < -1}")
assert least < -1, "Stability, step 3: elu + 1 is unstable (sampled)"

# %% [markdown]
# **Break it:** at $s = 2.1$ what the memory says is not bounded any more.

# %% tags=["proof-stability"]
with show.expect_failure("Stability, step 2"):
    assert max(size_after(Fraction(21, 10)), after_200["2"]) <= 1, (
        "Stability, step 2: bounded at s = 2.1"
    )

# %% [markdown]
# ## 2 Two letters in turn do not help
#
# By section 3 of chapter 09 one repeated letter is not enough for parity. **Claim (two letters).** With $0 < \beta|k|^2 < 1$ one layer of DeltaNet cannot do $(abab)^*$ with a margin that stays either.
#
# Reading *ab* multiplies each row of $W$ by $M = (I - s\,kk^\top)(I - r\,ll^\top)$, with unit vectors $k$, $l$ along the two keys, and adds something. Only the plane of $k$ and $l$ matters; let $C$ be the square of the cosine between them. (If they are parallel, $C = 1$, this is the theorem of one letter, with $g = (1-s)(1-r)$.)
#
# **Step 1.** $\mathrm{tr}\,M = 2 - s - r + srC$ and $\det M = (1-s)(1-r)$, in the plane.

# %% tags=["proof-abab"]
s, r, angle, C = sp.symbols("s r angle C")
k, l = sp.Matrix([1, 0]), sp.Matrix([sp.cos(angle), sp.sin(angle)])
M = (sp.eye(2) - s * k * k.T) * (sp.eye(2) - r * l * l.T)
trace, det = 2 - s - r + s * r * C, (1 - s) * (1 - r)
print("trace", trace, "  determinant", det)
assert sp.simplify(M.trace() - trace.subs(C, sp.cos(angle) ** 2)) == 0, "Two letters, step 1: the trace"
assert sp.simplify(M.det() - det) == 0, "Two letters, step 1: the determinant"

# %% [markdown]
# **Step 2.** The eigenvalues are real: $\mathrm{tr}^2 - 4\det = (s-r)^2 + srC\,\bigl(2(1-s) + 2(1-r) + srC\bigr) \ge 0$. (We write $s = 1/(1+a)$, $r = 1/(1+b)$, $C = 1/(1+c)$ with positive $a, b, c$, so that SymPy sees the signs. At $C = 0$, keys at a right angle, the eigenvalues are $1-s$ and $1-r$.)

# %% tags=["proof-abab"]
s, r, C = sp.symbols("s r C")
a, b, c = sp.symbols("a b c", positive=True)
below_one = {s: 1 / (1 + a), r: 1 / (1 + b), C: 1 / (1 + c)}
more = s * r * C * (2 * (1 - s) + 2 * (1 - r) + s * r * C)
assert sp.expand(trace**2 - 4 * det - (s - r) ** 2 - more) == 0, "Two letters, step 2: the discriminant"
print("what is added to (s - r)^2:", sp.factor(more.subs(below_one)))
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
# **Step 4.** So after $(ab)^t$ any linear reading is $c_0 + c_1\lambda_1^t + c_2\lambda_2^t$ with $\lambda$s in $(0, 1)$ (or $c_0 + (c_1 + c_2t)\lambda^t$, if they are equal). As a function of a real $t$ its derivative is 0 once at most, so it crosses a threshold twice at most. But $(abab)^*$ wants a change at every $t$. And it has a limit, for every head, so whatever reads several heads continuously keeps no margin.
# (300 random layers in floats, keys of three numbers, 40 times *ab*, thresholds at the first ten values.) $\blacksquare$

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
