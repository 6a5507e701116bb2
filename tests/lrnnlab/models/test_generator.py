"""A block layer in one pass beside its parts: values, gradients, threads, and who takes it."""

import pytest
import torch
from torch.nn import functional as F

from lrnnlab.models import build
from lrnnlab.models.kernels import generator
from lrnnlab.scans import softmax_scan
from lrnnlab.scans.kernels import threads as parts

pytest.importorskip("numba")
NAMES = ("z", "W1", "b1", "W2", "b2", "x0")


def draw(B, T, h, n, dtype=torch.float64, width=6, hidden=7):
    random = torch.Generator().manual_seed(B * 1000 + T)
    shapes = ((B, T, width), (hidden, width), (hidden,), (n * h * n, hidden), (n * h * n,), (B, h, n))
    return [torch.randn(shape, generator=random, dtype=torch.float64).to(dtype) for shape in shapes]


def plain(z, W1, b1, W2, b2, x0):
    """The parts, one after the other; the scan is the loop."""
    raw = F.linear(F.linear(z, W1, b1).relu(), W2, b2).unflatten(-1, (x0.shape[2], -1, x0.shape[2]))
    return softmax_scan(raw, x0, backend="reference")


def fused(*given):
    return generator.GeneratedScan.apply(*given, True)


def all_of(function, given, which="xA"):
    """A, x and the gradients of a sum over those in ``which``."""
    leaves = [part.clone().requires_grad_() for part in given]
    A, x = function(*leaves)
    slopes = [torch.randn(v.shape, generator=torch.Generator().manual_seed(5), dtype=torch.float64).to(v) for v in (A, x)]
    score = sum((v * slope).sum() for name, v, slope in zip("Ax", (A, x), slopes) if name in which)
    return [A.detach(), x.detach(), *torch.autograd.grad(score, leaves, allow_unused=which == "A")]


@pytest.mark.parametrize("which", ["x", "A", "xA"])
@pytest.mark.parametrize("B, T, h, n", [(1, 1, 1, 1), (3, 5, 2, 3), (2, 700, 1, 4), (40, 41, 3, 8), (2, 9, 2, 16)])
@pytest.mark.parametrize("dtype, most", [(torch.float64, 1e-13), (torch.float32, 2e-5)])
def test_values_and_gradients_are_those_of_the_parts_in_float64(B, T, h, n, dtype, most, which):
    given = draw(B, T, h, n, dtype)
    for name, found, wanted in zip(("A", "x", *NAMES), all_of(fused, given, which), all_of(plain, [v.double() for v in given], which)):
        if wanted is None:  # x_0 has no part in A
            assert found is None or not found.any()
            continue
        assert found.dtype == dtype
        assert (found - wanted).abs().max() <= most * max(1, wanted.abs().max()), name


def test_finite_differences():
    given = [v.requires_grad_() for v in draw(2, 4, 2, 3)]
    assert torch.autograd.gradcheck(fused, given)


def test_threads_do_not_change_a_number():
    given, runs = draw(64, 40, 8, 8, torch.float32, 64, 64), []
    for number in (1, 2, 5):
        torch.set_num_threads(number)
        runs.append(all_of(fused, given))
    assert parts._pool.cache_info().currsize > 0  # they were used
    assert all(torch.equal(a, b) for other in runs[1:] for a, b in zip(runs[0], other))


def test_without_onednn_the_numbers_are_the_same_but_for_rounding(monkeypatch):
    given = draw(6, 50, 4, 8, torch.float32)
    one = all_of(fused, given)
    monkeypatch.setattr(generator, "ONE_DNN", False)
    assert all((a - b).abs().max() <= 1e-5 * max(1, b.abs().max()) for a, b in zip(one, all_of(fused, given)))


@pytest.mark.parametrize("frozen", [(), (0, 3)])
def test_a_net_takes_it_and_says_what_it_said(frozen, monkeypatch):
    """The second layer's forward pass, states, transitions and gradients, with heads frozen too; the step form agrees."""
    net = build("block_diagonal", vocab_size=4, classes=3, layers=2, h=4, b=4, rule="softmax", drive="none", start="first", seed=1)
    heads = torch.zeros(4, dtype=torch.bool)
    heads[list(frozen)] = True
    for layer in net.layers:
        layer.freeze(heads)
    tokens = torch.randint(4, (5, 30), generator=torch.Generator().manual_seed(2))
    taken = []
    monkeypatch.setattr(generator.GeneratedScan, "apply", lambda *given, apply=generator.GeneratedScan.apply: taken.append(1) or apply(*given))

    def found():
        trace = net.trace(tokens)
        net.zero_grad()
        (net.readout(trace.states).square().sum() + trace.transitions[1].square().sum()).backward()
        return [trace.states.detach(), trace.transitions[1].detach(), *(p.grad.clone() for p in net.parameters() if p.grad is not None)]

    ours = found()
    assert len(taken) == 1  # the first layer reads a table of symbols
    net.layers[1].backend = "reference"
    assert all((a - b).abs().max() <= 1e-4 * max(1, b.abs().max()) for a, b in zip(ours, found()))
    assert len(taken) == 1


def test_a_second_derivative_is_refused():
    given = [v.requires_grad_() for v in draw(2, 4, 2, 3)]
    torch.autograd.grad(fused(*given)[1].square().sum(), given[:1], retain_graph=True)
    with pytest.raises(RuntimeError, match="create_graph=True: GeneratedScan has first derivatives only"):
        torch.autograd.grad(fused(*given)[1].square().sum(), given[:1], create_graph=True)
