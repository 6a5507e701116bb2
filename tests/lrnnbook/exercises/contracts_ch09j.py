"""What the contracts of notebook 09j are tried on: right tests of another style, and wrong ones with a word of what they are told."""

import itertools

import numpy as np

from lrnnbook.content.exercises.lost_states import packing_test, rounding_test, split_test


def by_comprehension(whole, step, word):
    def rest(n):
        state, answer = whole(word[:n])[1], None
        for letter in word[n:]:
            answer, state = step(state, letter)
        return answer

    return min((n for n in range(len(word)) if rest(n) != whole(word)[0][-1]), default=None)


def backwards(whole, step, word):
    found, due = None, whole(list(word))[0]
    for n in reversed(range(len(word))):
        _, state = whole(word[:n], [])
        for letter in word[n:]:
            last, state = step(state, letter)
        found = np.int64(n) if last != due[-1] else found
    return found


def two_runs(step, start, word, dtype):
    def answers(narrow):
        x = start
        for letter in word:
            answer, x = step(narrow(x), letter)
            yield answer

    pairs = zip(answers(lambda x: x), answers(lambda x: x.to(dtype).to(start.dtype)))
    return next((t for t, (a, b) in enumerate(pairs) if a != b), None)


def first_loop(step, start, word, dtype):
    one = other = start
    for t in range(len(word)):
        a, one = step(one, word[t])
        b, other = step(other, word[t])
        other = other.to(dtype).float()
        if a != b:
            return t
    return None


def by_loop(whole, words):
    starts, length = [], 0
    for word in words:
        starts.append(length)
        length += len(word)
    answers, _ = whole("".join(words), starts)
    for i, (start, word) in enumerate(zip(starts, words)):
        if answers[start + len(word) - 1] != whole(word)[0][-1]:
            return i


def one_by_one(whole, words):
    """The words up to each, packed anew."""
    for i in range(len(words)):
        starts = {0, *itertools.accumulate(map(len, words[:i]))}
        if whole("".join(words[: i + 1]), starts)[0][-1] != whole(words[i])[0][-1]:
            return i


RIGHT = {"split_test": [by_comprehension, backwards], "rounding_test": [two_runs, first_loop], "packing_test": [by_loop, one_by_one]}
WRONG = {
    "split_test": [
        (lambda whole, step, word: split_test(whole, step, word) and len(word) // 2, "the word 0w1, a layer whose whole pass loses the letter before: it returns 1, and should return 2"),
        (lambda whole, step, word: None, "the word w1, a layer whose whole pass loses the letter before: it returns None, and should return 1"),
        (lambda whole, step, word: max((n for n in range(len(word)) if split_test(whole, step, word) is not None), default=None), "it returns"),
        (lambda whole, step, word: word.find("w") if "w" in word else None, "a layer without a fault: it returns 0, and should return None"),
        (lambda whole, step, word: True if split_test(whole, step, word) else "no", "a place is asked for, or None"),
    ],
    "rounding_test": [
        (lambda step, start, word, dtype: rounding_test(step, start, word, start.dtype), "kept in bfloat16: it returns None, and should return 257"),
        (lambda step, start, word, dtype: 256 if len(word) > 257 else None, "it returns 256"),
        (lambda step, start, word, dtype: (rounding_test(step, start, word, dtype) or -1) + 1 or None, "it returns 258, and should return 257"),
    ],
    "packing_test": [
        (lambda whole, words: packing_test(lambda word, starts=(): whole(word), words), "a layer without a fault: it returns"),  # starts forgotten
        (lambda whole, words: None, "the words w1, 0, a layer without a reset: it returns None, and should return 1"),
        (lambda whole, words: packing_test(whole, words[::-1]), "it returns"),
        (lambda whole, words: packing_test(whole, words) is None, "a place is asked for, or None, got True"),
    ],
}  # fmt: skip
