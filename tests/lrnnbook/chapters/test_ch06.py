"""Chapter 06's pictures say what the proofs and the floats say; numbers are worked out again by other means."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.polynomial import chebyshev, polynomial

from lrnnbook.content.chapters import ch06
from lrnnbook.content.exercises.building import build


def coefficients(n):
    """Of T*_n, by NumPy: a route to the least norms that shares nothing with the closed form."""
    plain, found = chebyshev.cheb2poly([0] * n + [1]), np.zeros(1)
    for coefficient in plain[::-1]:  # Horner in 2x - 1
        found = polynomial.polyadd(polynomial.polymul(found, [-1, 2]), [coefficient])
    return np.abs(found)


def line(axes, label_or_place):
    return axes.lines[label_or_place].get_ydata()


@pytest.mark.parametrize("L", [8, 12, 16])
def test_the_curve_is_the_chebyshev_polynomial(L):
    axes = ch06.shift_costs(L, 1).axes[0]
    assert line(axes, 0) == pytest.approx(np.log10(coefficients(L - 1)))
    assert list(line(axes, 2)) == [0] * L  # the circle
    assert all(line(axes, 1)[1:] < line(axes, 0)[1:])  # negative nodes help


@pytest.mark.parametrize("L", [5, 12])
def test_a_readers_weights_are_the_two_lines(L):
    own, circle = (build(name).reference for name in ("real_weights", "circle_weights"))
    twice = lambda nodes, S: [2 * w for w in own(nodes, S)]
    for real, above in ((own, 0), (twice, np.log10(2))):
        left = ch06.own_prices(real, circle, L).axes[-1]
        assert line(left, 0) == pytest.approx(np.log10(coefficients(L - 1)) + above, abs=1e-6)
        assert line(left, 1) == pytest.approx(np.zeros(L), abs=1e-9)


def test_condition_numbers_are_drawn_up_to_where_float64_ends():
    axes = ch06.condition_lines({"one": [1e3, 1e9, 1e15, 1e17], "two": [1.0, 1.0, 1.0, 1.0]}).axes[0]
    drawn = [list(one.get_ydata()) for one in axes.lines]
    assert [1e3, 1e9, 1e15] in drawn and [1.0] * 4 in drawn and {2.0**24, 2.0**53} <= {values[0] for values in drawn}


@given(st.floats(1e-17, 1e30))
def test_errors_in_words_bound_the_error(error):
    words = ch06.error_words(error)
    if words.startswith("right"):
        bound = float(words.split()[-1])
        assert error < 0.5 and error <= bound * 1.000001 and bound <= 10.000001 * error
    else:
        assert error >= 0.5


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 40), st.integers(1, 90), st.sampled_from(ch06.ERRORS))
def test_a_fading_half_circle_is_one_spike_and_its_echoes(N, S, error):
    """Against the closed form: (-d)^q at S + 2Nq, and q may be negative."""
    made, norm = ch06.fading_half_circle(N, S, error, 200)
    wanted = [(-error) ** ((k - S) // (2 * N)) if (k - S) % (2 * N) == 0 else 0 for k in range(200)]
    assert made == pytest.approx(wanted, abs=1e-9 * norm) and norm == pytest.approx(error ** (-S / (2 * N)))
    assert (norm <= 1 / error * (1 + 1e-9)) == (S <= 2 * N)
    assert ("all steps hold" in ch06.reach_sentence(N, S, error)) == (S <= 2 * N)


@pytest.mark.parametrize("L", [2, 5, 9])
def test_the_map_is_who_has_no_second_copy(L):
    """Roots of unity repeat a one-hot at S every N lags: exact if no copy is among 0..L-1, and N reaches S."""
    mesh = ch06.exact_shifts(L).axes[0].collections[0]
    fails = np.asarray(mesh.get_array()).reshape(L, L).astype(bool)
    for N in range(1, L + 1):
        for S in range(L):
            assert fails[N - 1, S] == (len([k for k in range(L) if (k - S) % N == 0]) > 1)


@pytest.mark.parametrize("lam", [0.5, 0.9, 0.99])
def test_the_sum_is_accurate_until_it_overflows(lam):
    found = ch06.summed(lam, "float32")
    # by hand: float32 ends at 2^128
    assert found.predicted == pytest.approx(128 * math.log(2) / -math.log(lam))
    assert found.predicted + math.log(1 - lam) / -math.log(lam) - 1 <= found.observed <= found.predicted + 1
    assert found.errors.max() < 1e-5 and found.k[-1] < found.observed


def test_errors_are_those_of_exact_arithmetic():
    """lambda = 1/2 and its powers are exact in float32, so the only error is of the sum: against fractions."""
    found, u = ch06.summed(0.5, "float32"), np.random.default_rng(0).uniform(-1, 1, 136).astype("float32")
    x, largest, states = Fraction(0), Fraction(0), []
    for value in u:
        x = x / 2 + Fraction(float(value))
        states.append(x)
        largest = max(largest, abs(x))
    sums, exact = np.float32(0), []
    for k, value in enumerate(u[: found.observed]):
        sums = np.float32(sums + value * np.float32(2.0**k))
        exact.append(float(abs(Fraction(float(sums)) / 2**k - states[k]) / largest))
    assert found.errors == pytest.approx(exact, abs=1e-9)
