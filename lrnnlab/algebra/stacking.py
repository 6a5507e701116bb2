"""Two input-independent layers do what one cannot: EvenPair with two constant scalars.

Theorems A-C are about one layer.  Paper 000, Sec. 4.4, expects S4 to fail on EvenPair "as illustrated in Prop. 1"; but
between two layers there is a non-linear map, and that is enough to store the first letter for ever.

Letters: M modulus (number of digits), t position from 1; p state of the first layer, x state of the second.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from lrnnlab.algebra.evidence import Evidence, Step
from lrnnlab.algebra.words import check_modulus


def first_letter_layers(digits, number: Callable = Fraction, threshold: float = 0.625) -> list[tuple]:
    """(p_t, x_t) of the two layers p <- p/2 + 1/2 and x <- x + [p < threshold] (s + 1), s the digit at t.

    p_1 = 1/2 and p_t >= 3/4 later, so only the first digit enters x.  number : the arithmetic, Fraction or np.float32.

    >>> [(str(p), str(x)) for p, x in first_letter_layers([3, 0, 3])]
    [('1/2', '4'), ('3/4', '4'), ('7/8', '4')]
    """
    half, p, x, states = number(1) / number(2), number(0), number(0), []
    for digit in digits:
        p = p * half + half
        x = x + number(digit + 1) * number(int(p < threshold))
        states.append((p, x))
    return states


def telescope_layers(digits, M: int = 5, number: Callable = Fraction) -> list[tuple]:
    """(p_t, x_t) of two scalar layers with nothing passed around them; x_t = (M + 1) (s_1 + 1) + s_t + 1.

    Layer 1, p <- p/16 + s + 1, shows the last digit (floor p - 1), the one before it (floor of 16 times the rest) and
    whether there was one.  Layer 2 adds up (M + 1) (s_1 + 1) at the first letter and s_t - s_(t-1) at all others.
    For M <= 14, so that the rest of p stays below 1.

    >>> [str(x) for p, x in telescope_layers([3, 0, 3])]
    ['28', '25', '28']
    """
    p, x, states = number(0), number(0), []
    for digit in digits:
        p = p / number(16) + number(digit + 1)
        last, before = _shown(p)
        x = x + number((M + 2) * last if before == 0 else last - before)
        states.append((p, x))
    return states


def _shown(p):
    """The last code and the one before it (0 if none), read from the first layer's state."""
    last = int(p)
    return last, int((p - last) * 16)


def _wrong(states, words, M):
    """How many prefixes of the words get another answer than s_t = s_1 from the second layer's state alone."""
    return sum(
        (int(x) // (M + 1) == int(x) % (M + 1)) != (word[0] == word[t])
        for trace, word in zip(states, words) for t, (_, x) in enumerate(trace)
    )  # fmt: skip


def float32_memory(M: int = 5) -> np.ndarray:
    """All float32 values that the first layer of ``telescope_layers`` can ever take, found until no new one appears.

    >>> values = float32_memory(2)
    >>> values.dtype, values.min() >= 1, values.max() < 3
    (dtype('float32'), np.True_, np.True_)
    """
    codes = np.arange(1, M + 1, dtype=np.float32)
    seen = edge = codes
    while len(edge):
        edge = np.setdiff1d((edge[:, None] / np.float32(16) + codes).ravel(), seen)
        seen = np.union1d(seen, edge)
    return seen


def float32_reads(M: int = 5) -> tuple[int, int]:
    """(values, misread): every float32 state of the first layer, then each next letter: is the pair read back right?

    >>> float32_reads(3)[1]
    0
    """
    values, codes = float32_memory(M), np.arange(1, M + 1, dtype=np.float32)
    following = values[:, None] / np.float32(16) + codes
    last = np.floor(following)
    before = np.floor((following - last) * np.float32(16))
    return len(values), int(((last != codes) | (before != np.floor(values)[:, None])).sum())


def even_pair_two_layers(M: int = 5, length: int = 999, samples: int = 10, seed: int = 0,
                         threshold: float = 0.625) -> Evidence:  # fmt: skip
    """EvenPair(M) by two constant scalar layers: exact in fractions, and in float32 at every length.

    First with the letter passed around the layers (as a residual connection does), then without.  The float32 claims
    are exhaustive: the first layer's state takes finitely many values, all of which are tried.  ``threshold`` above
    3/4 lets later letters in.  ValueError for M above 8: there are about M^6 values.

    >>> proof = even_pair_two_layers()
    >>> proof.holds, proof.data
    (True, {'fixed_from': 25, 'values': 41405})
    """
    check_modulus(M)
    if M > 8:
        raise ValueError(f"the search over all float32 states needs M <= 8, got {M}")
    draw = np.random.default_rng(seed)
    short = [word for n in range(1, 5) for word in itertools.product(range(M), repeat=n)]
    long = draw.integers(M, size=(samples, length)).tolist()
    wrong = [
        sum(int(x) - 1 != word[0] for word in words for _, x in first_letter_layers(word, number, threshold))
        for words, number in ((short, Fraction), (long, np.float32))
    ]
    clock = [float(p) for p, _ in first_letter_layers([0] * 64, np.float32, threshold)]
    fixed = next(t for t in range(1, 64) if clock[t] == clock[t - 1])
    after = [p < threshold for p in clock]
    packed = [
        _wrong([telescope_layers(word, M, number) for word in words], words, M)
        for words, number in ((short, Fraction), (long, np.float32))
    ]
    values, misread = float32_reads(M)
    steps = (
        Step("layers p/2 + 1/2 and x + [p < 0.625] (s + 1): x holds the first digit (fractions)", not wrong[0],
             f"{wrong[0]} wrong states on {len(short)} strings of 1 to 4 digits"),
        Step(f"the same in float32 on random strings of {length} digits", not wrong[1],
             f"{wrong[1]} wrong of {samples * length} states"),
        Step("float32 at any length: the clock p stops for good, and was below the threshold at t = 1 only",
             after == [True] + [False] * 63, f"p_t = {clock[fixed]} from t = {fixed} on"),
        Step("nothing passed around: p/16 + s + 1 and a telescoping sum, h reads x alone (fractions, float32)",
             packed == [0, 0], f"{packed[0]} and {packed[1]} wrong answers"),
        Step("float32 at any length: every value that p can take, with every next letter, is read back right",
             not misread, f"{misread} misread of {values} values times {M} letters"),
    )  # fmt: skip
    return Evidence("EvenPair in two layers", f"Two input-independent scalar layers compute EvenPair({M}).", "sampled",
                    steps, {"fixed_from": fixed, "values": values})  # fmt: skip
