"""Exact numbers: sums of powers of w = exp(2 pi i / n), n prime, with whole or fractional coefficients.

Letters: n the order of the root, w the root.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
from sympy import isprime


class RootSum:
    """c_0 + c_1 w + ... + c_{n-1} w^{n-1}, written with c_{n-1} = 0, which is unique as 1 + w + ... + w^{n-1} = 0.

    >>> w = RootSum((0, 1, 0))
    >>> w * w * w == RootSum((1, 0, 0)), w + w * w == -RootSum((1, 0, 0)), bool(w + -w)
    (True, True, False)
    """

    __slots__ = ("parts",)

    def __init__(self, parts):
        last = parts[-1]
        self.parts = tuple(part - last for part in parts) if last else tuple(parts)

    def _other(self, other):
        return other.parts if isinstance(other, RootSum) else (other, *(0,) * (len(self.parts) - 1))

    def __add__(self, other):
        return RootSum([a + b for a, b in zip(self.parts, self._other(other), strict=True)])

    def __mul__(self, other):
        if not isinstance(other, RootSum):
            return RootSum([a * other for a in self.parts])
        n, found = len(self.parts), [0] * len(self.parts)
        for i, a in enumerate(self.parts):
            if a:
                for j, b in enumerate(other.parts):
                    if b:
                        found[(i + j) % n] += a * b
        return RootSum(found)

    __radd__, __rmul__ = __add__, __mul__

    def __neg__(self):
        return RootSum([-a for a in self.parts])

    def __pow__(self, k):
        found = RootSum(self._other(1))
        for _ in range(k):
            found = found * self
        return found

    def __eq__(self, other):
        return self.parts == RootSum(self._other(other)).parts

    def __hash__(self):
        return hash(self.parts)

    def __bool__(self):
        return any(self.parts)

    def __complex__(self):
        n = len(self.parts)
        return complex(sum(float(a) * np.exp(2j * np.pi * k / n) for k, a in enumerate(self.parts) if a))

    def __repr__(self):
        return f"RootSum({self.parts})"


def field_of(n: int) -> tuple[Callable, object]:
    """A converter of whole numbers and fractions, and w itself.  For n = 1 and 2 the fractions, w = 1 and -1.

    ValueError unless n is 1 or a prime.

    >>> number, w = field_of(5)
    >>> w ** 5 == number(1), w + w ** 2 + w ** 3 + w ** 4 == number(-1)
    (True, True)
    """
    if n in (1, 2):
        return Fraction, Fraction(1 if n == 1 else -1)
    if not isprime(n):
        raise ValueError(f"a root of order 1 or of prime order is needed, got {n}")
    return lambda entry: entry if isinstance(entry, RootSum) else RootSum((entry, *(0,) * (n - 1))), RootSum(
        (0, 1, *(0,) * (n - 2)))  # fmt: skip
