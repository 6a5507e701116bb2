"""Triton kernels of the scan x_t = A_t x_{t-1} + b_t, block-diagonal and diagonal; ``triton.py`` launches them.

**Blocks.**  A *chain* is one block of one sequence, followed through time, or through one chunk of it.  A program keeps the
states of G chains in registers and walks along time; ``tl.range(num_stages=...)`` has the next steps' A and b on their way
into shared memory meanwhile.  The chunked road walks three times: ``chunk_products`` reduces every chunk to one step,
``sequential_forward`` scans these steps, and scans again inside every chunk from its true entry state.

SOURCE says where step t's A and b come from: ``"steps"`` (A[batch, t], b[batch, t]), ``"constant"`` (one A, read once,
and b[batch, t]), or ``"tokens"`` (A[token], b[token], looked up step by step); the gradient of a table of tokens is summed
by ``table_gradient``, without atomics.

A lane beyond the last chain, a row beyond n and a step beyond T are never read: they hold zeros, and
nothing is ever multiplied by a mask, so that a NaN stays in its chain.

**Diagonals**, real or complex.  A program takes R steps of Q channels at a time, scans them with ``tl.associative_scan``
(pairs (a, b), each the map x -> a x + b) and hands the last state to the next tile.  The state before a tile enters as part
of its first step's b.  Complex numbers come as pairs (real, imaginary), which lie side by side in memory: one wide load, then
``tl.split``.  The backward kernel counts time from the end, so that the same scan runs in it.  Rows beyond T hold the
identity (a = 1, b = 0): the last row of a tile is always the state to hand on.

Letters: B batch, T time, V vocabulary, h blocks, n block size, N the power of two that holds it, K chunks of L steps, G
chains of a program, S slices of a token's occurrences; D channels, R steps (or occurrences) and Q channels of a tile; A
transition, b input term, x state, g the gradient arriving at a state, r = A_{t+1}^T g_{t+1} its part that comes from later
steps; ACC the type of the state and of every sum.
"""

from __future__ import annotations

import triton
import triton.language as tl

VARYING = ("T", "L", "K", "chains")  # sizes for which no kernel of its own is compiled


@triton.jit
def _chains(h: tl.constexpr, K, L, chains, G: tl.constexpr, WHOLE: tl.constexpr):
    """Of each lane: its chain, sequence, block, first step, and whether there is such a chain."""
    chain = tl.program_id(0).to(tl.int64) * G + tl.arange(0, G)
    if WHOLE:
        return chain, chain // h, chain % h, tl.zeros([1], tl.int64), chain < chains
    else:
        row = chain // h
        return chain, row // K, chain % h, (row % K) * L, chain < chains


@triton.jit
def _on(live, t, T, WHOLE: tl.constexpr):
    """Which lanes have a step t."""
    if WHOLE:
        return live
    else:
        return live & (t < T)


@triton.jit
def _tile(batch, head, sB, sH, sI, sJ, n: tl.constexpr, N: tl.constexpr):
    """Where the n x n block of each lane starts, and which of its N x N places exist."""
    i = tl.arange(0, N)
    at = (batch * sB + head * sH)[:, None, None] + (i * sI)[None, :, None] + (i * sJ)[None, None, :]
    return at, (i < n)[None, :, None] & (i < n)[None, None, :]


@triton.jit
def _vector(start, live, n: tl.constexpr, N: tl.constexpr):
    """Where the n numbers of each lane lie, and which of its N places exist."""
    i = tl.arange(0, N)
    return start[:, None] + i[None, :], live[:, None] & (i < n)[None, :]


@triton.jit
def _entry(tokens, batch, t, T, on, SOURCE: tl.constexpr):
    """What A and b are indexed by at step t: the step itself, or its token."""
    if SOURCE == "tokens":
        return tl.load(tokens + batch * T + t, on, 0).to(tl.int64)
    else:
        return t


