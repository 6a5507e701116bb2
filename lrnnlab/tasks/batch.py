"""What tasks produce and what training and evaluation consume: inputs side by side with their targets; the same for other
libraries; and what a guesser scores on them.

Letters: B batch, T time, C classes, N answers.
"""

from __future__ import annotations

import copy
import errno
import inspect
import io
import itertools
import json
import math
import sys
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import IterableDataset, get_worker_info

from lrnnlab.files import put
from lrnnlab.validation import checked, number, shown, whole_number

SPLITS = ("train", "validation", "test")
AT_A_TIME = 64  # strings that one seed decides
IGNORED = -100  # the target where nothing is asked, as torch has it


@dataclass(frozen=True, eq=False)
class Batch:
    """A batch of inputs and targets: what every task gives, and every training and score reads.

    ``inputs``: tokens (B, T) int64, or numbers (B, T, d_in).  ``targets`` is one of three:

    * classes (B, T) int64, one a position, and ``mask`` (B, T) bool, True where a label is asked for; elsewhere the
      target is -1, which no classifier can hit and no loss accepts unmasked;
    * classes (B,) int64, one a string;
    * numbers (B, T', d_out), at the last T' positions.
    """

    inputs: torch.Tensor
    targets: torch.Tensor
    mask: torch.Tensor | None = None

    @property
    def tokens(self) -> torch.Tensor:
        """``inputs`` by the name they have where they are tokens."""
        return self.inputs

    def __len__(self) -> int:
        return len(self.inputs)

    def __iter__(self) -> Iterator[Any]:
        return iter((self.inputs, self.targets, self.mask))

    def to(self, device: Any) -> Batch:
        """The same batch on another device."""
        return Batch(*(part if part is None else part.to(device) for part in (self.inputs, self.targets, self.mask)))

    def beside(self, net: nn.Module) -> Batch:
        """The same batch where the weights of a net lie, its numbers in their type."""
        weight = next((weight for weight in net.parameters() if weight.is_floating_point()), None)
        if weight is None:
            return self
        there = self.to(weight.device)
        inputs, targets = (x.to(weight.dtype) if x.is_floating_point() else x for x in (there.inputs, there.targets))
        return Batch(inputs, targets, there.mask)

    @property
    def wanted(self) -> torch.Tensor:
        """The answers that are asked for, (N,), or (B, T', d_out)."""
        return self.targets if self.mask is None or self.targets.ndim == 1 else self.targets[self.mask]

    def asked(self, outputs: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """The outputs where an answer is asked for, and the targets there: (N, C) and (N,), or twice (B, T', d_out).

        ``outputs``: (B, T, C), one a position, or (B, C) of a network that answers once, at the last position.
        ValueError if the network does not answer where the task asks.

        >>> from lrnnlab.tasks import task
        >>> logits, classes = task("sum", 5).sample(2, 3, torch.Generator().manual_seed(0)).asked(torch.zeros(2, 3, 5))
        >>> logits.shape, classes.shape
        (torch.Size([6, 5]), torch.Size([6]))
        """
        once = outputs.ndim == 2
        if self.targets.is_floating_point():
            if once:
                raise ValueError(f"numbers are asked for at {self.targets.shape[1]} positions, and the outputs have "
                                 f"shape {tuple(outputs.shape)}: one a sequence")
            return outputs[:, outputs.shape[1] - self.targets.shape[1] :], self.targets
        if self.targets.ndim == 1:
            return (outputs if once else outputs[:, -1]), self.targets
        if not once:
            return outputs[self.mask], self.targets[self.mask]
        if not self.mask[:, -1].all():
            raise ValueError(f"outputs of shape {tuple(outputs.shape)} answer at the last position alone, where string "
                             f"{int((~self.mask[:, -1]).nonzero()[0])} is asked for nothing")
        return outputs, self.targets[:, -1]

    def loss(self, outputs: torch.Tensor) -> torch.Tensor:
        """The mean cross-entropy over all answers that are asked for, in nats; for numbers the mean squared error.

        0 where nothing is asked, as of strings that are too short for a label: nothing can be learned from them.
        """
        given, wanted = self.asked(outputs)
        if not wanted.numel():
            return 0 * outputs.sum()
        return (F.mse_loss if wanted.is_floating_point() else F.cross_entropy)(given, wanted)

    def right(self, outputs: torch.Tensor) -> torch.Tensor:
        """(N,) bool: which answers are right, the largest logit's class; NaN is no answer."""
        given, wanted = self.asked(outputs)
        return answered(given) == wanted


NO_ANSWER = -2  # what is never right, not even where no label is due


def answered(logits: torch.Tensor, classes: int | None = None) -> torch.Tensor:
    """The classes (...) that logits (..., C) answer with: the largest.  NaN is no answer, ``NO_ANSWER``.

    Some NaN is what a state leaves that has overflowed; where there is no other answer at all, a warning says so.
    ValueError unless there are as many logits as ``classes``, if that is given.
    """
    if not isinstance(logits, torch.Tensor) or not logits.ndim or not logits.shape[-1]:
        raise ValueError(f"logits must be a tensor (..., C), got {shown(logits)}")
    if classes is not None and logits.shape[-1] != classes:
        raise ValueError(f"the network answers with {logits.shape[-1]} classes, the task has {classes}")
    largest, found = logits.max(-1)
    nothing = largest.isnan()
    if nothing.numel() and nothing.all():
        warnings.warn(f"all {nothing.numel()} answers are NaN, and count as wrong", stacklevel=2)
    return found.masked_fill(nothing, NO_ANSWER)


# --- for other libraries --------------------------------------------------------------------------------------------------


class TaskDataset(IterableDataset):
    """Strings of a task, one by one, for a ``DataLoader``, and as a file: what ``task.dataset(...)`` gives; see there.

    Each is ``(inputs, targets, mask, length)``: tokens (T,) int64 or numbers (T, d_in); classes (T,) int64, -100 (what torch's
    ``cross_entropy`` leaves out) where nothing is asked, or numbers (T, d_out), 0 there; mask (T,) bool, where something is;
    T.  ``collate`` makes them B side by side, padded at their ends.
    """

    def __init__(self, task: Any, lengths: tuple[int, int] | None, strings: int | None, seed: int, split: str):
        self.task, self.lengths, self.strings, self.seed, self.split = task, lengths, strings, seed, split

    def __repr__(self) -> str:
        lengths = self.lengths or "as in training"
        return f"{self.task.name}: {self.strings or 'endless'} strings, lengths {lengths}, {self.split}, seed {self.seed}"

    def __getstate__(self):
        """What a worker needs: an oracle may be a function that cannot be sent there, and is not asked."""
        state = dict(vars(self))
        if hasattr(self.task, "language"):
            state["task"] = copy.copy(self.task)
            state["task"].language = replace(self.task.language, oracle=None)
        return state

    def __iter__(self) -> Iterator[tuple[torch.Tensor, torch.Tensor, torch.Tensor, int]]:
        worker = get_worker_info()
        first, step = (worker.id, worker.num_workers) if worker else (0, 1)
        for group in itertools.count(first, step):
            left = AT_A_TIME if self.strings is None else self.strings - group * AT_A_TIME
            if left <= 0:
                return
            yield from itertools.islice(self._group(group), left)

    def _group(self, group: int) -> Iterator[tuple[torch.Tensor, torch.Tensor, torch.Tensor, int]]:
        """Group number ``group`` of strings, decided by the seed: who reads it, and how many read, changes nothing."""
        drawn = np.random.SeedSequence((self.seed, SPLITS.index(self.split), group)).generate_state(1, np.uint64)
        generator = torch.Generator().manual_seed(int(drawn[0]) >> 1)
        if self.lengths is None:
            found = list(self._rows(self.task.training_batch(AT_A_TIME, generator)))
        else:
            low, high, least = *self.lengths, self.task.least_length
            lengths = Counter(torch.randint(low, high + 1, (AT_A_TIME,), generator=generator, device="cpu").tolist())
            batches = (self.task.sample_near(lengths[one], max(one, least), generator) for one in sorted(lengths))
            found = [row for batch in batches for row in self._rows(batch)]
        order = torch.randperm(AT_A_TIME, generator=generator, device="cpu")  # some draws give one class after the other
        return (found[at] for at in order.tolist())

    def _rows(self, batch: Batch) -> Iterator[tuple[torch.Tensor, torch.Tensor, torch.Tensor, int]]:
        inputs, targets, mask = batch
        B, T = inputs.shape[:2]
        if mask is None:  # of the whole string, or of the last positions
            mask = (torch.arange(T, device="cpu") >= T - (1 if targets.ndim == 1 else targets.shape[1])).expand(B, T)
        if targets.is_floating_point():
            targets = F.pad(targets, (0, 0, T - targets.shape[1], 0))
        else:
            targets = (targets[:, None] if targets.ndim == 1 else targets).expand(B, T).masked_fill(~mask, IGNORED)
        ends = torch.where(mask, torch.arange(T, device="cpu") + 1, 0).amax(1).tolist() if self.task.padded else [T] * B
        return ((x[:end].clone(), y[:end].clone(), m[:end].clone(), end) for x, y, m, end in zip(inputs, targets, mask, ends))

    @staticmethod
    def collate(
        strings: Sequence[tuple[torch.Tensor, torch.Tensor, torch.Tensor, int]],
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
        """B strings side by side: inputs (B, T) or (B, T, d_in), targets, mask (B, T), lengths (B,); for a ``DataLoader``."""
        inputs, targets, masks, lengths = zip(*strings)
        nothing = 0 if targets[0].is_floating_point() else IGNORED
        padded = (pad_sequence(list(part), True, fill) for part, fill in ((inputs, 0), (targets, nothing), (masks, False)))
        return *padded, torch.tensor(lengths, device="cpu")  # type: ignore[return-value]

    @property
    def about(self) -> dict[str, Any]:
        """What a file says of itself: the task, its symbols, levels and oracle, and how its strings were drawn."""
        task = self.task
        longest = task.near(max(self.lengths[1] if self.lengths else task.train_length, task.least_length))
        language = getattr(task, "language", None)
        says = (language.says or language.name) if language else (inspect.getdoc(type(task)) or "").partition("\n")[0]
        oracle: Any = (language.oracle if language else getattr(task, "answer", None)) or type(task)  # none after pickling
        levels = {name: level if math.isfinite(level) else None for name, level in task.levels(longest).items()}
        return {
            "task": task.name, "reads": task.reads, "symbols": list(getattr(task, "symbols", ())), "classes": task.classes,
            "asks": says, "oracle": _written(oracle), "score": task.score,
            "levels": {"length": longest, **levels}, "not_asked": IGNORED, "lengths": self.lengths,
            "strings": self.strings, "split": self.split, "seed": self.seed, "lrnnlab": sys.modules["lrnnlab"].__version__,
        }  # fmt: skip

    def save(self, path: Path | str, overwrite: bool = False) -> Path:
        """Write all strings, and what ``about`` says, to a file that ends in .jsonl, .csv or .npz; returns its path.

        JSON lines: ``about``, then ``{"inputs": [...], "targets": [...]}`` a string.  CSV, of tokens alone: ``about`` in lines
        that begin with #, then two columns, numbers with spaces between.  NumPy: arrays ``inputs``, ``targets``, ``mask`` and
        ``lengths``, padded as by ``collate``, and ``about`` as JSON.  ValueError for another ending, or endless strings;
        FileExistsError where something is, unless ``overwrite``.
        """
        path = Path(path)
        kind = path.suffix.lower()
        if kind not in (".jsonl", ".csv", ".npz"):
            raise ValueError(f"strings are written to a .jsonl, .csv or .npz file, got {str(path)!r}")
        if kind == ".csv" and self.task.reads != "tokens":
            raise ValueError(f"{self.task.name} reads columns of numbers: take .jsonl or .npz, got {str(path)!r}")
        if self.strings is None:
            raise ValueError(f"a file takes a number of strings, got strings=None: {str(path)!r}")
        if path.exists() and not overwrite:
            raise FileExistsError(errno.EEXIST, "a file is there; overwrite=True, or --overwrite, replaces it", str(path))
        about = self.about
        if kind == ".npz":
            parts = (part.numpy() for part in self.collate(list(self)))
            arrays: dict[str, Any] = dict(zip(("inputs", "targets", "mask", "lengths"), parts))
            np.savez_compressed(file := io.BytesIO(), about=np.array(json.dumps(about)), **arrays)
            put(path, file.getvalue())
            return path
        rows = ((inputs.tolist(), targets.tolist()) for inputs, targets, _, _ in self)
        if kind == ".jsonl":
            lines = [json.dumps(about), *(json.dumps({"inputs": x, "targets": y}) for x, y in rows)]
        else:
            lines = [*(f"# {name}: {json.dumps(value)}" for name, value in about.items()), "inputs,targets",
                     *(",".join(" ".join(map(str, part)) for part in row) for row in rows)]  # fmt: skip
        put(path, "".join(f"{line}\n" for line in lines).encode())
        return path


def _written(function: Any) -> str:
    """Where a function, or what is called like one, is written; of one without a name the line."""
    while isinstance(function, partial):
        function = function.func
    made = function if hasattr(function, "__qualname__") else type(function)
    place, nameless, _ = f"{made.__module__}.{made.__qualname__}".partition(".<")
    return f"{place}, line {function.__code__.co_firstlineno}" if nameless and hasattr(function, "__code__") else place


# --- scores --------------------------------------------------------------------------------------------------------------


def best_of_checks(level: float, checks: int = 40, strings: int = 128) -> tuple[float, float]:
    """Mean and standard deviation of the best of ``checks`` test scores of a model that is right at ``level``.

    A score is the fraction of ``strings`` independent strings answered well, so one score is Binomial(strings, level)
    / strings and the best of them is exactly distributed as P(best <= k) = P(one <= k)^checks.  Paper 000 (table 2)
    reports the best check of a run; its released code makes 40 of 128 strings.  This, and not ``level``, is the line
    to compare such a score with.  ValueError for a level outside 0..1, or counts below 1.

    >>> [round(number, 3) for number in best_of_checks(0.2)]
    [0.279, 0.019]
    """
    from scipy.stats import binom  # a second to load

    level = number(level, "the level, a probability,", 0, 1)
    checks, strings = whole_number(checks, 1, "checks"), whole_number(strings, 1, "strings")
    scores = np.arange(strings + 1) / strings
    best = np.diff(binom.cdf(np.arange(strings + 1), strings, level) ** checks, prepend=0)
    mean = float(best @ scores)
    return mean, float(np.sqrt(best @ (scores - mean) ** 2))


@checked
def whole_string_accuracy(predicted: torch.Tensor, batch: Batch) -> float:
    """The share of strings with no labelled position wrong: paper 003's score (Sec. 4.1).

    Parameters
    ----------
    predicted : Tensor
        Classes (B, T) int, or logits (B, T, C), whose largest entry counts (NaN: none).
    batch : Batch
        The strings and their targets.

    Raises
    ------
    ValueError
        For another shape, a batch with other answers than one a position, or a string without a label.

    Examples
    --------
    >>> from lrnnlab.tasks.counter_languages import Dyck1
    >>> batch = Dyck1().batch([[0, 1], [0, 0, 1, 1]])
    >>> whole_string_accuracy(torch.tensor([[1, 0, 7, 7], [1, 1, 1, 1]]), batch)
    0.5
    """
    _check_asked(batch)
    if predicted.device != batch.targets.device:
        raise ValueError(f"predicted lies on {predicted.device}, the batch on {batch.targets.device}")
    classes = answered(predicted) if predicted.ndim == 3 else predicted
    if classes.shape != batch.targets.shape:
        raise ValueError(f"predictions are (B, T) or (B, T, C) with (B, T) = {tuple(batch.targets.shape)}, "
                         f"got {tuple(predicted.shape)}")
    if not batch.mask.any(1).all():
        raise ValueError(f"string {int((~batch.mask.any(1)).nonzero()[0])} has no labelled position")
    return float(((classes == batch.targets) | ~batch.mask).all(1).double().mean())


@checked
def blind_levels(batch: Batch, classes: int) -> dict[str, float]:
    """What knows nothing scores on the very strings of ``batch``: four numbers by name.

    ``chance`` and ``majority``: the share of positions right by a uniform guess, and by the best constant answer;
    ``whole_chance`` and ``whole_majority``: the same for whole strings (expected, and for the best constant).

    >>> from lrnnlab.tasks.counter_languages import EvenAs
    >>> task = EvenAs()
    >>> found = blind_levels(task.batch(task.listed(task.bin(0))), task.classes)
    >>> found["majority"], found["whole_majority"], round(found["whole_chance"], 4)
    (0.5, 0.0, 0.0133)
    """
    _check_asked(batch)
    whole_number(classes, int(batch.targets.max()) + 1, "classes", 1 << 20)
    constants = [torch.full_like(batch.targets, label) for label in range(classes)]
    asked = int(batch.mask.sum())
    shares = [int((batch.targets == label).sum()) / asked for label in range(classes)]
    return {
        "chance": 1 / classes,
        "majority": max(shares),
        "whole_chance": float((float(classes) ** -batch.mask.sum(1).double()).mean()),
        "whole_majority": max(whole_string_accuracy(constant, batch) for constant in constants),
    }


def _check_asked(batch: Batch) -> None:
    if batch.mask is None or batch.mask.shape != batch.targets.shape or not batch.mask.any():
        raise ValueError(f"whole strings want an answer at every position that is asked for; this batch has targets "
                         f"{shown(batch.targets)}, mask {shown(batch.mask)}")
