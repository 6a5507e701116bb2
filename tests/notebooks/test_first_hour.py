"""The ten names of the package, and what they cost: each loads what it needs when it is used, and no more."""

import subprocess
import sys

import pytest

import lrnnlab

NAMES = {"build", "evaluate", "extract", "linear_scan", "predict", "quantise", "snap", "task", "train", "verify"}


def test_the_ten_names_are_there_and_no_eleventh():
    assert set(lrnnlab.__all__) == NAMES <= set(dir(lrnnlab)) and all(callable(getattr(lrnnlab, name)) for name in NAMES)
    with pytest.raises(AttributeError, match="'fit'; it gives build, evaluate"):
        lrnnlab.fit  # noqa: B018


def test_importing_the_package_loads_nothing_else():
    said = subprocess.run(
        [sys.executable, "-c", "import lrnnlab, sys; print('torch' in sys.modules, 'numpy' in sys.modules)"],
        capture_output=True, text=True, timeout=60, check=True,
    )  # fmt: skip
    assert said.stdout.split() == ["False", "False"]


@pytest.mark.parametrize("wrong", [{"steps": 1.5}, {"steps": "3"}, {"warmup": 0.5}, {"weight_decay": "a"}, {"checkpoint": 3}])
def test_training_shows_what_cannot_be(wrong):
    parity, ((name, value),) = lrnnlab.task("parity"), wrong.items()
    with pytest.raises(TypeError, match=f"train: {name} must be .* got {value!r}"):
        lrnnlab.train(lrnnlab.build("lstm", parity, width=4), parity, **{"steps": 2, "progress": False, **wrong})


def test_a_first_hour():
    parity = lrnnlab.task("sum", 2)
    soft = {"rule": "softmax", "drive": "none", "start": "first", "gain": 4.0, "head": "linear"}
    model = lrnnlab.build("block_diagonal", parity, h=6, b=2, hidden=32, **soft)
    made = lrnnlab.train(model, parity, steps=200, lr=1e-2, weight_decay=1.0, clip=1.0, progress=False)
    assert lrnnlab.evaluate(made.net, parity, seed=0, length=40, strings=64).accuracy_seen > 0.9
    assert lrnnlab.verify(lrnnlab.snap(made.net), parity.specification).proved
