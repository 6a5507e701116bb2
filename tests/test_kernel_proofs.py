"""Paper 004: kernels that are sums of exponentials.  Each proof holds, each planted fault fails where it should."""

import math
from fractions import Fraction
from itertools import combinations, pairwise

import numpy as np
import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from proving import two_tests
from scipy.optimize import minimize

from lrnnlab.algebra import (
    circle_modes,
    delay_lines,
    float_limits,
    ill_conditioning,
    kernel_fits,
    kernel_products,
    modes,
    shift_norms,
    shifts,
    toeplitz,
)

PROOFS = {
    "proposition_1": modes.proposition_1,
    "delay_line": delay_lines.delay_line,
    "almost_delay_line": delay_lines.almost_delay_line,
    "dss_exp": modes.dss_exp,
    "kronecker_product": kernel_products.kronecker_product,
    "dlr_prod": kernel_products.dlr_prod,
    "dlr_prod_on_grid": kernel_products.dlr_prod_on_grid,
    "dft_start": circle_modes.dft_start,
    "half_circle": circle_modes.half_circle,
    "decays": circle_modes.decays,
    "claim_1": ill_conditioning.claim_1,
    "exact_minimum": ill_conditioning.exact_minimum,
    "every_shift": shift_norms.every_shift,
    "circle_shift": shift_norms.circle_shift,
    "worst_growth": shift_norms.worst_growth,
    "shift_criterion": shifts.shift_criterion,
    "reversal": shifts.reversal,
    "shifts_in_floats": float_limits.shifts_in_floats,
    "running_sums": float_limits.running_sums,
    "fast_convolution": toeplitz.fast_convolution,
    "what_fits": kernel_fits.what_fits,
}

# A fault: the proof, arguments that break one hypothesis or claim, and the steps (from 1) that must fail.
FAULTS = [
    ("proposition_1", {"jordan": True}, {1, 2, 4}),
    ("delay_line", {"feedback": 1}, {2, 3, 4}),
    ("delay_line", {"delay": 3, "feedback": -2}, {2, 3}),
    ("almost_delay_line", {"sizes": (0.01, 0.1)}, {1}),
    ("dss_exp", {"scaled": False}, {2}),
    ("kronecker_product", {"first": 2}, {1, 2}),
    ("dlr_prod", {"claimed": 4 * 3**2 - 1}, {5, 6}),
    ("dlr_prod", {"claimed": 11}, {5, 6}),
    ("dlr_prod", {"N": 2, "claimed": 16}, {5, 6}),
    ("dlr_prod_on_grid", {"turned": True}, {1, 2}),
    ("dft_start", {"step": 2}, {1, 2}),
    ("half_circle", {"full": True}, {1, 2, 4}),
    ("decays", {"low": 1e-5, "high": 1e-5}, {2}),
    ("claim_1", {"formula": ill_conditioning.printed_formula}, {1, 3}),
    ("claim_1", {"first": 1}, {1}),
    ("claim_1", {"formula": lambda nodes: [2 * w for w in ill_conditioning.corrected_formula(nodes)]}, {1, 3, 4}),
    ("exact_minimum", {"largest": 8, "exponent": lambda N: 2 * N - 2}, {3, 5, 6}),
    ("exact_minimum", {"largest": 8, "exponent": lambda N: 2 * N - 4}, {3, 5}),
    ("every_shift", {"longest": 6, "claimed": lambda L, S, interval: 4**S}, {3, 4, 5}),
    ("every_shift", {"longest": 4, "interval": "[-1,1]", "claimed": lambda L, S, i: 2 ** max(L - 2, 0)}, {3, 4, 5}),
    ("worst_growth", {"base": 2}, {2}),
    ("shift_criterion", {"longest": 5, "needed": lambda L, S: S + 1}, {1}),
    ("shift_criterion", {"longest": 5, "needed": lambda L, S: L}, {4}),
    ("shift_criterion", {"longest": 5, "cast": True, "needed": lambda L, S: L - S}, {1}),
    ("reversal", {"formula": lambda L, p: 2 * L - p}, {1, 2}),
    ("reversal", {"formula": lambda L, p: 2 * L - 2 * p}, {1, 2}),
    ("shifts_in_floats", {"interval": "circle"}, {1, 2, 3}),
    ("running_sums", {"wall": 0.8}, {2}),
    ("running_sums", {"wall": 1.2}, {2}),
    ("fast_convolution", {"n": 6}, {2, 3, 4}),
    ("fast_convolution", {"n": 10}, {2, 3, 4}),
    ("fast_convolution", {"n": 11}, {3}),
    ("what_fits", {"sets": dict.fromkeys(kernel_fits.families(4), kernel_fits.families(32)["half circle"])}, {2, 3}),
]


