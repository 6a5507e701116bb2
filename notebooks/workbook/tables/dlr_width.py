"""How wide one layer of DLR must be for Reverse: R2 by width and length.  Ours; it says when "one layer fails".

Paper 004, Table 1, has R2 .01 for one layer of width 128 at L = 4096, D/L = 1/32.  A layer of D convolutions cannot reverse
more than about 2 D numbers (``dlr_table1.needed``), so what it reaches depends on D/L.  A row is a width; the rest is the
cell of ``dlr/table1``.

Letters: L length, D width.
"""

from __future__ import annotations

from workbook.tables.dlr_table1 import measure
from workbook.tables.table import by_setting, load

TABLE = load("dlr/width", by_setting(measure))
