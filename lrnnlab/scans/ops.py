"""The compiled backends as torch operators, with gradients, and whole under ``torch.compile``.

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
from torch.autograd.function import once_differentiable


@cache
def _module(backend: str):
    return importlib.import_module(f"lrnnlab.scans.{backend}")


def _linear_backward(A: Tensor, x0: Tensor, x: Tensor, dx: Tensor, backend: str) -> tuple[Tensor, Tensor, Tensor]:
    if x.numel() == 0:
        return torch.zeros_like(A), torch.zeros_like(x), x0.new_zeros(x0.shape)
    module = _module(backend)
    return (module.block_backward if x.ndim == 4 else module.diagonal_backward)(A, x0, x, dx)


def _token_backward(
    A_table: Tensor, tokens: Tensor, x0: Tensor, x: Tensor, dx: Tensor, backend: str
) -> tuple[Tensor, Tensor, Tensor]:
    if x.numel() == 0:
        return A_table.new_zeros(A_table.shape), A_table.new_zeros(A_table.shape[:-1]), x0.new_zeros(x0.shape)
    return _module(backend).token_backward(A_table, tokens, x0, x, dx)


def _linear_rule(gradients):
    def backward(ctx, dx):
        return *gradients(*ctx.saved_tensors, dx, ctx.backend), None

    return backward


def _token_rule(gradients):
    def backward(ctx, dx):
        dA, db, dx0 = gradients(*ctx.saved_tensors, dx, ctx.backend)
        return dA, db, None, dx0, None

    return backward


def _linear_forward(A: Tensor, b: Tensor, x0: Tensor, backend: str) -> Tensor:
    if b.numel() == 0:
        return b.clone()
    module = _module(backend)
    return (module.block_forward if b.ndim == 4 else module.diagonal_forward)(A, b, x0)


def _token_forward(A_table: Tensor, b_table: Tensor, tokens: Tensor, x0: Tensor, backend: str) -> Tensor:
    if tokens.numel() == 0 or b_table.numel() == 0:
        return b_table.new_empty(*tokens.shape, *b_table.shape[1:])
    return _module(backend).token_forward(A_table, b_table, tokens, x0)


def _keep(ctx, inputs, output) -> None:
    """What the way back needs: all but b, and the states."""
    A, _, *rest, ctx.backend = inputs
    ctx.save_for_backward(A, *rest, output)


class LinearScan(torch.autograd.Function):
    """x_t = A_t x_{t-1} + b_t; arguments as in :func:`lrnnlab.scans.linear_scan`."""

    @staticmethod
    def forward(ctx: Any, *inputs: Any) -> Any:
        x = _linear_forward(*inputs)
        _keep(ctx, inputs, x)
        return x

    backward = staticmethod(once_differentiable(_linear_rule(_linear_backward)))  # type: ignore[assignment]


class TokenScan(torch.autograd.Function):
    """The same with A_t and b_t read from tables; arguments as in :func:`lrnnlab.scans.token_scan`."""

    @staticmethod
    def forward(ctx: Any, *inputs: Any) -> Any:
        x = _token_forward(*inputs)
        _keep(ctx, inputs, x)
        return x

    backward = staticmethod(once_differentiable(_token_rule(_token_backward)))  # type: ignore[assignment]


_linear = torch.library.custom_op("lrnnlab::linear_scan", _linear_forward, mutates_args=())
_token = torch.library.custom_op("lrnnlab::token_scan", _token_forward, mutates_args=())
_linear_gradients = torch.library.custom_op("lrnnlab::linear_scan_backward", _linear_backward, mutates_args=())
_token_gradients = torch.library.custom_op("lrnnlab::token_scan_backward", _token_backward, mutates_args=())
_linear.register_autograd(_linear_rule(_linear_gradients), setup_context=_keep)
_token.register_autograd(_token_rule(_token_gradients), setup_context=_keep)


@_linear.register_fake
def _(A, b, x0, backend):
    return b.new_empty(b.shape)


@_linear_gradients.register_fake
def _(A, x0, x, dx, backend):
    interleaved = A.ndim == 5 and not A.is_contiguous() and A.transpose(2, 3).is_contiguous()
    dA = A.new_empty(A.transpose(2, 3).shape).transpose(2, 3) if interleaved else A.new_empty(A.shape)
    if backend == "triton" and A.ndim == 5:
        dA = torch.empty_like(A)  # keeps any dense layout, not only that one
    return dA, x.new_empty(x.shape), x0.new_empty(x0.shape)


@_token.register_fake
def _(A_table, b_table, tokens, x0, backend):
    return b_table.new_empty(*tokens.shape, *b_table.shape[1:])


@_token_gradients.register_fake
def _(A_table, tokens, x0, x, dx, backend):
    return A_table.new_empty(A_table.shape), A_table.new_empty(A_table.shape[:-1]), x0.new_empty(x0.shape)


class SoftmaxScan(torch.autograd.Function):
    """The softmax of raw's columns and its scan, by the ``cpu`` backend; see :func:`lrnnlab.scans.softmax_scan`."""

    @staticmethod
    def forward(ctx: Any, raw: Any, x0: Any) -> Any:
        A, x = _module("cpu").softmax_forward(raw, x0)
        ctx.set_materialize_grads(False)  # mostly nothing but x is used, and a dA of zeros is as large as A
        ctx.save_for_backward(A, x0, x)
        return A, x

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, dA: Any, dx: Any) -> Any:
        A, x0, x = ctx.saved_tensors
        dx = torch.zeros_like(x) if dx is None else dx
        return _module("cpu").softmax_backward(A, x0, x, dA, dx)


def linear_scan(A: Tensor, b: Tensor, x0: Tensor, backend: str) -> Tensor:
    """Differentiable scan by the named compiled backend; the arguments have been checked."""
    if torch.compiler.is_compiling():
        return _linear(A, b, x0, backend)
    return LinearScan.apply(A, b, x0, backend)


def token_scan(A_table: Tensor, b_table: Tensor, tokens: Tensor, x0: Tensor, backend: str) -> Tensor:
    """Differentiable token-table scan by the named compiled backend; the arguments have been checked."""
    if A_table.ndim == 2:  # for diagonal tables the gathered A is no larger than the states
        return linear_scan(A_table[tokens], b_table[tokens], x0, backend)
    if torch.compiler.is_compiling():
        return _token(A_table, b_table, tokens, x0, backend)
    return TokenScan.apply(A_table, b_table, tokens, x0, backend)
