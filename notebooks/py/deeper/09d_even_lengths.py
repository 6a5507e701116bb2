# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 09d · Even lengths
#
# Why can a layer of addition not tell even lengths from odd ones, and what does a layer norm change? *It takes* about 20 min to read. Read [chapter 09](../09_fast_weights.ipynb) first.

# %% jupyter={"source_hidden": true} tags=["hide-input"]

import numpy as np
import sympy as sp

import lrnnbook
from lrnnbook import show
from lrnnbook.content.chapters import fast_weight_solutions as fw
from lrnnbook.content.exercises import hint, solution

lrnnbook.needs("0.1")

# %% [markdown]
# ## 1 What addition cannot: $(aa)^*$
#
# > **Proposition 3.3.** "NLTs can not recognise certain regular languages." *Proof.* "[...] NLTs can not recognise the regular language $(aa)^*$."
#
# **Claim (Proposition 3.3).** On $aaa\cdots$ a normalised linear Transformer without positions gives the same answer at every step, at any depth.
#
# **Step 1.** A mean of equal values is that value: $t$ equal keys and values give $W_t q/(z_t\cdot q) = v$. **All $t \le 6$**, with free symbols.

# %% tags=["proof-prop_3_3"]
key, query, value = (sp.Matrix(sp.symbols(f"{name}:2", positive=True)) for name in "kqv")
nothing = (0 * key, 0 * value)

def answer(t, front=nothing):  # front: key and value of a token in front
    W = front[1] * front[0].T + sum((value * key.T for _ in range(t)), sp.zeros(2, 2))
    z = front[0] + sum((key for _ in range(t)), sp.zeros(2, 1))
    return (W * query / z.dot(query)).applyfunc(sp.cancel)

show.math("y_5 =", answer(5))
assert all(answer(t) == value for t in range(1, 7)), "Proposition 3.3, step 1: y_t = v at every t"


# %% [markdown]
# **Step 2.** So every layer's input is the same at all positions, and so is its output: by induction at any depth, with any norms and feed-forward
# parts in between. **Float:** five random networks of four layers, on 40 a's.

# %% tags=["proof-prop_3_3", "varies", "nbval-ignore-output"]
def norm(x, epsilon=1e-5):
    centred = x - x.mean(-1, keepdims=True)
    return centred / np.sqrt((centred**2).mean(-1, keepdims=True) + epsilon)

def network(draw, T=40, D=6, depth=4, positions=0.0):
    x = np.tile(draw.normal(size=D), (T, 1)) + positions * np.arange(T)[:, None]
    for _ in range(depth):
        q, k, v = (x @ draw.normal(size=(D, D)) for _ in "qkv")
        W, z = np.einsum("ti,tj->tij", v, np.exp(k / D)).cumsum(0), np.exp(k / D).cumsum(0)
        x = norm(x + np.einsum("tij,tj->ti", W, np.exp(q / D)) / (z * np.exp(q / D)).sum(1, keepdims=True))
        x = x + np.maximum(norm(x) @ draw.normal(size=(D, D)), 0) @ draw.normal(size=(D, D))
    return x

moved = [np.ptp(network(np.random.default_rng(seed)), axis=0).max() for seed in range(5)]
print(f"outputs move by {max(moved):.0e} at most")
assert max(moved) < 1e-10, (
    "Proposition 3.3, step 2: so it is through four layers (five networks, in floats)"
)

# %% [markdown]
# That is the whole proof. It needs a string with nothing else in it.
#
# **Step 3.** Put a token in front (BOS, "beginning of string"). Then the answer is $y_t = \frac{w_0v_0 + t\,w_1v_1}{w_0 + t\,w_1}$, where $w$ is
# key times query. The difference $y_{t+1} - y_t$ has the same sign at all $t$. So outputs move, but monotonically, and a threshold on one
# layer's answer is crossed at most once. $\blacksquare$ **All cases.**

# %% tags=["proof-prop_3_3"]
w0, w1, t = sp.symbols("w0 w1 t", positive=True)
v0, v1 = sp.symbols("v0 v1", real=True)
y = (w0 * v0 + t * w1 * v1) / (w0 + t * w1)
step = sp.factor(y.subs(t, t + 1) - y)
show.math("y_{t+1} - y_t =", step)
assert sp.simplify(step - (v1 - v0) * w0 * w1 / ((w0 + t * w1) * (w0 + (t + 1) * w1))) == 0, (
    "Proposition 3.3, step 3: monotone in t"
)

# %% [markdown]
# **Break it:** step 1 with a BOS token.

# %% tags=["proof-prop_3_3"]
with show.expect_failure("Proposition 3.3, step 1"):
    bos = (sp.Matrix([1, 1]), sp.Matrix([1, 0]))
    assert all(answer(t, front=bos) == value for t in range(1, 7)), (
        "Proposition 3.3, step 1: y_t = v at every t"
    )


