"""Stand-ins: small generated data in the shape of the long-range tasks, for machines and minutes that are small.

Letters: T time, n items.  No number on a stand-in may be printed beside a published one as if it were the same task: every
name ends in "(stand-in)".  Data is made whole at the first call and decided by (seed, split, item).

| name | what it is | T | V or real | classes |
|---|---|---|---|---|
| listops | the Arena's generator, 32 to 128 tokens | 128 | 16 | 10 |
| text | sentences of opinions, some turned round by "not" | 256 | 257 bytes | 2 |
| retrieval | pairs of texts with one subject or with two | 2 x 256 | 257 bytes | 2 |
| image | scikit-learn's 8 x 8 digits, enlarged | 256 or 1024 | real | 10 |
| pathfinder | our drawing by the Arena's settings, 32 x 32 | 1024 | real | 2 |
| speech | eight kinds of tones and chirps, with noise | 2048 | real | 8 |
"""

from __future__ import annotations

import random
from collections.abc import Iterable

import numpy as np

from lrnnlab.tasks.draws import numpy_random
from lrnnlab.tasks.long_range.dataset import SequenceData, choose_split, optional
from lrnnlab.tasks.long_range.listops import PAD, ListOps, nodes
from lrnnlab.tasks.long_range.pathfinder import Pathfinder
from lrnnlab.tasks.long_range.texts import BYTES, as_tokens
from lrnnlab.validation import whole_number

SPLITS = {"train": 2000, "val": 500, "test": 500}  # items by default

GOOD, BAD = ("good", "warm", "bright", "clever"), ("bad", "cold", "dull", "silly")
PLAIN = ("the", "film", "has", "a", "story", "and", "its", "music", "with", "people", "who", "talk")
SUBJECTS = ("rivers", "bridges", "birds", "clocks", "maps", "ships", "bees", "wheels", "lamps", "songs", "stones",
            "coins", "gardens", "engines", "letters", "mirrors")
SOUNDS = ("low tone", "high tone", "rising chirp", "falling chirp", "low then high", "high then low", "warble",
          "clicks")


def opinion_text(rng: random.Random) -> tuple[bytes, int]:
    """A text (at most 226 bytes) of 5 to 9 opinions among plain words; and 1 if most are favourable, else 0."""
    words, score = [], 0
    for _ in range(rng.choice((5, 7, 9))):
        words += rng.choices(PLAIN, k=rng.randint(1, 2))
        favourable, turned = rng.random() < 0.5, rng.random() < 0.3
        words += ["not"] * turned + [rng.choice(GOOD if favourable else BAD)]
        score += 1 if favourable != turned else -1
    return " ".join(words).encode(), int(score > 0)


def subject_text(subject: str, rng: random.Random) -> bytes:
    """A text (bytes) of 30 plain words with ``subject`` at three places among them."""
    words = rng.choices(PLAIN, k=30)
    for place in rng.sample(range(30), 3):
        words[place] = subject
    return " ".join(words).encode()


def subject_pair(rng: random.Random) -> tuple[tuple[bytes, bytes], int]:
    """Two texts (bytes), and 1 if they have one subject, 0 if they have two; each with probability 1/2."""
    one, two = rng.sample(SUBJECTS, 2)
    same = rng.random() < 0.5
    return (subject_text(one, rng), subject_text(one if same else two, rng)), int(same)


def sound(kind: int, rng: np.random.Generator, length: int = 2048) -> np.ndarray:
    """(T, 1) float32 of a tone or chirp of class ``kind`` (0..7, see ``SOUNDS``), in noise.

    Frequencies are in turns over the whole length: low about 60, high about 180.  ``rng`` is a NumPy generator.
    """
    time = np.arange(length) / length
    low, high = rng.uniform(50, 70), rng.uniform(160, 200)
    halves = time < rng.uniform(0.4, 0.6)
    frequency = (np.full(length, low), np.full(length, high), low + (high - low) * time, high + (low - high) * time,
                 np.where(halves, low, high), np.where(halves, high, low),
                 (low + high) / 2 + (high - low) / 2 * np.sin(2 * np.pi * 6 * time), np.full(length, high))[kind]
    wave = np.sin(2 * np.pi * (frequency.cumsum() / length + rng.random()))
    if SOUNDS[kind] == "clicks":
        wave *= (8 * time + rng.random()) % 1 < 0.2
    return (rng.uniform(0.3, 1) * wave + 0.1 * rng.standard_normal(length)).astype(np.float32)[:, None]