test_the_proof_holds, test_a_broken_hypothesis_fails_where_it_should = two_tests(PROOFS, FAULTS)


@pytest.mark.parametrize("name, arguments", [
    ("every_shift", {"longest": 6, "interval": "[-1,1]"}),
    ("shift_criterion", {"cast": True}),
    ("delay_line", {"delay": 5}),
    ("dlr_prod", {"N": 1}),
    ("dlr_prod", {"N": 2, "seed": 3}),
    ("half_circle", {"N": 5}),
    ("dft_start", {"N": 5, "S": 0, "step": 2}),
    ("reversal", {"L": 11}),
    ("fast_convolution", {"L": 9, "seed": 1}),
    ("what_fits", {"N": 16}),
])  # fmt: skip
def test_other_sizes_hold(name, arguments):
    found = PROOFS[name](**arguments)
    assert found.holds, str(found)


# --- faults that have no argument: a piece of the machinery replaced ------------------------------------------------


def test_proposition_1_sees_weights_off_by_one_power(monkeypatch):
    real = modes.mode_weights
    monkeypatch.setattr(modes, "mode_weights", lambda C, V, inverse, B: real(C, V, inverse, B) * modes.gaussian(0, 1))
    assert [step.holds for step in modes.proposition_1().steps] == [True, False, True, True]


def test_dlr_prod_sees_a_wrong_sign(monkeypatch):
    real = kernel_products.half_modes

    def negative(nodes, weights):
        points, shares = real(nodes, weights)
        return points, [-share for share in shares]

    monkeypatch.setattr(kernel_products, "half_modes", negative)
    assert [step.holds for step in kernel_products.dlr_prod().steps] == [True, True, True, False, True, True]


def test_dlr_prod_sees_mixed_terms_that_stay(monkeypatch):
    real = kernel_products.printed_modes

    def plus(nodes, weights):
        points, shares = real(nodes, weights)
        return points, [-w if place % 4 == 1 else w for place, w in enumerate(shares)]

    monkeypatch.setattr(kernel_products, "printed_modes", plus)
    assert [step.holds for step in kernel_products.dlr_prod().steps] == [True, False, False, True, True, True]


def test_the_code_sees_a_backward_kernel_unflipped(monkeypatch):
    real = toeplitz.ring
    monkeypatch.setattr(toeplitz, "ring", lambda f, b, n, X=0: real(f, [*b[:-1][::-1], *b[-1:]], n, X))
    assert not toeplitz.fast_convolution(n=12).steps[1].holds


def test_every_shift_sees_nodes_that_are_not_extremal(monkeypatch):
    monkeypatch.setattr(shift_norms, "extremal_nodes", lambda L, S, interval: [Fraction(k, L - 1) for k in range(L)])
    assert [step.holds for step in shift_norms.every_shift(5).steps] == [True, True, False, True, True]


def test_the_criterion_sees_roots_that_miss(monkeypatch):
    real = shifts.ring_kernel
    monkeypatch.setattr(shifts, "ring_kernel", lambda N, S, L, cast=False: real(N, S + 1, L, cast))
    assert not shifts.shift_criterion(5).steps[0].holds


def test_reversal_sees_groups_that_contradict(monkeypatch):
    monkeypatch.setattr(shifts, "merged_shifts", lambda L: [list(range(L))])
    assert not shifts.reversal(8).steps[4].holds


