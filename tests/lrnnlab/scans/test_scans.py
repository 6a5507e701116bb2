"""Every scan backend against a float64 loop written here, in value and in gradient; and the papers' own listings."""

import os
import signal
import subprocess
import sys
import time
import warnings
from functools import cache

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from lrnnlab.scans import backends, linear_scan, paper, softmax_scan, token_scan
from lrnnlab.scans.kernels import cpu
from lrnnlab.scans.kernels import threads as parts

BACKENDS = tuple(name for name in backends() if name != "triton")  # the GPU has tests of its own
ALL = (*BACKENDS, "auto")
SIZES = (1, 2, 3, 4, 5, 8, 16, 25)
LENGTHS = (1, 2, 3, 63, 100, 257)
KINDS = (*SIZES, "real", "complex")  # a block size, or a kind of diagonal
f64, f32, c128, c64 = torch.float64, torch.float32, torch.complex128, torch.complex64


def plain(A, b, x0):
    """The same loop for autograd."""
    x, out = x0, []
    for t in range(b.shape[1]):
        x = (torch.einsum("bhij,bhj->bhi", A[:, t], x) if A.ndim == 5 else A[:, t] * x) + b[:, t]
        out.append(x)
    return torch.stack(out, 1)


def draw(kind, T, B=2, h=2, seed=0, dtype=None, like=()):
    """Random (A, b, x0) in double precision; ``like`` replaces (B, T) by other leading sizes for A and b."""
    generator = torch.Generator().manual_seed(seed)
    lead = like or (B, T)
    if isinstance(kind, int):
        A = torch.randn(*lead, h, kind, kind, dtype=f64, generator=generator) * (0.8 / kind**0.5)
        b = torch.randn(*lead, h, kind, dtype=f64, generator=generator)
        return A, b, torch.randn(B, h, kind, dtype=f64, generator=generator)
    dtype = f64 if kind == "real" else c128
    A, b = (torch.randn(*lead, 3 * h, dtype=dtype, generator=generator) for _ in range(2))
    return 0.9 * A / A.abs().clamp(min=1), b, torch.randn(B, 3 * h, dtype=dtype, generator=generator)


def weights(like):
    """What to multiply the states by before summing, so that every state matters differently."""
    wide = c128 if like.is_complex() else f64
    return torch.randn(like.shape, dtype=wide, generator=torch.Generator().manual_seed(99)).to(like.dtype)


def value_and_gradients(scan, inputs):
    leaves = [v.detach().clone().requires_grad_() for v in inputs]
    x = scan(*leaves)
    score = (x * weights(x)).sum()
    gradients = torch.autograd.grad(score.real if score.is_complex() else score, leaves)
    return [x.detach(), *gradients]


@cache
def expected(kind, T):
    inputs = draw(kind, T)
    return inputs, value_and_gradients(plain, inputs)


def close(got, want, tolerance=1e-10):
    assert got.shape == want.shape
    if want.numel():
        error = (got.to(want.dtype) - want).abs().max().item()
        scale = 1 + want.abs().max().item()
        assert error <= tolerance * scale, f"off by {error:.3g} where the largest entry is {scale - 1:.3g}"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("backend", BACKENDS)
def test_value_and_gradient(backend, kind):
    for T in LENGTHS[: 5 if kind in (16, 25) else 6]:
        inputs, wanted = expected(kind, T)
        found = value_and_gradients(lambda A, b, x0: linear_scan(A, b, x0, backend=backend), inputs)
        for got, want in zip(found, wanted):
            close(got, want)


@pytest.mark.parametrize("kind", SIZES)
@pytest.mark.parametrize("axes", [(-2, -1), (2, 3)], ids=str)
def test_blocks_stored_in_another_order(kind, axes):
    """Columns together; heads interleaved (row, head, column), as the block-diagonal layer makes them; and others."""
    for T in LENGTHS[:4]:
        (A, b, x0), wanted = expected(kind, T)
        stored = A.transpose(*axes).contiguous().transpose(*axes)
        assert torch.equal(stored, A) and (kind == 1 or T == 1 or not stored.is_contiguous())
        found = value_and_gradients(lambda A, b, x0: linear_scan(A, b, x0, backend="cpu"), (stored, b, x0))
        for got, want in zip(found, wanted):
            close(got, want)


