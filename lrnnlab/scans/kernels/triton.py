"""The ``triton`` backend: x_t = A_t x_{t-1} + b_t on an NVIDIA GPU, values and gradients, without autograd.

Whatever the type of the tensors (bfloat16, float16, float32), states and sums are float32, in registers; with float64
or complex128 they are float64.  Results have the inputs' type.  So the forward pass never rounds the state that it
carries on, but the backward pass reads x_{t-1} as it was stored, that is, rounded to the type of x.

No kernel uses atomics and no size is found by timing: two runs on the same input give the same bits.  The chunked and
the diagonal kernels multiply the transitions of a chunk or tile with each other; where such a product overflows, so
does the state after it (0 * inf = NaN), even if the state itself would have stayed finite.

Letters: B batch, T time, D channels, V vocabulary, h blocks, n block size, N the power of two that holds it, K chunks
of L steps, G chains (blocks followed through time) of a program; A transition, b input term, x state, g the gradient
arriving at a state.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor

from lrnnlab.scans.kernels import triton_kernels as kernels
from lrnnlab.scans.kernels.triton_plan import MAX_BLOCK, MIN_CHUNKED_STEPS, Plan, next_power_of_two, padded, plan

SLICE = 1024  # places (sequence, step) for each slice of a token's occurrences
TILE = 128  # steps that a diagonal kernel scans at a time; backward half as many, complex a quarter


def block_forward(A: Tensor, b: Tensor, x0: Tensor) -> Tensor:
    """All states x (B,T,h,n) of x_t = A_t x_{t-1} + b_t, t = 1..T (paper 000, Eq. 5)."""
    return _forward(A, b, x0, None, b.shape, "steps" if A.ndim == 5 else "constant")


def block_backward(A: Tensor, x0: Tensor, x: Tensor, dx: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """(dA, db, dx0) from dx (B,T,h,n): g_t = dx_t + A_{t+1}^T g_{t+1}, db = g, dA_t = g_t x_{t-1}^T, dx0 = A_1^T g_1.
    """
    return _backward(A, x0, x, dx, None, "steps" if A.ndim == 5 else "constant")


def token_forward(A_table: Tensor, b_table: Tensor, tokens: Tensor, x0: Tensor) -> Tensor:
    """:func:`block_forward` with A_t = A_table[token_t], b_t = b_table[token_t]; no tensor (B,T,h,n,n) is built."""
    shape = torch.Size((*tokens.shape, *b_table.shape[1:]))
    return _forward(A_table, b_table, x0, tokens.contiguous(), shape, "tokens")


def token_backward(A_table: Tensor, tokens: Tensor, x0: Tensor, x: Tensor, dx: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """(dA_table, db_table, dx0) from dx (B,T,h,n)."""
    (V, h, n, _), (B, T) = A_table.shape, tokens.shape
    tokens = tokens.contiguous()
    _, g, dx0 = _backward(A_table, x0, x, dx, tokens, "tokens")
    S = max(1, min(64, next_power_of_two(B * T) // SLICE))
    dA, db = (g.new_zeros(S, *shape) for shape in ((V, h, n, n), (V, h, n)))
    if g.numel() and V:
        ordered, order = tokens.flatten().sort(stable=True)
        edges = torch.searchsorted(ordered, torch.arange(V + 1, dtype=ordered.dtype, device=ordered.device))
        R = max(4, 1024 // padded(n) ** 2)
        sizes = {"n": n, "N": padded(n), "R": R, "S": S, "ACC": _accumulator(x), "enable_fp_fusion": True}
        with torch.cuda.device_of(x):
            kernels.table_gradient[V, S, h](order, edges, g, _parts(x), _parts(x0), dA, db, T, h, **sizes)
    return dA.sum(0).to(A_table.dtype), db.sum(0).to(A_table.dtype), dx0


def diagonal_forward(A: Tensor, b: Tensor, x0: Tensor) -> Tensor:
    """All states x (B,T,D) of x_t = A_t x_{t-1} + b_t, channel by channel, real or complex (paper 000, Eq. 1)."""
    x = torch.empty(b.shape, dtype=b.dtype, device=b.device)
    if b.numel():
        _diagonal(kernels.diagonal_forward, A, [A, b, x0, x], b.shape, TILE)
    return x


def diagonal_backward(A: Tensor, x0: Tensor, x: Tensor, dx: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """(dA, db, dx0) from dx (B,T,D); complex gradients in torch's convention, multiplied by conjugates."""
    summed = torch.promote_types(A.dtype, torch.float32)
    dA = torch.zeros(x.shape if A.ndim == 3 else x0.shape, dtype=A.dtype if A.ndim == 3 else summed, device=A.device)
    db, dx0 = (torch.zeros(t.shape, dtype=t.dtype, device=t.device) for t in (x, x0))
    if x.numel():
        _diagonal(kernels.diagonal_backward, A, [A, x0, x, dx, dA, db, dx0], x.shape, TILE // 2)
    return dA if A.ndim == 3 else dA.sum(0).to(A.dtype), db, dx0


def _diagonal(kernel, A: Tensor, tensors: list[Tensor], shape: torch.Size, most: int) -> None:
    """Launch with tiles of 16 channels and at most ``most`` steps."""
    B, T, D = shape
    tensors = [_parts(t) for t in tensors]
    R = min(TILE // 4 if A.is_complex() else most, max(32, next_power_of_two(T)))
    Q = min(16, next_power_of_two(D))
    with torch.cuda.device_of(A):
        kernel[(B * triton.cdiv(D, Q),)](
            *tensors, T, D, R=R, Q=Q, STAGES=3, CONSTANT=A.ndim == 1, COMPLEX=A.is_complex(),
            ACC=_accumulator(tensors[0]), num_warps=4, enable_fp_fusion=True,
        )  # fmt: skip


def _forward(A: Tensor, b: Tensor, x0: Tensor, tokens: Tensor | None, shape: torch.Size, source: str) -> Tensor:
    B, T, h, n = shape
    A = _readable(A)
    x = torch.empty(shape, dtype=b.dtype, device=b.device)
    if x.numel() == 0:
        return x
    b = _parts(b)
    chosen = plan(B, T, h, n, A.itemsize)
    K = triton.cdiv(T, chosen.chunk)
    entry = _parts(x0)
    if K > 1:
        P, o = _products(A, b, tokens, shape, chosen, source, reverse=False)
        entry = _entries(P, o, entry)
    with torch.cuda.device_of(A):
        kernels.sequential_forward[_grid(B * K * h, chosen.group)](
            A, b, entry, x, tokens, *_strides(A), _between(b, tokens), h, T, chosen.chunk, K, B * K * h,
            STAGES=chosen.num_stages, SOURCE=source, WHOLE=K == 1, num_warps=chosen.num_warps,
            **_sizes(x, chosen.group),
        )  # fmt: skip
    return x


def _backward(A: Tensor, x0: Tensor, x: Tensor, dx: Tensor, tokens: Tensor | None, source: str):
    """dA, g and dx0; g and a summed dA have the accumulators' type; for tokens there is no dA."""
    B, T, h, n = x.shape
    A = _readable(A)
    summed = torch.promote_types(x.dtype, torch.float32)
    chosen = plan(B, T, h, n, A.itemsize, backward=True)
    K = max(1, triton.cdiv(T, max(1, chosen.chunk)))
    dA = torch.zeros(B, K, h, n, n, dtype=summed, device=A.device) if source == "constant" else torch.empty_like(A)
    g = torch.empty(x.shape, dtype=summed if source == "tokens" else x.dtype, device=x.device)
    r_out = torch.zeros(B, K, h, n, dtype=summed, device=x.device)
    if x.numel():
        x0, x, dx = _parts(x0), _parts(x), _parts(dx)
        r_in = torch.zeros_like(r_out)
        if K > 1:
            P, o = _products(A, dx, tokens, x.shape, chosen, source, reverse=True)
            r_in = _entries(P, o, r_in[:, 0]).flip(1)
        with torch.cuda.device_of(A):
            kernels.sequential_backward[_grid(B * K * h, chosen.group)](
                A, x0, x, dx, r_in, dA, g, r_out, tokens, *_strides(A), *_strides(dA),
                h, T, chosen.chunk, K, B * K * h,
                STAGES=chosen.num_stages, SOURCE=source, WHOLE=K == 1, num_warps=chosen.num_warps,
                **_sizes(x, chosen.group),
            )  # fmt: skip
    return dA.sum((0, 1)).to(A.dtype) if source == "constant" else dA, g, r_out[:, 0].to(x0.dtype)


def _products(A, b, tokens, shape, chosen: Plan, source: str, *, reverse: bool) -> tuple[Tensor, Tensor]:
    """Every chunk as one step: P (B,K,h,n,n), o (B,K,h,n); backwards in time, and from the last chunk, if reverse."""
    B, T, h, n = shape
    K, N = triton.cdiv(T, chosen.chunk), padded(n)
    group = max(1, 512 // N**3)
    summed = torch.promote_types(A.dtype, torch.float32)
    P, o = (torch.empty(size, dtype=summed, device=A.device) for size in ((B, K, h, n, n), (B, K, h, n)))
    with torch.cuda.device_of(A):
        kernels.chunk_products[_grid(B * K * h, group)](
            A, b, P, o, tokens, *_strides(A if reverse else A.mT), T * h * n if reverse else _between(b, tokens),
            h, T, chosen.chunk, K, B * K * h,
            STAGES=4, SOURCE=source, WHOLE=False, REVERSE=reverse, num_warps=4 if N == MAX_BLOCK else 1,
            **_sizes(A, group),
        )  # fmt: skip
    return P, o


def _entries(P: Tensor, o: Tensor, start: Tensor) -> Tensor:
    """The state before each chunk (B,K,h,n), from the chunks' steps and the state before the first."""
    B, K, h, n = o.shape
    chosen, x = plan(B, min(K, MIN_CHUNKED_STEPS - 1), h, n, o.itemsize), torch.empty_like(o)
    with torch.cuda.device_of(P):
        kernels.sequential_forward[_grid(B * h, chosen.group)](
            P, o, start.contiguous(), x, None, *_strides(P), _between(o, None), h, K, K, 1, B * h,
            STAGES=chosen.num_stages, SOURCE="steps", WHOLE=True, num_warps=chosen.num_warps, **_sizes(P, chosen.group),
        )  # fmt: skip
    return torch.cat((start[:, None].to(x.dtype), x[:, :-1]), 1)


def _readable(A: Tensor) -> Tensor:
    """A as it lies, unless a step of it is scattered: distances inside a step are compiled into the kernels, and must
    not depend on B or T."""
    A = A.resolve_neg()  # kernels read memory, which a lazy minus sign has not reached
    return A.contiguous() if A.numel() and max(A.stride()[-3:]) > A.shape[-3] * A.shape[-1] ** 2 else A


def _grid(chains: int, group: int) -> tuple[int]:
    return (triton.cdiv(chains, group),)


def _sizes(like: Tensor, group: int) -> dict:
    n = like.shape[-1]
    return {"n": n, "N": padded(n), "G": group, "ACC": _accumulator(like), "enable_fp_fusion": True}


def _strides(A: Tensor) -> tuple[int, ...]:
    """Distances in A between sequences, steps (or tokens), blocks, rows and columns; 0 where A does not vary."""
    return (0,) * (5 - A.ndim) + A.stride()


def _between(b: Tensor, tokens: Tensor | None) -> int:
    """Distance between two sequences of b; a table has none."""
    return 0 if tokens is not None else b.stride(0)


def _accumulator(like: Tensor):
    return tl.float64 if like.dtype == torch.float64 else tl.float32


def _parts(t: Tensor) -> Tensor:
    """What a kernel reads: contiguous, complex numbers as pairs of real ones."""
    t = t.resolve_conj().resolve_neg().contiguous()
    return torch.view_as_real(t) if t.is_complex() else t
