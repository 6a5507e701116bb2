"""Table 2 of paper 003 (Irie, Csordas, Schmidhuber 2023): what the delta rule is for.  One layer, Dyck-1 and its reset.

To count brackets is enough for Dyck-1, and addition counts; reset Dyck-1 wants a memory that can be wiped, and no
linear Transformer of one layer has that: ``((1()`` and ``1((()`` are the same to it (Sec. 4.2; ``lrnnlab.algebra``).
Rows, settings and scores are those of ``fwp_table1``.
"""

from __future__ import annotations

from functools import partial

from lrnnlab.tables import fwp_table1, fwp_training
from lrnnlab.tables.table import Table

TASKS = ("dyck_1", "reset_dyck_1")
PAPER = {  # row: (Bin0, Bin1) by task
    "linear": ((100.0, 100.0), (44.5, 41.1)),
    **dict.fromkeys(fwp_table1.ROWS[4:], ((100.0, 100.0), (100.0, 100.0))),  # those near addition: of their models
}
ROWS = tuple(PAPER)

TABLE = Table(
    "fwp/table2", ROWS, TASKS, fwp_table1.setting, fwp_table1.TABLE.measure, fwp_training.line,
    partial(fwp_training.table, tasks=TASKS, paper=PAPER, impossible=fwp_table1.NOT_EXPRESSIBLE),
    aliases={"ours": "recurrent_delta"}, paper=PAPER,
    score=fwp_training.bin1, scored="whole strings of Bin1", printed=lambda row, task: f"{PAPER[row][TASKS.index(task)][1]:g}",
)  # fmt: skip
