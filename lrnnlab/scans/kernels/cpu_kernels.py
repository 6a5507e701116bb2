"""The compiled loops behind the ``cpu`` backend (numba); ``cpu.py`` gives them their threads and their memory.

Arrays are passed flat.  Every loop works on a part of the chains: batch entries i to j and blocks (or channels) k to
l.  ``step`` is 1 where every (batch, time) has a transition of its own and 0 where all share one; ``into`` says what
becomes of the transitions' gradients: ``SET`` writes each into its own place, ``ADD`` sums them into one.

Letters: B batch, T time, D channels, h blocks, n block size (the length of the tuple ``size``); A transition, b input
term, x state, g the gradient arriving at a state.
"""

from __future__ import annotations

import numpy as np

from lrnnlab.scans.kernels.cpu_vectors import (
    ADD,
    NO,
    YES,
    Flag,
    add,
    compiled,
    dots,
    inlined,
    mix,
    move,
    outer,
    prefetch,
    softmax_step,
    softmax_step_back,
    times,
)

# How many numbers before their use the transitions are fetched into the cache.  Without that, the first read of every
# page of memory waits: the processor's own prefetching stops at the end of a page.
AHEAD = 1024


@compiled
def block_forward(
    A: np.ndarray, b: np.ndarray, x0: np.ndarray, x: np.ndarray, T: int, h: int, head: int, s: int, step: int, i: int,
    j: int, k: int, l: int, size: tuple[int, ...],
) -> None:  # fmt: skip
    """x_t = A_t x_{t-1} + b_t."""
    n = len(size)
    for B in range(i, j):
        for t in range(T):
            for c in range(k, l):
                at, row = ((B * T + t) * h + c) * n, step * (B * T + t) * h * n * n + c * head
                prefetch(A, step * ((B * T + t) * h + c) * n * n + AHEAD, size)
                if t == 0:
                    dots(A, row, s, x0, (B * h + c) * n, b, at, x, at, size)
                else:
                    dots(A, row, s, x, at - h * n, b, at, x, at, size)


@compiled
def block_backward(
    A: np.ndarray, x0: np.ndarray, x: np.ndarray, dx: np.ndarray, dA: np.ndarray, db: np.ndarray, dx0: np.ndarray,
    T: int, h: int, head: int, s: int, step: int, into: Flag, past: Flag, i: int, j: int, k: int, l: int,
    size: tuple[int, ...],
) -> None:  # fmt: skip
    """Gradients of block_forward: g_t = dx_t + A_{t+1}^T g_{t+1}, db_t = g_t, dA_t = g_t x_{t-1}^T, ``past`` the cache."""
    n = len(size)
    for B in range(i, j):
        for t in range(T - 1, -1, -1):
            for c in range(k, l):
                at, row = ((B * T + t) * h + c) * n, step * (B * T + t) * h * n * n + c * head
                prefetch(A, step * ((B * T + t) * h + c) * n * n - AHEAD, size)
                if t == T - 1:
                    for d in range(n):
                        db[at + d] = dx[at + d]
                else:
                    mix(A, row + step * h * n * n, s, db, at + h * n, dx, at, db, at, size)
                if t == 0:
                    first = (B * h + c) * n
                    outer(db, at, x0, first, dA, row, s, into, past, size)
                    mix(A, row, s, db, at, dx0, first, dx0, first, size)
                else:
                    outer(db, at, x, at - h * n, dA, row, s, into, past, size)


@compiled
def token_forward(
    columns: np.ndarray, b_table: np.ndarray, tokens: np.ndarray, x0: np.ndarray, x: np.ndarray, T: int, h: int, i: int,
    j: int, k: int, l: int, size: tuple[int, ...],
) -> bool:  # fmt: skip
    """x_t = A[token_t] x_{t-1} + b[token_t]; columns is flat (V,h,n,n), column by column.  False: a token is not in 0..V-1."""
    n = len(size)
    V = len(b_table) // (h * n)
    for B in range(i, j):
        for t in range(T):
            v = tokens[B * T + t]
            if v < 0 or v >= V:
                return False
            for c in range(k, l):
                at, row = ((B * T + t) * h + c) * n, (v * h + c) * n
                if t == 0:
                    mix(columns, row * n, n, x0, (B * h + c) * n, b_table, row, x, at, size)
                else:
                    mix(columns, row * n, n, x, at - h * n, b_table, row, x, at, size)
    return True


