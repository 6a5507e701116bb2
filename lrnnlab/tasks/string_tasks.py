"""The tasks of paper 002 (Chi, Fan, Rudnicky and Ramadge 2023, "Transformer Working Memory Enables Regular Language
Reasoning and Natural Language Length Extrapolation", Table 1): they ask once, after the last token of a string.

Letters: B batch, T time, V tokens, C classes, M modulus, D_n the balanced brackets of depth at most n.

Table 1 has two parts.  The four tasks of the first come from Deletang et al. (2023); the paper trains on lengths up to
40 and scores on 41..500 (its code: 42..500).  Beware of a name: EvenPair(2) of paper 000 has the two labels of
``EvenPairs`` the other way round.

The second part asks whether the string is in a language: D_n and Tomita's languages (``Recognition``).  The paper names
Bhattamishra et al. (2020), who ask for the legal next symbols; it asks for one label a string, 1 in the language and 0
outside.  Its text trains up to length 50 and scores on 51..100.  Its released code trains these tasks up to 40 (D_12 up
to 80), begins to score two lengths beyond the training length, and goes up to 500 with D_n.

``STRING_TASKS`` has all tasks of Table 1 by name, and Tomita 1, 2 and 7.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cached_property, partial
from statistics import fmean
from typing import Any

import numpy as np
import torch

from lrnnlab.automata import NO_LABEL, MooreMachine, languages, minimise
from lrnnlab.automata.oracles import what_is_left
from lrnnlab.tasks.arithmetic import ModArith
from lrnnlab.tasks.base import Batch, Task, python_random
from lrnnlab.tasks.uniform_strings import UniformStrings
from lrnnlab.validation import checked, number, shown, whole_number

BITS = ("0", "1")
RARE = 64  # a class with fewer than one string in so many is not drawn by trying


class StringTask(Task):
    """A ``Task`` whose only label stands at the last position of a string: targets are (B,), ``answer`` is ONE class.

    ``mask`` (B, T) is True in the last column alone, so that ``logits[batch.mask]`` (B, C) stands beside the targets.
    ``weights`` (V,) whole numbers are the odds of the tokens, None for equal odds.  ``train_length`` and
    ``test_length``: trained on lengths 1..train_length, scored beyond, up to test_length.
    """

    weights = None
    answers, score = "last", "accuracy, the mean over lengths beyond training"

    def mask(self, length: int) -> torch.Tensor:
        """(T,) bool, True at the last position alone."""
        return torch.arange(self.check_length(length)) == length - 1

    def label(self, tokens: torch.Tensor) -> torch.Tensor:
        """The class (B,) of each whole string, by the machine."""
        states = self.machine.run(tokens.cpu().numpy())[:, -1]
        return torch.from_numpy(self.machine.outputs[states]).to(tokens.device)

    def labelled(self, tokens: torch.Tensor) -> Batch:
        mask, classes = self.mask(tokens.shape[1]).to(tokens.device).expand_as(tokens), self.label(tokens)
        self._check_shown(classes, torch.ones_like(classes, dtype=torch.bool))
        return Batch(tokens, classes, mask)

    def string_length(self, length: int) -> int:
        """How many tokens a string has when ``length`` are asked for; the same, unless a task says otherwise."""
        return self.check_length(length)

    def sample(self, batch: int, length: int, generator: torch.Generator) -> Batch:
        """As ``Task.sample``: ``batch`` random strings (B, T) with their classes (B,).

        >>> from lrnnlab.tasks.string_tasks import Parity
        >>> batch = Parity().sample(128, 40, torch.Generator().manual_seed(0))
        >>> batch.tokens.shape, batch.targets.shape, batch.mask.sum().item()
        (torch.Size([128, 40]), torch.Size([128]), 128)
        """
        return super().sample(batch, self.string_length(length), generator)

    def sample_near(self, batch: int, length: int, generator: torch.Generator) -> Batch:
        return self.sample(batch, length, generator)  # any length may be asked for: see ``string_length``

    @property
    def least_length(self) -> int:
        return 1

    def training_batch(self, batch: int, generator: torch.Generator) -> Batch:
        """A batch of one random length, uniform in 1..``train_length``."""
        return self.sample_up_to(batch, self.train_length, generator)

    @cached_property
    def by_class(self) -> tuple[UniformStrings, ...]:
        """C ``UniformStrings``, one a class: all legal strings with this label, to be counted and drawn."""
        return tuple(UniformStrings(self.specification, label, self.weights) for label in range(self.classes))

    def label_counts(self, length: int) -> list[int]:
        """How many legal strings of ``length`` tokens have each class: C Python integers (weighted by ``weights``).

        >>> from lrnnlab.tasks.string_tasks import tomita
        >>> tomita(4).label_counts(5)
        [8, 24]
        """
        length = self.check_length(length)
        return [strings.count(length) for strings in self.by_class]

    def label_shares(self, length: int) -> list[Fraction]:
        """C Fractions, exact: how often each class is drawn by ``sample``, in strings of ``length`` tokens."""
        counts = self.label_counts(length)
        return [Fraction(count, sum(counts)) for count in counts]

    def label_distribution(self, position: int) -> np.ndarray:
        """(C,) probabilities of the class of a sampled string whose last token stands at ``position``."""
        position = whole_number(position, 0, f"{self}: a position")
        return np.array(self.label_shares(position + 1), dtype=np.float64)

    def majority(self, length: int) -> float:
        """Accuracy of the best answer that looks at nothing but the length, exact up to the last rounding."""
        return float(max(self.label_shares(self.string_length(length))))

    @checked
    def average_majority(self, lengths: Iterable) -> float:
        """Mean of ``majority`` over ``lengths``: what paper 002's score gives to one who looks at the length alone.

        The paper's score is the mean accuracy over the lengths that were not trained on.  Its text says 51..100 for
        Tomita 5, its code leaves out the first; the Transformer's 74.5 of Table 1 is this level, and nothing more:

        >>> from lrnnlab.tasks.string_tasks import tomita
        >>> tomita(5).average_majority(range(51, 101)), round(tomita(5).average_majority(range(52, 101)), 3)
        (0.75, 0.745)
        """
        lengths = list(lengths)
        if not lengths:
            raise ValueError(f"{self}: an average needs at least one length, got lengths={lengths}")
        return fmean(self.majority(length) for length in lengths)


def refuse(task: Any) -> None:
    """ValueError if ``task`` asks only once a string, TypeError if it is none of ours."""
    if not isinstance(task, Task):
        raise TypeError(f"task must be a Task, strings with an answer at every position, got {shown(task)}")
    if isinstance(task, StringTask):
        raise ValueError(f"this wants an answer at every position; {task.name} has one a string")


class EvenPairs(StringTask):
    """0 if the pairs of neighbours 01 and 10 are even in number, together, else 1; bits uniform (002, Table 1)."""

    symbols, classes = BITS, 2

    @cached_property
    def rule(self) -> MooreMachine:
        same = languages.even_pair(2, BITS)
        return replace(same, outputs=np.where(same.outputs == NO_LABEL, NO_LABEL, 1 - same.outputs))

    def answer(self, tokens: Any) -> int:
        text = self.write(tokens)
        return (text.count("01") + text.count("10")) % 2


class Parity(StringTask):
    """1 if the number of 1s is odd; bits independent, 1 with probability ``p`` (002, Table 1; section 5.3, Table 2).

    ValueError unless 0 <= p <= 1.  A ``p`` like 0.1 counts as the decimal fraction that is written.

    >>> task = Parity(0.9)
    >>> [task.answer(task.read(text)) for text in ("1011000", "1101001", "111000")]
    [1, 0, 1]
    >>> task.label_shares(2)
    [Fraction(41, 50), Fraction(9, 50)]
    """

    symbols, classes = BITS, 2
    rule = languages.counter(2, BITS)

    def __init__(self, p=0.5):
        self.p = Fraction(str(number(p, "Parity: p, a probability,", 0, 1)))
        self.weights = (self.p.denominator - self.p.numerator, self.p.numerator)
        self.name = f"Parity({float(self.p):g})"

    def token_distribution(self, position: int) -> np.ndarray:
        return np.array([1 - self.p, self.p], dtype=np.float64)

    def answer(self, tokens: Any) -> int:
        return self.write(tokens).count("1") % 2


class CycleNavigation(StringTask):
    """Where a walk on a cycle of five ends that starts at 0: 0 is a step back, 1 stays, 2 a step on (002, Table 1)."""

    symbols, classes = ("0", "1", "2"), 5
    rule = languages.counter(5, symbols, adds=(-1, 0, 1))

    def answer(self, tokens: Any) -> int:
        text = self.write(tokens)
        return (text.count("2") - text.count("0")) % 5


class ModularArithmetic(StringTask):
    """The value of an expression mod M, × before + and -; numbers and operators uniform (002, Table 1: M = 5)."""

    def __init__(self, modulus=5, prefix=False):
        self.expression, self.prefix = ModArith(modulus), bool(prefix)
        self.modulus = self.classes = self.expression.modulus
        self.symbols = self.expression.symbols
        self.name = f"ModularArithmetic({self.modulus}{', prefix' if self.prefix else ''})"

    @cached_property
    def rule(self) -> MooreMachine:
        return languages.mod_arith(self.modulus, self.symbols, (0, 0) if self.prefix else (0, 1))  # + begins a term

    def label(self, tokens: torch.Tensor) -> torch.Tensor:
        return self.expression.label(tokens[:, self.prefix :])[:, -1]

    def answer(self, tokens: Any) -> int:
        return self.expression.answer(self.check_string(tokens)[self.prefix :])[-1]

    def token_distribution(self, position: int) -> np.ndarray:
        position = whole_number(position, 0, f"{self}: a position")
        if self.prefix and position == 0:
            return (np.arange(self.vocab_size) == self.modulus).astype(np.float64)
        return self.expression.token_distribution(position - self.prefix)

    def draw(self, batch: int, length: int, generator: torch.Generator) -> torch.Tensor:
        expressions = self.expression.draw(batch, length - self.prefix, generator)
        plus = torch.full((batch, int(self.prefix)), self.modulus, device=generator.device)
        return torch.cat([plus, expressions], dim=1)

    @cached_property
    def specification(self) -> MooreMachine:
        return minimise(languages.expressions(self.machine, "+" if self.prefix else ""))

    def string_length(self, length: int) -> int:
        length = whole_number(length, 1, f"{self}: a length")
        return length - (length % 2 == 0) + self.prefix

    def check_length(self, length: int) -> int:
        length = super().check_length(length)
        if length % 2 == self.prefix:
            shape = "even length (a + before an expression)" if self.prefix else "odd length (an expression)"
            raise ValueError(f"{self}: a string has {shape}, got {length}")
        return length

    def check_tokens(self, tokens: Any) -> torch.Tensor:
        tokens = super().check_tokens(tokens)
        wrong = np.flatnonzero(self.specification.answer(tokens.cpu().numpy())[:, -1] == NO_LABEL)
        if len(wrong):
            text = " ".join(self.symbols[token] for token in tokens[wrong[0]].tolist())
            kind = "a + and an expression" if self.prefix else "an expression"
            raise ValueError(f"{self}: string {wrong[0]} is not {kind}: {text[:60]}")
        return tokens

    @checked
    def read(self, text: str) -> torch.Tensor:
        """The tokens (T,) of a text; × may be typed x or *.  ValueError if it is no expression."""
        return super().read(text.replace("*", "×").replace("x", "×"))


class Recognition(StringTask):
    """1 for strings of a language, 0 for others; half of a batch is drawn from each (paper 002, Table 1, part 2)."""

    classes = 2
    train_length, test_length = 50, 100

    def __init__(self, name, dfa, holds, published=None, uniform=False):
        if set(dfa.outputs.tolist()) - {0, 1}:
            raise ValueError(f"{name}: a DFA shows 0 or 1, got the classes {sorted(set(dfa.outputs.tolist()))}")
        self.name = f"{name} (uniform)" if uniform else name
        self.rule, self.symbols, self.holds = dfa, dfa.symbols, holds
        self.published, self.uniform = published, uniform

    def answer(self, tokens: Any) -> int:
        """1 or 0 for ONE string, by ``holds`` on its text."""
        return int(self.holds(self.write(tokens)))

    def label_shares(self, length: int) -> list[Fraction]:
        counts = self.label_counts(length)
        return [Fraction(1, 2) if all(counts) else Fraction(int(count > 0)) for count in counts]

    def draw(self, batch: int, length: int, generator: torch.Generator) -> torch.Tensor:
        coin = int(torch.randint(2, (), generator=generator, device=generator.device))
        negative, positive = self.label_counts(length)
        positives = (batch + coin) // 2 if negative and positive else batch * (positive > 0)
        outside = self.of_class(0, batch - positives, length, generator)
        return torch.cat([self.positives(positives, length, generator), outside])

    def positives(self, count: int, length: int, generator: torch.Generator) -> torch.Tensor:
        """``count`` strings of the language (count, T), as a batch has them; see the class."""
        if self.published is None or self.uniform or not self.by_class[1].count(length):
            return self.of_class(1, count, length, generator)
        rng = python_random(generator)
        words = [self.published(length, rng) for _ in range(count)]
        return torch.tensor(words, dtype=torch.int64, device=generator.device).reshape(count, length)

    def of_class(self, label: int, count: int, length: int, generator: torch.Generator) -> torch.Tensor:
        """``count`` strings (count, T), uniform among those of class ``label``."""
        strings = self.by_class[label]
        if strings.count(length) * RARE < self.vocab_size**length:
            return strings.sample(length, count, generator)
        kept = torch.empty(0, length, dtype=torch.int64, device=generator.device)
        while len(kept) < count:
            tokens = torch.randint(self.vocab_size, (count, length), generator=generator, device=generator.device)
            kept = torch.cat([kept, tokens[self.label(tokens) == label]])
        return kept[:count]


def nested(n: int, length: int, rng: random.Random) -> list[int]:
    """A string of D_n of even ``length`` as paper 002's code makes it: 0 w 1, again and again, until it is long enough.

    w is one of D_{n-1}, about three quarters as long as there is room: its length is normal, with a standard deviation
    of a tenth of its mean, made even.  So most strings begin alike, and few are deep: 500 strings of D_12 reach depth
    5 at length 20, 8 at 50, 11 at 100.
    """
    word = []
    while n and len(word) < length:
        room = length - len(word) - 2
        inner = min(room, int(rng.gauss(0.75 * room, 0.075 * room)) // 2 * 2)
        word += [0, *nested(n - 1, inner, rng), 1]
    return word


def blocks_of_tomita_3(length: int, rng: random.Random) -> list[int]:
    """Blocks of a random bit, each of uniform length 0..what is left; after an odd block of 1s of even length."""
    word, ones = [], 0  # ones: how long the last block of 1s is
    while len(word) < length:
        bit = rng.randrange(2)
        count = rng.randrange(0, length - len(word) + 1, 2 if bit == 0 and ones % 2 else 1)
        if bit and count:
            ones = count + (ones if word[-1:] == [1] else 0)
        word += [bit] * count
    return word


def bits_of_tomita_4(length: int, rng: random.Random) -> list[int]:
    """Fair bits, but always 1 after 00."""
    word = []
    for _ in range(length):
        word.append(1 if word[-2:] == [0, 0] else rng.randrange(2))
    return word


def blocks_of_tomita_7(length: int, rng: random.Random) -> list[int]:
    """Three blocks 0, 1, 0, each of uniform length 0..what is left, then 1s."""
    word = []
    for bit in (0, 1, 0):
        word += [bit] * rng.randrange(length - len(word) + 1)
    return word + [1] * (length - len(word))


PUBLISHED = {3: blocks_of_tomita_3, 4: bits_of_tomita_4, 7: blocks_of_tomita_7}  # the others are uniform


@checked
def tomita(number: int, uniform: bool = False) -> Recognition:
    """Tomita's language ``number``, 1..7, as a ``Recognition`` task; 3 to 6 are in paper 002, Table 1."""
    if number not in range(1, 8):
        raise ValueError(f"Tomita's languages are 1..7, got {number!r}")
    found = languages.language(f"Tomita {int(number)}")
    return Recognition(found.name, found.machine, found.oracle, PUBLISHED.get(number), uniform)


