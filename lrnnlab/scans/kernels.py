"""The compiled loops behind the ``cpu`` backend (numba); ``cpu.py`` gives them their gradients and their threads.

Three primitives carry the block kernels.  They are written as LLVM vector instructions because numba cannot be told
that two arrays do not overlap, and without that knowledge it does not vectorise loops as short as one block:

* ``_mix``    out[o : o+n] = base[q : q+n] + sum_j weight[w+j] * rows[r + j s : r + j s + n]
  (A x with A's columns as rows; A^T g)
* ``_dots``   out[o + i] = base[q + i] + sum_j rows[r + i s + j] * right[w + j]
  (A x with A's rows as rows)
* ``_outer``  rows[r + j s : r + j s + n] (+)= left[l+j] * right[q : q+n]
  (the gradient g x^T)

The block size n travels in the *type* of the argument ``size`` (a tuple of n zeros), so that the compiler knows it.
Arrays are passed flat; s is the distance between the starts of two rows of a block.

Letters: B batch, T time, D channels, h blocks, n block size; A transition, b input term, x state, g the gradient
arriving at a state; ``start`` and ``stop`` bound the part of the batch to work on.
"""

from __future__ import annotations

import llvmlite.ir as ir
import numpy as np
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic

# Sums may be re-associated (which lets them be vectorised); NaN and infinity keep their meaning.
_FAST = ("reassoc", "contract", "nsz")
compiled = njit(cache=True, nogil=True, fastmath=set(_FAST), error_model="numpy")


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
def _mix(typing, rows, r, s, weight, w, base, q, out, o, size):
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


@intrinsic
def _dots(typing, rows, r, s, right, w, base, q, out, o, size):
    n = len(size)

    def generate(context, builder, signature, arguments):
        rows_, r_, s_, right_, w_, base_, q_, out_, o_, _ = arguments
        pointer, element, width = _vector(context, builder, right, right_, w_, n)
        vector = builder.load(pointer, align=width)
        source, _, _ = _vector(context, builder, base, base_, q_, n)
        total = builder.load(source, align=width)
        kind = ir.FunctionType(element, [element, vector.type])
        name = f"llvm.vector.reduce.fadd.v{n}{'f32' if width == 4 else 'f64'}"
        reduce = cgutils.get_or_insert_function(builder.module, kind, name)
        zero, sums = ir.Constant(element, 0.0), ir.Constant(vector.type, ir.Undefined)
        for i in range(n):
            row, _, _ = _vector(context, builder, rows, rows_, _row(builder, r_, s_, i), n)
            product = builder.fmul(builder.load(row, align=width), vector, flags=_FAST)
            place = ir.Constant(ir.IntType(32), i)
            sums = builder.insert_element(sums, builder.call(reduce, [zero, product], fastmath=_FAST), place)
        target, _, _ = _vector(context, builder, out, out_, o_, n)
        builder.store(builder.fadd(total, sums, flags=_FAST), target, align=width)
        return context.get_dummy_value()

    return types.void(
        rows, types.int64, types.int64, right, types.int64, base, types.int64, out, types.int64, size
    ), generate


@intrinsic
def _outer(typing, left, l, right, q, rows, r, s, add, size):  # noqa: E741
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


ADD, SET = (0, 0), 0  # what _outer does with what was there: its type decides


@compiled
def block_forward(A, b, x0, x, T, h, head, s, start, stop, size):
    """x_t = A_t x_{t-1} + b_t.

    A holds n*n*h numbers per (B, t); head k's block starts ``head`` k numbers in and its rows are ``s`` apart.
    """
    n = len(size)
    for B in range(start, stop):
        for t in range(T):
            for k in range(h):
                at, row = ((B * T + t) * h + k) * n, (B * T + t) * h * n * n + k * head
                if t == 0:
                    _dots(A, row, s, x0, (B * h + k) * n, b, at, x, at, size)
                else:
                    _dots(A, row, s, x, at - h * n, b, at, x, at, size)


