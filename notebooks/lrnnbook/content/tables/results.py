"""Recorded runs as one pandas frame: what texts, tables of notebooks and pictures read.

>>> found = runs("fwp/table1")
>>> grid(found, "last.bin1").loc["aa", ["lstm", "linear"]].tolist()
['100', '0.0']

A row is a run.  Its columns: ``task``, ``row``, ``seed``, ``budget``, ``protocol``; every metric by its name, with a dot
where it is one of several (``last.bin1``); all else that is recorded (``cpu_seconds``, ``curve``, ``config``).
``frame.attrs["table"]`` is the table's name.
"""

import json
import math
import operator
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial, reduce
from itertools import chain, product
from pathlib import Path
from statistics import fmean
from typing import Any

import pandas as pd

from lrnnbook.content.tables import records
from lrnnbook.content.tables.declared import paper
from lrnnbook.content.tables.records import who
from lrnnbook.content.tables.table import Table, get

CELL = ["task", "row"]


def frame(found: Sequence[Mapping]) -> pd.DataFrame:
    """Records, just made or read, as a frame."""
    metrics = pd.json_normalize([dict(one["metrics"]) for one in found])
    rest = pd.DataFrame([{key: value for key, value in one.items() if key not in {"metrics", *metrics}} for one in found])
    made = pd.concat([rest, metrics], axis=1)
    made.attrs["table"] = found[0]["experiment"] if found else ""
    return made


def runs(*names: str, budget: str = "desk", protocol: str = "ours") -> pd.DataFrame:
    """The recorded runs of a table, or of several; an empty frame where there are none.

    >>> runs("fwp/table1").groupby("row").size()["lstm"]
    np.int64(30)
    """
    return frame([one for name in names for one in records.recorded(name, budget, protocol)])


def _table(found: pd.DataFrame) -> Table:
    return get(found.attrs["table"])


def ordered(found: pd.DataFrame) -> pd.DataFrame:
    """By task and row in the order of the table, then by seed."""
    table = _table(found)
    tasks = [*table.tasks, *(task for extra in table.extra.values() for task in extra)]
    places = {name: {one: place for place, one in enumerate(order)} for name, order in (("task", tasks), ("row", table.rows))}
    key = lambda column: column.map(places[column.name]) if column.name in places else column
    return found.sort_values(["task", "row", "seed"], key=key, kind="stable")


def column(found: pd.DataFrame, metric: str) -> pd.Series:
    """A metric of every run, or a part of what is recorded: ``by_position.-1``, ``levels.chance``; None where it is not.
    ``ValueError`` if no run has it."""
    name, parts = metric, []
    while name not in found and "." in name:
        name, _, part = name.rpartition(".")
        parts.insert(0, part)
    values = found.get(name, pd.Series(None, found.index, dtype=object))
    for part in parts:
        values = values.map(partial(_part, part=part))
    if len(found) and (name not in found or (parts and values.isna().all())):
        raise ValueError(f"{found.attrs['table']} has no metric {metric!r}; there are {', '.join(found.columns)}")
    return values


def _part(value: Any, part: str) -> Any:
    if isinstance(value, Mapping):
        return value.get(part)
    at = int(part) if isinstance(value, list) and part.lstrip("-").isdigit() else None
    return None if at is None or not -len(value) <= at < len(value) else value[at]


def percent(share: float) -> str:
    """In percent with one decimal, rounded down (a millionth of a millionth aside): "100" is exact."""
    return "100" if share == 1 else f"{math.floor(share * 1000 + 1e-9) / 10:.1f}"


def range_in_percent(shares: Sequence[float]) -> str:
    """Mean, least and greatest by :func:`percent`, so that 100 is exact; one number where all are the same."""
    mean, least, most = (percent(of(shares)) for of in (fmean, min, max))
    return mean if min(shares) == max(shares) else f"{mean} ({least} to {most})"


