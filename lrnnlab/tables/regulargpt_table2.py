"""Table 2 of paper 002 (Chi, Fan, Rudnicky, Ramadge 2023): Parity where a 1 has another probability than 1/2.

A task is p: the net is trained and asked on strings whose bits are 1 with probability p, lengths up to 40 in
training. ``accuracy_seen`` is at length 40 ("same length"), ``accuracy`` beyond ("extrapolation"); nets, budgets and
training are those of ``regulargpt_table1``, but that the tree's lengths have four times as many steps to grow.  At
the desk 16 strings (RNN: 32) are asked at every 9th length (25th: Transformer). Another reading of the paper ("we
alter the probability used to sample 1s") is that only the strings of the test change. So every net is also asked at
the other p, ``elsewhere``.

Letters: p = P(1), T time.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from statistics import fmean

import pandas as pd

from lrnnlab.tables.regulargpt_table1 import line, percent, recipe, score, trained, training_of
from lrnnlab.tables.table import Table, by_setting
from lrnnlab.tables.text import grid
from lrnnlab.tasks.string_tasks import Parity
from lrnnlab.training.evaluation import accuracy_at_lengths
from lrnnlab.training.steady import stream

__all__ = ["MEASURES", "PAPER", "ROWS", "TABLE", "TASKS", "measure", "percent", "setting"]

TASKS = ("0.1", "0.3", "0.5", "0.7", "0.9")
ROWS = ("regulargpt_c2", "rnn", "transformer")
PAPER = {  # row: percent right at length 40, and at 41..500, by p; means over 3 seeds
    "regulargpt_c2": ((100, 100, 100, 100, 100), (100, 100, 100, 100, 100)),
    "rnn": ((100, 100, 100, 100, 100), (100, 100, 100, 100, 100)),
    "transformer": ((98.4, 99.8, 99.6, 97.8, 77.2), (50.1, 49.7, 50.3, 49.9, 50.0)),
}
STEPS = 2400  # at most, of the tree; the lengths grow for half of them
MEASURES = {"accuracy_seen": "same length (40)", "accuracy": "extrapolation (42..500)"}


def setting(row: str, task: str, budget: str) -> dict:
    """One row at one p (the task, as text).

    >>> setting("rnn", "0.9", "desk")["p"]
    0.9
    """
    found = {"p": float(task), **recipe(row, "parity", budget), "elsewhere": 32 if row == "transformer" else 128}
    if budget == "paper":
        return found
    if row == "regulargpt_c2":
        found["training"] |= {"steps": STEPS, "growth": STEPS // 2}
    return {**found, "stride": max(9, found["stride"])}


def measure(setting: dict, seed: int, progress: bool = False, checkpoint: Path | None = None) -> dict:
    """As in table 1; and ``elsewhere``, what the same net answers at lengths 40 and 500 where p is another.

    >>> tiny = {**setting("rnn", "0.1", "live"), "stride": 200, "strings": 4}
    >>> found = measure({**tiny, "training": {**tiny["training"], "steps": 2, "warmup": 0}}, seed=0)
    >>> [len(found["elsewhere"][name]) for name in ("p", "40", "500")]
    [5, 5, 5]
    """
    made = trained(setting, seed, progress=progress, checkpoint=checkpoint)
    ask = partial(accuracy_at_lengths, made.net, lengths=(40, 500), strings=setting["elsewhere"])
    others = [ask(Parity(float(p)), generator=stream(seed, "elsewhere")) for p in TASKS]
    elsewhere = {"p": list(TASKS), **{str(length): [found[length] for found in others] for length in (40, 500)}}
    return {**score(made, setting, seed), "elsewhere": elsewhere, "training": training_of(made),
            "cpu_seconds": round(made.cpu_seconds, 2)}  # fmt: skip


def table(records: Sequence[dict]) -> str:
    """By length: here, mean over seeds (every seed); the paper's; and, for nets trained at p = 1/2, other p."""
    parts = []
    for place, (name, title) in enumerate(MEASURES.items()):

        def cell(found: list[dict], name: str = name) -> str:
            shares = [record["metrics"][name] for record in found]
            return f"{percent(fmean(shares))} ({' '.join(percent(share) for share in shares)})"

        ours = grid(records, ROWS, TASKS, cell)
        printed = [[f"{PAPER[row][place][TASKS.index(task)]:.1f}" for task in ours.columns] for row in ours.index]
        theirs = pd.DataFrame(printed, index=ours.index, columns=ours.columns)
        for whose, body in (("here", ours), ("paper", theirs)):
            parts.append(f"{whose}, {title}\n{body.add_prefix('p = ').to_string()}")
    return "\n\n".join([*parts, *_elsewhere([record for record in records if record["task"] == "0.5"])])


def _elsewhere(records: Sequence[dict]) -> list[str]:
    """What nets trained at p = 0.5 answer at every p: the other way to read the table."""

    def mean(cell: list[dict]) -> str:
        return percent(fmean(r["share"] for r in cell))

    asked = [{**r, "task": p, "at": {length: r["elsewhere"][length][place] for length in ("40", "500")}}
             for r in records for place, p in enumerate(TASKS)]  # fmt: skip
    return [
        f"here, trained at p = 0.5 and asked at another, length {length}: mean over seeds\n"
        + grid([{**r, "share": r["at"][length]} for r in asked], ROWS, TASKS, mean).add_prefix("p = ").to_string()
        for length in ("40", "500") if asked
    ]


TABLE = Table(
    "regulargpt/table2", ROWS, TASKS, setting, by_setting(measure), line, table, aliases={"ours": "regulargpt_c2"},
    paper=PAPER, score=lambda record: record["metrics"]["accuracy"],
    printed=lambda row, task: f"{PAPER[row][1][TASKS.index(task)]:.1f}",
)  # fmt: skip
