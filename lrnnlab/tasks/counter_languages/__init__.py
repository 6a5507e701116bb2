"""The eight languages of paper 003 (Irie, Csordas and Schmidhuber 2023, "Practical Computational Power of Linear
Transformers and Their Recurrent and Self-Referential Extensions", Sec. 4.1, App. C.2, Tables 1 and 2).

Letters: n the size of a string, or pairs of brackets, V tokens, C classes, d depth: how many brackets are open.

Each class says what is answered after a token, ``bin`` which sizes are trained on and tested.  The paper takes its
strings from Bhattamishra, Ahuja and Goyal (2020); ``published`` draws as their generators do. What is not as one
expects:

* every parity string has an even number of 1s: to an odd one a 1 is appended, so the last answer is always T;
* their "Shuffle-2" comes from a grammar of nested brackets (``nested=True``): every string of it is a Dyck-2 string,
  and no string like ([)] occurs.  ``nested=False`` has the true shuffles;
* a reset Dyck-1 string has exactly one reset, and the window bounds each half, not the whole string;
* (aa)*, (abab)*, a^n b^n and a^n b^n c^n have so few strings that a test bin is the list of them: accuracies are
  multiples of 4, 8.3 or 7.7, and 2 per cent, and every test string of Bin0 has been trained on.

The paper's App. C.2 codes Shuffle-2's answers 0: both closed, 1: ( open, 2: [ open, 3: both.  By that code ([]) is
answered 1310; the 2320 printed there is the pair of flags (type 0, type 1) read as a binary number.
"""

from __future__ import annotations

import random
import re
from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from math import comb
from typing import Any

import numpy as np
import torch

from lrnnlab.automata.languages import counter, prefixes, repeats, what_is_left
from lrnnlab.tasks.counter_languages.strings import CountedTask, PositiveTask, Regular
from lrnnlab.validation import whole_number

OPEN, CLOSE, RESET = 0, 1, 2


