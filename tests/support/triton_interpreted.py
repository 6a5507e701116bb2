"""The Triton kernels in Triton's interpreter (TRITON_INTERPRET=1, set by ``test_triton.py``), beside a loop in float64."""

import pytest
import torch

from lrnnlab.scans.kernels import triton

SIZES = (1, 2, 3, 4, 5, 8, 16)
EXACT = {torch.float64: 1e-13, torch.float32: 1e-6, torch.float16: 2e-3, torch.bfloat16: 1.5e-2}
EXACT |= {torch.complex64: 1e-6, torch.complex128: 1e-13}


def loop(A, b, x0):
    """The loop on the blackboard, for a diagonal A (D,) or (B,T,D) and a block A (h,n,n) or (B,T,h,n,n)."""
    block = b.ndim == 4
    if A.ndim == (3 if block else 1):
        A = A.expand(*b.shape[:2], *A.shape)
    states, x = [], x0
    for t in range(b.shape[1]):
        x = (torch.einsum("bhij,bhj->bhi", A[:, t], x) if block else A[:, t] * x) + b[:, t]
        states.append(x)
    return torch.stack(states, 1) if states else b * 1


def oracle(scan, tensors, dx):
    """Value and gradients in float64 (complex128)."""
    wide = torch.complex128 if dx.is_complex() else torch.float64
    leaves = [t.detach().to(wide).requires_grad_() for t in tensors]
    x = scan(*leaves)
    gradients = torch.autograd.grad(x, leaves, dx.to(wide), allow_unused=True)
    return x.detach(), [torch.zeros_like(t) if g is None else g for t, g in zip(leaves, gradients)]


def agree(name, got, want, like):
    assert got.shape == want.shape and got.dtype == like.dtype, (name, got.shape, want.shape, got.dtype)
    if got.numel():
        scale = float(want.abs().max().clamp(min=1))
        worst = float((got.to(want.dtype) - want).abs().max())
        assert worst <= EXACT[got.dtype] * scale, f"{name} is off by {worst:.2e} where values reach {scale:.2e}"


def compare(forward, backward, scan, tensors):
    """``tensors`` = (A, b, x0); both directions against the oracle."""
    A, b, x0 = tensors
    x = forward(*tensors)
    dx = noise(x.shape, b.dtype, 7)
    value, gradients = oracle(scan, tensors, dx)
    agree("x", x, value, b)
    for name, got, want, like in zip(("dA", "db", "dx0"), backward(A, x0, x, dx), gradients, tensors):
        agree(name, got, want, like)


def noise(shape, dtype=torch.float32, seed=0, scale=1.0):
    wide = torch.complex128 if dtype.is_complex else torch.float64
    return (torch.randn(*shape, dtype=wide, generator=torch.Generator().manual_seed(seed)) * scale).to(dtype)


def blocks(B, T, h, n, dtype=torch.float32, constant=False):
    A = noise((h, n, n) if constant else (B, T, h, n, n), dtype, 1, 0.9 / n**0.5)
    return A, noise((B, T, h, n), dtype, 2), noise((B, h, n), dtype, 3)


@pytest.fixture(autouse=True)
def small_tiles(monkeypatch):
    """Diagonal tiles of 16, 8 and 4 steps: the interpreter walks through every place of a tile, needed or not."""
    monkeypatch.setattr(triton, "TILE", 16)


@pytest.fixture
def chunked(monkeypatch):
    """Every plan in chunks of 8 steps, three chains a program, so that programs straddle chunks and sequences."""
    chosen = triton.plan

    def plan(B, T, h, n, itemsize=4, backward=False):
        sizes = chosen(B, T, h, n, itemsize, backward)
        return sizes._replace(kernel="chunked", chunk=8, group=4) if T > 8 else sizes

    monkeypatch.setattr(triton, "plan", plan)


def check_blocks(tensors):
    compare(triton.block_forward, triton.block_backward, loop, tensors)


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("T", (0, 1, 2, 3))
def test_sequential_blocks(n, T):
    check_blocks(blocks(2, T, 2, n))


@pytest.mark.parametrize("T, B, n", ((17, 2, 5), (17, 1, 16), (65, 3, 2), (17, 5, 4)))
def test_longer_blocks_and_odd_numbers_of_chains(T, B, n):
    check_blocks(blocks(B, T, 1, n))


