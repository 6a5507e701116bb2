"""Long-range data: the published formats on tiny files, damaged ones, and the stand-ins by their own rules."""

import os
import pickle
import random
import re
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from sample_files import write_samples
from scipy.io import wavfile

from lrnnlab.tasks.long_range import FOLDERS, STAND_INS, DataFileError, load, stand_in
from lrnnlab.tasks.long_range.listops import evaluate
from lrnnlab.tasks.long_range.pictures import read_cifar_batch
from lrnnlab.tasks.long_range.standins import BAD, GOOD, SOUNDS, SUBJECTS, opinion_text, sound
from lrnnlab.tasks.long_range.texts import load_retrieval

COMMITTED = Path(__file__).parents[3] / "data" / "samples" / "long_range.zip"
LEVEL = "curv_contour_length_14"


@pytest.fixture(scope="module")
def committed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("committed")
    shutil.unpack_archive(COMMITTED, folder)
    return folder


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    folder = tmp_path_factory.mktemp("samples")
    write_samples(folder, seed=3)
    return folder


@pytest.fixture
def broken(written, tmp_path):
    """A copy to damage."""
    shutil.copytree(written, tmp_path / "copy")
    return tmp_path / "copy"


def place(folder, name):
    return folder / FOLDERS["pathfinder" if name == "path-x" else name]


@pytest.mark.parametrize("split", ["train", "val", "test"])
@pytest.mark.parametrize("name", [name for name in FOLDERS if name != "path-x"])
def test_the_committed_samples_are_read(name, split, committed):
    if (name, split) == ("text", "val"):
        pytest.skip("IMDB has no validation split")
    data = load(name, place(committed, name), split)
    inputs, lengths, targets = data.batch(range(len(data)))
    assert len(data) >= 1 and len(inputs) == len(lengths) == len(targets) == len(data)
    assert lengths.max() <= data.length and 0 <= targets.min() and targets.max() < data.classes
    assert data.vocab_size is None or inputs.max() < data.vocab_size
    assert 0 < data.chance <= data.majority <= 1


def test_listops_files(written):
    data = load("listops", place(written, "listops"), "val")
    lines = (place(written, "listops") / "basic_val.tsv").read_text().splitlines()[1:]
    assert len(data) == len(lines) == 4 and data.vocab_size == 16
    for item, line in zip(data, lines):
        text, target = line.split("\t")
        assert item[1] == int(target) == evaluate(text)
        assert len(item[0]) == len(text.replace("(", "").replace(")", "").split())


def test_no_expression_is_cut_while_its_answer_stays(written, tmp_path):
    folder = place(written, "listops")
    lines = (folder / "basic_val.tsv").read_text().splitlines()[1:]
    sizes = [len(line.partition("\t")[0].replace("(", "").replace(")", "").split()) for line in lines]
    assert len(load("listops", folder, "val", length=max(sizes))) == len(sizes)
    longer = [line for line, size in enumerate(sizes, 2) if size == max(sizes)]
    with pytest.raises(DataFileError, match=re.escape(
            f"basic_val.tsv is damaged: {len(longer)} of 4 expressions have more than {max(sizes) - 1} tokens, up to {max(sizes)}, "
            f"the first in line {longer[0]}")):
        load("listops", folder, "val", length=max(sizes) - 1)
    wavs = place(shutil.copytree(written, tmp_path / "copy"), "speech") / "no"
    for file in wavs.iterdir():
        wavfile.write(file, 16_000, np.zeros(16_001, np.int16))
    with pytest.raises(DataFileError, match="has 16,001 steps; expected: at most 16,000"):
        data = load("speech", wavs.parent, "train")
        data.batch(range(len(data)))


CLUTTER = {"._NAME": b"\0\5\x16\7", ".DS_Store": b"\0\0\0\1Bud1", "desktop.ini": b"[.ShellClassInfo]", "Thumbs.db": b"\xd0\xcf",
           ".~lock.NAME#": b"me", "~$NAME": b"me", "Icon\r": b"", ".nfs0000001": b"x"}


