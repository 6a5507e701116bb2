"""What the long-range tasks can be solved by without long range: trivial predictors, beside the nets (``lra/levels``).

Letters: T time, n items, F features.
"""

import time
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np

from lrnnbook.content.tables.surrogate_data import splits
from lrnnbook.content.tables.table import by_setting, load
from lrnnlab.tasks.long_range import SequenceData
from lrnnlab.tasks.long_range.texts import BYTES

MOST_ITEMS = 20_000  # of training
MAX_GRAMS = 1_000  # symbols, pairs or triples
NEAR, FIRST, RANGES, WINDOW, MOST_PLACES = 8, 64, 16, 64, 2_048
FLOOR = 1e-2  # of a power, lest its logarithm be that of nothing
SHRINKING = tuple(10.0**power for power in range(-1, 6))
Features = Callable[[Sequence[Any]], np.ndarray]


def symbols(sequence: Any, data: SequenceData) -> list[Hashable]:
    """The words of a text, or the tokens of an expression."""
    codes = sequence.tolist()
    return [*bytes(codes).split()] if data.vocab_size == BYTES else codes


def grams(row: str, given: Sequence[Hashable]) -> list[Hashable]:
    """What predictor ``row`` counts in a sequence of symbols."""
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
    kept = {gram: place for place, gram in enumerate(sorted(every, key=lambda gram: (-every[gram], gram))[:MAX_GRAMS])}

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
    """What ``lra_levels.yaml`` says of sequences of numbers (T,)."""
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
    """The share of right answers of one predictor, fitted to ``train``, on each of ``tests``."""
    from sklearn.linear_model import RidgeClassifierCV  # scikit-learn takes a second to load
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

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


def measure(setting: dict, seed: int, **how: Any) -> dict:
    """Fit and ask; nothing is drawn, so every seed gives the same."""
    parts = splits(setting)
    start = time.process_time()
    validation, accuracy = accuracies(setting["predictor"], parts["train"], [parts["val"], parts["test"]])
    metrics = {"accuracy": accuracy, "validation": validation, "chance": parts["train"].chance,
               "majority": parts["test"].majority}  # fmt: skip
    return {"metrics": metrics, "data": parts["train"].name, "cpu_seconds": round(time.process_time() - start, 3)}


TABLE = load("lra/levels", by_setting(measure))
