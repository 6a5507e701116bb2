"""The checks of public functions: an argument that cannot be is refused by its name, and what came is shown.

Kinds are said by annotations (``checked``), shapes by letters (``axes``, ``fit``), values by ``whole_number``, ``number``
and ``among``.  What a public function calls checks nothing again.  Torch is not loaded here: whoever has a tensor has it.
"""

from __future__ import annotations

import collections.abc
import difflib
import functools
import inspect
import math
import re
import sys
import types
import typing
from numbers import Integral, Real

import numpy as np

if typing.TYPE_CHECKING:
    import torch

MAX_SHOWN = 100  # characters of a value that are shown
MAX_COUNT = 1 << 31  # strings, tokens, weights along one axis: more than any memory here holds
Made = typing.TypeVar("Made", bound=collections.abc.Callable)


def shown(value: typing.Any) -> str:
    """A value in a few words: arrays by their shapes, all else as Python writes it, cut.

    >>> import torch
    >>> shown(torch.zeros(2, 3)), shown([1, 2])
    ('a tensor (2, 3) of torch.float32 on cpu', '[1, 2]')
    """
    if _is_tensor(value):
        layout = "" if _is_tensor(value, dense=True) else f", {value.layout}"
        return f"a tensor {tuple(value.shape)} of {value.dtype} on {value.device}{layout}"
    if isinstance(value, np.ndarray):
        return f"a NumPy array {value.shape} of {value.dtype}"
    if isinstance(value, (list, tuple)) and any(map(_is_tensor, value)):
        return f"({', '.join(map(shown, value))})"
    text = hex(value) if isinstance(value, int) and value.bit_length() > 4 * MAX_SHOWN else repr(value)
    return text if len(text) <= MAX_SHOWN else f"{text[:MAX_SHOWN]}..."


