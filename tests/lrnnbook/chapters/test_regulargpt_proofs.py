"""Paper 002, RegularGPT: composing actions in layers, by other routes.  The proofs are cells of chapter 08."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lrnnbook.content.chapters import tree_composition as composition
from lrnnbook.content.chapters.tree_composition import (
    compose,
    first_weights,
    letters,
    rebinarised,
    second_weights,
    simulate,
    truth,
)
from lrnnbook.content.exercises.ch08 import printed_machine
from lrnnbook.content.tables.word_actions import cluster_count, cycle_navigation
from lrnnlab.automata import MooreMachine
from lrnnlab.automata.languages import language


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 6))
def test_the_layer_multiplies_bits(seed, n):
    A, B = np.random.default_rng(seed).integers(2, size=(2, n, n))
    assert (compose(A, B) == A @ B).all()
    seen = np.maximum(np.concatenate([A.ravel(), B.ravel()]) @ first_weights(n) - 1, 0)
    assert (seen @ second_weights(n) == (A @ B).ravel()).all()


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 4))
def test_compose_is_a_sum_of_relus_for_any_numbers(seed, n):
    A, B = np.random.default_rng(seed).integers(-8, 16, size=(2, n, n)) / 4
    slow = [[sum(max(A[i, k] + B[k, j] - 1, 0) for k in range(n)) for j in range(n)] for i in range(n)]
    assert compose(A, B).tolist() == slow


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 4), st.sampled_from([1, 2, 4]))
def test_the_cured_layer_is_a_clip_of_each_product(seed, n, g):
    A, B = np.random.default_rng(seed).integers(-16, 32, size=(2, n, n)) / 16
    slow = [[sum(min(max(g * (A[i, k] + B[k, j] - 1.5) + 0.5, 0), 1) for k in range(n)) for j in range(n)]
            for i in range(n)]  # fmt: skip
    assert rebinarised(A, B, g).tolist() == slow


@st.composite
def machines(draw):
    """A machine of up to 4 states and 3 tokens, and a string of up to 20 tokens."""
    V, n = draw(st.integers(1, 3)), draw(st.integers(1, 4))
    table = draw(st.lists(st.lists(st.integers(0, n - 1), min_size=n, max_size=n), min_size=V, max_size=V))
    machine = MooreMachine(table, list(range(n)), draw(st.integers(0, n - 1)), tuple("abc"[:V]))
    return machine, draw(st.lists(st.integers(0, V - 1), min_size=1, max_size=20))


@settings(max_examples=60, deadline=None)
@given(machines())
def test_the_recursion_follows_any_machine(given_):
    machine, tokens = given_
    leaves, one = np.stack(letters(machine, np.array(tokens))), np.eye(machine.num_states, dtype=int)
    layers = composition.recursion_at_once(leaves)
    assert np.array_equal(layers, composition.recursion(leaves, compose, one))
    assert np.array_equal(layers[-1][:, None], truth(machine, np.array([tokens])))
    assert len(layers) == 1 + (len(tokens) - 1).bit_length()
    assert composition.states_read(layers[-1], machine).tolist() == machine.run(tokens).tolist()
    printed = composition.recursion_at_once(leaves, lambda earlier, later: compose(later, earlier))[-1]
    mirrored = [int(machine.run(tokens[:end][::-1])[-1]) for end in range(1, len(tokens) + 1)]
    assert composition.states_read(printed, machine).tolist() == mirrored
    assert printed_machine(machine).answer(tokens).tolist() == machine.outputs[mirrored].tolist()


@settings(max_examples=60, deadline=None)
@given(machines(), st.integers(1, 5))
def test_cluster_counts_are_those_of_all_words(given_, length):
    machine, _ = given_
    actions = set()
    for word in itertools.product(range(machine.num_symbols), repeat=length):
        states = list(range(machine.num_states))
        for token in word:
            states = [int(machine.transitions[token, s]) for s in states]
        actions.add(tuple(states))
    assert cluster_count(machine, length) == len(actions)


@pytest.mark.parametrize("machine", [cycle_navigation(), language("Tomita 3").machine, language("D_2").machine])
def test_the_cure_holds_at_one_eighth_in_every_layer(machine):
    tokens = np.random.default_rng(1).integers(machine.num_symbols, size=(3, 100))
    noisy, exact = simulate(machine, tokens, 1 / 8, np.random.default_rng(2), rebinarised, everywhere=True)
    worst = np.abs(noisy - exact).reshape(len(exact), -1).max(1)
    assert (worst <= 1 / 8).all() and (worst > 0.12).all()
    assert (composition.states_read(noisy[-1], machine) == machine.run(tokens).T).all()
    noisy, _ = simulate(machine, tokens, 1 / 8, np.random.default_rng(2), compose, everywhere=True)
    assert (composition.states_read(noisy[-1], machine) != machine.run(tokens).T).any()
