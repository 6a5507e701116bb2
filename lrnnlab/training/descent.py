"""A model on its way down: the one loop that all training runs through, and the file it can be taken up from again."""

from __future__ import annotations

import hashlib
import io
import math
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

from lrnnlab.records import put

WINDOW = 10  # steps whose mean loss is one entry of ``losses``


class Descent:
    """A model, its optimiser and what happened so far; ``state`` and ``load`` carry all of it over a kill.

    ``steps`` counts all steps, ``here`` those of the running stretch; ``losses`` has (step, mean loss since the entry
    before), ``running`` is their running mean; ``failed`` is set where a loss was no number.  ``looks`` holds what was
    seen on the way, ``best`` the weights of the look with the greatest score, at ``best_step``.

    Parameters
    ----------
    model : Module
        What is trained.
    optimiser : Optimizer
        By what it is trained.
    clip : float, optional
        A gradient whose norm is greater is scaled down to it.
    average : float
        Decay of an exponential moving average of the weights, which then is ``current``; 0 for none.
    """

    KEPT = ("steps", "here", "running", "losses", "window", "failed", "looks", "best", "best_step", "best_score")

    def __init__(
        self, model: Any, optimiser: torch.optim.Optimizer, *, clip: float | None = None, average: float = 0.0
    ):
        self.model, self.optimiser, self.clip = model, optimiser, clip
        self.averaged = AveragedModel(model, multi_avg_fn=get_ema_multi_avg_fn(average)) if average else None
        self.steps = self.here = 0
        self.running, self.failed = math.nan, False
        self.losses: list[tuple[int, float]] = []
        self.window: list[float] = []
        self.looks: list[dict] = []
        self.best: dict[str, Tensor] | None = None
        self.best_step: int | None = None
        self.best_score = -math.inf

    @property
    def current(self) -> Any:
        """The model as it is now: the average, if there is one."""
        return self.model if self.averaged is None else self.averaged.module

    def run(
        self,
        loss: Callable[[float], tuple[Tensor, Tensor | None]],
        steps: int,
        *,
        heights: Callable[[int], Iterable[dict]],
        enough: Callable[[], bool] | None = None,
        after: Callable[[], None] | None = None,
    ) -> None:
        """A stretch of at most ``steps`` steps, ``here`` of which are done.

        Parameters
        ----------
        loss : callable
            ``loss(part)`` of fresh data, part from 0 to 1, and what is added to it that does not count as loss.
        steps : int
            The length of the stretch.
        heights : callable
            ``heights(here)``, the settings of every group of the optimiser at a step (``lr``, ``weight_decay``).
        enough : callable, optional
            Asked before every step; the stretch ends when it says yes.
        after : callable, optional
            Called after every step.
        """
        while self.here < steps and not self.failed and not (enough and enough()):
            for group, setting in zip(self.optimiser.param_groups, heights(self.here)):
                group.update(setting)
            value, extra = loss(self.here / steps)
            number = value.item()
            if not math.isfinite(number):
                self.failed = True
                return
            self.optimiser.zero_grad()
            (value if extra is None else value + extra).backward()
            if self.clip is not None:
                nn.utils.clip_grad_norm_(self.model.parameters(), self.clip)
            self.optimiser.step()
            if self.averaged is not None:
                self.averaged.update_parameters(self.model)
            self._count(number)
            if after:
                after()

    def _count(self, loss: float) -> None:
        self.steps, self.here = self.steps + 1, self.here + 1
        self.running = loss if math.isnan(self.running) else 0.95 * self.running + 0.05 * loss
        self.window.append(loss)
        if len(self.window) == WINDOW:
            self.close_window()

    def close_window(self) -> None:
        """Enter the losses since the last entry, if there are any, as one."""
        if self.window:
            self.losses.append((self.steps, sum(self.window) / len(self.window)))
            self.window = []

    def look(self, found: dict, score: float | None) -> None:
        """Keep what was seen; and the weights, if the score is the greatest so far."""
        self.looks.append({"step": self.steps, **found})
        if score is not None and score > self.best_score:
            self.best_score, self.best_step = score, self.steps
            self.best = {name: tensor.clone() for name, tensor in self.current.state_dict().items()}

    def state(self) -> dict:
        """All of it, as ``torch.save`` takes it."""
        return {
            "kept": {name: getattr(self, name) for name in self.KEPT}, "model": self.model.state_dict(),
            "optimiser": self.optimiser.state_dict(),
            "averaged": None if self.averaged is None else self.averaged.state_dict(),
        }  # fmt: skip

    def load(self, state: dict) -> None:
        """Go on from a ``state``."""
        for name, value in state["kept"].items():
            setattr(self, name, value)
        self.model.load_state_dict(state["model"])
        self.optimiser.load_state_dict(state["optimiser"])
        if self.averaged is not None:
            self.averaged.load_state_dict(state["averaged"])


class Checkpoint:
    """The file that a run is saved in, every ``seconds``, and found in again; none where ``path`` is None.

    ``identity`` says what makes a run this run: a file of another one, or a damaged one, is named and ignored.  Where a
    file cannot be written that is said, and training goes on.
    """

    def __init__(self, path: Path | None, identity: str, seconds: float):
        self.path, self.identity, self.seconds = path, identity, seconds
        self.last = time.monotonic()

    def save(self, state: Callable[[], dict]) -> None:
        """Write ``state()``, if the last time is long enough ago: a kill leaves the old file or the new one, whole."""
        if self.path is None or time.monotonic() - self.last <= self.seconds:
            return
        content = io.BytesIO()
        torch.save({"identity": self.identity, **state()}, content)
        try:
            put(self.path, hashlib.sha256(content.getvalue()).digest() + content.getvalue())
        except OSError as error:
            print(f"no checkpoint {self.path}: {error.strerror}; training goes on", file=sys.stderr)
            self.seconds *= 2  # try again, and say so less and less often
        self.last = time.monotonic()

    def find(self) -> dict | None:
        """The state that was saved, None if there is none of this run."""
        if self.path is None or not self.path.exists():
            return None
        content = self.path.read_bytes()
        seal, content = content[:32], content[32:]
        if hashlib.sha256(content).digest() != seal:
            print(f"checkpoint {self.path} is damaged: starting afresh", file=sys.stderr)
            return None
        state = torch.load(io.BytesIO(content), weights_only=True)
        if state["identity"] != self.identity:
            print(f"checkpoint {self.path} belongs to another run: starting afresh", file=sys.stderr)
            return None
        return state
