"""The coarsest partition of states that their followers respect: what minimising a machine, and a proof, stand on.

Letters: R states, V tokens.
"""

import numpy as np


def coarsest(group: np.ndarray, follow: np.ndarray) -> np.ndarray:
    """The coarsest partition that refines ``group`` (R,) and that ``follow`` (R, V; -1 for nowhere) respects.

    Refined by hashing, and then checked exactly, so that a hash collision cannot make a proof wrong.

    >>> coarsest(np.array([0, 0, 0, 1]), np.array([[1], [2], [3], [3]])).tolist()
    [0, 1, 2, 3]
    """
    start, mix = group, np.random.default_rng(0)
    while True:
        following = np.where(follow >= 0, group[follow], -1)
        finer = equal_rows(_hash(np.column_stack([group, following]), mix))
        if finer.max() == group.max():
            break
        group = finer
    first = np.zeros(group.max() + 1, np.int64)
    first[group[::-1]] = np.arange(len(group))[::-1]
    if not ((start == start[first[group]]).all() and (following == following[first[group]]).all()):
        raise AssertionError("two states were merged by a hash collision: change the seed of the hash")
    return group


def _hash(table: np.ndarray, mix: np.random.Generator) -> np.ndarray:
    factors = mix.integers(1, 2**63, table.shape[1], dtype=np.uint64) | np.uint64(1)
    with np.errstate(over="ignore"):
        mixed = (table.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)) * factors
        mixed ^= mixed >> np.uint64(29)
        return np.sum(mixed * np.asarray(factors)[::-1], 1)


def equal_rows(table: np.ndarray) -> np.ndarray:
    """Equal rows get equal numbers, counted in the order of their first appearance."""
    _, first, inverse = np.unique(table, axis=0, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[inverse.reshape(-1)]
