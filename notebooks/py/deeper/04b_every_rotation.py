# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 04b · Every rotation
#
# Is $\exp(M - M^\top)$ always a rotation, and is every rotation $P\Theta P^\top$ with such a $P$? The paper worries about that for no reason. *It takes* about 25 min to read and 10 min for the exercises. Read [chapter 04](../04_rotations.ipynb) first.

# %% jupyter={"source_hidden": true} tags=["hide-input"]
import math

import numpy as np
import sympy as sp
from scipy import linalg

import lrnnbook
from lrnnbook import show
from lrnnbook.content.chapters.rotations import R, cayley, random_rotation
from lrnnbook.content.exercises import check, hint, solution

lrnnbook.needs("0.1")

# %% [markdown]
# `R(theta)` is the rotation of the plane in SymPy. `cayley(M)` is the rotation $(I + S)(I - S)^{-1}$ with $S = M - M^\top$: of
# whole numbers it makes fractions, so what we compute with it is exact. `random_rotation(N, draw)` is a random rotation in floats.

# %% [markdown]
# ## 1 The determinant of an exponential
#
# Lemma 1 says that $\exp(S)$ is a rotation for $S = M - M^\top$. Steps 1 to 3 are in [chapter 04](../04_rotations.ipynb), section 2.
# Steps 4 and 5 show $\det\exp(S) = \exp(\mathrm{Tr}\,S)$ for every square matrix.

# %% [markdown]
# **Step 4.** How does $\det X$ change when $X$ changes at the rate $SX$? A determinant is linear in every row, so its
# rate is $\sum_i \det(X \text{ with row } i \text{ of } SX \text{ in place of row } i)$. Row $i$ of $SX$ is
# $\sum_j s_{ij}\,(\text{row } j \text{ of } X)$; a determinant with two equal rows is 0, so only $j = i$ counts, and
# the rate is $\mathrm{Tr}(S)\det X$ (Jacobi's formula). The cell multiplies it out for $N = 2, 3, 4$, with all entries
# of $S$ and $X$ free.

# %% tags=["proof-lemma_1_determinant"]
for N in (2, 3, 4):
    F, X = (sp.Matrix(N, N, sp.symbols(f"{name}1:{N * N + 1}")) for name in "fx")  # F: any S
    rate = 0
    for i in range(N):
        changed = X.copy()
        changed[i, :] = (F * X)[i, :]
        rate += changed.det(method="berkowitz")
    assert sp.expand(rate - F.trace() * X.det(method="berkowitz")) == 0, (
        "Lemma 1, step 4: the rate is Tr(S) det X"
    )
    print(f"N = {N}: the rate is Tr(S) det X")

# %% [markdown]
# **Step 5.** $X = \exp(tS)$ changes at the rate $S\exp(tS)$, and $\exp(0) = I$. So $f(t) = \det\exp(tS)$ solves
# $f' = \mathrm{Tr}(S)\,f$ with $f(0) = 1$, and the solution is $\exp(t\,\mathrm{Tr}\,S)$: hence $\det\exp(S) =
# \exp(\mathrm{Tr}\,S)$ for *every* square matrix. As a test of the whole argument the cell also multiplies out both sides as power series in $t$ up to $t^8$,
# for one matrix of whole numbers with trace 5.

# %% tags=["proof-lemma_1_determinant"]
t, trace, f = sp.Symbol("t"), sp.Symbol("trace"), sp.Function("f")
solved = sp.dsolve(f(t).diff(t) - trace * f(t), f(t), ics={f(0): 1}).rhs
assert solved == sp.exp(trace * t), "Lemma 1, step 5: the equation"
det_exp = sp.Lambda((trace, t), solved)  # det exp(tS) for Tr S = trace
G = sp.Matrix([[2, 1, -1], [0, 1, 3], [1, -2, 2]])
series = sum((t**k * G**k / sp.factorial(k) for k in range(9)), sp.zeros(3, 3))
left = sp.Poly(sp.expand(series.det()), t)
right = [sp.Rational(G.trace() ** k, math.factorial(k)) for k in range(9)]
assert [left.coeff_monomial(t**k) for k in range(9)] == right, "Lemma 1, step 5: the two series"
show.math(r"\det \exp(tG) = \exp(t\, \mathrm{Tr}\, G) = ", sp.series(sp.exp(G.trace() * t), t, 0, 4))

