"""The algebra of what a finite machine can remember: its transition monoid, and what kind of memory that is.

Letters: V tokens, Q states, n elements of a monoid, g of a group, r points; a word is a tuple of tokens, read from the left.
"""

from dataclasses import dataclass
from itertools import product

import numpy as np

from lrnnlab.automata.machines import MooreMachine, minimise
from lrnnlab.validation import checked


@dataclass(frozen=True, eq=False)
class Monoid:
    """All actions of words: ``elements`` (n, Q), the identity first; ``words`` n tuples of tokens, a shortest each."""

    elements: np.ndarray
    words: tuple

    def __len__(self):
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
def transition_monoid(machine: MooreMachine, limit: int = 200_000) -> Monoid:
    """Every distinct action of a word on the machine's Q states, shorter words first, then in dictionary order.

    ``elements[i][s]`` is where ``words[i]`` leads from s; reading u and then v is ``m_v[m_u]``.  ValueError if there
    are more than ``limit``.

    >>> transition_monoid(MooreMachine([[0, 1], [1, 0]], [0, 1], 0, "01")).words
    ((), (1,))
    """
    return _generate(machine.transitions, limit)


def short_words(machine: MooreMachine, most: int) -> Monoid:
    """The actions of short words only, about ``most`` of them, of a monoid that may be too large to be listed whole.
    """
    return _generate(machine.transitions, most, whole=False)


def _generate(generators, limit=None, whole=True):
    """The monoid of all products of the maps ``generators`` (V, Q); unless ``whole``, it ends at the limit."""
    Q = generators.shape[1]
    identity = np.arange(Q, dtype=generators.dtype)  # of one type, since elements are compared as bytes
    found, queue = {identity.tobytes(): ()}, [identity]
    for element in queue:
        word = found[element.tobytes()]
        for token, longer in enumerate(generators[:, element]):  # (V, Q): the word first, then one more token
            if longer.tobytes() not in found:
                found[longer.tobytes()] = (*word, token)
                queue.append(longer)
        if limit is not None and len(queue) > limit:
            if not whole:
                break
            raise ValueError(f"the monoid has more than {limit} elements")
    return Monoid(np.array(queue), tuple(found.values()))


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
def classify(machine: MooreMachine, limit: int = 200_000) -> Classification:
    """Algebra of the minimised machine, hence of the answers and not of how the machine was drawn.

    aperiodic: no word turns two or more states in a cycle.  group: every token permutes the states.  commutative: the
    order of tokens never matters.  abelian, solvable: so is every maximal subgroup of the monoid; ``derived_length`` is
    the longest of their derived series, None if one never ends.  pre_period: the most repetitions of a word before its
    powers start to cycle.  ValueError if the monoid has more than ``limit`` elements.

    >>> found = classify(MooreMachine([[0, 1], [1, 0]], [0, 1], 0, "01"))
    >>> found.monoid_size, found.group, found.aperiodic, found.derived_length
    (2, True, False, 1)
    """
    tokens = minimise(machine).transitions
    elements = _generate(tokens, limit).elements
    groups = _maximal_subgroups(elements)
    lengths, order = [_derived_length(group) for group in groups], max(map(len, groups))
    derived_length = None if None in lengths else max(lengths)
    return Classification(
        num_states=tokens.shape[1], monoid_size=len(elements), aperiodic=order == 1,
        group=bool((np.sort(tokens) == np.arange(tokens.shape[1])).all()),
        commutative=all((u[v] == v[u]).all() for u, v in product(tokens, repeat=2)),
        abelian=derived_length in (0, 1), solvable=derived_length is not None, max_group_order=order,
        derived_length=derived_length, pre_period=_pre_period(elements))


def _maximal_subgroups(elements):
    """The distinct maximal subgroups, as arrays (g, r) of permutations of 0..r-1."""
    image, kernel, classes, distinct = np.zeros(elements.shape, bool), np.empty_like(elements), {}, {}
    np.put_along_axis(image, elements, True, axis=1)
    for s in range(elements.shape[1]):  # in the end kernel[i, t] is the largest s with the value of t
        kernel[elements == elements[:, s:s + 1]] = s
    for i, key in enumerate(zip(image, kernel)):
        classes.setdefault(key[0].tobytes() + key[1].tobytes(), []).append(i)
    for members in classes.values():
        maps, points = elements[members], np.flatnonzero(image[members[0]])
        if (np.take_along_axis(maps, maps, axis=1) == maps).all(axis=1).any():  # one of them is idempotent
            group = np.unique(np.searchsorted(points, maps[:, points]), axis=0)
            distinct[len(points), group.tobytes()] = group  # subgroups of one D-class often coincide once renumbered
    return list(distinct.values())


def _pre_period(elements):
    """Largest k such that some element's (k-1)st power has a larger image than its k-th."""
    power, rank, k = np.broadcast_to(np.arange(elements.shape[1]), elements.shape), None, -1
    while True:
        power, before = np.sort(power, axis=1), rank
        rank = 1 + (np.diff(power, axis=1) > 0).sum(axis=1)
        if before is not None and (before == rank).all():
            return k
        power, k = np.take_along_axis(elements, power, axis=1), k + 1


def _derived_length(group):
    """Steps of G > G' > G'' > ... down to the trivial group, None if it stops above.  ``group`` (g, r)."""
    length = 0
    while len(group) > 1:
        chosen, _ = _closure(group)
        derived = _closure([b[a[np.argsort(b)[np.argsort(a)]]] for a, b in product(chosen, repeat=2)], chosen)[1]
        if len(derived) == len(group):
            return None
        group, length = derived, length + 1
    return length


def _closure(candidates, conjugators=()):
    """The subgroup made by ``candidates`` and their conjugates: a few generators, and all its elements."""
    queue, chosen = list(candidates), []
    elements = np.arange(len(queue[0]))[None]
    for candidate in queue:
        if not (elements == candidate).all(axis=1).any():
            chosen.append(candidate)
            elements = _generate(np.array(chosen)).elements
            queue.extend(g[candidate[np.argsort(g)]] for g in conjugators)
    return chosen, elements
