"""The judges of chapter 06's exercises; hints and solutions are in ch06.md."""

import math
from fractions import Fraction
from functools import cache
from math import log10
from numbers import Rational

import numpy as np

from lrnnbook.content.exercises.building import Build
from lrnnbook.content.exercises.judging import call, claim, number, numbers, same, shown, wrong_step
from lrnnbook.content.exercises.prediction import prediction
from lrnnbook.content.tables import kernels

NODES = (Fraction(0), Fraction(1, 4), Fraction(1))


def _weights(answer) -> None:
    given = _fractions(answer, 3, "the weights")
    made = [f"{float(tap):.6g}" for tap in kernels.kernel(list(NODES), given, 3)]
    right = all(same(float(w), float(v)) for w, v in zip(given, kernels.exact_weights(list(NODES))))  # 16/3 may be a float
    claim(right, f"with these weights the kernel is {made}, and should be 0, 0, 1")


def _fractions(values, count: int, what: str) -> list:
    claim(np.isfinite(numbers(values, (count,), what, real=True)).all(), f"{what} should be finite, got {shown(values)}")
    return [Fraction(value if isinstance(value, Rational) else float(value)) for value in values]


def _zeros(answer) -> None:
    for N in range(2, 30):
        zeros, degree = numbers(call(answer, N), (2,), f"the pair at N = {N}", real=True).tolist()
        claim(zeros == N - 1, f"N = {N}: between its {N} extrema it changes sign how often? Not {zeros:g} times")
        claim(degree == N - 2, f"N = {N}: the leading terms, of degree {N - 1}, have cancelled; not {degree:g}")


def _real_weights(answer) -> None:
    draw = np.random.default_rng(0)
    for N, S in [(N, S) for N in range(1, 7) for S in range(N)]:
        nodes = [Fraction(int(a), 11) for a in draw.choice(30, N, replace=False)]
        of = f"nodes {', '.join(map(str, nodes))}, S = {S}"
        made = kernels.kernel(nodes, _fractions(call(answer, list(nodes), S), N, f"the weights of {of}"), N)
        off = max(abs(tap - (k == S)) for k, tap in enumerate(made))
        claim(not 0 < off < 1e-6, f"{of}: the kernel is off by {float(off):.1g}: floats are rounded, fractions are asked for")
        claim(not off, f"{of}: the kernel is {', '.join(map(str, made))}, and should be {', '.join(str(int(k == S)) for k in range(N))}")


def _losses(answer) -> None:
    first, second = numbers(answer, (2,), "the two N", real=True).tolist()
    claim(abs(first - (8 + 3) / 2) <= 0.5, f"in [0, 1] it is not {first:g}: where does the exponent reach 8?")
    claim(abs(second - (8 + 2)) <= 0.5, f"in [-1, 1] it is not {second:g}: where does the exponent reach 8?")


@cache
def _fits_float32(interval: str) -> int:
    """The largest shift up to which float32 holds the least ||w||_1 at L = 256."""
    return next(S for S in range(256) if log10(kernels.smallest_norm(256, S + 1, interval)) > log10(np.finfo("float32").max))


def _limits(answer) -> None:
    for given, interval in zip(numbers(answer, (2,), "the two shifts", real=True).tolist(), kernels.INTERVALS):
        off = given - _fits_float32(interval)
        claim(abs(off) <= 5, f"nodes in {interval}: at {given:g} the curve is well {'above' if off > 0 else 'below'} the line")


def _echoes(answer) -> None:
    u = numbers(answer, (None,), "the input", real=True)
    claim(0 < len(u) <= 400, f"the input has {len(u)} numbers; 1 to 400 are asked for")
    claim(np.abs(u).max() <= 1, f"the number {u[np.abs(u).argmax()]:g} is not between -1 and 1")
    K = np.zeros(len(u))
    K[10::16] = (-0.8) ** np.arange(len(K[10::16]))  # Theorem 4 for N = 8, S = 10, d = 0.8
    made = np.convolve(K, u)[: len(u)]
    due = np.concatenate([np.zeros(10), u])[: len(u)]
    t = int(np.abs(made - due).argmax())
    claim(abs(made[t] - due[t]) > 3.95, f"the worst output is that at step {t}: {made[t]:.3f} in place of {due[t]:.3g}")