@pytest.mark.parametrize("n", SIZES)
def test_chunked_blocks(n, chunked):
    check_blocks(blocks(1, 17, 1, n))


@pytest.mark.parametrize("T, B, h, n", ((16, 1, 3, 2), (9, 3, 1, 3), (65, 2, 1, 4)))
def test_full_chunks_and_several_sequences(T, B, h, n, chunked):
    check_blocks(blocks(B, T, h, n))


@pytest.mark.parametrize("dtype", (torch.float64, torch.float16, torch.bfloat16))
def test_types_of_blocks(dtype, request):
    check_blocks(blocks(2, 5, 2, 3, dtype))
    request.getfixturevalue("chunked")
    check_blocks(blocks(1, 9, 2, 4, dtype))


def test_one_block_for_every_step(request):
    for n in (1, 3, 8):
        check_blocks(blocks(3, 5, 2, n, constant=True))
    request.getfixturevalue("chunked")
    check_blocks(blocks(2, 11, 2, 3, constant=True))


def test_no_sequences_no_blocks():
    check_blocks(blocks(0, 4, 2, 3))
    check_blocks(blocks(0, 4, 2, 3, constant=True))
    check_blocks(blocks(2, 4, 0, 3))


@pytest.mark.parametrize("order", ((0, 1, 3, 2, 4), (0, 1, 2, 4, 3), (1, 0, 2, 3, 4)))
def test_strides(order):
    """A may be any view: (B,T,row,h,column) as a softmax over rows makes it, transposed blocks, time first."""
    A, b, x0 = blocks(2, 4, 3, 3)
    back = sorted(range(5), key=order.__getitem__)
    view = A.permute(order).contiguous().permute(back)
    assert not view.is_contiguous() and torch.equal(view, A)
    check_blocks((view, b.transpose(1, 2).contiguous().transpose(1, 2), x0))
    assert triton.block_backward(view, x0, b, b)[0].stride() == view.stride()


def test_slices_expansions_and_lazy_signs():
    A, b, x0 = blocks(2, 9, 2, 3)
    check_blocks((A[:, ::2], b[:, 4:], x0))
    check_blocks((A[:1].expand(2, -1, -1, -1, -1), b, x0[:1].expand(2, -1, -1)))
    scattered = A.permute(2, 3, 4, 0, 1).contiguous().permute(3, 4, 0, 1, 2)  # distances that depend on T
    check_blocks((scattered, b, x0))
    lazy = torch.complex(A, A).conj().imag
    assert lazy.is_neg()
    check_blocks((lazy, torch.complex(b, b).conj().imag, x0))


def chains_but(x, one):
    """Everything of (B,...,h,n...) but chain ``one`` = (batch, head), where head stands at axis 2 (or 1 of x0)."""
    axis = 2 if x.ndim > 3 else 1
    others = x.clone().movedim(axis, 1)
    others[one] = 0
    return others


@pytest.mark.parametrize("road", ("sequential", "chunked"))
def test_nan_stays_in_its_chain(road, request):
    if road == "chunked":
        request.getfixturevalue("chunked")
    A, b, x0 = blocks(2, 11, 3, 3)
    dx = noise(b.shape, seed=9)
    bad, bad_dx = A.clone(), dx.clone()
    bad[1, 3, 1, 0, 2] = bad_dx[1, 6, 1, 0] = float("nan")
    x, worse = triton.block_forward(A, b, x0), triton.block_forward(bad, b, x0)
    assert torch.equal(chains_but(worse, (1, 1)), chains_but(x, (1, 1)))
    assert torch.equal(worse[1, :3, 1], x[1, :3, 1]) and worse[1, 3:, 1].isnan().any(-1).all()
    fine, hurt = triton.block_backward(A, x0, x, dx), triton.block_backward(A, x0, x, bad_dx)
    for before, after in zip(fine, hurt):
        assert torch.equal(chains_but(before, (1, 1)), chains_but(after, (1, 1)))
    assert torch.equal(fine[1][1, 7:, 1], hurt[1][1, 7:, 1]) and hurt[1][1, :7, 1].isnan().any(-1).all()


DIAGONAL = (torch.float32, torch.complex64)


def diagonals(B, T, D, dtype=torch.float32, constant=False):
    A = noise((D,) if constant else (B, T, D), dtype, 4, 0.6)
    return A, noise((B, T, D), dtype, 5), noise((B, D), dtype, 6)


