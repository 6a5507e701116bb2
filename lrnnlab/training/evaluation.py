"""How often a model is right: at lengths it never saw, at every position, on strings it never saw.

Letters: B batch, T time, C classes.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from lrnnlab.models.base import RecurrentNet, as_module
from lrnnlab.tasks import BaseTask, Batch
from lrnnlab.tasks.batch import answered
from lrnnlab.tasks.numbers.continuous import r_squared
from lrnnlab.training.engine import deterministic, rng
from lrnnlab.validation import checked, whole_number

DRAWN = 256  # strings at a time
NUMBERS = 1 << 24  # at most so many state entries are held at a time
PAIRS = 1 << 22  # at most so many pairs of positions are scored at a time: what a Transformer's memory grows with


@dataclass(frozen=True)
class Evaluation:
    """How well a model does on ``strings`` fresh inputs of ``length``, by what its task asks for.

    ``per_position`` (T,) is the share of strings answered rightly after each token, NaN where no answer is asked for;
    ``accuracy_last`` its last labelled entry; ``accuracy_all`` its mean over the labelled positions after ``beyond``
    (the training length), and ``accuracy_seen`` over those up to it; NaN where there are none.  ``whole`` is the share
    of strings with no answer wrong.  Of a task that asks for numbers there is ``r2`` alone, and ``per_position`` is empty;
    of the others ``r2`` is NaN.
    """

    length: int
    strings: int
    beyond: int
    per_position: Tensor
    whole: float = math.nan
    r2: float = math.nan

    @property
    def accuracy_last(self) -> float:
        labelled = self.per_position[~self.per_position.isnan()]
        return float(labelled[-1]) if len(labelled) else math.nan

    @property
    def accuracy_all(self) -> float:
        return float(self.per_position[self.beyond :].nanmean())

    @property
    def accuracy_seen(self) -> float:
        return float(self.per_position[: self.beyond].nanmean())

    def metrics(self) -> dict[str, float]:
        """The numbers by name: R2, or the three accuracies."""
        names = ("accuracy_last", "accuracy_all", "accuracy_seen") if len(self.per_position) else ("r2",)
        return {name: getattr(self, name) for name in names}


@checked
@torch.no_grad()
def evaluate(
    model: nn.Module | RecurrentNet,
    task: BaseTask,
    *,
    seed: int = 0,
    length: int | None = None,
    strings: int = 1024,
    purpose: str = "test",
) -> Evaluation:
    """Score a model on fresh inputs of a task.

    Parameters
    ----------
    model : Module or RecurrentNet
        Reads what the task gives, tokens (B, T) or numbers (B, T, d); or, without ``forward``, token by token
        (:class:`lrnnlab.models.RecurrentNet`).  An answer that is NaN is wrong.
    task : BaseTask
        Where inputs and answers come from.
    seed : int
        With ``purpose``, seed of the inputs.
    length : int, optional
        Of the inputs; the task's test length if absent.
    strings : int
        How many inputs.
    purpose : str
        Another purpose means other strings, so that what is used to choose is never what is used to judge.

    Returns
    -------
    Evaluation
        Accuracy by position, its means, or R2.

    Raises
    ------
    ValueError
        For a model with other symbols or classes than the task's, or that does not answer where the task asks; for no
        string, or a length that is none.
    TypeError
        For what neither reads strings nor has ``initial_state`` and ``step``.

    Examples
    --------
    >>> from lrnnlab.models import exact_model
    >>> from lrnnlab.tasks import Sum
    >>> task = Sum(3)
    >>> evaluate(exact_model(task.machine), task, seed=0, length=200, strings=8).accuracy_all
    1.0
    """
    model = as_module(model, "evaluate")
    length = task.near(task.test_length) if length is None else task.check_length(length)
    strings = whole_number(strings, 1, "strings")
    if task.reads == "tokens" and getattr(model, "vocab_size", task.input_size) != task.input_size:
        raise ValueError(f"the model reads {model.vocab_size} symbols, {task} has {task.input_size}")
    generator, done = rng(seed, purpose), 0
    width = getattr(model, "width", 0)
    rows = max(1, NUMBERS // (length * width) if width else PAIRS // length**2)
    right, asked, whole, numbers = *torch.zeros(2, length, dtype=torch.int64, device="cpu"), 0, []
    with at_rest(model), deterministic():
        while done < strings:
            batch = task.sample(min(DRAWN, strings - done), length, generator)  # the same strings for all models
            done += len(batch)
            outputs = torch.cat([model(part) for part in batch.beside(model).inputs.split(rows)]).to(batch.targets.device)
            if batch.targets.is_floating_point():
                numbers.append(batch.asked(outputs))
                continue
            answers, wanted, mask = _by_position(batch, outputs, task.output_size)
            good = (answers == wanted) & mask
            right[-mask.shape[1] :] += good.sum(0)
            asked[-mask.shape[1] :] += mask.sum(0)
            whole += int((good | ~mask).all(1).sum())
    if numbers:
        r2 = r_squared(*(torch.cat(part) for part in zip(*numbers)))
        return Evaluation(length, strings, task.train_length, torch.empty(0, device="cpu"), r2=r2)
    return Evaluation(length, strings, task.train_length, right.double() / asked.double(), whole / strings)


def _by_position(batch: Batch, outputs: Tensor, classes: int) -> tuple[Tensor, Tensor, Tensor]:
    """Answers, targets and mask, (B,T) or, of a model or task with one answer a string, (B,1)."""
    if outputs.ndim == 2 or batch.targets.ndim == 1:
        given, wanted = batch.asked(outputs)
        return answered(given, classes)[:, None], wanted[:, None], torch.ones_like(wanted, dtype=torch.bool)[:, None]
    return answered(outputs, classes), batch.targets, batch.mask


@contextmanager
def at_rest(model: nn.Module | RecurrentNet) -> Iterator[None]:
    """The model in evaluation mode, and afterwards each of its parts in the mode it was in."""
    modes = {}
    if isinstance(model, nn.Module):
        modes = {part: part.training for part in model.modules()}
        model.eval()
    try:
        yield
    finally:
        for part, mode in modes.items():
            part.training = mode


@checked
@torch.no_grad()
@deterministic()
def accuracy_at_lengths(
    net: nn.Module, task: BaseTask, lengths: Iterable, *, strings: int, generator: torch.Generator
) -> dict[int, float]:
    """{length: share of right answers} on ``strings`` fresh strings of every length, where the task asks for an answer.
    """
    found = {}
    with at_rest(net):
        for length in lengths:
            batch = task.sample_near(strings, length, generator).beside(net)
            parts = batch.inputs.split(max(1, PAIRS // batch.inputs.shape[1] ** 2))
            found[length] = float(batch.right(torch.cat([net(part) for part in parts])).double().mean())
    return found


@torch.no_grad()
def share_right(net: nn.Module, batches: Iterable[tuple]) -> float:
    """The share of right answers over ``batches`` of ``(*inputs, targets)``: the largest output answers, NaN does not."""
    right = count = 0
    for *inputs, targets in batches:
        right += int((answered(net(*inputs)) == targets).sum())
        count += targets.numel()
    if not count:
        raise ValueError("a share of right answers needs answers, got 0 targets")
    return right / count
