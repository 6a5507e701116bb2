"""One training run: its model, optimiser, random streams and progress, a step at a time; all of it goes into a checkpoint.

:func:`lrnnlab.training.fit` drives it.  Letters: B batch, T time, h blocks, n block size; A transition, x state.
"""

from __future__ import annotations

import hashlib
import io
import math
import os
import sys
import time
from dataclasses import dataclass, field, replace
from pathlib import Path

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import functional as F
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

from lrnnlab.models import SequenceModel
from lrnnlab.pruning import freeze_idle
from lrnnlab.recipes import Phase, Recipe
from lrnnlab.steady import stream
from lrnnlab.tasks import Task
from lrnnlab.tasks.string_base import refuse


@dataclass
class Fit:
    """What :func:`lrnnlab.training.fit` returns: the last model, the best one that a check saw, and what it took.

    ``losses`` holds (step, mean loss since the last entry); ``checks`` what each check returned.  ``seconds`` is wall
    time and ``cpu_seconds`` this process's CPU time, both over all attempts and resumed parts.  ``lessons``: for each
    round of mending how many wrong strings were learned, and the first of them.
    """

    model: SequenceModel
    best: SequenceModel | None
    accepted: bool
    attempt: int
    steps: int
    seconds: float
    cpu_seconds: float
    losses: list[tuple[int, float]] = field(default_factory=list)
    checks: list[dict] = field(default_factory=list)
    lessons: list[tuple[int, tuple[int, ...]]] = field(default_factory=list)


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
    @once_differentiable
    def backward(ctx, slope):
        (A,) = ctx.saved_tensors
        return A * (2 * slope).unsqueeze(-2)


def impurity(model: SequenceModel, trace, tokens: Tensor) -> Tensor:
    """Mean over layers, strings, positions and blocks of sum_j x_{t-1,j} (1 - sum_i A_t[i,j]^2).

    Zero exactly when every column that the state leans on is one-hot (for columns on the simplex).
    """
    total = 0.0
    for number, (layer, A, states) in enumerate(zip(model.layers, trace.transitions, trace.states)):
        if A is None:
            raise ValueError(f"purity needs transition matrices; layer {number + 1} is {type(layer).__name__}")
        spread = 1 - _Squares.apply(A)  # (V or B,T, h, n)
        spread = spread[tokens] if number == 0 else spread
        start = layer.initial(len(tokens)).unsqueeze(1)  # (B, 1, h, n)
        before = torch.cat([start, states.unflatten(2, start.shape[2:])[:, :-1]], 1)
        if spread.shape[-2] < before.shape[-2]:  # frozen heads have no transitions
            before = before.index_select(2, layer.alive())
        total = total + (before * spread).sum((-2, -1)).mean() / start.shape[2]
    return total / len(model.layers)


