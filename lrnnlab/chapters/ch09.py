"""The exercises of chapter 09 (fast weights) that a cell can check."""

from __future__ import annotations

import math
import tracemalloc
from fractions import Fraction
from itertools import combinations_with_replacement

import numpy as np

from lrnnlab.course.exercises import Exercise
from lrnnlab.course.judging import CannotJudge, call, claim, number, numbers, same, shown
from lrnnlab.course.predicting import prediction
from lrnnlab.algebra.delta_counters import breaks_at
from lrnnlab.algebra.parity_by_reflection import predicted_error
from lrnnlab.algebra.token_counts import BRACKETS, configuration, configurations, depth_since_reset


def _depth(answer) -> None:
    given = number(answer)
    claim(given == breaks_at(Fraction(1, 200)), f"not at {given:g}: where does the formula of section 6 pass one half?")


def _words(answer) -> None:
    if not isinstance(answer, (list, tuple)) or len(answer) != 2 or not all(isinstance(word, str) for word in answer):
        raise CannotJudge(f"two texts are asked for, got {shown(answer)}")
    for word in answer:
        claim(len(word) == 4 and set(word) <= set(BRACKETS), f"{word!r} is no word of four tokens over ( ) 1")
        legal = all(depth_since_reset(word[:end]) >= 0 for end in range(1, 5))
        claim(legal, f"{word!r} closes a bracket that is not open")
    seen = [configuration(tuple(word)) for word in answer]
    claim(seen[0] == seen[1], f"a sum sees {seen[0]} and {seen[1]}")
    claim(len({depth_since_reset(word) > 0 for word in answer}) == 2, "both words have the same label")


def _step(answer) -> None:
    draw = np.random.default_rng(0)
    for _ in range(100):
        m, n = draw.integers(1, 4, 2).tolist()
        W, k, v, beta = draw.normal(size=(m, n)), draw.normal(size=n), draw.normal(size=m), draw.uniform(0, 2)
        wanted = W @ (np.eye(n) - beta * np.outer(k, k)) + beta * np.outer(v, k)
        made = numbers(call(answer, W, k, v, beta), (m, n), "W")
        claim(np.allclose(made, wanted), f"m = {m}, n = {n}, beta = {beta:.2f}: it gave {shown(made.round(2))}, and "
                                         f"should give {shown(wanted.round(2))}")  # fmt: skip
    n, draw = 1000, np.random.default_rng(1)  # an n x n matrix of doubles is 8 MB, and all else is small
    W, k, v = draw.normal(size=(1, n)), draw.normal(size=n), draw.normal(size=1)
    tracemalloc.start()
    try:
        call(answer, W, k, v, 1.0)
        used = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    claim(used < 4 * n * n, f"with m = 1 and n = {n:,} it took {used / 1e6:.0f} MB: somewhere it makes a matrix n x n")


def _ones(answer) -> None:
    given, due = number(answer), predicted_error(1.99, 1e-3)
    claim(given > 0.95 * due, f"{given:g} is too few, by more than 5 percent")
    claim(given < 1.05 * due, f"{given:g} is too many, by more than 5 percent")


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
    keys = numbers(answer, (2, 2), "the keys").astype(float)
    for key in keys:
        claim(np.isclose(key @ key, 1, atol=1e-6), f"{shown(key)} has the length {math.sqrt(key @ key):.4g}, not 1")
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
        for n in range(1, 7):
            there = {(row, last) for row in combinations_with_replacement(range(V), n) for last in row}
            given = call(answer, n, V)
            claim(same(given, len(there)), f"n = {n}, |Sigma| = {V}: their number is {len(there)}, not {shown(given)}")


EXERCISES = (
    Exercise(
        "09.1", 1, 5, "how deep a leaking counter counts", _depth, ("$1/\\sqrt{2e} = 10$, and a little more.",),
        "11: $(1 - 0.995^{11})^2\\cdot 200 = 0.57$, and for 10 it is 0.48.",
        lambda: 11,
    ),
    Exercise(
        "09.2", 2, 10, "what a sum cannot tell apart", _words,
        ("The 1 must stand in one of them where it forgets something.",),
        "`(1()` and `1(()`: counts 2, 1, 1, last token `)`; depths 0 and 1.",
        lambda: ("(1()", "1(()"),
    ),
    Exercise(
        "09.3", 1, 10, "why the delta rule is cheap", _step, ("What does the memory say to k?",),
        "`lambda W, k, v, beta: W + beta * np.outer(v - W @ k, k)`.",
        lambda: lambda W, k, v, beta: W + beta * np.outer(v - W @ k, k),
    ),
    Exercise(
        "09.4", 1, 5, "how fast an eigenvalue near -1 forgets", _ones,
        ("$\\ln(1/(2\\cdot 10^{-3}))$ over $-\\ln 0.99$.",),
        "$\\ln 500/0.01005 = 618$.",
        lambda: 618,
    ),
    Exercise(
        "09.5", 2, 15, "why a reflection needs something to reflect", _before,
        ("What is the output after no token, and what does a map of order two do twice?",
         "What should a write if it only turns?"),
        "First a token with $\\beta = 1$, $v = 1$: $w = 1$. Then $a$ with $\\beta = 2$, $v = 0$: $w \\mapsto -w$. "
        "Without the first token $w \\mapsto c - w$ starts at 0 and comes back to 0.",
        lambda: ((1, 1), (2, 0)),
    ),
    Exercise(
        "09.6", 2, 10, "how two reflections count", _keys, ("Half the turn.",),
        "$(1, 0)$ and $(\\cos 60°, \\sin 60°) = (\\frac12, \\frac{\\sqrt 3}2)$: together a turn by 120°.",
        lambda: ((1, 0), (0.5, math.sqrt(3) / 2)),
    ),
    Exercise(
        "09.7", 3, 30, "how much a layer of addition can remember", _configurations,
        ("Fix the last token; it occurs at least once.", "What does the second layer add up?"),
        "With the last token fixed, one of its occurrences is given; the other $n - 1$ are spread over $|\\Sigma|$ "
        "kinds: $\\binom{n+|\\Sigma|-2}{|\\Sigma|-1}$, times $|\\Sigma|$ last tokens. In the second layer keys and "
        "values depend on the counts *so far*: the sum runs over prefixes, and the order comes in.",
        lambda: lambda n, size: configurations(size, n),
    ),
    prediction(
        "09.8", 1, 5, "that rounding can keep what exact numbers lose",
        "A 1 moves the counter of section 9 from w to w + β (1/2 - w), in float32, without noise, from w = 0. In "
        "exact numbers it comes ever nearer to 1/2 for β below 2. Of β = 1.5, 1.6, 1.7, 1.8 and 1.9, how many still "
        "tell the "
        "parity of 20,000 ones?", tuple(range(6)), 2,
        ("Which numbers does float32 have next to one half?",),
        "Near 1/2 float32 goes in steps of $2^{-24}$ above and $2^{-25}$ below. One step above, the distance times "
        "$\\beta - 1$ is rounded to a half or a whole step below, and that comes back to one step above if "
        "$\\beta - 1$ is more than 3/4. So 1.8 and 1.9 swing for ever, as nothing but rounding makes them; a little "
        "noise ends it.",
    ),
)  # fmt: skip
