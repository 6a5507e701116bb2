"""Choose the backend of a scan, and run it: what layers call, and what the public functions of :mod:`lrnnlab.scans` call.

Shapes and types are compared in one expression; only if it is false, :func:`_check` finds out what is wrong.  The range of
tokens is checked where they are read: by the ``cpu`` backend in its compiled loop.

Letters: B batch, T time, D channels, h blocks, n block size, V vocabulary; A transition, b input term, x state.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import torch
from torch import Tensor

from lrnnlab.scans import paper, reference
from lrnnlab.scans.kernels import ops
from lrnnlab.scans.kernels.triton_plan import MAX_BLOCK
from lrnnlab.scans.reference import no_steps
from lrnnlab.scans.transforms import HALF, check_table, tell_slow, wide, within_func
from lrnnlab.validation import among, axes, fit, same_kind, shown

_PLAIN = {"reference": reference, "paper": paper}
_DEVICE = {"cpu": "cpu", "triton": "cuda"}  # where a compiled backend runs
_ON = {device: name for name, device in _DEVICE.items()}
COMPILED = tuple(_DEVICE)
BACKENDS = (*_PLAIN, *COMPILED)
# why a compiled backend cannot run on this machine, or None; found without loading it, which takes a second
MISSING = {
    "cpu": None if find_spec("numba") else "No module named 'numba'",
    "triton": None if torch.cuda.is_available() and find_spec("triton") else "no CUDA device, or no triton",
}

_WIDE = (torch.float32, torch.float64)
_REAL = {"cpu": _WIDE, "triton": (*_WIDE, torch.float16, torch.bfloat16)}
_COMPLEX = (torch.complex64, torch.complex128)
BLOCKS = {"cpu": (0, 128), "triton": (1, MAX_BLOCK)}  # sizes: each has a loop of its own, and making it takes its time
MIN_STEPS, MIN_STEPS_OF_BLOCKS = 6, 3  # with fewer the loop is done before a compiled scan has begun
MAX_FUSED_BLOCK = 16  # up to here softmax and scan are one loop: its code grows with the square

_LINEAR = axes("A B T D, b B T D, x0 B D", "A D, b B T D, x0 B D",
               "A B T h n n, b B T h n, x0 B h n", "A h n n, b B T h n, x0 B h n")  # fmt: skip
_TOKENS = axes("A_table V D, b_table V D, tokens B T, x0 B D", "A_table V h n n, b_table V h n, tokens B T, x0 B h n")
_SOFTMAX = axes("raw B T n h n, x0 B h n")


def linear(A: Tensor, b: Tensor, x0: Tensor | None, backend: str = "auto") -> Tensor:
    """:func:`lrnnlab.scans.linear_scan`, for layers."""
    if not (
        isinstance(A, Tensor) and isinstance(b, Tensor) and b.ndim in (3, 4) and b.dtype not in HALF
        and A.shape in (step := (*b.shape[2:], *b.shape[3:]), b.shape[:2] + step) and A.dtype == b.dtype and A.device == b.device
        and A.layout == b.layout == torch.strided
        and (x0 is None or (x0.shape == b.shape[:1] + b.shape[2:] and x0.dtype == b.dtype and x0.device == b.device))
    ):  # fmt: skip
        A, b, x0 = _check("linear_scan", _LINEAR, A=A, b=b, x0=x0)
    name = pick(backend, A, b.ndim == 4, b.shape[1])
    x0 = b.new_zeros(b.shape[:1] + b.shape[2:]) if x0 is None else x0
    if not b.shape[1]:
        return no_steps(b, A, x0)
    if name in _PLAIN:
        if backend == "auto" and not torch.compiler.is_compiling():
            _say_if_slow(A, b.ndim == 4, b.shape[1])
        return _PLAIN[name].linear_scan(A if A.ndim > b.ndim - 1 else A.expand(*b.shape[:2], *A.shape), b, x0)
    return (ops.operator if torch.compiler.is_compiling() else ops.Scan.apply)(A, b, None, x0, name)


def by_token(A_table: Tensor, b_table: Tensor, tokens: Tensor, x0: Tensor | None, backend: str = "auto") -> Tensor:
    """:func:`lrnnlab.scans.token_scan`, for layers."""
    if not (
        isinstance(A_table, Tensor) and isinstance(b_table, Tensor) and b_table.ndim in (2, 3) and b_table.dtype not in HALF
        and A_table.shape == b_table.shape + b_table.shape[2:] and A_table.dtype == b_table.dtype
        and A_table.layout == b_table.layout == torch.strided
        and A_table.device == b_table.device == tokens.device and tokens.ndim == 2 and tokens.dtype in (torch.int64, torch.int32)
        and (x0 is None or (x0.shape == tokens.shape[:1] + b_table.shape[1:] and x0.dtype == b_table.dtype
                            and x0.device == b_table.device))
    ):  # fmt: skip
        A_table, b_table, tokens, x0 = _check("token_scan", _TOKENS, A_table=A_table, b_table=b_table, tokens=tokens, x0=x0)
    name = pick(backend, A_table, b_table.ndim == 3, tokens.shape[1])
    if name in _PLAIN or b_table.ndim == 2 or not tokens.shape[1]:  # of diagonal tables A is no larger than the states
        check_table(tokens, len(A_table))
        return linear(A_table[tokens], b_table[tokens], x0, name)
    if name != "cpu" or not b_table.numel() or torch.compiler.is_compiling():  # else the loop checks
        check_table(tokens, len(A_table))
    x0 = b_table.new_zeros(tokens.shape[:1] + b_table.shape[1:]) if x0 is None else x0
    return (ops.operator if torch.compiler.is_compiling() else ops.Scan.apply)(A_table, b_table, tokens, x0, name)


def softmax(raw: Tensor, x0: Tensor | None, backend: str = "auto") -> tuple[Tensor, Tensor]:
    """:func:`lrnnlab.scans.softmax_scan`, for layers."""
    if not (
        raw.ndim == 5 and raw.shape[2] == raw.shape[4] and raw.is_floating_point() and raw.dtype not in HALF
        and (x0 is None or (x0.shape == raw.shape[:1] + raw.shape[3:] and x0.dtype == raw.dtype and x0.device == raw.device))
    ):  # fmt: skip
        raw, x0 = _check("softmax_scan", _SOFTMAX, raw=raw, x0=x0)
    B, T, n, h, _ = raw.shape
    name = pick(backend, raw, True, T)
    x0 = raw.new_zeros(B, h, n) if x0 is None else x0
    if name == "cpu" and raw.numel() and n <= MAX_FUSED_BLOCK and not torch.compiler.is_compiling():
        return ops.SoftmaxScan.apply(raw, x0)
    A = raw.softmax(2)
    return A, linear(A.transpose(2, 3), raw.new_zeros(B, T, h, n), x0, name)


def pick(backend: str, A: Tensor, block: bool, T: int) -> str:
    """The backend's name, if it can take A; ``ValueError`` where one is asked for that cannot."""
    name = _ON.get(A.device.type, "reference") if backend == "auto" else backend
    least, most = BLOCKS.get(name, (0, 0))
    takes = (name in COMPILED and A.device.type == _DEVICE[name] and (not block or least <= A.shape[-1] <= most)
             and (A.dtype in _REAL[name] or (not block and A.dtype in _COMPLEX)))  # fmt: skip
    if backend == "auto":
        few = T < (MIN_STEPS_OF_BLOCKS if block else MIN_STEPS)
        return "reference" if not takes or MISSING[name] or few or within_func() else name
    among("backend", backend, (*BACKENDS, "auto"))
    if backend in COMPILED:
        if MISSING[backend]:
            raise ValueError(f"the {backend} backend cannot run here: {MISSING[backend]}")
        if within_func():
            raise ValueError(f"the {backend} backend does not run within torch.func; {', '.join(_PLAIN)} and auto do")
        if not takes:
            kinds = ", ".join(str(kind).removeprefix("torch.") for kind in _REAL[backend] + (() if block else _COMPLEX))
            wanted = f"{kinds}{f' and blocks of 1..{most}' if block else ''} on {_DEVICE[backend]}"
            raise ValueError(f"the {backend} backend takes {wanted}, got {A.dtype} {tuple(A.shape)} on {A.device.type}")
    return backend


