"""How long a training step takes on each scan: same model, same strings, in turn, in one run, on one thread."""

from __future__ import annotations

import statistics
import time

import torch
from torch.nn import functional as F

from lrnnlab import scans, tasks
from lrnnlab.models import build
from lrnnlab.training import steady_arithmetic, stream

BATCH = 128


def training_step(task_name: str, rounds: int = 9) -> dict[str, list[float]]:
    """Seconds of each timed step, by backend: forward, backward and Adam of the released model of paper 000.

    The setting is the paper's: (b, h) = (8, 8), the ``release`` rule, batch 128, training length, three layers for
    ModArith and one else.  Backends take turns, so that a drift of the machine's speed meets all of them.

    >>> sorted(training_step("sum", rounds=1))
    ['cpu', 'paper', 'reference']
    """
    task = tasks.task(task_name, 5)
    layers = 3 if task_name == "modarith" else 1
    model = build("block_diagonal", vocab_size=task.vocab_size, classes=task.classes, rule="release", layers=layers)
    optimiser = torch.optim.Adam(model.parameters(), lr=1e-4)
    batch = task.sample(BATCH, task.train_length, stream(0, "bench"))
    labelled = task.mask(task.train_length)
    taken: dict[str, list[float]] = {name: [] for name in scans.available()}
    with steady_arithmetic():
        for turn in range(rounds + 1):
            for name, seconds in taken.items():
                for layer in model.layers:
                    layer.backend = name
                start = time.perf_counter()
                logits = model(batch.tokens)[:, labelled]
                loss = F.cross_entropy(logits.flatten(0, 1), batch.targets[:, labelled].flatten())
                optimiser.zero_grad()
                loss.backward()
                optimiser.step()
                if turn:  # the first round warms up
                    seconds.append(time.perf_counter() - start)
    return taken


def report(task_name: str, taken: dict[str, list[float]]) -> str:
    """Median, least and greatest milliseconds, and how many times longer than ``cpu`` (median over the median)."""
    ours = statistics.median(taken["cpu"])
    lines = [f"training step, {task_name}, batch {BATCH}, one thread (ms: median, min, max; times cpu)"]
    for name, seconds in taken.items():
        median = statistics.median(seconds)
        lines.append(
            f"  {name:10s} {median * 1e3:8.1f} {min(seconds) * 1e3:8.1f} {max(seconds) * 1e3:8.1f}"
            f" {median / ours:7.1f}x"
        )
    return "\n".join(lines)
