"""Strings of a language counted, listed and drawn uniformly by the rule that labels them (see ``positive_strings``).

Letters: B strings, T time.
"""

from abc import abstractmethod

from lrnnlab.automata import build
from lrnnlab.tasks.positive_strings import PositiveTask
from lrnnlab.tasks.uniform_strings import UniformStrings

LISTED = 100_000  # a window with more strings is not listed


class CountedTask(PositiveTask):
    """A ``PositiveTask`` whose strings are counted, listed and drawn uniformly by its own rule, ``step``.

    It needs ``accepts`` and ``through`` besides: they make a finite machine, right for strings up to a length.
    """

    def __init__(self):
        self._uniform = {}  # the greatest length counted so far: its strings

    @abstractmethod
    def accepts(self, state):
        """Whether a string that ends in ``state`` is in the language."""

    @abstractmethod
    def through(self, state):
        """The length of the shortest string of the language that passes through ``state``, or anything below it."""

    def uniform(self, length):
        """``UniformStrings`` of the language, right for all lengths up to ``length``."""
        longest = max([length, *self._uniform])
        if longest not in self._uniform:

            def step(state, token):
                follower = self.onward(state, token)
                return None if follower is None or self.through(follower) > longest else follower

            acceptor = build(self.initial, self.symbols, step, lambda s: int(s is not None and self.accepts(s)))
            self._uniform = {longest: UniformStrings(acceptor)}
        return self._uniform[longest]

    def number(self, length):
        return self.uniform(length).count(length)

    def listed(self, window):
        """All strings of a window as lists of tokens; ValueError if there are more than 100,000."""
        total = self.count(window)
        if total > LISTED:
            raise ValueError(f"{self}: window {window} has {total} strings; at most {LISTED} are listed")
        lengths = self.lengths(window)
        strings = self.uniform(lengths[-1])
        words = [strings.string(length, rank) for length in lengths for rank in range(strings.count(length))]
        return [word for word in words if self.in_window(self.write(word), window)]

    def draw(self, batch, length, generator):
        if not self.number(length):
            raise ValueError(f"{self}: no string has length {length}")
        return self.uniform(length).sample(length, batch, generator)
