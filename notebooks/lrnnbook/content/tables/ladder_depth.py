"""How far more layers carry what no number of layers can hold; see ``ladder_depth.yaml``."""

from typing import Any

import numpy as np

from lrnnbook.content.tables.ladder import LENGTH, WINDOW, by_position, ladder_task, trained, windows
from lrnnbook.content.tables.table import by_setting, load
from lrnnlab.training import rng

SHOWN = 100  # positions


def measure(setting: dict, seed: int, **how: Any) -> dict:
    """Train as the ladder does, and count right answers at each of the first positions."""
    made, _ = trained(setting, seed, **how)
    asked = ladder_task(setting["task"])
    right = by_position(made.net, asked, SHOWN, 512, rng(seed, "ladder/depth"))
    share = right[0] / right[1]
    below = np.flatnonzero(share < 0.5)
    metrics = {"trained": float(windows(right)[LENGTH - WINDOW]), "half": int(below[0]) + 1 if len(below) else None,
               "chance": asked.chance, "parameters": sum(p.numel() for p in made.net.parameters())}  # fmt: skip
    return {"metrics": metrics, "accuracy": share.round(4).tolist(), "cpu_seconds": round(made.cpu_seconds, 2)}


TABLE = load("ladder/depth", by_setting(measure))
