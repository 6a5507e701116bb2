"""``fit``: training in phases, restarted from fresh weights until a model is accepted; mending and pruning on the way.

A recipe is plain data, so that a record can hold it.

Letters: B batch, T time, h blocks, n block size; A transition, x state.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from lrnnlab.models import Net
from lrnnlab.models.net import Trace
from lrnnlab.scans.transforms import first_order
from lrnnlab.tasks import Batch
from lrnnlab.tasks.base import StringTask
from lrnnlab.training.engine import (
    Checkpoint,
    TrainState,
    adam,
    advance,
    deterministic,
    fingerprint,
    finish,
    progress_bar,
    rng,
)
from lrnnlab.training.evaluation import at_rest
from lrnnlab.training.loop import early_stopping, scheduled_lr
from lrnnlab.validation import among, checked, number, whole_number


@checked
@dataclass(frozen=True)
class Phase:
    """A stretch of training; a number that trains nothing, or the wrong way (negative, NaN, infinite), is refused.

    Phases of growing ``length``, each ``until`` it is known, are a curriculum.
    """

    steps: int  #: the most
    lr: float  #: the learning rate, constant unless ``final_lr`` is given
    final_lr: float | None = None  #: where a cosine from ``lr`` ends
    warmup: int = 0  #: steps of a linear rise of the learning rate
    weight_decay: float = 0.0  #: decoupled, on matrices only
    loss: str = "cross_entropy"  #: or ``"squared"``: logits regress on the one-hot of the answer
    smoothing: float = 0.0  #: of the labels; for cross-entropy
    noise: float = 0.0  #: standard deviation of Gaussian noise on the last layer's states, growing linearly from 0
    purity: float = 0.0  #: weight, growing linearly from 0, of :func:`impurity`: are columns in use one-hot?
    until: float | None = None  #: end sooner, once the running mean of this phase's losses is below this
    enough: float | None = None  #: not below this at the last step, the attempt is lost; ``until`` if absent
    prune: float | None = None  #: at the end freeze heads, as long as the loss stays under this or twice what it was
    length: int | None = None  #: of the training strings; the recipe's if absent

    def __post_init__(self) -> None:
        whole_number(self.steps, 1, "steps, of a phase,")
        whole_number(self.warmup, 0, "warmup")
        for name in ("lr", "final_lr", "weight_decay", "noise", "purity", "until", "enough", "prune"):
            if getattr(self, name) is not None:
                number(getattr(self, name), name, 0, inside=name in ("until", "enough"))
        if self.enough is not None and self.enough < (self.until or 0):
            raise ValueError(f"enough is at least until, {self.until}, got {self.enough}")
        number(self.smoothing, "smoothing", 0, 1)
        if self.length is not None:
            whole_number(self.length, 1, "length")
        among("loss", self.loss, ("cross_entropy", "squared"))


@checked
@dataclass(frozen=True)
class Mend:
    """What to do with strings that the finished model gets wrong: learn them, ``rounds`` times at most.

    Half of each batch of ``phase`` then begins with such strings.
    """

    phase: Phase
    rounds: int

    def __post_init__(self) -> None:
        whole_number(self.rounds, 0, "rounds")


@checked
@dataclass(frozen=True)
class Recipe:
    """How to train: the phases, one after the other, and what they share."""

    phases: tuple[Phase, ...]
    batch_size: int = 128
    optimiser: str = "adamw"  #: or ``"adam"``: weight decay is an L2 term on every parameter, as in torch
    betas: tuple[float, float] = (0.9, 0.999)
    clip: float | None = None  #: a gradient whose norm is greater is scaled down to it
    average: float = 0.0  #: decay of an exponential moving average of the weights, which then is the model; 0 for none
    attempts: int = 1  #: how often to start, each time from fresh weights, until none is lost and ``accept`` agrees
    length: int | None = None  #: of the training strings; the task's own if absent
    mend: Mend | None = None  #: learn the strings that ``accept`` names, before starting again

    def __post_init__(self) -> None:
        if not self.phases:
            raise ValueError(f"a recipe needs at least one phase, got phases={self.phases}")
        among("optimiser", self.optimiser, ("adam", "adamw"))
        if self.average and any(phase.prune is not None for phase in self.phases):
            raise ValueError(f"averaged weights cannot be pruned, got average={self.average}")
        whole_number(self.batch_size, 1, "batch_size")
        whole_number(self.attempts, 1, "attempts")
        if self.length is not None:
            whole_number(self.length, 1, "length")
        if self.clip is not None:
            number(self.clip, "clip", 0, inside=True)
        if not all(0 <= beta < 1 for beta in self.betas):
            raise ValueError(f"betas are at least 0 and below 1, got {self.betas}")
        if not 0 <= self.average < 1:
            raise ValueError(f"average is at least 0 and below 1, got {self.average}")

    @property
    def steps(self) -> int:
        return sum(phase.steps for phase in self.phases)


Accept = Callable[[Net], bool | list[tuple[int, ...]]] | None


@dataclass
class Fit:
    """What :func:`fit` returns: the last model, the best one that ``watch`` saw, and what it took.

    ``attempt`` counts from 0.  ``losses`` holds (step, mean loss since the last entry); ``watched`` what ``watch``
    found, with its ``step``; ``lessons``, for each round of mending, how many wrong strings were learned, and the
    first of them.  These, and ``best``, are of the last attempt; ``steps`` is the number in all attempts.
    ``seconds`` is wall time and ``cpu_seconds`` this process's CPU time, both over all attempts and resumed parts.

    >>> Fit(None, None, accepted=True, attempt=0, steps=3, seconds=0.1, cpu_seconds=0.1).losses
    []
    """

    net: Net
    best: Net | None
    accepted: bool
    attempt: int
    steps: int
    seconds: float
    cpu_seconds: float
    losses: list[tuple[int, float]] = field(default_factory=list)
    watched: list[dict] = field(default_factory=list)
    lessons: list[tuple[int, tuple[int, ...]]] = field(default_factory=list)


@deterministic()
@torch.inference_mode(False)
@torch.enable_grad()
@checked
def fit(
    make_model: Callable[[int], Net],
    task: StringTask,
    recipe: Recipe,
    *,
    seed: int = 0,
    accept: Accept = None,
    watch: Callable[[Net, int], dict] | None = None,
    watch_every: int = 0,
    confirm: int = 1,
    checkpoint: Path | str | None = None,
    save_seconds: float = 5.0,
    progress: bool = True,
) -> Fit:
    """Train ``make_model(seed)`` on fresh strings of ``task`` at the training length; every labelled prefix counts.

    Parameters
    ----------
    make_model : callable
        ``make_model(seed)``, a new model with the weights of that seed.
    task : StringTask
        What is learned.
    recipe : Recipe
        How to train.
    seed : int
        Where all chance comes from.
    accept : callable, optional
        Asked at the end of an attempt; if it says no, and ``recipe.attempts`` allows, training starts again from other
        weights and other strings.  It should look at training lengths only.  It may answer with strings that the model
        gets wrong: if the recipe can mend, those of at most the training length are learned first.
    watch : callable, optional
        ``watch(net, step)`` returns a dict, at least ``score``.  The net with the highest score is kept as ``best``.
    watch_every : int
        Steps between two evaluations, 0 for none.
    confirm : int
        Training ends after this number of evaluations in a row with ``stop: True``.
    checkpoint, save_seconds, progress
        As in :func:`lrnnlab.training.loop.train`.

    Returns
    -------
    Fit
        The model and how it was trained.

    Examples
    --------
    >>> from lrnnlab.models import build
    >>> from lrnnlab.tasks import Sum
    >>> make = lambda seed: build("elman", vocab_size=2, classes=2, seed=seed, width=8)
    >>> fit(make, Sum(2), Recipe((Phase(steps=3, lr=1e-3),), batch_size=4), seed=0, progress=False).steps
    3
    """
    if whole_number(watch_every, 0, "watch_every") and watch is None:
        raise ValueError(f"watch_every={watch_every} needs a watch to call")
    whole_number(confirm, 1, "confirm")
    if task.answers == "last":
        raise ValueError(f"this wants an answer at every position; {task.name} has one a string")
    bar = progress_bar(recipe.steps, progress, f"{task.name}, seed {seed}")
    with torch.random.fork_rng(devices=[]), bar:  # dropout draws from torch's own generator
        run = _Run(make_model, task, recipe, seed)
        identity = repr((task.identity, asdict(recipe), seed, watch_every, confirm, fingerprint(run.train.net)))
        saved = Checkpoint(checkpoint, identity, save_seconds)
        if (found := saved.find()) is not None:
            run.load(found)
        while not run.over:
            phase = run.phases[run.phase]
            while not run.has_ended(phase):
                run.set_rates(phase)
                loss = run.train.step(*run.loss_and_penalty(phase))
                if not run.made.finished:
                    break
                run.count(loss)
                if watch_every and run.made.steps % watch_every == 0:
                    run.train.evaluate(watch, score="score")
                    run.stopped = early_stopping(run.made, lambda found: found.get("stop"), confirm)
                advance(bar, run.made.steps, run.running, attempt=run.attempt + 1)
                saved.save(run.state)
            run.end_phase(phase, accept)
            if not run.over:
                saved.save(run.state)
        if run.accepted:
            finish(bar)
        run.train.warn_if_nothing_was_learned()
        return run.result()


class _Run:
    """Where a fit is: which attempt, which phase, and what has been drawn and learned; a checkpoint holds all of it."""

    KEPT = ("attempt", "phase", "here", "running", "steps", "stopped", "lessons", "rounds")

    def __init__(self, make_model: Callable[[int], Net], task: StringTask, recipe: Recipe, seed: int):
        self.make_model, self.task, self.recipe, self.seed = make_model, task, recipe, seed
        self.length = task.train_length if recipe.length is None else recipe.length
        self.wall_start, self.cpu_start = time.perf_counter(), time.process_time()  # a resumed part moves them back
        self.accepted = self.over = False
        self.steps = 0  # in all attempts
        self.begin(0)

    def begin(self, attempt: int) -> None:
        """Fresh weights and fresh generators for this attempt."""
        seed = self.seed if attempt == 0 else rng(self.seed, f"attempt {attempt}").initial_seed() % 2**31
        self.attempt, self.data, self.jitter = attempt, rng(seed, "train"), rng(seed, "noise")
        model, recipe = self.make_model(seed).train(), self.recipe
        torch.default_generator.manual_seed(rng(seed, "dropout").initial_seed())
        self.train = TrainState(model, _optimiser(model, recipe), clip=recipe.clip, average=recipe.average)
        self.made = self.train.made
        self.stopped = False  # an evaluation said so
        self.lessons: list = []  # strings to learn
        self.rounds: list = []  # for each round of mending their number and the first
        self.begin_phase(0)

    def begin_phase(self, phase: int) -> None:
        """``here`` counts the steps of a phase, ``running`` is the running mean of its losses."""
        self.phase, self.here, self.running = phase, 0, math.nan

    @property
    def phases(self) -> tuple[Phase, ...]:
        """The recipe's, and one for each round of mending."""
        return (*self.recipe.phases, *(self.recipe.mend.phase for _ in self.rounds))

    def is_below(self, bound: float | None) -> bool:
        """Whether the running mean is; False where there is no bound or no loss yet."""
        return bound is not None and self.running < bound

    def has_ended(self, phase: Phase) -> bool:
        """Whether no step of the phase is left to take."""
        return self.here >= phase.steps or self.stopped or self.is_below(phase.until)

    def set_rates(self, phase: Phase) -> None:
        """Learning rate, and weight decay of matrices alone, at this step of the phase."""
        lr = scheduled_lr(
            self.here, phase.steps, phase.lr, phase.final_lr or 0.0, warmup=phase.warmup,
            schedule="constant" if phase.final_lr is None else "cosine",
        )  # fmt: skip
        for group, decay in zip(self.train.optimiser.param_groups, (phase.weight_decay, 0.0)):
            group.update(lr=lr, weight_decay=decay)

    def loss_and_penalty(self, phase: Phase) -> tuple[Tensor, Tensor | None]:
        """The loss of a fresh batch, and the purity term."""
        model, grown = self.train.net, self.here / phase.steps
        batch = self.batch(self.length if phase.length is None else phase.length)
        trace = model.trace(batch.tokens)
        states = trace.states
        if phase.noise:
            normal = torch.randn(states.shape, dtype=torch.float32, generator=self.jitter, device="cpu")
            states = states + phase.noise * grown * normal.to(states)
        labelled = _labelled(batch)
        self.train.look_at(batch.targets[labelled])
        loss = _loss(model.readout(states[labelled]).flatten(0, -2), batch.targets[labelled].flatten(), phase)
        return loss, phase.purity * grown * impurity(model, trace, batch.tokens) if phase.purity else None

    def batch(self, length: int) -> Batch:
        """Fresh strings; half of them begin with a lesson, if there are any."""
        batch = self.task.sample(self.recipe.batch_size, length, self.data)
        if not self.lessons:
            return batch
        for row in range(len(batch.tokens) // 2):
            lesson = self.lessons[int(torch.randint(len(self.lessons), (), generator=self.data, device="cpu"))][:length]
            batch.tokens[row, : len(lesson)] = torch.tensor(lesson, device="cpu")
        return self.task.labelled(batch.tokens)

    def count(self, loss: float) -> None:
        """One more step is done."""
        self.steps, self.here = self.steps + 1, self.here + 1
        self.running = loss if math.isnan(self.running) else 0.95 * self.running + 0.05 * loss

    def end_phase(self, phase: Phase, accept: Accept) -> None:
        """Prune, and go on to the next phase; at the end of the attempt, or where it failed, to what follows that."""
        failed = not self.train.is_finite()
        if self.here >= phase.steps or self.is_below(phase.until):
            enough = phase.until if phase.enough is None else phase.enough
            failed = failed or (enough is not None and not self.is_below(enough))
            if phase.prune is not None and not failed:
                self.prune(phase.prune)
            self.begin_phase(self.phase + 1)
        if failed or self.stopped or self.phase == len(self.phases):
            self.end_attempt(failed, accept)

    def end_attempt(self, failed: bool, accept: Accept) -> None:
        """Accept the model, mend it, start again, or give up and keep it."""
        said = False if failed else True if accept is None else accept(self.train.current.eval())
        self.train.net.train()
        wrong = [string for string in said if len(string) <= self.length] if isinstance(said, list) else []
        if wrong and self.recipe.mend is not None and len(self.rounds) < self.recipe.mend.rounds:
            self.lessons.extend(tuple(map(int, string)) for string in wrong)
            self.rounds.append((len(wrong), self.lessons[-len(wrong)]))
            self.stopped = False  # an evaluation may have ended an earlier phase
            self.begin_phase(len(self.phases) - 1)
            return
        self.accepted = not isinstance(said, list) and bool(said)
        self.over = self.accepted or self.attempt + 1 >= self.recipe.attempts
        if not self.over:
            self.begin(self.attempt + 1)

    def prune(self, ceiling: float) -> None:
        """Freeze the heads that training can do without, measured on 64 fresh strings."""
        model = self.train.net
        batch = self.task.sample(64, self.length, rng(self.seed, f"prune {self.made.steps}"))
        labelled = _labelled(batch)

        @torch.no_grad()
        def harm(model):
            logits, targets = model(batch.tokens)[labelled], batch.targets[labelled]
            return F.cross_entropy(logits.flatten(0, -2), targets.flatten()).item()

        with at_rest(model):  # else dropout decides which heads are idle
            freeze_idle(model, harm, max(ceiling, 2 * harm(model)))

    def seconds(self) -> tuple[float, float]:
        """Wall and CPU time, over all attempts and resumed parts."""
        return time.perf_counter() - self.wall_start, time.process_time() - self.cpu_start

    def result(self) -> Fit:
        """What came out of it."""
        (wall, cpu), made, best = self.seconds(), self.made, None
        if made.best is not None:
            best = self.make_model(self.seed)
            best.load_state_dict(made.best)
            best.eval()
        return Fit(self.train.current.eval(), best, self.accepted, self.attempt, self.steps, wall, cpu, made.losses,
                   made.watched, self.rounds)  # fmt: skip

    def state(self) -> dict:
        """All of it, for a checkpoint."""
        wall, cpu = self.seconds()
        return {
            "seconds": wall, "cpu_seconds": cpu, "kept": {name: getattr(self, name) for name in self.KEPT},
            "train": self.train.state(), "data": self.data.get_state(), "jitter": self.jitter.get_state(),
            "dropout": torch.get_rng_state(),
        }  # fmt: skip

    def load(self, state: dict) -> None:
        """Go on from a ``state``."""
        self.begin(state["kept"]["attempt"])
        for name, value in state["kept"].items():
            setattr(self, name, value)
        self.train.load(state["train"])
        self.data.set_state(state["data"])
        self.jitter.set_state(state["jitter"])
        torch.set_rng_state(state["dropout"])
        self.wall_start -= state["seconds"]
        self.cpu_start -= state["cpu_seconds"]


def _optimiser(model: Net, recipe: Recipe) -> Any:
    parameters = list(model.parameters())
    if recipe.optimiser == "adam":
        return adam([{"params": parameters}], recipe.betas, decoupled=False)
    groups = [{"params": [p for p in parameters if p.ndim > 1]}, {"params": [p for p in parameters if p.ndim <= 1]}]
    return adam(groups, recipe.betas)


def _labelled(batch: Batch) -> Any:
    """An index of the places (B, T) that carry a label: of columns, where all strings are labelled alike."""
    columns = batch.mask[0]
    if (batch.mask == columns).all():
        return (slice(None), slice(None) if columns.all() else columns)
    return batch.mask


def _loss(logits: Tensor, targets: Tensor, phase: Phase) -> Tensor:
    """Mean loss of logits (N, C) against classes (N,)."""
    if phase.loss == "squared":
        return (logits - F.one_hot(targets, logits.shape[-1])).square().sum(-1).mean()
    return F.cross_entropy(logits, targets, label_smoothing=phase.smoothing)


class _Squares(torch.autograd.Function):
    """sum_i A_ij^2 of A (..., i, j); autograd's own way back from A * A goes through A five times, this one once."""

    @staticmethod
    def forward(ctx, A):
        ctx.save_for_backward(A)
        return (A * A).sum(-2)

    @staticmethod
    @first_order
    def backward(ctx, slope):
        (A,) = ctx.saved_tensors
        return A * (2 * slope).unsqueeze(-2)


def impurity(model: Net, trace: Trace, tokens: Tensor) -> Tensor:
    """Mean over layers, strings, positions and blocks of sum_j x_{t-1,j} (1 - sum_i A_t[i,j]^2).

    Zero exactly when every column that the state leans on is one-hot (for columns on the simplex).
    """
    total = 0.0
    for depth, (layer, A, states) in enumerate(zip(model.layers, trace.transitions, trace.mixed)):
        if A is None:
            raise ValueError(f"purity needs transition matrices; layer {depth + 1} is {type(layer).__name__}")
        spread = 1 - _Squares.apply(A)  # (V or B,T, h, n)
        spread = spread[tokens] if depth == 0 else spread
        start = layer.initial(len(tokens)).unsqueeze(1)  # (B, 1, h, n)
        before = torch.cat([start, states.unflatten(2, start.shape[2:])[:, :-1]], 1)
        if spread.shape[-2] < before.shape[-2]:  # frozen heads have no transitions
            before = before.index_select(2, layer.alive())
        total = total + (before * spread).sum((-2, -1)).mean() / start.shape[2]
    return total / len(model.layers)  # type: ignore[return-value]


def freeze_idle(model: Net, harm: Callable[[Net], float], ceiling: float) -> int:
    """Freeze heads of a block-diagonal ``model``, the least harmful first, while ``harm(model)`` is at most ``ceiling``."""

    def harm_without(layer: Any, head: int, most: float = -math.inf) -> float:
        """The harm with one more head frozen, which it stays if that is at most ``most``."""
        before = layer.frozen.clone()
        more = before.clone()
        more[head] = True
        layer.freeze(more)
        if not (found := harm(model)) <= most:
            layer.freeze(before)
        return found

    heads = [(layer, head) for layer in model.layers for head in (~layer.frozen).nonzero().flatten().tolist()]
    alone = [harm_without(*head) for head in heads]
    return sum(harm_without(*heads[k], ceiling) <= ceiling for k in sorted(range(len(heads)), key=alone.__getitem__))
