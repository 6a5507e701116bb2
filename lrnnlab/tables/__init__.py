"""The papers' tables and figures, one module each: rows, budgets, protocol.  Records go to ``data/``.

``EXPERIMENTS`` train.  Such a module has ``NAME``, ``TASKS``, ``ROWS``, ``ALIASES``, ``setting(row, task, budget)`` and
``for_protocol(setting, protocol)``.  ``MEASUREMENTS`` end in no table of trained models; what they have is told in
``measuring``.  ``plan`` and ``run_all`` take the name of either kind.

>>> plan("lrnn/table2", tasks=["sum"], rows=["ours"], seeds=[101], budget="live")[0].setting.model
'block_diagonal'
>>> plan("lrnn/growth", tasks=["gaussian"], rows=["clip"])[0].setting["rule"]
'clip'
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

from lrnnlab.tables import (
    dlr_kernels,
    dlr_table2,
    dlr_table4,
    fwp_negative,
    fwp_search,
    fwp_table1,
    fwp_table2,
    lrnn_baseline_rates,
    lrnn_fading,
    lrnn_fig1,
    lrnn_growth,
    lrnn_smoothing,
    lrnn_speed,
    lrnn_table2,
    measuring,
    regulargpt_fig3,
    regulargpt_fig4,
    regulargpt_table1,
    regulargpt_table2,
    regulargpt_table3,
    rotrnn_fig3,
    rotrnn_table1,
)
from lrnnlab.tables.measuring import Measurement
from lrnnlab.tables.runner import BUDGETS, PROTOCOLS, Run, Setting, levels, perform, perform_all, train

__all__ = [
    "BUDGETS",
    "EXPERIMENTS",
    "MEASUREMENTS",
    "PROTOCOLS",
    "Measurement",
    "Run",
    "Setting",
    "get",
    "levels",
    "perform",
    "perform_all",
    "plan",
    "reproduce",
    "run_all",
    "times",
    "train",
]

EXPERIMENTS = {module.NAME: module for module in (lrnn_table2, lrnn_smoothing)}
MEASUREMENTS = {
    module.NAME: module
    for module in (
        lrnn_fig1, lrnn_growth, lrnn_speed, lrnn_baseline_rates, lrnn_fading,
        dlr_table2, dlr_kernels, dlr_table4,
        rotrnn_fig3, rotrnn_table1,
        regulargpt_table1, regulargpt_table2,
        regulargpt_fig3, regulargpt_fig4, regulargpt_table3,
        fwp_table1, fwp_table2, fwp_negative, fwp_search,
    )
}  # fmt: skip


def get(name: str):
    """The module of an experiment of either kind; ``ValueError`` lists the names."""
    known = {**EXPERIMENTS, **MEASUREMENTS}
    if name not in known:
        raise ValueError(f"no experiment {name!r}; there are {', '.join(known)}")
    return known[name]


def plan(
    name: str,
    *,
    tasks: Sequence[str] | None = None,
    rows: Sequence[str] | None = None,
    seeds: Sequence[int] | None = None,
    budget: str = "live",
    protocol: str | None = None,
) -> list[Run] | list[Measurement]:
    """All runs asked for, each once, tasks outermost, seeds innermost.

    The paper's budget has the paper's protocol by default.

    Without ``seeds``: 0..4 where there is something to train, and 0 where there is not.
    """
    module, measures = get(name), name in MEASUREMENTS
    if budget not in BUDGETS:
        raise ValueError(f"no budget {budget!r}; there are {', '.join(BUDGETS)}")
    protocol = protocol or ("paper" if budget == "paper" and not measures else "ours")
    if protocol not in PROTOCOLS:
        raise ValueError(f"no protocol {protocol!r}; there are {', '.join(PROTOCOLS)}")
    if measures and protocol != "ours":
        raise ValueError(f"{name} measures, so it has no protocol {protocol!r}")
    seeds = dict.fromkeys((range(1) if measures else range(5)) if seeds is None else seeds)
    rows = dict.fromkeys(module.ALIASES.get(row, row) for row in rows or module.ROWS)
    tasks = dict.fromkeys(tasks or module.TASKS)
    cells = [(task, row, module.setting(row, task, budget)) for task in tasks for row in rows]
    if measures:
        return [Measurement(name, task, row, seed, budget, setting) for task, row, setting in cells for seed in seeds]
    return [Run(name, task, row, seed, budget, protocol, module.for_protocol(setting, protocol))
            for task, row, setting in cells for seed in seeds]  # fmt: skip


def reproduce(
    name: str, *, tasks: Sequence[str] | None = None, rows: Sequence[str] | None = None,
    seeds: Sequence[int] | None = None, budget: str = "live", protocol: str | None = None, jobs: int = 1,
    data: Path | None = None,
) -> list[dict]:  # fmt: skip
    """The records of (part of) a table or figure of a paper, by its name: :func:`plan`, then :func:`run_all`.

    >>> [found["metrics"]["levels"] for found in reproduce("lrnn/fig1", rows=["8"])]
    [3]
    """
    runs = plan(name, tasks=tasks, rows=rows, seeds=seeds, budget=budget, protocol=protocol)
    return list(run_all(runs, jobs=jobs, data=data))


def run_all(
    runs: Sequence[Run] | Sequence[Measurement], *, jobs: int = 1, data: Path | None = None, reuse: bool = True,
    progress: bool = False, announce: Callable[[int, int], None] | None = None,
) -> Iterator[dict]:  # fmt: skip
    """The records of ``runs`` (of one experiment), in order as they are ready: see :func:`perform_all`.

    Where seconds are the result, one run goes at a time whatever ``jobs``: two clocks disturb each other.

    >>> [record["metrics"]["levels"] for record in run_all(plan("lrnn/fig1", rows=["8"]))]
    [3]
    """
    name = runs[0].experiment if runs else ""
    work = partial(measuring.perform, MEASUREMENTS[name].measure) if name in MEASUREMENTS else perform
    if jobs > 1 and times(name):
        jobs = 1
    return perform_all(runs, work=work, jobs=jobs, data=data, reuse=reuse, progress=progress, announce=announce)


def times(name: str) -> bool:
    """Whether seconds are the result of an experiment.

    >>> times("lrnn/speed"), times("lrnn/table2")
    (True, False)
    """
    return getattr(MEASUREMENTS.get(name), "CLOCK", False)
