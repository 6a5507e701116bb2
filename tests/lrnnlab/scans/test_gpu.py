"""The ``triton`` backend where there is a GPU: values and gradients beside a loop in float64, differentiated by autograd."""

from functools import partial

import pytest
import torch

from lrnnlab import scans
from lrnnlab.scans.kernels import triton_plan

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU: what runs on one is not tested here")

TOLERANCE = {torch.float64: 1e-12, torch.float32: 3e-6, torch.float16: 4e-3, torch.bfloat16: 3e-2}
TOLERANCE |= {torch.complex64: 3e-6, torch.complex128: 1e-12}


def loop(A, b, x0):
    """The loop on the blackboard."""
    states, x = [], x0
    for A_t, b_t in zip(A.unbind(1), b.unbind(1)):
        x = (torch.einsum("bhij,bhj->bhi", A_t, x) if A.ndim == 5 else A_t * x) + b_t
        states.append(x)
    return torch.stack(states, 1)


def by_tokens(tokens, A, b, x0):
    return loop(A[tokens], b[tokens], x0)


def noise(*shape, dtype=torch.float32, seed=0, scale=1.0):
    wide = torch.complex128 if dtype.is_complex else torch.float64
    return (torch.randn(*shape, dtype=wide, generator=torch.Generator().manual_seed(seed)) * scale).to("cuda", dtype)


def with_gradients(scan, leaves, dx):
    leaves = [t.detach().clone().requires_grad_() for t in leaves]
    x = scan(*leaves)
    return x.detach(), *torch.autograd.grad(x, leaves, dx)


def agree(scan, oracle, leaves):
    """Value and every gradient, relative to the largest number in each."""
    x = scan(*leaves)
    dx = noise(*x.shape, dtype=x.dtype, seed=7)
    wide = torch.complex128 if x.is_complex() else torch.float64
    want = with_gradients(oracle, [t.to(wide) for t in leaves], dx.to(wide))
    for name, got, exact in zip(("x", "dA", "db", "dx0"), with_gradients(scan, leaves, dx), want):
        assert got.shape == exact.shape and got.dtype == x.dtype, name
        worst = float((got.to(wide) - exact).abs().max() / exact.abs().max().clamp(min=1))
        assert worst <= TOLERANCE[x.dtype], f"{name} is off by {worst:.2e} of its largest number"


def ours(A, b, x0):
    return scans.linear_scan(A, b, x0, backend="triton")


def ours_by_tokens(tokens, A, b, x0):
    return scans.token_scan(A, b, tokens, x0, backend="triton")


def blocks(B, T, h, n, dtype=torch.float32):
    A = noise(B, T, h, n, n, dtype=dtype, seed=1, scale=0.9 / n**0.5)
    return A, noise(B, T, h, n, dtype=dtype, seed=2), noise(B, h, n, dtype=dtype, seed=3)


def tables(V, B, T, h, n, dtype=torch.float32):
    tokens = torch.randint(0, V, (B, T), generator=torch.Generator().manual_seed(4)).cuda()
    A, b = noise(V, h, n, n, dtype=dtype, seed=1, scale=0.9 / n**0.5), noise(V, h, n, dtype=dtype, seed=2)
    return tokens, (A, b, noise(B, h, n, dtype=dtype, seed=3))


def kernel(*shape, itemsize=4):
    return triton_plan.plan(*shape, itemsize).kernel


@pytest.mark.parametrize("dtype", (torch.float32, torch.bfloat16, torch.float16, torch.float64))
@pytest.mark.parametrize("n", (*range(1, 17),))
def test_sequential_blocks(n, dtype):
    for B, T, h in ((3, 1, 2), (5, 100, 7), (37, 63, 3)):
        assert kernel(B, T, h, n, itemsize=dtype.itemsize) == "sequential"
        agree(ours, loop, blocks(B, T, h, n, dtype))


@pytest.mark.parametrize("dtype", (torch.float32, torch.bfloat16, torch.float64))
@pytest.mark.parametrize("n", (1, 2, 3, 4, 5, 8, 13, 16))
def test_chunked_blocks(n, dtype):
    for B, T, h in ((1, 256, 1), (2, 1025, 3)):
        assert kernel(B, T, h, n, itemsize=dtype.itemsize) == "chunked"
        agree(ours, loop, blocks(B, T, h, n, dtype))


def test_many_chains():
    """Other numbers of stages and more programs than a GPU runs at once."""
    for B, n in ((128, 8), (1024, 4), (700, 16), (2048, 2)):
        agree(ours, loop, blocks(B, 100, 8, n))


def test_interleaved_blocks():
    A, b, x0 = blocks(16, 50, 8, 8)
    agree(lambda A, b, x0: ours(A.transpose(2, 3).contiguous().transpose(2, 3), b, x0), loop, (A, b, x0))


@pytest.mark.parametrize("dtype", (torch.float32, torch.bfloat16, torch.float64, torch.complex64, torch.complex128))
@pytest.mark.parametrize("D", (1, 3, 24, 64, 100))
def test_diagonal(D, dtype):
    for B, T in ((2, 1), (3, 100), (33, 257)):
        A = noise(B, T, D, dtype=dtype, seed=1, scale=0.6)
        agree(ours, loop, (A, noise(B, T, D, dtype=dtype, seed=2), noise(B, D, dtype=dtype, seed=3)))


