"""Brackets: the three languages of paper 003 whose strings come from a grammar (see ``counter_languages``).

Letters: V tokens, n pairs of brackets, d depth: how many brackets are open.
"""

import re
from math import comb

import torch

from lrnnlab.errors import checked, whole_number
from lrnnlab.tasks.counted_strings import CountedTask

OPEN, CLOSE, RESET = 0, 1, 2


def grammar(most, rng, pairs=((OPEN, CLOSE),), size=0):
    """A string of S -> ( S ) with probability 1/2, S S with 1/4, nothing with 1/4; a list of tokens, maybe empty.

    A bracket is of a random pair.  ``size`` counts the tokens of the brackets around: at ``most`` nothing is added, and
    a part that comes out longer than ``most`` is dropped, as in the published generator.
    """
    if size >= most:
        return []
    choice, word = rng.random(), []
    if choice < 0.5:
        opening, closing = rng.choice(pairs)
        word = [opening, *grammar(most, rng, pairs, size + 2), closing]
    elif choice < 0.75:
        word = grammar(most, rng, pairs, size) + grammar(most, rng, pairs, size)
    return word if len(word) <= most else []


def what_is_left(text, *pairs):
    """What is left when the pairs are taken out, again and again: nothing of balanced brackets.

    >>> what_is_left("([])", "()", "[]"), what_is_left("([)]", "()", "[]"), what_is_left("(()(", "()")
    ('', '([)]', '((')
    """
    before = None
    while text != before:
        before = text
        for pair in pairs:
            text = text.replace(pair, "")
    return text


def catalan(n):
    """How many strings of n pairs of brackets are balanced.

    >>> [catalan(n) for n in range(6)]
    [1, 1, 2, 5, 14, 42]
    """
    return comb(2 * n, n) // (n + 1)


class Dyck1(CountedTask):
    """Balanced brackets of one kind: 1 where one is open (003, Table 2).

    >>> task = Dyck1()
    >>> [task.show_answers(text) for text in ("(())", "()()", "(()())")]
    ['1110', '1010', '111110']
    """

    title, symbols, meanings, initial = "Dyck-1", ("(", ")"), ("0", "1"), 0

    def step(self, state, token):
        return None if token == CLOSE and state == 0 else state + 1 - 2 * token

    def output(self, state):
        return int(state > 0)

    def accepts(self, state):
        return state == 0

    def through(self, state):
        return 2 * state

    def answer(self, tokens):
        text = self.write(tokens)
        return [int(text[:end].count("(") > text[:end].count(")")) for end in range(1, len(text) + 1)]

    def holds(self, text):
        return what_is_left(text, "()") == ""

    def published(self, window, rng):
        while True:
            word = grammar(window[1], rng)
            if len(word) >= window[0]:
                return word


