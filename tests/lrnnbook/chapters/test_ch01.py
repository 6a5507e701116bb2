"""The pictures and widgets of chapter 01: what they show is recomputed here without the code that draws them."""

import itertools
from collections import Counter, defaultdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lrnnbook.content.chapters import ch01
from lrnnbook.content.tables.minimal import smallest_models
from lrnnlab.automata.languages import language

COUNTER, DIGITS, SPIRAL = ch01.LAYERS
CHEAP = ("Parity", "EvenPair(5)", "D_2", "Tomita 3", "S_3")


def plain_state(name, numbers):
    """Letter by letter, in Python lists."""
    A, adds, minus = (array.tolist() for array in ch01.LAYERS[name])
    x = [0] * len(A)
    for letter in numbers if isinstance(numbers, str) else "-".join(map(str, numbers)):
        v = minus if letter == "-" else adds[int(letter)]
        x = [sum(a * b for a, b in zip(row, x)) + c for row, c in zip(A, v)]
    return x


@pytest.mark.parametrize("turn", [20, 40, 100])
@pytest.mark.parametrize("size", [0.4, 0.8, 1.2])
def test_two_arrows_are_one_exactly_where_the_propositions_say_so(turn, size):
    for kind in ch01.TRANSITIONS:
        ends = ch01.arrow_ends(kind, turn, size)
        blue, orange = ends[:, 1] - ends[:, 0]
        same = kind != "a matrix for each letter"
        assert np.allclose(blue, orange) == same
        assert ("no longer cancels" in ch01.arrows_sentence(kind, turn, size)) != same


@pytest.mark.parametrize("name", ch01.LAYERS)
def test_states_of_words_against_the_plain_loop(name):
    for n in (1, 2, 3):
        words, states = ch01.word_states(name, n)
        assert len({tuple(word) for word in words.tolist()}) == 5**n == len(states)
        assert states.tolist() == pytest.approx(np.array([plain_state(name, word) for word in words]))


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=4))
@settings(max_examples=60, deadline=None)
def test_every_pair_of_words_has_a_refutation(pairs):
    left, right = zip(*pairs)
    if left != right:
        one, other = ch01.refutation(left, right)
        cut = next(place for place, (a, b) in enumerate(pairs) if a != b)
        assert ch01.value(one) != ch01.value(other) and len(one) == len(other)
        assert one[-len(left[cut:]):] == left[cut:] and other[-len(right[cut:]):] == right[cut:]


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_the_best_readout_of_the_counter_is_counted_again(n):
    seen = defaultdict(Counter)
    for word in itertools.product(range(5), repeat=n):
        seen[sum(word)][(word[0] - sum(word[1:])) % 5] += 1
    best = sum(max(votes.values()) for votes in seen.values()) / 5**n
    found = ch01.cells(COUNTER, n, 10)
    assert found.best == pytest.approx(best)
    assert len(found.mixed) == sum(len(votes) > 1 for votes in seen.values())
    assert (found.pair is None) == (n == 1)


@given(st.sampled_from(list(ch01.LAYERS)), st.integers(1, 3), st.integers(1, 12))
@settings(max_examples=60, deadline=None)
def test_cells_are_what_they_say(name, n, bits):
    found = ch01.cells(name, n, bits)
    states = ch01.word_states(name, n)[1].astype(float)
    rows = [tuple(row) for row in np.floor((states - states.min(0)) / found.cell)]
    held = defaultdict(set)
    for row, word in zip(rows, found.words.tolist()):
        held[row].add(ch01.value(word))
    assert {tuple(key) for key in found.mixed} == {row for row, values in held.items() if len(values) > 1}
    assert max(max(row) for row in rows) < 2**bits
    assert (found.best == 1) == (not len(found.mixed))
    assert (found.pair is None) == (len(set(rows)) == len(rows))
    if found.pair:
        assert rows[found.pair[0]] == rows[found.pair[1]]


def test_a_shared_cell_with_one_value_is_turned_into_a_contradiction():
    """The case that the chapter points at: nothing wrong in the picture, and the sentence finds what is."""
    found = ch01.cells(SPIRAL, 4, 8)
    assert found.best == 1 and found.pair is not None
    left, right = found.words[list(found.pair)].tolist()
    one, other = ch01.refutation(left, right)
    apart = [np.linalg.norm(np.subtract(*(plain_state(SPIRAL, word) for word in pair)))
             for pair in ((left, right), (one, other))]  # fmt: skip
    assert ch01.value(one) != ch01.value(other) and apart[0] == pytest.approx(apart[1])
    said = ch01.word_sentence(SPIRAL, 4, 8)
    assert all("−".join(map(str, word)) in said for word in (left, right, one, other))


@pytest.mark.parametrize("task", CHEAP)
def test_lights_agree_with_the_table_of_smallest_models(task):
    row, found = smallest_models((task,))[0], ch01.board(task)
    for b in ch01.SIZES:
        assert found[1, b].known is (True if b >= row["b found"] else False if b < row["b needed"] else None)
    for layers, b in itertools.product(ch01.DEPTHS, ch01.SIZES):
        if found[layers, b].known:
            assert all(found[d, size].known for d in ch01.DEPTHS for size in ch01.SIZES if d >= layers and size >= b)


@pytest.mark.parametrize("task,b", [("Parity", 1), ("EvenPair(5)", 2), ("D_2", 3), ("Tomita 3", 13)])
def test_what_is_played_answers_as_the_language_is_defined(task, b):
    word = ch01.SAMPLES[task]
    shown = [text.get_text() for text in ch01.fit_lights(task, b, 1).axes[2].texts]
    answers = [language(task).oracle(word[:t]) for t in range(len(word) + 1)]
    assert shown == [str(answer) if answer >= 0 else "–" for answer in answers]


def test_two_states_of_one_value_are_named():
    names = [text.get_text() for text in ch01.same_answer().axes[0].texts]
    assert names == [f"{text}: x = {plain_state(DIGITS, text)[0]}".replace("-", "\N{MINUS SIGN}") for text in ("0-0-1", "0-1-0")]


def test_bars_say_which_layers_are_refuted():
    figure = ch01.collisions({1: 13, 3: 125}, {1: ("0-1", "1-0"), 3: None})
    assert [text.get_text() for text in figure.axes[0].texts] == ["0\u22121 and 1\u22120", "no two share a state"]
    assert [bar.get_width() for bar in figure.axes[0].patches] == [13, 125]
