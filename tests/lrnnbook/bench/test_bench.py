"""The benchmark of the scans: every peer computes the same thing, and what is reported follows from what was timed."""

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from lrnnbook.machinery.bench import delta, dlr, peers, scans, steps
from lrnnbook.machinery.bench.cases import Case
from lrnnbook.machinery.bench.recording import summary

SMALL = (
    Case("block", 3, 9, 2, 4), Case("table", 3, 9, 2, 4), Case("constant", 3, 9, 2, 4), Case("real", 3, 9, 5),
    Case("complex", 3, 9, 5), Case("constant_real", 3, 9, 5),
)  # fmt: skip


def loop(case, inputs):
    """States and gradients in double precision, by a loop written here."""
    A, b, tokens, dx = (torch.from_numpy(inputs[name]) for name in ("A", "b", "tokens", "dx"))
    wide = torch.complex128 if A.is_complex() else torch.float64
    A, b = (v.to(wide).requires_grad_() for v in (A, b))
    x, states = torch.zeros(dx[:, 0].shape, dtype=wide), []
    for t in range(case.T):
        A_t = A[tokens[:, t]] if case.kind == "table" else A if case.constant else A[:, t]
        b_t = b[tokens[:, t]] if case.kind == "table" else b[:, t]
        x = (A_t * x if case.diagonal else (A_t * x[..., None, :]).sum(-1)) + b_t
        states.append(x)
    x = torch.stack(states, 1)
    return x.detach(), *torch.autograd.grad(x, (A, b), dx.to(wide))


@pytest.mark.parametrize("case", SMALL, ids=lambda case: case.kind)
@pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.thorough if {"compile", "native"} & {*name.replace(".", " ").split()} else ())  # half a minute
                                  for name, peer in peers.PEERS.items() if "cpu" in peer.devices])
def test_every_peer_computes_the_same(name, case):
    if name not in peers.installed():
        pytest.skip(peers.absent().get(name) or f"{name} is not installed: pip install 'lrnnlab[peers]'")
    if case.kind not in peers.PEERS[name].kinds:
        assert (name, case.diagonal) == ("torch-slices", True) or "compile" in name or "accelerated" in name
        return
    inputs = case.inputs()
    forward, both, *rest = peers.PEERS[name].prepare(case, inputs, "cpu")
    want = loop(case, inputs)
    for got, right in zip([forward(), *both()], [want[0], *want]):
        np.testing.assert_allclose(np.asarray(got), right.numpy(), atol=2e-5 * float(right.abs().max()))
    for backward in rest:
        for got, right in zip(backward(), want[1:]):
            np.testing.assert_allclose(np.asarray(got), right.numpy(), atol=2e-5 * float(right.abs().max()))


@pytest.mark.parametrize("form", delta.FORMS)
def test_every_form_of_the_delta_rule_computes_the_same(form):
    """Beside a loop in double precision; the naive forms have heads first."""
    shape = steps.Shape(2, 64, 12, 3)
    given = delta.prepare(shape, "sequential")[0].__wrapped__.args
    q, k, v, beta = (x.detach().double().requires_grad_() for x in given)
    W, outputs = torch.zeros(2, 3, 4, 4, dtype=torch.float64), []
    for t in range(64):
        error = v[:, t] - torch.einsum("bhvk,bhk->bhv", W, k[:, t])
        W = W + beta[:, t, :, None, None] * torch.einsum("bhv,bhk->bhvk", error, k[:, t])
        outputs.append(torch.einsum("bhvk,bhk->bhv", W, q[:, t]))
    y = torch.stack(outputs, 1)
    dy = torch.randn(4, 2, 64, 3, 4, generator=torch.Generator().manual_seed(0))[3].double()
    want = [y.detach(), *torch.autograd.grad(y, (q, k, v, beta), dy)]
    forward, both = delta.prepare(shape, form)
    for got, right in zip([forward(), *both()], [want[0], *want]):
        got = got.transpose(1, 2) if form.startswith("fla naive") else got
        torch.testing.assert_close(got.double(), right, rtol=0, atol=2e-5 * float(right.abs().max()))


@pytest.fixture
def small_copy(monkeypatch):
    """The real one copies half a gigabyte, round by round."""
    monkeypatch.setattr(scans, "COPY", 1 << 20)


