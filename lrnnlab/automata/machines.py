"""Finite machines that answer after every token: built, run, minimised, compared.

Letters: V tokens, Q states, R of them, T time; a word is a tuple of token numbers.

* ``transitions[token, state]`` is the next state, ``outputs[state]`` the class shown in it (-1: no label).
* A word w acts on the states as an array: m_w[s] is where reading w from s ends.  Words are read from the left,
  so m_uv = m_v[m_u] in NumPy and A_uv = A_v A_u in matrices, which is the order of x_t = A_t x_{t-1}.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any

import numpy as np

from lrnnlab.validation import checked, shown

NO_LABEL = -1


class Search:
    """What tokens lead to from ``start``, breadth-first; ``follow(node)`` gives pairs (token, the node after it)."""

    def __init__(self, start: Any, follow: Callable[[Any], Iterable[tuple[int, Any]]]):
        self.follow = follow
        self.came: dict[Any, tuple[Any, int] | None] = {start: None}  # from which node, by which token, each was reached

    def __iter__(self) -> Iterator[Any]:
        for node in (queue := [*self.came]):  # the list grows while we read it
            yield node
            for token, after in self.follow(node):
                if after not in self.came:
                    self.came[after] = node, token
                    queue.append(after)

    def word(self, node: Any) -> tuple[int, ...]:
        """A shortest word to a node that has been reached, of them the first in the order of tokens."""
        word: list[int] = []
        while (before := self.came[node]) is not None:
            node, token = before
            word.append(token)
        return tuple(reversed(word))


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
    symbols: tuple[Any, ...]
    names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
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

    @classmethod
    @checked
    def from_rule(
        cls, initial: Any, symbols: Iterable[Hashable], step: Callable, output: Callable, name: Callable = str,
        limit: int = 100_000,
    ) -> MooreMachine:  # fmt: skip
        """The machine of a Python rule: explore ``step(state, token) -> state`` breadth-first from ``initial``.

        States may be any hashable values; ``output(state)`` is a class or -1, ``name(state)`` the text shown for it.
        ValueError when more than ``limit`` states are met.

        >>> MooreMachine.from_rule(0, "01", lambda state, token: (state + token) % 3, lambda state: state).num_states
        3
        """
        symbols = tuple(_several(symbols, "symbols"))
        _check_state(initial)
        number, states, rows = {initial: 0}, [initial], []
        if not symbols:
            raise ValueError(f"a machine reads at least one symbol, got symbols={symbols}")
        for state in states:
            followers = [step(state, token) for token in range(len(symbols))]
            for follower in followers:
                _check_state(follower)
                if follower not in number:
                    number[follower] = len(states)
                    states.append(follower)
            if len(states) > limit:
                raise ValueError(f"more than {limit} states: is the rule finite-state? The last one met is {states[-1]!r}")
            rows.append([number[follower] for follower in followers])
        outputs = np.array([output(s) for s in states])
        return cls(np.array(rows).T, outputs, 0, symbols, tuple(map(name, states)))

    @classmethod
    def from_automata(cls, dfa: Any) -> MooreMachine:
        """The machine of a ``DFA`` of automata-lib: it shows 1 in final states, else 0; missing arrows lead to a dead state.

        Letters are sorted.  TypeError for anything else; ``DFA.from_nfa`` makes one of an NFA.

        >>> from automata.fa.dfa import DFA
        >>> dfa = DFA(states={"p", "q"}, input_symbols={"a", "b"}, transitions={"p": {"a": "q"}, "q": {"a": "p"}},
        ...           initial_state="p", final_states={"q"}, allow_partial=True)
        >>> MooreMachine.from_automata(dfa).answer([[0, 0, 0], [0, 1, 0]]).tolist()
        [[1, 0, 1], [1, 0, 0]]
        """
        from automata.fa.dfa import DFA

        if not isinstance(dfa, DFA):
            raise TypeError(f"from_automata takes a DFA of automata-lib, got {shown(dfa)}")
        symbols = sorted(dfa.input_symbols, key=str)

        def step(state: tuple, token: int) -> tuple:  # a state in a tuple; the empty one is dead
            row = dfa.transitions.get(state[0], {}) if state else {}
            return (row[symbols[token]],) if symbols[token] in row else ()

        start, name = (dfa.initial_state,), lambda state: str(state[0]) if state else "dead"
        return cls.from_rule(start, symbols, step, lambda state: int(bool(state) and state[0] in dfa.final_states), name)

    def to_automata(self, final: int = 1) -> Any:
        """A ``DFA`` of automata-lib whose states are this machine's numbers and whose final ones show ``final``.

        >>> parity = MooreMachine([[0, 1], [1, 0]], [0, 1], 0, "01")
        >>> parity.to_automata().accepts_input("1101"), MooreMachine.from_automata(parity.to_automata()) == parity
        (True, True)
        """
        from automata.fa.dfa import DFA

        arrows = {state: dict(zip(self.symbols, row)) for state, row in enumerate(self.transitions.T.tolist())}
        return DFA(states={*arrows}, input_symbols={*self.symbols}, transitions=arrows, initial_state=self.initial,
                   final_states=set(np.flatnonzero(self.outputs == final).tolist()))  # fmt: skip

    def to_dot(self) -> str:
        """The diagram in the language of Graphviz: each state's name and answer, letters that go the same way together.

        >>> print(MooreMachine([[0, 1], [1, 0]], [0, -1], 0, "01", ("even", "odd")).to_dot())
        digraph {
          rankdir=LR; start [shape=point]; start -> 0
          0 [label="even\\n0"]; 1 [label="odd"]
          0 -> 0 [label="0"]; 0 -> 1 [label="1"]
          1 -> 1 [label="0"]; 1 -> 0 [label="1"]
        }
        """

        def text(label: Any) -> str:
            return str(label).replace("\\", "\\\\").replace('"', '\\"')

        labels = [text(name) + (f"\\n{answer}" if answer >= 0 else "") for name, answer in zip(self.names, self.outputs.tolist())]
        lines = [f"rankdir=LR; start [shape=point]; start -> {self.initial}",
                 "; ".join(f'{state} [label="{label}"]' for state, label in enumerate(labels))]  # fmt: skip
        for state, row in enumerate(self.transitions.T.tolist()):
            ways: dict[int, list[str]] = {}
            for symbol, after in zip(self.symbols, row):
                ways.setdefault(after, []).append(text(symbol))
            lines.append("; ".join(f'{state} -> {after} [label="{", ".join(by)}"]' for after, by in ways.items()))
        return "\n".join(["digraph {", *(f"  {line}" for line in lines), "}"])

    def __eq__(self, other: object) -> bool:
        return (isinstance(other, MooreMachine) and self.initial == other.initial and self.symbols == other.symbols
                and np.array_equal(self.transitions, other.transitions) and np.array_equal(self.outputs, other.outputs))

    def __hash__(self) -> int:
        return hash((self.initial, self.symbols, self.transitions.tobytes(), self.outputs.tobytes()))

    @property
    def num_symbols(self) -> int:
        return self.transitions.shape[0]

    @property
    def num_states(self) -> int:
        return self.transitions.shape[1]

    @property
    def sinks(self) -> tuple[int, ...]:
        """The states that no token leaves.

        >>> MooreMachine([[0, 1], [1, 1]], [0, 1], 0, "ab").sinks
        (1,)
        """
        return tuple(np.flatnonzero((self.transitions == np.arange(self.num_states)).all(0)).tolist())

    def run(self, tokens: Any) -> np.ndarray:
        """The state after each token: ``tokens`` (..., T) int -> (..., T).  ValueError for a token outside 0..V-1."""
        tokens = _array(tokens, "tokens")
        if tokens.ndim == 0 or (tokens.size and tokens.dtype.kind not in "iu"):
            raise ValueError(f"tokens must be integers (..., T), got shape {tokens.shape} of {tokens.dtype}")
        tokens = tokens.astype(np.int64, copy=False)  # no tokens at all may be of any type
        wrong = np.argwhere((tokens < 0) | (tokens >= self.num_symbols))
        if len(wrong):
            raise ValueError(f"token {tokens[tuple(wrong[0])]} at position {wrong[0][-1]} "
                             f"is outside 0..{self.num_symbols - 1}")
        states, state = np.empty(tokens.shape, dtype=np.int64), np.full(tokens.shape[:-1], self.initial)
        for t in range(tokens.shape[-1]):
            states[..., t] = state = self.transitions[tokens[..., t], state]
        return states

    def after(self, state: int, word: Iterable[int]) -> int:
        """The state that a word leads to from ``state``.

        >>> MooreMachine([[0, 1], [1, 0]], [0, 1], 0, ("0", "1")).after(1, (1, 1, 1))
        0
        """
        for token in word:
            state = int(self.transitions[token, state])
        return state

    def answer(self, tokens: Any) -> np.ndarray:
        """The class shown after each token, (..., T) -> (..., T); -1 where there is none."""
        return self.outputs[self.run(tokens)]

    def reachable(self) -> np.ndarray:
        """The reachable states, an array in breadth-first order (tokens in their own order)."""
        return np.array([*self._search()])

    def ways(self) -> dict[int, tuple[int, ...]]:
        """A shortest word to every state that can be reached.

        >>> from lrnnlab.automata.languages import language
        >>> language("Tomita 4").machine.ways()
        {0: (), 1: (0,), 2: (0, 0), 3: (0, 0, 0)}
        """
        search = self._search()
        return {state: search.word(state) for state in search}

    def _search(self) -> Search:
        return Search(self.initial, lambda state: enumerate(self.transitions[:, state].tolist()))


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


def _check_state(state):
    try:
        hash(state)
    except TypeError as error:
        raise TypeError(f"a state must be hashable, a tuple and no list, got {shown(state)}") from error


@checked
def minimise(machine: MooreMachine) -> MooreMachine:
    """The smallest machine with the same answers, its states numbered breadth-first from the initial one.

    The numbering is canonical: two machines are equivalent iff their minimised machines are ``==``.  Each state keeps
    the name of the first of the states it stands for.

    >>> minimise(MooreMachine.from_rule(0, "01", lambda s, token: (s + token) % 6, lambda s: s % 3)).num_states
    3
    """
    live = machine.reachable()
    number = np.zeros(machine.num_states, np.int64)
    number[live] = np.arange(len(live))
    follow = number[machine.transitions[:, live]].T  # (R, V)
    group = coarsest(equal_rows(machine.outputs[live][:, None]), follow)
    first = np.unique(group, return_index=True)[1]  # each class is known by its state met first
    return MooreMachine.from_rule(
        0, machine.symbols, lambda s, token: int(first[group[follow[s, token]]]), lambda s: int(machine.outputs[live[s]]),
        lambda s: machine.names[live[s]], limit=len(first),
    )  # fmt: skip


@checked
def equivalent(a: MooreMachine, b: MooreMachine, *, where_labelled: bool = False) -> tuple[int, ...] | None:
    """None if the machines answer alike, else a shortest word (tuple of tokens) after which they differ.

    The word may be empty, ``()``, so compare the result with None; of the shortest words it is the first in dictionary
    order.  -1 counts as an answer like any other unless ``where_labelled``: then words after which ``a`` has no label
    are not compared.  ValueError if the symbols differ.

    >>> modulo = lambda n: MooreMachine.from_rule(0, "01", lambda s, v: (s + v) % n, lambda s: int(s == 0))
    >>> equivalent(modulo(2), modulo(4))
    (1, 1)
    """
    if a.symbols != b.symbols:
        raise ValueError(f"the machines read different symbols: {a.symbols} and {b.symbols}")
    both = Search((a.initial, b.initial), lambda pair: enumerate(
        zip(a.transitions[:, pair[0]].tolist(), b.transitions[:, pair[1]].tolist())))  # fmt: skip
    for one, other in both:
        shown = a.outputs[one]
        if shown != b.outputs[other] and not (where_labelled and shown == NO_LABEL):
            return both.word((one, other))
    return None


def apart(machine: MooreMachine, one: int, other: int) -> tuple | None:
    """A shortest word that two states of a machine answer differently, None if there is none."""
    return equivalent(replace(machine, initial=one), replace(machine, initial=other))


def leading_to(machine: MooreMachine, shown: np.ndarray) -> np.ndarray:
    """(Q,) bool: the states from which some word, perhaps the empty one, leads to one that ``shown`` (Q,) marks."""
    before = None
    while not np.array_equal(shown, before):
        shown, before = shown | shown[machine.transitions].any(0), shown
    return shown


@checked
def one_hot_transitions(machine: MooreMachine) -> np.ndarray:
    """(V, Q, Q) float64 with A[v, i, j] = 1 iff token v leads from j to i, so A[v] @ e_j is the next state.

    >>> one_hot_transitions(MooreMachine([[0, 0]], [0, 1], 0, "a")).tolist()
    [[[1.0, 1.0], [0.0, 0.0]]]
    """
    return (machine.transitions[:, None, :] == np.arange(machine.num_states)[:, None]).astype(np.float64)


def coarsest(group: np.ndarray, follow: np.ndarray) -> np.ndarray:
    """The coarsest partition that refines ``group`` (R,) and that ``follow`` (R, V; -1 for nowhere) respects."""
    start, mix = group, np.random.default_rng(0)
    while True:
        following = np.where(follow >= 0, group[follow], -1)
        finer = equal_rows(_hash(np.column_stack([group, following]), mix))
        if finer.max() == group.max():
            break
        group = finer
    first = np.unique(group, return_index=True)[1]
    if not ((start == start[first[group]]).all() and (following == following[first[group]]).all()):
        raise AssertionError("two states were merged by a hash collision: change the seed of the hash")
    return group


def _hash(table: np.ndarray, mix: np.random.Generator) -> np.ndarray:
    factors = mix.integers(1, 2**63, table.shape[1], dtype=np.uint64) | np.uint64(1)
    with np.errstate(over="ignore"):
        mixed = (table.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)) * factors
        mixed ^= mixed >> np.uint64(29)
        return np.sum(mixed * np.asarray(factors)[::-1], 1)


def equal_rows(table: np.ndarray) -> np.ndarray:
    """Equal rows get equal numbers, counted in the order of their first appearance."""
    _, first, inverse = np.unique(table, axis=0, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[inverse.reshape(-1)]
