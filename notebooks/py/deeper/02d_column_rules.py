# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 02d · Column rules
#
# Where do the paper and its code disagree, and what does Eq. 6 forbid a block to do? *It takes* about 30 min to read. Read [chapter 02](../02_block_diagonal_lrnn.ipynb) first.

# %% jupyter={"source_hidden": true} tags=["hide-input"]
import itertools
from fractions import Fraction

import numpy as np
import sympy as sp
import torch

import lrnnbook
from lrnnbook import show
from lrnnbook.content.chapters import ch02
from lrnnbook.content.exercises import hint, solution
from lrnnlab import models

lrnnbook.needs("0.1")


# %% [markdown]
# ## 1 Where the paper and its code disagree
#
# | | the paper | the released code |
# |---|---|---|
# | column rule | Eq. 6: each column by itself, $v / \max(1, \|v\|_p)$ | subtract from each column its mean, then divide the *whole block* by its largest column norm |
# | input term | $B u_k$, linear | a two-layer network of the normalised input |
# | $x_0$ | not said | learned |
# | readout $h$ | "may or may not be linear" | LayerNorm, Linear, ReLU, Linear |
# | supervision | reads as one answer a string | an answer after every prefix |
#
# On how to score they agree: "Each random trial returns the best testing accuracy over 40,000 gradient updates" (the
# caption of Table 2), and the code measures the accuracy at the last position up to 40 times. [02c](02c_modarith_and_the_table.ipynb), section 3, says what
# choosing the best of so many is worth.
#
# Of these differences the column rule decides what a block can be. The package has these rules: `clip` is Eq. 6;
# `release` is the code's rule; `centred` and `block` are its two halves, each alone; `unit` divides every column by
# its norm; `free` does nothing; `softmax` makes every column a probability distribution, so that Eq. 6 holds with
# $p = 1$ as an *equality*; and `hard` puts a 1 at the largest entry of each column and 0 elsewhere, which is a
# finite automaton.

# %% [markdown]
# Here each of them is one line of NumPy, compared with the package's:

# %%
def norms(V, p=1.2):
    return (abs(V) ** p).sum(0) ** (1 / p)  # of every column


rules = {
    "clip": lambda V: V / np.maximum(1, norms(V)),  # Eq. 6
    "centred": lambda V: rules["clip"](V - V.mean(0)),
    "block": lambda V: V / norms(V).max(),
    "release": lambda V: rules["block"](V - V.mean(0)),
    "unit": lambda V: V / norms(V),
    "softmax": lambda V: np.exp(V) / np.exp(V).sum(0),
    "hard": lambda V: (V == V.max(0)).astype(float),
    "free": lambda V: V,
}
drawn = np.random.default_rng(1).normal(size=(100, 4, 4))
for name, package in models.layers.transitions.COLUMN_RULES.items():
    same = all(np.allclose(rules[name](V), package(torch.tensor(V), 1.2)) for V in drawn)
    assert same, f"{name}: this line is not the package's rule"
print(f"{len(rules)} rules on {len(drawn)} blocks: these lines = the package's")

# %% jupyter={"source_hidden": true} tags=["hide-input", "nbval-ignore-output"]
raw_block = np.random.default_rng(3).normal(size=(4, 4)).round(2)
rule_widget = ch02.rule_widget(raw_block)
rule_widget

# %% jupyter={"source_hidden": true} tags=["hide-input"]
show.table(
    [ch02.rule_row(raw_block, rule) for rule in models.layers.transitions.COLUMN_RULES],
    caption="What each rule makes of this block's columns (norms with p = 1.2).",
)

# %% [markdown]
# ## 2 The released rule
#
# What does the released rule change? Subtracting its mean makes every column sum to 0.
#
# > **Theorem 6.** A block under the released rule has rank at most $b - 1$, so it forgets something at every token;
# > and unless every raw column is constant (then the block is 0) its largest column has norm exactly 1, so apart from 0
# > no block can be near zero. Blocks of entries of one sign, the worst
# > case of Eq. 6, cannot occur. But for even $b$ the worst growth is the same as under Eq. 6: $b^{1-1/p}$ a
# > step.
#
# **Step 1.** $\mathbf 1^\top A = 0$ for the centred block, so its rows are linearly dependent, and no column has
# entries of one sign unless it is zero. Dividing the block by its largest column norm changes neither, and makes
# that norm 1.
#
# **Step 2.** Take $s = (1, -1, 1, -1, \dots)$ and $A = b^{-1/p}\, s s^\top$. Its columns have mean 0 and $p$-norm 1,
# so the rule leaves it as it is; and $A s = b^{1-1/p} s$. $\blacksquare$

