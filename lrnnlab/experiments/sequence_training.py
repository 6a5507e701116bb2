"""Training a ``SequenceNet``, or any module, on whole sequences: classes or numbers, with validation on the way.

A batch is a tuple ``(*inputs, targets)``; the network gets the inputs, ``loss(outputs, targets)`` is a number:

===============================  =====================================================================================
classes                          ``(tokens (B,T), lengths (B,), targets (B,))``, ``torch.nn.functional.cross_entropy``
numbers at the last L' places    ``(inputs (B,T,d), targets (B,L',d'))``, ``torch.nn.functional.mse_loss``
pairs of strings                 ``(a (B,T), b (B,T), (lengths of a, of b), targets (B,))``
strings and their labels         ``(tokens (B,T), strings)``, a loss of its own that finds the labels in the ``Batch``
===============================  =====================================================================================

The rate rises linearly to its full height, then falls as a half cosine to 0 at the last step, or stays (paper 001, code
and App. B; paper 004 keeps it constant).  Validation must come from strings that are neither trained on nor tested.

Papers 002 and 003 are trained by it too; ``string_training`` and ``fwp_training`` say on what, and when it is enough.

Letters: B batch, T time, L' positions read, d columns.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import torch
from torch import Tensor, nn
from tqdm.auto import tqdm

from lrnnlab.errors import number
from lrnnlab.models.sequence_blocks import parameter_groups
from lrnnlab.steady import steady_arithmetic
from lrnnlab.tasks.base import answered
from lrnnlab.tasks.seeds import draw_seed

SCHEDULES = ("cosine", "constant")
WINDOW = 10  # steps whose mean loss is one entry


@dataclass
class Trained:
    """What :func:`train_sequences` returns.

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


@steady_arithmetic()
def train_sequences(
    net: nn.Module,
    draw_batch: Callable[[torch.Generator], tuple],
    loss: Callable[[Tensor, Tensor], Tensor],
    *,
    steps: int,
    rate: float,
    generator: torch.Generator,
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
    progress: bool = True,
) -> Trained:
    """Train ``net`` for at most ``steps`` batches with AdamW, which without decay is Adam; on one thread.

    Parameters
    ----------
    draw_batch : ``draw_batch(generator) -> (*inputs, targets)``.      loss : of ``net(*inputs)`` and the targets.
    rate, recurrent_rate, decay : see ``parameter_groups``; the recurrent rate is ``rate`` if absent.
    betas, epsilon : AdamW's.      clip : a gradient whose norm is greater is scaled down to it.
    warmup : steps of the linear rise.      schedule : what follows, ``"cosine"`` to 0, or ``"constant"``.
    generator : of the batches and of dropout; torch's own is left as it was.
    watch, watch_every : ``watch(net, step) -> dict`` before the first step, every ``watch_every`` steps and after the
        last, without gradients, ``net`` in evaluation mode.  If the dict has ``"validation"`` (higher is better), its
        last and best values are kept, with the weights of the best.  It must not draw from torch's own generator.
    until : asked before every step whether what was found so far is enough; :func:`settled` is the usual answer.

    ``ValueError`` for steps below 1, a warm-up outside 0..steps-1, an unknown schedule, a clip that is not above 0, or
    one of watch and watch_every without the other.

    >>> import torch
    >>> net = torch.nn.Linear(3, 1)
    >>> def draw_batch(generator):
    ...     x = torch.randn(16, 3, generator=generator)
    ...     return x, x.sum(1, keepdim=True)
    >>> made = train_sequences(net, draw_batch, torch.nn.functional.mse_loss, steps=300, rate=0.1,
    ...                        generator=torch.Generator().manual_seed(0), progress=False)
    >>> net.weight.detach().round(decimals=2).tolist(), made.finished
    ([[1.0, 1.0, 1.0]], True)
    """
    _check(steps, warmup, schedule, clip, watch, watch_every)
    for name, value in {"rate": rate, "recurrent_rate": recurrent_rate or 0, "decay": decay}.items():
        number(value, name, 0)
    made, start, window = Trained(net), time.process_time(), []
    groups = parameter_groups(net, rate, rate if recurrent_rate is None else recurrent_rate, decay)
    optimiser = torch.optim.AdamW([group for group in groups if group["params"]], betas=betas, eps=epsilon, fused=True)
    heights = [group["lr"] for group in optimiser.param_groups]
    net.train()
    with _own_randomness(generator), _progress_bar(steps, progress) as bar:
        _look(made, watch)
        while made.steps < steps and not (until and until(made)):
            for group, height in zip(optimiser.param_groups, heights):
                group["lr"] = height * share_of_rate(made.steps, steps, warmup, schedule)
            *inputs, targets = draw_batch(generator)
            value = loss(net(*inputs), targets)
            window.append(value.item())
            if not math.isfinite(window[-1]):
                made.finished = False
                break
            optimiser.zero_grad()
            value.backward()
            if clip is not None:
                nn.utils.clip_grad_norm_(net.parameters(), clip)
            optimiser.step()
            made.steps += 1
            if len(window) == WINDOW or made.steps == steps:
                made.losses.append((made.steps, sum(window) / len(window)))
                bar.set_postfix(loss=f"{made.losses[-1][1]:.3f}", refresh=False)
                window = []
            if watch_every and (made.steps % watch_every == 0 or made.steps == steps):
                _look(made, watch)
            bar.update()
    net.eval()
    made.cpu_seconds = time.process_time() - start
    return made