@checked
def bounded_dyck(n: Any, uniform: bool = False) -> Recognition:
    """D_n = (0 D_{n-1} 1)*, brackets 0 and 1 of depth at most n, as a ``Recognition`` task (002, Table 1)."""
    n = whole_number(n, 1, "D_n: the depth")

    holds = lambda text: what_is_left(text, "01", times=n) == ""
    return Recognition(f"D_{n}", languages.dyck(n, BITS), holds, partial(nested, n), uniform)


def expression(pattern: str, symbols: Sequence[str] | None = None) -> Recognition:
    """Is the string in the language of a regular expression?  A ``Recognition`` task; Python's ``re`` is its oracle.

    ``pattern`` has letters, ``|``, ``*``, ``+``, ``?`` and parentheses (``a|`` for a or the empty word); ``symbols`` are its
    letters if not given.
    ValueError for a pattern that is none, or a language that has all strings of one letter or more, or none of them.

    >>> task = expression("(ab|ba)*")
    >>> task.label_counts(4)
    [12, 4]
    """
    machine = languages.acceptor(pattern, symbols)
    accepted = set(machine.outputs[machine.transitions].ravel().tolist())  # after one letter or more
    if len(accepted) == 1:
        which = "every" if accepted == {1} else "no"
        raise ValueError(f"{pattern!r} accepts {which} string that has a letter: nothing to recognise")
    accepts = re.compile(pattern)
    return Recognition(pattern, machine, lambda text: accepts.fullmatch(text) is not None)


STRING_TASKS: dict[str, Callable[..., StringTask]] = {
    "even_pairs": EvenPairs,
    "modular_arithmetic": ModularArithmetic,
    "modular_arithmetic_prefix": partial(ModularArithmetic, prefix=True),
    "parity": Parity,
    "cycle_navigation": CycleNavigation,
    **{f"d_{n}": partial(bounded_dyck, n) for n in (2, 3, 4, 12)},
    **{f"tomita_{number}": partial(tomita, number) for number in range(1, 8)},
}
