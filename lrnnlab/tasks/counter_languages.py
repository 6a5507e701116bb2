"""The eight languages of paper 003 (Irie, Csordas and Schmidhuber 2023, "Practical Computational Power of Linear
Transformers and Their Recurrent and Self-Referential Extensions", Sec. 4.1, App. C.2, Tables 1 and 2).

Letters: n the size of a string, C classes.

========================  ============================================================  ==========================
task                      the answer after each token                                   sizes in Bin0, Bin1
========================  ============================================================  ==========================
``PrefixParity``          T where the 1s so far are even in number, else F              2..50, 51..100 tokens
``EvenAs``, (aa)*         1 where the prefix is in the language                         25 strings, 25 strings
``Ababs``, (abab)*        1 where the prefix is in the language                         12 strings, 13 strings
``BlockWords(2 or 3)``    the next symbol, N where it is open, S at the end             n = 1..50, n = 51..100
``Shuffle2``              which of the two kinds of brackets are open: 0, 1, 2, 3       2..50, 52..100 tokens
``Dyck1``                 1 where a bracket is open                                     2..50, 52..100 tokens
``ResetDyck1``            1 where a bracket is open since the reset, the token 1        2..101, 51..201 tokens
========================  ============================================================  ==========================

The paper takes its strings from Bhattamishra, Ahuja and Goyal (2020); ``published`` draws as their generators do.
What is not as one expects:

* every parity string has an even number of 1s: to an odd one a 1 is appended, so the last answer is always T;
* their "Shuffle-2" comes from a grammar of nested brackets (``nested=True``): every string of it is a Dyck-2 string,
  and no string like ([)] occurs.  ``nested=False`` has the true shuffles;
* a reset Dyck-1 string has exactly one reset, and the window bounds each half, not the whole string;
* (aa)*, (abab)*, a^n b^n and a^n b^n c^n have so few strings that a test bin is the list of them: accuracies are
  multiples of 4, 8.3 or 7.7, and 2 per cent, and every test string of Bin0 has been trained on.

The paper's App. C.2 codes Shuffle-2's answers 0: both closed, 1: ( open, 2: [ open, 3: both.  By that code ([]) is
answered 1310; the 2320 printed there is the pair of flags (type 0, type 1) read as a binary number.
"""

import re
from abc import abstractmethod
from collections.abc import Callable
from functools import partial

import torch

from lrnnlab.errors import whole_number
from lrnnlab.tasks.bracket_languages import Dyck1, ResetDyck1, Shuffle2
from lrnnlab.tasks.counted_strings import CountedTask
from lrnnlab.tasks.positive_strings import PositiveTask


