"""The Long Range Arena's three text tasks, and the books of PG-19, read from the files that were published.

Bytes are the tokens of Text and Retrieval: 0..255 as they are in the file, 256 the padding (V = 257).  Papers differ
here: many codes read characters and drop rare ones (paper 001's figures come from such a code), which changes V, not
the task.  Files are scanned once for labels and places; a text is read when it is asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from lrnnlab.tasks.long_range.dataset import SequenceData, choose_split, damaged, data_files, need
from lrnnlab.tasks.long_range.listops import PAD, ListOps

BYTES = 257  # 256 values and the padding
NOT_COUNTED = bytes(set(range(256)) - set(b"0123456789[]"))  # of an expression: one of these is in every token
BOOKS = "pg19"  # the folder of PG-19


def as_tokens(text: bytes, length: int) -> np.ndarray:
    """(T,) int64 of at most ``length`` bytes; of an empty text one byte 0, which is padding."""
    return np.frombuffer(text[:length] or b"\0", dtype=np.uint8).astype(np.int64)


def scan_lines(path: Path, skip: int, parse: Callable, expected: str) -> tuple[np.ndarray, np.ndarray]:
    """The places (n,) of a file's lines, without the first ``skip``, and what ``parse(fields)`` says of each."""
    places, values = [], []
    with path.open("rb") as file:
        for _ in range(skip):
            file.readline()
        while True:
            place, line = file.tell(), file.readline()
            if not line and not places:
                raise damaged(path, "no line of data", expected)
            if not line:
                return np.array(places, dtype=np.int64), np.array(values, dtype=np.int64)
            value = parse(line.rstrip(b"\r\n").split(b"\t"))
            if value is None:
                raise damaged(path, f"line {len(places) + skip + 1} reads {line[:60]!r}", expected)
            places.append(place)
            values.append(value)


def fields_at(path: Path, place: int) -> list[bytes]:
    """The tab-separated fields (bytes) of the line that begins at byte ``place``."""
    with path.open("rb") as file:
        file.seek(place)
        return file.readline().rstrip(b"\r\n").split(b"\t")


def listops_label(fields: list[bytes]) -> int | None:
    return int(fields[1]) if len(fields) == 2 and fields[1] in [b"%d" % digit for digit in range(10)] else None


def listops_tokens(text: bytes) -> int:
    """How many tokens an expression has: digits, operators with their bracket, and closing brackets."""
    return len(text.translate(None, delete=NOT_COUNTED))


def load_listops(path: Path | str, split: str, length: int = 2048) -> SequenceData:
    """ListOps (10 classes): ``path`` holds basic_train.tsv, basic_val.tsv and basic_test.tsv.

    The first line reads "Source", tab, "Target"; then one expression a line, in the Arena's parentheses.  Tokens are
    those of ``lrnnlab.tasks.long_range.listops`` (V = 16).  Published sizes: 96,000, 2,000, 2,000.  ``DataFileError`` names a
    missing file, expressions of more than ``length`` tokens (cut, they would not have their answer), and a damaged line
    when it is met (its label in this call, its expression when it is read).
    """
    path = need(Path(path) / f"basic_{choose_split(split, ('train', 'val', 'test'))}.tsv",
                "a table 'Source<tab>Target' of ListOps, from the Arena's listops-1000 folder")
    with path.open("rb") as file:
        head = file.readline()
    if head.rstrip(b"\r\n") != b"Source\tTarget":
        raise damaged(path, f"it begins {head[:40]!r}", "a first line 'Source<tab>Target'")
    sizes: list[int] = []

    def label(fields):
        sizes.append(listops_tokens(fields[0]))
        return listops_label(fields)

    places, targets = scan_lines(path, 1, label, "an expression, a tab, and a digit")
    if long := [line for line, size in enumerate(sizes, 2) if size > length]:
        raise damaged(path, f"{len(long):,} of {len(sizes):,} expressions have more than {length:,} tokens, up to "
                      f"{max(sizes):,}, the first in line {long[0]:,}", f"at most {length:,}, or a greater length")  # fmt: skip
    task = ListOps()

    def read(index):
        text = fields_at(path, places[index])[0].decode("ascii", "replace")
        try:
            return task.read(text)
        except ValueError as error:
            raise damaged(path, f"line {index + 2}: {error}", "an expression such as ( ( ( [MAX 2 ) 6 ) ] )") from error

    return SequenceData("ListOps", 10, targets, read, length, PAD + 1)


