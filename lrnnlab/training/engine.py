"""What a training run is made of: net, optimiser and what happened so far; its checkpoint file, the bar it shows, and the same
numbers every time: streams of randomness by purpose, and arithmetic that does not depend on the load."""

from __future__ import annotations

import hashlib
import io
import math
import os
import pickle
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, TypeVar

import torch
from torch import Tensor, nn
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn
from tqdm.auto import tqdm

from lrnnlab.files import check_file, put, set_aside
from lrnnlab.scans.kernels.allocator import keep_freed_memory
from lrnnlab.scans.kernels.threads import flushes, torch_on_one
from lrnnlab.validation import checked, shown

WINDOW = 10  # steps whose mean loss is one entry of ``losses``
Made = TypeVar("Made", bound=nn.Module)


@dataclass
class Trained(Generic[Made]):
    """What :func:`train` returns.

    ``net`` has its last weights; ``best`` holds those of the highest validation, None if nothing was validated.
    ``losses``: (step, mean loss since the entry before).  ``watched``: what each evaluation found, with its ``step``.
    ``finished`` is False if training broke off after ``steps`` because the loss was no longer a number.

    >>> Trained(nn.Identity()).summary()["steps"]
    0
    """

    net: Made
    steps: int = 0
    finished: bool = True
    best: dict[str, Tensor] | None = None
    best_step: int | None = None
    best_validation: float | None = None
    last_validation: float | None = None
    losses: list[tuple[int, float]] = field(default_factory=list)
    watched: list[dict] = field(default_factory=list)
    cpu_seconds: float = 0.0

    def summary(self) -> dict:
        """The validation, last and best, and what it took: plain data for a record."""
        names = ("steps", "finished", "last_validation", "best_validation", "best_step")
        return {name: getattr(self, name) for name in names}