@pytest.mark.parametrize("dtype", (torch.float32, torch.float64))
@pytest.mark.parametrize("n", (1, 2, 5, 8, 16))
def test_one_block_for_all_steps(n, dtype):
    for B, T, h in ((3, 1, 2), (37, 63, 3), (2, 1025, 3)):  # sequential, and in chunks
        A, b, x0 = blocks(B, T, h, n, dtype)
        agree(ours, lambda A, b, x0: loop(A.expand(*b.shape[:2], *A.shape), b, x0), (A[0, 0] / 2, b, x0))  # halved: it must not grow


@pytest.mark.parametrize("dtype", (torch.float32, torch.complex64, torch.complex128))
@pytest.mark.parametrize("D", (1, 24, 100))
def test_one_diagonal_for_all_steps(D, dtype):
    for B, T in ((2, 1), (33, 257)):
        A, b, x0 = (noise(*shape, dtype=dtype, seed=s, scale=0.2) for s, shape in enumerate(((D,), (B, T, D), (B, D)), 1))
        agree(ours, lambda A, b, x0: loop(A.expand(b.shape), b, x0), (A, b, x0))


@pytest.mark.parametrize("dtype", (torch.float32, torch.bfloat16, torch.float64))
@pytest.mark.parametrize("n", (1, 2, 3, 5, 8, 16))
def test_tokens(n, dtype):
    for V, B, T, h in ((5, 3, 1, 2), (12, 16, 100, 8), (3, 1, 700, 2)):
        tokens, leaves = tables(V, B, T, h, n, dtype)
        agree(partial(ours_by_tokens, tokens), partial(by_tokens, tokens), leaves)


def raced():
    diagonal = [noise(64, 500, 64, dtype=torch.complex64, seed=s, scale=0.6) for s in (1, 2)]
    tokens, leaves = tables(12, 64, 500, 8, 8)
    return {
        "sequential": (ours, blocks(128, 200, 8, 8)),
        "chunked": (ours, blocks(2, 2000, 3, 8)),
        "diagonal": (ours, (*diagonal, diagonal[0][:, 0])),
        "tokens": (partial(ours_by_tokens, tokens), leaves),
    }


@pytest.mark.parametrize("case", ("sequential", "chunked", "diagonal", "tokens"))
def test_five_runs_give_the_same_bits(case):
    """A race between loads, stores or programs would show here; so would a sum in no fixed order."""
    scan, leaves = raced()[case]
    dx = torch.ones_like(scan(*leaves))
    first, *others = (with_gradients(scan, leaves, dx) for _ in range(5))
    for again in others:
        assert all(torch.equal(u, v) for u, v in zip(first, again))


def test_gradcheck():
    small = [t.requires_grad_() for t in blocks(2, 5, 2, 3, torch.float64)]
    assert torch.autograd.gradcheck(ours, small)
    tokens, leaves = tables(3, 2, 5, 2, 3, torch.float64)
    assert torch.autograd.gradcheck(partial(ours_by_tokens, tokens), [t.requires_grad_() for t in leaves])
    for dtype in (torch.float64, torch.complex128):
        channels = [noise(2, 5, 3, dtype=dtype, seed=s).requires_grad_() for s in (1, 2)]
        assert torch.autograd.gradcheck(ours, (*channels, noise(2, 3, dtype=dtype, seed=3).requires_grad_()))


def test_compiled_without_a_break():
    """torch.compile takes the scan into one graph, and the result stays the same."""
    A, b, x0 = blocks(8, 40, 4, 4)

    def layer(A, b, x0):
        return ours(torch.tanh(A), b * 2, x0).square()

    whole = torch.compile(layer, fullgraph=True)
    dx = noise(8, 40, 4, 4, seed=9)
    for got, want in zip(with_gradients(whole, (A, b, x0), dx), with_gradients(layer, (A, b, x0), dx)):
        assert torch.allclose(got, want, rtol=1e-5, atol=1e-5)


def test_nan_stays_in_its_chain():
    A, b, x0 = blocks(9, 300, 5, 3)
    bad = A.clone()
    bad[4, 7, 2, 0, 1] = float("nan")
    for T in (100, 300):
        x, hurt = ours(A[:, :T], b[:, :T], x0), ours(bad[:, :T], b[:, :T], x0)
        chains = torch.zeros(9, T, 5, dtype=torch.bool, device="cuda")
        chains[4, 7:, 2] = True
        assert torch.equal(hurt.isnan().any(-1), chains) and torch.equal(x[~chains], hurt[~chains])


def test_more_than_two_to_the_31_numbers():
    """A of 2.2e9 numbers: places are counted in 64 bits.  Only the last chain's state is compared."""
    if torch.cuda.mem_get_info()[0] < 12 << 30:
        pytest.skip("needs 12 GiB of free GPU memory")
    B, T, h, n = 4200, 64, 32, 16
    A = torch.zeros(B, T, h, n, n, dtype=torch.bfloat16, device="cuda")
    A[-1, :, -1] = noise(T, n, n, dtype=torch.bfloat16, scale=0.2)
    b = torch.ones(1, 1, 1, 1, dtype=torch.bfloat16, device="cuda").expand(B, T, h, n).contiguous()
    x = ours(A, b, b[:, 0])
    want = loop(*(t[-1:, ..., -1:, :, :].double() for t in (A,)), b[-1:, :, -1:].double(), b[-1:, 0, -1:].double())
    assert (x[-1:, :, -1:].double() - want).abs().max() < 0.05
