"""Paper 002: the recursion does not correct errors.  How they grow, layer by layer, and a layer that removes them.

``compose`` is monotone in every input, so the extremes over all errors of size at most e are the runs with +e
everywhere and with -e everywhere.  For permutations they do not depend on the word: with P, R permutation matrices
f(PA, BR) = P f(A, B) R and f(AP, B) = f(A, PB).  So one number d on the matrix's ones and one, o, off them say all:

    d' = ReLU(2d - 1) + (n - 1) ReLU(2o - 1),    o' = 2 ReLU(d + o - 1) + (n - 2) ReLU(2o - 1).

From d = 1 + e, o = e follows d = 1 + 2^l e, o = (l + 1) 2^l e after l layers, while o <= 1/2 before each; then both
grow by a factor that tends to 2n.  From d = 1 - e, o = -e the ones are 1 - 2^l e, until everything is 0.

The cure: ReLU(2s - 1/2) - ReLU(2s - 3/2) in place of ReLU(s).  It is 0 up to s = 1/4 and 1 from s = 3/4, and two bits
with errors of at most 1/8 have s = a + b - 1 <= 1/4 or >= 3/4: the output is exact.

Letters: T time, n states, l layers done, e size of the errors, g slope of the cure (2 above).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from lrnnlab.automata import MooreMachine
from lrnnlab.algebra.chunk_composition import compose, hidden_sums
from lrnnlab.algebra.clusters import cycle_navigation
from lrnnlab.algebra.evidence import Evidence, Step
from lrnnlab.automata.languages import language
from lrnnlab.algebra.recursion import action_matrices, matrices, recursion, row_transitions, states_read, words


def rebinarised(A: np.ndarray, B: np.ndarray, g: float = 2) -> np.ndarray:
    """``compose`` with 2 n^3 hidden units, sum_k ReLU(g s - (g-1)/2) - ReLU(g s - (g+1)/2), s = A_ik + B_kj - 1.

    Exact for bits with errors of at most ``reach(g)``.  Shapes as for ``compose``.

    >>> identity = np.eye(2)
    >>> rebinarised(identity + 1 / 8, identity - 1 / 8).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    s = hidden_sums(A, B)
    return (np.maximum(g * s - (g - 1) / 2, 0) - np.maximum(g * s - (g + 1) / 2, 0)).sum(axis=-1)


def reach(g: int) -> Fraction:
    """The largest error of the inputs that ``rebinarised`` removes wholly: 1/4 - 1/(4 g), so 1/8 for g = 2.

    ValueError for g < 1.

    >>> [str(reach(g)) for g in (1, 2, 4, 100)]
    ['0', '1/8', '3/16', '99/400']
    """
    if g < 1:
        raise ValueError(f"the slope must be at least 1, got g={g}")
    return Fraction(1, 4) - Fraction(1, 4 * g)


def worst_errors(n: int, e: float, depth: int, layer: Callable = compose) -> list[dict]:
    """The extreme matrices of a permutation after 0..depth layers, whatever the word: on its ones and off them.

    Each row: ``error``, the largest distance from 0/1, and (least, largest) numbers on the ones and off them.  Exact
    while the numbers fit float64, that is for e a small whole number over a power of 2.

    >>> [row["error"] for row in worst_errors(5, 1 / 32, 4)]
    [0.03125, 0.125, 0.375, 1.0, 5.5]
    """
    low, high = np.eye(n) - e, np.eye(n) + e
    found = []
    for _ in range(depth + 1):
        error = max(np.abs(end - np.eye(n)).max() for end in (low, high))
        found.append({"error": float(error), "ones": (float(low[0, 0]), float(high[0, 0])),
                      "zeros": (float(low[0, 1]), float(high[0, 1]))})  # fmt: skip
        low, high = layer(low, low), layer(high, high)
    return found


@dataclass(frozen=True)
class Simulation:
    """A noisy run.  layers, exact (L + 1, ..., T, n, n); errors (L + 1,) the largest; right (..., T) bool."""

    layers: np.ndarray
    exact: np.ndarray
    errors: np.ndarray
    right: np.ndarray


