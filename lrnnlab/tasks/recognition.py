"""Is the string in the language?  The tasks of paper 002, Table 1, part 2: D_n and Tomita's languages.

Letters: B batch, T time, V tokens, D_n the balanced brackets of depth at most n.

The paper names Bhattamishra et al. (2020), who ask for the legal next symbols; it asks for one label a string, 1 in the
language and 0 outside.  Its text trains up to length 50 and scores on 51..100.  Its released code trains these tasks up
to 40 (D_12 up to 80), begins to score two lengths beyond the training length, and goes up to 500 with D_n.

``STRING_TASKS`` has all tasks of Table 1 by name, and Tomita 1, 2 and 7.
"""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import groupby, pairwise

import torch

from lrnnlab.automata import build
from lrnnlab.automata.languages import dyck, language, tomita_3
from lrnnlab.errors import checked, whole_number
from lrnnlab.tasks.seeds import python_random
from lrnnlab.tasks.string_base import StringTask
from lrnnlab.tasks.string_tasks import BITS, CycleNavigation, EvenPairs, ModularArithmetic, Parity

RARE = 64  # a class with fewer than one string in so many is not drawn by trying


class Recognition(StringTask):
    """1 for strings of a language, 0 for others; half of a batch is drawn from each (paper 002, Table 1, part 2).

    ``dfa`` is a ``MooreMachine`` that shows 1 where it accepts; ``holds(text)`` says independently whether a written
    string is in the language.  ``published(length, rng)`` is the generator of strings of the language, as lists of
    tokens, that came with the paper (``rng`` a ``random.Random``); without it, or with ``uniform=True``, each string of
    the length is as likely as any other.  Strings outside the language are uniform in either case.

    In a batch the strings of the language come first; of an odd one the last seat goes to either class by a coin.
    Where a length has strings of one class only, the whole batch is of that class.

    >>> from lrnnlab.automata.languages import dyck
    >>> task = Recognition("pairs", dyck(1), lambda text: text == "ab" * (len(text) // 2))
    >>> task.sample(4, 6, torch.Generator().manual_seed(0)).targets
    tensor([1, 1, 0, 0])
    >>> [task.majority(length) for length in (5, 6)]
    [1.0, 0.5]
    """

    classes = 2
    train_length, test_length = 50, 100

    def __init__(self, name, dfa, holds, published=None, uniform=False):
        if set(dfa.outputs.tolist()) - {0, 1}:
            raise ValueError(f"{name}: a DFA shows 0 or 1, got the classes {sorted(set(dfa.outputs.tolist()))}")
        self._name = f"{name} (uniform)" if uniform else name
        self.dfa, self.holds, self.published, self.uniform = dfa, holds, published, uniform
        self.symbols, self.initial = dfa.symbols, dfa.initial

    @property
    def name(self):
        return self._name

    def step(self, state, token):
        return int(self.dfa.transitions[token, state])

    def output(self, state):
        return int(self.dfa.outputs[state])

    def answer(self, tokens):
        """1 or 0 for ONE string, by ``holds`` on its text."""
        return int(self.holds(self.write(tokens)))

    def label_shares(self, length):
        counts = self.label_counts(length)
        return [Fraction(1, 2) if all(counts) else Fraction(int(count > 0)) for count in counts]

    def draw(self, batch, length, generator):
        coin = int(torch.randint(2, (), generator=generator, device=generator.device))
        negative, positive = self.label_counts(length)
        positives = (batch + coin) // 2 if negative and positive else batch * (positive > 0)
        outside = self.of_class(0, batch - positives, length, generator)
        return torch.cat([self.positives(positives, length, generator), outside])

    def positives(self, count, length, generator):
        """``count`` strings of the language (count, T), as a batch has them; see the class."""
        if self.published is None or self.uniform or not self.by_class[1].count(length):
            return self.of_class(1, count, length, generator)
        rng = python_random(generator)
        words = [self.published(length, rng) for _ in range(count)]
        return torch.tensor(words, dtype=torch.int64, device=generator.device).reshape(count, length)

    def of_class(self, label, count, length, generator):
        """``count`` strings (count, T), uniform among those of class ``label``.

        By trying random strings where the class is common, else by ``UniformStrings``: the chances are the same.
        ValueError if no string of the length has the class.
        """
        strings = self.by_class[label]
        if strings.count(length) * RARE < self.vocab_size**length:
            return strings.sample(length, count, generator)
        kept = torch.empty(0, length, dtype=torch.int64, device=generator.device)
        while len(kept) < count:
            tokens = torch.randint(self.vocab_size, (count, length), generator=generator, device=generator.device)
            kept = torch.cat([kept, tokens[self.label(tokens) == label]])
        return kept[:count]


def nested(n, length, rng):
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


