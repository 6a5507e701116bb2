"""Paper 003, Proposition 3.3 ((aa)* is out of reach) and App. C.1's remark on layer norm, which needs a repair.

Normalised, Eq. 5 averages equal values: on a^t every layer outputs the same vector at every step, whatever the depth.
With a token before the string (BOS) it does not: y_t = (w_0 v_0 + t w_1 v_1) / (w_0 + t w_1), monotone in t.

Unnormalised, the attention output on a^t is t c.  App. C.1: a layer norm behind it makes it constant.  That is so only if
nothing is added before the norm and its epsilon is 0, since LN(t c) = t (c - mean) / sqrt(t^2 s^2 + epsilon).  With a
residual, LN(x + t c) moves with t; in the released block (the norm before the sub-layer) the output x + t c is not
normed at all.

The conclusion survives for one layer.  Let r(t) be the difference of two logits after a feed-forward part with m ReLU
units.  Every unit's input is (p + q t) / sqrt(Q(t)) + bias with Q a positive quadratic: it has two zeros at most, so
there are at most 2m + 1 pieces without a kink.  On a piece

    "post"        a norm after the residual           r = (p + q t) / sqrt(Q) + const          at most 2 zeros
    "pre"         a norm before the sub-layer         r = p + q t + (u + w t) / sqrt(Q)        at most 4
    "post_twice"  another one behind it all           r = 0 means A(t) + B(t) sqrt(Q) = 0      at most 4

(A quadratic, B linear), hence at most 4m + 2, or 8m + 4, changes of sign, while (aa)* wants one at every step.  "pre" is
the released linear block, "post_twice" the released softmax one.  Deeper unnormalised ones are not decided here.

Letters: t length of a^t, D width, m ReLU units; x the embedding of a, c what one a adds to the attention output, s^2 the
variance of c's entries, w, v attention weights and values, r difference of logits, Q, p, q, u, w as above.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise

import numpy as np
import sympy as sp

from lrnnlab.algebra.evidence import Evidence, Step
from lrnnlab.algebra.fast_weights import outputs, table

PLACEMENTS = ("direct", "post", "none")
BLOCKS = ("post", "pre", "post_twice")


def layer_norm(x: np.ndarray, epsilon: float = 1e-5) -> np.ndarray:
    """(x - mean) / sqrt(variance + epsilon) along the last axis, without gain and bias.

    >>> layer_norm(np.array([1.0, -1.0]), 0.0).tolist()
    [1.0, -1.0]
    """
    centred = x - x.mean(-1, keepdims=True)
    return centred / np.sqrt((centred**2).mean(-1, keepdims=True) + epsilon)


def normalised_network(T: int, D: int, depth: int, draw: np.random.Generator) -> np.ndarray:
    """The outputs (T, D) on a^T of a random NLT: layers of Eq. 4-5 with residuals, layer norms and ReLU parts."""
    x = np.tile(draw.normal(size=D), (T, 1))
    for _ in range(depth):
        q, k, v = (x @ draw.normal(size=(D, D)) for _ in "qkv")
        phi_q, phi_k = np.exp(q / D), np.exp(k / D)  # positive features
        W, z = np.einsum("ti,tj->tij", v, phi_k).cumsum(0), phi_k.cumsum(0)
        x = layer_norm(x + np.einsum("tij,tj->ti", W, phi_q) / (z * phi_q).sum(1, keepdims=True))
        x = x + np.maximum(layer_norm(x) @ draw.normal(size=(D, D)), 0) @ draw.normal(size=(D, D))
    return x


def with_bos(t: int, before: tuple, again: tuple) -> Fraction:
    """y after BOS and t a's: (w_0 v_0 + t w_1 v_1) / (w_0 + t w_1) for before = (w_0, v_0), again = (w_1, v_1).

    >>> with_bos(2, (1, 0), (1, 1))
    Fraction(2, 3)
    """
    return Fraction(before[0] * before[1] + t * again[0] * again[1], before[0] + t * again[0])


def proposition_3_3(T: int = 40, D: int = 6, depth: int = 4, networks: int = 5, seed: int = 0, bos: bool = False) -> Evidence:
    """A normalised linear Transformer without BOS gives one output on all a^t; with BOS it does not.

    bos : whether the first claim is made with a BOS token; then the evidence fails.   Source: paper 003, Prop. 3.3.

    >>> proposition_3_3().holds, [step.holds for step in proposition_3_3(bos=True).steps]
    (True, [False, True, True, True])
    """
    draw = np.random.default_rng(seed)
    layer = table([[1], [3]], [[1], [1]], [[0], [1]])  # the tokens BOS and a
    found = outputs(layer, (0,) * bos + (1,) * T, "normalised")[:, 0]
    moved = max(float(np.ptp(normalised_network(T, D, depth, draw), axis=0).max()) for _ in range(networks))
    begun = outputs(layer, (0,) + (1,) * T, "normalised")[1:, 0].tolist()
    rises = [b > a for a, b in pairwise(begun)]
    steps = (
        Step("without BOS y_t is the same for all t", len(set(found.tolist())) == 1, f"{len(set(found.tolist()))} values"),
        Step("so it is through any number of layers", moved < 1e-10,
             f"{networks} random networks of {depth} layers, D = {D}: outputs move by {moved:.1g}"),
        Step("with BOS y_t = (w_0 v_0 + t w_1 v_1)/(w_0 + t w_1)",
             begun == [with_bos(t, (1, 0), (3, 1)) for t in range(1, T + 1)], f"t = 1..{T}, in fractions"),
        Step("which is not constant, but monotone: the proof breaks, one layer still cannot see even lengths",
             all(rises), f"{sum(rises)} rises of {len(rises)}"),
    )  # fmt: skip
    return Evidence("Proposition 3.3", "A normalised linear Transformer without BOS cannot recognise (aa)*.", "sampled",
                    steps, {"bos": [float(y) for y in begun]})  # fmt: skip


def attention_output(T: int, placement: str, epsilon: float, x: np.ndarray, c: np.ndarray) -> np.ndarray:
    """What the next part sees after t = 1..T, (T, D): LN(t c) "direct", LN(x + t c) "post", x + t c "none".

    ValueError for another placement.
    """
    if placement not in PLACEMENTS:
        raise ValueError(f"the placements are {', '.join(PLACEMENTS)}, got {placement!r}")
    t = np.arange(1, T + 1)[:, None]
    raw = t * c if placement == "direct" else x + t * c
    return raw if placement == "none" else layer_norm(raw, epsilon)


def constant(placement: str = "direct", epsilon: float = 0.0, T: int = 50, D: int = 8, seed: int = 0) -> Evidence:
    """App. C.1's remark, with its two hypotheses: the norm stands directly behind the attention, and epsilon is 0.

    placement : one of "direct", "post", "none".   With epsilon > 0, or another placement, the evidence fails.

    >>> constant().holds
    True
    >>> [[step.holds for step in constant(*given).steps] for given in (("direct", 1e-5), ("post", 0.0), ("none", 0.0))]
    [[True, False], [True, False], [True, False]]
    """
    t, s, mean, c, e = sp.symbols("t s mu c epsilon", positive=True)
    slope = sp.diff(t * (c - mean) / sp.sqrt(t**2 * s**2 + e), t)
    claimed = (c - mean) * e / (t**2 * s**2 + e) ** sp.Rational(3, 2)
    draw = np.random.default_rng(seed)
    found = attention_output(T, placement, epsilon, *draw.normal(size=(2, D)))
    moved = float(np.ptp(found, axis=0).max())
    steps = (
        Step("d/dt LN(t c) = (c - mean) epsilon / (t^2 s^2 + epsilon)^(3/2): 0 only for epsilon = 0",
             sp.simplify(slope - claimed) == 0, "symbolic"),
        Step(f"{placement}, epsilon = {epsilon:g}: constant in t", moved < 1e-12,
             f"t = 1..{T}: first entry {found[0, 0]:.6f} to {found[-1, 0]:.6f}; an entry moves by {moved:.2g}"),
    )  # fmt: skip
    return Evidence("Appendix C.1 on layer norm", "LN(t c) does not depend on t if epsilon is 0 and nothing is added.",
                    "numerical", steps, {"output": found})  # fmt: skip


def random_block(draw: np.random.Generator, D: int, m: int, placement: str, epsilon: float = 1e-5) -> Callable:
    """A random one-layer unnormalised block with m ReLU units, as r: t (S,) -> difference of two logits (S,)."""
    x, c = draw.normal(size=(2, D)) * np.exp(draw.normal(size=(2, 1)))
    W1, W2, readout = draw.normal(size=(D, m)), draw.normal(size=(m, D)), draw.normal(size=D)
    b1, b2 = draw.normal(size=m), float(draw.normal())

    def r(t):
        h = x + t[:, None] * c
        normed = layer_norm(h, epsilon)
        out = (h if placement == "pre" else normed) + np.maximum(normed @ W1 + b1, 0) @ W2
        return (layer_norm(out, epsilon) if placement == "post_twice" else out) @ readout + b2

    return r


def sign_changes(values: np.ndarray) -> int:
    """How often a sequence changes its sign; zeros are passed over.

    >>> sign_changes(np.array([1.0, 0.0, -1.0, 2.0]))
    2
    """
    signs = np.sign(values)[values != 0]
    return int((signs[1:] != signs[:-1]).sum())


def zeros_of_a_piece(placement: str) -> int:
    """The degree of the polynomial that r = 0 leads to when the root is moved to one side and squared.

    >>> [zeros_of_a_piece(placement) for placement in BLOCKS]
    [2, 4, 4]
    """
    t, p, q, u, w, k = sp.symbols("t p q u w k")
    Q, A = (sp.Add(*(sp.Symbol(f"{name}{j}") * t**j for j in range(3))) for name in "QA")
    if placement == "post":  # p + q t = -k sqrt(Q)
        return sp.Poly((p + q * t) ** 2 - k**2 * Q, t).degree()
    if placement == "post_twice":  # A = -(u + w t) sqrt(Q)
        return sp.Poly(A**2 - (u + w * t) ** 2 * Q, t).degree()
    return sp.Poly((p + q * t) ** 2 * Q - (u + w * t) ** 2, t).degree()  # (p + q t) sqrt(Q) = -(u + w t)


def repair(
    placement: str = "post", m: int = 16, networks: int = 200, T: int = 3000, seed: int = 0, block: Callable = random_block
) -> Evidence:
    """One unnormalised layer changes its answer on a^t at most 4m + 2 times ("post"), else 8m + 4 times.

    So it is right about (aa)* on at most one length more, in a row.   block : makes r; with one that is not such a
    network the evidence fails.   ValueError for another placement.   Source: ours, in place of App. C.1's remark.

    >>> [repair(placement, networks=20).holds for placement in BLOCKS]
    [True, True, True]
    >>> [step.holds for step in repair(networks=2, block=lambda *given: lambda t: np.cos(np.pi * t)).steps]
    [True, True, False]
    """
    if placement not in BLOCKS:
        raise ValueError(f"the blocks are {', '.join(BLOCKS)}, got {placement!r}")
    draw, t = np.random.default_rng(seed), np.arange(1, T + 1)
    each = zeros_of_a_piece(placement)
    bound = each * (2 * m + 1)
    found = [sign_changes(block(draw, 8, m, placement)(t)) for _ in range(networks)]
    steps = (
        Step("a unit's input (p + q t)/sqrt(Q) + bias has two zeros at most", zeros_of_a_piece("post") == 2,
             "(p + q t)^2 = bias^2 Q has degree 2"),
        Step(f"on a piece r has {each} zeros at most", each == {"post": 2, "pre": 4, "post_twice": 4}[placement],
             f"{2 * m + 1} pieces: at most {bound} changes of sign"),
        Step("random networks keep far below", max(found) <= bound,
             f"{networks} networks, m = {m}, t = 1..{T}: up to {max(found)}; (aa)* needs {T - 1}"),
    )  # fmt: skip
    claim = f"One unnormalised layer, norm {placement}: at most {bound} changes of its answer on a^t."
    return Evidence("Proposition 3.3 without normalisation", claim, "sampled", steps, {"changes": found, "bound": bound})
