"""What the tables on long-range data share (``rotrnn/table1``, ``dlr/table4``): data, network, training and score.

Letters: B batch, T time, D width.
"""

import os
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F

from lrnnbook.content.tables.nets import stack
from lrnnbook.content.tables.records import data_folder
from lrnnbook.content.tables.table import by_setting, parameters, trained_by
from lrnnbook.content.tables.table import load as load_table
from lrnnlab.models import PairClassifier
from lrnnlab.models.block import PAPER_001
from lrnnlab.tasks.long_range import FOLDERS, SequenceData, load, stand_in
from lrnnlab.tasks.long_range.dataset import need
from lrnnlab.training import rng
from lrnnlab.training.evaluation import share_right
from lrnnlab.training.loop import with_seed

made_once = lru_cache(maxsize=3)(stand_in)  # the runs of one process share their data: pictures take a minute to draw


def build_net(setting: dict, data: SequenceData, seed: int, **options: Any) -> nn.Module:
    """The untrained network for this kind of data: classes of strings, of numbers, or of pairs of strings."""
    reads = {"vocab_size": data.vocab_size} if data.vocab_size else {"columns": data[0][0].shape[-1]}
    options = {**reads, "encoder": "linear", "pool": "mean", **options}

    def make() -> nn.Module:
        pairs = isinstance(data[0][0], tuple)
        net = stack(setting, None if pairs else data.classes, {**PAPER_001, **setting["block"]}, **options)
        return PairClassifier(net, data.classes) if pairs else net

    return with_seed(make, seed)


def as_batch(data: SequenceData, indices: Sequence[int] | torch.Tensor, device: str = "cpu") -> tuple:
    """Items as ``(*inputs, targets)`` for the network; lengths are an input, of pairs two."""
    inputs, lengths, targets = (part.to(device) for part in data.batch(indices))
    if lengths.ndim == 1:
        return inputs, lengths, targets
    return (*inputs.unbind(1), lengths.unbind(1), targets)


def splits(setting: dict) -> dict[str, SequenceData]:
    """Training, validation and test data of a setting: stand-ins, or the published files."""
    task = setting["task"]
    if "files" not in setting:
        return {name: made_once(task, name, count, setting["data_seed"]) for name, count in setting["items"].items()}
    folder = published(FOLDERS[task], f"the published files of {task}")
    which = {"train": "train", "val": setting["validation"], "test": "test"}
    return {name: load(task, folder, split, **setting["files"]) for name, split in which.items()}


def published(folder: str, what: str) -> Path:
    """Where a reader keeps published files: ``data/long_range``, or the folder that ``LRNNLAB_LONG_RANGE`` names."""
    usual = data_folder() / "long_range"
    return need(Path(os.environ.get("LRNNLAB_LONG_RANGE") or usual) / folder,
                f"{what} (LRNNLAB_LONG_RANGE names another folder than {usual})")  # fmt: skip


def learn(setting: dict, seed: int, purpose: str, net: Mapping = {}, **how: Any) -> dict:
    """Train; ``accuracy`` on the test split by the weights of the best validation, ``accuracy_last`` by the last,
    ``training_accuracy`` by the best on some 500 of the items that were trained on; ``net``: its options."""
    parts, device, B = splits(setting), setting.get("device", "cpu"), setting["batch"]
    data, test = parts["train"], parts["test"]

    def accuracy(net: nn.Module, data: SequenceData, step: int = 1) -> float:
        some = torch.arange(0, len(data), step).split(100 if device == "cpu" else B)
        return share_right(net, (as_batch(data, indices, device) for indices in some))

    made = trained_by(
        setting, build_net(setting, data, seed, **net),
        lambda generator: as_batch(data, torch.randint(len(data), (B,), generator=generator), device), F.cross_entropy,
        rng(seed, purpose), lambda net, step: {"validation": accuracy(net, parts["val"])}, **how,
    )  # fmt: skip
    last = accuracy(made.net, test)
    made.net.load_state_dict(made.best or {})
    metrics = {"accuracy": accuracy(made.net, test), "accuracy_last": last,
               "training_accuracy": accuracy(made.net, data, -(-len(data) // 500)), **made.summary(),
               "chance": data.chance, "majority": test.majority, "parameters": parameters(made.net)}  # fmt: skip
    return {"metrics": metrics, "data": data.name, "losses": made.losses, "validation": made.watched,
            "cpu_seconds": round(made.cpu_seconds, 3)}  # fmt: skip


def pooling(setting: dict) -> dict:
    """Of ``dlr/table4``: the maximum over time, of what a norm has levelled."""
    return {"pool": "max", "final_norm": setting["block"]["place"] == "pre"}


ROTRNN = load_table("rotrnn/table1", by_setting(lambda setting, seed, **how: learn(setting, seed, "table1/train", **how)))
TABLE = load_table("dlr/table4", by_setting(
    lambda setting, seed, **how: learn(setting, seed, "table4/train", pooling(setting), **how)))  # fmt: skip
