"""Table 1 of paper 001 (and its Table 2, speech) at a small size: RotRNN, LRU, S5, S4D, S4, Liquid-S4 on stand-ins.

Data, recipe and score: ``tables.surrogate_data``; settings: ``rotrnn_table1.yaml``.  ListOps is the Arena's own generator, cut to
32 to 128 tokens.  RotRNN's ranges of moduli and angles are those of the paper's Table 3, and the LRU has the same; RotRNN,
LRU and S5 have 64 real numbers as state, S4D and S4 64 for each channel.  ``liquid_s4`` is not the released layer, which
looks ahead, but the recurrence of paper 000, Eq. 4 (``models.liquid``), 4 states for each channel.  On Pathfinder RotRNN,
LRU and S5 read in both directions, as RotRNN in the paper.

At the budget ``paper`` sizes, rates and iterations are those of Table 3 for all rows (but the states of S4, S4D and
Liquid-S4), with an epoch to warm up (the paper trained RotRNN and "LRU (repr.)", which is ``lru_recomputed``, and
took the other numbers from elsewhere).

Letters: B batch, T time, D width, N state size.
"""

from __future__ import annotations

from pathlib import Path

from lrnnlab.models import LRU, S4, S4D, S5, LiquidS4, RotRNN
from workbook.tables.surrogate_data import learn
from workbook.tables.table import by_setting, load

MIXERS = {"rotrnn": RotRNN, "lru": LRU, "s5": S5, "s4d": S4D, "s4": S4, "liquid": LiquidS4}


def measure(setting: dict, seed: int, progress: bool = False, checkpoint: Path | None = None) -> dict:
    """Train; ``accuracy`` on the test split by the weights of the best validation, ``accuracy_last`` by the last.

    >>> found = measure(TABLE.setting("s5", "listops", "live"), seed=0)["metrics"]
    >>> found["steps"], 0 <= found["accuracy"] <= 1
    (2, True)
    """
    return learn(setting, seed, "table1/train", MIXERS, progress, checkpoint)


TABLE = load("rotrnn/table1", by_setting(measure))
