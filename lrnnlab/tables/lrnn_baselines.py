"""The baselines of Table 2 of paper 000 (Fan, Chi, Rudnicky 2024, Sec. 4.3): models, training, learning rates.

=====================  ============================================================================================
row                    model, 64 wide
=====================  ============================================================================================
``vanilla``            Eq. 2, one constant matrix, orthogonal at the start
``diagonal_positive``  Eq. 3, input-dependent and diagonal; ``_signed``, ``_complex``, ``_unit``: see ``models.diagonal``
``s4``                 S4, N = 64
``s4d``                S4D-Lin, N = 64; ``s4d_inv`` and ``s4d_legs``: the other two starts
``liquid_s4``          Liquid-S4 as Eq. 4 writes it, N = 4; 8 at the budget *paper*
``rwkv``               RWKV-4, channel mixing as wide as the model; 4 times as wide at the budget *paper*
``lstm``, ``elman``    torch's LSTM and tanh RNN, 64 units: not linear, not in the paper's table
=====================  ============================================================================================

The paper names S4, S4D, Liquid-S4, RWKV and vanilla, and neither their sizes nor how they were trained; its code has
none of them.  Everything here is our choice, and all rows share it, except the learning rate, which each row has for
itself: it is the one of four (``lrnn/baseline_rates``) that is best after 1,000 steps *at the training length*.  No
rate was chosen on a longer string.  ModArith(5) takes over what a row has on Sum(5), but at most 0.01: its three
layers are dear to train.  The readout has two layers as in the paper, but one on Sum(5) for ``lstm`` and ``elman``: with
two they do not learn length 40 there in 1,000 steps at any of the rates, with one they do.

A row that does not extrapolate here has failed with one recipe, one width and one budget.  What no width or budget
mends is proved in :mod:`lrnnlab.algebra`.

Letters: N state size.
"""

from __future__ import annotations

from typing import Any

from lrnnlab.tables.table import Setting
from lrnnlab.training import Phase, Recipe

_MODELS = {
    "vanilla": ("vanilla", {}),
    "diagonal_positive": ("diagonal", {"kind": "positive"}),
    "diagonal_signed": ("diagonal", {"kind": "signed"}),
    "diagonal_complex": ("diagonal", {"kind": "complex"}),
    "diagonal_unit": ("diagonal", {"kind": "unit"}),
    "s4": ("s4", {}),
    "s4d": ("s4d", {"init": "lin"}),
    "s4d_inv": ("s4d", {"init": "inv"}),
    "s4d_legs": ("s4d", {"init": "legs"}),
    "liquid_s4": ("liquid_s4", {}),
    "rwkv": ("rwkv", {}),
    "lstm": ("lstm", {}),
    "elman": ("elman", {}),
}
_SMALLER = {"liquid_s4": {"state": 4}, "rwkv": {"expand": 1}}  # with three layers, 8 and 4 would take twice as long
# On Sum the readout of two layers keeps the LSTM from learning what it learns in 600 steps without it.
_HEADS = {("lstm", "sum"): {"head": "linear"}, ("elman", "sum"): {"head": "linear"}}
REFERENCES = ("lstm", "elman")

ROWS = tuple(_MODELS)
LAYERS = {"sum": 1, "evenpair": 1, "modarith": 3}
STEPS = {"live": 300, "desk": 5000}
SHARED: dict[str, Any] = {"batch": 32, "betas": (0.9, 0.99), "clip": 1.0}

# What ``lrnn_baseline_rates.chosen`` says of the records in data/records/lrnn/baseline_rates.
RATES = {
    "sum": {
        "vanilla": 3e-3, "diagonal_positive": 1e-2, "diagonal_signed": 1e-2, "diagonal_complex": 1e-2,
        "diagonal_unit": 3e-2, "s4": 1e-2, "s4d": 1e-2, "s4d_inv": 1e-2, "s4d_legs": 3e-2, "liquid_s4": 1e-2,
        "rwkv": 1e-2, "lstm": 3e-2, "elman": 1e-2,
    },
    "evenpair": {
        "vanilla": 3e-3, "diagonal_positive": 1e-2, "diagonal_signed": 1e-2, "diagonal_complex": 1e-2,
        "diagonal_unit": 1e-2, "s4": 3e-2, "s4d": 3e-2, "s4d_inv": 3e-2, "s4d_legs": 3e-2, "liquid_s4": 3e-2,
        "rwkv": 3e-2, "lstm": 3e-2, "elman": 3e-3,
    },
}  # fmt: skip
_LARGEST_OF_THREE_LAYERS = 1e-2

