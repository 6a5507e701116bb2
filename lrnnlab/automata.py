"""Finite machines that answer after every token, and the algebra of what they can remember.

Letters: V tokens, Q states, T time, n elements of a monoid; a word is a tuple of token numbers.

* ``transitions[token, state]`` is the next state, ``outputs[state]`` the class shown in it (-1: no label).
* A word w acts on the states as an array: m_w[s] is where reading w from s ends.  Words are read from the left,
  so m_uv = m_v[m_u] in NumPy and A_uv = A_v A_u in matrices, which is the order of x_t = A_t x_{t-1}.
"""

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from itertools import product
from numbers import Integral

import numpy as np
from automata.fa.dfa import DFA

from lrnnlab.errors import checked, shown

NO_LABEL = -1


@dataclass(frozen=True, eq=False)
class MooreMachine:
    """A deterministic machine with an answer in every state.

    ``transitions`` (V, Q) int, ``outputs`` (Q,) int, -1 for "no label", ``initial`` a state, ``symbols`` V distinct
    strings, ``names`` Q strings (default "0", "1", ...).  ``==`` compares tables, initial states and symbols; names
    are only for show.  ValueError if a shape, a state or a class is wrong.

    >>> MooreMachine([[0, 1], [1, 0]], [0, 1], 0, ("0", "1")).answer([1, 1, 0, 1])  # parity
    array([1, 0, 0, 1])
    """

    transitions: np.ndarray
    outputs: np.ndarray
    initial: int
    symbols: tuple
    names: tuple = ()

    def __post_init__(self):
        for field, ndim in (("transitions", 2), ("outputs", 1)):
            given = _array(getattr(self, field), field)
            if given.ndim != ndim or given.size == 0 or given.dtype.kind not in "iu":
                raise ValueError(f"{field} must be a non-empty {ndim}-dimensional array of integers, "
                                 f"got shape {given.shape} of {given.dtype}")
            array = given.astype(np.int64)
            array.setflags(write=False)  # a frozen dataclass does not freeze the arrays it holds
            object.__setattr__(self, field, array)
        (V, Q), outputs = self.transitions.shape, self.outputs
        for field in ("symbols", "names"):
            object.__setattr__(self, field, _several(getattr(self, field), field))
        if not all(isinstance(symbol, Hashable) for symbol in self.symbols):
            raise TypeError(f"symbols must be texts, got {shown(self.symbols)}")
        object.__setattr__(self, "names", self.names or tuple(map(str, range(Q))))
        wrong = np.argwhere((self.transitions < 0) | (self.transitions >= Q))
        if len(wrong):
            (token, state), bad = wrong[0], self.transitions[tuple(wrong[0])]
            raise ValueError(f"transitions[{token}, {state}] = {bad} is no state; the states are 0..{Q - 1}")
        if len(outputs) != Q or outputs.min() < NO_LABEL:
            raise ValueError(f"outputs must be {Q} classes, each -1 or more, got {outputs.tolist()}")
        if isinstance(self.initial, bool) or not isinstance(self.initial, Integral) or self.initial not in range(Q):
            raise ValueError(f"initial state {shown(self.initial)} is outside 0..{Q - 1}")
        if len(self.symbols) != V or len(set(self.symbols)) != V:
            raise ValueError(f"need {V} distinct symbols, got {self.symbols}")
        if len(self.names) != Q:
            raise ValueError(f"need {Q} names, got {len(self.names)}")

    def __eq__(self, other):
        return (isinstance(other, MooreMachine) and self.initial == other.initial and self.symbols == other.symbols
                and np.array_equal(self.transitions, other.transitions) and np.array_equal(self.outputs, other.outputs))

    @property
    def num_symbols(self):
        return self.transitions.shape[0]

    @property
    def num_states(self):
        return self.transitions.shape[1]

    def run(self, tokens):
        """The state after each token: ``tokens`` (..., T) int -> (..., T).  ValueError for a token outside 0..V-1."""
        tokens = _array(tokens, "tokens")
        if tokens.ndim == 0 or (tokens.size and tokens.dtype.kind not in "iu"):
            raise ValueError(f"tokens must be integers (..., T), got shape {tokens.shape} of {tokens.dtype}")
        wrong = np.argwhere((tokens < 0) | (tokens >= self.num_symbols))
        if len(wrong):
            raise ValueError(f"token {tokens[tuple(wrong[0])]} at position {wrong[0][-1]} "
                             f"is outside 0..{self.num_symbols - 1}")
        states, state = np.empty(tokens.shape, dtype=np.int64), np.full(tokens.shape[:-1], self.initial)
        for t in range(tokens.shape[-1]):
            states[..., t] = state = self.transitions[tokens[..., t], state]
        return states

    def answer(self, tokens):
        """The class shown after each token, (..., T) -> (..., T); -1 where there is none."""
        return self.outputs[self.run(tokens)]

    def reachable(self):
        """The reachable states, an array in breadth-first order (tokens in their own order)."""
        order, seen = [self.initial], {self.initial}
        for state in order:  # the list grows while we read it: it is the queue
            for follower in self.transitions[:, state].tolist():
                if follower not in seen:
                    seen.add(follower)
                    order.append(follower)
        return np.array(order)


