"""Table 2 of paper 003 (Irie, Csordas, Schmidhuber 2023): what the delta rule is for.  One layer, Dyck-1 and its reset.

To count brackets is enough for Dyck-1, and addition counts; reset Dyck-1 wants a memory that can be wiped, and no
linear Transformer of one layer has that: ``((1()`` and ``1((()`` are the same to it (Sec. 4.2; ``lrnnlab.algebra``).
Rows, configurations and scores are those of ``fwp_table1``, and so are the budgets, but for 2,000 batches at the desk.
"""

from __future__ import annotations

from functools import partial

from lrnnlab.tables import fwp_table1, fwp_training
from lrnnlab.tables.table import Table

TASKS = ("dyck_1", "reset_dyck_1")
PAPER = {  # row: (Bin0, Bin1) by task
    "linear": ((100.0, 100.0), (44.5, 41.1)),
    **dict.fromkeys(("deltanet", "recurrent_delta", "srwm"), ((100.0, 100.0), (100.0, 100.0))),
}
ROWS = tuple(PAPER)
DESK = {"stages": [(200, fwp_table1.SHORT), (1800, 40)], "sure": 1e-3}  # counting takes longer to learn


def setting(row: str, task: str, budget: str) -> dict:
    """One cell of the table.

    >>> setting("deltanet", "reset_dyck_1", "desk")["options"]["layers"]
    1
    """
    cell = fwp_table1.cell(row, task, budget, fwp_table1.configuration(row, task))
    return {**cell, **DESK} if budget == "desk" else cell


TABLE = Table(
    "fwp/table2", ROWS, TASKS, setting, fwp_table1.TABLE.measure, fwp_training.line,
    partial(fwp_training.table, tasks=TASKS, paper=PAPER), aliases={"ours": "recurrent_delta"}, paper=PAPER,
    score=fwp_training.bin1, scored="whole strings of Bin1", printed=lambda row, task: f"{PAPER[row][TASKS.index(task)][1]:g}",
)  # fmt: skip