def _words(values: Sequence) -> str:
    """What is no number: each once, and of how many runs if there are several."""
    counts = Counter(", ".join(map(str, one)) if isinstance(one, list) else str(one) for one in values)
    return next(iter(counts)) if len(counts) == 1 else ", ".join(f"{count} {word}" for word, count in counts.items())


def _number(value: float) -> str:
    """Four digits, or all before the point."""
    return f"{value:,.0f}" if 1e4 <= abs(value) < 1e9 else f"{value:.4g}"


def mean_and_range(values: Sequence, ends: Iterable = ()) -> str:
    """Mean (least to greatest, also of ``ends``) over seeds in four digits; one number where all are the same."""
    if isinstance(values[0], (str, bool, list)):
        return _words(values)
    every = [*values, *ends]
    mean, least, most = map(_number, (fmean(values), min(every), max(every)))
    return mean if least == most else f"{mean} ({least} to {most})"


SAID: dict[str, Callable[..., str]] = {
    "percent": lambda values, ends=(): range_in_percent(values), "number": mean_and_range,
    "mean": lambda values, ends=(): f"{round(fmean(values), 2) + 0.0:.2f}", "word": lambda values, ends=(): _words(values),
}  # fmt: skip


def grid(
    found: pd.DataFrame, metric: str, as_: str = "percent", across: str = "row", printed: bool = False,
    level: Mapping[str, str] = {},
) -> pd.DataFrame:  # fmt: skip
    """A metric by task (down) and row: mean (least to greatest) over seeds; blank where there are no runs.

    A cell of which a run broke off, its loss being no number, ends in ``!``.

    Parameters
    ----------
    found : DataFrame
        What :func:`runs` gives.
    metric : str
        One of its columns, or ``"perplexity.*"``: a line for each part of one.
    as_ : str
        ``"percent"`` of a share of 1, rounded down, so that 100 is exact; ``"number"``; ``"mean"``, without the range; or
        ``"word"``.
    across : str
        ``"row"`` or ``"task"``: what is told apart from left to right.
    printed : bool
        Whether to print the paper's numbers below ours, in lines called ``paper``.
    level : mapping
        Title -> metric of what a task gives without skill: comes first.

    Raises
    ------
    ValueError
        For a metric that is not there, and for runs of more than one budget or protocol.
    """
    if metric.endswith(".*"):
        parts = {name[len(metric) - 1 :]: name for name in _parts(found, metric)}
        return pd.concat({part: grid(found, name, as_, across, printed, level) for part, name in parts.items()})
    kept = _one_kind(found).assign(**{metric: column(found, metric), "!": _broken(found)})
    kept = kept[kept[metric].notna() | kept["!"]]
    down = "task" if across == "row" else "row"

    def say(part: pd.Series) -> str:
        return SAID[as_](part.dropna().tolist()) if part.notna().any() else "NaN"

    def guess(part: pd.Series) -> str:
        return SAID[as_]([fmean(part.dropna())])

    cells = kept.groupby(CELL, sort=False)
    ours = cells[metric].agg(say) + cells["!"].any().map({True: " !", False: ""})
    for title, name in level.items():
        ours = pd.concat([ours, column(kept, name).groupby([kept["task"], kept.assign(row=title)["row"]]).agg(guess)])
    ours = ours.unstack(across).reindex(index=_in_order(kept, down, level), columns=_in_order(kept, across, level)).fillna("")
    if not printed:
        return ours.rename_axis(index=None, columns=None)
    shown = theirs(found, metric, across).reindex(index=ours.index, columns=ours.columns, fill_value="")
    both = pd.concat({"": ours, "paper": shown}).swaplevel().reindex(pd.MultiIndex.from_product([ours.index, ["", "paper"]]))
    return both[both.ne("").any(axis=1)].rename_axis(index=[None, None], columns=None)


def _parts(found: pd.DataFrame, metric: str) -> list[str]:
    """The columns that ``perplexity.*`` means."""
    return [name for name in found if name.startswith(metric[:-1])]


