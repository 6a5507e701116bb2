"""Layers in numbers for every machine of three states and two letters: what the atlas says of depth, built and run."""

import cmath

import numpy as np
import pytest

from lrnnbook.content.show import atlas
from lrnnbook.content.tables import ladder_atlas

MACHINES = [ladder_atlas.machine(table) for table in ladder_atlas.tables(3)]
LENGTH, STRINGS = 300, 6


def merges(move):
    return len({*move.tolist()}) < len(move)


def order(move):
    power, n = move, 1
    while (power != np.arange(len(move))).any():
        power, n = move[power], n + 1
    return n


def through(move, states, times=1):
    for _ in range(times):
        states = {int(move[q]) for q in states}
    return sorted(states)


def gate(before, move, after):
    """(a, b) of the upper layer, a number that says which of at most two states it is: 1 or -1."""
    to = [1 - 2 * after.index(int(move[q])) for q in before]
    return (0, to[0]) if len({*to}) == 1 else (to[0], 0)


def two_complex_layers(machine, word):
    """The states that two layers x <- a x + b say, |a| <= 1: gates see the token, the upper one's what the lower layer is after it."""
    moves, q = machine.transitions, machine.initial
    singular = [v for v, move in enumerate(moves) if merges(move)]
    every, m = range(machine.num_states), max((order(moves[v]) for v in range(2) if v not in singular), default=1)
    turn = cmath.exp(2j * cmath.pi / m)
    x, label = (3 + 0j if len(singular) == 1 else 0j), 1.0

    def left(x):  # which states the lower layer leaves open
        if len(singular) == 2:
            return [q] if abs(x) < 0.5 else through(moves[0 if x.real > 0 else 1], every)
        (b,) = singular
        r = round(cmath.phase(x) / (2 * cmath.pi / m)) % m
        return through(moves[1 - b], [q] if abs(x) > 2 else through(moves[b], every), r)

    for v in word:
        if v in singular:
            code = 1 if len(singular) == 1 else 1 - 2 * v
            x = x / 8 + code
            before = left(8 * (x - code))
        else:
            x = turn * x
            before = left(x / turn)
        after = left(x)
        a, b = gate(before, moves[v], after)
        assert abs(a) <= 1
        label = a * label + b
        yield after[round((1 - label) / 2)]


def words():
    return np.random.default_rng(1).integers(2, size=(STRINGS, LENGTH))


@pytest.mark.parametrize("machine", [one for one in MACHINES if any(map(merges, one.transitions))], ids=lambda one: str(one.transitions.tolist()))
def test_where_a_letter_merges_states_two_complex_layers_hold_the_machine(machine):
    for word in words():
        assert [*two_complex_layers(machine, word)] == machine.run(word).tolist()


def test_so_no_machine_of_three_states_needs_a_third_layer_of_complex_gates_or_of_two_reflections():
    signs = atlas.verdicts()
    assert {*signs["complex"]} == {*signs["reflections"]} == {"1", "2"}
    assert "?" not in signs["reflection"]


# --- one reflection a token --------------------------------------------------------------------------------------------


def mirror(angle):
    return np.array([[np.cos(angle), np.sin(angle)], [np.sin(angle), -np.cos(angle)]])


def turns_by_reflections(shifts, m):
    """The sum modulo m, by a reflection a token above a layer that tells odd lengths from even ones."""
    parity, x = 1, np.array([np.cos(0.3), np.sin(0.3)])
    for d in shifts:
        parity = -parity
        key = mirror(parity * d * 2 * np.pi / m)
        assert np.allclose(key @ key, np.eye(2)) and np.isclose(np.linalg.det(key), -1)  # I - 2 k k^T
        x = key @ x
        where = np.arctan2(x[1], x[0])
        yield round(parity * (where - parity * 0.3) / (2 * np.pi / m)) % m


@pytest.mark.parametrize("m", [2, 3, 5, 6])
def test_two_layers_of_one_reflection_a_token_count(m):
    shifts = np.random.default_rng(m).integers(m, size=500)
    assert [*turns_by_reflections(shifts.tolist(), m)] == (shifts.cumsum() % m).tolist()


def four_layers_of_one_reflection(machine, word):
    """Lengths, the sum C of the turns, C at the last two letters that merge (fading), and which of two states, turned back by C."""
    moves = machine.transitions
    cycle = next(move for move in moves if order_or_none(move) == 3)
    turned = [0, int(cycle[0]), int(cycle[cycle[0]])]  # the states in the order of the cycle: a turn adds 1
    place = [turned.index(q) for q in range(3)]
    shift = [None if merges(move) else place[move[turned[0]]] for move in moves]

    def back(states, C):
        return sorted((place[q] - C) % 3 for q in states)

    seen, label, C, start = 0.0, 1.0, 0, place[machine.initial]
    for v, C in zip(word, turns_by_reflections([shift[v] or 0 for v in word], 3)):
        if shift[v] is None:  # a gate of 1/8; else of 1, and nothing is added
            seen = seen / 8 + C + 1
        codes = [round(seen), round(8 * (seen - round(seen)))] if shift[v] is None else [round(seen)] * 2
        image = through(moves[next((u for u in range(2) if shift[u] is None), 0)], range(3))
        before, after = (back(image, code - 1) if code else [start] for code in reversed(codes))
        if shift[v] is None:
            move = np.array([(place[moves[v][turned[(u + C) % 3]]] - C) % 3 for u in range(3)])
            a, b = gate(before, move, after)
            label = a * label + b
        yield turned[(after[round((1 - label) / 2)] + C) % 3]


def order_or_none(move):
    return None if merges(move) else order(move)


THREE = [one for one in MACHINES if 3 in map(order_or_none, one.transitions) and 2 not in map(order_or_none, one.transitions)]


@pytest.mark.parametrize("machine", THREE, ids=lambda one: str(one.transitions.tolist()))
def test_four_layers_of_one_reflection_a_token_hold_a_cycle_of_three_beside_letters_that_merge(machine):
    for word in words():
        assert [*four_layers_of_one_reflection(machine, word)] == machine.run(word).tolist()


def test_these_are_all_that_one_or_two_such_layers_were_not_known_to_hold():
    signs = atlas.verdicts()["reflection"]
    some = [one for one, sign in zip(MACHINES, signs) if sign == "s"]
    assert len(some) == 46 and {*map(id, some)} <= {*map(id, THREE)}
