"""What a task of paper 003 is: strings of a language only, of many lengths, an answer after every token.

Letters: B strings, T time (the longest string of a batch), V tokens, C classes, L tokens of one string.

``PositiveTask`` is a ``Task`` whose strings all belong to a language.  Paper 003 (Irie, Csordas, Schmidhuber 2023,
Sec. 4.1, App. C.2) trains on one window of sizes, "Bin0", and scores on the next, "Bin1"; a string counts as right
only if every position is.  Strings of a window are drawn as the published generator does (Bhattamishra et al. 2020, which
the paper uses); ``sample``, the contract of all tasks, gives strings of one length, each as likely as any other.
"""

from __future__ import annotations

import random
import re
from abc import abstractmethod
from collections.abc import Iterable
from functools import cached_property
from numbers import Integral
from typing import Any, NoReturn

import numpy as np
import torch

from lrnnlab.automata import NO_LABEL, MooreMachine, build, minimise
from lrnnlab.tasks.base import Batch, Task, is_dense, python_random
from lrnnlab.tasks.levels import blind_levels
from lrnnlab.tasks.uniform_strings import UniformStrings
from lrnnlab.validation import checked, shown, whole_number

BIN = 50  # sizes in one bin
LISTED = 100_000  # a window with more strings is not listed


