"""Column softmax and scan in one pass (numba), for transitions that are made to be scanned once.

Apart, the softmax writes A, the scan reads it, and on the way back dA is written, read, and turned into d raw, each
time through the whole memory.  Together a block stays in registers from its raw numbers to its state.

Arrays are passed flat; raw, A and their gradients lie as (B,T,row,h,column), a block's rows h n apart.

Letters: B batch, T time, h blocks, n block size (the length of the tuple ``size``); A transition, x state, g the
gradient arriving at a state, v = A^T g what passes on to the state before.
"""

from __future__ import annotations

import math

import numpy as np
from llvmlite import ir

from lrnnlab.scans.kernels.cpu_kernels import AHEAD
from lrnnlab.scans.kernels.cpu_vectors import _FAST, Flat, _multiply_add, _row, _sums, compiled, intrinsic, prefetch

# For the exponential: mantissa bits, exponent bias, degree of the polynomial, and ln 2 in two parts, the first so short
# that its product with an exponent is exact.
_KINDS = {
    "float": (23, 127, 7, 0.693359375, -2.12194440054690583e-4),
    "double": (52, 1023, 13, 0.693145751953125, 1.42860682030941723e-6),
}
# No re-association: the roundings below are meant.  (An instruction without flags would be given numba's.)
_EXACT = ("contract",)


def _constant(vector_type, value):
    return ir.Constant(vector_type, [value] * vector_type.count)


def exponential(builder: ir.IRBuilder, y: ir.Value) -> ir.Value:
    """e^y for a vector of y <= 0, to about one unit in the last place; 0 where that would be denormal, NaN for NaN.

    With k the whole number nearest to y / ln 2 and r = y - k ln 2: e^y = 2^k e^r, and for e^r Taylor's polynomial.
    """
    kind = y.type
    bits, bias, degree, high, low = _KINDS[str(kind.element)]
    # Added to so large a number, y / ln 2 is rounded to a whole one, which the lowest bits then hold.
    large = _constant(kind, 1.5 * 2.0**bits + bias)
    shifted = builder.fadd(builder.fmul(y, _constant(kind, 1 / math.log(2)), flags=_EXACT), large, flags=_EXACT)
    k = builder.fsub(shifted, large, flags=_EXACT)
    r = builder.fsub(y, builder.fmul(k, _constant(kind, high), flags=_EXACT), flags=_EXACT)
    r = builder.fsub(r, builder.fmul(k, _constant(kind, low), flags=_EXACT), flags=_EXACT)
    power = _constant(kind, 1 / math.factorial(degree))
    for d in range(degree - 1, -1, -1):
        power = builder.fadd(builder.fmul(power, r, flags=_EXACT), _constant(kind, 1 / math.factorial(d)), flags=_EXACT)
    whole = ir.VectorType(ir.IntType(32 if bits == 23 else 64), kind.count)
    scale = builder.bitcast(builder.shl(builder.bitcast(shifted, whole), _constant(whole, bits)), kind)
    least = builder.fcmp_ordered("<", y, _constant(kind, (1 - bias) * math.log(2)), flags=_EXACT)
    return builder.select(least, _constant(kind, 0.0), builder.fmul(power, scale, flags=_EXACT))


def _softmax(builder, rows):
    """Of the vectors that are a block's rows: every column's softmax.  NaN and infinity do what they do in torch's."""
    most = rows[0]
    for row in rows[1:]:
        most = builder.select(builder.fcmp_ordered(">", row, most, flags=_EXACT), row, most)
    powers = [exponential(builder, builder.fsub(row, most, flags=_EXACT)) for row in rows]
    total = powers[0]
    for power in powers[1:]:
        total = builder.fadd(total, power, flags=_FAST)
    share = builder.fdiv(_constant(total.type, 1.0), total, flags=_EXACT)
    return [builder.fmul(power, share, flags=_FAST) for power in powers]


@intrinsic
def softmax_step(
    builder: ir.IRBuilder, raw: Flat, A: Flat, r: ir.Value, s: ir.Value, before: Flat, w: ir.Value, x: Flat,
    o: ir.Value, n: int,
) -> None:  # fmt: skip
    """A = softmax of raw's columns, x[o : o+n] = A before[w : w+n]; the block's rows start at r, r + s, ..."""
    places = [_row(builder, r, s, i) for i in range(n)]
    rows = _softmax(builder, [raw.load(place) for place in places])
    for row, place in zip(rows, places):
        A.store(row, place)
    state = before.load(w)
    x.store(_sums(builder, [builder.fmul(row, state, flags=_FAST) for row in rows]), o)


def _lane(builder, vector, i):
    """A vector full of the vector's number i."""
    places = ir.Constant(ir.VectorType(ir.IntType(32), vector.type.count), [i] * vector.type.count)
    return builder.shuffle_vector(vector, vector, places)


@intrinsic
def softmax_step_back(
    builder: ir.IRBuilder, A: Flat, dA: Flat | None, draw: Flat, r: ir.Value, s: ir.Value, before: Flat, w: ir.Value,
    dx: Flat, o: ir.Value, v: Flat, q: ir.Value, n: int,
) -> None:  # fmt: skip
    """v[q : q+n] = A^T g with g = dx[o : o+n] + v[q : q+n], and the gradient in raw."""
    places = [_row(builder, r, s, i) for i in range(n)]
    rows = [A.load(place) for place in places]
    state, later = before.load(w), v.load(q)
    g = builder.fadd(dx.load(o), later, flags=_FAST)
    passed = _constant(state.type, 0.0)
    for i, row in enumerate(rows):
        passed = _multiply_add(builder, passed, row, _lane(builder, g, i))
    v.store(passed, q)
    slopes = [
        builder.fmul(state, builder.fsub(_lane(builder, g, i), passed, flags=_EXACT), flags=_FAST) for i in range(n)
    ]
    if dA is not None:
        more = [dA.load(place) for place in places]
        mean = _constant(state.type, 0.0)
        for row, slope in zip(rows, more):
            mean = _multiply_add(builder, mean, row, slope)
        own = [builder.fsub(slope, mean, flags=_EXACT) for slope in more]
        slopes = [builder.fadd(slope, other, flags=_FAST) for slope, other in zip(slopes, own)]
    for row, slope, place in zip(rows, slopes, places):
        draw.store(builder.fmul(row, slope, flags=_FAST), place)


@compiled
def forward(
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
def backward(
    A: np.ndarray, dA: np.ndarray | None, x0: np.ndarray, x: np.ndarray, dx: np.ndarray, draw: np.ndarray,
    dx0: np.ndarray, T: int, h: int, i: int, j: int, k: int, l: int, size: tuple[int, ...],
) -> None:  # fmt: skip
    """Gradients of forward; dA is the gradient that arrives at A from elsewhere, or None; dx0 is zero before."""
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
