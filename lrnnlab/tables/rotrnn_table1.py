"""Table 1 of paper 001 (and its Table 2, speech) at a small size: RotRNN, LRU, S5 and S4D on stand-ins for its data.

The paper's data must be downloaded and its runs take GPU days.  So every task here is a *stand-in*: small generated data
of the same kind (``tasks.long_range``; for ListOps the Arena's own generator, cut to 32 to 128 tokens).  A number on a
stand-in says nothing about the published task; ``table`` prints the paper's numbers in a table of their own.  There is no
stand-in for Path-X.

All rows have width 32, two blocks and one recipe: AdamW, a tenth of the steps to warm up, then a cosine to 0.  RotRNN's
ranges of moduli and angles are those of the paper's Table 3, and the LRU has the same; RotRNN, LRU and S5 have 64 real
numbers as state, S4D 64 for each channel.  On Pathfinder all but S4D read in both directions, as RotRNN in the paper.

As in the paper, the score is the accuracy on the test split by the weights of the best validation; the last weights'
accuracy is kept too.  Seeds change weights and batches, not the data.

Letters: B batch, T time, D width, N state size.
"""

from __future__ import annotations

import math
from functools import partial
from pathlib import Path

import pandas as pd

from lrnnlab.models import LRU, S4D, S5, RotRNN
from lrnnlab.tables.stand_ins import here, learn, line
from lrnnlab.tables.table import Table, by_setting

TASKS = ("listops", "text", "retrieval", "image", "pathfinder", "speech")
ROWS = ("rotrnn", "lru_learned", "lru_recomputed", "s5", "s4d")
MIXERS = {"rotrnn": RotRNN, "lru": LRU, "s5": S5, "s4d": S4D}
RANGES = {  # Table 3: moduli from .. to, angles up to
    "listops": ((0.5, 0.999), math.pi / 100), "text": ((0.5, 0.8), math.pi / 10),
    "retrieval": ((0.5, 0.999), 2 * math.pi), "image": ((0.99, 0.999), 2 * math.pi),
    "pathfinder": ((0.1, 0.9999), math.pi / 10), "speech": ((0.1, 0.9999), math.pi / 10),
}  # fmt: skip
GATES = {"s4d": {"gate": "none", "activation": "identity"}}  # it has its own
ITEMS = {"live": {"train": 16, "val": 8, "test": 8}, "desk": {"train": 2000, "val": 500, "test": 500}}
STEPS = {"live": 2, "desk": 300}
BATCH = {"image": 16, "pathfinder": 16, "speech": 8}  # at the desk; others 32
PAPER = pd.DataFrame(
    {
        "S4": (59.6, 86.8, 90.9, 91.1, 94.2, 96.4, 96.1), "S4D": (60.5, 86.2, 89.5, 88.2, 93.1, 92.0, 95.8),
        "Liquid-S4": (62.8, 89.0, 91.2, 89.5, 94.8, 96.7, 96.8), "S5": (62.2, 89.3, 91.4, 90.1, 95.3, 98.6, 96.8),
        "LRU": (60.2, 89.4, 89.9, 89.0, 95.1, 94.2, None), "LRU (repr.)": (57.9, 89.4, 89.4, 85.2, 90.0, 92.8, 95.2),
        "RotRNN": (61.1, 89.6, 89.9, 85.9, 93.0, 89.2, 95.2),
    },
    index=["ListOps", "Text", "Retrieval", "Image", "Pathfinder", "Path-X", "Speech (Table 2)"],
)  # fmt: skip


def setting(row: str, task: str, budget: str) -> dict:
    """One model on one stand-in: 300 steps on 2,000 items at the desk; live 2 steps on 16, to see that it runs.

    >>> setting("lru_learned", "text", "desk")["options"]["modulus"]
    (0.5, 0.8)
    """
    ring, angle = RANGES[task]
    both = {"bidirectional": task == "pathfinder"}
    options = {
        "rotrnn": {"state": 64, "heads": 8, "gamma": ring, "theta": angle, **both},
        "lru_learned": {"state": 32, "modulus": ring, "phase": angle, "normaliser": "learned", **both},
        "lru_recomputed": {"state": 32, "modulus": ring, "phase": angle, "normaliser": "recomputed", **both},
        "s5": {"state": 64, "blocks": 4, **both}, "s4d": {"state": 64},
    }[row]  # fmt: skip
    return {"task": task, "mixer": row.split("_")[0], "options": options, "layers": 2, "width": 32,
            "block": GATES.get(row, {"gate": "full_glu"}), "items": ITEMS[budget], "data_seed": 0,
            "batch": 8 if budget == "live" else BATCH.get(task, 32), "steps": STEPS[budget],
            "warmup": STEPS[budget] // 10, "rate": 3e-3, "recurrent_rate": 1e-3, "decay": 0.05,
            "looks": 1 if budget == "live" else 10}  # fmt: skip


def measure(setting: dict, seed: int, progress: bool = False, checkpoint: Path | None = None) -> dict:
    """Train; ``accuracy`` on the test split by the weights of the best validation, ``accuracy_last`` by the last.

    >>> found = measure(setting("s5", "listops", "live"), seed=0)["metrics"]
    >>> found["steps"], 0 <= found["accuracy"] <= 1
    (2, True)
    """
    return learn(setting, seed, "table1/train", MIXERS, progress, checkpoint)


# Scored on a stand-in: the paper's data is not here.
TABLE = Table("rotrnn/table1", ROWS, TASKS, setting, by_setting(measure), line,
              partial(here, paper=PAPER, more=" (image: 180)"), ("live", "desk"), aliases={"ours": "rotrnn"}, paper=PAPER,
              score=lambda record: record["metrics"]["accuracy"], scored="of a stand-in's test items")  # fmt: skip
