"""How is each baseline of Table 2 of paper 000 trained?  Depths, readouts and rates, judged at the training length.

Each run has a seed that no run of the table has (900 for seed 0), 32 strings a step, and the table's training (see
``lrnn_baselines``), but shorter.  Then it answers 1,024 fresh strings of the *training* length, 40 or 39, and none that is
longer.  The best share of right answers over all positions wins; of equals the smaller loss (mean over the last 100 steps
of training, whose strings are all fresh too).  A rate at which training broke off on one task is out for that baseline on
all.

``s4d-0.003``
    One layer on Sum and EvenPair, with the readout of ``lrnn_baselines.one_layer``: four rates, 1,000 steps, a fifth
    of the table's.
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

from collections.abc import Sequence
from pathlib import Path
from statistics import fmean

import numpy as np
import pandas as pd

from lrnnlab import tasks
from lrnnlab.models import build
from lrnnlab.tables import lrnn_baselines
from lrnnlab.tables.table import Table, by_setting
from lrnnlab.training import Phase, Recipe, fit
from lrnnlab.training.evaluation import evaluate

TASKS = ("sum", "evenpair", "modarith")
CANDIDATES: tuple[float, ...] = (1e-3, 3e-3, 1e-2, 3e-2)  # with one layer
DEEP: tuple[float, ...] = (3e-3, 1e-2, 3e-2)  # with three
SHAPES = ((3, "mlp"), (3, "linear"), (1, "mlp"), (1, "linear"))  # the first at all rates
LINEAR = tuple(row for row in lrnn_baselines.ROWS if row not in lrnn_baselines.REFERENCES)
ROWS = (
    *(f"{row}-{lr:g}" for row in lrnn_baselines.ROWS for lr in CANDIDATES),
    *(f"{row}-{layers}-{head}-{lr:g}{again}" for row in LINEAR for layers, head in SHAPES for lr in DEEP
      for again in ("", "-again")),
)
STEPS = {"live": 20, "desk": 1000}
SHORTER = 2  # the second part has so many times fewer steps at the desk
FIRST_SEED = 900  # the table's runs have small seeds


def setting(row: str, task: str, budget: str) -> dict:
    """One baseline with one rate, and perhaps another shape; 20 steps live, to see that it runs.

    >>> setting("s4-0.01", "sum", "desk")["phase"]["lr"], setting("s4-3-linear-0.01", "sum", "desk")["options"]
    (0.01, {'layers': 3, 'head': 'linear'})
    """
    baseline, *shape, lr = row.removesuffix("-again").split("-")
    steps = STEPS[budget]
    if shape:
        layers, head = shape
        model, options = lrnn_baselines.architecture(baseline, int(layers), head)
        steps = steps if budget == "live" or row.endswith("-again") else steps // SHORTER
    else:
        model, options = lrnn_baselines.one_layer(baseline, task)
    return {
        "baseline": baseline, "lr": float(lr), "task": task, "modulus": 5, "model": model, "options": options,
        "phase": lrnn_baselines.phase(float(lr), steps), "recipe": lrnn_baselines.SHARED,
        "first_seed": FIRST_SEED, "length": tasks.task(task, 5).train_length, "strings": 1024,
    }  # fmt: skip


def measure(setting: dict, seed: int, progress: bool = False, checkpoint: Path | None = None) -> dict:
    """Train from seed ``first_seed + seed`` and say how often the answers are right at the training length.

    ``accuracy``: over all labelled positions; ``accuracy_last``: at the last; ``loss``: None if training broke off
    because the loss was no longer a number (``finished`` is False then, and the rate is out).

    >>> found = measure({**setting("elman-0.01", "sum", "live"), "strings": 8}, seed=0)
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


def tried(record: dict) -> tuple[int, str, float]:
    """Layers, readout and rate of a record."""
    setting = record["config"]["setting"]
    return setting["options"]["layers"], setting["options"].get("head", "mlp"), setting["lr"]


def line(record: dict) -> str:
    """One record in a few words."""
    metrics = record["metrics"]
    end = f"loss {metrics['loss']:.4f}" if metrics["finished"] else "broke off"
    return f"{record['task']} {record['row']}: {metrics['accuracy']:.4f} at the training length, {end}"


def table(records: Sequence[dict]) -> str:
    """By task: a baseline's accuracy at the training length for each shape and rate, and what a guesser has at its end."""
    parts = []
    for name in dict.fromkeys(record["task"] for record in records):
        rows = [
            {"baseline": record["config"]["setting"]["baseline"], "rate": tried(record)[-1],
             "layers, readout, steps": f"{'{} {}'.format(*tried(record))} {record['config']['setting']['phase']['steps']}",
             "accuracy": record["metrics"]["accuracy"], "broke off": not record["metrics"]["finished"]}
            for record in records if record["task"] == name
        ]  # fmt: skip
        shape = ["baseline", "layers, readout, steps"]
        found = pd.DataFrame(rows).groupby([*shape, "rate"]).mean()  # over seeds
        found = found["accuracy"].map("{:.4f}".format) + np.where(found["broke off"] > 0, "!", "")
        body = found.unstack("rate")
        task = tasks.task(name, records[0]["config"]["setting"]["modulus"])
        parts.append(f"{name}   (length {task.train_length}: chance {task.chance:.3f}, majority "
                     f"{task.majority(task.train_length):.3f}; !: broke off)\n"
                     f"{body.to_string(na_rep='')}")  # fmt: skip
    return "\n\n".join(parts)


TABLE = Table("lrnn/baseline_rates", ROWS, TASKS, setting, by_setting(measure), line, table,
              budgets=("live", "desk"))  # the paper says nothing of how its baselines were trained  # fmt: skip
