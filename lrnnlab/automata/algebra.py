"""The algebra of a finite machine: its transition monoid, the groups in it, and its quotients, such as the sign of a
permutation in S_3.

Letters: V tokens, Q states, n elements of a monoid, g of a group, r points, B blocks; a word is a tuple of tokens, read from
the left; a congruence is a partition of the states that every token respects.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations, product
from math import factorial
from typing import Any, NamedTuple

import numpy as np

from lrnnlab.automata.machines import MooreMachine, Search, minimise
from lrnnlab.validation import checked, whole_number


@dataclass(frozen=True, eq=False)
class Monoid:
    """All actions of words: ``elements`` (n, Q), the identity first; ``words`` n tuples of tokens, a shortest each."""

    elements: np.ndarray
    words: tuple[tuple[int, ...], ...]

    def __len__(self) -> int:
        return len(self.elements)

    def numbers(self, actions: np.ndarray) -> np.ndarray:
        """The places of actions (..., Q) among the elements, (...).

        >>> monoid = transition_monoid(MooreMachine([[0, 1], [1, 0]], [0, 1], 0, "01"))
        >>> monoid.numbers(np.array([[1, 0], [0, 1]])).tolist()
        [1, 0]
        """
        place = {element.tobytes(): number for number, element in enumerate(self.elements)}
        distinct, which = np.unique(actions.reshape(-1, actions.shape[-1]), axis=0, return_inverse=True)
        return np.array([place[row.tobytes()] for row in distinct])[which.reshape(actions.shape[:-1])]


@checked
def transition_monoid(machine: MooreMachine, *, limit: int = 200_000, whole: bool = True) -> Monoid:
    """Every distinct action of a word on the machine's Q states, shorter words first, then in dictionary order.

    ``elements[i][s]`` is where ``words[i]`` leads from s; reading u and then v is ``m_v[m_u]``.  If there are more than
    ``limit``, ValueError, or unless ``whole`` the actions of short words alone.

    >>> transition_monoid(MooreMachine([[0, 1], [1, 0]], [0, 1], 0, "01")).words
    ((), (1,))
    """
    moves = machine.transitions
    actions = Search(np.arange(machine.num_states, dtype=moves.dtype).tobytes(), lambda action: enumerate(
        after.tobytes() for after in moves[:, np.frombuffer(action, moves.dtype)]))  # fmt: skip
    for _ in actions:
        if len(actions.came) > limit:
            if not whole:
                break
            raise ValueError(f"the monoid has more than {limit} elements")
    elements = np.frombuffer(b"".join(actions.came), moves.dtype).reshape(-1, machine.num_states).copy()
    return Monoid(elements, tuple(map(actions.word, actions.came)))


def cycle_lengths(maps: np.ndarray) -> np.ndarray:
    """(n, Q): the length of the cycle in which each of the maps (n, Q) turns each point, 0 of a point on none."""
    points, power = np.arange(maps.shape[1]), maps
    length = np.zeros(maps.shape, np.int64)
    for r in range(1, len(points) + 1):
        length[(power == points) & (length == 0)] = r
        power = np.take_along_axis(maps, power, 1)
    return length


@dataclass(frozen=True)
class Classification:
    """What kind of memory a machine needs; the fields are explained in ``classify``."""

    num_states: int
    monoid_size: int
    aperiodic: bool
    group: bool
    commutative: bool
    abelian: bool
    solvable: bool
    max_group_order: int
    derived_length: int | None
    pre_period: int


@checked
def classify(machine: MooreMachine, *, limit: int = 200_000) -> Classification:
    """Algebra of the minimised machine, hence of the answers and not of how the machine was drawn.

    aperiodic: no word turns two or more states in a cycle.  group: every token permutes the states.  commutative: the
    order of tokens never matters.  abelian, solvable: so is every maximal subgroup of the monoid; ``derived_length`` is
    the longest of their derived series, None if one never ends.  pre_period: the most repetitions of a word before its
    powers start to cycle.  ValueError if the monoid has more than ``limit`` elements.

    >>> found = classify(MooreMachine([[0, 1], [1, 0]], [0, 1], 0, "01"))
    >>> found.monoid_size, found.group, found.aperiodic, found.derived_length
    (2, True, False, 1)
    """
    small = minimise(machine)
    tokens, elements, groups = small.transitions, transition_monoid(small, limit=limit).elements, groups_in(small, limit)
    return Classification(
        num_states=tokens.shape[1], monoid_size=len(elements), aperiodic=groups.order == 1, group=groups.whole,
        commutative=all((u[v] == v[u]).all() for u, v in product(tokens, repeat=2)),
        abelian=groups.derived_length in (0, 1), solvable=groups.solvable, max_group_order=groups.order,
        derived_length=groups.derived_length, pre_period=_pre_period(elements))


class Groups(NamedTuple):
    """The groups in a machine: whether it is one, and of all of them the greatest order, the primes that divide orders,
    and the longest derived series (None if one never ends)."""

    whole: bool
    order: int
    primes: frozenset[int]
    derived_length: int | None

    @property
    def solvable(self):
        return self.derived_length is not None


def groups_in(machine: MooreMachine, most: int = 20_000) -> Groups:
    """The groups in a minimised machine, whose monoid need not be listed.  ValueError for more than ``most`` images.

    Words that lead a set of states onto itself permute it.  Of sets that words lead to one another one is enough; and the
    groups on the images of all words are the maximal subgroups of the monoid, or divide one.
    """
    from sympy import primefactors  # half a second to load
    from sympy.combinatorics import Permutation, PermutationGroup

    moves, orders, lengths = machine.transitions, [1], [0]
    for generators in _on_images(moves, most):
        group = PermutationGroup([Permutation(g) for g in sorted(generators)])
        orders.append(int(group.order()))
        if group.degree > 4 and 2 * orders[-1] >= factorial(group.degree):  # all permutations, or all even ones
            lengths.append(None)
        else:
            series = group.derived_series()
            lengths.append(len(series) - 1 if series[-1].order() == 1 else None)
    return Groups(
        bool((np.sort(moves) == np.arange(moves.shape[1])).all()), max(orders),
        frozenset(p for order in orders for p in primefactors(order)), None if None in lengths else max(lengths)
    )  # fmt: skip


def _on_images(moves, most):
    """For each class of images that lead to one another, permutations (of 0..r-1) that make its group, if it has one."""
    from scipy.sparse import csr_matrix  # with the next a tenth of a second to load
    from scipy.sparse.csgraph import connected_components

    place, images, edges = {tuple(range(moves.shape[1])): 0}, [np.arange(moves.shape[1])], []
    for i, image in enumerate(images):
        for v, to in enumerate(map(np.unique, moves[:, image])):
            if (key := tuple(to.tolist())) not in place:
                place[key] = len(images)
                images.append(to)
            if len(to) == len(image):
                edges.append((i, place[key], v))
        if len(images) > most:
            raise ValueError(f"words have more than {most} images")
    ends = np.array(edges).reshape(-1, 3)[:, :2].T
    part = connected_components(csr_matrix((np.ones(len(edges)), ends), (len(images),) * 2), connection="strong")[1]
    inside = [[] for _ in images]
    for i, j, v in edges:
        if part[i] == part[j]:
            inside[i].append((j, moves[v]))
    for root in np.unique(part, return_index=True)[1].tolist():
        way, queue, made = {root: images[root]}, [root], set()  # where a way from the root leads each of its states
        for i in queue:
            for j, move in inside[i]:
                if j not in way:
                    way[j] = move[way[i]]
                    queue.append(j)
                else:  # there by one way, back by the other
                    made.add(tuple(np.argsort(way[j])[np.searchsorted(np.sort(way[j]), move[way[i]])].tolist()))
        if made - {tuple(range(len(images[root])))}:
            yield made


def _pre_period(elements):
    """Largest k such that some element's (k-1)st power has a larger image than its k-th."""
    power, rank, k = np.broadcast_to(np.arange(elements.shape[1]), elements.shape), None, -1
    while True:
        power, before = np.sort(power, axis=1), rank
        rank = 1 + (np.diff(power, axis=1) > 0).sum(axis=1)
        if before is not None and (before == rank).all():
            return k
        power, k = np.take_along_axis(elements, power, axis=1), k + 1


