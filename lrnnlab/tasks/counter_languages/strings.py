"""What a task of paper 003 is: strings of a language only, of many lengths, an answer after every token.

Letters: B strings, T time (the longest string of a batch), V tokens, C classes.

Paper 003 (Irie, Csordas, Schmidhuber 2023, Sec. 4.1, App. C.2) trains on one window of sizes, "Bin0", and scores on the
next, "Bin1"; a string counts as right only if every position is.  Strings of a window are drawn as the published
generator does (Bhattamishra et al. 2020, which the paper uses); ``sample``, the contract of all tasks, gives strings of
one length, each as likely as any other.
"""

from __future__ import annotations

import random
from abc import abstractmethod
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any, NoReturn

import numpy as np
import torch

from lrnnlab.automata import NO_LABEL, MooreMachine, languages, minimise
from lrnnlab.tasks.base import StringTask
from lrnnlab.tasks.batch import Batch, blind_levels
from lrnnlab.tasks.draws import UniformStrings, python_random
from lrnnlab.validation import shown, whole_number

BIN = 50  # sizes in one bin
MAX_LISTED = 100_000  # a window with more strings is not listed

Window = tuple[int, int]


class PositiveTask(StringTask):
    """The strings of a language, with a class after every token; see the module's head.

    A language needs, besides ``name``, ``symbols`` and ``meanings`` (C,), the paper's names of the classes:

    * the rule: ``initial``, ``step(state, token)``, None where no string of the language goes on, ``output(state)``, a
      class.  States need not be finite in number: where they are, ``Regular`` takes them from a machine;
    * the slow oracles ``says`` and ``holds``;
    * ``number``, ``listed`` and ``draw``, which ``CountedTask`` has ready; and ``published``.

    A window (least, most) bounds the *size* of a string: its length, or, where ``tokens_per_size`` is more than 1, the n
    of a^n b^n.  ``least_size`` is the smallest one trained on.
    """

    meanings: tuple[str, ...]
    initial: Any
    least_size, tokens_per_size = 2, 1
    shared_pool = False  # are the published Bin0 test strings kept apart from the training strings?
    score, padded = "whole strings right", True

    @abstractmethod
    def step(self, state: Any, token: int) -> Any:
        """The state after a token, None where no string of the language goes on."""

    @abstractmethod
    def output(self, state: Any) -> int:
        """The class shown in a state."""

    @abstractmethod
    def says(self, text: str) -> int:
        """The class after a written text that the language may begin with; an independent definition."""

    @abstractmethod
    def holds(self, text: str) -> bool:
        """Whether a written string is in the language; an independent definition."""

    @abstractmethod
    def number(self, length: int) -> int:
        """How many strings of the language have ``length`` tokens: a Python integer."""

    @abstractmethod
    def listed(self, window: Window) -> list[list[int]]:
        """All strings of a window as lists of tokens."""

    @abstractmethod
    def draw(self, batch: int, length: int, generator: torch.Generator) -> torch.Tensor:
        """Strings (B, T) of one length, each as likely as any other; ValueError if the language has none."""

    @abstractmethod
    def published(self, window: Window, rng: random.Random) -> list[int]:
        """One string (a list of tokens) as the published generator draws it."""

    # --- the protocol of all tasks ------------------------------------------------------------------------------------

    @property
    def classes(self) -> int:  # type: ignore[override]
        return len(self.meanings)

    @property
    def train_length(self) -> int:  # type: ignore[override]
        return BIN * self.tokens_per_size

    @property
    def test_length(self) -> int:  # type: ignore[override]
        return 2 * BIN * self.tokens_per_size

    def with_length(self, length: int) -> NoReturn:
        """ValueError: what is trained on is a bin of sizes."""
        raise ValueError(f"{self}: its strings come in bins of {BIN} sizes, of many lengths, got length={length!r}")

    def has_length(self, length: int) -> bool:
        return self.number(length) > 0

    def training_batch(self, batch: int, generator: torch.Generator) -> Batch:
        """``batch`` strings of Bin0, drawn as the published ones are."""
        return self.batch(self.strings(batch, self.bin(0), generator))

    def levels(self, length: int) -> dict[str, float]:
        """What a guesser has of whole strings right: on test strings of Bin0, or of Bin1 beyond the training length."""
        window = self.bin(int(length > self.train_length))
        found = blind_levels(self.batch(self.test_strings(500, window, torch.Generator().manual_seed(0))), self.classes)
        return {"chance": found["whole_chance"], "majority": found["whole_majority"]}

    def majority(self, length: int) -> float:
        """1, at the last position: all strings of a length end alike.  Of whole strings see ``levels``."""
        if not self.number(self.check_length(length)):
            raise ValueError(f"{self}: no string has length {length}")
        return 1.0

    # --- labels -------------------------------------------------------------------------------------------------------

    def answer(self, tokens: Any) -> list[int]:
        text = self.write(tokens)
        return [self.says(text[:end]) for end in range(1, len(text) + 1)]

    def labelled(self, tokens: torch.Tensor) -> Batch:
        labels = self.label(tokens)
        return Batch(tokens, labels, labels != NO_LABEL)

    def label(self, tokens: torch.Tensor) -> torch.Tensor:
        """The classes (B, T), -1 from where the language is left."""
        return torch.tensor([self._follow(row) for row in tokens.tolist()], device=tokens.device)

    def _follow(self, row):
        state, labels = self.initial, []
        for token in row:
            state = self.onward(state, token)
            labels.append(self.shown(state))
        return labels

    def onward(self, state: Any, token: int) -> Any:
        """``step``, and None for ever where the language is left."""
        return None if state is None else self.step(state, token)

    def shown(self, state: Any) -> int:
        """``output``, and -1 where the language is left."""
        return NO_LABEL if state is None else self.output(state)

    @cached_property
    def rule(self) -> MooreMachine:
        """The machine of ``step`` and ``output``; ValueError if it is not finite."""
        return MooreMachine.from_rule(self.initial, self.symbols, self.onward, self.shown)

    @cached_property
    def machine(self) -> MooreMachine:
        return minimise(self.rule)

    @cached_property
    def specification(self) -> MooreMachine:
        """``machine`` with -1 before the first token."""
        return minimise(languages.after_the_first(self.machine))

    def check_tokens(self, tokens: Any) -> torch.Tensor:
        tokens = super().check_tokens(tokens)
        wrong = (self.label(tokens) == NO_LABEL).nonzero()
        if len(wrong):
            row, position = wrong[0].tolist()
            text = "".join(self.symbols[token] for token in tokens[row, : position + 1].tolist())
            raise ValueError(f"{self}: no string begins with the tokens of string {row} up to position {position}: "
                             f"{text[-60:]!r}")
        return tokens

    # --- windows, and how many strings they have ----------------------------------------------------------------------

    def bin(self, k: int) -> Window:
        """The window of sizes (least, most) of bin k: Bin0 is trained on, Bin1 is the paper's longer test."""
        k = whole_number(k, 0, f"{self}: a bin")
        return max(self.least_size, BIN * k + 1), BIN * (k + 1)

    def lengths(self, window: Window) -> range:
        """The lengths in tokens that strings of a window may have."""
        least, most = window
        least = whole_number(least, 1, f"{self}: the least size of a window")
        most = whole_number(most, least, f"{self}: the greatest size of a window")
        return range(least * self.tokens_per_size, most * self.tokens_per_size + 1)

    def in_window(self, text: str, window: Window) -> bool:
        """Whether the published generator can draw the written string ``text`` for this window."""
        return len(text) in self.lengths(window) and self.holds(text)

    def count(self, window: Window) -> int:
        """How many different strings the published generator can draw for a window: a Python integer.

        >>> from lrnnlab.tasks.counter_languages import EvenAs
        >>> EvenAs().count((2, 50))
        25
        """
        return sum(self.number(length) for length in reversed(self.lengths(window)))

    # --- strings and batches ------------------------------------------------------------------------------------------

    def strings(
        self, count: int, window: Window, generator: torch.Generator, distinct: bool = False, apart_from: Iterable = ()
    ) -> list[list[int]]:
        """``count`` strings (lists of tokens) of a window, drawn as the published generator does.

        ``distinct``: no string comes twice; ``apart_from``: strings that must not occur.  ValueError if the window has too
        few strings.

        >>> from lrnnlab.tasks.counter_languages import Dyck1
        >>> task = Dyck1()
        >>> [task.write(word) for word in task.strings(3, (2, 8), torch.Generator().manual_seed(0), distinct=True)]
        ['(((())))', '(())', '(()(()))']
        """
        count = whole_number(count, 1, f"{self}: a count")
        total, taken, words = self.count(window), set(map(tuple, apart_from)), []
        wanted = count if distinct else 1
        if total - len(taken) < wanted:  # perhaps too few, if all those to avoid are of this window
            avoided = sum(self.in_window(self.write(word), window) for word in taken)
            if total - avoided < wanted:
                raise ValueError(f"{self}: window {window} has {total} strings, {avoided} of them to be avoided; "
                                 f"cannot draw {count}{' distinct ones' if distinct else ''}")
        rng = python_random(generator)
        while len(words) < count:
            word = self.published(window, rng)
            if tuple(word) not in taken:
                words.append(word)
                if distinct:
                    taken.add(tuple(word))
        return words

    def test_strings(
        self, count: int, window: Window, generator: torch.Generator, apart_from: Iterable = ()
    ) -> list[list[int]]:
        """All strings of a window, each once, if there are at most ``count``; else ``count`` distinct ones, drawn."""
        if self.count(window) <= count:
            avoided = set(map(tuple, apart_from))
            return [word for word in self.listed(window) if tuple(word) not in avoided]
        return self.strings(count, window, generator, distinct=True, apart_from=apart_from)

    def splits(self, generator: torch.Generator, train: int = 10_000, test: int = 500) -> dict[str, list[list[int]]]:
        """The published data: strings to train on, and to test, ``{"train": [...], "bin0": [...], "bin1": [...]}``.

        Training strings are distinct, but for the languages with few strings (those repeat).  Where the published
        data keep Bin0's test strings apart from the training strings (``shared_pool``), so does this; elsewhere many
        a test string of Bin0 has been trained on.  ``"held_out"``, which the published data have not: as many strings
        of Bin0 as are tested, apart from both; those of ``"bin0"`` again where the language has too few.
        """
        few = self.count(self.bin(0)) < train
        trained = self.strings(train, self.bin(0), generator, distinct=not few)
        seen = trained if self.shared_pool else ()
        bin0, bin1 = (self.test_strings(test, window, generator, apart_from=known)
                      for window, known in ((self.bin(0), seen), (self.bin(1), ())))  # fmt: skip
        enough = self.count(self.bin(0)) >= train + 2 * test
        apart = self.strings(test, self.bin(0), generator, distinct=True, apart_from=trained + bin0) if enough else bin0
        return {"train": trained, "bin0": bin0, "bin1": bin1, "held_out": apart}

    def batch(self, strings: Sequence[Sequence[int]]) -> Batch:
        """Strings (lists of tokens) of any lengths as one ``Batch`` (B, T), filled up with token 0 behind their ends.

        There ``mask`` is False: a causal model never sees that, and neither loss nor score counts it.  ValueError if there
        is none, or shows the string that is not (the beginning of) one of the language.

        >>> from lrnnlab.tasks.counter_languages import Dyck1
        >>> Dyck1().batch([[0, 1], [0, 0, 1, 1]]).targets
        tensor([[ 1,  0, -1, -1],
                [ 1,  1,  1,  0]])
        """
        if not len(strings):
            raise ValueError(f"{self}: a batch needs at least one string, got {shown(strings)}")
        longest, legal = max(map(len, strings)), range(self.vocab_size)
        tokens, targets = np.zeros((len(strings), longest), np.int64), np.full((len(strings), longest), NO_LABEL)
        for place, row in enumerate(strings):
            labels = self._follow(row) if len(row) and all(token in legal for token in row) else [NO_LABEL]
            if labels[-1] == NO_LABEL:
                self.check_string(row)  # says what is wrong with it
            tokens[place, : len(row)], targets[place, : len(row)] = row, labels
        wanted = torch.from_numpy(targets)
        return Batch(torch.from_numpy(tokens), wanted, wanted != NO_LABEL)