def _several(given, what):
    """``given`` as a tuple; TypeError if it holds nothing that can be told one by one."""
    try:
        return tuple(given)
    except TypeError as error:
        raise TypeError(f"{what} must be a sequence of texts, got {shown(given)}") from error


def _array(given, what):
    """``given`` as a NumPy array; TypeError if it cannot be one."""
    try:
        return np.array(given)
    except (TypeError, ValueError, RuntimeError) as error:
        raise TypeError(f"{what} must be an array of integers, got {shown(given)}") from error


@checked
def build(
    initial: Hashable, symbols: Iterable, step: Callable, output: Callable, name: Callable = str, limit: int = 100_000
) -> MooreMachine:
    """The machine of a Python rule: explore ``step(state, token) -> state`` breadth-first from ``initial``.

    States may be any hashable values; ``output(state)`` is a class or -1, ``name(state)`` the text shown for it.
    ValueError when more than ``limit`` states are met.

    >>> build(0, "01", lambda state, token: (state + token) % 3, lambda state: state).num_states
    3
    """
    symbols, number, states, rows = _several(symbols, "symbols"), {initial: 0}, [initial], []
    if not symbols:
        raise ValueError(f"a machine reads at least one symbol, got symbols={symbols}")
    for state in states:
        followers = [step(state, token) for token in range(len(symbols))]
        for follower in followers:
            if follower not in number:
                number[follower] = len(states)
                states.append(follower)
        if len(states) > limit:
            raise ValueError(f"more than {limit} states: is the rule finite-state? The last one met is {states[-1]!r}")
        rows.append([number[follower] for follower in followers])
    return MooreMachine(np.array(rows).T, [output(s) for s in states], 0, symbols, map(name, states))


@checked
def minimise(machine: MooreMachine) -> MooreMachine:
    """The smallest machine with the same answers, its states numbered breadth-first from the initial one.

    The numbering is canonical: two machines are equivalent iff their minimised machines are ``==``.  Each state keeps
    the name of the first of the states it stands for.  automata-lib knows acceptors only, so a class c becomes a probe
    symbol: the acceptor takes w followed by ?c iff the machine shows c after w.

    >>> minimise(build(0, "01", lambda s, token: (s + token) % 6, lambda s: s % 3)).num_states
    3
    """
    live, letters = machine.reachable().tolist(), [str(v) for v in range(machine.num_symbols)]
    probes = {f"?{c}": c for c in set(machine.outputs[live].tolist())}
    accept, dead = machine.num_states, machine.num_states + 1
    table = {s: dict.fromkeys([*letters, *probes], dead) for s in (*live, accept, dead)}
    for s in live:
        table[s].update(zip(letters, machine.transitions[:, s].tolist()))
        table[s][f"?{machine.outputs[s]}"] = accept
    smallest = DFA(states=set(table), input_symbols={*letters, *probes}, transitions=table,
                   initial_state=machine.initial, final_states={accept}).minify(retain_names=True)
    block, first = {s: members for members in smallest.states for s in members}, {}
    for s in live:  # breadth-first, so `first` stands for each block by its state met first
        first.setdefault(block[s], s)
    return build(machine.initial, machine.symbols, lambda s, token: first[block[int(machine.transitions[token, s])]],
                 lambda s: int(machine.outputs[s]), lambda s: machine.names[s], limit=len(first))


