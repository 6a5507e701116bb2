"""Table 2 of paper 000, label smoothing, and how its baselines are trained: what ends training, what is looked at on the way,
and what is measured."""

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import Any

from lrnnbook.content.tables.table import Run, Setting, by_setting, load, options
from lrnnlab import scans, tasks
from lrnnlab.models import Net, build, snap
from lrnnlab.training import Fit, Phase, Recipe, fit
from lrnnlab.training.evaluation import evaluate
from lrnnlab.verification import Verdict, verify

SNAPPED_LENGTH = 10_000
APART = 100_003  # more than the steps of any run here, so that no two (seed, step) look at the same strings
MENDABLE = 0.9  # a snapped model that is wrong more often than this at the training length is not worth mending


def train_run(run: Run, progress: bool = True, checkpoint: Path | None = None) -> Fit:
    """Train the model of ``run`` as its ``Setting`` says; what a notebook's live cell calls."""
    return _train(run, progress, checkpoint)[0]


def _train(run: Run, progress: bool, checkpoint: Path | None) -> tuple[Fit, Verdict | None]:
    """The trained model, and what the search that accepted it found, where that was asked."""
    verdicts: list[Verdict] = []
    scans.warm()  # a first run on a machine compiles; that is not training time
    task, setting = run.build_task(), run.setting
    watch, every = _watch(run, task)
    made = fit(
        run.build_model, task, setting.recipe, seed=run.seed,
        accept=_accept(run, task, verdicts), watch=watch, watch_every=every, confirm=2 if setting.stop == "long" else 1,
        checkpoint=checkpoint, progress=progress,
    )  # fmt: skip
    return made, verdicts[-1] if made.accepted and verdicts else None


