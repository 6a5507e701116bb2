# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 04e · The LRU and wider heads
#
# Two corrections to what paper 001 says of the LRU, in the version submitted to ICLR 2025, and what a RotRNN with heads wider than 2 cannot do. *It takes* about 15 min to read. Read [chapter 04](../04_rotations.ipynb) first.

# %% jupyter={"source_hidden": true} tags=["hide-input"]
import numpy as np
import sympy as sp
import torch

import lrnnbook
from lrnnbook import show
from lrnnbook.content.chapters import ch04
from lrnnlab import models

lrnnbook.needs("0.1")

# %% [markdown]
# ## 1 Equation 14
#
# For comparison the paper, in that version, derives the norm of the LRU, $\tilde x_t = \Lambda \tilde x_{t-1} + \tilde B u_t$, where
# $\Lambda$ is diagonal with complex numbers $\lambda_k$, the *modes*:
#
# > $\mathbb{E}[\|x_t\|^2] = \sum_{i=1}^t \sum_k b_k |\lambda_k|^{2i} \to \sum_k b_k \frac{1}{1 - |\lambda_k|^2}$
#
# where $b_k$ is the squared length of row $k$ of $\tilde B$.
#
# **Step 1.** Unrolled, the recurrence has $\Lambda^0 \tilde B u_t$ for the newest input: $x_t = \sum_{i=0}^{t-1}
# \Lambda^i\tilde Bu_{t-i}$. **All $t \le 6$.**

# %% tags=["proof-equation_14"]
L, u, x = sp.Symbol("lambda"), sp.symbols("u_0:7"), 0
for t in range(1, 7):
    x = sp.expand(L * x + u[t])
    assert x == sum(L**i * u[t - i] for i in range(t)), "Eq. 14, step 1: the recurrence unrolled"
show.math("x_3 =", sum(L**i * u[3 - i] for i in range(3)))

# %% [markdown]
# **Step 2** (one LRU of three modes, exactly). So the sum runs from $i = 0$ to $t - 1$, and that is the trace of the
# covariance, for $t$ up to 6. The printed sum, from $i = 1$ to $t$, has one factor $|\lambda_k|^2$ too many in every
# mode.

# %% tags=["proof-equation_14"]
three_modes = [sp.Rational(9, 10), (3 + 4 * sp.I) / 10, sp.Rational(7, 50) * (4 - 3 * sp.I)]
B_tilde = sp.Matrix([[1 + sp.I, 2], [3, -sp.I], [2 - sp.I, 1]])
rates = [sp.expand(mode * sp.conjugate(mode)) for mode in three_modes]
sizes = [sum(sp.expand(entry * sp.conjugate(entry)) for entry in B_tilde[k, :]) for k in range(3)]


def lru_norms(B, T):
    """E||x_t||^2 for t = 0 to T, from the covariance."""
    X, traces = sp.zeros(3), [sp.Integer(0)]
    for _ in range(T):
        X = (sp.diag(*three_modes) * X * sp.diag(*three_modes).H + B * B.H).applyfunc(sp.expand)
        traces.append(X.trace())
    return traces


from_0, from_1 = ([sum(b * r**i for b, r in zip(sizes, rates) for i in range(start, t + start))
                   for t in range(7)] for start in (0, 1))  # fmt: skip
assert lru_norms(B_tilde, 6) == from_0, "Eq. 14, step 2: the sum from 0"
lacking = [sum(r * b * r**i for b, r in zip(sizes, rates) for i in range(t)) for t in range(7)]
assert from_1 == lacking, "Eq. 14, step 2: as printed"
print(f"at t = 6: {float(from_0[6]):.3f}; the printed sum has {float(from_1[6]):.3f}")

# %% [markdown]
# **Step 3.** $(1 - r)\sum_{i=j}^{t+j-1} r^i = r^j(1 - r^t)$; so the sum from 0 tends to
# $\sum_k b_k/(1 - |\lambda_k|^2)$, the limit that the paper prints, and the printed sum tends to another one. The
# paper's conclusion, to multiply row $k$ by $\sqrt{1 - |\lambda_k|^2}$, stands.
#
# **Step 4** (on the LRU of step 2). With it the norm is $\sum_k b_k(1 - |\lambda_k|^{2t})$: the climb of [chapter 04](../04_rotations.ipynb), section 4.

