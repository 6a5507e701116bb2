"""The judges of chapter 01's exercises; hints and solutions are in ch01.md."""

import itertools
import re
import unicodedata
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from lrnnbook.content.exercises.building import Build
from lrnnbook.content.exercises.judging import CannotJudge, call, claim, numbers, one_number, shown, texts, wrong_step
from lrnnbook.content.exercises.prediction import prediction
from lrnnbook.content.tables.minimal import TASKS
from lrnnlab.automata.languages import language, read
from lrnnlab.expressivity.theorems.cascades import universal_layer

M = 5
PIECES = 2 * 400  # a rise and a fall for every five of the states 0 to 2000 of the counter for Sum(5) on 500 digits
CHANNELS = (  # of the universal layer over a and b, in its order
    "turns at every a", "turns at every b", "turns at every b and is reset by a", "turns at every a and is reset by b",
    "is reset by every letter",
)  # fmt: skip


def _value(numbers: Sequence[int]) -> int:
    return (2 * numbers[0] - sum(numbers)) % M  # a - b - c - ...


def _sharing(answer) -> None:
    answer = texts(answer, "two expressions such as '0-1'", 2)
    strange = [text for text in answer if not re.fullmatch("[0-3]-[0-3]", text)]
    claim(not strange, f"{strange and strange[0]!r} is no expression of two of the numbers 0, 1, 2, 3")
    claim(answer[0] != answer[1], "these are one expression, not two")
    for front in ("", *(f"{p}-" for p in range(4))):
        pair = [front + text for text in answer]
        values = [(2 * int(text[0]) - sum(map(int, text.split("-")))) % 4 for text in pair]
        claim(values[0] == values[1], f"{pair[0]} has the value {values[0]} and {pair[1]} has {values[1]}")


def _words(answer) -> None:
    answer = texts(answer, "two words of a and b", 2)
    machine = language("D_2").machine  # for its letters
    strange = [word for word in answer if set(word) - set("ab") or len(word) != 4]
    claim(not strange, f"{strange and strange[0]!r} is no word of four letters a and b")
    ends = (universal_layer("ab", 12).run(read(machine, word))[-1][0] for word in answer)
    telling = [what for what, one, other in zip(CHANNELS, *ends, strict=True) if one != other]
    claim(not telling, f"a channel that {telling and telling[0]} tells {' and '.join(answer)} apart")
    first, second = ("bb" in word for word in answer)
    claim(first != second, f"{answer[0]} and {answer[1]} have the same answer, {'yes' if first else 'no'}: they rule out nothing")


def _vector(value, size: int, what: str) -> np.ndarray:
    """A vector, which may be written as a matrix of one column."""
    try:
        return numbers(value, (size, 1), what)[:, 0]
    except CannotJudge:
        return numbers(value, (size,), what)


def _last_letter(answer) -> None:
    if not isinstance(answer, dict) or set(answer) != set(range(5)):
        raise CannotJudge(f"a dictionary with the letters 0 to 4 is asked for, got {shown(answer)}")
    for letter, pair in answer.items():
        if not isinstance(pair, (tuple, list)) or len(pair) != 2:
            raise CannotJudge(f"the letter {letter} should have a pair (A, b), got {shown(pair)}")
    size = len(numbers(answer[0][0], (None, None), "A of the letter 0"))
    claim(size > 0, "the blocks are empty: they should hold at least one number")
    table = [(numbers(answer[c][0], (size, size), f"A of the letter {c}"),
              _vector(answer[c][1], size, f"b of the letter {c}")) for c in range(5)]  # fmt: skip
    zeros = (0,) * size  # of these, what forgets by and by has forgotten
    for word in (word + more for word in itertools.product(range(5), repeat=4) for more in ((), zeros)):
        state, last = [0.0] * size, 0
        for letter in word:
            A, drive = table[letter]
            state, last = A @ state + drive, letter or last
        claim(abs(state[0] - last / 4) < 1e-9, f"after {word} the first number is {state[0]:g}, not {last / 4:g}")


