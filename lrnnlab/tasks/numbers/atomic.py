"""The atomic tasks of paper 004 (Gupta, Mehta and Berant, "Simplifying and Understanding State Space Models with
Diagonal Linear RNNs", section 3.1): eleven single skills, as regression on real sequences.

Letters: B batch, T input length, L the paper's length, C shifts, M chosen values, D the width of queries, keys and
values, N the unknowns of a linear system.  ``lrnnlab.tasks.numbers.continuous`` says what inputs and targets are.

The last four depend on the input in what they do to it: MIPS, ContextShift, Solve and, for comparison, SolveFixed.
Their targets are functions of the input too, also where the paper draws the answer first: in ``ContextShift`` the shift
is in the first two numbers, in ``Solve`` the system has one solution.  ``ATOMIC`` has all eleven by name.
"""

from __future__ import annotations

from collections.abc import Callable
from math import isqrt, pi
from typing import Any

import torch

from lrnnlab.tasks.numbers.continuous import ContinuousTask, normal_sequences
from lrnnlab.validation import whole_number


class Sequence(ContinuousTask):
    """x of length L: standard normals divided by their largest absolute value."""

    def draw(self, batch: int, length: int, generator: torch.Generator) -> torch.Tensor:
        return normal_sequences(batch, length, generator)[..., None]


class PaddedSequence(Sequence):
    """The same with L zeros behind it (T = 2L): the answer may be written after all of x has been read."""

    def input_length(self, length: int) -> int:
        return 2 * length

    def draw(self, batch: int, length: int, generator: torch.Generator) -> torch.Tensor:
        x = super().draw(batch, length, generator)
        return torch.cat([x, torch.zeros_like(x)], dim=1)


class Shift(Sequence):
    """y_ij = x_(i - jL/C) for j = 0..C-1, zero before the start; C = 8 in the paper.  L must be a multiple of C.

    >>> x = torch.tensor([1, 0.5, -1, 0])
    >>> Shift(2).targets(x[None, :, None])[0].T.tolist()
    [[1.0, 0.5, -1.0, 0.0], [0.0, 0.0, 1.0, 0.5]]
    """

    def __init__(self, copies: int = 8):
        self.copies = self.d_out = self.least = whole_number(copies, 1, "Shift: the number of copies")

    def check_length(self, length: int) -> int:
        length = super().check_length(length)
        if length % self.copies:
            raise ValueError(f"{self}: a length must be a multiple of {self.copies}, got {length}")
        return length

    def label(self, values: torch.Tensor) -> torch.Tensor:
        x, length = values[..., 0], values.shape[1]
        step = length // self.copies
        return torch.stack([torch.nn.functional.pad(x, (j * step, 0))[:, :length] for j in range(self.copies)], -1)

    def answer(self, values: Any) -> list[list[float]]:
        x = [row[0] for row in self.floats(values)]
        step = len(x) // self.copies
        return [[x[i - j * step] if i >= j * step else 0.0 for j in range(self.copies)] for i in range(len(x))]


class CumSum(Sequence):
    """y_i = (x_0 + ... + x_i) / sqrt(i + 1).

    >>> CumSum().targets(torch.ones(1, 4, 1))[0, :, 0].round(decimals=3).tolist()
    [1.0, 1.4140000343322754, 1.7319999933242798, 2.0]
    """

    def label(self, values: torch.Tensor) -> torch.Tensor:
        count = torch.arange(1, values.shape[1] + 1, device=values.device, dtype=values.dtype)
        return values.cumsum(1) / count.sqrt()[:, None]

    def answer(self, values: Any) -> list[list[float]]:
        x = [row[0] for row in self.floats(values)]
        return [[sum(x[:i + 1]) / (i + 1) ** 0.5] for i in range(len(x))]


class CumMax(Sequence):
    """y_i = max(x_0, ..., x_i).

    >>> CumMax().targets(torch.tensor([0, -1, 0.5, 0.25, 1])[None, :, None])[0, :, 0].tolist()
    [0.0, 0.0, 0.5, 0.5, 1.0]
    """

    def label(self, values: torch.Tensor) -> torch.Tensor:
        return values.cummax(1).values

    def answer(self, values: Any) -> list[list[float]]:
        x = [row[0] for row in self.floats(values)]
        return [[max(x[:i + 1])] for i in range(len(x))]


