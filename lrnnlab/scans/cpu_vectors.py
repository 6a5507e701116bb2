"""What a block does with a vector as short as itself, as LLVM vector instructions for numba's loops.

They are written so because numba cannot be told that two arrays do not overlap, and without that knowledge it does
not vectorise loops as short as one block:

* ``mix``    out[o : o+n] = base[q : q+n] + sum_j weight[w+j] * rows[r + j s : r + j s + n]
  (A x with A's columns as rows; A^T g)
* ``dots``   out[o + i] = base[q + i] + sum_j rows[r + i s + j] * right[w + j]
  (A x with A's rows as rows)
* ``add``    out[o : o+n] += base[q : q+n]
* ``times``  out[o : o+n] = base[q : q+n] + left[l : l+n] * right[r : r+n], number by number; base may be None (zero)
* ``outer``  rows[r + j s : r + j s + n] (+)= left[l+j] * right[q : q+n]
  (the gradient g x^T)
* ``prefetch`` array[offset : offset + n n]: ask memory for it; a place outside the array does no harm

The block size n travels in the *type* of the argument ``size`` (a tuple of n zeros), so that the compiler knows it.
Arrays are passed flat; s is the distance between the starts of two rows of a block.

Letters: n block size; A transition, x state, g the gradient arriving at a state.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import extending, njit, types
from numba.core import cgutils

# Sums may be re-associated (which lets them be vectorised); NaN and infinity keep their meaning.
_FAST = ("reassoc", "contract", "nsz")
# Any to a type checker: an intrinsic is declared with the types of its arguments, and called with their values.
compiled: Any = njit(cache=True, nogil=True, fastmath=set(_FAST), error_model="numpy")
intrinsic: Any = extending.intrinsic


def _vector(context, builder, array_type, array, offset, n):
    """Pointer to n consecutive numbers of a flat array, and what is needed to load and store them."""
    data = cgutils.create_struct_proxy(array_type)(context, builder, value=array).data
    element = context.get_data_type(array_type.dtype)
    width = context.get_abi_sizeof(element)
    pointer = builder.bitcast(builder.gep(data, [offset]), ir.VectorType(element, n).as_pointer())
    return pointer, element, width


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
    typing: Any, rows: types.Type, r: types.Type, s: types.Type, weight: types.Type, w: types.Type, base: types.Type,
    q: types.Type, out: types.Type, o: types.Type, size: types.UniTuple,
) -> tuple:  # fmt: skip
    n = len(size)

    def generate(context, builder, signature, arguments):
        rows_, r_, s_, weight_, w_, base_, q_, out_, o_, _ = arguments
        source, element, width = _vector(context, builder, base, base_, q_, n)
        total = builder.load(source, align=width)
        for j in range(n):
            row, _, _ = _vector(context, builder, rows, rows_, _row(builder, r_, s_, j), n)
            at = builder.add(w_, ir.Constant(ir.IntType(64), j))
            scalar, _, _ = _vector(context, builder, weight, weight_, at, 1)
            factor = builder.load(builder.bitcast(scalar, element.as_pointer()))
            total = _multiply_add(builder, total, builder.load(row, align=width), _splat(builder, factor, n))
        target, _, _ = _vector(context, builder, out, out_, o_, n)
        builder.store(total, target, align=width)
        return context.get_dummy_value()

    return types.void(
        rows, types.int64, types.int64, weight, types.int64, base, types.int64, out, types.int64, size
    ), generate


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
    typing: Any, rows: types.Type, r: types.Type, s: types.Type, right: types.Type, w: types.Type, base: types.Type,
    q: types.Type, out: types.Type, o: types.Type, size: types.UniTuple,
) -> tuple:  # fmt: skip
    n = len(size)

    def generate(context, builder, signature, arguments):
        rows_, r_, s_, right_, w_, base_, q_, out_, o_, _ = arguments
        pointer, _, width = _vector(context, builder, right, right_, w_, n)
        vector = builder.load(pointer, align=width)
        source, _, _ = _vector(context, builder, base, base_, q_, n)
        total = builder.load(source, align=width)
        products = []
        for i in range(n):
            row, _, _ = _vector(context, builder, rows, rows_, _row(builder, r_, s_, i), n)
            products.append(builder.fmul(builder.load(row, align=width), vector, flags=_FAST))
        target, _, _ = _vector(context, builder, out, out_, o_, n)
        builder.store(builder.fadd(total, _sums(builder, products), flags=_FAST), target, align=width)
        return context.get_dummy_value()

    return types.void(
        rows, types.int64, types.int64, right, types.int64, base, types.int64, out, types.int64, size
    ), generate


@intrinsic
def prefetch(typing: Any, array: types.Type, offset: types.Type, size: types.UniTuple) -> tuple:
    n = len(size)

    def generate(context, builder, signature, arguments):
        array_, offset_, _ = arguments
        i32, i64, byte = ir.IntType(32), ir.IntType(64), ir.IntType(8).as_pointer()
        kind = ir.FunctionType(ir.VoidType(), [byte, i32, i32, i32])
        ask = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0i8")
        pointer, _, width = _vector(context, builder, array, array_, offset_, 1)
        pointer = builder.bitcast(pointer, byte)
        for line in range(0, n * n * width, 64):
            read, keep, data = (ir.Constant(i32, flag) for flag in (0, 3, 1))
            builder.call(ask, [builder.gep(pointer, [ir.Constant(i64, line)]), read, keep, data])
        return context.get_dummy_value()

    return types.void(array, types.int64, size), generate


@intrinsic
def add(typing: Any, base: types.Type, q: types.Type, out: types.Type, o: types.Type, size: types.UniTuple) -> tuple:
    n = len(size)

    def generate(context, builder, signature, arguments):
        base_, q_, out_, o_, _ = arguments
        source, _, width = _vector(context, builder, base, base_, q_, n)
        target, _, _ = _vector(context, builder, out, out_, o_, n)
        total = builder.fadd(builder.load(target, align=width), builder.load(source, align=width), flags=_FAST)
        builder.store(total, target, align=width)
        return context.get_dummy_value()

    return types.void(base, types.int64, out, types.int64, size), generate


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
    typing: Any, left: types.Type, l: types.Type, right: types.Type, r: types.Type, base: types.Type, q: types.Type,
    out: types.Type, o: types.Type, conjugate: types.Type, pairs: types.Type, size: types.UniTuple,
) -> tuple:  # fmt: skip
    """``pairs`` and ``conjugate`` are flags (YES or NO): numbers are complex, and ``left`` is conjugated."""
    n = len(size)
    complex_, conjugated = (isinstance(flag, types.UniTuple) for flag in (pairs, conjugate))

    def generate(context, builder, signature, arguments):
        left_, l_, right_, r_, base_, q_, out_, o_, *_ = arguments
        pointer, _, width = _vector(context, builder, left, left_, l_, n)
        first = builder.load(pointer, align=width)
        pointer, _, _ = _vector(context, builder, right, right_, r_, n)
        second = builder.load(pointer, align=width)
        if complex_:
            product = _conjugate_product(builder, first if conjugated else _flip(builder, first), second)
        else:
            product = builder.fmul(first, second, flags=_FAST)
        if not isinstance(base, types.NoneType):
            pointer, _, _ = _vector(context, builder, base, base_, q_, n)
            product = builder.fadd(product, builder.load(pointer, align=width), flags=_FAST)
        target, _, _ = _vector(context, builder, out, out_, o_, n)
        builder.store(product, target, align=width)
        return context.get_dummy_value()

    return types.void(
        left, types.int64, right, types.int64, base, types.int64, out, types.int64, conjugate, pairs, size
    ), generate


@intrinsic
def outer(
    typing: Any, left: types.Type, l: types.Type, right: types.Type, q: types.Type, rows: types.Type, r: types.Type,
    s: types.Type, add: types.Type, size: types.UniTuple,
) -> tuple:  # fmt: skip
    n, accumulate = len(size), isinstance(add, types.UniTuple)

    def generate(context, builder, signature, arguments):
        left_, l_, right_, q_, rows_, r_, s_, _, _ = arguments
        pointer, element, width = _vector(context, builder, right, right_, q_, n)
        vector = builder.load(pointer, align=width)
        for j in range(n):
            at = builder.add(l_, ir.Constant(ir.IntType(64), j))
            scalar, _, _ = _vector(context, builder, left, left_, at, 1)
            factor = _splat(builder, builder.load(builder.bitcast(scalar, element.as_pointer())), n)
            row, _, _ = _vector(context, builder, rows, rows_, _row(builder, r_, s_, j), n)
            if accumulate:
                product = _multiply_add(builder, builder.load(row, align=width), factor, vector)
            else:
                product = builder.fmul(factor, vector, flags=_FAST)
            builder.store(product, row, align=width)
        return context.get_dummy_value()

    return types.void(left, types.int64, right, types.int64, rows, types.int64, types.int64, add, size), generate


ADD, SET = (0, 0), 0  # what outer does with what was there: its type decides
YES, NO = (0, 0), 0  # so does a flag's
Flag = int | tuple[int, int]
