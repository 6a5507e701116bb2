"""What R2 means on the atomic tasks of paper 004 before anything has been learnt.

Letters: L the paper's length, C shifts, a the largest absolute value of a sequence before it is divided by it.

Answering one number for the whole batch scores 0 by definition of R2.  Three tasks give more for next to nothing, and
some numbers in the paper's tables 1 and 2 are just these levels: .22 for Shift, .51 and .52 for CumMax, .48 to .51 for
Sort.
"""

import numpy as np
from scipy.integrate import trapezoid
from scipy.stats import norm

from lrnnlab.tasks.base import whole_number


def largest_of_normals(length, points):
    """(points,) values of a = max |x_i| of ``length`` standard normals, at equally probable quantiles."""
    quantile = (np.arange(points) + 0.5) / points
    return norm.isf((1 - quantile ** (1 / length)) / 2)


def shift_level(copies=8):
    """R2 of copying the input into column j = 0 and answering 0 in the others: 2 / (C + 1).

    Column j holds L - jL/C numbers of one variance, the rest zeros: in all the variance of L (C + 1) / 2 numbers, of
    which column 0 has L.  (The mean of a batch is taken as 0.)  It is the .22 in the paper's table 2.

    >>> round(shift_level(8), 3)
    0.222
    """
    return 2 / (whole_number(copies, 1, "the number of copies") + 1)


def cummax_level(length, points=32):
    """R2 of answering the mean of each position, whatever the input: y_i = E[max(x_0..x_i) / max|x|].

    Given a, one of the L numbers (each as likely) has absolute value a, the others are normals cut off at +-a; so the
    two moments of y_i are one-dimensional integrals over F(u)^k, F the cut normal's distribution function.  Averaged
    over ``points`` equally probable values of a.  ValueError for a length below 2 (one number is always +-1).

    >>> [round(cummax_level(length), 3) for length in (64, 512)]
    [0.457, 0.476]
    """
    length = whole_number(length, 2, "a length")
    u = np.linspace(-1, 1, 801)
    k = np.arange(length + 1)[:, None]  # how many cut normals the maximum runs over; of none it is -1
    seen = np.arange(1, length + 1) / length  # P(the number of largest size is among x_0..x_i)
    moments = np.zeros((2, length))
    for a in largest_of_normals(length, points):
        below = (norm.cdf(a * u) - norm.cdf(-a)) / (2 * norm.cdf(a) - 1)
        power = below ** k
        first, second = 1 - trapezoid(power, u), 1 - trapezoid(2 * u * power, u)
        for row, moment in zip(moments, (first, second)):
            # it is seen and positive (then y = 1), seen and negative (then it does not count), or not seen yet
            row += (seen / 2 * (1 + moment[:-1]) + (1 - seen) * moment[1:]) / points
    mean, square = moments
    return float(1 - (square - mean**2).mean() / (square.mean() - mean.mean() ** 2))


def sort_level(length, points=16):
    """R2 of E[y_i | x_0, i] for Sort: the answer that knows the first number and the position, and sorts nothing.

    Given a, the i-th nearest of the L numbers lies at the distance d from x_0 where the mass of [x_0 - d, x_0 + d] is
    i / L, at x_0 + d or x_0 - d with odds as the densities there.  a is not known, so the mean is also over ``points``
    equally probable values of it, weighted by the density of x_0.  The distance is taken as certain, and the number of
    size a as one like the others: errors of order 1 / L.
    (Simulated, with a polynomial in x_0 for each position: .49 at L = 256 and 512; this gives .51 and .50.)

    >>> round(sort_level(512), 2)
    0.5
    """
    length = whole_number(length, 2, "a length")
    first, rank, step = np.linspace(-0.995, 0.995, 100), (np.arange(400) + 0.5) / 400, np.linspace(0, 2, 1000)
    weights, answers, variance = [], [], 0.0
    for a in largest_of_normals(length, points):
        total = 2 * norm.cdf(a) - 1
        variance += (1 / a**2 - 2 * norm.pdf(a) / (a * total)) / points
        weights.append(a * norm.pdf(a * first) / total)
        for x in first:
            mass = (norm.cdf(a * np.minimum(x + step, 1)) - norm.cdf(a * np.maximum(x - step, -1))) / total
            d = np.interp(rank, mass, step)
            right, left = norm.pdf(a * (x + d)) * (x + d <= 1), norm.pdf(a * (x - d)) * (x - d >= -1)
            answers.append(x + d * (right - left) / (right + left))
    weights, answers = np.array(weights), np.array(answers).reshape(points, len(first), len(rank))
    mean = (weights[:, :, None] * answers).sum(0) / weights.sum(0)[:, None]  # E[y | x_0, rank]
    explained = np.average((mean**2).mean(1), weights=weights.sum(0))
    return float(explained / variance)  # the mean of all numbers is 0


def trivial_level(task, length):
    """R2 on ``task`` (one of ``ATOMIC``'s) at ``length`` of the best answer known here that learns no skill, else 0.

    0 is what one number for the whole batch scores; that nothing simple does better on the other tasks is not proved.

    >>> from lrnnlab.tasks.atomic import Reverse, Shift
    >>> round(trivial_level(Shift(), 64), 3), trivial_level(Reverse(), 64)
    (0.222, 0.0)
    """
    length = task.check_length(length)
    if task.name == "Shift":
        return shift_level(task.copies)
    return {"CumMax": cummax_level, "Sort": sort_level}.get(task.name, lambda length: 0.0)(length)
