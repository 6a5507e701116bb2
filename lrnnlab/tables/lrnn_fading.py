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
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from lrnnlab import tasks
from lrnnlab.analysis import FLOAT32_MAX, centre_scores, crossing, way_to_error, within_between
from lrnnlab.tables import lrnn_table2
from lrnnlab.tables.lrnn_training import train
from lrnnlab.tables.table import Run, Setting, Table, by_setting
from lrnnlab.tables.text import lines, significant, who
from lrnnlab.tasks.base import answered
from lrnnlab.training import Phase, Recipe
from lrnnlab.training.steady import stream

ROWS = ("release", "clip", "softmax", "lstm")
SIZES = {"live": (64, 1000), "desk": (256, 2000)}  # strings, length
FITS = ((10, 40), (10, 200))
OVERFLOW = math.sqrt(FLOAT32_MAX)
FLOOR = 1e-9  # what float32 cannot tell from zero

_LSTM = Setting(
    "lstm", {"layers": 1, "head": "linear"},
    Recipe((Phase(steps=600, lr=1e-2, final_lr=1e-4, warmup=100, weight_decay=0.01),), batch=64, betas=(0.9, 0.99),
           clip=1.0),
)  # fmt: skip


def setting(row: str, task: str, budget: str) -> dict:
    """How one row is trained, and how it is looked at: 64 strings of 1,000 digits live, 256 of 2,000 at the desk.

    >>> setting("clip", "sum", "desk")["training"]["options"]["rule"]
    'clip'
    """
    strings, length = SIZES[budget]
    training = _LSTM if row == "lstm" else lrnn_table2.setting(row, task, "live")
    return {"task": task, "modulus": 5, "row": row, "training": training.plain(), "strings": strings, "length": length,
            "quantile": 0.99, "accuracy": 0.99, "window": 20, "fits": FITS}  # fmt: skip


def measure(setting: dict, seed: int, progress: bool = False, checkpoint: Path | None = None) -> dict:
    """Train, then find the horizons, predicted and seen, and the curves that they come from.

    ``seen``, ``nearest`` (for the nearest centre at t, up to the overflow) and ``overflow`` are None where they do not
    come within the length, predictions where they never come.

    >>> found = measure({**setting("lstm", "sum", "live"), "length": 250, "training": Setting(
    ...     "elman", {"width": 8}, Recipe((Phase(steps=2, lr=1e-3),))).plain()}, seed=0)["metrics"]
    >>> found["learned"], found["predicted"]
    (False, {})
    """
    training = _training(setting["training"])
    run = Run("lrnn/fading", setting["task"], setting["row"], seed, "live", "ours", training, setting["modulus"])
    result = train(run, progress=progress, checkpoint=checkpoint)
    found = look(result.model, run.build_task(), setting, seed)
    found["metrics"] |= {"steps": result.steps, "attempts": result.attempt + 1}
    return {**found, "cpu_seconds": round(result.cpu_seconds, 3)}


def _training(plain: dict) -> Setting:
    """The ``Setting`` that had been made plain."""
    recipe = {**plain["recipe"], "phases": tuple(Phase(**phase) for phase in plain["recipe"]["phases"])}
    return Setting(**{**plain, "recipe": Recipe(**recipe)})


def look(model: Any, task: tasks.Task, setting: dict, seed: int) -> dict:
    """Curves and horizons of a trained model, on fresh strings of its own stream: ``metrics`` and ``curves``."""
    length, window, level = setting["length"], setting["window"], setting["accuracy"]
    batch = task.sample(setting["strings"], length, stream(seed, "fading"))
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


def line(record: dict) -> str:
    """One record in a few words: when it ends, and when that was to be expected."""
    found = record["metrics"]
    return f"{who(record)}: seen {_at(found['seen'], record)}, predicted " + (
        ", ".join(f"{_at(p['horizon'], record)} from {fit}" for fit, p in found["predicted"].items()) or "nothing"
    )


def table(records: Sequence[dict]) -> str:
    """By row and seed: the horizon seen, with its cause; predicted, by fit; and by what factor that is off."""
    level = records[0]["config"]["setting"]["accuracy"]
    body = lines("when it ends, and when that was to be expected", (row for record in records for row in _rows(record)))
    return (f"{body}\n"
            f"seen: accuracy below {level:.0%}; centres: the same of the nearest centre at t; off: predicted / seen.\n"
            "release, clip: trained until strings of length 500 were right; the others saw none above 40.")


def _rows(record: dict):
    found, length = record["metrics"], record["config"]["setting"]["length"]
    end = length if found["overflow"] is None else found["overflow"] - 1
    for fit, predicted in found["predicted"].items() or [("-", None)]:
        yield {
            "row": record["row"] + ("" if found["learned"] else " (not learned)"), "seed": record["seed"],
            "seen": _at(found["seen"], record), "overflow": _at(found["overflow"], record),
            "centres": f">{end}" if found["nearest"] is None else found["nearest"], "from": fit,
            **({f"predicted {what}": _at(predicted[what], record) for what in ("fade", "overflow", "horizon")}
               | {"law": predicted["law"], "off": off(predicted["horizon"], found["seen"], length)}
               if predicted else {}),
        }  # fmt: skip


def off(predicted: float | None, seen: int | None, length: int) -> str:
    """Predicted over seen; "<" or ">" where one of them lies beyond the ``length``, "agree" where both do.

    >>> off(500, 1000, 2000), off(500, None, 2000), off(None, 1000, 2000), off(None, None, 2000)
    ('0.50', '<0.25', '>2.00', 'agree')
    """
    if predicted is None or predicted > length:
        return "agree" if seen is None else f">{length / seen:.2f}"
    return f"<{predicted / length:.2f}" if seen is None else f"{predicted / seen:.2f}"


def _at(position: float | None, record: dict) -> str:
    length = record["config"]["setting"]["length"]
    return f">{length}" if position is None or position > length else f"{position:.0f}"


TABLE = Table("lrnn/fading", ROWS, ("sum",), setting, by_setting(measure), line, table, ("live", "desk"),
              aliases={"ours": "softmax"})  # the paper has no such measurement  # fmt: skip
