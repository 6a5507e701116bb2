"""Chapter 04's pictures: what they draw is what a covariance, a matrix power or a layer says, computed here anew."""

import cmath
import math
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.patches import Circle
from sweeps import sweep

from lrnnlab.models import Net, blocks
from lrnnlab.models.rotrnn import RotRNN
from workbook.chapters import ch04
from workbook.chapters.ch04 import (
    ANGLES,
    DECAYS,
    GAMMAS,
    HEAD_SIZES,
    LAST,
    MODES,
    RHOS,
    SPAN,
    STARTS,
    TABLE_3,
    TURNS,
    architecture,
    discs,
    discs_sentence,
    eigenvalues,
    impulse,
    layer_heads,
    mode_kernels,
    norm_climb,
    norm_curve,
    norm_sentence,
    settled,
    simulated_norms,
    starting_layers,
    turning,
    turning_head,
    turning_sentence,
)
from workbook.chapters.rotations import Head, absorb
from workbook.exercises import check

SOURCE = Path(__file__).parents[3] / "notebooks" / "py" / "04_rotations.py"


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


situations = st.tuples(st.floats(0.01, 0.999), st.floats(-1, 1), st.floats(-360, 360), st.sampled_from(STARTS))


@settings(max_examples=60, deadline=None)
@given(situations)
def test_the_formula_is_the_covariances_trace(at):
    assert norm_curve(*at, T=12) == pytest.approx(covariance_norms(*at, 12), rel=1e-9, abs=1e-12)


def test_the_sentence_says_which_step_of_lemma_3_goes_first():
    assert "step 2 of Lemma 3" in norm_sentence(0.9, 0.5, 30, "unit")
    assert "Lemma" not in norm_sentence(0.9, 0.0, 30, "unit")
    assert "hypothesis" in norm_sentence(0.9, 0.0, 30, "zero")
    assert "hypothesis" not in norm_sentence(0.9, 0.5, 30, "zero")


def test_another_input_or_angle_would_be_noticed():
    right = covariance_norms(0.9, 0.5, 45, "scaled first step", 12)
    for wrong in ((0.9, -0.5, 45), (0.9, 0.5, 90), (0.89, 0.5, 45)):
        assert np.abs(norm_curve(*wrong, "scaled first step", T=12) - right).max() > 0.01
    assert np.abs(norm_curve(0.9, 0.5, 45, "unit", T=12) - right)[1:].max() > 0.01


def worst(gamma, rho, theta, start):
    squares = simulated_norms(gamma, rho, theta, start, T=80, runs=4000)
    error = squares.std(0) / math.sqrt(len(squares))
    return (np.abs(squares.mean(0) - norm_curve(gamma, rho, theta, start, 80)[1:]) / error).max()


@pytest.mark.parametrize("start", STARTS)
@pytest.mark.parametrize("rho, theta", [(0.0, 45), (0.9, 5), (-0.9, 180)])
def test_runs_agree_with_the_formula(start, rho, theta):
    assert worst(0.97, rho, theta, start) < 5


def test_runs_of_another_size_do_not(monkeypatch):
    monkeypatch.setattr(ch04, "DRIVE", 1.1 * ch04.DRIVE)
    assert worst(0.97, 0.0, 45, "zero") > 5


def test_the_papers_line_is_true_from_a_unit_start_only():
    for gamma in GAMMAS:
        for start in ("unit", "scaled first step"):
            assert norm_curve(gamma, 0.0, 30, start)[1:] == pytest.approx(1)
            assert "is true" in norm_sentence(gamma, 0.0, 30, start)
        assert "not the value" in norm_sentence(gamma, 0.0, 30, "zero")
        assert "not white" in norm_sentence(gamma, 0.9, 30, "unit")


def test_the_picture_draws_the_three_of_them():
    axes = norm_climb(0.9, 0.5, 45, "zero").axes[0]
    lines = {line.get_label(): line for line in axes.lines}
    assert set(lines["paper"].get_ydata()) == {1}
    t = lines["formula"].get_xdata()
    assert lines["formula"].get_ydata() == pytest.approx(norm_curve(0.9, 0.5, 45, "zero")[t])
    assert lines["simulated"].get_ydata() == pytest.approx(simulated_norms(0.9, 0.5, 45, "zero").mean(0)[t - 1])
    low, high = axes.get_ylim()
    assert all(low <= value <= high for line in lines.values() for value in line.get_ydata())


