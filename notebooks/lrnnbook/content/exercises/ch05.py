"""The judges of chapter 05's exercises; hints and solutions are in ch05.md."""

import math
from math import pi

import numpy as np

from lrnnbook.content.exercises.building import Build
from lrnnbook.content.exercises.judging import CannotJudge, call, claim, numbers, one_number, shown, texts, wrong_step
from lrnnbook.content.exercises.prediction import prediction
from lrnnbook.content.tables.kernels import arc_nodes, best_fit, needed_modes, recurrence
from lrnnbook.content.tables.kernels import kernel as exact_kernel


def kernel(nodes, weights, L):
    return (nodes ** np.arange(L)[:, None] @ weights).real


def convolve(kernel, u):
    T = len(u)
    return np.fft.irfft(np.fft.rfft(kernel, 2 * T) * np.fft.rfft(u, 2 * T), 2 * T)[:T]


def fit_weights(nodes, wanted):
    table = nodes ** np.arange(len(wanted))[:, None]
    found = np.linalg.lstsq(np.hstack([table.real, -table.imag]), wanted, rcond=None)[0]
    return found[: len(nodes)] + 1j * found[len(nodes) :]


def _ring(answer) -> None:
    answer = texts(answer, "five names", 5)
    wanted = ["K0", "K1", "K2", "k1", "k0"]
    place = next((place for place in range(5) if answer[place] != wanted[place]), None)
    claim(place is None, f"the place {place} does not hold {answer[place or 0]!r}")


def _no_dlr(answer) -> None:
    A = numbers(answer, (2, 2), "A", real=True)
    claim((np.isfinite(A) & (A == A.round())).all(), f"whole numbers are asked for, got {shown(answer)}")
    A = np.array([[int(entry) for entry in row] for row in A.tolist()], dtype=object)
    claim(A.tolist() != [[0, 1], [0, 0]], "this one is excepted: find another")
    power, values = np.eye(2, dtype=int).astype(object), []
    for _ in range(9):
        values.append(power[0, 1])
        power = power @ A
    claim(any(values), "the kernel is 0 at every lag: the upper right entry of A must not be 0")
    found = recurrence(values)
    claim(not found.is_sqf, f"the kernel {values[:5]} has the recurrence {found.as_expr()}, whose roots are simple")


def _shift(answer) -> None:
    for L in range(1, 12):
        for S in range(L):
            pair = call(answer, S, L)
            two = [*pair] if isinstance(pair, (tuple, list)) or getattr(pair, "ndim", False) else []
            if len(two) != 2:
                raise CannotJudge(f"two lists, nodes and weights, are asked for; S={S}, L={L} gave {shown(pair)}")
            nodes, weights = (numbers(one, (None,), f"S={S}, L={L}: the {name}")
                              for one, name in zip(two, ("nodes", "weights")))  # fmt: skip
            most = math.ceil(needed_modes(L, S) / 2)
            claim(len(nodes) == len(weights), f"S={S}, L={L}: {len(nodes)} nodes and {len(weights)} weights")
            claim(len(nodes) <= most, f"S={S}, L={L}: {len(nodes)} modes, where {most} would do")
            made = np.real(exact_kernel(nodes.tolist(), weights.tolist(), L))
            claim(np.allclose(made, np.arange(L) == S), f"S={S}, L={L}: the kernel is {np.round(made, 3).tolist()}")


def _roots(answer) -> None:
    for N in range(1, 30):
        above = sum(math.sin(math.pi * n / N) > -1e-9 for n in range(2 * N))  # the roots are e^(i pi n / N)
        given = float(numbers(call(answer, N), (), f"the count at N = {N}", real=True))
        claim(given == above, f"N = {N}: {above} of {2 * N} roots are not below the real line, not {given:g}")


def _stack(answer) -> None:
    for m in range(1, 6):
        for r in (0.5, 0.9, 1.1):
            taps = np.array([1.0])
            for _ in range(m):
                taps = np.convolve(taps, r ** np.arange(12.0))[:12]
            for j, tap in enumerate(taps):
                given = float(numbers(call(answer, r, m, j), (), f"the tap at r={r}, m={m}, j={j}", real=True))
                claim(math.isclose(given, tap, rel_tol=1e-6),
                      f"r={r}, m={m}, j={j}: the tap is {tap:.6g}, not {given:.6g}")  # fmt: skip


def _product_weight(answer) -> None:
    draw = np.random.default_rng(0)
    for N in (1, 2, 3, 4):
        nodes, w = (draw.uniform(-1, 1, (2, N)).T @ [1, 1j] for _ in "nw")
        pairs = [(m, n) for m in range(N) for n in range(m, N)]
        shares = [numbers(call(answer, complex(w[m]), complex(w[n]), m == n), (), "the weight") for m, n in pairs]
        for k in range(6):
            made = sum(share * (nodes[m] * nodes[n]) ** k for share, (m, n) in zip(shares, pairs)).real
            K = w @ nodes**k
            due = K.real * K.imag
            claim(abs(made - due) < 1e-6 * (1 + abs(K) ** 2),
                  f"N = {N}: at lag {k} the kernel is {made:.4g}, and Re K Im K is {due:.4g}")  # fmt: skip


