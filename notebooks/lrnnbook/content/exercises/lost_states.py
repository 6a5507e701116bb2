"""Three ways to lose a state (notebook 09j): layers as they were shipped, the tests that find their faults, and the contracts.

A flip-flop stores the bit after the last ``w``; other letters change nothing.  Its state is the stored number and the letter
before, as in every layer with a short convolution.  ``whole(word, starts=())`` reads a word at once and returns its answers and
the state at its end; ``step(state, letter)`` reads one letter more and returns an answer and the state.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch

from lrnnbook.content.exercises.building import Build
from lrnnbook.content.exercises.judging import CannotJudge, call, claim, shown

VALUE = {"0": -1.0, "1": 1.0}
START = (0.0, "i")


def step(state: tuple, letter: str) -> tuple:
    """One letter more: the answer, and (stored, letter)."""
    x, before = state
    x = VALUE.get(letter, x) if before == "w" else x
    return x, (x, letter)


def whole(word: str, starts: Sequence[int] = (), keeps_letter: bool = True, resets_letter: bool = True, resets: bool = True) -> tuple:
    """All answers to a word, or to several side by side that begin at ``starts``, and the last state; or with one fault."""
    x, before, answers = *START, []
    for t, letter in enumerate(word):
        if t in starts and resets:
            x, before = START[0], START[1] if resets_letter else before
        answer, (x, before) = step((x, before), letter)
        answers.append(answer)
    return answers, (x, before if keeps_letter else START[1])


def shipped(fault: str) -> Callable:
    """The ``whole`` of a flip-flop with one fault: "hand-over", "packing" or "packed letter"."""
    wrong = {"hand-over": "keeps_letter", "packing": "resets", "packed letter": "resets_letter"}[fault]
    return lambda word, starts=(): whole(word, starts, **{wrong: False})


def parity_step(state: torch.Tensor, letter: str) -> tuple[int, torch.Tensor]:
    """Parity by a counter of ones: the answer, and the count."""
    count = state + int(letter)
    return int(torch.remainder(count, 2).round()), count


# The tests that find the faults, as one may write them.


def split_test(whole, step, word):  # -> the first n at which whole(word[:n]), then steps, ends in another answer; or None
    for n in range(len(word)):
        state = whole(word[:n])[1]
        for letter in word[n:]:
            answer, state = step(state, letter)
        if answer != whole(word)[0][-1]:
            return n


def rounding_test(step, start, word, dtype):  # -> the first place where a state that is kept in dtype answers otherwise; or None
    exact, kept = start, start.to(dtype)
    for t, letter in enumerate(word):
        (wanted, exact), (answer, new) = step(exact, letter), step(kept.to(start.dtype), letter)
        kept = new.to(dtype)
        if answer != wanted:
            return t


def packing_test(whole, words):  # -> the first word that ends in another answer side by side than alone; or None
    ends = np.cumsum([len(word) for word in words]).tolist()
    answers, _ = whole("".join(words), [0, *ends[:-1]])
    return next((i for i, word in enumerate(words) if answers[ends[i] - 1] != whole(word)[0][-1]), None)


# The contracts: each test is tried on layers without a fault and with one, the smallest words first.


def _place(answer: Callable, given: tuple, wanted: int | None, of: str) -> None:
    found: Any = call(answer, *given, copied=False)
    if found is not None and (isinstance(found, bool) or not isinstance(found, (int, np.integer))):
        raise CannotJudge(f"{of}: a place is asked for, or None, got {shown(found)}")
    claim(found == wanted, f"{of}: it returns {found}, and should return {wanted}")


def _words(longest: int) -> list[str]:
    draw = np.random.default_rng(0)
    return ["w1", "w", "0w1", "w0w1", "1", "w1i0w0", *("".join(draw.choice([*"wi01"], longest)) for _ in range(6))]


def _split(answer: Callable) -> None:
    for word in _words(12):
        for name, layer in (("without a fault", whole), ("whose whole pass loses the letter before", shipped("hand-over"))):
            _place(answer, (layer, step, word), split_test(layer, step, word), f"the word {word}, a layer {name}")


def _rounding(answer: Callable) -> None:
    start = torch.zeros(())
    for word in ("1", "0110", "1" * 256, "1" * 258, "0" * 300 + "1" * 300, "01" * 400):
        for dtype in (torch.float32, torch.bfloat16):
            _place(answer, (parity_step, start, word, dtype), rounding_test(parity_step, start, word, dtype),
                   f"{len(word)} bits, {word.count('1')} of them ones, a state kept in {str(dtype).removeprefix('torch.')}")  # fmt: skip


def _packing(answer: Callable) -> None:
    every = _words(5)
    for words in (["1"], ["w1", "0"], ["w", "1"], ["w1", "w0", "i"], every[:6], every[6:]):
        for name, layer in (("without a fault", whole), ("without a reset", shipped("packing")),
                            ("that resets only the number", shipped("packed letter"))):  # fmt: skip
            _place(answer, (layer, words), packing_test(layer, words), f"the words {', '.join(words)}, a layer {name}")


BUILDS = {
    "split_test": Build("09.12", _split, split_test, "one long word and every split of it find more than a thousand words read whole"),
    "rounding_test": Build("09.13", _rounding, rounding_test, "the loop is that of a decoder: compute in float32, keep in the smaller float"),
    "packing_test": Build("09.14", _packing, packing_test, "it needs no targets: a layer is compared with itself"),
}