def test_a_case_is_timed_and_compared(small_copy):
    case = Case("block", 2, 40, 1, 2)
    found = scans.measure(case, ["ours", "loop (unbind)"], rounds=3)
    ours, loop_ = found["peers"]["ours"], found["peers"]["loop (unbind)"]
    assert ours["forward"]["times_ours"] == 1 and ours["forward"]["rounds"] == 3 and "backward" not in loop_
    assert loop_["both"]["times_ours"] == pytest.approx(loop_["both"]["median"] / ours["both"]["median"])
    speed = found["copy_bytes_per_second"]
    floor = case.bytes_forward() + case.bytes_backward()
    assert ours["both"]["share"] == pytest.approx(floor / ours["both"]["median"] / speed)
    assert "ours" in scans.report(case.name, found) and "GB/s" in scans.report(case.name, found)


@pytest.mark.parametrize("native", [True, False])
def test_torchs_own_scan_is_a_row_where_torch_has_one(native, small_copy, monkeypatch):
    """Where it has none, the table says so."""
    case = Case("block", 2, 40, 1, 2)
    monkeypatch.setattr(peers, "NATIVE", native)
    monkeypatch.setattr(scans, "CASES", (case,))
    assert ("torch native" in peers.installed()) == (native and "torch.compile loop" in peers.installed())
    monkeypatch.setattr(peers, "installed", lambda device: ["ours"])
    found = scans.scans(rounds=1).cases[case.name]()
    assert ("torch native" in found["peers"]) != native
    assert ("not run: torch " in scans.report(case.name, found)) != native


@pytest.mark.thorough  # the compiler takes half a minute
def test_torchs_own_scan_compiled_is_right():
    """The row, also where torch has no kernel: there it is compiled from a tree."""
    case = Case("real", 2, 5, 3)
    inputs = case.inputs()
    forward, both = peers.PEERS["torch native"].prepare(case, inputs, "cpu")
    want = loop(case, inputs)
    for got, right in zip([forward(), *both()], [want[0], *want]):
        np.testing.assert_allclose(got.numpy(), right.numpy(), atol=2e-5 * float(right.abs().max()))


def test_what_takes_too_long_or_too_much_is_said_and_not_done(monkeypatch, small_copy):
    case = Case("real", 2, 96, 3)
    found = scans.measure(case, ["loop (unbind)"], rounds=1, limit=0.0)
    assert found["peers"]["loop (unbind)"]["skipped"].startswith("would take about")
    assert "not run: would take" in scans.report(case.name, found)
    if scans.free_memory() is not None:
        monkeypatch.setattr(scans, "free_memory", lambda device: 0)
        monkeypatch.setattr(scans, "peak_memory", lambda work, device: 5e9)
        found = scans.measure(case, ["loop (unbind)"], rounds=1)
        assert found["peers"]["loop (unbind)"]["skipped"] == "would need about 15 GB"


def test_the_step_is_timed_on_every_backend():
    taken = steps.released_step("sum", rounds=2)
    assert {name: len(seconds) for name, seconds in taken.items()} == {"reference": 2, "paper": 2, "cpu": 2}
    assert "1.0x" in steps.step().report("sum", {"forms": summary(taken)}) and list(taken)[0] == "cpu"


LAYERS = (dlr.Shape(2, 9, 3, 5), dlr.Shape(1, 70, 2, 8))


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


@pytest.mark.parametrize("shape", LAYERS, ids=lambda shape: shape.name)
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


def test_our_layer_is_faster_and_smaller():
    """At a size that shows it in a second; the record holds the paper's."""
    found = dlr.measure(dlr.Shape(1, 2048, 8, 1024), rounds=1)["peers"]
    assert found["listing"]["both"]["times_ours"] > 1.5
    if found["ours"]["peak"] is not None:
        assert found["listing"]["peak"] > 2 * found["ours"]["peak"]


@pytest.mark.parametrize("name", [name for name, forms in steps.FORMS.items() if len(forms) > 1])
def test_all_forms_take_the_same_step(name):
    found = []
    for form in steps.FORMS[name]:
        model = steps.Shape(3, 9, 4, 2).model(name).double()
        steps.set_form(model, form)
        tokens, labels = torch.randint(2, (2, 3, 9), generator=torch.Generator().manual_seed(0))
        F.cross_entropy(model(tokens).flatten(0, 1), labels.flatten()).backward()
        found.append(torch.cat([p.grad.flatten() for p in model.parameters()]))
    for other in found[1:]:
        torch.testing.assert_close(found[0], other, rtol=0, atol=1e-10)
    assert found[0].abs().max() > 1e-3
