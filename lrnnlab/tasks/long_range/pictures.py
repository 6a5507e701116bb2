"""The Long Range Arena's picture tasks, read from the files that were published: CIFAR-10, Pathfinder and Path-X.

Pictures become sequences of grey pixels, row by row, (T, 1) float32 in -1..1 (x / 127.5 - 1), as papers 001 and 004
read them.  The Arena's own models took the 256 grey values as tokens.
"""

from __future__ import annotations

import pickle
import tokenize
from pathlib import Path
from typing import Any

import numpy as np

from lrnnlab.tasks.long_range.dataset import SequenceData, choose_split, damaged, data_files, need, optional


class ArrayUnpickler(pickle.Unpickler):
    """Reads pickles of plain containers and NumPy arrays, and refuses everything else: a pickle may run any code."""

    def find_class(self, module: str, name: str) -> Any:
        if module in ("numpy.core.multiarray", "numpy._core.multiarray") and name == "_reconstruct":
            return np.empty(0).__reduce__()[0]  # the same function under the module's old and new name
        if module == "numpy" and name in ("ndarray", "dtype"):
            return getattr(np, name)
        raise pickle.UnpicklingError(f"it asks for {module}.{name}")


def read_cifar_batch(path: Path | str) -> tuple[np.ndarray, np.ndarray]:
    """Grey pictures (n, 1024) uint8 and labels (n,) of one batch file; ``DataFileError`` if it is damaged."""
    expected = "a pickled dict with b'data', (n, 3072) uint8, and b'labels', n numbers in 0..9"
    with need(path, expected).open("rb") as file:
        try:
            batch = ArrayUnpickler(file, encoding="bytes").load()
        except (pickle.UnpicklingError, EOFError, ValueError, TypeError, KeyError, IndexError, AttributeError) as error:
            raise damaged(path, f"{type(error).__name__}: {error}", expected) from error
    data, labels = (batch.get(b"data"), batch.get(b"labels")) if isinstance(batch, dict) else (None, None)
    if not isinstance(data, np.ndarray) or data.dtype != np.uint8 or data.ndim != 2 or data.shape[1] != 3072:
        raise damaged(path, f"b'data' is {getattr(data, 'shape', data)!r}", expected)
    if not isinstance(labels, list) or len(labels) != len(data) or not set(labels) <= set(range(10)):
        raise damaged(path, f"b'labels' is {str(labels)[:40]} for {len(data)} pictures", expected)
    grey = np.tensordot(data.reshape(-1, 3, 1024), np.array([0.299, 0.587, 0.114]), axes=(1, 0))
    return np.round(grey).astype(np.uint8), np.array(labels, dtype=np.int64)


def load_image(path: Path | str, split: str) -> SequenceData:
    """Image (CIFAR-10 in grey, 10 classes, T = 1024): ``path`` holds data_batch_1 .. data_batch_5 and test_batch.

    This is the "python version" (cifar-10-batches-py); its pickles are opened with ``ArrayUnpickler``.  The last tenth
    of the five batches is the validation split: 45,000, 5,000, 10,000.  The Arena takes a tenth too, but of another
    order, so its validation pictures are others.
    """
    choose_split(split, ("train", "val", "test"))
    names = ["test_batch"] if split == "test" else [f"data_batch_{number}" for number in range(1, 6)]
    parts, labels = zip(*(read_cifar_batch(Path(path) / name) for name in names))
    pixels, targets = np.concatenate(parts), np.concatenate(labels)
    if split != "test":
        cut = len(targets) - len(targets) // 10
        part = slice(cut) if split == "train" else slice(cut, None)
        pixels, targets = pixels[part], targets[part]
    return SequenceData("Image", 10, targets, lambda index: pixels[index, :, None] / np.float32(127.5) - 1, 1024)


def metadata_rows(path: Path) -> list[list[str]]:
    """The rows of one metadata file, as lists of words."""
    expected = "rows 'imgs/0 sample_0.png 0 LABEL ...', LABEL 0 or 1, as text or as a NumPy array of strings"
    raw = path.read_bytes()
    try:
        if raw.startswith(b"\x93NUMPY"):
            table = np.load(path, allow_pickle=False)
            rows = [[word.decode() if isinstance(word, bytes) else str(word) for word in row] for row in table]
        else:
            rows = [line.split() for line in raw.decode().splitlines()]
    except (ValueError, EOFError, TypeError, SyntaxError, SystemError, tokenize.TokenError) as error:  # of NumPy's header
        raise damaged(path, str(error), expected) from error
    for number, row in enumerate(rows):
        if len(row) < 4 or row[3] not in ("0", "1"):
            raise damaged(path, f"row {number} is {' '.join(row)[:60]!r}", expected)
    return rows


def read_picture(path: Path | str) -> np.ndarray:
    """(M^2,) uint8 grey values of a square picture; ``DataFileError`` if it is missing, damaged or not square."""
    expected = "a square grey .png picture"
    need(path, expected)
    reader = optional("PIL.Image")
    try:
        with reader.open(path) as image:
            pixels = np.asarray(image.convert("L"))
    except (OSError, SyntaxError, ValueError) as error:
        raise damaged(path, f"{type(error).__name__}: {error}", expected) from error
    if pixels.shape[0] != pixels.shape[1]:
        raise damaged(path, f"{pixels.shape[1]} x {pixels.shape[0]} pixels", expected)
    return pixels.reshape(-1)


def load_pathfinder(path: Path | str, split: str, level: str = "curv_contour_length_14", seed: int = 0) -> SequenceData:
    """Pathfinder (2 classes): ``path`` is the Arena's pathfinder32, or pathfinder128 for Path-X.

    It holds LEVEL/metadata/*.npy and LEVEL/imgs/*/sample_*.png; "curv_contour_length_14" is the level that papers use.
    The rows, in the order of the files' numbers, are shuffled with ``seed`` and cut 80/10/10.  There is no published
    split: the Arena and each code draw their own, so numbers are comparable only up to that.  One file of the release
    is known to be empty, pathfinder32/curv_baseline/imgs/0/sample_172.png: it is a damaged picture here too.
    """
    choose_split(split, ("train", "val", "test"))
    root = Path(path) / level
    files = data_files(root / "metadata", ".npy", "the Arena's metadata of Pathfinder")
    files.sort(key=lambda file: (len(file.stem), file.stem))
    rows = [row for file in files for row in metadata_rows(file)]
    if not rows:
        raise damaged(root / "metadata", "no picture is named in it", "a row for each picture")
    order = np.random.default_rng(seed).permutation(len(rows))
    tenth = len(rows) // 10
    part = {"train": order[2 * tenth:], "val": order[tenth:2 * tenth], "test": order[:tenth]}[split]
    pictures = [root / rows[index][0] / rows[index][1] for index in part]
    targets = np.array([int(rows[index][3]) for index in part], dtype=np.int64)
    length = len(read_picture(root / rows[0][0] / rows[0][1]))

    def read(index):
        pixels = read_picture(pictures[index])
        if len(pixels) != length:
            raise damaged(pictures[index], f"{len(pixels)} pixels", f"{length}, as in the first picture")
        return pixels[:, None] / np.float32(127.5) - 1

    return SequenceData("Pathfinder" if length < 128**2 else "Path-X", 2, targets, read, length)