class TrainState:
    """A net, its optimiser and what happened so far, ``made``; ``state`` and ``load`` carry all of it over a kill."""

    def __init__(self, net: Any, optimiser: Any, *, clip: float | None = None, average: float = 0.0):
        self.net, self.optimiser, self.clip = net, optimiser, clip
        self.weights = list(net.parameters())  # to walk through all modules at every step takes a third of a millisecond
        if not any(weights.requires_grad for weights in self.weights):
            frozen = f"all {len(self.weights)} are frozen" if self.weights else "it has none"
            raise ValueError(f"training needs a net with parameters that may change, and {frozen}, got {type(net).__name__}")
        if any(weights.is_inference() for weights in self.weights):
            raise ValueError("the net was made within torch.inference_mode, where no weight can learn: make it outside")
        self.average = None
        if average:
            self.average = AveragedModel(net, self.weights[0].device, multi_avg_fn=get_ema_multi_avg_fn(average))
        self.before: list | None = [weights.detach().clone() for weights in self.weights]  # until one changes
        self.answer: Tensor | None = None  # the first that was asked for
        self.answers_differ = False
        self.made = Trained(net)
        self.window: list[float] = []  # losses since the last entry of ``made.losses``
        self.clock = time.process_time()

    @property
    def current(self) -> Any:
        """The net; where weights are averaged, the one with the average."""
        return self.net if self.average is None else self.average.module

    def step(self, loss: Tensor, penalty: Tensor | None = None) -> float:
        """One step of the optimiser (none where the loss is not finite); returns the loss, without the penalty."""
        value = loss.item()
        self.made.finished = math.isfinite(value)
        if not self.made.finished:
            return value
        if not loss.requires_grad:
            raise ValueError("nothing can be learned from a loss that depends on no weight of the net")
        self.optimiser.zero_grad()
        (loss if penalty is None else loss + penalty).backward()
        if self.clip is not None:
            clip_gradients(self.weights, self.clip)
        self.optimiser.step()
        if self.before is not None and not all(map(torch.equal, self.weights, self.before)):
            self.before = None
        if self.average is not None:
            self.average.update_parameters(self.net)
        self.made.steps += 1
        self.window.append(value)
        if len(self.window) == WINDOW:
            self.close_window()
        return value

    def close_window(self) -> None:
        """Record the mean of the losses since the last entry, if there are any."""
        if self.window:
            self.made.losses.append((self.made.steps, sum(self.window) / len(self.window)))
            self.window = []

    def evaluate(self, watch: Callable[[Any, int], dict], score: str = "validation") -> None:
        """Keep what ``watch(net, step)`` finds, and the weights where ``score`` is higher than ever before."""
        made = self.made
        found = plain(watch(self.current.eval(), made.steps))
        self.net.train()
        if not isinstance(found, dict):
            raise TypeError(f"watch gives a dict of numbers, got {shown(found)}")
        made.watched.append({"step": made.steps, **found})
        value = found.get(score)
        if value is not None:
            made.last_validation = value
        if value is not None and value > (-math.inf if made.best_validation is None else made.best_validation):
            made.best_validation, made.best_step = value, made.steps
            made.best = {name: tensor.clone() for name, tensor in self.current.state_dict().items()}

    def look_at(self, answers: Any) -> None:
        """Note whether what a batch asks for differs from what all batches before asked for."""
        if self.answers_differ or not isinstance(answers, Tensor) or not answers.numel():
            self.answers_differ = self.answers_differ or not isinstance(answers, Tensor)
            return
        if self.answer is None:
            self.answer = answers.flatten()[0].clone()
        self.answers_differ = bool((answers != self.answer).any())

    def warn_if_nothing_was_learned(self) -> None:
        """Say it where no batch asked for anything, or all for the same, no weight has changed, or the first loss is NaN."""
        steps, why = self.made.steps, ""
        if not steps:
            why = "" if self.made.finished else "the first loss is not finite"
        elif not self.answers_differ:
            why = "no answer was asked for" if self.answer is None else f"all answers were {self.answer.item():g}"
        elif self.before is not None:
            still = not any(group["lr"] for group in self.optimiser.param_groups)
            why = "no weight changed: " + ("the learning rate is 0" if still else "the gradient of the loss is 0")
        if why:
            warnings.warn(f"nothing could be learned in {steps} steps: {why}", stacklevel=3)

    def is_finite(self) -> bool:
        """Whether all weights are numbers: a loss says nothing of its own gradient's step."""
        return self.made.finished and all(bool(weights.isfinite().all()) for weights in self.weights)

    def read_clock(self) -> None:
        """Add the CPU seconds since the last call to ``made.cpu_seconds``."""
        last, self.clock = self.clock, time.process_time()
        self.made.cpu_seconds += self.clock - last

    def state(self) -> dict:
        """All of it, as ``torch.save`` takes it."""
        self.read_clock()
        return {
            "made": {name: value for name, value in vars(self.made).items() if name != "net"}, "window": self.window,
            "net": self.net.state_dict(), "optimiser": self.optimiser.state_dict(),
            "average": None if self.average is None else self.average.state_dict(),
            "answer": self.answer, "answers_differ": self.answers_differ,
        }  # fmt: skip

    def load(self, state: dict) -> None:
        """Go on from a ``state``."""
        vars(self.made).update(state["made"])
        self.window, self.before = state["window"], None
        self.answer, self.answers_differ = state.get("answer"), state.get("answers_differ", True)
        self.net.load_state_dict(state["net"])
        self.optimiser.load_state_dict(state["optimiser"])
        if self.average is not None:
            self.average.load_state_dict(state["average"])


# --- the optimiser ----------------------------------------------------------------------------------------------------


