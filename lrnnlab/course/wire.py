"""Plain data as JSON: how answers come out of a sandbox.  Nothing that is read here can run code.

Plain is: None, truth values, numbers (whole, fractions, floats, complex), text, lists, tuples, sets, dictionaries,
NumPy arrays of numbers and torch tensors.  A message is four bytes that give its length, and JSON.
"""

from __future__ import annotations

import base64
import json
import math
import socket
import struct
import time
from fractions import Fraction
from numbers import Complex, Integral, Rational, Real
from typing import Any

import numpy as np
import torch

LARGEST = 1 << 24  # bytes of a message
DTYPES = {"b1", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16"}


class Closed(Exception):
    """The other side is gone.  No OSError, so that no test takes it for a fault of a student's code."""


def encode(value: Any) -> Any:
    """A plain value as what ``json`` can write; TypeError for anything else.

    >>> encode((1, Fraction(1, 2)))
    {'tuple': [1, {'fraction': ['0x1', '0x2']}]}
    >>> encode(print)
    Traceback (most recent call last):
    TypeError: a builtin_function_or_method is not plain data (numbers, text, lists, arrays)
    """
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, (np.ndarray, torch.Tensor)):
        return _encode_array(value)
    if isinstance(value, np.generic):
        return encode(value.item())
    if isinstance(value, Integral):
        return int(value) if abs(value) < 1 << 53 else {"int": hex(value)}
    if isinstance(value, Rational):
        return {"fraction": [hex(value.numerator), hex(value.denominator)]}
    if isinstance(value, Real):
        return float(value) if math.isfinite(value) else {"float": repr(float(value))}
    if isinstance(value, Complex):
        return {"complex": [encode(value.real), encode(value.imag)]}
    if isinstance(value, (list, range)):
        return [encode(item) for item in value]
    for kind, tag in ((tuple, "tuple"), (frozenset, "set"), (set, "set")):
        if isinstance(value, kind):
            return {tag: [encode(item) for item in value]}
    if isinstance(value, dict):
        return {"dict": [[encode(key), encode(item)] for key, item in value.items()]}
    raise TypeError(f"a {type(value).__name__} is not plain data (numbers, text, lists, arrays)")


def _encode_array(value: np.ndarray | torch.Tensor) -> Any:
    tag = "array"
    if isinstance(value, torch.Tensor):
        tag, value = "tensor", value.detach()
        value = (value.float() if value.dtype == torch.bfloat16 else value).numpy()
    if value.dtype == object:  # an array of fractions is a list of them
        return encode(value.tolist())
    if value.dtype.str[1:] not in DTYPES:
        raise TypeError(f"an array of {value.dtype} is not plain data")
    value = np.ascontiguousarray(value).astype(value.dtype.newbyteorder("<")).reshape(value.shape)
    data = base64.b64encode(value.tobytes()).decode()
    return {tag: [value.dtype.str[1:], list(value.shape), data]}


def decode(data: Any) -> Any:
    """The value again; ValueError for what ``encode`` cannot have made.

    >>> decode(encode({"a": [1j, (float("inf"), 2**70)]})) == {"a": [1j, (float("inf"), 2**70)]}
    True
    """
    if data is None or isinstance(data, (bool, str, int, float)):
        return data
    if isinstance(data, list):
        return [decode(item) for item in data]
    try:
        [(tag, content)] = data.items()
        return _READ[tag](content)
    except (ArithmeticError, AttributeError, KeyError, TypeError, ValueError, IndexError) as error:
        raise ValueError(f"not an encoded value: {str(data)[:80]}") from error


def _decode_array(content: list) -> np.ndarray:
    dtype, shape, data = content
    if dtype not in DTYPES:
        raise ValueError(dtype)
    return np.frombuffer(base64.b64decode(data), "<" + dtype).reshape(shape).copy()


_READ = {
    "int": lambda text: int(text, 16),
    "fraction": lambda pair: Fraction(int(pair[0], 16), int(pair[1], 16)),
    "float": float,
    "complex": lambda pair: complex(decode(pair[0]), decode(pair[1])),
    "tuple": lambda items: tuple(decode(item) for item in items),
    "set": lambda items: {decode(item) for item in items},
    "dict": lambda pairs: {decode(key): decode(item) for key, item in pairs},
    "array": _decode_array,
    "tensor": lambda content: torch.from_numpy(_decode_array(content)),
}


def send(line: socket.socket, message: Any) -> None:
    """Write one message.  ValueError where it is larger than the other side would read, Closed where nobody reads."""
    data = json.dumps(message).encode()
    if len(data) > LARGEST:
        raise ValueError(f"an answer of {len(data) / 1e6:.0f} MB is too large")
    try:
        line.sendall(struct.pack("!I", len(data)) + data)
    except (BrokenPipeError, ConnectionResetError) as error:
        raise Closed("the other side is gone") from error


def receive(line: socket.socket, until: float = math.inf) -> Any:
    """Read one message.  Closed at its end, TimeoutError at ``until`` (monotonic clock), ValueError for nonsense.

    >>> ours, theirs = socket.socketpair()
    >>> send(ours, {"name": 1}); receive(theirs)
    {'name': 1}
    """
    (size,) = struct.unpack("!I", _exactly(line, 4, until))
    if size > LARGEST:
        raise ValueError(f"a message of {size} bytes")
    try:
        return json.loads(_exactly(line, size, until))
    except RecursionError as error:
        raise ValueError("a message nested too deeply") from error


def _exactly(line: socket.socket, count: int, until: float) -> bytes:
    parts = []
    while count:
        if until < math.inf:  # in all: drop by drop does not buy time
            line.settimeout(max(until - time.monotonic(), 1e-3))
        try:
            part = line.recv(min(count, 1 << 20))
        except ConnectionResetError:
            part = b""
        if not part:
            raise Closed("the other side is gone")
        parts.append(part)
        count -= len(part)
    return b"".join(parts)
