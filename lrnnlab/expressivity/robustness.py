"""What one layer can represent robustly: laws of pairs of states, and two words as a counterexample where one fails.

A layer is robust, or *lasts*, if its states stay bounded and any two states that ask for different answers after the
same token keep one distance at every length.  Layers with finitely many states last; so does one whose old tokens fade,
x <- x/4 + code, which chapter 01 leaves out.  The readout may be any function of state and token.

Two runs of the machine that are in different states and read the same word may come back to the same two states: that
word w is a *loop* at this pair.  Reading w again and again, the layer's two states approach each other in every part
that some token of w contracts; what is left is moved by tokens of w that contract nothing.  So:

* **Diagonal gates, |a| <= 1.**  Where no token of w contracts, bounded states leave turns about one centre: these
  commute, and some powers x^(K n) come as near as one likes to doing nothing (x itself for a in [0, 1], x^2 for real
  a).  Let x^K do the same to the machine's states as x^(2K).  Hence no layer lasts if a pair from p x y and p y x, or
  from p x^K and p, leads through loops that contain x (and y).
  **Conversely**, if no pair does, one layer lasts: for each set S of tokens let it keep the last k tokens of S, fading,
  and how often every other token came between them, modulo N.  Two words that agree in all of this for a large k end in
  one state of the machine.  For both end in the same k tokens, among which (Ramsey) there is a word that acts as an
  idempotent, a loop for any pair; the tokens in it may be exchanged and struck out N at a time by the two laws, so
  before it only tokens outside matter, of which both have the same last k; and so on, at most V times.
* **One key a token, I - s k k^T with 0 <= s <= 1** (unit k).  Where no token of w contracts, all of them do nothing: a
  pair from p x and p must not reach, by tokens of a set C with x in it, a loop that contains all of C.  (A gate in front,
  a (I - s k k^T) with 0 <= a <= 1, changes nothing: what such a matrix does not shrink it does not move either.)
* **Diagonal minus rank one, A = W - (r k) k^T**, W = diag(w), 0 < w <= 1, 0 <= r <= 1, unit k (RWKV-7; r k number by number).
  *One token* comes to rest, in any number of layers.  Where all r > 0 let x . y be the sum of x_i y_i / r_i.  A is symmetric in
  it: A x . y = (sum of w_i x_i y_i / r_i) - (k^T x)(k^T y).  And (k^T x)^2 <= (sum of r_i k_i^2)(x . x) <= x . x.  So A has a
  basis of eigenvectors, and its eigenvalues are real, at least min w - 1 > -1, at most max w.  A number with r_i = 0 is a gate
  w_i alone, which the others read, so the spectrum is that of both parts.  Nor has 1 a Jordan block: let y = (A - I) x and
  (A - I) y = 0.  Then y = 0 in the gates.  Among the others A y = y, hence (sum of (1 - w_i) y_i^2 / r_i) + (k^T y)^2 = 0 and
  k^T y = 0; there y = (A - I) x - c r k for some number c, hence y . y = x . (A - I) y - c k^T y = 0.
  So in x <- A x + b with bounded x nothing is added along eigenvectors of 1, and all else shrinks: x converges like rho^n.  The
  layer above reads what converges so: x <- A x + b + O(rho^n), where A and b are the limits and A is such a matrix, too.  So it
  converges as well.  (In a word of several tokens with other r each has an inner product of its own: it may turn, and grow.)
* **Any matrices of norm at most 1** (products of I - s k k^T, 0 <= s <= 2).  The tokens of a set C turn one subspace,
  and some word over C contracts all that is orthogonal to it.  So from p x^K and p, K as above, tokens of C
  must not lead to pairs that no word over C merges.
* **One matrix for all tokens.**  What a token adds must fade, or sums grow: a pair from p x and p y must not loop.
* **Whatever is old fades**, at a rate that no input changes (RWKV, Liquid-S4, a window).  No pair must loop, and this
  holds in any number of layers: where the inputs come together, so do the states above.
* **Sums.**  Where A_t is the identity, states follow from how often each token came: a pair from p x y and p y x must
  not outlast the next token.

Letters: Q states, V tokens, x, y, u tokens, p, s, w, z words, n repetitions; a pair (q, r) of states is q * Q + r.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components

from lrnnlab.automata import MooreMachine, minimise
from lrnnlab.automata.machines import Search, apart

Word = tuple[Any, ...]  # of tokens, and of words that are repeated n times
WHOLE = 6  # tokens up to which every set of tokens is tried


@dataclass(frozen=True)
class Counterexample:
    """Two words that are answered differently for every number n of repetitions: ``left`` or ``right``, then ``tail``.

    A word is a tuple of tokens, and of words that are repeated n times; ``tail`` has words, and whether each is repeated.

    >>> words = Counterexample((0,), (), (((0, 1), True),))
    >>> words.text("ab"), words.words(2)
    ('a(ab)^n and (ab)^n', ((0, 0, 1, 0, 1), (0, 1, 0, 1)))
    """

    left: Word
    right: Word
    tail: tuple[tuple[Word, bool], ...]

    def words(self, n: int = 1) -> tuple[Word, Word]:
        """Both words, with n repetitions."""
        end = tuple(token for word, again in self.tail for token in _read(word, n) * (n if again else 1))
        return _read(self.left, n) + end, _read(self.right, n) + end

    def text(self, symbols: tuple[Any, ...]) -> str:
        """The two words, as in "0(01)^n and 1(01)^n"."""
        end = "".join(f"({self._spelled(word, symbols)})^n" if again else self._spelled(word, symbols)
                      for word, again in self.tail)  # fmt: skip
        return " and ".join(self._spelled(word, symbols) + end for word in (self.left, self.right))

    def _spelled(self, word, symbols):
        return "".join(f"({self._spelled(one, symbols)})^n" if isinstance(one, tuple) else symbols[one] for one in word)


def _read(word: Word, n: int) -> tuple[int, ...]:
    return tuple(token for one in word for token in (_read(one, n) * n if isinstance(one, tuple) else (one,)))


class _Pairs:
    """The pairs of different states of a minimised machine, and how the tokens of ``letters`` move them."""

    def __init__(self, small: MooreMachine, letters: Iterable[int]):
        Q, self.small, self.letters = small.num_states, small, tuple(letters)
        self.moves = small.transitions.tolist()
        first, second = np.divmod(np.arange(Q * Q), Q)
        to, apart = small.transitions[:, first] * Q + small.transitions[:, second], first != second
        edges = [(np.flatnonzero(apart & apart[to[v]]), v) for v in self.letters]
        start, end = (np.concatenate(ends) for ends in zip(*((at, to[v, at]) for at, v in edges)))
        graph = csr_matrix((np.ones(len(start), bool), (start, end)), (Q * Q, Q * Q))
        self.part = connected_components(graph, connection="strong")[1].tolist()
        self.loops, self.closed = [0] * (Q * Q), [True] * (Q * Q)  # of a part: tokens on its loops; does none lead out?
        for at, v in edges:
            for pair, after in zip(at.tolist(), to[v, at].tolist()):
                if self.part[pair] == self.part[after]:
                    self.loops[self.part[pair]] |= 1 << v
                else:
                    self.closed[self.part[pair]] = False
            for pair in np.flatnonzero(apart & ~apart[to[v]]).tolist():
                self.closed[self.part[pair]] = False

    def after(self, pair: tuple[int, int], token: int) -> tuple[int, int]:
        return self.moves[token][pair[0]], self.moves[token][pair[1]]

    def part_of(self, pair: tuple[int, int]) -> int:
        return self.part[pair[0] * self.small.num_states + pair[1]]

    def refute(self, starts: Iterable[tuple], need: int = 0, last: dict | None = None) -> Counterexample | None:
        """The first counterexample found from ``starts``, (state, left, right) where both words are read, or None."""
        queue: list = []
        came: dict = {}
        for q, left, right in starts:
            pair = self.small.after(q, _read(left, 1)), self.small.after(q, _read(right, 1))
            if pair[0] != pair[1] and (pair, 0) not in came:
                came[pair, 0] = (None, (q, left, right))
                queue.append((pair, 0))
        for node in queue:
            pair, got = node
            part = self.part_of(pair)
            new = self.loops[part] & need & ~got
            if got | new == need and (last is None or part in last):
                return self._told(came, node, last[part] if last else new)
            for token in self.letters:
                following = self.after(pair, token), got | new
                if following[0][0] != following[0][1] and following not in came:
                    came[following] = (node, (token, new))
                    queue.append(following)
        return None

    def _told(self, came, node, looped):
        pair = node[0]
        tail = [(self._loop(pair, looped), True)] if looped else []
        while (before := came[node])[0] is not None:
            node, (token, passed) = before
            tail.append(((token,), False))
            if passed:
                tail.append((self._loop(node[0], passed), True))
        q, left, right = before[1]
        joined: list = []
        for word, again in reversed(tail):
            if joined and not again and not joined[-1][1]:
                joined[-1] = (joined[-1][0] + word, False)
            else:
                joined.append((word, again))
        front, shown = self.small.ways()[q], apart(self.small, *pair)
        return Counterexample(front + left, front + right, (*joined, *([(shown, False)] if shown else [])))

    def _loop(self, pair, letters):
        """A word that leads from a pair back to it and contains the tokens of ``letters`` (bits), all on its loops."""
        word, at, part = (), pair, self.part_of(pair)
        while letters:
            steps, at = self._inside(at, part, lambda token, after, left=letters: left >> token & 1)
            word, letters = word + steps, letters & ~(1 << steps[-1])
        return word if at == pair else word + self._inside(at, part, lambda token, after: after == pair)[0]

    def _inside(self, start, part, wanted):
        """A shortest way inside a part whose last step is wanted: its tokens, and where it ends."""
        inside = Search(start, lambda pair: ((token, after) for token in self.letters
                        if (after := self.after(pair, token))[0] != after[1] and self.part_of(after) == part))  # fmt: skip
        for pair in inside:
            for token, after in inside.follow(pair):
                if wanted(token, after):
                    return (*inside.word(pair), token), after
        raise AssertionError("the tokens are on loops of this part")


def token_sets(V: int) -> Iterator[tuple[int, ...]]:
    """The sets of tokens that are tried: all up to ``WHOLE`` tokens, else the small ones and the whole."""
    for size in range(1, V + 1):
        if V <= WHOLE or size in (1, 2, V):
            yield from combinations(range(V), size)


def idempotent(move: np.ndarray) -> tuple[int, np.ndarray]:
    """The least K > 0 for which K and 2 K repetitions of a map do the same, and what they do."""
    power, K = move, 1
    while not np.array_equal(power[power], power):
        power, K = move[power], K + 1
    return K, power


def refute_diagonal(machine: MooreMachine, order: int | None = None) -> Counterexample | None:
    """Words that refute every lasting layer of diagonal gates, None if one exists: the first theorem above."""
    small = minimise(machine)
    pairs, states, tokens = _Pairs(small, range(small.num_symbols)), range(small.num_states), range(small.num_symbols)
    powers: list[Word] = [(x,) * order if order else ((x,) * idempotent(small.transitions[x])[0],) for x in tokens]
    struck = [(1 << x, [(q, powers[x], ()) for q in states]) for x in tokens]
    turned = [(1 << x | 1 << y, [(q, (x, y), (y, x)) for q in states]) for x, y in combinations(tokens, 2)]
    laws: list = struck if order == 1 else [*struck, *turned] if order == 2 else [*turned, *struck]
    return next((found for need, starts in laws if (found := pairs.refute(starts, need))), None)


def refute_one_key(machine: MooreMachine) -> Counterexample | None:
    """Words that refute every lasting layer of I - s k k^T, 0 <= s <= 1, one a token; None if this law finds none."""
    small = minimise(machine)
    for C in token_sets(small.num_symbols):
        pairs, every = _Pairs(small, C), sum(1 << x for x in C)
        last = {part: every for part, loops in enumerate(pairs.loops) if loops == every}
        starts = ((q, (x,), ()) for q in range(small.num_states) for x in C)
        if last and (found := pairs.refute(starts, last=last)):
            return found
    return None


def refute_contraction(machine: MooreMachine) -> Counterexample | None:
    """Words to a pair for which no layer of matrices of norm at most 1 lasts; None if this law finds none."""
    small = minimise(machine)
    powers = [((x,) * idempotent(move)[0],) for x, move in enumerate(small.transitions)]
    for C in token_sets(small.num_symbols):
        pairs = _Pairs(small, C)
        last = {part: loops & -loops for part, loops in enumerate(pairs.loops) if loops and pairs.closed[part]}
        starts = ((q, powers[x], ()) for q in range(small.num_states) for x in C)
        if last and (found := pairs.refute(starts, last=last)):
            return found
    return None


def refute_fading(machine: MooreMachine) -> Counterexample | None:
    """Words that refute all stacks of layers in which whatever is old fades, None if the last tokens tell the state."""
    small = minimise(machine)
    pairs, ways = _Pairs(small, range(small.num_symbols)), small.ways().values()
    last = {part: loops & -loops for part, loops in enumerate(pairs.loops) if loops}
    return pairs.refute(((small.initial, *two) for two in combinations(ways, 2)), last=last)


def refute_order(machine: MooreMachine) -> Counterexample | None:
    """Two words with the same tokens in another order, but for the last, that lead to different states, or None."""
    small = minimise(machine)
    tokens = range(small.num_symbols)
    starts = ((q, (x, y, u), (y, x, u)) for q in range(small.num_states) for x, y in combinations(tokens, 2) for u in tokens)
    return _Pairs(small, tokens).refute(starts)


def refute_constant(machine: MooreMachine, late: bool = False) -> Counterexample | None:
    """Words that refute every lasting layer with one matrix for all tokens, None if one exists."""
    small = minimise(machine)
    pairs, states = _Pairs(small, range(small.num_symbols)), set(range(small.num_states))
    while late and (after := set(small.transitions[:, sorted(states)].ravel().tolist())) < states:
        states = after
    last = {part: loops & -loops for part, loops in enumerate(pairs.loops) if loops}
    starts = ((q, (x,), (y,)) for q in sorted(states) for x, y in combinations(range(small.num_symbols), 2))
    return pairs.refute(starts, last=last)
