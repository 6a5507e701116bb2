"""Which machines counts can follow: against the loops themselves, and known languages."""

from itertools import product

import numpy as np
import pytest
import sympy as sp
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from lrnnlab.automata import MooreMachine, classify, minimise
from lrnnlab.automata.languages import language
from lrnnlab.expressivity.theorems.counting import states_told_by_counts


def by_loops(small):
    """The criterion as the released decider asks it: weights by which every simple loop sums to zero, and sums along ways."""
    move, states, V = small.transitions.tolist(), range(small.num_states), small.num_symbols
    reach = (
        np.linalg.matrix_power(np.eye(len(states), dtype=int) + sum(np.eye(len(states), dtype=int)[m] for m in move), 9)
        > 0
    )
    together = reach & reach.T
    classes = [next(p for p in states if together[p, q]) for q in states]

    def walks(q, goal, seen):
        for v in range(V):
            to = move[v][q]
            if together[q, to]:
                if to == goal:
                    yield [(v, q)]
                elif to not in seen:
                    yield from ([(v, q), *rest] for rest in walks(to, goal, {*seen, to}))

    while True:
        labels = sorted({(v, c) for v in range(V) for c in classes})

        def count(way):
            return [sum((v, classes[q]) == label for v, q in way) for label in labels]

        loops = [count(way) for q in states for way in walks(q, q, {q})]
        basis = sp.Matrix(loops).nullspace() if loops else []
        told = []
        for q in states:
            root = next(p for p in states if together[p, q])
            way = count(next(walks(root, q, {root}))) if root != q else [0] * len(labels)
            told.append((classes[q], *(sum(w * n for w, n in zip(one, way)) for one in basis)))
        finer = [told.index(one) for one in told]
        if len(set(finer)) == len(set(classes)):
            return all(
                len({move[v][q] for q in states if classes[q] == c}) == 1 for v in range(V) for c in set(classes)
            )
        classes = finer


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.integers(2, 5).flatmap(lambda Q: st.lists(st.integers(0, Q - 1), min_size=2 * Q, max_size=2 * Q)))
def test_against_the_loops(cells):
    Q = len(cells) // 2
    small = minimise(MooreMachine(np.array(cells).reshape(2, Q), np.arange(Q), 0, "ab"))
    assume(small.num_states > 1)
    told = states_told_by_counts(small)
    assert told == by_loops(small)
    assert not told or classify(small).aperiodic  # a turn has no weight but zero


@pytest.mark.parametrize(("name", "told"), [
    ("Tomita 1", True), ("Tomita 2", True), ("Tomita 3", False), ("Tomita 4", False), ("Tomita 7", True), ("D_2", True), ("D_12", True),
    ("Parity", False), ("(aa)*", False), ("EvenPair(5)", True), ("S_3", False),
])  # fmt: skip
def test_known_languages(name, told):
    assert states_told_by_counts(language(name).machine) == told


def test_a_flip_flop_is_not_told_until_its_letters_are_balanced():
    flip_flop = MooreMachine.from_rule(0, "-ab", lambda s, v: v or s, lambda s: s)
    assert not states_told_by_counts(flip_flop)  # what was written last is not how often
    polite = MooreMachine.from_rule(
        0, "-ab", lambda s, v: {0: s, 1: {0: 1}.get(s, 3), 2: {1: 0}.get(s, 3)}[v] if s < 3 else 3, lambda s: s
    )
    assert states_told_by_counts(polite)  # a and b must take turns, so a's less b's tell the state


def test_a_program_of_counts_answers_as_the_machine():
    """D_3 by one count: opened less closed, and whether it ever left 0 to 3."""
    machine = language("D_3").machine
    for word in product(range(2), repeat=12):
        depth = np.cumsum([1 - 2 * v for v in word])
        inside = (depth >= 0).all() and (depth <= 3).all()
        states = machine.run(np.array(word))
        assert inside == (states[-1] not in machine.sinks)
