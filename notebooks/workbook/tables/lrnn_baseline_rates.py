"""How is each baseline of Table 2 of paper 000 trained?  Depths, readouts and rates, judged at the training length."""

from statistics import fmean
from typing import Any

from lrnnlab import tasks
from lrnnlab.models import build
from lrnnlab.training import Phase, Recipe, fit
from lrnnlab.training.evaluation import evaluate
from workbook.tables.table import by_setting, load


def measure(setting: dict, seed: int, **how: Any) -> dict:
    """Train from seed ``first_seed + seed`` and say how often the answers are right at the training length."""
    task, seed = tasks.task(setting["task"], setting["modulus"]), setting["first_seed"] + seed
    sizes = {"vocab_size": task.vocab_size, "classes": task.classes}
    result = fit(
        lambda start: build(setting["model"], seed=start, **sizes, **setting["options"]), task,
        Recipe((Phase(**setting["phase"]),), **setting["recipe"]), seed, **how,
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
