"""Chapter 04's pictures: what they draw is what a covariance, a matrix power or a layer says, computed here anew."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from lrnnbook.content.chapters import ch04
from lrnnbook.content.chapters.rotations import absorb
from lrnnbook.content.exercises.ch04 import mean_square

CLIMB, DISCS = ch04.CLIMB_WIDGET["controls"], ch04.DISCS_WIDGET["controls"]


def covariance_norms(gamma, rho, theta, start, T):
    """E||x_t||^2 from the covariance of (x, u), four real numbers: no complex number and no formula."""
    a = math.radians(theta)
    R = np.array([[math.cos(a), -math.sin(a)], [math.sin(a), math.cos(a)]])
    B = np.array([[0.5, 1.0], [-2.0, 0.25]])
    B = B * math.sqrt((1 - gamma**2) / (B**2).sum())
    X = np.zeros((4, 4))
    X[0, 0] = start == "unit"
    norms = [X[0, 0]]
    for t in range(1, T + 1):
        gain = 1 / math.sqrt(1 - gamma**2) if start == "scaled first step" and t == 1 else 1
        kept = rho if t > 1 else 0.0  # u_1 has no predecessor
        F = np.block([[gamma * R, gain * kept * B], [np.zeros((2, 2)), kept * np.eye(2)]])
        G = np.vstack([gain * B, np.eye(2)])
        X = F @ X @ F.T + (1 - kept**2) * G @ G.T
        norms.append(X[0, 0] + X[1, 1])
    return np.array(norms)


situations = st.tuples(st.floats(0.01, 0.999), st.floats(-1, 1), st.floats(-360, 360), st.sampled_from(CLIMB["x_0"]))


@settings(max_examples=60, deadline=None)
@given(situations)
def test_the_formula_is_the_covariances_trace(at):
    assert ch04.norm_curve(*at, T=12) == pytest.approx(covariance_norms(*at, 12), rel=1e-9, abs=1e-12)


def worst(gamma, rho, theta, start):
    squares = ch04.simulated_norms(gamma, rho, theta, start, T=80, runs=4000)
    error = squares.std(0) / math.sqrt(len(squares))
    return (np.abs(squares.mean(0) - ch04.norm_curve(gamma, rho, theta, start, 80)[1:]) / error).max()


@pytest.mark.parametrize("start", CLIMB["x_0"])
@pytest.mark.parametrize("rho, theta", [(0.0, 45), (0.9, 5), (-0.9, 180)])
def test_runs_agree_with_the_formula(start, rho, theta):
    assert worst(0.97, rho, theta, start) < 5


def test_the_papers_line_is_true_from_a_unit_start_only():
    for gamma in CLIMB["gamma"]:
        for start in ("unit", "scaled first step"):
            assert ch04.norm_curve(gamma, 0.0, 30, start)[1:] == pytest.approx(1)
            assert "is true" in ch04.norm_sentence(gamma, 0.0, 30, start)
        assert "not the value" in ch04.norm_sentence(gamma, 0.0, 30, "zero")
        assert "not white" in ch04.norm_sentence(gamma, 0.9, 30, "unit")


@pytest.mark.parametrize("c", [0.25, 1, 2, 4])
@pytest.mark.parametrize("corrected", [False, True])
def test_runs_keep_c_with_the_corrected_alpha_and_fall_to_1_with_the_printed(c, corrected):
    gamma, width = 0.9, 4
    alpha = math.sqrt((c if corrected else 1) / (c * gamma**2 + 1))
    drive = np.eye(width) / math.sqrt(width)  # Tr(B^T B) = 1
    sizes = mean_square(alpha, gamma, np.roll(np.eye(width), 1, 0), drive, c, steps=8, runs=8000)
    assert sizes[1] == pytest.approx(c if corrected else 1, rel=0.06)
    if c >= 1:
        assert sizes[-1] == pytest.approx(c if corrected else 1 / (1 + (c - 1) * gamma**2), rel=0.1)


def test_the_caption_says_whether_the_line_is_flat(monkeypatch):
    said = []
    monkeypatch.setattr(ch04, "figure", lambda drawn, alt, caption: said.append((drawn, caption)))
    ch04.show_sizes(np.full(12, 4.05), 4)
    ch04.show_sizes(np.array([4, 1, 0.4, 0.3]), 4)
    ch04.show_sizes(4 * (1 - 0.9 ** (2 * np.arange(9))), 4, 0.9)
    assert "keep it" in said[0][1] and "leave it after one step" in said[1][1] and "theorem" in said[2][1]
    runs, theorem = said[2][0].axes[0].lines[1:]
    assert np.allclose(runs.get_ydata(), theorem.get_ydata()) and runs.get_xdata()[0] == 0


def test_paths_end_where_the_text_says():
    plane, lengths = ch04.three_paths().axes[:2]
    ends = [line.get_ydata()[-1] for line in lengths.lines]
    assert ends == pytest.approx([3.98e8, 1, 1.68e-9], rel=0.01)
    circle = next(line for line in plane.lines if len(line.get_xdata()) == 200 and line.get_zorder() == 3)
    assert np.hypot(*circle.get_data()) == pytest.approx(1)


def test_what_is_remembered_is_counted_above_the_mean_picture():
    draw = np.random.default_rng(0)
    seen, usual = draw.uniform(size=(9, 64)), np.full(64, 0.5)
    half = seen.copy()
    half[:, :32] = 0.5
    lines = ch04.from_memory(seen, {"all": seen, "half": half}, usual).axes[-1].lines
    assert [line.get_xdata().tolist() for line in lines] == [[1] * 8, [0] * 4 + [1] * 4]


@settings(max_examples=25, deadline=None)
@given(st.floats(-360, 360), st.floats(-360, 360), st.floats(0.1, 0.999))
def test_with_p_or_without_the_size_shrinks_evenly_and_the_output_is_one(theta_1, theta_2, gamma):
    head = ch04.turning_head(theta_1, theta_2, gamma)
    (states, y), (_, plain_y) = ch04.impulse(head, 12), ch04.impulse(absorb(head), 12)
    assert np.linalg.norm(states, axis=1) == pytest.approx(gamma ** np.arange(12), rel=1e-9)
    assert y == pytest.approx(plain_y, abs=1e-9)


@pytest.mark.parametrize("task", ch04.TABLE_3)
@pytest.mark.parametrize("n", DISCS["n"])
def test_eigenvalues_start_in_their_sector_and_heads_are_tied(task, n):
    lru, rot = ch04.starting_layers(task, n)
    (low, high), theta = ch04.TABLE_3[task]
    for found in (ch04.eigenvalues(lru), ch04.eigenvalues(rot)):
        assert len(found) == 32 and (np.abs(found) > low - 1e-6).all() and (np.abs(found) < high + 1e-6).all()
        assert (np.angle(found) % (2 * np.pi) < theta + 1e-6).all()
    assert len(np.unique(np.abs(ch04.eigenvalues(lru)).round(9))) == 32
    assert len(np.unique(np.abs(ch04.eigenvalues(rot)).round(12))) == 64 // n == rot.heads
    assert np.ptp(np.abs(ch04.eigenvalues(rot)).reshape(rot.heads, -1), axis=1) == pytest.approx(0, abs=1e-12)


def test_they_are_the_eigenvalues_of_the_real_transition():
    _, rot = ch04.starting_layers("Retrieval", 8)
    real = np.sort_complex(np.linalg.eigvals(rot.transition().detach().double().numpy()).ravel().round(5))
    both = np.concatenate([ch04.eigenvalues(rot), ch04.eigenvalues(rot).conj()])
    assert np.abs(real[:, None] - both).min(0).max() < 1e-4 > np.abs(real[:, None] - both).min(1).max()


@pytest.mark.parametrize("mode", DISCS["mode"])
def test_both_kernels_are_the_modes(mode):
    lru, _ = ch04.starting_layers("Retrieval", 8)
    value = complex(ch04.eigenvalues(lru)[mode - 1])
    b, c = (complex(torch.view_as_complex(part.detach()).flatten()[mode - 1]) for part in (lru.B, lru.C))
    truth = np.array([(c * value**k * b).real for k in range(60)])
    for kernel in ch04.mode_kernels(lru, mode):
        assert kernel == pytest.approx(truth / np.abs(truth).max(), abs=1e-9)
