"""How far rounding can carry what a network computes away from the exact numbers, on any machine.

:class:`Bounds` follows a computation, operation by operation, and keeps beside every tensor a bound: this machine, and every
other one with IEEE arithmetic of the tensor's type, ends no further than that from the exact number.  The rules are the
textbook's (Higham, *Accuracy and Stability of Numerical Algorithms*, 2nd ed., sections 3.1, 3.6 and 4.2): a sum of n
products is off by at most n u / (1 - n u) times the sum of their absolute values, in whatever order it is summed and
whether or not multiplications and additions are fused; u is half the machine epsilon.  We take twice that.  What is below
the smallest normal number may be flushed to zero; weights and states are no such numbers.  A scalar is first rounded to the type
of what it meets.

What cannot be followed is named in ``unknown``, and then all bounds are infinite: operations without a rule, or with
arguments that a rule does not know; numbers that leave torch (``numpy()``, ``tolist()``) or come back under another name.

Two things are taken for granted: a function such as exp or tanh is right to 8 units in the last place (of 1, if it is
bounded), and a linear system, or a matrix exponential, is solved for a matrix that differs from the given one by a
relative 8 n eps.

Letters: b the bounds, e one bound, s the largest absolute value on any machine, n terms of a sum.
"""

from __future__ import annotations

import math
import weakref
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map
from torch.utils.weak import WeakTensorKeyDictionary

FUNCTION = 16  # eps: twice the error of an elementary function
PAY = 1.001  # for the rounding of the bounds themselves, sums of a few positive doubles
RULES: dict[str, Callable] = {}  # (bounds, what came out, what went in ...) -> the bound of what came out

MOVED = """alias cat clone detach diag_embed embedding expand flip index index_select lift_fresh lift_fresh_copy permute
repeat roll select slice split split_with_sizes squeeze stack t transpose unbind unsafe_split unsqueeze view
_reshape_alias _unsafe_view""".split()  # numbers change their places and nothing else
MADE = """arange empty empty_like eye full full_like new_empty new_full new_ones new_zeros ones ones_like scalar_tensor
zeros zeros_like _linalg_check_errors""".split()
LEAVING = """numpy tolist data_ptr storage untyped_storage _typed_storage __array__ __dlpack__ __deepcopy__ __reduce_ex__
__repr__ __format__""".split()  # methods that let Python, or another library, see the numbers
PRODUCTS = "mul mm bmm addmm mv lerp".split()
EXACT = {"clamp": 1, "clamp_min": 1, "pow": 1, "scatter": 3, "constant_pad_nd": 1}  # from which argument on


