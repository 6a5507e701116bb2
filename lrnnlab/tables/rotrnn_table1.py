"""Table 1 of paper 001 (and its Table 2, speech) at a small size: RotRNN, LRU, S5, S4D, S4, Liquid-S4 on stand-ins.

Data, recipe and score: ``tables.stand_ins``; ListOps is the Arena's own generator, cut to 32 to 128 tokens. RotRNN's
ranges of moduli and angles are those of the paper's Table 3, and the LRU has the same; RotRNN, LRU and S5 have 64 real
numbers as state, S4D and S4 64 for each channel.  ``liquid_s4`` is not the released layer, which looks ahead, but the
recurrence of paper 000, Eq. 4 (``models.liquid``), 4 states for each channel.  On Pathfinder RotRNN, LRU and S5 read
in both directions, as RotRNN in the paper.

At the budget ``paper`` sizes, rates and iterations are those of Table 3 for all rows (but the states of S4, S4D and
Liquid-S4), with an epoch to warm up (the paper trained RotRNN and "LRU (repr.)", which is ``lru_recomputed``, and
took the other numbers from elsewhere).

Letters: B batch, T time, D width, N state size.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pandas as pd

from lrnnlab.models import LRU, S4, S4D, S5, LiquidS4, RotRNN
from lrnnlab.tables.stand_ins import declared, learn, size

TASKS = ("listops", "text", "retrieval", "image", "pathfinder", "speech")
ROWS = ("rotrnn", "lru_learned", "lru_recomputed", "s5", "s4d", "s4", "liquid_s4")
MIXERS = {"rotrnn": RotRNN, "lru": LRU, "s5": S5, "s4d": S4D, "s4": S4, "liquid": LiquidS4}
RANGES = {  # Table 3: moduli from .. to, angles up to
    "listops": ((0.5, 0.999), math.pi / 100), "text": ((0.5, 0.8), math.pi / 10),
    "retrieval": ((0.5, 0.999), 2 * math.pi), "image": ((0.99, 0.999), 2 * math.pi),
    "pathfinder": ((0.1, 0.9999), math.pi / 10), "path-x": ((0.999, 0.9999), math.pi / 10),
    "speech": ((0.1, 0.9999), math.pi / 10),
}  # fmt: skip
OWN_GATE = {"gate": "none", "activation": "identity"}
GATES = {"s4d": OWN_GATE, "s4": OWN_GATE, "liquid_s4": OWN_GATE}
FULL = {  # Table 3: width, state, rate, recurrent rate, batch, decay, dropout, steps; and the steps of an epoch
    "listops": (128, 256, 1e-3, 1e-3, 32, 0.05, 0.0, 80_000, 3000),
    "text": (256, 192, 1e-3, 1e-3, 32, 0.05, 0.1, 50_000, 781),
    "retrieval": (128, 256, 1e-4, 1e-5, 32, 0.01, 0.1, 50_000, 4596),
    "image": (512, 384, 4.5e-3, 1e-3, 50, 0.05, 0.1, 250_000, 900),
    "pathfinder": (192, 256, 4.5e-3, 1e-3, 64, 0.03, 0.05, 500_000, 2500),
    "path-x": (192, 256, 4.5e-3, 1e-3, 32, 0.03, 0.2, 250_000, 5000),
    "speech": (96, 128, 8e-3, 1e-3, 16, 0.04, 0.1, 212_000, 5302),
}  # fmt: skip
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
    """One model on one stand-in, or on the published files.

    >>> setting("lru_learned", "text", "desk")["options"]["modulus"], setting("rotrnn", "text", "paper")["width"]
    ((0.5, 0.8), 256)
    """
    ring, angle = RANGES[task]
    both = {"bidirectional": task in ("pathfinder", "path-x")}
    block: dict[str, Any] = {**GATES.get(row, {"gate": "full_glu"})}
    if budget == "paper":
        width, state, rate, recurrent_rate, batch, decay, dropout, steps, warmup = FULL[task]
        layers, heads, block["dropout"] = 6, 32, dropout
        shared: dict[str, Any] = {"files": {}, "validation": "test" if task == "text" else "val", "device": "cuda",
                                  "looks": 50, "batch": batch, "steps": steps, "warmup": warmup}  # fmt: skip
    else:
        layers, width, state, heads, rate, recurrent_rate, decay = 2, 32, 64, 8, 3e-3, 1e-3, 0.05
        shared = size(task, budget)
    every: dict[str, dict[str, Any]] = {
        "rotrnn": {"state": state, "heads": heads, "gamma": ring, "theta": angle, **both},
        "lru_learned": {"state": state // 2, "modulus": ring, "phase": angle, "normaliser": "learned", **both},
        "lru_recomputed": {"state": state // 2, "modulus": ring, "phase": angle, "normaliser": "recomputed", **both},
        "s5": {"state": state, "blocks": 4, **both}, "s4d": {"state": 64}, "s4": {"state": 64}, "liquid_s4": {"state": 4},
    }  # fmt: skip
    return {"task": task, "mixer": row.split("_")[0], "options": every[row], "layers": layers, "width": width, "block": block,
            "rate": rate, "recurrent_rate": recurrent_rate, "decay": decay, **shared}  # fmt: skip


def measure(setting: dict, seed: int, progress: bool = False, checkpoint: Path | None = None) -> dict:
    """Train; ``accuracy`` on the test split by the weights of the best validation, ``accuracy_last`` by the last.

    >>> found = measure(setting("s5", "listops", "live"), seed=0)["metrics"]
    >>> found["steps"], 0 <= found["accuracy"] <= 1
    (2, True)
    """
    return learn(setting, seed, "table1/train", MIXERS, progress, checkpoint)


TABLE = declared("rotrnn/table1", ROWS, TASKS, setting, measure, PAPER)