# %% tags=["proof-released"]
free = sp.Matrix(3, 3, sp.symbols("a0:9"))
centred = free - sp.ones(3, 3) * free / 3
assert (sp.ones(1, 3) * centred).expand() == sp.zeros(1, 3), "Theorem 6, step 1: rank at most b - 1"
assert sp.expand(centred.det()) == 0, "Theorem 6, step 1: rank at most b - 1"
print("column sums after centring:", *(sp.ones(1, 3) * centred).expand())

# %% tags=["proof-released"]
b, p = 8, sp.Rational(6, 5)
s = sp.Matrix([(-1) ** i for i in range(b)])
A = sp.Integer(b) ** (-1 / p) * s * s.T
norm = sum(abs(entry) ** p for entry in A[:, 0])
assert sp.ones(1, b) * A == sp.zeros(1, b) and sp.simplify(norm) == 1, "Theorem 6, step 2: the rule leaves it"
assert sp.simplify(A * s - sp.sqrt(2) * s) == sp.zeros(b, 1), "Theorem 6, step 2: the growth"
print("A s is √2 s at p = 1.2, b = 8, and every column sums to 0")

# %% [markdown]
# *Break it.* For odd $b$ the same $s$ does not sum to 0.

# %% tags=["proof-released"]
with show.expect_failure("Theorem 6, step 2"):
    s, p = sp.Matrix([(-1) ** i for i in range(7)]), sp.Rational(6, 5)
    A = sp.Integer(7) ** (-1 / p) * s * s.T
    assert sp.ones(1, 7) * A == sp.zeros(1, 7), "Theorem 6, step 2: the rule leaves it"

# %% [markdown]
# ## 3 What the bound costs: below $p = 2$ a block of size 2 turns only with loss
#
# To count modulo 5 with finitely many states and no input term a block needs an eigenvalue that is a fifth root of
# unity other than 1, such as $e^{2\pi i/5}$: a turn by 72 degrees (or 144), neither shrinking nor growing. The simplest block that turns is a rotation of the plane. Eq. 6 forbids it.
#
# > **Theorem 7.** For $p < 2$ the only blocks under Eq. 6 with $|\det A| = 1$, so the only ones that keep every
# > volume, are signed permutations (one entry $\pm1$ in each row and column).
#
# **Step 1.** $|\det A|$ is at most the product of the columns' 2-norms (Hadamard). For two columns of the plane the
# difference of the squares is the square of their inner product; for size 3 it is sampled, on 2,000 blocks.

# %% tags=["proof-isometries"]
a, c, e, f = sp.symbols("a c e f", real=True)
left = (a**2 + c**2) * (e**2 + f**2) - sp.Matrix([[a, e], [c, f]]).det() ** 2
A = np.random.default_rng(0).standard_normal((2000, 3, 3))
share = np.abs(np.linalg.det(A)) / np.linalg.norm(A, axis=1).prod(1)
assert sp.expand(left - (a * e + c * f) ** 2) == 0 and share.max() <= 1 + 1e-12, "Theorem 7, step 1: Hadamard"
show.math(r"\text{size 2: }", sp.factor(left))
print(f"size 3: largest share {share.max():.3f} of 2,000")

# %% [markdown]
# **Step 2.** For $p < 2$ a column with $\|v\|_p \le 1$ has $\|v\|_2 \le 1$, and $\|v\|_2 = 1$ only if it has one
# entry: a size $t = e^{-s}$ strictly between 0 and 1 has $t^2 < t^p$. So if $|\det A| = 1$, every column is a basis
# vector or its negative, and since the columns are independent no two have their entry in the same row.
#
# **Step 3.** All 48 signed permutations of size 3 obey Eq. 6 and have determinant $\pm1$.

# %% tags=["proof-isometries"]
s, gap = sp.symbols("s delta", positive=True)  # p = 2 - delta
loss = sp.simplify((sp.exp(-s) ** (2 - gap) - sp.exp(-s) ** 2) * sp.exp(2 * s))  # (t^p - t^2) / t^2
assert sp.simplify(loss - (sp.exp(s * gap) - 1)) == 0, "Theorem 7, step 2: one entry"
assert sp.diff(loss, s).is_positive and loss.subs(s, 0) == 0, "Theorem 7, step 2: one entry"
show.math("(t^p - t^2) / t^2 =", loss, r"\text{, which is 0 at } s = 0 \text{ and rises}")

