"""When floats give out: the weights of a shift by real modes, and the running sum of paper 004's Sec. 2.1.

A one-hot kernel of N real modes has weights near 2^(2N-3) (``ill_conditioning``); their sum must be 1 or 0, so an
arithmetic of m binary digits is lost near 2N - 3 = m: N = 13.5 for float32, 28 for float64.

"x_k = lambda^k sum_j u_j lambda^-j ... is numerically stable only if |lambda| = 1" is too strong: it is accurate until
lambda^-k overflows, k = 88.7/|ln lambda| in float32, or up to ln(1/(1-lambda))/|ln lambda| earlier (the sum is larger).

Letters: N modes, L length, S lag of the 1, k lag; lambda nodes, w weights, K kernel; u input, x state.
"""

from __future__ import annotations

from fractions import Fraction
from math import log, log2, pi
from typing import NamedTuple

import numpy as np
from scipy.signal import lfilter

from lrnnlab.algebra.evidence import Evidence, Step
from lrnnlab.algebra.ill_conditioning import exact_weights
from lrnnlab.algebra.shift_norms import check_shift, extremal_nodes

LARGEST = 64  # modes; their weights still fit float32
DIGITS = {"float32": 24, "float64": 53}


class ShiftWeights(NamedTuple):
    """The one-hot kernel at lag S by N modes: what ``shift_weights`` returns."""

    nodes: np.ndarray
    weights: np.ndarray
    log2_largest: float
    kernel32: np.ndarray
    kernel64: np.ndarray
    error32: float
    error64: float


def rounded_kernel(nodes: np.ndarray, weights: np.ndarray, L: int, precision: str) -> np.ndarray:
    """Re sum_n w_n lambda_n^k for k = 0..L-1, with nodes, weights, powers and sums in float32 or float64 (or complex).

    >>> rounded_kernel(np.array([0.5]), np.array([1 / 3]), 2, "float32").tolist()
    [0.3333333432674408, 0.1666666716337204]
    """
    kind = np.result_type(precision, np.complex64) if np.iscomplexobj(nodes) else np.dtype(precision)
    powers = nodes.astype(kind) ** np.arange(L, dtype=precision)[:, None]
    with np.errstate(over="ignore", invalid="ignore"):  # weights may leave float32
        return (powers @ weights.astype(kind)).real


def shift_weights(N: int, interval: str = "[0,1]", S: int | None = None) -> ShiftWeights:
    """Modes whose kernel is 1 at S (N-1 by default) and 0 at the other lags of 0..N-1, with the least ||w||_1.

    interval : "[0,1]", "[-1,1]" or "circle"; the nodes are extrema of a Chebyshev polynomial, or roots of unity.  Their
    number is N, or N-1 on [-1, 1] where S and N-1 have different parity.  The weights are exact for the nodes as
    float64 holds them, then rounded; the kernels are computed from the rounded numbers, the errors are their largest
    distance from the one-hot, infinite where the weights leave float32.  ValueError unless 1 <= N <= 64 and 0 <= S < N.

    >>> found = shift_weights(3)
    >>> found.nodes.tolist(), found.weights.tolist(), found.log2_largest
    ([0.0, 0.5, 1.0], [2.0, -4.0, 2.0], 2.0)
    >>> found = shift_weights(32)
    >>> found.error64 > 1, shift_weights(32, "circle").error32 < 1e-6
    (True, True)
    """
    if not 1 <= N <= LARGEST:
        raise ValueError(f"shift_weights takes 1..{LARGEST} modes, got {N}")
    S = N - 1 if S is None else S
    check_shift(N, S, interval)
    if interval == "circle":
        nodes = np.exp(2j * pi * np.arange(N) / N)
        weights, largest = np.exp(-2j * pi * (np.arange(N) * S % N) / N) / N, Fraction(1, N)
    else:
        points = extremal_nodes(N, S, interval, bits=53)
        exact = exact_weights(points, S)
        nodes, weights, largest = np.array(points, float), np.array(exact, float), max(map(abs, exact))
    kernels = [rounded_kernel(nodes, weights, N, precision) for precision in DIGITS]
    gaps = [np.abs(found - (np.arange(N) == S)) for found in kernels]
    errors = [float(np.nan_to_num(gap, nan=np.inf, posinf=np.inf).max()) for gap in gaps]
    return ShiftWeights(nodes, weights, log2(largest.numerator) - log2(largest.denominator), *kernels, *errors)


def breaking_point(precision: str = "float32", interval: str = "[0,1]", error: float = 0.5) -> dict:
    """The first N at which the shift by N-1 has an error of ``error`` or more, and N at which the weights say so.

    ``observed`` is None where it never does up to 64 modes.  ValueError for another precision.

    >>> breaking_point("float32")["predicted"], breaking_point("float64")["predicted"]
    (13.5, 28.0)
    """
    if precision not in DIGITS:
        raise ValueError(f"the precision is {' or '.join(DIGITS)}, got {precision!r}")
    place = {"float32": "error32", "float64": "error64"}[precision]
    observed = next((N for N in range(2, LARGEST + 1) if getattr(shift_weights(N, interval), place) >= error), None)
    slope, start = {"[0,1]": (2, -3), "[-1,1]": (1, -2), "circle": (0, 0)}[interval]  # log2 of the least norm
    return {"observed": observed, "predicted": (DIGITS[precision] - start) / slope if slope else None}


