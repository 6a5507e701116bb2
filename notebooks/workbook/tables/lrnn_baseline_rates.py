"""How is each baseline of Table 2 of paper 000 trained?  Depths, readouts and rates, judged at the training length.

Each run has a seed that no run of the table has (900 for seed 0), 32 strings a step, and the table's training, but
shorter.  Then it answers 1,024 fresh strings of the *training* length, 40 or 39, and none that is longer.  The best
share of right answers over all positions wins; of equals the smaller loss (mean over the last 100 steps of training,
whose strings are all fresh too).  A rate at which training broke off on one task is out for that baseline on all.

``s4d-0.003``
    One layer on Sum and EvenPair, with the paper's readout of two layers (but ``lstm`` and ``elman`` on Sum): four rates,
    1,000 steps, a fifth of the table's.
``s4d-3-mlp-0.003``
    What one layer does not teach, and on ModArith: three layers with the paper's readout of two layers at three rates,
    then, at the best of these, the linear readout, and one layer; 500 steps, which take the time of some 1,300 of one
    layer.  The starts of S4D share what is found for ``s4d``; Liquid-S4, the dearest, was not tried with three layers,
    nor RWKV, complex and signed gates on ModArith.
``s4d-3-linear-0.01-again``
    Where one layer was ahead after its 1,000 steps, the best of three layers again, with as many.

What this does not settle: one seed, a short training, few rates, and the shapes tried at one rate only.
"""

from __future__ import annotations

from pathlib import Path
from statistics import fmean

from lrnnlab import tasks
from lrnnlab.models import build
from lrnnlab.training import Phase, Recipe, fit
from lrnnlab.training.evaluation import evaluate
from workbook.tables.table import by_setting, load


def measure(setting: dict, seed: int, progress: bool = False, checkpoint: Path | None = None) -> dict:
    """Train from seed ``first_seed + seed`` and say how often the answers are right at the training length.

    ``accuracy``: over all labelled positions; ``accuracy_last``: at the last; ``loss``: None if training broke off
    because the loss was no longer a number (``finished`` is False then, and the rate is out).

    >>> found = measure({**TABLE.setting("elman-0.01", "sum", "live"), "strings": 8}, seed=0)
    >>> sorted(found["metrics"])
    ['accuracy', 'accuracy_last', 'finished', 'loss']
    """
    task, seed = tasks.task(setting["task"], setting["modulus"]), setting["first_seed"] + seed
    sizes = {"vocab_size": task.vocab_size, "classes": task.classes}
    result = fit(
        lambda start: build(setting["model"], seed=start, **sizes, **setting["options"]), task,
        Recipe((Phase(**setting["phase"]),), **setting["recipe"]), seed, progress=progress, checkpoint=checkpoint,
    )  # fmt: skip
    found = evaluate(
        result.model, task, seed=seed, length=setting["length"], strings=setting["strings"], purpose="rate"
    )
    loss = fmean(value for _, value in result.losses[-10:]) if result.accepted else None
    return {
        "metrics": {
            "accuracy": found.accuracy_seen, "accuracy_last": found.accuracy_last, "loss": loss,
            "finished": result.accepted,
        },
        "losses": [[step, round(value, 6)] for step, value in result.losses],
    }  # fmt: skip


TABLE = load("lrnn/baseline_rates", by_setting(measure))  # the paper says nothing of how its baselines were trained
