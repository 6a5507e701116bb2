"""Table 1 of paper 003 (Irie, Csordas, Schmidhuber 2023): seven models on three regular and three counter languages.

What its rows and metrics are, and what differs from the paper, is said in ``fwp.yaml``.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from lrnnlab.tasks import COUNTER_TASKS
from workbook.tables import fwp_training
from workbook.tables.table import by_setting, load


def measure(setting: dict, seed: int, **how: Any) -> dict:
    """Train and score one cell of Table 1, Table 2 or the search: see :func:`fwp_training.measure`."""
    return fwp_training.measure(COUNTER_TASKS[setting["task"]](), setting, seed, **how)[1]


TABLE = load("fwp/table1", by_setting(measure))
load("fwp/table2", by_setting(measure))
