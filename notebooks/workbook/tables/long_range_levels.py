"""What the long-range tasks can be solved by without long range: trivial predictors, beside the nets (``lra/levels``).

A score on the Long Range Arena says that a net carries something over long distances only as far as nothing short gets
the same score.  Each predictor here forgets almost all order, and is linear in what it keeps:

=======  =====================================================================  =========================================
row      of texts and expressions                                               of numbers (pixels, samples)
=======  =====================================================================  =========================================
length   how many symbols there are, in 16 ranges                               the same
ends     which symbols are the first 8 and the last 8                           the first 8 and the last 8 numbers
bag      how often each symbol occurs                                           how many numbers lie in each of 16 ranges
pairs    how often each two neighbours occur                                    the same, in 8 ranges
windows  how often each three neighbours occur                                  log power by frequency, windows of 64 (below)
places   which symbol stands at each of the first 64 places                     every number where it stands (at most 2,048)
=======  =====================================================================  =========================================

The symbols of a text are its words, those of ListOps its digits, operators and brackets; of symbols, pairs and triples the
1,000 most frequent count.  Of windows of numbers the mean and the spread over the windows is kept: which frequencies there
are and how steadily, not when, so a chirp and the same chirp backwards are one.  Of a pair of texts it is what both
give, and the differences without their signs.  On that stands scikit-learn's ridge classification, which is solved in
closed form, so another processor gives the same but for rounding; how much it shrinks is chosen on the training items alone.

Data and splits are those of ``rotrnn/table1`` and ``dlr/table4``: stand-ins, or at the budget ``paper`` the published
files, of which 20,000 training items are used at most.  The *best* predictor of a task is chosen by the validation items,
as the weights of the nets are.  ``beside_nets`` sets it beside the nets.  **Where it reaches them, the task asks
nothing long**, or not of these nets at this size: their score is then no evidence for memory.

Letters: T time, n items, F features.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
import pandas as pd
from sklearn.linear_model import RidgeClassifierCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from lrnnlab.tasks.long_range import SequenceData
from lrnnlab.tasks.long_range.texts import BYTES
from workbook.tables.declared import paper
from workbook.tables.surrogate_data import splits
from workbook.tables.table import by_setting, load
from workbook.tables.text import percent

MOST_ITEMS = 20_000  # of training
KEPT = 1_000  # symbols, pairs or triples
NEAR, FIRST, RANGES, WINDOW, MOST_PLACES = 8, 64, 16, 64, 2_048
FLOOR = 1e-2  # of a power, lest its logarithm be that of nothing
SHRINKING = tuple(10.0**power for power in range(-1, 6))
REACHED = 0.02  # so far below the best net a predictor counts as its equal: the standard error of 500 items
GUESSING = 0.05  # who is no further above the majority than this has not learned the task
Features = Callable[[Sequence[Any]], np.ndarray]


def symbols(sequence: Any, data: SequenceData) -> list[Hashable]:
    """The words of a text, or the tokens of an expression.

    >>> from lrnnlab.tasks.long_range import stand_in
    >>> data = stand_in("text", "val", count=1)
    >>> symbols(data[0][0], data)[:3] == bytes(data[0][0].tolist()).split()[:3]
    True
    """
    codes = sequence.tolist()
    return [*bytes(codes).split()] if data.vocab_size == BYTES else codes


def grams(row: str, given: Sequence[Hashable]) -> list[Hashable]:
    """What predictor ``row`` counts in a sequence of symbols.

    >>> grams("pairs", "aba"), grams("ends", "ab")
    ([('a', 'b'), ('b', 'a')], [(0, 'a'), (1, 'b'), (-1, 'b'), (-2, 'a')])
    """
    if row in ("ends", "places"):
        first: list[Hashable] = [*enumerate(given[: NEAR if row == "ends" else FIRST])]
        return first if row == "places" else first + [(-1 - k, one) for k, one in enumerate(given[: -1 - NEAR : -1])]
    long = {"bag": 1, "pairs": 2, "windows": 3}[row]
    return [*given] if long == 1 else [*zip(*(given[k:] for k in range(long)))]


def _counting(row: str, items: Sequence[Sequence[Hashable]]) -> Features:
    """Counts of what is the most frequent in the training ``items``, (n,F)."""
    every: Counter[Any] = Counter()
    for item in items:
        every.update(grams(row, item))
    kept = {gram: place for place, gram in enumerate(sorted(every, key=lambda gram: (-every[gram], gram))[:KEPT])}

    def features(items: Sequence[Any]) -> np.ndarray:
        found = np.zeros((len(items), max(1, len(kept))))
        for line, item in zip(found, items):
            for gram, count in Counter(grams(row, item)).items():
                if gram in kept:
                    line[kept[gram]] = count
        return found

    return features


def _lengths(items: Sequence[Any]) -> Features:
    """In which range of lengths an item lies, (n,16), the ranges equally frequent in training."""
    edges = np.quantile([len(item) for item in items], np.arange(1, RANGES) / RANGES, method="inverted_cdf")
    return lambda items: np.eye(RANGES)[np.searchsorted(edges, [len(item) for item in items])]


def _numbers(row: str, items: Sequence[np.ndarray]) -> Features:
    """Of sequences of numbers (T,): see the head of this module."""
    least, most = min(item.min() for item in items), max(item.max() for item in items)

    def ranges(item: np.ndarray, count: int) -> np.ndarray:
        return np.clip(((item - least) / max(most - least, 1e-9) * count).astype(int), 0, count - 1)

    def ends(item: np.ndarray) -> np.ndarray:
        return np.concatenate([item[:NEAR], item[-NEAR:]])

    def bag(item: np.ndarray) -> np.ndarray:
        return np.bincount(ranges(item, RANGES), minlength=RANGES)

    def pairs(item: np.ndarray) -> np.ndarray:
        half = RANGES // 2
        one = ranges(item, half)
        return np.bincount(half * one[:-1] + one[1:], minlength=half**2)

    def windows(item: np.ndarray) -> np.ndarray:
        cut = item[: len(item) // WINDOW * WINDOW].reshape(-1, WINDOW)
        power = np.log(FLOOR + abs(np.fft.rfft(cut)) ** 2)
        return np.concatenate([power.mean(0), power.std(0)])

    def places(item: np.ndarray) -> np.ndarray:
        return item[:: -(-longest // MOST_PLACES)]

    longest = max(WINDOW, *map(len, items))
    make = {"ends": ends, "bag": bag, "pairs": pairs, "windows": windows, "places": places}[row]

    def features(items: Sequence[Any]) -> np.ndarray:
        cut = [item[:longest] for item in items]  # a later item can be longer than all that were fitted
        return np.stack([make(np.pad(item, (0, longest - len(item)))) for item in cut]).astype(float)

    return features


def _read(data: SequenceData, most: int) -> tuple[list, np.ndarray]:
    """At most so many items of ``data``, evenly spread, as this module's features want them, and their classes."""
    chosen = np.arange(0, len(data), -(-len(data) // most))

    def one(sequence: Any) -> Any:
        return symbols(sequence, data) if data.vocab_size else sequence.numpy().mean(1)

    read = [data[int(index)][0] for index in chosen]
    return [tuple(map(one, item)) if isinstance(item, tuple) else one(item) for item in read], data.targets[chosen]


def accuracies(row: str, train: SequenceData, tests: Sequence[SequenceData]) -> list[float]:
    """The share of right answers of one predictor, fitted to ``train``, on each of ``tests``.

    Parameters
    ----------
    row : str
        A row of ``lra_levels.yaml``.
    train : SequenceData
        What it is fitted to, and how much it shrinks is chosen on.
    tests : sequence of SequenceData
        What it is asked.

    Returns
    -------
    list of float
        One number a test.

    Examples
    --------
    >>> from lrnnlab.tasks.long_range import stand_in
    >>> train, test = stand_in("text", "train", count=400), stand_in("text", "test", count=100)
    >>> accuracies("pairs", train, [test])[0] > accuracies("ends", train, [test])[0]
    True
    """
    items, targets = _read(train, MOST_ITEMS)
    pairs = isinstance(items[0], tuple)
    singles = [one for item in items for one in item] if pairs else items
    if row == "length":
        make = _lengths(singles)
    else:
        make = _counting(row, singles) if train.vocab_size else _numbers(row, singles)

    def features(items: list) -> np.ndarray:
        if not pairs:
            return make(items)
        a, b = (make([item[side] for item in items]) for side in (0, 1))
        return np.concatenate([a, b, abs(a - b)], 1)

    fitted = make_pipeline(StandardScaler(), RidgeClassifierCV(SHRINKING)).fit(features(items), targets)
    return [float(fitted.score(features(asked), right)) for asked, right in (_read(test, len(test)) for test in tests)]


def measure(setting: dict, seed: int, progress: bool = False, checkpoint: Path | None = None) -> dict:
    """Fit and ask; nothing is drawn, so every seed gives the same.

    >>> sorted(measure(TABLE.setting("bag", "text", "live"), seed=0)["metrics"])
    ['accuracy', 'chance', 'majority', 'validation']
    """
    parts = splits(setting)
    start = time.process_time()
    validation, accuracy = accuracies(setting["predictor"], parts["train"], [parts["val"], parts["test"]])
    metrics = {"accuracy": accuracy, "validation": validation, "chance": parts["train"].chance,
               "majority": parts["test"].majority}  # fmt: skip
    return {"metrics": metrics, "data": parts["train"].name, "cpu_seconds": round(time.process_time() - start, 3)}


def beside_nets(found: pd.DataFrame) -> list[dict]:
    """A row for each task: what guessing, the best trivial predictor, and our nets get; and what follows from it.

    Parameters
    ----------
    found : DataFrame
        Runs of ``lra/levels``, ``rotrnn/table1`` and ``dlr/table4``, of one budget.  The best predictor is that of the
        validation items.  Of nets on published files only those count that were asked the same: ``dlr/table4`` has Speech
        Commands with ten words, ``rotrnn/table1`` and the levels with 35.

    Returns
    -------
    list of dict
        ``task``; ``data``, what was read; the shares ``chance``, ``majority``, ``trivial`` and its name ``predictor``;
        ``nets``, (table, row) -> mean over seeds, the greatest first; ``net`` and ``best_net``, that one and its name;
        ``says``, a sentence; ``paper``, what the papers have on the original data, in words.

    Raises
    ------
    ValueError
        For runs of two budgets, which must not stand side by side.

    Examples
    --------
    >>> from workbook.tables.results import runs
    >>> beside_nets(runs("lra/levels"))[1]["says"]
    'no net is recorded'
    """
    kinds = sorted(set(zip(found["budget"], found["protocol"])))
    if len(kinds) > 1:
        raise ValueError(f"one table shows one budget and one protocol, got {kinds}")
    body, ours = [], found["experiment"] == TABLE.name
    levels, trained = found[ours], found[~ours]
    for task in sorted(set(levels["task"]), key=[*TABLE.tasks, "path-x"].index):
        top = levels.loc[levels["validation"][levels["task"] == task].astype(float).idxmax()]
        asked = [_asked(config) == _asked(top["config"]) for config in trained["config"]]
        nets = trained[(trained["task"] == task) & np.array(asked, dtype=bool)]
        means = nets.groupby(["experiment", "row"])["accuracy"].agg(fmean).sort_values(ascending=False).to_dict()
        which, net = next(iter(means.items()), (None, None))
        body.append({
            **top[["task", "data", "chance", "majority"]], "trivial": top["accuracy"], "predictor": top["row"], "nets": means,
            "net": net, "best_net": None if which is None else " ".join(which), "says": _says(top, net), "paper": _printed(task),
        })  # fmt: skip
    return body


def _asked(config: Mapping) -> dict:
    """Which part of published files a run is of; how many of their bytes are read makes no other task."""
    files = config["setting"].get("files", {})
    return {name: value for name, value in files.items() if name != "length"}


def _says(top: pd.Series, net: float | None) -> str:
    """What follows for a task from its best predictor and its best net."""
    trivial, majority = top["accuracy"], top["majority"]
    if net is None:
        return "no net is recorded"
    if max(trivial, net) < majority + GUESSING:
        return "neither gets beyond guessing: it says nothing yet"
    if trivial > net - REACHED:
        return f"asks nothing long: {top['row']} alone gets {percent(trivial)}, the best net {percent(net)}"
    return f"the best net is {100 * (net - trivial):.0f} points ahead of what has no memory"


def _printed(task: str) -> str:
    """The papers' numbers, which are of the original data."""
    found = []
    for table, row, called in (("rotrnn/table1", "rotrnn", "RotRNN"), ("dlr/table4", "dlr", "DLR"),
                               ("dlr/table4", "attention", "Transformer")):  # fmt: skip
        printed = paper(table)
        found += [f"{called} {value:.1f}" for value in printed["value"][(printed["task"] == task) & (printed["row"] == row)]]
    return ", ".join(found)


TABLE = load("lra/levels", by_setting(measure))
