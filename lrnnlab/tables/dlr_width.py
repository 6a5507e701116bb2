"""How wide one layer of DLR must be for Reverse: R2 by width and length.  Ours; it says when "one layer fails".

Paper 004, Table 1, has R2 .01 for one layer of width 128 at L = 4096, D/L = 1/32.  A layer of D convolutions cannot reverse
more than about 2 D numbers (``dlr_table1.needed``), so what it reaches depends on D/L.  A row is a width; the rest is the
cell of ``dlr/table1``.

Letters: L length, D width.
"""

from __future__ import annotations

from collections.abc import Sequence

from lrnnlab.tables.dlr_table1 import cell, line, measure, why_low
from lrnnlab.tables.table import Table, by_setting
from lrnnlab.tables.text import by_cell, lines, spread

ROWS = ("8", "16", "32", "64")
TASKS = ("reverse-32", "reverse-64")


def setting(row: str, task: str, budget: str) -> dict:
    """One layer of DLR of width ``row`` on Reverse.

    >>> setting("16", "reverse-32", "desk")["width"]
    16
    """
    return cell("dlr", 1, "reverse", int(task.split("-")[1]), budget, int(row))


def table(records: Sequence[dict]) -> str:
    """R2 by D/L, and why it is low."""
    body = []
    for (task, row), found in by_cell(records).items():
        L, D = int(task.split("-")[1]), int(row)
        body.append({"D/L": D / L, "L": L, "D": D, "R2": spread([r["metrics"]["r2"] for r in found], 2),
                     "runs": len(found), "why low": why_low(found)})  # fmt: skip
    body.sort(key=lambda line: (line["D/L"], line["L"]))
    return f"{lines('one layer of DLR on Reverse, here', body)}\npaper: .01 at D/L = 1/32 (L = 4096)"


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


TABLE = Table("dlr/width", ROWS, TASKS, setting, by_setting(measure), line, table, budgets=("live", "desk"))
