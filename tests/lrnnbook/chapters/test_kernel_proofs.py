"""Kernels that are sums of exponentials (paper 004): what chapters 05 and 06 share, computed in other ways."""

import math
from fractions import Fraction

import numpy as np
import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog, minimize

from lrnnbook.content.chapters import ch06
from lrnnbook.content.tables import kernels

small = st.integers(-4, 4)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(small, small), max_size=5), st.integers(0, 8))
def test_kernel_is_its_definition(pairs, L):
    nodes, weights = [a for a, _ in pairs], [b for _, b in pairs]
    assert kernels.kernel(nodes, weights, L) == [sum(w * node**k for node, w in zip(nodes, weights)) for k in range(L)]
    z = sp.Symbol("z")
    assert kernels.monic(nodes) == sp.Poly(sp.prod([z - node for node in nodes]), z).all_coeffs()[::-1]


@settings(max_examples=25, deadline=None)
@given(st.dictionaries(small, small.filter(bool), min_size=1, max_size=5))
def test_the_recurrence_of_a_dlr_has_its_nodes_for_simple_roots(terms):
    found = kernels.recurrence(kernels.kernel(list(terms), list(terms.values()), 2 * len(terms) + 1))
    assert sp.roots(found) == dict.fromkeys(terms, 1) and found.is_sqf


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


@settings(max_examples=25, deadline=None)
@given(st.sets(st.integers(-30, 30), min_size=1, max_size=6), st.data())
def test_exact_weights_solve_the_table(places, data):
    nodes = [Fraction(place, 7) for place in places]
    S = data.draw(st.integers(0, len(nodes) - 1))
    hot = [int(k == S) for k in range(len(nodes))]
    assert kernels.kernel(nodes, kernels.exact_weights(nodes, S), len(nodes)) == hot
    if S == len(nodes) - 1:
        assert kernels.exact_weights(nodes) == [
            1 / math.prod((node - other for other in nodes if other != node), start=Fraction(1)) for node in nodes
        ]


@pytest.mark.parametrize("interval", ["[0,1]", "[-1,1]"])
def test_least_norms_against_the_chebyshev_polynomials_of_sympy(interval):
    x = sp.Symbol("x")
    for L in range(1, 16):
        for S in range(L):
            value = kernels.smallest_norm(L, S, interval)
            inner = sp.Poly(2 * x - 1, x) if interval == "[0,1]" else sp.Poly(x, x)
            assert value == max(abs(sp.chebyshevt_poly(n, x, polys=True).compose(inner).nth(S)) for n in range(L))


@settings(max_examples=15, deadline=None)
@given(st.integers(2, 5), st.integers(0, 10**6))
def test_no_nodes_beat_the_least_norm(L, seed):
    """Any number of random nodes, by the linear programme."""
    draw = np.random.default_rng(seed)
    S, low = int(draw.integers(0, L)), float(draw.integers(-1, 1))
    nodes = np.append(draw.uniform(low, 1, 12), [low, 0, 1])
    table = nodes ** np.arange(L)[:, None]
    found = linprog(np.ones(2 * len(nodes)), A_eq=np.hstack([table, -table]), b_eq=np.eye(L)[S]).fun
    assert found >= kernels.smallest_norm(L, S, "[-1,1]" if low else "[0,1]") * (1 - 1e-6)


def test_the_norms_of_table_2():
    """The paper's DLR-R at L = 256, whose 4096 nodes Claim 1 does not cover."""
    logs = [math.log10(kernels.smallest_norm(256, S)) for S in (32, 128, 224)]
    assert logs == pytest.approx([84, 181, 183], abs=0.6)


@pytest.mark.parametrize("interval", kernels.INTERVALS)
@pytest.mark.parametrize("N", [2, 3, 6, 9])
def test_shift_weights_make_the_shift(N, interval):
    found, S = ch06.shift_weights(N, interval), N - 1
    assert found.error64 < 1e-9 and found.kernel32.dtype == np.float32 and found.kernel64.dtype == np.float64
    assert 2**found.log2_largest == pytest.approx(np.abs(found.weights).max())
    assert np.abs(found.weights).sum() == pytest.approx(kernels.smallest_norm(N, S, interval))
    radius = np.abs(found.nodes)
    assert (radius <= 1 + 1e-12).all() and (interval != "[0,1]" or (found.nodes >= 0).all())
    assert found.kernel64 == pytest.approx((found.nodes ** np.arange(N)[:, None] @ found.weights).real, abs=1e-9)


@pytest.mark.parametrize("N, L, cast", [(3, 6, False), (2, 7, True), (4, 7, False)])
def test_a_search_over_nodes_does_no_better_than_the_criterion(N, L, cast):
    """Best fits over nodes of the circle: exact where the criterion says so, else bounded away from 0."""
    draw = np.random.default_rng(0)
    for S in range(1, L - 1):
        exact = (2 if cast else 1) * N >= kernels.needed_modes(L, S)
        goal, grid = np.eye(L)[S], kernels.arc_nodes(N, np.pi if cast else 2 * np.pi, 0.5 if cast else 0)

        def error(angles, goal=goal):
            return kernels.best_fit(np.exp(1j * angles), goal, cast).error

        if exact:
            assert kernels.best_fit(grid, goal, cast).error < 1e-12
        else:
            starts = draw.uniform(0, 2 * np.pi, (2, N))
            assert min(minimize(error, s, method="Nelder-Mead", options={"maxiter": 200}).fun for s in starts) > 0.1


@settings(max_examples=30, deadline=None)
@given(st.integers(3, 12), st.integers(1, 600))
def test_the_reach_predicts_what_outputs_are_worth(power, N):
    """By the variance of the outputs themselves: white input, output j without its first jL/8 numbers."""
    L = 2**power
    worth = [L - j * L // 8 for j in range(8)]
    assert kernels.predicted_r2(L, N) == pytest.approx(
        sum(part for j, part in enumerate(worth) if j * L / 8 <= 2 * N) / sum(worth)
    )


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 6), st.integers(1, 12), st.booleans())
def test_best_fits_are_best(seed, N, L, cast):
    draw = np.random.default_rng(seed)
    nodes, goal = np.exp(2j * np.pi * draw.random(N)), draw.standard_normal(L)
    fit = kernels.best_fit(nodes, goal, cast)
    own = nodes ** np.arange(L)[:, None] @ fit.weights
    assert fit.kernel == pytest.approx(own.real if cast else own, abs=1e-6)
    assert fit.error == pytest.approx(np.linalg.norm(fit.kernel - goal) / np.linalg.norm(goal))
    assert fit.norm == pytest.approx(np.abs(fit.weights).sum())
    reached = np.linalg.norm((own.real if cast else own) - goal) / np.linalg.norm(goal)
    assert reached == pytest.approx(fit.error, abs=1e-6)
    for _ in range(5):
        other = nodes ** np.arange(L)[:, None] @ (fit.weights + 1e-2 * draw.standard_normal((N, 2)) @ [1, 1j])
        assert np.linalg.norm((other.real if cast else other) - goal) / np.linalg.norm(goal) >= fit.error - 1e-9