# ModArith with a non-linear net: one layer, read out linearly.  Elman's network learns length 39 only if the lengths
# grow to it, each until it is known, and if its recurrent matrix starts orthogonal; the LSTM needs neither.
_GROWING = (5, 9, 15, 25)
_REFERENCE: dict[str, tuple[dict, float, tuple[int, ...]]] = {
    "lstm": ({"layers": 1, "head": "linear"}, 3e-3, ()),
    "elman": ({"layers": 1, "head": "linear", "start": "orthogonal"}, 1e-3, _GROWING),
}


def architecture(row: str, task: str, budget: str) -> tuple[str, dict]:
    """Name in the registry of models, and options, of ``row``.

    >>> architecture("s4d_inv", "modarith", "desk")
    ('s4d', {'layers': 3, 'init': 'inv'})
    """
    name, options = _MODELS[row]
    smaller = {} if budget == "paper" else _SMALLER.get(row, {})
    return name, {"layers": LAYERS[task], **options, **smaller, **_HEADS.get((row, task), {})}


def phase(lr: float, steps: int) -> dict:
    """The one phase, as plain data: a cosine from ``lr`` to a hundredth of it, after 100 steps of warm-up.

    >>> phase(0.01, 300)["warmup"]
    100
    """
    return {"steps": steps, "lr": lr, "final_lr": lr / 100, "warmup": 100, "weight_decay": 0.01}


def rate(row: str, task: str) -> float:
    """The learning rate of ``row``: from ``RATES``, for ModArith that of Sum, but at most 0.01.

    >>> rate("lstm", "sum"), rate("lstm", "modarith")
    (0.03, 0.01)
    """
    return RATES[task][row] if task in RATES else min(RATES["sum"][row], _LARGEST_OF_THREE_LAYERS)


def setting(row: str, task: str, budget: str) -> Setting:
    """The setting of ``row`` at the budget *live* (300 steps: a look, not a result) or *desk* (5,000 steps).

    The last weights count, whatever they are: no stop, no second start.  At the desk ten looks at strings of the test
    length say which checkpoint was best; it is reported beside the last.  ``lstm`` and ``elman`` have 600 live
    steps, and stop when two checks on long strings are perfect, because they can get there.

    >>> setting("rwkv", "sum", "desk").recipe.steps
    5000
    """
    name, options = architecture(row, task, budget)
    if budget == "desk" and task == "modarith" and row in REFERENCES:
        return _reference(row)
    if budget == "live" and row in REFERENCES:
        longer = Phase(steps=600, lr=3e-3, final_lr=1e-4, warmup=100, weight_decay=0.01)
        return Setting(name, options, Recipe((longer,), **{**SHARED, "batch": 64}), stop="long", check_every=100)
    recipe = Recipe((Phase(**phase(rate(row, task), STEPS[budget])),), **SHARED)
    if budget == "live":
        return Setting(name, options, recipe)
    return Setting(name, options, recipe, stop="watched", check_every=STEPS[budget] // 10)


def _reference(row: str) -> Setting:
    """LSTM or Elman on ModArith at the desk: 64 strings a step, growing lengths where the row needs them, then 39."""
    options, lr, lengths = _REFERENCE[row]
    known = tuple(Phase(steps=3000, lr=lr, warmup=0 if i else 100, weight_decay=0.01, until=0.1, length=length)
                  for i, length in enumerate(lengths))  # fmt: skip
    last = Phase(steps=6000 if known else 5000, lr=lr, final_lr=lr / 100, warmup=0 if known else 100, weight_decay=0.01)
    return Setting(_MODELS[row][0], options, Recipe((*known, last), **{**SHARED, "batch": 64}), stop="watched",
                   check_every=1000)  # fmt: skip
