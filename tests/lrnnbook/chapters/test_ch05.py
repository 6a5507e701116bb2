"""Pictures of kernels: what is drawn is what the recurrence, the table of powers and the gradient give."""

import math

import numpy as np
import pytest
import torch

from lrnnbook.content.chapters import ch05
from lrnnbook.content.chapters.ch05 import DISC as N
from lrnnbook.content.chapters.ch05 import LAGS as L
from lrnnbook.content.exercises import ch05 as ch05_builds
from lrnnbook.content.tables.kernels import families, kernel, needed_modes, targets
from lrnnbook.content.tables.regulargpt_fig4 import receptive_field
from lrnnlab.models.layers.modes import DLR, DSS


@pytest.mark.parametrize("modes", ch05.SETS)
def test_stepping_gives_the_sum_of_exponentials(modes):
    nodes, weights = ch05.mode_set(modes)
    lags = np.arange(ch05.PERIODS * L)
    sums = [sum((w * z**k).real for z, w in zip(nodes, weights)) for k in lags]
    assert np.allclose(np.real(kernel(nodes, weights, len(lags))), sums, atol=1e-9 * np.abs(weights).sum() * 5)


def test_the_presets_are_what_their_names_say():
    lags = np.arange(L)
    grid, half, box, sine = (np.real(kernel(*ch05.mode_set(name), L)) for name in ch05.SETS[1:5])
    assert np.allclose(grid, lags % N == 7) and np.allclose(half, lags == 7)
    assert np.allclose(box, lags < L // 4) and np.abs(sine - targets(L)["fading sine"]).max() < 0.05
    assert np.all(np.abs(ch05.mode_set("a layer at its start")[0]) < 1) and not ch05.mode_set(ch05.SETS[4])[0].imag.any()


def test_dragging_by_half_a_step_turns_the_echo_over():
    """Each w lambda^k is turned by 15 k degrees, and the real part of tap k multiplied by cos(15 k)."""
    nodes, weights = ch05.mode_set("shift by 7, DFT grid")
    nodes = nodes * np.exp(1j * np.radians(15))
    taps = np.real(kernel(nodes, weights, L))
    assert taps[7] == pytest.approx(math.cos(math.radians(15 * 7)))
    assert taps[7 + N] == pytest.approx(math.cos(math.radians(15 * (7 + N))))


def test_taps_meet_on_the_short_ring_only():
    """Oracle: place each tap at its lag, modulo the size of the ring."""
    for axes, n in zip(ch05.rings_of_taps(4).axes, (8, 4)):
        lag = {f"$K_{j}$": j for j in range(4)} | {f"$k_{j}$": -1 - j for j in range(3)}
        held = [text for text in axes.texts if text.get_text() in lag]
        assert len(held) == 7
        for text in held:
            x, y = text.get_position()
            place = lag[text.get_text()] % n
            assert np.hypot(x - np.sin(2 * np.pi * place / n), y - np.cos(2 * np.pi * place / n)) < 0.2


def test_echoes_are_those_of_the_modes():
    """Oracle: S + 1 modes at equal angles, step by step."""
    line, *rows = ch05.delay_and_echoes(5, (1, 0.8, 0.5)).axes
    assert np.array_equal(line.lines[0].get_ydata(), np.arange(24) == 5)
    for axes, size in zip(rows, (1, 0.8, 0.5)):
        nodes = size * np.exp(2j * np.pi * np.arange(6) / 6)
        assert np.allclose(axes.lines[0].get_ydata(), np.real(kernel(nodes, nodes**-5 / 6, 24)), atol=1e-12)
        assert f"{size**-5 / 6:.2g}" in axes.get_ylabel()


@pytest.mark.parametrize("N_", [4, 8, 16])
def test_half_circle_and_full_circle(N_):
    half, full = ch05.start_sentence(180, N_, 2, 1.0), ch05.start_sentence(360, N_, 2, 1.0)
    assert "<b>every</b>" in half and half.endswith("condition number 1.")
    assert f"space of {N_} dimensions" in full and f"{N_} short" in full and full.endswith("infinite.")
    assert "<b>every</b>" in ch05.start_sentence(360, N_, 1, 1.0)
    points = ch05.start_spectrum(180, N_, 2, 0.9).axes[0].lines[0].get_ydata()
    table = ch05.start_nodes(180, N_, 0.9) ** np.arange(2 * N_)[:, None]
    gram = table.real @ table.real.T + table.imag @ table.imag.T
    assert np.allclose(points, np.sqrt(np.linalg.eigvalsh(gram)[::-1] / np.linalg.eigvalsh(gram)[-1]))


def test_the_product_has_as_many_modes_as_proved():
    for n in (1, 2, 3, 4):
        found = ch05.product_spectrum(n, "off the grid")
        assert (found > 1e-9).sum() == n * (n + 1) and len(found) > 4 * n * n
        assert f"<b>{n}</b>" in ch05.product_sentence(n, "DFT grid")
        assert len(ch05.product_modes(n, "DFT grid").axes[0].lines[0].get_xdata()) == len(found)


@pytest.mark.parametrize("family", list(families(4)))
def test_the_fit_is_a_projection(family):
    """Oracle: normal equations, here by QR of the real table, at a size where it is well-conditioned or nearly."""
    n, goal = 4, targets(ch05.LENGTH)["box"]
    axes = ch05.fit_by_modes("box", family, n).axes
    drawn = axes[0].lines[1].get_ydata()
    powers = families(n)[family] ** np.arange(ch05.LENGTH)[:, None]
    table = np.hstack([powers.real, powers.imag]) if np.iscomplexobj(powers) else powers
    U, values, _ = np.linalg.svd(table, full_matrices=False)
    U = U[:, values > 1e-12 * values[0]]
    assert np.allclose(drawn, U @ (U.T @ goal), atol=1e-8)
    dot = axes[1].lines[-1]
    assert dot.get_ydata()[0] == pytest.approx(np.linalg.norm(drawn - goal) / np.linalg.norm(goal), abs=1e-8)


def test_the_cliff_stands_where_the_theorem_says():
    for family, each in (("half circle", 2), ("circle (DFT)", 1)):
        curve = {line.get_label(): line for line in ch05.fit_by_modes("shift by L/2", family, 8).axes[1].lines}[family]
        need = needed_modes(ch05.LENGTH, ch05.LENGTH // 2)
        for modes, error in zip(curve.get_xdata(), curve.get_ydata()):
            assert (error < 1e-9) == (each * modes >= need)
    assert "N = 9 at least" in ch05.fit_sentence("shift by L/2", "half circle", 8)
    assert "at least" not in ch05.fit_sentence("box", "half circle", 8)


def test_the_three_builds_make_a_layer_of_the_package_and_its_fits():
    torch.manual_seed(0)
    with torch.no_grad():
        layer, white = DLR(1, state=8).double(), torch.randn(1, 50, 1, dtype=torch.float64)
        log_lambda, (w,) = layer.modes()
        u = white[0, :, 0].numpy()
        made = ch05_builds.convolve(ch05_builds.kernel(log_lambda.exp().numpy(), w.numpy(), 50), u)
        assert np.allclose(made + layer.skip.item() * u, layer(white)[0, :, 0])
    errors = {name: [np.linalg.norm(ch05_builds.kernel(nodes, ch05_builds.fit_weights(nodes, goal), 64) - goal) / np.linalg.norm(goal)
                     for goal in targets(64).values()] for name, nodes in families(32).items()}  # fmt: skip
    assert np.round(errors["circle (DFT)"], 2).tolist() == [0.71, 0.71, 0.71, 0.77, 0.75]
    assert np.allclose(errors["half circle"], 0, atol=1e-9)


def test_pictures_of_builds_say_what_they_show(monkeypatch):
    said = []
    monkeypatch.setattr(ch05, "show_figure", lambda figure, alt, caption: said.append((figure, caption)))
    u = np.arange(9.0)
    ch05.show_shift(u, u, u)
    ch05.show_shift(u, u + 0.25, u)
    assert "are the same" in said[0][1] and "0.25 apart" in said[1][1]
    goals = targets(8)
    ch05.show_fits(goals, {("zeros", name): np.zeros(8) for name in goals} | {("right", name): goal for name, goal in goals.items()})
    errors = [text.get_text() for axes in said[2][0].axes for text in axes.texts if "error" in text.get_text()]
    assert errors == ["error 1.00"] * 5 + ["error 0.00"] * 5


def test_a_dot_is_where_one_percent_is_left():
    fading = 0.5 ** np.arange(20.0)[::-1]
    axes = ch05.receptive_fields({"1 layer": fading, "2 layers": np.sqrt(fading)}, share=0.01).axes[0]
    dots = [line.get_xdata()[0] for line in axes.lines if line.get_marker() == "o"]
    assert dots == [7, 14] and [text.get_text() for text in axes.texts[:2]] == ["7", "14"]


@pytest.mark.parametrize(
    "make", [lambda: DLR(1, state=6), lambda: DSS(1, state=6), lambda: DLR(1, state=6, kind="prod")]
)
def test_the_field_of_one_layer_is_its_kernel(make):
    torch.manual_seed(3)
    layer = make().double()
    taps = layer.kernel(9).detach().numpy()[0].copy()
    taps[0] += float(layer.skip.detach())
    field = receptive_field(layer, torch.randn(4, 9, 1, dtype=torch.float64))
    assert np.allclose(field[::-1], np.abs(taps))


def test_the_field_of_something_that_is_not_linear():
    """y_t = (u_t u_{t-1}, u_t) by hand, and finite differences on a layer with GELU."""
    u = torch.tensor([[[2.0], [3.0], [5.0]]], dtype=torch.float64)

    def products(u):
        return torch.cat([u[:, 1:] * u[:, :-1], u[:, 1:]], -1)

    assert np.allclose(receptive_field(products, u), [0, 5, math.hypot(3, 1)])
    assert np.allclose(receptive_field(products, u, position=0), [3, math.hypot(2, 1), 0])
    with torch.device("meta"):  # what is made within lies where the inputs do, not where new tensors go
        assert np.allclose(receptive_field(products, u), [0, 5, math.hypot(3, 1)])
    torch.manual_seed(0)
    layer = DLR(1, state=4).double()

    def curved(u):
        return torch.nn.functional.gelu(layer(u))

    numbers = torch.randn(1, 7, 1, dtype=torch.float64)
    slopes = [(curved(numbers + e)[0, -1] - curved(numbers - e)[0, -1]).abs().item() / 2e-6
              for e in 1e-6 * torch.eye(7, dtype=torch.float64)[:, None, :, None]]  # fmt: skip
    assert np.allclose(receptive_field(curved, numbers), slopes, atol=1e-7)
