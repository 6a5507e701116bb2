"""The delta rule as one compiled pass over every string, forward and back: what ``backend="auto"`` runs on a CPU.

On the way there the columns of S = W^T do not depend on each other, so S is cut into tiles of L columns, which stay in
the nearest cache for a chunk of steps.  Kept for the way back are the errors e, and S where a chunk starts: from these
the way back makes the chunk's states once more, W row by row, as its sums run over the values.

Letters: K size of a key, V of a value (both filled up to whole tiles), M = V / L tiles, N chunks; S (M,K,L), one tile of
W (L,K), e = v - S^T k, u = beta e what a step writes; g the gradient arriving at what its name ends in; others as in
``delta.py``.  Arrays are flat; a place in one is named after what lies there (kt: k_t).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from llvmlite import ir
from torch import Tensor
from torch.nn import functional as F

from lrnnlab.scans.kernels.allocator import empty
from lrnnlab.scans.kernels.cpu import _flat
from lrnnlab.scans.kernels.cpu_vectors import Flat, compiled, dots, intrinsic
from lrnnlab.scans.kernels.threads import over_chains
from lrnnlab.scans.transforms import first_order

CHUNK = 16  # steps
_FUSED = ("contract",)


@intrinsic
def mix(
    builder: ir.IRBuilder, rows: Flat, r: ir.Value, s: ir.Value, weight: Flat, w: ir.Value, out: Flat, o: ir.Value, n: int
) -> None:  # fmt: skip
    """out[o : o+n] += sum_j weight[w+j] * rows[r + j s : r + j s + n], in four sums, since each waits for its last."""
    sums = [out.load(o), *[ir.Constant(ir.VectorType(out.element, n), [0.0] * n)] * 3]
    for j in range(n):
        row = rows.load(builder.add(r, builder.mul(s, s.type(j))))
        sums[j % 4] = builder.fadd(sums[j % 4], builder.fmul(weight.full(w, j), row, flags=_FUSED), flags=_FUSED)
    out.store(builder.fadd(builder.fadd(*sums[:2]), builder.fadd(*sums[2:])), o)


@intrinsic
def write(
    builder: ir.IRBuilder, rows: Flat, r: ir.Value, s: ir.Value, left: Flat, l: ir.Value, right: Flat, q: ir.Value,
    out: Flat, o: ir.Value, n: int,
) -> None:  # fmt: skip
    """out[o + j s : o + j s + n] = rows[r + j s : r + j s + n] + left[l+j] * right[q : q+n]."""
    vector = right.load(q)
    for j in range(n):
        far = builder.mul(s, s.type(j))
        product = builder.fmul(left.full(l, j), vector, flags=_FUSED)
        out.store(builder.fadd(rows.load(builder.add(r, far)), product, flags=_FUSED), builder.add(o, far))


@compiled
def forward(
    q: np.ndarray, k: np.ndarray, v: np.ndarray, beta: np.ndarray, S: np.ndarray, e: np.ndarray, y: np.ndarray,
    sizes: tuple, removal: bool, keep: bool, first: int, last: int, left: int, right: int, lanes: tuple,
) -> None:  # fmt: skip
    """S (B,N+1,H,M,K,L), or (B,1,H,M,K,L) unless ``keep``, begins with S_0 and ends with S_T; of strings first:last and
    heads left:right; ``lanes`` are L zeros."""
    T, H, K, V = sizes
    L, u = len(lanes), np.empty(len(lanes), q.dtype)
    kept = (T + CHUNK - 1) // CHUNK + 1 if keep else 1
    for b in range(first, last):
        for start in range(0, T, CHUNK):
            for h in range(left, right):
                state = (b * kept * H + h) * K * V
                if keep:
                    state += (start // CHUNK + 1) * H * K * V
                    for i in range(state, state + K * V):
                        S[i] = S[i - H * K * V]
                for m in range(V // L):
                    s = state + m * K * L
                    for t in range(start, min(start + CHUNK, T)):
                        at = (b * T + t) * H + h
                        kt, vt = at * K, at * V + m * L
                        for l in range(L):
                            u[l] = 0
                        for i in range(0, K if removal else 0, L):
                            mix(S, s + i * L, L, k, kt + i, u, 0, lanes)
                        for l in range(L):
                            e[vt + l] = v[vt + l] - u[l]
                            u[l] = beta[at] * e[vt + l]
                            y[vt + l] = 0
                        for i in range(0, K, L):
                            write(S, s + i * L, L, k, kt + i, u, 0, S, s + i * L, lanes)
                            mix(S, s + i * L, L, q, kt + i, y, vt, lanes)


@compiled
def backward(
    q: np.ndarray, k: np.ndarray, beta: np.ndarray, S: np.ndarray, e: np.ndarray, gy: np.ndarray, gS: np.ndarray,
    gq: np.ndarray, gk: np.ndarray, gv: np.ndarray, gbeta: np.ndarray, W: np.ndarray, sizes: tuple, removal: bool,
    first: int, last: int, left: int, right: int, lanes: tuple,
) -> None:  # fmt: skip
    """gS (B,H,M,K,L) holds what arrives at S_T, and in the end what arrives at S_0; W has room for CHUNK + 1 tiles; gq,
    gk and gbeta begin with zeros."""
    T, H, K, V = sizes
    L, u, tile = len(lanes), np.empty(len(lanes), q.dtype), K * len(lanes)
    N = (T + CHUNK - 1) // CHUNK
    for b in range(first, last):
        for c in range(N - 1, -1, -1):
            start, end = c * CHUNK, min((c + 1) * CHUNK, T)
            for h in range(left, right):
                for m in range(V // L):
                    s, g = ((b * (N + 1) + c) * H + h) * K * V + m * tile, (b * H + h) * K * V + m * tile
                    for i in range(K):
                        for l in range(L):
                            W[l * K + i] = S[s + i * L + l]
                    for t in range(start, end):
                        at, w = (b * T + t) * H + h, (t - start) * tile
                        for l in range(L):
                            u[l] = beta[at] * e[at * V + m * L + l]
                        for i in range(0, K, L):
                            write(W, w + i, K, u, 0, k, at * K + i, W, w + tile + i, lanes)
                    for t in range(end - 1, start - 1, -1):
                        at, w = (b * T + t) * H + h, (t - start) * tile
                        kt, vt = at * K, at * V + m * L
                        for l in range(L):
                            u[l] = beta[at] * e[vt + l]
                            gv[vt + l] = 0
                        for i in range(0, K, L):  # y = W_t q, and W_t = W_{t-1} + u k^T
                            mix(W, w + tile + i, K, gy, vt, gq, kt + i, lanes)
                            write(gS, g + i * L, L, q, kt + i, gy, vt, gS, g + i * L, lanes)
                            mix(gS, g + i * L, L, k, kt + i, gv, vt, lanes)
                            dots(gS, g + i * L, L, u, 0, gk, kt + i, gk, kt + i, lanes)
                        for l in range(L):  # u = beta e
                            gbeta[at] += e[vt + l] * gv[vt + l]
                            gv[vt + l] *= beta[at]
                            u[l] = -gv[vt + l]
                        for i in range(0, K if removal else 0, L):  # e = v - W_{t-1} k
                            mix(W, w + i, K, u, 0, gk, kt + i, lanes)
                            write(gS, g + i * L, L, k, kt + i, u, 0, gS, g + i * L, lanes)


class DeltaLoop(torch.autograd.Function):
    """y (B,T,H,V) and S_T (B,H,M,K,L); with ``keep`` the way back can be taken."""

    second = "with backend='reference' or 'chunkwise'"

    @staticmethod
    def forward(ctx: Any, q: Tensor, k: Tensor, v: Tensor, beta: Tensor, S0: Tensor, removal: bool,
                keep: bool) -> tuple[Tensor, Tensor]:  # fmt: skip
        B, T, H, K = k.shape
        S = empty((B, -(-T // CHUNK) + 1 if keep else 1, *S0.shape[1:]), S0.dtype)
        S[:, 0] = S0
        e, y = empty(v.shape, v.dtype), empty(v.shape, v.dtype)
        arrays, sizes, lanes = _flat(q, k, v, beta, S, e, y), (T, H, K, v.shape[-1]), (0,) * S.shape[-1]

        def work(_, *part):
            forward(*arrays, sizes, removal, keep, *part, lanes)

        over_chains(work, B, H, v.numel() * K)
        ctx.removal = removal
        ctx.save_for_backward(q, k, beta, S, e)
        return y, S[:, -1].clone()

    @staticmethod
    @first_order
    def backward(ctx: Any, gy: Tensor, gS: Tensor) -> tuple[Tensor | None, ...]:
        q, k, beta, S, e = ctx.saved_tensors
        B, T, H, K = k.shape
        gS = gS.clone(memory_format=torch.contiguous_format)
        found = (*(torch.zeros_like(x, memory_format=torch.contiguous_format) for x in (q, k)), empty(e.shape, e.dtype),
                 torch.zeros_like(beta, memory_format=torch.contiguous_format))  # fmt: skip
        arrays, sizes, lanes = _flat(q, k, beta, S, e, gy, gS, *found), (T, H, K, e.shape[-1]), (0,) * S.shape[-1]

        def work(_, *part):
            backward(*arrays, q.new_empty((CHUNK + 1) * K * len(lanes)).numpy(), sizes, ctx.removal, *part, lanes)

        over_chains(work, B, H, e.numel() * K)
        return *found, gS, None, None


def delta(q: Tensor, k: Tensor, v: Tensor, beta: Tensor, W: Tensor, removal: bool) -> tuple[Tensor, Tensor]:
    """y (B,T,H,v) and W_T (B,H,v,k) of a CPU's tensors that are not empty."""
    *_, values, size = W.shape
    L = 8 if max(values, size) <= 8 else 16
    more_keys, more_values = -size % L, -values % L
    S = F.pad(W, (0, more_keys, 0, more_values)).unflatten(2, (-1, L)).mT
    if more_keys:
        q, k = F.pad(q, (0, more_keys)), F.pad(k, (0, more_keys))
    if more_values:
        v = F.pad(v, (0, more_values))
    keep = torch.is_grad_enabled() and any(x.requires_grad for x in (q, k, v, beta, W))
    y, S = DeltaLoop.apply(q, k, v, beta, S, removal, keep)
    return y[..., :values], S.mT.flatten(2, 3)[:, :, :values, :size]
