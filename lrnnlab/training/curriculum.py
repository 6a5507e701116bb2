"""Training on strings of many lengths, one length a batch, which may grow (paper 002: Chi et al. 2023).

The paper trains on strings of up to 40 symbols (each batch of one length, uniform in 1..40), with Adam at a constant
rate and the gradient cut to norm 1, and scores on longer ones.  ``train_strings`` does that, for any task that gives
tokens and any model that reads them::

    parity = task("parity")
    net = build("regulargpt", parity, seed=0)
    train_strings(net, parity, steps=600, rate=3e-3, batch=64, growth=300, gate=0.3, generator=stream(0, "train"))
    accuracy_at_lengths(net, parity, range(41, 501), strings=16, generator=stream(0, "test"))

What is not the paper's, and off unless it is asked for: lengths that grow (``growth``, ``gate``, ``stages``), more
strings a batch where they are short (``symbols``), a rate that falls, weight decay, and an end as soon as strings that
were held out are answered with certainty (``patience``).  Those are of training lengths; nothing here looks at a longer
string before the score.

Letters: B batch, T time, C classes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import torch
from torch import Tensor, nn

from lrnnlab.tasks.base import BaseTask, Batch, draw_seed
from lrnnlab.training.loop import Remembered, Trained, settled, train
from lrnnlab.validation import whole_number

MANY = 8  # times as many strings at most as at the longest length
HELD_LENGTHS = 8  # held-out strings have the longest training lengths: with them the tree has all its depths


def train_strings(
    net: nn.Module,
    task: BaseTask,
    *,
    steps: int,
    rate: float,
    generator: torch.Generator,
    batch: int = 128,
    longest: int | None = None,
    growth: int = 0,
    gate: float = 0.0,
    stages: Sequence[int] = (),
    symbols: int = 0,
    warmup: int = 0,
    schedule: str = "constant",
    betas: tuple[float, float] = (0.9, 0.999),
    decay: float = 0.0,
    clip: float | None = 1.0,
    watch_every: int = 0,
    patience: int = 0,
    sure: float = 1e-3,
    checkpoint: Path | None = None,
    progress: bool = True,
) -> Trained:
    """Train ``net`` for at most ``steps`` batches, each of one length, on the device of its parameters.

    Parameters
    ----------
    net, steps, rate, generator, batch, checkpoint, progress
        As in :func:`lrnnlab.training.loop.train`.
    task : BaseTask
        What is learned; it gives tokens.
    longest : int, optional
        The longest strings; the task's training length if absent.
    growth : int
        The batches in which the lengths grow evenly, see :class:`Curriculum`.
    gate : float
        The loss, in nats, below which the lengths double, see :class:`Curriculum`, or the next stage comes.
    stages : sequence of int
        The longest lengths, one after the other, see :class:`Stages`; if there are any, nothing is forced by ``growth``.
    symbols : int
        With stages: a batch of short strings has so many symbols, but no more than ``MANY`` times ``batch`` strings.
    warmup, schedule, betas, decay, clip
        As in :func:`lrnnlab.training.loop.train`.
    watch_every : int
        How often held-out strings of the 8 longest lengths are answered; 0 for never.  ``watched`` then has
        ``validation``, minus their cross-entropy, which decides what is ``best``, and ``right``, the share of right
        answers.
    patience : int
        Training ends after so many looks in a row, since all lengths are drawn, that find every answer right and a
        cross-entropy below ``sure``; 0: never before ``steps``.
    sure : float
        In nats.

    Returns
    -------
    Trained
        What was trained, and what was seen on the way.

    Raises
    ------
    ValueError
        For a task that gives no tokens, a batch below 1, lengths that it has not, numbers that make no schedule, or a
        stage before the last that could never be known: no string of its own lengths has another answer than the rest.

    Examples
    --------
    >>> from lrnnlab.models import build
    >>> from lrnnlab.tasks.string_tasks import EvenPairs
    >>> task = EvenPairs()
    >>> net = build("relu_rnn", task, seed=0, width=64)
    >>> made = train_strings(net, task, steps=60, rate=1e-2, longest=4, batch=32, watch_every=20, progress=False,
    ...                      generator=torch.Generator().manual_seed(0))
    >>> made.steps, [seen["step"] for seen in made.watched], made.watched[-1]["right"]
    (60, [0, 20, 40, 60], 1.0)
    """
    longest = _checked(task, longest, growth, patience, watch_every, stages)
    own = torch.Generator().manual_seed(draw_seed(generator))  # looks and dropout change no training string
    watch = partial(_answers, batches=held_out(task, longest, own)) if watch_every else None
    device = next(net.parameters()).device
    course: Curriculum | Stages = Curriculum(task, batch, longest, generator, growth, gate, device)
    if stages:
        course = Stages(task, batch, tuple(stages), generator, gate, symbols, device)

    def until(made: Trained) -> bool:
        return settled(made, lambda seen: seen["right"] == 1 and -seen["validation"] < sure, patience, course.full)

    until.identity = f"{patience} looks below {sure}"  # type: ignore[attr-defined]
    return train(
        net, course, course.loss, steps=steps, rate=rate, generator=own, decay=decay,
        betas=betas, clip=clip, warmup=warmup, schedule=schedule, watch=watch, watch_every=watch_every,
        until=until if patience else None, checkpoint=checkpoint, progress=progress,
    )  # fmt: skip


@dataclass
class Curriculum(Remembered):
    """Batches of strings of one length, uniform in 1..``reach``; ``reach`` grows to ``longest`` in two ways.

    It grows evenly: it is at least ``longest`` times the part of the first ``growth`` batches that were drawn.  And it
    doubles whenever the net has learned the present lengths: after a batch longer than half of ``reach`` whose loss is
    below ``gate`` nats, if the answers of that batch are not all the same.  So a tree of chunks of 2 learns depth by
    depth.

    Parameters
    ----------
    task : BaseTask
        What the strings are of.
    batch : int
        Strings a batch.
    longest : int
        The greatest reach.
    generator : torch.Generator
        Of lengths and strings.
    growth : int
        The batches in which the reach grows evenly to ``longest``; 0: it is ``longest`` from the start.
    gate : float
        The loss, in nats, below which the reach doubles; 0: it never does.
    device : torch.device or str
        Where the batches go.
    reach : int
        The longest length drawn at present, 2 at first.
    drawn : int
        How many batches were drawn.
    full : float
        How many were drawn before the first of full reach.

    Examples
    --------
    >>> from lrnnlab.tasks.string_tasks import Parity
    >>> course = Curriculum(Parity(), 8, 40, torch.Generator().manual_seed(0), growth=4)
    >>> [(course().inputs.shape[1], course.reach) for _ in range(5)], course.full
    ([(5, 10), (20, 20), (19, 30), (37, 40), (5, 40)], 3)
    """

    task: BaseTask
    batch: int
    longest: int
    generator: torch.Generator
    growth: int = 0
    gate: float = 0.0
    device: torch.device | str = "cpu"
    reach: int = 2
    drawn: int = 0
    full: float = math.inf
    KEPT = ("reach", "drawn", "full")

    @property
    def identity(self) -> str:
        """What is trained on, and how."""
        return f"{self.batch} of {self.task.identity}, lengths up to {self.longest}, growth {self.growth}, gate {self.gate}"

    def __call__(self, _: torch.Generator | None = None) -> Batch:
        """The next batch, from the course's own generator."""
        self.reach = min(self.longest, max(self.reach, longest_at(self.drawn, self.longest, self.growth)))
        if self.reach == self.longest:
            self.full = min(self.full, self.drawn)
        self.drawn += 1
        return self.task.sample_up_to(self.batch, self.reach, self.generator).to(self.device)

    def loss(self, logits: Tensor, strings: Batch) -> Tensor:
        """The mean cross-entropy; if it is below the gate, longer strings may come next."""
        value = strings.loss(logits)
        known = value.item() < self.gate and _tells(strings)
        if known and 2 * strings.tokens.shape[1] > self.reach:
            self.reach *= 2
        return value


