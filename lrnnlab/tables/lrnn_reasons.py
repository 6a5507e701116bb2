"""Table 2 of paper 000: why a number is low, and how each row's training differs from the paper's.

A run *knows* a length if at least ``KNOWN`` of its answers there are right.  A cell holds, or its number past training
is low for one of three reasons:

not learned
    Most runs do not know the training length, so that nothing can be said of longer strings.  The best that the sweep
    ``lrnn/baseline_rates`` found for the row, with other depths, readouts and rates, stands beside.
lost with length
    Most runs know the training length, and not what comes after it.
not expressible
    No weights are right on all strings with finitely many states, by the theorem of chapter 01 that is named.  States
    that grow with the string may still be right up to a length, so this is added to one of the other two.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import pandas as pd

from lrnnlab import records, tasks
from lrnnlab.algebra.one_layer import possible_in_one_diagonal_layer
from lrnnlab.tables import lrnn_baseline_rates, lrnn_baselines
from lrnnlab.tables.text import accuracies, by_cell, percent, range_in_percent

KNOWN = 0.99
DIFFERS = "differs from the paper's"
CONSTANT = ("vanilla", "s4", "s4d", "s4d_inv", "s4d_legs", "rwkv")  # one A for all letters
REAL = {"diagonal_positive": 1, "diagonal_signed": 2}  # the orders that the turns of real gates have
STOPS = {
    "long": "ends when right on strings of the test length",
    "watched": "of the test length it sees nothing but looks that name the best checkpoint",
    "proved": "accepted by a search over all strings of the training length",
}  # fmt: skip


def differs(setting: dict) -> str:
    """How a recorded setting differs from the paper's training of its own model, in a few words.

    The paper's, as released: Adam at a constant rate, 40,000 steps of 128 strings of the training length,
    cross-entropy, the last weights, a readout of two layers, an input term, one start.  Not said is what all rows here
    share, AdamW, a clipped gradient and a warm-up, and that most rates fall.

    >>> from lrnnlab.tables import get
    >>> differs(get("lrnn/table2").setting("clip", "sum", "desk").plain())  # doctest: +NORMALIZE_WHITESPACE
    '600 steps of 64; squared loss; averaged weights; linear readout; up to 6 starts; ends when right on strings of the
    test length'
    """
    options, recipe = setting["options"], setting["recipe"]
    phases = recipe["phases"]
    lengths = [phase["length"] for phase in phases if phase.get("length")]
    said = {
        f"{'up to ' * any(phase['until'] for phase in phases)}{sum(phase['steps'] for phase in phases):,} steps of "
        f"{recipe['batch']}": True,
        f"lengths grow ({', '.join(map(str, lengths))}, then all)": lengths,
        "squared loss": any(phase["loss"] == "squared" for phase in phases),
        "averaged weights": recipe["average"],
        "weight decay": any(phase["weight_decay"] >= 0.1 for phase in phases),
        "noise on the states": any(phase["noise"] for phase in phases),
        "pruned and mended": recipe.get("mend"),
        "linear readout": options.get("head") == "linear",
        "no input term, x_0 fixed": options.get("drive") == "none",
        "input term B u": options.get("drive") == "linear",
        "orthogonal start": options.get("start") == "orthogonal",
        f"up to {recipe['attempts']} starts": recipe["attempts"] > 1,
        STOPS.get(setting["stop"], ""): setting["stop"] in STOPS,
    }
    return "; ".join(text for text, holds in said.items() if holds)


@cache
def forbidden(row: str, task: str, modulus: int, layers: int) -> str:
    """The theorem of chapter 01 by which ``row`` with so many layers and finitely many states cannot do it, or "".

    >>> forbidden("s4", "sum", 5, layers=1), forbidden("s4", "sum", 5, layers=3)
    ('Theorem C', '')
    >>> forbidden("diagonal_unit", "evenpair", 5, layers=1), forbidden("diagonal_unit", "sum", 5, layers=1)
    ('Theorem D', '')
    """
    if row in CONSTANT and layers == 1:
        return "Theorem C"
    if not row.startswith("diagonal"):
        return ""
    verdict = possible_in_one_diagonal_layer(tasks.task(task, modulus).specification)
    if layers == 1 and not verdict.possible:
        return "Theorem D"
    if verdict.order > REAL.get(row, verdict.order):
        return f"Theorem D′: real gates have no turn of order {verdict.order}"
    return ""


def evidence(row: str, task: str, swept: Sequence[dict]) -> str:
    """What the sweep found best for a row at the training length, and of how many that were tried."""
    names = {row, lrnn_baselines.SAME.get(row, row)}
    found = [r for r in swept if r["task"] == task and r["config"]["setting"]["baseline"] in names]
    if not found:
        return "; with this setting, the only one that was tried"
    best = max(found, key=lambda r: (r["metrics"]["finished"], r["metrics"]["accuracy"]))  # what broke off is out
    of = best["config"]["setting"]["baseline"]
    whose = "" if of == row else f"of {of.upper()}, whose setting it has, the "
    layers, head, lr = lrnn_baseline_rates.tried(best)
    settings = {(lrnn_baseline_rates.tried(r), r["config"]["setting"]["phase"]["steps"]) for r in found}
    return (f"; {whose}best of {len(settings)} settings tried: {percent(best['metrics']['accuracy'])} after "
            f"{best['config']['setting']['phase']['steps']:,} steps "
            f"({layers} layer{'s' * (layers > 1)}, {head}, {lr:g})")  # fmt: skip


def why(cell: Sequence[dict], swept: Sequence[dict]) -> str:
    """Whether a cell holds, or which of the three reasons its number is low for.

    >>> run = {"task": "sum", "row": "s4", "config": {"modulus": 5, "setting": {"options": {"layers": 1}}}}
    >>> why([{**run, "metrics": {"accuracy_seen": 1.0, "accuracy_all": 0.2}}], [])
    'lost with length (0 of 1 hold); with finitely many states not expressible: Theorem C'
    """
    knows, holds = (sum(r["metrics"][name] >= KNOWN for r in cell) for name in ("accuracy_seen", "accuracy_all"))
    row, task, config = cell[0]["row"], cell[0]["task"], cell[0]["config"]
    if holds == len(cell):
        return "holds"
    if 2 * knows > len(cell):
        said = f"lost with length ({holds} of {len(cell)} hold)"
    else:
        said = f"not learned ({knows} of {len(cell)} know the training length{evidence(row, task, swept)})"
    theorem = forbidden(row, task, config["modulus"], config["setting"]["options"].get("layers", 1))
    return said + (f"; with finitely many states not expressible: {theorem}" if theorem else "")


def reasons(found: Sequence[dict]) -> pd.DataFrame:
    """A row for each cell: layers, accuracy at the training length and past it, why low, how its training differs."""
    swept = records.recorded("lrnn/baseline_rates")
    return pd.DataFrame([
        {"task": task, "row": row, "layers": cell[0]["config"]["setting"]["options"].get("layers", 1), "seeds": len(cell),
         "training length": range_in_percent([r["metrics"]["accuracy_seen"] for r in cell]),
         "all past training": range_in_percent([r["metrics"]["accuracy_all"] for r in cell]),
         "why": why(cell, swept), DIFFERS: differs(cell[0]["config"]["setting"])
         + "; a check that is all right ends it, as in the paper" * (cell[0]["protocol"] == "paper")}
        for (task, row), cell in by_cell(found).items()
    ])  # fmt: skip


def text(found: Sequence[dict]) -> str:
    """Every measure of the trained models, then for each cell why it is low and how its training differs."""
    lines = [
        f"{r['task']} {r['row']}, {r['layers']} layer{'s' * (r['layers'] > 1)}: {r['training length']} at the training "
        f"length, {r['all past training']} past it\n    {r['why']}\n    training: {r[DIFFERS]}"
        for r in reasons(found).to_dict("records")
    ]
    return f"{accuracies(found)}\n\nWhy, and how the training {DIFFERS}\n" + "\n".join(lines)