# %% tags=["proof-isometries"]
signed = [sp.Matrix(3, 3, lambda i, j: signs[j] * (order[j] == i))
          for order in itertools.permutations(range(3))
          for signs in itertools.product((1, -1), repeat=3)]  # fmt: skip
assert all(abs(S.det()) == 1 for S in signed), "Theorem 7, step 3: signed permutations"
assert all(sum(map(abs, S[:, j])) == 1 for S in signed for j in range(3)), "Theorem 7, step 3: signed permutations"
print(len(signed), "signed permutations of size 3: columns of norm 1, determinant 1 or -1")

# %% [markdown]
# **Step 4.** So a rotation of the plane is excluded unless it is by a multiple of a quarter turn. The one with
# cosine $\tfrac35$ and sine $\tfrac45$, for example, has columns of $p$-norm above 1. $\blacksquare$ *Break it*: at
# $p = 2$ it obeys Eq. 6.

# %% tags=["proof-isometries"]
power = Fraction(6, 5)
norm = float(Fraction(3, 5)) ** float(power) + float(Fraction(4, 5)) ** float(power)
assert norm > 1 + 1e-9, "Theorem 7, step 4: the rotation breaks Eq. 6"
print(f"p = {float(power)}: the rotation's columns have p-norm {norm ** (1 / float(power)):.4f}")

# %% tags=["proof-isometries"]
with show.expect_failure("Theorem 7, step 4"):
    power = Fraction(2)
    norm = float(Fraction(3, 5)) ** float(power) + float(Fraction(4, 5)) ** float(power)
    assert norm > 1 + 1e-9, "Theorem 7, step 4: the rotation breaks Eq. 6"

# %% [markdown]
# ## 4 How much does a turn lose when it is clipped?
#
# > **Theorem 8.** Let $p > 1$. If a $2 \times 2$ block under Eq. 6 has the eigenvalue $r e^{i\theta}$, not real, then
# > $r \le 1/\|(\cos\theta, \sin\theta)\|_p$, and the clipped rotation attains it. At $p = 1.2$ an
# > eigenvalue that turns by 72 degrees has modulus at most 0.8676, so in the long run at most that share of the state is
# > left at each step; of the clipped rotation $10^{-31}$ is left after 500.
#
# **Step 1.** Write the block as $\begin{pmatrix}a & c\\ d & e\end{pmatrix}$ and $m = (a + e)/2 = r\cos\theta$. Then
# $r^2 = ae - cd$, the determinant, because the eigenvalues are $re^{i\theta}$ and $re^{-i\theta}$; and $ae \le m^2$.

# %% tags=["proof-size_two"]
a, c, d, e, lam = sp.symbols("a c d e lambda", real=True)
block = sp.Matrix([[a, c], [d, e]])
m, characteristic = (a + e) / 2, (lam * sp.eye(2) - block).det()
assert sp.expand(characteristic - (lam**2 - 2 * m * lam + a * e - c * d)) == 0, "Theorem 8, step 1: r^2 = ae - cd"
assert sp.factor(m**2 - a * e - ((a - e) / 2) ** 2) == 0, "Theorem 8, step 1: r^2 = ae - cd"
show.math(r"\text{characteristic polynomial: }", sp.expand(characteristic), "; \\quad m^2 - a e =", sp.factor(m**2 - a * e))

# %% [markdown]
# **Step 2.** By Eq. 6, $|d|^p \le 1 - |a|^p$ and $|c|^p \le 1 - |e|^p$, so $|cd|^p \le (1-|a|^p)(1-|e|^p)$; and that
# is at most $(1 - |m|^p)^2$, because $\log(1 - x^p)$ is concave: its second derivative on $0 < x < 1$ has no positive
# term, and at 0 it has its maximum. (If $|a|$ or $|e|$ is 1, the left side is 0. With mixed signs on a sample of
# 100,000 pairs.)

