"""The papers' tables and figures, one module each: rows, budgets, protocol.  Records go to ``data/``.

An experiment module has ``NAME``, ``TASKS``, ``ROWS``, ``ALIASES``, ``setting(row, task, budget)`` and
``for_protocol(setting, protocol)``.

>>> plan("lrnn/table2", tasks=["sum"], rows=["ours"], seeds=[101], budget="live")[0].setting.model
'block_diagonal'
"""

from __future__ import annotations

from collections.abc import Sequence

from lrnnlab.experiments import lrnn_smoothing, lrnn_table2
from lrnnlab.experiments.runner import BUDGETS, PROTOCOLS, Run, Setting, levels, perform, perform_all, train

__all__ = [
    "BUDGETS",
    "EXPERIMENTS",
    "PROTOCOLS",
    "Run",
    "Setting",
    "get",
    "levels",
    "perform",
    "perform_all",
    "plan",
    "train",
]

EXPERIMENTS = {module.NAME: module for module in (lrnn_table2, lrnn_smoothing)}


def get(name: str):
    """The module of an experiment; ``ValueError`` lists the names."""
    if name not in EXPERIMENTS:
        raise ValueError(f"no experiment {name!r}; there are {', '.join(EXPERIMENTS)}")
    return EXPERIMENTS[name]


def plan(
    name: str,
    *,
    tasks: Sequence[str] | None = None,
    rows: Sequence[str] | None = None,
    seeds: Sequence[int] = (0, 1, 2, 3, 4),
    budget: str = "live",
    protocol: str | None = None,
) -> list[Run]:
    """All runs asked for, tasks outermost, seeds innermost; the paper's budget has the paper's protocol by default."""
    module = get(name)
    if budget not in BUDGETS:
        raise ValueError(f"no budget {budget!r}; there are {', '.join(BUDGETS)}")
    protocol = protocol or ("paper" if budget == "paper" else "ours")
    if protocol not in PROTOCOLS:
        raise ValueError(f"no protocol {protocol!r}; there are {', '.join(PROTOCOLS)}")
    return [
        Run(name, task, module.ALIASES.get(row, row), seed, budget, protocol,
            module.for_protocol(module.setting(row, task, budget), protocol))
        for task in tasks or module.TASKS
        for row in rows or module.ROWS
        for seed in seeds
    ]  # fmt: skip
