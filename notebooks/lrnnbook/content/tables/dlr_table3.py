"""Table 3 of paper 004: values of all sub-expressions of a list, and which pixels lie on which path, at short lengths.

Letters: B batch, T time, M side of a picture, D width, N state size.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from statistics import fmean
from typing import Any

import numpy as np
import pandas as pd
import torch
from numpy.lib.stride_tricks import sliding_window_view
from torch import Tensor, nn
from torch.nn import functional as F

from lrnnbook.content.tables.nets import stack
from lrnnbook.content.tables.table import by_setting, load, outcome, trained_by
from lrnnlab.automata import NO_LABEL
from lrnnlab.models import Net
from lrnnlab.tasks.batch import answered
from lrnnlab.tasks.draws import python_random
from lrnnlab.tasks.long_range.listops import OPERATORS, ListOpsSubTrees, nodes
from lrnnlab.tasks.long_range.pathfinder import PathfinderSegmentation
from lrnnlab.training import rng
from lrnnlab.training.loop import with_seed

SPLITS = ("train", "validation", "test")
SHOWN = 3  # test pictures whose predicted classes are kept in a record
TREES = {  # by T: the most levels and arguments, and the fewest tokens as a share of T
    128: (8, 6, 0.5), 256: (10, 9, 0.5), 512: (10, 9, 0.5), 8192: (15, 9, 7000 / 8192),
}  # fmt: skip
BATCH = 16  # pictures that are scored at a time, as in the paper at M = 128
Data = tuple[Tensor, Tensor]


def trees(T: int) -> ListOpsSubTrees:
    """ListOps-SubTrees as it is drawn for expressions of up to T tokens."""
    task = ListOpsSubTrees()
    task.max_depth, task.max_args, task.shortest = TREES[T]
    return task


@lru_cache(maxsize=6)  # the runs of one process share their data
def data(kind: str, size: int, split: str, count: int) -> Data:
    """Inputs and targets of a split, the same for all seeds, in single bytes: tokens or brightness, and classes."""
    if kind == "segmentation":
        drawer = PathfinderSegmentation(size)
        pictures = [drawer.picture(SPLITS.index(split), number) for number in range(count)]
        bright = torch.stack([((inputs[:, 0] + 1) * 127.5).round().byte() for inputs, _ in pictures])
        return bright, torch.stack([targets.to(torch.int8) for _, targets in pictures])
    task, random = trees(size), python_random(rng(0, f"table3/{split}"))
    drawn = task.expressions(random, round(task.shortest * size), size)
    batch = task.batch([next(drawn) for _ in range(count)], size)
    return batch.inputs.byte(), batch.targets.to(torch.int8)


def as_batch(kind: str, items: Data, device: str = "cpu") -> tuple[Tensor, Tensor]:
    """What the net reads, and the targets: tokens (B,T), or numbers (B,T,1) in -1..1."""
    inputs, targets = (part.to(device) for part in items)
    return inputs.long() if kind == "listops" else inputs.unsqueeze(-1) / 127.5 - 1, targets.long()


def loss(logits: Tensor, targets: Tensor) -> Tensor:
    """Cross-entropy at the places with a label, of ListOps."""
    return F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=NO_LABEL)


def weighted_loss(logits: Tensor, targets: Tensor) -> Tensor:
    """Cross-entropy in which every class that the batch has weighs the same: a pixel weighs 1 / its class's count."""
    counts = targets.flatten().bincount(minlength=logits.shape[-1])
    return F.cross_entropy(logits.flatten(0, 1), targets.flatten(), weight=1 / counts.clamp(min=1))


def by_node(tokens: Tensor, answers: Tensor) -> pd.DataFrame:
    """One line for every node of the expressions: height, operator, value, and whether the answer is right."""
    pad = ListOpsSubTrees.pad
    return pd.DataFrame([
        {"height": height, "operator": OPERATORS[operator - 10][1:], "value": value, "right": bool(row[place] == value)}
        for expression, row in zip(tokens, answers)
        for place, operator, height, value in nodes(expression[expression != pad].long())
    ])  # fmt: skip


def told_apart(found: pd.DataFrame, by: str) -> list[dict]:
    """Of each height or operator: how many nodes, the share right, and the share of the commonest value."""
    return [
        {by: name, "nodes": len(part), "right": round(float(part["right"].mean()), 4),
         "majority": round(float(part["value"].value_counts(normalize=True).iloc[0]), 4)}
        for name, part in found.groupby(by)
    ]  # fmt: skip


@lru_cache(maxsize=6)
def operator_levels(T: int, count: int) -> dict[int, float]:
    """By height: the share right of a guesser who knows a node's height and operator, and answers their commonest value."""
    found = by_node(*data("listops", T, "test", count))
    right: Any = found.groupby(["height", "operator"])["value"].agg(lambda values: values.value_counts().iloc[0])
    return (right.groupby("height").sum() / found.groupby("height").size()).to_dict()


def of_batches(targets: np.ndarray, answers: np.ndarray, B: int = BATCH) -> dict:
    """Macro F1 and macro accuracy of each batch of B pictures, averaged over the batches; and the share of right pixels."""
    from sklearn.metrics import f1_score, recall_score  # scikit-learn takes a second to load

    cut = [(targets[k : k + B].ravel(), answers[k : k + B].ravel()) for k in range(0, len(targets), B)]
    found = {
        "macro_f1": fmean(f1_score(*pair, average="macro") for pair in cut),
        "macro_accuracy": fmean(recall_score(*pair, labels=np.unique(pair[0]), average="macro") for pair in cut),
        "pixels": float((targets == answers).mean()),
    }
    return {name: round(value, 4) for name, value in found.items()}


