"""Records -> tables and lines.  Of training: mean, least and greatest over seeds, with the levels of a guesser beside.

Measuring experiments say themselves how their records are shown (see ``measuring``).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import pandas as pd

from lrnnlab.training.evaluation import summary
from lrnnlab.tables import MEASUREMENTS

SHOWN = {
    "accuracy_last": "last position",
    "accuracy_all": "positions past training",
    "accuracy_seen": "training length",
    "best_accuracy_last": "best checkpoint, last position",
    "best_of_checks": "best of the checks (paper's score)",
    "snapped_accuracy_all": "snapped, past training",
    "snapped_accuracy_10000": "snapped, length 10,000",
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


def frame(records: Sequence[dict]) -> pd.DataFrame:
    """One row per (task, row, measure): mean, min, max, number of seeds, the median seconds of a run, what ended its
    training, and how many of the snapped models are proved.

    Records of different budgets or protocols must not share a cell: ``ValueError``.
    """
    _one_kind(records)
    lines = []
    for task, row in dict.fromkeys((r["task"], r["row"]) for r in records):
        cell = [r for r in records if (r["task"], r["row"]) == (task, row)]
        seconds = pd.Series([r["wall_seconds"] for r in cell]).median()
        for measure, title in SHOWN.items():
            if all(measure in r["metrics"] for r in cell):
                found = summary([r["metrics"][measure] for r in cell])
                lines.append({"task": task, "row": row, "measure": title, **found, "seconds": seconds, **_ending(cell)})
    return pd.DataFrame(lines)


def _one_kind(records: Sequence[dict]) -> None:
    kinds = {(r["budget"], r["protocol"]) for r in records}
    if len(kinds) > 1:
        raise ValueError(f"one table shows one budget and one protocol, got {sorted(kinds)}")


CELL = {
    "accuracy_seen": "training length",
    "accuracy_last": "last position",
    "best_accuracy_last": "best checkpoint, last position",
    "accuracy_all": "all past training",
    "snapped_accuracy_all": "snapped, all past training",
}


def cells(records: Sequence[dict]) -> pd.DataFrame:
    """One row per (task, row) of a training table: seeds, steps, and ``mean (least to greatest)`` of each accuracy.

    In percent, rounded down: 100 means that no answer was wrong.  "proved" counts the runs whose snapped model is
    proved right on every string.

    After each task three rows say what guessing scores at the last position: chance, the commonest answer, and a guesser
    who reports the best of 40 checks.

    >>> level = {"chance": 0.2, "majority": 0.2, "best_of_40_guesser": 0.279}
    >>> run = {"task": "sum", "row": "clip", "budget": "desk", "protocol": "ours", "steps": 9, "stop": "recipe",
    ...        "metrics": {"accuracy_seen": 1.0, "accuracy_last": 0.5, "accuracy_all": 0.5}, "levels": level}
    >>> found = cells([run, {**run, "metrics": {**run["metrics"], "accuracy_last": 0.7}}])
    >>> found.loc[0, "last position"], found.loc[1, "row"], found.loc[1, "last position"]
    ('60.0 (50.0 to 70.0)', 'guess: chance', '20.0')
    >>> snapped = [{**run, "stop": "proved", "metrics": {**run["metrics"], "snapped_proved": v}} for v in (True, False)]
    >>> cells(snapped).loc[0, ["stop", "proved"]].tolist()
    ['searched', '1 of 2']
    """
    _one_kind(records)
    lines, blank = [], dict.fromkeys(("task", "row", "seeds", "steps", "stop", "proved", *CELL.values()), "")
    for task in dict.fromkeys(r["task"] for r in records):
        of_task = [r for r in records if r["task"] == task]
        for row in dict.fromkeys(r["row"] for r in of_task):
            cell = [r for r in of_task if r["row"] == row]
            steps = sorted({r["steps"] for r in cell})
            lines.append({
                **blank, "task": task, "row": row, "seeds": len(cell),
                "steps": f"{steps[0]:,}" if len(steps) == 1 else f"{steps[0]:,} to {steps[-1]:,}", **_ending(cell),
                **{title: _range([r["metrics"][name] for r in cell]) if all(name in r["metrics"] for r in cell) else ""
                   for name, title in CELL.items()},
            })  # fmt: skip
        for name, title in (("chance", "chance"), ("majority", "majority"), ("best_of_40_guesser", "best of 40 checks")):
            lines.append({**blank, "task": task, "row": f"guess: {title}", "last position": _percent(of_task[0]["levels"][name])})
    return pd.DataFrame(lines)


def _range(values: list[float]) -> str:
    found = {name: _percent(value) for name, value in summary(values).items() if name in ("mean", "min", "max")}
    return found["mean"] if min(values) == max(values) else "{mean} ({min} to {max})".format(**found)


def _percent(share: float) -> str:
    """In percent with one decimal, rounded down (a millionth of a millionth aside): "100" is exact."""
    return "100" if share == 1 else f"{math.floor(share * 1000 + 1e-9) / 10:.1f}"


def table(records: Sequence[dict]) -> str:
    """Records of one experiment as text; of training, with the levels of a guesser under each task."""
    if not records:
        return "no runs"
    if records[0]["experiment"] in MEASUREMENTS:
        return MEASUREMENTS[records[0]["experiment"]].table(records)
    found, parts = frame(records), []
    for task in dict.fromkeys(found["task"]):
        levels = next(r["levels"] for r in records if r["task"] == task)
        body = found[found["task"] == task].drop(columns="task").to_string(index=False, float_format="{:.4f}".format)
        guess = ", ".join(f"{name.replace('_', ' ')} {value:.3f}" for name, value in levels.items())
        parts.append(f"{task}   ({guess})\n{body}")
    return "\n\n".join(parts)


def line(record: dict) -> str:
    """One record in a few words, whether it was there already, and whether it could not be written.

    >>> line({"experiment": "lrnn/fig1", "row": "2", "seed": 0, "metrics": {"levels": 1, "made": 0}, "recorded": True})
    'length 2: 1 level(s), 0 products of two matrices (recorded)'
    """
    if record["experiment"] in MEASUREMENTS:
        said = MEASUREMENTS[record["experiment"]].line(record)
    else:
        metrics = record["metrics"]
        said = (f"{record['task']} {record['row']} seed {record['seed']}: last {metrics['accuracy_last']:.4f}, "
                f"all {metrics['accuracy_all']:.4f} in {record['wall_seconds']:.1f} s, {record['steps']} steps")
        if "snapped_verdict" in metrics:
            said += f"; snapped: {metrics['snapped_verdict']}"
    if "unwritten" in record:
        return f"{said} (not recorded)"
    return said + (" (recorded)" if record["recorded"] else "")
