"""What each language is, said without a machine: regular expressions, Python's own arithmetic, points carried along.

Texts are words with one character a token, or where a ``Sequence`` is taken, sequences of symbols.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from math import prod

from lrnnlab.automata.machines import NO_LABEL

ODD_ONES, ODD_ZEROS = "(?<!1)1(?:11)*(?!1)", "(?<!0)0(?:00)*(?!0)"


def full(pattern: str) -> Callable[[str], int]:
    """1 if the whole text matches, else 0.

    >>> full("(aa)*")("aaa")
    0
    """
    return lambda text: int(re.fullmatch(pattern, text) is not None)


def without(pattern: str) -> Callable[[str], int]:
    """1 if no part of the text matches, else 0.

    >>> without("000")("1001")
    1
    """
    return lambda text: int(re.search(pattern, text) is None)


def pair(text: Sequence[str]) -> int:
    """1 if the last symbol is the first one, 0 if not, -1 for the empty text.

    >>> pair("010"), pair("")
    (1, -1)
    """
    return int(text[0] == text[-1]) if text else NO_LABEL


def terms(word: Sequence[str]) -> int:
    """Sum of signed products of numbers, for every word; between two signs stands an empty product, 1.

    >>> terms("1+2-3×4"), terms("2-+")
    (-9, 2)
    """
    _, *parts = re.split("([+-])", " ".join(("+", *word)))
    return sum(int(sign + "1") * prod(int(symbol) for symbol in part.split() if symbol != "×")
               for sign, part in zip(parts[::2], parts[1::2]))  # fmt: skip


def after_minus(text: str) -> int:
    """The numbers before the first minus less all numbers after it."""
    head, _, tail = text.partition("-")
    return sum(map(int, head)) - sum(int(char) for char in tail if char != "-")


def python(text: str) -> int:
    """Python's own arithmetic on a written expression, mod 5; -1 for other texts.

    >>> python("1+2-3×4"), python("1+")
    (1, -1)
    """
    if re.fullmatch(r"\d([-+×]\d)*", text) is None:
        return NO_LABEL
    return eval(text.replace("×", "*"), {"__builtins__": {}}) % 5  # the text holds checked numbers and operators only


def carried(generators: Mapping[str, tuple[int, ...]], text: Sequence[str]) -> str:
    """Where each point ends that goes through the permutations of the text (or of symbols), one after another.

    The ends stand side by side, with commas between them where there are more than ten points.

    >>> carried({"s": (1, 0, 2), "t": (1, 2, 0)}, "st")
    '210'
    """
    reached = []
    for point in range(len(next(iter(generators.values())))):
        for char in text:
            point = generators[char][point]
        reached.append(str(point))
    return ("," if len(reached) > 10 else "").join(reached)


def what_is_left(text: str, *pairs: str, times: int | None = None) -> str:
    """What is left when the pairs are taken out, again and again (or so many times): nothing of balanced brackets."""
    before = None
    while text != before and times != 0:
        before, times = text, None if times is None else times - 1
        for pair in pairs:
            text = text.replace(pair, "")
    return text
