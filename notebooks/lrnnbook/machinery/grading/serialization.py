"""Plain data as JSON: how answers come out of a fence.  Nothing that is read here can run code.

Plain is: None, truth values, numbers (whole, fractions, floats, complex), text, lists, tuples, sets, dictionaries,
NumPy arrays of numbers and torch tensors.  Decimals, longer floats and SymPy's roots become floats.  A message is a line
of JSON.  What a student can make large beyond the message's own bytes is bounded here: the digits of a whole number, an
array's axes, and what is in one set or dictionary, since whoever chooses it can make each value collide with all
others.  The time and memory that the rest takes are bounded by the process that reads (:mod:`lrnnbook.machinery.grading.grading`).
"""

import base64
import json
import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from numbers import Complex, Integral, Rational, Real
from typing import IO, Any

import numpy as np

from lrnnbook.content.exercises.judging import is_exact, is_tensor

MAX_MESSAGE_BYTES = 1 << 22  # bytes of a message
MAX_HEX_DIGITS = 100_000  # hexadecimal, of a whole number
MAX_HASHED_VALUES = 5_000  # values in a set or a dictionary
MAX_ARRAY_CELLS = 1_000_000  # of an array; an axis of no length counts as one
DTYPES = {"b1", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16"}


class Closed(Exception):
    """The other side is gone.  No OSError, so that no test takes it for a fault of a student's code."""


class Channel:
    """One end of a connection: messages, over two open files."""

    def __init__(self, reading: IO[bytes], writing: IO[bytes]) -> None:
        self._reading, self._writing = reading, writing

    def send(self, message: Any) -> None:
        """Write one message.  ValueError where it is larger than the other side reads, Closed where nobody reads."""
        data = written(message)
        try:
            self._writing.write(data)
            self._writing.flush()
        except OSError as error:
            raise Closed("the other side is gone") from error

    def receive(self) -> Any:
        """Read one message.  Closed at its end, ValueError for nonsense."""
        line = self._reading.readline(MAX_MESSAGE_BYTES + 1)
        if not line.endswith(b"\n"):
            if len(line) > MAX_MESSAGE_BYTES:
                raise ValueError(f"a message of more than {MAX_MESSAGE_BYTES} bytes")
            raise Closed("the other side is gone")
        try:
            return json.loads(line)
        except RecursionError as error:
            raise ValueError("a message nested too deeply") from error


def written(message: Any) -> bytes:
    """A message as a line of JSON."""
    data = json.dumps(message).encode() + b"\n"
    if len(data) > MAX_MESSAGE_BYTES:
        raise ValueError(f"an answer of {len(data) / 1e6:.0f} MB is too large")
    return data


def encode(value: Any) -> Any:
    """A plain value as what ``json`` can write; TypeError for anything else."""
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, np.ndarray) or is_tensor(value):
        return _encode_array(value)
    if isinstance(value, (np.longdouble, np.clongdouble)):  # whose item() is of the same type
        return encode(float(value) if isinstance(value, np.longdouble) else complex(value))
    if isinstance(value, np.generic):
        return encode(value.item())
    if isinstance(value, Integral):
        return int(value) if abs(int(value)) < 1 << 53 else {"int": hex(value)}
    if isinstance(value, Rational):
        return {"fraction": [hex(value.numerator), hex(value.denominator)]}
    if isinstance(value, (Real, Decimal)):
        return float(value)
    if isinstance(value, Complex):
        return {"complex": [float(value.real), float(value.imag)]}
    if is_exact(value):
        whole = complex(value)
        return encode(whole if whole.imag else whole.real)
    if isinstance(value, (list, range)):
        return [encode(item) for item in value]
    for kind, tag in ((tuple, "tuple"), (frozenset, "set"), (set, "set")):
        if isinstance(value, kind):
            return {tag: [encode(item) for item in value]}
    if isinstance(value, dict):
        return {"dict": [[encode(key), encode(item)] for key, item in value.items()]}
    raise TypeError(f"a {type(value).__name__} is not plain data (numbers, text, lists, arrays)")


def _encode_array(value: Any) -> Any:
    tag = "array"
    if is_tensor(value):
        tag, value = "tensor", value.detach()
        value = (value.float() if str(value.dtype) == "torch.bfloat16" else value).numpy()
    if value.dtype == object:  # an array of fractions is a list of them
        return encode(value.tolist())
    if value.dtype in (np.longdouble, np.clongdouble):
        value = value.astype(complex if value.dtype.kind == "c" else float)
    if value.dtype.str[1:] not in DTYPES:
        raise TypeError(f"an array of {value.dtype} is not plain data")
    data = value.astype(value.dtype.newbyteorder("<")).tobytes()
    return {tag: [value.dtype.str[1:], list(value.shape), base64.b64encode(data).decode()]}


def decode(data: Any) -> Any:
    """The value again; ValueError for what ``encode`` cannot have made, or what is larger than any answer."""
    try:
        if isinstance(data, list):
            return [decode(item) for item in data]
        if not isinstance(data, dict):
            return data
        [(tag, content)] = data.items()
        return _READERS[tag](content)
    except ValueError:
        raise
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError) as error:
        raise ValueError(f"not an encoded value: {type(data).__name__} ({type(error).__name__})") from error


def _whole(text: str) -> int:
    if len(text) > MAX_HEX_DIGITS:
        raise ValueError(f"more than {MAX_HEX_DIGITS} digits")
    return int(text, 16)


def _few(items: list) -> list:
    if len(items) > MAX_HASHED_VALUES:
        raise ValueError(f"more than {MAX_HASHED_VALUES} values in a set or dictionary")
    return items


def _array(content: list) -> np.ndarray:
    dtype, shape, data = content
    if dtype not in DTYPES or len(shape) > 16 or math.prod(max(n, 1) for n in shape) > MAX_ARRAY_CELLS:
        raise ValueError(f"an array of type {str(dtype)[:20]} and shape {str(shape)[:80]}")
    return np.frombuffer(base64.b64decode(data), "<" + dtype).reshape(shape).copy()


def _tensor(content: list) -> Any:
    import torch

    return torch.from_numpy(_array(content))


_READERS: dict[str, Callable] = {
    "int": _whole,
    "fraction": lambda pair: Fraction(*map(_whole, pair)),
    "complex": lambda pair: complex(*pair),
    "tuple": lambda items: tuple(map(decode, items)),
    "set": lambda items: {decode(item) for item in _few(items)},
    "dict": lambda pairs: {decode(key): decode(item) for key, item in _few(pairs)},
    "array": _array,
    "tensor": _tensor,
}
