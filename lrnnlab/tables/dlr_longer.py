"""More steps than in ``dlr/table1``, on atomic tasks that a net does not know after those.  Ours.

At L = 128 the steps of ``dlr/table1`` leave six layers of DLR with Solve and Select near 0 and Reverse near .7, and two and
six layers of attention and of SGConv with nothing of tasks that they have in the paper or at 64; at L = 512 six layers of
DLR have Reverse near 0 and CumMax at what the best linear map has.  Is that what the net can do, or what it has learned so
far?  A row is how many times the steps, of six layers of DLR (``4``) or of another row of ``dlr/table1``
(``attention_6_4``); the rate falls over all of them.  The rest is the cell of ``dlr/table1``.
"""

from __future__ import annotations

from collections.abc import Sequence

from lrnnlab.tables.dlr_table1 import measure, short
from lrnnlab.tables.table import by_setting, load
from lrnnlab.tables.text import in_order
from lrnnlab.tasks.atomic import ATOMIC


def beside(records: Sequence[dict], plain: Sequence[dict]) -> list[dict]:
    """For each record: steps and R2 of the same seed with the steps of ``dlr/table1``, and with more.

    >>> run = {"task": "reverse-128", "seed": 0, "metrics": {"steps": 10, "r2": 0.4, "learned_at": None}}
    >>> longer = {**run, "row": "4", "metrics": {"steps": 40, "r2": 0.95, "learned_at": 35}}
    >>> list(beside([longer], [{**run, "row": "dlr_6"}])[0].values())
    ['dlr', 6, 'Reverse', 128, '10', '.40', '40', '.95', '35']
    """
    known = {(one["row"], one["task"], one["seed"]): one["metrics"] for one in plain}
    body = []
    for record in in_order(records, TABLE.rows, TABLE.tasks):
        row = record["row"].rpartition("_")[0] or "dlr_6"
        if (row, record["task"], record["seed"]) not in known:
            raise ValueError(f"no record of dlr/table1, {row}, {record['task']}, seed {record['seed']} stands beside")
        before, after = known[row, record["task"], record["seed"]], record["metrics"]
        (mixer, layers), (name, L), at = row.rsplit("_", 1), record["task"].split("-"), after["learned_at"]
        body.append({"mixer": mixer, "layers": int(layers), "task": ATOMIC[name]().name, "L": int(L),
                     "steps": f"{before['steps']:,}", "R2": short(before["r2"]),
                     "more steps": f"{after['steps']:,}", "R2 then": short(after["r2"]),
                     "R2 .9 at step": "-" if at is None else f"{at:,}"})  # fmt: skip
    return body


TABLE = load("dlr/longer", by_setting(measure))
