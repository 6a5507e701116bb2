"""Softmax and scan in one pass, against torch's softmax and a loop in float64, in value and in gradient."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from lrnnlab.models.layers import BlockDiagonal
from lrnnlab.scans import backends, softmax_scan
from lrnnlab.scans.kernels import threads
from lrnnlab.scans.kernels.dispatch import MAX_FUSED_BLOCK

f32, f64 = torch.float32, torch.float64
SIZES = (*range(1, 10), 16)
KINDS = {f32: 2e-5, f64: 1e-12}


def plain(raw, x0):
    """The formula, for autograd."""
    A, x, out = raw.softmax(2), x0, []
    for t in range(raw.shape[1]):
        x = torch.einsum("bihj,bhj->bhi", A[:, t], x)
        out.append(x)
    return A, torch.stack(out, 1)


def draw(B, T, h, n, dtype=f64, spread=2.0, seed=0):
    generator = torch.Generator().manual_seed(seed)
    raw = spread * torch.randn(B, T, n, h, n, dtype=f64, generator=generator)
    return raw.to(dtype), torch.randn(B, h, n, dtype=f64, generator=generator).to(dtype)


def all_of(scan, raw, x0, which, dtype=None):
    """A, x and the gradients of a score that uses x, A, or both."""
    leaves = [v.detach().to(dtype or v.dtype).requires_grad_() for v in (raw, x0)]
    A, x = scan(*leaves)
    generator = torch.Generator().manual_seed(7)
    weights = {name: torch.randn(v.shape, dtype=f64, generator=generator) for name, v in (("x", x), ("A", A))}
    score = sum((v * weights[name].to(v.dtype)).sum() for name, v in (("x", x), ("A", A)) if name in which)
    gradients = torch.autograd.grad(score, leaves, allow_unused=True)
    return [A.detach(), x.detach(), *(torch.zeros_like(v) if g is None else g for g, v in zip(gradients, leaves))]


def close(found, wanted, tolerance):
    for got, want in zip(found, wanted, strict=True):
        assert got.shape == want.shape
        if not want.numel():
            continue
        error, scale = (got.to(f64) - want).abs().max().item(), 1 + want.abs().max().item()
        assert error <= tolerance * scale, f"off by {error:.3g}, largest entry {scale - 1:.3g}"


@settings(max_examples=30)
@given(
    B=st.integers(1, 3), T=st.integers(1, 6), h=st.integers(1, 4),
    size=st.sampled_from([(3, f32), (8, f32), *((n, f64) for n in SIZES)]),  # each is compiled: mostly double
    which=st.sampled_from(["x", "A", "xA"]), seed=st.integers(0, 99),
)  # fmt: skip
def test_value_and_gradient(B, T, h, size, which, seed):
    n, dtype = size
    raw, x0 = draw(B, T, h, n, dtype, seed=seed)
    found = all_of(lambda *given: softmax_scan(*given, backend="cpu"), raw, x0, which)
    close(found, all_of(plain, raw, x0, which, f64), KINDS[dtype])
    assert all(v.dtype == dtype for v in found)


@pytest.mark.parametrize("backend", [name for name in (*backends(), "auto") if name != "triton"])
@pytest.mark.parametrize("T", [1, 2, 3, 40])
def test_every_backend_gives_the_same(backend, T):
    raw, x0 = draw(2, T, 3, 5)
    close(
        all_of(lambda *given: softmax_scan(*given, backend=backend), raw, x0, "xA"), all_of(plain, raw, x0, "xA"), 1e-12
    )


def test_the_fused_operator_is_what_auto_takes():
    def function(*shape, **kind):
        raw, x0 = draw(*shape, **kind)
        return softmax_scan(raw.requires_grad_(), x0)[1].grad_fn.name()

    assert function(2, 5, 1, 4) == "SoftmaxScanBackward" == function(2, 5, 1, 8, dtype=f32)
    assert function(2, 5, 1, MAX_FUSED_BLOCK + 1) == "ScanBackward" and function(2, 1, 1, 4) == "StackBackward0"


@pytest.mark.parametrize("dtype", [f32, f64])
def test_the_exponential(dtype):
    """Against NumPy's long double: three units in the last place, over all that is not denormal; then zero."""
    least = np.log(torch.finfo(dtype).tiny)
    fall = torch.linspace(float(least) * 0.999, 0, 20_000, dtype=dtype)
    raw = torch.zeros(1, len(fall), 2, 1, 2, dtype=dtype)
    raw[0, :, 0, 0, 0], raw[0, :, 1, 0, 1] = fall, 1000 + fall
    raw[0, :, 0, 0, 1] = 1000
    A, _ = softmax_scan(raw, backend="cpu")
    wide = raw.numpy().astype(np.longdouble)
    powers = np.exp(wide - wide.max(2, keepdims=True))
    wanted = powers / powers.sum(2, keepdims=True)
    assert np.abs(A.numpy() / wanted - 1).max() <= 3 * torch.finfo(dtype).eps
    raw[0, :, 0, 0, 0] -= abs(float(least))
    assert not softmax_scan(raw, backend="cpu")[0][0, :-20, 0, 0, 0].any()


SPECIAL = [1e4, -1e4, 3e38, -3e38, 0.0, 1.0, float("-inf"), float("inf"), float("nan")]


