"""Pictures of kernels: what is drawn is what the recurrence, the table of powers and the gradient give."""

import math

import numpy as np
import pytest
import torch
from sweeps import sweep

from lrnnlab.models.dlr import DLR
from lrnnlab.models.dss import DSS
from workbook.chapters import ch05
from workbook.chapters.ch05 import DISC as N
from workbook.chapters.ch05 import LAGS as L
from workbook.chapters.ch05 import (
    LENGTH,
    PERIODS,
    SETS,
    STARTS,
    fit_by_modes,
    fit_sentence,
    impulse_response,
    kernel_gallery,
    kernel_maps,
    mode_set,
    modes_on_disc,
    product_modes,
    product_sentence,
    product_spectrum,
    receptive_fields,
    reverse_moves,
    start_nodes,
    start_sentence,
    start_spectrum,
)
from workbook.tables.kernels import families, needed_modes, targets
from workbook.tables.regulargpt_fig4 import receptive_field


@pytest.mark.parametrize("modes", SETS)
def test_stepping_gives_the_sum_of_exponentials(modes):
    nodes, weights = mode_set(modes)
    lags = np.arange(PERIODS * L)
    sums = [sum((w * z**k).real for z, w in zip(nodes, weights)) for k in lags]
    assert np.allclose(impulse_response(nodes, weights, len(lags)), sums, atol=1e-9 * np.abs(weights).sum() * 5)


@pytest.mark.parametrize("modes", SETS)
def test_the_disc_draws_modes_response_and_spectrum(modes):
    nodes, weights = mode_set(modes)
    upper, lower, disc = modes_on_disc(modes).axes
    response, taps = (line.get_ydata() for line in upper.lines)
    assert len(response) == PERIODS * L and np.array_equal(taps, response[:L])
    assert np.allclose(response, impulse_response(nodes, weights, PERIODS * L))
    padded = np.abs(np.fft.fft(taps, 360))[:181]  # an FFT over 360 places has a frequency a degree
    assert np.allclose(lower.lines[0].get_ydata(), padded)
    mirrored, now = (np.array(dots.get_offsets()) @ [1, 1j] for dots in disc.collections)
    assert np.allclose(now, nodes) and np.allclose(mirrored, nodes.conj())