class Bounds(TorchDispatchMode):
    """``with Bounds() as bounds:`` y = net(x); after it ``bounds.of(y)`` are the bounds of y, in double precision.

    What was there before is taken as exact, unless :meth:`put` gives it a bound.  ``unknown`` names operations that have no
    rule, overflows, and decisions of a program that rounding could change; after one of these all bounds are infinite.

    >>> third = torch.ones(1) / 3
    >>> with Bounds() as bounds:
    ...     y = third.exp()
    >>> 1e-7 < float(bounds.of(y)) < 1e-5, float(bounds.of(third))
    (True, 0.0)
    """

    def __init__(self) -> None:
        super().__init__()
        self.unknown: set[str] = set()
        self._kept = WeakTensorKeyDictionary()
        self._memory: dict[int, Any] = {}  # where rounded numbers lie
        self._shared: dict[int, Any] = {}  # where exact numbers lie that others see, who may write there
        self._doors = _Doors(self)

    def __enter__(self) -> Bounds:
        self._doors.__enter__()
        return super().__enter__()

    def __exit__(self, *error: Any) -> None:
        super().__exit__(*error)
        self._doors.__exit__(*error)

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False  # else torch loads its whole compiler at the first operation

    def of(self, x: Tensor) -> Tensor:
        """The bound of each entry of x."""
        x = torch.as_tensor(x)
        if self.unknown or self._renamed(x):
            return torch.full(x.shape, torch.inf, dtype=torch.float64)
        return self._kept[x] if x in self._kept else torch.zeros(x.shape, dtype=torch.float64)

    def put(self, x: Tensor, e: Tensor) -> Tensor:
        """Let x be within e of the exact numbers; returns x."""
        most = torch.finfo(x.dtype).eps * torch.finfo(x.dtype).max if _real(x) else torch.inf  # of a sum that may overflow
        self._kept[x] = torch.where(e < most, e, torch.inf)
        if _has_memory(x) and bool(e.any()):
            self._memory[_storage(x).data_ptr()] = weakref.ref(_storage(x))
        return x

    def apart(self, x: Tensor) -> float:
        """The most by which the difference of two entries of x can differ between two machines."""
        return 4 * float(self.of(x).max()) if x.numel() else 0.0

    def e(self, x: Any) -> Any:
        """The bound, the number 0 if x is exact."""
        return self._kept[x] if isinstance(x, Tensor) and x in self._kept else 0.0

    def s(self, x: Any) -> Any:
        """At least the absolute value on every machine, but of an infinity."""
        return _size(x) + 2 * self.e(x) if isinstance(x, Tensor) else abs(x)

    def low(self, x: Any) -> Any:
        """At most the absolute value on every machine; zero if it may be flushed there."""
        return (_size(x) - 2 * self.e(x) - _least(x)).clamp(min=0) if isinstance(x, Tensor) else abs(x)

    def rounded(self, given: Any) -> bool:
        """Whether any tensor given is not exact."""
        return any(isinstance(x, Tensor) and x in self._kept for x in tree_leaves(given))

    def __torch_dispatch__(self, op: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        with torch._C.DisableTorchFunction():
            return self._follow(op, args, kwargs or {})

    def _follow(self, op: Any, args: Any, kwargs: Any) -> Any:
        name, e = op.overloadpacket.__name__ if op.namespace == "aten" else str(op), None
        if any(self._renamed(x) for x in tree_leaves((args, kwargs)) if _real(x)):
            self.unknown.add("numbers that are also seen under another name, as a Parameter or an array")
        in_place = name.endswith("_")
        if in_place:  # the rules need what was there before
            name, before = name[:-1], args[0].clone()
            if self.rounded(args[0]):
                self.put(before, self.of(args[0]))
            storage = args[0].untyped_storage()
            if torch._C._storage_Use_Count(storage._cdata) > 2 or storage.data_ptr() in self._shared:
                self.unknown.add(f"{name} in place of numbers that others see")  # whose bounds would not be changed
        out = op(*args, **kwargs)
        args = tuple(before if x is args[0] else x for x in args) if in_place else args
        if name in EXACT and isinstance(args[0], Tensor) and self.rounded((args[EXACT[name] :], kwargs)):
            self.unknown.add(f"rounded options of {name}")
        if "out" in kwargs:
            self.unknown.add(f"{name} into a given tensor")
        elif name in RULES:
            try:
                e = RULES[name](self, out, *args, **kwargs)
            except (TypeError, ValueError, AttributeError, IndexError, RuntimeError):
                self.unknown.add(f"{name} of such arguments")
            if _infinite(out) and not _infinite((args, kwargs)):
                self.unknown.add(f"overflow in {name}")
            if name in PRODUCTS and self.rounded((args, kwargs)) and _infinite((args, kwargs)):
                self.unknown.add(f"{name} of rounded numbers and infinities")  # of 0 it is no number, of nearly 0 an infinity
        elif name in MOVED and op._overloadname != "dtype":
            if self.rounded((args[1:], kwargs)):
                self.unknown.add(f"places that {name} takes")
            if any(map(_real, tree_leaves(out))) and not all(map(_real, tree_leaves(args[0]))):
                self.unknown.add(f"{name} of whole numbers and others")
            if self.rounded(args[0]):
                e = op(tree_map(lambda x: self.of(x).clone(), args[0]), *args[1:], **kwargs)
        elif name not in MADE and (self.rounded((args, kwargs)) or any(map(_real, tree_leaves((args, out))))):
            self.unknown.add(name)
        for x, bound in zip(tree_leaves(out), e if isinstance(e, (tuple, list)) else [e]):
            if isinstance(bound, Tensor) and (_real(x) or bound.any()):
                self.put(x, (1 if name in MOVED else PAY) * bound)
        return out

    def _renamed(self, x: Tensor) -> bool:
        """Whether x has no bound of its own but lies where rounded numbers do."""
        there = None if x in self._kept or not _has_memory(x) else self._memory.get(_storage(x).data_ptr())
        return there is not None and there() is not None


class _Doors(TorchFunctionMode):
    """Names the ways by which rounded numbers leave torch."""

    def __init__(self, bounds: Bounds):
        super().__init__()
        self.bounds = bounds

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if (name := getattr(function, "__name__", "")) in LEAVING:
            if self.bounds.rounded(args):
                self.bounds.unknown.add(f"{name}: numbers that leave torch")
            elif isinstance(args[0], Tensor) and _has_memory(args[0]):
                self.bounds._shared[_storage(args[0]).data_ptr()] = _storage(args[0])
        return function(*args, **(kwargs or {}))


def _storage(x: Tensor) -> Any:
    with torch._C.DisableTorchFunction():
        return x.untyped_storage()


def _has_memory(x: Tensor) -> bool:
    return x.layout is torch.strided and x.device.type != "meta" and x.numel() > 0


def _real(x: Any) -> bool:
    return isinstance(x, Tensor) and (x.is_floating_point() or x.is_complex())


def _infinite(given: Any) -> bool:
    numbers = (x for x in tree_leaves(given) if _real(x) or isinstance(x, float))
    return not all(torch.as_tensor(x).isfinite().all() for x in numbers)


def _size(x: Tensor) -> Tensor:
    return (x.abs() if x.is_complex() else x).double().abs().nan_to_num(posinf=0)


def _eps(x: Tensor, terms: float = 1) -> float:
    """Relative error of a sum of so many products, twice over; a complex product is four real ones."""
    return terms * torch.finfo(x.dtype).eps * (4 if x.is_complex() else 1) if _real(x) else 0.0


def _least(x: Tensor) -> float:
    return torch.finfo(x.dtype).tiny * (4 if x.is_complex() else 1) if _real(x) else 0.0


def _rule(names: str) -> Callable[[Callable], Callable]:
    def kept(function: Callable) -> Callable:
        RULES.update(dict.fromkeys(names.split(), function))
        return function

    return kept


# --- sums and products --------------------------------------------------------------------------------------------------


@_rule("add sub")
def _add(b: Bounds, out: Tensor, x: Any, y: Any, alpha: float = 1) -> Any:
    return b.e(x) + b.e(y) * abs(alpha) + _eps(out, 2) * (b.s(x) + b.s(y) * abs(alpha)) + 3 * _least(out)


@_rule("rsub")
def _rsub(b: Bounds, out: Tensor, x: Any, y: Any, alpha: float = 1) -> Any:
    return _add(b, out, y, x, alpha)


@_rule("mul")
def _mul(b: Bounds, out: Tensor, x: Any, y: Any) -> Any:
    least = _least(out)
    return b.e(x) * b.s(y) + b.s(x) * b.e(y) + _eps(out) * b.s(x) * b.s(y) + least * (b.s(x) + b.s(y) + 1)


@_rule("div")
def _div(b: Bounds, out: Tensor, x: Any, y: Any) -> Any:
    low, least = b.low(y), _least(out)
    return (b.e(x) + b.s(x) / low * b.e(y) + _eps(out, 2) * b.s(x) + least) / low + least


@_rule("lerp")
def _lerp(b: Bounds, out: Tensor, x: Tensor, y: Tensor, w: Any) -> Tensor:
    e, s = b.e(x) + b.e(y), b.s(x) + b.s(y)
    return (e + _eps(out, 4) * s + 4 * _least(out)) * (1 + b.s(w)) + b.e(w) * s


@_rule("mm bmm")
def _mm(b: Bounds, out: Tensor, x: Tensor, y: Tensor, more: int = 0) -> Tensor:
    n, least = x.shape[-1] + more, _least(out)
    e = (b.e(x) + _eps(out, n) * b.s(x) + least) @ b.s(y) + n * least * (1 + b.s(x).amax(-1, keepdim=True))
    return e if isinstance(b.e(y), float) else e + b.s(x) @ b.e(y)


@_rule("addmm")
def _addmm(b: Bounds, out: Tensor, bias: Tensor, x: Tensor, y: Tensor, *, beta: float = 1, alpha: float = 1) -> Tensor:
    n = x.shape[-1] + 3  # two products more, by alpha and beta
    least = 3 * _least(out) * (1 + abs(alpha) + abs(beta))
    return abs(beta) * (b.e(bias) + _eps(out, n) * b.s(bias)) + abs(alpha) * _mm(b, out, x, y, 3) + least


@_rule("mv")
def _mv(b: Bounds, out: Tensor, x: Tensor, y: Tensor) -> Tensor:
    column = y.unsqueeze(-1)
    if b.rounded(y):
        b.put(column, b.of(y).unsqueeze(-1))
    return _mm(b, out, x, column).squeeze(-1)


@_rule("sum")
def _sum(b: Bounds, out: Tensor, x: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    n, dim = x.numel() // max(1, out.numel()), list(range(x.ndim)) if dim is None else dim
    return (b.of(x) + _eps(out, n + 2) * b.s(x) + 2 * _least(out)).sum(dim, keepdim)  # each may be made another type first


@_rule("mean")
def _mean(b: Bounds, out: Tensor, x: Tensor, *where: Any, **options: Any) -> Tensor:
    return _sum(b, out, x, *where, **options) * (out.numel() / x.numel()) + _least(out)


@_rule("linalg_vector_norm")
def _norm(b: Bounds, out: Tensor, x: Tensor, order: float = 2, dim: Any = None, keepdim: bool = False) -> Tensor:
    if order != 2:
        b.unknown.add(f"a norm of order {order}")
    n = x.numel() // max(1, out.numel())
    e = b.of(x) + _eps(out, n + 4) * b.s(x) + _least(out) ** 0.5  # squares may be flushed
    return torch.linalg.vector_norm(e, 2, dim, keepdim)


# --- one number to one number -------------------------------------------------------------------------------------------


def _function(slope: Callable, size: Callable) -> Callable:
    """``slope``: at least the function's, wherever the argument may be; ``size``: what an error of FUNCTION eps is of."""

    def rule(b: Bounds, out: Tensor, x: Tensor, *_: Any, **__: Any) -> Tensor:
        if not _real(x):
            raise TypeError("a function of whole numbers")
        if x.is_complex() and slope is not _grown:
            b.unknown.add("a function of a complex number")
        return (b.of(x) + _least(x)) * slope(b, x) + _eps(out, FUNCTION) * size(b, x, out) + _least(out)

    return rule


def _grown(b: Bounds, x: Tensor, *_: Any) -> Tensor:
    """exp where it is largest."""
    return ((x.real if x.is_complex() else x).double() + 2 * b.e(x)).exp()


def _constant(number: float) -> Callable:
    return lambda *_: number


RULES |= {
    "exp": _function(_grown, _grown),
    "expm1": _function(_grown, lambda b, x, out: _size(out) + 2 * b.e(x) * _grown(b, x)),
    "log": _function(lambda b, x: 1 / b.low(x), lambda b, x, out: 1 + _size(out)),
    "tanh": _function(lambda b, x: b.low(x).cosh() ** -2, _constant(1)),
    "sigmoid": _function(lambda b, x: (b.low(x) / 2).cosh() ** -2 / 4, _constant(1)),
    "sin": _function(_constant(1), _constant(1)),
    "cos": _function(_constant(1), _constant(1)),
    "softplus": lambda b, out, x, beta=1, threshold=20: (  # from the threshold on it is x itself
        b.of(x) + _eps(out, FUNCTION) * (1 / beta + b.s(x)) + math.exp(-threshold) / beta * (b.s(x) * beta >= threshold)
    ),
    "gelu": _function(_constant(1.13), lambda b, x, out: b.s(x)),
    "silu": _function(_constant(1.1), lambda b, x, out: b.s(x)),
    "sqrt": lambda b, out, x: _pow(b, out, x, 0.5),
    "rsqrt": lambda b, out, x: _pow(b, out, x, -0.5),
    "reciprocal": lambda b, out, x: _pow(b, out, x, -1),
    "abs": lambda b, out, x: b.of(x) + x.is_complex() * (_eps(x) * b.s(x) + _least(x)),
    **dict.fromkeys(("neg", "relu", "clamp", "clamp_min", "_conj"), lambda b, out, x, *_: b.of(x)),
    **dict.fromkeys(("maximum", "minimum"), lambda b, out, x, y: torch.maximum(b.of(x), b.of(y))),
    "amax": lambda b, out, x, dim=(), keepdim=False: b.of(x).amax(dim, keepdim),
    "constant_pad_nd": lambda b, out, x, pad, value=0: F.pad(b.of(x), pad),
    "complex": lambda b, out, x, y: torch.hypot(b.of(x), b.of(y)),
    "polar": lambda b, out, size, angle: b.of(size) + b.s(size) * (b.of(angle) + _eps(out, FUNCTION)) + 4 * _least(out),
    "view_as_complex": lambda b, out, x: b.of(x).norm(dim=-1),
    "view_as_real": lambda b, out, x: b.of(x).unsqueeze(-1).expand(out.shape),
}


@_rule("pow")
def _pow(b: Bounds, out: Tensor, x: Any, p: Any) -> Tensor:
    """For p within 0 and 1 two powers are no further apart than the power of the distance."""
    if not isinstance(x, Tensor):  # 2 ** p
        if x <= 0:
            raise ValueError("a power of a number that is not positive")
        most, slope = x ** (p.double() + (2 * b.e(p) if x >= 1 else -2 * b.e(p))), abs(math.log(x))
        moved = (b.of(p) + _least(out) + _eps(out) * b.s(p)) * slope * most
        return moved + _eps(out, FUNCTION) * most * (1 + slope) + _least(out)
    if not _real(x):
        raise TypeError("a power of whole numbers")
    p = torch.as_tensor(p, dtype=torch.float64)  # EXACT
    e, root = b.of(x) + _least(x), p != p.trunc()
    if bool(root.any()) and x.is_complex():
        b.unknown.add("a root of a complex number")
    moved = e * p.abs() * torch.maximum((b.s(x) + e) ** (p - 1), b.low(x) ** (p - 1))
    moved = torch.where((p > 0) & (p <= 1), torch.fmin(moved, e**p), moved)
    below = x.double() < 2 * b.of(x) if not x.is_complex() else torch.zeros(x.shape, dtype=torch.bool)
    moved = torch.where(root & below, torch.inf, moved) if b.rounded(x) else moved  # a root of less than 0
    return moved + _eps(out, FUNCTION) * (_size(out) + moved) + _least(out)


@_rule("copy")
def _copied(b: Bounds, out: Tensor, x: Tensor, y: Tensor, non_blocking: bool = False) -> Tensor:
    return torch.as_tensor(_to_type(b, out, y)).expand(out.shape)


@_rule("zero fill")
def _filled(b: Bounds, out: Tensor, x: Tensor, value: Any = 0) -> Tensor:
    return b.of(value).expand(out.shape)


@_rule("select_scatter")
def _select_scatter(b: Bounds, out: Tensor, x: Tensor, y: Tensor, *where: Any, **places: Any) -> Tensor:
    return torch.select_scatter(b.of(x), b.of(y), *where, **places)


@_rule("slice_scatter")
def _slice_scatter(b: Bounds, out: Tensor, x: Tensor, y: Tensor, *where: Any, **places: Any) -> Tensor:
    return torch.slice_scatter(b.of(x), b.of(y), *where, **places)


@_rule("_to_copy")
def _to_type(b: Bounds, out: Tensor, x: Tensor, **_: Any) -> Tensor:
    x = torch.as_tensor(x)
    if not _real(out) and b.rounded(x):
        b.unknown.add("whole numbers of rounded ones")
    if not _real(out):
        return b.of(x)
    shorter = (not _real(x) or torch.finfo(out.dtype).eps > torch.finfo(x.dtype).eps)
    return b.of(x) + shorter * (_size(x).ge(1 / _eps(out)) if not _real(x) else 1) * (_eps(out) * b.s(x) + _least(out))


# --- decisions: not 0 where another machine may decide otherwise -------------------------------------------------------


@_rule("eq ne gt ge lt le")
def _compared(b: Bounds, out: Tensor, x: Tensor, y: Any) -> Tensor:
    e = b.of(x) + b.e(y)
    x, y = (part.double() if isinstance(part, Tensor) and part.dtype == torch.bool else part for part in (x, y))
    return ((x - y).abs() <= 2 * e).double() * (e > 0)


@_rule("argmax")
def _argmax(b: Bounds, out: Tensor, x: Tensor, dim: int | None = None, keepdim: bool = False) -> Tensor:
    e = b.of(x)
    x, e, dim = (x, e, dim) if dim is not None else (x.flatten(), e.flatten(), 0)
    first, second = F.pad(x.double().movedim(dim, -1), (0, 1), value=-torch.inf).topk(2).values.unbind(-1)
    e = e.amax(dim)
    tied = (first - second <= 4 * e).double() * (e > 0) * x.shape[dim]
    return tied.reshape(out.shape)


@_rule("scatter")
def _scatter(b: Bounds, out: Tensor, x: Tensor, dim: int, index: Tensor, value: float) -> Tensor:
    if isinstance(value, Tensor):
        raise TypeError("a tensor is scattered")
    return torch.maximum(b.of(x), (b.of(index).amax(dim, keepdim=True) > 0) * (b.s(x) + abs(value)))


@_rule("topk")
def _topk(b: Bounds, out: Any, x: Tensor, k: int, dim: int = -1) -> tuple[Tensor, Tensor]:
    e = b.of(x).amax(dim, keepdim=True).expand(out[0].shape)
    return e, (e > 0).double() * x.shape[dim]


@_rule("sign")
def _sign(b: Bounds, out: Tensor, x: Tensor) -> Tensor:
    return 2 * (_size(x) <= 2 * b.of(x)).double() * (b.of(x) > 0)


@_rule("where")
def _where(b: Bounds, out: Tensor, chosen: Tensor, x: Any, y: Any) -> Tensor:
    x, y = map(torch.as_tensor, (x, y))
    e_x, e_y = (b.of(part).expand(out.shape) for part in (x, y))
    other = torch.where(b.of(chosen) > 0, (x * 1.0 - y).double().abs() + 2 * (e_x + e_y), 0.0)
    return torch.where(chosen, e_x, e_y) + other


@_rule("any bitwise_not")
def _some(b: Bounds, out: Tensor, x: Tensor, *_: Any) -> Tensor:
    return b.of(x) if out.shape == x.shape else b.of(x).max().expand(out.shape)


# --- layers -------------------------------------------------------------------------------------------------------------


@_rule("_softmax")
def _softmax(b: Bounds, out: Tensor, x: Tensor, dim: int, half_to_float: bool) -> Tensor:
    """Exponents that are off by d let a quotient be off by a factor exp(2 d) at most."""
    s, n = b.s(x), x.shape[dim]
    d = b.of(x).amax(dim, keepdim=True) + _eps(out, 2) * (s + s.amax(dim, keepdim=True)) + _eps(out, FUNCTION + n)
    return (out.double() + _least(out)) * (2 * d).exp() * (2 * d).expm1() + _least(out)


@_rule("_log_softmax")
def _log_softmax(b: Bounds, out: Tensor, x: Tensor, dim: int, half_to_float: bool) -> Tensor:
    s, n = b.s(x), x.shape[dim]
    e, most = (part + part.amax(dim, keepdim=True) for part in (b.of(x), s))
    return e + _eps(out, 4) * most + _eps(out, 2 * (FUNCTION + n))


@_rule("glu")
def _glu(b: Bounds, out: Tensor, x: Tensor, dim: int = -1) -> Tensor:
    (s, _), (e, e_gate) = b.s(x).chunk(2, dim), b.of(x).chunk(2, dim)
    return e + s * (e_gate / 4 + _eps(out, FUNCTION + 1)) + 2 * _least(out)


@_rule("native_layer_norm")
def _layer_norm(b: Bounds, out: Any, x: Tensor, shape: Any, weight: Any, bias: Any, eps: float) -> list:
    """However mean and variance are computed (also as the mean of squares less the squared mean)."""
    value, e, s, u = x.double(), b.of(x), b.s(x), _eps(out[0], shape[-1] + 8)
    d = (value - value.mean(-1, keepdim=True)).abs()
    deviation = (d.square().mean(-1, keepdim=True) + eps).sqrt()
    least = 3 * _least(out[0])
    off = e + e.mean(-1, keepdim=True) + u * (s + s.mean(-1, keepdim=True)) + least  # of d; relative, of the deviation:
    part = off.square().mean(-1, keepdim=True).sqrt() / deviation
    part = part + 2 * u * (1 + s.square().mean(-1, keepdim=True) / deviation**2)
    if b.rounded((weight, bias)) or len(shape) > 1:
        b.unknown.add("a norm of rounded weights, or over several axes")
    scaled = (1 if weight is None else b.s(weight)) / deviation / (1 - 2 * part) * (off + (part + u) * (d + off) / (1 - 2 * part))
    return [torch.where(part < 0.1, scaled + least + u * (0 if bias is None else b.s(bias)), torch.inf), None, None]


@_rule("linalg_matrix_exp")
def _matrix_exp(b: Bounds, out: Tensor, x: Tensor) -> Tensor:
    size, off = (part.norm(dim=(-2, -1), keepdim=True) for part in (x.double(), b.of(x)))
    off = off + _eps(out, 8 * x.shape[-1]) * (1 + size)
    if x.dtype not in (torch.float32, torch.float64):
        b.unknown.add(f"exponentials of matrices of {str(x.dtype)[6:]}")
    turns = bool((x == -x.mT).all())  # then the exponential has norm 1
    return (off * (2 * off).exp() * (1 if turns else size.exp())).expand(out.shape)


@_rule("_linalg_solve_ex")
def _solve(b: Bounds, out: Any, A: Tensor, B: Tensor, *, left: bool = True, check_errors: bool = False) -> list:
    if not left:
        b.unknown.add("a system from the right")
    column, n = B.ndim < A.ndim, A.shape[-1]
    x, e = (part.unsqueeze(-1) if column else part for part in (_size(out[0]), b.of(B)))
    least, scale = n * _least(A), 1 + _size(A).sum((-2, -1), keepdim=True)
    inverse = A.to(torch.complex128 if A.is_complex() else torch.float64).inverse().abs()
    off = b.of(A) + _eps(A, 8 * n) * _size(A).sum((-2, -1), keepdim=True) + least * scale
    e = inverse @ (off @ x + e + least * scale) + _least(A)  # each product and each quotient may be flushed
    most, moved = (part.amax(-2, keepdim=True) for part in (e, (inverse @ off).sum(-1, keepdim=True)))
    e = torch.where(moved < 0.1, e + most / 2, torch.inf)
    return [e.squeeze(-1) if column else e, None, None, None]
