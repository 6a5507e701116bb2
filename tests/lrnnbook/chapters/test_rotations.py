"""Rotations, a head of RotRNN, and the norm of a pair: against what each is by definition."""

import math

import numpy as np
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from lrnnbook.content.chapters.rotations import Head, absorb, cayley, norm_over_time, random_rotation


def head_of(N, inputs, outputs, draw):
    theta, B = draw.uniform(0, 2 * np.pi, N // 2), draw.standard_normal((N, inputs))
    C = draw.standard_normal((outputs, N))
    return Head(float(draw.uniform(0.5, 0.999)), theta, random_rotation(N, draw), B, C)


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 9), st.integers(0, 10**6))
def test_rotations_are_rotations(N, seed):
    A = random_rotation(N, np.random.default_rng(seed))
    assert np.abs(A.T @ A - np.eye(N)).max() < 1e-12 and abs(np.linalg.det(A) - 1) < 1e-12
    size = min(N, 5)
    exact = cayley(sp.Matrix(np.random.default_rng(seed).integers(-3, 4, (size, size)).tolist()))
    assert exact.T * exact == sp.eye(size) and exact.det() == 1


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 6), st.integers(1, 3), st.integers(1, 12), st.integers(0, 10**6))
def test_head_runs_as_it_convolves(N, inputs, T, seed):
    draw = np.random.default_rng(seed)
    head, u = head_of(N, inputs, 2, draw), draw.standard_normal((T, inputs))
    kernel = head.kernel(T)
    convolved = [sum(kernel[t - k] @ u[k] for k in range(t + 1)) for t in range(T)]
    assert np.allclose(head.states(u) @ head.C.T, convolved, atol=1e-12)
    assert np.allclose(absorb(head).kernel(T), kernel, atol=1e-12)
    assert np.allclose(np.abs(np.linalg.eigvals(head.transition)), head.gamma, atol=1e-12)
    assert math.isclose(head.xi**2 * (head.B**2).sum(), 1 - head.gamma**2)


def double_sum(gamma, theta, rho, x0_norm2, t):
    """(1 - g^2) sum over all pairs of inputs: straight from the definition."""
    pairs = ((j, k) for j in range(t) for k in range(t))
    total = sum(gamma ** (j + k) * rho ** abs(j - k) * math.cos((j - k) * theta) for j, k in pairs)
    return gamma ** (2 * t) * x0_norm2 + (1 - gamma**2) * total


@settings(max_examples=80, deadline=None)
@given(st.floats(0.01, 0.999), st.floats(-7, 7), st.floats(-1, 1), st.floats(0, 5), st.integers(0, 12))
def test_norm_over_time_is_the_double_sum(gamma, theta, rho, x0_norm2, T):
    found = norm_over_time(gamma, theta, rho, x0_norm2, T)
    assert found.shape == (T + 1,) and found[0] == x0_norm2
    assert math.isclose(found[-1], double_sum(gamma, theta, rho, x0_norm2, T), rel_tol=1e-9, abs_tol=1e-12)