@triton.jit(do_not_specialize=VARYING)
def sequential_forward(
    A: tl.tensor, b: tl.tensor, x0: tl.tensor, x: tl.tensor, tokens: tl.tensor, sB: tl.tensor, sT: tl.tensor,
    sH: tl.constexpr, sI: tl.constexpr, sJ: tl.constexpr, bB: tl.tensor, h: tl.constexpr, T: tl.tensor, L: tl.tensor,
    K: tl.tensor, chains: tl.tensor, n: tl.constexpr, N: tl.constexpr, G: tl.constexpr, WHOLE: tl.constexpr,
    STAGES: tl.constexpr, SOURCE: tl.constexpr, ACC: tl.constexpr,
) -> None:  # fmt: skip
    """x from x0 (B,K,h,n), the state before each chunk; sB..sJ are A's strides, bB is b's from sequence to sequence."""
    chain, batch, head, first, live = _chains(h, K, L, chains, G, WHOLE)
    A_at, exists = _tile(batch, head, sB, sH, sI, sJ, n, N)
    state_at, place = _vector(chain * n, live, n, N)
    b_at, _ = _vector(batch * bB + head * n, live, n, N)
    x_at, _ = _vector((batch * T * h + head) * n, live, n, N)
    state = tl.load(x0 + state_at, place, 0).to(ACC)
    if SOURCE == "constant":
        A_t = tl.load(A + A_at, live[:, None, None] & exists, 0).to(ACC)
    for s in tl.range(0, L, num_stages=STAGES):
        t = first + s
        on = _on(live, t, T, WHOLE)
        k = _entry(tokens, batch, t, T, on, SOURCE)
        if SOURCE != "constant":
            A_t = tl.load(A + A_at + (k * sT)[:, None, None], on[:, None, None] & exists, 0).to(ACC)
        b_t = tl.load(b + b_at + (k * h * n)[:, None], on[:, None] & place, 0).to(ACC)
        state = tl.sum(A_t * state[:, None, :], 2) + b_t
        tl.store(x + x_at + (t * h * n)[:, None], state, on[:, None] & place)


@triton.jit(do_not_specialize=VARYING)
def sequential_backward(
    A: tl.tensor, x0: tl.tensor, x: tl.tensor, dx: tl.tensor, r_in: tl.tensor, dA: tl.tensor, db: tl.tensor,
    r_out: tl.tensor, tokens: tl.tensor, sB: tl.tensor, sT: tl.tensor, sH: tl.constexpr, sI: tl.constexpr,
    sJ: tl.constexpr, dB: tl.tensor, dT: tl.tensor, dH: tl.constexpr, dI: tl.constexpr, dJ: tl.constexpr,
    h: tl.constexpr, T: tl.tensor, L: tl.tensor, K: tl.tensor, chains: tl.tensor, n: tl.constexpr, N: tl.constexpr,
    G: tl.constexpr, WHOLE: tl.constexpr, STAGES: tl.constexpr, SOURCE: tl.constexpr, ACC: tl.constexpr,
) -> None:  # fmt: skip
    """db_t = g_t and dA_t = g_t x_{t-1}^T, from each chunk's last step to its first; r_in, r_out (B,K,h,n)."""
    chain, batch, head, first, live = _chains(h, K, L, chains, G, WHOLE)
    A_at, exists = _tile(batch, head, sB, sH, sI, sJ, n, N)
    dA_at, _ = _tile(batch, head, dB, dH, dI, dJ, n, N)
    state_at, place = _vector(chain * n, live, n, N)
    x_at, _ = _vector((batch * T * h + head) * n, live, n, N)
    x0_at, _ = _vector((batch * h + head) * n, live, n, N)
    start = tl.load(x0 + x0_at, place, 0).to(ACC)
    r = tl.load(r_in + state_at, place, 0).to(ACC)
    if SOURCE == "constant":
        A_t = tl.load(A + A_at, live[:, None, None] & exists, 0).to(ACC)
        total = tl.zeros([G, N, N], ACC)
    for s in tl.range(0, L, num_stages=STAGES):
        t = first + (L - 1 - s)
        on = _on(live, t, T, WHOLE)
        k = _entry(tokens, batch, t, T, on, SOURCE)
        if SOURCE != "constant":
            A_t = tl.load(A + A_at + (k * sT)[:, None, None], on[:, None, None] & exists, 0).to(ACC)
        here = on[:, None] & place
        later = (t > 0)[:, None]
        g = tl.load(dx + x_at + (t * h * n)[:, None], here, 0).to(ACC) + r
        before = tl.load(x + x_at + ((t - 1) * h * n)[:, None], here & later, 0).to(ACC)
        before = tl.where(later, before, start)
        tl.store(db + x_at + (t * h * n)[:, None], g, here)
        if SOURCE == "steps":
            outer = g[:, :, None] * before[:, None, :]
            tl.store(dA + dA_at + (t * dT)[:, None, None], outer, on[:, None, None] & exists)
        if SOURCE == "constant":
            total += tl.where(on[:, None, None], g[:, :, None] * before[:, None, :], 0.0)
        r = tl.sum(A_t * g[:, :, None], 1)
    tl.store(r_out + state_at, r, place)
    if SOURCE == "constant":
        sum_at, _ = _tile(chain, chain * 0, n * n, 0, n, 1, n, N)
        tl.store(dA + sum_at, total, live[:, None, None] & exists)


