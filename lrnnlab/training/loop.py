"""The training loop: any model, on a task or on any batches with any loss, resumed after a kill to the same weights.

A source of batches is a task, or ``draw(generator)`` that gives a ``Batch``, or a tuple ``(*inputs, targets)`` for the
``loss(outputs, targets)`` that goes with it:

===============================  =====================================================================================
classes                          ``(tokens (B,T), lengths (B,), targets (B,))``, ``torch.nn.functional.cross_entropy``
numbers at the last L' places    ``(inputs (B,T,d), targets (B,L',d'))``, ``torch.nn.functional.mse_loss``
pairs of strings                 ``(a (B,T), b (B,T), (lengths of a, of b), targets (B,))``
===============================  =====================================================================================

The learning rate rises linearly to its full height, then falls as a half cosine towards 0 (paper 001, code and App. B),
or stays (paper 004), or stays for four fifths of the steps and then falls linearly towards 0.
Letters: B batch, T time, L' positions read, d columns.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from lrnnlab.models.base import at_default_device, weights_of
from lrnnlab.tasks import BaseTask, Batch
from lrnnlab.tasks.draws import draw_seed
from lrnnlab.training.engine import (
    Checkpoint,
    Made,
    Trained,
    TrainState,
    adam,
    advance,
    deterministic,
    fingerprint,
    finish,
    progress_bar,
    rng,
)  # fmt: skip
from lrnnlab.validation import among, checked, number, shown

FALL = 0.2  # the last part of a trapezoid


class ResumableSource:
    """A source of batches with a generator and a memory, the attributes ``KEPT``, which a checkpoint holds too."""

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
@torch.inference_mode(False)
@torch.enable_grad()
@checked
def train(
    net: Made,
    source: BaseTask | Callable[[torch.Generator], Batch | tuple],
    loss: Callable[..., Tensor] | None = None,
    *,
    steps: int,
    lr: float = 3e-3,
    batch_size: int = 32,
    seed: int = 0,
    generator: torch.Generator | None = None,
    recurrent_lr: float | None = None,
    weight_decay: float = 0.0,
    betas: tuple[float, float] = (0.9, 0.999),
    eps: float = 1e-8,
    clip: float | None = None,
    warmup: int = 0,
    schedule: str = "cosine",
    watch: Callable[[Made, int], dict] | None = None,
    watch_every: int = 0,
    until: Callable[[Trained[Made]], bool] | None = None,
    checkpoint: Path | str | None = None,
    save_seconds: float = 5.0,
    progress: bool = True,
) -> Trained[Made]:
    """Train ``net`` for at most ``steps`` batches with AdamW (without decay this is Adam); see :func:`deterministic`.

    Batches of a task go to the device of the net's parameters.

    Parameters
    ----------
    net : Module
        The net to train; it ends with its last weights, in evaluation mode.
    source : BaseTask or callable
        A task, whose ``training_batch`` gives ``batch_size`` inputs a step, or ``source(generator)``: see the head of this
        module.  One with a memory has ``state()`` and ``load(state)``, as :class:`ResumableSource` has.
    loss : callable, optional
        ``loss(net(*inputs), targets)``; if not given, ``Batch.loss``.
    steps : int
        The most batches.
    lr : float
        The learning rate at its height.
    batch_size : int
        Inputs a step, where the source is a task.
    seed : int
        Seed of batches and dropout, where no generator is given.
    generator : torch.Generator, optional
        Source of randomness for batches and dropout; torch's own generator is left as it was.
    recurrent_lr : float, optional
        The learning rate of the recurrent parameters, ``lr`` if absent (paper 001, App. B; S5); they do not decay.
    weight_decay : float
        Of all other parameters.
    betas, eps
        AdamW's.
    clip : float, optional
        A gradient with a larger norm is scaled down to it.
    warmup : int
        Steps of the linear rise of the learning rate.
    schedule : str
        What follows the rise: ``"cosine"`` to 0, ``"constant"`` or ``"trapezoid"``.
    watch : callable, optional
        ``watch(net, step) -> dict`` before the first step, every ``watch_every`` steps and after the last, without
        gradients, ``net`` in evaluation mode.  If the dict has ``"validation"`` (higher is better), its last and best
        values are kept, with the weights of the best.  It must not draw from torch's own generator.
    watch_every : int
        Steps between two evaluations.
    until : callable, optional
        Asked before every step whether to stop; :func:`early_stopping` is the usual answer.
    checkpoint : path, optional
        A file written every ``save_seconds``.  If it is there, from training with the same settings and first weights,
        this resumes from it and ends with the same numbers as if it had never been interrupted.  One of another run is
        kept under another name.
    save_seconds : float
        Seconds between two checkpoints.
    progress : bool
        Whether to show a bar.

    Returns
    -------
    Trained
        The net, its losses and evaluations.

    Examples
    --------
    >>> from lrnnlab.models import build
    >>> from lrnnlab.tasks import task
    >>> parity = task("parity")
    >>> train(build("lstm", parity, width=8), parity, steps=3, progress=False).steps
    3
    """
    if not 1 <= steps < math.inf or not 0 <= warmup < steps:
        raise ValueError(f"training needs steps >= 1 and 0 <= warmup < steps, got steps={steps}, warmup={warmup}")
    if watch_every < 0 or (watch is None) != (watch_every == 0):
        raise ValueError(f"watch and watch_every go together, got watch={watch} and watch_every={watch_every}")
    among("schedule", schedule, ("cosine", "constant", "trapezoid"))
    for name, size in {"lr": lr, "recurrent_lr": recurrent_lr or 0, "weight_decay": weight_decay}.items():
        number(size, name, 0)
    if clip is not None:
        number(clip, "clip", 0, inside=True)

    generator = rng(seed, "train") if generator is None else generator
    groups = parameter_groups(net, lr, lr if recurrent_lr is None else recurrent_lr, weight_decay)
    optimiser = adam([group for group in groups if group["params"]], betas, eps)
    rates = [group["lr"] for group in optimiser.param_groups]
    state = TrainState(net, optimiser, clip=clip)
    made, device = state.made, next(net.parameters()).device
    watch = watch and torch.no_grad()(watch)

    setting = (steps, rates, weight_decay, betas, eps, clip, warmup, schedule, watch_every, batch_size)
    chance = hashlib.sha256(generator.get_state().numpy().tobytes()).hexdigest()
    identity = (_identity(source), _identity(loss), _identity(until), chance, setting, fingerprint(net))
    saved = Checkpoint(checkpoint, repr(identity), save_seconds)
    found = saved.find()

    with _own_dropout(device) as dropout, progress_bar(steps, progress) as bar:
        net.train()
        if found is not None:
            state.load(found["train"])
            generator.set_state(found["generator"])
            dropout.set_state(found["dropout"])
            if hasattr(source, "load"):
                source.load(found["source"])
        else:
            dropout.manual_seed(draw_seed(generator))
            if watch is not None:
                state.evaluate(watch)

        while made.steps < steps and not (until and until(made)):
            for group, height in zip(optimiser.param_groups, rates):
                group["lr"] = scheduled_lr(made.steps, steps, height, warmup=warmup, schedule=schedule, start=warmup)

            drawn = (source.training_batch(batch_size, generator).beside(net) if isinstance(source, BaseTask)
                     else source(generator))  # fmt: skip
            *inputs, targets = (drawn.inputs, drawn) if isinstance(drawn, Batch) else drawn
            state.look_at(targets.wanted if isinstance(targets, Batch) else targets)
            outputs = net(*inputs)
            value = targets.loss(outputs) if loss is None else loss(outputs, targets)
            if not isinstance(value, Tensor) or value.numel() != 1:
                raise TypeError(f"a loss gives one number, a Tensor, got {shown(value)}")
            state.step(value)  # backward, clipping, optimiser
            if not made.finished:
                break

            if watch is not None and made.steps % watch_every == 0:
                state.evaluate(watch)
            saved.save(lambda: {
                "train": state.state(), "generator": generator.get_state(), "dropout": dropout.get_state(),
                "source": source.state() if hasattr(source, "state") else None,
            })  # fmt: skip
            advance(bar, made.steps, made.losses[-1][1] if made.losses else value.item())

        if made.finished:
            state.close_window()
            if watch is not None and made.watched[-1]["step"] != made.steps:
                state.evaluate(watch)
            made.finished = state.is_finite()
        if made.finished:
            finish(bar)
    state.warn_if_nothing_was_learned()
    net.eval()
    state.read_clock()
    return made


@contextmanager
def _own_dropout(device: torch.device) -> Iterator[torch.Generator]:
    """Torch's own generator of a device, from which dropout draws; afterwards it is as it was."""
    cuda = device.type == "cuda"
    with torch.random.fork_rng(devices=[device] if cuda else []):
        yield torch.cuda.default_generators[device.index] if cuda else torch.default_generator


