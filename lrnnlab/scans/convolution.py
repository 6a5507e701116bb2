"""A recurrence with constant coefficients is a convolution: y_t = sum_s K_s u_{t-s}, K_l = sum_n C_n lambda_n^l.

Two functions: the long convolution, by FFT, and its kernel from the eigenvalues, by a product of two short tables of
powers.  Together they are the diagonal recurrence x_t = lambda x_{t-1} + u_t, y_t = C x_t, for all t at once.

Letters, those of paper 004 (Gupta, Mehta, Berant 2022): B batch, L length (T elsewhere), H channels (D elsewhere), N
modes per channel, l lag; u input, y output, K kernel, C read-out weights, D skip weight.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import reduce
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint

from lrnnlab.scans.transforms import first_order, values, wide, within_func
from lrnnlab.validation import among, axes, checked, fit, same_kind, whole_number

MAX_DENSE_LENGTH = 64  # up to here a product with a matrix is as fast as the FFT, and blind to a finite future to the last bit
MAX_TABLE = 1 << 22  # numbers in a table of powers; a longer kernel is computed in pieces
CHANNELS_AT_ONCE = 16  # on a CPU: their spectra stay in the cache
MODES_AT_ONCE = 512  # of a kernel with shared modes
PARTS = ("real", "complex")
_CONVOLUTION = axes("u B L H, kernel H taps, D H, future H taps_ahead")
_KERNEL = axes("log_lambda H N, C H N", "log_lambda N, C H N")
_DOUBLE = {torch.float32: False, torch.complex64: False, torch.float64: True, torch.complex128: True}


@checked
def long_conv(u: Tensor, kernel: Tensor, D: Tensor | None = None, *, future: Tensor | None = None) -> Tensor:
    """y_t = sum_s kernel_s u_{t-s} + D u_t + sum_s future_s u_{t+1+s}, s >= 0, by channel (paper 004, Eq. 4, 6, A.1).

    Parameters
    ----------
    u : Tensor, (B, L, H)
        The inputs.  This and the others are real: the papers take the real part of a complex kernel, as
        :func:`vandermonde` does.
    kernel : Tensor, (H, L')
        Of any length L'; beyond L it is not used.
    D : Tensor, (H,), optional
        The skip weight.
    future : Tensor, (H, L''), optional
        The other direction of a bidirectional layer as in paper 004: ``future_0`` multiplies the next input, so u_t is
        counted once.  (Where both directions shall see u_t, the first tap of the second belongs to D.)

    Returns
    -------
    Tensor
        y, (B, L, H), of u's type.  Differentiable in everything.

    Notes
    -----
    Zeros are appended for the FFT, so that the end does not wrap around to the beginning.  Its rounding errors are small
    against |K| |u| (norms), not against each y_t, and flow back in time; up to L = 64 a dense product is taken instead,
    and y_t then is a function of u_1 ... u_t to the last bit, if all of u is finite (0 times infinity is NaN).

    Examples
    --------
    >>> import torch
    >>> long_conv(torch.tensor([[[1.], [0.], [1.]]]), torch.tensor([[1., 2., 4.]])).flatten().tolist()
    [1.0, 2.0, 5.0]
    """
    u, kernel, D, future = wide(u, kernel, D, future)
    fit("long_conv", _CONVOLUTION, u=u, kernel=kernel, D=D, future=future)
    same_kind("long_conv", u=u, kernel=kernel, D=D, future=future)
    if u.dtype not in (torch.float32, torch.float64):
        raise ValueError(f"long_conv takes float32 or float64, got {u.dtype}")
    if not u.numel():  # the FFT refuses an empty batch
        return u + 0 * sum(weights.sum() for weights in (kernel, D, future) if weights is not None)
    L = u.shape[1]
    behind, ahead = kernel[:, :L], kernel[:, :0] if future is None else future[:, : L - 1]
    if D is not None:  # one more at lag 0
        behind = torch.cat([F.pad(behind, (0, not behind.shape[1]))[:, :1] + D.unsqueeze(1), behind[:, 1:]], 1)
    if L <= MAX_DENSE_LENGTH:
        return _dense(u, behind, ahead)
    return (_circular if within_func() else _Ring.apply)(u, behind, ahead)


def _dense(u: Tensor, behind: Tensor, ahead: Tensor) -> Tensor:
    """As a product with the Toeplitz matrix M[t, s] = taps at offset t - s."""
    L = u.shape[1]
    taps = torch.cat([F.pad(ahead, (0, L - ahead.shape[1])).flip(-1), F.pad(behind, (0, L - behind.shape[1]))], -1)
    # Offset o sits at L + o.  The window of L taps that ends at offset t is row t, backwards.
    rows = taps[:, 1:].unfold(-1, L, 1).flip(-1)  # (H, L, L)
    # A batch of products is slow on matrices without a contiguous axis: copy first, also on the way back (hook).
    y = rows @ u.permute(2, 1, 0).contiguous()  # (H, L, L) (H, L, B)
    if y.requires_grad and not within_func():
        y.register_hook(lambda g: None if g is None else g.contiguous())
    return y.permute(2, 1, 0).contiguous()


def fast_length(n: int, *, real: bool = False) -> int:
    """The least length from n on that an FFT is fast at."""
    from scipy.fft import next_fast_len  # nearly a second to load

    return next_fast_len(n, real=real)


class _Ring(torch.autograd.Function):
    """On a ring of n points: the taps behind from 0 on, those ahead from n - 1 downwards, zeros between."""

    second = f"of at most {MAX_DENSE_LENGTH} positions, and by a layer's step"

    @staticmethod
    def forward(ctx, u: Tensor, behind: Tensor, ahead: Tensor) -> Tensor:
        ctx.save_for_backward(u, behind, ahead)
        L = u.shape[1]
        n = ctx.n = _points(u, behind, ahead)
        y = torch.empty(u.shape, dtype=u.dtype, device=u.device)
        for at in _channels(u):
            spectrum = torch.fft.rfft(u[..., at].mT, n)  # (B, channels, n // 2 + 1)
            spectrum *= torch.fft.rfft(_ring(behind[at], ahead[at], n), n)
            y[..., at] = torch.fft.irfft(spectrum, n)[..., :L].mT
        return y

    @staticmethod
    @first_order
    def backward(ctx, dy: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        u, behind, ahead = ctx.saved_tensors
        n, L, p, f = ctx.n, u.shape[1], behind.shape[1], ahead.shape[1]
        du, dbehind, dahead = (torch.empty(x.shape, dtype=x.dtype, device=x.device) for x in (u, behind, ahead))
        for at in _channels(u):
            back = torch.fft.rfft(dy[..., at].mT, n)
            taps = torch.fft.irfft((torch.fft.rfft(u[..., at].mT, n).conj() * back).sum(0), n)
            dbehind[at], dahead[at] = taps[:, :p], taps[:, n - f :].flip(-1)
            back *= torch.fft.rfft(_ring(behind[at], ahead[at], n), n).conj()
            du[..., at] = torch.fft.irfft(back, n)[..., :L].mT
        return du, dbehind, dahead


def _circular(u: Tensor, behind: Tensor, ahead: Tensor) -> Tensor:
    """The same as torch's own operations, all channels at once."""
    n = _points(u, behind, ahead)
    spectrum = torch.fft.rfft(u.mT, n) * torch.fft.rfft(_ring(behind, ahead, n), n)
    return torch.fft.irfft(spectrum, n)[..., : u.shape[1]].mT


def _points(u: Tensor, behind: Tensor, ahead: Tensor) -> int:
    """How many points the ring has."""
    return fast_length(u.shape[1] + max(behind.shape[1] - 1, ahead.shape[1]), real=True)


def _channels(u: Tensor) -> list[slice]:
    H = u.shape[2]
    some = CHANNELS_AT_ONCE if u.device.type == "cpu" else H
    return [slice(first, min(first + some, H)) for first in range(0, H, some)]


def _ring(behind: Tensor, ahead: Tensor, n: int) -> Tensor:
    return torch.cat([F.pad(behind, (0, n - behind.shape[1] - ahead.shape[1])), ahead.flip(-1)], -1)


class _Powers(torch.autograd.Function):
    """exp(log_lambda t), (..., N, M) of log_lambda (..., N) and t (M,), computed in double precision, then cast."""

    second = "by a layer's step"

    @staticmethod
    def forward(ctx, log_lambda: Tensor, t: Tensor, double: bool) -> Tensor:
        size = torch.exp(log_lambda.real.unsqueeze(-1) * t)
        if log_lambda.is_complex():
            angle = log_lambda.imag.unsqueeze(-1) * t
            parts = (size * angle.cos(), angle.sin_().mul_(size))
            table = torch.complex(*(x if double else x.float() for x in parts))
        else:
            table = size if double else size.float()
        ctx.save_for_backward(table, t)
        return table

    @staticmethod
    @first_order
    def backward(ctx, g: Tensor) -> tuple[Tensor, None, None]:
        table, t = ctx.saved_tensors
        product = g * table.conj()
        wide = torch.complex128 if product.is_complex() else torch.float64
        return product.to(wide) @ t.to(wide), None, None


def _powers(log_lambda: Tensor, t: Tensor, double: bool) -> Tensor:
    """``_Powers``; within ``torch.func`` by torch's own exponential."""
    if not within_func():
        return _Powers.apply(log_lambda, t, double)
    table = torch.exp(log_lambda.unsqueeze(-1) * t)
    return table if double else table.to(torch.complex64 if table.is_complex() else torch.float32)


def _kept_small(function: Callable[..., Tensor], *given: Any) -> Tensor:
    """``function(*given)``, computed again in the backward pass, so that no table is kept until then."""
    if within_func():  # where nothing can be put off
        return function(*given)
    return checkpoint(function, *given, use_reentrant=False, preserve_rng_state=False)


@checked
def vandermonde(
    log_lambda: Tensor, C: Tensor, L: int, *, part: str = "real", dtype: torch.dtype | None = None
) -> Tensor:
    """The kernel K[h, l] = sum_n C[h, n] exp(log_lambda[h, n] l), l = 0 ... L-1, of diagonal recurrences.

    A state x_0 before the first input adds the same kernel with C lambda x_0 in C's place.

    Parameters
    ----------
    log_lambda : Tensor, (H, N) or (N,)
        Real or complex; (N,) where all channels share their modes (DLR, paper 004, Sec. 2.3).  A real negative lambda
        is log |lambda| + pi i; lambda = 0 has no logarithm.
    C : Tensor, (H, N)
        Real or complex.
    L : int
        The length of the kernel.
    part : str
        ``"real"``, Re of the sum, or ``"complex"``, the sum itself (DLR-prod is its real times its imaginary part).
    dtype : torch.dtype, optional
        float32 or float64, what K is computed in; by default the precision of C.

    Returns
    -------
    Tensor
        K, (H, L), real, or complex for ``part="complex"``.  Differentiable in log_lambda and C.

    Notes
    -----
    exp(log_lambda l) in single precision loses its phase long before l = 10,000.  Written as l = m i + j, it is
    exp(log_lambda m i) exp(log_lambda j): two tables of about sqrt(L) powers, computed in double precision whatever
    the weights are, then cast, and one matrix product.  Taking log_lambda as it is given, a single-precision K is then
    right to 1e-6 of sum_n |C| |lambda|^l at every l up to 2^20, as long as the powers are normal numbers; where modes
    cancel each other, K is smaller and keeps fewer digits.  With g the gradient by K, that by C is right to 1e-6 of
    sum_l |g_l| |lambda|^l, and that by log_lambda, where lag l counts l times, to 1e-6 of sum_l l |g_l| |C| |lambda|^l:
    for a slow mode the late lags decide it.

    Examples
    --------
    >>> import torch
    >>> vandermonde(torch.tensor([0.5]).log(), torch.tensor([[8.0]]), 4).tolist()
    [[8.0, 4.0, 2.0, 1.0]]
    """
    fit("vandermonde", _KERNEL, log_lambda=log_lambda, C=C)
    whole_number(L, 0, "L, a kernel's length,")
    among("part", part, PARTS)
    if C.device != log_lambda.device:
        raise ValueError(f"C lies on {C.device}, log_lambda on {log_lambda.device}")
    if torch.isneginf(values(log_lambda).real).any():
        raise ValueError("lambda = 0 has no logarithm: log_lambda holds -inf")
    if not {dtype or C.dtype, C.dtype, log_lambda.dtype} <= set(_DOUBLE) or (dtype is not None and dtype.is_complex):
        raise ValueError(f"single or double precision, and a real dtype; got {log_lambda.dtype}, {C.dtype}, {dtype=}")
    double = _DOUBLE[dtype or C.dtype]
    kind = (torch.float32, torch.float64, torch.complex64, torch.complex128)[double + 2 * (part == "complex")]
    if log_lambda.ndim == 2 or C.shape[1] <= MODES_AT_ONCE:
        return _sum_of_modes(log_lambda, C, L, kind)

    def some(log_lambda: Tensor, C: Tensor) -> Tensor:
        return _kept_small(_sum_of_modes, log_lambda, C, L, kind)

    return reduce(torch.add, map(some, log_lambda.split(MODES_AT_ONCE), C.split(MODES_AT_ONCE, 1)))


def _sum_of_modes(log_lambda: Tensor, C: Tensor, L: int, kind: torch.dtype) -> Tensor:
    groups, rows = (1, len(C)) if log_lambda.ndim == 1 else (len(C), 1)  # channels of a group have the same modes
    powers = log_lambda.to(torch.complex128 if log_lambda.is_complex() else torch.float64)
    powers = powers.view(groups, C.shape[1])
    if not (powers.is_complex() or kind.is_complex):
        C = C.real  # the rest would not be seen
    if kind in (torch.float32, torch.complex64):
        C = C.to(torch.complex64 if C.is_complex() else torch.float32)
    weights = C.unflatten(0, (groups, rows)).unsqueeze(2)  # (groups, rows, 1, N)

    m = min(math.isqrt(rows * L) + 1, max(MAX_TABLE // max(powers.numel(), 1), 1), max(L, 1))  # the tables of equal size
    j = torch.arange(m, dtype=torch.float64, device=C.device)
    double = kind in (torch.float64, torch.complex128)
    fine = _for_product(_powers(powers, j, double), 1, kind)  # (groups, N, m), or 2N

    def piece(i: Tensor) -> Tensor:
        coarse = _powers(powers, m * i, double).mT.unsqueeze(1)  # (groups, 1, I, N)
        table = _for_product(weights * coarse, -1, kind, -1)  # (groups, rows, I, N), or 2N
        return (table.flatten(1, 2) @ fine).view(len(C), len(i) * m)

    starts = torch.arange(max(math.ceil(L / m), 1), dtype=torch.float64, device=C.device)
    pieces = starts.split(max(MAX_TABLE // max(weights.numel(), 1), 1))
    if len(pieces) == 1:
        return piece(starts)[:, :L]
    return torch.cat([_kept_small(piece, i) for i in pieces], 1)[:, :L]


def _for_product(x: Tensor, axis: int, kind: torch.dtype, sign: int = 1) -> Tensor:
    """x cast to ``kind``; its real and its imaginary part along an axis where Re(a b) is wanted of complex a and b."""
    if x.is_complex() and not kind.is_complex:
        x = torch.cat([x.real, sign * x.imag], axis)  # Re(a b) = [Re a, -Im a] [Re b, Im b]
    return x.to(kind)
