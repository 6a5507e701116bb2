"""Theorem A, what is left of paper 000's Proposition 1 for any read-out: the state must store the whole expression.

Let M be odd and A the same for every letter.  If some h(x) is right modulo M on all expressions of up to n + 1
operands, two different expressions of n operands never share a state: n log2 M bits.  Proof.  x(ps) - x(ps') does not
depend on the prefix p.  Given a collision, strip the common prefix: first digits s != t, rests R and R' (their sums),
still one state, alone and after "0-".  Then s - R = t - R' and -s - R = -t - R' (mod M), so 2 (s - t) = 0: impossible.
For even M the proof leaves s - t = M/2, so the state is still injective on expressions with digits below M/2.

Letters: M modulus, n operands, D width; A transition, x state, h read-out.
"""

from __future__ import annotations

import itertools

import numpy as np
import sympy as sp

from lrnnlab.algebra.evidence import Evidence, Step
from lrnnlab.algebra.subtraction import symbolic_state
from lrnnlab.algebra.words import (
    Layer,
    check_modulus,
    collisions,
    contradiction,
    counter,
    positional,
    spelled,
    spiral,
    value,
    word_states,
)


def prefix_drops_out(n: int) -> sp.Expr:
    """x(p a_1-...-a_n) - x(p b_1-...-b_n) with a free state p in front: an expression in which p does not occur.

    >>> prefix_drops_out(1)
    Bu_a - Bu_b
    """
    p = sp.Symbol("p", commutative=False)
    left, right = (symbolic_state("-".join(alphabet[:n]), p) for alphabet in ("acegi", "bdfhj"))
    return sp.expand(left - right)


def random_layer(draw: np.random.Generator, M: int) -> Layer:
    """An integer layer of width 1 or 2 with small entries: A in -2..2, everything else in -3..3."""
    D = int(draw.integers(1, 3))
    shapes = (M, D), (D,), (D,)
    return Layer(draw.integers(-2, 3, size=(D, D)), *(draw.integers(-3, 4, size=shape) for shape in shapes))


def theorem_a(M: int = 5, n: int = 3, systems: int = 300, seed: int = 0) -> Evidence:
    """Any read-out: right on all expressions of up to n + 1 operands only if the state is injective on n operands.

    M must be odd (an even M gives evidence that fails: see ``modulo_two``).  A collision is turned into two
    expressions in one state with different values (``words.contradiction``) on random integer layers.

    >>> proof = theorem_a()
    >>> proof.holds, proof.data
    (True, {'collide': 261, 'certified': 261, 'states': 125})
    """
    check_modulus(M)
    shortened = [prefix_drops_out(length) for length in (1, 2, 3)]
    p, digits = sp.Symbol("p", commutative=False), range(M)
    clashes = [
        (s, t, a, b) for s, t, a, b in itertools.product(digits, repeat=4)
        if s != t and (s - a - t + b) % M == 0 and (-s - a + t + b) % M == 0
    ]  # fmt: skip
    draw, collide, certified = np.random.default_rng(seed), 0, 0
    for layer in (random_layer(draw, M) for _ in range(systems)):
        table = word_states(layer, n)
        pairs = collisions(table.states)
        collide += bool(len(pairs))
        certified += bool(len(pairs)) and all(_refutes(layer, *table.words[pair].tolist()) for pair in pairs[:3])
    kept = word_states(positional(M), n + 1)
    steps = (
        Step("x(ps) - x(ps') does not depend on what stands before", not any(d.has(p) for d in shortened),
             f"two operands: {shortened[1]}"),
        Step("first digits s != t, rests a and b: s-a = t-b and -s-a = -t-b (mod M) never hold together",
             not clashes, f"{len(clashes)} solutions modulo {M} with s != t"),
        Step("so each collision refutes the read-out: two expressions in one state with different values",
             0 < collide == certified, f"{collide} of {systems} random layers collide, {certified} certified"),
        Step("conversely a state that is injective suffices, and such layers exist",
             not len(collisions(kept.states)), f"base {M + 2}: {len(kept.states)} expressions, no collision"),
    )  # fmt: skip
    claim = f"Right modulo {M} on all expressions of <= n+1 operands with any h => x is injective on n operands."
    return Evidence("Theorem A", claim, "sampled", steps,
                    {"collide": collide, "certified": certified, "states": M**n})  # fmt: skip