# %% tags=["proof-equation_14"]
r = sp.Symbol("r", positive=True)
for t in range(1, 9):
    for j in (0, 1):
        geometric = sum(r**i for i in range(j, t + j))
        assert sp.expand((1 - r) * geometric - r**j * (1 - r**t)) == 0, (
            "Eq. 14, step 3: the geometric sum"
        )
scaled = sp.diag(*[sp.sqrt(1 - rate) for rate in rates]) * B_tilde
climb = [sum(b * (1 - rate**t) for b, rate in zip(sizes, rates)) for t in range(7)]
assert lru_norms(scaled, 6) == climb, "Eq. 14, step 4: the climb of chapter 04"
print("normalised, t = 1 to 6:", *(f"{float(s):.2f}" for s in climb[1:]), "of", sum(sizes))

# %% [markdown]
# *Break it:* take the sum as printed.

# %% tags=["proof-equation_14"]
with show.expect_failure("Eq. 14, step 2"):
    assert lru_norms(B_tilde, 6) == from_1, "Eq. 14, step 2: the sum from 1"

# %% [markdown]
# ## 2 Every LRU is a RotRNN, in the package
#
# Chapter 04, section 5, proves it. `lru_as_rotrnn` makes the heads.

# %%
torch.manual_seed(7)
with torch.no_grad():
    lru = models.layers.LRU(16, state=12).double()
    u = torch.randn(2, 300, 16, dtype=torch.float64)
    same = torch.allclose(lru(u), models.layers.modes.lru_as_rotrnn(lru)(u))
print(f"an LRU of the package, and lru_as_rotrnn of it, say the same: {same}")

# %% [markdown]
# The paper has an equivalence too, of the RotRNN and an LRU whose eigenvalues come in conjugate pairs. In the version of the
# submission it lacks a hypothesis.
#
# **Step 1** (a counterexample, exactly). If only the *eigenvalues* come in conjugate pairs, the kernel
# $\tilde C\Lambda^k\tilde B$ need not be real, as that of a RotRNN is.
#
# **Step 2** (the same eigenvalues, $k$ up to 5, free entries). The rows of $\tilde B$ and the columns of $\tilde C$
# must be conjugate too: then every term of the kernel comes with its conjugate, and the kernel is real.

# %% tags=["proof-conjugate"]
mode = (3 + 4 * sp.I) / 10
both = [mode, sp.conjugate(mode)]
b, c = [1 + 2 * sp.I, 3 - sp.I], [2 - sp.I, 1 + sp.I]
kernel = [sum(c[k] * both[k] ** power * b[k] for k in range(2)) for power in range(6)]
assert any(sp.im(sp.expand(entry)) != 0 for entry in kernel), (
    "Conjugate pairs, step 1: the kernel is not real"
)
print("imaginary parts:", *(sp.im(sp.expand(entry)) for entry in kernel[:4]))
p, q, v, w = sp.symbols("p q v w", real=True)
b, c = [p + sp.I * q, p - sp.I * q], [v + sp.I * w, v - sp.I * w]
kernel = [sum(c[k] * both[k] ** power * b[k] for k in range(2)) for power in range(6)]
assert all(sp.im(sp.expand(entry)) == 0 for entry in kernel), (
    "Conjugate pairs, step 2: the kernel is real"
)
show.math(r"\text{with conjugate rows and columns: }", sp.expand(kernel[1]))

# %% [markdown]
# ## 3 Wider heads
#
# And the other way round? A RotRNN with heads of even width $n$ is an LRU with $n/2$ modes a head, whose moduli (and
# $\xi$) are **tied**. So wider heads add no function; they take some away. Absorb $P$ (chapter 04, section 3). Then
# every pair of coordinates is a head of width 2. Read steps 1 and 2 of the proof that every LRU is a RotRNN backwards:
# they make it one mode, $\tilde b = b_1 + \mathrm i\,b_2$ of the two rows of $\xi B$ and $\tilde c = c_1 - \mathrm i\,c_2$ of the two
# columns of $C$.
#
# **Step 1** (one layer of the package, numerical). All eigenvalues of a head have the modulus $\gamma$.
#
# **Step 2** (the same layer, numerical). Take its heads of width 6 apart by their eigenvectors and keep one of each
# pair of conjugate eigenvalues: an LRU of 12 modes, with the same kernel.

# %% tags=["proof-wider"]
torch.manual_seed(6)
with torch.no_grad():
    layer = models.layers.RotRNN(3, state=24, heads=4).double()
    A, gammas = layer.transition().numpy(), layer.gamma().numpy()
    B, C = (layer.xi().view(-1, 1, 1) * layer.B).numpy(), layer.C[0].numpy()
    kernel = layer.kernel(60).numpy()