class PrefixParity(Regular, CountedTask):
    """T where the number of 1s so far is even, else F; strings have an even number of them (003, Table 1)."""

    name, symbols, meanings = "Parity of prefixes", ("0", "1"), ("F", "T")
    rule = replace(counter(2), outputs=np.array([1, 0]))
    shared_pool = True

    def accepts(self, state: Any) -> bool:
        return self.output(state) == 1

    def says(self, text: str) -> int:
        return int(self.holds(text))

    def holds(self, text: str) -> bool:
        return text.count("1") % 2 == 0

    def published(self, window: tuple[int, int], rng: random.Random) -> list[int]:
        """Fair bits that end with probability 1 / (1 + the middle of the window), or at its end; see the module."""
        least, most = window
        stop = 1 / (1 + (least + most) // 2)
        while True:
            word = []
            while len(word) < most and rng.random() >= stop:
                word.append(rng.randrange(2))
            if len(word) >= least:
                word += [1] * (sum(word) % 2)
                if len(word) <= most:
                    return word


class OneWord(PositiveTask):
    """A language with one string for each n = 1, 2, ..., of n ``period`` tokens; ``word(n)`` writes it."""

    period: int

    @abstractmethod
    def word(self, n: int) -> str:
        """The written string of number n."""

    def tokens(self, n: int) -> list[int]:
        """The string of number n as a list of tokens."""
        return [self.symbols.index(char) for char in self.word(n)]

    def holds(self, text: str) -> bool:
        return text != "" and text == self.word(len(text) // self.period)

    def number(self, length: int) -> int:
        return int(whole_number(length, 0, f"{self.name}: a length") > 0 and length % self.period == 0)

    def listed(self, window: tuple[int, int]) -> list[list[int]]:
        return [self.tokens(length // self.period) for length in self.lengths(window) if self.number(length)]

    def draw(self, batch: int, length: int, generator: torch.Generator) -> torch.Tensor:
        if not self.number(length):
            raise ValueError(f"{self}: no string has length {length}")
        return torch.tensor(self.tokens(length // self.period), device=generator.device).repeat(batch, 1)


class EvenAs(Regular, OneWord):
    """(aa)*: 1 where the length so far is even (003, Table 1)."""

    name, symbols, meanings, repeated = "(aa)*", ("a",), ("0", "1"), "aa"
    rule = repeats(repeated, symbols)

    @property
    def period(self) -> int:  # type: ignore[override]
        return len(self.repeated)

    def says(self, text: str) -> int:
        return int(re.fullmatch(f"({self.repeated})*", text) is not None)

    def word(self, n: int) -> str:
        return self.repeated * n

    def published(self, window: tuple[int, int], rng: random.Random) -> list[int]:
        """As many repeats as fit into a length uniform in the window; drawn again if that is too short."""
        least, most = window
        while True:
            n = rng.randint(least, most) // self.period
            if n * self.period >= least:
                return self.tokens(n)


class Ababs(EvenAs):
    """(abab)*: 1 where the prefix is a repetition of abab (003, Table 1)."""

    name, symbols, repeated = "(abab)*", ("a", "b"), "abab"  # type: ignore[assignment]
    rule = prefixes(repeats(repeated, symbols))


class BlockWords(OneWord):
    """a^n b^n (``letters`` 2) or a^n b^n c^n (3): the next symbol, N where a or b may come, S at the end (Table 1)."""

    initial = (0, 0, 0)
    least_size = 1

    def __init__(self, letters):
        self.symbols = tuple("abc"[:letters])
        self.name = " ".join(f"{letter}^n" for letter in self.symbols)
        self.meanings = ("N", *self.symbols[1:], "S")
        self.tokens_per_size = self.period = letters

    def step(self, state: Any, token: int) -> Any:
        n, letter, left = state
        if token == 0:
            return (n + 1, 0, 0) if letter == 0 else None
        if left:
            return (n, letter, left - 1) if token == letter else None
        return (n, token, n - 1) if n and token == letter + 1 else None

    def output(self, state: Any) -> int:
        _, letter, left = state
        return letter + (left == 0) if letter else 0  # the letter itself, or the next one, or S

    def says(self, text: str) -> int:
        whole = self.word(text.count("a")) + "S"
        return self.meanings.index("N" if set(text) == {"a"} else whole[len(text)])

    def word(self, n: int) -> str:
        return "".join(letter * n for letter in self.symbols)

    def published(self, window: tuple[int, int], rng: random.Random) -> list[int]:
        """n uniform in the window."""
        return self.tokens(rng.randint(*window))


def grammar(
    most: int, rng: random.Random, pairs: Sequence[tuple[int, int]] = ((OPEN, CLOSE),), size: int = 0
) -> list[int]:
    """A string of S -> ( S ) with probability 1/2, S S with 1/4, nothing with 1/4; a list of tokens, maybe empty."""
    made: list[list[int]] = []  # parts that are finished
    todo: list[tuple] = [("S", size)]  # the next one last; "S" holds a size, "( S )" its pair.  Brackets nest too deep to recurse
    while todo:
        what, held = todo.pop()
        word: list[int] = []
        if what == "S":
            choice = rng.random() if held < most else 1.0
            if choice < 0.5:
                todo += [("( S )", rng.choice(pairs)), ("S", held + 2)]
                continue
            if choice < 0.75:
                todo += [("S S", None), ("S", held), ("S", held)]
                continue
        elif what == "( S )":
            word = [held[0], *made.pop(), held[1]]
        else:
            second = made.pop()
            word = made.pop() + second
        made.append(word if len(word) <= most else [])
    return made.pop()


def catalan(n: int) -> int:
    """How many strings of n pairs of brackets are balanced."""
    return comb(2 * n, n) // (n + 1)


class Brackets(CountedTask):
    """Brackets of some kinds, each kind balanced: the state is their depths, and bit k of the class says: k is open."""

    def step(self, state: Any, token: int) -> Any:
        depths = list(state)
        depths[token // 2] += 1 - 2 * (token % 2)
        return None if min(depths) < 0 else tuple(depths)

    def output(self, state: Any) -> int:
        return sum((depth > 0) << kind for kind, depth in enumerate(state))

    def accepts(self, state: Any) -> bool:
        return not any(state)

    def through(self, state: Any) -> int:
        return 2 * sum(state)

    def pairs(self) -> list[str]:
        return ["".join(pair) for pair in zip(self.symbols[::2], self.symbols[1::2])]

    def says(self, text: str) -> int:
        return sum((text.count(pair[0]) > text.count(pair[1])) << kind for kind, pair in enumerate(self.pairs()))

    def holds(self, text: str) -> bool:
        left = [what_is_left("".join(char for char in text if char in pair), pair) for pair in self.pairs()]
        return set(text) <= set(self.symbols) and not any(left)

    def one(self, most: int, rng: random.Random) -> list[int]:
        """A string of at most about ``most`` tokens as the published generator draws it, perhaps too short."""
        return grammar(most, rng)

    def published(self, window: tuple[int, int], rng: random.Random) -> list[int]:
        while True:
            word = self.one(window[1], rng)
            if window[0] <= len(word) <= window[1]:
                return word


class Dyck1(Brackets):
    """Balanced brackets of one kind: 1 where one is open (003, Table 2)."""

    name, symbols, meanings, initial = "Dyck-1", ("(", ")"), ("0", "1"), (0,)


class ResetDyck1(CountedTask):
    """The beginning of a Dyck-1 string, 1, a Dyck-1 string: 1 where a bracket is open since the reset (003, Table 2).
    """

    name, symbols, meanings, initial = "reset Dyck-1", ("(", ")", "1"), ("0", "1"), (False, 0)
    shared_pool = True

    def step(self, state: Any, token: int) -> Any:
        after, depth = state
        if token == RESET:
            return None if after else (True, 0)
        return None if token == CLOSE and depth == 0 else (after, depth + 1 - 2 * token)

    def output(self, state: Any) -> int:
        return int(state[1] > 0)

    def accepts(self, state: Any) -> bool:
        return state == (True, 0)

    def through(self, state: Any) -> int:
        after, depth = state
        return 1 + (2 * depth if after else depth)

    def says(self, text: str) -> int:
        since = text.rpartition("1")[2]
        return int(since.count("(") > since.count(")"))

    def holds(self, text: str) -> bool:
        first, reset, second = text.partition("1")
        open_brackets = set(what_is_left(first, "()")) <= {"("}
        return bool(reset) and open_brackets and what_is_left(second, "()") == ""

    def lengths(self, window: tuple[int, int]) -> range:
        least, most = window
        return range(least, 2 * most + 2)

    def in_window(self, text: str, window: Any) -> bool:
        first, _, second = text.partition("1")
        needed = max(len(first) + len(what_is_left(first, "()")), len(second))
        return self.holds(text) and needed <= window[1] and len(text) >= window[0]

    def count(self, window: tuple[int, int]) -> int:
        """See ``PositiveTask.count``.  A beginning of i tokens and depth d needs d more: i + d is bounded, not i."""
        least, most = window
        walks = [sum((d + 1) * comb(i + 1, (i - d) // 2) // (i + 1) for d in range(i % 2, min(i, most - i) + 1, 2))
                 for i in range(most + 1)]  # fmt: skip
        tails = [catalan(j // 2) if j % 2 == 0 else 0 for j in range(most + 1)]
        return sum(walk * tail for i, walk in enumerate(walks) for j, tail in enumerate(tails) if i + 1 + j >= least)

    def published(self, window: tuple[int, int], rng: random.Random) -> list[int]:
        """A string of the grammar, cut anywhere, 1, another one; drawn again if the whole is too short."""
        least, most = window
        while True:
            first, second = grammar(most, rng), grammar(most, rng)
            word = [*first[: rng.randrange(len(first) + 1)], RESET, *second]
            if len(word) >= least:
                return word


class Shuffle2(Brackets):
    """Two kinds of brackets, each balanced: which are open, 0 none, 1 type 0 (, 2 type 1 [, 3 both (003, Table 1)."""

    symbols, meanings, initial = ("(", ")", "[", "]"), ("0", "1", "2", "3"), (0, 0)

    def __init__(self, nested=True):
        super().__init__()
        self.nested, self._shapes = bool(nested), Dyck1()
        self.name = "Shuffle-2" if self.nested else "Shuffle-2 (true shuffles)"

    def holds(self, text: str) -> bool:
        return what_is_left(text, *self.pairs()) == "" if self.nested else super().holds(text)

    def number(self, length: int) -> int:
        n = whole_number(length, 0, f"{self.name}: a length") // 2
        return 0 if length % 2 else catalan(n) * (2**n if self.nested else catalan(n + 1))

    def draw(self, batch: int, length: int, generator: torch.Generator) -> torch.Tensor:
        if not self.nested:
            return super().draw(batch, length, generator)
        kinds = torch.randint(2, (batch, length), generator=generator, device=generator.device).tolist()
        shapes = self._shapes.draw(batch, length, generator).tolist()
        return torch.tensor([self._dress(*both) for both in zip(shapes, kinds)], device=generator.device)

    @staticmethod
    def _dress(row, kinds):
        """A Dyck-1 string whose opening brackets, and the closing ones with them, become of the given kinds."""
        opened, word = [], []
        for token, kind in zip(row, kinds):
            if token == OPEN:
                opened.append(kind)
            word.append(2 * (kind if token == OPEN else opened.pop()) + token)
        return word

    def one(self, most: int, rng: random.Random) -> list[int]:
        """Nested; or two strings shuffled: the places of the first are any set of places of its size."""
        if self.nested:
            return grammar(most, rng, ((0, 1), (2, 3)))
        parts = [[token + shift for token in grammar(most, rng)] for shift in (0, 2)]
        places = [0] * len(parts[0]) + [1] * len(parts[1])
        rng.shuffle(places)
        queues = [iter(part) for part in parts]
        return [next(queues[place]) for place in places]


COUNTER_TASKS: dict[str, Callable[..., PositiveTask]] = {
    "parity": PrefixParity,
    "aa": EvenAs,
    "abab": Ababs,
    "anbn": partial(BlockWords, 2),
    "anbncn": partial(BlockWords, 3),
    "shuffle_2": Shuffle2,
    "shuffle_2_true": partial(Shuffle2, nested=False),
    "dyck_1": Dyck1,
    "reset_dyck_1": ResetDyck1,
}