@pytest.mark.parametrize("kind", [2, 5, 8, "real", "complex"])
@pytest.mark.parametrize("backend", BACKENDS)
def test_single_precision(backend, kind):
    inputs, wanted = expected(kind, 100)
    single = [v.to(c64 if v.is_complex() else f32) for v in inputs]
    found = value_and_gradients(lambda A, b, x0: linear_scan(A, b, x0, backend=backend), single)
    for got, want in zip(found, wanted):
        assert got.dtype == single[0].dtype
        close(got, want, 3e-6)


@pytest.mark.parametrize("kind", [1, 2, 3, 5, 8, 25, "real", "complex"])
@pytest.mark.parametrize("backend", BACKENDS)
def test_token_tables(backend, kind):
    V = 4
    A, b, x0 = draw(kind, 0, B=3, like=(V,))
    for T in (1, 2, 63, 100):
        tokens = torch.randint(V - 1, (3, T), generator=torch.Generator().manual_seed(T))  # the last symbol never comes
        wanted = value_and_gradients(lambda A, b, x0: plain(A[tokens], b[tokens], x0), (A, b, x0))
        for integers in (torch.int64, torch.int32):
            seen = tokens.to(integers)
            found = value_and_gradients(lambda A, b, x0: token_scan(A, b, seen, x0, backend=backend), (A, b, x0))
            for got, want in zip(found, wanted):
                close(got, want)
        assert not found[1][-1].any() and not found[2][-1].any()


@pytest.mark.parametrize("backend", ALL)
@pytest.mark.parametrize("kind", [3, "real", "complex"])
def test_gradients_of_one_input_alone(backend, kind):
    inputs, wanted = expected(kind, 3)
    for which in range(3):
        given = [v.clone().requires_grad_(i == which) for i, v in enumerate(inputs)]
        x = linear_scan(*given, backend=backend)
        score = (x * weights(x)).sum()
        (score.real if score.is_complex() else score).backward()
        close(given[which].grad, wanted[1 + which])


@pytest.mark.parametrize("backend", ALL)
@pytest.mark.parametrize("kind", [2, "real", "complex"])
def test_absent_x0_is_zero(backend, kind):
    A, b, x0 = draw(kind, 7)
    close(linear_scan(A, b, backend=backend), plain(A, b, torch.zeros_like(x0)))
    tokens = torch.tensor([[0, 1, 1], [1, 0, 0]])
    close(token_scan(A[0], b[0], tokens, backend=backend), plain(A[0][tokens], b[0][tokens], torch.zeros_like(x0)))


@pytest.mark.parametrize("kind", [3, "real", "complex"])
@pytest.mark.parametrize("backend", ALL)
def test_nothing_to_scan(backend, kind):
    """No steps, with gradients of zero; no strings; no blocks."""
    A, b, x0 = (v.requires_grad_() for v in draw(kind, 1))
    nothing = torch.zeros(len(b), 0, dtype=torch.int64)
    for scan, inputs in (
        (lambda A, b, x0: linear_scan(A[:, :0], b[:, :0], x0, backend=backend), (A, b, x0)),
        (lambda A, b, x0: linear_scan(A[0, 0], b[:, :0], x0, backend=backend), (A, b, x0)),
        (lambda A, b, x0: token_scan(A[:, 0], b[:, 0], nothing, x0, backend=backend), (A, b, x0)),
    ):
        found = torch.autograd.grad(scan(*inputs).abs().sum(), inputs, allow_unused=True)
        assert all(g is not None and not g.any() for g in found), backend
    no_strings = [v[:0] for v in draw(kind, 5)]
    assert linear_scan(*no_strings, backend=backend).shape == no_strings[1].shape
    for shape in ((2, 4, 0, 3), (2, 4, 1, 0)):
        A, b = torch.zeros(*shape, shape[-1]), torch.zeros(shape)
        assert linear_scan(A, b, backend=backend).shape == shape
        assert token_scan(A[0], b[0], torch.zeros(2, 4, dtype=torch.int64), backend=backend).shape == shape


