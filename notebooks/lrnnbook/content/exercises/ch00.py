"""The judges of chapter 00's exercises; hints and solutions are in ch00.md."""

import numpy as np

from lrnnbook.content.exercises.judging import agree, claim, numbers, texts
from lrnnbook.content.exercises.prediction import prediction

TEXTS = ("0", "4", "44", "104", "0324", "4444", "12340", "3" * 40)


def _sums(text: str) -> list[int]:
    return [sum(map(int, text[:end])) % 5 for end in range(1, len(text) + 1)]


def _running(answer) -> None:
    agree(answer, _sums, [(text,) for text in TEXTS])


def _five_words(answer) -> None:
    words = texts(answer, "five texts")
    claim(len(words) == 5, f"five words are asked for, and these are {len(words)}")
    for word in words:
        claim(set(word) <= set("01234"), f"{word!r} is no word of the digits 0 to 4")
    for place, word in enumerate(words):
        for other in words[:place]:
            claim(sum(map(int, word)) % 5 != sum(map(int, other)) % 5,
                  f"{other!r} and {word!r} may end in one state: whatever is read next, their answers agree")  # fmt: skip


def _leaning(answer) -> None:
    A = numbers(answer, (2, 2), "A", real=True)
    sums = A.sum(0)
    claim(A.min() >= 0 and np.allclose(sums, 1), f"the columns are no probabilities: their sums are "
                                                 f"{sums.round(4).tolist()}, the least entry is {A.min():.4g}")  # fmt: skip
    claim(A.diagonal().min() > 0.9 - 1e-6,  # as float32 has it; then snapping makes it the identity
          f"the diagonal is {A.diagonal().round(4).tolist()}, and should be at least 0.9 in each column")  # fmt: skip
    apart = float(np.abs(np.diff(np.linalg.matrix_power(A, 500), axis=1)).sum())
    claim(apart < 1e-6, f"after 500 steps the two states are still {apart:.3g} apart (in 1-norm)")


EXERCISES = (
    ("00.1", _running), ("00.2", _five_words),
    prediction("00.3", ("about 96 %, as 24 of 25 arrows are", "about 80 %", "about 50 %",
                        "about 20 %, no better than a guess"), "about 20 %, no better than a guess"),
    ("00.4", _leaning),
)  # fmt: skip