@settings(max_examples=60, deadline=None)
@given(st.lists(st.floats(0, 3), min_size=1, max_size=9), st.floats(0.5, 2))
def test_settled_is_the_first_time_after_which_nothing_strays(norms, limit):
    near = [abs(value - limit) <= 0.05 * limit for value in norms]
    oracle = next((t for t in range(len(norms)) if all(near[t:])), None)
    assert settled(np.array(norms), limit) == oracle


def test_the_sentence_tells_when_it_settles():
    assert "from step 1,498 on" in norm_sentence(0.999, 0.0, 45, "zero")
    assert norm_curve(0.999, 0.0, 45, "zero")[1498] >= 0.95 > norm_curve(0.999, 0.0, 45, "zero")[1497]


def test_all_norms_of_the_controls_fit_the_picture():
    for gamma in GAMMAS:
        for rho in RHOS:
            for theta in ANGLES:
                for start in STARTS:
                    norms = norm_curve(gamma, rho, theta, start)[1:]
                    assert SPAN[0] < norms.min() and norms.max() < SPAN[1]


# --- the rotation to turn --------------------------------------------------------------------------------------------


@settings(max_examples=25, deadline=None)
@given(st.floats(-360, 360), st.floats(-360, 360), st.floats(0.1, 0.999))
def test_absorbed_the_first_pair_is_a_spiral(theta_1, theta_2, gamma):
    states, _ = impulse(absorb(turning_head(theta_1, theta_2, gamma)), 12)
    spiral = np.array([0.8 * cmath.rect(gamma, math.radians(theta_1)) ** t for t in range(12)])
    # rect(gamma, a) ** t turns by t a, as the head does step by step
    assert states[:, 0] + 1j * states[:, 1] == pytest.approx(spiral, abs=1e-9)


@settings(max_examples=25, deadline=None)
@given(st.floats(-360, 360), st.floats(-360, 360), st.floats(0.1, 0.999))
def test_with_p_or_without_the_size_shrinks_evenly_and_the_output_is_one(theta_1, theta_2, gamma):
    head = turning_head(theta_1, theta_2, gamma)
    (states, y), (_, plain_y) = impulse(head, 12), impulse(absorb(head), 12)
    assert np.linalg.norm(states, axis=1) == pytest.approx(gamma ** np.arange(12), rel=1e-9)
    assert y == pytest.approx(plain_y, abs=1e-9)


def test_p_does_mix_the_angles():
    states, _ = impulse(turning_head(20, 45, 0.98))
    first_pair = np.linalg.norm(states[:, :2], axis=1) / 0.98 ** np.arange(len(states))
    assert np.ptp(first_pair) > 0.3


def test_the_picture_shows_the_layer_chosen_and_both_outputs():
    kept, absorbed = (turning(20, 45, 0.98, P) for P in ("kept", "absorbed"))
    for figure, head in ((kept, turning_head(20, 45, 0.98)), (absorbed, absorb(turning_head(20, 45, 0.98)))):
        assert np.transpose(figure.axes[0].lines[0].get_data()) == pytest.approx(impulse(head)[0][:, :2])
        one, other = figure.axes[1].lines[:2]
        assert one.get_ydata() == pytest.approx(other.get_ydata(), abs=1e-12)


def test_a_forgotten_p_would_be_told(monkeypatch):
    assert "<b>the same</b>" in turning_sentence(20, 45, 0.98, "kept")

    def forgets(head):
        return Head(head.gamma, head.theta, np.eye(4), head.B, head.C)

    monkeypatch.setattr(ch04, "absorb", forgets)
    assert "apart</b>" in turning_sentence(20, 45, 0.98, "kept")


