"""How a torch generator drives the tasks that are drawn number by number (trees, pictures), where torch is slow."""

import random

import numpy as np
import torch

from lrnnlab.errors import checked


@checked
def draw_seed(generator: torch.Generator):
    """A whole number below 2^62 from a ``torch.Generator``, which moves on: a seed for another source of chance."""
    return int(torch.randint(2**62, (1,), generator=generator, device=generator.device))


def python_random(generator):
    """A ``random.Random`` that is decided by the state of ``generator``.

    >>> first, second = (python_random(torch.Generator().manual_seed(3)).random() for _ in range(2))
    >>> first == second
    True
    """
    return random.Random(draw_seed(generator))


def numpy_random(*numbers):
    """A ``numpy.random.Generator`` decided by whole numbers: a seed, and what it is for (a split, an index).

    >>> int(numpy_random(0, 5).integers(100)) == int(numpy_random(0, 5).integers(100))
    True
    """
    return np.random.default_rng(numbers)