def measure(run: Run, progress: bool = False, checkpoint: Path | None = None) -> dict:
    """Train, then ask for answers past the training length, of the snapped model too where the setting snaps."""
    task, setting = run.build_task(), run.setting
    result, verdict = _train(run, progress, checkpoint)
    trained = time.perf_counter()
    metrics = evaluate(result.net, task, seed=run.seed).metrics()
    if result.best is not None:
        metrics |= {f"best_{k}": v for k, v in evaluate(result.best, task, seed=run.seed).metrics().items()}
        metrics["best_of_checks"] = max(found["score"] for found in result.watched)
    if setting.stop == "proved":
        metrics |= _snapped(run, task, result.net, verdict)
    return {
        "wall_seconds": round(result.seconds, 3), "cpu_seconds": round(result.cpu_seconds, 3),
        "evaluation_seconds": round(time.perf_counter() - trained, 3), "steps": result.steps,
        "attempts": result.attempt + 1, "lessons": result.lessons, "accepted": result.accepted, "stop": setting.stop,
        "metrics": metrics, "levels": levels(task), "checks": result.watched,
        "losses": [[s, round(v, 6)] for s, v in result.losses[:: max(1, len(result.losses) // 200)]],
    }  # fmt: skip


def levels(task: tasks.Task) -> dict[str, float]:
    """What a guesser scores at the last position: uniformly, always the commonest, and best of 40 checks of 128."""
    majority = task.majority(task.test_length)
    return {
        "chance": task.chance,
        "majority": majority,
        "best_of_40_guesser": tasks.batch.best_of_checks(task.chance)[0],
        "best_of_40_majority": tasks.batch.best_of_checks(majority)[0],
    }


def _watch(run: Run, task: tasks.Task) -> tuple[Callable | None, int]:
    """The paper's protocol checks 40 times, at the last position; ours only where the setting stops on long strings."""
    setting, paper = run.setting, run.protocol == "paper"
    if setting.stop == "long" and not paper:
        return lambda model, step: _perfect(run, task, model, step), setting.check_every
    if setting.stop != "watched" and not paper:
        return None, 0

    def glance(model, step):
        seed = run.seed * APART + step
        score = evaluate(model, task, seed=seed, strings=128, purpose="check").accuracy_last
        return {"score": score, "stop": score == 1.0} if paper else {"score": score}

    return glance, max(1, setting.recipe.steps // 40) if paper else setting.check_every


def _perfect(run: Run, task: tasks.Task, model, step: int) -> dict:
    """A check at the test length: 128 strings, and only if all are right at every position another 1,024."""
    for part, strings in enumerate((128, 1024)):
        seed = (run.seed * APART + step) * 2 + part
        found = evaluate(model, task, seed=seed, strings=strings, purpose="check")
        score = min(found.accuracy_last, found.accuracy_all)
        if score < 1.0:
            return {"score": score, "stop": False}
    return {"score": 1.0, "stop": True}


def _accept(run: Run, task: tasks.Task, verdicts: list[Verdict]) -> Callable | None:
    """What an attempt must pass, or training starts again; what is searched is added to ``verdicts``."""
    setting = run.setting
    if setting.stop in ("recipe", "watched"):
        return None
    if setting.stop == "long":
        return lambda model: _perfect(run, task, model, 0)["stop"]

    def exact_when_snapped(model):
        hard = snap(model)
        found = evaluate(hard, task, seed=run.seed, length=task.train_length, strings=256, purpose="accept")
        if found.accuracy_seen < (1.0 if setting.recipe.mend is None else MENDABLE):
            return False
        verdict = verify(hard, task.specification, wanted=300, depth=task.train_length)
        verdicts.append(verdict)
        seen = verdict.robust and (verdict.exhausted or verdict.depth >= task.train_length)
        return list(verdict.counterexamples) or seen

    return exact_when_snapped


def _snapped(run: Run, task: tasks.Task, model: Net, verdict: Verdict | None) -> dict:
    """What the snapped model does.  Of one that is proved right on every string, 256 strings only check the proof."""
    hard = snap(model)
    if verdict is None or not verdict.proved:
        verdict = verify(hard, task.specification)
    found, far = evaluate(hard, task, seed=run.seed, strings=256 if verdict.proved else 1024), 1.0
    if not verdict.proved:
        length = task.near(SNAPPED_LENGTH)
        far = evaluate(hard, task, seed=run.seed, length=length, strings=64, purpose="far").accuracy_all
    elif found.whole < 1:
        raise AssertionError(f"{run.experiment}, {run.task}, seed {run.seed}: proved, and wrong on a string: please report this")
    return {
        "snapped_accuracy_last": found.accuracy_last,
        "snapped_accuracy_all": found.accuracy_all,
        f"snapped_accuracy_{SNAPPED_LENGTH}": far,
        "snapped_proved": verdict.proved,
        "snapped_verdict": str(verdict),
    }


def for_protocol(found: Setting, protocol: str) -> Setting:
    """The paper's protocol has its own checks and no restarts."""
    if protocol == "ours":
        return found
    return replace(found, stop="recipe", recipe=replace(found.recipe, attempts=1))


def measure_rate(setting: dict, seed: int, **how: Any) -> dict:
    """Train a baseline from seed ``first_seed + seed`` and say how often the answers are right at the training length."""
    task, seed = tasks.task(setting["task"], setting["modulus"]), setting["first_seed"] + seed
    sizes = {"vocab_size": task.vocab_size, "classes": task.classes}
    result = fit(
        lambda start: build(setting["model"], seed=start, **sizes, **setting["options"]), task,
        Recipe((Phase(**setting["phase"]),), **options(setting["recipe"])), seed=seed, **how,
    )  # fmt: skip
    found = evaluate(result.net, task, seed=seed, length=setting["length"], strings=setting["strings"], purpose="rate")
    loss = fmean(value for _, value in result.losses[-10:]) if result.accepted else None
    metrics = {"accuracy": found.accuracy_seen, "accuracy_last": found.accuracy_last, "loss": loss, "finished": result.accepted}
    return {"metrics": metrics, "losses": [[step, round(value, 6)] for step, value in result.losses]}


TABLE = load("lrnn/table2", measure, make=Setting.of_plain, for_protocol=for_protocol)
load("lrnn/smoothing", measure, make=Setting.of_plain)
load("lrnn/baseline_rates", by_setting(measure_rate))  # the paper says nothing of how its baselines were trained