@lru_cache(maxsize=6)
def local_level(M: int, count: int, side: int = 3) -> float:
    """Macro F1 of one who sees, of every pixel, the ``side`` x ``side`` pixels around it: a decision tree."""
    from sklearn.tree import DecisionTreeClassifier

    tree = DecisionTreeClassifier(class_weight="balanced", min_samples_leaf=20, random_state=0)
    bright, targets = data("segmentation", M, "train", 2**18 // M**2)
    tree.fit(_around(bright, M, side), targets.numpy().ravel())
    bright, targets = data("segmentation", M, "test", count)
    return of_batches(targets.numpy(), tree.predict(_around(bright, M, side)).reshape(targets.shape))["macro_f1"]


def _around(bright: Tensor, M: int, side: int) -> np.ndarray:
    """(B * M * M, side * side) brightnesses; beyond the edge is paper."""
    padded = np.pad(bright.numpy().reshape(-1, M, M), ((0, 0), *[(side // 2, side // 2)] * 2))
    return sliding_window_view(padded, (side, side), (1, 2)).reshape(-1, side * side)


def build_net(setting: dict, seed: int) -> Net:
    """The untrained network: an answer at every position."""
    listops, block = setting["kind"] == "listops", setting["block"]
    reads: dict[str, Any] = {"vocab_size": ListOpsSubTrees.vocab_size} if listops else {"columns": 1}
    return with_seed(lambda: stack(setting, 10 if listops else 3, block, **reads, final_norm=block["place"] == "pre"), seed)


@torch.no_grad()
def answers(net: nn.Module, kind: str, items: Data, B: int, device: str = "cpu") -> Tensor:
    """The class with the greatest output at every place, (count, T); where that is NaN, none."""
    return torch.cat([answered(net(as_batch(kind, part, device)[0])).cpu()
                      for part in zip(*(part.split(B) for part in items))])  # fmt: skip


def measure(setting: dict, seed: int, **how: Any) -> dict:
    """Train, then score the test split by the last weights; with the scores on the way, on a split of their own."""
    kind, B, device = setting["kind"], setting["batch"], setting["device"]
    parts = {split: data(kind, setting["size"], split, count) for split, count in setting["items"].items()}
    (inputs, targets), test = parts["train"], parts["test"]

    def draw_batch(generator: torch.Generator) -> tuple[Tensor, Tensor]:
        chosen = torch.randint(len(inputs), (B,), generator=generator)
        return as_batch(kind, (inputs[chosen], targets[chosen]), device)

    def score(net: nn.Module, items: Data) -> dict:
        found = answers(net, kind, items, B, device)
        if kind == "segmentation":
            return of_batches(items[1].numpy(), found.numpy())
        asked = items[1] != NO_LABEL
        return {"accuracy": round(float((found == items[1])[asked].double().mean()), 4)}

    made = trained_by(
        setting, build_net(setting, seed), draw_batch, loss if kind == "listops" else weighted_loss,
        rng(seed, "table3/batches"), lambda net, step: score(net, parts["validation"]), **how,
    )  # fmt: skip
    learned = score(made.net, (inputs[: len(test[0])], targets[: len(test[0])]))
    metrics = {**score(made.net, test), **{f"training_{name}": value for name, value in learned.items()}}
    of = of_listops if kind == "listops" else of_segmentation
    return outcome(made, metrics, **of(test, answers(made.net, kind, test, B, device)), curve=made.watched, losses=made.losses)


def of_listops(test: Data, found: Tensor) -> dict:
    """The score by height and by operator; and what guessing the commonest value gets, of all nodes, of each height's, and
    of each operator's."""
    table = by_node(test[0], found)
    apart = {by: told_apart(table, by) for by in ("height", "operator")}
    levels = {f"majority_by_{by}": sum(part["nodes"] * part["majority"] for part in parts) / len(table)
              for by, parts in apart.items()}  # fmt: skip
    majority = float(table["value"].value_counts(normalize=True).iloc[0])
    return {**{f"by_{by}": parts for by, parts in apart.items()},
            "levels": {name: round(level, 4) for name, level in {"majority": majority, **levels}.items()}}  # fmt: skip


def of_segmentation(test: Data, found: Tensor) -> dict:
    """What is taken for what (counts of pixels, true classes downwards), some pictures as digits, and two guessers."""
    from sklearn.metrics import confusion_matrix

    targets, given = test[1].numpy(), found.where(found >= 0, 3)
    labels = range(int(given.max().clamp(min=2)) + 1)
    return {"confusion": confusion_matrix(targets.ravel(), given.numpy().ravel(), labels=labels)[:3].tolist(),
            "predicted": ["".join("012x"[answer] for answer in picture.tolist()) for picture in given[:SHOWN]],
            "levels": {"nothing": of_batches(targets, np.zeros_like(targets)),
                       "ink": of_batches(targets, (test[0] > 0).numpy().astype(int))}}  # fmt: skip


def reading_nothing(setting: Mapping, by_height: Sequence[Mapping] = ()) -> float:
    """The score of one who does not read far: who knows each node's operator and height, or the 3 x 3 pixels around each."""
    if setting["kind"] == "segmentation":
        return local_level(setting["size"], setting["items"]["test"])
    known = operator_levels(setting["size"], setting["items"]["test"])
    return sum(part["nodes"] * known[part["height"]] for part in by_height) / sum(part["nodes"] for part in by_height)


TABLE = load("dlr/table3", by_setting(measure))