def _one_kind(found: pd.DataFrame) -> pd.DataFrame:
    kinds = sorted(set(zip(found["budget"], found["protocol"])))
    if len(kinds) > 1:
        raise ValueError(f"one table shows one budget and one protocol, got {kinds}")
    return ordered(found)


def _broken(found: pd.DataFrame) -> pd.Series:
    return found["finished"].eq(False) if "finished" in found else pd.Series(False, found.index)


def _in_order(found: pd.DataFrame, what: str, level: Mapping[str, str] = {}) -> list:
    """The rows or tasks that there are, in the table's order, behind (rows) the levels."""
    there = dict.fromkeys(found[what])
    return [*(level if what == "row" else ()), *sorted(there, key=[*getattr(_table(found), what + "s"), *there].index)]


def theirs(found: pd.DataFrame, metric: str, across: str = "row") -> pd.DataFrame:
    """What the paper prints of a metric, by task (down) and row, as text; blank where it has nothing."""
    numbers = _papers(found.attrs["table"], metric)
    shown = numbers.unstack(across)
    first = {name: dict.fromkeys(numbers.index.get_level_values(name)) for name in CELL}
    down = "task" if across == "row" else "row"
    return shown.reindex(index=[*first[down]], columns=[*first[across]]).fillna("").rename_axis(index=None, columns=None)


def _papers(name: str, metric: str) -> pd.Series:
    """What the paper prints of a metric, as text, by task and row."""
    return paper(name).query("metric == @metric").set_index(CELL)["value"].map(
        lambda value: value if isinstance(value, str) else f"{value:g}")  # fmt: skip


def lines(
    found: pd.DataFrame, metrics: Mapping[str, Any], as_: str = "number", each: str = "row", printed: bool = False
) -> pd.DataFrame:  # fmt: skip
    """Several metrics of each task and row, a line: mean (least to greatest) over seeds; blank where there are none.

    Parameters
    ----------
    found : DataFrame
        What :func:`runs` gives.
    metrics : mapping
        Title -> one of its columns; or a list of three that have a middle, a least and a greatest.
    as_ : str
        As in :func:`grid`.
    each : str
        ``"row"``, or ``"seed"``: a line for each run.
    printed : bool
        Whether to print the paper's numbers below ours, in lines called ``paper``.
    """
    kept, at = _one_kind(found), [*CELL, *(["seed"] if each == "seed" else [])]
    wanted = {title: _listed(names) for title, names in metrics.items() if has(found, names)}
    values = {title: [column(kept, name) for name in names] for title, names in wanted.items()}
    theirs = {title: _papers(found.attrs["table"], names[0]) for title, names in wanted.items()} if printed else {}
    body: dict[tuple, dict[str, str]] = {}
    for key, cell in kept.groupby(at, sort=False).groups.items():
        here = {title: [part[cell].dropna().tolist() for part in parts] for title, parts in values.items()}
        if not any(first for first, *_ in here.values()):
            continue
        body[(*key, "")] = {title: SAID[as_](first, chain(*ends)) if first else "" for title, (first, *ends) in here.items()}
        if says := {title: numbers[key[:2]] for title, numbers in theirs.items() if key[:2] in numbers}:
            body[(*key, "paper")] = says
    index = pd.MultiIndex.from_tuples(body, names=[None] * (len(at) + 1)) if body else None
    made = pd.DataFrame([*body.values()], index=index, columns=[*values]).fillna("")
    return made.droplevel(-1) if body and not any(key[-1] for key in body) else made


def has(found: pd.DataFrame, names: str | Sequence[str]) -> bool:
    """Whether any of the runs has the metric, or all of some."""
    try:
        return all(column(found, name).notna().any() for name in _listed(names))
    except ValueError:
        return False