class ResetDyck1(CountedTask):
    """The beginning of a Dyck-1 string, 1, a Dyck-1 string: 1 where a bracket is open since the reset (003, Table 2).

    The state is (whether the reset has been read, depth).

    >>> task = ResetDyck1()
    >>> [task.show_answers(text) for text in ("((1()", "1()", "(()1(())")]
    ['11010', '010', '11101110']
    """

    title, symbols, meanings, initial = "reset Dyck-1", ("(", ")", "1"), ("0", "1"), (False, 0)
    shared_pool = True

    def step(self, state, token):
        after, depth = state
        if token == RESET:
            return None if after else (True, 0)
        return None if token == CLOSE and depth == 0 else (after, depth + 1 - 2 * token)

    def output(self, state):
        return int(state[1] > 0)

    def accepts(self, state):
        return state == (True, 0)

    def through(self, state):
        after, depth = state
        return 1 + (2 * depth if after else depth)

    def answer(self, tokens):
        text = self.write(tokens)
        since = [text[:end].rpartition("1")[2] for end in range(1, len(text) + 1)]
        return [int(part.count("(") > part.count(")")) for part in since]

    def holds(self, text):
        first, reset, second = text.partition("1")
        open_brackets = set(what_is_left(first, "()")) <= {"("}
        return bool(reset) and open_brackets and what_is_left(second, "()") == ""

    def lengths(self, window):
        least, most = self.check_window(window)
        return range(least, 2 * most + 2)

    @checked
    def in_window(self, text: str, window):
        window = self.check_window(window)
        first, _, second = text.partition("1")
        needed = max(len(first) + len(what_is_left(first, "()")), len(second))
        return self.holds(text) and needed <= window[1] and len(text) >= window[0]

    def count(self, window):
        """See ``PositiveTask.count``.  A beginning of i tokens and depth d needs d more: i + d is bounded, not i."""
        least, most = self.check_window(window)
        walks = [sum((d + 1) * comb(i + 1, (i - d) // 2) // (i + 1) for d in range(i % 2, min(i, most - i) + 1, 2))
                 for i in range(most + 1)]  # fmt: skip
        tails = [catalan(j // 2) if j % 2 == 0 else 0 for j in range(most + 1)]
        return sum(walk * tail for i, walk in enumerate(walks) for j, tail in enumerate(tails) if i + 1 + j >= least)

    def published(self, window, rng):
        """A string of the grammar, cut anywhere, 1, another one; drawn again if the whole is too short."""
        least, most = window
        while True:
            first, second = grammar(most, rng), grammar(most, rng)
            word = [*first[: rng.randrange(len(first) + 1)], RESET, *second]
            if len(word) >= least:
                return word


class Shuffle2(CountedTask):
    """Two kinds of brackets, each balanced: which are open, 0 none, 1 type 0 (, 2 type 1 [, 3 both (003, Table 1).

    ``nested=True`` has the strings of the published generator, all of them nested; with ``False`` two Dyck-1 strings of
    the grammar are shuffled, all ways alike.  The answers depend on the two depths alone, in either case, and are given
    for every string whose depths are never negative.

    >>> task = Shuffle2()
    >>> [task.show_answers(text) for text in ("([])", "[()]", "(())[]")]
    ['1310', '2320', '111020']
    >>> task.holds("([)]"), Shuffle2(nested=False).holds("([)]")
    (False, True)
    """

    symbols, meanings, initial = ("(", ")", "[", "]"), ("0", "1", "2", "3"), (0, 0)

    def __init__(self, nested=True):
        super().__init__()
        self.nested, self._shapes = bool(nested), Dyck1()
        self.title = "Shuffle-2" if self.nested else "Shuffle-2 (true shuffles)"

    def step(self, state, token):
        depths = list(state)
        depths[token // 2] += 1 - 2 * (token % 2)
        return None if min(depths) < 0 else tuple(depths)

    def output(self, state):
        return (state[0] > 0) + 2 * (state[1] > 0)

    def accepts(self, state):
        return state == (0, 0)

    def through(self, state):
        return 2 * sum(state)

    def answer(self, tokens):
        text = self.write(tokens)
        prefixes = [text[:end] for end in range(1, len(text) + 1)]
        return [int(p.count("(") > p.count(")")) + 2 * int(p.count("[") > p.count("]")) for p in prefixes]

    def holds(self, text):
        if self.nested:
            return what_is_left(text, "()", "[]") == ""
        kinds = [("()", re.sub(r"[^()]", "", text)), ("[]", re.sub(r"[^][]", "", text))]
        return not any(what_is_left(part, pair) for pair, part in kinds)

    def number(self, length):
        n = whole_number(length, 0, f"{self}: a length") // 2
        return 0 if length % 2 else catalan(n) * (2**n if self.nested else catalan(n + 1))

    def draw(self, batch, length, generator):
        if not self.nested:
            return super().draw(batch, length, generator)
        kinds = torch.randint(2, (batch, length), generator=generator, device=generator.device).tolist()
        rows = [self._dress(row, kind) for row, kind in zip(self._shapes.draw(batch, length, generator).tolist(), kinds)]
        return torch.tensor(rows, device=generator.device)

    @staticmethod
    def _dress(row, kinds):
        """A Dyck-1 string whose opening brackets, and the closing ones with them, become of the given kinds."""
        opened, word = [], []
        for token, kind in zip(row, kinds):
            if token == OPEN:
                opened.append(kind)
            word.append(2 * (kind if token == OPEN else opened.pop()) + token)
        return word

    def listed(self, window):
        if not self.nested:
            return super().listed(window)
        return [word for word in Shuffle2(nested=False).listed(window) if self.holds(self.write(word))]

    def published(self, window, rng):
        while True:
            word = grammar(window[1], rng, ((0, 1), (2, 3))) if self.nested else self._shuffled(window[1], rng)
            if window[0] <= len(word) <= window[1]:
                return word

    @staticmethod
    def _shuffled(most, rng):
        """Two strings of the grammar, shuffled: the places of the first are any set of places of its size."""
        parts = [[token + shift for token in grammar(most, rng)] for shift in (0, 2)]
        places = [0] * len(parts[0]) + [1] * len(parts[1])
        rng.shuffle(places)
        queues = [iter(part) for part in parts]
        return [next(queues[place]) for place in places]
