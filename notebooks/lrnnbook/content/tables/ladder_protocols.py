"""One training, four rules: how much of a number is what the net knows, and how much how its paper counts?

What its rows and metrics are, and what differs from the paper, is said in ``ladder_protocols.yaml``.

Letters: B strings, T time.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from lrnnbook.content.tables import ladder
from lrnnbook.content.tables.ladder import FAR, LENGTH
from lrnnbook.content.tables.table import by_setting, load
from lrnnlab.models import build
from lrnnlab.tasks import Task
from lrnnlab.tasks.batch import answered, best_of_checks
from lrnnlab.training import rng, train

HELD_OUT = 128
RULES = {  # which weights, what is measured
    "000": ("test_last", "last"), "001, 004": ("held_out", "trained"), "002, ours": ("last", "past"),
    "003 Bin0": ("test_bins", "bin0"), "003 Bin1": ("test_bins", "bin1"), "Bin1, held out": ("held_out", "bin1"),
}  # fmt: skip


@torch.no_grad()
def right(net: torch.nn.Module, asked: Task, strings: int, length: int, generator: torch.Generator) -> np.ndarray:
    """(B, T) bool: which answers to fresh strings are right."""
    batch = asked.sample(strings, length, generator)
    found = torch.cat([answered(net(part), asked.classes) for part in batch.inputs.split(32)])
    return (found == batch.targets).numpy()


def measures(right: np.ndarray) -> dict[str, float]:
    """What the rules measure, of the answers to strings of 500."""
    whole = np.logical_and.accumulate(right, axis=1)  # of the prefix that ends there
    return {
        "trained": float(right[:, LENGTH - 1].mean()), "last": float(right[:, FAR - 1].mean()),
        "past": float(right[:, LENGTH + 1 :].mean()), "bin0": float(whole[:, :LENGTH].mean()),
        "bin1": float(whole[:, LENGTH : 2 * LENGTH].mean()),
    }  # fmt: skip


def best_looks(looks: Sequence[dict]) -> dict[str, dict]:
    """The look that each choice of weights means: the last, or the first of the best."""
    return {
        "last": looks[-1], "held_out": max(looks, key=lambda look: look["held_out"]),
        "test_last": max(looks, key=lambda look: look["last"]),
        "test_bins": max(looks, key=lambda look: look["bin0"] + look["bin1"]),
    }  # fmt: skip


def measure(setting: dict, seed: int, **how: Any) -> dict:
    """Train once, look on the way, and count by every rule."""
    asked, strings, steps = ladder.ladder_task(setting["task"]), setting["strings"], setting["steps"]
    net = build(setting["model"], asked, seed=seed, **setting["options"])

    def test(step: int) -> np.ndarray:
        return right(net, asked, strings, FAR, rng(seed, f"ladder/protocols/test/{step}"))

    def watch(net: torch.nn.Module, step: int) -> dict:
        held_out = right(net, asked, HELD_OUT, LENGTH, rng(seed, "ladder/protocols/held out"))
        return {"held_out": float(held_out.mean()), **measures(test(step))}

    drawn = rng(seed, "ladder/protocols/train")
    made = train(net, ladder.Growing(asked, 64, LENGTH, steps, drawn), steps=steps, lr=setting["rate"], clip=1.0,
                 warmup=min(50, steps - 1), generator=drawn, watch=watch,
                 watch_every=max(1, steps // setting["looks"]), **how)  # fmt: skip
    looks = made.watched[1:]  # the first is of the untrained net
    found, last = best_looks(looks), test(made.steps)
    accuracy = ladder.windows(np.stack([last.sum(0), np.full(FAR, strings)]))
    majority = asked.majority(FAR)
    metrics = {
        "rules": {rule: found[weights][what] for rule, (weights, what) in RULES.items()}, "weights": found,
        "first": ladder.first_below(accuracy, ladder.KNOWN, 1), "kind": ladder.kind(accuracy),
        "trained": float(accuracy[LENGTH - ladder.WINDOW]), "majority": majority,
        "best_of_guesser": best_of_checks(majority, len(looks), strings)[0], "steps": made.steps,
    }  # fmt: skip
    return {"metrics": metrics, "curve": looks, "cpu_seconds": round(made.cpu_seconds, 2)}


TABLE = load("ladder/protocols", by_setting(measure))
