"""The judges of chapter 03's exercises; hints and solutions are in ch03.md."""

from itertools import product

import numpy as np

from lrnnbook.content.exercises.judging import call, claim, number, numbers, one_number, shown
from lrnnbook.content.exercises.prediction import prediction
from lrnnbook.content.tables import records

# PScan on T = 500 inputs and x_0: L = 512 positions, 9 levels; L/2 words a level, less the letters that are given, are
# products of blocks (b^3 multiplications), and all are applied to a state (b^2), for 8 blocks of size 8.  It does more work
# than the loop, so it wins only where the loop is held up by its depth of 500 steps.
LEAST_PROCESSORS = 8 * (8**3 * (256 * 9 - 511) + 8**2 * 256 * 9) // 500 + 1


def _bound(answer) -> None:
    values = [number(call(answer, n)) for n in range(1, 600)]
    claim(values[0] >= 0, f"no level makes less than no product, and f(1) is {values[0]:g}")
    for n, f in enumerate(values, 1):
        claim(f < n, f"it has to be less than n, and f({n}) is {f:g}")
        if n > 1:
            above = -(-n // 2)
            made = above - 1 + values[above - 1]
            claim(made <= f + 1e-9, f"a level of {n} nodes makes {above - 1} products, those above it at most f({above}) = "
                             f"{values[above - 1]:g}: together {made:g}, more than your f({n}) = {f:g}")  # fmt: skip


def _pair(answer) -> None:
    for a1, b1, a2, b2, x in np.random.default_rng(0).integers(-5, 6, (500, 5)).tolist():
        a, b = numbers(call(answer, (a2, b2), (a1, b1)), (2,), "the pair", real=True).tolist()
        wanted = max(max(x + a1, b1) + a2, b2)
        claim(max(x + a, b) == wanted, f"first {(a1, b1)}, then {(a2, b2)}, from x = {x}: your pair ({a:g}, {b:g}) leads to "
                                       f"{max(x + a, b):g}, the two steps to {wanted}")  # fmt: skip


def _brackets(answer) -> None:
    exact, kind = numbers(answer, (3,), "a, b and c", real=True), numbers(answer, (3,)).dtype
    a, b, c = exact.astype(kind if kind.kind == "f" else float)  # floats of 32 bits are added as such
    with np.errstate(all="ignore"):
        left, right = float((a + b) + c), float(a + (b + c))
    claim(np.isfinite([left, right]).all(), f"the sums are {left} and {right}: both should be finite")
    claim(abs(left - right) >= 1, f"(a + b) + c is {left} and a + (b + c) is {right}: less than 1 apart")


def _mended(answer) -> None:
    draw = np.random.default_rng(4)
    for T, gates in product((1, 2, 3, 4, 5, 8, 13, 64), ([-1, -0.5, 0.5, 1], [-1, -0.5, 0, 0.5, 1])):
        a, b = draw.choice(gates, T), draw.integers(-9, 10, T).astype(float)
        states, x = [], 0.0
        for a_t, b_t in zip(a.tolist(), b.tolist()):
            x = a_t * x + b_t
            states.append(x)
        given = numbers(call(answer, a, b), (T,), f"the states for T = {T}")
        claim(np.allclose(given, states), f"a = {shown(a.tolist())}, b = {shown(b.tolist())}: your states are "
                                          f"{shown(given.tolist())}, the loop's {shown(states)}")  # fmt: skip


def _tree_case(answer) -> None:
    b, B, T = numbers(answer, (3,), "(b, B, T)", real=True).tolist()
    asked = f"block B={B:g} T={T:.0f} h=8 b={b:g}"
    measured = records.read(records.recorded_folder(), "bench/scans")
    cases = {one["case"]: one["metrics"]["peers"] for one in measured if one["device"] == "cpu" and one["threads"] == 1}
    claim(asked in cases, f"the table has no case of blocks with b = {b:g}, B = {B:g} and T = {T:g}")
    loop, tree = (cases[asked].get(f"JAX {scan}", {}).get("both") for scan in ("lax.scan", "associative_scan"))
    claim(loop and tree and 2 * tree["median"] < loop["median"],
          "in that case the tree takes more than half of the loop's time, or one of them was not run")  # fmt: skip


EXERCISES = (
    ("03.1", _brackets), ("03.2", _pair),
    ("03.3", one_number(8 * 4 - 15, "it is not {}: every word of more than one letter is a product",  # four levels, less the letters
                        "it is not {}: letters that are given cost no product", "products")),
    ("03.4", _bound), ("03.5", _mended),
    ("03.6", one_number(LEAST_PROCESSORS, "at P = {} the loop is not slower yet", "{} is enough, but it is not the least",
                        "processors")),
    ("03.8", _tree_case),
    prediction("03.9", ("no NaN", "NaN at fewer steps", "NaN at as many steps", "NaN at more steps"), "NaN at more steps"),
)  # fmt: skip
