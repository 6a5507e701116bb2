"""The judges of chapter 09's exercises; hints and solutions are in ch09.md."""

import math
import tracemalloc
from collections.abc import Callable
from fractions import Fraction
from itertools import product

import numpy as np

from lrnnbook.content.exercises import lost_states
from lrnnbook.content.exercises.building import Build
from lrnnbook.content.exercises.judging import CannotJudge, call, claim, number, numbers, one_number, same, shown, texts
from lrnnbook.content.exercises.prediction import prediction

ENOUGH_ONES = math.log(1 / 0.002) / -math.log(0.99)  # until 0.99^t / 2 has come down to 0.001


def _open(word: str) -> int:
    since = word.rpartition("1")[2]
    return since.count("(") - since.count(")")


def _words(answer) -> None:
    answer = texts(answer, "two texts", 2)
    for word in answer:
        claim(len(word) == 4 and set(word) <= set("()1"), f"{word!r} is no word of four tokens over ( ) 1")
        legal = all(_open(word[:end]) >= 0 for end in range(1, 5))
        claim(legal, f"{word!r} closes a bracket that is not open")
    seen = [(tuple(sorted(word)), word[-1]) for word in answer]
    claim(seen[0] == seen[1], f"a sum sees {seen[0]} and {seen[1]}")
    claim(len({_open(word) > 0 for word in answer}) == 2, "both words have the same label")


def delta_step(W, k, v, beta):  # (m, n), (n,), (m,), a number -> W after one write
    return W + beta * np.outer(v - W @ k, k)


def _judge_delta_step(answer: Callable) -> None:
    """One write of the delta rule: by hand, on random numbers, and without a matrix of n x n on a long key."""
    draw = np.random.default_rng(0)
    small = [(np.array([W]), np.array(k), np.array([v]), beta)
             for W, k, v, beta in (([0.0, 0.0], [1.0, 0.0], 3.0, 1.0), ([2.0, 0.0], [1.0, 0.0], 3.0, 0.5), ([2.0, 1.0], [0.0, 2.0], 1.0, 2.0))]
    large = [(draw.normal(size=(m, n)), draw.normal(size=n), draw.normal(size=m), draw.uniform(0, 2))
             for m, n in [(2, 2)] * 5 + draw.integers(1, 4, (100, 2)).tolist()]  # square first: there no wrong shape raises
    for W, k, v, beta in small + large:
        m, n = W.shape
        wanted = W @ (np.eye(n) - beta * np.outer(k, k)) + beta * np.outer(v, k)
        given = call(answer, W, k, v, beta)
        made = numbers(given, (m, n), "W")
        if not isinstance(given, np.ndarray):
            raise CannotJudge(f"W is an array, and the next write reads it; got {shown(given)}")
        turned = np.allclose(made, wanted.T) or np.allclose(made - W, (wanted - W).T) if m == n > 1 else False
        why = ("W and what is written have the shape (m, n), a row for each number of v and a column for each of k; "
               "here what it writes, or all of W, has the shape (n, m)") if turned else (
              f"W = {shown(W.round(2))}, k = {shown(k.round(2))}, v = {shown(v.round(2))}, beta = {beta:.2g}: you return "
              f"{shown(made.round(2))}, and it should be {shown(wanted.round(2))}")  # fmt: skip
        claim(np.allclose(made, wanted), why)
    n, draw = 1000, np.random.default_rng(1)  # an n x n matrix of doubles is 8 MB, and all else is small
    W, k, v = draw.normal(size=(1, n)), draw.normal(size=n), draw.normal(size=1)
    tracemalloc.start()
    try:
        call(answer, W, k, v, 1.0)
        used = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    claim(used < 4 * n * n, f"with m = 1 and n = {n:,} it took {used / 1e6:.0f} MB: somewhere it makes a matrix n x n")


BUILDS = {
    "delta_step": Build("09.1", _judge_delta_step, delta_step, "asked again for the same key, with beta = 1 and a key of length 1, the memory says v"),
    **lost_states.BUILDS,
}


def _before(answer) -> None:
    (first_beta, first_v), (beta, v) = numbers(answer, (2, 2)).tolist()
    w = first_beta * first_v  # unit keys, W_0 = 0
    said = []
    for _ in range(6):
        w = w + beta * (v - w)
        said.append(w)
    claim(all(np.isclose(said[i], -said[i + 1]) for i in range(5)) and np.isclose(abs(said[0]), 1),
          f"the outputs on aaa are {', '.join(f'{value:.3g}' for value in said[:3])}, and should be +1 and -1 in "
          "turn")  # fmt: skip


