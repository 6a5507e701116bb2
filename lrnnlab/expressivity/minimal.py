"""The smallest exact models: what a machine needs, what is known to be enough, and what is open.

Lower bounds on the largest real block b of one layer with finitely many states and any readout:

* Theorem E (chapter 01): b >= the pre-period, the most repetitions of a word before its powers start to cycle;
* b >= 2 unless real diagonal gates do it (``one_layer``, turns of order 1 or 2);
* b >= 3 if a group in the monoid has derived length above 2, or none: a finite group of affine maps of the plane fixes
  a point and is cyclic or dihedral, and so is what it does on each of many blocks.

Letters: Q states, b block size in real numbers.
"""

from __future__ import annotations

from dataclasses import dataclass

from sympy import primefactors

from lrnnlab.automata import Classification, MooreMachine, classify
from lrnnlab.automata.languages import language
from lrnnlab.expressivity.constructions import Construction, constructions
from lrnnlab.expressivity.one_layer import Verdict, possible_in_one_diagonal_layer

TASKS = ("Parity", "(aa)*", "Sum(5)", "(abab)*", "EvenPair(2)", "EvenPair(5)", "a-b-c mod 5", "ModArith(5)", "D_2",
         "D_3", "D_4", "D_12", "Tomita 3", "Tomita 3, as written", "Tomita 4", "Tomita 5", "Tomita 6",
         "S_3", "A_5")  # fmt: skip


def lower_bound(found: Classification, verdict: Verdict) -> int:
    """The least real b of one layer that the three bounds above leave."""
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
    if fitting:  # prefer what reads all strings, then what obeys Eq. 6, then few layers
        best = min(fitting, key=lambda item: (item.scope != "all strings", item.model.column_norm(1.2) > 1 + 1e-9,
                                              item.model.depth))  # fmt: skip
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
    if b == 1 and (odd := [p for p in primefactors(N) if p > 2]):
        return f"real gates turn by 180 degrees only: no cycle of length {min(odd)}"
    if b <= 2 and (length is None or length > b * layers):
        return f"blocks of size {b} in {layers} layers have groups of derived length at most {b * layers}"
    return ""