def test_the_presets_are_what_their_names_say():
    lags = np.arange(L)
    grid, half, box, sine = (impulse_response(*mode_set(name), L) for name in SETS[1:5])
    assert np.allclose(grid, lags % N == 7) and np.allclose(half, lags == 7)
    assert np.allclose(box, lags < L // 4) and np.abs(sine - targets(L)["fading sine"]).max() < 0.05
    assert np.all(np.abs(mode_set("a layer at its start")[0]) < 1) and not mode_set(SETS[4])[0].imag.any()


def test_dragging_by_half_a_step_turns_the_echo_over():
    """Each w lambda^k is turned by 15 k degrees, and the real part of tap k multiplied by cos(15 k)."""
    nodes, weights = mode_set("shift by 7, DFT grid")
    nodes = nodes * np.exp(1j * np.radians(15))
    taps = impulse_response(nodes, weights, L)
    assert taps[7] == pytest.approx(math.cos(math.radians(15 * 7)))
    assert taps[7 + N] == pytest.approx(math.cos(math.radians(15 * (7 + N))))


@pytest.mark.parametrize("N_", [4, 8, 16])
def test_half_circle_and_full_circle(N_):
    half, full = start_sentence(180, N_, 2, 1.0), start_sentence(360, N_, 2, 1.0)
    assert "<b>every</b>" in half and half.endswith("condition number 1.")
    assert f"space of {N_} dimensions" in full and f"{N_} short" in full and full.endswith("infinite.")
    assert "<b>every</b>" in start_sentence(360, N_, 1, 1.0)
    points = start_spectrum(180, N_, 2, 0.9).axes[0].lines[0].get_ydata()
    table = start_nodes(180, N_, 0.9) ** np.arange(2 * N_)[:, None]
    gram = table.real @ table.real.T + table.imag @ table.imag.T
    assert np.allclose(points, np.sqrt(np.linalg.eigvalsh(gram)[::-1] / np.linalg.eigvalsh(gram)[-1]))


def test_the_product_has_as_many_modes_as_proved():
    for n in (1, 2, 3, 4):
        found = product_spectrum(n, "off the grid")
        assert (found > 1e-9).sum() == n * (n + 1) and len(found) > 4 * n * n
        assert f"<b>{n}</b>" in product_sentence(n, "DFT grid")
        assert len(product_modes(n, "DFT grid").axes[0].lines[0].get_xdata()) == len(found)


@pytest.mark.parametrize("start", STARTS)
def test_rounding_is_drawn_alike_on_every_processor(monkeypatch, start):
    drawn, spectrum = [], product_spectrum
    for seed in (1, 2):
        noise = np.random.default_rng(seed).uniform(0, 3e-16, 40)
        monkeypatch.setattr(ch05, "product_spectrum", lambda N, kind, noise=noise: spectrum(N, kind) + noise)
        drawn.append(product_modes(3, start).axes[0].lines[0].get_ydata())
    assert np.allclose(*drawn, rtol=1e-12, atol=0)


def test_the_count_is_measured_and_not_written_down(monkeypatch):
    """Real modes with complex weights: their products are real, so no mirror images, and half as many modes."""
    table = ch05.power_table
    monkeypatch.setattr(
        ch05,
        "power_table",
        lambda nodes, *rest, **kind: table(np.linspace(0.5, 1, len(nodes)), *rest, **kind),
    )
    assert (product_spectrum(2, "off the grid") > 1e-9).sum() == 3


@pytest.mark.parametrize("family", list(families(4)))
def test_the_fit_is_a_projection(family):
    """Oracle: normal equations, here by QR of the real table, at a size where it is well-conditioned or nearly."""
    n, goal = 4, targets(LENGTH)["box"]
    axes = fit_by_modes("box", family, n).axes
    drawn = axes[0].lines[1].get_ydata()
    powers = families(n)[family] ** np.arange(LENGTH)[:, None]
    table = np.hstack([powers.real, powers.imag]) if np.iscomplexobj(powers) else powers
    U, values, _ = np.linalg.svd(table, full_matrices=False)
    U = U[:, values > 1e-12 * values[0]]
    assert np.allclose(drawn, U @ (U.T @ goal), atol=1e-8)
    dot = axes[1].lines[-1]
    assert dot.get_ydata()[0] == pytest.approx(np.linalg.norm(drawn - goal) / np.linalg.norm(goal), abs=1e-8)


def test_the_cliff_stands_where_the_theorem_says():
    for family, each in (("half circle", 2), ("circle (DFT)", 1)):
        curve = {line.get_label(): line for line in fit_by_modes("shift by L/2", family, 8).axes[1].lines}[family]
        need = needed_modes(LENGTH, LENGTH // 2)
        for modes, error in zip(curve.get_xdata(), curve.get_ydata()):
            assert (error < 1e-9) == (each * modes >= need)
    assert "N = 9 at least" in fit_sentence("shift by L/2", "half circle", 8)
    assert "at least" not in fit_sentence("box", "half circle", 8)


def test_everything_can_be_drawn_and_told():
    start = {"arc": [180, 240, 360], "N": [4, 32], "per_mode": [1, 1.5, 3], "r": [0.9, 1.0]}
    assert sweep(start_sentence, samples=10, **start) == []
    assert sweep(start_spectrum, samples=0, **start | {"arc": 210, "N": 4}) == []
    fit = {"target": list(targets(LENGTH)), "family": list(families(4)), "N": [2, 32]}
    assert sweep(fit_sentence, samples=5, **fit) == [] == sweep(fit_by_modes, samples=0, **fit | {"N": 2})
    assert sweep(product_modes, samples=0, N=[1, 4], start=list(STARTS)) == []


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


def test_the_figures_draw_their_arrays():
    field = np.array([0.0, 1.0, 4.0])
    axes = receptive_fields({"a": field, "b": field[::-1]}, marks=[1]).axes[0]
    a, b = (line.get_ydata() for line in axes.lines if line.get_label() in "ab")
    assert np.allclose(a, [1, 0.25, 1e-5]) and np.allclose(b, [1e-5, 0.25, 1])
    K = np.array([[0.0, -2.0], [4.0, 1.0]])
    assert np.allclose(kernel_maps({"k": K}).axes[0].images[0].get_array(), [[0, -1], [1, 0.25]])
    part = {"before": K, "after": -K, "errors": ["x", "y"]}
    panels = kernel_gallery({"p": K[0] + 1, "q": K[1]}, {"f": part, "g": part}).axes
    assert len(panels) == 4 and np.array_equal(panels[2].lines[2].get_ydata(), -K[1])
    numbers = [int(text.get_text()) for text in reverse_moves(5).axes[0].texts if text.get_text().isdigit()]
    assert [number for number in numbers if number] == [9, 7, 5, 3, 1]


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: mode_set("square"), "got 'square'"),
        (lambda: product_spectrum(2, "on it"), "got 'on it'"),
        (lambda: receptive_field(lambda u: u, torch.zeros(3, 4)), r"got \(3, 4\)"),
        (lambda: receptive_field(lambda u: u, torch.zeros(1, 4, 1), position=4), "position=4"),
    ],
)
def test_bad_questions(call, message):
    with pytest.raises(ValueError, match=message):
        call()
