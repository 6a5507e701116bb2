"""Two layers of diagonal gates that last: when there are two, and words that refute every two.

The lower layer sees the tokens, the upper one what the lower one shows after each token.  What lasts, and why one layer
does not, is in ``robustness``; here are its two arguments one storey higher.

* **When there are two** (:func:`two_layers_last`).  Let the lower layer show a *context*: the last k tokens, which fade,
  and how often each token came modulo m, which a turn of order m counts.  Then the upper layer reads contexts, which
  follow each other as they can, and gates in [0, 1] are enough for it if there is no pair of ways through contexts of a
  set C that lead one state of the machine to two, at one context, from which loops can be read that contain all of C.
  The proof is that of ``robustness``: two words that agree in the last k contexts of every set of contexts end, by Ramsey,
  in a loop; the parts between contexts outside the loop may be exchanged, for both begin and end at the same contexts
  (a part that begins after a context is known by the token before it: the layer keeps k + 1 tokens where k are tried);
  so more and more contexts do not matter, at last all.
* **Words that refute two** (:func:`refute_two_layers`).  Let e be a word that acts as an idempotent and contains all
  tokens of a set B, and x and y words over B.  Read e^n before and after each of them.  A part of the lower layer that
  some token of B contracts knows, but for an error like c^n, no more than what came since e^n began.  What no token of
  B contracts is a turn by -1 or nothing (gates in [0, 1]: nothing): with every token an even number of times in e, x
  and y it is where it was.  So all that y changes, e^n y e^n, meets the same gates as it does in the loop
  W = e^n x e^n y e^n.  In the upper layer, read W n times.  Let a_n be the absolute value of what the gates of a part
  come to over W; it tends to a limit.  Below 1: W^n forgets.  At 1: in the limit every gate that W meets has absolute
  value 1, so y turns the part by 1 or -1, and by nothing else, since y alone, read again and again, would carry it away;
  the true gates and inputs differ from these by something like c^n, and the loops have some n^2 letters, so that the
  differences come to n^2 c^n at most, which tends to 0.  So y (for gates of either sign: y twice) in front of W^n
  changes nothing, nor does the order of two such words, and no margin is kept where the machine tells them apart.

One key a token, I - s k k^T with s <= 1, does nothing where it contracts nothing, as gates in [0, 1], so that the
second law holds for it as well.

Letters: Q states, V tokens, k and m as above, e, x, y words, W a loop, n repetitions, B and C sets of tokens, contexts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import islice, permutations, product

import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import breadth_first_order, connected_components

from lrnnlab.automata import MooreMachine, minimise
from lrnnlab.automata.algebra import Quotient
from lrnnlab.automata.machines import Search, apart
from lrnnlab.expressivity.robustness import Counterexample, idempotent, refute_diagonal, token_sets

CONTEXTS = {1: ((2, 1), (3, 1)), 2: ((2, 1), (3, 1), (2, 2), (3, 2)),
            None: ((2, 1), (3, 1), (2, 2), (3, 2), (1, 3), (1, 4), (1, 5), (1, 6))}  # k and m that are tried
NODES = 600  # states of the machine at a context, at most
ACTIONS = 2_000  # of words over a set of tokens, at most
NUMBERINGS = 100  # of the states in the blocks of a quotient that are tried


def two_layers_last(machine: MooreMachine, order: int | None = None) -> bool:
    """Whether two layers of diagonal gates last; False also where there may be others than those that are tried."""
    small = minimise(machine)
    return any(_upper_layer(small, k, m) for k, m in CONTEXTS[order])


def _upper_layer(small: MooreMachine, k: int, m: int) -> bool:
    """Do gates in [0, 1] last that read the last k tokens and how often each came, modulo m?"""
    V, move = small.num_symbols, small.transitions.tolist()
    nodes: list[tuple] = [(small.initial, (), (0,) * V)]
    place, context, follow = {nodes[0]: 0}, {nodes[0][1:]: 0}, []
    for q, last, counts in nodes:
        follow.append([])
        for v in range(V):
            node = move[v][q], (*last, v)[-k:], tuple((c + (u == v)) % m for u, c in enumerate(counts))
            if node not in place:
                place[node] = len(nodes)
                nodes.append(node)
                context.setdefault(node[1:], len(context))
            follow[-1].append(place[node])
        if len(nodes) > NODES:
            return False
    at = [context[node[1:]] for node in nodes]
    together = ((i, j) for i in range(len(nodes)) for j in range(i) if at[i] == at[j])
    pairs = {pair: number for number, pair in enumerate(together)}
    steps = [(number, pairs[max(to), min(to)], at[to[0]]) for (i, j), number in pairs.items()
             for to in zip(follow[i], follow[j]) if to[0] != to[1]]  # fmt: skip
    every = [(i, to, at[to]) for i, row in enumerate(follow) for to in row]

    def graph(edges, size):
        ends = [[edge[side] for edge in edges] for side in (0, 1)]
        return csr_matrix((np.ones(len(edges), bool), ends), (size, size))

    part = connected_components(graph(steps, len(pairs)), connection="strong")[1].tolist()
    loops, ways = [0] * (len(pairs) + 1), [set() for _ in range(len(pairs) + 1)]
    for start, end, seen in steps:
        loops[part[start]] |= (part[start] == part[end]) << seen
        ways[part[start]] |= {part[end]} - {part[start]}

    @cache
    def ahead(here: int) -> int:
        """The contexts (bits) of all loops that can still be read."""
        found = loops[here]
        for following in ways[here]:
            found |= ahead(following)
        return found

    @cache
    def before(bits: int, node: int) -> frozenset:
        """From where ways through contexts of ``bits`` lead to a node."""
        return frozenset(breadth_first_order(back(bits), node, return_predecessors=False).tolist())

    @cache
    def back(bits: int):
        return graph([(end, start) for start, end, seen in every if bits >> seen & 1], len(nodes))

    for (i, j), number in pairs.items():
        bits = ahead(part[number])
        if bits and before(bits, i) & before(bits, j):
            return False
    return True


def lower_machine(small: MooreMachine, found: Iterable[Quotient], order: int | None) -> MooreMachine | None:
    """A machine that one layer holds such that a second one, which reads its state before the token, and this, holds the rest.

    The lower layer must hold the state before the last token as well, for a reset forgets it.  Its state leaves some states of
    the whole machine open, and the rest is the place of the state among them; how they are numbered decides what tokens do to
    places, so several ways are tried.  None if none does, though another may.
    """
    for lower, sets in _lower_machines(small, found):
        B, move, size = lower.num_states, lower.transitions, max(map(len, sets))
        both = (np.arange(B) * B + move)[:, None].repeat(B, 1).reshape(len(move), -1)  # the states before and after a token
        if refute_diagonal(MooreMachine(both, np.arange(B * B), lower.initial * (B + 1), small.symbols), order):
            continue
        tried = set()
        for numbering in islice(product(sets[:1], *map(permutations, sets[1:])), NUMBERINGS):
            place = np.zeros((B, small.num_states), int)
            for here, states in enumerate(numbering):
                place[here, list(states)] = range(len(states))
            moves = np.tile(np.arange(size), (small.num_symbols, B, 1))
            for here, states in enumerate(numbering):
                for v, to in enumerate(move[:, here]):
                    moves[v, here, : len(states)] = place[to, small.transitions[v][list(states)]]
            rest = np.array(sorted({*map(tuple, moves.reshape(-1, size).tolist())}))
            if rest.tobytes() in tried:
                continue
            tried.add(rest.tobytes())
            first = int(place[lower.initial, small.initial])
            if not refute_diagonal(MooreMachine(rest, np.arange(size), first, tuple(map(str, range(len(rest))))), order):
                return lower
    return None


def _lower_machines(small: MooreMachine, found: Iterable[Quotient]) -> Iterator[tuple[MooreMachine, list[list[int]]]]:
    """Machines, and which states of the whole one each of their states leaves open.

    They are quotients, and what the last token that merges states left, moved on by the tokens since, which permute.
    """
    Q = small.num_states
    for one in found:
        if 1 < one.machine.num_states < Q:
            yield one.machine, [np.flatnonzero(one.blocks == block).tolist() for block in range(one.machine.num_states)]
    every = frozenset(range(Q))

    def follow(states):
        for v, move in enumerate(small.transitions):
            yield v, frozenset(move[list(states if len({*move.tolist()}) == Q else every)].tolist())

    sets = [*islice(Search(frozenset([small.initial]), follow), Q * Q)]
    place = {states: number for number, states in enumerate(sets)}
    moves = [[place.get(to, -1) for _, to in follow(states)] for states in sets]
    if 1 < len(sets) and max(map(len, sets)) < Q and min(map(min, moves)) >= 0:
        yield MooreMachine(np.transpose(moves), np.arange(len(sets)), 0, small.symbols), [sorted(states) for states in sets]


def refute_two_layers(machine: MooreMachine, order: int) -> Counterexample | None:
    """Words that refute all two lasting layers of gates in [0, 1] (order 1) or real gates (2); None if none are found."""
    small = minimise(machine)
    for B in token_sets(small.num_symbols):
        reached = _reached(small, B, order)
        even = {}
        for (action, _, odd), word in reached.items():
            if not odd:
                even.setdefault(action, word)
        for (action, seen, odd), loop in reached.items():
            e = np.array(action)
            if loop and not odd and len(seen) == len(B) and (e[e] == e).all():
                near = {e[np.array(one)[e]].tobytes(): (e[np.array(one)[e]], word) for one, word in even.items()}
                if found := _exchanged(small, loop, e, [*near.values()], order):
                    return found
    return None


def _reached(small, letters, order) -> dict:
    """(action, letters seen, letters seen an odd number of times) -> a shortest word; empty if there are too many."""
    start: tuple = (tuple(range(small.num_states)), frozenset(), frozenset())

    def follow(key):
        action, seen, odd = key
        for v in letters:
            yield v, (tuple(small.transitions[v][list(action)].tolist()), seen | {v}, odd ^ {v} if order == 2 else odd)

    words, found = Search(start, follow), {}
    for key in words:
        if len(words.came) > ACTIONS:
            return {}
        found[key] = words.word(key)
    return found


def _exchanged(small, loop, e, near, order) -> Counterexample | None:
    """Two words that the law does not tell apart and the machine does; ``near``: actions e s e and words s."""
    for y, y_word in near:
        for x, x_word in near:
            tries = [((y_word,), (), y, e, (x_word, y_word), y[x])] if order == 1 else [
                ((y_word, y_word), (), y[y], e, (x_word, y_word), y[x]),
                ((x_word, y_word), (y_word, x_word), y[x], x[y], (x_word, y_word), y[x])]  # fmt: skip
            for left, right, one, other, turn, W in tries:
                times, power = idempotent(W)
                states = np.flatnonzero(power[one] != power[other])
                if len(states):
                    ways, tail = small.ways(), _between(loop, turn) * times
                    p = min(states.tolist(), key=lambda q: len(ways[q]))
                    shown = apart(small, int(power[one][p]), int(power[other][p]))
                    front = *ways[p], loop
                    return Counterexample(front + _between(loop, left), front + _between(loop, right),
                                 ((tail, True), *([(shown, False)] if shown else [])))  # fmt: skip
    return None


def _between(loop: Sequence, words: Sequence) -> tuple:
    """The words, each with e^n after it."""
    return tuple(item for word in words for item in (*word, loop))
