"""Training a model: on a task, or on any batches with any loss; with looks on the way, and taken up again after a kill.

A source of data is a task, or ``draw(generator)`` that gives a ``Batch``, or a tuple ``(*inputs, targets)`` for the
``loss(outputs, targets)`` that goes with it:

===============================  =====================================================================================
classes                          ``(tokens (B,T), lengths (B,), targets (B,))``, ``torch.nn.functional.cross_entropy``
numbers at the last L' places    ``(inputs (B,T,d), targets (B,L',d'))``, ``torch.nn.functional.mse_loss``
pairs of strings                 ``(a (B,T), b (B,T), (lengths of a, of b), targets (B,))``
===============================  =====================================================================================

The rate rises linearly to its full height, then falls as a half cosine towards 0 (paper 001, code and App. B), or stays
(paper 004), or stays until four fifths of the steps are done and then falls linearly towards 0.
Validation must come from strings that are neither trained on nor tested.
Curricula of lengths are in ``lengths``, pools of strings in ``pools``, and training that begins again until a model is
accepted in ``fitting``.

Letters: B batch, T time, L' positions read, d columns.
"""

from __future__ import annotations

import hashlib
import math
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import torch
from torch import Tensor, nn

from lrnnlab.tasks import BaseTask, Batch
from lrnnlab.tasks.base import answered, draw_seed
from lrnnlab.training.determinism import deterministic, rng
from lrnnlab.training.engine import Checkpoint, TrainState, chance_of, kind_of, own_chance, plain
from lrnnlab.training.progress import finish, progress_bar
from lrnnlab.validation import among, checked, number, shown

FALL = 0.2  # the last part of a trapezoid
Made = TypeVar("Made", bound=nn.Module)


@dataclass
class Trained:
    """What :func:`train` returns.

    ``net`` has its last weights; ``best`` holds those of the best validation, None if nothing was validated.
    ``losses``: (step, mean loss since the entry before).  ``watched``: what each watch said, with its ``step``.
    ``finished`` is False if training broke off after ``steps`` because the loss was no longer a number.
    """

    net: nn.Module
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


class Remembered:
    """A source of batches with a memory: what a run that goes on after a kill must know of it."""

    KEPT: ClassVar[tuple[str, ...]] = ()
    generator: torch.Generator

    def state(self) -> dict:
        """All of it, as ``torch.save`` takes it."""
        return {"generator": self.generator.get_state(), **{name: getattr(self, name) for name in self.KEPT}}

    def load(self, state: dict) -> None:
        """Go on from a ``state``."""
        self.generator.set_state(state["generator"])
        for name in self.KEPT:
            setattr(self, name, state[name])