@pytest.mark.parametrize("backend", ALL)
@pytest.mark.parametrize("kind", [1, 3, 5, "real", "complex"])
def test_strides_do_not_matter(backend, kind):
    inputs = draw(kind, 9)
    A, b, x0 = inputs
    block = isinstance(kind, int)
    odd = (
        A.transpose(-1, -2).contiguous().transpose(-1, -2) if block else A.transpose(0, 1).contiguous().transpose(0, 1),
        torch.stack([b, b], -1)[..., 0],  # every other number
        x0[:1].expand(x0.shape),  # stride 0
    )
    assert not odd[1].is_contiguous() and odd[2].stride(0) == 0
    same = (A, b, x0[:1].repeat(2, *[1] * (x0.ndim - 1)))
    assert all(torch.equal(p, q) for p, q in zip(odd, same))
    close(linear_scan(*odd, backend=backend), plain(*same))

    leaf = [v.clone().requires_grad_() for v in (A, b, x0[:1])]
    x = linear_scan(leaf[0], leaf[1], leaf[2].expand(x0.shape), backend=backend)
    x.abs().sum().backward()  # the gradient that arrives is itself a view
    twin = [v.clone().requires_grad_() for v in (A, b, x0[:1])]
    plain(twin[0], twin[1], twin[2].expand(x0.shape)).abs().sum().backward()
    for p, q in zip(leaf, twin):
        close(p.grad, q.grad)


def test_lazily_conjugated_tensors():
    A, b, x0 = draw("complex", 6)
    want = plain(A.conj().resolve_conj(), b, x0.conj().resolve_conj())
    for backend in ALL:
        close(linear_scan(A.conj(), b, x0.conj(), backend=backend), want)
        leaf, twin = b.clone().requires_grad_(), b.clone().requires_grad_()
        linear_scan(A, leaf, x0, backend=backend).conj().sum().abs().backward()
        plain(A, twin, x0).conj().sum().abs().backward()
        close(leaf.grad, twin.grad)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("kind", [1, 2, 5, 8, "real", "complex"])
@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_a_chain_that_breaks_breaks_alone(backend, kind, bad):
    """A NaN at token 9 of string 1, block 0, reaches no other string, no other block and no earlier token."""
    A, b, x0 = draw(kind, 20)
    clean = value_and_gradients(lambda *given: linear_scan(*given, backend=backend), (A, b, x0))
    b = b.clone()
    b[1, 9, 0] = bad
    broken = value_and_gradients(lambda *given: linear_scan(*given, backend=backend), (A, b, x0))
    assert not broken[0][1, 9:, 0].isfinite().any()
    assert torch.equal(clean[0][1, :9], broken[0][1, :9])
    for before, after in zip(clean, broken):
        before, after = (v.unflatten(-1, (2, 3)) if isinstance(kind, str) else v for v in (before, after))
        blocks = 1 if before.ndim == 3 else 2  # x0 has no time
        assert torch.equal(before[0], after[0])
        assert torch.equal(before.select(blocks, 1), after.select(blocks, 1))


