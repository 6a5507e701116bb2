"""How much cheaper RegularGPT's tree is than its masks, for one answer per string.

Both have the same weights, strings and loss, and are timed in turn.

    lrnnlab bench tree        # T = 512, c = 2 and 128

The sliding windows that paper 002 counts (Sec. 3.4, T c scores per layer) belong to the masks; the tree keeps one
position in c from depth to depth.

Letters: B batch, T time, D width, c chunk.
"""

from __future__ import annotations

import statistics
from functools import partial

import torch
from torch.nn import functional as F

from lrnnlab.models.regular_gpt import PADDING, RegularGPT
from lrnnlab.training.determinism import deterministic, rng
from workbook.bench.recording import Bench, of_forms
from workbook.bench.scans import take_turns

BATCH, WIDTH, LENGTH, CHUNKS = 8, 64, 512, (2, 128)


def training_step(chunk: int, rounds: int = 5, *, length: int = LENGTH) -> dict[str, list[float]]:
    """Seconds of every timed step, by form: forward, loss at the last position, backward."""
    tokens, labels = torch.randint(2, (2, BATCH, length), generator=rng(0, "bench tree"))
    models = {form: _model(chunk, form) for form in PADDING}

    def step(form: str) -> None:
        logits = models[form](tokens)
        last = logits if form == "tree" else logits[:, -1]
        models[form].zero_grad()
        F.cross_entropy(last, labels[:, 0]).backward()

    with deterministic():
        return take_turns({form: lambda form=form: step(form) for form in models}, rounds)


def _model(chunk: int, form: str) -> RegularGPT:
    """The same weights for every form."""
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(0)
        return RegularGPT(2, 2, chunk=chunk, width=WIDTH, form=form, padding="masked")


def ratio(taken: dict[str, list[float]]) -> float:
    """How many times longer the masks take than the tree, median over median."""
    return statistics.median(taken["masks"]) / statistics.median(taken["tree"])


def bench(rounds: int = 5) -> Bench:
    """Both chunks, for ``lrnnlab bench tree``."""
    head = f"RegularGPT, training step, {{}}, batch {BATCH}, one thread (ms: median, min, max; times the tree)"
    steps = {f"T={LENGTH} c={chunk}": partial(training_step, chunk) for chunk in CHUNKS}
    return of_forms("tree", head, steps, rounds)