def shifts_in_floats(interval: str = "[0,1]") -> Evidence:
    """The shift by N-1 with real modes is lost in float32 and float64 within 3 modes of where the weights reach 2^m.

    interval : "circle" shows what does not fail.

    >>> shifts_in_floats().holds, [step.holds for step in shifts_in_floats("circle").steps]
    (True, [False, False, False])
    """
    found = {precision: breaking_point(precision, interval) for precision in DIGITS}
    log2s = [shift_weights(N, interval).log2_largest for N in (10, 20, 40)]
    growth = [(b - a) / (n - m) for a, b, m, n in zip(log2s, log2s[1:], (10, 20), (20, 40))]
    says = [f"{precision} is lost where the weights have its {DIGITS[precision]} digits" for precision in DIGITS]
    good = [at["observed"] is not None and abs(at["observed"] - at["predicted"]) <= 3 for at in found.values()]
    steps = (
        Step("the largest weight grows by nearly 2 binary digits a mode", all(1.8 < g < 2 for g in growth),
             f"log2 at N = 10, 20, 40: {', '.join(f'{value:.1f}' for value in log2s)}"),
        *(Step(text, ok, f"first error of 0.5: N = {at['observed']}, predicted {at['predicted']}")
          for text, ok, at in zip(says, good, found.values())),
    )  # fmt: skip
    return Evidence("Shifts in floats", f"Nodes in {interval}: floats lose the one-hot.", "numerical",
                    steps, found)  # fmt: skip


def running_sum(lam: float, u: np.ndarray, precision: str = "float32") -> np.ndarray:
    """x_k = lambda^k sum_{j <= k} u_j lambda^-j, everything in ``precision``: the reduction of paper 004, Sec. 2.1.

    Returns (L,), with infinities or NaN once lambda^-k has overflowed.  ValueError unless 0 < lambda.

    >>> running_sum(0.5, np.array([1.0, 0.0, 4.0])).tolist()
    [1.0, 0.5, 4.25]
    """
    if not lam > 0:
        raise ValueError(f"the running sum takes powers of lambda > 0, got {lam}")
    k = np.arange(len(u), dtype=precision)
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        base = np.array(lam, precision)
        return base**k * np.cumsum(u.astype(precision) * base**-k)


def overflow_length(lam: float, precision: str = "float32") -> float:
    """ln(largest number) / |ln lambda|: lambda^-k overflows from here on (88.7/|ln lambda| in float32).

    >>> round(overflow_length(0.99)), round(overflow_length(0.99, "float64"))
    (8828, 70623)
    """
    if not 0 < lam < 1:
        raise ValueError(f"a fading mode has 0 < lambda < 1, got {lam}")
    return log(float(np.finfo(precision).max)) / -log(lam)


def running_sum_errors(lam: float, precision: str = "float32", seed: int = 0) -> dict:
    """The first k at which ``running_sum`` of random u in (-1, 1) is not finite, and its largest error before.

    The error is a share of max |x|.  The reference is the recurrence in float64 (for float64 itself, too), with
    lambda rounded alike.

    >>> found = running_sum_errors(0.9)
    >>> 800 < found["observed"] <= 843, found["error"] < 1e-5
    (True, True)
    """
    lam = float(np.array(lam, precision))
    u = np.random.default_rng(seed).uniform(-1, 1, int(overflow_length(lam, precision)) + 2)
    x, want = running_sum(lam, u, precision), lfilter([1], [1, -lam], u.astype(precision).astype(float))
    observed = int(np.argmin(np.isfinite(x)))
    return {"lambda": lam, "predicted": overflow_length(lam, precision), "observed": observed,
            "error": float(np.abs(x - want)[:observed].max() / np.abs(want[:observed]).max())}  # fmt: skip


def running_sums(lams: tuple = (0.999, 0.99, 0.9, 0.5), wall: float = 1.0) -> Evidence:
    """Accurate until it overflows, and it overflows where predicted.

    wall : multiplies the predicted length, to see it fail.  Against paper 004, Sec. 2.1, footnote 1.

    >>> running_sums().holds, [step.holds for step in running_sums(wall=0.8).steps]
    (True, [True, False, True])
    """
    rows = [running_sum_errors(lam) for lam in lams]
    early = [wall * row["predicted"] + log(1 - row["lambda"]) / -log(row["lambda"]) - 1 for row in rows]
    inside = all(low <= row["observed"] <= wall * row["predicted"] + 1 for low, row in zip(early, rows))
    double = running_sum_errors(0.99, "float64")
    steps = (
        Step("float32: small errors up to the overflow", max(row["error"] for row in rows) < 1e-3,
             ", ".join(f"{row['error']:.0e}" for row in rows)),
        Step("the overflow: at 88.7/|ln lambda|, or up to ln(1/(1-lambda))/|ln lambda| before", inside,
             ", ".join(f"{row['observed']} of {row['predicted']:.0f}" for row in rows)),
        Step("float64, lambda = 0.99: the same, eight times as far", double["error"] < 1e-11,
             f"error {double['error']:.0e} up to {double['observed']}"),
    )  # fmt: skip
    return Evidence("Running sums", "lambda^k sum u_j lambda^-j is accurate until lambda^-k overflows.", "numerical",
                    steps, {"rows": rows})  # fmt: skip