def litter(folder):
    """What systems leave, beside every file of a folder, and in folders of their own with files of the right kind."""
    for inside, _, files in list(os.walk(folder)):
        for name, content in CLUTTER.items():
            for file in files if "NAME" in name else [""]:
                overwrite(Path(inside) / name.replace("NAME", file), content)
        for name in ("__MACOSX", "@eaDir", ".ipynb_checkpoints", "System Volume Information"):
            (Path(inside) / name).mkdir()
            for file in files:
                shutil.copy(Path(inside) / file, Path(inside) / name)


@pytest.mark.parametrize("name", [name for name in FOLDERS if name != "path-x"])
def test_what_systems_leave_in_folders_is_no_data(broken, name):
    def read():
        data = load(name, place(broken, name), "train")
        inputs, lengths, targets = data.batch(range(len(data)))
        return inputs.tolist(), lengths.tolist(), targets.tolist(), data.classes

    before = read()
    litter(place(broken, name))
    assert read() == before


def test_text_files(written):
    data = load("text", place(written, "text"), "train")
    files = sorted((place(written, "text") / "train" / "pos").iterdir()) + sorted(
        (place(written, "text") / "train" / "neg").iterdir())
    for (tokens, target), file in zip(data, files, strict=True):
        assert bytes(tokens.tolist()) == file.read_bytes() and target == (file.parent.name == "pos")
    inputs, lengths, _ = data.batch(range(len(data)), length=300)
    assert (inputs[torch.arange(300) >= lengths[:, None]] == 256).all() and inputs.shape[1] == 300


def test_retrieval_files(written, tmp_path):
    data = load("retrieval", place(written, "retrieval"), "val")  # the file is called eval
    rows = (place(written, "retrieval") / "new_aan_pairs.eval.tsv").read_text().splitlines()
    inputs, lengths, targets = data.batch(range(3))
    for row, pair, length, target in zip(rows, inputs, lengths, targets, strict=True):
        label, _, _, *texts = row.split("\t")
        assert target == int(float(label))
        assert [bytes(text[:n].tolist()).decode() for text, n in zip(pair, length.tolist())] == texts
    # quotes and bytes above 127 stand for themselves
    (tmp_path / "new_aan_pairs.test.tsv").write_bytes(b'1\ta\tb\t"x\ty \xc3\xa9"\n')
    one, two = load_retrieval(tmp_path, "test")[0][0]
    assert bytes(one.tolist()) == b'"x' and bytes(two.tolist()) == b'y \xc3\xa9"'
    (tmp_path / "new_aan_pairs.test.tsv").write_bytes(b"1\ta\tb\tx\t\n")  # a text with nothing in it is padding
    assert load_retrieval(tmp_path, "test").batch([0])[1].tolist() == [[1, 1]]


def test_image_files(written):
    folder = place(written, "image")
    train, val, test = (load("image", folder, split) for split in ("train", "val", "test"))
    assert (len(train), len(val), len(test)) == (9, 1, 2)  # ten pictures in five batches, the last tenth for validation
    batch = pickle.loads((folder / "data_batch_1").read_bytes())
    red, green, blue = batch[b"data"][0].reshape(3, 1024).astype(float)
    grey = np.round(0.299 * red + 0.587 * green + 0.114 * blue) / 127.5 - 1
    np.testing.assert_allclose(train[0][0][:, 0], grey, atol=1e-6)
    assert train[0][1] == batch[b"labels"][0] and train.length == 1024


def test_pickles_of_older_numpy_are_read_and_code_is_refused(tmp_path):
    data = {b"data": np.arange(2 * 3072, dtype=np.uint8).reshape(2, 3072), b"labels": [3, 9]}
    new = pickle.dumps(data, protocol=3)
    for module in (b"numpy._core.multiarray", b"numpy.core.multiarray"):
        old = re.sub(rb"numpy\._?core\.multiarray", module, new)
        (tmp_path / "batch").write_bytes(old)
        assert read_cifar_batch(tmp_path / "batch")[1].tolist() == [3, 9]
    # Python 2, which wrote the published files, has one kind of string: its codes are U (short) and T (long)
    for now, then in ((b"X\x02\0\0\0u1", b"U\x02u1"), (b"X\x01\0\0\0|", b"U\x01|"), (b"C\x04data", b"U\x04data"),
                      (b"C\x06labels", b"U\x06labels"), (b"C\x01b", b"U\x01b"), (b"B\0\x18\0\0", b"T\0\x18\0\0")):
        assert now in old, now
        old = old.replace(now, then)
    (tmp_path / "batch").write_bytes(old)
    assert read_cifar_batch(tmp_path / "batch")[1].tolist() == [3, 9]

    class Trap:
        def __reduce__(self):
            return os.mkdir, (str(tmp_path / "trapped"),)

    (tmp_path / "batch").write_bytes(pickle.dumps({b"data": Trap()}, protocol=3))
    with pytest.raises(DataFileError, match="mkdir"):
        read_cifar_batch(tmp_path / "batch")
    assert not (tmp_path / "trapped").exists()


