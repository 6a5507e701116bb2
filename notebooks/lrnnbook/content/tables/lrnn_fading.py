"""Why soft nets fade: spread within a value against the gap between values, and the horizon that follows from it.

Letters: B batch, T time, C classes, D width.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from lrnnbook.content.tables.lrnn_growth import FLOAT32_MAX
from lrnnbook.content.tables.lrnn_training import train_run
from lrnnbook.content.tables.records import significant
from lrnnbook.content.tables.table import Run, Setting, by_setting, get, load
from lrnnlab import tasks
from lrnnlab.automata import NO_LABEL
from lrnnlab.tasks.batch import answered
from lrnnlab.training import rng

OVERFLOW = math.sqrt(FLOAT32_MAX)
FLOOR = 1e-9  # what float32 cannot tell from zero


def whole(setting: dict) -> dict:
    """The setting with the training that it says, or else that of its row in ``lrnn/table2`` at the budget live."""
    training = Setting.of_plain(setting["training"]) if "training" in setting else (
        get("lrnn/table2").setting(setting["row"], setting["task"], "live"))  # fmt: skip
    return {**setting, "training": training.plain()}


def measure(setting: dict, seed: int, **how: Any) -> dict:
    """Train, then find the horizons, predicted and seen, and the curves that they come from."""
    training = Setting.of_plain(setting["training"])
    run = Run("lrnn/fading", setting["task"], setting["row"], seed, "live", "ours", training, setting["modulus"])
    result = train_run(run, **how)
    found = look(result.net, run.build_task(), setting, seed)
    found["metrics"] |= {"steps": result.steps, "attempts": result.attempt + 1}
    return {**found, "cpu_seconds": round(result.cpu_seconds, 3)}


def look(model: Any, task: tasks.Task, setting: dict, seed: int) -> dict:
    """Curves and horizons of a trained model, on fresh strings of its own stream: ``metrics`` and ``curves``."""
    length, window, level = setting["length"], setting["window"], setting["accuracy"]
    batch = task.sample(setting["strings"], length, rng(seed, "fading"))
    with torch.no_grad():
        raw = model.states(batch.tokens)
        states = model.final_norm(raw)
        logits = model.head(states)
    labels, right = batch.targets.numpy(), (answered(logits, task.classes) == batch.targets).double().mean(0).numpy()
    size = sizes(raw.numpy(), setting["quantile"])
    over = np.flatnonzero(~(size < OVERFLOW))
    T = int(over[0]) if len(over) else length  # positions before the overflow
    curves = ratios(states[:, :T].numpy(), logits[:, :T].numpy(), labels[:, :T], setting["quantile"])
    curves["size"], nearest = size[:T], curves.pop("nearest")
    learned, seen = bool(right[: task.train_length].mean() >= level), first_below(right, level, window)
    metrics = {
        "learned": learned, "accuracy_trained": float(right[: task.train_length].mean()), "seen": seen,
        "nearest": first_below(nearest, level, window), "overflow": T + 1 if len(over) else None,
        "predicted": {f"{first}-{last}": predict(curves, first, last) for first, last in setting["fits"]
                      if learned and min(seen or length + 1, T + 1) > last
                      and np.isfinite(curves["readout"][first - 1 : last]).all()},  # else a rare class is lost by then
    }  # fmt: skip
    at = np.unique(np.geomspace(1, T, 90).round().astype(int))
    shown = {name: [significant(curve[t - 1]) for t in at] for name, curve in (curves | {"accuracy": right}).items()}
    return {"metrics": metrics, "curves": {"position": at.tolist(), **shown}}


def sizes(raw: np.ndarray, quantile: float) -> np.ndarray:
    """(T,) quantile, over strings, of the length of a raw state (B, T, D) less its mean; what is infinite stays so."""
    raw = np.where(np.isfinite(raw), raw, np.nan).astype(np.float64)
    lengths = np.linalg.norm(raw - raw.mean(-1, keepdims=True), axis=-1)
    return _high(np.where(np.isnan(lengths), np.inf, lengths), quantile)


def ratios(states: np.ndarray, logits: np.ndarray, labels: np.ndarray, quantile: float) -> dict[str, np.ndarray]:
    """The three ratios by position, the gaps of the first and the third, and the accuracy of the nearest centre."""
    within, between = within_between(states, labels, quantile)
    own, _ = way_to_error(centre_scores(states, labels, logits.shape[-1]), labels)
    way, lead = way_to_error(logits, labels)
    return {
        "balls": 2 * within / between, "centres": _high(own, quantile), "readout": _high(way, quantile),
        "centre_gap": between, "readout_gap": lead, "nearest": (own < 1).mean(0),
    }  # fmt: skip


def _high(values: np.ndarray, quantile: float) -> np.ndarray:
    """The quantile over strings, taken as one of the values (of 256 the third from the top): with infinite ones among them
    nothing could be interpolated."""
    return np.quantile(values, quantile, axis=0, method="higher")


def first_below(right: np.ndarray, level: float, window: int) -> int | None:
    """First position (from 1) at which the mean over the last ``window`` positions is below ``level``; None: nowhere."""
    sums = np.concatenate([np.zeros(window), np.cumsum(right)])
    means = (sums[window:] - sums[:-window]) / np.minimum(np.arange(1, len(right) + 1), window)
    below = np.flatnonzero(means < level - 1e-12)
    return int(below[0]) + 1 if len(below) else None


def predict(curves: dict[str, np.ndarray], first: int, last: int) -> dict:
    """What positions ``first``..``last`` predict: when the readout fades, when float32 overflows, and the earlier."""
    law, fade = crossing(np.maximum(curves["readout"], FLOOR), first, last, 1.0)
    _, overflow = crossing(curves["size"], first, last, OVERFLOW, "exponential")
    return {"law": law, "fade": significant(fade), "overflow": significant(overflow),
            "growth": significant((curves["size"][last - 1] / curves["size"][first - 1]) ** (1 / (last - first)), 6),
            "horizon": significant(min(fade, overflow))}  # fmt: skip


def within_between(
    states: np.ndarray, labels: np.ndarray, quantile: float | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """(T,) mean (or that quantile) of the distances of states (B,T,D) to their class's centre, and the least of two centres;
    labels (B,T), -1 for none.  NaN where a position has no labelled state, or only one class."""
    states = np.asarray(states, dtype=np.float64)
    within, between = np.full(states.shape[1], np.nan), np.full(states.shape[1], np.nan)
    for t in range(states.shape[1]):
        groups = [states[labels[:, t] == c, t] for c in np.unique(labels[:, t]) if c != NO_LABEL]
        centres = np.array([group.mean(0) for group in groups])
        if groups:
            away = np.concatenate([np.linalg.norm(g - c, axis=1) for g, c in zip(groups, centres)])
            within[t] = away.mean() if quantile is None else np.quantile(away, quantile)
        if len(groups) > 1:
            gaps = np.linalg.norm(centres[:, None] - centres[None], axis=-1)
            between[t] = gaps[np.triu_indices(len(groups), 1)].min()
    return within, between


def centre_scores(states: np.ndarray, labels: np.ndarray, C: int) -> np.ndarray:
    """Scores (B, T, C), largest for the class of the nearest centre: 2 x.m - m.m, m the class's mean at position t."""
    states = states.astype(np.float64)
    member = (labels[..., None] == np.arange(C)).swapaxes(0, 1).swapaxes(1, 2).astype(float)  # (T, C, B)
    with np.errstate(invalid="ignore"):
        means = member @ states.swapaxes(0, 1) / member.sum(2, keepdims=True)  # (T, C, D)
    return 2 * (states.swapaxes(0, 1) @ means.swapaxes(1, 2)).swapaxes(0, 1) - (means**2).sum(2)


