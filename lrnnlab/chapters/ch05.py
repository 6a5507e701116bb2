"""The exercises of chapter 05 (diagonal kernels) that a cell can check."""

from __future__ import annotations

import math

import numpy as np

from lrnnlab.course.exercises import Exercise
from lrnnlab.course.judging import CannotJudge, call, claim, number, numbers, same, shown
from lrnnlab.course.predicting import prediction
from lrnnlab.algebra.circle_modes import arc_nodes
from lrnnlab.algebra.modes import kernel, recurrence
from lrnnlab.algebra.shifts import needed_modes
from lrnnlab.algebra.toeplitz import ring


def _ring(answer) -> None:
    if not isinstance(answer, (list, tuple)) or len(answer) != 5 or not all(isinstance(name, str) for name in answer):
        raise CannotJudge(f"five names are asked for, got {shown(answer)}")
    wanted = ring(["K0", "K1", "K2"], ["k0", "k1", "k2"], 5)
    place = next((place for place in range(5) if answer[place] != wanted[place]), None)
    claim(place is None, f"the place {place} does not hold {answer[place or 0]!r}")


def _no_dlr(answer) -> None:
    A = numbers(answer, (2, 2), "A")
    claim((A == A.round()).all(), f"whole numbers are asked for, got {shown(answer)}")
    A = np.array([[int(entry) for entry in row] for row in A.tolist()], dtype=object)
    claim(A.tolist() != [[0, 1], [0, 0]], "this one is excepted: find another")
    power, values = np.eye(2, dtype=int).astype(object), []
    for _ in range(9):
        values.append(power[0, 1])
        power = power @ A
    found = recurrence(values)
    claim(not found.is_sqf, f"the kernel {values[:5]} has the recurrence {found.as_expr()}, whose roots are simple")


def _shift(answer) -> None:
    for L in range(1, 12):
        for S in range(L):
            pair = call(answer, S, L)
            if not isinstance(pair, (tuple, list)) or len(pair) != 2:
                raise CannotJudge(f"two lists, nodes and weights, are asked for; S={S}, L={L} gave {shown(pair)}")
            nodes, weights = numbers(pair[0], (None,), "the nodes"), numbers(pair[1], (None,), "the weights")
            most = math.ceil(needed_modes(L, S) / 2)
            claim(len(nodes) == len(weights), f"S={S}, L={L}: {len(nodes)} nodes and {len(weights)} weights")
            claim(len(nodes) <= most, f"S={S}, L={L}: {len(nodes)} modes, where {most} would do")
            made = np.real(kernel(nodes.tolist(), weights.tolist(), L))
            claim(np.allclose(made, np.arange(L) == S), f"S={S}, L={L}: the kernel is {np.round(made, 3).tolist()}")


def _count(answer) -> None:
    needs = {8 * j: needed_modes(64, 8 * j) for j in range(1, 8)}
    given = number(answer)
    claim(given == sum(need <= 48 for need in needs.values()), f"not {given:g}: compare 2N with what each shift needs")


def _roots(answer) -> None:
    for N in range(1, 30):
        above = sum(math.sin(math.pi * n / N) > -1e-9 for n in range(2 * N))  # the roots are e^(i pi n / N)
        given = call(answer, N)
        claim(same(given, above), f"N = {N}: {above} of {2 * N} roots are not below the real line, not {shown(given)}")


def _stack(answer) -> None:
    for m in range(1, 6):
        for r in (0.5, 0.9, 1.1):
            taps = np.array([1.0])
            for _ in range(m):
                taps = np.convolve(taps, r ** np.arange(12.0))[:12]
            for j, tap in enumerate(taps):
                given = float(numbers(call(answer, r, m, j), (), f"the tap at r={r}, m={m}, j={j}"))
                claim(math.isclose(given, tap, rel_tol=1e-6),
                      f"r={r}, m={m}, j={j}: the tap is {tap:.6g}, not {given:.6g}")  # fmt: skip


def _half_circle(S: int, L: int) -> tuple:
    nodes = arc_nodes(math.ceil(max(S + 1, L - S) / 2), math.pi)
    return nodes, nodes ** float(-S) / len(nodes)


EXERCISES = (
    Exercise(
        "05.1", 1, 5, "why a ring of 2L - 1 places is enough", _ring, ("Count the taps that some output meets.",),
        "$L$ taps behind and $L - 1$ ahead are met (the last one ahead never is): $2L - 1$ different places "
        "are needed. "
        '`["K0", "K1", "K2", "k1", "k0"]`.',
        lambda: ["K0", "K1", "K2", "k1", "k0"],
    ),
    Exercise(
        "05.2", 2, 10, "what breaks where a matrix cannot be diagonalised", _no_dlr,
        ("A double eigenvalue other than 0.",),
        "For example $\\begin{pmatrix}1&1\\\\0&1\\end{pmatrix}$: kernel $0, 1, 2, 3, \\dots$, recurrence "
        "$(z-1)^2$. A DLR of "
        "any size has simple roots.",
        lambda: [[1, 1], [0, 1]],
    ),
    Exercise(
        "05.3", 2, 15, "why half a circle is enough", _roots,
        ("Which roots of the two polynomials are real?",),
        "$N + 1$: the roots are $e^{i\\pi n/N}$, and $n = 0, 1, \\dots, N$ are not below the real line. 1 and $-1$ "
        "are their own mirror images, so $N$ modes cannot hold all of them. $z^{2N} + 1$ has no real root: $N$.",
        lambda: lambda N: N + 1,
    ),
    Exercise(
        "05.4", 2, 10, "how to make a shift with as few modes as possible", _shift,
        ("The half circle with $N = \\lceil \\max(S+1, L-S)/2\\rceil$.", "The weights are $\\lambda^{-S}/N$."),
        "`nodes = arc_nodes(math.ceil(max(S + 1, L - S) / 2), math.pi)`, weights `nodes ** -S / len(nodes)`. "
        "By the sum in "
        "exercise 3, the real part is 1 at $S$, and 0 at all other lags less than $2N$ from $S$.",
        lambda: _half_circle,
    ),
    Exercise(
        "05.5", 2, 5, "what a count of modes forbids", _count,
        ("$2N = 48$.", "A shift by S needs max(S + 1, L - S)."),
        "The shifts by 16, 24, 32 and 40 need 48, 40, 33 and 41: four. The one by 48 needs 49.",
        lambda: 4,
    ),
    Exercise(
        "05.9", 2, 10, "what depth does to a fading kernel", _stack,
        ("How many ways are there to split j steps over m layers?",),
        "$\\binom{j+m-1}{m-1}\\,r^j$: each way to split $j$ steps over $m$ layers brings $r^j$.",
        lambda: lambda r, m, j: math.comb(j + m - 1, m - 1) * r**j,
    ),
    prediction(
        "05.10", 1, 5, "that what cannot be exact may still be learned",
        "A DLR with N = 24, started on the half circle, is trained on Shift at L = 64 (200 steps). Of the eight "
        "outputs, "
        "the shifts by 0, 8, ..., 56, how many get an $R^2$ above one half?", tuple(range(9)), 7,
        ("An echo comes 48 lags away, upside down.", "Over how many places does the echo of each shift stretch?"),
        "Four shifts can be exact, and the skip weight copies the input. The one by 8 has its echo at lag 56, which "
        "only the last 8 of 64 places see, so it costs little. The one by 48 has it at lag 0, and the skip weight "
        "takes it back. The one by 56 has it at lag 8, over 56 places, and is right at 8: it is better left out.",
    ),
)  # fmt: skip
