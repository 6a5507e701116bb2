"""Records as text: shares in percent, and records by cell."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import fmean
from typing import SupportsFloat


def percent(share: float) -> str:
    """In percent with one decimal, rounded down (a millionth of a millionth aside): "100" is exact.

    >>> percent(1.0), percent(0.99999), percent(0.2)
    ('100', '99.9', '20.0')
    """
    return "100" if share == 1 else f"{math.floor(share * 1000 + 1e-9) / 10:.1f}"


def significant(value: SupportsFloat, digits: int = 5) -> float | None:
    """For a record: so many significant digits, None where there is no number."""
    value = float(value)
    return float(f"{value:.{digits}g}") if math.isfinite(value) else None


def range_in_percent(shares: Sequence[float]) -> str:
    """Mean, least and greatest by :func:`percent`, so that 100 is exact; one number where all are the same.

    >>> range_in_percent([1.0, 0.5]), range_in_percent([1.0, 1.0])
    ('75.0 (50.0 to 100)', '100')
    """
    mean, least, most = (percent(of(shares)) for of in (fmean, min, max))
    return mean if min(shares) == max(shares) else f"{mean} ({least} to {most})"


def by_cell(records: Sequence[dict], *names: str) -> dict[tuple, list[dict]]:
    """The records of each (task, row), or whatever else they are told apart by, in the order of the first of each."""
    found: dict[tuple, list[dict]] = {}
    for record in records:
        found.setdefault(tuple(record[name] for name in names or ("task", "row")), []).append(record)
    return found


def in_order(records: Sequence[dict], rows: Sequence[str], tasks: Sequence[str]) -> list[dict]:
    """By task and row in the table's order, then by seed."""
    return sorted(records, key=lambda r: (tasks.index(r["task"]), rows.index(r["row"]), r["seed"]))


def who(record: dict) -> str:
    """Task, row and seed of a record, as most lines begin.

    >>> who({"task": "parity", "row": "rnn", "seed": 0})
    'parity rnn seed 0'
    """
    return f"{record['task']} {record['row']} seed {record['seed']}"


def one_kind(records: Sequence[dict]) -> None:
    """``ValueError`` for records of different budgets or protocols, which must not share a table."""
    kinds = {(r["budget"], r["protocol"]) for r in records}
    if len(kinds) > 1:
        raise ValueError(f"one table shows one budget and one protocol, got {sorted(kinds)}")
