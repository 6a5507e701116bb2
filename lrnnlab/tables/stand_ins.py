"""What the tables on long-range data share (``rotrnn/table1``, ``dlr/table4``): network, training, score and text.

Desk and live budgets train on *stand-ins*, small generated data of the same kind (``tasks.long_range``), named so in every
record; there is none for Path-X.  A number on a stand-in says nothing about the published task: ``here`` prints the
paper's numbers in a table of their own.  The budget ``paper`` trains on the published files.  They are looked for in
``data/long_range``, or in the folder that the environment variable ``LRNNLAB_LONG_RANGE`` names, under their published
names (``long_range.FOLDERS``); nothing is downloaded.  Text is validated on its test items, as it has no others.

On stand-ins all rows have width 32, two blocks and one recipe: AdamW, a tenth of the steps to warm up, then a cosine to 0;
and the rows of a task have the same data, batches and steps (``size``).  There are 10,000 training items, since of 2,000
the nets learn many by heart; Image has the 1,437 that there are.
The score is the accuracy on the test split by the weights of the best validation; the last weights' accuracy is kept too.
Seeds change weights and batches, not the data.

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
from statistics import fmean
from typing import Any

import pandas as pd
import torch
from torch import nn
from torch.nn import functional as F

from lrnnlab.models.net import PAPER_001, Net, PairClassifier, blocks
from lrnnlab.records import data_folder
from lrnnlab.tables.table import Table, by_setting, gpu_if_wanted
from lrnnlab.tables.text import by_cell, lines, spread
from lrnnlab.tasks.long_range import FOLDERS, SequenceData, load, stand_in
from lrnnlab.tasks.long_range.dataset import need
from lrnnlab.training.loop import share_right, train, with_seed
from lrnnlab.training.steady import stream

STEPS = {"speech": 1_500}  # at the desk; others 3,000
BATCH = {"image": 16, "pathfinder": 16, "speech": 8}  # at the desk; others 32
KNOWN = 0.95  # a test accuracy from which on nothing has to be explained
made_once = lru_cache(maxsize=3)(stand_in)  # the runs of one process share their data: pictures take a minute to draw


def size(task: str, budget: str) -> dict:
    """The part of a setting that the rows of a stand-in share; live 2 steps on 48 items, to see that it runs.

    >>> size("speech", "desk")["steps"], size("text", "desk")["items"]
    (1500, {'train': 10000, 'val': 500, 'test': 500})
    """
    if budget == "live":
        return {"items": {"train": 48, "val": 16, "test": 16}, "data_seed": 0, "batch": 8, "steps": 2, "warmup": 0, "looks": 1}
    steps, items = STEPS.get(task, 3_000), {"train": 10_000, "val": 500, "test": 500}
    return {"items": items, "data_seed": 0, "batch": BATCH.get(task, 32), "steps": steps, "warmup": steps // 10, "looks": 10}


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
    """Items as ``(*inputs, targets)`` for the network; lengths are an input, of pairs two.

    >>> inputs, lengths, targets = as_batch(stand_in("text", "val", count=4), range(4))
    >>> a, b, (long, short), targets = as_batch(stand_in("retrieval", "val", count=4), range(4))
    >>> a.shape == b.shape, long.shape
    (True, torch.Size([4]))
    """
    inputs, lengths, targets = (part.to(device) for part in data.batch(indices))
    if lengths.ndim == 1:
        return inputs, lengths, targets
    return (*inputs.unbind(1), lengths.unbind(1), targets)


def splits(setting: dict) -> dict[str, SequenceData]:
    """Training, validation and test data of a setting: stand-ins, or the published files.

    ``DataFileError`` names a file that is missing or damaged.

    >>> found = splits({"task": "text", "items": {"train": 4, "val": 2, "test": 3}, "data_seed": 0})
    >>> {name: len(data) for name, data in found.items()}
    {'train': 4, 'val': 2, 'test': 3}
    """
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
        generator=stream(seed, purpose), watch=watch, watch_every=max(setting["steps"] // setting["looks"], 1),
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


def why_low(cell: Sequence[dict]) -> str:
    """Why the runs of a cell are right on less than 95 % of the test items; "" where they are not.

    >>> why_low([{"metrics": {"accuracy": 0.7, "training_accuracy": 0.99, "majority": 0.5, "steps": 300}}])
    'learned by heart: 99.0 % right on training items'
    """
    metrics = [record["metrics"] for record in cell]
    test, steps = fmean(one["accuracy"] for one in metrics), f"{metrics[0]['steps']:,} steps"
    if test >= KNOWN:
        return ""
    trained = fmean(one["training_accuracy"] for one in metrics)
    if trained > test + 0.1:
        return f"learned by heart: {100 * trained:.1f} % right on training items"
    level = ", the level of guessing" if test < metrics[0]["majority"] + 0.05 else ""
    return f"not learned in {steps}: {100 * trained:.1f} % right on training items{level}"


def here(records: Sequence[dict], paper: pd.DataFrame) -> str:
    """Two tables, kept apart: accuracies here, on stand-ins or files, with what guessing gets; and the paper's."""
    body = []
    for (data, row), cell in by_cell(records, "data", "row").items():
        setting, metrics = cell[0]["config"]["setting"], [record["metrics"] for record in cell]
        body.append({
            "data": data, "row": row, "runs": len(cell), "steps": f"{setting['steps']:,} of {setting['batch']}",
            "training items": f"{setting['items']['train']:,}" if "items" in setting else "all",
            **{title: spread([one[name] for one in metrics], scale=100)
               for title, name in (("test", "accuracy"), ("test, last weights", "accuracy_last"))},
            "guess": f"{100 * metrics[0]['majority']:.1f}", "parameters": metrics[0]["parameters"],
            "CPU s": f"{fmean(record['cpu_seconds'] for record in cell):.0f}", "why low": why_low(cell),
        })  # fmt: skip
    digits = "; Image: 1,437 training items, 180 test items" if any(line["data"].startswith("Image (") for line in body) else ""
    files = [setting for record in records if "files" in (setting := record["config"]["setting"])]
    chosen = "; Text: the weights are chosen by the test items, as it has no others" if any(
        setting["validation"] == "test" for setting in files) else ""  # fmt: skip
    title = (f"here, {'published files' if files else 'stand-ins'}: % right on the test items by the weights of the best "
             f"validation, mean and range over seeds{chosen}{digits}")  # fmt: skip
    numbers = f"paper, original data{'' if files else ' (not comparable with the above)'}, % right"
    return f"{lines(title, body)}\n\n{numbers}\n{paper.T.to_string(na_rep='')}"


def line(record: dict) -> str:
    """One record in a few words."""
    found = record["metrics"]
    return (f"{record['data']} {record['row']} seed {record['seed']}: test {found['accuracy']:.3f} at the best validation "
            f"({found['best_validation']:.3f}, step {found['best_step']} of {found['steps']}), {found['accuracy_last']:.3f} at "
            f"the end; guess {found['majority']:.3f}")  # fmt: skip


def declared(name: str, rows: tuple[str, ...], tasks: tuple[str, ...], setting: Callable, measure: Callable,
             paper: pd.DataFrame) -> Table:  # fmt: skip
    """The table: what the two share of their declarations; the first row is ours."""
    return Table(name, rows, tasks, setting, by_setting(measure), line, partial(here, paper=paper),
                 aliases={"ours": rows[0]}, paper=paper, extra={"paper": ("path-x",)},
                 columns={"paper": (*tasks, "path-x")},
                 score=lambda record: record["metrics"]["accuracy"],
                 scored="of the test items (live and at the desk: of a stand-in)")  # fmt: skip
