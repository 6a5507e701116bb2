"""Chapter 06's pictures say what the proofs and the floats say; numbers are worked out again by other means."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.colors import to_rgb
from numpy.polynomial import chebyshev, polynomial
from sweeps import sweep

from workbook.chapters import ch06
from workbook.chapters.ch06 import (
    DIGITS,
    ERRORS,
    LAMBDAS,
    LENGTHS,
    MODES,
    PERCENTS,
    REACHES,
    SIGNS,
    circle_angles,
    cost_picture,
    cost_sentence,
    error_words,
    exact_shifts,
    extremal_proof,
    fading_half_circle,
    float_kernels,
    float_sentence,
    learned_kernels,
    reach_picture,
    reach_sentence,
    shift_costs,
    shift_of,
    sum_picture,
    sum_sentence,
    summed,
)
from workbook.show.output import png
from workbook.tables.kernels import INTERVALS

REAL = ("[0,1]", "[-1,1]")


def coefficients(n):
    """Of T*_n, by NumPy: a route to the least norms that shares nothing with the closed form."""
    plain, found = chebyshev.cheb2poly([0] * n + [1]), np.zeros(1)
    for coefficient in plain[::-1]:  # Horner in 2x - 1
        found = polynomial.polyadd(polynomial.polymul(found, [-1, 2]), [coefficient])
    return np.abs(found)


def line(axes, label_or_place):
    return axes.lines[label_or_place].get_ydata()


# ------------------------------------------------------------------------------------------- what a shift costs
@pytest.mark.parametrize("L", [8, 12, 16])
def test_the_curve_is_the_chebyshev_polynomial(L):
    axes = shift_costs(L, 1).axes[0]
    assert line(axes, 0) == pytest.approx(np.log10(coefficients(L - 1)))
    assert list(line(axes, 2)) == [0] * L  # the circle
    assert all(line(axes, 1)[1:] < line(axes, 0)[1:])  # negative nodes help


def test_another_price_is_drawn_as_it_is(monkeypatch):
    monkeypatch.setattr(ch06, "smallest_norm", lambda L, S, interval="": 10**S)
    assert list(line(shift_costs(8, 1).axes[0], 0)) == pytest.approx(range(8))


def test_ring_diamonds_and_the_dashed_line():
    axes = shift_costs(64, 16, "[-1,1]").axes[0]
    ring = next(one for one in axes.lines if one.get_marker() == "o")
    diamonds = next(one for one in axes.lines if one.get_marker() == "D")
    assert (ring.get_xdata()[0], ring.get_ydata()[0]) == (16, line(axes, 1)[16])
    assert list(diamonds.get_xdata()) == [8, 16, 24, 32, 40, 48, 56] and diamonds.get_ydata()[0] == line(axes, 1)[8]
    assert any(
        one.get_xdata()[0] == pytest.approx(63 / math.sqrt(2)) for one in axes.lines if len(one.get_xdata()) == 2
    )


@settings(max_examples=40, deadline=None)
@given(st.sampled_from(LENGTHS[:5]), st.sampled_from(PERCENTS))
def test_the_sentence_names_the_price_and_the_dearest(L, percent):
    prices = coefficients(L - 1) if L <= 16 else None
    said, S = cost_sentence("[0,1]", L, percent), shift_of(L, percent)
    assert 0 <= S < L and f"S = {S} of L = {L}" in said
    if prices is not None:
        dearest = int(prices.argmax())
        assert ("<b>dearest</b>" in said) == (dearest == S)
        assert S == dearest or f"The dearest is S = {dearest} " in said
        if prices[S] < 1e6:
            assert f"||w||₁ = {round(prices[S]):,}" in said
    assert "||w||₁ = 1, as every" in cost_sentence("circle", L, percent)


# --------------------------------------------------------------------------------------------- weights in floats
def drawn_kernel(figure, precision):
    axes = next(one for one in figure.axes if one.get_title("left").startswith(precision))
    dots = axes.lines[1]
    return dict(zip(dots.get_xdata().tolist(), dots.get_ydata().tolist())), axes


@pytest.mark.parametrize("interval", INTERVALS)
def test_few_modes_make_the_shift_and_many_do_not(interval):
    taps, _ = drawn_kernel(float_kernels(interval, 8), "float64")
    assert [round(taps[k], 9) for k in range(8)] == [0] * 7 + [1]
    taps, axes = drawn_kernel(float_kernels(interval, 64), "float64")
    assert ("wrong" in axes.get_title("left")) == (interval != "circle")
    assert (len(taps) < 64) == (interval != "circle")  # the others are crosses at the edge
    assert len(axes.lines[2].get_xdata()) == 64 - len(taps)


def test_stems_are_the_weights_by_a_linear_system():
    """N = 5 on [0, 1]: solved by NumPy, not by fractions."""
    left = next(one for one in float_kernels("[0,1]", 5).axes if one.get_title("left").startswith("|w|"))
    dots = left.collections[-1]
    nodes, sizes = np.asarray(dots.get_offsets()).T
    weights = np.linalg.solve(nodes ** np.arange(5)[:, None], np.eye(5)[4])
    assert sizes == pytest.approx(abs(weights)) and sizes.sum() == pytest.approx(2**7)
    colours = [tuple(colour[:3]) for colour in dots.get_facecolors()]
    assert colours == [pytest.approx(to_rgb(SIGNS[int(np.sign(w))])) for w in weights]


@settings(max_examples=30, deadline=None)
@given(st.sampled_from(INTERVALS), st.sampled_from(MODES))
def test_the_sentence_knows_which_floats_are_lost(interval, N):
    said, power = float_sentence(interval, N), {"[0,1]": 2 * N - 3, "[-1,1]": N - 2, "circle": -99}[interval]
    for precision, digits in DIGITS.items():
        if power > digits + 4:
            assert f"{precision} has <b>lost</b>" in said or "Both floats have <b>lost</b>" in said
        if power < digits - 8:
            assert f"{precision} still holds" in said or "Both floats still hold" in said
    assert interval == "circle" or f"2^{power}," in said


def test_a_kernel_without_numbers_is_drawn_at_the_edge(monkeypatch):
    found = ch06.shift_weights(4)
    broken = found._replace(kernel32=np.array([0, np.nan, np.inf, -np.inf]), error32=np.inf)
    monkeypatch.setattr(ch06, "shift_weights", lambda N, interval: broken)
    taps, axes = drawn_kernel(float_kernels("[0,1]", 4), "float32")
    assert list(taps) == [0] and axes.get_title("left") == "float32: wrong, no number"
    assert len(png(axes.figure)) > 1000


@given(st.floats(1e-17, 1e30))
def test_errors_in_words_bound_the_error(error):
    words = error_words(error)
    if words.startswith("right"):
        bound = float(words.split()[-1])
        assert error < 0.5 and error <= bound * 1.000001 and bound <= 10.000001 * error
    else:
        assert error >= 0.5


# ------------------------------------------------------------------------------------------------------- the reach
@settings(max_examples=40, deadline=None)
@given(st.integers(1, 40), st.integers(1, 90), st.sampled_from(ERRORS))
def test_a_fading_half_circle_is_one_spike_and_its_echoes(N, S, error):
    """Against the closed form: (-d)^q at S + 2Nq, and q may be negative."""
    made, norm = fading_half_circle(N, S, error, 200)
    wanted = [(-error) ** ((k - S) // (2 * N)) if (k - S) % (2 * N) == 0 else 0 for k in range(200)]
    assert made == pytest.approx(wanted, abs=1e-9 * norm) and norm == pytest.approx(error ** (-S / (2 * N)))
    assert (norm <= 1 / error * (1 + 1e-9)) == (S <= 2 * N)
    assert ("all steps hold" in reach_sentence(N, S, error)) == (S <= 2 * N)


# ---------------------------------------------------------------------------------------------- the other pictures
@pytest.mark.parametrize("N", [2, 3, 7, 12])
def test_the_proofs_picture_adds_up(N):
    left, right = extremal_proof(N).axes
    nodes, sizes = np.asarray(right.collections[-1].get_offsets()).T
    assert sizes.sum() == pytest.approx(2 ** (2 * N - 3)) and sizes.max() < right.get_ylim()[1]
    on_curve = np.asarray(left.collections[-1].get_offsets())
    assert on_curve[:, 0] == pytest.approx(nodes)
    assert on_curve[:, 1] == pytest.approx(np.cos((N - 1) * np.arccos(2 * nodes - 1)))


@pytest.mark.parametrize("L", [2, 5, 9])
def test_the_map_is_who_has_no_second_copy(L):
    """Roots of unity repeat a one-hot at S every N lags: exact if no copy is among 0..L-1, and N reaches S."""
    mesh = exact_shifts(L).axes[0].collections[0]
    fails = np.asarray(mesh.get_array()).reshape(L, L).astype(bool)
    for N in range(1, L + 1):
        for S in range(L):
            assert fails[N - 1, S] == (len([k for k in range(L) if (k - S) % N == 0]) > 1)


def test_every_kernel_is_divided_by_its_own_largest_tap():
    axes = learned_kernels({"a": np.array([[0, 0, 0, -4.0, 0, 0, 0, 2], [0] * 8])}).axes[0]
    assert axes.lines[0].get_ydata().tolist() == [0, 0, 0, -1, 0, 0, 0, 0.5]
    assert axes.lines[1].get_ydata().tolist() == [0] * 8


def test_angles_are_turns():
    assert circle_angles(np.exp(2j * math.pi * np.arange(8) / 8)) == pytest.approx(np.arange(8) / 8)


# ------------------------------------------------------------------------------------------------ the running sum
@pytest.mark.parametrize("lam", [0.5, 0.9, 0.99])
def test_the_sum_is_accurate_until_it_overflows(lam):
    found = summed(lam, "float32")
    # by hand: float32 ends at 2^128
    assert found.predicted == pytest.approx(128 * math.log(2) / -math.log(lam))
    assert found.predicted + math.log(1 - lam) / -math.log(lam) - 1 <= found.observed <= found.predicted + 1
    assert found.errors.max() < 1e-5 and found.k[-1] < found.observed


def test_errors_are_those_of_exact_arithmetic():
    """lambda = 1/2 and its powers are exact in float32, so the only error is of the sum: against fractions."""
    found, u = summed(0.5, "float32"), np.random.default_rng(0).uniform(-1, 1, 136).astype("float32")
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


def test_a_wrong_sum_is_seen(monkeypatch):
    monkeypatch.setattr(ch06, "running_sum", lambda lam, u, precision: np.cumsum(u))
    assert summed(0.9, "float32").errors.max() > 0.1


def test_powers_of_two_make_no_error_in_float64():
    assert summed(0.5, "float64").errors.max() == 0
    assert "errors below 1e-18" in sum_sentence(0.5, "float64")


def test_the_grey_begins_where_numbers_end():
    found, axes = summed(0.9, "float32"), sum_picture(0.9, "float32").axes[0]
    grey = axes.patches[0]
    assert grey.get_x() == found.observed
    assert f"finite up to k = {found.observed:,}" in sum_sentence(0.9, "float32")


# ------------------------------------------------------------------------------------------------------- as widgets
def test_every_place_can_be_drawn_and_told():
    nodes = list(INTERVALS)
    floats, costs = {"interval": nodes, "N": MODES}, {"interval": nodes, "L": LENGTHS, "percent": PERCENTS}
    sums = {"lam": LAMBDAS[:-1], "precision": list(DIGITS)}
    reach = {"N": [8, 32], "S": REACHES, "error": ERRORS}
    assert sweep(reach_picture, samples=0, **reach | {"S": [8, 128]}) == []
    assert sweep(reach_sentence, samples=15, **reach) == []
    for draw, say, controls in ((float_kernels, float_sentence, floats), (cost_picture, cost_sentence, costs),
                                (sum_picture, sum_sentence, sums)):  # fmt: skip
        assert sweep(draw, samples=0, **controls) == []
        assert sweep(say, samples=15, **controls) == []



@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: float_kernels("[0,1]", 65), "got 65"),
        (lambda: shift_costs(7, 1), "got L=7"),
        (lambda: shift_costs(8, 8), "got S=8"),
        (lambda: extremal_proof(1), "got 1"),
        (lambda: exact_shifts(1), "got 1"),
        (lambda: learned_kernels({}), "got shapes"),
        (lambda: learned_kernels({"a": np.zeros((3, 7))}), r"\(3, 7\)"),
        (lambda: sum_picture(1.0, "float32"), "got 1.0"),
    ],
)
def test_bad_questions(call, message):
    with pytest.raises(ValueError, match=message):
        call()
