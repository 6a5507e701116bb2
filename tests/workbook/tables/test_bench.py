"""The benchmark of the scans: every peer computes the same thing, and what is reported follows from what was timed."""

import numpy as np
import pytest
import torch

from workbook import cli
from workbook.bench import memory, peers, scans, step
from workbook.bench.cases import CASES, Case
from workbook.bench.recording import summary

SMALL = (
    Case("block", 3, 9, 2, 4), Case("table", 3, 9, 2, 4), Case("constant", 3, 9, 2, 4), Case("real", 3, 9, 5),
    Case("complex", 3, 9, 5),
)  # fmt: skip


def loop(case, inputs):
    """States and gradients in double precision, by a loop written here."""
    A, b, tokens, dx = (torch.from_numpy(inputs[name]) for name in ("A", "b", "tokens", "dx"))
    wide = torch.complex128 if A.is_complex() else torch.float64
    A, b = (v.to(wide).requires_grad_() for v in (A, b))
    x, states = torch.zeros(dx[:, 0].shape, dtype=wide), []
    for t in range(case.T):
        A_t = A[tokens[:, t]] if case.kind == "table" else A if case.kind == "constant" else A[:, t]
        b_t = b[tokens[:, t]] if case.kind == "table" else b[:, t]
        x = (A_t * x if case.diagonal else (A_t * x[..., None, :]).sum(-1)) + b_t
        states.append(x)
    x = torch.stack(states, 1)
    return x.detach(), *torch.autograd.grad(x, (A, b), dx.to(wide))


@pytest.mark.parametrize("case", SMALL, ids=lambda case: case.kind)
@pytest.mark.parametrize("name", list(peers.installed()))
def test_every_peer_computes_the_same(name, case):
    if not peers.installed()[name]:
        pytest.skip(f"{name} is not installed: pip install 'lrnnlab[peers]'")
    if not peers.scans_kind(name, case):
        assert (name, case.diagonal) == ("torch-slices", True)
        return
    inputs = case.inputs()
    forward, both, *rest = peers.prepare(name, case, inputs)
    want = loop(case, inputs)
    for got, right in zip([forward(), *both()], [want[0], *want]):
        np.testing.assert_allclose(np.asarray(got), right.numpy(), atol=2e-5 * float(right.abs().max()))
    for backward in rest:
        for got, right in zip(backward(), want[1:]):
            np.testing.assert_allclose(np.asarray(got), right.numpy(), atol=2e-5 * float(right.abs().max()))


def test_bytes_that_must_move():
    """Counted by hand for one step of one block, eight by eight, in single precision (as scans.md does)."""
    assert Case("block", 1, 1, 1, 8).bytes_forward() == 320 and Case("block", 1, 1, 1, 8).bytes_backward() == 608
    one = Case("block", 3, 7, 2, 5)
    given = one.inputs()
    assert one.bytes_forward() == given["A"].nbytes + 2 * given["b"].nbytes
    assert one.bytes_backward() == 2 * given["A"].nbytes + 3 * given["b"].nbytes
    for kind in ("real", "complex"):
        one = Case(kind, 3, 7, 5)
        given = one.inputs()
        assert one.bytes_forward() == given["A"].nbytes + 2 * given["b"].nbytes
    table = Case("table", 3, 7, 2, 5)
    given = table.inputs()
    assert table.bytes_forward() == given["dx"].nbytes + given["tokens"].nbytes


def test_cases_are_those_of_the_papers_and_more():
    names = {case.name for case in CASES}
    assert len(names) == len(CASES)
    assert {f"block B={B} T={T} h=8 b={b}" for b in (2, 4, 8, 16)
            for B, T in ((128, 40), (128, 500), (128, 4096), (1, 16384))} <= names  # fmt: skip
    assert {"real B=16 T=4096 D=256", "complex B=16 T=4096 D=256"} <= names


def test_a_case_is_timed_and_compared():
    case = Case("block", 2, 40, 1, 2)
    (found,) = scans.run([case], ["ours", "loop (unbind)"], rounds=3)
    ours, loop_ = found["peers"]["ours"], found["peers"]["loop (unbind)"]
    assert ours["forward"]["times_ours"] == 1 and ours["forward"]["rounds"] == 3 and "backward" not in loop_
    assert loop_["both"]["times_ours"] == pytest.approx(loop_["both"]["median"] / ours["both"]["median"])
    speed = found["copy_bytes_per_second"]
    floor = case.bytes_forward() + case.bytes_backward()
    assert ours["both"]["share"] == pytest.approx(floor / ours["both"]["median"] / speed)
    assert "ours" in scans.report(case.name, found) and "GB/s" in scans.report(case.name, found)


def test_what_takes_too_long_or_too_much_is_said_and_not_done(monkeypatch):
    case = Case("real", 2, 64, 3)
    (found,) = scans.run([case], ["loop (unbind)"], rounds=1, limit=0.0)
    assert found["peers"]["loop (unbind)"]["skipped"].startswith("would take about")
    assert "not run: would take" in scans.report(case.name, found)
    if memory.free() is not None:
        monkeypatch.setattr(memory, "free", lambda device: 0)
        monkeypatch.setattr(memory, "peak", lambda work, device: 5e9)
        (found,) = scans.run([case], ["loop (unbind)"], rounds=1)
        assert found["peers"]["loop (unbind)"]["skipped"] == "would need about 10 GB"


def test_inputs_that_other_peers_hold_take_room(monkeypatch):
    case = Case("real", 2, 64, 3)
    size = sum(part.nbytes for part in case.inputs().values())
    monkeypatch.setattr(memory, "free", lambda device: 2 * size + 1000)
    monkeypatch.setattr(memory, "peak", lambda work, device: 100)
    (found,) = scans.run([case], ["ours", "loop (unbind)"], rounds=1)
    assert "skipped" not in found["peers"]["ours"] and found["peers"]["loop (unbind)"]["skipped"].startswith("would need")


def test_slow_calls_are_repeated_less(monkeypatch):
    clock = iter(range(0, 1000, 3))
    monkeypatch.setattr(scans.time, "perf_counter", lambda: next(clock))
    assert {name: len(taken) for name, taken in scans.take_turns({"a": int, "b": str}, 5).items()} == {"a": 2, "b": 2}


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["--only", "b=3"], "no case with 'b=3'"),
        (["--only", "complex", "--threads", "9999"], "threads must be 1"),
    ],
)
def test_wrong_calls(arguments, message, capsys):
    assert cli.main(["bench", "scans", *arguments]) == 2
    assert message in capsys.readouterr().err


def test_an_unknown_peer():
    with pytest.raises(ValueError, match="no peer 'fast'; there are ours,"):
        next(scans.run([SMALL[0]], ["fast"]))


def test_the_step_is_timed_on_every_backend():
    taken = step.training_step("sum", rounds=2)
    assert {name: len(seconds) for name, seconds in taken.items()} == {"reference": 2, "paper": 2, "cpu": 2}
    assert "1.0x" in step.bench().report("sum", {"forms": summary(taken)}) and list(taken)[0] == "cpu"
