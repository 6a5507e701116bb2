"""Paper 001, RotRNN: rotations, the norm of the state, the LRU.  Each proof holds, each fault fails where it should."""

import math
from fractions import Fraction

import numpy as np
import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from proving import two_tests
from scipy.linalg import expm

from lrnnlab.algebra import (
    coloured_input,
    lru_equivalence,
    lru_norm,
    norms,
    orthogonal,
    rotation_layer,
    rotations,
    token_input,
    white_input,
)
from lrnnlab.algebra.norms import TRACE, c, g

PROOFS = {
    "lemma_1": rotations.lemma_1,
    "lemma_2": rotations.lemma_2,
    "determinant_one": rotations.determinant_one,
    "p_is_redundant": rotation_layer.p_is_redundant,
    "equation_10": rotation_layer.equation_10,
    "equation_19": rotation_layer.equation_19,
    "scan_operator": rotation_layer.scan_operator,
    "lemma_3_as_printed": norms.lemma_3_as_printed,
    "lemma_3": norms.lemma_3,
    "equation_11": norms.equation_11,
    "norm_theorem": white_input.norm_theorem,
    "from_zero": white_input.from_zero,
    "constant_norm": white_input.constant_norm,
    "simulated_norm": white_input.simulated_norm,
    "ar1_norm": coloured_input.ar1_norm,
    "stationary_range": coloured_input.stationary_range,
    "token_input": token_input.token_input,
    "equation_14": lru_norm.equation_14,
    "lru_is_rotrnn": lru_equivalence.lru_is_rotrnn,
    "conjugate_pairs": lru_equivalence.conjugate_pairs,
    "wider_heads": lru_equivalence.wider_heads,
}

# What the paper prints, which fails; for these the rows in FAULTS say where.
PRINTED = {"lemma_3_as_printed"}


def decays_first(first, second):
    """The scan's operator with the decay of the wrong element."""
    return rotation_layer.combine((first[0], first[1], first[0] * first[2] / second[0]), second)


def decays_twice(first, second):
    """Associative, with the same identity, and not the recurrence."""
    return rotation_layer.combine((first[0], first[1], second[0] * first[2]), second)


# A fault: the proof, arguments that break one hypothesis or claim, and the steps (from 1) that must fail.
FAULTS = [
    ("lemma_1", {"symmetric": 1}, {1, 3, 4}),
    ("lemma_2", {"stretch": 2}, {1, 2, 3}),
    ("lemma_2", {"N": 4, "stretch": Fraction(1, 2)}, {1, 2, 3}),
    ("determinant_one", {"sign": 1, "samples": 2}, {1, 2}),
    ("p_is_redundant", {"stretch": 2}, {1, 2, 4}),
    ("equation_10", {"excess": 1}, {1, 2}),
    ("equation_10", {"excess": -1}, {1, 2}),
    ("equation_19", {"signs": (1, -1)}, {1}),
    ("equation_19", {"signs": (1, 1)}, {1}),
    ("scan_operator", {"operator": decays_first}, {1, 2, 3}),
    ("scan_operator", {"operator": decays_twice}, {3}),
    ("lemma_3_as_printed", {}, {4}),
    ("lemma_3_as_printed", {"at": 2}, {4}),
    ("lemma_3_as_printed", {"alpha_squared": norms.RIGHT / g**2}, {4}),
    ("lemma_3", {"repaired": norms.PRINTED}, {4}),
    ("lemma_3", {"repaired": c / (g**2 + TRACE)}, {4}),
    ("equation_11", {"repaired": 1 - c * g**2}, {4}),
    ("equation_11", {"repaired": c - g**2}, {4}),
    ("norm_theorem", {"correction": Fraction(81, 100)}, {3}),
    ("norm_theorem", {"correction": 2}, {3}),
    ("from_zero", {"start": 1}, {1, 2, 3}),
    ("constant_norm", {"first_gain": Fraction(1)}, {3}),
    ("constant_norm", {"first_gain": Fraction(10)}, {3}),
    ("simulated_norm", {"scale": 1.2}, {1, 2, 3}),
    ("ar1_norm", {"power": 1}, {2}),
    ("ar1_norm", {"power": -1}, {2}),
    ("stationary_range", {"widening": 1.1}, {3}),
    ("stationary_range", {"widening": 0.9}, {2, 3}),
    ("token_input", {"forgotten": 0}, {1}),
    ("equation_14", {"first": 1}, {1, 2}),
    ("lru_is_rotrnn", {"sign": 1}, {2}),
    ("conjugate_pairs", {"paired": True}, {1}),
    ("wider_heads", {"moduli": ("1/2", "1/2")}, {4}),
]


