"""Records as text: shares, spreads over seeds, cells in a grid, and the accuracies of what is trained."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Sequence
from statistics import fmean
from typing import SupportsFloat

import pandas as pd

from lrnnlab.training.evaluation import summary


def percent(share: float) -> str:
    """In percent with one decimal, rounded down (a millionth of a millionth aside): "100" is exact.

    >>> percent(1.0), percent(0.99999), percent(0.2)
    ('100', '99.9', '20.0')
    """
    return "100" if share == 1 else f"{math.floor(share * 1000 + 1e-9) / 10:.1f}"


def spread(values: Iterable[float], digits: int = 1, scale: float = 1) -> str:
    """The mean over seeds, and where there are several the least and the greatest; all times ``scale``.

    >>> spread([0.25, 0.75], scale=100), spread([2.0], digits=2)
    ('50.0 (25.0 to 75.0)', '2.00')
    """
    values = [scale * value for value in values]
    mean, least, most = (f"{of(values):.{digits}f}" for of in (fmean, min, max))
    return f"{mean} ({least} to {most})" if len(values) > 1 else mean


def significant(value: SupportsFloat, digits: int = 5) -> float | None:
    """For a record: so many significant digits, None where there is no number.

    >>> significant(1 / 3), significant(math.inf)
    (0.33333, None)
    """
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
    """The records of each (task, row), or whatever else they are told apart by, in the order of the first of each.

    >>> list(by_cell([{"task": "sum", "row": "s4"}, {"task": "sum", "row": "s4d"}]))
    [('sum', 's4'), ('sum', 's4d')]
    """
    found: dict[tuple, list[dict]] = {}
    for record in records:
        found.setdefault(tuple(record[name] for name in names or ("task", "row")), []).append(record)
    return found


def grid(
    records: Sequence[dict], rows: Sequence[Hashable], columns: Sequence[Hashable], cell: Callable[[list[dict]], str],
    names: tuple[str, str] = ("row", "task"),
) -> pd.DataFrame:  # fmt: skip
    """``cell`` of the records at each row and column that has any; blank where there are none.

    >>> grid([{"row": "b", "task": "x"}], "abc", "xy", lambda cell: str(len(cell)))
       x
    b  1
    """
    found = by_cell(records, *names)
    rows = [row for row in rows if any(row == at for at, _ in found)]
    columns = [column for column in columns if any(column == at for _, at in found)]
    body = [[cell(found[row, column]) if (row, column) in found else "" for column in columns] for row in rows]
    return pd.DataFrame(body, index=rows, columns=columns)


def lines(title: str, rows: Iterable[dict]) -> str:
    """A title over one line for each of ``rows``."""
    return f"{title}\n{pd.DataFrame(list(rows)).to_string(index=False)}"


def in_order(records: Sequence[dict], rows: Sequence[str], tasks: Sequence[str]) -> list[dict]:
    """By task and row in the table's order, then by seed."""
    return sorted(records, key=lambda r: (tasks.index(r["task"]), rows.index(r["row"]), r["seed"]))


def who(record: dict) -> str:
    """Task, row and seed of a record, as most lines begin.

    >>> who({"task": "parity", "row": "rnn", "seed": 0})
    'parity rnn seed 0'
    """
    return f"{record['task']} {record['row']} seed {record['seed']}"


# Of training with a ``Setting`` (paper 000) --------------------------------------------------------------------------

SHOWN = {
    "accuracy_last": "last position",
    "accuracy_all": "positions past training",
    "accuracy_seen": "training length",
    "best_accuracy_last": "best checkpoint, last position",
    "best_of_checks": "best of the checks (paper's score)",
    "snapped_accuracy_all": "snapped, past training",
    "snapped_accuracy_10000": "snapped, length 10,000",
}
CELL = {
    "accuracy_seen": "training length",
    "accuracy_last": "last position",
    "best_accuracy_last": "best checkpoint, last position",
    "accuracy_all": "all past training",
    "snapped_accuracy_all": "snapped, all past training",
}
RULE = {"proved": "searched"}  # its name says more than this rule of stopping does: what is proved has a column


def _ending(cell: Sequence[dict]) -> dict[str, str]:
    """What ended the training of some runs, and of how many the snapped model is proved right on all strings, by each
    run's own verdict; "" where they have none."""
    verdicts = [r["metrics"].get("snapped_proved") for r in cell]
    return {
        "stop": RULE.get(cell[0]["stop"], cell[0]["stop"]),
        "proved": "" if None in verdicts else f"{sum(verdicts)} of {len(verdicts)}",
    }