@deterministic()
@checked
def train(
    net: nn.Module,
    source: BaseTask | Callable[[torch.Generator], Batch | tuple],
    loss: Callable[..., Tensor] | None = None,
    *,
    steps: int,
    rate: float = 3e-3,
    batch: int = 32,
    seed: int = 0,
    generator: torch.Generator | None = None,
    recurrent_rate: float | None = None,
    decay: float = 0.0,
    betas: tuple[float, float] = (0.9, 0.999),
    epsilon: float = 1e-8,
    clip: float | None = None,
    warmup: int = 0,
    schedule: str = "cosine",
    watch: Callable[[nn.Module, int], dict] | None = None,
    watch_every: int = 0,
    until: Callable[[Trained], bool] | None = None,
    checkpoint: Path | str | None = None,
    save_seconds: float = 5.0,
    progress: bool = True,
) -> Trained:
    """Train ``net`` for at most ``steps`` batches with AdamW, which without decay is Adam; on one thread.

    Batches of a task go to the device of the net's parameters.

    Parameters
    ----------
    net : Module
        What is trained; it keeps its last weights.
    source : BaseTask or callable
        A task, whose ``training_batch`` gives ``batch`` inputs a step, or what draws batches, ``source(generator)``:
        see the head of this module.  One with a memory has ``state()`` and ``load(state)``, as :class:`Remembered` has.
    loss : callable, optional
        Of ``net(*inputs)`` and the targets; if not given, that of the ``Batch``.
    steps : int
        The most batches.
    rate : float
        The learning rate, see ``parameter_groups``.
    batch : int
        Inputs a step, where the source is a task.
    seed : int
        Of batches and dropout, where no generator is given.
    generator : torch.Generator, optional
        Of batches and dropout; torch's own is left as it was.
    recurrent_rate : float, optional
        The learning rate of the recurrent parameters, ``rate`` if absent; see ``parameter_groups``.
    decay : float
        Weight decay, see ``parameter_groups``.
    betas : (float, float)
        AdamW's.
    epsilon : float
        AdamW's.
    clip : float, optional
        A gradient whose norm is greater is scaled down to it.
    warmup : int
        Steps of the linear rise of the learning rate.
    schedule : str
        What follows the rise, ``"cosine"`` to 0, ``"constant"`` or ``"trapezoid"``.
    watch : callable, optional
        ``watch(net, step) -> dict`` before the first step, every ``watch_every`` steps and after the last, without
        gradients, ``net`` in evaluation mode.  If the dict has ``"validation"`` (higher is better), its last and best
        values are kept, with the weights of the best.  It must not draw from torch's own generator.
    watch_every : int
        Steps between two looks.
    until : callable, optional
        Asked before every step whether what was found so far is enough; :func:`early_stopping` is the usual answer.
    checkpoint : path, optional
        A file written every ``save_seconds``; if it is there, from training with the same settings and first weights,
        this resumes from it and ends with the same numbers as if it had never been interrupted.  One of another run is
        kept under another name; ``ValueError`` for a file that is no checkpoint.
    save_seconds : float
        Seconds between two checkpoints.
    progress : bool
        Whether to show a bar.

    Returns
    -------
    Trained
        What was trained, and what was seen on the way.

    Raises
    ------
    ValueError
        For a net without parameters, steps below 1, a warm-up outside 0..steps-1, an unknown schedule, a clip that is
        not above 0, one of watch and watch_every without the other, or a folder as checkpoint.

    Examples
    --------
    >>> from lrnnlab.models import build
    >>> from lrnnlab.tasks import task
    >>> parity = task("parity")
    >>> train(build("lstm", parity, width=8), parity, steps=3, progress=False).steps
    3
    """
    _check(steps, warmup, schedule, clip, watch, watch_every)
    if not any(True for _ in net.parameters()):
        raise ValueError(f"training needs a net with parameters, got {net!r}")
    for what, size in {"rate": rate, "recurrent_rate": recurrent_rate or 0, "decay": decay}.items():
        number(size, what, 0)
    generator = rng(seed, "train") if generator is None else generator
    draw = _from_task(source, batch, net) if isinstance(source, BaseTask) else source
    made, start = Trained(net), time.process_time()
    groups = parameter_groups(net, rate, rate if recurrent_rate is None else recurrent_rate, decay)
    optimiser = torch.optim.AdamW([group for group in groups if group["params"]], betas=betas, eps=epsilon, fused=True)
    heights = [group["lr"] for group in optimiser.param_groups]
    descent, chance = TrainState(net, optimiser, clip=clip), chance_of(net)

    def batch_loss(part: float) -> tuple[Tensor, None]:
        drawn = draw(generator)
        *inputs, targets = (drawn.inputs, drawn) if isinstance(drawn, Batch) else drawn
        outputs = net(*inputs)
        value = targets.loss(outputs) if loss is None else loss(outputs, targets)
        if not isinstance(value, Tensor) or value.numel() != 1:
            raise TypeError(f"a loss gives one number, a Tensor, got {shown(value)}")
        return value, None

    def look() -> None:
        if watch is None:
            return
        net.eval()
        with torch.no_grad():
            found = plain(watch(net, descent.steps))
        net.train()
        if not isinstance(found, dict):
            raise TypeError(f"watch gives a dict of numbers, got {shown(found)}")
        descent.look(found, found.get("validation"))
        made.last_validation = found.get("validation", made.last_validation)

    def tell() -> Trained:
        """What was found so far, for ``until`` and in the end."""
        made.steps, made.losses, made.watched = descent.steps, descent.losses, descent.looks
        made.best, made.best_step = descent.best, descent.best_step
        made.best_validation = None if descent.best is None else descent.best_score
        return made

    def conclude() -> None:
        """What is entered and seen after the last step, whichever it was."""
        descent.close_window()
        if descent.looks and descent.looks[-1]["step"] != descent.steps:
            look()

    def after() -> None:
        if descent.steps == steps:
            conclude()
        elif watch_every and descent.steps % watch_every == 0:
            look()
        saved.save(state)
        if descent.losses:
            bar.set_postfix(loss=f"{descent.losses[-1][1]:.3f}", refresh=False)
        bar.n = descent.steps
        bar.update(0)

    def state() -> dict:
        return {
            "descent": descent.state(), "generator": generator.get_state(), "dropout": chance.get_state(),
            "last_validation": made.last_validation, "cpu_seconds": made.cpu_seconds + time.process_time() - start,
            "source": source.state() if hasattr(source, "state") else None,
        }  # fmt: skip

    setting = (steps, heights, decay, betas, epsilon, clip, warmup, schedule, watch_every, batch)
    chances = hashlib.sha256(generator.get_state().numpy().tobytes()).hexdigest()
    identity = (_identity(source), _identity(loss), _identity(until), chances, setting, kind_of(net))
    saved = Checkpoint(checkpoint, repr(identity), save_seconds)
    found = saved.find()
    if found is not None:
        descent.load(found["descent"])
        generator.set_state(found["generator"])
        made.last_validation, made.cpu_seconds = found["last_validation"], found["cpu_seconds"]
        if hasattr(source, "load"):
            source.load(found["source"])
    with own_chance(net), progress_bar(steps, progress) as bar:
        net.train()
        if found is None:
            chance.manual_seed(draw_seed(generator))
            look()
        else:
            chance.set_state(found["dropout"])
        descent.run(
            batch_loss, steps, after=after, enough=None if until is None else lambda: until(tell()),
            heights=lambda here: [{"lr": height * share_of_rate(here, steps, warmup, schedule)} for height in heights],
        )  # fmt: skip
        if not descent.failed:
            conclude()
            finish(bar)
    net.eval()
    tell().finished = not descent.failed
    made.cpu_seconds += time.process_time() - start
    return made