# --- quotients ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Quotient:
    """``blocks`` (Q,): to which state of ``machine`` each state of the minimised machine goes; its answer is that state.
    """

    machine: MooreMachine
    blocks: np.ndarray


@checked
def quotients(machine: MooreMachine, *, limit: int = 2000) -> list[Quotient]:
    """All quotients of the minimised machine, small ones first: from one state to all of them.

    A congruence is made by pairs of states that it puts together: those made by one pair first, then what they make
    together.  ValueError if there are more than ``limit`` (n states that every token resets have as many as n points
    have partitions); with a limit of 0 only those of single pairs are made, and no error.
    """
    small = minimise(machine)
    whole_number(limit, 0, "limit")
    states = range(small.num_states)
    made = {joined(small, tuple(states), [pair]) for pair in combinations(states, 2)}
    found, queue = {tuple(states)} | made, sorted(made)
    for one in queue if limit else ():
        for other in made:
            pairs = [(q, block) for q, block in enumerate(other) if one[q] != one[block]]
            if pairs and (both := joined(small, one, pairs)) not in found:
                found.add(both)
                queue.append(both)
        if len(found) > limit:
            raise ValueError(f"the machine has more than {limit} quotients")
    return [_quotient(small, np.array(blocks)) for blocks in sorted(found, key=lambda row: (len(set(row)), row))]