@settings(max_examples=40, deadline=None)
@given(
    B=st.integers(0, 3), T=st.integers(0, 40), h=st.integers(1, 3),
    kind=st.sampled_from([1, 2, 3, 4, 5, "real", "complex"]), backend=st.sampled_from(ALL),
    seed=st.integers(0, 2**31), cut=st.floats(0, 1),
)  # fmt: skip
def test_any_shape_and_any_cut(B, T, h, kind, backend, seed, cut):
    """Equal to the loop; and scanning a string is scanning its head, then its tail from the head's last state."""
    A, b, x0 = draw(kind, T, B=B, h=h, seed=seed)
    x = linear_scan(A, b, x0, backend=backend)
    close(x, plain(A, b, x0) if T else b, 1e-9)
    k = round(cut * T)
    head = linear_scan(A[:, :k], b[:, :k], x0, backend=backend)
    carried = head[:, -1] if k else x0
    tail = linear_scan(A[:, k:], b[:, k:], carried, backend=backend)
    close(torch.cat([head, tail], 1), x, 1e-9)


@pytest.mark.parametrize("B", [3, 24])
@pytest.mark.parametrize("how", [8, "interleaved", "real", "complex", "token"])
def test_results_do_not_depend_on_the_number_of_threads(B, how):
    kind = 8 if how in ("interleaved", "token") else how
    T = 1 + parts.MAX_ALONE // (B * (128 if kind == 8 else 6))  # enough multiplications for the batch to be cut into chunks
    tokens = torch.randint(5, (B, T), generator=torch.Generator().manual_seed(1))

    def scan(A, b, x0):
        if how == "token":
            return token_scan(A, b, tokens, x0, backend="cpu")
        return linear_scan(A.transpose(2, 3) if how == "interleaved" else A, b, x0, backend="cpu")

    A, b, x0 = (v.to(c64 if v.is_complex() else f32) for v in draw(kind, T, B=B, like=(5,) if how == "token" else ()))
    inputs = A.transpose(2, 3).contiguous() if how == "interleaved" else A, b, x0
    first = value_and_gradients(scan, inputs)
    for threads in (2, 3, 8):
        torch.set_num_threads(threads)
        parts._pool.cache_clear()
        assert all(torch.equal(p, q) for p, q in zip(first, value_and_gradients(scan, inputs))), f"{threads} threads"
        assert parts._pool.cache_info().currsize > 0  # they were used


@pytest.mark.parametrize("flushed", [False, True])
def test_every_thread_flushes_denormals_as_the_first_does(flushed):
    T = 1 + parts.MAX_ALONE // (16 * 128)
    A, b = torch.full((16, T, 2, 8, 8), 0.01), torch.zeros(16, T, 2, 8)  # the states fall to 0, through denormals
    torch.set_num_threads(4)
    torch.set_flush_denormal(flushed)
    try:
        for _ in range(20):  # whoever is free takes the next part
            x = linear_scan(A, b, torch.ones(16, 2, 8), backend="cpu")
            bits = x.view(torch.int32).abs()
            assert bool(((bits > 0) & (bits < 1 << 23)).any()) != flushed
    finally:
        torch.set_flush_denormal(False)


@pytest.mark.parametrize("dtype", [f32, torch.float64])
@pytest.mark.parametrize("kind", [1, 2, 3, 8, 16, "real", "complex"])
def test_gradients_written_past_the_cache_are_the_same(kind, dtype, monkeypatch):
    """As those of 16 MB and more are, where their rows fill cache lines; else (blocks of 3) in the usual way."""
    for B, T in ((2, 9), (1, 1)):
        drawn = [v.to(dtype.to_complex() if v.is_complex() else dtype) for v in draw(kind, T, B=B)]
        if kind in ("real", "complex"):  # 48 channels, that is three lines
            drawn = [v.repeat_interleave(16, -1)[..., :48].contiguous() for v in drawn]
        usual = value_and_gradients(lambda *given: linear_scan(*given, backend="cpu"), drawn)
        monkeypatch.setattr(cpu, "MIN_PAST_CACHE", 0)
        past = value_and_gradients(lambda *given: linear_scan(*given, backend="cpu"), drawn)
        monkeypatch.undo()
        assert all(torch.equal(a, b) for a, b in zip(usual, past))


