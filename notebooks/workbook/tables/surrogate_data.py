"""What the tables on long-range data share (``rotrnn/table1``, ``dlr/table4``): data, network, training and score.

Desk and live budgets train on *stand-ins*, small generated data of the same kind (``tasks.long_range``), named so in every
record; there is none for Path-X.  A number on a stand-in says nothing about the published task: the paper's
numbers are printed in a table of their own.  The budget ``paper`` trains on the published files.  They are looked for in
``data/long_range``, or in the folder that the environment variable ``LRNNLAB_LONG_RANGE`` names, under their published
names (``long_range.FOLDERS``); nothing is downloaded.  Text is validated on its test items, as it has no others.

The score is the accuracy on the test split by the weights of the best validation; the last weights' accuracy is kept too.
Seeds change weights and batches, not the data.  Sizes and recipe of stand-ins: ``long_range.yaml``.

A setting names ``task``, ``mixer``, ``options`` (of the mixer), ``layers``, ``width``, ``block``, ``batch``, ``steps``,
``warmup``, ``rate``, ``recurrent_rate``, ``decay`` and ``looks``; of stand-ins ``items`` of each split and ``data_seed``;
of files ``files`` (options of the reader), ``validation`` (the split that chooses the weights) and ``device``.

Letters: B batch, T time, D width.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F

from lrnnlab.models import PAPER_001, Net, PairClassifier, blocks
from lrnnlab.tasks.long_range import FOLDERS, SequenceData, load, stand_in
from lrnnlab.tasks.long_range.dataset import need
from lrnnlab.training import share_right, train, with_seed
from lrnnlab.training.determinism import rng
from workbook.tables.records import data_folder
from workbook.tables.table import gpu_if_wanted

made_once = lru_cache(maxsize=3)(stand_in)  # the runs of one process share their data: pictures take a minute to draw


def build_net(
    setting: dict, data: SequenceData, seed: int, mixers: Mapping[str, Callable], **options: Any
) -> nn.Module:
    """The untrained network for this kind of data: classes of strings, of numbers, or of pairs of strings.

    Parameters
    ----------
    setting : dict
        Of a run.
    data : SequenceData
        What it shall learn.
    seed : int
        Of the weights.
    mixers : dict
        Layers, by the names that settings use.
    **options
        Of the network, such as ``pool``.
    """
    width = setting["width"]
    reads = {"vocab_size": data.vocab_size} if data.vocab_size else {"columns": data[0][0].shape[-1]}

    def make() -> nn.Module:
        mixer, pairs = partial(mixers[setting["mixer"]], **setting["options"]), isinstance(data[0][0], tuple)
        made = blocks(mixer, width, setting["layers"], **{**PAPER_001, **setting["block"]})
        net = Net(made, None if pairs else data.classes, width, **{**reads, "encoder": "linear", "pool": "mean", **options})
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
    """Where a reader keeps published files: ``data/long_range``, or the folder that ``LRNNLAB_LONG_RANGE`` names.

    Parameters
    ----------
    folder : str
        Their own folder there.
    what : str
        What they are, for the ``DataFileError`` where they are missing.
    """
    usual = data_folder() / "long_range"
    return need(Path(os.environ.get("LRNNLAB_LONG_RANGE") or usual) / folder,
                f"{what} (LRNNLAB_LONG_RANGE names another folder than {usual})")  # fmt: skip


def learn(
    setting: dict, seed: int, purpose: str, mixers: Mapping[str, Callable], progress: bool,
    checkpoint: Path | None, **options: Any,
) -> dict:  # fmt: skip
    """Train; ``accuracy`` on the test split by the weights of the best validation, ``accuracy_last`` by the last.

    ``training_accuracy`` is that of the best weights on some 500 of the items that were trained on.

    Parameters
    ----------
    setting, seed, mixers, **options
        As in :func:`build_net`.
    purpose : str
        Names the stream of batches.
    progress : bool
        Whether to show a bar.
    checkpoint : Path, optional
        From where training goes on after a kill.
    """
    parts, device, B = splits(setting), setting.get("device", "cpu"), setting["batch"]
    gpu_if_wanted(setting, f"{setting['task']} at the budget paper")
    data = parts["train"]

    def accuracy(net: nn.Module, data: SequenceData, step: int = 1) -> float:
        some = torch.arange(0, len(data), step).split(100 if device == "cpu" else B)
        return share_right(net, (as_batch(data, indices, device) for indices in some))

    def draw_batch(generator: torch.Generator) -> tuple:
        return as_batch(data, torch.randint(len(data), (B,), generator=generator), device)

    def watch(net: nn.Module, step: int) -> dict:
        return {"validation": accuracy(net, parts["val"])}

    made = train(
        build_net(setting, data, seed, mixers, **options).to(device), draw_batch, F.cross_entropy,
        generator=rng(seed, purpose), watch=watch, watch_every=max(setting["steps"] // setting["looks"], 1),
        progress=progress, checkpoint=checkpoint,
        **{name: setting[name] for name in ("steps", "rate", "recurrent_rate", "decay", "warmup")},
    )  # fmt: skip
    last = accuracy(made.net, parts["test"])
    made.net.load_state_dict(made.best or {})
    metrics = {"accuracy": accuracy(made.net, parts["test"]), "accuracy_last": last,
               "training_accuracy": accuracy(made.net, data, -(-len(data) // 500)), **made.summary(),
               "chance": data.chance, "majority": parts["test"].majority,
               "parameters": sum(parameter.numel() for parameter in made.net.parameters())}  # fmt: skip
    return {"metrics": metrics, "data": data.name, "losses": made.losses, "validation": made.watched,
            "cpu_seconds": round(made.cpu_seconds, 3)}  # fmt: skip
