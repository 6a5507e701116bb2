"""Runs of an experiment: what one run is, how many go at once, what is recorded, what is printed."""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from joblib import Parallel, delayed

from lrnnlab import records, scans, tasks
from lrnnlab.tables.measuring import Measurement
from lrnnlab.models import Net, build, snap
from lrnnlab.training import Fit, Recipe, fit, steady_arithmetic
from lrnnlab.training.evaluation import evaluate
from lrnnlab.verification import verify

BUDGETS = ("live", "desk", "paper")
PROTOCOLS = ("ours", "paper")
SNAPPED_LENGTH = 10_000
MENDABLE = 0.9  # a snapped model that is wrong more often than this at the training length is not worth mending


@dataclass(frozen=True)
class Setting:
    """One cell of a table at one budget: the model, how it is trained, and what ends its training.

    stop : ``"recipe"``: the recipe's own phases and nothing else; ``"watched"``: likewise, with a look at strings of the
        *test* length every ``check_every`` steps, which changes nothing but is how the best checkpoint is known;
        ``"snapped"``: as ``"recipe"``, then the snapped model must be perfect on fresh strings of the *training*
        length, else training starts again; ``"proved"`` (tables say "searched"): likewise, and a search over its states
        must find it right on *every* string of up to the training length (what it gets wrong is learned, if the recipe
        can mend; longer strings play no part; whether the run is proved is its record's ``snapped_proved``);
        ``"long"``: training ends once two checks in a row, on strings of the *test* length from a stream of their own,
        are perfect, and starts again if the last weights do not pass one.  A row that stops on long strings has seen
        their length; tables say so.
    """

    model: str
    options: dict
    recipe: Recipe
    stop: str = "recipe"
    check_every: int = 50

    def plain(self) -> dict:
        """As plain data.  What recipes learned late is left out where it is not used, so that earlier records stay good."""
        plain = asdict(self)
        recipe = plain["recipe"]
        for part, late in [(recipe, "mend"), *((phase, "prune") for phase in recipe["phases"])]:
            if part[late] is None:
                del part[late]
        return plain


@dataclass(frozen=True)
class Run:
    """One training run and its measurement."""

    experiment: str
    task: str
    row: str
    seed: int
    budget: str
    protocol: str
    setting: Setting
    modulus: int = 5

    def config(self) -> dict:
        """All that decides the outcome, as plain data."""
        return json.loads(json.dumps({**asdict(self), "setting": self.setting.plain()}, default=list))

    def build_task(self) -> tasks.Task:
        return tasks.task(self.task, self.modulus)

    def build_model(self, seed: int | None = None) -> Net:
        """The untrained model, with the weights of ``seed`` (the run's own if absent)."""
        task, setting = self.build_task(), self.setting
        seed = self.seed if seed is None else seed
        return build(setting.model, vocab_size=task.vocab_size, classes=task.classes, seed=seed, **setting.options)

    def path(self, data: Path) -> Path:
        name = f"{self.task}{self.modulus}-{self.row}-{self.seed}"
        protocol = "" if self.protocol == "ours" else "-paper-protocol"
        return data / "records" / self.experiment / self.budget / f"{name}{protocol}.json"


def train(run: Run, progress: bool = True, checkpoint: Path | None = None) -> Fit:
    """Train the model of ``run`` as its setting says; what a notebook's live cell calls."""
    scans.warm()  # a first run on a machine compiles; that is not training time
    task, setting = run.build_task(), run.setting
    check, every = _check(run, task)
    return fit(
        run.build_model, task, setting.recipe, run.seed,
        accept=_accept(run, task), check=check, check_every=every, confirm=2 if setting.stop == "long" else 1,
        checkpoint=checkpoint, progress=progress,
    )  # fmt: skip