class Regular:
    """A ``PositiveTask`` whose labels a machine shows, ``rule``: -1 from where no string of the language goes on."""

    rule: MooreMachine
    initial = 0

    def step(self, state: Any, token: int) -> Any:
        return int(self.rule.transitions[int(token), state])

    def output(self, state: Any) -> int:
        return int(self.rule.outputs[state])


class CountedTask(PositiveTask):
    """A ``PositiveTask`` whose strings are counted, listed and drawn uniformly by its own rule, ``step``."""

    def __init__(self):
        self._uniform = {}  # the greatest length counted so far: its strings

    @abstractmethod
    def accepts(self, state: Any) -> bool:
        """Whether a string that ends in ``state`` is in the language."""

    def through(self, state: Any) -> int:
        """The length of the shortest string of the language that passes through ``state``, or anything below it."""
        return 0

    def uniform(self, length: int) -> UniformStrings:
        """``UniformStrings`` of the language, right for all lengths up to ``length``."""
        longest = max([length, 1, *self._uniform])  # of the empty string alone there is no machine
        if longest not in self._uniform:

            def step(state, token):
                follower = self.onward(state, token)
                return None if follower is None or self.through(follower) > longest else follower

            acceptor = MooreMachine.from_rule(self.initial, self.symbols, step, lambda s: int(s is not None and self.accepts(s)))
            self._uniform = {longest: UniformStrings(acceptor)}
        return self._uniform[longest]

    def number(self, length: int) -> int:
        return self.uniform(length).count(length)

    def listed(self, window: Window) -> list[list[int]]:
        """All strings of a window as lists of tokens; ValueError if there are more than 100,000."""
        total = self.count(window)
        if total > MAX_LISTED:
            raise ValueError(f"{self}: window {window} has {total} strings; at most {MAX_LISTED} are listed")
        lengths = self.lengths(window)
        strings = self.uniform(lengths[-1])
        words = [strings.string(length, rank) for length in lengths for rank in range(strings.count(length))]
        return [word for word in words if self.in_window(self.write(word), window)]

    def draw(self, batch: int, length: int, generator: torch.Generator) -> torch.Tensor:
        if not self.number(length):
            raise ValueError(f"{self}: no string has length {length}")
        return self.uniform(length).sample(length, batch, generator)