def simulate(
    machine: MooreMachine,
    tokens: np.ndarray,
    noise: float,
    draw: np.random.Generator,
    layer: Callable = compose,
    everywhere: bool = False,
) -> Simulation:
    """The recursion on the matrices of ``tokens`` (..., T) with uniform errors of size up to ``noise``.

    layer : ``compose`` or ``rebinarised``.   everywhere : new errors on the output of every layer too, else on the
    leaves only.   right : is the largest number of row q_0 at the true state?  ValueError for a negative noise.

    >>> string, draw = np.arange(64) % 3, np.random.default_rng(0)
    >>> plain, cured = (simulate(cycle_navigation(), string, 0.04, draw, f) for f in (compose, rebinarised))
    >>> bool(plain.errors[-1] > 0.5), cured.errors[1:].tolist(), bool(cured.right.all())
    (True, [0.0, 0.0, 0.0, 0.0, 0.0, 0.0], True)
    """
    if not noise >= 0:
        raise ValueError(f"the size of the errors cannot be negative, got noise={noise}")
    states, leaves = machine.run(tokens), row_transitions(machine)[tokens]

    def shaken(values):
        return values + draw.uniform(-noise, noise, values.shape)

    noisy = recursion(shaken(leaves), (lambda a, b: shaken(layer(a, b))) if everywhere else layer)
    exact = recursion(leaves)
    errors = np.abs(noisy - exact).reshape(len(exact), -1).max(axis=1)
    return Simulation(noisy, exact, errors, states_read(noisy[-1], machine) == states)


def noise_growth(
    n: int = 5, e: float = 1 / 32, depth: int = 9, layer: Callable = compose,
    claimed: Callable = lambda done: (done + 1) * 2**done, seed: int = 0,
) -> Evidence:  # fmt: skip
    """How the errors of Lemma 1's network grow: by (l + 1) 2^l at first, then by a factor of 2n a layer.

    n : states of a counter.   e : size of the errors, a power of 2 to be exact.   layer : another, claimed(l) : another
    growth at first than (l + 1) 2^l, to see it fail.  Source: against paper 002, Sec. 7.2, which iterates Lemma 1.

    >>> noise_growth().holds, [step.holds for step in noise_growth(layer=rebinarised).steps]
    (True, [True, True, False, False, False, True])
    """
    draw, machine = np.random.default_rng(seed), cycle_navigation(n)
    tokens = draw.integers(3, size=2**depth)
    leaves = row_transitions(machine)[tokens]
    low, high = (recursion(leaves + shift, layer) for shift in (-e, e))
    found = simulate(machine, tokens, e, draw, layer)
    outside = int(((found.layers < low) | (found.layers > high)).sum())
    worst = worst_errors(n, e, depth, layer)
    depends = _depends_on_the_word(e, layer)
    early = [place for place in range(1, depth + 1) if worst[place - 1]["zeros"][1] <= 1 / 2]
    unlike = [place for place in early if worst[place]["error"] != claimed(place) * e]
    errors = [row["error"] for row in worst]
    before, last = errors[-2:]
    growth, sampled = ([f"{error:.3g}" for error in run] for run in (errors, found.errors))
    gone = next((place for place, row in enumerate(worst) if row["ones"][0] == 0), None)
    due = next(place for place in range(depth + 2) if 2**place * e >= 1)
    steps = (
        Step("monotone: every noisy run lies between the runs with -e and with +e everywhere", not outside,
             f"{found.layers.size} numbers, {outside} outside"),
        Step("for permutations these two do not depend on the word", not depends,
             f"all words of length 4 over S_3, {depends} numbers differ"),
        Step("at first the largest error is (l + 1) 2^l e, for any n", bool(early) and not unlike,
             f"e = {e:g}, l = {early}: {[worst[place]['error'] for place in early]}; not at l = {unlike}"),
        Step("then it grows by a factor that tends to 2n", before > 1 / 2 and abs(last - 2 * n * before) < last / 20,
             f"n = {n}: {', '.join(growth)}"),
        Step("with -e everywhere the ones are 1 - 2^l e, then nothing is left of the state", gone == due,
             f"least number on the ones: {[row['ones'][0] for row in worst]}"),
        Step("random errors grow too, more slowly", bool(found.errors[-1] <= last),
             f"T = {2**depth}: {', '.join(sampled)}; {found.right.mean():.1%} of the prefixes still right"),
    )  # fmt: skip
    data = {"worst": worst, "sampled": found.errors, "right": float(found.right.mean())}
    return Evidence("Growth of errors", "Lemma 1's network multiplies errors: (l + 1) 2^l, then 2n a layer.", "sampled",
                    steps, data)  # fmt: skip


