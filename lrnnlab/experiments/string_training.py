"""Training and scoring nets that answer once a string (paper 002: Chi, Fan, Rudnicky, Ramadge 2023, Tables 1 and 2).

The paper trains on strings of up to 40 symbols (each batch of one length, uniform in 1..40), with Adam at a constant
rate and the gradient cut to norm 1, and scores on longer ones.  ``train_strings`` does that, ``accuracy_at_lengths``
scores, ``make_network`` builds the four nets of Table 1; together::

    task = Parity()
    net = make_network("regulargpt_c2", task, seed=0)
    train_strings(net, task, steps=600, rate=3e-3, batch=64, growth=300, gate=0.3, generator=stream(0, "train"))
    accuracy_at_lengths(net, task, range(41, 501), strings=16, generator=stream(0, "test"))

A net may be any module with ``net(tokens (B,T))`` -> logits (B,C), or (B,T,C) of which the last position is asked.

What is not the paper's, and off unless it is asked for: lengths that grow (``growth``, ``gate``), a rate that falls,
weight decay, and an end as soon as strings that were held out are answered with certainty (``patience``).  Those are
of training lengths; nothing here looks at a longer string before the score.

The loop is ``sequence_training.train_sequences``; here are its batches (``Curriculum``), its looks and its end.

Letters: B batch, T time, C classes, D width, h heads.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from lrnnlab.errors import whole_number
from lrnnlab.experiments.measuring import grid
from lrnnlab.experiments.sequence_training import Trained, settled, train_sequences, with_seed
from lrnnlab.models.regular_gpt import RegularGPT
from lrnnlab.models.relative_transformer import RelativeTransformer
from lrnnlab.models.relu_rnn import ReluRNN
from lrnnlab.steady import steady_arithmetic
from lrnnlab.tasks.base import Batch, answered
from lrnnlab.tasks.seeds import draw_seed
from lrnnlab.tasks.string_base import StringTask

NETWORKS: dict[str, Callable[..., nn.Module]] = {
    "rnn": ReluRNN,
    "transformer": RelativeTransformer,
    "regulargpt_c2": partial(RegularGPT, chunk=2),
    "regulargpt_c3": partial(RegularGPT, chunk=3),
}
_TREE = {"small": {"width": 64, "heads": 8}, "paper": {"width": 256, "heads": 8}}
SIZES = {  # row: size: options
    "rnn": {"small": {"width": 64}, "paper": {"width": 256}},
    "transformer": {"small": {"width": 32, "heads": 4, "layers": 2}, "paper": {"width": 256, "heads": 8, "layers": 5}},
    "regulargpt_c2": _TREE,
    "regulargpt_c3": _TREE,
}
HELD_LENGTHS = 8  # held-out strings have the longest training lengths: with them the tree has all its depths
PAIRS = 1 << 22  # at most so many pairs of positions are scored at a time: what a Transformer's memory grows with


def make_network(row: str, task: StringTask, size: str = "small", *, seed: int, **options) -> nn.Module:
    """An untrained net of Table 1 with the weights of ``seed``; torch's own generator is left as it was.

    Parameters
    ----------
    row : ``rnn``, ``transformer`` (Transformer-XL positions), ``regulargpt_c2``, ``regulargpt_c3``.
    size : ``small`` or ``paper``; see ``SIZES``.  ``options`` overrule it.

    ValueError for a row or a size that is not there.  The paper says "4.3 M" parameters (Table 4); that is its
    Transformer alone:

    >>> from lrnnlab.tasks.string_tasks import Parity
    >>> [sum(p.numel() for p in make_network(row, Parity(), "paper", seed=0).parameters()) for row in NETWORKS]
    [67330, 4275202, 790290, 790298]
    """
    grid([row], tuple(NETWORKS), "row", "make_network")
    grid([size], tuple(SIZES[row]), "size", "make_network")
    return with_seed(partial(NETWORKS[row], task.vocab_size, task.classes, **{**SIZES[row][size], **options}), seed)


def train_strings(
    net: nn.Module,
    task: StringTask,
    *,
    steps: int,
    rate: float,
    generator: torch.Generator,
    batch: int = 128,
    longest: int | None = None,
    growth: int = 0,
    gate: float = 0.0,
    warmup: int = 0,
    schedule: str = "constant",
    decay: float = 0.0,
    clip: float | None = 1.0,
    watch_every: int = 0,
    patience: int = 0,
    sure: float = 1e-3,
    progress: bool = True,
) -> Trained:
    """Train ``net`` for at most ``steps`` batches, each of one length, on the device of its parameters.

    Parameters
    ----------
    rate, warmup, schedule, decay, clip : as in ``sequence_training.train_sequences``.
    longest, growth, gate : lengths, see :class:`Curriculum`; ``longest`` is the task's training length if absent.
    watch_every : how often held-out strings of the 8 longest lengths are answered; 0 for never.  ``watched`` then has
        ``validation``, minus their cross-entropy, which decides what is ``best``, and ``right``, the share of right
        answers.
    patience, sure : training ends after so many looks in a row, since all lengths are drawn, that find every answer
        right and a cross-entropy below ``sure`` nats (0: never before ``steps``).

    All randomness comes from ``generator``.  ``ValueError`` for a task with an answer at every position, a batch below
    1, lengths that it has not, or numbers that make no schedule.

    >>> from lrnnlab.tasks.string_tasks import EvenPairs
    >>> task = EvenPairs()
    >>> net = make_network("rnn", task, seed=0)
    >>> made = train_strings(net, task, steps=60, rate=1e-2, longest=4, batch=32, watch_every=20, progress=False,
    ...                      generator=torch.Generator().manual_seed(0))
    >>> made.steps, [seen["step"] for seen in made.watched], made.watched[-1]["right"]
    (60, [0, 20, 40, 60], 1.0)
    """
    longest = _checked(task, longest, growth, patience, watch_every)
    own = torch.Generator().manual_seed(draw_seed(generator))  # looks and dropout change no training string
    watch = partial(_answers, batches=held_out(task, longest, own)) if watch_every else None
    course = Curriculum(task, batch, longest, growth, gate, next(net.parameters()).device)

    def until(made: Trained) -> bool:
        return settled(made, lambda seen: seen["right"] == 1 and -seen["validation"] < sure, patience, course.full)

    return train_sequences(
        net, lambda _: course.draw(generator), course.loss, steps=steps, rate=rate, generator=own, decay=decay,
        clip=clip, warmup=warmup, schedule=schedule, watch=watch, watch_every=watch_every,
        until=until if patience else None, progress=progress,
    )  # fmt: skip


@dataclass
class Curriculum:
    """Batches of strings of one length, uniform in 1..``reach``, which grows to ``longest`` in two ways.

    It grows evenly, within ``growth`` batches (0: it is ``longest`` from the start).  And it doubles, from 2 on, after
    every batch of its longer half whose loss is below ``gate`` nats, if that has two classes or more; so a tree of
    chunks of 2 learns depth by depth.  ``drawn`` counts the batches, ``full`` those before the first of full reach.

    >>> from lrnnlab.tasks.string_tasks import Parity
    >>> course, generator = Curriculum(Parity(), 8, longest=40, growth=4), torch.Generator().manual_seed(0)
    >>> [(course.draw(generator)[0].shape[1], course.reach) for _ in range(5)], course.full
    ([(5, 10), (20, 20), (19, 30), (37, 40), (5, 40)], 3)
    """

    task: StringTask
    batch: int
    longest: int
    growth: int = 0
    gate: float = 0.0
    device: torch.device | str = "cpu"
    reach: int = 2
    drawn: int = 0
    full: float = math.inf

    def draw(self, generator: torch.Generator) -> tuple[Tensor, Batch]:
        """The next tokens (B,T), and with them all of the strings, for the loss."""
        self.reach = min(self.longest, max(self.reach, longest_at(self.drawn, self.longest, self.growth)))
        if self.reach == self.longest:
            self.full = min(self.full, self.drawn)
        self.drawn += 1
        strings = self.task.sample_up_to(self.batch, self.reach, generator).to(self.device)
        return strings.tokens, strings

    def loss(self, logits: Tensor, strings: Batch) -> Tensor:
        """The mean cross-entropy; if it is below the gate, longer strings may come next."""
        value = F.cross_entropy(at_the_end(logits), strings.targets)
        known = value.item() < self.gate and strings.targets.unique().numel() > 1
        if known and 2 * strings.tokens.shape[1] > self.reach:
            self.reach *= 2
        return value


def longest_at(step: int, longest: int, growth: int) -> int:
    """The longest length that is allowed in any case at ``step`` = 0, 1, ...: ``longest`` within ``growth`` steps.

    >>> [longest_at(step, 40, 4) for step in range(6)], longest_at(0, 40, 0)
    ([10, 20, 30, 40, 40, 40], 40)
    """
    return longest if step >= growth else math.ceil(longest * (step + 1) / growth)


def at_the_end(logits: Tensor) -> Tensor:
    """Logits (B,C) of whole strings: as they are, or the last position of (B,T,C).

    >>> at_the_end(torch.zeros(3, 7, 2)).shape
    torch.Size([3, 2])
    """
    return logits[:, -1] if logits.dim() == 3 else logits


def held_out(
    task: StringTask, longest: int, generator: torch.Generator, strings: int = 64
) -> list[tuple[Tensor, Tensor]]:
    """Batches (tokens (B,T), targets (B,)) of ``strings`` each, of the ``HELD_LENGTHS`` last lengths up to ``longest``.

    >>> from lrnnlab.tasks.string_tasks import Parity
    >>> [tuple(tokens.shape) for tokens, _ in held_out(Parity(), 3, torch.Generator().manual_seed(0))]
    [(64, 1), (64, 2), (64, 3)]
    """
    lengths = range(max(1, longest - HELD_LENGTHS + 1), longest + 1)
    return [(found.tokens, found.targets) for found in (task.sample(strings, length, generator) for length in lengths)]


def _answers(net: nn.Module, step: int, batches: list[tuple[Tensor, Tensor]]) -> dict:
    """What is watched: minus the mean cross-entropy, and the share of right answers."""
    device, loss, right, count = next(net.parameters()).device, 0.0, 0, 0
    for tokens, targets in batches:
        logits, targets = at_the_end(net(tokens.to(device))), targets.to(device)
        loss += F.cross_entropy(logits, targets, reduction="sum").item()
        right += int((answered(logits) == targets).sum())
        count += len(targets)
    return {"validation": -loss / count, "right": right / count}


@torch.no_grad()
@steady_arithmetic()
def accuracy_at_lengths(
    net: nn.Module, task: StringTask, lengths: Iterable[int], *, strings: int, generator: torch.Generator
) -> dict[int, float]:
    """{length: share of right answers} on ``strings`` fresh strings of every length, drawn as the task draws them.

    On one thread, the net in evaluation mode, and then all is again as it was.  ``levels`` says what a guesser gets.
    ``ValueError`` without lengths, for fewer than one string, or a length that the task has not.

    >>> from lrnnlab.tasks.string_tasks import Parity
    >>> ask = partial(accuracy_at_lengths, task=Parity(), strings=512, generator=torch.Generator().manual_seed(0))
    >>> class CountsOnes(nn.Module):
    ...     def forward(self, tokens):
    ...         return torch.nn.functional.one_hot(tokens.sum(1).clamp(max=21) % 2, 2)
    >>> {length: round(share, 1) for length, share in ask(CountsOnes(), lengths=[20, 400]).items()}
    {20: 1.0, 400: 0.5}
    """
    lengths, strings = list(lengths), whole_number(strings, 1, "strings at every length")
    if not lengths:
        raise ValueError(f"accuracy is asked for at no length: lengths={lengths}")
    was_training = net.training
    net.eval()
    device = next((parameter.device for parameter in net.parameters()), torch.device("cpu"))
    found = {}
    for length in lengths:
        batch = task.sample(strings, length, generator).to(device)
        parts = batch.tokens.split(max(1, PAIRS // batch.tokens.shape[1] ** 2))
        answers = torch.cat([answered(at_the_end(net(part)), task.classes) for part in parts])
        found[length] = float((answers == batch.targets).double().mean())
    net.train(was_training)
    return found


def levels(task: StringTask, lengths: Iterable[int]) -> dict[str, float]:
    """What is right without reading: ``chance``, 1/C, and ``majority``, the commonest label of each length, averaged.

    >>> from lrnnlab.tasks.recognition import tomita
    >>> levels(tomita(5), range(51, 101))
    {'chance': 0.5, 'majority': 0.75}
    """
    return {"chance": task.chance, "majority": task.average_majority(lengths)}


def _checked(task: StringTask, longest: int | None, growth: int, patience: int, watch_every: int) -> int:
    """The longest training length, or a ValueError for what cannot be trained on."""
    one_answer = isinstance(task, StringTask)
    if not one_answer:
        raise ValueError(f"train_strings wants a task with one answer a string, got {task!r}")
    if growth < 0 or patience < 0 or (patience and not watch_every):
        raise ValueError("growth and patience are at least 0, and patience needs watch_every, "
                         f"got growth={growth}, patience={patience}, watch_every={watch_every}")  # fmt: skip
    return whole_number(task.train_length if longest is None else longest, 1, f"{task}: the longest length")