def joined(machine: MooreMachine, blocks: tuple[int, ...], pairs: list[tuple[int, int]]) -> tuple[int, ...]:
    """The least congruence that contains another and puts each of ``pairs`` together.

    A congruence is written as the least state of the block of each state.
    """
    parent, moves, queue = list(blocks), machine.transitions.tolist(), list(pairs)

    def root(q):
        while parent[q] != q:
            q = parent[q]
        return q

    for q, r in queue:
        q, r = sorted((root(q), root(r)))
        if q != r:
            parent[r] = q
            queue += [(move[q], move[r]) for move in moves]
    return tuple(map(root, range(len(parent))))


def _quotient(small, blocks):
    kinds, numbers = np.unique(blocks, return_inverse=True)
    names = tuple(" ".join(np.array(small.names)[numbers == number]) for number in range(len(kinds)))
    return Quotient(MooreMachine(numbers[small.transitions[:, kinds]], np.arange(len(kinds)),
                                 int(numbers[small.initial]), small.symbols, names), numbers)  # fmt: skip


@dataclass(frozen=True, eq=False)
class QuotientScore:
    """How a net's answers are right in one quotient."""

    blocks: np.ndarray
    accuracy: float
    majority: float
    chance: float

    @property
    def size(self) -> int:
        """The number of blocks, which are the quotient's states."""
        return int(self.blocks.max()) + 1


@checked
def quotient_scores(predicted: Any, truth: Any, known: Iterable) -> list[QuotientScore]:
    """How often answers are right in each quotient of a machine whose states they name; one score a quotient.

    A net may answer a third of S_3's states right and yet never leave the right sign: its own answers say what it tracks.
    ``predicted`` and ``truth`` are states, in arrays of one shape; a quotient is the block of every state, (Q,) numbers
    0..B-1, or has that as ``blocks``.
    """
    given, right = np.asarray(predicted), np.asarray(truth)
    found = []
    for quotient in known:
        blocks = np.asarray(getattr(quotient, "blocks", quotient))
        one, other = blocks[given], blocks[right]
        shares = [np.bincount(part.ravel(), minlength=blocks.max() + 1) / part.size for part in (one, other)]
        found.append(QuotientScore(blocks, float((one == other).mean()), float(shares[1].max()),
                                   float(shares[0] @ shares[1])))  # fmt: skip
    return found