# --- independent oracles --------------------------------------------------------------------------------------------

small = st.integers(-4, 4)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(small, small), max_size=5), st.integers(0, 8))
def test_kernel_is_its_definition(pairs, L):
    nodes, weights = [a for a, _ in pairs], [b for _, b in pairs]
    assert modes.kernel(nodes, weights, L) == [sum(w * node**k for node, w in zip(nodes, weights)) for k in range(L)]
    z = sp.Symbol("z")
    assert modes.monic(nodes) == sp.Poly(sp.prod([z - node for node in nodes]), z).all_coeffs()[::-1]


@settings(max_examples=25, deadline=None)
@given(st.dictionaries(small, small.filter(bool), min_size=1, max_size=5))
def test_the_recurrence_of_a_dlr_has_its_nodes_for_simple_roots(terms):
    found = modes.recurrence(modes.kernel(list(terms), list(terms.values()), 2 * len(terms) + 1))
    assert sp.roots(found) == {node: 1 for node in terms} and found.is_sqf


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 5))
def test_ranks_against_numpy(seed, size):
    rows = np.random.default_rng(seed).integers(-2, 3, (size, size, 2)) @ [1, 1j]
    exact = modes.exact_matrix([[modes.gaussian(int(e.real), int(e.imag)) for e in row] for row in rows])
    assert exact.rank() == np.linalg.matrix_rank(rows)


@pytest.mark.parametrize("N", [1, 2, 3])
def test_the_rank_of_dlr_prod_against_high_precision(N):
    """Singular values of a larger Hankel matrix of random complex nodes on the circle: a gap after N(N+1)."""
    draw = np.random.default_rng(N)
    nodes, weights = np.exp(1j * draw.uniform(0, 2 * np.pi, N)), draw.standard_normal((2, N)).T @ [1, 1j]
    size = 4 * N * N + 2
    K = (nodes ** np.arange(40 * size)[:, None]) @ weights
    values = K.real * K.imag
    hankel = np.lib.stride_tricks.sliding_window_view(values, size)
    found = np.linalg.svd(hankel, compute_uv=False)
    assert found[N * (N + 1)] < 1e-10 * found[0] < 1e-2 * found[N * (N + 1) - 1]


def test_gaussian_primes_have_no_common_products():
    primes = [complex(int(p.x), int(p.y)) for p in kernel_products.gaussian_primes(8)]
    norms = [round(abs(p) ** 2) for p in primes]
    assert norms == [5, 13, 17, 29, 37, 41, 53, 61] and all(map(sp.isprime, norms))
    products = [a * b for k, a in enumerate(primes) for b in primes[k:]]
    assert len({*products, *(p.conjugate() for p in products)}) == 8 * 9


@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(0, 40), max_size=8), st.integers(1, 12))
def test_root_sums_against_floats(exponents, order):
    w = np.exp(2j * np.pi / order)
    exact = complex(sp.sympify(circle_modes.root_sum(exponents, order)).subs("z", w).evalf())
    assert exact == pytest.approx(complex(sum(w**e for e in exponents)), abs=1e-9)


@pytest.mark.parametrize("N, L", [(4, 8), (16, 32), (64, 128)])
def test_ranks_of_the_circle_in_floats(N, L):
    half, full = (circle_modes.spectrum(nodes, L) for nodes in (circle_modes.arc_nodes(N, np.pi),
                                                                 circle_modes.arc_nodes(N, offset=0)))  # fmt: skip
    assert half["rank"] == L and half["condition"] == pytest.approx(1, abs=1e-9)
    assert full["rank"] == N and full["condition"] == np.inf
    assert half["values"] == pytest.approx(np.full(L, math.sqrt(N)))


