"""Table 4 of paper 004 at a small size: DLR, S4D, S4 and attention on stand-ins for the Long Range Arena and speech.

Data, recipe and score: ``tables.surrogate_data``; settings: ``dlr_table4.yaml``.  Blocks have LayerNorm before (behind, for
Pathfinder) and the maximum over time.  ``dlr`` follows Table 9 where that can be made small: it reads in both directions, a
GLU stands behind it, and dt is the paper's; it has 64 modes instead of 256 to 2,048, and no dropout.  ``s4d`` (its "inv"
start) and ``s4`` have their own gate and 64 states; ``attention``, which stands for the Transformer, is the paper's
attention layer (Sec. 3.3) with two feed-forward layers.  These three look back only.

At the budget ``paper`` sizes and rates are those of Table 9, for all rows (but the states of S4 and S4D; the paper
trained DLR only, and took the other numbers from elsewhere).  Not as there: dropout is shared over time; the steps of
the warm-up, a tenth, are ours; Speech has the published split.

Letters: B batch, T time, D width, N state size.
"""

from __future__ import annotations

from pathlib import Path

from lrnnlab.models import S4, S4D
from lrnnlab.models.attention import RotaryAttention
from lrnnlab.models.dlr import DLR
from workbook.tables.surrogate_data import learn
from workbook.tables.table import by_setting, load

MIXERS = {"dlr": DLR, "s4d": S4D, "s4": S4, "attention": RotaryAttention}


def measure(setting: dict, seed: int, progress: bool = False, checkpoint: Path | None = None) -> dict:
    """Train; ``accuracy`` on the test split by the weights of the best validation, ``accuracy_last`` by the last.

    >>> found = measure(TABLE.setting("dlr", "listops", "live"), seed=0)
    >>> found["data"], found["metrics"]["steps"]
    ('ListOps (stand-in)', 2)
    """
    return learn(setting, seed, "table4/train", MIXERS, progress, checkpoint, **pooling(setting))


def pooling(setting: dict) -> dict:
    """The maximum over time, of what a norm has levelled."""
    return {"pool": "max", "final_norm": setting["block"]["place"] == "pre"}


TABLE = load("dlr/table4", by_setting(measure))