def reasons(found: pd.DataFrame) -> pd.DataFrame:
    """Why cells are low, a row each: ``task``, ``row``, ``seeds``, ``why``; nothing of a cell in which every run holds.

    Not expressible (with the proof), not learned (the training length is not known), lost with length, or learned by
    heart; of how many seeds.  By the table's ``why``, or several of them: ``far``, the metric that counts; ``known``, the
    share from which on it does; ``seen``, the same of the training length; ``training``, of the training set, learned by
    heart where that is a tenth above ``far``; and ``not_expressible``: cells, as ``when`` has them, with where the
    ``proof`` is, or with a ``remark`` that is said beside the count.
    """
    declared = _table(found).declared
    body = []
    for why in _listed(declared.found["why"]):
        if not has(found, why["far"]):
            continue
        kinds = [name for name in ("far", "seen", "training") if name in why and has(found, why[name])]
        made = ordered(found).assign(**{name: column(found, why[name]) for name in kinds})
        for (task, row), cell in made[made["far"].notna() | _broken(made)].groupby(CELL, sort=False):
            low = cell[~(cell["far"] >= why["known"])]
            by_heart = low["training"] > low["far"] + 0.1 if "training" in kinds else pd.Series(False, low.index)
            lost = ~by_heart & (low["seen"] >= why["known"]) if "seen" in kinds else pd.Series(False, low.index)
            counts = {"not learned": len(low) - sum(lost) - sum(by_heart), "lost with length": sum(lost),
                      "learned by heart": sum(by_heart)}  # fmt: skip
            told = ", ".join(f"{count} {what}" for what, count in counts.items() if count)
            for one in why.get("not_expressible", ()) if told else ():
                when = {key: wanted for key, wanted in one.items() if key not in ("proof", "remark")}
                if declared.holds(when, row, task, cell["budget"].iloc[0]):
                    told = f"not expressible ({one['proof']})" if "proof" in one else f"{told}; {one['remark']}"
            if told:
                body.append({"task": task, "row": row, "seeds": len(cell), "why": told})
    return pd.DataFrame(body, columns=["task", "row", "seeds", "why"]).drop_duplicates(CELL, ignore_index=True)


def _listed(value: Any) -> list:
    return value if isinstance(value, list) else [value]


def entry_as_text(found: pd.DataFrame, one: Mapping) -> str:
    """What an entry of ``shown:`` has of some runs, under its title; "" where they have none of it."""
    name, as_ = one.get("metric"), one.get("as", "percent" if "metric" in one else "number")
    if "metrics" in one:
        body = lines(found, one["metrics"], as_, one.get("each", "row"), printed=True)
    elif one.get("of") == "paper":
        body = theirs(found, name, one.get("across", "row"))
    elif not (name.endswith(".*") or has(found, name) or _broken(found).any()):
        return ""
    else:
        body = grid(found, name, as_, one.get("across", "row"), printed=True, level=one.get("level", {}))
    if body.empty:
        return ""
    several = found.groupby(CELL).size().gt(1).any() and not (one.get("of") or one.get("each") or as_ == "word")
    over = f": mean{'' if as_ == 'mean' else ' (least to greatest)'} over seeds" * bool(several)
    marked = "\n!: a run broke off, its loss being no number" * any(str(cell).endswith("!") for cell in body.to_numpy().flat)
    return f"{one['title']}{over}\n{body.to_string()}{marked}"


def text(found: Sequence[dict]) -> str:
    """Records as the command line shows them: what ``shown`` names, the paper's numbers beside, why cells are low, notes."""
    if not found:
        return "no runs"
    made = _one_kind(frame(found))
    if (own := _table(made).text) is not None:
        return own(found)
    declared = _table(made).declared.found
    parts = [entry_as_text(made, one) for one in declared.get("shown", ())]
    if "why" in declared and len(low := reasons(made)):
        parts.append(f"why cells are low\n{low.to_string(index=False)}")
    return "\n\n".join(filter(None, [*parts, declared.get("notes", "").rstrip()]))