# %% [markdown]
# ## 2 With a layer norm
#
# Without the normalisation the attention's output on $a^t$ is $t\,c$. Appendix C.1:
#
# > "Nevertheless, if we assume an extra layer normalisation layer following the self-attention layer (which is typically the case in practice), the
# > constant-output argument also holds for unnormalised linear attention."
#
# **Claim (the norm).** $\mathrm{LN}(t\,c)$ is constant if the norm's $\varepsilon$ is 0 *and* nothing was added before. With an $\varepsilon$ it moves (for a $c$ whose entries are not all equal). With a residual $x$ it moves too, unless $x$ is a multiple of $c$ plus a constant vector. In practice there are both: blocks have a residual, and the released ones normalise before the attention, not
# after it.
#
# **Step 1.** With $\varepsilon = 0$, directly after the attention, it is constant. **All $c$** of three numbers.

# %% tags=["proof-layer_norm"]
def LN(x, epsilon=0):
    centred = x - sp.ones(3, 1) * sum(x) / 3
    return centred / sp.sqrt(sp.factor(centred.dot(centred) / 3) + epsilon)

def slope(c, residual=sp.zeros(3, 1), epsilon=0):
    t = sp.Symbol("t", positive=True)
    return sp.diff(LN(residual + t * c, epsilon), t).applyfunc(sp.simplify)

free = slope(sp.Matrix(sp.symbols("c:3", real=True)))
show.math(r"\frac{d}{dt}\,\mathrm{LN}(t c) =", free)
assert free == sp.zeros(3, 1), "The norm, step 1: LN(t c) does not depend on t"

# %% [markdown]
# **Step 2.** With $\varepsilon > 0$ the slope is $(c - \mu)\,\varepsilon\,(t^2s^2 + \varepsilon)^{-3/2}$, with $\mu$ the mean and $s^2$ the variance of $c$'s entries: 0 only where $c = \mu$.

# %% tags=["proof-layer_norm"]
t, entry, mean, s, eps = sp.symbols("t c mu s epsilon", positive=True)
found = sp.diff(t * (entry - mean) / sp.sqrt(t**2 * s**2 + eps), t)
show.math(r"\text{the slope: }", sp.factor(found))
assert sp.simplify(found - (entry - mean) * eps / (t**2 * s**2 + eps) ** sp.Rational(3, 2)) == 0, (
    "The norm, step 2: the slope"
)


# %% [markdown]
# **Step 3.** With $\varepsilon = 0$ and a residual $x$ the norm gives the direction of $y = \bar x + t\,\bar c$ (bars: the mean taken away). It turns at the rate $\sqrt{|y|^2|\bar c|^2 - (y\cdot\bar c)^2}\,/\,|y|^2$, and under the root is $|\bar x|^2|\bar c|^2 - (\bar x\cdot\bar c)^2$ at every $t$. That is 0 only if $\bar x$ and
# $\bar c$ are parallel. $\blacksquare$ **All $x$ and $c$** of three numbers.

# %% tags=["proof-layer_norm"]
def bar(x):
    return x - sp.ones(3, 1) * sum(x) / 3

def spread(y, c):
    return y.dot(y) * c.dot(c) - y.dot(c) ** 2

t, x, c = sp.Symbol("t"), *(sp.Matrix(sp.symbols(f"{name}:3", real=True)) for name in "xc")
assert sp.expand(spread(bar(x) + t * bar(c), bar(c)) - spread(bar(x), bar(c))) == 0, (
    "The norm, step 3: it turns at every t"
)

# %% [markdown]
# **Break it**, once with an $\varepsilon$ and once with a residual (for $c = (1, 2, 4)$):

# %% tags=["proof-layer_norm"]
with show.expect_failure("The norm, step 1"):
    moves = slope(sp.Matrix([1, 2, 4]), epsilon=sp.Rational(1, 10**5))
    assert moves == sp.zeros(3, 1), "The norm, step 1: LN(t c) does not depend on t"
with show.expect_failure("The norm, step 1"):
    moves = slope(sp.Matrix([1, 2, 4]), residual=sp.Matrix([0, 1, 0]))
    assert moves == sp.zeros(3, 1), "The norm, step 1: LN(x + t c) does not depend on t"

# %% [markdown]
# ## 3 The corrected statement, for one layer
#
# **Claim (changes of sign).** Let $r(t)$ be the difference of two logits on $a^t$ after an unnormalised attention and a feed-forward part with $m$ ReLU units. The norm may come after the residual ("post"), before it ("pre", as released for the linear models), or after everything as well ("post_twice", as released for the softmax Transformer). Then the answer changes at most $4m+2$ times
# ("post") or $8m+4$ times on all of $a^1, a^2, \dots$, while $(aa)^*$ needs a change at every step.
#
# **Step 1.** The norm makes $x + tc$ into entries $(p + qt)/\sqrt{Q(t)}$, where $Q$ is a quadratic and positive (a variance and $\varepsilon$). So a unit's input, $(p + qt)/\sqrt{Q(t)}$ plus a bias, has at most two zeros. So $m$ units cut the line into at
# most $2m+1$ pieces.