@compiled
def token_backward(
    A_table: np.ndarray, tokens: np.ndarray, x0: np.ndarray, x: np.ndarray, dx: np.ndarray, dA: np.ndarray,
    db: np.ndarray, dx0: np.ndarray, T: int, h: int, i: int, j: int, k: int, l: int, size: tuple[int, ...],
) -> None:  # fmt: skip
    """Gradients of token_forward, added into dA (V,h,n,n) and db (V,h,n); dx0 is zero before."""
    n = len(size)
    g = np.zeros(2 * h * n, dx.dtype)  # the gradient at t and at t+1, in turn
    for B in range(i, j):
        for t in range(T - 1, -1, -1):
            v = tokens[B * T + t]
            here, there = (t % 2) * h * n, ((t + 1) % 2) * h * n
            for c in range(k, l):
                at, row, now = ((B * T + t) * h + c) * n, (v * h + c) * n, here + c * n
                if t == T - 1:
                    for d in range(n):
                        g[now + d] = dx[at + d]
                else:
                    later = (tokens[B * T + t + 1] * h + c) * n
                    mix(A_table, later * n, n, g, there + c * n, dx, at, g, now, size)
                add(g, now, db, row, size)
                if t == 0:
                    first = (B * h + c) * n
                    outer(g, now, x0, first, dA, row * n, n, ADD, NO, size)
                    mix(A_table, row * n, n, g, now, dx0, first, dx0, first, size)
                else:
                    outer(g, now, x, at - h * n, dA, row * n, n, ADD, NO, size)


WIDE = (0,) * 16  # numbers at a time
LINE = (0,) * 4  # a block of 16 numbers: one cache line of float32
BEHIND = 512  # AHEAD of a loop that goes backwards, whose rows the processor's own prefetching does not foresee


@inlined
def _all(left, l, right, r, base, q, out, o, count, conjugate, pairs, unit):
    """``times`` on ``count`` numbers: WIDE at a time, and the rest one (or one pair) at a time."""
    wide = count - count % len(WIDE)
    for d in range(0, wide, len(WIDE)):
        times(left, l + d, right, r + d, base, q + d, out, o + d, conjugate, pairs, NO, WIDE)
    for d in range(wide, count, len(unit)):
        times(left, l + d, right, r + d, base, q + d, out, o + d, conjugate, pairs, NO, unit)


@compiled
def diagonal_forward(
    A: np.ndarray, b: np.ndarray, x0: np.ndarray, x: np.ndarray, T: int, D: int, step: int, i: int, j: int, k: int,
    l: int, pairs: Flag, unit: tuple[int, ...],
) -> None:  # fmt: skip
    """x_t = A_t x_{t-1} + b_t channel by channel; arrays flat (B,T,D), A (D) where ``step`` is 0."""
    for B in range(i, j):
        for t in range(T):
            at = (B * T + t) * D + k
            if t == 0:
                _all(A, step * (at - k) + k, x0, B * D + k, b, at, x, at, l - k, NO, pairs, unit)
            else:
                _all(A, step * (at - k) + k, x, at - D, b, at, x, at, l - k, NO, pairs, unit)


@compiled
def diagonal_backward(
    A: np.ndarray, x0: np.ndarray, x: np.ndarray, dx: np.ndarray, dA: np.ndarray, db: np.ndarray, dx0: np.ndarray,
    T: int, D: int, step: int, into: Flag, past: Flag, i: int, j: int, k: int, l: int, pairs: Flag, unit: tuple[int, ...],
) -> None:  # fmt: skip
    """Gradients of diagonal_forward, for complex numbers torch's, with conjugates; dA and db are written ``past`` the cache."""
    g = np.empty(l - k, dx.dtype)  # what db holds need not be read again
    for B in range(i, j):
        for t in range(T - 1, -1, -1):
            at = (B * T + t) * D + k
            row, later = step * (at - k) + k, step * (at - k + D) + k
            for d in range(at - BEHIND, at - BEHIND + l - k, len(WIDE)):
                prefetch(dx, d, LINE)
                prefetch(x, d, LINE)
                if not isinstance(past, tuple):
                    prefetch(db, d, LINE)
                if step:
                    prefetch(A, d, LINE)
            if t == 0:
                _slopes(A, later, g, dx, db, at, x0, B * D + k, dA, row, T == 1, into, past, pairs, unit)
            else:
                _slopes(A, later, g, dx, db, at, x, at - D, dA, row, t == T - 1, into, past, pairs, unit)
        first = B * T * D
        _all(A, step * first + k, g, 0, None, 0, dx0, B * D + k, l - k, YES, pairs, unit)


