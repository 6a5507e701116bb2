"""Why soft nets fade: spread within a value against the gap between values, and the horizon that follows from it.

A network that is trained on strings of 40 digits is right for some way beyond, then no longer.  Can its states tell
beforehand for how long?  Each row is trained on Sum(5) and reads 256 fresh strings of 2,000 digits.  The value of a
prefix, here also the state of the automaton, is a class.  Four things are followed along the positions t:

===========  ==========================================================================================================
``balls``    twice the 99 % quantile of the distances from the class's centre, over the least gap between two centres;
             states as the readout sees them, after LayerNorm.  Below 1, all but 1 % are safe wherever they turn
``centres``  the 99 % quantile of ``analysis.way_to_error`` for the nearest of the centres *at t*: only the part of a
             distance that leads to another centre counts.  At 1, a reading that moves with the centres is 1 % wrong
``readout``  the same for the trained readout, which does not move: at 1, *it* is 1 % wrong.  The gap here is the least
             mean lead, over pairs of classes, of the right answer over another; spread = ratio x gap
``size``     the 99 % quantile of the lengths of the raw states less their means.  LayerNorm squares them: beyond the
             root of what float32 holds (1.8e19) the variance is infinite, and all strings get the same answer
===========  ==========================================================================================================

Predicted: ``readout`` on the positions 10..40 (and 10..200), by a power law or an exponential, whichever fits better
there, solved for 1; ``size`` on the same positions by an exponential, solved for 1.8e19; the earlier of the two is the
horizon.  Seen: the first position at which the accuracy, a mean over the last 20 positions, is below 99 %.  A seed
predicts nothing if it is not learned: below 99 % up to the training length.

Rows ``release``, ``clip`` and ``softmax`` are trained by the live settings of ``lrnn/table2``.  The first two stop, or
start again, by strings of length 500: that they hold so far is chosen, not found.  So does ``lstm`` there; here it has a
setting of its own, which sees no string longer than 40: the same 600 steps and linear readout, and a rate of 0.01, which
was chosen on seeds 5 to 7.

Letters: B batch, T time, C classes, D width.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import torch

from lrnnlab import tasks
from lrnnlab.tasks.base import answered
from lrnnlab.training.determinism import rng
from workbook.tables import lrnn_table2
from workbook.tables.analysis import FLOAT32_MAX, centre_scores, crossing, way_to_error, within_between
from workbook.tables.lrnn_training import train
from workbook.tables.table import Run, Setting, by_setting, load
from workbook.tables.text import significant

OVERFLOW = math.sqrt(FLOAT32_MAX)
FLOOR = 1e-9  # what float32 cannot tell from zero


def whole(setting: dict) -> dict:
    """The setting with the training that it says, or else that of its row in ``lrnn/table2`` at the budget live."""
    training = Setting.of_plain(setting["training"]) if "training" in setting else (
        lrnn_table2.TABLE.setting(setting["row"], setting["task"], "live"))  # fmt: skip
    return {**setting, "training": training.plain()}


def measure(setting: dict, seed: int, progress: bool = False, checkpoint: Path | None = None) -> dict:
    """Train, then find the horizons, predicted and seen, and the curves that they come from.

    ``seen``, ``nearest`` (for the nearest centre at t, up to the overflow) and ``overflow`` are None where they do not
    come within the length, predictions where they never come.

    >>> training = {"model": "elman", "options": {"width": 8}, "recipe": {"phases": [{"steps": 2, "lr": 1e-3}]}}
    >>> found = measure({**TABLE.setting("lstm", "sum", "live"), "length": 250, "training": training}, seed=0)["metrics"]
    >>> found["learned"], found["predicted"]
    (False, {})
    """
    training = Setting.of_plain(setting["training"])
    run = Run("lrnn/fading", setting["task"], setting["row"], seed, "live", "ours", training, setting["modulus"])
    result = train(run, progress=progress, checkpoint=checkpoint)
    found = look(result.model, run.build_task(), setting, seed)
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
    """(T,) quantile, over strings, of the length of a raw state (B, T, D) less its mean; what is infinite stays so.

    >>> sizes(np.array([[[3.0, -3.0], [np.inf, 0.0]]]), 0.99).round(3).tolist()
    [4.243, inf]
    """
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
    """First position (from 1) at which the mean over the last ``window`` positions is below ``level``; None: nowhere.

    >>> first_below(np.array([1.0] * 30 + [0.2] * 30), 0.99, 20)
    31
    """
    sums = np.concatenate([np.zeros(window), np.cumsum(right)])
    means = (sums[window:] - sums[:-window]) / np.minimum(np.arange(1, len(right) + 1), window)
    below = np.flatnonzero(means < level - 1e-12)
    return int(below[0]) + 1 if len(below) else None


def predict(curves: dict[str, np.ndarray], first: int, last: int) -> dict:
    """What positions ``first``..``last`` foretell: when the readout fades, when float32 overflows, and the earlier."""
    law, fade = crossing(np.maximum(curves["readout"], FLOOR), first, last, 1.0)
    _, overflow = crossing(curves["size"], first, last, OVERFLOW, "exponential")
    return {"law": law, "fade": significant(fade), "overflow": significant(overflow),
            "growth": significant((curves["size"][last - 1] / curves["size"][first - 1]) ** (1 / (last - first)), 6),
            "horizon": significant(min(fade, overflow))}  # fmt: skip


TABLE = load("lrnn/fading", by_setting(measure), make=whole)