def _identity(made: Any) -> str:
    """What tells what draws batches, a loss or an end from others: its own word for it, or a function's name."""
    name = f"{getattr(made, '__module__', '')}.{getattr(made, '__qualname__', type(made).__qualname__)}"
    return getattr(made, "identity", name)


def _from_task(task: BaseTask, batch: int, net: nn.Module) -> Callable[[torch.Generator], Batch]:
    """What draws a task's batches, where the net's parameters lie."""
    device = next(net.parameters()).device
    return lambda generator: task.training_batch(batch, generator).to(device)


def parameter_groups(net: nn.Module, rate: float, recurrent_rate: float, decay: float) -> list[dict]:
    """Groups for ``torch.optim.AdamW`` as paper 001 and S5 train: (regular, recurrent)."""
    recurrent = []
    for layer in net.modules():
        own = dict(layer.named_parameters(recurse=False))
        for name in getattr(layer, "recurrent_parameters", ()):
            if name not in own:
                raise ValueError(f"{type(layer).__name__} names {name!r} as recurrent but has no such parameter")
            recurrent.append(own[name])
    known = {id(p) for p in recurrent}
    return [
        {"params": [p for p in net.parameters() if id(p) not in known], "lr": rate, "weight_decay": decay},
        {"params": recurrent, "lr": recurrent_rate, "weight_decay": 0.0},
    ]


def early_stopping(made: Trained, right: Callable[[dict], bool], patience: int, since: float = 0) -> bool:
    """Whether the last ``patience`` looks (1 or more), all after step ``since``, were ``right``: a rule for ``until``.

    >>> made = Trained(torch.nn.Identity(), watched=[{"step": step, "share": 1.0} for step in (0, 10, 20)])
    >>> [early_stopping(made, lambda look: look["share"] == 1, 2, since) for since in (0, 10)]
    [True, False]
    """
    last = made.watched[-patience:]
    return len(last) == patience and all(look["step"] > since and right(look) for look in last)


def share_of_rate(step: int, steps: int, warmup: int, schedule: str = "cosine") -> float:
    """What share of its full height a rate has at ``step`` = 0 ... steps - 1."""
    if step < warmup:
        return (step + 1) / warmup
    if schedule == "trapezoid":
        return min(1.0, (steps - step) / (FALL * steps))
    return 1.0 if schedule == "constant" else 0.5 * (1 + math.cos(math.pi * (step - warmup) / (steps - warmup)))


def with_seed(make: Callable[[], Made], seed: int) -> Made:
    """``make()`` with weights that ``seed`` alone decides; torch's own generator is left as it was.

    >>> from functools import partial
    >>> one, two = (with_seed(partial(nn.Linear, 2, 2), seed=3) for _ in range(2))
    >>> bool((one.weight == two.weight).all())
    True
    """
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(seed)  # torch.manual_seed would also seed every GPU
        return make()


@torch.no_grad()
def share_right(net: nn.Module, batches: Iterable[tuple]) -> float:
    """The share of right answers over ``batches`` of ``(*inputs, targets)``: the largest output answers, NaN does not.

    ``ValueError`` if there is no target.

    >>> share_right(torch.nn.Identity(), [(torch.eye(4), torch.tensor([0, 1, 2, 0]))])
    0.75
    """
    right = count = 0
    for *inputs, targets in batches:
        right += int((answered(net(*inputs)) == targets).sum())
        count += targets.numel()
    if not count:
        raise ValueError("a share of right answers needs answers, got 0 targets")
    return right / count


def _check(
    steps: int, warmup: int, schedule: str, clip: float | None, watch: Callable | None, watch_every: int
) -> None:
    """ValueError, with the numbers, for training that cannot be done."""
    if not 1 <= steps < math.inf or not 0 <= warmup < steps:
        raise ValueError(f"training needs steps >= 1 and 0 <= warmup < steps, got steps={steps}, warmup={warmup}")
    among("schedule", schedule, ("cosine", "constant", "trapezoid"))
    if clip is not None and not clip > 0:
        raise ValueError(f"a gradient is cut to a norm above 0, got clip={clip}")
    if watch_every < 0 or (watch is None) != (watch_every == 0):
        raise ValueError(f"watch and watch_every go together, got watch={watch} and watch_every={watch_every}")
