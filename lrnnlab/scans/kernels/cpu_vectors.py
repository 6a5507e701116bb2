"""Products of a block and a vector as LLVM vector instructions: numba does not vectorise loops as short as a block, as it
cannot be told that two arrays do not overlap.

* ``mix``    out[o : o+n] = base[q : q+n] + sum_j weight[w+j] * rows[r + j s : r + j s + n]
  (A x with A's columns as rows; A^T g)
* ``dots``   out[o + i] = base[q + i] + sum_j rows[r + i s + j] * right[w + j]
  (A x with A's rows as rows)
* ``add``    out[o : o+n] += base[q : q+n]
* ``move``   out[o : o+n] = base[q : q+n]
* ``times``  out[o : o+n] = base[q : q+n] + left[l : l+n] * right[r : r+n], number by number; base may be None (zero)
* ``outer``  rows[r + j s : r + j s + n] (+)= left[l+j] * right[q : q+n]
  (the gradient g x^T)
* ``softmax_step``, ``softmax_step_back``  a block's softmax over its rows and the step that it makes, and their gradients
* ``prefetch`` array[offset : offset + n n]: ask memory for it; a place outside the array does no harm

The block size n travels in the *type* of the argument ``size`` (a tuple of n zeros), so that the compiler knows it.
Arrays are passed flat; s is the distance between the starts of two rows of a block.

Letters: n block size; A transition, x state, g the gradient arriving at a state.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import wraps
from typing import Any

from llvmlite import ir
from numba import extending, types
from numba.core import cgutils

from lrnnlab.scans.kernels.jit import jit

# Sums may be re-associated (which lets them be vectorised); NaN and infinity keep their meaning.
_FAST = ("reassoc", "contract", "nsz")
# Any to a type checker: an intrinsic is declared with what writes it, and called with values.
compiled: Any = jit(nogil=True, fastmath=set(_FAST), error_model="numpy")
inlined: Any = jit(nogil=True, fastmath=set(_FAST), error_model="numpy", forceinline=True)  # a call takes 50 ns


class Flat:
    """A flat array in the code of a loop: vectors of n numbers are loaded from it, and stored into it."""

    def __init__(self, context: Any, builder: ir.IRBuilder, kind: types.Array, array: ir.Value, n: int):
        self.builder, self.n = builder, n
        self.data = cgutils.create_struct_proxy(kind)(context, builder, value=array).data
        self.element = context.get_data_type(kind.dtype)
        self.width = context.get_abi_sizeof(self.element)  # bytes of a number

    def pointer(self, offset: ir.Value) -> ir.Value:
        """Where the vector lies that begins at ``offset``."""
        kind = ir.VectorType(self.element, self.n).as_pointer()
        return self.builder.bitcast(self.builder.gep(self.data, [offset]), kind)

    def load(self, offset: ir.Value) -> ir.Value:
        """The vector that begins at ``offset``."""
        return self.builder.load(self.pointer(offset), align=self.width)

    def store(self, vector: ir.Value, offset: ir.Value, past: bool | ir.Value = False) -> None:
        """Put a vector to where ``offset`` is; ``past`` the cache, where rows of n fill cache lines from their beginning."""
        align = min(64, self.n * self.width) if past is True else self.width
        store = self.builder.store(vector, self.pointer(offset), align=align)
        if past is True:
            flag = self.builder.module.add_metadata([ir.Constant(ir.IntType(32), 1)])
            store.set_metadata("nontemporal", flag)

    def full(self, offset: ir.Value, j: int) -> ir.Value:
        """A vector full of number j from ``offset`` on."""
        at = self.builder.gep(self.data, [self.builder.add(offset, ir.Constant(ir.IntType(64), j))])
        return _splat(self.builder, self.builder.load(at), self.n)


def intrinsic(write: Callable[..., None]) -> Any:
    """``write(builder, *arguments, n)``, which writes LLVM instructions, as a function that compiled loops call."""

    def given(context, builder, kind, value, n):
        if isinstance(kind, types.Array):
            return Flat(context, builder, kind, value, n)
        return value if isinstance(kind, types.Integer) else isinstance(kind, types.UniTuple) or None

    @wraps(write)  # numba reads the names of the arguments
    def typed(typing, *kinds):
        others, n = kinds[:-1], len(kinds[-1])

        def generate(context, builder, signature, values):
            write(builder, *(given(context, builder, *both, n) for both in zip(others, values)), n)
            return context.get_dummy_value()

        return types.void(*(types.int64 if isinstance(kind, types.Integer) else kind for kind in kinds)), generate

    return extending.intrinsic(typed)


def _splat(builder, value, n):
    zero = ir.Constant(ir.IntType(32), 0)
    vector = builder.insert_element(ir.Constant(ir.VectorType(value.type, n), ir.Undefined), value, zero)
    return builder.shuffle_vector(vector, vector, ir.Constant(ir.VectorType(ir.IntType(32), n), [0] * n))


def _multiply_add(builder, vector, left, right):
    return builder.fadd(vector, builder.fmul(left, right, flags=_FAST), flags=_FAST)


def _row(builder, start, distance, j):
    return builder.add(start, builder.mul(distance, ir.Constant(ir.IntType(64), j)))


@intrinsic
def mix(
    builder: ir.IRBuilder, rows: Flat, r: ir.Value, s: ir.Value, weight: Flat, w: ir.Value, base: Flat, q: ir.Value,
    out: Flat, o: ir.Value, n: int,
) -> None:  # fmt: skip
    total = base.load(q)
    for j in range(n):
        factor = weight.full(w, j)
        total = _multiply_add(builder, total, rows.load(_row(builder, r, s, j)), factor)
    out.store(total, o)


def _sums(builder, vectors):
    """The vector of the sums of n vectors of length n."""
    n, i32 = len(vectors), ir.IntType(32)
    if n & (n - 1):
        element = vectors[0].type.element
        name = f"llvm.vector.reduce.fadd.v{n}{'f32' if isinstance(element, ir.FloatType) else 'f64'}"
        kind = ir.FunctionType(element, [element, vectors[0].type])
        reduce = cgutils.get_or_insert_function(builder.module, kind, name)
        sums = ir.Constant(vectors[0].type, ir.Undefined)
        for i, vector in enumerate(vectors):
            total = builder.call(reduce, [ir.Constant(element, 0.0), vector], fastmath=_FAST)
            sums = builder.insert_element(sums, total, ir.Constant(i32, i))
        return sums
    # A power of two: fold two vectors into one of half sums, all pairs at once, log2(n) times.  A vector is made of
    # segments, each what is left of one of the first vectors; a segment (f, s) of a and its twin (g, t) of b become
    # (f + s, g + t), added as (f, t) + (s, g) because a blend is cheaper than a shuffle.
    width = n
    while width > 1:
        half = width // 2
        place = [(lane, lane % width < half) for lane in range(n)]
        straight = ir.Constant(ir.VectorType(i32, n), [lane + (0 if first else n) for lane, first in place])
        crossed = ir.Constant(
            ir.VectorType(i32, n), [lane + half if first else lane - half + n for lane, first in place]
        )
        pairs = zip(vectors[: len(vectors) // 2], vectors[len(vectors) // 2 :])
        vectors = [
            builder.fadd(builder.shuffle_vector(a, b, straight), builder.shuffle_vector(a, b, crossed), flags=_FAST)
            for a, b in pairs
        ]
        width = half
    return vectors[0]


@intrinsic
def dots(
    builder: ir.IRBuilder, rows: Flat, r: ir.Value, s: ir.Value, right: Flat, w: ir.Value, base: Flat, q: ir.Value,
    out: Flat, o: ir.Value, n: int,
) -> None:  # fmt: skip
    vector, total = right.load(w), base.load(q)
    products = [builder.fmul(rows.load(_row(builder, r, s, i)), vector, flags=_FAST) for i in range(n)]
    out.store(builder.fadd(total, _sums(builder, products), flags=_FAST), o)


@intrinsic
def prefetch(builder: ir.IRBuilder, array: Flat, offset: ir.Value, n: int) -> None:
    i32, i64, byte = ir.IntType(32), ir.IntType(64), ir.IntType(8).as_pointer()
    kind = ir.FunctionType(ir.VoidType(), [byte, i32, i32, i32])
    ask = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0i8")
    pointer = builder.bitcast(array.pointer(offset), byte)
    for line in range(0, n * n * array.width, 64):
        read, keep, data = (ir.Constant(i32, flag) for flag in (0, 3, 1))
        builder.call(ask, [builder.gep(pointer, [ir.Constant(i64, line)]), read, keep, data])


@intrinsic
def add(builder: ir.IRBuilder, base: Flat, q: ir.Value, out: Flat, o: ir.Value, n: int) -> None:
    out.store(builder.fadd(out.load(o), base.load(q), flags=_FAST), o)


@intrinsic
def move(builder: ir.IRBuilder, base: Flat, q: ir.Value, out: Flat, o: ir.Value, past: bool | ir.Value, n: int) -> None:
    out.store(base.load(q), o, past)


def _conjugate_product(builder, left, right):
    """conj(left) * right of vectors of (real, imaginary) pairs; for left * right, :func:`_flip` left first."""
    n, i32 = left.type.count, ir.IntType(32)

    def picked(vector, places):
        return builder.shuffle_vector(vector, vector, ir.Constant(ir.VectorType(i32, n), places))

    real = picked(left, [j - j % 2 for j in range(n)])
    imaginary = picked(left, [j - j % 2 + 1 for j in range(n)])
    swapped = picked(right, [j + 1 - 2 * (j % 2) for j in range(n)])
    # (a - ib)(c + id) = (ac + bd) + i(ad - bc)
    signs = ir.Constant(left.type, [1.0, -1.0] * (n // 2))
    turned = builder.fmul(builder.fmul(imaginary, signs, flags=_FAST), swapped, flags=_FAST)
    return _multiply_add(builder, turned, real, right)


def _flip(builder, vector):
    """The conjugates of a vector of pairs."""
    signs = ir.Constant(vector.type, [1.0, -1.0] * (vector.type.count // 2))
    return builder.fmul(vector, signs, flags=_FAST)


@intrinsic
def times(
    builder: ir.IRBuilder, left: Flat, l: ir.Value, right: Flat, r: ir.Value, base: Flat | None, q: ir.Value,
    out: Flat, o: ir.Value, conjugate: bool | ir.Value, pairs: bool | ir.Value, past: bool | ir.Value, n: int,
) -> None:  # fmt: skip
    """Flags (YES or NO): ``left`` is conjugated, numbers are ``pairs`` (complex), and are written ``past`` the cache."""
    first, second = left.load(l), right.load(r)
    if pairs is True:
        product = _conjugate_product(builder, first if conjugate is True else _flip(builder, first), second)
    else:
        product = builder.fmul(first, second, flags=_FAST)
    out.store(product if base is None else builder.fadd(product, base.load(q), flags=_FAST), o, past)


@intrinsic
def outer(
    builder: ir.IRBuilder, left: Flat, l: ir.Value, right: Flat, q: ir.Value, rows: Flat, r: ir.Value, s: ir.Value,
    add: bool | ir.Value, past: bool | ir.Value, n: int,
) -> None:  # fmt: skip
    vector = right.load(q)
    for j in range(n):
        factor, at = left.full(l, j), _row(builder, r, s, j)
        if add is True:
            rows.store(_multiply_add(builder, rows.load(at), factor, vector), at)
        else:
            rows.store(builder.fmul(factor, vector, flags=_FAST), at, past)


ADD, SET = (0, 0), 0  # outer adds to what is there, or overwrites it: told by the type, which is known when numba compiles
YES, NO = (0, 0), 0  # so does a flag's
Flag = int | tuple[int, int]


# --- a block's column softmax, and the step that follows it ------------------------------------------------------------

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
