"""The atlas of small machines: all of them, each once, and what is recorded of them is so."""

import itertools

import numpy as np
import pytest

from lrnnbook.content.show import atlas
from lrnnbook.content.tables import get, ladder_atlas, records

APERIODIC = {2: 5, 3: 39, 4: 455}  # machines no word of which turns two states or more in a cycle


def by_first_visit(moves):
    """A machine (Q, 2) with its states numbered as they are met, None unless all are."""
    order = [0]
    for q in order:
        order += [int(to) for to in dict.fromkeys(moves[q]) if to not in order]
    return tuple(order.index(to) for q in order for to in moves[q]) if len(order) == len(moves) else None


@pytest.mark.parametrize("states", [1, 2, 3])
def test_every_machine_is_there_once(states):
    drawn = itertools.product(range(states), repeat=2 * states)
    every = {by_first_visit(np.reshape(flat, (-1, 2)).tolist()) for flat in drawn} - {None}
    found = list(ladder_atlas.tables(states))
    assert len(found) == len(every) and set(found) == every


def turns(table):
    """Whether some word's map has a cycle of two states or more: all maps of words, by brute force."""
    letters = [table[::2], table[1::2]]
    maps, Q = set(letters), len(table) // 2
    while more := {tuple(letter[q] for q in one) for one in maps for letter in letters} - maps:
        maps |= more

    def power(one, n):
        found = tuple(range(Q))
        for _ in range(n):
            found = tuple(one[q] for q in found)
        return found

    return any(power(one, Q + 1) != power(one, Q) for one in maps)


@pytest.mark.parametrize("states", [2, 3, 4])
def test_gates_in_0_1_keep_exactly_what_no_word_turns(states):
    signs = atlas.verdicts(states)["non_negative"]
    kept = [sign not in (ladder_atlas.NEVER, ladder_atlas.OPEN) for sign in signs]
    assert kept == [not turns(table) for table in ladder_atlas.tables(states)]
    assert sum(kept) == APERIODIC[states]


@pytest.mark.parametrize("states, many", [(2, 12), (3, 16), (4, 4)])
def test_what_is_recorded_is_predicted_again(states, many):
    every, signs = list(ladder_atlas.tables(states)), atlas.verdicts(states)
    assert set(signs) == set(get("ladder/atlas").rows) == set(atlas.FAMILIES)
    families = {one["row"]: one["config"]["setting"]["family"] for one in records.recorded("ladder/atlas")}
    for i in np.random.default_rng(states).choice(len(every), many, replace=False):
        machine = ladder_atlas.machine(every[i])
        assert {row: said[i] for row, said in signs.items()} == {row: ladder_atlas.sign(machine, families[row]) for row in signs}


def test_the_poster_tells_all_apart():
    signs = atlas.verdicts()
    placed = atlas.in_order(signs)
    assert sorted(i for _, i, _ in placed) == list(range(216)) and {kind for kind, _, _ in placed} == set(range(len(atlas.KINDS)))
    layers = {signs["non_negative"][i] for kind, i, _ in placed if kind == 1}
    assert layers == {"2"}  # as its key says
    assert {min(signs[row][i] for row in ("complex", "reflections")) for kind, i, _ in placed if kind == 4} == {"2"}
