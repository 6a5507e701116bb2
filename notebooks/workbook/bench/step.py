"""How long a training step takes on each scan: same model, same strings, in turn, in one run, on one thread."""

from __future__ import annotations

from functools import partial

import torch
from torch.nn import functional as F

from lrnnlab import scans, tasks
from lrnnlab.models import build
from lrnnlab.training import deterministic, rng
from workbook.bench.recording import Bench, of_forms
from workbook.bench.scans import take_turns

BATCH = 128


def training_step(task_name: str, rounds: int = 9) -> dict[str, list[float]]:
    """Seconds of each timed step, by backend: forward, backward and Adam of the released model of paper 000."""
    task = tasks.task(task_name, 5)
    layers = 3 if task_name == "modarith" else 1
    model = build("block_diagonal", vocab_size=task.vocab_size, classes=task.classes, rule="release", layers=layers)
    optimiser = torch.optim.Adam(model.parameters(), lr=1e-4)
    batch = task.sample(BATCH, task.train_length, rng(0, "bench"))
    labelled = task.mask(task.train_length)

    def step(backend: str) -> None:
        for layer in model.layers:
            layer.backend = backend
        logits = model(batch.tokens)[:, labelled]
        loss = F.cross_entropy(logits.flatten(0, 1), batch.targets[:, labelled].flatten())
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()

    names = sorted(scans.available("cpu"), key=lambda name: name != "cpu")  # ours first
    with deterministic():
        return take_turns({name: partial(step, name) for name in names}, rounds)


def bench(rounds: int = 9) -> Bench:
    """Both tasks, for ``lrnnlab bench step``."""
    head = f"training step, {{}}, batch {BATCH}, one thread (ms: median, min, max; times cpu)"
    return of_forms("step", head, {name: partial(training_step, name) for name in ("sum", "modarith")}, rounds)