class Adam:
    """One fused step over all weights of a group; bit for bit ``torch.optim.Adam(fused=True)``, or ``AdamW`` if ``decoupled``.

    Torch's own loads a compiler at its first use, which takes a second.
    """

    def __init__(self, groups: Iterable[dict], betas: tuple[float, float], eps: float = 1e-8, *, decoupled: bool = True):
        self.param_groups: list[dict[str, Any]] = [{"lr": 1e-3, "weight_decay": 0.0, **group} for group in groups]
        self.betas, self.eps, self.decoupled = betas, eps, decoupled
        self.moments: list[list[tuple]] = [
            [(torch.zeros_like(p), torch.zeros_like(p), torch.zeros((), dtype=torch.float32, device=p.device))
             for p in group["params"]]
            for group in self.param_groups
        ]  # of each weight the means of its gradient and of that squared, and its steps

    def zero_grad(self) -> None:
        """Forget all gradients."""
        for group in self.param_groups:
            for p in group["params"]:
                p.grad = None

    @torch.no_grad()
    def step(self) -> None:
        """One step of all weights that have a gradient."""
        fused = torch._fused_adamw_ if self.decoupled else torch._fused_adam_
        for group, moments in zip(self.param_groups, self.moments):
            moved = [(p, p.grad, *kept) for p, kept in zip(group["params"], moments) if p.grad is not None]
            if moved:
                weights, slopes, means, squares, steps = map(list, zip(*moved))
                torch._foreach_add_(steps, 1)
                fused(weights, slopes, means, squares, [], steps, lr=group["lr"], beta1=self.betas[0], beta2=self.betas[1],
                      weight_decay=group["weight_decay"], eps=self.eps, amsgrad=False, maximize=False)  # fmt: skip

    def state_dict(self) -> dict:
        """What a checkpoint holds."""
        return {"moments": self.moments}

    def load_state_dict(self, state: dict) -> None:
        """Go on from a ``state_dict``."""
        self.moments = state["moments"]


def adam(groups: list[dict], betas: tuple[float, float], eps: float = 1e-8, *, decoupled: bool = True) -> Any:
    """The optimiser of ``groups``; torch's own where its fused kernels go by another name."""
    if hasattr(torch, "_fused_adam_") and hasattr(torch, "_fused_adamw_"):
        return Adam(groups, betas, eps, decoupled=decoupled)
    return (torch.optim.AdamW if decoupled else torch.optim.Adam)(groups, betas=betas, eps=eps, weight_decay=0.0, fused=True)


@torch.no_grad()
def clip_gradients(weights: Iterable[torch.Tensor], most: float) -> None:
    """``torch.nn.utils.clip_grad_norm_``, bit for bit, of weights of one device; it spends most of its time sorting devices."""
    slopes = [p.grad for p in weights if p.grad is not None]
    if slopes:
        norm = torch.linalg.vector_norm(torch.stack(torch._foreach_norm(slopes, 2.0)), 2.0)
        torch._foreach_mul_(slopes, torch.clamp(most / (norm + 1e-6), max=1.0))


# --- the checkpoint ---------------------------------------------------------------------------------------------------


def plain(found: Any) -> Any:
    """The same with NumPy's and torch's single numbers as Python's: a checkpoint is read back as plain data only."""
    if isinstance(found, dict):
        return {key: plain(value) for key, value in found.items()}
    if type(found) in (list, tuple):
        return type(found)(map(plain, found))
    return found.item() if getattr(found, "ndim", None) == 0 else found


def fingerprint(model: nn.Module) -> str:
    """A digest of a model's modules, their options and its weights: it tells models of one shape apart."""
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


class Checkpoint:
    """The file of a run, written every ``seconds``; none where ``path`` is None.

    Its first 32 bytes are the SHA-256 of the rest, which ``torch.save`` wrote; a file of another run, or a damaged one, is
    renamed and reported, and a file that is no checkpoint is refused.
    """

    MAGIC = b"PK\x03\x04"  # how a file of torch.save begins

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
        """Write ``state()`` if ``seconds`` have passed: a kill leaves the old file or the new one, never a part."""
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
        """The saved state, or None if there is none of this run; ValueError for a file that is no checkpoint."""
        if self.path is None or not self.path.exists():
            return None
        content = self.path.read_bytes()
        if not any(content):  # a crash of the system may leave a file empty or full of zeros
            print(f"checkpoint {self.path} is damaged, nothing is in it: starting afresh", file=sys.stderr)
            return None
        seal, content = content[:32], content[32:]
        if not content.startswith(self.MAGIC):
            raise ValueError(f"{str(self.path)!r} is no checkpoint of lrnnlab and is not overwritten: choose another name")
        if hashlib.sha256(content).digest() != seal:
            return self._start_afresh("is damaged")
        try:
            state = torch.load(io.BytesIO(content), weights_only=True)
        except pickle.UnpicklingError:  # an evaluation gave what is neither a number, a text, nor a tensor
            return self._start_afresh("holds more than plain data")
        return state if state["identity"] == self.identity else self._start_afresh("belongs to another run")

    def _start_afresh(self, why: str) -> dict | None:
        """None; the file, which is of no use here, is renamed, and its new name is said."""
        assert self.path is not None
        kept = ""
        with suppress(OSError):  # a folder in which nothing can be renamed is one in which nothing is overwritten either
            kept = f"; it is now {set_aside(self.path).name}"
        print(f"checkpoint {self.path} {why}: starting afresh{kept}", file=sys.stderr)
        return None