LAYERS = (  # of collide: A, what the digits add, what the minus adds
    (0, (1, 2, 3, 4, 5), 6), (1, (0, 1, 2, 3, 4), 0), (1, (1, 2, 3, 4, 5), 6), (-1, (1, 2, 3, 4, 5), 6), (2, (1, 2, 3, 4, 5), 6),
    (3, (1, 2, 3, 4, 5), 6), (7, (1, 2, 3, 4, 5), 6), (2, (0, 4, 3, 2, 1), 1), (-2, (0, 1, 2, 3, 4), 5), (1, (0, 0, 1, 5, 9), 0),
    (Fraction(1, 2), (0, 1, 2, 3, 4), 1), (3, (0, 1, 9, 4, 5), 2), (2, (0, 7, 1, 4, 9), 0),
)  # fmt: skip


def _state(A: Any, code: Mapping[str, Any], text: str) -> Any:
    x = 0
    for letter in text:
        x = A * x + code[letter]
    return x


def collide(A, code, n):  # a number, letter -> number, numbers -> two texts with one state and different values, or None
    seen = {}
    for row in itertools.product("01234", repeat=n):
        text = "-".join(row)
        other = seen.setdefault(_state(A, code, text), text)
        if other != text:
            while other[0] == text[0]:
                other, text = other[2:], text[2:]
            front = "" if _value([*map(int, other.split("-"))]) != _value([*map(int, text.split("-"))]) else "0-"
            return front + other, front + text
    return None


def _collides(answer) -> None:
    """Two expressions with one state and different values, for each layer that has two of n numbers in one state; else None."""
    for n, (A, digits, minus) in itertools.product((1, 2, 3), LAYERS):
        code = dict(zip("01234-", (*digits, minus)))
        given, wanted = call(answer, A, code, n), collide(A, code, n)
        told = f"A = {A}, code = {code}, n = {n}: it gives {shown(given)}"
        if given is None or wanted is None:
            claim(given is None and wanted is None, f"{told}, but "
                  + ("all expressions have states of their own" if wanted is None else f"{wanted[0]} and {wanted[1]} refute this layer"))
            continue
        if not isinstance(given, (list, tuple)):
            raise CannotJudge(f"{told}, and a tuple of two texts such as ('0-1', '1-0') is asked for")
        pair = texts(given, f"{told}, and two texts such as '0-1'", 2)
        for text in pair:
            claim(re.fullmatch("[0-4](-[0-4])*", text), f"{told}, and {text!r} is no expression of the numbers 0 to 4")
        ends, values = ([of(text) for text in pair] for of in (lambda text: _state(A, code, text),
                                                               lambda text: _value([*map(int, text.split("-"))])))  # fmt: skip
        claim(ends[0] == ends[1], f"{told}, whose states are {ends[0]} and {ends[1]}")
        claim(values[0] != values[1], f"{told}, and both have the value {values[0]}")


BUILDS = {
    "collide": Build("01.4", _collides, collide,
                     "A = 2 is the layer that only the 0- in front refutes: 1-0 and 0-4 share a state, and their values are both 1."),
}  # fmt: skip


def _read_off(x: float) -> int:
    rest, digits = int(x), []
    while rest:
        rest, code = divmod(rest, 7)
        digits += [code - 1] if code != 6 else []
    return _value(digits[::-1])


SHORTEST = 10  # numbers: 19 letters in base 7 can pass 2^53, and 17 cannot


def _rounded(answer) -> None:
    if not isinstance(answer, str) or not re.fullmatch("[0-4](-[0-4])*", answer):
        raise CannotJudge(f'an expression of the numbers 0 to 4 is asked for, such as "0-1-2"; got {shown(answer)}')
    word = tuple(map(int, answer.split("-")))
    claim(len(word) <= SHORTEST, "there is a shorter expression that the layer gets wrong")
    x, due = _state(7.0, dict(zip("01234-", range(1, 7))), answer), _value(word)  # the base-7 layer, in floats
    claim(_read_off(x) != due, f"the layer's state is {x:.0f}, from which h reads {due}: that is right")


DEARER = ("Sum(5)", "a-b-c mod 5", "ModArith(5)", "Tomita 3", "Tomita 6", "S_3", "A_5")


def _plain(name: str) -> str:
    """S_3 and S₃, as the page shows it, and S3, as a browser copies that, are one name."""
    return unicodedata.normalize("NFKC", name).replace("_", "")


