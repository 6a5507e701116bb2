"""What the tables on stand-ins share (``rotrnn/table1``, ``dlr/table4``): the network, its training, its score and text.

A setting names ``task``, ``mixer``, ``options`` (of the mixer), ``layers``, ``width``, ``block``, ``items`` of each split,
``data_seed``, ``batch``, ``steps``, ``warmup``, ``rate``, ``recurrent_rate``, ``decay`` and ``looks``.

Letters: B batch, T time, D width.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import torch
from torch import nn
from torch.nn import functional as F

from lrnnlab.models.net import PAPER_001, Net, PairClassifier, blocks
from lrnnlab.tables.text import by_cell, lines, spread
from lrnnlab.tasks.long_range import SequenceData, stand_in
from lrnnlab.training.loop import share_right, train, with_seed
from lrnnlab.training.steady import stream


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


def as_batch(data: SequenceData, indices: Sequence[int] | torch.Tensor) -> tuple:
    """Items as ``(*inputs, targets)`` for the network; lengths are an input, of pairs two.

    >>> inputs, lengths, targets = as_batch(stand_in("text", "val", count=4), range(4))
    >>> a, b, (long, short), targets = as_batch(stand_in("retrieval", "val", count=4), range(4))
    >>> a.shape == b.shape, long.shape
    (True, torch.Size([4]))
    """
    inputs, lengths, targets = data.batch(indices)
    if lengths.ndim == 1:
        return inputs, lengths, targets
    return (*inputs.unbind(1), lengths.unbind(1), targets)


def accuracy(net: nn.Module, data: SequenceData, size: int = 100) -> float:
    """The share of a whole split that is right."""
    return share_right(net, (as_batch(data, some) for some in torch.arange(len(data)).split(size)))


def learn(
    setting: dict, seed: int, purpose: str, mixers: Mapping[str, Callable], progress: bool,
    checkpoint: Path | None, **options: Any,
) -> dict:  # fmt: skip
    """Train; ``accuracy`` on the test split by the weights of the best validation, ``accuracy_last`` by the last.

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
    splits = {name: stand_in(setting["task"], name, count, setting["data_seed"])
              for name, count in setting["items"].items()}  # fmt: skip
    data = splits["train"]

    def draw_batch(generator: torch.Generator) -> tuple:
        return as_batch(data, torch.randint(len(data), (setting["batch"],), generator=generator))

    def watch(net: nn.Module, step: int) -> dict:
        return {"validation": accuracy(net, splits["val"])}

    made = train(
        build_net(setting, data, seed, mixers, **options), draw_batch, F.cross_entropy,
        generator=stream(seed, purpose), watch=watch, watch_every=setting["steps"] // setting["looks"],
        progress=progress, checkpoint=checkpoint,
        **{name: setting[name] for name in ("steps", "rate", "recurrent_rate", "decay", "warmup")},
    )  # fmt: skip
    last = accuracy(made.net, splits["test"])
    made.net.load_state_dict(made.best or {})
    metrics = {"accuracy": accuracy(made.net, splits["test"]), "accuracy_last": last, **made.summary(),
               "chance": data.chance, "majority": splits["test"].majority,
               "parameters": sum(parameter.numel() for parameter in made.net.parameters())}  # fmt: skip
    return {"metrics": metrics, "data": data.name, "losses": made.losses, "validation": made.watched,
            "cpu_seconds": round(made.cpu_seconds, 3)}  # fmt: skip


def here(records: Sequence[dict], paper: pd.DataFrame, more: str = "") -> str:
    """Two tables, kept apart: accuracies on the stand-ins with what guessing gets; and the paper's."""
    body = [
        {"data": data, "row": row, "runs": len(cell),
         **{title: spread([r["metrics"][name] for r in cell], scale=100)
            for title, name in (("test", "accuracy"), ("test, last weights", "accuracy_last"))},
         "guess": f"{100 * cell[0]['metrics']['majority']:.1f}", "parameters": cell[0]["metrics"]["parameters"]}
        for (data, row), cell in by_cell(records, "data", "row").items()
    ]  # fmt: skip
    sizes = records[0]["config"]["setting"]
    title = (f"here, stand-ins: {sizes['steps']} steps, {sizes['items']['train']} training items, % right on "
             f"{sizes['items']['test']} test items{more}, mean and range over seeds")  # fmt: skip
    return (f"{lines(title, body)}\n\n"
            f"paper, original data (not comparable with the above), % right\n{paper.T.to_string(na_rep='')}")  # fmt: skip


def line(record: dict) -> str:
    """One record in a few words."""
    found = record["metrics"]
    return (f"{record['data']} {record['row']} seed {record['seed']}: test {found['accuracy']:.3f} at the best validation "
            f"({found['best_validation']:.3f}, step {found['best_step']} of {found['steps']}), {found['accuracy_last']:.3f} at "
            f"the end; guess {found['majority']:.3f}")  # fmt: skip
