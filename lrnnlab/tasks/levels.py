"""What a score means before anything has been learnt."""

import numpy as np

from lrnnlab.errors import number, whole_number


def best_of_checks(level, checks=40, strings=128):
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