def _say_if_slow(A: Tensor, block: bool, T: int) -> None:
    """Warn where ``auto`` takes the loop for want of a compiled backend, and say which tensors that would take."""
    try:
        pick(_ON[A.device.type], A, block, MIN_STEPS)
    except ValueError as error:
        tell_slow("linear_scan", f"runs step by step in Python: {error}".partition(" (")[0], T, 6)
    except KeyError:
        tell_slow("linear_scan", f"runs step by step in Python on {A.device.type}", T, 6)


def _check(whose: str, forms: tuple, **tensors: Tensor | None) -> Any:
    """The tensors, widened under autocast; or the error of what does not fit."""
    tensors = dict(zip(tensors, wide(*tensors.values())))
    for name, x in tensors.items():
        if x is not None and not (isinstance(x, Tensor) and x.layout is torch.strided):
            raise TypeError(f"{whose}: {name} must be a dense torch.Tensor, got {shown(x)}")
    fit(whose, forms, **tensors)
    first, tokens = next(iter(tensors.values())), tensors.get("tokens")
    same_kind("a scan", **{name: x for name, x in tensors.items() if name != "tokens"})
    if tokens is not None and (tokens.dtype not in (torch.int64, torch.int32) or tokens.device != first.device):
        raise ValueError(f"tokens must be integers on {first.device}, got {tokens.dtype} on {tokens.device}")
    if whose == "softmax_scan" and not first.is_floating_point():
        raise ValueError(f"softmax_scan takes real floating numbers, got {first.dtype}")
    return tensors.values()