def perform(run: Run, progress: bool = False, checkpoint: Path | None = None) -> dict:
    """Train and measure; the returned record holds the configuration, every metric and where it came from."""
    task, setting, provenance = run.build_task(), run.setting, records.provenance()
    result = train(run, progress, checkpoint)
    trained = time.perf_counter()
    metrics = evaluate(result.model, task, seed=run.seed).metrics()
    if result.best is not None:
        metrics |= {f"best_{k}": v for k, v in evaluate(result.best, task, seed=run.seed).metrics().items()}
        metrics["best_of_checks"] = max(found["score"] for found in result.checks)
    if setting.stop in ("snapped", "proved"):
        metrics |= _snapped(run, task, result)
    return {
        "experiment": run.experiment, "task": run.task, "row": run.row, "seed": run.seed, "budget": run.budget,
        "protocol": run.protocol, "wall_seconds": round(result.seconds, 3), "cpu_seconds": round(result.cpu_seconds, 3),
        "evaluation_seconds": round(time.perf_counter() - trained, 3), "steps": result.steps,
        "attempts": result.attempt + 1, "lessons": result.lessons, "accepted": result.accepted, "stop": setting.stop, "metrics": metrics,
        "levels": levels(task),
        "losses": [[s, round(v, 6)] for s, v in result.losses[:: max(1, len(result.losses) // 200)]],
        "checks": result.checks, "fingerprint": records.fingerprint(run.config()), "config": run.config(),
        "provenance": provenance,
    }  # fmt: skip


def levels(task: tasks.Task) -> dict[str, float]:
    """What a guesser scores at the last position: uniformly, always the commonest, and best of 40 checks of 128."""
    majority = task.majority(task.test_length)
    return {
        "chance": task.chance,
        "majority": majority,
        "best_of_40_guesser": tasks.best_of_checks(task.chance)[0],
        "best_of_40_majority": tasks.best_of_checks(majority)[0],
    }


def _check(run: Run, task: tasks.Task) -> tuple[Callable | None, int]:
    """The paper's protocol checks 40 times, at the last position; ours only where the setting stops on long strings."""
    setting = run.setting
    if run.protocol == "paper":

        def paper_check(model, step):
            score = evaluate(model, task, seed=run.seed * 100_003 + step, strings=128, purpose="check").accuracy_last
            return {"score": score, "stop": score == 1.0}

        return paper_check, max(1, setting.recipe.steps // 40)
    if setting.stop == "watched":

        def glance(model, step):
            seed = run.seed * 100_003 + step
            return {"score": evaluate(model, task, seed=seed, strings=128, purpose="check").accuracy_last}

        return glance, setting.check_every
    if setting.stop != "long":
        return None, 0
    return lambda model, step: _perfect(run, task, model, step), setting.check_every


def _perfect(run: Run, task: tasks.Task, model, step: int) -> dict:
    """A check at the test length: 128 strings, and only if all are right at every position another 1,024."""
    for part, strings in enumerate((128, 1024)):
        seed = (run.seed * 100_003 + step) * 2 + part
        found = evaluate(model, task, seed=seed, strings=strings, purpose="check")
        score = min(found.accuracy_last, found.accuracy_all)
        if score < 1.0:
            return {"score": score, "stop": False}
    return {"score": 1.0, "stop": True}


def _accept(run: Run, task: tasks.Task) -> Callable | None:
    """What an attempt must pass, or training starts again."""
    setting = run.setting
    if setting.stop in ("recipe", "watched"):
        return None
    if setting.stop == "long":
        return lambda model: _perfect(run, task, model, 0)["stop"]

    def exact_when_snapped(model):
        hard = snap(model)
        found = evaluate(hard, task, seed=run.seed, length=task.train_length, strings=1000, purpose="accept")
        if setting.stop == "snapped":
            return found.accuracy_seen == 1.0
        if found.accuracy_seen < (1.0 if setting.recipe.mend is None else MENDABLE):
            return False
        verdict = verify(hard, task.specification, wanted=300, depth=task.train_length)
        seen = verdict.decided and (verdict.closed or verdict.depth >= task.train_length)
        return list(verdict.counterexamples) or seen

    return exact_when_snapped


def _snapped(run: Run, task: tasks.Task, result: Fit) -> dict:
    hard = snap(result.model)
    found = evaluate(hard, task, seed=run.seed)
    length = SNAPPED_LENGTH - (task.test_length % 2)  # an odd length where the task wants one
    far = evaluate(hard, task, seed=run.seed, length=length, strings=64, purpose="far")
    verdict = verify(hard, task.specification)
    return {
        "snapped_accuracy_last": found.accuracy_last,
        "snapped_accuracy_all": found.accuracy_all,
        f"snapped_accuracy_{SNAPPED_LENGTH}": far.accuracy_all,
        "snapped_proved": verdict.proved,
        "snapped_verdict": str(verdict),
    }


def perform_all(
    runs: Sequence[Run] | Sequence[Measurement], *, work: Callable = perform, jobs: int = 1, data: Path | None = None,
    reuse: bool = True, progress: bool = False, announce: Callable[[int, int], None] | None = None,
) -> Iterator[dict]:  # fmt: skip
    """Perform ``runs``, ``jobs`` at a time, and yield their records in order as they are ready.

    With ``data``, every record is written there as soon as it exists, and (if ``reuse``) a good record of the very
    same configuration is not run again; unfinished runs of training resume from ``data/checkpoints``.  ``OSError``
    before anything is run if nothing can be written there.  If a write fails later, the record is yielded all the
    same, with why under ``"unwritten"``.

    Every run uses one thread and random numbers of its own, so the numbers do not depend on ``jobs``.

    work : called with a run, ``progress`` and the path of a checkpoint (or None); returns the record.
    announce : called once before anything is run, with the number of runs and the number that is recorded.
    """
    if jobs < 1:
        raise ValueError(f"jobs must be at least 1, got {jobs}")
    found = [_recorded(run, data if reuse else None) for run in runs]
    missing = [run for run, record in zip(runs, found) if record is None]
    if announce is not None:
        announce(len(runs), len(runs) - len(missing))
    if data is not None:
        records.check_writable(run.path(data) for run in missing)
    calls = [delayed(_one)(work, run, data, reuse, progress and jobs == 1) for run in missing]
    made = Parallel(n_jobs=min(jobs, len(calls)), return_as="generator")(calls) if calls else None
    try:
        for record in found:
            yield next(made) if record is None else record
    finally:
        with warnings.catch_warnings():  # of results that nobody fetched before an interrupt: they are recorded
            warnings.simplefilter("ignore", UserWarning)
            del made


def _recorded(run: Run | Measurement, data: Path | None) -> dict | None:
    """The good record of exactly this run, if there is one."""
    found = None if data is None else records.read(run.path(data), records.fingerprint(run.config()))
    return found and {**found, "recorded": True}


def _one(work: Callable, run: Run | Measurement, data: Path | None, reuse: bool, progress: bool) -> dict:
    """One run, in whatever process: the same arithmetic in all, and recorded at once."""
    if reuse and data is not None and run.path(data).is_file() and (found := _recorded(run, data)):
        return found  # another series was faster
    checkpoint = None
    if data is not None:
        name = f"{run.experiment.replace('/', '-')}-{records.fingerprint(run.config())}.pt"
        checkpoint = data / "checkpoints" / name
    with steady_arithmetic():
        record = work(run, progress=progress, checkpoint=checkpoint)
    if data is None:
        return {**record, "recorded": False}
    try:
        records.write(run.path(data), record)
    except OSError as error:
        return {**record, "recorded": False, "unwritten": f"{error.filename}: {error.strerror}"}
    checkpoint.unlink(missing_ok=True)
    return {**record, "recorded": False}
