"""Paper 002, RegularGPT: composing actions in layers.  Each proof holds, each planted fault fails where it should."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from proving import two_tests

from lrnnlab.automata import MooreMachine, transition_monoid
from lrnnlab.algebra import chunk_composition, chunk_cost, clusters, composition_order, error_correction, recursion
from lrnnlab.algebra.chunk_composition import FEWER, compose, first_weights, second_weights, two_layers
from lrnnlab.algebra.clusters import COUNTS, cluster_count, cycle_navigation
from lrnnlab.algebra.composition_order import agreements, later_first, printed_machine
from lrnnlab.algebra.error_correction import rebinarised, simulate
from lrnnlab.automata.languages import language

PROOFS = {
    "lemma_1": chunk_composition.lemma_1,
    "and_gates": chunk_composition.and_gates,
    "padding": recursion.padding,
    "closure": recursion.closure,
    "order_of_composition": composition_order.order_of_composition,
    "read_out": composition_order.read_out,
    "noise_growth": error_correction.noise_growth,
    "one_eighth": error_correction.one_eighth,
    "clusters": clusters.clusters,
    "cost": chunk_cost.cost,
}

ZEROS = np.zeros((5, 5), dtype=int)


def plain(A, B, g):
    """The layer of the lemma, where the cured one is asked for."""
    return compose(A, B)


# A fault: the proof, arguments that break one hypothesis or claim, and the steps (from 1) that must fail.
FAULTS = [
    ("lemma_1", {"bias": 0}, {1, 4, 5}),
    ("lemma_1", {"bias": 2}, {1, 4, 5}),
    ("lemma_1", {"first": lambda n: first_weights(n)[::-1]}, {2, 3, 4, 5}),
    ("lemma_1", {"first": lambda n: first_weights(n) * (np.arange(n**3) < n**3 - 1)}, {2, 3, 5}),
    ("and_gates", {"fewer": (*FEWER, "D_2")}, {3}),
    ("and_gates", {"fewer": FEWER[1:]}, {3}),
    ("and_gates", {"width": 4096}, {4}),
    ("padding", {"pad": ZEROS}, {3}),
    ("padding", {"pad": np.eye(5, dtype=int)[::-1]}, {3}),
    ("padding", {"layer": later_first}, {3, 4}),
    ("padding", {"layer": lambda earlier, later: later}, {3, 4}),
    ("closure", {"most": 2}, {2}),
    ("closure", {"n": 2, "most": 2}, {2}),
    ("order_of_composition", {"repaired": later_first}, {6}),
    ("order_of_composition", {"harmless": ("Sum(5)", "D_2")}, {2, 3}),
    ("order_of_composition", {"harmless": ("Sum(5)", "EvenPair(2)", "S_3")}, {2}),
    ("order_of_composition", {"shown": ("S_3", "Tomita 4")}, {4}),
    ("read_out", {"columns": False}, {3}),
    ("read_out", {"name": "Parity", "text": "0"}, {2}),
    ("noise_growth", {"layer": rebinarised}, {3, 4, 5}),
    ("noise_growth", {"claimed": lambda done: 2**done}, {3}),
    ("noise_growth", {"claimed": lambda done: 4**done}, {3}),
    ("one_eighth", {"e": Fraction(9, 64)}, {2, 3, 5}),
    ("one_eighth", {"g": 4, "e": Fraction(13, 64)}, {2, 3, 5}),
    ("one_eighth", {"e": Fraction(1, 4)}, {2, 3, 5, 6}),
    ("one_eighth", {"layer": plain}, {1, 3, 5}),
    ("clusters", {"counts": {**COUNTS, "Tomita 5": (2, 4, 4, 4, 4, 4, 4)}}, {3}),
    ("clusters", {"padded": True}, {2, 3}),
    ("cost", {"claimed": 3.11}, {2}),
    ("cost", {"claimed": 3}, {2}),
    ("cost", {"C": 64}, {1, 2, 6}),
    ("cost", {"d": 16}, {4, 5}),
]


test_the_proof_holds, test_a_broken_hypothesis_fails_where_it_should = two_tests(PROOFS, FAULTS)


@pytest.mark.parametrize("name, arguments", [
    ("lemma_1", {"largest": 2, "seed": 3}),
    ("padding", {"name": "D_2", "longest": 9, "pad": None}),
    ("padding", {"name": "Tomita 3", "longest": 1}),
    ("closure", {"n": 2}),
    ("noise_growth", {"n": 2}),
    ("noise_growth", {"n": 7, "e": 1 / 64, "seed": 2}),
    ("one_eighth", {"g": 8}),
    ("one_eighth", {"e": Fraction(1, 16)}),
])  # fmt: skip
def test_other_sizes_hold(name, arguments):
    found = PROOFS[name](**arguments)
    assert found.holds, str(found)


# --- faults that have no argument: a piece of the machinery replaced ------------------------------------------------


def test_and_gates_see_a_table_read_backwards(monkeypatch):
    real = chunk_composition.multiplication_table
    monkeypatch.setattr(chunk_composition, "multiplication_table", lambda monoid: real(monoid).T)
    assert [step.holds for step in chunk_composition.and_gates().steps] == [True, False, True, True]


def test_and_gates_see_gates_that_feed_the_wrong_product(monkeypatch):
    real = chunk_composition.product_gates

    def turned(table):
        W1, W2 = real(table)
        return W1, np.roll(W2, 1, axis=0)

    monkeypatch.setattr(chunk_composition, "product_gates", turned)
    assert [step.holds for step in chunk_composition.and_gates().steps] == [False, True, True, True]


def test_the_recursion_sees_heads_of_another_chunk_size(monkeypatch):
    real = recursion.attention_bias
    monkeypatch.setattr(recursion, "attention_bias", lambda T, layer, r: real(T, layer + 1, r))
    assert {k for k, step in enumerate(recursion.padding().steps, 1) if not step.holds} == {1, 2}


def test_the_order_sees_a_printed_machine_that_reads_forwards(monkeypatch):
    monkeypatch.setattr(composition_order, "printed_machine", lambda machine: machine)
    assert {k for k, step in enumerate(composition_order.order_of_composition().steps, 1) if not step.holds} == {4, 5}


def test_noise_sees_errors_beyond_their_bound(monkeypatch):
    real = error_correction.simulate
    monkeypatch.setattr(error_correction, "simulate", lambda machine, tokens, e, draw, layer: real(
        machine, tokens, 2 * e, draw, layer))  # fmt: skip
    assert not error_correction.noise_growth().steps[0].holds


def test_clusters_see_a_monoid_that_loses_words(monkeypatch):
    real = clusters.realised
    monkeypatch.setattr(clusters, "realised", lambda right, longest: real(right[:1], longest))
    assert {2, 3} <= {k for k, step in enumerate(clusters.clusters().steps, 1) if not step.holds}


# --- independent oracles --------------------------------------------------------------------------------------------


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 6))
def test_the_lemma_multiplies(seed, n):
    A, B = np.random.default_rng(seed).integers(2, size=(2, n, n))
    assert (two_layers(A, B, first_weights(n), second_weights(n)) == A @ B).all()
    assert (compose(A, B) == A @ B).all()


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 4))
def test_compose_is_the_network_for_any_numbers(seed, n):
    A, B = np.random.default_rng(seed).integers(-8, 16, size=(2, n, n)) / 4
    assert np.array_equal(two_layers(A, B, first_weights(n), second_weights(n)), compose(A, B))


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
    layers = recursion.recursion(recursion.row_transitions(machine)[tokens])
    assert len(layers) == 1 + (len(tokens) - 1).bit_length()
    assert recursion.states_read(layers[-1], machine).tolist() == machine.run(tokens).tolist()
    printed = recursion.recursion(recursion.row_transitions(machine)[tokens], later_first)[-1]
    mirrored = [int(machine.run(tokens[:end][::-1])[-1]) for end in range(1, len(tokens) + 1)]
    assert recursion.states_read(printed, machine).tolist() == mirrored
    assert printed_machine(machine).answer(tokens).tolist() == machine.outputs[mirrored].tolist()


@settings(max_examples=60, deadline=None)
@given(machines(), st.integers(1, 5))
def test_cluster_counts_are_those_of_all_words(given_, length):
    machine, _ = given_
    actions = {}
    for k in range(1, length + 1):
        actions[k] = set()
        for word in itertools.product(range(machine.num_symbols), repeat=k):
            states = list(range(machine.num_states))
            for token in word:
                states = [int(machine.transitions[token, s]) for s in states]
            actions[k].add(tuple(states))
    assert cluster_count(machine, length) == len(actions[length])
    assert cluster_count(machine, length, padded=True) == len(set().union(*actions.values()))
    start, cycle = clusters.cycle_of_counts(machine)
    for k in range(start, length + 1):
        if k:
            assert cluster_count(machine, k) == cycle[(k - start) % len(cycle)]


@pytest.mark.parametrize("name, length", [("S_3", 9), ("Tomita 3", 10), ("D_2", 10), ("ModArith(5)", 4)])
def test_agreements_are_those_of_all_words(name, length):
    machine = language(name).machine
    texts = recursion.words(machine, length)
    forwards, backwards = [
        [language(name).oracle("".join(machine.symbols[token] for token in word)) for word in some]
        for some in (texts, texts[:, ::-1])
    ]
    agree = sum(a == b for a, b in zip(forwards, backwards))
    ones = [b for a, b in zip(forwards, backwards) if a == 1]
    assert agreements(machine, printed_machine(machine), length)[-1] == (agree, len(texts))
    assert agreements(machine, printed_machine(machine), length, label=1)[-1] == (ones.count(1), len(ones))


def test_a_partial_machine_needs_no_sink():
    """Closure, second step: D_2 without its sink is read as well, the empty row being the sink."""
    machine = language("D_2").machine
    sink = next(s for s in range(machine.num_states) if (machine.transitions[:, s] == s).all())
    live = [s for s in range(machine.num_states) if s != sink]
    strings = recursion.words(machine, 8)
    tables = recursion.row_transitions(machine)[:, live][:, :, live]
    row = recursion.recursion(tables[strings])[-1][..., live.index(machine.initial), :]
    states = np.where(row.any(-1), np.array(live)[row.argmax(-1)], sink)
    assert (states == machine.run(strings)).all()


@pytest.mark.parametrize("C", [2, 3, 32, 128])
@pytest.mark.parametrize("T", [1, 2, 3, 8, 9, 511, 512, 513, 4096])
def test_rounds_are_the_fewest_that_reach(T, C):
    depth = chunk_cost.rounds(T, C)
    assert C**depth >= T and (depth == 1 or C ** (depth - 1) < T)


def test_flops_are_those_of_the_matrices():
    """Count multiplications and additions of a layer of width d, matrix by matrix, for one query and its keys."""
    d, keys = 8, 5
    shapes = [(d, d)] * 4 + [(d, 4 * d), (4 * d, d)] + [(d, keys), (keys, d)]  # Q K V O, feed-forward, scores, mixture
    assert chunk_cost.layer_flops(d, keys) == sum(2 * rows * columns for rows, columns in shapes)


# --- noise ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("machine", [cycle_navigation(), language("Tomita 3").machine, language("D_2").machine])
def test_the_cure_holds_at_one_eighth_in_every_layer(machine):
    tokens = np.random.default_rng(1).integers(machine.num_symbols, size=(3, 100))
    found = simulate(machine, tokens, 1 / 8, np.random.default_rng(2), rebinarised, everywhere=True)
    assert found.right.all() and (found.errors <= 1 / 8).all() and (found.errors > 0.12).all()
    assert not simulate(machine, tokens, 1 / 8, np.random.default_rng(2), compose, everywhere=True).right.all()


def test_a_run_without_noise_is_exact():
    for layer in (compose, rebinarised):
        found = simulate(language("S_3").machine, np.arange(33) % 2, 0.0, np.random.default_rng(0), layer)
        assert not found.errors.any() and found.right.all() and len(found.layers) == 7


# --- bad input ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("call, shown", [
    (lambda: first_weights(0), "n=0"),
    (lambda: chunk_composition.lemma_1(largest=1), "largest=1"),
    (lambda: recursion.words(cycle_navigation(), 11), r"3\^11"),
    (lambda: recursion.recursion(np.zeros((3, 2, 4))), r"\(3, 2, 4\)"),
    (lambda: recursion.closure(n=4), "n=4"),
    (lambda: agreements(cycle_navigation(), language("Parity").machine, 2), "different symbols"),
    (lambda: cluster_count(cycle_navigation(), 0), "length=0"),
    (lambda: clusters.realised(np.zeros((1, 1), dtype=int), -1), "-1"),
    (lambda: error_correction.reach(0), "g=0"),
    (lambda: simulate(cycle_navigation(), np.array([0]), -1, np.random.default_rng(0)), "noise=-1"),
    (lambda: simulate(cycle_navigation(), np.array([3]), 0, np.random.default_rng(0)), "token 3"),
    (lambda: chunk_cost.rounds(512, 1), "C=1"),
])  # fmt: skip
def test_bad_input_is_shown(call, shown):
    with pytest.raises(ValueError, match=shown):
        call()


def test_the_monoid_table_composes_in_reading_order():
    monoid = transition_monoid(language("S_3").machine)
    table = chunk_composition.multiplication_table(monoid)
    machine = language("S_3").machine
    for a, b in itertools.product(range(1, len(monoid)), repeat=2):
        joined = machine.run([*monoid.words[a], *monoid.words[b]])[-1]
        assert monoid.elements[table[a, b]][machine.initial] == joined
