"""Paper 003, Eq. 7-8: the eigenvalues of the delta rule's transition, W_t = W_{t-1} (I - beta k k^T) + beta v k^T.

I - beta k k^T has the eigenvalue 1 on everything orthogonal to k, and 1 - beta |k|^2 along k.  The paper says that phi's
outputs "need to be positive and sum up to one for stability": that puts |k|^2 into [1/n, 1] and the eigenvalue into
[1 - beta, 1 - beta/n], inside (0, 1) for beta in (0, 1).  Stable it is whenever 0 <= beta |k|^2 <= 2; keys of length 1
do as well, and there a write with beta = 1 is complete, while a soft key's may be as weak as beta/n.

Letters: n size of a key (the paper's d_key); k key (phi(k)), beta write strength, v value, W fast weights.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise

import numpy as np
import sympy as sp

from lrnnlab.algebra.evidence import Evidence, Step
from lrnnlab.algebra.fast_weights import states, table

HALF = Fraction(1, 2)


def elu(x: np.ndarray) -> np.ndarray:
    """elu(x) + 1: x + 1 above 0, e^x below; positive."""
    return np.where(x > 0, x + 1, np.exp(np.minimum(x, 0)))


def softmax(x: np.ndarray) -> np.ndarray:
    """e^x over its sum along the last axis."""
    powers = np.exp(x - x.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


FEATURE_MAPS = {
    "elu": elu,
    "elu_sum": lambda x: elu(x) / elu(x).sum(-1, keepdims=True),
    "softmax": softmax,
    "unit": lambda x: x / np.linalg.norm(x, axis=-1, keepdims=True),
}


def eigenvalue(beta: float, k: np.ndarray) -> np.ndarray:
    """1 - beta |k|^2 along the last axis of k.

    >>> float(eigenvalue(0.5, np.array([0.5, 0.5])))
    0.75
    """
    return 1 - beta * (k**2).sum(-1)


def characteristic(n: int) -> bool:
    """Whether det(x - (I - beta k k^T)) = (x - 1)^(n-1) (x - 1 + beta |k|^2), in free symbols."""
    k, (beta, x) = sp.Matrix(sp.symbols(f"k:{n}")), sp.symbols("beta x")
    left = (x * sp.eye(n) - (sp.eye(n) - beta * k * k.T)).det(method="berkowitz")
    return sp.expand(left - (x - 1) ** (n - 1) * (x - 1 + beta * k.dot(k))) == 0


def simplex_points(n: int, parts: int) -> np.ndarray:
    """All points of the simplex with coordinates that are multiples of 1/parts, (S, n), as whole numbers of parts.

    >>> simplex_points(2, 2).tolist()
    [[0, 2], [1, 1], [2, 0]]
    """
    grid = np.stack(np.meshgrid(*[np.arange(parts + 1)] * n, indexing="ij"), -1).reshape(-1, n)
    return grid[grid.sum(1) == parts]


def spectrum(
    feature_map: str = "softmax", beta: float = 0.9, n: int = 8, samples: int = 5000, seed: int = 0
) -> Evidence:
    """With a softmax, or any positive phi that sums to one, the eigenvalue along k is in [1 - beta, 1 - beta/n].

    feature_map : ``"softmax"`` or ``"elu_sum"``; ``"unit"`` holds as well, at its lower end;
    with ``"elu"`` the evidence fails.   beta : with 1 or more the last step fails.   ValueError for an unknown map.
    Source: paper 003, Sec. 2, below "Delta-rule".

    >>> [spectrum(feature_map).holds for feature_map in ("softmax", "elu_sum", "unit")]
    [True, True, True]
    >>> [[step.holds for step in spectrum(*given).steps] for given in (("elu",), ("softmax", 1.5))]
    [[True, True, False, False, False], [True, True, True, True, False]]
    """
    if feature_map not in FEATURE_MAPS:
        raise ValueError(f"the feature maps are {', '.join(FEATURE_MAPS)}, got {feature_map!r}")
    draw = np.random.default_rng(seed)
    x = draw.normal(size=(samples, n)) * draw.choice([0.1, 1.0, 10.0], (samples, 1))  # soft keys and hard ones
    found = eigenvalue(beta, FEATURE_MAPS[feature_map](x))
    points = simplex_points(4, 8)
    squares = (points**2).sum(1)  # of |k|^2, in units of 1/64
    low, high, slack = 1 - beta, 1 - beta / n, 1e-12
    inside = (found >= low - slack) & (found <= high + slack)
    steps = (
        Step("det(x - (I - beta k k^T)) = (x - 1)^(n-1) (x - 1 + beta |k|^2)", all(map(characteristic, (1, 2, 3))),
             "in free symbols, n = 1, 2, 3"),
        Step("on the simplex |k|^2 is in [1/n, 1], with 1/n at its centre and 1 at its corners alone",
             squares.min() == 64 / 4 and squares.max() == 64 and int((squares == 16).sum()) == 1
             and int((squares == 64).sum()) == 4, f"n = 4, {len(points)} points"),
        Step(f"{feature_map}: the eigenvalue is in [1 - beta, 1 - beta/n]", bool(inside.all()),
             f"n = {n}, beta = {beta}: {found.min():.3f} to {found.max():.3f} in [{low:.3f}, {high:.3f}]"),
        Step("so it is stable, |eigenvalue| <= 1", bool((np.abs(found) <= 1 + slack).all()),
             f"largest {np.abs(found).max():.3f}"),
        Step("and positive: a write shrinks what was there, and never turns it round", bool((found > 0).all()),
             f"least {found.min():.3f}"),
    )  # fmt: skip
    claim = f"With {feature_map} the transition's eigenvalues are 1 and one in [1 - beta, 1 - beta/n]."
    return Evidence("Eq. 8, its spectrum", claim, "sampled", steps, {"eigenvalues": found})


def stability() -> Evidence:
    """Positive and sum one is enough for stability, and more than is needed: that is 0 <= beta |k|^2 <= 2.

    >>> stability().holds, len(stability().steps)
    (True, 4)
    """
    keys = {"softmax (1/2, 1/2)": (HALF, HALF), "unit (3/5, -4/5)": (Fraction(3, 5), Fraction(-4, 5)),
            "elu + 1 (2, 1)": (Fraction(2), Fraction(1))}  # fmt: skip
    values = {name: 1 - sum(x * x for x in key) for name, key in keys.items()}  # beta = 1
    x = np.abs(np.random.default_rng(0).normal(size=(5000, 8)))
    wild = float(eigenvalue(0.9, elu(x)).min())
    edge = [_size_after(Fraction(beta), 200) for beta in (0, 1, 2)]
    beyond = _size_after(Fraction(5, 2), 200)
    steps = (
        Step("a unit key need not be positive nor sum to one: eigenvalue 1 - beta",
             values["unit (3/5, -4/5)"] == 0, f"beta = 1: {[f'{name}: {value}' for name, value in values.items()]}"),
        Step("elu + 1 alone is unstable", wild < -1, f"5000 keys of 8 numbers, beta = 0.9: down to {wild:.1f}"),
        Step("0 <= beta |k|^2 <= 2: W stays bounded", max(edge) <= 1, f"beta = 0, 1, 2, unit key, 200 steps: {edge}"),
        Step("beyond, it grows without bound", beyond > 10**30, f"beta = 5/2: {float(beyond):.1e}"),
    )  # fmt: skip
    return Evidence("Eq. 8, stability", "phi positive with sum one is sufficient for stability, not necessary.",
                    "exact", steps, {"least": wild})  # fmt: skip


def _size_after(beta, T):
    """|W k| after T steps along a unit key from W k = 1, with v = 0."""
    layer = table([[1]], [[1]], [[0]], [beta])
    return abs(states(layer, (0,) * T, "delta", start=layer.keys)[-1][0, 0])


def repeated_token(beta: Fraction = Fraction(9, 10), key: Callable = lambda: (Fraction(1, 2), Fraction(1, 2)),
                   T: int = 30) -> Evidence:  # fmt: skip
    """On one token again and again W_t k = (1 - (1 - beta |k|^2)^t) v: monotone with a softmax, so no (aa)*, no parity.

    beta : with more than 1 / |k|^2 the last two steps fail.   key : the key, made anew.   Source: paper 003, Eq. 7-8.

    >>> repeated_token().holds, [step.holds for step in repeated_token(beta=Fraction(4)).steps]
    (True, [True, False, False])
    """
    k = key()
    size = sum(x * x for x in k)
    layer = table([k], [k], [[1]], [beta])
    read = [(W @ layer.keys[0])[0] / size for W in states(layer, (0,) * T, "delta")]  # = W_t k / |k|^2, its limit 1/|k|^2
    claimed = [(1 - (1 - beta * size) ** t) / size for t in range(T + 1)]
    changes = np.sign(np.diff(np.array(read, dtype=float)))
    steps = (
        Step("W_t k = (1 - (1 - beta |k|^2)^t) v", read == claimed, f"beta = {beta}, |k|^2 = {size}, t = 0..{T}"),
        Step("that is monotone in t", len(set(changes)) == 1, f"{int((changes > 0).sum())} rises of {T}"),
        Step("so a threshold is crossed once at most: (aa)* needs a crossing at every step",
             max(_crossings(read, level) for level in read[1:]) <= 1, "thresholds at every value"),
    )  # fmt: skip
    return Evidence("Repeated tokens", "With eigenvalues in (0, 1) one layer answers a^t monotonically in t.", "exact",
                    steps, {"read": [float(value) for value in read]})  # fmt: skip


def _crossings(values, level):
    """How often a sequence goes from below ``level`` to at least it, or back."""
    above = [value >= level for value in values]
    return sum(a != b for a, b in pairwise(above))