@dataclass
class Stages(Remembered):
    """Batches of strings of one length up to ``stages[stage]``; the next stage comes only when this one is known.

    Half of the batches have a length that this stage brought, the others any length up to its own.  A stage is known
    when the running mean of the loss of batches of its own lengths is below ``gate`` nats (a tenth of each new loss; 15
    batches at least; those whose answers are all the same do not count).

    Parameters
    ----------
    task : BaseTask
        What the strings are of.
    batch : int
        Strings a batch, at least.
    stages : tuple of int
        The longest length of each stage, rising.
    gate : float
        The loss, in nats.
    symbols : int
        Batches of short strings have so many symbols, or ``MANY`` times ``batch`` strings if that is less.
    generator, device
        As in :class:`Curriculum`.
    stage, drawn, full, mean, count
        The stage; how many batches were drawn, and how many before the first of the last stage; the running mean, and
        of how many batches.

    Examples
    --------
    >>> from lrnnlab.tasks.string_tasks import Parity
    >>> course = Stages(Parity(), 8, (2, 6), torch.Generator().manual_seed(0), gate=0.1, symbols=32)
    >>> [tuple(course().inputs.shape) for _ in range(4)]
    [(16, 2), (32, 1), (32, 1), (32, 1)]
    >>> course.stage = 1
    >>> [tuple(course().inputs.shape) for _ in range(4)]
    [(16, 2), (8, 6), (10, 3), (8, 6)]
    """

    task: BaseTask
    batch: int
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
        """What is trained on, and how."""
        return f"{self.batch} of {self.task.identity}, lengths up to {self.stages}, gate {self.gate}, {self.symbols} symbols"

    @property
    def known(self) -> int:
        """The longest length of the stage before."""
        return self.stages[self.stage - 1] if self.stage else 0

    def __call__(self, _: torch.Generator | None = None) -> Batch:
        """The next batch, from the course's own generator."""
        if self.stage == len(self.stages) - 1:
            self.full = min(self.full, self.drawn)
        self.drawn += 1
        new = bool(torch.rand((), generator=self.generator) < 0.5)
        length = int(torch.randint(self.known * new + 1, self.stages[self.stage] + 1, (), generator=self.generator))
        strings = max(self.batch, min(MANY * self.batch, self.symbols // length))
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
    """Are the answers that are asked for not all the same?"""
    asked = strings.targets if strings.targets.ndim == 1 else strings.targets[strings.mask]
    return asked.unique().numel() > 1


def longest_at(step: int, longest: int, growth: int) -> int:
    """The longest length that is allowed in any case at ``step`` = 0, 1, ...: ``longest`` within ``growth`` steps.

    >>> [longest_at(step, 40, 4) for step in range(6)], longest_at(0, 40, 0)
    ([10, 20, 30, 40, 40, 40], 40)
    """
    return longest if step >= growth else math.ceil(longest * (step + 1) / growth)


def held_out(task: BaseTask, longest: int, generator: torch.Generator, strings: int = 64) -> list[Batch]:
    """Batches of ``strings`` each, of the ``HELD_LENGTHS`` last lengths up to ``longest``.

    >>> from lrnnlab.tasks.string_tasks import Parity
    >>> [tuple(batch.tokens.shape) for batch in held_out(Parity(), 3, torch.Generator().manual_seed(0))]
    [(64, 1), (64, 2), (64, 3)]
    """
    least = max(1, task.least_length)
    lengths = range(max(least, longest - HELD_LENGTHS + 1), max(least, longest) + 1)
    return [task.sample_near(strings, length, generator) for length in lengths]


def _answers(net: nn.Module, step: int, batches: list[Batch]) -> dict:
    """What is watched: minus the mean cross-entropy, and the share of right answers."""
    device, loss, right, count = next(net.parameters()).device, 0.0, 0, 0
    for batch in batches:
        batch = batch.to(device)
        logits = net(batch.inputs)
        answers = batch.right(logits)
        loss += batch.loss(logits).item() * len(answers)
        right += int(answers.sum())
        count += len(answers)
    return {"validation": -loss / count, "right": right / count}


def _checked(
    task: BaseTask, longest: int | None, growth: int, patience: int, watch_every: int, stages: Sequence[int]
) -> int:
    """The longest training length, or a ValueError for what cannot be trained on."""
    if not isinstance(task, BaseTask) or task.reads != "tokens":
        raise ValueError(f"train_strings wants a task that gives tokens, got {task!r}")
    if growth < 0 or patience < 0 or (patience and not watch_every):
        raise ValueError("growth and patience are at least 0, and patience needs watch_every, "
                         f"got growth={growth}, patience={patience}, watch_every={watch_every}")  # fmt: skip
    longest = whole_number(task.train_length if longest is None else longest, 1, f"{task}: the longest length")
    if stages and (list(stages) != sorted({*stages}) or stages[0] < 1 or stages[-1] != longest):
        raise ValueError(f"stages rise from 1 or more to the longest length, {longest}, got stages={list(stages)}")
    for known, stage in zip((0, *stages), stages[:-1]):
        if not _can_be_known(task, known, stage):
            raise ValueError(f"{task}: strings of {known + 1} to {stage} symbols do not have two answers, so that this stage "
                             f"would never be known, got stages={list(stages)}")  # fmt: skip
    return longest


def _can_be_known(task: BaseTask, known: int, stage: int) -> bool:
    """Do 64 strings of one of a stage's own lengths, which the task may have none of, have more than one answer?"""
    draw = torch.Generator().manual_seed(0)
    drawn = (task.sample_near(64, max(length, task.least_length), draw) for length in range(stage, known, -1))
    return any(strings.tokens.shape[1] > known and _tells(strings) for strings in drawn)