def load_text(path: Path | str, split: str, length: int = 4096) -> SequenceData:
    """Text (IMDB reviews, 2 classes): ``path`` is aclImdb, with .txt files in train/pos, train/neg, test/pos, test/neg.

    Class 1 is pos.  Published sizes: 25,000 and 25,000; there is no validation split, and the Arena, like many codes
    after it, validates on the test split.  Files come in the order of their names, pos first.  Paper 004 uses 2048
    bytes, paper 001 4096.  ``DataFileError`` names a folder that is missing or holds no .txt file.
    """
    root = Path(path) / choose_split(split, ("train", "test"))
    files, targets = [], []
    for label, kind in ((1, "pos"), (0, "neg")):
        found = data_files(root / kind, ".txt", "reviews")
        files += found
        targets += [label] * len(found)
    return SequenceData("Text", 2, np.array(targets),
                        lambda index: as_tokens(files[index].read_bytes(), length), length, BYTES)


def retrieval_label(fields: list[bytes]) -> int | None:
    labels = {b"0": 0, b"0.0": 0, b"1": 1, b"1.0": 1}
    return labels.get(fields[0]) if len(fields) == 5 else None


def load_retrieval(path: Path | str, split: str, length: int = 4000) -> SequenceData:
    """Retrieval (AAN, 2 classes, pairs of papers): ``path`` holds new_aan_pairs.train.tsv, .eval.tsv and .test.tsv.

    No first line; label, id1, id2, text1, text2 with tabs between, without quoting (as the Arena's own code reads it).
    Published sizes: 147,086, 18,090 and 17,437.  Not known for certain: whether the texts hold escaped characters;
    they are taken byte by byte as they are.  Batches are pairs (B, 2, T).  ``DataFileError`` as in ``load_listops``.
    """
    part = {"train": "train", "val": "eval", "test": "test"}[choose_split(split, ("train", "val", "test"))]
    path = need(Path(path) / f"new_aan_pairs.{part}.tsv",
                "a table label, id1, id2, text1, text2 of the Arena's AAN pairs")
    places, targets = scan_lines(path, 0, retrieval_label,
                                 "a label (0 or 1, perhaps written 1.0), two identifiers, two texts, tabs between")

    def read(index):
        return tuple(as_tokens(text, length) for text in fields_at(path, places[index])[3:])

    return SequenceData("Retrieval", 2, targets, read, length, BYTES)


def load_books(path: Path | str, split: str) -> Iterator[str]:
    """The books of one split, in the order of their files' names, each read when its turn comes.

    Parameters
    ----------
    path : Path or str
        A folder with train/*.txt, validation/*.txt and test/*.txt, each in UTF-8.  Published sizes: 28,602, 50 and 100.
    split : str
        ``"train"``, ``"validation"`` or ``"test"``.

    Returns
    -------
    iterator of str
        One text a book.

    Raises
    ------
    DataFileError
        For a folder that is missing or holds no .txt file, at once; for a file that is empty or not UTF-8, when it is read.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     (Path(folder) / "test").mkdir()
    ...     _ = (Path(folder) / "test" / "10.txt").write_text("Once upon a time")
    ...     print([*load_books(folder, "test")])
    ['Once upon a time']
    """
    folder = Path(path) / choose_split(split, ("train", "validation", "test"))
    return map(_read, data_files(folder, ".txt", "books of PG-19"))


def _read(file: Path) -> str:
    try:
        text = file.read_text(encoding="utf-8-sig")  # with any line ends
    except UnicodeDecodeError as error:
        raise damaged(file, f"byte {error.start} is no UTF-8", "a text in UTF-8") from error
    if not text.strip():
        raise damaged(file, "nothing is written in it", "a text in UTF-8")
    return text
