"""Training on pools of strings of many lengths, shuffled anew every epoch (paper 003: Irie, Csordas, Schmidhuber 2023).

As released: Adam with betas (0.9, 0.995), no clipping; the mean cross-entropy over all labelled positions of a batch,
which is padded to its longest string.

Letters: N strings, B batch, T time, C classes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from lrnnlab.automata import NO_LABEL
from lrnnlab.tasks import Batch
from lrnnlab.tasks.batch import answered
from lrnnlab.training.loop import ResumableSource, Trained, early_stopping, train

SCORED_AT_ONCE = 1 << 15  # tokens


def take(strings: Batch, which: Tensor) -> Batch:
    """The strings of an index (B,), cut behind the last label that any of them has."""
    longest = int(strings.mask[which].any(0).nonzero().max()) + 1
    return Batch(*(part[which, :longest] for part in (strings.tokens, strings.targets, strings.mask)))


class Pools(ResumableSource):
    """Endless batches of ``size`` strings, from ``stages``, pairs of (steps, strings), one after the other."""

    KEPT = ("drawn", "order")

    def __init__(self, stages: Sequence[tuple[int, Batch]], size: int, generator: torch.Generator):
        self.stages, self.size, self.generator = list(stages), size, generator
        self.drawn, self.order = 0, torch.empty(0, dtype=torch.int64, device="cpu")  # what is left of the epoch

    @property
    def identity(self) -> str:
        digest = hashlib.sha256()
        for _, pool in self.stages:
            for part in (pool.tokens, pool.targets):
                digest.update(part.numpy().tobytes())
        return repr((self.size, [(steps, len(pool)) for steps, pool in self.stages], digest.hexdigest()))

    def __call__(self, _: torch.Generator | None = None) -> Batch:
        begun, stage = 0, self.stages[-1]
        for steps, pool in self.stages:
            if self.drawn < begun + steps:
                stage = (steps, pool)
                break
            begun += steps
        if self.drawn == begun or not len(self.order):
            self.order = torch.randperm(len(stage[1]), generator=self.generator, device="cpu")
        now, self.order = self.order[: self.size], self.order[self.size :]
        self.drawn += 1
        return take(stage[1], now)


@torch.no_grad()
def answers(net: nn.Module, strings: Batch) -> tuple[Tensor, float]:
    """The classes (N,T) that ``net`` answers with, and its mean cross-entropy over the labelled positions, in nats."""
    found, loss = torch.full_like(strings.targets, NO_LABEL), 0.0
    for index in torch.arange(len(strings.tokens), device="cpu").split(max(1, SCORED_AT_ONCE // strings.tokens.shape[1])):
        part = take(strings, index)
        logits = net(part.tokens)
        found[index, : part.tokens.shape[1]] = answered(logits)
        loss += _cross_entropy(logits, part, "sum").item()
    return found, loss / int(strings.mask.sum())


def _cross_entropy(logits: Tensor, strings: Batch, reduction: str = "mean") -> Tensor:
    return F.cross_entropy(logits.flatten(0, 1), strings.targets.flatten(), ignore_index=NO_LABEL, reduction=reduction)


def train_pools(
    net: nn.Module,
    pools: Sequence[tuple[int, Batch]],
    *,
    batch_size: int,
    generator: torch.Generator,
    stop: str = "held_out",
    patience: int = 1,
    sure: float = 1e-2,
    schedule: str = "constant",
    **options: Any,
) -> Trained:
    """Train ``net`` on ``pools``, pairs of (steps, strings), one after the other; more ``options`` as in ``train``.

    In the last pool it ends where ``patience`` evaluations in a row have ``stop`` ("held_out" or "test") equal to 1, the
    held-out strings with a loss below ``sure``; ``stop="steps"`` takes every step.
    """
    dropout = generator.clone_state()  # what dropout draws must not change the batches
    total, last = sum(steps for steps, _ in pools), pools[-1][0]

    def right(look: dict) -> bool:
        return stop != "steps" and look[stop] == 1 and (stop == "test" or -look["validation"] < sure)

    return train(
        net, Pools(pools, batch_size, generator), _cross_entropy, steps=total, betas=(0.9, 0.995), eps=1e-9,
        generator=dropout, schedule=schedule,
        until=lambda made: early_stopping(made, right, patience, since=total - last), **options,
    )  # fmt: skip
