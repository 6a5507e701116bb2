"""Table 2 of paper 003 (Irie, Csordas, Schmidhuber 2023): what the delta rule is for.  One layer, Dyck-1 and its reset.

To count brackets is enough for Dyck-1, and addition counts; reset Dyck-1 wants a memory that can be wiped, and no
linear Transformer of one layer has that: ``((1()`` and ``1((()`` are the same to it (Sec. 4.2; ``lrnnlab.expressivity``).
Rows, settings (``fwp.yaml``) and scores are those of ``fwp_table1``.
"""

from __future__ import annotations

from workbook.tables import fwp_table1
from workbook.tables.table import load

TABLE = load("fwp/table2", fwp_table1.TABLE.measure)
