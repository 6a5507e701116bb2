"""Table 2 of paper 002 (Chi, Fan, Rudnicky, Ramadge 2023): Parity where a 1 has another probability than 1/2.

A task is p: the net is trained and asked on strings whose bits are 1 with probability p, lengths up to 40 in training.
``accuracy_seen`` is at length 40 ("same length"), ``accuracy`` beyond ("extrapolation"); nets, budgets and training are
those of ``regulargpt_table1``, with 32 strings at every 9th length (25th: Transformer).  Another reading of the paper
("we alter the probability used to sample 1s") is that only the strings of the test change.  So every net is also asked
at the other p, ``elsewhere``.

Recorded, three seeds: C = 2 is right on every string at every p, as in the paper; so is the RNN but for one seed at 0.9
(98.4 % beyond, 800 steps).  Both, trained at 0.5, are right at every other p too, so for them the readings agree.  The
Transformer's 150 steps teach it nothing at the trained length either (haste), where the paper's is right on 77 to
99.8 %.  The tree's lengths grow over up to 1,200 steps, four times as many as in table 1: with table 1's 300 four of
fifteen runs (p = 0.1, 0.3 and twice 0.9) knew neither length 40 nor any beyond; with 1,200 ten of fifteen end in fewer
steps than with 300, four in as many and one in more: lengths that come before the shorter ones are known do harm.

Letters: p = P(1), T time.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

import pandas as pd

from lrnnlab.tables.measuring import grid
from lrnnlab.tables.regulargpt_table1 import (
    BUDGETS,
    check_device,
    line,
    percent,
    recipe,
    score,
    trained,
    training_of,
)
from lrnnlab.training.evaluation import accuracy_at_lengths
from lrnnlab.training.steady import stream
from lrnnlab.tasks.string_tasks import Parity

__all__ = ["ALIASES", "NAME", "PAPER", "ROWS", "TASKS", "line", "measure", "setting", "table"]

NAME = "regulargpt/table2"
TASKS = ("0.1", "0.3", "0.5", "0.7", "0.9")
ROWS = ("regulargpt_c2", "rnn", "transformer")
ALIASES: dict[str, str] = {"ours": "regulargpt_c2"}
PAPER = {  # row: percent right at length 40, and at 41..500, by p; means over 3 seeds
    "regulargpt_c2": ((100, 100, 100, 100, 100), (100, 100, 100, 100, 100)),
    "rnn": ((100, 100, 100, 100, 100), (100, 100, 100, 100, 100)),
    "transformer": ((98.4, 99.8, 99.6, 97.8, 77.2), (50.1, 49.7, 50.3, 49.9, 50.0)),
}
STEPS = 2400  # at most, of the tree; the lengths grow for half of them
MEASURES = {"accuracy_seen": "same length (40)", "accuracy": "extrapolation (42..500)"}


def setting(row: str, task: str, budget: str) -> dict:
    """One row at one p (the task, as text).  ValueError for a row, p or budget that is not there.

    >>> setting("rnn", "0.9", "desk")["p"]
    0.9
    """
    row = ALIASES.get(row, row)
    grid([row], ROWS, "row", NAME)
    grid([task], TASKS, "P(1):", NAME)
    grid([budget], BUDGETS, "budget", NAME)
    found = {"p": float(task), **recipe(row, "parity", budget), "elsewhere": 32 if row == "transformer" else 128}
    if budget == "paper":
        return found
    if row == "regulargpt_c2":
        found["training"] |= {"steps": STEPS, "growth": STEPS // 2}
    return {**found, "stride": max(9, found["stride"])}


def measure(setting: dict, seed: int) -> dict:
    """As in table 1; and ``elsewhere``, what the same net answers at lengths 40 and 500 where p is another.

    >>> tiny = {**setting("rnn", "0.1", "live"), "stride": 200, "strings": 4}
    >>> found = measure({**tiny, "training": {**tiny["training"], "steps": 2, "warmup": 0}}, seed=0)
    >>> [len(found["elsewhere"][name]) for name in ("p", "40", "500")]
    [5, 5, 5]
    """
    check_device(setting)
    made = trained(setting, seed)
    others = [
        accuracy_at_lengths(
            made.net, Parity(float(p)), (40, 500), strings=setting["elsewhere"], generator=stream(seed, "elsewhere")
        )
        for p in TASKS
    ]
    elsewhere = {"p": list(TASKS), **{str(length): [found[length] for found in others] for length in (40, 500)}}
    return {**score(made, setting, seed), "elsewhere": elsewhere, "training": training_of(made),
            "cpu_seconds": round(made.cpu_seconds, 2)}  # fmt: skip


def table(records: Sequence[dict]) -> str:
    """By length: here, mean over seeds (every seed); the paper's; and, for nets trained at p = 1/2, other p."""
    rows = [row for row in ROWS if any(record["row"] == row for record in records)]
    tasks = [task for task in TASKS if any(record["task"] == task for record in records)]
    columns, parts = [f"p = {task}" for task in tasks], []
    for place, (name, title) in enumerate(MEASURES.items()):
        ours = [[_cell(records, row, task, name) for task in tasks] for row in rows]
        printed = [[f"{PAPER[row][place][TASKS.index(task)]:.1f}" for task in tasks] for row in rows]
        for whose, body in (("here", ours), ("paper", printed)):
            parts.append(f"{whose}, {title}\n{pd.DataFrame(body, index=rows, columns=columns).to_string()}")
    return "\n\n".join([*parts, *_elsewhere(records, rows)])


def _cell(records: Sequence[dict], row: str, task: str, name: str) -> str:
    shares = [r["metrics"][name] for r in records if (r["row"], r["task"]) == (row, task)]
    return f"{percent(fmean(shares))} ({' '.join(percent(share) for share in shares)})" if shares else ""


def _elsewhere(records: Sequence[dict], rows: Sequence[str]) -> list[str]:
    """What nets trained at p = 0.5 answer at every p: the other way to read the table."""
    halves = {row: [r["elsewhere"] for r in records if (r["row"], r["task"]) == (row, "0.5")] for row in rows}
    halves = {row: found for row, found in halves.items() if found}
    return [
        f"here, trained at p = 0.5 and asked at another, length {length}: mean over seeds\n" + pd.DataFrame(
            [[percent(fmean(one[length][k] for one in found)) for k in range(len(TASKS))] for found in halves.values()],
            index=list(halves), columns=[f"p = {task}" for task in TASKS],
        ).to_string()
        for length in ("40", "500") if halves
    ]  # fmt: skip
