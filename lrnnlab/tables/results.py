"""Recorded runs as one pandas frame: what texts, tables of notebooks and pictures read.

>>> found = runs("fwp/table1")
>>> grid(found, "last.bin1").loc["anbn", ["lstm", "srwm"]].tolist()
['100', '57.1 (46.5 to 67.2)']

A row is a run.  Its columns: ``task``, ``row``, ``seed``, ``budget``, ``protocol``; every metric by its name, with a dot
where it is one of several (``last.bin1``); all else that is recorded (``cpu_seconds``, ``curve``, ``config``).
``frame.attrs["table"]`` is the table's name.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from lrnnlab import records
from lrnnlab.tables.declared import paper
from lrnnlab.tables.text import percent, range_in_percent, who

CELL = ["task", "row"]


def frame(found: Sequence[Mapping]) -> pd.DataFrame:
    """Records, just made or read, as a frame.

    >>> made = {"experiment": "fwp/table1", "task": "aa", "row": "lstm", "seed": 0, "metrics": {"last": {"bin1": 1.0}}}
    >>> frame([made])[["task", "row", "last.bin1"]].values.tolist()
    [['aa', 'lstm', 1.0]]
    """
    metrics = pd.json_normalize([dict(one["metrics"]) for one in found])
    rest = pd.DataFrame([{key: value for key, value in one.items() if key not in {"metrics", *metrics}} for one in found])
    made = pd.concat([rest, metrics], axis=1)
    made.attrs["table"] = found[0]["experiment"] if found else ""
    return made


def runs(name: str, budget: str = "desk", protocol: str = "ours") -> pd.DataFrame:
    """The recorded runs of a table; an empty frame where there are none.

    >>> runs("fwp/table1").groupby("row").size()["lstm"]
    np.int64(30)
    """
    return frame(records.recorded(name, budget, protocol))


def _table(found: pd.DataFrame) -> Any:
    from lrnnlab.tables import plans  # which imports every table

    return plans.get(found.attrs["table"])


def ordered(found: pd.DataFrame) -> pd.DataFrame:
    """By task and row in the order of the table, then by seed."""
    table = _table(found)
    tasks = [*table.tasks, *(task for extra in table.extra.values() for task in extra)]
    places = {name: {one: place for place, one in enumerate(order)} for name, order in (("task", tasks), ("row", table.rows))}
    key = lambda column: column.map(places[column.name]) if column.name in places else column
    return found.sort_values(["task", "row", "seed"], key=key, kind="stable")


def column(found: pd.DataFrame, metric: str) -> pd.Series:
    """A metric of every run; ``by_position.-1`` is the last number of the list ``by_position``.  ``ValueError`` for none."""
    if metric in found:
        return found[metric]
    name, _, place = metric.rpartition(".")
    if name in found and place.lstrip("-").isdigit():
        return found[name].str[int(place)]
    raise ValueError(f"{found.attrs['table']} has no metric {metric!r}; there are {', '.join(found.columns)}")


def said(values: pd.Series) -> str:
    """Mean (least to greatest) over seeds in four digits; one number where all are the same."""
    mean, least, most = (f"{value:.4g}" for value in (values.mean(), values.min(), values.max()))
    return mean if least == most else f"{mean} ({least} to {most})"


SAID: dict[str, Callable[[pd.Series], str]] = {
    "percent": lambda values: range_in_percent(values.tolist()), "number": said,
}  # fmt: skip


def grid(found: pd.DataFrame, metric: str, as_: str = "percent", across: str = "row", printed: bool = False) -> pd.DataFrame:
    """A metric by task (down) and row: mean (least to greatest) over seeds; blank where there are no runs.

    Parameters
    ----------
    found : DataFrame
        What :func:`runs` gives.
    metric : str
        One of its columns.
    as_ : str
        ``"percent"`` of a share of 1, rounded down, so that 100 is exact; or ``"number"``.
    across : str
        ``"row"`` or ``"task"``: what is told apart from left to right.
    printed : bool
        Whether the paper's numbers stand below ours, in lines called ``paper``.

    A cell of which a run broke off, its loss being no number, ends in ``!``.

    Raises
    ------
    ValueError
        For a metric that is not there, and for runs of more than one budget or protocol.
    """
    values = column(found, metric)
    kinds = sorted(set(zip(found["budget"], found["protocol"])))
    if len(kinds) > 1:
        raise ValueError(f"one table shows one budget and one protocol, got {kinds}")
    down = "task" if across == "row" else "row"
    broken = pd.Series(False, found.index) if "finished" not in found else found["finished"].eq(False)
    kept = ordered(found.assign(**{metric: values, "!": broken})[values.notna() | broken])
    cells = kept.groupby(CELL, sort=False)
    ours = cells[metric].agg(lambda part: SAID[as_](part.dropna()) if part.notna().any() else "NaN")
    ours = (ours + cells["!"].any().map({True: " !", False: ""})).unstack(across)
    ours = ours.reindex(index=kept[down].unique(), columns=_first_seen(kept, across)).fillna("")
    if not printed:
        return ours.rename_axis(index=None, columns=None)
    theirs = paper(found.attrs["table"]).query("metric == @metric").pivot(index=down, columns=across, values="value")
    shown = theirs.reindex_like(ours).map(lambda value: "" if pd.isna(value) else f"{value:g}")
    both = pd.concat({"": ours, "paper": shown}).swaplevel().reindex(pd.MultiIndex.from_product([ours.index, ["", "paper"]]))
    return both[both.ne("").any(axis=1)].rename_axis(index=[None, None], columns=None)


def _first_seen(found: pd.DataFrame, across: str) -> list:
    table = _table(found)
    order = list(table.rows) if across == "row" else [*table.tasks, *found["task"].unique()]
    return [name for name in dict.fromkeys(order) if name in set(found[across])]


def reasons(found: pd.DataFrame) -> pd.DataFrame:
    """Why cells are low, a row each: ``task``, ``row``, ``seeds``, ``why``; nothing of a cell in which every run holds.

    Not expressible (with the proof), not learned (the training length is not known), or lost with length; of how many
    seeds.  By the table's ``why``: ``seen`` and ``far``, the metrics of the training length and of longer strings,
    ``known``, the share from which on a length is known, and ``not_expressible``, cells with where the proof stands.
    """
    why = _table(found).declared["why"]
    proofs = {(row, task): one["proof"] for one in why.get("not_expressible", ())
              for row in _listed(one["row"]) for task in _listed(one["task"])}  # fmt: skip
    body = []
    for (task, row), cell in ordered(found).groupby(CELL, sort=False):
        low = cell[~(cell[why["far"]] >= why["known"])]
        lost = int((low[why["seen"]] >= why["known"]).sum())
        counts = {"not learned": len(low) - lost, "lost with length": lost}
        told = [f"{count} {what}" for what, count in counts.items() if count]
        if (row, task) in proofs:
            told = [f"not expressible ({proofs[row, task]})"]
        if told:
            body.append({"task": task, "row": row, "seeds": len(cell), "why": ", ".join(told)})
    return pd.DataFrame(body, columns=["task", "row", "seeds", "why"])


def _listed(value: Any) -> list:
    return value if isinstance(value, list) else [value]


def text(found: Sequence[Mapping]) -> str:
    """Records as the command line shows them: a grid a metric, the paper's numbers beside, why cells are low, notes."""
    made = frame(found)
    declared, parts = _table(made).declared, []
    for one in declared.get("shown", ()):
        body = grid(made, one["metric"], one.get("as", "percent"), one.get("across", "row"), printed=True)
        parts.append(f"{one['title']}: mean (least to greatest) over seeds\n{body.to_string()}")
        if body.map(lambda cell: cell.endswith("!")).any(axis=None):
            parts.append("!: a run broke off, its loss being no number")
    if "why" in declared and len(low := reasons(made)):
        parts.append(f"why cells are low\n{low.to_string(index=False)}")
    return "\n\n".join([*parts, *filter(None, [declared.get("notes", "").rstrip()])])


