"""What the contract of chapter 01 is tried on: right ones of another style, and wrong ones with a word of what they are told."""

import itertools

from lrnnbook.content.exercises import ch01


def value(text):
    first, *others = map(int, text.split("-"))
    return (first - sum(others)) % 5


def expressions(n):
    return ["-".join(digits) for digits in itertools.product("01234", repeat=n)]


def by_trying_all(A, code, n):
    """No proof: all pairs of n numbers, and of n + 1."""
    for more in (n, n + 1):
        by_state = {}
        for text in expressions(more):
            by_state.setdefault(ch01._state(A, code, text), []).append(text)
        if more == n and len(by_state) == 5**n:
            return None
        for texts in by_state.values():
            for other in texts[1:]:
                if value(other) != value(texts[0]):
                    return texts[0], other


def with_any_front(A, code, n):
    """A list, and another digit in front."""
    pair = ch01.collide(A, code, n)
    if pair is None or pair[0][:2] != "0-" or pair[1][:2] != "0-":
        return pair and [*pair]
    return ["3" + text[1:] for text in pair]


def any_pair(A, code, n):
    seen = {}
    for text in expressions(n):
        other = seen.setdefault(ch01._state(A, code, text), text)
        if other != text:
            return other, text


def without_dropping(A, code, n):
    pair = any_pair(A, code, n)
    return pair if pair is None or value(pair[0]) != value(pair[1]) else ("0-" + pair[0], "0-" + pair[1])


def different_values_only(A, code, n):
    for s, t in itertools.combinations(expressions(n), 2):
        if ch01._state(A, code, s) == ch01._state(A, code, t) and value(s) != value(t):
            return s, t


def refutes_all(A, code, n):
    return ch01.collide(A, code, n) or ("0-1", "1-0")


RIGHT = {"collide": [by_trying_all, with_any_front]}
WRONG = {"collide": [
    (any_pair, "and both have the value"), (without_dropping, "n = 3: it gives ('0-0-0-1', '0-0-1-0'), and both have the value 4"),
    (different_values_only, "A = 2, code = {'0': 1, '1': 2, '2': 3, '3': 4, '4': 5, '-': 6}, n = 2: it gives None, but 0-0-4 and 0-1-0 refute"),
    (lambda A, code, n: (pair := ch01.collide(A, code, n)) and {*pair}, "a tuple of two texts"), (refutes_all, "all expressions have states of their own"), (lambda A, code, n: ("0-1", "1-2"), "all expressions have states of their own"),
    (lambda A, code, n: None, "refute this layer"), (lambda A, code, n: ch01.collide(A, code, n) and ("0-1", "0-5"), "is no expression"),
    (lambda A, code, n: ch01.collide(A, code, n) and ("0-1", "0-3"), "whose states are"),
]}  # fmt: skip
