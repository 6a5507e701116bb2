"""Tiny files in the published formats, made up by us: ``python tests/support/sample_files.py FOLDER`` writes them."""

from __future__ import annotations

import pickle
import random
import sys
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image
from scipy.io import wavfile

from lrnnlab.tasks.draws import numpy_random
from lrnnlab.tasks.long_range import FOLDERS
from lrnnlab.tasks.long_range.listops import FIRST_OPERATOR, SYMBOLS, ListOps, nodes
from lrnnlab.tasks.long_range.pathfinder import ARENA_32, draw, draw_scene
from lrnnlab.tasks.long_range.speech import RATE
from lrnnlab.tasks.long_range.standins import opinion_text, sound, subject_pair


def arena_text(tokens: Any) -> str:
    """An expression as the Arena writes it: every step of reading it in parentheses."""
    levels = [[]]
    for token in tokens:
        word = SYMBOLS[token]
        if FIRST_OPERATOR <= token < len(SYMBOLS) - 1:
            levels.append([word])
        elif word != "]":
            levels[-1].append(word)
        else:
            parts = [*levels.pop(), "]"]
            whole = parts[0]
            for part in parts[1:]:
                whole = f"( {whole} {part} )"
            levels[-1].append(whole)
    return levels[0][0]


def write_listops(folder: Path, rng: random.Random, rows: int = 4) -> None:
    folder.mkdir(parents=True)
    stream = ListOps().expressions(rng, 8, 40)
    for split in ("train", "val", "test"):
        lines = ["Source\tTarget"]
        for _ in range(rows):
            tokens = next(stream)
            lines.append(f"{arena_text(tokens)}\t{nodes(tokens)[-1][3]}")
        (folder / f"basic_{split}.tsv").write_bytes("".join(f"{line}\r\n" for line in lines).encode())


def write_reviews(folder: Path, rng: random.Random) -> None:
    for split in ("train", "test"):
        made = {"pos": 0, "neg": 0}
        for kind in made:
            (folder / split / kind).mkdir(parents=True)
        while min(made.values()) < 2:
            text, label = opinion_text(rng)
            kind = "pos" if label else "neg"
            (folder / split / kind / f"{made[kind]}_{9 if label else 2}.txt").write_bytes(text)
            made[kind] += 1


def write_pairs(folder: Path, rng: random.Random, rows: int = 3) -> None:
    folder.mkdir(parents=True)
    for split in ("train", "eval", "test"):
        lines = []
        for row in range(rows):
            (one, two), label = subject_pair(rng)
            lines.append(b"%.1f\tP%02d\tQ%02d\t%s\t%s\n" % (label, row, row, one, two))
        (folder / f"new_aan_pairs.{split}.tsv").write_bytes(b"".join(lines))


def write_cifar(folder: Path, rng: random.Random, pictures: int = 2) -> None:
    folder.mkdir(parents=True)
    for name in [*(f"data_batch_{number}" for number in range(1, 6)), "test_batch"]:
        labels = [rng.randrange(10) for _ in range(pictures)]
        stripes = [np.arange(1024) % 32 * (label + 1) // 32 % 2 * 255 for label in labels]  # label + 1 stripes
        data = np.stack([np.concatenate([row, row // 2, 255 - row]) for row in stripes]).astype(np.uint8)
        (folder / name).write_bytes(pickle.dumps({b"data": data, b"labels": labels, b"batch_label": name.encode()},
                                                 protocol=3))


def write_pathfinder(folder: Path, seed: int, pictures: int = 10) -> None:
    level = folder / "curv_contour_length_14"
    (level / "metadata").mkdir(parents=True)
    (level / "imgs" / "0").mkdir(parents=True)
    rows = []
    for number in range(pictures):
        scene = draw_scene(ARENA_32, numpy_random(seed, number))
        Image.fromarray(draw(scene)).save(level / "imgs" / "0" / f"sample_{number}.png")
        rows.append(f"imgs/0 sample_{number}.png {number} {int(scene.connected)} 1.0 14 4 2 0.5 1 1\n")
    (level / "metadata" / "0.npy").write_text("".join(rows))


def write_speech(folder: Path, seed: int) -> None:
    lists = {"validation_list.txt": [], "testing_list.txt": []}
    for kind, word in enumerate(("no", "yes")):
        (folder / word).mkdir(parents=True)
        for number in range(4):
            wave = sound(2 + kind, numpy_random(seed, kind, number), 1000 + 100 * number)[:, 0]
            name = f"{word}/{number:08x}_nohash_0.wav"
            wavfile.write(folder / name, RATE, np.clip(wave * 2**14, -(2**15), 2**15 - 1).astype(np.int16))
            if number < 2:
                lists[("validation_list.txt", "testing_list.txt")[number]].append(name)
    (folder / "_background_noise_").mkdir()
    wavfile.write(folder / "_background_noise_" / "hum.wav", RATE, np.zeros(100, dtype=np.int16))
    for name, lines in lists.items():
        (folder / name).write_text("".join(f"{line}\n" for line in lines))


def write_samples(folder: Path | str, seed: int = 0) -> None:
    """Writes every format but Path-X's below ``folder``, under the names in ``FOLDERS``; the same files for a seed."""
    folder, rng = Path(folder), random.Random(seed)
    write_listops(folder / FOLDERS["listops"], rng)
    write_reviews(folder / FOLDERS["text"], rng)
    write_pairs(folder / FOLDERS["retrieval"], rng)
    write_cifar(folder / FOLDERS["image"], rng)
    write_pathfinder(folder / FOLDERS["pathfinder"], seed)
    write_speech(folder / FOLDERS["speech"], seed)


if __name__ == "__main__":
    write_samples(sys.argv[1])