def _keys(answer) -> None:
    keys = numbers(answer, (2, 2), "the keys", real=True)
    for key in keys:
        claim(np.isclose(key @ key, 1, atol=1e-6), f"{shown(key)} has the length {math.sqrt(key @ key):.9g}, not 1")
    turn = np.eye(2)
    for key in keys:
        turn = (np.eye(2) - 2 * np.outer(key, key)) @ turn
    claim(not np.allclose(turn, np.eye(2), atol=1e-6), "the two reflections cancel each other")
    angle = math.degrees(math.atan2(turn[1, 0], turn[0, 0])) % 360
    thrice = np.linalg.matrix_power(turn, 3)
    claim(np.allclose(thrice, np.eye(2), atol=1e-6), f"together they turn by {angle:.1f} degrees, three times by "
                                                     f"{3 * angle % 360:.1f}")  # fmt: skip


def _configurations(answer) -> None:
    for V in range(1, 5):
        for n in range(1, 6):
            there = {(*(tuple(sorted(word[start::2])) for start in (0, 1)), word[-1]) for word in product(range(V), repeat=n)}
            given = number(call(answer, n, V))
            claim(same(given, len(there)), f"n = {n}, |Sigma| = {V}: their number is {len(there)}, not {given:g}")


def _factor(answer) -> None:
    for M in range(1, 8):
        for g in (Fraction(-1), Fraction(-1, 2), Fraction(0), Fraction(1, 3), Fraction(1), Fraction(2)):
            w = Fraction(0)
            for _ in range(M):
                w = g * w + 1
            try:
                found = numbers(call(answer, g, M))
            except CannotJudge as error:
                if g == 1 and "ZeroDivisionError" in str(error):  # (1 - g^M)/(1 - g) is 0/0 there, and right elsewhere
                    continue
                raise
            given = number(found) if g != 1 or not np.isnan(found) else float(w)
            claim(same(given, float(w)), f"M = {M}, g = {g}: W_M - W_0 is {w} times W_1 - W_0, not {given:g} times")


def _in_turn(W, keys, values, betas, size):
    for k, v, beta in zip(keys, values, betas):
        W = W + beta * np.outer(v - W @ k, k)
    return W


def _in_chunks(answer) -> None:
    draw = np.random.default_rng(0)
    same_keys = np.array([[1.0, 0.0], [1.0, 0.0]])
    cases = [(np.zeros((1, 2)), np.eye(2), np.array([[1.0], [2.0]]), np.ones(2), 2),
             (np.zeros((1, 2)), same_keys, np.array([[1.0], [2.0]]), np.ones(2), 2)]  # fmt: skip
    for T, size in ((4, 2), (7, 3), (5, 8), (6, 1)):
        cases.append((draw.normal(size=(2, 3)).round(1), draw.normal(size=(T, 3)).round(1),
                      draw.normal(size=(T, 2)).round(1), draw.uniform(0, 1, T).round(1), size))  # fmt: skip
    for case in cases:
        made, wanted = numbers(call(answer, *case), case[0].shape, "W", real=True), _in_turn(*case)
        claim(np.allclose(made, wanted), f"keys {shown(case[1].tolist())}, chunks of {case[4]}: W is "
              f"{shown(made.round(2).tolist())}, and token by token {shown(wanted.round(2).tolist())}")  # fmt: skip


def _writes(answer) -> None:
    writes = numbers(answer, (None, 2), "the list of writes, such as [(0, 1), (1, -1)],").tolist()
    claim(len(writes) <= 1000, "a thousand writes are more than enough")
    says, last = [Fraction(0)] * 6, {}
    for letter, value in writes:
        claim(letter in range(6) and value in (1, -1), f"({letter:g}, {value:g}) is not a letter 0 to 5 and +1 or -1")
        lacks = int(value) - says[int(letter)]
        says = [said + (lacks if other == letter else -lacks / 5) for other, said in enumerate(says)]
        last[int(letter)] = int(value)
    margin, letter = min((says[letter] * value, letter) for letter, value in last.items())
    claim(margin <= 0, f"every written letter has its sign; the least sure is letter {letter}, answered "
                       f"{float(says[letter]):.3f}")  # fmt: skip


EXERCISES = (
    ("09.7", _in_chunks), ("09.8", _configurations), ("09.2", _words), ("09.3", _writes),
    ("09.4", one_number(next(m for m in range(1, 1000) if 200 * (1 - (1 - 1 / 200) ** m) ** 2 > 1 / 2),
                        "not at {}: where does the formula of the leak pass one half?")),
    ("09.6", _keys),
    ("09.5", one_number(ENOUGH_ONES, "{} is too few, by more than 5 percent", "{} is too many, by more than 5 percent",
                        within=0.05)),
    ("09.9", _before), prediction("09.10", tuple(range(6)), 2),
    ("09.11", _factor),
)  # fmt: skip
