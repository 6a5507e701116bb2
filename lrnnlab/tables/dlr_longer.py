"""Six layers of DLR with more steps, on the atomic tasks that they do not know after those of ``dlr/table1``.  Ours.

At L = 128 the steps of ``dlr/table1`` leave Solve and Select near 0 and Reverse near .7, at L = 512 Reverse near 0 and
CumMax at what the best linear map has.  Is that what the net can do, or what it has learned so far?  A row is how many
times the steps; the rate falls over all of them.  The rest is the cell of ``dlr/table1``.
"""

from __future__ import annotations

from collections.abc import Sequence

from lrnnlab.tables.dlr_table1 import cell, line, measure, short
from lrnnlab.tables.table import Table, by_setting
from lrnnlab.tables.text import by_cell, in_order, lines, spread
from lrnnlab.tasks.atomic import ATOMIC

ROWS = ("2", "4", "8")
TASKS = ("cummax-512", "reverse-128", "reverse-512", "solve-128", "select-64", "select-128")


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


def beside(records: Sequence[dict], plain: Sequence[dict]) -> list[dict]:
    """For each record: steps and R2 of the same seed with the steps of ``dlr/table1``, and with more.

    >>> run = {"task": "reverse-128", "seed": 0, "metrics": {"steps": 10, "r2": 0.4, "learned_at": None}}
    >>> longer = {**run, "row": "4", "metrics": {"steps": 40, "r2": 0.95, "learned_at": 35}}
    >>> list(beside([longer], [{**run, "row": "dlr_6"}])[0].values())
    ['Reverse', 128, '10', '.40', '40', '.95', '35']
    """
    known = {(one["task"], one["seed"]): one["metrics"] for one in plain if one["row"] == "dlr_6"}
    body = []
    for record in in_order(records, ROWS, TASKS):
        if (record["task"], record["seed"]) not in known:
            raise ValueError(f"no record of dlr/table1, dlr_6, {record['task']}, seed {record['seed']} stands beside")
        before, after, (name, L) = known[record["task"], record["seed"]], record["metrics"], record["task"].split("-")
        at = after["learned_at"]
        body.append({"task": ATOMIC[name]().name, "L": int(L), "steps": f"{before['steps']:,}", "R2": short(before["r2"]),
                     "more steps": f"{after['steps']:,}", "R2 then": short(after["r2"]),
                     "R2 .9 at step": "-" if at is None else f"{at:,}"})  # fmt: skip
    return body


TABLE = Table("dlr/longer", ROWS, TASKS, setting, by_setting(measure), line, table, budgets=("live", "desk"))
