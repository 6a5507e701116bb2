"""What R2 means on the atomic tasks of paper 004 before anything has been learnt.

Letters: L the paper's length, C shifts, a the largest absolute value of a sequence before it is divided by it.

Answering one number for the whole batch scores 0 by definition of R2.  Five tasks give more for next to nothing, and
some numbers in the paper's tables 1, 2 and 6 are just these levels: .22 for Shift, .49 to .51 for Sort, .01 for MIPS, .04
and .05 for ContextShift.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import betainc, ndtr, ndtri

from lrnnlab.tasks.base import BaseTask
from lrnnlab.validation import checked, whole_number


def largest_of_normals(length: int, points: int) -> np.ndarray:
    """(points,) values of a = max |x_i| of ``length`` standard normals, at equally probable quantiles."""
    points = whole_number(points, 1, "points")
    quantile = (np.arange(points) + 0.5) / points
    return -ndtri((1 - quantile ** (1 / length)) / 2)


def density(x: np.ndarray) -> np.ndarray:
    """Of the standard normal (``scipy.stats`` has it, and takes a second to load)."""
    return np.exp(-(x**2) / 2) / np.sqrt(2 * np.pi)


def normalised_variance(length: int, points: int = 16) -> float:
    """Variance of a number of ``length`` normals divided by their largest absolute value; their mean is 0."""
    a = largest_of_normals(length, points)
    cut = (1 / a**2 - 2 * density(a) / (a * (2 * ndtr(a) - 1))).mean()
    return float(1 / length + (1 - 1 / length) * cut)


def shift_level(copies: int = 8) -> float:
    """R2 of copying the input into column j = 0 and answering 0 in the others: 2 / (C + 1).

    Column j holds L - jL/C numbers of one variance, the rest zeros: in all the variance of L (C + 1) / 2 numbers, of
    which column 0 has L.  (The mean of a batch is taken as 0.)  It is the .22 in the paper's table 2.
    """
    return 2 / (whole_number(copies, 1, "the number of copies") + 1)


def cummax_level(length: int, points: int = 32) -> float:
    """R2 of answering the mean of each position, whatever the input: y_i = E[max(x_0..x_i) / max|x|]."""
    from scipy.integrate import trapezoid  # a third of a second to load

    length = whole_number(length, 2, "a length")
    u = np.linspace(-1, 1, 801)
    k = np.arange(length + 1)[:, None]  # how many cut normals the maximum runs over; of none it is -1
    seen = np.arange(1, length + 1) / length  # P(the number of largest size is among x_0..x_i)
    moments = np.zeros((2, length))
    for a in largest_of_normals(length, points):
        below = (ndtr(a * u) - ndtr(-a)) / (2 * ndtr(a) - 1)
        power = below ** k
        first, second = 1 - trapezoid(power, u), 1 - trapezoid(2 * u * power, u)
        for row, moment in zip(moments, (first, second)):
            # it is seen and positive (then y = 1), seen and negative (then it does not count), or not seen yet
            row += (seen / 2 * (1 + moment[:-1]) + (1 - seen) * moment[1:]) / points
    mean, square = moments
    return float(1 - (square - mean**2).mean() / (square.mean() - mean.mean() ** 2))


def sort_level(length: int, points: int = 16) -> float:
    """R2 of E[y_i | x_0, i] for Sort: the answer that knows the first number and the position, and sorts nothing."""
    length = whole_number(length, 2, "a length")
    first, edges, step = (np.arange(50) + 0.5) / 50, np.linspace(0, 1, 801), np.linspace(0, 2, 2001)
    share = (edges[1:] + edges[:-1]) / 2
    size = largest_of_normals(length, points)[:, None, None]  # (points, 1, 1), then first numbers, then shares
    total = 2 * ndtr(size) - 1

    def nearest(x):
        """E[a number | it is the one at each share from x], (points, X, shares), and the share of +1 and of -1."""
        mass = (ndtr(size * np.minimum(x + step, 1)) - ndtr(size * np.maximum(x - step, -1))) / total
        d = np.array([[np.interp(share, row, step) for row in rows] for rows in mass])
        right, left = density(size * (x + d)) * (x + d <= 1), density(size * (x - d)) * (x - d >= -1)
        return x + d * (right - left) / (right + left), mass

    def places(count):
        """(count, shares): how probably the k-th nearest of ``count`` numbers has each share."""
        k = np.arange(1, count + 1)[:, None]
        return np.diff(betainc(k, count + 1 - k, edges), axis=1)

    # x_0 is the number that is 1, which happens once in L; as for -1, only the sign is another
    if_largest = (nearest(np.ones((1, 1)))[0] @ places(length - 1).T).mean((0, 1))
    # x_0 is another one, x > 0; again the sign of all numbers does not matter
    x, nobody = first[:, None], np.zeros((1, len(share)))
    answer, mass = nearest(x)
    at = places(length - 2)
    later, earlier = np.concatenate([at, nobody]).T, np.concatenate([nobody, at]).T  # (shares, L - 1) of y_1 ...
    means = 0
    for largest in (1, -1):
        own = np.array([[np.interp(abs(largest - y), step, row) for y, row in zip(first, rows)] for rows in mass])
        before = share < own[..., None]
        passed = before @ later  # the k-th of the others comes before the largest
        follows = np.concatenate([np.ones_like(passed[..., :1]), passed[..., :-1]], -1)
        means = means + (answer * before @ later + answer * ~before @ earlier + largest * (follows - passed)) / 2
    weights = size * density(size * x) / total  # (points, X, 1)
    means = (weights * means).sum(0) / weights.sum(0)
    variance = normalised_variance(length, points)
    otherwise = np.average((means**2).sum(1), weights=weights.sum((0, 2)))
    explained = ((if_largest**2).sum() / length + (1 - 1 / length) * otherwise + variance) / length  # y_0 is x_0
    return float(explained / variance)  # the mean of all numbers is 0


def mips_level(length: int) -> float:
    """R2 of answering the mean of v_0 ... v_i in MIPS, whatever is asked: (1 + 1/2 + ... + 1/L) / L.

    y_i is one of the i + 1 vectors, each as likely, all of norm 1 and uncorrelated; so 1/(i + 1) of it is explained.
    """
    length = whole_number(length, 1, "a length")
    return float((1 / np.arange(1, length + 1)).mean())


def context_shift_level(length: int, points: int = 16) -> float:
    """R2 of the answer to ContextShift that knows the shift s and moves no number of x."""
    length = whole_number(length, 3, "a length")
    angle = 2 * np.pi / length * np.arange(length - 2)
    mean = (np.cos(angle) + np.sin(angle)).mean() / length  # of all answers
    numbers = normalised_variance(length - 2, points) * (length - 1) / 2
    return float(1 - numbers / (numbers + 1 - length * mean**2))


@checked
def trivial_level(task: BaseTask, length: Any) -> float:
    """R2 on ``task`` (one of ``ATOMIC``'s) at ``length`` of the best answer known here that learns no skill, else 0.

    0 is what one number for the whole batch scores; that nothing simple does better on the other tasks is not proved.
    """
    length = task.check_length(length)
    if task.name == "Shift":
        return shift_level(task.copies)  # type: ignore[attr-defined]
    known = {"CumMax": cummax_level, "Sort": sort_level, "MIPS": mips_level, "ContextShift": context_shift_level}
    return known.get(task.name, lambda length: 0.0)(length)
