"""What a score means before anything has been learnt, and paper 003's score, a share of whole strings.

Letters: B strings, T time, C classes.
"""

from __future__ import annotations

import numpy as np
import torch

from lrnnlab.tasks.batch import Batch, answered
from lrnnlab.validation import checked, number, shown, whole_number


def best_of_checks(level: float, checks: int = 40, strings: int = 128) -> tuple[float, float]:
    """Mean and standard deviation of the best of ``checks`` test scores of a model that is right at ``level``.

    A score is the fraction of ``strings`` independent strings answered well, so one score is Binomial(strings, level)
    / strings and the best of them is exactly distributed as P(best <= k) = P(one <= k)^checks.  Paper 000 (table 2)
    reports the best check of a run; its released code makes 40 of 128 strings.  This, and not ``level``, is the line
    to compare such a score with.  ValueError for a level outside 0..1, or counts below 1.

    >>> [round(number, 3) for number in best_of_checks(0.2)]
    [0.279, 0.019]
    """
    from scipy.stats import binom  # a second to load

    level = number(level, "the level, a probability,", 0, 1)
    checks, strings = whole_number(checks, 1, "checks"), whole_number(strings, 1, "strings")
    scores = np.arange(strings + 1) / strings
    best = np.diff(binom.cdf(np.arange(strings + 1), strings, level) ** checks, prepend=0)
    mean = float(best @ scores)
    return mean, float(np.sqrt(best @ (scores - mean) ** 2))


@checked
def whole_string_accuracy(predicted: torch.Tensor, batch: Batch) -> float:
    """The share of strings with no labelled position wrong: paper 003's score (Sec. 4.1).

    Parameters
    ----------
    predicted : Tensor
        Classes (B, T) int, or logits (B, T, C), whose largest entry counts (NaN: none).
    batch : Batch
        The strings and their targets.

    Raises
    ------
    ValueError
        For another shape, a batch with other answers than one a position, or a string without a label.

    Examples
    --------
    >>> from lrnnlab.tasks.counter_languages import Dyck1
    >>> batch = Dyck1().batch([[0, 1], [0, 0, 1, 1]])
    >>> whole_string_accuracy(torch.tensor([[1, 0, 7, 7], [1, 1, 1, 1]]), batch)
    0.5
    """
    _check_asked(batch)
    if predicted.device != batch.targets.device:
        raise ValueError(f"predicted lies on {predicted.device}, the batch on {batch.targets.device}")
    classes = answered(predicted) if predicted.ndim == 3 else predicted
    if classes.shape != batch.targets.shape:
        raise ValueError(f"predictions are (B, T) or (B, T, C) with (B, T) = {tuple(batch.targets.shape)}, "
                         f"got {tuple(predicted.shape)}")
    if not batch.mask.any(1).all():
        raise ValueError(f"string {int((~batch.mask.any(1)).nonzero()[0])} has no labelled position")
    return float(((classes == batch.targets) | ~batch.mask).all(1).double().mean())


@checked
def blind_levels(batch: Batch, classes: int) -> dict[str, float]:
    """What knows nothing scores on the very strings of ``batch``: four numbers by name.

    ``chance`` and ``majority``: the share of positions right by a uniform guess, and by the best constant answer;
    ``whole_chance`` and ``whole_majority``: the same for whole strings (expected, and for the best constant).

    >>> from lrnnlab.tasks.counter_languages import EvenAs
    >>> task = EvenAs()
    >>> found = blind_levels(task.batch(task.listed(task.bin(0))), task.classes)
    >>> found["majority"], found["whole_majority"], round(found["whole_chance"], 4)
    (0.5, 0.0, 0.0133)
    """
    _check_asked(batch)
    whole_number(classes, int(batch.targets.max()) + 1, "classes", 1 << 20)
    constants = [torch.full_like(batch.targets, label) for label in range(classes)]
    asked = int(batch.mask.sum())
    shares = [int((batch.targets == label).sum()) / asked for label in range(classes)]
    return {
        "chance": 1 / classes,
        "majority": max(shares),
        "whole_chance": float((float(classes) ** -batch.mask.sum(1).double()).mean()),
        "whole_majority": max(whole_string_accuracy(constant, batch) for constant in constants),
    }


def _check_asked(batch: Batch) -> None:
    if batch.mask is None or batch.mask.shape != batch.targets.shape or not batch.mask.any():
        raise ValueError(f"whole strings want an answer at every position that is asked for; this batch has targets "
                         f"{shown(batch.targets)}, mask {shown(batch.mask)}")
