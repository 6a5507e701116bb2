"""The baselines of Table 2 of paper 000 (Fan, Chi, Rudnicky 2024, Sec. 4.3): models, training, learning rates.

``MODELS`` has them, all 64 wide.  LSTM and tanh RNN are not linear and not in the paper's table.
The paper names S4, S4D, Liquid-S4, RWKV and vanilla, and neither their sizes nor how they were trained; its code has
none of them.  Everything here is our choice, and all rows share it, except depth, readout and learning rate, which each
row has for itself on Sum and EvenPair: those that are best *at the training length* in ``lrnn/baseline_rates``, in
shorter runs of another seed; three layers before one where no more than two points are between them, for they gain more
from the steps that the sweep does not have.  No longer string enters that choice.  The paper's own model has one layer
on these two and three on ModArith; most rows need three to know even the training length of EvenPair.  ModArith has three layers,
the paper's readout and a rate of 0.01 (``vanilla`` 0.003) for all linear rows: of those that the sweep tried, it found
nothing better by more than two points.

ModArith with a non-linear net has a recipe of its own, found on seeds 90 and 91: one layer, read out linearly, 64
strings a step.  ``elman`` has two kinds of help there that the paper does not give, an orthogonal start and lengths
that grow; ``lrnn_reasons`` says so in the table, as it says of every row how its training differs from the paper's.

A row that does not extrapolate here has failed with one recipe, one width and one budget.  What no width or budget
mends is proved in :mod:`lrnnlab.algebra`.

Letters: N state size.
"""

from __future__ import annotations

from typing import Any

from lrnnlab.tables.table import Setting
from lrnnlab.training import Phase, Recipe

MODELS: dict[str, tuple[str, dict]] = {  # row: name in the registry, and options
    "vanilla": ("vanilla", {}),  # Eq. 2, one constant matrix, orthogonal at the start
    **{f"diagonal_{kind}": ("diagonal", {"kind": kind}) for kind in ("positive", "signed", "complex", "unit")},  # Eq. 3
    "s4": ("s4", {}),
    "s4d": ("s4d", {"init": "lin"}), "s4d_inv": ("s4d", {"init": "inv"}), "s4d_legs": ("s4d", {"init": "legs"}),
    "liquid_s4": ("liquid_s4", {}),  # as Eq. 4 writes it
    "rwkv": ("rwkv", {}),  # RWKV-4
    "lstm": ("lstm", {}), "elman": ("elman", {}),
}  # fmt: skip
# N = 4, and channel mixing as wide as the model: with three layers, 8 and 4 times would take twice as long
_SMALLER = {"liquid_s4": {"state": 4}, "rwkv": {"expand": 1}}
# On Sum the readout of two layers keeps these from learning what they learn in 600 steps without it.
_LINEAR_HEADS = (("lstm", "sum"), ("elman", "sum"))
REFERENCES = ("lstm", "elman")
SAME = {"s4d_inv": "s4d", "s4d_legs": "s4d"}  # three starts of one model share the shape and the rate of the first

ROWS = tuple(MODELS)
LAYERS = {"sum": 1, "evenpair": 1, "modarith": 3}  # of the paper's own model
LIVE = 300
SHARED: dict[str, Any] = {"batch": 32, "betas": (0.9, 0.99), "clip": 1.0}

# Layers, readout, rate: on Sum and EvenPair what won the sweep (``tests/test_baseline_rows.py`` asks its records).
CHOSEN: dict[str, dict[str, tuple[int, str, float]]] = {
    "sum": {
        "vanilla": (3, "mlp", 3e-3), "diagonal_positive": (1, "mlp", 1e-2), "diagonal_signed": (3, "mlp", 1e-2),
        "diagonal_complex": (1, "mlp", 3e-2), "diagonal_unit": (1, "mlp", 3e-2), "s4": (3, "linear", 1e-2),
        "s4d": (3, "linear", 1e-2), "liquid_s4": (1, "mlp", 1e-2), "rwkv": (3, "mlp", 1e-2),
        "lstm": (1, "linear", 1e-2), "elman": (1, "linear", 1e-2),
    },
    "evenpair": {
        "vanilla": (3, "mlp", 3e-3), "diagonal_positive": (3, "mlp", 1e-2), "diagonal_signed": (3, "mlp", 1e-2),
        "diagonal_complex": (3, "linear", 1e-2), "diagonal_unit": (3, "linear", 1e-2), "s4": (3, "linear", 1e-2),
        "s4d": (3, "linear", 3e-2), "liquid_s4": (1, "mlp", 3e-2), "rwkv": (1, "mlp", 3e-2),
        "lstm": (1, "mlp", 3e-2), "elman": (1, "mlp", 1e-2),
    },
    "modarith": {
        "vanilla": (3, "mlp", 3e-3), "diagonal_positive": (3, "mlp", 1e-2), "diagonal_signed": (3, "mlp", 1e-2),
        "diagonal_complex": (3, "mlp", 1e-2), "diagonal_unit": (3, "mlp", 1e-2), "s4": (3, "mlp", 1e-2),
        "s4d": (3, "mlp", 1e-2), "liquid_s4": (3, "mlp", 1e-2), "rwkv": (3, "mlp", 1e-2),
        "lstm": (1, "linear", 3e-3), "elman": (1, "linear", 1e-3),
    },
}  # fmt: skip

