"""The long-range tasks of papers 001 (tables 1 and 2) and 004 (table 4): published files, and stand-ins for them.

>>> data = stand_in("listops", "val", count=8)
>>> inputs, lengths, targets = data.batch(range(8))
>>> inputs.shape[0], data.vocab_size, data.classes
(8, 16, 10)

``load(name, path, split)`` reads what has been downloaded; nothing here downloads.  ``stand_in(name, split)`` makes
small data of the same kind.  Both give a ``SequenceData``.  ``load_books(path, split)`` reads the texts of PG-19 (paper
004, table 5), which have no labels.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from lrnnlab.tasks.long_range.dataset import DataFileError, SequenceData
from lrnnlab.tasks.long_range.pictures import load_image, load_pathfinder
from lrnnlab.tasks.long_range.speech import TEN_WORDS, load_speech
from lrnnlab.tasks.long_range.standins import STAND_INS, stand_in
from lrnnlab.tasks.long_range.texts import BOOKS, load_books, load_listops, load_retrieval, load_text

__all__ = ["BOOKS", "FOLDERS", "LOADERS", "STAND_INS", "TEN_WORDS", "DataFileError", "SequenceData", "load", "load_books",
           "load_image", "load_listops", "load_pathfinder", "load_retrieval", "load_speech", "load_text", "stand_in"]

LOADERS = {"listops": load_listops, "text": load_text, "retrieval": load_retrieval, "image": load_image,
           "pathfinder": load_pathfinder, "path-x": load_pathfinder, "speech": load_speech}
FOLDERS = {"listops": "listops-1000", "text": "aclImdb", "retrieval": "tsv_data", "image": "cifar-10-batches-py",
           "pathfinder": "pathfinder32", "path-x": "pathfinder128", "speech": "speech_commands"}  # as published


def load(name: str, path: Path | str, split: str, **options: Any) -> SequenceData:
    """The data set ``name`` from the published files in the folder ``path``; ``options`` go to its loader."""
    if name not in LOADERS:
        raise ValueError(f"no data set is called {name!r}; they are {', '.join(LOADERS)}")
    return LOADERS[name](path, split, **options)