class PositiveTask(Task):
    """The strings of a language, with a class after every token; see the module's head.

    A language needs, besides ``name``, ``symbols``, ``initial``, ``step`` and ``output``: ``meanings`` (C,), the
    paper's names of the classes; the slow oracles ``says`` and ``holds``; ``number``, ``listed`` and ``draw``, which
    ``CountedTask`` has ready; and ``published``.  ``step`` gives None where no string of the language goes on; states
    need not be finite in number: where they are, ``Regular`` takes them from a machine.  A window (least, most) bounds
    the *size* of a string: its length, or, where ``tokens_per_size`` is more than 1, the n of a^n b^n.
    ``least_size`` is the smallest one trained on.
    """

    meanings: tuple
    least_size, tokens_per_size = 2, 1
    shared_pool = False  # are the published Bin0 test strings kept apart from the training strings?

    @property
    def classes(self) -> int:  # type: ignore[override]
        return len(self.meanings)

    score, padded = "whole strings right", True

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

    @abstractmethod
    def says(self, text: str) -> int:
        """The class after a written text that the language may begin with; an independent definition."""

    def answer(self, tokens: Any) -> list[int]:
        text = self.write(tokens)
        return [self.says(text[:end]) for end in range(1, len(text) + 1)]

    @abstractmethod
    def holds(self, text: str) -> bool:
        """Whether a written string is in the language; an independent definition."""

    @abstractmethod
    def number(self, length: int) -> int:
        """How many strings of the language have ``length`` tokens: a Python integer."""

    @abstractmethod
    def listed(self, window: tuple[int, int]) -> list[list[int]]:
        """All strings of a window as lists of tokens."""

    @abstractmethod
    def draw(self, batch: int, length: int, generator: torch.Generator) -> torch.Tensor:
        """Strings (B, T) of one length, each as likely as any other; ValueError if the language has none."""

    @abstractmethod
    def published(self, window: tuple[int, int], rng: random.Random) -> list[int]:
        """One string (a list of tokens) as the published generator draws it; ``rng`` is a ``random.Random``."""

    # --- windows, and how many strings they have ------------------------------------------------------------------

    def bin(self, k: int) -> tuple[int, int]:
        """The window of sizes (least, most) of bin k: Bin0 is trained on, Bin1 is the paper's longer test.

        ValueError unless k is a whole number, at least 0.
        """
        k = whole_number(k, 0, f"{self}: a bin")
        return max(self.least_size, BIN * k + 1), BIN * (k + 1)

    def check_window(self, window: Any) -> tuple[int, int]:
        """``window`` as two whole numbers (least, most), 1 <= least <= most; else ValueError."""
        try:
            least, most = window
        except (TypeError, ValueError) as error:
            raise ValueError(f"{self}: a window is a pair (least, most) of sizes, got {window!r}") from error
        least = whole_number(least, 1, f"{self}: the least size of a window")
        return least, whole_number(most, least, f"{self}: the greatest size of a window")

    def lengths(self, window: tuple[int, int]) -> range:
        """The lengths in tokens that strings of a window may have, as a ``range``."""
        least, most = self.check_window(window)
        return range(least * self.tokens_per_size, most * self.tokens_per_size + 1)

    @checked
    def in_window(self, text: str, window: Any) -> bool:
        """Whether the published generator can draw the written string ``text`` for this window."""
        return len(text) in self.lengths(window) and self.holds(text)

    def count(self, window: tuple[int, int]) -> int:
        """How many different strings the published generator can draw for a window: a Python integer.

        >>> from lrnnlab.tasks.counter_languages import EvenAs
        >>> EvenAs().count((2, 50))
        25
        """
        return sum(self.number(length) for length in reversed(self.lengths(window)))

    # --- strings and batches --------------------------------------------------------------------------------------

    @checked
    def strings(
        self, count: Any, window: Any, generator: torch.Generator, distinct: bool = False, apart_from: Any = ()
    ) -> list[list[int]]:
        """``count`` strings (lists of tokens) of a window, drawn as the published generator does.

        Parameters
        ----------
        count : int
            How many.
        window : (int, int)
            As in :meth:`check_window`.
        generator : torch.Generator
            Where all randomness comes from.
        distinct : bool
            Whether no string comes twice.
        apart_from : iterable
            Strings that must not occur.

        Raises
        ------
        ValueError
            For a wrong window or a count below 1, or if the window has too few strings.

        Examples
        --------
        >>> from lrnnlab.tasks.counter_languages import Dyck1
        >>> task = Dyck1()
        >>> [task.write(word) for word in task.strings(3, (2, 8), torch.Generator().manual_seed(0), distinct=True)]
        ['(((())))', '(())', '(()(()))']
        """
        count, window = whole_number(count, 1, f"{self}: a count"), self.check_window(window)
        words: list[list[int]] = []
        total, taken = self.count(window), self._words(apart_from, "apart_from")
        wanted = count if distinct else 1
        if total - len(taken) < wanted:  # perhaps too few, if all those to avoid are of this window
            try:
                avoided = sum(self.in_window(self.write(word), window) for word in taken)
            except ValueError as error:
                raise ValueError(f"{self}: apart_from holds what is no string: {error}") from error
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

    @checked
    def test_strings(
        self, count: Any, window: Any, generator: torch.Generator, apart_from: Any = ()
    ) -> list[list[int]]:
        """All strings of a window, each once, if there are at most ``count``; else ``count`` distinct ones, drawn."""
        count = whole_number(count, 1, f"{self}: a count")
        if self.count(self.check_window(window)) <= count:
            avoided = self._words(apart_from, "apart_from")
            return [word for word in self.listed(window) if tuple(word) not in avoided]
        return self.strings(count, window, generator, distinct=True, apart_from=apart_from)

    @checked
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

    def _each(self, words, what):
        """A sequence of strings as lists or tuples of tokens; TypeError for what is none."""
        found = words.tolist() if is_dense(words) else words
        if isinstance(found, Iterable) and not isinstance(found, torch.Tensor):
            rows = [word.tolist() if is_dense(word) else word for word in found]
            if all(isinstance(row, (list, tuple)) and all(isinstance(v, Integral) for v in row) for row in rows):
                return rows
        raise TypeError(f"{self}: {what} must be strings, lists of tokens, got {shown(words)}")

    def _words(self, words, what):
        """The same as a set of tuples."""
        return set(map(tuple, self._each(words, what)))

    def batch(self, strings: Any) -> Batch:
        """Strings (lists of tokens) of any lengths as one ``Batch`` (B, T), filled up with token 0 behind their ends.

        There ``mask`` is False: a causal model never sees that, and neither loss nor score counts it.  ValueError if there
        is none, or shows the string that is not (the beginning of) one of the language.

        >>> from lrnnlab.tasks.counter_languages import Dyck1
        >>> Dyck1().batch([[0, 1], [0, 0, 1, 1]]).targets
        tensor([[ 1,  0, -1, -1],
                [ 1,  1,  1,  0]])
        """
        rows = self._each(strings, "strings")
        if not rows:
            raise ValueError(f"{self}: a batch needs at least one string, got {strings!r}")
        longest, legal = max(map(len, rows)), range(self.vocab_size)
        targets: Any
        tokens, targets = np.zeros((len(rows), longest), np.int64), np.full((len(rows), longest), NO_LABEL)
        for place, row in enumerate(rows):
            labels = self._follow(row) if row and all(token in legal for token in row) else [NO_LABEL]
            if labels[-1] == NO_LABEL:
                self.check_string(row)  # says what is wrong with it
            tokens[place, : len(row)], targets[place, : len(row)] = row, labels
        targets = torch.from_numpy(targets)
        return Batch(torch.from_numpy(tokens), targets, targets != NO_LABEL)

    # --- labels ---------------------------------------------------------------------------------------------------

    @cached_property
    def rule(self) -> MooreMachine:
        """As in ``Task``, -1 where no string of the language goes on; ValueError if it has no finite machine."""
        return build(self.initial, self.symbols, self.onward, self.shown)

    @cached_property
    def machine(self) -> MooreMachine:
        return minimise(self.rule)

    def onward(self, state: Any, token: int) -> Any:
        """``step``, and None for ever where the language is left."""
        return None if state is None else self.step(state, token)

    def shown(self, state: Any) -> int:
        """``output``, and -1 where the language is left."""
        return NO_LABEL if state is None else self.output(state)

    def _follow(self, row):
        """The class after every token of one string, -1 from where the language is left."""
        state, labels = self.initial, []
        for token in row:
            state = self.onward(state, token)
            labels.append(self.shown(state))
        return labels

    def label(self, tokens: torch.Tensor) -> torch.Tensor:
        return torch.tensor([self._follow(row) for row in tokens.tolist()], device=tokens.device)

    def label_distribution(self, position: int) -> np.ndarray:
        """(C,) probabilities of the last label of the strings with ``position`` + 1 tokens: all end alike.

        A string of the language ends where the language says so; levels to compare a score with are ``blind_levels``.
        """
        length = whole_number(position, 0, f"{self}: a position") + 1
        if not self.number(length):
            raise ValueError(f"{self}: no string ends at position {position}")
        last = self.draw(1, length, torch.Generator().manual_seed(0))  # any one of them
        return np.eye(self.classes)[int(self.label(last)[0, -1])]

    def token_distribution(self, position: int) -> NoReturn:
        raise ValueError(f"{self}: the tokens of a string are not independent; see lengths, count and strings")

    def check_tokens(self, tokens: Any) -> torch.Tensor:
        tokens = super().check_tokens(tokens)
        wrong = (self.label(tokens) == NO_LABEL).nonzero()
        if len(wrong):
            row, position = wrong[0].tolist()
            text = "".join(self.symbols[token] for token in tokens[row, : position + 1].tolist())
            raise ValueError(f"{self}: no string begins with the tokens of string {row} up to position {position}: "
                             f"{text[-60:]!r}")
        return tokens

    @checked
    def show_answers(self, text: str) -> str:
        """The paper's way to write the answers to a string.

        >>> from lrnnlab.tasks.counter_languages import BlockWords
        >>> BlockWords(2).show_answers("aaabbb")
        'NNNbbS'
        """
        return "".join(self.meanings[label] for label in self.answer(self.read(re.sub(r"\s", "", text))))


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

            acceptor = build(self.initial, self.symbols, step, lambda s: int(s is not None and self.accepts(s)))
            self._uniform = {longest: UniformStrings(acceptor)}
        return self._uniform[longest]

    def number(self, length: int) -> int:
        return self.uniform(length).count(length)

    def listed(self, window: tuple[int, int]) -> list[list[int]]:
        """All strings of a window as lists of tokens; ValueError if there are more than 100,000."""
        total = self.count(window)
        if total > LISTED:
            raise ValueError(f"{self}: window {window} has {total} strings; at most {LISTED} are listed")
        lengths = self.lengths(window)
        strings = self.uniform(lengths[-1])
        words = [strings.string(length, rank) for length in lengths for rank in range(strings.count(length))]
        return [word for word in words if self.in_window(self.write(word), window)]

    def draw(self, batch: int, length: int, generator: torch.Generator) -> torch.Tensor:
        if not self.number(length):
            raise ValueError(f"{self}: no string has length {length}")
        return self.uniform(length).sample(length, batch, generator)