# %% tags=["proof-repair"]
t, p, q, bias = sp.symbols("t p q bias")
x, c = sp.Matrix(sp.symbols("x:3")), sp.Matrix(sp.symbols("c:3"))
centred = x + t * c - sp.ones(3, 1) * sum(x + t * c) / 3
variance = sp.expand(centred.dot(centred) / 3)
Q = sum(sp.Symbol(f"Q{j}") * t**j for j in range(3))
print("degrees: numerator", sp.degree(centred[0], t), " variance", sp.degree(variance, t))
assert all(sp.degree(entry, t) == 1 for entry in centred) and sp.degree(variance, t) == 2, (
    "Changes of sign, step 1: (p + q t)/sqrt(Q)"
)
assert sp.degree(sp.expand((p + q * t) ** 2 - bias**2 * Q), t) == 2, (
    "Changes of sign, step 1: a unit has two zeros at most"
)

# %% [markdown]
# **Step 2.** On a piece, $r$ is one formula. Bring the root to one side and square: where $r$ is 0, a polynomial is 0, of degree 2 for "post"
# and 4 for the other two. So $r$ has at most $2(2m+1)$ or $4(2m+1)$ zeros, and changes its sign no more often. (What if the polynomial is 0
# everywhere? Then the two parts are the same up to their sign. So $r$ is 0 on the piece, where nothing changes, or twice the part without the
# root, which has no more zeros than that.)

# %% tags=["proof-repair"]
t, p, q, u, w, const = sp.symbols("t p q u w const")
A = sum(sp.Symbol(f"A{j}") * t**j for j in range(3))
zero_where = {
    "post": (p + q * t) ** 2 - const**2 * Q,  # (p + q t) / sqrt(Q) + const = 0
    "pre": (p + q * t) ** 2 * Q - (u + w * t) ** 2,  # p + q t + (u + w t) / sqrt(Q) = 0
    "post_twice": A**2 - (u + w * t) ** 2 * Q,  # A(t) + (u + w t) sqrt(Q) = 0
}
units = sp.Symbol("m")
degrees = {place: sp.degree(sp.expand(made), t) for place, made in zero_where.items()}
bounds = {place: sp.expand(degree * (2 * units + 1)) for place, degree in degrees.items()}
print("at most so many changes:", {place: str(bound) for place, bound in bounds.items()})
assert bounds == {"post": 4 * units + 2, "pre": 8 * units + 4, "post_twice": 8 * units + 4}, (
    "Changes of sign, step 2: degree times pieces"
)


# %% [markdown]
# **Step 3.** Random networks change far less often. $\blacksquare$ **Sample:** forty of each kind, $m = 16$, $t \le 3000$, in floats. (Deeper unnormalised
# nets are not decided here.)

# %% tags=["proof-repair", "varies", "nbval-ignore-output"]
def normed(x, epsilon=1e-5):
    centred = x - x.mean(-1, keepdims=True)
    return centred / np.sqrt((centred**2).mean(-1, keepdims=True) + epsilon)

def random_r(draw, place, D=8, m=16):
    x, c = draw.normal(size=(2, D)) * np.exp(draw.normal(size=(2, 1)))
    W1, W2, readout = draw.normal(size=(D, m)), draw.normal(size=(m, D)), draw.normal(size=D)
    b1, b2 = draw.normal(size=m), draw.normal()
    h = x + np.arange(1, 3001)[:, None] * c
    out = (h if place == "pre" else normed(h)) + np.maximum(normed(h) @ W1 + b1, 0) @ W2
    return (normed(out) if place == "post_twice" else out) @ readout + b2

def most_changes(make):
    found = {place: [make(np.random.default_rng(seed), place) for seed in range(40)] for place in bounds}
    return {place: max(int((np.diff(np.sign(r)) != 0).sum()) for r in rs) for place, rs in found.items()}

changes = most_changes(random_r)
allowed = {place: int(bound.subs(units, 16)) for place, bound in bounds.items()}
print("most changes of sign:", changes, " allowed:", allowed)
assert all(changes[place] <= allowed[place] for place in bounds), (
    "Changes of sign, step 3: random networks (sampled)"
)

# %% [markdown]
# **Break it:** a function that is no such network, $\cos \pi t$. This is what $(aa)^*$ needs.

# %% tags=["proof-repair"]
with show.expect_failure("Changes of sign, step 3"):
    changes = most_changes(lambda draw, place: np.cos(np.pi * np.arange(1, 3001)))
    assert all(changes[place] <= bounds[place].subs(units, 16) for place in bounds), (
        "Changes of sign, step 3: 2999 changes"
    )
