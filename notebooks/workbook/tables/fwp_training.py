"""Training on strings of many lengths with an answer after every token, scored by whole strings: paper 003's tables.

As released with the paper (Irie, Csordas, Schmidhuber 2023): Adam with betas (0.9, 0.995), no clipping; the
mean cross-entropy over all labelled positions of a batch, which is padded to its longest string; batches are cut from a
pool of strings that is shuffled anew every epoch.  The loop is ``training.epochs.train_pools``.

Bin0 is the window of sizes that the paper trains on, Bin1 the next.  The strings are the published ones
(``PositiveTask.splits``): distinct ones to train on, of all sizes of Bin0, and test strings of both bins.  Every so
many steps a *look* scores the net on the test strings, and on *held-out* strings of Bin0, neither trained on nor
tested. Training goes on to its last step (``stop="steps"``): a net that is right on every held-out string is often
not yet right on Bin1.  Live cells of Tables 1 and 2 end by the held-out strings (``stop="held_out"``); the paper's
training ends, and is selected, by the test strings (``stop="test"``).  Every run is scored in three ways, so that all
can be read:

==================  ===================================================================================================
``last``            the weights at the end
``by_validation``   the look with the least cross-entropy on the held-out strings
``by_test``         the look with the best mean of the two test bins: the paper's choice, made on test data
==================  ===================================================================================================

A score is the share of strings with *all* positions right (paper, Sec. 4.1).

Letters: N strings, B batch, T time, C classes.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from torch import nn

from lrnnlab.models import Net, build
from lrnnlab.tasks import PositiveTask, blind_levels, whole_string_accuracy
from lrnnlab.training import Trained
from lrnnlab.training.determinism import rng
from lrnnlab.training.epochs import answers, train_pools

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
        **{name: setting[name] for name in PLAIN if name in setting},
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
        "parameters": sum(parameter.numel() for parameter in made.net.parameters()),
    }  # fmt: skip
    curve = [[look["step"], *(round(look[name], 4) for name in ("validation", "held_out", "bin0", "bin1"))]
             for look in looks]  # fmt: skip
    return made, {"metrics": metrics, "curve": curve, "cpu_seconds": round(made.cpu_seconds, 3)}
