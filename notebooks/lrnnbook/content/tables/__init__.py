"""The papers' tables and figures, declared: rows, tasks, budgets, the paper's numbers.  Records go to ``data/``.

``get(name)`` is a ``Table``, ``plan`` lists runs of one, ``run_all`` performs them: several at a time, on a cluster if
that is asked for, going on where they were interrupted.  ``reproduce`` is both in one.  ``runs`` has what is recorded as
a pandas frame, of which ``grid``, ``lines`` and ``reasons`` make tables.

>>> get("lrnn/table2").tasks
('sum', 'evenpair', 'modarith')
>>> [found["metrics"]["levels"] for found in reproduce("lrnn/fig1", rows=["8"])]
[3]
"""

from importlib import import_module
from importlib.util import find_spec

from lrnnbook.content.tables.declared import paper
from lrnnbook.content.tables.lrnn_training import levels, train_run
from lrnnbook.content.tables.registry import plan
from lrnnbook.content.tables.runner import perform, reproduce, run_all
from lrnnbook.content.tables.table import BUDGETS, NAMES, PROTOCOLS, Run, Setting, Table, get

__all__ = [
    "BUDGETS", "NAMES", "PROTOCOLS", "Run", "Setting", "Table", "get", "grid", "levels", "lines", "paper", "perform", "plan",
    "reasons", "reproduce", "run_all", "runs", "train_run",
]  # fmt: skip


def __getattr__(name: str):
    """A module of this folder, or a function of ``results``, loaded when it is asked for: both take time that a run does not need."""
    if name in {"grid", "lines", "reasons", "runs"}:
        return getattr(import_module(f"{__name__}.results"), name)
    if name.startswith("_") or not find_spec(f"{__name__}.{name}"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return import_module(f"{__name__}.{name}")