# %% tags=["proof-size_two"]
x, p, q, t = sp.symbols("x p q t", positive=True)  # t = x^p, p = 1 + q
second = sp.diff(sp.log(1 - x**p), x, 2)
expected = -p * x ** (p - 2) * (x**p + p - 1) / (1 - x**p) ** 2
first, last = np.random.default_rng(0).uniform(-1, 1, (2, 100_000))
left = lambda size: 1 - np.abs(size) ** 1.2
over = left(first) * left(last) - left((first + last) / 2) ** 2
assert sp.simplify(second - expected) == 0 and (t + q).is_positive and over.max() <= 1e-12, (
    "Theorem 8, step 2: concave"
)
show.math(r"\text{second derivative of } \log(1 - x^p):\ ", expected)

# %% [markdown]
# **Step 3.** So $r^2 \le m^2 + (1-|m|^p)^{2/p}$. With $m = r\cos\theta$ the left side less $m^2$ is
# $(r\sin\theta)^2$, hence $|r\sin\theta|^p + |r\cos\theta|^p \le 1$: the theorem's bound. And 100,000 random blocks
# under Eq. 6 (a sample) keep it.

# %% tags=["proof-size_two"]
r, theta = sp.symbols("r theta", positive=True)
assert sp.trigsimp(r**2 - (r * sp.cos(theta)) ** 2 - (r * sp.sin(theta)) ** 2) == 0, "Theorem 8, step 3: the bound"
raw = np.random.default_rng(0).standard_normal((100_000, 2, 2))
z = np.linalg.eigvals(raw / np.linalg.norm(raw, 1.2, axis=1, keepdims=True))[:, 0]
z = z[np.abs(z.imag) > 1e-9]
size = (np.abs(z.real) ** 1.2 + np.abs(z.imag) ** 1.2) ** (1 / 1.2)
assert len(z) > 10_000 and size.max() <= 1 + 1e-9, "Theorem 8, step 3: the bound"
print(f"{len(z):,} of the random blocks turn; the largest ||(Re, Im)||_p is {size.max():.4f}")

# %% [markdown]
# **Step 4.** The rotation by 72 degrees, each column divided by its norm, attains it. $\blacksquare$ *Break it*: at
# $p = 2$ nothing is lost.

# %% tags=["proof-size_two"]
turn, power = 2 * np.pi / 5, 1.2
clipped = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
clipped = clipped / np.linalg.norm(clipped, power, axis=0)
modulus = np.abs(np.linalg.eigvals(clipped)).max()
assert abs(modulus - 0.8676) < 1e-4 and modulus**500 < 2e-31, "Theorem 8, step 4: it is attained"
print(f"modulus {modulus:.4f}; after 500 steps {modulus**500:.1e} is left")

# %% tags=["proof-size_two"]
with show.expect_failure("Theorem 8, step 4"):
    rotation = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
    modulus = np.abs(np.linalg.eigvals(rotation / np.linalg.norm(rotation, 2, axis=0))).max()
    assert abs(modulus - 0.8676) < 1e-4 and modulus**500 < 2e-31, "Theorem 8, step 4: it is attained"


# %% [markdown]
# ## 5 Larger blocks
#
# Larger blocks can do better; at $p > 1$ their turns can even grow.
#
# > **Theorem 9.** At $p = 1.2$ there are blocks of size 2, 3 and 4 that turn by 72 degrees with modulus 0.8676, 0.9895
# > and 1.0365; so a size of 4 is enough to turn without loss. At $p = 1$ an eigenvalue of modulus 1 and odd order
# > $m$ (its $m$-th power is 1, and no earlier one) needs $b \ge m$ (proved in outline, and checked for $b \le 4$):
# > there a block that turns by 72 degrees without loss has at least five states, and the cycle of five does it.
#
# **Step 1.** Let $S$ be the cycle of $b$ states with one sign changed, so that $S^b = -1$: it has the eigenvalue
# $e^{i\pi/b}$. The block $\alpha S^k + \beta S^{k+1}$ has one $\alpha$ and one $\beta$, up to signs, in each column,
# and the eigenvalue $\alpha e^{ik\pi/b} + \beta e^{i(k+1)\pi/b}$; choose $k$ and $\alpha : \beta$ so that its angle
# is 72 degrees, and the length so that the columns have norm 1.

