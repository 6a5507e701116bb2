"""Triton kernels of the diagonal scan x_t = A_t x_{t-1} + b_t, real or complex; ``triton.py`` launches them.

A program takes R steps of Q channels at a time, scans them with ``tl.associative_scan`` (pairs (a, b), each the
map x -> a x + b) and hands the last state to the next tile.  The state before a tile enters as part of its first step's b.
Complex numbers come as pairs (real, imaginary), which lie side by side in memory: one wide load, then ``tl.split``.
The backward kernel counts time from the end, so that the same scan runs in it.

Rows beyond T hold the identity (a = 1, b = 0): the last row of a tile is always the state to hand on.

Letters: B batch, T time, D channels, R steps and Q channels of a tile; A transition, b input term, x state, g the
gradient arriving at a state; ACC the type of the state and of every sum.
"""

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def _real(a1, b1, a2, b2):
    return a2 * a1, a2 * b1 + b2


@triton.jit
def _complex(a1, i1, b1, j1, a2, i2, b2, j2):
    return a2 * a1 - i2 * i1, a2 * i1 + i2 * a1, a2 * b1 - i2 * j1 + b2, a2 * j1 + i2 * b1 + j2


@triton.jit
def _load(source, at, on, other, COMPLEX: tl.constexpr, ACC: tl.constexpr):
    """Real and imaginary part of a tile (the second is unused if real); ``other`` where it has no entries."""
    if COMPLEX:
        pair = tl.arange(0, 2)[None, None, :]
        filled = tl.where(pair == 0, other, 0.0)
        both = tl.load(source + at[:, :, None] * 2 + pair, on[:, :, None], 0).to(ACC)
        return tl.split(tl.where(on[:, :, None], both, filled))
    else:
        part = tl.where(on, tl.load(source + at, on, 0).to(ACC), other)
        return part, part


@triton.jit
def _store(target, at, re, im, on, COMPLEX: tl.constexpr):
    if COMPLEX:
        pair = tl.arange(0, 2)[None, None, :]
        tl.store(target + at[:, :, None] * 2 + pair, tl.join(re, im), on[:, :, None])
    else:
        tl.store(target + at, re, on)


@triton.jit
def _times(a, i, b, j, COMPLEX: tl.constexpr):
    """(a + i*1j) (b + j*1j); of real numbers, a b and something unused."""
    if COMPLEX:
        return a * b - i * j, a * j + i * b
    else:
        return a * b, b


@triton.jit
def _scan(a, i, b, j, x, y, R: tl.constexpr, COMPLEX: tl.constexpr):
    """States of a tile whose first step starts from x + y*1j, and the last of them."""
    first = tl.arange(0, R)[:, None] == 0
    last = tl.arange(0, R)[:, None] == R - 1
    u, v = _times(a, i, x[None, :], y[None, :], COMPLEX)
    b = tl.where(first, b + u, b)
    if COMPLEX:
        j = tl.where(first, j + v, j)
        _, _, b, j = tl.associative_scan((a, i, b, j), 0, _complex)
        return b, j, tl.sum(tl.where(last, b, 0.0), 0), tl.sum(tl.where(last, j, 0.0), 0)
    else:
        _, b = tl.associative_scan((a, b), 0, _real)
        x = tl.sum(tl.where(last, b, 0.0), 0)
        return b, b, x, x


