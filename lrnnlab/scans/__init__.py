"""x_t = A_t x_{t-1} + b_t, as plain functions on tensors; nothing here knows of models.

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

Under ``torch.autocast`` every scan takes 16-bit tensors in single precision, and answers so.

Letters: B batch, T time, D channels, h blocks, n block size (the papers' b), V vocabulary; A transition, b input
term, x state.
"""

from __future__ import annotations

from importlib.util import find_spec

import torch
from torch import Tensor

from lrnnlab.scans import paper, reference
from lrnnlab.scans.convolution import long_conv, vandermonde
from lrnnlab.scans.delta import delta_rule
from lrnnlab.scans.kernels import ops
from lrnnlab.scans.kernels.triton_plan import LARGEST
from lrnnlab.scans.reference import no_steps
from lrnnlab.scans.transforms import assert_symbols, check_symbols, wide, within_func
from lrnnlab.validation import among, axes, checked, fit, same_kind

__all__ = [
    "available", "chosen", "delta_rule", "linear_scan", "long_conv", "softmax_scan", "token_scan", "vandermonde", "warm",
]  # fmt: skip

_PLAIN = {"reference": reference, "paper": paper}
_DEVICE = {"cpu": "cpu", "triton": "cuda"}  # where a compiled backend runs
COMPILED = tuple(_DEVICE)
BACKENDS = (*_PLAIN, *COMPILED)

_WIDE = (torch.float32, torch.float64)
_REAL = {"cpu": _WIDE, "triton": (*_WIDE, torch.float16, torch.bfloat16)}
_COMPLEX = (torch.complex64, torch.complex128)

FEW, FEW_BLOCKS = 6, 3  # with fewer steps the loop is done before a compiled scan has begun
_LARGEST = {"cpu": 128, "triton": LARGEST}  # block size: each has a loop of its own, and making it takes its time
FUSED = 16  # block size up to which softmax and scan are one loop: its code grows with the square
# why a compiled backend cannot run on this machine, or None; found without loading it, which takes a second
MISSING = {
    "cpu": None if find_spec("numba") else "No module named 'numba'",
    "triton": None if torch.cuda.is_available() and find_spec("triton") else "no CUDA device, or no triton",
}

_TRANSITIONS = axes("A B T D", "A B T h n n")
_LINEAR = axes("A B T D, b B T D, x0 B D", "A D, b B T D, x0 B D",
               "A B T h n n, b B T h n, x0 B h n", "A h n n, b B T h n, x0 B h n")  # fmt: skip
_TOKENS = axes("A_table V D, b_table V D, tokens B T, x0 B D", "A_table V h n n, b_table V h n, tokens B T, x0 B h n")
_SOFTMAX = axes("raw B T n h n, x0 B h n")


@checked
def available(device: str | None = None) -> tuple[str, ...]:
    """The backends that run on this machine (``MISSING`` says why another does not), of those for tensors on ``device``.

    >>> {"reference", "paper"} <= set(available())
    True
    """
    runs = (name for name in BACKENDS if MISSING.get(name) is None)
    return tuple(name for name in runs if device is None or _DEVICE.get(name, device) == device)


@checked
def chosen(A: Tensor) -> str:
    """The backend that ``auto`` takes for transitions A (B,T,D) or (B,T,h,n,n).

    >>> import torch
    >>> chosen(torch.zeros(1, 100, 1, 2, 2, dtype=torch.int64))           # no compiled scan takes integers
    'reference'
    """
    fit("chosen", _TRANSITIONS, A=A)
    return _pick("auto", A, A.ndim == 5, A.shape[1])


