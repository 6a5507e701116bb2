"""Quotients of a machine: homomorphic images, and all of them."""

from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from lrnnlab.automata import MooreMachine, equivalent, minimise
from lrnnlab.automata.languages import language
from lrnnlab.automata.quotients import joined, quotients

SMALL = settings(max_examples=25, deadline=None, derandomize=True)


@st.composite
def machines(draw, states=4, tokens=2):
    Q, V = draw(st.integers(2, states)), draw(st.integers(2, tokens))
    cells = st.lists(st.integers(0, Q - 1), min_size=Q * V, max_size=Q * V)
    outputs = draw(st.lists(st.integers(0, 2), min_size=Q, max_size=Q))
    machine = MooreMachine(np.array(draw(cells)).reshape(V, Q), outputs, 0, tuple("abc"[:V]))
    assume(minimise(machine).num_states > 1)
    return machine


@SMALL
@given(machines(5, 3))
def test_quotients_are_homomorphic_images_and_all_of_them(machine):
    small = minimise(machine)
    found = quotients(small)
    for quotient in found:
        states, blocks = small.run(list(range(small.num_symbols)) * 3), quotient.blocks
        assert (blocks[states] == quotient.machine.run(list(range(small.num_symbols)) * 3)).all()
        assert (quotient.machine.transitions[:, blocks] == blocks[small.transitions]).all()
        assert minimise(quotient.machine).num_states == quotient.machine.num_states == blocks.max() + 1
    partitions = {tuple(quotient.blocks) for quotient in found}
    for blocks in product(range(small.num_states), repeat=small.num_states):
        canonical = all(block <= max(blocks[:q], default=-1) + 1 for q, block in enumerate(blocks))
        rows = [{(blocks[q], blocks[after]) for q, after in enumerate(move)} for move in small.transitions.tolist()]
        if canonical and all(len({q for q, _ in row}) == len(row) for row in rows):
            assert blocks in partitions
    assert found[0].machine.num_states == 1 and found[-1].machine.num_states == small.num_states


def test_the_sign_of_s_3_is_a_quotient_and_too_many_are_refused():
    found = quotients(language("S_3").machine)
    assert [q.machine.num_states for q in found] == [1, 2, 3, 3, 3, 6]
    sign = found[1].machine
    assert equivalent(sign, MooreMachine([[1, 0], [0, 1]], [0, 1], 0, "st")) is None
    assert joined(language("S_3").machine, tuple(range(6)), [(0, 2)]) == (0, 1, 0, 1, 1, 0)
    resets = MooreMachine([[q] * 9 for q in range(9)], range(9), 0, range(9))
    with pytest.raises(ValueError, match="more than 100 quotients"):
        quotients(resets, limit=100)