_QUICK = {"evenpair": ("diagonal_positive", "diagonal_signed", "s4", "s4d")}


def architecture(row: str, layers: int, head: str, budget: str = "desk") -> tuple[str, dict]:
    """Name in the registry of models, and options, of ``row``.

    >>> architecture("s4d_inv", 3, "mlp")
    ('s4d', {'layers': 3, 'init': 'inv'})
    """
    name, options = MODELS[row]
    smaller = {} if budget == "paper" else _SMALLER.get(row, {})
    return name, {"layers": layers, **options, **smaller, **({} if head == "mlp" else {"head": head})}


def one_layer(row: str, task: str) -> tuple[str, dict]:
    """The model that the first part of ``lrnn/baseline_rates`` tries.

    >>> one_layer("lstm", "sum")
    ('lstm', {'layers': 1, 'head': 'linear'})
    """
    return architecture(row, 1, "linear" if (row, task) in _LINEAR_HEADS else "mlp")


def phase(lr: float, steps: int) -> dict:
    """The one phase, as plain data: a cosine from ``lr`` to a hundredth of it, after 100 steps of warm-up.

    >>> phase(0.01, 300)["warmup"]
    100
    """
    return {"steps": steps, "lr": lr, "final_lr": lr / 100, "warmup": 100, "weight_decay": 0.01}


def steps(row: str, task: str) -> int:
    """How many a row has at the desk: 5,000.

    With the three layers that the sweep chose on Sum and EvenPair 2,000, which take as long as 5,000 of one layer; and
    1,000 where the sweep's 500 taught the training length.

    >>> steps("rwkv", "evenpair"), steps("s4", "sum"), steps("s4d_inv", "evenpair")
    (5000, 2000, 1000)
    """
    row = SAME.get(row, row)
    if row in _QUICK.get(task, ()):
        return 1000
    return 2000 if CHOSEN[task][row][0] > LAYERS[task] else 5000


def setting(row: str, task: str, budget: str) -> Setting:
    """The setting of ``row`` at the budget *live* (300 steps: a look, not a result) or *desk* (:func:`steps`).

    The last weights count, whatever they are: no stop, no second start.  At the desk ten looks at strings of the test
    length say which checkpoint was best; it is reported beside the last.  ``lstm`` and ``elman`` have 600 live
    steps, and stop when two checks on long strings are perfect, because they can get there.

    >>> setting("rwkv", "evenpair", "desk").recipe.steps
    5000
    """
    layers, head, lr = CHOSEN[task][SAME.get(row, row)]
    name, options = architecture(row, layers, head)
    if budget == "desk" and task == "modarith" and row in REFERENCES:
        return _reference(row, name, options, lr)
    if budget == "live" and row in REFERENCES:
        longer = Phase(steps=600, lr=3e-3, final_lr=1e-4, warmup=100, weight_decay=0.01)
        return Setting(name, options, Recipe((longer,), **{**SHARED, "batch": 64}), stop="long", check_every=100)
    many = LIVE if budget == "live" else steps(row, task)
    recipe = Recipe((Phase(**phase(lr, many)),), **SHARED)
    if budget == "live":
        return Setting(name, options, recipe)
    return Setting(name, options, recipe, stop="watched", check_every=many // 10)


def _reference(row: str, name: str, options: dict, lr: float) -> Setting:
    """A non-linear net on ModArith: 64 strings a step.

    Elman's learns length 39 only if its recurrent matrix starts orthogonal and the lengths grow, each until it is
    known (without that, 6,000 steps at length 39 brought it to 41 %); the LSTM needs neither.
    """
    growing = (5, 9, 15, 25) if row == "elman" else ()
    known = tuple(Phase(steps=3000, lr=lr, warmup=0 if i else 100, weight_decay=0.01, until=0.1, length=length)
                  for i, length in enumerate(growing))  # fmt: skip
    last = Phase(steps=6000 if known else 5000, lr=lr, final_lr=lr / 100, warmup=0 if known else 100, weight_decay=0.01)
    options = {**options, "start": "orthogonal"} if known else options
    return Setting(name, options, Recipe((*known, last), **{**SHARED, "batch": 64}), stop="watched", check_every=1000)