@checked
def equivalent(a: MooreMachine, b: MooreMachine, where_labelled: bool = False) -> tuple | None:
    """None if the machines answer alike, else a shortest word (tuple of tokens) after which they differ.

    The word may be empty, ``()``, so compare the result with None; of the shortest words it is the first in dictionary
    order.  -1 counts as an answer like any other unless ``where_labelled``: then words after which ``a`` has no label
    are not compared.  ValueError if the symbols differ.

    >>> even, fourth = (build(0, "01", lambda s, v: (s + v) % n, lambda s: int(s == 0)) for n in (2, 4))
    >>> equivalent(even, fourth)
    (1, 1)
    """
    if a.symbols != b.symbols:
        raise ValueError(f"the machines read different symbols: {a.symbols} and {b.symbols}")
    came_from, pairs = {(a.initial, b.initial): None}, [(a.initial, b.initial)]
    for pair in pairs:
        shown, word = a.outputs[pair[0]], []
        if shown != b.outputs[pair[1]] and not (where_labelled and shown == NO_LABEL):
            while came_from[pair]:
                pair, token = came_from[pair]
                word.append(token)
            return tuple(reversed(word))
        for token, follower in enumerate(zip(a.transitions[:, pair[0]].tolist(), b.transitions[:, pair[1]].tolist())):
            if follower not in came_from:
                came_from[follower] = (pair, token)
                pairs.append(follower)
    return None


@checked
def one_hot_transitions(machine: MooreMachine) -> np.ndarray:
    """(V, Q, Q) float64 with A[v, i, j] = 1 iff token v leads from j to i, so A[v] @ e_j is the next state.

    >>> one_hot_transitions(MooreMachine([[0, 0]], [0, 1], 0, "a")).tolist()
    [[[1.0, 1.0], [0.0, 0.0]]]
    """
    return (machine.transitions[:, None, :] == np.arange(machine.num_states)[:, None]).astype(np.float64)


@dataclass(frozen=True, eq=False)
class Monoid:
    """All actions of words: ``elements`` (n, Q), the identity first; ``words`` n tuples of tokens, a shortest each."""

    elements: np.ndarray
    words: tuple

    def __len__(self):
        return len(self.elements)


@checked
def transition_monoid(machine: MooreMachine, limit: int = 200_000) -> Monoid:
    """Every distinct action of a word on the machine's Q states, shorter words first, then in dictionary order.

    ``elements[i][s]`` is where ``words[i]`` leads from s; reading u and then v is ``m_v[m_u]``.  ValueError if there
    are more than ``limit``.

    >>> transition_monoid(MooreMachine([[0, 1], [1, 0]], [0, 1], 0, "01")).words
    ((), (1,))
    """
    return _generate(machine.transitions, limit)


def _generate(generators, limit=None):
    """The monoid of all products of the maps ``generators`` (V, Q)."""
    Q = generators.shape[1]
    found, queue = {np.arange(Q).tobytes(): ()}, [np.arange(Q)]
    for element in queue:
        word = found[element.tobytes()]
        for token, longer in enumerate(generators[:, element]):  # (V, Q): the word first, then one more token
            if longer.tobytes() not in found:
                found[longer.tobytes()] = (*word, token)
                queue.append(longer)
        if limit and len(queue) > limit:
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
    """The distinct maximal subgroups, as arrays (g, r) of permutations of 0..r-1.

    The units of eMe, e idempotent, are the elements with e's kernel and e's image: such an element permutes the
    image, so one of its powers is e and the power before that is its inverse.
    """
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
