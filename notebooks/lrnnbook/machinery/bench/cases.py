"""What the scan benchmark scans: shapes, inputs, and the least number of bytes that must move.

================= ======================================================================================
kind              what is given, and which gradients are asked for
================= ======================================================================================
``block``         A (B,T,h,n,n), b (B,T,h,n); dA, db
``table``         the same recurrence, but A and b are tables of V symbols and tokens are given; gradients of the tables
``constant``      A (h,n,n), b (B,T,h,n); dA, db
``real``          A, b (B,T,D); dA, db
``constant_real`` A (D,), b (B,T,D); dA, db
``complex``       as ``real``, in complex64
================= ======================================================================================

Letters: B batch, T time, D channels, h blocks, n block size, V vocabulary; A transition, b input term, x state.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

V = 8  # symbols of a table: Sum(5) has five, ModArith(5) has eight


@dataclass(frozen=True)
class Case:
    """One shape; diagonal kinds have n = 1 and h = D."""

    kind: str
    B: int
    T: int
    h: int
    n: int = 1

    @property
    def name(self) -> str:
        width = f"D={self.h}" if self.diagonal else f"h={self.h} b={self.n}"
        return f"{self.kind} B={self.B} T={self.T} {width}"

    @property
    def diagonal(self) -> bool:
        return self.kind in ("real", "constant_real", "complex")

    @property
    def constant(self) -> bool:
        """Whether every step has the same A."""
        return self.kind.startswith("constant")

    def bytes_forward(self) -> int:
        """Read A and b (or the tokens), write x: what no algorithm that reads its inputs from memory can avoid."""
        return self._bytes(transitions=1, vectors=2)

    def bytes_backward(self) -> int:
        """Read A, x and dx, write dA and db (or read the tokens, x and dx)."""
        return self._bytes(transitions=2, vectors=3)

    def _bytes(self, transitions: int, vectors: int) -> int:
        steps, number = self.B * self.T * self.h * self.n, 8 if self.kind == "complex" else 4
        if self.kind == "table":  # a token, of eight bytes, is read in place of A and b
            return steps * number * (vectors - 1) + 8 * self.B * self.T
        return steps * number * (vectors + (0 if self.constant else transitions * self.n))  # one small A for all steps

    def inputs(self) -> dict[str, np.ndarray]:
        """A and b (tables where the kind says so), tokens, and dx, the gradient that arrives; the same every time."""
        random = np.random.default_rng(0)
        block = () if self.diagonal else (self.n,)
        lead = (V,) if self.kind == "table" else () if self.constant else (self.B, self.T)
        A = self._draw(random, (*lead, self.h, *block, *block))
        A *= 0.9 / self.n**0.5
        if self.diagonal:
            A /= np.maximum(1, np.abs(A))
        b = self._draw(random, ((V,) if self.kind == "table" else (self.B, self.T)) + (self.h, *block))
        tokens = random.integers(V, size=(self.B, self.T)) if self.kind == "table" else np.zeros((0, 0), int)
        return {"A": A, "b": b, "tokens": tokens, "dx": self._draw(random, (self.B, self.T, self.h, *block))}

    def _draw(self, random: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
        if self.kind == "complex":
            return random.standard_normal((*shape, 2), np.float32).view(np.complex64)[..., 0]
        return random.standard_normal(shape, np.float32)


BLOCKS = tuple(
    Case("block", B, T, 8, n) for n in (2, 4, 8, 16) for B, T in ((128, 40), (128, 500), (128, 4096), (1, 16384))
)
TABLES = tuple(Case("table", B, T, 8, 8) for B, T in ((128, 40), (128, 500), (128, 4096), (1, 16384)))
AS_MANY = tuple(Case("block", B, 65536 // B, 8, 8) for B in (1, 4, 256))  # steps in all, few long strings to many short ones
SHAPES = ((1, 65536, 256), (4, 16384, 256), (16, 4096, 256), (32, 512, 256), (16, 4096, 64), (128, 64, 1024))
DIAGONALS = (*(Case("real", *shape) for shape in SHAPES), *(Case("complex", *shape) for shape in SHAPES[::2]))
CONSTANT = (Case("constant", 128, 500, 8, 8), *(Case("constant_real", *shape) for shape in (SHAPES[0], SHAPES[2])))
CASES = (*BLOCKS, *AS_MANY, *TABLES, *CONSTANT, *DIAGONALS)