def test_pathfinder_files(written):
    folder = place(written, "pathfinder")
    rows = [line.split() for line in (folder / LEVEL / "metadata" / "0.npy").read_text().splitlines()]
    known = {np.asarray(Image.open(folder / LEVEL / row[0] / row[1])).tobytes(): int(row[3]) for row in rows}
    seen = set()
    for split, size in (("train", 8), ("val", 1), ("test", 1)):
        data = load("pathfinder", folder, split)
        assert len(data) == size and data.length == 1024
        for pixels, target in data:
            picture = ((pixels + 1) * 127.5).round().to(torch.uint8).numpy().tobytes()
            assert known[picture] == target
            seen.add(picture)
    assert seen == set(known)  # every picture is in exactly one split


def test_speech_files(written):
    folder = place(written, "speech")
    seen = []
    for split, size in (("train", 4), ("val", 2), ("test", 2)):
        data = load("speech", folder, split)
        assert (len(data), data.classes, data.length) == (size, 2, 16000)
        seen += [sound.numpy().tobytes() for sound, _ in data]
    assert len(set(seen)) == 8
    _, samples = wavfile.read(folder / "no" / "00000000_nohash_0.wav")  # in the validation list
    np.testing.assert_allclose(load("speech", folder, "val")[0][0][:, 0], samples / 2**15)
    assert load("speech", folder, "test", words=("yes",)).targets.tolist() == [0]
    inputs, lengths, _ = load("speech", folder, "train").batch([0, 1], length=16000)
    assert inputs.shape == (2, 16000, 1) and not inputs[0, lengths[0]:].any() and lengths.tolist() == [1200, 1300]


def overwrite(path, raw):
    path.write_bytes(raw)


def shorten(path):
    path.write_bytes(path.read_bytes()[:40])


DAMAGE = [  # data set, what to do in its folder, the file that must be named, what must be said
    ("listops", lambda f: (f / "basic_train.tsv").unlink(), "basic_train.tsv", "missing"),
    ("listops", lambda f: overwrite(f / "basic_train.tsv", b"Source\tTarget\n[MAX 1 2 ]\t12\n"), "basic_train", "line 2"),
    ("text", lambda f: [file.unlink() for file in (f / "train" / "pos").iterdir()], "pos", "no .txt"),
    ("retrieval", lambda f: overwrite(f / "new_aan_pairs.train.tsv", b"1.0\ta\tb\tc\n"), "train.tsv", "line 1"),
    ("image", lambda f: shorten(f / "data_batch_3"), "data_batch_3", "damaged"),
    ("image", lambda f: overwrite(f / "data_batch_1", pickle.dumps([1])), "data_batch_1", "b'data'"),
    ("pathfinder", lambda f: overwrite(f / LEVEL / "metadata" / "0.npy", b"imgs/0 a.png 0\n"), "0.npy", "row 0"),
    ("pathfinder", lambda f: overwrite(f / LEVEL / "metadata" / "0.npy", b"\x93NUMPY rubbish"), "0.npy", "damaged"),
    ("pathfinder", lambda f: [Image.new("L", (32, 16)).save(f / LEVEL / "imgs" / "0" / f"sample_{k}.png")
                              for k in range(10)], ".png", "32 x 16"),
    ("speech", lambda f: shutil.copy(f / "testing_list.txt", f / "validation_list.txt"), "speech_commands", "both lists"),
    ("speech", lambda f: [shorten(file) for file in (f / "no").iterdir()], ".wav", "damaged"),
    ("speech", lambda f: [wavfile.write(file, 8000, np.zeros(9, np.int16)) for file in (f / "no").iterdir()], ".wav", "8000 Hz"),
]


