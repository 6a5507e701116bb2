"""How wide one layer of DLR must be for Reverse: R2 by width and length.  Ours; it says when "one layer fails".

Paper 004, Table 1, has R2 .01 for one layer of width 128 at L = 4096, D/L = 1/32.  A layer of D convolutions cannot reverse
more than about 2 D numbers (``dlr_table1.needed``), so what it reaches depends on D/L.  A row is a width; the rest is the
cell of ``dlr/table1``.

Letters: L length, D width.
"""

from __future__ import annotations

from collections.abc import Sequence

from lrnnlab.tables.dlr_table1 import measure
from lrnnlab.tables.table import by_setting, load


def by_share(records: Sequence[dict]) -> dict[int, dict[float, list[float]]]:
    """By length, then by D/L in growing order: R2 of every seed.

    >>> by_share([{"task": "reverse-32", "row": row, "metrics": {"r2": 0.5}} for row in ("16", "8")])
    {32: {0.25: [0.5], 0.5: [0.5]}}
    """
    found: dict[int, dict[float, list[float]]] = {}
    for record in sorted(records, key=lambda record: int(record["row"])):
        L = int(record["task"].split("-")[1])
        found.setdefault(L, {}).setdefault(int(record["row"]) / L, []).append(record["metrics"]["r2"])
    return found


TABLE = load("dlr/width", by_setting(measure))