# --- the discs -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("task", TABLE_3)
@pytest.mark.parametrize("n", HEAD_SIZES)
def test_eigenvalues_start_in_their_sector_and_heads_are_tied(task, n):
    lru, rot = starting_layers(task, n)
    (low, high), theta = TABLE_3[task]
    for found in (eigenvalues(lru), eigenvalues(rot)):
        assert len(found) == 32 and (np.abs(found) > low - 1e-6).all() and (np.abs(found) < high + 1e-6).all()
        assert (np.angle(found) % (2 * np.pi) < theta + 1e-6).all()
    assert len(np.unique(np.abs(eigenvalues(lru)).round(9))) == 32
    assert len(np.unique(np.abs(eigenvalues(rot)).round(12))) == 64 // n == rot.heads
    assert np.ptp(np.abs(eigenvalues(rot)).reshape(rot.heads, -1), axis=1) == pytest.approx(0, abs=1e-12)


def test_they_are_the_eigenvalues_of_the_real_transition():
    _, rot = starting_layers("Retrieval", 8)
    real = np.sort_complex(np.linalg.eigvals(rot.transition().detach().double().numpy()).ravel().round(5))
    both = np.concatenate([eigenvalues(rot), eigenvalues(rot).conj()])
    assert np.abs(real[:, None] - both).min(0).max() < 1e-4 > np.abs(real[:, None] - both).min(1).max()


@pytest.mark.parametrize("mode", MODES)
def test_both_kernels_are_the_modes(mode):
    lru, _ = starting_layers("Retrieval", 8)
    value = complex(eigenvalues(lru)[mode - 1])
    b, c = (complex(torch.view_as_complex(part.detach()).flatten()[mode - 1]) for part in (lru.B, lru.C))
    truth = np.array([(c * value**k * b).real for k in range(60)])
    for kernel in mode_kernels(lru, mode):
        assert kernel == pytest.approx(truth / np.abs(truth).max(), abs=1e-9)


def test_a_wrong_head_would_be_told(monkeypatch):
    assert "<b>the same</b>" in discs_sentence("Retrieval", 8, 29)
    right = ch04.head_of_mode
    monkeypatch.setattr(ch04, "head_of_mode", lambda value, b, c: right(value.conjugate(), b, c))
    assert "apart</b>" in discs_sentence("Retrieval", 8, 29)


def test_the_discs_show_the_layers():
    left, middle, right = discs("Text", 4, 18).axes
    lru, rot = starting_layers("Text", 4)
    for axes, place, layer in ((left, 0, lru), (middle, 1, rot)):
        drawn = np.array([1, 1j]) @ np.array(axes.lines[place].get_data())
        assert drawn == pytest.approx(eigenvalues(layer))
    ringed = left.lines[1].get_xdata()[0] + 1j * left.lines[1].get_ydata()[0]
    assert ringed == pytest.approx(eigenvalues(lru)[17])
    assert right.lines[0].get_ydata() == pytest.approx(right.lines[1].get_ydata(), abs=1e-12)
    assert "nothing is tied" in discs_sentence("Text", 2, 18) and "tied" not in discs_sentence("Text", 4, 18)


def test_torchs_generator_stays_where_it_was():
    before = torch.random.get_rng_state()
    starting_layers("Text", 4)
    assert torch.equal(before, torch.random.get_rng_state())


# --- the two figures of the paper ------------------------------------------------------------------------------------


def words(figure):
    return [text.get_text() for text in figure.axes[0].texts]


def test_the_architecture_is_that_of_the_network():
    made = blocks(partial(RotRNN, state=8, heads=2), 12, 3, gate="full_glu", activation="relu")
    said = words(architecture(Net(made, 5, 12, columns=7, pool="max")))
    for text in ("T × 7", "7 → 12", "× 3", "layer\nnorm", "RELU(y)", "Va · σ(Wa)", "max over", "12 → 5", "T × 12"):
        assert any(text in one for one in said), text