def _array(value, shape: tuple, what: str, real: bool = False) -> np.ndarray:
    found = numbers(value, shape, what, real=real)
    if not isinstance(value, np.ndarray):
        raise CannotJudge(f"{what}: an array is asked for, which the next step reads; got {shown(value)}")
    return found


def _real_kernel(answer) -> None:
    draw = np.random.default_rng(5)
    for N, L in ((1, 1), (1, 4), (2, 3), (3, 7)):
        nodes, weights = (draw.uniform(-1, 1, (N, 2)).round(1) @ [1, 1j] for _ in "nw")
        given = _array(call(answer, nodes, weights, L), (L,), f"the kernel at N = {N}, L = {L}", real=True)
        made = np.real(exact_kernel(nodes.tolist(), weights.tolist(), L))
        claim(np.allclose(given, made), f"nodes {shown(nodes)}, weights {shown(weights)}: the kernel is "
                                        f"{made.round(3).tolist()}, not {given.round(3).tolist()}")  # fmt: skip


def _convolution(answer) -> None:
    draw = np.random.default_rng(5)
    for T in (3, 2, 1, 6, 7, 40):  # 3 shows best what a ring of the wrong size does
        K, u = draw.choice([-3.0, -2.0, -1.0, 1.0, 2.0, 3.0], size=(2, T))
        given = numbers(call(answer, K, u), (T,), f"what comes out for T = {T}", real=True)
        due = [sum(K[j] * u[k - j] for j in range(k + 1)) for k in range(T)]
        k = int(np.abs(given - due).argmax())
        claim(np.allclose(given, due), f"kernel {shown(K)}, input {shown(u)}: the output at {k} is {given[k]:.4g}, and "
                                       f"should be {due[k]:g}")  # fmt: skip


def _fit(answer) -> None:
    draw = np.random.default_rng(5)
    sets = {"on the half circle": arc_nodes(4, pi), "on the circle": arc_nodes(4, offset=0),
            "within the circle": 0.9 * arc_nodes(3, 2)}  # fmt: skip
    for place, nodes in sets.items():
        for wanted in (np.eye(8)[3], draw.standard_normal(8).round(1)):
            weights = _array(call(answer, nodes, wanted), (len(nodes),), "the weights").tolist()
            missed = np.linalg.norm(np.real(exact_kernel(nodes.tolist(), weights, 8)) - wanted) / np.linalg.norm(wanted)
            claim(missed <= best_fit(nodes, wanted).error + 1e-6,
                  f"{len(nodes)} nodes {place}, wanted {shown(wanted)}: your weights miss it by {missed:.3f} of its norm, "
                  "and others by less")  # fmt: skip


def _cheaper_shift(answer) -> None:
    S, N = numbers(answer, (2,), "the shift and its number of modes", real=True)
    claim(float(S).is_integer() and 0 <= S < 64, f"a shift on 64 lags is one of 0 to 63, got {S:g}")
    needed = needed_modes(64, round(S))
    claim(N >= needed, f"N = {N:g} is too few for the shift by {S:g}: its kernel has taps that would not be 0")
    claim(N <= needed, f"N = {N:g} is enough for the shift by {S:g}, and fewer are as well")
    claim(N < needed_modes(64, 0), f"the shift by {S:g} is no cheaper than the one by 0")


EXERCISES = (
    ("05.3", _roots), ("05.5", _shift),
    ("05.6", one_number(sum(needed_modes(64, 8 * j) <= 48 for j in range(1, 8)), "not {}: compare 2N with what each shift needs")),
    prediction("05.7", tuple(range(9)), 7), ("05.8", _stack), ("05.9", _ring), ("05.10", _no_dlr), ("05.12", _product_weight),
    ("05.11", wrong_step(4, {
        1: "with fewer, a recurrence ends at lag S, with a single tap that is not 0, and says that c_N = 0",
        2: "step 3 of the theorem: the L-th roots of unity repeat themselves after L lags, which is too late to matter",
        3: "step 1 asks for L of them, and step 2 says that L are enough for all",
    }, _cheaper_shift)),
)  # fmt: skip
BUILDS = {
    "kernel": Build("05.1", _real_kernel, kernel, "one line, and it is all that a trained DLR remembers: the rest is one convolution"),
    "convolve": Build("05.2", _convolution, convolve,
                      "with the kernel this is a whole layer: T log T steps where the recurrence takes T, but all of them at once"),
    "fit_weights": Build("05.4", _fit, fit_weights,
                         "no training does better on these nodes: the best weights are a projection, and these lines compute it"),
}  # fmt: skip
