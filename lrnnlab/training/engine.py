"""A model on its way down: the one loop that all training runs through, and the file it can be taken up from again."""

from __future__ import annotations

import hashlib
import io
import math
import pickle
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

from lrnnlab.files import check_file, put, set_aside

WINDOW = 10  # steps whose mean loss is one entry of ``losses``


class TrainState:
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
        # a loss says nothing of its own gradient's step
        self.failed = self.failed or not all(weights.isfinite().all() for weights in self.model.parameters())

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


def plain(found: Any) -> Any:
    """The same with NumPy's and torch's single numbers as Python's: a checkpoint is read back as plain data only.

    >>> plain({"validation": torch.tensor(0.5), "by length": [torch.tensor(1), 2]})
    {'validation': 0.5, 'by length': [1, 2]}
    """
    if isinstance(found, dict):
        return {key: plain(value) for key, value in found.items()}
    if type(found) in (list, tuple):
        return type(found)(map(plain, found))
    return found.item() if getattr(found, "ndim", None) == 0 else found


def kind_of(model: nn.Module) -> str:
    """A digest of a model's modules with their options, and of its weights: what tells it from others of its shape."""
    digest = hashlib.sha256()
    for name, module in model.named_modules():
        options = {key: value for key, value in sorted(vars(module).items())
                   if key not in ("training", "_start")  # neither says what it is
                   and isinstance(value, (bool, int, float, str, tuple, type(None)))}  # fmt: skip
        digest.update(repr((name, type(module).__name__, options)).encode())
    for name, tensor in model.state_dict().items():
        digest.update(repr((name, tensor.dtype, tuple(tensor.shape))).encode())
        digest.update(tensor.detach().cpu().contiguous().flatten().view(torch.uint8).numpy().tobytes())
    return digest.hexdigest()


def chance_of(model: nn.Module) -> torch.Generator:
    """Torch's own generator of the device that a model is on, from which its dropout draws."""
    device = next((weight.device for weight in model.parameters()), torch.device("cpu"))
    return torch.cuda.default_generators[device.index] if device.type == "cuda" else torch.default_generator


@contextmanager
def own_chance(model: nn.Module) -> Iterator[None]:
    """Within, ``chance_of(model)`` may be seeded; afterwards it is as it was."""
    device = chance_of(model).device
    with torch.random.fork_rng(devices=[device] if device.type == "cuda" else []):
        yield


class Checkpoint:
    """The file that a run is saved in, every ``seconds``, and found in again; none where ``path`` is None."""

    BEGINS = b"PK\x03\x04"  # what torch.save writes; it stands behind the seal

    def __init__(self, path: Path | str | None, identity: str, seconds: float):
        self.path = None if path is None else Path(path)
        if self.path is not None:
            try:
                check_file(self.path)
            except OSError as error:
                kind = "folder" if self.path.is_dir() and not self.path.is_symlink() else "link, pipe or device"
                raise ValueError(f"checkpoint must be a file, got the {kind} {str(path)!r}") from error
        self.identity, self.seconds = identity, seconds
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
        """The state that was saved, None if there is none of this run; ValueError for a file that is no checkpoint."""
        if self.path is None or not self.path.exists():
            return None
        content = self.path.read_bytes()
        if not any(content):  # a crash of the system may leave a file empty or full of zeros
            print(f"checkpoint {self.path} is damaged, nothing is in it: starting afresh", file=sys.stderr)
            return None
        seal, content = content[:32], content[32:]
        if not content.startswith(self.BEGINS):
            raise ValueError(f"{str(self.path)!r} is no checkpoint of lrnnlab and is not overwritten: choose another name")
        if hashlib.sha256(content).digest() != seal:
            return self._set_aside("is damaged")
        try:
            state = torch.load(io.BytesIO(content), weights_only=True)
        except pickle.UnpicklingError:  # a look gave what is neither a number, a text, nor a tensor
            return self._set_aside("holds more than plain data")
        return state if state["identity"] == self.identity else self._set_aside("belongs to another run")

    def _set_aside(self, why: str) -> dict | None:
        """None, and the file, which is of no use here, under another name."""
        assert self.path is not None
        kept = ""
        with suppress(OSError):  # a folder in which nothing can be renamed is one in which nothing is overwritten either
            kept = f"; it is now {set_aside(self.path).name}"
        print(f"checkpoint {self.path} {why}: starting afresh{kept}", file=sys.stderr)
        return None
