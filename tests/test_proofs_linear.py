"""Paper 000: the column constraint. Each proof holds, each fault fails."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from proving import two_tests

from lrnnlab.algebra import columns, turning, typical

PROOFS = {
    "equation_7": columns.equation_7,
    "sharp_growth": columns.sharp_growth,
    "overflow": columns.overflow,
    "typical_columns": typical.typical_columns,
    "isometries": turning.isometries,
    "size_two": turning.size_two,
    "odd_orders": turning.odd_orders,
    "turning_sizes": turning.turning_sizes,
}

# A fault: the proof, arguments that break one hypothesis or claim, and the steps (from 1) that must fail.
FAULTS = [
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
