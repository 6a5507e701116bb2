"""Paper 000: one transition for all letters, the column constraint. Each proof holds, each fault fails."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from proving import two_tests

from lrnnlab.algebra import columns, counting, liquid, stacking, storage, subtraction, turning, typical, words

PROOFS = {
    "proposition_1": subtraction.proposition_1,
    "counterexample_sum": subtraction.counterexample_sum,
    "counterexample_subtraction": subtraction.counterexample_subtraction,
    "theorem_a": storage.theorem_a,
    "modulo_two": storage.modulo_two,
    "packing": storage.packing,
    "theorem_b": counting.theorem_b,
    "theorem_c": counting.theorem_c,
    "thue_morse": counting.thue_morse,
    "sum_analogue": counting.sum_analogue,
    "even_pair_two_layers": stacking.even_pair_two_layers,
    "liquid_s4": liquid.liquid_s4,
    "equation_7": columns.equation_7,
    "sharp_growth": columns.sharp_growth,
    "overflow": columns.overflow,
    "typical_columns": typical.typical_columns,
    "isometries": turning.isometries,
    "size_two": turning.size_two,
    "odd_orders": turning.odd_orders,
    "turning_sizes": turning.turning_sizes,
}

# Modulo 4, 0-0 and 2-2 end closer than the margin, and both have the value 0, after "0-" as well: no certificate.
HALF_APART = words.Layer(
    A=0.999 * np.array([[0, -1], [1, 0]]), digits=[[1, 0], [0, 50], [-1, 0], [0, -90]], minus=[0, 0], start=[0, 0]
)

# A fault: the proof, arguments that break one hypothesis or claim, and the steps (from 1) that must fail.
FAULTS = [
    ("proposition_1", {"gates": subtraction.letter_gates()}, {3}),
    ("proposition_1", {"M": 2}, {4}),
    ("counterexample_sum", {"A": 2}, {1, 2}),
    ("counterexample_subtraction", {"layer": words.Layer(A=5, digits=range(1, 6), minus=6)}, {1, 2}),
    ("theorem_a", {"M": 4}, {2, 3}),
    ("theorem_a", {"M": 2}, {2, 3}),
    ("modulo_two", {"M": 3}, {1, 2}),
    ("packing", {"M": 4, "margin": 0.05, "layer": HALF_APART}, {3}),
    ("theorem_b", {"systems": [([[0, 0], [1, 0]], [[0, 0], [1, 0]])]}, {2}),
    ("thue_morse", {"d": 3, "D": 4}, {3}),
    ("sum_analogue", {"characteristic": 5}, {3}),
    ("even_pair_two_layers", {"threshold": 0.8, "length": 9}, {1, 2, 3}),
    ("liquid_s4", {"t": 0}, {1, 2, 3}),
    ("equation_7", {"size": Fraction(11, 10)}, {2, 3}),
    ("sharp_growth", {"factor": Fraction(9, 10)}, {1, 4}),
    ("sharp_growth", {"factor": Fraction(11, 10)}, {4}),
    ("typical_columns", {"norms": (1, 4)}, {1}),
    ("isometries", {"p": 2}, {4}),
    ("turning_sizes", {"expected": (0.868, 1.0)}, {3}),
    ("turning_sizes", {"p": 1.3, "expected": (0.868,)}, {3}),
]


test_the_proof_holds, test_a_broken_hypothesis_fails_where_it_should = two_tests(PROOFS, FAULTS)


# --- faults that have no argument: a piece of the machinery replaced ------------------------------------------------


def test_theorem_a_needs_certificates(monkeypatch):
    """The colliding pair itself is no certificate where its values happen to agree."""
    monkeypatch.setattr(storage, "contradiction", lambda left, right, M: (tuple(left), tuple(right)))
    assert not storage.theorem_a().steps[2].holds


def test_theorem_c_sees_a_wrong_memory(monkeypatch):
    real = counting.forgets_after
    monkeypatch.setattr(counting, "forgets_after", lambda A, v: max((real(A, v) or 0) - 1, 0))
    assert not counting.theorem_c().steps[0].holds


def test_theorem_c_sees_a_layer_that_does_remember(monkeypatch):
    monkeypatch.setattr(counting, "forgets_after", lambda A, v: None)
    assert [step.holds for step in counting.theorem_c().steps] == [False, False]


def test_even_pair_sees_a_layer_that_misreads(monkeypatch):
    monkeypatch.setattr(stacking, "_shown", lambda p: (int(p), int((p - int(p)) * 15)))
    assert not stacking.even_pair_two_layers(length=50).steps[3].holds


def test_float32_reading_can_fail(monkeypatch):
    """A state just below a whole sixteenth, as rounding could leave it, is reported as misread."""
    values = np.append(stacking.float32_memory(3), np.float32(2) - np.float32(2**-23))
    monkeypatch.setattr(stacking, "float32_memory", lambda M: values)
    assert stacking.float32_reads(3)[1] > 0


def test_overflow_sees_another_arithmetic(monkeypatch):
    """An overflow that rounding cannot explain: double precision, or a state that starts at 2."""
    assert columns.overflow().data["observed"] == 257
    monkeypatch.setattr(columns, "observed_overflow", lambda p, b: (columns.overflow_steps(p, b) - 2, 263))
    assert [step.holds for step in columns.overflow().steps] == [True, True, False, True]


def test_size_two_and_odd_orders_see_columns_that_are_too_long(monkeypatch):
    real = turning.column_norms
    monkeypatch.setattr(turning, "column_norms", lambda A, p: real(A, p) / 1.2)
    assert [step.holds for step in turning.size_two().steps] == [True, False, False]
    assert not turning.odd_orders(3).steps[2].holds


def test_odd_orders_see_an_order_too_large(monkeypatch):
    monkeypatch.setattr(turning, "order_on_circle", lambda z, largest: 5)
    assert [step.holds for step in turning.odd_orders(3).steps] == [True, False, True, False]


# --- independent oracles --------------------------------------------------------------------------------------------


def plain_state(layer, operands):
    """Letter by letter from the text of the expression, in Python lists."""
    A, x = layer.A.tolist(), layer.start.tolist()
    for letter in "-".join(map(str, operands)):
        v = (layer.minus if letter == "-" else layer.digits[int(letter)]).tolist()
        x = [sum(a * b for a, b in zip(row, x)) + c for row, c in zip(A, v)]
    return x


layers = st.builds(
    lambda seed, M: storage.random_layer(np.random.default_rng(seed), M), st.integers(0, 10**6), st.integers(2, 6)
)


@settings(max_examples=40, deadline=None)
@given(layers, st.integers(1, 4))
def test_word_states(layer, n):
    table = words.word_states(layer, n)
    assert len(table.words) == layer.M**n == len({tuple(word) for word in table.words.tolist()})
    for k in range(0, len(table.words), max(len(table.words) // 7, 1)):
        word = table.words[k].tolist()
        assert table.states[k].tolist() == layer.state(word).tolist() == plain_state(layer, word)
        assert table.values[k] == words.value(word, layer.M) == (2 * word[0] - sum(word)) % layer.M


@settings(max_examples=40, deadline=None)
@given(layers, st.integers(1, 3))
def test_collisions_are_all_found(layer, n):
    table = words.word_states(layer, n)
    rows = [tuple(row) for row in table.states.tolist()]
    pairs = words.collisions(table.states)
    assert all(rows[a] == rows[b] and a < b for a, b in pairs)
    assert len(rows) - len(pairs) == len(set(rows))


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.floats(0.05, 2))
def test_collisions_in_cells_are_close(seed, cell):
    states = np.random.default_rng(seed).standard_normal((60, 2))
    pairs = words.collisions(states, cell)
    assert (np.linalg.norm(states[pairs[:, 0]] - states[pairs[:, 1]], axis=1) <= cell * math.sqrt(2) + 1e-9).all()
    assert len(states) - len(pairs) == len({tuple(key) for key in np.floor((states - states.min(0)) / cell)})


@settings(max_examples=200, deadline=None)
@given(st.integers(2, 9), st.data())
def test_a_contradiction_exists_unless_the_first_digits_differ_by_half_of_an_even_modulus(M, data):
    word = st.lists(st.integers(0, M - 1), min_size=3, max_size=3)
    left, right = data.draw(word), data.draw(word)
    if left == right:
        with pytest.raises(ValueError, match="two different expressions"):
            words.contradiction(left, right, M)
        return
    found = words.contradiction(left, right, M)
    if found is None:
        gap = next(a - b for a, b in zip(left, right) if a != b)
        assert 2 * gap % M == 0
    else:
        assert words.value(found[0], M) != words.value(found[1], M) and len(found[0]) == len(found[1])


@settings(max_examples=60, deadline=None)
@given(layers, st.data())
def test_the_contradiction_stays_in_one_state(layer, data):
    pairs = words.collisions(words.word_states(layer, 3).states)
    if len(pairs):
        table = words.word_states(layer, 3)
        left, right = table.words[pairs[data.draw(st.integers(0, len(pairs) - 1))]].tolist()
        pair = words.contradiction(left, right, layer.M)
        assert pair is None or plain_state(layer, pair[0]) == plain_state(layer, pair[1])


def test_commuting_symbols_hide_the_order():
    """Why the proof of Prop. 1 uses symbols that do not commute: input-dependent gates look harmless otherwise."""
    z = sp.Symbol("z", commutative=False)
    for commutative, hidden in ((True, True), (False, False)):
        gates = subtraction.letter_gates(commutative=commutative)
        gap = subtraction.symbolic_state("0-1", z, gates) - subtraction.symbolic_state("1-0", z, gates)
        assert (not sp.expand(gap).has(z)) == hidden


@pytest.mark.parametrize("M, n", [(2, 5), (3, 3), (5, 2)])
def test_states_at_against_all_strings(M, n):
    A, v = next(iter(counting.random_systems(1, M, seed=M)))
    seen = set()
    for word in itertools.product(range(M), repeat=n):
        x = np.zeros(2, dtype=int)
        for letter in word:
            x = A @ x + v[letter]
        seen.add(tuple(x.tolist()))
    assert counting.states_at(A, v, n) == seen


def test_liquid_state_against_floats():
    A, drives = np.array(liquid.EXAMPLE_A, float), {c: np.array(v, float) for c, v in liquid.EXAMPLE_DRIVES.items()}
    z = np.array([float(sp.Rational(entry)) for entry in liquid.liquid_s4().data["z"]])
    ends = {}
    for word in ("0-1", "1-0", "0-0-1", "0-1-0"):
        x = z
        for letter in word:
            x = A @ x + drives[letter] * x + drives[letter]
        ends[word] = x
    assert np.allclose(ends["0-0-1"], ends["0-1-0"]) and np.abs(ends["0-1"] - ends["1-0"]).max() > 1


@pytest.mark.parametrize("t", ["1/8", 0.5, -1, 3])
def test_liquid_escapes_at_every_other_t(t):
    assert liquid.liquid_s4(t=t).holds


@pytest.mark.parametrize("p, b", [(1.2, 8), (1.2, 2), (1.5, 4), (2, 2), (3, 5), (1.05, 16)])
def test_overflow_steps_against_logarithms(p, b):
    slope = (1 - 1 / p) * math.log2(b)
    k = columns.overflow_steps(p, b)
    assert (k - 1) * slope < 128 + 1e-6 and k * slope > 128 - 1e-6
    assert abs(columns.overflow(p, b).data["observed"] - k) <= 1


def test_overflow_by_real_matrices():
    """Products with the block itself, in float32, as a network would form them."""
    A = np.full((8, 8), 8 ** (-1 / 1.2), np.float32)
    x, product, found = np.ones(8, np.float32), np.eye(8, dtype=np.float32), {}
    with np.errstate(over="ignore"):
        for k in range(1, 270):
            x, product = A @ x, A @ product
            for name, value in (("state", x), ("product", product)):
                if np.isinf(value).any():
                    found.setdefault(name, k)
    assert (found["state"], found["product"]) == columns.observed_overflow(1.2, 8)


@pytest.mark.parametrize("T, limit, b", [(500, columns.FLOAT32_MAX, 8), (500, 10, 8), (40, 100, 3)])
def test_largest_p(T, limit, b):
    p = columns.largest_p(T, limit, b)
    assert math.isclose(columns.growth(p, b) ** T, limit, rel_tol=0.2)  # growth rounds p to a fraction
    assert T * (1 - 1 / p) * math.log(b) == pytest.approx(math.log(limit))


def test_rates_of_random_columns():
    """Two other seeds agree with the default within their errors; positive columns at p = 1 keep the norm exactly."""
    for kind in ("gaussian", "signs"):
        (a, s), (b, r) = (typical.typical_growth(kind, 1.2, seed=seed) for seed in (1, 2))
        assert abs(a - b) < 5 * math.hypot(s, r)
    assert typical.typical_growth("positive", 1)[0] == pytest.approx(1, abs=1e-12)
    assert 0.93 < float(typical.typical_columns().steps[1].shown) < 0.97
    assert typical.typical_columns(b=4).holds  # sign blocks of size 4 kill some states on the way


@settings(max_examples=50, deadline=None)
@given(st.floats(1, 2), st.floats(0.05, math.pi - 0.05))
def test_the_clipped_rotation(p, theta):
    c, s = math.cos(theta), math.sin(theta)
    rotation = np.array([[c, -s], [s, c]])
    clipped = rotation / np.maximum(1, np.linalg.norm(rotation, p, axis=0))
    assert np.abs(np.linalg.eigvals(clipped)) == pytest.approx(turning.clipped_modulus(theta, p))


# --- bad input ------------------------------------------------------------------------------------------------------

BAD = [
    (lambda: words.Layer(A=np.eye(2), digits=[1, 2, 3]), "got \\(2, 2\\), \\(3, 1\\)"),
    (lambda: words.Layer(A=1, digits=[1]), "1 digit"),
    (lambda: words.counter(5).state((0, 7)), "\\(0, 7\\)"),
    (lambda: words.word_states(words.counter(5), 0), "5\\^0"),
    (lambda: words.word_states(words.counter(5), 12), "5\\^12"),
    (lambda: words.word_states(words.Layer(A=10**5, digits=range(2)), 9), "9 operands do not fit"),
    (lambda: words.collisions(np.zeros((2, 1)), -1), "-1"),
    (lambda: words.contradiction((0, 1), (1,), 5), "one length"),
    (lambda: words.spiral(radius=1.5), "1.5"),
    (lambda: subtraction.proposition_1(1), "got 1"),
    (lambda: storage.packing(layer=words.counter(5)), "got 1, 1.000"),
    (lambda: storage.packing(margin=1e-6, longest=2), "2 operands"),
    (lambda: counting.theorem_b(n=0), "got 0"),
    (lambda: counting.thue_morse(0), "got 0"),
    (lambda: stacking.even_pair_two_layers(M=9), "got 9"),
    (lambda: liquid.liquid_s4(drives={"0": (1, 0), "1": (0, 1)}), "got A \\(2, 2\\)"),
    (lambda: columns.growth(0.5, 2), "p=0.5"),
    (lambda: columns.growth(1.2, 0), "b=0"),
    (lambda: columns.sharp_growth(()), "got none"),
    (lambda: columns.overflow(1, 8), "p=1, b=8"),
    (lambda: columns.largest_p(0), "T=0"),
    (lambda: typical.typical_growth("uniform", 1), "'uniform'"),
    (lambda: turning.odd_orders(5), "b=5"),
    (lambda: turning.best_modulus(1), "b=1|got"),
]


@pytest.mark.parametrize("call, message", BAD)
def test_bad_input_is_shown(call, message):
    with pytest.raises(ValueError, match=message):
        call()
