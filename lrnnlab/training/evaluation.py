"""How often a model is right: at lengths it never saw, at every position, on strings it never saw.

Letters: B batch, T time, C classes.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from torch import Tensor

from lrnnlab.models import Net
from lrnnlab.tasks import BaseTask, StringTask, Task
from lrnnlab.errors import whole_number
from lrnnlab.tasks.string_base import refuse
from lrnnlab.training.steady import steady_arithmetic, stream

NUMBERS = 1 << 24  # at most so many state entries are held at a time
PAIRS = 1 << 22  # at most so many pairs of positions are scored at a time: what a Transformer's memory grows with


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


@torch.no_grad()
def evaluate(
    model: Net,
    task: Task,
    *,
    seed: int,
    length: int | None = None,
    strings: int = 1024,
    purpose: str = "test",
) -> Evaluation:
    """Accuracy on fresh strings; ``length`` is the task's test length if absent.

    The strings come from the stream (seed, purpose): another purpose means other strings, so that what is used to
    choose is never what is used to judge.

    >>> from lrnnlab.models import exact_model
    >>> from lrnnlab.tasks import Sum
    >>> task = Sum(3)
    >>> evaluate(exact_model(task.machine, 3), task, seed=0, length=200, strings=8).accuracy_all
    1.0
    """
    refuse(task)
    length = task.check_length(task.test_length if length is None else length)
    if strings < 1:
        raise ValueError(f"an evaluation needs at least one string, got strings={strings}")
    generator = stream(seed, purpose)
    at_once = max(1, min(strings, 256, NUMBERS // (length * model.width)))
    right, done = torch.zeros(length, dtype=torch.float64), 0
    labelled = task.mask(length)
    with _at_rest(model), steady_arithmetic():
        while done < strings:
            batch = task.sample(min(at_once, strings - done), length, generator)
            right += (model(batch.tokens).argmax(-1) == batch.targets).sum(0)
            done += len(batch.tokens)
    per_position = torch.where(labelled, right / strings, torch.nan)
    return Evaluation(length, strings, task.train_length, per_position)


@contextmanager
def _at_rest(model: Net) -> Iterator[None]:
    """The model in evaluation mode, and afterwards in the mode it was in."""
    was_training = model.training
    model.eval()
    try:
        yield
    finally:
        model.train(was_training)


@torch.no_grad()
@steady_arithmetic()
def accuracy_at_lengths(
    net: torch.nn.Module, task: BaseTask, lengths: Iterable[int], *, strings: int, generator: torch.Generator
) -> dict[int, float]:
    """{length: share of right answers} on ``strings`` fresh strings of every length, where the task asks for an answer.

    On one thread, the net in evaluation mode, and then all is again as it was.  ``levels`` says what a guesser gets.
    ``ValueError`` without lengths, for fewer than one string, or a length that the task has not.

    >>> from functools import partial
    >>> from lrnnlab.tasks.string_tasks import Parity
    >>> ask = partial(accuracy_at_lengths, task=Parity(), strings=512, generator=torch.Generator().manual_seed(0))
    >>> class CountsOnes(torch.nn.Module):
    ...     def forward(self, tokens):
    ...         return torch.nn.functional.one_hot(tokens.sum(1).clamp(max=21) % 2, 2)
    >>> {length: round(share, 1) for length, share in ask(CountsOnes(), lengths=[20, 400]).items()}
    {20: 1.0, 400: 0.5}
    """
    lengths, strings = list(lengths), whole_number(strings, 1, "strings at every length")
    if not lengths:
        raise ValueError(f"accuracy is asked for at no length: lengths={lengths}")
    device = next((parameter.device for parameter in net.parameters()), torch.device("cpu"))
    found = {}
    with _at_rest(net):
        for length in lengths:
            batch = task.sample_near(strings, length, generator).to(device)
            parts = batch.inputs.split(max(1, PAIRS // batch.inputs.shape[1] ** 2))
            found[length] = float(batch.right(torch.cat([net(part) for part in parts])).double().mean())
    return found


def levels(task: StringTask, lengths: Iterable[int]) -> dict[str, float]:
    """What is right without reading: ``chance``, 1/C, and ``majority``, the commonest label of each length, averaged.

    >>> from lrnnlab.tasks.recognition import tomita
    >>> levels(tomita(5), range(51, 101))
    {'chance': 0.5, 'majority': 0.75}
    """
    return {"chance": task.chance, "majority": task.average_majority(lengths)}


def summary(values: Sequence[float]) -> dict[str, float]:
    """Mean, least and greatest of some seeds' results; what a table cell shows.

    >>> summary([1.0, 0.5])
    {'mean': 0.75, 'min': 0.5, 'max': 1.0, 'runs': 2}
    """
    values = [float(v) for v in values]
    if not values:
        raise ValueError("there is nothing to summarise: no run")
    return {"mean": statistics.fmean(values), "min": min(values), "max": max(values), "runs": len(values)}