@settings(max_examples=25, deadline=None)
@given(st.sets(st.integers(-30, 30), min_size=1, max_size=6), st.data())
def test_exact_weights_solve_the_table(places, data):
    nodes = [Fraction(place, 7) for place in places]
    S = data.draw(st.integers(0, len(nodes) - 1))
    hot = [int(k == S) for k in range(len(nodes))]
    assert modes.kernel(nodes, ill_conditioning.exact_weights(nodes, S), len(nodes)) == hot
    if S == len(nodes) - 1:
        assert ill_conditioning.exact_weights(nodes) == ill_conditioning.corrected_formula(nodes)


def test_by_hand():
    assert ill_conditioning.exact_weights([0, 0.5, 1]) == [2, -4, 2]
    assert shift_norms.worst_shift(8)["S"] == 5
    assert [shift_norms.smallest_norm(L, S) for L, S in ((4, 3), (5, 4), (6, 3), (7, 4))] == [32, 128, 1120, 6912]


@pytest.mark.parametrize("interval", ["[0,1]", "[-1,1]"])
def test_least_norms_against_the_chebyshev_polynomials_of_sympy(interval):
    for L in range(1, 16):
        for S in range(L):
            value = shift_norms.smallest_norm(L, S, interval)
            assert abs(shift_norms._certificate(L, S, interval).nth(S)) == value
            others = [abs(sp.chebyshevt_poly(n, sp.Symbol("x"), polys=True).nth(S)) for n in range(L)]
            assert interval == "[0,1]" or value == max(others)


@settings(max_examples=15, deadline=None)
@given(st.integers(2, 5), st.integers(0, 10**6))
def test_no_nodes_beat_the_least_norm(L, seed):
    """Any number of random nodes, by the linear programme."""
    draw = np.random.default_rng(seed)
    S, low = int(draw.integers(0, L)), float(draw.integers(-1, 1))
    nodes = np.append(draw.uniform(low, 1, 12), [low, 0, 1])
    found = np.abs(shift_norms.least_weights(nodes, [float(k == S) for k in range(L)])).sum()
    assert found >= shift_norms.smallest_norm(L, S, "[-1,1]" if low else "[0,1]") * (1 - 1e-6)


def test_the_norms_of_table_2():
    """The paper's DLR-R at L = 256, whose 4096 nodes Claim 1 does not cover."""
    logs = [math.log10(shift_norms.smallest_norm(256, S)) for S in (32, 128, 224)]
    assert logs == pytest.approx([84, 181, 183], abs=0.6)


def test_the_determinant_tends_to_a_constant():
    gaps = [ill_conditioning.determinant_gap(N) for N in (4, 8, 16, 32, 64)]
    assert gaps[-1] == pytest.approx(-0.46, abs=5e-3) and all(a < b for a, b in pairwise(gaps))
    draw = np.random.default_rng(0)
    for N in (2, 3, 5):  # no random nodes have a larger one
        nodes = draw.random((4000, N))
        products = np.prod([nodes[:, i] - nodes[:, j] for i, j in combinations(range(N), 2)], axis=0)
        printed = -(N**2) * math.log(2) + math.lgamma(N) / 2 + N / 2 * (math.log(8) + 1) + 3 / 8 * math.log(N)
        assert np.log(np.abs(products)).max() <= ill_conditioning.determinant_gap(N) + printed + 1e-12


@pytest.mark.parametrize("interval", shift_norms.INTERVALS)
@pytest.mark.parametrize("N", [1, 2, 3, 6, 9])
def test_shift_weights_make_the_shift(N, interval):
    for S in range(N):
        found = float_limits.shift_weights(N, interval, S)
        assert found.error64 < 1e-9 and found.kernel32.dtype == np.float32 and found.kernel64.dtype == np.float64
        assert 2**found.log2_largest == pytest.approx(np.abs(found.weights).max())
        assert np.abs(found.weights).sum() == pytest.approx(shift_norms.smallest_norm(N, S, interval))
        radius = np.abs(found.nodes)
        assert (radius <= 1 + 1e-12).all() and (interval != "[0,1]" or (found.nodes >= 0).all())
        assert found.kernel64 == pytest.approx((found.nodes ** np.arange(N)[:, None] @ found.weights).real, abs=1e-9)


