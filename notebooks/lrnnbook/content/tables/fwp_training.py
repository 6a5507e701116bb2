"""Tables 1 and 2 of paper 003: training on strings of many lengths with an answer after every token, scored by whole strings.

Letters: N strings, B batch, T time, C classes.
"""

from typing import Any

from torch import nn

from lrnnbook.content.tables.table import by_setting, load, options, parameters
from lrnnlab.models import Net, build
from lrnnlab.tasks.batch import blind_levels
from lrnnlab.tasks.counter_languages import COUNTER_TASKS
from lrnnlab.tasks.counter_languages.strings import PositiveTask
from lrnnlab.training import Trained, rng, whole_string_accuracy
from lrnnlab.training.curriculum import answers, train_pools

PLAIN = ("batch", "rate", "schedule", "watch_every", "stop", "patience")  # options of train_pools in a setting


def strings_for(task: PositiveTask, setting: dict, seed: int) -> dict[str, list[list[int]]]:
    """``train``, ``bin0``, ``bin1`` and ``held_out``: strings as ``PositiveTask.splits`` draws them."""
    return task.splits(rng(seed, "fwp/strings"), setting["pool"], setting["tests"])


def build_net(task: PositiveTask, setting: dict, seed: int) -> Net:
    """The untrained net of a setting; torch's own generator is left as it was."""
    return build(setting["model"], task, seed=seed, **setting["options"])


def fit(
    task: PositiveTask, setting: dict, seed: int, strings: dict[str, list[list[int]]] | None = None, **how: Any
) -> Trained:
    """Train the net of ``setting``, what a live cell calls; its looks (``watched``) have all that the scores need."""
    strings = strings or strings_for(task, setting, seed)
    looked_at = {name: task.batch(words) for name, words in strings.items() if name != "train"}
    pools = [(steps, task.batch([word for word in strings["train"] if len(word) <= most * task.tokens_per_size]))
             for steps, most in setting["stages"]]  # fmt: skip

    def watch(net: nn.Module, step: int) -> dict:
        found = {name: answers(net, batch) for name, batch in looked_at.items()}
        scores = {name: whole_string_accuracy(classes, looked_at[name]) for name, (classes, _) in found.items()}
        return {"validation": -found["held_out"][1], **scores, "test": (scores["bin0"] + scores["bin1"]) / 2}

    return train_pools(
        build_net(task, setting, seed), pools, generator=rng(seed, "fwp/train"), watch=watch, **how,
        **options(setting, PLAIN),
    )  # fmt: skip


def measure(task: PositiveTask, setting: dict, seed: int, **how: Any) -> tuple[Trained, dict]:
    """Train and score: what came out of it, and the parts of a record, ``metrics`` and ``curve``."""
    strings = strings_for(task, setting, seed)
    made = fit(task, setting, seed, strings, **how)
    bin1, looks = task.batch(strings["bin1"]), made.watched
    chosen = {
        "last": looks[-1], "by_validation": next(look for look in looks if look["step"] == made.best_step),
        "by_test": max(looks, key=lambda look: look["test"]),
    }  # fmt: skip
    metrics = {
        **{name: {part: look[part] for part in ("bin0", "bin1", "step")} for name, look in chosen.items()},
        "symbols": float((answers(made.net, bin1)[0] == bin1.targets)[bin1.mask].double().mean()),
        "steps": made.steps, "finished": made.finished, "levels": blind_levels(bin1, task.classes),
        "strings": {name: len(words) for name, words in strings.items()},
        "parameters": parameters(made.net),
    }  # fmt: skip
    curve = [[look["step"], *(round(look[name], 4) for name in ("validation", "held_out", "bin0", "bin1"))]
             for look in looks]  # fmt: skip
    return made, {"metrics": metrics, "curve": curve, "cpu_seconds": round(made.cpu_seconds, 3)}


def measure_cell(setting: dict, seed: int, **how: Any) -> dict:
    """Train and score one cell of Table 1, Table 2 or the search."""
    return measure(COUNTER_TASKS[setting["task"]](), setting, seed, **how)[1]


TABLE = load("fwp/table1", by_setting(measure_cell))
load("fwp/table2", by_setting(measure_cell))
