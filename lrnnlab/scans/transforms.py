"""How a function finds out that ``torch.func`` transforms it (``vmap``, ``grad``), ``torch.compile`` traces it,
``torch.autocast`` shortens its numbers, or its gradient is differentiated again."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

HALF = (torch.float16, torch.bfloat16)
_TOLD: set[str] = set()


def wide(*tensors: Any) -> tuple[Any, ...]:
    """The tensors; under autocast those of 16 bits in single precision, since errors of a state add up from step to step."""
    return tuple(x.float() if isinstance(x, Tensor) and x.dtype in HALF and torch.is_autocast_enabled(x.device.type)
                 else x for x in tensors)  # fmt: skip


def tell_slow(whose: str, what: str, T: int, frames: int) -> None:
    """Warn once that ``backend="auto"`` takes a slow road over T steps; not of a few, and not within ``torch.func``."""
    if T >= 64 and what not in _TOLD and not torch.compiler.is_compiling() and not within_func():
        _TOLD.add(what)
        silence = "warnings.filterwarnings('ignore', 'slow scan')"
        warnings.warn(f"slow scan: {whose} {what}; this is said once, and {silence} silences it", stacklevel=frames)


def within_func() -> bool:
    """Whether a transform of ``torch.func`` is at work, or a mode that follows every operation (to count, to bound): then
    only torch's own operations run."""
    if torch._C._functorch.maybe_current_level() is not None:
        return True
    return not torch.compiler.is_compiling() and torch._C._len_torch_dispatch_stack() > 0


is_exporting = getattr(torch.compiler, "is_exporting", lambda: False)  # which old versions do not know


def values(x: Tensor) -> Tensor:
    """``x``, within ``torch.func`` the tensor that is wrapped there, for a check: what it says may decide nothing else."""
    functorch = torch._C._functorch
    while not torch.compiler.is_compiling() and functorch.is_functorch_wrapped_tensor(x):
        x = functorch.get_unwrapped(x)
    return x


def check_symbols(tokens: Tensor, V: int, where: str) -> None:
    """ValueError, showing the token and ``where`` it is not, unless all are in 0..V-1; see :func:`assert_symbols`."""
    if torch.compiler.is_compiling():
        assert_symbols(tokens, V, where)
    elif tokens.numel() and torch._C._get_dispatch_mode(torch._C._TorchDispatchModeKey.FAKE) is None:  # they have values
        low, high = map(int, (values(tokens) if within_func() else tokens).aminmax())
        if low < 0 or high >= V:
            raise ValueError(f"token {low if low < 0 else high} is outside {where}")


def check_table(tokens: Tensor, V: int) -> None:
    """The same where tokens are the rows of a table; on a GPU by :func:`assert_symbols`."""
    check = check_symbols if tokens.device.type == "cpu" else assert_symbols
    check(tokens, V, f"the table of {V} symbols (0..{V - 1})")


def assert_symbols(tokens: Tensor, V: int, where: str) -> None:
    """The same on the device, a RuntimeError that shows no token: to read a value would stop the GPU, or the compiler."""
    torch._assert_async(((tokens >= 0) & (tokens < V)).all(), f"a token is outside {where}")


def first_order(backward: Callable) -> Callable:
    """The ``backward`` of an autograd Function that has no second derivative; RuntimeError where one is prepared."""

    @functools.wraps(backward)
    def once(ctx: Any, *arriving: Any) -> Any:
        if torch.is_grad_enabled():  # within a backward: create_graph=True
            second = getattr(type(ctx)._forward_cls, "second", None)
            raise RuntimeError(f"create_graph=True: {type(ctx).__name__.removesuffix('Backward')} has first derivatives "
                               f"only{f'; there are second ones {second}' if second else ''}")  # fmt: skip
        return backward(ctx, *arriving)

    return once
