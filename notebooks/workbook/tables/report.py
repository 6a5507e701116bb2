"""Records -> tables and lines, of whatever table; and the paper's numbers, recorded ones and live ones side by side."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from workbook.tables.registry import get
from workbook.tables.text import by_cell, one_kind, range_in_percent


def table(records: Sequence[dict]) -> str:
    """Records of one experiment, budget and protocol as text."""
    if not records:
        return "no runs"
    one_kind(records)
    return get(records[0]["experiment"]).text(records)


def line(record: dict) -> str:
    """One record in a few words, whether it was there already, and whether it could not be written.

    >>> made = {"experiment": "lrnn/film", "task": "sum", "row": "softmax", "seed": 0, "wall_seconds": 9.0, "recorded": True}
    >>> line({**made, "metrics": {"accuracy_all": 1.0}})
    'sum softmax seed 0: right 1; 9 s (recorded)'
    """
    said = get(record["experiment"]).line(record)
    if "unwritten" in record:
        return f"{said} (not recorded)"
    return said + (" (recorded)" if record.get("recorded") else "")


def beside(name: str, recorded: Sequence[dict], live: Sequence[dict] = ()) -> pd.DataFrame:
    """By task and row of table ``name``: its score as the paper has it, as recorded and as made just now, in percent.

    A row of shares over seeds is their mean (least to greatest), rounded down, so that 100 is exact.  ``ValueError``
    for a table whose records have no one score.

    >>> run = {"task": "parity", "row": "rnn", "metrics": {"accuracy": 1.0}}
    >>> beside("regulargpt/table1", [run, run]).loc[0, ["paper", "recorded", "live"]].tolist()
    ['98.9', '100', '']
    """
    asked = get(name)
    if asked.score is None:
        raise ValueError(f"{name} has no score that could be set beside the paper's")
    found, now = by_cell(recorded), by_cell(live)

    def shown(cell: Sequence[dict]) -> str:
        return range_in_percent([asked.score(record) for record in cell]) if cell and asked.score else ""

    return pd.DataFrame([
        {"task": task, "row": row, "paper": asked.printed(row, task) if asked.printed else "",
         "recorded": shown(found.get((task, row), [])), "live": shown(now.get((task, row), []))}
        for task in asked.tasks for row in asked.rows if (task, row) in found or (task, row) in now
    ])  # fmt: skip
