"""Figure 1 of paper 000 (Fan, Chi, Rudnicky 2024): which products of matrices each level of PScan needs.

Nothing is drawn from memory: the schedule is what ``lrnnlab.scans.paper.products``, the code that runs, does to
matrices that spell.  A letter i is [[R, i], [0, 1]]; such matrices multiply as words are written one after the other,

    [[R, i], [0, 1]] @ [[R, j], [0, 1]] = [[R^2, R j + i], [0, 1]],

so the top row of a product tells how many factors it has and, digit by digit in base R, which and in what order.

Letters: L length with x_0 counted, a power of two; k levels, L = 2^k; R the base.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch

from lrnnbook.content.tables import declared
from lrnnbook.content.tables.table import by_setting, load
from lrnnlab.scans import paper

BASE = 16  # more than any index at L = 16; its longest product is a word of 8 digits, below 2^53, so exact in float64


class Move(NamedTuple):
    """x[target] += A_w1 A_w2 ... x[source], with ``word`` = (w1, w2, ...); positions count from 0, where x_0 is."""

    source: int
    target: int
    word: tuple[int, ...]


def schedule(L: int) -> list[list[Move]]:
    """The moves of every level of a scan of length L = 2, 4, 8 or 16 (x_0 and L - 1 inputs); paper 000, Fig. 1."""
    if L not in (2, 4, 8, 16):
        raise ValueError(f"the schedule is spelt for lengths 2, 4, 8 and 16, got {L!r}")
    letters = torch.eye(2, dtype=torch.float64).repeat(L - 1, 1, 1)  # (L - 1, 2, 2)
    letters[:, 0, 0], letters[:, 0, 1] = BASE, torch.arange(1, L)
    levels = []
    for level in paper.products(letters):  # (groups, half, 2, 2)
        groups, half = level.shape[:2]
        levels.append([
            Move(2 * half * g + half - 1, 2 * half * g + half + j, _read(level[g, j]))
            for g in range(groups) for j in range(half)
        ])  # fmt: skip
    return levels


def _read(product: torch.Tensor) -> tuple[int, ...]:
    """The word that a product of letters spells, leftmost factor first."""
    power, number = (int(entry) for entry in product[0])
    word = []
    while power > 1:
        word.append(number % BASE)
        power, number = power // BASE, number // BASE
    return tuple(word)


def spell(word: Sequence[int]) -> str:
    """As the paper prints it."""
    return "".join(f"A{i}" for i in word)


def measure(setting: dict, seed: int, **how: Any) -> dict:
    """The schedule, how many multiplications of two matrices it takes to make, and how many a level applies."""
    levels = schedule(setting["length"])
    spelt = [[spell(move.word) for move in level] for level in levels]
    theirs = declared.paper("lrnn/fig1")
    printed = theirs["value"][theirs["row"] == str(setting["length"])].tolist()
    metrics = {
        "levels": len(levels),
        "applied": [len(level) for level in levels],
        "made": sum(len(move.word) > 1 for level in levels for move in level),  # each product is made once, used once
        "as_printed": [", ".join(level) for level in spelt] == printed if printed else None,
    }
    return {"metrics": metrics, "schedule": spelt}


TABLE = load("lrnn/fig1", by_setting(measure))
