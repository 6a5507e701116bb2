"""Fitting a model to a task: phases, progress, checkpoints that survive a kill, and restarts that need no test data."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

from tqdm.auto import tqdm

from lrnnlab.errors import checked, whole_number
from lrnnlab.models import SequenceModel
from lrnnlab.recipes import Mend, Phase, Recipe
from lrnnlab.steady import steady_arithmetic, stream
from lrnnlab.tasks import Task
from lrnnlab.training_run import Fit, TrainingRun, impurity

__all__ = ["Fit", "Mend", "Phase", "Recipe", "fit", "impurity", "steady_arithmetic", "stream"]


@checked
def fit(
    make_model: Callable[[int], SequenceModel],
    task: Task,
    recipe: Recipe,
    seed: int,
    *,
    accept: Callable[[SequenceModel], bool | list[tuple[int, ...]]] | None = None,
    check: Callable[[SequenceModel, int], dict] | None = None,
    check_every: int = 0,
    confirm: int = 1,
    checkpoint: Path | str | None = None,
    save_seconds: float = 5.0,
    progress: bool = True,
) -> Fit:
    """Train ``make_model(seed)`` on fresh strings of ``task`` at the training length; every labelled prefix counts.

    Parameters
    ----------
    accept : asked at the end of an attempt; if it says no, and ``recipe.attempts`` allows, training starts again
        from other weights and other strings.  It should look at training lengths only.  It may answer with strings
        that the model gets wrong: if the recipe can mend, those of at most the training length are learned first.
    check, check_every : ``check(model, step)`` returns a dict, at least ``score``; ``stop: True`` in ``confirm``
        checks in a row ends training.  The model with the highest score is kept as ``best``.
    checkpoint : a file written every ``save_seconds``; if it is there, training resumes from it and ends with the
        same numbers as if it had never been interrupted.  A damaged one, or one of another run, is named and ignored.

    Everything random comes from ``seed``; runs on one thread (see :func:`steady_arithmetic`).

    >>> from lrnnlab.models import build
    >>> from lrnnlab.tasks import Sum
    >>> task = Sum(2)
    >>> make = lambda seed: build("elman", vocab_size=2, classes=2, seed=seed, width=8)
    >>> fit(make, task, Recipe((Phase(steps=3, lr=1e-3),), batch=4), seed=0, progress=False).steps
    3
    """
    if whole_number(check_every, 0, "check_every") and check is None:
        raise ValueError(f"check_every={check_every} needs a check to call")
    whole_number(confirm, 1, "confirm")
    checkpoint = None if checkpoint is None else Path(checkpoint)
    if checkpoint is not None and checkpoint.is_dir():
        raise ValueError(f"checkpoint must be a file, got the folder {str(checkpoint)!r}")
    with steady_arithmetic():
        run = TrainingRun(make_model, task, recipe, seed)
        identity = _identity(run.model, task, recipe, seed, check_every)
        if checkpoint is not None:
            run.load(checkpoint, identity)
        saved = time.monotonic()
        with _bar(recipe, task, seed, progress) as bar:
            while not run.finished:
                run.advance()
                if check_every and run.step % check_every == 0:
                    run.look(check, confirm)
                if run.attempt_ended:
                    run.conclude(accept)
                bar.n = run.step
                bar.set_postfix(loss=f"{run.running:.3f}", attempt=run.attempt + 1, refresh=False)
                bar.update(0)
                if checkpoint is not None and not run.finished and time.monotonic() - saved > save_seconds:
                    run.save(checkpoint, identity)
                    saved = time.monotonic()
    return run.result()


def _bar(recipe: Recipe, task: Task, seed: int, progress: bool):
    interactive = sys.stderr.isatty() or "ipykernel" in sys.modules
    return tqdm(
        total=recipe.steps,
        desc=f"{task.name}, seed {seed}",
        unit="step",
        disable=not progress,
        leave=False,
        mininterval=0.2 if interactive else 10.0,  # a log file wants a line now and then, not a film
    )


def _identity(model: SequenceModel, task: Task, recipe: Recipe, seed: int, check_every: int) -> str:
    """What makes a run this run: its settings and the structure of its model."""
    shapes = {name: tuple(tensor.shape) for name, tensor in model.state_dict().items()}
    return repr((task.name, asdict(recipe), seed, check_every, repr(model), shapes))
