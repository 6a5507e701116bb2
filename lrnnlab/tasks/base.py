"""What a task is: strings, answers to them, and a finite machine that gives the same answers.

Letters: B batch, T time, V tokens, C classes.  Positions count from 0.

A regular task needs five things: ``symbols`` and ``classes``, the machine as a rule (``initial``, ``step``, ``output``)
and the slow oracle ``answer``.  Targets, exact label frequencies, sampling and reading and writing then come from here;
override one for speed, or where the default does not hold.  A task that asks about a language of ``lrnnlab.automata``
takes its machine from there: it gives ``rule`` instead of ``initial``, ``step`` and ``output``::

    class Parity(Task):
        symbols, classes, initial = ("a", "b"), 2, 0

        def step(self, state, token):
            return (state + token) % 2

        def output(self, state):
            return state

        def answer(self, tokens):
            tokens = self.check_string(tokens)
            return [tokens[:k].count(1) % 2 for k in range(1, len(tokens) + 1)]
"""

from __future__ import annotations

import copy
import itertools
import random
import re
import warnings
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, is_dataclass
from functools import cached_property
from typing import Any

import numpy as np
import torch
from torch.nn import functional as F

from lrnnlab.automata import NO_LABEL, MooreMachine, build, equivalent, minimise
from lrnnlab.validation import checked, shown, whole_number


@checked
def draw_seed(generator: torch.Generator) -> int:
    """A whole number below 2^62 from a ``torch.Generator``, which moves on: a seed for another source of chance."""
    return int(torch.randint(2**62, (1,), generator=generator, device=generator.device))


def python_random(generator: torch.Generator) -> random.Random:
    """A ``random.Random`` that is decided by the state of ``generator``."""
    return random.Random(draw_seed(generator))


def numpy_random(*numbers: int) -> np.random.Generator:
    """A ``numpy.random.Generator`` decided by whole numbers: a seed, and what it is for (a split, an index)."""
    return np.random.default_rng(numbers)


