"""Table 2 of paper 003 (Irie, Csordas, Schmidhuber 2023): what the delta rule is for.  One layer, Dyck-1 and its reset.

To count brackets is enough for Dyck-1, and addition counts; reset Dyck-1 wants a memory that can be wiped, and no
linear Transformer of one layer has that: ``((1()`` and ``1((()`` are the same to it (Sec. 4.2; ``lrnnlab.algebra``).
Rows, configurations and scores are those of ``fwp_table1``, and so are the budgets, but for 2,000 batches at the desk.

Found there (seeds 0..2): of reset Dyck-1's Bin0 linear has 47 to 55 % right (paper: 44.5), the three delta rules 89 to
100 %; none of these three is near the paper's 100 on Bin1, in either task.
"""

from __future__ import annotations

from collections.abc import Sequence

from lrnnlab.tables import fwp_table1
from lrnnlab.tables.fwp_table1 import ALIASES, BUDGETS, line, measure
from lrnnlab.tables.measuring import grid

__all__ = ["ALIASES", "NAME", "PAPER", "ROWS", "TASKS", "line", "measure", "setting", "table"]

NAME = "fwp/table2"
TASKS = ("dyck_1", "reset_dyck_1")
PAPER = {  # row: (Bin0, Bin1) by task
    "linear": ((100.0, 100.0), (44.5, 41.1)),
    **dict.fromkeys(("deltanet", "recurrent_delta", "srwm"), ((100.0, 100.0), (100.0, 100.0))),
}
ROWS = tuple(PAPER)
DESK = {"stages": [(200, fwp_table1.SHORT), (1800, 40)], "sure": 1e-3}  # counting takes longer to learn


def setting(row: str, task: str, budget: str) -> dict:
    """One cell of the table.  ``ValueError`` for a row, a task or a budget that is not there.

    >>> setting("deltanet", "reset_dyck_1", "desk")["options"]["layers"]
    1
    """
    row = ALIASES.get(row, row)
    grid([row], ROWS, "row", NAME)
    grid([task], TASKS, "task", NAME)
    grid([budget], BUDGETS, "budget", NAME)
    cell = fwp_table1.cell(row, task, budget, fwp_table1.configuration(row, task))
    return {**cell, **DESK} if budget == "desk" else cell


def table(records: Sequence[dict]) -> str:
    """As Table 1's: the paper's Bin0/Bin1 and our three scores."""
    return fwp_table1.side_by_side(records, TASKS, PAPER)