# --- the bar ----------------------------------------------------------------------------------------------------------


def progress_bar(steps: int, show: bool = True, desc: str | None = None) -> tqdm:
    """A bar of at most ``steps`` steps: drawn often where somebody looks on, seldom into a file, and never unless ``show``.
    """
    notebook = "ipykernel" in sys.modules
    widget = any(kind.__name__ == "tqdm_notebook" for kind in getattr(tqdm, "__mro__", ()))
    bar = tqdm(
        total=steps,
        desc=desc,
        unit="step",
        disable=not show or bool(os.environ.get("TQDM_DISABLE")),  # which the bar of a notebook does not ask for itself
        leave=notebook,
        mininterval=0.2 if notebook or sys.stderr.isatty() else 10.0,  # a log file wants a line now and then, no film
        **({"display": False} if widget else {}),
    )
    if widget and not bar.disable:
        from IPython.display import display

        # The widget alone, without the text that a notebook would keep of it: no second run gives that again.
        display({"application/vnd.jupyter.widget-view+json": bar.container.get_view_spec()}, raw=True)
    return bar


def advance(bar: tqdm, steps: int, loss: float, **more: int) -> None:
    """Show how many steps are done, and the loss."""
    bar.set_postfix(loss=f"{loss:.3f}", refresh=False, **more)
    bar.n = steps
    bar.update(0)


def finish(bar: tqdm) -> None:
    """Training is done, be it before the last step: the bar is full.  tqdm takes a bar that is not full for a failure.
    """
    bar.total = bar.n
    if hasattr(bar, "container"):  # a notebook's, whose picture has a length of its own
        bar.container.children[1].max = bar.n


@checked
def rng(seed: int, purpose: str) -> torch.Generator:
    """Make a generator for one (seed, purpose), so that no two uses of randomness share numbers.

    ``purpose``, such as ``"train"`` or ``"test"``, goes into a SHA-256 digest with the seed of a run; it seeds the generator.

    Examples
    --------
    >>> rng(1, "train").initial_seed() == rng(1, "test").initial_seed()
    False
    """
    digest = hashlib.sha256(f"{purpose}/{seed}".encode()).digest()
    return torch.Generator().manual_seed(int.from_bytes(digest[:7], "big"))


@contextmanager
def deterministic(alone: bool = False) -> Iterator[None]:
    """Run torch on one thread with denormals flushed: the same numbers however busy the machine is, and no slow tails.

    Compiled scans take as many threads as torch had, since they add in the same order on any number; with ``alone``, for a
    clock, one too.

    Sharp softmax columns are full of denormal numbers, which many processors handle far more slowly.  Asking the system
    for memory at each step takes time too, so the process keeps what it has
    (:func:`lrnnlab.scans.kernels.allocator.keep_freed_memory`).

    Examples
    --------
    >>> with deterministic():
    ...     torch.get_num_threads()
    1
    """
    flushing = flushes()
    torch.set_flush_denormal(True)
    keep_freed_memory()
    try:
        with torch_on_one(alone):
            yield
    finally:
        torch.set_flush_denormal(flushing)
