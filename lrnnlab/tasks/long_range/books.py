"""PG-19 (Rae et al. 2020) as published: a folder of books, for language models (paper 004, Table 5)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from lrnnlab.tasks.long_range.dataset import choose_split, damaged, need

BOOKS = "pg19"  # the folder, beside those in ``FOLDERS``
SPLITS = ("train", "validation", "test")


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
    expected = "books of PG-19, one .txt file each"
    folder = need(Path(path) / choose_split(split, SPLITS), f"a folder of {expected}")
    files = sorted(folder.glob("*.txt"))
    if not files:
        raise damaged(folder, "no .txt file in it", expected)
    return map(_read, files)


def _read(file: Path) -> str:
    try:
        text = file.read_bytes().decode("utf-8")
    except UnicodeDecodeError as error:
        raise damaged(file, f"byte {error.start} is no UTF-8", "a text in UTF-8") from error
    if not text.strip():
        raise damaged(file, "nothing is written in it", "a text in UTF-8")
    return text