def test_dials_hold_the_heads_eigenvalues():
    layer = RotRNN(5, state=12, heads=3)
    figure = layer_heads(layer)
    axes = figure.axes[0]
    dials = [patch for patch in axes.patches if isinstance(patch, Circle)]
    dots = [line for line in axes.lines if line.get_marker() == "o"]
    found = eigenvalues(layer).reshape(3, 2)
    for dial, line, head in zip(dials, dots, found, strict=True):
        at = (np.array(line.get_data()).T - dial.center) / dial.radius
        assert at @ [1, 1j] == pytest.approx(head, abs=1e-6)
    assert sum("4 × 5" in text for text in words(figure)) == 3 and "C\n5 × 12" in words(figure)


# --- every place, and bad questions ----------------------------------------------------------------------------------


def test_every_place_can_be_drawn_and_told():
    norm = {"gamma": GAMMAS, "rho": RHOS, "theta": ANGLES, "x_0": STARTS}
    turn = {"theta_1": TURNS, "theta_2": TURNS, "gamma": DECAYS, "P": ("kept", "absorbed")}
    disc = {"task": tuple(TABLE_3), "n": HEAD_SIZES, "mode": MODES}
    for draw, say, controls in ((norm_climb, norm_sentence, norm), (turning, turning_sentence, turn),
                                (discs, discs_sentence, disc)):  # fmt: skip
        choices = {name: list(values) for name, values in controls.items()}
        held = {name: values[len(values) // 2] for name, values in list(choices.items())[1:3]}
        assert sweep(say, samples=20, **choices) == []
        assert sweep(draw, samples=1, **choices | held) == []


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: norm_curve(0.9, 0, 30, "one"), "got 'one'"),
        (lambda: simulated_norms(0.9, 0, 30, "one"), "got 'one'"),
        (lambda: norm_curve(1.0, 0, 30, "zero"), "gamma=1.0"),
        (lambda: turning(5, 5, 0.9, "lost"), "got 'lost'"),
        (lambda: starting_layers("Sums", 4), "got 'Sums'"),
        (lambda: starting_layers("Text", 3), "heads 21"),
        (lambda: mode_kernels(starting_layers("Text", 4)[0], 33), "got 33"),
        (lambda: layer_heads(RotRNN(3, state=14, heads=7)), "got 7"),
        (lambda: architecture(Net(blocks(RotRNN, 4, 1, place="post"), 2, 4, vocab_size=3)), "'post'"),
    ],
)
def test_bad_questions(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_the_paper_is_right_at_last():
    """What the picture's x axis must reach: 95 % of the limit at the slowest decay on offer."""
    assert settled(norm_curve(GAMMAS[-1], 0.0, 0, "zero"), 1.0) < LAST


# --- the chapter's exercises: right answers pass, wrong ones do not --------------------------------------------------


def folded(first, second):
    return first[0] * second[0], first[1] + second[1], second[0] * np.exp(1j * second[1]) * first[2] + second[2]


def swapped(first, second):
    return folded(second, first)


def unturned(first, second):
    return first[0] * second[0], first[1] + second[1], second[0] * first[2] + second[2]


def forgetful(first, second):
    return second[0], second[1], folded(first, second)[2]  # right from the left, wrong with other brackets


def resonant(size=2**0.5, angle=0.7):
    return lambda t: (size * math.cos(angle * t), size * math.sin(angle * t))


def scales(decays):
    return [1, *(math.sqrt(1 - decay**2) for decay in decays[1:])]


@pytest.mark.parametrize(
    "id, right, wrong",
    [
        ("04.7", 1, (4, 2, 0)),
        ("04.10", 0.02, (0.99, 1, 50, 0.025)),
        ("04.2", folded, (swapped, unturned, forgetful)),
        ("04.11", resonant(), (resonant(angle=-0.7), resonant(size=2), resonant(angle=0))),
        ("04.8", scales, (lambda g: [math.sqrt(1 - x * x) for x in g], lambda g: [1 for _ in g],
                               lambda g: [1, *(1 - x * x for x in g[1:])])),
        ("04.5", [[1, 0], [0, -1]], (np.eye(2), [[0, -1], [1, 0]], -np.eye(2), [[-1, 1], [0, 1]])),
    ],
)  # fmt: skip
def test_the_exercises_are_checked(id, right, wrong):
    assert check(id, right).outcome == "right"
    assert {check(id, answer).outcome for answer in wrong} == {"not yet"}
