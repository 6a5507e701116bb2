"""Section 4.5 of paper 000 (Fan, Chi, Rudnicky 2024): is PScan faster than the loop?  On one thread of a CPU.

Letters: B batch, T time, V vocabulary, h blocks, b block size; A transition.
"""

import os
import statistics
import time
from collections.abc import Callable
from typing import Any

import torch
from torch.nn import functional as F

from lrnnbook.content.tables.declared import paper
from lrnnbook.content.tables.table import by_setting, load
from lrnnlab import scans, tasks
from lrnnlab.models import Net, build
from lrnnlab.training import rng

BACKENDS = {"sequential": "reference", "pscan": "paper", "cpu": "cpu", "table": "cpu"}


def measure(setting: dict, seed: int, **how: Any) -> dict:
    """Seconds of every part by every way, and how far the ways' answers differ (they should not)."""
    scans.warm()
    task = tasks.task(setting["task"])
    model = build("block_diagonal", vocab_size=task.vocab_size, classes=task.classes, seed=seed,
                  b=setting["b"], h=setting["h"], rule=setting["rule"])  # fmt: skip
    batch = task.sample(setting["batch"], setting["length"], rng(seed, "speed"))
    with torch.no_grad():
        first = answers(model, batch.tokens, "sequential")
        apart = max(float((answers(model, batch.tokens, way) - first).abs().max()) for way in BACKENDS)
    parts = {"model": _model(model, batch, setting["training"]),
             "scan": _scan(model, batch.tokens, setting["training"])}  # fmt: skip
    wall, cpu = time.perf_counter(), time.process_time()
    seconds = {part: take_turns(work, setting["rounds"]) for part, work in parts.items()}
    return {
        "metrics": {part: _ratios(taken) for part, taken in seconds.items()} | {
            "largest_difference": apart,
            # one thread: well below 1 means that others kept this process from running
            "cpu_share": round((time.process_time() - cpu) / (time.perf_counter() - wall), 3),
        },
        "seconds": seconds,
        "machine": {"cores": os.cpu_count(), "instructions": torch.backends.cpu.get_cpu_capability()},
    }  # fmt: skip


def answers(model: Net, tokens: torch.Tensor, way: str) -> torch.Tensor:
    """Logits (B, T, C) of a one-layer model, its recurrence run in one of the four ways (the same numbers by each)."""
    layer: Any = model.layers[0]
    layer.backend = BACKENDS[way]
    if way == "table":
        return model.readout(layer(model.symbol_inputs(), tokens))
    return model.readout(layer(model.norms[0](model.embedding(tokens))))


def _model(model: Net, batch, training: bool) -> Callable[[str], None]:
    """One training step, or one forward pass, from tokens to answers."""
    optimiser = torch.optim.Adam(model.parameters(), lr=1e-4)

    def step(way):
        with torch.set_grad_enabled(training):
            logits = answers(model, batch.tokens, way)
        if training:
            optimiser.zero_grad()
            F.cross_entropy(logits.flatten(0, 1), batch.targets.flatten()).backward()
            optimiser.step()

    return step


def _scan(model: Net, tokens: torch.Tensor, training: bool) -> Callable[[str], None]:
    """The recurrence alone: A and b are there already, for every position and as tables of V symbols."""
    layer: Any = model.layers[0]
    with torch.no_grad():
        tables = layer.transition(model.symbol_inputs())
        x0 = layer.initial(len(tokens)).detach()
    inputs = {True: [t.detach() for t in tables], False: [t[tokens] for t in tables]}
    for tensor in (*inputs[True], *inputs[False]):
        tensor.requires_grad_(training)

    def step(way):
        A, b = inputs[way == "table"]
        if way == "table":
            x = scans.token_scan(A, b, tokens, x0, backend=BACKENDS[way])
        else:
            x = scans.linear_scan(A, b, x0, backend=BACKENDS[way])
        if training:
            torch.autograd.grad(x.sum(), (A, b))

    return step


def take_turns(work: Callable[[str], None], rounds: int) -> dict[str, list[float]]:
    """Seconds of ``work(way)`` in every round; all ways once in each, after a round that warms up."""
    taken: dict[str, list[float]] = {way: [] for way in BACKENDS}
    for turn in range(rounds + 1):
        for way, seconds in taken.items():
            start = time.perf_counter()
            work(way)
            if turn:
                seconds.append(round(time.perf_counter() - start, 7))
    return taken


def _ratios(taken: dict[str, list[float]]) -> dict[str, dict[str, float]]:
    """By way: median, least and greatest seconds; and, round by round, over the sequential loop's of that round."""
    found = {}
    for way, seconds in taken.items():
        ratios = [mine / loop for mine, loop in zip(seconds, taken["sequential"])]
        found[way] = {
            "median": statistics.median(seconds), "min": min(seconds), "max": max(seconds),
            "ratio": statistics.median(ratios), "ratio_min": min(ratios), "ratio_max": max(ratios),
        }  # fmt: skip
    return found


def paper_ratio(row: str) -> float | None:
    """PScan over the loop in the paper, Sec. 4.5; it did not time ``train40_b1``."""
    seconds = paper("lrnn/speed").set_index(["row", "metric"])["value"].get(row)
    return None if seconds is None else float(seconds["model.pscan.median"] / seconds["model.sequential.median"])


TABLE = load("lrnn/speed", by_setting(measure))