def check_diagonal(tensors):
    compare(triton.diagonal_forward, triton.diagonal_backward, loop, tensors)


@pytest.mark.parametrize("dtype", DIAGONAL)
@pytest.mark.parametrize("T", (0, 1, 2, 3, 8, 17, 65))
def test_diagonal(T, dtype):
    check_diagonal(diagonals(2, T, 2, dtype))
    check_diagonal(diagonals(1, T, 1, dtype, constant=True))


@pytest.mark.parametrize("dtype", (*DIAGONAL, torch.float64, torch.complex128, torch.bfloat16))
def test_types_of_diagonals(dtype):
    check_diagonal(diagonals(2, 9, 3, dtype))
    check_diagonal(diagonals(3, 9, 2, dtype, constant=True))


@pytest.mark.parametrize("dtype", DIAGONAL)
def test_views_of_diagonals(dtype):
    A, b, x0 = diagonals(2, 7, 5, dtype)
    check_diagonal((A.transpose(1, 2).contiguous().transpose(1, 2), b.conj(), x0))
    check_diagonal((A[:, ::2, ::2].conj(), b[:, 3:, 2:], x0[:, 2:]))
    check_diagonal(diagonals(1, 2, 33, dtype))  # two programs across
    check_diagonal(diagonals(0, 3, 2, dtype))


@pytest.mark.parametrize("dtype", DIAGONAL)
def test_nan_stays_in_its_channel(dtype):
    A, b, x0 = diagonals(2, 19, 3, dtype)
    bad = A.clone()
    bad[1, 9, 1] = float("nan")
    x, worse = triton.diagonal_forward(A, b, x0), triton.diagonal_forward(bad, b, x0)
    gone = torch.zeros(x.shape, dtype=torch.bool)
    gone[1, 9:, 1] = True
    assert torch.equal(worse.isnan(), gone) and torch.equal(worse[~gone], x[~gone])
    backward = triton.diagonal_backward(bad, x0, x, b)
    want = triton.diagonal_backward(A, x0, x, b)
    gone[1], gone[1, :9, 1] = False, True  # no g_t of step 9 or later has passed through A_9
    for name, got, fine in zip(("dA", "db"), backward, want):
        assert torch.equal(got.isnan(), gone) and torch.equal(got[~gone], fine[~gone]), name


def tokens_case(B, T, h, n, V, dtype=torch.float32):
    tokens = torch.randint(0, V, (B, T), generator=torch.Generator().manual_seed(8))
    A, b, x0 = noise((V, h, n, n), dtype, 1, 0.9 / n**0.5), noise((V, h, n), dtype, 2), noise((B, h, n), dtype, 3)
    return tokens, (A, b, x0)


def check_tokens(tokens, tensors):
    compare(
        lambda A, b, x0: triton.token_forward(A, b, tokens, x0),
        lambda A, x0, x, dx: triton.token_backward(A, tokens, x0, x, dx),
        lambda A, b, x0: loop(A[tokens], b[tokens], x0),
        tensors,
    )


@pytest.mark.parametrize("n", SIZES)
def test_tokens(n):
    for T in (0, 1, 2, 3):
        check_tokens(*tokens_case(2, T, 1, n, 3))
    check_tokens(*tokens_case(3, 7, 1, n, 5))


def test_more_about_tokens(request):
    for dtype in (torch.float64, torch.bfloat16):
        check_tokens(*tokens_case(2, 5, 2, 3, 4, dtype))
    tokens, tensors = tokens_case(3, 6, 2, 2, 1)
    check_tokens(tokens.int().T.contiguous().T, tensors)
    request.getfixturevalue("chunked")
    check_tokens(*tokens_case(2, 17, 1, 3, 6))


def test_slices_of_a_token(monkeypatch):
    monkeypatch.setattr(triton, "SLICE", 8)
    tokens, tensors = tokens_case(3, 17, 1, 2, 5)
    tokens[tokens == 2] = 1  # token 2 never occurs
    check_tokens(tokens, tensors)
    A, b, x0 = tensors
    x = triton.token_forward(A, b, tokens, x0)
    first, again = (triton.token_backward(A, tokens, x0, x, x) for _ in range(2))
    assert all(torch.equal(u, v) for u, v in zip(first, again))
    assert not first[0][2].any() and not first[1][2].any()