test_the_proof_holds, test_a_broken_hypothesis_fails_where_it_should = two_tests(PROOFS, FAULTS, PROOFS.keys() - PRINTED)


def test_every_proof_has_a_fault():
    assert {name for name, *_ in FAULTS} == PROOFS.keys()


# --- rotations --------------------------------------------------------------------------------------------------------


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 9), st.integers(0, 10**6), st.integers(0, 3), st.floats(-9, 0))
def test_every_rotation_is_rebuilt_with_determinant_one(N, seed, repeated, small):
    draw = np.random.default_rng(seed)
    theta = draw.uniform(-math.pi, math.pi, N // 2)
    theta[:repeated] = draw.choice([0, math.pi, 10**small], size=len(theta[:repeated]))
    Q = orthogonal.random_rotation(N, draw)
    A = Q @ orthogonal.rotation_blocks(theta, N) @ Q.T
    P, found = rotations.decompose(A)
    assert orthogonal.distance_from_rotations(P) < 1e-12
    assert np.abs(P @ orthogonal.rotation_blocks(found, N) @ P.T - A).max() < 1e-12
    assert np.allclose(np.sort(np.cos(found)), np.sort(np.cos(theta)), atol=1e-12)
    S = rotations.skew_logarithm(A)
    assert np.abs(S + S.T).max() < 1e-12 and np.abs(expm(S) - A).max() < 1e-12


def test_a_flip_is_needed_and_noticed(monkeypatch):
    """Without the flip some P have determinant -1; a flip that keeps the angle rebuilds another rotation."""
    assert rotations.determinant_one().data["flips"] > 20
    monkeypatch.setattr(rotations, "flip_column", lambda P, theta: (P, theta))
    assert [step.holds for step in rotations.determinant_one().steps] == [True, True, False, True]

    def angle_kept(P, theta):
        return P * np.array([-1] + [1] * (len(P) - 1)), theta

    monkeypatch.setattr(rotations, "flip_column", angle_kept)
    assert [step.holds for step in rotations.determinant_one().steps] == [True, True, False, False]


@pytest.mark.filterwarnings("ignore:invalid value encountered in det")
@pytest.mark.parametrize("A, said", [
    (np.diag([1.0, -1.0]), "off by 2"), (np.diag([2.0, 0.5]), "off by 3"), (np.ones((2, 3)), r"shape \(2, 3\)"),
    (np.ones(4), r"shape \(4,\)"), (np.full((2, 2), np.nan), "off by nan")])  # fmt: skip
def test_decompose_refuses_what_is_no_rotation(A, said):
    with pytest.raises(ValueError, match=said):
        rotations.decompose(A)


def test_rotation_blocks_refuse_another_number_of_angles():
    with pytest.raises(ValueError, match="size N=5 has 2 angles"):
        orthogonal.rotation_blocks([1.0], 5)


# --- the layer --------------------------------------------------------------------------------------------------------


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 6), st.integers(1, 3), st.integers(1, 12), st.integers(0, 10**6))
def test_head_runs_as_it_convolves(N, inputs, T, seed):
    draw = np.random.default_rng(seed)
    head, u = rotation_layer.random_head(N, inputs, 2, draw), draw.standard_normal((T, inputs))
    kernel = head.kernel(T)
    convolved = [sum(kernel[t - k] @ u[k] for k in range(t + 1)) for t in range(T)]
    assert np.allclose(rotation_layer.layer_outputs([head], u), convolved, atol=1e-12)
    assert np.allclose(rotation_layer.absorb(head).kernel(T), kernel, atol=1e-12)


def test_the_scan_agrees_with_the_head():
    draw = np.random.default_rng(0)
    head, u = rotation_layer.random_head(2, 3, 1, draw), draw.standard_normal((5, 3))
    plain = rotation_layer.absorb(head)
    parts = [(head.gamma, float(head.theta[0]), sp.Matrix(head.xi * plain.B @ u_t)) for u_t in u]
    left, right = (rotation_layer.combine(parts[0], parts[1]), rotation_layer.combine(parts[2], parts[3]))
    whole = rotation_layer.combine(rotation_layer.combine(left, right), parts[4])[2]
    assert np.allclose(head.P @ np.array(whole, dtype=float)[:, 0], head.states(u)[-1])


