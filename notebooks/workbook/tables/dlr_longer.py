"""More steps than in ``dlr/table1``, on atomic tasks that a net does not know after those.  Ours.

At L = 128 the steps of ``dlr/table1`` leave six layers of DLR with Solve and Select near 0 and Reverse near .7, and two and
six layers of attention and of SGConv with nothing of tasks that they have in the paper or at 64; at L = 512 six layers of
DLR have Reverse near 0 and CumMax at what the best linear map has.  Is that what the net can do, or what it has learned so
far?  A row is how many times the steps, of six layers of DLR (``4``) or of another row of ``dlr/table1``
(``attention_6_4``); the rate falls over all of them.  The rest is the cell of ``dlr/table1``.
"""

from __future__ import annotations

import pandas as pd

from lrnnlab.tasks.atomic import ATOMIC
from workbook.tables.dlr_table1 import measure, short
from workbook.tables.results import CELL, ordered
from workbook.tables.table import by_setting, load


def beside(longer: pd.DataFrame, plain: pd.DataFrame) -> pd.DataFrame:
    """Steps and R2 of each run, and of the same seed with the steps of ``dlr/table1``; ``KeyError`` where that is not there.

    >>> from workbook.tables.results import runs
    >>> print(*beside(runs("dlr/longer"), runs("dlr/table1")).iloc[0])
    dlr 6 CumMax 512 600 .52 2,400 .99 960
    """
    then = ordered(longer).reset_index(drop=True)
    then["row"] = then["row"].str.rpartition("_")[0].replace("", "dlr_6")
    key = [*CELL, "seed"]
    now = plain.set_index(key).loc[pd.MultiIndex.from_frame(then[key])].reset_index()
    mixers, tasks = then["row"].str.rsplit("_", expand=True, n=1), then["task"].str.split("-", expand=True)
    return pd.DataFrame({
        "mixer": mixers[0], "layers": mixers[1].astype(int), "task": [ATOMIC[name]().name for name in tasks[0]],
        "L": tasks[1].astype(int), "steps": now["steps"].map("{:,}".format), "R2": now["r2"].map(short),
        "more steps": then["steps"].map("{:,}".format), "R2 then": then["r2"].map(short),
        "R2 .9 at step": ["-" if pd.isna(at) else f"{at:,.0f}" for at in then["learned_at"]],
    })  # fmt: skip


TABLE = load("dlr/longer", by_setting(measure))
