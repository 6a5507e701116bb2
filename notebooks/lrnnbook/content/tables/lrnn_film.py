"""A training run of the block model as a film: its matrices, its answers and its accuracy by length, every few steps.

No table of paper 000: what chapter 02 shows of one run of row ``softmax`` of ``lrnn/table2``.  A frame is kept small: a
number from 0 to 1 is one of 64 characters.

Letters: V vocabulary, C classes, h heads, b block size.
"""

from dataclasses import replace
from pathlib import Path

import numpy as np
import torch

from lrnnbook.content.tables.table import Run, get, load
from lrnnlab import scans
from lrnnlab.models import Net, snap
from lrnnlab.models.exact import symbol_transitions
from lrnnlab.tasks import Task
from lrnnlab.training import fit, rng
from lrnnlab.training.evaluation import evaluate

DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_"
EVERY = 10  # steps
POSITIONS = (1, 2, 5, 10, 20, 40, 80, 160, 320, 500)
STRINGS = 60  # whose answers are shown


def written(values: np.ndarray) -> str:
    """Numbers from 0 to 1, a character each, in steps of 1/63."""
    return "".join(DIGITS[i] for i in np.rint(63 * np.clip(values, 0, 1)).astype(int).ravel())


@torch.no_grad()
def frame(model: Net, task: Task, step: int, seed: int) -> dict:
    """What is kept of a model: ``matrices`` (V, h, b, b); ``places`` (strings, 2), a string's answer probabilities pulling it to
    the corners exp(2 pi i c / C); ``right`` at ``POSITIONS``; ``snapped``, of the snapped model, at all positions."""
    shown = task.sample(STRINGS, task.train_length, rng(seed, "film"))
    sure = model(shown.tokens)[:, -1].softmax(-1).double().numpy()  # (strings, C)
    places = sure @ np.exp(2j * np.pi * np.arange(sure.shape[1]) / sure.shape[1])
    found, hard = (evaluate(one, task, seed=seed, strings=64, purpose="film") for one in (model, snap(model)))
    return {
        "step": step, "score": found.accuracy_all,
        "right": [round(float(found.per_position[position - 1]), 4) for position in POSITIONS],
        "snapped": round(hard.accuracy_all, 4),
        "matrices": written(symbol_transitions(model)[0].numpy()),
        "places": written((np.stack([places.real, places.imag], 1) + 1) / 2),
    }  # fmt: skip


def measure(run: Run, progress: bool = False, checkpoint: Path | None = None) -> dict:
    """Train once, without asking whether the snapped model is proved, and look every ten steps."""
    scans.warm()
    task = run.build_task()
    strings = task.sample(STRINGS, task.train_length, rng(run.seed, "film"))
    result = fit(run.build_model, task, replace(run.setting.recipe, attempts=1), seed=run.seed, watch_every=EVERY,
                 watch=lambda model, step: frame(model, task, step, run.seed),
                 checkpoint=checkpoint, progress=progress)  # fmt: skip
    frames = [frame(run.build_model(), task, 0, run.seed), *result.watched]
    if frames[-1]["step"] < result.steps:
        frames.append(frame(result.net, task, result.steps, run.seed))
    A = symbol_transitions(result.net)[0]
    return {
        "wall_seconds": round(result.seconds, 3), "steps": result.steps, "frames": frames, "shape": list(A.shape),
        "positions": list(POSITIONS), "answers": strings.targets[:, -1].tolist(), "train_length": task.train_length,
        "metrics": {"accuracy_all": frames[-1]["score"], "snapped_accuracy_all": frames[-1]["snapped"]},
    }  # fmt: skip


TABLE = load("lrnn/film", measure, configure=lambda row, task, budget: get("lrnn/table2").setting(row, task, "live"))