def _dearer(answer) -> None:
    written = {_plain(name): name for name in TASKS}
    answer = [written.get(_plain(name), name) for name in texts(answer, "the names of tasks")]
    strange = sorted(set(answer) - set(TASKS))
    claim(not strange, f"the table has no row for {strange and strange[0]!r}")
    same_size = sorted(set(answer) - set(DEARER))
    claim(not same_size, f"in the row of {same_size and same_size[0]} both columns say the same")
    claim(len(set(answer)) == len(DEARER), "there are other rows, too, in which the two columns differ")


def _three(answer, what: str) -> list:
    if not isinstance(answer, (list, tuple)) or len(answer) != 3:
        raise CannotJudge(f"{what} are asked for, got {shown(answer)}")
    return list(answer)


def _one_point(answer) -> None:
    *letter, points = _three(answer, "a, b and the points of R")
    (a, b), points = numbers(letter, (2,), "(a, b)"), numbers(points, (None,), "the points of R")
    claim(len(points) and np.isfinite(points).all(), f"R should have points, got {shown(points)}")
    claim(a != 0, "a = 0 is not among the letters that the argument is about")
    for x in points:
        claim(np.isclose(points, a * x + b).any(), f"the point {x:g} goes to {a * x + b:g}, which is not in R")
    claim(not np.isclose(abs(a), 1), f"|a| = 1 for a = {a:g}: here step 3 holds")


def _even_modulus(answer) -> None:
    given = numbers(answer, (3,), "M, a and c", real=True)
    claim(all(map(float.is_integer, given.tolist())) and given[0] >= 2, f"M, a and c are whole numbers, and M is at least 2; got {shown(answer)}")
    modulus, a, c = map(int, given)
    claim((a - c) % modulus, f"{a} and {c} are the same modulo {modulus}: here step 4 holds")
    claim(2 * (a - c) % modulus == 0, f"twice {a} and twice {c} are not the same modulo {modulus}, as step 3 has them")


def _not_diagonal(answer) -> None:
    A, v, w = _three(answer, "A, v and w")
    A = numbers(A, (None, None), "A")
    v, w = (numbers(given, (len(A),), name) for name, given in (("v", v), ("w", w)))
    claim(A.shape == (len(A), len(A)), f"A should be square, got {shown(A)}")
    claim(not np.allclose(v, w), "v = w, and the claim is about different vectors")
    claim(not np.allclose(A, np.diag(np.diag(A))), "A is diagonal, as step 2 says")
    first, second = A + np.diag(v), A + np.diag(w)
    claim(np.allclose(first @ second, second @ first),
          f"these do not commute: the products are {shown(first @ second)} and {shown(second @ first)}")  # fmt: skip


EXERCISES = (
    ("01.3", _rounded), ("01.9", _sharing),
    ("01.10", one_number(PIECES, "{} pieces are too few: no piece both rises and falls, and a continuous function that is right on "
                        "every state rises and falls, by turns, more often", "{} pieces are enough, but fewer are as well",
                        "pieces")),
    ("01.6", _words),
    prediction("01.11", ("yes", "no: two letters do not commute", "no: repetitions of a letter matter"),
               "no: repetitions of a letter matter"),
    ("01.7", _last_letter),
    ("01.5", wrong_step(3, {
        1: "a x + b = a y + b only if x = y, and a finite set that is mapped into itself without a collision is permuted",
        2: "a permutation leaves the sum of the points as it is, so a c + b = c, and a x + b less this is c + a (x - c)",
        4: "x goes to c + a (x - c), and a number of size 1 turns what it multiplies",
    }, _one_point)),
    ("01.8", wrong_step(4, {
        1: "one state has one answer, and the answers are the two values",
        2: "exercise 1 of the sitting: the difference of the two states does not depend on what is in front",
        3: "subtract the second congruence from the first",
        5: "where a and c are the same, step 1 leaves that b and d are",
    }, _even_modulus)),
    ("01.15", wrong_step(2, {
        1: "two diagonal matrices commute, and A commutes with itself; what is left of the difference is AD - DA",
        3: "each entry of the product is a product of two numbers",
        4: "it says no more than steps 2 and 3 together",
    }, _not_diagonal)),
    ("01.12", one_number(2, "{} is too few: take commutators, and commutators of these, as often as there are layers, and "
                         "more than the identity is left", "{} would do, but fewer do as well", "layers")),
    ("01.14", _dearer),
)  # fmt: skip
