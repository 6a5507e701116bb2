"""Speech Commands (Warden 2018), read from the folders that were published: one second of sound, which word?"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from lrnnlab.files import files_in, is_clutter
from lrnnlab.tasks.long_range.dataset import DataFileError, SequenceData, choose_split, damaged, data_files, need

RATE = 16_000
TEN_WORDS = ("yes", "no", "up", "down", "left", "right", "on", "off", "stop", "go")  # the 10-way task


def read_sound(path: Path | str) -> np.ndarray:
    """(T, 1) float32 in -1..1 of a mono 16-bit sound at 16 kHz; ``DataFileError`` if it is missing or anything else."""
    from scipy.io import wavfile  # a tenth of a second to load

    expected = f"a mono .wav file of 16-bit samples at {RATE} Hz"
    need(path, expected)
    try:
        rate, samples = wavfile.read(path)
    except (ValueError, EOFError, OSError, struct.error, UnboundLocalError, ZeroDivisionError) as error:
        raise damaged(path, f"{type(error).__name__}: {error}", expected) from error
    if rate != RATE or samples.dtype != np.int16 or samples.ndim != 1:
        raise damaged(path, f"{samples.dtype} {samples.shape} at {rate} Hz", expected)
    return samples[:, None] / np.float32(2**15)


def word_folders(root: Path) -> list[Path]:
    """The folders of clips, by name."""
    return sorted(folder for folder in root.iterdir()
                  if folder.is_dir() and folder.name[0] not in "_." and not is_clutter(folder.name))  # fmt: skip


def read_list(path: Path | str) -> set[str]:
    """The set of names, WORD/FILE.wav, in one of the two lists; each is that of a clip beside the list."""
    path, expected = Path(path), "a list of WORD/FILE.wav, one a line, spelled as the clips are"
    try:
        names = set(need(path, expected).read_text(encoding="utf-8-sig").split())  # with or without a byte order mark
    except UnicodeDecodeError as error:
        raise damaged(path, str(error), expected) from error
    wrong = sorted(name for name in names if name.count("/") != 1 or not name.endswith(".wav"))
    if not names or wrong:
        raise damaged(path, f"it holds {wrong[:1]}", expected)
    there = {f"{folder.name}/{file.name}" for folder in word_folders(path.parent) for file in files_in(folder, ".wav")}
    if gone := sorted(names - there):
        raise damaged(path, f"{len(gone):,} of its {len(names):,} names are those of no clip: {', '.join(gone[:3])}", expected)
    return names


def load_speech(path: Path | str, split: str, words: Sequence[str] | None = None, length: int = RATE) -> SequenceData:
    """Speech Commands: ``path`` holds a folder of .wav files for each word, validation_list.txt and testing_list.txt.

    What neither list names is for training; ``DataFileError`` says how many names of a list are those of no clip, and which.
    ``words``: the classes, in order; default all folders by name (35 in
    version 2, paper 001's task), but not those that begin with "_".  ``TEN_WORDS`` are paper 004's ten; its numbers
    come from code that drops the clips shorter than a second, draws its own 70/15/15 split and divides by the training
    clips' statistics, none of which is done here.  Shorter clips are padded with zeros when they are put in a batch.
    """
    choose_split(split, ("train", "val", "test"))
    root = need(path, "the folder of Speech Commands")
    lists = {"val": read_list(root / "validation_list.txt"), "test": read_list(root / "testing_list.txt")}
    both = lists["val"] & lists["test"]
    if both:
        raise DataFileError(f"{min(both)} is in both lists of {root}; expected: lists without overlap")
    folders = [folder.name for folder in word_folders(root)]
    words = folders if words is None else words
    found, targets = [], []
    for label, word in enumerate(words):
        if word not in folders:  # some systems would open "no" for "No", which the lists do not name
            raise DataFileError(f"{root / word} is missing; expected there: a folder of clips of the word {word!r}")
        for file in data_files(root / word, ".wav", f"clips of the word {word!r}"):
            name = f"{word}/{file.name}"
            if split == next((part for part in ("val", "test") if name in lists[part]), "train"):
                found.append(Path(file))
                targets.append(label)
    if not found:
        raise damaged(root, f"no clip for {split}", f"folders of words, and clips of theirs for {split}")
    return SequenceData("Speech Commands", len(words), np.array(targets, dtype=np.int64),
                        lambda index: read_sound(found[index]), length)