class Reverse(PaddedSequence):
    """x backwards, written over the L zeros behind it.

    >>> Reverse().targets(torch.tensor([1.0, 2, 3, 0, 0, 0])[None, :, None])[0, :, 0].tolist()
    [3.0, 2.0, 1.0]
    """

    def label(self, values: torch.Tensor) -> torch.Tensor:
        return values[:, :values.shape[1] // 2].flip(1)

    def answer(self, values: Any) -> list[list[float]]:
        x = self.floats(values)
        x = x[:len(x) // 2]
        return [x[-1 - i] for i in range(len(x))]


class Sort(PaddedSequence):
    """x in the order of growing distance |x_i - x_0| from its first number (ties keep their order), so y_0 = x_0.

    >>> Sort().targets(torch.tensor([0.1, 0.9, -0.2, 0.15, 0, 0, 0, 0])[None, :, None])[0, :, 0].round(decimals=3)
    tensor([ 0.1000,  0.1500, -0.2000,  0.9000])
    """

    def label(self, values: torch.Tensor) -> torch.Tensor:
        x = values[:, :values.shape[1] // 2]
        return x.gather(1, (x - x[:, :1]).abs().argsort(dim=1, stable=True))

    def answer(self, values: Any) -> list[list[float]]:
        x = [row[0] for row in self.floats(values)]
        return [[number] for number in sorted(x[:len(x) // 2], key=lambda number: abs(number - x[0]))]


class Select(ContinuousTask):
    """The M marked ones of M + L numbers, in order, written over M zeros behind them; M = 32 in the paper.

    The second column is 1 at the M chosen positions, which are drawn anew for every input; T = L + 2M.

    >>> values = torch.tensor([[0.25, 0], [0.5, 1], [0.75, 0], [1, 1], [0, 0], [0, 0]])
    >>> Select(2).targets(values[None])[0, :, 0].tolist()
    [0.5, 1.0]
    """

    columns = 2

    def __init__(self, chosen: int = 32):
        self.chosen = whole_number(chosen, 1, f"{self}: the number of chosen values")

    def input_length(self, length: int) -> int:
        return length + 2 * self.chosen

    def positions(self, batch: int, length: int, generator: torch.Generator) -> torch.Tensor:
        """(B, M) the chosen positions, growing, uniform without replacement among the first M + L."""
        among = batch, length + self.chosen
        order = torch.rand(among, dtype=torch.float32, generator=generator, device=generator.device).argsort(1)
        return order[:, :self.chosen].sort(1).values

    def draw(self, batch: int, length: int, generator: torch.Generator) -> torch.Tensor:
        values = torch.zeros(batch, self.input_length(length), 2, dtype=torch.float32, device=generator.device)
        values[:, :length + self.chosen, 0] = normal_sequences(batch, length + self.chosen, generator)
        values[:, :, 1].scatter_(1, self.positions(batch, length, generator), 1)
        return values

    def label(self, values: torch.Tensor) -> torch.Tensor:
        marked = values[..., 1] == 1
        if (marked.sum(1) != self.chosen).any():
            raise ValueError(f"{self}: values must have {self.chosen} positions marked, got {marked.sum(1).tolist()}")
        return values[..., 0][marked].reshape(len(values), self.chosen, 1)

    def answer(self, values: Any) -> list[list[float]]:
        return [[number] for number, mark in self.floats(values) if mark == 1]


class SelectFixed(Select):
    """Select with the same positions in every input: of a CPU generator's numbers with seed 0, where the M least are.

    Not the released positions: of the same numbers the released code takes the M largest.

    >>> SelectFixed(4).positions(2, 12, torch.Generator()).tolist()
    [[2, 3, 12, 13], [2, 3, 12, 13]]
    """

    def positions(self, batch: int, length: int, generator: torch.Generator) -> torch.Tensor:
        return super().positions(1, length, torch.Generator().manual_seed(0)).to(generator.device).expand(batch, -1)


class MIPS(ContinuousTask):
    """Maximum inner product search: y_i = v_k with k = argmax over j <= i of <q_i, k_j>; D = 4 in the paper.

    The columns are q, k and v, each of D numbers and of Euclidean norm 1.

    >>> task = MIPS(1)
    >>> task.targets(torch.tensor([[1.0, -1, -1], [-1, 1, 1], [1, -1, 1]])[None])[0, :, 0].tolist()
    [-1.0, -1.0, 1.0]
    """

    def __init__(self, width: int = 4):
        self.d_out = whole_number(width, 1, f"{self}: the width")
        self.columns = 3 * self.d_out

    def draw(self, batch: int, length: int, generator: torch.Generator) -> torch.Tensor:
        vectors = torch.randn(batch, length, 3, self.d_out, dtype=torch.float32, generator=generator, device=generator.device)
        return torch.nn.functional.normalize(vectors, dim=-1).flatten(2)

    def label(self, values: torch.Tensor, block: int = 512) -> torch.Tensor:
        q, k, v = values.split(self.d_out, dim=-1)
        best = []
        for start in range(0, q.shape[1], block):  # blocks of queries: T x T scores of a long input fill the memory
            scores = q[:, start:start + block] @ k[:, :start + block].transpose(1, 2)
            future = torch.ones_like(scores[0], dtype=torch.bool).triu(start + 1)
            best.append(scores.masked_fill(future, -torch.inf).argmax(-1))
        return v.gather(1, torch.cat(best, dim=1)[..., None].expand(-1, -1, self.d_out))

    def answer(self, values: Any) -> list[list[float]]:
        D, answers = self.d_out, []
        rows = self.floats(values)
        for i, row in enumerate(rows):
            scores = [sum(a * b for a, b in zip(row[:D], rows[j][D:2 * D])) for j in range(i + 1)]
            answers.append(rows[scores.index(max(scores))][2 * D:])
        return answers


class ContextShift(ContinuousTask):
    """x' = (cos 2 pi s/L, sin 2 pi s/L, x) is to be shifted right by its own s: y_i = x'_(i-s), zero before the start.

    x has L - 2 numbers.  s is uniform on 0..L-3 as in the released code; the paper's text says 0..L-2.

    >>> x = torch.tensor([0.0, 1, 0.5, -1])  # s = 1 of L = 4
    >>> ContextShift().targets(x[None, :, None])[0, :, 0].tolist()
    [0.0, 0.0, 1.0, 0.5]
    """

    least = 3

    def draw(self, batch: int, length: int, generator: torch.Generator) -> torch.Tensor:
        x = normal_sequences(batch, length - 2, generator)
        shift = torch.randint(length - 2, (batch, 1), generator=generator, device=generator.device)
        angle = shift.double() * (2 * pi / length)
        return torch.cat([angle.cos().float(), angle.sin().float(), x], dim=1)[..., None]

    def label(self, values: torch.Tensor) -> torch.Tensor:
        x, length = values[..., 0], values.shape[1]
        turn = torch.atan2(x[:, 1].double(), x[:, 0].double()) / (2 * pi)
        start = (turn * length).round().long()[:, None] % length
        source = torch.arange(length, device=x.device) - start
        return (x.gather(1, source.clamp_min(0)) * (source >= 0))[..., None]

    def answer(self, values: Any) -> list[list[float]]:
        x = [row[0] for row in self.floats(values)]
        angles = torch.arange(len(x), dtype=torch.float64, device="cpu") * (2 * pi / len(x))
        start = int(((angles.cos() - x[0]) ** 2 + (angles.sin() - x[1]) ** 2).argmin())  # the s whose point it is
        return [[number] for number in ([0.0] * start + x)[:len(x)]]


def unknowns(length: int) -> int:
    """N, the largest whole number with L - N^2 - N >= N: 63 at L = 4096, 21 at 512."""
    return isqrt(length + 1) - 1


class Solve(ContinuousTask):
    """x = (a_1, b_1, ..., a_N, b_N, 0, ...) with b = A X; the answer is X, at the last N positions.

    A is a random orthogonal matrix (the polar factor of a Gaussian one) with rows a_i, X uniform on the unit sphere.

    >>> task = Solve()
    >>> task.targets(torch.tensor([0, 1, 0.6, -1, 0, 0.8, 0, 0])[None, :, None])[0, :, 0].round(decimals=3)
    tensor([-0.8000,  0.6000])
    """

    least = 3

    def matrices(self, batch: int, size: int, generator: torch.Generator) -> torch.Tensor:
        """(B, N, N) orthogonal."""
        gaussian = torch.randn(batch, size, size, dtype=torch.float32, generator=generator, device=generator.device)
        u, _, vh = torch.linalg.svd(gaussian)
        return u @ vh

    def draw(self, batch: int, length: int, generator: torch.Generator) -> torch.Tensor:
        size = unknowns(length)
        A = self.matrices(batch, size, generator)
        X = torch.randn(batch, size, 1, dtype=torch.float32, generator=generator, device=generator.device)
        rows = torch.cat([A, A @ torch.nn.functional.normalize(X, dim=1)], dim=2).flatten(1)  # (B, N (N + 1))
        return torch.nn.functional.pad(rows, (0, length - rows.shape[1]))[..., None]

    def label(self, values: torch.Tensor) -> torch.Tensor:
        size = unknowns(values.shape[1])
        rows = values[:, :size * (size + 1), 0].reshape(len(values), size, size + 1)
        return rows[:, :, :size].transpose(1, 2) @ rows[:, :, size:]  # A^T b: A is orthogonal

    def answer(self, values: Any) -> list[list[float]]:
        rows = torch.tensor(self.floats(values), dtype=torch.float64, device="cpu")
        size = unknowns(len(rows))
        rows = rows[:size * (size + 1)].reshape(size, size + 1)
        try:
            return torch.linalg.solve(rows[:, :size], rows[:, size:]).tolist()
        except torch.linalg.LinAlgError as error:
            raise ValueError(f"{self}: values hold a system without one solution") from error


class SolveFixed(Solve):
    """Solve with one matrix A for all inputs: the one that a CPU generator with seed 0 draws, as released.

    >>> first, second = SolveFixed().sample(2, 8, torch.Generator().manual_seed(5)).inputs[:, [0, 1, 3, 4], 0]
    >>> torch.equal(first, second)
    True
    """

    def matrices(self, batch: int, size: int, generator: torch.Generator) -> torch.Tensor:
        return super().matrices(1, size, torch.Generator().manual_seed(0)).to(generator.device).expand(batch, -1, -1)


ATOMIC: dict[str, Callable[..., ContinuousTask]] = {
    "shift": Shift, "cumsum": CumSum, "cummax": CumMax, "reverse": Reverse, "sort": Sort, "select": Select,
    "select_fixed": SelectFixed, "mips": MIPS, "context_shift": ContextShift, "solve": Solve, "solve_fixed": SolveFixed,
}  # fmt: skip
