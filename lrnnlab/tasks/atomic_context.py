"""Four atomic tasks of paper 004 (section 3.1) whose manipulation depends on the input: MIPS, ContextShift, Solve and,
for comparison, SolveFixed.  ``lrnnlab.tasks.atomic`` has the others.

Letters: B batch, T input length, L the paper's length, D the width of queries, keys and values, N the unknowns of a
linear system.

Every target is a function of the input, also where the paper draws the answer first: in ``ContextShift`` the shift
stands in the first two numbers, in ``Solve`` the system has one solution.
"""

from math import isqrt, pi

import torch

from lrnnlab.errors import whole_number
from lrnnlab.tasks.continuous import ContinuousTask, normal_sequences


class MIPS(ContinuousTask):
    """Maximum inner product search: y_i = v_k with k = argmax over j <= i of <q_i, k_j>; D = 4 in the paper.

    The columns are q, k and v, each of D numbers and of Euclidean norm 1.

    >>> task = MIPS(1)
    >>> task.targets(torch.tensor([[1.0, -1, -1], [-1, 1, 1], [1, -1, 1]])[None])[0, :, 0].tolist()
    [-1.0, -1.0, 1.0]
    """

    def __init__(self, width=4):
        self.d_out = whole_number(width, 1, f"{self}: the width")
        self.columns = 3 * self.d_out

    def draw(self, batch, length, generator):
        vectors = torch.randn(batch, length, 3, self.d_out, generator=generator, device=generator.device)
        return torch.nn.functional.normalize(vectors, dim=-1).flatten(2)

    def label(self, values, block=512):
        q, k, v = values.split(self.d_out, dim=-1)
        best = []
        for start in range(0, q.shape[1], block):  # blocks of queries: T x T scores of a long input fill the memory
            scores = q[:, start:start + block] @ k[:, :start + block].transpose(1, 2)
            future = torch.ones_like(scores[0], dtype=torch.bool).triu(start + 1)
            best.append(scores.masked_fill(future, -torch.inf).argmax(-1))
        return v.gather(1, torch.cat(best, dim=1)[..., None].expand(-1, -1, self.d_out))

    def answer(self, values):
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

    def draw(self, batch, length, generator):
        x = normal_sequences(batch, length - 2, generator)
        shift = torch.randint(length - 2, (batch, 1), generator=generator, device=generator.device)
        angle = shift.double() * (2 * pi / length)
        return torch.cat([angle.cos().float(), angle.sin().float(), x], dim=1)[..., None]

    def label(self, values):
        x, length = values[..., 0], values.shape[1]
        turn = torch.atan2(x[:, 1].double(), x[:, 0].double()) / (2 * pi)
        start = (turn * length).round().long()[:, None] % length
        source = torch.arange(length, device=x.device) - start
        return (x.gather(1, source.clamp_min(0)) * (source >= 0))[..., None]

    def answer(self, values):
        x = [row[0] for row in self.floats(values)]
        angles = torch.arange(len(x), dtype=torch.float64) * (2 * pi / len(x))
        start = int(((angles.cos() - x[0]) ** 2 + (angles.sin() - x[1]) ** 2).argmin())  # the s whose point it is
        return [[number] for number in ([0.0] * start + x)[:len(x)]]


def unknowns(length):
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

    def matrices(self, batch, size, generator):
        """(B, N, N) orthogonal."""
        gaussian = torch.randn(batch, size, size, generator=generator, device=generator.device)
        u, _, vh = torch.linalg.svd(gaussian)
        return u @ vh

    def draw(self, batch, length, generator):
        size = unknowns(length)
        A = self.matrices(batch, size, generator)
        X = torch.randn(batch, size, 1, generator=generator, device=generator.device)
        rows = torch.cat([A, A @ torch.nn.functional.normalize(X, dim=1)], dim=2).flatten(1)  # (B, N (N + 1))
        return torch.nn.functional.pad(rows, (0, length - rows.shape[1]))[..., None]

    def label(self, values):
        size = unknowns(values.shape[1])
        rows = values[:, :size * (size + 1), 0].reshape(len(values), size, size + 1)
        return rows[:, :, :size].transpose(1, 2) @ rows[:, :, size:]  # A^T b: A is orthogonal

    def answer(self, values):
        rows = torch.tensor(self.floats(values), dtype=torch.float64)
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

    def matrices(self, batch, size, generator):
        return super().matrices(1, size, torch.Generator().manual_seed(0)).to(generator.device).expand(batch, -1, -1)
