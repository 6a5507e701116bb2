"""The benchmark of the DLR layer: both compute the same, and what is reported follows from what was timed."""

import numpy as np
import pytest
import torch

from workbook.bench import dlr
from workbook.bench.dlr import SHAPES, Shape

SMALL = (Shape(2, 9, 3, 5), Shape(1, 70, 2, 8))


def by_hand(shape):
    """y (B,T,D) and gradients in double precision, one power and one lag after the other."""
    layer, (u, dy) = shape.layer(), shape.signals()
    leaves = [p.detach().double().requires_grad_() for p in (u, layer.root_decay, layer.frequency, layer.W, layer.skip)]
    u, re, im, W, skip = leaves
    rows = []
    for k in range(shape.T):
        size, angle = torch.exp(-(re**2) * k), im * k
        rows.append((W[0, ..., 0] * size * torch.cos(angle) - W[0, ..., 1] * size * torch.sin(angle)).sum(-1))
    K = torch.stack(rows)  # (T, D)
    y = torch.stack([sum(K[t - s] * u[:, s] for s in range(t + 1)) for t in range(shape.T)], 1) + skip * u
    return y.detach(), *torch.autograd.grad(y, leaves, dy.double())


@pytest.mark.parametrize("shape", SMALL, ids=lambda shape: shape.name)
@pytest.mark.parametrize("name", ["ours", "listing"])
def test_both_compute_the_same(name, shape):
    forward, both = dlr.prepare(shape)[name]
    wanted = by_hand(shape)
    y, du, *weights = both()
    if name == "listing":
        y, du = y.mT, du.mT
    assert torch.equal(forward().mT if name == "listing" else forward(), y)
    for got, right in zip((y, du, *weights), wanted):
        np.testing.assert_allclose(got, right, atol=2e-5 * float(right.abs().max()))


def test_a_ring_that_is_too_short_is_noticed(monkeypatch):
    """An FFT of length T instead of 2T."""
    right = dlr.listing

    def circular(u, *weights):
        K = right(torch.eye(1, u.shape[-1]).expand(1, u.shape[1], -1), *weights)  # the impulse response, skip included
        return torch.fft.irfft(torch.fft.rfft(K) * torch.fft.rfft(u), u.shape[-1])

    monkeypatch.setattr(dlr, "listing", circular)
    y, *_ = dlr.prepare(SMALL[1])["listing"][1]()
    assert float((y.mT - by_hand(SMALL[1])[0]).abs().max()) > 1e-2


def test_the_shape_of_the_paper():
    assert SHAPES[0] == Shape(16, 4096, 128, 4096)  # Table 7
    layer = Shape(1, 1, 3, 7).layer()
    assert layer.recurrent_parameters == ("root_decay", "frequency", "W") and layer.kind == "real"
    assert torch.equal(layer.W, Shape(2, 2, 3, 7).layer().W)  # the same every time
    np.testing.assert_allclose(2 * layer.root_decay.detach().square(), 1e-5, rtol=1e-5)


def test_a_shape_is_timed_and_compared():
    before = torch.get_num_threads()
    found = dlr.measure(SMALL[0], rounds=3)["peers"]
    assert torch.get_num_threads() == before
    for part in ("forward", "both"):
        ours, listing = found["ours"][part], found["listing"][part]
        assert ours["times_ours"] == 1 and listing["times_ours"] == listing["median"] / ours["median"]
        assert ours["rounds"] == 3 and 0 < ours["min"] <= ours["median"] <= ours["max"]
    text = dlr.report(SMALL[0].name, {"peers": found})
    assert SMALL[0].name in text and "listing" in text and len(text.splitlines()) == 3
    found["ours"]["peak"] = None
    assert "MB" not in dlr.report(SMALL[0].name, {"peers": found}).splitlines()[1]


def test_wrong_calls():
    with pytest.raises(ValueError, match="no case with 'T=5' in its name; there are B=2 T=9 D=3 N=5"):
        dlr.bench(shapes=SMALL).chosen("T=5")
    with pytest.raises(ValueError, match="threads must be 1..*, got 0"):
        dlr.measure(SMALL[0], threads=0)


def test_ours_is_faster_and_smaller():
    """At a size that shows it in a second; the record holds the paper's."""
    found = dlr.measure(Shape(1, 2048, 8, 2048), rounds=2)["peers"]
    assert found["listing"]["both"]["times_ours"] > 1.5
    if found["ours"]["peak"] is not None:
        assert found["listing"]["peak"] > 2 * found["ours"]["peak"]
