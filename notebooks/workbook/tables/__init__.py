"""The papers' tables and figures, declared: rows, tasks, budgets, the paper's numbers.  Records go to ``data/``.

``get(name)`` is a ``Table``, ``plan`` lists runs of one, ``run_all`` performs them: several at a time, on a cluster if
that is asked for, going on where they were interrupted.  ``reproduce`` is both in one.

>>> get("lrnn/table2").tasks
('sum', 'evenpair', 'modarith')
>>> [found["metrics"]["levels"] for found in reproduce("lrnn/fig1", rows=["8"])]
[3]
"""

from workbook.tables.lrnn_training import levels, train
from workbook.tables.registry import TABLES, get, plan
from workbook.tables.runner import perform, reproduce, run_all
from workbook.tables.table import BUDGETS, PROTOCOLS, Run, Setting, Table

__all__ = [
    "BUDGETS", "PROTOCOLS", "TABLES", "Run", "Setting", "Table", "get", "levels", "perform", "plan", "reproduce",
    "run_all", "train",
]  # fmt: skip
