"""A data set of sequences of unequal length with one label each, and how its files may be wrong.

Letters: B batch, T time (the longest sequence of a batch), V vocabulary with its padding token, C classes, n items.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import torch

from lrnnlab.files import files_in


class DataFileError(ValueError):
    """A file or folder of a data set is missing or damaged; the message names it and says what was expected there."""


def optional(module: str) -> Any:
    """A module that comes with the extra ``book``, which the library does without."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(f"{module} is not installed: pip install 'lrnnlab[book]'", name=error.name) from error


def need(path: Path | str, expected: str) -> Path:
    """``path`` as a ``Path`` if it exists, else ``DataFileError``; ``expected`` says what should be there."""
    path = Path(path)
    if not path.exists():
        raise DataFileError(f"{path} is missing; expected there: {expected}")
    return path


def damaged(path: Path | str, found: str, expected: str) -> DataFileError:
    """The error for a file that is there and not what it should be."""
    return DataFileError(f"{path} is damaged: {found}; expected: {expected}")


def data_files(folder: Path, suffix: str, what: str) -> list[Path]:
    """The files of a folder, by name, without what systems leave there; ``DataFileError`` where there are none."""
    expected = f"{what}, one {suffix} file each"
    files = files_in(need(folder, f"a folder of {expected}"), suffix)
    if not files:
        raise damaged(folder, f"no {suffix} file in it", expected)
    return files


def choose_split(split: str, splits: Sequence[str]) -> str:
    """``split`` if it is one of ``splits``, else ValueError."""
    if split not in splits:
        raise ValueError(f"the splits of this data set are {', '.join(splits)}, got {split!r}")
    return split


@dataclass(frozen=True, eq=False)
class SequenceData:
    """n sequences, read when they are asked for, and their classes.

    ``targets`` (n,) int64; ``read(k)`` gives sequence k: tokens (T_k,) or numbers (T_k, d), or a tuple of two such for
    pairs of texts, none longer than ``length``.  ``vocab_size`` is V, with the padding token V-1
    as the last, or None for real numbers (padded with 0).

    >>> data = SequenceData("toy", 2, np.array([0, 1]), [[3, 1], [2]].__getitem__, length=8, vocab_size=5)
    >>> inputs, lengths, targets = data.batch([0, 1])
    >>> inputs.tolist(), lengths.tolist(), targets.tolist()
    ([[3, 1], [2, 4]], [2, 1], [0, 1])
    """

    name: str
    classes: int
    targets: np.ndarray
    read: Callable
    length: int
    vocab_size: int | None = None

    def __len__(self):
        return len(self.targets)

    def __getitem__(self, index):
        """(sequence, target): a tensor (T_k,) int64 or (T_k, d) float32, or a tuple of two; and an int."""
        if not 0 <= index < len(self):
            raise IndexError(f"{self.name}: item {index} of {len(self)}")
        sequence = self.read(index)
        parts = sequence if isinstance(sequence, tuple) else (sequence,)
        dtype = torch.float32 if self.vocab_size is None else torch.int64
        if (longest := max(map(len, parts))) > self.length:
            raise DataFileError(f"{self.name}: item {index} has {longest:,} steps; expected: at most {self.length:,}")
        parts = tuple(torch.as_tensor(part, dtype=dtype, device="cpu") for part in parts)
        return (parts if isinstance(sequence, tuple) else parts[0]), int(self.targets[index])

    def batch(self, indices: Iterable, length: int | None = None) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Items as inputs (B, T) or (B, T, d), lengths (B,) and targets (B,), padded on the right to T.

        T is ``length``, or else the longest of these items.  Pairs give inputs (B, 2, T) and lengths (B, 2).
        ValueError if an item is longer than ``length``, or there is none.
        """
        items = [self[int(index)] for index in indices]
        if not items:
            raise ValueError(f"{self.name}: a batch needs at least one item")
        sequences, targets = zip(*items)
        pairs = isinstance(sequences[0], tuple)
        parts = [part for sequence in sequences for part in sequence] if pairs else list(sequences)
        lengths = torch.tensor([len(part) for part in parts], device="cpu")
        longest = int(lengths.max())
        length = longest if length is None else length
        if longest > length:
            raise ValueError(f"{self.name}: a sequence of {longest} does not fit into {length}")
        blank = 0 if self.vocab_size is None else self.vocab_size - 1
        inputs = torch.full((len(parts), length, *parts[0].shape[1:]), blank, dtype=parts[0].dtype, device="cpu")
        for row, part in zip(inputs, parts):
            row[:len(part)] = part
        if pairs:
            inputs, lengths = inputs.unflatten(0, (-1, 2)), lengths.unflatten(0, (-1, 2))
        return inputs, lengths, torch.tensor(targets, device="cpu")

    @property
    def chance(self) -> float:
        """Accuracy of a uniform guess, 1/C."""
        return 1 / self.classes

    @property
    def majority(self) -> float:
        """Accuracy of the best constant answer on these n items."""
        return float(np.bincount(self.targets, minlength=self.classes).max() / len(self))