@pytest.mark.parametrize("gamma, B, said", [(1.0, 1.0, "gamma=1.0"), (0.0, 1.0, "gamma=0.0"), (0.5, 0.0, r"B = \[\[0")])
def test_head_refuses(gamma, B, said):
    with pytest.raises(ValueError, match=said):
        rotation_layer.Head(gamma, np.zeros(1), np.eye(2), B * np.eye(2), np.eye(2))


# --- norms ------------------------------------------------------------------------------------------------------------


def test_expectation_agrees_with_a_mean_over_signs():
    """Every sign of four entries: a white input, exactly."""
    x, u = sp.symbols("x1:3"), sp.symbols("u1:3")
    form = (3 * x[0] - u[0] + 2 * u[1]) ** 2 + x[1] * u[0] - 5 * x[0] * x[1]
    signs = [[(-1) ** (n >> k & 1) for k in range(4)] for n in range(16)]
    mean = sum(form.subs(dict(zip((*x, *u), row))) for row in signs) / 16
    assert norms.expectation(form, x, u).subs({"X_11": 1, "X_12": 0}) == mean
    with pytest.raises(ValueError, match="only quadratic terms"):
        norms.expectation(x[0] ** 2 * u[0], x, u)


def test_lemma_3_notices_a_line_that_follows(monkeypatch):
    monkeypatch.setattr(norms, "lemma_3_as_printed", lambda alpha=norms.PRINTED: proof(norms.RIGHT))
    proof = PROOFS["lemma_3_as_printed"]
    assert [step.holds for step in norms.lemma_3().steps] == [False, False, True, True]


def test_a_transition_that_is_no_rotation_breaks_the_norm_theorem(monkeypatch):
    real = white_input.rational_rotation
    monkeypatch.setattr(white_input, "rational_rotation", lambda N, draw: real(N, draw) * sp.diag(2, 1, 1, 1))
    assert [step.holds for step in white_input.norm_theorem().steps] == [True, True, False]
    assert not white_input.constant_norm().holds and not white_input.from_zero().holds


def test_times_of_the_paper():
    """gamma = 0.999 and 0.9999, its extremes for Path-X: 0.002 at the first step, 95 % at steps 1498 and 14978."""
    assert round(white_input.expected_norm(0.999, 1), 3) == 0.002
    assert (white_input.steps_until(0.999), white_input.steps_until(0.9999)) == (1498, 14978)
    with pytest.raises(ValueError, match="gamma=1"):
        white_input.steps_until(1)
    with pytest.raises(ValueError, match="'pink'"):
        white_input.white_inputs("pink", (2, 2, 2), np.random.default_rng(0))


def double_sum(gamma, theta, rho, x0_norm2, t):
    """(1 - g^2) sum over all pairs of inputs: straight from the definition."""
    pairs = ((j, k) for j in range(t) for k in range(t))
    total = sum(gamma ** (j + k) * rho ** abs(j - k) * math.cos((j - k) * theta) for j, k in pairs)
    return gamma ** (2 * t) * x0_norm2 + (1 - gamma**2) * total


@settings(max_examples=80, deadline=None)
@given(st.floats(0.01, 0.999), st.floats(-7, 7), st.floats(-1, 1), st.floats(0, 5), st.integers(0, 12))
def test_norm_over_time_is_the_double_sum(gamma, theta, rho, x0_norm2, T):
    found = coloured_input.norm_over_time(gamma, theta, rho, x0_norm2, T)
    assert found.shape == (T + 1,) and found[0] == x0_norm2
    assert math.isclose(found[-1], double_sum(gamma, theta, rho, x0_norm2, T), rel_tol=1e-9, abs_tol=1e-12)
    if abs(rho * gamma * np.exp(1j * theta) - gamma**2) > 1e-4:
        closed = coloured_input.closed_norm(gamma, theta, rho, T, x0_norm2)
        assert math.isclose(found[-1], closed, rel_tol=1e-7, abs_tol=1e-9)


def test_norm_over_time_special_values():
    gamma = 0.75
    assert coloured_input.closed_norm(gamma, 0.0, gamma, 9) == pytest.approx(double_sum(gamma, 0, gamma, 0, 9))
    white = coloured_input.norm_over_time(gamma, 1.0, 0.0, 3.0, 9, c=2)
    assert np.allclose(white, white_input.expected_norm(gamma, np.arange(10), 2, 3.0))
    still = coloured_input.norm_over_time(gamma, 0.0, 1.0, 0.0, 400)[-1]
    assert still == pytest.approx((1 + gamma) / (1 - gamma)) == coloured_input.stationary_norm(gamma, 0.0, 1.0)
    for bad in ({"gamma": 1.0}, {"rho": 1.5}, {"T": -1}, {"gamma": math.nan}):
        with pytest.raises(ValueError, match=f"{next(iter(bad))}={next(iter(bad.values()))}"):
            coloured_input.norm_over_time(**{"gamma": 0.5, "theta": 0.0, "rho": 0.0, "x0_norm2": 0, "T": 3, **bad})