@pytest.mark.parametrize("dtype", [f32, f64])
@pytest.mark.parametrize("n", [1, 3, 8])
def test_extreme_numbers_do_what_they_do_in_torch(n, dtype):
    generator = torch.Generator().manual_seed(n)
    raw = torch.tensor(SPECIAL, dtype=dtype)[torch.randint(len(SPECIAL), (40, 9, n, 2, n), generator=generator)]
    A, x = softmax_scan(raw, torch.ones(40, 2, n, dtype=dtype), backend="cpu")
    torch.testing.assert_close(A, raw.softmax(2), equal_nan=True, rtol=1e-6, atol=1e-37)
    assert (A.isnan().any() or n == 1) and A.isfinite().any()
    torch.testing.assert_close(x, plain(raw, torch.ones(40, 2, n, dtype=dtype))[1], equal_nan=True)


@pytest.mark.parametrize("dtype", [f32, f64])
def test_gradients_stay_finite_where_the_softmax_is_saturated(dtype):
    raw, x0 = draw(2, 6, 2, 3, dtype)
    raw[:, 1] *= 1e4
    raw[:, 3, 2] = float("-inf")  # a row that no column takes
    raw[:, 4, :, 0] = torch.eye(3, dtype=dtype) * 2e4 - 1e4
    found = all_of(lambda *given: softmax_scan(*given, backend="cpu"), raw, x0, "xA")
    close(found, all_of(plain, raw, x0, "xA", f64), KINDS[dtype])
    assert not found[2][:, 3, 2].any() and not found[2][:, 4, :, 0].any()


def test_a_broken_string_breaks_alone():
    raw, x0 = draw(3, 9, 2, 8)
    raw[1, 4, 3, 1, 5] = float("nan")
    A, x, draw_, dx0 = all_of(lambda *given: softmax_scan(*given, backend="cpu"), raw, x0, "xA")
    clean = torch.ones(3, 9, 2, dtype=torch.bool)
    clean[1, 4:, 1] = False
    assert torch.equal(x.isnan().any(-1), ~clean)
    assert A.isnan().any(2).nonzero().tolist() == [[1, 4, 1, 5]]
    assert draw_[[0, 2]].isfinite().all() and draw_[1, :, :, 0].isfinite().all() and dx0[[0, 2]].isfinite().all()


def test_threads_do_not_change_a_number():
    before = torch.get_num_threads()
    try:
        for B in (1, 16):  # parts of the blocks, and of the batch
            raw, x0 = draw(B, threads.MIN_CUT_SUM // (16 * 8 * 64) * 16 // B + 1, 8, 8, f32)
            runs = []
            for number in (1, 2, 3):
                torch.set_num_threads(number)
                runs.append(all_of(lambda *given: softmax_scan(*given, backend="cpu"), raw, x0, "xA"))
            assert all(torch.equal(p, q) for other in runs[1:] for p, q in zip(runs[0], other))
    finally:
        torch.set_num_threads(before)


@pytest.mark.parametrize(
    "shape, x0, message",
    [
        ((2, 3, 4, 4), None, r"raw \(B,T,n,h,n\), x0 \(B,h,n\), got raw \(2, 3, 4, 4\)"),
        ((2, 3, 4, 1, 5), None, r"got raw \(2, 3, 4, 1, 5\)"),
        ((2, 3, 4, 1, 4), (1, 1, 4), r"raw \(2, 3, 4, 1, 4\), x0 \(1, 1, 4\)"),
    ],
)
def test_wrong_shapes(shape, x0, message):
    with pytest.raises(ValueError, match=message):
        softmax_scan(torch.zeros(shape), None if x0 is None else torch.zeros(x0))
    with pytest.raises(ValueError, match="real floating numbers, got torch.int64"):
        softmax_scan(torch.zeros(1, 2, 3, 1, 3, dtype=torch.int64))


def test_under_the_compiler():
    raw, x0 = draw(2, 5, 2, 3)
    torch.compiler.reset()
    compiled = torch.compile(softmax_scan, backend="aot_eager", fullgraph=True)
    close(all_of(compiled, raw, x0, "xA"), all_of(plain, raw, x0, "xA"), 1e-12)


@settings(deadline=None, max_examples=25)
@given(
    h=st.integers(1, 4), b=st.integers(1, 9), T=st.integers(1, 7), frozen=st.integers(0, 15),
    start=st.sampled_from(["learned", "first"]), pure=st.booleans(), seed=st.integers(0, 99),
)  # fmt: skip
def test_a_layer_equals_its_formula(h, b, T, frozen, start, pure, seed):
    """With frozen heads, and with a score that also looks at A; every parameter's gradient, in float64."""
    torch.manual_seed(seed)
    layer = BlockDiagonal(h, b, rule="softmax", drive="none", start=start, hidden=6).double()
    layer.freeze(torch.tensor([bool(frozen >> head & 1) for head in range(h)]))
    z = torch.randn(2, T, h * b, dtype=f64)

    def score(backend):
        layer.backend = backend
        layer.zero_grad()
        A, x = layer(z)
        value = (x * torch.linspace(-1, 1, x.numel(), dtype=f64).view(x.shape)).sum()
        (value + (A.pow(3).sum() if pure else 0)).backward()
        return [A.detach(), x.detach(), *(p.grad for p in layer.parameters() if p.grad is not None)]

    close(score("auto"), score("reference"), 1e-11)
