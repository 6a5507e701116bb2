"""What a task is that asks once, after the last token of a string (all tasks of paper 002, Table 1).

Letters: B batch, T time, V tokens, C classes.

``StringTask`` is the sibling of ``Task`` for one label a string.  Strings, machine, reading and writing are those of
``Task``; what differs is

* ``sample`` and ``targets``: targets (B,), and a mask (B, T) that is True in the last column alone, so that
  ``logits[batch.mask]`` (B, C) stands beside ``batch.targets``; ``answer`` is one number;
* the levels: ``label_counts`` counts strings with whole numbers; ``majority`` and ``average_majority`` follow;
* ``sample_up_to``: training batches of one length each, uniform in 1..L.

What fits and scores models at every position (``lrnnlab.training``, ``lrnnlab.evaluation``) wants a ``Task``, and
says so (``refuse``).
"""

from collections.abc import Iterable
from fractions import Fraction
from functools import cached_property
from statistics import fmean

import numpy as np
import torch

from lrnnlab.errors import checked, shown, whole_number
from lrnnlab.tasks.base import Batch, Task
from lrnnlab.tasks.uniform_strings import UniformStrings


class StringTask(Task):
    """A ``Task`` whose only label stands at the last position of a string; see the module's head.

    ``step``, ``output`` and ``answer`` are as in ``Task``, but ``answer`` gives ONE class, of the whole string.
    ``weights`` (V,) whole numbers are the odds of the tokens, None for equal odds.  ``train_length`` and
    ``test_length``: trained on lengths 1..train_length, scored beyond, up to test_length.
    """

    weights = None

    def mask(self, length):
        """(T,) bool, True at the last position alone."""
        return torch.arange(self.check_length(length)) == length - 1

    def label(self, tokens):
        """The class (B,) of each whole string, by the machine."""
        states = self.machine.run(tokens.cpu().numpy())[:, -1]
        return torch.from_numpy(self.machine.outputs[states]).to(tokens.device)

    def _labelled(self, tokens):
        mask = self.mask(tokens.shape[1]).to(tokens.device).expand_as(tokens)
        return Batch(tokens, self.label(tokens), mask)

    def string_length(self, length):
        """How many tokens a string has when ``length`` are asked for; the same, unless a task says otherwise."""
        return self.check_length(length)

    def sample(self, batch, length, generator):
        """``batch`` random strings (B, T) with their classes (B,), as a ``Batch`` on the generator's device.

        All randomness comes from ``generator`` (``torch.Generator``).  ValueError for a batch below 1, or a length
        that the task does not have.

        >>> from lrnnlab.tasks.string_tasks import Parity
        >>> batch = Parity().sample(128, 40, torch.Generator().manual_seed(0))
        >>> batch.tokens.shape, batch.targets.shape, batch.mask.sum().item()
        (torch.Size([128, 40]), torch.Size([128]), 128)
        """
        return super().sample(batch, self.string_length(length), generator)

    @checked
    def sample_up_to(self, batch, longest, generator: torch.Generator):
        """A batch of one random length, uniform in 1..``longest``, as paper 002 trains."""
        longest = whole_number(longest, 1, f"{self}: the longest length")
        length = int(torch.randint(1, longest + 1, (), generator=generator, device=generator.device))
        return self.sample(batch, length, generator)

    @cached_property
    def by_class(self):
        """C ``UniformStrings``, one a class: all legal strings with this label, to be counted and drawn."""
        return tuple(UniformStrings(self.specification, label, self.weights) for label in range(self.classes))

    def label_counts(self, length):
        """How many legal strings of ``length`` tokens have each class: C Python integers (weighted by ``weights``).

        >>> from lrnnlab.tasks.recognition import tomita
        >>> tomita(4).label_counts(5)
        [8, 24]
        """
        length = self.check_length(length)
        return [strings.count(length) for strings in self.by_class]

    def label_shares(self, length):
        """C Fractions, exact: how often each class is drawn by ``sample``, in strings of ``length`` tokens."""
        counts = self.label_counts(length)
        return [Fraction(count, sum(counts)) for count in counts]

    def label_distribution(self, position):
        """(C,) probabilities of the class of a sampled string whose last token stands at ``position``."""
        position = whole_number(position, 0, f"{self}: a position")
        return np.array(self.label_shares(position + 1), dtype=np.float64)

    def majority(self, length):
        """Accuracy of the best answer that looks at nothing but the length, exact up to the last rounding."""
        return float(max(self.label_shares(self.string_length(length))))

    @checked
    def average_majority(self, lengths: Iterable):
        """Mean of ``majority`` over ``lengths``: what paper 002's score gives to one who looks at the length alone.

        The paper's score is the mean accuracy over the lengths that were not trained on.  Its text says 51..100 for
        Tomita 5, its code leaves out the first; the Transformer's 74.5 of Table 1 is this level, and nothing more:

        >>> from lrnnlab.tasks.recognition import tomita
        >>> tomita(5).average_majority(range(51, 101)), round(tomita(5).average_majority(range(52, 101)), 3)
        (0.75, 0.745)
        """
        lengths = list(lengths)
        if not lengths:
            raise ValueError(f"{self}: an average needs at least one length, got lengths={lengths}")
        return fmean(self.majority(length) for length in lengths)


def refuse(task):
    """ValueError if ``task`` asks only once a string, TypeError if it is none of ours.

    >>> from lrnnlab.tasks.arithmetic import Sum
    >>> refuse(Sum(5))
    """
    if not isinstance(task, Task):
        raise TypeError(f"task must be a Task, strings with an answer at every position, got {shown(task)}")
    if isinstance(task, StringTask):
        raise ValueError(f"this wants an answer at every position; {task.name} has one a string")
