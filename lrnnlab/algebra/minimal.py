"""The smallest exact models: what a machine needs, what is known to be enough, and what is open.

Lower bounds on the largest real block b of one layer with finitely many states and any readout:

* Theorem E: b >= the pre-period, the most repetitions of a word before its powers start to cycle;
* b >= 2 unless real diagonal gates do it (``one_layer``, turns of order 1 or 2);
* b >= 3 if a group in the monoid has derived length above 2, or none: a finite group of affine maps of the plane fixes
  a point and is cyclic or dihedral, and so is what it does on each of many blocks.

Letters: Q states, b block size, n depth of D_n, A transition, d drive, x state, k and T steps.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lrnnlab.automata import Classification, MooreMachine, classify
from lrnnlab.algebra.cascades import pair_up
from lrnnlab.algebra.constructions import Construction, constructions
from lrnnlab.algebra.evidence import Evidence, Step
from lrnnlab.automata.languages import language, read
from lrnnlab.algebra.one_layer import Verdict, possible_in_one_diagonal_layer

TASKS = ("Parity", "(aa)*", "Sum(5)", "(abab)*", "EvenPair(2)", "EvenPair(5)", "a-b-c mod 5", "ModArith(5)", "D_2",
         "D_3", "D_4", "D_12", "Tomita 3", "Tomita 3, as written", "Tomita 4", "Tomita 5", "Tomita 6",
         "S_3", "A_5")  # fmt: skip


def theorem_e(depths: tuple[int, ...] = (2, 3, 4, 12), spare: int = 0, samples: int = 4000, seed: int = 0) -> Evidence:
    """A finite orbit of x <- A x + d in R^b has pre-period at most b, so D_n needs b >= n + 1, and attains it.

    Proof (Fitting).  On (x, 1) the map is linear, H of size b + 1.  H splits into a nilpotent part and an invertible
    one, and the second is at least one-dimensional, since the 1 stays: the nilpotent part dies within b steps, and what
    is left of a finite orbit cycles from the start.
    ``spare`` claims pre-period <= b - spare, wrong from 1 on; ``samples`` random integer maps for each of b = 1, 2, 3.

    >>> theorem_e().holds, theorem_e(spare=1).holds
    (True, False)
    """
    draw = np.random.default_rng(seed)
    worst = {b: int(random_pre_periods(b, samples, draw).max()) for b in (1, 2, 3)}
    ranks = all(_rank_settles(b, draw) for b in (1, 2, 3, 4, 5) for _ in range(20))
    shifts = {b: _pre_period(np.eye(b, k=-1, dtype=np.int64), np.eye(b, dtype=np.int64)[0]) for b in range(1, 14)}
    needs = {n: classify(language(f"D_{n}").machine).pre_period for n in depths}
    built = {n: constructions(f"D_{n}")[0] for n in depths}
    steps = (
        Step("rank H^b = rank H^(b+1) for random integer maps: the nilpotent part is gone after b steps", ranks,
             "100 maps, b = 1..5"),
        Step(f"finite orbits of random maps: pre-period at most b{f' - {spare}' if spare else ''}, some just that",
             all(found == b - spare for b, found in worst.items()), f"largest found {worst}"),
        Step("the shift of b unit vectors into 0 attains it", all(found == b for b, found in shifts.items()),
             f"b = 1..13: {list(shifts.values())}"),
        Step("D_n has pre-period n + 1: a^(n+1) falls out of every state, a^n does not",
             all(found == n + 1 for n, found in needs.items()), f"{needs}"),
        Step("so b >= n + 1, and depth d as e_d with the zero vector as sink is exact in b = n + 1",
             all(needs[n] == found.model.size and found.clash() is None for n, found in built.items()),
             f"{ {n: found.model.size for n, found in built.items()} }"),
    )  # fmt: skip
    return Evidence("Theorem E", "A finite orbit of x <- A x + d in R^b has pre-period at most b; D_n needs b = n + 1.",
                    "sampled", steps, {"random": worst, "needed": needs})  # fmt: skip


def random_pre_periods(b: int, samples: int, draw: np.random.Generator) -> np.ndarray:
    """Pre-periods of the finite orbits among random maps with entries -1, 0, 1, for b = 1, 2, 3, in whole numbers.

    For these b the periods of integer maps divide 12.  ValueError for another b.

    >>> int(random_pre_periods(2, 500, np.random.default_rng(0)).max())
    2
    """
    if b not in (1, 2, 3):
        raise ValueError(f"the periods are known to divide 12 for b = 1, 2, 3, got b = {b}")
    A, d = draw.integers(-1, 2, (samples, b, b)), draw.integers(-1, 2, (samples, b))
    orbit = [draw.integers(-1, 2, (samples, b))]
    for _ in range(24):
        orbit.append((A @ orbit[-1][..., None])[..., 0] + d)
    back = (np.array(orbit[12:]) == np.array(orbit[:-12])).all(axis=2)  # (13, samples): x_{k+12} = x_k
    return np.argmax(back, axis=0)[back[-1]]


def _rank_settles(b, draw):
    """Homogeneous H of a random integer map with many zeros; ranks over a prime field would be too small."""
    H = np.zeros((b + 1, b + 1), dtype=np.int64)
    H[:b], H[b, b] = draw.integers(-1, 2, (b, b + 1)) * draw.integers(0, 2, (b, b + 1)), 1
    power = np.linalg.matrix_power(H, b)
    return np.linalg.matrix_rank(power) == np.linalg.matrix_rank(power @ H)


def _pre_period(A, x):
    met = []
    while x.tolist() not in met:
        met.append(x.tolist())
        x = A @ x
    return met.index(x.tolist())


def lower_bound(found: Classification, verdict: Verdict) -> int:
    """The least real b of one layer that the three bounds above leave.

    >>> machine = language("Tomita 3").machine
    >>> lower_bound(classify(machine), possible_in_one_diagonal_layer(machine))
    3
    """
    real_gates = verdict.possible and verdict.order <= 2
    flat = found.solvable and found.derived_length <= 2
    return max(found.pre_period, 1 if real_gates else 2 if flat else 3)


def smallest_models(tasks: tuple[str, ...] = TASKS) -> list[dict]:
    """The table of exact models, one row a language; |Q|, monoid, class, bounds computed, each model run on all words.

    ``b found`` is the smallest block of one layer that is exact on all strings; ``within Eq. 6`` the smallest whose
    columns have 1.2-norm at most 1 (the paper's p); "tight" if found = needed.

    >>> row = smallest_models(("Tomita 3",))[0]
    >>> row["b needed"], row["b found"], row["within Eq. 6"], row["tight"]
    (3, 3, 4, 'yes')
    """
    return [_row(name) for name in tasks]


def _row(name):
    machine = language(name).machine
    found, verdict = classify(machine), possible_in_one_diagonal_layer(machine)
    known = [item.row() for item in constructions(name)]
    one = [row for row in known if row["layers"] == 1 and row["on"] == "all strings" and row["exact"] == "yes"]
    best, needed = min(one, key=lambda row: row["b"]), lower_bound(found, verdict)
    rest = [row for row in known if row not in one]
    kind = "aperiodic" if found.aperiodic else "group" if found.group else "mixed"
    return {
        "task": name, "|Q|": found.num_states, "|monoid|": found.monoid_size, "class": kind,
        "pre-period": found.pre_period,
        "derived length": "never ends" if found.derived_length is None else found.derived_length,
        "one diagonal layer": f"yes, order {verdict.order}" if verdict.possible else "no",
        "b needed": needed, "b found": best["b"], "tight": "yes" if needed == best["b"] else "open",
        "construction": best["construction"],
        "within Eq. 6": min((row["b"] for row in one if row["Eq. 6"] == "yes"), default=None),
        "also": "; ".join(f"{row['construction']}: {row['layers']} layer{'s' * (row['layers'] > 1)}, b = {row['b']}"
                          f"{', expressions' * (row['on'] == 'expressions')}" for row in rest),
    }  # fmt: skip


@dataclass(frozen=True)
class Fit:
    """``known``: True (an exact construction fits), False (none can), None (open here); ``why`` in words."""

    known: bool | None
    why: str
    construction: Construction | None = None


def fits(task: str, b: int, layers: int) -> Fit:
    """Is there an exact model with blocks of at most b real numbers in at most so many layers (any number of blocks)?

    ValueError if b or layers is below 1.

    >>> fits("D_12", 8, 1).known, fits("ModArith(5)", 8, 2).why, fits("D_12", 8, 3).known
    (False, 'term, then value: 2 layers, b = 5', None)
    """
    if b < 1 or layers < 1:
        raise ValueError(f"b and layers must be at least 1, got b = {b}, layers = {layers}")
    fitting = [item for item in constructions(task) if item.model.size <= b and item.model.depth <= layers]
    if fitting:  # prefer what obeys Eq. 6, then few layers
        best = min(fitting, key=lambda item: (item.model.column_norm(1.2) > 1 + 1e-9, item.model.depth))
        scope = "" if best.scope == "all strings" else f", {best.scope}"
        return Fit(True, f"{best.model.name}: {best.model.depth} layer{'s' * (best.model.depth > 1)}, "
                         f"b = {best.model.size}{scope}", best)  # fmt: skip
    why = _impossible(language(task).machine, b, layers)
    return Fit(False, why) if why else Fit(None, "open: no construction is known here, and no bound forbids one")


def _impossible(machine: MooreMachine, b, layers):
    """A reason, or "" if no bound forbids it."""
    found, verdict = classify(machine), possible_in_one_diagonal_layer(machine)
    length, N = found.derived_length, verdict.order
    needed = lower_bound(found, verdict)
    if layers == 1 and b < needed:
        return f"one layer needs b >= {needed}"
    if b == 1 and N & (N - 1):
        return f"real gates turn by 180 degrees only: no cycle of length {N}"
    if b <= 2 and (length is None or length > b * layers):
        return f"blocks of size {b} in {layers} layers have groups of derived length at most {b * layers}"
    return ""


def play(found: Construction, word: str) -> list[dict]:
    """What a picture of a run needs: for the start and each token the numbers of the state and the answer (-1: none).

    >>> [(row["token"], row["x"].real.tolist(), row["answer"]) for row in play(constructions("(abab)*")[0], "ab")]
    [('', [1.0, 0.0], 1), ('a', [0.0, 1.0], 0), ('b', [-1.0, 0.0], 0)]
    """
    answers = pair_up(found.model, found.machine)[0]
    states = [found.model.start, *found.model.run(read(found.machine, word))]
    return [{"token": token, "x": found.model.points(state), "answer": answers.get(state, -1)}
            for token, state in zip(["", *word], states)]  # fmt: skip
