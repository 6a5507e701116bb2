"""Plain data as JSON: how answers come out of a fence.  Nothing that is read here can run code, or take long to read.

Plain is: None, truth values, numbers (whole, fractions, floats, complex), text, lists, tuples, sets, dictionaries,
NumPy arrays of numbers and torch tensors.  Decimals, longer floats and SymPy's roots become floats.  A message is four
bytes that give its length, and JSON.  What comes from a student is bounded: bytes, depth, values, digits, and how many
values stand in sets and dictionaries, since whoever chooses them can make each collide with all others.
"""

from __future__ import annotations

import base64
import json
import math
import os
import struct
import sys
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from numbers import Complex, Integral, Rational, Real
from typing import Any

import numpy as np

from workbook.exercises.judging import is_exact, is_tensor

LARGEST = 1 << 22  # bytes of a message
DEPTH = 40
VALUES = 200_000  # in one message, in all; an array is one
HASHED = 5_000  # of them in sets and dictionaries
DIGITS = 100_000  # hexadecimal, of all its whole numbers and fractions together: adding up fractions multiplies them
CELLS = 1_000_000  # of an array; an axis of no length counts as one
DTYPES = {"b1", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16"}


class Closed(Exception):
    """The other side is gone.  No OSError, so that no test takes it for a fault of a student's code."""


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
        return float(value) if math.isfinite(value) else {"float": repr(float(value))}
    if isinstance(value, Complex):
        return {"complex": [encode(value.real), encode(value.imag)]}
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
    value = np.ascontiguousarray(value).astype(value.dtype.newbyteorder("<")).reshape(value.shape)
    data = base64.b64encode(value.tobytes()).decode()
    return {tag: [value.dtype.str[1:], list(value.shape), data]}


def stand_in(function: Callable) -> Callable:
    """The function as the grader calls it: its arguments and its answer pass over the wire."""

    def ask(*arguments, **named):
        return _sent(function(*_sent(arguments), **_sent(named)))

    ask.__name__ = getattr(function, "__name__", "the function")
    return ask


def _sent(value: Any) -> Any:
    return decode(json.loads(_written(encode(value))))


def _written(message: Any) -> bytes:
    data = json.dumps(message).encode()
    if len(data) > LARGEST:
        raise ValueError(f"an answer of {len(data) / 1e6:.0f} MB is too large")
    return data


def decode(data: Any) -> Any:
    """The value again; ValueError for what ``encode`` cannot have made, or what is larger than any answer."""
    return _Reader().value(data, 0)


class _Reader:
    """Reads one message and counts what it has read."""

    def __init__(self) -> None:
        self.left = {"values": VALUES, "digits": DIGITS, "values in sets and dictionaries": HASHED}

    def take(self, what: str, count: int) -> None:
        self.left[what] -= count
        if self.left[what] < 0:
            raise ValueError(f"more than {_Reader().left[what]} {what}")

    def value(self, data: Any, depth: int) -> Any:
        self.take("values", 1)
        if depth > DEPTH:
            raise ValueError(f"nested more than {DEPTH} deep")
        if isinstance(data, int) and not isinstance(data, bool) and abs(data) >= 1 << 64:
            raise ValueError("a whole number not written as one")
        if data is None or isinstance(data, (bool, str, int, float)):
            return data
        if isinstance(data, list):
            return [self.value(item, depth + 1) for item in data]
        try:
            [(tag, content)] = data.items()
            return getattr(self, f"read_{tag}")(content, depth + 1)
        except ValueError:
            raise
        except (ArithmeticError, AttributeError, LookupError, TypeError) as error:
            raise ValueError(f"not an encoded value: {type(data).__name__} ({type(error).__name__})") from error

    def whole(self, text: str) -> int:
        self.take("digits", len(text))
        return int(text, 16)

    def hashed(self, items: list) -> list:
        self.take("values in sets and dictionaries", len(items))
        return items

    def read_int(self, text, depth):
        return self.whole(text)

    def read_fraction(self, pair, depth):
        above, below = pair
        return Fraction(self.whole(above), self.whole(below))

    def read_float(self, text, depth):
        return {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}[text]

    def read_complex(self, pair, depth):
        real, imaginary = pair
        return complex(self.value(real, depth), self.value(imaginary, depth))

    def read_tuple(self, items, depth):
        return tuple([self.value(item, depth) for item in items])

    def read_set(self, items, depth):
        return {self.value(item, depth) for item in self.hashed(items)}

    def read_dict(self, pairs, depth):
        return {self.value(key, depth): self.value(item, depth) for key, item in self.hashed(pairs)}

    def read_array(self, content, depth):
        dtype, shape, data = content
        if dtype not in DTYPES or len(shape) > 16 or math.prod(max(n, 1) for n in shape) > CELLS:
            raise ValueError(f"an array of type {str(dtype)[:20]} and shape {str(shape)[:80]}")
        return np.frombuffer(base64.b64decode(data), "<" + dtype).reshape(shape).copy()

    def read_tensor(self, content, depth):
        import torch

        return torch.from_numpy(self.read_array(content, depth))


class Line:
    """One end of a connection: messages, over two open files."""

    def __init__(self, reading: int, writing: int) -> None:
        self._reading, self._writing = reading, writing

    def send(self, message: Any) -> None:
        """Write one message.  ValueError where it is larger than the other side reads, Closed where nobody reads."""
        data = _written(message)
        rest = memoryview(struct.pack("!I", len(data)) + data)
        try:
            while rest:
                rest = rest[os.write(self._writing, rest) :]
        except OSError as error:
            raise Closed("the other side is gone") from error

    def receive(self) -> Any:
        """Read one message.  Closed at its end, ValueError for nonsense."""
        (size,) = struct.unpack("!I", self._exactly(4))
        if size > LARGEST:
            raise ValueError(f"a message of {size} bytes")
        try:
            return json.loads(self._exactly(size))
        except RecursionError as error:
            raise ValueError("a message nested too deeply") from error

    def _exactly(self, count: int) -> bytes:
        parts = []
        while count:
            try:
                part = os.read(self._reading, min(count, 1 << 20))
            except OSError:
                part = b""
            if not part:
                raise Closed("the other side is gone")
            parts.append(part)
            count -= len(part)
        return b"".join(parts)