class PrefixParity(CountedTask):
    """T where the number of 1s so far is even, else F; strings have an even number of them (003, Table 1).

    >>> task = PrefixParity()
    >>> [task.show_answers(text) for text in ("0110", "0100", "1001")]
    ['TFTT', 'TFFF', 'FFFT']
    """

    title, symbols, meanings, initial = "Parity of prefixes", ("0", "1"), ("F", "T"), 0
    shared_pool = True

    def step(self, state, token):
        return (state + token) % 2

    def output(self, state):
        return 1 - state

    def accepts(self, state):
        return state == 0

    def through(self, state):
        return state

    def answer(self, tokens):
        text = self.write(tokens)
        return [int(text[:end].count("1") % 2 == 0) for end in range(1, len(text) + 1)]

    def holds(self, text):
        return text.count("1") % 2 == 0

    def published(self, window, rng):
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
    def word(self, n):
        """The written string of number n."""

    def tokens(self, n):
        """The string of number n as a list of tokens."""
        return [self.symbols.index(char) for char in self.word(n)]

    def holds(self, text):
        return text != "" and text == self.word(len(text) // self.period)

    def number(self, length):
        return int(whole_number(length, 0, f"{self}: a length") > 0 and length % self.period == 0)

    def listed(self, window):
        return [self.tokens(length // self.period) for length in self.lengths(window) if self.number(length)]

    def draw(self, batch, length, generator):
        if not self.number(length):
            raise ValueError(f"{self}: no string has length {length}")
        return torch.tensor(self.tokens(length // self.period), device=generator.device).repeat(batch, 1)


class EvenAs(OneWord):
    """(aa)*: 1 where the length so far is even (003, Table 1).

    >>> task = EvenAs()
    >>> [task.show_answers(text) for text in ("aa", "aaaa")]
    ['01', '0101']
    """

    title, symbols, meanings, initial = "(aa)*", ("a",), ("0", "1"), 0
    repeated = "aa"

    @property
    def period(self):
        return len(self.repeated)

    def step(self, state, token):
        return (state + 1) % self.period

    def output(self, state):
        return int(state == 0)

    def answer(self, tokens):
        text = self.write(tokens)
        return [int(re.fullmatch(f"({self.repeated})*", text[:end]) is not None) for end in range(1, len(text) + 1)]

    def word(self, n):
        return self.repeated * n

    def published(self, window, rng):
        """As many repeats as fit into a length uniform in the window; drawn again if that is too short.

        So of Bin0's strings the longest is half as frequent as the others, and of (abab)* three quarters.
        """
        least, most = window
        while True:
            n = rng.randint(least, most) // self.period
            if n * self.period >= least:
                return self.tokens(n)


class Ababs(EvenAs):
    """(abab)*: 1 where the prefix is a repetition of abab (003, Table 1).

    >>> Ababs().show_answers("abababab")
    '00010001'
    """

    title, symbols, repeated = "(abab)*", ("a", "b"), "abab"  # type: ignore[assignment]

    def step(self, state, token):
        return super().step(state, token) if token == state % 2 else None


class BlockWords(OneWord):
    """a^n b^n (``letters`` 2) or a^n b^n c^n (3): the next symbol, N where a or b may come, S at the end (003, Table 1).

    The state is (n, the letter last read, how many of it are left).  ValueError unless there are 2 or 3 letters.

    >>> [BlockWords(2).show_answers(text) for text in ("ab", "aabb", "aaabbb")]
    ['NS', 'NNbS', 'NNNbbS']
    >>> [BlockWords(3).show_answers(text) for text in ("abc", "aabbcc", "aaabbbccc")]
    ['NcS', 'NNbccS', 'NNNbbcccS']
    """

    initial = (0, 0, 0)
    least_size = 1

    def __init__(self, letters):
        if letters not in (2, 3):
            raise ValueError(f"a^n b^n has 2 letters and a^n b^n c^n has 3, got letters={letters!r}")
        self.symbols = tuple("abc"[:letters])
        self.title = " ".join(f"{letter}^n" for letter in self.symbols)
        self.meanings = ("N", *self.symbols[1:], "S")
        self.tokens_per_size = self.period = letters

    def step(self, state, token):
        n, letter, left = state
        if token == 0:
            return (n + 1, 0, 0) if letter == 0 else None
        if left:
            return (n, letter, left - 1) if token == letter else None
        return (n, token, n - 1) if n and token == letter + 1 else None

    def output(self, state):
        _, letter, left = state
        return letter + (left == 0) if letter else 0  # the letter itself, or the next one, or S

    def answer(self, tokens):
        text = self.write(tokens)
        following = self.word(text.count("a")) + "S"
        nexts = ["N" if set(text[:end]) == {"a"} else following[end] for end in range(1, len(text) + 1)]
        return [self.meanings.index(symbol) for symbol in nexts]

    def word(self, n):
        return "".join(letter * n for letter in self.symbols)

    def published(self, window, rng):
        """n uniform in the window."""
        return self.tokens(rng.randint(*window))


COUNTER_TASKS: dict[str, Callable[[], PositiveTask]] = {
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


def bin_sizes():
    """How many different strings the two bins of each task have: rows for a table.

    >>> for row in bin_sizes()[1:5]:
    ...     print(*row.values())
    (aa)* 25 25
    (abab)* 12 13
    a^n b^n 50 50
    a^n b^n c^n 50 50
    """
    tasks = [make() for make in COUNTER_TASKS.values()]
    return [{"task": task.name, **{f"Bin{k}": task.count(task.bin(k)) for k in (0, 1)}} for task in tasks]
