"""x_t = A_t x_{t-1} + b_t, as plain functions on tensors; nothing here knows of models.

>>> import torch
>>> from lrnnlab.scans import linear_scan
>>> A = torch.full((1, 4, 1), 0.5).requires_grad_()        # batch, time, channels
>>> x = linear_scan(A, torch.ones(1, 4, 1))                 # x_t = x_{t-1} / 2 + 1
>>> x.flatten().tolist()
[1.0, 1.5, 1.75, 1.875]
>>> x.sum().backward()                                      # every backend has its gradients
>>> A.grad.flatten().tolist()
[0.0, 1.75, 2.25, 1.75]

=============  ==============================================================================================
backend        what it is
=============  ==============================================================================================
``reference``  the loop you would write on a blackboard
``paper``      PScan of paper 000 (App. A.2): ceil(log2(T+1)) levels of matrix products
``cpu``        compiled loops with a hand-written backward pass (numba)
``triton``     fused kernels for an NVIDIA GPU, with a hand-written backward pass
``auto``       ``cpu`` or ``triton`` where the tensors lie there, have a type it knows, and it is installed;
               else, within ``torch.func``, and for a handful of steps, ``reference``
=============  ==============================================================================================

Under ``torch.autocast`` every scan takes 16-bit tensors in single precision, and answers so.  With ``return_state=True`` every
one gives the state after its last step too: what the next call takes as its first.

Letters: B batch, T time, D channels, h blocks, n block size (the papers' b), V vocabulary; A transition, b input
term, x state.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Literal, overload

import torch
from torch import Tensor

from lrnnlab.scans.convolution import long_conv, vandermonde
from lrnnlab.scans.delta import delta_rule
from lrnnlab.scans.kernels import dispatch
from lrnnlab.scans.kernels.dispatch import BACKENDS, COMPILED, MISSING  # noqa: F401
from lrnnlab.validation import axes, checked, fit

__all__ = ["backends", "delta_rule", "linear_scan", "long_conv", "softmax_scan", "token_scan", "vandermonde", "warm"]

_TRANSITIONS = axes("A B T D", "A B T h n n")


@checked
def backends(A: Tensor | None = None) -> tuple[str, ...]:
    """The backends that run on this machine; with transitions A (B,T,D) or (B,T,h,n,n) those that take A, ``auto``'s last.

    >>> {"reference", "paper"} <= set(backends())
    True
    >>> import torch
    >>> backends(torch.zeros(1, 1, 1, 2, 2))[-1]                     # of one step the loop is done soonest
    'reference'
    """
    if A is None:
        return tuple(name for name in BACKENDS if MISSING.get(name) is None)
    fit("backends", _TRANSITIONS, A=A)
    found, given = [], (A, A.ndim == 5, A.shape[1])
    for name in BACKENDS:
        with suppress(ValueError):
            found.append(dispatch.pick(name, *given))
    return tuple(sorted(found, key=dispatch.pick("auto", *given).__eq__))


@overload
def linear_scan(
    A: Tensor, b: Tensor, x0: Tensor | None = None, *, backend: str = "auto", return_state: Literal[False] = False,
    reverse: bool = False,
) -> Tensor: ...  # fmt: skip
@overload
def linear_scan(
    A: Tensor, b: Tensor, x0: Tensor | None = None, *, backend: str = "auto", return_state: Literal[True],
    reverse: bool = False,
) -> tuple[Tensor, Tensor]: ...  # fmt: skip
@checked
def linear_scan(
    A: Tensor, b: Tensor, x0: Tensor | None = None, *, backend: str = "auto", return_state: bool = False, reverse: bool = False
) -> Tensor | tuple[Tensor, Tensor]:  # fmt: skip
    """All states of x_t = A_t x_{t-1} + b_t, t = 1..T (paper 000, Eq. 1 and 5).

    Parameters
    ----------
    A : Tensor
        Diagonal, (B, T, D), real or complex; or block-diagonal, (B, T, h, n, n), where element [i, j] takes x_j to x_i.
        (D,) or (h, n, n) where every step has the same transition (constant coefficients).
    b : Tensor, (B, T, D) or (B, T, h, n)
        The input terms.
    x0 : Tensor, (B, D) or (B, h, n), optional
        The state before the first step, zero if absent.
    backend : str
        One of ``BACKENDS``, or ``"auto"``.
    return_state : bool
        Whether to return x_T too.
    reverse : bool
        Whether time runs from the last step to the first, x_t = A_t x_{t+1} + b_t; x_T is then ``x[:, 0]``.

    Returns
    -------
    x : Tensor
        Of b's shape.  Differentiable in A, b and x0 (zero where T = 0), a second time by ``reference`` and ``paper`` alone:
        a compiled backend refuses ``create_graph=True``.
    x_T : Tensor, of x0's shape
        Only with ``return_state``: ``x[:, -1]``, or x0 where T = 0.

    Examples
    --------
    >>> import torch
    >>> linear_scan(torch.full((1, 3, 1), 0.5), torch.ones(1, 3, 1)).flatten().tolist()
    [1.0, 1.5, 1.75]

    Channels with more axes, (B, T, D, N), are flattened.  The columns of a matrix, (B, T, h, n, m), do not see each other: they
    are m times as many strings.

    >>> A, b = torch.rand(2, 1, 3, 4, 5)                                                   # B = 1, T = 3, D = 4, N = 5
    >>> linear_scan(A.flatten(2), b.flatten(2)).unflatten(2, (4, 5)).shape
    torch.Size([1, 3, 4, 5])
    >>> A, b = torch.rand(1, 3, 4, 5, 5), torch.rand(1, 3, 4, 5, 2)                        # h = 4, n = 5, m = 2
    >>> x = linear_scan(A.repeat(2, 1, 1, 1, 1), b.movedim(-1, 0).flatten(0, 1)).unflatten(0, (2, 1)).movedim(0, -1)
    >>> torch.allclose(x[:, 2], A[:, 2] @ x[:, 1] + b[:, 2])
    True
    """
    if reverse and b.ndim > 2:
        A, b = A.flip(1) if A.ndim >= b.ndim else A, b.flip(1)
    x = dispatch.linear(A, b, x0, backend)
    last = _last(x, x0) if return_state else x
    x = x.flip(1) if reverse else x
    return (x, last) if return_state else x


@overload
def token_scan(
    A_table: Tensor, b_table: Tensor, tokens: Tensor, x0: Tensor | None = None,
    *, backend: str = "auto", return_state: Literal[False] = False
) -> Tensor: ...  # fmt: skip
@overload
def token_scan(
    A_table: Tensor, b_table: Tensor, tokens: Tensor, x0: Tensor | None = None,
    *, backend: str = "auto", return_state: Literal[True]
) -> tuple[Tensor, Tensor]: ...  # fmt: skip
@checked
def token_scan(
    A_table: Tensor, b_table: Tensor, tokens: Tensor, x0: Tensor | None = None,
    *, backend: str = "auto", return_state: bool = False
) -> Tensor | tuple[Tensor, Tensor]:  # fmt: skip
    """:func:`linear_scan` with A_t = A_table[token_t] and b_t = b_table[token_t].

    Where there are few distinct tokens this is the fast road: the ``cpu`` backend never builds the (B, T, h, n, n)
    tensors of transitions and of their gradients.

    Parameters
    ----------
    A_table : Tensor, (V, D) or (V, h, n, n)
        The transition of each token.
    b_table : Tensor, (V, D) or (V, h, n)
        The input term of each token.
    tokens : Tensor, (B, T)
        Integers in 0..V-1.
    x0 : Tensor, (B, D) or (B, h, n), optional
        The state before the first token, zero if absent.
    backend : str
        As for :func:`linear_scan`.
    return_state : bool
        Whether to return x_T too.

    Returns
    -------
    x : Tensor, (B, T, D) or (B, T, h, n)
        Differentiable in both tables and x0.
    x_T : Tensor, (B, D) or (B, h, n)
        Only with ``return_state``.

    Examples
    --------
    >>> import torch
    >>> swap, stay = torch.tensor([[0., 1.], [1., 0.]]), torch.eye(2)
    >>> A = torch.stack([stay, swap])[:, None]                       # token 1 swaps: parity
    >>> x = token_scan(A, torch.zeros(2, 1, 2), torch.tensor([[1, 0, 1, 1]]), torch.tensor([[[1., 0.]]]))
    >>> x[0, :, 0, 1].tolist()
    [1.0, 1.0, 0.0, 1.0]
    """
    x = dispatch.by_token(A_table, b_table, tokens, x0, backend)
    return (x, _last(x, x0)) if return_state else x


@overload
def softmax_scan(
    raw: Tensor, x0: Tensor | None = None, *, backend: str = "auto", return_state: Literal[False] = False
) -> tuple[Tensor, Tensor]: ...  # fmt: skip
@overload
def softmax_scan(
    raw: Tensor, x0: Tensor | None = None, *, backend: str = "auto", return_state: Literal[True]
) -> tuple[Tensor, Tensor, Tensor]: ...  # fmt: skip
@checked
def softmax_scan(
    raw: Tensor, x0: Tensor | None = None, *, backend: str = "auto", return_state: bool = False
) -> tuple[Tensor, Tensor] | tuple[Tensor, Tensor, Tensor]:  # fmt: skip
    """:func:`linear_scan` with b_t = 0 and every column of A_t the softmax of raw_t's (paper 000, Sec. 3.3, with p = 1).

    The ``cpu`` backend makes both in one pass for blocks of up to 16, and then never builds the gradient in A; the
    others, and ``torch.compile``, take softmax and scan one after the other.

    Parameters
    ----------
    raw : Tensor, (B, T, row, h, column)
        What the softmax is taken of: laid out so, a softmax over rows runs over long stretches of memory.
    x0 : Tensor, (B, h, n), optional
        The state before the first step, zero if absent.
    backend : str
        As for :func:`linear_scan`.
    return_state : bool
        Whether to return x_T too.

    Returns
    -------
    A : Tensor
        Of raw's shape (``A.transpose(2, 3)`` is what :func:`linear_scan` takes).  Differentiable in raw.
    x : Tensor, (B, T, h, n)
        Differentiable in raw and x0.
    x_T : Tensor, (B, h, n)
        Only with ``return_state``.

    Examples
    --------
    >>> import torch
    >>> A, x = softmax_scan(torch.zeros(1, 3, 2, 1, 2), torch.tensor([[[1., 0.]]]))
    >>> x[0, :, 0].tolist()
    [[0.5, 0.5], [0.5, 0.5], [0.5, 0.5]]
    """
    A, x = dispatch.softmax(raw, x0, backend)
    return (A, x, _last(x, x0)) if return_state else (A, x)


def _last(x: Tensor, x0: Tensor | None) -> Tensor:
    """The state after the last step of x (B,T,...)."""
    if x.shape[1]:
        return x[:, -1]
    return x.new_zeros(x.shape[:1] + x.shape[2:]) if x0 is None else x0.to(x.dtype)


def warm() -> None:
    """Compile (or load from the cache) the kernels that the chapters use, so that no cell pauses for it.

    >>> warm()
    """
    if MISSING["cpu"]:
        return
    with torch.device("cpu"), torch.inference_mode(False), torch.enable_grad():
        for n in (2, 5, 8):
            A = torch.zeros(2, 3, 1, n, n, dtype=torch.float32, requires_grad=True)
            b = A[..., 0].detach()
            linear_scan(A, b, backend="cpu").sum().backward()
            token_scan(A[0], b[0], torch.zeros(1, 2, dtype=torch.int64), backend="cpu").sum().backward()
        for used in (slice(1, 2), slice(0, 2)):  # the states alone, and A too: two kernels
            both = softmax_scan(torch.zeros(1, 3, 8, 1, 8, dtype=torch.float32, requires_grad=True), backend="cpu")
            sum(v.sum() for v in both[used]).backward()
        for dtype in (torch.float32, torch.complex64):
            a = torch.zeros(1, 2, 1, dtype=dtype, requires_grad=True)
            linear_scan(a, a.detach(), backend="cpu").abs().sum().backward()
