"""Chance for other libraries, decided by a ``torch.Generator`` or by whole numbers."""

from __future__ import annotations

import random

import numpy as np
import torch

from lrnnlab.validation import shown


def draw_seed(generator: torch.Generator) -> int:
    """A whole number below 2^62 from a ``torch.Generator``, which moves on: a seed for another source of chance."""
    if not isinstance(generator, torch.Generator):
        raise TypeError(f"generator must be a torch.Generator, got {shown(generator)}")
    return int(torch.randint(2**62, (1,), generator=generator, device=generator.device))


def python_random(generator: torch.Generator) -> random.Random:
    """A ``random.Random`` that is decided by the state of ``generator``."""
    return random.Random(draw_seed(generator))


def numpy_random(*numbers: int) -> np.random.Generator:
    """A ``numpy.random.Generator`` decided by whole numbers: a seed, and what it is for (a split, an index)."""
    return np.random.default_rng(numbers)
