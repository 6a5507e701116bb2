"""Table 2 of paper 002 (Chi, Fan, Rudnicky, Ramadge 2023): Parity where a 1 has another probability than 1/2.

A task is p, in training and in the test.  The paper's words ("we alter the probability used to sample 1s") may also mean that
only the strings of the test change: so every net is also asked at the other p, ``elsewhere``.
"""

from functools import partial
from typing import Any

from lrnnlab.tasks.regular import parity
from lrnnlab.training.determinism import rng
from lrnnlab.training.evaluation import accuracy_at_lengths
from workbook.tables.regulargpt_table1 import score, trained, training_of
from workbook.tables.table import by_setting, load

MEASURES = {"accuracy_seen": "same length (40)", "accuracy": "extrapolation (42..500)"}


def measure(setting: dict, seed: int, **how: Any) -> dict:
    """As in table 1; and ``elsewhere``, what the same net answers at lengths 40 and 500 where p is another."""
    made = trained(setting, seed, **how)
    ask = partial(accuracy_at_lengths, made.net, lengths=(40, 500), strings=setting["elsewhere"])
    others = [ask(parity(float(p)), generator=rng(seed, "elsewhere")) for p in TABLE.tasks]
    elsewhere = {"p": list(TABLE.tasks), **{str(length): [found[length] for found in others] for length in (40, 500)}}
    return {**score(made, setting, seed), "elsewhere": elsewhere, "training": training_of(made),
            "cpu_seconds": round(made.cpu_seconds, 2)}  # fmt: skip


TABLE = load("regulargpt/table2", by_setting(measure))
