"""Diagonal layers, depth and smallest models: the exact mathematics that chapter 01 and its exercises stand on."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lrnnbook.content.exercises.ch01 import DEARER
from lrnnbook.content.tables import minimal
from lrnnbook.content.tables.minimal import constructions, mod_arith_cascade
from lrnnlab.automata import MooreMachine, classify, minimise
from lrnnlab.automata.languages import LANGUAGES, language, permuting
from lrnnlab.expressivity.theorems import one_layer
from lrnnlab.expressivity.theorems.cascades import (
    derived_series,
    inverse,
    pair_up,
    real_block,
    solvable_cascade,
    then,
    universal_layer,
)
from lrnnlab.tasks import ModArith

POSSIBLE = {"Parity": 2, "(aa)*": 2, "Sum(5)": 5, "Tomita 5": 2, "Tomita 6": 3, "Tomita 1": 1}  # proofs.md A2: and nothing else

# task: |Q|, |monoid|, pre-period, derived length, b needed, b found, smallest within Eq. 6
TABLE = {
    "Parity": (2, 2, 0, 1, 1, 1, 1), "(aa)*": (2, 2, 0, 1, 1, 1, 1), "Sum(5)": (5, 5, 0, 1, 2, 2, 5),
    "(abab)*": (5, 10, 2, 1, 2, 2, 2), "EvenPair(2)": (5, 5, 1, 0, 2, 2, 2), "EvenPair(5)": (11, 26, 1, 0, 2, 2, 2),
    "a-b-c mod 5": (10, 30, 1, 1, 2, 3, 6), "ModArith(5)": (25, 129, 1, 1, 2, 8, 25), "D_2": (4, 15, 3, 0, 3, 3, 3),
    "D_3": (5, 31, 4, 0, 4, 4, 4), "D_4": (6, 56, 5, 0, 5, 5, 5), "D_12": (14, 820, 13, 0, 13, 13, 13),
    "Tomita 3": (5, 26, 3, 1, 3, 3, 4), "Tomita 3, as written": (5, 27, 3, 1, 3, 4, 4),
    "Tomita 4": (4, 12, 3, 0, 3, 3, 3), "Tomita 5": (4, 4, 0, 1, 1, 1, 1), "Tomita 6": (3, 3, 0, 1, 2, 2, 3),
    "S_3": (6, 6, 0, 2, 2, 2, 3), "A_5": (60, 60, 0, "never ends", 3, 3, 5),
}  # fmt: skip


def last_answer(machine, word):
    return int(machine.answer(word)[-1]) if len(word) else int(machine.outputs[machine.initial])


@pytest.mark.parametrize("name", LANGUAGES)
def test_criterion_confirms_the_audit(name):
    machine = language(name).machine
    verdict = one_layer.possible_in_one_diagonal_layer(machine)
    assert verdict.possible == (name in POSSIBLE)
    if verdict.possible:
        assert verdict.order == POSSIBLE[name] and verdict.words is None
    else:
        one, other = verdict.words
        assert last_answer(machine, one) != last_answer(machine, other)
        if machine.num_symbols <= 2:
            for N in (1, 2, 3, 4, 5, 6, 12):  # the words of the commuting law serve for every order
                layer = universal_layer(machine.symbols, N)
                assert layer.run(one)[-1] == layer.run(other)[-1]


@st.composite
def machines(draw, V=2):
    Q = draw(st.integers(1, 3))
    states = st.lists(st.integers(0, Q - 1), min_size=Q, max_size=Q)
    outputs = draw(st.lists(st.integers(0, 2), min_size=Q, max_size=Q))
    return MooreMachine([draw(states) for _ in range(V)], outputs, draw(st.integers(0, Q - 1)), "ab"[:V])


@settings(max_examples=120, deadline=None)
@given(machines())
def test_criterion_agrees_with_search_through_the_universal_layer(machine):
    verdict = one_layer.possible_in_one_diagonal_layer(machine)
    layer = universal_layer(machine.symbols, verdict.order)
    assert verdict.possible == (pair_up(layer, machine)[1] is None)
    if not verdict.possible:
        one, other = verdict.words
        assert last_answer(machine, one) != last_answer(machine, other)
        end = [(layer.run(word) or [layer.start])[-1] for word in (one, other)]
        assert end[0] == end[1]


@settings(max_examples=40, deadline=None)
@given(st.permutations(range(4)), st.permutations(range(4)))
def test_every_subgroup_of_s4_has_a_cascade_of_its_derived_length(a, b):
    generators = [tuple(a), tuple(b)]
    machine, cascade = permuting("ab", *generators), solvable_cascade("G", "ab", generators)
    answers, counterexample = pair_up(cascade, machine)
    assert counterexample is None and len(answers) == machine.num_states
    assert cascade.depth == classify(machine).derived_length
    assert len(derived_series(generators)[0]) == machine.num_states
    assert then(generators[0], inverse(generators[0])) == (0, 1, 2, 3)


def spoiled(cascade, layer, wrong):
    """The cascade with another gate in the first channel of a layer."""
    first, *rest = cascade.layers[layer]
    layers = list(cascade.layers)
    layers[layer] = (replace(first, gate=wrong(first.gate)), *rest)
    return replace(cascade, layers=tuple(layers))


@pytest.mark.parametrize("layer", [0, 1, 2])
def test_mod_arith_cascade_needs_every_layer(layer):
    cascade, machine = mod_arith_cascade(), language("ModArith(5)").machine
    answers, counterexample = pair_up(cascade, machine)
    assert counterexample is None and len(answers) >= minimise(machine).num_states
    assert pair_up(cascade, ModArith(5).machine)[1] is None
    stuck = spoiled(cascade, layer, lambda rule: lambda token, lower: ("turn", 0))
    one, other = pair_up(stuck, machine)[1]
    assert stuck.run(one)[-1] == (stuck.run(other) or [stuck.start])[-1]
    assert last_answer(machine, one) != last_answer(machine, other)


class Deaf:
    """A model that does not hear one token."""

    def __init__(self, model, token):
        self.model, self.token, self.start, self.symbols = model, token, model.start, model.symbols

    def step(self, state, token):
        return state if token == self.token else self.model.step(state, token)


@pytest.mark.parametrize("name", minimal.TASKS)
def test_every_construction_is_exact_and_no_token_is_idle(name):
    for found in constructions(name):
        assert found.confused() is None, found.model.name
        idle = np.arange(found.machine.num_states)
        token = next(v for v, move in enumerate(found.machine.transitions) if (move != idle).any()
                     and (name != "ModArith(5)" or v not in (1, 7)))  # fmt: skip
        assert pair_up(Deaf(found.model, token), found.machine)[1] is not None, found.model.name


def test_table():
    rows = {row["task"]: row for row in minimal.smallest_models()}
    assert set(rows) == set(TABLE) == set(minimal.TASKS)
    for name, expected in TABLE.items():
        row = rows[name]
        assert tuple(row[key] for key in ("|Q|", "|monoid|", "pre-period", "derived length", "b needed", "b found",
                                          "within Eq. 6")) == expected, name  # fmt: skip
        assert row["tight"] == ("yes" if row["b needed"] == row["b found"] else "open")
        assert (row["one diagonal layer"] != "no") == (name in POSSIBLE)
        assert row["|Q|"] == minimise(language(name).machine).num_states
    assert {name for name, row in rows.items() if row["within Eq. 6"] != row["b found"]} == set(DEARER)  # exercise 14


@pytest.mark.parametrize(("question", "known"), [
    (("D_12", 8, 1), False), (("D_12", 13, 1), True), (("D_12", 8, 2), None), (("A_5", 2, 9), False),
    (("A_5", 3, 1), True), (("S_3", 1, 9), False), (("S_3", 2, 1), True), (("ModArith(5)", 7, 1), None),
    (("ModArith(5)", 8, 1), True), (("ModArith(5)", 5, 2), True), (("ModArith(5)", 2, 3), True),
    (("ModArith(5)", 1, 9), False), (("Tomita 3", 2, 1), False), (("EvenPair(5)", 1, 1), False),
    (("EvenPair(5)", 1, 2), None), (("EvenPair(5)", 1, 3), True),
    (("EvenPair(2)", 1, 3), True), (("Tomita 6", 1, 3), False)])  # fmt: skip
def test_fits(question, known):
    found = minimal.fits(*question)
    assert found.known is known and found.why
    if known:
        model = found.construction.model
        assert model.size <= question[1] and model.depth <= question[2] and found.construction.confused() is None


def test_real_block_multiplies_like_complex_numbers():
    draw = np.random.default_rng(0)
    A, B = (draw.normal(size=(3, 3)) + 1j * draw.normal(size=(3, 3)) for _ in range(2))
    assert np.allclose(real_block(A @ B), real_block(A) @ real_block(B)) and real_block(A.real + 0j).shape == (3, 3)
    turn = constructions("Sum(5)")[0].model
    assert turn.column_norm(2) == pytest.approx(1) and turn.column_norm(1) == pytest.approx(
        max(abs(np.cos(2 * np.pi * k / 5)) + abs(np.sin(2 * np.pi * k / 5)) for k in range(5))
    )