def _identity(made: Any) -> str:
    """What tells a source, a loss or an end from others: its own ``identity``, or a function's name."""
    name = f"{getattr(made, '__module__', '')}.{getattr(made, '__qualname__', type(made).__qualname__)}"
    return getattr(made, "identity", name)


def parameter_groups(net: nn.Module, lr: float, recurrent_lr: float, weight_decay: float) -> list[dict]:
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
        {"params": [p for p in net.parameters() if id(p) not in known], "lr": lr, "weight_decay": weight_decay},
        {"params": recurrent, "lr": recurrent_lr, "weight_decay": 0.0},
    ]


def scheduled_lr(
    step: int, steps: int, lr: float, final_lr: float = 0.0, *, warmup: int = 0, schedule: str = "cosine", start: int = 0
) -> float:
    """The learning rate at ``step`` = 0 ... steps - 1: a linear rise over ``warmup`` steps, times a fall from ``start`` on."""
    rise = min(1.0, (step + 1) / warmup) if warmup else 1.0
    fall = 1.0
    if step >= start and schedule == "cosine":
        fall = 0.5 * (1 + math.cos(math.pi * (step - start) / (steps - start)))
    elif step >= start and schedule == "trapezoid":
        fall = min(1.0, (steps - step) / (FALL * steps))
    return (final_lr + (lr - final_lr) * fall) * rise


def early_stopping(made: Trained, right: Callable[[dict], bool], patience: int, since: float = 0) -> bool:
    """True once the last ``patience`` evaluations (1 or more), all after step ``since``, satisfy ``right``: for ``until``.

    ``right`` is asked of entries of ``made.watched``; ``until`` gets ``made`` from :func:`train`.

    Examples
    --------
    >>> made = Trained(torch.nn.Identity(), watched=[{"step": step, "share": 1.0} for step in (0, 10, 20)])
    >>> [early_stopping(made, lambda look: look["share"] == 1, 2, since) for since in (0, 10)]
    [True, False]
    """
    last = made.watched[-patience:]
    return len(last) == patience and all(look["step"] > since and right(look) for look in last)


def with_seed(make: Callable[[], Made], seed: int) -> Made:
    """``make()`` with weights that ``seed`` alone decides; torch's own generator is left as it was."""
    with weights_of(seed):
        net = make()
    return at_default_device(net)