# %% [markdown]
# **Exercise 9** ★ *(5 min, 3 points: to find all logarithms of a rotation)* **Find the wrong step.** *Claim: every rotation of
# the plane is $\exp(S)$ for exactly one skew $S$, and a mirror image is $\exp(S)$ for no real $S$ at all.*
#
# 1. A skew $S$ of the plane is $\begin{pmatrix}0 & -\theta\\ \theta & 0\end{pmatrix}$, and $\exp(S)$ turns by $\theta$. If
#    $\exp(S) = \exp(S')$, they turn by the same angle, so $S = S'$.
# 2. A skew $S$ has trace 0. By step 5 of Lemma 1 its exponential has determinant 1, as a rotation should.
# 3. For every real $S$, skew or not, $\det\exp(S) = \exp(\mathrm{Tr}\,S) > 0$.
# 4. A mirror image has determinant $-1$, so it is $\exp(S)$ for no real $S$.
#
# Which step does not follow, and which two angles $\theta$ and $\theta'$, in radians, show it?

# %%
my_step = None  # exercise 9: the step, then two angles, for example (3, (0.5, 1.5))
check("04.9", my_step)

# %% [markdown]
# <!-- Exercise 04.9: from notebooks/lrnnbook/content/exercises/ch04.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint 1</summary>
#
# What does turning by 360° do?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# Step 5 of Lemma 1 says what the determinant of an exponential is. So steps 2 to 4 are right.
#
# </details>

# %% [markdown]
# What is a rotation good for? It keeps every length, and so do all its powers. Other matrices need not, not even if
# their largest eigenvalue is on the unit circle.

# %%
draw = np.random.default_rng(0)
square = draw.standard_normal((8, 8))
square /= np.abs(np.linalg.eigvals(square)).max()
shear = np.eye(8) + np.eye(8, k=1)
kept = {"rotation": random_rotation(8, draw), "random, largest eigenvalue 1": square,
        "ones on two diagonals": shear}  # fmt: skip
vector = draw.standard_normal(8)
show.table(
    [
        {
            "A": name,
            **{
                f"k = {k}": np.linalg.norm(np.linalg.matrix_power(A, k) @ vector)
                / np.linalg.norm(vector)
                for k in (1, 10, 100)
            },
        }
        for name, A in kept.items()
    ],
    caption="How long A^k v is, over the length of v. All eigenvalues of the last matrix are 1.",
)

# %% [markdown]
# ## 2 Lemma 2: cheap powers, and a worry that is unfounded
#
# > **The paper, Lemma 2.** "Let $P \in O(N)$ be an orthogonal matrix and let $\Theta \in SO(N)$ be a block-diagonal
# > rotation matrix. Then $A = P \Theta P^\top \in SO(N)$. Moreover, any rotation matrix can be written in this form".
#
# An orthogonal matrix has $P^\top P = I$ and $\det P = \pm 1$. $\Theta$ holds rotations of the plane $R(\theta_i)$
# along its diagonal, and for odd $N$ a last 1, the axis.
#
# **Step 1.** $A^\top A = P\,\Theta^\top P^\top P\,\Theta\,P^\top = I$, as $P^\top P = I$ and $\Theta^\top\Theta = I$.
#
# **Step 2.** $\det A = (\det P)^2 \det\Theta = 1$.
#
# **Step 3.** $A^k = P\,\Theta^k P^\top$, since $P^\top P = I$ in between.
#
# The arguments hold for every $P$ and $\Theta$; the cell computes them on examples, exactly: $N = 5$, fractions, one
# $P$ of determinant 1 and one of determinant $-1$, powers up to 5.