@inlined
def _slopes(A, a, g, dx, db, at, before, p, dA, o, last, into, past, pairs, unit):
    """g_t, db_t and dA_t in one pass: one after the other they take up to twice as long."""
    wide = len(g) - len(g) % len(WIDE)
    for d in range(0, wide, len(WIDE)):
        _slope(A, a + d, g, d, dx, db, at + d, before, p + d, dA, o + d, last, into, past, pairs, WIDE)
    for d in range(wide, len(g), len(unit)):
        _slope(A, a + d, g, d, dx, db, at + d, before, p + d, dA, o + d, last, into, NO, pairs, unit)


@inlined
def _slope(A, a, g, d, dx, db, at, before, p, dA, o, last, into, past, pairs, size):
    if last:
        move(dx, at, g, d, NO, size)
    else:
        times(A, a, g, d, dx, at, g, d, YES, pairs, NO, size)
    move(g, d, db, at, past, size)
    if isinstance(into, tuple):
        times(before, p, g, d, dA, o, dA, o, YES, pairs, NO, size)
    else:
        times(before, p, g, d, None, 0, dA, o, YES, pairs, past, size)


# --- column softmax and scan in one pass, for transitions that are made to be scanned once -----------------------------
# Apart, the softmax writes A, the scan reads it, and on the way back dA is written, read, and turned into d raw, each
# time through the whole memory.  Together a block stays in registers from its raw numbers to its state.  raw, A and their
# gradients lie as (B,T,row,h,column), a block's rows h n apart.


@compiled
def softmax_forward(
    raw: np.ndarray, x0: np.ndarray, A: np.ndarray, x: np.ndarray, T: int, h: int, i: int, j: int, k: int, l: int,
    size: tuple[int, ...],
) -> None:  # fmt: skip
    """A_t = softmax of raw_t's columns, x_t = A_t x_{t-1}, for batch entries i to j and blocks k to l."""
    n = len(size)
    for B in range(i, j):
        for t in range(T):
            for c in range(k, l):
                at, row = ((B * T + t) * h + c) * n, (B * T + t) * h * n * n + c * n
                prefetch(raw, ((B * T + t) * h + c) * n * n + AHEAD, size)
                if t == 0:
                    softmax_step(raw, A, row, h * n, x0, (B * h + c) * n, x, at, size)
                else:
                    softmax_step(raw, A, row, h * n, x, at - h * n, x, at, size)


@compiled
def softmax_backward(
    A: np.ndarray, dA: np.ndarray | None, x0: np.ndarray, x: np.ndarray, dx: np.ndarray, draw: np.ndarray,
    dx0: np.ndarray, T: int, h: int, i: int, j: int, k: int, l: int, size: tuple[int, ...],
) -> None:  # fmt: skip
    """Gradients of softmax_forward; dA is the gradient that arrives at A from elsewhere, or None; dx0 is zero before."""
    n = len(size)
    for B in range(i, j):
        for t in range(T - 1, -1, -1):
            for c in range(k, l):
                at, row, first = ((B * T + t) * h + c) * n, (B * T + t) * h * n * n + c * n, (B * h + c) * n
                prefetch(A, ((B * T + t) * h + c) * n * n - AHEAD, size)
                prefetch(draw, ((B * T + t) * h + c) * n * n - AHEAD, size)
                # dx0 holds what has come back so far, first to state T - 1 and at last to x_0
                if t == 0:
                    softmax_step_back(A, dA, draw, row, h * n, x0, first, dx, at, dx0, first, size)
                else:
                    softmax_step_back(A, dA, draw, row, h * n, x, at - h * n, dx, at, dx0, first, size)