lru, count = np.zeros_like(kernel), 0
for k in range(4):
    values, vectors = np.linalg.eig(A[k])
    assert np.allclose(np.abs(values), gammas[k], atol=1e-12), (
        "Wider heads, step 1: every modulus is gamma"
    )
    b, c, upper = np.linalg.inv(vectors) @ B[k], C[:, 6 * k : 6 * k + 6] @ vectors, values.imag > 0
    powers = values[upper] ** np.arange(60)[:, None]
    lru += 2 * np.einsum("dk,tk,ke->tde", c[:, upper], powers, b[upper]).real
    count += upper.sum()
assert count == 12 and np.allclose(lru, kernel, rtol=0, atol=1e-11), (
    "Wider heads, step 2: 12 modes with the same kernel"
)
print(f"4 heads of width 6 and {count} modes: one kernel, to within 1e-11")

# %% [markdown]
# The tie is a true restriction. Let $x^4 + a x^3 + b x^2 + d x + e$ have the eigenvalues of $\gamma A$ as its roots;
# the output after an impulse obeys the recurrence with these coefficients.
#
# **Step 3.** A head of width 4 has $d^2 = a^2e$, whatever its $\gamma$ and its two angles are.
#
# **Step 4** (a counterexample, exactly). An LRU of two modes with moduli $\frac12$ and $\frac9{10}$: its kernel
# obeys exactly one recurrence $K_{k+4} + aK_{k+3} + bK_{k+2} + dK_{k+1} + eK_k = 0$, and that has $d^2 \ne a^2 e$.
# So no head of width 4 has this kernel. $\blacksquare$

# %% tags=["proof-wider"]
x, gamma, s, t = sp.symbols("x gamma s t")  # s and t are the cosines of the two angles
both = (x**2 - 2 * gamma * s * x + gamma**2) * (x**2 - 2 * gamma * t * x + gamma**2)
_, a, b, d, e = sp.Poly(both, x).all_coeffs()
assert sp.expand(d**2 - a**2 * e) == 0, "Wider heads, step 3: d^2 = a^2 e"
modes = sp.Rational(1, 2) * (3 + 4 * sp.I) / 5, sp.Rational(9, 10) * (5 + 12 * sp.I) / 13
K = [sum(sp.re(sp.expand(mode**k)) for mode in modes) for k in range(8)]
# for every i, K_(i+4) + a K_(i+3) + b K_(i+2) + d K_(i+1) + e K_i = 0
system = sp.Matrix([[K[i + j] for j in range(4)] for i in range(4)])
assert system.det() != 0, "Wider heads, step 4: one recurrence"
e, d, b, a = system.LUsolve(-sp.Matrix(K[4:]))
assert d**2 != a**2 * e, "Wider heads, step 4: not tied"
print(f"d^2 = {float(d**2):.4f}, a^2 e = {float(a**2 * e):.4f}")

# %% [markdown]
# *Break it:* give both modes the modulus $\frac12$.

# %% tags=["proof-wider"]
with show.expect_failure("Wider heads, step 4"):
    modes = sp.Rational(1, 2) * (3 + 4 * sp.I) / 5, sp.Rational(1, 2) * (5 + 12 * sp.I) / 13
    K = [sum(sp.re(sp.expand(mode**k)) for mode in modes) for k in range(8)]
    system = sp.Matrix([[K[i + j] for j in range(4)] for i in range(4)])
    e, d, b, a = system.LUsolve(-sp.Matrix(K[4:]))
    assert d**2 != a**2 * e, "Wider heads, step 4: not tied"

# %% [markdown]
# ## 4 On the disc
#
# Where do the eigenvalues lie when training begins? The ranges are those of the paper's Table 3, for every data set.

# %% jupyter={"source_hidden": true} tags=["hide-input", "nbval-ignore-output"]
show.figure(
    ch04.discs(**ch04.DISCS),
    alt="Left, 32 eigenvalues of an LRU spread over a ring of the unit disc. Middle, 32 of a "
        "RotRNN, on eight circles with four on each. Right, the kernel of one mode and that "
        "of a head of width 2, which coincide.",
    caption="What to see: an arc joins the eigenvalues of a head, all at one distance from "
            "the centre. Right: for heads of width 2 there is no difference left.",
)  # fmt: skip