@dataclass(frozen=True, eq=False)
class Batch:
    """Inputs side by side, and what is to be answered: what every task gives and every training and score reads.

    ``inputs``: tokens (B, T) int64, or numbers (B, T, d_in).  ``targets`` is one of three:

    * classes (B, T) int64, one a position, and ``mask`` (B, T) bool, True where a label is asked for; elsewhere the
      target is -1, which no classifier can hit and no loss accepts unmasked;
    * classes (B,) int64, one a string;
    * numbers (B, T', d_out), at the last T' positions.
    """

    inputs: torch.Tensor
    targets: torch.Tensor
    mask: torch.Tensor | None = None

    @property
    def tokens(self) -> torch.Tensor:
        """``inputs`` by the name they have where they are tokens."""
        return self.inputs

    def __len__(self):
        return len(self.inputs)

    def to(self, device: Any) -> Batch:
        """The same batch on another device."""
        return Batch(*(part if part is None else part.to(device) for part in (self.inputs, self.targets, self.mask)))

    def asked(self, outputs: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """The outputs where an answer is asked for, and the targets there: (N, C) and (N,), or twice (B, T', d_out).

        ``outputs``: (B, T, C), one a position, or (B, C) of a network that answers once, at the last position.
        ValueError if the network does not answer where the task asks.

        >>> from lrnnlab.tasks import Sum
        >>> logits, classes = Sum(5).sample(2, 3, torch.Generator().manual_seed(0)).asked(torch.zeros(2, 3, 5))
        >>> logits.shape, classes.shape
        (torch.Size([6, 5]), torch.Size([6]))
        """
        once = outputs.ndim == 2
        if self.targets.is_floating_point():
            if once:
                raise ValueError(f"numbers are asked for at {self.targets.shape[1]} positions, and the outputs have "
                                 f"shape {tuple(outputs.shape)}: one a sequence")
            return outputs[:, outputs.shape[1] - self.targets.shape[1] :], self.targets
        if self.targets.ndim == 1:
            return (outputs if once else outputs[:, -1]), self.targets
        if not once:
            return outputs[self.mask], self.targets[self.mask]
        if not self.mask[:, -1].all():
            raise ValueError(f"outputs of shape {tuple(outputs.shape)} answer at the last position alone, where string "
                             f"{int((~self.mask[:, -1]).nonzero()[0])} is asked for nothing")
        return outputs, self.targets[:, -1]

    def loss(self, outputs: torch.Tensor) -> torch.Tensor:
        """The mean cross-entropy over all answers that are asked for, in nats; for numbers the mean squared error.

        0 where nothing is asked, as of strings that are too short for a label: nothing can be learned from them.
        """
        given, wanted = self.asked(outputs)
        if not wanted.numel():
            return 0 * outputs.sum()
        return (F.mse_loss if wanted.is_floating_point() else F.cross_entropy)(given, wanted)

    def right(self, outputs: torch.Tensor) -> torch.Tensor:
        """(N,) bool: which answers are right, the largest logit's class; NaN is no answer."""
        given, wanted = self.asked(outputs)
        return answered(given) == wanted


def is_dense(x: Any) -> bool:
    """Whether x is a tensor that holds numbers, neither sparse nor of the device that holds none."""
    return isinstance(x, torch.Tensor) and x.layout is torch.strided and x.device.type != "meta"


NO_ANSWER = -2  # what is never right, not even where no label is due


def answered(logits: torch.Tensor, classes: int | None = None) -> torch.Tensor:
    """The classes (...) that logits (..., C) answer with: the largest.  NaN is no answer, ``NO_ANSWER``.

    Some NaN is what a state leaves that has overflowed; where there is no other answer at all, a warning says so.
    ValueError unless there are as many logits as ``classes``, if that is given.

    >>> answered(torch.tensor([[0.0, 1.0], [2.0, 1.0]]), classes=2)
    tensor([1, 0])
    """
    if not isinstance(logits, torch.Tensor) or not logits.ndim or not logits.shape[-1]:
        raise ValueError(f"logits must be a tensor (..., C), got {shown(logits)}")
    if classes is not None and logits.shape[-1] != classes:
        raise ValueError(f"the network answers with {logits.shape[-1]} classes, the task has {classes}")
    largest, found = logits.max(-1)
    nothing = largest.isnan()
    if nothing.numel() and nothing.all():
        warnings.warn(f"all {nothing.numel()} answers are NaN, and count as wrong", stacklevel=2)
    return found.masked_fill(nothing, NO_ANSWER)


PLAIN = (bool, int, float, str, tuple, type(None))  # kinds of options


def late_properties(kind: type) -> set[str]:
    """The names of a class's cached properties: what stands under them was worked out and not given."""
    return {name for one in kind.__mro__ for name, made in vars(one).items() if isinstance(made, cached_property)}


class BaseTask(ABC):
    """What every task has, whatever it reads and wherever it asks: the protocol that models and training go by.

    ==================  =============================================================================================
    ``reads``           ``"tokens"`` or ``"numbers"``
    ``answers``         where answers stand: ``"every"`` position, the ``"last"``, or at ``"places"`` that differ
    ``padded``          whether the strings of a batch may end before its last column
    ``input_size``      the number of symbols V, or of input columns d_in
    ``output_size``     the number of classes C, or of target columns d_out
    ``train_length``    what it is trained on, at the most; ``test_length`` what it is scored on
    ``score``           what the paper that brought it calls its score
    ``sample``          ``sample(batch, length, generator) -> Batch``, fresh, of one length
    ``training_batch``  ``training_batch(batch, generator) -> Batch`` as the paper trains: of one length or of many
    ``levels``          what a guesser gets by that score, ``{"chance": ..., "majority": ...}``
    ``answer``          the slow oracle, for one input
    ==================  =============================================================================================
    """

    reads, answers, padded = "tokens", "every", False
    name: str  # the class's, unless it or an instance has another
    classes: int | None = None  # None where numbers are asked for
    train_length: int
    test_length: int
    least = 1  # the shortest length that may be asked for
    score = "accuracy"

    def __init_subclass__(cls):
        cls.name = vars(cls).get("name", cls.__name__)

    def __repr__(self):
        return self.name

    @property
    def identity(self) -> str:
        """What tells a task from others of its name: its kind, lengths, options and, if it was given one, its machine.

        A checkpoint carries it, so that no run goes on from one of another task.

        >>> from lrnnlab.tasks import Sum
        >>> Sum(3).identity == Sum(3).identity, Sum(3).identity == Sum(3).with_length(7).identity
        (True, False)
        """
        found = late_properties(type(self))
        options = {key: value.tolist() if isinstance(value, np.ndarray) else value for key, value in sorted(vars(self).items())
                   if key not in found and (isinstance(value, (*PLAIN, np.ndarray)) or is_dataclass(value))}  # fmt: skip
        return repr((type(self).__qualname__, self.name, self.train_length, self.test_length, options))

    @property
    def input_size(self) -> int:
        """V symbols, or d_in columns."""
        return self.vocab_size if self.reads == "tokens" else self.d_in  # type: ignore[attr-defined]

    @property
    def output_size(self) -> int:
        """C classes, or d_out columns."""
        return self.d_out if self.classes is None else self.classes  # type: ignore[attr-defined]

    @abstractmethod
    def sample(self, batch: int, length: int, generator: torch.Generator) -> Batch:
        """``batch`` fresh inputs of ``length`` with their answers, a ``Batch`` on the generator's device."""

    @property
    def chance(self) -> float:
        """Accuracy of a uniform guess, 1/C.  A constant answer can do better: see ``majority``."""
        return 1 / self.classes if self.classes else 0.0

    @abstractmethod
    def majority(self, length: int) -> float:
        """What the best constant answer scores at ``length``."""

    def levels(self, length: int) -> dict[str, float]:
        """What a guesser scores at ``length``: a dict with ``chance`` and ``majority``."""
        return {"chance": self.chance, "majority": self.majority(length)}

    def training_batch(self, batch: int, generator: torch.Generator) -> Batch:
        """A batch as the paper trains, on inputs of the training length, or up to it."""
        return self.sample(batch, self.train_length, generator)

    def check_length(self, length: int) -> int:
        """``length`` if inputs of this length exist, else ValueError."""
        return whole_number(length, self.least, f"{self}: a length")

    def near(self, length: int) -> int:
        """The greatest length up to ``length`` that the task has; ValueError if there is none."""
        for shorter in range(whole_number(length, 1, f"{self}: a length"), 0, -1):
            if self.has_length(shorter):
                return shorter
        raise ValueError(f"{self}: there is no length up to {length}")

    def sample_near(self, batch: int, length: int, generator: torch.Generator) -> Batch:
        """``sample`` at the greatest length up to ``length`` that the task has."""
        return self.sample(batch, self.near(length), generator)

    @checked
    def sample_up_to(self, batch: Any, longest: Any, generator: torch.Generator) -> Batch:
        """A batch of one random length, uniform in 1..``longest``, or the next shorter one that the task has.

        Where the task has none so short, of its shortest length, even if that is more than ``longest``.
        """
        longest = whole_number(longest, 1, f"{self}: the longest length")
        length = int(torch.randint(1, longest + 1, (), generator=generator, device=generator.device))
        return self.sample_near(batch, max(length, self.least_length), generator)

    @property
    def least_length(self) -> int:
        """The shortest length that the task has."""
        return next(length for length in itertools.count(self.least) if self.has_length(length))

    def has_length(self, length: int) -> bool:
        """Whether the task has inputs of this length."""
        try:
            self.check_length(length)
        except ValueError:
            return False
        return True

    def with_length(self, length: int) -> BaseTask:
        """A copy with another training length, and no shorter test length; ValueError if it has no such length."""
        made = copy.copy(self)
        made.train_length = self.check_length(length)
        made.test_length = max(self.test_length, length)
        return made


class Task(BaseTask):
    """Strings over ``symbols`` with a class in 0..classes-1 at every labelled position; see the module's head.

    ``modulus`` is None for tasks that have none; ``train_length`` and ``test_length`` are the paper's.
    """

    modulus: int | None = None
    train_length, test_length = 40, 500

    symbols: tuple
    classes: int
    initial: Any = None
    step: Any  # ``step(state, token)``: the state (any hashable) after reading ``token`` in ``state``
    output: Any  # ``output(state)``: its class; -1 if it has none (only where no label is asked for)

    @property
    def identity(self) -> str:
        own = type(self).rule is Task.rule and not hasattr(self, "step")  # of other tasks the options say all of it
        given = vars(self).get("rule") if own else None
        machine = (given.transitions.tolist(), given.outputs.tolist(), given.initial, given.symbols) if given else None
        return repr((super().identity, machine))

    @cached_property
    def rule(self) -> MooreMachine:
        """A machine with the task's answers, as it was written down: that of ``initial``, ``step`` and ``output``.

        TypeError for a task that has neither those nor a ``rule`` of its own.
        """
        if not hasattr(self, "step") or not hasattr(self, "output"):
            raise TypeError(f"{self}: a task has initial, step and output, or else rule")
        return build(self.initial, self.symbols, self.step, self.output)

    @abstractmethod
    def answer(self, tokens: Any) -> Any:
        """The oracle: one answer per labelled position of ONE string, by a route that shares nothing with the rest."""

    @property
    def vocab_size(self) -> int:
        return len(self.symbols)

    @cached_property
    def machine(self) -> MooreMachine:
        """The smallest ``MooreMachine`` with the task's answers (read them at labelled positions of legal strings)."""
        rule, smallest = self.rule, minimise(self.rule)
        if smallest.outputs.max() >= self.classes:
            raise ValueError(f"{self}: output shows class {smallest.outputs.max()}, but the classes are "
                             f"0..{self.classes - 1}")
        word = equivalent(rule, smallest)
        if word is not None:
            raise RuntimeError(f"{self}: minimising the machine changed its answer to {word}")
        return smallest

    @cached_property
    def specification(self) -> MooreMachine:
        """What is asked, and no more: ``machine`` with -1 before the first token, and wherever no label is due.

        ``equivalent(task.specification, other, where_labelled=True)`` is the test a trained model must pass.
        """
        inner = self.machine
        return minimise(build((inner.initial, False), self.symbols,
                              lambda state, token: (int(inner.transitions[token, state[0]]), True),
                              lambda state: int(inner.outputs[state[0]]) if state[1] else NO_LABEL))

    def mask(self, length: int) -> torch.Tensor:
        """(T,) bool: the positions that carry a label; all of them unless a task says otherwise."""
        return torch.ones(self.check_length(length), dtype=torch.bool)

    def token_distribution(self, position: int) -> np.ndarray:
        """(V,) probabilities of the tokens at ``position``; tokens at different positions are independent."""
        return np.full(self.vocab_size, 1 / self.vocab_size)

    def draw(self, batch: int, length: int, generator: torch.Generator) -> torch.Tensor:
        """Random strings (B, T) int64 after ``token_distribution``, on the generator's device."""
        rows = np.stack([self.token_distribution(t) for t in range(length)])
        edges: Any = rows.cumsum(1)[:, :-1]  # (T, V-1): token v lies between edges v-1 and v
        edges[edges > 1 - 1e-12] = 2  # rounding must not make an impossible last token possible
        edges = torch.from_numpy(edges).to(generator.device)
        uniform = torch.rand(batch, length, 1, dtype=torch.float64, generator=generator, device=generator.device)
        return (uniform >= edges).sum(-1)

    def label(self, tokens: torch.Tensor) -> torch.Tensor:
        """Answers (B, T) at every position of checked ``tokens``: the fast path.  Here: run the machine."""
        return torch.from_numpy(self.machine.answer(tokens.cpu().numpy())).to(tokens.device)

    @checked
    def sample(self, batch: Any, length: Any, generator: torch.Generator) -> Batch:
        """``batch`` random strings of ``length`` with their answers, as a ``Batch`` on the generator's device.

        All randomness comes from ``generator`` (``torch.Generator``).  ValueError for a batch below 1, or a length
        that the task does not have.

        >>> from lrnnlab.tasks import Sum
        >>> Sum(5).sample(128, 40, torch.Generator().manual_seed(0)).targets.shape
        torch.Size([128, 40])
        """
        batch, length = whole_number(batch, 1, f"{self}: the batch"), self.check_length(length)
        return self.labelled(self.draw(batch, length, generator))

    def targets(self, tokens: Any) -> torch.Tensor:
        """Answers (B, T) int64 to ``tokens`` (B, T), -1 where no label is due; ValueError names an illegal token."""
        return self.labelled(self.check_tokens(tokens)).targets

    def labelled(self, tokens: torch.Tensor) -> Batch:
        """``tokens`` (B, T), which are not looked at, with their answers."""
        mask = self.mask(tokens.shape[1]).to(tokens.device).expand_as(tokens)
        labels = self.label(tokens)
        self._check_shown(labels, mask)
        return Batch(tokens, labels.masked_fill(~mask, NO_LABEL), mask)

    def _check_shown(self, labels: torch.Tensor, asked: torch.Tensor) -> None:
        """ValueError where ``output`` shows no class at a position that carries a label."""
        if bool(((labels == NO_LABEL) & asked).any()):
            raise ValueError(f"{self}: output is {NO_LABEL}, no class, in a state where a label is asked for; "
                             "MachineTask(task.rule) asks only where a class is shown")

    def label_distribution(self, position: int) -> np.ndarray:
        """(C,) exact probabilities of the label at ``position`` of a sampled string (float64, no sampling involved).

        The token probabilities are pushed through the machine: p_t = (sum_v P_t(v) A_v) p_{t-1}.

        >>> from lrnnlab.tasks import EvenPair
        >>> EvenPair(5).label_distribution(39).round(3)
        array([0.8, 0.2])
        """
        position = whole_number(position, 0, f"{self}: a position")
        if not self.mask(position + 1)[position]:
            raise ValueError(f"{self}: position {position} carries no label")
        p: np.ndarray
        machine, p = self.machine, np.zeros(self.machine.num_states)
        p[machine.initial] = 1
        for t in range(position + 1):
            arriving = np.outer(self.token_distribution(t), p)  # (V, Q): the mass that moves along each transition
            p = np.bincount(machine.transitions.ravel(), weights=arriving.ravel(), minlength=len(p))
        unlabelled = machine.outputs == NO_LABEL
        if p[unlabelled].sum() > 0:
            raise ValueError(f"{self}: no class is shown with probability {p[unlabelled].sum():.3g} "
                             f"at position {position}, which carries a label")
        return np.bincount(machine.outputs[~unlabelled], weights=p[~unlabelled], minlength=self.classes)

    def majority(self, length: int) -> float:
        """Accuracy at the last position of strings of ``length`` for the best constant answer."""
        return float(self.label_distribution(self.check_length(length) - 1).max())

    def write(self, tokens: Any) -> str:
        """One string as text: symbols side by side, or with spaces between if some symbol has two or more characters.

        >>> from lrnnlab.tasks import Sum
        >>> Sum(5).write([0, 3, 2, 4]), Sum(12).write([0, 11, 2])
        ('0324', '0 11 2')
        """
        separator = "" if all(len(symbol) == 1 for symbol in self.symbols) else " "
        return separator.join(self.symbols[token] for token in self.check_string(tokens))

    @checked
    def read(self, text: str) -> torch.Tensor:
        """The tokens (T,) int64 of a text as ``write`` makes it; more spaces do no harm.  ValueError if one is bad."""
        single = all(len(symbol) == 1 for symbol in self.symbols)
        return self.read_parts(re.findall(r"\S", text) if single else text.split(), text)

    def read_parts(self, parts: Sequence[str], text: str) -> torch.Tensor:
        """The tokens of a text already cut into symbols."""
        if not parts:
            raise ValueError(f"{self}: a string has at least one symbol, got text={text!r}")
        for position, part in enumerate(parts):
            if part not in self.symbols:
                raise ValueError(f"{self}: {part!r} at position {position} of {text!r} is none of {self.symbols}")
        return torch.tensor(self.check_string([self.symbols.index(part) for part in parts]))

    def check_tokens(self, tokens: Any) -> torch.Tensor:
        """``tokens`` if it is an integer tensor (B, T) of legal strings, else ValueError showing what is wrong."""
        if not is_dense(tokens) or tokens.ndim != 2 or tokens.is_floating_point() \
                or tokens.is_complex() or tokens.dtype == torch.bool:
            raise ValueError(f"{self}: tokens must be an integer tensor (B, T), got {shown(tokens)}")
        self.check_length(tokens.shape[1])
        tokens = tokens.long()
        wrong = ((tokens < 0) | (tokens >= self.vocab_size)).nonzero()
        if len(wrong):
            row, position = wrong[0].tolist()
            raise ValueError(f"{self}: token {tokens[row, position]} at position {position} of string {row} "
                             f"is outside 0..{self.vocab_size - 1}")
        return tokens

    def check_string(self, tokens: Any) -> list[int]:
        """One legal string, a sequence or (T,) tensor of tokens, as a list of ints; else ValueError."""
        try:
            string = torch.as_tensor(tokens)
        except (TypeError, ValueError, RuntimeError) as error:
            raise ValueError(f"{self}: {shown(tokens)} is not a string of tokens") from error
        if string.ndim != 1 or not is_dense(string):
            raise ValueError(f"{self}: one string of tokens has shape (T,), got {shown(string)}")
        if string.numel() == 0:
            self.check_length(0)
        return self.check_tokens(string[None])[0].tolist()