def blocks_of_tomita_3(length, rng):
    """Blocks of a random bit, each of uniform length 0..what is left; after an odd block of 1s of even length."""
    word, ones = [], 0  # ones: how long the last block of 1s is
    while len(word) < length:
        bit = rng.randrange(2)
        count = rng.randrange(0, length - len(word) + 1, 2 if bit == 0 and ones % 2 else 1)
        if bit and count:
            ones = count + (ones if word[-1:] == [1] else 0)
        word += [bit] * count
    return word


def bits_of_tomita_4(length, rng):
    """Fair bits, but always 1 after 00."""
    word = []
    for _ in range(length):
        word.append(1 if word[-2:] == [0, 0] else rng.randrange(2))
    return word


def blocks_of_tomita_7(length, rng):
    """Three blocks 0, 1, 0, each of uniform length 0..what is left, then 1s."""
    word = []
    for bit in (0, 1, 0):
        word += [bit] * rng.randrange(length - len(word) + 1)
    return word + [1] * (length - len(word))


def no_odd_ones_then_odd_zeros(text):
    """Whether no odd block of 1s stands directly before an odd block of 0s."""
    blocks = [(bit, len(list(block)) % 2) for bit, block in groupby(text)]
    return (("1", 1), ("0", 1)) not in pairwise(blocks)


TOMITA = {  # number: machine, independent definition, the paper's generator (None: uniform)
    1: (lambda: build(True, BITS, lambda s, v: s and v == 1, int), lambda text: "0" not in text, None),
    2: (
        lambda: build(0, BITS, lambda s, v: 1 - s if s != 2 and v == 1 - s else 2, lambda s: int(s == 0)),
        lambda text: text == "10" * (len(text) // 2),
        None,
    ),
    3: (tomita_3, no_odd_ones_then_odd_zeros, blocks_of_tomita_3),
    4: (lambda: language("Tomita 4").machine, lambda text: "000" not in text, bits_of_tomita_4),
    5: (
        lambda: language("Tomita 5").machine,
        lambda text: text.count("0") % 2 == 0 and text.count("1") % 2 == 0,
        None,
    ),
    6: (lambda: language("Tomita 6").machine, lambda text: (text.count("0") - text.count("1")) % 3 == 0, None),
    7: (
        lambda: build(0, BITS, lambda s, v: min(4, s + (v != s % 2)), lambda s: int(s < 4)),
        lambda text: text.count("10") <= 1,
        blocks_of_tomita_7,
    ),
}


@checked
def tomita(number: int, uniform: bool = False):
    """Tomita's language ``number``, 1..7, as a ``Recognition`` task; 3 to 6 are in paper 002, Table 1.

    1: only 1s; 2: (10)*; 3: no odd block of 1s directly before an odd block of 0s; 4: no 000; 5: an even number of 0s
    and of 1s; 6: as many 0s as 1s, mod 3; 7: 0*1*0*1*.

    Positives of 5 and 6 are uniform in the paper too; 3, 4, 7 have generators; ``uniform=True`` leaves these aside.
    The released code has no Tomita 2, takes only 0s for Tomita 1, and misses the one negative of Tomita 7 at length 4,
    1010.  ValueError for another number.

    >>> [(tomita(k).name, tomita(k).label_counts(10)[1]) for k in (1, 2, 3)]
    [('Tomita 1', 1), ('Tomita 2', 1), ('Tomita 3', 312)]
    """
    if number not in TOMITA:
        raise ValueError(f"Tomita's languages are 1..7, got {number!r}")
    make, holds, published = TOMITA[number]
    return Recognition(f"Tomita {number}", make(), holds, published, uniform)


@checked
def bounded_dyck(n, uniform: bool = False):
    """D_n = (0 D_{n-1} 1)*, brackets 0 and 1 of depth at most n, as a ``Recognition`` task (002, Table 1).

    The independent definition: taking all 01 out, n times over, leaves nothing.  ValueError for n below 1.

    >>> task = bounded_dyck(2)
    >>> [task.answer(task.read(text)) for text in ("00101101", "00010110", "01111010")]
    [1, 0, 0]
    """
    n = whole_number(n, 1, "D_n: the depth")

    def holds(text):
        for _ in range(n):
            text = text.replace("01", "")
        return not text

    return Recognition(f"D_{n}", replace(dyck(n), symbols=BITS), holds, partial(nested, n), uniform)


STRING_TASKS: dict[str, Callable[[], StringTask]] = {
    "even_pairs": EvenPairs,
    "modular_arithmetic": ModularArithmetic,
    "modular_arithmetic_prefix": partial(ModularArithmetic, prefix=True),
    "parity": Parity,
    "cycle_navigation": CycleNavigation,
    **{f"d_{n}": partial(bounded_dyck, n) for n in (2, 3, 4, 12)},
    **{f"tomita_{number}": partial(tomita, number) for number in TOMITA},
}