def line(record: Mapping) -> str:
    """One record in a few words: the metrics that its table shows, how many steps, how long, whether it was there already."""
    made, told = frame([record]), {}
    for one in _table(made).declared.found.get("shown", ()):
        for title, name in one.get("metrics", {one.get("metric"): one.get("metric")}).items():
            name, as_ = _listed(name)[0], one.get("as", "percent" if "metric" in one else "number")
            for part in _parts(made, name) if name.endswith(".*") else [name]:
                if has(made, part):
                    told.setdefault(title if part == name else part, SAID[as_](column(made, part).tolist()))
    steps = made["steps"].iloc[0] if "steps" in made else None
    ends = [*(["broke off"] if _broken(made).any() else []), *([] if steps is None else [f"{steps:,.0f} steps"]),
            f"{record['wall_seconds']:.0f} s"]  # fmt: skip
    kept = " (not recorded)" if "unwritten" in record else " (recorded)" * bool(record.get("recorded"))
    return f"{who(record)}: {', '.join(map(' '.join, told.items()))}; {', '.join(ends)}{kept}"


def beside(name: str, recorded: Sequence[Mapping], live: Sequence[Mapping] = ()) -> pd.DataFrame:
    """By task and row of a table: its score as the paper has it, as recorded and as made just now, in percent."""
    table, printed, shares = get(name), {}, {"recorded": {}, "live": {}}
    if "score" not in table.declared.found:
        raise ValueError(f"{name} has no score that could be set beside the paper's")
    names = _listed(table.declared.found["score"])
    for kind, found in (("recorded", recorded), ("live", live)):
        for record in found:
            at = next(one for one in names if one.split(".")[0] in record["metrics"])
            share = reduce(operator.getitem, at.split("."), record["metrics"])
            shares[kind].setdefault((record["task"], record["row"]), []).append(share)
    for one in names:
        printed |= _papers(name, one).to_dict()
    return pd.DataFrame([
        {"task": task, "row": row, "paper": printed.get((task, row), ""),
         **{kind: range_in_percent(cells[task, row]) if (task, row) in cells else "" for kind, cells in shares.items()}}
        for task, row in dict.fromkeys([*product(table.tasks, table.rows), *chain(*shares.values())])  # then those of one's own
        if any((task, row) in cells for cells in shares.values())
    ])  # fmt: skip


def latex(name: str, found: Sequence[Mapping]) -> str:
    """A table's score as LaTeX (booktabs): by task and row, the paper's beside what is recorded."""
    body = beside(name, found).reindex(columns=["task", "row", "paper", "recorded"])
    lines = [" & ".join(re.sub(r"([#$%&_{}])", r"\\\1", str(cell)) for cell in line) + r" \\" for line in [body.columns, *body.values]]
    return "\n".join([r"\begin{tabular}{llrr}", r"\toprule", lines[0], r"\midrule", *lines[1:], r"\bottomrule", r"\end{tabular}"])


def write(found: pd.DataFrame, path: Path) -> None:
    """As CSV, or as Parquet where the name ends in ``.parquet`` (which needs pyarrow); what is no number or text as JSON.

    What a run has not, what is no number (NaN), and an empty text are missing: nothing between two commas, null in Parquet.
    """
    plain = found.apply(_plain)
    if path.suffix == ".parquet":
        try:
            plain.to_parquet(path, index=False)
        except ImportError:
            raise ValueError(f"{path}: Parquet needs pyarrow, which is not installed; .csv needs nothing") from None
    else:
        plain.to_csv(path, index=False)


def _plain(values: pd.Series) -> pd.Series:
    """A column of numbers, of truths or of text, None where a value is missing; of what is none of these, in JSON."""
    if pd.api.types.is_numeric_dtype(values):
        return values
    kept = [None if one == "" or (isinstance(one, float) and math.isnan(one)) else one for one in values]
    kinds = {type(one) for one in kept if one is not None}
    if kinds <= {bool} or kinds <= {int, float}:
        return pd.Series(kept, values.index, dtype="boolean" if kinds <= {bool} else float)
    as_json = [one if one is None or isinstance(one, str) else json.dumps(records.as_json({"": one})[""]) for one in kept]
    return pd.Series(as_json, values.index, dtype=object)
