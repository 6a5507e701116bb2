"""How often a model is right: at lengths it never saw, at every position, on strings it never saw.

Letters: B batch, T time, C classes.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from lrnnlab.errors import checked, shown, whole_number
from lrnnlab.tasks import Task
from lrnnlab.tasks.base import answered
from lrnnlab.tasks.string_base import refuse
from lrnnlab.training import steady_arithmetic, stream

NUMBERS = 1 << 24  # at most so many state entries are held at a time


@dataclass(frozen=True)
class Evaluation:
    """Accuracy of a model on ``strings`` fresh strings of ``length`` tokens.

    ``per_position`` (T,) is the share of strings answered rightly after each token, NaN where no answer is asked for;
    ``accuracy_last`` its last labelled entry; ``accuracy_all`` its mean over the labelled positions after ``beyond``
    (the training length), and ``accuracy_seen`` over those up to it; NaN where there are none.
    """

    length: int
    strings: int
    beyond: int
    per_position: Tensor

    @property
    def accuracy_last(self) -> float:
        labelled = self.per_position[~self.per_position.isnan()]
        return float(labelled[-1])

    @property
    def accuracy_all(self) -> float:
        return float(self.per_position[self.beyond :].nanmean())

    @property
    def accuracy_seen(self) -> float:
        return float(self.per_position[: self.beyond].nanmean())

    def metrics(self) -> dict[str, float]:
        """The three numbers by name."""
        return {name: getattr(self, name) for name in ("accuracy_last", "accuracy_all", "accuracy_seen")}


@checked
@torch.no_grad()
def evaluate(
    model: nn.Module,
    task: Task,
    *,
    seed: int,
    length: int | None = None,
    strings: int = 1024,
    purpose: str = "test",
) -> Evaluation:
    """Accuracy of ``model(tokens (B,T)) -> logits (B,T,C)`` on fresh strings; ``length`` is the test length if absent.

    The strings come from the stream (seed, purpose): another purpose means other strings, so that what is used to
    choose is never what is used to judge.  An answer that is NaN is wrong.  ``ValueError`` for a task with
    one answer a string, a model with other symbols or classes than the task's, no string, or a length that is none.

    >>> from lrnnlab.models import exact_model
    >>> from lrnnlab.tasks import Sum
    >>> task = Sum(3)
    >>> evaluate(exact_model(task.machine, 3), task, seed=0, length=200, strings=8).accuracy_all
    1.0
    """
    refuse(task)
    length = task.check_length(task.test_length if length is None else length)
    strings = whole_number(strings, 1, "strings")
    if getattr(model, "vocab_size", task.vocab_size) != task.vocab_size:
        raise ValueError(f"the model reads {model.vocab_size} symbols, {task} has {task.vocab_size}")
    generator = stream(seed, purpose)
    at_once = max(1, min(strings, 256, NUMBERS // (length * getattr(model, "width", 1))))
    right, done = torch.zeros(length, dtype=torch.float64), 0
    labelled = task.mask(length)
    with _at_rest(model), steady_arithmetic():
        while done < strings:
            batch = task.sample(min(at_once, strings - done), length, generator)
            right += (answered(model(batch.tokens), task.classes) == batch.targets).sum(0)
            done += len(batch.tokens)
    per_position = torch.where(labelled, right / strings, torch.nan)
    return Evaluation(length, strings, task.train_length, per_position)


@contextmanager
def _at_rest(model: nn.Module) -> Iterator[None]:
    """The model in evaluation mode, and afterwards in the mode it was in."""
    was_training = model.training
    model.eval()
    try:
        yield
    finally:
        model.train(was_training)


@checked
def summary(values: Iterable[float]) -> dict[str, float]:
    """Mean, least and greatest of some seeds' results; what a table cell shows.

    >>> summary([1.0, 0.5])
    {'mean': 0.75, 'min': 0.5, 'max': 1.0, 'runs': 2}
    """
    try:
        values = [float(v) for v in values]
    except (TypeError, ValueError, RuntimeError) as error:
        raise TypeError(f"values must be numbers, got {shown(values)}") from error
    if not values:
        raise ValueError(f"there is nothing to summarise: values={values}, no run")
    return {"mean": statistics.fmean(values), "min": min(values), "max": max(values), "runs": len(values)}