@pytest.mark.parametrize("name, damage, file, said", DAMAGE, ids=[
    f"{row[0]}-{row[3]}-{k}" for k, row in enumerate(DAMAGE)])
def test_missing_and_damaged_files_are_named(broken, name, damage, file, said):
    folder = place(broken, name)
    damage(folder)
    with pytest.raises(DataFileError, match=re.escape(file)) as caught:
        data = load(name, folder, "train")
        data.batch(range(len(data)))
    assert said in str(caught.value) and "expected" in str(caught.value)


@pytest.mark.parametrize("name", STAND_INS)
def test_stand_ins(name):
    count = 2 if name == "pathfinder" else 12
    data = {split: stand_in(name, split, count, seed=5) for split in ("train", "val", "test")}
    for split, part in data.items():
        assert part.name.endswith("(stand-in)") and len(part) == count
        inputs, lengths, targets = part.batch(range(count))
        assert lengths.max() <= part.length and 0 <= targets.min() and targets.max() < part.classes
        assert inputs.max() < (part.vocab_size or 1 + 2) and 0 < part.chance <= part.majority <= 1
        again = stand_in(name, split, count + 3, seed=5)
        assert all(torch.equal(again.batch([k])[0], part.batch([k])[0]) for k in range(count))  # a longer one begins so
    train, val = (part.batch(range(count))[0] for part in (data["train"], data["val"]))
    assert train.shape != val.shape or not torch.equal(train, val)
    other = stand_in(name, "train", count, seed=6)
    assert any(not torch.equal(other.batch([k])[0], data["train"].batch([k])[0]) for k in range(count))


def test_opinions_follow_their_rule():
    rng, labels = random.Random(0), []
    for _ in range(600):
        text, label = opinion_text(rng)
        words = text.decode().split()
        favour = sum((word in GOOD) - (word in BAD) if before != "not" else (word in BAD) - (word in GOOD)
                     for before, word in zip(["", *words], words))
        assert favour % 2 and label == (favour > 0) and len(text) <= 226
        labels.append(label)
    assert 240 < sum(labels) < 360
    data = stand_in("text", "train", 50)
    assert all(len(data[k][0]) < 256 for k in range(50))  # nothing is cut off, so no opinion is lost


def test_digits_are_split_without_overlap():
    parts = [stand_in("image", split, 2000) for split in ("train", "val", "test")]
    assert [len(part) for part in parts] == [1437, 180, 180]
    pictures = [part[0][0].reshape(32, 32) for part in parts]
    for picture in pictures:  # enlarged: each 4 x 4 block is one grey
        assert torch.equal(picture, picture[::4, ::4].repeat_interleave(4, 0).repeat_interleave(4, 1))
    assert STAND_INS["image"](3, 0, 0, side=16)[0][0].shape == (256, 1)


@pytest.mark.parametrize("kind", range(6), ids=SOUNDS[:6])
def test_sounds_have_the_frequencies_they_are_named_after(kind):
    """The strongest frequency of the first and the last quarter, by Fourier transform: low is 50..70, high 160..200."""
    wave = sound(kind, np.random.default_rng(kind))[:, 0]
    first, last = (4 * (np.abs(np.fft.rfft(part))[1:].argmax() + 1) for part in (wave[:512], wave[-512:]))
    wanted = {"low tone": "ll", "high tone": "hh", "rising chirp": "lh", "falling chirp": "hl", "low then high": "lh",
              "high then low": "hl"}[SOUNDS[kind]]
    for frequency, level in zip((first, last), wanted):
        assert frequency < 115 if level == "l" else frequency > 125


def test_pairs_follow_their_rule():
    data = stand_in("retrieval", "train", 300)
    for pair, label in data:
        one, two = ({word for word in bytes(text.tolist()).decode().split() if word in SUBJECTS} for text in pair)
        assert len(one) == len(two) == 1 and label == (one == two)
    assert 0.5 <= data.majority < 0.6


def test_listops_stand_in_is_evaluated():
    from lrnnlab.tasks.long_range.listops import ListOps

    for tokens, target in stand_in("listops", "test", 40):
        assert 32 <= len(tokens) <= 128 and evaluate(ListOps().write(tokens)) == target
