"""Which machines fit in one diagonal layer with finitely many states: a criterion, and two words where one does not.

Letters: Q states, V tokens, K and N repetitions, n elements of a monoid; p, s, m, z words, x, y tokens.

Theorem.  A machine fits (with any readout) iff every token x, y and all words s, m with x and y in m satisfy, as maps
of the states of the minimised machine,

    x y m = y x m      and      x^K s x = s x   for some K > 0.

Necessary.  Theorem D (chapter 01) is the first.  In a channel x^K s x = s x too, K the order of its turns: a reset x
forgets what was before, a turn x^K does nothing.  Sufficient.  Cut a word after the last occurrence of each of its
tokens: in each piece all tokens but the last one come again later, so the first law sorts them and the second counts
them modulo K.  What remains, the order of last occurrences and the counts between them modulo K, is known to
``universal_layer(symbols, K)``.
K = N, the least common multiple of the periods of the machine's words, is always enough.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from math import lcm

import numpy as np

from lrnnlab.automata import MooreMachine, minimise, transition_monoid
from lrnnlab.automata.algebra import cycle_lengths
from lrnnlab.automata.machines import Search, apart


@dataclass(frozen=True)
class Verdict:
    """``order``: N; 1 means resets alone, 2 real gates.  ``words``: two that no such layer with turns of order dividing
    ``order`` can tell apart although the answers differ, None if it is possible."""

    possible: bool
    order: int
    reason: str
    words: tuple[tuple, tuple] | None = None


def possible_in_one_diagonal_layer(machine: MooreMachine) -> Verdict:
    """Decide it by the two laws above; -1 counts as an answer like any other."""
    small = minimise(machine)
    monoid = transition_monoid(small)
    N = lcm(*(length for length in np.unique(cycle_lengths(monoid.elements)).tolist() if length))
    for x, y in combinations(range(small.num_symbols), 2):
        word = _not_commuting(small.transitions, x, y)
        if word is not None:
            return Verdict(False, N,
                           f"{small.symbols[x]} and {small.symbols[y]} do not commute, though both come later",
                           _witness(small, monoid, (x, y), (y, x), word))  # fmt: skip
    K = N * -(-small.num_states // N)  # a multiple of N, and enough for the powers to have begun to cycle
    for x in range(small.num_symbols):
        power = np.arange(small.num_states)
        for _ in range(K):
            power = small.transitions[x][power]
        ended = small.transitions[x][monoid.elements]  # (n, Q): the words s x
        wrong = (ended[:, power] != ended).any(axis=1)
        if wrong.any():
            word = (*monoid.words[int(np.argmax(wrong))], x)
            return Verdict(False, N, f"many {small.symbols[x]} before it change what a word that ends in one does",
                           _witness(small, monoid, (x,) * K, (), word))  # fmt: skip
    return Verdict(True, N, f"turns of order {N} and resets are enough" if N > 1 else "resets are enough")


def _not_commuting(transitions, x, y):
    """A shortest word m with x and y in it and x y m != y x m, or None."""
    xy, yx = transitions[y][transitions[x]], transitions[x][transitions[y]]

    def follow(node):
        element = np.frombuffer(node[0], transitions.dtype)
        for token, move in enumerate(transitions):
            yield token, (move[element].tobytes(), node[1] or token == x, node[2] or token == y)

    words = Search((np.arange(transitions.shape[1]).tobytes(), False, False), follow)
    for node in words:
        element = np.frombuffer(node[0], transitions.dtype)
        if node[1] and node[2] and (element[xy] != element[yx]).any():
            return words.word(node)
    return None


def _witness(small, monoid, left, right, word):
    """p left m z and p right m z, answered differently, where left m and right m act differently."""
    pairs = [(q, small.after(q, left + word), small.after(q, right + word)) for q in range(small.num_states)]
    start, one, other = next(found for found in pairs if found[1] != found[2])
    before = next(w for element, w in zip(monoid.elements, monoid.words) if element[small.initial] == start)
    after = apart(small, one, other)
    return (*before, *left, *word, *after), (*before, *right, *word, *after)
