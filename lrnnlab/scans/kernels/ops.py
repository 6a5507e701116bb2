"""The compiled backends as torch operators, with gradients, and whole under ``torch.compile``; ``dispatch`` calls them.

A backend is a module of six plain functions: ``block_forward``, ``block_backward``, ``diagonal_forward``,
``diagonal_backward``, ``token_forward``, ``token_backward``; ``cpu`` has ``softmax_forward`` and ``softmax_backward``
too.  Here they become differentiable, all in one way.  Run plainly, a scan is a ``torch.autograd.Function``; under
``torch.compile`` it is a custom operator with the same formulas, which the compiler need not look into.  (Plainly run,
an operator would cost more than the Function per call, and its first call would import the whole compiler.  The
softmax scan has no operator: the compiler is given a softmax and a linear scan.)

Letters: B batch, T time, D channels, h blocks, n block size, V vocabulary; A transition, b input term, x state, dx
the gradient arriving at x.
"""

from __future__ import annotations

import importlib
from functools import cache
from typing import Any

import torch
from torch import Tensor

from lrnnlab.scans.transforms import first_order

REFERENCE = "with backend='reference'"


@cache
def _module(backend: str):
    return importlib.import_module(f"lrnnlab.scans.kernels.{backend}")


def _forward(A: Tensor, b: Tensor, tokens: Tensor | None, x0: Tensor, backend: str) -> Tensor:
    shape = b.shape if tokens is None else (*tokens.shape, *b.shape[1:])
    if 0 in shape:
        return b.new_empty(shape)
    module = _module(backend)
    if tokens is not None:
        return module.token_forward(A, b, tokens, x0)
    return (module.block_forward if b.ndim == 4 else module.diagonal_forward)(A, b, x0)


def _backward(
    A: Tensor, tokens: Tensor | None, x0: Tensor, x: Tensor, dx: Tensor, backend: str
) -> tuple[Tensor, Tensor, Tensor]:
    if x.numel() == 0:
        db = torch.zeros_like(x) if tokens is None else A.new_zeros(A.shape[:-1])
        return torch.zeros_like(A), db, x0.new_zeros(x0.shape)
    module = _module(backend)
    if tokens is not None:
        return module.token_backward(A, tokens, x0, x, dx)
    return (module.block_backward if x.ndim == 4 else module.diagonal_backward)(A, x0, x, dx)


def _way_back(gradients):
    def backward(ctx, dx):
        dA, db, dx0 = gradients(*ctx.saved_tensors, dx, ctx.backend)
        return dA, db, None, dx0, None

    return backward


def _keep(ctx, inputs, output) -> None:
    """What the way back needs: all but b, and the states."""
    A, _, *rest, ctx.backend = inputs
    ctx.save_for_backward(A, *rest, output)


class Scan(torch.autograd.Function):
    """x_t = A_t x_{t-1} + b_t by the named backend; with tokens (B, T), A and b are tables."""

    second = REFERENCE

    @staticmethod
    def forward(ctx: Any, A: Any, b: Any, tokens: Any, x0: Any, backend: Any) -> Any:
        x = _forward(A, b, tokens, x0, backend)
        ctx.backend = backend
        ctx.save_for_backward(A, tokens, x0, x)
        return x

    backward = staticmethod(first_order(_way_back(_backward)))  # type: ignore[assignment]


operator = torch.library.custom_op("lrnnlab::scan", _forward, mutates_args=())
_gradients = torch.library.custom_op("lrnnlab::scan_backward", _backward, mutates_args=())
operator.register_autograd(_way_back(_gradients), setup_context=_keep)


@operator.register_fake
def _(A, b, tokens, x0, backend):
    return b.new_empty(b.shape if tokens is None else (*tokens.shape, *b.shape[1:]))


@_gradients.register_fake
def _(A, tokens, x0, x, dx, backend):
    if tokens is not None:
        return A.new_empty(A.shape), A.new_empty(A.shape[:-1]), x0.new_empty(x0.shape)
    interleaved = A.ndim == 5 and not A.is_contiguous() and A.transpose(2, 3).is_contiguous()
    dA = A.new_empty(A.transpose(2, 3).shape).transpose(2, 3) if interleaved else A.new_empty(A.shape)
    if backend == "triton" and A.ndim == 5:
        dA = torch.empty_like(A)  # keeps any dense layout, not only that one
    return dA, x.new_empty(x.shape), x0.new_empty(x0.shape)


class SoftmaxScan(torch.autograd.Function):
    """The softmax of raw's columns and its scan, by the ``cpu`` backend; see :func:`lrnnlab.scans.softmax_scan`."""

    second = REFERENCE

    @staticmethod
    def forward(ctx: Any, raw: Any, x0: Any) -> Any:
        A, x = _module("cpu").softmax_forward(raw, x0)
        ctx.set_materialize_grads(False)  # mostly nothing but x is used, and a dA of zeros is as large as A
        ctx.save_for_backward(A, x0, x)
        return A, x

    @staticmethod
    @first_order
    def backward(ctx: Any, dA: Any, dx: Any) -> Any:
        A, x0, x = ctx.saved_tensors
        dx = torch.zeros_like(x) if dx is None else dx
        return _module("cpu").softmax_backward(A, x0, x, dA, dx)