# %% tags=["proof-lemma_2"]
turn = lambda p, q, r: sp.Matrix([[p, -q], [q, p]]) / r  # by fractions: p^2 + q^2 = r^2
Theta = sp.diag(turn(3, 4, 5), turn(-5, 12, 13), 1)
for sign in (1, -1):
    P = cayley(sp.randMatrix(5, min=-3, max=3, seed=1)) * sp.diag(sign, 1, 1, 1, 1)
    A = P * Theta * P.T
    assert A.T * A == sp.eye(5), "Lemma 2, step 1: A^T A = I"
    assert P.det() == sign and A.det() == 1, "Lemma 2, step 2: det A = 1"
    assert all(A**k == P * Theta**k * P.T for k in range(1, 6)), (
        "Lemma 2, step 3: A^k = P Theta^k P^T"
    )
    print(f"det P = {P.det()}: det A = {A.det()}")

# %% [markdown]
# **Step 4.** $R(a)R(b) = R(a + b)$, for free angles; so $\Theta^k$ holds the rotations by $k\theta_i$, and no power
# has to be multiplied out.

# %% tags=["proof-lemma_2"]
a, b = sp.symbols("a b", real=True)
assert sp.expand_trig(R(a + b)) == sp.expand(R(a) * R(b)), "Lemma 2, step 4: R(a) R(b) = R(a + b)"
show.math(r"\cos(a + b) =", (R(a) * R(b))[0, 0])

# %% [markdown]
# **Break it.** Stretch one column of $P$, so that $P^\top P$ is no longer $I$.

# %% tags=["proof-lemma_2"]
with show.expect_failure("Lemma 2, step 1"):
    P = cayley(sp.randMatrix(5, min=-3, max=3, seed=1)) * sp.diag(2, 1, 1, 1, 1)
    A = P * Theta * P.T
    assert A.T * A == sp.eye(5), "Lemma 2, step 1: A^T A is not I"

# %% [markdown]
# The network learns $P = \exp(M - M^\top)$, which has determinant 1 by Lemma 1, while the lemma speaks of any
# orthogonal $P$.
#
# > **The paper, section 3.2.** "While this means that $A = P\Theta P^\top$ may not be surjective onto $SO(N)$, we
# > find it is sufficiently general".
#
# > **The corrected statement.** It *is* surjective: every rotation is $P\Theta P^\top$ with $\det P = 1$.
#
# **Exercise 10** ★ *(5 min, 2 points: what a mirror does to a rotation)* **A missing step.** Let $A = P\Theta P^\top$
# with $\det P = -1$. For a head of width 2 we look for a matrix $D$ with $DD = I$ and $\det D = -1$ for which
# $D\,R(\theta)\,D$ is again a rotation, by the angle $-\theta$. Then $A = (PD)(D\Theta D)(PD)^\top$ with
# $\det PD = 1$ (such a $D$ is always symmetric). Which $D$ does that, for every $\theta$? Put two rows of numbers in
# place of `None` before you read step 1, which gives one answer.

# %%
my_D = None  # exercise 10: two rows of two numbers, for example [[1, 0], [0, 1]]
if my_D is not None:
    mine, turns = np.array(my_D, dtype=complex), [np.array([R(a), R(-a)], dtype=float) for a in (0.3, 1.1)]
    assert np.allclose(mine @ mine, np.eye(2)) and np.isclose(np.linalg.det(mine), -1) and all(
        np.allclose(mine @ turn @ mine, back) for turn, back in turns
    ), "Surjective, step 1: your D does not turn a rotation around"
check("04.10", my_D)

# %% [markdown]
# <!-- Exercise 04.10: from notebooks/lrnnbook/content/exercises/ch04.md, by lrnnlab book build; change it there. -->
#
# <details><summary>Hint 1</summary>
#
# Hold a turning wheel before a mirror.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# Which matrices mirror the plane? Try a diagonal one.
#
# </details>