def test_where_floats_break():
    """At which N an error first passes one half, the order of a processor's sums chooses, among neighbours."""
    observed = [float_limits.breaking_point(precision)["observed"] for precision in ("float32", "float64")]
    assert observed[0] in (13, 14, 15) and observed[1] in (28, 29, 30)
    assert float_limits.breaking_point("float32", "circle") == {"observed": None, "predicted": None}


@settings(max_examples=30, deadline=None)
@given(st.floats(0.3, 0.999), st.integers(1, 60), st.integers(0, 99))
def test_running_sums_against_the_recurrence(lam, L, seed):
    u = np.random.default_rng(seed).standard_normal(L)
    x, want = 0.0, []
    for value in u:
        x = lam * x + value
        want.append(x)
    assert float_limits.running_sum(lam, u, "float64") == pytest.approx(want, abs=1e-9)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(*[small] * 4), min_size=1, max_size=3), st.lists(small, min_size=2, max_size=7))
def test_both_directions_against_the_toeplitz_matrix(rows, u):
    parts = [list(part) for part in zip(*rows)]
    forward, backward = parts[:2], parts[2:]
    L = len(u)
    taps = modes.kernel(*backward, L)[::-1][1:] + modes.kernel(*forward, L)  # from lag -(L-1) to L-1
    matrix = np.array([[taps[k - j + L - 1] for j in range(L)] for k in range(L)])
    assert toeplitz.both_directions(forward, backward, u) == (matrix @ u).tolist()
    assert toeplitz.two_sums(modes.kernel(*forward, L), modes.kernel(*backward, L), u) == (matrix @ u).tolist()


@pytest.mark.parametrize("N, L, cast", [(3, 6, False), (2, 7, True), (4, 7, False)])
def test_a_search_over_nodes_does_no_better_than_the_criterion(N, L, cast):
    """Best fits over nodes of the circle: exact where the criterion says so, else bounded away from 0."""
    draw = np.random.default_rng(0)
    for S in range(1, L - 1):
        exact = (2 if cast else 1) * N >= shifts.needed_modes(L, S)
        goal, grid = np.eye(L)[S], circle_modes.arc_nodes(N, np.pi if cast else 2 * np.pi, 0.5 if cast else 0)

        def error(angles, goal=goal):
            return kernel_fits.best_fit(np.exp(1j * angles), goal, cast).error

        if exact:
            assert kernel_fits.best_fit(grid, goal, cast).error < 1e-12
        else:
            starts = draw.uniform(0, 2 * np.pi, (2, N))
            assert min(minimize(error, s, method="Nelder-Mead", options={"maxiter": 200}).fun for s in starts) > 0.1


def test_a_shift_below_the_criterion_is_near_with_endless_weights():
    """S < N < L - S: nodes near 0 make the one-hot up to an error as small as their size, never exactly."""
    errors = [delay_lines.near_delay(3, eps)["exact"] for eps in (0.1, 0.01)]
    assert errors == pytest.approx([1e-3, 1e-6]) and shifts.needed_modes(6, 2) > 3


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 6), st.integers(1, 12), st.booleans())
def test_best_fits_are_best(seed, N, L, cast):
    draw = np.random.default_rng(seed)
    nodes, goal = np.exp(2j * np.pi * draw.random(N)), draw.standard_normal(L)
    fit = kernel_fits.best_fit(nodes, goal, cast)
    own = nodes ** np.arange(L)[:, None] @ fit.weights
    assert fit.kernel == pytest.approx(own.real, abs=1e-6)
    assert fit.norm == pytest.approx(np.abs(fit.weights).sum())
    reached = np.linalg.norm((own.real if cast else own) - goal) / np.linalg.norm(goal)
    assert reached == pytest.approx(fit.error, abs=1e-6)
    for _ in range(5):
        other = nodes ** np.arange(L)[:, None] @ (fit.weights + 1e-2 * draw.standard_normal((N, 2)) @ [1, 1j])
        assert np.linalg.norm((other.real if cast else other) - goal) / np.linalg.norm(goal) >= fit.error - 1e-9