def one_kind(records: Sequence[dict]) -> None:
    """``ValueError`` for records of different budgets or protocols, which must not share a table."""
    kinds = {(r["budget"], r["protocol"]) for r in records}
    if len(kinds) > 1:
        raise ValueError(f"one table shows one budget and one protocol, got {sorted(kinds)}")


def frame(records: Sequence[dict]) -> pd.DataFrame:
    """One row per (task, row, measure): mean, min, max, number of seeds, the median seconds of a run, what ended its
    training, and how many of the snapped models are proved.

    Records of different budgets or protocols must not share a cell: ``ValueError``.
    """
    one_kind(records)
    return pd.DataFrame([
        {"task": task, "row": row, "measure": title, **summary([r["metrics"][name] for r in cell]),
         "seconds": pd.Series([r["wall_seconds"] for r in cell]).median(), **_ending(cell)}
        for (task, row), cell in by_cell(records).items()
        for name, title in SHOWN.items() if all(name in r["metrics"] for r in cell)
    ])  # fmt: skip


def cells(records: Sequence[dict]) -> pd.DataFrame:
    """One row per (task, row) of a training table: seeds, steps, and ``mean (least to greatest)`` of each accuracy.

    In percent, rounded down: 100 means that no answer was wrong.  "proved" counts the runs whose snapped model is
    proved right on every string.

    After each task three rows say what guessing scores at the last position: chance, the commonest answer, and a guesser
    who reports the best of 40 checks.

    >>> level = {"chance": 0.2, "majority": 0.2, "best_of_40_guesser": 0.279, "best_of_40_majority": 0.279}
    >>> run = {"task": "sum", "row": "clip", "budget": "desk", "protocol": "ours", "steps": 9, "stop": "recipe",
    ...        "metrics": {"accuracy_seen": 1.0, "accuracy_last": 0.5, "accuracy_all": 0.5}, "levels": level}
    >>> found = cells([run, {**run, "metrics": {**run["metrics"], "accuracy_last": 0.7}}])
    >>> found.loc[0, "last position"], found.loc[1, "row"], found.loc[1, "last position"]
    ('60.0 (50.0 to 70.0)', 'guess: chance', '20.0')
    >>> snapped = [{**run, "stop": "proved", "metrics": {**run["metrics"], "snapped_proved": v}} for v in (True, False)]
    >>> cells(snapped).loc[0, ["stop", "proved"]].tolist()
    ['searched', '1 of 2']
    """
    one_kind(records)
    found, blank = [], dict.fromkeys(("task", "row", "seeds", "steps", "stop", "proved", *CELL.values()), "")
    for (task,), of_task in by_cell(records, "task").items():
        for (row,), cell in by_cell(of_task, "row").items():
            steps = sorted({r["steps"] for r in cell})
            found.append({
                **blank, "task": task, "row": row, "seeds": len(cell),
                "steps": f"{steps[0]:,}" if len(steps) == 1 else f"{steps[0]:,} to {steps[-1]:,}", **_ending(cell),
                **{title: range_in_percent([r["metrics"][name] for r in cell])
                   for name, title in CELL.items() if all(name in r["metrics"] for r in cell)},
            })  # fmt: skip
        levels = of_task[0]["levels"]
        checks = max(levels["best_of_40_guesser"], levels["best_of_40_majority"])  # who guesses, and who says one thing
        for title, level in (("chance", levels["chance"]), ("majority", levels["majority"]), ("best of 40 checks", checks)):
            found.append({**blank, "task": task, "row": f"guess: {title}", "last position": percent(level)})
    return pd.DataFrame(found)


def accuracies(records: Sequence[dict]) -> str:
    """Every measure of trained models, by task, with the levels of a guesser beside."""
    found, parts = frame(records), []
    for task in dict.fromkeys(found["task"]):
        levels = next(r["levels"] for r in records if r["task"] == task)
        body = found[found["task"] == task].drop(columns="task").to_string(index=False, float_format="{:.4f}".format)
        guess = ", ".join(f"{name.replace('_', ' ')} {value:.3f}" for name, value in levels.items())
        parts.append(f"{task}   ({guess})\n{body}")
    return "\n\n".join(parts)


def accuracy(record: dict) -> str:
    """What a trained model answers past training, in a few words."""
    metrics = record["metrics"]
    said = (f"{who(record)}: last {metrics['accuracy_last']:.4f}, all {metrics['accuracy_all']:.4f} in "
            f"{record['wall_seconds']:.1f} s, {record['steps']} steps")  # fmt: skip
    return f"{said}; snapped: {metrics['snapped_verdict']}" if "snapped_verdict" in metrics else said