# %% [markdown]
# **Step 1.** $D = \mathrm{diag}(-1, 1)$ does it: a rotation seen in a mirror turns the other way (computed for a
# free $\theta$).

# %% tags=["proof-surjective"]
theta, D = sp.Symbol("theta", real=True), sp.diag(-1, 1)
assert D * D == sp.eye(2) and D.det() == -1 and D * R(theta) * D == R(-theta), (
    "Surjective, step 1: D turns a rotation around"
)
show.math(r"D R(\theta) D =", D * R(theta) * D)

# %% [markdown]
# **Step 2.** So change the sign of the first column of $P$ (multiply by a $D$ that is $\mathrm{diag}(-1, 1)$ on the
# first pair and leaves the others alone), and the sign of $\theta_1$: $A$ stays the same, and the determinant of $P$
# changes its sign. For odd $N$ there is an axis, and one may instead change the sign of the last column of $P$ and
# leave $\Theta$ as it is. **Sample:** one $P$ of determinant $-1$ for $N = 4$ and one for $N = 5$, exactly.

# %% tags=["proof-surjective"]
turn = lambda p, q, r: sp.Matrix([[p, -q], [q, p]]) / r  # by fractions: p^2 + q^2 = r^2
even, mirrored = sp.diag(turn(3, 4, 5), turn(5, 12, 13)), sp.diag(turn(3, -4, 5), turn(5, 12, 13))
for given, other, flip in (
    (even, mirrored, sp.diag(-1, 1, 1, 1)),
    (sp.diag(even, 1), sp.diag(even, 1), sp.diag(1, 1, 1, 1, -1)),
):
    N = given.rows
    P = cayley(sp.randMatrix(N, min=-3, max=3, seed=2)) * sp.diag(-1, *[1] * (N - 1))
    assert P.det() == -1 and (P * flip).det() == 1, "Surjective, step 2: the determinant"
    assert P * given * P.T == (P * flip) * other * (P * flip).T, "Surjective, step 2: the rotation"
    print(f"N = {N}: det P = {P.det()}, det P D = {(P * flip).det()}, and A is the same")


# %% [markdown]
# **Step 3** (numerical, on samples). That every rotation is $P\Theta P^\top$ with *some* orthogonal $P$ is linear
# algebra: the real Schur form $P^\top A P$ of a rotation has blocks of size 2 along its diagonal, which are turns,
# and single numbers, which are $-1$ or 1. Those that are $-1$ come in pairs, since $\det A = 1$, and a pair is a
# turn by 180°. The 1 that are left make pairs too, turns by 0°, and for odd $N$ one remains, the axis. So we put the blocks first, then the $-1$, then the 1; and where $\det P = -1$ we do what step 2
# says.

# %% tags=["proof-surjective"]
def Theta_of(theta, N):
    turns = [[[math.cos(a), -math.sin(a)], [math.sin(a), math.cos(a)]] for a in theta]
    return linalg.block_diag(*turns, *np.ones((N % 2, 1, 1)))


def take_apart(A):
    T, P = linalg.schur(A, output="real")
    N = len(A)
    pairs = [k for k in range(N - 1) if T[k + 1, k] != 0]  # where a block of two begins
    blocks = [k + i for k in pairs for i in (0, 1)]
    P = P[:, blocks + sorted(set(range(N)) - set(blocks), key=lambda k: T[k, k])]
    T = P.T @ A @ P
    theta = np.array([math.atan2(T[k + 1, k], T[k, k]) for k in range(0, N - 1, 2)])
    if np.linalg.det(P) < 0 and N % 2:
        P[:, -1] *= -1
    elif np.linalg.det(P) < 0:
        P[:, 0], theta[0] = -P[:, 0], -theta[0]
    return P, theta


# %% [markdown]
# The cell takes rotations of all sizes from 1 to 9 apart and puts them together again, with $\det P = 1$: 20 random ones
# of each size, and those that are hardest, with repeated eigenvalues or eigenvalues that almost coincide.