def settled(made: Trained, right: Callable[[dict], bool], patience: int, since: float = 0) -> bool:
    """Whether the last ``patience`` looks (1 or more), all after step ``since``, were ``right``: a rule for ``until``.

    >>> made = Trained(torch.nn.Identity(), watched=[{"step": step, "share": 1.0} for step in (0, 10, 20)])
    >>> [settled(made, lambda look: look["share"] == 1, 2, since) for since in (0, 10)]
    [True, False]
    """
    last = made.watched[-patience:]
    return len(last) == patience and all(look["step"] > since and right(look) for look in last)


def share_of_rate(step: int, steps: int, warmup: int, schedule: str = "cosine") -> float:
    """What share of its full height a rate has at ``step`` = 0 ... steps - 1.

    >>> [round(share_of_rate(step, 6, 2), 3) for step in range(6)]
    [0.5, 1.0, 1.0, 0.854, 0.5, 0.146]
    """
    if step < warmup:
        return (step + 1) / warmup
    return 1.0 if schedule == "constant" else 0.5 * (1 + math.cos(math.pi * (step - warmup) / (steps - warmup)))


def with_seed(make: Callable[[], nn.Module], seed: int) -> nn.Module:
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


@torch.no_grad()
def _look(made: Trained, watch: Callable[[nn.Module, int], dict] | None) -> None:
    """Ask ``watch``, keep what it says and, if that is the best validation so far, the weights."""
    if watch is None:
        return
    made.net.eval()
    found = watch(made.net, made.steps)
    made.net.train()
    made.watched.append({"step": made.steps, **found})
    if "validation" not in found:
        return
    made.last_validation = found["validation"]
    if made.best_validation is None or made.last_validation > made.best_validation:
        made.best_validation, made.best_step = made.last_validation, made.steps
        made.best = {name: tensor.clone() for name, tensor in made.net.state_dict().items()}


@contextmanager
def _own_randomness(generator: torch.Generator) -> Iterator[None]:
    """Dropout draws from torch's own generator: within, that is decided by ``generator``; then it is put back."""
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(draw_seed(generator))
        yield


def _progress_bar(steps: int, progress: bool) -> tqdm:
    """A bar of ``steps`` steps: quick where somebody looks, seldom where a file is written, silent without ``progress``."""
    interactive = sys.stderr.isatty() or "ipykernel" in sys.modules
    return tqdm(total=steps, unit="step", disable=not progress, leave=False, mininterval=0.2 if interactive else 10.0)


def _check(
    steps: int, warmup: int, schedule: str, clip: float | None, watch: Callable | None, watch_every: int
) -> None:
    """ValueError, with the numbers, for training that cannot be done."""
    if not 1 <= steps < math.inf or not 0 <= warmup < steps:
        raise ValueError(f"training needs steps >= 1 and 0 <= warmup < steps, got steps={steps}, warmup={warmup}")
    if schedule not in SCHEDULES:
        raise ValueError(f"schedule is one of {', '.join(SCHEDULES)}, got {schedule!r}")
    if clip is not None and not clip > 0:
        raise ValueError(f"a gradient is cut to a norm above 0, got clip={clip}")
    if watch_every < 0 or (watch is None) != (watch_every == 0):
        raise ValueError(f"watch and watch_every go together, got watch={watch} and watch_every={watch_every}")
