"""Triton kernels of the block-diagonal scan x_t = A_t x_{t-1} + b_t; ``triton.py`` launches them.

A *chain* is one block of one sequence, followed through time, or through one chunk of it.  A program keeps the states
of G chains in registers and walks along time; ``tl.range(num_stages=...)`` has the next steps' A and b on their way
into shared memory meanwhile.  The chunked road walks three times: ``chunk_products`` reduces every chunk to one step,
``sequential_forward`` scans these steps, and scans again inside every chunk from its true entry state.

SOURCE says where step t's A and b come from: ``"steps"`` (A[batch, t], b[batch, t]), ``"constant"`` (one A, read once,
and b[batch, t]), or ``"tokens"`` (A[token], b[token], looked up step by step).

A lane beyond the last chain, a row beyond n and a step beyond T are never read: they hold zeros, and
nothing is ever multiplied by a mask, so that a NaN stays in its chain.

Letters: B batch, T time, h blocks, n block size, N the power of two that holds it, K chunks of L steps, G chains of a
program; A transition, b input term, x state, g the gradient arriving at a state, r = A_{t+1}^T g_{t+1} its part that
comes from later steps; ACC the type of the state and of every sum.
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