def way_to_error(scores: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """How far each string has gone from its class's mean (0) to a wrong answer (1): ``way`` (B, T), and ``lead`` (T,)."""
    scores = scores.astype(np.float64)
    way, lead = np.full(labels.shape, np.nan), np.full(labels.shape[1], np.inf)
    for t in range(labels.shape[1]):
        for k in set(labels[:, t].tolist()) - {NO_LABEL}:
            mine = labels[:, t] == k
            leads = scores[mine, t, k, None] - np.delete(scores[mine, t], k, axis=1)  # (strings, C - 1)
            leads = leads[:, ~np.isnan(leads[0])]
            mean = leads.mean(0)
            with np.errstate(divide="ignore", invalid="ignore"):
                way[mine, t] = np.where(mean > 0, 1 - leads / mean, np.inf).max(1, initial=-np.inf)
            lead[t] = mean.min(initial=lead[t])
    return way, lead


def crossing(curve: np.ndarray, first: int, last: int, level: float, law: str = "better") -> tuple[str, float]:
    """The law fitted to positions ``first``..``last`` of a curve (T,), and where it reaches ``level`` (inf: never), by least
    squares of log y: ``power`` y = a t^c, ``exponential`` y = a e^(ct); ``better`` has the smaller residual."""
    laws: dict[str, Callable] = {"power": np.log, "exponential": np.asarray}
    t, y = np.arange(first, last + 1), np.asarray(curve, dtype=float)[max(first, 1) - 1 : last]
    if len(y) < 3 or len(y) != len(t) or not ((y > 0) & np.isfinite(y)).all():
        raise ValueError(f"positions {first}..{last} of {len(curve)} are not three or more positive numbers: {y}")
    found = []
    for name in laws if law == "better" else [law]:
        (slope, start), left, *_ = np.polyfit(laws[name](t), np.log(y), 1, full=True)
        x = (math.log(level) - start) / slope if slope > 1e-12 else math.inf
        x = math.inf if x > 700 and name == "power" else math.exp(x) if name == "power" else x
        found.append((float(left[0]), name, x))
    return min(found)[1:]


TABLE = load("lrnn/fading", by_setting(measure), make=whole)