@pytest.mark.thorough
@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("kind", ["real", "complex"])
def test_short_wide_scans_of_large_gradients(kind, shared):
    """So large that they are written past the cache, and by several threads; also with one A for all steps."""
    A, b, x0 = draw(kind, 32, B=32, h=1392)  # 4176 channels, 16 MB in float32
    A = A[0, 0] if shared else A
    wanted = value_and_gradients(lambda A, b, x0: plain(A.expand_as(b), b, x0), (A, b, x0))
    torch.set_num_threads(2)
    narrow = [v.to(c64 if v.is_complex() else f32) for v in (A, b, x0)]
    for got, want in zip(value_and_gradients(lambda *given: linear_scan(*given, backend="cpu"), narrow), wanted):
        close(got, want, 3e-6)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="not safe elsewhere")
def test_a_forked_child_can_scan():
    """A child inherits the pool of threads without the threads; it must not wait for them."""
    torch.set_num_threads(2)
    A, b, x0 = (v.float() for v in draw(8, 1 + parts.MAX_ALONE // 512, B=8))
    x = linear_scan(A, b, x0, backend="cpu").numpy()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # newer Pythons warn of every fork in a process with threads
        child = os.fork()
    if child == 0:
        os._exit(0 if (linear_scan(A, b, x0, backend="cpu").numpy() == x).all() else 1)
    deadline, ended = time.monotonic() + 300, 0  # a hundredth of a second where nothing else runs
    while not ended and time.monotonic() < deadline:
        ended, status = os.waitpid(child, os.WNOHANG)
        time.sleep(0.01)
    if not ended:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        pytest.fail("the forked child, which has one small scan to do, has not ended within 300 s")
    assert status == 0


@pytest.mark.parametrize("kind", [3, "real", "complex", "token"])
def test_what_backward_cannot_do_it_refuses(kind):
    A, b, x0 = (v.requires_grad_() for v in draw(3 if kind == "token" else kind, 2))
    tokens = torch.tensor([[0, 1], [1, 1]])

    def scan():
        if kind == "token":
            x = token_scan(A[0], b[0], tokens, x0, backend="cpu")
        else:
            x = linear_scan(A, b, x0, backend="cpu")
        return x.abs().sum(), x

    score, _ = scan()
    score.backward()
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        score.backward()
    for score in (scan()[0], scan()[1].real.sum()):  # of a sum, the gradient that arrives needs none itself
        with pytest.raises(RuntimeError, match="create_graph=True: Scan has first derivatives only"):
            torch.autograd.grad(score, x0, create_graph=True)
    score, x = scan()
    with torch.no_grad():
        x += 1
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        score.backward()


ONE = torch.ones(2, 3, 1, 4, 4)


@pytest.mark.parametrize("call, error, message", [
    (lambda by: linear_scan(ONE[..., 0, 0], ONE[..., 0, 0, :2], backend=by), ValueError, r"takes A \(B,T,D\).*, got A \(2, 3, 1\), b \(2, 3, 2\)"),
    (lambda by: linear_scan(ONE, ONE[..., 0].to("meta"), backend=by), ValueError, "A is torch.float32 on cpu, b is torch.float32 on meta"),
    (lambda by: linear_scan([[1.0]], ONE, backend=by), TypeError, r"linear_scan: A must be a dense torch.Tensor, got \[\[1.0\]\]"),
    (lambda by: token_scan(ONE[0], ONE[0, ..., 0], torch.zeros(1, 2), backend=by), ValueError, "tokens must be integers on cpu, got torch.float32"),
    (lambda by: token_scan(ONE[0], ONE[0, ..., 0], torch.tensor([[0, 7]]), backend=by), ValueError, r"token 7 is outside the table of 3 symbols \(0..2\)"),
    (lambda by: linear_scan(ONE, ONE[..., 0], backend="fast"), ValueError, "backend is one of reference, paper, cpu, triton, auto, got 'fast'"),
    (lambda by: linear_scan(ONE.half(), ONE.half()[..., 0], backend="cpu"), ValueError, "cpu backend takes float32, float64 and blocks of 1..128 on cpu, got torch.float16"),
])
def test_wrong_calls_are_refused_by_every_backend(call, error, message):
    for backend in ALL:
        with pytest.raises(error, match=message):
            call(backend)


@pytest.mark.parametrize("dtype", [c128, torch.bfloat16, torch.int64])
def test_auto_takes_what_the_compiled_scan_does_not_know(dtype):
    A, b, x0 = ((4 * v).round().to(dtype) for v in draw(2, 3))
    assert torch.equal(linear_scan(A, b, x0), plain(A, b, x0))


def test_tokens_are_looked_at_within_torch_func():
    A, b, _ = draw(2, 4)
    tokens = torch.tensor([[0, 2, 1, 3], [3, 3, 0, 1], [1, 0, 2, 2]])

    def scan(row, A=A[0]):
        return token_scan(A, b[0], row[None])[0]

    close(torch.func.vmap(scan)(tokens), token_scan(A[0], b[0], tokens))
    slope = torch.func.grad(lambda A, row: scan(row, A).square().sum())
    assert torch.func.vmap(slope, (None, 0))(A[0], tokens).shape == (3, *A[0].shape)
    for call in (lambda: torch.func.vmap(scan)(tokens - 1), lambda: torch.func.vmap(slope, (None, 0))(A[0], tokens - 1)):
        with pytest.raises(ValueError, match="token -1 is outside"):
            call()


# --- constant coefficients -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("backend", BACKENDS)
def test_constant_coefficients(backend, kind):
    """One A for all steps is the same A written out at every step, and its gradient the sum over them."""
    for B, T in ((2, 1), (3, 63), (1, 40)):
        _, b, x0 = draw(kind, T, B=B)
        A = draw(kind, 1, B=1, seed=5)[0][0, 0]
        wanted = value_and_gradients(lambda A, b, x0: plain(A.expand(*b.shape[:2], *A.shape), b, x0), (A, b, x0))
        found = value_and_gradients(lambda A, b, x0: linear_scan(A, b, x0, backend=backend), (A, b, x0))
        for got, want in zip(found, wanted):
            close(got, want)


# --- torch.compile -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [3, "interleaved", "constant", "complex", "token"])
def test_the_compiler_sees_one_operator(kind):
    """No graph break, the same numbers (``aot_eager`` traces forward and backward without a C++ compiler)."""
    A, b, x0 = draw(3 if kind in ("interleaved", "constant", "token") else kind, 5)
    if kind == "interleaved":
        A = A.transpose(2, 3).contiguous().transpose(2, 3)
    tokens = torch.randint(5, (2, 4), generator=torch.Generator().manual_seed(0))

    def scan(A, b, x0):
        if kind == "token":
            return token_scan(A[0], b[0], tokens, x0, backend="cpu") * 2
        return linear_scan(A[0, 0] if kind == "constant" else A, b, x0, backend="cpu") * 2

    torch.compiler.reset()
    compiled = torch.compile(scan, backend="aot_eager", fullgraph=True)
    leaves = [v.detach().requires_grad_() for v in (A, b, x0)]
    for got, want in zip(value_and_gradients(compiled, leaves), value_and_gradients(scan, leaves)):
        assert torch.equal(got, want)


# --- what not to train with ----------------------------------------------------------------------------------------


def test_why_torchs_own_pointwise_scan_must_not_be_trained_with():
    """Right states, and silently a wrong gradient in A (pytorch #172568); once torch mends it, say so in ``bench/peers.py``."""
    operator = pytest.importorskip("torch._higher_order_ops.associative_scan").associative_scan_op
    A, b, _ = (v.requires_grad_() for v in draw("real", 5))

    def compose(A1, b1, A2, b2):
        return A1 * A2, A2 * b1 + b2

    def pointwise(A, b):
        return operator(compose, [A.movedim(1, 0), b.movedim(1, 0)], ())[1].movedim(0, 1)

    (x, dA, db), (right, right_dA, right_db) = (
        value_and_gradients(scan, (A, b)) for scan in (pointwise, lambda A, b: linear_scan(A, b))
    )
    close(x, right)
    close(db, right_db)
    assert (dA - right_dA).abs().max() > 0.1 * right_dA.abs().max()


# --- paper 000, App. A.2 -------------------------------------------------------------------------------------------


def letter(i):
    """A_i as an integer matrix L^i R: products of such matrices can be read back, letter by letter."""
    return torch.tensor([[1, 0], [i, 1]]) @ torch.tensor([[1, 1], [0, 1]])


def spell(matrix):
    """The word of a product of letters.  L M has M's upper row below added to the lower one, R M the reverse."""
    (a, b), (c, d) = matrix.tolist()
    word, run = "", 0
    while (a, b, c, d) != (1, 0, 0, 1):
        if a <= c and b <= d:
            c, d, run = c - a, d - b, run + 1
        else:
            a, b, word, run = a - c, b - d, f"{word}A{run}", 0
    return word


def test_listing_a21_matrix_generation():
    levels = paper.products(torch.stack([letter(i) for i in range(1, 8)]))
    assert [[[spell(m) for m in group] for group in level] for level in levels] == [
        [["A1"], ["A3"], ["A5"], ["A7"]],
        [["A2", "A3A2"], ["A6", "A7A6"]],
        [["A4", "A5A4", "A6A5A4", "A7A6A5A4"]],
    ]


@pytest.mark.parametrize("backend", ALL)
def test_listing_a22_equivalence(backend):
    """The numbers printed in App. A.2.2, from the same seed and in the same order of draws."""
    generator = torch.Generator().manual_seed(1)
    A = torch.randn(1, 7, 2, 2, generator=generator)
    u = torch.randn(1, 7, 2, generator=generator)
    x0 = torch.randn(1, 2, generator=generator)
    x = linear_scan(A.unsqueeze(2), u.unsqueeze(2), x0.unsqueeze(1), backend=backend)
    printed = [[0.8310, -0.2477], [0.5167, -1.4218], [1.1399, 1.3024], [0.9628, 1.3150], [-1.5308, -1.6903],
               [-3.6631, 1.6082], [1.7805, 7.1659], [2.5068, -0.6256]]  # fmt: skip
    rows = torch.cat([x0, x[0, :, 0]])
    assert [[round(v, 4) for v in row] for row in rows.tolist()] == printed


@pytest.mark.parametrize("T", [1, 2, 3, 4, 7, 8, 15, 16, 100])
def test_the_paper_scan_takes_logarithmically_many_levels(T, monkeypatch):
    depths, products = [], paper.products

    def counting(transitions):
        levels = products(transitions)
        depths.append(len(levels))
        return levels

    monkeypatch.setattr(paper, "products", counting)
    linear_scan(*draw(2, T), backend="paper")
    assert depths == [int(np.ceil(np.log2(T + 1)))]


# --- a machine without a compiler for the kernels -----------------------------------------------------------------


def test_without_a_folder_for_compiled_loops_they_run_and_one_warning_says_so(monkeypatch):
    """As in a container whose packages are read-only and whose user has no home."""
    from numba.core.caching import CacheImpl

    from lrnnlab.scans.kernels import jit

    monkeypatch.setattr(CacheImpl, "_locator_classes", [])
    jit._warn.cache_clear()
    with pytest.warns(UserWarning, match="every process compiles them anew; set NUMBA_CACHE_DIR") as warned:
        first, second = (jit.jit(nogil=True)(function) for function in (lambda x: x + 1, lambda x: x * 2))
        assert (first(1), second(3)) == (2, 6) and len(warned) == 1
    jit._warn.cache_clear()


def test_without_numba_the_plain_loop_runs():
    code = """
import sys
sys.modules["numba"] = None
import torch
from lrnnlab import scans
assert scans.backends() == ("reference", "paper") and "numba" in scans.MISSING["cpu"]
A = torch.full((1, 3, 1), 0.5)
assert scans.backends(torch.zeros(1, 100, 1))[-1] == "reference" and scans.linear_scan(A, torch.ones(1, 3, 1)).flatten().tolist() == [1, 1.5, 1.75]
try:
    scans.linear_scan(A, A, backend="cpu")
except ValueError as error:
    assert "the cpu backend cannot run here: " in str(error) and "numba" in str(error)
else:
    raise SystemExit("no error")
scans.warm()
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=300)


@pytest.mark.parametrize("kind", [3, "real", "complex"])
@pytest.mark.parametrize("backend", ALL)
def test_time_runs_the_other_way(backend, kind):
    """x_t = A_t x_{t+1} + b_t, each step's transition its own, or one for all."""
    A, b, x0 = draw(kind, 9)
    for transitions in (A, A[0, 0]):
        steps = transitions if transitions is A else A[:1, :1].expand(A.shape)
        wanted = plain(steps.flip(1), b.flip(1), x0).flip(1)
        x, last = linear_scan(transitions, b, x0, backend=backend, reverse=True, return_state=True)
        torch.testing.assert_close(x, wanted, atol=1e-12, rtol=1e-12)
        assert torch.equal(last, x[:, 0])
    found = value_and_gradients(lambda *inputs: linear_scan(*inputs, backend=backend, reverse=True), (A, b, x0))
    for got, want in zip(found, value_and_gradients(lambda A, b, x0: plain(A.flip(1), b.flip(1), x0).flip(1), (A, b, x0))):
        close(got, want)


@pytest.mark.parametrize("kind", [3, "real", "complex"])
@pytest.mark.parametrize("cut", [0, 4, 9])
def test_the_last_state_is_what_the_next_call_takes(kind, cut):
    A, b, x0 = draw(kind, 9)
    tokens = torch.randint(9, (len(b), 9), generator=torch.Generator().manual_seed(0))
    doors = [lambda at, start: linear_scan(A[:, at], b[:, at], start, return_state=True),
             lambda at, start: token_scan(A[0], b[0], tokens[:, at], start, return_state=True)]
    if kind == 3:
        doors.append(lambda at, start: softmax_scan(A.movedim(-2, 2)[:, at].contiguous(), start, return_state=True)[1:])
    for door in doors:
        for start in (x0, None):
            (x, last), (head, middle) = door(slice(None), start), door(slice(cut), start)
            tail, end = door(slice(cut, None), middle)
            assert middle.shape == x0.shape and torch.equal(last, x[:, -1])
            close(torch.cat([head, tail], 1), x, 1e-9)
            close(end, last, 1e-9)


def test_which_backends_take_what():
    """The one of ``auto`` comes last."""
    assert backends(torch.zeros(1, 100, 1))[-1] == "cpu" and "triton" not in backends(torch.zeros(1, 100, 1))
    for few in (torch.zeros(1, 2, 3), torch.zeros(1, 2, 1, 3, 3), torch.zeros(1, 100, 1).half()):
        assert backends(few)[-1] == "reference" and set(backends(few)) <= set(backends())
    assert torch.func.vmap(lambda A: A * len(backends(A)))(torch.ones(1, 1, 100, 1)).unique().tolist() == [2.0]
    with pytest.raises(ValueError, match=r"backends takes A \(B,T,D\) or A \(B,T,h,n,n\), got A \(3,\)"):
        backends(torch.zeros(3))


def test_blocks_that_would_take_minutes_to_compile_take_the_loop():
    """Each block size has a compiled loop of its own: of size 300 it took ten minutes to make without vectors."""
    assert backends(torch.zeros(1, 100, 1, 128, 128))[-1] == "cpu" and backends(torch.zeros(1, 100, 1, 129, 129)) == ("paper", "reference")
    A, b = 0.01 * torch.randn(2, 1, 300, 300), torch.randn(2, 1, 300)
    tokens = torch.randint(2, (1, 9))
    assert torch.equal(token_scan(A, b, tokens), token_scan(A, b, tokens, backend="reference"))