@checked
def linear_scan(A: Tensor, b: Tensor, x0: Tensor | None = None, *, backend: str = "auto") -> Tensor:
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

    Returns
    -------
    Tensor
        x, of b's shape; ``x[:, -1]`` is the state to carry on with.  Differentiable in A, b and x0 (zero where T = 0), a
        second time by ``reference`` and ``paper`` alone: a compiled backend refuses ``create_graph=True``.

    Examples
    --------
    >>> import torch
    >>> linear_scan(torch.full((1, 3, 1), 0.5), torch.ones(1, 3, 1)).flatten().tolist()
    [1.0, 1.5, 1.75]
    """
    A, b, x0 = wide(A, b, x0)
    fit("linear_scan", _LINEAR, A=A, b=b, x0=x0)
    same_kind("a scan", A=A, b=b, x0=x0)
    name = _pick(backend, A, b.ndim == 4, b.shape[1])
    x0 = b.new_zeros(b.shape[:1] + b.shape[2:]) if x0 is None else x0
    if not b.shape[1]:
        return no_steps(b, A, x0)
    if name in _PLAIN:
        return _PLAIN[name].linear_scan(A if A.ndim > b.ndim - 1 else A.expand(*b.shape[:2], *A.shape), b, x0)
    return ops.scan(A, b, None, x0, name)


@checked
def token_scan(
    A_table: Tensor, b_table: Tensor, tokens: Tensor, x0: Tensor | None = None, *, backend: str = "auto"
) -> Tensor:
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

    Returns
    -------
    Tensor
        x, (B, T, D) or (B, T, h, n).  Differentiable in both tables and x0.

    Examples
    --------
    >>> import torch
    >>> swap, stay = torch.tensor([[0., 1.], [1., 0.]]), torch.eye(2)
    >>> A = torch.stack([stay, swap])[:, None]                       # token 1 swaps: parity
    >>> x = token_scan(A, torch.zeros(2, 1, 2), torch.tensor([[1, 0, 1, 1]]), torch.tensor([[[1., 0.]]]))
    >>> x[0, :, 0, 1].tolist()
    [1.0, 1.0, 0.0, 1.0]
    """
    A_table, b_table, x0 = wide(A_table, b_table, x0)
    fit("token_scan", _TOKENS, A_table=A_table, b_table=b_table, tokens=tokens, x0=x0)
    same_kind("a scan", A_table=A_table, b_table=b_table, x0=x0)
    if tokens.dtype not in (torch.int64, torch.int32) or tokens.device != A_table.device:
        raise ValueError(f"tokens must be integers on {A_table.device}, got {tokens.dtype} on {tokens.device}")
    check = check_symbols if tokens.device.type == "cpu" else assert_symbols
    check(tokens, len(A_table), f"the table of {len(A_table)} symbols (0..{len(A_table) - 1})")
    name = _pick(backend, A_table, A_table.ndim == 4, tokens.shape[1])
    x0 = b_table.new_zeros(tokens.shape[:1] + b_table.shape[1:]) if x0 is None else x0
    if not tokens.shape[1]:
        return no_steps(b_table[tokens], A_table, x0)
    if name in _PLAIN:
        return _PLAIN[name].linear_scan(A_table[tokens], b_table[tokens], x0)
    return ops.scan(A_table, b_table, tokens, x0, name)


@checked
def softmax_scan(raw: Tensor, x0: Tensor | None = None, *, backend: str = "auto") -> tuple[Tensor, Tensor]:
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

    Returns
    -------
    A : Tensor
        Of raw's shape (``A.transpose(2, 3)`` is what :func:`linear_scan` takes).  Differentiable in raw.
    x : Tensor, (B, T, h, n)
        Differentiable in raw and x0.

    Examples
    --------
    >>> import torch
    >>> A, x = softmax_scan(torch.zeros(1, 3, 2, 1, 2), torch.tensor([[[1., 0.]]]))
    >>> x[0, :, 0].tolist()
    [[0.5, 0.5], [0.5, 0.5], [0.5, 0.5]]
    """
    raw, x0 = wide(raw, x0)
    fit("softmax_scan", _SOFTMAX, raw=raw, x0=x0)
    same_kind("a scan", raw=raw, x0=x0)
    if not raw.is_floating_point():
        raise ValueError(f"softmax_scan takes real floating numbers, got {raw.dtype}")
    B, T, n, h, _ = raw.shape
    name = _pick(backend, raw, True, T)
    x0 = raw.new_zeros(B, h, n) if x0 is None else x0
    if name == "cpu" and raw.numel() and n <= FUSED and not torch.compiler.is_compiling():
        return ops.SoftmaxScan.apply(raw, x0)
    A = raw.softmax(2)
    return A, linear_scan(A.transpose(2, 3), raw.new_zeros(B, T, h, n), x0, backend=name)


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


def _pick(backend: str, A: Tensor, block: bool, T: int) -> str:
    """The backend's name, once it is sure that it can take A."""
    if backend == "auto":
        if T < (FEW_BLOCKS if block else FEW) or within_func():
            return "reference"
        return next((name for name in COMPILED if MISSING[name] is None and _takes(name, A, block)), "reference")
    among("backend", backend, (*BACKENDS, "auto"))
    if backend in COMPILED:
        if MISSING[backend]:
            raise ValueError(f"the {backend} backend cannot run here: {MISSING[backend]}")
        if within_func():
            raise ValueError(f"the {backend} backend does not run within torch.func; {', '.join(_PLAIN)} and auto do")
        if not _takes(backend, A, block):
            kinds = ", ".join(str(kind).removeprefix("torch.") for kind in _REAL[backend] + (() if block else _COMPLEX))
            sizes = f" and blocks of 1..{_LARGEST[backend]}" if block else ""
            wanted = f"{kinds}{sizes} on {_DEVICE[backend]}"
            raise ValueError(f"the {backend} backend takes {wanted}, got {A.dtype} {tuple(A.shape)} on {A.device.type}")
    return backend


def _takes(backend: str, A: Tensor, block: bool) -> bool:
    small = not block or (1 if backend == "triton" else 0) <= A.shape[-1] <= _LARGEST[backend]
    return small and A.device.type == _DEVICE[backend] and A.dtype in _REAL[backend] + (() if block else _COMPLEX)
