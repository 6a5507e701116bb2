"""The judges of chapter 03's exercises; hints and solutions are in ch03.md."""

from itertools import product

import numpy as np
import torch

from lrnnbook.content.exercises import contracts
from lrnnbook.content.exercises.building import Build
from lrnnbook.content.exercises.judging import CannotJudge, call, claim, number, numbers, one_number, shown
from lrnnbook.content.exercises.prediction import prediction
from lrnnbook.content.tables import records

# PScan on T = 500 inputs and x_0: L = 512 positions, 9 levels; L/2 words a level, less the letters that are given, are
# products of blocks (b^3 multiplications), and all are applied to a state (b^2), for 8 blocks of size 8.  It does more work
# than the loop, so it wins only where the loop is held up by its depth of 500 steps.
LEAST_PROCESSORS = tuple(strings * 8 * (8**3 * (256 * 9 - 511) + 8**2 * 256 * 9) // 500 + 1 for strings in (1, 128))


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


def _processors(answer) -> None:
    for given, least, of in zip(numbers(answer, (2,), "the two numbers", real=True).tolist(), LEAST_PROCESSORS, ("one string", "128 strings")):
        claim(given >= least, f"{of}: at P = {given:,.0f} the loop is not slower yet")
        claim(given == least, f"{of}: {given:,.0f} is enough, but it is not the least")


# --- what is built ----------------------------------------------------------------------------------------------------


def doubling_scan(a, b, x0):  # (B, T, D), (B, T, D), (B, D) -> the states x_t = a_t x_(t-1) + b_t, (B, T, D)
    b, shift = torch.cat([a[:, :1] * x0[:, None] + b[:, :1], b[:, 1:]], 1), 1
    while shift < b.shape[1]:
        b = torch.cat([b[:, :shift], a[:, shift:] * b[:, :-shift] + b[:, shift:]], 1)
        a = torch.cat([a[:, :shift], a[:, shift:] * a[:, :-shift]], 1)
        shift *= 2
    return b


def _doubling_scan(answer) -> None:
    draw = np.random.default_rng(7)
    for T, (B, D), complex_ in product((1, 2, 3, 5, 8, 13, 40), ((1, 1), (2, 3)), (False, True)):
        shapes, kind = ((B, T, D), (B, T, D), (B, D)), torch.complex128 if complex_ else torch.float64
        drawn = [sum(draw.choice([-0.9, -0.5, 0.3, 0.8, 1.2], shape) * (1, 1j)[n] for n in range(1 + complex_)) for shape in shapes]
        a, b, x0 = (torch.from_numpy(one).to(kind).requires_grad_() for one in drawn)
        x, states = x0, []
        for t in range(T):
            x = a[:, t] * x + b[:, t]
            states.append(x)
        wanted, given = torch.stack(states, 1), [one.detach().clone().requires_grad_() for one in (a, b, x0)]
        made = contracts.run(answer, *given)
        if not isinstance(made, torch.Tensor):
            raise CannotJudge(f"a tensor of states is asked for, got {shown(made)}")
        of = f"T = {T}" + (f", a = {a.flatten().tolist()}, b = {b.flatten().tolist()}, x0 = {x0.flatten().tolist()}"
                           if B == D == 1 and T < 4 and not complex_ else ", complex numbers" * complex_)  # fmt: skip
        claim(made.shape == wanted.shape, f"{of}: the states have the shape {tuple(made.shape)}, and should have {tuple(wanted.shape)}")
        off = (made - wanted).abs().amax((0, 2)) > 1e-8 * (1 + wanted.abs().amax((0, 2)))
        if off.any():
            t = int(off.nonzero()[0])
            mine, true = (shown(one[0, t].detach().numpy().round(4).tolist()) for one in (made, wanted))
            claim(False, f"{of}: state {t + 1} is {mine}, and should be {true}")
        claim(all(torch.equal(one, was) for one, was in zip(given, (a, b, x0))), f"{of}: what you were given has been changed")
        claim(made.requires_grad, f"{of}: no gradient flows to the inputs: {contracts.STAY}")
        weights = torch.from_numpy(draw.normal(size=wanted.shape)).to(kind)
        slopes, right = (torch.autograd.grad((x * weights).sum().abs(), each, allow_unused=True) for x, each in ((made, given), (wanted, (a, b, x0))))
        for name, slope, due in zip(("a", "b", "x0"), slopes, right):
            claim(slope is not None and torch.allclose(slope, due), f"{of}: the gradient of {name} is wrong (is something detached on the way?)")
    count = contracts.torch_calls(answer, torch.ones(1, 512, 1), torch.ones(1, 512, 1), torch.ones(1, 1))
    claim(count < 400, f"T = 512: you call torch {count:,} times, one step after the other; nine rounds are enough")


BUILDS = {
    "doubling_scan": Build("03.3", _doubling_scan, doubling_scan, "for T = 512 you need nine rounds, and sixteen times as many "
                           "multiplications as the loop. Now race it."),
}  # fmt: skip

EXERCISES = (
    ("03.1", _brackets), ("03.2", _pair),
    ("03.4", one_number(8 * 4 - 15, "it is not {}: every word of more than one letter is a product",  # four levels, less the letters
                        "it is not {}: letters that are given cost no product", "products")),
    ("03.7", _bound), ("03.9", _mended),
    ("03.5", _processors),
    ("03.11", _tree_case),
    ("03.6", one_number(100, "with chunks of {}: how many steps wait for each other inside a chunk, over the chunks, inside again?")),
    prediction("03.8", ("no NaN", "NaN at fewer steps", "NaN at as many steps", "NaN at more steps"), "NaN at more steps"),
)  # fmt: skip
