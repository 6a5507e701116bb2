"""What a net that fails on a machine does track: its wrong answers, read through the machine's quotients.

A quotient of a machine is a smaller machine that can be read off it: the sign of a permutation in S_3.  A net may answer
a third of S_3's states right and yet never leave the right sign.  No probe of its states is needed to see that, and a
linear one may not see it; its own answers say it.

Letters: Q states, N answers in an array of any shape, B blocks of a partition of the states.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from lrnnlab.validation import checked


@dataclass(frozen=True, eq=False)
class QuotientScore:
    """How a net's answers are right in one quotient."""

    blocks: np.ndarray
    accuracy: float
    majority: float
    chance: float

    @property
    def size(self) -> int:
        """The number of blocks, which are the quotient's states."""
        return int(self.blocks.max()) + 1


@checked
def quotient_scores(predicted: Any, truth: Any, quotients: Iterable) -> list[QuotientScore]:
    """How often answers are right in each quotient of a machine whose states they name; one score a quotient.

    ``predicted`` and ``truth`` are states, in arrays of one shape; a quotient is the block of every state, (Q,) numbers
    0..B-1, or has that as ``blocks``.
    """
    given, right = np.asarray(predicted), np.asarray(truth)
    found = []
    for quotient in quotients:
        blocks = np.asarray(getattr(quotient, "blocks", quotient))
        one, other = blocks[given], blocks[right]
        shares = [np.bincount(part.ravel(), minlength=blocks.max() + 1) / part.size for part in (one, other)]
        found.append(QuotientScore(blocks, float((one == other).mean()), float(shares[1].max()),
                                   float(shares[0] @ shares[1])))  # fmt: skip
    return found