def _circle_weights(answer) -> None:
    for L, S in [(L, S) for L in (1, 2, 3, 5, 16) for S in range(L)]:
        nodes, weights = numbers(call(answer, L, S), (2, L), f"the nodes and the weights at L = {L}, S = {S}")
        k = int(np.abs(np.abs(nodes) - 1).argmax())
        claim(abs(abs(nodes[k]) - 1) < 1e-9, f"L = {L}, S = {S}: a node has size {abs(nodes[k]):.3g}, and is not on the circle")
        made = (weights * nodes ** np.arange(L)[:, None]).sum(1)
        k = int(np.abs(made - np.eye(L)[S]).argmax())
        tap = made[k].real if abs(made[k].imag) < 1e-9 else made[k]
        claim(abs(tap - (k == S)) < 1e-6, f"L = {L}, S = {S}: at lag {k} the kernel is {tap.round(3) + 0:.3g}, and should be {int(k == S)}")
        claim(np.abs(weights).sum() < 1 + 1e-6, f"L = {L}, S = {S}: the sizes of the weights add up to {np.abs(weights).sum():.3g}")


def circle_weights(L, S):  # -> L nodes, L weights
    nodes = np.exp(2j * np.pi * np.arange(L) / L)
    return nodes, nodes ** float(-S) / L


def _end(answer) -> None:
    a = number(answer)
    claim(0 < a < 1e6, f"a should be above 0 and below a million, got {a:g}")
    norm = float(sum(map(abs, kernels.exact_weights([Fraction(a) * node for node in kernels.chebyshev_nodes(5)]))))
    claim(abs(norm - 1) < 1e-3, f"with a = {a:g} the least norm is {norm:.3f}")


def _modes(answer) -> None:
    for L in range(1, 100):
        given = float(numbers(call(answer, L), (), f"the modes at L = {L}", real=True))
        least = min(kernels.needed_modes(L, S) for S in range(L))
        claim(given == least, f"L = {L}: the cheapest shift needs {least}, and not {given:g}")


def _earlier(answer) -> None:
    most = math.log(float(np.finfo(np.float32).max))
    for lam in (0.2, 0.5, 0.9, 0.99, 0.999):
        rate = -math.log(lam)
        term, total = most / rate, (most + math.log(1 / lam - 1)) / rate - 1  # where the last term, and the sum, end
        given = float(numbers(call(answer, lam), (), f"the answer at lambda = {lam}", real=True))
        claim(abs(given - (term - total)) <= max(1e-3 * term, 1e-6),
              f"lambda = {lam}: the sum overflows {term - total:.4g} steps earlier, not {given:.4g}")  # fmt: skip


def _weight(answer) -> None:
    for N in range(2, 13):
        for k, w in enumerate(kernels.exact_weights(kernels.chebyshev_nodes(N))):
            given = float(numbers(call(answer, N, k), (), f"the weight at N = {N}, k = {k}", real=True))
            claim(math.isclose(given, float(w), rel_tol=1e-6), f"N = {N}, k = {k}: the kernel of these weights is no "
                  "one-hot: " + ("the size is right and the sign is not" if math.isclose(-given, float(w), rel_tol=1e-6)
                                 else "compare q' at the ends and inside, and count the halves"))  # fmt: skip


def _changed_sign(answer, L=8, S=5) -> None:
    error = number(answer)
    claim(error > 0, f"the error is positive, got {error:g}")
    nodes = (1 - np.cos(np.pi * np.arange(L) / (L - 1))) / 2
    one_hots = np.linalg.inv(nodes ** np.arange(L)[:, None])  # column k: the weights of the one-hot at k
    w = one_hots[:, S] - error * one_hots @ (-1.0) ** (np.arange(L) - S)  # the signs of [x^k] T* alternate
    claim((w * one_hots[:, S] < 0).any(), f"with an error of {error:g} no weight has changed its sign: here step 3 holds")


EXERCISES = (
    ("06.1", _weights), ("06.2", _zeros), ("06.3", _end), ("06.4", _losses),
    prediction("06.6", (1, 4, 7, 9, 11, 13, 15), 11), ("06.7", _limits), ("06.9", _weight), prediction("06.10", (1, 8, 16, 31), 16), ("06.12", _modes),
    ("06.13", _echoes), ("06.14", _earlier),
    ("06.11", wrong_step(3, {
        1: "that is how the proof of Theorem 2 makes the certificate equal to the norm",
        2: "the one-hots at k and S are 1 at their own lags and 0 at the others, so each tap is moved by the error, up or down",
        4: "where each weight has the sign of its T*, the norm is the sum, and the sum is that of the coefficients times the taps",
    }, _changed_sign)),
)  # fmt: skip
BUILDS = {
    "real_weights": Build("06.5", _real_weights, kernels.exact_weights,
                          "for these nodes there are no other weights: N nodes, N lags, one solution"),
    "circle_weights": Build("06.8", _circle_weights, circle_weights,
                            "no nodes in the unit disc do it with a smaller sum, for the 1 at lag S is at most the sum of the sizes"),
}  # fmt: skip