def _is_tensor(value: typing.Any, dense: bool = False) -> bool:
    """Whether it is a tensor, or a dense one."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor) and (not dense or value.layout is torch.strided)


def whole_number(value: typing.Any, least: int, what: str, most: int = MAX_COUNT) -> int:
    """``value`` as an int; ValueError unless it is a whole number, at least ``least`` and at most ``most``."""
    whole = isinstance(value, Integral) and not isinstance(value, bool)
    if not whole or not least <= int(value) <= most:
        upto = f" and at most {most}" if isinstance(value, Integral) and int(value) > most else ""
        raise ValueError(f"{what} must be a whole number, at least {least}{upto}, got {shown(value)}")
    return int(value)


def number(
    value: typing.Any, what: str, least: float = -math.inf, most: float = math.inf, *, inside: bool = False
) -> typing.Any:
    """``value``; ValueError unless it is a finite real number in least..most (``inside``: not at its ends).

    >>> number(0.1, "a rate", 0), number(math.nan, "a rate", 0)
    Traceback (most recent call last):
    ValueError: a rate must be a finite number, at least 0, got nan
    """
    real = isinstance(value, Real) and not isinstance(value, bool) and _finite(value)
    if not real or not (least < value < most if inside else least <= value <= most):
        low, high = ("above", "below") if inside else ("at least", "at most")
        ends = [f"{name} {end}" for name, end in ((low, least), (high, most)) if math.isfinite(end)]
        raise ValueError(f"{what} must be a finite number{', ' * bool(ends)}{' and '.join(ends)}, got {shown(value)}")
    return value


def _finite(value: Real) -> bool:
    """Whether it is a number that a float can hold."""
    try:
        return math.isfinite(value)
    except OverflowError:  # a whole number of more than 308 digits
        return False


def axes(*forms: str) -> tuple[dict[str, tuple[str, ...]], ...]:
    """Shapes that go together, for :func:`fit`: ``axes("A B T D, b B T D", "A D, b B T D")`` are two ways to be right."""
    return tuple({name: tuple(sizes) for name, *sizes in map(str.split, form.split(","))} for form in forms)


def fit(whose: str, forms: tuple[dict[str, tuple[str, ...]], ...], **tensors: torch.Tensor | None) -> None:
    """ValueError unless the tensors have the axes of one of the ``forms``, equal letters meaning equal sizes; None fits.

    >>> import torch
    >>> fit("a scan", axes("A B T D, b B T D", "A D, b B T D"), A=torch.zeros(4), b=torch.zeros(2, 3, 5))
    Traceback (most recent call last):
    ValueError: a scan takes A (B,T,D), b (B,T,D) or A (D), b (B,T,D), got A (4,), b (2, 3, 5)
    """
    shapes = {name: x.shape for name, x in tensors.items() if x is not None}
    for form in forms:
        if all(len(shape) == len(form[name]) for name, shape in shapes.items()):
            sizes: dict[str, int] = {}
            if all(sizes.setdefault(letter, n) == n for name, shape in shapes.items() for letter, n in zip(form[name], shape)):
                return
    wanted = " or ".join(", ".join(f"{name} ({','.join(letters)})" for name, letters in form.items()) for form in forms)
    raise ValueError(f"{whose} takes {wanted}, got {', '.join(f'{name} {tuple(shape)}' for name, shape in shapes.items())}")


def same_kind(whose: str, **tensors: torch.Tensor | None) -> None:
    """ValueError unless all tensors have one type and one device, showing those of each.

    >>> import torch
    >>> same_kind("a scan", b=torch.zeros(1), x0=torch.zeros(1, dtype=torch.float64))
    Traceback (most recent call last):
    ValueError: all tensors of a scan must have one type and one device: b is torch.float32 on cpu, x0 is torch.float64 on cpu
    """
    first, *others = [x for x in tensors.values() if x is not None]
    if not all(x.dtype == first.dtype and x.device == first.device for x in others):
        kinds = ", ".join(f"{name} is {x.dtype} on {x.device}" for name, x in tensors.items() if x is not None)
        raise ValueError(f"all tensors of {whose} must have one type and one device: {kinds}")


def among(name: str, value: typing.Any, options: typing.Iterable[str]) -> None:
    """ValueError unless ``value`` is one of the ``options``.

    >>> among("gate", "glu", ("linear", "none"))
    Traceback (most recent call last):
    ValueError: gate is one of linear, none, got 'glu'
    """
    if not isinstance(value, str) or value not in options:
        raise ValueError(f"{name} is one of {', '.join(options)}, got {shown(value)}")


def named(kind: str, name: str, known: typing.Collection[str], others: str = "") -> str:
    """The one of ``known`` that ``name`` is, whatever its capitals, spaces and underscores; else ValueError with the nearest.

    >>> named("task", "Tomita 3", ["parity", "tomita_3"])
    'tomita_3'
    >>> named("task", "pairty", ["parity", "tomita_3"])
    Traceback (most recent call last):
    ValueError: no task is called 'pairty'; the nearest: parity; there are parity, tomita_3
    """
    plain = lambda name: re.sub(r"[\s_]", "", name).lower()
    spelled = {plain(one): one for one in known}
    if name in known or plain(name) in spelled:
        return name if name in known else spelled[plain(name)]
    near = [spelled[one] for one in difflib.get_close_matches(plain(name), spelled)]
    nearest = f"the nearest: {', '.join(near)}; " if near else ""
    raise ValueError(f"no {kind} is called {shown(name)}; {nearest}there are {', '.join(known)}{others}")


def numbered(name: str) -> tuple[str, tuple[float, ...]]:
    """A name and the numbers in brackets after it.

    >>> numbered("Sum(5)"), numbered("(aa)*")
    (('Sum', (5,)), ('(aa)*', ()))
    """
    found = re.fullmatch(r"([^()]+)\((\d+(?:\.\d+)?(?:, *\d+(?:\.\d+)?)*)\)", name)
    if found is None:
        return name, ()
    return found[1], tuple(float(part) if "." in part else int(part) for part in found[2].split(","))


def checked(made: Made) -> Made:
    """A function, or a class by its constructor, that refuses arguments of a wrong kind before it begins; types stay.

    What is wrong is said by the annotations, in which an int is any whole number, a float any real number but NaN (a
    bool is neither), a Tensor a dense one; a sequence may be any, but its items are looked at only in a tuple or list.
    An argument without annotation is not looked at.

    >>> import torch
    >>> @checked
    ... def scaled(x: torch.Tensor, by: float = 1.0):
    ...     return by * x
    >>> scaled([1, 2])
    Traceback (most recent call last):
    TypeError: scaled: x must be a dense torch.Tensor, got [1, 2]
    """
    if isinstance(made, type):
        made.__init__ = checked(made.__init__)  # type: ignore[misc]
        return made
    torch = sys.modules.get("torch")  # loaded by whoever wrote a function of tensors
    given = inspect.signature(made).parameters.values()
    names = [one.name for one in given if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)]

    @functools.cache
    def kinds() -> dict[str, tuple[typing.Callable, str]]:  # at the first call, when all that annotations speak of is there
        found = {name: _kind(hint) for name, hint in typing.get_type_hints(made).items() if name != "return"}
        return {name: kind for name, kind in found.items() if kind[0] is not None}

    @functools.wraps(made)
    def function(*args, **options):
        if torch is not None and torch.compiler.is_compiling():
            return made(*args, **options)
        known = kinds()
        for name, value in (*zip(names, args), *options.items()):
            if name in known and not known[name][0](value):
                called = made.__qualname__.removesuffix(".__init__")
                error = ValueError if isinstance(value, Real) and value != value else TypeError  # NaN is of the right kind
                raise error(f"{called}: {name} must be {known[name][1]}, got {shown(value)}")
        return made(*args, **options)

    return typing.cast(Made, function)


def _kind(hint) -> tuple[typing.Callable | None, str]:
    """Whether a value is of the kind that an annotation names (None: any may be), and the kind in words."""
    if isinstance(hint, typing.TypeVar):
        hint = hint.__bound__ or typing.Any
    if hint in _KINDS:
        return _KINDS[hint]
    if inspect.isclass(hint) and (hint.__module__, hint.__name__) == ("torch", "Tensor"):
        return lambda value: _is_tensor(value, dense=True), "a dense torch.Tensor"
    if getattr(hint, "_is_protocol", False):  # whoever takes one says what is missing
        return None, "anything"
    origin, parts = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        tests, words = zip(*(_kind(part) for part in parts))
        return (None if None in tests else lambda value: any(test(value) for test in tests)), " or ".join(words)
    if origin is collections.abc.Callable:
        return callable, "callable"
    if origin in (tuple, list):
        return _items(parts)
    if not inspect.isclass(origin or hint):
        return None, "anything"
    letters = not origin or bool({str, collections.abc.Hashable} & {*parts})  # else a sequence, but not of letters
    kind, texts = origin or hint, () if letters else (str, bytes)
    return (lambda value: isinstance(value, kind) and not isinstance(value, texts)
            and getattr(value, "ndim", 1) != 0), f"a {kind.__name__}"  # an array without axes calls itself iterable


def _items(parts: tuple) -> tuple[typing.Callable, str]:
    """The kind of tuple[X, Y], of tuple[X, ...] and list[X], and of both without items."""
    kinds = [_kind(part) for part in parts if part is not ...]
    tests = [test or (lambda value: True) for test, _ in kinds]
    words = "a tuple or list" + f" of {', '.join(word for _, word in kinds)}" * bool(kinds)
    if len(kinds) > 1:
        return (lambda value: isinstance(value, (tuple, list)) and len(value) == len(tests)
                and all(test(item) for test, item in zip(tests, value))), words  # fmt: skip
    return (lambda value: isinstance(value, (tuple, list))
            and all(test(item) for test in tests for item in value)), words  # fmt: skip


_KINDS = {
    bool: (lambda value: isinstance(value, (bool, np.bool_)), "True or False"),
    int: (lambda value: isinstance(value, Integral) and not isinstance(value, bool), "a whole number"),
    float: (lambda value: isinstance(value, Real) and not isinstance(value, bool) and value == value, "a number"),
    str: (lambda value: isinstance(value, str), "text"),
    type(None): (lambda value: value is None, "None"),
    typing.Any: (None, "anything"),
    object: (None, "anything"),
}  # fmt: skip
