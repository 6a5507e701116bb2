"""Table 4 of paper 004 at a small size: DLR, S4D, S4 and attention on stand-ins for the Long Range Arena and speech.

Data, recipe and score: ``tables.stand_ins``.  Blocks have LayerNorm before (behind, for Pathfinder) and the maximum
over time.  ``dlr`` follows Table 9 where that can be made small: it reads in both directions, a GLU stands behind it,
and dt is the paper's; it has 64 modes instead of 256 to 2,048, and no dropout.  ``s4d`` (its "inv" start) and ``s4``
have their own gate and 64 states; ``attention``, which stands for the Transformer, is the paper's attention layer
(Sec. 3.3) with two feed-forward layers, 2 heads of 16 (a CPU takes three times as long for 4 of 8).  These three look
back only.

At the budget ``paper`` sizes and rates are those of Table 9, for all rows (but the states of S4 and S4D; the paper
trained DLR only, and took the other numbers from elsewhere).  Not as there: dropout is shared over time; the steps of
the warm-up, a tenth, are ours; Speech has the published split.

Letters: B batch, T time, D width, N state size.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd

from lrnnlab.models import S4, S4D
from lrnnlab.models.attention import RotaryAttention
from lrnnlab.models.dlr import DLR
from lrnnlab.tables.stand_ins import declared, learn, size
from lrnnlab.tasks.long_range import TEN_WORDS

TASKS = ("listops", "text", "retrieval", "pathfinder", "speech")
ROWS = ("dlr", "s4d", "s4", "attention")
MIXERS = {"dlr": DLR, "s4d": S4D, "s4": S4, "attention": RotaryAttention}
STEP_SIZES = {  # Table 9: dt, that is, how fast DLR's modes fade at the start
    "listops": (1e-3, 0.5), "text": (0.2, 0.5), "retrieval": (0.05, 0.5), "pathfinder": (1e-4, 0.1),
    "path-x": (1e-4, 0.1), "speech": (1e-3, 0.5),
}  # fmt: skip
GATES = {
    "dlr": {"gate": "full_glu"}, "attention": {"gate": "linear", "activation": "identity"},
    "s4": {"gate": "none", "activation": "identity"}, "s4d": {"gate": "none", "activation": "identity"},
}  # fmt: skip
FULL = {  # Table 9: layers, width, modes, rate, batch, steps (of 200 epochs, where it has no other number), decay, dropout
    "listops": (6, 128, 1024, 4e-4, 50, 320_000, 0.05, 0.2), "text": (4, 128, 256, 1e-4, 128, 39_000, 0.0, 0.3),
    "retrieval": (6, 256, 256, 1e-4, 32, 150_000, 0.05, 0.05), "pathfinder": (6, 256, 1024, 4e-4, 64, 500_000, 0.03, 0.05),
    "path-x": (6, 256, 2048, 1e-4, 16, 500_000, 0.05, 0.0), "speech": (6, 128, 2048, 1e-4, 20, 300_000, 0.0, 0.05),
}  # fmt: skip
FILES = {"listops": {"length": 2048}, "text": {"length": 2048}, "speech": {"words": TEN_WORDS}}
PAPER = pd.DataFrame(
    {"Transformer": (36.4, 64.3, 57.5, 71.4, None, None), "S4D-Inv": (60.2, 87.3, 91.1, 93.8, 92.8, None),
     "S4-LegS": (59.6, 86.8, 90.9, 94.2, 96.4, 98.3), "DLR": (60.5, 86.7, 89.1, 92.5, 94.5, 97.1)},
    index=["ListOps", "Text", "Retrieval", "Pathfinder", "Path-X", "Speech Commands"],
)  # fmt: skip


def setting(row: str, task: str, budget: str) -> dict:
    """One model on one stand-in, or on the published files.

    >>> setting("dlr", "text", "desk")["options"]["dt"], setting("dlr", "text", "paper")["files"]
    ((0.2, 0.5), {'length': 2048})
    """
    block: dict[str, Any] = {**GATES[row], "norm": "layer", "place": "post" if task in ("pathfinder", "path-x") else "pre"}
    if budget == "paper":
        layers, width, state, rate, batch, steps, decay, dropout = FULL[task]
        heads, recurrent_rate, block["dropout"] = 4, rate, dropout
        shared: dict[str, Any] = {"files": FILES.get(task, {}), "validation": "test" if task == "text" else "val", "looks": 50,
                                  "device": "cuda", "batch": batch, "steps": steps, "warmup": steps // 10}  # fmt: skip
    else:
        layers, width, state, heads, rate, recurrent_rate, decay = 2, 32, 64, 2, 3e-3, 1e-3, 0.05
        shared = size(task, budget)
    every: dict[str, dict[str, Any]] = {
        "dlr": {"state": state, "dt": STEP_SIZES[task], "bidirectional": True}, "s4d": {"state": 64, "init": "inv"},
        "s4": {"state": 64}, "attention": {"heads": heads, "head_size": width // heads, "ff": 2 * width},
    }  # fmt: skip
    if (budget, row, task) == ("paper", "dlr", "speech"):
        every[row]["max_kernel"] = 2048
    return {"task": task, "mixer": row, "options": every[row], "layers": layers, "width": width, "block": block,
            "rate": rate, "recurrent_rate": recurrent_rate, "decay": decay, **shared}  # fmt: skip


def measure(setting: dict, seed: int, progress: bool = False, checkpoint: Path | None = None) -> dict:
    """Train; ``accuracy`` on the test split by the weights of the best validation, ``accuracy_last`` by the last.

    >>> found = measure(setting("dlr", "listops", "live"), seed=0)
    >>> found["data"], found["metrics"]["steps"]
    ('ListOps (stand-in)', 2)
    """
    return learn(setting, seed, "table4/train", MIXERS, progress, checkpoint, **pooling(setting))


def pooling(setting: dict) -> dict:
    """The maximum over time, of what a norm has levelled."""
    return {"pool": "max", "final_norm": setting["block"]["place"] == "pre"}


TABLE = declared("dlr/table4", ROWS, TASKS, setting, measure, PAPER)