def whole(name: str, classes: int, items: Iterable, length: int, vocab_size: int | None = None) -> SequenceData:
    """``SequenceData`` of (sequence, target) items that are made already."""
    sequences, targets = zip(*items)
    return SequenceData(f"{name} (stand-in)", classes, np.array(targets, dtype=np.int64), sequences.__getitem__, length,
                        vocab_size)


def python_rng(seed: int, split: int, item: int) -> random.Random:
    """``random.Random`` of one item, decided by whole numbers."""
    return random.Random(int(numpy_random(seed, split, item).integers(2**62)))


def listops(count: int, split: int, seed: int) -> SequenceData:
    task, rng = ListOps(), python_rng(seed, split, 0)
    stream = task.expressions(rng, 32, 128)
    expressions = (next(stream) for _ in range(count))
    return whole("ListOps", 10, [(tokens, nodes(tokens)[-1][3]) for tokens in expressions], 128, PAD + 1)


def text(count: int, split: int, seed: int) -> SequenceData:
    made = (opinion_text(python_rng(seed, split, item)) for item in range(count))
    return whole("Text", 2, [(as_tokens(words, 256), label) for words, label in made], 256, BYTES)


def retrieval(count: int, split: int, seed: int) -> SequenceData:
    made = (subject_pair(python_rng(seed, split, item)) for item in range(count))
    return whole("Retrieval", 2, [(tuple(as_tokens(words, 256) for words in pair), label) for pair, label in made], 256,
                 BYTES)


def image(count: int, split: int, seed: int, side: int = 32) -> SequenceData:
    """There are 1,797 digits: 1,437, 180 and 180, shuffled with ``seed``; fewer are given if ``count`` is more."""
    digits = optional("sklearn.datasets").load_digits()
    cuts = [1437, 1617]
    rows = np.split(numpy_random(seed).permutation(len(digits.target)), cuts)[split][:count]
    block = np.ones((side // 8, side // 8))
    items = [(np.kron(digits.images[row], block).reshape(-1, 1) / 8 - 1, digits.target[row]) for row in rows]
    return whole("Image", 10, items, side**2)


def pathfinder(count: int, split: int, seed: int) -> SequenceData:
    task = Pathfinder()
    return whole("Pathfinder", 2, [task.picture(seed, split, item) for item in range(count)], task.settings.size**2)


def speech(count: int, split: int, seed: int) -> SequenceData:
    items = []
    for item in range(count):
        rng = numpy_random(seed, split, item)
        kind = int(rng.integers(len(SOUNDS)))
        items.append((sound(kind, rng), kind))
    return whole("Speech Commands", len(SOUNDS), items, 2048)


STAND_INS = {"listops": listops, "text": text, "retrieval": retrieval, "image": image, "pathfinder": pathfinder,
             "speech": speech}


def stand_in(name: str, split: str, count: int | None = None, seed: int = 0) -> SequenceData:
    """``count`` items (default 2,000 for training, 500 for each test) of the stand-in for ``name``: a ``SequenceData``.

    Splits have chance of their own; items depend on (seed, split, number) only, so a larger count begins with the same
    items.  ValueError for an unknown name or split, a count below 1 or a seed below 0.

    >>> data = stand_in("text", "train", count=4)
    >>> data.name, len(data), data.chance
    ('Text (stand-in)', 4, 0.5)
    """
    if name not in STAND_INS:
        raise ValueError(f"no stand-in is called {name!r}; they are {', '.join(STAND_INS)}")
    choose_split(split, tuple(SPLITS))
    seed = whole_number(seed, 0, "a seed")
    count = SPLITS[split] if count is None else whole_number(count, 1, "the number of items")
    return STAND_INS[name](count, list(SPLITS).index(split), seed)