# %% tags=["proof-sizes"]
def twisted(b, p, turn=2 * np.pi / 5):
    """A block of size b under Eq. 6 with an eigenvalue at the angle ``turn``."""
    S = np.roll(np.eye(b), 1, axis=0)
    S[0, -1] = -1
    k = int(turn // (np.pi / b))
    alpha, beta = np.sin((k + 1) * np.pi / b - turn), np.sin(turn - k * np.pi / b)
    power = np.linalg.matrix_power(S, k)
    return (alpha * power + beta * power @ S) / np.linalg.norm([alpha, beta], p)


moduli = []
for b in (2, 3, 4):
    block = twisted(b, 1.2)
    z = min(np.linalg.eigvals(block), key=lambda z: abs(np.angle(z) - 2 * np.pi / 5))
    moduli.append(round(float(abs(z)), 4))
    assert np.allclose(np.linalg.norm(block, 1.2, axis=0), 1), "Theorem 9, step 1: the turns"
    assert abs(np.degrees(np.angle(z)) - 72) < 1e-9, "Theorem 9, step 1: the turns"
assert moduli == [0.8676, 0.9895, 1.0365], "Theorem 9, step 1: the turns"
print("moduli at 72 degrees of sizes 2, 3, 4:", moduli)


# %% [markdown]
# **Step 2.** Now $p = 1$: why odd orders need large blocks. Let a block $A$ have an eigenvalue $\lambda$ of modulus
# 1. By a theorem of Wielandt (which we do not prove), some irreducible part of $A$, one in which every state can be
# reached from every other, is $\lambda D|A|D^{-1}$ with a diagonal matrix $D$ of entries of modulus 1. Follow a
# closed walk of $l$ steps through its states: the entries of $D$ cancel, so the product of the entries of $A$ on the
# walk is $\lambda^l$ times a positive number. But it is real; so $\lambda^l = \pm1$ and $\lambda^{2l} = 1$. The
# greatest common divisor of all such $l$ is the period $d \le b$ of the part; so $\lambda^{2d} = 1$, and an odd
# order divides $d$. The cell computes it for every block of sizes 2, 3 and 4 whose columns are zero or signed basis
# vectors (6,929 blocks): every eigenvalue on the circle has $\lambda^{2d} = 1$ for some $d \le b$, and no odd order
# is above $b$.

# %% tags=["proof-sizes"]
def orders(b):
    columns = np.vstack([np.zeros(b), np.eye(b), -np.eye(b)])
    choices = itertools.product(range(2 * b + 1), repeat=b)
    blocks = np.array([columns[list(choice)].T for choice in choices])
    z = np.linalg.eigvals(blocks).ravel()
    # moduli are 0 or 1; a defective 0 comes out as large as 1e-4
    z = np.unique(z[np.abs(z) > 0.5].round(9))
    return sorted({next(m for m in range(1, 99) if abs(value**m - 1) < 1e-6) for value in z})


found = {b: orders(b) for b in (2, 3, 4)}
assert all(any(2 * d % m == 0 for d in range(1, b + 1)) for b in found for m in found[b]), "Theorem 9, step 2: orders"
assert all(m <= b for b in found for m in found[b] if m % 2), "Theorem 9, step 2: orders"
print("orders on the unit circle, by size:", found)

# %% [markdown]
# **Step 3.** Blocks without zeros at random stay strictly inside the circle (2,000 of size 4, a sample). The cycle
# of $b$ states has an eigenvalue of order $b$, so five states do count modulo 5 at $p = 1$. $\blacksquare$

# %% tags=["proof-sizes"]
raw = np.random.default_rng(0).standard_normal((2000, 4, 4))
dense = np.abs(np.linalg.eigvals(raw / np.abs(raw).sum(1, keepdims=True))).max()
of_cycle = np.linalg.eigvals(np.roll(np.eye(5), 1, axis=0))
assert dense < 1 and np.abs(of_cycle - np.exp(2j * np.pi / 5)).min() < 1e-9, "Theorem 9, step 3: the cycle"
print(f"dense blocks: at most {dense:.3f}; the cycle of five states turns by 72 degrees, at modulus 1")

# %% [markdown]
# *Break it.* At $p = 1$ these blocks lose more, and the one of size 4 no longer grows: its two entries now have to
# share a 1-norm of 1.

# %% tags=["proof-sizes"]
with show.expect_failure("Theorem 9, step 1"):
    moduli = [round(float(np.abs(np.linalg.eigvals(twisted(b, 1))).max()), 4) for b in (2, 3, 4)]
    print("at p = 1:", moduli)
    assert moduli == [0.8676, 0.9895, 1.0365], "Theorem 9, step 1: the turns"