def _depends_on_the_word(e, layer):
    """Of all words of length 4 over S_3, run with -e and with +e: numbers that ``worst_errors`` does not foretell."""
    machine, ends = language("S_3").machine, worst_errors(6, e, 2, layer)[-1]
    strings = words(machine, 4)
    ones, wrong = action_matrices(machine, strings)[:, -1] == 1, 0
    for side, shift in enumerate((-e, e)):
        found = recursion(row_transitions(machine)[strings] + shift, layer)[-1][:, -1]
        wrong += int((found != np.where(ones, ends["ones"][side], ends["zeros"][side])).sum())
    return wrong


def one_eighth(g: int = 2, e: Fraction | None = None, depth: int = 9, layer: Callable = rebinarised) -> Evidence:
    """The cured layer is exact for inputs within 1/4 - 1/(4g) of bits (1/8 for g = 2), and for no larger error.

    g : slope, a power of 2 so that float64 is exact.   e : errors put in, ``reach(g)`` by default.   layer(A, B, g) :
    another, to see it fail.  Source: this book, after paper 002, Lemma 1.

    Proof: s = a + b - 1 is at least 1 - 2e for two ones and at most 2e otherwise; the layer is monotone, so the ends
    -e and +e decide.  Nothing that sees a + b only can do better than 1/4: then the two cases meet at s = 1/2.

    >>> one_eighth().holds, one_eighth(4).holds
    (True, True)
    >>> [step.holds for step in one_eighth(e=Fraction(9, 64)).steps]
    [True, False, False, True, False, True]
    """
    limit = reach(g)
    e = limit if e is None else e

    def cured(A, B):
        return layer(A, B, g)

    size, past = float(e), float(limit) + 1 / 64
    grid = np.arange(-64, 128) / 64  # s
    ramp = cured(grid[:, None, None] / 2 + 1 / 2, grid[:, None, None] / 2 + 1 / 2)[:, 0, 0]
    kinks = [float(Fraction(1, 2) + sign * Fraction(1, 2 * g)) for sign in (-1, 1)]
    clipped = np.clip((grid - kinks[0]) / (kinks[1] - kinks[0]), 0, 1)
    wrong = {n: _wrong_corners(matrices(n, 1, 1), size, cured) for n in (2, 3)}
    just_past = {n: _wrong_corners(matrices(n, 1, 1), past, cured) for n in (2, 3)}
    machine, draw = cycle_navigation(), np.random.default_rng(0)
    tokens = draw.integers(3, size=2**depth)
    leaves = row_transitions(machine)[tokens]
    exact = recursion(leaves)[1:]
    shifted = []
    for shift in (-size, size):
        outputs = recursion(leaves + shift, lambda a, b, shift=shift: cured(a, b) + shift)[1:]
        shifted.append(int((outputs != exact + shift).sum()))
    meet = [(1 - Fraction(1, 4)) * 2 - 1, (1 + Fraction(1, 4)) + Fraction(1, 4) - 1]
    steps = (
        Step(f"the two ReLUs make a ramp: 0 up to s = {kinks[0]:g}, 1 from s = {kinks[1]:g}",
             np.array_equal(ramp, clipped), f"g = {g}, {len(grid)} places from -1 to 2"),
        Step("bits within e: s is at least 1 - 2e for two ones and at most 2e otherwise, both off the ramp",
             1 - 2 * e >= kinks[1] and 2 * e <= kinks[0], f"e = {e}: {1 - 2 * e} and {2 * e}"),
        Step("monotone, so -e and +e everywhere decide: exact for every pair of maps", not any(wrong.values()),
             f"n = 2, 3, wrong pairs: {wrong}"),
        Step("1/64 more is too much for some", all(just_past.values()), f"wrong pairs: {just_past}"),
        Step("errors of size e put on the output of every layer are gone in the next: no depth adds to them",
             not any(shifted), f"{depth} layers, T = {2**depth}, counter of 5 states: {sum(shifted)} wrong numbers"),
        Step("no function of a + b reaches 1/4: two ones with -1/4, and a one and a zero with +1/4, look the same",
             meet[0] == meet[1] and e < Fraction(1, 4), f"s = {meet[0]} and {meet[1]}"),
    )  # fmt: skip
    claim = "ReLU(g s - (g-1)/2) - ReLU(g s - (g+1)/2) is exact for bits within 1/4 - 1/(4g), and not beyond."
    return Evidence("One eighth", claim, "exhaustive", steps, {"reach": limit})


def _wrong_corners(maps, e, layer):
    """Pairs of maps (S, n, n) whose product comes out wrong with -e or with +e on all entries."""
    products = compose(maps[:, None], maps)
    bad = [(layer(maps[:, None] + shift, maps + shift) != products).any((-1, -2)) for shift in (-e, e)]
    return int((bad[0] | bad[1]).sum())