def _refutes(layer, left, right):
    """The certificate holds: equal states, different values."""
    pair = contradiction(left, right, layer.M)
    if pair is None:
        return False
    first, second = pair
    return value(first, layer.M) != value(second, layer.M) and bool((layer.state(first) == layer.state(second)).all())


def modulo_two(n: int = 8, M: int = 2) -> Evidence:
    """Why M = 2 escapes Theorem A: minus is plus there, so the counter answers with n + 1 states for 2^n expressions.

    >>> modulo_two(8).data
    {'states': 9, 'expressions': 256}
    """
    table = word_states(counter(M), n)
    states = len(np.unique(table.states))
    steps = (
        Step("-1 = 1 modulo M, so 2 (s - t) = 0 does not make s = t", -1 % M == 1, f"-1 mod {M} = {-1 % M}"),
        Step("the counter with h(x) = x mod M is right on every expression",
             bool((table.states[:, 0] % M == table.values).all()), f"all {len(table.values)} of {n} operands"),
        Step("with far fewer states than expressions", states < len(table.values), f"{states} < {len(table.values)}"),
    )  # fmt: skip
    return Evidence("Theorem A at M = 2", "The proof divides by 2: modulo 2 subtraction is parity.", "exhaustive",
                    steps, {"states": states, "expressions": len(table.values)})  # fmt: skip


def packing(M: int = 5, margin: float = 0.5, layer: Layer | None = None, longest: int = 7) -> Evidence:
    """Theorem A with a margin: states closer than that cannot be told apart, and a bounded layer runs out of room.

    A disc of radius R holds at most (1 + 2R/margin)^2 points that are ``margin`` apart; more than so many expressions
    must have two closer than that, and ``words.contradiction`` keeps the distance of a pair.  Default: ``spiral(M)``.
    ValueError if ``layer`` is not of width 2 and contracting (in the 2-norm), or ``longest`` operands do not suffice.

    >>> packing().data["operands"], packing().data["predicted"]
    (2, 4)
    """
    check_modulus(M)
    layer = layer or spiral(M)
    gain = float(np.linalg.norm(layer.A, 2))
    if layer.D != 2 or not gain < 1 or not margin > 0:
        raise ValueError(f"packing needs width 2, |A| < 1 and a margin > 0; got {layer.D}, {gain:.3f}, {margin}")
    radius = max(
        max(np.linalg.norm(v) for v in (*layer.digits, layer.minus)) / (1 - gain), float(np.linalg.norm(layer.start))
    )
    room = (1 + 2 * radius / margin) ** 2
    predicted = next(n for n in itertools.count(1) if M**n > room)
    for n in range(1, longest + 1):
        table = word_states(layer, n)
        pairs = collisions(table.states, margin / 2)  # a cell of side margin / 2 has a diagonal below the margin
        if len(pairs):
            break
    else:
        raise ValueError(f"no two of the expressions of {longest} operands share a cell: raise longest or margin")
    left, right = table.words[pairs[0]].tolist()
    pair = contradiction(left, right, M)
    apart = float(np.linalg.norm(layer.state(left) - layer.state(right)))
    close = pair and float(np.linalg.norm(layer.state(pair[0]) - layer.state(pair[1])))
    differ = pair is not None and value(pair[0], M) != value(pair[1], M)
    steps = (
        Step("every state lies in a disc", bool((np.linalg.norm(table.states, axis=1) <= radius + 1e-12).all()),
             f"radius {radius:.3f}, room for {room:.0f} points {margin} apart"),
        Step("two expressions come closer than the margin no later than counting says", n <= predicted,
             f"found at {n} operands ({spelled(left)} and {spelled(right)}), certain at {predicted}"),
        Step("the certificate keeps the distance and has different values",
             differ and abs(close - apart) < 1e-12 and close < margin,
             f"{spelled(pair[0])} and {spelled(pair[1])}, {close:.3f} apart" if pair else "no certificate"),
    )  # fmt: skip
    claim = f"No bounded layer keeps all answers modulo {M} {margin} apart for long."
    return Evidence("Theorem A with a margin", claim, "numerical", steps,
                    {"operands": n, "predicted": predicted, "radius": float(radius)})  # fmt: skip
