"""Table 4 of paper 004 at a small size: DLR, S4D, S4 and attention on stand-ins for the Long Range Arena and speech.

The paper's data must be downloaded and its runs take GPU days.  So every task here is a *stand-in*: small generated data
of the same kind (``tasks.long_range``), named so in every record.  A number on a stand-in says nothing about the
published task: ``table`` prints the paper's numbers in a table of their own.  There is no stand-in for Path-X.

All rows have width 32, two blocks with LayerNorm before (behind, for Pathfinder), max over time, and one recipe: AdamW,
a tenth of the steps to warm up, then a cosine to 0.  ``dlr`` follows Table 9 where that can be made small: it reads in
both directions, a GLU stands behind it, and dt is the paper's; it has 64 modes instead of 256 to 2,048, and no dropout.
``s4d`` (its "inv" start) and ``s4`` have their own gate and 64 states; ``attention``, which stands for the Transformer,
is the paper's attention layer (Sec. 3.3) with two feed-forward layers, 4 heads of 8.  These three look back only.

The score is the accuracy on the test split by the weights of the best validation; the last weights' accuracy is kept
too.  Seeds change weights and batches, not the data.

Letters: B batch, T time, D width, N state size.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pandas as pd

from lrnnlab.models import S4, S4D
from lrnnlab.models.attention import RotaryAttention
from lrnnlab.models.dlr import DLR
from lrnnlab.tables.stand_ins import here, learn, line
from lrnnlab.tables.table import Table, by_setting

TASKS = ("listops", "text", "retrieval", "pathfinder", "speech")
ROWS = ("dlr", "s4d", "s4", "attention")
MIXERS = {"dlr": DLR, "s4d": S4D, "s4": S4, "attention": RotaryAttention}
STEP_SIZES = {  # Table 9: dt, that is, how fast DLR's modes fade at the start
    "listops": (1e-3, 0.5), "text": (0.2, 0.5), "retrieval": (0.05, 0.5), "pathfinder": (1e-4, 0.1),
    "speech": (1e-3, 0.5),
}  # fmt: skip
GATES = {
    "dlr": {"gate": "full_glu"}, "attention": {"gate": "linear", "activation": "identity"},
    "s4": {"gate": "none", "activation": "identity"}, "s4d": {"gate": "none", "activation": "identity"},
}  # fmt: skip
ITEMS = {"live": {"train": 48, "val": 16, "test": 16}, "desk": {"train": 2000, "val": 300, "test": 500}}
STEPS = {"live": 2, "desk": 300}
BATCH = {"pathfinder": 16, "speech": 8}  # at the desk; others 32
PAPER = pd.DataFrame(
    {"Transformer": (36.4, 64.3, 57.5, 71.4, None, None), "S4D-Inv": (60.2, 87.3, 91.1, 93.8, 92.8, None),
     "S4-LegS": (59.6, 86.8, 90.9, 94.2, 96.4, 98.3), "DLR": (60.5, 86.7, 89.1, 92.5, 94.5, 97.1)},
    index=["ListOps", "Text", "Retrieval", "Pathfinder", "Path-X", "Speech Commands"],
)  # fmt: skip


def setting(row: str, task: str, budget: str) -> dict:
    """One model on one stand-in: 300 steps on 2,000 items at the desk; live 2 steps on 48, to see that it runs.

    >>> setting("dlr", "text", "desk")["options"]["dt"]
    (0.2, 0.5)
    """
    options = {
        "dlr": {"state": 64, "dt": STEP_SIZES[task], "bidirectional": True}, "s4d": {"state": 64, "init": "inv"},
        "s4": {"state": 64}, "attention": {"heads": 4, "head_size": 8, "ff": 64},
    }[row]  # fmt: skip
    place = "post" if task == "pathfinder" else "pre"
    return {"task": task, "mixer": row, "options": options, "layers": 2, "width": 32,
            "block": {**GATES[row], "norm": "layer", "place": place}, "items": ITEMS[budget], "data_seed": 0,
            "batch": 8 if budget == "live" else BATCH.get(task, 32), "steps": STEPS[budget],
            "warmup": STEPS[budget] // 10, "rate": 3e-3, "recurrent_rate": 1e-3, "decay": 0.05,
            "looks": 1 if budget == "live" else 5}  # fmt: skip


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


# Scored on a stand-in: the paper's data is not here.
TABLE = Table("dlr/table4", ROWS, TASKS, setting, by_setting(measure), line, partial(here, paper=PAPER),
              ("live", "desk"), aliases={"ours": "dlr"}, paper=PAPER,
              score=lambda record: record["metrics"]["accuracy"], scored="of a stand-in's test items")  # fmt: skip
