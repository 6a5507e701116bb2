"""Training on strings of many lengths: one length a batch, which may grow, or pools that are shuffled anew every epoch.

*One length a batch* (paper 002: Chi et al. 2023).  The paper trains on strings of up to 40 symbols (each batch of one
length, uniform in 1..40), with Adam at a constant rate and the gradient clipped to norm 1, and scores on longer ones.
Ours, and off unless asked for: lengths that grow (``growth``, ``gate``, ``stages``), more strings a batch where they are
short (``symbols``), a falling rate, and early stopping (``patience``) on held-out strings of training lengths.  Nothing
here looks at a longer string.

*Pools* (paper 003: Irie, Csordas, Schmidhuber 2023).  As released: Adam with betas (0.9, 0.995), no clipping; the mean
cross-entropy over all labelled positions of a batch, which is padded to its longest string.

Letters: N strings, B batch, T time, C classes.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from lrnnlab.automata import NO_LABEL
from lrnnlab.tasks.base import BaseTask
from lrnnlab.tasks.batch import Batch, answered
from lrnnlab.tasks.draws import draw_seed
from lrnnlab.training.loop import ResumableSource, Trained, early_stopping, train

MANY = 8  # times as many strings at most as at the longest length
SCORED_AT_ONCE = 1 << 15  # tokens
HELD_LENGTHS = 8  # held-out strings have the longest training lengths: with them the tree has all its depths


def train_strings(
    net: nn.Module,
    task: BaseTask,
    *,
    generator: torch.Generator,
    batch_size: int = 128,
    longest: int | None = None,
    growth: int = 0,
    gate: float = 0.0,
    stages: Sequence[int] = (),
    symbols: int = 0,
    clip: float | None = 1.0,
    schedule: str = "constant",
    watch_every: int = 0,
    patience: int = 0,
    sure: float = 1e-3,
    **options: Any,
) -> Trained:
    """Train ``net``, each batch of one length; the other options are those of :func:`lrnnlab.training.train`.

    Lengths are uniform in 1..``longest``, which is reached within ``growth`` steps, or earlier: the limit doubles where
    a batch from the longer half has a loss below ``gate``.  With ``stages`` it rises to the next where the mean loss on
    new lengths is below ``gate``; then a batch has about ``symbols`` symbols, where strings are short.  Training ends
    where ``patience`` evaluations in a row are right on held-out strings, with a loss below ``sure``.
    """
    longest = task.train_length if longest is None else longest
    own = torch.Generator().manual_seed(draw_seed(generator))  # evaluations and dropout change no training string
    watch = partial(_answers, batches=held_out(task, longest, own)) if watch_every else None
    device = next(net.parameters()).device
    source: Curriculum | Stages = Curriculum(task, batch_size, longest, generator, growth, gate, device)
    if stages:
        source = Stages(task, batch_size, tuple(stages), generator, gate, symbols, device)

    def until(made: Trained) -> bool:
        return early_stopping(made, lambda seen: seen["right"] == 1 and -seen["validation"] < sure, patience, source.full)

    until.identity = f"{patience} looks below {sure}"  # type: ignore[attr-defined]
    return train(
        net, source, source.loss, generator=own, clip=clip, schedule=schedule, watch=watch, watch_every=watch_every,
        until=until if patience else None, **options,
    )  # fmt: skip


@dataclass
class Curriculum(ResumableSource):
    """Lengths uniform in 1..``reach``, which grows with the steps, or doubles where the longer half is known."""

    task: BaseTask
    batch_size: int
    longest: int
    generator: torch.Generator
    growth: int = 0
    gate: float = 0.0
    device: torch.device | str = "cpu"
    reach: int = 2
    drawn: int = 0
    full: float = math.inf  # the step from which the longest may come
    KEPT = ("reach", "drawn", "full")

    @property
    def identity(self) -> str:
        return f"{self.batch_size} of {self.task.identity}, lengths up to {self.longest}, growth {self.growth}, gate {self.gate}"

    def __call__(self, _: torch.Generator | None = None) -> Batch:
        self.reach = min(self.longest, max(self.reach, longest_at(self.drawn, self.longest, self.growth)))
        if self.reach == self.longest:
            self.full = min(self.full, self.drawn)
        self.drawn += 1
        return self.task.sample_up_to(self.batch_size, self.reach, self.generator).to(self.device)

    def loss(self, logits: Tensor, strings: Batch) -> Tensor:
        """The mean cross-entropy; if it is below the gate, longer strings may come next."""
        value = strings.loss(logits)
        known = value.item() < self.gate and _tells(strings)
        if known and 2 * strings.tokens.shape[1] > self.reach:
            self.reach *= 2
        return value


@dataclass
class Stages(ResumableSource):
    """Lengths up to ``stages[stage]``, half of the batches new ones; the next stage comes only when this one is known."""

    task: BaseTask
    batch_size: int
    stages: tuple[int, ...]
    generator: torch.Generator
    gate: float
    symbols: int = 0
    device: torch.device | str = "cpu"
    stage: int = 0
    drawn: int = 0
    full: float = math.inf
    mean: float = 0.0
    count: int = 0
    KEPT = ("stage", "drawn", "full", "mean", "count")

    @property
    def identity(self) -> str:
        return f"{self.batch_size} of {self.task.identity}, lengths up to {self.stages}, gate {self.gate}, {self.symbols} symbols"

    @property
    def known(self) -> int:
        """The longest length of the stage before."""
        return self.stages[self.stage - 1] if self.stage else 0

    def __call__(self, _: torch.Generator | None = None) -> Batch:
        if self.stage == len(self.stages) - 1:
            self.full = min(self.full, self.drawn)
        self.drawn += 1
        drawn: dict[str, Any] = {"generator": self.generator, "device": self.generator.device}
        new = bool(torch.rand((), dtype=torch.float32, **drawn) < 0.5)
        length = int(torch.randint(self.known * new + 1, self.stages[self.stage] + 1, (), **drawn))
        strings = max(self.batch_size, min(MANY * self.batch_size, self.symbols // length))
        return self.task.sample_near(strings, max(length, self.task.least_length), self.generator).to(self.device)

    def loss(self, logits: Tensor, strings: Batch) -> Tensor:
        """The mean cross-entropy; if its running mean is below the gate, the next stage comes."""
        value = strings.loss(logits)
        if strings.tokens.shape[1] > self.known and _tells(strings):
            self.mean = 0.9 * self.mean + 0.1 * value.item() if self.count else value.item()
            self.count += 1
        if self.count >= 15 and self.mean < self.gate and self.stage + 1 < len(self.stages):
            self.stage, self.count = self.stage + 1, 0
        return value


def _tells(strings: Batch) -> bool:
    """Whether the answers that are asked for differ."""
    return strings.wanted.unique().numel() > 1


def longest_at(step: int, longest: int, growth: int) -> int:
    """The longest length that is allowed in any case at ``step`` = 0, 1, ...: ``longest`` within ``growth`` steps."""
    return longest if step >= growth else math.ceil(longest * (step + 1) / growth)


def held_out(task: BaseTask, longest: int, generator: torch.Generator, strings: int = 64) -> list[Batch]:
    """Batches of ``strings`` each, of the ``HELD_LENGTHS`` last lengths up to ``longest``."""
    least = max(1, task.least_length)
    lengths = range(max(least, longest - HELD_LENGTHS + 1), max(least, longest) + 1)
    return [task.sample_near(strings, length, generator) for length in lengths]


def _answers(net: nn.Module, step: int, batches: list[Batch]) -> dict:
    """Minus the mean cross-entropy, and the share of right answers."""
    device, loss, right, count = next(net.parameters()).device, 0.0, 0, 0
    for batch in batches:
        batch = batch.to(device)
        logits = net(batch.inputs)
        answers = batch.right(logits)
        loss += batch.loss(logits).item() * len(answers)
        right += int(answers.sum())
        count += len(answers)
    return {"validation": -loss / count, "right": right / count}


# --- pools ------------------------------------------------------------------------------------------------------------


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