@triton.jit(do_not_specialize=VARYING)
def chunk_products(
    A: tl.tensor, b: tl.tensor, P: tl.tensor, o: tl.tensor, tokens: tl.tensor, sB: tl.tensor, sT: tl.tensor,
    sH: tl.constexpr, sI: tl.constexpr, sJ: tl.constexpr, bB: tl.tensor, h: tl.constexpr, T: tl.tensor, L: tl.tensor,
    K: tl.tensor, chains: tl.tensor, n: tl.constexpr, N: tl.constexpr, G: tl.constexpr, WHOLE: tl.constexpr,
    STAGES: tl.constexpr, SOURCE: tl.constexpr, ACC: tl.constexpr, REVERSE: tl.constexpr,
) -> None:  # fmt: skip
    """Every chunk as one step x -> P x + o; P (B,K,h,n,n), o (B,K,h,n).

    The sums run over the second axis of a tile, whose rows lie in one thread's registers; so forwards A is read
    transposed, by its strides (compiled for n = 16: 8 barriers and 3 shuffles; along the last axis, 26 and 51).
    """
    chain, batch, head, first, live = _chains(h, K, L, chains, G, WHOLE)
    A_at, exists = _tile(batch, head, sB, sH, sI, sJ, n, N)
    place_at, place = _vector(batch * bB + head * n, live, n, N)
    i = tl.arange(0, N)
    identity = tl.where(i[:, None] == i[None, :], 1.0, 0.0).to(ACC)[None, :, :]
    product = tl.broadcast_to(identity, (G, N, N))
    offset = tl.zeros([G, N], ACC)
    for s in tl.range(0, L, num_stages=STAGES):
        t = first + ((L - 1 - s) if REVERSE else s)
        on = _on(live, t, T, WHOLE)
        k = _entry(tokens, batch, t, T, on, SOURCE)
        A_t = tl.load(A + A_at + (k * sT)[:, None, None], on[:, None, None] & exists, 0).to(ACC)
        b_t = tl.load(b + place_at + ((t if REVERSE else k) * h * n)[:, None], on[:, None] & place, 0).to(ACC)
        if REVERSE:
            offset += b_t
        offset = tl.sum(A_t * offset[:, :, None], 1)
        if not REVERSE:
            offset += b_t
        product = tl.sum(A_t[:, :, :, None] * product[:, :, None, :], 1)
    if REVERSE:
        chain = chain + (K - 1 - 2 * (first // L)) * h
    P_at, _ = _tile(chain, chain * 0, n * n, 0, n, 1, n, N)
    o_at, _ = _vector(chain * n, live, n, N)
    tl.store(P + P_at, product, live[:, None, None] & exists)
    tl.store(o + o_at, offset, place)


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


# --- diagonal -----------------------------------------------------------------------------------------------------------


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