# %% tags=["proof-surjective"]
draw = np.random.default_rng(0)
hard = [np.eye(4), -np.eye(4), np.diag([-1.0, 1, -1]), np.roll(np.eye(5), 1, 0),
        np.eye(4)[[1, 2, 0, 3]], np.eye(4)[[1, 0, 3, 2]],
        Theta_of([1e-9, 0.3], 4), Theta_of([0.7, 0.7], 5)]  # fmt: skip
rotations = [random_rotation(N, draw) for N in range(1, 10) for _ in range(20)] + hard
taken_apart = [take_apart(A) for A in rotations]
again = [P @ Theta_of(theta, len(P)) @ P.T for P, theta in taken_apart]
off = max(np.abs(made - A).max() for made, A in zip(again, rotations))
one = max(abs(np.linalg.det(P) - 1) for P, _ in taken_apart)
assert off < 1e-12 and one < 1e-12, "Surjective, step 3: put together again, with det P = 1"
print(f"{len(rotations)} rotations rebuilt to within 1e-12, each with det P = 1")

# %% [markdown]
# **Step 4** (numerical, on the same samples). And $\exp$ reaches every rotation: with $J = \begin{pmatrix}0 & -1\\ 1 &
# 0\end{pmatrix}$, $R(\theta) = \exp(\theta J)$, so $S = P\,\mathrm{diag}(\theta_i J)\,P^\top$ is skew and $\exp(S) =
# A$.

# %% tags=["proof-surjective"]
worst = 0
for A, (P, theta) in zip(rotations, taken_apart):
    slow = linalg.block_diag(*[[[0, -a], [a, 0]] for a in theta], *np.zeros((len(P) % 2, 1, 1)))
    worst = max(worst, np.abs(linalg.expm(P @ slow @ P.T) - A).max())
assert worst < 1e-12, "Surjective, step 4: exp(S) = A"
print(f"exp(S) = A for all {len(rotations)} of them, to within 1e-12")

# %% [markdown]
# **Break it.** Change the sign of the column of $P$ and keep the angle: what comes out is another rotation.

# %% tags=["proof-surjective"]
with show.expect_failure("Surjective, step 2"):
    P = cayley(sp.randMatrix(4, min=-3, max=3, seed=2)) * sp.diag(-1, 1, 1, 1)
    flip = sp.diag(-1, 1, 1, 1)
    assert P * even * P.T == (P * flip) * even * (P * flip).T, "Surjective, step 2: the rotation"

# %% [markdown]
# ## Exercises
#
# You will find each exercise in its section. Stuck? `hint("04.9")`. Done? Compare with `solution("04.9")`.

# %% [markdown]
# <!-- The exercises of this chapter, listed by lrnnlab book build. -->
#
# 2 exercises, 5 points, about 10 minutes:
#
# | exercise | section | difficulty | minutes | points | you will learn |
# |---|---|---|---|---|---|
# | 9 | [1 The determinant of an exponential](#1-The-determinant-of-an-exponential) | ★ | 5 | 3 | to find all logarithms of a rotation |
# | 10 | [2 Lemma 2: cheap powers, and a worry that is unfounded](#2-Lemma-2:-cheap-powers,-and-a-worry-that-is-unfounded) | ★ | 5 | 2 | what a mirror does to a rotation |
#
# <details><summary>Solution of 04.9</summary>
#
# Step 1, for example `(1, (0, 2 * math.pi))`: $\theta$ and $\theta + 2\pi$ turn alike, so equal exponentials do not give equal
# angles. Every rotation of the plane is $\exp(S)$ for infinitely many skew $S$, one for each $\theta + 2\pi k$. The rest is right: no real
# $S$ has a negative $\det\exp(S) = \exp(\mathrm{Tr}\,S)$.
#
# </details>
#
# <details><summary>Solution of 04.10</summary>
#
# $\mathrm{diag}(-1, 1)$, and every other reflection of the plane:
# $R(a)\,\mathrm{diag}(-1, 1)\,R(-a)$.
#
# </details>