def line(declared: Mapping, record: Mapping) -> str:
    """One record in a few words: the metrics that its table shows, how many steps, how long.

    >>> declared = {"shown": [{"metric": "last.bin1", "title": "whole strings"}]}
    >>> line(declared, {"task": "aa", "row": "lstm", "seed": 0, "wall_seconds": 8.2, "metrics": {"last": {"bin1": 0.5}}})
    'aa lstm seed 0: last.bin1 50.0; 8 s'
    """
    made = frame([{"experiment": "", **record}])
    told = [f"{one['metric']} {_one(column(made, one['metric']).iloc[0], one.get('as', 'percent'))}"
            for one in declared.get("shown", ())]  # fmt: skip
    steps = made["steps"].iloc[0] if "steps" in made else None
    ends = [*([] if steps is None else [f"{steps:,.0f} steps"]), f"{record['wall_seconds']:.0f} s"]
    return f"{who(dict(record))}: {', '.join(told)}; {', '.join(ends)}"


def _one(value: Any, as_: str) -> str:
    return percent(value) if as_ == "percent" else value if isinstance(value, str) else f"{value:.4g}"


def score(declared: Mapping) -> Callable[[Mapping], float] | None:
    """The share (of 1) that a record says, by the metric that ``score`` names."""
    return partial(_at, declared["score"].split(".")) if "score" in declared else None


def _at(path: Sequence[str], record: Mapping) -> float:
    found: Any = record["metrics"]
    for name in path:
        found = found[name]
    return found


def write(found: pd.DataFrame, path: Path) -> None:
    """As CSV, or as Parquet where the name ends in ``.parquet`` (which needs pyarrow); what is no number or text as JSON."""
    plain = found.copy()
    for name, values in plain.items():
        if not pd.api.types.is_numeric_dtype(values):
            plain[name] = [one if isinstance(one, str) or one is None else json.dumps(one, default=str) for one in values]
    if path.suffix == ".parquet":
        try:
            plain.to_parquet(path, index=False)
        except ImportError:
            raise ValueError(f"{path}: Parquet needs pyarrow, which is not installed; .csv needs nothing") from None
    else:
        plain.to_csv(path, index=False)
