"""The atomic tasks of paper 004 (Gupta, Mehta and Berant, "Simplifying and Understanding State Space Models with
Diagonal Linear RNNs", section 3.1): eleven single skills, as regression on real sequences.

Letters: B batch, T input length, L the paper's length, C shifts, M chosen values.  ``lrnnlab.tasks.continuous`` says
what inputs and targets are; the tasks that depend on more of the context stand in ``lrnnlab.tasks.atomic_context``.
``ATOMIC`` has all eleven by name.
"""

import torch

from lrnnlab.errors import whole_number
from lrnnlab.tasks.atomic_context import MIPS, ContextShift, Solve, SolveFixed
from lrnnlab.tasks.continuous import ContinuousTask, normal_sequences


class Sequence(ContinuousTask):
    """x of length L: standard normals divided by their largest absolute value."""

    def draw(self, batch, length, generator):
        return normal_sequences(batch, length, generator)[..., None]


class PaddedSequence(Sequence):
    """The same with L zeros behind it (T = 2L): the answer may be written after all of x has been read."""

    def input_length(self, length):
        return 2 * length

    def draw(self, batch, length, generator):
        x = super().draw(batch, length, generator)
        return torch.cat([x, torch.zeros_like(x)], dim=1)


class Shift(Sequence):
    """y_ij = x_(i - jL/C) for j = 0..C-1, zero before the start; C = 8 in the paper.  L must be a multiple of C.

    >>> x = torch.tensor([1, 0.5, -1, 0])
    >>> Shift(2).targets(x[None, :, None])[0].T.tolist()
    [[1.0, 0.5, -1.0, 0.0], [0.0, 0.0, 1.0, 0.5]]
    """

    def __init__(self, copies=8):
        self.copies = self.d_out = self.least = whole_number(copies, 1, "Shift: the number of copies")

    def check_length(self, length):
        length = super().check_length(length)
        if length % self.copies:
            raise ValueError(f"{self}: a length must be a multiple of {self.copies}, got {length}")
        return length

    def label(self, values):
        length = self.check_length(values.shape[1])
        x, step = values[..., 0], length // self.copies
        return torch.stack([torch.nn.functional.pad(x, (j * step, 0))[:, :length] for j in range(self.copies)], -1)

    def answer(self, values):
        x = [row[0] for row in self.floats(values)]
        step = len(x) // self.copies
        return [[x[i - j * step] if i >= j * step else 0.0 for j in range(self.copies)] for i in range(len(x))]


class CumSum(Sequence):
    """y_i = (x_0 + ... + x_i) / sqrt(i + 1).

    >>> CumSum().targets(torch.ones(1, 4, 1))[0, :, 0].round(decimals=3).tolist()
    [1.0, 1.4140000343322754, 1.7319999933242798, 2.0]
    """

    def label(self, values):
        count = torch.arange(1, values.shape[1] + 1, device=values.device, dtype=values.dtype)
        return values.cumsum(1) / count.sqrt()[:, None]

    def answer(self, values):
        x = [row[0] for row in self.floats(values)]
        return [[sum(x[:i + 1]) / (i + 1) ** 0.5] for i in range(len(x))]


class CumMax(Sequence):
    """y_i = max(x_0, ..., x_i).

    >>> CumMax().targets(torch.tensor([0, -1, 0.5, 0.25, 1])[None, :, None])[0, :, 0].tolist()
    [0.0, 0.0, 0.5, 0.5, 1.0]
    """

    def label(self, values):
        return values.cummax(1).values

    def answer(self, values):
        x = [row[0] for row in self.floats(values)]
        return [[max(x[:i + 1])] for i in range(len(x))]


class Reverse(PaddedSequence):
    """x backwards, written over the L zeros behind it.

    >>> Reverse().targets(torch.tensor([1.0, 2, 3, 0, 0, 0])[None, :, None])[0, :, 0].tolist()
    [3.0, 2.0, 1.0]
    """

    def label(self, values):
        return values[:, :values.shape[1] // 2].flip(1)

    def answer(self, values):
        x = self.floats(values)
        x = x[:len(x) // 2]
        return [x[-1 - i] for i in range(len(x))]


class Sort(PaddedSequence):
    """x in the order of growing distance |x_i - x_0| from its first number (ties keep their order), so y_0 = x_0.

    >>> Sort().targets(torch.tensor([0.1, 0.9, -0.2, 0.15, 0, 0, 0, 0])[None, :, None])[0, :, 0].round(decimals=3)
    tensor([ 0.1000,  0.1500, -0.2000,  0.9000])
    """

    def label(self, values):
        x = values[:, :values.shape[1] // 2]
        return x.gather(1, (x - x[:, :1]).abs().argsort(dim=1, stable=True))

    def answer(self, values):
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

    def __init__(self, chosen=32):
        self.chosen = whole_number(chosen, 1, f"{self}: the number of chosen values")

    def input_length(self, length):
        return length + 2 * self.chosen

    def positions(self, batch, length, generator):
        """(B, M) the chosen positions, growing, uniform without replacement among the first M + L."""
        order = torch.rand(batch, length + self.chosen, generator=generator, device=generator.device).argsort(1)
        return order[:, :self.chosen].sort(1).values

    def draw(self, batch, length, generator):
        values = torch.zeros(batch, self.input_length(length), 2, device=generator.device)
        values[:, :length + self.chosen, 0] = normal_sequences(batch, length + self.chosen, generator)
        values[:, :, 1].scatter_(1, self.positions(batch, length, generator), 1)
        return values

    def label(self, values):
        marked = values[..., 1] == 1
        if (marked.sum(1) != self.chosen).any():
            raise ValueError(f"{self}: values must have {self.chosen} positions marked, got {marked.sum(1).tolist()}")
        return values[..., 0][marked].reshape(len(values), self.chosen, 1)

    def answer(self, values):
        return [[number] for number, mark in self.floats(values) if mark == 1]


class SelectFixed(Select):
    """Select with the same positions in every input: of a CPU generator's numbers with seed 0, where the M least are.

    Not the released positions: of the same numbers the released code takes the M largest.

    >>> SelectFixed(4).positions(2, 12, torch.Generator()).tolist()
    [[2, 3, 12, 13], [2, 3, 12, 13]]
    """

    def positions(self, batch, length, generator):
        return super().positions(1, length, torch.Generator().manual_seed(0)).to(generator.device).expand(batch, -1)


ATOMIC = {"shift": Shift, "cumsum": CumSum, "cummax": CumMax, "reverse": Reverse, "sort": Sort, "select": Select,
          "select_fixed": SelectFixed, "mips": MIPS, "context_shift": ContextShift, "solve": Solve,
          "solve_fixed": SolveFixed}
