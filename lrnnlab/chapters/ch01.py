"""The exercises of chapter 01 (subtraction) that a cell can check."""

from __future__ import annotations

import itertools
import math
import re

from lrnnlab.course.exercises import Exercise
from lrnnlab.course.judging import CannotJudge, claim, number, numbers, shown
from lrnnlab.course.predicting import prediction
from lrnnlab.algebra.cascades import universal_layer
from lrnnlab.algebra.groups import derived_series
from lrnnlab.automata.languages import language, read

STATES = 2001  # of the counter for Sum(5) on 500 digits: 4 * 500 + 1
CHANNELS = (  # of the universal layer over a and b, in its order
    "turns at every a", "turns at every b", "turns at every b and is reset by a", "turns at every a and is reset by b",
    "is reset by every letter",
)  # fmt: skip


def _sharing(answer) -> None:
    if not isinstance(answer, (tuple, list)) or not all(isinstance(text, str) for text in answer) or len(answer) != 2:
        raise CannotJudge(f"two expressions such as '0-1' are asked for, got {shown(answer)}")
    strange = [text for text in answer if not re.fullmatch("[0-3]-[0-3]", text)]
    claim(not strange, f"{strange and strange[0]!r} is no expression of two of the numbers 0, 1, 2, 3")
    claim(answer[0] != answer[1], "these are one expression, not two")
    for front in ("", *(f"{p}-" for p in range(4))):
        texts = [front + text for text in answer]
        values = [(2 * int(text[0]) - sum(map(int, text.split("-")))) % 4 for text in texts]
        claim(values[0] == values[1], f"{texts[0]} has the value {values[0]} and {texts[1]} has {values[1]}")


def _pieces(answer) -> None:
    m = number(answer)
    claim(5 * m >= STATES, f"{m:g} pieces are too few: some string of 500 digits leads to a state that none of them is "
                           "right on")  # fmt: skip
    claim(m == math.ceil(STATES / 5), f"{m:g} is enough, but it is not the least whole number that is")


def _words(answer) -> None:
    if not isinstance(answer, (tuple, list)) or not all(isinstance(word, str) for word in answer) or len(answer) != 2:
        raise CannotJudge(f"two words of a and b are asked for, got {shown(answer)}")
    asked = language("D_2")
    strange = [word for word in answer if set(word) - set("ab") or len(word) != 4]
    claim(not strange, f"{strange and strange[0]!r} is no word of four letters a and b")
    ends = (universal_layer("ab", 12).run(read(asked.machine, word))[-1][0] for word in answer)
    telling = [what for what, one, other in zip(CHANNELS, *ends, strict=True) if one != other]
    claim(not telling, f"a channel that {telling and telling[0]} tells {' and '.join(answer)} apart")
    first, second = (asked.oracle(word) for word in answer)
    claim(first != second, f"{answer[0]} and {answer[1]} have the same answer, {first}: they rule out nothing")


def _last_letter(answer) -> None:
    if not isinstance(answer, dict) or set(answer) != set(range(5)):
        raise CannotJudge(f"a dictionary with the letters 0 to 4 is asked for, got {shown(answer)}")
    size = len(numbers(answer[0][0], (None, None), "A of the letter 0"))
    table = [(numbers(answer[c][0], (size, size), f"A of the letter {c}"),
              numbers(answer[c][1], (size,), f"Bu of the letter {c}")) for c in range(5)]  # fmt: skip
    for word in itertools.product(range(5), repeat=4):
        state, last = [0.0] * size, 0
        for letter in word:
            A, drive = table[letter]
            state, last = A @ state + drive, letter or last
        claim(abs(state[0] - last / 4) < 1e-9, f"after {word} the first number is {state[0]:g}, not {last / 4:g}")


def _layers(answer) -> None:
    given, enough = number(answer), len(derived_series([(1, 2, 3, 4, 0), (0, 4, 3, 2, 1)])) - 1
    claim(given.is_integer(), f"a number of layers is whole, got {given:g}")
    claim(given >= enough, f"{given:g} is too few: take commutators, and commutators of these, as often as there are "
                           "layers, and more than the identity is left")  # fmt: skip
    claim(given == enough, f"{given:g} would do, but fewer do as well")


def _block() -> dict:
    reset = [[0, 0], [0, 0]]
    return {0: ([[1, 0], [0, 1]], [0, 0]), **{s: (reset, [s / 4, 0]) for s in range(1, 5)}}


EXERCISES = (
    Exercise(
        "01.4", 1, 5, "where Theorem A needs an odd modulus", _sharing,
        ("By what does the proof divide?", "Both expressions must have one value, and one value with `p-` in front."),
        "The proof ends with $2(s_1 - t_1) \\equiv 0$, which modulo 4 leaves $s_1 - t_1 = 2$. So `0-0` and `2-2` may "
        "share a state: both have the value 0, and so have `0-0-0` and `0-2-2`. Any pair does in which both numbers "
        "differ by 2.",
        lambda: ("0-0", "2-2"),
    ),
    Exercise(
        "01.5", 2, 15, "what a periodic readout costs a ReLU network", _pieces,
        ("On one straight piece, how many of five successive answers 0, 1, 2, 3, 4, 0, ... can lie on a line?",
         "At most five states a piece; section 3 counts the states of 500 digits."),
        "From 4 to 0 the answers fall by 4, otherwise they rise by 1; rounding allows each an error of one half. So a "
        "straight piece is right on 0, 1, 2, 3, 4 at best: $5m$ states in a row for $m$ pieces. Strings of 500 digits "
        "have 2001 states: $m \\ge 401$.",
        lambda: 401,
    ),
    Exercise(
        "01.6", 1, 5, "to refute all diagonal layers with two words", _words,
        ("Look at (abab)* in the table of killer words.", "u = a, v = b; w must contain both letters."),
        "`abab` is balanced and `baab` is not; $u = a$, $v = b$, $w = ab$, so Theorem D gives both one state.",
        lambda: ("abab", "baab"),
    ),
    Exercise(
        "01.8", 2, 10, "that to forget is a transition of zeros", _last_letter,
        ("What must a letter other than 0 do to the state before?", "Its A is zero, and Bu is what is to be stored."),
        "Letter 0: the identity, nothing driven. Letter $s \\ne 0$: $A = 0$, $B u_s = (s/4, 0)$. It needs no block at "
        "all: this is a reset in a channel.",
        _block,
    ),
    Exercise(
        "01.9", 2, 10, "how depth follows from commutators", _layers,
        ("Turns commute with turns.", "Which symmetries are commutators? Do these commute?"),
        "Two. The reflections undo the order of turns, so the group does not commute; the commutators are turns, and "
        "turns commute: sizes 10, 5, 1.",
        lambda: 2,
    ),
    prediction(
        "01.12", 1, 5, "what a layer of resets and turns cannot see",
        "The answer is 1 where the last two letters are equal, else 0: a b b a a gives 0 0 1 0 1. Do the answers fit "
        "into one diagonal layer with finitely many states?",
        ("yes", "no: two letters do not commute", "no: repetitions of a letter matter"),
        "no: repetitions of a letter matter",
        ("Before a word that contains both letters, is anything remembered?", "Compare b a with b a a a a ..."),
        "The order of letters is no obstacle: after two letters all before them is forgotten. But in one channel a "
        "letter either resets, and twice is as good as once, or turns, and after K turns all is as before. Either way "
        "K + 1 times a leads where one a leads, and after b the answer to one a is 0, to more than one it is 1.",
    ),
)  # fmt: skip
