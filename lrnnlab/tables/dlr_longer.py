"""Six layers of DLR with more steps, on the atomic tasks that they do not know after those of ``dlr/table1``.  Ours.

At L = 128 the steps of ``dlr/table1`` leave Solve and Select near 0 and Reverse at .74.  Is that what the net can do, or
what it has learned so far?  A row is how many times the steps; the rate falls over all of them.  The rest is the cell of
``dlr/table1``.
"""

from __future__ import annotations

from collections.abc import Sequence

from lrnnlab.tables.dlr_table1 import cell, line, measure
from lrnnlab.tables.table import Table, by_setting
from lrnnlab.tables.text import by_cell, lines, spread

ROWS = ("2", "4", "8")
TASKS = ("reverse-128", "solve-128", "select-64", "select-128")


def setting(row: str, task: str, budget: str) -> dict:
    """Six layers of DLR with ``row`` times the steps.

    >>> setting("4", "solve-128", "desk")["steps"]
    10000
    """
    name, L = task.split("-")
    found = cell("dlr", 6, name, int(L), budget)
    return {**found, "steps": int(row) * found["steps"]}


def table(records: Sequence[dict]) -> str:
    """R2 and the first look at .9 or more, by task and steps."""
    body = []
    for (task, row), found in by_cell(records).items():
        learned = [record["metrics"]["learned_at"] for record in found]
        body.append({"task": task, "steps": f"{found[0]['metrics']['steps']:,}", "times": row,
                     "R2": spread([record["metrics"]["r2"] for record in found], 2), "runs": len(found),
                     "R2 .9 at step": ", ".join("-" if step is None else f"{step:,}" for step in learned)})  # fmt: skip
    return lines("six layers of DLR with more steps than in dlr/table1, here", body)


TABLE = Table("dlr/longer", ROWS, TASKS, setting, by_setting(measure), line, table, budgets=("live", "desk"))