@compiled
def block_backward(A, x0, x, dx, dA, db, dx0, T, h, head, s, start, stop, size):
    """Gradients of block_forward: g_t = dx_t + A_{t+1}^T g_{t+1}, db_t = g_t, dA_t = g_t x_{t-1}^T.

    dA is laid out as A is; dx0 is zero before.
    """
    n = len(size)
    for B in range(start, stop):
        for t in range(T - 1, -1, -1):
            for k in range(h):
                at, row = ((B * T + t) * h + k) * n, (B * T + t) * h * n * n + k * head
                if t == T - 1:
                    for i in range(n):
                        db[at + i] = dx[at + i]
                else:
                    _mix(A, row + h * n * n, s, db, at + h * n, dx, at, db, at, size)
                if t == 0:
                    first = (B * h + k) * n
                    _outer(db, at, x0, first, dA, row, s, SET, size)
                    _mix(A, row, s, db, at, dx0, first, dx0, first, size)
                else:
                    _outer(db, at, x, at - h * n, dA, row, s, SET, size)


@compiled
def token_forward(columns, b_table, tokens, x0, x, T, h, start, stop, size):
    """x_t = A[token_t] x_{t-1} + b[token_t]; columns is flat (V,h,n,n), column by column."""
    n = len(size)
    for B in range(start, stop):
        for t in range(T):
            v = tokens[B * T + t]
            for k in range(h):
                at, row = ((B * T + t) * h + k) * n, (v * h + k) * n
                if t == 0:
                    _mix(columns, row * n, n, x0, (B * h + k) * n, b_table, row, x, at, size)
                else:
                    _mix(columns, row * n, n, x, at - h * n, b_table, row, x, at, size)


@compiled
def token_backward(A_table, tokens, x0, x, dx, dA, db, dx0, T, h, start, stop, size):
    """Gradients of token_forward, added into dA (V,h,n,n) and db (V,h,n); dx0 is zero before."""
    n = len(size)
    g = np.zeros(2 * h * n, dx.dtype)  # the gradient at t and at t+1, in turn
    for B in range(start, stop):
        for t in range(T - 1, -1, -1):
            v = tokens[B * T + t]
            here, there = (t % 2) * h * n, ((t + 1) % 2) * h * n
            for k in range(h):
                at, row, now = ((B * T + t) * h + k) * n, (v * h + k) * n, here + k * n
                if t == T - 1:
                    for i in range(n):
                        g[now + i] = dx[at + i]
                else:
                    later = (tokens[B * T + t + 1] * h + k) * n
                    _mix(A_table, later * n, n, g, there + k * n, dx, at, g, now, size)
                for i in range(n):
                    db[row + i] += g[now + i]
                if t == 0:
                    first = (B * h + k) * n
                    _outer(g, now, x0, first, dA, row * n, n, ADD, size)
                    _mix(A_table, row * n, n, g, now, dx0, first, dx0, first, size)
                else:
                    _outer(g, now, x, at - h * n, dA, row * n, n, ADD, size)


@compiled
def diagonal_forward(A, b, x0, x, T, D, start, stop):
    """x_t = A_t x_{t-1} + b_t channel by channel; arrays flat (B,T,D)."""
    for B in range(start, stop):
        for t in range(T):
            at = (B * T + t) * D
            for d in range(D):
                before = x0[B * D + d] if t == 0 else x[at - D + d]
                x[at + d] = A[at + d] * before + b[at + d]


@compiled
def diagonal_backward(A, x0, x, dx, dA, db, dx0, T, D, start, stop):
    """Gradients of diagonal_forward; for complex numbers torch's convention: multiply by the conjugate."""
    for B in range(start, stop):
        for t in range(T - 1, -1, -1):
            at = (B * T + t) * D
            for d in range(D):
                g = dx[at + d]
                if t + 1 < T:
                    g += np.conj(A[at + D + d]) * db[at + D + d]
                before = x0[B * D + d] if t == 0 else x[at - D + d]
                db[at + d] = g
                dA[at + d] = g * np.conj(before)
        for d in range(D):
            dx0[B * D + d] = np.conj(A[B * T * D + d]) * db[B * T * D + d]