def test_ar1_notices_another_recursion(monkeypatch):
    real = coloured_input.norm_over_time
    monkeypatch.setattr(coloured_input, "norm_over_time", lambda g, a, rho, s, T: real(g, a, rho**2, s, T))
    assert [step.holds for step in coloured_input.ar1_norm().steps] == [True, True, False, False, False]


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 3), st.integers(1, 4))
def test_token_formula_is_the_mean_over_all_strings(seed, V, T):
    draw = np.random.default_rng(seed)
    B, weights = draw.integers(-3, 4, size=(2, V)), draw.integers(1, 5, size=V)
    B[0, 0] = 4
    p, gamma = [Fraction(int(w), int(weights.sum())) for w in weights], Fraction(1, 3)
    exact = token_input.exhaustive_norm(B.astype(object), p, gamma, T)
    assert exact == token_input.exact_formula(B.astype(object), p, gamma, T)
    found = token_input.token_norm(1 / 3, math.atan2(4, 3), B, np.array(p, dtype=float), T)
    assert found[0] == 0 and found[-1] == pytest.approx(float(exact) * (1 - 1 / 9) / (B**2).sum())


def test_token_norm_refuses():
    with pytest.raises(ValueError, match=r"got p = \[0.5, 0.6\]"):
        token_input.token_norm(0.5, 0, np.eye(2), [0.5, 0.6], 3)
    with pytest.raises(ValueError, match=r"each of 2 tokens"):
        token_input.token_norm(0.5, 0, np.eye(2), [1.0], 3)
    with pytest.raises(ValueError, match="the scatter of B, which is 0"):
        token_input.token_norm(0.5, 0, np.ones((2, 2)), [0.5, 0.5], 3, centred=True)


# --- the LRU ----------------------------------------------------------------------------------------------------------


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 6), st.integers(1, 3), st.integers(1, 15), st.integers(0, 10**6))
def test_lru_and_rotrnn_have_one_kernel(N, outputs, T, seed):
    draw = np.random.default_rng(seed)
    modes = lru_equivalence.random_modes(N, 2, outputs, draw)
    modes.B[0] = 0  # a mode that hears nothing
    heads, kernel = lru_equivalence.as_heads(modes), modes.kernel(T)
    assert np.allclose(sum(head.kernel(T) for head in heads), kernel, atol=1e-12)
    again = lru_equivalence.as_modes(heads)
    assert np.allclose(again.eigenvalues, modes.eigenvalues) and np.allclose(again.kernel(T), kernel, atol=1e-12)
    u = draw.standard_normal((2, T, 2))
    convolved = [sum(u[:, k] @ kernel[t - k].T for k in range(t + 1)) for t in range(T)]
    assert np.allclose(modes.outputs(u), np.stack(convolved, axis=1), atol=1e-11)


def test_the_equivalence_notices_a_wrong_imaginary_part(monkeypatch):
    real = lru_equivalence.as_heads

    def wrong(modes):
        return real(lru_equivalence.Modes(modes.eigenvalues, modes.B, modes.C.conj()))

    monkeypatch.setattr(lru_equivalence, "as_heads", wrong)
    assert [step.holds for step in lru_equivalence.lru_is_rotrnn().steps] == [True, True, False, True]


def test_wider_heads_notice_a_modulus_of_its_own(monkeypatch):
    real = lru_equivalence.as_modes

    def loosened(heads):
        modes = real(heads)
        return lru_equivalence.Modes(modes.eigenvalues * np.linspace(0.9, 1, len(modes.eigenvalues)), modes.B, modes.C)

    monkeypatch.setattr(lru_equivalence, "as_modes", loosened)
    assert [step.holds for step in lru_equivalence.wider_heads().steps] == [False, True, True, True]


def test_lru_refuses():
    with pytest.raises(ValueError, match=r"moduli \[1.0\]"):
        lru_equivalence.Modes(np.array([1j]), np.ones((1, 1)), np.ones((1, 1)))
    with pytest.raises(ValueError, match="got width 3"):
        lru_equivalence.as_modes([rotation_layer.random_head(3, 1, 1, np.random.default_rng(0))])