@triton.jit
def _columns(D: tl.constexpr, Q: tl.constexpr):
    """Sequence and channels of this program, and which of these channels exist."""
    across = tl.cdiv(D, Q)
    batch = (tl.program_id(0) // across).to(tl.int64)
    d = (tl.program_id(0) % across) * Q + tl.arange(0, Q)
    return batch, d, d < D


@triton.jit(do_not_specialize=("T",))
def diagonal_forward(
    A: tl.tensor, b: tl.tensor, x0: tl.tensor, x: tl.tensor, T: tl.tensor, D: tl.constexpr, R: tl.constexpr,
    Q: tl.constexpr, STAGES: tl.constexpr, CONSTANT: tl.constexpr, COMPLEX: tl.constexpr, ACC: tl.constexpr,
) -> None:  # fmt: skip
    """x of x_t = A_t x_{t-1} + b_t; with CONSTANT, A is (D,)."""
    batch, d, live = _columns(D, Q)
    channel, exists = d[None, :], live[None, :]
    top, side = _load(x0, batch * D + channel, exists, 0.0, COMPLEX, ACC)
    state, im = tl.sum(top, 0), tl.sum(side, 0)  # (1, Q) -> (Q,)
    for start in tl.range(0, T, R, num_stages=STAGES):
        t = start + tl.arange(0, R)[:, None]
        on = (t < T) & exists
        at = (batch * T + t) * D + channel
        if CONSTANT:
            a, i = _load(A, channel + t * 0, on, 1.0, COMPLEX, ACC)
        else:
            a, i = _load(A, at, on, 1.0, COMPLEX, ACC)
        u, v = _load(b, at, on, 0.0, COMPLEX, ACC)
        u, v, state, im = _scan(a, i, u, v, state, im, R, COMPLEX)
        _store(x, at, u, v, on, COMPLEX)


@triton.jit(do_not_specialize=("T",))
def diagonal_backward(
    A: tl.tensor, x0: tl.tensor, x: tl.tensor, dx: tl.tensor, dA: tl.tensor, db: tl.tensor, dx0: tl.tensor,
    T: tl.tensor, D: tl.constexpr, R: tl.constexpr, Q: tl.constexpr, STAGES: tl.constexpr, CONSTANT: tl.constexpr,
    COMPLEX: tl.constexpr, ACC: tl.constexpr,
) -> None:  # fmt: skip
    """g_t = dx_t + conj(A_{t+1}) g_{t+1}; db = g, dA_t = g_t conj(x_{t-1}), dx0 = conj(A_1) g_1."""
    batch, d, live = _columns(D, Q)
    channel, exists = d[None, :], live[None, :]
    begin, begun = _load(x0, batch * D + channel, exists, 0.0, COMPLEX, ACC)
    g, h = tl.zeros([Q], ACC), tl.zeros([Q], ACC)
    total, turned = tl.zeros([1, Q], ACC), tl.zeros([1, Q], ACC)
    for start in tl.range(0, T, R, num_stages=STAGES):
        t = T - 1 - start - tl.arange(0, R)[:, None]
        on = (t >= 0) & exists
        at = (batch * T + t) * D + channel
        carries = on & (t < T - 1)  # there is a later step
        if CONSTANT:
            a, i = _load(A, channel + t * 0, carries, 1.0, COMPLEX, ACC)
        else:
            a, i = _load(A, at + D, carries, 1.0, COMPLEX, ACC)
        u, v = _load(dx, at, on, 0.0, COMPLEX, ACC)
        u, v, g, h = _scan(a, -i, u, v, g, h, R, COMPLEX)
        _store(db, at, u, v, on, COMPLEX)
        p, q = _load(x, at - D, on & (t > 0), 0.0, COMPLEX, ACC)
        p, q = tl.where(t > 0, p, begin), tl.where(t > 0, q, begun)
        p, q = _times(u, v, p, -q, COMPLEX)
        if CONSTANT:
            total += tl.sum(tl.where(on, p, 0.0), 0)[None, :]
            turned += tl.sum(tl.where(on, q, 0.0), 0)[None, :]
        else:
            _store(dA, at, p, q, on, COMPLEX)
    if CONSTANT:
        a, i = _load(A, channel, exists, 0.0, COMPLEX, ACC)
        _store(dA, batch * D + channel, total, turned, exists, COMPLEX)
    else:
        a, i = _load(A, batch * T * D + channel, exists, 0.0, COMPLEX, ACC)
    p, q = _times(a, -i, g[None, :], h[None, :], COMPLEX)
    _store(dx0, batch * D + channel, p, q, exists, COMPLEX)
