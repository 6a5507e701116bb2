"""What tasks produce and what training and evaluation consume: inputs side by side with their targets, and answers.

Letters: B batch, T time, C classes, N answers.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F

from lrnnlab.validation import shown


@dataclass(frozen=True, eq=False)
class Batch:
    """A batch of inputs and targets: what every task gives, and every training and score reads.

    ``inputs``: tokens (B, T) int64, or numbers (B, T, d_in).  ``targets`` is one of three:

    * classes (B, T) int64, one a position, and ``mask`` (B, T) bool, True where a label is asked for; elsewhere the
      target is -1, which no classifier can hit and no loss accepts unmasked;
    * classes (B,) int64, one a string;
    * numbers (B, T', d_out), at the last T' positions.
    """

    inputs: torch.Tensor
    targets: torch.Tensor
    mask: torch.Tensor | None = None

    @property
    def tokens(self) -> torch.Tensor:
        """``inputs`` by the name they have where they are tokens."""
        return self.inputs

    def __len__(self):
        return len(self.inputs)

    def to(self, device: Any) -> Batch:
        """The same batch on another device."""
        return Batch(*(part if part is None else part.to(device) for part in (self.inputs, self.targets, self.mask)))

    def beside(self, net: nn.Module) -> Batch:
        """The same batch where the weights of a net lie, its numbers in their type."""
        weight = next((weight for weight in net.parameters() if weight.is_floating_point()), None)
        if weight is None:
            return self
        there = self.to(weight.device)
        inputs, targets = (x.to(weight.dtype) if x.is_floating_point() else x for x in (there.inputs, there.targets))
        return Batch(inputs, targets, there.mask)

    @property
    def wanted(self) -> torch.Tensor:
        """The answers that are asked for, (N,), or (B, T', d_out)."""
        return self.targets if self.mask is None or self.targets.ndim == 1 else self.targets[self.mask]

    def asked(self, outputs: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """The outputs where an answer is asked for, and the targets there: (N, C) and (N,), or twice (B, T', d_out).

        ``outputs``: (B, T, C), one a position, or (B, C) of a network that answers once, at the last position.
        ValueError if the network does not answer where the task asks.

        >>> from lrnnlab.tasks import task
        >>> logits, classes = task("sum", 5).sample(2, 3, torch.Generator().manual_seed(0)).asked(torch.zeros(2, 3, 5))
        >>> logits.shape, classes.shape
        (torch.Size([6, 5]), torch.Size([6]))
        """
        once = outputs.ndim == 2
        if self.targets.is_floating_point():
            if once:
                raise ValueError(f"numbers are asked for at {self.targets.shape[1]} positions, and the outputs have "
                                 f"shape {tuple(outputs.shape)}: one a sequence")
            return outputs[:, outputs.shape[1] - self.targets.shape[1] :], self.targets
        if self.targets.ndim == 1:
            return (outputs if once else outputs[:, -1]), self.targets
        if not once:
            return outputs[self.mask], self.targets[self.mask]
        if not self.mask[:, -1].all():
            raise ValueError(f"outputs of shape {tuple(outputs.shape)} answer at the last position alone, where string "
                             f"{int((~self.mask[:, -1]).nonzero()[0])} is asked for nothing")
        return outputs, self.targets[:, -1]

    def loss(self, outputs: torch.Tensor) -> torch.Tensor:
        """The mean cross-entropy over all answers that are asked for, in nats; for numbers the mean squared error.

        0 where nothing is asked, as of strings that are too short for a label: nothing can be learned from them.
        """
        given, wanted = self.asked(outputs)
        if not wanted.numel():
            return 0 * outputs.sum()
        return (F.mse_loss if wanted.is_floating_point() else F.cross_entropy)(given, wanted)

    def right(self, outputs: torch.Tensor) -> torch.Tensor:
        """(N,) bool: which answers are right, the largest logit's class; NaN is no answer."""
        given, wanted = self.asked(outputs)
        return answered(given) == wanted


NO_ANSWER = -2  # what is never right, not even where no label is due


def answered(logits: torch.Tensor, classes: int | None = None) -> torch.Tensor:
    """The classes (...) that logits (..., C) answer with: the largest.  NaN is no answer, ``NO_ANSWER``.

    Some NaN is what a state leaves that has overflowed; where there is no other answer at all, a warning says so.
    ValueError unless there are as many logits as ``classes``, if that is given.
    """
    if not isinstance(logits, torch.Tensor) or not logits.ndim or not logits.shape[-1]:
        raise ValueError(f"logits must be a tensor (..., C), got {shown(logits)}")
    if classes is not None and logits.shape[-1] != classes:
        raise ValueError(f"the network answers with {logits.shape[-1]} classes, the task has {classes}")
    largest, found = logits.max(-1)
    nothing = largest.isnan()
    if nothing.numel() and nothing.all():
        warnings.warn(f"all {nothing.numel()} answers are NaN, and count as wrong", stacklevel=2)
    return found.masked_fill(nothing, NO_ANSWER)