class TrainingRun:
    """The state of a training run: all of it goes into a checkpoint."""

    def __init__(self, make_model, task: Task, recipe: Recipe, seed: int):
        refuse(task)
        self.make_model, self.task, self.recipe, self.seed = make_model, task, recipe, seed
        self.length = task.train_length if recipe.length is None else recipe.length
        self.labelled = task.mask(self.length)
        self.earlier_seconds = self.earlier_cpu = 0.0
        self.wall_start, self.cpu_start = time.perf_counter(), time.process_time()
        self.finished = self.accepted = False
        self.total_steps = 0
        self.begin(0)

    def begin(self, attempt: int) -> None:
        """Fresh weights and fresh streams for this attempt."""
        self.attempt = attempt
        derived = self.seed if attempt == 0 else stream(self.seed, f"attempt {attempt}").initial_seed() % 2**31
        self.data, self.jitter = stream(derived, "train"), stream(derived, "noise")
        self.model = self.make_model(derived)
        self.averaged = None
        if self.recipe.average:
            self.averaged = AveragedModel(self.model, multi_avg_fn=get_ema_multi_avg_fn(self.recipe.average))
        self.optimiser = self._optimiser()
        self.phase = self.step = self.phase_step = 0
        self.running, self.losses, self.checks = math.nan, [], []
        self.window, self.best_score, self.best = [], -math.inf, None
        self.stopped = self.failed = self.attempt_ended = False
        self.lessons, self.rounds = [], []  # strings to learn; for each round of mending their number and the first

    @property
    def phases(self) -> tuple[Phase, ...]:
        """The recipe's, and one for each round of mending."""
        return (*self.recipe.phases, *(self.recipe.mend.phase for _ in self.rounds))

    def _optimiser(self) -> torch.optim.Optimizer:
        if self.recipe.optimiser == "adam":
            groups = [{"params": list(self.model.parameters())}]
            return torch.optim.Adam(groups, lr=1e-3, betas=self.recipe.betas, fused=True)
        parameters = list(self.model.parameters())
        groups = [{"params": [p for p in parameters if p.ndim > 1]}, {"params": [p for p in parameters if p.ndim <= 1]}]
        return torch.optim.AdamW(groups, lr=1e-3, betas=self.recipe.betas, fused=True)

    def current(self) -> SequenceModel:
        return self.averaged.module if self.averaged is not None else self.model

    def advance(self) -> None:
        """One step of gradient descent."""
        phase = self.phases[self.phase]
        part = self.phase_step / phase.steps
        self._schedule(phase, part)
        batch = self._batch()
        trace = self.model.trace(batch.tokens)
        states = trace.states[-1]
        if phase.noise:
            states = states + phase.noise * part * torch.randn(states.shape, generator=self.jitter)
        labelled = slice(None) if self.labelled.all() else self.labelled
        logits = self.model.readout(states[:, labelled])
        loss = _loss(logits.flatten(0, 1), batch.targets[:, labelled].flatten(), phase)
        value = loss.item()
        if phase.purity:
            loss = loss + phase.purity * part * impurity(self.model, trace, batch.tokens)
        self.optimiser.zero_grad()
        loss.backward()
        if self.recipe.clip is not None:
            torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.recipe.clip)
        self.optimiser.step()
        if self.averaged is not None:
            self.averaged.update_parameters(self.model)
        self._count(phase, value)

    def _batch(self):
        """Fresh strings; half of them begin with a lesson, if there are any."""
        batch = self.task.sample(self.recipe.batch, self.length, self.data)
        if not self.lessons:
            return batch
        for row in range(len(batch.tokens) // 2):
            lesson = self.lessons[int(torch.randint(len(self.lessons), (), generator=self.data))]
            batch.tokens[row, : len(lesson)] = torch.tensor(lesson)
        return replace(batch, targets=self.task.label(batch.tokens))

    def _prune(self, ceiling: float) -> None:
        batch = self.task.sample(64, self.length, stream(self.seed, f"prune {self.step}"))

        @torch.no_grad()
        def harm(model):
            logits, wanted = model(batch.tokens)[:, self.labelled], batch.targets[:, self.labelled]
            return F.cross_entropy(logits.flatten(0, 1), wanted.flatten()).item()

        freeze_idle(self.model, harm, max(ceiling, 2 * harm(self.model)))

    def _schedule(self, phase: Phase, part: float) -> None:
        lr = phase.lr
        if phase.final_lr is not None:
            lr = phase.final_lr + (phase.lr - phase.final_lr) * 0.5 * (1 + math.cos(math.pi * part))
        if phase.warmup:
            lr *= min(1.0, (self.phase_step + 1) / phase.warmup)
        for number, group in enumerate(self.optimiser.param_groups):
            group["lr"] = lr
            group["weight_decay"] = phase.weight_decay if number == 0 else 0.0

    def _count(self, phase: Phase, value: float) -> None:
        self.step += 1
        self.phase_step += 1
        self.total_steps += 1
        self.running = value if math.isnan(self.running) else 0.95 * self.running + 0.05 * value
        self.window.append(value)
        if not math.isfinite(value):
            self.failed = self.attempt_ended = True
            self.window = []
        reached = phase.until is not None and self.running < phase.until
        if len(self.window) == 10:
            self.losses.append((self.step, sum(self.window) / len(self.window)))
            self.window = []
        if self.phase_step >= phase.steps or reached:
            if phase.until is not None and not reached:
                self.failed = self.attempt_ended = True
            elif phase.prune is not None:
                self._prune(phase.prune)
            self.phase, self.phase_step = self.phase + 1, 0
            self.attempt_ended = self.attempt_ended or self.phase == len(self.phases)

    def look(self, check, confirm: int) -> None:
        found = {"step": self.step, **check(self.current(), self.step)}
        self.checks.append(found)
        if found["score"] > self.best_score:
            self.best_score = found["score"]
            self.best = {k: v.clone() for k, v in self.current().state_dict().items()}
        recent = self.checks[-confirm:]
        self.stopped = len(recent) == confirm and all(earlier.get("stop") for earlier in recent)
        self.attempt_ended = self.attempt_ended or self.stopped

    def conclude(self, accept) -> None:
        """The attempt is over: accept it, mend it, start again, or give up with the last model."""
        said = False if self.failed else True if accept is None else accept(self.current())
        wrong = [string for string in said if len(string) <= self.length] if isinstance(said, list) else []
        if wrong and self.recipe.mend is not None and len(self.rounds) < self.recipe.mend.rounds:
            self.lessons.extend(wrong)
            self.rounds.append((len(wrong), tuple(wrong[0])))
            self.attempt_ended = False
            return
        self.accepted = not isinstance(said, list) and bool(said)
        if self.accepted or self.attempt + 1 >= self.recipe.attempts:
            self.finished = True
        else:
            self.begin(self.attempt + 1)

    def seconds(self) -> tuple[float, float]:
        wall = self.earlier_seconds + time.perf_counter() - self.wall_start
        return wall, self.earlier_cpu + time.process_time() - self.cpu_start

    def result(self) -> Fit:
        wall, cpu = self.seconds()
        best = None
        if self.best is not None:
            best = self.make_model(self.seed)
            best.load_state_dict(self.best)
        return Fit(
            self.current(), best, self.accepted, self.attempt, self.total_steps, wall, cpu, self.losses, self.checks,
            self.rounds,
        )

    # What a checkpoint holds beside the model, the optimiser and the generators.
    _PLAIN = ("attempt", "phase", "step", "phase_step", "total_steps", "running", "losses", "checks", "window",
              "best_score", "best", "stopped", "failed", "attempt_ended", "lessons", "rounds")  # fmt: skip

    def save(self, path: Path, identity: str) -> None:
        wall, cpu = self.seconds()
        state = {
            "identity": identity, "seconds": wall, "cpu_seconds": cpu,
            "plain": {name: getattr(self, name) for name in self._PLAIN},
            "model": self.model.state_dict(), "optimiser": self.optimiser.state_dict(),
            "averaged": self.averaged.state_dict() if self.averaged is not None else None,
            "data": self.data.get_state(), "jitter": self.jitter.get_state(),
        }  # fmt: skip
        path.parent.mkdir(parents=True, exist_ok=True)
        content = io.BytesIO()
        torch.save(state, content)
        partial = path.with_name(f"{path.name}.{os.getpid()}.part")
        partial.write_bytes(hashlib.sha256(content.getvalue()).digest() + content.getvalue())
        os.replace(partial, path)  # a kill leaves the old file or the new one, never half of one

    def load(self, path: Path, identity: str) -> None:
        if not path.exists():
            return
        content = path.read_bytes()
        seal, content = content[:32], content[32:]
        if hashlib.sha256(content).digest() != seal:
            print(f"checkpoint {path} is damaged: starting afresh", file=sys.stderr)
            return
        state = torch.load(io.BytesIO(content), weights_only=True)
        if state["identity"] != identity:
            print(f"checkpoint {path} belongs to another run: starting afresh", file=sys.stderr)
            return
        self.begin(state["plain"]["attempt"])
        for name, value in state["plain"].items():
            setattr(self, name, value)
        self.model.load_state_dict(state["model"])
        self.optimiser.load_state_dict(state["optimiser"])
        if self.averaged is not None:
            self.averaged.load_state_dict(state["averaged"])
        self.data.set_state(state["data"])
        self.jitter.set_state(state["jitter"])
        self.earlier_seconds, self.earlier_cpu = state["seconds"], state["cpu_seconds"]
