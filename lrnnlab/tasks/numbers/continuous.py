"""What a task over real numbers is: inputs (B, T, d_in), targets (B, T', d_out), and the score R2.

Letters: B batch, T time (the whole input), T' the rightmost positions that are scored, L the length a task is asked
for (paper 004's L; T is L, or L with blanks behind it), d_in and d_out columns.  Positions count from 0.

It is the sibling of ``lrnnlab.tasks.Task`` for regression.  A continuous task needs ``draw`` (random inputs without
the position columns), ``label`` (the fast answer, a function of those inputs) and ``answer`` (the slow oracle for ONE
input); checking, position columns and sampling come from here.  The model reads all T positions; its last T' outputs
are its prediction.
"""

from __future__ import annotations

from abc import abstractmethod
from math import pi
from typing import Any

import torch

from lrnnlab.tasks.base import BaseTask
from lrnnlab.tasks.batch import Batch
from lrnnlab.validation import checked, shown, whole_number


@checked
def position_features(length: Any, device: torch.device | str | None = None) -> torch.Tensor:
    """(T, 2) columns cos(2 pi i / T), sin(2 pi i / T): where in the input a position is (paper 004, section 3.1)."""
    length = whole_number(length, 1, "a length")
    angle = torch.arange(length, dtype=torch.float64, device=device) * (2 * pi / length)
    return torch.stack([angle.cos(), angle.sin()], dim=-1).float()


@checked
def r_squared(prediction: torch.Tensor, target: torch.Tensor) -> float:
    """1 - MSE(prediction, target) / MSE(mean(target), target), over ALL numbers of a batch (paper 004, section 3.3).

    1 is perfect, 0 is the best single number for the whole batch, below 0 is worse than that number.  The released
    code keeps the denominator at 1e-5 or more, and so does this.  Any equal shapes; a float comes back.  ValueError if
    the shapes differ (no broadcasting) or the batch is empty.

    >>> r_squared(torch.tensor([1.0, 2.0, 4.0]), torch.tensor([1.0, 2.0, 3.0]))
    0.5
    """
    if prediction.device != target.device:
        raise ValueError(f"prediction lies on {prediction.device}, target on {target.device}")
    if prediction.shape != target.shape or target.numel() == 0:
        raise ValueError(f"prediction and target must have one shape and numbers in it, got "
                         f"{tuple(prediction.shape)} and {tuple(target.shape)}")
    prediction, target = prediction.double(), target.double()
    error, spread = (prediction - target).square().mean(), (target.mean() - target).square().mean()
    return float(1 - error / spread.clamp_min(1e-5))


def normal_sequences(batch: int, length: int, generator: torch.Generator) -> torch.Tensor:
    """(B, L) independent standard normals, each row divided by its largest absolute value (paper 004, section 3.1)."""
    x = torch.randn(batch, length, dtype=torch.float32, generator=generator, device=generator.device)
    return x / x.abs().amax(1, keepdim=True)


class ContinuousTask(BaseTask):
    """Real inputs with real answers at the rightmost positions; see the module's head.

    ``d_out`` is the number of target columns, ``columns`` that of the input without positions; ``d_in`` counts both.
    """

    reads, answers, score = "numbers", "places", "R2"
    columns, d_out = 1, 1
    train_length = test_length = 64

    @abstractmethod
    def draw(self, batch: int, length: int, generator: torch.Generator) -> torch.Tensor:
        """Random inputs (B, T, columns), without the position columns, for a checked ``length`` L."""

    @abstractmethod
    def label(self, values: torch.Tensor) -> torch.Tensor:
        """Targets (B, T', d_out) of inputs (B, T, columns): the fast path."""

    @abstractmethod
    def answer(self, values: Any) -> list[list[float]]:
        """The oracle: targets of ONE input (T, columns) as T' rows of d_out floats, by a slow and obvious route."""

    @property
    def d_in(self) -> int:
        return self.columns + 2

    def majority(self, length: int) -> float:
        """R2 of the best answer known that learns no skill; that of one number for the whole batch is ``chance``, 0."""
        from lrnnlab.tasks.numbers.atomic_levels import trivial_level  # loads scipy.special: a tenth of a second

        return trivial_level(self, length)

    def input_length(self, length: int) -> int:
        """T for a checked length L."""
        return length

    @checked
    def sample(self, batch: Any, length: Any, generator: torch.Generator) -> Batch:
        """A ``Batch`` of random inputs (B, T, d_in) with targets (B, T', d_out), float32 on the generator's device.

        The last two input columns are ``position_features``.  All randomness comes from ``generator``.  ValueError
        for a batch below 1, or a length that the task does not have.

        >>> from lrnnlab.tasks.numbers.atomic import Shift
        >>> batch = Shift().sample(4, 64, torch.Generator().manual_seed(0))
        >>> batch.inputs.shape, batch.targets.shape
        (torch.Size([4, 64, 3]), torch.Size([4, 64, 8]))
        """
        batch, length = whole_number(batch, 1, f"{self}: the batch"), self.check_length(length)
        values = self.draw(batch, length, generator)
        return Batch(self.with_positions(values), self.label(values))

    def with_length(self, length: int) -> BaseTask:
        made = super().with_length(length)
        made.test_length = length
        return made

    def targets(self, values: Any) -> torch.Tensor:
        """Targets (B, T', d_out) of ``values`` (B, T, columns); ValueError shows a wrong shape."""
        return self.label(self.check_values(values))

    def check_values(self, values: Any) -> torch.Tensor:
        """``values`` if they are a real tensor (B, T, columns) with a T that the task has, else ValueError."""
        if not isinstance(values, torch.Tensor) or values.layout is not torch.strided or values.is_meta \
                or values.ndim != 3 or values.shape[2] != self.columns or not values.is_floating_point():
            raise ValueError(f"{self}: values must be a real tensor (B, T, {self.columns}), got {shown(values)}")
        T = values.shape[1]
        length = next((L for L in range(T, 0, -1) if self.input_length(L) == T), None)
        if length is None:
            raise ValueError(f"{self}: no input has {T} positions")
        self.check_length(length)
        return values

    def floats(self, values: Any) -> list[list[float]]:
        """ONE input (T, columns) as lists of Python floats, for the oracles; ValueError for what is none."""
        try:
            given = torch.as_tensor(values, device="cpu").double()
        except (TypeError, ValueError, RuntimeError) as error:
            raise ValueError(f"{self}: values must be numbers (T, {self.columns}), got {shown(values)}") from error
        return self.check_values(given[None])[0].tolist()

    def with_positions(self, values: Any) -> torch.Tensor:
        """``values`` (B, T, columns) with the two position columns behind them: (B, T, d_in)."""
        values = self.check_values(values)
        where = position_features(values.shape[1], values.device).to(values.dtype)
        return torch.cat([values, where.expand(len(values), -1, -1)], dim=-1)
