"""Tables 1 and 2 of paper 002 (Chi, Fan, Rudnicky, Ramadge 2023): which nets know a regular language at unseen lengths?

A task of table 2 is p, the probability of a 1 in Parity, in training and in the test.  The paper's words ("we alter the
probability used to sample 1s") may also mean that only the strings of the test change: so every net is also asked at the
other p, ``elsewhere``.

Letters: B batch, T time, C classes, c chunk (the paper's C), D width.
"""

import copy
from collections.abc import Iterable
from functools import partial
from statistics import fmean
from typing import Any

import torch
from torch import nn

from lrnnbook.content.tables.table import by_setting, load, options, parameters
from lrnnlab.models import build
from lrnnlab.models.layers.attention import depth_count
from lrnnlab.tasks import Task
from lrnnlab.tasks.base import BaseTask
from lrnnlab.tasks.regular import STRING_TASKS
from lrnnlab.training import Trained, rng
from lrnnlab.training.curriculum import train_strings
from lrnnlab.training.evaluation import accuracy_at_lengths

MEASURES = {"accuracy_seen": "same length (40)", "accuracy": "extrapolation (42..500)"}  # of table 2
NETWORKS = {  # row: the model's name and options
    "rnn": ("relu_rnn", {}),
    "transformer": ("xl_transformer", {}),
    "regulargpt_c2": ("regulargpt", {"chunk": 2}),
    "regulargpt_c3": ("regulargpt", {"chunk": 3}),
}


def make_network(row: str, task: BaseTask, budget: str = "live", *, seed: int, **options: Any) -> nn.Module:
    """An untrained net of Table 1 with the weights of ``seed``; torch's own generator is left as it was."""
    name, kind = NETWORKS[row]
    size = TABLE.setting(row, "parity", budget)["options"]
    return build(name, task, seed=seed, **{**kind, **size, **options})


def build_task(setting: dict) -> Task:
    """The task of a setting: by its name, with ``p``, if it has one, as the share of ones of Parity."""
    return STRING_TASKS["parity"](setting["p"]) if "p" in setting else STRING_TASKS[setting["task"]]()


def trained(setting: dict, seed: int, **how: Any) -> Trained:
    """The net after training; weights and strings are decided by ``seed``."""
    task = build_task(setting)
    net = make_network(setting["row"], task, seed=seed, **setting["options"]).to(setting["device"])
    return train_strings(net, task, generator=rng(seed, "regulargpt/train"), **how, **options(setting["training"]))


def measure(setting: dict, seed: int, **how: Any) -> dict:
    """Train, then score the last weights and the best ones (by held-out strings of training lengths); in table 2 also
    ``elsewhere``, what the last answer at lengths 40 and 500 where p is another."""
    made = trained(setting, seed, **how)
    found = score(made, setting, seed)
    if "elsewhere" in setting:
        ask = partial(accuracy_at_lengths, made.net, lengths=(40, 500), strings=setting["elsewhere"])
        others = [ask(STRING_TASKS["parity"](float(p)), generator=rng(seed, "elsewhere")) for p in TABLE_2.tasks]
        answers = {str(length): [one[length] for one in others] for length in (40, 500)}
        found["elsewhere"] = {"p": list(TABLE_2.tasks), **answers}
    return {**found, "training": training_of(made), "cpu_seconds": round(made.cpu_seconds, 2)}


def score(made: Trained, setting: dict, seed: int) -> dict:
    """What a record says about a trained net's answers; strings are fresh, the same for last and best weights."""
    task = build_task(setting)
    lengths = range(task.train_length + 1, task.test_length + 1, setting["stride"])

    def shares(net, lengths, strings) -> dict[int, float]:
        return accuracy_at_lengths(net, task, lengths, strings=strings, generator=rng(seed, "regulargpt/test"))

    seen = shares(made.net, [task.train_length], 512)[task.train_length]
    found = shares(made.net, lengths, setting["strings"])
    best = found
    if made.best is not None and made.best_step != made.steps:
        twin = copy.deepcopy(made.net)
        twin.load_state_dict(made.best)
        best = shares(twin, lengths, setting["strings"])
    metrics = {
        "accuracy": average(found, task), "best_accuracy": average(best, task), "accuracy_seen": seen,
        "worst_length": min(found.values()), "exact": min(found.values()) == 1, "steps": made.steps,
        "best_step": made.best_step, "finished": made.finished, "chance": task.chance,
        "majority": task.average_majority(scored(lengths, task)),
        "parameters": parameters(made.net),
    }  # fmt: skip
    scores = {"metrics": metrics, "lengths": list(found),
              "accuracy_by_length": [round(share, 4) for share in found.values()]}  # fmt: skip
    if (setting["row"], setting.get("task")) == ("regulargpt_c2", "modular_arithmetic_prefix"):
        generator = rng(seed, "regulargpt/seam")
        scores["over_the_seam"] = {str(T): over_the_seam(made.net, task, T, generator) for T in (8, 16, task.train_length)}
    return scores


@torch.no_grad()
def over_the_seam(net: nn.Module, task: Task, length: int, generator: torch.Generator) -> list[float]:
    """Of Modular Arithmetic in chunks of 2: the share right where the root's right half begins with 0, 1, 2 or more ×."""
    batch = task.sample(2048, length, generator).to(next(net.parameters(), torch.empty(0)).device)
    half = 2 ** (depth_count(length, 2) - 1)  # symbols of the right half
    factors = (batch.tokens[:, -half::2] == task.symbols.index("×")).long().cumprod(1).sum(1)
    right = batch.right(net(batch.tokens)).double()
    return [round(float(right[factors.clamp(max=2) == k].mean()), 4) for k in range(3 if half > 2 else 2)]


def scored(lengths: Iterable[int], task: Task) -> list[int]:
    """The lengths that count: the paper's code leaves out the first one beyond training (its text does not)."""
    return [length for length in lengths if length > task.train_length + 1]


def average(found: dict[int, float], task: Task) -> float:
    """The paper's score: the mean over ``scored`` lengths."""
    return fmean(found[length] for length in scored(found, task))


def training_of(made: Trained) -> dict:
    """How training went, for a record: each look at held-out strings, and the loss, by step."""
    losses = made.losses[:: max(1, len(made.losses) // 50)]
    looks = {name: [round(look[name], 6) for look in made.watched] for name in ("step", "validation", "right")}
    return {**looks, "loss": [[step, round(value, 5)] for step, value in losses]}


TABLE = load("regulargpt/table1", by_setting(measure))
TABLE_2 = load("regulargpt/table2", by_setting(measure))
