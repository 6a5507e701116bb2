"""Which learning rate does each baseline of Table 2 of paper 000 get?  Four are tried, judged at the training length.

A row is a baseline and a rate, ``s4d-0.003``.  Each is trained as for the table (see ``lrnn_baselines``), for 1,000
steps instead of 5,000, from a seed that no run of the table has: 900 for seed 0.  Then it answers 1,024 fresh strings
of the *training* length, 40, and no string that is longer.  The best share of right answers over all positions wins;
where two are equal, the smaller loss (mean over the last 100 steps of training, whose strings are all fresh too).

A rate at which training broke off on either task is out for that baseline on both.  So it is with vanilla at 0.01, which
breaks off on EvenPair; a run of the table had broken off on Sum too, after 367 of 5,000 steps.

What this does not settle: one seed, a fifth of the steps, four rates.  13 of the 26 winners are 0.01, and 10 are 0.03,
the largest of the four: for those a larger one might be better still, and short training favours it.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from statistics import fmean

import pandas as pd

from lrnnlab import tasks
from lrnnlab.models import build
from lrnnlab.tables import lrnn_baselines
from lrnnlab.tables.table import Table, by_setting
from lrnnlab.training import Phase, Recipe, fit
from lrnnlab.training.evaluation import evaluate

TASKS = tuple(lrnn_baselines.RATES)
CANDIDATES = (1e-3, 3e-3, 1e-2, 3e-2)
ROWS = tuple(f"{row}-{lr:g}" for row in lrnn_baselines.ROWS for lr in CANDIDATES)
STEPS = {"live": 20, "desk": 1000}
FIRST_SEED = 900  # the table's runs have small seeds


def setting(row: str, task: str, budget: str) -> dict:
    """One baseline with one rate: 1,000 steps at the desk; 20 live, to see that it runs.

    >>> setting("s4-0.01", "sum", "desk")["phase"]["lr"]
    0.01
    """
    baseline, lr = row.rsplit("-", 1)
    model, options = lrnn_baselines.architecture(baseline, task, budget)
    return {
        "baseline": baseline, "lr": float(lr), "task": task, "modulus": 5, "model": model, "options": options,
        "phase": lrnn_baselines.phase(float(lr), STEPS[budget]), "recipe": lrnn_baselines.SHARED,
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


def chosen(records: Sequence[dict]) -> dict[str, dict[str, float]]:
    """The winners, by task and baseline.  ``ValueError`` if a baseline lacks one of the four rates, or has none left.

    A rate that broke off on one task is out on all.

    >>> def made(lr, accuracy, loss):
    ...     metrics = {"accuracy": accuracy, "loss": loss, "finished": loss is not None}
    ...     return {"task": "sum", "config": {"setting": {"baseline": "s4", "lr": lr}}, "metrics": metrics}
    >>> chosen([made(1e-3, 0.5, 1.2), made(3e-3, 0.5, 1.1), made(1e-2, 0.8, None), made(3e-2, 0.7, None)])
    {'sum': {'s4': 0.003}}
    """
    tried: dict[tuple[str, str], dict[float, dict]] = {}
    broken = set()
    for record in records:
        baseline, lr = (record["config"]["setting"][name] for name in ("baseline", "lr"))
        tried.setdefault((record["task"], baseline), {})[lr] = record["metrics"]
        if not record["metrics"]["finished"]:
            broken.add((baseline, lr))
    winners: dict[str, dict[str, float]] = {}
    for (task, baseline), found in tried.items():
        if set(found) != set(CANDIDATES):
            raise ValueError(f"{baseline} on {task} was tried at {sorted(found)}, not at each of {CANDIDATES}")
        left = {lr: metrics for lr, metrics in found.items() if (baseline, lr) not in broken}
        if not left:
            raise ValueError(f"{baseline} on {task} is left with none of {CANDIDATES}: training broke off")
        best = max(left, key=lambda lr: (left[lr]["accuracy"], -left[lr]["loss"]))
        winners.setdefault(task, {})[baseline] = best
    return winners


def line(record: dict) -> str:
    """One record in a few words."""
    metrics = record["metrics"]
    end = f"loss {metrics['loss']:.4f}" if metrics["finished"] else "broke off"
    return f"{record['task']} {record['row']}: {metrics['accuracy']:.4f} at the training length, {end}"


def table(records: Sequence[dict]) -> str:
    """By task: a baseline's accuracy at the training length for each rate, and what a guesser has at its end."""
    parts = []
    for name in dict.fromkeys(record["task"] for record in records):
        rows = [{**record["config"]["setting"], **record["metrics"]} for record in records if record["task"] == name]
        order = list(dict.fromkeys(row["baseline"] for row in rows))
        body = pd.DataFrame(rows).pivot(index="baseline", columns="lr", values="accuracy").loc[order]
        task = tasks.task(name, rows[0]["modulus"])
        parts.append(f"{name}   (length {task.train_length}: chance {task.chance:.3f}, majority "
                     f"{task.majority(task.train_length):.3f})\n{body.to_string(float_format='{:.4f}'.format)}")  # fmt: skip
    return "\n\n".join(parts)


TABLE = Table("lrnn/baseline_rates", ROWS, TASKS, setting, by_setting(measure), line, table,
              budgets=("live", "desk"))  # the paper says nothing of how its baselines were trained  # fmt: skip