def test_one_convolution_reverses_two_letters():
    """Taps 1 and 3: what the padded zeros hide from the outputs lets a single kernel do it."""
    taps = np.array([0, 1, 0, 1])
    assert np.convolve([5, 7, 0, 0], taps)[2:4].tolist() == [7, 5]
    assert [len(shifts.merged_shifts(L)) for L in (1, 2, 3)] == [1, 1, 2]


def test_the_table_of_lengths():
    rows = {row["L"]: row for row in shifts.shift_table()}
    assert rows[2**14]["cheapest"] == 8193 > rows[2**14]["DLR"] and rows[2**14]["DLR exact"] == 0
    assert rows[2**13]["DLR exact"] == 7 and rows[2**20]["DLR-prod"] == 16_781_312 > 2**20


# --- bad input ------------------------------------------------------------------------------------------------------

BAD = [
    (lambda: modes.kernel([1, 2], [1], 3), "2, 1, L=3"),
    (lambda: modes.hankel_rank([1, 2], 2), "3 values, got 2"),
    (lambda: modes.recurrence([1, 2]), "got 2"),
    (lambda: modes.proposition_1(1), "got 1"),
    (lambda: delay_lines.delay_line(0), "got 0"),
    (lambda: delay_lines.near_delay(3, 0), "eps=0"),
    (lambda: kernel_products.kronecker_product(first=9), "got 9"),
    (lambda: kernel_products.dlr_prod(0), "N=0"),
    (lambda: kernel_products.dlr_prod_on_grid(3), "got 3"),
    (lambda: circle_modes.power_table([1.0], 0), "L=0"),
    (lambda: circle_modes.arc_nodes(0), "N=0"),
    (lambda: circle_modes.dft_start(4, 4), "S=4"),
    (lambda: circle_modes.half_circle(1), "got 1"),
    (lambda: circle_modes.decayed_nodes(3, 1, 0.5, np.random.default_rng(0)), "low=1"),
    (lambda: ill_conditioning.exact_weights([0, 0, 1]), "2 different of N=3"),
    (lambda: ill_conditioning.exact_weights([0, 1], 2), "S=2"),
    (lambda: ill_conditioning.claim_1(2), "largest=2"),
    (lambda: ill_conditioning.chebyshev_nodes(1), "got 1"),
    (lambda: ill_conditioning.exact_minimum(2), "got 2"),
    (lambda: ill_conditioning.determinant_gap(1), "got 1"),
    (lambda: shift_norms.smallest_norm(4, 4), "S=4, L=4"),
    (lambda: shift_norms.smallest_norm(4, 1, "[0,2]"), "\\[0,2\\]"),
    (lambda: shift_norms.extremal_nodes(4, 1, "circle"), "circle"),
    (lambda: shift_norms.least_weights([0.5], [0, 1]), "1 nodes and 2 lags"),
    (lambda: shift_norms.every_shift(4, "circle"), "circle"),
    (lambda: shift_norms.worst_growth(2), "got 2"),
    (lambda: shifts.needed_modes(3, 3), "S=3"),
    (lambda: shifts.shift_criterion(1), "got 1"),
    (lambda: shifts.best_convolution(0), "L=0"),
    (lambda: shifts.reversal(1), "L=1"),
    (lambda: float_limits.shift_weights(65), "got 65"),
    (lambda: float_limits.shift_weights(5, S=5), "S=5"),
    (lambda: float_limits.breaking_point("float16"), "float16"),
    (lambda: float_limits.running_sum(0, np.ones(2)), "got 0"),
    (lambda: float_limits.overflow_length(1), "got 1"),
    (lambda: toeplitz.fast_convolution(1), "L=1"),
    (lambda: kernel_fits.best_fit([1.0], [0.0]), "not all 0"),
    (lambda: kernel_fits.what_fits(sets={"real": None}), "real"),
]


@pytest.mark.parametrize("call, message", BAD)
def test_bad_input_is_shown(call, message):
    with pytest.raises(ValueError, match=message):
        call()
