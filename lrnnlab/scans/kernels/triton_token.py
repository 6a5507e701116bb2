"""Triton kernel that sums the gradient of a token table, without atomics; ``triton.py`` launches it.

Letters: B batch, T time, V vocabulary, h blocks, n block size, N the power of two that holds it, S slices of a token's
occurrences, R occurrences of a tile; x state, g the gradient arriving at a state; ACC the type of every sum.
"""

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit(do_not_specialize=("T",))
def table_gradient(
    order: tl.tensor, edges: tl.tensor, g: tl.tensor, x: tl.tensor, x0: tl.tensor, dA: tl.tensor, db: tl.tensor,
    T: tl.tensor, h: tl.tensor, n: tl.constexpr, N: tl.constexpr, R: tl.constexpr, S: tl.constexpr, ACC: tl.constexpr,
) -> None:  # fmt: skip
    """dA[s, v] = sum of g_t x_{t-1}^T, db[s, v] = sum of g_t, over slice s of the occurrences of token v."""
    v, s, head = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    V = tl.num_programs(0)
    low, high = tl.load(edges + v), tl.load(edges + v + 1)
    start, stop = low + (high - low) * s // S, low + (high - low) * (s + 1) // S
    i = tl.arange(0, N)
    exists = (i < n)[None, :]
    matrix, vector = tl.zeros([N, N], ACC), tl.zeros([N], ACC)
    for k in range(start, stop, R):
        p = k + tl.arange(0, R)
        on = p < stop
        place = tl.load(order + p, on, 0)
        later = place % T > 0
        at = ((place * h + head) * n)[:, None] + i[None, :]
        x0_at = ((place // T * h + head) * n)[:, None] + i[None, :]
        g_t = tl.load(g + at, on[:, None] & exists, 0).to(ACC)
        before = tl.load(x + at - h * n, (on & later)[:, None] & exists, 0).to(ACC)
        first = tl.load(x0 + x0_at, (on & (later == 0))[:, None] & exists, 0).to(ACC)
        before = tl.where(later[:, None], before, first)
        matrix += tl.sum(g_t[:, :, None] * before[:, None, :], 0)
        vector += tl.sum(g_t, 0)
    at = ((s * V + v).to(tl.int64) * h + head) * n
    tl.store(dA + (at + i)[:, None] * n + i[None, :], matrix, (i < n)[:, None] & exists)
    tl.store(db + at + i, vector, i < n)
